//! A switch's window where few frames arrive: only the inputs and outputs that have something are looked at.
//!
//! A frame that starts cannot be stopped any more, so it is put on the wire at once, ahead of the end of its transmission: where
//! its line is idle and no other comes at its moment, the switch need not be visited again for it. The memory of what stands on
//! a wire is freed when the port is next touched. So occupancies are upper bounds here too, but may be older than a window.
//! Before anything else happens (a PAUSE, control, a sample, a change), they are brought to what they were at the window's
//! beginning ([`Switch::free_launched`]).
//!
//! * Claim: a switch looks at the ports that have something, and frames go on their wires as they start.
//! * Same bits: a start cannot be stopped.
//! * Bench row: sparse, w2 at 10 % (docs/performance.md).
//! * Marks: ThinWindow, Flown, Launched.

use super::arrivals::Scratch;
use crate::check::broken;
use crate::fast::bits::{bit, of_bits};
use crate::fast::frame::{Entry, Frame};
use crate::fast::order::of_rank_in;
use crate::fast::switch::{Port, Sent, Switch, Transmission, calm};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Packet, count_down, transmission};
use crate::net::{NEVER, Net, Ps};

impl Switch {
    /// Runs the switch up to `end`, which is not that of the run. Returns when it must be visited next if nothing arrives.
    pub(crate) fn sweep_thin(
        &mut self,
        node: u32,
        end: Ps,
        net: &Net,
        wires: &mut Wires,
        scratch: &mut Scratch,
    ) -> Ps {
        let (near, far) = wires.wheel.take_arrived(node);
        let later = if far == 0 { NEVER } else { self.keep_far(node, far, end, wires) };
        let base = end - net.windows.window;
        let shared = self.mmu.memory.is_shared() && self.steps.in_step == 0;
        let quiet = !shared || self.has_room(end - base, net) || self.bound_inputs(end, wires, scratch);
        let calm = quiet && self.rare.0 >= end && self.steps.in_step == 0 && !self.mmu.unsettled();
        let due = if calm
            && scratch.gather(self.place(), of_bits(near | far, self.linked), (base, end), net, wires)
        {
            self.take_some(base, end, net, wires, scratch)
        } else {
            self.free_launched(base, net, wires);
            self.run(base, end, net, wires, scratch);
            self.look_around()
        };
        due.min(later)
    }

    /// Takes what has been gathered. Returns as [`Switch::sweep_thin`].
    #[inline(always)]
    fn take_some(&mut self, base: Ps, end: Ps, net: &Net, wires: &mut Wires, scratch: &mut Scratch) -> Ps {
        hit(Mark::ThinWindow);
        for (i, &k) in scratch.keys.iter().enumerate() {
            let (at, _, input) = of_rank_in(base, k);
            // A frame that is alone at its moment starts at that moment if it can.
            let alone = scratch.keys.get(i + 1).is_none_or(|next| of_rank_in(base, *next).0 > at);
            let Some(entry) = wires.inboxes[self.inbox as usize + input as usize].pop_front(end) else {
                broken("an arrival without a frame")
            };
            let out = usize::from(entry.frame.output(net, self.index, &mut self.management.paths));
            let stored = self.take_thinly(out, &entry, alone, net, wires);
            if stored != Some(false) {
                self.free_launched(base, net, wires);
                self.follow(stored, out, &entry, net, wires);
                self.in_order(&scratch.keys[i + 1..], base, end, net, wires);
                return self.end_all(base, end, net, wires);
            }
        }
        let mut due = self.rare.0;
        for p in of_bits(std::mem::take(&mut self.waiting), self.linked) {
            if !self.bring(p, end - Ps(1), end, net, wires) {
                return self.end_all(base, end, net, wires);
            }
            due = due.min(self.note_due(p));
        }
        due
    }

    /// Takes a data frame in order of time and stores it where nothing depends on the moment. On an idle line it starts at once,
    /// if it is `alone`. Returns as [`Switch::store_calmly`].
    #[inline(always)]
    fn take_thinly(
        &mut self,
        out: usize,
        entry: &Entry,
        alone: bool,
        net: &Net,
        wires: &mut Wires,
    ) -> Option<bool> {
        let &Entry { ready, frame: ref f } = entry;
        if self.ports.get(out).is_some_and(|port| port.line.needs_exact && port.has_launched()) {
            self.retire(out, ready);
        }
        let Some(port) = self.ports.get_mut(out) else { broken("no such port") };
        let (_, end) = transmission(ready, ready, port.line.service, f.len);
        // A frame alone in its queue, of no more than the largest so far: nothing is to be noted of that.
        let flies = alone
            && self.mmu.memory.layout.step.1 > 0
            && self.mmu.small.is_some_and(|small| u64::from(f.len) <= small)
            && port.idle_from <= ready
            && port.data.is_empty()
            && u64::from(f.len) <= port.calm_up_to.min(port.left.peak)
            && port.countdown > i64::from(f.len)
            && port.may_launch(end, f, net);
        if flies {
            hit(Mark::Flown);
            port.quiet.flown = (f.len, f.input);
            port.idle_from = end;
            count_down(&mut port.countdown, f.len);
            port.left.count_queued(f.len);
            wires.push_away(port.line.peer, end + port.line.delay, f);
            return Some(false);
        }
        self.land(out, ready);
        if !self.bring(out, ready, ready, net, wires) {
            return None;
        }
        let stored = calm::store_calmly(self, out, usize::from(entry.frame.input), entry);
        if stored == Some(false) && !self.launch(out, ready + Ps(alone.into()), net, wires) {
            self.waiting |= bit(out);
        }
        stored
    }

    /// Puts a frame that counts as sent, but is not at `now`, back to where it is counted.
    #[inline(always)]
    fn land(&mut self, p: usize, now: Ps) {
        let Some(port) = self.ports.get_mut(p) else { broken("no such port") };
        let (len, input) = port.quiet.flown;
        port.quiet.flown.0 = 0;
        if len == 0 || port.idle_from <= now {
            return;
        }
        let start = port.idle_from - transmission(Ps(0), Ps(0), port.line.service, len).1;
        // Nobody looks at what it carries any more.
        let mut frame = Frame::data(0, 0, 0, len, Ps(0));
        frame.input = input;
        port.data.push_back(&Entry { ready: start, frame });
        port.queued += u64::from(len);
        port.left.take_back(len);
        port.put_ahead(start, port.idle_from);
        port.idle_from = start;
        self.mmu.take_back(port.has_cells, p, usize::from(input), len);
    }

    /// Brings a port of which data alone waits up to date: ends at or before `last`, starts before `before`. What waits goes on
    /// its wire. False if there is more to consider.
    #[inline(always)]
    fn bring(&mut self, p: usize, last: Ps, before: Ps, net: &Net, wires: &mut Wires) -> bool {
        loop {
            if !self.retire(p, last) {
                return false;
            }
            if self.launch(p, before, net, wires) {
                return true;
            }
            // A frame that was launched just now may have left as well.
            let port = &self.ports[p];
            if !port.has_launched() {
                return port.data.front().is_none_or(|e| port.times(e).1 > last);
            }
            if port.end() > last {
                return true;
            }
        }
    }

    /// Forgets the frame that stands on the wire if it has left by `last`. False if there is more to consider than data, or the
    /// departure may have a consequence.
    #[inline(always)]
    fn retire(&mut self, p: usize, last: Ps) -> bool {
        let Some(port) = self.ports.get_mut(p) else { broken("no such port") };
        if port.has_launched() && port.end() <= last {
            let Some(Entry { frame, .. }) = port.data.front() else { broken("what went ahead is gone") };
            let (input, len) = (usize::from(frame.input), frame.len);
            if port.has_freed() || !self.mmu.leave_calmly(port.has_cells, self.mmu.row(p), input, len) {
                return false;
            }
            port.first_sent(len, port.end());
            port.transmits(None);
            port.note_needs();
        }
        !port.line.needs_exact || port.has_launched()
    }

    /// Puts the first frame of the data that waits on its wire, with the time of its end, if it starts before `before`. True if
    /// nothing waits behind it.
    #[inline(always)]
    fn launch(&mut self, p: usize, before: Ps, net: &Net, wires: &mut Wires) -> bool {
        let Some(port) = self.ports.get_mut(p) else { broken("no such port") };
        if !port.has_launched() {
            let Some(entry) = port.data.front() else { return true };
            let (start, end) = port.times(entry);
            let calm = !port.has_cells || self.mmu.is_calm(self.mmu.row(p), entry.frame.input.into());
            let may = calm && entry.frame.is_data() && port.may_launch(end, &entry.frame, net);
            if start >= before || !may {
                return false;
            }
            hit(Mark::Launched);
            wires.push_away(port.line.peer, end + port.line.delay, &entry.frame);
            port.put_ahead(start, end);
        }
        port.data.entries().len() == 1
    }

    /// Notes whether a port needs a visit if nothing arrives, and returns when.
    #[inline(always)]
    fn note_due(&mut self, p: usize) -> Ps {
        let port = &self.ports[p];
        let due = if let Some(sends) = port.transmitter.sends {
            let data_alone = port.has_launched() && port.ahead.is_empty();
            if data_alone && port.data.entries().len() == 1 { NEVER } else { sends.end }
        } else if port.line.needs_exact {
            port.next().map_or(NEVER, |next| next.0)
        } else {
            port.data.front().map_or(NEVER, |e| port.times(e).1)
        };
        self.waiting |= if due == NEVER { 0 } else { bit(p) };
        due
    }

    /// Frees the memory of frames that have left before `base` and whose ports have not been touched since.
    #[inline(never)]
    pub(crate) fn free_launched(&mut self, base: Ps, net: &Net, wires: &mut Wires) {
        for p in 0..self.linked {
            self.land(p, base);
            let calm = base == Ps(0) || !self.ports[p].has_launched() || self.retire(p, base - Ps(1));
            if !calm && self.ports[p].has_launched() {
                self.advance(p, base - Ps(1), base, net, wires);
            }
        }
    }

    /// Ends a window the usual way.
    #[inline(never)]
    fn end_all(&mut self, base: Ps, end: Ps, net: &Net, wires: &mut Wires) -> Ps {
        self.free_launched(base, net, wires);
        self.drain(end, net, wires);
        self.look_around()
    }

    /// Keeps in mind at which of some inputs frames are due at `end` or later, and says when.
    #[inline(never)]
    fn keep_far(&self, node: u32, inputs: u64, end: Ps, wires: &mut Wires) -> Ps {
        let (mut kept, mut later) = (0, NEVER);
        for p in of_bits(inputs, self.linked) {
            let mut entries = wires.inboxes[self.inbox as usize + p].entries();
            if let Some(e) = entries.find(|e| e.ready >= end) {
                kept |= bit(p);
                later = later.min(e.ready);
            }
        }
        wires.wheel.keep_arrived(node, kept);
        later
    }

    /// Finds out anew what waits, and when it must be visited next if nothing arrives.
    pub(crate) fn look_around(&mut self) -> Ps {
        let mut due = self.rare.0;
        self.waiting = 0;
        for p in 0..self.linked {
            due = due.min(self.note_due(p));
        }
        if self.mmu.unsettled() || self.steps.in_step != 0 {
            // Each departure may have a consequence at another port, that of a frame on its wire, too.
            let next = |port: &Port| {
                port.transmitter.sends.map_or_else(|| port.next().map_or(NEVER, |n| n.0), |s| s.end)
            };
            due = self.ports.iter().take(self.linked).map(next).fold(due, Ps::min);
        }
        due
    }
}

impl Port {
    /// The first frame of its data is in transmission, and stands on its wire already.
    #[inline(always)]
    fn put_ahead(&mut self, began: Ps, end: Ps) {
        let what = Sent::Data { launched: true, freed: false };
        self.transmits(Some(Transmission { began, end, what }));
        self.line.needs_exact = true;
    }

    /// May its next data frame, whose transmission ends at `end`, go on its wire at once? Marks at departure, traces and the books
    /// at the run's end need the moment itself.
    #[inline(always)]
    fn may_launch(&self, end: Ps, frame: &Frame, net: &Net) -> bool {
        let looks = self.looks.from != u64::MAX && (self.looks.ramp_from != u64::MAX || frame.record() > 0);
        !self.line.needs_exact && !looks && end < net.duration
    }
}
