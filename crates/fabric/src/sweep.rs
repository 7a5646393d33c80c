//! A switch's window in one sweep: the fast engine's way to run [`Switch`].
//!
//! Advice to those who change it. Events at a switch are coupled through an output port (its queue, its transmitter) or
//! through memory (PAUSE, refusals). The sweep takes what arrives in the window in time order, and *brings a port up to
//! date only when something touches it*: `advance` replays the transmitter from the frames' ready times. That is exact
//! as long as no port's departure can influence another port: departures matter elsewhere only where they may end an
//! XOFF, or where outputs share a memory cell that is nearly full. Ports of which that is true are *critical*: before
//! every event they are brought up to date together, in time order. All else stays lazy. The event-list engine knows
//! nothing of this, and must agree bit for bit.

use crate::frame::{Entry, Frame, Kind, NEVER, NO_EVENT, Wires, arrival_kind, order};
use crate::net::Net;
use crate::spec::Organisation;
use crate::switch::{Port, Switch};
use cnsim_scheme_api::Tag;

/// Arrivals of a window, kept between windows for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// In the order found, and sorted: time in the window, kind, port (see [`key`]).
    found: Vec<u64>,
    keys: Vec<u64>,
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
        let plain = scratch.gather(self, base, end, wires);
        if scratch.keys.is_empty() && self.idle_until(end) {
            return;
        }
        self.lazy = true;
        if self.mmu.unsettled() || !self.critical.is_empty() {
            self.find_critical();
        }
        let mut i = 0;
        while plain && i < scratch.keys.len() && self.rare >= end && self.critical.is_empty() {
            i += 1;
            self.take(scratch.keys[i - 1], base, net, wires);
        }
        loop {
            let arrival = scratch.keys.get(i).copied();
            let rare = if self.rare < end { self.next_rare_key() } else { NO_EVENT };
            let event =
                arrival.map_or(NO_EVENT, |k| (base + (k >> 20), (k >> 16) as u8 & 0xF, (k & 0xFFFF) as u32));
            let first = event.min(rare);
            if first.0 >= end {
                break;
            }
            if !self.critical.is_empty() {
                let last = if first.1 < order::END { first.0 - 1 } else { first.0 };
                self.settle(last, first.0, wires);
            }
            match arrival {
                Some(k) if first == event => {
                    i += 1;
                    self.take(k, base, net, wires);
                }
                _ => self.execute(first, net, wires),
            }
        }
        if !self.critical.is_empty() {
            self.settle(end - 1, end, wires);
        }
        for p in 0..self.linked {
            self.advance(p, end - 1, end, wires);
        }
        self.lazy = false;
    }

    /// Takes the arrival with this key off its wire.
    #[inline]
    fn take(&mut self, key: u64, base: u64, net: &Net, wires: &mut Wires) {
        let input = (key & 0xFFFF) as usize;
        let ring = &mut wires.inboxes[self.inbox as usize + input].ring;
        if let Some(entry) = ring.front()
            && entry.frame.kind == Kind::Data
        {
            let f = &entry.frame;
            let out = usize::from(net.pick(self.index, f.dst, f.flow, f.seq, &mut self.turn));
            if self.store_calmly(out, input, entry) {
                ring.skip();
                return;
            }
            let frame = Frame { input: input as u16, ..*f };
            ring.skip();
            self.now = base + (key >> 20);
            return self.data(out, frame, net, wires);
        }
        self.now = base + (key >> 20);
        if let Some((entry, body)) = wires.pop(self.inbox + input as u32) {
            self.arrive(entry, body, input, net, wires);
        }
    }

    fn idle_until(&self, end: u64) -> bool {
        self.rare >= end && self.ends.iter().all(|&e| e >= end)
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

    /// Replays a port's transmitter: ends at or before `last`, starts before `before`.
    #[inline]
    pub(crate) fn advance(&mut self, p: usize, last: u64, before: u64, wires: &mut Wires) {
        let port = &mut self.ports[p];
        if port.special {
            return self.advance_special(p, last, before, wires);
        }
        // Only data waits here, and nothing stops it.
        let mut end = self.ends[p];
        loop {
            if end == NEVER {
                let start = port.data.ready().max(port.free);
                let Some(head) = port.data.front() else { break };
                if start >= before {
                    break;
                }
                end = start + port.service.time(head.frame.len);
            }
            if end > last {
                break;
            }
            let Some(&Entry { frame, .. }) = port.data.front() else { break };
            if frame.kind != Kind::Data || !self.mmu.free_calmly(p, usize::from(frame.input), frame.len) {
                self.ends[p] = end;
                port.sending = Some(frame.kind);
                return self.advance_special(p, last, before, wires);
            }
            port.data.skip();
            let len = u64::from(frame.len);
            port.queued -= len;
            port.left += len;
            port.sent += 1;
            port.sent_bits += len * 8;
            port.free = end;
            wires.push_frame(port.peer, Entry { ready: end + port.delay, frame });
            end = NEVER;
        }
        self.ends[p] = end;
        port.sending = if end == NEVER { None } else { port.data.front().map(|e| e.frame.kind) };
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
        self.ports[p].settle_special();
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
        self.ends[p] = start + tx.time(head.frame.len);
    }

    /// The transmission in progress ends, at its own time.
    #[inline]
    fn complete(&mut self, p: usize, wires: &mut Wires) {
        let now = std::mem::replace(&mut self.now, self.ends[p]);
        self.end(p, wires);
        self.now = now;
    }

    /// The next of the rare events: changes, own messages, timers, ticks.
    fn next_rare_key(&self) -> (u64, u8, u32) {
        let mut best = (NEVER, u8::MAX, u32::MAX);
        if let Some(&(at, port, _)) = self.changes.front() {
            best = best.min((at, order::CHANGE, u32::from(port)));
        }
        if let Some(&(at, _, _)) = self.own.front() {
            best = best.min((at, order::CONTROL, self.ports.len() as u32));
        }
        best.min((self.timers.next(), order::TIMER, 0)).min((self.next_tick, order::TICK, 0))
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
    /// Finds what arrives before `end`, in order of (time, kind, port). True if all of it is data.
    #[inline]
    fn gather(&mut self, s: &Switch, base: u64, end: u64, wires: &Wires) -> bool {
        self.found.clear();
        let mut kinds = 0;
        for (p, inbox) in wires.inboxes[s.inbox as usize..][..s.linked].iter().enumerate() {
            for e in inbox.ring.entries() {
                if e.ready >= end {
                    break;
                }
                let kind = arrival_kind(e.frame.kind);
                kinds |= kind;
                self.found.push(key(e.ready - base, kind, p as u64));
            }
        }
        let plain = kinds == order::DATA || kinds == 0;
        self.sort(plain);
        plain
    }

    /// A window holds a handful, in disorder between ports: ranking them takes no branch that could be mispredicted. No two
    /// data frames have the same key, as each takes time on its link; two PAUSE messages may.
    #[inline]
    fn sort(&mut self, distinct: bool) {
        let n = self.found.len();
        self.keys.resize(n, 0);
        if n > 20 || !distinct {
            self.keys.copy_from_slice(&self.found);
            self.keys.sort_unstable();
            return;
        }
        for &key in &self.found {
            let rank: usize = self.found.iter().map(|&other| usize::from(other < key)).sum();
            if let Some(place) = self.keys.get_mut(rank) {
                *place = key;
            }
        }
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
