//! # TIMELY, as patched in 2016: rates that follow the round-trip time
//!
//! No switch takes part. The source has one frame in every `segment` bytes acknowledged, and learns from each acknowledgement
//! how long the round trip took. Below `t_low` it adds a step to its rate, above `t_high` it lowers it in proportion. Between
//! the two it goes by the trend of the round-trip time: the patched rule weighs a step upwards and a cut towards `t_low` by
//! the gradient, so that there is one equilibrium; the rule of 2015 has infinitely many.
//!
//! This crate is an example, too: it uses the public contract alone, and its program is `cnsim` with this scheme besides ours.
//!
//! Sources: R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015; Y. Zhu, M. Ghobadi,
//! V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
//!
//! | paper | here |
//! |---|---|
//! | `diff = (1 - alpha) diff + alpha (rtt - prev)`, gradient `diff / D_minRTT` | [`Reaction::gradient`] |
//! | `R += delta`, five times that after five increases in a row | [`Reaction::rise`] |
//! | `R (1 - beta (1 - T_high / rtt))` | [`Reaction::next`] |
//! | `w = clamp(2 g + 1/2)`, `R = delta (1 - w) + R (1 - beta w (rtt - T_low) / T_low)` | [`Reaction::next`], `patched` |
//! | `R += delta` or `R (1 - beta g)` | [`Reaction::next`], `original` |
//!
//! ## Deviations
//!
//! * A segment is what has been sent when the acknowledged frame leaves, not a burst: frames are paced one by one.
//! * A flow starts at line rate, as those of the other schemes do; the paper starts it at `C / (N + 1)`.

pub mod bbr;

use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, Acknowledger, Built, Bytes, Counter, Feedback, Limiter, Plan, Rate, ReactionPoint, ReflectGate,
    Reflector, Registration, Scheme, SinkSite, SourceSite, Time, choice, params,
};

choice! {
    /// What happens between the two thresholds.
    pub enum Rule {
        /// Step and cut are weighed by the gradient (2016).
        Patched = "patched",
        /// A step where the gradient is not positive, else a cut by the gradient (2015).
        Original = "original",
    }
}

params! {
    /// Parameters of TIMELY, with the values of 2016.
    pub struct Timely {
        /// Bytes sent from one acknowledged frame to the next.
        segment: Bytes = Bytes::from_kb(16), symbol "Seg", from Bytes::new(64), to Bytes::from_mb(10);
        /// Weight of the latest difference of round-trip times.
        alpha: f64 = 0.875, symbol "alpha", from 0.0, to 1.0;
        /// Decrease gain.
        beta: f64 = 0.008, symbol "beta", from 0.0, to 1.0;
        /// Step of an increase.
        delta: Rate = Rate::from_mbps(10.0), symbol "delta", from Rate::from_bps(1.0), to Rate::from_gbps(10.0);
        /// Round-trip time below which the rate rises.
        t_low: Time = Time::from_us(50), symbol "T_low", from Time::from_ns(100), to Time::from_s(1);
        /// Round-trip time above which the rate falls whatever the gradient.
        t_high: Time = Time::from_us(500), symbol "T_high", from Time::from_ns(100), to Time::from_s(1);
        /// What a difference of round-trip times is divided by.
        min_rtt: Time = Time::from_us(20), symbol "D_minRTT", from Time::from_ns(100), to Time::from_s(1);
        /// What happens between the two thresholds.
        rule: Rule = Rule::Patched, symbol "";
        /// Smallest rate.
        min_rate: Rate = Rate::from_mbps(10.0), symbol "", from Rate::from_mbps(1.0), to Rate::from_gbps(10.0);
    }
}

/// Acknowledgements that moved a rate.
const ACKS: Counter = Counter::new("acks", "acknowledgements that reached a source");
/// Acknowledgements that lowered a rate.
const CUTS: Counter = Counter::new("delay_cuts", "acknowledgements that lowered a rate");

/// How it is registered.
pub fn registration() -> Registration {
    Registration::new(
        "rates that follow the round-trip time (patched, 2016)",
        include_str!("lib.rs"),
        Timely::default(),
        |p| p,
    )
    .promise(Promise::reacting(Rate::from_mbps(10.0)))
}

impl Scheme for Timely {
    fn name(&self) -> &str {
        "my-timely"
    }
    fn plan(&self) -> Plan {
        Plan { built: Built::FirstFrame, reflect: ReflectGate::Tagged, received: true, ..Plan::default() }
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { p: self.clone(), last: None, diff: 0.0, rises: 0 }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Acknowledger))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![ACKS, CUTS]
    }
}

#[derive(Debug)]
struct Reaction {
    p: Timely,
    /// The round-trip time before this one, in seconds.
    last: Option<f64>,
    /// Average difference of round-trip times, in seconds.
    diff: f64,
    /// Increases in a row.
    rises: u32,
}

/// Increases in a row after which the step is five times as large.
const HAI: u32 = 5;

impl Reaction {
    /// `diff = (1 - alpha) diff + alpha (rtt - prev)`, over `D_minRTT`.
    fn gradient(&mut self, rtt: f64) -> f64 {
        let new = rtt - self.last.replace(rtt).unwrap_or(rtt);
        self.diff += self.p.alpha * (new - self.diff);
        self.diff / self.p.min_rtt.as_secs_f64()
    }

    /// The step upwards.
    fn rise(&mut self) -> Rate {
        self.rises = self.rises.saturating_add(1);
        if self.rises > HAI { self.p.delta * 5.0 } else { self.p.delta }
    }

    /// The rate after a round trip of this many seconds, before bounds.
    fn next(&mut self, rate: Rate, rtt: f64) -> Rate {
        let (low, high) = (self.p.t_low.as_secs_f64(), self.p.t_high.as_secs_f64());
        let gradient = self.gradient(rtt);
        if rtt < low {
            return rate + self.rise();
        }
        let falls = (rtt > high) || self.p.rule == Rule::Patched || gradient > 0.0;
        if !falls {
            return rate + self.rise();
        }
        self.rises = 0;
        if rtt > high {
            return rate * (1.0 - self.p.beta * (1.0 - high / rtt));
        }
        match self.p.rule {
            Rule::Patched => {
                let w = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
                let e = (rtt - low) / low;
                self.p.delta * (1.0 - w) + rate * (1.0 - self.p.beta * w * e).max(0.0)
            }
            Rule::Original => rate * (1.0 - self.p.beta * gradient).max(0.0),
        }
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.echo_next();
        limiter.wake_after(self.p.segment);
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        limiter.echo_next();
        limiter.wake_after(self.p.segment);
    }
    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        limiter.count(ACKS);
        let before = limiter.rate();
        let line = limiter.line_rate();
        let rate = self.next(before, ack.rtt.as_secs_f64()).max(self.p.min_rate).min(line);
        if rate < before {
            limiter.count(CUTS);
        }
        limiter.set_rate(rate);
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaction(sets: &[(&str, &str)]) -> Reaction {
        use cnsim_scheme_api::Params;
        let mut p = Timely::default();
        sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        Reaction { p, last: None, diff: 0.0, rises: 0 }
    }

    /// Far below `T_low`: ten steps, the last five of them five times as large.
    #[test]
    fn increases_by_hand() {
        let mut r = reaction(&[]);
        let rate = (0..10).fold(Rate::from_gbps(1.0), |rate, _| r.next(rate, 20e-6));
        assert!((rate.gbps() - (1.0 + 5.0 * 0.01 + 5.0 * 0.05)).abs() < 1e-9, "{rate}");
    }

    /// 100 us twice: no gradient, w = 1/2, e = 1: half a step up, 0.4 % down. 1 ms: half of beta down.
    #[test]
    fn cuts_by_hand() {
        let mut r = reaction(&[]);
        let rate = r.next(Rate::from_gbps(1.0), 100e-6);
        assert!((rate.gbps() - (0.005 + 0.996)).abs() < 1e-9, "{rate}");
        let rate = r.next(Rate::from_gbps(1.0), 1e-3);
        assert!((rate.gbps() - 0.996).abs() < 1e-9, "{rate}");
        let mut r = reaction(&[("rule", "original"), ("beta", "0.8"), ("alpha", "1")]);
        r.next(Rate::from_gbps(1.0), 100e-6);
        // 5 us more over 20 us: a gradient of 1/4.
        let rate = r.next(Rate::from_gbps(1.0), 105e-6);
        assert!((rate.gbps() - 0.8).abs() < 1e-9, "{rate}");
    }
}
