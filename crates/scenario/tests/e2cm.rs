//! Z07's single hop: 16 hosts at 85 %, node 1 served at a tenth from 10 ms on, 300 KB of memory an input.
//!
//! Here and not beside the scheme, because schemes and network meet in this crate only.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use cnsim_schemes::ecm::EcmParams;
use cnsim_schemes::find;

const HOT: usize = 1;

/// Z07's parameters for the scheme `ecm`, as a scenario would write them in `scheme.params`.
const ECM_Z07: &[(&str, &str)] = &[
    ("q_eq", "75 KB"),
    ("gi", "50/5859.375"),
    ("gd", "0.5/5859.375"),
    ("r_min", "1 Mb/s"),
    ("sample_dropped", "off"),
    ("oversampling", "off"),
    ("q_mc", "280 KB"),
];

#[derive(Clone, Copy)]
struct Case {
    scheme: &'static str,
    sets: &'static [(&'static str, &'static str)],
    limit: bool,
    pause: bool,
    ms: u64,
    rtt_us: u64,
    seed: u64,
    /// From 10 ms on.
    hot: bool,
}

fn case(scheme: &'static str, limit: bool, ms: u64) -> Case {
    let sets = if scheme == "ecm" { ECM_Z07 } else { &[] };
    Case { scheme, sets, limit, pause: false, ms, rtt_us: 0, seed: 1, hot: true }
}

fn spec(c: &Case) -> RunSpec {
    let n = 16;
    let host = |i| HostSpec {
        fifo_frames: u32::MAX,
        limiter_frames: u32::MAX,
        ..common::host(
            format!("H{i}"),
            vec![common::source(Arrivals::Bernoulli { load: 0.85 }, Destinations::Uniform)],
        )
    };
    let buffer = BufferSpec {
        organisation: Organisation::Input,
        share: Bytes::from_kb(300),
        output_limit: c.limit.then(|| Bytes::from_kb(600)),
        pause: c.pause.then(|| common::pause(280, 260)),
    };
    let switch = NodeId(n);
    let change = |at, gbps| RateChange {
        at: Time::from_ms(at),
        node: switch,
        port: HOT as u16,
        rate: Rate::from_gbps(gbps),
    };
    RunSpec {
        transport: None,
        graph: None,
        hosts: (0..n).map(host).collect(),
        switches: vec![common::switch("S".into(), n as u16, buffer)],
        links: (0..n)
            .map(|i| LinkSpec {
                a: (NodeId(i), 0),
                b: (switch, i as u16),
                rate: Rate::from_gbps(10.0),
                delay: Time::from_ns(500) + Time::from_us(c.rtt_us).scale(0.5),
            })
            .collect(),
        events: PortEvents {
            changes: if c.hot { vec![change(10, 1.0)] } else { Vec::new() },
            ..PortEvents::default()
        },
        duration: Time::from_ms(c.ms),
        seed: c.seed,
        record: Record { bin: Time::from_ms(1), queues: vec![(switch, HOT as u16)], ..Record::default() },
        ..common::network(common::scheme(c.scheme, c.sets))
    }
}

struct Seen {
    /// Gb/s.
    aggregate: f64,
    hot: f64,
    drops: u64,
    /// Share of the drops at other ports than the hot one.
    innocent: f64,
    /// Mean and deviation of the hot queue over the second half of the run, KB.
    queue: (f64, f64),
    out: Outcome,
}

fn go(c: &Case) -> Seen {
    let out = run(&spec(c), &Options::default()).expect("the run keeps all laws");
    let seconds = out.duration.as_secs_f64();
    let ports = &out.switches[0].ports;
    let drops = out.dropped();
    let hot = ports[HOT].dropped + ports[HOT].dropped_by_limit;
    let queue = &out.recorded.series[0].values;
    let tail: Vec<f64> = queue[queue.len() / 2..].iter().map(|v| v / 1e3).collect();
    let mean = tail.iter().sum::<f64>() / tail.len() as f64;
    let spread = tail.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / tail.len() as f64;
    Seen {
        aggregate: out.aggregate().gbps(),
        hot: out.hosts[HOT].delivered_bits as f64 / seconds / 1e9,
        drops,
        innocent: (drops - hot) as f64 / drops.max(1) as f64,
        queue: (mean, spread.sqrt()),
        out,
    }
}

fn tell(c: &Case, s: &Seen) {
    println!(
        "{:9} {:?} PAUSE {} limit {} RTT {:3} us, {} ms, seed {}: {:6} drops ({:4.1} % innocent), {:7.3} Gb/s, hot {:.4}, \
         queue {:4.0} +- {:3.0} KB, control {:.2} Mb/s, {:?}",
        c.scheme,
        if c.scheme == "ecm" { &[] } else { c.sets },
        c.pause,
        c.limit,
        c.rtt_us,
        c.ms,
        c.seed,
        s.drops,
        s.innocent * 100.0,
        s.aggregate,
        s.hot,
        s.queue.0,
        s.queue.1,
        s.out.messages.bits as f64 / s.out.duration.as_secs_f64() / 1e6,
        s.out.counters
    );
}

fn counter(out: &Outcome, name: &str) -> u64 {
    out.counters.iter().find(|c| c.0 == name).unwrap().1
}

/// The keys of `ecm` suffice for Z07.
#[test]
fn ecm_takes_the_parameters_of_z07() {
    let pairs: Vec<_> = ECM_Z07.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let built = find("ecm").unwrap().build(&pairs).unwrap();
    use cnsim_scheme_api::Params;
    let z07 = EcmParams::z07().values().into_iter().map(|(k, v)| (k.to_string(), v));
    assert_eq!(built.values, z07.collect::<Vec<_>>());
}

/// Without congestion every flow probes once in 75 KB of its own, limiter or not, and nothing else happens.
#[test]
fn unlimited_flows_probe() {
    for scheme in ["e2cm-src", "e2cm-dst"] {
        let c = Case { hot: false, ..case(scheme, false, 30) };
        let s = go(&c);
        tell(&c, &s);
        // 240 flows of 566.7 Mb/s: 1.0588 ms a probe (never 10 ms), half an interval lost at the end; 3 us back.
        let sent: u64 = s.out.hosts.iter().map(|h| h.sent).sum();
        let due = sent as f64 * 1500.0 / 75_000.0 - 240.0 / 2.0;
        let probes = counter(&s.out, "probes_sent");
        assert!((probes as f64 / due - 1.0).abs() < 0.02, "{probes}, due {due}");
        let returned = counter(&s.out, "probes_returned");
        assert!(probes - returned < 20, "a probe is back after some 10 us: {probes} and {returned}");
        assert!((probes + returned..2 * probes + 1).contains(&s.out.messages.made));
        assert_eq!((s.drops, counter(&s.out, "probe_steps")), (0, 0));
        assert!(s.out.hosts.iter().all(|h| h.limited_flows == 0));
    }
}

/// All of these at once.
fn all(cases: &[Case]) -> Vec<Seen> {
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let runs: Vec<_> = cases.iter().map(|c| scope.spawn(|| go(c))).collect();
        runs.into_iter().map(|r| r.join().unwrap()).collect()
    });
    cases.iter().zip(&seen).for_each(|(c, s)| tell(c, s));
    seen
}

/// Source and destination measure alike; the limit on the hot queue spares the innocent flows, which lose most of what
/// is lost without it; E2CM serves the hot port in full.
#[test]
fn the_limit_spares_innocents_and_the_bases_agree() {
    let cases = [
        case("e2cm-src", false, 150),
        case("e2cm-dst", false, 150),
        case("e2cm-src", true, 150),
        case("e2cm-dst", true, 150),
    ];
    let seen = all(&cases);
    for pair in seen.chunks(2) {
        let (src, dst) = (&pair[0], &pair[1]);
        assert!((src.aggregate / dst.aggregate - 1.0).abs() < 0.02, "{} {}", src.aggregate, dst.aggregate);
        assert!((src.hot / dst.hot - 1.0).abs() < 0.02, "{} {}", src.hot, dst.hot);
    }
    for (free, limited) in [(&seen[0], &seen[2]), (&seen[1], &seen[3])] {
        assert!(free.drops > 5 * limited.drops, "{} without, {} with the limit", free.drops, limited.drops);
        assert!(limited.drops > 0 && limited.innocent < 0.05, "{}", limited.innocent);
        assert!(free.innocent > 0.9, "{}", free.innocent);
        // 8.5 Gb/s for 10 ms, 1 Gb/s for 140 ms.
        assert!(limited.hot > 0.98 * (8.5 * 10.0 + 140.0) / 150.0, "{}", limited.hot);
        assert!(counter(&limited.out, "probe_steps") > 100);
    }
}

/// What the probes add: ECM alone, whose limiters know nothing but the congestion point's samples, loses more.
#[test]
fn ecm_loses_more() {
    let seen = all(&[case("ecm", true, 100), case("e2cm-src", true, 100), case("ecm", false, 100)]);
    assert!(seen[0].drops as f64 > 1.2 * seen[1].drops as f64, "{} and {}", seen[0].drops, seen[1].drops);
    assert!(seen[2].drops > 5 * seen[0].drops, "{} and {}", seen[2].drops, seen[0].drops);
}

/// A shortest latency taken in the full queue: the queue stays at its limit, and drops go on.
#[test]
fn a_first_sample_in_the_queue_misleads() {
    let sets = &[("l0", "first-sample")];
    let seen = all(&[case("e2cm-src", true, 150), Case { sets, ..case("e2cm-src", true, 150) }]);
    assert!(seen[0].queue.0 < 500.0 && seen[1].queue.0 > 580.0, "{} {}", seen[0].queue.0, seen[1].queue.0);
    assert!(seen[1].drops > 2 * seen[0].drops, "{} {}", seen[1].drops, seen[0].drops);
}

#[test]
fn pause_loses_nothing() {
    let with = |scheme| Case { pause: true, ..case(scheme, false, 100) };
    for s in all(&[with("e2cm-src"), with("e2cm-dst"), with("ecm")]) {
        assert_eq!(s.drops, 0);
        assert!(s.out.hosts.iter().any(|h| h.pause.time > Time::ZERO), "PAUSE had work");
    }
}

/// Limiters that exist before they limit, and probes among the data: the engines agree on every event.
#[test]
fn the_engines_agree() {
    for (scheme, pause) in [("e2cm-src", false), ("e2cm-dst", true)] {
        let spec = spec(&Case { pause, ..case(scheme, !pause, 22) });
        let with = |engine, threads| {
            let out = run(&spec, &Options { engine, threads, ..Options::default() }).unwrap();
            assert!(counter(&out, "probe_steps") > 0);
            (out.fingerprint, out.counters)
        };
        let slow = with(Engine::Model, 1);
        assert_eq!(with(Engine::Fast, 1), slow);
        assert_eq!(with(Engine::Fast, 3), slow);
    }
}
