//! The conformance suite for a scheme in Python.

use crate::errors::raise;
use crate::spec::SchemeSpec;
use cnsim_scheme_api::Scheme;
use cnsim_scheme_api::testing::CHECKS;
use pyo3::prelude::*;

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
