//! Finite flows of one host: each waits in a queue of its own, and a limiter that holds one back holds up no other. All ends are known by
//! arithmetic. On the network of these tests a frame of 1500 B takes a slot of 1.2 us on each link, and is there two slots and 3 us
//! after its first bit.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Built, Bytes, Feedback, Limiter, NodeId, Plan, Rate, ReactionPoint, Scheme, Scope, Slot, SourceSite, Time,
};
use std::sync::Arc;

fn flow(start_us: u64, dst: u32, bytes: u64) -> Transfer {
    Transfer { start: Time::from_us(start_us), dst: NodeId(dst), bytes: Bytes::new(bytes) }
}

/// So many whole frames from the beginning on.
fn frames(dst: u32, frames: u64) -> Transfer {
    flow(0, dst, frames * 1500)
}

fn flows(transfers: Vec<Transfer>) -> SourceSpec {
    SourceSpec { arrivals: Arrivals::Transfers, transfers, ..common::bernoulli(0.0) }
}

/// Host 0 of five sends these flows, nobody else does anything.
fn alone(transfers: Vec<Transfer>) -> RunSpec {
    let mut spec = common::single_switch(5, 0.0, true, Time::from_ms(2), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].sources = vec![flows(transfers)];
    spec
}

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

impl ReactionPoint for Limit {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.set_rate(Rate::from_gbps(self.gbps));
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
}

impl Scheme for Limit {
    fn name(&self) -> &str {
        "limit"
    }
    fn plan(&self) -> Plan {
        let limiter_scope = if self.dst.is_none() { Scope::Host } else { Scope::Flow };
        Plan { limiter_scope, built: Built::FirstFrame, ..Plan::default() }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let mine = self.dst.is_none_or(|dst| dst == site.dst.0);
        mine.then(|| -> Box<dyn ReactionPoint> { Box::new(*self) })
    }
}

/// The ends of flows (destination, bytes, end), by each engine, for both positions of limiters and both kinds of queues.
fn each_way(spec: &RunSpec, scheme: Option<Limit>, check: impl Fn(&str, Vec<(u32, u64, Time)>)) {
    for queues in [HostQueues::Fifo, HostQueues::PerDestination] {
        for limiter_position in [LimiterPosition::AtSource, LimiterPosition::BelowQueue] {
            let mut spec = spec.clone();
            if let Some(limit) = scheme {
                common::with_scheme(&mut spec, Arc::new(limit));
            }
            spec.hosts.iter_mut().for_each(|h| (h.queues, h.limiter_position) = (queues, limiter_position));
            for engine in [Engine::Fast, Engine::Model] {
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
        for engine in [Engine::Fast, Engine::Model] {
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
            common::with_scheme(&mut spec, Arc::new(limit));
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

/// A frame costs the same however many flows are under way: 20,000 that a limiter holds back and 20,000 that take turns cost no more than
/// ten times what one of each costs. To look at all of them for each frame would cost thousands of times that.
#[test]
fn many_flows_cost_no_more_a_frame() {
    let time = |each: u64| {
        let mut list: Vec<Transfer> = (0..each).map(|_| frames(1, 40_000 / each)).collect();
        list.extend((0..each).map(|_| frames(2, 40_000 / each)));
        let mut spec = alone(list);
        spec.duration = Time::from_ms(30);
        common::with_scheme(&mut spec, Arc::new(Limit { dst: Some(1), gbps: 4.0 }));
        let best = |engine| {
            let once = || {
                let begin = std::time::Instant::now();
                let out = run(&spec, &Options { engine, ..Options::default() }).unwrap();
                assert!(out.hosts[0].sent > 24_000);
                begin.elapsed().as_secs_f64()
            };
            (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
        };
        [Engine::Fast, Engine::Model].map(best)
    };
    let (few, many) = (time(1), time(20_000));
    for (few, many) in few.iter().zip(many) {
        assert!(many < 10.0 * few + 0.05, "{many} s for 40,000 flows, {few} s for 2");
    }
}

/// Limiters whose rate and state change all the time, by timers.
#[derive(Debug, Clone, Copy)]
struct Restless(u64);

impl ReactionPoint for Restless {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.start_timer(Slot(0), Time::from_ns(100));
        limiter.wake_after(Bytes::new(20_000));
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        limiter.set_rate(limiter.rate() * 0.5);
        limiter.wake_after(Bytes::new(7_000));
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        match (limiter.uniform() * 8.0) as u64 {
            0 => limiter.release_when_empty(),
            1 => limiter.set_rate(limiter.line_rate()),
            2 => limiter.set_rate(Rate::ZERO),
            n => {
                limiter.engage();
                limiter.set_rate(limiter.line_rate() * (n as f64 * 0.12));
            }
        }
        let after = 800 + (limiter.uniform() * 9000.0) as u64;
        limiter.start_timer(slot, Time::from_ns(after));
    }
}

impl Scheme for Restless {
    fn name(&self) -> &str {
        "restless"
    }
    fn plan(&self) -> Plan {
        let limiter_scope = if self.0 & 1 > 0 { Scope::Host } else { Scope::Flow };
        Plan { limiter_scope, built: Built::FirstFrame, ..Plan::default() }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        (!site.dst.0.is_multiple_of(3) || self.0 & 2 > 0)
            .then(|| -> Box<dyn ReactionPoint> { Box::new(*self) })
    }
}

/// Flows and other sources of a host whose limiters change all the time: both engines agree.
#[test]
fn restless_limiters_agree_with_the_oracle() {
    let mut done = 0;
    for seed in 0..300 {
        let mut r = Stream::new(seed, 9, Purpose::Test);
        let mut pick = |n: u64| r.below(n);
        let hosts = 3 + pick(4);
        let mut spec = common::single_switch(hosts as usize, 0.5, pick(2) == 0, Time::from_us(400), seed);
        for h in 0..hosts {
            let list = (0..12)
                .map(|_| flow(pick(200), ((h + 1 + pick(hosts - 1)) % hosts) as u32, pick(60_000)))
                .collect();
            let host = &mut spec.hosts[h as usize];
            host.fifo_frames = [1, 3, 100][pick(3) as usize];
            host.limiter_frames = 1 + pick(9) as u32;
            host.backlog_frames = [0, 0, 4][pick(3) as usize];
            host.limiter_position =
                [LimiterPosition::AtSource, LimiterPosition::BelowQueue][pick(2) as usize];
            host.queues = [HostQueues::Fifo, HostQueues::Fifo, HostQueues::PerDestination][pick(3) as usize];
            match pick(4) {
                0 => host.sources.push(flows(list)),
                1 => host.sources[0].arrivals = Arrivals::Greedy,
                _ => host.sources = vec![flows(list)],
            }
            host.sources[0].frame = Bytes::new(common::LENGTHS[pick(5) as usize]);
        }
        if let Some(p) = &mut spec.switches[0].buffer.pause {
            (p.high, p.low) = (Bytes::from_kb(30), Bytes::from_kb(20));
        }
        common::with_scheme(&mut spec, Arc::new(Restless(pick(4))));
        let visits = [Visits::Adaptive, Visits::All, Visits::Due][seed as usize % 3];
        let out = common::agreed(&spec, seed, &[(1 + seed as usize % 2, visits)]);
        done += out.hosts.iter().map(|h| h.completions.len()).sum::<usize>();
    }
    assert!(done > 4000, "{done} flows");
}
