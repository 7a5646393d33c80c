//! The baseline of `cnsim compare --baseline`, and its point beside each other point: the one whose other settings are equal.

use crate::Failure;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::keys::TABLES;
use cnsim_scenario::tables;
use std::collections::{BTreeMap, BTreeSet};

/// The case with which all others are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    Scheme(String),
    Condition(String),
    Pause(String),
    Key(String, String),
}

/// The runs of a case and a configuration, by seed.
pub(crate) struct At<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) seeds: BTreeMap<u64, &'a RunRecord>,
    /// The keys of the configuration that vary among the runs of the scenario, with their values.
    config: BTreeMap<String, String>,
    /// The settings that vary among the points of the case, as in a sweep.
    swept: BTreeSet<String>,
}

impl At<'_> {
    fn value(&self, key: &str) -> &str {
        self.config.get(key).map_or("none", String::as_str)
    }

    fn scenario(&self) -> (&str, &str) {
        (&self.run.case.study, &self.run.case.scenario)
    }
}

/// The points of these runs, in their order.
///
/// # Errors
/// A run that is there twice with other results.
pub(crate) fn points(runs: &[RunRecord]) -> Result<Vec<At<'_>>, Failure> {
    let results = |r: &RunRecord| (r.fingerprint.clone(), r.metrics.clone(), r.traffic.clone());
    let mut points: Vec<At<'_>> = Vec::new();
    for point in cnsim_runs::points::points(runs) {
        let mut seeds = BTreeMap::new();
        for &run in &point.runs {
            if seeds.insert(run.seed, run).is_some_and(|other| results(other) != results(run)) {
                return Err(Failure::input(format!(
                    "{} is there twice, with other results\n  help: leave one of them out, or compare the two files without --baseline",
                    run.title()
                )));
            }
        }
        points.push(At { run: point.runs[0], seeds, config: point.told, swept: BTreeSet::new() });
    }
    let swept = varying(&points, |p| p.run.case.to_string());
    let scenario = |p: &At<'_>| format!("{:?}", p.scenario());
    let scheme = |p: &At<'_>| format!("{:?} {}", p.scenario(), p.run.case.scheme);
    let (varied, own) = (varying(&points, scenario), varying(&points, scheme));
    for p in &mut points {
        p.swept = swept[&p.run.case.to_string()].clone();
        let (varied, own) = (&varied[&scenario(p)], &own[&scheme(p)]);
        // A scheme's parameters tell nothing where all its runs have them.
        p.config.retain(|k, _| if k.starts_with("scheme.") { own.contains(k) } else { varied.contains(k) });
    }
    Ok(points)
}

/// Keys that vary among the points of a group.
fn varying(points: &[At<'_>], group: impl Fn(&At<'_>) -> String) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, (&At<'_>, BTreeSet<String>)> = BTreeMap::new();
    for p in points {
        let (first, keys) = all.entry(group(p)).or_insert_with(|| (p, BTreeSet::new()));
        let names = p.config.keys().chain(first.config.keys());
        keys.extend(names.filter(|k| p.config.get(*k) != first.config.get(*k)).cloned());
    }
    all.into_iter().map(|(group, (_, keys))| (group, keys)).collect()
}

impl Baseline {
    /// Reads a baseline: a scheme, a condition, `PAUSE on`, or `KEY=VALUE` of a key that a sweep or matrix varies.
    pub(crate) fn read(text: &str, points: &[At<'_>]) -> Result<Self, Failure> {
        let text = text.trim();
        let has = |of: fn(&RunRecord) -> &str, word: &str| {
            let found = points.iter().map(|p| of(p.run)).find(|w| w.eq_ignore_ascii_case(word));
            found.map(String::from)
        };
        let (scheme, pause): (fn(&RunRecord) -> &str, fn(&RunRecord) -> &str) =
            (|r| &r.case.scheme, |r| &r.case.pause);
        const MODE: &str = tables::pause::MODE.path;
        let key = |key: &str, value: &str| match key {
            "scheme" | "scheme.name" => has(scheme, value).map(Self::Scheme),
            "pause" | MODE => has(pause, value).map(Self::Pause),
            _ => {
                // A scheme's own table is as good as that of all.
                let param = key.strip_prefix("scheme.").and_then(|k| k.rsplit_once('.'));
                let param = param.filter(|(name, _)| has(scheme, name).is_some());
                let whole = param.map(|(_, param)| format!("scheme.params.{param}"));
                let key = whole.as_deref().unwrap_or(key);
                // A key by its last word.
                let ends = |k: &&String| k.rsplit('.').next() == Some(key);
                let key = points.iter().flat_map(|p| p.config.keys()).find(ends).map_or(key, String::as_str);
                let is = |p: &At<'_>| p.config.get(key).is_some_and(|v| same(v, value));
                points.iter().any(is).then(|| Self::Key(key.into(), value.into()))
            }
        };
        has(scheme, text)
            .map(Self::Scheme)
            .or_else(|| has(|r| &r.case.condition, text).map(Self::Condition))
            .or_else(|| {
                let mode = text.split_once(' ').filter(|(word, _)| word.eq_ignore_ascii_case("pause"))?;
                has(pause, mode.1.trim()).map(Self::Pause)
            })
            .or_else(|| text.split_once('=').and_then(|(k, v)| key(k.trim(), v.trim())))
            .ok_or_else(|| {
                Failure::input(format!(
                    "the baseline `{text}` does not distinguish any runs\n  help: {}",
                    choices(points)
                ))
            })
    }

    /// Is a point the baseline?
    pub(crate) fn is(&self, p: &At<'_>) -> bool {
        match self {
            Self::Scheme(s) => p.run.case.scheme == *s,
            Self::Condition(c) => p.run.case.condition == *c,
            Self::Pause(mode) => p.run.case.pause == *mode,
            Self::Key(key, value) => p.config.get(key).is_some_and(|v| same(v, value)),
        }
    }

    /// The points of the baseline that stand beside this one, alike in all but the baseline, each with its name: of a scheme under
    /// several values of a parameter, each value is one.
    pub(crate) fn of<'p, 'a>(&self, p: &At<'_>, points: &'p [At<'a>]) -> Vec<(&'p At<'a>, String)> {
        let mut all: Vec<&At<'_>> = points.iter().filter(|b| self.is(b) && self.beside(p, b)).collect();
        // A setting that the baseline leaves open, such as a parameter of its scheme, is taken from this case.
        let open: [&dyn Fn(&At<'_>) -> bool; 2] = [&|b| b.run.case.condition == p.run.case.condition, &|b| {
            p.swept.iter().all(|k| p.config.get(k) == b.config.get(k))
        }];
        for alike in open {
            if all.iter().any(|b| alike(b)) {
                all.retain(|b| alike(b));
            }
        }
        let keys: BTreeSet<&String> = all.iter().flat_map(|b| b.config.keys()).collect();
        let differ: Vec<&String> =
            keys.into_iter().filter(|k| all.iter().any(|b| b.value(k) != all[0].value(k))).collect();
        let name = |b: &At<'_>| {
            self.text() + &differ.iter().map(|k| format!(", {k} = {}", b.value(k))).collect::<String>()
        };
        all.into_iter().map(|b| (b, name(b))).collect()
    }

    /// Are two points equal in all but the settings of the baseline?
    fn beside(&self, p: &At<'_>, b: &At<'_>) -> bool {
        let place = p.scenario() == b.scenario();
        let pause = matches!(self, Self::Pause(_)) || p.run.case.pause == b.run.case.pause;
        let scheme = matches!(self, Self::Scheme(_)) || p.run.case.scheme == b.run.case.scheme;
        let alike = |k: &String| match (p.config.get(k), b.config.get(k)) {
            (Some(p), Some(b)) => p == b,
            // A key that only one of them reads has no effect in the other; one of a table may stand at its default there.
            _ => !TABLES.iter().any(|t| k.split('.').next() == Some(*t)),
        };
        // A condition is all that its matrix sets: what else varies is what a sweep varies.
        let free = |k: &String| match self {
            Self::Condition(_) => !p.swept.contains(k) && !b.swept.contains(k),
            _ => self.names(k),
        };
        place && pause && scheme && p.config.keys().chain(b.config.keys()).all(|k| free(k) || alike(k))
    }

    /// Does a key belong to the settings of the baseline?
    fn names(&self, key: &str) -> bool {
        match self {
            Self::Scheme(_) => key.starts_with("scheme."),
            Self::Pause(_) => key == tables::pause::MODE.path,
            Self::Key(own, _) => key == own,
            Self::Condition(_) => false,
        }
    }

    /// The key of two points that are compared: all settings but those of the baseline.
    pub(crate) fn rest(&self, p: &At<'_>, b: &At<'_>) -> String {
        let mut all = vec![format!("{}/{}", p.run.case.study, p.run.case.scenario)];
        let conditioned = matches!(self, Self::Condition(_));
        let alike = p.run.case.condition == b.run.case.condition;
        all.extend((alike && !conditioned).then(|| p.run.case.condition.clone()));
        all.extend((!matches!(self, Self::Pause(_))).then(|| format!("PAUSE {}", p.run.case.pause)));
        all.extend((!matches!(self, Self::Scheme(_))).then(|| p.run.case.scheme.clone()));
        // Where two conditions are compared by a key, the values of all other keys tell the place.
        let told = |k: &&String| (p.swept.contains(*k) || !(alike || conditioned)) && !self.names(k);
        let values = p.config.iter().filter(|(k, v)| told(k) && b.config.get(*k) == Some(*v));
        all.extend(values.map(|(k, v)| format!("{k} = {v}")));
        all.retain(|part| !part.is_empty());
        all.join(", ")
    }

    /// The settings in which a point differs from the baseline.
    pub(crate) fn own(&self, p: &At<'_>) -> String {
        match self {
            Self::Scheme(_) => {
                let params = p.swept.iter().filter(|k| self.names(k));
                p.run.case.scheme.clone()
                    + &params.map(|k| format!(", {k} = {}", p.value(k))).collect::<String>()
            }
            Self::Condition(_) => p.run.case.condition.clone(),
            Self::Pause(_) => format!("PAUSE {}", p.run.case.pause),
            Self::Key(key, _) => p.value(key).into(),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Scheme(text) | Self::Condition(text) => text.clone(),
            Self::Pause(mode) => format!("PAUSE {mode}"),
            Self::Key(key, value) => format!("{key} = {value}"),
        }
    }
}

/// Possible baselines among these points.
pub(crate) fn choices(points: &[At<'_>]) -> String {
    let list = |words: BTreeSet<&str>, and: &str| words.into_iter().collect::<Vec<_>>().join(and);
    let all = |of: fn(&RunRecord) -> &str| points.iter().map(|p| of(p.run)).collect::<BTreeSet<_>>();
    let modes: Vec<String> =
        all(|r| &r.case.pause).into_iter().map(|mode| format!("\"PAUSE {mode}\"")).collect();
    let keys: BTreeSet<&str> = points
        .iter()
        .flat_map(|p| p.config.keys())
        .map(String::as_str)
        .filter(|k| *k != tables::pause::MODE.path)
        .collect();
    let varies = match keys.is_empty() {
        true => "no key varies".into(),
        false => format!("or KEY=VALUE of a key that varies ({})", list(keys, ", ")),
    };
    format!(
        "name a scheme ({}), a condition ({}), a PAUSE mode ({}); {varies}",
        list(all(|r| &r.case.scheme), ", "),
        list(all(|r| &r.case.condition), "; "),
        modes.join(", ")
    )
}

/// Do two texts write one value? `300us` and `300 us` do.
fn same(a: &str, b: &str) -> bool {
    let bare = |t: &str| t.chars().filter(|c| !c.is_whitespace() && *c != '"').collect::<String>();
    bare(a).eq_ignore_ascii_case(&bare(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_runs::record::RunRecord;
    use serde_json::{Value, json};

    /// A run of a condition, scheme and configuration.
    fn run(condition: &str, scheme: &str, config: Value) -> RunRecord {
        RunRecord {
            case: ["mine", "t", condition, "on", scheme].into(),
            seed: 1,
            config: config.into(),
            ..RunRecord::default()
        }
    }

    /// Each point that has one of the baseline beside it: condition here, condition there.
    fn pairs(runs: &[RunRecord], baseline: &str) -> Result<Vec<(String, String)>, String> {
        let failed = |e: Failure| match e {
            Failure::Input(text) => text,
            _ => String::new(),
        };
        let points = points(runs).map_err(failed)?;
        let baseline = Baseline::read(baseline, &points).map_err(failed)?;
        let mut all = Vec::new();
        for p in points.iter().filter(|p| !baseline.is(p)) {
            for (b, name) in baseline.of(p, &points) {
                let several = name.strip_prefix(&baseline.text()).unwrap_or_default();
                all.push((
                    baseline.rest(p, b) + ": " + &p.run.case.condition,
                    b.run.case.condition.clone() + several,
                ));
            }
        }
        Ok(all)
    }

    #[test]
    fn conditions_of_a_matrix_pair_by_all_other_keys() {
        let of = |rate: &str, load: &str| {
            let condition = format!("hotspot {rate}, load {load}");
            run(
                &condition,
                "ecm",
                json!({"hotspot.rate": rate, "workload.load": load, "run.duration": "1 s"}),
            )
        };
        let runs = [of("2 Gb/s", "50 %"), of("2 Gb/s", "90 %"), of("1 Gb/s", "50 %"), of("1 Gb/s", "90 %")];
        let place = |load: &str, rate: &str| {
            format!("mine/t, PAUSE on, ecm, workload.load = {load}: hotspot {rate}, load {load}")
        };
        assert_eq!(
            pairs(&runs, "hotspot.rate=2Gb/s").unwrap(),
            [
                (place("50 %", "1 Gb/s"), "hotspot 2 Gb/s, load 50 %".to_string()),
                (place("90 %", "1 Gb/s"), "hotspot 2 Gb/s, load 90 %".to_string())
            ]
        );
        // A condition that differs in more has no partner.
        assert_eq!(pairs(&runs[1..3], "hotspot.rate=2Gb/s").unwrap(), []);
        // As a whole, a condition is compared with every other.
        let whole = pairs(&runs, "hotspot 2 Gb/s, load 50 %").unwrap();
        assert_eq!(whole.len(), 3);
        assert!(whole.iter().all(|w| w.1 == "hotspot 2 Gb/s, load 50 %"));
    }

    /// Settings that all runs of a scheme share stand in no heading.
    #[test]
    fn parameters_that_do_not_vary_are_not_told() {
        let of = |fifo: &str, scheme: &str| {
            let params = if scheme == "ecm" { json!({"q_eq": "24 KB", "w": "2"}) } else { json!({}) };
            run(fifo, scheme, json!({"host.fifo": fifo, "scheme": {"name": scheme, "params": params}}))
        };
        let runs = [of("5", "none"), of("9", "none"), of("5", "ecm"), of("9", "ecm")];
        let places: Vec<String> = pairs(&runs, "host.fifo=5").unwrap().into_iter().map(|p| p.0).collect();
        assert_eq!(places, ["mine/t, PAUSE on, none: 9", "mine/t, PAUSE on, ecm: 9"]);
    }

    #[test]
    fn a_key_that_one_lacks() {
        // Where PAUSE is off, its watermark is not read; a table's key may be at its default.
        let (on, off) = (json!({"pause.mode": "on", "pause.high": "9 KB"}), json!({"pause.mode": "off"}));
        let mut other = run("c", "ecm", off);
        other.case.pause = "off".into();
        assert_eq!(pairs(&[run("c", "ecm", on), other], "PAUSE on").unwrap().len(), 1);
        let set = |config: Value| run("c", "ecm", config);
        let tables =
            [set(json!({"host.fifo": "5", "traffic.0.stop": "1 ms"})), set(json!({"host.fifo": "9"}))];
        assert_eq!(pairs(&tables, "host.fifo=5").unwrap(), []);
    }

    #[test]
    fn one_baseline_or_several() {
        let ecm = |q: &str| run("c", "ecm", json!({"scheme": {"name": "ecm", "params": {"q_eq": q}}}));
        let none = run("c", "none", json!({"scheme": {"name": "none", "params": {}}}));
        let runs = [ecm("24 KB"), ecm("48 KB"), none.clone()];
        // Where the baseline is several points, each is compared with.
        let beside: Vec<String> = pairs(&runs, "ecm").unwrap().into_iter().map(|p| p.1).collect();
        assert_eq!(beside, ["c, scheme.params.q_eq = 24 KB", "c, scheme.params.q_eq = 48 KB"]);
        assert_eq!(pairs(&runs, "none").unwrap().len(), 2);
        assert_eq!(pairs(&runs, "scheme=none").unwrap().len(), 2);
        for key in ["scheme.params.q_eq", "scheme.ecm.q_eq", "q_eq"] {
            assert_eq!(pairs(&runs, &format!("{key}=24KB")).unwrap().len(), 1, "{key}");
        }
        let said = pairs(&runs, "q_off=24KB").unwrap_err();
        assert!(said.contains("a key that varies (scheme.params.q_eq)"), "{said}");
        // A run that is in two files counts once, unless its results differ.
        let twice = [none.clone(), ecm("24 KB"), none.clone()];
        assert_eq!(pairs(&twice, "none").unwrap().len(), 1);
        let mut moved = none.clone();
        moved.fingerprint.insert("events".into(), "1".into());
        let said = pairs(&[none, ecm("24 KB"), moved], "none").unwrap_err();
        assert!(said.contains("mine/t, c, PAUSE on, none, seed 1 is there twice"), "{said}");
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        let runs = [run("c", "none", json!({"host.fifo": "5"}))];
        for text in ["qcn", "host.fifo=5", "pause off", "=", "scheme=ecm"] {
            let said = pairs(&runs, text).unwrap_err();
            assert!(said.contains("a scheme (none)") && said.contains("a condition (c)"), "{text}: {said}");
        }
        let points = points(&runs).unwrap_or_default();
        assert!(matches!(Baseline::read("pause ON", &points), Ok(Baseline::Pause(mode)) if mode == "on"));
        assert!(same("300us", "300 us") && !same("30us", "300 us"));
    }
}
