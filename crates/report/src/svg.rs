//! Figures as SVG without a browser: for documents and the gallery, in light and dark.
//!
//! Every number is rounded here, so the text is the same on every machine. The report itself draws with
//! `assets/chart.js`, which can zoom.

use crate::colour::Colours;
use crate::element::{one, rect, text};
use crate::html::{esc, mark};
use crate::model::{Axis, Figure, Kind, Page, Trace};
use crate::number::log10;
use crate::reduce::reduce;
use crate::{heat, spans};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Width of the drawing, and its margins: left, right, above, below a panel.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const ABOVE: f64 = 34.0;
const BELOW: f64 = 22.0;
/// Height of a panel, of the line of names and of the foot.
const PANEL: f64 = 170.0;
const LEGEND: f64 = 22.0;
const FOOT: f64 = 22.0;
/// Most points of a line.
const POINTS: usize = 700;
/// Rough width of a character of 12 px.
const LETTER: f64 = 6.6;

/// Colours of the slots in light and in dark, as in `assets/base.css`.
const LIGHT: [&str; 16] = [
    "#5f6770", "#0072b2", "#c85200", "#008a63", "#a87000", "#1f8fc6", "#7d4b23", "#7d7200", "#25085a",
    "#5b1a9e", "#9b1fb0", "#c2188b", "#e0457b", "#8a4a7a", "#7d4a86", "#a86cc0",
];
const DARK: [&str; 16] = [
    "#b4bcc4", "#4a9fe0", "#f0763a", "#1fc296", "#f0ae28", "#8fd0f7", "#c99a6c", "#d8cc3c", "#e9d3ff",
    "#cfa0ff", "#d873ec", "#ff62c0", "#ff7fa4", "#d8a0c8", "#b39ac9", "#a77cf0",
];

/// The colours of the page, as rules: `assets/base.css` declares them.
pub(crate) fn variables(dark: bool) -> &'static str {
    let of = if dark { ":root[data-theme=\"dark\"] {" } else { ":root {" };
    let rest = include_str!("../assets/base.css").split_once(of).map_or("", |s| s.1);
    rest.split_once('}').map_or("", |s| s.0)
}

/// Draws figures as panels below one another, under one heading; all must have the same horizontal axis.
///
/// The text is one SVG document with a title and a description, in the reader's light or dark colours. `schemes` are the slots of
/// names that are schemes: [`crate::model::Report::colours`].
pub fn svg(title: &str, panels: &[Figure], schemes: &BTreeMap<String, u8>) -> String {
    let page = Page { figures: panels.to_vec(), ..Page::default() };
    let colours = Colours::of(&page, schemes);
    let names = names(panels);
    let looks: Vec<(&str, (u8, u8))> = names.iter().map(|t| (t.name.as_str(), colours.trace(t))).collect();
    let rows = legend_rows(&looks);
    let top = 30.0 + LEGEND * rows.len() as f64;
    let height = top + panels.iter().map(|f| ABOVE + tall(f) + BELOW).sum::<f64>() + FOOT;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" role=\"img\"><title>{}</title><style>{}</style>\n\
         <rect class=\"bg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\"/><text class=\"h\" x=\"16\" y=\"22\">{}</text>\n",
        esc(title),
        style(&looks, panels.iter().any(|f| f.kind == Kind::Heat)),
        esc(title)
    );
    if looks.len() > 1 {
        legend(&rows, &mut out);
    }
    let mut y = top;
    for f in panels {
        panel(f, y + ABOVE, &|t| colours.trace(t), &mut out);
        y += ABOVE + tall(f) + BELOW;
    }
    if let Some(f) = panels.last() {
        let at = (format!("{:.0}", (LEFT + WIDTH - RIGHT) / 2.0), format!("{:.0}", height - 10.0));
        out += &(text("m", at, &words(&f.x)) + "\n");
    }
    out + "</svg>\n"
}

/// Height of a panel's inside.
fn tall(f: &Figure) -> f64 {
    match f.kind {
        Kind::Heat => heat::height(f),
        Kind::Spans => spans::height(f),
        _ => PANEL,
    }
}

/// All lines' names, each once; rows of heat have theirs beside them.
fn names(panels: &[Figure]) -> Vec<&Trace> {
    let mut all: Vec<&Trace> = Vec::new();
    for t in panels.iter().filter(|f| f.kind != Kind::Heat).flat_map(|f| &f.traces) {
        if all.iter().all(|a| a.name != t.name) {
            all.push(t);
        }
    }
    all
}

/// Names in rows that fit, each with its place.
fn legend_rows<'a>(looks: &[(&'a str, (u8, u8))]) -> Vec<Vec<(&'a str, (u8, u8), f64)>> {
    if looks.len() < 2 {
        return Vec::new();
    }
    let mut rows = vec![Vec::new()];
    let mut x = LEFT;
    for &(name, look) in looks {
        let wide = 46.0 + LETTER * name.chars().count() as f64;
        if x + wide > WIDTH - RIGHT && x > LEFT {
            rows.push(Vec::new());
            x = LEFT;
        }
        if let Some(row) = rows.last_mut() {
            row.push((name, look, x));
        }
        x += wide;
    }
    rows
}

fn legend(rows: &[Vec<(&str, (u8, u8), f64)>], out: &mut String) {
    for (r, row) in rows.iter().enumerate() {
        let y = 44.0 + LEGEND * r as f64;
        for (name, (slot, dash), x) in row {
            let _ = writeln!(
                out,
                "<g class=\"s{slot}\"><path class=\"l d{dash}\" d=\"M{x:.0} {y:.0}h24\"/><path class=\"k\" d=\"{}\" transform=\"translate({:.0} {y:.0})\"/></g><text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
                mark(*slot),
                x + 12.0,
                x + 30.0,
                y + 4.0,
                esc(name)
            );
        }
    }
}

/// Style rules of the elements in use.
fn style(looks: &[(&str, (u8, u8))], heat: bool) -> String {
    let mut slots: Vec<u8> = looks.iter().map(|l| l.1.0 % 16).collect();
    slots.sort_unstable();
    slots.dedup();
    let rules = |of: &[&str; 16]| -> String {
        slots.iter().map(|s| format!(".s{s}{{color:{}}}", of[usize::from(*s)])).collect()
    };
    let q = |of: &[&str; 16]| if heat { format!(".q{{fill:{}}}", of[2]) } else { String::new() };
    format!(
        ".bg{{fill:#fff}}text{{font:12px -apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#2b3036}}.h{{font-weight:600;font-size:14px}}.p{{font-weight:600}}\
         .e{{text-anchor:end}}.m{{text-anchor:middle}}.g{{stroke:#e3e6e8;fill:none}}.b{{stroke:#9aa1a8;fill:none}}.w{{fill:#56626e;opacity:.1}}\
         .v{{stroke:#59626c;stroke-dasharray:5 4;fill:none}}.t{{paint-order:stroke;stroke:#fff;stroke-width:4px}}\
         .l{{fill:none;stroke:currentColor;stroke-width:1.7;stroke-linejoin:round}}.a{{fill:currentColor;opacity:.16}}.k,.r{{fill:currentColor}}.x{{stroke:#2b3036;fill:none}}\
         .d1{{stroke-dasharray:7 4}}.d2{{stroke-dasharray:2 3}}.d3{{stroke-dasharray:9 3 2 3}}{}\
         @media(prefers-color-scheme:dark){{.bg{{fill:#14171a}}text{{fill:#d5dade}}.g{{stroke:#2b3137}}.b{{stroke:#59626c}}.w{{fill:#a3adb6}}.v{{stroke:#a3adb6}}.t{{stroke:#14171a}}.x{{stroke:#d5dade}}{}}}",
        rules(&LIGHT) + &q(&LIGHT),
        rules(&DARK) + &q(&DARK)
    )
}

fn words(a: &Axis) -> String {
    if a.unit.is_empty() { a.title.clone() } else { format!("{} [{}]", a.title, a.unit) }
}

/// From data to pixels.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    fn at(&self, v: f64) -> f64 {
        let f = |v: f64| if self.log { log10(v.max(f64::MIN_POSITIVE)) } else { v };
        let span = f(self.high) - f(self.low);
        let share = if span > 0.0 { (f(v) - f(self.low)) / span } else { 0.5 };
        self.from + (self.to - self.from) * share.clamp(-0.02, 1.02)
    }

    /// Round numbers for the axis, about `most` in number.
    fn ticks(&self, most: f64) -> Vec<f64> {
        if self.log {
            let (from, to) = (log10(self.low).floor() as i32, log10(self.high).ceil() as i32);
            let steps: &[f64] = if to - from > 3 { &[1.0] } else { &[1.0, 3.0] };
            let all = (from..=to).flat_map(|e| steps.iter().map(move |s| s * power(e)));
            return all.filter(|v| *v >= 0.999 * self.low && *v <= 1.001 * self.high).collect();
        }
        let raw = (self.high - self.low) / most;
        let unit = (-12..30).map(power).take_while(|u| *u <= raw).last().unwrap_or(raw);
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * unit).into_iter().find(|s| *s >= 0.999 * raw);
        let step = step.unwrap_or(raw);
        let first = (self.low / step - 1e-9).ceil();
        let all = (0..40).map(|i| (first + f64::from(i)) * step);
        all.take_while(|v| *v <= self.high + 1e-9 * step).collect()
    }
}

/// A power of ten, to the last bit.
fn power(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// A number of an axis.
fn label(v: f64) -> String {
    let rounded: f64 = format!("{v:.3e}").parse().unwrap_or(v);
    rounded.to_string().replace('-', "\u{2212}")
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |e: Option<(f64, f64)>, v| {
        Some(e.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    })
}

fn scales(f: &Figure, top: f64) -> (Scale, Scale) {
    let all = || f.traces.iter();
    let mut x = extent(all().flat_map(|t| t.x.iter().copied())).unwrap_or((0.0, 1.0));
    if !f.categories.is_empty() {
        x = (-0.5, f.categories.len() as f64 - 0.5);
    } else if matches!(f.kind, Kind::Heat | Kind::Spans)
        || f.kind == Kind::Lines && x.0 > 0.0 && x.0 < 0.02 * x.1 && !f.x.log
    {
        x.0 = 0.0;
    }
    let bands = || all().filter_map(|t| t.band.as_ref()).flat_map(|b| b.low.iter().chain(&b.high).copied());
    let values =
        all().flat_map(|t| t.y.iter().copied()).chain(bands()).chain(f.levels.iter().map(|l| l.value));
    let shown: Vec<f64> = values.filter(|v| !f.y.log || *v > 0.0).collect();
    let mut y = extent(shown.into_iter()).unwrap_or((0.0, 1.0));
    if f.y.log {
        y = (y.0 / 1.2, y.1 * 1.3);
    } else {
        y = (y.0.min(0.0), y.1.max(0.0));
        let span = if y.1 > y.0 { y.1 - y.0 } else { 1.0 };
        y = (if y.0 < 0.0 { y.0 - 0.05 * span } else { 0.0 }, y.1 + 0.05 * span);
    }
    (
        Scale { low: x.0, high: x.1, from: LEFT, to: WIDTH - RIGHT, log: f.x.log },
        Scale { low: y.0, high: y.1, from: top + PANEL, to: top, log: f.y.log },
    )
}

fn panel(f: &Figure, top: f64, look: &dyn Fn(&Trace) -> (u8, u8), out: &mut String) {
    let (x, y) = scales(f, top);
    let right = WIDTH - RIGHT;
    for w in &f.windows {
        let (a, b) = (x.at(w.from), x.at(w.to));
        *out += &rect("w", (one(a), top), (one((b - a).max(0.0)), PANEL));
        *out += &(text("", (one(a + 4.0), one(top + 14.0)), &w.label) + "\n");
    }
    let title = if f.title.is_empty() { words(&f.y) } else { format!("{}: {}", f.title, words(&f.y)) };
    *out += &(text("p", (LEFT, one(top - 10.0)), &title) + "\n");
    match f.kind {
        Kind::Heat => heat::rows(f, (LEFT, right), top, out),
        Kind::Spans => spans::draw(f, (LEFT, right), top, (&|v| x.at(v), &|t| look(t).0), out),
        _ => {
            for v in y.ticks(4.0) {
                let at = y.at(v);
                let _ = write!(out, "<path class=\"g\" d=\"M{LEFT} {at:.1}H{right}\"/>");
                *out += &(text("e", (one(LEFT - 7.0), one(at + 4.0)), &label(v)) + "\n");
            }
        }
    }
    let bottom = top + tall(f);
    let _ = writeln!(out, "<path class=\"b\" d=\"M{LEFT} {bottom:.1}H{right}\"/>");
    let ticks = if f.categories.is_empty() { x.ticks(9.0) } else { Vec::new() };
    let ticks = ticks.into_iter().map(|v| (v, label(v)));
    let places = f.categories.iter().enumerate().map(|(i, c)| (i as f64, c.clone()));
    for (v, words) in ticks.chain(places) {
        *out += &(text("m", (one(x.at(v)), one(bottom + 17.0)), &words) + "\n");
    }
    if !matches!(f.kind, Kind::Heat | Kind::Spans) {
        lines(f, look, (&x, &y), out);
    }
    for l in &f.levels {
        let at = y.at(l.value);
        let above = if at - top < 18.0 { at + 14.0 } else { at - 5.0 };
        let _ = write!(out, "<path class=\"v\" d=\"M{LEFT} {at:.1}H{right}\"/>");
        *out += &(text("e t", (one(right - 4.0), one(above)), &l.label) + "\n");
    }
}

/// Lines or bars; marks stand after all lines, so that each line shows where another covers it.
fn lines(f: &Figure, look: &dyn Fn(&Trace) -> (u8, u8), (x, y): (&Scale, &Scale), out: &mut String) {
    let mut marks = String::new();
    for (i, t) in f.traces.iter().enumerate() {
        let (slot, dash) = look(t);
        let nth = (i, f.traces.len());
        let _ = write!(out, "<g class=\"s{slot}\">");
        if f.kind == Kind::Bars {
            bars(t, nth, x, y, out);
        } else {
            line(t, dash, x, y, out);
            let _ = write!(marks, "<g class=\"s{slot}\">{}</g>", dots(t, slot, f.kind, nth, x, y));
        }
        out.push_str("</g>\n");
    }
    out.push_str(&marks);
}

/// Points as the path of a line, with gaps where values are missing.
fn path(points: impl Iterator<Item = (f64, f64)>, x: &Scale, y: &Scale) -> String {
    let (mut d, mut pen) = (String::new(), false);
    for (px, py) in points {
        if !py.is_finite() || (y.log && py <= 0.0) {
            pen = false;
            continue;
        }
        let _ = write!(d, "{}{:.1} {:.1}", if pen { 'L' } else { 'M' }, x.at(px), y.at(py));
        pen = true;
    }
    d
}

fn line(t: &Trace, dash: u8, x: &Scale, y: &Scale, out: &mut String) {
    if let Some(b) = &t.band {
        let n = t.x.len().min(b.low.len()).min(b.high.len());
        let kept = reduce(&b.high[..n], POINTS / 2);
        let there = kept.iter().map(|&i| (t.x[i], b.high[i]));
        let back = kept.iter().rev().map(|&i| (t.x[i], b.low[i]));
        let d = path(there.chain(back), x, y);
        let _ = write!(out, "<path class=\"a\" d=\"{d}z\"/>");
    }
    let kept = reduce(&t.y, POINTS);
    let d = path(kept.iter().filter_map(|&i| Some((*t.x.get(i)?, t.y[i]))), x, y);
    let _ = write!(out, "<path class=\"l d{dash}\" d=\"{d}\"/>");
}

/// Marks at each point, or of several lines a few on each, at places of its own.
fn dots(t: &Trace, slot: u8, kind: Kind, (nth, of): (usize, usize), x: &Scale, y: &Scale) -> String {
    let n = t.x.len().min(t.y.len());
    let (start, every) = match kind {
        Kind::Points => (0, 1),
        _ if of < 2 => return String::new(),
        _ => ((n / 5).max(1) * (2 * nth + 1) / (2 * of), (n / 5).max(1)),
    };
    let mut out = String::new();
    for i in (start..n).step_by(every).filter(|&i| t.y[i].is_finite() && (!y.log || t.y[i] > 0.0)) {
        let (d, x, y) = (mark(slot), x.at(t.x[i]), y.at(t.y[i]));
        let _ = write!(out, "<path class=\"k\" d=\"{d}\" transform=\"translate({x:.1} {y:.1})\"/>");
    }
    out
}

fn bars(t: &Trace, (nth, of): (usize, usize), x: &Scale, y: &Scale, out: &mut String) {
    let wide = (x.at(1.0) - x.at(0.0)).abs() * 0.72;
    let each = wide / of.max(1) as f64;
    let zero = y.at(if y.log { y.low } else { 0.0 });
    for (i, (px, py)) in t.x.iter().zip(&t.y).enumerate().filter(|(_, p)| p.1.is_finite()) {
        let left = x.at(*px) - wide / 2.0 + each * nth as f64;
        let at = y.at(*py);
        let size = (one((each - 2.0).max(1.0)), one((zero - at).abs().max(0.5)));
        *out += &rect("r", (one(left), one(at.min(zero))), size);
        let ends = t.band.as_ref().and_then(|b| Some((*b.low.get(i)?, *b.high.get(i)?)));
        if let Some((low, high)) = ends.filter(|(l, h)| h > l) {
            let at = left + each / 2.0 - 1.0;
            let _ = write!(out, "<path class=\"x\" d=\"M{at:.1} {:.1}V{:.1}\"/>", y.at(low), y.at(high));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Band, Level, Window};

    fn figure(kind: Kind, log: bool) -> Figure {
        let trace = |name: &str, k: f64| Trace {
            name: name.into(),
            x: (0..50).map(f64::from).collect(),
            y: (0..50).map(|i| f64::from(i) * k).collect(),
            band: Some(Band { low: vec![0.0; 50], high: vec![60.0 * k; 50] }),
            ..Trace::default()
        };
        Figure {
            title: "Queue <hot>".into(),
            x: Axis { title: "time".into(), unit: "ms".into(), log: false },
            y: Axis { title: "queue".into(), unit: "KB".into(), log },
            kind,
            traces: vec![trace("none", 1.0), trace("ecm", 2.5)],
            windows: vec![Window { from: 5.0, to: 20.0, label: "incast".into() }],
            levels: vec![Level { value: 26.0, label: "set point 26 KB".into() }],
            ..Figure::default()
        }
    }

    #[test]
    fn every_kind_is_drawn_with_finite_numbers() {
        for (kind, log, part) in [
            (Kind::Lines, false, "class=\"l"),
            (Kind::Points, true, "class=\"k\""),
            (Kind::Bars, false, "class=\"r\""),
        ] {
            let text = svg("A & B", &[figure(kind, log), figure(kind, log)], &BTreeMap::new());
            assert!(text.contains(part) && text.contains("A &amp; B") && text.contains("Queue &lt;hot&gt;"));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            assert!(text.contains("prefers-color-scheme:dark") && text.contains("set point 26 KB"));
            assert_eq!(text.matches("incast").count(), 2);
        }
    }

    #[test]
    fn round_ticks() {
        let axis = |low, high, log| Scale { low, high, from: 0.0, to: 100.0, log };
        assert_eq!(axis(0.0, 10.0, false).ticks(4.0), [0.0, 2.5, 5.0, 7.5, 10.0]);
        assert_eq!(axis(0.0, 300.0, false).ticks(3.0), [0.0, 100.0, 200.0, 300.0]);
        assert_eq!(axis(1.0, 1e5, true).ticks(4.0).len(), 6);
        assert_eq!(label(0.1 + 0.2), "0.3");
    }

    #[test]
    fn nothing_to_draw_is_no_panic() {
        assert!(svg("empty", &[], &BTreeMap::new()).contains("</svg>"));
        assert!(svg("no lines", &[Figure::default()], &BTreeMap::new()).contains("</svg>"));
    }
}
