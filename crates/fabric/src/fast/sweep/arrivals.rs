//! The arrivals of a window, found on the wires and put in order of time.

use crate::check::broken;
use crate::fast::frame::{Entry, order};
use crate::fast::inbox::Inbox;
use crate::fast::switch::Switch;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Kind, Lane, place_of_data};
use crate::net::Net;
use crate::spec::Ties;

/// Arrivals of a window, kept between windows for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Sorted: time in the window, kind, port, from bits 20, 16 and 0.
    pub(super) keys: Vec<u64>,
    /// The times of the keys in the order found, with their index, and the keys in order, while they are ranked.
    found: Vec<i32>,
    ranked: Vec<u64>,
    /// Bytes that arrive at each input: [`Switch::bound_inputs`].
    pub(super) more: Vec<u64>,
}

/// Bit of a port in a set of ports modulo 64.
#[inline(always)]
pub(crate) fn bit(port: usize) -> u64 {
    1 << (port % 64)
}

/// The ports, of so many, whose bits are set, bit by bit.
#[inline(always)]
pub(crate) fn of_bits(mut bits: u64, ports: usize) -> impl Iterator<Item = usize> {
    let mut next = ports;
    std::iter::from_fn(move || {
        while next >= ports {
            next = (bits != 0).then_some(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
        }
        next += 64;
        Some(next - 64)
    })
}

impl Scratch {
    /// Finds what arrives before `end` at some ports, in order of (time, kind, port, or draw among data of one
    /// moment). True if it is data alone.
    #[inline]
    pub(super) fn gather(
        &mut self,
        (s, ports): (&Switch, impl Iterator<Item = usize>),
        base: u64,
        end: u64,
        net: &Net,
        wires: &Wires,
    ) -> bool {
        self.keys.clear();
        let mut data_only = true;
        for p in ports {
            let Some(inbox) = wires.inboxes.get(s.inbox as usize + p) else { broken("no such port") };
            let mut n = 0;
            while let Some(e) = inbox.arrived_before(n, end) {
                n += 1;
                data_only &= e.frame.is_data();
                let kind = Kind::of_arrival(e.frame.kind().lane()) as u64;
                self.keys.push((e.ready - base) << 20 | kind << 16 | p as u64);
            }
        }
        match self.keys.len() {
            0 | 1 => {}
            8..=20 if data_only && end - base < 1 << 26 => self.rank(),
            _ => self.keys.sort_unstable(),
        }
        if net.ties != Ties::ByPort {
            self.order_ties(s, base, net, wires);
        }
        data_only
    }

    /// Puts up to 20 keys of data, found port by port, each where as many others are below it. No branch depends on a key, as the
    /// order of frames that come by several ports cannot be predicted. The library's sort inserts up to 20 keys one by one: with it
    /// `b07-fat` takes 12 % more time, though fewer instructions. Fewer than 8 gain nothing.
    fn rank(&mut self) {
        hit(Mark::Ranked);
        self.found.clear();
        self.found.extend(self.keys.iter().zip(0..).map(|(key, i)| ((key >> 20) as i32) << 5 | i));
        let n = self.keys.len();
        self.found.resize(n.next_multiple_of(8), i32::MAX);
        self.ranked.resize(n, 0);
        let (eights, _) = self.found.as_chunks::<8>();
        for (&key, &found) in self.keys.iter().zip(&self.found) {
            let mut below = [0; 8];
            for eight in eights {
                for (n, &other) in below.iter_mut().zip(eight) {
                    *n += i32::from(other < found);
                }
            }
            if let Some(to) = self.ranked.get_mut(below.iter().sum::<i32>() as usize) {
                *to = key;
            }
        }
        std::mem::swap(&mut self.keys, &mut self.ranked);
    }

    /// Puts data of one moment in the order that is drawn, or that of their starts.
    fn order_ties(&mut self, s: &Switch, base: u64, net: &Net, wires: &Wires) {
        for alike in self.keys.chunk_by_mut(|a, b| a >> 16 == b >> 16) {
            if alike.len() > 1 && alike[0] >> 16 & 0xF == u64::from(order::DATA) {
                hit(Mark::TiesDrawn);
                let at = base + (alike[0] >> 20);
                let len = |port: u16| {
                    let entries = wires.inboxes.get(s.inbox as usize + usize::from(port)).map(Inbox::entries);
                    // A PAUSE over the wire may come at the same moment.
                    let data = |e: &&Entry| e.ready == at && matches!(e.frame.kind().lane(), Lane::Data(_));
                    entries.into_iter().flatten().find(data).map_or(0, |e| e.frame.len)
                };
                let place = |port| place_of_data(net, s.management.id, at, port, len(port));
                alike.sort_unstable_by_key(|&k| place(k as u16));
            }
        }
    }
}
