//! Checks of every run: sums over its frames, hashes of its events, the closing of the books.

/// Adds these fields of the second to those of the first.
macro_rules! sums {
    ($sum:expr, $more:expr; $($field:ident),+) => { $($sum.$field += $more.$field;)+ };
}

mod closing;
mod failure;
mod frozen;
mod gauges;
mod joining;
mod moved;
mod pauses;
mod states;
mod sums;
mod trips;

pub(crate) use closing::{Books, ControlBooks, HostBooks, Own, close};
pub(crate) use failure::{Failure, Who, alarmed, broken, quiet};
pub(crate) use frozen::{Stopped, standstill};
pub(crate) use gauges::{Gauges, SINK};
pub(crate) use moved::{Change, Delivered, Kept, Moved};
pub(crate) use pauses::{Decisions, HeldBy};
pub(crate) use states::changes;
pub(crate) use sums::{Event, Events, Hash, Ledger};
pub(crate) use trips::{Come, Dropped, History, Spent, Told, Trace};
