//! Classes of data, frame by frame, as a textbook of them has it: turns, XOFF by class, thresholds in two pools. The model agrees on 40 random
//! small networks, or on `CNSIM_NETWORKS` others from seed `CNSIM_SEED` on, on 1, 2 or 4 threads.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod book;
#[path = "../common/mod.rs"]
mod common;

use book::Book;
use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, ReflectGate, Time};
use common::random::{ANY, Draws, Random, Traffic};
use common::script::*;
use std::sync::Arc;

/// Lossless and lossy classes, strict ones and those with a weight.
fn classes(d: &mut Draws) -> Vec<ClassSpec> {
    let weighted = d.one(&[1, 2, 4, 4]);
    let (lossless, many) = (d.one(&[1, 2, 2, 4]), d.one(&[2, 2, 3, 3, 4, 8]));
    let class = |n: u64| {
        let weight = d.one(&[1, 1, 2, 3, 5]);
        let turn = Turn::Weight { weight, frames: d.once_in(3) };
        let turn = if d.below(4) < weighted { turn } else { Turn::Strict };
        let pause = d.below(4) < lossless;
        ClassSpec { name: format!("c{n}"), pause, turn, ..ClassSpec::default() }
    };
    (0..many).map(class).collect()
}

/// Sources of each host that come and go, so that classes wake and wait no longer.
fn sources(spec: &mut RunSpec, d: &mut Draws, step: Option<u64>) {
    let (hosts, end) = (spec.hosts.len() as u64, spec.duration.as_ps());
    for h in 0..hosts {
        let many = d.one(&[0, 1, 2, 4, 6]);
        let source = |_| {
            let start = d.below(end);
            let stop = start + d.one(&[end / 20, end / 8, end]);
            let dst = if d.once_in(2) { 0 } else { d.below(hosts) };
            let dst = if dst == h { (h + 1) % hosts } else { dst };
            SourceSpec {
                arrivals: d.one(&[Arrivals::Greedy, Arrivals::Bernoulli { load: 1.0 }]),
                frame: Bytes::new(step.unwrap_or_else(|| d.one(&common::LENGTHS))),
                class: d.below(spec.classes.len() as u64) as u8,
                start: if step.is_some() { Time::from_us(start / 1_000_000) } else { Time::from_ps(start) },
                stop: Time::from_ps(stop),
                ..common::greedy(dst as u32)
            }
        };
        spec.hosts[h as usize].sources = (0..many).map(source).collect();
    }
}

/// A shared buffer of a few frames for each input and class, and two pools.
fn shared(spec: &mut RunSpec, d: &mut Draws) {
    let each = spec.classes.len() * usize::from(spec.switches[0].ports);
    let input = |_| SharedInput {
        reserve: Bytes::new(d.one(&[0, 1000, 4096])),
        headroom: Bytes::new(d.one(&[5_000, 30_000, 60_000])),
        alpha: d.one(&[0.125, 0.5, 1.0, 3.0]),
    };
    let inputs: Vec<SharedInput> = (0..each).map(input).collect();
    let kept: u64 = inputs.iter().map(|i| (i.reserve + i.headroom).get()).sum();
    let (lossless, lossy) = (d.one(&[10_000, 40_000, 90_000]), d.one(&[8_000, 30_000, 70_000]));
    let resume = Bytes::new(d.one(&[0, 1500, 3072]));
    let threshold = d.once_in(5).then(|| Bytes::new(d.one(&[4_000, 20_000])));
    let memory = Bytes::new(kept + lossless + lossy);
    let headroom = d.once_in(3).then(|| Bytes::new(d.one(&[3_000, 20_000, 70_000])));
    let shared =
        SharedSpec { memory, lossy: Bytes::new(lossy), inputs, headroom, threshold, resume, at_start: false };
    for switch in &mut spec.switches {
        switch.buffer.organisation = Organisation::Input;
        switch.buffer.pause.iter_mut().for_each(|p| p.global = false);
        switch.shared = Some(shared.clone());
    }
}

/// A network without draws.
fn scenario(seed: u64) -> RunSpec {
    let random = Random {
        stream: 40,
        switches: (1, 3),
        hosts: (2, 4),
        duration: (20, 90),
        in_step: 0,
        rates: &[10.0, 10.0, 40.0, 100.0, 3.0],
        traffic: &[Traffic::Greedy],
        fifo: &[3, 20, 500],
        backlog: &[0],
        control: &[ControlTransport::Priority],
        ties: &[Ties::ByPort],
        slow: &[None],
        scheme: |_| None,
        xoff: &[0, 4, 12, 18],
        memory: &[3, 10, 20],
        ..ANY
    };
    let (mut spec, d) = (random.network(seed), &mut Draws::new(seed, 41));
    spec.hosts.iter_mut().for_each(|host| (host.clock_ppm, host.queues) = (0.0, HostQueues::Fifo));
    spec.classes = classes(d);
    let step = d.once_in(4).then(|| d.one(&common::LENGTHS));
    sources(&mut spec, d, step);
    if d.once_in(2) {
        shared(&mut spec, d);
    }
    spec.routing = d.one(&[Routing::Destination, Routing::RoundRobin]);
    spec.laws.rounding = Rounding::Exact;
    spec.laws.pause_frames.response = Time::from_ns(d.one(&[0, 0, 700]));
    let transport = d.one(&[PauseTransport::Frame, PauseTransport::Frame, PauseTransport::Wire]);
    for host in 0..spec.hosts.len() as u32 {
        let (mut at, class) = (0, d.below(spec.classes.len() as u64) as u8);
        while d.once_in(2) {
            let (from, to) = (at + d.below(20_000_000), 1 + d.below(9_000_000));
            at = from + to;
            let fault = common::in_xoff((host, 0), Time::from_ps(from), Time::from_ps(at));
            spec.events.faults.push(PortFault { class, transport, ..fault });
        }
    }
    let ports = spec.links.iter().flat_map(|l| [l.a, l.b]).collect();
    spec.record = Record { captures: ports, capture_limit: 1 << 20, ..Record::default() };
    spec
}

/// All that textbook and program are to agree on: what ports put on their links, and what was counted, a line each.
fn summary(
    mut log: Vec<(Time, usize, usize, String)>,
    hosts: &[Vec<HostOutcome>],
    ports: &[Vec<PortOutcome>],
) -> String {
    log.sort();
    let host = |h: &HostOutcome| {
        let frames = (h.generated, h.source_discards, h.sent, h.delivered, h.delivered_bits);
        format!("{frames:?} {:?} {:?}", (h.latencies.sum, h.latencies.max), (h.pause.time, h.pause.received))
    };
    let port = |p: &PortOutcome| PortOutcome { control_sent: 0, ..p.clone() };
    let log = log.iter().map(|(at, node, port, text)| format!("{} ps, {node}.{port}: {text}", at.as_ps()));
    let hosts = hosts.iter().enumerate().flat_map(|(c, of)| of.iter().map(move |h| (c, host(h))));
    let ports = ports.iter().enumerate().flat_map(|(c, of)| of.iter().map(move |p| (c, port(p))));
    let counts = hosts.map(|h| format!("{h:?}")).chain(ports.map(|p| format!("{p:?}")));
    log.chain(counts).collect::<Vec<String>>().join("\n")
}

/// The same of an outcome.
fn told(out: &Outcome) -> String {
    let text = |f: &Captured| match f.content {
        Content::Pause(on) => {
            format!("class {}: {}", f.class.unwrap(), if on { "XOFF" } else { "XON" })
        }
        Content::Data(view, _) => {
            format!("class {}: {} to {}, {} B", f.class.unwrap(), view.src.0, view.dst.0, f.bytes)
        }
        _ => format!("message to {}, {} B", f.to.unwrap().0, f.bytes),
    };
    let (node, port) = (|f: &Captured| f.port.0.0 as usize, |f: &Captured| usize::from(f.port.1));
    let log = out.recorded.capture.frames.iter().map(|f| (f.left, node(f), port(f), text(f))).collect();
    let hosts: Vec<_> = out.classes.iter().map(|class| class.hosts.clone()).collect();
    let ports = |class: &Outcome| class.switches.iter().flat_map(|s| s.ports.clone()).collect();
    summary(log, &hosts, &out.classes.iter().map(ports).collect::<Vec<_>>())
}

#[test]
fn the_model_agrees_with_the_textbook_of_classes() {
    let (first, count) = (common::number("CNSIM_SEED", 0), common::number("CNSIM_NETWORKS", 40));
    let mut seen = [0; 5];
    for seed in first..first + count {
        let mut spec = scenario(seed);
        let answers = seed.is_multiple_of(2);
        if answers {
            let scheme =
                script().everywhere().gate(ReflectGate::Always).on_frame(|_, ctl, _| ctl.reply(SAYS));
            common::with_scheme(&mut spec, Arc::new(scheme.flows(|_| false)));
        }
        let book = Book::run(&spec, answers);
        let (hosts, ports) = book.counts();
        let any = |p: fn(&PortOutcome) -> bool| u64::from(ports.iter().flatten().any(p));
        seen[0] += any(|p| p.dropped > 0);
        seen[1] += any(|p| p.xoffs > 0);
        seen[2] += u64::from(hosts.iter().flatten().any(|h| h.pause.sent > 0 && h.delivered > 0));
        seen[3] += u64::from(spec.switches[0].shared.is_some()) * any(|p| p.xoffs + p.dropped > 0);
        let weighted = |class: &&ClassSpec| class.turn != Turn::Strict;
        seen[4] += u64::from(spec.classes.iter().filter(weighted).count() > 1);
        let book = summary(book.log, &hosts, &ports);
        let threads = [1, 2, 4][seed as usize % 3];
        let out = run(&spec, &Options { threads, ..Options::default() });
        let out = out.unwrap_or_else(|e| panic!("{e}, seed {seed}\n{spec:#?}"));
        let program = told(&out);
        let differ = program.lines().zip(book.lines()).filter(|(a, b)| a != b).take(12);
        let lines = (program.lines().count(), book.lines().count());
        assert!(
            program == book,
            "seed {seed}: model and textbook, {lines:?} lines: {:#?}\n{spec:?}",
            differ.collect::<Vec<_>>()
        );
    }
    let often = seen.iter().all(|n| *n >= count / 8);
    assert!(
        often || count < common::ENOUGH,
        "{count} networks; drop, XOFF, fault, shared, weights: {seen:?}"
    );
}
