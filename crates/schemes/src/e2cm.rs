//! # E2CM: ECM with a probe along each flow's path
//!
//! E2CM is ECM with a probe along each flow's path. A message of a congestion point starts a limiter, as in [`crate::ecm`];
//! then probes of the flow steer it. Every flow, limited or not, sends a small probe among its data after about 75 KB. The
//! destination returns it at once, at the highest priority. Two returned probes show the source the flow's throughput and its
//! latency above the smallest seen. By Little's law, *occupancy* = rate x extra latency is the number of the flow's bytes in
//! queues. The limiter keeps that occupancy near a set point of 15 KB, with ECM's arithmetic and gains of its own.
//! *Source-based*: the rate is the bytes sent between two probes over the time between their arrivals. *Destination-based*: the
//! destination reports the rate that it received, and the clocks are synchronised.
//! Sources: IBM Research Zurich, IEEE 802.1 decks of March 2007 (Z07: parameters, rate and round-trip formulas, probe
//! clock, priority of returned probes, tracking of the minimum).
//!
//! | paper | here |
//! |---|---|
//! | `B(Pn) = (S(Pn) - S(Pm)) / (T_dst(Pn) - T_dst(Pm))` | [`throughput`] |
//! | occupancy = `B (RTT - RTT_0)` | [`occupancy`] |
//! | `Fb_f = (Q_eq,f - occ) - W_f (occ - occ_old)`, MAX above 56 KB | [`flow_feedback`] |
//! | `R (1 - G_d,f abs(Fb_f))`, `R + G_i,f Fb_f R_unit` | [`flow_decreased`], [`flow_increased`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `max_cut`: one probe lowers the rate by at most a half. `G_d,f Fb_max` = 2.5 is more than the whole rate.
//! * `l0`: the smallest latency must be known from before the congestion, so unlimited flows probe too (`probe-always`). With
//!   `first-sample` it is measured in a full queue, so the occupancy reads zero. `unloaded` starts from the topology
//!   (`base_rtt`, half of it for the way out), and still takes smaller ones.
//! * `first_probe`: a new limiter sends its first probe after U(0, 75 KB) of the flow.
//! * `history = restarted`: a new limiter ignores probes that were sent before it; the smallest latency stays.
//! * `positive = ignored`: positive ECM messages (about ten in a run of Z07) do not raise the rate.
//! * `probe_jitter`: +-10 % on the 75 KB.
//!
//! ## Deviations
//!
//! `T_src` is the moment of the decision to probe. The frame just sent, or a PAUSE, may still delay the probe, and that counts
//! as latency. A probe that overtakes another (paths chosen per frame) updates the smallest latency only.

use crate::counters::{
    CPID_CHANGES, FALSE_POSITIVES, NEGATIVE_MESSAGES, POSITIVE_MESSAGES, PROBE_STEPS, PROBES_RETURNED,
    PROBES_SENT,
};
use crate::ecm::{self, EcmParams, lowers, pages};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Built, Bytes, Class, CongestionPoint, Counter, Feedback, FlowId, Idle, Limiter, ParamError, ParamInfo,
    Params, Plan, Probe, ProbeTarget, QueueSite, Rate, ReactionPoint, Reflector, ReflectorControl,
    Registration, Scheme, SinkSite, Slot, SourceSite, Tag, Time, choice, params,
};
use std::sync::Arc;

choice! {
    /// The origin of the smallest latency.
    pub enum L0 {
        /// Probes of all flows measure it, whether a flow is limited or not.
        ProbeAlways = "probe-always",
        /// The topology gives its start; limited flows probe.
        Unloaded = "unloaded",
        /// Probes of limited flows alone measure it.
        FirstSample = "first-sample",
    }
}

choice! {
    /// When a new limiter sends its first probe.
    pub enum FirstProbe {
        /// The first probe follows after U(0, interval) of the flow's bytes.
        Uniform = "uniform",
        /// The first probe is sent at once.
        AtOnce = "at-once",
        /// The first probe follows after a full interval.
        FullInterval = "full-interval",
    }
}

choice! {
    /// The earlier probes that a new limiter uses.
    pub enum History {
        /// A new limiter keeps only the smallest latency.
        Restarted = "restarted",
        /// A new limiter uses the results of all earlier probes.
        Kept = "kept",
    }
}

choice! {
    /// The effect of a positive ECM message.
    pub enum Positive {
        /// A positive message does nothing.
        Ignored = "ignored",
        /// A positive message raises the rate as in ECM.
        Applied = "applied",
    }
}

params! {
    /// Parameters that E2CM adds to those of ECM.
    pub struct FlowParams {
        /// Weight of the growth of a flow's occupancy.
        w_f: f64 = 2.0, symbol "W_f", from 0.0, to 1000.0;
        /// Set point of a flow's occupancy.
        q_eq_f: Bytes = Bytes::from_kb(15), symbol "Q_eq,f", from Bytes::new(64), to Bytes::from_mb(100);
        /// Increase gain, rate units per page: 0.025 C / (R_unit (2W + 1) Q_eq,f) at 10 Gb/s.
        gi_f: f64 = 0.025 * 10_000.0 / (5.0 * 234.375), symbol "G_i,f", from 0.0, to 1e6;
        /// Decrease gain, per page: 2.5 / ((2W + 1) Q_eq,f).
        gd_f: f64 = 2.5 / (5.0 * 234.375), symbol "G_d,f", from 0.0, to 10.0;
        /// Occupancy above which feedback has full strength.
        max_f: Option<Bytes> = Some(Bytes::from_kb(56)), symbol "MAX_f", from Some(Bytes::new(64)), to Some(Bytes::from_mb(1000));
        /// Largest share of the rate that one probe takes.
        max_cut: f64 = 0.5, symbol "", from 0.0, to 1.0;
        /// Mean number of the flow's bytes between probes.
        probe_interval: Bytes = Bytes::from_kb(75), symbol "", from Bytes::new(64), to Bytes::from_mb(1000);
        /// Half width of the uniform jitter on the probe interval, as a share.
        probe_jitter: f64 = 0.1, symbol "", from 0.0, to 1.0;
        /// Longest time between probes.
        probe_period: Time = Time::from_ms(10), symbol "", from Time::from_us(1), to Time::from_s(100);
        /// The origin of the smallest latency.
        l0: L0 = L0::ProbeAlways, symbol "L_0";
        /// When a new limiter sends its first probe.
        first_probe: FirstProbe = FirstProbe::Uniform, symbol "";
        /// The earlier probes that a new limiter uses.
        history: History = History::Restarted, symbol "";
        /// The effect of a positive ECM message.
        positive: Positive = Positive::Ignored, symbol "";
    }
}

impl FlowParams {
    /// `(2W_f + 1) Q_eq,f`, pages.
    fn fb_max(&self) -> f64 {
        (2.0 * self.w_f + 1.0) * pages(self.q_eq_f)
    }
}

/// All parameters of E2CM.
#[derive(Clone, Debug)]
pub struct E2cmParams {
    /// The parameters that E2CM shares with ECM.
    pub ecm: Arc<EcmParams>,
    /// The parameters of a flow's probes.
    pub flow: FlowParams,
}

impl Default for E2cmParams {
    fn default() -> Self {
        Self { ecm: Arc::new(EcmParams::z07()), flow: FlowParams::default() }
    }
}

impl Params for E2cmParams {
    fn info() -> Vec<ParamInfo> {
        let mut all = EcmParams::info();
        all.extend(FlowParams::info());
        all
    }
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError> {
        if FlowParams::info().iter().any(|i| i.key == key) {
            return self.flow.set(key, text);
        }
        Arc::make_mut(&mut self.ecm).set(key, text)
    }
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut all = self.ecm.values();
        all.extend(self.flow.values());
        all
    }
}

impl E2cmParams {
    /// Keys that were set but have no effect under these settings, with the reason.
    pub fn idle(&self) -> Idle {
        let mut idle = self.ecm.idle();
        if self.flow.positive == Positive::Ignored {
            idle.push(("gi", "positive is ignored"));
        }
        idle.push(("limiter_scope", "probes are a flow's own, so its limiter is too"));
        idle
    }
}

/// Bytes sent between two probes over the time between their arrivals, whatever was lost between them; none if they
/// arrived together.
pub fn throughput(bytes: u64, time: Time) -> Option<Rate> {
    (time > Time::ZERO).then(|| Rate::from_bps(bytes as f64 * 8.0 / time.as_secs_f64()))
}

/// Bytes of the flow that stand in queues, by Little's law; in pages.
pub fn occupancy(rate: Rate, latency: Time, shortest: Time) -> f64 {
    rate.bps() * latency.saturating_sub(shortest).as_secs_f64() / 8.0 / 64.0
}

/// `Fb_f = (Q_eq,f - occ) - W_f (occ - occ_old)`, clipped; pages. MAX applies above `MAX_f`.
pub fn flow_feedback(p: &FlowParams, occ: f64, occ_old: f64) -> f64 {
    let max = p.fb_max();
    if p.max_f.is_some_and(|m| occ > pages(m)) {
        return -max;
    }
    ((pages(p.q_eq_f) - occ) - p.w_f * (occ - occ_old)).clamp(-max, max)
}

/// `R (1 - G_d,f |Fb_f|)`: lowered by at most `max_cut`, not below the floor.
pub fn flow_decreased(p: &E2cmParams, rate: Rate, fb: f64) -> Rate {
    (rate * (1.0 - p.flow.gd_f * fb.abs()).max(1.0 - p.flow.max_cut)).max(p.ecm.r_min)
}

/// `R + G_i,f Fb_f R_unit`, not above the line rate.
pub fn flow_increased(p: &E2cmParams, rate: Rate, line: Rate, fb: f64) -> Rate {
    (rate + p.ecm.r_unit * (p.flow.gi_f * fb)).min(line)
}

/// Which end of the path measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The source: round-trip time, bytes sent.
    Source,
    /// The destination: latency of the way out by synchronised clocks, rate received.
    Destination,
}

/// E2CM, source- or destination-based.
#[derive(Debug)]
pub struct E2cm {
    /// Which end measures the path, source or destination.
    pub basis: Basis,
    /// The scheme's parameters.
    pub params: Arc<E2cmParams>,
}

/// The registrations.
pub(crate) fn registrations() -> [Registration; 2] {
    let of = |basis, title: &str| {
        let make = move |params| E2cm { basis, params: Arc::new(params) };
        Registration::with_idle(title, include_str!("e2cm.rs"), E2cmParams::default(), E2cmParams::idle, make)
            .promise(Promise { stops: true, ..Promise::reacting(Rate::from_mbps(1.0)) })
    };
    [
        of(Basis::Source, "ECM with a probe along each flow's path, measured by the source (2007)"),
        of(Basis::Destination, "ECM with a probe along each flow's path, measured by the destination (2007)"),
    ]
}

impl Scheme for E2cm {
    fn name(&self) -> &str {
        match self.basis {
            Basis::Source => "e2cm-src",
            Basis::Destination => "e2cm-dst",
        }
    }
    /// A flow probes from its first frame on.
    fn plan(&self) -> Plan {
        let received = self.basis == Basis::Destination;
        Plan { built: Built::FirstFrame, received, ..Plan::default() }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(ecm::Point::new(self.params.ecm.clone(), site.point)))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction::new(self.basis, self.params.clone(), site.base_rtt)))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Return { basis: self.basis, last: None }))
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        lowers(feedback)
    }
    fn counters(&self) -> Vec<Counter> {
        vec![
            FALSE_POSITIVES, CPID_CHANGES, POSITIVE_MESSAGES, NEGATIVE_MESSAGES, PROBES_SENT,
            PROBES_RETURNED, PROBE_STEPS,
        ]
    }
}

/// Timer of the probes; ECM's reaction point has slots 0 and 1.
const PROBE: Slot = Slot(2);

/// The last returned probe.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u32,
    sent_bytes: u64,
    at: Time,
}

#[derive(Debug)]
struct Reaction {
    basis: Basis,
    p: Arc<E2cmParams>,
    /// Takes the congestion points' messages.
    ecm: ecm::Reaction,
    /// Number of the next probe.
    next: u32,
    /// Probes from this one on belong to the present limiter.
    first: u32,
    /// Smallest latency seen.
    shortest: Option<Time>,
    last: Option<Last>,
    occ_old: Option<f64>,
}

impl Reaction {
    fn new(basis: Basis, p: Arc<E2cmParams>, base_rtt: Time) -> Self {
        let unloaded = match basis {
            Basis::Source => base_rtt,
            Basis::Destination => base_rtt.scale(0.5),
        };
        let shortest = (p.flow.l0 == L0::Unloaded).then_some(unloaded);
        let ecm = ecm::Reaction::new(p.ecm.clone());
        Self { basis, p, ecm, next: 0, first: 0, shortest, last: None, occ_old: None }
    }

    /// Bytes to the next probe.
    fn interval(&self, limiter: &mut Limiter<'_>) -> Bytes {
        let p = &self.p.flow;
        p.probe_interval.scale(1.0 + p.probe_jitter * (2.0 * limiter.uniform() - 1.0))
    }

    /// Restarts both clocks of the probes.
    fn wind(&self, limiter: &mut Limiter<'_>) {
        let bytes = self.interval(limiter);
        limiter.wake_after(bytes);
        limiter.start_timer(PROBE, self.p.flow.probe_period);
    }

    /// One of the clocks is due: sends a probe behind the frame just sent.
    fn probe(&mut self, limiter: &mut Limiter<'_>) {
        if !limiter.is_engaged() && self.p.flow.l0 != L0::ProbeAlways {
            limiter.wake_never();
            limiter.stop_timer(PROBE);
            return;
        }
        limiter.send_probe(Probe::new(self.next, ProbeTarget::Destination, Class::Data));
        limiter.count(PROBES_SENT);
        self.next = self.next.saturating_add(1);
        self.wind(limiter);
    }

    /// A congestion point's message.
    fn message(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let fresh = !limiter.is_engaged();
        if !lowers(feedback) && (fresh || self.p.flow.positive == Positive::Ignored) {
            return;
        }
        self.ecm.on_feedback(feedback, limiter);
        if fresh && limiter.is_engaged() {
            self.begin(limiter);
        }
        self.settle(limiter);
    }

    /// A new limiter.
    fn begin(&mut self, limiter: &mut Limiter<'_>) {
        if self.p.flow.history == History::Restarted {
            (self.last, self.occ_old, self.first) = (None, None, self.next);
        }
        if self.p.flow.l0 != L0::ProbeAlways {
            limiter.start_timer(PROBE, self.p.flow.probe_period);
        }
        let bytes = match self.p.flow.first_probe {
            FirstProbe::Uniform => self.p.flow.probe_interval.scale(limiter.uniform()),
            FirstProbe::AtOnce => return self.probe(limiter),
            FirstProbe::FullInterval => self.interval(limiter),
        };
        limiter.wake_after(bytes);
    }

    /// Releases the limiter at line rate, else keeps it and its tag.
    fn settle(&mut self, limiter: &mut Limiter<'_>) {
        if !limiter.is_engaged() {
            return;
        }
        if limiter.rate() >= limiter.line_rate() {
            limiter.release_when_empty();
            limiter.tag_frames(Tag::None);
            return;
        }
        limiter.engage();
        if let Some(owner) = self.ecm.owner() {
            limiter.tag_frames(Tag::Regulated(owner));
        }
    }

    /// A returned probe.
    fn returned(&mut self, probe: &Probe, at: Time, rx_rate: Rate, limiter: &mut Limiter<'_>) {
        if probe.number >= self.next {
            return;
        }
        limiter.count(PROBES_RETURNED);
        let latency = match self.basis {
            Basis::Source => limiter.now().saturating_sub(probe.sent_at),
            Basis::Destination => at.saturating_sub(probe.sent_at),
        };
        let shortest = self.shortest.map_or(latency, |l| l.min(latency));
        self.shortest = Some(shortest);
        let kept = self.p.flow.history == History::Kept;
        if !(limiter.is_engaged() || kept)
            || probe.number < self.first
            || self.last.is_some_and(|l| probe.number <= l.number)
        {
            return;
        }
        let last = self.last.replace(Last { number: probe.number, sent_bytes: probe.sent_bytes, at });
        let Some(last) = last else { return };
        let time = at.saturating_sub(last.at);
        let rate = match self.basis {
            Basis::Source => throughput(probe.sent_bytes.saturating_sub(last.sent_bytes), time),
            Basis::Destination => Some(rx_rate),
        };
        let Some(rate) = rate else { return };
        let occ = occupancy(rate, latency, shortest);
        let occ_old = self.occ_old.replace(occ).unwrap_or(occ);
        if limiter.is_engaged() && limiter.rate() > Rate::ZERO {
            limiter.count(PROBE_STEPS);
            self.steer(flow_feedback(&self.p.flow, occ, occ_old), limiter);
        }
    }

    fn steer(&mut self, fb: f64, limiter: &mut Limiter<'_>) {
        if fb < 0.0 {
            limiter.set_rate(flow_decreased(&self.p, limiter.rate(), fb).min(limiter.line_rate()));
        } else if fb > 0.0 {
            limiter.set_rate(flow_increased(&self.p, limiter.rate(), limiter.line_rate(), fb));
        }
        self.settle(limiter);
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        self.ecm.start(limiter);
        if self.p.flow.l0 == L0::ProbeAlways {
            self.wind(limiter);
        }
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        match *feedback {
            Feedback::Ecm { fb, .. } if fb.is_finite() => self.message(feedback, limiter),
            Feedback::ProbeReply { ref probe, at, rx_rate } => self.returned(probe, at, rx_rate, limiter),
            _ => {}
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.probe(limiter);
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        if slot == PROBE {
            self.probe(limiter);
        } else if limiter.is_engaged() {
            self.ecm.on_timer(slot, limiter);
            self.settle(limiter);
        }
    }
}

/// The destination returns each probe; destination-based, with the rate received since the one before.
#[derive(Debug)]
struct Return {
    basis: Basis,
    last: Option<(Time, u64)>,
}

impl Reflector for Return {
    fn on_probe(&mut self, probe: &Probe, _: FlowId, ctl: &mut ReflectorControl<'_>) {
        let now = ctl.now();
        let mut rx_rate = Rate::ZERO;
        if self.basis == Basis::Destination {
            let received = ctl.received();
            if let Some((then, before)) = self.last {
                let measured = throughput(received.saturating_sub(before), now.saturating_sub(then));
                rx_rate = measured.unwrap_or(Rate::ZERO);
            }
            self.last = Some((now, received));
        }
        ctl.reply(Feedback::ProbeReply { probe: *probe, at: now, rx_rate });
    }
}

#[cfg(test)]
mod tests;
