//! A store-and-forward switch: output queues over a partitioned memory, PAUSE, congestion points.
//!
//! Handlers of single events, in the order of [`crate::frame::order`]. `next` names the earliest event, `execute`
//! carries it out; both engines use them. [`crate::quiet`] is the same switch for windows in which nothing rare
//! happens, in one sweep.
//!
//! This file is long because every handler works on the state of one switch, and their order of effects matters.

use crate::frame::{
    BROADCAST, Bodies, Body, Entry, Frame, Hash, Key, Kind, NEVER, NO_EVENT, Ring, TO_POINT, TxRate, Wires,
    arrival_kind, order,
};
use crate::mmu::{Mmu, Refusal, Signal};
use crate::net::{Link, Net};
use crate::outcome::{PortOutcome, Series, SeriesKind, SwitchOutcome};
use crate::spec::{ControlTransport, PauseTransport, RunSpec, SwitchSpec};
use crate::timers::Timers;
use cnsim_scheme_api::{
    Bytes, Class, CongestionPoint, Feedback, FlowId, FrameView, Gate, NodeId, PointAction, PointControl,
    PointId, PointState, Probe, ProbeTarget, Purpose, Queue, QueueKind, QueueSite, Ramp, RampAt, Rate, Slot,
    Stream, Time,
};
use std::collections::VecDeque;

/// A congestion point with its state.
#[derive(Debug)]
pub(crate) struct Point {
    object: Box<dyn CongestionPoint>,
    state: PointState,
}

/// An output port: three queues by priority and a transmitter. What every frame touches stands first, in two lines of
/// the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) data: Ring,
    /// Bytes in `data`.
    pub(crate) queued: u64,
    pub(crate) countdown: i64,
    /// Largest queue for which a frame can be stored without looking closer.
    pub(crate) calm: u64,
    /// The transmitter is free from this time on, when idle (ps).
    pub(crate) free: u64,
    /// Rate at which data is served.
    pub(crate) service: TxRate,
    /// Of the link: delay and receiving port.
    pub(crate) delay: u64,
    pub(crate) peer: u32,
    /// The frame in transmission (the head of its queue).
    pub(crate) sending: Option<Kind>,
    /// The transmitter has more to consider than the next data frame.
    pub(crate) special: bool,
    pub(crate) left: u64,
    /// Data frames and bits sent.
    pub(crate) sent: u64,
    /// Of `left`, what was not data: control, on either way.
    pub(crate) left_control: u64,
    pub(crate) queue_max: u64,
    pub(crate) link: Option<Link>,
    pub(crate) service_rate: Rate,
    pub(crate) pause_out: VecDeque<Entry>,
    pub(crate) control: VecDeque<Entry>,
    /// In XOFF from the far end since.
    pub(crate) paused_since: u64,
    /// Draws of the marking ramp: the port's own, as ports are not replayed in step.
    marks: Stream,
    pub(crate) ramp: Option<Ramp>,
    pub(crate) stamp: Option<Rate>,
    pub(crate) point: Option<Box<Point>>,
    pub(crate) out: PortOutcome,
}

impl Port {
    pub(crate) fn paused(&self) -> bool {
        self.paused_since != NEVER
    }
    pub(crate) fn view(&self) -> Queue {
        Queue {
            len: Bytes::new(self.queued),
            line_rate: self.link.map_or(Rate::ZERO, |l| l.rate),
            service_rate: self.service_rate,
            // All that was stored has left or waits.
            arrived: self.left
                + self.queued
                + self.control.iter().map(|e| u64::from(e.frame.len)).sum::<u64>(),
            sent: self.left,
            dropped: self.out.dropped + self.out.dropped_by_limit,
        }
    }
    /// Notes anew whether the transmitter has more to consider than data; `busy`: a transmission in progress is noted.
    pub(crate) fn settle_special(&mut self, busy: bool) {
        self.special = busy
            || self.paused()
            || self.service.stopped()
            || self.stamp.is_some()
            || self.link.is_none()
            || !self.control.is_empty()
            || !self.pause_out.is_empty()
            || self.ramp.is_some_and(|r| r.at == RampAt::Departure);
    }
}

/// Sums for the conservation law: frames and their identities.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) frames: u64,
    pub(crate) identity: u64,
}

impl Ledger {
    #[inline]
    pub(crate) fn add(&mut self, f: &Frame) {
        self.frames += 1;
        self.identity = self.identity.wrapping_add(f.identity());
    }
    pub(crate) fn merge(&mut self, o: &Ledger) {
        self.frames += o.frames;
        self.identity = self.identity.wrapping_add(o.identity);
    }
}

#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) id: u32,
    pub(crate) index: usize,
    /// Number of its first port in the network; `PointId`s follow it.
    base: u32,
    /// Number of its first receiving port at the worker.
    pub(crate) inbox: u32,
    pub(crate) now: u64,
    pub(crate) ports: Vec<Port>,
    /// End of the transmission in progress, per port.
    pub(crate) ends: Vec<u64>,
    pub(crate) mmu: Mmu,
    pub(crate) pause_transport: PauseTransport,
    processing: u64,
    /// Ports up to the last one with a link.
    pub(crate) linked: usize,
    /// Bits of a port's number; 0 where a window's times and a port do not fit 31 bits.
    pub(crate) bits: u32,
    /// Ports are brought up to date when touched ([`crate::sweep`]), not event by event.
    pub(crate) lazy: bool,
    /// Ports to be brought to the window's end the exact way.
    pub(crate) exact: Vec<u16>,
    /// Output already chosen for the arrival in hand, where the choice cannot be made twice (round robin).
    pub(crate) chosen: Option<u16>,
    /// Ports whose departures may matter elsewhere.
    pub(crate) critical: Vec<u16>,
    /// Earliest of changes, own messages, timers, ticks.
    pub(crate) rare: u64,
    /// Ports whose transmitter must look for work at `now`.
    kicks: u64,
    many_kicks: Vec<u32>,
    /// Own messages, ready after the processing delay.
    pub(crate) own: VecDeque<(u64, u32, Body)>,
    pub(crate) bodies: Bodies,
    pub(crate) timers: Timers,
    pub(crate) changes: VecDeque<(u64, u16, Rate)>,
    pub(crate) turn: Vec<u8>,
    scheme: Option<usize>,
    actions: Vec<PointAction>,
    pub(crate) counters: Vec<u64>,
    pub(crate) control_messages: u64,
    pub(crate) control_bits: u64,
    pub(crate) control_discarded: u64,
    pub(crate) events: Hash,
    pub(crate) samples: Hash,
    pub(crate) drops: Ledger,
    pub(crate) failure: Option<String>,
    /// Ports recorded, and next sampling time.
    recorded: Vec<(u16, Vec<f64>)>,
    /// Drops so far, at each tick.
    drops_at: Vec<f64>,
    pub(crate) next_tick: u64,
}

impl Switch {
    pub(crate) fn new(net: &Net, spec: &RunSpec, index: usize, s: &SwitchSpec) -> Self {
        let id = net.hosts + index as u32;
        let base = net.ports[id as usize];
        let ports = usize::from(s.ports);
        let mut sw = Self {
            id,
            index,
            base,
            inbox: base,
            now: 0,
            ports: Vec::with_capacity(ports),
            ends: vec![NEVER; ports],
            mmu: Mmu::new(ports, &s.buffer, net.margin(base, ports)),
            pause_transport: s.buffer.pause.map_or(PauseTransport::Frame, |p| p.transport),
            processing: s.processing.as_ps(),
            linked: (0..ports).rev().find(|&p| net.links[base as usize + p].is_some()).map_or(0, |p| p + 1),
            bits: 0,
            lazy: false,
            exact: Vec::new(),
            chosen: None,
            critical: Vec::new(),
            rare: 0,
            kicks: 0,
            many_kicks: Vec::new(),
            own: VecDeque::new(),
            bodies: Bodies::default(),
            timers: Timers::default(),
            changes: VecDeque::new(),
            turn: if net.round_robin() { vec![0; net.hosts as usize] } else { Vec::new() },
            scheme: s.scheme,
            actions: Vec::new(),
            counters: vec![0; s.scheme.map_or(0, |i| net.schemes[i].0.counters().len())],
            control_messages: 0,
            control_bits: 0,
            control_discarded: 0,
            events: Hash::default(),
            samples: Hash::default(),
            drops: Ledger::default(),
            failure: None,
            recorded: Vec::new(),
            drops_at: Vec::new(),
            next_tick: NEVER,
        };
        let bits = sw.linked.next_power_of_two().trailing_zeros().max(1);
        sw.bits = if net.window < (1 << 31) >> bits { bits } else { 0 };
        let mut changes: Vec<_> = spec.changes.iter().filter(|c| c.node.0 == id).collect();
        changes.sort_by_key(|c| (c.at, c.port));
        sw.changes = changes.iter().map(|c| (c.at.as_ps(), c.port, c.rate)).collect();
        for &(node, port) in &net.record.queues {
            if node.0 == id && net.record.bin > Time::ZERO {
                sw.recorded.push((port, Vec::new()));
                sw.next_tick = net.record.bin.as_ps();
            }
        }
        for p in 0..ports {
            let link = net.links[base as usize + p];
            let rate = link.map_or(Rate::from_gbps(10.0), |l| l.rate);
            let site = QueueSite {
                node: NodeId(id),
                port: p as u16,
                point: PointId(base + p as u32),
                class: Class::Data,
                rate,
                kind: QueueKind::SwitchOutput,
                attached: link.is_some(),
            };
            let object = s.scheme.and_then(|i| net.schemes[i].0.congestion_point(&site));
            let point = object.map(|object| {
                let stream = Stream::new(net.seed, u64::from(base) + p as u64, Purpose::Point);
                Box::new(Point { object, state: PointState::new(stream) })
            });
            sw.ports.push(Port {
                data: if link.is_some() { Ring::with_places(8) } else { Ring::default() },
                queued: 0,
                countdown: i64::MAX / 2,
                calm: 0,
                free: 0,
                service: TxRate::new(rate),
                delay: link.map_or(0, |l| l.delay),
                peer: 0,
                sending: None,
                special: true,
                left: 0,
                sent: 0,
                left_control: 0,
                queue_max: 0,
                link,
                service_rate: rate,
                pause_out: VecDeque::new(),
                control: VecDeque::new(),
                paused_since: NEVER,
                marks: Stream::new(net.seed, (u64::from(base) + p as u64) | (1 << 33), Purpose::Node),
                ramp: None,
                stamp: None,
                point,
                out: PortOutcome::default(),
            });
        }
        for p in 0..ports {
            sw.with_point(p, net, None, |point, queue, ctl| point.start(queue, ctl));
            sw.ports[p].settle_special(false);
        }
        sw.note_rare();
        sw
    }

    /// The earliest event, among what has arrived and what is planned.
    pub(crate) fn next(&self, wires: &Wires) -> Key {
        let mut best = self.next_own();
        for p in 0..self.ports.len() as u32 {
            if let Some(e) = wires.head(self.inbox + p) {
                best = best.min((e.ready, arrival_kind(e.frame.kind), p));
            }
        }
        best
    }

    /// The earliest event that is not an arrival from outside.
    pub(crate) fn next_own(&self) -> Key {
        let mut best = NO_EVENT;
        if let Some(k) = self.kicked() {
            best = (self.now, order::START, k);
        }
        for (p, &end) in self.ends.iter().enumerate() {
            if end < best.0 || (end == best.0 && (order::END, p as u32) < (best.1, best.2)) {
                best = (end, order::END, p as u32);
            }
        }
        if let Some(&(at, port, _)) = self.changes.front() {
            best = best.min((at, order::CHANGE, u32::from(port)));
        }
        if let Some(&(at, _, _)) = self.own.front() {
            best = best.min((at, order::CONTROL, self.ports.len() as u32));
        }
        if self.timers.next() < best.0 || self.timers.next() == best.0 {
            best = best.min((self.timers.next(), order::TIMER, 0));
        }
        if self.next_tick <= best.0 {
            best = best.min((self.next_tick, order::TICK, 0));
        }
        if best.0 == NEVER { NO_EVENT } else { best }
    }

    /// Notes the earliest event that is neither an arrival nor the end of a transmission.
    fn note_rare(&mut self) {
        let change = self.changes.front().map_or(NEVER, |c| c.0);
        let own = self.own.front().map_or(NEVER, |o| o.0);
        self.rare = change.min(own).min(self.timers.next()).min(self.next_tick);
    }

    fn kick(&mut self, port: usize) {
        if self.lazy {
            return;
        }
        if port < 64 {
            self.kicks |= 1 << port;
        } else if !self.many_kicks.contains(&(port as u32)) {
            self.many_kicks.push(port as u32);
        }
    }

    fn kicked(&self) -> Option<u32> {
        if self.kicks != 0 {
            Some(self.kicks.trailing_zeros())
        } else {
            self.many_kicks.iter().min().copied()
        }
    }

    /// Carries out one event.
    pub(crate) fn execute(&mut self, (time, kind, port): Key, net: &Net, wires: &mut Wires) {
        self.now = time;
        match kind {
            order::CHANGE => {
                if let Some((_, port, rate)) = self.changes.pop_front() {
                    self.touch(usize::from(port), time - 1, wires);
                    let p = &mut self.ports[usize::from(port)];
                    if p.sending.is_none() {
                        p.free = p.free.max(time);
                    }
                    p.service = TxRate::new(rate);
                    p.service_rate = rate;
                    p.special = true;
                    self.kick(usize::from(port));
                }
                self.note_rare();
            }
            order::END => self.end(port as usize, wires),
            order::TIMER => {
                if let Some((port, slot)) = self.timers.pop() {
                    self.touch(port as usize, time, wires);
                    self.with_point(port as usize, net, None, |point, queue, ctl| {
                        point.on_timer(Slot(slot), queue, ctl);
                    });
                }
                self.note_rare();
            }
            order::START => {
                if port < 64 {
                    self.kicks &= !(1 << port);
                } else {
                    self.many_kicks.retain(|&p| p != port);
                }
                self.start(port as usize);
            }
            order::TICK => self.tick(net, wires),
            order::CONTROL if port as usize == self.ports.len() => {
                if let Some((_, dst, body)) = self.own.pop_front() {
                    self.send_own(dst, body, net, wires);
                }
                self.note_rare();
            }
            _ => {
                if let Some((entry, body)) = wires.pop(self.inbox + port) {
                    self.arrive(entry, body, port as usize, net, wires);
                }
            }
        }
    }

    /// A frame arrived at input `input`.
    pub(crate) fn arrive(
        &mut self,
        entry: Entry,
        body: Option<Body>,
        input: usize,
        net: &Net,
        wires: &mut Wires,
    ) {
        let mut frame = entry.frame;
        frame.input = input as u16;
        match frame.kind {
            Kind::Xoff | Kind::Xon => self.pause(input, frame.kind == Kind::Xoff, wires),
            Kind::Data => {
                let out = net.pick(self.index, frame.dst, frame.flow, frame.seq, &mut self.turn);
                self.data(usize::from(out), frame, net, wires);
            }
            Kind::Control | Kind::InBand => {
                if let Some(body) = body {
                    self.message(frame, body, net, wires);
                }
            }
        }
    }

    /// Brings a port up to date before something happens to it now, if that is not done event by event.
    #[inline]
    fn touch(&mut self, port: usize, last: u64, wires: &mut Wires) {
        if self.lazy {
            self.advance(port, last, self.now, wires);
        }
    }

    fn pause(&mut self, port: usize, off: bool, wires: &mut Wires) {
        self.touch(port, self.now - 1, wires);
        self.events.add(self.now, 0x1000 | port as u64 | (u64::from(off) << 20));
        let p = &mut self.ports[port];
        p.special = true;
        if off {
            if !p.paused() {
                p.paused_since = self.now;
            }
        } else if p.paused() {
            p.out.paused += Time::from_ps(self.now - p.paused_since);
            p.paused_since = NEVER;
            if p.sending.is_none() {
                p.free = p.free.max(self.now);
            }
            self.kick(port);
        }
    }

    /// A data frame for output `out`.
    pub(crate) fn data(&mut self, out: usize, mut frame: Frame, net: &Net, wires: &mut Wires) {
        self.touch(out, self.now, wires);
        let port = &self.ports[out];
        match self.mmu.admit(out, usize::from(frame.input), frame.len, port.queued) {
            Ok(()) => {
                self.enqueue(out, &mut frame, wires);
                let port = &mut self.ports[out];
                port.countdown -= i64::from(frame.len);
                if port.countdown <= 0 {
                    self.sample(out, frame, false, net);
                }
            }
            Err(why) => {
                let port = &mut self.ports[out];
                match why {
                    Refusal::OutputLimit => port.out.dropped_by_limit += 1,
                    Refusal::Partition => port.out.dropped += 1,
                }
                self.drops.add(&frame);
                self.events.add(self.now, 0x2000 | out as u64 ^ (u64::from(frame.flow) << 20));
                if let Some(point) = &port.point
                    && point.state.sample_dropped
                {
                    port.countdown -= i64::from(frame.len);
                    if port.countdown <= 0 {
                        self.sample(out, frame, true, net);
                    }
                }
            }
        }
    }

    /// Puts an admitted frame of the data class into its queue.
    fn enqueue(&mut self, out: usize, frame: &mut Frame, wires: &mut Wires) {
        let signal = self.mmu.store(out, usize::from(frame.input), frame.len);
        let port = &mut self.ports[out];
        port.queued += u64::from(frame.len);
        port.queue_max = port.queue_max.max(port.queued);
        if let Some(ramp) = port.ramp
            && ramp.at == RampAt::Arrival
            && frame.kind == Kind::Data
        {
            let p = ramp.probability(port.queued);
            if p >= 1.0 || (p > 0.0 && port.marks.chance(p)) {
                frame.marked = true;
            }
        }
        port.data.push_back(Entry { ready: self.now, frame: *frame });
        if port.sending.is_none() {
            self.kick(out);
        }
        self.note_calm(out);
        self.signal(signal, wires);
    }

    /// Notes anew how long a queue may grow before a frame needs the exact way: up to its largest, its limit, its ramp.
    fn note_calm(&mut self, out: usize) {
        let port = &mut self.ports[out];
        let ramp = port.ramp.map_or(NEVER, |r| r.low.get());
        port.calm = port.queue_max.min(self.mmu.output_limit).min(ramp);
    }

    /// Stores a data frame that arrives at `entry.ready` without bringing its port up to date, where nothing depends on
    /// that: the occupancies known are upper bounds, and as such below all thresholds, and no sample is due. False if
    /// the frame needs the exact way.
    #[inline(always)]
    pub(crate) fn store_calmly(&mut self, out: usize, input: usize, entry: &Entry) -> bool {
        let len = u64::from(entry.frame.len);
        let port = &mut self.ports[out];
        let (queued, countdown) = (port.queued + len, port.countdown - len as i64);
        let Some(rise) = self.mmu.calm(out, input, entry.frame.len) else { return false };
        if queued > port.calm || countdown <= 0 {
            return false;
        }
        self.mmu.store_calmly(rise, len);
        port.queued = queued;
        port.countdown = countdown;
        port.data.append(entry.ready, &entry.frame, input as u16);
        true
    }

    /// Sends XOFF or XON where the memory says so.
    #[inline]
    fn signal(&mut self, signal: Signal, wires: &mut Wires) {
        if signal != Signal::None {
            self.signalled(signal, wires);
        }
    }

    #[cold]
    fn signalled(&mut self, signal: Signal, wires: &mut Wires) {
        let domain = match signal {
            Signal::None => return,
            Signal::Watch => return self.find_critical(),
            Signal::Change(domain) => domain,
        };
        if self.lazy {
            self.find_critical();
        }
        let kind = if self.mmu.off[domain] { Kind::Xoff } else { Kind::Xon };
        let all = self.mmu.is_global();
        let targets = if all { 0..self.ports.len() } else { domain..(domain + 1).min(self.ports.len()) };
        for t in targets {
            let Some(link) = self.ports[t].link else { continue };
            self.ports[t].out.xoffs += u64::from(kind == Kind::Xoff);
            let frame = Frame { len: 64, kind, ..Frame::default() };
            match self.pause_transport {
                PauseTransport::Wire => {
                    wires.push(link.peer, Entry { ready: self.now + link.delay, frame }, None);
                }
                PauseTransport::Frame => {
                    self.ports[t].special = true;
                    self.ports[t].pause_out.push_back(Entry { ready: self.now, frame });
                    if self.ports[t].sending.is_none() {
                        self.kick(t);
                    }
                }
            }
        }
    }

    /// The gate of an output queue fired on a frame (or must look at each).
    pub(crate) fn sample(&mut self, out: usize, frame: Frame, dropped: bool, net: &Net) {
        let queued = self.ports[out].queued;
        self.sample_at(out, frame, dropped, queued, net);
    }

    /// The same with the queue length of the moment given.
    pub(crate) fn sample_at(&mut self, out: usize, mut frame: Frame, dropped: bool, queued: u64, net: &Net) {
        let port = &mut self.ports[out];
        let Some(point) = &mut port.point else {
            port.countdown = i64::MAX / 2;
            return;
        };
        let fire = match point.state.gate {
            Gate::Never => false,
            Gate::AfterBytes | Gate::Always => true,
            Gate::Probability(p) => point.state.stream.chance(p),
            Gate::Tagged => frame.tag != 0,
        };
        match point.state.gate {
            Gate::AfterBytes => {
                point.state.gate = Gate::Never;
                port.countdown = i64::MAX / 2;
            }
            Gate::Never => port.countdown = i64::MAX / 2,
            _ => port.countdown = 0,
        }
        if !fire {
            return;
        }
        self.samples.add(self.now ^ (out as u64) << 48, queued);
        let hosts = net.hosts;
        let mut view = FrameView {
            flow: FlowId(frame.flow),
            src: NodeId(frame.flow / hosts),
            dst: NodeId(frame.flow % hosts),
            len: Bytes::new(u64::from(frame.len)),
            marked: frame.marked,
            tag: frame.tag(),
            dropped,
        };
        let before = (view.marked, view.tag);
        let queued_now = std::mem::replace(&mut self.ports[out].queued, queued);
        self.with_point(out, net, None, |point, queue, ctl| point.on_sample(&mut view, queue, ctl));
        self.ports[out].queued = queued_now;
        if !dropped && (view.marked, view.tag) != before {
            frame.marked = view.marked;
            frame.set_tag(view.tag);
            if let Some(e) = self.ports[out].data.back_mut() {
                e.frame = frame;
            }
        }
    }

    /// Calls a congestion point and carries out what it asks for; true when a probe in hand is to be answered.
    fn with_point(
        &mut self,
        p: usize,
        net: &Net,
        flow: Option<FlowId>,
        call: impl FnOnce(&mut dyn CongestionPoint, &Queue, &mut PointControl<'_>),
    ) -> bool {
        let port = &mut self.ports[p];
        let view = port.view();
        let Some(point) = &mut port.point else { return false };
        point.state.countdown = port.countdown;
        let mut actions = std::mem::take(&mut self.actions);
        let mut ctl = PointControl::new(Time::from_ps(self.now), &mut point.state, &mut actions);
        call(point.object.as_mut(), &view, &mut ctl);
        port.countdown = point.state.countdown;
        if port.ramp != point.state.ramp || port.stamp != point.state.stamp {
            port.ramp = point.state.ramp;
            port.stamp = point.state.stamp;
            port.special = true;
            port.calm = 0;
        }
        let mut answer = false;
        for action in actions.drain(..) {
            match action {
                PointAction::Notify(flow, feedback) => {
                    self.made(&feedback);
                    self.events.add(self.now, 0x3000 | p as u64 ^ (u64::from(flow.0) << 20));
                    let dst = flow.0 / net.hosts;
                    self.own.push_back((self.now + self.processing, dst, Body::Feedback(flow, feedback)));
                }
                PointAction::Broadcast(feedback) => {
                    self.made(&feedback);
                    let flow = FlowId(u32::MAX);
                    self.own.push_back((
                        self.now + self.processing,
                        BROADCAST,
                        Body::Feedback(flow, feedback),
                    ));
                }
                PointAction::StartTimer(slot, after) => {
                    self.timers.start(p as u32, slot.0, self.now.saturating_add(after.as_ps()));
                }
                PointAction::StopTimer(slot) => self.timers.stop(p as u32, slot.0),
                PointAction::Answer => answer = flow.is_some(),
                PointAction::Count(i) => {
                    if let Some(c) = self.counters.get_mut(usize::from(i)) {
                        *c += 1;
                    }
                }
                PointAction::Fail(cause) => {
                    self.failure.get_or_insert(format!(
                        "congestion point at node {} port {p}, {}: {cause}",
                        self.id,
                        Time::from_ps(self.now)
                    ));
                }
            }
        }
        self.actions = actions;
        self.note_rare();
        answer
    }

    fn made(&mut self, feedback: &Feedback) {
        self.control_messages += 1;
        self.control_bits += feedback.wire_length().get() * 8;
    }

    /// An own message is ready: send it on its way.
    fn send_own(&mut self, dst: u32, body: Body, net: &Net, wires: &mut Wires) {
        let flow = match body {
            Body::Feedback(f, _) | Body::Probe(f, _) => f.0,
        };
        let kind = if net.control == ControlTransport::InBand { Kind::InBand } else { Kind::Control };
        let frame = Frame {
            flow,
            dst,
            len: 64,
            kind,
            input: self.ports.len() as u16,
            born: self.now,
            ..Frame::default()
        };
        self.message(frame, body, net, wires);
    }

    /// A feedback message or probe to be forwarded (or ended) here.
    fn message(&mut self, frame: Frame, mut body: Body, net: &Net, wires: &mut Wires) {
        if frame.dst == BROADCAST {
            for p in 0..self.ports.len() {
                if p != usize::from(frame.input) && self.ports[p].link.is_some_and(|l| l.tree) {
                    self.queue_message(p, frame, body, wires);
                }
            }
            return;
        }
        let out = if frame.dst & TO_POINT != 0 {
            match net.point(frame.dst & !TO_POINT) {
                Some((s, port)) if s == self.index => usize::from(port),
                Some((s, _)) => {
                    let out = net.towards(self.index, s, 0, frame.flow, frame.seq, &mut self.turn);
                    return self.queue_message(usize::from(out), frame, body, wires);
                }
                None => return,
            }
        } else {
            usize::from(net.route(self.index, frame.dst, frame.flow, frame.seq, &mut self.turn))
        };
        if let Body::Probe(flow, probe) = &mut body {
            let addressed = frame.dst & TO_POINT != 0;
            self.touch(out, self.now, wires);
            let (flow, probe) = (*flow, probe);
            let point = PointId(self.base + out as u32);
            let ends = |p: &Probe| matches!(p.target, ProbeTarget::Point(t) if t == point);
            let answered =
                self.with_point(out, net, Some(flow), |cp, queue, ctl| cp.on_probe(probe, flow, queue, ctl));
            if answered {
                let feedback =
                    Feedback::ProbeReply { probe: *probe, at: Time::from_ps(self.now), rx_rate: Rate::ZERO };
                self.made(&feedback);
                let dst = flow.0 / net.hosts;
                self.own.push_back((self.now + self.processing, dst, Body::Feedback(flow, feedback)));
                self.note_rare();
                return;
            }
            if addressed || ends(probe) {
                return;
            }
        }
        self.queue_message(out, frame, body, wires);
    }

    fn queue_message(&mut self, out: usize, mut frame: Frame, body: Body, wires: &mut Wires) {
        self.touch(out, self.now, wires);
        if frame.kind == Kind::InBand {
            if self.mmu.admit(out, usize::from(frame.input), frame.len, self.ports[out].queued).is_err() {
                self.control_discarded += 1;
                return;
            }
            frame.ext = self.bodies.put(body);
            self.enqueue(out, &mut frame, wires);
            return;
        }
        frame.ext = self.bodies.put(body);
        let port = &mut self.ports[out];
        port.special = true;
        port.control.push_back(Entry { ready: self.now, frame });
        if port.sending.is_none() {
            self.kick(out);
        }
    }

    /// The transmitter of a port looks for work.
    fn start(&mut self, p: usize) {
        let port = &mut self.ports[p];
        if port.sending.is_some() {
            return;
        }
        let Some(link) = port.link else { return };
        let end = if let Some(e) = port.pause_out.front() {
            port.sending = Some(e.frame.kind);
            self.now + link.tx.time(e.frame.len)
        } else if let Some(e) = port.control.front() {
            port.sending = Some(Kind::Control);
            self.now + link.tx.time(e.frame.len)
        } else if let Some(e) = port.data.front_mut()
            && port.paused_since == NEVER
            && !port.service.stopped()
        {
            port.sending = Some(e.frame.kind);
            if let Some(stamp) = port.stamp
                && let cnsim_scheme_api::Tag::RateDiscovery(rate) = e.frame.tag()
                && e.frame.kind == Kind::Data
            {
                e.frame.set_tag(cnsim_scheme_api::Tag::RateDiscovery(rate.min(stamp)));
            }
            self.now + port.service.time(e.frame.len)
        } else {
            return;
        };
        self.ends[p] = end;
    }

    /// A transmission ends.
    #[inline]
    pub(crate) fn end(&mut self, p: usize, wires: &mut Wires) {
        self.ends[p] = NEVER;
        let port = &mut self.ports[p];
        port.free = self.now;
        let Some(kind) = port.sending.take() else { return };
        let Some(link) = port.link else { return };
        let entry = match kind {
            Kind::Xoff | Kind::Xon => port.pause_out.pop_front(),
            Kind::Control => port.control.pop_front(),
            Kind::Data | Kind::InBand => port.data.pop_front(),
        };
        let Some(Entry { mut frame, .. }) = entry else { return };
        self.kick(p);
        let ready = self.now + link.delay;
        let port = &mut self.ports[p];
        match kind {
            Kind::Xoff | Kind::Xon => wires.push(link.peer, Entry { ready, frame }, None),
            Kind::Control => {
                port.left += u64::from(frame.len);
                port.left_control += u64::from(frame.len);
                port.out.control_sent += 1;
                let body = self.bodies.take(frame.ext);
                wires.push(link.peer, Entry { ready, frame }, body);
            }
            Kind::Data | Kind::InBand => {
                port.queued -= u64::from(frame.len);
                port.left += u64::from(frame.len);
                let mut body = None;
                if kind == Kind::Data {
                    port.sent += 1;
                    if let Some(ramp) = port.ramp
                        && ramp.at == RampAt::Departure
                    {
                        let q = ramp.probability(port.queued);
                        if q >= 1.0 || (q > 0.0 && port.marks.chance(q)) {
                            frame.marked = true;
                        }
                    }
                } else {
                    port.out.control_sent += 1;
                    port.left_control += u64::from(frame.len);
                    body = self.bodies.take(frame.ext);
                }
                let signal = self.mmu.free(p, usize::from(frame.input), frame.len);
                wires.push(link.peer, Entry { ready, frame }, body);
                self.signal(signal, wires);
            }
        }
    }

    fn tick(&mut self, net: &Net, wires: &mut Wires) {
        self.next_tick = self.now + net.record.bin.as_ps();
        self.note_rare();
        for i in 0..self.recorded.len() {
            // Starts at this very moment do not change a queue's length, so advancing up to them is enough.
            self.touch(usize::from(self.recorded[i].0), self.now, wires);
        }
        self.drops_at.push(self.drops.frames as f64);
        for (port, values) in &mut self.recorded {
            values.push(self.ports[usize::from(*port)].queued as f64);
        }
    }

    /// Ends the run: closes intervals and gives up what was measured.
    pub(crate) fn finish(&mut self, net: &Net) -> (SwitchOutcome, Vec<Series>) {
        let mut out = SwitchOutcome::default();
        for p in &mut self.ports {
            if p.paused() {
                p.out.paused += Time::from_ps(net.duration - p.paused_since.min(net.duration));
            }
            (p.out.sent, p.out.sent_bits, p.out.queue_max) = (p.sent, (p.left - p.left_control) * 8, p.queue_max);
            out.ports.push(p.out.clone());
        }
        let node = NodeId(self.id);
        let bins = (net.duration / net.record.bin.as_ps().max(1)) as usize;
        let mut drops_at = std::mem::take(&mut self.drops_at);
        if !self.recorded.is_empty() {
            drops_at.resize(bins, self.drops.frames as f64);
        }
        let mut series: Vec<Series> = std::mem::take(&mut self.recorded)
            .into_iter()
            .map(|(port, mut values)| {
                if values.len() < bins {
                    values.push(self.ports[usize::from(port)].queued as f64);
                }
                Series { kind: SeriesKind::Queue { node, port }, bin: net.record.bin, values }
            })
            .collect();
        if !series.is_empty() {
            series.push(Series { kind: SeriesKind::Dropped { node }, bin: net.record.bin, values: drops_at });
        }
        (out, series)
    }

    /// Index of its scheme.
    pub(crate) fn scheme(&self) -> Option<usize> {
        self.scheme
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.sent).sum::<u64>() + self.control_hops()
    }

    /// Of these, control frames.
    pub(crate) fn control_hops(&self) -> u64 {
        self.ports.iter().map(|p| p.out.control_sent).sum()
    }

    /// Data frames still inside.
    pub(crate) fn inside(&self, ledger: &mut Ledger) {
        for e in self.ports.iter().flat_map(|p| p.data.entries()).filter(|e| e.frame.kind == Kind::Data) {
            ledger.add(&e.frame);
        }
    }
}
