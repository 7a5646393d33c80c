//! Completion times of flows in files: `fct.csv`, `slowdown.csv`, and the columns of the HPCC fork.

use crate::files::{digits, table};
use crate::store::RunRecord;

/// Nanoseconds with three decimals at most.
fn ns(ps: u64) -> String {
    let text = format!("{}.{:03}", ps / 1000, ps % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn labels(r: &RunRecord) -> Vec<String> {
    vec![r.condition.clone(), r.pause.clone(), r.scheme.clone(), r.seed.to_string()]
}

/// One line a flow: run, hosts, payload, start, completion time at the receiver's last byte, both ideal times, and the slowdown
/// by the exact one. Times in nanoseconds. A flow that was not received whole has no time and no ideal; the bytes on the link that
/// are missing and what it waits for stand at the end of its line. Nothing where no run kept the times of its flows.
pub fn fct_csv(records: &[RunRecord]) -> Option<String> {
    let header = [
        "condition",
        "pause",
        "scheme",
        "seed",
        "source",
        "destination",
        "bytes",
        "start_ns",
        "time_ns",
        "ideal_ns",
        "fork_ideal_ns",
        "slowdown",
        "missing_bytes",
        "waits_for",
    ];
    let mut lines = Vec::new();
    for r in records.iter().filter(|r| !r.flows.is_empty() || !r.unfinished.is_empty()) {
        let name = |h: u64| r.hosts.get(h as usize).cloned().unwrap_or_else(|| h.to_string());
        for f in &r.flows {
            let mut line = labels(r);
            line.extend([name(f.src), name(f.dst), f.bytes.to_string()]);
            line.extend([f.start, f.time, f.exact, f.fork].map(ns));
            line.extend([digits(f.time as f64 / (f.exact as f64).max(1.0)), "0".into(), String::new()]);
            lines.push(line);
        }
        for f in &r.unfinished {
            let mut line = labels(r);
            line.extend([name(f.src), name(f.dst), f.bytes.to_string(), ns(f.start)]);
            line.extend(["", "", "", ""].map(String::from));
            line.extend([f.missing.to_string(), f.waits_for.clone()]);
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| table(&header.map(String::from), &lines))
}

/// One line a group of flows of like size: run, smallest and largest, number, how many were received whole, their mean slowdown, and
/// percentiles over all. The last column names the percentiles that are lower bounds, as they fall among unfinished flows.
pub fn slowdown_csv(records: &[RunRecord]) -> Option<String> {
    let header = [
        "condition",
        "pause",
        "scheme",
        "seed",
        "from_bytes",
        "to_bytes",
        "flows",
        "finished",
        "mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "at_least",
    ];
    let line = |r: &RunRecord, g: &crate::flows::fct::SizeGroup| {
        let mut line = labels(r);
        line.extend([g.sizes.0, g.sizes.1, g.flows as u64, g.finished as u64].map(|n| n.to_string()));
        line.push(if g.finished > 0 { digits(g.mean) } else { String::new() });
        line.extend(g.slowdown.map(digits));
        let bounds = header[header.len() - 5..].iter().zip(g.at_least).filter(|b| b.1);
        line.push(bounds.map(|b| *b.0).collect::<Vec<_>>().join(" "));
        line
    };
    let lines: Vec<Vec<String>> =
        records.iter().flat_map(|r| r.by_size.iter().map(move |g| line(r, g))).collect();
    (!lines.is_empty()).then(|| table(&header.map(String::from), &lines))
}

/// The columns of the HPCC fork, a line a flow in order of completion: addresses of source and destination, ports, payload,
/// start, completion time and the fork's ideal time in nanoseconds. Completion is the arrival of the last byte; the fork's own is
/// the arrival of its acknowledgement. Starts count from `origin` (ps). None where a host has no number in its name.
pub fn fork_columns(record: &RunRecord, hosts: &[String], origin: u64) -> Option<String> {
    let ids: Option<Vec<u64>> = hosts
        .iter()
        .map(|h| h.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok())
        .collect();
    let ids = ids?;
    let address = |host: u64| -> Option<u64> {
        let id = ids.get(host as usize)?;
        Some(0x0b00_0001 + (id / 256) * 0x1_0000 + (id % 256) * 0x100)
    };
    let mut flows = record.flows.clone();
    flows.sort_by_key(|f| (f.start, f.src, f.dst));
    let mut ports: std::collections::HashMap<(u64, u64), u32> = std::collections::HashMap::new();
    let mut lines: Vec<(u64, String)> = Vec::new();
    for f in &flows {
        let port = ports.entry((f.src, f.dst)).and_modify(|p| *p += 1).or_insert(10_000);
        let (start, time, ideal) = ((f.start + origin) / 1000, f.time / 1000, f.fork / 1000);
        let (a, b) = (address(f.src)?, address(f.dst)?);
        lines.push((
            f.start + f.time,
            format!("{a:08x} {b:08x} {port} 100 {} {start} {time} {ideal}", f.bytes),
        ));
    }
    lines.sort();
    Some(lines.iter().map(|l| format!("{}\n", l.1)).collect())
}
