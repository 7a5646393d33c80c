//! A switch's window in one sweep: the fast engine's way to run [`Switch`].
//!
//! Advice to those who change it. Events at a switch are coupled through an output port (its queue, its transmitter) or
//! through memory (PAUSE, refusals). The sweep stores what arrives in the window without order where it can have no
//! consequence at all (`store_unordered`), else takes it in time order, and *brings a port up to date only when something
//! touches it*: `advance` replays the transmitter from the frames' ready times. That is exact
//! as long as no port's departure can influence another port: departures matter elsewhere only where they may end an
//! XOFF, or where outputs share a memory cell that is nearly full. Ports of which that is true are *critical*: before
//! every event they are brought up to date together, in time order. All else stays lazy. The oracle knows
//! nothing of this, and must agree bit for bit.
//!
//! A long window is taken in pieces ([`Switch::run`]): in one, all its frames would count as waiting at once, and each would be
//! looked for among all others, so that time would grow with their square.
//!
//! * Claim: a frame of a window below every threshold is stored and drained without its port being brought up to date; a window of
//!   many frames costs each as much as one of few.
//! * Same bits: occupancies only grow until the drain, so they are upper bounds; below every threshold no order of events has a
//!   consequence. What arrives in a window is on its way when that begins, and so a piece of one is a window, too.
//! * Bench row: w2; of pieces modern/fork-320-hosts (docs/performance.md) and `long links` of `crates/cli/tests/linear.rs`.
//! * Marks: CalmWindow, InPieces, Ranked; out: PutBack, LetGo, InOrder, InStep.

mod arrivals;
mod replay;
mod thin;

pub(crate) use arrivals::Scratch;

use crate::check::broken;
use crate::fast::bodies::Bodies;
use crate::fast::frame::{Entry, Kind, NEVER, NO_EVENT, order};
use crate::fast::mmu::Mmu;
use crate::fast::switch::{Port, Stored, Switch, leaves_marked};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::Net;
use crate::spec::ControlTransport;
use crate::tx_rate::TxRate;

/// Frames of the fastest port for which a piece of a window has room at least: more pieces hold too little, fewer bring ports up to
/// date for frames that have long left. Of 1, 3, 4, 5 and 8, with a mean of 0.5, 1, 2 or 5 frames a port in a piece, 4 and 1 took
/// the fewest instructions for `modern/fork-320-hosts` (695 a packet-hop; 757 in one piece).
const PIECE: u64 = 4;

impl Switch {
    /// How long a piece of a window is at least, ps: the fastest link takes as long for [`PIECE`] frames.
    pub(crate) fn piece(fastest: TxRate, net: &Net) -> u64 {
        (PIECE * fastest.time(net.mtu)).max(1)
    }

    /// Runs the switch from `base`, where it stands, up to `end` (exclusive): in pieces where that holds many frames.
    #[inline]
    pub(crate) fn run(
        &mut self,
        mut base: u64,
        end: u64,
        net: &Net,
        wires: &mut Wires,
        scratch: &mut Scratch,
    ) {
        if end - base >= 2 * self.piece {
            let length = (end - base).div_ceil(self.pieces(base, end, wires));
            while base + length < end {
                hit(Mark::InPieces);
                self.sweep(base, base + length, net, wires, scratch);
                base += length;
            }
        }
        self.sweep(base, end, net, wires, scratch);
    }

    /// In how many pieces a window is taken: as many as a port takes in frames, in the mean.
    #[inline(never)]
    fn pieces(&self, base: u64, end: u64, wires: &Wires) -> u64 {
        let inboxes = wires.inboxes.get(self.inbox as usize..).unwrap_or_default();
        let frames: usize = inboxes.iter().take(self.linked).map(|inbox| inbox.entries().len()).sum();
        (frames as u64 / self.linked as u64).clamp(1, (end - base) / self.piece)
    }

    /// Runs the switch from `base`, where it stands, up to `end` (exclusive), in one piece.
    fn sweep(&mut self, base: u64, end: u64, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        self.lazy = true;
        if self.mmu.unsettled() || !self.critical.is_empty() {
            self.find_critical();
        }
        // Messages among the data stand in queues in order of time, with what came before them.
        let calm = self.critical.is_empty();
        let may_be_ahead = net.control != ControlTransport::InBand;
        if calm
            && (may_be_ahead || self.next_rare_at >= end)
            && self.may_store_unordered()
            && let Some(n) = self.store_unordered(base, end, may_be_ahead, net, wires)
        {
            if n > 0 || !self.idle_until(end) {
                if self.next_rare_at < end || self.is_due() {
                    self.catch_up(base, end, net, wires);
                }
                self.drain(end, wires);
            }
            self.may_be_ahead = false;
            self.lazy = false;
            return;
        }
        scratch.gather(self, base, end, net, wires);
        if scratch.keys.is_empty() && self.idle_until(end) {
            self.lazy = false;
            return;
        }
        self.in_order(&scratch.keys, base, end, net, wires);
        self.drain(end, wires);
        self.lazy = false;
    }

    /// Must a queue be looked at when a frame that is stored arrives?
    #[inline(always)]
    fn is_due(&self) -> bool {
        !self.ran_out.is_empty() | !self.higher.is_empty()
    }

    /// Is it worth trying? Not where frames take turns, and for a while not where it has just failed.
    #[inline(always)]
    fn may_store_unordered(&mut self) -> bool {
        let waits = self.in_order_for > 0;
        self.in_order_for -= u8::from(waits);
        !waits && !self.ordered
    }

    /// Stores the arrivals before `end` input by input instead of in order of time, each frame in its place within its queue,
    /// and says how many frames. If the occupancies stay below all thresholds with all of them, no order could have had a
    /// consequence. If they do not, or there is something that must be looked at: none, and data since `base` is on its wires
    /// as it was. Control stays where it was put.
    #[inline(always)]
    fn store_unordered(
        &mut self,
        base: u64,
        end: u64,
        ahead: bool,
        net: &Net,
        wires: &mut Wires,
    ) -> Option<usize> {
        self.may_be_ahead = ahead;
        let mut stored = 0;
        let Wires { inboxes, bodies, .. } = &mut *wires;
        let mine = inboxes.get_mut(self.inbox as usize..)?.get_mut(..self.linked)?;
        for (input, inbox) in mine.iter_mut().enumerate() {
            let Some(mut entry) = inbox.arrived_before(0, end) else { continue };
            let mut taken = 0;
            loop {
                let f = &entry.frame;
                let (how, out) = if f.is_data() {
                    let out = usize::from(f.output(net, self.index, &mut self.next_path));
                    (self.store_calmly(out, input, entry), out)
                } else {
                    (self.store_other(input, entry, net, bodies), 0)
                };
                taken += u32::from(how != Stored::Not);
                if how != Stored::Calmly {
                    if how == Stored::Not || !self.may_be_ahead {
                        inbox.skip_many(taken);
                        self.unstore(base, wires);
                        return None;
                    }
                    self.note_ran_out(out);
                }
                match inbox.arrived_before(taken, end) {
                    Some(next) => entry = next,
                    None => break,
                }
            }
            inbox.skip_many(taken);
            stored += taken;
        }
        hit(Mark::CalmWindow);
        self.penalty /= 2;
        Some(stored as usize)
    }

    #[cold]
    #[inline(never)]
    fn store_other(&mut self, input: usize, entry: &Entry, net: &Net, bodies: &mut Bodies) -> Stored {
        let Entry { ready, ref frame } = *entry;
        match frame.kind() {
            Kind::Control if self.store_control(ready, frame, net, bodies) => Stored::Calmly,
            Kind::InBand => self.store_in_band(input, entry, net),
            _ => Stored::Not,
        }
    }

    /// Puts the data that arrived since `base` back on its wires.
    #[cold]
    #[inline(never)]
    fn unstore(&mut self, base: u64, wires: &mut Wires) {
        hit(Mark::PutBack);
        self.may_be_ahead = false;
        self.ran_out.clear();
        self.probes_stored = false;
        self.higher.clear();
        for (p, port) in self.ports.iter_mut().enumerate().take(self.linked) {
            port.last = 0;
            while let Some(e) = port.data.pop_back_since(base) {
                port.queued -= u64::from(e.frame.len);
                match e.frame.is_data() {
                    true => port.countdown += i64::from(e.frame.len),
                    false => port.in_band -= 1,
                }
                if port.has_cells {
                    self.mmu.unstore_calmly(p, usize::from(e.frame.input), e.frame.len);
                } else {
                    self.mmu.pool -= u64::from(e.frame.len);
                }
                let inbox = wires.inboxes.get_mut(self.inbox as usize + usize::from(e.frame.input));
                let Some(inbox) = inbox else { broken("a frame came by no port") };
                inbox.put_between(e.ready, &e.frame);
            }
        }
        self.in_order_for = self.penalty;
        self.penalty = (self.penalty * 2 + 1).min(31);
    }

    /// Arrivals and rare events in order of time, critical ports in step with them.
    fn in_order(&mut self, keys: &[u64], base: u64, end: u64, net: &Net, wires: &mut Wires) {
        hit(Mark::InOrder);
        let mut i = 0;
        loop {
            let arrival = keys.get(i).copied();
            if let Some(k) = arrival
                && base + (k >> 20) < self.next_rare_at
                && (k >> 16) as u8 & 0xF == order::DATA
                && self.critical.is_empty()
            {
                // Nothing comes before it, and no port is kept in step.
                i += 1;
                self.take_data(base + (k >> 20), (k & 0xFFFF) as usize, net, wires);
                continue;
            }
            let rare = if self.next_rare_at < end { self.next_rare() } else { NO_EVENT };
            let event =
                arrival.map_or(NO_EVENT, |k| (base + (k >> 20), (k >> 16) as u8 & 0xF, (k & 0xFFFF) as u32));
            let first = event.min(rare);
            if first.0 >= end {
                break;
            }
            // Before time zero nothing has ended.
            let last = if first.1 < order::END { first.0.checked_sub(1) } else { Some(first.0) };
            if let Some(last) = last
                && (self.stale & self.in_step != 0 || self.soonest.at() <= last)
                && !self.critical.is_empty()
            {
                self.settle(last, wires);
            }
            match arrival {
                Some(k) if first == event => {
                    i += 1;
                    let input = (k & 0xFFFF) as usize;
                    match (k >> 16) as u8 & 0xF == order::DATA {
                        true => self.take_data(first.0, input, net, wires),
                        false => self.take(Stored::Not, first.0, input, net, wires),
                    }
                }
                _ => self.execute(first, net, wires),
            }
        }
        if !self.critical.is_empty() {
            self.settle(end - 1, wires);
        }
    }

    /// Takes a data frame off its wire, with all that follows from it.
    #[inline(always)]
    fn take_data(&mut self, ready: u64, input: usize, net: &Net, wires: &mut Wires) {
        let how = self.take_calmly(input, net, wires);
        if how != Stored::Calmly {
            self.take(how, ready, input, net, wires);
        }
    }

    /// Takes a data frame off its wire and stores it where nothing depends on the moment.
    #[inline(always)]
    fn take_calmly(&mut self, input: usize, net: &Net, wires: &mut Wires) -> Stored {
        let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize + input) else {
            broken("an arrival at no port")
        };
        let Some(entry) = inbox.front() else { broken("an arrival without a frame") };
        let f = &entry.frame;
        if !f.is_data() {
            return Stored::Not;
        }
        let out = usize::from(f.output(net, self.index, &mut self.next_path));
        self.outdate(out);
        let how = self.store_calmly(out, input, entry);
        if how == Stored::Calmly {
            inbox.skip_many(1);
            return how;
        }
        self.take_closely(how, out, input, wires)
    }

    /// The same of a frame with which its queue seems too long: what has left by now may not have been taken off it yet.
    #[inline(never)]
    fn take_closely(&mut self, mut how: Stored, out: usize, input: usize, wires: &mut Wires) -> Stored {
        let at = self.inbox + input as u32;
        // A port that is kept in step has let go what has left.
        if how == Stored::Not
            && self.in_step >> (out % 64) & 1 == 0
            && let Some(&entry) = wires.head(at)
            && self.let_go(out, entry.ready + 1, wires)
        {
            hit(Mark::LetGo);
            how = self.store_calmly(out, input, &entry);
        }
        if how != Stored::Calmly {
            self.chosen = Some(out as u16);
        }
        if how != Stored::Not
            && let Some(inbox) = wires.inboxes.get_mut(at as usize)
        {
            inbox.skip_many(1);
        }
        how
    }

    /// Sends on what has left a port before `end`, if nothing stops what waits there. False if there is more to consider.
    fn let_go(&mut self, p: usize, end: u64, wires: &mut Wires) -> bool {
        let Some(port) = self.ports.get_mut(p) else { broken("no such port") };
        !(port.needs_exact | port.has_control_or_stamp) && port.drain(p, end, &mut self.mmu, wires)
    }

    /// Takes an arrival off its wire, if that is not done yet, with all that follows from it.
    #[inline(never)]
    fn take(&mut self, how: Stored, ready: u64, input: usize, net: &Net, wires: &mut Wires) {
        self.now = ready;
        let chosen = self.chosen.take();
        if how == Stored::AndDue {
            return self.sample_stored(usize::from(chosen.unwrap_or_default()), ready, 0, net, wires);
        }
        let entry = wires.pop(self.inbox + input as u32);
        let Some(entry) = entry else { broken("an arrival without a frame") };
        match chosen {
            Some(out) => {
                self.data(usize::from(out), entry.frame, net, wires);
            }
            None => self.arrive(entry, input, net, wires),
        }
    }

    fn idle_until(&self, end: u64) -> bool {
        self.next_rare_at >= end
            && self.mmu.pool == 0
            && self.control_waits == 0
            && self.ends.iter().all(|&e| e >= end)
    }

    /// Ports whose departures may matter elsewhere.
    pub(crate) fn find_critical(&mut self) {
        self.critical.clear();
        self.in_step = 0;
        if self.mmu.unsettled() {
            for p in (0..self.linked).filter(|&p| self.mmu.is_critical(p)) {
                self.critical.push(p as u16);
                self.in_step |= 1 << (p % 64);
            }
            self.soonest.clear(self.linked);
        }
        self.stale = self.in_step;
    }

    /// What a port sends next may have changed.
    #[inline(always)]
    pub(crate) fn outdate(&mut self, port: usize) {
        self.stale |= 1 << (port % 64);
    }

    /// Brings the critical ports up to date together: ends at or before `last`, in order of time. What has started by then and
    /// has not ended follows from what the ports keep, as at all others.
    fn settle(&mut self, last: u64, wires: &mut Wires) {
        hit(Mark::InStep);
        while self.in_step != 0 {
            let mut left = std::mem::take(&mut self.stale) & self.in_step;
            while left != 0 {
                for p in (left.trailing_zeros() as usize..self.linked).step_by(64) {
                    self.soonest.set(p, self.next_end(p));
                }
                left &= left - 1;
            }
            debug_assert!(self.critical.iter().all(|&p| self.soonest.at() <= self.next_end(p.into())));
            let end = self.soonest.at();
            if end > last {
                return;
            }
            let p = self.soonest.port();
            if self.ends[p] == NEVER {
                self.begin(p, end);
            }
            debug_assert_eq!(self.ends[p], end, "what a port sends next has changed unnoticed");
            self.outdate(p);
            self.complete(p, wires);
        }
    }

    /// When a port ends a transmission next, as things stand.
    #[inline]
    fn next_end(&self, p: usize) -> u64 {
        let end = self.ends[p];
        if end == NEVER { self.ports[p].next_end() } else { end }
    }

    /// Ends the ports' window. Where nothing stops what waits, what has left by `end` is sent on, and a transmission in
    /// progress is left to be found again: its start follows from the times of what waits and the last end.
    #[inline(always)]
    fn drain(&mut self, end: u64, wires: &mut Wires) {
        self.exact.clear();
        let linked = self.ports.get_mut(..self.linked).unwrap_or_default();
        for (p, port) in linked.iter_mut().enumerate() {
            if port.needs_exact | port.has_control_or_stamp {
                self.exact.push(p as u16);
                continue;
            }
            if !port.drain(p, end, &mut self.mmu, wires) {
                self.exact.push(p as u16);
            }
        }
        for i in 0..self.exact.len() {
            let p = usize::from(self.exact[i]);
            if !self.drain_by_lane(p, end, wires) {
                self.drain_exactly(p, end, wires);
            }
        }
    }
}

impl Port {
    /// Sends on what has left by `end` of what waits, which is all that the transmitter has to consider. False where a departure
    /// may have a consequence: the rest needs the exact way.
    #[inline(always)]
    fn drain(&mut self, p: usize, end: u64, mmu: &mut Mmu, wires: &mut Wires) -> bool {
        let (counted, row) = (self.has_cells, mmu.row(p));
        while let Some(&Entry { ready, ref frame }) = self.data.place_at(0) {
            let start = ready.max(self.idle_from);
            let done = start + self.service.time(frame.len);
            if done >= end {
                break;
            }
            if !mmu.leave_calmly(counted, row, usize::from(frame.input), frame.len) {
                return false;
            }
            let len = frame.len;
            self.queued -= u64::from(len);
            let ready = done + self.delay;
            if self.queued > self.mark_from
                && frame.is_data()
                && self.may_mark(start)
                && leaves_marked(&mut self.point, &self.data, self.queued, start)
            {
                let mut marked = *frame;
                marked.set_marked(true);
                wires.push_frame(self.peer, ready, &marked);
            } else {
                wires.push_frame(self.peer, ready, frame);
            }
            self.first_sent(len, done);
        }
        true
    }
}
