//! Typed settings of one case, checked, and the network that they describe.

mod depth;
mod estimate;
mod fluid;
mod headroom;
mod locked;
mod offered;
mod sent_again;
mod spec;

pub use crate::tables::Settings;
pub use crate::tables::hotspot::Hotspot;
pub use crate::tables::record::Named;
pub use crate::tables::transport::Answer;
pub(crate) use crate::tables::transport::Steered;
pub use depth::Depth;
pub use estimate::Estimate;
pub use headroom::Headroom;

use crate::language::reader::Reader;
use crate::language::text::Flat;
use crate::tables::record::{Completed, Ideal};
use crate::tables::transport::may_acknowledge;
use crate::tables::workload::SourcePlan;
use crate::tables::{host, run, topology};
use crate::wiring::Wiring;
use cnsim_fabric::{
    BufferSpec, Completion, ControlTransport, Organisation, PortFault, Reliability, Rounding, Routing, Ways,
    Window,
};
use cnsim_problem::Problem;
use cnsim_scheme_api::registry::Configured;
use cnsim_scheme_api::{Gauge, NodeId, Registry};
use cnsim_units::{Bytes, Rate, Time};

impl Settings {
    /// Reads and checks all settings; none when something is wrong. `scheme` makes the scheme for the rate of the fastest link of a
    /// host, and for a network that acknowledges frames if a scheme asks for it, or never does.
    pub(crate) fn read(
        flat: &Flat,
        registry: &Registry,
        problems: &mut Vec<Problem>,
        scheme: impl FnOnce(Option<Rate>, bool, &mut Vec<Problem>) -> Steered,
    ) -> Option<Self> {
        let before = problems.len();
        let mut r = Reader::new(flat, registry, problems);
        let Some(wiring) = topology::read(&mut r) else {
            scheme(None, false, r.problems);
            return None;
        };
        let queues = r.choice(host::QUEUES);
        let steered = scheme(fastest(&wiring), may_acknowledge(&mut r, queues), r.problems);
        let duration = r.time(run::DURATION);
        let mut settings = Self { wiring, duration, steered, ..Self::default() };
        settings.read_tables(&mut r);
        settings.keys = r.read.take();
        (problems.len() == before).then_some(settings)
    }

    /// A sentence for each switch whose memory is too small for PAUSE to hold every frame.
    pub fn shortages(&self, built: &Configured) -> Vec<String> {
        // Elsewhere too small a memory has been refused.
        let slow = !self.events.changes.is_empty() || !self.hotspots.is_empty();
        let shared = self.switch.buffer.organisation == Organisation::SharedOutput;
        if self.switch.buffer.pause.is_none() || !(slow || shared || self.switch.shared.is_some()) {
            return Vec::new();
        }
        let tell = |s: cnsim_fabric::Shortage| {
            let node = NodeId((self.hosts() + s.switch) as u32);
            let place = s.port.map_or_else(
                || match self.switch.shared {
                    Some(_) => format!("the pool of headroom of {}", self.wiring.name(node)),
                    None => format!("the shared memory of {}", self.wiring.name(node)),
                },
                |port| {
                    let of = if self.switch.shared.is_some() { "headroom" } else { "memory" };
                    format!("the {of} behind {}", self.wiring.port_name((node, port)))
                },
            );
            let (need, room) = (s.need, s.room);
            let more = need.saturating_sub(room);
            let lower = self.switch.buffer.pause.is_some_and(|p| p.high > more);
            let remedy = match s.port {
                Some(_) if self.switch.shared.is_some() => format!("raise switch.headroom by {more}"),
                Some(_) if lower => format!("enlarge switch.share or lower pause.high by {more}"),
                Some(_) => format!("enlarge switch.share by {more}"),
                None if self.switch.shared.is_some() => format!("raise switch.headroom_pool by {more}"),
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
        let queue = |(i, p)| if i == 0 { "hot_queue".to_string() } else { port("queue", p) };
        let queues = self.record.named.ports.iter().enumerate().map(queue);
        let names = self.classes.list.iter().filter(|_| self.classes.list.len() > 1);
        let queues = queues.enumerate().flat_map(move |(i, queue)| {
            let own: Vec<String> =
                names.clone().map(|class| format!("{queue}, class {}", class.name)).collect();
            own.into_iter().chain((i > 0).then_some(queue))
        });
        let several = self.record.named.ports.len() > 1;
        let sent = self.record.named.ports.first().filter(|_| several).map(|p| port("sent", p));
        let flows = self.record.named.flows.iter().map(|f| pair("flow", f));
        let limiters = self.record.named.limiters.iter().map(|f| pair("limiter", f));
        let shown = gauges.iter().flat_map(|g| {
            let kind = format!("gauge {}", g.name);
            let ends = self.record.named.limiters.iter().map(|f| pair(&kind, f));
            let both = ends.flat_map(|name| [format!("{name} at its end"), name]);
            self.record.named.ports.iter().map(|p| port(&kind, p)).chain(both).collect::<Vec<_>>()
        });
        let of_events = |f| ["rate", "window", "in_flight", "rtt", "marks"].map(|kind| pair(kind, f));
        let events = self.record.named.events.iter().flat_map(of_events);
        queues.chain(sent).chain(flows).chain(limiters).chain(shown).chain(events).collect()
    }

    /// Memory and PAUSE of the switches.
    pub fn buffer(&self) -> BufferSpec {
        self.switch.buffer
    }

    /// Does no host that sends run the scheme?
    pub fn all_bare(&self) -> bool {
        self.traffic.plans.iter().zip(&self.bare.0).all(|(plans, bare)| *bare || plans.is_empty())
    }

    /// Does the seed decide the traffic?
    pub fn is_drawn(&self) -> bool {
        self.traffic.jobs.is_drawn() || self.traffic.plans.iter().flatten().any(SourcePlan::is_drawn)
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
        let sum = self.traffic.plans[host].iter().map(|p| p.offered(host, line, self.duration).bps()).sum();
        Rate::from_bps(sum)
    }

    /// Rate in bit/s that a host offers to the one behind the hot port, or to all others, between two moments.
    pub fn offered_between(&self, host: usize, to_hot: bool, span: (Time, Time)) -> f64 {
        let line = self.wiring.access(host).map_or(Rate::ZERO, |l| l.rate);
        let who = (host, self.record.receiver, self.hosts());
        self.traffic.plans[host].iter().map(|p| p.offered_between(line, who, to_hot, span)).sum()
    }

    /// Processing of a host, and of a switch.
    pub fn processing(&self) -> (Time, Time) {
        (self.host.processing, self.switch.processing)
    }

    /// Ports that say XOFF for causes of their own.
    pub fn port_faults(&self) -> &[PortFault] {
        &self.faults
    }

    /// Is the last rate that the scenario sets at a switch port zero?
    pub fn ends_shut(&self, at: (NodeId, u16)) -> bool {
        let events = self.events.changes.iter().filter(|e| (e.node, e.port) == at).map(|e| (e.at, e.rate));
        let hot = self.hotspots.iter().filter(|h| self.wiring.feeder(h.host) == at);
        let last = hot.filter_map(|h| Some((*h.windows().last()?, h.rate)));
        let set = events.chain(last.filter(|(w, _)| w.1 >= self.duration).map(|(w, rate)| (w.0, rate)));
        set.max_by_key(|e| e.0).is_some_and(|e| e.1 == Rate::ZERO)
    }

    /// Does a link lose frames?
    pub fn loses(&self) -> bool {
        !self.events.losses.is_empty()
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

    /// Are lost frames of a class sent again? A run without `[[class]]` has class 0 alone.
    pub fn sends_again(&self, class: usize) -> bool {
        let pairs = self.classes.pairs(class).or(self.pairs);
        pairs.is_some_and(|p| p.spec.reliability != Reliability::None)
    }

    /// Frames of a flow that one acknowledgement is for, where more than one and no timer sends it earlier or asks for it again.
    pub fn acks_without_timer(&self) -> Option<u32> {
        let spec = self.pairs.map(|p| p.spec)?;
        (spec.reliability == Reliability::None && spec.ack_every > 1).then_some(spec.ack_every)
    }

    /// Choice among equal paths.
    pub fn routing(&self) -> Routing {
        self.topology.routing
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
        self.record.ideal == Ideal::Fork
    }

    /// Moment of the clock of listed transfers at which the run begins.
    pub fn origin(&self) -> Time {
        self.traffic.plans.iter().flatten().map(|p| p.origin).max().unwrap_or_default()
    }

    /// Are times cut to whole nanoseconds?
    pub fn whole_ns(&self) -> bool {
        self.timing.rounding == Rounding::WholeNs
    }

    /// Are XOFFs kept, with their causes?
    pub fn keeps_pauses(&self) -> bool {
        self.record.pauses > 0
    }

    /// Is the measurement the whole run?
    pub fn whole(&self) -> bool {
        self.record.from == Time::ZERO && self.record.to == self.duration
    }

    /// The sources of a host.
    pub fn plans(&self, host: usize) -> &[SourcePlan] {
        &self.traffic.plans[host]
    }

    /// Flows (source, destination) of sources with one destination.
    pub fn fixed_flows(&self) -> Vec<(usize, usize)> {
        let of = |(h, plans): (usize, &Vec<SourcePlan>)| -> Vec<(usize, usize)> {
            plans.iter().filter_map(|p| Some((h, p.only()?))).collect()
        };
        self.traffic.plans.iter().enumerate().flat_map(of).collect()
    }

    /// Do all sources send as fast as they may, so that a port not full is a loss?
    pub fn greedy(&self) -> bool {
        let mut all = self.traffic.plans.iter().flatten().peekable();
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
        let mut idle = self.clone();
        idle.traffic.plans = vec![Vec::new(); self.hosts()];
        Ways::new(&idle.spec(built, 1, false)).err().map(|e| e.to_string())
    }
}

/// Rate of the fastest link of a host.
fn fastest(wiring: &Wiring) -> Option<Rate> {
    let rates = (0..wiring.hosts.len()).filter_map(|h| wiring.access(h)).map(|l| l.rate);
    rates.max_by(|a, b| a.bps().total_cmp(&b.bps()))
}
