//! A switch's window in one sweep: the fast engine's way to run [`Switch`].
//!
//! The sweep stores what arrives in the window without order where it can have no consequence at all (`store_unordered`), else
//! takes it in time order. A port is brought up to date only when something touches it: `advance` replays the transmitter from the
//! frames' ready times. That is exact as long as no port's departure can influence another port. It may where it ends an XOFF, or
//! where outputs share a memory cell that is nearly full. Such ports are *critical*: before every event they are brought up to date
//! together, in time order.
//!
//! A shared buffer is quiet (`bound_inputs`) if no input can come near its threshold with all that arrives in the window, nor the pool to
//! more than it ever held. Then the bytes of the inputs are all that is kept. Near a threshold frames are taken in order of time.
//! A departure has a consequence if its input is in XOFF: outputs that hold such frames are critical. What has left by the others is
//! counted where it matters (`switch/near.rs`): as such a frame leaves, or as one comes that would ask for XOFF without that. Where
//! memory is free as a transmission starts, it is counted until the end while the buffer is quiet; in step, a start is an event of its own.
//!
//! A long window is taken in pieces ([`Switch::run`]): in one, all its frames would count as waiting at once, and each would be
//! looked for among all others, so that time would grow with their square.
//!
//! * Claim: a frame of a window below every threshold is stored and drained without its port being brought up to date; a window of
//!   many frames costs each as much as one of few.
//! * Same bits: occupancies only grow until the drain, so they are upper bounds; below every threshold no order of events has a
//!   consequence. A threshold of a shared buffer falls as that fills: below it with an upper bound is below it. What arrives in a window is on its way when that begins, and so a piece of one is a window, too.
//! * Bench row: w2; near a threshold perm128-pfc; of pieces modern/fork-320-hosts (docs/performance.md) and `long links` of `crates/cli/tests/linear.rs`.
//! * Marks: CalmWindow, InPieces, Near; out: PutBack, InOrder, InStep.

mod arrivals;
mod replay;
mod thin;

pub(crate) use arrivals::Scratch;

use crate::check::broken;
use crate::fast::bits::{bit, of_bits};
use crate::fast::frame::{AFTER, Entry, Kind, NO_EVENT};
use crate::fast::order::{Step, of_rank_in, step, step_before};
use crate::fast::switch::{Port, Sent, Switch, Transmission, calm, early, near};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Kind as Order, Lane, Packet, Switching};
use crate::net::{Net, Ps};
use crate::spec::ControlTransport;
use crate::tx_rate::TxRate;

/// Frames of the fastest port for which a piece of a window has room at least: more pieces hold too little, fewer bring ports up to
/// date for frames that have long left. Of 1, 3, 4, 5 and 8, with a mean of 0.5, 1, 2 or 5 frames a port in a piece, 4 and 1 took
/// the fewest instructions for `modern/fork-320-hosts` (695 a packet-hop; 757 in one piece).
const PIECE: u64 = 4;

impl Switch {
    /// How long a piece of a window is at least, ps: the fastest link takes as long for [`PIECE`] frames.
    pub(crate) fn piece(fastest: TxRate, net: &Net) -> Ps {
        (PIECE * fastest.time(net.flows.mtu)).max(Ps(1))
    }

    /// Runs the switch from `base`, where it stands, up to `end` (exclusive): in pieces where that holds many frames.
    #[inline]
    pub(crate) fn run(&mut self, mut base: Ps, end: Ps, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        // In XOFF ports are in step anyway, and a piece has to look at each of them.
        if end - base >= 2 * self.pace.piece && self.mmu.memory.off_count == 0 {
            let length = Ps((end - base).0.div_ceil(self.pieces(base, end, wires)));
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
    fn pieces(&self, base: Ps, end: Ps, wires: &Wires) -> u64 {
        let inboxes = wires.inboxes.get(self.inbox as usize..).unwrap_or_default();
        let frames: usize = inboxes.iter().take(self.linked).map(|inbox| inbox.entries().count()).sum();
        (frames as u64 / self.linked.max(1) as u64).clamp(1, (end - base) / self.pace.piece)
    }

    /// Its number in the network, and that of its first receiving port at the worker.
    fn place(&self) -> (u32, u32) {
        (self.management.id, self.inbox)
    }

    /// Runs the switch from `base`, where it stands, up to `end` (exclusive), in one piece.
    fn sweep(&mut self, base: Ps, end: Ps, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        let near = self.mmu.memory.is_shared() && !self.has_room(end - base, net);
        let unbound = near && !self.bound_inputs(end, wires, scratch);
        if unbound && self.was_quiet && self.free_begun(base, net, wires) {
            self.bound_inputs(end, wires, scratch);
        }
        // Of a shared buffer, one output alone may stay in step longer than it holds frames of inputs in XOFF.
        let one = self.steps.in_step.count_ones() <= 1 && self.mmu.memory.is_shared();
        if !one && (self.mmu.unsettled() || self.steps.in_step != 0) {
            self.find_critical();
        }
        // Messages among the data stand in queues in order of time, with what came before them.
        let calm = self.steps.in_step == 0 && !self.mmu.memory.is_near();
        let may_be_ahead = net.laws.control != ControlTransport::InBand;
        if calm
            && (may_be_ahead || self.rare.0 >= end)
            && !(self.management.guarded && self.management.watchdogs.next() < end)
            && !self.ordered
            && self.store_unordered(base, end, may_be_ahead, net, wires)
        {
            if self.rare.0 < end || self.early.ran_out != 0 {
                early::catch_up(self, base, end, net, wires);
            }
        } else {
            scratch.gather(self.place(), 0..self.linked, (base, end), net, wires);
            self.in_order(&scratch.keys, base, end, net, wires);
        }
        self.drain(end, net, wires);
        self.early.may_be_ahead = false;
    }

    /// Of a shared buffer: does nothing follow from what links can carry in some time, whenever the rest leaves?
    pub(super) fn has_room(&self, time: Ps, net: &Net) -> bool {
        let frames = self.linked as u64 * u64::from(net.flows.mtu);
        self.mmu.has_room((self.pace.intake * time.0 as f64) as u64 * net.clocks.slack + frames)
    }

    /// Bounds by the bytes that are on their way to each input.
    #[inline(never)]
    pub(super) fn bound_inputs(&mut self, end: Ps, wires: &Wires, scratch: &mut Scratch) -> bool {
        if self.mmu.memory.off_count > 0 {
            return false;
        }
        let more = &mut scratch.more;
        more.clear();
        let inboxes = wires.inboxes.get(self.inbox as usize..).unwrap_or_default();
        for inbox in inboxes.iter().take(self.linked) {
            let (mut bytes, mut n) = (0, 0);
            while let Some(e) = inbox.arrived_before(n, end) {
                bytes += u64::from(e.frame.len);
                n += 1;
            }
            more.push(bytes);
        }
        // The switch's own messages take no memory: messages among the data are the model's.
        more.resize(self.ports.len() + 1, 0);
        let queued = self.ports.iter().map(|p| p.queued).max().unwrap_or(0) + more.iter().sum::<u64>();
        let before = self.mmu.memory.is_quiet();
        let quiet = self.mmu.note_quiet(more, queued);
        self.was_quiet |= quiet;
        if before && !quiet {
            near::find_holders(self);
        }
        quiet
    }

    /// Stores the arrivals before `end` input by input instead of in order of time, each frame in its place within its queue.
    /// If the occupancies stay below all thresholds with all of them, no order could have had a consequence. If they do not, or
    /// there is something that must be looked at: false, and data since `base` is on its wires as it was. Control stays where
    /// it was put.
    #[inline(always)]
    fn store_unordered(&mut self, base: Ps, end: Ps, ahead: bool, net: &Net, wires: &mut Wires) -> bool {
        self.early.may_be_ahead = ahead;
        let Wires { inboxes, bodies, .. } = &mut *wires;
        let first = self.inbox as usize;
        let mine = inboxes.get_mut(first..first + self.linked).unwrap_or_default();
        for (input, inbox) in mine.iter_mut().enumerate() {
            let Some(mut entry) = inbox.arrived_before(0, end) else { continue };
            let mut taken = 0;
            loop {
                let f = &entry.frame;
                let (stored, out) = if f.passes_as_data() {
                    let out = usize::from(f.output(net, self.index, &mut self.management.paths));
                    (calm::store_calmly(self, out, input, entry), out)
                } else if f.kind() == Kind::Control && calm::store_control(self, entry.ready, f, net, bodies)
                {
                    (Some(false), 0)
                } else {
                    (None, 0)
                };
                taken += u32::from(stored.is_some());
                if stored != Some(false) {
                    if stored.is_none() || !self.early.may_be_ahead {
                        inbox.skip_many(taken);
                        self.unstore(base, wires);
                        return false;
                    }
                    self.early.ran_out |= bit(out);
                }
                match inbox.arrived_before(taken, end) {
                    Some(next) => entry = next,
                    None => break,
                }
            }
            inbox.skip_many(taken);
        }
        hit(Mark::CalmWindow);
        true
    }

    /// Puts the data that arrived since `base` back on its wires.
    #[cold]
    #[inline(never)]
    fn unstore(&mut self, base: Ps, wires: &mut Wires) {
        hit(Mark::PutBack);
        self.early.may_be_ahead = false;
        self.early.ran_out = 0;
        for (p, port) in self.ports.iter_mut().enumerate().take(self.linked) {
            port.quiet.last = Ps(0);
            let before = port.data.entries().partition_point(|e| e.ready < base);
            for at in before..port.data.entries().len() {
                let Entry { ready, frame } = port.data.entries()[at];
                let (len, input) = (frame.len, usize::from(frame.input));
                port.put_back(&frame);
                // A frame that was stored without consequence leaves without any.
                self.mmu.leave_calmly(port.has_cells, self.mmu.row(p), input, len);
                let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize + input) else {
                    broken("a frame came by no port")
                };
                inbox.put_between(ready, &frame);
            }
            port.data.truncate(before);
        }
    }

    /// Arrivals and rare events in order of time, critical ports in step with them. By itself, as the calm way needs the registers.
    #[inline(never)]
    fn in_order(&mut self, keys: &[u64], base: Ps, end: Ps, net: &Net, wires: &mut Wires) {
        hit(Mark::InOrder);
        let mut arrivals = keys.iter().map(|key| of_rank_in(base, *key));
        let mut arrival = arrivals.next().unwrap_or(NO_EVENT);
        loop {
            // Where it is data, nothing comes before it, and no port is kept in step.
            let free = arrival.1 == Order::Data && self.steps.in_step == 0;
            if !(free && arrival.0 < self.rare.0) {
                let rare = self.rare_before(end);
                let first = arrival.min(rare);
                if first.0 >= end {
                    break;
                }
                let last = step_before(first);
                if self.steps.stale & self.steps.in_step != 0 || self.steps.soonest.0 <= last {
                    self.settle(last, net, wires);
                }
                if first != arrival {
                    if self.mmu.memory.is_near() {
                        near::count_others(self, (last, usize::MAX), net, wires);
                    }
                    self.now = first.0;
                    self.happen(first.1, &mut (net, &mut *wires));
                    continue;
                }
            }
            self.take(arrival.2 as usize, net, wires);
            arrival = arrivals.next().unwrap_or(NO_EVENT);
        }
        if self.steps.in_step != 0 {
            self.settle(step(end - Ps(1), Order::Start), net, wires);
        }
    }

    /// Takes an arrival off its wire, with all that follows from it. It is stored from where it stands: a copy costs instructions.
    #[inline(always)]
    fn take(&mut self, input: usize, net: &Net, wires: &mut Wires) {
        let inbox = &mut wires.inboxes[self.inbox as usize + input];
        let Some(entry) = inbox.arrived_before(0, AFTER) else { broken("an arrival without a frame") };
        let (mut out, mut stored) = (0, None);
        if entry.frame.passes_as_data() {
            out = usize::from(entry.frame.output(net, self.index, &mut self.management.paths));
            self.outdate_empty(out);
            stored = calm::store_calmly(self, out, input, entry);
            if stored == Some(false) {
                return inbox.skip_many(1);
            }
        }
        let entry = *entry;
        inbox.skip_many(1);
        self.follow(stored, out, &entry, net, wires);
    }

    /// What follows from a data frame that is stored, and is to be looked at, or from one that needs the exact way. `out` is the output
    /// of what passes as data. A probe among the data takes memory, too.
    #[inline(never)]
    fn follow(&mut self, mut stored: Option<bool>, out: usize, entry: &Entry, net: &Net, wires: &mut Wires) {
        self.now = entry.ready;
        let data = entry.frame.passes_as_data();
        if matches!(entry.frame.lane(), Lane::Data(_)) && stored.is_none() && self.mmu.memory.is_near() {
            near::count_others(self, (step(self.now, Order::End), usize::MAX), net, wires);
            stored = data.then(|| calm::store_calmly(self, out, entry.frame.input.into(), entry)).flatten();
        }
        match stored {
            Some(false) => {}
            Some(true) => early::look(self, out, self.now, 0, net, wires),
            None if data => self.arrive(out, &mut { entry.frame }, &mut (net, wires)),
            None => match entry.frame.as_pause() {
                Some(pause) => self.hear(entry.frame.input.into(), pause, &mut (net, wires)),
                None => self.forward(entry.frame, &mut (net, wires)),
            },
        }
    }

    /// Finds the ports whose departures may matter elsewhere.
    pub(crate) fn find_critical(&mut self) {
        let before = std::mem::take(&mut self.steps.in_step);
        if self.mmu.memory.off_count > 0 && self.mmu.memory.is_shared() {
            self.steps.in_step = near::holders_of_stopped(self);
        } else if self.mmu.unsettled() {
            self.steps.in_step = self.mmu.critical(self.linked).fold(0, |all, p| all | bit(p));
        }
        if before != 0 && before == self.steps.in_step {
            return;
        }
        // Most switches of a large network never come here.
        let steps = self.steps.in_step != 0 || self.mmu.memory.off_count > 0;
        self.steps.next.resize(if steps { self.linked } else { 0 }, (u64::MAX, None));
        // A step that was noted holds from window to window: what changes it says so.
        self.steps.stale = self.steps.in_step & (self.steps.stale | !before);
        self.steps.stepping &= before & self.steps.in_step;
        self.compare_steps();
    }

    /// Is a port kept in step?
    pub(crate) fn keeps_step(&self, port: usize) -> bool {
        self.steps.in_step & bit(port) != 0
    }

    /// Is a port kept in step, and has it nothing but data to send? Then all that has ended by now has left.
    pub(crate) fn is_settled(&self, port: usize) -> bool {
        let data_alone = |port: &Port| port.ahead.is_empty();
        self.keeps_step(port) && self.ports.get(port).is_some_and(data_alone)
    }

    /// Marks that a port's next frame may have changed.
    #[inline(always)]
    pub(crate) fn outdate(&mut self, port: usize) {
        self.steps.stale |= bit(port);
    }

    /// Data comes to a port. That changes what the port sends next only if no data waits there.
    #[inline(always)]
    pub(crate) fn outdate_empty(&mut self, port: usize) {
        if self.ports.get(port).is_some_and(|p| p.data.is_empty()) {
            self.outdate(port);
        }
    }

    /// Brings the critical ports up to date together: steps up to `last`, in their order. What has started by then and has not ended
    /// follows from what the ports keep, as at all others.
    fn settle(&mut self, last: Step, net: &Net, wires: &mut Wires) {
        while self.steps.in_step != 0 {
            hit(Mark::InStep);
            if self.steps.stale & self.steps.in_step != 0 {
                self.find_soonest();
            }
            let (step, p) = self.steps.soonest;
            if step > last {
                return;
            }
            let port = &self.ports[p];
            let stopped = |first: &Entry| self.mmu.memory.is_off(first.frame.input.into());
            // Nothing follows as a frame ends whose memory is free.
            if !self.holders.of.is_empty() && !port.has_freed() && port.data.front().is_some_and(stopped) {
                near::count_others(self, (step, p), net, wires);
            }
            if let Some(next) = self.steps.next[p].1.filter(|_| self.ports[p].transmitter.sends.is_none()) {
                self.ports[p].begin_this(next, &mut wires.records);
                self.free_at_start(p, net, wires);
            }
            if step % 2 == 0 {
                debug_assert_eq!(self.ports[p].end(), Ps(step / 2), "the next frame has changed unnoticed");
                self.complete(p, net, wires);
            }
            if self.keeps_step(p) {
                self.note_step(p);
                self.compare_steps();
            }
        }
    }

    /// Notes the next step of a critical port. One without data has none, as its departures free no memory.
    #[inline(always)]
    fn note_step(&mut self, p: usize) {
        let port = &self.ports[p];
        let steps = !port.data.is_empty();
        self.steps.next[p] = if steps { port.next_step(self.management.at_start) } else { (u64::MAX, None) };
        // Another port may have the same bit.
        let others = || of_bits(bit(p), self.linked).any(|p| !self.ports[p].data.is_empty());
        self.steps.stepping = self.steps.stepping & !bit(p) | if steps || others() { bit(p) } else { 0 };
    }

    /// Finds the next step of the critical ports.
    fn find_soonest(&mut self) {
        let stale = std::mem::take(&mut self.steps.stale) & self.steps.in_step;
        let mut later = false;
        for p in of_bits(stale, self.linked) {
            self.note_step(p);
            let step = self.steps.next[p].0;
            if (step, p) < self.steps.soonest {
                self.steps.soonest = (step, p);
            } else {
                later |= p == self.steps.soonest.1;
            }
        }
        if later {
            self.compare_steps();
        }
    }

    /// Finds the first of the steps that are noted.
    fn compare_steps(&mut self) {
        self.steps.soonest = (u64::MAX, 0);
        for p in of_bits(self.steps.stepping, self.linked) {
            let step = self.steps.next[p].0;
            if step < self.steps.soonest.0 {
                self.steps.soonest = (step, p);
            }
        }
    }

    /// Ends the ports' window. Where nothing stops what waits, what has left by `end` is sent on, and a transmission in
    /// progress is left to be found again: its start follows from the times of what waits and the last end.
    #[inline(always)]
    fn drain(&mut self, end: Ps, net: &Net, wires: &mut Wires) {
        let (mut rest, ports) = (0, self.ports.get_mut(..self.linked).unwrap_or_default());
        for (p, port) in ports.iter_mut().enumerate() {
            if port.line.needs_exact || !port.drain(p, end, &mut self.mmu, wires) {
                rest |= bit(p);
            }
        }
        for p in of_bits(rest, self.linked) {
            if !self.is_settled(p) {
                self.advance(p, end - Ps(1), end, net, wires);
            }
            if !self.keeps_step(p) {
                self.ports[p].forget_begun();
            }
        }
    }

    /// Replays a port's transmitter: ends at or before `last`, starts before `before`.
    #[inline(never)]
    pub(crate) fn advance(&mut self, p: usize, last: Ps, before: Ps, net: &Net, wires: &mut Wires) {
        let port = &mut self.ports[p];
        if !port.line.needs_exact {
            port.drain(p, last + Ps(1), &mut self.mmu, wires);
        }
        loop {
            self.begin(p, before, net, wires);
            if self.ports[p].end() > last {
                break;
            }
            self.complete(p, net, wires);
        }
        self.ports[p].note_needs();
    }

    /// If a port's transmitter is idle, starts what could have started first, if that was before `before`. Memory that is free at the
    /// start is freed then, unless nothing follows from that: it stays an upper bound.
    #[inline(always)]
    pub(crate) fn begin(&mut self, p: usize, before: Ps, net: &Net, wires: &mut Wires) {
        self.start(p, before, wires);
        self.free_at_start(p, net, wires);
    }

    /// The same, but for its memory. Of a port in step that has only data to send, what goes next is mostly found already.
    #[inline(always)]
    fn start(&mut self, p: usize, before: Ps, wires: &mut Wires) {
        if self.ports[p].transmitter.sends.is_none() {
            let found = self.steps.stale & bit(p) == 0 && self.is_settled(p);
            let next = if found { self.steps.next[p].1 } else { self.ports[p].next() };
            if let Some(next) = next.filter(|next| next.0 < before) {
                self.ports[p].begin_this(next, &mut wires.records);
            }
        }
    }

    /// Where memory is free at the start, and something may follow from that, what a port sends is freed.
    #[inline(always)]
    fn free_at_start(&mut self, p: usize, net: &Net, wires: &mut Wires) {
        if self.management.at_start && !self.mmu.memory.is_quiet() {
            self.free_started(p, net, wires);
        }
    }

    /// Frees the memory of the frame of data that a port sends, if it is not free.
    fn free_started(&mut self, p: usize, net: &Net, wires: &mut Wires) -> bool {
        let port = &mut self.ports[p];
        let (Some(first), Some(Transmission { began, what: Sent::Data { freed: freed @ false, .. }, .. })) =
            (port.data.front(), &mut port.transmitter.sends)
        else {
            return false;
        };
        let frame = first.frame;
        *freed = true;
        let now = std::mem::replace(&mut self.now, *began);
        self.free(p, &frame, &mut (net, wires));
        self.now = now;
        true
    }

    /// Where memory is free as a transmission starts, that of all that began before `base` is freed, which was an upper bound until now:
    /// does less count then?
    fn free_begun(&mut self, base: Ps, net: &Net, wires: &mut Wires) -> bool {
        let mut any = false;
        self.was_quiet = false;
        for p in if self.management.at_start { 0..self.linked } else { 0..0 } {
            self.start(p, base, wires);
            any |= self.free_started(p, net, wires);
        }
        any
    }
}
