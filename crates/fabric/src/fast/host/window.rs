//! A window of a host: the fast engine's way to run [`Host`].
//!
//! Receiving data touches nothing of the sending side unless a reflector answers, so the two are replayed separately and
//! meet only where they must.
//!
//! Mostly nothing but the source and the link says what the sending side does: no XOFF, no limiter, no timer, no message. Then
//! a frame's fate is known as soon as its transmission starts, as nothing interrupts one, and it is put on the wire at that
//! moment with the time of its end ([`Host::send_calmly`]). `end` alone then keeps the transmitter busy, and what waits in
//! the FIFO has not started. Where limiters hold frames back, much the same is done frame by frame (`paced`).
//!
//! * Claim: a frame of a calm host is on the wire as its transmission starts, and data that wakes nothing is received in one
//!   go.
//! * Same bits: nothing interrupts a transmission, and nothing but the source and the link decides the next one.
//! * Bench row: w1.
//! * Marks: HostCalm, HostLimited, Deaf; out: HostByEvent, ReflectorTimer.

use super::{Calm, Host};
use crate::fast::bodies::Body;
use crate::fast::frame::{Entry, Frame, Key, NEVER, arrival_kind, order};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::Net;
use crate::spec::LimiterPosition;
use cnsim_scheme_api::Built;

impl Host {
    /// Runs the host up to `end` (exclusive).
    #[inline(always)]
    pub(crate) fn sweep(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        if !self.alarmed {
            self.take_until(end, net, wires);
        }
        if self.alarmed {
            self.take_by_alarms(end, net, wires);
        }
        if self.due < end {
            self.send_until((end, 0, 0), net, wires);
        }
    }

    /// Takes what arrives before `end`; less, where a reflector starts a timer that expires before the last moment of that.
    #[inline(always)]
    fn take_until(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        if let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize)
            && inbox.due(0, end).is_some()
        {
            if self.deaf {
                let mut taken = 0;
                while let Some(e) = inbox.due(taken, end).filter(|e| e.frame.is_plain()) {
                    self.receive(e.ready, &e.frame);
                    self.hear(&e.frame);
                    taken += 1;
                }
                if taken > 0 {
                    hit(Mark::Deaf);
                }
                inbox.skip_many(taken);
            }
            if inbox.due(0, end).is_some() {
                self.take(end, net, wires);
            }
        }
    }

    /// The same, where timers of reflectors run: they expire in between, after what arrives at their moment and before all else.
    #[cold]
    fn take_by_alarms(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        loop {
            let due = self.alarms.next;
            self.take_until(end.min(due.saturating_add(1)), net, wires);
            if self.alarms.next != due {
                continue;
            }
            if due >= end {
                return;
            }
            hit(Mark::ReflectorTimer);
            if self.due <= due {
                self.send_until((due, order::TIMER, 0), net, wires);
            }
            self.rest(due);
            self.now = due;
            if let Some(flow) = self.reflects_by_timer() {
                self.return_calmly(flow, net, wires);
            }
            (self.due, self.calm) = (self.next_own_time(), Calm::Not);
        }
    }

    /// Takes what arrives before `end`: data that wakes no reflector, and in between what the sending side must be brought up to
    /// date for.
    #[inline(never)]
    pub(super) fn take(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        self.expect(end, wires);
        loop {
            let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize) else { return };
            let (mut taken, mut due) = (0, false);
            while let Some(e) = inbox.due(taken, end) {
                if !e.frame.is_data() {
                    due = true;
                } else {
                    due = self.selects(&e.frame) && self.wakes(e.ready, &e.frame);
                    if !due {
                        self.receive(e.ready, &e.frame);
                        self.hear(&e.frame);
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
            let Some(Entry { ready, frame }) = wires.pop(self.inbox) else { return };
            // The sending side matters only to what the reflector asks for.
            let mut probed = None;
            if frame.is_data() {
                self.receive(ready, &frame);
                if !self.answers(ready, &frame, net) {
                    continue;
                }
            } else if let Some(&Body::Probe(flow, probe)) =
                wires.bodies.get(frame.ext).filter(|_| frame.is_probe())
            {
                wires.bodies.release(frame.ext);
                if !self.reflects(ready, flow, None, Some(probe), net) {
                    continue;
                }
                probed = Some(flow);
            }
            if self.due <= ready {
                self.send_until((ready, arrival_kind(frame.kind()), 0), net, wires);
            }
            self.rest(ready);
            self.now = ready;
            if frame.is_data() {
                self.reply_calmly(&frame, net, wires);
            } else if let Some(flow) = probed {
                self.return_calmly(flow, net, wires);
            } else {
                self.arrive(frame, net, wires);
            }
            (self.due, self.calm) = (self.next_own_time(), Calm::Not);
            if self.alarmed && self.alarms.next.saturating_add(1) < end {
                return;
            }
        }
    }

    /// The time of [`Host::next_own`], but for the end of a transmission behind which nothing waits.
    #[inline]
    fn next_own_time(&self) -> u64 {
        if self.kick {
            return self.now;
        }
        let end = if self.waits() { self.end } else { NEVER };
        let deferred = self.deferred.next();
        let slot = self.sources.iter().fold(NEVER, |t, s| t.min(s.next));
        end.min(self.timers.next).min(slot).min(deferred).min(self.next_tick)
    }

    /// The sending side's events before `limit`.
    #[inline(always)]
    pub(super) fn send_until(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        let done = self.next_tick > limit.0
            && match self.calm {
                Calm::Free => self.send_calmly::<false>(limit, net, wires),
                Calm::Limited if !self.holding => self.send_limited(limit, net, wires),
                Calm::Limited | Calm::Not => false,
            };
        if !done {
            self.send_any(limit, net, wires);
        }
    }

    /// [`Host::send_calmly`] where there are limiters.
    #[inline(never)]
    fn send_limited(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        self.send_calmly::<true>(limit, net, wires)
    }

    /// The same, whatever there is.
    #[inline(never)]
    fn send_any(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        self.due = 0;
        if self.is_greedy(limit) {
            self.calm = Calm::Not;
            return self.send_greedily(limit, net, wires);
        }
        let simple = self.sources.len() == 1
            && self.voqs.is_none()
            && self.sources[0].drawn
            && self.next_tick > limit.0;
        loop {
            self.calm = if simple { self.how_calm() } else { Calm::Not };
            let done = match self.calm {
                Calm::Free => self.send_calmly::<false>(limit, net, wires),
                Calm::Limited if !self.holding => self.send_limited(limit, net, wires),
                Calm::Limited | Calm::Not => false,
            };
            if done {
                return;
            }
            // It may not be calm any more when it has come to the limit.
            self.calm = Calm::Not;
            if simple && self.is_quiet() && self.send_paced(limit, net, wires) {
                hit(Mark::HostPaced);
                return;
            }
            let key = self.next_own();
            if key >= limit {
                return;
            }
            hit(Mark::HostByEvent);
            self.execute(key, net, wires);
        }
    }

    /// How much besides the source and the link says what the sending side of a host with one source does.
    fn how_calm(&self) -> Calm {
        let calm = !self.paused.is_off()
            && self.limiters.held == 0
            && self.deferred.next() == NEVER
            && self.ahead.is_empty()
            && self.control.is_empty();
        let alone = self.limiters.count == 0 && self.probes.is_empty() && self.built == Built::OnFeedback;
        match calm {
            true if alone => Calm::Free,
            true => Calm::Limited,
            false => Calm::Not,
        }
    }

    /// The sending side of a calm host before `limit`. False where something else must be looked at before that, up to which all
    /// is done: a timer, a limiter, or a transmission that may last longer than the run and is not sent then.
    #[inline(always)]
    fn send_calmly<const LIMITED: bool>(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        let Some(source) = self.sources.first_mut() else { return false };
        let len = source.len;
        let time = self.tx.time(len);
        if limit.0 + time > net.duration {
            return false;
        }
        let before = if LIMITED { limit.0.min(self.timers.next) } else { limit.0 };
        // An idle transmitter could have started what waits before now, or may now.
        let mut free = if self.end == NEVER { self.now } else { self.end };
        let mut slot = source.next;
        if self.sending.is_some() || self.is_next::<LIMITED>() {
            if let Some(frame) = self.sending.take() {
                self.send(frame, free, wires);
            }
            let calm;
            (free, calm) = self.drain::<LIMITED>(free, slot.min(before), net, wires);
            if LIMITED && !(calm && self.timers.next >= before) {
                self.end = free;
                return false;
            }
        }
        while slot < before {
            let Some(source) = self.sources.first_mut() else { break };
            let dst = source.frame();
            let (next, to) = (source.next, source.to);
            let idle = free <= slot && !self.is_next::<LIMITED>();
            let mut passed = !LIMITED;
            if LIMITED {
                self.limiters.expect_left(self.key_of(to));
                passed = idle && self.limiters.pass(self.key_of(dst), len);
            }
            if !(passed || self.passes(dst)) {
                self.holding = true;
                (self.end, self.now) = (if free >= slot { free } else { NEVER }, slot);
                self.generate(dst, len, false, net);
                return false;
            }
            let frame = Frame::data(self.id, dst, self.seq, len, slot);
            if idle {
                self.seq = self.seq.wrapping_add(1);
                hit(if LIMITED { Mark::HostLimited } else { Mark::HostCalm });
                self.made.add(&frame);
                free = slot + time;
                let calm = self.launch::<LIMITED>(frame, passed, slot, free, net, wires);
                if LIMITED && !(calm && self.timers.next >= before) {
                    self.end = free;
                    return false;
                }
                if !LIMITED {
                    // Nothing waits, as nothing waited before.
                    slot = next;
                    continue;
                }
            } else if self.fifo.len() >= self.fifo_limit {
                if self.ahead_limit > 0 {
                    (self.end, self.now) = (if free >= slot { free } else { NEVER }, slot);
                    self.generate(dst, len, false, net);
                    return false;
                }
                self.seq = self.seq.wrapping_add(1);
                self.out.source_discards += 1;
            } else {
                self.seq = self.seq.wrapping_add(1);
                self.made.add(&frame);
                self.fifo.push_back(frame);
            }
            if self.is_next::<LIMITED>() {
                let calm;
                (free, calm) = self.drain::<LIMITED>(free, next.min(before), net, wires);
                if LIMITED && !(calm && self.timers.next >= before) {
                    self.end = free;
                    return false;
                }
            }
            slot = next;
        }
        // What waits starts when the transmission in progress ends: also at the limit's own moment.
        self.end = if free >= before { free } else { NEVER };
        self.kick = false;
        self.due = if self.is_next::<LIMITED>() { slot.min(free) } else { slot }.min(self.next_tick);
        if LIMITED {
            self.due = self.due.min(self.timers.next);
        }
        before == limit.0
    }
    /// Does a new frame for this destination go to the FIFO, with no limiter to be built or to hold it back?
    #[inline(always)]
    fn passes(&self, dst: u32) -> bool {
        let key = self.key_of(dst);
        self.limiters.passes(key)
            || match self.limiters.find(key) {
                Some(at) => self.slot(at).is_some_and(|s| !s.holds()),
                None => self.built == Built::OnFeedback,
            }
    }

    /// Does something wait that a calm host sends as soon as it may? Only where there are limiters, or were, there are probes.
    #[inline(always)]
    fn is_next<const LIMITED: bool>(&self) -> bool {
        !self.fifo.is_empty() || (LIMITED && !self.probes.is_empty())
    }

    /// The transmission of a calm host's frame, from `start` to `end`; `passed`: its limiter has counted it. False where that had to
    /// be looked at and the host is not calm any more.
    #[inline(always)]
    fn launch<const LIMITED: bool>(
        &mut self,
        frame: Frame,
        passed: bool,
        start: u64,
        end: u64,
        net: &Net,
        wires: &mut Wires,
    ) -> bool {
        if LIMITED && self.limiters.count > 0 {
            if self.position == LimiterPosition::BelowQueue {
                // As after a frame of the FIFO in [`Host::pick`].
                self.turn = 1;
            }
            let key = self.key_of(u32::from(frame.dst));
            if !passed && frame.is_data() && (frame.counted() || !self.limiters.pass(key, frame.len)) {
                // A copy, so that other frames need not stand in memory: what has been written in parts cannot be read in one piece
                // at once.
                let mut closely = frame;
                return self.launch_closely(&mut closely, start, end, net, wires);
            }
        }
        self.send(frame, end, wires);
        true
    }

    /// The same of a frame whose limiter must be looked at.
    #[inline(never)]
    fn launch_closely(
        &mut self,
        frame: &mut Frame,
        start: u64,
        end: u64,
        net: &Net,
        wires: &mut Wires,
    ) -> bool {
        (self.now, self.end) = (start, NEVER);
        self.leave(frame, net);
        self.limiters.pass_freely(self.key_of(u32::from(frame.dst)));
        self.end = end;
        self.send(*frame, end, wires);
        self.how_calm() != Calm::Not
    }

    /// Sends what waits at a calm host and starts before `before`, probes first; the transmitter is free from `free` on. Its next
    /// time, and whether the host is still calm.
    #[inline(never)]
    fn drain<const LIMITED: bool>(
        &mut self,
        mut free: u64,
        before: u64,
        net: &Net,
        wires: &mut Wires,
    ) -> (u64, bool) {
        let mut calm = true;
        loop {
            let probe = if LIMITED { self.probes.front() } else { None };
            let Some(head) = probe.or(self.fifo.front()) else { break };
            let start = free.max(head.born());
            if start >= before || (LIMITED && (!calm || start >= self.timers.next)) {
                break;
            }
            free = start + self.tx.time(head.len);
            if probe.is_some() {
                if let Some(frame) = self.probes.pop_front() {
                    self.send(frame, free, wires);
                }
            } else if let Some(frame) = self.fifo.pop_front() {
                calm = self.launch::<LIMITED>(frame, false, start, free, net, wires);
            }
        }
        (free, calm)
    }
}
