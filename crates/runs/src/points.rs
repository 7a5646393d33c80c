//! Points: groups of runs that differ in the seed alone, and the settings in which points differ.

use crate::record::RunRecord;
use cnsim_scenario::case::CaseId;
use std::collections::{BTreeMap, BTreeSet};

/// The runs of one case and one configuration.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// The runs, one for each seed, in the order in which they were given.
    pub runs: Vec<&'a RunRecord>,
    /// Of the configuration without labels, the keys with values that not all runs have in common.
    pub told: BTreeMap<String, String>,
    /// The settings that vary among the points of the case, as in a sweep.
    pub swept: Vec<(String, String)>,
}

impl Point<'_> {
    /// The first run.
    pub fn first(&self) -> &RunRecord {
        self.runs[0]
    }

    /// Condition, PAUSE mode, scheme, and the values of a sweep.
    pub fn name(&self) -> String {
        let r = self.first();
        let values: String = self.swept.iter().map(|(k, v)| format!(", {k} = {v}")).collect();
        r.case.name() + &values
    }

    /// The settings that a point shares with those of other schemes in its place: study, scenario, condition, PAUSE mode, and swept
    /// values that are not the scheme's.
    pub fn place(&self) -> Place<'_> {
        let r = self.first();
        let keys = self.swept.iter().filter(|(k, _)| !k.starts_with("scheme."));
        (r.case.under(""), keys.map(|(k, v)| (k.as_str(), v.as_str())).collect())
    }
}

/// See [`Point::place`].
pub type Place<'a> = (CaseId, Vec<(&'a str, &'a str)>);

/// The points of these runs, in their order.
pub fn points<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<Point<'a>> {
    let records: Vec<&RunRecord> = records.into_iter().collect();
    let told = told_apart(&records);
    let mut places = BTreeMap::new();
    let mut points: Vec<Point<'a>> = Vec::new();
    for (r, told) in records.iter().zip(&told) {
        let at = *places.entry((&r.case, told)).or_insert(points.len());
        if at == points.len() {
            points.push(Point { runs: Vec::new(), told: told.clone(), swept: Vec::new() });
        }
        points[at].runs.push(r);
    }
    // The first point of each case, and the keys in which another one differs.
    let mut cases: BTreeMap<_, (usize, BTreeSet<String>)> = BTreeMap::new();
    for (i, p) in points.iter().enumerate() {
        let (first, vary) = cases.entry(&p.runs[0].case).or_insert((i, BTreeSet::new()));
        let first = &points[*first].told;
        vary.extend(p.told.keys().chain(first.keys()).filter(|k| p.told.get(*k) != first.get(*k)).cloned());
    }
    for p in &mut points {
        let vary = &cases[&p.runs[0].case].1;
        let scheme = &p.runs[0].case.scheme;
        // A parameter of a scheme has the name that a scenario gives it.
        let key = |k: &String| {
            k.strip_prefix("scheme.params.").map_or_else(|| k.clone(), |own| format!("scheme.{scheme}.{own}"))
        };
        let swept = p.told.iter().filter(|(k, _)| vary.contains(*k));
        p.swept = swept.map(|(k, v)| (key(k), v.clone())).collect();
    }
    points
}

/// Of each run, the keys with values that it does not share with all others.
fn told_apart(records: &[&RunRecord]) -> Vec<BTreeMap<String, String>> {
    let mut all: Vec<BTreeMap<String, String>> = records.iter().map(|r| r.config.settings()).collect();
    let mut vary: BTreeSet<String> = BTreeSet::new();
    if let [first, rest @ ..] = &all[..] {
        for other in rest {
            let keys = first.keys().chain(other.keys());
            let new = keys.filter(|k| first.get(*k) != other.get(*k) && !vary.contains(*k));
            let new: Vec<String> = new.cloned().collect();
            vary.extend(new);
        }
    }
    all.iter_mut().for_each(|one| one.retain(|k, _| vary.contains(k)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sweep_has_a_point_for_each_value() {
        let run = |scheme: &str, seed: u64, share: &str| {
            RunRecord {
            case: ["", "", "c", "on", scheme].into(),
            seed,
            config: json!({"name": share, "switch.share": share, "host.fifo": "9", "scheme": {"name": scheme, "params": {"q": scheme}}}).into(),
            ..RunRecord::default()
        }
        };
        let mut all =
            vec![run("ecm", 1, "1 KB"), run("ecm", 2, "1 KB"), run("ecm", 1, "2 KB"), run("none", 1, "2 KB")];
        let found = points(&all);
        let seen: Vec<(String, usize)> = found.iter().map(|p| (p.name(), p.runs.len())).collect();
        assert_eq!(
            seen,
            [
                ("c, PAUSE on, ecm, switch.share = 1 KB".to_string(), 2),
                ("c, PAUSE on, ecm, switch.share = 2 KB".to_string(), 1),
                ("c, PAUSE on, none".to_string(), 1)
            ]
        );
        // Other schemes read keys of their own.
        all.push(run("none", 1, "1 KB"));
        all.iter_mut()
            .filter(|r| r.case.scheme == "ecm")
            .for_each(|r| std::sync::Arc::make_mut(&mut r.config.0)["control.latency"] = json!("9 us"));
        let found = points(&all);
        assert!(found[1].place() == found[2].place() && found[0].place() == found[3].place());
        assert!(found[0].place() != found[1].place());
        assert!(points([]).is_empty());
    }
}
