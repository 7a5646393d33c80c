//! Sources of frames: slotted, one draw a slot, by integer comparison.

use crate::frame::{NEVER, TxRate};
use crate::spec::{Arrivals, Destinations, Phase, SourceSpec};
use cnsim_scheme_api::{Purpose, Stream};

#[derive(Debug)]
pub(crate) struct Source {
    stream: Stream,
    /// Next slot, ps.
    pub(crate) next: u64,
    slot: u64,
    start: u64,
    stop: u64,
    /// A frame comes when 32 random bits are below this (2^32 = always).
    threshold: u64,
    /// On and off times; off = 0: always on.
    on: u64,
    off: u64,
    off_first: bool,
    /// Never more than the host can take: skips a slot when it is full.
    pub(crate) greedy: bool,
    pub(crate) len: u16,
    host: u32,
    /// Number of destinations, and the list unless they are all hosts but this one.
    choices: u64,
    list: Vec<u32>,
}

impl Source {
    pub(crate) fn new(
        spec: &SourceSpec,
        host: u32,
        index: usize,
        hosts: u32,
        line: TxRate,
        seed: u64,
    ) -> Self {
        let site = u64::from(host) | (index as u64) << 32;
        let len = spec.frame.get() as u16;
        let slot = line.time(len).max(1);
        let phase = match spec.phase {
            Phase::Random => Stream::new(seed, site, Purpose::Phase).below(slot),
            Phase::Aligned => 0,
        };
        let (load, on, off, off_first, greedy) = match spec.arrivals {
            Arrivals::Bernoulli { load } => (load, 1, 0, false, false),
            Arrivals::Greedy => (1.0, 1, 0, false, true),
            Arrivals::OnOff { on, off, off_first } => (1.0, on.as_ps().max(1), off.as_ps(), off_first, true),
        };
        let list = match &spec.destinations {
            Destinations::Uniform => Vec::new(),
            Destinations::Fixed(n) => vec![n.0],
            Destinations::Among(list) => list.iter().map(|n| n.0).filter(|&n| n != host).collect(),
        };
        let choices = if list.is_empty() { u64::from(hosts.saturating_sub(1)) } else { list.len() as u64 };
        let start = spec.start.as_ps();
        let silent = choices == 0 || load <= 0.0;
        Self {
            stream: Stream::new(seed, site, Purpose::Source),
            next: if silent { NEVER } else { start + phase },
            slot,
            start,
            stop: spec.stop.as_ps(),
            threshold: (load.clamp(0.0, 1.0) * 4_294_967_296.0).round() as u64,
            on,
            off,
            off_first,
            greedy,
            len,
            host,
            choices,
            list,
        }
    }

    /// The slot that begins now: draws, moves on, and yields a destination if a frame comes.
    #[inline]
    pub(crate) fn slot(&mut self) -> Option<u32> {
        let now = self.next;
        let bits = self.stream.bits();
        self.next = now + self.slot;
        if self.next >= self.stop {
            self.next = NEVER;
        }
        if (bits & 0xFFFF_FFFF) >= self.threshold || now >= self.stop {
            return None;
        }
        if self.off > 0 {
            let at = (now - self.start) % (self.on + self.off);
            let on = if self.off_first { at >= self.off } else { at < self.on };
            if !on {
                return None;
            }
        }
        let pick = ((bits >> 32) * self.choices) >> 32;
        Some(match self.list.get(pick as usize) {
            Some(&d) => d,
            None => pick as u32 + u32::from(pick as u32 >= self.host),
        })
    }
}
