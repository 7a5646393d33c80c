//! Quantities with units: time, bytes, rate.
