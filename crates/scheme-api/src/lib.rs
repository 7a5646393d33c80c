//! The contract between a congestion-management scheme and the network: *arm and wake*.
//!
//! The network (crate `cnsim-fabric`) holds the data that changes with every frame: byte counters, marking ramps, current rates,
//! tags. A scheme is called for every frame only if it asks for that. Each call passes a *handle* ([`PointControl`], [`Limiter`],
//! [`ReflectorControl`]), with which the scheme arms the next calls. Handles are plain structs over the network's own data, so
//! the engine needs no type parameter for the scheme, and a scheme is an ordinary object.
//!
//! A scheme has up to three kinds of objects: a [`CongestionPoint`] per switch output queue, a [`ReactionPoint`] per limited flow (or
//! per host), a [`Reflector`] per flow (or per host) at the destination. The parameter struct of a scheme implements [`Scheme`]
//! and builds them.
//!
//! `set_rate` acts from the next frame on: a frame already scheduled keeps its time, unless the scheme calls
//! [`Limiter::retime`].
//!
//! A scheme is written against the root of this crate, and tested by [`testing`]. [`network`] is the other side, for who runs
//! schemes. By [`registry`] and [`mod@params`] the program knows a scheme.

mod above;
mod acks;
mod checks;
mod counters;
mod echo;
mod guard;
mod join;
mod lent;
mod limiter;
pub mod network;
pub mod params;
mod plan;
mod point;
mod ramp;
mod random;
mod reflector;
pub mod registry;
mod samplers;
pub mod testing;
mod wire;

pub use above::Above;
pub use acks::{Ack, AckGate, Hop, Loss};
pub use cnsim_units::{Bytes, Rate, Time};
pub use counters::{Counter, Gauge};
pub use echo::Acknowledger;
pub use join::Join;
pub use limiter::Limiter;
pub use params::{ParamError, ParamInfo, ParamValue, Params, Range};
pub use point::{PointControl, Queue};
pub use ramp::{Ramp, RampAt};
pub use reflector::{ReflectGate, ReflectorControl};
pub use registry::{Idle, Preset, Registration, Registry};
pub use samplers::Samplers;
pub use wire::{Class, Feedback, FrameView, Probe, ProbeTarget, Tag};

use std::fmt::Debug;

/// A flow, numbered by the network. Where each finite flow has a queue pair it is that flow; elsewhere it is all data between one
/// source host and one destination host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FlowId(pub u32);

/// A node of the network, host or switch. Hosts come first, in the order of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodeId(pub u32);

/// A congestion point's identity (CPID): one per switch output port, unique in the network. Stands for the bridge's
/// MAC address and port number in the published formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PointId(pub u32);

/// One of the four timers that every congestion point, reaction point and reflector owns. Starting a running one restarts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u8);

/// Number of timers per object.
pub const SLOTS: usize = 4;

/// Where a congestion point would stand: at the output queue of a switch port.
#[derive(Clone, Debug)]
pub struct QueueSite {
    /// Identity to put into feedback messages.
    pub point: PointId,
    /// Nominal link rate of the port, `C` of the papers.
    pub rate: Rate,
    /// True when a link is attached; idle ports exist as congestion points too (BECN counts them).
    pub attached: bool,
}

/// A source of frames that a reaction point would steer.
#[derive(Clone, Debug)]
pub struct SourceSite {
    /// The flow; for [`Scope::Host`] the first flow that asked.
    pub flow: FlowId,
    /// The host that sends the flow.
    pub src: NodeId,
    /// The host that the flow goes to.
    pub dst: NodeId,
    /// Class of its data frames.
    pub class: Class,
    /// Rate of the source host's access link, the upper bound of the flow's rate.
    pub line_rate: Rate,
    /// Smallest round-trip time of the path for a full frame out and a control frame back, unloaded.
    pub base_rtt: Time,
    /// Links of the path from source to destination.
    pub hops: u32,
    /// Bytes of the flow on its links, headers included; none where the limiter serves more than one finite flow.
    pub size: Option<Bytes>,
    /// The rate at which the flow is to begin, where the scenario gives one.
    pub initial_rate: Option<Rate>,
    /// Other finite flows of the source host that are under way as this one begins; 0 where flows have no queue pairs.
    pub others: u32,
    /// Length of the largest data frame of the flow.
    pub mtu: Bytes,
}

/// A receiving end that a reflector would serve.
#[derive(Clone, Debug)]
pub struct SinkSite {
    /// The flow; for [`Scope::Host`] the first flow that asked.
    pub flow: FlowId,
    /// The host that sends the flow.
    pub src: NodeId,
    /// The host that receives the flow.
    pub dst: NodeId,
    /// Rate of the receiving host's access link.
    pub line_rate: Rate,
}

/// Whether one object serves a flow, a pair of hosts or a whole host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scope {
    /// One object serves one [`FlowId`]: a finite flow that has a queue pair. Where flows have none this is [`Scope::Pair`].
    Flow,
    /// One object serves all data from one host to another.
    #[default]
    Pair,
    /// One object serves all flows of a host together, such as BECN's limiter or 3pt's reflection point.
    Host,
}

/// When a reaction point is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Built {
    /// The limiter is built when the first feedback that [`Scheme::engages`] accepts addresses its flow.
    #[default]
    OnFeedback,
    /// The limiter is built at the flow's first frame.
    FirstFrame,
}

/// Control messages that a scheme makes by the clock, congested or not. They decide nothing: a run's cost is estimated by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Speaks {
    /// Messages have a cause: a long queue, a marked frame.
    #[default]
    Asked,
    /// Every switch port sends a message to every host once in this time.
    Ports(Time),
    /// The sink of every flow sends a message to its source once in this time.
    Sinks(Time),
}

/// Whether a scheme needs the network's acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Acks {
    /// The scheme needs no acknowledgements. If there are some, it may still arm [`Limiter::wake_on_acks`].
    #[default]
    Optional,
    /// The scheme needs acknowledgements.
    Needed,
    /// The scheme needs acknowledgements, and its data frames carry the records of [`PointControl::record_departures`]: they are longer.
    Telemetry,
}

/// Static facts about a scheme that the network needs before any object of it exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// Whether a reaction point and its limiter serve a flow or a host.
    pub limiter_scope: Scope,
    /// When reaction points are built. Those that need acknowledgements are built at the first frame in any case.
    pub built: Built,
    /// Which received frames wake a reflector. The first of them builds it.
    pub reflect: ReflectGate,
    /// Whether a reflector serves a flow or a host.
    pub reflector_scope: Scope,
    /// Whether received bytes are counted, which reflectors that ask for them need ([`ReflectorControl::received`]).
    pub received: bool,
    /// Whether congestion points are woken as frames leave their queues. Without it [`CongestionPoint::on_departure`] is never
    /// called. Switches of such a scheme are simulated event by event, which takes longer.
    pub departures: bool,
    /// Whether reaction points need the acknowledgements that the network makes. A run without them is then an error, and so is
    /// another scope than [`Scope::Flow`].
    pub acks: Acks,
    /// Whether its flows begin at the rate that a scenario may give ([`SourceSite::initial_rate`]). Without it such a rate is an error.
    pub initial_rate: bool,
    /// Whether its reaction points set rates by acknowledgements, so that no other scheme's rates can hold below them ([`Above`]).
    pub paces: bool,
    /// Whether its reaction points count marks, as DCTCP does: acknowledgements then carry the mark of what they answer, though the
    /// transport echoes marks as RFC 3168 has it.
    pub exact_marks: bool,
    /// Bytes of a time stamp on each data frame, beside header and payload; zero without one.
    pub stamp: Bytes,
    /// Messages that the scheme sends periodically rather than in answer to a frame; for estimates of run time.
    pub speaks: Speaks,
}

impl Plan {
    /// The plan of a scheme that steers each flow by its acknowledgements.
    pub fn acknowledged(acks: Acks) -> Self {
        Self { limiter_scope: Scope::Flow, built: Built::FirstFrame, acks, ..Self::default() }
    }
}

/// A congestion-management scheme: implemented by the struct of its parameters.
pub trait Scheme: Debug + Send + Sync {
    /// The scheme's registered name, as in scenario files.
    fn name(&self) -> &str;
    /// Facts that the network must know before any object of the scheme exists.
    fn plan(&self) -> Plan {
        Plan::default()
    }
    /// Builds the congestion point of a queue; none where the scheme has none.
    fn congestion_point(&self, _site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        None
    }
    /// Builds the reaction point of a flow or host; none where the scheme has none.
    fn reaction_point(&self, _site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        None
    }
    /// Builds the reflector of a flow or host; none where the scheme has none.
    fn reflector(&self, _site: &SinkSite) -> Option<Box<dyn Reflector>> {
        None
    }
    /// May this message build a reaction point where there is none? A positive BCN message or a reflection may not.
    fn engages(&self, _feedback: &Feedback) -> bool {
        true
    }
    /// Do its objects behave alike whenever they begin, and whatever went by before them? They do if they use times and counts of bytes by
    /// their differences alone, and share nothing. Then the network may take what repeats from before.
    fn repeats(&self) -> bool {
        false
    }
    /// The counters that its objects count with `count`. Results list them in this order.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
    /// The values that its objects set with `gauge`. A series is zero until the first value: set one in `start` where zero
    /// would mislead.
    fn gauges(&self) -> Vec<Gauge> {
        Vec::new()
    }
}

/// A scheme that is shared, such as [`Configured::scheme`], is a scheme.
impl<T: Scheme + ?Sized> Scheme for std::sync::Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn plan(&self) -> Plan {
        (**self).plan()
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        (**self).congestion_point(site)
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        (**self).reaction_point(site)
    }
    fn reflector(&self, site: &SinkSite) -> Option<Box<dyn Reflector>> {
        (**self).reflector(site)
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        (**self).engages(feedback)
    }
    fn repeats(&self) -> bool {
        (**self).repeats()
    }
    fn counters(&self) -> Vec<Counter> {
        (**self).counters()
    }
    fn gauges(&self) -> Vec<Gauge> {
        (**self).gauges()
    }
}

/// A switch output queue's side of a scheme.
pub trait CongestionPoint: Debug + Send {
    /// Called once before the first frame: arm the gate, the marking ramp, timers.
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>);
    /// The armed gate fired on this data frame. `queue` counts the frame already, unless it is being dropped.
    fn on_sample(&mut self, _frame: &mut FrameView, _queue: &Queue, _ctl: &mut PointControl<'_>) {}
    /// A probe arrived at this queue: read it, rewrite it, or end it with [`PointControl::answer`]. Without
    /// [`PointControl::wake_at_probes`] it is never called.
    fn on_probe(&mut self, _probe: &mut Probe, _flow: FlowId, _queue: &Queue, _ctl: &mut PointControl<'_>) {}
    /// The transmission of this data frame begins: its header can still be marked and its tag rewritten. `queue` counts the frame
    /// until its last bit has left. Without [`Plan::departures`] it is never called.
    fn on_departure(&mut self, _frame: &mut FrameView, _queue: &Queue, _ctl: &mut PointControl<'_>) {}
    /// A timer that this point started has expired.
    fn on_timer(&mut self, _slot: Slot, _queue: &Queue, _ctl: &mut PointControl<'_>) {}
}

/// A sending station's side of a scheme: steers one limiter.
pub trait ReactionPoint: Debug + Send {
    /// Called once when the reaction point is built.
    fn start(&mut self, _limiter: &mut Limiter<'_>) {}
    /// A message arrived: an acknowledgement goes to [`ReactionPoint::on_ack`], all else to [`ReactionPoint::on_feedback`]. The
    /// network calls this; no scheme needs to write it.
    fn on_message(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        match Ack::of(feedback, limiter.now()) {
            Some(ack) => self.on_ack(&ack, limiter),
            None => self.on_feedback(feedback, limiter),
        }
    }
    /// An acknowledgement arrived that [`Limiter::wake_on_acks`] selects, or one of a frame of [`Limiter::echo_next`], which a
    /// reflector sent ([`Acknowledger`]).
    fn on_ack(&mut self, _ack: &Ack<'_>, _limiter: &mut Limiter<'_>) {}
    /// Frames of this flow were lost, and the network sends again what its transport says. By selective repeat and TCP it is called once
    /// until [`ReactionPoint::on_recovered`], or for each timeout.
    fn on_loss(&mut self, _loss: Loss, _limiter: &mut Limiter<'_>) {}
    /// All is acknowledged that had been sent as a loss was found. What this acknowledged came to [`ReactionPoint::on_ack`] before.
    fn on_recovered(&mut self, _limiter: &mut Limiter<'_>) {}
    /// The flow has sent nothing for the time `idle`, as it had nothing to send, and a message more goes on its connection now. Its
    /// timeout would be `timeout`.
    fn on_restart(&mut self, _idle: Time, _timeout: Time, _limiter: &mut Limiter<'_>) {}
    /// A feedback message for this flow (or host) arrived.
    fn on_feedback(&mut self, _feedback: &Feedback, _limiter: &mut Limiter<'_>) {}
    /// The bytes armed with [`Limiter::wake_after`] have been sent.
    fn on_bytes(&mut self, _limiter: &mut Limiter<'_>) {}
    /// A timer that this reaction point started has expired.
    fn on_timer(&mut self, _slot: Slot, _limiter: &mut Limiter<'_>) {}
}

/// A receiving station's side of a scheme.
pub trait Reflector: Debug + Send {
    /// Called once when the reflector is built.
    fn start(&mut self, _ctl: &mut ReflectorControl<'_>) {}
    /// A data frame arrived that the reflector's gate selects. Without [`Plan::reflect`] it is never called.
    fn on_frame(&mut self, _frame: &FrameView, _ctl: &mut ReflectorControl<'_>) {}
    /// A probe reached the host of the reflector, its destination.
    fn on_probe(&mut self, _probe: &Probe, _flow: FlowId, _ctl: &mut ReflectorControl<'_>) {}
    /// A timer that this reflector started has expired.
    fn on_timer(&mut self, _slot: Slot, _ctl: &mut ReflectorControl<'_>) {}
}
