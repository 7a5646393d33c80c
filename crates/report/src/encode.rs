//! Figures as compact data: series reduced, quantised to 16 bits between their extremes, in base64.
//!
//! Before you change this: `assets/figures.js` decodes it, and the extremes of a series must come back exactly.

use crate::model::{Axis, Figure, Kind, Level, Trace, Window};
use crate::reduce::reduce;
use serde::Serialize;

/// Code of a gap; values take the codes below it.
const GAP: u16 = u16::MAX;
/// Most points of an edge of a band.
const EDGE: usize = 500;
/// Series up to this length are written as plain numbers.
const PLAIN: usize = 200;

#[derive(Serialize)]
pub(crate) struct FigureData<'a> {
    title: &'a str,
    x: &'a Axis,
    y: &'a Axis,
    kind: Kind,
    categories: &'a [String],
    windows: &'a [Window],
    levels: &'a [Level],
    traces: Vec<TraceData<'a>>,
}

#[derive(Serialize)]
struct TraceData<'a> {
    name: &'a str,
    slot: u8,
    dash: u8,
    line: Series,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Series>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Series>,
}

/// Horizontal and vertical values.
#[derive(Serialize)]
struct Series {
    x: Places,
    y: Values,
}

/// Horizontal values.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Places {
    /// `from + step * i`.
    Even(f64, f64),
    /// `from + step * i` for the indices, 32 bits each.
    At(f64, f64, String),
    /// The numbers as they are, without an encoding.
    Plain(Vec<f64>),
}

/// Vertical values.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Values {
    /// Least, greatest, codes of 16 bits between them.
    Coded(f64, f64, String),
    /// The numbers as they are, without an encoding; `None` is a gap.
    Plain(Vec<Option<f64>>),
}

/// Lengths of a figure's series, bands included.
pub(crate) fn lengths(figure: &Figure) -> impl Iterator<Item = usize> + '_ {
    let edges = |t: &Trace| t.band.as_ref().map_or(0, |b| 2 * b.low.len().min(EDGE));
    figure.traces.iter().flat_map(move |t| [t.y.len(), edges(t)])
}

/// A figure with at most `max` points per series; `style` gives a trace's colour slot and dash.
pub(crate) fn figure(f: &Figure, max: usize, style: impl Fn(&Trace) -> (u8, u8)) -> FigureData<'_> {
    let exact = f.y.log || f.kind != Kind::Lines;
    FigureData {
        title: &f.title,
        x: &f.x,
        y: &f.y,
        kind: f.kind,
        categories: &f.categories,
        windows: &f.windows,
        levels: &f.levels,
        traces: f
            .traces
            .iter()
            .map(|t| {
                let (slot, dash) = style(t);
                let encode = |y: &Vec<f64>| encode(&t.x, y, max, exact);
                TraceData {
                    name: &t.name,
                    slot,
                    dash,
                    line: encode(&t.y),
                    low: t.band.as_ref().map(|b| edge(&t.x, &b.low, f64::min, exact)),
                    high: t.band.as_ref().map(|b| edge(&t.x, &b.high, f64::max, exact)),
                }
            })
            .collect(),
    }
}

fn encode(x: &[f64], y: &[f64], max: usize, exact: bool) -> Series {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    let kept = reduce(y, max);
    let values: Vec<f64> = kept.iter().map(|&i| y[i]).collect();
    Series {
        x: places(x, &kept),
        y: if exact || values.len() <= PLAIN { plain(&values) } else { coded(&values) },
    }
}

/// An edge of a band: of every so many points in a row the outermost, at the first of them.
fn edge(x: &[f64], y: &[f64], outermost: fn(f64, f64) -> f64, exact: bool) -> Series {
    let n = x.len().min(y.len());
    let width = n.div_ceil(EDGE).max(1);
    let first: Vec<f64> = x[..n].chunks(width).filter_map(|c| c.first().copied()).collect();
    let value = |c: &[f64]| c.iter().copied().reduce(outermost).unwrap_or(f64::NAN);
    let values: Vec<f64> = y[..n].chunks(width).map(value).collect();
    encode(&first, &values, usize::MAX, exact)
}

fn places(x: &[f64], kept: &[usize]) -> Places {
    let n = x.len();
    let plain = || Places::Plain(kept.iter().map(|&i| round(x[i])).collect());
    let (Some(&first), Some(&last)) = (x.first(), x.last()) else { return plain() };
    if n < 3 || kept.len() <= 16 {
        return plain();
    }
    let step = (last - first) / (n - 1) as f64;
    let even =
        step > 0.0 && x.iter().enumerate().all(|(i, v)| (v - first - step * i as f64).abs() < 0.01 * step);
    if !even {
        return plain();
    }
    if kept.len() == n {
        return Places::Even(first, step);
    }
    let bytes: Vec<u8> =
        kept.iter().flat_map(|&i| u32::try_from(i).unwrap_or(u32::MAX).to_le_bytes()).collect();
    Places::At(first, step, base64(&bytes))
}

fn plain(values: &[f64]) -> Values {
    Values::Plain(values.iter().map(|v| v.is_finite().then(|| round(*v))).collect())
}

/// Six significant digits.
fn round(v: f64) -> f64 {
    format!("{v:.5e}").parse().unwrap_or(v)
}

fn coded(values: &[f64]) -> Values {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return plain(values);
    }
    let scale = if high > low { f64::from(GAP - 1) / (high - low) } else { 0.0 };
    let code = |v: f64| if v.is_finite() { ((v - low) * scale).round() as u16 } else { GAP };
    let bytes: Vec<u8> = values.iter().flat_map(|&v| code(v).to_le_bytes()).collect();
    Values::Coded(low, high, base64(&bytes))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_everywhere() {
        for (bytes, text) in [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes), text);
        }
    }

    #[test]
    fn extremes_are_exact_and_gaps_stay() {
        let mut y: Vec<f64> = (0..5000).map(|i| f64::from(i % 97) * 0.1).collect();
        y[100] = f64::NAN;
        y[2222] = 1234.5;
        let x: Vec<f64> = (0..5000).map(|i| 0.2 + f64::from(i) * 0.1).collect();
        let s = encode(&x, &y, 4000, false);
        let Values::Coded(low, high, text) = s.y else { panic!("coded") };
        assert_eq!((low, high), (0.0, 1234.5));
        assert!(text.len() <= 4000 * 2 * 4 / 3 + 4);
        assert!(matches!(s.x, Places::At(..)));
        assert!(matches!(encode(&x[..900], &y[..900], 4000, false).x, Places::Even(..)));
        let Values::Plain(v) = encode(&x[..150], &y[..150], 4000, false).y else { panic!("plain") };
        assert_eq!(v[100], None);
        assert!(matches!(encode(&x, &vec![f64::NAN; 5000], 4000, false).y, Values::Plain(_)));
    }

    #[test]
    fn a_band_keeps_its_outermost() {
        let n = 3001;
        let x: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.1).collect();
        let mut y = vec![5.0; x.len()];
        y[1234] = 99.0;
        y[3000] = -1.0;
        let high = edge(&x, &y, f64::max, false);
        let Values::Coded(low, top, text) = high.y else { panic!("coded") };
        assert_eq!((low, top), (5.0, 99.0));
        assert!(text.len() <= EDGE * 2 * 4 / 3 + 4 && matches!(high.x, Places::Even(..)));
        assert!(matches!(edge(&x, &y, f64::min, false).y, Values::Coded(-1.0, 5.0, _)));
        assert!(matches!(edge(&[], &[], f64::min, true).y, Values::Plain(v) if v.is_empty()));
    }

    #[test]
    fn a_figure_keeps_the_outermost_of_both_edges() {
        let x: Vec<f64> = (0..3001).map(f64::from).collect();
        let (mut low, mut high) = (vec![5.0; x.len()], vec![6.0; x.len()]);
        (low[1234], low[1235], high[1234], high[1235]) = (-1.0, 5.5, 99.0, 5.75);
        let band = Some(crate::model::Band { low, high });
        let trace = Trace { y: x.clone(), x, band, ..Trace::default() };
        let all = Figure { traces: vec![trace], ..Figure::default() };
        let data = figure(&all, 4000, |_| (3, 1));
        let t = &data.traces[0];
        assert_eq!((t.slot, t.dash), (3, 1));
        assert!(
            matches!(t.low, Some(Series { y: Values::Coded(-1.0, 5.0, _), .. })),
            "the least value stays"
        );
        assert!(
            matches!(t.high, Some(Series { y: Values::Coded(6.0, 99.0, _), .. })),
            "the greatest value stays"
        );
    }

    #[test]
    fn uneven_times_stay_as_they_are() {
        let x = [0.0, 1.0, 5.0, 6.5];
        let Places::Plain(p) = encode(&x, &x, 4000, false).x else { panic!("plain") };
        assert_eq!(p, x);
    }
}
