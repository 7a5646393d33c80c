//! What TCP's congestion controls share: the window, slow start, pacing, and cuts by losses, marks and timeouts. A control says how the
//! window grows after slow start, and how far a cut goes ([`Law`]). The transport decides which frames are sent again.

use crate::counters::CUTS;
use crate::queue_pair::{Marker, Red};
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, CongestionPoint, Counter, Idle, Join, Limiter, Loss, Params, Plan, QueueSite,
    Ramp, RampAt, Rate, ReactionPoint, Registration, Scheme, SourceSite, Time, choice, params,
};
use std::fmt::Debug;

choice! {
    /// What becomes of a window after an idle time.
    pub enum Restart {
        /// It is the initial one at most, if nothing was sent for the time of a timeout.
        Initial = "rfc5681",
        /// Each timeout's time halves it, and slow start ends at three quarters of it at least.
        Halves = "rfc2861",
        /// It stays.
        Off = "off",
    }
}

params! {
    /// Parameters that TCP's congestion controls have in common.
    pub struct TcpParams {
        /// Window at the start, frames (RFC 6928).
        initial_window: u32 = 10, symbol "IW", from 1, to 1_000_000;
        /// Frames by which an acknowledgement raises the window in slow start at most (RFC 5681: 1; RFC 3465: 2).
        slow_start: u32 = 1, symbol "L", from 1, to 1_000_000;
        /// Frames are paced once a round trip is known: twice the window a round trip in slow start, later 1.2 windows, as in Linux.
        pacing: bool = false, symbol "";
        /// Window of a connection on which nothing was sent for longer than a timeout: the initial one at most (RFC 5681, 4.1), half of it for
        /// each timeout (RFC 2861), or as it is.
        restart: Restart = Restart::Initial, symbol "";
        /// Queue length above which a share of frames is marked. Off: no frame is marked.
        mark_from: Option<Bytes> = None, symbol "", from Some(Bytes::ZERO), to Some(Bytes::from_mb(1000));
        /// Queue length above which every frame is marked, if it is more than `mark_from`.
        mark_all: Bytes = Bytes::ZERO, symbol "", from Bytes::ZERO, to Bytes::from_mb(1000);
        /// Share of frames that is marked just below `mark_all`.
        p_max: f64 = 0.02, symbol "P_max", from 0.0, to 1.0;
        /// Weight of the queue that a frame meets in the mean that decides on marks, as RED has it (0.002). 1: the queue itself decides.
        mark_weight: f64 = 1.0, symbol "w_q", from 1e-6, to 1.0;
    }
}

impl TcpParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    fn idle(&self) -> Idle {
        let keys = if self.mark_from.is_some() { &[][..] } else { &["mark_all", "p_max", "mark_weight"] };
        keys.iter().map(|key| (*key, "mark_from is off")).collect()
    }
}

/// What tells one congestion control from another: it keeps what it needs to know of one flow. Windows are in frames.
pub(crate) trait Law: Debug + Send {
    /// The window `cwnd` after slow start, as so many frames are acknowledged that fill it.
    fn grow(&mut self, cwnd: f64, frames: f64, at: Moment) -> f64;
    /// The window to which a loss or a mark cuts `cwnd`, with so many frames sent and not acknowledged.
    fn cut(&mut self, cwnd: f64, flight: f64) -> f64;
    /// The flow has timed out.
    fn time_out(&mut self) {}
    /// For this time the window could not grow.
    fn stand(&mut self, _: Time) {}
}

/// When an acknowledgement has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Time,
    /// The smoothed round trip, s.
    pub(crate) round_trip: f64,
}

/// A congestion control: its name, and the law of a flow that begins.
pub(crate) trait Control: Params + Clone + Debug + Default + Send + Sync + 'static {
    const NAME: &'static str;
    type Law: Law + 'static;
    fn law(&self) -> Self::Law;
}

/// The registration of a control.
pub(crate) fn registration<C: Control>(title: &str, source: &str) -> Registration {
    let usual = Join::<TcpParams, C>::default();
    Registration::with_idle(title, source, usual, |p| p.first.idle(), Tcp::of)
}

/// The scheme.
#[derive(Debug)]
pub(crate) struct Tcp<C> {
    common: TcpParams,
    control: C,
}

impl<C> Tcp<C> {
    /// With these parameters.
    pub(crate) fn of(Join { first: common, second: control }: Join<TcpParams, C>) -> Self {
        Self { common, control }
    }
}

impl<C: Control> Scheme for Tcp<C> {
    fn name(&self) -> &str {
        C::NAME
    }
    fn plan(&self) -> Plan {
        Plan { paces: self.common.pacing, ..Plan::acknowledged(Acks::Needed) }
    }
    fn repeats(&self) -> bool {
        true
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let TcpParams { mark_from, mark_all, p_max, mark_weight, .. } = self.common;
        let low = mark_from?;
        let ramp = Ramp { low, high: mark_all.max(low), p_max, p_beyond: 1.0, at: RampAt::Arrival };
        Some(if mark_weight < 1.0 { Box::new(Red::new(ramp, mark_weight)) } else { Box::new(Marker(ramp)) })
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let (window, law) = (Window::new(site, &self.common), self.control.law());
        Some(Box::new(Reaction { window, law, heard: Time::ZERO }))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CUTS]
    }
}

/// The reaction point: one for each queue pair.
#[derive(Debug)]
struct Reaction<L> {
    window: Window,
    law: L,
    /// When the last acknowledgement came.
    heard: Time,
}

impl<L: Law> ReactionPoint for Reaction<L> {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.wake_on_acks(AckGate::EACH);
        if self.window.pacing {
            limiter.engage();
        }
        self.window.apply(limiter);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        let Self { window, law, heard } = self;
        let at = Moment { now: limiter.now(), round_trip: window.sample(ack) };
        if window.is_marked(ack) {
            let to = law.cut(window.cwnd, window.flight(limiter));
            window.cut(to, ONE, limiter);
        } else if let Some(frames) = window.acknowledged(ack, limiter) {
            window.cwnd = law.grow(window.cwnd, frames, at);
        } else {
            law.stand(at.now - *heard);
        }
        *heard = at.now;
        window.apply(limiter);
    }

    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        let Self { window, law, .. } = self;
        let to = law.cut(window.cwnd, window.flight(limiter));
        window.lose(loss, to, limiter);
        if loss == Loss::Timeout {
            law.time_out();
        }
        window.apply(limiter);
    }

    fn on_recovered(&mut self, _: &mut Limiter<'_>) {
        self.window.recovering = false;
    }

    fn on_restart(&mut self, idle: Time, timeout: Time, limiter: &mut Limiter<'_>) {
        self.law.stand(idle);
        self.heard = limiter.now();
        self.window.restart(idle, timeout);
        self.window.apply(limiter);
    }
}

/// The slowest pace, at which a frame still goes every second or so.
const SLOWEST: Rate = Rate::from_mbps(0.01);

/// Least `ssthresh`, and window after a loss, frames (RFC 5681).
const LEAST: f64 = 2.0;

/// Least window after a mark, frames (RFC 3168; RFC 9438, 4.6).
const ONE: f64 = 1.0;

/// A window of TCP.
#[derive(Debug)]
struct Window {
    /// Bytes of a full frame.
    frame: f64,
    pacing: bool,
    initial: f64,
    restart: Restart,
    /// The smoothed round trip, s; 0 before the first.
    round_trip: f64,
    /// `cwnd` and `ssthresh`, frames.
    cwnd: f64,
    threshold: f64,
    /// Most frames by which an acknowledgement raises it in slow start.
    slow_start: f64,
    /// From a loss until it is repaired: it does not grow.
    recovering: bool,
    /// No further cut by a mark until more than this is acknowledged.
    cut_until: Option<Bytes>,
    /// A further timeout before this is acknowledged does not lower the threshold again.
    timed_out: Option<Bytes>,
    /// Most frames in flight in this window, and in the one before; whether they filled it; and where this one ends.
    in_flight: [f64; 2],
    filled: [bool; 2],
    window_end: Bytes,
}

impl Window {
    /// The window of a flow that begins.
    fn new(site: &SourceSite, p: &TcpParams) -> Self {
        Self {
            frame: site.mtu.as_f64(),
            pacing: p.pacing,
            initial: f64::from(p.initial_window),
            restart: p.restart,
            round_trip: 0.0,
            cwnd: f64::from(p.initial_window),
            threshold: f64::INFINITY,
            slow_start: f64::from(p.slow_start),
            recovering: false,
            cut_until: None,
            timed_out: None,
            in_flight: [0.0; 2],
            filled: [false; 2],
            window_end: Bytes::ZERO,
        }
    }

    /// Sets the window that holds now, and the rate that goes with it.
    fn apply(&self, limiter: &mut Limiter<'_>) {
        limiter.set_window(Bytes::new((self.cwnd * self.frame) as u64).max(Bytes::new(1)));
        if self.pacing && self.round_trip > 0.0 {
            let factor = if self.cwnd < self.threshold { 2.0 } else { 1.2 };
            let rate = Rate::from_bps(factor * self.cwnd * self.frame * 8.0 / self.round_trip);
            limiter.set_rate(rate.max(SLOWEST).min(limiter.line_rate()));
        }
    }

    /// The connection was idle for this time, and goes on.
    fn restart(&mut self, idle: Time, timeout: Time) {
        match self.restart {
            Restart::Initial if idle > timeout => self.cwnd = self.cwnd.min(self.initial),
            Restart::Halves if idle > timeout => {
                self.threshold = self.threshold.max(0.75 * self.cwnd);
                let times = (idle.as_ps() / timeout.as_ps().max(1)).min(60);
                self.cwnd = (self.cwnd / (1_u64 << times) as f64).max(1.0);
            }
            _ => {}
        }
    }

    /// The smoothed round trip with this one, s.
    fn sample(&mut self, ack: &Ack<'_>) -> f64 {
        let rtt = ack.rtt.as_secs_f64();
        self.round_trip = if self.round_trip > 0.0 { (7.0 * self.round_trip + rtt) / 8.0 } else { rtt };
        self.round_trip
    }

    /// Frames sent and not acknowledged (`FlightSize`).
    fn flight(&self, limiter: &Limiter<'_>) -> f64 {
        limiter.outstanding().as_f64() / self.frame
    }

    /// An acknowledgement. In slow start the window grows; after it, the frames that it acknowledges where the window may grow: that it
    /// is full (RFC 7661), and no loss is being repaired.
    fn acknowledged(&mut self, ack: &Ack<'_>, limiter: &Limiter<'_>) -> Option<f64> {
        let frames = ack.newly.as_f64() / self.frame;
        let before = limiter.in_flight().as_f64() / self.frame + frames;
        let fills = before >= self.cwnd.floor();
        self.in_flight[0] = self.in_flight[0].max(before);
        self.filled[0] |= fills;
        if ack.acked > self.window_end {
            self.in_flight = [before, self.in_flight[0]];
            self.filled = [fills, self.filled[0]];
            self.window_end = limiter.next_seq();
        }
        if self.timed_out.is_some_and(|until| ack.acked >= until) {
            self.timed_out = None;
        }
        if frames == 0.0 || self.recovering || self.cut_until.is_some() {
            return None;
        }
        let used = self.in_flight[0].max(self.in_flight[1]);
        if self.cwnd >= self.threshold {
            return (self.filled[0] || self.filled[1]).then_some(frames);
        }
        if self.cwnd < 2.0 * used {
            self.cwnd += frames.min(self.slow_start);
        }
        None
    }

    /// Does a mark ask for a cut: the first of a window, while no loss is being repaired?
    fn is_marked(&mut self, ack: &Ack<'_>) -> bool {
        self.cut_until = self.cut_until.filter(|until| ack.acked <= *until);
        ack.marked && self.cut_until.is_none() && !self.recovering
    }

    /// A cut to so many frames by a loss or a mark, which leaves at least so many.
    fn cut(&mut self, to: f64, least: f64, limiter: &mut Limiter<'_>) {
        limiter.count(CUTS);
        self.threshold = to.max(LEAST);
        self.cwnd = to.max(least);
        self.cut_until = Some(limiter.next_seq());
    }

    /// A loss: a cut to so many frames, and by a timeout slow start from one frame on.
    fn lose(&mut self, loss: Loss, to: f64, limiter: &mut Limiter<'_>) {
        self.recovering = loss == Loss::Nack;
        if self.recovering {
            return self.cut(to, LEAST, limiter);
        }
        if self.timed_out.is_none() {
            self.cut(to, LEAST, limiter);
        }
        self.timed_out = Some(limiter.next_seq());
        (self.cwnd, self.cut_until) = (1.0, None);
    }
}
