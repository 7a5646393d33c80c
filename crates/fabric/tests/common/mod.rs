//! Networks for tests, and a tiny measuring helper.
#![allow(dead_code, clippy::panic)]

pub(crate) mod random;
pub(crate) mod script;
pub(crate) mod shaker;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, Class, NodeId, Rate, Scheme, Time};
use std::sync::Arc;

/// One Bernoulli source with uniform destinations.
pub(crate) fn bernoulli(load: f64) -> SourceSpec {
    SourceSpec {
        initial_rate: None,
        arrivals: Arrivals::Bernoulli { load },
        destinations: Destinations::Uniform,
        floor: Bytes::SMALLEST_FRAME,
        frame: Bytes::new(1500),
        start: Time::ZERO,
        stop: Time::MAX,
        phase: Phase::Random,
        transfers: Vec::new(),
        connected: false,
        class: 0,
    }
}

/// Sends so much of the line to this host, in random slots.
pub(crate) fn to(dst: u32, load: f64) -> SourceSpec {
    SourceSpec { destinations: Destinations::Fixed(NodeId(dst)), ..bernoulli(load) }
}

/// Sends to this host as fast as it may, from the beginning on.
pub(crate) fn greedy(dst: u32) -> SourceSpec {
    SourceSpec { arrivals: Arrivals::Greedy, phase: Phase::Aligned, ..to(dst, 0.0) }
}

/// This port says XOFF for the first class over a span, which is heard without a frame.
pub(crate) fn in_xoff((node, port): (u32, u16), from: Time, to: Time) -> PortFault {
    let (transport, kind) = (PauseTransport::Wire, FaultKind::Xoff);
    PortFault { node: NodeId(node), port, class: 0, from, to, transport, kind }
}

/// Sends these flows.
pub(crate) fn flows(transfers: Vec<Transfer>) -> SourceSpec {
    SourceSpec { arrivals: Arrivals::Transfers, phase: Phase::Aligned, transfers, ..bernoulli(0.0) }
}

/// A flow of so many bytes.
pub(crate) fn flow(start_us: u64, dst: u32, bytes: u64) -> Transfer {
    Transfer { start: Time::from_us(start_us), dst: NodeId(dst), bytes: Bytes::new(bytes) }
}

/// From this moment on a port serves data at this rate.
pub(crate) fn change(at_us: u64, node: u32, port: u16, gbps: f64) -> RateChange {
    RateChange { at: Time::from_us(at_us), node: NodeId(node), port, rate: Rate::from_gbps(gbps) }
}

/// Queue pairs that acknowledge each frame and send nothing again.
pub(crate) const TRANSPORT: TransportSpec = TransportSpec {
    reliability: Reliability::None,
    ack_every: 1,
    ack_class: Class::Data,
    ack_length: Bytes::new(64),
    window: Window::Scheme,
    window_by_rate: false,
};

pub(crate) const BOTH: [Engine; 2] = [Engine::Fast, Engine::Model];

/// The outcome by this engine.
pub(crate) fn by(engine: Engine, spec: &RunSpec) -> Outcome {
    let out = run(spec, &Options { engine, ..Options::default() });
    out.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{spec:#?}"))
}

/// Why a network is refused.
pub(crate) fn refused(spec: &RunSpec) -> String {
    match run(spec, &Options::default()) {
        Err(RunError::Spec(why)) => why,
        other => panic!("{other:?}"),
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
        transport: None,
        graph: None,
        hosts: (0..n).map(|i| host(i, vec![bernoulli(load)])).collect(),
        switches: vec![SwitchSpec {
            name: "S".into(),
            ports: n.max(16) as u16,
            processing: Time::from_us(1),
            buffer: buffer(pause),
            shared: None,
            scheme: None,
        }],
        links: (0..n).map(|i| link((i, 0), (n, i))).collect(),
        classes: Vec::new(),
        routing: Routing::FlowHash,
        schemes: Vec::new(),
        laws: Laws::default(),
        events: PortEvents::default(),
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

/// Serves the port of host 0 at `rate` from 10 to 50 % of the run.
pub(crate) fn hotspot(spec: &mut RunSpec, rate: Rate) {
    let change = |part, rate| RateChange {
        at: Time::from_ps(spec.duration.as_ps() / part),
        rate,
        ..change(0, spec.hosts.len() as u32, 0, 0.0)
    };
    spec.events.changes = vec![change(10, rate), change(2, Rate::from_gbps(10.0))];
}

/// Gives every host and switch this scheme.
pub(crate) fn with_scheme(spec: &mut RunSpec, scheme: Arc<dyn Scheme>) {
    spec.schemes = vec![scheme];
    spec.hosts.iter_mut().for_each(|h| h.scheme = Some(0));
    spec.switches.iter_mut().for_each(|s| s.scheme = Some(0));
}

/// Lengths of frames.
pub(crate) const LENGTHS: [u64; 5] = [64, 300, 1500, 1500, 9216];

/// Joins hosts in turn to `leaves` switches, which follow them, and each of these to two spines.
pub(crate) fn spines(hosts: usize, leaves: usize) -> Vec<(usize, usize)> {
    let up = (0..leaves * 2).map(|i| (hosts + i / 2, hosts + leaves + i % 2));
    (0..hosts).map(|h| (h, hosts + h % leaves)).chain(up).collect()
}

/// Makes links between the next free ports of joined nodes; `next` gives the rate (Gb/s) and the delay (ps) of each.
pub(crate) fn place(spec: &mut RunSpec, joints: &[(usize, usize)], next: &mut dyn FnMut() -> (f64, u64)) {
    let mut used = vec![0; spec.hosts.len() + spec.switches.len()];
    let mut end = |node: usize| {
        used[node] += 1;
        (node, used[node] - 1)
    };
    let one = |&(a, b): &(usize, usize)| {
        let (rate, delay) = next();
        LinkSpec { rate: Rate::from_gbps(rate), delay: Time::from_ps(delay), ..link(end(a), end(b)) }
    };
    spec.links = joints.iter().map(one).collect();
}

/// `per` hosts of this load at each of four leaves, and two spines, at 10 Gb/s, 0.5 us.
pub(crate) fn tree(per: usize, load: f64, duration: Time, seed: u64) -> RunSpec {
    let leaves = 4;
    let mut spec = single_switch(leaves * per, load, true, duration, seed);
    let switch = SwitchSpec { ports: (per + 2).max(leaves) as u16, ..spec.switches[0].clone() };
    spec.switches = vec![switch; leaves + 2];
    place(&mut spec, &spines(leaves * per, leaves), &mut || (10.0, 500_000));
    spec.routing = Routing::FrameHash;
    spec
}

/// Runs a network by the oracle and by the fast engine in each of these ways (threads, visits): it runs to its end, and they
/// agree bit for bit. A test that let networks fail would compare two sentences, and nothing that comes after them. What both say.
pub(crate) fn agreed(spec: &RunSpec, seed: u64, ways: &[(usize, Visits)]) -> Outcome {
    let mut outcome = by(Engine::Model, spec);
    assert!(outcome.by_model.take().is_some(), "seed {seed}: it ran by the model");
    outcome.phases = None;
    let oracle = format!("{outcome:?}");
    for &(threads, visits) in ways {
        let way = format!("seed {seed}, {threads} threads, {visits:?}");
        let fast = run(spec, &Options { threads, visits, ..Options::default() });
        let fast = fast.unwrap_or_else(|e| panic!("{way}: {e}\n{spec:#?}"));
        let single = fast.by_model.as_ref().is_none_or(|why| why.ends_with("switches)"));
        assert!(single, "{way}: it ran by the model, too");
        let fast = fast.results();
        if format!("{fast:?}") != oracle {
            let (oracle, fast) = (format!("{outcome:#?}"), format!("{fast:#?}"));
            let at = oracle.lines().zip(fast.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let around = |s: &str| s.lines().skip(at.max(12) - 12).take(16).collect::<Vec<_>>().join("\n");
            let (oracle, fast) = (around(&oracle), around(&fast));
            panic!(
                "{way}: engines differ at line {at} of the outcome\noracle:\n{oracle}\nfast:\n{fast}\n{spec:#?}"
            );
        }
    }
    outcome
}

/// Networks from which on a share of them says something.
pub(crate) const ENOUGH: u64 = 20;

/// A number that the environment may set.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
