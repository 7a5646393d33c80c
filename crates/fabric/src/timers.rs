//! Timers of one node: a few slots for each of its objects, ordered by (time, object, slot).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Timers {
    /// Time of the next expiry, `u64::MAX` if none.
    pub(crate) next: u64,
    heap: BinaryHeap<Reverse<(u64, u32, u8, u32)>>,
    /// Present generation of (object, slot), and its time; an expiry of an older one is stale. Sorted by (object, slot).
    live: Vec<((u32, u8), u32, u64)>,
    generation: u32,
}

impl Default for Timers {
    fn default() -> Self {
        Self { next: u64::MAX, heap: BinaryHeap::new(), live: Vec::new(), generation: 0 }
    }
}

impl Timers {
    /// Starts or restarts the timer `slot` of `object`.
    pub(crate) fn start(&mut self, object: u32, slot: u8, at: u64) {
        self.generation = self.generation.wrapping_add(1);
        match self.live.binary_search_by_key(&(object, slot), |l| l.0) {
            // As a pacer does with each message: the order of expiries does not depend on when they were planned.
            Ok(i) if self.live[i].2 == at => return,
            Ok(i) => self.live[i] = ((object, slot), self.generation, at),
            Err(i) => self.live.insert(i, ((object, slot), self.generation, at)),
        }
        self.heap.push(Reverse((at, object, slot, self.generation)));
        self.settle();
    }

    /// Stops it.
    pub(crate) fn stop(&mut self, object: u32, slot: u8) {
        if let Ok(i) = self.live.binary_search_by_key(&(object, slot), |l| l.0) {
            self.live.remove(i);
        }
        self.settle();
    }

    /// Stops all timers of an object.
    pub(crate) fn stop_all(&mut self, object: u32) {
        self.live.retain(|l| l.0.0 != object);
        self.settle();
    }

    /// Takes the next expiry: (object, slot).
    pub(crate) fn pop(&mut self) -> Option<(u32, u8)> {
        let Reverse((_, object, slot, _)) = self.heap.pop()?;
        if let Ok(i) = self.live.binary_search_by_key(&(object, slot), |l| l.0) {
            self.live.remove(i);
        }
        self.settle();
        Some((object, slot))
    }

    /// Drops stale expiries and notes the next.
    fn settle(&mut self) {
        while let Some(&Reverse((_, object, slot, generation))) = self.heap.peek() {
            match self.live.binary_search_by_key(&(object, slot), |l| l.0) {
                Ok(i) if self.live[i].1 == generation => break,
                _ => {
                    self.heap.pop();
                }
            }
        }
        self.next = self.heap.peek().map_or(u64::MAX, |r| r.0.0);
    }
}
