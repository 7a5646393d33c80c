//! Packet-hops per CPU-second of a few networks, both engines (a quick look; `cnsim bench` is the tool).
#![allow(missing_docs, clippy::expect_used)]
#[path = "../tests/common/mod.rs"]
mod common;
use cnsim_fabric::*;
use cnsim_scheme_api::{Rate, Time};

fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    let duration = Time::from_ms(200);
    for (name, pause, hot) in [
        ("quiet", true, None),
        ("hot2", true, Some(2.0)),
        ("hot2 no pause", false, Some(2.0)),
        ("hot0", true, Some(0.0)),
    ] {
        let mut spec = common::single_switch(10, 0.85, pause, duration, 1);
        if let Some(g) = hot {
            common::hotspot(&mut spec, Rate::from_gbps(g));
        }
        for engine in [Engine::Fast, Engine::Model] {
            if which == "w" && engine == Engine::Model {
                continue;
            }
            let t = std::time::Instant::now();
            let out = run(&spec, &Options { engine, ..Options::default() }).expect("runs");
            let s = t.elapsed().as_secs_f64();
            let paused: f64 = out.hosts[1..].iter().map(|h| h.paused.as_secs_f64()).sum::<f64>()
                / 9.0
                / duration.as_secs_f64();
            println!(
                "{name:14} {engine:?} {:6.2} M hops/s  agg {} hot {:.3} paused {:.2} % drops {}  {:016x}",
                out.packet_hops as f64 / s / 1e6,
                out.aggregate(),
                out.hosts[0].delivered_bits as f64 / duration.as_secs_f64() / 1e9,
                paused * 100.0,
                out.dropped(),
                out.fingerprint.frames
            );
        }
    }
}
