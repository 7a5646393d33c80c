//! A network that stands still says which ports wait for which, by either engine in the same words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use common::*;

const WAYS: [(usize, Visits); 3] = [(1, Visits::All), (1, Visits::Due), (2, Visits::Adaptive)];

/// Three switches in a ring, a host at each; everyone sends to the host of the next but one, around the ring.
fn ring(pool: bool) -> RunSpec {
    let mut spec = single_switch(3, 0.9, true, Time::from_ms(3), 1);
    let organisation = if pool { Organisation::SharedOutput } else { Organisation::Input };
    let mut switch = spec.switches[0].clone();
    switch.ports = 3;
    switch.buffer = BufferSpec { organisation, ..buffer(true) };
    spec.switches = (0..3).map(|i| SwitchSpec { name: format!("S{i}"), ..switch.clone() }).collect();
    // Port 0: the host; port 1: to the next switch; port 2: from the one before.
    spec.links = (0..3).map(|i| link((i, 0), (3 + i, 0))).collect();
    spec.links.extend((0..3).map(|i| link((3 + i, 1), (3 + (i + 1) % 3, 2))));
    for (i, h) in spec.hosts.iter_mut().enumerate() {
        h.sources[0].destinations = Destinations::Fixed(NodeId(((i + 1) % 3) as u32));
    }
    spec
}

/// Where a port stops, what was on its way to it waits, and so do those before it.
#[test]
fn a_chain_ends_at_the_port_that_serves_nothing() {
    let mut spec = ring(false);
    spec.changes = vec![RateChange { at: Time::from_us(500), node: NodeId(4), port: 0, rate: Rate::ZERO }];
    spec.hosts[1].sources.clear();
    spec.hosts[2].sources.clear();
    let out = agreed(&spec, 1, &WAYS);
    let since = out.frozen_since.unwrap();
    assert!(since >= Time::from_us(500) && since < Time::from_us(510), "{since}");
    let why = out.standstill.unwrap();
    assert!(!why.circle);
    assert_eq!(why.ports, [(NodeId(3), 1), (NodeId(4), 0)], "S0 waits for S1, which serves H1 nothing");
}

/// Transfers that have left their hosts for good, and stand in a switch: nothing waits at a host, and yet it is frozen.
#[test]
fn frames_in_switches_alone_are_frozen_too() {
    let mut spec = ring(false);
    spec.changes = vec![RateChange { at: Time::ZERO, node: NodeId(4), port: 0, rate: Rate::ZERO }];
    for h in &mut spec.hosts[1..] {
        h.sources.clear();
    }
    spec.hosts[0].sources[0].arrivals = Arrivals::Greedy;
    spec.hosts[0].sources[0].stop = Time::from_us(20);
    let out = agreed(&spec, 1, &WAYS);
    assert_eq!(out.frozen_since, Some(Time::ZERO));
    assert_eq!(out.standstill.unwrap().ports, [(NodeId(4), 0)]);
}

/// Five switches in a ring, all traffic two links around it in one sense: no port finds room before the one after it does.
#[test]
fn a_circle_is_named_from_its_least_port() {
    for pool in [false, true] {
        let mut spec = ring(pool);
        around(&mut spec, 5);
        let out = agreed(&spec, 1, &WAYS);
        assert!(out.frozen_since.unwrap() < Time::from_ms(2), "{:?}", out.frozen_since);
        let why = out.standstill.unwrap();
        assert!(why.circle, "{why:?}");
        assert_eq!(why.ports, (0..5).map(|i| (NodeId(5 + i), 1)).collect::<Vec<_>>(), "pool {pool}");
    }
}

/// The same with `n` switches, everyone to the host two switches on.
fn around(spec: &mut RunSpec, n: usize) {
    let (host, switch) = (spec.hosts[0].clone(), spec.switches[0].clone());
    let to = |i: usize| NodeId(((i + 2) % n) as u32);
    spec.hosts = (0..n)
        .map(|i| {
            let mut h = HostSpec { name: format!("H{i}"), ..host.clone() };
            h.sources[0].destinations = Destinations::Fixed(to(i));
            h.sources[0].arrivals = Arrivals::Greedy;
            h
        })
        .collect();
    spec.switches = (0..n).map(|i| SwitchSpec { name: format!("S{i}"), ..switch.clone() }).collect();
    spec.links = (0..n).map(|i| link((i, 0), (n + i, 0))).collect();
    spec.links.extend((0..n).map(|i| link((n + i, 1), (n + (i + 1) % n, 2))));
}

/// Nothing is frozen where the last frames are on their way, or where nothing waits.
#[test]
fn a_network_that_moves_is_not_frozen() {
    let mut spec = ring(false);
    spec.hosts.iter_mut().for_each(|h| h.sources[0].stop = Time::from_ms(1));
    let out = agreed(&spec, 1, &WAYS);
    assert_eq!((out.frozen_since, out.standstill), (None, None));
    spec.hosts.iter_mut().for_each(|h| h.sources[0].stop = Time::MAX);
    spec.hosts[0].sources[0].frame = Bytes::new(64);
    let out = agreed(&spec, 1, &WAYS);
    assert_eq!((out.frozen_since, out.standstill), (None, None));
}
