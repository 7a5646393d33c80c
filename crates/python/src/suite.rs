//! The conformance suite for a scheme in Python.

use crate::errors::raise;
use crate::spec::SchemeSpec;
use crate::threads::Threads;
use cnsim_scheme_api::testing::{Bridge, Checked, Suite};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The suite's way to the interpreter.
#[derive(Debug, Default)]
struct Interpreter {
    threads: Threads,
    /// The exception that a signal raised, such as Ctrl-C.
    signal: Mutex<Option<PyErr>>,
}

impl Bridge for Interpreter {
    fn within(&self, work: Box<dyn FnOnce() + Send + '_>) {
        self.threads.within(work);
    }
    fn goes_on(&self) -> bool {
        // Not locked while it waits for the interpreter: who has that may wait for the lock.
        let known = || self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        let stands = known().is_some();
        let raised = if stands { None } else { Python::attach(|py| py.check_signals()).err() };
        let goes_on = !stands && raised.is_none();
        if raised.is_some() {
            *known() = raised;
        }
        goes_on
    }
}

/// A check as Python has it: name, promise, and what happened instead; none where the promise is kept.
type Row = (String, String, Option<String>);

fn row(c: Checked) -> Row {
    let with = c.setting.map(|(key, value)| format!(" with {key} = {value}")).unwrap_or_default();
    (format!("{}{with}", c.check), c.promise.into(), c.broken)
}

/// Runs the conformance suite on a scheme with these parameters: the checks that were made. With `ranges`, each other parameter is set
/// to the ends of its range, too. A check that takes more than a minute is the last.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    spec: &SchemeSpec,
    pairs: Vec<(String, String)>,
    ranges: bool,
) -> PyResult<Vec<Row>> {
    let (scheme, bridge) = (&spec.registration, Arc::new(Interpreter::default()));
    drop(spec.trouble.take());
    scheme.build(&pairs).map_err(|e| raise(py, "SchemeError", &e.reason, &e.remedy, &e.key))?;
    let made = py.detach(|| Suite::with(bridge.clone()).run(scheme, &pairs, ranges));
    let raised = spec.trouble.take();
    // A thread that was left may still be in a method, and the interpreter cannot end before it. What it raises now is nobody's.
    spec.trouble.stop(true);
    let ended = bridge.threads.end(py);
    spec.trouble.stop(false);
    drop(spec.trouble.take());
    let signal = bridge.signal.lock().unwrap_or_else(PoisonError::into_inner).take();
    ended?;
    signal.or(raised).map_or_else(|| Ok(made.into_iter().map(row).collect()), Err)
}
