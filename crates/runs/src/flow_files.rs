//! Completion times of flows in files: `fct.csv`, `slowdown.csv`, and the columns of the HPCC fork.

pub use crate::files::labels;
use crate::files::{AWAY, Lines, read_lines};
use crate::record::RunRecord;
use cnsim_measure::fct::{self, FlowTime, NOT_BEGUN, Unfinished};
use cnsim_measure::quantity::digits;
use cnsim_scenario::tables;
use cnsim_scheme_api::Time;
use indexmap::IndexSet;
use std::collections::BTreeMap;
use std::path::Path;

/// Nanoseconds with three decimals at most.
pub(crate) fn ns(ps: u64) -> String {
    let text = format!("{}.{:03}", ps / 1000, ps % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Slowdown of a flow by the ideal time that the run asks for (`record.ideal`).
pub fn slowdown_of(r: &RunRecord, f: &FlowTime) -> f64 {
    let fork = r.config.text(tables::record::IDEAL) == Some("hpcc-fork");
    fct::slowdown(f.time, if fork { f.fork } else { f.exact }, fork)
}

/// One line for each flow: run, hosts, payload, start, completion time (`record.completion`), both ideal times to the same end, and
/// the slowdown by that of `record.ideal`. Times are in nanoseconds. An unfinished flow has no time and no ideal. The end of its line
/// has the missing bytes on the link, its lost frames if known, the reason why it waits, the name of its traffic, and its number among
/// the flows of its two hosts. None if no run kept the times of its flows.
pub fn fct_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&[
        "source", "destination", "bytes", "start_ns", "time_ns", "ideal_ns", "fork_ideal_ns", "slowdown",
        "missing_bytes", "lost_frames", "waits_for", "traffic", "number",
    ]);
    for r in records.iter().filter(|r| !r.flows.times.is_empty() || !r.flows.unfinished.is_empty()) {
        let traffic = |n: u64| {
            let at = (n as usize).checked_sub(1).and_then(|at| r.traffic.get(at));
            at.map_or_else(String::new, |t| t.name.clone())
        };
        let name = |h: u64| r.flows.hosts.get(h as usize).cloned().unwrap_or_else(|| h.to_string());
        for f in &r.flows.times {
            let line = lines.add(r, [name(f.src), name(f.dst), f.bytes.to_string()]);
            line.extend([f.start, f.time, f.exact, f.fork].map(ns));
            line.extend([digits(slowdown_of(r, f)), "0".into(), "0".into(), String::new()]);
            line.extend([traffic(f.name), f.nth.to_string()]);
        }
        for f in &r.flows.unfinished {
            let start = if f.start == NOT_BEGUN { String::new() } else { ns(f.start) };
            let line = lines.add(r, [name(f.src), name(f.dst), f.bytes.to_string(), start]);
            line.extend(["", "", "", ""].map(String::from));
            line.extend([f.missing.to_string(), f.lost.map_or_else(String::new, |n| n.to_string())]);
            line.extend([f.waits_for.clone(), traffic(f.name), f.nth.to_string()]);
        }
    }
    lines.some()
}

/// Reads a file of [`fct_csv`] into the records of its runs, if their names differ.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_flows(path: &Path, records: &mut [RunRecord]) -> Result<(), String> {
    let mut all: BTreeMap<[String; 4], Read> = BTreeMap::new();
    read_lines(path, ("no times of a flow", AWAY), |run, flow| {
        all.entry(run.clone()).or_default().take(flow)
    })?;
    for (run, mut read) in all {
        let mut same = records.iter_mut().filter(|r| labels(r) == run);
        // Two points of a sweep may have one name here.
        if let (Some(record), None) = (same.next(), same.next()) {
            let end = record.config.read(tables::run::DURATION).map_or(0, Time::as_ps);
            read.rename(record);
            record.flows.hosts = read.hosts.into_iter().collect();
            (record.flows.times, record.flows.unfinished) = (read.flows, read.unfinished);
            record.flows.unfinished.iter_mut().for_each(|f| f.so_far = end.saturating_sub(f.start));
        }
    }
    Ok(())
}

/// The flows of a run, as [`read_flows`] finds them.
#[derive(Default)]
struct Read {
    hosts: IndexSet<String>,
    flows: Vec<FlowTime>,
    unfinished: Vec<Unfinished>,
    /// Names of traffic, as they came.
    names: IndexSet<String>,
}

impl Read {
    /// Takes a line behind the labels of its run; none where it is no flow. The place of a name of traffic counts from 1.
    fn take(&mut self, line: &[String]) -> Option<()> {
        let [source, to, bytes, start, time, exact, fork, _, missing, lost, waits, name, nth, ..] = line
        else {
            return None;
        };
        let [src, dst] = [source, to].map(|host| self.hosts.insert_full(host.clone()).0 as u64);
        let known = (!name.is_empty()).then(|| self.names.insert_full(name.clone()).0 as u64 + 1);
        let name = known.unwrap_or(0);
        let start = if start.is_empty() && time.is_empty() { NOT_BEGUN } else { ps(start)? };
        let (bytes, missing, nth) = (bytes.parse().ok()?, missing.parse().ok()?, nth.parse().ok()?);
        let lost = if lost.is_empty() { None } else { Some(lost.parse().ok()?) };
        match (ps(time), ps(exact), ps(fork)) {
            (Some(time), Some(exact), Some(fork)) => {
                self.flows.push(FlowTime { src, dst, nth, bytes, start, time, exact, fork, name });
            }
            (None, None, None) if time.is_empty() => {
                let (flow, waits_for) = (format!("{source}>{to}"), waits.clone());
                let none =
                    Unfinished { src, dst, nth, bytes, start, missing, lost, name, ..Unfinished::default() };
                self.unfinished.push(Unfinished { flow, waits_for, ..none });
            }
            _ => return None,
        }
        Some(())
    }

    /// Turns places among the names read into those among the names of a run.
    fn rename(&mut self, record: &RunRecord) {
        let of =
            |name: &String| record.traffic.iter().position(|t| t.name == *name).map_or(0, |i| i as u64 + 1);
        let places: Vec<u64> = std::iter::once(0).chain(self.names.iter().map(of)).collect();
        self.flows.iter_mut().for_each(|f| f.name = places[f.name as usize]);
        self.unfinished.iter_mut().for_each(|f| f.name = places[f.name as usize]);
    }
}

/// Nanoseconds with three decimals at most, as picoseconds.
pub(crate) fn ps(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = if part.len() <= 3 { format!("{part:0<3}") } else { return None };
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part.parse().ok()?)
}

/// One line a group of flows of like size: run, smallest and largest, number, how many were received whole, their mean slowdown, and
/// percentiles over all. The last column names the percentiles that are lower bounds, as they fall among unfinished flows.
pub fn slowdown_csv(records: &[RunRecord]) -> Option<String> {
    let shares = ["p50", "p95", "p99", "p99.9"];
    let sizes = ["from_bytes", "to_bytes", "flows", "finished", "mean"];
    let mut lines = Lines::new(&[&sizes[..], &shares, &["at_least"]].concat());
    for (r, g) in records.iter().flat_map(|r| r.flows.by_size.iter().map(move |g| (r, g))) {
        let counts = [g.sizes.0, g.sizes.1, g.flows as u64, g.finished as u64];
        let line = lines.add(r, counts.map(|n| n.to_string()));
        line.push(if g.finished > 0 { digits(g.mean) } else { String::new() });
        line.extend(g.slowdown.map(digits));
        let bounds = shares.iter().zip(g.at_least).filter(|b| b.1);
        line.push(bounds.map(|b| *b.0).collect::<Vec<_>>().join(" "));
    }
    lines.some()
}

/// The columns of the HPCC fork, a line a flow in order of completion: addresses of source and destination, ports, payload,
/// start, completion time and the fork's ideal time in nanoseconds. The end is that of `record.completion`; the fork's own is
/// the arrival of the last acknowledgement. Starts count from `origin` (ps). None if a host has no number in its name.
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
    let mut lines: Vec<(u64, String)> = Vec::new();
    for f in &record.flows.times {
        // The fork gives the flows of a pair ports in the order of their starts.
        let port = 10_000 + f.nth;
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

/// One line for each run, name of traffic and metric. Nothing if no `[[traffic]]` table has a name.
pub fn traffic_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&["traffic", "metric", "unit", "value", "at_least"]);
    for (r, t) in records.iter().flat_map(|r| r.traffic.iter().map(move |t| (r, t))) {
        for (id, q) in &t.metrics.0 {
            let bound = if q.at_least { "yes" } else { "" };
            lines.add(r, [t.name.clone(), id.clone(), q.unit.to_string(), digits(q.value), bound.into()]);
        }
    }
    lines.some()
}
