//! Numbers as notes tell them: with three significant digits.

use cnsim_units::Bytes;

/// A number with three significant digits.
pub(super) fn three(value: f64) -> f64 {
    format!("{value:.2e}").parse().ok().filter(|v: &f64| v.is_finite()).unwrap_or(0.0) + 0.0
}

/// Bytes with three significant digits.
pub(in crate::notes) fn told_bytes(bytes: f64) -> String {
    Bytes::new(three(bytes).round() as u64).to_string()
}
