//! # Swift: a window that follows a target delay
//!
//! No switch takes part. Each acknowledgement brings a delay. Below a target the window grows by a frame per round trip; above
//! it the window shrinks in proportion to the excess, once per round trip. The target grows with the path, and with the number
//! of flows: a small window means many flows, whose queue is longer by chance. A window below one frame is paced: a frame
//! leaves every `rtt / cwnd`. Swift thus holds hundreds of flows into one host.
//!
//! Sources: G. Kumar et al., *Swift: Delay is Simple and Effective for Congestion Control in the Datacenter*, SIGCOMM 2020 (from
//! memory); the simulator Broadcom/csg-htsim 841d9e7 (`swift.cpp`, whose authors call its constants guesses: read).
//!
//! | paper | here |
//! |---|---|
//! | target `base + hops h + clamp(a / sqrt(cwnd) + b, 0, fs_range)` | [`target`] |
//! | `a = fs_range / (1 / sqrt(c_min) - 1 / sqrt(c_max))`, `b = -a / sqrt(c_max)` | [`scaling`] |
//! | `cwnd + ai n / cwnd`, or `ai n` below one frame | [`grown`] |
//! | `cwnd max(1 - beta (d - target) / d, 1 - max_mdf)` | [`shrunk`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `base_target = 20 us`, `per_hop = 3.05 us`, `fs_range = 100 us`: the simulator's, which has `base / 6.55` for a hop and
//!   `5 base` for the range. The paper's fabrics have 25 to 50 us, and about 1 us for a hop.
//! * `min_window = 0.001` frames, the paper's floor; `max_window` bounds a window that meets no congestion.
//! * `min_rate`: a paced flow does not go below this.
//!
//! ## Deviations
//!
//! * The delay is the whole round-trip time. Hosts answer at once here, so that there is no delay of an endpoint and no window of
//!   its own.
//! * A hop is a link of the path.
//! * A flow starts with the bandwidth-delay product of its path, at least one frame, as the other schemes of queue pairs do. The
//!   sources leave the start open.
//! * A window of one frame or more holds whole frames.
//! * A NACK cuts by `max_mdf`, once per round trip, and so does a timeout. The window is the least one after `reset_after` timeouts
//!   in a row.
//!
//! ## Fixed point
//!
//! N flows hold the delay near the target of their window, `target(d C / N)`. A test compares. With a round trip of 4.2 us at
//! 100 Gb/s the delay is 0 to 4 % above it for 2 to 100 flows, and 8 % for 200. At 25 Gb/s it is between 1 % below and 9 %
//! above for 2 to 60 flows, and 14 % above for 100.

use crate::counters::CUTS;
use crate::queue_pair;
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, Counter, Limiter, Loss, Plan, Rate, ReactionPoint, Registration, Scheme,
    SourceSite, Time, params,
};
use std::sync::Arc;

params! {
    /// Parameters of Swift, with the values of the public simulator.
    pub struct SwiftParams {
        /// Target delay of a path without links, at the largest window (simulator 20 us; paper 25 to 50 us).
        base_target: Time = Time::from_us(20), symbol "", from Time::from_ns(100), to Time::from_s(1);
        /// Target delay for each link of the path (simulator base / 6.55; paper about 1 us).
        per_hop: Time = Time::from_ns(3053), symbol "h", from Time::ZERO, to Time::from_s(1);
        /// Largest part of the target that the number of flows adds (simulator: 5 times the base).
        fs_range: Time = Time::from_us(100), symbol "fs_range", from Time::ZERO, to Time::from_s(1);
        /// Window, frames, at and below which this part is largest (both sources).
        fs_min: f64 = 0.1, symbol "c_min", from 0.0001, to 1.0;
        /// Window, frames, at and above which there is no such part (both sources).
        fs_max: f64 = 100.0, symbol "c_max", from 1.001, to 1e9;
        /// Growth of the window per round trip, frames (both sources).
        ai: f64 = 1.0, symbol "ai", from 0.0, to 1e6;
        /// Gain of a decrease (both sources).
        beta: f64 = 0.8, symbol "beta", from 0.0, to 1.0;
        /// Largest part of the window that a cut takes (both sources).
        max_mdf: f64 = 0.5, symbol "max_mdf", from 0.0, to 1.0;
        /// Smallest window, frames (paper).
        min_window: f64 = 0.001, symbol "", from 0.000_001, to 1.0;
        /// Largest window, frames (assumed).
        max_window: f64 = 10_000.0, symbol "", from 1.0, to 1e9;
        /// Timeouts in a row after which the window is the smallest (simulator).
        reset_after: u32 = 5, symbol "", from 1, to 1_000_000;
        /// Smallest rate of a paced flow (assumed).
        min_rate: Rate = Rate::from_mbps(1.0), symbol "", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
    }
}

/// `a` and `b` of the part of the target that the window decides, s.
pub fn scaling(p: &SwiftParams) -> (f64, f64) {
    let (low, high) = (1.0 / p.fs_min.sqrt(), 1.0 / p.fs_max.sqrt());
    let a = p.fs_range.as_secs_f64() / (low - high);
    (a, -a * high)
}

/// The target delay, s, of a path of so many links at a window of so many frames.
pub fn target(p: &SwiftParams, (a, b): (f64, f64), hops: u32, window: f64) -> f64 {
    let range = p.fs_range.as_secs_f64();
    let flows = (a / window.sqrt() + b).clamp(0.0, range);
    p.base_target.as_secs_f64() + f64::from(hops) * p.per_hop.as_secs_f64() + flows
}

/// The window after so many frames acknowledged below the target.
pub fn grown(p: &SwiftParams, window: f64, frames: f64) -> f64 {
    window + p.ai * if window >= 1.0 { frames / window } else { frames }
}

/// The window after a cut at a delay above the target.
pub fn shrunk(p: &SwiftParams, window: f64, delay: f64, target: f64) -> f64 {
    window * (1.0 - p.beta * (delay - target) / delay).max(1.0 - p.max_mdf)
}

/// The scheme Swift with its parameters.
#[derive(Debug)]
pub struct Swift(Arc<SwiftParams>);

impl Swift {
    /// Swift with these parameters.
    pub fn new(p: SwiftParams) -> Self {
        Self(Arc::new(p))
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "windows by a target delay (2020)";
    Registration::new(title, include_str!("swift.rs"), SwiftParams::default(), Swift::new)
        .promise(Promise::reacting(Rate::from_mbps(1.0)))
}

impl Scheme for Swift {
    fn name(&self) -> &str {
        "swift"
    }
    fn plan(&self) -> Plan {
        Plan { paces: true, ..queue_pair::plan(Acks::Needed) }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let frame = site.mtu.as_f64();
        let product = queue_pair::initial_rate(site).bps() / 8.0 * site.base_rtt.as_secs_f64();
        Some(Box::new(Reaction {
            scaling: scaling(&self.0),
            p: self.0.clone(),
            hops: site.hops,
            frame,
            window: (product / frame).max(1.0).min(self.0.max_window),
            rtt: site.base_rtt.as_secs_f64(),
            last_cut: None,
            timeouts: 0,
        }))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![CUTS]
    }
    fn repeats(&self) -> bool {
        true
    }
}

/// The reaction point: one for each queue pair.
#[derive(Debug)]
struct Reaction {
    p: Arc<SwiftParams>,
    scaling: (f64, f64),
    hops: u32,
    /// Bytes of a full frame.
    frame: f64,
    /// `cwnd`, frames.
    window: f64,
    /// The last round-trip time, s.
    rtt: f64,
    last_cut: Option<Time>,
    /// Timeouts since the last acknowledgement.
    timeouts: u32,
}

impl Reaction {
    /// The window in whole frames; below one, a frame at a time, every `rtt / cwnd`.
    fn apply(&mut self, limiter: &mut Limiter<'_>) {
        self.window = self.window.max(self.p.min_window).min(self.p.max_window);
        let line = limiter.line_rate();
        let rate = match self.window < 1.0 {
            true => Rate::from_bps(self.window * self.frame * 8.0 / self.rtt).max(self.p.min_rate).min(line),
            false => line,
        };
        limiter.set_window(Bytes::new(self.window.max(1.0) as u64 * self.frame as u64));
        if rate != limiter.rate() {
            limiter.set_rate(rate);
            limiter.retime();
        }
    }

    /// May the window be cut, a round trip after the last cut? It is, then.
    fn cuts(&mut self, limiter: &mut Limiter<'_>) -> bool {
        let now = limiter.now();
        let rtt = Time::from_secs_f64(self.rtt);
        let may = self.last_cut.is_none_or(|last| now.saturating_sub(last) >= rtt);
        if may {
            self.last_cut = Some(now);
            limiter.count(CUTS);
        }
        may
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        self.apply(limiter);
        limiter.wake_on_acks(AckGate::EACH);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        self.timeouts = 0;
        self.rtt = ack.rtt.max(Time::from_ns(1)).as_secs_f64();
        let target = target(&self.p, self.scaling, self.hops, self.window);
        if self.rtt < target {
            self.window = grown(&self.p, self.window, ack.newly.as_f64() / self.frame);
        } else if self.cuts(limiter) {
            self.window = shrunk(&self.p, self.window, self.rtt, target);
        }
        self.apply(limiter);
    }

    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        self.timeouts += u32::from(loss == Loss::Timeout);
        if self.timeouts >= self.p.reset_after {
            self.window = self.p.min_window;
        } else if self.cuts(limiter) {
            self.window *= 1.0 - self.p.max_mdf;
        }
        self.apply(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::ReactionRig;

    const LINE: Rate = Rate::from_gbps(10.0);

    fn plain() -> SwiftParams {
        SwiftParams { per_hop: Time::from_us(2), fs_min: 0.25, fs_max: 4.0, ..SwiftParams::default() }
    }

    fn rig(p: SwiftParams) -> ReactionRig {
        let mut rig = ReactionRig::new(Swift::new(p), LINE);
        (rig.site.base_rtt, rig.site.mtu) = (Time::from_us(8), Bytes::new(1000));
        rig.begin();
        rig
    }

    /// From 0.25 to 4 frames 1 / sqrt goes from 2 to 1/2: a = 100 / 1.5, b = -33.3 us. 20 + 3 * 2 us besides.
    #[test]
    fn targets_by_hand() {
        let p = plain();
        let at = |window| target(&p, scaling(&p), 3, window) * 1e6;
        for (window, us) in
            [(0.01, 126.0), (0.25, 126.0), (1.0, 26.0 + 100.0 / 3.0), (4.0, 26.0), (1e3, 26.0)]
        {
            assert!((at(window) - us).abs() < 1e-9, "{window}: {} {us}", at(window));
        }
    }

    #[test]
    fn windows_by_hand() {
        let p = plain();
        assert_eq!((grown(&p, 8.0, 2.0), grown(&p, 0.5, 1.0)), (8.25, 1.5));
        // 40 us where 30 were to be: a quarter of 0.8 is 0.2. Ten times too much: at most half.
        assert!((shrunk(&p, 10.0, 40e-6, 30e-6) - 8.0).abs() < 1e-12);
        assert_eq!(shrunk(&p, 10.0, 300e-6, 30e-6), 5.0);
    }

    /// 10 Gb/s for 8 us are 10 frames. One cut a round trip; below a frame, one frame is in flight, paced by the round trip.
    #[test]
    fn cuts_and_pacing_by_hand() {
        let mut rig = rig(plain());
        assert_eq!((rig.rate(), rig.state().acks.window), (LINE, 10_000));
        rig.send(10_000);
        rig.ack(1000, false, Time::from_us(10), &[]);
        assert_eq!(rig.state().acks.window, 10_000, "10.1 frames");
        rig.ack(2000, false, Time::from_ms(1), &[]);
        rig.ack(3000, false, Time::from_ms(1), &[]);
        assert_eq!(rig.state().acks.window, 5000, "5.05 frames, once a round trip");
        for _ in 0..3 {
            rig.wait(Time::from_ms(1));
            rig.ack(3000, false, Time::from_ms(1), &[]);
        }
        let cwnd = 5.05 / 8.0;
        assert_eq!(rig.state().acks.window, 1000);
        assert!(
            (rig.rate().bps() - cwnd * 8000.0 / 1e-3).abs() < 1.0 && rig.state().retime,
            "{}",
            rig.rate()
        );
        rig.ack(4000, false, Time::from_us(10), &[]);
        assert_eq!((rig.rate(), rig.state().acks.window), (LINE, 1000));
    }

    #[test]
    fn losses_by_hand() {
        let mut rig = rig(plain());
        rig.send(10_000);
        rig.lose(Loss::Nack);
        rig.lose(Loss::Nack);
        assert_eq!((rig.state().acks.window, rig.counts.of("cuts")), (5000, Some(1)));
        for _ in 0..5 {
            rig.lose(Loss::Timeout);
        }
        assert_eq!((rig.state().acks.window, rig.rate()), (1000, Rate::from_mbps(1.0)));
    }

    /// Ten frames, halved by each loss a round trip of 8 us after the last: after four timeouts 0.625. A NACK is none of their row, and an
    /// acknowledgement begins it anew: the window is the smallest after five.
    #[test]
    fn a_row_of_timeouts_by_hand() {
        let mut rig = rig(plain());
        let lose = |rig: &mut ReactionRig, times: u32, loss| {
            (0..times).for_each(|_| {
                rig.wait(Time::from_us(8));
                rig.lose(loss);
            });
            // A window of one frame is 1 Gb/s.
            (rig.rate().bps() / 1e9 * 1e6).round() / 1e6
        };
        rig.send(10_000);
        assert_eq!(lose(&mut rig, 4, Loss::Timeout), 0.625);
        assert_eq!(lose(&mut rig, 1, Loss::Nack), 0.3125);
        rig.send(1000);
        rig.ack(1000, false, Time::from_us(8), &[]);
        // 1.3125 frames.
        assert_eq!((rig.rate(), rig.state().acks.window), (LINE, 1000));
        assert_eq!(lose(&mut rig, 4, Loss::Timeout), 0.082_031);
        assert_eq!(lose(&mut rig, 1, Loss::Timeout), 0.001);
    }

    /// N flows in turn, one queue, the round trip of their windows: the delay stays at the target of the window that they have.
    #[test]
    fn the_delay_of_many_flows() {
        let p = SwiftParams::default();
        let scaled = scaling(&p);
        for n in [4.0, 40.0, 200.0] {
            let base = 8e-6;
            let (mut window, mut sum, mut last) = (10.0_f64, 0.0, 0.0);
            for round in 0..4000 {
                // All windows in flight at 100 Gb/s; a window below a frame is on the way for its part of the time.
                let delay = (n * window * 8000.0 / 1e11).max(base);
                let aim = target(&p, scaled, 2, window);
                window = match delay < aim {
                    true => grown(&p, window, window),
                    false => shrunk(&p, window, delay, aim),
                };
                if round >= 2000 {
                    (sum, last) = (sum + delay / 2000.0, last + aim / 2000.0);
                }
            }
            assert!((sum / last - 1.0).abs() < 0.2, "N = {n}: delay {sum} target {last}");
        }
    }
}
