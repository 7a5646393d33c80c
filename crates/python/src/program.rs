//! The program `cnsim`, with schemes in Python among its own.

use crate::spec::Registry;
use pyo3::prelude::*;

/// Runs the program with these arguments, the first of which is its name; gives its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, registry: &Registry, args: Vec<String>) -> u8 {
    let schemes = registry.inner.clone();
    py.detach(|| cnsim_cli::program(schemes, args))
}
