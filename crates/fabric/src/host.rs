//! A host: sources, the FIFO of application queue and NIC, limiters, the transmitter, and the receiving side.
//!
//! Handlers of single events, as in [`crate::switch`].
//!
//! State, order of events and the fast path are here; the two sides are in `sending` and `receiving`.

mod receiving;
mod sending;
mod thin;

use crate::bodies::{Bodies, Body};
use crate::frame::{Entry, Frame, Hash, Key, Kind, NEVER, NO_EVENT, TO_POINT, Wires, arrival_kind, order};
use crate::limiter::{LimiterSlot, Limiters, PACE, WHOLE_HOST};
use crate::net::{Link, Net};
use crate::outcome::{Completion, HostOutcome, LATENCY_BUCKETS, Series, SeriesKind, latency_bucket};
use crate::per_bin::PerBin;
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
    /// Of the control frames that wait here.
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
    /// It stands on its wire already (`thin`).
    launched: bool,
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
    pub(crate) control_at: PerBin,
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
            launched: false,
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
            control_at: PerBin::new(net.control_bin(), net.duration),
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
            let Some(entry) = wires.pop(self.inbox) else { break };
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
                self.arrive(entry.frame, net, wires);
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
            && self.next_tick > limit.0;
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

    /// No XOFF, no start pending, no feedback deferred. Control and probes that wait, wait for the transmitter.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.deferred.is_empty() && self.paused_since == NEVER && !self.kick
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
                if self.fifo.is_empty()
                    && self.limiters.count == 0
                    && self.control.is_empty()
                    && self.probes.is_empty()
                {
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
            if self.limiters.count == 0 && self.built == Built::OnFeedback {
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
                if let Some(entry) = wires.pop(self.inbox) {
                    self.arrive(entry.frame, net, wires);
                }
            }
        }
    }
}
