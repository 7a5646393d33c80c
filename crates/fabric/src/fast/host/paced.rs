//! The sending side of a host whose limiters hold frames back, and what a reflector answers: slots, timers and
//! transmissions merged by hand.
//!
//! A frame that its limiter lets go at once, and that meets nothing that waits, is put on the wire as it is made: where the
//! transmitter is busy, if nothing happens before it is idle. So is a reflector's message, behind the transmission in
//! progress: nothing goes before it, and nothing interrupts it.
//!
//! * Claim: slots, timers and transmissions are merged by hand where limiters hold frames back.
//! * Same bits: the three are taken in their order of one moment, and anything else leaves to the general way before its time.
//! * Bench row: b07-single qcn-3pt.
//! * Marks: HostPaced, SaidAtOnce; out: HostByEvent.

use super::Host;
use crate::fast::frame::{Frame, Key, NEVER, order};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::Net;
use crate::spec::LimiterPosition;
use cnsim_scheme_api::{FlowId, Scope};
use prefetch_index::prefetch_index;

impl Host {
    /// Does anything wait for the transmitter, or for its own end to go on the wire? If not, nothing follows from the end of a
    /// transmission.
    #[inline(always)]
    pub(super) fn waits(&self) -> bool {
        self.limiters.held > 0
            || !self.fifo.is_empty()
            || !self.control.is_empty()
            || !self.probes.is_empty()
            || self.sending.is_some()
            || self.voqs.is_some()
            || !self.transfers.is_idle()
    }

    /// Notes that the transmitter is idle at `now`, if nothing else is to be done at the end that has gone by.
    #[inline(always)]
    pub(super) fn rest(&mut self, now: u64) {
        if self.end <= now && !self.waits() {
            self.end = NEVER;
        }
    }

    /// Answers a data frame that wants it, now.
    pub(super) fn reply_calmly(&mut self, frame: &Frame, net: &Net, wires: &mut Wires) {
        self.reply_to(frame, net, wires, |host, frame, wires| host.say(frame, net, wires));
    }

    /// Answers a probe of this flow, now.
    pub(super) fn return_calmly(&mut self, flow: FlowId, net: &Net, wires: &mut Wires) {
        self.reply_by(flow, net, wires, |host, frame, wires| host.say(frame, net, wires));
    }

    /// A message of strict priority: behind the transmission in progress.
    #[inline(always)]
    fn say(&mut self, frame: Frame, net: &Net, wires: &mut Wires) {
        let start = if self.end == NEVER { self.now } else { self.end };
        let end = start + self.tx.time(frame.len);
        if !self.control.is_empty() || end >= net.duration {
            self.control.push_back(frame);
            return self.look();
        }
        if let Some(before) = self.sending.take() {
            self.send(before, start, wires);
        }
        hit(Mark::SaidAtOnce);
        self.control_hops += 1;
        wires.push_frame(self.peer, end + self.delay, &frame);
        self.end = end;
        self.kick = false;
    }

    /// Fetches beforehand what the frames that arrive before `end` will touch: one thing for each flow, so mostly not in a
    /// cache of the core's own.
    #[inline]
    pub(super) fn expect(&self, end: u64, wires: &Wires) {
        if self.scope == Scope::Host {
            return;
        }
        let Some(inbox) = wires.inboxes.get(self.inbox as usize) else { return };
        let mut n = 0;
        while let Some(e) = inbox.due(n, end) {
            n += 1;
            if e.frame.is_data() {
                if self.deaf && e.frame.is_plain() {
                    continue;
                }
                let ear = self.ears.get(self.reflector_key(u32::from(e.frame.src)));
                prefetch_index(&self.reflectors, (ear.at as usize).wrapping_sub(1));
            } else {
                self.limiters.expect(self.key_of(u32::from(e.frame.dst)));
            }
        }
    }

    /// No XOFF, no start pending, no feedback deferred. Control and probes that wait, wait for the transmitter.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.deferred.next() == NEVER && self.ahead.is_empty() && !self.paused.is_off() && !self.kick
    }

    /// The transmitter starts now, unless something else of this moment comes first. False to leave the fast path.
    #[inline]
    fn start_fast(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        if (self.now, order::START, 0) >= limit
            || self.sources[0].next == self.now
            || self.timers.next == self.now
        {
            self.kick = true;
            return false;
        }
        self.kick = false;
        self.start(net);
        // Nothing interrupts it.
        if self.end < net.duration
            && let Some(frame) = self.sending.take()
        {
            self.send(frame, self.end, wires);
        }
        self.is_quiet()
    }

    /// The events before `limit` of a host where there is one source and nothing rare is pending. True at the limit, false as
    /// soon as the general way must take over.
    pub(super) fn send_paced(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        loop {
            let (slot, timer) = (self.sources[0].next, self.timers.next);
            let waits = self.waits();
            if waits && self.end <= slot && self.end <= timer {
                if (self.end, order::END, 0) >= limit || self.end == NEVER {
                    self.due = self.end.min(self.next_tick);
                    return true;
                }
                self.now = self.end;
                self.end(wires);
                if !self.start_fast(limit, net, wires) {
                    return false;
                }
                continue;
            }
            if timer <= slot {
                if (timer, order::TIMER, 0) >= limit {
                    self.due = timer.min(self.next_tick);
                    return true;
                }
                self.now = timer;
                self.rest(timer);
                self.timer(net);
                if self.kick && !self.start_fast(limit, net, wires) || !self.is_quiet() {
                    return false;
                }
                continue;
            }
            if (slot, order::SLOT, 0) >= limit {
                self.due = slot.min(self.next_tick);
                return true;
            }
            let dst = self.sources[0].frame();
            self.now = slot;
            if !waits && self.end <= slot {
                self.end = NEVER;
            }
            if waits || !self.goes_at_once(dst, limit, net, wires) {
                self.generate(dst, self.sources[0].len, false, net);
            }
            if self.kick && !self.start_fast(limit, net, wires) {
                return false;
            }
        }
    }

    /// Sends a new frame for `dst` as soon as the transmitter is idle, if its limiter lets it now and nothing happens before;
    /// nothing else waits. What follows is what [`Host::generate`] and [`Host::start`] would do. Where something may happen
    /// before, it waits in the FIFO, if its limiter has no more to do with that. False where there is more to do than that, and
    /// nothing is done.
    #[inline(always)]
    fn goes_at_once(&mut self, dst: u32, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        let (source, now) = (&self.sources[0], self.now);
        let (len, next) = (source.len, source.next.min(self.timers.next).min(limit.0));
        let start = if self.end == NEVER { now } else { self.end };
        let end = start + self.tx.time(len);
        // What is due when the transmission begins comes first.
        let starts = start < next && end < net.duration;
        let key = self.key_of(dst);
        let Some(at) = self.limiters.find(key) else {
            self.holding = false;
            return false;
        };
        if self.limiter_limit == 0 || self.fifo_limit == 0 {
            return false;
        }
        let below = self.position == LimiterPosition::BelowQueue;
        let mut frame = Frame::data(self.id, dst, self.seq, len, now);
        let mut turn = 1;
        if self.limiters.passes(key) {
            self.holding = false;
            if starts && !self.limiters.pass(key, len) {
                return false;
            }
        } else {
            let slots = self.limiters.slots.len();
            let Some(slot) = self.limiters.slots.get_mut(at).and_then(Option::as_mut) else { return false };
            if slot.state.countdown <= i64::from(len) || slot.state.release {
                return false;
            }
            self.holding = slot.holds();
            if self.holding {
                if slot.eligible > now || (below && !starts) {
                    return false;
                }
                slot.pace(if below { start } else { now }, len);
                turn = if at + 1 == slots { 0 } else { at + 2 };
                frame.set_counted();
            }
            if starts || self.holding {
                slot.state.countdown -= i64::from(len);
            }
            if starts {
                slot.tag(&mut frame, start);
            }
        }
        self.seq = self.seq.wrapping_add(1);
        self.made.add(&frame);
        if !starts {
            self.fifo.push_back(frame);
            self.look();
            return true;
        }
        if below {
            // As after this frame in [`Host::pick`].
            self.turn = turn;
        }
        self.send(frame, end, wires);
        (self.now, self.end) = (start, end);
        self.limiters.expect(self.key_of(self.sources[0].to));
        true
    }
}
