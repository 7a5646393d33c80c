//! # QCN with serial HAI: byte counter and timer in parallel
//!
//! QCN with serial HAI recovers by a byte counter and a timer in parallel. A congestion point computes `Fb` from the queue's
//! offset and growth. It answers sampled frames with six bits of a negative `Fb`, and samples up to eight times as often when
//! `Fb` is large. A limited source counts stages of bytes sent and stages of time. Each finished stage of either moves the rate
//! half-way to the target. The *larger* count above five starts active increase (a small step on the target per stage). The
//! *smaller* count above five starts hyperactive increase, whose step grows with that count ("serial": both must have passed).
//! A message lowers the rate and starts both counts anew. It sets the target to the former rate if a byte stage has ended since
//! the last message.
//!
//! Sources: QCN serial HAI pseudocode, IEEE 802.1Qau, November 2007 (definitions), and public re-implementations of it; B.
//! Matthews, B. Kwan, A. Lakshmikantha, IEEE 802.1Qau interim, January 2008 (M08: parameters, results).
//!
//! | paper | here |
//! |---|---|
//! | `Fb = (Q_EQ - q) - W (q - q_old)`, clipped to `[-(2W+1) Q_EQ, 0]` | `PointRules::feedback` |
//! | 6-bit `qFb` | [`quantise`] |
//! | `MARK[qFb >> 3]` | [`mark`] |
//! | message: cut, target, stages | `Rates::cut` |
//! | `self_increase` | `Rates::increase` |
//! | step by min and max of the stages | [`step`] |
//!
//! ## Assumptions, each a parameter
//!
//! * "30 %" jitter is a factor from U(0.85, 1.15) on interval, bytes and timer (`jitter`, `rp_jitter` = 0.3, full width); 0.6
//!   is U(0.7, 1.3). Counts that a message restarts have no jitter, as written.
//! * `tr_over_8`: at the first stage of either counter a target above ten times the rate is divided by eight, in place of the
//!   step. M08's delay results are met only with it.
//! * `mark_interval = last-sample`: the interval is fixed at the last sample from its Fb. `current` compares the bytes with the
//!   interval for the Fb of each arriving frame.
//! * `byte_restart = after-cycle`: a message restarts the byte counter only if a byte stage has ended since the last message,
//!   as written. With `always` every message restarts it.
//! * `counter_end = below-zero`: the pseudocode ends an interval and a byte stage when the counter is below zero. So 150 KB are
//!   101 frames of 1500 B; with `at-zero` they are 100.
//! * `gate_qoff`: only a message with `Qoff < 0` starts a limiter; a limited flow obeys all.
//! * `sample_dropped`: frames that are being dropped are counted and sampled; M08's drops need it.
//! * `release_share`: share of the line rate at which a rate becomes the line rate. 1 is as written: some fifty halvings of the
//!   distance end there by rounding.

use crate::counters::{CNM_MESSAGES, HYPERACTIVE_STEPS, TARGETS_DIVIDED};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Counter, Feedback, FrameView, Idle, Limiter, PointControl, PointId, Queue,
    QueueSite, Rate, ReactionPoint, Registration, Scheme, Slot, SourceSite, Time, choice, params,
};

choice! {
    /// How |Fb| becomes six bits.
    pub enum Quantiser {
        /// |Fb| is shifted: the top six bits of the smallest power of two that holds Fb_max, in pages.
        Shift = "shift",
        /// |Fb| is truncated to 63 steps of Fb_max (the rule of 2010).
        Scale63 = "scale63",
    }
}

choice! {
    /// Which Fb sets the marking interval.
    pub enum MarkInterval {
        /// Fb of the last sample sets the interval.
        LastSample = "last-sample",
        /// Fb of the arriving frame sets the interval.
        Current = "current",
    }
}

choice! {
    /// When a message restarts the byte counter.
    pub enum ByteRestart {
        /// A message restarts it if a byte stage was finished since the last message.
        AfterCycle = "after-cycle",
        /// Every message restarts it.
        Always = "always",
    }
}

choice! {
    /// Where a count of bytes ends, at the congestion point and at the source.
    pub enum CounterEnd {
        /// A count ends below zero: 150 KB are 101 frames of 1500 B.
        BelowZero = "below-zero",
        /// A count ends at zero: 150 KB are 100 frames of 1500 B.
        AtZero = "at-zero",
    }
}

params! {
    /// Parameters of QCN with serial HAI, with the defaults of M08.
    pub struct SerialHaiParams {
        /// Weight of the queue's growth.
        w: f64 = 2.0, symbol "W", from 0.0, to 1000.0;
        /// Set point of the queue.
        q_eq: Bytes = Bytes::from_kb(26), symbol "Q_EQ", from Bytes::new(64), to Bytes::from_mb(100);
        /// Decrease gain per step of the quantised feedback.
        gd: f64 = 1.0 / 128.0, symbol "Gd", from 0.0, to 1.0;
        /// Base marking: bytes between samples at Fb = 0.
        sample: Bytes = Bytes::from_kb(150), symbol "base marking", from Bytes::new(64), to Bytes::from_mb(1000);
        /// Full width of the uniform jitter on the marking interval.
        jitter: f64 = 0.3, symbol "jitter on marking", from 0.0, to 1.9;
        /// Which Fb sets the marking interval.
        mark_interval: MarkInterval = MarkInterval::LastSample, symbol "";
        /// How |Fb| becomes six bits.
        quantiser: Quantiser = Quantiser::Shift, symbol "";
        /// Count and sample frames that are being dropped.
        sample_dropped: bool = true, symbol "";
        /// Only a message with Qoff < 0 starts a limiter.
        gate_qoff: bool = true, symbol "";
        /// Smallest rate of a limiter.
        r_min: Rate = Rate::from_mbps(10.0), symbol "MIN_RATE", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Bytes of a stage up to the threshold; half of it beyond.
        bc_limit: Bytes = Bytes::from_kb(150), symbol "BC_LIMIT", from Bytes::new(64), to Bytes::from_mb(1000);
        /// Time of a stage up to the threshold; half of it beyond.
        timer_period: Time = Time::from_ms(15), symbol "TIMER_PERIOD", from Time::from_us(1), to Time::from_s(100);
        /// Step of active increase.
        r_ai: Rate = Rate::from_mbps(5.0), symbol "R_AI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Step of hyperactive increase, per stage past the threshold.
        r_hai: Rate = Rate::from_mbps(50.0), symbol "R_HAI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Stages of fast recovery.
        fr_threshold: u32 = 5, symbol "FAST_RECOVERY_TH", from 0, to 1000;
        /// Full width of the uniform jitter on the byte and time stages.
        rp_jitter: f64 = 0.3, symbol "RP jitter", from 0.0, to 1.9;
        /// Smallest factor of one cut.
        min_dec_factor: f64 = 0.5, symbol "MIN_DEC_FACTOR", from 0.0, to 1.0;
        /// At the first stage a target above 10 x rate is divided by 8.
        tr_over_8: bool = true, symbol "TR > 10 CR";
        /// When a message restarts the byte counter.
        byte_restart: ByteRestart = ByteRestart::AfterCycle, symbol "";
        /// Where a count of bytes ends.
        counter_end: CounterEnd = CounterEnd::BelowZero, symbol "";
        /// Share of the line rate that counts as recovered.
        release_share: f64 = 1.0, symbol "", from 0.5, to 1.0;
    }
}

impl SerialHaiParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let bounded = self.rate_rules().deepest_cut() < self.min_dec_factor;
        if bounded { Vec::new() } else { vec![("min_dec_factor", "gd x 63 never cuts as deep")] }
    }

    fn point_rules(&self) -> PointRules {
        PointRules {
            w: self.w,
            q_eq: self.q_eq,
            base: self.sample,
            jitter: self.jitter,
            interval: self.mark_interval,
            quantiser: self.quantiser,
            sample_dropped: self.sample_dropped,
            at_zero: self.counter_end == CounterEnd::AtZero,
        }
    }

    fn rate_rules(&self) -> RateRules {
        RateRules {
            gd: self.gd,
            min_rate: self.r_min,
            max_rate: None,
            bytes: self.bc_limit,
            period: self.timer_period,
            ai: self.r_ai,
            hai: self.r_hai,
            threshold: self.fr_threshold,
            jitter: self.rp_jitter,
            min_dec_factor: self.min_dec_factor,
            tr_over_8: self.tr_over_8,
            byte_restart: self.byte_restart,
            at_zero: self.counter_end == CounterEnd::AtZero,
            release_share: self.release_share,
        }
    }
}

/// Bytes between samples at a base of 150 KB, by the top three bits of the feedback.
const MARK: [f64; 8] = [150e3, 75e3, 50e3, 37.5e3, 30e3, 25e3, 21.5e3, 18.5e3];

/// Bytes between samples at this feedback, without jitter.
pub fn mark(base: Bytes, qfb: u8) -> f64 {
    base.as_f64() * MARK[usize::from(qfb.min(63) >> 3)] / MARK[0]
}

/// |Fb| of at most `max` in six bits; both in bytes.
pub fn quantise(quantiser: Quantiser, fb: f64, max: f64) -> u8 {
    let steps = match quantiser {
        Quantiser::Shift => {
            let mut span = 64.0 * 64.0;
            while span < max {
                span *= 2.0;
            }
            fb.abs() * 64.0 / span
        }
        Quantiser::Scale63 => fb.abs() * 63.0 / max,
    };
    steps.floor().clamp(0.0, 63.0) as u8
}

/// Step on the target: none while the larger of the stages is in fast recovery, then active increase, and hyperactive
/// once the smaller one is through too.
pub fn step(byte_stage: u32, time_stage: u32, threshold: u32, ai: Rate, hai: Rate) -> Rate {
    let (low, high) = (byte_stage.min(time_stage), byte_stage.max(time_stage));
    if low > threshold {
        hai * f64::from(low - threshold)
    } else if high > threshold {
        ai
    } else {
        Rate::ZERO
    }
}

/// Counters of the scheme.
pub(crate) fn counted() -> Vec<Counter> {
    vec![CNM_MESSAGES, TARGETS_DIVIDED, HYPERACTIVE_STEPS]
}

/// Rules of a congestion point, shared with the standard of 2010.
#[derive(Clone, Debug)]
pub(crate) struct PointRules {
    pub(crate) w: f64,
    pub(crate) q_eq: Bytes,
    pub(crate) base: Bytes,
    pub(crate) jitter: f64,
    pub(crate) interval: MarkInterval,
    pub(crate) quantiser: Quantiser,
    pub(crate) sample_dropped: bool,
    /// A counter samples when it reaches zero, not only below it.
    pub(crate) at_zero: bool,
}

impl PointRules {
    /// `(2W + 1) Q_EQ`.
    fn fb_max(&self) -> f64 {
        (2.0 * self.w + 1.0) * self.q_eq.as_f64()
    }

    /// `Fb`, only the negative part.
    fn feedback(&self, q: f64, q_old: f64) -> f64 {
        ((self.q_eq.as_f64() - q) - self.w * (q - q_old)).clamp(-self.fb_max(), 0.0)
    }

    /// |Fb| in six bits.
    pub(crate) fn qfb(&self, q: f64, q_old: f64) -> u8 {
        quantise(self.quantiser, self.feedback(q, q_old), self.fb_max())
    }

    /// The smallest count of bytes that ends an interval.
    pub(crate) fn enough(&self, interval: f64) -> u64 {
        enough(interval, self.at_zero)
    }
}

/// The smallest count of bytes that ends a count down from here, at zero or below it.
fn enough(bytes: f64, at_zero: bool) -> u64 {
    if at_zero { bytes.ceil() as u64 } else { bytes.floor() as u64 + 1 }
}

/// A factor of mean 1, uniform with this full width.
pub(crate) fn spread(width: f64, uniform: f64) -> f64 {
    1.0 + width * (uniform - 0.5)
}

/// The congestion point.
#[derive(Debug)]
pub(crate) struct Point {
    rules: PointRules,
    id: PointId,
    q_old: f64,
    /// Jitter of the present interval.
    factor: f64,
    /// Bytes since the last sample, where the interval follows the present frame.
    since: u64,
}

impl Point {
    pub(crate) fn new(rules: PointRules, id: PointId) -> Self {
        Self { rules, id, q_old: 0.0, factor: 1.0, since: 0 }
    }

    fn arm(&mut self, qfb: u8, ctl: &mut PointControl<'_>) {
        match self.rules.interval {
            MarkInterval::LastSample => {
                let bytes = self.rules.enough(mark(self.rules.base, qfb) * self.factor);
                ctl.sample_after(Bytes::new(bytes));
            }
            MarkInterval::Current => ctl.sample_always(),
        }
    }
}

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_dropped(self.rules.sample_dropped);
        self.arm(0, ctl);
    }

    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let q = queue.len.as_f64();
        let qfb = self.rules.qfb(q, self.q_old);
        if self.rules.interval == MarkInterval::Current {
            self.since += frame.len.get();
            if self.since < self.rules.enough(mark(self.rules.base, qfb) * self.factor) {
                self.arm(qfb, ctl);
                return;
            }
            self.since = 0;
        }
        if qfb > 0 {
            let q_off = (self.rules.q_eq.as_f64() - q) as i32;
            let q_delta = (q - self.q_old) as i32;
            ctl.count(CNM_MESSAGES);
            ctl.notify(frame.flow, Feedback::Cnm { point: self.id, qntz_fb: qfb, q_off, q_delta });
        }
        self.q_old = q;
        self.factor = spread(self.rules.jitter, ctl.uniform());
        self.arm(qfb, ctl);
    }
}

/// Rules of a reaction point, shared with the standard of 2010.
#[derive(Clone, Debug)]
pub(crate) struct RateRules {
    pub(crate) gd: f64,
    pub(crate) min_rate: Rate,
    /// Upper bound of a limited flow; none: the line rate.
    pub(crate) max_rate: Option<Rate>,
    pub(crate) bytes: Bytes,
    pub(crate) period: Time,
    pub(crate) ai: Rate,
    pub(crate) hai: Rate,
    pub(crate) threshold: u32,
    pub(crate) jitter: f64,
    pub(crate) min_dec_factor: f64,
    pub(crate) tr_over_8: bool,
    pub(crate) byte_restart: ByteRestart,
    /// A count of bytes ends at zero, not only below.
    pub(crate) at_zero: bool,
    pub(crate) release_share: f64,
}

impl RateRules {
    /// Factor of the largest feedback, without the bound on a cut.
    pub(crate) fn deepest_cut(&self) -> f64 {
        1.0 - self.gd * 63.0
    }
}

/// Does this message start a limiter?
pub(crate) fn starts(feedback: &Feedback, gate_qoff: bool) -> bool {
    matches!(*feedback, Feedback::Cnm { qntz_fb, q_off, .. } if qntz_fb > 0 && (q_off < 0 || !gate_qoff))
}

const TIMER: Slot = Slot(0);

/// The reaction point: target, stages and the rules that move them.
#[derive(Debug)]
pub(crate) struct Rates {
    rules: RateRules,
    target: Rate,
    byte_stage: u32,
    time_stage: u32,
}

impl Rates {
    pub(crate) fn new(rules: RateRules) -> Self {
        Self { rules, target: Rate::ZERO, byte_stage: 0, time_stage: 0 }
    }

    /// The rate at which a flow is free again.
    fn top(&self, limiter: &Limiter<'_>) -> Rate {
        self.rules.max_rate.map_or(limiter.line_rate(), |max| max.min(limiter.line_rate()))
    }

    /// Wakes after the bytes of a stage.
    fn count_bytes(&self, factor: f64, limiter: &mut Limiter<'_>) {
        let bytes = self.rules.bytes.as_f64() * factor;
        limiter.wake_after(Bytes::new(enough(bytes, self.rules.at_zero)));
    }

    /// Length of the next stage in units of the first ones.
    fn share(&self, stage: u32, limiter: &mut Limiter<'_>) -> f64 {
        let share = if stage < self.rules.threshold { 1.0 } else { 0.5 };
        if self.rules.jitter > 0.0 { share * spread(self.rules.jitter, limiter.uniform()) } else { share }
    }

    fn cut(&mut self, qfb: u8, limiter: &mut Limiter<'_>) {
        if !limiter.is_engaged() {
            let top = self.top(limiter);
            limiter.set_rate(top);
            self.target = top;
            self.count_bytes(1.0, limiter);
        } else {
            if self.byte_stage > 0 {
                self.target = limiter.rate();
            }
            if self.byte_stage > 0 || self.rules.byte_restart == ByteRestart::Always {
                self.count_bytes(1.0, limiter);
            }
        }
        // `engage` also takes back a release that waits for an empty queue.
        limiter.engage();
        self.byte_stage = 0;
        self.time_stage = 0;
        let factor = (1.0 - self.rules.gd * f64::from(qfb)).max(self.rules.min_dec_factor);
        limiter.set_rate((limiter.rate() * factor).max(self.rules.min_rate).min(limiter.line_rate()));
        limiter.start_timer(TIMER, self.rules.period);
    }

    fn increase(&mut self, limiter: &mut Limiter<'_>) {
        let rules = &self.rules;
        let (top, rate) = (self.top(limiter), limiter.rate());
        let first = self.byte_stage == 1 || self.time_stage == 1;
        if rules.tr_over_8 && first && self.target > rate * 10.0 {
            self.target = self.target / 8.0;
            limiter.count(TARGETS_DIVIDED);
        } else {
            if self.byte_stage.min(self.time_stage) > rules.threshold {
                limiter.count(HYPERACTIVE_STEPS);
            }
            self.target += step(self.byte_stage, self.time_stage, rules.threshold, rules.ai, rules.hai);
            self.target = self.target.min(top);
        }
        let rate = (rate + self.target) * 0.5;
        if rate >= top * rules.release_share {
            limiter.set_rate(top);
            limiter.release_when_empty();
        } else {
            limiter.set_rate(rate);
        }
    }
}

impl ReactionPoint for Rates {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let Feedback::Cnm { qntz_fb, .. } = *feedback else { return };
        if qntz_fb > 0 {
            self.cut(qntz_fb.min(63), limiter);
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.byte_stage = self.byte_stage.saturating_add(1);
        let factor = self.share(self.byte_stage, limiter);
        self.count_bytes(factor, limiter);
        self.increase(limiter);
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        self.time_stage = self.time_stage.saturating_add(1);
        self.increase(limiter);
        let factor = self.share(self.time_stage, limiter);
        limiter.start_timer(slot, self.rules.period.scale(factor));
    }
}

/// The scheme QCN with serial HAI.
#[derive(Debug)]
pub struct SerialHai(pub SerialHaiParams);

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "QCN with byte counter and timer, serial hyperactive increase (2008)";
    let (source, usual) = (include_str!("qcn_serial_hai.rs"), SerialHaiParams::default());
    Registration::with_idle(title, source, usual, SerialHaiParams::idle, SerialHai).promise(Promise {
        // Five stages of 15 ms, then one stage of 7.5 ms and a good many of bytes.
        recovers: Some((Bytes::from_mb(100), Time::from_ms(200))),
        ..Promise::reacting(Rate::from_mbps(10.0))
    })
}

impl Scheme for SerialHai {
    fn name(&self) -> &str {
        "qcn-serial-hai"
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point::new(self.0.point_rules(), site.point)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Rates::new(self.0.rate_rules())))
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        starts(feedback, self.0.gate_qoff)
    }
    fn counters(&self) -> Vec<Counter> {
        counted()
    }
}

#[cfg(test)]
mod tests;
