//! A scenario with its runs, as figures and tables of the report take them.

use crate::model::{self, Band, Trace};
use cnsim_advice::notes::two_frames;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::Metric;
use cnsim_scenario::{Ready, Scenario};
use indexmap::IndexMap;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The runs of one case, in order of seeds.
pub struct CaseRuns<'a> {
    /// The case of the runs.
    pub case: CaseId,
    /// The runs, one for each seed.
    pub runs: Vec<&'a RunRecord>,
}

impl<'a> CaseRuns<'a> {
    /// These runs by their cases, in the order in which they come.
    pub(crate) fn of(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<Self> {
        let mut all: IndexMap<&CaseId, Vec<&RunRecord>> = IndexMap::new();
        records.into_iter().for_each(|r| all.entry(&r.case).or_default().push(r));
        all.into_iter().map(|(case, runs)| Self { case: case.clone(), runs }).collect()
    }

    /// The summary of a metric over its runs; none if no run has it.
    pub fn summary(&self, m: &Metric) -> Option<Summary> {
        let values: Vec<f64> = self.runs.iter().filter_map(|r| r.metrics.get(m.id)).collect();
        Some(Summary::of_metric(m, &values)?.bounded(self.runs.iter().any(|r| r.metrics.at_least(m.id))))
    }
}

/// A scenario with its runs, case by case in the order in which they were asked for.
pub(crate) struct Scene<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) cases: Vec<CaseRuns<'a>>,
    /// The settings of each case, once they were asked for: a schedule of flows is read once.
    read: Vec<OnceCell<Option<Ready>>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn of(scenario: &'a Scenario, records: &'a [RunRecord]) -> Self {
        let mine = |r: &&RunRecord| r.case.study == scenario.study && r.case.scenario == scenario.name;
        let mut cases = CaseRuns::of(records.iter().filter(mine));
        cases.iter_mut().for_each(|c| c.runs.sort_by_key(|r| r.seed));
        let read = vec![OnceCell::new(); cases.len()];
        Self { scenario, cases, read }
    }

    /// Is there a port at which frames wait that metrics call hot? More than two frames must have been there in a run.
    pub(crate) fn has_hot_port(&self) -> bool {
        let waits = |r: &&RunRecord| {
            let hot = r.over_time.series.get("hot_queue");
            hot.is_none_or(|q| q.upper().iter().any(|kb| *kb > two_frames(&r.config)))
        };
        self.cases
            .iter()
            .any(|c| self.ready(c).is_none_or(|ready| ready.settings.record.hot) && c.runs.iter().any(waits))
    }

    /// Settings of one of its cases.
    pub(crate) fn ready(&self, case: &CaseRuns<'_>) -> Option<&Ready> {
        let at = self.cases.iter().position(|c| c.case == case.case)?;
        self.read[at].get_or_init(|| self.settings(case)).as_ref()
    }

    fn settings(&self, case: &CaseRuns<'_>) -> Option<Ready> {
        if let Some(own) = self.scenario.cases().iter().find(|c| c.id == case.case) {
            return self.scenario.ready(own).ok();
        }
        // A published number asks for it, not the matrix.
        let config = &case.runs.first()?.config;
        let (scenario, own) = Scenario::from_config(self.scenario.registry(), config).ok()?;
        scenario.ready(&own).ok()
    }
}

/// Slots in the order of the colours, then dashed.
pub(crate) fn ordinal(i: usize) -> u8 {
    (i % 32) as u8
}

/// Conditions in groups that differ in one clause: the shared clauses, and each condition with its own clause.
pub(crate) fn split(conditions: &[&str]) -> Vec<(String, Vec<(String, String)>)> {
    // A clause without its quantity: `RTT 10 us` and `RTT 0 us` are of one kind.
    let kind = |clause: &str| -> String {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let plain = words.iter().take_while(|w| !w.starts_with(|c: char| c.is_ascii_digit()));
        plain.copied().collect::<Vec<_>>().join(" ")
    };
    let clauses = |c: &str| c.split(", ").map(str::to_string).collect::<Vec<String>>();
    let mut kinds: IndexMap<String, BTreeSet<String>> = IndexMap::new();
    for clause in conditions.iter().flat_map(|c| clauses(c)) {
        kinds.entry(kind(&clause)).or_default().insert(clause);
    }
    let most = kinds.values().map(BTreeSet::len).max().unwrap_or(0);
    let chosen = kinds.into_iter().find(|k| k.1.len() == most && most > 1).map(|k| k.0);
    // Clauses that all conditions share are left out.
    let everywhere = |p: &String| conditions.len() > 1 && conditions.iter().all(|c| clauses(c).contains(p));
    let mut groups: IndexMap<String, Vec<(String, String)>> = IndexMap::new();
    for c in conditions {
        let parts: Vec<String> = clauses(c).into_iter().filter(|p| !everywhere(p)).collect();
        let of_kind = |p: &&String| chosen.as_ref().is_some_and(|k| kind(p) == *k);
        let name = parts.iter().find(of_kind).cloned();
        let rest: Vec<String> = parts.iter().filter(|p| !of_kind(p)).cloned().collect();
        let (rest, name) = match name {
            Some(name) => (rest.join(", "), name),
            // The clause is left out where it has its usual value.
            None if chosen.is_some() => {
                (rest.join(", "), format!("{} as usual", chosen.as_deref().unwrap_or_default()))
            }
            None => (String::new(), (*c).to_string()),
        };
        groups.entry(rest).or_default().push((name, (*c).to_string()));
    }
    groups.into_iter().collect()
}

/// Bars without a column yet, each with an interval.
pub(crate) fn columns(name: &str, slot: Option<u8>) -> Trace {
    Trace { name: name.into(), slot, band: Some(Band::default()), ..Trace::default() }
}

/// Adds a column at a place: a mean with its interval.
pub(crate) fn column(t: &mut Trace, place: usize, mean: f64, interval: Option<(f64, f64)>) {
    let (low, high) = interval.unwrap_or((mean, mean));
    t.x.push(place as f64);
    t.y.push(mean);
    if let Some(b) = &mut t.band {
        b.low.push(low);
        b.high.push(high);
    }
}

/// The caption of bars, by the most seeds of any of them.
pub(crate) fn seeds(of: impl Iterator<Item = usize>) -> String {
    match of.max() {
        Some(n) if n > 1 => format!("Mean of {n} seeds and its 95 % interval."),
        _ => "One seed.".into(),
    }
}

/// A cell of a table without anything published.
pub fn cell(s: &Summary) -> model::Cell {
    model::Cell {
        measured: Some(s.mean),
        ci95: s.confidence(),
        pi95: s.prediction(),
        seeds: s.n as u32,
        at_least: s.bound,
        ..model::Cell::default()
    }
}
