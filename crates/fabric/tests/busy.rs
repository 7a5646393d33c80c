//! Windows that hold tens to hundreds of frames of a queue: those of small frames on long links. Nobody must see how they are
//! put in order, nor when a queue is relieved of what has left.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, FrameView, NodeId, PointControl, Queue, QueueSite, Ramp, RampAt, Rate, Scheme,
    Time,
};
use std::sync::Arc;

/// Marks by a ramp, and samples now and then.
#[derive(Debug, Clone, Copy)]
struct Marker(RampAt, u64);

impl CongestionPoint for Marker {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        let low = Bytes::new(self.1);
        ctl.mark(Ramp { low, high: low * 3, p_max: 0.5, p_beyond: 1.0, at: self.0 });
        ctl.sample_after(Bytes::new(self.1 * 7));
    }
    fn on_sample(&mut self, _: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::new(self.1 * 5 + queue.len.get() % 97));
    }
}

impl Scheme for Marker {
    fn name(&self) -> &str {
        "marker"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(*self))
    }
}

/// Two levels of switches, or one; 64 to 300 B; memory that is mostly just enough, or not.
fn scenario(seed: u64) -> RunSpec {
    let mut r = Stream::new(seed, 2, Purpose::Test);
    let mut pick = |n: u64| r.below(n) as usize;
    let (per, leaves) = (2 + pick(4), [1, 1, 3][pick(3)]);
    let hosts = per * leaves;
    let mut spec = common::single_switch(2, 0.5, true, Time::from_us(120), seed);
    let aligned = pick(4) == 0;
    let load = [0.5, 0.85, 0.97][pick(3)];
    spec.hosts = (0..hosts).map(|i| common::host(i, vec![common::bernoulli(load)])).collect();
    for h in &mut spec.hosts {
        h.fifo_frames = [30, 500][pick(2)];
        for s in &mut h.sources {
            s.frame = Bytes::new(if aligned { 64 } else { [64, 64, 128, 300][pick(4)] });
            s.phase = if aligned { Phase::Aligned } else { Phase::Random };
            if pick(4) == 0 {
                s.destinations = Destinations::Among(vec![NodeId(0), NodeId(1), NodeId(hosts as u32 - 1)]);
            }
        }
    }
    let mut switch = spec.switches[0].clone();
    let high = [2, 6, 40][pick(3)];
    switch.buffer = BufferSpec {
        organisation: [Organisation::Crosspoint, Organisation::Crosspoint, Organisation::Input][pick(3)],
        share: Bytes::from_kb([3, 150][pick(2)]),
        output_limit: (pick(3) == 0).then(|| Bytes::from_kb(4)),
        pause: None,
    };
    if pick(2) == 0 {
        switch.buffer.share = Bytes::from_mb(2);
        switch.buffer.pause = Some(PauseSpec {
            high: Bytes::from_kb(high),
            low: Bytes::from_kb(high / 2),
            global: pick(4) == 0,
            pool: false,
            transport: if pick(2) == 0 { PauseTransport::Frame } else { PauseTransport::Wire },
        });
    }
    common::leaves_and_spines(&mut spec, switch, per, leaves);
    let least = [1_000, 3_000, 8_000][pick(3)];
    for l in &mut spec.links {
        l.delay = Time::from_ns(least + if aligned { 0 } else { pick(3) as u64 * 777 });
        l.rate = Rate::from_gbps(if aligned { 10.0 } else { [10.0, 10.0, 7.0, 40.0][pick(4)] });
    }
    spec.routing = [Routing::FrameHash, Routing::RoundRobin][pick(2)];
    if pick(3) == 0 {
        common::hotspot(&mut spec, Rate::from_gbps([0.0, 2.0][pick(2)]));
    }
    if pick(2) == 0 {
        let at = if pick(2) == 0 { RampAt::Arrival } else { RampAt::Departure };
        common::with_scheme(&mut spec, Arc::new(Marker(at, [500, 3_000][pick(2)])));
    }
    spec.record = Record {
        bin: Time::from_us(9),
        queues: vec![(NodeId(hosts as u32), 0)],
        matrix: true,
        latency: true,
        ..Record::default()
    };
    spec
}

#[test]
fn busy_windows_agree_with_the_oracle() {
    for seed in 0..60 {
        let ways = [(1, Visits::All), (1, Visits::Turns), (2 + seed as usize % 3, Visits::All)];
        common::agreed(&scenario(seed), seed, &ways);
    }
}
