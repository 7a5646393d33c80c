//! C07: BCN against BECN and FECN.

use super::Paper;
use crate::claims::Claim;
use crate::store::RunRecord;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "C07",
    title: "BCN against BECN and FECN",
    citation: "D. Bergamasco, A Comparison of BCN and [B|F]ECN, IEEE 802.1 interim, January 2007",
    summary: "What do broadcast and forward explicit-rate schemes cost beside backward notification, and what do they gain?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[];

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(_run: &RunRecord, _metric: &str) -> &'static str {
    "not yet known"
}
