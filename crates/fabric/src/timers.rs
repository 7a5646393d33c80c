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
    live: Vec<Timer>,
}

#[derive(Debug)]
struct Timer {
    /// Object and slot.
    key: (u32, u8),
    /// Time of the expiry in the heap that counts for it.
    planned: u64,
    /// When it expires: not before that.
    at: u64,
}

impl Default for Timers {
    fn default() -> Self {
        Self { next: u64::MAX, heap: BinaryHeap::new(), live: Vec::new() }
    }
}

impl Timers {
    /// Starts or restarts the timer `slot` of `object`.
    pub(crate) fn start(&mut self, object: u32, slot: u8, at: u64) {
        let key = (object, slot);
        match self.live.binary_search_by_key(&key, |t| t.key) {
            Ok(i) if at >= self.live[i].planned => {
                self.live[i].at = at;
                if self.live[i].planned == self.next {
                    self.settle();
                }
                return;
            }
            Ok(i) => self.live[i] = Timer { key, planned: at, at },
            Err(i) => self.live.insert(i, Timer { key, planned: at, at }),
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
        self.live.retain(|t| t.key.0 != object);
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
        if let Ok(i) = self.live.binary_search_by_key(&(object, slot), |t| t.key) {
            self.live.remove(i);
        }
    }

    /// Drops expiries that do not count, lets those of restarted timers go to their times, and notes the next.
    fn settle(&mut self) {
        while let Some(mut first) = self.heap.peek_mut() {
            let Reverse((planned, object, slot)) = *first;
            let timer = self.live.binary_search_by_key(&(object, slot), |t| t.key).ok();
            match timer.and_then(|i| self.live.get_mut(i)).filter(|t| t.planned == planned) {
                Some(t) if t.at == planned => {
                    self.next = planned;
                    return;
                }
                Some(t) => {
                    t.planned = t.at;
                    first.0.0 = t.at;
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
    use cnsim_scheme_api::network::{Purpose, Stream};
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
