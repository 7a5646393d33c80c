//! Why a transmitter was stopped: the records of XOFF, told by hand.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Time};
use common::*;

/// Hosts 0 and 1 at switch 3, host 2 at switch 4; a link joins the switches: port 2 of each. Input partitions, XOFF above 30 KB.
fn two_switches() -> RunSpec {
    let mut spec = single_switch(3, 0.0, true, Time::from_us(400), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    let pause = PauseSpec {
        high: Bytes::from_kb(30),
        low: Bytes::from_kb(20),
        ..spec.switches[0].buffer.pause.unwrap()
    };
    spec.switches[0].buffer.organisation = Organisation::Input;
    spec.switches[0].buffer.pause = Some(pause);
    spec.switches.push(spec.switches[0].clone());
    spec.links = vec![link((0, 0), (3, 0)), link((1, 0), (3, 1)), link((2, 0), (4, 0)), link((3, 2), (4, 2))];
    spec.record.pauses = 1_000;
    spec
}

/// The port of host 2 is slow. Its switch stops the link, as all bytes are for that port; then switch 3 stops the hosts, as all bytes
/// are for the stopped link. Each record names the one before it.
#[test]
fn a_slow_port_is_the_cause_of_all() {
    for engine in BOTH {
        let mut spec = two_switches();
        spec.hosts[0].sources = vec![greedy(2)];
        spec.hosts[1].sources = vec![greedy(2)];
        spec.events.changes = vec![change(0, 4, 0, 1.0)];
        let out = by(engine, &spec);
        let all = &out.recorded.pauses;
        let far = all.xoffs.iter().position(|x| x.stopped == (NodeId(3), 2)).unwrap();
        let first = all.xoffs[far];
        assert_eq!((first.by, first.class), ((NodeId(4), 2), 0));
        let [cause] = all.causes(&first) else { panic!("{:?}", all.causes(&first)) };
        // One frame more than 30 KB: 21 of 1500 B.
        assert_eq!((cause.output, cause.bytes, cause.held), (0, 31_500, Held::Open));
        // PAUSE waits for no data there, takes 51.2 ns on the line, 0.5 us on the link and 1 us at the switch.
        assert_eq!(first.from - first.decided, Time::from_ps(1_551_200));
        let later = all.xoffs.iter().filter(|x| x.by.0 == NodeId(3) && x.decided > first.from);
        let stopped: Vec<_> =
            later.flat_map(|x| all.causes(x)).filter(|c| matches!(c.held, Held::Stopped(_))).collect();
        assert!(!stopped.is_empty() && stopped.iter().all(|c| c.output == 2));
        assert!(stopped.iter().any(|c| c.held == Held::Stopped(far as u32)));
        assert_eq!(all.left_out, 0);
        // Of a limit the first ones are left.
        spec.record.pauses = 3;
        let few = by(engine, &spec).recorded.pauses;
        assert_eq!((&few.xoffs[..], few.left_out), (&all.xoffs[..3], all.xoffs.len() as u64 - 3));
        spec.record.pauses = 0;
        assert_eq!(by(engine, &spec).recorded.pauses, Pauses::default());
    }
}

/// Of the bytes of an input, some are for a port that serves nothing, and some for one that is as fast as the rest.
#[test]
fn bytes_are_told_by_output() {
    for engine in BOTH {
        let mut spec = two_switches();
        // By turns, as both queues have frames.
        spec.hosts[0].sources = vec![to(1, 0.4), to(2, 0.4)];
        spec.events.changes = vec![change(0, 3, 1, 0.0), change(0, 3, 2, 1.0)];
        let all = by(engine, &spec).recorded.pauses;
        let xoff = all.xoffs[0];
        assert_eq!((xoff.stopped, xoff.by), ((NodeId(0), 0), (NodeId(3), 0)));
        let [closed, slow] = all.causes(&xoff) else { panic!("{:?}", all.causes(&xoff)) };
        assert_eq!((closed.output, closed.held, slow.output, slow.held), (1, Held::Closed, 2, Held::Open));
        assert_eq!(closed.bytes + slow.bytes, 31_500);
        // What waits for the port that serves nothing stays: once it is above the low watermark, XOFF stands for good.
        let for_closed: Vec<u32> = all.xoffs.iter().map(|x| all.causes(x)[0].bytes).collect();
        assert!(for_closed.is_sorted() && for_closed[0] < *for_closed.last().unwrap(), "{for_closed:?}");
        assert_eq!(all.xoffs.last().unwrap().until, spec.duration);
    }
}

/// Hosts 0 and 1 fill the cells of a port that stands, frame by frame in turn. As the 87th of one comes, XOFF is due to its 130.5 KB alone.
#[test]
fn a_cause_is_the_bytes_of_its_own_cell() {
    let mut spec = single_switch(3, 0.0, true, Time::from_us(200), 1);
    (0..2).for_each(|host| spec.hosts[host].sources = vec![greedy(2)]);
    spec.events.changes = vec![change(0, 3, 2, 0.0)];
    spec.record.pauses = 10;
    for engine in BOTH {
        let pauses = by(engine, &spec).recorded.pauses;
        let causes: Vec<_> = pauses.causes.iter().map(|cause| (cause.output, cause.bytes)).collect();
        assert_eq!(causes, [(2, 87 * 1500); 2], "{engine:?}");
    }
}

/// Where each flow goes by itself: the ports that its frames leave, and no others.
#[test]
fn the_way_of_a_flow_is_that_of_its_frames() {
    let mut spec = tree(2, 0.0, Time::from_us(200), 3);
    spec.switches.iter_mut().enumerate().for_each(|(i, s)| s.name = format!("S{}", 100 + i));
    let transport = TransportSpec { ack_every: 0, window: Window::Off, ..TRANSPORT };
    for (routing, transport) in [
        (Routing::FlowHash, None),
        (Routing::FlowHash, Some(transport)),
        (Routing::PolarisedHash, None),
        (Routing::ForkHash, Some(transport)),
        (Routing::Destination, None),
    ] {
        spec.routing = routing;
        spec.transport = transport;
        // One of several flows of the pair has bytes that count.
        for nth in 0..6 {
            let sizes = (0..6).map(|n| flow(n, 5, if n == nth { 30_000 } else { 1_000 }));
            spec.hosts.iter_mut().for_each(|h| h.sources.clear());
            spec.hosts[0].sources = vec![flows(sizes.collect())];
            let ways = Ways::new(&spec).unwrap();
            let way = ways.of(NodeId(0), NodeId(5), nth as u32).unwrap();
            let out = by(Engine::Fast, &spec);
            let bits = |at: &(NodeId, u16)| out.port(8, *at).unwrap().sent_bits;
            assert_eq!((way[0], way.len()), ((NodeId(0), 0), 4));
            assert!(way[1..].iter().all(|at| bits(at) >= 240_000), "{routing:?}, flow {nth}: {way:?}");
        }
    }
    spec.routing = Routing::FrameHash;
    spec.transport = None;
    // Where frames choose, all ways count: by either spine, and no port twice.
    let out = by(Engine::Fast, &spec);
    let mut ways = Ways::new(&spec).unwrap().of(NodeId(0), NodeId(5), 0).unwrap();
    let sends = |at: &(NodeId, u16)| at.0.0 < 8 || out.port(8, *at).unwrap().sent_bits > 0;
    assert!(ways.len() == 6 && ways.iter().all(sends), "{ways:?}");
    ways.dedup();
    assert_eq!((ways.len(), Ways::new(&spec).unwrap().of(NodeId(0), NodeId(8), 0)), (6, None));
}

/// A host that does not heed PAUSE is told and never stopped; an XOFF that is on its way at the end has not arrived.
#[test]
fn an_xoff_that_nobody_heeds_has_no_time() {
    for engine in BOTH {
        let mut spec = two_switches();
        spec.hosts[0].sources = vec![greedy(2)];
        spec.events.changes = vec![change(0, 3, 2, 0.0)];
        let heeded = by(engine, &spec).recorded.pauses.xoffs;
        assert!(heeded.len() == 1 && heeded[0].until > heeded[0].from);
        spec.duration = heeded[0].from;
        let late = by(engine, &spec).recorded.pauses.xoffs;
        assert_eq!((late.len(), late[0].from, late[0].until), (1, spec.duration, spec.duration));
        spec.duration = Time::from_us(400);
        spec.hosts[0].faults.ignores_pause = true;
        let deaf = by(engine, &spec).recorded.pauses.xoffs;
        assert_eq!((deaf[0].from, deaf[0].until), (spec.duration, spec.duration));
    }
}

/// One flag for the switch stops all of its neighbours at once, for the same reason.
#[test]
fn an_xoff_to_all_is_one_for_each() {
    for engine in BOTH {
        let mut spec = two_switches();
        spec.switches.iter_mut().filter_map(|s| s.buffer.pause.as_mut()).for_each(|p| p.global = true);
        spec.hosts[0].sources = vec![greedy(2)];
        spec.events.changes = vec![change(0, 3, 2, 0.0)];
        let all = by(engine, &spec).recorded.pauses;
        let stopped: Vec<_> = all.xoffs.iter().map(|x| x.stopped).collect();
        assert_eq!(stopped, [(NodeId(0), 0), (NodeId(1), 0), (NodeId(4), 2)]);
        assert!(all.xoffs.iter().all(|x| x.causes == (0, 1) && x.decided == all.xoffs[0].decided));
    }
}

/// Host 2 says XOFF from 20 us on, and its port is slow. Switch 4 says XOFF, as that stops its port; from 120 us on a watchdog lets
/// the port send all the same, so that the next XOFF is for its rate alone.
#[test]
fn an_output_that_ignores_pause_is_no_stopped_one() {
    for engine in BOTH {
        let mut spec = two_switches();
        // The first flow's last frame is on its way as XOFF is said, so that none waits at switch 3.
        spec.hosts[0].sources = vec![flows(vec![flow(0, 2, 36_000), flow(300, 2, 33_000)])];
        spec.events.changes = vec![change(0, 4, 0, 1.0)];
        spec.events.faults.push(PortFault {
            class: 0,
            node: NodeId(2),
            port: 0,
            from: Time::from_ps(18_500_000),
            to: spec.duration,
            transport: PauseTransport::Wire,
            kind: FaultKind::Xoff,
        });
        let action = WatchdogAction::Forward;
        let (detect, restore) = (Time::from_us(100), Time::from_us(100));
        spec.laws.watchdog = Some(WatchdogSpec { rule: WatchdogRule::Continuous, detect, restore, action });
        let all = by(engine, &spec).recorded.pauses;
        let said = all.xoffs.iter().position(|x| x.stopped == (NodeId(4), 0)).unwrap();
        let held = |x: &&Xoff| (x.decided > Time::from_us(120), all.causes(x)[0].held);
        let held: Vec<_> = all.xoffs.iter().filter(|x| x.by.0 == NodeId(4)).map(|x| held(&x)).collect();
        assert_eq!(held[0], (false, Held::Stopped(said as u32)), "{engine:?}");
        assert_eq!(held[1..], [(true, Held::Open)], "{engine:?}");
    }
}
