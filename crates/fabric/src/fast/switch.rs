//! A store-and-forward switch: output queues over a partitioned memory, PAUSE, congestion points.
//!
//! Handlers of single events, in the order of [`crate::fast::frame::order`]: `next_rare` names the earliest of the rare ones,
//! `execute` carries it out. [`crate::fast::sweep`] brings ports up to date only when they are touched. Ports are
//! in `port`, what storing a frame does in `storing`, congestion points and messages in `points`.

mod early;
mod points;
mod port;
mod storing;

use early::Due;

pub(crate) use port::{Port, ToCome, leaves_marked};

use crate::check::{Books, Ledger, broken};
use crate::fast::frame::{Entry, Frame, Key, Kind, NEVER, NO_EVENT, Ring, Step, order};
use crate::fast::mmu::{Change, Mmu};
use crate::fast::wires::Wires;
use crate::model::{
    Management, Memory, Moment, Packet, Pause, Point, PortFaults, Storing, Telling, Verb, Watchdogs,
};
use crate::net::Net;
use crate::outcome::SwitchOutcome;
use crate::spec::{PauseFrames, RunSpec, SwitchSpec, Ties};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::Slot;
use prefetch_index::prefetch_index;
use std::slice::{from_mut, from_ref};

#[derive(Debug, Default)]
pub(crate) struct Switch {
    pub(crate) index: usize,
    /// Number of its first receiving port at the worker.
    pub(crate) inbox: u32,
    pub(crate) now: u64,
    pub(crate) ports: Vec<Port>,
    pub(crate) mmu: Mmu,
    /// Ports up to the last one with a link.
    pub(crate) linked: usize,
    /// Ports (modulo 64) that need a visit even if nothing arrives; kept where windows hold few frames.
    pub(crate) waiting: u64,
    /// Rate of its fastest link.
    fastest: TxRate,
    /// Most bytes that its links carry to it in a ps.
    pub(crate) intake: f64,
    /// Of its windows, a piece is at least that long, ps.
    pub(crate) piece: u64,
    /// Frames are taken in their order always: those to a destination take turns between ports, or draws decide which of one moment
    /// goes first.
    pub(crate) ordered: bool,
    /// Frames may be stored before what precedes them in time has been done ([`early`]).
    pub(crate) may_be_ahead: bool,
    /// Its ports have faults or watchdogs.
    pub(crate) guarded: bool,
    /// Ports (modulo 64) whose countdown ran out among these.
    pub(crate) ran_out: u64,
    due_looks: Vec<Due>,
    /// Memory is free as a transmission starts, not at its end.
    pub(crate) at_start: bool,
    /// A shared buffer was quiet. So frames whose transmission has begun may still be counted as stored.
    pub(crate) was_quiet: bool,
    /// Ports (modulo 64) whose departures may matter elsewhere, of these the ones where data waits, and those for which something has
    /// happened since their `steps` were noted; and the first of all.
    pub(crate) in_step: u64,
    pub(crate) stepping: u64,
    pub(crate) stale: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) soonest: (Step, usize),
    /// Earliest of changes, own messages, timers, ticks.
    pub(crate) rare: Key,
    pub(crate) next_path: Vec<u8>,
    pause_frames: PauseFrames,
    faults: PortFaults,
    pub(crate) watchdogs: Box<Watchdogs>,
    pub(crate) management: Management,
}

impl Switch {
    pub(crate) fn new(net: &Net, spec: &RunSpec, index: usize, s: &SwitchSpec) -> Self {
        let id = net.hosts + index as u32;
        let base = net.ports[id as usize];
        let ports = usize::from(s.ports);
        let mut sw = Self {
            index,
            inbox: base,
            ports: Vec::with_capacity(ports),
            mmu: Mmu::new(Memory::new(s, &net.classes[0]), net.margin(base, ports)),
            linked: (0..ports).rev().find(|&p| net.links[base as usize + p].is_some()).map_or(0, |p| p + 1),
            ordered: net.in_turn(index) || net.ties != Ties::ByPort,
            next_path: net.next_path(),
            pause_frames: net.pause_frames,
            faults: PortFaults::new(net, id),
            watchdogs: Box::new(Watchdogs::new(net.watchdog, ports, 1)),
            management: Management::new(net, id, s, &spec.changes),
            at_start: s.shared.as_ref().is_some_and(|shared| shared.at_start),
            ..Self::default()
        };
        sw.guarded = sw.faults.next() < NEVER || sw.watchdogs.exist();
        let rates = || net.links[base as usize..base as usize + ports].iter().flatten().map(|l| l.tx);
        sw.fastest = rates().min_by(|a, b| a.per_byte().total_cmp(&b.per_byte())).unwrap_or_default();
        sw.piece = Self::piece(sw.fastest, net);
        sw.intake = rates().map(TxRate::most_per_ps).sum();
        for p in 0..ports {
            let link = net.links[base as usize + p];
            let rate = net.rate(base + p as u32);
            sw.ports.push(Port {
                data: if link.is_some() { Ring::with_places(16) } else { Ring::default() },
                countdown: i64::MAX / 2,
                service: net.switch_clock.tx(rate),
                delay: link.map_or(0, |l| l.delay),
                end: NEVER,
                has_cells: sw.mmu.small.is_none(),
                mark_behind: u16::MAX,
                mark_from: NEVER,
                link,
                service_rate: rate,
                point: Point::new(net, s.scheme, base + p as u32).map(Box::new),
                ..Port::default()
            });
        }
        for p in 0..ports {
            sw.wake(p, Verb::Start, ToCome::default(), net);
            if let Some(point) = &mut sw.ports[p].point {
                point.state.run();
            }
            sw.ports[p].note_needs();
            sw.note_calm(p);
        }
        sw.note_rare();
        sw.find_critical();
        sw
    }

    /// Fetches beforehand what its window will touch, as it is next: a port, its queue, the far end's receiving port. Where the
    /// nodes do not fit a core's own cache, this is known too late, and most of a window's time would be spent waiting (`t4096`).
    #[inline]
    pub(crate) fn expect(&self, net: &Net, wires: &Wires) {
        net.expect(self.index);
        let ports = self.ports.get(..self.linked).unwrap_or_default();
        for port in ports {
            prefetch_index(from_ref(port), 0);
            prefetch_index(from_ref(&port.departed), 0);
        }
        let first = self.inbox as usize;
        for inbox in wires.inboxes.get(first..first + self.linked).unwrap_or_default() {
            inbox.expect();
        }
        for port in ports {
            port.data.expect();
            if let Some(inbox) = wires.inboxes.get(port.peer as usize) {
                inbox.expect();
            }
        }
    }

    /// Will it send nothing but data within a time from where it stands, and its ports go on alone, whatever data arrives?
    pub(crate) fn stays_quiet(&self, within: u64, net: &Net) -> bool {
        let bytes = self.fastest.bytes(within) * net.slack + u64::from(net.mtu);
        self.mmu.memory.stays_quiet(bytes, bytes * self.linked as u64)
            && self.ports.iter().take(self.linked).all(|p| p.point.is_none() && p.pause_out.is_empty())
    }

    /// Notes the next of its own events.
    pub(crate) fn note_rare(&mut self) {
        let (time, kind, port) = self.management.next_event(self.ports.len());
        self.rare = (time, kind as u8, port);
        if self.guarded {
            let guards = self.faults.next().min(self.watchdogs.next());
            self.rare = self.rare.min((guards, order::CHANGE, 0));
        }
    }

    /// That event, if it comes before `end`.
    #[inline]
    pub(crate) fn rare_before(&self, end: u64) -> Key {
        if self.rare.0 < end { self.rare } else { NO_EVENT }
    }

    /// Carries out one of the rare events.
    pub(crate) fn execute(&mut self, (time, kind, port): Key, net: &Net, wires: &mut Wires) {
        self.now = time;
        match kind {
            order::CHANGE => {
                if let Some((port, service)) = self.management.change(Moment { now: self.now, net }) {
                    if let Some(before) = time.checked_sub(1) {
                        self.touch(port, before, wires);
                    }
                    let p = &mut self.ports[port];
                    (p.service_rate, p.service) = service;
                    p.plan_start(time);
                    self.outdate(port);
                }
                self.fail(wires);
                Storing::watch(self, &mut (net, &mut *wires));
            }
            order::TIMER => {
                if let Some((port, slot)) = self.management.timers.pop() {
                    let port = port as usize;
                    self.touch(port, time, wires);
                    let to_come = self.ports[port].later(time + 1);
                    self.wake(port, Verb::Timer(Slot(slot)), to_come, net);
                }
            }
            order::TICK => self.tick(net, wires),
            order::CONTROL if port as usize == self.ports.len() => self.send_own(net, wires),
            _ => broken("transmissions and arrivals are the sweep's"),
        }
        self.note_rare();
    }

    /// A PAUSE or a control frame arrived at input `input`.
    pub(crate) fn arrive(&mut self, frame: Frame, input: usize, net: &Net, wires: &mut Wires) {
        match frame.as_pause() {
            Some(pause) => self.pause(input, pause, net, wires),
            None => self.message(frame, net, wires),
        }
    }

    /// Brings a port up to date before something happens to it now.
    #[inline]
    fn touch(&mut self, port: usize, last: u64, wires: &mut Wires) {
        self.advance(port, last, self.now, wires);
    }

    fn pause(&mut self, port: usize, pause: Pause, net: &Net, wires: &mut Wires) {
        self.touch(port, self.now - 1, wires);
        self.outdate(port);
        self.management.events.add(self.now, pause.code() | port as u64);
        let (p, at) = (&mut self.ports[port], Moment { now: self.now, net });
        p.needs_exact = true;
        let ended = pause.reach(from_mut(&mut p.paused), at);
        if ended {
            p.plan_start(self.now);
        }
        if self.guarded {
            self.watchdogs.hear((port, 0), &p.paused, ended, self.now);
            self.note_calm(port);
            self.note_rare();
        }
    }

    /// A frame for the data of output `out`.
    pub(crate) fn data(&mut self, out: usize, frame: Frame, net: &Net, wires: &mut Wires) {
        let port = &self.ports[out];
        let data_alone = port.control.is_empty() && port.pause_out.is_empty();
        if self.keeps_step(out) && data_alone {
            // Kept in step, all that has ended by now has left.
            self.begin(out, self.now, wires);
        } else {
            self.touch(out, self.now, wires);
        }
        if self.guarded {
            self.watch_one((out, 0), (true, false), &mut (net, &mut *wires));
        }
        self.count_cells(out, frame.len);
        self.store(out, frame, &mut (net, wires));
    }

    /// The transmission in progress ends, at its own time.
    #[inline]
    pub(crate) fn complete(&mut self, p: usize, wires: &mut Wires) {
        let port = &mut self.ports[p];
        let now = std::mem::replace(&mut self.now, port.end);
        (port.end, port.idle_from) = (NEVER, self.now);
        let (Some(kind), Some(link)) = (port.sending.take(), port.link) else {
            broken("nothing ends at this port")
        };
        let entry = match kind {
            Kind::Xoff | Kind::Xon => port.pause_out.pop_front(),
            Kind::Control => port.control.pop_front(),
            Kind::Data | Kind::InBand => port.data.pop_front(),
        };
        let Some(Entry { mut frame, .. }) = entry else { broken("what was sent is gone") };
        let ready = self.now + link.delay;
        let port = &mut self.ports[p];
        match kind {
            Kind::Xoff | Kind::Xon => match self.pause_frames.obeyed(ready) {
                obeyed if obeyed > ready => wires.push(link.peer, Entry { ready: obeyed, frame }, None),
                _ => wires.push_frame(link.peer, ready, &frame),
            },
            Kind::Control => {
                port.departed += u64::from(frame.len);
                port.control_queued -= u64::from(frame.len);
                port.control_departed += u64::from(frame.len);
                port.out.control_sent += 1;
                wires.push_frame(link.peer, ready, &frame);
            }
            Kind::Data | Kind::InBand => {
                port.note_peak(self.now);
                if kind == Kind::Data {
                    let queue = (port.queued, frame.len);
                    let may = port.queued > port.mark_from;
                    if may && leaves_marked(&mut port.point, &port.data, queue, port.began) {
                        frame.set_marked(true);
                    }
                    port.record(&mut frame, port.began, &mut wires.records);
                }
                port.queued -= u64::from(frame.len);
                port.departed += u64::from(frame.len);
                port.frames_departed += 1;
                let launched = std::mem::take(&mut port.launched);
                let change = if port.freed {
                    port.freed = false;
                    Change::None
                } else {
                    self.mmu.change(port.has_cells, p, usize::from(frame.input), -i32::from(frame.len))
                };
                if !launched {
                    wires.push_frame(link.peer, ready, &frame);
                }
                self.signal(change, (p, frame.input), wires);
            }
        }
        self.now = now;
    }

    fn tick(&mut self, net: &Net, wires: &mut Wires) {
        for i in 0..self.management.recorded.len() {
            let p = usize::from(self.management.recorded[i].port);
            // Starts at this very moment do not change a queue's length, so advancing up to them is enough.
            self.touch(p, self.now, wires);
        }
        let after = self.now + 1;
        self.management.tick(net, &mut self.ports, |port| {
            port.note_peak(after);
            let sent_bits = port.sent_bits();
            (port.queued - port.later(after).bytes_to_come, &mut port.queue_max, sent_bits)
        });
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.frames_departed + p.out.control_sent).sum()
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> Books {
        let waiting = self.ports.iter().map(|p| p.queued - p.freed_bytes()).sum();
        let (mut inside, mut stopped) = (Ledger::default(), Vec::new());
        for (i, p) in self.ports.iter_mut().enumerate() {
            stopped.push(p.stopped(i));
            p.note_peak(net.duration);
            let (in_band, _) = p.sent_in_band();
            (p.out.sent, p.out.sent_bits, p.out.queue_max) =
                (p.frames_departed - in_band, p.sent_bits(), p.queue_max);
            p.out.control_sent += in_band;
            p.data.entries().iter().for_each(|e| e.frame.enter(&mut inside));
            // All has been counted: its memory serves for the results.
            p.data = Ring::default();
        }
        let shared = self.management.shared_use(self.mmu.memory.shared_use(waiting), net);
        let begun = SwitchOutcome { shared, storms: self.watchdogs.close(), ..SwitchOutcome::default() };
        let ports = self.ports.iter().zip(stopped);
        let ports = ports.map(|(p, stopped)| (&p.out, from_ref(&p.paused), p.queued, stopped));
        self.management.close(ports, begun, inside, net)
    }
}
