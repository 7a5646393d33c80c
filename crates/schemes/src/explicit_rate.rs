//! # Advertised rates: the part that BECN and FECN share
//!
//! BECN and FECN advertise rates that ports compute in the same way. Every interval T a port divides the rate that arrived by
//! the rate that it wants to carry, `f(q) C`. The result is the load factor; the port divides its advertised rate by it. The
//! factor f(q) is a hyperbola through 1 at the set point. A short queue asks for slightly more than the line rate, a long one
//! for less, down to half of it. One such step brings the arrivals to `f(q) C`, for any number of sources that answer within T.
//! [`crate::becn`] and [`crate::fecn`] differ in how the rate reaches the sources.
//!
//! Sources: C07 (a, b, c, Q_eq, T); R. Jain and others, IEEE 802.1 decks of November 2006 (BECN) and January to March 2007
//! (FECN). Only outlines of the decks are public; the hyperbola is from memory.
//!
//! | paper | here |
//! |---|---|
//! | `f(q)` | [`queue_control`] |
//! | `rho = A / (f(q) C)` | [`load_factor`] |
//! | `r / rho`, within [r_min, C] | [`next_rate`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `r_min` and `eps` are not printed: 10 Mb/s and 1/64. An idle port thus multiplies its rate by 64 an interval, up to C.
//! * `n0` = 10: a port's first rate and a source's are C / N0.
//! * `rate_averaging`: nothing is averaged (BECN), or the *rate* with weight `alpha` = 0.5 (FECN); `load` averages rho.
//! * `capacity`: C is the nominal rate of the port's own link, or the rate at which it is served at present (variable
//!   capacity).
//! * `phase = random`: each port's intervals have their own phase. With `common`, all ports measure and send together. The
//!   overhead printed for 12 ms excludes `common` (3.93 or 4.42 Mb/s instead of 4.1).
//!
//! ## Fixed here
//!
//! The first interval ends at its phase, counts as a whole one, and sends. The limits of an increase (`max_increase_factor`,
//! `max_increase`) apply before the average. Arrivals include control frames.

use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Bytes, Idle, ParamError, ParamInfo, Params, PointControl, Queue, Rate, Slot, Time, choice, params,
};
use std::sync::Arc;

/// The promise of both schemes: rates start at a tenth of the line.
pub(crate) fn promise() -> Promise {
    Promise { warms_up: Time::from_ms(5), ..Promise::reacting(Rate::from_mbps(10.0)) }
}

choice! {
    /// The quantity that is averaged exponentially.
    pub enum Averaging {
        /// Nothing is averaged.
        Off = "off",
        /// The advertised rate is averaged: r = (1 - alpha) r + alpha r_new.
        Rate = "rate",
        /// The load factor is averaged, before it divides the rate.
        Load = "load",
    }
}

choice! {
    /// Which capacity a port divides among its sources.
    pub enum Capacity {
        /// The nominal rate of its link.
        Nominal = "nominal",
        /// The rate at which it serves data at the end of the interval.
        Service = "service",
    }
}

choice! {
    /// When a port's intervals end.
    pub enum Phase {
        /// Each port's intervals end at a moment of its own, random within T.
        Random = "random",
        /// The intervals of all ports end together.
        Common = "common",
    }
}

params! {
    /// Parameters of the advertised rate, with the defaults of C07 (BECN).
    pub struct ExplicitRateParams {
        /// Measurement interval (C07: 30 us, 300 us, 3 ms, 12 ms).
        interval: Time = Time::from_us(30), symbol "T", from Time::from_us(1), to Time::from_ms(10_000);
        /// When a port's intervals end (derived from C07's overhead at 12 ms).
        phase: Phase = Phase::Random, symbol "";
        /// The wanted load falls as the queue grows (C07); off: f = 1.
        queue_control: bool = true, symbol "f(q)";
        /// Wanted load at an empty queue (C07).
        a: f64 = 1.05, symbol "a", from 1.0, to 10.0;
        /// Steepness above the set point; larger is flatter (C07).
        b: f64 = 1.2, symbol "b", from 1.001, to 1000.0;
        /// Smallest wanted load (C07).
        c: f64 = 0.5, symbol "c", from 0.01, to 1.0;
        /// Set point of the queue (375 pages, C07).
        q_eq: Bytes = Bytes::new(24_000), symbol "Q_eq", from Bytes::new(64), to Bytes::from_mb(100);
        /// Sources expected at the start: first rates are C / N0 (from memory; FECN's sensitivity runs had 20 to 100).
        n0: u32 = 10, symbol "N_0", from 1, to 1_000_000;
        /// Smallest advertised rate, and smallest rate of a limiter (assumed).
        r_min: Rate = Rate::from_mbps(10.0), symbol "r_min", from Rate::from_bps(1e4), to Rate::from_gbps(10_000.0);
        /// Smallest load factor that a rate is divided by (assumed).
        eps: f64 = 1.0 / 64.0, symbol "eps", from 1e-9, to 1.0;
        /// The quantity that is averaged exponentially (assumed).
        rate_averaging: Averaging = Averaging::Off, symbol "";
        /// Weight of the new value in the average (assumed).
        alpha: f64 = 0.5, symbol "alpha", from 0.001, to 1.0;
        /// Largest factor of an increase per interval (an option of the authors), off for none.
        max_increase_factor: Option<f64> = None, symbol "", from Some(1.001), to Some(1e9);
        /// Largest increase per interval (an option of FECN's authors), off for none.
        max_increase: Option<Rate> = None, symbol "Delta r", from Some(Rate::from_bps(1.0)), to Some(Rate::from_gbps(10_000.0));
        /// Which capacity is divided (service: an option of FECN's authors).
        capacity: Capacity = Capacity::Nominal, symbol "C";
    }
}

impl ExplicitRateParams {
    /// The defaults of FECN: as BECN, with the rate averaged.
    pub fn fecn() -> Self {
        Self { rate_averaging: Averaging::Rate, ..Self::default() }
    }

    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = Vec::new();
        if !self.queue_control {
            idle.extend(["a", "b", "c", "q_eq"].map(|key| (key, "queue_control is off")));
        }
        if self.rate_averaging == Averaging::Off {
            idle.push(("alpha", "rate_averaging is off"));
        }
        idle
    }

    /// `C / N0`: the first rate of a port or a source.
    pub fn first_rate(&self, capacity: Rate) -> Rate {
        first_rate(capacity, self.n0, self.r_min)
    }
}

/// `C / N0`, not below the smallest rate nor above the capacity.
pub(crate) fn first_rate(capacity: Rate, n0: u32, r_min: Rate) -> Rate {
    (capacity / f64::from(n0)).max(r_min).min(capacity)
}

/// `f(q)`: `a Q_eq / ((a - 1) q + Q_eq)` up to the set point, `b Q_eq / ((b - 1) q + Q_eq)` above it, not below c.
pub fn queue_control(p: &ExplicitRateParams, q: Bytes) -> f64 {
    if !p.queue_control {
        return 1.0;
    }
    let (q, q_eq) = (q.as_f64(), p.q_eq.as_f64());
    if q <= q_eq {
        p.a * q_eq / ((p.a - 1.0) * q + q_eq)
    } else {
        (p.b * q_eq / ((p.b - 1.0) * q + q_eq)).max(p.c)
    }
}

/// `rho = A / (f(q) C)`, with `arrived` bytes in an interval T.
pub fn load_factor(p: &ExplicitRateParams, arrived: u64, q: Bytes, capacity: Rate) -> f64 {
    let rate = arrived as f64 * 8.0 / p.interval.as_secs_f64();
    rate / (queue_control(p, q) * capacity.bps()).max(1.0)
}

/// `r / max(rho, eps)` within [r_min, C], the increase limited, then averaged if that is asked for.
pub fn next_rate(p: &ExplicitRateParams, r: Rate, rho: f64, capacity: Rate) -> Rate {
    let mut next = (r / rho.max(p.eps)).max(p.r_min);
    if let Some(factor) = p.max_increase_factor {
        next = next.min(r * factor);
    }
    if let Some(step) = p.max_increase {
        next = next.min(r + step);
    }
    next = next.min(capacity);
    if p.rate_averaging == Averaging::Rate { r * (1.0 - p.alpha) + next * p.alpha } else { next }
}

/// Timer of the measurement interval.
pub(crate) const INTERVAL: Slot = Slot(0);

/// A port that measures and computes.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Parameters of all ports.
    p: Arc<ExplicitRateParams>,
    /// Nominal rate of the link: a port without one has it too.
    line: Rate,
    /// Advertised rate.
    pub(crate) rate: Rate,
    /// Averaged load factor, once there is one.
    rho: Option<f64>,
    /// Bytes that had arrived at the end of the last interval.
    arrived: u64,
}

impl Meter {
    pub(crate) fn new(p: Arc<ExplicitRateParams>, line: Rate) -> Self {
        Self { rate: p.first_rate(line), p, line, rho: None, arrived: 0 }
    }

    /// Starts the first interval, so that it ends at the phase.
    pub(crate) fn start(&self, ctl: &mut PointControl<'_>) {
        let phase = match self.p.phase {
            Phase::Random => self.p.interval.scale(ctl.uniform()),
            Phase::Common => self.p.interval,
        };
        ctl.start_timer(INTERVAL, phase);
    }

    /// An interval has ended: computes the rate and starts the next.
    pub(crate) fn measure(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) -> Rate {
        let capacity = match self.p.capacity {
            Capacity::Nominal => self.line,
            Capacity::Service => queue.service_rate.min(self.line).max(self.p.r_min),
        };
        let arrived = queue.arrived - std::mem::replace(&mut self.arrived, queue.arrived);
        let mut rho = load_factor(&self.p, arrived, queue.len, capacity);
        if self.p.rate_averaging == Averaging::Load {
            let last = self.rho.unwrap_or(rho);
            rho = last + self.p.alpha * (rho - last);
            self.rho = Some(rho);
        }
        self.rate = next_rate(&self.p, self.rate, rho, capacity);
        ctl.start_timer(INTERVAL, self.p.interval);
        self.rate
    }
}

/// The shared parameters, and those of one scheme beside them, as one flat list.
#[derive(Clone, Debug)]
pub struct WithOwn<P> {
    /// The parameters of the advertised rate, which all ports share.
    pub port: Arc<ExplicitRateParams>,
    /// The parameters that the scheme alone has.
    pub own: P,
}

impl<P: Params> Params for WithOwn<P> {
    fn info() -> Vec<ParamInfo> {
        let mut all = ExplicitRateParams::info();
        all.extend(P::info());
        all
    }
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError> {
        if ExplicitRateParams::info().iter().any(|i| i.key == key) {
            return Arc::make_mut(&mut self.port).set(key, text);
        }
        if P::info().iter().any(|i| i.key == key) {
            return self.own.set(key, text);
        }
        let info = Self::info();
        let known: Vec<&str> = info.iter().map(|i| i.key.as_str()).collect();
        Err(cnsim_scheme_api::params::unknown(key, &known))
    }
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut all = self.port.values();
        all.extend(self.own.values());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::{Lent, PointAction, PointState, Purpose, Stream};

    const LINE: f64 = 10.0;

    fn defaults() -> ExplicitRateParams {
        ExplicitRateParams::default()
    }
    fn f(q: u64) -> f64 {
        queue_control(&defaults(), Bytes::new(q))
    }
    fn close(x: f64, y: f64) -> bool {
        (x - y).abs() < 1e-9
    }

    /// a = 1.05, b = 1.2, c = 0.5, Q_eq = 24 kB. At 12 kB 1.05 x 24 / (0.05 x 12 + 24) = 25.2 / 24.6; at 48 kB
    /// 1.2 x 24 / (0.2 x 48 + 24) = 28.8 / 33.6 = 6/7; the floor is reached where 28.8 / (0.2 q + 24) = 0.5: 168 kB.
    #[test]
    fn hyperbola_by_hand() {
        assert!(close(f(0), 1.05));
        assert!(close(f(12_000), 25.2 / 24.6));
        assert!(close(f(24_000), 1.0));
        let above = f(24_001);
        assert!(above < 1.0 && above > 1.0 - 1e-5, "1 from above as well: {above}");
        assert!(close(f(48_000), 6.0 / 7.0));
        assert!(f(167_000) > 0.5 && close(f(168_000), 0.5));
        assert_eq!(f(1_000_000), 0.5);
        for q in (0..168_000).step_by(500) {
            assert!(f(q + 500) < f(q), "falls at {q}");
        }
        assert_eq!(
            queue_control(&ExplicitRateParams { queue_control: false, ..defaults() }, Bytes::new(0)),
            1.0
        );
    }

    /// 37.5 kB in 30 us are 10 Gb/s. At the set point rho = 1; at an empty queue 1 / 1.05; at twice Q_eq 7/6.
    #[test]
    fn load_by_hand() {
        let rho = |bytes, q, gbps| load_factor(&defaults(), bytes, Bytes::new(q), Rate::from_gbps(gbps));
        assert!(close(rho(37_500, 24_000, LINE), 1.0));
        assert!(close(rho(37_500, 0, LINE), 1.0 / 1.05));
        assert!(close(rho(37_500, 48_000, LINE), 7.0 / 6.0));
        assert!(close(rho(37_500, 24_000, 1.0), 10.0));
        assert_eq!(rho(0, 0, LINE), 0.0);
    }

    /// r = 1 Gb/s: doubled at rho = 1/2, halved at 2; 64-fold at most, then C; not below 10 Mb/s.
    #[test]
    fn rates_by_hand() {
        let next = |p: &ExplicitRateParams, mbps, rho| {
            next_rate(p, Rate::from_mbps(mbps), rho, Rate::from_gbps(LINE)).mbps()
        };
        let p = defaults();
        assert!(close(next(&p, 1000.0, 0.5), 2000.0));
        assert!(close(next(&p, 1000.0, 2.0), 500.0));
        assert!(close(next(&p, 10.0, 0.0), 640.0));
        assert_eq!(next(&p, 1000.0, 0.0), 10_000.0);
        assert_eq!(next(&p, 15.0, 100.0), 10.0);
        let p = ExplicitRateParams::fecn();
        assert!(close(next(&p, 1000.0, 0.5), 1500.0), "halfway from 1000 to 2000");
        assert!(close(next(&p, 1000.0, 0.0), 5500.0), "clamped to C before the average");
        let p = ExplicitRateParams { max_increase_factor: Some(1.5), ..defaults() };
        assert!(close(next(&p, 1000.0, 0.5), 1500.0));
        assert!(close(next(&p, 1000.0, 4.0), 250.0), "a decrease is not limited");
        let p = ExplicitRateParams { max_increase: Some(Rate::from_mbps(100.0)), ..defaults() };
        assert!(close(next(&p, 1000.0, 0.5), 1100.0));
        assert!(close(defaults().first_rate(Rate::from_gbps(LINE)).mbps(), 1000.0));
    }

    fn measured(meter: &mut Meter, arrived: u64, len: u64, service: f64) -> (f64, Vec<PointAction>) {
        let (mut actions, mut state) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
        let mut ctl = PointControl::new(Time::ZERO, &mut state, &mut actions);
        let queue = Queue {
            len: Bytes::new(len),
            line_rate: Rate::from_gbps(LINE),
            service_rate: Rate::from_gbps(service),
            arrived,
            ..Queue::default()
        };
        (meter.measure(&queue, &mut ctl).mbps(), actions)
    }

    /// 75 kB, then no more in the next interval: 20 Gb/s halve 1 Gb/s, silence multiplies by 64 up to C.
    #[test]
    fn a_meter_counts_what_is_new() {
        let mut meter = Meter::new(Arc::new(defaults()), Rate::from_gbps(LINE));
        let (rate, actions) = measured(&mut meter, 75_000, 24_000, LINE);
        assert!(close(rate, 500.0));
        assert!(matches!(actions[..], [PointAction::StartTimer(INTERVAL, t)] if t == Time::from_us(30)));
        assert!(close(measured(&mut meter, 75_000, 24_000, LINE).0, 10_000.0));
    }

    /// rho 2, then 0: averaged with weight 1/2 it is 2, then 1, and the rate stays.
    #[test]
    fn averaging_the_load() {
        let p = ExplicitRateParams { rate_averaging: Averaging::Load, ..defaults() };
        let mut meter = Meter::new(Arc::new(p), Rate::from_gbps(LINE));
        assert!(close(measured(&mut meter, 75_000, 24_000, LINE).0, 500.0));
        assert!(close(measured(&mut meter, 75_000, 24_000, LINE).0, 500.0));
    }

    /// Served at 1 Gb/s, 10 Gb/s of arrivals are a tenfold overload; nominally they are none.
    #[test]
    fn capacity_by_service() {
        for (capacity, mbps) in [(Capacity::Nominal, 1000.0), (Capacity::Service, 100.0)] {
            let mut meter =
                Meter::new(Arc::new(ExplicitRateParams { capacity, ..defaults() }), Rate::from_gbps(LINE));
            assert!(close(measured(&mut meter, 37_500, 24_000, 1.0).0, mbps));
        }
    }

    #[test]
    fn idle_keys_and_names() {
        let mut p = WithOwn { port: Arc::new(defaults()), own: defaults() };
        assert_eq!(p.port.idle(), [("alpha", "rate_averaging is off")]);
        p.set("rate_averaging", "load").unwrap();
        p.set("queue_control", "off").unwrap();
        assert_eq!(p.port.idle().len(), 4);
        assert!(p.set("intervall", "3 ms").unwrap_err().remedy.contains("`interval`"));
        assert!(p.set("max_increase_factor", "0.5").is_err());
    }
}
