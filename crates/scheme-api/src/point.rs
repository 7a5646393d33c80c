//! The loan of a congestion point: its queue to read, and the verbs by which it asks.
//!
//! A handle borrows the network's data for one call. Verbs with an effect elsewhere (messages, timers) are recorded as actions and
//! carried out by the network after the call. A verb that cannot be carried out stops the run, and the rigs of
//! [`crate::testing`] as well: mistakes are found here, once for both.

use crate::checks::{self, Patience};
use crate::lent::Lent;
use crate::random::Stream;
use crate::{Feedback, FlowId, FrameView, Ramp, Slot};
use cnsim_units::{Bytes, Rate, Time};
use std::borrow::Cow;

/// Read-only view of an output queue at the moment of a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// Bytes queued now: from all inputs, with the frame in transmission and the arriving frame.
    pub len: Bytes,
    /// Nominal rate of the link behind the queue.
    pub line_rate: Rate,
    /// Rate at which data is served at present (a hotspot lowers it).
    pub service_rate: Rate,
    /// Bytes that have arrived for this port since the start, control frames included, drops excluded.
    pub arrived: u64,
    /// Bytes that have been sent through this port since the start, control frames included.
    pub sent: u64,
    /// For how long the port has been in XOFF, if it is: its data may not leave.
    pub paused: Option<Time>,
    /// How long it has been in XOFF since the start, the present time included.
    pub paused_in_all: Time,
}

/// Which data frames wake a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Gate {
    /// No frame wakes the point.
    #[default]
    Never,
    /// The frame wakes it that brings the bytes counted to the armed number.
    AfterBytes,
    /// Each frame wakes it with this probability.
    Probability(f64),
    /// Every frame that carries a tag wakes it.
    Tagged,
    /// Every frame wakes it.
    Always,
}

/// A congestion point's data on the network's hot path.
#[derive(Clone, Debug)]
pub struct PointState {
    /// Bytes to go until a wake-up. `i64::MAX / 2` when never; 0 with gates that must look at each frame.
    pub countdown: i64,
    /// The gate that is armed now: which frames wake the point.
    pub gate: Gate,
    /// Count and sample frames that are being dropped on arrival.
    pub sample_dropped: bool,
    /// The ramp by which the network marks frames; none where it marks none.
    pub ramp: Option<Ramp>,
    /// The rate to which rate-discovery tags are lowered as a frame starts transmission.
    pub advertised: Option<Rate>,
    /// Bytes counted when the gate last opened after a number of bytes.
    counted: i64,
    /// The value from which the countdown began.
    armed: i64,
    /// Probes that arrive at the queue wake it.
    pub probes: bool,
    /// The network writes a record as a frame leaves.
    pub records: bool,
    /// Whether the point's `start` is over.
    started: bool,
    /// How often its timers expire.
    pub patience: Patience,
    /// Hosts of the network: there is a flow for each ordered pair of them, or for each queue pair.
    hosts: u32,
    /// How many flows have queue pairs, where they do.
    pub queue_pairs: Option<u32>,
    /// The random stream of this queue.
    pub stream: Stream,
}

impl PointState {
    /// The state of a point, in a network of so many hosts, that has armed nothing yet.
    pub fn new(stream: Stream, hosts: u32) -> Self {
        Self {
            countdown: checks::NEVER,
            gate: Gate::Never,
            sample_dropped: true,
            ramp: None,
            advertised: None,
            counted: 0,
            armed: checks::NEVER,
            probes: false,
            records: false,
            started: false,
            patience: Patience::default(),
            hosts,
            queue_pairs: None,
            stream,
        }
    }
    /// Notes that `start` has been called: probes can no longer be armed.
    pub fn run(&mut self) {
        self.started = true;
    }
    /// The law of the gate: does it wake the point for this data frame? `countdown` holds the bytes that are left of those armed, the frame
    /// counted: 0 or less. A gate after a number of bytes opens once, and stays shut until it is armed again; the others look at
    /// each frame.
    #[inline]
    pub fn wakes(&mut self, countdown: i64, tagged: bool) -> bool {
        self.counted = self.armed - countdown;
        self.countdown = 0;
        match self.gate {
            Gate::AfterBytes | Gate::Never => {
                let wakes = self.gate == Gate::AfterBytes;
                (self.gate, self.countdown) = (Gate::Never, checks::NEVER);
                wakes
            }
            Gate::Always => true,
            Gate::Probability(p) => self.stream.chance(p),
            Gate::Tagged => tagged,
        }
    }
    /// The flow, if its source and destination are two hosts of the network.
    fn flow(&self, flow: FlowId) -> Result<FlowId, String> {
        let (src, dst) = (flow.0 / self.hosts.max(1), flow.0 % self.hosts.max(1));
        let why = || format!("there is no flow {}: answer the `flow` of a frame or probe in hand", flow.0);
        let known = self.queue_pairs.map_or(src < self.hosts && src != dst, |flows| flow.0 < flows);
        known.then_some(flow).ok_or_else(why)
    }
}

/// Checks that a frame can carry the tag that a congestion point gave it.
///
/// # Errors
/// Why the run is to stop.
pub fn rewritten(frame: &FrameView) -> Result<(), String> {
    checks::tag(frame.tag).map(|_| ())
}

/// Why a point that has no probe in hand cannot answer one.
pub const NO_PROBE: &str = "it answers a probe, but none is in hand: `answer` belongs into `on_probe`";

/// A request of a congestion point.
#[derive(Clone, Debug)]
pub enum PointAction {
    /// Send this message to the source of a flow.
    Notify(FlowId, Feedback),
    /// Send this message to every host.
    Broadcast(Feedback),
    /// Start a timer that expires after this time, or start it anew.
    StartTimer(Slot, Time),
    /// Stop a timer.
    StopTimer(Slot),
    /// End the probe in hand and answer its sender.
    Answer,
    /// Add one to the counter of this name.
    Count(Cow<'static, str>),
    /// Show this value by the gauge of this name.
    Gauge(Cow<'static, str>, f64),
    /// Stop the run with this cause.
    Fail(String),
}

/// Verbs lent to a congestion point.
#[derive(Debug)]
pub struct PointControl<'a> {
    now: Time,
    state: &'a mut PointState,
    actions: &'a mut Vec<PointAction>,
}

checks::lent!(PointControl, PointAction, PointState);

impl<'a> PointControl<'a> {
    checks::common_verbs!(PointAction);
    checks::timer_verbs!(PointAction);
    /// Wake with `on_sample` at the frame that brings the bytes that arrived from now on to `bytes` (at least 1).
    pub fn sample_after(&mut self, bytes: Bytes) {
        self.state.gate = Gate::AfterBytes;
        self.state.countdown = checks::countdown(bytes);
        self.state.armed = self.state.countdown;
    }
    /// In an `on_sample` that [`PointControl::sample_after`] asked for: bytes that arrived since then, the frame in hand included.
    /// They are as many as were asked for, or up to a frame more.
    pub fn bytes_since_armed(&self) -> Bytes {
        Bytes::new(self.state.counted.max(0) as u64)
    }
    /// Wake at each frame with probability `p`; at none for p = 0. A `p` that is not from 0 to 1 stops the run.
    pub fn sample_with(&mut self, p: f64) {
        let Some(p) = self.check(checks::probability("a sample", p)) else { return };
        self.look_at_each(if p > 0.0 { Gate::Probability(p) } else { Gate::Never });
    }
    /// Wake at frames that carry a tag.
    pub fn sample_tagged(&mut self) {
        self.look_at_each(Gate::Tagged);
    }
    /// Wake at every frame (costly: for algorithms that must compute on each).
    pub fn sample_always(&mut self) {
        self.look_at_each(Gate::Always);
    }
    /// Stop waking at frames; timers go on.
    pub fn sample_never(&mut self) {
        self.look_at_each(Gate::Never);
    }
    fn look_at_each(&mut self, gate: Gate) {
        self.state.gate = gate;
        self.state.countdown = if gate == Gate::Never { checks::NEVER } else { 0 };
    }
    /// Wake with `on_probe` at every probe that arrives at this queue, for the whole run. In `start` only: elsewhere it stops the
    /// run.
    pub fn wake_at_probes(&mut self) {
        if self.state.started {
            self.fail("probes are armed in `start`");
        }
        self.state.probes = true;
    }
    /// Have the network write a [`crate::Hop`] for each data frame that leaves this queue and belongs to a queue pair. The
    /// frame's acknowledgement brings them to the source ([`crate::Ack::path`]). The point is not woken for it.
    pub fn record_departures(&mut self) {
        self.state.records = true;
    }
    /// Whether frames about to be dropped are counted and sampled (default: they are).
    pub fn sample_dropped(&mut self, on: bool) {
        self.state.sample_dropped = on;
    }
    /// Mark frames by this ramp from now on; the point is not woken for it. A ramp that falls, or has a probability outside 0 to 1,
    /// stops the run.
    pub fn mark(&mut self, ramp: Ramp) {
        if let Some(ramp) = self.check(checks::ramp(ramp)) {
            self.state.ramp = Some(ramp);
        }
    }
    /// Advertise this rate: from now on frames that start transmission with a rate-discovery tag of more have it lowered to this.
    pub fn advertise(&mut self, rate: Rate) {
        if let Some(rate) = self.check(checks::rate("the rate to advertise", rate)) {
            self.state.advertised = Some(rate);
        }
    }
    /// Send a message to the source of `flow`. A flow that there is not, and values that the format cannot carry, stop the run.
    pub fn notify(&mut self, flow: FlowId, feedback: Feedback) {
        let given = self.state.flow(flow).and_then(|flow| Ok((flow, checks::message(feedback)?)));
        if let Some((flow, feedback)) = self.check(given) {
            self.ask(PointAction::Notify(flow, feedback));
        }
    }
    /// Send a message to every host; it counts as one message. It reaches the reaction points of whole hosts
    /// ([`crate::Scope::Host`]) and builds none; where they are per flow it counts as ignored. Values that the format cannot carry
    /// stop the run.
    pub fn broadcast(&mut self, feedback: Feedback) {
        if let Some(feedback) = self.check(checks::message(feedback)) {
            self.ask(PointAction::Broadcast(feedback));
        }
    }
    /// In `on_probe`: end the probe here and send it back, as it now is, to its source at control priority. Elsewhere it stops the
    /// run.
    pub fn answer(&mut self) {
        self.ask(PointAction::Answer);
    }
}
