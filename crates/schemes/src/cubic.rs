//! # CUBIC: TCP whose window is a cubic function of time
//!
//! After a cut the window rises fast, stays near the size at which it was cut before, and then looks for more ever faster. Where a
//! window of additive increase would be larger than that, CUBIC follows it instead. A loss leaves 70 % of the window. Slow start,
//! timeouts and marks are as in NewReno.
//!
//! Sources: RFC 9438, by its clauses as implementations quote them; S. Ha, I. Rhee, L. Xu, *CUBIC: a new TCP-friendly high-speed TCP
//! variant*, 2008, from memory.
//!
//! | RFC 9438 | here |
//! |---|---|
//! | (1) `W(t) = C (t - K)^3 + W_max` | [`cubic`] |
//! | (2) `K = cbrt((W_max - cwnd) / C)` | [`inflection`] |
//! | `target = clamp(W(t + RTT), cwnd, 1.5 cwnd)`, `cwnd += (target - cwnd) / cwnd` | `Reaction::grow` |
//! | (4) `W_est += alpha segments / cwnd`, alpha 3 (1 - beta) / (1 + beta), 1 from `cwnd_prior` on | `Reaction::grow` |
//! | fast convergence: `W_max = cwnd (1 + beta) / 2` where `cwnd < W_max` | `Reaction::cut` |
//! | `ssthresh = beta FlightSize`, at least 2 | `Reaction::cut` |
//! | a timeout forgets `W_max`; after slow start `W_max = cwnd`, K = 0 | `Reaction::begin` |
//!
//! ## Assumptions, each a parameter
//!
//! * `c = 0.4`, `beta = 0.7`, fast convergence on, as the RFC has them.
//! * `slow_start`, `mark_from` and others are NewReno's.
//!
//! ## Deviations
//!
//! * An epoch begins with the first acknowledgement after a repair that lets the window grow. Time in which the flow does not fill its
//!   window is no part of it.
//! * The cube root is that of a whole number, of steps of 100 ps, so that all machines have equal bits.
//! * A window that the flow does not fill does not grow, as in NewReno.
//!
//! ## Not modelled
//!
//! HyStart++, and undoing a cut that was made for nothing.
//!
//! ## In a data centre
//!
//! The cubic branch wins only at windows above 1.6 million frames at a round trip of 100 us, and above 1,700 at 10 ms. Below, the branch of
//! additive increase rules: `1.22 / sqrt(p)` frames in the mean, as NewReno, with cuts of 30 % in place of 50 %.

use crate::counters::CUTS;
use crate::queue_pair::Marker;
use crate::tcp::{self, Window};
use cnsim_scheme_api::{
    Ack, Acks, Bytes, CongestionPoint, Counter, Idle, Limiter, Loss, Plan, QueueSite, ReactionPoint,
    Registration, Scheme, SourceSite, Time, params,
};
use std::sync::Arc;

params! {
    /// Parameters of CUBIC.
    pub struct Cubic {
        /// Scale of the cubic function, frames/s^3 (RFC 9438).
        c: f64 = 0.4, symbol "C", from 1e-6, to 1e12;
        /// Share of the window that a cut leaves (RFC 9438; 0.5 is NewReno's).
        beta: f64 = 0.7, symbol "beta", from 0.1, to 0.95;
        /// Whether a flow whose window was cut at a smaller size than before leaves room for others.
        fast_convergence: bool = true, symbol "";
        /// Window at the start, frames (RFC 6928).
        initial_window: u32 = 10, symbol "IW", from 1, to 1_000_000;
        /// Frames by which an acknowledgement raises the window in slow start at most (RFC 5681: 1; RFC 3465: 2).
        slow_start: u32 = 1, symbol "L", from 1, to 1_000_000;
        /// Queue length above which a share of frames is marked. Off: no frame is marked.
        mark_from: Option<Bytes> = None, symbol "", from Some(Bytes::ZERO), to Some(Bytes::from_mb(1000));
        /// Queue length above which every frame is marked, if it is more than `mark_from`.
        mark_all: Bytes = Bytes::ZERO, symbol "", from Bytes::ZERO, to Bytes::from_mb(1000);
        /// Share of frames that is marked just below `mark_all`.
        p_max: f64 = 0.02, symbol "P_max", from 0.0, to 1.0;
    }
}

impl Cubic {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        if self.mark_from.is_some() { Vec::new() } else { tcp::NO_MARKS.to_vec() }
    }
}

/// The largest whole number whose cube is no more than this.
pub fn cube_root(n: u128) -> u128 {
    if n == 0 {
        return 0;
    }
    // Newton's steps from above fall until they are there.
    let mut root: u128 = 1 << (128 - n.leading_zeros()).div_ceil(3);
    loop {
        let next = (2 * root + n / (root * root)) / 3;
        if next >= root {
            return root;
        }
        root = next;
    }
}

/// (2) The time from a cut to `cwnd` to the inflection at `w_max`.
pub fn inflection(c: f64, w_max: f64, cwnd: f64) -> Time {
    // In steps of 100 ps a second has 1e10.
    let cube = ((w_max - cwnd).max(0.0) / c * 1e30) as u128;
    Time::from_ps(cube_root(cube) as u64 * 100)
}

/// (1) The window a time `t` after a cut, with the inflection at `k`.
pub fn cubic(c: f64, t: Time, k: Time, w_max: f64) -> f64 {
    let off = if t >= k { (t - k).as_secs_f64() } else { -(k - t).as_secs_f64() };
    c * off * off * off + w_max
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "TCP CUBIC: a window that is a cubic function of time (RFC 9438)";
    Registration::with_idle(title, include_str!("cubic.rs"), Cubic::default(), Cubic::idle, |p| p)
}

impl Scheme for Cubic {
    fn name(&self) -> &str {
        "cubic"
    }
    fn plan(&self) -> Plan {
        Plan::acknowledged(Acks::Needed)
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let ramp = tcp::marks(self.mark_from, self.mark_all, self.p_max)?;
        Some(Box::new(Marker(ramp)))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let window = Window::new(site, self.initial_window, self.slow_start);
        let (p, round_trip) = (Arc::new(self.clone()), 0.0);
        Some(Box::new(Reaction {
            p,
            window,
            round_trip,
            epoch: None,
            heard: Time::ZERO,
            w_max: 0.0,
            prior: 0.0,
        }))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CUTS]
    }
}

/// From a cut to the next.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began; time in which the window could not grow is taken out.
    begin: Time,
    /// From its begin to the inflection.
    k: Time,
    /// Window that additive increase would have, frames.
    estimate: f64,
}

/// The reaction point: one for each queue pair.
#[derive(Debug)]
struct Reaction {
    p: Arc<Cubic>,
    window: Window,
    /// Smoothed round-trip time, s.
    round_trip: f64,
    epoch: Option<Epoch>,
    /// When the last acknowledgement came.
    heard: Time,
    /// `W_max` and `cwnd_prior`, frames; 0: none, and additive increase takes a frame a round trip from the begin on.
    w_max: f64,
    prior: f64,
}

impl Reaction {
    /// The target of a cut, of which `W_max` is noted.
    fn cut(&mut self, limiter: &Limiter<'_>) -> f64 {
        let (cwnd, beta) = (self.window.cwnd, self.p.beta);
        let less = self.p.fast_convergence && cwnd < self.w_max;
        self.w_max = if less { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        (self.prior, self.epoch) = (cwnd, None);
        beta * self.window.flight(limiter)
    }

    /// An epoch begins now.
    fn begin(&mut self, now: Time) -> Epoch {
        let cwnd = self.window.cwnd;
        self.w_max = self.w_max.max(cwnd);
        Epoch { begin: now, k: inflection(self.p.c, self.w_max, cwnd), estimate: cwnd }
    }

    /// So many frames are acknowledged, after slow start.
    fn grow(&mut self, frames: f64, now: Time) {
        let Epoch { begin, k, mut estimate } = self.epoch.unwrap_or_else(|| self.begin(now));
        let (p, cwnd) = (&self.p, self.window.cwnd);
        // (4) As many frames in a round trip as TCP with this beta would have in the mean.
        let alpha = if estimate >= self.prior { 1.0 } else { 3.0 * (1.0 - p.beta) / (1.0 + p.beta) };
        estimate += alpha * frames / cwnd;
        let t = now - begin;
        if cubic(p.c, t, k, self.w_max) < estimate {
            self.window.cwnd = estimate;
        } else {
            let ahead = t + Time::from_ps((self.round_trip * 1e12) as u64);
            let target = cubic(p.c, ahead, k, self.w_max).clamp(cwnd, 1.5 * cwnd);
            self.window.cwnd += (target - cwnd) / cwnd;
        }
        self.epoch = Some(Epoch { begin, k, estimate });
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        self.window.start(limiter);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        let (now, rtt) = (limiter.now(), ack.rtt.as_secs_f64());
        self.round_trip = if self.round_trip > 0.0 { (7.0 * self.round_trip + rtt) / 8.0 } else { rtt };
        if self.window.is_marked(ack) {
            let to = self.cut(limiter);
            self.window.cut(to, limiter);
        } else {
            match (self.window.acknowledged(ack, limiter), &mut self.epoch) {
                (Some(frames), _) => self.grow(frames, now),
                (None, Some(epoch)) => epoch.begin += now - self.heard,
                (None, None) => {}
            }
        }
        self.heard = now;
        self.window.apply(limiter);
    }

    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        let to = self.cut(limiter);
        self.window.lose(loss, to, limiter);
        if loss == Loss::Timeout {
            (self.w_max, self.prior) = (0.0, 0.0);
        }
        self.window.apply(limiter);
    }

    fn on_recovered(&mut self, _: &mut Limiter<'_>) {
        self.window.recover();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a window by hand, to three digits")]
mod tests {
    use super::*;
    use cnsim_scheme_api::Rate;
    use cnsim_scheme_api::testing::ReactionRig;

    #[test]
    fn cube_roots_are_whole_and_below() {
        for n in (0..1000_u128).chain([u128::MAX, 1 << 127, 26_999_999_999, 27_000_000_000]) {
            let root = cube_root(n);
            assert!(root.pow(3) <= n, "{n}");
            assert!((root + 1).checked_pow(3).is_none_or(|more| more > n), "{n}");
        }
        // A window of 100 frames cut to 70: 30 frames / 0.4 = 75 s^3.
        assert_eq!(inflection(0.4, 100.0, 70.0).as_ps() / 1000, 4_217_163_326);
        assert_eq!(inflection(0.4, 70.0, 100.0), Time::ZERO);
        let k = inflection(0.4, 100.0, 70.0);
        assert!((cubic(0.4, Time::ZERO, k, 100.0) - 70.0).abs() < 1e-7);
        assert_eq!(cubic(0.4, k, k, 100.0), 100.0);
    }

    /// A flow of frames of 1000 B on a path of this round trip, with this window.
    fn rig(rtt: Time, sets: &[(&str, &str)]) -> ReactionRig {
        use cnsim_scheme_api::Params;
        let mut p = Cubic::default();
        sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        let mut rig = ReactionRig::new(p, Rate::from_gbps(10.0));
        (rig.site.base_rtt, rig.site.mtu) = (rtt, Bytes::new(1000));
        rig.begin();
        rig
    }

    /// A round trip: the window is filled, and all is acknowledged at its end, frame by frame. Frames sent.
    fn round(rig: &mut ReactionRig, rtt: Time) -> u64 {
        while rig.state().acks.in_flight() + 1000 <= rig.state().acks.window {
            rig.frame(1000);
        }
        rig.wait(rtt);
        let (from, to) = (rig.state().acks.acked / 1000, rig.state().acks.next_seq / 1000);
        (from + 1..=to).for_each(|n| _ = rig.ack(n * 1000, false, rtt, &[]));
        to - from
    }

    /// A loss with a full window, repaired at once.
    fn lose(rig: &mut ReactionRig) {
        while rig.state().acks.in_flight() + 1000 <= rig.state().acks.window {
            rig.frame(1000);
        }
        let sent = rig.state().acks.next_seq;
        rig.lose(Loss::Nack);
        while rig.state().acks.next_seq < sent {
            rig.frame(1000);
        }
        rig.ack(sent, false, Time::from_us(100), &[]);
    }

    /// At 100 us the cubic branch never shows: 9/17 of a frame a round trip, up to the window before the cut, then one. Three epochs.
    #[test]
    fn short_paths_have_additive_increase() {
        let rtt = Time::from_us(100);
        let mut rig = rig(rtt, &[("initial_window", "100"), ("fast_convergence", "off")]);
        for _ in 0..3 {
            let top = rig.state().acks.window as f64 / 1000.0;
            lose(&mut rig);
            let (mut window, mut rounds) = (rig.state().acks.window as f64 / 1000.0, 0);
            assert!((window - 0.7 * top.floor()).abs() < 1e-3, "{window} of {top}");
            let mut estimate = window;
            while rounds < 90 {
                for _ in 0..round(&mut rig, rtt) {
                    estimate += if estimate >= top { 1.0 } else { 9.0 / 17.0 } / window;
                    window = estimate;
                }
                rounds += 1;
                let now = rig.state().acks.window as f64 / 1000.0;
                assert!((now - window).abs() < 2e-3, "round {rounds}: {now}, by hand {window}");
            }
        }
    }

    /// At 10 ms a window of 4000 frames is cut to 2800: K = cbrt(1200 / 0.4) = 14.4 s, and at K it is back. Additive increase would have
    /// 3560 frames by then. Three epochs, each round trip by hand.
    #[test]
    fn long_paths_follow_the_cube() {
        let rtt = Time::from_ms(10);
        let mut rig = rig(rtt, &[("initial_window", "4000"), ("fast_convergence", "off")]);
        for _ in 0..3 {
            let top = rig.state().acks.window as f64 / 1000.0;
            lose(&mut rig);
            let mut window = rig.state().acks.window as f64 / 1000.0;
            let (mut estimate, k, mut t) = (window, ((top - window) / 0.4).cbrt(), 0.0);
            while t < k {
                let at = |t: f64| 0.4 * (t - k).powi(3) + top;
                for _ in 0..round(&mut rig, rtt) {
                    estimate += 9.0 / 17.0 / window;
                    window = if at(t) < estimate {
                        estimate
                    } else {
                        window + (at(t + 0.01).max(window) - window) / window
                    };
                }
                let now = rig.state().acks.window as f64 / 1000.0;
                assert!((now - window).abs() < 2e-3, "{t} s: {now}, by hand {window}");
                t += 0.01;
            }
            assert!((window - top).abs() < 1.0, "{window} {top}");
        }
    }

    /// A window that was cut at a smaller size than before aims lower; after a timeout nothing is remembered.
    #[test]
    fn fast_convergence_and_timeouts() {
        let rtt = Time::from_us(100);
        let mut rig = rig(rtt, &[("initial_window", "100")]);
        lose(&mut rig);
        lose(&mut rig);
        assert_eq!(rig.state().acks.window, 49_000);
        (0..49).for_each(|_| _ = rig.frame(1000));
        rig.lose(Loss::Timeout);
        assert_eq!(rig.state().acks.window, 1000);
        let sent: Vec<u64> = (0..7).map(|_| round(&mut rig, rtt)).collect();
        assert_eq!(sent[..6], [1, 2, 4, 8, 16, 32]);
        // 0.7 of 49 frames is 34.3: slow start ends there, and a frame a round trip follows.
        assert!((34..=36).contains(&sent[6]), "{sent:?}");
    }
}
