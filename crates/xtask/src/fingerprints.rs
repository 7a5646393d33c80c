//! `benches/fingerprints.csv`: short runs over all schemes, scenarios, buffers, host queues and topologies, with the
//! fingerprints of their events, frames and samples.
//!
//! The left half of a row describes the run, the right half its results. A fingerprint that differs shows *that* results
//! changed: `frames` are deliveries (time, flow, number), `samples` samples of congestion points, `events` PAUSE, drops and
//! feedback. It does not show that the old value was right. To add a run, write its left half, leave the right one empty, and
//! call `cargo xtask fingerprints`.

use cnsim_fabric::{Options, RunSpec};
use cnsim_scenario::Scenario;
use cnsim_units::Time;
use std::path::Path;

/// The table, from the root of the workspace.
pub const TABLE: &str = "benches/fingerprints.csv";
const HEAD: [&str; 11] = [
    "scenario", "condition", "pause", "scheme", "seed", "duration", "threads", "set", "events", "frames",
    "samples",
];
/// Number of columns that describe the run.
const ASKED: usize = 8;

/// A row: a run and its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Scenario (its id, or a file below the root), condition, PAUSE, scheme, seed, duration, numbers of threads, settings
    /// (`KEY=VALUE; ...`).
    pub asked: Vec<String>,
    /// Fingerprints of events, frames and samples, hexadecimal; empty in a row that was never run.
    pub prints: Vec<String>,
}

impl Row {
    /// The row in one line, for a reader.
    pub fn name(&self) -> String {
        let parts: Vec<&str> = self.asked.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        parts.join(", ")
    }

    /// Is the row checked on this number of threads? Threads that meet at the end of every window are slow on
    /// few cores, so most rows ask for one thread only.
    pub fn on(&self, threads: usize) -> bool {
        self.asked[6].split(' ').any(|t| t.parse() == Ok(threads))
    }

    /// The network of the row. The row's duration shortens the run; all other settings are those of the scenario.
    ///
    /// # Errors
    /// A row with an error.
    pub fn spec(&self, root: &Path) -> Result<RunSpec, String> {
        let [scenario, condition, pause, scheme, seed, duration, _, set] = &self.asked[..] else {
            return Err(format!("{TABLE}: a row of {} columns", self.asked.len()));
        };
        let wrong = |what: &str| format!("{TABLE}: {}: {what}", self.name());
        let mut sets = Vec::new();
        for pair in set.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| wrong("settings are KEY=VALUE; ..."))?;
            sets.push((key.trim().to_string(), value.trim().to_string()));
        }
        let problems = |p: Vec<cnsim_problem::Problem>| wrong(&cnsim_problem::told(p));
        let file = root.join(scenario).display().to_string();
        let scenario = if scenario.ends_with(".toml") { &file } else { scenario };
        let loaded =
            Scenario::load_in(&cnsim_schemes::registry(), scenario, &sets, &[scheme]).map_err(problems)?;
        let case = loaded
            .case_named(condition, Some(pause), Some(scheme))
            .ok_or_else(|| wrong("the condition matches no template of the scenario"))?;
        let ready = loaded.ready(&case).map_err(problems)?;
        let seed = seed.parse().map_err(|_| wrong("the seed is no number"))?;
        let mut spec = ready.settings.spec(&ready.built, seed, false);
        let duration: Time = duration.parse().map_err(|_| wrong("the duration is no time"))?;
        spec.duration = spec.duration.min(duration);
        Ok(spec)
    }

    /// Runs the row on a number of threads: its fingerprints of events, frames and samples.
    ///
    /// # Errors
    /// A row with an error, or how the run failed.
    pub fn run(&self, root: &Path, threads: usize) -> Result<Vec<String>, String> {
        let options = Options { threads, ..Options::default() };
        let out =
            cnsim_fabric::run(&self.spec(root)?, &options).map_err(|e| format!("{}: {e}", self.name()))?;
        let f = out.fingerprint;
        Ok([f.events, f.frames, f.samples].iter().map(|p| format!("{p:016x}")).collect())
    }

    /// Differences between the row and the present results; empty if there is none.
    pub fn moved(&self, now: &[String]) -> Vec<String> {
        let pairs = HEAD[ASKED..].iter().zip(self.prints.iter().zip(now));
        pairs
            .filter(|(_, (was, is))| was != is)
            .map(|(of, (was, is))| format!("{of} {was} -> {is}"))
            .collect()
    }
}

/// Reads the table.
///
/// # Errors
/// A file that cannot be read, or is not this table.
pub fn read(root: &Path) -> Result<Vec<Row>, String> {
    let wrong = |e: csv::Error| format!("{TABLE}: {e}");
    let mut table = csv::Reader::from_path(root.join(TABLE)).map_err(wrong)?;
    if table.headers().map_err(wrong)? != HEAD[..] {
        return Err(format!("{TABLE}: its columns must be {}", HEAD.join(",")));
    }
    let mut rows = Vec::new();
    for record in table.records() {
        let cells: Vec<String> = record.map_err(wrong)?.iter().map(str::to_owned).collect();
        let (asked, prints) = cells.split_at(ASKED);
        rows.push(Row { asked: asked.to_vec(), prints: prints.to_vec() });
    }
    Ok(rows)
}

/// Runs all rows on one thread and writes the table anew. Returns a line for each row that changed, with the change.
///
/// # Errors
/// A table that cannot be read or written, or rows that cannot be run: all are named, and the table stays as it was.
pub fn write(root: &Path) -> Result<Vec<String>, String> {
    let mut rows = read(root)?;
    let (mut moved, mut failed) = (Vec::new(), Vec::new());
    for row in &mut rows {
        let now = match row.run(root, 1) {
            Ok(now) => now,
            Err(error) => {
                failed.push(error);
                continue;
            }
        };
        let how = row.moved(&now);
        if !how.is_empty() {
            moved.push(format!("{}: {}", row.name(), how.join(", ")));
        }
        row.prints = now;
    }
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    let mut out = csv::Writer::from_writer(Vec::new());
    let wrong = |e: csv::Error| format!("{TABLE}: {e}");
    out.write_record(HEAD).map_err(wrong)?;
    for row in &rows {
        out.write_record(row.asked.iter().chain(&row.prints)).map_err(wrong)?;
    }
    let text = out.into_inner().map_err(|e| format!("{TABLE}: {e}"))?;
    std::fs::write(root.join(TABLE), text).map_err(|e| format!("{TABLE}: {e}"))?;
    Ok(moved)
}
