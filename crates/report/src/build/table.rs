//! The tables of a scenario's page: a condition each, or all conditions of a PAUSE mode in one.

use super::scene::{CaseRuns, Scene};
use crate::model::{self, Column, Row, Table};
use cnsim_papers::cells::Cell;
use cnsim_papers::verdict::{Verdict, accepted, factor};
use cnsim_scenario::case::CaseId;
use cnsim_scenario::metrics::{Id, METRICS, Metric};
use indexmap::IndexSet;
use std::collections::{BTreeMap, BTreeSet};

/// How the conditions of a scenario are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A table each.
    Apart,
    /// One table for each PAUSE mode: many conditions with few schemes each.
    Together,
}

impl Layout {
    pub(crate) fn of(scene: &Scene<'_>) -> Self {
        let tables: BTreeSet<CaseId> = scene.cases.iter().map(|c| c.case.under("")).collect();
        let pauses: BTreeSet<&str> = scene.cases.iter().map(|c| c.case.pause.as_str()).collect();
        let few = scene.cases.len() <= 3 * tables.len();
        if few && tables.len() > pauses.len() { Self::Together } else { Self::Apart }
    }

    /// The table in which a case stands.
    pub(crate) fn table(self, case: &CaseId) -> String {
        match self {
            Self::Apart => case.place(),
            Self::Together => format!("PAUSE {}", case.pause),
        }
    }
}

/// A metric in a unit.
type Head = (&'static str, String);

/// A row to be: its condition in the study's words, and the case of its runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    shown: String,
    case: CaseId,
}

/// All tables of a scenario.
pub(crate) fn tables(
    scene: &Scene<'_>,
    cells: &[&Cell],
    claimed: &BTreeSet<&str>,
    layout: Layout,
) -> Vec<Table> {
    // Two published rows on one run keep the study's words; all others take the run's.
    let mut words: BTreeMap<(&CaseId, Head), BTreeSet<&str>> = BTreeMap::new();
    for c in cells {
        words.entry((&c.case, (c.metric.id, c.unit.clone()))).or_default().insert(c.condition());
    }
    let own: BTreeSet<&str> = words.values().filter(|w| w.len() > 1).flatten().copied().collect();
    let mut rows: Vec<Key> = Vec::new();
    let mut place: BTreeMap<Key, BTreeMap<Head, &Cell>> = BTreeMap::new();
    for c in cells {
        let shown = if own.contains(c.condition()) { c.condition() } else { &c.case.condition };
        let key = Key { shown: shown.into(), case: c.case.clone() };
        if !place.contains_key(&key) {
            rows.push(key.clone());
        }
        place.entry(key).or_default().insert((c.metric.id, c.unit.clone()), c);
    }
    rows.sort_by_cached_key(|k| order(scene, k));
    let heads = heads(cells, claimed, scene.has_hot_port());
    let mut tables: Vec<Table> = Vec::new();
    let mut of: Vec<Vec<&Key>> = Vec::new();
    for k in &rows {
        let id = layout.table(&k.case);
        match tables.iter().position(|t| t.id == id) {
            Some(i) => of[i].push(k),
            None => {
                let condition =
                    if layout == Layout::Apart { k.case.condition.clone() } else { String::new() };
                tables.push(Table { id, condition, pause: k.case.pause.clone(), ..Table::default() });
                of.push(vec![k]);
            }
        }
    }
    // Metrics that the table leaves out stand in the list of all numbers.
    let more: Vec<Head> = METRICS
        .iter()
        .filter(|m| heads.iter().all(|h| h.0 != m.id))
        .filter_map(|m| Some((m.id, cells.iter().find(|c| c.metric.id == m.id)?.unit.clone())))
        .collect();
    for (t, keys) in tables.iter_mut().zip(&of) {
        fill(t, keys, &place, &heads, &more);
    }
    tables
}

/// Place of a row: that of its condition among the runs, PAUSE, then its scheme; of one run, the published words.
fn order(scene: &Scene<'_>, k: &Key) -> (usize, usize, bool, String, usize) {
    let end = scene.cases.len();
    let first = |f: &dyn Fn(&CaseRuns<'_>) -> bool| scene.cases.iter().position(f).unwrap_or(end);
    (
        first(&|c| c.case.condition == k.case.condition),
        first(&|c| c.case.under("") == k.case.under("")),
        k.shown != k.case.condition,
        k.shown.clone(),
        first(&|c| c.case == k.case),
    )
}

/// Columns: published metrics, metrics of claims, and the five of the published tables, in the order of the metrics. A user's own
/// experiment has the columns of its own list, in that order.
fn heads(cells: &[&Cell], claimed: &BTreeSet<&str>, hot: bool) -> Vec<Head> {
    let published: BTreeSet<&str> =
        cells.iter().filter(|c| c.published.is_some()).map(|c| c.metric.id).collect();
    // Where all traffic is finite flows, goodput is all that arrives.
    let values = |id: &str| cells.iter().filter(|c| c.metric.id == id).map(|c| &c.values).collect::<Vec<_>>();
    let goodput = values(Id::Goodput.text());
    let finite = !goodput.is_empty() && goodput == values(Id::AggregateThroughput.text());
    let wanted = |m: &Metric| {
        // Without a hotspot the rate of the one receiver is both.
        let twice = m.key == Id::HotPortThroughput && published.contains(Id::Throughput.text());
        if published.is_empty() {
            let there = m.own.is_some() && cells.iter().any(|c| c.metric.id == m.id);
            let again = finite && m.key == Id::AggregateThroughput;
            return claimed.contains(m.id) || there && !again && (hot || !m.hot);
        }
        published.contains(m.id) || claimed.contains(m.id) || (m.printed && !twice)
    };
    let mut heads: IndexSet<Head> = IndexSet::new();
    let mut order: Vec<&Metric> = METRICS.iter().filter(|m| wanted(m)).collect();
    if published.is_empty() {
        order.sort_by_key(|m| m.own.unwrap_or(u8::MAX));
    }
    for m in order {
        let mine = || cells.iter().filter(|c| c.metric.id == m.id);
        // A column in each unit that was published; what was not is shown in the first of them.
        let mut units: Vec<&String> = mine().filter(|c| c.published.is_some()).map(|c| &c.unit).collect();
        if units.is_empty() {
            units.extend(mine().map(|c| &c.unit).next());
        }
        heads.extend(units.into_iter().map(|unit| (m.id, unit.clone())));
    }
    heads.into_iter().collect()
}

fn fill(
    t: &mut Table,
    keys: &[&Key],
    place: &BTreeMap<Key, BTreeMap<Head, &Cell>>,
    heads: &[Head],
    more: &[Head],
) {
    let first = |head: &Head| heads.iter().chain(more).find(|h| h.0 == head.0) == Some(head);
    let find = |k: &Key, head: &Head| -> Option<model::Cell> {
        let row = place.get(k)?;
        let own = row.get(head).map(|c| shown(c, 1.0));
        own.or_else(|| {
            // Unpublished, so in the metric's own unit.
            let c = row.values().find(|c| c.metric.id == head.0 && c.published.is_none())?;
            first(head).then(|| factor(&c.unit, &head.1)).flatten().map(|f| shown(c, f))
        })
    };
    let cell = |k: &Key, head: &Head| -> Option<model::Cell> {
        if let Some(c) = find(k, head) {
            return Some(c);
        }
        // These runs under other words are measured, but nothing is published under these words.
        let other = Key { shown: k.case.condition.clone(), ..k.clone() };
        let c = find(&other, head)?;
        let note = String::new();
        Some(model::Cell { published: None, accept: None, verdict: Verdict::Unpublished, note, ..c })
    };
    let several = keys.iter().any(|k| k.shown != t.condition);
    // A column that is zero by construction throughout says nothing, unless it was published.
    let told = |head: &&Head| {
        let says = |c: &model::Cell| !c.structural || c.published.is_some() || c.verdict == Verdict::Differs;
        keys.iter().filter_map(|k| cell(k, head)).any(|c| says(&c))
    };
    let shown: Vec<&Head> = heads.iter().filter(told).collect();
    let some = |head: &&Head| keys.iter().any(|k| cell(k, head).is_some());
    let heads: Vec<&Head> = shown.iter().copied().chain(more.iter().filter(some)).collect();
    t.columns = heads
        .iter()
        .enumerate()
        .filter_map(|(i, (id, unit))| {
            let m = cnsim_scenario::metrics::find(id)?;
            let about = format!("{}. Near: within {}", m.about, m.tolerance.text(m.unit));
            Some(Column {
                metric: m.id.into(),
                title: m.title.into(),
                unit: unit.clone(),
                about,
                more: i >= shown.len(),
            })
        })
        .collect();
    t.rows = keys
        .iter()
        .map(|k| Row {
            scheme: k.case.scheme.clone(),
            condition: if several { k.shown.clone() } else { String::new() },
            cells: heads.iter().map(|head| cell(k, head)).collect(),
        })
        .collect();
}

/// A cell as the report takes it, its values times a factor.
fn shown(c: &Cell, factor: f64) -> model::Cell {
    let scaled = |i: Option<(f64, f64)>| i.map(|(l, h)| (l * factor, h * factor));
    let (ci95, pi95) = (scaled(c.summary.confidence()), scaled(c.summary.prediction()));
    let accept = c.published.as_ref().map(|p| accepted(p, &c.summary));
    model::Cell {
        published: c.published.as_ref().map(|p| p.text.clone()),
        measured: Some(c.summary.mean * factor),
        ci95,
        range: None,
        pi95,
        accept,
        seeds: u32::try_from(c.summary.n).unwrap_or(u32::MAX),
        values: c.values.iter().map(|v| v * factor).collect(),
        verdict: c.verdict,
        structural: c.structural,
        at_least: c.at_least > 0,
        note: c.note.clone(),
    }
}
