//! Sources of frames: slotted, one draw a slot, by integer comparison.
//!
//! * Claim: a source draws its slots ahead up to the next frame.
//! * Same bits: the stream is its own, and each slot takes one draw of it.
//! * Bench row: w1.
//! * Marks: HostCalm.

use crate::fast::frame::NEVER;
use crate::flows::{Flows, Outgoing};
use crate::spec::{Arrivals, Destinations, Phase, SourceSpec};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{Purpose, Stream};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Source {
    stream: Stream,
    /// Next slot, ps; of a source that is never held back, the next slot in which a frame comes.
    pub(crate) next: u64,
    slot: u64,
    start: u64,
    stop: u64,
    /// A frame comes when 32 random bits are below this (2^32 = always).
    threshold: u64,
    /// On and off times; off = 0: always on.
    on: u64,
    off: u64,
    shift: u64,
    /// Frames of a burst (1 = none), those left of the present one, and its destination.
    burst: u32,
    left: u32,
    pub(crate) to: u32,
    /// Never more than the host can take: skips a slot when it is full.
    pub(crate) greedy: bool,
    pub(crate) len: u16,
    host: u32,
    /// Number of destinations, and the list unless they are all hosts but this one.
    choices: u64,
    list: Vec<u32>,
    /// Finite transfers, if that is what this source does.
    transfers: Option<Box<Transfers>>,
}

/// Finite transfers of a source.
#[derive(Debug)]
struct Transfers {
    frame: u64,
    /// By start; those before `begun` have begun.
    list: Arc<[Outgoing]>,
    begun: usize,
    /// Under way: what is left of each; the first is next.
    active: VecDeque<Outgoing>,
}

impl Source {
    #[expect(clippy::too_many_arguments, reason = "what a host knows of a source, once")]
    pub(crate) fn new(
        spec: &SourceSpec,
        host: u32,
        index: usize,
        flows: &Flows,
        hosts: u32,
        line: TxRate,
        seed: u64,
        duration: u64,
    ) -> Self {
        let site = u64::from(host) | (index as u64) << 32;
        let len = spec.frame.get() as u16;
        let slot = line.time(len).max(1);
        let phase = match spec.phase {
            Phase::Random if spec.arrivals != Arrivals::Transfers => {
                Stream::new(seed, site, Purpose::Phase).below(slot)
            }
            Phase::Random | Phase::Aligned => 0,
        };
        let (mut load, on, off, shift, greedy) = match spec.arrivals {
            Arrivals::Bernoulli { load } | Arrivals::Bursts { load, .. } => (load, 1, 0, 0, false),
            Arrivals::Greedy | Arrivals::Transfers => (1.0, 1, 0, 0, true),
            Arrivals::OnOff { on, off, shift } => (1.0, on.as_ps().max(1), off.as_ps(), shift.as_ps(), true),
        };
        let mut burst = 1;
        if let Arrivals::Bursts { frames, .. } = spec.arrivals
            && load > 0.0
        {
            // A cycle is a burst of N slots and (1 - p) / p idle ones: load = N / (N + (1 - p) / p).
            burst = frames.max(1);
            load = 1.0 / (1.0 + f64::from(burst) * (1.0 - load.min(1.0)) / load);
        }
        let transfers = (spec.arrivals == Arrivals::Transfers).then(|| {
            let list = flows.of_source(host, index);
            Box::new(Transfers { frame: u64::from(len), list, begun: 0, active: VecDeque::new() })
        });
        let list = match &spec.destinations {
            Destinations::Uniform => Vec::new(),
            Destinations::Fixed(n) => vec![n.0],
            Destinations::Among(list) => list.iter().map(|n| n.0).filter(|&n| n != host).collect(),
        };
        let choices = if list.is_empty() { u64::from(hosts.saturating_sub(1)) } else { list.len() as u64 };
        let start = spec.start.as_ps();
        let silent = choices == 0 || load <= 0.0 || transfers.as_ref().is_some_and(|t| t.list.is_empty());
        let start = transfers.as_ref().and_then(|t| t.list.first()).map_or(start, |t| t.start);
        let mut source = Self {
            stream: Stream::new(seed, site, Purpose::Source),
            next: if silent { NEVER } else { start + phase },
            slot,
            start,
            stop: spec.stop.as_ps().min(duration),
            threshold: (load.clamp(0.0, 1.0) * 4_294_967_296.0).round() as u64,
            on,
            off,
            shift,
            burst,
            left: 0,
            to: 0,
            greedy,
            len,
            host,
            choices,
            list,
            transfers,
        };
        if !source.greedy {
            source.seek();
        }
        source
    }

    /// Draws slot by slot from `next` on, until one has a frame: what others do has no part in that.
    #[inline]
    fn seek(&mut self) {
        // Most slots are empty where the load is small: all that a draw needs stays in registers meanwhile.
        let (mut stream, mut next) = (self.stream.clone(), self.next);
        let (stop, slot, threshold) = (self.stop, self.slot, self.threshold);
        let mut bits = 0;
        while next < stop {
            bits = stream.bits();
            if self.left > 0 || (bits & 0xFFFF_FFFF) < threshold {
                break;
            }
            next += slot;
        }
        self.stream = stream;
        if next >= stop {
            self.next = NEVER;
            return;
        }
        self.next = next;
        if self.left > 0 {
            self.left -= 1;
        } else {
            self.to = self.choose(bits);
            self.left = self.burst - 1;
        }
    }

    /// Destination by the upper bits of a draw.
    #[inline]
    fn choose(&self, bits: u64) -> u32 {
        let pick = ((bits >> 32) * self.choices) >> 32;
        match self.list.get(pick as usize) {
            Some(&d) => d,
            None => pick as u32 + u32::from(pick as u32 >= self.host),
        }
    }

    /// The slot that `next` names, of a source that is never held back: its frame's destination.
    #[inline]
    pub(crate) fn frame(&mut self) -> u32 {
        let to = self.to;
        self.next += self.slot;
        self.seek();
        to
    }

    /// The slot of a source of transfers: the next one under way offers a frame.
    #[cold]
    fn transfer(&mut self) -> Option<u32> {
        let now = self.next;
        self.next = now + self.slot;
        let t = self.transfers.as_mut()?;
        while let Some(flow) = t.list.get(t.begun).filter(|flow| flow.start <= now) {
            t.begun += 1;
            if flow.bytes > 0 {
                t.active.push_back(*flow);
            }
        }
        let Some(&Outgoing { dst, bytes, .. }) = t.active.front() else {
            self.next = t.list.get(t.begun).map_or(NEVER, |l| l.start);
            return None;
        };
        self.len = bytes.min(t.frame).max(64) as u16;
        Some(dst)
    }

    /// The finite flow to which the frame belongs that the last slot offered, as frames name it.
    #[inline]
    pub(crate) fn flow(&self) -> Option<u16> {
        self.transfers.as_ref()?.active.front().map(|flow| flow.number)
    }

    /// The host took the frame that the last slot offered.
    #[inline]
    pub(crate) fn taken(&mut self) {
        let Some(t) = &mut self.transfers else { return };
        if let Some(flow) = t.active.pop_front()
            && flow.bytes > u64::from(self.len)
        {
            t.active.push_back(Outgoing { bytes: flow.bytes - u64::from(self.len), ..flow });
        }
    }

    /// The slot that begins now: draws, moves on, and yields a destination if a frame comes.
    #[inline]
    pub(crate) fn slot(&mut self) -> Option<u32> {
        if !self.greedy {
            return Some(self.frame());
        }
        if self.transfers.is_some() {
            return self.transfer();
        }
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
            let at = (now - self.start + self.shift) % (self.on + self.off);
            if at >= self.on {
                return None;
            }
        }
        Some(self.choose(bits))
    }
}
