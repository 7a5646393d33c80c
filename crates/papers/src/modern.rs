//! The RoCE networks of the years after 2015: runs of the HPCC fork of ns-3, and the study of DCQCN and TIMELY of 2016. Numbers
//! without claims.

use super::Paper;
use cnsim_runs::record::RunRecord;
use cnsim_scenario::metrics::Id;

/// Runs of others' simulators.
pub(super) const PAPER: Paper = Paper {
    id: "modern",
    title: "RoCE networks as other simulators run them",
    citation: "ns-3 fork of Li et al., HPCC, SIGCOMM 2019 (alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a), run by others; Y. Zhu et al., ECN or Delay, CoNEXT 2016",
    summary: "Two flows, an incast and 320 hosts under up to six schemes, beside the completion times of the HPCC fork; the star and the dumbbell of the CoNEXT 2016 study; a storm of PFC and a watchdog.",
    claims: &[],
    suspect,
};

fn suspect(run: &RunRecord, _metric: Id) -> &'static str {
    if run.case.scheme.starts_with("timely") {
        "the study of 2016 gives neither the bounds of TIMELY's rates nor how a segment is sent, and drew one set of flows"
    } else if run.case.scenario.starts_with("conext") {
        "the frame, the table of sizes and the number of flows of the dumbbell are not printed; the star's values are a fluid model's"
    } else if run.case.scenario == "schemes-320" {
        "the fork has one draw of flows, and its hash seeds its own paths"
    } else if run.case.scenario == "fork-incast" {
        "the fork's numbers are of one run, and each mark is drawn"
    } else {
        "the fork's flows end when their last acknowledgement is back, which waits where its path is congested"
    }
}
