use super::*;
use crate::claims::Holds::Undecided;
use crate::synthetic::{Synthetic as _, run, verdict};

/// All runs, as the claims would have them.
pub(crate) fn runs(seeds: u64) -> Vec<RunRecord> {
    let mut all = Vec::new();
    for scheme in ["e2cm-src", "e2cm-dst", "ecm"] {
        for limited in [false, true] {
            for (rtt, pause) in RTTS.iter().flat_map(|r| [(*r, "on"), (*r, "off")]) {
                for seed in 1..=seeds {
                    let few = if limited { 0.1 } else { 1.0 };
                    let drops = few * if scheme == "ecm" { 200_000.0 } else { 140_000.0 };
                    let r = run("Z07", "single-hop-16", &condition(rtt, limited), pause, scheme, seed)
                        .has(Id::AggregateThroughput, 124.0)
                        .has(Id::HotPortThroughput, 1.18)
                        .has(Id::MeanHotQueue, 800.0)
                        .has(Id::BottleneckUtilization, 99.0)
                        .has(Id::MeanHotQueueLate, 350.0 + f64::from(rtt) / 10.0)
                        .has(Id::LateDrops, 0.0)
                        .has(Id::DroppedFrames, if pause == "on" && !limited { 0.0 } else { drops })
                        .has(Id::InnocentDropShare, if limited { 0.0 } else { 95.0 });
                    all.push(r);
                }
            }
        }
    }
    all
}

/// Five seeds do not settle whether the queue grows.
#[test]
fn too_few_seeds_leave_it_open() {
    assert_eq!(verdict(&runs(5), "Z07.2"), Undecided);
}
