//! # BBR-like: rate and window from samples of delivery
//!
//! No loss and no mark moves it. Once a round trip the source has a sample of what was delivered in that time. The largest of the last
//! rounds is the bandwidth of the path, and the least round trip its length. The rate is the bandwidth times a gain, and the window
//! twice the product of both. It starts with a large gain until the bandwidth grows no more, drains what has queued up, and then asks
//! for more in one of eight round trips. TCP's transport below it decides which frames go again.
//!
//! Sources: N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 2016, from memory.
//!
//! ## Deviations
//!
//! A round has one sample, not each acknowledgement. The least round trip is never measured anew. A timeout changes nothing.

use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Bytes, Limiter, Plan, Rate, ReactionPoint, Registration, Scheme, SourceSite, Time,
    params,
};
use std::collections::VecDeque;

params! {
    /// Parameters of the BBR-like scheme.
    pub struct Bbr {
        /// Window before the first sample, frames.
        initial_window: u32 = 10, symbol "IW", from 1, to 1_000_000;
        /// Gain of the rate at the start.
        startup: f64 = 2.885, symbol "", from 1.1, to 10.0;
        /// Gain of the rate in one of eight round trips.
        probe: f64 = 1.25, symbol "", from 1.0, to 2.0;
        /// Window, as a multiple of bandwidth and least round trip.
        window_gain: f64 = 2.0, symbol "", from 1.0, to 10.0;
        /// Rounds whose samples count.
        memory: u32 = 10, symbol "", from 1, to 1000;
        /// Smallest rate.
        min_rate: Rate = Rate::from_mbps(1.0), symbol "", from Rate::from_mbps(0.01), to Rate::from_gbps(10.0);
    }
}

/// How it is registered.
pub fn registration() -> Registration {
    let title = "rate and window from samples of delivery, as BBR's";
    let promise = Promise { floor: Rate::from_mbps(0.01), warms_up: Time::MAX, ..Promise::default() };
    Registration::new(title, include_str!("bbr.rs"), Bbr::default(), |p| p).promise(promise)
}

impl Scheme for Bbr {
    fn name(&self) -> &str {
        "my-bbr"
    }
    fn plan(&self) -> Plan {
        Plan { paces: true, ..Plan::acknowledged(Acks::Needed) }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction {
            p: self.clone(),
            frame: site.mtu.as_f64(),
            phase: Phase::Startup { best: 0.0, rounds: 0 },
            least: None,
            samples: VecDeque::new(),
            round: None,
        }))
    }
}

/// What a flow is about.
#[derive(Debug)]
enum Phase {
    /// The bandwidth grows: that when it last did so by a quarter, B/s, and rounds since.
    Startup { best: f64, rounds: u32 },
    /// What has queued up leaves.
    Drain,
    /// One of eight parts of a cycle, and when the next one begins.
    Cycle { part: u32, until: Time },
}

/// A round trip: when it began, what had been delivered by then, and the byte whose acknowledgement ends it.
#[derive(Debug)]
struct Round {
    begun: Time,
    delivered: Bytes,
    end: Bytes,
}

#[derive(Debug)]
struct Reaction {
    p: Bbr,
    /// Bytes of a full frame.
    frame: f64,
    phase: Phase,
    /// The least round trip.
    least: Option<Time>,
    /// Samples of delivery, B/s, the last one at the end.
    samples: VecDeque<f64>,
    round: Option<Round>,
}

impl Reaction {
    fn bandwidth(&self) -> f64 {
        self.samples.iter().copied().fold(0.0, f64::max)
    }

    /// A round trip is over.
    fn sample(&mut self, bytes: f64, time: Time) {
        self.samples.push_back(bytes / time.as_secs_f64());
        if self.samples.len() > self.p.memory as usize {
            self.samples.pop_front();
        }
        let now = self.bandwidth();
        if let Phase::Startup { best, rounds } = &mut self.phase {
            (*best, *rounds) = if now >= 1.25 * *best { (now, 0) } else { (*best, *rounds + 1) };
            if *rounds == 3 {
                self.phase = Phase::Drain;
            }
        }
    }

    /// Sets rate and window.
    fn apply(&mut self, limiter: &mut Limiter<'_>) {
        let (Some(least), bandwidth) = (self.least, self.bandwidth()) else { return };
        if bandwidth == 0.0 {
            return;
        }
        let (now, product) = (limiter.now(), bandwidth * least.as_secs_f64());
        match &mut self.phase {
            Phase::Drain if limiter.in_flight().as_f64() <= product => {
                self.phase = Phase::Cycle { part: 2, until: now + least };
            }
            Phase::Cycle { part, until } if now >= *until => {
                (*part, *until) = ((*part + 1) % 8, now + least);
            }
            _ => {}
        }
        let gain = match self.phase {
            Phase::Startup { .. } => self.p.startup,
            Phase::Drain => 1.0 / self.p.startup,
            Phase::Cycle { part: 0, .. } => self.p.probe,
            Phase::Cycle { part: 1, .. } => 1.0 / self.p.probe,
            Phase::Cycle { .. } => 1.0,
        };
        let rate = Rate::from_bps(gain * bandwidth * 8.0);
        limiter.set_rate(rate.max(self.p.min_rate).min(limiter.line_rate()));
        let starts = matches!(self.phase, Phase::Startup { .. });
        let window =
            if starts { self.p.startup.max(self.p.window_gain) } else { self.p.window_gain } * product;
        limiter.set_window(Bytes::new(window.max(4.0 * self.frame) as u64));
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.wake_on_acks(AckGate::EACH);
        limiter.set_window(Bytes::new((f64::from(self.p.initial_window) * self.frame) as u64));
    }

    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        let (now, delivered) = (limiter.now(), ack.acked + limiter.reported());
        self.least = Some(self.least.map_or(ack.rtt, |least| least.min(ack.rtt)));
        if self.round.as_ref().is_none_or(|round| ack.acked >= round.end) {
            let next = Round { begun: now, delivered, end: limiter.next_seq() };
            if let Some(last) = self.round.replace(next).filter(|last| last.begun < now) {
                self.sample(delivered.as_f64() - last.delivered.as_f64(), now - last.begun);
            }
        }
        self.apply(limiter);
    }
}
