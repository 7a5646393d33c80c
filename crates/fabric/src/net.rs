//! The network as the engines see it: ports numbered, links resolved, routes computed. Immutable during a run.

mod links;
mod routes;
mod windows;

pub(crate) use crate::hash::Paths;
pub(crate) use crate::numbers::{FrameNo, NEVER, Ps};

use self::routes::Routes;
use crate::RunError;
use crate::flows::Flows;
use crate::scheme::Managed;
use crate::spec::{
    ClassScheme, ClassSpec, ControlTransport, Draws, Laws, PortEvents, Record, Rounding, RunSpec, SMALLEST,
    TransportSpec,
};
use crate::tx_rate::{Clock, TxRate};
use cnsim_scheme_api::{Acks, FlowId, PointId, Probe, ProbeTarget, Rate};

/// Times of a run are below this (5 hours in ps), so that a frame has bits beside its generation time.
pub(crate) const LONGEST: Ps = Ps(1 << 54);

/// The far end of an output port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Number of the receiving port at the far end.
    pub(crate) peer: u32,
    /// Node at the far end.
    pub(crate) peer_node: u32,
    /// Propagation delay plus processing delay at the far end, ps.
    pub(crate) delay: Ps,
    /// Rate of the link.
    pub(crate) tx: TxRate,
    /// Rate of the link, bit/s.
    pub(crate) rate: Rate,
    /// Whether the link is part of the spanning tree for broadcasts.
    pub(crate) tree: bool,
}

/// How far a node may run ahead of the others.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// Least delay of all links, ps: a node may run that far ahead of its neighbours.
    pub(crate) lead: Ps,
    /// Length of a node's window, ps: twice the lead if nodes take turns, else the lead.
    pub(crate) window: Ps,
    /// Leads in a window while a switch can send only data: in a star whose switch is far from a PAUSE. In other networks, the
    /// leads of an ordinary window.
    pub(crate) longest: u64,
    /// Per node: whether it is in the first of two halves without links inside a half. Empty if there are no such halves.
    pub(crate) halves: Vec<bool>,
}

/// By which nodes send.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    pub(crate) hosts: Vec<Clock>,
    pub(crate) switches: Clock,
    /// Largest excess of the bytes on a link above its rate, as times are rounded down or clocks run fast.
    pub(crate) slack: u64,
}

/// Everything that does not change during a run.
#[derive(Debug, Default)]
pub(crate) struct Net {
    pub(crate) hosts: u32,
    /// First port number of each node, and the total at the end.
    pub(crate) ports: Vec<u32>,
    /// Per port.
    pub(crate) links: Vec<Option<Link>>,
    pub(crate) routes: Routes,
    pub(crate) clocks: Clocks,
    pub(crate) laws: Laws,
    pub(crate) events: PortEvents,
    pub(crate) schemes: Vec<Managed>,
    /// Classes of data, in order of priority: at least one.
    pub(crate) classes: Vec<ClassSpec>,
    /// The finite flows of the run.
    pub(crate) flows: Flows,
    pub(crate) windows: Windows,
    pub(crate) record: Record,
    pub(crate) duration: Ps,
    pub(crate) seed: u64,
    /// Most frames and events of a phase that are kept of a node, as they may happen again; 0 where a run is not put together from phases.
    pub(crate) keeps: usize,
}

impl Net {
    /// Time at which feedback that leaves a node at `now` reaches its host without a frame; none if it travels as a frame.
    #[inline]
    pub(crate) fn direct(&self, now: Ps) -> Option<Ps> {
        match self.laws.control {
            ControlTransport::Ideal { latency } => Some(now.saturating_add(latency.into())),
            ControlTransport::Priority | ControlTransport::InBand => None,
        }
    }
    /// How long a frame of `len` bytes that arrives at a port has been on its way, ps.
    pub(crate) fn under_way(&self, node: u32, port: u16, len: u16) -> Ps {
        let of = |port: u32| self.links.get(port as usize).copied().flatten();
        let far = of(self.ports[node as usize] + u32::from(port)).and_then(|link| of(link.peer));
        far.map_or(Ps(0), |link| link.delay + link.tx.time(len))
    }
    /// Are draws made by place?
    pub(crate) fn keyed(&self) -> bool {
        self.laws.draws == Draws::Keyed
    }
    /// Whole bins of the recording.
    pub(crate) fn bins(&self) -> usize {
        self.duration.0.checked_div(self.record.bin.as_ps()).unwrap_or(0) as usize
    }
    pub(crate) fn build(spec: &RunSpec) -> Result<Self, RunError> {
        let (hosts, classes) = (spec.hosts.len() as u32, links::check(spec).map_err(RunError::Spec)?);
        let (ports, links, lead) = links::all(spec).map_err(RunError::Spec)?;
        let clocks: Vec<Clock> =
            spec.hosts.iter().map(|h| Clock::new(spec.laws.rounding, h.clock_ppm)).collect();
        let (exact, switches) = (Clock::new(Rounding::Exact, 0.0), Clock::new(spec.laws.rounding, 0.0));
        let mut net = Self {
            hosts,
            ports,
            links,
            // A time cut to whole nanoseconds is at least half of it, and no clock runs more than a tenth too fast.
            clocks: Clocks {
                slack: if clocks.iter().chain([&switches]).all(|clock| *clock == exact) { 1 } else { 3 },
                hosts: clocks,
                switches,
            },
            laws: spec.laws,
            events: spec.events.clone(),
            schemes: Managed::all(&spec.schemes)?,
            record: spec.record.clone(),
            duration: spec.duration.into(),
            seed: spec.seed,
            flows: Flows::new(spec),
            classes,
            ..Self::default()
        };
        // The sweep's keys have 44 bits for a time within the window.
        net.windows.lead = if lead == NEVER { Ps(1_000_000) } else { lead.min(Ps(1 << 43)) };
        net.may_acknowledge(spec).map_err(RunError::Spec)?;
        net.routes = Routes::new(&net, spec).map_err(RunError::Spec)?;
        net.span();
        net.windows(spec);
        if let ControlTransport::Ideal { latency } = net.laws.control
            && latency < (2 * net.windows.lead).time()
        {
            let least = (2 * net.windows.lead).time();
            return Err(RunError::Spec(format!(
                "ideal feedback takes {latency}; it must take at least {least}, twice the shortest delay of a link"
            )));
        }
        Ok(net)
    }
    /// The links at the ports of a node.
    pub(crate) fn links_of(&self, node: usize) -> &[Option<Link>] {
        &self.links[self.ports[node] as usize..self.ports[node + 1] as usize]
    }
    /// Source and destination host of a flow.
    pub(crate) fn hosts_of(&self, flow: FlowId) -> (u32, u32) {
        let numbered = self.flows.numbered(flow).map(|flow| (flow.src, flow.dst));
        numbered.unwrap_or((flow.0 / self.hosts, flow.0 % self.hosts))
    }
    /// Rate of a port's link. A port without a link carries nothing, but its scheme has a rate.
    pub(crate) fn rate(&self, port: u32) -> Rate {
        self.links[port as usize].map_or(Rate::from_gbps(10.0), |l| l.rate)
    }
    /// Ports of a node that are on the spanning tree, except one.
    pub(crate) fn tree_ports(&self, node: u32, but: u16) -> impl Iterator<Item = usize> {
        let links = self.links_of(node as usize);
        let on_tree = move |p: &usize| *p != usize::from(but) && links[*p].is_some_and(|l| l.tree);
        (0..links.len()).filter(on_tree)
    }
    /// Switch (index among switches) and port of a congestion point.
    pub(crate) fn point(&self, point: u32) -> Option<(usize, u16)> {
        if point as usize >= self.links.len() * self.classes.len() {
            return None;
        }
        let point = point % self.links.len() as u32;
        let node = self.ports.partition_point(|&p| p <= point).checked_sub(1)?;
        let s = node.checked_sub(self.hosts as usize)?;
        (s < self.routes.level.len()).then(|| (s, (point - self.ports[node]) as u16))
    }
    /// Can a limiter send this probe? `whole`: it serves all flows of its host.
    pub(crate) fn may_probe(&self, whole: bool, probe: &Probe) -> Result<(), String> {
        match probe.target {
            _ if whole => Err("it sends a probe, but its limiter serves all flows of the host, so that there is no path to \
                               probe; `Scope::Pair` has one"
                .into()),
            ProbeTarget::Point(point) if self.point(point.0).is_none() => Err(format!(
                "it sends a probe to congestion point {}, which does not exist: take the `point` of a message",
                point.0
            )),
            _ => Ok(()),
        }
    }
    /// An error if a scheme needs acknowledgements, and the run has none.
    pub(super) fn may_acknowledge(&self, spec: &RunSpec) -> Result<(), String> {
        for (class, own) in self.classes.iter().enumerate() {
            let acknowledged = self.transport_of(class).is_some_and(|transport| transport.ack_every > 0);
            let used = spec.hosts.iter().filter_map(|h| own.scheme(h.scheme));
            let needs = used.map(|s| &self.schemes[s]).find(|s| s.plan.acks != Acks::Optional);
            if let Some(scheme) = needs.filter(|_| !acknowledged) {
                return Err(format!(
                    "scheme `{}` needs acknowledgements, and the run has none: give it a transport with queue pairs",
                    scheme.name()
                ));
            }
        }
        Ok(())
    }
    /// The transport of a class's queue pairs, if they are some.
    pub(crate) fn transport_of(&self, class: usize) -> Option<TransportSpec> {
        self.classes.get(class).and_then(|class| class.transport).or(self.flows.transport)
    }
    /// Bytes of the longest frame that an output may send.
    pub(crate) fn longest_frame(&self) -> u16 {
        let transports = (0..self.classes.len()).filter_map(|class| self.transport_of(class));
        let acks = transports.map(|transport| transport.ack_length.get() as u16).max();
        self.flows.mtu.max(SMALLEST).max(acks.unwrap_or(0))
    }
    /// The class whose limiters are recorded: the first that a scheme manages.
    pub(crate) fn shown_class(&self) -> usize {
        let managed = |class: &ClassSpec| class.scheme != ClassScheme::Nobody;
        self.classes.iter().position(managed).unwrap_or(0)
    }
    /// The congestion point of a class at an output, by the output's number in the network.
    pub(crate) fn point_id(&self, port: u32, class: usize) -> PointId {
        PointId(port + class as u32 * self.links.len() as u32)
    }
}
