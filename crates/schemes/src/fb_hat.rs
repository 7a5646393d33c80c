//! # QCN-H: QCN with Fb-hat
//!
//! QCN-H is QCN-2pt with a transform, *Fb-hat*, between `Fb` and the quantiser of the congestion point. The transformed value
//! is quantised and sent, and sets the next sampling interval. All else is [`crate::qcn_2pt`]. As an average over samples,
//! Fb-hat spreads a sudden burst over several messages. The study runs it with twice the active-increase step of plain QCN. A
//! comparison therefore needs plain QCN with that step, too.
//!
//! Sources: G. Roeck, August 2007 (R07), which has "Fb-Hat, as specified" and shows results. The specification was not found.
//! The default was chosen because it improves the chain of R07 as the study shows. No candidate shortens the recovery of a
//! single hop.
//!
//! | paper | here |
//! |---|---|
//! | Fb-hat | [`FbHatMode`], [`Hat`] |
//! | A = 24 Mb/s | `ri` of `qcn-h`, `qcn-hp`, `qcn-hsp` |
//!
//! ## Assumptions, each a parameter
//!
//! * `fbhat_mode`: the form of Fb-hat. `predictive` is a negative control: the queue stays at the PAUSE threshold. `gated`
//!   changes only the sampling interval, as messages need `q > Q_eq` anyway. `rp-side` leaves the congestion point unchanged;
//!   its effect has decayed before active increase begins.
//! * `fbhat_g`: weight of the newest value in an average.
//! * `fbhat_answer`: the value that a probe reads at such a point (`qcn-hp`, `qcn-hsp`). An average without positive values
//!   cannot answer a probe. The default mixes in the present signed value, so an idle queue answers g x 11.
//!
//! ## Fixed here
//!
//! A probe is no sample: it does not change the average.

use crate::counters::CNM_MESSAGES;
use crate::qcn_2pt::{Mark, Point, QcnParams, Rates, Transform, feedback, qcn_2007, signed_feedback};
use cnsim_scheme_api::{
    CongestionPoint, Counter, Feedback, Idle, Join, Limiter, QueueSite, Rate, ReactionPoint, Registration,
    Scheme, Slot, SourceSite, choice, params,
};

choice! {
    /// The form of Fb-hat.
    pub enum FbHatMode {
        /// Fb-hat is an exponential average of the negative part of Fb over samples.
        Ewma = "ewma",
        /// Fb-hat is an exponential average of Fb with its sign over samples.
        EwmaSigned = "ewma-signed",
        /// Fb-hat is Fb where q > Q_eq, else 0.
        Gated = "gated",
        /// Fb-hat is Fb - W x growth while the queue does not shrink, else 0.
        Predictive = "predictive",
        /// No transform: the reaction point remembers the feedback that it received and takes smaller increase steps.
        RpSide = "rp-side",
    }
}

choice! {
    /// The value that a probe reads at a congestion point with Fb-hat.
    pub enum HatAnswer {
        /// A probe reads the transform with the present Fb in it, so the value may be positive.
        Signed = "signed",
        /// A probe reads the value that a sample would send.
        Sampled = "sampled",
        /// A probe reads the present Fb, untransformed.
        Raw = "raw",
    }
}

params! {
    /// Parameters that Fb-hat adds to those of QCN-2pt.
    pub struct HatParams {
        /// The form of Fb-hat.
        fbhat_mode: FbHatMode = FbHatMode::Ewma, symbol "Fb-hat";
        /// Weight of the newest value in an average.
        fbhat_g: f64 = 0.5, symbol "g", from 0.0, to 1.0;
    }
}

params! {
    /// Parameters that Fb-hat adds where there are probes.
    pub struct AnswerParams {
        /// The value that a probe reads at a congestion point with Fb-hat.
        fbhat_answer: HatAnswer = HatAnswer::Signed, symbol "";
    }
}

impl HatParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        match self.fbhat_mode {
            FbHatMode::Gated | FbHatMode::Predictive => vec![("fbhat_g", "this fbhat_mode has no average")],
            _ => Vec::new(),
        }
    }
}

impl AnswerParams {
    /// Names the parameters without effect at a congestion point with this transform.
    pub fn idle(&self, hat: &HatParams) -> Idle {
        match hat.fbhat_mode {
            FbHatMode::RpSide => vec![("fbhat_answer", "fbhat_mode is rp-side: there is no transform")],
            _ => Vec::new(),
        }
    }
}

/// Fb-hat at a congestion point: the transform between Fb and the quantiser.
#[derive(Debug)]
pub struct Hat {
    p: HatParams,
    answer: HatAnswer,
    /// The average of Fb, bytes.
    value: f64,
}

impl Hat {
    /// The transform that these parameters ask for; none where the congestion point keeps Fb as it is.
    pub(crate) fn build(p: &HatParams, answer: HatAnswer) -> Option<Box<dyn Transform>> {
        let hat = || -> Box<dyn Transform> { Box::new(Self { p: p.clone(), answer, value: 0.0 }) };
        (p.fbhat_mode != FbHatMode::RpSide).then(hat)
    }

    /// `(1 - g) Fbh + g Fb`.
    fn average(&self, fb: f64) -> f64 {
        (1.0 - self.p.fbhat_g) * self.value + self.p.fbhat_g * fb
    }
}

impl Transform for Hat {
    fn at_sample(&self, p: &QcnParams, q: f64, q_old: f64) -> f64 {
        match self.p.fbhat_mode {
            FbHatMode::Ewma => self.average(feedback(p, q, q_old)),
            FbHatMode::EwmaSigned => self.average(signed_feedback(p, q, q_old)),
            FbHatMode::Gated if q > p.q_eq.as_f64() => feedback(p, q, q_old),
            FbHatMode::Predictive if q >= q_old => signed_feedback(p, q, q_old) - p.w * (q - q_old),
            FbHatMode::Gated | FbHatMode::Predictive => 0.0,
            FbHatMode::RpSide => feedback(p, q, q_old),
        }
    }

    fn at_probe(&self, p: &QcnParams, q: f64, q_old: f64) -> f64 {
        let fb = signed_feedback(p, q, q_old);
        match (self.answer, self.p.fbhat_mode) {
            (HatAnswer::Raw, _) => fb,
            (HatAnswer::Sampled, FbHatMode::EwmaSigned) => self.average(fb),
            (HatAnswer::Sampled, _) => self.at_sample(p, q, q_old).min(0.0),
            (HatAnswer::Signed, FbHatMode::Ewma | FbHatMode::EwmaSigned) => self.average(fb),
            (HatAnswer::Signed, _) if fb >= 0.0 => fb,
            (HatAnswer::Signed, _) => self.at_sample(p, q, q_old),
        }
    }

    fn sampled(&mut self, value: f64) {
        self.value = value;
    }
}

/// The rates of QCN-2pt, with the memory of `rp-side` where that is set.
#[derive(Debug)]
pub(crate) struct Steer {
    pub(crate) rates: Rates,
    /// (g, average of the received quantised Fb); none in all other modes.
    memory: Option<(f64, f64)>,
}

impl Steer {
    pub(crate) fn new(qcn: QcnParams, hat: Option<&HatParams>) -> Self {
        let remembers = hat.filter(|h| h.fbhat_mode == FbHatMode::RpSide);
        Self { rates: Rates::new(qcn), memory: remembers.map(|h| (h.fbhat_g, 0.0)) }
    }

    /// A message, or a negative answer. Does it restart the byte counter?
    #[must_use]
    pub(crate) fn cut(&mut self, qfb: u8, limiter: &mut Limiter<'_>) -> bool {
        let qfb = qfb.min(63);
        if let Some((g, value)) = &mut self.memory {
            *value = (1.0 - *g) * *value + *g * f64::from(qfb);
        }
        self.rates.cut(qfb, limiter)
    }

    /// A finished cycle: the memory fades to one half, then takes its share of the step.
    pub(crate) fn cycle(&mut self, scale: f64, limiter: &mut Limiter<'_>) {
        let mut scale = scale;
        if let Some((_, value)) = &mut self.memory {
            *value *= 0.5;
            scale *= 1.0 - *value / 63.0;
        }
        self.rates.cycle_by(scale, limiter);
    }
}

/// The scheme QCN-H: QCN-2pt with Fb-hat.
#[derive(Debug)]
pub struct QcnH(pub Join<QcnParams, HatParams>);

/// The registration.
pub(crate) fn registration() -> Registration {
    let usual = Join { first: QcnParams::r07(Rate::from_mbps(24.0)), second: HatParams::default() };
    let idle = |p: &Join<QcnParams, HatParams>| [p.first.idle(), p.second.idle()].concat();
    Registration::with_idle("QCN with Fb-hat (2007)", include_str!("fb_hat.rs"), usual, idle, QcnH)
        .promise(qcn_2007())
}

impl Scheme for QcnH {
    fn name(&self) -> &str {
        "qcn-h"
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let point = Point::new(self.0.first.clone(), site.point, Mark::Never);
        Some(Box::new(point.transformed(Hat::build(&self.0.second, HatAnswer::Raw))))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { steer: Steer::new(self.0.first.clone(), Some(&self.0.second)) }))
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::Cnm { qntz_fb, .. } if *qntz_fb > 0)
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CNM_MESSAGES]
    }
}

#[derive(Debug)]
struct Reaction {
    steer: Steer,
}

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let Feedback::Cnm { qntz_fb, .. } = *feedback else { return };
        if qntz_fb > 0 && self.steer.cut(qntz_fb, limiter) {
            limiter.wake_after(self.steer.rates.need());
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.steer.cycle(1.0, limiter);
        limiter.wake_after(self.steer.rates.need());
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.steer.rates.period(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::{PointRig, Promise, ReactionRig, conformance};
    use cnsim_scheme_api::{Bytes, Rate, Tag, Time};

    fn r07() -> QcnParams {
        QcnParams::r07(Rate::from_mbps(24.0))
    }

    fn hat(mode: FbHatMode, answer: HatAnswer) -> Hat {
        Hat { p: HatParams { fbhat_mode: mode, ..HatParams::default() }, answer, value: 0.0 }
    }

    /// 34 KB, not growing: Fb = -10 000 B. Samples of it give -5000, -7500; an empty queue after that -3750.
    #[test]
    fn ewma_by_hand() {
        let p = r07();
        let mut h = hat(FbHatMode::Ewma, HatAnswer::Signed);
        for expected in [-5_000.0, -7_500.0] {
            let fb = h.at_sample(&p, 34_000.0, 34_000.0);
            assert_eq!(fb, expected);
            assert_eq!(h.at_sample(&p, 34_000.0, 34_000.0), fb, "looking changes nothing");
            h.sampled(fb);
        }
        assert_eq!(h.at_sample(&p, 0.0, 0.0), -3_750.0, "positive values do not enter");
        // A probe there mixes +24 000 into it: -3750 + 12 000.
        assert_eq!(h.at_probe(&p, 0.0, 0.0), 8_250.0);
        let mut signed = hat(FbHatMode::EwmaSigned, HatAnswer::Signed);
        signed.sampled(-7_500.0);
        assert_eq!(signed.at_sample(&p, 0.0, 0.0), 8_250.0);
        // Fb is clamped to 5 x 24 000 before it is averaged.
        assert_eq!(hat(FbHatMode::Ewma, HatAnswer::Signed).at_sample(&p, 1e9, 0.0), -60_000.0);
    }

    /// 30 KB, from 28 KB: Fb = -6000 - 2 x 2000 = -10 000 B. From 33 KB: Fb = -6000 + 6000 = 0.
    #[test]
    fn other_modes_by_hand() {
        let p = r07();
        let sample = |mode, q, old| hat(mode, HatAnswer::Signed).at_sample(&p, q, old);
        assert_eq!(sample(FbHatMode::Gated, 30_000.0, 28_000.0), -10_000.0);
        // 20 KB, grown by 4 KB: Fb = 4000 - 8000 = -4000, but below the set point.
        assert_eq!(sample(FbHatMode::Gated, 20_000.0, 16_000.0), 0.0);
        assert_eq!(sample(FbHatMode::Predictive, 30_000.0, 28_000.0), -14_000.0);
        assert_eq!(sample(FbHatMode::Predictive, 90_000.0, 91_000.0), 0.0, "shrinking, however long");
        let probe = |answer, q, old| hat(FbHatMode::Gated, answer).at_probe(&p, q, old);
        assert_eq!(probe(HatAnswer::Signed, 20_000.0, 16_000.0), 0.0);
        assert_eq!(probe(HatAnswer::Raw, 20_000.0, 16_000.0), -4_000.0);
        assert_eq!(probe(HatAnswer::Signed, 0.0, 0.0), 24_000.0);
        assert_eq!(probe(HatAnswer::Sampled, 0.0, 0.0), 0.0);
    }

    /// W = 0 and 88 KB: Fb_max = 24 000 B clamps Fb to 375 pages; 512 pages are 64 steps.
    #[test]
    fn the_point_sends_the_average() {
        let send = |mode| {
            let hat = HatParams { fbhat_mode: mode, ..HatParams::default() };
            let qcn = QcnParams { w: 0.0, p_min: 1.0, p_max: 1.0, ..r07() };
            let mut rig =
                PointRig::new(&QcnH(Join { first: qcn, second: hat }), Rate::from_gbps(10.0), 1).unwrap();
            (0..10).for_each(|_| {
                rig.frame(1, 88_000, Tag::None);
            });
            let all = rig.messages().into_iter();
            let qfb = all.map(|m| if let Feedback::Cnm { qntz_fb, .. } = m { qntz_fb } else { 99 });
            qfb.collect::<Vec<u8>>()
        };
        assert_eq!(send(FbHatMode::Gated)[..2], [46, 46]);
        // Averages of 187.5, 281.25 and 328.1 pages: 23.4, 35.2 and 41.0 steps.
        assert_eq!(send(FbHatMode::Ewma)[..3], [23, 35, 41]);
    }

    /// `rp-side`: two messages of 48 leave a memory of 24, then 36; the sixth cycle finds 36/64 of it.
    #[test]
    fn memory_of_the_reaction_point_by_hand() {
        let hat = HatParams { fbhat_mode: FbHatMode::RpSide, ..HatParams::default() };
        let qcn = QcnParams { efr: false, ..r07() };
        let mut rig = ReactionRig::new(QcnH(Join { first: qcn, second: hat }), Rate::from_gbps(10.0));
        rig.cnm(48);
        rig.cnm(48);
        let target = 10e9 * (1.0 - 48.0 / 128.0);
        rig.send(5 * 150_000);
        let rate = rig.rate().bps();
        rig.send(37_500);
        let step = 24e6 * (1.0 - 36.0 / 64.0 / 63.0);
        assert!((rig.rate().bps() - (rate + target + step) / 2.0).abs() < 1.0);
    }

    /// `sampled` answers what a sample would send: never a positive value, unless Fb-hat keeps its sign.
    #[test]
    fn answers_as_sampled() {
        let p = r07();
        let mut h = hat(FbHatMode::Ewma, HatAnswer::Sampled);
        h.sampled(-7_500.0);
        assert_eq!(h.at_probe(&p, 34_000.0, 34_000.0), -8_750.0, "half of -7500 and half of -10 000");
        assert_eq!(h.at_probe(&p, 0.0, 0.0), -3_750.0);
        assert_eq!(hat(FbHatMode::Predictive, HatAnswer::Sampled).at_probe(&p, 20_000.0, 20_000.0), 0.0);
        assert_eq!(hat(FbHatMode::EwmaSigned, HatAnswer::Sampled).at_probe(&p, 0.0, 0.0), 12_000.0);
        assert_eq!(hat(FbHatMode::EwmaSigned, HatAnswer::Raw).at_probe(&p, 0.0, 0.0), 24_000.0);
    }

    /// Drift of 1.005 each 500 us, as in QCN-2pt.
    #[test]
    fn drift_comes_with_it() {
        let qcn = QcnParams { drift: Some(1.005), ..r07() };
        let scheme = QcnH(Join { first: qcn, second: HatParams::default() });
        let mut rig = ReactionRig::new(scheme, Rate::from_gbps(10.0));
        rig.cnm(63);
        let low = rig.rate();
        rig.wait(Time::from_us(1_001));
        assert!((rig.rate().bps() / low.bps() - 1.005 * 1.005).abs() < 1e-9);
        rig.cnm(0);
        rig.feedback(&Feedback::Reflection);
        assert!((rig.rate().bps() / low.bps() - 1.005 * 1.005).abs() < 1e-9, "a message of 0 is nothing");
    }

    #[test]
    fn every_mode_conforms() {
        use FbHatMode::{Ewma, EwmaSigned, Gated, Predictive, RpSide};
        for mode in [Ewma, EwmaSigned, Gated, Predictive, RpSide] {
            let second = HatParams { fbhat_mode: mode, ..HatParams::default() };
            let make =
                || -> Box<dyn Scheme> { Box::new(QcnH(Join { first: r07(), second: second.clone() })) };
            let promise = Promise {
                floor: Rate::from_mbps(10.0),
                reacts: true,
                recovers: Some((Bytes::from_mb(40), Time::from_ms(100))),
                ..Promise::default()
            };
            conformance(&make, promise).unwrap_or_else(|e| panic!("{mode:?}: {e:?}"));
        }
    }
}
