//! Flows that probe among their data from the first frame on, while their limiters mostly hold nothing back: probes pass queues
//! whose points read them or not, are ended on the way or returned at once with what has been received, and what comes back
//! now and then lowers a rate. The oracle must agree on all of it.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Built, Bytes, Class, CongestionPoint, Counter, Feedback, FlowId, FrameView, Limiter, NodeId, Plan,
    PointControl, PointId, Probe, ProbeTarget, Queue, QueueSite, Ramp, RampAt, Rate, ReactionPoint,
    ReflectGate, Reflector, ReflectorControl, Scheme, Scope, SinkSite, Slot, SourceSite, Tag, Time,
};
use std::sync::Arc;

/// What a run's probers do.
#[derive(Debug, Clone, Copy)]
struct Dial {
    /// Bytes between probes.
    bytes: u64,
    period: Time,
    /// The first congestion point, and how many there are.
    points: (u32, u32),
    bits: u64,
}

impl Dial {
    fn on(self, bit: u32) -> bool {
        self.bits >> bit & 1 > 0
    }
}

fn mixed(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24
}

#[derive(Debug)]
struct Point(Dial, u32);

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        // Some read probes, some do not.
        if self.0.on(1) && !self.1.is_multiple_of(3) {
            ctl.wake_at_probes();
        }
        if self.0.on(0) {
            ctl.sample_after(Bytes::new(self.0.bytes));
        }
        if self.0.on(2) {
            let (low, high) = (Bytes::new(2_000), Bytes::new(9_000));
            ctl.mark(Ramp { low, high, p_max: 0.4, p_beyond: 1.0, at: RampAt::Departure });
        }
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::new(self.0.bytes / 2 + queue.len.get() % 4000 + 1));
        if ctl.uniform() < 0.3 {
            ctl.notify(
                frame.flow,
                Feedback::User([
                    queue.arrived ^ u64::from(frame.marked) << 60,
                    queue.sent ^ queue.len.get() << 32,
                ]),
            );
        }
    }
    fn on_probe(&mut self, probe: &mut Probe, _: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        probe.fb = probe.fb.wrapping_mul(31) ^ (queue.arrived ^ queue.sent ^ queue.len.get() << 9) as i32;
        if self.0.on(3) && ctl.uniform() < 0.2 {
            ctl.answer();
        }
    }
}

#[derive(Debug)]
struct Reaction {
    dial: Dial,
    number: u32,
    told: u64,
}

impl Reaction {
    fn wind(&self, limiter: &mut Limiter<'_>) {
        let bytes = 1.0 + self.dial.bytes as f64 * 2.0 * limiter.uniform();
        limiter.wake_after(Bytes::new(bytes as u64));
        if self.dial.on(4) {
            limiter.start_timer(Slot(2), self.dial.period);
        }
    }
    fn probe(&mut self, limiter: &mut Limiter<'_>) {
        let u = limiter.uniform();
        let point = ProbeTarget::Point(PointId(self.dial.points.0 + (u * 1e6) as u32 % self.dial.points.1));
        let target = if self.dial.on(5) && u < 0.2 { point } else { ProbeTarget::Destination };
        let class = if self.dial.on(6) && u > 0.8 { Class::Control } else { Class::Data };
        self.number += 1;
        limiter.send_probe(Probe::new(self.number, target, class));
        limiter.count("probes");
        if self.dial.on(7) && u > 0.9 {
            // Two in a row.
            limiter.send_probe(Probe::new(!self.number, ProbeTarget::Destination, Class::Data));
        }
        self.wind(limiter);
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        self.wind(limiter);
        if self.dial.on(8) {
            limiter.engage();
        }
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        self.told = match *feedback {
            Feedback::User([a, b]) => mixed(self.told ^ a, b),
            Feedback::ProbeReply { probe, at, rx_rate } => {
                let seen = probe.fb as u64 ^ probe.sent_bytes << 24 ^ probe.sent_at.as_ps();
                mixed(self.told ^ at.as_ps(), seen ^ rx_rate.bps() as u64)
            }
            _ => self.told,
        };
        limiter.count("told");
        let line = limiter.line_rate();
        if self.told.is_multiple_of(if self.dial.on(9) { 3 } else { 23 }) {
            limiter.engage();
            limiter.set_rate((line * (0.2 + (self.told % 1024) as f64 / 1024.0)).min(line));
        } else if limiter.is_engaged() && self.told.is_multiple_of(5) {
            limiter.set_rate(line);
            limiter.release_when_empty();
        }
        if self.dial.on(10) {
            limiter.tag_frames(if self.told.is_multiple_of(4) { Tag::User(7) } else { Tag::None });
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.probe(limiter);
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        self.probe(limiter);
    }
}

#[derive(Debug)]
struct Return;

impl Reflector for Return {
    fn on_frame(&mut self, _: &FrameView, ctl: &mut ReflectorControl<'_>) {
        ctl.count("frames");
    }
    fn on_probe(&mut self, probe: &Probe, _: FlowId, ctl: &mut ReflectorControl<'_>) {
        let (at, rx_rate) = (ctl.now(), Rate::from_bps(ctl.received() as f64));
        if ctl.uniform() < 0.9 {
            ctl.reply(Feedback::ProbeReply { probe: *probe, at, rx_rate });
        }
    }
}

impl Scheme for Dial {
    fn name(&self) -> &str {
        "prober"
    }
    fn plan(&self) -> Plan {
        Plan {
            // A limiter of a whole host has no path to probe.
            limiter_scope: Scope::Flow,
            built: if self.on(13) && self.on(0) { Built::OnFeedback } else { Built::FirstFrame },
            reflect: match (self.on(14), self.on(2)) {
                (false, _) => ReflectGate::Never,
                (true, false) => ReflectGate::Tagged,
                (true, true) => ReflectGate::Marked,
            },
            reflector_scope: if self.on(15) { Scope::Host } else { Scope::Flow },
            received: true,
            ..Plan::default()
        }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        (!self.on(16) || !site.point.0.is_multiple_of(2))
            .then(|| -> Box<dyn CongestionPoint> { Box::new(Point(*self, site.point.0)) })
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { dial: *self, number: 0, told: 0 }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Return))
    }
    fn counters(&self) -> Vec<Counter> {
        ["probes", "told", "frames"].map(|n| Counter::new(n, "")).into()
    }
}

/// One to three switches with 2 to 5 hosts each, from calm to full.
fn scenario(seed: u64) -> RunSpec {
    let mut r = Stream::new(seed, 11, Purpose::Test);
    let mut pick = |n: u64| r.below(n);
    let switches = 1 + pick(3) as usize;
    let hosts = switches * (2 + pick(4) as usize);
    let duration = Time::from_us(80 + pick(120));
    let mut spec = common::single_switch(2, 0.5, false, duration, seed);
    // In phase, at one rate and one length, much happens at the same moment.
    let aligned = pick(3) == 0;
    let one = common::LENGTHS[pick(5) as usize];
    let alike = aligned.then_some(one);
    spec.hosts = (0..hosts)
        .map(|i| {
            let load = 0.1 + 0.1 * pick(10) as f64;
            let s = common::talker(load, alike, &mut pick);
            let mut host = common::host(i, vec![s]);
            let below = pick(3) == 0;
            host.limiter_position =
                if below { LimiterPosition::BelowQueue } else { LimiterPosition::AtSource };
            host.fifo_frames = if pick(4) == 0 { 2 } else { 1000 };
            host.feedback_delay = Time::from_ns([0, 0, 0, 3300][pick(4) as usize]);
            host
        })
        .collect();
    let pause = pick(3) == 0;
    let processing = Time::from_ns([100, 400, 1000, 2500][pick(4) as usize]);
    spec.switches = (0..switches)
        .map(|i| {
            let mut buffer = common::buffer(pause);
            if let Some(p) = &mut buffer.pause {
                // So that it happens, with room for what is under way.
                (p.high, p.low) = (Bytes::from_kb(12), Bytes::from_kb(8));
                p.transport = if pick(2) == 0 { PauseTransport::Wire } else { PauseTransport::Frame };
                buffer.share = Bytes::from_mb(2);
            } else if pick(3) == 0 {
                buffer.share = Bytes::from_kb(20);
            }
            SwitchSpec { name: format!("S{i}"), ports: 16, processing, buffer, scheme: None }
        })
        .collect();
    common::tangle(&mut spec, (hosts, switches), aligned, &mut pick);
    if pick(8) == 0 {
        spec.control = ControlTransport::InBand;
    }
    if pick(4) == 0 {
        common::slow_port(&mut spec);
    }
    let dial = Dial {
        bytes: [64, 1500, 6000, 20_000][pick(4) as usize],
        period: Time::from_ps([150_000, 1_200_000, 7_777_777, 30_000_000][pick(4) as usize]),
        points: (hosts as u32, 16 * switches as u32),
        bits: pick(1 << 17),
    };
    common::with_scheme(&mut spec, Arc::new(dial));
    if pick(2) == 0 {
        spec.record = Record {
            bin: Time::from_ns([500, 7000][pick(2) as usize]),
            queues: (0..4).map(|p| (NodeId(hosts as u32), p)).collect(),
            control: true,
            latency: true,
            ..Record::default()
        };
    }
    spec
}

#[test]
fn probes_agree_with_the_oracle() {
    let mut returned = 0;
    for seed in 0..400 {
        let threads = if seed % 8 == 0 { 4 } else { 1 };
        let visits = [Visits::Adaptive, Visits::All, Visits::Turns, Visits::Due][seed as usize % 4];
        let ways: Vec<(usize, Visits)> = (1..=threads).map(|n| (n, visits)).collect();
        let outcome = common::agreed(&scenario(seed), seed, &ways);
        returned += outcome.counters.iter().find(|c| c.0 == "told").map_or(0, |c| c.1);
    }
    assert!(returned > 20_000, "{returned} answers");
}
