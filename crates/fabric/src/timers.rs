//! Timers of one node: a few slots for each of its objects, ordered by (time, object, slot).
//!
//! Most are restarted, and later, before they expire. Then the expiry that was planned first stands where it is, and when it comes
//! up it goes to its new time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Timers {
    /// Time of the next expiry, `u64::MAX` if none.
    pub(crate) next: u64,
    /// (time, object, slot); the first is the next expiry.
    heap: BinaryHeap<Reverse<(u64, u32, u8)>>,
    /// Those that run, in order.
    live: Vec<(u32, u8)>,
    /// Of each, the time of the expiry in the heap that counts for it, and when it expires, which is not before that.
    times: Vec<(u64, u64)>,
}

impl Default for Timers {
    fn default() -> Self {
        Self { next: u64::MAX, heap: BinaryHeap::new(), live: Vec::new(), times: Vec::new() }
    }
}

impl Timers {
    /// Starts or restarts the timer `slot` of `object`.
    pub(crate) fn start(&mut self, object: u32, slot: u8, at: u64) {
        match self.live.binary_search(&(object, slot)) {
            Ok(i) if at >= self.times[i].0 => {
                self.times[i].1 = at;
                if self.times[i].0 == self.next {
                    self.settle();
                }
                return;
            }
            Ok(i) => self.times[i] = (at, at),
            Err(i) => {
                self.live.insert(i, (object, slot));
                self.times.insert(i, (at, at));
            }
        }
        self.heap.push(Reverse((at, object, slot)));
        self.next = self.next.min(at);
    }

    /// Stops it.
    pub(crate) fn stop(&mut self, object: u32, slot: u8) {
        self.forget(object, slot);
        self.settle();
    }

    /// Stops all timers of an object.
    pub(crate) fn stop_all(&mut self, object: u32) {
        let first = self.live.partition_point(|l| l.0 < object);
        let after = self.live.partition_point(|l| l.0 <= object);
        self.live.drain(first..after);
        self.times.drain(first..after);
        self.settle();
    }

    /// Takes the next expiry: (object, slot).
    pub(crate) fn pop(&mut self) -> Option<(u32, u8)> {
        let Reverse((_, object, slot)) = self.heap.pop()?;
        self.forget(object, slot);
        self.settle();
        Some((object, slot))
    }

    fn forget(&mut self, object: u32, slot: u8) {
        if let Ok(i) = self.live.binary_search(&(object, slot)) {
            self.live.remove(i);
            self.times.remove(i);
        }
    }

    /// Drops expiries that do not count, lets those of restarted timers go to their times, and notes the next.
    fn settle(&mut self) {
        while let Some(mut first) = self.heap.peek_mut() {
            let Reverse((planned, object, slot)) = *first;
            let times = self.live.binary_search(&(object, slot)).ok().and_then(|i| self.times.get_mut(i));
            match times.filter(|t| t.0 == planned) {
                Some(t) if t.1 == planned => {
                    self.next = planned;
                    return;
                }
                Some(t) => {
                    t.0 = t.1;
                    first.0.0 = t.1;
                }
                None => {
                    PeekMut::pop(first);
                }
            }
        }
        self.next = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::{Purpose, Stream};
    use std::collections::BTreeMap;

    /// Against a map from timers to their times: starts, restarts to earlier, later and the same time, stops, expiries, with many
    /// of one moment.
    #[test]
    fn as_a_map_would_have_it() {
        let mut r = Stream::new(3, 0, Purpose::Test);
        let (mut timers, mut map, mut expired, mut now) = (Timers::default(), BTreeMap::new(), 0, 0u64);
        for _ in 0..200_000 {
            let (object, slot) = (r.below(9) as u32 * 500, r.below(3) as u8);
            match r.below(16) {
                0 => {
                    timers.stop(object, slot);
                    map.remove(&(object, slot));
                }
                1 => {
                    timers.stop_all(object);
                    map.retain(|k: &(u32, u8), _| k.0 != object);
                }
                2..=5 => {
                    let first = map.iter().map(|(k, &at)| (at, *k)).min();
                    assert_eq!(timers.pop(), first.map(|f| f.1));
                    if let Some((at, key)) = first {
                        map.remove(&key);
                        now = at;
                        expired += 1;
                    }
                }
                _ => {
                    let at = now + r.below(20);
                    timers.start(object, slot, at);
                    map.insert((object, slot), at);
                }
            }
            assert_eq!(timers.next, map.values().copied().min().unwrap_or(u64::MAX));
        }
        assert!(expired > 20_000 && timers.heap.len() < 100, "{expired} {}", timers.heap.len());
    }
}
