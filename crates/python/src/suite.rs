//! The conformance suite for a scheme in Python.

use crate::errors::raise;
use crate::spec::SchemeSpec;
use cnsim_scheme_api::Scheme;
use cnsim_scheme_api::testing::{CHECKS, Violation, conformance_over, in_a_minute};
use pyo3::prelude::*;

/// Does `run` outside of the interpreter. A thread whose time was up may still be in a method, and the interpreter cannot end before
/// it: it is interrupted, and what that raises is nobody's.
fn outside(
    py: Python<'_>,
    spec: &SchemeSpec,
    run: impl FnOnce() -> Vec<Violation> + Send,
) -> PyResult<Vec<Violation>> {
    drop(spec.trouble.take());
    let work = py.import("cnsim._work")?;
    let before = work.call_method0("threads")?;
    let found = py.detach(run);
    if found.iter().any(Violation::is_late) {
        spec.trouble.stop(true);
        work.call_method1("end_others", (before,))?;
        spec.trouble.stop(false);
        drop(spec.trouble.take());
    }
    spec.trouble.take().map_or(Ok(found), Err)
}

/// Runs it over the ends of every parameter's range, and over flows beside others and in other threads: promises that are not kept, as
/// [`check`] has them.
#[pyfunction]
pub(crate) fn check_over(
    py: Python<'_>,
    spec: &SchemeSpec,
) -> PyResult<Vec<(String, String, Option<String>)>> {
    let found = outside(py, spec, || conformance_over(&spec.registration).err().unwrap_or_default())?;
    Ok(found.into_iter().map(|v| (v.check.into(), v.promise.into(), Some(v.what))).collect())
}

/// Runs the conformance suite on a scheme with these parameters: (check, promise, what happened instead; none where it is kept). It
/// ends with the first check that takes more than a minute.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    spec: &SchemeSpec,
    pairs: Vec<(String, String)>,
) -> PyResult<Vec<(String, String, Option<String>)>> {
    let first = spec.registration.build(&pairs);
    let first = first.map_err(|e| raise(py, "SchemeError", &e.reason, &e.remedy, &e.key))?.scheme;
    let mut all = Vec::new();
    for c in CHECKS {
        // A fresh scheme for each call; that it can be made is known.
        let (registration, pairs, first) = (spec.registration.clone(), pairs.clone(), first.clone());
        let promise = registration.promise;
        let make = move || -> Box<dyn Scheme> {
            Box::new(registration.build(&pairs).map_or_else(|_| first.clone(), |c| c.scheme))
        };
        let found = outside(py, spec, || in_a_minute(c, make, promise).err().into_iter().collect())?;
        let late = found.iter().any(Violation::is_late);
        all.push((c.name.to_string(), c.promise.to_string(), found.into_iter().next().map(|v| v.what)));
        if late {
            break;
        }
    }
    Ok(all)
}
