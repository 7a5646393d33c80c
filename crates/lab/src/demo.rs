//! One flow at one bottleneck: a small scenario that shows a scheme at work and runs in a few milliseconds.
//! `cnsim explain SCHEME` and the figures of the chapter on schemes come from here.

use crate::record::RunRecord;
use crate::run::{Job, Watch, run_job};
use crate::scenario::Scenario;
use cnsim_scheme_api::Registry;

/// H1 sends all the time, H2 from 5 to 20 ms; both to H3, whose port they share while H2 is on.
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
[run]
duration = "30 ms"
seeds = 1
[record]
bin = "0.1 ms"
host = "H3"
flows = ["H1>H3", "H2>H3"]
"#;

/// When the second flow starts and stops, ms.
pub const SECOND: (f64, f64) = (5.0, 20.0);

/// The time series that show a scheme at work.
#[derive(Clone, Debug, PartialEq)]
pub struct Demo {
    /// Width of a bin, ms.
    pub bin: f64,
    /// The queue at the shared port, KB.
    pub queue: Vec<f64>,
    /// Delivered rates of the two flows, Gb/s.
    pub rates: [Vec<f64>; 2],
    /// The record of the demonstration's run.
    pub record: RunRecord,
}

/// Runs a scheme of this registry with its defaults, seed 1.
///
/// # Errors
/// The reason of the failure.
pub fn demo(registry: &Registry, scheme: &str) -> Result<Demo, String> {
    let lines =
        |p: Vec<cnsim_problem::Problem>| p.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let scenario = Scenario::parse_in(registry, "demo", TEXT, &[], &[]).map_err(lines)?;
    let case = scenario.case(0, Vec::new(), "on", scheme);
    let ready = scenario.ready(&case).map_err(lines)?;
    let job = Job::new(case, ready, 1);
    let record = run_job(&job, None, &Watch::default(), 1)?.ok_or("the run was stopped")?;
    let series = |name: &str| record.series.get(name).map(|c| c.values.clone()).unwrap_or_default();
    let gbps = |name: &str| series(name).iter().map(|v| v / 1e3).collect::<Vec<f64>>();
    Ok(Demo {
        bin: record.series.get("hot_queue").map_or(0.1, |c| c.bin * 1e3),
        queue: series("hot_queue"),
        rates: [gbps("flow H1>H3"), gbps("flow H2>H3")],
        record,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its flows are endless, so that schemes of queue pairs have no part in it.
    #[test]
    fn every_scheme_meets_the_bottleneck() {
        let registry = cnsim_schemes::registry();
        for entry in registry.iter().filter(|e| !crate::scenario::needs_queue_pairs(e)) {
            let d = demo(&registry, &entry.name).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
            assert_eq!(d.queue.len(), 300, "{}", entry.name);
            let mean =
                |v: &[f64], from: usize, to: usize| v[from..to].iter().sum::<f64>() / (to - from) as f64;
            // H1 alone, then shared, and the second flow only while it is on.
            assert!(mean(&d.rates[0], 10, 50) > 9.0, "{}", entry.name);
            assert!(mean(&d.rates[1], 0, 49) == 0.0 && mean(&d.rates[1], 60, 200) > 0.3, "{}", entry.name);
            assert!(mean(&d.rates[0], 60, 200) < 9.0, "{}", entry.name);
        }
    }
}
