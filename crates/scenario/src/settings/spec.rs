//! The run that the settings of a case describe to the network.

use super::Settings;
use crate::tables::record::every_queue;
use cnsim_fabric::RunSpec;
use cnsim_scheme_api::registry::Configured;

impl Settings {
    /// The run that these settings describe.
    ///
    /// `all` records every queue in use and the limiters of all listed flows.
    pub fn spec(&self, built: &Configured, seed: u64, all: bool) -> RunSpec {
        let schemes = std::iter::once(&built.scheme).chain(&built.windowless).cloned().collect();
        let mut run = RunSpec { schemes, duration: self.duration, seed, ..RunSpec::default() };
        self.put_tables(&mut run);
        if all {
            every_queue(&self.wiring, &mut run.record);
        }
        run
    }
}
