//! The handles lent to a scheme, and the plain data behind them that the network keeps on its hot path.
//!
//! A handle borrows the network's data for one call. Verbs with an effect elsewhere (messages, timers, probes) are
//! recorded as actions and carried out by the network after the call. This file is long because handles, their state and their
//! actions are one contract.

use crate::{Feedback, FlowId, Plan, Probe, SLOTS, Slot, Stream, Tag};
use cnsim_units::{Bytes, Rate, Time};
use std::borrow::Cow;

/// Read-only view of an output queue at the moment of a call.
#[derive(Clone, Copy, Debug)]
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
    /// Data frames discarded at this port since the start.
    pub dropped: u64,
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

/// When a ramp looks at the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RampAt {
    /// It looks when a frame arrives; the frame is part of the queue then.
    #[default]
    Arrival,
    /// It looks when a frame's transmission begins; the frame, whose header carries the mark, is no part of the queue then.
    Departure,
}

/// Marking ramp of a queue: probability 0 up to `low`, rising to `p_max` at `high`, `p_beyond` above. `low == high` is a
/// step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Queue length up to which nothing is marked.
    pub low: Bytes,
    /// Queue length at which the probability reaches `p_max`.
    pub high: Bytes,
    /// Probability at `high`, 0 to 1.
    pub p_max: f64,
    /// Probability above `high`, 0 to 1.
    pub p_beyond: f64,
    /// Whether it looks at the queue when a frame arrives or when it departs.
    pub at: RampAt,
}

impl Ramp {
    /// A step: every frame is marked while the queue is longer than `threshold`.
    pub fn step(threshold: Bytes) -> Self {
        Self { low: threshold, high: threshold, p_max: 1.0, p_beyond: 1.0, at: RampAt::Arrival }
    }

    /// Probability of a mark at this queue length.
    pub fn probability(&self, len: u64) -> f64 {
        let (low, high) = (self.low.get(), self.high.get());
        if len <= low {
            0.0
        } else if len > high {
            self.p_beyond
        } else {
            self.p_max * (len - low) as f64 / (high - low) as f64
        }
    }
}

/// What is wrong with a timer slot, if anything.
fn no_slot(slot: Slot) -> Option<String> {
    let known = usize::from(slot.0) < SLOTS;
    (!known).then(|| format!("there is no timer {}: slots are 0 to {}", slot.0, SLOTS - 1))
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
    /// Smallest-rate stamp put into rate-discovery tags when a frame starts transmission.
    pub stamp: Option<Rate>,
    /// Bytes counted when the gate last opened after a number of bytes.
    counted: i64,
    /// What the countdown began with.
    armed: i64,
    /// Probes that arrive at the queue wake it.
    pub probes: bool,
    /// Its `start` is over.
    started: bool,
    /// The random stream of this queue.
    pub stream: Stream,
}

/// Countdown value that no run reaches.
const NEVER: i64 = i64::MAX / 2;

impl PointState {
    /// The state of a point that has armed nothing yet.
    pub fn new(stream: Stream) -> Self {
        Self {
            countdown: NEVER,
            gate: Gate::Never,
            sample_dropped: true,
            ramp: None,
            stamp: None,
            counted: 0,
            armed: NEVER,
            probes: false,
            started: false,
            stream,
        }
    }
    /// Says that `start` has been called: what can be armed there only cannot be armed any more.
    pub fn run(&mut self) {
        self.started = true;
    }
    /// Records that the gate opened after a number of bytes; `countdown` is what is left of it, 0 or less.
    #[inline]
    pub fn open(&mut self, countdown: i64) {
        self.counted = self.armed - countdown;
    }
}

/// What a congestion point asked for.
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

impl<'a> PointControl<'a> {
    /// The network builds a handle for one call.
    pub fn new(now: Time, state: &'a mut PointState, actions: &'a mut Vec<PointAction>) -> Self {
        Self { now, state, actions }
    }
    /// Exchanges what stands behind the handle for what the caller holds. A bridge to another language, whose objects cannot
    /// borrow, keeps it in such an object for the time of a call, and exchanges it back.
    pub fn exchange(&mut self, state: &mut PointState, actions: &mut Vec<PointAction>) {
        std::mem::swap(self.state, state);
        std::mem::swap(self.actions, actions);
    }
    /// The present simulated time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// Uniform draw in [0, 1) from this queue's own stream.
    pub fn uniform(&mut self) -> f64 {
        self.state.stream.uniform()
    }
    /// Wake with `on_sample` at the frame that brings the bytes that arrived from now on to `bytes` (at least 1).
    pub fn sample_after(&mut self, bytes: Bytes) {
        self.state.gate = Gate::AfterBytes;
        self.state.countdown = (bytes.get() as i64).clamp(1, NEVER);
        self.state.armed = self.state.countdown;
    }
    /// In an `on_sample` that [`PointControl::sample_after`] asked for: bytes counted since then, the frame in hand included.
    /// They are as many as were asked for, or up to a frame more.
    pub fn counted(&self) -> Bytes {
        Bytes::new(self.state.counted.max(0) as u64)
    }
    /// Wake at each frame with probability `p`; at none for p = 0.
    pub fn sample_with(&mut self, p: f64) {
        self.state.gate = if p <= 0.0 { Gate::Never } else { Gate::Probability(p) };
        self.state.countdown = if p <= 0.0 { NEVER } else { 0 };
    }
    /// Wake at frames that carry a tag.
    pub fn sample_tagged(&mut self) {
        self.state.gate = Gate::Tagged;
        self.state.countdown = 0;
    }
    /// Wake at every frame (costly: for algorithms that must compute on each).
    pub fn sample_always(&mut self) {
        self.state.gate = Gate::Always;
        self.state.countdown = 0;
    }
    /// Stop waking at frames; timers go on.
    pub fn sample_never(&mut self) {
        self.state.gate = Gate::Never;
        self.state.countdown = NEVER;
    }
    /// Wake with `on_probe` at every probe that arrives at this queue, for the whole run. In `start` only: elsewhere it stops the
    /// run.
    pub fn wake_at_probes(&mut self) {
        if self.state.started {
            self.fail("probes are armed in `start`");
        }
        self.state.probes = true;
    }
    /// Whether frames about to be dropped are counted and sampled (default: they are).
    pub fn sample_dropped(&mut self, on: bool) {
        self.state.sample_dropped = on;
    }
    /// Mark frames by this ramp from now on; the point is not woken for it.
    pub fn mark(&mut self, ramp: Ramp) {
        self.state.ramp = Some(ramp);
    }
    /// Write `min(tag, rate)` into rate-discovery tags of frames that start transmission from now on.
    pub fn stamp_rate(&mut self, rate: Rate) {
        self.state.stamp = Some(rate);
    }
    /// Send a message to the source of `flow`.
    pub fn notify(&mut self, flow: FlowId, feedback: Feedback) {
        self.actions.push(PointAction::Notify(flow, feedback));
    }
    /// Send a message to every host; it counts as one message. It reaches the reaction points of whole hosts
    /// ([`crate::Scope::Host`]) and builds none; where they are per flow it counts as ignored.
    pub fn broadcast(&mut self, feedback: Feedback) {
        self.actions.push(PointAction::Broadcast(feedback));
    }
    /// Start or restart a timer. A slot that is not 0 to 3 stops the run.
    pub fn start_timer(&mut self, slot: Slot, after: Time) {
        match no_slot(slot) {
            None => self.actions.push(PointAction::StartTimer(slot, after)),
            Some(why) => self.fail(why),
        }
    }
    /// Stop a timer; nothing happens where it does not run. A slot that is not 0 to 3 stops the run.
    pub fn stop_timer(&mut self, slot: Slot) {
        match no_slot(slot) {
            None => self.actions.push(PointAction::StopTimer(slot)),
            Some(why) => self.fail(why),
        }
    }
    /// In `on_probe`: end the probe here and send it back, as it now is, to its source at control priority.
    pub fn answer(&mut self) {
        self.actions.push(PointAction::Answer);
    }
    /// Add one to a counter, by name: one of [`crate::Scheme::counters`]. Another name stops the run.
    pub fn count(&mut self, counter: impl Into<Cow<'static, str>>) {
        self.actions.push(PointAction::Count(counter.into()));
    }
    /// Stop the run after this call, with time, site and cause.
    pub fn fail(&mut self, cause: impl Into<String>) {
        self.actions.push(PointAction::Fail(cause.into()));
    }
}

/// A limiter's data on the network's hot path. The current rate lives here, not in the reaction point. What every frame and
/// message touches stands first, in 40 bytes, as there may be one for each flow.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LimiterState {
    /// The rate at which the limiter paces the flow at present.
    pub rate: Rate,
    /// Rate of the access link: the upper bound.
    pub line_rate: Rate,
    /// Bytes to send until `on_bytes`; very large when not armed. What is sent is counted here alone.
    pub countdown: i64,
    /// Tag for the flow's frames, packed.
    tag: u32,
    /// Bytes waiting in the limiter's queue.
    pub backlog: u32,
    tag_kind: u8,
    /// Frames of the flow are queued and paced here (else they pass and are only counted).
    pub engaged: bool,
    /// Give the limiter back once its queue is empty.
    pub release: bool,
    /// The next frame's time is to be computed anew from the present rate.
    pub retime: bool,
    /// Largest data frame, bytes.
    mtu: u32,
    /// The countdown at the beginning, had nothing but frames changed it.
    armed: i64,
    /// The next frame that leaves is to be acknowledged: it carries the time.
    pub echo: bool,
    /// Probability with which a frame is tagged.
    pub tag_probability: f64,
    /// A rate above the line rate was asked for (and not given): the conformance suite looks here.
    pub above_line: bool,
    /// Random stream of the site.
    pub stream: Stream,
}

impl LimiterState {
    /// The state of a limiter that holds nothing back: not engaged, at line rate.
    pub fn new(line_rate: Rate, mtu: Bytes, stream: Stream) -> Self {
        Self {
            rate: line_rate,
            line_rate,
            above_line: false,
            mtu: mtu.get() as u32,
            countdown: NEVER,
            armed: NEVER,
            tag: 0,
            tag_kind: 0,
            echo: false,
            tag_probability: 1.0,
            engaged: false,
            release: false,
            retime: false,
            backlog: 0,
            stream,
        }
    }
    /// Length of the largest data frame of the flow.
    pub fn mtu(&self) -> Bytes {
        Bytes::new(u64::from(self.mtu))
    }
    /// Data bytes of the flow sent so far.
    pub fn sent(&self) -> u64 {
        (self.armed - self.countdown) as u64
    }
    /// Sets the number of data bytes sent so far.
    pub fn set_sent(&mut self, bytes: u64) {
        self.armed = self.countdown + bytes as i64;
    }
    /// Tag for the flow's frames.
    pub fn tag(&self) -> Tag {
        Tag::unpack(self.tag_kind, self.tag)
    }
    /// The flow's tag in packed form; that of a frame to be acknowledged has no time yet.
    #[inline]
    pub fn packed_tag(&self) -> (u8, u32) {
        if self.echo { (Tag::SENT_AT, 0) } else { (self.tag_kind, self.tag) }
    }
    /// The tag, in packed form, of the frame that leaves now; kind 0 where it has none. It draws where the flow's tag has a
    /// probability.
    #[inline]
    pub fn next_tag(&mut self, now: Time) -> (u8, u32) {
        if std::mem::take(&mut self.echo) {
            return Tag::sent_at(now).pack();
        }
        let tagged =
            self.tag_kind != 0 && (self.tag_probability >= 1.0 || self.stream.chance(self.tag_probability));
        if tagged { (self.tag_kind, self.tag) } else { (0, 0) }
    }
    /// Sets the current rate, as [`Limiter::set_rate`] says.
    #[inline]
    pub fn set_rate(&mut self, rate: Rate) {
        if rate > self.line_rate {
            self.above_line = true;
        }
        let rate = rate.min(self.line_rate);
        if self.rate == Rate::ZERO && rate > Rate::ZERO {
            self.retime = true;
        }
        self.rate = rate;
    }
    /// Bytes to send until `on_bytes`, from now on.
    fn arm(&mut self, countdown: i64) {
        self.armed += countdown - self.countdown;
        self.countdown = countdown;
    }
    /// `on_bytes` is due, or was: none until it is armed again.
    pub fn disarm(&mut self) {
        self.arm(NEVER);
    }
    fn set_tag(&mut self, tag: Tag, probability: f64) {
        (self.tag_kind, self.tag) = tag.pack();
        self.tag_probability = probability;
    }
}

/// What a reaction point asked for.
#[derive(Clone, Debug)]
pub enum LimiterAction {
    /// Start a timer that expires after this time, or start it anew.
    StartTimer(Slot, Time),
    /// Stop a timer.
    StopTimer(Slot),
    /// Send a probe along the flow.
    Probe(Probe),
    /// Add one to the counter of this name.
    Count(Cow<'static, str>),
    /// Stop the run with this cause.
    Fail(String),
}

/// Verbs lent to a reaction point: its rate limiter.
#[derive(Debug)]
pub struct Limiter<'a> {
    now: Time,
    state: &'a mut LimiterState,
    actions: &'a mut Vec<LimiterAction>,
}

impl<'a> Limiter<'a> {
    /// Built by the network for one call.
    pub fn new(now: Time, state: &'a mut LimiterState, actions: &'a mut Vec<LimiterAction>) -> Self {
        Self { now, state, actions }
    }
    /// Exchanges what stands behind the handle for what the caller holds. A bridge to another language, whose objects cannot
    /// borrow, keeps it in such an object for the time of a call, and exchanges it back.
    pub fn exchange(&mut self, state: &mut LimiterState, actions: &mut Vec<LimiterAction>) {
        std::mem::swap(self.state, state);
        std::mem::swap(self.actions, actions);
    }
    /// The present simulated time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// Uniform draw in [0, 1) from this site's own stream.
    pub fn uniform(&mut self) -> f64 {
        self.state.stream.uniform()
    }
    /// Current rate (`R`, `CR`).
    pub fn rate(&self) -> Rate {
        self.state.rate
    }
    /// Rate of the access link (`C`).
    pub fn line_rate(&self) -> Rate {
        self.state.line_rate
    }
    /// Largest data frame of the flow.
    pub fn mtu(&self) -> Bytes {
        self.state.mtu()
    }
    /// Sets the current rate, from the next frame on; at most the line rate. Zero stops the flow. A scheme that asks for more
    /// gets the line rate, and the conformance suite says so.
    pub fn set_rate(&mut self, rate: Rate) {
        self.state.set_rate(rate);
    }
    /// Computes the time of the frame already scheduled anew, from the present rate.
    pub fn retime(&mut self) {
        self.state.retime = true;
    }
    /// Queue and pace the flow's frames here from now on.
    pub fn engage(&mut self) {
        self.state.engaged = true;
        self.state.release = false;
    }
    /// True while frames are queued and paced here.
    pub fn is_engaged(&self) -> bool {
        self.state.engaged
    }
    /// Give the limiter back as soon as its queue is empty; a later [`Limiter::engage`] takes that back. A reaction point
    /// built on feedback is destroyed then.
    pub fn release_when_empty(&mut self) {
        self.state.release = true;
    }
    /// Wake with `on_bytes` when this many further bytes of the flow have been sent.
    pub fn wake_after(&mut self, bytes: Bytes) {
        self.state.arm((bytes.get() as i64).clamp(1, NEVER));
    }
    /// Takes back what [`Limiter::wake_after`] armed.
    pub fn wake_never(&mut self) {
        self.state.disarm();
    }
    /// Stamp this tag into the flow's frames.
    pub fn stamp(&mut self, tag: Tag) {
        self.state.set_tag(tag, 1.0);
    }
    /// Stamp this tag into each frame with probability `p`.
    pub fn stamp_with(&mut self, tag: Tag, p: f64) {
        self.state.set_tag(tag, p);
    }
    /// Asks for an acknowledgement of the next frame of the flow that leaves: [`crate::ReactionPoint::on_ack`]. The frame
    /// carries the time instead of the flow's tag. In `on_bytes`, armed by [`Limiter::wake_after`], that is one frame in so
    /// many bytes. The destination must answer: [`crate::Acknowledger`] behind [`crate::ReflectGate::Tagged`].
    pub fn echo_next(&mut self) {
        self.state.echo = true;
    }
    /// Send a 64 B probe; `sent_at` and `sent_bytes` are filled in.
    pub fn send_probe(&mut self, probe: Probe) {
        self.actions.push(LimiterAction::Probe(probe));
    }
    /// Start or restart a timer. A slot that is not 0 to 3 stops the run.
    pub fn start_timer(&mut self, slot: Slot, after: Time) {
        match no_slot(slot) {
            None => self.actions.push(LimiterAction::StartTimer(slot, after)),
            Some(why) => self.fail(why),
        }
    }
    /// Stop a timer; nothing happens where it does not run. A slot that is not 0 to 3 stops the run.
    pub fn stop_timer(&mut self, slot: Slot) {
        match no_slot(slot) {
            None => self.actions.push(LimiterAction::StopTimer(slot)),
            Some(why) => self.fail(why),
        }
    }
    /// Bytes waiting in the limiter's queue.
    pub fn backlog(&self) -> Bytes {
        Bytes::new(u64::from(self.state.backlog))
    }
    /// Data bytes of the flow sent so far.
    pub fn sent(&self) -> u64 {
        self.state.sent()
    }
    /// Add one to a counter, by name: one of [`crate::Scheme::counters`]. Another name stops the run.
    pub fn count(&mut self, counter: impl Into<Cow<'static, str>>) {
        self.actions.push(LimiterAction::Count(counter.into()));
    }
    /// Stop the run after this call, with time, site and cause.
    pub fn fail(&mut self, cause: impl Into<String>) {
        self.actions.push(LimiterAction::Fail(cause.into()));
    }
}

/// Which received data frames wake a reflector (probes always do).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum ReflectGate {
    /// No data frame wakes the reflector.
    #[default]
    Never,
    /// Marked frames wake it, as in DCQCN.
    Marked,
    /// Unmarked frames, each with this probability (QCN-3pt).
    Unmarked(f64),
    /// Frames with a tag.
    Tagged,
    /// None. The host itself returns each rate-discovery tag as it is, in [`Feedback::ReturnedRate`], and adds one to the
    /// scheme's counter of this name: copying a tag needs no algorithm (FECN).
    ReturnTags(&'static str),
    /// Every frame wakes it.
    Always,
}

/// A reflector's data in the network.
#[derive(Clone, Debug)]
pub struct ReflectorState {
    /// Frames that arrive before this time do not wake it.
    pub deaf_until: Time,
    /// Which data frames wake it: what the plan says, until [`ReflectorControl::hear`] says otherwise.
    pub gate: ReflectGate,
    /// Why the gate cannot be changed, if it cannot.
    fixed: Option<&'static str>,
    /// Data bytes received for the flow (or station) since it was built, where the plan says that they are asked for.
    pub received: u64,
    /// Whether `received` is maintained.
    pub counts: bool,
    /// Random stream of the site.
    pub stream: Stream,
}

impl ReflectorState {
    /// The state of a reflector that hears what the plan's gate selects.
    pub fn new(stream: Stream, plan: &Plan) -> Self {
        let fixed = match plan.reflect {
            ReflectGate::Never => Some("by its plan no data frame wakes a reflector"),
            ReflectGate::ReturnTags(_) => Some("by its plan the host returns tags itself"),
            _ => None,
        };
        let (gate, counts) = (plan.reflect, plan.received);
        Self { deaf_until: Time::ZERO, gate, fixed, received: 0, counts, stream }
    }
    /// Whether a data frame that arrives now wakes the reflector, if its gate selects the frame.
    pub fn listens(&self, now: Time) -> bool {
        self.deaf_until <= now
    }
}

/// What a reflector asked for.
#[derive(Clone, Debug)]
pub enum ReflectorAction {
    /// Send a message to the source of the frame in hand.
    Reply(Feedback),
    /// Add one to the counter of this name.
    Count(Cow<'static, str>),
    /// Stop the run with this cause.
    Fail(String),
}

/// Verbs lent to a reflector.
#[derive(Debug)]
pub struct ReflectorControl<'a> {
    now: Time,
    state: &'a mut ReflectorState,
    actions: &'a mut Vec<ReflectorAction>,
}

impl<'a> ReflectorControl<'a> {
    /// Built by the network for one call.
    pub fn new(now: Time, state: &'a mut ReflectorState, actions: &'a mut Vec<ReflectorAction>) -> Self {
        Self { now, state, actions }
    }
    /// Exchanges what stands behind the handle for what the caller holds. A bridge to another language, whose objects cannot
    /// borrow, keeps it in such an object for the time of a call, and exchanges it back.
    pub fn exchange(&mut self, state: &mut ReflectorState, actions: &mut Vec<ReflectorAction>) {
        std::mem::swap(self.state, state);
        std::mem::swap(self.actions, actions);
    }
    /// The present simulated time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// Uniform draw in [0, 1) from this site's own stream.
    pub fn uniform(&mut self) -> f64 {
        self.state.stream.uniform()
    }
    /// Send a message to the source of the frame or probe in hand, at control priority.
    pub fn reply(&mut self, feedback: Feedback) {
        self.actions.push(ReflectorAction::Reply(feedback));
    }
    /// Stay deaf to data frames for this long.
    pub fn ignore_for(&mut self, time: Time) {
        self.state.deaf_until = self.now + time;
    }
    /// From the next data frame on, those that this gate selects wake this reflector. Where the plan's gate is
    /// [`ReflectGate::Never`] or [`ReflectGate::ReturnTags`], or this one is the latter, the run stops.
    pub fn hear(&mut self, gate: ReflectGate) {
        let refused = match gate {
            ReflectGate::ReturnTags(_) => Some("tags are returned by plan only"),
            _ => self.state.fixed,
        };
        match refused {
            Some(why) => self.fail(format!("it asks to hear other frames, but {why}")),
            None => self.state.gate = gate,
        }
    }
    /// Data bytes received since it was built, the frame in hand included. The plan must say so ([`crate::Plan::received`]).
    pub fn received(&mut self) -> u64 {
        if !self.state.counts {
            self.fail("it asks for the bytes received, but `Plan::received` is off");
        }
        self.state.received
    }
    /// Add one to a counter, by name: one of [`crate::Scheme::counters`]. Another name stops the run.
    pub fn count(&mut self, counter: impl Into<Cow<'static, str>>) {
        self.actions.push(ReflectorAction::Count(counter.into()));
    }
    /// Stop the run after this call, with time, site and cause.
    pub fn fail(&mut self, cause: impl Into<String>) {
        self.actions.push(ReflectorAction::Fail(cause.into()));
    }
}
