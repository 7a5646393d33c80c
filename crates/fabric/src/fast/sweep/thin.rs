//! A switch's window where few frames arrive: only the inputs and outputs that have something are looked at.
//!
//! A frame that starts on an idle line cannot be stopped any more, so it is put on the wire at once, ahead of the end
//! of its transmission: the switch need not be visited again for it. So is one that waits behind others, as long as nothing but
//! data is about ([`Port::launched`]): its start follows from their ends. Their memory is freed when the port is next touched. So
//! occupancies are upper bounds here too, but may be older than a window. Before anything else happens (a PAUSE, control, a
//! sample, a change), they are brought to what they were at the window's beginning, and frames that had not started then
//! are taken back from the wire, where nobody can have seen them yet ([`Switch::free_launched`]). Who owns the other end of a wire between two
//! workers may have, so there only the frame in transmission goes ahead ([`Port::most_ahead`]).
//!
//! * Claim: a switch looks at the ports that have something, and frames go on their wires ahead.
//! * Same bits: a start on an idle line cannot be stopped; what waits behind data alone starts when that has ended, and is
//!   taken back if anything else comes between.
//! * Bench row: sparse, w2 at 10 % (docs/performance.md).
//! * Marks: ThinWindow, Flown, Launched; out: TakenBack.

use super::arrivals::{Scratch, key};
use crate::check::broken;
use crate::fast::frame::{Entry, Frame, Kind, NEVER, order};
use crate::fast::switch::{Port, Stored, Switch};
use crate::fast::wires::{FOREIGN, Wires};
use crate::marks::{Mark, hit};
use crate::model::count_down;
use crate::net::Net;

/// Most frames of a port that stand on its wire ahead: what must be taken back is work done in vain.
const AHEAD: u32 = 8;

/// Bit of a port in a set of ports modulo 64.
#[inline(always)]
fn bit(port: usize) -> u64 {
    1 << (port % 64)
}

impl Switch {
    /// Runs the switch up to `end`, which is not that of the run. Returns when it must be visited next if nothing arrives.
    pub(crate) fn sweep_thin(
        &mut self,
        node: u32,
        end: u64,
        net: &Net,
        wires: &mut Wires,
        scratch: &mut Scratch,
    ) -> u64 {
        let (near, far) = wires.wheel.take_arrived(node);
        let later = if far == 0 { NEVER } else { self.keep_far(node, far, end, wires) };
        let base = end - net.window;
        let calm = self.next_rare_at >= end && self.critical.is_empty() && !self.mmu.unsettled();
        let due = if calm && scratch.gather_some(self, near | far, base, end, wires) {
            self.take_some(base, end, net, wires, scratch)
        } else {
            self.free_launched(base, base, wires);
            self.run(base, end, net, wires, scratch);
            self.look_around(end)
        };
        due.min(later)
    }

    /// Takes what has been gathered. Returns as [`Switch::sweep_thin`].
    #[inline(always)]
    fn take_some(&mut self, base: u64, end: u64, net: &Net, wires: &mut Wires, scratch: &mut Scratch) -> u64 {
        hit(Mark::ThinWindow);
        self.lazy = true;
        if scratch.keys.len() > 1 {
            scratch.sort(self.management.id, base, net);
        }
        for (i, &k) in scratch.keys.iter().enumerate() {
            let (ready, input) = (base + (k >> 20), (k & 0xFFFF) as usize);
            // A frame that is alone at its moment starts at that moment if it can.
            let alone = scratch.keys.get(i + 1).is_none_or(|next| next >> 20 > k >> 20);
            let how = self.take_thinly(ready, input, alone, net, wires);
            if how != Stored::Calmly {
                self.free_launched(base, ready, wires);
                self.take(how, ready, input, net, wires);
                self.in_order(&scratch.keys[i + 1..], base, end, net, wires);
                return self.end_all(base, end, wires);
            }
        }
        let mut due = self.next_rare_at;
        let mut left = std::mem::take(&mut self.waiting);
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut p = first;
            while p < self.linked {
                if !self.bring(p, end - 1, end, net, wires) {
                    return self.end_all(base, end, wires);
                }
                let at = self.due_of(p);
                if at != NEVER {
                    due = due.min(at);
                    self.waiting |= bit(p);
                }
                p += 64;
            }
        }
        self.lazy = false;
        due
    }

    /// Takes a data frame off its wire in order of time and stores it where nothing depends on the moment. On an idle line
    /// it starts at once, if it is `alone`.
    #[inline(always)]
    fn take_thinly(&mut self, ready: u64, input: usize, alone: bool, net: &Net, wires: &mut Wires) -> Stored {
        let at = self.inbox + input as u32;
        let Some(&entry) = wires.head(at) else { broken("an arrival without a frame") };
        let f = &entry.frame;
        let out = usize::from(f.output(net, self.index, &mut self.next_path));
        if self.ports.get(out).is_some_and(|port| port.launched > 0) {
            self.retire(out, ready);
        }
        let Some(port) = self.ports.get_mut(out) else { broken("no such port") };
        let end = ready + port.service.time(f.len);
        let flies = alone
            && f.len <= self.flies_up_to
            && port.idle_from <= ready
            && port.data.is_empty()
            && u64::from(f.len) <= port.calm_up_to
            && port.countdown > i64::from(f.len)
            && port.may_launch(end, net);
        if flies {
            hit(Mark::Flown);
            (port.flown, port.flown_from) = (f.len, input as u16);
            port.idle_from = end;
            count_down(&mut port.countdown, f.len);
            port.departed += u64::from(f.len);
            port.frames_departed += 1;
            wires.push_away(port.peer, end + port.delay, f);
            if let Some(inbox) = wires.inboxes.get_mut(at as usize) {
                inbox.skip_many(1);
            }
            return Stored::Calmly;
        }
        self.store_thinly(ready, input, out, alone, &entry, net, wires)
    }

    /// The same where the line is not idle.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "what its only caller has found")]
    fn store_thinly(
        &mut self,
        ready: u64,
        input: usize,
        out: usize,
        alone: bool,
        entry: &Entry,
        net: &Net,
        wires: &mut Wires,
    ) -> Stored {
        let at = self.inbox + input as u32;
        self.chosen = Some(out as u16);
        self.land(out, ready);
        if !self.bring(out, ready, ready, net, wires) {
            return Stored::Not;
        }
        let how = self.store_calmly(out, input, entry);
        if how == Stored::Not {
            return how;
        }
        if let Some(inbox) = wires.inboxes.get_mut(at as usize) {
            inbox.skip_many(1);
        }
        if how == Stored::AndDue {
            return how;
        }
        self.chosen = None;
        if !self.launch(out, ready + u64::from(alone), net, wires) {
            self.waiting |= bit(out);
        }
        how
    }

    /// Puts a frame that counts as sent, but is not at `now`, back to where it is counted.
    #[inline(always)]
    fn land(&mut self, p: usize, now: u64) {
        let Some(port) = self.ports.get_mut(p) else { broken("no such port") };
        let (len, input) = (std::mem::take(&mut port.flown), port.flown_from);
        if len == 0 || port.idle_from <= now {
            return;
        }
        let start = port.idle_from - port.service.time(len);
        // Nobody looks at what it carries any more.
        let mut frame = Frame::data(0, 0, 0, len, 0);
        frame.input = input;
        port.data.push_back(&Entry { ready: start, frame });
        port.queued += u64::from(len);
        port.departed -= u64::from(len);
        port.frames_departed -= 1;
        port.sending = Some(Kind::Data);
        port.needs_exact = true;
        port.launched = 1;
        port.launched_to = port.idle_from;
        port.began = start;
        if let Some(end) = self.ends.get_mut(p) {
            *end = std::mem::replace(&mut port.idle_from, start);
        }
        if port.has_cells {
            self.mmu.count(p, usize::from(input), len);
        }
        self.mmu.pool += u64::from(len);
    }

    /// Brings a port of which data alone waits up to date: ends at or before `last`, starts before `before`. What waits goes on
    /// its wire. False if there is more to consider.
    #[inline(always)]
    fn bring(&mut self, p: usize, last: u64, before: u64, net: &Net, wires: &mut Wires) -> bool {
        loop {
            let noted = !self.retire(p, last);
            let port = &self.ports[p];
            if noted || (port.has_control_or_stamp && port.launched == 0) {
                return false;
            }
            if self.launch(p, before, net, wires) {
                return true;
            }
            // What has been launched now may have left as well.
            let port = &self.ports[p];
            if port.launched == 0 {
                return port.data.front().is_none_or(|e| port.end_after(port.idle_from, e) > last);
            }
            if self.ends[p] > last {
                return true;
            }
        }
    }

    /// Forgets frames that stand on the wire and have left by `last`. False if a transmission is noted that the usual way must
    /// end, or a departure may have a consequence.
    #[inline(always)]
    fn retire(&mut self, p: usize, last: u64) -> bool {
        let (Some(port), Some(end)) = (self.ports.get_mut(p), self.ends.get_mut(p)) else {
            broken("no such port")
        };
        while port.launched > 0 && *end <= last {
            let Some(Entry { frame, .. }) = port.data.front() else { broken("what went ahead is gone") };
            let (input, len) = (usize::from(frame.input), frame.len);
            if !self.mmu.leave_calmly(port.has_cells, self.mmu.row(p), input, len) {
                return false;
            }
            port.queued -= u64::from(len);
            port.first_sent(len, *end);
            port.launched -= 1;
            if port.launched == 0 {
                *end = NEVER;
                port.sending = None;
                port.note_needs(false);
            } else if let Some(next) = port.data.front() {
                port.began = next.ready.max(port.idle_from);
                *end = port.end_after(port.idle_from, next);
            }
        }
        port.launched > 0 || !port.needs_exact
    }

    /// Puts data that waits on its wire, each frame with the time of its end: the first of them if it starts before `before`, as
    /// what is in transmission cannot be taken back. True if all of it stands there.
    #[inline(always)]
    fn launch(&mut self, p: usize, before: u64, net: &Net, wires: &mut Wires) -> bool {
        let (Some(port), Some(ends)) = (self.ports.get_mut(p), self.ends.get_mut(p)) else {
            broken("no such port")
        };
        let row = self.mmu.row(p);
        let free_calmly =
            |port: &Port, e: &Entry| !port.has_cells || self.mmu.is_calm(row, e.frame.input.into());
        // The one in transmission may be in a cell that has grown since.
        if port.launched == 1 && !port.data.front().is_some_and(|e| free_calmly(port, e)) {
            return port.data.entries().len() == 1;
        }
        let mut free = if port.launched > 0 { port.launched_to } else { port.idle_from };
        while let Some(entry) = port.data.entries().get(port.launched as usize) {
            if port.launched == 0 && entry.ready.max(free) >= before {
                return false;
            }
            let end = port.end_after(free, entry);
            let may = entry.frame.is_data() && port.may_launch(end, net) && free_calmly(port, entry);
            if !may || port.launched >= port.most_ahead() {
                return false;
            }
            wires.push_away(port.peer, end + port.delay, &entry.frame);
            if port.launched == 0 {
                port.began = entry.ready.max(free);
                *ends = end;
                port.sending = Some(Kind::Data);
                port.needs_exact = true;
            }
            if port.launched > 0 {
                hit(Mark::Launched);
            }
            port.launched += 1;
            port.launched_to = end;
            free = end;
        }
        true
    }

    /// When a port needs a visit if nothing arrives.
    #[inline(always)]
    fn due_of(&self, p: usize) -> u64 {
        let (port, end) = (&self.ports[p], self.ends[p]);
        if end != NEVER {
            if port.launched == 0 || port.has_control_or_stamp || !port.pause_out.is_empty() {
                return end;
            }
            let all = port.data.entries().len() == port.launched as usize;
            return match port.launched {
                _ if all => NEVER,
                // Those that wait behind follow when these have left.
                AHEAD => port.launched_to,
                _ => end,
            };
        }
        if port.needs_exact | port.has_control_or_stamp {
            return port.start_time().0;
        }
        port.data.front().map_or(NEVER, |e| port.end_after(port.idle_from, e))
    }

    /// Frees the memory of frames that have left before `base` and whose ports have not been touched since, and takes back
    /// from the wires those that have not started before `now`.
    #[inline(never)]
    pub(crate) fn free_launched(&mut self, base: u64, now: u64, wires: &mut Wires) {
        let lazy = std::mem::replace(&mut self.lazy, true);
        for p in 0..self.linked {
            self.land(p, base);
            if self.ports[p].launched == 0 {
                continue;
            }
            if base > 0 && !self.retire(p, base - 1) && self.ports[p].launched > 0 {
                debug_assert!(self.ports[p].launched == 1, "what is launched leaves without consequence");
                self.drain_exactly(p, base, wires);
            }
            self.take_back(p, now, wires);
        }
        self.lazy = lazy;
    }

    /// Takes frames of a port back from the wire: all but the first, and that too if it starts at `now` or later.
    fn take_back(&mut self, p: usize, now: u64, wires: &mut Wires) {
        let (port, end) = (&mut self.ports[p], &mut self.ends[p]);
        while port.launched > 0 {
            let mut ends = (0, *end);
            for entry in port.data.entries().iter().take(port.launched as usize).skip(1) {
                ends = (ends.1, port.end_after(ends.1, entry));
            }
            if port.launched == 1 && port.began < now {
                return;
            }
            hit(Mark::TakenBack);
            wires.take_back(port.peer, ends.1 + port.delay);
            port.launched -= 1;
            port.launched_to = ends.0;
            if port.launched == 0 {
                *end = NEVER;
                port.sending = None;
                port.note_needs(false);
            }
        }
    }

    /// Ends a window the usual way.
    #[inline(never)]
    fn end_all(&mut self, base: u64, end: u64, wires: &mut Wires) -> u64 {
        self.free_launched(base, end, wires);
        self.drain(end, wires);
        self.lazy = false;
        self.look_around(end)
    }

    /// Keeps in mind at which of some inputs frames are due at `end` or later, and says when.
    #[inline(never)]
    fn keep_far(&self, node: u32, inputs: u64, end: u64, wires: &mut Wires) -> u64 {
        let (mut kept, mut later) = (0, NEVER);
        for p in (0..self.linked).filter(|&p| inputs & bit(p) != 0) {
            let entries = wires.inboxes[self.inbox as usize + p].entries();
            if let Some(e) = entries.iter().find(|e| e.ready >= end) {
                kept |= bit(p);
                later = later.min(e.ready);
            }
        }
        wires.wheel.keep_arrived(node, kept);
        later
    }

    /// Finds out anew what waits, and when it must be visited next if nothing arrives.
    pub(crate) fn look_around(&mut self, end: u64) -> u64 {
        let mut due = self.next_rare_at;
        self.waiting = 0;
        for p in 0..self.linked {
            let at = self.due_of(p);
            if at != NEVER {
                due = due.min(at);
                self.waiting |= bit(p);
            }
        }
        if self.mmu.unsettled() || !self.critical.is_empty() { end } else { due }
    }
}

impl Port {
    /// May its next data frame, whose transmission ends at `end`, go on its wire at once? Marks at departure and the books
    /// at the run's end need the moment itself.
    #[inline(always)]
    fn may_launch(&self, end: u64, net: &Net) -> bool {
        let stopped = self.needs_exact && (self.launched == 0 || self.must_be_exact());
        !(stopped | self.has_control_or_stamp) && self.mark_from == NEVER && end < net.duration
    }

    /// How many of its frames may stand on its wire ahead. To another worker only the one that has started, which is never
    /// taken back: who owns the other end may have seen it.
    #[inline(always)]
    fn most_ahead(&self) -> u32 {
        if self.peer & FOREIGN == 0 { AHEAD } else { 1 }
    }

    /// End of the transmission of a waiting data frame if the one before it ends at `free`.
    #[inline(always)]
    fn end_after(&self, free: u64, entry: &Entry) -> u64 {
        entry.ready.max(free) + self.service.time(entry.frame.len)
    }
}

impl Scratch {
    /// Finds the data that arrives before `end` at some inputs. False if there is something else than data.
    #[inline(always)]
    fn gather_some(&mut self, s: &Switch, inputs: u64, base: u64, end: u64, wires: &Wires) -> bool {
        self.keys.clear();
        let mut left = inputs;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut p = first;
            while p < s.linked {
                let Some(inbox) = wires.inboxes.get(s.inbox as usize + p) else { broken("no such port") };
                let mut n = 0;
                while let Some(e) = inbox.arrived_before(n, end) {
                    n += 1;
                    if !e.frame.is_data() {
                        return false;
                    }
                    self.keys.push(key(e.ready - base, order::DATA, p as u64));
                }
                p += 64;
            }
        }
        true
    }
}
