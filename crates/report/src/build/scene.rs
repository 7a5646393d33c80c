//! A scenario with its runs, as figures and tables of the report take them.

use crate::model;
use cnsim_advice::notes::two_frames;
use cnsim_measure::stats::Summary;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::Metric;
use cnsim_scenario::{Ready, Scenario};
use std::collections::BTreeMap;

/// The runs of one case, in order of seeds.
pub struct CaseRuns<'a> {
    /// The case of the runs.
    pub case: CaseId,
    /// The runs, one for each seed.
    pub runs: Vec<&'a RunRecord>,
}

impl CaseRuns<'_> {
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
}

impl<'a> Scene<'a> {
    pub(crate) fn of(scenario: &'a Scenario, records: &'a [RunRecord]) -> Self {
        let mut at: BTreeMap<&CaseId, usize> = BTreeMap::new();
        let mut cases: Vec<CaseRuns<'a>> = Vec::new();
        let mine = |r: &&RunRecord| r.case.study == scenario.study && r.case.scenario == scenario.name;
        for r in records.iter().filter(mine) {
            let i = *at.entry(&r.case).or_insert_with(|| {
                cases.push(CaseRuns { case: r.case.clone(), runs: Vec::new() });
                cases.len() - 1
            });
            cases[i].runs.push(r);
        }
        cases.iter_mut().for_each(|c| c.runs.sort_by_key(|r| r.seed));
        Self { scenario, cases }
    }

    /// Is there a port at which frames wait that metrics call hot? More than two frames must have been there in a run.
    pub(crate) fn has_hot_port(&self) -> bool {
        let waits = |r: &&RunRecord| {
            let hot = r.series.get("hot_queue");
            hot.is_none_or(|q| q.upper().iter().any(|kb| *kb > two_frames(&r.config)))
        };
        self.cases
            .iter()
            .any(|c| self.ready(c).is_none_or(|ready| ready.settings.hot) && c.runs.iter().any(waits))
    }

    /// Settings of a case, for the marks that a figure draws beside its lines.
    pub(crate) fn ready(&self, case: &CaseRuns<'_>) -> Option<Ready> {
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
    let mut kinds: Vec<(String, std::collections::BTreeSet<String>)> = Vec::new();
    for clause in conditions.iter().flat_map(|c| clauses(c)) {
        let k = kind(&clause);
        match kinds.iter_mut().find(|x| x.0 == k) {
            Some(x) => {
                x.1.insert(clause);
            }
            None => kinds.push((k, std::iter::once(clause).collect())),
        }
    }
    let most = kinds.iter().map(|k| k.1.len()).max().unwrap_or(0);
    let chosen = kinds.into_iter().find(|k| k.1.len() == most && most > 1).map(|k| k.0);
    // What all have in common need not be said.
    let everywhere = |p: &String| conditions.len() > 1 && conditions.iter().all(|c| clauses(c).contains(p));
    let mut groups: Vec<(String, Vec<(String, String)>)> = Vec::new();
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
        match groups.iter_mut().find(|g| g.0 == rest) {
            Some(g) => g.1.push((name, (*c).to_string())),
            None => groups.push((rest, vec![(name, (*c).to_string())])),
        }
    }
    groups
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
