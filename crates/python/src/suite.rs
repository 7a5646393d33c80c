//! The conformance suite for a scheme in Python.

use crate::errors::raise;
use crate::spec::SchemeSpec;
use cnsim_scheme_api::Scheme;
use cnsim_scheme_api::testing::{CHECKS, conformance_over};
use pyo3::prelude::*;

/// Runs it over the ends of every parameter's range, and over flows beside others and in other threads: promises that are not kept, as
/// [`check`] has them.
#[pyfunction]
pub(crate) fn check_over(
    py: Python<'_>,
    spec: &SchemeSpec,
) -> PyResult<Vec<(String, String, Option<String>)>> {
    drop(spec.trouble.take());
    let work = py.import("cnsim._work")?;
    let before = work.call_method0("threads")?;
    let found = py.detach(|| conformance_over(&spec.registration)).err().unwrap_or_default();
    // A thread whose time was up may still be in a method: the interpreter cannot end before it.
    if found.iter().any(|v| v.check == "time") {
        spec.trouble.stop(true);
        work.call_method1("end_others", (before,))?;
        spec.trouble.stop(false);
    }
    match spec.trouble.take() {
        Some(e) => Err(e),
        None => Ok(found.into_iter().map(|v| (v.check.into(), v.promise.into(), Some(v.what))).collect()),
    }
}

/// Runs the conformance suite on a scheme with these parameters: (check, promise, what happened instead; none where it is kept).
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    spec: &SchemeSpec,
    pairs: Vec<(String, String)>,
) -> PyResult<Vec<(String, String, Option<String>)>> {
    let first = spec.registration.build(&pairs);
    let first = first.map_err(|e| raise(py, "SchemeError", &e.reason, &e.remedy, &e.key))?.scheme;
    let promise = spec.registration.promise;
    let mut all = Vec::new();
    for c in CHECKS {
        drop(spec.trouble.take());
        // A fresh scheme for each call; that it can be made is known.
        let make = || -> Box<dyn Scheme> {
            Box::new(spec.registration.build(&pairs).map_or_else(|_| first.clone(), |c| c.scheme))
        };
        let said = py.detach(|| c.run(&make, &promise)).err().map(|v| v.what);
        if let Some(e) = spec.trouble.take() {
            return Err(e);
        }
        all.push((c.name.to_string(), c.promise.to_string(), said));
    }
    Ok(all)
}
