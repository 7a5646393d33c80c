//! Rigs that drive one scheme alone, and the conformance suite that any scheme can run.

use crate::{
    Bytes, Class, Feedback, FlowId, FrameView, Limiter, LimiterAction, LimiterState, NodeId, PointAction,
    PointControl, PointId, PointState, Purpose, Queue, QueueKind, QueueSite, Rate, ReactionPoint, Scheme,
    Slot, SourceSite, Stream, Tag, Time,
};
use crate::{CongestionPoint, Probe, ProbeTarget};

/// One reaction point with its limiter, told what happens by hand.
#[derive(Debug)]
pub struct ReactionRig {
    scheme: Box<dyn Scheme>,
    object: Option<Box<dyn ReactionPoint>>,
    state: LimiterState,
    now: Time,
    timers: Vec<(Time, Slot)>,
    /// All that the reaction point asked for.
    pub actions: Vec<LimiterAction>,
}

impl ReactionRig {
    /// A flow on a line of this rate, not limited yet.
    pub fn new(scheme: impl Scheme + 'static, line: Rate) -> Self {
        Self::boxed(Box::new(scheme), line, 1)
    }

    /// The same for a boxed scheme, with a seed.
    pub fn boxed(scheme: Box<dyn Scheme>, line: Rate, seed: u64) -> Self {
        let state = LimiterState::new(line, Bytes::new(1500), Stream::new(seed, 0, Purpose::Reaction));
        Self { scheme, object: None, state, now: Time::ZERO, timers: Vec::new(), actions: Vec::new() }
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>)) {
        let Some(object) = &mut self.object else { return };
        let mut actions = Vec::new();
        call(object.as_mut(), &mut Limiter::new(self.now, &mut self.state, &mut actions));
        for action in &actions {
            match *action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.retain(|t| t.1 != slot);
                    self.timers.push((self.now + after, slot));
                }
                LimiterAction::StopTimer(slot) => self.timers.retain(|t| t.1 != slot),
                _ => {}
            }
        }
        self.actions.extend(actions);
        if self.state.release {
            self.state.release = false;
            self.state.engaged = false;
            if self.scheme.plan().built == crate::Built::OnFeedback {
                self.object = None;
                self.timers.clear();
            }
        }
    }

    /// Delivers a message.
    pub fn feedback(&mut self, feedback: &Feedback) {
        if self.object.is_none() {
            if !self.scheme.engages(feedback) {
                return;
            }
            self.state = LimiterState::new(self.state.line_rate, self.state.mtu, self.state.stream.clone());
            self.object = self.scheme.reaction_point(&SourceSite {
                flow: FlowId(1),
                src: NodeId(0),
                dst: NodeId(1),
                class: Class::Data,
                line_rate: self.state.line_rate,
                base_rtt: Time::from_us(6),
                mtu: self.state.mtu,
                size: None,
            });
            self.call(|object, limiter| object.start(limiter));
        }
        self.call(|object, limiter| object.on_feedback(feedback, limiter));
    }

    /// Delivers a QCN message with this quantised feedback.
    pub fn cnm(&mut self, qntz_fb: u8) {
        self.feedback(&Feedback::Cnm { point: PointId(0), qntz_fb, q_off: -1, q_delta: 0 });
    }

    /// The flow sends this many bytes, frame by frame, with no time passing.
    pub fn send(&mut self, mut bytes: u64) {
        while bytes > 0 {
            let len = bytes.min(1500);
            bytes -= len;
            self.state.sent += len;
            self.state.countdown -= len as i64;
            if self.state.countdown <= 0 {
                self.state.countdown = i64::MAX / 2;
                self.call(|object, limiter| object.on_bytes(limiter));
            }
        }
    }

    /// Lets time pass; timers expire in order.
    pub fn wait(&mut self, time: Time) {
        let end = self.now + time;
        while let Some(&(at, slot)) = self.timers.iter().filter(|t| t.0 <= end).min_by_key(|t| (t.0, t.1.0)) {
            self.timers.retain(|t| t.1 != slot);
            self.now = at;
            self.call(|object, limiter| object.on_timer(slot, limiter));
        }
        self.now = end;
    }

    /// Present rate (line rate while there is no limiter).
    pub fn rate(&self) -> Rate {
        if self.state.engaged { self.state.rate } else { self.state.line_rate }
    }

    /// Is the flow limited?
    pub fn engaged(&self) -> bool {
        self.state.engaged
    }
}

/// One congestion point at a queue whose length is scripted.
#[derive(Debug)]
pub struct PointRig {
    object: Box<dyn CongestionPoint>,
    /// Hot-path data, as the network keeps it.
    pub state: PointState,
    now: Time,
    line: Rate,
    /// All that the congestion point asked for.
    pub actions: Vec<PointAction>,
}

impl PointRig {
    /// The congestion point of a switch port of this rate; none where the scheme has none.
    pub fn new(scheme: &dyn Scheme, line: Rate, seed: u64) -> Option<Self> {
        let site = QueueSite {
            node: NodeId(2),
            port: 0,
            point: PointId(7),
            class: Class::Data,
            rate: line,
            kind: QueueKind::SwitchOutput,
            attached: true,
        };
        let object = scheme.congestion_point(&site)?;
        let state = PointState::new(Stream::new(seed, 7, Purpose::Point));
        let mut rig = Self { object, state, now: Time::ZERO, line, actions: Vec::new() };
        let queue = rig.queue(0);
        rig.object.start(&queue, &mut PointControl::new(rig.now, &mut rig.state, &mut rig.actions));
        Some(rig)
    }

    fn queue(&self, len: u64) -> Queue {
        let line = self.line;
        Queue { len: Bytes::new(len), line_rate: line, service_rate: line, arrived: 0, sent: 0, dropped: 0 }
    }

    /// A 1500 B frame of a flow arrives and finds (itself included) this queue. Gates but the byte counter always fire.
    pub fn frame(&mut self, flow: u32, queue: u64, tag: Tag) -> FrameView {
        let (src, dst) = (NodeId(flow), NodeId(0));
        let flow = FlowId(flow);
        let mut view =
            FrameView { flow, src, dst, len: Bytes::new(1500), marked: false, tag, dropped: false };
        self.state.countdown -= 1500;
        if self.state.countdown <= 0 {
            self.state.countdown = i64::MAX / 2;
            let queue = self.queue(queue);
            let mut ctl = PointControl::new(self.now, &mut self.state, &mut self.actions);
            self.object.on_sample(&mut view, &queue, &mut ctl);
        }
        view
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

/// Messages of every format with extreme values: what a broken or hostile network could deliver.
pub fn hostile_feedback() -> Vec<Feedback> {
    let mut all = vec![Feedback::Reflection, Feedback::Cnp, Feedback::User([u64::MAX; 2])];
    for point in [PointId(0), PointId(u32::MAX)] {
        for fb in [0.0, -1.0, 1.0, -1e300, 1e300, f64::NAN, f64::NEG_INFINITY] {
            for stop in [false, true] {
                all.push(Feedback::Ecm { point, q_off: fb, q_delta: -fb, fb, stop });
            }
        }
        for qntz_fb in [0, 1, 63, 255] {
            all.push(Feedback::Cnm { point, qntz_fb, q_off: i32::MIN, q_delta: i32::MAX });
        }
        for rate in [Rate::ZERO, Rate::from_bps(1.0), Rate::from_gbps(1e6)] {
            all.push(Feedback::AdvertisedRate { point, rate });
            all.push(Feedback::ReturnedRate { rate });
            let mut probe = Probe::new(u32::MAX, ProbeTarget::Point(point), Class::Data);
            probe.fb = i32::MIN;
            all.push(Feedback::ProbeReply { probe, at: Time::MAX, rx_rate: rate });
        }
    }
    all
}

/// What a scheme promises beyond the bounds that all must keep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promise {
    /// Smallest rate of a limiter.
    pub floor: Rate,
    /// A flow that sends on without feedback is back at line rate within this many bytes and this time.
    pub recovers: Option<(Bytes, Time)>,
}

/// The conformance suite: bounds under hostile, duplicated, reordered feedback; recovery; same seed, same trace; no
/// effect without congestion. `make` builds a fresh scheme.
///
/// # Errors
/// The first promise that is broken.
pub fn conformance(make: &dyn Fn() -> Box<dyn Scheme>, promise: Promise) -> Result<(), String> {
    let line = Rate::from_gbps(10.0);
    let trace = |seed: u64| -> Result<Vec<u64>, String> {
        let mut rig = ReactionRig::boxed(make(), line, seed);
        let mut draws = Stream::new(seed, 1, Purpose::Test);
        let list = hostile_feedback();
        let mut trace = Vec::new();
        for step in 0..2000 {
            let message = list[draws.below(list.len() as u64) as usize];
            rig.feedback(&message);
            if draws.chance(0.3) {
                rig.feedback(&message);
            }
            rig.send(draws.below(40_000));
            rig.wait(Time::from_us(draws.below(300)));
            let rate = rig.rate();
            let stopped = rate == Rate::ZERO;
            if !rate.bps().is_finite() || rate > line || (rate < promise.floor && !stopped) {
                return Err(format!(
                    "step {step}: rate {rate} outside [{}, {line}] after {message:?}",
                    promise.floor
                ));
            }
            trace.push(rate.bps().to_bits());
        }
        Ok(trace)
    };
    if trace(3)? != trace(3)? {
        return Err("the same seed gives another trace".into());
    }
    if let Some((bytes, time)) = promise.recovers {
        let mut rig = ReactionRig::boxed(make(), line, 5);
        (0..20).for_each(|_| rig.cnm(40));
        let fb = -500.0;
        (0..20).for_each(|_| {
            rig.feedback(&Feedback::Ecm { point: PointId(7), q_off: fb, q_delta: 0.0, fb, stop: false })
        });
        let steps = 4000;
        for _ in 0..steps {
            rig.send(bytes.get() / steps);
            rig.wait(Time::from_ps(time.as_ps() / steps));
        }
        if rig.rate() < line {
            return Err(format!("after {bytes} and {time} without feedback the rate is {}", rig.rate()));
        }
    }
    if let Some(mut rig) = PointRig::new(make().as_ref(), line, 9) {
        (0..5000).for_each(|i| {
            rig.frame(i % 9, 1500, Tag::None);
        });
        let cut = rig.messages().into_iter().any(|m| match m {
            Feedback::Ecm { fb, stop, .. } => fb < 0.0 || stop,
            Feedback::Cnm { qntz_fb, .. } => qntz_fb > 0,
            _ => false,
        });
        if cut {
            return Err("an uncongested queue sends a message that lowers a rate".into());
        }
    }
    Ok(())
}
