//! PAUSE by root: a figure for each case, a row a transmitter, bars where it stood, in the colour of the root for which it stood.

use super::scene::{CaseRuns, Scene};
use crate::colour::REST;
use crate::model::{Axis, Figure, Kind, Trace};
use cnsim_measure::pauses::{Forest, Stops, time};
use cnsim_measure::xoff::PARTS;
use cnsim_runs::record::RunRecord;
use std::collections::{BTreeMap, BTreeSet};

/// Heading of the figures.
const GROUP: &str = "PAUSE by root";
/// Most figures of a page.
const FIGURES: usize = 4;
/// Most transmitters of a figure: those that stood longest.
const ROWS: usize = 24;
/// Most bars of a figure, each where a transmitter stood; of more, each is the share of a part of the run.
const BARS: usize = 400;
/// Slots of the roots of most time, far from each other; the others are one, in grey.
const SLOTS: [u8; 5] = [0, 4, 7, 2, 5];

/// The figures of the first seed of each case in which a transmitter stood.
pub(crate) fn roots(scene: &Scene<'_>) -> Vec<Figure> {
    let drawn = |c: &CaseRuns<'_>| {
        let run = c.runs.first()?;
        let stops = run.over_time.pauses.as_ref().filter(|s| s.total() > 0)?;
        let end = scene.ready(c)?.settings.duration.as_ps();
        Some(figure(run, stops, end))
    };
    let mut all: Vec<Figure> = scene.cases.iter().filter_map(drawn).collect();
    let left = all.len().saturating_sub(FIGURES);
    all.truncate(FIGURES);
    if let (Some(last), 1..) = (all.last_mut(), left) {
        last.caption += &format!(" {} of PAUSE not drawn: `cnsim explain-pause` has them.", cases(left));
    }
    all
}

/// A number of further cases, with its verb.
fn cases(n: usize) -> String {
    if n == 1 { "1 more case is".into() } else { format!("{n} more cases are") }
}

/// Shares of time, ps, between the same two moments, by rank of the root.
type Bars = BTreeMap<(u64, u64), BTreeMap<usize, u64>>;

/// A transmitter that was stopped.
struct Row {
    port: u32,
    /// How long it stood, ps.
    time: u64,
    /// XOFFs of the root, by number.
    xoffs: Vec<usize>,
}

/// All transmitters that were stopped, those that stood longest first.
fn stopped(stops: &Stops) -> Vec<Row> {
    let mut all: BTreeMap<u32, Row> = BTreeMap::new();
    for (n, x) in stops.xoffs.iter().enumerate().filter(|(_, x)| x.time() > 0) {
        let row = all.entry(x.stopped).or_insert_with(|| Row { port: x.stopped, time: 0, xoffs: Vec::new() });
        row.time += x.time();
        row.xoffs.push(n);
    }
    let mut rows: Vec<Row> = all.into_values().collect();
    rows.sort_by_key(|r| (std::cmp::Reverse(r.time), r.port));
    rows
}

fn figure(run: &RunRecord, stops: &Stops, end: u64) -> Figure {
    let forest = Forest::of(stops, |_| true);
    let ranked = forest.by_time();
    let mut rank = vec![SLOTS.len(); forest.roots.len()];
    ranked.iter().take(SLOTS.len()).enumerate().for_each(|(n, (root, _))| rank[*root as usize] = n);
    let mut rows = stopped(stops);
    let rest = rows.split_off(rows.len().min(ROWS));
    let parted = rows.iter().map(|r| r.xoffs.len()).sum::<usize>() > BARS;
    let mut drawn: Vec<(u32, Bars)> = Vec::new();
    for row in &rows {
        let mut bars = Bars::new();
        for n in &row.xoffs {
            let (x, mut by) = (&stops.xoffs[*n], BTreeMap::new());
            for part in &forest.parts[*n] {
                *by.entry(rank[forest.places[part.place as usize].root as usize]).or_default() += part.time;
            }
            match parted {
                true => spread((x.from, x.until), &by, end, &mut bars),
                false => add(&mut bars, (x.from, x.until), by),
            }
        }
        drawn.push((row.port, bars));
    }
    let of = |bars: &Bars| bars.values().flat_map(|b| b.keys().copied()).collect::<BTreeSet<usize>>();
    let known: BTreeSet<usize> = drawn.iter().flat_map(|(_, bars)| of(bars)).collect();
    let mut traces = Vec::new();
    for (n, (port, bars)) in drawn.iter().enumerate() {
        // The first row has all roots, so that the legend has them in their order.
        let mine = if n == 0 { known.clone() } else { of(bars) };
        traces.extend(mine.into_iter().map(|rank| Trace {
            name: ranked.get(rank).filter(|_| rank < SLOTS.len()).map_or(
                "other roots".into(),
                |(_, root)| {
                    let (from, until) = (time(root.span.0), time(root.span.1));
                    let name = stops.root(root.output, root.kind);
                    format!("{name}, {from} to {until}; {} in all", time(root.time))
                },
            ),
            slot: Some(SLOTS.get(rank).copied().unwrap_or(REST)),
            group: stops.name(*port).into(),
            ..steps(bars, rank, end)
        }));
    }
    let case = &run.case;
    let pause = format!("PAUSE {}", case.pause);
    let place = [case.scheme.as_str(), case.condition.as_str(), &pause];
    let place: Vec<&str> = place.into_iter().filter(|p| !p.is_empty() && *p != "default").collect();
    let others: Vec<u64> = ranked.iter().skip(SLOTS.len()).map(|r| r.1.time).collect();
    Figure {
        group: GROUP.into(),
        title: format!("Who stood for which root: {}", place.join(", ")),
        caption: caption(run.seed, stops, (&rows, &rest), &others, parted),
        x: Axis { title: "time".into(), unit: "ms".into(), log: false },
        y: Axis { title: "share in XOFF".into(), unit: "%".into(), log: false },
        kind: Kind::Spans,
        traces,
        scheme: case.scheme.clone(),
        condition: case.condition.clone(),
        pause: case.pause.clone(),
        ..Figure::default()
    }
}

/// Adds shares to a bar. Of several classes, XOFFs may stand between the same two moments.
fn add(bars: &mut Bars, span: (u64, u64), by: BTreeMap<usize, u64>) {
    let bar = bars.entry(span).or_default();
    by.into_iter().for_each(|(rank, time)| *bar.entry(rank).or_default() += time);
}

/// Spreads an XOFF over the parts of the run in which it stood, each root's time as whole picoseconds.
fn spread((from, until): (u64, u64), by: &BTreeMap<usize, u64>, end: u64, bars: &mut Bars) {
    let edge = |n: u64| (u128::from(end) * u128::from(n) / PARTS as u128) as u64;
    let all = u128::from(until - from);
    for n in 0..PARTS as u64 {
        let part = (edge(n), edge(n + 1));
        let before = |at: u64| u128::from(at.clamp(from, until) - from);
        if before(part.1) == before(part.0) {
            continue;
        }
        let upto = |time: u64, at: u64| (u128::from(time) * before(at) / all) as u64;
        let mine = by.iter().map(|(rank, time)| (*rank, upto(*time, part.1) - upto(*time, part.0)));
        add(bars, part, mine.collect());
    }
}

/// The bars of a root as steps: from each place on its share in %, 0 between bars, and the end of the run.
fn steps(bars: &Bars, rank: usize, end: u64) -> Trace {
    let mut t = Trace::default();
    let ms = |ps: u64| ps as f64 / 1e9;
    for ((from, until), by) in bars {
        let Some(time) = by.get(&rank).filter(|time| **time > 0) else { continue };
        if t.x.last() == Some(&ms(*from)) {
            t.x.pop();
            t.y.pop();
        }
        t.x.extend([ms(*from), ms(*until)]);
        t.y.extend([100.0 * *time as f64 / (until - from) as f64, 0.0]);
    }
    if t.x.last() != Some(&ms(end)) {
        t.x.push(ms(end));
        t.y.push(0.0);
    }
    t
}

/// Caption of the figure: the meaning of its bars, and the rows that it leaves out.
fn caption(seed: u64, stops: &Stops, (rows, rest): (&[Row], &[Row]), others: &[u64], parted: bool) -> String {
    let sum = |rows: &[Row]| time(rows.iter().map(|r| r.time).sum());
    let mut said = vec![format!("Seed {seed}. Each transmitter that was stopped is a row, longest first.")];
    said.push(match parted {
        false => "A bar shows where it stood, in the colour of the root for which it stood; of several roots, by their shares.".into(),
        true => format!(
            "As there are more than {BARS} XOFFs, a bar is a part of {PARTS} of the run: as high as the share in which the transmitter \
             stood, in the colours of the roots for which it stood."
        ),
    });
    said.push(match rest.len() {
        0 => format!("They stood {} in sum.", sum(rows)),
        n => format!(
            "These {ROWS} stood {} in sum; {n} more transmitters, {} in sum, are left out.",
            sum(rows),
            sum(rest)
        ),
    });
    if !others.is_empty() {
        said.push(format!("Other roots: {}, {} in sum.", others.len(), time(others.iter().sum())));
    }
    if stops.left_out > 0 {
        said.push(format!("{} later XOFFs were not kept.", stops.left_out));
    }
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;
    use cnsim_measure::pauses::{Cause, Held, Stop};

    const MS: u64 = 1_000_000_000;

    /// The XOFFs of transmitters by number, from one ms to another, with the bytes for outputs that were slow, or for other XOFFs.
    fn stops(xoffs: &[(u32, (u64, u64), &[(u32, u64, Held)])]) -> Stops {
        let names = (0..60).map(|n| if n < 2 { format!("L1>H{n}") } else { format!("T{n}") }).collect();
        let stop = |&(stopped, (from, until), causes): &(u32, (u64, u64), &[(u32, u64, Held)])| Stop {
            stopped,
            decided: from,
            from,
            until,
            causes: causes.iter().map(|&(output, bytes, held)| Cause { output, bytes, held }).collect(),
            ..Stop::default()
        };
        Stops { names, xoffs: xoffs.iter().map(stop).collect(), ..Stops::default() }
    }

    fn drawn(stops: &Stops) -> Figure {
        let case = ["mine", "small", "default", "on", "none"].into();
        figure(&RunRecord { case, seed: 3, ..RunRecord::default() }, stops, 10 * MS)
    }

    /// The time of the bars of each name, ps to the nearest thousand.
    fn sums(f: &Figure) -> BTreeMap<&str, f64> {
        let mut sums = BTreeMap::new();
        for t in &f.traces {
            let bars = t.x.windows(2).zip(&t.y).map(|(x, y)| (x[1] - x[0]) * y / 100.0);
            *sums.entry(t.name.as_str()).or_insert(0.0) += bars.sum::<f64>();
        }
        sums
    }

    /// T2 stood for the first root, T3 for T2 and the second: by its share of 3 to 1.
    #[test]
    fn two_roots_have_two_colours_and_bars_as_long_as_the_tree_says() {
        let all = stops(&[
            (2, (MS, 5 * MS), &[(0, 9_000, Held::Slow)]),
            (3, (2 * MS, 6 * MS), &[(2, 3_000, Held::Xoff(0)), (1, 1_000, Held::Closed)]),
            (2, (6 * MS, 7 * MS), &[(0, 9_000, Held::Slow)]),
        ]);
        let f = drawn(&all);
        let (a, b) = (
            "L1>H0: took in less than came, 1.000 ms to 7.000 ms; 8.000 ms in all",
            "L1>H1: serves nothing, 2.000 ms to 6.000 ms; 1.000 ms in all",
        );
        assert_eq!(sums(&f), BTreeMap::from([(a, 8.0), (b, 1.0)]));
        let rows: Vec<(&str, usize)> = words::rows(&f).into_iter().map(|(name, t)| (name, t.len())).collect();
        assert_eq!(rows, [("T2", 2), ("T3", 2)], "the first row has all roots, for the legend");
        assert_eq!(
            (&f.traces[0].x[..], &f.traces[0].y[..]),
            (&[1.0, 5.0, 6.0, 7.0, 10.0][..], &[100.0, 0.0, 100.0, 0.0, 0.0][..])
        );
        assert!(
            f.caption.starts_with("Seed 3.") && f.caption.ends_with("They stood 9.000 ms in sum."),
            "{}",
            f.caption
        );
        assert_eq!(f.traces.iter().map(|t| t.slot).collect::<BTreeSet<_>>(), [Some(0), Some(4)].into());
        assert_eq!(f.traces.iter().flat_map(|t| &t.y).filter(|y| **y > 0.0).count(), 4, "bars");
        assert!(words::describe(&f).contains("serves nothing, 2.000 ms"));
    }

    /// Thirty transmitters and seven roots: 24 rows and five colours, and what is left out is told.
    #[test]
    fn limits_are_told() {
        let slow = |n: u32| [(n % 7, 1_000, Held::Slow)];
        let causes: Vec<[(u32, u64, Held); 1]> = (0..30).map(slow).collect();
        let xoffs: Vec<(u32, (u64, u64), &[(u32, u64, Held)])> =
            (0..30).map(|n| (20 + n, (MS, MS * u64::from(40 - n) / 4), &causes[n as usize][..])).collect();
        let f = drawn(&stops(&xoffs));
        assert_eq!(words::rows(&f).len(), ROWS);
        assert_eq!(f.traces.iter().map(|t| t.slot).collect::<BTreeSet<_>>().len(), SLOTS.len() + 1);
        let told = |words: &str| assert!(f.caption.contains(words), "{}", f.caption);
        // 24 of (40 - n) / 4 - 1 ms, and six more.
        told("These 24 stood 147.0 ms in sum; 6 more transmitters, 14.25 ms in sum, are left out.");
        told("Other roots: 2, ");
        let drawn: f64 = sums(&f).values().sum();
        assert!((drawn - 147.0).abs() < 1e-9, "{drawn}");
    }

    /// More XOFFs than bars: shares of parts of the run, with the same sums.
    #[test]
    fn many_short_xoffs_are_shares_of_parts() {
        let cause = [(0, 2_000, Held::Slow), (1, 1_000, Held::Slow)];
        let at = |n: u64| (2 + (n % 2) as u32, (n * 17_000_001, n * 17_000_001 + 11_000_003), &cause[..]);
        let xoffs: Vec<_> = (0..=BARS as u64).map(at).collect();
        let all = stops(&xoffs);
        let f = drawn(&all);
        assert!(
            f.caption.contains("more than 400 XOFFs") && f.caption.contains("a part of 60 of the run"),
            "{}",
            f.caption
        );
        assert!(f.traces.iter().all(|t| t.x.len() <= PARTS + 2), "no more bars than parts");
        let sum: f64 = sums(&f).values().sum();
        assert!((sum - all.total() as f64 / 1e9).abs() < 1e-6, "{sum}");
        let by_root: Vec<f64> = sums(&f).into_values().collect();
        assert!((by_root[0] - 2.0 * by_root[1]).abs() < 1e-5, "{by_root:?}");
        assert!(f.traces.iter().flat_map(|t| &t.y).all(|y| (0.0..=100.0).contains(y)));
        // One fewer are bars of their own.
        let f = drawn(&stops(&xoffs[..BARS]));
        assert!(!f.caption.contains("more than"), "{}", f.caption);
        let bars = f.traces.iter().flat_map(|t| &t.y).filter(|y| **y > 0.0).count();
        assert_eq!(bars, 2 * BARS);
    }
}
