//! A host: sources, the FIFO of application queue and NIC, limiters, the transmitter, and the receiving side.
//!
//! Handlers of single events, as in [`crate::fast::switch`].
//!
//! State and order of events are here; the two sides are in `sending` and `receiving`, the fast engine's way in `window`.

mod greedy;
mod paced;
mod receiving;
mod sending;
mod thin;
mod window;

use crate::check::{ControlBooks, Failure, Gauges, Hash, Ledger};
use crate::fast::bodies::Bodies;
use crate::fast::frame::{Frame, Key, NEVER, NO_EVENT, order};
use crate::fast::limiter::Limiters;
use crate::fast::paged::Paged;
use crate::fast::source::Source;
use crate::fast::timers::Timers;
use crate::fast::wires::Wires;
use crate::model::{Deferred, Deliveries, IN_A_FRAME, Offer, Paused, Samples, Transfers, Voqs};
use crate::net::Net;
use crate::outcome::HostOutcome;
use crate::spec::{ControlTransport, Faults, HostQueues, HostSpec, LimiterPosition};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::network::{LimiterAction, Purpose, ReflectorAction, ReflectorState, Stream};
use cnsim_scheme_api::{Built, FlowId, Rate, ReflectGate, Reflector, Scope};
use std::collections::VecDeque;

#[derive(Debug)]
struct ReflectorSlot {
    object: Box<dyn Reflector>,
    state: ReflectorState,
    /// It was built for this flow.
    flow: FlowId,
}

/// What a received frame needs to know of its reflector, mostly.
#[derive(Clone, Copy, Debug, Default)]
struct Ear {
    /// Index of the reflector and one; 0 for none.
    at: u32,
    /// Bytes received since it was woken; its state does not have them yet.
    heard: u64,
    /// Frames before this time do not wake it.
    deaf_until: u64,
    /// It has a gate of its own, other than the plan's.
    own_gate: bool,
}

/// The mechanisms that can currently affect what the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calm {
    /// The source and the link alone.
    Free,
    /// Limiters as well, none of which holds a frame back.
    Limited,
    /// More, or it is not known.
    Not,
}

/// Index of the event of deferred feedback, after an arrival of the same moment.
const DEFERRED: u32 = 1;

/// Does a gate let nothing but marks wake reflectors?
fn only_marks_wake(gate: ReflectGate) -> bool {
    matches!(gate, ReflectGate::Never | ReflectGate::Marked)
}

/// A host. What each window and each frame touches stands first, in three lines of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host {
    /// Number of its receiving port at the worker.
    pub(crate) inbox: u32,
    /// Of the link: receiving port at the far end.
    pub(crate) peer: u32,
    /// The sending side has nothing to do before this time; 0 where that is not known.
    due: u64,
    pub(crate) next_tick: u64,
    calm: Calm,
    /// The last frame met a limiter that holds frames back: most others will.
    holding: bool,
    /// Unmarked data wakes nothing here.
    deaf: bool,
    /// Reflectors want to know how many bytes have been received.
    counts: bool,
    /// Timers of reflectors run.
    alarmed: bool,
    deliveries: Deliveries,
    pub(crate) now: u64,
    /// End of the transmission in progress.
    pub(crate) end: u64,
    /// Of the link: delay and rate.
    delay: u64,
    tx: TxRate,
    pub(crate) id: u32,
    hosts: u32,
    pub(crate) seq: u32,
    pub(crate) kick: bool,
    /// Data frames put on the link.
    sent: u64,
    pub(crate) made: Ledger,
    pub(crate) fifo: VecDeque<Frame>,
    /// The application FIFO ahead of the limiters, and how many frames it may hold: 0 for none.
    ahead: VecDeque<Frame>,
    ahead_limit: usize,
    pub(crate) sources: Vec<Source>,
    /// Finite flows under way.
    transfers: Box<Transfers>,
    fifo_limit: usize,
    /// Frame in transmission; none where it stands on the wire already.
    pub(crate) sending: Option<Frame>,
    paused: Paused,
    rate: Rate,
    limiter_limit: usize,
    position: LimiterPosition,
    /// Virtual output queues, where the host has them instead of the one FIFO.
    voqs: Option<Box<Voqs<Frame>>>,
    /// Feedback that takes effect at its time.
    deferred: Deferred,
    feedback_delay: u64,
    faults: Faults,
    /// Feedback messages that arrived.
    messages: u64,
    pub(crate) control: VecDeque<Frame>,
    /// Probes of the data class: ahead of the FIFO, stopped by PAUSE.
    pub(crate) probes: VecDeque<Frame>,
    /// Of the probes that wait here.
    pub(crate) bodies: Bodies,
    pub(crate) limiters: Limiters,
    /// Round-robin pointer over FIFO (0) and limiters.
    turn: usize,
    /// Limiters that wait for room in the FIFO, in order.
    blocked: VecDeque<usize>,
    pub(crate) timers: Timers,
    pub(crate) built: Built,
    scope: Scope,
    pub(crate) gate: ReflectGate,
    gate_stream: Stream,
    reflectors: Vec<ReflectorSlot>,
    ears: Paged<Ear>,
    /// Timers of reflectors.
    alarms: Timers,
    /// How many of them have a gate of their own.
    own_gates: u32,
    reflector_scope: Scope,
    in_band: bool,
    limiter_actions: Vec<LimiterAction>,
    reflector_actions: Vec<ReflectorAction>,
    pub(crate) books: Box<ControlBooks>,
    pub(crate) out: HostOutcome,
    pub(crate) control_hops: u64,
    pub(crate) events: Hash,
    pub(crate) failure: Failure,
    bin: u64,
    /// Limiter rates recorded: by destination.
    rates: Vec<(u32, Samples)>,
}

impl Host {
    pub(crate) fn new(net: &Net, id: u32, spec: &HostSpec) -> Option<Self> {
        let base = net.ports[id as usize];
        let link = net.links[base as usize]?;
        let plan = spec.scheme.map(|s| net.schemes[s].plan).unwrap_or_default();
        let bin = net.record.bin.as_ps();
        let mine = net.record.rates.iter().filter(|f| f.0.0 == id);
        let rates: Vec<_> = mine.map(|f| (f.1.0, Samples::default())).collect();
        let sources: Vec<Source> =
            spec.sources.iter().enumerate().map(|(i, s)| Source::new(s, (id, i), link.tx, net)).collect();
        Some(Self {
            id,
            inbox: base,
            now: 0,
            peer: link.peer,
            delay: link.delay,
            tx: link.tx,
            rate: link.rate,
            calm: Calm::Not,
            holding: false,
            deaf: only_marks_wake(plan.reflect),
            counts: plan.received,
            own_gates: 0,
            deliveries: Deliveries::new(net, id),
            sent: 0,
            hosts: net.hosts,
            sources,
            transfers: Box::new(Transfers::new(1)),
            fifo: VecDeque::new(),
            ahead: VecDeque::new(),
            ahead_limit: match spec.queues {
                HostQueues::Fifo => spec.backlog_frames as usize,
                HostQueues::PerDestination => 0,
            },
            fifo_limit: spec.fifo_frames as usize,
            limiter_limit: spec.limiter_frames as usize,
            position: match spec.queues {
                HostQueues::Fifo => spec.limiter_position,
                HostQueues::PerDestination => LimiterPosition::BelowQueue,
            },
            voqs: (spec.queues == HostQueues::PerDestination).then(|| Box::new(Voqs::new(net.hosts))),
            deferred: Deferred::default(),
            feedback_delay: spec.feedback_delay.as_ps(),
            faults: spec.faults,
            messages: 0,
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
            paused: Paused::default(),
            seq: 0,
            built: plan.built,
            scope: plan.limiter_scope,
            gate: plan.reflect,
            gate_stream: Stream::new(net.seed, u64::from(id), Purpose::Node),
            reflectors: Vec::new(),
            ears: Paged::default(),
            alarmed: false,
            alarms: Timers::default(),
            reflector_scope: plan.reflector_scope,
            in_band: net.control == ControlTransport::InBand,
            limiter_actions: Vec::new(),
            reflector_actions: Vec::new(),
            books: Box::new(ControlBooks::new(
                net,
                spec.scheme,
                Gauges::of_host(net, id, plan.limiter_scope),
            )),
            out: HostOutcome::default(),
            control_hops: 0,
            events: Hash::default(),
            made: Ledger::default(),
            failure: Failure::default(),
            bin,
            next_tick: if rates.is_empty() || bin == 0 { NEVER } else { bin },
            rates,
        })
    }

    /// Data and control frames put on the link.
    pub(crate) fn hops(&self) -> u64 {
        self.sent + self.control_hops
    }

    pub(crate) fn next_own(&self) -> Key {
        let mut best = if self.kick { (self.now, order::START, 0) } else { NO_EVENT };
        if self.end != NEVER {
            best = best.min((self.end, order::END, 0));
        }
        let deferred = self.deferred.next();
        if deferred != NEVER {
            best = best.min((deferred, order::CONTROL, DEFERRED));
        }
        let t = self.timers.next;
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

    /// The slot of a source: what it offers, or the finite flows that begin.
    fn slot_of(&mut self, index: usize, net: &Net) {
        let source = &mut self.sources[index];
        if source.is_finite() {
            while let Some(flow) = self.sources[index].begin(self.now) {
                self.limiter_of(flow.dst, net);
                self.join(flow, net);
                self.look();
            }
        } else if let Some(Offer { dst, len, .. }) = source.slot() {
            let greedy = !source.drawn;
            self.generate(dst, len, greedy, net);
        }
    }

    pub(crate) fn execute(&mut self, (time, kind, index): Key, net: &Net, wires: &mut Wires) {
        self.now = time;
        match kind {
            order::END => self.end(wires),
            order::TIMER => self.timer(net),
            order::SLOT => self.slot_of(index as usize, net),
            order::CONTROL if index == DEFERRED => {
                if let Some((from, flow, feedback)) = self.deferred.pop() {
                    if from != IN_A_FRAME && self.loses() {
                        self.books.lost += 1;
                    } else {
                        self.feedback(flow, &feedback, net);
                    }
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
