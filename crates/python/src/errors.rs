//! Errors of the simulator as exceptions of `cnsim.errors`: file, key, reason and remedy stay apart.

use cnsim_problem::Problem;
use cnsim_scheme_api::registry::RegisterError;
use pyo3::prelude::*;

/// An exception of `cnsim.errors`, of this class and in Python's words.
pub(crate) fn raise(py: Python<'_>, class: &str, reason: &str, remedy: &str, key: &str) -> PyErr {
    let make = || py.import("cnsim.errors")?.getattr("made")?.call1((class, reason, remedy, key));
    make().map_or_else(|e| e, PyErr::from_value)
}

/// Everything wrong with a scenario, in one exception.
pub(crate) fn problems(py: Python<'_>, problems: &[Problem]) -> PyErr {
    let one = |p: &Problem| {
        let place = p.position.map(|at| (at.line, at.column));
        (p.file.clone(), place, p.key.clone(), p.reason.clone(), p.remedy.clone(), p.to_string())
    };
    let all: Vec<_> = problems.iter().map(one).collect();
    let make = || py.import("cnsim.errors")?.getattr("of_problems")?.call1((all,));
    make().map_or_else(|e| e, PyErr::from_value)
}

/// From a text that ends in `help: ...`, as the program says it.
pub(crate) fn told(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let (reason, remedy) = text.split_once("\n  help: ").unwrap_or((text, ""));
    raise(py, class, reason, remedy, "")
}

/// A registration that was refused.
pub(crate) fn refused(py: Python<'_>, e: &RegisterError) -> PyErr {
    raise(py, "SchemeError", &format!("scheme `{}`: {}", e.scheme, e.reason), &e.remedy, "")
}
