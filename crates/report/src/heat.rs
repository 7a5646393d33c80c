//! A strip of heat without a browser: a row a line, in groups, shaded by value. `assets/chart.js` draws the same.

use crate::element::{one, rect, text};
use crate::model::Figure;
use std::fmt::Write as _;

/// Height of a group's heading, and the most and least of a row.
const HEAD: f64 = 18.0;
const ROW: (f64, f64) = (13.0, 3.0);
/// Height that the rows of a large strip have together.
const ALL: f64 = 420.0;
/// Least height of a row that has room for its name.
const NAMED: f64 = 11.0;

/// Height of a row.
fn row(f: &Figure) -> f64 {
    (ALL / f.traces.len().max(1) as f64).clamp(ROW.1, ROW.0).floor()
}

/// Does this line begin a group?
fn begins(f: &Figure, i: usize) -> bool {
    i == 0 || f.traces[i].group != f.traces[i - 1].group
}

/// Height of the rows and headings.
pub(crate) fn height(f: &Figure) -> f64 {
    let heads = (0..f.traces.len()).filter(|&i| begins(f, i)).count();
    row(f) * f.traces.len() as f64 + HEAD * heads as f64
}

/// The rows between two places of the horizontal axis, from `top` on. Class `q` is their colour.
pub(crate) fn rows(f: &Figure, (left, right): (f64, f64), top: f64, out: &mut String) {
    let (tall, mut y) = (row(f), top);
    for (i, t) in f.traces.iter().enumerate() {
        if begins(f, i) {
            let n = f.traces.iter().filter(|o| o.group == t.group).count();
            y += HEAD;
            let name = if t.group.is_empty() { "rows" } else { &t.group };
            *out += &(text("", (left, one(y - 5.0)), &format!("{name} ({n})")) + "\n");
        }
        *out += &(rect("w", (left, one(y)), (one(right - left), one(tall - 1.0))) + "\n");
        if tall >= NAMED {
            *out += &(text("e", (one(left - 7.0), one(y + tall - 3.0)), &t.name) + "\n");
        }
        let wide = (right - left) / t.y.len().max(1) as f64;
        let mut at = 0;
        for same in t.y.chunk_by(|a, b| a == b) {
            if let Some(v) = same.first().filter(|v| **v > 0.0) {
                let _ = writeln!(
                    out,
                    "<rect class=\"q\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill-opacity=\"{:.2}\"/>",
                    left + wide * at as f64,
                    wide * same.len() as f64,
                    tall - 1.0,
                    shade(*v)
                );
            }
            at += same.len();
        }
        y += tall;
    }
}

/// Opacity of a value from 0 to 100: the least that is not zero can be seen.
fn shade(v: f64) -> f64 {
    0.15 + 0.85 * (v / 100.0).clamp(0.0, 1.0)
}

/// The strip in words: of each group the number of lines, and the line with the largest mean.
pub(crate) fn words(f: &Figure) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Trace};

    #[test]
    fn rows_stand_in_groups_and_equal_parts_are_one() {
        let row = |name: &str, group: &str, y: &[f64]| Trace {
            name: name.into(),
            group: group.into(),
            y: y.to_vec(),
            ..Trace::default()
        };
        let traces = vec![
            row("S1>L1", "level 2 to 1", &[0.0, 50.0, 50.0, 0.0]),
            row("H1", "hosts", &[100.0, 0.0, 0.0, 20.0]),
            row("H2", "hosts", &[0.0; 4]),
        ];
        let f = Figure { title: "T".into(), kind: Kind::Heat, traces, ..Figure::default() };
        let (mut out, h) = (String::new(), height(&f));
        assert_eq!(h, 3.0 * 13.0 + 2.0 * 18.0);
        rows(&f, (100.0, 500.0), 10.0, &mut out);
        assert_eq!(out.matches("class=\"q\"").count(), 3, "{out}");
        assert!(out.contains("x=\"200.0\" y=\"28.0\" width=\"200.0\" height=\"12.0\" fill-opacity=\"0.57\""));
        assert!(out.contains(">hosts (2)<") && out.contains(">S1&gt;L1<"), "{out}");
        assert_eq!(
            words(&f),
            "T; level 2 to 1: 1 rows, most S1>L1 with 25.0 %; hosts: 2 rows, most H1 with 30.0 %"
        );
        // Of many rows none has room for a name.
        let many = Figure { traces: vec![row("H1", "hosts", &[1.0]); 128], ..f };
        out.clear();
        rows(&many, (100.0, 500.0), 10.0, &mut out);
        assert!(!out.contains(">H1<") && height(&many) == 128.0 * 3.0 + 18.0);
    }
}
