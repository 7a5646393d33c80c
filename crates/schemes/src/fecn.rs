//! # FECN: frames collect the smallest rate on their path
//!
//! In FECN, frames collect the smallest rate on their path. Each output port computes an advertised rate every interval T, as
//! in BECN ([`crate::explicit_rate`]). A source puts a rate-discovery tag into all or some of its frames. As a tagged frame
//! starts transmission at a port, the port lowers the tag to its own rate. The destination returns the tag in a message, and
//! the source sends at that rate. A flow thus follows only the ports on its path, which makes several bottlenecks max-min fair.
//! Control grows with the tagged frames, not with the ports. Fewer tags mean a later signal: at rate R they are 12 000 bit / (p
//! R) apart. Below some 10 % rates overshoot and settle late or never.
//!
//! Sources: R. Jain and others, IEEE 802.1 decks of January to March 2007, of which outlines are public; C07 (tagging rates,
//! parameters). The overhead at 100 %, 426 Mb/s, is one message of 64 B for each frame of the bottleneck.
//!
//! | paper | here |
//! |---|---|
//! | RD tag | [`Tag::RateDiscovery`], in steps of 1 kb/s |
//! | tagging rate p | [`FecnOwn::tagging`] |
//! | return message | [`Feedback::ReturnedRate`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `stamp_at`: tags are lowered at the start of a frame's transmission. Lowered on arrival (`enqueue`), the rate ages in the
//!   queue and the loop is unstable.
//! * `return_rule`: the destination returns every tag, or at most one per flow and interval.
//! * `tag_by`: each frame is tagged with probability p; or, as the authors proposed, one frame per interval T of the source.
//! * `tag_rate`: tags start at the rate of the access link. If they start at the source's own rate, it can only fall.
//! * `rate_averaging = rate`, `alpha` = 0.5: without the average (alpha = 1) a parking lot settles away from its fair rates.
//! * Those of the advertised rate: see [`crate::explicit_rate`].
//!
//! ## Not modelled
//!
//! The tag's bytes on the link. E-FECN's stop message on severe congestion (2008).

use crate::counters::RATES_RETURNED;
use crate::explicit_rate::{self, ExplicitRateParams, Meter, WithOwn, first_rate};
use cnsim_scheme_api::{
    Built, Bytes, CongestionPoint, Counter, Feedback, FrameView, Idle, Limiter, Plan, PointControl, Queue,
    QueueSite, Rate, ReactionPoint, ReflectGate, Reflector, ReflectorControl, Registration, Scheme, Scope,
    SinkSite, Slot, SourceSite, Speaks, Tag, Time, choice, params,
};
use std::sync::Arc;

choice! {
    /// When a port lowers a tag to its rate.
    pub enum StampAt {
        /// A tag is lowered as its frame starts transmission.
        Transmission = "transmission",
        /// A tag is lowered as its frame arrives.
        Enqueue = "enqueue",
    }
}

choice! {
    /// Which tags the destination returns.
    pub enum ReturnRule {
        /// The destination returns every tag.
        EveryTag = "every-tag",
        /// The destination returns at most one tag per flow and interval, the first to arrive.
        OncePerInterval = "once-per-interval",
    }
}

choice! {
    /// Which frames a source tags.
    pub enum TagBy {
        /// Each frame is tagged with probability p.
        Frames = "frames",
        /// The first frame after an interval since the last tag is tagged.
        Time = "time",
    }
}

choice! {
    /// Rate that a source writes into its tags.
    pub enum TagRate {
        /// Tags start at the rate of the access link, C.
        Line = "line",
        /// Tags start at the source's present rate R, which can then only fall.
        Current = "current",
    }
}

params! {
    /// Parameters that FECN adds to those of the advertised rate.
    pub struct FecnOwn {
        /// Probability with which a frame is tagged (C07: 1, 0.1, 0.05, 0.01).
        tagging: f64 = 1.0, symbol "p", from 1e-6, to 1.0;
        /// Which frames are tagged (time: an option of the authors).
        tag_by: TagBy = TagBy::Frames, symbol "";
        /// When a port lowers a tag (assumed).
        stamp_at: StampAt = StampAt::Transmission, symbol "";
        /// Which tags are returned (assumed).
        return_rule: ReturnRule = ReturnRule::EveryTag, symbol "";
        /// Rate that tags start with (assumed).
        tag_rate: TagRate = TagRate::Line, symbol "";
    }
}

/// All parameters of FECN.
pub type FecnParams = WithOwn<FecnOwn>;

impl Default for FecnParams {
    fn default() -> Self {
        Self { port: Arc::new(ExplicitRateParams::fecn()), own: FecnOwn::default() }
    }
}

impl FecnParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = self.port.idle();
        if self.own.tag_by == TagBy::Time {
            idle.push(("tagging", "tag_by is time"));
        }
        idle
    }
}

/// The scheme FECN with its parameters.
#[derive(Debug)]
pub struct Fecn(pub FecnParams);

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "explicit rates, collected along the path (2007)";
    Registration::with_idle(title, include_str!("fecn.rs"), FecnParams::default(), FecnParams::idle, Fecn)
        .promise(explicit_rate::promise())
}

impl Scheme for Fecn {
    fn name(&self) -> &str {
        "fecn"
    }
    fn plan(&self) -> Plan {
        Plan {
            limiter_scope: Scope::Pair,
            built: Built::FirstFrame,
            reflect: match self.0.own.return_rule {
                ReturnRule::EveryTag => ReflectGate::ReturnTags("rates_returned"),
                ReturnRule::OncePerInterval => ReflectGate::Tagged,
            },
            reflector_scope: Scope::Pair,
            speaks: Speaks::Sinks(self.0.port.interval),
            ..Plan::default()
        }
    }
    /// No frame passes a port without a link, so its rate would reach no source.
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        site.attached.then(|| -> Box<dyn CongestionPoint> {
            Box::new(Point {
                stamp_at: self.0.own.stamp_at,
                meter: Meter::new(self.0.port.clone(), site.rate),
            })
        })
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction {
            r_min: self.0.port.r_min,
            n0: self.0.port.n0,
            tag_rate: self.0.own.tag_rate,
            tagging: self.0.own.tagging,
            every: if self.0.own.tag_by == TagBy::Time { self.0.port.interval } else { Time::ZERO },
            resting: false,
        }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        (self.0.own.return_rule == ReturnRule::OncePerInterval)
            .then(|| -> Box<dyn Reflector> { Box::new(ReturnOnce { silence: self.0.port.interval }) })
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::ReturnedRate { .. })
    }
    fn counters(&self) -> Vec<Counter> {
        vec![RATES_RETURNED]
    }
}

#[derive(Debug)]
struct Point {
    stamp_at: StampAt,
    meter: Meter,
}

impl Point {
    fn stamp(&self, ctl: &mut PointControl<'_>) {
        if self.stamp_at == StampAt::Transmission {
            ctl.advertise(self.meter.rate);
        }
    }
}

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        self.meter.start(ctl);
        if self.stamp_at == StampAt::Enqueue {
            ctl.sample_tagged();
        }
        self.stamp(ctl);
    }
    fn on_sample(&mut self, frame: &mut FrameView, _: &Queue, _: &mut PointControl<'_>) {
        if let Tag::RateDiscovery(rate) = frame.tag {
            frame.tag = Tag::RateDiscovery(rate.min(self.meter.rate));
        }
    }
    fn on_timer(&mut self, _: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.meter.measure(queue, ctl);
        self.stamp(ctl);
    }
}

/// Returns a tag, then none for an interval. If every tag is returned, the hosts do it ([`ReflectGate::ReturnTags`]).
#[derive(Debug)]
struct ReturnOnce {
    /// Time after a message in which tags are ignored.
    silence: Time,
}

impl Reflector for ReturnOnce {
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        let Tag::RateDiscovery(rate) = frame.tag else { return };
        ctl.count(RATES_RETURNED);
        ctl.reply(Feedback::ReturnedRate { rate });
        ctl.ignore_for(self.silence);
    }
}

/// One for every flow, woken with every frame of it, so it holds only the parameters that it needs.
#[derive(Debug)]
struct Reaction {
    r_min: Rate,
    tagging: f64,
    n0: u32,
    tag_rate: TagRate,
    /// Time between tags with `tag_by = time`; else 0.
    every: Time,
    /// The next frame is not to be tagged.
    resting: bool,
}

/// Timer of the tags.
const NEXT_TAG: Slot = Slot(0);

impl Reaction {
    fn obey(&self, rate: Rate, limiter: &mut Limiter<'_>) {
        limiter.set_rate(rate);
        let rate = match self.tag_rate {
            TagRate::Line => limiter.line_rate(),
            TagRate::Current => limiter.rate(),
        };
        if !self.resting {
            limiter.tag_frames_with(Tag::RateDiscovery(rate), self.tagging);
        }
    }

    /// Tags the next frame, with `tag_by = time`.
    fn tag_next(&mut self, limiter: &mut Limiter<'_>) {
        if self.every > Time::ZERO {
            (self.resting, self.tagging) = (false, 1.0);
            self.obey(limiter.rate(), limiter);
            limiter.wake_after(Bytes::new(1));
        }
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        self.obey(first_rate(limiter.line_rate(), self.n0, self.r_min), limiter);
        self.tag_next(limiter);
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        if self.every > Time::ZERO {
            self.resting = true;
            limiter.tag_frames(Tag::None);
            limiter.start_timer(NEXT_TAG, self.every);
        }
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.tag_next(limiter);
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if let Feedback::ReturnedRate { rate } = *feedback {
            self.obey(rate.max(self.r_min).min(limiter.line_rate()), limiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::{Lent, LimiterState, Purpose, Stream};
    use cnsim_scheme_api::testing::{PointRig, ReactionRig, ReflectorRig};
    use cnsim_scheme_api::{Class, FlowId, NodeId, Params};

    fn with(key: &str, text: &str) -> FecnParams {
        let mut params = FecnParams::default();
        params.set(key, text).unwrap();
        params
    }

    #[test]
    fn a_source_obeys_what_returns() {
        let mut rig = ReactionRig::new(Fecn(FecnParams::default()), Rate::from_gbps(10.0));
        rig.cnm(63);
        assert!(!rig.engaged(), "another scheme's message");
        for (gbps, expected) in [(2.5, 2.5), (4.0, 4.0), (0.001, 0.01), (20.0, 10.0)] {
            rig.feedback(&Feedback::ReturnedRate { rate: Rate::from_gbps(gbps) });
            assert_eq!(rig.rate().gbps(), expected);
        }
    }

    /// Starts at C / 10 and tags with probability p; the tag starts at C, or at R.
    #[test]
    fn tags_of_a_source() {
        for (choice, gbps) in [("line", 10.0), ("current", 1.0)] {
            let mut params = with("tag_rate", choice);
            params.set("tagging", "0.05").unwrap();
            let line = Rate::from_gbps(10.0);
            let mut state = LimiterState::new(line, Stream::new(1, 1, Purpose::Reaction));
            let site = SourceSite {
                flow: FlowId(1),
                src: NodeId(0),
                dst: NodeId(1),
                class: Class::Data,
                line_rate: line,
                base_rtt: Time::from_us(10),
                mtu: Bytes::new(1500),
                hops: 2,
                size: None,
                initial_rate: None,
                others: 0,
            };
            let mut object = Fecn(params).reaction_point(&site).unwrap();
            object.start(&mut Limiter::new(Time::ZERO, &mut state, &mut Vec::new()));
            assert!(state.engaged);
            assert_eq!((state.rate.gbps(), state.tag_probability), (1.0, 0.05));
            assert_eq!(state.tag(), Tag::RateDiscovery(Rate::from_gbps(gbps)));
        }
    }

    /// The first frame, and then the first after each 30 us; the rate is obeyed all the while.
    #[test]
    fn tags_by_time() {
        let mut rig = ReactionRig::new(Fecn(with("tag_by", "time")), Rate::from_gbps(10.0));
        let mut tagged = Vec::new();
        for us in 0..70 {
            if rig.frame(1500) != Tag::None {
                tagged.push(us);
            }
            rig.feedback(&Feedback::ReturnedRate { rate: Rate::from_gbps(2.0) });
            assert_eq!(rig.rate().gbps(), 2.0);
            rig.wait(Time::from_us(1));
        }
        assert_eq!(tagged, [0, 30, 60]);
        assert!(with("tag_by", "time").idle().iter().any(|i| i.0 == "tagging"));
    }

    /// A port starts at C / 10: at transmission the network stamps that, at enqueue the port does, to the smaller rate.
    #[test]
    fn stamps_of_a_port() {
        let line = Rate::from_gbps(10.0);
        let tag = |gbps| Tag::RateDiscovery(Rate::from_gbps(gbps));
        let mut rig = PointRig::new(&Fecn(FecnParams::default()), line, 1).unwrap();
        assert_eq!(rig.state.advertised, Some(Rate::from_gbps(1.0)));
        assert_eq!(rig.frame(1, 1500, tag(10.0)).tag, tag(1.0));
        let mut rig = PointRig::new(&Fecn(with("stamp_at", "enqueue")), line, 1).unwrap();
        assert_eq!(rig.state.advertised, None);
        assert_eq!(rig.frame(1, 1500, tag(10.0)).tag, tag(1.0));
        assert_eq!(rig.frame(1, 1500, tag(0.5)).tag, tag(0.5));
    }

    /// Each tag is returned; or none for an interval after one. Another scheme's tag never is.
    #[test]
    fn a_destination_returns_the_tag() {
        let rate = Rate::from_gbps(2.0);
        let frame = FrameView {
            flow: FlowId(1),
            src: NodeId(0),
            dst: NodeId(1),
            len: Bytes::new(1500),
            marked: false,
            tag: Tag::RateDiscovery(rate),
            dropped: false,
        };
        for (rule, of_ten) in [("every-tag", 10), ("once-per-interval", 4)] {
            let scheme = Fecn(with("return_rule", rule));
            let mut rig = ReflectorRig::new(&scheme, Rate::from_gbps(10.0), 1).unwrap();
            assert!(rig.frame(&FrameView { tag: Tag::User(1), ..frame }).is_empty());
            let mut returned = 0;
            for _ in 0..10 {
                let said = rig.frame(&frame);
                assert!(said.iter().all(|f| *f == Feedback::ReturnedRate { rate }));
                returned += said.len();
                rig.wait(Time::from_us(10));
            }
            assert_eq!(returned, of_ten, "{rule}");
            assert_eq!(rig.counts.of("rates_returned"), Some(of_ten as u64));
        }
    }
}
