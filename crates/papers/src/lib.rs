//! The studies: a file for each, with its citation, its claims as predicates, and the assumption suspected behind a miss; published
//! numbers, verdicts, and the search over assumptions.
//!
//! ```
//! use cnsim_papers::{find, published};
//!
//! let study = find("b07").unwrap();
//! assert!(study.claims.iter().all(|c| c.study() == "B07"));
//! let printed = published::parse("published.csv", published::EMBEDDED).unwrap();
//! let paused = printed.iter().find(|p| p.case.study == study.id && p.metric == "time_paused").unwrap();
//! assert_eq!(paused.unit, "%");
//! ```

pub mod assume;
mod b07;
#[cfg(test)]
mod both_ways;
mod c07;
pub mod cells;
pub mod claims;
pub mod files;
mod m08;
mod modern;
mod next;
pub mod own;
pub mod per_study;
pub mod published;
mod r07;
#[cfg(test)]
mod synthetic;
mod t11;
pub mod verdict;
mod z07;

use crate::claims::{Claim, Finding};
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// A study: citation, question and claims.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// The study's id, such as `B07`.
    pub id: &'static str,
    /// Heading of the study's page.
    pub title: &'static str,
    /// Author, title, place, date.
    pub citation: &'static str,
    /// Question of the study, in a sentence.
    pub summary: &'static str,
    /// The conclusions that the study draws.
    pub claims: &'static [Claim],
    /// The assumption suspected when a metric of a run misses the published number, with a sentence.
    pub suspect: fn(&RunRecord, Id) -> &'static str,
}

/// All studies, in the order in which they are listed.
pub const PAPERS: &[&Paper] = &[
    &b07::PAPER,
    &m08::PAPER,
    &r07::PAPER,
    &z07::PAPER,
    &c07::PAPER,
    &t11::PAPER,
    &next::PAPER,
    &modern::PAPER,
];

/// A study by its id.
pub fn find(id: &str) -> Option<&'static Paper> {
    PAPERS.iter().copied().find(|p| p.id.eq_ignore_ascii_case(id))
}

/// The assumption suspected when a metric of a run misses the published number.
pub fn suspect(run: &RunRecord, metric: Id) -> String {
    find(&run.case.study).map_or_else(String::new, |p| format!("suspected: {}", (p.suspect)(run, metric)))
}

/// Tests all claims of the studies that were run.
pub fn findings(records: &[RunRecord]) -> Vec<(&'static Claim, Finding)> {
    let ran = PAPERS.iter().filter(|p| records.iter().any(|r| r.case.study == p.id));
    ran.flat_map(|p| p.claims).map(|c| (c, c.found(records))).collect()
}
