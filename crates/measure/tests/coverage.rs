//! What 95 % intervals of five seeds cover, measured: seeds of real runs stand in two tables, and five are drawn at random, again and
//! again. The mean of a column is what each interval should hold.
//!
//! The runs: in `coverage.csv` B07/single-hop, hotspot 0.5 Gb/s, PAUSE off, with three schemes, and modern/conext-dumbbell, each host
//! 6.4 %, seeds 1 to 40 each; in `coverage-200.csv` modern/conext-dumbbell, each host 6.4 %, seeds 1 to 200. They are data of this
//! test, not results that it repeats.
#![allow(clippy::unwrap_used)]

use cnsim_measure::stats::Summary;
use cnsim_scenario::metrics::find;

const TABLE: &str = include_str!("coverage.csv");
const LONG: &str = include_str!("coverage-200.csv");

/// A column: scheme and metric, and its values.
fn columns(table: &str) -> Vec<(String, Vec<f64>)> {
    let mut lines = table.lines();
    let mut all: Vec<(String, Vec<f64>)> =
        lines.next().unwrap().split(',').map(|name| (name.to_string(), Vec::new())).collect();
    for line in lines {
        line.split(',').zip(&mut all).for_each(|(v, column)| column.1.push(v.parse().unwrap()));
    }
    all
}

/// Five values of a column, drawn again and again.
fn fives(values: &[f64]) -> impl Iterator<Item = [f64; 5]> + '_ {
    const DRAWS: usize = 5_000;
    // A generator of numbers that is good enough for drawing lots (Knuth's MMIX).
    let mut state = 1_u64;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values[((state >> 33) % values.len() as u64) as usize]
    };
    (0..DRAWS).map(move |_| [draw(), draw(), draw(), draw(), draw()])
}

fn draws(values: &[f64]) -> impl Iterator<Item = Summary> + '_ {
    fives(values).map(|five| Summary::of(&five).unwrap())
}

/// Share of draws of five values whose interval holds the mean.
fn coverage(values: &[f64], interval: impl Fn(&Summary) -> Option<(f64, f64)>) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (mut holds, mut all) = (0.0, 0.0);
    for s in draws(values) {
        let (low, high) = interval(&s).unwrap();
        holds += f64::from(low <= mean && mean <= high);
        all += 1.0;
    }
    holds / all
}

/// How much longer than Student's the intervals are, on average.
fn cost(values: &[f64]) -> f64 {
    let length = |i: Option<(f64, f64)>| i.map(|(low, high)| high - low).filter(|l| *l > 0.0);
    let ratios: Vec<f64> =
        draws(values).filter_map(|s| Some(length(s.confidence())? / length(s.paired())?)).collect();
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

#[test]
fn intervals_of_five_seeds_hold_the_mean() {
    let mut least_of_t = 1.0_f64;
    for (table, seeds) in [(TABLE, 40), (LONG, 200)] {
        for (name, values) in columns(table) {
            assert_eq!(values.len(), seeds);
            let metric = find(name.split_once(' ').unwrap().1).unwrap();
            let (ours, t) = (coverage(&values, Summary::confidence), coverage(&values, Summary::paired));
            let cost = cost(&values);
            println!("{name:40} {seeds:3} seeds: {ours:.3}, Student's t {t:.3}; {cost:.2} times as long");
            // See `median_slowdowns_have_rare_seeds`.
            let least = if metric.id == "slowdown_p50" {
                0.88
            } else if seeds == 200 {
                0.92
            } else {
                0.9
            };
            assert!(ours > least, "{name}: {ours}");
            assert!(ours >= t, "never shorter than Student's: {name}: {ours} and {t}");
            assert!((1.1..1.27).contains(&cost), "{name}: {cost}");
            let cut = coverage(&values, |s| s.within(metric.range()).confidence());
            assert_eq!(ours, cut, "an end where values can be loses no mean: {name}");
            least_of_t = least_of_t.min(t);
        }
    }
    assert!(least_of_t < 0.89, "this is why it is not Student's alone: {least_of_t}");
}

/// Why intervals of the median slowdown hold its mean least often: seven of 200 seeds saturate the network. Five seeds that hold none
/// of them know nothing of them.
#[test]
fn median_slowdowns_have_rare_seeds() {
    let (_, values) = columns(LONG).into_iter().find(|c| c.0 == "dcqcn slowdown_p50").unwrap();
    let (rare, usual): (Vec<f64>, Vec<f64>) = values.iter().partition(|v| **v > 5.0);
    assert_eq!(rare.len(), 7);
    assert!(usual.iter().all(|v| *v < 4.5));
    let mean = values.iter().sum::<f64>() / 200.0;
    let squares = |of: &[f64]| of.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    let share = squares(&rare) / squares(&values);
    assert!((0.6..0.63).contains(&share), "of the variance: {share}");
    // By draws without and with one of the seven: how many there are, how many intervals hold the mean.
    let mut found = [(0.0, 0.0); 2];
    for five in fives(&values) {
        let (low, high) = Summary::of(&five).unwrap().confidence().unwrap();
        let (all, hold) = &mut found[usize::from(five.iter().any(|v| rare.contains(v)))];
        *all += 1.0;
        *hold += f64::from(low <= mean && mean <= high);
    }
    let [(without, held), (with, all)] = found;
    println!(
        "{} of draws without, {} of them hold the mean; with {}",
        without / (without + with),
        held / without,
        all / with
    );
    assert!((0.83..0.85).contains(&(without / (without + with))), "(193/200)^5 = 0.837");
    assert!((0.865..0.885).contains(&(held / without)));
    assert!(all / with > 0.99);
    let alone = coverage(&usual, Summary::confidence);
    assert!(alone > 0.915, "without the seven: {alone}");
}

/// Differences between schemes, seed by seed: Student's t holds them.
#[test]
fn paired_differences_are_hardly_skewed() {
    let all = columns(TABLE);
    let of = |name: &str| &all.iter().find(|c| c.0 == name).unwrap().1;
    for metric in ["aggregate_throughput", "dropped_frames", "recovery_time"] {
        let (a, b) = (of(&format!("qcn-2pt {metric}")), of(&format!("qcn-3pt {metric}")));
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let covered = coverage(&differences, Summary::paired);
        println!("{metric}: {covered:.3}");
        assert!(covered > 0.9, "{metric}: {covered}");
    }
}
