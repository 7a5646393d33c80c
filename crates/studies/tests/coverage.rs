//! What 95 % intervals of five seeds cover, measured: 40 seeds of real runs stand in `coverage.csv`, and five are drawn at random,
//! again and again. The mean of the 40 is what each interval should hold.
//!
//! The runs: B07/single-hop, hotspot 0.5 Gb/s, PAUSE off, with three schemes, and modern/conext-dumbbell, each host 6.4 %; seeds 1
//! to 40 each. They are data of this test, not results that it repeats.
#![allow(clippy::unwrap_used)]

use cnsim_studies::stats::Summary;

const TABLE: &str = include_str!("coverage.csv");

/// A column: scheme and metric, and its 40 values.
fn columns() -> Vec<(String, Vec<f64>)> {
    let mut lines = TABLE.lines();
    let mut all: Vec<(String, Vec<f64>)> =
        lines.next().unwrap().split(',').map(|name| (name.to_string(), Vec::new())).collect();
    for line in lines {
        line.split(',').zip(&mut all).for_each(|(v, column)| column.1.push(v.parse().unwrap()));
    }
    assert!(all.iter().all(|c| c.1.len() == 40));
    all
}

/// Share of draws of five values whose interval holds the mean.
fn coverage(values: &[f64], interval: fn(&Summary) -> Option<(f64, f64)>) -> f64 {
    const DRAWS: usize = 5_000;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    // A generator of numbers that is good enough for drawing lots (Knuth's MMIX).
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values[((state >> 33) % values.len() as u64) as usize]
    };
    let holds = |_: &usize| {
        let five: Vec<f64> = (0..5).map(|_| draw()).collect();
        let (low, high) = interval(&Summary::of(&five).unwrap()).unwrap();
        low <= mean && mean <= high
    };
    (0..DRAWS).filter(holds).count() as f64 / DRAWS as f64
}

#[test]
fn intervals_of_five_seeds_hold_the_mean() {
    let (mut least, mut least_of_t) = (1.0_f64, 1.0_f64);
    for (name, values) in columns() {
        let (ours, t) = (coverage(&values, Summary::confidence), coverage(&values, Summary::paired));
        println!("{name:45} {ours:.3}, Student's t {t:.3}");
        assert!(ours > 0.9, "{name}: {ours}");
        assert!(ours >= t, "never shorter than Student's: {name}: {ours} and {t}");
        (least, least_of_t) = (least.min(ours), least_of_t.min(t));
    }
    assert!(least_of_t < 0.89, "this is why it is not Student's alone: {least_of_t}");
}

/// Differences between schemes, seed by seed: Student's t holds them.
#[test]
fn paired_differences_are_hardly_skewed() {
    let all = columns();
    let of = |name: &str| &all.iter().find(|c| c.0 == name).unwrap().1;
    for metric in ["aggregate_throughput", "dropped_frames", "recovery_time"] {
        let (a, b) = (of(&format!("qcn-2pt {metric}")), of(&format!("qcn-3pt {metric}")));
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let covered = coverage(&differences, Summary::paired);
        println!("{metric}: {covered:.3}");
        assert!(covered > 0.9, "{metric}: {covered}");
    }
}
