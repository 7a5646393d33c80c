//! Results of collectives in files: `collectives.csv` and `critical_path.csv`.

use crate::files::table;
use crate::flow_files::{labels, ns};
use crate::record::RunRecord;
use cnsim_measure::jobs::Wait;
use cnsim_measure::quantity::digits;

/// One line for each run, collective and round: its time is that of the slowest rank. A round that is not done has no time.
pub fn collectives_csv(records: &[RunRecord]) -> Option<String> {
    let header = [
        "condition", "pause", "scheme", "seed", "traffic", "kind", "algorithm", "ranks", "bytes", "round",
        "begin_ns", "time_ns", "algorithm_GB/s", "bus_GB/s", "straggler_ns", "last_rank", "last_host",
        "last_transfer", "waits_for",
    ];
    let mut lines = Vec::new();
    for (r, job) in records.iter().flat_map(|r| r.jobs.iter().map(move |job| (r, job))) {
        for (n, round) in job.rounds.iter().enumerate() {
            let mut line = labels(r);
            line.extend([&job.name, &job.kind, &job.algorithm].map(String::clone));
            line.extend([job.ranks.len().to_string(), job.bytes.to_string(), n.to_string(), ns(round.begin)]);
            let done = round.time.is_some();
            let if_done = |text: String| if done { text } else { String::new() };
            line.push(round.time.map_or_else(String::new, ns));
            line.extend(
                [round.algorithm_bandwidth, round.bus_bandwidth].map(|b| b.map_or_else(String::new, digits)),
            );
            line.extend([if_done(ns(round.straggler)), if_done(round.last_rank.to_string())]);
            line.push(if_done(job.ranks.get(round.last_rank as usize).cloned().unwrap_or_default()));
            line.push(round.last_transfer.clone());
            line.push(job.waits_for.clone().filter(|_| !done).unwrap_or_default());
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| table(&header.map(String::from), &lines))
}

/// One line for each part of a collective's critical path, from its begin on. The times of the parts add up to the job's. `alone` is the
/// time that a transfer takes on an empty network, `waited` the rest: `answer` until it was acknowledged, and at each port of `waits` in its
/// queue and in XOFF.
pub fn critical_path_csv(records: &[RunRecord]) -> Option<String> {
    let header = [
        "condition", "pause", "scheme", "seed", "traffic", "part", "what", "place", "bytes", "from_ns",
        "time_ns", "alone_ns", "waited_ns", "answer_ns", "waits_ns",
    ];
    let mut lines = Vec::new();
    for (r, job) in records.iter().flat_map(|r| r.jobs.iter().map(move |job| (r, job))) {
        for (n, part) in job.path.iter().enumerate() {
            let mut line = labels(r);
            line.extend([job.name.clone(), n.to_string(), part.what.clone(), part.place.clone()]);
            line.extend([part.bytes.to_string(), ns(part.from), ns(part.time)]);
            let of_transfer = |time: u64| if part.what == "transfer" { ns(time) } else { String::new() };
            line.extend([part.alone, part.time - part.alone, part.answer].map(of_transfer));
            let wait = |w: &Wait| format!("{} {} + {} XOFF", w.port, ns(w.queued), ns(w.xoff));
            line.push(part.waits.iter().map(wait).collect::<Vec<_>>().join("; "));
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| table(&header.map(String::from), &lines))
}
