//! BECN and FECN in C07's three networks, against what follows from ports, intervals and capacities.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

const E: [usize; 5] = [0, 1, 2, 3, 4];
const X: usize = 5;

/// A network of six 16-port switches as it is wired: hosts to switches, switches to switches.
struct Wiring {
    /// Switch and link rate of each host.
    hosts: Vec<(usize, f64)>,
    trunks: Vec<(usize, usize)>,
    /// (source, destination, on-off).
    flows: Vec<(usize, usize, bool)>,
}

/// E1..E5 with a host each behind core X; h1..h4 send to h5, of which h1 and h2 are on and off for 20 ms each.
fn symmetric() -> Wiring {
    Wiring {
        hosts: E.map(|e| (e, 10.0)).to_vec(),
        trunks: E.map(|e| (e, X)).to_vec(),
        flows: (0..4).map(|h| (h, 4, h < 2)).collect(),
    }
}

/// Jain's symmetric network with h6 behind 1 Gb/s at E5: h1 and h2 send to h5, h3 and h4 to h6.
fn asymmetric() -> Wiring {
    let mut w = symmetric();
    w.hosts.push((4, 1.0));
    w.flows = vec![(0, 4, false), (1, 4, false), (2, 5, false), (3, 5, false)];
    w
}

/// S1, S2, S3 in a row; E1 with h1..h4 and E2 with h5 behind S1, E3 with h6 and h7 behind S2, h8 and h9 at S3.
/// h1..h4 send to h9 over both trunks, h5 to h7 over the first, h6 to h8 over the second.
fn parking_lot() -> Wiring {
    let (s1, s2, s3, e1, e2, e3) = (0, 1, 2, 3, 4, 5);
    let at = [e1, e1, e1, e1, e2, e3, e3, s3, s3];
    let mut flows: Vec<_> = (0..4).map(|h| (h, 8, false)).collect();
    flows.extend([(4, 6, false), (5, 7, false)]);
    Wiring {
        hosts: at.map(|s| (s, 10.0)).to_vec(),
        trunks: vec![(s1, s2), (s2, s3), (e1, s1), (e2, s1), (e3, s2)],
        flows,
    }
}

/// Ports of the core towards E5, and of E5 towards h5, in the networks with a core.
fn core_port(w: &Wiring) -> (NodeId, u16) {
    (NodeId((w.hosts.len() + X) as u32), 4)
}
fn edge_port(w: &Wiring) -> (NodeId, u16) {
    (NodeId((w.hosts.len() + E[4]) as u32), 0)
}

/// Hosts at the first ports of their switches, trunks at the next.
fn spec(w: &Wiring, scheme: &str, params: &[(&str, &str)], duration: Time, seed: u64) -> RunSpec {
    let n = w.hosts.len();
    let mut used = [0u16; 6];
    let mut port = |s: usize| {
        used[s] += 1;
        (NodeId((n + s) as u32), used[s] - 1)
    };
    let mut links = Vec::new();
    for (h, &(s, gbps)) in w.hosts.iter().enumerate() {
        let (a, b) = ((NodeId(h as u32), 0), port(s));
        links.push(LinkSpec { a, b, rate: Rate::from_gbps(gbps), delay: Time::from_ns(500) });
    }
    for &(s, t) in &w.trunks {
        let (a, b) = (port(s), port(t));
        links.push(LinkSpec { a, b, rate: Rate::from_gbps(10.0), delay: Time::from_ns(500) });
    }
    let ms20 = Time::from_ms(20);
    let source = |&(_, dst, on_off): &(usize, usize, bool)| {
        let on_off = on_off.then_some(Arrivals::OnOff { on: ms20, off: ms20, shift: Time::ZERO });
        common::source(on_off.unwrap_or(Arrivals::Greedy), Destinations::Fixed(NodeId(dst as u32)))
    };
    let host = |h: usize| {
        common::host(format!("h{}", h + 1), w.flows.iter().filter(|f| f.0 == h).map(source).collect())
    };
    let switch = |s: usize| {
        let buffer = BufferSpec {
            organisation: Organisation::SharedOutput,
            share: Bytes::from_kb(150),
            output_limit: None,
            pause: Some(PauseSpec { global: true, ..common::pause(140, 130) }),
        };
        common::switch(format!("S{s}"), 16, buffer)
    };
    RunSpec {
        transport: None,
        graph: None,
        hosts: (0..n).map(host).collect(),
        switches: (0..6).map(switch).collect(),
        links,
        laws: Laws { control: ControlTransport::InBand, ..Laws::default() },
        duration,
        seed,
        record: Record {
            bin: Time::from_ms(1),
            queues: vec![core_port(w), edge_port(w)],
            flows: w.flows.iter().map(|f| (NodeId(f.0 as u32), NodeId(f.1 as u32))).collect(),
            ..Record::default()
        },
        ..common::network(common::scheme(scheme, params))
    }
}

/// What came out, in Gb/s.
struct Seen {
    out: Outcome,
    overhead: f64,
    /// Per flow, from `from` ms on.
    rates: Vec<f64>,
    total: f64,
}

impl Seen {
    /// Mean length of a queue, bytes.
    fn queue(&self, (node, port): (NodeId, u16)) -> f64 {
        let lengths = &self.out.series(SeriesKind::Queue { node, port }).unwrap().values;
        lengths.iter().sum::<f64>() / lengths.len() as f64
    }
}

fn see(w: &Wiring, scheme: &str, params: &[(&str, &str)], ms: u64, from: usize, seed: u64) -> Seen {
    let spec = spec(w, scheme, params, Time::from_ms(ms), seed);
    let out = run(&spec, &Options { threads: 1, ..Options::default() }).unwrap();
    let mean = |f: &(usize, usize, bool)| {
        let (src, dst) = (NodeId(f.0 as u32), NodeId(f.1 as u32));
        let bins = &out.series(SeriesKind::Flow { src, dst }).unwrap().values[from..];
        bins.iter().sum::<f64>() / bins.len() as f64 / 1e9
    };
    let rates: Vec<f64> = w.flows.iter().map(mean).collect();
    let overhead = out.messages.bits as f64 / out.duration.as_secs_f64() / 1e9;
    Seen { overhead, total: rates.iter().sum(), rates, out }
}

fn assert_near(x: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((x / expected - 1.0).abs() < tolerance, "{what}: {x:.5}, expected {expected:.5}");
}

/// Control load of `ports` congestion points, Gb/s.
fn control(ports: u64, interval: Time) -> f64 {
    ports as f64 * 512.0 / interval.as_secs_f64() / 1e9
}

/// 96 ports x 512 bit / T: 1.638 Gb/s at 30 us. It passes E5 -> h5 whole, which is why that port becomes the bottleneck
/// and carries so much less data.
#[test]
fn becn_overhead_is_the_loss() {
    let w = symmetric();
    let s = see(&w, "becn", &[("interval", "30 us")], 100, 0, 1);
    let load = control(96, Time::from_us(30));
    assert_near(load, 1.638, 1e-3, "by hand");
    assert_near(s.overhead, load, 0.01, "overhead at 30 us");
    assert_near(s.total, 10.0 - load, 0.02, "hot throughput");
    let (core, edge) = (s.queue(core_port(&w)), s.queue(edge_port(&w)));
    assert!(edge > 2.0 * core, "mean queue at the edge {edge:.0}, at the core {core:.0}");
    assert_eq!((s.out.dropped(), s.out.messages.discarded, s.out.freeze.last_delivery), (0, 0, None));
}

/// Ten, a hundred and four hundred times less: 163.8, 16.4 and (with 8 or 9 messages a port in 100 ms) 4.1 Mb/s.
#[test]
fn becn_overhead_by_interval() {
    for (text, interval, seeds, tolerance) in
        [("300 us", 300, 1, 0.01), ("3 ms", 3000, 1, 0.01), ("12 ms", 12_000, 4, 0.05)]
    {
        let one = |seed| see(&symmetric(), "becn", &[("interval", text)], 100, 0, seed).overhead;
        let mean = (1..=seeds).map(one).sum::<f64>() / seeds as f64;
        assert_near(mean, control(96, Time::from_us(interval)), tolerance, text);
    }
}

/// The 1 Gb/s port has 1000 - 163.8 Mb/s for two flows, and its rate rules all four.
#[test]
fn becn_the_most_severe_port_rules_all() {
    let each = (1.0 - control(96, Time::from_us(300))) / 2.0;
    assert_near(each, 0.418, 1e-3, "by hand");
    for seed in 1..=4 {
        let s = see(&asymmetric(), "becn", &[("interval", "300 us")], 100, 0, seed);
        s.rates.iter().for_each(|&r| assert_near(r, each, 0.02, "each flow"));
        assert_near(s.total, 4.0 * each, 0.02, "aggregate");
    }
}

/// At 30 us the control messages alone are more than the 1 Gb/s port can send: E5 and the core stop each other.
#[test]
fn becn_overruns_the_slow_link() {
    for seed in 1..=4 {
        let s = see(&asymmetric(), "becn", &[], 40, 0, seed);
        let since = s.out.freeze.last_delivery.expect("nothing is delivered any more");
        assert!(since < Time::from_ms(15), "{since}");
        assert!(s.total < 0.5, "{}", s.total);
        assert_eq!(s.out.dropped(), 0, "PAUSE keeps data");
        assert!(s.out.messages.discarded > 0, "messages have no such protection");
        assert!(s.out.hosts[..4].iter().all(|h| h.pause.time > Time::from_ms(20)));
    }
}

/// Six equal rates: 80 of the 96 ports send over the second trunk, which five flows share with them.
#[test]
fn becn_parking_lot_is_max_min_fair() {
    let s = see(&parking_lot(), "becn", &[], 60, 2, 1);
    let each = (10.0 - control(80, Time::from_us(30))) / 5.0;
    assert_near(each, 1.727, 1e-3, "by hand");
    s.rates.iter().for_each(|&r| assert_near(r, each, 0.01, "each flow"));
    assert_near(12.0 - s.total, control(96, Time::from_us(30)), 0.03, "aggregate loss");
}

/// C/5 each, as the control goes the other way; without the average the short flows get more.
#[test]
fn fecn_parking_lot_is_max_min_fair() {
    let s = see(&parking_lot(), "fecn", &[], 100, 2, 1);
    s.rates.iter().for_each(|&r| assert_near(r, 2.0, 0.03, "each flow"));
    let s = see(&parking_lot(), "fecn", &[("alpha", "1")], 100, 2, 1);
    let (long, short) = (s.rates[..4].iter().sum::<f64>() / 4.0, (s.rates[4] + s.rates[5]) / 2.0);
    assert!(short > 1.3 * long, "alpha = 1: {long:.3} long, {short:.3} short");
}

/// Only the flows over a bottleneck hear of it: 0.5 + 0.5 Gb/s over the slow link, the rest for the others.
#[test]
fn fecn_fills_both_bottlenecks() {
    let s = see(&asymmetric(), "fecn", &[], 100, 2, 1);
    for (i, expected) in [4.5, 4.5, 0.5, 0.5].into_iter().enumerate() {
        assert_near(s.rates[i], expected, 0.02, "each flow");
    }
}

/// One message per tagged frame of 10 Gb/s: 426.7, 42.7, 21.3 Mb/s; at 1 % rates are erratic and leave capacity unused.
#[test]
fn fecn_overhead_by_tagging_rate() {
    for (text, p, tolerance) in [("1", 1.0, 0.01), ("0.1", 0.1, 0.03), ("0.05", 0.05, 0.1)] {
        let s = see(&symmetric(), "fecn", &[("tagging", text)], 100, 0, 1);
        assert_near(s.overhead, 10.0 / 12_000.0 * 512.0 * p, tolerance, text);
    }
    let one = |seed| see(&symmetric(), "fecn", &[("tagging", "0.01")], 100, 0, seed).overhead;
    let mean = (1..=8).map(one).sum::<f64>() / 8.0;
    assert!((0.0025..0.00427).contains(&mean), "1 %: {mean}");
}

/// Both engines, and any number of threads, give the same bits.
#[test]
fn engines_agree() {
    for scheme in ["becn", "fecn"] {
        for w in [symmetric(), asymmetric(), parking_lot()] {
            let prints =
                [(Engine::Model, 1), (Engine::Fast, 1), (Engine::Fast, 3)].map(|(engine, threads)| {
                    let spec = spec(&w, scheme, &[], Time::from_ms(4), 1);
                    run(&spec, &Options { engine, threads, ..Options::default() }).unwrap().fingerprint
                });
            assert!(prints.iter().all(|p| *p == prints[0]), "{scheme}");
        }
    }
}
