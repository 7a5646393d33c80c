//! The seam carries what later schemes need: stubs of BECN, FECN, E2CM, QCN-SP and DCQCN, behind the published traits
//! only, and told by hand. They control nothing; they show that each mechanism can be said.
#![allow(clippy::unwrap_used)]

use cnsim_scheme_api::network::{
    Lent, LimiterAction, LimiterState, PointAction, PointState, Purpose, ReflectorAction, ReflectorState,
    Stream,
};
use cnsim_scheme_api::testing::PointRig;
use cnsim_scheme_api::{
    Built, Bytes, Class, CongestionPoint, Feedback, FlowId, FrameView, Limiter, NodeId, Plan, PointControl,
    PointId, Probe, ProbeTarget, Queue, QueueSite, Ramp, RampAt, Rate, ReactionPoint, ReflectGate, Reflector,
    ReflectorControl, Scheme, Scope, SinkSite, Slot, SourceSite, Tag, Time,
};

const LINE: f64 = 10.0;

fn queue(len: u64) -> Queue {
    let line_rate = Rate::from_gbps(LINE);
    Queue { len: Bytes::new(len), line_rate, service_rate: line_rate, arrived: 30_000, ..Queue::default() }
}

fn limiter_state() -> LimiterState {
    LimiterState::new(Rate::from_gbps(LINE), Stream::new(1, 1, Purpose::Reaction))
}

/// A frame of flow 1.
fn frame(tag: Tag) -> FrameView {
    FrameView {
        flow: FlowId(1),
        src: NodeId(0),
        dst: NodeId(1),
        len: Bytes::new(1500),
        marked: true,
        tag,
        dropped: false,
    }
}

/// BECN: a timer at every port, a broadcast, one limiter for the whole host.
#[derive(Debug)]
struct Becn;

impl Scheme for Becn {
    fn name(&self) -> &str {
        "becn-stub"
    }
    fn plan(&self) -> Plan {
        Plan { limiter_scope: Scope::Host, built: Built::FirstFrame, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(BecnPoint(site.point, 0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(ObeyRate))
    }
}

#[derive(Debug)]
struct BecnPoint(PointId, u64);

impl CongestionPoint for BecnPoint {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        let phase = Time::from_us(30).scale(ctl.uniform());
        ctl.start_timer(Slot(0), phase);
    }
    fn on_timer(&mut self, slot: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        let load = (queue.arrived - self.1) as f64 * 8.0 / 30e-6 / queue.line_rate.bps();
        self.1 = queue.arrived;
        ctl.broadcast(Feedback::AdvertisedRate { point: self.0, rate: queue.line_rate / load.max(0.1) });
        ctl.start_timer(slot, Time::from_us(30));
    }
}

#[derive(Debug)]
struct ObeyRate;

impl ReactionPoint for ObeyRate {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if let Feedback::AdvertisedRate { rate, .. } | Feedback::ReturnedRate { rate } = *feedback {
            limiter.engage();
            limiter.set_rate(rate);
        }
    }
}

#[test]
fn becn_measures_broadcasts_and_limits_the_host() {
    let mut rig = PointRig::new(&Becn, Rate::from_gbps(LINE), 1).unwrap();
    assert!(matches!(rig.actions[0], PointAction::StartTimer(Slot(0), t) if t < Time::from_us(30)));
    let (mut actions, mut state) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
    let mut point = BecnPoint(PointId(3), 0);
    point.on_timer(Slot(0), &queue(0), &mut PointControl::new(Time::ZERO, &mut state, &mut actions));
    // 30 kB in 30 us are 8 Gb/s of 10: the port could offer 1.25 times as much.
    assert!(
        matches!(actions[0], PointAction::Broadcast(Feedback::AdvertisedRate { rate, .. }) if (rate.gbps() - 12.5).abs() < 1e-9)
    );
    assert_eq!(Becn.plan().limiter_scope, Scope::Host);
    rig.actions.clear();
}

/// FECN: tags stamped with the smallest rate as frames start transmission, returned by the destination.
#[derive(Debug)]
struct Fecn;

impl Scheme for Fecn {
    fn name(&self) -> &str {
        "fecn-stub"
    }
    fn plan(&self) -> Plan {
        Plan {
            reflect: ReflectGate::Tagged,
            reflector_scope: Scope::Host,
            built: Built::FirstFrame,
            ..Plan::default()
        }
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Return))
    }
}

#[derive(Debug)]
struct Return;

impl Reflector for Return {
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        if let Tag::RateDiscovery(rate) = frame.tag {
            ctl.reply(Feedback::ReturnedRate { rate });
        }
    }
}

fn reflector() -> ReflectorState {
    ReflectorState::new(Stream::new(1, 1, Purpose::Reflector), &Plan::default())
}

#[test]
fn fecn_stamps_in_flight_and_returns() {
    let (mut actions, mut state) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
    PointControl::new(Time::ZERO, &mut state, &mut actions).advertise(Rate::from_gbps(2.5));
    assert_eq!(state.advertised, Some(Rate::from_gbps(2.5)));
    let mut limiter = limiter_state();
    Limiter::new(Time::ZERO, &mut limiter, &mut Vec::new())
        .tag_frames_with(Tag::RateDiscovery(Rate::from_gbps(LINE)), 0.01);
    assert_eq!((limiter.tag_probability, limiter.tag()), (0.01, Tag::RateDiscovery(Rate::from_gbps(LINE))));
    let mut said = Vec::new();
    let mut state = reflector();
    Return.on_frame(
        &frame(Tag::RateDiscovery(Rate::from_gbps(2.5))),
        &mut ReflectorControl::new(Time::ZERO, &mut state, &mut said),
    );
    assert!(
        matches!(said[0], ReflectorAction::Reply(Feedback::ReturnedRate { rate }) if rate == Rate::from_gbps(2.5))
    );
    assert_eq!(Fecn.plan().reflect, ReflectGate::Tagged);
    assert!(Fecn.reaction_point_is_optional());
}

/// Bytes received are counted only where the plan says that they are asked for; else a run that asks is stopped.
#[test]
fn bytes_received_are_asked_for_by_plan() {
    for counts in [true, false] {
        let mut state = ReflectorState::new(
            Stream::new(1, 1, Purpose::Reflector),
            &Plan { received: counts, ..Plan::default() },
        );
        state.received = 1500;
        let mut said = Vec::new();
        assert_eq!(ReflectorControl::new(Time::ZERO, &mut state, &mut said).received(), 1500);
        assert_eq!(said.iter().any(|a| matches!(a, ReflectorAction::Fail(_))), !counts, "{said:?}");
    }
}

trait Optional {
    fn reaction_point_is_optional(&self) -> bool;
}

impl Optional for Fecn {
    fn reaction_point_is_optional(&self) -> bool {
        let site =
            SinkSite { flow: FlowId(1), src: NodeId(0), dst: NodeId(1), line_rate: Rate::from_gbps(LINE) };
        self.reflector(&site).is_some()
    }
}

/// E2CM: a probe in the data class behind the frame just sent, answered at high priority; QCN-SP: one ended on its way.
#[derive(Debug)]
struct Prober(ProbeTarget);

impl ReactionPoint for Prober {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.wake_after(Bytes::from_kb(75));
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        limiter.send_probe(Probe::new(1, self.0, Class::Data));
        limiter.wake_after(Bytes::from_kb(75));
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if let Feedback::ProbeReply { probe, at, .. } = feedback {
            let latency = at.saturating_sub(probe.sent_at);
            limiter.engage();
            limiter.set_rate(if latency > Time::from_us(20) {
                limiter.rate() * 0.5
            } else {
                limiter.line_rate()
            });
        }
    }
}

#[derive(Debug)]
struct Answer(PointId);

impl CongestionPoint for Answer {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.wake_at_probes();
    }
    fn on_probe(&mut self, probe: &mut Probe, _: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        probe.fb = 24_000 - queue.len.get() as i32;
        probe.point = Some(self.0);
        if probe.target == ProbeTarget::Point(self.0) {
            ctl.answer();
        }
    }
}

#[test]
fn probes_travel_and_are_answered_or_ended() {
    let mut actions = Vec::new();
    let mut state = limiter_state();
    let mut prober = Prober(ProbeTarget::Point(PointId(7)));
    prober.start(&mut Limiter::new(Time::ZERO, &mut state, &mut actions));
    assert_eq!(state.countdown, 75_000);
    prober.on_bytes(&mut Limiter::new(Time::ZERO, &mut state, &mut actions));
    let LimiterAction::Probe(mut probe) = actions[0].clone() else { panic!("a probe was sent") };
    assert_eq!(probe.class, Class::Data);
    let (mut said, mut point) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
    for (id, ended) in [(6, false), (7, true)] {
        said.clear();
        Answer(PointId(id)).on_probe(
            &mut probe,
            FlowId(1),
            &queue(30_000),
            &mut PointControl::new(Time::ZERO, &mut point, &mut said),
        );
        assert_eq!(said.iter().any(|a| matches!(a, PointAction::Answer)), ended);
    }
    assert_eq!((probe.fb, probe.point), (-6_000, Some(PointId(7))));
    let reply = Feedback::ProbeReply { probe, at: Time::from_us(50), rx_rate: Rate::ZERO };
    prober.on_feedback(&reply, &mut Limiter::new(Time::from_us(60), &mut state, &mut actions));
    assert_eq!(state.rate, Rate::from_gbps(5.0));
}

/// DCQCN: the queue marks by a ramp and wakes nobody; the destination sends a CNP per flow and stays deaf for a while.
#[derive(Debug)]
struct Cnp;

impl Reflector for Cnp {
    fn on_frame(&mut self, _: &FrameView, ctl: &mut ReflectorControl<'_>) {
        ctl.reply(Feedback::Cnp);
        ctl.ignore_for(Time::from_us(50));
    }
}

#[test]
fn dcqcn_marks_by_ramp_and_spaces_its_messages() {
    let ramp = Ramp {
        low: Bytes::from_kb(5),
        high: Bytes::from_kb(200),
        p_max: 0.01,
        p_beyond: 1.0,
        at: RampAt::Departure,
    };
    let (mut actions, mut state) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
    PointControl::new(Time::ZERO, &mut state, &mut actions).mark(ramp);
    assert_eq!(state.ramp, Some(ramp));
    assert_eq!(
        (ramp.probability(5_000), ramp.probability(102_500), ramp.probability(200_001)),
        (0.0, 0.005, 1.0)
    );
    let (mut said, mut sink) = (Vec::new(), reflector());
    Cnp.on_frame(&frame(Tag::None), &mut ReflectorControl::new(Time::from_us(10), &mut sink, &mut said));
    assert!(matches!(said[0], ReflectorAction::Reply(Feedback::Cnp)));
    assert_eq!(sink.deaf_until, Time::from_us(60));
}
