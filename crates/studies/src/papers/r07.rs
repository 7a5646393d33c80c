//! R07: Fb-hat and probing variants of QCN.

use super::Paper;
use crate::claims::Claim;
use crate::store::RunRecord;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "R07",
    title: "Fb-hat and probing variants of QCN",
    citation: "G. Roeck, Simulation Results for QCN-FbHat and other variants of QCN, August 2007",
    summary: "What do a combined feedback, probes along the path and hyperactive increase bring QCN?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[];

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(_run: &RunRecord, _metric: &str) -> &'static str {
    "not yet known"
}
