//! One flow at one bottleneck: a small scenario that shows a scheme at work and runs in a few milliseconds. A scheme that needs
//! acknowledgements runs it on queue pairs, whose flows are finite: the second flow then ends with its last byte.
//! `cnsim explain SCHEME` and the figures of the chapter on schemes come from here.

use crate::record::RunRecord;
use crate::run::{Job, Watch, run_job};
use cnsim_problem::told;
use cnsim_scenario::{Scenario, needs_queue_pairs};
use cnsim_scheme_api::Registry;

/// Three hosts at a switch; all is recorded at H3's port.
const TEXT: &str = r#"
study = "demo"
name = "bottleneck"
condition = "two hosts, one port"
[topology]
kind = "single-switch"
hosts = 3
first = 1
[pause]
mode = "on"
[run]
duration = "30 ms"
seeds = 1
[record]
bin = "0.1 ms"
host = "H3"
flows = ["H1>H3", "H2>H3"]
"#;

/// H1 sends all the time, H2 from 5 to 20 ms; both to H3, whose port they share while H2 is on.
const ENDLESS: &str = r#"
[[traffic]]
hosts = ["H1"]
kind = "greedy"
destinations = ["H3"]
[[traffic]]
hosts = ["H2"]
kind = "greedy"
destinations = ["H3"]
start = "5 ms"
stop = "20 ms"
"#;

/// The demonstration with queue pairs: H1 has more than 30 ms of data; H2 begins at 5 ms and has 15 ms of data at half the port's rate.
const FINITE: &str = r#"
[host]
queues = "per-flow"
[workload]
kind = "transfers"
transfers = ["0 us, H1, H3, 40 MB", "5 ms, H2, H3, 9 MB"]
"#;

/// When the second flow starts, ms.
const START: f64 = 5.0;
/// When an endless second flow stops, ms.
const STOP: f64 = 20.0;

/// The time series that show a scheme at work.
#[derive(Clone, Debug, PartialEq)]
pub struct Demo {
    /// Width of a bin, ms.
    pub bin: f64,
    /// The queue at the shared port, KB.
    pub queue: Vec<f64>,
    /// Delivered rates of the two flows, Gb/s.
    pub rates: [Vec<f64>; 2],
    /// When the second flow starts and stops, ms: that of a queue pair with its last byte, or the run.
    pub second: (f64, f64),
    /// The record of the demonstration's run.
    pub record: RunRecord,
}

/// The demonstration of a scheme in words; with queue pairs the second flow is finite.
pub fn words(queue_pairs: bool) -> &'static str {
    match queue_pairs {
        true => {
            "H1 sends as fast as it may, and H2 joins it at 5 ms with 9 MB. Both flows have queue pairs and share one port of 10 Gb/s, with PAUSE"
        }
        false => {
            "H1 sends as fast as it may, and H2 joins it from 5 to 20 ms. Both share one port of 10 Gb/s, with PAUSE"
        }
    }
}

/// Runs a scheme of this registry with its defaults, seed 1.
///
/// # Errors
/// The reason of the failure.
pub fn demo(registry: &Registry, scheme: &str) -> Result<Demo, String> {
    let pairs = registry.find(scheme).is_some_and(|e| needs_queue_pairs(e));
    let text = format!("{TEXT}{}", if pairs { FINITE } else { ENDLESS });
    let scenario = Scenario::parse_in(registry, "demo", &text, &[], &[scheme]).map_err(told)?;
    let case = scenario.case(0, Vec::new(), "on", scheme);
    let ready = scenario.ready(&case).map_err(told)?;
    let job = Job::new(case, ready, 1);
    let record = run_job(&job, None, &Watch::default(), 1)?.ok_or("the run was stopped")?;
    let series = |name: &str| record.over_time.series.get(name).map(|c| c.values.clone()).unwrap_or_default();
    let gbps = |name: &str| series(name).iter().map(|v| v / 1e3).collect::<Vec<f64>>();
    let bin = record.over_time.series.get("hot_queue").map_or(0.1, |c| c.bin * 1e3);
    let rates = [gbps("flow H1>H3"), gbps("flow H2>H3")];
    let last = rates[1].iter().rposition(|v| *v > 0.0).map_or(STOP, |i| (i + 1) as f64 * bin);
    Ok(Demo {
        bin,
        queue: series("hot_queue"),
        rates,
        second: (START, if pairs { last } else { STOP }),
        record,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_meets_the_bottleneck() {
        let registry = cnsim_schemes::registry();
        for entry in registry.iter() {
            let d = demo(&registry, &entry.name).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
            assert_eq!(d.queue.len(), 300, "{}", entry.name);
            let mean =
                |v: &[f64], from: usize, to: usize| v[from..to].iter().sum::<f64>() / (to - from) as f64;
            // H1 alone, then shared, and the second flow only while it is on.
            assert!(mean(&d.rates[0], 10, 50) > 9.0, "{}", entry.name);
            assert!(mean(&d.rates[1], 0, 49) == 0.0 && mean(&d.rates[1], 60, 200) > 0.3, "{}", entry.name);
            assert!(d.second.0 == 5.0 && d.second.1 > 12.0, "{}: {:?}", entry.name, d.second);
            assert!(mean(&d.rates[0], 60, 200) < 9.0, "{}", entry.name);
        }
    }
}
