//! DCQCN in a whole network against the fixed point of its fluid model.
#![allow(clippy::unwrap_used)]

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use std::sync::Arc;

/// `n` greedy senders (hosts 0 to n - 1) to host n, 40 Gb/s, frames of 1000 B. Mark to reaction and back to the queue:
/// four links and four processing delays, each an eighth of `loop_delay` (or half a microsecond the delays).
fn star(n: usize, loop_delay: Time, duration: Time, seed: u64, set: &[(&str, &str)]) -> RunSpec {
    let processing = Time::from_ns(500);
    let link = (loop_delay.saturating_sub(processing * 4)).as_ps() / 4;
    let source = |_| SourceSpec {
        arrivals: Arrivals::Greedy,
        destinations: Destinations::Fixed(NodeId(n as u32)),
        frame: Bytes::new(1000),
        start: Time::ZERO,
        stop: Time::MAX,
        phase: Phase::Random,
    };
    let host = |h: usize| HostSpec {
        name: format!("H{h}"),
        processing,
        sources: (0..usize::from(h < n)).map(source).collect(),
        fifo_frames: 100,
        limiter_frames: 100,
        limiter_position: LimiterPosition::BelowQueue,
        scheme: Some(0),
    };
    let mut pairs: Vec<(String, String)> =
        [("k_max", "2 MB"), ("p_max", "0.1")].map(|(k, v)| (k.to_string(), v.to_string())).to_vec();
    pairs.extend(set.iter().map(|(k, v)| (k.to_string(), v.to_string())));
    let scheme = (cnsim_schemes::find("dcqcn").unwrap().build)(&pairs).unwrap().scheme;
    RunSpec {
        hosts: (0..=n).map(host).collect(),
        switches: vec![SwitchSpec {
            name: "S".into(),
            ports: n as u16 + 1,
            processing,
            buffer: BufferSpec {
                organisation: Organisation::Crosspoint,
                share: Bytes::from_mb(1000),
                output_limit: None,
                pause: None,
            },
            scheme: Some(0),
        }],
        links: (0..=n)
            .map(|h| LinkSpec {
                a: (NodeId(h as u32), 0),
                b: (NodeId(n as u32 + 1), h as u16),
                rate: Rate::from_gbps(40.0),
                delay: Time::from_ps(link),
            })
            .collect(),
        routing: Routing::FlowHash,
        schemes: vec![Arc::clone(&scheme)],
        control: ControlTransport::Priority,
        changes: Vec::new(),
        duration,
        seed,
        record: Record {
            bin: Time::from_us(2),
            queues: vec![(NodeId(n as u32 + 1), n as u16)],
            flows: (0..n).map(|s| (NodeId(s as u32), NodeId(n as u32))).collect(),
            ..Record::default()
        },
    }
}

#[derive(Debug)]
struct Seen {
    mean: f64,
    p: f64,
    p5: f64,
    p95: f64,
    jain: f64,
    used: f64,
    cnps: f64,
    cuts: u64,
}

/// Runs it and looks at the time after `settle`.
fn look(spec: &RunSpec, settle: Time) -> Seen {
    let out = run(spec, &Options::default()).unwrap();
    let n = spec.hosts.len() - 1;
    let skip = (settle.as_ps() / spec.record.bin.as_ps()) as usize;
    let queue = SeriesKind::Queue { node: NodeId(n as u32 + 1), port: n as u16 };
    let mut q = out.series(queue).unwrap().values[skip..].to_vec();
    let mean = q.iter().sum::<f64>() / q.len() as f64;
    let ramp = |q: f64| if q > 2e6 && std::env::var("LONG").is_err() { 1.0 } else { 0.1 * (q - 5e3).max(0.0) / 1.995e6 };
    let p = q.iter().map(|&q| ramp(q)).sum::<f64>() / q.len() as f64;
    if std::env::var("TRACE").is_ok() {
        let all = &out.series(queue).unwrap().values;
        for c in all.chunks(5000) {
            let m = c.iter().sum::<f64>() / c.len() as f64;
            let (lo, hi) = c.iter().fold((1e12f64, 0f64), |a, &v| (a.0.min(v), a.1.max(v)));
            print!("[{:.0} {:.0} {:.0}] ", lo / 1e3, m / 1e3, hi / 1e3);
        }
        println!();
    }
    q.sort_by(f64::total_cmp);
    let rates: Vec<f64> = (0..n)
        .map(|s| {
            let kind = SeriesKind::Flow { src: NodeId(s as u32), dst: NodeId(n as u32) };
            let v = &out.series(kind).unwrap().values[skip..];
            v.iter().sum::<f64>() / v.len() as f64
        })
        .collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|r| r * r).sum();
    let count = |name: &str| out.counters.iter().find(|c| c.0 == name).unwrap().1;
    Seen {
        mean,
        p,
        p5: q[q.len() / 20],
        p95: q[q.len() * 19 / 20],
        jain: sum * sum / (n as f64 * squares),
        used: sum / 40e9,
        cnps: count("cnps_sent") as f64 / n as f64 / spec.duration.as_secs_f64(),
        cuts: count("cuts"),
    }
}

#[test]
#[ignore = "prints"]
fn explore() {
    let settings: &[(&str, &[(&str, &str)])] = &[
        ("default", &[]),
        ("arrival", &[("mark_at", "arrival")]),
        ("windows", &[("cnp_spacing", "windows")]),
        ("windows+periodic", &[("cnp_spacing", "windows"), ("alpha_update", "periodic")]),
        ("periodic", &[("alpha_update", "periodic")]),
        ("long", &[("k_max", "3.995 MB"), ("p_max", "0.2")]),
        ("long-windows", &[("k_max", "3.995 MB"), ("p_max", "0.2"), ("cnp_spacing", "windows")]),
        ("long-deferred", &[("k_max", "3.995 MB"), ("p_max", "0.2"), ("cnp_spacing", "deferred")]),
        ("deferred", &[("cnp_spacing", "deferred")]),
        ("windows+alpha-first", &[("cnp_spacing", "windows"), ("cut_order", "alpha-first")]),
    ];
    for delay in std::env::var("D").unwrap().split(',').map(|x| x.parse::<u64>().unwrap()) {
        for (name, set) in settings.iter().filter(|s| std::env::var("S").unwrap().split(',').any(|x| x == s.0)) {
            for (n, want) in [(2, 20.5), (10, 125.0), (64, 1183.0)] {
                if std::env::var("N").is_ok_and(|v| !v.split(',').any(|x| x == n.to_string())) {
                    continue;
                }
                let ms = std::env::var("MS").unwrap().parse::<u64>().unwrap();
                let spec = star(n, Time::from_us(delay), Time::from_ms(ms), 1, set);
                let t = std::time::Instant::now();
                let s = look(&spec, Time::from_ms(ms / 2));
                println!(
                    "{delay} us {name:20} N={n:2} mean {:7.1} KB ({:+.1} %) p5 {:.1} p95 {:.1} swing {:.2} p {:.6} jain {:.4} used {:.4} cnps/s {:.0} cuts {} [{:.1?}]",
                    s.mean / 1e3, (s.mean / 1e3 / want - 1.0) * 100.0, s.p5 / 1e3, s.p95 / 1e3, (s.p95 - s.p5) / want / 1e3, s.p, s.jain, s.used, s.cnps, s.cuts, t.elapsed()
                );
            }
        }
    }
}
