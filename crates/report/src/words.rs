//! A figure as text, for readers who cannot see it.

use crate::model::{Axis, Figure, Kind, Trace};
use indexmap::IndexMap;
use std::fmt::Write as _;

/// An axis with its unit.
pub(crate) fn axis(a: &Axis) -> String {
    if a.unit.is_empty() { a.title.clone() } else { format!("{} [{}]", a.title, a.unit) }
}

/// The figure in words: the extremes of each line, or what its rows say.
pub(crate) fn describe(f: &Figure) -> String {
    match f.kind {
        Kind::Heat => heat(f),
        Kind::Spans => spans(f),
        _ => lines(f),
    }
}

fn lines(f: &Figure) -> String {
    let mut text = format!("{}, {} over {}", f.title, axis(&f.y), axis(&f.x));
    for t in &f.traces {
        let finite = || t.y.iter().copied().filter(|v| v.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if low <= high {
            let _ = write!(text, "; {} from {} to {}", t.name, short(low), short(high));
        }
    }
    text
}

/// Three significant digits.
fn short(v: f64) -> String {
    let v: f64 = format!("{v:.2e}").parse().unwrap_or(v);
    v.to_string()
}

/// Of each group of a strip of heat: the number of rows, and the row with the largest mean.
fn heat(f: &Figure) -> String {
    let mean = |y: &[f64]| y.iter().sum::<f64>() / y.len().max(1) as f64;
    let mut text = f.title.clone();
    for group in f.traces.chunk_by(|a, b| a.group == b.group) {
        let most = group.iter().max_by(|a, b| mean(&a.y).total_cmp(&mean(&b.y)));
        if let Some(t) = most {
            let n = group.len();
            let _ = write!(text, "; {}: {n} rows, most {} with {:.1} %", t.group, t.name, mean(&t.y));
        }
    }
    text
}

/// Bars over time: how many rows, and of each line the time of its bars, in the unit of `x`.
fn spans(f: &Figure) -> String {
    let rows = rows(f);
    let mut text =
        format!("{}; {} rows, the first {}", f.title, rows.len(), rows.first().map_or("", |r| r.0));
    let bars = |t: &Trace| -> Vec<f64> {
        let all = t.x.windows(2).zip(&t.y).filter(|(_, y)| **y > 0.0);
        all.map(|(at, y)| (at[1] - at[0]) * y / 100.0).collect()
    };
    let mut sums: IndexMap<&str, (f64, usize)> = IndexMap::new();
    for t in &f.traces {
        // A bar that has words is told by them.
        match t.notes.first() {
            Some(note) if !bars(t).is_empty() => {
                let _ = write!(text, "; {}: {} {note}", t.group, t.name);
            }
            Some(_) => {}
            None => {
                let s = sums.entry(&t.name).or_default();
                *s = (s.0 + bars(t).iter().sum::<f64>(), s.1 + 1);
            }
        }
    }
    for (name, (sum, n)) in sums {
        let _ = write!(text, "; {name}: {sum:.4} {} in {n} of the rows", f.x.unit);
    }
    text
}

/// The rows of bars over time in their order, each with its lines.
pub(crate) fn rows(f: &Figure) -> IndexMap<&str, Vec<&Trace>> {
    let mut rows: IndexMap<&str, Vec<&Trace>> = IndexMap::new();
    f.traces.iter().for_each(|t| rows.entry(&t.group).or_default().push(t));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(kind: Kind, traces: Vec<Trace>) -> Figure {
        let x = Axis { title: "time".into(), unit: "ms".into(), log: false };
        Figure { title: "T".into(), x, kind, traces, ..Figure::default() }
    }

    fn line(name: &str, group: &str, x: &[f64], y: &[f64]) -> Trace {
        let (x, y) = (x.to_vec(), y.to_vec());
        Trace { name: name.into(), group: group.into(), x, y, ..Trace::default() }
    }

    /// H1 stood from 1 to 3 ms, three quarters of it for A; H2 from 4 to 8 ms for B.
    #[test]
    fn times_of_bars_are_sums() {
        let traces = vec![
            line("A", "H1", &[1.0, 3.0, 10.0], &[75.0, 0.0, 0.0]),
            line("B", "H1", &[1.0, 3.0, 10.0], &[25.0, 0.0, 0.0]),
            line("B", "H2", &[4.0, 8.0, 10.0], &[100.0, 0.0, 0.0]),
        ];
        assert_eq!(
            describe(&figure(Kind::Spans, traces)),
            "T; 2 rows, the first H1; A: 1.5000 ms in 1 of the rows; B: 4.5000 ms in 2 of the rows"
        );
    }

    #[test]
    fn groups_of_heat_have_their_hottest_row() {
        let traces = vec![
            line("S1>L1", "level 2 to 1", &[], &[0.0, 50.0, 50.0, 0.0]),
            line("H1", "hosts", &[], &[100.0, 0.0, 0.0, 20.0]),
            line("H2", "hosts", &[], &[0.0; 4]),
        ];
        assert_eq!(
            describe(&figure(Kind::Heat, traces)),
            "T; level 2 to 1: 1 rows, most S1>L1 with 25.0 %; hosts: 2 rows, most H1 with 30.0 %"
        );
    }
}
