//! Notes on `[matrix]` and sweeps.

use cnsim_runs::points::Point;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::keys::find;
use std::collections::{BTreeMap, BTreeSet};

/// The key of a group of runs that differ in one setting: study, scenario, scheme, seed and all other settings.
type Alike<'a> = (&'a str, &'a str, &'a str, u64, Vec<(&'a String, &'a String)>);

/// Keys that were varied and changed no bit of any run.
pub(super) fn flat(points: &[Point<'_>]) -> Vec<String> {
    // A key of [record] changes no run; a sweep over it asks for its records.
    let keys = points.iter().flat_map(|p| p.told.keys()).filter(|k| !k.starts_with("record."));
    let keys: BTreeSet<&String> = keys.collect();
    let unchanged = |key: &&String| {
        let mut alike: BTreeMap<Alike<'_>, (&RunRecord, &String)> = BTreeMap::new();
        let mut varied = false;
        for p in points {
            let Some(value) = p.told.get(*key) else { continue };
            for r in &p.runs {
                // A key that has an effect beside some values of this one only follows it.
                let follows = |k: &String| find(k).and_then(|k| k.only.key()) == Some(key.as_str());
                let rest = p.told.iter().filter(|(k, _)| k != key && !follows(k)).collect();
                let place =
                    (r.case.study.as_str(), r.case.scenario.as_str(), r.case.scheme.as_str(), r.seed, rest);
                let (first, other) = *alike.entry(place).or_insert((r, value));
                varied |= other != value;
                let same = |a: &RunRecord, b: &RunRecord| {
                    a.fingerprint == b.fingerprint && a.metrics == b.metrics && a.traffic == b.traffic
                };
                if !same(first, r) {
                    return false;
                }
            }
        }
        varied
    };
    let flat: Vec<&str> = keys.into_iter().filter(unchanged).map(String::as_str).collect();
    if flat.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "{} changed nothing: runs that differ in it alone are the same to the last bit; vary a key that matters here, or one that it depends on",
        flat.join(", ")
    )]
}
