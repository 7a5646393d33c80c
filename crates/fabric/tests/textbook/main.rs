//! Both ways to run a network agree with the textbook, frame by frame, on random small networks: 300, or `CNSIM_NETWORKS` others from
//! seed `CNSIM_SEED` on.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod book;
#[path = "../common/mod.rs"]
mod common;
mod hosts;

use book::Textbook;
use cnsim_fabric::*;
use cnsim_scheme_api::{NodeId, ReflectGate, Time};
use common::random::{ANY, Draws, Random, Traffic};
use common::script::*;
use hosts::Drill;
use std::sync::Arc;

/// The drill as a scheme. Its reflectors note each frame.
fn scheme(drill: &Drill) -> Script {
    let (answers, paced) = (drill.answers, drill.clone());
    let scheme = script().everywhere().gate(ReflectGate::Always).on_frame(move |f, ctl, notes| {
        notes.say(ctl.now(), format!("{} to {}: {} B", f.src.0, f.dst.0, f.len.get()));
        if answers {
            ctl.reply(SAYS);
        }
    });
    let limited = !drill.pace.is_empty();
    scheme.flows(move |_| limited).source(move |_, limiter, _| {
        limiter.engage();
        limiter.set_rate(limiter.line_rate() * paced.share(limiter.now()).unwrap());
    })
}

/// A network without draws, and what is done in it. No document says which of two limiters ahead of a FIFO lets a frame in first, where
/// both are back at line rate and due in one moment: in networks in step they stay below it.
fn scenario(seed: u64) -> (RunSpec, Drill) {
    let random = Random {
        stream: 20,
        switches: (1, 3),
        duration: (10, 60),
        in_step: u64::from(seed.is_multiple_of(3)),
        loads: &[1.0],
        frames: &common::LENGTHS,
        rates: &[10.0, 10.0, 40.0, 100.0, 3.0],
        traffic: &[Traffic::Chance, Traffic::Greedy],
        backlog: &[0],
        memory: &[3, 10, 20],
        limit: 0,
        control: &[ControlTransport::Priority],
        ties: &[Ties::ByPort],
        scheme: |_| None,
        ..ANY
    };
    let (mut spec, d) = (random.network(seed), &mut Draws::new(seed, 21));
    let hosts = spec.hosts.len() as u64;
    for (h, host) in (0..).zip(&mut spec.hosts) {
        (host.clock_ppm, host.feedback_delay, host.faults.feedback_lost) = (0.0, Time::ZERO, 0);
        host.queues = HostQueues::Fifo;
        let drawn = std::mem::take(&mut host.sources);
        let source = |k: u64| SourceSpec {
            destinations: Destinations::Fixed(NodeId(((h + 1 + d.below(hosts - 1)) % hosts) as u32)),
            phase: Phase::Aligned,
            ..drawn[k as usize % drawn.len()].clone()
        };
        host.sources = (0..(seed + h * 3) % 5).map(source).collect();
    }
    spec.routing = d.one(&[Routing::Destination, Routing::RoundRobin]);
    spec.laws.rounding = Rounding::Exact;
    spec.record = Record::default();
    let shares: &[f64] =
        if seed.is_multiple_of(3) { &[0.1, 0.3, 0.5, 0.9] } else { &[0.1, 0.25, 0.3, 0.5, 1.0] };
    let drill = Drill {
        answers: d.once_in(2),
        pace: (0..d.one(&[0, 0, 1, 2, 3, 4])).map(|_| d.one(shares)).collect(),
    };
    // A quarter has no scheme at all.
    (spec, if seed % 4 < 3 { drill } else { Drill::default() })
}

/// All that textbook and program are to agree on. At the very start sites are noted.
fn summary(mut out: Outcome, mut log: Vec<(Time, String)>) -> String {
    log.retain(|n| n.0 > Time::ZERO);
    log.sort_unstable();
    out.hosts.iter_mut().for_each(|h| h.pause.by_part.clear());
    out.switches.iter_mut().for_each(|s| s.paused_by_part.clear());
    let control = (out.messages.made, out.messages.ignored, out.control_hops, out.packet_hops);
    format!("{:?}", (log, out.hosts, out.switches, control))
}

#[test]
fn both_ways_agree_with_the_textbook() {
    let (first, count) = (common::number("CNSIM_SEED", 0), common::number("CNSIM_NETWORKS", 300));
    let mut seen = [0; 4];
    for seed in first..first + count {
        let (mut spec, drill) = scenario(seed);
        let (script, watched) = (scheme(&drill), seed % 4 < 3);
        if watched {
            common::with_scheme(&mut spec, Arc::new(script.clone()));
        }
        let network = format!("seed {seed}\n{drill:?}\n{spec:?}");
        let Textbook { out: book, mut log, .. } = Textbook::run(&spec, drill);
        seen[0] += u64::from(book.dropped() > 0);
        seen[1] += u64::from(book.hosts.iter().any(|h| h.pause.received > 0));
        seen[2] += u64::from(book.control_hops > 0);
        seen[3] += u64::from(book.hosts.iter().any(|h| h.limited_flows > 0));
        log.retain(|_| watched);
        let book = summary(book, log);
        let visits = [Visits::Adaptive, Visits::All, Visits::Due, Visits::Turns][seed as usize / 4 % 4];
        for engine in [Engine::Model, Engine::Fast] {
            script.notes.take();
            let out = run(&spec, &Options { engine, visits, threads: 1, ..Options::default() });
            let out = out.unwrap_or_else(|e| panic!("{engine:?}: {e}, {network}"));
            let program = summary(out, script.notes.take());
            let differ = program.split(", ").zip(book.split(", ")).filter(|(a, b)| a != b).take(12);
            assert!(program == book, "{engine:?}, textbook: {:?}\n{network}", differ.collect::<Vec<_>>());
        }
    }
    let often = seen.iter().all(|n| *n >= count / 8);
    assert!(often || count < 5 * common::ENOUGH, "{count} networks; drop, pause, control, limit: {seen:?}");
}
