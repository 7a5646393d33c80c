//! # BCN and ECM: backward congestion notification with signed feedback
//!
//! BCN sends signed feedback from a queue to the sources that fill it. A congestion point samples arriving frames after a
//! number of bytes and computes `Fb = (Q_eq - q) - W (q - q_old)` from the queue's offset and growth. A negative `Fb` goes to
//! the source of the sampled frame. That source builds a rate limiter for the flow and multiplies its rate by `1 - G_d |Fb|`.
//! Frames of a limited flow carry a tag (RRT): the identity of the congestion point that owns the limiter. That point sends
//! positive feedback only for frames with its tag; it raises the rate by `G_i Fb R_unit`. A limiter at line rate with an empty
//! queue is released. ECM (2007) is BCN (2005-06) renamed, with options: faster sampling under congestion (oversampling), a
//! full-strength message above a second threshold (ECM-MAX), a stop message above a third (ECM(0,0)).
//!
//! Sources: D. Bergamasco, IEEE 802.1 decks of January (BCN, C07) and July 2007 (ECM, B07); parameters of a NIC driver
//! of the time; the published tables. Clipping follows the message's format, `|Fb| <= (2W + 1) Q_eq`, in pages of 64 B.
//!
//! | paper | here |
//! |---|---|
//! | `Fb = Q_off - W Q_delta` | [`feedback`] |
//! | `R (1 - G_d abs(Fb))`, at most halved | [`decreased`] |
//! | `R + G_i Fb R_unit`, at most a tenth of the line | [`increased`] |
//! | oversampling | [`Oversampling`] |
//!
//! ## Assumptions, each a parameter
//!
//! * Negative messages for untagged frames need `q > Q_eq` (`gate_qoff`). Without that condition, loaded ports without
//!   congestion send six times the published overhead.
//! * The oversampling rule is not printed. B07's scenarios use `weighed` with K = 8, the nearest to its tables with a floor of
//!   3 Mb/s. The default is `proportional` with K = 10, the nearest with 10 Mb/s.
//! * `sampling = bytes`: the interval is a number of bytes. `packet-last` draws for each frame. Its probability is one frame of
//!   1500 B in so many bytes, fixed at the last sample.
//! * One owner per limiter (`assoc`): the last congestion point that sent a negative message.
//! * `tag_match`: the congestion point (`cp`) or the reaction point (`rp`) filters positive feedback by tag.
//! * `limiter_scope`: a limiter for each flow, or one for a whole host. The tables exclude the latter, as innocent flows
//!   suffer. One limiter for each congestion point is not modelled.
//! * `initial_rate`: a new limiter starts from the line rate, or from the flow's mean rate (`own`). With `own` almost nothing
//!   is lost, where Z07 lost tens of thousands of frames.
//! * ECM(0,0) stops a flow for U(0, `stop_time`), then restarts it at `restart_rate`. Each further stop without an increase in
//!   between is longer by the factor `stop_growth` (up to a thousand times).
//!
//! ## Not modelled
//!
//! The tag's bytes on the link and its timestamp.

use crate::counters::{CPID_CHANGES, FALSE_POSITIVES, NEGATIVE_MESSAGES, POSITIVE_MESSAGES};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Built, Bytes, CongestionPoint, Counter, Feedback, FrameView, Idle, Limiter, ParamValue, Plan,
    PointControl, PointId, Queue, QueueSite, Rate, ReactionPoint, Registration, Scheme, Scope, Slot,
    SourceSite, Tag, Time, choice, params,
};
use std::sync::Arc;

choice! {
    /// How sampling becomes faster under congestion.
    pub enum Oversampling {
        /// Sampling does not become faster.
        Off = "off",
        /// The interval is divided by 1 + (K - 1) |Fb| / Fb_max.
        Proportional = "proportional",
        /// The interval is divided by K while q > Q_mc.
        AboveQmc = "above-qmc",
        /// A sample that yields no message is followed by one at the next frame.
        NextFrame = "next-frame",
        /// The interval is divided as with `proportional`, for Fb < 0 only.
        Negative = "negative",
        /// The interval is divided by K while q > Q_mc, and after a sample of a frame with this point's tag while q < Q_eq.
        BothEnds = "both-ends",
        /// A frame counts K times while q > Q_mc, and a frame with this point's tag while q < Q_eq.
        Weighed = "weighed",
    }
}

choice! {
    /// How frames are sampled.
    pub enum SampleBy {
        /// A frame is sampled after a number of bytes.
        Bytes = "bytes",
        /// Each frame is sampled with a probability fixed at the last sample.
        PacketLast = "packet-last",
    }
}

choice! {
    /// The flows that a limiter holds.
    pub enum LimiterScope {
        /// A limiter holds one flow.
        PerFlow = "per-flow",
        /// A limiter holds all flows of a host, innocent ones too.
        PerHost = "per-host",
    }
}

choice! {
    /// Rate of a new limiter, before its first cut.
    pub enum InitialRate {
        /// A new limiter starts at the line rate.
        Line = "line",
        /// A new limiter starts at the mean rate at which the flow has sent since its first frame.
        Own = "own",
    }
}

choice! {
    /// Which congestion point owns a limiter.
    pub enum Assoc {
        /// The last point that sent a negative message owns it.
        LastNegative = "last-negative",
        /// Another point takes it with a negative message at least as strong as the owner's last.
        MostNegative = "most-negative",
        /// The first point owns it until it has been silent for `assoc_timeout`.
        FirstUntilTimeout = "first-until-timeout",
    }
}

choice! {
    /// The point that filters positive feedback by the tag.
    pub enum TagMatch {
        /// A congestion point answers positively only frames that carry its own identity.
        Cp = "cp",
        /// A congestion point answers every tagged frame; the reaction point discards feedback that is not its owner's.
        Rp = "rp",
    }
}

/// A mean number of bytes between samples, or the equivalent share of frames of 1500 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing(pub Bytes);

impl ParamValue for Spacing {
    type Bound = Self;
    const KIND: &'static str = "bytes";
    fn parse(text: &str) -> Result<Self, (String, String)> {
        if !text.trim_end().ends_with('%') {
            return Bytes::parse(text).map(Self);
        }
        let share = f64::parse(text)?;
        if share <= 0.0 || share > 1.0 {
            return Err((format!("`{text}` of the frames cannot be sampled"), "write for example 1%".into()));
        }
        Ok(Self(Bytes::new((1500.0 / share + 0.5) as u64)))
    }
    fn show(&self) -> String {
        self.0.show()
    }
    fn sizes(&self) -> Vec<f64> {
        self.0.sizes()
    }
}

params! {
    /// Parameters of ECM, with the values that B07 prints. Its scenarios set the others (`r_min`, `oversampling`, `k`).
    pub struct EcmParams {
        /// Weight of the queue's growth.
        w: f64 = 2.0, symbol "W", from 0.0, to 1000.0;
        /// Set point of the queue (375 pages).
        q_eq: Bytes = Bytes::new(24_000), symbol "Q_eq", from Bytes::new(64), to Bytes::from_mb(100);
        /// Increase gain, rate units per page.
        gi: f64 = 0.533_333_333, symbol "G_i", from 0.0, to 1e6;
        /// Decrease gain, per page.
        gd: f64 = 2.666_666_667e-4, symbol "G_d", from 0.0, to 1.0;
        /// Rate quantum of an increase.
        r_unit: Rate = Rate::from_mbps(1.0), symbol "R_u", from Rate::from_bps(1.0), to Rate::from_gbps(10_000.0);
        /// Smallest rate of a limiter.
        r_min: Rate = Rate::from_mbps(10.0), symbol "R_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Mean number of bytes between samples; 1% means one frame of 1500 B in a hundred, 150 KB.
        sample: Spacing = Spacing(Bytes::from_kb(75)), symbol "", from Spacing(Bytes::new(64)), to Spacing(Bytes::from_mb(1000));
        /// How frames are sampled.
        sampling: SampleBy = SampleBy::Bytes, symbol "";
        /// Half width of the uniform jitter on the bytes between samples.
        jitter: Bytes = Bytes::from_kb(5), symbol "", from Bytes::new(0), to Bytes::from_mb(1000);
        /// Count and sample frames that are being dropped.
        sample_dropped: bool = true, symbol "";
        /// Faster sampling under congestion.
        oversampling: Oversampling = Oversampling::Proportional, symbol "";
        /// Largest oversampling factor.
        k: f64 = 10.0, symbol "K", from 1.0, to 1000.0;
        /// Queue length above which feedback has full strength (1300 pages).
        q_mc: Option<Bytes> = Some(Bytes::new(83_200)), symbol "Q_mc", from Some(Bytes::new(64)), to Some(Bytes::from_mb(1000));
        /// Queue length above which a stop message is sent.
        q_sc: Option<Bytes> = None, symbol "Q_sc", from Some(Bytes::new(64)), to Some(Bytes::from_mb(1000));
        /// Negative messages for untagged frames need q > Q_eq.
        gate_qoff: bool = true, symbol "";
        /// Clip Q_off and Q_delta before they are weighed, as the fields of the message do.
        clip_components: bool = false, symbol "";
        /// The point that filters positive feedback.
        tag_match: TagMatch = TagMatch::Cp, symbol "";
        /// Which congestion point owns a limiter.
        assoc: Assoc = Assoc::LastNegative, symbol "";
        /// Silence after which another congestion point may take a limiter from its first owner.
        assoc_timeout: Time = Time::from_ms(10), symbol "", from Time::from_us(1), to Time::from_s(100);
        /// The flows that a limiter holds.
        limiter_scope: LimiterScope = LimiterScope::PerFlow, symbol "";
        /// Rate of a new limiter, before its first cut.
        initial_rate: InitialRate = InitialRate::Line, symbol "";
        /// Rate added every drift period, off for none.
        drift: Option<Rate> = None, symbol "R_d", from Some(Rate::from_bps(1.0)), to Some(Rate::from_gbps(10_000.0));
        /// Drift period.
        drift_period: Time = Time::from_us(100), symbol "T_d", from Time::from_ns(100), to Time::from_s(100);
        /// Longest stop of a flow; a stop is uniform from 0 to it.
        stop_time: Time = Time::from_us(100), symbol "T_max", from Time::from_ns(100), to Time::from_s(1);
        /// Factor on the longest stop for each further stop.
        stop_growth: f64 = 2.0, symbol "", from 1.0, to 1000.0;
        /// Rate at which a stopped flow starts again.
        restart_rate: Rate = Rate::from_mbps(100.0), symbol "", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
    }
}

impl EcmParams {
    /// The defaults of BCN as C07 ran it: no oversampling, no MAX, 150 KB between samples.
    pub fn bcn() -> Self {
        Self {
            sample: Spacing(Bytes::from_kb(150)),
            gi: 0.53333,
            gd: 2.6667e-4,
            oversampling: Oversampling::Off,
            q_mc: None,
            ..Self::default()
        }
    }

    /// The parameters of Z07 on 10 Gb/s links: a set point of 75 KB, `G_i` = 0.005 C / (R_unit (2W + 1) Q_eq), `G_d` =
    /// 0.5 / ((2W + 1) Q_eq), MAX above 280 KB, no oversampling, a floor of 1 Mb/s, dropped frames not sampled.
    pub fn z07() -> Self {
        let q_eq = Bytes::from_kb(75);
        let fb_max = 5.0 * pages(q_eq);
        Self {
            q_eq,
            gi: 0.005 * 10_000.0 / fb_max,
            gd: 0.5 / fb_max,
            r_min: Rate::from_mbps(1.0),
            sample_dropped: false,
            oversampling: Oversampling::Off,
            q_mc: Some(Bytes::from_kb(280)),
            ..Self::default()
        }
    }

    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = Vec::new();
        let mut note = |on: bool, key, why| {
            if on {
                idle.push((key, why));
            }
        };
        let uses_k = !matches!(self.oversampling, Oversampling::Off | Oversampling::NextFrame);
        note(!uses_k, "k", "the oversampling rule has no factor");
        note(self.drift.is_none(), "drift_period", "drift is off");
        for key in ["restart_rate", "stop_time", "stop_growth"] {
            note(self.q_sc.is_none(), key, "q_sc is off");
        }
        note(self.sampling != SampleBy::Bytes, "jitter", "sampling is not by bytes");
        note(self.assoc != Assoc::FirstUntilTimeout, "assoc_timeout", "assoc is not first-until-timeout");
        idle
    }

    /// `(2W + 1) Q_eq`, pages.
    fn fb_max(&self) -> f64 {
        (2.0 * self.w + 1.0) * pages(self.q_eq)
    }
}

/// A length in pages of 64 B.
pub(crate) fn pages(bytes: Bytes) -> f64 {
    bytes.as_f64() / 64.0
}

/// `Fb = Q_off - W Q_delta`, clipped; pages. MAX applies above `Q_mc`.
#[inline]
pub fn feedback(p: &EcmParams, q: f64, q_old: f64) -> (f64, f64, f64) {
    let q_eq = pages(p.q_eq);
    let (mut off, mut delta) = (q_eq - q, q - q_old);
    if p.clip_components {
        off = off.clamp(-q_eq, q_eq);
        delta = delta.clamp(-2.0 * q_eq, 2.0 * q_eq);
    }
    let max = p.fb_max();
    let mut fb = (off - p.w * delta).clamp(-max, max);
    if p.q_mc.is_some_and(|mc| q > pages(mc)) {
        fb = -max;
    }
    (fb, off, delta)
}

/// `R (1 - G_d |Fb|)`: at most halved, not below the floor.
pub fn decreased(p: &EcmParams, rate: Rate, fb: f64) -> Rate {
    (rate * (1.0 - p.gd * fb.abs()).max(0.5)).max(p.r_min)
}

/// `R + G_i Fb R_unit`: at most a tenth of the line rate more, not above it.
pub fn increased(p: &EcmParams, rate: Rate, line: Rate, fb: f64) -> Rate {
    (rate + (p.r_unit * (p.gi * fb)).min(line * 0.1)).min(line)
}

/// ECM, or BCN by its parameters.
#[derive(Debug)]
pub struct Ecm {
    /// `ecm` or `bcn`.
    pub name: &'static str,
    /// The scheme's parameters.
    pub params: Arc<EcmParams>,
}

/// Is this a decrease or a stop?
pub(crate) fn lowers(feedback: &Feedback) -> bool {
    matches!(feedback, Feedback::Ecm { fb, stop, .. } if *fb < 0.0 || *stop)
}

/// The registrations.
pub(crate) fn registrations() -> [Registration; 2] {
    let of = |name: &'static str, title: &str, defaults| {
        let make = move |params| Ecm { name, params: Arc::new(params) };
        Registration::with_idle(title, include_str!("ecm.rs"), defaults, EcmParams::idle, make)
            .promise(Promise { stops: true, ..Promise::reacting(Rate::from_mbps(10.0)) })
    };
    [
        of("bcn", "backward congestion notification (2006)", EcmParams::bcn()),
        of("ecm", "Ethernet congestion management, BCN v2 (2007)", EcmParams::default()),
    ]
}

impl Scheme for Ecm {
    fn name(&self) -> &str {
        self.name
    }
    /// The bytes that a flow has sent are known only if they were counted from the start.
    fn plan(&self) -> Plan {
        let built = match self.params.initial_rate {
            InitialRate::Line => Built::OnFeedback,
            InitialRate::Own => Built::FirstFrame,
        };
        let limiter_scope = match self.params.limiter_scope {
            LimiterScope::PerFlow => Scope::Pair,
            LimiterScope::PerHost => Scope::Host,
        };
        Plan { built, limiter_scope, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point::new(self.params.clone(), site.point)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction::new(self.params.clone())))
    }
    /// Only a decrease (or a stop) builds a limiter.
    fn engages(&self, feedback: &Feedback) -> bool {
        lowers(feedback)
    }
    fn counters(&self) -> Vec<Counter> {
        vec![FALSE_POSITIVES, CPID_CHANGES, POSITIVE_MESSAGES, NEGATIVE_MESSAGES]
    }
}

/// The result of a sample, which holds until the next.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    /// Feedback and queue length, pages.
    fb: f64,
    q: f64,
    /// The sample yielded no message.
    silent: bool,
    /// The sampled frame may get positive feedback from this point.
    tagged: bool,
}

/// The congestion point of ECM and E2CM.
#[derive(Debug)]
pub(crate) struct Point {
    p: Arc<EcmParams>,
    id: PointId,
    q_old: f64,
    /// Bytes until the next sample, where frames are weighed.
    left: f64,
}

impl Point {
    pub(crate) fn new(p: Arc<EcmParams>, id: PointId) -> Self {
        Self { p, id, q_old: 0.0, left: 0.0 }
    }

    /// May the source of this frame receive positive feedback from this point?
    fn owns(&self, frame: &FrameView) -> bool {
        match (frame.tag, self.p.tag_match) {
            (Tag::Regulated(point), TagMatch::Cp) => point == self.id,
            (Tag::Regulated(_), TagMatch::Rp) => true,
            _ => false,
        }
    }

    /// Counts a frame by its weight; does it bring the next sample?
    fn weigh(&mut self, frame: &FrameView, q: f64) -> bool {
        let p = &self.p;
        let fast = p.q_mc.is_some_and(|mc| q > pages(mc)) || (q < pages(p.q_eq) && self.owns(frame));
        self.left -= frame.len.as_f64() * if fast { p.k } else { 1.0 };
        self.left <= 0.0
    }

    /// Bytes between samples after this one, `u` of the way through the jitter.
    fn interval(&self, last: Sampled, u: f64) -> f64 {
        let (p, Sampled { fb, q, silent, tagged }) = (&self.p, last);
        let severe = p.q_mc.is_some_and(|mc| q > pages(mc));
        let mean = p.sample.0.as_f64() + p.jitter.as_f64() * (2.0 * u - 1.0);
        let strength = 1.0 + (p.k - 1.0) * fb.abs() / p.fb_max();
        let interval = match p.oversampling {
            Oversampling::Off => mean,
            Oversampling::Proportional => mean / strength,
            Oversampling::Negative if fb < 0.0 => mean / strength,
            Oversampling::AboveQmc | Oversampling::BothEnds if severe => mean / p.k,
            Oversampling::BothEnds if tagged && q < pages(p.q_eq) => mean / p.k,
            Oversampling::NextFrame if silent => 1.0,
            Oversampling::Negative
            | Oversampling::AboveQmc
            | Oversampling::NextFrame
            | Oversampling::BothEnds
            | Oversampling::Weighed => mean,
        };
        interval.max(1.0)
    }

    /// Arms the next sample.
    fn arm(&mut self, last: Sampled, ctl: &mut PointControl<'_>) {
        match self.p.sampling {
            SampleBy::Bytes if self.p.oversampling == Oversampling::Weighed => {
                let u = ctl.uniform();
                self.left = self.interval(last, u);
                ctl.sample_always();
            }
            SampleBy::Bytes => {
                let u = ctl.uniform();
                ctl.sample_after(Bytes::new(self.interval(last, u) as u64));
            }
            SampleBy::PacketLast => ctl.sample_with((1500.0 / self.interval(last, 0.5)).min(1.0)),
        }
    }
}

impl CongestionPoint for Point {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_dropped(self.p.sample_dropped);
        self.arm(Sampled { fb: 0.0, q: pages(queue.len), silent: false, tagged: false }, ctl);
    }

    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let q = pages(queue.len);
        if self.p.oversampling == Oversampling::Weighed && !self.weigh(frame, q) {
            return;
        }
        let (fb, q_off, q_delta) = feedback(&self.p, q, self.q_old);
        self.q_old = q;
        let stop = self.p.q_sc.is_some_and(|sc| q > pages(sc));
        let tagged = self.owns(frame);
        let send = stop
            || if tagged { fb != 0.0 } else { fb < 0.0 && (!self.p.gate_qoff || q > pages(self.p.q_eq)) };
        if send {
            ctl.count(if fb > 0.0 && !stop { POSITIVE_MESSAGES } else { NEGATIVE_MESSAGES });
            ctl.notify(frame.flow, Feedback::Ecm { point: self.id, q_off, q_delta, fb, stop });
        }
        self.arm(Sampled { fb, q, silent: !send, tagged }, ctl);
    }
}

/// Timers of the reaction point.
const DRIFT: Slot = Slot(0);
const RESTART: Slot = Slot(1);

/// The reaction point of ECM and E2CM.
#[derive(Debug)]
pub(crate) struct Reaction {
    p: Arc<EcmParams>,
    /// Owner of the limiter, time of its last message, and the strength of that message.
    owner: Option<(PointId, Time, f64)>,
    /// Longest next stop.
    stop: Time,
    /// When the reaction point was built, and what the flow had sent by then.
    since: (Time, u64),
}

impl Reaction {
    pub(crate) fn new(p: Arc<EcmParams>) -> Self {
        Self { stop: p.stop_time, p, owner: None, since: (Time::ZERO, 0) }
    }

    /// A new limiter: without an owner yet, at its first rate.
    fn begin(&mut self, limiter: &mut Limiter<'_>) {
        (self.owner, self.stop) = (None, self.p.stop_time);
        let line = limiter.line_rate();
        let first = match self.p.initial_rate {
            InitialRate::Line => line,
            InitialRate::Own => {
                let (time, sent) =
                    (limiter.now().saturating_sub(self.since.0), limiter.sent() - self.since.1);
                let own = if time > Time::ZERO { sent as f64 * 8.0 / time.as_secs_f64() } else { line.bps() };
                Rate::from_bps(own).max(self.p.r_min).min(line)
            }
        };
        limiter.set_rate(first);
        if self.p.drift.is_some() {
            limiter.start_timer(DRIFT, self.p.drift_period);
        }
    }

    /// The congestion point that owns the limiter.
    pub(crate) fn owner(&self) -> Option<PointId> {
        self.owner.map(|o| o.0)
    }

    fn own(&mut self, point: PointId, fb: f64, limiter: &mut Limiter<'_>) {
        let now = limiter.now();
        let takes = match (self.owner, self.p.assoc) {
            (None, _) | (_, Assoc::LastNegative) => true,
            (Some((owner, _, strongest)), Assoc::MostNegative) => owner == point || fb <= strongest,
            (Some((owner, heard, _)), Assoc::FirstUntilTimeout) => {
                owner == point || now.saturating_sub(heard) > self.p.assoc_timeout
            }
        };
        if takes {
            if self.owner.is_some_and(|o| o.0 != point) {
                limiter.count(CPID_CHANGES);
            }
            self.owner = Some((point, now, fb));
            limiter.tag_frames(Tag::Regulated(point));
        }
    }

    /// At line rate there is nothing left to limit. A reaction point that outlives its limiter takes its tag back, too.
    pub(crate) fn settle(&self, limiter: &mut Limiter<'_>) {
        let stays = self.p.initial_rate == InitialRate::Own;
        if limiter.rate() >= limiter.line_rate() {
            limiter.release_when_empty();
            if stays {
                limiter.tag_frames(Tag::None);
            }
        } else if let Some(owner) = self.owner().filter(|_| stays) {
            limiter.tag_frames(Tag::Regulated(owner));
        }
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        self.since = (limiter.now(), limiter.sent());
    }

    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let Feedback::Ecm { point, fb, stop, .. } = *feedback else { return };
        if !fb.is_finite() {
            return;
        }
        if stop || fb < 0.0 {
            if !limiter.is_engaged() {
                self.begin(limiter);
            }
            // `engage` also takes back a release that waits for the queue to empty.
            limiter.engage();
        }
        if stop {
            self.own(point, fb, limiter);
            limiter.set_rate(Rate::ZERO);
            limiter.retime();
            let pause = self.stop.scale(limiter.uniform());
            self.stop = self.stop.scale(self.p.stop_growth).min(self.p.stop_time * 1000);
            limiter.start_timer(RESTART, pause);
            return;
        }
        if fb < 0.0 {
            self.own(point, fb, limiter);
            if limiter.rate() > Rate::ZERO {
                limiter.set_rate(decreased(&self.p, limiter.rate(), fb).min(limiter.line_rate()));
            }
        } else if fb > 0.0 {
            if !limiter.is_engaged() || self.owner.is_none_or(|o| o.0 != point) {
                limiter.count(FALSE_POSITIVES);
                return;
            }
            if limiter.rate() > Rate::ZERO {
                self.stop = self.p.stop_time;
                limiter.set_rate(increased(&self.p, limiter.rate(), limiter.line_rate(), fb));
            }
        }
        self.settle(limiter);
    }

    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        if !limiter.is_engaged() {
            return;
        }
        if slot == RESTART {
            limiter.set_rate(self.p.restart_rate.max(self.p.r_min).min(limiter.line_rate()));
        } else if let Some(step) = self.p.drift {
            // A stopped flow does not drift, but does again once it sends.
            if limiter.rate() > Rate::ZERO {
                limiter.set_rate((limiter.rate() + step).min(limiter.line_rate()));
            }
            limiter.start_timer(DRIFT, self.p.drift_period);
        }
        self.settle(limiter);
    }
}

#[cfg(test)]
mod tests;
