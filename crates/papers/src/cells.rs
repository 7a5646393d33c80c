//! Cells: the measured value of a case beside the published number, with the verdict.

use crate::own::Studies;
use crate::published::Published;
use crate::suspect;
use crate::verdict::{Verdict, factor, judge};
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::{METRICS, Metric, Span, find, structural_zero};
use cnsim_scenario::tables;
use cnsim_scenario::{Case, Scenario};
use std::collections::BTreeMap;

/// Cases of a scenario: its matrix, and those that published numbers add. Published rows that do not parse, or name a scheme that
/// is not known, are returned beside.
pub fn all_cases(scenario: &Scenario, published: &[Published]) -> (Vec<Case>, Vec<Published>) {
    let mut cases = scenario.cases();
    let mut lost = Vec::new();
    for p in published.iter().filter(|p| p.case.study == scenario.study && p.case.scenario == scenario.name) {
        let Some(case) = p.case_in(scenario).filter(|_| find(&p.metric).is_some()) else {
            lost.push(p.clone());
            continue;
        };
        if !cases.iter().any(|c| c.id == case.id) {
            // A new condition is run with all schemes of its group, so that its table has no hole.
            for scheme in &scenario.groups[case.group].schemes {
                let more = scenario.case(case.group, case.row.clone(), &p.case.pause, scheme);
                if !cases.contains(&more) {
                    cases.push(more);
                }
            }
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
    }
    (cases, lost)
}

/// A row of numbers.csv.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The case of the cell's runs.
    pub case: CaseId,
    /// The metric that the cell shows.
    pub metric: &'static Metric,
    /// Unit of the values: the metric's, or the one that was published.
    pub unit: String,
    /// Published number, if there is one.
    pub published: Option<Published>,
    /// Values of the runs.
    pub values: Vec<f64>,
    /// Summary of the measured values over the seeds.
    pub summary: Summary,
    /// Verdict of the cell.
    pub verdict: Verdict,
    /// The value is zero by construction, such as drops under PAUSE.
    pub structural: bool,
    /// The values of so many runs are lower bounds, as flows were not received whole.
    pub at_least: usize,
    /// Suspected assumption, or why it cannot be compared.
    pub note: String,
}

impl Cell {
    /// Condition of the cell: the study's own words, where a number was printed.
    pub fn condition(&self) -> &str {
        &self.published.as_ref().map_or(&self.case, |p| &p.case).condition
    }

    /// The case under that condition.
    pub fn shown(&self) -> CaseId {
        CaseId { condition: self.condition().into(), ..self.case.clone() }
    }
}

/// The cells of finished runs. Runs of another experiment than the study's get no verdict ([`Studies`]).
pub fn cells(records: &[RunRecord], published: &[Published], scenarios: &[Scenario]) -> Vec<Cell> {
    let mut studies = Studies::of(scenarios);
    cells_by(records, published, scenarios, |r| studies.other(r))
}

/// The cells of finished runs; `other` returns the reason why a run gets no verdict.
pub fn cells_by(
    records: &[RunRecord],
    published: &[Published],
    scenarios: &[Scenario],
    mut other: impl FnMut(&RunRecord) -> Option<String>,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    // Runs of one case and one configuration.
    let (mut groups, mut known) = (Vec::<Vec<&RunRecord>>::new(), BTreeMap::new());
    for r in records {
        let at = *known.entry((&r.case, r.config.to_string())).or_insert(groups.len());
        groups.resize(groups.len().max(at + 1), Vec::new());
        groups[at].push(r);
    }
    for same in groups {
        let r = same[0];
        let other = other(r);
        let scenario = scenarios.iter().find(|s| s.study == r.case.study && s.name == r.case.scenario);
        for metric in METRICS {
            let values: Vec<f64> = same.iter().filter_map(|x| x.metrics.get(metric.id)).collect();
            if values.is_empty() {
                continue;
            }
            let mine = |p: &&Published| {
                p.metric == metric.id
                    && p.case.pause == r.case.pause
                    && scenario.is_some_and(|s| p.case_in(s).is_some_and(|c| c.id == r.case))
            };
            let mut printed: Vec<Option<&Published>> = published.iter().filter(mine).map(Some).collect();
            // Where studies write the condition otherwise, the row under our own words has no hole.
            if !printed.iter().flatten().any(|p| p.case.condition == r.case.condition) {
                printed.push(None);
            }
            for p in printed {
                let at_least = same.iter().filter(|x| x.metrics.at_least(metric.id)).count();
                cells.extend(cell(r, metric, p, (&values, at_least), other.as_deref()));
            }
        }
    }
    cells
}

/// One cell; the row of a published number carries the study's own words for the condition, and its unit.
fn cell(
    r: &RunRecord,
    metric: &'static Metric,
    printed: Option<&Published>,
    (values, at_least): (&[f64], usize),
    other: Option<&str>,
) -> Option<Cell> {
    let unit = printed.map_or(metric.unit, |p| p.unit.as_str());
    let scale = factor(metric.unit, unit);
    let values: Vec<f64> = values.iter().map(|v| v * scale.unwrap_or(1.0)).collect();
    // A unit of the same kind has the same range: only rates are scaled.
    let summary = Summary::of_metric(metric, &values)?;
    // A limit on the output queue loses frames with PAUSE, too.
    let structural = structural_zero(metric.id, &r.case.pause, &r.case.scheme) && summary.mean == 0.0;
    let (verdict, mut note) = match (printed, scale, other) {
        (None, ..) => (Verdict::Unpublished, String::new()),
        (Some(_), _, Some(why)) => (Verdict::Incomparable, why.into()),
        (Some(p), None, _) => {
            (Verdict::Incomparable, format!("published in {}, measured in {}", p.unit, metric.unit))
        }
        // A value that is zero by construction is zero in every run.
        (Some(p), ..) if structural && p.value == 0.0 => (Verdict::Agrees, String::new()),
        (Some(p), ..) => (judge(metric, p, &summary), String::new()),
    };
    if matches!(verdict, Verdict::Near | Verdict::Differs) {
        note = suspect(r, metric.key);
    } else if verdict == Verdict::Undecided {
        note = undecided(&summary);
    }
    let mut more: Vec<String> = Vec::new();
    if at_least > 0 {
        more.push(format!("at least: flows were unfinished at the end of {at_least} of {} runs", summary.n));
    }
    // Where a part of the run is measured, what is of another span says so.
    let part = [tables::record::FROM.path, tables::record::TO.path].iter().any(|k| {
        let key = cnsim_scenario::keys::find(k).map_or("", |k| k.default);
        r.config.text(k).is_some_and(|v| v != key)
    });
    let span = metric.span.note().filter(|_| metric.span != Span::Hotspot || r.config.has_hotspot());
    more.extend(span.filter(|_| part).map(String::from));
    note = [note].into_iter().chain(more).filter(|t| !t.is_empty()).collect::<Vec<_>>().join("; ");
    Some(Cell {
        case: r.case.clone(),
        metric,
        unit: if scale.is_some() { unit.into() } else { metric.unit.into() },
        published: printed.cloned(),
        values,
        summary: summary.bounded(at_least > 0),
        verdict,
        structural,
        at_least,
        note,
    })
}

/// Why the runs do not tell.
fn undecided(summary: &Summary) -> String {
    match summary.prediction() {
        Some((low, high)) => {
            format!("too few seeds: one run is expected from {} to {}", digits(low), digits(high))
        }
        None => "too few seeds: one tells nothing of the next".into(),
    }
}

/// Published numbers for which there is no cell.
pub fn not_run(published: &[Published], cells: &[Cell], scenarios: &[Scenario]) -> Vec<Published> {
    let asked =
        |p: &&Published| scenarios.iter().any(|s| s.study == p.case.study && s.name == p.case.scenario);
    let met = |p: &Published| cells.iter().any(|c| c.published.as_ref() == Some(p));
    published.iter().filter(asked).filter(|p| !met(p) || find(&p.metric).is_none()).cloned().collect()
}
