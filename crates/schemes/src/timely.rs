//! # TIMELY: rates that follow the round-trip time
//!
//! No switch takes part. The source measures the round-trip time once per segment, or once per window. Below `t_low` it adds a
//! step to its rate; above `t_high` it lowers the rate in proportion. Between the two it goes by the gradient of the round-trip
//! time. The rule of 2015 (`timely`) adds a step if the gradient is not positive, and cuts by the gradient if it is. It has
//! infinitely many equilibria, so that rates end where their start lets them. The patched rule of 2016 (`timely-patched`) weighs a
//! step and a cut towards `t_low` by the gradient, and has one.
//!
//! Sources: R. Mittal et al., *TIMELY: RTT-based Congestion Control for the Datacenter*, SIGCOMM 2015 (from memory); Y. Zhu et
//! al., *ECN or Delay*, CoNEXT 2016 (both rules, parameters, fixed point: read), and its authors' simulator, bobzhuyb/ns3-rdma,
//! branch `timely` (`timely-sender.cc`: read); the simulator of HPCC, alibaba-edu/High-Precision-Congestion-Control 9f4be2a
//! (`rdma-hw.cc`, `run.py`: read).
//!
//! | paper | here |
//! |---|---|
//! | `diff = (1 - alpha) diff + alpha (rtt - prev)`, gradient `diff / D_minRTT` | [`Trend`] |
//! | `R + delta`; five times that after five increases in a row | [`TimelyParams::hai_after`] |
//! | `R (1 - beta (1 - T_high / rtt))` | [`too_high`] |
//! | 2015: `R (1 - beta g)` | [`by_gradient`] |
//! | a flow begins at `C / (N + 1)`, where its host has N others under way | [`share`] |
//! | 2016: `w = clamp(2 g + 1/2)`, `delta (1 - w) + R (1 - beta w (rtt - T_low) / T_low)` | [`patched`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `sample = segment`: a sample is the round-trip time of the frame that completes `segment` bytes acknowledged. `window`:
//!   the first frame of each round trip, as in HPCC's simulator.
//! * `hai_after = 5`: the paper counts increases in a row, whichever rule made them. The accounts of 2016 have no such step;
//!   `off` has none.
//! * `min_rate`: the papers give none. The simulator of 2016 has 1 % of the link's rate, and at most 96 % (`max_share`).
//! * `pacing = frame`: frames are paced one by one. `segment`: a segment leaves at the line rate, and the next one when this would be
//!   over at the flow's rate. The paper of 2015 sends so, and the simulator of 2016 as it was published.
//! * `first = stored`: the first sample is only stored. `counted`: it is compared with the time of a frame on the link, as in the
//!   simulator of 2016, so that a flow that begins above `t_low` falls to the smallest rate.
//! * `begin = share`: `C / (N + 1)`, as both papers have it. `line`: the line rate, as in HPCC's simulator. An initial rate of the
//!   scenario goes before.
//!
//! ## Deviations
//!
//! * The round-trip time includes that of the frame itself on its links.
//! * Losses move nothing.
//!
//! ## Flows that stay apart
//!
//! The fluid model of 2016 keeps two flows that begin at 7 and 3 Gb/s near 6.4 and 2.7 Gb/s, with segments of 64 KB. Frames do so for
//! some ten milliseconds; then the faster flow gains, up to the whole link. The cause is not the network. A model without frames, whose
//! rates move once a segment, drifts alike. With steps and cuts of a quarter both stay for good, at 7.0 and 3.0 Gb/s. Segments of 16 KB
//! at the line rate make flows equal, as in the paper's figure; those of 64 KB leave the link idle. Tests compare.
//!
//! ## Fixed point
//!
//! The patched rule settles where the gradient is 0 and `w` is 1/2: `delta = beta R (rtt - T_low) / T_low`. N flows with `R = C / N`
//! thus have a queue of `q' (1 + N delta / (beta C))`, where `q' = C T_low`. At 10 Gb/s and N = 2 this is 78.1 KB. The paper's figure
//! shows 73.2 KB, and frames have 72: the round trip without a queue is part of `rtt`. A test compares with both.

use crate::counters::CUTS;
use crate::queue_pair;
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, Counter, Idle, Limiter, Plan, Preset, Rate, ReactionPoint, Registration,
    Scheme, Slot, SourceSite, Time, choice, params,
};
use std::sync::Arc;

choice! {
    /// When the round-trip time is sampled.
    pub enum Sample {
        /// The frame is sampled that completes a segment.
        Segment = "segment",
        /// One frame of each round trip is sampled.
        Window = "window",
    }
}

choice! {
    /// How a flow sends at its rate.
    pub enum Pacing {
        /// Frame by frame.
        Frame = "frame",
        /// A segment at the line rate, then none until it would be over at the flow's rate.
        Segment = "segment",
    }
}

choice! {
    /// Use of the first sample.
    pub enum First {
        /// The first sample is stored.
        Stored = "stored",
        /// The first sample is compared with the time of a frame on the link.
        Counted = "counted",
    }
}

choice! {
    /// The rate at which a flow begins.
    pub enum Begin {
        /// The line rate, by the number of the host's flows.
        Share = "share",
        /// The line rate.
        Line = "line",
    }
}

params! {
    /// Parameters of TIMELY, with the values of 2015 as the account of 2016 gives them.
    pub struct TimelyParams {
        /// When the round-trip time is sampled (HPCC's simulator: once a window).
        sample: Sample = Sample::Segment, symbol "";
        /// Bytes acknowledged from one sample to the next (2015: 16 to 64 KB; 2016: 16 KB).
        segment: Bytes = Bytes::from_kb(16), symbol "Seg", from Bytes::new(64), to Bytes::from_mb(100);
        /// How a flow sends at its rate (2015: segments; 2016: both).
        pacing: Pacing = Pacing::Frame, symbol "";
        /// Use of the first sample (simulator of 2016: counted).
        first: First = First::Stored, symbol "";
        /// The rate at which a flow begins (both papers: share; HPCC's simulator: line).
        begin: Begin = Begin::Share, symbol "";
        /// Weight of the latest difference of round-trip times.
        alpha: f64 = 0.875, symbol "alpha", from 0.0, to 1.0;
        /// Gain of a decrease (2015: 0.8; patched: 0.008).
        beta: f64 = 0.8, symbol "beta", from 0.0, to 1.0;
        /// Step of an increase (HPCC's simulator: 1 Mb/s for each Gb/s of the NIC).
        delta: Rate = Rate::from_mbps(10.0), symbol "delta", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Round-trip time below which the rate rises.
        t_low: Time = Time::from_us(50), symbol "T_low", from Time::from_ns(100), to Time::from_s(1);
        /// Round-trip time above which the rate falls whatever the gradient.
        t_high: Time = Time::from_us(500), symbol "T_high", from Time::from_ns(100), to Time::from_s(1);
        /// Time by which a difference of round-trip times is divided.
        min_rtt: Time = Time::from_us(20), symbol "D_minRTT", from Time::from_ns(100), to Time::from_s(1);
        /// Increases in a row after which the step is multiplied by `hai_factor`; off: it is not.
        hai_after: Option<u32> = Some(5), symbol "", from Some(0), to Some(1_000_000);
        /// Multiplier of the step then.
        hai_factor: f64 = 5.0, symbol "HAI", from 1.0, to 1000.0;
        /// Smallest rate (simulator of 2016: 1 % of the link's; HPCC's simulator: 1 Gb/s).
        min_rate: Rate = Rate::from_mbps(10.0), symbol "", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Largest rate, as a part of the line rate (simulator of 2016: 0.96).
        max_share: f64 = 1.0, symbol "", from 0.01, to 1.0;
        /// Bytes of a time stamp on each data frame, beside header and payload (HPCC's simulator: 8).
        stamp: Bytes = Bytes::ZERO, symbol "", from Bytes::ZERO, to Bytes::new(1000);
    }
}

impl TimelyParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = Vec::new();
        if self.sample == Sample::Window && self.pacing == Pacing::Frame {
            idle.push(("segment", "sample is window, and pacing is frame"));
        }
        if self.hai_after.is_none() {
            idle.push(("hai_factor", "hai_after is off"));
        }
        idle
    }
}

/// The settings of two simulators: that of HPCC, and that of the account of 2016.
const PRESETS: [Preset; 2] = [
    queue_pair::preset_hpcc(|rate| {
        let own = [
            ("sample", "window".to_string()),
            ("delta", format!("{} Mb/s", rate.gbps())),
            ("min_rate", queue_pair::preset_floor(rate)),
            ("begin", "line".into()),
        ];
        own.to_vec()
    }),
    Preset {
        name: "conext",
        source: "`timely-sender.cc` of the simulator of the CoNEXT 2016 study (bobzhuyb/ns3-rdma, branch `timely`), by the speed of the NIC",
        values: |rate| {
            let own = [
                ("hai_after", "off".to_string()),
                ("pacing", "segment".into()),
                ("first", "counted".into()),
                ("min_rate", (rate * 0.01).to_string()),
                ("max_share", "0.96".into()),
            ];
            own.to_vec()
        },
        acknowledged: &[],
    },
];

/// Rule for round trips between the two thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A step where the gradient is not positive, else a cut by it (2015).
    Original,
    /// Step and cut are weighed by the gradient (2016).
    Patched,
}

/// The trend of the round-trip time, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trend {
    last: Option<f64>,
    diff: f64,
}

impl Trend {
    /// The gradient after a sample; none at the first.
    pub fn gradient(&mut self, p: &TimelyParams, rtt: f64) -> Option<f64> {
        let new = rtt - self.last.replace(rtt)?;
        self.diff = (1.0 - p.alpha) * self.diff + p.alpha * new;
        Some(self.diff / p.min_rtt.as_secs_f64())
    }
}

/// `C / (N + 1)`: the rate at which a flow begins whose host has N others under way.
pub fn share(site: &SourceSite) -> Rate {
    site.line_rate / (f64::from(site.others) + 1.0)
}

/// `R (1 - beta (1 - T_high / rtt))`: the rate above the upper threshold.
pub fn too_high(p: &TimelyParams, rate: Rate, rtt: f64) -> Rate {
    rate * (1.0 - p.beta * (1.0 - p.t_high.as_secs_f64() / rtt))
}

/// `R (1 - beta g)`, not below 0: the cut of 2015.
pub fn by_gradient(p: &TimelyParams, rate: Rate, gradient: f64) -> Rate {
    rate * (1.0 - p.beta * gradient).max(0.0)
}

/// The rule of 2016 between the thresholds.
pub fn patched(p: &TimelyParams, rate: Rate, gradient: f64, rtt: f64) -> Rate {
    let w = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
    let low = p.t_low.as_secs_f64();
    p.delta * (1.0 - w) + rate * (1.0 - p.beta * w * (rtt - low) / low).max(0.0)
}

/// The scheme TIMELY with its parameters and its rule.
#[derive(Debug)]
pub struct Timely(Arc<TimelyParams>, Rule);

impl Timely {
    /// TIMELY with these parameters.
    pub fn new(p: TimelyParams, rule: Rule) -> Self {
        Self(Arc::new(p), rule)
    }
}

/// The registrations: the rule of 2015, and that of 2016.
pub(crate) fn registrations() -> [Registration; 2] {
    let patched = TimelyParams { beta: 0.008, ..TimelyParams::default() };
    [
        ("rates by the gradient of the round-trip time (2015)", TimelyParams::default(), Rule::Original),
        ("TIMELY with one equilibrium (patched, 2016)", patched, Rule::Patched),
    ]
    .map(|(title, p, rule)| {
        let floor = p.min_rate;
        let text = include_str!("timely.rs");
        Registration::with_idle(title, text, p, TimelyParams::idle, move |p| Timely::new(p, rule))
            .presets(Rate::from_gbps(10.0), &PRESETS)
            .promise(Promise::reacting(floor))
    })
}

impl Scheme for Timely {
    fn name(&self) -> &str {
        match self.1 {
            Rule::Original => "timely",
            Rule::Patched => "timely-patched",
        }
    }
    fn plan(&self) -> Plan {
        Plan { stamp: self.0.stamp, paces: true, ..queue_pair::plan(Acks::Needed) }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let p = self.0.clone();
        let begin = if p.begin == Begin::Share { share(site) } else { site.line_rate };
        let frame = site.mtu.as_f64() * 8.0 / site.line_rate.bps();
        let last = (p.first == First::Counted).then_some(frame);
        let mut reaction = Reaction::new(p, self.1, Trend { last, diff: 0.0 });
        reaction.rate = reaction.bounded(site.initial_rate.unwrap_or(begin), site.line_rate);
        Some(Box::new(reaction))
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
    p: Arc<TimelyParams>,
    rule: Rule,
    rate: Rate,
    trend: Trend,
    /// Increases in a row.
    rises: u32,
    /// Bytes acknowledged since the last sample.
    acked: Bytes,
    /// When the segment under way began, if segments are sent at the line rate.
    began: Time,
}

/// A segment is over at the flow's rate.
const NEXT: Slot = Slot(0);

impl Reaction {
    fn new(p: Arc<TimelyParams>, rule: Rule, trend: Trend) -> Self {
        Self { p, rule, rate: Rate::ZERO, trend, rises: 0, acked: Bytes::ZERO, began: Time::ZERO }
    }

    /// A rate within the bounds.
    fn bounded(&self, rate: Rate, line: Rate) -> Rate {
        rate.min(line * self.p.max_share).max(self.p.min_rate).min(line)
    }

    /// The next segment leaves at the line rate.
    fn send_segment(&mut self, limiter: &mut Limiter<'_>) {
        self.began = limiter.now();
        limiter.set_rate(limiter.line_rate());
        limiter.wake_after(self.p.segment);
    }

    /// The rate a step higher.
    fn rise(&mut self, rate: Rate) -> Rate {
        let fast = self.p.hai_after.is_some_and(|after| self.rises >= after);
        self.rises = self.rises.saturating_add(1);
        rate + if fast { self.p.delta * self.p.hai_factor } else { self.p.delta }
    }

    /// The rate after a sample of so many seconds, before bounds; none at the first sample.
    fn next(&mut self, rate: Rate, rtt: f64) -> Option<Rate> {
        let gradient = self.trend.gradient(&self.p, rtt)?;
        let high = rtt > self.p.t_high.as_secs_f64();
        let rises = !high && self.rule == Rule::Original && gradient <= 0.0;
        if rises || rtt < self.p.t_low.as_secs_f64() {
            return Some(self.rise(rate));
        }
        self.rises = 0;
        Some(match self.rule {
            _ if high => too_high(&self.p, rate, rtt),
            Rule::Original => by_gradient(&self.p, rate, gradient),
            Rule::Patched => patched(&self.p, rate, gradient, rtt),
        })
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        match self.p.pacing {
            Pacing::Frame => limiter.set_rate(self.rate),
            Pacing::Segment => self.send_segment(limiter),
        }
        limiter.wake_on_acks(match self.p.sample {
            Sample::Segment => AckGate::EACH,
            Sample::Window => AckGate::PER_WINDOW,
        });
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        self.acked += ack.newly;
        if self.p.sample == Sample::Segment && self.acked < self.p.segment {
            return;
        }
        self.acked = Bytes::ZERO;
        let before = self.rate;
        let Some(rate) = self.next(before, ack.rtt.as_secs_f64()) else { return };
        self.rate = self.bounded(rate, limiter.line_rate());
        if self.rate < before {
            limiter.count(CUTS);
        }
        if self.p.pacing == Pacing::Frame {
            limiter.set_rate(self.rate);
        }
    }

    /// A segment has left: none follows until this one would be over at the flow's rate.
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        let lasts = Time::from_secs_f64(self.p.segment.as_f64() * 8.0 / self.rate.bps());
        limiter.set_rate(Rate::ZERO);
        limiter.start_timer(NEXT, (self.began + lasts).saturating_sub(limiter.now()).max(Time::from_ns(1)));
    }

    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.send_segment(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::Params;
    use cnsim_scheme_api::testing::ReactionRig;

    fn reaction(rule: Rule, sets: &[(&str, &str)]) -> Reaction {
        let mut p = TimelyParams::default();
        sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        Reaction::new(Arc::new(p), rule, Trend::default())
    }

    const ONE: Rate = Rate::from_gbps(1.0);

    fn close(rate: Option<Rate>, gbps: f64) {
        let rate = rate.unwrap();
        assert!((rate.gbps() - gbps).abs() < 1e-9, "{rate}, by hand {gbps} Gb/s");
    }

    /// Far below `T_low`: the first sample moves nothing, then five steps, then steps five times as large.
    #[test]
    fn increases_by_hand() {
        let mut r = reaction(Rule::Original, &[]);
        assert_eq!(r.next(ONE, 20e-6), None);
        let rate = (0..10).fold(ONE, |rate, _| r.next(rate, 20e-6).unwrap());
        close(Some(rate), 1.0 + 5.0 * 0.01 + 5.0 * 0.05);
        let mut r = reaction(Rule::Original, &[("hai_after", "off")]);
        r.next(ONE, 20e-6);
        close(Some((0..10).fold(ONE, |rate, _| r.next(rate, 20e-6).unwrap())), 1.1);
    }

    /// Five steps of 10 Mb/s, then one of 50. A cut by either rule ends the row, and steps of both rules are of one row.
    #[test]
    fn a_row_of_increases_by_hand() {
        let steps = |samples: &[u64]| -> Vec<i64> {
            let mut r = reaction(Rule::Original, &[]);
            let moved = |us: &u64| r.next(ONE, *us as f64 / 1e6).map(|rate| (rate.bps() / 1e6).round());
            samples.iter().filter_map(moved).map(|mbps| mbps as i64 - 1000).collect()
        };
        let row = [10, 10, 10, 10, 10, 50];
        assert_eq!(steps(&[20; 7]), row);
        // 2.5 ms: 0.8 of four fifths. 80 us from 20: a gradient of 2.6, which leaves nothing.
        for (us, cut) in [(2500, -640), (80, -1000)] {
            let samples = [&[20; 4][..], &[us], &[20; 6]].concat();
            assert_eq!(steps(&samples), [&row[..3], &[cut], &row].concat(), "{us} us");
        }
        assert_eq!(steps(&[100, 100, 100, 20, 20, 20, 20]), row);
        // At the thresholds the gradient rules.
        assert_eq!(steps(&[500, 500, 50]), [10, 10]);
        let mut r = reaction(Rule::Patched, &[("beta", "0.008")]);
        r.next(ONE, 50e-6);
        close(r.next(ONE, 50e-6), 1.005);
    }

    /// 100 us, then 105: 7/8 of 5 us over 20 us is a gradient of 0.21875. 1 ms: half of beta down.
    #[test]
    fn cuts_of_2015_by_hand() {
        let mut r = reaction(Rule::Original, &[]);
        r.next(ONE, 100e-6);
        close(r.next(ONE, 105e-6), 1.0 - 0.8 * 0.21875);
        close(r.next(ONE, 1e-3), 1.0 - 0.8 * 0.5);
        let mut r = reaction(Rule::Original, &[]);
        r.next(ONE, 100e-6);
        close(r.next(ONE, 100e-6), 1.01);
        close(r.next(ONE, 400e-6), 0.0);
    }

    /// What lowers a rate is a cut: neither a step is one, nor a sample far above `T_high` at the floor.
    #[test]
    fn cuts_are_counted() {
        let mut p = TimelyParams::default();
        p.set("min_rate", "1 Gb/s").unwrap();
        let mut rig = ReactionRig::new(Timely::new(p, Rule::Original), Rate::from_gbps(10.0));
        rig.site.initial_rate = Some(Rate::from_gbps(2.0));
        rig.begin();
        // The second sample is a step to 2.01 Gb/s, the third leaves 1 - 0.8 (1 - 0.5 / 2.5) of that, which is below the floor.
        for (n, us, gbps, cuts) in [(1, 100, 2.0, 0), (2, 100, 2.01, 0), (3, 2500, 1.0, 1), (4, 2500, 1.0, 1)]
        {
            rig.send(16_000);
            rig.ack(n * 16_000, false, Time::from_us(us), &[]);
            close(Some(rig.rate()), gbps);
            assert_eq!(rig.counts.of("cuts"), Some(cuts), "sample {n}");
        }
    }

    /// No gradient: w = 1/2. 100 us: e = 1, half a step up and 0.4 % down. A gradient of 1/4: w = 1, 0.8 * 1.1 % down.
    #[test]
    fn patched_by_hand() {
        let mut r = reaction(Rule::Patched, &[("beta", "0.008"), ("alpha", "1")]);
        r.next(ONE, 100e-6);
        close(r.next(ONE, 100e-6), 0.005 + 0.996);
        close(r.next(ONE, 105e-6), 1.0 - 0.008 * 1.1);
        close(r.next(ONE, 95e-6), 1.01);
        // 97 us: a gradient of 1/10, so that w = 0.7, and 0.7 * 0.8 % * 0.94 down.
        close(r.next(ONE, 97e-6), 0.01 * 0.3 + 1.0 - 0.7 * 0.008 * 0.94);
    }

    /// A sample for each 16 KB acknowledged; or one at the first frame that was sent after the last sample.
    #[test]
    fn samples_by_segment_and_by_window() {
        for (sample, samples) in [("segment", 5), ("window", 2)] {
            let mut p = TimelyParams::default();
            p.set("sample", sample).unwrap();
            let mut rig = ReactionRig::new(Timely::new(p, Rule::Original), Rate::from_gbps(10.0));
            rig.site.initial_rate = Some(ONE);
            rig.begin();
            assert_eq!(rig.rate(), ONE);
            rig.send(30_000);
            for frame in 1..=60 {
                if frame == 10 {
                    rig.send(60_000);
                }
                rig.ack(frame * 1500, false, Time::from_us(20), &[]);
            }
            // The first sample moves nothing, the others add a step: 11 frames are a segment.
            close(Some(rig.rate()), 1.0 + 0.01 * f64::from(samples - 1));
        }
    }

    /// Two other flows of the host are under way: a third of the line rate. A rate of the scenario goes before.
    #[test]
    fn begins_at_its_share() {
        for (sets, rate, gbps) in [
            (vec![], None, 10.0 / 3.0),
            (vec![("begin", "line")], None, 10.0),
            (vec![("begin", "line"), ("max_share", "0.96")], None, 9.6),
            (vec![("min_rate", "4 Gb/s")], None, 4.0),
            (vec![], Some(ONE), 1.0),
        ] {
            let mut p = TimelyParams::default();
            sets.iter().for_each(|(k, v)| p.set(k, v).unwrap());
            let mut rig = ReactionRig::new(Timely::new(p, Rule::Original), Rate::from_gbps(10.0));
            (rig.site.others, rig.site.initial_rate) = (2, rate);
            rig.begin();
            close(Some(rig.rate()), gbps);
        }
    }

    /// A frame of 1500 B takes 1.2 us on the link. From there to 60 us is a gradient of 2.57, which cuts all.
    #[test]
    fn a_first_sample_that_counts() {
        for (first, gbps) in [("stored", 10.0), ("counted", 0.01)] {
            let mut p = TimelyParams::default();
            p.set("first", first).unwrap();
            let mut rig = ReactionRig::new(Timely::new(p, Rule::Original), Rate::from_gbps(10.0));
            rig.begin();
            rig.send(30_000);
            rig.ack(16_000, false, Time::from_us(60), &[]);
            close(Some(rig.rate()), gbps);
        }
    }

    /// At 1 Gb/s 16 KB last 128 us: they leave at the line rate of 10 Gb/s, and the next ones 128 us after the first.
    #[test]
    fn segments_by_hand() {
        let mut p = TimelyParams::default();
        p.set("pacing", "segment").unwrap();
        let mut rig = ReactionRig::new(Timely::new(p, Rule::Original), Rate::from_gbps(10.0));
        rig.site.initial_rate = Some(ONE);
        rig.begin();
        let line = Rate::from_gbps(10.0);
        assert_eq!(rig.rate(), line);
        rig.wait(Time::from_us(13));
        rig.send(16_000);
        assert_eq!(rig.rate(), Rate::ZERO);
        // A sample moves the rate of the segment after the next one.
        rig.ack(16_000, false, Time::from_us(20), &[]);
        rig.ack(16_001, false, Time::from_us(20), &[]);
        rig.wait(Time::from_us(114));
        assert_eq!(rig.rate(), Rate::ZERO);
        rig.wait(Time::from_us(2));
        assert_eq!(rig.rate(), line);
    }

    /// N equal flows at one queue, without delay: q* = q' (1 + N delta / (beta C)).
    #[test]
    fn the_fixed_point_of_2016() {
        let c = 1e10;
        for (n, kb) in [(2.0, 78.125), (10.0, 140.625), (40.0, 375.0)] {
            let mut r = reaction(Rule::Patched, &[("beta", "0.008")]);
            let (mut rate, mut q) = (Rate::from_bps(c / n), 70e3);
            for _ in 0..400_000 {
                rate = r.next(rate, q * 8.0 / c).unwrap_or(rate);
                q = (q + (n * rate.bps() - c) / 8.0 * 1e-6).max(0.0);
            }
            let by_hand = 62.5 * (1.0 + n * 1e7 / (0.008 * c));
            assert!((by_hand - kb).abs() < 1e-9 && (q / 1e3 / kb - 1.0).abs() < 0.01, "N = {n}: {q} {kb}");
        }
    }

    /// Both flows see the same round-trip times: with the rule of 2015 their difference stays, patched it goes.
    #[test]
    fn unequal_flows() {
        let c = 1e10;
        let apart = |rule, beta| {
            let sets = [("beta", beta), ("hai_after", "off")];
            let mut flows = [reaction(rule, &sets), reaction(rule, &sets)];
            let (mut rates, mut q) = ([7.0, 3.0].map(Rate::from_gbps), 75e3);
            for _ in 0..400_000 {
                let rtt = q * 8.0 / c;
                for (flow, rate) in flows.iter_mut().zip(&mut rates) {
                    *rate = flow.next(*rate, rtt).unwrap_or(*rate);
                }
                q = (q + ((rates[0] + rates[1]).bps() - c) / 8.0 * 1e-6).max(0.0);
            }
            (rates[0].bps() - rates[1].bps()).abs() / c
        };
        assert!(apart(Rule::Patched, "0.008") < 0.01, "{}", apart(Rule::Patched, "0.008"));
        assert!(apart(Rule::Original, "0.8") > 0.1, "{}", apart(Rule::Original, "0.8"));
    }
}
