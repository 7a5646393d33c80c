use super::*;
use crate::claims::Holds::{No, NotRun, Undecided, Yes};
use crate::synthetic::{Synthetic as _, run, verdict};

/// All runs, as the claims would have them, then changed.
pub(crate) fn runs(seeds: u64, change: impl Fn(&mut RunRecord)) -> Vec<RunRecord> {
    let mut all = Vec::new();
    for scheme in ["e2cm-src", "e2cm-dst", "ecm"] {
        for limited in [false, true] {
            for (rtt, pause) in RTTS.iter().flat_map(|r| [(*r, "on"), (*r, "off")]) {
                for seed in 1..=seeds {
                    let few = if limited { 0.1 } else { 1.0 };
                    let drops = few * if scheme == "ecm" { 200_000.0 } else { 140_000.0 };
                    let mut r = run("Z07", "single-hop-16", &condition(rtt, limited), pause, scheme, seed)
                        .has("aggregate_throughput", 124.0)
                        .has("hot_port_throughput", 1.18)
                        .has("mean_hot_queue", 800.0)
                        .has("bottleneck_utilization", 99.0)
                        .has("mean_hot_queue_late", 350.0 + f64::from(rtt) / 10.0)
                        .has("late_drops", 0.0)
                        .has("dropped_frames", if pause == "on" && !limited { 0.0 } else { drops })
                        .has("innocent_drop_share", if limited { 0.0 } else { 95.0 });
                    change(&mut r);
                    all.push(r);
                }
            }
        }
    }
    all
}

fn set(r: &mut RunRecord, id: &str, value: f64) {
    *r = r.clone().has(id, value);
}

const IDS: [&str; 5] = ["Z07.1", "Z07.2", "Z07.3", "Z07.4", "Z07.5"];

#[test]
fn all_can_hold() {
    let records = runs(10, |_| {});
    assert_eq!(IDS.map(|id| verdict(&records, id)), [Yes; 5]);
    assert_eq!(verdict(&records[..1], "Z07.1"), NotRun);
}

#[test]
fn each_can_fail() {
    let fails = |id, change: &dyn Fn(&mut RunRecord)| assert_eq!(verdict(&runs(10, change), id), No, "{id}");
    let far = |r: &RunRecord| r.case.condition.contains("RTT 500 us");
    fails("Z07.1", &|r| {
        if r.case.scheme == "e2cm-dst" && far(r) {
            set(r, "mean_hot_queue", 1000.0);
        }
    });
    fails("Z07.1", &|r| {
        if r.case.scheme == "e2cm-src" {
            set(r, "hot_port_throughput", 1.14);
        }
    });
    fails("Z07.2", &|r| {
        if far(r) {
            set(r, "mean_hot_queue_late", 300.0);
        }
    });
    fails("Z07.2", &|r| {
        if far(r) && r.case.condition.contains("600 KB") {
            set(r, "mean_hot_queue_late", 590.0);
        }
    });
    fails("Z07.2", &|r| set(r, "bottleneck_utilization", 80.0));
    fails("Z07.2", &|r| set(r, "late_drops", 10.0));
    fails("Z07.3", &|r| {
        if r.case.condition.contains("600 KB") {
            set(r, "dropped_frames", 50_000.0);
        }
    });
    fails("Z07.3", &|r| set(r, "innocent_drop_share", 50.0));
    fails("Z07.4", &|r| {
        if r.case.pause == "on" {
            set(r, "dropped_frames", 1.0);
        }
    });
    fails("Z07.5", &|r| {
        if r.case.scheme == "ecm" && far(r) {
            set(r, "dropped_frames", 10_000.0);
        }
    });
}

/// Five seeds do not settle whether the queue grows.
#[test]
fn too_few_seeds_leave_it_open() {
    assert_eq!(verdict(&runs(5, |_| {}), "Z07.2"), Undecided);
}
