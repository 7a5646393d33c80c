//! Made-up runs of R07, in which every claim holds.

use super::*;
use crate::synthetic::{Synthetic as _, run};
use cnsim_scenario::Scenario;

const METRICS: [&str; 8] = [
    TOTAL, "port_throughput", "aggregate_throughput", "recovery_time", "recovery_deficit",
    "discarded_positive_share", "point_changes", "overhead",
];

/// The study as it would be if every claim held.
pub(crate) fn as_claimed(scenario: &str, condition: &str, scheme: &str, metric: &str) -> f64 {
    let hai = condition.contains("HAI");
    let rate: f64 = condition.split(' ').nth(1).and_then(|r| r.parse().ok()).unwrap_or(1.0);
    let more = f64::from(u8::from(condition.contains("oversampling")));
    let rank = match scheme {
        "ecm" => -2.0 + more,
        "qcn-2pt" => 0.0,
        "qcn-h" => 1.0,
        "qcn-pp" => 2.0,
        "qcn-p" | "qcn-hp" => 2.5,
        _ => 3.0,
    };
    match metric {
        "ports_throughput" | "port_throughput" => 150.0 + rank + if hai { 10.0 } else { 0.0 },
        "aggregate_throughput" if scenario == "single-hop-10" => 78.0 + rate + rank,
        "aggregate_throughput" => 158.0 + rate + rank,
        "recovery_time" => 100.0 - 20.0 * rate - 10.0 * more,
        "recovery_deficit" => (100.0 - 20.0 * rate) * if hai { 0.6 } else { 1.0 },
        "discarded_positive_share" => 63.0,
        _ => 0.0,
    }
}

/// All runs of the three scenarios, three seeds.
pub(crate) fn runs() -> Vec<RunRecord> {
    let mut all = Vec::new();
    for name in ["single-hop-10", "single-hop-20", "chain-20"] {
        for case in Scenario::load(&format!("R07/{name}"), &[]).unwrap().cases() {
            for seed in 1..=3 {
                let r = run("R07", name, &case.id.condition, "on", &case.id.scheme, seed);
                let value = |m| as_claimed(name, &case.id.condition, &case.id.scheme, m);
                all.push(METRICS.iter().fold(r, |r, m| r.has(m, value(m))));
            }
        }
    }
    all
}
