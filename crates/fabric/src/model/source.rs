//! A source: when frames come to be, and for whom.
//!
//! Time at a source is cut into slots, each as long as one of its frames takes on the access link. In each slot it offers a
//! frame or none. A *drawn* source offers by chance, and a frame that finds no room is discarded. A *greedy* one offers a frame again
//! until the host has room for it. One of finite flows has no slots: a flow begins when its list says so ([`super::transfers`]).
//!
//! A source draws ahead up to the next slot that has a frame: its stream is its own, and what others do has no part in that.

use super::transfers::FlowQueue;
use crate::flows::Outgoing;
use crate::net::{NEVER, Net, Ps};
use crate::spec::{Arrivals, Destinations, Phase, SourceSpec};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{FlowId, Rate};
use std::sync::Arc;

/// 2^32: every draw of 32 random bits is below it.
const ALWAYS: f64 = 4_294_967_296.0;

/// A frame offered in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Destination host.
    pub(crate) dst: u32,
    /// Bytes on the link.
    pub(crate) len: u16,
}

/// Which slots have a frame.
#[derive(Debug)]
struct Slots {
    /// A burst begins when 32 random bits are below this (2^32 = always).
    threshold: u64,
    /// Frames of a burst, and those still to come of the present one.
    frames: u32,
    to_follow: u32,
    /// From `start` on it is on and off by turns, ps; `off` = 0: always on.
    start: Ps,
    on: Ps,
    off: Ps,
}

impl Slots {
    fn new(spec: &SourceSpec) -> Self {
        let drawn = |chance: f64, frames| {
            let threshold = (chance.clamp(0.0, 1.0) * ALWAYS).round() as u64;
            Self { threshold, frames, to_follow: 0, start: Ps(0), on: Ps(1), off: Ps(0) }
        };
        match spec.arrivals {
            Arrivals::Bernoulli { load } => drawn(load, 1),
            Arrivals::Bursts { load, frames } if load > 0.0 => {
                // A cycle is a burst of N slots and (1 - p) / p idle ones: load = N / (N + (1 - p) / p).
                let burst = frames.max(1);
                drawn(1.0 / (1.0 + f64::from(burst) * (1.0 - load.min(1.0)) / load), burst)
            }
            Arrivals::Bursts { .. } | Arrivals::Transfers => drawn(0.0, 1),
            Arrivals::Greedy => drawn(1.0, 1),
            Arrivals::OnOff { on, off, shift } => {
                // A shift lets its periods begin earlier.
                let (on, off) = (Ps::from(on).max(Ps(1)), off.into());
                let start = Ps(spec.start.as_ps().wrapping_sub(shift.as_ps()));
                Self { start, on, off, ..drawn(1.0, 1) }
            }
        }
    }
}

/// A source of frames.
#[derive(Debug)]
pub(crate) struct Source {
    /// When the next slot that has a frame or the next finite flow begins, ps.
    pub(crate) next: Ps,
    /// As far as it has drawn.
    stream: Stream,
    slot: Ps,
    stop: Ps,
    slots: Slots,
    /// Destination of the frame that comes next.
    dst: u32,
    pub(crate) len: u16,
    /// Least bytes of a last frame.
    floor: u8,
    /// Whether the source offers a frame again if the host has no room.
    pub(crate) greedy: bool,
    host: u32,
    /// Destinations, and how many; of an empty list: all hosts but this one.
    list: Vec<u32>,
    choices: u64,
    /// Its finite flows; none for a source with slots.
    finite: Option<Finite>,
    /// The rate at which queue pairs begin.
    pub(crate) initial_rate: Option<Rate>,
}

/// Finite flows of a source, by start.
#[derive(Debug)]
struct Finite {
    flows: Arc<[Outgoing]>,
    /// The first so many have begun.
    begun: usize,
    /// The number of the first of them, if they have queue pairs.
    first_pair: Option<u32>,
}

impl Source {
    /// Source number `index` of `host`, whose link has the rate `line`.
    pub(crate) fn new(spec: &SourceSpec, (host, index): (u32, usize), line: TxRate, net: &Net) -> Self {
        let site = u64::from(host) | (index as u64) << 32;
        let len = spec.frame.get() as u16;
        let slot = line.time(len).max(Ps(1));
        let phase = match spec.phase {
            Phase::Random => Stream::new(net.seed, site, Purpose::Phase).below(slot.0),
            Phase::Aligned => 0,
        };
        let list: Vec<u32> = match &spec.destinations {
            Destinations::Uniform => Vec::new(),
            Destinations::Fixed(n) => vec![n.0],
            Destinations::Among(list) => list.iter().map(|n| n.0).filter(|&n| n != host).collect(),
        };
        let choices =
            if list.is_empty() { u64::from(net.hosts.saturating_sub(1)) } else { list.len() as u64 };
        let (flows, first_pair) = (net.flows.of_source(host, index), net.flows.first_of(host, index));
        let finite = (spec.arrivals == Arrivals::Transfers).then_some(Finite { flows, begun: 0, first_pair });
        let slots = Slots::new(spec);
        let silent = choices == 0 || slots.threshold == 0;
        let mut source = Self {
            next: Ps::from(spec.start).saturating_add(Ps(phase)),
            stream: Stream::new(net.seed, site, Purpose::Source),
            slot,
            stop: if silent { Ps(0) } else { net.duration.min(spec.stop.into()) },
            slots,
            dst: 0,
            len,
            floor: spec.floor.get() as u8,
            greedy: matches!(spec.arrivals, Arrivals::Greedy | Arrivals::OnOff { .. }),
            host,
            list,
            choices,
            finite,
            initial_rate: spec.initial_rate,
        };
        match &source.finite {
            // A list of flows has its own times.
            Some(own) if choices > 0 => source.next = own.flows.first().map_or(NEVER, |flow| flow.start),
            Some(_) => source.next = NEVER,
            None => source.seek(),
        }
        source
    }

    /// Are its frames those of finite flows? It has no slots then.
    pub(crate) fn is_finite(&self) -> bool {
        self.finite.is_some()
    }

    /// The next of the finite flows that begin now or have begun; nothing is sent of one of 0 bytes.
    pub(crate) fn begin(&mut self, now: Ps) -> Option<FlowQueue> {
        let Finite { flows, begun, first_pair } = self.finite.as_mut()?;
        while let Some(flow) = flows.get(*begun).filter(|flow| flow.start <= now) {
            *begun += 1;
            if flow.bytes > 0 {
                let &Outgoing { bytes, dst, number, .. } = flow;
                let pair = first_pair.map(|first| FlowId(first + *begun as u32 - 1));
                let (place, whole, floor) = (0, self.len, self.floor);
                return Some(FlowQueue { place, bytes, dst, number, whole, floor, pair });
            }
        }
        self.next = flows.get(*begun).map_or(NEVER, |flow| flow.start);
        None
    }

    /// The slot that begins now: what it offers.
    #[inline(always)]
    pub(crate) fn offer(&mut self) -> Offer {
        let offer = Offer { dst: self.dst, len: self.len };
        self.next += self.slot;
        self.seek();
        offer
    }

    /// Draws slot by slot from `next` on, until one has a frame. One draw a slot, whatever comes of it: its lower half says whether,
    /// its upper half where to.
    #[inline(always)]
    fn seek(&mut self) {
        // Most slots are empty where the load is small: all that a draw needs stays in registers meanwhile.
        let (mut stream, mut next) = (self.stream.clone(), self.next);
        let (stop, slot, slots) = (self.stop, self.slot, &mut self.slots);
        let in_burst = slots.to_follow > 0;
        let threshold = if in_burst { u64::MAX } else { slots.threshold };
        let bits = loop {
            if next >= stop {
                self.next = NEVER;
                return;
            }
            let bits = stream.bits();
            let in_on_time = || {
                slots.off == Ps(0)
                    || Ps(next.0.wrapping_sub(slots.start.0)) % (slots.on + slots.off) < slots.on
            };
            if (bits & 0xFFFF_FFFF) < threshold && in_on_time() {
                break bits;
            }
            next += slot;
        };
        (self.stream, self.next) = (stream, next);
        if in_burst {
            slots.to_follow -= 1;
        } else {
            // A burst has one destination.
            slots.to_follow = slots.frames - 1;
            self.dst = self.choose(bits >> 32);
        }
    }

    /// Destination by 32 random bits.
    #[inline]
    fn choose(&self, bits: u64) -> u32 {
        let pick = ((bits * self.choices) >> 32) as u32;
        match self.list.get(pick as usize) {
            Some(&dst) => dst,
            None => pick + u32::from(pick >= self.host),
        }
    }
}
