use super::*;
use crate::claims::Holds::NotRun;
use crate::synthetic::{Synthetic as _, run, verdict};

/// 100 bins of 1 ms: a value in the first `slow` bins of each phase, another in the others.
fn phases(slow: usize, first: f64, then: f64) -> Vec<f64> {
    (0..100).map(|b| if b % PHASE < slow { first } else { then }).collect()
}

/// All runs, as the claims would have them.
pub(crate) fn runs() -> Vec<RunRecord> {
    let mut all = Vec::new();
    for seed in 1..=5 {
        let new = |scenario, condition: &str, scheme| run("C07", scenario, condition, "global", scheme, seed);
        all.push(
            new("symmetric-on-off", BECN, "becn")
                .has(Id::Overhead, 1638.0)
                .has(Id::Fairness, 0.999)
                .has(Id::HotPortThroughput, 8.36)
                .port("E5>H5", 23.0, 0.0)
                .port("X>E5", 7.0, 0.0),
        );
        all.push(new("symmetric-on-off", "measurement interval 12 ms", "becn").has(Id::SdHotQueue, 69.0));
        all.push(
            new("symmetric-on-off", BCN, "bcn")
                .has(Id::Overhead, 3.6)
                .has(Id::Fairness, 0.85)
                .has(Id::SdHotQueue, 14.0)
                .port("E5>H5", 1.0, 0.0)
                .port("X>E5", 20.0, 0.0)
                .draws("hot_port_throughput", phases(2, 5.0, 10.0)),
        );
        for (rate, index, slow) in [("100%", 0.9999, 1), ("10%", 0.99, 2), ("5%", 0.9, 10), ("1%", 0.5, 15)] {
            let mut r = new("symmetric-on-off", &format!("tagging rate {rate}"), "fecn")
                .has(Id::Fairness, index)
                .draws("hot_port_throughput", phases(slow, 5.0, 10.0));
            for h in 1..=4 {
                let share = |b: usize| if (b / PHASE).is_multiple_of(2) { 2500.0 } else { 5000.0 };
                let values = (0..100).map(|b| if b % PHASE < slow { 1.0 } else { share(b) }).collect();
                r = r.draws(&format!("flow H{h}>H5"), values);
            }
            all.push(r);
        }
        all.push(
            new("asymmetric", "measurement interval 300 us", "becn")
                .has(Id::FlowRateMin, 417.0)
                .has(Id::FlowRateMax, 419.0),
        );
        all.push(new("asymmetric", BCN, "bcn").draws("aggregate_throughput", vec![9.9; 100]));
        all.push(
            new("asymmetric", BECN, "becn")
                .has(Id::AggregateThroughput, 0.02)
                .has(Id::FrozenSince, 8.0)
                .port("E1>X", 0.0, 97.0)
                .draws("control_rate", vec![1638.0; 100]),
        );
        all.push(
            new("parking-lot", BECN, "becn")
                .has(Id::FlowRateMin, 1726.0)
                .has(Id::FlowRate, 1727.0)
                .has(Id::FlowRateMax, 1728.0)
                .has(Id::BottleneckControl, 1365.0)
                .has(Id::ThroughputLoss, 1.366)
                .has(Id::AggregateLoss, 1.639),
        );
        for (condition, length) in [(BCN, 100), ("sampling rate 1%, run 1 s", 1000)] {
            let mut r = new("parking-lot", condition, "bcn")
                .has(Id::FlowRateMin, 1900.0)
                .has(Id::FlowRate, 2000.0)
                .has(Id::FlowRateMax, 2100.0);
            for f in ["H1>H9", "H2>H9", "H3>H9", "H4>H9", "H5>H7", "H6>H8"] {
                r = r.draws(&format!("flow {f}"), vec![1990.0; length]);
            }
            all.push(r);
        }
        for delay in ["50 us", "100 us", "200 us"] {
            for (w, sd) in [("", 20.0), (", W 4", 15.0), (", W 8", 17.0)] {
                let c = format!("{BCN}, added delay {delay}{w}");
                all.push(new("parking-lot", &c, "bcn").has(Id::SdHotQueue, sd));
            }
        }
    }
    all
}

/// Runs in which nothing moves any more say nothing of a queue's standard deviation.
#[test]
fn frozen_runs_are_not_scored() {
    let far = |r: &RunRecord| r.case.condition.ends_with("200 us");
    let records: Vec<RunRecord> =
        runs().into_iter().map(|r| if far(&r) { r.has(Id::FrozenSince, 30.0) } else { r }).collect();
    assert_eq!(verdict(&records, "C07.8"), NotRun);
}

/// Bad in the bins 0, 1, 2 of each phase: 3 ms; never good: the whole phase.
#[test]
fn settling_by_hand() {
    let r = run("C07", "symmetric-on-off", BCN, "global", "bcn", 1);
    let of = |values: Vec<f64>| settled_port(&r.clone().draws("hot_port_throughput", values));
    assert_eq!(of(phases(3, 1.0, 9.6)), Some(vec![3.0; 4]));
    assert_eq!(of(phases(0, 1.0, 9.6)), Some(vec![0.0; 4]));
    assert_eq!(of(vec![9.4; 100]), Some(vec![20.0; 4]));
    assert_eq!(settled_port(&r), None);
}
