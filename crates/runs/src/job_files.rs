//! Results of collectives in files: `collectives.csv` and `critical_path.csv`.

use crate::files::{AGAIN, LARGEST, Lines, labels, read_csv};
use crate::flow_files::{ns, ps};
use crate::record::RunRecord;
use cnsim_measure::jobs::{JobFacts, Part, Wait};
use cnsim_measure::quantity::digits;
use cnsim_problem::read_file;
use std::path::Path;

/// One line for each run, collective and round: its time is that of the slowest rank. A round that is not done has no time.
pub fn collectives_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&[
        "traffic", "kind", "algorithm", "ranks", "bytes", "round", "begin_ns", "time_ns", "algorithm_GB/s",
        "bus_GB/s", "straggler_ns", "last_rank", "last_host", "last_transfer", "waits_for",
    ]);
    for (r, job) in records.iter().flat_map(|r| r.jobs.iter().map(move |job| (r, job))) {
        for (n, round) in job.rounds.iter().enumerate() {
            let line = lines.add(r, [&job.name, &job.kind, &job.algorithm].map(String::clone));
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
        }
    }
    lines.some()
}

/// One line for each part of a collective's critical path, from its begin on. The times of the parts add up to the job's. `alone` is the
/// time that a transfer takes on an empty network, `waited` the rest: `answer` until it was acknowledged, and at each port of `waits` in its
/// queue and in XOFF. `of` is what the part belongs to, where the job says that.
pub fn critical_path_csv(records: &[RunRecord]) -> Option<String> {
    let mut lines = Lines::new(&[
        "traffic", "part", "what", "place", "bytes", "from_ns", "time_ns", "alone_ns", "waited_ns",
        "answer_ns", "waits_ns", "of",
    ]);
    for (r, job) in records.iter().flat_map(|r| r.jobs.iter().map(move |job| (r, job))) {
        for (n, part) in job.path.iter().enumerate() {
            let which = [job.name.clone(), n.to_string(), part.what.clone(), part.place.clone()];
            let line = lines.add(r, which);
            line.extend([part.bytes.to_string(), ns(part.from), ns(part.time)]);
            let of_transfer = |time: u64| if part.what == "transfer" { ns(time) } else { String::new() };
            line.extend([part.alone, part.time - part.alone, part.answer].map(of_transfer));
            let wait = |w: &Wait| format!("{} {} + {} XOFF", w.port, ns(w.queued), ns(w.xoff));
            line.push(part.waits.iter().map(wait).collect::<Vec<_>>().join("; "));
            line.push(part.of.clone());
        }
    }
    lines.some()
}

/// Reads a file of [`critical_path_csv`] into the collectives of its runs: a path is of the run and collective of its name whose time is the
/// sum of its parts. Points of a sweep have runs of one name.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub fn read_paths(path: &Path, records: &mut [RunRecord]) -> Result<(), String> {
    let help = AGAIN;
    let text = read_file(path, LARGEST).map_err(|e| format!("{}: {e}\n  help: {help}", path.display()))?;
    let wrong = |line: usize, reason: &str| format!("{}:{line}: {reason}\n  help: {help}", path.display());
    let lines = read_csv(&text);
    let mut first = 0;
    while first < lines.len() {
        let same = |line: &&Vec<String>| line[..5] == lines[first][..5] && line[5] != "0";
        let parts = 1 + lines[first + 1..].iter().take_while(same).count();
        let mut whole = Vec::with_capacity(parts);
        for (n, line) in lines[first..first + parts].iter().enumerate() {
            let part = read_part(line).filter(|part| !part.what.is_empty());
            whole.push(part.ok_or_else(|| wrong(first + n + 2, "no part of a collective"))?);
        }
        let sum = whole.iter().fold(0_u64, |sum, part| sum.saturating_add(part.time));
        let named = records.iter_mut().filter(|r| labels(r) == lines[first][..4]);
        let mine =
            |job: &&mut JobFacts| job.name == lines[first][4] && job.time == Some(sum) && job.path.is_empty();
        let Some(job) = named.flat_map(|r| &mut r.jobs).find(mine) else {
            let reason = "the parts that begin here are of no collective of these results, or do not add up to its time";
            return Err(wrong(first + 2, reason));
        };
        job.path = whole;
        first += parts;
    }
    Ok(())
}

/// A line of such a file; none if it is none.
fn read_part(line: &[String]) -> Option<Part> {
    let [_, _, _, _, _, _, what, place, bytes, from, time, alone, _, answer, waits, of, ..] = line else {
        return None;
    };
    let or_none = |text: &str| if text.is_empty() { Some(0) } else { ps(text) };
    let wait = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let [port, queued, "+", xoff, "XOFF"] = words[..] else { return None };
        Some(Wait { port: port.into(), queued: ps(queued)?, xoff: ps(xoff)? })
    };
    Some(Part {
        what: what.clone(),
        place: place.clone(),
        of: of.clone(),
        bytes: bytes.parse().ok()?,
        from: ps(from)?,
        time: ps(time)?,
        alone: or_none(alone)?,
        answer: or_none(answer)?,
        waits: waits.split("; ").filter(|w| !w.is_empty()).map(wait).collect::<Option<_>>()?,
    })
}
