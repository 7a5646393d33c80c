//! Made-up runs of M08, in which every claim holds.

use super::*;
use crate::claims::Holds::Undecided;
use crate::synthetic::{Synthetic as _, run, verdict};

/// Runs in which every claim holds; values differ a little by seed.
pub(crate) fn runs() -> Vec<RunRecord> {
    let mut all = Vec::new();
    for seed in 1..=5 {
        let new = |scenario: &str, condition: &str, pause, scheme| {
            run("M08", scenario, condition, pause, scheme, seed)
        };
        for (i, period) in PERIODS.into_iter().enumerate() {
            let condition = format!("congestion {period} on/off");
            for (scheme, value) in [("none", 65.0 - 2.0 * i as f64), (QCN, 93.0)] {
                let r = new("multi-hop-periodic", &condition, "on", scheme);
                all.push(r.has(Id::InnocentFlowUtilization, value));
            }
        }
        for (i, delay) in DELAYS.into_iter().enumerate() {
            let rate = if i == 3 { 2.2 } else { 9.9 - 0.2 * i as f64 };
            for (sources, lost) in [(4, 40.0), (16, 600.0)] {
                let name = format!("symmetric-{sources}-to-1");
                let r = new(&name, &format!("control loop delay {delay}"), "off", QCN);
                all.push(
                    r.has(Id::Throughput, rate).has(Id::DroppedFrames, lost * f64::from(1 + i as u32 * 3)),
                );
            }
        }
        let r = new("multi-hop-800ms", "hotspot 0.5 Gb/s", "off", QCN);
        all.push(r.draws("hot_queue", vec![30.0; 1000]).draws("hot_port_throughput", vec![0.499; 1000]));
    }
    all
}

#[test]
fn noise_is_undecided() {
    let mut all = runs();
    for r in all
        .iter_mut()
        .filter(|r| r.case.scenario == "symmetric-4-to-1" && r.case.condition.ends_with("500 us"))
    {
        r.metrics.insert(Id::Throughput, 9.4 + 0.1 * (r.seed as f64 - 3.0));
    }
    assert_eq!(verdict(&all, "M08.2"), Undecided);
}

#[test]
fn every_suspect_is_a_named_assumption() {
    for scenario in ["multi-hop-periodic", "symmetric-4-to-1"] {
        for scheme in ["none", QCN] {
            for (delay, metric) in
                [("8 us", Id::DroppedFrames), ("1 ms", Id::DroppedFrames), ("1 ms", Id::Throughput)]
            {
                let run = run("M08", scenario, &format!("control loop delay {delay}"), "off", scheme, 1);
                let said = suspect(&run, metric);
                let known = |a: &cnsim_scenario::assumptions::Assumption| {
                    said.starts_with(&format!("{} {}", a.id, a.name))
                };
                assert!(cnsim_scenario::assumptions::ASSUMPTIONS.iter().any(known), "{said}");
            }
        }
    }
}
