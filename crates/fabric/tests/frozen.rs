//! A network that stands still says which ports wait for which, by either engine in the same words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Time};
use common::*;

const WAYS: [(usize, Visits); 3] = [(1, Visits::All), (1, Visits::Due), (2, Visits::Adaptive)];

/// Switches in a ring, a host at each: all as fast as they may to the host so many switches on, around the ring.
fn ring(n: usize, on: usize, pool: bool) -> RunSpec {
    let mut spec = single_switch(n, 0.0, true, Time::from_ms(3), 1);
    let organisation = if pool { Organisation::SharedOutput } else { Organisation::Input };
    let buffer = BufferSpec { organisation, ..buffer(true) };
    let switch = SwitchSpec { ports: 3, buffer, ..spec.switches[0].clone() };
    spec.switches = (0..n).map(|i| SwitchSpec { name: format!("S{i}"), ..switch.clone() }).collect();
    // Port 0: the host; port 1: to the next switch; port 2: from the one before.
    spec.links = (0..n).map(|i| link((i, 0), (n + i, 0))).collect();
    spec.links.extend((0..n).map(|i| link((n + i, 1), (n + (i + 1) % n, 2))));
    for (i, h) in spec.hosts.iter_mut().enumerate() {
        h.sources = vec![greedy(((i + on) % n) as u32)];
    }
    spec
}

/// Where a port stops, what was on its way to it waits, and so do those before it. Transfers that have left their hosts for good, and
/// stand in a switch, are frozen too.
#[test]
fn a_chain_ends_at_the_port_that_serves_nothing() {
    let mut spec = ring(3, 1, false);
    spec.events.changes = vec![change(500, 4, 0, 0.0)];
    spec.hosts[1..].iter_mut().for_each(|h| h.sources.clear());
    let out = agreed(&spec, 1, &WAYS);
    let since = out.freeze.last_delivery.unwrap();
    assert!(since >= Time::from_us(500) && since < Time::from_us(510), "{since}");
    let why = out.freeze.standstill.unwrap();
    assert!(!why.circle);
    assert_eq!(why.ports, [(NodeId(3), 1), (NodeId(4), 0)], "S0 waits for S1, which serves H1 nothing");
    spec.events.changes[0].at = Time::ZERO;
    spec.hosts[0].sources[0].stop = Time::from_us(20);
    let out = agreed(&spec, 1, &WAYS);
    assert_eq!(out.freeze.last_delivery, Some(Time::ZERO));
    assert_eq!(out.freeze.standstill.unwrap().ports, [(NodeId(4), 0)]);
}

/// Five switches in a ring, all traffic two links around it in one sense: no port finds room before the one after it does.
#[test]
fn a_circle_is_named_from_its_least_port() {
    for pool in [false, true] {
        let out = agreed(&ring(5, 2, pool), 1, &WAYS);
        assert!(out.freeze.last_delivery.unwrap() < Time::from_ms(2), "{:?}", out.freeze.last_delivery);
        let why = out.freeze.standstill.unwrap();
        assert!(why.circle, "{why:?}");
        assert_eq!(why.ports, (0..5).map(|i| (NodeId(5 + i), 1)).collect::<Vec<_>>(), "pool {pool}");
    }
}

/// By shortest paths a ring of three or four closes no circle; clockwise, nearly round it, it does. Other networks have no such paths.
#[test]
fn clockwise_a_small_ring_closes_a_circle() {
    for n in [3, 4] {
        let mut spec = ring(n, n - 1, false);
        let out = agreed(&spec, 1, &WAYS);
        assert_eq!(out.freeze.standstill, None, "{n}: shortest paths");
        spec.routing = Routing::Clockwise;
        let why = agreed(&spec, 1, &WAYS).freeze.standstill.unwrap();
        let all: Vec<_> = (0..n).map(|i| (NodeId((n + i) as u32), 1)).collect();
        assert_eq!((why.circle, why.ports), (true, all));
    }
    let tree = RunSpec { routing: Routing::Clockwise, ..tree(1, 0.5, Time::from_us(50), 1) };
    assert!(refused(&tree).contains("clockwise routes are those of a ring"), "{}", refused(&tree));
}

/// Nothing is frozen where the last frames are on their way, or where nothing waits.
#[test]
fn a_network_that_moves_is_not_frozen() {
    for stop in [Time::from_ms(1), Time::MAX] {
        let mut spec = ring(3, 1, false);
        spec.hosts.iter_mut().for_each(|h| h.sources[0].stop = stop);
        spec.hosts[0].sources[0].frame = Bytes::new(64);
        let out = agreed(&spec, 1, &WAYS);
        assert_eq!((out.freeze.last_delivery, out.freeze.standstill), (None, None));
    }
}
