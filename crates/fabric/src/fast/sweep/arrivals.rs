//! The arrivals of a window, found on the wires and put in order of time.

use crate::fast::frame::{arrival_kind, order};
use crate::fast::switch::Switch;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::place_of_data;
use crate::net::Net;
use crate::spec::Ties;

/// Arrivals of a window, kept between windows for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Sorted: time in the window, kind, port (see [`key`]).
    pub(super) keys: Vec<u64>,
}

/// An arrival as a number that sorts by (time, kind, port).
#[inline]
pub(super) fn key(offset: u64, kind: u8, port: u64) -> u64 {
    offset << 20 | u64::from(kind) << 16 | port
}

impl Scratch {
    /// Finds what arrives before `end`, in order of (time, kind, port).
    pub(super) fn gather(&mut self, s: &Switch, base: u64, end: u64, net: &Net, wires: &Wires) {
        self.keys.clear();
        let inboxes = wires.inboxes.get(s.inbox as usize..).unwrap_or_default();
        for (p, inbox) in inboxes.iter().take(s.linked).enumerate() {
            let mut n = 0;
            while let Some(e) = inbox.due(n, end) {
                n += 1;
                self.keys.push(key(e.ready - base, arrival_kind(e.frame.kind()), p as u64));
            }
        }
        self.sort(s.id, base, net);
    }

    /// Puts the keys in order of (time, kind, place among those of one moment).
    pub(super) fn sort(&mut self, node: u32, base: u64, net: &Net) {
        self.keys.sort_unstable();
        if net.ties == Ties::ByPort {
            return;
        }
        for alike in self.keys.chunk_by_mut(|a, b| a >> 16 == b >> 16) {
            if alike.len() > 1 && alike[0] >> 16 & 0xF == u64::from(order::DATA) {
                hit(Mark::TiesDrawn);
                let at = base + (alike[0] >> 20);
                alike.sort_unstable_by_key(|&k| place_of_data(net, node, at, k as u16));
            }
        }
    }
}
