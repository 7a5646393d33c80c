//! A window of a host: the fast engine's way to run [`Host`].
//!
//! Receiving data touches nothing of the sending side unless a reflector answers, so the two are replayed separately and
//! meet only where they must.
//!
//! A frame's fate is known as soon as its transmission starts, as nothing interrupts one: it is put on the wire at that moment with
//! the time of its end. `until` alone then keeps the transmitter busy. The end of one behind which nothing waits is no event. Mostly
//! nothing but the source and the link says what the sending side does next: no XOFF, no limiter that holds frames, no timer, no
//! message. Then it goes from slot to slot ([`Host::send_straight`]), else event by event. A start is the last event of a moment: where
//! nothing else is due in that, it follows at once ([`Host::go_on`]).
//!
//! * Claim: a frame of a host that nothing holds back goes on the wire without an event.
//! * Same bits: nothing interrupts a transmission, and nothing but the source and the link decides the next one.
//! * Bench row: w1; of starts at once incast-pfc.
//! * Marks: SentStraight, StartedAtOnce; out: HostByEvent.

use super::Host;
use crate::fast::frame::{AFTER, Entry, NO_EVENT};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Key, Kind, MANAGED, Moment, Sides};
use crate::net::{NEVER, Net, Ps};
use std::slice::from_mut;

impl Host {
    /// Runs the host up to `end` (exclusive).
    #[inline(always)]
    pub(crate) fn sweep(&mut self, end: Ps, net: &Net, wires: &mut Wires) {
        self.take(end, net, wires);
        if self.due < end {
            self.send_until((end, Kind::Change, 0), net, wires);
        }
    }

    /// When the host must be visited next if nothing is sent to it.
    #[inline(always)]
    pub(crate) fn look_around(&self, wires: &Wires) -> Ps {
        let inbox = wires.inboxes.get(self.inbox as usize);
        let first = inbox.and_then(|inbox| inbox.arrived_before(0, AFTER)).map_or(NEVER, |e| e.ready);
        self.due.min(self.sides.receiver.alarms.next).min(first)
    }

    /// Takes what arrives before `end`: data that wakes no reflector, and in between what the sending side must be brought up to
    /// date for. Timers of reflectors expire after what arrives at their moment and before all else.
    #[inline(always)]
    fn take(&mut self, end: Ps, net: &Net, wires: &mut Wires) {
        // Where the port has faults, one may follow from each frame of data.
        let sound = self.sides.nic.is_none();
        if !sound && self.sides.nic.as_ref().is_some_and(|nic| nic.next() == Ps(0)) {
            self.fail(None, net, wires);
            self.look_again(net, wires);
        }
        loop {
            let alarm = self.sides.receiver.alarms.next;
            let before = end.min(alarm.saturating_add(Ps(1)));
            let port = (sound, self.inbox);
            match Sides::take_while::<false>(from_mut(&mut self.sides), port, (before, net), wires) {
                Some(entry) => self.respond(&entry, net, wires),
                None if alarm < end => self.expire(alarm, net, wires),
                None => return,
            }
        }
    }

    /// The next timer of a reflector expires.
    #[cold]
    fn expire(&mut self, now: Ps, net: &Net, wires: &mut Wires) {
        self.catch_up((now, Kind::Timer, 0), net, wires);
        let at = self.moment(net);
        self.sides.alarm(&mut wires.records, &mut wires.direct, at);
        self.look_again(net, wires);
    }

    /// Carries out what follows from an arrival.
    #[inline(never)]
    fn respond(&mut self, &Entry { ready, frame }: &Entry, net: &Net, wires: &mut Wires) {
        let kind = frame.order();
        self.catch_up((ready, kind, 0), net, wires);
        let sound = self.sides.nic.is_none();
        if !sound && kind == Kind::Data {
            self.fail(Some(frame.len), net, wires);
        }
        let (at, paused) = (self.moment(net), &mut self.port.paused);
        self.sides.arrive(sound, &frame, paused, at, wires);
        self.look_again(net, wires);
    }

    /// Brings the sending side up to date for what happens at `limit`.
    #[inline(always)]
    fn catch_up(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        if self.due <= limit.0 {
            self.send_until(limit, net, wires);
        }
        self.rest(limit.0);
        self.now = limit.0;
    }

    /// Something has come to the sending side. What else comes in this moment goes before a start.
    #[inline(always)]
    fn look_again(&mut self, net: &Net, wires: &mut Wires) {
        self.kick_if_idle();
        let inbox = wires.inboxes.get(self.inbox as usize);
        let more = inbox.is_some_and(|inbox| inbox.arrived_before(0, self.now + Ps(1)).is_some());
        let more = more || self.sides.receiver.alarms.next <= self.now;
        self.go_on((self.now + Ps((!more).into()), Kind::Change, 0), net, wires);
    }

    /// Something has happened to the sending side: a start follows at once, if nothing else comes before it.
    #[inline(always)]
    fn go_on(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        let mut next = self.next_other();
        if self.kick && next > self.now && (self.now, Kind::Start, 0) < limit {
            hit(Mark::StartedAtOnce);
            self.execute((self.now, Kind::Start, 0), net, wires);
            next = self.next_other();
        }
        let end = if self.port.until < next && self.sides.sender.waits() { self.port.until } else { next };
        self.due = if self.kick { self.now } else { end.min(self.tick) };
        self.note_others();
    }

    /// When anything is due that may let a frame go, ps.
    #[inline(always)]
    fn next_other(&self) -> Ps {
        self.sides.next_due(NO_EVENT).0
    }

    /// Notes that the transmitter is idle at `now`, if nothing else is to be done at the end that has gone by.
    #[inline(always)]
    fn rest(&mut self, now: Ps) {
        if self.port.until <= now && !self.sides.sender.waits() {
            self.port.until = NEVER;
        }
    }

    /// The next event of its own. The end of a transmission behind which nothing waits is none.
    #[inline(always)]
    fn next_own(&self) -> Key {
        let mut first = (self.tick, Kind::Tick, 0);
        if self.kick && self.now <= first.0 {
            first = (self.now, Kind::Start, 0);
        }
        first = self.sides.next_due(first);
        if self.port.until <= first.0 && self.sides.sender.waits() {
            first = (self.port.until, Kind::End, 0);
        }
        first
    }

    /// The sending side's events before `limit`.
    #[inline(always)]
    fn send_until(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        while !self.send_straight(limit, net, wires)
            && self.due <= limit.0
            && self.send_one(limit, net, wires)
        {}
    }

    /// The next of these events, whatever it is, if there is one.
    #[inline(never)]
    fn send_one(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        let key = self.next_own();
        if key >= limit {
            self.due = key.0;
            return false;
        }
        hit(Mark::HostByEvent);
        if key.1 != Kind::End {
            self.rest(key.0);
        }
        self.execute(key, net, wires);
        self.go_on(limit, net, wires);
        true
    }

    /// Notes when the next thing happens to the sending side that is no slot and no end of a transmission.
    #[inline(always)]
    fn note_others(&mut self) {
        let sender = &self.sides.sender;
        if !self.simple {
            return;
        }
        let held = self.kick || self.port.is_stopped(MANAGED) || sender.holds_others();
        let next = sender.timers.next.min(sender.deferred.next()).min(self.sides.rates.next);
        self.alone_until = if held { Ps(0) } else { next };
    }

    /// The slots of a host's one source before `limit`, as long as nothing else happens. A frame that meets an idle line goes on the
    /// wire at once, another waits in the FIFO for the end of the transmission. True if that is all before `limit`.
    #[inline(always)]
    fn send_straight(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        if self.alone_until == Ps(0) {
            return false;
        }
        self.due = Ps(0);
        let plain = self.sides.sender.is_plain();
        while let Some(source) = self.sides.sources.first_mut() {
            let (slot, sender) = (source.next, &mut self.sides.sender);
            let waits = !sender.queues.fifo.is_empty();
            let free = if self.port.until == NEVER { self.now } else { self.port.until };
            let next = if waits { slot.min(free) } else { slot };
            let other = self.alone_until;
            if next >= limit.0.min(other) {
                self.due = next.min(other);
                return (other, Kind::Control, 0) >= limit;
            }
            self.now = next;
            if waits && free < slot {
                self.start(net, wires);
            } else {
                let (offer, at) = (source.offer(), Moment { now: slot, net });
                if waits || free > slot {
                    sender.accept(offer, false, at);
                    // The transmitter is busy: it looks at the end of that.
                    sender.must_look = false;
                } else if plain {
                    let frame = sender.make(offer, None, true, slot);
                    hit(Mark::SentStraight);
                    self.transmit(frame, net, wires);
                } else {
                    self.port.until = NEVER;
                    let Some(frame) = sender.pass(offer, at) else {
                        self.kick_if_idle();
                        self.note_others();
                        return false;
                    };
                    hit(Mark::SentStraight);
                    self.transmit(frame, net, wires);
                }
            }
            // Only reaction points start timers and make frames wait elsewhere.
            if !plain {
                self.sides.sender.must_look = false;
                self.note_others();
                if self.alone_until == Ps(0) {
                    return false;
                }
            }
        }
        false
    }
}
