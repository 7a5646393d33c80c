//! Stars in which nothing but data and PAUSE comes back to a host: windows may be as long as the switch can promise to stay quiet.
//! Nobody must see it, with memory that fills, PAUSE that begins and ends, and ports that are slowed down.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

/// Calm for the most part, then busy, then calm: so that promises are given, refused, and given again.
fn star(seed: u64) -> RunSpec {
    let mut r = Stream::new(seed, 3, Purpose::Test);
    let mut pick = |n: u64| r.below(n) as usize;
    let hosts = 2 + pick(9);
    let duration = Time::from_us(700 + pick(700) as u64);
    let mut spec = common::single_switch(hosts, 0.1, false, duration, seed);
    let (tie, again) = (pick(3) == 0, pick(2) == 0);
    for h in &mut spec.hosts {
        h.processing = Time::from_ns(pick(3) as u64 * 500);
        h.fifo_frames = [4, 500][pick(2)];
        if pick(4) == 0 {
            h.queues = HostQueues::PerDestination;
        }
        let source = |pick: &mut dyn FnMut(u64) -> usize| {
            let mut s = common::bernoulli([0.003, 0.02, 0.1, 0.3, 0.8][pick(5)]);
            s.frame = Bytes::new(if tie { 1500 } else { [64, 300, 1500, 1500, 9216][pick(5)] });
            s.phase = if tie { Phase::Aligned } else { Phase::Random };
            s
        };
        let mut quiet = source(&mut pick);
        if pick(5) == 0 {
            quiet.arrivals = Arrivals::OnOff {
                on: Time::from_us(15),
                off: Time::from_us(90),
                shift: Time::from_us(pick(30) as u64),
            };
        }
        h.sources = vec![quiet];
        if pick(4) > 0 {
            // All to one port, for a while or again and again.
            let mut burst = source(&mut pick);
            burst.arrivals = Arrivals::Greedy;
            burst.destinations = Destinations::Fixed(NodeId(0));
            if again {
                let (on, off) = (Time::from_us(20), Time::from_us(150));
                burst.arrivals = Arrivals::OnOff { on, off, shift: Time::ZERO };
            } else {
                (burst.start, burst.stop) = (duration.scale(0.4), duration.scale(0.5));
            }
            h.sources.push(burst);
        }
    }
    spec.hosts[0].sources.truncate(1);
    for l in &mut spec.links {
        let delay = if tie { 500 } else { [60, 300, 500, 1_700, 20_000][pick(5)] };
        l.delay = Time::from_ns(delay);
        l.rate = Rate::from_gbps(if tie { 10.0 } else { [1.0, 10.0, 40.0, 100.0][pick(4)] });
    }
    let (paused, high) = (pick(3) > 0, [12, 40, 130][pick(3)]);
    let switch = &mut spec.switches[0];
    switch.ports = (hosts + pick(3)) as u16;
    switch.processing = Time::from_ns(pick(3) as u64 * 500);
    switch.buffer = BufferSpec {
        organisation: [Organisation::Crosspoint, Organisation::Input, Organisation::SharedOutput][pick(3)],
        share: if paused { Bytes::from_mb(8) } else { Bytes::from_kb([20, 60, 150][pick(3)]) },
        output_limit: (pick(4) == 0).then(|| Bytes::from_kb(40)),
        pause: paused.then(|| PauseSpec {
            high: Bytes::from_kb(high),
            low: Bytes::from_kb(high / 2),
            global: pick(4) == 0,
            pool: pick(2) == 0,
            transport: if pick(2) == 0 { PauseTransport::Frame } else { PauseTransport::Wire },
        }),
    };
    for h in &mut spec.hosts {
        h.processing = h.processing.max(Time::from_ns(500));
    }
    spec.switches[0].processing = spec.switches[0].processing.max(Time::from_ns(100));
    if pick(2) == 0 {
        let node = NodeId(hosts as u32);
        let change = |at: f64, gbps: f64| RateChange {
            at: duration.scale(at),
            node,
            port: 0,
            rate: Rate::from_gbps(gbps),
        };
        let line = spec.links[0].rate.bps() / 1e9;
        spec.changes = vec![change(0.6, [0.0, 0.4][pick(2)]), change(0.75, line)];
    }
    spec.record = Record {
        bin: Time::from_us(13),
        queues: vec![(NodeId(hosts as u32), 0), (NodeId(hosts as u32), 1)],
        delivered: vec![NodeId(0)],
        rates: vec![],
        flows: vec![(NodeId(0), NodeId(1))],
        control: true,
        matrix: true,
        latency: true,
    };
    spec
}

#[test]
fn long_windows_agree_with_the_oracle() {
    let (mut pauses, mut drops) = (0, 0);
    for seed in 0..160 {
        let ways = [Visits::All, Visits::Turns, Visits::Adaptive].map(|visits| (1, visits));
        let o = common::agreed(&star(seed), seed, &ways);
        pauses += u64::from(o.hosts.iter().any(|h| h.pauses > 0));
        drops += u64::from(o.switches.iter().flat_map(|s| &s.ports).any(|p| p.dropped > 0));
    }
    assert!(pauses > 20 && drops > 10, "{pauses} runs with PAUSE, {drops} with drops");
}
