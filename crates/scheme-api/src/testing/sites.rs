//! One congestion point and one reflector, alone.

use super::{HOSTS, Timers, keep, known};
use crate::network::{
    Counts, Lent, NO_PROBE, NO_TELEMETRY, PointAction, PointState, Purpose, ReflectorAction, ReflectorState,
    Stream, rewritten,
};
use crate::{
    Acks, Bytes, CongestionPoint, Feedback, FlowId, FrameView, Gauge, NodeId, PointControl, PointId, Probe,
    Queue, QueueSite, RampAt, Rate, ReflectGate, Reflector, ReflectorControl, Scheme, SinkSite, Tag, Time,
};

/// One congestion point at a queue whose length is scripted.
#[derive(Debug)]
pub struct PointRig {
    object: Box<dyn CongestionPoint>,
    /// Hot-path data, as the network keeps it.
    pub state: PointState,
    now: Time,
    line: Rate,
    timers: Timers,
    marks: Stream,
    len: u64,
    arrived: u64,
    /// In XOFF since, and how long it was before.
    paused: Option<Time>,
    paused_before: Time,
    /// The point is woken as frames leave.
    departures: bool,
    /// Frames carry the records of ports.
    telemetry: bool,
    /// The counts of the congestion point.
    pub counts: Counts,
    gauges: Vec<Gauge>,
    /// The requests of the congestion point: the last 100 000 at least.
    pub actions: Vec<PointAction>,
    /// Why a run would have been stopped.
    pub failure: Option<String>,
}

impl PointRig {
    /// The congestion point of a switch port of this rate; none where the scheme has none.
    pub fn new(scheme: &dyn Scheme, line: Rate, seed: u64) -> Option<Self> {
        let site = QueueSite { point: PointId(7), rate: line, attached: true };
        let mut rig = Self {
            object: scheme.congestion_point(&site)?,
            state: PointState::new(Stream::new(seed, 7, Purpose::Point), HOSTS),
            now: Time::ZERO,
            line,
            timers: Timers::default(),
            marks: Stream::new(seed, 7, Purpose::Node),
            len: 0,
            arrived: 0,
            paused: None,
            paused_before: Time::ZERO,
            departures: scheme.plan().departures,
            telemetry: scheme.plan().acks == Acks::Telemetry,
            counts: Counts::new(scheme.counters()),
            gauges: scheme.gauges(),
            actions: Vec::new(),
            failure: None,
        };
        rig.call(false, |object, queue, ctl| object.start(queue, ctl));
        rig.state.run();
        Some(rig)
    }

    /// Calls the object, with a probe in hand or none; true when it answered it.
    fn call(
        &mut self,
        probed: bool,
        call: impl FnOnce(&mut dyn CongestionPoint, &Queue, &mut PointControl<'_>),
    ) -> bool {
        let queue = Queue {
            len: Bytes::new(self.len),
            line_rate: self.line,
            service_rate: self.line,
            arrived: self.arrived,
            sent: self.arrived.saturating_sub(self.len),
            paused: self.paused.map(|since| self.now.saturating_sub(since)),
            paused_in_all: self.paused_before + self.now.saturating_sub(self.paused.unwrap_or(self.now)),
        };
        let mut actions = Vec::new();
        let mut ctl = PointControl::new(self.now, &mut self.state, &mut actions);
        call(self.object.as_mut(), &queue, &mut ctl);
        let mut answered = false;
        for action in &actions {
            match action {
                PointAction::StartTimer(slot, after) => {
                    self.timers.start(*slot, self.now, *after);
                }
                PointAction::StopTimer(slot) => self.timers.stop(*slot),
                PointAction::Answer if probed => answered = true,
                PointAction::Answer => drop(self.failure.get_or_insert_with(|| NO_PROBE.into())),
                PointAction::Fail(cause) => {
                    self.failure.get_or_insert_with(|| format!("the congestion point fails: {cause}"));
                }
                PointAction::Count(name) => {
                    if let Err(why) = self.counts.add(name) {
                        self.failure.get_or_insert(why);
                    }
                }
                PointAction::Gauge(name, _) => {
                    if let Err(why) = known(&self.gauges, name) {
                        self.failure.get_or_insert(why);
                    }
                }
                PointAction::Notify(..) | PointAction::Broadcast(_) => {}
            }
        }
        if self.state.records && !self.telemetry {
            self.failure.get_or_insert_with(|| NO_TELEMETRY.into());
        }
        keep(&mut self.actions, actions);
        answered
    }

    /// A 1500 B frame of a flow arrives, finds (itself included) this queue, and leaves. Gate, ramp and advertised rate act as
    /// in a switch.
    pub fn frame(&mut self, flow: u32, queue: u64, tag: Tag) -> FrameView {
        let (src, dst) = (NodeId(flow), NodeId(0));
        let flow = FlowId(flow);
        let mut view =
            FrameView { flow, src, dst, len: Bytes::new(1500), marked: false, tag, dropped: false };
        self.len = queue;
        self.arrived += 1500;
        self.mark(RampAt::Arrival, queue, &mut view);
        self.state.countdown -= 1500;
        if self.state.countdown <= 0 {
            let wakes = self.state.wakes(self.state.countdown, view.tag != Tag::None);
            if wakes {
                self.call(false, |object, queue, ctl| object.on_sample(&mut view, queue, ctl));
                if let Err(why) = rewritten(&view) {
                    self.failure.get_or_insert(why);
                }
            }
        }
        if let (Some(advertised), Tag::RateDiscovery(rate)) = (self.state.advertised, view.tag) {
            view.tag = Tag::RateDiscovery(rate.min(advertised));
        }
        if self.departures {
            self.call(false, |object, queue, ctl| object.on_departure(&mut view, queue, ctl));
            if let Err(why) = rewritten(&view) {
                self.failure.get_or_insert(why);
            }
        }
        self.mark(RampAt::Departure, queue.saturating_sub(1500), &mut view);
        view
    }

    /// Does the point ask for anything, or change the frame, as a frame leaves that found this queue? It is called under
    /// every plan.
    pub(super) fn acts_on_departure(&mut self, queue: u64) -> bool {
        let before = self.frame(1, queue, Tag::None);
        let mut view = before;
        self.actions.clear();
        self.call(false, |object, queue, ctl| object.on_departure(&mut view, queue, ctl));
        !self.actions.is_empty() || (view.marked, view.tag) != (before.marked, before.tag)
    }

    fn mark(&mut self, at: RampAt, queue: u64, view: &mut FrameView) {
        let ramp = self.state.ramp.filter(|r| r.at == at);
        view.marked |= ramp.is_some_and(|r| r.marks(queue, &mut self.marks));
    }

    /// The point armed probes in its `start`.
    pub fn wakes_at_probes(&self) -> bool {
        self.state.probes
    }

    /// A probe of a flow arrives and finds this queue; true when it was answered here. A point that has not armed probes is
    /// not woken.
    pub fn probe(&mut self, probe: &mut Probe, flow: u32, queue: u64) -> bool {
        self.len = queue;
        self.state.probes
            && self.call(true, |object, queue, ctl| object.on_probe(probe, FlowId(flow), queue, ctl))
    }

    /// The port enters XOFF, or leaves it.
    pub fn pause(&mut self, off: bool) {
        match (off, self.paused) {
            (true, None) => self.paused = Some(self.now),
            (false, Some(since)) => {
                self.paused = None;
                self.paused_before += self.now.saturating_sub(since);
            }
            _ => {}
        }
    }

    /// Lets time pass over a queue that stays as it is; timers expire in order.
    pub fn wait(&mut self, time: Time) {
        let end = self.now + time;
        while let Some((at, slot)) = self.timers.next(end) {
            self.now = at;
            match self.state.patience.expires(slot, at) {
                Ok(()) => {
                    self.call(false, |object, queue, ctl| object.on_timer(slot, queue, ctl));
                }
                Err(why) => drop(self.failure.get_or_insert(why)),
            }
        }
        self.now = end;
    }

    /// The messages sent so far.
    pub fn messages(&self) -> Vec<Feedback> {
        self.actions
            .iter()
            .filter_map(|a| match a {
                PointAction::Notify(_, f) | PointAction::Broadcast(f) => Some(*f),
                _ => None,
            })
            .collect()
    }
}

/// One reflector of flow 1, built with the first frame or probe that wakes it.
#[derive(Debug)]
pub struct ReflectorRig {
    /// None where tags are returned without one.
    object: Option<Box<dyn Reflector>>,
    /// Draws of the gate.
    draws: Stream,
    started: bool,
    /// Data in the network.
    pub state: ReflectorState,
    now: Time,
    timers: Timers,
    /// The counts of the reflector.
    pub counts: Counts,
    gauges: Vec<Gauge>,
    /// The requests of the reflector: the last 100 000 at least.
    pub actions: Vec<ReflectorAction>,
    /// Why a run would have been stopped.
    pub failure: Option<String>,
}

impl ReflectorRig {
    /// The reflector of a host on a line of this rate; none where the scheme has none.
    pub fn new(scheme: &dyn Scheme, line: Rate, seed: u64) -> Option<Self> {
        let site = SinkSite { flow: FlowId(1), src: NodeId(0), dst: NodeId(1), line_rate: line };
        let stream = Stream::new(seed, 5, Purpose::Reflector);
        let gate = scheme.plan().reflect;
        let object = scheme.reflector(&site);
        if object.is_none() && !matches!(gate, ReflectGate::ReturnTags(_)) {
            return None;
        }
        Some(Self {
            object,
            draws: Stream::new(seed, 5, Purpose::Node),
            started: false,
            state: ReflectorState::new(stream, &scheme.plan()),
            now: Time::ZERO,
            timers: Timers::default(),
            counts: Counts::new(scheme.counters()),
            gauges: scheme.gauges(),
            actions: Vec::new(),
            failure: None,
        })
    }

    /// Calls the object; yields its messages.
    fn call(&mut self, call: impl FnOnce(&mut dyn Reflector, &mut ReflectorControl<'_>)) -> Vec<Feedback> {
        let mut actions = Vec::new();
        let Some(object) = &mut self.object else { return Vec::new() };
        let mut ctl = ReflectorControl::new(self.now, &mut self.state, &mut actions);
        if !std::mem::replace(&mut self.started, true) {
            object.start(&mut ctl);
        }
        call(object.as_mut(), &mut ctl);
        self.carry_out(actions)
    }

    /// Carries out the requests of the reflector; yields the messages.
    fn carry_out(&mut self, actions: Vec<ReflectorAction>) -> Vec<Feedback> {
        let mut replies = Vec::new();
        for action in &actions {
            match action {
                ReflectorAction::Reply(feedback) => replies.push(*feedback),
                ReflectorAction::StartTimer(slot, after) => {
                    self.timers.start(*slot, self.now, *after);
                }
                ReflectorAction::StopTimer(slot) => self.timers.stop(*slot),
                ReflectorAction::Fail(cause) => {
                    self.failure.get_or_insert_with(|| format!("the reflector fails: {cause}"));
                }
                ReflectorAction::Gauge(name, _) => {
                    if let Err(why) = known(&self.gauges, name) {
                        self.failure.get_or_insert(why);
                    }
                }
                ReflectorAction::Count(name) => {
                    if let Err(why) = self.counts.add(name) {
                        self.failure.get_or_insert(why);
                    }
                }
            }
        }
        keep(&mut self.actions, actions);
        replies
    }

    /// A data frame arrives; yields the messages it causes. Its gate and deaf times act as in a host.
    pub fn frame(&mut self, frame: &FrameView) -> Vec<Feedback> {
        let (state, mut returned) = (&self.state, Vec::new());
        let listens = || state.listens(self.now);
        let wakes = state.gate.wakes(frame.marked, frame.tag.pack().0, listens, &mut self.draws);
        if wakes && state.gate.return_tag(frame.tag, &mut returned) {
            return self.carry_out(returned);
        }
        if self.started || wakes {
            self.state.received += frame.len.get();
        }
        let mut replies = if wakes { self.call(|_, _| ()) } else { Vec::new() };
        if wakes && self.state.listens(self.now) {
            replies.extend(self.call(|object, ctl| object.on_frame(frame, ctl)));
        }
        replies
    }

    /// Does the reflector ask for anything as a frame arrives? It is called under every plan.
    pub(super) fn acts_on_frame(&mut self) -> bool {
        let (flow, src, dst, len) = (FlowId(1), NodeId(0), NodeId(1), Bytes::new(1500));
        let view = FrameView { flow, src, dst, len, marked: true, tag: Tag::User(1), dropped: false };
        self.call(|_, _| ());
        self.actions.clear();
        self.call(|object, ctl| object.on_frame(&view, ctl));
        !self.actions.is_empty()
    }

    /// A probe of flow 1 arrives; yields the messages it causes.
    pub fn probe(&mut self, probe: &Probe) -> Vec<Feedback> {
        self.call(|object, ctl| object.on_probe(probe, FlowId(1), ctl))
    }

    /// Lets this much time pass without a frame; timers expire in order. Yields the messages they cause.
    pub fn wait(&mut self, time: Time) -> Vec<Feedback> {
        let (end, mut replies) = (self.now + time, Vec::new());
        while let Some((at, slot)) = self.timers.next(end) {
            self.now = at;
            if let Err(why) = self.state.expires(slot, at) {
                self.failure.get_or_insert(why);
                continue;
            }
            let mut actions = Vec::new();
            if let Some(object) = &mut self.object {
                object.on_timer(slot, &mut ReflectorControl::new(at, &mut self.state, &mut actions));
            }
            self.state.asked_by_timer(&mut actions);
            replies.extend(self.carry_out(actions));
        }
        self.now = end;
        replies
    }
}
