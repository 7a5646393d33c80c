//! # QCN-P, QCN-SP, QCN-PP: QCN with probes (and QCN-HP, QCN-HSP with Fb-hat)
//!
//! In QCN-P, a limited source asks the congested queue for its state. It sends a small probe, at most one at a time, and
//! receives the queue's present `Fb`, which may be positive. A negative answer acts like a message of [`crate::qcn_2pt`]. Any
//! other answer counts as a finished recovery cycle. So a source whose congestion is over need not send 150 KB at a low rate
//! for each step of recovery. Overhead grows with the number of limiters, not with the traffic as in [`crate::qcn_3pt`], and
//! data frames need no tag. The variants differ in the path of the probe. P: to the congestion point of the last message, ahead
//! of all data. SP: along the flow's path among the data, up to that point. PP: to the destination, which returns the most
//! negative `Fb` of the path. HP and HSP add [`crate::fb_hat`] to the congestion point.
//!
//! Sources: G. Roeck, August 2007 (R07), for the names, the set point of 24 KB and the ranking. The mechanics are not printed
//! there: all rules below are assumed.
//!
//! | paper | here |
//! |---|---|
//! | probe and its way | [`Route`] |
//! | signed quantised Fb, -63 to 63 (-58 to 58 with 24 KB) | [`crate::qcn_2pt::quantise`] with a sign |
//! | `TR += R_i (1 + Fb/16)` | [`ProbeParams::scale`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `probe_bytes`, `probe_interval`: a probe is sent after so many bytes of the flow or so much time, whichever is first. Both
//!   then start anew.
//! * `probe_outstanding`: no probe is sent while so many are under way. Otherwise probes would collect in a slow port.
//! * `probe_lost`: a probe without an answer after this time is given up, and a later answer is ignored.
//! * `probe_step`, `probe_gain`: an answer Fb >= 0 raises the target in active increase by (`probe_step` + `probe_gain` x Fb)
//!   steps. They replace the cycle's own step; `probe_step = 2` adds it.
//! * `path_start` (PP): the first congestion point always writes its Fb, so a free path answers a positive value. Or the field
//!   starts at 0, and the answer is never above it.
//!
//! ## Fixed here
//!
//! Negative answers need no `q > Q_eq`: `gate_qoff` applies to messages. A congestion point reads its queue when the probe
//! arrives. Reading at departure is not modelled, as the network wakes a point only on arrival.

use crate::counters::{
    ANSWERS_NEGATIVE, ANSWERS_POSITIVE, CNM_MESSAGES, POINT_CHANGES, PROBES_LOST, PROBES_SENT,
};
use crate::fb_hat::{AnswerParams, Hat, HatAnswer, HatParams, Steer};
use crate::qcn_2pt::{Mark, PERIOD, Point, QcnParams, qcn_2007};
use cnsim_scheme_api::{
    Bytes, Class, CongestionPoint, Counter, Feedback, FlowId, FrameView, Idle, Join, Limiter, PointControl,
    PointId, Probe, ProbeTarget, Queue, QueueSite, Rate, ReactionPoint, Reflector, ReflectorControl,
    Registration, Scheme, SinkSite, Slot, SourceSite, Time, choice, params,
};

choice! {
    /// The value of a probe of a whole path before its first congestion point.
    pub enum PathStart {
        /// A path starts without a value: the first congestion point always writes its Fb.
        First = "first",
        /// The value is Fb = 0: only negative values replace it.
        Zero = "zero",
    }
}

params! {
    /// Parameters that probes add to those of QCN-2pt.
    pub struct ProbeParams {
        /// Bytes of the flow between probes (TO_THRESH).
        probe_bytes: Bytes = Bytes::from_kb(150), symbol "TO_THRESH", from Bytes::new(64), to Bytes::from_mb(1000);
        /// Time between probes, if it ends before `probe_bytes` have been sent.
        probe_interval: Time = Time::from_us(500), symbol "", from Time::from_us(1), to Time::from_s(100);
        /// Largest number of unanswered probes of a limiter.
        probe_outstanding: u32 = 1, symbol "", from 1, to 1000;
        /// A probe is given up after this time.
        probe_lost: Time = Time::from_ms(100), symbol "", from Time::from_us(1), to Time::from_s(100);
        /// Active-increase steps for an answer of 0.
        probe_step: f64 = 1.0, symbol "", from 0.0, to 100.0;
        /// Further active-increase steps per unit of a positive answer.
        probe_gain: f64 = 1.0 / 16.0, symbol "", from 0.0, to 100.0;
    }
}

params! {
    /// Parameters that probes of a whole path add to those of all probes.
    pub struct PathParams {
        /// The value of a probe of a whole path before its first congestion point.
        path_start: PathStart = PathStart::First, symbol "";
    }
}

impl ProbeParams {
    /// Active-increase steps for an answer Fb >= 0: `1 + Fb/16`.
    pub fn scale(&self, fb: i32) -> f64 {
        self.probe_step + self.probe_gain * f64::from(fb.max(0))
    }
}

/// The path of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// P: addressed to the congestion point of the last message, ahead of all data.
    Directed,
    /// SP: along the flow's path, queued with its data, as far as that congestion point.
    SubPath,
    /// PP: along the flow's path, queued with its data, to the destination.
    Path,
}

/// Parameters of P and SP.
pub type PlainParams = Join<QcnParams, ProbeParams>;
/// The parameters of QCN-PP, whose probes read the whole path.
pub type WholePathParams = Join<PlainParams, PathParams>;
/// Parameters of HP and HSP.
pub type HatProbeParams = Join<Join<QcnParams, HatParams>, Join<ProbeParams, AnswerParams>>;

/// R07's parameters without Fb-hat.
pub fn plain() -> PlainParams {
    Join { first: QcnParams::r07(Rate::from_mbps(12.0)), second: ProbeParams::default() }
}

/// The defaults of QCN-PP, whose probes read the whole path.
pub fn whole_path() -> WholePathParams {
    Join { first: plain(), second: PathParams::default() }
}

/// R07's parameters with Fb-hat.
pub fn with_hat() -> HatProbeParams {
    let first = Join { first: QcnParams::r07(Rate::from_mbps(24.0)), second: HatParams::default() };
    Join { first, second: Join::default() }
}

/// Keys of HP and HSP that were set but have no effect under these settings, with the reason.
fn idle_with_hat(p: &HatProbeParams) -> Idle {
    let hat = &p.first.second;
    [p.first.first.idle(), hat.idle(), p.second.second.idle(hat)].concat()
}

/// QCN with probes, with or without Fb-hat.
#[derive(Debug)]
pub struct QcnProbing {
    name: &'static str,
    route: Route,
    qcn: QcnParams,
    hat: Option<(HatParams, HatAnswer)>,
    probe: ProbeParams,
    start: PathStart,
}

impl QcnProbing {
    /// The scheme QCN-P or QCN-SP, by the route of its probes.
    pub fn plain(name: &'static str, route: Route, p: PlainParams) -> Self {
        Self { name, route, qcn: p.first, hat: None, probe: p.second, start: PathStart::First }
    }
    /// The scheme QCN-HP or QCN-HSP, by the route of its probes.
    pub fn hat(name: &'static str, route: Route, p: HatProbeParams) -> Self {
        let (Join { first: qcn, second: hat }, Join { first: probe, second: answer }) = (p.first, p.second);
        Self { name, route, qcn, hat: Some((hat, answer.fbhat_answer)), probe, start: PathStart::First }
    }
    /// The scheme QCN-PP, whose probes read the whole path.
    pub fn whole_path(name: &'static str, p: WholePathParams) -> Self {
        Self { start: p.second.path_start, ..Self::plain(name, Route::Path, p.first) }
    }
}

/// The registrations.
pub(crate) fn registrations() -> [Registration; 5] {
    let source = include_str!("qcn_probing.rs");
    let plain = |name: &'static str, route: Route, title: &str| {
        let make = move |p| QcnProbing::plain(name, route, p);
        Registration::with_idle(title, source, plain(), |p: &PlainParams| p.first.idle(), make)
            .promise(qcn_2007())
    };
    let hat = |name: &'static str, route: Route, title: &str| {
        let make = move |p| QcnProbing::hat(name, route, p);
        Registration::with_idle(title, source, with_hat(), idle_with_hat, make).promise(qcn_2007())
    };
    let whole = Registration::with_idle(
        "QCN with probes along the whole path (2007)",
        source,
        whole_path(),
        |p: &WholePathParams| p.first.first.idle(),
        |p| QcnProbing::whole_path("qcn-pp", p),
    );
    [
        plain("qcn-p", Route::Directed, "QCN with probes to the congestion point (2007)"),
        hat("qcn-hp", Route::Directed, "QCN with Fb-hat and probes to the congestion point (2007)"),
        plain("qcn-sp", Route::SubPath, "QCN with probes along the sub-path (2007)"),
        hat("qcn-hsp", Route::SubPath, "QCN with Fb-hat and probes along the sub-path (2007)"),
        whole.promise(qcn_2007()),
    ]
}

impl Scheme for QcnProbing {
    fn name(&self) -> &str {
        self.name
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let point = Point::new(self.qcn.clone(), site.point, Mark::Never);
        let point = point.transformed(self.hat.as_ref().and_then(|(hat, answer)| Hat::build(hat, *answer)));
        Some(Box::new(ProbedPoint { point, id: site.point, start: self.start }))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction {
            steer: Steer::new(self.qcn.clone(), self.hat.as_ref().map(|h| &h.0)),
            prober: Prober::new(self.probe.clone(), self.route),
            cycle_end: 0,
        }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        (self.route == Route::Path).then(|| -> Box<dyn Reflector> { Box::new(Return) })
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::Cnm { qntz_fb, .. } if *qntz_fb > 0)
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CNM_MESSAGES, PROBES_SENT, ANSWERS_POSITIVE, ANSWERS_NEGATIVE, PROBES_LOST, POINT_CHANGES]
    }
}

/// The congestion point of QCN-2pt or QCN-H, which also answers probes.
#[derive(Debug)]
struct ProbedPoint {
    point: Point,
    id: PointId,
    start: PathStart,
}

impl CongestionPoint for ProbedPoint {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.point.start(queue, ctl);
        ctl.wake_at_probes();
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.point.on_sample(frame, queue, ctl);
    }
    fn on_probe(&mut self, probe: &mut Probe, _: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        let fb = self.point.reading(queue.len.as_f64());
        match probe.target {
            ProbeTarget::Point(id) if id == self.id => {
                (probe.fb, probe.point) = (fb, Some(self.id));
                ctl.answer();
            }
            // On the way to another one.
            ProbeTarget::Point(_) => {}
            ProbeTarget::Destination => {
                let first = probe.point.is_none() && self.start == PathStart::First;
                if first || fb < probe.fb {
                    (probe.fb, probe.point) = (fb, Some(self.id));
                }
            }
        }
    }
}

/// The destination of PP: it returns the value that the path wrote.
#[derive(Debug)]
struct Return;

impl Reflector for Return {
    fn on_probe(&mut self, probe: &Probe, _: FlowId, ctl: &mut ReflectorControl<'_>) {
        ctl.reply(Feedback::ProbeReply { probe: *probe, at: ctl.now(), rx_rate: Rate::ZERO });
    }
}

/// Timer of the interval between probes.
const INTERVAL: Slot = Slot(1);

/// When to send a probe, where to, and which are under way.
#[derive(Debug)]
struct Prober {
    p: ProbeParams,
    route: Route,
    /// The congestion point that sent the last message.
    point: Option<PointId>,
    number: u32,
    /// Number and time of unanswered probes: the time separates them from those of an earlier limiter of the flow.
    under_way: Vec<(u32, Time)>,
    /// The next probe is due when the flow has sent this many bytes.
    due: u64,
}

impl Prober {
    fn new(p: ProbeParams, route: Route) -> Self {
        Self { p, route, point: None, number: 0, under_way: Vec::new(), due: 0 }
    }

    fn restart(&mut self, limiter: &mut Limiter<'_>) {
        self.due = limiter.sent().saturating_add(self.p.probe_bytes.get());
        limiter.start_timer(INTERVAL, self.p.probe_interval);
    }

    /// A message (or negative answer) of this congestion point: the next probe asks there. The first one starts the
    /// interval.
    fn ask(&mut self, point: PointId, limiter: &mut Limiter<'_>) {
        match self.point.replace(point) {
            None => self.restart(limiter),
            Some(before) if before != point => limiter.count(POINT_CHANGES),
            Some(_) => {}
        }
    }

    /// An interval has ended.
    fn interval(&mut self, limiter: &mut Limiter<'_>) {
        self.restart(limiter);
        let now = limiter.now();
        let before = self.under_way.len();
        self.under_way.retain(|u| now.saturating_sub(u.1) < self.p.probe_lost);
        (self.under_way.len()..before).for_each(|_| limiter.count(PROBES_LOST));
        let Some(point) = self.point else { return };
        if self.under_way.len() >= self.p.probe_outstanding as usize {
            return;
        }
        let (target, class) = match self.route {
            Route::Directed => (ProbeTarget::Point(point), Class::Control),
            Route::SubPath => (ProbeTarget::Point(point), Class::Data),
            Route::Path => (ProbeTarget::Destination, Class::Data),
        };
        self.number = self.number.wrapping_add(1);
        self.under_way.push((self.number, now));
        limiter.count(PROBES_SENT);
        limiter.send_probe(Probe::new(self.number, target, class));
    }

    /// Accepts a returned probe; false if it is not expected.
    fn back(&mut self, probe: &Probe) -> bool {
        let at = self.under_way.iter().position(|u| *u == (probe.number, probe.sent_at));
        at.map(|at| self.under_way.swap_remove(at)).is_some()
    }
}

/// The reaction point of QCN-2pt with a prober beside it.
#[derive(Debug)]
struct Reaction {
    steer: Steer,
    prober: Prober,
    /// The cycle ends when the flow has sent this many bytes.
    cycle_end: u64,
}

impl Reaction {
    fn new_cycle(&mut self, limiter: &Limiter<'_>) {
        self.cycle_end = limiter.sent().saturating_add(self.steer.rates.need().get());
    }

    /// Wakes at the end of the cycle or of the probing interval, whichever is first.
    fn arm(&self, limiter: &mut Limiter<'_>) {
        let next = self.cycle_end.min(self.prober.due);
        limiter.wake_after(Bytes::new(next.saturating_sub(limiter.sent())));
    }

    fn answered(&mut self, probe: &Probe, limiter: &mut Limiter<'_>) {
        if !self.prober.back(probe) {
            return;
        }
        let fb = probe.fb.clamp(-63, 63);
        let restarts = if fb < 0 {
            limiter.count(ANSWERS_NEGATIVE);
            if let Some(point) = probe.point {
                self.prober.ask(point, limiter);
            }
            self.steer.cut(fb.unsigned_abs() as u8, limiter)
        } else {
            limiter.count(ANSWERS_POSITIVE);
            self.steer.cycle(self.prober.p.scale(fb), limiter);
            true
        };
        if restarts {
            self.new_cycle(limiter);
        }
        self.arm(limiter);
    }
}

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        match *feedback {
            Feedback::Cnm { point, qntz_fb, .. } if qntz_fb > 0 => {
                let restarts = self.steer.cut(qntz_fb, limiter);
                self.prober.ask(point, limiter);
                if restarts {
                    self.new_cycle(limiter);
                }
                self.arm(limiter);
            }
            Feedback::ProbeReply { probe, .. } => self.answered(&probe, limiter),
            _ => {}
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        if limiter.sent() >= self.cycle_end {
            self.steer.cycle(1.0, limiter);
            self.new_cycle(limiter);
        }
        if limiter.sent() >= self.prober.due {
            self.prober.interval(limiter);
        }
        self.arm(limiter);
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        match slot {
            INTERVAL => {
                self.prober.interval(limiter);
                self.arm(limiter);
            }
            PERIOD => self.steer.rates.period(limiter),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
