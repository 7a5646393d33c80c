//! A window of a host: the fast engine's way to run [`Host`].
//!
//! Receiving data touches nothing of the sending side unless a reflector answers, so the two are replayed separately and
//! meet only where they must.
//!
//! Mostly nothing but the source and the link says what the sending side does: no XOFF, no limiter, no timer, no message. Then
//! a frame's fate is known as soon as its transmission starts, as nothing interrupts one, and it is put on the wire at that
//! moment with the time of its end ([`Host::send_calmly`]). `end` alone then keeps the transmitter busy, and what waits in
//! the FIFO has not started. Else the sending side goes event by event; there, too, a frame is on the wire as its transmission starts,
//! and the end of one behind which nothing waits is no event.
//!
//! * Claim: a frame of a calm host is on the wire as its transmission starts, and data that wakes nothing is received in one
//!   go.
//! * Same bits: nothing interrupts a transmission, and nothing but the source and the link decides the next one.
//! * Bench row: w1.
//! * Marks: HostCalm, SentStraight, Deaf, SaidAtOnce; out: HostByEvent.

use super::{DEFERRED, Host};
use crate::check::broken;
use crate::fast::frame::{Entry, Key, NEVER, order};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Kind, MANAGED, Moment, Offer, Says};
use crate::net::Net;
use cnsim_scheme_api::FlowId;
use prefetch_index::prefetch_index;

impl Host {
    /// Runs the host up to `end` (exclusive).
    #[inline(always)]
    pub(crate) fn sweep(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        if self.receiver.alarms.next == NEVER {
            self.take_until(end, net, wires);
        }
        if self.receiver.alarms.next != NEVER {
            self.take_by_alarms(end, net, wires);
        }
        if self.next_due < end {
            self.send_until((end, 0, 0), net, wires);
        }
    }

    /// Takes what arrives before `end`; less, where a reflector starts a timer that expires before the last moment of that.
    #[inline(always)]
    fn take_until(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        let Some(inbox) = wires.inboxes.get_mut(self.line.inbox as usize) else {
            broken("a host without a port")
        };
        if inbox.arrived_before(0, end).is_none() {
            return;
        }
        if self.receiver.deaf {
            let mut taken = 0;
            while let Some(e) = inbox.arrived_before(taken, end).filter(|e| e.frame.is_plain()) {
                self.receiver.receive(e.ready, &e.frame, &mut self.sender.journal.failure);
                self.receiver.count(&e.frame);
                taken += 1;
            }
            if taken > 0 {
                hit(Mark::Deaf);
            }
            inbox.skip_many(taken);
        }
        if inbox.arrived_before(0, end).is_some() {
            self.take(end, net, wires);
        }
    }

    /// The same, where timers of reflectors run: they expire in between, after what arrives at their moment and before all else.
    #[cold]
    fn take_by_alarms(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        loop {
            let due = self.receiver.alarms.next;
            self.take_until(end.min(due.saturating_add(1)), net, wires);
            if self.receiver.alarms.next != due {
                continue;
            }
            if due >= end {
                return;
            }
            if self.next_due <= due {
                self.send_until((due, order::TIMER, 0), net, wires);
            }
            self.rest(due);
            self.now = due;
            if let Some(flow) = self.receiver.reflects_by_timer(due, net) {
                self.reply(flow, net, wires);
            }
            (self.next_due, self.calm) = (self.next_own().0, false);
        }
    }

    /// Runs the host up to `end`, which is not that of the run. Returns when it must be visited next if nothing is sent to it.
    pub(crate) fn sweep_thin(&mut self, end: u64, net: &Net, wires: &mut Wires) -> u64 {
        self.sweep(end, net, wires);
        self.look_around(wires)
    }

    /// When the host must be visited next if nothing is sent to it.
    #[inline(always)]
    pub(crate) fn look_around(&self, wires: &Wires) -> u64 {
        let inbox = wires.inboxes.get(self.line.inbox as usize);
        let first = inbox.and_then(|inbox| inbox.front()).map_or(NEVER, |e| e.ready);
        self.next_due.min(self.receiver.alarms.next).min(first)
    }

    /// Takes what arrives before `end`: data that wakes no reflector, and in between what the sending side must be brought up to
    /// date for.
    #[inline(never)]
    pub(super) fn take(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        self.expect(end, wires);
        loop {
            let Some(inbox) = wires.inboxes.get_mut(self.line.inbox as usize) else {
                broken("a host without a port")
            };
            let (mut taken, mut due) = (0, false);
            while let Some(e) = inbox.arrived_before(taken, end) {
                if !e.frame.is_data() {
                    due = true;
                } else {
                    due = self.receiver.may_wake(e.ready, &e.frame);
                    if !due {
                        self.receiver.receive(e.ready, &e.frame, &mut self.sender.journal.failure);
                        self.receiver.count(&e.frame);
                    }
                }
                if due {
                    break;
                }
                taken += 1;
            }
            inbox.skip_many(taken);
            if !due {
                return;
            }
            let Some(Entry { ready, frame }) = wires.pop(self.line.inbox) else {
                broken("an arrival without a frame")
            };
            // The sending side matters only to what the reflector asks for.
            let mut answered = frame.is_data().then(|| FlowId(frame.flow(net.hosts)));
            if frame.is_data() {
                self.receiver.receive(ready, &frame, &mut self.sender.journal.failure);
                if !self.receiver.answers(ready, &frame, net) {
                    continue;
                }
            } else if let Some(&(flow, Says::Probe(probe))) =
                wires.bodies.get(frame.ext).filter(|_| frame.is_probe())
            {
                wires.bodies.release(frame.ext);
                if !self.receiver.answers_probe(ready, flow, &probe, net) {
                    continue;
                }
                answered = Some(flow);
            }
            if self.next_due <= ready {
                self.send_until((ready, Kind::of_arrival(frame.kind().lane()) as u8, 0), net, wires);
            }
            self.rest(ready);
            self.now = ready;
            match answered {
                Some(flow) => self.reply(flow, net, wires),
                None => self.arrive(&frame, net, wires),
            }
            (self.next_due, self.calm) = (self.next_own().0, false);
            if self.receiver.alarms.next.saturating_add(1) < end {
                return;
            }
        }
    }

    /// Fetches beforehand what the frames that arrive before `end` will touch: one thing for each flow, so mostly not in a
    /// cache of the core's own.
    #[inline]
    fn expect(&self, end: u64, wires: &Wires) {
        let Some(inbox) = wires.inboxes.get(self.line.inbox as usize) else { return };
        let mut n = 0;
        while let Some(e) = inbox.arrived_before(n, end) {
            n += 1;
            if e.frame.is_data() {
                self.receiver.expect(self.receiver.reflector_at(&e.frame));
            } else {
                let place = self.sender.limiters.find(self.sender.key(u32::from(e.frame.dst)));
                prefetch_index(&self.sender.limiters.places, place.unwrap_or(usize::MAX));
            }
        }
    }

    /// Does anything wait for the transmitter? If not, nothing follows from the end of a transmission.
    #[inline(always)]
    fn waits(&self) -> bool {
        let queues = &self.sender.queues;
        self.sender.limiters.hold_frames()
            || !queues.fifo.is_empty()
            || !queues.control.is_empty()
            || !queues.probes.is_empty()
            || queues.voqs.is_some()
            || !self.sender.transfers.is_idle()
    }

    /// Notes that the transmitter is idle at `now`, if nothing else is to be done at the end that has gone by.
    #[inline(always)]
    fn rest(&mut self, now: u64) {
        if self.line.end <= now && !self.waits() {
            self.line.end = NEVER;
        }
    }

    /// The next event of its own. The end of a transmission behind which nothing waits is none.
    #[inline(always)]
    fn next_own(&self) -> Key {
        let mut first = (self.rates.next, order::TICK, 0);
        // From the last kind of a moment to the first.
        let mut or = |time: u64, kind, index| {
            if time <= first.0 {
                first = (time, kind, index);
            }
        };
        or(if self.kick { self.now } else { NEVER }, order::START, 0);
        for (i, source) in self.sources.iter().enumerate().rev() {
            or(source.next, order::SLOT, i as u32);
        }
        or(self.sender.timers.next, order::TIMER, 0);
        or(self.sender.deferred.next(), order::CONTROL, DEFERRED);
        if self.line.end <= first.0 && self.waits() {
            first = (self.line.end, order::END, 0);
        }
        first
    }

    /// The sending side's events before `limit`.
    #[inline(always)]
    fn send_until(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        if !(self.calm && self.rates.next > limit.0 && self.send_calmly(limit, net, wires)) {
            self.send_by_event(limit, net, wires);
        }
    }

    /// The same, whatever there is.
    #[inline(never)]
    fn send_by_event(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        loop {
            self.calm = self.is_calm();
            if self.calm && self.rates.next > limit.0 && self.send_calmly(limit, net, wires) {
                return;
            }
            self.calm = false;
            self.send_straight(limit.0, net, wires);
            let key = self.next_own();
            if key >= limit {
                self.next_due = key.0;
                return;
            }
            hit(Mark::HostByEvent);
            if key.1 != order::END {
                self.rest(key.0);
            }
            self.execute(key, net, wires);
        }
    }

    /// The slots of a host's one source before `end`, as long as nothing else happens and its frames meet an idle line: they go on the
    /// wire at once, unless a limiter holds one back.
    #[inline]
    fn send_straight(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        if !self.one_drawn || self.kick || self.line.is_stopped(MANAGED) || self.waits() {
            return;
        }
        while let Some(source) = self.sources.first_mut() {
            let (slot, sender) = (source.next, &mut self.sender);
            let other = sender.timers.next.min(sender.deferred.next()).min(self.rates.next);
            let busy = self.line.end > slot && self.line.end != NEVER;
            if slot >= end.min(other) || busy {
                return;
            }
            let offer = Offer { dst: source.frame(), len: source.len, class: 0 };
            (self.now, self.line.end) = (slot, NEVER);
            let Some(frame) = sender.pass(&offer, Moment { now: slot, net }) else {
                return self.kick_if_idle();
            };
            hit(Mark::SentStraight);
            self.transmit(frame, net, wires);
            if std::mem::take(&mut self.sender.must_look) {
                return;
            }
        }
    }

    /// Do the one source and the link alone say what the sending side does?
    fn is_calm(&self) -> bool {
        self.one_drawn && self.sender.is_plain() && !self.line.is_stopped(MANAGED)
    }

    /// The sending side of a calm host before `limit`. False where something else must be looked at before that, up to which all
    /// is done: a full FIFO with another ahead of it, or a transmission that may last longer than the run and is not sent then.
    #[inline(always)]
    fn send_calmly(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        debug_assert!(self.is_calm(), "more than source and link says what a calm host sends");
        let Some(source) = self.sources.first_mut() else { return false };
        let len = source.len;
        let time = self.line.tx.time(len);
        if limit.0 + time > net.duration {
            return false;
        }
        // An idle transmitter could have started what waits before now, or may now.
        let mut free = if self.line.end == NEVER { self.now } else { self.line.end };
        let mut slot = source.next;
        if !self.sender.queues.fifo.is_empty() {
            free = self.drain(free, slot.min(limit.0), wires);
        }
        while slot < limit.0 {
            let Some(source) = self.sources.first_mut() else { broken("a calm host without a source") };
            let dst = source.frame();
            let next = source.next;
            if free <= slot && self.sender.queues.fifo.is_empty() {
                hit(Mark::HostCalm);
                let frame = self.sender.make(&Offer { dst, len, class: 0 }, None, true, slot);
                free = slot + time;
                self.line.send(frame, free, &mut self.sender.bodies, wires);
                // Nothing waits, as nothing waited before.
                slot = next;
                continue;
            }
            let offer = Offer { dst, len, class: 0 };
            if self.sender.settings.backlog_frames > 0 && self.sender.fifo_is_full() {
                (self.line.end, self.now) = (if free >= slot { free } else { NEVER }, slot);
                self.sender.accept(&offer, false, self.moment(net));
                self.kick_if_idle();
                return false;
            }
            self.sender.join_fifo(&offer, slot);
            free = self.drain(free, next.min(limit.0), wires);
            slot = next;
        }
        // What waits starts when the transmission in progress ends: also at the limit's own moment.
        self.line.end = if free >= limit.0 { free } else { NEVER };
        self.kick = false;
        self.next_due =
            if self.sender.queues.fifo.is_empty() { slot } else { slot.min(free) }.min(self.rates.next);
        true
    }

    /// Sends what waits at a calm host and starts before `before`; the transmitter is free from `free` on. Returns its next time.
    #[inline(never)]
    fn drain(&mut self, mut free: u64, before: u64, wires: &mut Wires) -> u64 {
        while let Some(&frame) = self.sender.queues.fifo.front() {
            let start = free.max(frame.born());
            if start >= before {
                break;
            }
            free = start + self.line.tx.time(frame.len);
            self.sender.queues.fifo.pop_front();
            self.line.send(frame, free, &mut self.sender.bodies, wires);
        }
        free
    }
}
