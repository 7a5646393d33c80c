//! The table of ports of an experiment of one's own: where PAUSE stopped whom, and where frames waited or were dropped.

use super::facts::{self, by_pause};
use super::scene::{CaseRuns, cell};
use crate::model::{Cell, Table};
use cnsim_measure::PortFacts;
use cnsim_measure::stats::Summary;
use cnsim_problem::joined;
use cnsim_scenario::tables;
use std::collections::BTreeMap;

/// Most ports of a table beside the named ones: those that were in XOFF longest, then those with the longest queues.
const MOST: usize = 10;
/// Fewest seeds with an interval of the mean; with fewer, the least and the greatest value are given.
const SEEDS: usize = 5;

/// The value of a port over its seeds.
fn summed(values: Vec<f64>, most: f64) -> Option<Cell> {
    let s = Summary::of(&values)?.within((0.0, most));
    let whole = cell(&s);
    if values.len() >= SEEDS {
        return Some(whole);
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    Some(Cell {
        range: (values.len() > 1).then_some((least, greatest)),
        ci95: None,
        pi95: None,
        values,
        ..whole
    })
}

/// Ports that the scenario names, in its order.
fn named<'a>(cases: &[&CaseRuns<'a>]) -> Vec<&'a str> {
    let first = cases.first().and_then(|c| c.runs.first());
    first
        .and_then(|r| r.config.value(tables::record::PORTS)?.as_array())
        .into_iter()
        .flatten()
        .filter_map(|p| p.as_str())
        .collect()
}

/// A column: its name, title, unit and meaning, and the value of a port.
type Fact = (&'static str, &'static str, &'static str, &'static str, fn(&PortFacts) -> Option<f64>);

/// The value of a fact in a run. A port without facts was never in XOFF, sent none and discarded nothing; of a host nothing is
/// known but how long it was paused, and of one with several NICs what these sent and received.
fn value(port: &str, facts: Option<&PortFacts>, fact: &Fact) -> Option<f64> {
    match facts {
        Some(_)
            if !port.contains('>') && !["paused", "lost", "received", "sent_frames"].contains(&fact.0) =>
        {
            None
        }
        Some(facts) => fact.4(facts),
        None if fact.0 == "paused" || (port.contains('>') && ["xoffs", "dropped"].contains(&fact.0)) => {
            Some(0.0)
        }
        None => None,
    }
}

const FACTS: [Fact; 9] = [
    ("paused", "Paused", "%", "share of the run in XOFF: the port may not send", |p| Some(p.paused)),
    ("xoffs", "XOFF sent", "", "XOFF messages that the port sent to its peer", |p| Some(p.xoffs as f64)),
    ("queue_max", "Largest queue", "KB", "largest queue, however short it lasted", |p| Some(p.queue_max)),
    ("mean_queue", "Mean queue", "KB", "mean queue, if it is recorded", |p| p.mean_queue),
    ("throughput", "Throughput", "Gb/s", "data rate sent", |p| Some(p.throughput)),
    (
        "received",
        "Received",
        "Gb/s",
        "data rate received, of a host with several NICs and of each of them (#1, #2)",
        |p| p.received,
    ),
    ("sent_frames", "Sent", "frames", "data frames sent, of the same", |p| p.sent_frames.map(|n| n as f64)),
    ("dropped", "Dropped", "frames", "data frames discarded", |p| Some(p.dropped)),
    ("lost", "Lost", "frames", "data frames that its link lost", |p| Some(p.lost as f64)),
];

/// A table for each PAUSE mode, a row for each port and scheme; none if only the hot port is known.
pub fn ports(cases: &[CaseRuns<'_>]) -> Vec<Table> {
    by_pause(cases, table)
}

/// Ports by how long they were in XOFF, mean over the seeds, then by their queues, in the worst case; those that are `asked` for first.
fn ranked<'a>(mine: &[&CaseRuns<'a>], asked: &[&str]) -> Vec<&'a str> {
    let mut weight: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for c in mine {
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (name, facts) in c.runs.iter().flat_map(|r| &r.ports) {
            let sum = sums.entry(name).or_default();
            *sum = (sum.0 + facts.paused, sum.1.max(facts.queue_max));
        }
        for (name, (paused, queue)) in sums {
            let w = weight.entry(name).or_default();
            *w = (w.0.max(paused / c.runs.len() as f64), w.1.max(queue));
        }
    }
    let mut names: Vec<(&str, (f64, f64))> = weight.into_iter().collect();
    names.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(b.1.1.total_cmp(&a.1.1)).then(a.0.cmp(b.0)));
    names.sort_by_key(|n| place(asked, n.0).unwrap_or(usize::MAX));
    names.into_iter().map(|n| n.0).collect()
}

fn place(asked: &[&str], name: &str) -> Option<usize> {
    asked.iter().position(|p| p.eq_ignore_ascii_case(name))
}

fn table(pause: &str, mine: &[&CaseRuns<'_>]) -> Option<Table> {
    let asked = named(mine);
    let names = ranked(mine, &asked);
    if names.len() < 2 {
        return None;
    }
    let shown = names.len().min(names.iter().filter(|n| place(&asked, n).is_some()).count() + MOST);
    let few = mine.iter().any(|c| (2..SEEDS).contains(&c.runs.len()));
    let cells = |name: &str, c: &CaseRuns<'_>| {
        let cell = |f: &Fact| {
            let values = c.runs.iter().filter_map(|r| value(name, r.ports.get(name), f)).collect();
            summed(values, if f.2 == "%" { 100.0 } else { f64::INFINITY })
        };
        Some(FACTS.iter().map(cell).collect())
    };
    let t = Table {
        id: format!("ports, PAUSE {pause}"),
        condition: "Ports".into(),
        pause: pause.into(),
        caption: caption(!asked.is_empty(), few, names.len() - shown),
        columns: FACTS.iter().map(|f| facts::column([f.0, f.1, f.2, f.3], false)).collect(),
        ..Table::default()
    };
    // Other ports than these may have sent XOFF or dropped frames: zeros of these are not shown, nor is a table of zeros.
    facts::table(t, "port", (mine, &names[..shown]), &cells, |c| c.measured != Some(0.0))
}

/// What the table's order is, what its numbers are with `few` seeds, and how many ports are `left` out.
fn caption(asked: bool, few: bool, left: usize) -> String {
    let first = if asked { "the named ones, then " } else { "" };
    let order =
        format!("In order: {first}those longest in XOFF in any row, then those with the longest queue.");
    let interval = format!(
        "With fewer than {SEEDS} seeds there is no interval: the mean, then the least and the greatest value."
    );
    let rest = match left {
        0 => String::new(),
        1 => "1 further port is in results.json.".into(),
        n => format!("{n} further ports are in results.json."),
    };
    joined([order, if few { interval } else { String::new() }, rest], " ")
}
