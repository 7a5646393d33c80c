//! Z07: Source-based E2CM.

use super::Paper;
use crate::claims::Claim;
use crate::store::RunRecord;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "Z07",
    title: "Source-based E2CM",
    citation: "IBM Research Zurich, Source-based E2CM: Validation of the Orlando Proposal, March 2007",
    summary: "Can the source of a flow do what the destination did in E2CM, and up to which round-trip time?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[];

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(_run: &RunRecord, _metric: &str) -> &'static str {
    "not yet known"
}
