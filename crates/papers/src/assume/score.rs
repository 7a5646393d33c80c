//! How near a combination comes to the published cells: [`super`] defines the distance.

use super::{CAP, Combination, Lab, Setup};
use crate::cells::{Cell, cells_by};
use crate::verdict::{CLOSE, Verdict, allowance};
use cnsim_measure::stats::{Summary, t95};
use cnsim_runs::record::RunRecord;
use std::collections::BTreeMap;

impl Lab<'_> {
    /// Scores the setups whose runs are finished, nearest first.
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
                    self.records.iter().skip(*first).take(seeds).flatten().cloned().collect();
                if runs.len() < seeds {
                    continue;
                }
                // Other readings of the study are what is looked for.
                let scenario = std::slice::from_ref(self.scenario_of(case));
                let mut all = cells_by(&runs, self.published, scenario, |_| None);
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
                    let sds = scales[case].get(&slot(c)).map_or(&[][..], Vec::as_slice);
                    mine.extend(scored_cell(c, sds, seeds));
                }
            }
            let one = |k: usize| mine.iter().map(|c: &ScoredCell| c.each[k]).sum::<f64>() / mine.len() as f64;
            let each: Vec<f64> = (0..seeds).map(one).collect();
            if let Some(distance) = Summary::of(&each).filter(|_| done && !mine.is_empty()) {
                let distance = distance.within((0.0, f64::INFINITY));
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
}

/// A cell of runs with so many seeds; `sds`: its standard deviation under each reading.
fn scored_cell(cell: &Cell, sds: &[f64], seeds: usize) -> Option<ScoredCell> {
    let published = cell.published.as_ref()?;
    let noise = t95((seeds - 1) * sds.len()).unwrap_or(0.0) * median(sds);
    let half = noise * (1.0 + 1.0 / seeds as f64).sqrt();
    let allowed = allowance(cell.metric, published);
    let scale = (allowed * allowed + half * half).sqrt().max(1e-12);
    let each: Vec<f64> = cell.values.iter().map(|v| ((published.value - v).abs() / scale).min(CAP)).collect();
    let off = (published.value - cell.summary.mean).abs() - published.half_unit();
    let agrees = off <= half.max(CLOSE * cell.summary.mean.abs() - published.half_unit()) + 1e-12;
    let distance = each.iter().sum::<f64>() / each.len().max(1) as f64;
    (each.len() == seeds).then(|| ScoredCell { cell: cell.clone(), scale, each, distance, agrees })
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
    /// Measured and published value.
    pub cell: Cell,
    /// Length of one scale, in the cell's unit.
    pub scale: f64,
    /// Distance of each seed, in scales.
    pub each: Vec<f64>,
    /// Mean of the cells' distances.
    pub distance: f64,
    /// The published number lies in the pooled prediction interval, or within [`CLOSE`] of the mean.
    pub agrees: bool,
}

impl ScoredCell {
    /// Which cell: condition, PAUSE, scheme, metric.
    pub fn name(&self) -> String {
        let c = &self.cell;
        format!("{}, {}", c.shown().name(), c.metric.title)
    }
}

/// A combination with its distance.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The keys and values that this reading sets.
    pub combination: Combination,
    /// The reading in words.
    pub label: String,
    /// Summary of its distance over the seeds.
    pub distance: Summary,
    /// Distance of the reading in each seed.
    pub each: Vec<f64>,
    /// Number of cells that agree under this reading.
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
        let gained = self.gain.as_ref().and_then(Summary::paired).is_some_and(|(low, _)| low > 0.0);
        !self.combination.is_empty() && gained && kept && self.worse == 0 && self.better > 0
    }
}
