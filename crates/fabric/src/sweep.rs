//! A switch's window in one sweep: the fast engine's way to run [`Switch`].
//!
//! Advice to those who change it. Events at a switch are coupled through an output port (its queue, its transmitter) or
//! through memory (PAUSE, refusals). The sweep takes what arrives in the window in time order, and *brings a port up to
//! date only when something touches it*: `advance` replays the transmitter from the frames' ready times. That is exact
//! as long as no port's departure can influence another port: departures matter elsewhere only where they may end an
//! XOFF, or where outputs share a memory cell that is nearly full. Ports of which that is true are *critical*: before
//! every event they are brought up to date together, in time order. All else stays lazy. The event-list engine knows
//! nothing of this, and must agree bit for bit.

use crate::frame::{Body, Entry, Kind, NEVER, Wires, arrival_kind, order};
use crate::net::Net;
use crate::spec::Organisation;
use crate::switch::{Port, Switch};
use cnsim_scheme_api::Tag;

/// Arrivals of a window, kept between windows for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// (offset in the window, kind and port, place in `entries`).
    keys: Vec<(u64, u32, u32)>,
    entries: Vec<Entry>,
    bodies: Vec<Option<Body>>,
}

impl Switch {
    /// Runs the switch up to `end` (exclusive).
    pub(crate) fn sweep(&mut self, end: u64, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        scratch.gather(self, end, wires);
        if scratch.keys.is_empty() && self.idle_until(end) {
            return;
        }
        self.lazy = true;
        if self.mmu.unsettled() {
            self.find_critical();
        }
        let mut i = 0;
        loop {
            let arrival = scratch
                .keys
                .get(i)
                .map_or((NEVER, u8::MAX, u32::MAX), |k| (k.0, (k.1 >> 16) as u8, k.1 & 0xFFFF));
            let rare = if self.rare < end { self.next_rare_key() } else { (NEVER, u8::MAX, u32::MAX) };
            let key = arrival.min(rare);
            if key.0 >= end {
                break;
            }
            if !self.critical.is_empty() {
                let last = if key.1 < order::END { key.0 - 1 } else { key.0 };
                self.settle(last, key.0, wires);
            }
            self.now = key.0;
            if key == arrival {
                let at = scratch.keys[i].2 as usize;
                let body = scratch.bodies.get_mut(at).and_then(Option::take);
                let entry = scratch.entries[at];
                self.arrive(entry, body, key.2 as usize, net, wires);
                i += 1;
            } else {
                self.execute(key, net, wires);
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
        loop {
            if self.ends[p] == NEVER {
                self.begin(p, before);
            }
            if self.ends[p] > last {
                return;
            }
            self.complete(p, wires);
        }
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
        let (tx, queue) = match kind {
            Kind::Xoff | Kind::Xon => (link.tx, &mut port.pause_out),
            Kind::Control => (link.tx, &mut port.control),
            Kind::Data | Kind::InBand => (port.service, &mut port.data),
        };
        let Some(head) = queue.front_mut() else { return };
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
    /// Takes what arrives before `end` off the wires, in order of (time, kind, port).
    #[inline]
    fn gather(&mut self, s: &Switch, end: u64, wires: &mut Wires) {
        self.keys.clear();
        self.entries.clear();
        self.bodies.clear();
        for p in 0..s.linked as u32 {
            let inbox = &mut wires.inboxes[(s.inbox + p) as usize];
            while let Some(e) = inbox.ring.front() {
                if e.ready >= end {
                    break;
                }
                let at = self.entries.len();
                let kind = e.frame.kind;
                self.keys.push((e.ready, u32::from(arrival_kind(kind)) << 16 | p, at as u32));
                self.entries.push(*e);
                inbox.ring.pop_front();
                if matches!(kind, Kind::Control | Kind::InBand) {
                    self.bodies.resize(at, None);
                    self.bodies.push(inbox.bodies.pop_front());
                }
            }
        }
        // Insertion sort: a window holds a handful, mostly in disorder between ports only.
        let keys = &mut self.keys;
        if keys.len() > 40 {
            keys.sort_unstable();
            return;
        }
        for i in 1..keys.len() {
            let key = keys[i];
            let mut j = i;
            while j > 0 && keys[j - 1] > key {
                keys[j] = keys[j - 1];
                j -= 1;
            }
            keys[j] = key;
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
