//! Search over assumptions: ranks readings of the gaps in the sources by their fit to the published cells.
//!
//! A *switch* is a key with the values it may take instead of the scenario's own. A *combination* sets some switches;
//! the empty one is the scenario as it is. A run is done once for all combinations that mean the same to a case: a
//! switch of QCN does nothing to the rows of ECM.
//!
//! **Distance.** For a published cell and one run: `|published - value| / scale`, at most [`CAP`]. The scale is
//! `sqrt(a^2 + h^2)`: `a` is what the verdict allows in any case (the metric's tolerance, at least half a unit of the
//! last printed digit), `h` the half width of the 95 % prediction interval of one run. Both are honest reasons for one
//! run to differ, and independent, hence the root of squares. `h` comes from the median over all readings of the cell's
//! standard deviation, so that it is one scale for all of them: with its own noise as the scale, a reading that
//! scatters would be near to everything. A combination's distance is the mean over the cells, one value per seed: a
//! published cell is one run, so single runs are compared with it, and scatter counts against a reading. Zeros by
//! construction and cells that cannot be compared are left out. The cap keeps one hopeless cell from outweighing all
//! others.
//!
//! **Tables.** A table is a scenario, a condition and a PAUSE mode. With thirty readings one looks good by chance, so that
//! [`leave_one_out`] chooses a reading on all tables but one and judges it on that one.

mod leave;
mod score;

pub use leave::{Fold, leave_one_out};
pub use score::{Scored, ScoredCell};

use crate::published::Published;
use cnsim_problem::Problem;
use cnsim_runs::grid::{Axis, canonical_key, enlist, harmless};
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::Job;
use cnsim_scenario::assumptions::ASSUMPTIONS;
use cnsim_scenario::keys::Key;
use cnsim_scenario::tables::{control, host, pause};
use cnsim_scenario::{Case, Ready, Scenario};
use cnsim_scheme_api::Registry;
use indexmap::IndexSet;
use std::collections::{BTreeMap, BTreeSet};

/// Largest distance of one cell, in scales.
pub const CAP: f64 = 100.0;

/// A key and its values instead of the scenario's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Number of the assumption, empty if it is none.
    pub id: String,
    /// Name of the assumption, or the key.
    pub name: String,
    /// Dotted path of the key that is switched.
    pub key: String,
    /// The values to try.
    pub values: Vec<String>,
}

/// Switches that are set: (index of the switch, index of its value), ascending.
pub type Combination = Vec<(usize, usize)>;

/// All named assumptions, as switches.
pub fn named_switches() -> Vec<Switch> {
    let of = |a: &cnsim_scenario::assumptions::Assumption| Switch {
        id: a.id.into(),
        name: a.name.into(),
        key: a.key.into(),
        values: a.values().into_iter().map(String::from).collect(),
    };
    ASSUMPTIONS.iter().map(of).collect()
}

/// Switches from `--over`; a name without values stands for all alternatives of that assumption.
///
/// # Errors
/// The fault and its remedy.
pub fn asked_switches(texts: &[String]) -> Result<Vec<Switch>, String> {
    let mut all: Vec<Switch> = Vec::new();
    for text in texts {
        let key = text.split('=').next().unwrap_or_default().trim();
        if matches!(key, "pause" | "scheme" | "schemes") || key == pause::MODE.path {
            return Err(format!(
                "--over {text}: published numbers have a PAUSE mode and a scheme; neither is an assumption\n  help: choose cases with --only \"PAUSE on\" or --only qcn-2pt"
            ));
        }
        let named = |key: &str| ASSUMPTIONS.iter().find(|a| a.key == key);
        let switch = if text.contains('=') {
            let Axis { key, values, .. } = cnsim_runs::grid::axis(text)?;
            let known = named(&key);
            let id = known.map_or("", |a| a.id).into();
            Switch { id, name: known.map_or(key.as_str(), |a| a.name).into(), key, values }
        } else {
            let key = canonical_key(text.trim());
            let Some(found) = named_switches().into_iter().find(|s| s.key == key) else {
                let near = cnsim_problem::nearest(text, ASSUMPTIONS.iter().map(|a| a.name));
                let hint = near.map_or_else(String::new, |n| format!("did you mean `{n}`? "));
                return Err(format!(
                    "--over {text}: neither an assumption nor KEY=V1,V2\n  help: {hint}`cnsim list assumptions` shows them"
                ));
            };
            found
        };
        if all.iter().any(|s| s.key == switch.key) {
            return Err(format!(
                "--over {text}: `{}` is there twice\n  help: put all values behind one --over",
                switch.key
            ));
        }
        all.push(switch);
    }
    Ok(all)
}

/// Can a key change anything for a scheme under a PAUSE mode? Otherwise configurations are equal.
fn matters(registry: &Registry, key: &str, scheme: &str, pause: &str) -> bool {
    if let Some(param) = key.strip_prefix("scheme.params.") {
        return registry.find(scheme).is_some_and(|e| e.param(param).is_some());
    }
    const OF_FEEDBACK: [Key; 5] = [
        host::LIMITER_QUEUE,
        host::LIMITER_POSITION,
        host::LIMITER_BACKLOG,
        control::TRANSPORT,
        host::FEEDBACK_DELAY,
    ];
    if OF_FEEDBACK.iter().any(|k| k.path == key) {
        return scheme != "none";
    }
    !key.starts_with("pause.") || pause != "off"
}

/// Can this scheme read this value of a parameter?
fn reads(registry: &Registry, scheme: &str, key: &str, value: &str) -> bool {
    let Some(leaf) = key.strip_prefix("scheme.params.") else { return true };
    registry.find(scheme).is_some_and(|e| e.build(&[(leaf.into(), value.into())]).is_ok())
}

/// A combination and the runs it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The keys and values that this reading sets.
    pub combination: Combination,
    /// For each case the first of its jobs, one a seed.
    pub runs: Vec<usize>,
}

/// The cases, switches and runs of a search.
#[derive(Debug)]
pub struct Lab<'a> {
    scenarios: &'a [Scenario],
    published: &'a [Published],
    /// Cases with published cells, scenario by scenario.
    pub cases: Vec<Case>,
    /// The scenario of each case.
    home: Vec<usize>,
    /// Keys that may be set.
    pub switches: Vec<Switch>,
    /// Seeds of each case.
    pub seeds: u64,
    /// All runs asked for so far.
    pub jobs: Vec<Job>,
    /// Finished ones, parallel to the jobs.
    pub records: Vec<Option<RunRecord>>,
    /// Values that were left out, and why.
    pub refused: IndexSet<String>,
    /// Somebody named the switches.
    asked: bool,
    known: BTreeMap<String, usize>,
}

impl<'a> Lab<'a> {
    /// Over the cases of these scenarios for which something comparable was published. `asked`: somebody named these switches;
    /// otherwise those that every matrix sets are left out, and noted. A switch leaves alone the cases whose matrix sets it.
    ///
    /// # Errors
    /// A published row whose values cannot be run; a switch that was asked for and that the matrix sets; no case left.
    pub fn new(
        scenarios: &'a [Scenario],
        published: &'a [Published],
        mut switches: Vec<Switch>,
        asked: bool,
        seeds: u64,
        keep: &dyn Fn(&Case) -> bool,
    ) -> Result<Self, String> {
        let (mut cases, mut home): (Vec<Case>, Vec<usize>) = (Vec::new(), Vec::new());
        let comparable = |p: &&Published| cnsim_scenario::metrics::find(&p.metric).is_some();
        let rows = scenarios.iter().enumerate().flat_map(|(i, s)| {
            let mine = published.iter().filter(|p| p.case.study == s.study && p.case.scenario == s.name);
            mine.filter(comparable).map(move |p| (i, s, p))
        });
        for (i, scenario, p) in rows {
            let zero =
                |c: &Case| cnsim_scenario::metrics::structural_zero(&p.metric, &c.id.pause, &c.id.scheme);
            // Two rows may name one case in different words: it is looked at once, against both.
            if let Some(case) = p.case_in(scenario).filter(|c| keep(c) && !zero(c))
                && !cases.iter().zip(&home).any(|(c, h)| *h == i && c.id == case.id)
            {
                cases.push(case);
                home.push(i);
            }
        }
        if cases.is_empty() {
            return Err(format!(
                "{}: nothing published is left to compare with\n  help: `--only` must match a part of `CONDITION, PAUSE on|off, SCHEME`",
                scenarios.iter().map(Scenario::id).collect::<Vec<_>>().join(", ")
            ));
        }
        let set = |s: &Switch| cases.iter().all(|c| c.row.iter().any(|(k, _)| *k == s.key));
        let mut refused = IndexSet::new();
        for s in switches.iter().filter(|s| set(s)) {
            if asked {
                return Err(format!(
                    "--over {}: the scenario's matrix sets it, it is no assumption\n  help: `cnsim sweep` varies it",
                    s.key
                ));
            }
            refused.insert(format!("{}: the scenario's matrix sets it", s.name));
        }
        switches.retain(|s| !set(s));
        let lab = Self {
            scenarios,
            published,
            cases,
            home,
            switches,
            seeds,
            jobs: Vec::new(),
            records: Vec::new(),
            refused,
            asked,
            known: BTreeMap::new(),
        };
        Ok(lab)
    }

    /// A combination in words.
    pub fn label(&self, combination: &Combination) -> String {
        let one =
            |(s, v): &(usize, usize)| format!("{}={}", self.switches[*s].name, self.switches[*s].values[*v]);
        match combination.len() {
            0 => "as it is".into(),
            _ => combination.iter().map(one).collect::<Vec<_>>().join(", "),
        }
    }

    /// The scenario of a case.
    pub fn scenario_of(&self, case: usize) -> &'a Scenario {
        &self.scenarios[self.home[case]]
    }

    /// A case under a combination; settings that have no effect beside the others are left away.
    fn ready(&self, at: usize, combination: &Combination) -> Result<Ready, Vec<Problem>> {
        let case = &self.cases[at];
        let set =
            |(s, v): &(usize, usize)| (self.switches[*s].key.clone(), self.switches[*s].values[*v].clone());
        // By one key two schemes may mean two things; what none of them can read is an error of who wrote it.
        let registry = self.scenario_of(at).registry();
        let fits = |(k, v): &(String, String)| {
            let typed = self.asked && !self.cases.iter().any(|c| reads(registry, &c.id.scheme, k, v));
            let free = !case.row.iter().any(|(set, _)| set == k);
            free && matters(registry, k, &case.id.scheme, &case.id.pause)
                && (reads(registry, &case.id.scheme, k, v) || typed)
        };
        let mut sets: Vec<(String, String)> = combination.iter().map(set).filter(fits).collect();
        loop {
            let problems = match self.scenario_of(at).with(&sets).and_then(|s| s.ready(case)) {
                Ok(ready) => return Ok(ready),
                Err(problems) => problems,
            };
            let before = sets.len();
            if harmless(&problems) {
                let leaf = |k: &str| k.rsplit('.').next().map(String::from);
                sets.retain(|(k, _)| !problems.iter().any(|p| leaf(&p.key) == leaf(k)));
            }
            if sets.len() == before {
                return Err(problems);
            }
        }
    }

    /// Lists the runs of a combination, new ones only.
    ///
    /// # Errors
    /// Values that cannot be run.
    pub fn prepare(&mut self, combination: &Combination) -> Result<Setup, Vec<Problem>> {
        let ready: Result<Vec<Ready>, _> =
            (0..self.cases.len()).map(|at| self.ready(at, combination)).collect();
        let mut runs = Vec::new();
        for (at, ready) in ready?.into_iter().enumerate() {
            let case = &self.cases[at];
            runs.push(enlist(&mut self.jobs, &mut self.known, case, ready, self.seeds));
        }
        Ok(Setup { combination: combination.clone(), runs })
    }

    /// Adds setups of combinations that mean something else than those before.
    ///
    /// # Errors
    /// A value that nothing can read (a typing error); one that merely does not fit here is noted in `refused`.
    pub fn add(
        &mut self,
        setups: &mut Vec<Setup>,
        combinations: &[Combination],
        strict: bool,
    ) -> Result<(), String> {
        for c in combinations {
            match self.prepare(c) {
                Ok(s) if setups.iter().any(|o| o.runs == s.runs) => {}
                Ok(s) => setups.push(s),
                Err(p) if strict => return Err(cnsim_problem::told(p)),
                Err(p) => {
                    let why = p.first().map_or_else(String::new, |p| format!("`{}`: {}", p.key, p.reason));
                    self.refused.insert(format!("{}: {why}", self.label(c)));
                }
            }
        }
        Ok(())
    }

    /// The scenario as it is, then each switch at each value alone.
    pub fn one_at_a_time(&self) -> Vec<Combination> {
        let each = self.switches.iter().enumerate();
        let alone = each.flat_map(|(s, w)| (0..w.values.len()).map(move |v| vec![(s, v)]));
        std::iter::once(Vec::new()).chain(alone).collect()
    }

    /// The jobs of these setups that are not finished yet, each once.
    pub fn missing(&mut self, setups: &[Setup]) -> Vec<usize> {
        self.records.resize(self.jobs.len(), None);
        let runs: BTreeSet<usize> =
            setups.iter().flat_map(|s| &s.runs).flat_map(|f| *f..*f + self.seeds as usize).collect();
        runs.into_iter().filter(|i| self.records[*i].is_none()).collect()
    }
}

/// Largest number of combinations in one search.
pub const MOST: u64 = 10_000;

/// The whole product over all switches, each also at the scenario's own; none if it has more than [`MOST`] members.
pub fn every(switches: &[Switch]) -> Option<Vec<Combination>> {
    let size = switches.iter().fold(1_u64, |n, w| n.saturating_mul(1 + w.values.len() as u64));
    (size <= MOST).then(|| {
        let mut all: Vec<Combination> = vec![Vec::new()];
        for (s, switch) in switches.iter().enumerate() {
            let longer = |c: &Combination| {
                let c = c.clone();
                (0..switch.values.len()).map(move |v| c.iter().copied().chain([(s, v)]).collect())
            };
            let longer: Vec<Combination> = all.iter().flat_map(longer).collect();
            all.extend(longer);
        }
        all
    })
}

#[cfg(test)]
mod tests;
