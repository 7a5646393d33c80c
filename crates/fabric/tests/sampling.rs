//! Congestion points must see their queues at the same moments and as long under both engines, however a window was stored:
//! networks whose windows hold several frames of a queue, points that sample, mark, stamp, time, send and change their minds.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Feedback, FrameView, NodeId, PointControl, Queue, QueueSite, Ramp, RampAt, Rate,
    ReactionPoint, Scheme, Slot, SourceSite, Tag, Time,
};
use std::sync::Arc;

/// What the points of a run do.
#[derive(Debug, Clone, Copy)]
struct Dial {
    gate: u64,
    bytes: u64,
    low: u64,
    timer: u64,
    bits: u64,
}

impl Dial {
    fn has(&self, bit: u64) -> bool {
        self.bits >> bit & 1 > 0
    }
    fn arm(&self, gate: u64, ctl: &mut PointControl<'_>) {
        match gate {
            0 | 1 => {
                let jitter = (ctl.uniform() * self.bytes as f64) as u64;
                ctl.sample_after(Bytes::new(self.bytes / 2 + jitter));
            }
            2 => ctl.sample_with(0.3),
            3 => ctl.sample_always(),
            4 => ctl.sample_tagged(),
            _ => ctl.sample_never(),
        }
    }
    /// Draws tell whether a point was woken as often, and in the same order, as in the other engine.
    fn change(&self, queue: &Queue, ctl: &mut PointControl<'_>) {
        let u = ctl.uniform();
        if self.has(0) && u < 0.2 {
            let at = if self.has(1) { RampAt::Arrival } else { RampAt::Departure };
            let low = Bytes::new(self.low + queue.len.get() % 999);
            ctl.mark(Ramp { low, high: low * 4, p_max: 0.6, p_beyond: 1.0, at });
        }
        if self.has(2) && u > 0.8 {
            ctl.advertise(Rate::from_bps(1e9 + (queue.sent % 8191) as f64 * 1e5));
        }
    }
}

#[derive(Debug)]
struct Point(Dial, u32);

impl CongestionPoint for Point {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.0.arm(self.0.gate, ctl);
        if self.0.has(3) {
            ctl.start_timer(Slot(0), Time::from_ns(self.0.timer + u64::from(self.1 % 5) * 10));
        }
        if self.0.has(4) {
            let low = Bytes::new(self.0.low);
            ctl.mark(Ramp { low, high: low * 3, p_max: 0.5, p_beyond: 1.0, at: RampAt::Departure });
        }
        self.0.change(queue, ctl);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        // The message carries all that can be seen.
        let seen = [queue.len.get() ^ queue.arrived << 20, queue.sent ^ u64::from(frame.marked) << 60];
        if ctl.uniform() < 0.5 {
            ctl.notify(frame.flow, Feedback::User(seen));
        }
        if self.0.has(5) && ctl.uniform() < 0.1 {
            ctl.broadcast(Feedback::User(seen));
        }
        if self.0.has(6) {
            frame.marked = !frame.marked;
            frame.tag = Tag::RateDiscovery(Rate::from_gbps(5.0));
        }
        self.0.change(queue, ctl);
        match self.0.gate {
            0 => self.0.arm(0, ctl),
            1 => self.0.arm((queue.len.get() / 64) % 5, ctl),
            _ => {}
        }
    }
    fn on_timer(&mut self, slot: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.start_timer(slot, Time::from_ns(self.0.timer));
        if ctl.uniform() < 0.3 {
            ctl.broadcast(Feedback::User([queue.len.get() ^ queue.arrived << 20, queue.sent]));
        }
        self.0.change(queue, ctl);
        if self.0.has(7) {
            self.0.arm((queue.arrived / 64) % 6, ctl);
        }
    }
}

/// A reaction point that hashes what it is told into its rate.
#[derive(Debug)]
struct Listener;

impl ReactionPoint for Listener {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut cnsim_scheme_api::Limiter<'_>) {
        let Feedback::User([a, b]) = feedback else { return };
        limiter.engage();
        let x = (a ^ b.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        limiter.set_rate(limiter.line_rate() * (0.3 + 0.7 * x as f64 / f64::from(1 << 24)));
    }
}

#[derive(Debug)]
struct Looks(Dial);

impl Scheme for Looks {
    fn name(&self) -> &str {
        "looks"
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(self.0, site.point.0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        self.0.has(8).then(|| Box::new(Listener) as _)
    }
}

/// One to three switches with 2 to 6 hosts each; a window holds from less than one to dozens of frames of a port.
fn scenario(seed: u64) -> RunSpec {
    let mut r = Stream::new(seed, 7, Purpose::Test);
    let mut pick = |n: u64| r.below(n);
    let switches = 1 + pick(3) as usize;
    let hosts = switches * (2 + pick(5) as usize);
    let duration = Time::from_us(60 + pick(80));
    let mut spec = common::single_switch(2, 0.5, false, duration, seed);
    // In phase, at one rate and one length, frames of several inputs arrive at the same moment.
    let aligned = pick(3) == 0;
    let one = common::LENGTHS[pick(5) as usize];
    let alike = aligned.then_some(one);
    spec.hosts = (0..hosts)
        .map(|i| {
            let load = 0.3 + 0.1 * pick(7) as f64;
            let mut s = common::talker(load, alike, &mut pick);
            if pick(4) == 0 {
                s.destinations = Destinations::Fixed(NodeId(if i == 0 { 1 } else { 0 }));
            }
            common::host(i, vec![s])
        })
        .collect();
    let pause = pick(4) == 0;
    let processing = Time::from_ns([100, 400, 1000, 2500][pick(4) as usize]);
    spec.switches = (0..switches)
        .map(|i| {
            let mut buffer = common::buffer(pause);
            if let Some(p) = &mut buffer.pause {
                // So that it happens, with room for what is under way.
                (p.high, p.low) = (Bytes::from_kb(30), Bytes::from_kb(20));
                p.transport = if pick(2) == 0 { PauseTransport::Wire } else { PauseTransport::Frame };
                buffer.share = Bytes::from_mb(2);
            }
            buffer.output_limit = (pick(4) == 0).then(|| Bytes::from_kb(40));
            SwitchSpec { name: format!("S{i}"), ports: 16, processing, buffer, scheme: None }
        })
        .collect();
    common::tangle(&mut spec, (hosts, switches), aligned, &mut pick);
    if pick(3) == 0 {
        common::slow_port(&mut spec);
    }
    if pick(6) == 0 {
        spec.control = ControlTransport::InBand;
    }
    let dial = Dial {
        gate: pick(5),
        bytes: [100, 1500, 5000, 30_000][pick(4) as usize],
        low: [500, 3000, 12_000][pick(3) as usize],
        timer: [90, 700, 3100][pick(3) as usize],
        bits: pick(512),
    };
    common::with_scheme(&mut spec, Arc::new(Looks(dial)));
    spec.record = Record {
        bin: Time::from_ns([500, 7000][pick(2) as usize]),
        queues: (0..4).map(|p| (NodeId(hosts as u32), p)).collect(),
        control: true,
        latency: true,
        ..Record::default()
    };
    spec
}

#[test]
fn points_see_the_same_under_both_engines() {
    let mut told = 0;
    for seed in 0..300 {
        let threads = if seed % 8 == 0 { 4 } else { 1 };
        let ways: Vec<(usize, Visits)> = (1..=threads).map(|n| (n, Visits::Adaptive)).collect();
        told += u64::from(common::agreed(&scenario(seed), seed, &ways).control_messages > 0);
    }
    assert!(told > 200, "points spoke in {told} of 300 runs");
}
