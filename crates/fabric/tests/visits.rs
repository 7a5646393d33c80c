//! Windows that hold few frames: the engine may visit some nodes only, and chooses by itself. Nobody must see it.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Feedback, FrameView, NodeId, PointControl, Queue, QueueSite, Ramp, RampAt, Rate,
    Scheme, Time,
};
use std::sync::Arc;

/// Two levels of switches, two spines, `per` hosts a leaf.
fn leaves(per: usize, load: f64, duration: Time, seed: u64) -> RunSpec {
    let (leaves, spines) = (4, 2);
    let hosts = leaves * per;
    let mut spec = common::single_switch(2, load, true, duration, seed);
    spec.hosts = (0..hosts).map(|i| common::host(i, vec![common::bernoulli(load)])).collect();
    let mut switch = spec.switches[0].clone();
    switch.ports = (per + spines).max(leaves) as u16;
    spec.switches = vec![switch; leaves + spines];
    spec.links = (0..hosts).map(|h| common::link((h, 0), (hosts + h / per, h % per))).collect();
    for l in 0..leaves {
        for s in 0..spines {
            spec.links.push(common::link((hosts + l, per + s), (hosts + leaves + s, l)));
        }
    }
    spec.routing = Routing::FrameHash;
    spec
}

const ONE: [(usize, Visits); 4] =
    [(1, Visits::All), (1, Visits::Due), (1, Visits::Turns), (1, Visits::Adaptive)];
const SEVERAL: [(usize, Visits); 3] = [(2, Visits::Due), (3, Visits::Turns), (2, Visits::Adaptive)];

/// How a network is run. Barriers are dear where cores are few, so one network in four is run on several threads as well.
fn ways(seed: u64) -> Vec<(usize, Visits)> {
    let several = if seed.is_multiple_of(4) { &SEVERAL[..] } else { &[] };
    [&ONE[..], several].concat()
}

/// Loads of 0.1 to 30 %, delays of 60 ns to 20 us beside each other, frames of 64 to 9216 B, phases all alike (everything a
/// tie), PAUSE on memory for a few frames.
#[test]
fn thin_loads_agree_with_the_oracle() {
    for seed in 0..40 {
        let mut r = Stream::new(seed, 1, Purpose::Test);
        let mut pick = |n: u64| r.below(n) as usize;
        let load = [0.001, 0.01, 0.05, 0.1, 0.3][pick(5)];
        let mut spec = leaves(1 + pick(4), load, Time::from_us(200 + pick(3) as u64 * 133), seed);
        let (tight, tie) = (pick(2) == 0, pick(3) == 0);
        for h in &mut spec.hosts {
            for s in &mut h.sources {
                s.frame = Bytes::new(if tie { 1500 } else { [64, 300, 1500, 1500, 9216][pick(5)] });
                s.phase = if tie { Phase::Aligned } else { Phase::Random };
            }
        }
        for l in &mut spec.links {
            let delay = if tie { 100 } else { [60, 100, 100, 500, 3_000, 20_000][pick(6)] };
            l.delay = Time::from_ns(delay);
            l.rate = Rate::from_gbps(if tie { 10.0 } else { [1.0, 10.0, 40.0][pick(3)] });
        }
        for s in &mut spec.switches {
            s.processing = Time::ZERO;
            s.buffer.organisation =
                [Organisation::Crosspoint, Organisation::Input, Organisation::SharedOutput][pick(3)];
            let high = if tight { 3 } else { 40 };
            s.buffer.share = Bytes::from_mb(2);
            s.buffer.pause = Some(PauseSpec {
                high: Bytes::from_kb(high),
                low: Bytes::from_kb(high / 2),
                global: pick(4) == 0,
                pool: pick(2) == 0,
                transport: if pick(2) == 0 { PauseTransport::Frame } else { PauseTransport::Wire },
            });
        }
        for h in &mut spec.hosts {
            h.processing = Time::ZERO;
        }
        if pick(3) == 0 {
            common::hotspot(&mut spec, Rate::from_gbps([0.0, 0.2][pick(2)]));
        }
        spec.record = Record {
            bin: Time::from_us(70),
            queues: vec![(NodeId(spec.hosts.len() as u32), 0)],
            matrix: true,
            ..Record::default()
        };
        common::agreed(&spec, seed, &ways(seed));
    }
}

/// Marks by a ramp that it changes, samples, and stops.
#[derive(Debug, Clone, Copy)]
struct Sampler(u64);

impl CongestionPoint for Sampler {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::new(self.0));
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let u = ctl.uniform();
        ctl.sample_after(Bytes::new(self.0 / 2 + queue.len.get() % 977 + (u * 9e3) as u64));
        if u < 0.3 {
            ctl.notify(frame.flow, Feedback::User([queue.len.get() ^ queue.sent << 20, queue.arrived]));
        }
        if u > 0.8 {
            let at = if u > 0.9 { RampAt::Departure } else { RampAt::Arrival };
            let low = Bytes::new(2_000);
            ctl.mark(Ramp { low, high: low * 4, p_max: 0.5, p_beyond: 1.0, at });
        }
    }
}

impl Scheme for Sampler {
    fn name(&self) -> &str {
        "sampler"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(*self))
    }
}

/// Short links and long frames at high load: what waits is put on its wire ahead, and taken back when a PAUSE, a message, a
/// change or a sample comes between.
#[test]
fn busy_links_with_thin_windows_agree_with_the_oracle() {
    let mut xoffs = 0;
    for seed in 0..60 {
        let mut r = Stream::new(seed, 4, Purpose::Test);
        let mut pick = |n: u64| r.below(n) as usize;
        let load = [0.3, 0.6, 0.9][pick(3)];
        let mut spec = leaves(1 + pick(4), load, Time::from_us(250 + pick(3) as u64 * 77), seed);
        let tie = pick(3) == 0;
        for h in &mut spec.hosts {
            h.processing = Time::ZERO;
            for s in &mut h.sources {
                s.frame = Bytes::new(if tie { 1500 } else { [300, 1500, 1500, 9000][pick(4)] });
                s.phase = if tie { Phase::Aligned } else { Phase::Random };
                if pick(4) == 0 {
                    s.destinations = Destinations::Among(vec![NodeId(0), NodeId(1)]);
                }
            }
        }
        for l in &mut spec.links {
            l.delay = Time::from_ns(if tie { 100 } else { [60, 100, 100, 300][pick(4)] });
            l.rate = Rate::from_gbps(if tie { 10.0 } else { [10.0, 10.0, 25.0][pick(3)] });
        }
        let organisation = [Organisation::Crosspoint, Organisation::Input][pick(2)];
        let high = [13, 20, 60, 500][pick(4)];
        let wire = pick(2) == 0;
        for s in &mut spec.switches {
            s.processing = Time::ZERO;
            s.buffer.organisation = organisation;
            s.buffer.share = Bytes::from_mb(2);
            s.buffer.output_limit = None;
            s.buffer.pause = Some(PauseSpec {
                high: Bytes::from_kb(high),
                low: Bytes::from_kb(high / 2),
                global: false,
                pool: false,
                transport: if wire { PauseTransport::Wire } else { PauseTransport::Frame },
            });
            if high == 500 && pick(2) == 0 {
                s.buffer.pause = None;
                s.buffer.share = Bytes::from_kb([30, 100][pick(2)]);
            }
        }
        if pick(3) == 0 {
            common::hotspot(&mut spec, Rate::from_gbps([0.0, 2.0][pick(2)]));
        }
        if pick(2) == 0 {
            common::with_scheme(&mut spec, Arc::new(Sampler([30_000, 150_000][pick(2)])));
        }
        let out = common::agreed(&spec, seed, &ways(seed));
        xoffs += out.switches.iter().flat_map(|s| &s.ports).map(|p| p.xoffs).sum::<u64>();
    }
    assert!(xoffs > 100, "{xoffs} XOFFs");
}

/// The load comes and goes, so that the choice is made anew again and again.
#[test]
fn the_choice_changes_with_the_load() {
    for seed in 0..2 {
        let mut spec = leaves(3, 0.02, Time::from_us(4_800), seed);
        for h in &mut spec.hosts {
            let mut burst = common::bernoulli(0.9);
            burst.arrivals =
                Arrivals::OnOff { on: Time::from_us(1200), off: Time::from_us(1200), shift: Time::ZERO };
            h.sources.push(burst);
        }
        common::agreed(&spec, seed, &ways(seed));
        #[cfg(debug_assertions)]
        {
            use cnsim_fabric::marks::{Mark, forget, seen};
            for threads in [1, 2] {
                forget();
                run(&spec, &Options { threads, ..Options::default() }).unwrap();
                // Each worker visits all in the first burst, chooses what is due after it, all in the second, and what is due again.
                let chosen = (seen(Mark::ChoseDue), seen(Mark::ChoseAll));
                assert_eq!(chosen, (2 * threads as u64, threads as u64), "seed {seed}, {threads} threads");
                assert!(seen(Mark::ThinWindow) > 0 && seen(Mark::CalmWindow) > 0);
            }
        }
    }
}
