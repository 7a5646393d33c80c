//! Assumption search: which reading of what the sources leave open comes nearest to the published cells?
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

use crate::assumptions::ASSUMPTIONS;
use crate::grid::{Axis, canonical_key, enlist, harmless, told};
use crate::published::Published;
use crate::scenario::{Case, Ready, Scenario};
use crate::stats::{Summary, t95};
use crate::store::RunRecord;
use crate::study::{Cell, Job, Verdict, allowance, cells};
use crate::text::Problem;
use std::collections::BTreeMap;

/// Largest distance of one cell, in scales.
pub const CAP: f64 = 100.0;

/// A key and its values instead of the scenario's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Number of the assumption, empty where it is none.
    pub id: String,
    /// Name of the assumption, or the key.
    pub name: String,
    /// Dotted path.
    pub key: String,
    /// Values to try.
    pub values: Vec<String>,
}

/// Switches that are set: (index of the switch, index of its value), ascending.
pub type Combination = Vec<(usize, usize)>;

/// All named assumptions, as switches.
pub fn named_switches() -> Vec<Switch> {
    let of = |a: &crate::assumptions::Assumption| Switch {
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
/// What is wrong and what would be right.
pub fn asked_switches(texts: &[String]) -> Result<Vec<Switch>, String> {
    let mut all: Vec<Switch> = Vec::new();
    for text in texts {
        let named = |key: &str| ASSUMPTIONS.iter().find(|a| a.key == key);
        let switch = if text.contains('=') {
            let Axis { key, values, .. } = crate::grid::axis(text)?;
            let known = named(&key);
            let id = known.map_or("", |a| a.id).into();
            Switch { id, name: known.map_or(key.as_str(), |a| a.name).into(), key, values }
        } else {
            let key = canonical_key(text.trim());
            let Some(found) = named_switches().into_iter().find(|s| s.key == key) else {
                let near = crate::text::nearest(text, ASSUMPTIONS.iter().map(|a| a.name));
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

/// Can a key change anything for a scheme under a PAUSE mode? What this cannot know shows as an equal configuration.
fn matters(key: &str, scheme: &str, pause: &str) -> bool {
    if let Some(param) = key.strip_prefix("scheme.params.") {
        let info = cnsim_schemes::find(scheme).map(|e| (e.info)()).unwrap_or_default();
        return info.iter().any(|i| i.key == param);
    }
    match key {
        "host.limiter_queue" | "host.limiter_position" | "control.transport" | "host.feedback_delay" => {
            scheme != "none"
        }
        k if k.starts_with("pause.") => pause != "off",
        _ => true,
    }
}

/// A combination and the runs it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// What is set.
    pub combination: Combination,
    /// For each case the first of its jobs, one a seed.
    pub runs: Vec<usize>,
}

/// The cases, switches and runs of a search.
#[derive(Debug)]
pub struct Lab<'a> {
    scenario: &'a Scenario,
    published: &'a [Published],
    /// Cases with published cells.
    pub cases: Vec<Case>,
    /// What may be set.
    pub switches: Vec<Switch>,
    /// Seeds of each case.
    pub seeds: u64,
    /// All runs asked for so far.
    pub jobs: Vec<Job>,
    /// Finished ones, parallel to the jobs.
    pub records: Vec<Option<RunRecord>>,
    /// Values that were left out, and why.
    pub refused: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl<'a> Lab<'a> {
    /// Over the cases of a scenario for which something comparable was published.
    ///
    /// # Errors
    /// A published row whose values cannot be run; a switch that the matrix sets; no case left.
    pub fn new(
        scenario: &'a Scenario,
        published: &'a [Published],
        switches: Vec<Switch>,
        seeds: u64,
        keep: &dyn Fn(&Case) -> bool,
    ) -> Result<Self, String> {
        let rows = published.iter().filter(|p| p.study == scenario.study && p.scenario == scenario.name);
        let mut cases: Vec<Case> = Vec::new();
        for p in rows.filter(|p| crate::metrics::find(&p.metric).is_some()) {
            let case =
                cnsim_schemes::find(&p.scheme).and_then(|e| scenario.case_of(&p.condition, &p.pause, e.name));
            let zero = |c: &Case| crate::metrics::structural_zero(&p.metric, &c.pause, &c.scheme);
            if let Some(case) = case.filter(|c| keep(c) && !zero(c))
                && !cases.contains(&case)
            {
                cases.push(case);
            }
        }
        if cases.is_empty() {
            return Err(format!(
                "{}: nothing published is left to compare with\n  help: `--only` must match a part of `CONDITION, PAUSE on|off, SCHEME`",
                scenario.id()
            ));
        }
        for s in &switches {
            if cases.iter().any(|c| c.row.iter().any(|(k, _)| *k == s.key)) {
                return Err(format!(
                    "--over {}: the scenario's matrix sets it, it is no assumption\n  help: `cnsim sweep` varies it",
                    s.key
                ));
            }
        }
        let lab = Self {
            scenario,
            published,
            cases,
            switches,
            seeds,
            jobs: Vec::new(),
            records: Vec::new(),
            refused: Vec::new(),
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

    /// A case under a combination; settings that have no effect beside the others are left away.
    fn ready(&self, case: &Case, combination: &Combination) -> Result<Ready, Vec<Problem>> {
        let set =
            |(s, v): &(usize, usize)| (self.switches[*s].key.clone(), self.switches[*s].values[*v].clone());
        let mut sets: Vec<(String, String)> =
            combination.iter().map(set).filter(|(k, _)| matters(k, &case.scheme, &case.pause)).collect();
        loop {
            let problems = match self.scenario.with(&sets).and_then(|s| s.ready(case)) {
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
        let ready: Result<Vec<Ready>, _> = self.cases.iter().map(|c| self.ready(c, combination)).collect();
        let mut runs = Vec::new();
        for (ready, case) in ready?.into_iter().zip(&self.cases) {
            runs.push(enlist(&mut self.jobs, &mut self.known, self.scenario, case, ready, self.seeds));
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
                Err(p) if strict => return Err(told(&p)),
                Err(p) => {
                    let why = p.first().map_or_else(String::new, |p| p.reason.clone());
                    self.refused.push(format!("{}: {why}", self.label(c)));
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

    /// Number of runs of these setups: each distinct one once.
    pub fn runs_of(&self, setups: &[Setup]) -> u64 {
        let mut firsts: Vec<usize> = setups.iter().flat_map(|s| s.runs.clone()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        firsts.len() as u64 * self.seeds
    }

    /// Combinations of the values that helped alone, best first, as many as the budget of runs takes in all. Also says
    /// how many of these values were left out.
    pub fn search(&mut self, setups: &[Setup], scored: &[Scored], budget: u64) -> (Vec<Setup>, usize) {
        let base = scored.iter().find(|s| s.combination.is_empty()).map_or(0.0, |s| s.distance.mean);
        let mut helped: Vec<(&Scored, (usize, usize))> = scored
            .iter()
            .filter(|s| s.distance.mean < base)
            .filter_map(|s| match s.combination[..] {
                [one] => Some((s, one)),
                _ => None,
            })
            .collect();
        helped.sort_by(|a, b| a.0.distance.mean.total_cmp(&b.0.distance.mean));
        let (mut chosen, mut best, mut out): (Vec<(usize, usize)>, Vec<Setup>, usize) =
            (Vec::new(), Vec::new(), 0);
        for (_, one) in helped {
            let mut more = chosen.clone();
            more.push(one);
            let Some(all) = grid(&more, budget.max(16)) else {
                out += 1;
                continue;
            };
            let mut next = setups.to_vec();
            let _ = self.add(&mut next, &all, false);
            if self.runs_of(&next) > budget {
                out += 1;
                continue;
            }
            chosen = more;
            best = next.split_off(setups.len());
        }
        self.refused.sort();
        self.refused.dedup();
        (best, out)
    }

    /// The jobs of these setups that are not finished yet: (index, job).
    pub fn missing(&mut self, setups: &[Setup]) -> Vec<usize> {
        self.records.resize(self.jobs.len(), None);
        let seeds = self.seeds as usize;
        let mut wanted: Vec<usize> = setups
            .iter()
            .flat_map(|s| &s.runs)
            .flat_map(|f| *f..*f + seeds)
            .filter(|i| self.records[*i].is_none())
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// Scores all setups whose runs are finished, nearest first.
    pub fn score(&self, setups: &[Setup]) -> Vec<Scored> {
        let seeds = self.seeds as usize;
        let mut published: BTreeMap<usize, Vec<Cell>> = BTreeMap::new();
        let mut scales: Vec<BTreeMap<String, Vec<f64>>> = vec![BTreeMap::new(); self.cases.len()];
        for setup in setups {
            for (case, first) in setup.runs.iter().enumerate() {
                if published.contains_key(first) {
                    continue;
                }
                let runs: Vec<RunRecord> =
                    self.records[*first..*first + seeds].iter().flatten().cloned().collect();
                if runs.len() < seeds {
                    continue;
                }
                let mut all = cells(&runs, self.published, std::slice::from_ref(self.scenario));
                all.retain(|c| c.published.is_some() && !c.structural && c.verdict != Verdict::Incomparable);
                for c in &all {
                    scales[case].entry(slot(c)).or_default().push(c.summary.sd);
                }
                published.insert(*first, all);
            }
        }
        let mut scored: Vec<Scored> = Vec::new();
        for setup in setups {
            let mut mine = Vec::new();
            let done = setup.runs.iter().all(|f| published.contains_key(f));
            for (case, first) in setup.runs.iter().enumerate() {
                for c in published.get(first).into_iter().flatten() {
                    mine.extend(self.cell(c, scales[case].get(&slot(c)).map_or(&[][..], Vec::as_slice)));
                }
            }
            let one = |k: usize| mine.iter().map(|c: &ScoredCell| c.each[k]).sum::<f64>() / mine.len() as f64;
            let each: Vec<f64> = (0..seeds).map(one).collect();
            if let Some(distance) = Summary::of(&each).filter(|_| done && !mine.is_empty()) {
                let agree = mine.iter().filter(|c| c.agrees).count();
                let combination = setup.combination.clone();
                let label = self.label(&combination);
                scored.push(Scored {
                    combination,
                    label,
                    distance,
                    each,
                    agree,
                    cells: mine,
                    gain: None,
                    better: 0,
                    worse: 0,
                });
            }
        }
        if let Some(base) = scored.iter().find(|s| s.combination.is_empty()).cloned() {
            scored.iter_mut().for_each(|s| s.against(&base));
        }
        scored.sort_by(|a, b| a.distance.mean.total_cmp(&b.distance.mean));
        scored
    }

    fn cell(&self, cell: &Cell, sds: &[f64]) -> Option<ScoredCell> {
        let published = cell.published.as_ref()?;
        let noise = t95((self.seeds as usize - 1) * sds.len()).unwrap_or(0.0) * median(sds);
        let half = noise * (1.0 + 1.0 / self.seeds as f64).sqrt();
        let allowed = allowance(cell.metric, published);
        let scale = (allowed * allowed + half * half).sqrt().max(1e-12);
        let each: Vec<f64> =
            cell.values.iter().map(|v| ((published.value - v).abs() / scale).min(CAP)).collect();
        let near = (published.value - cell.summary.mean).abs() <= allowed.max(half) + 1e-12;
        let distance = each.iter().sum::<f64>() / each.len().max(1) as f64;
        (each.len() == self.seeds as usize).then(|| ScoredCell {
            cell: cell.clone(),
            scale,
            each,
            distance,
            agrees: near,
        })
    }
}

/// All products of values of different switches, each switch also at the scenario's own; none if they are more than
/// `limit`.
fn grid(values: &[(usize, usize)], limit: u64) -> Option<Vec<Combination>> {
    let mut by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    values.iter().for_each(|(s, v)| by.entry(*s).or_default().push(*v));
    let size = by.values().fold(1_u64, |n, v| n.saturating_mul(1 + v.len() as u64));
    (size <= limit).then(|| full(by.into_iter()))
}

/// The whole product over all switches; none if it has more members than `limit`.
pub fn every(switches: &[Switch], limit: u64) -> Option<Vec<Combination>> {
    let size = switches.iter().fold(1_u64, |n, w| n.saturating_mul(1 + w.values.len() as u64));
    let axes = switches.iter().enumerate().map(|(s, w)| (s, (0..w.values.len()).collect()));
    (size <= limit).then(|| full(axes))
}

fn full(axes: impl Iterator<Item = (usize, Vec<usize>)>) -> Vec<Combination> {
    let mut all: Vec<Combination> = vec![Vec::new()];
    for (s, values) in axes {
        let longer: Vec<Combination> = all
            .iter()
            .flat_map(|c| values.iter().map(move |v| c.iter().copied().chain([(s, *v)]).collect()))
            .collect();
        all.extend(longer);
    }
    all
}

fn slot(c: &Cell) -> String {
    c.metric.id.into()
}

fn median(values: &[f64]) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => 0.0,
        n if n % 2 == 1 => v[n / 2],
        n => v[n / 2 - 1].midpoint(v[n / 2]),
    }
}

/// A published cell under a combination.
#[derive(Clone, Debug)]
pub struct ScoredCell {
    /// What was measured and published.
    pub cell: Cell,
    /// What one scale is, in the cell's unit.
    pub scale: f64,
    /// Distance of each seed, in scales.
    pub each: Vec<f64>,
    /// Their mean.
    pub distance: f64,
    /// The mean lies within the allowance or the pooled prediction interval.
    pub agrees: bool,
}

impl ScoredCell {
    /// Which cell: condition, PAUSE, scheme, metric.
    pub fn name(&self) -> String {
        let c = &self.cell;
        format!("{}, PAUSE {}, {}, {}", c.condition, c.pause, c.scheme, c.metric.title)
    }
}

/// A combination with its distance.
#[derive(Clone, Debug)]
pub struct Scored {
    /// What is set.
    pub combination: Combination,
    /// In words.
    pub label: String,
    /// Over the seeds.
    pub distance: Summary,
    /// Of each seed.
    pub each: Vec<f64>,
    /// Cells that agree.
    pub agree: usize,
    /// All cells, in the same order for every combination.
    pub cells: Vec<ScoredCell>,
    /// How much nearer than the scenario as it is, seed by seed: positive is nearer.
    pub gain: Option<Summary>,
    /// Cells nearer by more than one scale.
    pub better: usize,
    /// Cells farther by more than one scale.
    pub worse: usize,
}

impl Scored {
    fn against(&mut self, base: &Self) {
        let paired: Vec<f64> = base.each.iter().zip(&self.each).map(|(b, s)| b - s).collect();
        self.gain = Summary::of(&paired);
        let change = |(b, s): (&ScoredCell, &ScoredCell)| b.distance - s.distance;
        let changes: Vec<f64> = base.cells.iter().zip(&self.cells).map(change).collect();
        self.better = changes.iter().filter(|c| **c > 1.0).count();
        self.worse = changes.iter().filter(|c| **c < -1.0).count();
    }

    /// May this become the default? Only if it is nearer beyond the noise, no cell is farther by more than a scale, and no
    /// cell that agreed stops doing so.
    pub fn holds_everywhere(&self, base: &Self) -> bool {
        let kept = base.cells.iter().zip(&self.cells).all(|(b, s)| s.agrees || !b.agrees);
        let gained = self.gain.as_ref().and_then(Summary::confidence).is_some_and(|(low, _)| low > 0.0);
        !self.combination.is_empty() && gained && kept && self.worse == 0 && self.better > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{self, EMBEDDED};
    use crate::study::record_for_tests as record;

    fn lab<'a>(s: &'a Scenario, p: &'a [Published], over: &[&str], only: &str) -> Lab<'a> {
        let over: Vec<String> = over.iter().map(|t| (*t).to_string()).collect();
        let keep = |c: &Case| format!("{}, PAUSE {}, {}", c.condition, c.pause, c.scheme).contains(only);
        Lab::new(s, p, asked_switches(&over).unwrap(), 2, &keep).unwrap()
    }

    #[test]
    fn a_switch_without_effect_on_a_case_runs_nothing_there() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let p = published::parse("p", EMBEDDED).unwrap();
        let mut lab = lab(&s, &p, &["efr=on,off", "limiter-queue=10"], "hotspot 2 Gb/s, PAUSE on");
        assert_eq!(lab.cases.len(), 4, "none, 2pt, 3pt, ECM");
        let mut setups = Vec::new();
        let one = lab.one_at_a_time();
        assert_eq!(one.len(), 4);
        lab.add(&mut setups, &one, true).unwrap();
        assert_eq!(setups.len(), 3, "efr=on is the scenario as it is");
        assert_eq!(lab.runs_of(&setups[..1]), 8);
        assert_eq!(lab.runs_of(&setups), 2 * (4 + 2 + 3), "EFR: both QCN; limiter queue: not `none`");
        assert_eq!(lab.missing(&setups).len(), 18);
        assert_eq!(every(&lab.switches, 6).map(|e| e.len()), Some(6));
        assert_eq!(every(&named_switches(), 1_000_000), None, "too many to list");
    }

    #[test]
    fn settings_without_effect_beside_others_fall_away() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let p = published::parse("p", EMBEDDED).unwrap();
        let mut lab = lab(&s, &p, &["efr=off", "efr-max=10"], "hotspot 2 Gb/s, PAUSE on, qcn-2pt");
        let mut setups = Vec::new();
        let all = every(&lab.switches, 100).unwrap();
        lab.add(&mut setups, &all, true).unwrap();
        assert_eq!(setups.len(), 3, "EFR off with a maximum is EFR off");
    }

    #[test]
    fn the_nearer_reading_wins_and_scatter_counts_against() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let p = published::parse("p", EMBEDDED).unwrap();
        let mut lab = lab(&s, &p, &["limiter-queue=10,1000,10000"], "hotspot 0 Gb/s, PAUSE on, qcn-2pt");
        let mut setups = Vec::new();
        let one = lab.one_at_a_time();
        lab.add(&mut setups, &one, true).unwrap();
        lab.missing(&setups);
        // Published: aggregate 35.55, hot 2.57. As it is: far; 10: near; 1000: right in the mean alone; 10000: worst.
        for (setup, values) in [[54.0, 54.1], [36.0, 36.1], [8.0, 63.1], [70.0, 70.1]].iter().enumerate() {
            for (k, v) in values.iter().enumerate() {
                let at = setups[setup].runs[0] + k;
                lab.records[at] = Some(record(
                    &lab.jobs[at],
                    &[("aggregate_throughput", *v), ("hot_port_throughput", 2.57)],
                ));
            }
        }
        let scored = lab.score(&setups);
        let order: Vec<&str> = scored.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(order, ["limiter-queue=10", "as it is", "limiter-queue=1000", "limiter-queue=10000"]);
        assert_eq!((scored[0].better, scored[0].worse, scored[0].agree), (1, 0, 2));
        assert!(scored[0].gain.as_ref().unwrap().mean > 1.0 && scored[3].gain.as_ref().unwrap().mean < 0.0);
        assert_eq!(scored[0].cells[0].scale, scored[3].cells[0].scale, "one scale for all readings");
        let holds: Vec<bool> = scored.iter().map(|s| s.holds_everywhere(&scored[1])).collect();
        assert_eq!(holds, [true, false, false, false]);
        // Only what helped goes into the grid.
        let (more, _) = lab.search(&setups, &scored, 100);
        assert!(more.is_empty(), "values of one switch exclude each other");
    }

    #[test]
    fn the_search_keeps_to_its_budget() {
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let p = published::parse("p", EMBEDDED).unwrap();
        let mut lab = lab(
            &s,
            &p,
            &["limiter-queue=10", "efr=off", "gate-qoff=off"],
            "hotspot 0 Gb/s, PAUSE on, qcn-2pt",
        );
        let mut setups = Vec::new();
        let one = lab.one_at_a_time();
        lab.add(&mut setups, &one, true).unwrap();
        lab.missing(&setups);
        for (i, v) in [54.0, 52.0, 50.0, 48.0].iter().enumerate() {
            for k in 0..2 {
                let at = setups[i].runs[0] + k;
                lab.records[at] = Some(record(&lab.jobs[at], &[("aggregate_throughput", *v)]));
            }
        }
        let scored = lab.score(&setups);
        let (all, out) = lab.search(&setups, &scored, 100);
        assert_eq!((all.len(), out), (4, 0), "three pairs and all three");
        let (few, out) = lab.search(&setups, &scored, 10);
        assert_eq!((few.len(), out), (1, 1));
        assert_eq!(few[0].combination, [(1, 0), (2, 0)], "the two that helped most");
        assert_eq!(lab.search(&setups, &scored, 8).0.len(), 0);
    }

    #[test]
    fn bad_switches_are_refused_before_anything_runs() {
        let ask = |t: &str| asked_switches(&[t.to_string()]);
        assert!(ask("eft").unwrap_err().contains("did you mean `efr`"));
        assert_eq!(ask("sampling").unwrap()[0].values.len(), 3);
        assert_eq!(ask("assumptions.r_min=1 Mb/s").unwrap()[0].id, "A5");
        let s = Scenario::load("B07/single-hop", &[]).unwrap();
        let p = published::parse("p", EMBEDDED).unwrap();
        let all = |_: &Case| true;
        let matrix = Lab::new(&s, &p, ask("hotspot.rate=1 Gb/s").unwrap(), 2, &all).map(|_| ()).unwrap_err();
        assert!(matrix.contains("cnsim sweep"), "{matrix}");
        let mut lab = Lab::new(&s, &p, ask("efr=maybe").unwrap(), 2, &all).unwrap();
        let one = lab.one_at_a_time();
        assert!(lab.add(&mut Vec::new(), &one, true).unwrap_err().contains("neither on nor off"));
        let none = Lab::new(&s, &p, Vec::new(), 2, &|_| false).map(|_| ()).unwrap_err();
        assert!(none.contains("--only"), "{none}");
    }
}
