//! Finite flows and classes of data: several at a time between two hosts, each with its own end; PAUSE of a class stops that class alone.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

fn flow(start_us: u64, dst: u32, bytes: u64) -> Transfer {
    Transfer { start: Time::from_us(start_us), dst: NodeId(dst), bytes: Bytes::new(bytes) }
}

/// A source of these flows, whose slots begin at the first of them.
fn flows(transfers: Vec<Transfer>) -> SourceSpec {
    SourceSpec { arrivals: Arrivals::Transfers, phase: Phase::Aligned, transfers, ..common::bernoulli(0.0) }
}

const BOTH: [Engine; 2] = [Engine::Fast, Engine::Model];

/// A long flow and a short one that begins later, between the same hosts: they share the link frame by frame, the short one is over
/// first, and each has its own time, by arithmetic.
#[test]
fn two_flows_of_a_pair_have_their_own_ends() {
    let mut spec = common::single_switch(2, 0.0, true, Time::from_ms(2), 1);
    spec.hosts[0].sources = vec![flows(vec![flow(0, 1, 600_000), flow(60, 1, 15_000)])];
    spec.hosts[1].sources.clear();
    for engine in BOTH {
        let out = run(&spec, &Options { engine, ..Options::default() }).unwrap();
        let ends: Vec<(u64, Time)> = out.hosts[1].completions.iter().map(|c| (c.bytes, c.end)).collect();
        // Two transmissions and 3 us after its first bit a frame is there; 410 of them follow each other.
        let after = Time::from_ns(2 * 1200) + Time::from_us(3);
        let at = |frame: u64| Time::from_ns(frame * 1200) + after;
        let [short, long] = ends[..] else { panic!("{engine:?}: {ends:?}") };
        assert_eq!(long, (600_000, at(409)), "{engine:?}");
        // Of 50 frames sent at 60 us; then every second one is the short flow's.
        assert_eq!(short.0, 15_000);
        assert!(short.1 >= at(50 + 18) && short.1 <= at(50 + 22), "{engine:?}: {}", short.1);
        assert_eq!(out.hosts[1].incomplete, 0);
    }
}

/// Random flows, many at a time in each pair, over networks with every feature: both engines agree, and every frame finds its flow.
#[test]
fn many_flows_of_a_pair_agree_with_the_oracle() {
    let (mut done, mut overtaken) = (0, 0);
    for seed in 0..40 {
        let mut r = Stream::new(seed, 3, Purpose::Test);
        let mut pick = |n: u64| r.below(n);
        let hosts = 2 + pick(4) as usize;
        let mut spec = common::single_switch(hosts, 0.5, pick(2) == 0, Time::from_us(600), seed);
        for h in 0..hosts {
            let mut list = |n: u64| {
                let one = |_| {
                    let dst = (h as u64 + 1 + pick(hosts as u64 - 1)) % hosts as u64;
                    flow(pick(300), dst as u32, pick(20_000))
                };
                flows((0..n).map(one).collect())
            };
            let (a, b) = (list(30), list(5));
            spec.hosts[h].sources = vec![a, b];
            if h == 0 {
                // Endless traffic between the same hosts belongs to no flow.
                spec.hosts[h].sources.push(common::bernoulli(0.2));
            }
        }
        let switches = 1 + pick(3) as usize;
        let one = spec.switches[0].clone();
        spec.switches = vec![SwitchSpec { ports: 24, ..one }; switches];
        common::tangle(&mut spec, (hosts, switches), pick(2) == 0, &mut pick);
        if let Some(p) = &mut spec.switches[0].buffer.pause {
            p.low = Bytes::from_kb(20);
        }
        if seed % 2 == 1 {
            spec.rounding = [Rounding::Exact, Rounding::WholeNs][pick(2) as usize];
            spec.hosts.iter_mut().for_each(|h| h.clock_ppm = pick(2000) as f64 - 1000.0);
            spec.routing = [Routing::FlowHash, Routing::PolarisedHash, Routing::ForkHash][pick(3) as usize];
            spec.switches.iter_mut().enumerate().for_each(|(i, s)| s.name = format!("S{}", 100 + i));
            if spec.routing == Routing::ForkHash {
                spec.hosts[0].sources.pop();
            }
        }
        let ways = [(1, Visits::Adaptive), (2, Visits::All), (1, Visits::Due)];
        let out = common::agreed(&spec, seed, &ways);
        for h in &out.hosts {
            done += h.completions.len();
            let pairs = h.completions.windows(2).filter(|c| c[0].src == c[1].src && c[0].start > c[1].start);
            overtaken += pairs.count();
        }
    }
    assert!(done > 3000 && overtaken > 300, "{done} flows, {overtaken} overtook");
}

/// Flows of the fork's H1 to H8, to H11 to H18, over three spines: their hashes at S10, worked out by another program, leave 2 2 2 0 1 0
/// 1 1 over. The fork lists equal next hops by falling number, so that 2 is the spine with the least.
#[test]
fn the_forks_flows_take_the_forks_paths() {
    let hosts = 16;
    let mut spec = common::single_switch(hosts, 0.0, false, Time::from_us(200), 1);
    let number = |h: usize| if h < 8 { h + 1 } else { h + 3 };
    spec.routing = Routing::ForkHash;
    spec.hosts.iter_mut().enumerate().for_each(|(h, host)| host.name = format!("H{}", number(h)));
    spec.hosts.iter_mut().for_each(|host| host.sources.clear());
    (0..8).for_each(|h| spec.hosts[h].sources = vec![flows(vec![flow(0, h as u32 + 8, 1500)])]);
    let named = |n: u32| SwitchSpec { name: format!("S{n}"), ports: 11, ..spec.switches[0].clone() };
    spec.switches = [10, 19, 22, 20, 21].map(named).to_vec();
    let to_hosts = (0..hosts).map(|h| common::link((h, 0), (hosts + h / 8, h % 8)));
    let up = (0..6).map(|i| common::link((hosts + i / 3, 8 + i % 3), (hosts + 2 + i % 3, i / 3)));
    spec.links = to_hosts.chain(up).collect();
    for engine in BOTH {
        let out = run(&spec, &Options { engine, ..Options::default() }).unwrap();
        let sent = |port: usize| out.switches[0].ports[port].sent;
        assert_eq!([sent(8), sent(9), sent(10)], [2, 3, 3], "{engine:?}: to S22, S20, S21");
        assert_eq!(out.hosts.iter().map(|h| h.completions.len()).sum::<usize>(), 8, "{engine:?}");
    }
}

/// Frames of 1048 B at 100 Gb/s take 83.84 ns: 1000 of them end 0.84 us earlier where times are cut to whole nanoseconds, on both
/// links; a clock that runs 1000 ppm too fast makes its host's transmissions shorter by a thousandth, and no others.
#[test]
fn rounding_and_clocks_by_arithmetic() {
    let mut spec = common::single_switch(2, 0.0, true, Time::from_ms(2), 1);
    spec.links.iter_mut().for_each(|l| l.rate = Rate::from_gbps(100.0));
    let frames = SourceSpec { frame: Bytes::new(1048), ..flows(vec![flow(0, 1, 1_048_000)]) };
    spec.hosts[0].sources = vec![frames];
    spec.hosts[1].sources.clear();
    for engine in BOTH {
        let end = |spec: &RunSpec| {
            let out = run(spec, &Options { engine, ..Options::default() }).unwrap();
            out.hosts[1].completions[0].end.as_ps() - 3_000_000
        };
        assert_eq!(end(&spec), 1001 * 83_840, "{engine:?}");
        assert_eq!(
            end(&RunSpec { rounding: Rounding::WholeNs, ..spec.clone() }),
            1001 * 83_000,
            "{engine:?}"
        );
        let mut slow = spec.clone();
        slow.hosts[0].clock_ppm = -1000.0;
        assert_eq!(end(&slow), 1000 * 83_924 + 83_840, "{engine:?}");
        slow.hosts[1].clock_ppm = 500.0;
        assert_eq!(end(&slow), 1000 * 83_924 + 83_840, "{engine:?}: the receiver's says nothing");
    }
}

/// Two classes at one switch; the second one's receiver is slow.
fn two_classes(pause: bool) -> RunSpec {
    let mut spec = common::single_switch(4, 0.0, true, Time::from_ms(20), 1);
    spec.classes =
        vec![ClassSpec { name: "first".into(), pause: true }, ClassSpec { name: "second".into(), pause }];
    let source = |class, dst| SourceSpec {
        class,
        destinations: Destinations::Fixed(NodeId(dst)),
        ..common::bernoulli(0.4)
    };
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].sources = vec![source(0, 2), source(1, 3)];
    spec.hosts[1].sources = vec![source(0, 2)];
    spec.changes =
        vec![RateChange { at: Time::from_ms(1), node: NodeId(4), port: 3, rate: Rate::from_gbps(1.0) }];
    spec
}

/// XOFF of the second class stops it and not the first, which shares its host, its link and its switch; without PAUSE of its own it
/// loses what does not fit.
#[test]
fn pause_of_a_class_stops_that_class_alone() {
    for engine in BOTH {
        let go = |spec: &RunSpec| run(spec, &Options { engine, ..Options::default() }).unwrap();
        let out = go(&two_classes(true));
        assert_eq!(out.dropped(), 0);
        assert!(out.hosts[0].pauses > 10 && out.hosts[0].paused > Time::from_ms(10), "{:?}", out.hosts[0]);
        assert_eq!(out.hosts[1].pauses, 0, "none of its frames is of the second class");
        let gbps = |h: usize| out.hosts[h].delivered_bits as f64 / 20e-3 / 1e9;
        assert!((gbps(2) - 8.0).abs() < 0.1, "the first class: {}", gbps(2));
        assert!((gbps(3) - (4.0 + 19.0) / 20.0).abs() < 0.2, "the second: {}", gbps(3));

        let lossy = go(&two_classes(false));
        assert!(lossy.hosts.iter().all(|h| h.pauses == 0));
        assert!(
            lossy.switches[0].ports[3].dropped > 1000
                && lossy.dropped() == lossy.switches[0].ports[3].dropped
        );
        let difference = lossy.hosts[2].delivered.abs_diff(out.hosts[2].delivered);
        assert!(difference < 20, "the first class does not notice: {difference} frames");

        // In one class the first suffers with the second.
        let mut one = two_classes(true);
        one.classes.clear();
        one.hosts[0].sources[1].class = 0;
        let one = go(&one);
        assert!(one.hosts[2].delivered_bits < out.hosts[2].delivered_bits * 4 / 5);
        // The second class is sent from host 0 to host 3 over the switch; hosts 1 and 2 run the fast way.
        let (all, nodes) = ([0, 1, 2, 3, 4].map(NodeId).to_vec(), [0, 3, 4].map(NodeId).to_vec());
        let (both, alone) = if engine == Engine::Fast { (nodes, None) } else { (all.clone(), Some(all)) };
        assert_eq!(out.by_model.map(|slow| slow.nodes), Some(both), "{engine:?}");
        assert_eq!(one.by_model.map(|slow| slow.nodes), alone, "{engine:?}");
    }
}

/// Of a larger network those nodes run the model's way that frames of a later class come by; where all of a switch's memory is one
/// domain of PAUSE, its neighbours too.
#[test]
fn nodes_that_meet_a_later_class_run_the_models_way() {
    // Three switches in a row, two hosts each.
    let mut spec = common::single_switch(2, 0.3, true, Time::from_us(300), 1);
    spec.hosts = (0..6).map(|i| common::host(i, vec![common::bernoulli(0.3)])).collect();
    spec.switches = vec![spec.switches[0].clone(); 3];
    spec.links = (0..6).map(|h| common::link((h, 0), (6 + h / 2, h % 2))).collect();
    spec.links.extend([common::link((6, 2), (7, 2)), common::link((7, 3), (8, 2))]);
    spec.classes = ["first", "second"].map(|name| ClassSpec { name: name.into(), pause: true }).to_vec();
    let to = |dst| Destinations::Fixed(NodeId(dst));
    spec.hosts[0].sources.push(SourceSpec { class: 1, destinations: to(2), ..common::bernoulli(0.3) });
    let slow = |spec: &RunSpec| {
        let out = run(spec, &Options::default()).unwrap();
        out.by_model.map(|slow| slow.nodes.iter().map(|n| n.0).collect::<Vec<_>>())
    };
    assert_eq!(slow(&spec), Some(vec![0, 2, 6, 7]));
    for s in &mut spec.switches {
        s.buffer.organisation = Organisation::SharedOutput;
    }
    assert_eq!(slow(&spec), Some(vec![0, 1, 2, 3, 6, 7, 8]));
    spec.classes[1].pause = false;
    assert_eq!(slow(&spec), Some(vec![0, 2, 6, 7]));
    spec.hosts[0].sources.pop();
    assert_eq!(slow(&spec), None, "nobody sends of it");
}

/// An earlier class goes first: where both offer more than the link takes, the second has what the first leaves.
#[test]
fn an_earlier_class_goes_first() {
    let mut spec = two_classes(false);
    spec.changes.clear();
    let to = |class, load| SourceSpec {
        class,
        arrivals: Arrivals::Bernoulli { load },
        destinations: Destinations::Fixed(NodeId(2)),
        ..common::bernoulli(0.0)
    };
    spec.hosts[0].sources = vec![to(0, 0.7)];
    spec.hosts[1].sources = vec![to(1, 0.7)];
    spec.record = Record {
        bin: Time::from_ms(10),
        flows: vec![(NodeId(0), NodeId(2)), (NodeId(1), NodeId(2))],
        ..Record::default()
    };
    let out = run(&spec, &Options::default()).unwrap();
    let rate = |src| {
        let kind = SeriesKind::Flow { src: NodeId(src), dst: NodeId(2) };
        out.series(kind).unwrap().values.last().copied().unwrap() / 1e9
    };
    assert!((rate(0) - 7.0).abs() < 0.2 && (rate(1) - 3.0).abs() < 0.2, "{} and {}", rate(0), rate(1));
    spec.hosts[1].sources[0].class = 2;
    assert!(matches!(run(&spec, &Options::default()), Err(RunError::Spec(text)) if text.contains("class 2")));
}
