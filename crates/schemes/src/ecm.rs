//! # BCN and ECM: backward congestion notification with signed feedback
//!
//! A congestion point samples arriving frames after a number of bytes and computes `Fb = (Q_eq - q) - W (q - q_old)`
//! from the queue's offset and growth. A negative `Fb` goes to the source of the sampled frame, which builds a rate
//! limiter for that flow and lowers its rate by the factor `1 - G_d |Fb|`. Frames of a limited flow carry a tag (RRT)
//! with the identity of the congestion point that owns the limiter, and only for such frames does that point send
//! positive feedback, which raises the rate by `G_i Fb R_unit`. When the rate reaches the line rate and nothing waits,
//! the limiter is given back. ECM (2007) is BCN (2005-06) renamed, with options: faster sampling under congestion
//! (oversampling), a full-strength message above a second threshold (ECM-MAX), a stop message above a third (ECM(0,0)).
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
//! * Negative messages for untagged frames need `q > Q_eq` (`gate_qoff`): without it the loaded innocent ports send six
//!   times the published overhead.
//! * The oversampling rule is not printed; `oversampling = proportional` is closest to the tables.
//! * One owner per limiter (`assoc`): the last congestion point that sent a negative message.
//! * `tag_match`: whether the congestion point (`cp`) or the reaction point (`rp`) filters positive feedback by tag.
//! * ECM(0,0) stops a flow for U(0, 100 us), doubling on repeats, and restarts it at `restart_rate`.
//!
//! ## Not modelled
//!
//! The tag's bytes on the link and its timestamp.

use cnsim_scheme_api::{
    Bytes, CongestionPoint, Feedback, FrameView, Limiter, ParamValue, PointControl, PointId, Queue,
    QueueSite, Rate, ReactionPoint, Scheme, Slot, SourceSite, Tag, Time, choice, params,
};

choice! {
    /// How sampling gets faster under congestion.
    pub enum Oversampling {
        /// Not at all.
        Off = "off",
        /// Interval divided by 1 + (K - 1) |Fb| / Fb_max.
        Proportional = "proportional",
        /// Divided by K while q > Q_mc.
        AboveQmc = "above-qmc",
        /// A sample that yields no message is followed by one at the next frame.
        NextFrame = "next-frame",
        /// As proportional, for Fb < 0 only.
        Negative = "negative",
    }
}

choice! {
    /// Which congestion point owns a limiter.
    pub enum Assoc {
        /// The last one that sent a negative message.
        LastNegative = "last-negative",
        /// The one whose negative message was the strongest since the last change.
        MostNegative = "most-negative",
        /// The first, until it has been silent for 10 ms.
        FirstUntilTimeout = "first-until-timeout",
    }
}

choice! {
    /// Who filters positive feedback by the tag.
    pub enum TagMatch {
        /// A congestion point answers positively only frames that carry its own identity.
        Cp = "cp",
        /// It answers every tagged frame; the reaction point discards what is not its owner's.
        Rp = "rp",
    }
}

/// A mean number of bytes between samples, or the share of frames of 1500 B that it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing(pub Bytes);

impl ParamValue for Spacing {
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
    fn magnitude(&self) -> f64 {
        self.0.magnitude()
    }
}

params! {
    /// Parameters of ECM, with the defaults of B07.
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
        r_unit: Rate = Rate::from_mbps(1.0), symbol "R_u", from Rate::from_bps(1.0);
        /// Smallest rate of a limiter.
        r_min: Rate = Rate::from_mbps(10.0), symbol "R_min", from Rate::from_bps(1e4);
        /// Mean number of bytes between samples; 1% means one frame of 1500 B in a hundred, 150 KB.
        sample: Spacing = Spacing(Bytes::from_kb(75)), symbol "", from Spacing(Bytes::new(64)), to Spacing(Bytes::from_mb(1000));
        /// Half width of the uniform jitter on it.
        jitter: Bytes = Bytes::from_kb(5), symbol "", from Bytes::new(0), to Bytes::from_mb(1000);
        /// Count and sample frames that are being dropped.
        sample_dropped: bool = true, symbol "";
        /// Faster sampling under congestion.
        oversampling: Oversampling = Oversampling::Proportional, symbol "";
        /// Largest oversampling factor.
        k: f64 = 10.0, symbol "K", from 1.0, to 1000.0;
        /// Queue length above which feedback has full strength (1300 pages).
        q_mc: Option<Bytes> = Some(Bytes::new(83_200)), symbol "Q_mc";
        /// Queue length above which a stop message is sent.
        q_sc: Option<Bytes> = None, symbol "Q_sc";
        /// Negative messages for untagged frames need q > Q_eq.
        gate_qoff: bool = true, symbol "";
        /// Clip Q_off and Q_delta before they are weighed, as the fields of the message do.
        clip_components: bool = false, symbol "";
        /// Who filters positive feedback.
        tag_match: TagMatch = TagMatch::Cp, symbol "";
        /// Which congestion point owns a limiter.
        assoc: Assoc = Assoc::LastNegative, symbol "";
        /// Rate added every drift period, off for none.
        drift: Option<Rate> = None, symbol "R_d";
        /// Drift period.
        drift_period: Time = Time::from_us(100), symbol "T_d", from Time::from_ns(100);
        /// Rate at which a stopped flow starts again.
        restart_rate: Rate = Rate::from_mbps(100.0), symbol "";
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
    pub fn idle(&self) -> Vec<(&'static str, &'static str)> {
        let mut idle = Vec::new();
        let mut note = |on: bool, key, why| {
            if on {
                idle.push((key, why));
            }
        };
        let uses_k = !matches!(self.oversampling, Oversampling::Off | Oversampling::NextFrame);
        note(!uses_k, "k", "the oversampling rule has no factor");
        note(self.drift.is_none(), "drift_period", "drift is off");
        note(self.q_sc.is_none(), "restart_rate", "q_sc is off");
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
    /// Parameters.
    pub params: EcmParams,
}

/// Is this a decrease or a stop?
pub(crate) fn lowers(feedback: &Feedback) -> bool {
    matches!(feedback, Feedback::Ecm { fb, stop, .. } if *fb < 0.0 || *stop)
}

/// Indices of [`Scheme::counters`].
const FALSE_POSITIVES: u8 = 0;
const CPID_CHANGES: u8 = 1;
const POSITIVE: u8 = 2;
const NEGATIVE: u8 = 3;

impl Scheme for Ecm {
    fn name(&self) -> &str {
        self.name
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
    fn counters(&self) -> &'static [&'static str] {
        &["false_positives", "cpid_changes", "positive_messages", "negative_messages"]
    }
}

/// The congestion point, of E2CM too.
#[derive(Debug)]
pub(crate) struct Point {
    p: EcmParams,
    id: PointId,
    q_old: f64,
}

impl Point {
    pub(crate) fn new(p: EcmParams, id: PointId) -> Self {
        Self { p, id, q_old: 0.0 }
    }

    fn interval(&self, fb: f64, q: f64, silent: bool, u: f64) -> Bytes {
        let p = &self.p;
        let mean = p.sample.0.as_f64() + p.jitter.as_f64() * (2.0 * u - 1.0);
        let strength = 1.0 + (p.k - 1.0) * fb.abs() / p.fb_max();
        let interval = match p.oversampling {
            Oversampling::Off => mean,
            Oversampling::Proportional => mean / strength,
            Oversampling::Negative if fb < 0.0 => mean / strength,
            Oversampling::AboveQmc if p.q_mc.is_some_and(|mc| q > pages(mc)) => mean / p.k,
            Oversampling::NextFrame if silent => 1.0,
            Oversampling::Negative | Oversampling::AboveQmc | Oversampling::NextFrame => mean,
        };
        Bytes::new(interval.max(1.0) as u64)
    }
}

impl CongestionPoint for Point {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_dropped(self.p.sample_dropped);
        let u = ctl.uniform();
        ctl.sample_after(self.interval(0.0, pages(queue.len), false, u));
    }

    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let q = pages(queue.len);
        let (fb, q_off, q_delta) = feedback(&self.p, q, self.q_old);
        self.q_old = q;
        let stop = self.p.q_sc.is_some_and(|sc| q > pages(sc));
        let tagged = match (frame.tag, self.p.tag_match) {
            (Tag::Regulated(point), TagMatch::Cp) => point == self.id,
            (Tag::Regulated(_), TagMatch::Rp) => true,
            _ => false,
        };
        let send = stop
            || if tagged { fb != 0.0 } else { fb < 0.0 && (!self.p.gate_qoff || q > pages(self.p.q_eq)) };
        if send {
            ctl.count(if fb > 0.0 { POSITIVE } else { NEGATIVE });
            ctl.notify(frame.flow, Feedback::Ecm { point: self.id, q_off, q_delta, fb, stop });
        }
        let u = ctl.uniform();
        ctl.sample_after(self.interval(fb, q, !send, u));
    }
}

/// Timers of the reaction point.
const DRIFT: Slot = Slot(0);
const RESTART: Slot = Slot(1);

/// The reaction point, of E2CM too.
#[derive(Debug)]
pub(crate) struct Reaction {
    p: EcmParams,
    /// Owner of the limiter, when it last spoke, and how strongly.
    owner: Option<(PointId, Time, f64)>,
    /// Longest next stop.
    stop: Time,
}

impl Reaction {
    pub(crate) fn new(p: EcmParams) -> Self {
        Self { p, owner: None, stop: Time::from_us(100) }
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
                owner == point || now.saturating_sub(heard) > Time::from_ms(10)
            }
        };
        if takes {
            if self.owner.is_some_and(|o| o.0 != point) {
                limiter.count(CPID_CHANGES);
            }
            self.owner = Some((point, now, fb));
            limiter.stamp(Tag::Regulated(point));
        }
    }

    /// At line rate there is nothing left to limit.
    pub(crate) fn settle(&self, limiter: &mut Limiter<'_>) {
        if limiter.rate() >= limiter.line_rate() {
            limiter.release_when_empty();
        }
    }
}

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let Feedback::Ecm { point, fb, stop, .. } = *feedback else { return };
        if !fb.is_finite() {
            return;
        }
        if stop {
            limiter.engage();
            self.own(point, fb, limiter);
            limiter.set_rate(Rate::ZERO);
            limiter.retime();
            let pause = self.stop.scale(limiter.uniform());
            self.stop = (self.stop * 2).min(Time::from_ms(100));
            limiter.start_timer(RESTART, pause);
            return;
        }
        if fb < 0.0 {
            let fresh = !limiter.is_engaged();
            // Also takes back a release that waits for the queue to empty.
            limiter.engage();
            if fresh && self.p.drift.is_some() {
                limiter.start_timer(DRIFT, self.p.drift_period);
            }
            self.own(point, fb, limiter);
            if limiter.rate() > Rate::ZERO {
                limiter.set_rate(decreased(&self.p, limiter.rate(), fb));
            }
        } else if fb > 0.0 {
            if !limiter.is_engaged() || self.owner.is_none_or(|o| o.0 != point) {
                limiter.count(FALSE_POSITIVES);
                return;
            }
            if limiter.rate() > Rate::ZERO {
                self.stop = Time::from_us(100);
                limiter.set_rate(increased(&self.p, limiter.rate(), limiter.line_rate(), fb));
            }
        }
        self.settle(limiter);
    }

    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        if slot == RESTART {
            limiter.set_rate(self.p.restart_rate.max(self.p.r_min));
        } else if let Some(step) = self.p.drift
            && limiter.rate() > Rate::ZERO
        {
            limiter.set_rate((limiter.rate() + step).min(limiter.line_rate()));
            limiter.start_timer(DRIFT, self.p.drift_period);
        }
        self.settle(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 375 pages, W = 2: Fb_max = 5 x 375 = 1875 pages.
    #[test]
    fn feedback_by_hand() {
        let p = EcmParams::default();
        assert_eq!(feedback(&p, 375.0, 375.0).0, 0.0);
        assert_eq!(feedback(&p, 0.0, 0.0).0, 375.0);
        assert_eq!(feedback(&p, 475.0, 425.0), (-200.0, -100.0, 50.0));
        assert_eq!(feedback(&p, 1250.0, 0.0).0, -1875.0);
        assert_eq!(feedback(&p, 1301.0, 1301.0).0, -1875.0, "MAX above 1300 pages");
    }

    /// G_d Fb_max = 0.5; G_i Fb_max R_unit = 1 Gb/s = 10 % of the line; the largest reachable step is 200 Mb/s.
    #[test]
    fn rates_by_hand() {
        let (p, line) = (EcmParams::default(), Rate::from_gbps(10.0));
        assert!((decreased(&p, line, -1875.0).gbps() - 5.0).abs() < 1e-6);
        assert!((decreased(&p, line, -375.0).gbps() - 9.0).abs() < 1e-6);
        assert_eq!(decreased(&p, Rate::from_mbps(12.0), -1875.0).mbps(), 10.0);
        let up = |fb| increased(&p, Rate::from_gbps(1.0), line, fb).mbps();
        assert!((up(1875.0) - 2000.0).abs() < 1e-3);
        assert!((up(375.0) - 1200.0).abs() < 1e-3);
        assert_eq!(increased(&p, line, line, 375.0), line);
    }

    #[test]
    fn a_share_of_frames_is_a_spacing() {
        for (text, bytes) in [("1%", 150_000), ("2 %", 75_000), ("150 KB", 150_000), ("100%", 1500)] {
            assert_eq!(Spacing::parse(text), Ok(Spacing(Bytes::new(bytes))), "{text}");
        }
        assert!(["0%", "101%", "-1%", "x%", "1"].iter().all(|t| Spacing::parse(t).is_err()));
    }

    #[test]
    fn oversampling_rules() {
        let point = |o| Point {
            p: EcmParams { oversampling: o, ..EcmParams::default() },
            id: PointId(0),
            q_old: 0.0,
        };
        let at = |o, fb, q| point(o).interval(fb, q, false, 0.5).get();
        assert_eq!(at(Oversampling::Off, -1875.0, 2000.0), 75_000);
        assert_eq!(at(Oversampling::Proportional, -1875.0, 2000.0), 7_500);
        assert_eq!(at(Oversampling::Proportional, 1875.0, 0.0), 7_500);
        assert_eq!(at(Oversampling::Negative, 1875.0, 0.0), 75_000);
        assert_eq!(at(Oversampling::AboveQmc, -10.0, 1301.0), 7_500);
        assert_eq!(point(Oversampling::NextFrame).interval(1.0, 0.0, true, 0.5).get(), 1);
    }
}
