//! A window of a host that returns tags and obeys the rates that come back: with every frame tagged, each frame that it sends
//! or takes in has another one's arrival close to it.
//!
//! Arrivals and slots are merged by hand. A tag goes back behind the transmission in progress, as nothing goes before it. A
//! returned rate concerns its own flow alone, so that it needs to know of the sending side only what waits there of that
//! flow. A frame that is made is kept in hand until it starts: behind what is being sent, behind the tags that come
//! until then, and when its limiter lets it go. What does not fit in (anything else that arrives, a timer, a second frame, a
//! rate for the flow of the frame in hand) is left to the general way, with the frame where it would have put it.

use super::*;

/// What becomes of an arrival in [`Host::merge`].
enum Taken {
    /// All that follows is done.
    Fully,
    /// Nothing is done.
    Not,
}

impl Host {
    /// Runs a host that may be merged up to `end` (exclusive).
    #[inline(never)]
    pub(super) fn sweep_merged(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        let arrives = wires.inboxes.get(self.inbox as usize).is_some_and(|i| i.due(0, end).is_some());
        if arrives || self.due < end {
            self.take(end, net, wires);
        }
        if self.due < end {
            self.send_until((end, 0, 0), net, wires);
        }
    }

    /// Is there nothing at the sending side but slots, timers and a transmission in progress?
    #[inline(always)]
    pub(super) fn is_settled(&self) -> bool {
        self.is_quiet() && !self.waits()
    }

    /// What arrives and what is sent before `end`, of a settled host. False where something else must be done first, up to which
    /// all is done.
    #[inline(never)]
    pub(super) fn merge(&mut self, end: u64, net: &Net, wires: &mut Wires) -> bool {
        // Before time zero nothing is sent.
        let mut free = if self.end == NEVER { 0 } else { self.end };
        let mut taken = 0;
        let done = self.merge_from(&mut free, &mut taken, end, net, wires);
        if let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize) {
            inbox.skip_many(taken);
        }
        if done {
            self.end = if free == 0 { NEVER } else { free };
            self.due = self.sources[0].next.min(self.timers.next).min(self.next_tick);
        } else {
            (self.due, self.calm) = (0, Calm::Not);
        }
        done
    }

    #[inline(always)]
    fn merge_from(
        &mut self,
        free: &mut u64,
        taken: &mut u32,
        end: u64,
        net: &Net,
        wires: &mut Wires,
    ) -> bool {
        let below = self.position == LimiterPosition::BelowQueue;
        loop {
            let Some(source) = self.sources.first() else { return false };
            let (slot, dst, len) = (source.next, source.to, source.len);
            let own = slot.min(self.timers.next).min(end);
            // What arrives comes before a timer or slot of its moment.
            if let Some(&e) = self.arrival(*taken, own.saturating_add(1).min(end), wires) {
                if let Taken::Not = self.take_in(&e, free, net, wires) {
                    return self.leave_at(*free);
                }
                *taken += 1;
                continue;
            }
            if own == end {
                return true;
            }
            let key = self.key_of(dst);
            let Some(at) = self.limiters.find(key).filter(|_| slot < self.timers.next) else {
                return self.leave_at(*free);
            };
            let Some(limiter) = self.slot(at) else { return self.leave_at(*free) };
            let holds = limiter.holds();
            let from = if holds { limiter.eligible.max(slot) } else { slot };
            if limiter.state.countdown <= i64::from(len)
                || limiter.state.release
                || limiter.state.packed_tag().0 == 0
                || (from > slot && !below)
            {
                return self.leave_at(*free);
            }
            // The frame is in hand.
            let source = &mut self.sources[0];
            source.frame();
            let to = source.to;
            let other = source.next.min(self.timers.next).min(end);
            let mut start = from.max(*free);
            let mut alone = true;
            while let Some(&e) = self.arrival(*taken, start.min(other).saturating_add(1).min(end), wires) {
                let mine = !e.frame.is_data() && self.key_of(u32::from(e.frame.dst)) == key;
                alone = !mine && matches!(self.take_in(&e, free, net, wires), Taken::Fully);
                if !alone {
                    break;
                }
                *taken += 1;
                start = from.max(*free);
            }
            let done = start + self.tx.time(len);
            if !alone || start >= other || done >= net.duration {
                // Something else may come before it.
                self.now = slot;
                self.leave_at(*free);
                self.rest(slot);
                self.generate(dst, len, false, net);
                return false;
            }
            let slots = self.limiters.slots.len();
            let Some(limiter) = self.limiters.slots.get_mut(at).and_then(Option::as_mut) else {
                return false;
            };
            if holds {
                limiter.pace(if below { start } else { slot }, len);
            }
            limiter.state.countdown -= i64::from(len);
            let frame = Frame::tagged_data((self.id, dst), self.seq, len, slot, limiter.next_tag());
            if below {
                // As after this frame in [`Host::pick`].
                self.turn = match holds {
                    true if at + 1 == slots => 0,
                    true => at + 2,
                    false => 1,
                };
            }
            self.seq = self.seq.wrapping_add(1);
            self.made.add(&frame);
            self.sent += 1;
            wires.push_frame(self.peer, done + self.delay, &frame);
            (self.now, *free) = (start, done);
            self.limiters.expect(self.key_of(to));
        }
    }

    /// The arrival `taken` places after the first, if it comes before `before`.
    #[inline(always)]
    fn arrival<'a>(&self, taken: u32, before: u64, wires: &'a Wires) -> Option<&'a Entry> {
        wires.inboxes.get(self.inbox as usize)?.due(taken, before)
    }

    /// The general way goes on, with the transmitter busy until `free`.
    #[inline]
    fn leave_at(&mut self, free: u64) -> bool {
        self.end = if free == 0 { NEVER } else { free };
        false
    }

    /// Takes in a frame of data, which returns its tag, or a returned rate. The transmitter is free from `free` on.
    #[inline(always)]
    fn take_in(&mut self, e: &Entry, free: &mut u64, net: &Net, wires: &mut Wires) -> Taken {
        let Entry { ready, frame } = e;
        if !frame.is_data() {
            let rate = match (frame.kind(), frame.said(), self.obeys) {
                (Kind::Control, Some(Feedback::ReturnedRate { rate }), Some(least)) => rate.max(least),
                _ => return Taken::Not,
            };
            let Some(at) = self.limiters.find(self.key_of(u32::from(frame.dst))) else { return Taken::Not };
            self.now = *ready;
            return if self.adopts(at, rate) { Taken::Fully } else { Taken::Not };
        }
        if let Some(tag) = frame.discovered() {
            let done = (*free).max(*ready) + self.tx.time(64);
            if done >= net.duration {
                return Taken::Not;
            }
            let message = Frame::returned(frame, tag, *ready);
            wires.push_frame(self.peer, done + self.delay, &message);
            *free = done;
            self.now = *ready;
            self.control_hops += 1;
            self.note_returned();
        }
        self.receive(*ready, frame);
        Taken::Fully
    }
}
