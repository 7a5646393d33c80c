//! The replay of one port's transmitter, from the times of what waits: control before data, PAUSE before both.
//!
//! * Claim: a port is replayed only when something touches it.
//! * Same bits: a start follows from ready times, the last end and what stops the port, all of which it keeps; nothing else
//!   reads them before.
//! * Bench row: hotspot.
//! * Marks: none of its own: every run passes here.

use crate::fast::frame::{Entry, Kind, NEVER};
use crate::fast::switch::{Port, Switch};
use crate::fast::wires::Wires;
use crate::model::{Lane, MANAGED, next_start, rate_of};

impl Switch {
    /// Replays a port's transmitter: ends at or before `last`, starts before `before`.
    #[inline(never)]
    pub(crate) fn advance(&mut self, p: usize, last: u64, before: u64, wires: &mut Wires) {
        let port = &mut self.ports[p];
        if !(port.needs_exact | port.has_control_or_stamp) {
            port.drain(p, last + 1, &mut self.mmu, wires);
        }
        loop {
            if self.ends[p] == NEVER {
                self.begin(p, before);
            }
            if self.ends[p] > last {
                break;
            }
            self.complete(p, wires);
        }
        self.ports[p].note_needs(self.ends[p] != NEVER);
    }

    /// A transmission that began as the port's queues alone say need not be kept. A stamped frame must not be stamped again, and
    /// what stands on its wire already is never found again.
    pub(super) fn forget_begun(&mut self, p: usize) {
        let (port, end) = (&mut self.ports[p], &mut self.ends[p]);
        let kept = port.stamp.is_some() || port.launched || port.must_be_exact();
        let found = port.sending != Some(Kind::InBand) && port.next().is_some_and(|next| next.1 == *end);
        if !kept && found {
            *end = NEVER;
            port.sending = None;
            port.needs_exact = false;
        }
    }

    /// If the transmitter is idle, starts what could have started first, if that was before `before`.
    #[inline]
    pub(crate) fn begin(&mut self, p: usize, before: u64) {
        let port = &mut self.ports[p];
        let Some((start, end, kind)) = port.next().filter(|next| next.0 < before) else { return };
        if let (Kind::Data, Some(first)) = (kind, port.data.front_mut()) {
            first.frame.stamp(port.stamp);
        }
        port.sending = Some(kind);
        port.needs_exact = true;
        port.began = start;
        self.ends[p] = end;
    }

    /// The transmission in progress ends, at its own time.
    #[inline]
    pub(super) fn complete(&mut self, p: usize, wires: &mut Wires) {
        let now = std::mem::replace(&mut self.now, self.ends[p]);
        self.end(p, wires);
        self.now = now;
    }
}

impl Port {
    /// When the idle transmitter starts next, as things stand, and from which lane.
    #[inline]
    pub(super) fn start_time(&self) -> (u64, Lane) {
        let data = match self.data.front() {
            Some(e) if !self.is_stopped() => e.ready,
            _ => NEVER,
        };
        if !self.has_control_or_stamp && self.pause_out.is_empty() {
            return (data.max(self.idle_from), MANAGED);
        }
        let pause = self.pause_out.front().map_or(NEVER, |e| e.ready);
        let control = self.control.front().map_or(NEVER, |e| e.ready);
        next_start(self.idle_from, pause, control, data)
    }
    /// What the idle transmitter sends next, as things stand: its start, its end, and what it is.
    #[inline]
    pub(super) fn next(&self) -> Option<(u64, u64, Kind)> {
        let (start, lane) = self.start_time();
        let first = match lane {
            Lane::Pause => self.pause_out.front(),
            Lane::Control => self.control.front(),
            Lane::Data(_) => self.data.front(),
        };
        let Entry { frame, .. } = first.filter(|_| start < NEVER)?;
        let tx = rate_of(lane, self.service, self.link.as_ref()?.tx);
        Some((start, start + tx.time(frame.len), frame.kind()))
    }
}
