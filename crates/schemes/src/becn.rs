//! # BECN: every port advertises its rate to every host
//!
//! Every interval T, each output port computes an advertised rate from its load and queue ([`crate::explicit_rate`]). It
//! broadcasts the rate to all hosts, even if no frames pass the port. A host keeps the latest rate of each port. All its
//! traffic together is limited to the smallest of them, so the worst congestion anywhere limits every host. The flows of one
//! bottleneck get equal rates within a few intervals. The cost is the number of ports x 64 B per T on every access link. If two
//! bottlenecks have different rates, capacity stays unused.
//!
//! Sources: R. Jain and others, IEEE 802.1 deck of November 2006; C07 (parameters, overhead, topologies). The overhead printed
//! there, 1.63 Gb/s at 30 us, equals 6 x 16 ports x 512 bit / T. So idle ports broadcast, too.
//!
//! | paper | here |
//! |---|---|
//! | `BECN{CPID, r}` to every host each T | [`Feedback::AdvertisedRate`], a broadcast |
//! | `R = min over CPs of r` | [`Heard::smallest`] |
//! | one rate for all traffic of a host | [`Scope::Host`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `unattached_ports`: ports without a link send as well (96 congestion points in C07's topologies).
//! * `start`: a host's first rate C / N0 holds until the first message, or until a whole interval has passed. In both cases,
//!   ports that have not sent a message are ignored.
//! * Those of the advertised rate: see [`crate::explicit_rate`].
//!
//! ## Not modelled
//!
//! Ageing: the last rate of a port that falls silent stays in force.

use crate::counters::BECN_MESSAGES;
use crate::explicit_rate::{self, ExplicitRateParams, INTERVAL, Meter, WithOwn};
use cnsim_scheme_api::{
    Built, CongestionPoint, Counter, Feedback, Idle, Limiter, Plan, PointControl, PointId, Queue, QueueSite,
    Rate, ReactionPoint, Registration, Scheme, Scope, Slot, SourceSite, Speaks, choice, params,
};
use std::sync::Arc;

choice! {
    /// How long a host's first rate holds.
    pub enum Start {
        /// Until the first message.
        FirstMessage = "first-message",
        /// For one interval, in which every port sends once.
        FirstInterval = "first-interval",
    }
}

params! {
    /// Parameters that BECN adds to those of the advertised rate.
    pub struct BecnOwn {
        /// Ports without a link advertise as well (derived from the overhead in C07).
        unattached_ports: bool = true, symbol "";
        /// How long a host's first rate C / N0 holds (assumed).
        start: Start = Start::FirstMessage, symbol "";
    }
}

/// All parameters of BECN.
pub type BecnParams = WithOwn<BecnOwn>;

impl Default for BecnParams {
    fn default() -> Self {
        Self { port: Arc::new(ExplicitRateParams::default()), own: BecnOwn::default() }
    }
}

impl BecnParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        self.port.idle()
    }
}

/// The latest rate of each congestion point that has sent one.
#[derive(Debug, Default)]
pub struct Heard {
    /// Identity of the first one, and bits per second in the order of identities: these are numbers, and where all ports send,
    /// they have no gaps. A source has a rate of every port, so this is as small as it can be.
    first: u32,
    rates: Vec<f64>,
    /// Flows whose number is too high for `rates`, in order.
    far: Vec<(u32, f64)>,
    smallest: Option<Rate>,
}

/// Entry of a point that has not sent a rate.
const SILENT: f64 = f64::INFINITY;

/// Most identities from the first to the last in one table.
const SPAN: usize = 1 << 18;

impl Heard {
    /// Notes the rate that a congestion point advertises.
    pub fn note(&mut self, point: PointId, rate: Rate) {
        let at = point.0.wrapping_sub(self.first) as usize;
        let old = match self.rates.get_mut(at) {
            Some(r) => std::mem::replace(r, rate.bps()),
            None => self.note_outside(point.0, rate.bps()),
        };
        // Looks through all ports only when the ruling one has let go.
        self.smallest = match self.smallest {
            Some(s) if rate > s && old == s.bps() => {
                let all = self.rates.iter().copied().chain(self.far.iter().map(|f| f.1));
                all.reduce(f64::min).map(Rate::from_bps)
            }
            Some(s) => Some(s.min(rate)),
            None => Some(rate),
        };
    }

    /// Notes the rate of a point outside the table; returns its rate before.
    #[cold]
    #[inline(never)]
    fn note_outside(&mut self, point: u32, bps: f64) -> f64 {
        if self.rates.is_empty() {
            self.first = point;
        }
        let first = self.first.min(point);
        let gap = (self.first - first) as usize;
        let span = (gap + self.rates.len()).max((point - first) as usize + 1);
        if span > SPAN {
            return match self.far.binary_search_by_key(&point, |f| f.0) {
                Ok(i) => std::mem::replace(&mut self.far[i].1, bps),
                Err(i) => {
                    self.far.insert(i, (point, bps));
                    SILENT
                }
            };
        }
        self.rates.splice(..0, std::iter::repeat_n(SILENT, gap));
        self.rates.resize(span, SILENT);
        self.first = first;
        self.rates.get_mut((point - first) as usize).map_or(SILENT, |r| std::mem::replace(r, bps))
    }

    /// Smallest of the latest rates; none before the first message.
    pub fn smallest(&self) -> Option<Rate> {
        self.smallest
    }
}

/// The scheme BECN with its parameters.
#[derive(Debug)]
pub struct Becn(pub BecnParams);

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "explicit rates, broadcast by every port (2006)";
    Registration::with_idle(title, include_str!("becn.rs"), BecnParams::default(), BecnParams::idle, Becn)
        .promise(explicit_rate::promise())
}

impl Scheme for Becn {
    fn name(&self) -> &str {
        "becn"
    }
    fn plan(&self) -> Plan {
        let speaks = Speaks::Ports(self.0.port.interval);
        Plan { limiter_scope: Scope::Host, built: Built::FirstFrame, speaks, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        let speaks = site.attached || self.0.own.unattached_ports;
        speaks.then(|| -> Box<dyn CongestionPoint> {
            Box::new(Point { id: site.point, meter: Meter::new(self.0.port.clone(), site.rate) })
        })
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { p: self.0.clone(), heard: Heard::default(), waiting: false }))
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        matches!(feedback, Feedback::AdvertisedRate { .. })
    }
    fn counters(&self) -> Vec<Counter> {
        vec![BECN_MESSAGES]
    }
}

#[derive(Debug)]
struct Point {
    id: PointId,
    meter: Meter,
}

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        self.meter.start(ctl);
    }
    fn on_timer(&mut self, _: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        let rate = self.meter.measure(queue, ctl);
        ctl.count(BECN_MESSAGES);
        ctl.broadcast(Feedback::AdvertisedRate { point: self.id, rate });
    }
}

#[derive(Debug)]
struct Reaction {
    p: BecnParams,
    heard: Heard,
    /// The first rate holds; messages are only noted.
    waiting: bool,
}

impl Reaction {
    fn obey(&self, limiter: &mut Limiter<'_>) {
        if let Some(rate) = self.heard.smallest() {
            limiter.set_rate(rate.max(self.p.port.r_min).min(limiter.line_rate()));
        }
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.set_rate(self.p.port.first_rate(limiter.line_rate()));
        if self.p.own.start == Start::FirstInterval {
            self.waiting = true;
            limiter.start_timer(INTERVAL, self.p.port.interval);
        }
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let Feedback::AdvertisedRate { point, rate } = *feedback else { return };
        self.heard.note(point, rate);
        if !self.waiting {
            self.obey(limiter);
        }
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.waiting = false;
        self.obey(limiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::{Lent, PointAction, PointState, Purpose, Stream};
    use cnsim_scheme_api::testing::{PointRig, ReactionRig};
    use cnsim_scheme_api::{Bytes, Params, Time};

    fn says(point: u32, gbps: f64) -> Feedback {
        Feedback::AdvertisedRate { point: PointId(point), rate: Rate::from_gbps(gbps) }
    }
    fn rig(start: &str) -> ReactionRig {
        let mut params = BecnParams::default();
        params.set("start", start).unwrap();
        ReactionRig::new(Becn(params), Rate::from_gbps(10.0))
    }

    #[test]
    fn the_smallest_of_the_latest_rules() {
        let mut rig = rig("first-message");
        for (point, gbps, expected) in [
            (9, 10.0, 10.0),
            (4, 2.5, 2.5),
            (7, 3.0, 2.5),
            (4, 4.0, 3.0), // the ruling port lets go: the next smallest rules
            (7, 5.0, 4.0),
            (9, 0.001, 0.01), // the floor
            (9, 10.0, 4.0),
        ] {
            rig.feedback(&says(point, gbps));
            assert_eq!(rig.rate().gbps(), expected, "after port {point} said {gbps} Gb/s");
        }
    }

    /// Against a plain minimum over a table, with ties: identities side by side, and far apart.
    #[test]
    fn heard_is_a_minimum() {
        for far in [0, 1, 12_345, 100_000_000] {
            let (mut heard, mut table) = (Heard::default(), std::collections::BTreeMap::new());
            let mut draws = Stream::new(1, 2, Purpose::Test);
            assert_eq!(heard.smallest(), None);
            for _ in 0..5000 {
                let point = PointId(draws.below(12) as u32 + far * draws.below(40) as u32);
                let rate = Rate::from_gbps(draws.below(20) as f64);
                heard.note(point, rate);
                table.insert(point, rate);
                assert_eq!(heard.smallest(), table.values().copied().reduce(Rate::min));
            }
        }
    }

    /// C / 10 = 1 Gb/s for 30 us, whatever is heard; then the smallest of it.
    #[test]
    fn the_first_rate_may_hold() {
        let mut rig = rig("first-interval");
        rig.feedback(&says(1, 10.0));
        rig.feedback(&says(2, 5.0));
        assert_eq!(rig.rate().gbps(), 1.0);
        rig.wait(Time::from_us(31));
        assert_eq!(rig.rate().gbps(), 5.0);
    }

    /// Phases spread over T, or all ports end their first interval together.
    #[test]
    fn phases() {
        for (phase, same) in [("random", false), ("common", true)] {
            let mut params = BecnParams::default();
            params.set("phase", phase).unwrap();
            let first = |seed| {
                let rig = PointRig::new(&Becn(params.clone()), Rate::from_gbps(10.0), seed).unwrap();
                rig.actions.iter().find_map(|a| match a {
                    PointAction::StartTimer(INTERVAL, t) => Some(*t),
                    _ => None,
                })
            };
            let all: Vec<Option<Time>> = (0..20).map(first).collect();
            assert_eq!(all.iter().all(|t| *t == Some(Time::from_us(30))), same, "{phase}: {all:?}");
        }
    }

    /// An idle port of 1 Gb/s: 100 Mb/s x 64, held to C; the phase is within T.
    #[test]
    fn a_port_broadcasts_every_interval() {
        let scheme = Becn(BecnParams::default());
        let rig = PointRig::new(&scheme, Rate::from_gbps(10.0), 1).unwrap();
        assert!(matches!(rig.actions[..], [PointAction::StartTimer(INTERVAL, t)] if t < Time::from_us(30)));
        let mut point =
            Point { id: PointId(3), meter: Meter::new(scheme.0.port.clone(), Rate::from_gbps(1.0)) };
        let (mut actions, mut state) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
        let queue = Queue {
            len: Bytes::new(0),
            line_rate: Rate::from_gbps(1.0),
            service_rate: Rate::from_gbps(1.0),
            arrived: 0,
            ..Queue::default()
        };
        point.on_timer(INTERVAL, &queue, &mut PointControl::new(Time::ZERO, &mut state, &mut actions));
        let said = actions.iter().find_map(|a| match a {
            PointAction::Broadcast(f) => Some(*f),
            _ => None,
        });
        assert_eq!(said, Some(says(3, 1.0)));
        assert!(
            actions
                .iter()
                .any(|a| matches!(a, PointAction::StartTimer(INTERVAL, t) if *t == Time::from_us(30)))
        );
    }

    #[test]
    fn ports_without_a_link_may_be_left_out() {
        let mut params = BecnParams::default();
        let mut site = QueueSite { point: PointId(0), rate: Rate::from_gbps(10.0), attached: false };
        assert!(Becn(params.clone()).congestion_point(&site).is_some());
        params.set("unattached_ports", "off").unwrap();
        assert!(Becn(params.clone()).congestion_point(&site).is_none());
        site.attached = true;
        assert!(Becn(params).congestion_point(&site).is_some());
    }
}
