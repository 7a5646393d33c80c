//! `flows.csv`: a line for each complete finite flow, with the parts of its time, written and read.

use crate::files::{AGAIN, Lines, read_lines};
use crate::flow_files::{ns, ps};
use crate::record::RunRecord;
use cnsim_measure::spent::{Ahead, AtPort, Cut, Cuts, FlowParts, PARTS, Spent};
use std::path::Path;

/// One line for each complete finite flow, by start: run, flow, its number among the flows of its two hosts, name of its traffic,
/// and of its class where there are several, payload, start, completion time (`record.completion`) and that alone in the network; then
/// its parts, which add up to the time, in nanoseconds. `ports` has the ports on the way of its last frame, each with the times that the
/// frame waited in the queue and in XOFF, was sent, and went over the link. `cut_by` has what cut its rate or window: cause, port (`-`:
/// not known), number, and cost in nanoseconds. `cuts` has those that cost most: cause, port, moment, rate in bit/s and window in bytes
/// from then on, and cost. `ahead` has behind whom it waited, of flows that
/// `record.flow_events` names: port, who ([`Ahead`]), and how long. The last column is the number of complete flows of the run. None if no run recorded where the time of its
/// flows went.
pub fn flows_csv(records: &[RunRecord]) -> Option<String> {
    let first = ["flow", "number", "traffic", "class", "bytes", "start_ns", "time_ns", "alone_ns"];
    let parts = PARTS.map(|(part, _)| format!("{part}_ns"));
    let last = ["ports", "cut_by", "cuts", "ahead", "complete"];
    let mut lines = Lines::new(&[&first[..], &parts.each_ref().map(String::as_str), &last].concat());
    for r in records {
        let Some(spent) = &r.flows.spent else { continue };
        for f in &spent.flows {
            let line = lines.add(r, [f.flow.clone(), f.nth.to_string(), f.traffic.clone(), f.class.clone()]);
            line.push(f.bytes.to_string());
            line.extend([f.start, f.time, f.alone].map(ns));
            line.extend(f.by_part().map(ns));
            let port = |p: &AtPort| {
                let times = [p.queued, p.xoff, p.sending, p.link].map(ns);
                format!("{} {}", spent.port(p.port), times.join(" "))
            };
            line.push(f.ports.iter().map(port).collect::<Vec<_>>().join("; "));
            let at = |port: Option<u64>| port.map_or("-", |port| spent.port(port));
            let sum = |c: &Cuts| format!("{} {} {} {}", c.by, at(c.port), c.count, ns(c.cost));
            line.push(f.by_cause.iter().map(sum).collect::<Vec<_>>().join("; "));
            let cut = |c: &Cut| {
                let window = c.window.map_or_else(|| "-".into(), |bytes| bytes.to_string());
                format!("{} {} {} {} {window} {}", c.by, at(c.port), ns(c.at), c.rate, ns(c.cost))
            };
            line.push(f.cuts.iter().map(cut).collect::<Vec<_>>().join("; "));
            let before = |a: &Ahead| format!("{} {} {}", spent.port(a.port), a.who, ns(a.time));
            line.push(f.ahead.iter().map(before).collect::<Vec<_>>().join("; "));
            line.push(spent.complete.to_string());
        }
    }
    records.iter().any(|r| r.flows.spent.is_some()).then(|| lines.text())
}

/// One line for each event of the flows that `record.flow_events` names: run, flow, number among those of its hosts (empty: all of
/// them), time, cause, port of the queue that caused it, and how the flow might send from then on; the round trip that an
/// acknowledgement ended; and from when on events of the run are left out. None if no run names such flows.
pub fn flow_events_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&[
        "flow", "number", "time_ns", "cause", "port", "rate_bps", "window_bytes", "in_flight_bytes",
        "rtt_ns", "left_out_from_ns",
    ]);
    let some = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    for (r, events) in records.iter().filter_map(|r| Some((r, r.flows.events.as_ref()?))) {
        for e in &events.list {
            let flow = events.flows.get(e.flow as usize).cloned().unwrap_or_default();
            let line = lines.add(r, [flow, some(e.nth), ns(e.at), e.by.clone()]);
            line.extend([e.port.clone().unwrap_or_default(), e.rate.to_string()]);
            line.extend([some(e.window), some(e.in_flight)]);
            line.extend([e.rtt, events.cut].map(|time| time.map_or_else(String::new, ns)));
        }
    }
    records.iter().any(|r| r.flows.events.is_some()).then(|| lines.text())
}

/// Reads a file of [`flows_csv`]: by run (condition, PAUSE, scheme, seed) where the time of its flows went.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_spent(path: &Path) -> Result<Vec<([String; 4], Spent)>, String> {
    let mut all: Vec<([String; 4], Spent)> = Vec::new();
    read_lines(path, ("no parts of a flow", AGAIN), |run, line| {
        if all.last().is_none_or(|last| last.0 != *run) {
            all.push((run.clone(), Spent::default()));
        }
        let (_, spent) = all.last_mut()?;
        let flow = read_flow(line, spent)?;
        spent.complete = line.last()?.parse().ok()?;
        spent.flows.push(flow);
        Some(())
    })?;
    Ok(all)
}

/// Reads a flow; none where it is no such flow, or its parts do not add up.
fn read_flow(line: &[String], spent: &mut Spent) -> Option<FlowParts> {
    let [flow, nth, traffic, class, bytes, rest @ ..] = line else { return None };
    let (times, rest) = rest.split_at_checked(3 + PARTS.len())?;
    let times: Vec<u64> = times.iter().map(|t| ps(t)).collect::<Option<_>>()?;
    let [ports, sums, cuts, ahead, _] = rest else { return None };
    let mut place = |name: &str| {
        let known = spent.ports.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            spent.ports.push(name.into());
            spent.ports.len() - 1
        }) as u64
    };
    let mut at = Vec::new();
    for port in ports.split("; ") {
        let [name, times @ ..] = &port.split(' ').collect::<Vec<_>>()[..] else { return None };
        let times: Vec<u64> = times.iter().map(|t| ps(t)).collect::<Option<_>>()?;
        let [queued, xoff, sending, link] = times[..] else { return None };
        at.push(AtPort { port: place(name), queued, xoff, sending, link });
    }
    let list = |text: &str| -> Vec<Vec<String>> {
        let all = text.split("; ").filter(|one| !one.is_empty());
        all.map(|one| one.split(' ').map(String::from).collect()).collect()
    };
    let before = |words: Vec<String>| {
        let [port, who, time] = &words[..] else { return None };
        Some(Ahead { port: place(port), who: who.clone(), time: ps(time)? })
    };
    let ahead = list(ahead).into_iter().map(before).collect::<Option<_>>()?;
    let mut known = |name: &str| (name != "-").then(|| place(name));
    let sum = |words: Vec<String>| {
        let [by, port, count, cost] = &words[..] else { return None };
        Some(Cuts { by: by.clone(), port: known(port), count: count.parse().ok()?, cost: ps(cost)? })
    };
    let by_cause = list(sums).into_iter().map(sum).collect::<Option<_>>()?;
    let cut = |words: Vec<String>| {
        let [by, port, moment, rate, window, cost] = &words[..] else { return None };
        let window = if window == "-" { None } else { Some(window.parse().ok()?) };
        let (port, rate) = (known(port), rate.parse().ok()?);
        Some(Cut { by: by.clone(), port, at: ps(moment)?, rate, window, cost: ps(cost)? })
    };
    let cuts = list(cuts).into_iter().map(cut).collect::<Option<_>>()?;
    let parts = FlowParts {
        flow: flow.clone(),
        nth: nth.parse().ok()?,
        bytes: bytes.parse().ok()?,
        start: times[0],
        time: times[1],
        alone: times[2],
        traffic: traffic.clone(),
        class: class.clone(),
        source: times[3..10].try_into().ok()?,
        ports: at,
        answer: *times.last()?,
        cuts,
        by_cause,
        ahead,
    };
    (parts.by_part().as_slice() == &times[3..] && times[3..].iter().sum::<u64>() == parts.time)
        .then_some(parts)
}
