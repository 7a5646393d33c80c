//! The outcome of a run.

mod capture;
mod cuts;
mod latency;
mod series;

pub use capture::{Capture, Captured, Content};
pub use cuts::{Cut, Cuts, FlowEvent, Trigger};
pub use latency::*;
pub use series::{GaugeSite, Series, SeriesKind};

use crate::spec::Lasted;
use cnsim_scheme_api::{FlowId, Gauge, NodeId, Rate, Time};

/// Everything measured in one run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Simulated time of the run.
    pub duration: Time,
    /// Measurements at each host, in order.
    pub hosts: Vec<HostOutcome>,
    /// Measurements at each switch, in order.
    pub switches: Vec<SwitchOutcome>,
    /// Control messages, without PAUSE.
    pub messages: Messages,
    /// The schemes' own counters, by name.
    pub counters: Vec<(String, u64)>,
    /// Data and control frames that finished a link, without PAUSE.
    pub packet_hops: u64,
    /// Control frames among [`Outcome::packet_hops`].
    pub control_hops: u64,
    /// Hashes over what happened in the run.
    pub fingerprint: Fingerprint,
    /// Frames lost on links, by node and port: of each output port whose link loses frames ([`crate::LinkLoss`]), and of
    /// hosts' ports where [`crate::Record::links`] asks for them.
    pub lost_on_links: Vec<LostOnLink>,
    /// Whether the network was frozen at the end.
    pub freeze: Freeze,
    /// When the operations of the run's graph happened, by number.
    pub operations: Vec<Lasted>,
    /// What [`crate::Record`] asked for.
    pub recorded: Recorded,
    /// Why the network, or single switches of it, ran by the model, with equal results; none if all ran by the fast engine.
    pub by_model: Option<String>,
    /// Of each class alone, where the run has several: what hosts and ports measured, drops apart by watchdogs, and messages. Other fields
    /// are empty.
    pub classes: Vec<Outcome>,
    /// Of which phases the run was put together; none without a graph, or where reuse is off.
    pub phases: Option<Phases>,
}

/// Counts of control messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Messages and probes made; a broadcast counts as one.
    pub made: u64,
    /// Bits of those, each counted once.
    pub bits: u64,
    /// Messages in the data class that could not be queued.
    pub discarded: u64,
    /// Feedback that reached a host without a reaction point for it.
    pub ignored: u64,
    /// Feedback lost by the fault of a host.
    pub lost: u64,
}

/// What is known of a frozen network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freeze {
    /// Time of the last delivery of a frozen network: frames waited at the end, and none was delivered in the last tenth of the run.
    pub last_delivery: Option<Time>,
    /// Its stopped ports that wait for each other. None if no port is stopped, but the sources are held back.
    pub standstill: Option<Standstill>,
}

/// What was recorded of a run, each where [`crate::Record`] asks for it; else empty.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Quantities over time.
    pub series: Vec<Series>,
    /// The schemes' gauges; series refer to them by number.
    pub gauges: Vec<Gauge>,
    /// Delivered bytes by (source, destination), at index `src * hosts + dst`.
    pub matrix: Vec<u64>,
    /// Frames that switches dropped by (source, destination), as [`Recorded::matrix`]; empty without drops, too.
    pub lost: Vec<u64>,
    /// Whom each XOFF stopped, and why.
    pub pauses: Pauses,
    /// Frames of captured ports.
    pub capture: Capture,
    /// Events of the flows of [`crate::Record::flow_events`]: by source, in order.
    pub flow_events: Vec<FlowEvent>,
    /// From when on events are left out, as a source had 100,000; none: none is left out.
    pub events_cut: Option<Time>,
}

/// Phases of a run: what happens in a part of the network from a moment of rest to the next. Rest: no frame, flow, message or XOFF is
/// there, and nothing remembers what was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Phases that were simulated.
    pub simulated: u64,
    /// Phases that were taken from an equal one before.
    pub reused: u64,
    /// Phases that would have been taken, and were simulated to compare.
    pub verified: u64,
    /// Why the rest of the run is one phase, or all of it.
    pub why_not: Option<String>,
}

impl std::fmt::Display for Phases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { simulated, reused, verified, why_not } = self;
        write!(
            f,
            "{simulated} simulated, of them {verified} to verify, and {reused} taken from equal ones before"
        )?;
        why_not.iter().try_for_each(|why| write!(f, "; what is left is one: {why}"))
    }
}

/// Where the time of a finite flow went: the chain of causes of its completion. It ends with the frame with which all of the flow had
/// arrived. Its parts add up to the completion time, to the ps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trip {
    /// From the flow's start to the frame's begin at its source, by [`SourcePart`].
    pub source: [Time; SourcePart::ALL.len()],
    /// The frame at each port on its way: that of its source first.
    pub stays: Vec<Stay>,
    /// What lowered the flow's rate or window: the ten cuts that cost most, by time.
    pub cuts: Vec<Cut>,
    /// Sums of all cuts by cause.
    pub by_cause: Vec<Cuts>,
}

/// Parts of a flow's time at its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcePart {
    /// Its connection was not open.
    Opening,
    /// A limiter's gap ran.
    Gap,
    /// Its window was closed, or narrower than what was on its way.
    Window,
    /// Its NIC was in XOFF, and the flow would have had a turn.
    Xoff,
    /// The link carried other flows, or control.
    Turn,
    /// It waited until a loss was found, or sent again.
    Again,
    /// Its earlier frames were on the link for the first time.
    Sending,
}

impl SourcePart {
    /// All, in order.
    pub const ALL: [Self; 7] =
        [Self::Opening, Self::Gap, Self::Window, Self::Xoff, Self::Turn, Self::Again, Self::Sending];
}

/// A frame at an output port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Node and port.
    pub at: (NodeId, u16),
    /// When the frame had come; at its source, when it began.
    pub came: Time,
    /// When its transmission began.
    pub began: Time,
    /// How long the port was in XOFF in between.
    pub xoff: Time,
    /// How long its transmission took.
    pub sending: Time,
    /// Delay of the link: propagation, and processing at its far end.
    pub link: Time,
}

impl Trip {
    /// The sum of all parts: the completion time.
    pub fn sum(&self) -> Time {
        let stay = |s: &Stay| s.began.saturating_sub(s.came) + s.sending + s.link;
        self.source.iter().copied().chain(self.stays.iter().map(stay)).fold(Time::ZERO, |a, b| a + b)
    }
}

/// Stopped switch ports, each of which waits for the next: the memory at the far end of its link holds frames for that port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// Node and port.
    pub ports: Vec<(NodeId, u16)>,
    /// Whether the last port waits for the first: a deadlock. Otherwise the last port serves nothing, or has just been let go.
    pub circle: bool,
}

/// The XOFFs of a run: whom each stopped, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// One for each transmitter that was told to stop, in order of the decisions. An XOFF to all neighbours of a switch is one for each.
    pub xoffs: Vec<Xoff>,
    /// The causes of all, one after the other.
    pub causes: Vec<Cause>,
    /// XOFFs of the run that are not kept, as they came after the first [`crate::Record::pauses`].
    pub left_out: u64,
}

impl Pauses {
    /// The causes of an XOFF, by output.
    pub fn causes(&self, xoff: &Xoff) -> &[Cause] {
        self.causes.get(xoff.causes.0 as usize..xoff.causes.1 as usize).unwrap_or_default()
    }
}

/// An XOFF for one transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xoff {
    /// When it was decided.
    pub decided: Time,
    /// From when on the transmitter was in XOFF; the end of the run, if the XOFF was still on its way or its host does not heed it.
    pub from: Time,
    /// Until when: at most the end of the run.
    pub until: Time,
    /// The transmitter that it stops: node and port.
    pub stopped: (NodeId, u16),
    /// The switch that decided, or the host with a fault, and the port at the other end of the transmitter's link.
    pub by: (NodeId, u16),
    /// Where its causes begin and end among [`Pauses::causes`]. None of an XOFF that a fault said ([`crate::PortFault`]).
    pub causes: (u32, u32),
    /// Class of data.
    pub class: u8,
}

/// An output of the switch that decided an XOFF, for which bytes waited that called for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Output port.
    pub output: u16,
    /// Bytes that waited for it.
    pub bytes: u32,
    /// The reason why the output did not send.
    pub held: Held,
}

/// Reasons why an output does not send, as a switch decides XOFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing but its own rate.
    Open,
    /// The output's rate is 0: it serves nothing.
    Closed,
    /// An XOFF, by number in [`Pauses::xoffs`].
    Stopped(u32),
}

/// Hashes over the events of a run, equal for equal runs on any engine, thread count and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Hash over PAUSE, drops and feedback: time, place, content.
    pub events: u64,
    /// Hash over deliveries: time, flow, number.
    pub frames: u64,
    /// Hash over samples of congestion points: time, port, queue length.
    pub samples: u64,
}

/// Measurements at a host.
#[derive(Clone, Debug, Default)]
pub struct HostOutcome {
    /// Data frames that the host's sources generated.
    pub generated: u64,
    /// Frames discarded at the source (full FIFO or limiter queue).
    pub source_discards: u64,
    /// Data frames put on the link.
    pub sent: u64,
    /// Data frames that the host received.
    pub delivered: u64,
    /// Data bits that the host received.
    pub delivered_bits: u64,
    /// Delivered bits of the headers that [`crate::Record::headers`] names, and of the padding of last frames.
    pub header_bits: u64,
    /// PAUSE of the host.
    pub pause: HostPause,
    /// Latencies of received data frames, from generation to reception.
    pub latencies: Latencies,
    /// Flows that had an engaged limiter at some time.
    pub limited_flows: u64,
    /// Limiters whose rate or window the scheme lowered after their begin: one for each flow or pair that it slowed.
    pub slowed_flows: u64,
    /// Finite transfers to the host.
    pub transfers: TransfersTo,
    /// Histogram of how many later frames of its flow had come before each frame; empty where frames are taken in order alone.
    pub out_of_order: Vec<u64>,
    /// Most bytes of a flow that had come out of order and waited for a frame before them.
    pub held_max: u64,
    /// Of the queue pairs whose source the host is; all zero without queue pairs.
    pub transport: TransportOutcome,
}

/// XOFFs that a host received, and those that it sent.
#[derive(Clone, Debug, Default)]
pub struct HostPause {
    /// Time that the host's transmitter was in XOFF; times of several classes are added.
    pub time: Time,
    /// Time in XOFF in each sixtieth of the run, ps; empty if the host was never in XOFF.
    pub by_part: Vec<u64>,
    /// Number of XOFF messages that the host received.
    pub received: u64,
    /// Number of XOFF messages that the host sent by a fault ([`crate::PortFault`]).
    pub sent: u64,
}

/// Latencies of frames.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// Their sum.
    pub sum: Time,
    /// The largest.
    pub max: Time,
    /// Their histogram; empty if not recorded.
    pub histogram: Vec<u64>,
}

/// Finite transfers to a host.
#[derive(Clone, Debug, Default)]
pub struct TransfersTo {
    /// Those received whole, in order of completion.
    pub completions: Vec<Completion>,
    /// Where the time of each of them went, in the same order; empty if not recorded ([`crate::Record::trips`]).
    pub trips: Vec<Trip>,
    /// Those that were not received whole, by source and start.
    pub missing: Vec<Incomplete>,
}

/// Measurements of a host's queue pairs.
#[derive(Clone, Debug, Default)]
pub struct TransportOutcome {
    /// Acknowledgements received.
    pub acks: u64,
    /// Acknowledgements made as frames, for flows to the host.
    pub acks_made: u64,
    /// Bytes that they acknowledged, as they are on the link.
    pub acked: u64,
    /// Bytes that were acknowledged with a mark.
    pub marked: u64,
    /// Data frames sent again.
    pub resent: u64,
    /// Bytes of these on the link.
    pub resent_bytes: u64,
    /// NACKs received.
    pub nacks: u64,
    /// Timeouts: nothing was acknowledged for so long that frames were sent again.
    pub timeouts: u64,
    /// Losses found before a timeout, and repaired: by selective repeat and TCP; by go-back-N those that a NACK told.
    pub recoveries: u64,
    /// Histogram of the times from the start of a frame's transmission to its acknowledgement; empty without acknowledgements.
    pub rtt: Vec<u64>,
    /// Flows under way at the end that waited for an acknowledgement.
    pub waiting: Vec<Waiting>,
}

/// A flow that waits for an acknowledgement: it has begun anew since the last one, or may send nothing before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Destination host.
    pub dst: NodeId,
    /// Number of the flow among those of its pair of hosts ([`crate::numbered`]).
    pub nth: u32,
    /// When something was acknowledged last; zero if nothing ever was.
    pub since: Time,
    /// How often it has begun anew since then.
    pub times: u32,
    /// Bytes that are still to be sent.
    pub left: u64,
    /// Bytes that were sent and are not acknowledged.
    pub in_flight: u64,
}

/// Frames that an output port put on its link and the link lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostOnLink {
    /// The node that sent.
    pub node: NodeId,
    /// Output port of the node.
    pub port: u16,
    /// Data frames.
    pub data: u64,
    /// Acknowledgements of queue pairs, and frames that open connections.
    pub acknowledgements: u64,
    /// Messages and probes.
    pub control: u64,
    /// Data frames that were lost in each bin; empty unless recorded ([`crate::Record::links`]).
    pub by_bin: Vec<u64>,
    /// Data bits put on the link in each bin, lost ones among them; empty unless recorded.
    pub bits: Vec<u64>,
}

/// A finite transfer that was not received whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incomplete {
    /// Source host.
    pub src: NodeId,
    /// Size of the transfer, bytes.
    pub bytes: u64,
    /// Time at which the transfer begins at its source; [`crate::Transfer::FOLLOWS`] if it follows others and has not begun.
    pub start: Time,
    /// Number of the flow among those of its pair of hosts ([`crate::numbered`]).
    pub nth: u32,
    /// Bytes on the link that have not arrived.
    pub missing: u64,
    /// Class of its data.
    pub class: u8,
    /// The flow, if it has a queue pair.
    pub flow: Option<FlowId>,
}

/// A finite transfer received whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The host that sent the transfer.
    pub src: NodeId,
    /// Size of the transfer, bytes; a last frame may have been padded beyond.
    pub bytes: u64,
    /// Time at which the transfer began at its source.
    pub start: Time,
    /// Number of the flow among those of its pair of hosts ([`crate::numbered`]).
    pub nth: u32,
    /// Time at which the last byte arrived.
    pub end: Time,
    /// Class of its data.
    pub class: u8,
    /// The flow, if it has a queue pair.
    pub flow: Option<FlowId>,
    /// Time at which its source received the last acknowledgement; none without one before the end of the run.
    pub acknowledged: Option<Time>,
}

/// Measurements at a switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchOutcome {
    /// Measurements at each port, in order.
    pub ports: Vec<PortOutcome>,
    /// Time that each port was in XOFF in each sixtieth of the run, ps, all classes added; empty where it never was.
    pub paused_by_part: Vec<Vec<u64>>,
    /// The use of its shared buffer, all zero without one.
    pub shared: SharedUse,
    /// Storms as the switch's watchdogs saw them, in order of their begin.
    pub storms: Vec<Storm>,
}

/// A storm at an output, as a watchdog saw it ([`crate::WatchdogSpec`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// The output port.
    pub port: u16,
    /// Class of data.
    pub class: u8,
    /// When the watchdog was triggered.
    pub from: Time,
    /// When it restored the output; none if the storm lasted to the end of the run.
    pub until: Option<Time>,
    /// Data frames that it dropped.
    pub dropped: u64,
}

/// The most bytes that the parts of a shared buffer ever held, of the first class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedUse {
    /// The reserves together, as the pool came to its most; 0 if that was no more than one step.
    pub reserve: u64,
    /// The pool: rounded up to the next of [`SharedUse::STEPS`] steps of its size, one at least.
    pub pool: u64,
    /// The headroom of all inputs together.
    pub headroom: u64,
    /// Sizes of the three.
    pub sizes: (u64, u64, u64),
}

impl SharedUse {
    /// In how many steps the use of a pool is told. With steps, the order of a window's frames matters only as one is passed.
    pub const STEPS: u64 = 64;
}

/// Measurements at a switch port.
#[derive(Clone, Debug, Default)]
pub struct PortOutcome {
    /// Data frames for this output port that were discarded because their partition was full.
    pub dropped: u64,
    /// Data frames discarded by the output-queue limit.
    pub dropped_by_limit: u64,
    /// Data frames that the port sent.
    pub sent: u64,
    /// Data bits that the port sent.
    pub sent_bits: u64,
    /// Control frames that the port sent.
    pub control_sent: u64,
    /// XOFF messages sent to the peer of this port.
    pub xoffs: u64,
    /// Time that this port's transmitter was in XOFF; times of several classes are added.
    pub paused: Time,
    /// Largest queue at this output (bytes).
    pub queue_max: u64,
}

impl PortOutcome {
    /// Data frames discarded for want of room, or by the limit of the output's queue.
    pub(crate) fn discarded(&self) -> u64 {
        self.dropped + self.dropped_by_limit
    }
}

impl SwitchOutcome {
    /// Data frames discarded there: those that found no room, and those that its watchdogs dropped.
    pub fn dropped(&self) -> u64 {
        let by_ports: u64 = self.ports.iter().map(PortOutcome::discarded).sum();
        by_ports + self.storms.iter().map(|s| s.dropped).sum::<u64>()
    }
}

impl Outcome {
    /// The outcome without how it came about: equal for both engines, with reuse and without, to the last field.
    #[must_use]
    pub fn results(self) -> Self {
        Self { by_model: None, phases: None, ..self }
    }

    /// Data frames discarded in switches, for any reason.
    pub fn dropped(&self) -> u64 {
        self.switches.iter().map(SwitchOutcome::dropped).sum()
    }

    /// Data frames discarded for an output port of a switch, for any reason; `hosts` is the number of hosts.
    pub fn dropped_at(&self, hosts: usize, at: (NodeId, u16)) -> u64 {
        let Some(port) = self.port(hosts, at) else { return 0 };
        let storms = self.switches[at.0.0 as usize - hosts].storms.iter().filter(|s| s.port == at.1);
        port.discarded() + storms.map(|s| s.dropped).sum::<u64>()
    }

    /// Data rate delivered to all hosts, mean of the run.
    pub fn aggregate(&self) -> Rate {
        let bits: u64 = self.hosts.iter().map(|h| h.delivered_bits).sum();
        Rate::from_bps(bits as f64 / self.duration.as_secs_f64())
    }

    /// Measurements at a switch port; `hosts` is the number of hosts. None for a host's port.
    pub fn port(&self, hosts: usize, at: (NodeId, u16)) -> Option<&PortOutcome> {
        self.switches.get((at.0.0 as usize).checked_sub(hosts)?)?.ports.get(usize::from(at.1))
    }

    /// The series of a kind.
    pub fn series(&self, kind: SeriesKind) -> Option<&Series> {
        self.recorded.series.iter().find(|s| s.kind == kind)
    }
}
