//! # AF-QCN: approximate fairness with quantised congestion notification
//!
//! AF-QCN is QCN with weighted fair shares. Plain QCN gives the flows of one bottleneck only roughly equal rates, and a tenant
//! with many flows gets more than others. AF-QCN keeps the reaction points of IEEE 802.1Qau and changes the messages of
//! congestion points. A congestion point estimates the arrival rate of each flow. It compares that rate with the flow's
//! weighted fair share of all arrivals. A flow above its share gets stronger feedback than with QCN, a flow below it weaker
//! feedback.
//!
//! Sources: A. Kabbani, M. Alizadeh, M. Yasuda, R. Pan, B. Prabhakar, "AF-QCN: Approximate Fairness with Quantized Congestion
//! Notification for Multi-tenanted Data Centers", IEEE Hot Interconnects 2010. Its rules were taken from a public summary, not
//! from the paper itself (adrian.idv.hk/2010-09-06-kaypp10-afqcn).
//!
//! | paper | here |
//! |---|---|
//! | `r_i^fair = W_i / sum_j W_j  sum_j r_j` | [`Shares::fair`] |
//! | `Fb_AF`: `[1 - r_i^fair / r_i]^+`, quantised | [`Shares::excess`] |
//! | `Fb = (1 - alpha) Fb_QCN + alpha Fb_AF` | [`blend`] |
//! | everything else | [`crate::qcn_8021qau`] |
//!
//! ## Assumptions, each a parameter
//!
//! * `alpha` = 0.8: the summary names no value. With eight equal flows the Jain index is 0.9998 (0.5: 0.93 to 0.99; 802.1Qau: 0.99).
//! * Rates are estimated from sampled frames, as in approximate fair dropping. A frame is sampled about every `rate_sample`
//!   bytes and counts for the bytes since the last one. `rate_interval` is a period, `rate_gain` the weight of the latest.
//! * `weights` apply to the source hosts in turn: of n weights, host `i` has number `i` modulo n.
//!
//! ## Deviations
//!
//! * A message is sent only where QCN sends one (`Fb_QCN` is not 0). Otherwise a flow would be slowed down at a port that is
//!   not congested, only because another flow sends less.

use crate::qcn_8021qau::{Qau, QauParams};
use crate::qcn_serial_hai::{PointRules, counted, mark, spread};
use cnsim_scheme_api::testing::Promise;
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Counter, Feedback, FlowId, FrameView, Join, NodeId, Plan, PointControl, PointId,
    Queue, QueueSite, Rate, ReactionPoint, Registration, Samplers, Scheme, Slot, SourceSite, Time, params,
};
use std::collections::BTreeMap;

use crate::counters::CNM_MESSAGES;

params! {
    /// Parameters that AF-QCN adds to those of 802.1Qau.
    pub struct FairParams {
        /// Share of the fairness feedback in a message.
        alpha: f64 = 0.8, symbol "alpha", from 0.0, to 1.0;
        /// Weights of the source hosts, in turn.
        weights: Vec<f64> = vec![1.0], symbol "W_i", from 0.001, to 1000.0;
        /// Mean number of bytes between frames sampled for the rates.
        rate_sample: Bytes = Bytes::from_kb(3), symbol "", from Bytes::new(64), to Bytes::from_mb(10);
        /// Period over which rates are measured.
        rate_interval: Time = Time::from_ms(2), symbol "", from Time::from_us(10), to Time::from_s(1);
        /// Weight of the latest period in a rate.
        rate_gain: f64 = 0.25, symbol "", from 0.001, to 1.0;
    }
}

/// Parameters of AF-QCN: those of 802.1Qau, and the weights.
pub type AfParams = Join<QauParams, FairParams>;

/// The scheme AF-QCN: 802.1Qau with weighted fair shares.
#[derive(Debug)]
pub struct AfQcn {
    qau: Qau,
    fair: FairParams,
}

impl AfQcn {
    /// AF-QCN with these parameters.
    pub fn new(p: AfParams) -> Self {
        Self { qau: Qau(p.first), fair: p.second }
    }
}

/// The registration.
pub(crate) fn registration() -> Registration {
    let title = "QCN with weighted fair shares (2010)";
    let idle = |p: &AfParams| p.first.idle();
    Registration::with_idle(title, include_str!("af_qcn.rs"), AfParams::default(), idle, AfQcn::new).promise(
        Promise {
            recovers: Some((Bytes::from_mb(100), Time::from_ms(200))),
            ..Promise::reacting(Rate::from_mbps(5.0))
        },
    )
}

/// All but the congestion point is 802.1Qau's.
impl Scheme for AfQcn {
    fn name(&self) -> &str {
        "af-qcn"
    }
    fn plan(&self) -> Plan {
        self.qau.plan()
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point {
            rules: self.qau.0.point_rules(),
            id: site.point,
            q_old: 0.0,
            samplers: Samplers::default(),
            asked: Bytes::new(0),
            shares: Shares { p: self.fair.clone(), flows: BTreeMap::new() },
        }))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        self.qau.reaction_point(site)
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        self.qau.engages(feedback)
    }
    fn counters(&self) -> Vec<Counter> {
        counted()
    }
}

/// A port's record of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Bytes of the present period.
    bytes: f64,
    /// Bytes per period, on average.
    rate: f64,
    weight: f64,
}

/// The flows of a port and their shares.
#[derive(Debug)]
struct Shares {
    p: FairParams,
    flows: BTreeMap<FlowId, Flow>,
}

/// Bytes per period below which a flow is forgotten.
const FORGOTTEN: f64 = 1.0;

impl Shares {
    /// A sampled frame stands for this many bytes of its flow.
    fn note(&mut self, flow: FlowId, src: NodeId, bytes: f64) {
        let weights = &self.p.weights;
        let weight = weights.get(src.0 as usize % weights.len().max(1)).copied().unwrap_or(1.0);
        let known = self.flows.entry(flow).or_default();
        known.bytes += bytes;
        known.weight = weight;
    }

    /// A period ends.
    fn close(&mut self) {
        for flow in self.flows.values_mut() {
            flow.rate += self.p.rate_gain * (flow.bytes - flow.rate);
            flow.bytes = 0.0;
        }
        self.flows.retain(|_, flow| flow.rate >= FORGOTTEN);
    }

    /// `r_i^fair = W_i / sum_j W_j  sum_j r_j`.
    fn fair(&self, weight: f64) -> f64 {
        let (rates, weights) = self.flows.values().fold((0.0, 0.0), |(r, w), f| (r + f.rate, w + f.weight));
        if weights > 0.0 { weight / weights * rates } else { 0.0 }
    }

    /// `[1 - r_i^fair / r_i]^+`: 0 for a flow at its share or below it, or not known yet.
    fn excess(&self, flow: FlowId) -> f64 {
        match self.flows.get(&flow) {
            Some(f) if f.rate > 0.0 => (1.0 - self.fair(f.weight) / f.rate).max(0.0),
            _ => 0.0,
        }
    }
}

/// `Fb = (1 - alpha) Fb_QCN + alpha Fb_AF`, both in six bits.
fn blend(alpha: f64, qcn: u8, excess: f64) -> u8 {
    let fair = (63.0 * excess.clamp(0.0, 1.0)).floor();
    ((1.0 - alpha) * f64::from(qcn) + alpha * fair).round() as u8
}

/// Samplers of the point: for QCN's feedback, and for the rates.
const QUEUE: usize = 0;
const RATES: usize = 1;
const PERIOD: Slot = Slot(0);

#[derive(Debug)]
struct Point {
    rules: PointRules,
    id: PointId,
    q_old: f64,
    samplers: Samplers<2>,
    /// Bytes that a frame sampled for the rates stands for.
    asked: Bytes,
    shares: Shares,
}

impl Point {
    fn arm_queue(&mut self, qfb: u8, ctl: &mut PointControl<'_>) {
        let factor = spread(self.rules.jitter, ctl.uniform());
        let bytes = self.rules.enough(mark(self.rules.base, qfb) * factor);
        self.samplers.arm(QUEUE, Bytes::new(bytes));
    }

    /// Uniform between nothing and twice the mean: flows that send in turn are met as often as they send.
    fn arm_rates(&mut self, ctl: &mut PointControl<'_>) {
        let bytes = self.shares.p.rate_sample.as_f64() * spread(2.0, ctl.uniform());
        self.asked = Bytes::new(bytes as u64 + 1);
        self.samplers.arm(RATES, self.asked);
    }

    /// The congestion point's algorithm of 802.1Qau, as [`crate::qcn_serial_hai`] has it, with the flow's share in the message.
    fn look(&mut self, frame: &FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let q = queue.len.as_f64();
        let qfb = self.rules.qfb(q, self.q_old);
        if qfb > 0 {
            let qntz_fb = blend(self.shares.p.alpha, qfb, self.shares.excess(frame.flow));
            let q_off = (self.rules.q_eq.as_f64() - q) as i32;
            let q_delta = (q - self.q_old) as i32;
            if qntz_fb > 0 {
                ctl.count(CNM_MESSAGES);
                ctl.notify(frame.flow, Feedback::Cnm { point: self.id, qntz_fb, q_off, q_delta });
            }
        }
        self.q_old = q;
        self.arm_queue(qfb, ctl);
    }
}

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_dropped(self.rules.sample_dropped);
        self.arm_queue(0, ctl);
        self.arm_rates(ctl);
        self.samplers.wait(ctl);
        ctl.start_timer(PERIOD, self.shares.p.rate_interval);
    }

    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        for sampler in self.samplers.due(ctl) {
            if sampler == RATES {
                self.shares.note(frame.flow, frame.src, self.asked.as_f64());
                self.arm_rates(ctl);
            } else {
                self.look(frame, queue, ctl);
            }
        }
        self.samplers.wait(ctl);
    }

    fn on_timer(&mut self, _: Slot, _: &Queue, ctl: &mut PointControl<'_>) {
        self.shares.close();
        ctl.start_timer(PERIOD, self.shares.p.rate_interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::Tag;
    use cnsim_scheme_api::testing::PointRig;

    fn shares(weights: &[f64], rates: &[f64]) -> Shares {
        let p = FairParams { weights: weights.to_vec(), rate_gain: 1.0, ..FairParams::default() };
        let mut shares = Shares { p, flows: BTreeMap::new() };
        for (i, rate) in rates.iter().enumerate() {
            shares.note(FlowId(i as u32), NodeId(i as u32), *rate);
        }
        shares.close();
        shares
    }

    /// 6 and 2 of 8: the fair share is 4 of equals; with weights 3 and 1 they have their shares already.
    #[test]
    fn shares_by_hand() {
        let equal = shares(&[1.0], &[6.0, 2.0]);
        assert_eq!((equal.fair(1.0), equal.excess(FlowId(1)), equal.excess(FlowId(7))), (4.0, 0.0, 0.0));
        assert!((equal.excess(FlowId(0)) - 1.0 / 3.0).abs() < 1e-12);
        let weighted = shares(&[3.0, 1.0], &[6.0, 2.0]);
        assert_eq!((weighted.excess(FlowId(0)), weighted.excess(FlowId(1))), (0.0, 0.0));
    }

    /// A third of 63 is 21; half of 40 and half of 21.
    #[test]
    fn blend_by_hand() {
        assert_eq!([0.0, 0.5, 1.0].map(|alpha| blend(alpha, 40, 1.0 / 3.0)), [40, 31, 21]);
        assert_eq!(blend(0.5, 40, 0.0), 20);
    }

    /// Flow 1 sends nine frames of ten. Both are told to slow down, flow 1 more.
    #[test]
    fn the_larger_flow_hears_more() {
        // Half a message from the queue, half from the flow's excess: both parts show.
        let params =
            AfParams { second: FairParams { alpha: 0.5, ..FairParams::default() }, ..AfParams::default() };
        let mut rig = PointRig::new(&AfQcn::new(params), Rate::from_gbps(10.0), 3).unwrap();
        for i in 0..40_000_u32 {
            rig.wait(Time::from_ns(1200));
            rig.frame(if i % 10 == 3 { 2 } else { 1 }, 60_000, Tag::None);
        }
        let mean = |flow: u32| {
            let heard: Vec<f64> = rig
                .actions
                .iter()
                .filter_map(|a| match a {
                    cnsim_scheme_api::network::PointAction::Notify(f, Feedback::Cnm { qntz_fb, .. })
                        if f.0 == flow =>
                    {
                        Some(f64::from(*qntz_fb))
                    }
                    _ => None,
                })
                .collect();
            assert!(heard.len() > 10, "{}", heard.len());
            heard.iter().sum::<f64>() / heard.len() as f64
        };
        // Fb_QCN is floor(34 KB x 63 / 130 KB) = 16 at a queue that stands; the excess of flow 1 is 1 - 5/9.
        assert!((mean(2) - 8.0).abs() < 1.0, "{}", mean(2));
        assert!((mean(1) - 22.0).abs() < 2.0, "{}", mean(1));
    }
}
