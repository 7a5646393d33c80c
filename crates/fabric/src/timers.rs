//! Timers of one node: a few slots for each of its objects, ordered by (time, object, slot).

use crate::numbers::{NEVER, Ps};
use std::cmp::Reverse;

/// Timers, in two flat lists.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Timers {
    /// Time of the next expiry, `u64::MAX` if none.
    pub(crate) next: Ps,
    /// Object, slot and time of those that run, by object and slot.
    live: Vec<((u32, u8), Ps)>,
    /// Time, object and slot of the same; the next is last.
    order: Vec<(Ps, u32, u8)>,
}

impl Default for Timers {
    fn default() -> Self {
        Self { next: NEVER, live: Vec::new(), order: Vec::new() }
    }
}

impl Timers {
    /// Starts or restarts the timer `slot` of `object`.
    pub(crate) fn start(&mut self, object: u32, slot: u8, at: Ps) {
        match self.find(object, slot) {
            Ok(i) if self.live[i].1 == at => return,
            Ok(i) => {
                let before = std::mem::replace(&mut self.live[i].1, at);
                self.forget((before, object, slot));
            }
            Err(i) => self.live.insert(i, ((object, slot), at)),
        }
        let place = self.order.partition_point(|t| (t.0.0, t.1, t.2) > (at.0, object, slot));
        self.order.insert(place, (at, object, slot));
        self.settle();
    }

    /// Stops it.
    pub(crate) fn stop(&mut self, object: u32, slot: u8) {
        if let Ok(i) = self.find(object, slot) {
            let (_, at) = self.live.remove(i);
            self.forget((at, object, slot));
            self.settle();
        }
    }

    /// Does none run but this one?
    pub(crate) fn are_still_but(&self, object: u32, slot: u8) -> bool {
        self.live.iter().all(|t| t.0 == (object, slot))
    }

    /// Place of a timer among those that run, or the place where it would stand.
    fn find(&self, object: u32, slot: u8) -> Result<usize, usize> {
        self.live.binary_search_by_key(&(object, slot), |t| t.0)
    }

    /// Takes one out of the order.
    fn forget(&mut self, timer: (Ps, u32, u8)) {
        if let Ok(i) = self.order.binary_search_by_key(&Reverse(timer), |t| Reverse(*t)) {
            self.order.remove(i);
        }
    }

    /// Stops the timers of an object in slots up to `last`.
    pub(crate) fn stop_up_to(&mut self, object: u32, last: u8) {
        self.live.retain(|t| t.0.0 != object || t.0.1 > last);
        self.order.retain(|t| t.1 != object || t.2 > last);
        self.settle();
    }

    /// Takes the next expiry: (object, slot).
    pub(crate) fn pop(&mut self) -> Option<(u32, u8)> {
        let (_, object, slot) = self.order.pop()?;
        if let Ok(i) = self.find(object, slot) {
            self.live.remove(i);
        }
        self.settle();
        Some((object, slot))
    }

    fn settle(&mut self) {
        self.next = self.order.last().map_or(NEVER, |t| t.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one moment they expire by object and slot; those that were stopped do not.
    #[test]
    fn timers_expire_by_time_object_and_slot() {
        let mut timers = Timers::default();
        let starts = [(2, 0, 50), (1, 1, 50), (1, 0, 50), (5, 2, 30), (5, 3, 70), (3, 0, 60)];
        starts.iter().for_each(|t| timers.start(t.0, t.1, Ps(t.2)));
        timers.stop_up_to(5, 2);
        let all = std::iter::from_fn(|| Some((timers.next.0, timers.pop()?)));
        assert!(all.eq([(50, (1, 0)), (50, (1, 1)), (50, (2, 0)), (60, (3, 0)), (70, (5, 3))]));
    }
}
