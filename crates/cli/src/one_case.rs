//! The runs of a single case in the terminal: metrics, ports, flows, fingerprints.

use crate::look::{self, Colour, at_least, interval, measured, paint};
use crate::summary;
use cnsim_measure::fct::{NOT_BEGUN, SizeGroup, Unfinished};
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_report::build::{CaseRuns, ports, shared, traffic};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::{Id, METRICS, Metric};
use cnsim_scenario::tables;
use cnsim_units::{Bytes, Time};

/// Prints the requested metrics, or all metrics and the ports.
pub(crate) fn print(records: &[RunRecord], shown: &[&'static Metric]) {
    let Some(record) = records.first() else { return };
    let seeds = match records {
        [_] => format!("seed {}", record.seed),
        all => format!("seeds {} to {}", record.seed, record.seed + all.len() as u64 - 1),
    };
    let title = format!("{}, {seeds}", record.case);
    println!("{}", paint(&title, Colour::Bold, look::colour_on_stdout()));
    let case = CaseRuns { case: record.case.clone(), runs: records.iter().collect() };
    let value = |s: Summary| {
        let one = if s.n == 1 { digits(s.mean) } else { measured(s.mean, s.confidence()) };
        at_least(s.bound) + &one
    };
    let metric =
        |m: &&'static Metric| Some(vec![m.id.to_string(), value(case.summary(m)?), m.unit.to_string()]);
    let metrics: Vec<&'static Metric> =
        if shown.is_empty() { METRICS.iter().collect() } else { shown.to_vec() };
    let counter = |name: &String| {
        let counts: Vec<f64> =
            records.iter().filter_map(|r| r.counters.get(name).map(|n| *n as f64)).collect();
        let s = Summary::of(&counts)?.within((0.0, f64::INFINITY));
        Some(vec![name.clone(), value(s), String::new()])
    };
    let counters = record.counters.keys().filter(|_| shown.is_empty()).filter_map(counter);
    let rows: Vec<Vec<String>> = metrics.iter().filter_map(metric).chain(counters).collect();
    println!("{}", look::table(&["metric", "value", "unit"], &rows, true));
    if records.len() > 1 {
        println!("{}", interval([records.len() as u64]));
    }
    let cases = [case];
    let mut tables = if shown.is_empty() { ports(&cases) } else { Vec::new() };
    tables.extend(if shown.is_empty() { shared(&cases) } else { Vec::new() });
    tables.extend(traffic(&cases));
    for t in tables {
        let title = paint(&t.condition, Colour::Bold, look::colour_on_stdout());
        println!("\n{title}\n{}", summary::table(&t, &[], look::colour_on_stdout()).join("\n"));
    }
    by_size(record);
    unfinished_flows(record);
    if let Some(q) = record.over_time.series.get("hot_queue") {
        println!("\nhot queue  {}  up to {:.0} KB", look::spark(q.upper(), 40), q.top());
    }
    for r in records {
        let f = &r.fingerprint;
        println!("fingerprint {} {} {} (events, frames, samples)", f["events"], f["frames"], f["samples"]);
    }
}

/// Slowdowns of finite flows by size.
fn by_size(record: &RunRecord) {
    if record.flows.by_size.is_empty() {
        return;
    }
    let of = record.config.text(tables::record::IDEAL).unwrap_or("exact");
    println!("\nSlowdown by size (seed {}; ideal time: {of})", record.seed);
    let row = |g: &SizeGroup| {
        let sizes = [g.sizes.0, g.sizes.1].map(|b| Bytes::new(b).to_string());
        let mean = if g.finished > 0 { digits(g.mean) } else { "-".into() };
        let numbers = g.slowdown.iter().zip(g.at_least).map(|(v, bound)| at_least(bound) + &digits(*v));
        let counts = [g.flows.to_string(), g.finished.to_string(), mean];
        sizes.into_iter().chain(counts).chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = record.flows.by_size.iter().map(row).collect();
    println!(
        "{}",
        look::table(&["from", "to", "flows", "finished", "mean", "p50", "p95", "p99", "p99.9"], &rows, false)
    );
}

/// Largest number of unfinished flows that are listed.
const UNFINISHED: usize = 16;

/// Unfinished flows: their number, and the first ones with the reason why they wait.
fn unfinished_flows(record: &RunRecord) {
    if record.flows.unfinished.is_empty() {
        return;
    }
    let all = record.metrics.get(Id::IncompleteTransfers).unwrap_or(0.0);
    println!("\n{all} flows are unfinished at the end of the run (seed {}). The first of them:", record.seed);
    let row = |f: &Unfinished| {
        let (bytes, missing) = (Bytes::new(f.bytes).to_string(), Bytes::new(f.missing).to_string());
        let lost = f.lost.map_or_else(|| "?".into(), |n| n.to_string());
        let start = if f.start == NOT_BEGUN { "-".into() } else { Time::from_ps(f.start).to_string() };
        vec![f.flow.clone(), start, bytes, missing, lost, f.waits_for.clone()]
    };
    let rows: Vec<Vec<String>> = record.flows.unfinished.iter().take(UNFINISHED).map(row).collect();
    println!(
        "{}",
        look::table(
            &["flow", "start", "bytes", "missing on the link", "frames lost", "waits for"],
            &rows,
            true
        )
    );
}
