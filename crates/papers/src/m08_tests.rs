//! Each claim of M08 must be able to come out yes and no.

use super::*;
use crate::claims::Holds;
use crate::findings;
use cnsim_runs::record::Curve;

fn record(
    scenario: &str,
    condition: String,
    pause: &str,
    scheme: &str,
    seed: u64,
    metrics: &[(&str, f64)],
) -> RunRecord {
    RunRecord {
        case: ["M08", scenario, &condition, pause, scheme].into(),
        seed,
        metrics: metrics.iter().copied().collect(),
        ..RunRecord::default()
    }
}

/// Runs in which every claim holds; values differ a little by seed.
pub(crate) fn good() -> Vec<RunRecord> {
    let mut all = Vec::new();
    for seed in 1..=5 {
        let noise = seed as f64 * 0.01;
        for (i, period) in PERIODS.into_iter().enumerate() {
            let condition = format!("congestion {period} on/off");
            for (scheme, value) in [("none", 65.0 - 2.0 * i as f64), (QCN, 93.0)] {
                let metrics = [("innocent_flow_utilization", value + noise)];
                all.push(record("multi-hop-periodic", condition.clone(), "on", scheme, seed, &metrics));
            }
        }
        for (i, delay) in DELAYS.into_iter().enumerate() {
            let condition = format!("control loop delay {delay}");
            let rate = if i == 3 { 2.2 } else { 9.9 - 0.2 * i as f64 };
            for (sources, lost) in [(4, 40.0), (16, 600.0)] {
                let lost = lost * f64::from(1 + i as u32 * 3);
                let metrics = [("throughput", rate + noise), ("dropped_frames", lost + noise)];
                let name = format!("symmetric-{sources}-to-1");
                all.push(record(&name, condition.clone(), "off", QCN, seed, &metrics));
            }
        }
        let mut run = record("multi-hop-800ms", "hotspot 0.5 Gb/s".into(), "off", QCN, seed, &[]);
        for (name, value) in [("hot_queue", 30.0), ("hot_port_throughput", 0.499)] {
            let curve = Curve {
                unit: String::new(),
                bin: 1e-3,
                values: vec![value + noise; 1000],
                ..Curve::default()
            };
            run.series.insert(name.into(), curve);
        }
        all.push(run);
    }
    all
}

fn holds(records: &[RunRecord], id: &str) -> Holds {
    findings(records).iter().find(|(c, _)| c.id == id).expect("the claim is there").1.holds
}

/// The good runs, changed where the metric of a scenario and condition says.
fn but(scenario: &str, condition: &str, scheme: &str, metric: &str, value: f64) -> Vec<RunRecord> {
    let mut all = good();
    let mut changed = 0;
    for r in &mut all {
        if r.case.scenario == scenario && r.case.condition.ends_with(condition) && r.case.scheme == scheme {
            r.metrics.insert(metric, value + r.seed as f64 * 1e-3);
            changed += 1;
        }
    }
    assert_eq!(changed, 5, "one case was changed");
    all
}

#[test]
fn all_hold_and_none_without_runs() {
    for claim in CLAIMS {
        assert_eq!(holds(&good(), claim.id), Holds::Yes, "{}", claim.id);
        let other = [record("x", "x".into(), "on", "none", 1, &[])];
        assert_eq!(holds(&other, claim.id), Holds::NotRun, "{}", claim.id);
    }
}

#[test]
fn each_can_fail() {
    let periodic =
        |d: &str, scheme: &str, v: f64| but("multi-hop-periodic", d, scheme, "innocent_flow_utilization", v);
    assert_eq!(holds(&periodic("80 ms on/off", QCN, 85.0), "M08.1"), Holds::No);
    assert_eq!(holds(&periodic("200 ms on/off", "none", 75.0), "M08.1"), Holds::No);
    assert_eq!(holds(&periodic("200 ms on/off", "none", 64.0), "M08.5"), Holds::No, "not the lowest");
    assert_eq!(holds(&periodic(" 25 ms on/off", "none", 60.0), "M08.5"), Holds::No, "not the highest");
    let four = |d: &str, m: &str, v: f64| but("symmetric-4-to-1", d, QCN, m, v);
    assert_eq!(holds(&four("500 us", "throughput", 7.9), "M08.2"), Holds::No);
    assert_eq!(holds(&four("1 ms", "throughput", 5.0), "M08.2"), Holds::No);
    assert_eq!(holds(&four("500 us", "dropped_frames", 10.0), "M08.3"), Holds::No, "not monotone");
    let sixteen = but("symmetric-16-to-1", " 8 us", QCN, "dropped_frames", 20.0);
    assert_eq!(holds(&sixteen, "M08.3"), Holds::No, "fewer with more sources");
    for (series, value) in [("hot_queue", 45.0), ("hot_queue", 10.0), ("hot_port_throughput", 0.4)] {
        let mut all = good();
        for r in all.iter_mut().filter(|r| r.case.scenario == "multi-hop-800ms") {
            r.series.get_mut(series).expect("the series is there").values = vec![value; 1000];
        }
        assert_eq!(holds(&all, "M08.4"), Holds::No, "{series} {value}");
    }
}

#[test]
fn noise_is_undecided() {
    let mut all = good();
    for r in all
        .iter_mut()
        .filter(|r| r.case.scenario == "symmetric-4-to-1" && r.case.condition.ends_with("500 us"))
    {
        r.metrics.insert("throughput", 9.4 + 0.1 * (r.seed as f64 - 3.0));
    }
    assert_eq!(holds(&all, "M08.2"), Holds::Undecided);
}

#[test]
fn every_suspect_is_a_named_assumption() {
    for scenario in ["multi-hop-periodic", "symmetric-4-to-1"] {
        for scheme in ["none", QCN] {
            for (delay, metric) in
                [("8 us", Id::DroppedFrames), ("1 ms", Id::DroppedFrames), ("1 ms", Id::Throughput)]
            {
                let run = record(scenario, format!("control loop delay {delay}"), "off", scheme, 1, &[]);
                let said = suspect(&run, metric);
                let known = |a: &cnsim_scenario::assumptions::Assumption| {
                    said.starts_with(&format!("{} {}", a.id, a.name))
                };
                assert!(cnsim_scenario::assumptions::ASSUMPTIONS.iter().any(known), "{said}");
            }
        }
    }
}
