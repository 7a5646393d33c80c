//! Next steps that the studies named: scenarios without published numbers, so without claims.

use super::Paper;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// No study of its own: the list of next steps.
pub(super) const PAPER: Paper = Paper {
    id: "next",
    title: "What the studies left as next steps",
    citation: "named by the studies of 2007 and 2008; the scenarios are ours",
    summary: "Hotspots made by inputs alone, links of different rates, and a network of 1024 hosts.",
    claims: &[],
    suspect,
};

/// Nothing was published, so nothing can be missed.
fn suspect(_run: &RunRecord, _metric: Id) -> &'static str {
    "nothing was published"
}
