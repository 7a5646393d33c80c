//! What hosts send: finite flows, limiters, backlogs, classes and clocks. Each flow waits in a queue of its own, and a limiter that holds
//! one back holds up no other. All ends are known by arithmetic. On the network of these tests a frame of 1500 B takes a slot of 1.2 us
//! on each link, and is there two slots and 3 us after its first bit.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Scope, Slot, Time};
use common::script::*;
use common::*;
use std::sync::Arc;

/// So many whole frames from the beginning on.
fn frames(dst: u32, frames: u64) -> Transfer {
    flow(0, dst, frames * 1500)
}

/// Host 0 of five sends this, nobody else does anything.
fn alone(sources: Vec<SourceSpec>) -> RunSpec {
    let mut spec = single_switch(5, 0.0, true, Time::from_ms(2), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].sources = sources;
    spec
}

/// When the frame is there that starts at the beginning of this slot.
fn slot(n: u64) -> Time {
    Time::from_ns(n * 1200 + 2 * 1200 + 3000)
}

/// Limiters engaged from the first frame on at this rate (Gb/s): of the flows to one host, or of all of them.
type Limit = Option<(Option<u32>, f64)>;

fn set(limit: Limit, spec: &mut RunSpec) {
    let Some((dst, gbps)) = limit else { return };
    let scope = if dst.is_none() { Scope::Host } else { Scope::Pair };
    let script = script().everywhere().plan(|p| p.limiter_scope = scope);
    let script = script.flows(move |site| dst.is_none_or(|dst| dst == site.dst.0));
    let script = script.source(move |_, limiter, _| {
        limiter.engage();
        limiter.set_rate(Rate::from_gbps(gbps));
    });
    with_scheme(spec, Arc::new(script));
}

/// Flows end so (destination, bytes, end), by each engine, for both positions of limiters and both kinds of queues.
fn end(spec: &RunSpec, limit: Limit, due: &[(u32, u64, Time)]) {
    for queues in [HostQueues::Fifo, HostQueues::PerDestination] {
        for limiter_position in [LimiterPosition::AtSource, LimiterPosition::BelowQueue] {
            let mut spec = spec.clone();
            set(limit, &mut spec);
            spec.hosts.iter_mut().for_each(|h| (h.queues, h.limiter_position) = (queues, limiter_position));
            for engine in BOTH {
                let out = by(engine, &spec);
                let of_host = |(dst, h): (u32, &HostOutcome)| {
                    h.transfers.completions.iter().map(|c| (dst, c.bytes, c.end)).collect::<Vec<_>>()
                };
                let ends: Vec<_> = (0..).zip(&out.hosts).flat_map(of_host).collect();
                assert_eq!(ends, due, "{engine:?}, {queues:?}, {limiter_position:?}, {limit:?}");
            }
        }
    }
}

#[test]
fn flows_end_when_arithmetic_says() {
    let to = |dst, gbps| Some((Some(dst), gbps));
    let at = |dst, frames: u64, n| (dst, frames * 1500, slot(n));
    let (two, three) = (vec![frames(1, 100), frames(2, 100)], [1, 2, 3].map(|dst| frames(dst, 100)).to_vec());
    let pair = vec![frames(1, 30), frames(1, 40), frames(1, 30), frames(2, 240)];
    let even = vec![frames(1, 50), frames(1, 50), frames(2, 50), frames(3, 50)];
    let evenly = vec![at(1, 50, 196), at(1, 50, 197), at(2, 50, 198), at(3, 50, 199)];
    // One of 500 B waits for the one before it at the second link.
    let short = Time::from_us(200) + Time::from_ns(64 * 1200 + 400 + 3000);
    for (transfers, limit, due) in [
        // Limited to a tenth of the link it takes every tenth slot, and another has the nine between: number 599 is the sixth in the
        // 67th group of nine. While a flow of one frame in 1.2 ms waits, another takes its own time.
        (vec![frames(1, 80), frames(2, 600)], to(1, 1.0), vec![at(1, 80, 790), at(2, 600, 666)]),
        (vec![frames(1, 60), flow(200, 2, 95_000)], to(1, 0.01), vec![(2, 95_000, short)]),
        // Limited to its share of the link it has that: what its limiter holds back loses no turn. To more, it has its share, too.
        (two, to(1, 5.0), vec![at(1, 100, 198), at(2, 100, 199)]),
        (three.clone(), to(1, 7.5), vec![at(1, 100, 297), at(2, 100, 298), at(3, 100, 299)]),
        // Three flows of a pair share a frame in four slots, one by one, and the rest is another's. The last ten of the second have no
        // other beside them.
        (pair, to(1, 2.5), vec![at(1, 30, 348), at(1, 30, 356), at(1, 40, 396), at(2, 240, 319)]),
        // Four, two of them of a pair, share a link evenly.
        (even.clone(), None, evenly.clone()),
        (even.clone(), to(4, 1.0), evenly.clone()),
        (even, to(1, 10.0), evenly),
        // A limiter of the whole host lets its flows go in turn, a frame in two slots.
        (three, Some((None, 5.0)), vec![at(1, 100, 594), at(2, 100, 596), at(3, 100, 598)]),
        // A short one of the same pair begins during the 51st frame, and then has every second slot from the next one on.
        (vec![frames(1, 400), flow(60, 1, 15_000)], None, vec![at(1, 10, 68), at(1, 400, 409)]),
    ] {
        end(&alone(vec![flows(transfers)]), limit, &due);
    }
}

/// Flows shorter than a frame follow each other without a gap: ten of 100 B take 80 ns each, whatever a whole frame is. So do flows of
/// 200 B that begin 200 ns apart: each takes 160 ns on both links.
#[test]
fn short_frames_follow_each_other() {
    for whole in [1500, 9000] {
        let mut spec = alone(vec![flows((0..10).map(|_| flow(0, 1, 100)).collect())]);
        spec.hosts[0].sources[0].frame = Bytes::new(whole);
        let due = |i: u64| (1, 100, Time::from_ns(80 * (i + 2) + 3000));
        end(&spec, None, &(0..10).map(due).collect::<Vec<_>>());
        let at = |i: u64| Transfer { start: Time::from_ns(200 * i), ..flow(0, 1, 200) };
        spec.hosts[0].sources[0].transfers = (0..1000).map(at).collect();
        let due = |i: u64| (1, 200, Time::from_ns(200 * i + 2 * 160 + 3000));
        end(&spec, None, &(0..1000).map(due).collect::<Vec<_>>());
    }
}

/// The last frame of a flow is as long as its rest, or as the floor: of 1549 B, 49 B, or padded 64; and a flow of 1 B alone.
#[test]
fn a_last_frame_is_padded_to_the_floor() {
    for (floor, bytes, last) in [(0, 49, 49), (64, 49, 64), (50, 49, 50), (0, 1, 1), (64, 1, 64), (0, 64, 64)]
    {
        let mut spec = alone(vec![flows(vec![flow(0, 1, 1500 + bytes), flow(0, 2, bytes)])]);
        spec.hosts[0].sources[0].floor = Bytes::new(floor);
        let time = |bytes: u64| Time::from_ps(800 * bytes);
        // Flows take turns: the second is sent after the first one's whole frame, and the rest waits behind that frame on the last link.
        let rest = (1, 1500 + bytes, time(1500) * 2 + time(last) + Time::from_ns(3000));
        let short = (2, bytes, time(1500) + time(last) * 2 + Time::from_ns(3000));
        end(&spec, None, &[rest, short]);
    }
}

/// Of 1549 B in a frame of 1500 B and one of 64 B, headers of 48 B each and 15 B of padding are no payload.
#[test]
fn neither_headers_nor_padding_are_payload() {
    let mut spec = alone(vec![flows(vec![flow(0, 1, 1549)])]);
    spec.record.headers = vec![48; spec.hosts.len()];
    (spec.record.bin, spec.record.delivered) = (spec.duration, vec![NodeId(1)]);
    for engine in BOTH {
        let out = by(engine, &spec);
        assert_eq!(out.hosts[1].header_bits, 8 * (2 * 48 + 15), "{engine:?}");
        let bits = out.recorded.series[0].values[0] * spec.duration.as_secs_f64();
        assert_eq!(bits.round(), 8.0 * (1549.0 - 2.0 * 48.0), "{engine:?}");
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
        let list: Vec<Transfer> = (0..70_000).map(|_| next()).collect();
        let mut spec = alone(vec![flows(list.clone())]);
        spec.duration = list[69_999].start + Time::from_us(500);
        for engine in BOTH {
            let out = by(engine, &spec);
            let ends = &out.hosts[1].transfers.completions;
            let sum: f64 = ends.iter().map(|c| (c.end - c.start).as_ps() as f64).sum();
            let (mean, due) = (sum / 70_000.0 / 1e3, 3320.0 + 160.0 * load / (1.0 - load) / 2.0);
            assert_eq!(ends.len(), 70_000);
            assert!((mean - due).abs() < 0.1 * (due - 3320.0), "{load}, {engine:?}: {mean} ns, due {due}");
        }
    }
}

/// A flow takes turns with a source whose frames fill the FIFO: it has every second slot, and loses nothing.
#[test]
fn flows_take_turns_with_a_full_fifo() {
    let full = SourceSpec { phase: Phase::Aligned, ..to(1, 1.0) };
    let mut spec = alone(vec![full, flows(vec![frames(2, 300)])]);
    spec.hosts[0].fifo_frames = 3;
    end(&spec, None, &[(2, 450_000, slot(599))]);
    let out = agreed(&spec, 1, &[(1, Visits::Adaptive), (2, Visits::Due)]);
    // Of 600 slots in which both take turns half of the other's frames are lost, but for those that wait.
    let lost = out.hosts[0].source_discards;
    assert!((296..=300).contains(&lost), "{lost}");
}

/// In XOFF nothing is made, whatever limits the flow. The port is stopped up to 1 ms, and then works without a gap: XON comes in time.
#[test]
fn nothing_is_made_in_xoff() {
    let mut spec = alone(vec![flows(vec![frames(1, 400)])]);
    spec.events.changes = vec![change(0, 5, 1, 0.0), change(1000, 5, 1, 10.0)];
    end(&spec, None, &[(1, 600_000, Time::from_ms(1) + Time::from_ns(400 * 1200 + 1500))]);
    spec.duration = Time::from_us(900);
    for limit in [None, Some((Some(1), 9.9))] {
        set(limit, &mut spec);
        let out = agreed(&spec, 1, &[(1, Visits::Adaptive), (1, Visits::Due)]);
        let host = &out.hosts[0];
        // 130 KB, and what is sent until XOFF is there.
        assert!((87..=91).contains(&host.sent) && host.generated == host.sent, "{limit:?}: {host:?}");
    }
}

/// Greedy sources with a queue for each destination: all queues share the link frame by frame. One that its limiter holds back is passed
/// over, and has one slot in seven. They wait while all of them together fill their host.
#[test]
fn queues_per_destination_take_turns() {
    let mut spec = alone((1..5).map(greedy).collect());
    spec.hosts[0].queues = HostQueues::PerDestination;
    // 1663 frames arrive in 2 ms. A queue limited to a frame in 4.5 slots is passed over once, and comes after the others' next then.
    for (limit, due) in [(None, [416, 416, 416, 415]), (Some((Some(2), 2.2)), [475, 238, 475, 475])] {
        set(limit, &mut spec);
        for engine in BOTH {
            let got: Vec<u64> = by(engine, &spec).hosts[1..].iter().map(|h| h.delivered).collect();
            assert_eq!(got, due, "{engine:?}, {limit:?}");
        }
    }
    spec.hosts[0].fifo_frames = 3;
    spec.events.changes = (1..5).map(|port| change(0, 5, port, 0.0)).collect();
    let out = agreed(&spec, 1, &[(1, Visits::Adaptive), (1, Visits::Due)]);
    let host = &out.hosts[0];
    assert!(host.sent > 50 && host.source_discards == 0 && host.generated == host.sent + 3, "{host:?}");
    // There is no such port.
    for (node, port) in [(0, 0), (5, 99), (9, 0)] {
        spec.events.changes = vec![change(0, node, port, 0.0)];
        assert!(refused(&spec).contains("no such port of a switch"), "{node}, {port}");
    }
}

/// Host 0 sends to hosts 1 and 2 twice what its link takes, for 1 ms: 100 frames wait there, in an application FIFO ahead of the limiters
/// but for 2 (`ahead`), or behind them. The link takes 833 frames. When the limiter acts, 20 frames of its flow are sent and 20 wait:
/// behind the limiters they leave unlimited; ahead of them one or two do. What is held back blocks nobody, and is lost at its source.
#[test]
fn a_backlog_ahead_of_the_limiters_is_limited() {
    let mut spec = single_switch(3, 0.0, false, Time::from_ms(1), 3);
    // Flows to host 1 are held to a trickle from 50 us on.
    let script =
        script().everywhere().flows(|site| site.dst == NodeId(1)).source(|at, limiter, _| match at {
            AtSource::Start => limiter.start_timer(Slot(0), Time::from_us(50)),
            _ => {
                limiter.engage();
                limiter.set_rate(Rate::from_mbps(1.0));
            }
        });
    with_scheme(&mut spec, Arc::new(script));
    (spec.hosts[0].sources, spec.hosts[0].limiter_frames) = (vec![to(1, 1.0), to(2, 1.0)], 3);
    spec.record.matrix = true;
    for (fifo, backlog, least, most) in [(100, 0, 36, 46), (2, 98, 18, 26)] {
        (spec.hosts[0].fifo_frames, spec.hosts[0].backlog_frames) = (fifo, backlog);
        let out = agreed(&spec, 3, &[(1, Visits::Adaptive), (2, Visits::Due)]);
        let (held, other, h) = (out.recorded.matrix[1] / 1500, out.recorded.matrix[2] / 1500, &out.hosts[0]);
        assert!((least..=most).contains(&held), "{held}");
        if backlog > 0 {
            assert!(
                held + other > 820 && (760..=820).contains(&h.source_discards),
                "{held} + {other}, {h:?}"
            );
            assert!(h.generated - h.sent - h.source_discards <= 2 + 98 + 3 + 1, "{h:?}");
        }
    }
}

/// Flows of the fork's H1 to H8, to H11 to H18, over three spines: their hashes at S10, worked out by another program, leave 2 2 2 0 1 0
/// 1 1 over. The fork lists equal next hops by falling number, so that 2 is the spine with the least.
#[test]
fn the_forks_flows_take_the_forks_paths() {
    let hosts = 16;
    let mut spec = single_switch(hosts, 0.0, false, Time::from_us(200), 1);
    spec.routing = Routing::ForkHash;
    for (h, host) in spec.hosts.iter_mut().enumerate() {
        host.name = format!("H{}", if h < 8 { h + 1 } else { h + 3 });
        host.sources = if h < 8 { vec![flows(vec![flow(0, h as u32 + 8, 1500)])] } else { Vec::new() };
    }
    let named = |n: u32| SwitchSpec { name: format!("S{n}"), ports: 11, ..spec.switches[0].clone() };
    spec.switches = [10, 19, 22, 20, 21].map(named).to_vec();
    let to_hosts = (0..hosts).map(|h| link((h, 0), (hosts + h / 8, h % 8)));
    let up = (0..6).map(|i| link((hosts + i / 3, 8 + i % 3), (hosts + 2 + i % 3, i / 3)));
    spec.links = to_hosts.chain(up).collect();
    for engine in BOTH {
        let out = by(engine, &spec);
        let sent = |port: usize| out.switches[0].ports[port].sent;
        assert_eq!([sent(8), sent(9), sent(10)], [2, 3, 3], "{engine:?}: to S22, S20, S21");
        assert_eq!(out.hosts.iter().map(|h| h.transfers.completions.len()).sum::<usize>(), 8, "{engine:?}");
    }
}

/// Frames of 1048 B at 100 Gb/s take 83.84 ns: 1000 of them end 0.84 us earlier where times are cut to whole nanoseconds, on both
/// links; a clock that runs 1000 ppm too fast makes its host's transmissions shorter by a thousandth, and no others.
#[test]
fn rounding_and_clocks_by_arithmetic() {
    let mut spec = alone(vec![SourceSpec { frame: Bytes::new(1048), ..flows(vec![flow(0, 1, 1_048_000)]) }]);
    spec.links.iter_mut().for_each(|l| l.rate = Rate::from_gbps(100.0));
    for (rounding, sender, receiver, end) in [
        (Rounding::Exact, 0.0, 0.0, 1001 * 83_840),
        (Rounding::WholeNs, 0.0, 0.0, 1001 * 83_000),
        (Rounding::Exact, -1000.0, 0.0, 1000 * 83_924 + 83_840),
        (Rounding::Exact, -1000.0, 500.0, 1000 * 83_924 + 83_840),
    ] {
        spec.laws.rounding = rounding;
        (spec.hosts[0].clock_ppm, spec.hosts[1].clock_ppm) = (sender, receiver);
        for engine in BOTH {
            let found = by(engine, &spec).hosts[1].transfers.completions[0].end.as_ps() - 3_000_000;
            assert_eq!(found, end, "{engine:?}, {rounding:?}, {sender}, {receiver}");
        }
    }
}

/// Two classes at one switch; the second one's receiver is slow from 1 ms on.
fn two_classes(pause: bool) -> RunSpec {
    let mut spec = single_switch(4, 0.0, true, Time::from_ms(20), 1);
    spec.classes = [("first", true), ("second", pause)]
        .map(|(n, pause)| ClassSpec { name: n.into(), pause, ..ClassSpec::default() })
        .into();
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].sources = vec![to(2, 0.4), SourceSpec { class: 1, ..to(3, 0.4) }];
    spec.hosts[1].sources = vec![to(2, 0.4)];
    spec.events.changes = vec![change(1000, 4, 3, 1.0)];
    spec
}

/// XOFF of the second class stops it and not the first, which shares its host, its link and its switch; without PAUSE of its own it
/// loses what does not fit.
#[test]
fn pause_of_a_class_stops_that_class_alone() {
    for engine in BOTH {
        let out = by(engine, &two_classes(true));
        assert_eq!(out.dropped(), 0);
        assert!(
            out.hosts[0].pause.received > 10 && out.hosts[0].pause.time > Time::from_ms(10),
            "{:?}",
            out.hosts[0]
        );
        assert_eq!(out.hosts[1].pause.received, 0, "none of its frames is of the second class");
        let gbps = |h: usize| out.hosts[h].delivered_bits as f64 / 20e-3 / 1e9;
        assert!((gbps(2) - 8.0).abs() < 0.1, "the first class: {}", gbps(2));
        assert!((gbps(3) - (4.0 + 19.0) / 20.0).abs() < 0.2, "the second: {}", gbps(3));

        let lossy = by(engine, &two_classes(false));
        assert!(lossy.hosts.iter().all(|h| h.pause.received == 0));
        let lost = lossy.switches[0].ports[3].dropped;
        assert!(lost > 1000 && lossy.dropped() == lost, "{lost} of {}", lossy.dropped());
        let difference = lossy.hosts[2].delivered.abs_diff(out.hosts[2].delivered);
        assert!(difference < 20, "the first class does not notice: {difference} frames");

        // In one class the first suffers with the second.
        let mut one = two_classes(true);
        one.classes.clear();
        one.hosts[0].sources[1].class = 0;
        let one = by(engine, &one);
        assert!(one.hosts[2].delivered_bits < out.hosts[2].delivered_bits * 4 / 5);
        assert_eq!([&out, &one].map(|out| out.by_model.is_some()), [engine == Engine::Model; 2]);
    }
}

/// An earlier class goes first: where both offer more than the link takes, the second has what the first leaves.
#[test]
fn an_earlier_class_goes_first() {
    let mut spec = two_classes(false);
    spec.events.changes.clear();
    spec.hosts[0].sources = vec![to(2, 0.7)];
    spec.hosts[1].sources = vec![SourceSpec { class: 1, ..to(2, 0.7) }];
    (spec.record.bin, spec.record.flows) =
        (Time::from_ms(10), [0, 1].map(|src| (NodeId(src), NodeId(2))).into());
    let out = by(Engine::Fast, &spec);
    for (src, gbps) in [(0, 7.0), (1, 3.0)] {
        let series = out.series(SeriesKind::Flow { src: NodeId(src), dst: NodeId(2) }).unwrap();
        let rate = series.values.last().unwrap() / 1e9;
        assert!((rate - gbps).abs() < 0.2, "class {src}: {rate}");
    }
    spec.hosts[1].sources[0].class = 2;
    assert!(refused(&spec).contains("class 2"));
}
