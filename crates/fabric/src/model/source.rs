//! A source: when frames come to be, and for whom.
//!
//! Time at a source is cut into slots, each as long as one of its frames takes on the access link. In each slot it offers a
//! frame or none. A *drawn* source offers by chance, and a frame that finds no room is discarded. A *greedy* one offers a frame again
//! until the host has room for it. One of finite flows has no slots: a flow begins when its list says so ([`super::transfers`]).

use super::agenda::NEVER;
use super::transfers::FlowQueue;
use crate::flows::Outgoing;
use crate::net::Net;
use crate::spec::{Arrivals, Destinations, Phase, SourceSpec};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::network::{Purpose, Stream};
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
    /// Class of data.
    pub(crate) class: u8,
}

/// The bursts of a drawn source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bursts {
    /// One begins when 32 random bits are below this (2^32 = always).
    threshold: u64,
    /// Its frames, and those still to come of the present one.
    frames: u32,
    to_follow: u32,
    /// Destination of the present one.
    pub(crate) dst: u32,
}

impl Bursts {
    /// Has a slot that draws these bits a frame?
    #[inline(always)]
    pub(crate) fn have(&self, bits: u64) -> bool {
        self.to_follow > 0 || (bits & 0xFFFF_FFFF) < self.threshold
    }
    /// Takes that frame: its destination, which is `chosen` as a burst begins.
    #[inline(always)]
    pub(crate) fn take(&mut self, chosen: impl FnOnce() -> u32) -> u32 {
        if self.to_follow > 0 {
            self.to_follow -= 1;
        } else {
            (self.to_follow, self.dst) = (self.frames - 1, chosen());
        }
        self.dst
    }
}

/// How a source fills its slots.
#[derive(Debug)]
enum Pattern {
    /// By chance.
    Drawn(Bursts),
    /// Every slot while on; `off` = 0: always on.
    Greedy { on: u64, off: u64, shift: u64 },
    /// Finite flows, by start; the first `begun` have begun.
    Finite { list: Arc<[Outgoing]>, begun: usize },
}

/// A source of frames.
#[derive(Debug)]
pub(crate) struct Source {
    /// When the next slot or finite flow begins, ps.
    pub(crate) next: u64,
    pattern: Pattern,
    pub(crate) stream: Stream,
    pub(crate) slot: u64,
    start: u64,
    pub(crate) stop: u64,
    pub(crate) len: u16,
    /// Class of its frames.
    class: u8,
    host: u32,
    /// Destinations, and how many; of an empty list: all hosts but this one.
    list: Vec<u32>,
    choices: u64,
}

impl Source {
    /// Source number `index` of `host`, whose link has the rate `line`.
    pub(crate) fn new(spec: &SourceSpec, (host, index): (u32, usize), line: TxRate, net: &Net) -> Self {
        let (hosts, seed) = (net.hosts, net.seed);
        let site = u64::from(host) | (index as u64) << 32;
        let len = spec.frame.get() as u16;
        let slot = line.time(len).max(1);
        let phase = match spec.phase {
            // A finite flow begins when its list says so.
            Phase::Random if spec.arrivals != Arrivals::Transfers => {
                Stream::new(seed, site, Purpose::Phase).below(slot)
            }
            Phase::Random | Phase::Aligned => 0,
        };
        let list: Vec<u32> = match &spec.destinations {
            Destinations::Uniform => Vec::new(),
            Destinations::Fixed(n) => vec![n.0],
            Destinations::Among(list) => list.iter().map(|n| n.0).filter(|&n| n != host).collect(),
        };
        let pattern = Pattern::new(spec, || net.flows.of_source(host, index));
        let (start, stop) = match &pattern {
            // A list of flows has its own times.
            Pattern::Finite { list, .. } => (list.first().map_or(NEVER, |flow| flow.start), NEVER),
            _ => (spec.start.as_ps(), spec.stop.as_ps()),
        };
        let choices = if list.is_empty() { u64::from(hosts.saturating_sub(1)) } else { list.len() as u64 };
        let silent = choices == 0 || !pattern.ever_offers();
        let first = start.saturating_add(phase);
        let next = if silent || first >= stop { NEVER } else { first };
        let stream = Stream::new(seed, site, Purpose::Source);
        Self { next, pattern, stream, slot, start, stop, len, class: spec.class, host, list, choices }
    }

    /// The bursts of a drawn one.
    pub(crate) fn drawn(&self) -> Option<Bursts> {
        if let Pattern::Drawn(bursts) = self.pattern { Some(bursts) } else { None }
    }

    /// Does it offer a frame again where the host has no room?
    pub(crate) fn is_greedy(&self) -> bool {
        matches!(self.pattern, Pattern::Greedy { .. })
    }

    /// Are its frames those of finite flows? It has no slots then.
    pub(crate) fn is_finite(&self) -> bool {
        matches!(self.pattern, Pattern::Finite { .. })
    }

    /// The next of the finite flows that begin now or have begun; nothing is sent of one of 0 bytes.
    pub(crate) fn begin(&mut self, now: u64) -> Option<FlowQueue> {
        let Pattern::Finite { list, begun } = &mut self.pattern else { return None };
        while let Some(flow) = list.get(*begun).filter(|flow| flow.start <= now) {
            *begun += 1;
            if flow.bytes > 0 {
                let &Outgoing { bytes, dst, number, .. } = flow;
                return Some(FlowQueue { since: 0, bytes, dst, number, whole: self.len, class: self.class });
            }
        }
        self.next = list.get(*begun).map_or(NEVER, |flow| flow.start);
        None
    }

    /// The slot that begins now: what it offers.
    pub(crate) fn slot(&mut self) -> Option<Offer> {
        let now = self.next;
        self.next = now + self.slot;
        if self.next >= self.stop {
            self.next = NEVER;
        }
        // One draw a slot, whatever comes of it: its lower half says whether, its upper half where to.
        let bits = self.stream.bits();
        let chosen = self.choose(bits >> 32);
        let dst = match &mut self.pattern {
            Pattern::Drawn(bursts) if bursts.have(bits) => bursts.take(|| chosen),
            Pattern::Drawn(_) | Pattern::Finite { .. } => return None,
            Pattern::Greedy { on, off, shift } => {
                if *off > 0 && (now - self.start + *shift) % (*on + *off) >= *on {
                    return None;
                }
                chosen
            }
        };
        Some(Offer { dst, len: self.len, class: self.class })
    }

    /// Destination by 32 random bits.
    #[inline]
    pub(crate) fn choose(&self, bits: u64) -> u32 {
        let pick = ((bits * self.choices) >> 32) as u32;
        match self.list.get(pick as usize) {
            Some(&dst) => dst,
            None => pick + u32::from(pick >= self.host),
        }
    }
}

impl Pattern {
    fn new(spec: &SourceSpec, flows: impl FnOnce() -> Arc<[Outgoing]>) -> Self {
        let drawn = |chance: f64, frames| {
            let threshold = (chance.clamp(0.0, 1.0) * ALWAYS).round() as u64;
            Pattern::Drawn(Bursts { threshold, frames, to_follow: 0, dst: 0 })
        };
        match spec.arrivals {
            Arrivals::Bernoulli { load } => drawn(load, 1),
            Arrivals::Bursts { load, frames } if load > 0.0 => {
                // A cycle is a burst of N slots and (1 - p) / p idle ones: load = N / (N + (1 - p) / p).
                let burst = frames.max(1);
                drawn(1.0 / (1.0 + f64::from(burst) * (1.0 - load.min(1.0)) / load), burst)
            }
            Arrivals::Bursts { .. } => drawn(0.0, 1),
            Arrivals::Greedy => Pattern::Greedy { on: 1, off: 0, shift: 0 },
            Arrivals::OnOff { on, off, shift } => {
                Pattern::Greedy { on: on.as_ps().max(1), off: off.as_ps(), shift: shift.as_ps() }
            }
            Arrivals::Transfers => Pattern::Finite { list: flows(), begun: 0 },
        }
    }

    /// Will it ever offer a frame?
    fn ever_offers(&self) -> bool {
        match self {
            Pattern::Drawn(bursts) => bursts.threshold > 0,
            Pattern::Greedy { .. } => true,
            Pattern::Finite { list, .. } => !list.is_empty(),
        }
    }
}
