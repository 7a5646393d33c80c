//! The replay of one port's transmitter, from the times of what waits: control before data, PAUSE before both.
//!
//! * Claim: a port is replayed only when something touches it.
//! * Same bits: a start follows from ready times, the last end and what stops the port, all of which it keeps; nothing else
//!   reads them before.
//! * Bench row: hotspot.
//! * Marks: none of its own: every run passes here.

use crate::check::broken;
use crate::fast::frame::{AFTER, Entry, Kind, NEVER, Ring};
use crate::fast::switch::{Port, Switch};
use crate::fast::wires::Wires;
use crate::model::{Lane, MANAGED, next_start, rate_of};
use crate::tx_rate::TxRate;

impl Switch {
    /// [`Switch::drain`] of a port where control waits as well, tags are stamped, or a transmission in progress is noted:
    /// control first, whenever the transmitter becomes free. False if the rest needs the exact way.
    #[inline]
    pub(crate) fn drain_by_lane(&mut self, p: usize, end: u64, wires: &mut Wires) -> bool {
        if self.ports[p].needs_exact && !self.drain_noted(p, end, wires) {
            return self.ends[p] >= end && self.ends[p] != NEVER;
        }
        let row = self.mmu.row(p);
        let Some(port) = self.ports.get_mut(p) else { broken("no such port") };
        if port.queued > port.mark_from {
            return false;
        }
        let Some(link) = &port.link else { return false };
        let tx = link.tx;
        let first = |ring: &Ring| ring.place_at(0).map_or(AFTER, |e| e.ready);
        let (mut control, mut data) = (first(&port.control), first(&port.data));
        loop {
            let (start, lane) = next_start(port.idle_from, NEVER, control, data);
            if start >= end {
                break;
            }
            if lane == Lane::Control {
                let Some(Entry { frame, .. }) = port.control.place_at(0) else { broken("control is gone") };
                let done = start + tx.time(frame.len);
                if done >= end {
                    break;
                }
                let len = u64::from(frame.len);
                wires.push_frame(port.peer, done + port.delay, frame);
                port.control.skip();
                control = first(&port.control);
                port.departed += len;
                port.departed_control += len;
                port.out.control_sent += 1;
                port.idle_from = done;
                self.control_waits -= 1;
                continue;
            }
            let Some(Entry { frame, .. }) = port.data.place_at(0) else { broken("data is gone") };
            let done = start + port.service.time(frame.len);
            if done >= end {
                break;
            }
            if !self.mmu.leave_calmly(port.has_cells, row, usize::from(frame.input), frame.len) {
                return false;
            }
            let len = frame.len;
            let mut stamped = *frame;
            stamped.stamp(port.stamp);
            wires.push_frame(port.peer, done + port.delay, &stamped);
            port.queued -= u64::from(len);
            port.first_sent(len, done);
            data = first(&port.data);
        }
        port.has_control_or_stamp = port.stamp.is_some() || !port.control.is_empty();
        true
    }

    /// Ends the transmission noted at a port, if it ends before `end` and nothing stops what waits. True if nothing is noted now.
    fn drain_noted(&mut self, p: usize, end: u64, wires: &mut Wires) -> bool {
        if self.ports[p].must_be_exact() {
            return false;
        }
        if self.ends[p] != NEVER {
            if self.ends[p] >= end {
                return false;
            }
            self.complete(p, wires);
        }
        self.ports[p].needs_exact = false;
        true
    }

    #[inline(never)]
    pub(super) fn drain_exactly(&mut self, p: usize, end: u64, wires: &mut Wires) {
        self.advance(p, end - 1, end, wires);
        if self.ends[p] == NEVER {
            return;
        }
        let port = &mut self.ports[p];
        // What stands on its wire already is never found again.
        if port.launched > 0 {
            return;
        }
        port.note_needs(false);
        // A transmission that began as its queues alone say need not be kept. A stamped frame must not be stamped again.
        if !port.needs_exact && port.stamp.is_none() && self.ends[p] == port.end_time() {
            self.ends[p] = NEVER;
            port.sending = None;
        } else {
            port.needs_exact = true;
        }
    }

    /// Replays a port's transmitter: ends at or before `last`, starts before `before`.
    #[inline(never)]
    pub(crate) fn advance(&mut self, p: usize, last: u64, before: u64, wires: &mut Wires) {
        let port = &mut self.ports[p];
        if port.needs_exact || port.has_control_or_stamp || port.queued > port.mark_from {
            return self.advance_exactly(p, last, before, wires);
        }
        // Only data waits here, nothing stops it, and no transmission in progress is noted.
        let row = self.mmu.row(p);
        let mut end;
        loop {
            let Some(&Entry { ready, ref frame }) = port.data.front() else {
                end = NEVER;
                break;
            };
            let start = ready.max(port.idle_from);
            if start >= before {
                end = NEVER;
                break;
            }
            port.began = start;
            end = start + port.service.time(frame.len);
            if end > last {
                break;
            }
            if !self.mmu.leave_calmly(port.has_cells, row, usize::from(frame.input), frame.len) {
                self.ends[p] = end;
                port.sending = Some(frame.kind());
                port.needs_exact = true;
                return self.advance_exactly(p, last, before, wires);
            }
            let len = frame.len;
            wires.push_frame(port.peer, end + port.delay, frame);
            port.queued -= u64::from(len);
            port.first_sent(len, end);
        }
        if end != NEVER {
            self.ends[p] = end;
            port.needs_exact = true;
            port.sending = port.data.front().map(|e| e.frame.kind());
        }
    }

    /// The same for a port that has more to consider than data.
    fn advance_exactly(&mut self, p: usize, last: u64, before: u64, wires: &mut Wires) {
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

    /// If the transmitter is idle, starts what could have started first, if that was before `before`.
    #[inline]
    pub(crate) fn begin(&mut self, p: usize, before: u64) {
        let port = &mut self.ports[p];
        let (start, lane) = port.start_time();
        if start >= before {
            return;
        }
        let Some(link) = &port.link else { return };
        let tx = rate_of(lane, port.service, link.tx);
        let head = match lane {
            Lane::Pause => port.pause_out.front_mut(),
            Lane::Control => port.control.front_mut(),
            Lane::Data(_) => port.data.front_mut(),
        };
        let Some(head) = head else { broken("what starts is gone") };
        head.frame.stamp(port.stamp);
        port.sending = Some(head.frame.kind());
        port.needs_exact = true;
        port.began = start;
        self.ends[p] = start + tx.time(head.frame.len);
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
    /// The first frame of a lane, and the rate at which it is sent.
    fn head(&self, lane: Lane) -> Option<(TxRate, &Entry)> {
        let first = match lane {
            Lane::Pause => self.pause_out.front(),
            Lane::Control => self.control.front(),
            Lane::Data(_) => self.data.front(),
        };
        Some((rate_of(lane, self.service, self.link.as_ref()?.tx), first?))
    }

    /// When the transmission ends that begins next, as things stand; never if none does.
    #[inline]
    pub(super) fn next_end(&self) -> u64 {
        let (start, lane) = self.start_time();
        if start == NEVER {
            return NEVER;
        }
        self.head(lane).map_or(NEVER, |(tx, e)| start + tx.time(e.frame.len))
    }

    /// The same if only control and data wait; never of in-band control.
    fn end_time(&self) -> u64 {
        let in_band = self.data.front().is_some_and(|e| e.frame.kind() == Kind::InBand);
        if in_band && self.start_time().1 == MANAGED { NEVER } else { self.next_end() }
    }
}
