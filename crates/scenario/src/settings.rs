//! Typed settings of one case, checked, and the network that they describe.

mod depth;
mod estimate;
mod locked;
mod offered;
mod sent_again;
mod spec;

pub use crate::tables::hotspot::Hotspot;
pub use crate::tables::record::Named;
pub use crate::tables::transport::Answer;
pub(crate) use crate::tables::transport::{QueuePairs, Steered};
pub use depth::Depth;
pub use estimate::Estimate;

use crate::flows::Bins;
use crate::headroom::Loop;
use crate::reader::Reader;
use crate::tables::control::{self, ControlTravels};
use crate::tables::event::{events, losses};
use crate::tables::fault::faults;
use crate::tables::group::bare;
use crate::tables::host::{self, Backlog, Queues};
use crate::tables::hotspot::hotspots;
use crate::tables::pause;
use crate::tables::record::{self, Completed, Ideal, PausedOver, auto_bin, named, receiver};
use crate::tables::run;
use crate::tables::switch::{self, Buffer, SharedBuffer, buffer};
use crate::tables::timing;
use crate::tables::topology::{self, delays, lead};
use crate::tables::transport::may_acknowledge;
use crate::tables::watchdog::watchdog;
use crate::tables::workload::jobs::Jobs;
use crate::tables::workload::{self, SourcePlan};
use crate::text::Flat;
use crate::wiring::Wiring;
use cnsim_fabric::{
    BufferSpec, Completion, ControlTransport, Faults, LimiterPosition, LinkLoss, Organisation, PauseFrames,
    PortFault, RateChange, Reliability, Rounding, Routing, Ties, WatchdogSpec, Ways, Window,
};
use cnsim_problem::Problem;
use cnsim_scheme_api::registry::Configured;
use cnsim_scheme_api::{Gauge, NodeId, Registry};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

/// Everything typed and in range.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts, switches, links.
    pub wiring: Wiring,
    switch_processing: Time,
    host_processing: Time,
    feedback_delay: Time,
    faults: Faults,
    buffer: BufferSpec,
    shared: Option<SharedBuffer>,
    routing: Routing,
    rounding: Rounding,
    ties: Ties,
    /// How far hosts' clocks may be off, parts per million.
    clock_ppm: u64,
    control: ControlTransport,
    fifo: u32,
    limiter_queue: u32,
    limiter_position: LimiterPosition,
    /// Frames of `fifo` that wait ahead of the limiters.
    backlog: u32,
    queues: Queues,
    /// Queue pairs of finite flows, where they have some.
    pairs: Option<QueuePairs>,
    plans: Vec<Vec<SourcePlan>>,
    /// What follows what, and whose that is.
    pub jobs: Jobs,
    /// Hosts that run without the scheme.
    bare: Vec<bool>,
    /// Hotspots; the first host's are those that metrics speak of.
    pub hotspots: Vec<Hotspot>,
    events: Vec<RateChange>,
    /// Links that lose frames.
    losses: Vec<LinkLoss>,
    /// Ports that say XOFF for causes of their own.
    port_faults: Vec<PortFault>,
    /// Watchdogs of switch outputs against storms of PAUSE, where there are some.
    pub watchdog: Option<WatchdogSpec>,
    pause_frames: PauseFrames,
    /// Frames of PAUSE name a class.
    pub pfc: bool,
    /// Host behind the hot port.
    pub receiver: usize,
    /// There is a hot port: a hotspot, a host named, or only one destination.
    pub hot: bool,
    /// Recorded by name.
    pub named: Named,
    latency: bool,
    /// Most XOFFs that are kept.
    pauses: u64,
    /// Ideal completion time of flows.
    pub ideal: Ideal,
    /// Groups of flows by size.
    pub bins: Bins,
    /// Keep each flow's times; none: where they are not many.
    pub flow_times: Option<bool>,
    /// Whose share of the time in XOFF `time_paused` averages.
    pub paused: PausedOver,
    /// Simulated time.
    pub duration: Time,
    /// Width of a bin of the series.
    pub bin: Time,
    /// Rates, fairness and queue statistics are measured from here (and to [`Settings::to`]), where given.
    pub from: Time,
    /// End of the measurement.
    pub to: Time,
    /// Keys that were read. The run depends on them.
    pub(crate) keys: BTreeSet<String>,
}

impl Settings {
    /// Reads and checks all settings; none when something is wrong. `scheme` makes the scheme for the rate of the fastest link of a
    /// host, and for a network that acknowledges frames if a scheme asks for it, or never does.
    pub(crate) fn read<'s>(
        flat: &Flat,
        registry: &Registry,
        problems: &mut Vec<Problem>,
        scheme: impl FnOnce(Option<Rate>, bool, &mut Vec<Problem>) -> Steered<'s>,
    ) -> Option<Self> {
        let before = problems.len();
        let mut r = Reader::new(flat, problems);
        let Some(mut wiring) = topology::read(&mut r) else {
            scheme(None, false, r.problems);
            return None;
        };
        let queues: Queues = r.choice(host::QUEUES);
        let scheme = scheme(fastest(&wiring), may_acknowledge(&mut r, queues), r.problems);
        let (switch_processing, host_processing) = (r.time(switch::PROCESSING), r.time(host::PROCESSING));
        let duration = r.time(run::DURATION);
        let pairs = QueuePairs::read(&mut r, queues, &scheme);
        let (plans, jobs) = workload::read(&mut r, &wiring, pairs.map(|p| p.flows));
        pairs.iter().for_each(|p| p.fit(&mut r, &plans, &wiring));
        pairs.iter().for_each(|p| p.in_time(&mut r, duration));
        delays(&mut r, &mut wiring, &plans, switch_processing * 2 + host_processing);
        for l in &wiring.links {
            let least = l.delay + switch_processing.min(host_processing);
            if least < Time::from_ns(10) {
                let (a, b) = (wiring.name(l.a.0), wiring.name(l.b.0));
                let reason = format!("delay and processing of the link {a} - {b} are together {least}");
                r.wrong(topology::LINK_DELAY, reason, "make them at least 10 ns together");
                break;
            }
        }
        let frame = plans.iter().flatten().map(SourcePlan::frame).max().unwrap_or(Bytes::new(1500));
        let processing = switch_processing.max(host_processing);
        let pause_frames = PauseFrames { length: r.bytes(pause::LENGTH), response: r.time(pause::RESPONSE) };
        let loops: Vec<Loop> = wiring
            .links
            .iter()
            .map(|l| Loop { rate: l.rate, delay: l.delay, processing, frame, pause: pause_frames })
            .collect();
        let shared = (r.choice::<Buffer>(switch::BUFFER) == Buffer::Shared)
            .then(|| SharedBuffer::read(&mut r, (frame, processing, pause_frames), &wiring));
        let buffer = buffer(&mut r, &loops, shared.as_ref(), &wiring);
        let hotspots = hotspots(&mut r, &wiring, duration);
        let (receiver, hot) = receiver(&mut r, &wiring, &hotspots, &plans);
        let named = named(&mut r, &wiring, receiver);
        let events = events(&mut r, &wiring, duration);
        let losses = losses(&mut r, &wiring, duration);
        let port_faults = faults(&mut r, &wiring, buffer.pause, duration);
        let watchdog = watchdog(&mut r, buffer.pause, duration);
        let limiter_position: LimiterPosition = r.choice(host::LIMITER_POSITION);
        if queues == Queues::PerDestination && limiter_position == LimiterPosition::AtSource {
            let reason = "queues per destination are paced in place: a limiter at the source has no effect";
            r.wrong(host::LIMITER_POSITION, reason, "write below-queue, or host.queues = \"fifo\"");
        }
        let fifo = r.integer(host::FIFO) as u32;
        let backlog = match r.choice(host::LIMITER_BACKLOG) {
            Backlog::Ahead if queues != Queues::PerFlow => fifo.saturating_sub(r.integer(host::NIC) as u32),
            Backlog::Ahead | Backlog::Behind => 0,
        };
        if backlog > 0 && queues == Queues::PerDestination {
            let reason = "queues per destination have no FIFO that could stand ahead of the limiters";
            r.wrong(host::LIMITER_BACKLOG, reason, "write behind, or host.queues = \"fifo\"");
        }
        let control = match r.choice(control::TRANSPORT) {
            ControlTravels::Priority => ControlTransport::Priority,
            ControlTravels::InBand => ControlTransport::InBand,
            ControlTravels::Ideal => {
                let least = lead(&wiring, host_processing, switch_processing) * 2;
                let latency = r.time(control::LATENCY);
                if latency < least {
                    let hint = format!("at least {least}, twice the shortest delay of a link");
                    r.wrong(control::LATENCY, format!("{latency} is too short"), hint);
                }
                ControlTransport::Ideal { latency }
            }
        };
        let from = r.time(record::FROM);
        let to = r.time_or(record::TO).unwrap_or(duration);
        if from >= to || to > duration {
            let reason = format!("nothing is measured between {from} and {to} of {duration}");
            let keys = [record::FROM, record::TO, run::DURATION];
            r.clash(&keys, reason, "make record.from < record.to <= run.duration");
        }
        let bin = match r.time_or(record::BIN) {
            Some(bin) => bin.min(duration),
            None => {
                let slow = hotspots.iter().flat_map(Hotspot::windows).map(|w| w.1.saturating_sub(w.0)).min();
                auto_bin(duration, to.saturating_sub(from), slow)
            }
        };
        if from < to && to - from < bin {
            let reason = format!("no bin of {bin} lies between {from} and {to}");
            r.clash(
                &[record::BIN, record::FROM, record::TO],
                reason,
                "use a smaller record.bin, or \"auto\"",
            );
        }
        let clock_ppm = r.integer_or(host::CLOCK).unwrap_or(0);
        let settings = Self {
            switch_processing,
            host_processing,
            feedback_delay: r.time(host::FEEDBACK_DELAY),
            faults: Faults {
                ignores_pause: r.switched(host::IGNORES_PAUSE),
                feedback_lost: r.integer(host::FEEDBACK_LOST) as u32,
            },
            buffer,
            shared,
            routing: topology::routing(&mut r, &wiring, &plans),
            rounding: r.choice(timing::ROUNDING),
            ties: r.choice(timing::TIES),
            clock_ppm,
            control,
            fifo: fifo - backlog,
            limiter_queue: r.integer(host::LIMITER_QUEUE) as u32,
            limiter_position,
            backlog,
            queues,
            pairs,
            bare: bare(&mut r, registry, &wiring),
            plans,
            jobs,
            hotspots,
            events,
            losses,
            port_faults,
            watchdog,
            pause_frames,
            pfc: r.choice::<pause::PauseFrames>(pause::FRAMES) == pause::PauseFrames::Pfc,
            receiver,
            hot,
            named,
            ideal: r.choice(record::IDEAL),
            bins: r.integer_or(record::SIZE_BINS).map_or(Bins::Decades, |n| Bins::Equal(n as usize)),
            flow_times: match r.word(record::FLOW_TIMES).as_str() {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            },
            latency: r.switched(record::LATENCY),
            pauses: match buffer.pause.map(|_| r.word(record::PAUSES)).as_deref() {
                Some("on") => MOST_XOFFS,
                Some("auto") if queues == Queues::PerFlow => MOST_XOFFS / 10,
                _ => 0,
            },
            paused: r.choice(record::PAUSED),
            duration,
            bin,
            from,
            to,
            wiring,
            keys: r.read.take(),
        };
        (problems.len() == before).then_some(settings)
    }

    /// Rate of the fastest link of a host; none without hosts.
    pub fn host_rate(&self) -> Option<Rate> {
        fastest(&self.wiring)
    }

    /// A sentence for each switch whose memory is too small for PAUSE to hold every frame.
    pub fn shortages(&self, built: &Configured) -> Vec<String> {
        // Elsewhere too small a memory has been refused.
        let slow = !self.events.is_empty() || !self.hotspots.is_empty();
        let shared = self.buffer.organisation == Organisation::SharedOutput;
        if self.buffer.pause.is_none() || !(slow || shared || self.shared.is_some()) {
            return Vec::new();
        }
        let tell = |s: cnsim_fabric::Shortage| {
            let node = NodeId((self.hosts() + s.switch) as u32);
            let place = s.port.map_or_else(
                || format!("the shared memory of {}", self.wiring.name(node)),
                |port| {
                    let of = if self.shared.is_some() { "headroom" } else { "memory" };
                    format!("the {of} behind {}", self.wiring.port_name((node, port)))
                },
            );
            let (need, room) = (s.need, s.room);
            let more = need.saturating_sub(room);
            let lower = self.buffer.pause.is_some_and(|p| p.high > more);
            let remedy = match s.port {
                Some(_) if self.shared.is_some() => format!("raise switch.headroom by {more}"),
                Some(_) if lower => format!("enlarge switch.share or lower pause.high by {more}"),
                Some(_) => format!("enlarge switch.share by {more}"),
                None => "enlarge switch.share, or lower pause.high".into(),
            };
            format!(
                "PAUSE may lose frames: {place} can need {need} and has {room}: {remedy} (`cnsim headroom` explains)"
            )
        };
        cnsim_fabric::shortages(&self.spec(built, 1, false)).into_iter().map(tell).collect()
    }

    /// Names of the series that a run has beside those of every run: of queues, flows and limiters that the scenario names, and of
    /// these gauges there.
    pub(crate) fn placed_series(&self, gauges: &[Gauge]) -> Vec<String> {
        let port = |kind: &str, at: &(NodeId, u16)| format!("{kind} {}", self.wiring.port_name(*at));
        let pair = |kind: &str, (a, b): &(NodeId, NodeId)| {
            format!("{kind} {}>{}", self.wiring.name(*a), self.wiring.name(*b))
        };
        let queues = self.named.ports.iter().skip(1).map(|p| port("queue", p));
        let several = self.named.ports.len() > 1;
        let sent = self.named.ports.first().filter(|_| several).map(|p| port("sent", p));
        let flows = self.named.flows.iter().map(|f| pair("flow", f));
        let limiters = self.named.limiters.iter().map(|f| pair("limiter", f));
        let shown = gauges.iter().flat_map(|g| {
            let kind = format!("gauge {}", g.name);
            let ends = self.named.limiters.iter().map(|f| pair(&kind, f));
            let both = ends.flat_map(|name| [format!("{name} at its end"), name]);
            self.named.ports.iter().map(|p| port(&kind, p)).chain(both).collect::<Vec<_>>()
        });
        queues.chain(sent).chain(flows).chain(limiters).chain(shown).collect()
    }

    /// Memory and PAUSE of the switches.
    pub fn buffer(&self) -> BufferSpec {
        self.buffer
    }

    /// Does no host that sends run the scheme?
    pub fn all_bare(&self) -> bool {
        self.plans.iter().zip(&self.bare).all(|(plans, bare)| *bare || plans.is_empty())
    }

    /// Does the seed decide the traffic?
    pub fn is_drawn(&self) -> bool {
        self.jobs.is_drawn() || self.plans.iter().flatten().any(SourcePlan::is_drawn)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.wiring.hosts.len()
    }

    /// The hotspot that metrics speak of.
    pub fn hotspot(&self) -> Option<Hotspot> {
        self.hotspots.first().copied()
    }

    /// Rate that a host's sources offer.
    pub fn offered_by(&self, host: usize) -> Rate {
        let line = self.wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let sum = self.plans[host].iter().map(|p| p.offered(host, line, self.duration).bps()).sum();
        Rate::from_bps(sum)
    }

    /// Rate in bit/s that a host offers to the one behind the hot port, or to all others, between two moments.
    pub fn offered_between(&self, host: usize, to_hot: bool, span: (Time, Time)) -> f64 {
        let line = self.wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let who = (host, self.receiver, self.hosts());
        self.plans[host].iter().map(|p| p.offered_between(line, who, to_hot, span)).sum()
    }

    /// Processing of a host, and of a switch.
    pub fn processing(&self) -> (Time, Time) {
        (self.host_processing, self.switch_processing)
    }

    /// Ports that say XOFF for causes of their own.
    pub fn port_faults(&self) -> &[PortFault] {
        &self.port_faults
    }

    /// Is the last rate that the scenario sets at a switch port zero?
    pub fn ends_shut(&self, at: (NodeId, u16)) -> bool {
        let events = self.events.iter().filter(|e| (e.node, e.port) == at).map(|e| (e.at, e.rate));
        let hot = self.hotspots.iter().filter(|h| self.wiring.feeder(h.host) == at);
        let last = hot.filter_map(|h| Some((*h.windows().last()?, h.rate)));
        let set = events.chain(last.filter(|(w, _)| w.1 >= self.duration).map(|(w, rate)| (w.0, rate)));
        set.max_by_key(|e| e.0).is_some_and(|e| e.1 == Rate::ZERO)
    }

    /// Does a link lose frames?
    pub fn loses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Do finite flows have queue pairs?
    pub fn has_queue_pairs(&self) -> bool {
        self.pairs.is_some()
    }

    /// Length of an acknowledgement; none where flows have no queue pairs.
    pub fn ack_length(&self) -> Option<Bytes> {
        self.pairs.map(|p| p.spec.ack_length)
    }

    /// Bytes of telemetry, or of a time stamp, on each data frame: a part of its header.
    pub fn telemetry(&self) -> Bytes {
        self.pairs.map_or(Bytes::ZERO, |p| p.flows.telemetry)
    }

    /// The window that the scenario gives all queue pairs, in bytes.
    pub fn fixed_window(&self) -> Option<Bytes> {
        match self.pairs?.spec.window {
            Window::Fixed(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Are lost frames of queue pairs sent again, and when? None without queue pairs.
    pub fn reliability(&self) -> Option<Reliability> {
        self.pairs.map(|p| p.spec.reliability)
    }

    /// Are lost frames sent again?
    pub fn sends_again(&self) -> bool {
        self.reliability().is_some_and(|r| r != Reliability::None)
    }

    /// Frames of a flow that one acknowledgement is for, where more than one and no timer sends it earlier or asks for it again.
    pub fn acks_without_timer(&self) -> Option<u32> {
        let spec = self.pairs.map(|p| p.spec)?;
        (spec.reliability == Reliability::None && spec.ack_every > 1).then_some(spec.ack_every)
    }

    /// Choice among equal paths.
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// The moment at which a finite flow that was received whole is complete, as `record.completion` has it; none if it was not.
    pub fn end_of(&self, flow: &Completion) -> Option<Time> {
        match self.pairs.map_or(Completed::Received, |p| p.completed) {
            Completed::Received => Some(flow.end),
            Completed::Acknowledged => flow.acknowledged,
        }
    }

    /// How the last acknowledgement comes back, if it is the end of a flow.
    pub fn last_answer(&self) -> Option<Answer> {
        let pairs = self.pairs.filter(|p| p.completed == Completed::Acknowledged)?;
        Some(match self.control {
            ControlTransport::Ideal { latency } => Answer::Direct(latency),
            _ => Answer::Frame { length: pairs.plain, every: pairs.spec.ack_every.max(1) },
        })
    }

    /// Are the fork's ideal times, and its columns, those of this run?
    pub fn fork_columns(&self) -> bool {
        self.ideal == Ideal::Fork
    }

    /// Moment of the clock of listed transfers at which the run begins.
    pub fn origin(&self) -> Time {
        self.plans.iter().flatten().map(SourcePlan::origin).max().unwrap_or_default()
    }

    /// Are times cut to whole nanoseconds?
    pub fn whole_ns(&self) -> bool {
        self.rounding == Rounding::WholeNs
    }

    /// Are XOFFs kept, with their causes?
    pub fn keeps_pauses(&self) -> bool {
        self.pauses > 0
    }

    /// Is the measurement the whole run?
    pub fn whole(&self) -> bool {
        self.from == Time::ZERO && self.to == self.duration
    }

    /// The sources of a host.
    pub fn plans(&self, host: usize) -> &[SourcePlan] {
        &self.plans[host]
    }

    /// Flows (source, destination) of sources with one destination.
    pub fn fixed_flows(&self) -> Vec<(usize, usize)> {
        let of = |(h, plans): (usize, &Vec<SourcePlan>)| -> Vec<(usize, usize)> {
            plans.iter().filter_map(|p| Some((h, p.only()?))).collect()
        };
        self.plans.iter().enumerate().flat_map(of).collect()
    }

    /// Do all sources send as fast as they may, so that a port not full is a loss?
    pub fn greedy(&self) -> bool {
        let mut all = self.plans.iter().flatten().peekable();
        all.peek().is_some() && all.all(SourcePlan::greedy)
    }

    /// Sum of the loads offered, a greedy host counting fully.
    pub fn offered(&self) -> Rate {
        Rate::from_bps((0..self.hosts()).map(|h| self.offered_by(h).bps()).sum())
    }
}

/// Switches of which any network has fewer different groups of next hops than the fabric can number.
const FEW: usize = 256;

impl Settings {
    /// Why there are no routes, in a network so large that this may be.
    pub(crate) fn unrouted(&self, built: &Configured) -> Option<String> {
        if self.wiring.switches.len() <= FEW {
            return None;
        }
        let idle = Self { plans: vec![Vec::new(); self.hosts()], ..self.clone() };
        Ways::new(&idle.spec(built, 1, false)).err().map(|e| e.to_string())
    }
}

/// Rate of the fastest link of a host.
fn fastest(wiring: &Wiring) -> Option<Rate> {
    let rates = (0..wiring.hosts.len()).filter_map(|h| wiring.access(h)).map(|l| l.rate);
    rates.max_by(|a, b| a.bps().total_cmp(&b.bps()))
}

/// Most XOFFs that are kept of a run; without being asked, a tenth.
const MOST_XOFFS: u64 = 1_000_000;
