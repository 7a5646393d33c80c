//! The arrivals of a window, found on the wires and put in order of time.
//!
//! * Claim: the arrivals of a busy window come in order of time without a sort of all.
//! * Same bits: keys are (time, input), which no two arrivals share, so every way to order them yields the same order.
//! * Bench row: b07-fat.
//! * Marks: Ranked; out: TiesDrawn.

use crate::fast::frame::{Kind, arrival_kind, order};
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
    /// The same for a window of data alone, in 31 bits: time in the window, port; in the order found, and sorted.
    short_found: Vec<i32>,
    pub(super) short: Vec<i32>,
    /// Where the keys of each stretch of a busy window go.
    stretches: Vec<u32>,
}

/// An arrival as a number that sorts by (time, kind, port).
#[inline]
pub(super) fn key(offset: u64, kind: u8, port: u64) -> u64 {
    offset << 20 | u64::from(kind) << 16 | port
}

impl Scratch {
    /// Finds the data that arrives before `end`, in order of (time, port), and says how many frames; none if there is
    /// something else among it.
    #[inline]
    pub(super) fn gather_data(&mut self, s: &Switch, base: u64, end: u64, wires: &Wires) -> Option<usize> {
        // Times and ports fit 31 bits.
        if s.bits == 0 || end - base >= (1 << 31) >> s.bits {
            return None;
        }
        self.short_found.clear();
        let mut kinds = 0;
        for (p, inbox) in wires.inboxes.get(s.inbox as usize..)?.iter().take(s.linked).enumerate() {
            let mut n = 0;
            while let Some(e) = inbox.due(n, end) {
                n += 1;
                kinds |= e.frame.kind() as u8;
                self.short_found.push((((e.ready - base) as i32) << s.bits) | p as i32);
            }
        }
        if kinds != Kind::Data as u8 {
            return None;
        }
        let n = self.short_found.len();
        self.rank(n, (end - base) << s.bits);
        Some(n)
    }

    /// A window holds a handful, in disorder between ports: ranking them takes no branch that could be mispredicted. No two
    /// data frames have the same key, as each takes time on its link.
    #[inline]
    fn rank(&mut self, n: usize, range: u64) {
        if self.short.len() < n {
            self.short.resize(n, 0);
        }
        if n > 32 {
            return self.rank_many(n, range);
        }
        self.short_found.extend_from_slice(&[i32::MAX; 8]);
        if n <= 8 {
            if let Some(all) = self.short_found.first_chunk::<8>() {
                for &key in &all[..n] {
                    place(&mut self.short, key, below(key, all).iter().sum());
                }
            }
            return;
        }
        let (eights, _) = self.short_found.as_chunks::<8>();
        for &key in &self.short_found[..n] {
            let mut sum = [0i32; 8];
            for eight in eights {
                for (b, one) in sum.iter_mut().zip(below(key, eight)) {
                    *b += one;
                }
            }
            place(&mut self.short, key, sum.iter().sum());
        }
    }

    /// Many keys below `range`: spread over stretches of the window of which each holds less than one, they are nearly in order.
    #[inline(never)]
    fn rank_many(&mut self, n: usize, range: u64) {
        let stretches = (2 * n).next_power_of_two();
        let shift = (64 - range.leading_zeros()).saturating_sub(stretches.trailing_zeros());
        self.stretches.clear();
        self.stretches.resize(stretches + 1, 0);
        let stretch = |key: i32| (key as u32 >> shift) as usize & (stretches - 1);
        for &key in &self.short_found {
            if let Some(count) = self.stretches.get_mut(stretch(key)) {
                *count += 1;
            }
        }
        let mut before = 0;
        for count in &mut self.stretches {
            before += std::mem::replace(count, before);
        }
        for &key in &self.short_found {
            if let Some(place) = self.stretches.get_mut(stretch(key)) {
                if let Some(to) = self.short.get_mut(*place as usize) {
                    *to = key;
                }
                *place += 1;
            }
        }
        let sorted = &mut self.short[..n];
        for i in 1..n {
            let key = sorted[i];
            let mut at = i;
            while at > 0 && sorted[at - 1] > key {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = key;
        }
    }

    /// The keys from `done` on in the general form.
    pub(super) fn widen(&mut self, bits: u32, done: usize, n: usize) {
        self.keys.clear();
        let port = (1 << bits) - 1;
        self.keys.extend(
            self.short[done..n].iter().map(|&k| key((k >> bits) as u64, order::DATA, (k & port) as u64)),
        );
    }

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

/// Which of eight keys are below this one.
#[inline(always)]
fn below(key: i32, eight: &[i32; 8]) -> [i32; 8] {
    eight.map(|other| i32::from(other < key))
}

#[inline(always)]
fn place(sorted: &mut [i32], key: i32, rank: i32) {
    if let Some(place) = sorted.get_mut(rank as usize) {
        *place = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::{Purpose, Stream};

    /// However many, and crowded or spread over their range.
    #[test]
    fn keys_come_in_order() {
        for seed in 0..400 {
            let mut r = Stream::new(seed, 3, Purpose::Test);
            let range = 1 << (10 + r.below(22));
            let n = r.below(700).min(range / 2) as usize;
            let crowd = if r.below(3) == 0 { range } else { (range / 37).max(2 * n as u64) };
            let mut keys: Vec<i32> = (0..n).map(|_| r.below(crowd) as i32).collect();
            keys.sort_unstable();
            keys.dedup();
            let sorted = keys.clone();
            for i in (1..keys.len()).rev() {
                keys.swap(i, r.below(i as u64 + 1) as usize);
            }
            let mut scratch = Scratch { short_found: keys, ..Scratch::default() };
            scratch.rank(sorted.len(), range);
            assert_eq!(scratch.short[..sorted.len()], sorted, "seed {seed}, range {range}");
        }
    }
}
