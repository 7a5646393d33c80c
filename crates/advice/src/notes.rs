//! Notes on an experiment that may mislead, each with its figure and a remedy: before its runs and after them.
//!
//! All that they name is allowed, and may be meant. Published studies are as their authors made them: they have no notes.

mod class;
mod event;
mod group;
mod matrix;
mod record;
mod rounded;
mod run;
mod scheme;
mod switch;
mod transport;
mod watchdog;
mod workload;

use cnsim_runs::points::{Point, points};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::{Ready, embedded_of};
use indexmap::IndexMap;
pub use run::few_seeds;
pub use workload::two_frames;

/// How a note is said, and of what.
enum Say {
    /// Of the settings of a case, published ones, too.
    Settings(fn(&Ready) -> Vec<String>),
    /// Of a case before it runs.
    Before(fn(&Ready) -> Option<String>),
    /// Of the runs of a case.
    Case(fn(&[&RunRecord]) -> Option<String>),
    /// Of all cases.
    Cases(fn(&[Point<'_>]) -> Vec<String>),
}
use Say::{Before, Case, Cases, Settings};

/// All notes, in the order in which they are said. Each stands in the file of the table whose keys it names.
const NOTES: &[Say] = &[
    Settings(|ready| ready.misfit.iter().cloned().collect()),
    // A scheme that changes rates parts the phases.
    Settings(|ready| ready.settings.locked().filter(|_| ready.scheme == "none").into_iter().collect()),
    Settings(transport::doubts),
    Settings(|ready| ready.settings.shortages(&ready.built)),
    Settings(watchdog::scaled_down),
    Before(class::silent),
    Before(workload::overload),
    Before(scheme::late),
    Before(scheme::floor),
    Before(record::even),
    Before(event::in_vain),
    Before(group::idle_scheme),
    Before(record::coarse),
    Before(workload::tiny),
    Before(scheme::unreachable),
    Before(transport::all_again),
    Cases(switch::losses),
    Cases(record::idle_cases),
    Cases(scheme::acted),
    Case(workload::empty),
    Case(record::cool),
    Case(run::wide),
    Case(transport::overtaken),
    Case(transport::too_early),
    Cases(matrix::flat),
];

/// Notes on settings that are valid but hardly intended, a sentence each: defaults of the scheme that do not fit the links, phases
/// that lock, memory too small for PAUSE, times that are scaled down. Mostly none. Published studies have them, too.
pub fn of_settings(ready: &Ready) -> Vec<String> {
    NOTES.iter().flat_map(|say| if let Settings(say) = say { say(ready) } else { Vec::new() }).collect()
}

/// Notes on a case before it runs.
pub fn before(ready: &Ready) -> Vec<String> {
    if of_others(ready.config.text("study").unwrap_or_default()) {
        return Vec::new();
    }
    NOTES.iter().filter_map(|say| if let Before(say) = say { say(ready) } else { None }).collect()
}

/// Notes on finished runs of one or more cases; each note once, with the first case that has it.
pub fn after<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<String> {
    let cases = points(records.into_iter().filter(|r| !of_others(&r.case.study)));
    let said = |say: &Say| match say {
        Case(say) => once(&cases, say, &|_| true).into_iter().collect(),
        Cases(say) => say(&cases),
        Settings(_) | Before(_) => Vec::new(),
    };
    NOTES.iter().flat_map(said).collect()
}

/// A note on the first of the cases asked for that has it, with the number of the others.
fn once(
    cases: &[Point<'_>],
    say: &dyn Fn(&[&RunRecord]) -> Option<String>,
    asked: &dyn Fn(&Point<'_>) -> bool,
) -> Option<String> {
    // A network that stands still has one remedy, which is told apart.
    let moves = |c: &&Point<'_>| c.runs.iter().all(|r| r.frozen.is_none());
    let asked = cases.iter().filter(moves).filter(|c| asked(c));
    let mut found = asked.filter_map(|case| Some((case, say(&case.runs)?)));
    let (first, text) = found.next()?;
    let more = match found.count() {
        0 => String::new(),
        1 => " (and 1 more case)".into(),
        n => format!(" (and {n} more cases)"),
    };
    Some(format!("{}{more}: {text}", first.name()))
}

/// Most cases that froze and are named one by one.
const FROZEN: usize = 8;

/// A line for each case whose network stood still at the end.
pub fn frozen<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<String> {
    let mut cases: IndexMap<&CaseId, (&RunRecord, Vec<u64>)> = IndexMap::new();
    for r in records.into_iter().filter(|r| r.frozen.is_some()) {
        cases.entry(&r.case).or_insert((r, Vec::new())).1.push(r.seed);
    }
    let mut lines: Vec<String> = cases.values().filter_map(|(r, seeds)| frozen_case(r, seeds)).collect();
    let hidden = lines.len().saturating_sub(FROZEN);
    if hidden > 0 {
        lines.truncate(FROZEN);
        lines.push(match hidden {
            1 => "1 more case froze; results.json names it".into(),
            n => format!("{n} more cases froze; results.json names them"),
        });
    }
    lines
}

fn frozen_case(r: &RunRecord, seeds: &[u64]) -> Option<String> {
    let (case, text) = (&r.case, r.frozen.as_ref()?.text());
    Some(match seeds {
        [one] => format!("{case}, seed {one}: {text}"),
        many => format!("{case}, {} seeds; seed {}: {text}", many.len(), r.seed),
    })
}

/// Is it a published study, whose scenarios come with cnsim?
pub fn of_others(study: &str) -> bool {
    embedded_of(study).next().is_some()
}

/// Sum of a metric over the runs of a case; none if a run lacks it.
fn sum(case: &[&RunRecord], metric: impl AsRef<str>) -> Option<f64> {
    case.iter().map(|r| r.metrics.get(metric.as_ref())).sum()
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
