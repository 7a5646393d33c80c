//! # QCN-2pt: quantised congestion notification, two points
//!
//! QCN-2pt sends only negative feedback, from a queue to the sources that fill it. A congestion point samples arriving frames
//! and computes `Fb` from the queue's offset and growth. A negative `Fb` goes as six bits to the source of the sampled frame.
//! The source's reaction point recovers by itself. It keeps the rate before the cut as its target. After each cycle of a number
//! of bytes it moves half-way to the target (fast recovery, five cycles). Then the target rises by a constant step per shorter
//! cycle (active increase). With *extra fast recovery* (EFR), only the first message of a burst lowers the target. A limiter at
//! line rate with an empty queue is released.
//!
//! Sources: D. Bergamasco, IEEE 802.1 decks of July 2007 (B07: parameters, tables); G. Roeck, August 2007 (R07); the
//! serial-HAI pseudocode of November 2007 for the rules that the decks leave out.
//!
//! | paper | here |
//! |---|---|
//! | `Fb = (Q_eq - q) - W (q - q_old)`, clipped to `[-(2W+1) Q_eq, 0]` | [`feedback`] |
//! | 6-bit quantiser | [`Quantiser`], [`quantise`] |
//! | sampling probability 1 % to 10 % | [`Sampling`] |
//! | `CR (1 - G_d qFb)`, at most halved | [`Rates::cut`] |
//! | fast recovery, active increase | [`Rates::cycle`] |
//!
//! ## Assumptions, each a parameter
//!
//! * Messages need `q > Q_eq` (`gate_qoff`). The published overhead fits only with this condition. The two rows at 0 Gb/s
//!   without PAUSE are an exception: they look like a build without it.
//! * `sampling = bytes`: the interval is fixed at the last sample from its Fb (B07 decides for bytes before its tables).
//!   `packet-last` and `packet-current` draw for each frame.
//! * EFR: `efr_target = before-cut` sets the target to the rate before the first cut of a burst, `after-cut` to the rate after
//!   it. After `efr_max_count` messages in a row the target is lowered all the same.
//! * `byte_restart = after-cycle`: a message restarts the byte counter only if a cycle has ended since the last message. The
//!   pseudocode of November 2007 has it so, and a burst then does not delay the end of the present cycle. With `always` every
//!   message restarts it.
//! * `hai`: the readings of the hyperactive increase of 2007, which the decks do not define.
//! * `drift_of`: drift multiplies the target rate, the current rate, or both.
//! * `release_share`: a rate within 2 % of the line rate becomes the line rate, if the line rate is its target.

use crate::counters::CNM_MESSAGES;
use crate::qcn_serial_hai::ByteRestart;
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Counter, Feedback, FrameView, Idle, Limiter, PointControl, PointId, Queue,
    QueueSite, Ramp, Rate, ReactionPoint, Registration, Scheme, Slot, SourceSite, Time, choice, params,
};
use std::fmt::Debug;

choice! {
    /// How frames are sampled.
    pub enum Sampling {
        /// A frame is sampled after a number of bytes, fixed at the last sample from its Fb.
        Bytes = "bytes",
        /// Each frame is sampled with a probability fixed at the last sample.
        PacketLast = "packet-last",
        /// Each frame is sampled with a probability from the present queue.
        PacketCurrent = "packet-current",
    }
}

choice! {
    /// How |Fb| becomes six bits.
    pub enum Quantiser {
        /// The top six bits of the smallest power of two that holds Fb_max.
        Shift = "shift",
        /// |Fb| is rounded to 63 steps of Fb_max (the standard of 2010 truncates).
        Scale63 = "scale63",
        /// The six bits of `shift`, rounded up: never 0 for a negative Fb.
        Ceil = "ceil",
    }
}

choice! {
    /// The effect of a burst's first message on the target.
    pub enum EfrTarget {
        /// Target = rate before the cut.
        BeforeCut = "before-cut",
        /// Target = rate after the cut.
        AfterCut = "after-cut",
    }
}

choice! {
    /// How the step grows in hyperactive increase.
    pub enum Hai {
        /// The step is constant: there is no hyperactive increase.
        Off = "off",
        /// The step is multiplied by the number of the active-increase cycle.
        Linear = "linear",
        /// The step is 50 Mb/s from the sixth active-increase cycle on.
        Fixed = "fixed",
        /// The step doubles with each active-increase cycle.
        Doubling = "doubling",
        /// After `hai_quiet` timer periods without a message, each further one adds step x (periods - quiet) to the rate.
        Timer = "timer",
    }
}

choice! {
    /// The rates that drift multiplies.
    pub enum DriftOf {
        /// Drift multiplies the target and the current rate.
        Both = "both",
        /// Drift multiplies the current rate, up to the line rate, and the target where it is lower.
        Current = "current",
        /// Drift multiplies the target rate.
        Target = "target",
    }
}

params! {
    /// Parameters of QCN-2pt, with the values that B07 prints. Its scenarios set `r_min`, which it does not print.
    pub struct QcnParams {
        /// Weight of the queue's growth.
        w: f64 = 2.0, symbol "W", from 0.0, to 1000.0;
        /// Set point of the queue (409 pages).
        q_eq: Bytes = Bytes::new(26_176), symbol "Q_eq", from Bytes::new(64), to Bytes::from_mb(100);
        /// Decrease gain per step of the quantised feedback.
        gd: f64 = 1.0 / 128.0, symbol "G_d", from 0.0, to 1.0;
        /// Active-increase step.
        ri: Rate = Rate::from_mbps(12.0), symbol "R_i", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Smallest sampling probability, per 1500 B frame.
        p_min: f64 = 0.01, symbol "P_min", from 1e-6, to 1.0;
        /// Largest sampling probability.
        p_max: f64 = 0.1, symbol "P_max", from 1e-6, to 1.0;
        /// Width of the uniform jitter on the sampling interval (0.3 = +-15 %).
        jitter: f64 = 0.3, symbol "", from 0.0, to 1.9;
        /// How frames are sampled.
        sampling: Sampling = Sampling::Bytes, symbol "";
        /// How |Fb| becomes six bits.
        quantiser: Quantiser = Quantiser::Shift, symbol "";
        /// A message is sent only if q > Q_eq.
        gate_qoff: bool = true, symbol "";
        /// Count and sample frames that are being dropped.
        sample_dropped: bool = true, symbol "";
        /// Number of fast-recovery cycles.
        fr_threshold: u32 = 5, symbol "FR_thr", from 0, to 1000;
        /// Bytes of a fast-recovery cycle.
        fr_bytes: Bytes = Bytes::from_kb(150), symbol "FR_bytes", from Bytes::new(64), to Bytes::from_mb(1000);
        /// Bytes of an active-increase cycle.
        ai_bytes: Bytes = Bytes::new(37_500), symbol "AI_bytes", from Bytes::new(64), to Bytes::from_mb(1000);
        /// When a message restarts the byte counter.
        byte_restart: ByteRestart = ByteRestart::AfterCycle, symbol "";
        /// Extra fast recovery: messages before the first finished cycle keep the target.
        efr: bool = true, symbol "EFR";
        /// The effect of a burst's first message on the target.
        efr_target: EfrTarget = EfrTarget::BeforeCut, symbol "";
        /// Number of messages in a row after which the target is lowered despite EFR.
        efr_max_count: Option<u32> = None, symbol "EFR_MAX", from Some(1), to Some(1_000_000);
        /// How the step grows in hyperactive increase.
        hai: Hai = Hai::Off, symbol "HAI";
        /// Quiet periods before the timer form of HAI begins.
        hai_quiet: u32 = 40, symbol "", from 1, to 100_000;
        /// Factor on target and rate per drift period; off for none.
        drift: Option<f64> = None, symbol "", from Some(1.0), to Some(10.0);
        /// The rates that drift multiplies.
        drift_of: DriftOf = DriftOf::Both, symbol "";
        /// Period of drift and of the timer form of HAI.
        drift_period: Time = Time::from_us(500), symbol "T_d", from Time::from_us(1), to Time::from_s(100);
        /// Share of the line rate that counts as recovered, once the target is the line rate.
        release_share: f64 = 0.98, symbol "", from 0.5, to 1.0;
        /// Smallest rate of a limiter.
        r_min: Rate = Rate::from_mbps(10.0), symbol "R_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
    }
}

impl QcnParams {
    /// The parameters of R07: set point 24 KB, active-increase step `ri` (12 Mb/s, 24 Mb/s with Fb-hat), a byte counter
    /// that every message restarts. The others are those of B07.
    pub fn r07(ri: Rate) -> Self {
        Self { q_eq: Bytes::from_kb(24), ri, byte_restart: ByteRestart::Always, ..Self::default() }
    }

    /// `(2W + 1) Q_eq`, bytes.
    pub(crate) fn fb_max(&self) -> f64 {
        (2.0 * self.w + 1.0) * self.q_eq.as_f64()
    }

    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = Vec::new();
        let timed = self.drift.is_some() || self.hai == Hai::Timer;
        let mut note = |on: bool, key, why| {
            if on {
                idle.push((key, why));
            }
        };
        note(!self.efr, "efr_max_count", "efr is off");
        note(self.hai != Hai::Timer, "hai_quiet", "hai is not timer");
        note(self.drift.is_none(), "drift_of", "drift is off");
        note(!timed, "drift_period", "drift is off and hai is not timer");
        note(self.sampling != Sampling::Bytes, "jitter", "sampling is not by bytes");
        note(self.p_max < self.p_min, "p_max", "it is below p_min, which is then the probability throughout");
        idle
    }
}

/// `Fb = (Q_eq - q) - W (q - q_old)`, only the negative part, at most `(2W + 1) Q_eq`; bytes.
pub fn feedback(p: &QcnParams, q: f64, q_old: f64) -> f64 {
    signed_feedback(p, q, q_old).min(0.0)
}

/// `Fb` with its positive part, at most `(2W + 1) Q_eq` either way; bytes.
pub(crate) fn signed_feedback(p: &QcnParams, q: f64, q_old: f64) -> f64 {
    ((p.q_eq.as_f64() - q) - p.w * (q - q_old)).clamp(-p.fb_max(), p.fb_max())
}

/// |Fb| in six bits.
pub fn quantise(p: &QcnParams, fb: f64) -> u8 {
    let pages = fb.abs() / 64.0;
    let max = p.fb_max() / 64.0;
    let mut span = 64.0;
    while span < max {
        span *= 2.0;
    }
    let steps = match p.quantiser {
        Quantiser::Shift => (pages * 64.0 / span).floor(),
        Quantiser::Ceil => (pages * 64.0 / span).ceil(),
        Quantiser::Scale63 => (pages * 63.0 / max).round(),
    };
    steps.clamp(0.0, 63.0) as u8
}

/// Sampling probability for a quantised Fb.
fn probability(p: &QcnParams, qfb: u8) -> f64 {
    p.p_min + (p.p_max - p.p_min).max(0.0) * f64::from(qfb) / 63.0
}

/// The scheme QCN-2pt with its parameters.
#[derive(Debug)]
pub struct Qcn2pt(pub QcnParams);

/// The promise of the QCNs of 2007: bytes and time bring a flow back to line rate.
pub(crate) fn qcn_2007() -> Promise {
    Promise {
        recovers: Some((Bytes::from_mb(40), Time::from_ms(100))),
        ..Promise::reacting(Rate::from_mbps(10.0))
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "quantised congestion notification, two points (2007)";
    Registration::with_idle(title, include_str!("qcn_2pt.rs"), QcnParams::default(), QcnParams::idle, Qcn2pt)
        .promise(qcn_2007())
}

impl Scheme for Qcn2pt {
    fn name(&self) -> &str {
        "qcn-2pt"
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point::new(self.0.clone(), site.point, Mark::Never)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { rates: Rates::new(self.0.clone()) }))
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::Cnm { qntz_fb, .. } if *qntz_fb > 0)
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CNM_MESSAGES]
    }
}

/// A transform between Fb and the quantiser ([`crate::fb_hat`]). It uses the queue, not Fb alone.
pub(crate) trait Transform: Debug + Send {
    /// The value to quantise if a sample were taken now, in bytes; its positive part is not sent.
    fn at_sample(&self, p: &QcnParams, q: f64, q_old: f64) -> f64;
    /// The signed value that a probe reads, in bytes; a probe is no sample.
    fn at_probe(&self, p: &QcnParams, q: f64, q_old: f64) -> f64;
    /// A sample was taken and gave this value.
    fn sampled(&mut self, value: f64);
}

/// The congestion point of 2pt, of 3pt (which also marks), and of the variants (which transform Fb).
#[derive(Debug)]
pub(crate) struct Point {
    p: QcnParams,
    id: PointId,
    q_old: f64,
    mark: Mark,
    transform: Option<Box<dyn Transform>>,
}

/// Which frames a congestion point marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// No frame is marked.
    Never,
    /// Frames that meet q > Q_eq are marked.
    Queue,
    /// Frames at which Fb < 0 are marked.
    Feedback,
}

/// Longest queue at which Fb is not negative: `(Q_eq + W q_old) / (1 + W)`. It moves with each sample.
pub(crate) fn neutral_queue(p: &QcnParams, q_old: f64) -> Bytes {
    Bytes::new(((p.q_eq.as_f64() + p.w * q_old) / (1.0 + p.w)) as u64)
}

impl Point {
    pub(crate) fn new(p: QcnParams, id: PointId, mark: Mark) -> Self {
        Self { p, id, q_old: 0.0, mark, transform: None }
    }

    /// The point with a transform of Fb, if there is one.
    pub(crate) fn transformed(self, transform: Option<Box<dyn Transform>>) -> Self {
        Self { transform, ..self }
    }

    /// The value that a probe reads where it finds `q` bytes: signed and quantised, -63 to 63.
    pub(crate) fn reading(&self, q: f64) -> i32 {
        let fb = match &self.transform {
            Some(t) => t.at_probe(&self.p, q, self.q_old),
            None => signed_feedback(&self.p, q, self.q_old),
        };
        let steps = i32::from(quantise(&self.p, fb));
        if fb < 0.0 { -steps } else { steps }
    }

    /// Arms the next sample after one with this feedback.
    fn arm(&self, qfb: u8, ctl: &mut PointControl<'_>) {
        let chance = probability(&self.p, qfb);
        match self.p.sampling {
            Sampling::Bytes => {
                let factor = 1.0 + self.p.jitter * (ctl.uniform() - 0.5);
                ctl.sample_after(Bytes::new((1500.0 / chance * factor).max(1.0) as u64));
            }
            Sampling::PacketLast => ctl.sample_with(chance),
            // Every frame is offered with the largest probability, and thinned to that of the present queue.
            Sampling::PacketCurrent => ctl.sample_with(self.p.p_max.max(self.p.p_min)),
        }
    }
}

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_dropped(self.p.sample_dropped);
        match self.mark {
            Mark::Never => {}
            Mark::Queue => ctl.mark(Ramp::step(self.p.q_eq)),
            Mark::Feedback => ctl.mark(Ramp::step(neutral_queue(&self.p, self.q_old))),
        }
        self.arm(0, ctl);
    }

    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let q = queue.len.as_f64();
        let fb = match &self.transform {
            Some(t) => t.at_sample(&self.p, q, self.q_old),
            None => feedback(&self.p, q, self.q_old),
        };
        let qfb = quantise(&self.p, fb.min(0.0));
        if self.p.sampling == Sampling::PacketCurrent {
            let offered = self.p.p_max.max(self.p.p_min);
            if ctl.uniform() * offered >= probability(&self.p, qfb) {
                return;
            }
        }
        if qfb > 0 && (!self.p.gate_qoff || q > self.p.q_eq.as_f64()) {
            let q_off = (self.p.q_eq.as_f64() - q) as i32;
            let q_delta = (q - self.q_old) as i32;
            ctl.count(CNM_MESSAGES);
            ctl.notify(frame.flow, Feedback::Cnm { point: self.id, qntz_fb: qfb, q_off, q_delta });
        }
        if let Some(t) = &mut self.transform {
            t.sampled(fb);
        }
        self.q_old = q;
        if self.mark == Mark::Feedback {
            ctl.mark(Ramp::step(neutral_queue(&self.p, q)));
        }
        self.arm(qfb, ctl);
    }
}

/// Timer of drift and of the timer form of HAI.
pub(crate) const PERIOD: Slot = Slot(0);

/// Target rate, cycles and the rules that move them: shared with 3pt.
#[derive(Debug)]
pub(crate) struct Rates {
    pub(crate) p: QcnParams,
    target: Rate,
    /// Finished cycles since the last message.
    pub(crate) cycle: u32,
    /// Messages since the last finished cycle.
    burst: u32,
    quiet: u32,
}

impl Rates {
    pub(crate) fn new(p: QcnParams) -> Self {
        Self { p, target: Rate::ZERO, cycle: 0, burst: 0, quiet: 0 }
    }

    /// Bytes of the present cycle.
    pub(crate) fn need(&self) -> Bytes {
        if self.cycle < self.p.fr_threshold { self.p.fr_bytes } else { self.p.ai_bytes }
    }

    /// Lowers the rate for a message, and the target unless EFR keeps it. Does the message restart the byte counter?
    #[must_use]
    pub(crate) fn cut(&mut self, qfb: u8, limiter: &mut Limiter<'_>) -> bool {
        let fresh = !limiter.is_engaged();
        let restarts = fresh || self.cycle > 0 || self.p.byte_restart == ByteRestart::Always;
        // `engage` also takes back a release that waits for the queue to empty.
        limiter.engage();
        if fresh {
            self.target = limiter.line_rate();
            if self.p.drift.is_some() || self.p.hai == Hai::Timer {
                limiter.start_timer(PERIOD, self.p.drift_period);
            }
        }
        let before = limiter.rate();
        let after = (before * (1.0 - self.p.gd * f64::from(qfb)).max(0.5)).max(self.p.r_min);
        let after = after.min(limiter.line_rate());
        limiter.set_rate(after);
        self.burst += 1;
        let exhausted = self.p.efr_max_count.is_some_and(|n| self.burst > n);
        if !fresh && (self.cycle > 0 || !self.p.efr || exhausted) {
            self.target = match self.p.efr_target {
                EfrTarget::BeforeCut => before,
                EfrTarget::AfterCut => after,
            };
        }
        if self.cycle > 0 {
            self.burst = 1;
        }
        self.cycle = 0;
        self.quiet = 0;
        restarts
    }

    /// Ends a cycle: raises the target in active increase, then moves the rate half-way to it.
    pub(crate) fn cycle(&mut self, limiter: &mut Limiter<'_>) {
        self.cycle_by(1.0, limiter);
    }

    /// Ends a cycle with the step of active increase multiplied by `scale`.
    pub(crate) fn cycle_by(&mut self, scale: f64, limiter: &mut Limiter<'_>) {
        self.cycle = self.cycle.saturating_add(1);
        if self.cycle > self.p.fr_threshold {
            let n = self.cycle - self.p.fr_threshold;
            let ri = self.p.ri;
            let step = match self.p.hai {
                Hai::Off | Hai::Timer => ri,
                Hai::Linear => ri * f64::from(n),
                Hai::Fixed => {
                    if n >= 6 {
                        Rate::from_mbps(50.0)
                    } else {
                        ri
                    }
                }
                Hai::Doubling => ri * f64::from(1u32 << (n - 1).min(20)),
            };
            self.target += step * scale;
        }
        self.approach(limiter);
    }

    fn approach(&mut self, limiter: &mut Limiter<'_>) {
        let line = limiter.line_rate();
        self.target = self.target.min(line);
        let mut rate = (limiter.rate() + self.target) * 0.5;
        if self.target == line && rate >= line * self.p.release_share {
            rate = line;
        }
        limiter.set_rate(rate);
        self.settle(limiter);
    }

    /// At line rate there is nothing left to limit.
    pub(crate) fn settle(&self, limiter: &mut Limiter<'_>) {
        if limiter.rate() >= limiter.line_rate() {
            limiter.release_when_empty();
        }
    }

    /// A period of drift or of timed HAI.
    pub(crate) fn period(&mut self, limiter: &mut Limiter<'_>) {
        let line = limiter.line_rate();
        if let Some(factor) = self.p.drift {
            if self.p.drift_of != DriftOf::Current {
                self.target = (self.target * factor).min(line);
            }
            if self.p.drift_of != DriftOf::Target {
                let rate = (limiter.rate() * factor).min(line);
                limiter.set_rate(rate);
                self.target = self.target.max(rate);
            }
        }
        if self.p.hai == Hai::Timer {
            self.quiet += 1;
            if self.quiet > self.p.hai_quiet {
                let rate = (limiter.rate() + self.p.ri * f64::from(self.quiet - self.p.hai_quiet)).min(line);
                limiter.set_rate(rate);
                self.target = self.target.max(rate);
            }
        }
        limiter.start_timer(PERIOD, self.p.drift_period);
        self.settle(limiter);
    }
}

#[derive(Debug)]
struct Reaction {
    rates: Rates,
}

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let Feedback::Cnm { qntz_fb, .. } = *feedback else { return };
        if qntz_fb > 0 && self.rates.cut(qntz_fb.min(63), limiter) {
            limiter.wake_after(self.rates.need());
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.rates.cycle(limiter);
        limiter.wake_after(self.rates.need());
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.rates.period(limiter);
    }
}

#[cfg(test)]
mod tests;
