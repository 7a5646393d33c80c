//! # HPCC: high-precision congestion control
//!
//! HPCC reads congestion from the network itself. Each switch port writes a record into a data frame as it begins to leave: the
//! rate of the link, the time, the bytes sent before and the bytes left in the queue. The destination returns the records with
//! the acknowledgement of the frame. From two records of a port the source computes its utilisation `U`, queue included. The
//! source scales its rate so that the largest `U` of the path becomes `eta`. It adds a small step for fairness. A window of a
//! bandwidth-delay product at the present rate bounds the bytes in flight.
//!
//! Sources: Y. Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019 (rules, `eta`, stages; from memory); the
//! simulator of its authors, alibaba-edu/High-Precision-Congestion-Control 9f4be2a (`rdma-hw.cc`, `int-header.h`, `run.py`:
//! read).
//!
//! | paper | here |
//! |---|---|
//! | `u = txRate / B + min(q, q') / (B T)` | [`utilisation`] |
//! | `U = (1 - tau / T) U + tau / T u` of the port with the largest `u` | [`average`] |
//! | `W = W_c / (U / eta) + W_AI`, or `W_c + W_AI` for up to `maxStage` times | [`step`], with `R = W / T` |
//! | `W_c = W` once per round trip | `Reaction::commit` |
//!
//! ## Assumptions, each a parameter
//!
//! * `telemetry = exact`: records hold full numbers. `quantised`: a record has 64 bits, as in the authors' simulator: 24 bits of
//!   nanoseconds, 20 bits of `128 m` sent bytes, 17 bits of `80 m` queued bytes, and 3 bits for the rate of the link.
//! * `base_rtt = 0`: T is the smallest round-trip time of the flow's own path. The authors take the largest of all pairs.
//! * `header = 0`: the window counts all bytes of a frame. The authors' simulator counts the payload alone.
//! * `fast_react`: each acknowledgement moves the rate, from a reference that changes once per round trip. Off: only the first
//!   acknowledgement of a round trip does.
//! * `ai_rate`: W_AI of 80 B at a T of 13 us is 49 Mb/s.
//!
//! ## Deviations
//!
//! * The rate is the state and the window follows, as in the authors' simulator; the paper has it the other way round.
//! * A record keeps the rate of any link. The authors' three bits know 25, 50, 100, 200 and 400 Gb/s.
//! * A new rate moves the time of the frame already scheduled, as in the authors' simulator.
//! * A record that is not later than the one before, or a path of another length, is kept and not used.
//!
//! ## Against the authors' simulator
//!
//! Two flows of 200 MB end there after 35.669855 and 36.685006 ms, and here after 35.840239 and 36.684797 ms. With the payload
//! in frames of 1090 B, `header = 0` would give 36.683 ms for both.
//!
//! ## Fixed point
//!
//! N equal flows at one port settle where `U = eta + N R_AI / B`, without a queue. Tests compare, by the rules alone and in a network.
//! In a network it holds for large pipes alone. Two to ten flows with a round trip of 4.2 us use at most so much less than that:
//!
//! | link | pipe, frames of 1000 B | less by |
//! |---|---|---|
//! | 400 Gb/s | 210 | 0.4 % |
//! | 100 Gb/s | 52 | 1.2 % |
//! | 25 Gb/s | 13 | 4.2 % |
//! | 10 Gb/s | 5 | 7 % |
//!
//! With 30 flows preset `hpcc` fills links of 10 and 25 Gb/s, as 30 times its smallest rate exceeds them.
//!
//! ## Not modelled
//!
//! A rate for each port of the path (`MULTI_RATE`). Probabilistic telemetry (PINT).

use crate::queue_pair::{self, PacedWindow};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, CongestionPoint, Hop, Idle, Limiter, Plan, PointControl, Preset, Queue,
    QueueSite, Rate, ReactionPoint, Registration, Scheme, SourceSite, Time, choice, params,
};
use std::sync::Arc;

choice! {
    /// How exact the records of ports are.
    pub enum Telemetry {
        /// Records hold full numbers.
        Exact = "exact",
        /// A record has 64 bits.
        Quantised = "quantised",
    }
}

params! {
    /// Parameters of HPCC. The defaults are the paper's.
    pub struct HpccParams {
        /// Utilisation that the source aims at (paper, simulator).
        eta: f64 = 0.95, symbol "eta", from 0.01, to 1.0;
        /// Additive steps in a row without a division by the utilisation (paper 5, simulator 0).
        max_stage: u32 = 5, symbol "maxStage", from 0, to 1_000_000;
        /// Additive step of the rate, W_AI / T (the simulator's example 50 Mb/s; its rule 0.4 Mb/s for each Gb/s of the NIC).
        ai_rate: Rate = Rate::from_mbps(50.0), symbol "R_AI", from Rate::from_bps(0.0), to Rate::from_gbps(10_000.0);
        /// Smallest rate (sample file of the simulator 100 Mb/s, its rule 1 Gb/s).
        min_rate: Rate = Rate::from_mbps(100.0), symbol "R_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Base round-trip time; 0 for that of the flow's path.
        base_rtt: Time = Time::ZERO, symbol "T", from Time::ZERO, to Time::from_s(1);
        /// Every acknowledgement moves the rate (paper and simulator: on).
        fast_react: bool = true, symbol "";
        /// How exact the records of ports are.
        telemetry: Telemetry = Telemetry::Exact, symbol "";
        /// Multiplier of the units of quantised records (simulator: Gb/s of the NIC / 25).
        int_multi: u32 = 1, symbol "m", from 1, to 1024;
        /// Bytes of a full frame that the window does not count (simulator: 90 of 1090).
        header: Bytes = Bytes::ZERO, symbol "", from Bytes::ZERO, to Bytes::new(1000);
    }
}

impl HpccParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = Vec::new();
        if self.telemetry == Telemetry::Exact {
            idle.push(("int_multi", "telemetry is exact"));
        }
        idle
    }
}

/// The settings of the authors' simulator.
const PRESETS: [Preset; 1] = [queue_pair::preset_hpcc(|rate| {
    let own = [
        ("max_stage", "0".to_string()),
        ("ai_rate", format!("{} Mb/s", 0.4 * rate.gbps())),
        ("min_rate", queue_pair::preset_floor(rate)),
        ("telemetry", "quantised".into()),
        ("int_multi", format!("{}", (rate.gbps() / 25.0).max(1.0) as u32)),
        ("header", "90 B".into()),
    ];
    own.to_vec()
})];

/// Units of a quantised record: bytes sent, bytes queued.
const UNITS: [u64; 2] = [128, 80];
/// Values that the fields of a quantised record can have: time, bytes sent, bytes queued.
const SPANS: [u64; 3] = [1 << 24, 1 << 20, 1 << 17];

/// A record of a port as the source receives it: in ps and bytes, or in the units of the field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    rate: Rate,
    time: u64,
    sent: u64,
    queue: u64,
}

impl Record {
    /// The record of a port; `multi`: multiplier of the units where it is quantised.
    pub fn of(hop: &Hop, multi: Option<u64>) -> Self {
        let (time, sent, queue) = (hop.time.as_ps(), hop.sent, hop.queue.get());
        match multi {
            None => Self { rate: hop.rate, time, sent, queue },
            Some(m) => Self {
                rate: hop.rate,
                time: time / 1000 % SPANS[0],
                sent: sent / (UNITS[0] * m) % SPANS[1],
                queue: queue / (UNITS[1] * m) % SPANS[2],
            },
        }
    }
}

/// `u` of a port between two records, and the seconds between them; none where the later one is no later.
pub fn utilisation(old: &Record, new: &Record, multi: Option<u64>, t: f64) -> Option<(f64, f64)> {
    let past = |new: u64, old: u64, span: u64| match multi {
        None => new.checked_sub(old),
        Some(_) => Some((new + span - old) % span),
    };
    let ([of_sent, of_queue], of_time) = match multi {
        None => ([1, 1], 1e-12),
        Some(m) => (UNITS.map(|unit| unit * m), 1e-9),
    };
    let tau = past(new.time, old.time, SPANS[0]).filter(|tau| *tau > 0)? as f64 * of_time;
    let bits = past(new.sent, old.sent, SPANS[1])? as f64 * of_sent as f64 * 8.0;
    let queue = new.queue.min(old.queue) as f64 * of_queue as f64 * 8.0;
    let rate = new.rate.bps();
    (rate > 0.0).then(|| (bits / tau / rate + queue / (rate * t), tau))
}

/// `U` after a sample `u` of the last `tau` seconds, with a base round-trip time of `t`.
pub fn average(before: f64, u: f64, tau: f64, t: f64) -> f64 {
    let tau = tau.min(t);
    (before * (t - tau) + u * tau) / t
}

/// The rate and the stage after a reference rate at a stage, with the utilisation `u`.
pub fn step(p: &HpccParams, reference: Rate, stage: u32, u: f64, line: Rate) -> (Rate, u32) {
    let k = u / p.eta;
    let (rate, stage) = match k >= 1.0 || stage >= p.max_stage {
        true => (reference / k + p.ai_rate, 0),
        false => (reference + p.ai_rate, stage + 1),
    };
    (rate.max(p.min_rate).min(line), stage)
}

/// The scheme HPCC with its parameters.
#[derive(Debug)]
pub struct Hpcc(Arc<HpccParams>);

impl Hpcc {
    /// HPCC with these parameters.
    pub fn new(p: HpccParams) -> Self {
        Self(Arc::new(p))
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "high-precision congestion control by telemetry (2019)";
    let text = include_str!("hpcc.rs");
    Registration::with_idle(title, text, HpccParams::default(), HpccParams::idle, Hpcc::new)
        .presets(Rate::from_gbps(100.0), &PRESETS)
        .promise(Promise { warms_up: Time::MAX, ..Promise::reacting(Rate::from_mbps(100.0)) })
}

impl Scheme for Hpcc {
    fn name(&self) -> &str {
        "hpcc"
    }
    fn plan(&self) -> Plan {
        queue_pair::plan(Acks::Telemetry)
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        site.attached.then(|| -> Box<dyn CongestionPoint> { Box::new(Recorder) })
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let t = queue_pair::base_rtt(self.0.base_rtt, site);
        let rate = queue_pair::initial_rate_from(self.0.min_rate, site);
        Some(Box::new(Reaction {
            p: self.0.clone(),
            window: PacedWindow::new(t, self.0.header, site),
            t: t.as_secs_f64(),
            reference: rate,
            u: 1.0,
            stage: 0,
            last: Vec::new(),
            update_after: None,
        }))
    }
    fn repeats(&self) -> bool {
        self.0.telemetry == Telemetry::Exact
    }
}

/// The congestion point: it has the network write records.
#[derive(Debug)]
struct Recorder;

impl CongestionPoint for Recorder {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.record_departures();
    }
}

/// The reaction point: one for each queue pair.
#[derive(Debug)]
struct Reaction {
    p: Arc<HpccParams>,
    window: PacedWindow,
    /// Base round-trip time, s.
    t: f64,
    /// `R_c`: the rate at the last commitment.
    reference: Rate,
    /// Average utilisation.
    u: f64,
    stage: u32,
    /// The last records, the first switch first.
    last: Vec<Record>,
    /// An acknowledgement of more than this commits; none before the first.
    update_after: Option<Bytes>,
}

impl Reaction {
    fn multi(&self) -> Option<u64> {
        (self.p.telemetry == Telemetry::Quantised).then_some(u64::from(self.p.int_multi))
    }

    fn set(&self, rate: Rate, limiter: &mut Limiter<'_>) {
        limiter.set_rate(rate);
        limiter.set_window(self.window.at(rate));
        limiter.retime();
    }

    /// Keeps the records; the largest `u` with its `tau`, where it can be computed.
    fn measure(&mut self, path: &[Hop]) -> Option<(f64, f64)> {
        let (multi, t) = (self.multi(), self.t);
        let new = path.iter().map(|hop| Record::of(hop, multi));
        if self.last.len() != path.len() {
            self.last = new.collect();
            return None;
        }
        let mut largest: Option<(f64, f64)> = None;
        for (old, new) in self.last.iter_mut().zip(new) {
            let found = utilisation(old, &new, multi, t);
            if found.is_some_and(|(u, _)| largest.is_none_or(|(most, _)| u > most)) {
                largest = found;
            }
            *old = new;
        }
        largest
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        self.set(self.reference, limiter);
        limiter.wake_on_acks(if self.p.fast_react { AckGate::EACH } else { AckGate::PER_WINDOW });
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        let Some(after) = self.update_after else {
            self.measure(ack.path);
            self.update_after = Some(limiter.next_seq());
            return;
        };
        let commit = ack.acked > after;
        if let Some((u, tau)) = self.measure(ack.path) {
            self.u = average(self.u, u, tau, self.t);
            let (rate, stage) = step(&self.p, self.reference, self.stage, self.u, limiter.line_rate());
            self.set(rate, limiter);
            if commit {
                (self.reference, self.stage) = (rate, stage);
            }
        }
        if commit {
            self.update_after = Some(limiter.next_seq().max(after));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::testing::ReactionRig;

    const LINE: Rate = Rate::from_gbps(100.0);

    fn hop(ns: u64, sent: u64, queue: u64) -> Hop {
        Hop { rate: LINE, time: Time::from_ns(ns), sent, queue: Bytes::new(queue) }
    }

    /// 50,000 B in 5 us are 80 Gb/s of 100; the smaller queue of 10,000 B is 0.8 us of a T of 4 us: 0.8 + 0.2.
    #[test]
    fn utilisation_by_hand() {
        let (old, new) = (hop(1000, 7000, 10_000), hop(6000, 57_000, 30_000));
        let u = |multi| utilisation(&Record::of(&old, multi), &Record::of(&new, multi), multi, 4e-6).unwrap();
        let (exact, tau) = u(None);
        assert!((exact - 1.0).abs() < 1e-12 && (tau - 5e-6).abs() < 1e-18, "{exact} {tau}");
        // m = 4: 7000 and 57,000 are 13 and 111 times 512 B; 10,000 is 31 times 320 B.
        let (coarse, tau) = u(Some(4));
        let by_hand = 98.0 * 512.0 * 8.0 / 5e-6 / 1e11 + 31.0 * 320.0 * 8.0 / (1e11 * 4e-6);
        assert!((coarse - by_hand).abs() < 1e-12 && (tau - 5e-6).abs() < 1e-18, "{coarse} {by_hand}");
    }

    /// 24 bits of ns and 20 bits of 128 B wrap; the difference does not.
    #[test]
    fn quantised_records_wrap() {
        let (old, new) =
            (hop((1 << 24) - 1000, (1 << 27) - 12_800, 0), hop((1 << 24) + 1000, (1 << 27) + 12_800, 0));
        let multi = Some(1);
        let (u, tau) = utilisation(&Record::of(&old, multi), &Record::of(&new, multi), multi, 4e-6).unwrap();
        assert!((tau - 2e-6).abs() < 1e-18 && (u - 25_600.0 * 8.0 / 2e-6 / 1e11).abs() < 1e-12, "{u} {tau}");
        assert_eq!(utilisation(&Record::of(&new, None), &Record::of(&old, None), None, 4e-6), None);
    }

    #[test]
    fn averages_and_steps_by_hand() {
        assert_eq!(average(1.0, 0.5, 1e-6, 4e-6), 0.875);
        assert_eq!(average(1.0, 0.5, 9e-6, 4e-6), 0.5);
        let p = HpccParams { max_stage: 2, eta: 0.5, ..HpccParams::default() };
        let at = |stage, u| step(&p, Rate::from_gbps(40.0), stage, u, LINE);
        assert_eq!(at(0, 0.25), (Rate::from_gbps(40.05), 1));
        assert_eq!(at(2, 0.25), (Rate::from_gbps(80.05), 0));
        assert_eq!(at(0, 1.0), (Rate::from_gbps(20.05), 0));
        // At the target utilisation itself the rate falls to its share, which is all of it.
        assert_eq!(at(0, 0.5), (Rate::from_gbps(40.05), 0));
        assert_eq!(at(0, 0.8), (Rate::from_gbps(25.05), 0));
        assert_eq!(at(0, 1e9).0, p.min_rate);
        assert_eq!(at(2, 1e-9).0, LINE);
    }

    /// The first acknowledgement moves nothing. Those of one round trip move the rate from one reference; the first of the next
    /// commits. The window is that of the rate, and the scheduled frame is timed anew.
    #[test]
    fn a_round_trip_by_hand() {
        let p = HpccParams { max_stage: 0, ai_rate: Rate::ZERO, ..HpccParams::default() };
        let mut rig = ReactionRig::new(Hpcc::new(p), LINE);
        rig.site.base_rtt = Time::from_us(4);
        rig.begin();
        assert_eq!((rig.rate(), rig.state().acks.window), (LINE, 50_000));
        for _ in 0..10 {
            rig.frame(1000);
        }
        let rtt = Time::from_us(4);
        rig.ack(1000, false, rtt, &[hop(0, 0, 0)]);
        assert_eq!(rig.rate(), LINE);
        // Twice what the target allows, for a whole T: U = 1.9.
        let busy = |k: u64| [hop(4000 * k, 95_000 * k, 0)];
        rig.ack(2000, false, rtt, &busy(1));
        assert!((rig.rate().gbps() - 50.0).abs() < 1e-9, "{}", rig.rate());
        assert_eq!((rig.state().acks.window, rig.state().retime), (25_000, true));
        rig.ack(3000, false, rtt, &busy(2));
        assert!(
            (rig.rate().gbps() - 50.0).abs() < 1e-9,
            "the reference stays within a round trip: {}",
            rig.rate()
        );
        for _ in 0..5 {
            rig.frame(1000);
        }
        rig.ack(11_000, false, rtt, &busy(3));
        rig.ack(12_000, false, rtt, &busy(4));
        assert!((rig.rate().gbps() - 25.0).abs() < 1e-9, "{}", rig.rate());
        rig.ack(12_500, false, rtt, &busy(5));
        assert!((rig.rate().gbps() - 25.0).abs() < 1e-9, "{}", rig.rate());
    }

    /// Of two ports with the same utilisation the first one's time counts: 95 % above the target for all of T, U = 1.9, half the rate.
    #[test]
    fn the_first_of_two_equal_ports_counts() {
        let p = HpccParams { max_stage: 0, ai_rate: Rate::ZERO, ..HpccParams::default() };
        let mut rig = ReactionRig::new(Hpcc::new(p), LINE);
        rig.site.base_rtt = Time::from_us(4);
        rig.begin();
        (0..10).for_each(|_| _ = rig.frame(1000));
        rig.ack(1000, false, Time::from_us(4), &[hop(0, 0, 0), hop(0, 0, 0)]);
        rig.ack(2000, false, Time::from_us(4), &[hop(4000, 95_000, 0), hop(2000, 47_500, 0)]);
        assert!((rig.rate().gbps() - 50.0).abs() < 1e-9, "{}", rig.rate());
    }

    /// N equal flows at one port that follow the mean of their rates settle at a utilisation of `eta`, plus the steps.
    #[test]
    fn the_fixed_point() {
        let (n, t) = (8.0, 8e-6);
        let p = HpccParams { max_stage: 0, ..HpccParams::default() };
        let (mut rate, mut u, mut stage) = (LINE, 1.0, 0);
        for _ in 0..200 {
            u = average(u, n * rate.bps() / LINE.bps(), t, t);
            (rate, stage) = step(&p, rate, stage, u, LINE);
        }
        // U = eta U / U + N R_AI / B.
        let fixed = p.eta + n * p.ai_rate.bps() / LINE.bps();
        assert!((u - fixed).abs() < 1e-9, "{u} {fixed}");
    }

    /// A window that counts payload holds as many frames as one of 1000 B frames.
    #[test]
    fn windows_of_payload() {
        let rig = |header| {
            let mut rig = ReactionRig::new(Hpcc::new(HpccParams { header, ..HpccParams::default() }), LINE);
            (rig.site.base_rtt, rig.site.mtu) = (Time::from_ns(4160), Bytes::new(1090));
            rig.begin();
            rig.state().acks.window
        };
        assert_eq!((rig(Bytes::ZERO), rig(Bytes::new(90))), (52_000, 56_680));
    }
}
