//! Networks for tests, and a tiny measuring helper.
#![allow(dead_code, clippy::panic)]

pub(crate) mod script;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Scheme, Time};
use std::sync::Arc;

/// One Bernoulli source with uniform destinations.
pub(crate) fn bernoulli(load: f64) -> SourceSpec {
    SourceSpec {
        arrivals: Arrivals::Bernoulli { load },
        destinations: Destinations::Uniform,
        frame: Bytes::new(1500),
        start: Time::ZERO,
        stop: Time::MAX,
        phase: Phase::Random,
        transfers: Vec::new(),
        class: 0,
    }
}

/// A host with these sources and no scheme.
pub(crate) fn host(name: usize, sources: Vec<SourceSpec>) -> HostSpec {
    HostSpec {
        name: format!("H{name}"),
        processing: Time::from_us(1),
        sources,
        fifo_frames: 10_100,
        limiter_frames: 100,
        limiter_position: LimiterPosition::AtSource,
        backlog_frames: 0,
        queues: HostQueues::Fifo,
        feedback_delay: Time::ZERO,
        faults: cnsim_fabric::Faults::default(),
        clock_ppm: 0.0,
        scheme: None,
    }
}

/// B07's buffer: crosspoint, 150 KB, PAUSE at 130/110 KB if asked.
pub(crate) fn buffer(pause: bool) -> BufferSpec {
    BufferSpec {
        organisation: Organisation::Crosspoint,
        share: Bytes::from_kb(150),
        output_limit: None,
        pause: pause.then(|| PauseSpec {
            high: Bytes::from_kb(130),
            low: Bytes::from_kb(110),
            global: false,
            pool: false,
            transport: PauseTransport::Frame,
        }),
    }
}

/// `n` hosts at one switch, 10 Gb/s, 0.5 us links, 1 us processing.
pub(crate) fn single_switch(n: usize, load: f64, pause: bool, duration: Time, seed: u64) -> RunSpec {
    RunSpec {
        hosts: (0..n).map(|i| host(i, vec![bernoulli(load)])).collect(),
        switches: vec![SwitchSpec {
            name: "S".into(),
            ports: n.max(16) as u16,
            processing: Time::from_us(1),
            buffer: buffer(pause),
            scheme: None,
        }],
        links: (0..n).map(|i| link((i, 0), (n, i))).collect(),
        classes: Vec::new(),
        routing: Routing::FlowHash,
        rounding: Rounding::Exact,
        ties: Ties::ByPort,
        schemes: Vec::new(),
        control: ControlTransport::Priority,
        changes: Vec::new(),
        duration,
        seed,
        record: Record::default(),
    }
}

/// A 10 Gb/s link of 0.5 us.
pub(crate) fn link(a: (usize, usize), b: (usize, usize)) -> LinkSpec {
    LinkSpec {
        a: (NodeId(a.0 as u32), a.1 as u16),
        b: (NodeId(b.0 as u32), b.1 as u16),
        rate: Rate::from_gbps(10.0),
        delay: Time::from_ns(500),
    }
}

/// Links the hosts to leaves, `per` at each; several leaves have two spines. All switches are like this one.
pub(crate) fn leaves_and_spines(spec: &mut RunSpec, mut switch: SwitchSpec, per: usize, leaves: usize) {
    let (hosts, spines) = (per * leaves, if leaves > 1 { 2 } else { 0 });
    switch.ports = (per + spines).max(leaves) as u16;
    spec.switches = vec![switch; leaves + spines];
    let down = (0..hosts).map(|h| link((h, 0), (hosts + h / per, h % per)));
    let up = |l| (0..spines).map(move |s| link((hosts + l, per + s), (hosts + leaves + s, l)));
    spec.links = down.chain((0..leaves).flat_map(up)).collect();
}

/// Serves the port of host 0 at `rate` from 10 to 50 % of the run.
pub(crate) fn hotspot(spec: &mut RunSpec, rate: Rate) {
    let (node, port) = (NodeId(spec.hosts.len() as u32), 0);
    let d = spec.duration.as_ps();
    let change = |at: u64, rate| RateChange { at: Time::from_ps(at), node, port, rate };
    spec.changes = vec![change(d / 10, rate), change(d / 2, Rate::from_gbps(10.0))];
}

/// Gives every host and switch this scheme.
pub(crate) fn with_scheme(spec: &mut RunSpec, scheme: Arc<dyn Scheme>) {
    spec.schemes = vec![scheme];
    spec.hosts.iter_mut().for_each(|h| h.scheme = Some(0));
    spec.switches.iter_mut().for_each(|s| s.scheme = Some(0));
}

/// A source of this load: of this frame length and in phase with all such, or of a length that `pick` chooses.
pub(crate) fn talker(load: f64, alike: Option<u64>, pick: &mut impl FnMut(u64) -> u64) -> SourceSpec {
    let mut s = bernoulli(load);
    s.frame = Bytes::new(alike.unwrap_or_else(|| LENGTHS[pick(5) as usize]));
    s.phase = if alike.is_some() { Phase::Aligned } else { Phase::Random };
    s
}

/// Lengths of frames.
pub(crate) const LENGTHS: [u64; 5] = [64, 300, 1500, 1500, 9216];

/// Links hosts to `switches` switches in turn, and each switch to one to three before it, at rates and delays that `pick` (a number
/// below its argument) chooses, or all at one; routes are chosen too.
pub(crate) fn tangle(
    spec: &mut RunSpec,
    (hosts, switches): (usize, usize),
    alike: bool,
    pick: &mut impl FnMut(u64) -> u64,
) {
    let (rates, delays) = ([10.0, 10.0, 40.0, 100.0, 3.0], [60, 500, 500, 1700, 3000]);
    let both = (rates[pick(4) as usize], delays[1 + pick(4) as usize]);
    let mut used = vec![0u16; switches];
    let mut end = |s: usize| {
        used[s] += 1;
        (NodeId((hosts + s) as u32), used[s] - 1)
    };
    let mut ends: Vec<_> = (0..hosts).map(|h| ((NodeId(h as u32), 0u16), end(h % switches))).collect();
    for s in 1..switches {
        for _ in 0..=pick(2) {
            ends.push((end(s), end(pick(s as u64) as usize)));
        }
    }
    let one = |(a, b)| {
        let (rate, delay) = if alike { both } else { (rates[pick(5) as usize], delays[pick(5) as usize]) };
        LinkSpec { a, b, rate: Rate::from_gbps(rate), delay: Time::from_ns(delay) }
    };
    spec.links = ends.into_iter().map(one).collect();
    spec.routing =
        [Routing::FlowHash, Routing::FrameHash, Routing::RoundRobin, Routing::Destination][pick(4) as usize];
}

/// The first port of the first switch is slow, stops, and is fast again.
pub(crate) fn slow_port(spec: &mut RunSpec) {
    let node = NodeId(spec.hosts.len() as u32);
    let change =
        |(at, rate)| RateChange { at: spec.duration.scale(at), node, port: 0, rate: Rate::from_gbps(rate) };
    spec.changes = [(0.3, 1.0), (0.5, 0.0), (0.6, 10.0)].map(change).to_vec();
}

/// Runs a network by the oracle and by the fast engine in each of these ways (threads, visits): it runs to its end, and they
/// agree bit for bit. A test that let networks fail would compare two sentences, and nothing that comes after them. What both say.
pub(crate) fn agreed(spec: &RunSpec, seed: u64, ways: &[(usize, Visits)]) -> Outcome {
    agreed_among(spec, seed, ways, &[])
}

/// The same with some nodes that run the model's way in the fast engine, too.
pub(crate) fn agreed_among(
    spec: &RunSpec,
    seed: u64,
    ways: &[(usize, Visits)],
    by_model: &[NodeId],
) -> Outcome {
    let outcome = run(spec, &Options { engine: Engine::Model, ..Options::default() });
    let mut outcome = outcome.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{spec:#?}"));
    let nodes = outcome.by_model.take().map_or(0, |all| all.nodes.len());
    assert_eq!(nodes, spec.hosts.len() + spec.switches.len(), "seed {seed}: all nodes are the model's");
    let oracle = format!("{outcome:#?}");
    for &(threads, visits) in ways {
        let fast = match run(spec, &Options { threads, visits, by_model, ..Options::default() }) {
            Ok(mut fast) => {
                let slow = fast.by_model.take().map_or(Vec::new(), |slow| slow.nodes);
                assert!(by_model.iter().all(|n| slow.contains(n)), "seed {seed}: {slow:?}, not {by_model:?}");
                format!("{fast:#?}")
            }
            Err(e) => e.to_string(),
        };
        if fast != oracle {
            let at = oracle.lines().zip(fast.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let around =
                |s: &str| s.lines().skip(at.saturating_sub(12)).take(16).collect::<Vec<_>>().join("\n");
            panic!(
                "seed {seed}, {threads} threads, {visits:?}: engines differ at line {at} of the outcome\noracle:\n{}\nfast:\n{}\n{spec:#?}",
                around(&oracle),
                around(&fast)
            );
        }
    }
    outcome
}

/// A number that the environment may set.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
