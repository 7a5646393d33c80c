//! The replay of one port's transmitter, from the times of what waits: control before data, PAUSE before both.
//!
//! * Claim: a port is replayed only when something touches it.
//! * Same bits: a start follows from ready times, the last end and what stops the port, all of which it keeps; nothing else
//!   reads them before.
//! * Bench row: hotspot.
//! * Marks: none of its own: every run passes here.

use crate::fast::bits::bit;
use crate::fast::frame::{Begin, Kind, NEVER, Step};
use crate::fast::switch::{Port, Sent, Switch, Transmission};
use crate::fast::wires::Wires;
use crate::model::{Lane, Packet, Records, Switching, next_start, rate_of, transmission};
use crate::net::Net;

impl Switch {
    /// Replays a port's transmitter: ends at or before `last`, starts before `before`.
    #[inline(never)]
    pub(crate) fn advance(&mut self, p: usize, last: u64, before: u64, net: &Net, wires: &mut Wires) {
        let port = &mut self.ports[p];
        if !port.line.needs_exact {
            port.drain(p, last + 1, &mut self.mmu, wires);
        }
        loop {
            self.begin(p, before, net, wires);
            if self.ports[p].end() > last {
                break;
            }
            self.complete(p, net, wires);
        }
        self.ports[p].note_needs();
    }

    /// If a port's transmitter is idle, starts what could have started first, if that was before `before`. Memory that is free at the
    /// start is freed then, unless nothing follows from that: it stays an upper bound.
    #[inline(always)]
    pub(crate) fn begin(&mut self, p: usize, before: u64, net: &Net, wires: &mut Wires) {
        self.start(p, before, wires);
        self.free_at_start(p, net, wires);
    }

    /// The same, but for its memory. Of a port in step that has only data to send, what goes next is mostly found already.
    #[inline(always)]
    fn start(&mut self, p: usize, before: u64, wires: &mut Wires) {
        if self.ports[p].transmitter.sends.is_none() {
            let found = self.steps.stale & bit(p) == 0 && self.is_settled(p);
            let next = if found { self.steps.next[p].1 } else { self.ports[p].next() };
            if let Some(next) = next.filter(|next| next.0 < before) {
                self.ports[p].begin_this(next, &mut wires.records);
            }
        }
    }

    /// Where memory is free at the start, and something may follow from that, what a port sends is freed.
    #[inline(always)]
    pub(super) fn free_at_start(&mut self, p: usize, net: &Net, wires: &mut Wires) {
        if self.management.at_start && !self.mmu.is_quiet() {
            self.free_started(p, net, wires);
        }
    }

    /// Frees the memory of the frame of data that a port sends, if it is not free.
    fn free_started(&mut self, p: usize, net: &Net, wires: &mut Wires) -> bool {
        let port = &mut self.ports[p];
        let (Some(first), Some(Transmission { began, what: Sent::Data { freed: freed @ false, .. }, .. })) =
            (port.data.front(), &mut port.transmitter.sends)
        else {
            return false;
        };
        let frame = first.frame;
        *freed = true;
        let now = std::mem::replace(&mut self.now, *began);
        self.free(p, &frame, &mut (net, wires));
        self.now = now;
        true
    }

    /// Where memory is free as a transmission starts, that of all that began before `base` is freed, which was an upper bound until now:
    /// does less count then?
    pub(super) fn free_begun(&mut self, base: u64, net: &Net, wires: &mut Wires) -> bool {
        let mut any = false;
        self.was_quiet = false;
        for p in if self.management.at_start { 0..self.linked } else { 0..0 } {
            self.start(p, base, wires);
            any |= self.free_started(p, net, wires);
        }
        any
    }
}

impl Port {
    /// The port's next step ([`Step`]), if it keeps step: an end, or a start if memory is freed at starts; and what begins before or
    /// with it.
    pub(super) fn next_step(&self, at_start: bool) -> (Step, Option<Begin>) {
        if let Some(sends) = self.transmitter.sends {
            return (2 * sends.end, None);
        }
        let next = self.next();
        let step = next.map_or(NEVER, |(start, end, _)| if at_start { 2 * start + 1 } else { 2 * end });
        (step, next)
    }
    /// A transmission that began as the queues alone say need not be kept. A stamped frame must not be stamped again, and what
    /// stands on its wire already is never found again.
    pub(super) fn forget_begun(&mut self) {
        let kept = self.place.stamp.is_some() || self.must_be_exact();
        let found = |(began, end, kind)| Some(Transmission { began, end, what: Sent::of(kind) });
        // Control among the data is kept.
        let next = || self.next().filter(|next| next.2 != Kind::InBand).and_then(found);
        if !kept && self.transmitter.sends.is_some() && next() == self.transmitter.sends {
            self.transmits(None);
            self.note_needs();
        }
    }
    /// The idle transmitter starts the frame that goes next.
    #[inline(always)]
    pub(super) fn begin_this(&mut self, (start, end, kind): Begin, records: &mut Records) {
        if let (Kind::Data, Some(stamp), Some(first)) =
            (kind, self.place.stamp, self.data.entries_mut().first_mut())
        {
            first.frame.stamp(stamp, records);
        }
        self.transmits(Some(Transmission { began: start, end, what: Sent::of(kind) }));
        self.line.needs_exact = true;
    }
    /// The next frame of the idle transmitter, as things stand.
    #[inline]
    pub(super) fn next(&self) -> Option<Begin> {
        let link = self.place.link.as_ref()?;
        let data = if self.is_stopped() { None } else { self.data.front() };
        if self.ahead.is_empty() {
            let first = data?;
            let (start, end) = self.times(first);
            return Some((start, end, first.frame.kind()));
        }
        let (pause, control) = (self.ahead.pauses.front(), self.ahead.control.front());
        let [of_pause, of_control, of_data] = [pause, control, data].map(|e| e.map_or(NEVER, |e| e.ready));
        let (ready, lane) = next_start(self.idle_from, of_pause, of_control, of_data);
        let first = match lane {
            Lane::Pause => pause,
            Lane::Control => control,
            Lane::Data(_) => data,
        };
        let tx = rate_of(lane, self.line.service, link.tx);
        let (start, end) = transmission(ready, self.idle_from, tx, first?.frame.len);
        Some((start, end, first?.frame.kind()))
    }
}
