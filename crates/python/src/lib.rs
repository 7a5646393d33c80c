//! The native module of the Python package `cnsim`: scenarios, runs and records of the simulator, and the bridge by which a
//! scheme that is written in Python stands behind the same seam as those in Rust. The package's own modules (`python/cnsim`)
//! are what users see.

mod bridge;
mod errors;
mod handles;
mod params;
mod plan;
mod program;
mod record;
mod scenario;
mod spec;
mod suite;
mod threads;
mod wire;

// The crate is not called: its features are those of the tests' build, so the module shares what they have compiled.
use hashbrown as _;
use pyo3::prelude::*;

/// The native module of the package cnsim.
#[pymodule]
mod _cnsim {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::handles::{Limiter, Queue, Sink};
    #[pymodule_export]
    use crate::plan::{Kept, Plan};
    #[pymodule_export]
    use crate::program::main;
    #[pymodule_export]
    use crate::record::{Record, interval, lists, load, notes, numbers, paired, plus_minus, save};
    #[pymodule_export]
    use crate::scenario::{Scenario, cells, plan_of};
    #[pymodule_export]
    use crate::spec::{Registry, SchemeSpec};
    #[pymodule_export]
    use crate::suite::check;
    #[pymodule_export]
    use crate::wire::{Ack, AckGate, Feedback, Frame, Hop, Probe};

    /// Versions: of the program, of its results, of the form of kept runs.
    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        m.add("CODE", env!("CNSIM_CODE"))?;
        m.add("RESULT_VERSION", cnsim_runs::store::RESULT_VERSION)?;
        m.add("FLOW_PARTS", cnsim_measure::spent::PARTS.map(|part| part.0).to_vec())?;
        m.add("STORE_FORMAT", cnsim_runs::store::STORE_FORMAT)
    }
}
