//! What every run is checked by: sums over its frames, hashes of its events, the closing of the books.

mod closing;
mod failure;
mod frozen;
mod sums;

pub(crate) use closing::{ControlBooks, HostBooks, SwitchBooks, close};
pub(crate) use failure::Failure;
pub(crate) use frozen::{Stopped, standstill};
pub(crate) use sums::{Hash, Ledger};

/// Why a limiter of a whole host cannot send a probe.
pub(crate) const NO_PATH: &str = "it sends a probe, but its limiter serves all flows of the host, so that there is no path to \
                                  probe; `Scope::Flow` has one";
