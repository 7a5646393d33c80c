//! M08: QCN with serial HAI: PAUSE and delay.

use super::Paper;
use crate::claims::Claim;
use crate::store::RunRecord;

/// The study.
pub(super) const PAPER: Paper = Paper {
    id: "M08",
    title: "QCN with serial HAI: PAUSE and delay",
    citation: "B. Matthews, B. Kwan, A. Lakshmikantha, Initial QCN Serial HAI Results: Effects of PAUSE and RTT Delay, IEEE 802.1Qau interim, January 2008",
    summary: "Does QCN with serial hyperactive increase keep innocent flows going beside PAUSE, and how long may its control loop be?",
    claims: CLAIMS,
    suspect,
};

const CLAIMS: &[Claim] = &[];

/// The assumption suspected when a cell misses, with a sentence.
fn suspect(_run: &RunRecord, _metric: &str) -> &'static str {
    "not yet known"
}
