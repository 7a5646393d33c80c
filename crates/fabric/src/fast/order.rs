//! The order of events in numbers that are shorter than a [`rank`](crate::model::rank): `tests/parts/agenda.rs` holds them against the keys.

use super::frame::{Entry, Ps};
use crate::model::{Key, Kind};

impl Entry {
    /// Its arrival as an event of the node that holds it.
    #[inline(always)]
    pub(crate) fn arrival(&self) -> Key {
        (self.ready, Kind::of_arrival(self.frame.kind().lane()), self.frame.input.into())
    }
}

/// An arrival in a window that begins at `base`, as a number that is in the order of keys: half of a [`rank`](crate::model::rank).
#[inline(always)]
pub(crate) fn rank_in(base: Ps, (time, kind, port): Key) -> u64 {
    (time - base).0 << 20 | (kind as u64) << 16 | port
}

/// The arrival of such a number.
#[inline(always)]
pub(crate) fn of_rank_in(base: Ps, rank: u64) -> Key {
    (base + Ps(rank >> 20), Kind::of_number((rank >> 16) as usize), rank & 0xFFFF)
}

/// A port's next step that may matter elsewhere, an end of a transmission or a start, as a number that is in the order of keys.
pub(crate) type Step = u64;

/// That of a time and a kind.
#[inline(always)]
pub(crate) fn step(time: Ps, kind: Kind) -> Step {
    2 * time.0 + u64::from(kind > Kind::End)
}

/// The last step before an event.
#[inline]
pub(crate) fn step_before((time, kind, _): Key) -> Step {
    step(time, Kind::End).saturating_sub((kind < Kind::End).into())
}
