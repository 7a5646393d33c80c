//! QCN with serial HAI and 802.1Qau in a whole network: M08's 4 to 1 over a long loop.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scenario::Scenario;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

/// Four senders at `arrivals` to one receiver at one switch; all delay of the loop beyond three processing delays of 1 us
/// lies on the senders' links, half each way.
fn four_to_1(
    arrivals: Arrivals,
    scheme: &str,
    sets: &[(&str, &str)],
    loop_delay: Time,
    ms: u64,
    seed: u64,
) -> RunSpec {
    let n = 4;
    let us = Time::from_us(1);
    let source = common::source(arrivals, Destinations::Fixed(NodeId(n as u32)));
    let host =
        |i: usize| common::host(format!("EP{i}"), if i < n { vec![source.clone()] } else { Vec::new() });
    let delay = Time::from_ps((loop_delay - us * 3).as_ps() / 2);
    let link = |i: usize| LinkSpec {
        a: (NodeId(i as u32), 0),
        b: (NodeId(n as u32 + 1), i as u16),
        rate: Rate::from_gbps(10.0),
        delay: if i < n { delay } else { Time::from_ns(500) },
    };
    let buffer = BufferSpec {
        organisation: Organisation::Input,
        share: Bytes::from_kb(150),
        output_limit: Some(Bytes::from_kb(150)),
        pause: None,
    };
    RunSpec {
        transport: None,
        graph: None,
        hosts: (0..=n).map(host).collect(),
        switches: vec![common::switch("S".into(), 17, buffer)],
        links: (0..=n).map(link).collect(),
        duration: Time::from_ms(ms),
        seed,
        ..common::network(common::scheme(scheme, sets))
    }
}

fn go(spec: &RunSpec) -> Outcome {
    run(spec, &Options::default()).expect("the run keeps all laws")
}

/// M08's source: full load, whatever the host can take.
const FULL: Arrivals = Arrivals::Bernoulli { load: 1.0 };

/// One second of M08's 4 to 1: Gb/s and drops.
fn m08(scheme: &str, sets: &[(&str, &str)], us: u64, seed: u64) -> (f64, f64) {
    let out = go(&four_to_1(FULL, scheme, sets, Time::from_us(us), 1000, seed));
    (out.aggregate().gbps(), out.dropped() as f64)
}

fn close(measured: f64, published: f64, share: f64) -> bool {
    (measured / published - 1.0).abs() <= share
}

/// Published: 9.999 Gb/s and 6 drops at 8 us, 9.446 and 1229 at 500 us, 2.23 and 3746 at 1 ms.
#[test]
fn delay_study_of_m08() {
    for seed in [1, 2] {
        let (rate, drops) = m08("qcn-serial-hai", &[], 8, seed);
        assert!(close(rate, 9.999, 0.05) && drops < 60.0, "8 us, seed {seed}: {rate} Gb/s, {drops}");
        let (rate, drops) = m08("qcn-serial-hai", &[], 500, seed);
        assert!(
            close(rate, 9.446, 0.05) && close(drops, 1229.0, 0.2),
            "500 us, seed {seed}: {rate}, {drops}"
        );
        let (rate, drops) = m08("qcn-serial-hai", &[], 1000, seed);
        assert!(
            (2.0..2.7).contains(&rate) && close(drops, 3746.0, 0.2),
            "1 ms, seed {seed}: {rate} Gb/s, {drops}"
        );
    }
}

/// What the result rests on, and what it does not.
#[test]
fn delay_study_under_other_assumptions() {
    let (rate, drops) = m08("qcn-serial-hai", &[("tr_over_8", "off")], 500, 1);
    assert!(rate < 0.95 * 9.446 && drops > 2.0 * 1229.0, "without the division: {rate} Gb/s, {drops}");
    let (rate, drops) = m08("qcn-serial-hai", &[("sample_dropped", "off")], 500, 1);
    assert!(drops > 1.2 * 1229.0, "dropped frames not sampled: {rate} Gb/s, {drops}");
    // An interval that follows the present queue sees the start-up at once: 40 drops become 20 (published 6).
    let (rate, drops) = m08("qcn-serial-hai", &[("mark_interval", "current")], 8, 1);
    assert!(close(rate, 9.999, 0.05) && drops < 30.0, "interval of the present frame: {rate} Gb/s, {drops}");
}

/// The standard of 2010 on the same network: the same cliff.
#[test]
fn delay_under_the_standard() {
    let [(short, _), (long, drops), (cliff, more)] = [8, 500, 1000].map(|us| m08("qcn-8021qau", &[], us, 1));
    assert!(short > 9.99 && long > 9.4 && cliff < 0.5 * long, "{short}, {long}, {cliff} Gb/s");
    assert!(close(drops, 1229.0, 0.2) && close(more, 3746.0, 0.2), "{drops}, {more}");
}

/// Four greedy flows over 8 us, from 100 ms on: the queue stands at the set point, the rates add up to the line's, and
/// nothing more is lost.
#[test]
fn equilibrium() {
    for scheme in ["qcn-serial-hai", "qcn-802.1Qau"] {
        let mut spec = four_to_1(Arrivals::Greedy, scheme, &[], Time::from_us(8), 600, 1);
        let (switch, sink) = (NodeId(5), NodeId(4));
        spec.record.bin = Time::from_us(50);
        spec.record.queues = vec![(switch, 4)];
        spec.record.delivered = vec![sink];
        spec.record.rates = (0..4).map(|i| (NodeId(i), sink)).collect();
        let out = go(&spec);
        let mean = |kind| {
            let values = &out.series(kind).unwrap().values[2000..];
            values.iter().sum::<f64>() / values.len() as f64
        };
        let queue = mean(SeriesKind::Queue { node: switch, port: 4 });
        assert!(close(queue, 26e3, 0.1), "{scheme}: mean queue {queue} B");
        let delivered = mean(SeriesKind::Delivered { host: sink });
        assert!(close(delivered, 10e9, 1e-4), "{scheme}: {delivered} bit/s delivered");
        let sum: f64 = (0..4).map(|i| mean(SeriesKind::LimiterRate { src: NodeId(i), dst: sink })).sum();
        assert!(close(sum, 10e9, 1e-3), "{scheme}: the rates add up to {sum} bit/s");
        spec.duration = Time::from_ms(100);
        assert_eq!(go(&spec).dropped(), out.dropped(), "{scheme}: all drops are of the start");
    }
}

/// One reaction point for the whole port holds innocent flows too; and the engines agree on it.
#[test]
fn one_reaction_point_for_the_port() {
    let run = |sets: &[(&str, &str)]| {
        let mut all = vec![("run.duration", "60 ms"), ("hotspot.start", "5 ms"), ("hotspot.stop", "40 ms")];
        all.extend(sets);
        let sets: Vec<(String, String)> = all.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let scenario = Scenario::load("B07/single-hop", &sets).unwrap();
        let case = scenario.case_of("hotspot 2 Gb/s", "off", "qcn-802.1Qau").unwrap();
        let ready = scenario.ready(&case).unwrap();
        let spec = ready.settings.spec(&ready.built, 3, false);
        let [a, b] = [Engine::Model, Engine::Fast]
            .map(|engine| cnsim_fabric::run(&spec, &Options { engine, ..Options::default() }).unwrap());
        assert_eq!(a.fingerprint, b.fingerprint);
        let copy = Scenario::from_config(&cnsim_schemes::registry(), &ready.config).unwrap();
        assert_eq!(copy.0.ready(&copy.1).unwrap().built.values, ready.built.values, "the dot in the name");
        a.aggregate().gbps()
    };
    let own = run(&[]);
    let one = run(&[("scheme.qcn-802.1Qau.rpp_max_rps", "1")]);
    assert_eq!(one, run(&[("scheme.qcn-8021qau.rpp_max_rps", "1")]), "any name of the scheme");
    assert!(one < 0.9 * own, "{one} and {own} Gb/s");
}
