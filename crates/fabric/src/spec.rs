//! What the network is told: plain data, already checked by whoever built it (crate `studies` from a scenario file).
//!
//! Nodes are numbered hosts first, then switches: host `h` is `NodeId(h)`, switch `s` is `NodeId(hosts + s)`.

use crate::RunError;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Scheme, Time};
use std::sync::Arc;

/// One run: network, traffic, schemes, events, what to record.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Hosts, in order; each has port 0 only.
    pub hosts: Vec<HostSpec>,
    /// Switches, in order.
    pub switches: Vec<SwitchSpec>,
    /// Full-duplex links.
    pub links: Vec<LinkSpec>,
    /// Classes of data, in order of priority; empty: one, under PAUSE wherever a switch has it. Several run the model's way only,
    /// an event at a time.
    pub classes: Vec<ClassSpec>,
    /// Path choice where several shortest paths exist.
    pub routing: Routing,
    /// Schemes in this run; hosts and switches refer to them by index.
    pub schemes: Vec<Arc<dyn Scheme>>,
    /// How feedback messages travel.
    pub control: ControlTransport,
    /// To what transmission times and the gaps of limiters are rounded.
    pub rounding: Rounding,
    /// Which goes first of the data frames that reach a switch in one moment.
    pub ties: Ties,
    /// Scheduled changes of service rate.
    pub changes: Vec<RateChange>,
    /// Simulated time.
    pub duration: Time,
    /// Seed of every random stream.
    pub seed: u64,
    /// What to record over time.
    pub record: Record,
}

/// Most classes of data, as in 802.1Q.
const MOST_CLASSES: usize = 8;

impl RunSpec {
    /// The classes of the run's data: those that it names, or the one class that there is where it names none.
    ///
    /// # Errors
    /// There are more than eight classes, or a source is of a class that there is not.
    pub fn data_classes(&self) -> Result<Vec<ClassSpec>, RunError> {
        let one = || vec![ClassSpec { name: "data".into(), pause: true }];
        let classes = if self.classes.is_empty() { one() } else { self.classes.clone() };
        if classes.len() > MOST_CLASSES {
            return Err(RunError::Spec(format!(
                "{} classes; at most {MOST_CLASSES} are possible",
                classes.len()
            )));
        }
        for (h, s) in self.hosts.iter().enumerate().flat_map(|(h, s)| s.sources.iter().map(move |s| (h, s))) {
            if usize::from(s.class) >= classes.len() {
                let (class, last) = (s.class, classes.len() - 1);
                return Err(RunError::Spec(format!(
                    "a source of host {h} is of class {class}; the last is {last}"
                )));
            }
        }
        Ok(classes)
    }
}

/// A class of data. At each port it has a queue of its own, which goes before those of later classes, and at each switch a memory
/// of its own, organised as [`SwitchSpec::buffer`] says. A host has a FIFO of its own for it.
///
/// Congestion management is the first class's: congestion points stand at its queues, its frames meet limiters, and control in the
/// data class travels in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSpec {
    /// Name in scenario and results.
    pub name: String,
    /// XOFF and XON of its own, where a switch has PAUSE: it stops this class alone, as with priority flow control (802.1Qbb).
    pub pause: bool,
}

/// A host: sources, application queue, NIC.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Name in scenario and results.
    pub name: String,
    /// Processing delay on reception.
    pub processing: Time,
    /// Sources of frames.
    pub sources: Vec<SourceSpec>,
    /// Frames that wait in the host's FIFO (application queue and NIC buffer together); tail drop at the source beyond.
    pub fifo_frames: u32,
    /// Frames that a limiter's queue holds; excess of that flow is discarded at the source.
    pub limiter_frames: u32,
    /// Where a frame meets its limiter.
    pub limiter_position: LimiterPosition,
    /// Frames that an application FIFO holds ahead of the limiters; none: a new frame meets its limiter or the FIFO at once.
    /// Its head goes on when the FIFO has room, if it is not held back; else when its limiter's queue has room, and is discarded
    /// if that has none, so that a limited flow blocks nobody. Hosts with one FIFO only.
    pub backlog_frames: u32,
    /// One FIFO, or a virtual output queue per destination.
    pub queues: HostQueues,
    /// From the arrival of a feedback message to its effect at the reaction point.
    pub feedback_delay: Time,
    /// What is wrong with this host.
    pub faults: Faults,
    /// How much too fast its clock runs, in parts per million: by it its frames take less on its link, and its slots and the gaps
    /// of its limiters are shorter. Less than 100,000 either way.
    pub clock_ppm: f64,
    /// Index into [`RunSpec::schemes`]; none: feedback is delivered, counted and ignored.
    pub scheme: Option<usize>,
}

/// To what times on a link are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rounding {
    /// To the nearest picosecond.
    #[default]
    Exact,
    /// Down to whole nanoseconds, as simulators with a clock of nanoseconds do: a link is a little too fast.
    WholeNs,
}

/// The order in which a switch takes data frames that reach it, by several ports, in one moment. It decides which of them finds room
/// where there is room for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ties {
    /// By port, the lowest first. Of senders with equal periods that fill a port together, the one at the lowest port loses nothing.
    #[default]
    ByPort,
    /// By a draw of its own for each switch, moment and port, from the run's seed: each has the same chance at every moment.
    Drawn,
}

/// Faults of a host, to see what a network makes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Faults {
    /// The host keeps sending while it is paused.
    pub ignores_pause: bool,
    /// Every n-th feedback message that arrives is lost; 0 for none.
    pub feedback_lost: u32,
}

/// Where frames meet their limiter, `host.limiter_position` (assumption A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LimiterPosition {
    /// A generated frame enters its flow's limiter queue and, when paced out, joins the tail of the host's FIFO. A finite flow, when its
    /// limiter lets a frame go, waits for the link beside that FIFO.
    AtSource,
    /// Frames meet the limiter as they leave for the link: limiter queues and the FIFO share the link round robin.
    #[default]
    BelowQueue,
}

/// How a host queues its frames. A finite flow has a queue of its own in both ways; flows and frames that wait in queues take turns at
/// the link, and so do the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HostQueues {
    /// One FIFO, and a queue for each engaged limiter.
    #[default]
    Fifo,
    /// A virtual output queue per destination, served round robin; a limiter paces its own queue in place, nothing is
    /// moved when it is engaged or given back (Z07). `fifo_frames` bounds all of them together. Always below the queue.
    PerDestination,
}

/// A finite amount of data from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When the transfer begins.
    pub start: Time,
    /// The host that the data goes to.
    pub dst: NodeId,
    /// How much; the last frame is shorter, but at least 64 B.
    pub bytes: Bytes,
}

impl Transfer {
    /// Bytes on the link: whole frames of `frame` and a last one of at least 64 B.
    pub fn on_link(&self, frame: u64) -> u64 {
        let rest = self.bytes.get() % frame;
        self.bytes.get() - rest + if rest > 0 { rest.max(64) } else { 0 }
    }
}

/// A source of frames at a host.
#[derive(Clone, Debug)]
pub struct SourceSpec {
    /// When the source makes frames.
    pub arrivals: Arrivals,
    /// Which hosts the frames go to.
    pub destinations: Destinations,
    /// Length of the source's frames.
    pub frame: Bytes,
    /// The source makes no frame before this time.
    pub start: Time,
    /// No frame at or after this moment.
    pub stop: Time,
    /// Phase of the slots.
    pub phase: Phase,
    /// With [`Arrivals::Transfers`]: the transfers, by start; `destinations` is not used then.
    pub transfers: Vec<Transfer>,
    /// Class of its frames: an index into [`RunSpec::classes`].
    pub class: u8,
}

/// Arrival process of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// One draw per frame time of the access link: a frame with probability `load`.
    Bernoulli {
        /// 0 to 1.
        load: f64,
    },
    /// Back to back: a frame is there whenever one can be sent.
    Greedy,
    /// Greedy while on, silent while off, from `start` on.
    OnOff {
        /// Time on.
        on: Time,
        /// Time off.
        off: Time,
        /// How far into its period it starts: `on` starts with the off time.
        shift: Time,
    },
    /// In every idle slot a burst begins with the probability that gives `load`; its frames follow back to back, all to
    /// one destination.
    Bursts {
        /// 0 to 1.
        load: f64,
        /// Frames of a burst.
        frames: u32,
    },
    /// Finite transfers, each greedy from its start; those under way share the host frame by frame.
    Transfers,
}

/// Destinations of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// Uniform over all hosts but itself.
    Uniform,
    /// All frames go to this host.
    Fixed(NodeId),
    /// Each frame goes to one of these hosts, all equally likely.
    Among(Vec<NodeId>),
}

/// Phase of a source's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Each host draws a phase of its own; finite transfers begin when their lists say so.
    #[default]
    Random,
    /// All hosts alike: for exact queueing tests.
    Aligned,
}

/// A switch: its ports, its memory and its scheme.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// Name in scenario and results.
    pub name: String,
    /// Ports, with or without a link.
    pub ports: u16,
    /// Processing delay on reception, and of a feedback message made here.
    pub processing: Time,
    /// How the switch's memory is divided, and its PAUSE.
    pub buffer: BufferSpec,
    /// Index into [`RunSpec::schemes`].
    pub scheme: Option<usize>,
}

/// Organisation of a switch's memory (`schemes.md` 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organisation {
    /// Every output buffer partitioned per input port: `share` for each (output, input) pair.
    Crosspoint,
    /// `share` per input port, shared among all outputs.
    Input,
    /// `share` nominal per output port; frames are dropped only when the pool of ports x `share` is full.
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
    /// PAUSE of the switch; none where it sends none.
    pub pause: Option<PauseSpec>,
}

/// 802.3x PAUSE of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PauseSpec {
    /// XOFF when a partition's occupancy exceeds this.
    pub high: Bytes,
    /// XON when all partitions concerned are at or below this.
    pub low: Bytes,
    /// One flag for the whole switch, XOFF on all ports.
    pub global: bool,
    /// With [`Organisation::SharedOutput`]: watermarks apply to the pool, not to one output's share.
    pub pool: bool,
    /// How PAUSE frames travel.
    pub transport: PauseTransport,
}

/// How a PAUSE frame reaches the other end, `pause.transport` (assumption A10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PauseTransport {
    /// A 64 B frame of the highest class: waits for the frame in transmission, occupies the link.
    #[default]
    Frame,
    /// Effective a flat link delay plus processing later, occupying nothing.
    Wire,
}

/// How feedback travels, `control.transport` (assumption A11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ControlTransport {
    /// 64 B frames at strict priority over data, not stopped by PAUSE.
    #[default]
    Priority,
    /// 64 B frames in the data class: FIFO with data, stopped by PAUSE (C07).
    InBand,
    /// Feedback reaches its host a fixed time after it leaves its node, and takes no link's capacity; it counts as made. Probes
    /// travel as with [`ControlTransport::Priority`]. At least twice the shortest delay of a link, processing included.
    Ideal {
        /// From the node that makes it to the host.
        latency: Time,
    },
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpec {
    /// One end of the link: node and port.
    pub a: (NodeId, u16),
    /// The other end of the link: node and port.
    pub b: (NodeId, u16),
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay from a to b and from b to a.
    pub delay: Time,
}

/// Choice among equal shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Routing {
    /// By a hash of the flow, salted at each switch by the run's seed.
    #[default]
    FlowHash,
    /// By a hash of the flow that is the same at every switch: those that a switch sends to one of its neighbours all leave that
    /// one by the same port, so that a fat tree uses few of its cores.
    PolarisedHash,
    /// By the hash of HPCC's fork of ns-3: MurmurHash3 of addresses and ports, which are those that the fork gives to nodes with
    /// the numbers in their names and to the finite flows of a pair, seeded by the switch's number. Equal next hops stand in falling order of their numbers, as there.
    /// Finite flows only.
    ForkHash,
    /// By a hash of flow and frame number: each frame anew.
    FrameHash,
    /// Round robin per (switch, destination).
    RoundRobin,
    /// Destination modulo the number of choices (d-mod-k on a k-ary tree).
    Destination,
}

/// From `at` on, this output port serves data at `rate`; control keeps the link's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// When the rate changes.
    pub at: Time,
    /// The node that has the port.
    pub node: NodeId,
    /// The output port whose rate changes.
    pub port: u16,
    /// New service rate; zero stops the port.
    pub rate: Rate,
}

/// What is recorded over time.
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
    /// Keep the rate of control messages made per bin.
    pub control: bool,
    /// Keep delivered bytes and dropped frames for each (source, destination) pair.
    pub matrix: bool,
    /// Keep a histogram of latencies per host.
    pub latency: bool,
}
