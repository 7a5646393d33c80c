//! Figures as compact data: series reduced, quantised to 16 bits between their extremes, as rows of whole numbers.
//!
//! Before you change this: `assets/chart.js` decodes it, and the extremes of a series must come back exactly.

use crate::model::{Axis, Figure, Kind, Level, Trace, Window};
use crate::reduce::reduce;
use cnsim_measure::map::coded as row;
use serde::Serialize;

/// Code of a gap; values take the codes below it.
const GAP: u64 = u16::MAX as u64;
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
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    slot: u8,
    dash: u8,
    line: Series,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Series>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Series>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'a str>,
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
    /// `from + step * i` for a row of indices.
    At(f64, f64, String),
    /// The numbers as they are, without an encoding.
    Plain(Vec<f64>),
}

/// Vertical values.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Values {
    /// Least, greatest, number of values, and a row of codes of 16 bits between least and greatest.
    Coded(f64, f64, usize, String),
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
                let encode = |y: &Vec<f64>| match f.kind {
                    // Short bars late in a run need all digits of their ends, and none is left out.
                    Kind::Spans => Series { x: Places::Plain(t.x.clone()), y: plain(y) },
                    _ => encode(&t.x, y, max, exact),
                };
                TraceData {
                    name: &t.name,
                    group: &t.group,
                    slot,
                    dash,
                    line: encode(&t.y),
                    low: t.band.as_ref().map(|b| edge(&t.x, &b.low, f64::min, exact)),
                    high: t.band.as_ref().map(|b| edge(&t.x, &b.high, f64::max, exact)),
                    notes: reduce(&t.y, max)
                        .into_iter()
                        .filter_map(|i| Some(t.notes.get(i)?.as_str()))
                        .collect(),
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

/// An edge of a band: the outermost point of each group of neighbours, placed at the group's first point.
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
    Places::At(first, step, row(&kept.iter().map(|&i| i as u64).collect::<Vec<_>>()))
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
    let scale = if high > low { (GAP - 1) as f64 / (high - low) } else { 0.0 };
    let code = |v: &f64| if v.is_finite() { ((v - low) * scale).round() as u64 } else { GAP };
    let codes: Vec<u64> = values.iter().map(code).collect();
    Values::Coded(low, high, codes.len(), row(&codes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_measure::map::decoded;

    #[test]
    fn extremes_are_exact_and_gaps_stay() {
        let mut y: Vec<f64> = (0..5000).map(|i| f64::from(i % 97) * 0.1).collect();
        y[100] = f64::NAN;
        y[2222] = 1234.5;
        let x: Vec<f64> = (0..5000).map(|i| 0.2 + f64::from(i) * 0.1).collect();
        let s = encode(&x, &y, 4000, false);
        let Values::Coded(low, high, n, text) = s.y else { panic!("coded") };
        assert_eq!((low, high, decoded(&text, n).iter().max()), (0.0, 1234.5, Some(&(GAP - 1))));
        assert!(n <= 4000 && text.len() <= 4 * n);
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
        let Values::Coded(low, top, n, _) = high.y else { panic!("coded") };
        assert_eq!((low, top), (5.0, 99.0));
        assert!(n <= EDGE && matches!(high.x, Places::Even(..)));
        assert!(matches!(edge(&x, &y, f64::min, false).y, Values::Coded(-1.0, 5.0, ..)));
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
            matches!(t.low, Some(Series { y: Values::Coded(-1.0, 5.0, ..), .. })),
            "the least value stays"
        );
        assert!(
            matches!(t.high, Some(Series { y: Values::Coded(6.0, 99.0, ..), .. })),
            "the greatest value stays"
        );
    }

    #[test]
    fn uneven_times_stay_as_they_are() {
        let x = [0.0, 1.0, 5.0, 6.5];
        let Places::Plain(p) = encode(&x, &x, 4000, false).x else { panic!("plain") };
        assert_eq!(p, x);
    }

    /// From 1 to 3 in steps of 2/65534: the codes are whole numbers, rounded to the nearest.
    #[test]
    fn codes_by_hand() {
        let step = 2.0 / 65_534.0;
        let values = [1.0, 3.0, f64::NAN, 2.0, 1.0 + 0.4 * step, 1.0 + 0.6 * step, 1.0 + 9.5 * step];
        let Values::Coded(low, high, n, text) = coded(&values) else { panic!("coded") };
        assert_eq!((low, high, n), (1.0, 3.0, 7));
        assert_eq!(decoded(&text, n)[..6], [0, 65_534, 65_535, 32_767, 0, 1]);
        let Values::Coded(low, high, n, text) = coded(&[7.0, 7.0]) else { panic!("coded") };
        assert_eq!((low, high, decoded(&text, n)), (7.0, 7.0, vec![0, 0]));
    }

    #[test]
    fn places_by_hand() {
        // From three points on and with more than sixteen kept, even places are from and step; a hundredth of a step off is uneven.
        let x: Vec<f64> = (0..17).map(|i| 0.5 + 0.25 * f64::from(i)).collect();
        let all: Vec<usize> = (0..17).collect();
        assert!(matches!(places(&x, &all), Places::Even(0.5, 0.25)));
        assert!(matches!(places(&x[..16], &all[..16]), Places::Plain(p) if p[..] == x[..16]));
        let mut off = x.clone();
        off[8] += 0.0024;
        assert!(matches!(places(&off, &all), Places::Even(..)));
        off[8] += 0.0002;
        assert!(matches!(places(&off, &all), Places::Plain(_)));
        off[8] -= 0.0052;
        assert!(matches!(places(&off, &all), Places::Plain(_)), "to the other side, too");
        let still = vec![2.0; 20];
        assert!(matches!(places(&still, &(0..20).collect::<Vec<_>>()), Places::Plain(_)));
        // Of forty points every second one is kept, by its index.
        let long: Vec<f64> = (0..40).map(f64::from).collect();
        let some: Vec<usize> = (0..40).step_by(2).collect();
        let Places::At(from, step, text) = places(&long, &some) else { panic!("indices") };
        assert_eq!((from, step), (0.0, 1.0));
        assert_eq!(decoded(&text, 20), (0..40).step_by(2).collect::<Vec<u64>>());
    }

    #[test]
    fn short_and_exact_series_are_plain() {
        let y: Vec<f64> = (0..201).map(f64::from).collect();
        assert!(matches!(encode(&y[..200], &y[..200], 4000, false).y, Values::Plain(_)));
        assert!(matches!(encode(&y, &y, 4000, false).y, Values::Coded(..)));
        assert!(matches!(encode(&y, &y, 4000, true).y, Values::Plain(_)));
        assert!(matches!(plain(&[1.234_567_8, -0.0]), Values::Plain(v) if v[0] == Some(1.23457)));
        // As many places as values, whichever is shorter.
        let Values::Plain(v) = encode(&y[..3], &y[..5], 4000, true).y else { panic!("plain") };
        assert_eq!(v.len(), 3);
        let of = |kind, log| {
            let trace = Trace { x: y.clone(), y: y.clone(), ..Trace::default() };
            let axis = Axis { log, ..Axis::default() };
            let f = Figure { y: axis, kind, traces: vec![trace], ..Figure::default() };
            matches!(figure(&f, 4000, |_| (0, 0)).traces[0].line.y, Values::Plain(_))
        };
        assert_eq!(
            [of(Kind::Lines, false), of(Kind::Lines, true), of(Kind::Points, false)],
            [false, true, true]
        );
    }

    #[test]
    fn lengths_count_both_edges_of_a_band() {
        let band = |n: usize| Some(crate::model::Band { low: vec![0.0; n], high: vec![1.0; n] });
        let trace = |n: usize, band| Trace { y: vec![0.0; n], band, ..Trace::default() };
        let f = Figure {
            traces: vec![trace(7, None), trace(9, band(9)), trace(600, band(600))],
            ..Figure::default()
        };
        assert_eq!(lengths(&f).collect::<Vec<_>>(), [7, 0, 9, 18, 600, 1000]);
    }

    /// 1000 points in 500: each edge has the outermost of two, at the first of them.
    #[test]
    fn an_edge_stands_at_the_first_of_its_points() {
        let x: Vec<f64> = (0..1000).map(f64::from).collect();
        let y: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        let of = |outermost: fn(f64, f64) -> f64| edge(&x, &y, outermost, true);
        let Places::Even(from, step) = of(f64::max).x else { panic!("even") };
        assert_eq!((from, step), (0.0, 2.0));
        assert!(matches!(of(f64::max).y, Values::Plain(v) if v == [Some(1.0); 500]));
        assert!(matches!(of(f64::min).y, Values::Plain(v) if v == [Some(0.0); 500]));
    }
}
