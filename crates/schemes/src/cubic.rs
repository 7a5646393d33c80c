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
//! | `target = clamp(W(t + RTT), cwnd, 1.5 cwnd)`, `cwnd += (target - cwnd) / cwnd` | `Law::grow` |
//! | (4) `W_est += alpha segments / cwnd`, alpha 3 (1 - beta) / (1 + beta), 1 from `cwnd_prior` on | `Law::grow` |
//! | fast convergence: `W_max = cwnd (1 + beta) / 2` where `cwnd < W_max` | `Law::cut` |
//! | `ssthresh = beta FlightSize`, at least 2 | `Law::cut` |
//! | a timeout forgets `W_max`; after slow start `W_max = cwnd`, K = 0 | `Curve::begin` |
//!
//! ## Assumptions, each a parameter
//!
//! * `c = 0.4`, `beta = 0.7`, fast convergence on, as the RFC has them.
//! * `slow_start`, `pacing`, `mark_from` and others are NewReno's.
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

use crate::tcp::{self, Control, Law, Moment};
use cnsim_scheme_api::{Registration, Time, params};

params! {
    /// Parameters of CUBIC, beside TCP's.
    pub struct Cubic {
        /// Scale of the cubic function, frames/s^3 (RFC 9438).
        c: f64 = 0.4, symbol "C", from 1e-6, to 1e12;
        /// Share of the window that a cut leaves (RFC 9438; 0.5 is NewReno's).
        beta: f64 = 0.7, symbol "beta", from 0.1, to 0.95;
        /// Whether a flow whose window was cut at a smaller size than before leaves room for others.
        fast_convergence: bool = true, symbol "";
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
    tcp::registration::<Cubic>(title, include_str!("cubic.rs"))
}

impl Control for Cubic {
    const NAME: &'static str = "cubic";
    type Law = Curve;
    fn law(&self) -> Curve {
        Curve { p: self.clone(), epoch: None, w_max: 0.0, prior: 0.0 }
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

/// The law of a flow.
#[derive(Debug)]
pub(crate) struct Curve {
    p: Cubic,
    epoch: Option<Epoch>,
    /// `W_max` and `cwnd_prior`, frames; 0: none, and additive increase takes a frame a round trip from the begin on.
    w_max: f64,
    prior: f64,
}

impl Curve {
    /// An epoch begins now.
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        self.w_max = self.w_max.max(cwnd);
        Epoch { begin: now, k: inflection(self.p.c, self.w_max, cwnd), estimate: cwnd }
    }
}

impl Law for Curve {
    fn grow(&mut self, cwnd: f64, frames: f64, Moment { now, round_trip }: Moment) -> f64 {
        let Epoch { begin, k, mut estimate } = self.epoch.unwrap_or_else(|| self.begin(now, cwnd));
        let p = &self.p;
        // (4) As many frames in a round trip as TCP with this beta would have in the mean.
        let alpha = if estimate >= self.prior { 1.0 } else { 3.0 * (1.0 - p.beta) / (1.0 + p.beta) };
        estimate += alpha * frames / cwnd;
        self.epoch = Some(Epoch { begin, k, estimate });
        let t = now - begin;
        if cubic(p.c, t, k, self.w_max) < estimate {
            return estimate;
        }
        let ahead = t + Time::from_ps((round_trip * 1e12) as u64);
        let target = cubic(p.c, ahead, k, self.w_max).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd
    }

    fn cut(&mut self, cwnd: f64, flight: f64) -> f64 {
        let beta = self.p.beta;
        let less = self.p.fast_convergence && cwnd < self.w_max;
        self.w_max = if less { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        (self.prior, self.epoch) = (cwnd, None);
        beta * flight
    }

    fn time_out(&mut self) {
        (self.w_max, self.prior) = (0.0, 0.0);
    }

    fn stand(&mut self, time: Time) {
        self.epoch.iter_mut().for_each(|epoch| epoch.begin += time);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a window by hand, to three digits")]
mod tests {
    use super::*;
    use crate::tcp::{Tcp, TcpParams};
    use cnsim_scheme_api::testing::ReactionRig;
    use cnsim_scheme_api::{Bytes, Join, Loss, Rate};

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
        let mut p = Join::<TcpParams, Cubic>::default();
        sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        let mut rig = ReactionRig::new(Tcp::of(p), Rate::from_gbps(10.0));
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
