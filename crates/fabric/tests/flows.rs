//! What hosts send: finite flows, limiters, backlogs, classes and clocks. Each flow waits in a queue of its own, and a limiter that holds
//! one back holds up no other. All ends are known by arithmetic. On the network of these tests a frame of 1500 B takes a slot of 1.2 us
//! on each link, and is there two slots and 3 us after its first bit.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Scope, Slot, Time};
use common::script::*;
use std::sync::Arc;

fn flow(start_us: u64, dst: u32, bytes: u64) -> Transfer {
    Transfer { start: Time::from_us(start_us), dst: NodeId(dst), bytes: Bytes::new(bytes) }
}

/// So many whole frames from the beginning on.
fn frames(dst: u32, frames: u64) -> Transfer {
    flow(0, dst, frames * 1500)
}

fn flows(transfers: Vec<Transfer>) -> SourceSpec {
    SourceSpec { arrivals: Arrivals::Transfers, phase: Phase::Aligned, transfers, ..common::bernoulli(0.0) }
}

/// Host 0 of five sends these flows, nobody else does anything.
fn alone(transfers: Vec<Transfer>) -> RunSpec {
    let mut spec = common::single_switch(5, 0.0, true, Time::from_ms(2), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].sources = vec![flows(transfers)];
    spec
}

const BOTH: [Engine; 2] = [Engine::Fast, Engine::Model];

/// When the frame is there that starts at the beginning of this slot.
fn slot(n: u64) -> Time {
    Time::from_ns(n * 1200 + 2 * 1200 + 3000)
}

/// Limiters engaged from the first frame on: of the flows to one host, or of all of them.
#[derive(Debug, Clone, Copy)]
struct Limit {
    dst: Option<u32>,
    gbps: f64,
}

impl Limit {
    fn set(self, spec: &mut RunSpec) {
        let scope = if self.dst.is_none() { Scope::Host } else { Scope::Flow };
        let script = script().everywhere().plan(|p| p.limiter_scope = scope);
        let script = script.flows(move |site| self.dst.is_none_or(|dst| dst == site.dst.0));
        let script = script.source(move |_, limiter, _| {
            limiter.engage();
            limiter.set_rate(Rate::from_gbps(self.gbps));
        });
        common::with_scheme(spec, Arc::new(script));
    }
}

/// The ends of flows (destination, bytes, end), by each engine, for both positions of limiters and both kinds of queues.
fn each_way(spec: &RunSpec, scheme: Option<Limit>, check: impl Fn(&str, Vec<(u32, u64, Time)>)) {
    for queues in [HostQueues::Fifo, HostQueues::PerDestination] {
        for limiter_position in [LimiterPosition::AtSource, LimiterPosition::BelowQueue] {
            let mut spec = spec.clone();
            if let Some(limit) = scheme {
                limit.set(&mut spec);
            }
            spec.hosts.iter_mut().for_each(|h| (h.queues, h.limiter_position) = (queues, limiter_position));
            for engine in BOTH {
                let out = run(&spec, &Options { engine, ..Options::default() }).unwrap();
                let of_host = |(dst, h): (u32, &HostOutcome)| {
                    h.completions.iter().map(|c| (dst, c.bytes, c.end)).collect::<Vec<_>>()
                };
                let ends = (0..).zip(&out.hosts).flat_map(of_host).collect();
                check(&format!("{engine:?}, {queues:?}, {limiter_position:?}"), ends);
            }
        }
    }
}

/// A flow limited to a tenth of the link takes every tenth slot, and another has the nine between. A short one on a free path, which
/// begins while a flow with one frame in 1.2 ms waits, takes its own time.
#[test]
fn a_limited_flow_holds_up_no_other() {
    let limit = Limit { dst: Some(1), gbps: 1.0 };
    each_way(&alone(vec![frames(1, 80), frames(2, 600)]), Some(limit), |way, ends| {
        // Of the 600, number 599 is the sixth in the 67th group of nine.
        assert_eq!(ends, [(1, 120_000, slot(790)), (2, 900_000, slot(666))], "{way}");
    });
    let limit = Limit { dst: Some(1), gbps: 0.01 };
    each_way(&alone(vec![frames(1, 60), flow(200, 2, 95_000)]), Some(limit), |way, ends| {
        // 63 frames and one of 500 B, which waits for the one before it at the second link.
        let end = Time::from_us(200) + Time::from_ns(64 * 1200 + 400 + 3000);
        assert_eq!(ends, [(2, 95_000, end)], "{way}");
    });
}

/// A flow limited to half of the link, which is its share, has it: what its limiter holds back loses no turn. So has one limited to
/// three quarters, where the other two share the rest.
#[test]
fn a_limited_flow_has_its_share() {
    let limit = Limit { dst: Some(1), gbps: 5.0 };
    each_way(&alone(vec![frames(1, 100), frames(2, 100)]), Some(limit), |way, ends| {
        assert_eq!(ends, [(1, 150_000, slot(198)), (2, 150_000, slot(199))], "{way}");
    });
    let limit = Limit { dst: Some(1), gbps: 7.5 };
    each_way(&alone(vec![frames(1, 100), frames(2, 100), frames(3, 100)]), Some(limit), |way, ends| {
        let slots: Vec<_> = ends.iter().map(|end| (end.0, end.2)).collect();
        assert_eq!(slots, [(1, slot(297)), (2, slot(298)), (3, slot(299))], "{way}");
    });
}

/// Three flows of a pair share what its limiter lets go, frame by frame, and the rest is another's. Four, two of them of a pair, share a
/// link evenly.
#[test]
fn flows_of_a_pair_share_evenly() {
    // A frame in four slots.
    let limit = Limit { dst: Some(1), gbps: 2.5 };
    let three = vec![frames(1, 30), frames(1, 40), frames(1, 30), frames(2, 240)];
    each_way(&alone(three), Some(limit), |way, ends| {
        // The last ten of the second have no other beside them.
        let of_pair = [(1, 45_000, slot(4 * 87)), (1, 45_000, slot(4 * 89)), (1, 60_000, slot(4 * 99))];
        assert_eq!(ends[..3], of_pair, "{way}");
        assert_eq!(ends[3], (2, 360_000, slot(319)), "{way}");
    });
    let even = vec![frames(1, 50), frames(1, 50), frames(2, 50), frames(3, 50)];
    for limit in [None, Some(Limit { dst: Some(4), gbps: 1.0 }), Some(Limit { dst: Some(1), gbps: 10.0 })] {
        each_way(&alone(even.clone()), limit, |way, ends| {
            let slots: Vec<Time> = ends.iter().map(|end| end.2).collect();
            assert_eq!(slots, [slot(196), slot(197), slot(198), slot(199)], "{way}, {limit:?}");
        });
    }
}

/// A limiter of the whole host lets its flows go in turn, one frame in two slots.
#[test]
fn a_limiter_of_the_host_serves_its_flows_in_turn() {
    let limit = Limit { dst: None, gbps: 5.0 };
    each_way(&alone(vec![frames(1, 100), frames(2, 100), frames(3, 100)]), Some(limit), |way, ends| {
        let slots: Vec<Time> = ends.iter().map(|end| end.2).collect();
        assert_eq!(slots, [slot(2 * 297), slot(2 * 298), slot(2 * 299)], "{way}");
    });
}

/// Flows shorter than a frame follow each other without a gap: ten of 100 B take 80 ns each, whatever a whole frame is. So do flows of
/// 200 B that begin 200 ns apart: each takes 160 ns on both links.
#[test]
fn short_frames_follow_each_other() {
    for whole in [1500, 9000] {
        let mut spec = alone((0..10).map(|i| flow(0, 1 + i % 4, 100)).collect());
        spec.hosts[0].sources[0].frame = Bytes::new(whole);
        each_way(&spec, None, |way, ends| {
            let last = ends.iter().map(|end| end.2).max();
            assert_eq!((ends.len(), last), (10, Some(Time::from_ns(3880))), "{way}");
        });
        let at = |i: u64| Transfer { start: Time::from_ns(200 * i), ..flow(0, 1, 200) };
        spec.hosts[0].sources[0].transfers = (0..1000).map(at).collect();
        each_way(&spec, None, |way, ends| {
            let due = |i: u64| (1, 200, Time::from_ns(200 * i + 2 * 160 + 3000));
            assert_eq!(ends, (0..1000).map(due).collect::<Vec<_>>(), "{way}");
        });
    }
}

/// Flows of 200 B at random times wait as in an M/D/1 queue: half of `load / (1 - load)` transmissions.
#[test]
#[allow(clippy::disallowed_methods)]
fn short_flows_at_random_times_wait_as_a_queue_says() {
    for load in [0.2, 0.5, 0.8] {
        let (mut at, mut draws) = (0.0, Stream::new(7, 0, Purpose::Test));
        let mut next = || {
            at -= (1.0 - draws.uniform()).ln() * 160_000.0 / load;
            Transfer { start: Time::from_ps(at as u64), ..flow(0, 1, 200) }
        };
        let list: Vec<Transfer> = (0..60_000).map(|_| next()).collect();
        let mut spec = alone(list.clone());
        spec.duration = list[59_999].start + Time::from_us(500);
        for engine in BOTH {
            let out = run(&spec, &Options { engine, ..Options::default() }).unwrap();
            let ends = &out.hosts[1].completions;
            let sum: f64 = ends.iter().map(|c| (c.end - c.start).as_ps() as f64).sum();
            let (mean, due) = (sum / 60_000.0 / 1e3, 3320.0 + 160.0 * load / (1.0 - load) / 2.0);
            assert_eq!(ends.len(), 60_000);
            assert!((mean - due).abs() < 0.1 * (due - 3320.0), "{load}, {engine:?}: {mean} ns, due {due}");
        }
    }
}

/// A flow takes turns with a source whose frames fill the FIFO: it has every second slot, and loses nothing.
#[test]
fn flows_take_turns_with_a_full_fifo() {
    let mut spec = alone(vec![frames(2, 300)]);
    let full = SourceSpec {
        destinations: Destinations::Fixed(NodeId(1)),
        phase: Phase::Aligned,
        ..common::bernoulli(1.0)
    };
    spec.hosts[0].sources.insert(0, full);
    spec.hosts[0].fifo_frames = 3;
    each_way(&spec, None, |way, ends| assert_eq!(ends, [(2, 450_000, slot(599))], "{way}"));
    let out = common::agreed(&spec, 1, &[(1, Visits::Adaptive), (2, Visits::Due)]);
    // Of 600 slots in which both take turns half of the other's frames are lost, but for those that wait.
    let lost = out.hosts[0].source_discards;
    assert!((296..=300).contains(&lost), "{lost}");
}

/// In XOFF nothing is made, whatever limits the flow. The port is stopped up to 1 ms, and then works without a gap: XON comes in time.
#[test]
fn nothing_is_made_in_xoff() {
    let mut spec = alone(vec![frames(1, 400)]);
    let stop = |at, gbps| RateChange { at, node: NodeId(5), port: 1, rate: Rate::from_gbps(gbps) };
    spec.changes = vec![stop(Time::ZERO, 0.0), stop(Time::from_ms(1), 10.0)];
    let end = Time::from_ms(1) + Time::from_ns(400 * 1200 + 1500);
    let limit = Limit { dst: Some(1), gbps: 9.9 };
    each_way(&spec, None, |way, ends| assert_eq!(ends, [(1, 600_000, end)], "{way}"));
    spec.duration = Time::from_us(900);
    for scheme in [None, Some(limit)] {
        if let Some(limit) = scheme {
            limit.set(&mut spec);
        }
        let out = common::agreed(&spec, 1, &[(1, Visits::Adaptive), (1, Visits::Due)]);
        let host = &out.hosts[0];
        // 130 KB, and what is sent until XOFF is there.
        assert!((87..=91).contains(&host.sent) && host.generated == host.sent, "{scheme:?}: {host:?}");
    }
}

/// A greedy source with a queue for each destination waits while all of them together fill its host.
#[test]
fn a_greedy_source_waits_for_a_full_host() {
    let mut spec = alone(Vec::new());
    spec.hosts[0].sources = vec![SourceSpec { arrivals: Arrivals::Greedy, ..common::bernoulli(1.0) }];
    (spec.hosts[0].queues, spec.hosts[0].fifo_frames) = (HostQueues::PerDestination, 3);
    let stop = |port| RateChange { at: Time::ZERO, node: NodeId(5), port, rate: Rate::ZERO };
    spec.changes = (1..5).map(stop).collect();
    let out = common::agreed(&spec, 1, &[(1, Visits::Adaptive), (1, Visits::Due)]);
    let host = &out.hosts[0];
    assert!(host.sent > 50 && host.source_discards == 0 && host.generated == host.sent + 3, "{host:?}");
    // There is no such port.
    for (node, port) in [(0, 0), (5, 99), (9, 0)] {
        spec.changes = vec![RateChange { at: Time::ZERO, node: NodeId(node), port, rate: Rate::ZERO }];
        let why = run(&spec, &Options::default()).unwrap_err().to_string();
        assert!(why.contains("no such port of a switch"), "{why}");
    }
}

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

/// Host 0 sends to hosts 1 and 2 twice what its link takes, for 1 ms; 100 frames wait there, all but 2 ahead of the limiters
/// if asked.
fn crowd(ahead: bool, position: LimiterPosition) -> RunSpec {
    let mut spec = common::single_switch(3, 0.0, false, Time::from_ms(1), 3);
    let script = script().everywhere().flows(|site| site.dst == NodeId(1));
    // Flows to host 1 are held to a trickle from 50 us on.
    let script = script.source(|at, limiter, _| match at {
        AtSource::Start => limiter.start_timer(Slot(0), Time::from_us(50)),
        _ => {
            limiter.engage();
            limiter.set_rate(Rate::from_mbps(1.0));
        }
    });
    common::with_scheme(&mut spec, Arc::new(script));
    let h = &mut spec.hosts[0];
    h.sources = [1, 2]
        .map(|dst| SourceSpec { destinations: Destinations::Fixed(NodeId(dst)), ..common::bernoulli(1.0) })
        .into();
    (h.fifo_frames, h.backlog_frames) = if ahead { (2, 98) } else { (100, 0) };
    (h.limiter_frames, h.limiter_position) = (3, position);
    spec.record.matrix = true;
    spec
}

/// Frames delivered to hosts 1 and 2, and the outcome of host 0.
fn delivered(spec: &RunSpec) -> (u64, u64, HostOutcome) {
    let out = common::agreed(spec, 3, &[(1, Visits::Adaptive), (2, Visits::Due)]);
    (out.matrix[1] / 1500, out.matrix[2] / 1500, out.hosts[0].clone())
}

/// An application FIFO ahead of the limiters: what is held back meets its limiter late, blocks nobody, and is lost at its source. The link takes 833 frames in 1 ms. When the limiter acts, 20 frames of its flow are sent and 20 wait: behind the limiters they
/// leave unlimited; ahead of them one or two do.
#[test]
fn a_backlog_ahead_of_the_limiters_is_limited() {
    let behind = delivered(&crowd(false, LimiterPosition::AtSource));
    let ahead = delivered(&crowd(true, LimiterPosition::AtSource));
    assert!((36..=46).contains(&behind.0), "{}", behind.0);
    assert!((18..=26).contains(&ahead.0), "{}", ahead.0);
    // The other flow gets the rest of the link: what is held back blocks nobody, and is lost at its source.
    assert!(ahead.0 + ahead.1 > 820, "{} + {}", ahead.0, ahead.1);
    let h = &ahead.2;
    assert!((760..=820).contains(&h.source_discards), "{h:?}");
    assert!(h.generated - h.sent - h.source_discards <= 2 + 98 + 3 + 1, "{h:?}");
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
        let all = [0, 1, 2, 3, 4].map(NodeId);
        assert_eq!(out.by_model.unwrap().nodes, all, "several classes run the model's way");
        assert_eq!(one.by_model.is_some(), engine == Engine::Model);
    }
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
