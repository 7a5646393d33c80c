//! `flows.csv`: a line for each complete finite flow, with the parts of its time, written and read.

use crate::files::{read_csv, table};
use crate::flow_files::{labels, ns, ps};
use crate::record::RunRecord;
use crate::results::LARGEST;
use cnsim_measure::spent::{AtPort, FlowParts, PARTS, Spent};
use cnsim_problem::read_file;
use std::path::Path;

/// One line for each complete finite flow, by start: run, flow, its number among the flows of its two hosts, name of its traffic,
/// payload, start, completion time (`record.completion`) and that alone in the network; then its parts, which add up to the time, in
/// nanoseconds. The last column but one has the ports on the way of its last frame, each with the times that the frame waited in the
/// queue and in XOFF, was sent, and went over the link. The last is the number of complete flows of the run. None if no run recorded
/// where the time of its flows went.
pub fn flows_csv(records: &[RunRecord]) -> Option<String> {
    let first =
        ["condition", "pause", "scheme", "seed", "flow", "number", "traffic", "bytes"].map(String::from);
    let times = ["start_ns", "time_ns", "alone_ns"].map(String::from);
    let parts = PARTS.map(|(part, _)| format!("{part}_ns"));
    let last = ["ports", "complete"].map(String::from);
    let header: Vec<String> = [&first[..], &times, &parts, &last].concat();
    let mut lines = Vec::new();
    for r in records {
        let Some(spent) = &r.spent else { continue };
        for f in &spent.flows {
            let mut line = labels(r);
            line.extend([f.flow.clone(), f.nth.to_string(), f.traffic.clone(), f.bytes.to_string()]);
            line.extend([f.start, f.time, f.alone].map(ns));
            line.extend(f.by_part().map(ns));
            let port = |p: &AtPort| {
                let times = [p.queued, p.xoff, p.sending, p.link].map(ns);
                format!("{} {}", spent.port(p.port), times.join(" "))
            };
            line.push(f.ports.iter().map(port).collect::<Vec<_>>().join("; "));
            line.push(spent.complete.to_string());
            lines.push(line);
        }
    }
    let kept = records.iter().any(|r| r.spent.is_some());
    kept.then(|| table(&header, &lines))
}

/// Reads a file of [`flows_csv`]: by run (condition, PAUSE, scheme, seed) where the time of its flows went.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_spent(path: &Path) -> Result<Vec<([String; 4], Spent)>, String> {
    let help = "take the file as cnsim wrote it, or run the scenario again";
    let text = read_file(path, LARGEST).map_err(|e| format!("{}: {e}\n  help: {help}", path.display()))?;
    let mut all: Vec<([String; 4], Spent)> = Vec::new();
    for (n, line) in read_csv(&text).into_iter().enumerate() {
        let wrong = || format!("{}:{}: no parts of a flow\n  help: {help}", path.display(), n + 2);
        let run: [String; 4] = line.get(..4).and_then(|l| l.to_vec().try_into().ok()).ok_or_else(wrong)?;
        if all.last().is_none_or(|last| last.0 != run) {
            all.push((run, Spent::default()));
        }
        let Some((_, spent)) = all.last_mut() else { continue };
        let flow = read_flow(&line[4..], spent).ok_or_else(wrong)?;
        let [.., complete] = &line[..] else { return Err(wrong()) };
        spent.complete = complete.parse().map_err(|_| wrong())?;
        spent.flows.push(flow);
    }
    Ok(all)
}

/// Reads a flow; none where it is no such flow, or its parts do not add up.
fn read_flow(line: &[String], spent: &mut Spent) -> Option<FlowParts> {
    let [flow, nth, traffic, bytes, rest @ ..] = line else { return None };
    let (times, rest) = rest.split_at_checked(3 + PARTS.len())?;
    let times: Vec<u64> = times.iter().map(|t| ps(t)).collect::<Option<_>>()?;
    let [ports, _] = rest else { return None };
    let mut at = Vec::new();
    for port in ports.split("; ") {
        let [name, times @ ..] = &port.split(' ').collect::<Vec<_>>()[..] else { return None };
        let times: Vec<u64> = times.iter().map(|t| ps(t)).collect::<Option<_>>()?;
        let known = spent.ports.iter().position(|known| known == name);
        let port = known.unwrap_or_else(|| {
            spent.ports.push((*name).into());
            spent.ports.len() - 1
        }) as u64;
        let [queued, xoff, sending, link] = times[..] else { return None };
        at.push(AtPort { port, queued, xoff, sending, link });
    }
    let parts = FlowParts {
        flow: flow.clone(),
        nth: nth.parse().ok()?,
        bytes: bytes.parse().ok()?,
        start: times[0],
        time: times[1],
        alone: times[2],
        traffic: traffic.clone(),
        source: times[3..10].try_into().ok()?,
        ports: at,
        answer: *times.last()?,
    };
    (parts.by_part().as_slice() == &times[3..] && times[3..].iter().sum::<u64>() == parts.time)
        .then_some(parts)
}
