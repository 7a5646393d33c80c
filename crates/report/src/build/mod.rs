//! Builds the report's plain data from measured runs.

#[cfg(test)]
mod all_tests;
mod bars;
mod facts;
mod figure;
mod lanes;
mod map;
mod percentiles;
mod ports;
mod roots;
mod scene;
mod shared;
mod slowdown;
mod spent;
mod table;
mod topology;
mod traffic;
mod xoff;

pub use map::alone;
pub use ports::ports;
pub use scene::{CaseRuns, cell};
pub use shared::shared;
pub(crate) use spent::slot_of;
pub use topology::{caption, hot_ports};
pub use traffic::traffic;

use self::figure::figures;
use self::lanes::lanes;
use self::map::plays;
use self::roots::roots;
use self::scene::Scene;
use self::spent::spent;
use self::table::{Layout, tables};
pub(crate) use self::topology::of_map;
use self::topology::topology;
use self::xoff::strips;
use crate::model::{self, Fact, NotRun, Page, Report, Study};
use cnsim_advice::notes::{after, before, few_seeds, frozen, of_others, of_settings};
use cnsim_advice::unfinished;
use cnsim_papers::PAPERS;
use cnsim_papers::cells::Cell;
use cnsim_papers::claims::{Claim, Finding, grounds};
use cnsim_papers::published::Published;
use cnsim_runs::record::RunRecord;
use cnsim_runs::store::fingerprint;
use cnsim_scenario::Scenario;
use cnsim_scenario::assumptions::ASSUMPTIONS;
use cnsim_scheme_api::Registry;
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeMap, BTreeSet};

/// Most scenarios of a report whose pages have all metrics.
const FEW: usize = 3;

/// Is the text set, and not its default?
fn said(text: &str) -> bool {
    !text.is_empty() && text != "none"
}

/// Drops columns that the table does not show, and names the file with all of them.
fn without_more(t: &mut model::Table) {
    t.file = "numbers.csv".into();
    // Columns that are shown on demand stand last.
    let n = t.columns.iter().filter(|c| !c.more).count();
    t.columns.truncate(n);
    t.rows.iter_mut().for_each(|r| r.cells.truncate(n));
}

/// The figures of a scenario's page, from its runs.
pub fn figures_of(scenario: &Scenario, records: &[RunRecord]) -> Vec<model::Figure> {
    drawn(&Scene::of(scenario, records), true)
}

/// All figures of a page; strips of XOFF stand on that of an experiment of one's `own`.
fn drawn(scene: &Scene<'_>, own: bool) -> Vec<model::Figure> {
    let strips = if own { strips(scene) } else { Vec::new() };
    [figures(scene, Layout::of(scene)), strips, roots(scene), lanes(scene), spent(scene)].concat()
}

/// Input of a report.
pub struct Parts<'a> {
    /// The command that made the runs.
    pub command: &'a str,
    /// The scenarios, a page each.
    pub scenarios: &'a [Scenario],
    /// Their runs.
    pub records: &'a [RunRecord],
    /// The cells of the runs, with their verdicts.
    pub cells: &'a [Cell],
    /// The claims of the studies that were run, tested.
    pub findings: &'a [(&'static Claim, Finding)],
    /// Published, not run, with the reason.
    pub left: &'a [(Published, String)],
}

/// The report's data.
pub fn build(p: &Parts<'_>) -> Report {
    let rests: Vec<BTreeSet<(String, String)>> =
        p.findings.iter().map(|(c, _)| grounds(c, p.records)).collect();
    let pages: Vec<Page> = p.scenarios.iter().filter_map(|s| page(p, s, &rests)).collect();
    let of_page =
        |n: &Published| pages.iter().any(|page| page.id == format!("{}/{}", n.case.study, n.case.scenario));
    Report {
        title: match &pages[..] {
            [one] if p.cells.iter().all(|c| c.published.is_none()) => one.title.clone(),
            _ if p.cells.iter().any(|c| c.published.is_some()) => "Published beside measured".into(),
            _ => "Measured".into(),
        },
        version: env!("CARGO_PKG_VERSION").into(),
        command: p.command.into(),
        facts: facts(p.records),
        studies: studies(p.scenarios),
        claims: p.findings.iter().map(claim).collect(),
        assumptions: ASSUMPTIONS
            .iter()
            .map(|a| model::Assumption {
                id: a.id.into(),
                name: a.name.into(),
                text: a.about.into(),
                alternatives: format!("{} = {}", a.key, a.alternatives),
            })
            .collect(),
        not_run: p.left.iter().filter(|n| !of_page(&n.0)).map(not_run).collect(),
        pages,
        by_model: by_model(p.records),
        colours: p.scenarios.iter().flat_map(|s| colours(s.registry())).collect(),
        ..Report::default()
    }
}

/// The colours of the schemes of a registry: [`Report::colours`].
pub fn colours(registry: &Registry) -> BTreeMap<String, u8> {
    registry.iter().filter_map(|scheme| Some((scheme.name.clone(), scheme.colour?))).collect()
}

fn facts(records: &[RunRecord]) -> Vec<Fact> {
    let seeds: BTreeSet<u64> = records.iter().map(|r| r.seed).collect();
    let listed = match (seeds.first(), seeds.last()) {
        (Some(a), Some(b)) if seeds.len() > 2 && (b - a) as usize + 1 == seeds.len() => format!("{a} to {b}"),
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    let hops: f64 = records.iter().map(|r| r.execution.packet_hops as f64).sum();
    let fact = |name: &str, value: String| Fact { name: name.into(), value };
    vec![
        fact("runs", records.len().to_string()),
        fact("seeds", listed),
        fact("packet-hops", crate::number::fixed(hops, 0)),
        fact("fingerprint", format!("{} (the same on any number of threads)", fingerprint(records))),
        fact("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
    ]
}

/// Runs by the model: how many for each reason.
fn by_model(records: &[RunRecord]) -> Vec<String> {
    let mut all: BTreeMap<&String, usize> = BTreeMap::new();
    for why in records.iter().filter_map(|r| r.execution.by_model.as_ref()) {
        *all.entry(why).or_default() += 1;
    }
    all.into_iter().map(|(text, runs)| format!("{runs} of {} runs: {text}.", records.len())).collect()
}

/// Warnings before the numbers of these runs.
pub fn alerts<'a>(records: impl Iterator<Item = &'a RunRecord> + Clone) -> Vec<model::Alert> {
    let alert = |title: &str, about: &str, lines| model::Alert {
        title: title.into(),
        about: about.into(),
        lines,
        mild: false,
    };
    let all = vec![
        alert(
            "The network stood still.",
            "The numbers below describe a frozen network.",
            frozen(records.clone()),
        ),
        alert(
            "Flows were not received whole.",
            "Percentiles of completion time rank them above all others. Means cover finished flows only.",
            unfinished::lines(records),
        ),
    ];
    all.into_iter().filter(|a| !a.lines.is_empty()).collect()
}

/// Notes before the numbers.
pub fn conclusions(lines: Vec<String>) -> model::Alert {
    model::Alert { title: "Before you conclude.".into(), about: String::new(), lines, mild: true }
}

/// Notes on a scenario's cases before and after these runs, each once.
fn advice<'a>(scene: &Scene<'_>, records: impl Iterator<Item = &'a RunRecord>) -> Vec<String> {
    if of_others(&scene.scenario.study) {
        return Vec::new();
    }
    let of = |c: &CaseRuns<'_>| {
        let ready = scene.ready(c)?;
        let few = few_seeds(ready, c.runs.len() as u64);
        Some([of_settings(ready), before(ready)].concat().into_iter().chain(few))
    };
    let known = scene.cases.iter().filter_map(of).flatten();
    let mut told = BTreeSet::new();
    known.chain(after(records)).filter(|text| told.insert(text.clone())).collect()
}

/// Heading, citation and question of each study that has a scenario here.
fn studies(scenarios: &[Scenario]) -> Vec<Study> {
    let used = |id: &str| scenarios.iter().any(|s| s.study.eq_ignore_ascii_case(id));
    PAPERS
        .iter()
        .filter(|p| used(p.id))
        .map(|p| Study {
            id: p.id.into(),
            title: p.title.into(),
            citation: p.citation.into(),
            summary: p.summary.into(),
        })
        .collect()
}

fn claim((c, f): &(&'static Claim, Finding)) -> model::Claim {
    model::Claim {
        id: c.id.into(),
        text: c.text.into(),
        origin: c.origin.into(),
        holds: f.holds,
        evidence: f.evidence.clone(),
    }
}

fn not_run((p, reason): &(Published, String)) -> NotRun {
    let note = if p.note.is_empty() { String::new() } else { format!("; the study's note: {}", p.note) };
    NotRun {
        place: format!("{}, {}", p.case, p.metric),
        value: format!("{} {}", p.text, p.unit),
        reason: format!("{reason}{note}"),
    }
}

fn page(p: &Parts<'_>, s: &Scenario, rests: &[BTreeSet<(String, String)>]) -> Option<Page> {
    let scene = Scene::of(s, p.records);
    let cells: Vec<&Cell> =
        p.cells.iter().filter(|c| c.case.study == s.study && c.case.scenario == s.name).collect();
    if scene.cases.is_empty() || cells.is_empty() {
        return None;
    }
    let mine = |i: usize, c: &Claim| c.study() == s.study && rests[i].iter().any(|(name, _)| *name == s.name);
    let decided: Vec<usize> = (0..p.findings.len()).filter(|&i| mine(i, p.findings[i].0)).collect();
    let claimed: BTreeSet<&str> = decided
        .iter()
        .flat_map(|&i| &rests[i])
        .filter(|(name, metric)| *name == s.name && !metric.is_empty())
        .map(|(_, metric)| metric.as_str())
        .collect();
    // A study's tables are those that it printed.
    let own = cells.iter().all(|c| c.published.is_none()) && PAPERS.iter().all(|p| p.id != s.study);
    let layout = Layout::of(&scene);
    let network = scene.cases.iter().find_map(|c| scene.ready(c)).map_or_else(Default::default, topology);
    let left = p.left.iter().filter(|(n, _)| n.case.study == s.study && n.case.scenario == s.name);
    Some(Page {
        id: s.id(),
        title: if said(&s.title) && s.title != "untitled" { s.title.clone() } else { s.id() },
        question: if said(&s.question) { s.question.clone() } else { String::new() },
        source: if said(&s.source) { s.source.clone() } else { String::new() },
        plays: plays(&scene, &network),
        topology: network,
        alerts: {
            let mine = || p.records.iter().filter(|r| r.case.study == s.study && r.case.scenario == s.name);
            let mut all = alerts(mine());
            all.push(conclusions(advice(&scene, mine())));
            all
        },
        tables: {
            let mut all = tables(&scene, &cells, &claimed, layout);
            // All metrics of hundreds of cases would make a file that no browser opens quickly; numbers.csv has them.
            if p.scenarios.len() > FEW {
                all.iter_mut().for_each(without_more);
            }
            all.extend(traffic(&scene.cases));
            if own {
                all.extend(ports(&scene.cases));
            }
            all.extend(shared(&scene.cases));
            all
        },
        figures: drawn(&scene, own),
        figures_first: false,
        claims: decided.into_iter().map(|i| claim(&p.findings[i])).collect(),
        assumptions: assumptions(s, &scene),
        not_run: left.map(not_run).collect(),
    })
}

/// The assumptions that bear on a scenario, with the value in effect.
fn assumptions(s: &Scenario, scene: &Scene<'_>) -> Vec<model::Assumption> {
    let mut all = Vec::new();
    for a in ASSUMPTIONS {
        let mut values: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        for c in &scene.cases {
            let Some(run) = c.runs.first() else { continue };
            let Some(value) = run.config.text(a.key) else { continue };
            values.entry(value).or_default().insert(&c.case.scheme);
        }
        // An assumption has no bearing whose key the scenario does not set, and whose scheme it does not run.
        if values.is_empty() || (!a.key.starts_with("scheme.params.") && !s.flat().leaves.contains_key(a.key))
        {
            continue;
        }
        let here: Vec<String> = values
            .iter()
            .map(|(v, schemes)| match a.key.strip_prefix("scheme.params.") {
                Some(_) => format!("{v} ({})", Vec::from_iter(schemes.iter().copied()).join(", ")),
                None => (*v).to_string(),
            })
            .collect();
        all.push(model::Assumption {
            id: a.id.into(),
            name: a.name.into(),
            text: format!("{}. Here: {}", a.about, here.join("; ")),
            alternatives: format!("{} = {}", a.key, a.alternatives),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_runs_by_hand() {
        let of = |seeds: &[u64]| {
            let run = |seed: &u64| RunRecord {
                seed: *seed,
                execution: cnsim_runs::record::Execution { packet_hops: 5_000_000, ..Default::default() },
                ..RunRecord::default()
            };
            facts(&seeds.iter().map(run).collect::<Vec<_>>())
        };
        let value = |seeds: &[u64], i: usize| of(seeds)[i].value.clone();
        assert_eq!(value(&[1, 2, 3], 1), "1 to 3");
        assert_eq!(value(&[3, 2, 2, 4], 1), "2 to 4");
        assert_eq!(value(&[1, 2], 1), "1, 2");
        assert_eq!(value(&[1, 2, 4], 1), "1, 2, 4");
        assert_eq!((value(&[], 1), value(&[1, 2], 0)), (String::new(), "2".into()));
        assert_eq!(value(&[1, 2], 2), "10\u{202f}000\u{202f}000");
    }

    #[test]
    fn rows_not_run_have_their_reason_and_note() {
        let row = |note: &str| Published {
            case: ["B07", "s", "c", "on", "ecm"].into(),
            metric: "overhead".into(),
            value: 1.0,
            text: "1.0".into(),
            unit: "Mb/s".into(),
            note: note.into(),
        };
        let told = not_run(&(row(""), "why".into()));
        assert_eq!(
            (told.place.as_str(), told.value.as_str(), told.reason.as_str()),
            ("B07/s, c, PAUSE on, ecm, overhead", "1.0 Mb/s", "why")
        );
        assert_eq!(not_run(&(row("blurred"), "why".into())).reason, "why; the study's note: blurred");
    }

    /// A page stands where there are both runs and cells; assumptions bear on it that it sets, or whose parameter its schemes have.
    #[test]
    fn pages_have_runs_and_cells() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let case = s.cases().into_iter().find(|c| c.id.scheme == "qcn-2pt").unwrap();
        let ready = s.ready(&case).unwrap();
        let record = RunRecord {
            case: case.id.clone(),
            seed: 1,
            config: ready.config.clone(),
            metrics: [("overhead", 1.0)].into(),
            ..RunRecord::default()
        };
        let records = [record];
        let cells = cnsim_papers::cells::cells(&records, &[], std::slice::from_ref(&s));
        let scenarios = [s];
        let of = |records: &[RunRecord], cells: &[Cell]| {
            build(&Parts { command: "x", scenarios: &scenarios, records, cells, findings: &[], left: &[] })
        };
        let whole = of(&records, &cells);
        assert_eq!(
            (whole.pages.len(), of(&[], &cells).pages.len(), of(&records, &[]).pages.len()),
            (1, 0, 0)
        );
        assert_eq!(whole.title, scenarios[0].title);
        let here: Vec<&str> = whole.pages[0].assumptions.iter().map(|a| a.name.as_str()).collect();
        let efr = whole.pages[0].assumptions.iter().find(|a| a.name == "efr").map(|a| a.text.clone());
        assert!(efr.is_some_and(|t| t.contains(". Here: ") && t.ends_with("(qcn-2pt)")), "{here:?}");
        for a in ASSUMPTIONS.iter().filter(|a| !a.key.starts_with("scheme.params.")) {
            let set =
                scenarios[0].flat().leaves.contains_key(a.key) && records[0].config.text(a.key).is_some();
            assert_eq!(here.contains(&a.name), set, "{}", a.name);
        }
        let titles = |records: &[RunRecord]| -> Vec<String> {
            figures_of(&scenarios[0], records).into_iter().map(|f| f.title).collect()
        };
        assert!(!titles(&records).contains(&"Hot queue length".to_string()), "no series is there");
        let mut records = records;
        let queue = cnsim_runs::record::Curve { values: vec![10.0], bin: 0.001, ..Default::default() };
        records[0].over_time.series.insert("hot_queue".into(), queue.clone());
        assert!(titles(&records).contains(&"Hot queue length".to_string()), "{:?}", titles(&records));
        // The line of a class names the class's own scheme.
        let facts = cnsim_measure::traffic::TrafficFacts {
            name: "class tcp".into(),
            scheme: "cubic".into(),
            ..Default::default()
        };
        records[0].traffic.push(facts);
        records[0].over_time.series.insert("hot_queue, class tcp".into(), queue);
        let figures = figures_of(&scenarios[0], &records);
        let own = figures
            .iter()
            .find(|figure| figure.title.starts_with("Hot queue") && figure.title != "Hot queue length");
        let own = own.map(|figure| (figure.title.as_str(), figure.traces[0].name.as_str()));
        let scheme = &records[0].case.scheme;
        assert_eq!(own, Some(("Hot queue length by class", &*format!("cubic beside {scheme}, class tcp"))));
    }
}
