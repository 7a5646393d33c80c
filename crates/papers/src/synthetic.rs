//! Made-up runs, to see every claim come out both ways.

use crate::claims::Holds;
use crate::findings;
use cnsim_measure::PortFacts;
use cnsim_runs::record::{Curve, RunRecord};

/// A run of a study, with nothing measured yet.
pub(super) fn run(
    study: &str,
    scenario: &str,
    condition: &str,
    pause: &str,
    scheme: &str,
    seed: u64,
) -> RunRecord {
    RunRecord { case: [study, scenario, condition, pause, scheme].into(), seed, ..RunRecord::default() }
}

/// A run that measured so much.
pub(super) trait Synthetic: Sized {
    /// With a metric; seeds differ by a ten-thousandth.
    fn has(self, id: impl AsRef<str>, value: f64) -> Self;
    /// With a series of bins of 1 ms.
    fn draws(self, name: &str, values: Vec<f64>) -> Self;
    /// With facts of a port.
    fn port(self, name: &str, mean_queue: f64, paused: f64) -> Self;
}

impl Synthetic for RunRecord {
    fn has(mut self, id: impl AsRef<str>, value: f64) -> Self {
        self.metrics.insert(id.as_ref(), value * (1.0 + self.seed as f64 * 1e-4));
        self
    }

    fn draws(mut self, name: &str, values: Vec<f64>) -> Self {
        self.over_time
            .series
            .insert(name.into(), Curve { unit: String::new(), bin: 1e-3, values, ..Curve::default() });
        self
    }

    fn port(mut self, name: &str, mean_queue: f64, paused: f64) -> Self {
        self.ports
            .insert(name.into(), PortFacts { mean_queue: Some(mean_queue), paused, ..PortFacts::default() });
        self
    }
}

/// Verdict of a claim on synthetic runs.
pub(super) fn verdict(records: &[RunRecord], id: &str) -> Holds {
    findings(records).iter().find(|(c, _)| c.id == id).map_or(Holds::NotRun, |(_, f)| f.holds)
}
