//! A host: sources, the FIFO of application queue and NIC, limiters, the transmitter, and the receiving side.
//!
//! Handlers of single events, as in [`crate::switch`].
//!
//! This file is long because sending and receiving share the state of one host, and one reader should see both.

use crate::frame::{
    Bodies, Body, Entry, Frame, Hash, Key, Kind, NEVER, NO_EVENT, TO_POINT, Wires, arrival_kind, order,
};
use crate::limiter::{LimiterSlot, Limiters, PACE, WHOLE_HOST};
use crate::net::{Link, Net};
use crate::outcome::{Completion, HostOutcome, LATENCY_BUCKETS, Series, SeriesKind, latency_bucket};
use crate::source::Source;
use crate::spec::{ControlTransport, Faults, HostQueues, HostSpec, LimiterPosition};
use crate::switch::Ledger;
use crate::timers::Timers;
use crate::voq::Voqs;
use cnsim_scheme_api::{
    Built, Bytes, Class, Feedback, FlowId, FrameView, Limiter, LimiterAction, LimiterState, NodeId, Probe,
    ProbeTarget, Purpose, ReactionPoint, ReflectGate, Reflector, ReflectorAction, ReflectorControl,
    ReflectorState, Scope, SinkSite, Slot, SourceSite, Stream, Tag, Time,
};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug)]
struct ReflectorSlot {
    object: Box<dyn Reflector>,
    state: ReflectorState,
}

/// Index of the event of deferred feedback, after an arrival of the same moment.
const DEFERRED: u32 = 1;

/// Finite transfers from one source to this host.
#[derive(Debug, Default)]
struct Expected {
    /// Bytes received.
    received: u64,
    /// (bytes at which it is complete, its bytes, its start), in order.
    list: VecDeque<(u64, u64, u64)>,
}

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) id: u32,
    /// Number of its receiving port at the worker.
    pub(crate) inbox: u32,
    pub(crate) now: u64,
    pub(crate) link: Link,
    hosts: u32,
    pub(crate) sources: Vec<Source>,
    pub(crate) fifo: VecDeque<Frame>,
    fifo_limit: usize,
    limiter_limit: usize,
    position: LimiterPosition,
    /// Virtual output queues, where the host has them instead of the one FIFO.
    voqs: Option<Box<Voqs>>,
    /// Feedback that has arrived and takes effect at its time.
    deferred: VecDeque<(u64, FlowId, Feedback)>,
    feedback_delay: u64,
    faults: Faults,
    /// Feedback messages that arrived, and those lost of them.
    messages: u64,
    pub(crate) lost: u64,
    /// Transfers expected from each source: (bytes so far, those to complete, in order).
    expected: BTreeMap<u32, Expected>,
    pub(crate) control: VecDeque<Frame>,
    /// Probes of the data class: ahead of the FIFO, stopped by PAUSE.
    pub(crate) probes: VecDeque<Frame>,
    pub(crate) bodies: Bodies,
    pub(crate) limiters: Limiters,
    /// Round-robin pointer over FIFO (0) and limiters.
    turn: usize,
    /// Limiters that wait for room in the FIFO, in order.
    blocked: VecDeque<usize>,
    pub(crate) timers: Timers,
    /// Frame in transmission.
    pub(crate) sending: Option<Frame>,
    pub(crate) end: u64,
    /// The sending side has nothing to do before this time; 0 where that is not known.
    due: u64,
    pub(crate) kick: bool,
    pub(crate) paused_since: u64,
    pub(crate) seq: u32,
    pub(crate) scheme: Option<usize>,
    pub(crate) built: Built,
    scope: Scope,
    pub(crate) gate: ReflectGate,
    gate_stream: Stream,
    reflectors: BTreeMap<u32, ReflectorSlot>,
    reflector_scope: Scope,
    in_band: bool,
    limiter_actions: Vec<LimiterAction>,
    reflector_actions: Vec<ReflectorAction>,
    pub(crate) counters: Vec<u64>,
    pub(crate) out: HostOutcome,
    pub(crate) matrix: Vec<u64>,
    /// Received frames are recorded one by one.
    watched: bool,
    pub(crate) control_messages: u64,
    pub(crate) control_bits: u64,
    pub(crate) ignored: u64,
    pub(crate) hops: u64,
    pub(crate) control_hops: u64,
    pub(crate) events: Hash,
    pub(crate) frames: Hash,
    pub(crate) made: Ledger,
    pub(crate) got: Ledger,
    pub(crate) last_delivery: u64,
    pub(crate) failure: Option<String>,
    pub(crate) bin: u64,
    bins: Option<Vec<u64>>,
    flow_bins: Vec<(u32, Vec<u64>)>,
    rates: Vec<(u32, Vec<f64>)>,
    pub(crate) next_tick: u64,
}

impl Host {
    pub(crate) fn new(net: &Net, id: u32, spec: &HostSpec) -> Option<Self> {
        let mut expected: BTreeMap<u32, Expected> = BTreeMap::new();
        for &(src, bytes, start) in net.transfers.get(&id).map_or(&[][..], Vec::as_slice) {
            let e = expected.entry(src).or_default();
            let before = e.list.back().map_or(0, |l| l.0);
            e.list.push_back((before + bytes, bytes, start));
        }
        let base = net.ports[id as usize];
        let link = net.links[base as usize]?;
        let plan = spec.scheme.map(|s| net.schemes[s].1).unwrap_or_default();
        let bin = net.record.bin.as_ps();
        let length = net.duration.checked_div(bin).unwrap_or(0) as usize;
        let mine = |list: &[(NodeId, NodeId)], end: bool| -> Vec<u32> {
            list.iter()
                .filter(|f| if end { f.1.0 == id } else { f.0.0 == id })
                .map(|f| if end { f.0.0 } else { f.1.0 })
                .collect()
        };
        let rates: Vec<_> = mine(&net.record.rates, false).into_iter().map(|d| (d, Vec::new())).collect();
        let sources: Vec<Source> = spec
            .sources
            .iter()
            .enumerate()
            .map(|(i, s)| Source::new(s, id, i, net.hosts, link.tx, net.seed, net.duration))
            .collect();
        let expected_empty = expected.is_empty();
        Some(Self {
            id,
            inbox: base,
            now: 0,
            link,
            hosts: net.hosts,
            sources,
            fifo: VecDeque::new(),
            fifo_limit: spec.fifo_frames as usize,
            limiter_limit: spec.limiter_frames as usize,
            position: match spec.queues {
                HostQueues::Fifo => spec.limiter_position,
                HostQueues::PerDestination => LimiterPosition::BelowQueue,
            },
            voqs: (spec.queues == HostQueues::PerDestination).then(|| Box::new(Voqs::new(net.hosts))),
            deferred: VecDeque::new(),
            feedback_delay: spec.feedback_delay.as_ps(),
            faults: spec.faults,
            messages: 0,
            lost: 0,
            expected,
            control: VecDeque::new(),
            probes: VecDeque::new(),
            bodies: Bodies::default(),
            limiters: Limiters::default(),
            turn: 0,
            blocked: VecDeque::new(),
            timers: Timers::default(),
            sending: None,
            end: NEVER,
            due: 0,
            kick: false,
            paused_since: NEVER,
            seq: 0,
            scheme: spec.scheme,
            built: plan.built,
            scope: plan.limiter_scope,
            gate: plan.reflect,
            gate_stream: Stream::new(net.seed, u64::from(id), Purpose::Node),
            reflectors: BTreeMap::new(),
            reflector_scope: plan.reflector_scope,
            in_band: net.control == ControlTransport::InBand,
            limiter_actions: Vec::new(),
            reflector_actions: Vec::new(),
            counters: vec![0; spec.scheme.map_or(0, |s| net.schemes[s].0.counters().len())],
            out: HostOutcome {
                latency: if net.record.latency { vec![0; LATENCY_BUCKETS] } else { Vec::new() },
                ..HostOutcome::default()
            },
            watched: bin > 0 || net.record.matrix || !expected_empty,
            matrix: if net.record.matrix { vec![0; net.hosts as usize] } else { Vec::new() },
            control_messages: 0,
            control_bits: 0,
            ignored: 0,
            hops: 0,
            control_hops: 0,
            events: Hash::default(),
            frames: Hash::default(),
            made: Ledger::default(),
            got: Ledger::default(),
            last_delivery: 0,
            failure: None,
            bin,
            bins: (bin > 0 && net.record.delivered.contains(&NodeId(id))).then(|| vec![0; length]),
            flow_bins: if bin > 0 {
                mine(&net.record.flows, true).into_iter().map(|s| (s, vec![0; length])).collect()
            } else {
                Vec::new()
            },
            next_tick: if rates.is_empty() || bin == 0 { NEVER } else { bin },
            rates,
        })
    }

    /// Runs the host up to `end` (exclusive). Receiving data touches nothing of the sending side unless a reflector
    /// answers, so the two are replayed separately and meet only where they must.
    pub(crate) fn sweep(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        while let Some(e) = wires.first(self.inbox) {
            if e.ready >= end {
                break;
            }
            let (ready, kind) = (e.ready, e.frame.kind);
            if kind == Kind::Data && self.gate == ReflectGate::Never && self.reflectors.is_empty() {
                self.receive(ready, &e.frame);
                wires.skip(self.inbox);
                continue;
            }
            let Some((entry, body)) = wires.pop(self.inbox) else { break };
            if kind == Kind::Data {
                self.receive(ready, &entry.frame);
                if self.fires(&entry.frame) {
                    self.send_until((ready, order::DATA, 0), net, wires);
                    self.now = ready;
                    self.answer(&entry.frame, net);
                    self.due = 0;
                } else {
                    self.unanswered(&entry.frame);
                }
            } else {
                self.send_until((ready, arrival_kind(kind), 0), net, wires);
                self.now = ready;
                self.arrive(entry.frame, body, net);
                self.due = 0;
            }
        }
        if self.due < end {
            self.send_until((end, 0, 0), net, wires);
        }
    }

    /// The sending side's events before `limit`.
    fn send_until(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        self.due = 0;
        let simple = self.sources.len() == 1
            && self.voqs.is_none()
            && !self.sources[0].greedy
            && self.built == Built::OnFeedback
            && self.next_tick > limit.0
            && (self.position == LimiterPosition::AtSource || self.limiters.count == 0);
        loop {
            if simple && self.is_quiet() && self.send_fast(limit, net, wires) {
                return;
            }
            let key = self.next_own();
            if key >= limit {
                return;
            }
            self.execute(key, net, wires);
        }
    }

    /// No control, no probe, no XOFF, no start pending.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.control.is_empty()
            && self.probes.is_empty()
            && self.deferred.is_empty()
            && self.paused_since == NEVER
            && !self.kick
    }

    /// The transmitter starts now, unless something else of this moment comes first. False to leave the fast path.
    #[inline]
    fn start_fast(&mut self, limit: Key, net: &Net) -> bool {
        if (self.now, order::START, 0) >= limit
            || self.sources[0].next == self.now
            || self.timers.next() == self.now
        {
            self.kick = true;
            return false;
        }
        self.kick = false;
        self.start(net);
        self.is_quiet()
    }

    /// The same where there is one source and nothing rare is pending: slots, timers and transmissions merged by hand.
    /// True at the limit, false as soon as the general way must take over.
    fn send_fast(&mut self, limit: Key, net: &Net, wires: &mut Wires) -> bool {
        loop {
            let (slot, timer) = (self.sources[0].next, self.timers.next());
            if self.end <= slot && self.end <= timer {
                if (self.end, order::END, 0) >= limit || self.end == NEVER {
                    self.due = self.end.min(self.next_tick);
                    return true;
                }
                self.now = self.end;
                self.end(wires);
                if self.fifo.is_empty() && self.limiters.count == 0 {
                    self.kick = false;
                } else if !self.start_fast(limit, net) {
                    return false;
                }
                continue;
            }
            if timer <= slot {
                if (timer, order::TIMER, 0) >= limit {
                    self.due = timer.min(self.next_tick);
                    return true;
                }
                self.now = timer;
                self.timer(net);
                if self.kick && !self.start_fast(limit, net) || !self.is_quiet() {
                    return false;
                }
                continue;
            }
            if (slot, order::SLOT, 0) >= limit {
                self.due = slot.min(self.next_tick);
                return true;
            }
            let dst = self.sources[0].frame();
            self.now = slot;
            if self.limiters.count == 0 {
                if !self.generate_fast(dst, limit) {
                    return false;
                }
                continue;
            }
            self.generate(dst, self.sources[0].len, false, net);
            if self.kick && !self.start_fast(limit, net) {
                return false;
            }
        }
    }

    /// A frame of a host without limiters: on the link at once if that is idle, else to the FIFO. False to leave the fast
    /// path.
    #[inline]
    fn generate_fast(&mut self, dst: u32, limit: Key) -> bool {
        self.out.generated += 1;
        let frame = Frame {
            flow: self.id * self.hosts + dst,
            dst,
            seq: self.seq,
            len: self.sources[0].len,
            born: self.now,
            ..Frame::default()
        };
        self.seq = self.seq.wrapping_add(1);
        if self.sending.is_none() && self.fifo.is_empty() && (self.now, order::START, 0) < limit {
            self.made.add(&frame);
            self.transmit(frame);
            return true;
        }
        if self.fifo.len() >= self.fifo_limit {
            self.out.source_discards += 1;
            return true;
        }
        self.made.add(&frame);
        self.fifo.push_back(frame);
        if self.sending.is_none() {
            self.kick = true;
            return false;
        }
        true
    }

    pub(crate) fn next(&self, wires: &Wires) -> Key {
        let mut best = self.next_own();
        if let Some(e) = wires.head(self.inbox) {
            best = best.min((e.ready, arrival_kind(e.frame.kind), 0));
        }
        best
    }

    pub(crate) fn next_own(&self) -> Key {
        let mut best = if self.kick { (self.now, order::START, 0) } else { NO_EVENT };
        if self.end != NEVER {
            best = best.min((self.end, order::END, 0));
        }
        if let Some(&(at, ..)) = self.deferred.front() {
            best = best.min((at, order::CONTROL, DEFERRED));
        }
        let t = self.timers.next();
        if t != NEVER {
            best = best.min((t, order::TIMER, 0));
        }
        for (i, s) in self.sources.iter().enumerate() {
            if s.next != NEVER {
                best = best.min((s.next, order::SLOT, i as u32));
            }
        }
        if self.next_tick != NEVER {
            best = best.min((self.next_tick, order::TICK, 0));
        }
        best
    }

    pub(crate) fn execute(&mut self, (time, kind, index): Key, net: &Net, wires: &mut Wires) {
        self.now = time;
        match kind {
            order::END => self.end(wires),
            order::TIMER => self.timer(net),
            order::SLOT => {
                if let Some(dst) = self.sources[index as usize].slot() {
                    let (len, greedy) =
                        (self.sources[index as usize].len, self.sources[index as usize].greedy);
                    if self.generate(dst, len, greedy, net) {
                        self.sources[index as usize].taken();
                    }
                }
            }
            order::CONTROL if index == DEFERRED => {
                if let Some((_, flow, feedback)) = self.deferred.pop_front() {
                    self.feedback(flow, &feedback, net);
                }
            }
            order::START => {
                self.kick = false;
                self.start(net);
            }
            order::TICK => self.tick(),
            _ => {
                if let Some((entry, body)) = wires.pop(self.inbox) {
                    self.arrive(entry.frame, body, net);
                }
            }
        }
    }

    // ---- sending side ------------------------------------------------------------------------------------------

    /// A source made a frame; false where a greedy source finds no room.
    fn generate(&mut self, dst: u32, len: u16, greedy: bool, net: &Net) -> bool {
        let limiter = self.limiter_of(dst, net);
        // A limiter at line rate holds nothing back: its frames pass like those of an unlimited flow.
        let engaged = limiter.filter(|&l| self.slot(l).is_some_and(LimiterSlot::holds));
        if greedy {
            let full = match (engaged, &self.voqs) {
                (_, Some(v)) => v.queue(dst) >= 2.min(self.fifo_limit),
                (Some(l), _) => self.slot(l).is_some_and(|s| s.queue.len() >= self.limiter_limit),
                (None, _) => self.fifo.len() >= 2.min(self.fifo_limit),
            };
            if full {
                return false;
            }
        }
        self.out.generated += 1;
        let frame = Frame {
            flow: self.id * self.hosts + dst,
            dst,
            seq: self.seq,
            len,
            born: self.now,
            ..Frame::default()
        };
        self.seq = self.seq.wrapping_add(1);
        if let Some(voqs) = &mut self.voqs {
            if voqs.frames >= self.fifo_limit {
                self.out.source_discards += 1;
                return true;
            }
            voqs.push(frame);
            self.made.add(&frame);
            if let Some(l) = limiter {
                self.pacer(l, net);
            }
            self.look();
            return true;
        }
        match engaged {
            Some(l) => {
                let limit = self.limiter_limit;
                let Some(slot) = self.slot_mut(l) else { return true };
                if slot.queue.len() >= limit {
                    self.out.source_discards += 1;
                    return true;
                }
                slot.queue.push_back(frame);
                slot.state.backlog += u64::from(len);
                self.made.add(&frame);
                self.pacer(l, net);
            }
            None if self.fifo.len() >= self.fifo_limit => self.out.source_discards += 1,
            None => {
                self.made.add(&frame);
                self.fifo.push_back(frame);
                self.look();
            }
        }
        true
    }

    /// The transmitter looks for work at this time, if idle.
    fn look(&mut self) {
        if self.sending.is_none() {
            self.kick = true;
        }
    }

    #[inline]
    fn slot(&self, at: usize) -> Option<&LimiterSlot> {
        self.limiters.slots.get(at).and_then(Option::as_ref)
    }
    #[inline]
    fn slot_mut(&mut self, at: usize) -> Option<&mut LimiterSlot> {
        self.limiters.slots.get_mut(at).and_then(Option::as_mut)
    }

    fn key_of(&self, dst: u32) -> u32 {
        if self.scope == Scope::Host { WHOLE_HOST } else { dst }
    }

    /// The limiter of the flow to `dst`, built now if the scheme wants one at the first frame.
    fn limiter_of(&mut self, dst: u32, net: &Net) -> Option<usize> {
        if self.limiters.count == 0 && self.built == Built::OnFeedback {
            return None;
        }
        let found = self.limiters.find(self.key_of(dst));
        if found.is_none() && self.built == Built::FirstFrame { self.build(dst, net) } else { found }
    }

    fn build(&mut self, dst: u32, net: &Net) -> Option<usize> {
        let flow = FlowId(self.id * self.hosts + dst);
        let site = SourceSite {
            flow,
            src: NodeId(self.id),
            dst: NodeId(dst),
            class: Class::Data,
            line_rate: self.link.rate,
            base_rtt: net.base_rtt(self.id, dst),
            mtu: Bytes::new(u64::from(net.mtu)),
            size: None,
        };
        let object = net.schemes[self.scheme?].0.reaction_point(&site)?;
        let key = self.key_of(dst);
        let stream = Stream::new(net.seed, u64::from(flow.0) | 1 << 40, Purpose::Reaction);
        let at = self.limiters.insert(LimiterSlot {
            key,
            object,
            state: LimiterState::new(self.link.rate, site.mtu, stream),
            queue: VecDeque::new(),
            eligible: 0,
            last: (0, 0.0),
            blocked: false,
            was_engaged: false,
        });
        self.call(at, net, |object, limiter| object.start(limiter));
        Some(at)
    }

    /// Calls a reaction point and carries out what it asks for.
    fn call(&mut self, at: usize, net: &Net, call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>)) {
        let now = self.now;
        let mut actions = std::mem::take(&mut self.limiter_actions);
        let waiting = self.voqs.as_ref().and_then(|v| Some(v.bytes(self.slot(at)?.key)));
        let Some(slot) = self.slot_mut(at) else { return };
        if let Some(bytes) = waiting {
            slot.state.backlog = bytes;
        }
        let key = slot.key;
        let engaged_before = slot.state.engaged;
        let rate_before = slot.state.rate;
        let mut limiter = Limiter::new(Time::from_ps(now), &mut slot.state, &mut actions);
        call(slot.object.as_mut(), &mut limiter);
        let new = slot.state.engaged && !engaged_before;
        let first = new && !slot.was_engaged;
        slot.was_engaged |= new;
        let retime = std::mem::take(&mut slot.state.retime);
        if retime {
            slot.eligible = slot.gap_end().max(now);
        }
        let sent = slot.state.sent;
        if slot.state.rate != rate_before {
            self.events
                .add(now ^ u64::from(key) << 40, self.slot(at).map_or(0, |s| s.state.rate.bps().to_bits()));
        }
        self.out.limited_flows += u64::from(first);
        for action in actions.drain(..) {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(key, slot.0, now.saturating_add(after.as_ps()));
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(key, slot.0),
                LimiterAction::Probe(probe) => self.probe(probe, key, sent),
                LimiterAction::Count(i) => {
                    if let Some(c) = self.counters.get_mut(usize::from(i)) {
                        *c += 1;
                    }
                }
                LimiterAction::Fail(cause) => {
                    self.failure.get_or_insert(format!(
                        "reaction point at host {}, {}: {cause}",
                        self.id,
                        Time::from_ps(now)
                    ));
                }
            }
        }
        self.limiter_actions = actions;
        if new && self.position == LimiterPosition::BelowQueue && self.voqs.is_none() {
            self.recall(at, key);
        }
        self.pacer(at, net);
        self.release(at);
    }

    /// Frames of a flow limited just now leave the FIFO for the limiter's queue, in order.
    fn recall(&mut self, at: usize, key: u32) {
        let mine = |f: &Frame| f.kind == Kind::Data && (key == WHOLE_HOST || f.dst == key);
        if !self.fifo.iter().any(mine) {
            return;
        }
        let (moved, kept): (VecDeque<Frame>, VecDeque<Frame>) =
            std::mem::take(&mut self.fifo).into_iter().partition(mine);
        self.fifo = kept;
        if let Some(slot) = self.slot_mut(at) {
            slot.state.backlog += moved.iter().map(|f| u64::from(f.len)).sum::<u64>();
            slot.queue.extend(moved);
        }
    }

    /// Gives a limiter back when its scheme asked for it and nothing waits in it.
    fn release(&mut self, at: usize) {
        let built = self.built;
        let waiting = self.voqs.as_ref().and_then(|v| Some(v.bytes(self.slot(at)?.key))).unwrap_or(0);
        let Some(slot) = self.slot_mut(at) else { return };
        if !slot.state.release || !slot.queue.is_empty() || waiting > 0 {
            return;
        }
        slot.state.release = false;
        slot.state.engaged = false;
        let key = slot.key;
        if built == Built::OnFeedback {
            self.limiters.remove(at);
            self.timers.stop_all(key);
            self.blocked.retain(|&b| b != at);
        }
    }

    fn probe(&mut self, mut probe: Probe, key: u32, sent: u64) {
        let dst = if key == WHOLE_HOST { 0 } else { key };
        let flow = FlowId(self.id * self.hosts + dst);
        probe.sent_at = Time::from_ps(self.now);
        probe.sent_bytes = sent;
        let in_band = probe.class == Class::Data;
        let to = match probe.target {
            ProbeTarget::Point(p) if !in_band => p.0 | TO_POINT,
            _ => dst,
        };
        self.made_control(Bytes::new(64));
        let kind = if in_band { Kind::InBand } else { Kind::Control };
        let ext = self.bodies.put(Body::Probe(flow, probe));
        let frame = Frame { flow: flow.0, dst: to, len: 64, kind, ext, born: self.now, ..Frame::default() };
        if in_band {
            self.probes.push_back(frame);
        } else {
            self.control.push_back(frame);
        }
        self.look();
    }

    fn made_control(&mut self, len: Bytes) {
        self.control_messages += 1;
        self.control_bits += len.get() * 8;
    }

    /// Lets frames of a limiter go that may go; plans the next.
    fn pacer(&mut self, at: usize, net: &Net) {
        let now = self.now;
        let Some(slot) = self.limiters.slots.get_mut(at).and_then(Option::as_mut) else { return };
        let empty = match &self.voqs {
            Some(v) => v.bytes(slot.key) == 0,
            None => slot.queue.is_empty(),
        };
        if empty {
            return;
        }
        if self.position == LimiterPosition::BelowQueue {
            if slot.eligible <= now {
                if self.sending.is_none() {
                    self.kick = true;
                }
            } else if slot.eligible != NEVER {
                self.timers.start(slot.key, PACE, slot.eligible);
            }
            return;
        }
        if slot.eligible > now {
            if slot.eligible != NEVER {
                self.timers.start(slot.key, PACE, slot.eligible);
            }
            return;
        }
        if self.fifo.len() >= self.fifo_limit {
            if !std::mem::replace(&mut slot.blocked, true) {
                self.blocked.push_back(at);
            }
            return;
        }
        let Some(mut frame) = slot.queue.pop_front() else { return };
        slot.state.backlog -= u64::from(frame.len);
        slot.pace(now, frame.len);
        frame.counted = true;
        self.fifo.push_back(frame);
        if self.sending.is_none() {
            self.kick = true;
        }
        self.count(at, frame.len, net);
        self.pacer(at, net);
        self.release(at);
    }

    /// Counts bytes of a limited flow as sent.
    fn count(&mut self, at: usize, len: u16, net: &Net) {
        let Some(slot) = self.slot_mut(at) else { return };
        slot.state.sent += u64::from(len);
        slot.state.countdown -= i64::from(len);
        if slot.state.countdown <= 0 {
            slot.state.countdown = i64::MAX / 2;
            self.call(at, net, |object, limiter| object.on_bytes(limiter));
        }
    }

    fn timer(&mut self, net: &Net) {
        let Some((key, slot)) = self.timers.pop() else { return };
        let Some(at) = self.limiters.find(key) else { return };
        if slot == PACE {
            self.pacer(at, net);
        } else {
            self.call(at, net, |object, limiter| object.on_timer(Slot(slot), limiter));
        }
    }

    /// The transmitter looks for work: control, then data if not in XOFF.
    fn start(&mut self, net: &Net) {
        if self.sending.is_some() {
            return;
        }
        if let Some(frame) = self.control.pop_front() {
            return self.transmit(frame);
        }
        if self.paused_since != NEVER {
            return;
        }
        if let Some(frame) = self.probes.pop_front() {
            return self.transmit(frame);
        }
        let frame = match self.position {
            _ if self.voqs.is_some() => self.pick_queue(net),
            LimiterPosition::BelowQueue if self.limiters.count > 0 => self.pick(net),
            _ => self.take_fifo(net),
        };
        let Some(mut frame) = frame else { return };
        if frame.kind == Kind::Data && (self.limiters.count > 0) {
            self.leave(&mut frame, net);
        }
        self.transmit(frame);
    }

    fn transmit(&mut self, frame: Frame) {
        self.end = self.now + self.link.tx.time(frame.len);
        self.sending = Some(frame);
    }

    /// Head of the FIFO; room for a limiter that waits.
    fn take_fifo(&mut self, net: &Net) -> Option<Frame> {
        let frame = self.fifo.pop_front()?;
        if let Some(at) = self.blocked.pop_front() {
            if let Some(slot) = self.slot_mut(at) {
                slot.blocked = false;
            }
            self.pacer(at, net);
        }
        Some(frame)
    }

    /// Round robin over the FIFO and the limiters whose next frame may go.
    fn pick(&mut self, net: &Net) -> Option<Frame> {
        let n = self.limiters.slots.len() + 1;
        for step in 0..n {
            let i = (self.turn + step) % n;
            if i == 0 {
                if let Some(frame) = self.fifo.pop_front() {
                    self.turn = 1 % n;
                    return Some(frame);
                }
                continue;
            }
            let now = self.now;
            let Some(slot) = self.slot_mut(i - 1) else { continue };
            if slot.queue.is_empty() || slot.eligible > now {
                continue;
            }
            if let Some(frame) = slot.queue.pop_front() {
                slot.state.backlog -= u64::from(frame.len);
                slot.pace(now, frame.len);
                self.turn = (i + 1) % n;
                self.pacer(i - 1, net);
                return Some(frame);
            }
        }
        None
    }

    /// Round robin over the virtual output queues whose limiter lets a frame go; in-band answers first.
    fn pick_queue(&mut self, net: &Net) -> Option<Frame> {
        if let Some(frame) = self.fifo.pop_front() {
            return Some(frame);
        }
        for _ in 0..self.voqs.as_ref().map_or(0, |v| v.active()) {
            let dst = self.voqs.as_mut()?.turn()?;
            let at = self.limiters.find(self.key_of(dst));
            let now = self.now;
            let slot = at.and_then(|at| self.slot_mut(at)).filter(|s| s.state.engaged);
            if slot.as_ref().is_some_and(|s| s.eligible > now) {
                continue;
            }
            let paced = slot.is_some();
            let frame = self.voqs.as_mut()?.pop(dst)?;
            if let (true, Some(at)) = (paced, at) {
                if let Some(slot) = self.slot_mut(at) {
                    slot.pace(now, frame.len);
                }
                self.pacer(at, net);
            }
            return Some(frame);
        }
        None
    }

    /// A data frame goes on the link: its limiter tags and counts it.
    fn leave(&mut self, frame: &mut Frame, net: &Net) {
        let Some(at) = self.limiters.find(self.key_of(frame.dst)) else { return };
        let Some(slot) = self.slot_mut(at) else { return };
        let tag = slot.state.tag;
        if tag != Tag::None
            && (slot.state.tag_probability >= 1.0 || slot.state.stream.chance(slot.state.tag_probability))
        {
            frame.set_tag(tag);
        }
        if !frame.counted {
            self.count(at, frame.len, net);
        }
        self.release(at);
    }

    fn end(&mut self, wires: &mut Wires) {
        self.end = NEVER;
        let Some(frame) = self.sending.take() else { return };
        self.kick = true;
        self.hops += 1;
        let mut body = None;
        if frame.kind == Kind::Data {
            self.out.sent += 1;
        } else {
            self.control_hops += 1;
            body = self.bodies.take(frame.ext);
        }
        wires.push(self.link.peer, Entry { ready: self.now + self.link.delay, frame }, body);
    }

    // ---- receiving side ----------------------------------------------------------------------------------------

    pub(crate) fn arrive(&mut self, frame: Frame, body: Option<Body>, net: &Net) {
        match frame.kind {
            Kind::Xoff | Kind::Xon if self.faults.ignores_pause => {}
            Kind::Xoff | Kind::Xon => self.pause(frame.kind == Kind::Xoff),
            Kind::Data => self.deliver(&frame, net),
            Kind::Control | Kind::InBand => match body {
                Some(Body::Feedback(..)) if self.loses() => self.lost += 1,
                Some(Body::Feedback(flow, feedback)) if self.feedback_delay > 0 => {
                    self.deferred.push_back((self.now + self.feedback_delay, flow, feedback));
                }
                Some(Body::Feedback(flow, feedback)) => self.feedback(flow, &feedback, net),
                Some(Body::Probe(flow, probe)) => self.reflect(flow, None, Some(probe), net),
                None => {}
            },
        }
    }

    /// Is the feedback that arrives now lost?
    fn loses(&mut self) -> bool {
        self.messages += 1;
        self.faults.feedback_lost > 0 && self.messages.is_multiple_of(u64::from(self.faults.feedback_lost))
    }

    fn pause(&mut self, off: bool) {
        self.events.add(self.now, 0x1000 | u64::from(off) << 20);
        if off {
            self.out.pauses += 1;
            if self.paused_since == NEVER {
                self.paused_since = self.now;
            }
        } else if self.paused_since != NEVER {
            self.out.paused += Time::from_ps(self.now - self.paused_since);
            self.paused_since = NEVER;
            self.look();
        }
    }

    /// A data frame has arrived.
    #[inline]
    pub(crate) fn deliver(&mut self, frame: &Frame, net: &Net) {
        self.receive(self.now, frame);
        if self.fires(frame) { self.answer(frame, net) } else { self.unanswered(frame) }
    }

    /// Does the gate of the reflection select this frame?
    fn fires(&mut self, frame: &Frame) -> bool {
        match self.gate {
            ReflectGate::Never => false,
            ReflectGate::Marked => frame.marked,
            ReflectGate::Unmarked(p) => !frame.marked && self.gate_stream.chance(p),
            ReflectGate::Tagged => frame.tag != 0,
            ReflectGate::Always => true,
        }
    }

    /// Wakes the reflector with a data frame.
    fn answer(&mut self, frame: &Frame, net: &Net) {
        let view = FrameView {
            flow: FlowId(frame.flow),
            src: NodeId(frame.flow / self.hosts),
            dst: NodeId(self.id),
            len: Bytes::new(u64::from(frame.len)),
            marked: frame.marked,
            tag: frame.tag(),
            dropped: false,
        };
        self.reflect(FlowId(frame.flow), Some(view), None, net);
    }

    /// Counts a data frame that does not wake its reflector.
    fn unanswered(&mut self, frame: &Frame) {
        if self.reflectors.is_empty() {
            return;
        }
        let key = self.reflector_key(FlowId(frame.flow));
        if let Some(r) = self.reflectors.get_mut(&key) {
            r.state.received += u64::from(frame.len);
        }
    }

    /// Accounts for a received data frame.
    #[inline(always)]
    pub(crate) fn receive(&mut self, now: u64, frame: &Frame) {
        let out = &mut self.out;
        out.delivered += 1;
        out.delivered_bits += u64::from(frame.len) * 8;
        let latency = Time::from_ps(now - frame.born);
        out.latency_sum += latency;
        out.latency_max = out.latency_max.max(latency);
        self.got.add(frame);
        self.frames.add(now, (u64::from(frame.flow) << 32) | u64::from(frame.seq));
        self.last_delivery = now;
        if let Some(n) = self.out.latency.get_mut(latency_bucket(latency)) {
            *n += 1;
        }
        if self.watched {
            self.record(now, frame);
        }
    }

    #[inline(never)]
    fn record(&mut self, now: u64, frame: &Frame) {
        let src = frame.flow / self.hosts;
        let bits = u64::from(frame.len) * 8;
        if let Some(m) = self.matrix.get_mut(src as usize) {
            *m += bits / 8;
        }
        if !self.expected.is_empty() {
            self.complete(now, src, u64::from(frame.len));
        }
        if self.bin == 0 {
            return;
        }
        let bin = (now / self.bin) as usize;
        if let Some(b) = self.bins.as_mut().and_then(|b| b.get_mut(bin)) {
            *b += bits;
        }
        if let Some((_, bins)) = self.flow_bins.iter_mut().find(|f| f.0 == src)
            && let Some(b) = bins.get_mut(bin)
        {
            *b += bits;
        }
    }

    /// Counts bytes of finite transfers.
    fn complete(&mut self, now: u64, src: u32, len: u64) {
        let Some(e) = self.expected.get_mut(&src) else { return };
        e.received += len;
        while let Some(&(at, bytes, start)) = e.list.front() {
            if e.received < at {
                break;
            }
            e.list.pop_front();
            let (start, end) = (Time::from_ps(start), Time::from_ps(now));
            self.out.completions.push(Completion { src: NodeId(src), bytes, start, end });
        }
    }

    fn reflector_key(&self, flow: FlowId) -> u32 {
        if self.reflector_scope == Scope::Host { 0 } else { flow.0 / self.hosts }
    }

    /// Wakes the reflector with a frame or a probe.
    fn reflect(&mut self, flow: FlowId, frame: Option<FrameView>, probe: Option<Probe>, net: &Net) {
        let key = self.reflector_key(flow);
        let now = Time::from_ps(self.now);
        let mut actions = std::mem::take(&mut self.reflector_actions);
        if !self.reflectors.contains_key(&key) {
            let src = NodeId(flow.0 / self.hosts);
            let site = SinkSite { flow, src, dst: NodeId(self.id), line_rate: self.link.rate };
            let made = self.scheme.and_then(|s| net.schemes[s].0.reflector(&site));
            let Some(object) = made else {
                self.reflector_actions = actions;
                return;
            };
            let stream = Stream::new(net.seed, u64::from(key) | u64::from(self.id) << 32, Purpose::Reflector);
            let mut state = ReflectorState { deaf_until: Time::ZERO, received: 0, stream };
            let mut object = object;
            object.start(&mut ReflectorControl::new(now, &mut state, &mut actions));
            self.reflectors.insert(key, ReflectorSlot { object, state });
        }
        if let Some(slot) = self.reflectors.get_mut(&key) {
            if let Some(view) = frame {
                slot.state.received += view.len.get();
                if slot.state.deaf_until <= now {
                    let mut ctl = ReflectorControl::new(now, &mut slot.state, &mut actions);
                    slot.object.on_frame(&view, &mut ctl);
                }
            }
            if let Some(probe) = probe {
                let mut ctl = ReflectorControl::new(now, &mut slot.state, &mut actions);
                slot.object.on_probe(&probe, flow, &mut ctl);
            }
        }
        for action in actions.drain(..) {
            match action {
                ReflectorAction::Reply(feedback) => {
                    self.made_control(feedback.wire_length());
                    let ext = self.bodies.put(Body::Feedback(flow, feedback));
                    let kind = if self.in_band { Kind::InBand } else { Kind::Control };
                    let dst = flow.0 / self.hosts;
                    let frame =
                        Frame { flow: flow.0, dst, len: 64, kind, ext, born: self.now, ..Frame::default() };
                    if self.in_band {
                        self.fifo.push_back(frame);
                    } else {
                        self.control.push_back(frame);
                    }
                    self.look();
                }
                ReflectorAction::Count(i) => {
                    if let Some(c) = self.counters.get_mut(usize::from(i)) {
                        *c += 1;
                    }
                }
                ReflectorAction::Fail(cause) => {
                    self.failure.get_or_insert(format!("reflector at host {}, {now}: {cause}", self.id));
                }
            }
        }
        self.reflector_actions = actions;
    }

    /// Feedback has arrived for a flow of this host (or for all of them).
    fn feedback(&mut self, flow: FlowId, feedback: &Feedback, net: &Net) {
        let Some(scheme) = self.scheme else {
            self.ignored += 1;
            return;
        };
        let dst = if flow.0 == u32::MAX { WHOLE_HOST } else { flow.0 % self.hosts };
        let key = self.key_of(dst);
        let at = match self.limiters.find(key) {
            Some(at) => Some(at),
            None if dst != WHOLE_HOST && net.schemes[scheme].0.engages(feedback) => self.build(dst, net),
            None => None,
        };
        match at {
            Some(at) => {
                self.events.add(self.now, 0x4000 | u64::from(key) << 20);
                self.call(at, net, |object, limiter| object.on_feedback(feedback, limiter));
            }
            None => self.ignored += 1,
        }
    }

    // ---- recording ---------------------------------------------------------------------------------------------

    fn tick(&mut self) {
        self.next_tick = self.now + self.bin;
        self.sample_rates();
    }

    fn sample_rates(&mut self) {
        let line = self.link.rate.bps();
        for i in 0..self.rates.len() {
            let key = self.key_of(self.rates[i].0);
            let rate = self
                .limiters
                .find(key)
                .and_then(|at| self.slot(at))
                .filter(|s| s.state.engaged)
                .map_or(line, |s| s.state.rate.bps());
            self.rates[i].1.push(rate);
        }
    }

    /// Ends the run: closes intervals and gives up what was measured.
    pub(crate) fn finish(&mut self, net: &Net) -> (HostOutcome, Vec<Series>) {
        if self.paused_since != NEVER {
            self.out.paused += Time::from_ps(net.duration.saturating_sub(self.paused_since));
        }
        self.out.incomplete = self.expected.values().map(|e| e.list.len() as u64).sum();
        let bin = net.record.bin;
        let bins = net.duration.checked_div(self.bin).unwrap_or(0) as usize;
        if self.rates.iter().any(|r| r.1.len() < bins) {
            self.sample_rates();
        }
        let host = NodeId(self.id);
        let per_second =
            |bits: Vec<u64>| bits.into_iter().map(|b| b as f64 / bin.as_secs_f64()).collect::<Vec<f64>>();
        let mut series = Vec::new();
        if let Some(b) = self.bins.take() {
            series.push(Series { kind: SeriesKind::Delivered { host }, bin, values: per_second(b) });
        }
        for (src, b) in std::mem::take(&mut self.flow_bins) {
            series.push(Series {
                kind: SeriesKind::Flow { src: NodeId(src), dst: host },
                bin,
                values: per_second(b),
            });
        }
        for (dst, values) in std::mem::take(&mut self.rates) {
            series.push(Series {
                kind: SeriesKind::LimiterRate { src: host, dst: NodeId(dst) },
                bin,
                values,
            });
        }
        (std::mem::take(&mut self.out), series)
    }

    /// Data frames still inside.
    pub(crate) fn inside(&self, ledger: &mut Ledger) {
        let queued = self.limiters.slots.iter().flatten().flat_map(|s| &s.queue);
        let virtual_queues = self.voqs.iter().flat_map(|v| v.iter());
        for f in self
            .fifo
            .iter()
            .chain(queued)
            .chain(virtual_queues)
            .chain(&self.sending)
            .filter(|f| f.kind == Kind::Data)
        {
            ledger.add(f);
        }
    }
}
