//! R07's variants of QCN in a whole network: its single hop with ten hosts, shortened to 120 ms.
//!
//! Here and not beside the schemes, because schemes and network never see each other.
#![allow(clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

/// Sixteen ports, ten hosts at 8.5 Gb/s, 100 KB for each input with PAUSE at 80/60 KB; the port of H1 serves 1 Gb/s
/// from 10 to 60 ms.
fn single_hop(scheme: &str, params: &[(&str, &str)], seed: u64) -> RunSpec {
    let line = Rate::from_gbps(10.0);
    let host = |i: usize| HostSpec {
        fifo_frames: 1000,
        ..common::host(
            format!("H{i}"),
            vec![common::source(Arrivals::Bernoulli { load: 0.85 }, Destinations::Uniform)],
        )
    };
    let buffer = BufferSpec {
        organisation: Organisation::Input,
        share: Bytes::from_kb(100),
        output_limit: None,
        pause: Some(common::pause(80, 60)),
    };
    let (switch, port) = (NodeId(10), 1);
    RunSpec {
        transport: None,
        graph: None,
        hosts: (0..10).map(host).collect(),
        switches: vec![common::switch("S".into(), 16, buffer)],
        links: (0..10u16)
            .map(|i| LinkSpec {
                a: (NodeId(u32::from(i)), 0),
                b: (switch, i),
                rate: line,
                delay: Time::from_ns(500),
            })
            .collect(),
        events: PortEvents {
            changes: vec![
                RateChange { at: Time::from_ms(10), node: switch, port, rate: Rate::from_gbps(1.0) },
                RateChange { at: Time::from_ms(60), node: switch, port, rate: line },
            ],
            ..PortEvents::default()
        },
        duration: Time::from_ms(120),
        seed,
        ..common::network(common::scheme(scheme, params))
    }
}

fn go(scheme: &str, params: &[(&str, &str)], seed: u64) -> Outcome {
    run(&single_hop(scheme, params, seed), &Options::default()).unwrap()
}

fn counter(out: &Outcome, name: &str) -> u64 {
    out.counters.iter().find(|c| c.0 == name).map_or(0, |c| c.1)
}

const VARIANTS: [&str; 6] = ["qcn-h", "qcn-p", "qcn-hp", "qcn-sp", "qcn-hsp", "qcn-pp"];

/// With PAUSE nothing is lost; each probe comes back, but for those whose limiter was given back meanwhile or that are
/// under way at the end (one for each of at most 90 flows).
#[test]
fn nothing_is_lost_and_probes_are_answered() {
    for scheme in VARIANTS {
        let out = go(scheme, &[], 1);
        assert_eq!(out.dropped(), 0, "{scheme}");
        assert!(counter(&out, "cnm_messages") > 100, "{scheme}: the hotspot is noticed");
        if scheme == "qcn-h" {
            assert_eq!(out.messages.made, counter(&out, "cnm_messages"), "{scheme} sends no probes");
            continue;
        }
        let sent = counter(&out, "probes_sent");
        let (positive, negative) = (counter(&out, "answers_positive"), counter(&out, "answers_negative"));
        assert!(positive > 100 && negative > 100, "{scheme}: {positive} positive, {negative} negative");
        let gone = sent - positive - negative;
        assert!(gone <= 90, "{scheme}: {gone} of {sent} without an answer");
        assert_eq!(counter(&out, "probes_lost"), 0, "{scheme}");
    }
}

/// Positive feedback brings the hot port back sooner and costs nothing elsewhere (R07.5).
#[test]
fn probes_help() {
    for seed in 1..=2 {
        let plain = go("qcn-2pt", &[("q_eq", "24 KB"), ("ri", "12 Mb/s"), ("byte_restart", "always")], seed);
        for scheme in ["qcn-p", "qcn-sp"] {
            let out = go(scheme, &[], seed);
            let (with, without) = (out.aggregate().gbps(), plain.aggregate().gbps());
            assert!(with >= without, "{scheme}, seed {seed}: {with} Gb/s, QCN-2pt {without}");
            let hot = |o: &Outcome| o.hosts[1].delivered_bits as f64;
            let ratio = hot(&out) / hot(&plain);
            assert!(ratio > 1.2, "{scheme}, seed {seed}: the hot port gets {ratio:.2} times as much");
        }
    }
}

/// Two switches in a row, five hosts each: probes find a congestion point that is not on their first switch, and PP
/// passes two of them.
#[test]
fn probes_find_a_distant_point() {
    for scheme in VARIANTS {
        let mut spec = single_hop(scheme, &[], 1);
        spec.duration = Time::from_ms(60);
        let (near, far) = (NodeId(10), NodeId(11));
        let second = SwitchSpec { name: "T".into(), ..spec.switches[0].clone() };
        spec.switches.push(second);
        for i in 5..10u16 {
            spec.links[usize::from(i)].b = (far, i);
        }
        spec.links.push(LinkSpec { a: (near, 15), b: (far, 15), ..spec.links[0] });
        // 5 x 3 Gb/s for H8 over one link of 10: the near switch congests too, and limiters change points.
        for (i, host) in spec.hosts.iter_mut().enumerate() {
            host.sources[0].arrivals = Arrivals::Bernoulli { load: 0.3 };
            if i < 5 {
                host.sources[0].destinations = Destinations::Fixed(NodeId(8));
            } else {
                host.sources[0].destinations = Destinations::Among((0..5).map(NodeId).collect());
            }
        }
        spec.events.changes =
            vec![RateChange { at: Time::from_ms(10), node: far, port: 8, rate: Rate::from_gbps(1.0) }];
        let out = run(&spec, &Options::default()).unwrap();
        assert_eq!(out.dropped(), 0, "{scheme}");
        if scheme == "qcn-h" {
            continue;
        }
        let sent = counter(&out, "probes_sent");
        let answers = counter(&out, "answers_positive") + counter(&out, "answers_negative");
        assert!(sent > 100 && sent - answers <= 30, "{scheme}: {answers} answers to {sent} probes");
        assert!(counter(&out, "point_changes") > 0, "{scheme}: both points are met");
        assert_eq!(counter(&out, "probes_lost"), 0, "{scheme}");
    }
}
