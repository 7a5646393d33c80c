//! A switch's window in one sweep: the fast engine's way to run [`Switch`].
//!
//! Advice to those who change it. Events at a switch are coupled through an output port (its queue, its transmitter) or
//! through memory (PAUSE, refusals). The sweep stores what arrives in the window without order where it can have no
//! consequence at all (`store_unranked`), else takes it in time order, and *brings a port up to date only when something
//! touches it*: `advance` replays the transmitter from the frames' ready times. That is exact
//! as long as no port's departure can influence another port: departures matter elsewhere only where they may end an
//! XOFF, or where outputs share a memory cell that is nearly full. Ports of which that is true are *critical*: before
//! every event they are brought up to date together, in time order. All else stays lazy. The event-list engine knows
//! nothing of this, and must agree bit for bit.

mod thin;

use crate::frame::{Entry, Frame, Kind, NEVER, NO_EVENT, Wires, arrival_kind, order};
use crate::net::Net;
use crate::spec::{ControlTransport, Organisation};
use crate::switch::{Port, Switch};
use cnsim_scheme_api::Tag;

/// Arrivals of a window, kept between windows for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Sorted: time in the window, kind, port (see [`key`]).
    keys: Vec<u64>,
    /// The same for a window of data alone, in 31 bits: time in the window, port; in the order found, and sorted.
    short_found: Vec<i32>,
    short: Vec<i32>,
}

/// An arrival as a number that sorts by (time, kind, port).
#[inline]
fn key(offset: u64, kind: u8, port: u64) -> u64 {
    offset << 20 | u64::from(kind) << 16 | port
}

impl Switch {
    /// Runs the switch up to `end` (exclusive).
    pub(crate) fn sweep(&mut self, end: u64, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        let base = end.saturating_sub(net.window);
        self.lazy = true;
        if self.mmu.unsettled() || !self.critical.is_empty() {
            self.find_critical();
        }
        let calm = self.critical.is_empty();
        // The last window may be shorter than the others, so that `base` lies before it. Messages among the data stand in
        // queues in order of time, with what came before them.
        let may_be_ahead = net.control == ControlTransport::Priority;
        if calm
            && end < net.duration
            && (may_be_ahead || self.rare >= end)
            && self.may_store_unranked()
            && let Some(n) = self.store_unranked(base, end, may_be_ahead, net, wires)
        {
            if n > 0 || !self.idle_until(end) {
                if self.rare < end || !self.ran_out.is_empty() {
                    self.catch_up(base, end, net, wires);
                }
                self.drain(end, wires);
            }
            self.may_be_ahead = false;
            self.lazy = false;
            return;
        }
        if calm && let Some(n) = scratch.gather_data(self, base, end, wires) {
            if n == 0 && self.idle_until(end) {
                self.lazy = false;
                return;
            }
            let done = self.take_ranked(&scratch.short[..n], base, end, net, wires);
            if done < n || self.rare < end || !self.critical.is_empty() {
                scratch.widen(self.bits, done, n);
                self.in_order(&scratch.keys, base, end, net, wires);
            }
        } else {
            scratch.gather(self, base, end, wires);
            if scratch.keys.is_empty() && self.idle_until(end) {
                self.lazy = false;
                return;
            }
            self.in_order(&scratch.keys, base, end, net, wires);
        }
        self.drain(end, wires);
        self.lazy = false;
    }

    /// Is it worth trying? Not where frames take turns, and for a while not where it has just failed.
    #[inline(always)]
    fn may_store_unranked(&mut self) -> bool {
        let waits = self.ranked_for > 0;
        self.ranked_for -= u8::from(waits);
        !waits && !self.in_turn
    }

    /// Stores the data of a window input by input instead of in order of time, each frame in its place within its queue, and
    /// says how many frames. If the occupancies stay below all thresholds with all of them, no order could have had a
    /// consequence. If they do not, or there is something else than data: none, and all is as it was.
    #[inline(always)]
    fn store_unranked(
        &mut self,
        base: u64,
        end: u64,
        ahead: bool,
        net: &Net,
        wires: &mut Wires,
    ) -> Option<usize> {
        self.may_be_ahead = ahead;
        let mut stored = 0;
        let mine = wires.inboxes.get_mut(self.inbox as usize..)?.get_mut(..self.linked)?;
        for (input, inbox) in mine.iter_mut().enumerate() {
            let mut places = inbox.ring.places().iter();
            let Some(mut entry) = places.next().filter(|e| e.ready < end) else { continue };
            let mut taken = 0;
            loop {
                let f = &entry.frame;
                let calm = f.kind == Kind::Data && {
                    let out = usize::from(net.pick(self.index, f.dst, f.flow, f.seq, &mut self.turn));
                    self.store_calmly(out, input, entry)
                };
                if !calm {
                    inbox.ring.skip_many(taken);
                    self.unstore(base, wires);
                    return None;
                }
                taken += 1;
                match places.next() {
                    Some(next) if next.ready < end => entry = next,
                    _ => break,
                }
            }
            inbox.ring.skip_many(taken);
            stored += taken;
        }
        self.penalty /= 2;
        Some(stored as usize)
    }

    /// Puts the frames that arrived since `base` back on their wires.
    #[cold]
    #[inline(never)]
    fn unstore(&mut self, base: u64, wires: &mut Wires) {
        self.may_be_ahead = false;
        self.ran_out.clear();
        for (p, port) in self.ports.iter_mut().enumerate().take(self.linked) {
            port.last = 0;
            while let Some(e) = port.data.pop_back_since(base) {
                port.queued -= u64::from(e.frame.len);
                port.countdown += i64::from(e.frame.len);
                self.mmu.unstore_calmly(p, usize::from(e.frame.input), e.frame.len);
                if let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize + usize::from(e.frame.input)) {
                    inbox.put(e.ready, &e.frame);
                }
            }
        }
        self.ranked_for = self.penalty;
        self.penalty = (self.penalty * 2 + 1).min(31);
    }

    /// Data in order of time, and rare events between, as long as no port is critical; says how many frames.
    fn take_ranked(&mut self, keys: &[i32], base: u64, end: u64, net: &Net, wires: &mut Wires) -> usize {
        let bits = self.bits;
        // The key from which on a rare event may come first.
        let limit =
            |rare: u64| if rare < end { (rare.saturating_sub(base) << bits) as i32 } else { i32::MAX };
        let mask = (1 << bits) - 1;
        let mut until = limit(self.rare);
        for (done, &k) in keys.iter().enumerate() {
            let (input, ready) = ((k & mask) as usize, base + (k >> bits) as u64);
            if k >= until {
                while self.rare <= ready
                    && let rare = self.next_rare_key()
                    && rare < (ready, order::DATA, input as u32)
                {
                    self.execute(rare, net, wires);
                    if !self.critical.is_empty() {
                        return done;
                    }
                }
                until = limit(self.rare);
            }
            if !self.take_calmly(input, net, wires) {
                self.take(ready, input, net, wires);
                if !self.critical.is_empty() {
                    return done + 1;
                }
                until = limit(self.rare);
            }
        }
        keys.len()
    }

    /// Arrivals and rare events in order of time, critical ports in step with them.
    fn in_order(&mut self, keys: &[u64], base: u64, end: u64, net: &Net, wires: &mut Wires) {
        let mut i = 0;
        loop {
            let arrival = keys.get(i).copied();
            let rare = if self.rare < end { self.next_rare_key() } else { NO_EVENT };
            let event =
                arrival.map_or(NO_EVENT, |k| (base + (k >> 20), (k >> 16) as u8 & 0xF, (k & 0xFFFF) as u32));
            let first = event.min(rare);
            if first.0 >= end {
                break;
            }
            // Before time zero nothing has ended and nothing has begun.
            let last = if first.1 < order::END { first.0.checked_sub(1) } else { Some(first.0) };
            if let Some(last) = last
                && !self.critical.is_empty()
            {
                self.settle(last, first.0, wires);
            }
            match arrival {
                Some(k) if first == event => {
                    i += 1;
                    let input = (k & 0xFFFF) as usize;
                    let data = (k >> 16) as u8 & 0xF == order::DATA;
                    if !(data && self.take_calmly(input, net, wires)) {
                        self.take(first.0, input, net, wires);
                    }
                }
                _ => self.execute(first, net, wires),
            }
        }
        if !self.critical.is_empty() {
            self.settle(end - 1, end, wires);
        }
    }

    /// Takes a data frame off its wire and stores it where nothing depends on the moment; false if it must be looked at.
    #[inline(always)]
    fn take_calmly(&mut self, input: usize, net: &Net, wires: &mut Wires) -> bool {
        let Some(inbox) = wires.inboxes.get_mut(self.inbox as usize + input) else { return false };
        let Some(entry) = inbox.ring.places().first() else { return false };
        let f = &entry.frame;
        if f.kind != Kind::Data {
            return false;
        }
        let out = usize::from(net.pick(self.index, f.dst, f.flow, f.seq, &mut self.turn));
        if !self.store_calmly(out, input, entry) {
            self.chosen = Some(out as u16);
            return false;
        }
        inbox.ring.skip();
        true
    }

    /// Takes an arrival off its wire, with all that follows from it.
    #[inline(never)]
    fn take(&mut self, ready: u64, input: usize, net: &Net, wires: &mut Wires) {
        self.now = ready;
        let chosen = self.chosen.take();
        let Some(entry) = wires.pop(self.inbox + input as u32) else { return };
        match chosen {
            Some(out) => {
                let frame = Frame { input: input as u16, ..entry.frame };
                self.data(usize::from(out), frame, net, wires);
            }
            None => self.arrive(entry, input, net, wires),
        }
    }

    fn idle_until(&self, end: u64) -> bool {
        self.rare >= end && self.mmu.pool == 0 && self.ends.iter().all(|&e| e >= end)
    }

    /// Ports whose departures may matter elsewhere.
    pub(crate) fn find_critical(&mut self) {
        self.critical.clear();
        if !self.mmu.unsettled() {
            return;
        }
        for p in 0..self.linked {
            if self.mmu.is_critical(p) {
                self.critical.push(p as u16);
            }
        }
    }

    /// Brings the critical ports up to date together, in order of time: ends at or before `last`, starts before `before`.
    /// A start comes after all ends of its moment.
    fn settle(&mut self, last: u64, before: u64, wires: &mut Wires) {
        if let [only] = self.critical[..] {
            let only = usize::from(only);
            while self.critical == [only as u16] {
                if self.ends[only] == NEVER {
                    self.begin(only, before);
                }
                if self.ends[only] > last {
                    return;
                }
                self.complete(only, wires);
            }
        }
        while !self.critical.is_empty() {
            let (mut end, mut start) = ((NEVER, 0), (NEVER, 0));
            for i in 0..self.critical.len() {
                let p = usize::from(self.critical[i]);
                if self.ends[p] == NEVER {
                    start = start.min((self.ports[p].start_time().0, p));
                } else {
                    end = end.min((self.ends[p], p));
                }
            }
            if start.0 < end.0 && start.0 < before {
                self.begin(start.1, before);
            } else if end.0 <= last {
                self.complete(end.1, wires);
            } else {
                return;
            }
        }
    }

    /// Ends the ports' window. Where only data waits and nothing stops it, what has left by `end` is sent on, and a
    /// transmission in progress is left to be found again: its start follows from the head's time and the last end.
    #[inline(always)]
    fn drain(&mut self, end: u64, wires: &mut Wires) {
        self.exact.clear();
        let linked = self.ports.get_mut(..self.linked).unwrap_or_default();
        for (p, port) in linked.iter_mut().enumerate() {
            if port.special || port.queued > port.mark_from {
                self.exact.push(p as u16);
                continue;
            }
            let row = self.mmu.row(p);
            while let Some(&Entry { ready, ref frame }) = port.data.places().first() {
                let done = ready.max(port.free) + port.service.time(frame.len);
                if done >= end {
                    break;
                }
                if frame.kind != Kind::Data || !self.mmu.free_calmly(row, usize::from(frame.input), frame.len)
                {
                    self.exact.push(p as u16);
                    break;
                }
                let len = u64::from(frame.len);
                wires.push_frame(port.peer, done + port.delay, frame);
                port.data.skip();
                port.queued -= len;
                port.left += len;
                port.sent += 1;
                port.free = done;
            }
        }
        for i in 0..self.exact.len() {
            self.drain_exactly(usize::from(self.exact[i]), end, wires);
        }
    }

    #[inline(never)]
    fn drain_exactly(&mut self, p: usize, end: u64, wires: &mut Wires) {
        self.advance(p, end - 1, end, wires);
        if self.ends[p] == NEVER {
            return;
        }
        let port = &mut self.ports[p];
        // What stands on its wire already is never found again.
        if port.launched {
            return;
        }
        port.settle_special(false);
        // A transmission that began as its queue alone says need not be kept.
        if !port.special
            && let Some(head) = port.data.front()
            && head.frame.kind == Kind::Data
            && self.ends[p] == head.ready.max(port.free) + port.service.time(head.frame.len)
        {
            self.ends[p] = NEVER;
            port.sending = None;
        } else {
            port.special = true;
        }
    }

    /// Replays a port's transmitter: ends at or before `last`, starts before `before`.
    #[inline(never)]
    pub(crate) fn advance(&mut self, p: usize, last: u64, before: u64, wires: &mut Wires) {
        let port = &mut self.ports[p];
        if port.special || port.queued > port.mark_from {
            return self.advance_special(p, last, before, wires);
        }
        // Only data waits here, nothing stops it, and no transmission in progress is noted.
        let row = self.mmu.row(p);
        let mut end;
        loop {
            let Some(&Entry { ready, ref frame }) = port.data.front() else {
                end = NEVER;
                break;
            };
            let start = ready.max(port.free);
            if start >= before {
                end = NEVER;
                break;
            }
            end = start + port.service.time(frame.len);
            if end > last {
                break;
            }
            if frame.kind != Kind::Data || !self.mmu.free_calmly(row, usize::from(frame.input), frame.len) {
                self.ends[p] = end;
                port.sending = Some(frame.kind);
                port.special = true;
                return self.advance_special(p, last, before, wires);
            }
            let len = u64::from(frame.len);
            wires.push_frame(port.peer, end + port.delay, frame);
            port.data.skip();
            port.queued -= len;
            port.left += len;
            port.sent += 1;
            port.free = end;
        }
        if end != NEVER {
            self.ends[p] = end;
            port.special = true;
            port.sending = port.data.front().map(|e| e.frame.kind);
        }
    }

    /// The same for a port that has more to consider than data.
    fn advance_special(&mut self, p: usize, last: u64, before: u64, wires: &mut Wires) {
        loop {
            if self.ends[p] == NEVER {
                self.begin(p, before);
            }
            if self.ends[p] > last {
                break;
            }
            self.complete(p, wires);
        }
        self.ports[p].settle_special(self.ends[p] != NEVER);
    }

    /// If the transmitter is idle, starts what could have started first, if that was before `before`.
    #[inline]
    fn begin(&mut self, p: usize, before: u64) {
        let port = &mut self.ports[p];
        let (start, kind) = port.start_time();
        if start >= before {
            return;
        }
        let Some(link) = &port.link else { return };
        let (tx, head) = match kind {
            Kind::Xoff | Kind::Xon => (link.tx, port.pause_out.front_mut()),
            Kind::Control => (link.tx, port.control.front_mut()),
            Kind::Data | Kind::InBand => (port.service, port.data.front_mut()),
        };
        let Some(head) = head else { return };
        if let Some(stamp) = port.stamp
            && head.frame.kind == Kind::Data
            && let Tag::RateDiscovery(rate) = head.frame.tag()
        {
            head.frame.set_tag(Tag::RateDiscovery(rate.min(stamp)));
        }
        port.sending = Some(head.frame.kind);
        port.special = true;
        self.ends[p] = start + tx.time(head.frame.len);
    }

    /// The transmission in progress ends, at its own time.
    #[inline]
    fn complete(&mut self, p: usize, wires: &mut Wires) {
        let now = std::mem::replace(&mut self.now, self.ends[p]);
        self.end(p, wires);
        self.now = now;
    }
}

impl Port {
    /// When the idle transmitter starts next, as things stand, and what: PAUSE before control before data.
    #[inline]
    fn start_time(&self) -> (u64, Kind) {
        let data = match self.data.front() {
            Some(e) if self.paused_since == NEVER && !self.service.stopped() => e.ready,
            _ => NEVER,
        };
        if self.control.is_empty() && self.pause_out.is_empty() {
            return (data.max(self.free), Kind::Data);
        }
        let pause = self.pause_out.front().map_or(NEVER, |e| e.ready);
        let control = self.control.front().map_or(NEVER, |e| e.ready);
        let start = data.min(control).min(pause).max(self.free);
        let kind = if pause <= start {
            Kind::Xoff
        } else if control <= start {
            Kind::Control
        } else {
            Kind::Data
        };
        (start, kind)
    }
}

impl Scratch {
    /// Finds the data that arrives before `end`, in order of (time, port), and says how many frames; none if there is
    /// something else among it.
    #[inline]
    fn gather_data(&mut self, s: &Switch, base: u64, end: u64, wires: &Wires) -> Option<usize> {
        if s.bits == 0 {
            return None;
        }
        self.short_found.clear();
        let mut kinds = 0;
        for (p, inbox) in wires.inboxes.get(s.inbox as usize..)?.iter().take(s.linked).enumerate() {
            for e in inbox.ring.places() {
                if e.ready >= end {
                    break;
                }
                kinds |= e.frame.kind as u8;
                self.short_found.push((((e.ready - base) as i32) << s.bits) | p as i32);
            }
        }
        if kinds != Kind::Data as u8 {
            return None;
        }
        let n = self.short_found.len();
        self.rank(n);
        Some(n)
    }

    /// A window holds a handful, in disorder between ports: ranking them takes no branch that could be mispredicted. No two
    /// data frames have the same key, as each takes time on its link.
    #[inline]
    fn rank(&mut self, n: usize) {
        if self.short.len() < n {
            self.short.resize(n, 0);
        }
        if n > 40 {
            self.short[..n].copy_from_slice(&self.short_found);
            self.short[..n].sort_unstable();
            return;
        }
        self.short_found.extend_from_slice(&[i32::MAX; 8]);
        if n <= 8 {
            if let Some(all) = self.short_found.first_chunk::<8>() {
                for &key in &all[..n] {
                    place(&mut self.short, key, below(key, all).iter().sum());
                }
            }
            return;
        }
        let (eights, _) = self.short_found.as_chunks::<8>();
        for &key in &self.short_found[..n] {
            let mut sum = [0i32; 8];
            for eight in eights {
                for (b, one) in sum.iter_mut().zip(below(key, eight)) {
                    *b += one;
                }
            }
            place(&mut self.short, key, sum.iter().sum());
        }
    }

    /// The keys from `done` on in the general form.
    fn widen(&mut self, bits: u32, done: usize, n: usize) {
        self.keys.clear();
        let port = (1 << bits) - 1;
        self.keys.extend(
            self.short[done..n].iter().map(|&k| key((k >> bits) as u64, order::DATA, (k & port) as u64)),
        );
    }

    /// Finds what arrives before `end`, in order of (time, kind, port).
    fn gather(&mut self, s: &Switch, base: u64, end: u64, wires: &Wires) {
        self.keys.clear();
        for (p, inbox) in wires.inboxes[s.inbox as usize..][..s.linked].iter().enumerate() {
            for e in inbox.ring.entries() {
                if e.ready >= end {
                    break;
                }
                self.keys.push(key(e.ready - base, arrival_kind(e.frame.kind), p as u64));
            }
        }
        self.keys.sort_unstable();
    }
}

/// Which of eight keys are below this one.
#[inline(always)]
fn below(key: i32, eight: &[i32; 8]) -> [i32; 8] {
    eight.map(|other| i32::from(other < key))
}

#[inline(always)]
fn place(sorted: &mut [i32], key: i32, rank: i32) {
    if let Some(place) = sorted.get_mut(rank as usize) {
        *place = key;
    }
}

/// Cells of which organisations are emptied by one output port only.
pub(crate) fn private_cells(organisation: Organisation, pool: bool) -> bool {
    match organisation {
        Organisation::Crosspoint => true,
        Organisation::SharedOutput => !pool,
        Organisation::Input => false,
    }
}
