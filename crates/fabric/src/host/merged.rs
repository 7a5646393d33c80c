//! A window of a host that returns tags and obeys the rates that come back: with every frame tagged, each frame that it sends
//! or takes in has another one's arrival close to it.
//!
//! Arrivals and slots are merged by hand. A tag goes back behind the transmission in progress, as nothing goes before it. A
//! returned rate concerns its own flow alone, so that it needs to know of the sending side only what waits there of that
//! flow. A frame that is made is kept in hand until it starts: behind what is being sent, behind the tags that come
//! until then, and when its limiter lets it go. If something else may come first (a timer, the next frame, a rate for its own
//! flow, the window's end), it goes where the general way would have put it; one that waits in the FIFO alone is taken up
//! again. All else that arrives, and timers, are left to the general way.

use super::*;

/// Where [`Host::merge`] ended.
enum Merged {
    /// At the window's end.
    Fully,
    /// At a frame that waits now.
    ToFrame,
    /// At something else, which is next.
    ToOther,
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

    /// Is there nothing at the sending side but slots, timers, frames that their limiters hold back, and a transmission in
    /// progress with at most one frame behind it?
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.is_quiet()
            && (self.fifo.is_empty()
                || (self.fifo.len() == 1 && self.end != NEVER && self.blocked.is_empty()))
            && self.control.is_empty()
            && self.probes.is_empty()
            && self.sending.is_none()
            && (self.limiters.held == 0
                || self.limiters.ready(0, self.limiters.slots.len(), self.now).is_none())
    }

    /// What arrives and what is sent before `end`, as far as it can be merged. False where something else must be done first, up
    /// to which all is done.
    #[inline]
    pub(super) fn merge_while(&mut self, end: u64, net: &Net, wires: &mut Wires) -> bool {
        while self.is_settled() {
            match self.merge(end, net, wires) {
                Merged::Fully => return true,
                Merged::ToFrame => {}
                Merged::ToOther => return false,
            }
        }
        false
    }

    #[inline(never)]
    fn merge(&mut self, end: u64, net: &Net, wires: &mut Wires) -> Merged {
        // Before time zero nothing is sent.
        let mut free = if self.end == NEVER { 0 } else { self.end };
        let mut taken = 0;
        let (how, until) = self.merge_from(&mut free, &mut taken, end, net, wires);
        if let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize) {
            inbox.skip_many(taken);
        }
        match how {
            Merged::Fully => {
                self.end = if free < until { NEVER } else { free };
                // Where frames wait, the general way looks at the end of each transmission.
                let waits = self.limiters.held > 0 || !self.fifo.is_empty();
                let end = if waits { self.end } else { NEVER };
                self.due = end.min(self.sources[0].next).min(self.timers.next).min(self.next_tick);
            }
            Merged::ToOther => {
                // The end of a transmission comes first of all that happens at a moment, but for PAUSE, which does not mind.
                // It is still to come where a frame waits for it.
                self.end = if free <= until && self.fifo.is_empty() { NEVER } else { free };
                (self.due, self.calm) = (0, Calm::Not);
            }
            Merged::ToFrame => (self.due, self.calm) = (0, Calm::Not),
        }
        how
    }

    /// The same; how it ended, and when.
    #[inline(always)]
    fn merge_from(
        &mut self,
        free: &mut u64,
        taken: &mut u32,
        end: u64,
        net: &Net,
        wires: &mut Wires,
    ) -> (Merged, u64) {
        let below = self.position == LimiterPosition::BelowQueue;
        if let Some(how) = self.merge_first(free, taken, end, net, wires) {
            return how;
        }
        loop {
            let Some(source) = self.sources.first() else { return (Merged::ToOther, 0) };
            let (slot, dst, len) = (source.next, source.to, source.len);
            let own = slot.min(self.timers.next).min(end);
            // What arrives comes before a timer or slot of its moment.
            if let Some(&e) = self.arrival(*taken, own.saturating_add(1).min(end), wires) {
                if !self.take_in(&e, free, net, wires) {
                    return (Merged::ToOther, e.ready);
                }
                *taken += 1;
                continue;
            }
            if own == end {
                return (Merged::Fully, end);
            }
            let key = self.key_of(dst);
            let Some(at) = self.limiters.find(key).filter(|_| slot < self.timers.next) else {
                return (Merged::ToOther, own);
            };
            let Some(limiter) = self.slot(at) else { return (Merged::ToOther, own) };
            let holds = limiter.holds();
            // A frame that waits there already has a timer at that time, so that this one is not taken for the next.
            let from = if holds { limiter.eligible.max(slot) } else { slot };
            if limiter.state.countdown <= i64::from(len)
                || limiter.state.release
                || limiter.state.packed_tag().0 == 0
            {
                return (Merged::ToOther, own);
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
                alone = !mine && self.take_in(&e, free, net, wires);
                if !alone {
                    break;
                }
                *taken += 1;
                start = from.max(*free);
            }
            let done = start + self.tx.time(len);
            if !alone || start >= other || done >= net.duration {
                // Something else may come before it.
                (self.now, self.end) = (slot, if *free <= slot { NEVER } else { *free });
                self.generate(dst, len, false, net);
                return (Merged::ToFrame, slot);
            }
            let slots = self.limiters.slots.len();
            let Some(limiter) = self.limiters.slots.get_mut(at).and_then(Option::as_mut) else {
                return (Merged::ToOther, own);
            };
            if holds {
                limiter.pace(if below { start } else { from }, len);
            }
            limiter.state.countdown -= i64::from(len);
            let frame = Frame::tagged_data((self.id, dst), self.seq, len, slot, limiter.next_tag(start));
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

    /// Sends the frame of the FIFO, if there is one, behind the transmission in progress; how the merge ends if that cannot be done.
    #[inline(always)]
    fn merge_first(
        &mut self,
        free: &mut u64,
        taken: &mut u32,
        end: u64,
        net: &Net,
        wires: &mut Wires,
    ) -> Option<(Merged, u64)> {
        let &frame = self.fifo.front()?;
        let other = self.sources.first()?.next.min(self.timers.next).min(end);
        while let Some(&e) = self.arrival(*taken, free.saturating_add(1).min(other), wires) {
            if !self.take_in(&e, free, net, wires) {
                return Some((Merged::ToOther, e.ready));
            }
            *taken += 1;
        }
        if *free >= other {
            return Some(if other == end { (Merged::Fully, end) } else { (Merged::ToOther, other) });
        }
        let done = *free + self.tx.time(frame.len);
        let at = self.limiters.find(self.key_of(u32::from(frame.dst)));
        let limiter = at.and_then(|at| self.limiters.slots.get_mut(at).and_then(Option::as_mut));
        let Some(limiter) = limiter
            .filter(|l| frame.is_data() && l.state.packed_tag().0 != 0 && !l.state.release)
            .filter(|l| frame.counted() || l.state.countdown > i64::from(frame.len))
            .filter(|_| done < net.duration)
        else {
            return Some((Merged::ToOther, *free));
        };
        if !frame.counted() {
            limiter.state.countdown -= i64::from(frame.len);
        }
        let tag = limiter.next_tag(*free);
        let born = (u32::from(frame.src), u32::from(frame.dst));
        let tagged = Frame::tagged_data(born, frame.seq, frame.len, frame.born(), tag);
        self.fifo.pop_front();
        if self.position == LimiterPosition::BelowQueue {
            self.turn = 1;
        }
        self.sent += 1;
        wires.push_frame(self.peer, done + self.delay, &tagged);
        (self.now, *free) = (*free, done);
        None
    }

    /// The arrival `taken` places after the first, if it comes before `before`.
    #[inline(always)]
    fn arrival<'a>(&self, taken: u32, before: u64, wires: &'a Wires) -> Option<&'a Entry> {
        wires.inboxes.get(self.inbox as usize)?.due(taken, before)
    }

    /// Takes in a frame of data, which returns its tag, or a returned rate; false, and nothing is done, where there is more to it.
    /// The transmitter is free from `free` on.
    #[inline(always)]
    fn take_in(&mut self, e: &Entry, free: &mut u64, net: &Net, wires: &mut Wires) -> bool {
        let Entry { ready, frame } = e;
        if !frame.is_data() {
            let rate = match (frame.kind(), frame.said(), self.obeys) {
                (Kind::Control, Some(Feedback::ReturnedRate { rate }), Some(least)) => rate.max(least),
                _ => return false,
            };
            let Some(at) = self.limiters.find(self.key_of(u32::from(frame.dst))) else { return false };
            self.now = *ready;
            return self.adopts(at, rate);
        }
        if let Some(tag) = frame.discovered() {
            let done = (*free).max(*ready) + self.tx.time(CONTROL);
            if done >= net.duration {
                return false;
            }
            let message = Frame::returned(frame, tag, *ready);
            wires.push_frame(self.peer, done + self.delay, &message);
            *free = done;
            self.now = *ready;
            self.control_hops += 1;
            self.note_returned();
        }
        self.receive(*ready, frame);
        true
    }
}
