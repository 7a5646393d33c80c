//! The runs of results by case and by swept values: the points of a sweep.

use cnsim_runs::record::RunRecord;
use cnsim_runs::results::Results;
use cnsim_scenario::case::CaseId;
use std::collections::{BTreeMap, BTreeSet};

/// A case with its swept values.
pub(crate) type Point = (CaseId, Vec<(String, String)>);

/// Keys of the configuration that vary among runs of one case and seed in one of the files.
pub(crate) fn swept(files: [&Results; 2]) -> BTreeMap<CaseId, BTreeSet<String>> {
    let mut keys: BTreeMap<CaseId, BTreeSet<String>> = BTreeMap::new();
    for all in files {
        let mut first: BTreeMap<(&CaseId, u64), BTreeMap<String, String>> = BTreeMap::new();
        for run in &all.runs {
            let config = run.config.settings();
            let before = first.entry((&run.case, run.seed)).or_insert_with(|| config.clone());
            let names: BTreeSet<&String> = config.keys().chain(before.keys()).collect();
            let vary = names.into_iter().filter(|k| config.get(*k) != before.get(*k)).cloned();
            keys.entry(run.case.clone()).or_default().extend(vary);
        }
    }
    keys
}

/// Runs by point and seed; the same run twice counts twice.
pub(crate) fn by_point<'a>(
    all: &'a Results,
    swept: &BTreeMap<CaseId, BTreeSet<String>>,
) -> BTreeMap<Point, BTreeMap<(u64, usize), &'a RunRecord>> {
    let mut points: BTreeMap<Point, BTreeMap<(u64, usize), &RunRecord>> = BTreeMap::new();
    for run in &all.runs {
        let config = run.config.settings();
        let value = |k: &String| (k.clone(), config.get(k).cloned().unwrap_or_else(|| "none".into()));
        let values = swept.get(&run.case).into_iter().flatten().map(value).collect();
        let seeds = points.entry((run.case.clone(), values)).or_default();
        let twice = seeds.keys().filter(|k| k.0 == run.seed).count();
        seeds.insert((run.seed, twice), run);
    }
    points
}
