//! Is a run the experiment whose numbers were published? Only then it gets verdicts. Its configuration must be that of its
//! study, except for settings that change no metric.

use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::config::Config;
use cnsim_scenario::keys;
use cnsim_scenario::tables;
use cnsim_scenario::{EMBEDDED, Scenario};
use cnsim_scheme_api::Registry;
use std::collections::{BTreeMap, BTreeSet};

/// Keys that change no metric: number of runs of a case, and further recordings.
const UNFELT: [&str; 6] = [
    tables::run::SEEDS.path,
    tables::record::BIN.path,
    tables::record::LIMITERS.path,
    tables::record::SIZE_BINS.path,
    tables::record::FLOW_TIMES.path,
    tables::record::LATENCY.path,
];

/// Most keys that are named.
const NAMED: usize = 4;

/// The studies that come with cnsim, for runs to be held against.
#[derive(Debug)]
pub struct Studies<'a> {
    scenarios: &'a [Scenario],
    /// Configurations of cases, as far as they were asked for.
    known: BTreeMap<CaseId, Vec<Config>>,
}

impl<'a> Studies<'a> {
    /// For runs of these scenarios, with the schemes that they know.
    pub fn of(scenarios: &'a [Scenario]) -> Self {
        Self { scenarios, known: BTreeMap::new() }
    }

    /// How a run's configuration is not its study's; none if it is, and for a scenario that does not come with cnsim, whose
    /// file is the study.
    pub fn other(&mut self, run: &RunRecord) -> Option<String> {
        let scenario =
            self.scenarios.iter().find(|s| s.study == run.case.study && s.name == run.case.scenario)?;
        let id = scenario.id();
        EMBEDDED.iter().find(|e| e.0 == id)?;
        let own = self
            .known
            .entry(run.case.clone())
            .or_insert_with(|| configurations(scenario.registry(), &id, run));
        let mut differences: Vec<Vec<String>> = own.iter().map(|c| differ(&run.config, c)).collect();
        differences.sort_by_key(Vec::len);
        let mut keys = match differences.into_iter().next() {
            None => vec!["the study has no such case".into()],
            Some(keys) if keys.is_empty() => return None,
            Some(keys) => keys,
        };
        let hidden = keys.len().saturating_sub(NAMED);
        keys.truncate(NAMED);
        keys.extend((hidden > 0).then(|| format!("and {hidden} more keys")));
        Some(format!("not the study's experiment: {}", keys.join("; ")))
    }
}

/// Cases of the study that these names may stand for. Settings that the templates leave out can differ.
fn configurations(registry: &Registry, id: &str, run: &RunRecord) -> Vec<Config> {
    let Ok(scenario) = Scenario::load_in(registry, id, &[], &[&run.case.scheme]) else { return Vec::new() };
    let named = scenario.case_of(&run.case.condition, &run.case.pause, &run.case.scheme);
    let all = scenario.cases().into_iter().filter(|c| c.id == run.case).chain(named);
    all.filter_map(|case| Some(scenario.ready(&case).ok()?.config)).collect()
}

/// Keys whose values differ, in words: `run.duration is 20 ms, there 1 s`.
fn differ(mine: &Config, theirs: &Config) -> Vec<String> {
    let (mine, theirs) = (mine.settings(), theirs.settings());
    let keys: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
    let word = |v: Option<&String>| v.map_or_else(|| "not used".into(), String::clone);
    let one = |key: &String| {
        let (a, b) = (mine.get(key), theirs.get(key));
        (!alike(key, a, b)).then(|| format!("{key} is {}, there {}", word(a), word(b)))
    };
    keys.into_iter().filter(|key| !UNFELT.contains(&key.as_str())).filter_map(one).collect()
}

/// Do two texts mean one value of a key?
fn alike(key: &str, a: Option<&String>, b: Option<&String>) -> bool {
    let read = |v: Option<&String>| keys::find(key)?.kind.read(v?).ok();
    a == b || read(a).is_some_and(|a| read(b).as_ref() == Some(&a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_runs::run::Job;

    /// The reason why B07's single hop with these keys is another experiment.
    fn other(sets: &[(&str, &str)]) -> Option<String> {
        let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let scenario = Scenario::load("B07/single-hop", &sets).unwrap();
        let case = scenario.cases().into_iter().find(|c| c.id.scheme == "ecm").unwrap();
        let row = case.row.iter().filter(|r| !sets.iter().any(|s| s.0 == r.0)).cloned().collect();
        let case = scenario.case(case.group, row, &case.id.pause, &case.id.scheme);
        let ready = scenario.ready(&case).unwrap();
        let record = Job::new(case, ready, 1).record();
        Studies::of(&[scenario]).other(&record)
    }

    #[test]
    fn the_study_itself_and_what_no_metric_feels() {
        assert_eq!(other(&[]), None);
        assert_eq!(other(&[("run.duration", "1000 ms"), ("run.seeds", "9"), ("record.bin", "2 ms")]), None);
        assert_eq!(other(&[("record.limiters", "[\"H1>H0\"]")]), None);
        assert_eq!(other(&[("hotspot.rate", "2 Gb/s")]), None, "a condition of the study");
    }

    #[test]
    fn what_differs_is_named() {
        let said =
            other(&[("run.duration", "20 ms"), ("hotspot.start", "2 ms"), ("hotspot.stop", "8 ms")]).unwrap();
        assert!(said.starts_with("not the study's experiment: hotspot.start is 2 ms, there "), "{said}");
        assert!(said.contains("run.duration is 20 ms, there 1 s"), "{said}");
        let said = other(&[("scheme.params.q_eq", "20 KB")]).unwrap();
        assert!(said.contains("scheme.params.q_eq is 20 KB, there "), "{said}");
        assert!(other(&[("record.from", "1 ms")]).is_some(), "the window is measured");
    }
}
