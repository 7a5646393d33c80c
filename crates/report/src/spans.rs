//! Bars over time without a browser: a row a group, a colour a line. `assets/chart.js` draws the same.

use crate::element::{one, rect, text};
use crate::model::{Figure, Trace};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Height of a row.
const ROW: f64 = 17.0;
/// Least width of a bar: none is too short to be seen.
const THIN: f64 = 0.7;

/// The rows in their order, each with its lines.
pub(crate) fn rows(f: &Figure) -> IndexMap<&str, Vec<&Trace>> {
    let mut rows: IndexMap<&str, Vec<&Trace>> = IndexMap::new();
    f.traces.iter().for_each(|t| rows.entry(&t.group).or_default().push(t));
    rows
}

/// The bars of a line: from, to, height in %.
fn bars(t: &Trace) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    t.x.windows(2).zip(&t.y).map(|(at, y)| (at[0], at[1], *y)).filter(|b| b.2 > 0.0)
}

/// Height of all rows.
pub(crate) fn height(f: &Figure) -> f64 {
    ROW * rows(f).len() as f64
}

/// The rows from `top` on, between two places; `x` places a time, `slot` gives a line's colour.
pub(crate) fn draw(
    f: &Figure,
    (left, right): (f64, f64),
    top: f64,
    (x, slot): (&dyn Fn(f64) -> f64, &dyn Fn(&Trace) -> u8),
    out: &mut String,
) {
    for (n, (name, traces)) in rows(f).into_iter().enumerate() {
        let y = top + ROW * n as f64;
        *out += &rect("w", (left, one(y)), (one(right - left), one(ROW - 2.0)));
        *out += &(text("e", (one(left - 7.0), one(y + ROW - 5.0)), name) + "\n");
        // Height of the bars that stand at each time already, %.
        let mut below: BTreeMap<u64, f64> = BTreeMap::new();
        for t in traces {
            let _ = write!(out, "<g class=\"s{}\">", slot(t));
            for (from, to, percent) in bars(t) {
                let stands = below.entry(from.to_bits()).or_default();
                let foot = *stands;
                *stands += percent;
                let tall = (ROW - 2.0) / 100.0;
                let at = (one(x(from)), one(y + (100.0 - foot - percent) * tall));
                *out += &rect("r", at, (one((x(to) - x(from)).max(THIN)), one(percent * tall)));
            }
            out.push_str("</g>\n");
        }
    }
}

/// The figure in words: how many rows, and of each line the time of its bars, in the unit of `x`.
pub(crate) fn words(f: &Figure) -> String {
    let rows = rows(f);
    let mut text =
        format!("{}; {} rows, the first {}", f.title, rows.len(), rows.first().map_or("", |r| r.0));
    let mut sums: IndexMap<&str, (f64, usize)> = IndexMap::new();
    for t in &f.traces {
        // A bar that has words is told by them.
        if let (Some(note), Some(_)) = (t.notes.first(), bars(t).next()) {
            let _ = write!(text, "; {}: {} {note}", t.group, t.name);
        }
        if !t.notes.is_empty() {
            continue;
        }
        let sum: f64 = bars(t).map(|b| (b.1 - b.0) * b.2 / 100.0).sum();
        let s = sums.entry(&t.name).or_default();
        *s = (s.0 + sum, s.1 + 1);
    }
    for (name, (sum, n)) in sums {
        let _ = write!(text, "; {name}: {sum:.4} {} in {n} of the rows", f.x.unit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Axis, Kind};

    /// H1 stood from 1 to 3 ms, three quarters of it for A; H2 from 4 to 8 ms for B.
    fn figure() -> Figure {
        let line = |name: &str, group: &str, x: &[f64], y: &[f64]| Trace {
            name: name.into(),
            group: group.into(),
            x: x.to_vec(),
            y: y.to_vec(),
            ..Trace::default()
        };
        Figure {
            title: "T".into(),
            x: Axis { title: "time".into(), unit: "ms".into(), log: false },
            kind: Kind::Spans,
            traces: vec![
                line("A", "H1", &[1.0, 3.0, 10.0], &[75.0, 0.0, 0.0]),
                line("B", "H1", &[1.0, 3.0, 10.0], &[25.0, 0.0, 0.0]),
                line("B", "H2", &[4.0, 8.0, 10.0], &[100.0, 0.0, 0.0]),
            ],
            ..Figure::default()
        }
    }

    #[test]
    fn bars_of_one_time_stand_upon_each_other() {
        let f = figure();
        let mut out = String::new();
        let slot = |t: &Trace| if t.name == "A" { 8 } else { 12 };
        draw(&f, (100.0, 200.0), 10.0, (&|v| 100.0 + 10.0 * v, &slot), &mut out);
        let rect = |class: &str, y: f64, x: f64, w: f64, h: f64| {
            format!(
                "<g class=\"{class}\"><rect class=\"r\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/></g>"
            )
        };
        assert!(out.contains(&rect("s8", 13.75, 110.0, 20.0, 11.25)), "{out}");
        assert!(out.contains(&rect("s12", 10.0, 110.0, 20.0, 3.75)), "{out}");
        assert!(out.contains(&rect("s12", 27.0, 140.0, 40.0, 15.0)), "{out}");
        assert_eq!((out.matches("class=\"r\"").count(), height(&f)), (3, 34.0));
        assert!(out.contains(">H1<") && out.contains(">H2<"));
        assert_eq!(
            words(&f),
            "T; 2 rows, the first H1; A: 1.5000 ms in 1 of the rows; B: 4.5000 ms in 2 of the rows"
        );
    }
}
