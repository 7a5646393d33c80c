//! The specification of a run: plain data, already checked by its builder (crate `scenario`, from a scenario file).
//!
//! Nodes are numbered hosts first, then switches: host `h` is `NodeId(h)`, switch `s` is `NodeId(hosts + s)`.

mod class;
mod events;
mod graph;
mod shared;
mod transport;
mod watchdog;

pub use class::{ClassScheme, ClassSpec, MOST_CLASSES, Turn};
pub use events::{
    FaultKind, Faults, LinkLoss, LossKind, LostFrame, PauseFrames, PortEvents, PortFault, RateChange,
};
pub use graph::{Act, After, Graph, Lasted, Operation, Transfer};
pub use shared::{SharedInput, SharedSpec};
pub use transport::{Recovery, Reliability, SelectiveSpec, TcpSpec, TransportSpec, Window};
pub use watchdog::{WatchdogAction, WatchdogRule, WatchdogSpec};

use cnsim_scheme_api::{Bytes, NodeId, Rate, Scheme, Time};
use std::sync::Arc;

/// One run: network, traffic, schemes, events, recording.
#[derive(Clone, Debug, Default)]
pub struct RunSpec {
    /// Hosts, in order; each has port 0 only.
    pub hosts: Vec<HostSpec>,
    /// Switches, in order.
    pub switches: Vec<SwitchSpec>,
    /// Full-duplex links.
    pub links: Vec<LinkSpec>,
    /// Classes of data, in order of priority; empty: one class, under the PAUSE of each switch.
    pub classes: Vec<ClassSpec>,
    /// Path choice where several shortest paths exist.
    pub routing: Routing,
    /// Schemes in this run; hosts and switches refer to them by index.
    pub schemes: Vec<Arc<dyn Scheme>>,
    /// What holds at every port.
    pub laws: Laws,
    /// Queue pairs: each finite flow has one, with acknowledgements or without. None: frames of a pair of hosts share a limiter,
    /// and nothing is acknowledged. A run with queue pairs has finite flows only.
    pub transport: Option<TransportSpec>,
    /// Which transfers follow others, and what hosts compute in between. Needs queue pairs.
    pub graph: Option<Arc<Graph>>,
    /// What changes or fails at single ports.
    pub events: PortEvents,
    /// Simulated time.
    pub duration: Time,
    /// Seed of every random stream.
    pub seed: u64,
    /// Quantities that are recorded over time.
    pub record: Record,
}

/// What holds at every port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Laws {
    /// How feedback messages travel.
    pub control: ControlTransport,
    /// Rounding of transmission times and of the gaps of limiters.
    pub rounding: Rounding,
    /// Order of the data frames that reach a switch at the same time.
    pub ties: Ties,
    /// PAUSE frames, and what obeying them takes.
    pub pause_frames: PauseFrames,
    /// Watchdogs of the switches' outputs.
    pub watchdog: Option<WatchdogSpec>,
    /// How the network's random numbers are drawn.
    pub draws: Draws,
}

impl RunSpec {
    /// Pairs of hosts that send to each other, of which each host stands for all that it may send to: by a path they must be joined.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let to = |source: &SourceSpec| -> Vec<usize> {
            match (&source.arrivals, &source.destinations) {
                (Arrivals::Transfers, _) => source.transfers.iter().map(|t| t.dst.0 as usize).collect(),
                (_, Destinations::Uniform) => (0..self.hosts.len()).collect(),
                (_, Destinations::Fixed(to)) => vec![to.0 as usize],
                (_, Destinations::Among(to)) => to.iter().map(|to| to.0 as usize).collect(),
            }
        };
        (self.hosts.iter().enumerate())
            .flat_map(move |(from, h)| h.sources.iter().flat_map(to).map(move |to| (from, to)))
            .filter(|(_, to)| *to < self.hosts.len())
    }
    /// A node, if it is a switch.
    pub(crate) fn switch(&self, node: NodeId) -> Option<&SwitchSpec> {
        self.switches.get((node.0 as usize).checked_sub(self.hosts.len())?)
    }
    /// Processing delay of a node.
    pub(crate) fn processing(&self, node: NodeId) -> Time {
        let host = self.hosts.get(node.0 as usize).map(|h| h.processing);
        host.or_else(|| Some(self.switch(node)?.processing)).unwrap_or_default()
    }
    /// Name of a node.
    pub(crate) fn name(&self, node: u32) -> &str {
        let host = self.hosts.get(node as usize).map(|h| &h.name);
        host.or_else(|| Some(&self.switch(NodeId(node))?.name)).map_or("", String::as_str)
    }
}

/// A host: sources, application queue, NIC.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Name of the host in scenario and results.
    pub name: String,
    /// Processing delay on reception.
    pub processing: Time,
    /// Sources of frames.
    pub sources: Vec<SourceSpec>,
    /// Most frames in the host's FIFO (application queue and NIC buffer together); further frames are dropped at the source.
    pub fifo_frames: u32,
    /// Most frames in a limiter's queue; further frames of the flow are discarded at the source.
    pub limiter_frames: u32,
    /// Where a frame meets its limiter.
    pub limiter_position: LimiterPosition,
    /// Most frames in an application FIFO ahead of the limiters; none: a new frame enters its limiter or the FIFO at once.
    /// An unlimited head goes on when the FIFO has room. A limited head enters its limiter's queue, or is discarded if that is
    /// full, so that a limited flow blocks no other. Hosts with one FIFO only.
    pub backlog_frames: u32,
    /// One FIFO, or a virtual output queue per destination.
    pub queues: HostQueues,
    /// Time from the arrival of a feedback message to its effect at the reaction point.
    pub feedback_delay: Time,
    /// Faults of this host.
    pub faults: Faults,
    /// Error of the host's clock, in parts per million; positive: too fast. A fast clock shortens transmission times, slots and the
    /// gaps of limiters. Less than 100,000 either way.
    pub clock_ppm: f64,
    /// Index into [`RunSpec::schemes`]; none: feedback is delivered, counted and ignored.
    pub scheme: Option<usize>,
}

/// Rounding of times on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rounding {
    /// Times are rounded to the nearest picosecond.
    #[default]
    Exact,
    /// Times are rounded down to the whole nanoseconds below them, as ns-3 does: a link is slightly too fast. 30 ns become 29.
    WholeNs,
}

/// How random numbers are drawn: paths of flows with queue pairs, marks of ramps, what objects of single flows draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Draws {
    /// Ports, hosts and flows have streams, and each flow of a pair of hosts has a path of its own.
    #[default]
    Stream,
    /// A draw depends on seed, port, pair of hosts and number of the frame in its flow: all flows of a pair draw alike, whenever they
    /// are, and share a path. So what begins from rest again goes as before ([`crate::Reuse`]).
    Keyed,
}

/// The order in which a switch takes data frames that reach it by several ports at the same time. It decides which frame is stored
/// if there is memory for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ties {
    /// The lowest port is first. If senders with equal periods fill a port, the sender at the lowest port loses nothing.
    #[default]
    ByPort,
    /// The order is drawn from the run's seed, anew for each switch and time: all ports have the same chance.
    Drawn,
    /// The frame whose transmission began first is first, and the lowest port of those alike: the order of simulators whose events of one
    /// moment happen in the order in which they were planned, as ns-3's.
    ByStart,
}

/// Where frames meet their limiter, `host.limiter_position` (assumption A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LimiterPosition {
    /// A generated frame enters its flow's limiter queue. When the limiter releases it, it joins the tail of the host's FIFO. A finite
    /// flow waits for the link beside that FIFO.
    AtSource,
    /// Frames meet the limiter when they leave for the link: limiter queues and the FIFO share the link round robin.
    #[default]
    BelowQueue,
}

/// Organisation of a host's queues. A finite flow always has its own queue. Flows and queued frames share the link in turn, and so
/// do the flows among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HostQueues {
    /// One FIFO, and a queue for each engaged limiter.
    #[default]
    Fifo,
    /// A virtual output queue per destination, served round robin. A limiter paces its queue in place, so no frame moves
    /// when it is engaged or released (Z07). `fifo_frames` bounds all queues together. Limiters are always below the queue.
    PerDestination,
}

/// Length of a control frame and of a PAUSE, bytes.
pub(crate) const SMALLEST: u16 = Bytes::SMALLEST_FRAME.get() as u16;

/// Length of a frame that carries so many bytes: no shorter than the floor.
pub(crate) fn padded(bytes: u64, floor: u64) -> u64 {
    bytes.max(floor)
}

/// A source of frames at a host.
#[derive(Clone, Debug)]
pub struct SourceSpec {
    /// Arrival process of the source.
    pub arrivals: Arrivals,
    /// Destinations of the frames.
    pub destinations: Destinations,
    /// Length of the source's frames.
    pub frame: Bytes,
    /// A shorter last frame of a finite flow is padded to this length, 0 to 64 B.
    pub floor: Bytes,
    /// The source makes no frame before this time.
    pub start: Time,
    /// The source makes no frame at or after this time.
    pub stop: Time,
    /// Phase of the slots.
    pub phase: Phase,
    /// The transfers of [`Arrivals::Transfers`], by start; `destinations` is then not used.
    pub transfers: Vec<Transfer>,
    /// Its transfers to one destination are messages on one connection, in the order in which they begin: they share a queue pair, with
    /// its window and its round trip. Not with [`Reliability::None`] and [`Reliability::GoBackN`].
    pub connected: bool,
    /// Class of its frames: an index into [`RunSpec::classes`].
    pub class: u8,
    /// The rate at which its queue pairs begin, for schemes that take one ([`cnsim_scheme_api::SourceSite::initial_rate`]).
    pub initial_rate: Option<Rate>,
}

/// Arrival process of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// One draw per frame time of the access link: a frame with probability `load`.
    Bernoulli {
        /// Share of the link's rate, 0 to 1.
        load: f64,
    },
    /// Back to back: a frame is there whenever one can be sent.
    Greedy,
    /// From `start` on, back to back during `on`, silent during `off`.
    OnOff {
        /// Length of a period of sending.
        on: Time,
        /// Length of a period of silence.
        off: Time,
        /// Place in the period at the start; `on` starts with the silence.
        shift: Time,
    },
    /// In every idle slot a burst to one destination begins, with the probability that gives `load`. Its frames follow back to back.
    Bursts {
        /// Share of the link's rate, 0 to 1.
        load: f64,
        /// Number of frames in a burst.
        frames: u32,
    },
    /// Finite transfers, each back to back from its start; those under way share the host frame by frame.
    Transfers,
}

/// Destinations of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// Each frame goes to one of all other hosts, all equally likely.
    Uniform,
    /// All frames go to this host.
    Fixed(NodeId),
    /// Each frame goes to one of these hosts, all equally likely.
    Among(Vec<NodeId>),
}

/// Phase of a source's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Each host draws its own phase; finite transfers begin at the times of their lists.
    #[default]
    Random,
    /// All hosts have the same phase: for exact queueing tests.
    Aligned,
}

/// A switch: its ports, its memory and its scheme.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// Name of the switch in scenario and results.
    pub name: String,
    /// Ports, with or without a link.
    pub ports: u16,
    /// Processing delay on reception, and of a feedback message made at the switch.
    pub processing: Time,
    /// How the switch's memory is divided, and its PAUSE.
    pub buffer: BufferSpec,
    /// A shared buffer, in place of the partitions and watermarks of `buffer`, which is organised by input.
    pub shared: Option<SharedSpec>,
    /// Index into [`RunSpec::schemes`].
    pub scheme: Option<usize>,
}

/// Organisation of a switch's memory (`schemes.md` 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organisation {
    /// Every output buffer is partitioned by input port: `share` for each (output, input) pair.
    Crosspoint,
    /// Each input port has `share`, for frames to all outputs.
    Input,
    /// Each output port has a nominal `share`; frames are dropped only when the pool of ports x `share` is full.
    SharedOutput,
}

/// Buffer of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferSpec {
    /// How the memory is divided among inputs and outputs.
    pub organisation: Organisation,
    /// Size of one partition.
    pub share: Bytes,
    /// Largest number of bytes queued for one output; none = unlimited.
    pub output_limit: Option<Bytes>,
    /// PAUSE of the switch; none if it sends no PAUSE.
    pub pause: Option<PauseSpec>,
}

/// 802.3x PAUSE of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PauseSpec {
    /// XOFF is sent when a partition's occupancy exceeds this.
    pub high: Bytes,
    /// XON is sent when all partitions concerned are at or below this.
    pub low: Bytes,
    /// One flag for the whole switch, XOFF on all ports.
    pub global: bool,
    /// With [`Organisation::SharedOutput`]: watermarks apply to the pool, not to one output's share.
    pub pool: bool,
    /// How PAUSE frames travel.
    pub transport: PauseTransport,
}

/// Where a frame counts, and which inputs are in XOFF together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    /// The cell of a frame is `output * step.0 + input * step.1`: each output, and each input, has its own if that step is not 0.
    pub(crate) step: (usize, usize),
    pub(crate) cells: usize,
    /// One more than the ports: it stands for the switch's own messages.
    pub(crate) inputs: usize,
    /// Domains of PAUSE: one for each input, or one for all.
    pub(crate) domains: usize,
}

impl Layout {
    /// The layout of a switch.
    pub(crate) fn new(&SwitchSpec { ports, buffer: spec, .. }: &SwitchSpec) -> Self {
        let ports = usize::from(ports);
        let inputs = ports + 1;
        let shared = spec.organisation == Organisation::SharedOutput;
        let one_cell = shared && spec.pause.is_some_and(|p| p.pool);
        let (step, cells) = match spec.organisation {
            Organisation::Crosspoint => ((inputs, 1), ports * inputs),
            Organisation::Input => ((0, 1), inputs),
            Organisation::SharedOutput if one_cell => ((0, 0), 1),
            Organisation::SharedOutput => ((1, 0), ports),
        };
        let one_domain = shared || spec.pause.is_some_and(|p| p.global);
        Self { step, cells, inputs, domains: if one_domain { 1 } else { inputs } }
    }
    /// The cell of a frame.
    #[inline]
    pub(crate) fn cell(&self, output: usize, input: usize) -> usize {
        self.cell_of(self.row(output), input)
    }
    /// The first cell of an output.
    #[inline]
    pub(crate) fn row(&self, output: usize) -> usize {
        output * self.step.0
    }
    /// The cell of an input in the row of an output.
    #[inline]
    pub(crate) fn cell_of(&self, row: usize, input: usize) -> usize {
        row + input * self.step.1
    }
    /// The domain of an input.
    #[inline]
    pub(crate) fn domain(&self, input: usize) -> usize {
        if self.domains == 1 { 0 } else { input }
    }
}

/// Most bytes that each may hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) cell: u64,
    pub(crate) pool: u64,
    pub(crate) output: u64,
}

impl Limits {
    /// Limits of a switch.
    pub(crate) fn new(&SwitchSpec { ports, buffer: spec, .. }: &SwitchSpec) -> Self {
        let share = spec.share.get();
        let shared = spec.organisation == Organisation::SharedOutput;
        Self {
            cell: if shared { u64::MAX } else { share },
            pool: if shared { share.saturating_mul(ports.into()) } else { u64::MAX },
            output: spec.output_limit.map_or(u64::MAX, |l| l.get()),
        }
    }
}

/// How a PAUSE frame reaches the other end, `pause.transport` (assumption A10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PauseTransport {
    /// PAUSE is a 64 B frame of the highest class: it waits for the frame in transmission and occupies the link.
    #[default]
    Frame,
    /// PAUSE takes effect after the link delay plus processing, and takes no link capacity.
    Wire,
}

/// How feedback travels, `control.transport` (assumption A11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ControlTransport {
    /// Feedback travels in 64 B frames at strict priority over data, not stopped by PAUSE.
    #[default]
    Priority,
    /// Feedback travels in 64 B frames in the data class: FIFO with data, stopped by PAUSE (C07).
    InBand,
    /// Feedback reaches its host after a fixed time, and takes no link capacity; it is counted when it is made. Probes travel as
    /// with [`ControlTransport::Priority`]. The time is at least twice the shortest delay of a link, processing included.
    Ideal {
        /// Time from the node that makes the feedback to the host.
        latency: Time,
    },
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpec {
    /// One end of the link: node and port.
    pub a: (NodeId, u16),
    /// Second end of the link: node and port.
    pub b: (NodeId, u16),
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay from a to b and from b to a.
    pub delay: Time,
}

/// Choice among equal shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Routing {
    /// The path follows a hash of the flow, salted at each switch by the run's seed.
    #[default]
    FlowHash,
    /// The path follows a hash of the flow that is the same at every switch. All flows from one switch to a neighbour leave that
    /// neighbour by the same port, so a fat tree uses few of its cores.
    PolarisedHash,
    /// The path follows the hash of HPCC's fork of ns-3: MurmurHash3 of addresses and ports, seeded by the switch's number. Addresses
    /// follow from the numbers in the nodes' names, ports from the finite flows of a pair, as in the fork. Equal next hops have falling
    /// order of their numbers. Finite flows only.
    ForkHash,
    /// The path follows a hash of flow and frame number, anew for each frame.
    FrameHash,
    /// Paths are used in turn, for each switch and destination.
    RoundRobin,
    /// The path is the destination modulo the number of choices (d-mod-k on a k-ary tree).
    Destination,
    /// From each switch to the one of the next number, and from the last to the first: around a ring in one sense, the long way, too.
    Clockwise,
}

impl Routing {
    /// May each frame of a flow go by a way of its own?
    pub(crate) fn is_by_frame(self) -> bool {
        matches!(self, Self::FrameHash | Self::RoundRobin)
    }
}

/// Quantities that are recorded over time.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Width of a bin; zero records nothing.
    pub bin: Time,
    /// Output queues whose length is sampled at each bin's end.
    pub queues: Vec<(NodeId, u16)>,
    /// Hosts whose delivered rate is recorded per bin.
    pub delivered: Vec<NodeId>,
    /// Flows (source, destination) whose limiter rate is sampled at each bin's end.
    pub rates: Vec<(NodeId, NodeId)>,
    /// Flows (source, destination) whose delivered rate is recorded per bin.
    pub flows: Vec<(NodeId, NodeId)>,
    /// Bytes of each frame of a host's finite flows that are no payload, by host: what is delivered in a bin leaves them
    /// out. Empty: of no host.
    pub headers: Vec<u32>,
    /// Whether the rate of control messages made is recorded per bin.
    pub control: bool,
    /// Whether it is recorded per bin what hosts put on their links, and what links lose ([`crate::LostOnLink`]).
    pub links: bool,
    /// Whether delivered bytes and dropped frames are kept for each (source, destination) pair.
    pub matrix: bool,
    /// Whether a histogram of latencies is kept for each host.
    pub latency: bool,
    /// Most XOFFs of which it is kept whom they stopped, and why ([`crate::Pauses`]); 0: none.
    pub pauses: u64,
    /// Whether it is kept where the time of each finite flow went ([`crate::Trip`]).
    pub trips: bool,
    /// Flows (source, destination) whose events are kept ([`crate::FlowEvent`]), with [`Record::trips`] alone: of a source the first
    /// 100,000.
    pub flow_events: Vec<(NodeId, NodeId)>,
    /// Output ports of hosts and switches whose frames are kept ([`crate::Capture`]).
    pub captures: Vec<(NodeId, u16)>,
    /// Most frames that are kept of each of these ports.
    pub capture_limit: u64,
}

impl Record {
    /// Most times in XOFF that are kept of a transmitter and class.
    pub(crate) fn spans(&self) -> u64 {
        if self.trips { u64::MAX } else { self.pauses }
    }
}
