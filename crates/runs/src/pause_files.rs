//! `pauses.csv`: a line for each XOFF of each run, written and read.

use crate::files::{AGAIN, AWAY, Lines, read_lines};
use crate::flow_files::{ns, ps};
use crate::record::RunRecord;
use cnsim_measure::pauses::{Cause, Held, Stood, Stop, Stops};
use indexmap::IndexSet;
use std::path::Path;

/// One line for each XOFF and transmitter: run, number, XOFFs of the run that are not kept, transmitter, switch that decided, class
/// or `all`; when it was decided, from when and until when the transmitter stood, in nanoseconds, and whether that was the end of the
/// run; the outputs for which bytes waited that called for it, each with these bytes and what held it back: `slow`, `closed`, or the
/// number of an XOFF; or the NIC or port with a fault, and `said`. None if no run kept its XOFFs.
pub fn pauses_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&[
        "xoff", "left_out", "transmitter", "switch", "class", "decided_ns", "from_ns", "until_ns", "to_end",
        "causes",
    ]);
    for r in records {
        let Some(stops) = &r.over_time.pauses else { continue };
        for (n, x) in stops.xoffs.iter().enumerate() {
            let which = [n.to_string(), stops.left_out.to_string(), stops.name(x.stopped).into()];
            let line = lines.add(r, which);
            line.push(stops.switches.get(x.by as usize).cloned().unwrap_or_default());
            line.push(x.class.map_or_else(|| "all".into(), |class| class.to_string()));
            line.extend([x.decided, x.from, x.until].map(ns));
            line.push(if x.to_end { "yes" } else { "" }.into());
            let cause = |c: &Cause| {
                let held = match c.held {
                    Held::Slow => "slow".into(),
                    Held::Closed => "closed".into(),
                    Held::Said => "said".into(),
                    Held::Xoff(by) => by.to_string(),
                };
                format!("{} {} {held}", stops.name(c.output), c.bytes)
            };
            line.push(x.causes.iter().map(cause).collect::<Vec<_>>().join("; "));
        }
    }
    records.iter().any(|r| r.over_time.pauses.is_some()).then(|| lines.text())
}

/// One line for each finite flow that stood, the longest first: run, flow, payload, start, time from start to end, how much of that a
/// transmitter of its way stood, ns; which of these stood longest, the root for which it stood longest, whether it is a victim, which
/// does not go by that root; the transmitters by which its frames may go; and its number among the flows of its two hosts. None if no
/// run has such flows.
pub fn victims_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&[
        "flow", "bytes", "start_ns", "time_ns", "stood_ns", "at", "root", "victim", "way", "number",
    ]);
    for r in records {
        let Some(stops) = &r.over_time.pauses else { continue };
        for f in &stops.flows {
            let line = lines.add(r, [f.flow.clone(), f.bytes.to_string()]);
            line.extend([f.start, f.time, f.stood].map(ns));
            line.extend([stops.name(f.at).into(), stops.name(f.root).into()]);
            line.push(if f.victim { "yes" } else { "" }.into());
            line.push(f.way.iter().map(|at| stops.name(*at)).collect::<Vec<_>>().join("; "));
            line.push(f.nth.to_string());
        }
    }
    lines.some()
}

/// A run with its XOFFs, and the names of transmitters and of switches, as a file has them.
type Read = ([String; 4], Stops, IndexSet<String>, IndexSet<String>);

/// Reads a file of [`pauses_csv`]: by run (condition, PAUSE, scheme, seed) its XOFFs.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_pauses(path: &Path) -> Result<Vec<([String; 4], Stops)>, String> {
    let mut all: Vec<Read> = Vec::new();
    read_lines(path, ("no XOFF", AGAIN), |run, line| read_line(run, line, &mut all))?;
    let whole = |(run, stops, names, switches): Read| {
        (run, Stops { names: names.into_iter().collect(), switches: switches.into_iter().collect(), ..stops })
    };
    Ok(all.into_iter().map(whole).collect())
}

/// Reads a file of [`victims_csv`] into the XOFFs of its runs, where these have different names.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_victims(path: &Path, runs: &mut [([String; 4], Stops)]) -> Result<(), String> {
    read_lines(path, ("no flow that stood", AWAY), |run, line| {
        let mut named = runs.iter_mut().filter(|r| r.0 == *run);
        if let (Some((_, stops)), None) = (named.next(), named.next()) {
            stops.flows.push(read_flow(line, &mut stops.names)?);
        }
        Some(())
    })
}

/// Reads a flow; none where it is no such flow.
fn read_flow(line: &[String], names: &mut Vec<String>) -> Option<Stood> {
    let [flow, bytes, start, time, stood, at, root, victim, way, nth, ..] = line else { return None };
    let mut number = |name: &str| {
        let known = names.iter().position(|n| n == name);
        known.unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        }) as u32
    };
    Some(Stood {
        flow: flow.clone(),
        nth: nth.parse().ok()?,
        bytes: bytes.parse().ok()?,
        start: ps(start)?,
        time: ps(time)?,
        stood: ps(stood)?,
        way: way.split("; ").filter(|n| !n.is_empty()).map(&mut number).collect(),
        at: number(at),
        root: number(root),
        victim: victim == "yes",
    })
}

/// Reads a line; none where it is no XOFF.
fn read_line(run: &[String; 4], line: &[String], all: &mut Vec<Read>) -> Option<()> {
    let [xoff, left_out, stopped, by, class, decided, from, until, end, causes, ..] = line else {
        return None;
    };
    let number: usize = xoff.parse().ok()?;
    // Two points of a sweep may have one name here.
    if number == 0 || all.last().is_none_or(|last| last.0 != *run) {
        all.push((run.clone(), Stops::default(), IndexSet::new(), IndexSet::new()));
    }
    let (_, stops, names, switches) = all.last_mut()?;
    let number_of = |names: &mut IndexSet<String>, name: &str| names.insert_full(name.into()).0 as u32;
    let mut read = Vec::new();
    for cause in causes.split("; ").filter(|c| !c.is_empty()) {
        let mut words = cause.rsplitn(3, ' ');
        let held = match words.next()? {
            "slow" => Held::Slow,
            "closed" => Held::Closed,
            "said" => Held::Said,
            number => Held::Xoff(number.parse().ok()?),
        };
        // A cause comes before what it causes.
        if matches!(held, Held::Xoff(by) if by as usize >= number) {
            return None;
        }
        let bytes = words.next()?.parse().ok().filter(|bytes| *bytes < 1 << 40)?;
        read.push(Cause { bytes, held, output: number_of(names, words.next()?) });
    }
    let (from, until) = (ps(from)?, ps(until)?);
    stops.left_out = left_out.parse().ok()?;
    stops.xoffs.push(Stop {
        stopped: number_of(names, stopped),
        by: number_of(switches, by),
        class: if class == "all" { None } else { Some(class.parse().ok()?) },
        decided: ps(decided)?,
        from,
        until,
        to_end: end == "yes",
        causes: read,
    });
    let causes = stops.xoffs.last().is_some_and(|x| !x.causes.is_empty());
    (causes && from <= until && stops.xoffs.len() == number + 1).then_some(())
}
