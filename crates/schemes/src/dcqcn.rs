//! # DCQCN: data centre quantised congestion notification
//!
//! DCQCN is congestion control for RoCEv2 without help from the link layer. A switch marks frames (ECN) by a ramp over the
//! length of the output queue. The destination answers marks with congestion notification packets (CNP), at most one per flow
//! and interval. From the CNPs the source estimates how often it is marked (`alpha`). Each CNP cuts its rate by half of that
//! share. The rate recovers as in QCN: each expiry of a timer or a byte counter moves it half-way to a target rate. After five
//! expiries the target itself rises. Flows start at line rate and are not limited before their first CNP.
//!
//! Sources: Y. Zhu et al., *Congestion Control for Large-Scale RDMA Deployments*, SIGCOMM 2015 (rules, defaults); Y. Zhu et
//! al., *ECN or Delay*, CoNEXT 2016 (fluid model, the fixed point that the tests compare with); parameter lists of a NIC
//! vendor (names of the knobs).
//!
//! | paper | here |
//! |---|---|
//! | RED ramp `K_min, K_max, P_max`, 1 above | [`ramp`] |
//! | CNP at most every `N` | [`CnpSpacing`] |
//! | `alpha = (1 - g) alpha`, every `tau'` without a CNP | [`decayed`] |
//! | `alpha = (1 - g) alpha + g`, at a CNP | [`raised`] |
//! | `R_C (1 - alpha / 2)` | [`cut`] |
//! | stages, fast recovery, additive and hyper increase | [`Stage`], [`stage`], [`target_step`] |
//!
//! Values of the parameters in other sources (`b`: speed of the NIC in Gb/s; "-": as here):
//!
//! | parameter | here: paper, 40 Gb/s | HPCC's simulator | vendor's default | first simulator |
//! |---|---|---|---|---|
//! | `k_min`, `k_max`, `p_max` | 5 KB, 200 KB, 0.01 | 4b KB, 16b KB (`k_rate`), 0.2 | - | 40 KB, 1 MB, 1 |
//! | `cnp_interval` | 50 us | 0 | 2 to 4 us | 50 us, `cnp_spacing = window-end` |
//! | `alpha_period` | 55 us | 1 us or 50 us, `alpha_update = periodic` | 1 us | 55 us |
//! | `g` | 1/256 | 1/256 | 5/1024 | 1/256 |
//! | `cut_period` | off | 4 us or 50 us, `cut_when = periodic` | 4 us | off |
//! | `time_reset`, `byte_reset` | 55 us, 10 MB | 300 us or 55 us, off | 300 us, 32767 units | 60 us, 300 MB |
//! | `threshold`, `stage_test` | 5, after | 1, before, `stages = timer` | 1, - | 4, after |
//! | `cut_order` | cut-first | - | - | alpha-first |
//! | `ai_rate`, `hai_rate` | 40, 400 Mb/s | b/5, 2b Mb/s; `hai_step = fixed` | 5, 50 Mb/s | 40, 200 Mb/s |
//! | `min_rate` | 40 Mb/s | 1 Gb/s | 1 Mb/s | 100 Mb/s |
//! | `initial_alpha` | 1 | - | 1023/1024 | 0.5 |
//! | `clamp_tgt_rate` | on | off | off | on |
//!
//! ## Assumptions, each a parameter
//!
//! * `mark_at = departure`: the ramp uses the queue behind a frame at the start of its transmission, as the header must carry
//!   the mark. `arrival` uses the queue that the frame joins.
//! * `cnp_spacing = deferred`: marks within the interval after a CNP cause one more CNP, at the first frame after the interval.
//!   The paper of 2015 has it so (its section on the notification point). `since-last`: these marks are ignored, as in shorter
//!   accounts (the paper of 2016 too). `windows`: at most one CNP in each interval of a free-running clock, as the fluid model
//!   counts. `window-end`: the same, sent at the end of the interval, as in the authors' simulator.
//! * `echo = marks`: CNPs are messages. `acks`: there are none, and each acknowledgement with a mark is a CNP, as in HPCC's simulator.
//!   The scenario must have acknowledgements. `frames`: the scheme itself answers each frame, in any scenario. The presets `hpcc` and
//!   `hpcc-paper` set `acks` where the network acknowledges frames, so that they are that simulator in both kinds of network.
//! * `alpha_update = on-cnp`: a CNP raises alpha at once, each whole period of silence lowers it. `periodic` checks once per
//!   period whether a CNP came.
//! * `cut_order = cut-first`, as Eq. 1 is printed; the authors' simulator raises alpha first.
//! * `cut_when = at-cnp`: a CNP cuts at once. HPCC's simulator cuts at the end of a clock period with a CNP (`periodic`); the
//!   first CNP starts that clock. Its stages count the timer alone (`stages = timer`).
//! * Hyper increase grows with the stage (`hai_step = stage`) or is `fixed`. Floor and hyper step are from memory.
//! * `release = never`: alpha outlives the return to line rate. `at-line-rate` removes the limiter when its rate is within 0.1
//!   % of the line rate, and the next CNP counts as the first.
//!
//! ## Against the fluid model
//!
//! Mean queue, KB, with a ramp of 5/2000 KB at 10 % and a loop delay of 4 us. In every cell the mean rates are C/N:
//!
//! | senders | fluid model | `since-last` | `deferred` | `windows` | `window-end` |
//! |---|---|---|---|---|---|
//! | 2 | 20.5 | 25.6 (+25 %) | 18.6 (-9 %) | 21.9 (+7 %) | 19.9 (-3 %) |
//! | 10 | 125 | 169 (+35 %) | 125 (0 %) | 144 (+15 %) | 136 (+8 %) |
//! | 64, 100 to 200 ms | 1183 | 1578 (+33 %) | 1282 (+8 %) | 1363 (+15 %) | 938 (-21 %), oscillates |
//! | 64, 400 to 800 ms | 1183 | 1519 (+28 %) | 1023 (-14 %), oscillates | 1360 (+15 %) | 927 (-22 %), oscillates |
//!
//! With a loop delay of 85 us the queue of 10 senders oscillates and that of 2 is stable, as published. With 64 senders it
//! oscillates too (0 to 2.4 MB), which the fluid model does not predict. The paper shows packets for 10 senders only. The cause
//! is one term. In the model, marks of a flow are proportional to its sending rate, `p R(t - tau*)`. A flow that slows down is
//! marked less at once, which damps. A real queue is in order: it marks frames that were sent a queueing delay (240 us) before.
//! With equal flows the marks then come at `p C / N`, whatever the flows send. With this term in the printed equations, 64
//! flows are stable up to 52 us instead of 260. At 85 us they oscillate from 0 to 2.3 MB. A model of single events does the
//! same. Marked by present rates, it is stable at 4 and 85 us (1178 KB with `deferred`); marked in order, it oscillates. If the
//! equations take marks over the last 50 us, as windows do, 27 of the 52 us are left. Late CNPs cost more. At 4 us `deferred`
//! begins to oscillate after 50 to 200 ms (before that, +8 to +10 %), `window-end` within 60 ms.
//!
//! These settings do not change it: each `cnp_spacing`, `alpha_update`, `cut_order` and `mark_at`, no byte counter, no hyper
//! increase, 4 stages of recovery, a floor of 1 Mb/s, a start at C/N. (A floor of 80 % of C/N does.) HPCC's simulator
//! (ns-3.39), a descendant of the authors', has the same queues. With equal settings (`window-end`, `alpha_update = periodic`)
//! the means agree within 4 %, oscillations included: at 2, 10 and 64 senders, 4 and 85 us.
//!
//! ## Not modelled
//!
//! A PI controller instead of the ramp. The real length of a CNP (here a minimum frame). CNPs spaced by source or
//! port.

use crate::counters::{CNPS_SENT, CUTS};
use crate::dcqcn_presets::PRESETS;
pub use crate::queue_pair::MarkRow;
use crate::queue_pair::{self, Marker};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, CongestionPoint, Counter, Feedback, FrameView, Limiter, Plan, QueueSite, Ramp,
    Rate, ReactionPoint, ReflectGate, Reflector, ReflectorControl, Registration, Scheme, Scope, SinkSite,
    Slot, SourceSite, Time,
};
use std::sync::Arc;

mod readings;
pub use readings::{
    AlphaUpdate, CnpSpacing, CutOrder, CutWhen, DcqcnParams, Echo, HaiStep, MarkAt, Release, StageTest,
    Stages,
};

/// The marking ramp of a queue whose port serves at `rate`.
pub fn ramp(p: &DcqcnParams, rate: Rate) -> Ramp {
    let scale = p.k_rate.map_or(1.0, |own| rate.bps() / own.bps());
    let scaled = |k: Bytes| Bytes::new((k.as_f64() * scale).round() as u64);
    let at = p.mark_at.of_ramp();
    if let Some(ramp) = MarkRow::ramp(p.k_table.as_ref(), rate, at) {
        return ramp;
    }
    Ramp { low: scaled(p.k_min.min(p.k_max)), high: scaled(p.k_max), p_max: p.p_max, p_beyond: 1.0, at }
}

/// `alpha (1 - g)^periods`: what that many periods without a CNP leave. By squaring, so a long silence costs nothing.
pub fn decayed(alpha: f64, g: f64, mut periods: u64) -> f64 {
    let (mut left, mut factor) = (alpha, 1.0 - g);
    while periods > 0 {
        if periods & 1 == 1 {
            left *= factor;
        }
        factor *= factor;
        periods >>= 1;
    }
    left
}

/// `(1 - g) alpha + g`: alpha after a CNP.
pub fn raised(alpha: f64, g: f64) -> f64 {
    (1.0 - g) * alpha + g
}

/// `R_C (1 - alpha / 2)`, not below the floors.
pub fn cut(p: &DcqcnParams, rate: Rate, alpha: f64) -> Rate {
    (rate * (1.0 - p.gd * alpha).max(p.min_dec_fac)).max(p.min_rate)
}

/// Stage of increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The target does not change.
    FastRecovery,
    /// One of the counters has passed `F` (the timer has reached it, where it alone decides).
    Additive,
    /// Both counters have passed `F` (the timer has passed it); with the number of the stage.
    Hyper(u32),
}

/// Stage for so many expiries of timer and byte counter since the last cut, with `F` = `threshold`.
pub fn stage(stages: Stages, threshold: u32, time: u32, byte: u32) -> Stage {
    if stages == Stages::Timer {
        return match time.checked_sub(threshold) {
            None => Stage::FastRecovery,
            Some(0) => Stage::Additive,
            Some(n) => Stage::Hyper(n),
        };
    }
    let low = time.min(byte);
    if low > threshold {
        Stage::Hyper(low - threshold)
    } else if time.max(byte) > threshold {
        Stage::Additive
    } else {
        Stage::FastRecovery
    }
}

/// Step of the target in a stage.
pub fn target_step(p: &DcqcnParams, stage: Stage) -> Rate {
    match (stage, p.hai_step) {
        (Stage::FastRecovery, _) => Rate::ZERO,
        (Stage::Additive, _) => p.ai_rate,
        (Stage::Hyper(n), HaiStep::Stage) => p.hai_rate * f64::from(n),
        (Stage::Hyper(_), HaiStep::Fixed) => p.hai_rate,
    }
}

/// The scheme DCQCN with its parameters.
#[derive(Debug)]
pub struct Dcqcn(Arc<DcqcnParams>);

impl Dcqcn {
    /// DCQCN with these parameters.
    pub fn new(p: DcqcnParams) -> Self {
        Self(Arc::new(p))
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "data centre QCN for RoCEv2 (2015)";
    Registration::with_idle(
        title,
        include_str!("dcqcn.rs"),
        DcqcnParams::default(),
        DcqcnParams::idle,
        Dcqcn::new,
    )
    .presets(Rate::from_gbps(40.0), &PRESETS)
    .promise(Promise {
        recovers: Some((Bytes::from_mb(100), Time::from_ms(200))),
        ..Promise::reacting(Rate::from_mbps(40.0))
    })
}

impl Scheme for Dcqcn {
    fn name(&self) -> &str {
        "dcqcn"
    }
    fn plan(&self) -> Plan {
        let reflect = match self.0.echo {
            Echo::Marks => ReflectGate::Marked,
            Echo::Frames => ReflectGate::Always,
            Echo::Acks => {
                return Plan { paces: true, exact_marks: true, ..queue_pair::plan(Acks::Needed) };
            }
        };
        Plan { reflect, limiter_scope: Scope::Flow, reflector_scope: Scope::Flow, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Marker(ramp(&self.0, site.rate))))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let initial = (self.0.echo == Echo::Acks).then(|| queue_pair::initial_rate(site));
        Some(Box::new(Reaction::new(self.0.clone(), initial)))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        let (spacing, interval) = (self.0.cnp_spacing, self.0.cnp_interval);
        match self.0.echo {
            Echo::Marks => {
                Some(Box::new(Notifier { spacing, interval, phase: Time::ZERO, last: None, owed: false }))
            }
            Echo::Frames => Some(Box::new(EchoOfAll)),
            Echo::Acks => None,
        }
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        *feedback == Feedback::Cnp && self.0.echo != Echo::Acks
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CNPS_SENT, CUTS]
    }
    fn repeats(&self) -> bool {
        // Windows lie in absolute time.
        self.0.echo == Echo::Acks
            || !matches!(self.0.cnp_spacing, CnpSpacing::Windows | CnpSpacing::WindowEnd)
    }
}

/// A notification point that answers every frame: a marked one with a CNP, any other with an empty message that takes the same way.
#[derive(Debug)]
struct EchoOfAll;

impl Reflector for EchoOfAll {
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        if frame.marked {
            ctl.count(CNPS_SENT);
        }
        ctl.reply(if frame.marked { Feedback::Cnp } else { Feedback::Reflection });
    }
}

/// The notification point.
#[derive(Debug)]
struct Notifier {
    spacing: CnpSpacing,
    interval: Time,
    /// Start of the first window.
    phase: Time,
    /// Time of the last CNP.
    last: Option<Time>,
    /// A mark came too soon after the last CNP, or in a window that was not over.
    owed: bool,
}

impl Notifier {
    /// Time left of the window in which `now` lies.
    fn rest_of_window(&self, now: Time) -> Time {
        let interval = self.interval.as_ps().max(1);
        let into = (now.as_ps() + (interval - self.phase.as_ps() % interval)) % interval;
        Time::from_ps(interval - into)
    }

    /// Woken by a mark or, while a CNP is owed, by the first frame of a later window.
    fn at_window_end(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        if self.owed {
            ctl.count(CNPS_SENT);
            ctl.reply(Feedback::Cnp);
        }
        self.owed = frame.marked;
        if self.owed {
            ctl.ignore_for(self.rest_of_window(ctl.now()));
        }
        ctl.hear(if self.owed { ReflectGate::Always } else { ReflectGate::Marked });
    }
}

impl Reflector for Notifier {
    fn start(&mut self, ctl: &mut ReflectorControl<'_>) {
        if matches!(self.spacing, CnpSpacing::Windows | CnpSpacing::WindowEnd) {
            self.phase = self.interval.scale(ctl.uniform());
        }
    }

    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        if self.spacing == CnpSpacing::WindowEnd && self.interval > Time::ZERO {
            return self.at_window_end(frame, ctl);
        }
        let now = ctl.now();
        if let Some(last) = self.last
            && now < last + self.interval
            && self.spacing == CnpSpacing::Deferred
        {
            if frame.marked {
                // A CNP that is owed goes with the first frame after the interval, marked or not.
                self.owed = true;
                ctl.ignore_for(last + self.interval - now);
                ctl.hear(ReflectGate::Always);
            }
            return;
        }
        if !(frame.marked || self.owed) {
            return;
        }
        self.owed = false;
        ctl.hear(ReflectGate::Marked);
        self.last = Some(now);
        ctl.count(CNPS_SENT);
        ctl.reply(Feedback::Cnp);
        match self.spacing {
            _ if self.interval == Time::ZERO => {}
            CnpSpacing::SinceLast => ctl.ignore_for(self.interval),
            CnpSpacing::Windows => ctl.ignore_for(self.rest_of_window(now)),
            CnpSpacing::Deferred | CnpSpacing::WindowEnd => {}
        }
    }
}

/// Increase timer `T`.
const INCREASE: Slot = Slot(0);
/// End of the period of the cuts' clock in which a CNP waits.
const CHECK: Slot = Slot(1);

/// The reaction point: one for each limited flow, so it is small.
#[derive(Debug)]
struct Reaction {
    p: Arc<DcqcnParams>,
    /// The rate at which a flow begins whose acknowledgements bring the marks.
    initial: Option<Rate>,
    alpha: f64,
    /// Up to when alpha is up to date.
    updated: Time,
    /// A CNP came in the present period (periodic alpha).
    seen: bool,
    /// Time of the first CNP, from which the cuts' clock runs.
    first_cnp: Option<Time>,
    /// A CNP waits for the end of the clock's period.
    waiting: bool,
    /// Time of the last cut.
    last_cut: Option<Time>,
    target: Rate,
    time_stage: u32,
    byte_stage: u32,
}

impl Reaction {
    fn new(p: Arc<DcqcnParams>, initial: Option<Rate>) -> Self {
        Self {
            initial,
            alpha: p.initial_alpha,
            p,
            updated: Time::ZERO,
            seen: false,
            first_cnp: None,
            waiting: false,
            last_cut: None,
            target: Rate::ZERO,
            time_stage: 0,
            byte_stage: 0,
        }
    }

    /// Brings alpha up to date before a CNP is taken into account.
    fn age(&mut self, now: Time) {
        let period = self.p.alpha_period;
        let periods = now.saturating_sub(self.updated).as_ps() / period.as_ps().max(1);
        let mut silent = periods;
        if self.p.alpha_update == AlphaUpdate::Periodic && self.seen && periods > 0 {
            self.alpha = raised(self.alpha, self.p.g);
            self.seen = false;
            silent -= 1;
        }
        self.alpha = decayed(self.alpha, self.p.g, silent);
        self.updated += period * periods;
    }

    /// A stage is over: move the target, go half-way to it.
    fn increase(&mut self, stage: Stage, limiter: &mut Limiter<'_>) {
        let line = limiter.line_rate();
        self.target = (self.target + target_step(&self.p, stage)).min(line);
        let rate = (limiter.rate() + self.target) * 0.5;
        let full = self.p.release == Release::AtLineRate
            && self.target == line
            && rate >= line * 0.999
            && !self.waiting;
        limiter.set_rate(if full { line } else { rate });
        if full && self.initial.is_some() {
            // The reaction point outlives its limiter, and begins anew.
            *self = Self { target: line, ..Self::new(self.p.clone(), self.initial) };
        } else if full {
            limiter.release_when_empty();
        }
    }

    /// Nothing is left to increase: until the next cut neither counter moves anything, and that one starts both anew.
    fn recovered(&self, limiter: &Limiter<'_>) -> bool {
        self.target == limiter.line_rate() && limiter.rate() == self.target
    }

    fn stage(&self) -> Stage {
        stage(self.p.stages, self.p.threshold, self.time_stage, self.byte_stage)
    }

    /// Cuts the rate, and begins anew with the stages.
    fn cut(&mut self, limiter: &mut Limiter<'_>) {
        let before = limiter.rate();
        let lowers = self.p.clamp_tgt_rate
            || self.byte_stage > 0
            || (self.time_stage > 0 && self.p.clamp_tgt_rate_after_time_inc);
        if lowers {
            self.target = before;
        }
        limiter.count(CUTS);
        limiter.set_rate(cut(&self.p, before, self.alpha).min(limiter.line_rate()));
        self.last_cut = Some(limiter.now());
        (self.time_stage, self.byte_stage) = (0, 0);
        self.arm(limiter);
    }

    /// A CNP waits for the end of the present period of the clock, which is armed only meanwhile.
    fn wait(&mut self, first: Time, limiter: &mut Limiter<'_>) {
        if let Some(period) = self.p.cut_period
            && !std::mem::replace(&mut self.waiting, true)
        {
            let into = (limiter.now() - first).as_ps() % period.as_ps().max(1);
            limiter.start_timer(CHECK, period - Time::from_ps(into));
        }
    }

    /// Restarts timer and byte counter.
    fn arm(&self, limiter: &mut Limiter<'_>) {
        limiter.start_timer(INCREASE, self.p.time_reset);
        if let Some(bytes) = self.p.byte_reset {
            limiter.wake_after(bytes);
        }
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        if let Some(rate) = self.initial {
            limiter.engage();
            limiter.set_rate(rate.max(self.p.min_rate).min(limiter.line_rate()));
            limiter.wake_on_acks(AckGate { marked: true, ..AckGate::default() });
        }
    }

    fn on_ack(&mut self, _: &Ack<'_>, limiter: &mut Limiter<'_>) {
        self.on_feedback(&Feedback::Cnp, limiter);
    }

    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if *feedback != Feedback::Cnp {
            return;
        }
        let now = limiter.now();
        let begun = self.first_cnp;
        let first = *self.first_cnp.get_or_insert(now);
        if begun.is_none() {
            limiter.engage();
            self.updated = now;
            if let Some(rate) = self.p.rate_on_first_cnp {
                limiter.set_rate(rate.max(self.p.min_rate).min(limiter.line_rate()));
            }
            self.target = limiter.rate();
        } else {
            self.age(now);
        }
        if self.p.alpha_update == AlphaUpdate::OnCnp && self.p.cut_order == CutOrder::AlphaFirst {
            self.alpha = raised(self.alpha, self.p.g);
        }
        let too_soon = self.last_cut.zip(self.p.cut_period).is_some_and(|(last, period)| now < last + period);
        if self.p.by_clock() {
            self.wait(first, limiter);
        } else if !too_soon {
            self.cut(limiter);
        }
        match self.p.alpha_update {
            AlphaUpdate::OnCnp => {
                if self.p.cut_order == CutOrder::CutFirst {
                    self.alpha = raised(self.alpha, self.p.g);
                }
                self.updated = now;
            }
            // The CNP that starts the clocks says nothing of their first period.
            AlphaUpdate::Periodic => self.seen = begun.is_some() || !self.p.by_clock(),
        }
        // A CNP takes back a limiter that was about to be given up.
        limiter.engage();
    }

    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        if slot == CHECK {
            self.waiting = false;
            self.age(limiter.now());
            return self.cut(limiter);
        }
        let before = self.stage();
        self.time_stage = self.time_stage.saturating_add(1);
        let stage = if self.p.stage_test == StageTest::Before { before } else { self.stage() };
        self.increase(stage, limiter);
        if self.recovered(limiter) {
            limiter.wake_never();
        } else {
            limiter.start_timer(INCREASE, self.p.time_reset);
        }
    }

    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        let before = self.stage();
        self.byte_stage = self.byte_stage.saturating_add(1);
        if let Some(bytes) = self.p.byte_reset {
            limiter.wake_after(bytes);
        }
        let stage = if self.p.stage_test == StageTest::Before { before } else { self.stage() };
        self.increase(stage, limiter);
    }
}

#[cfg(test)]
mod tests;
