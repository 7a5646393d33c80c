//! A run that is put together from phases equals the run in one, in every field: over random graphs that repeat or do not, by both
//! engines and on any number of threads. What cannot be put together is refused with a reason.
//!
//! `CNSIM_NETWORKS` of them are tried from seed `CNSIM_SEED` on (`make soak`).
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{
    AckGate, Acks, Bytes, Class, Limiter, NodeId, PointControl, Queue, Ramp, RampAt, Rate, ReflectGate,
    Scope, Slot, Time,
};
use common::random::Draws;
use common::script::*;
use common::*;
use std::sync::Arc;

/// Operations that are woven, by host.
#[derive(Default)]
struct Loom {
    hosts: Vec<Vec<(Act, Vec<(usize, usize, u8)>)>>,
    /// By host, what is sent.
    transfers: Vec<Vec<Transfer>>,
}

/// An operation: its host and its place there; and whether it is to have begun, sent or ended.
type At = (usize, usize, u8);

impl Loom {
    fn new(hosts: usize) -> Self {
        Self { hosts: vec![Vec::new(); hosts], transfers: vec![Vec::new(); hosts] }
    }
    fn add(&mut self, host: usize, act: Act, after: &[At]) -> At {
        self.hosts[host].push((act, after.to_vec()));
        (host, self.hosts[host].len() - 1, 2)
    }
    fn compute(&mut self, host: usize, time: Time, stream: Option<u16>, after: &[At]) -> At {
        self.add(host, Act::Compute { time, stream }, after)
    }
    fn send(&mut self, host: usize, dst: usize, bytes: u64, after: &[At]) -> At {
        let (dst, bytes) = (NodeId(dst as u32), Bytes::new(bytes));
        self.transfers[host].push(Transfer { start: Transfer::FOLLOWS, dst, bytes });
        let transfer = self.transfers[host].len() as u32 - 1;
        self.add(host, Act::Send { source: 0, transfer }, after)
    }
    /// Numbers the transfers of each host anew: what begins later need not have the greater number.
    fn shuffle(&mut self, d: &mut Draws) {
        for (operations, transfers) in self.hosts.iter_mut().zip(&mut self.transfers) {
            let mut order: Vec<u32> = (0..transfers.len() as u32).collect();
            (1..order.len()).for_each(|i| order.swap(i, d.below(i as u64 + 1) as usize));
            let before = transfers.clone();
            (0..).zip(&order).for_each(|(old, new): (usize, &u32)| transfers[*new as usize] = before[old]);
            for (act, _) in operations {
                if let Act::Send { transfer, .. } = act {
                    *transfer = order[*transfer as usize];
                }
            }
        }
    }
    fn put(self, spec: &mut RunSpec, frame: u64, machines: Vec<NodeId>) {
        let mut graph = Graph { machines, ..Graph::default() };
        let counts: Vec<usize> = self.hosts.iter().map(Vec::len).collect();
        let number = |host: usize, n: usize| (counts[..host].iter().sum::<usize>() + n) as u32;
        for (host, operations) in self.hosts.into_iter().enumerate() {
            for (act, before) in operations {
                let first = graph.after.len() as u32;
                graph.after.extend(before.iter().map(|&(h, n, kind)| match kind {
                    0 => After::Begun(number(h, n)),
                    1 => After::Sent(number(h, n)),
                    _ => After::Ended(number(h, n)),
                }));
                let after = (first, graph.after.len() as u32);
                graph.operations.push(Operation { host: NodeId(host as u32), act, after });
            }
        }
        for (host, transfers) in spec.hosts.iter_mut().zip(self.transfers) {
            host.sources = vec![SourceSpec { frame: Bytes::new(frame), ..flows(transfers) }];
        }
        spec.graph = Some(Arc::new(graph));
    }
}

/// A scheme that sets rates and windows of single flows by marks, losses and telemetry, and has reflectors of single flows.
fn of_flows(d: &mut Draws) -> Script {
    let low = Bytes::from_kb(d.one(&[1, 4, 12]));
    let at = d.one(&[RampAt::Arrival, RampAt::Departure]);
    let ramp = Ramp { low, high: low * 3, p_max: 0.4, p_beyond: 1.0, at };
    let acks = d.one(&[Acks::Needed, Acks::Telemetry]);
    let gate = AckGate { each: d.once_in(2), marked: true, per_window: d.once_in(2) };
    let reflects = d.once_in(2);
    let script = script().everywhere().plan(|p| {
        (p.limiter_scope, p.reflector_scope, p.acks) = (Scope::Flow, Scope::Flow, acks);
        p.reflect = if reflects { ReflectGate::Marked } else { ReflectGate::Never };
    });
    let script = script.point(move |at, _, ctl, _| {
        if let AtPoint::Start = at {
            ctl.mark(ramp);
            if acks == Acks::Telemetry {
                ctl.record_departures();
            }
        }
    });
    let script = script.sink(move |at, ctl, _| {
        if let AtSink::Frame(_) = at {
            ctl.reply(SAYS);
            let deaf = 3000 + (ctl.uniform() * 2000.0) as u64;
            ctl.ignore_for(Time::from_ns(deaf));
        }
    });
    let script = script.source(move |at, limiter, _| {
        let u = 0.3 + 0.5 * limiter.uniform();
        match at {
            AtSource::Start => {
                limiter.engage();
                limiter.wake_on_acks(gate);
                limiter.start_timer(Slot(0), Time::from_us(9));
            }
            AtSource::Ack(ack) if ack.marked => {
                limiter.count("first");
                limiter.set_rate(limiter.rate() * u);
            }
            AtSource::Ack(ack) => {
                let queue: u64 = ack.path.iter().map(|hop| hop.queue.get()).sum();
                limiter.set_window(Bytes::new(3000 + 40_000 / (1 + queue / 3000)));
            }
            AtSource::Feedback(_) => limiter.set_rate(limiter.rate() * 0.9),
            AtSource::Timer(_) => {
                limiter.set_rate((limiter.rate() + Rate::from_gbps(1.0)).min(limiter.line_rate()));
                limiter.start_timer(Slot(0), Time::from_us(9));
            }
            _ => {}
        }
    });
    Script { repeats: true, ..script }
}

/// Groups of hosts that do the same again and again: a ring, pairs, one to all; now and then with something to another group.
fn network(seed: u64) -> RunSpec {
    let d = &mut Draws::new(seed, 77);
    let (hosts, leaves) = (d.within((4, 12)) as usize, d.within((1, 4)) as usize);
    let mut spec = single_switch(hosts, 0.0, d.once_in(2), Time::from_us(d.within((300, 1500))), seed);
    let switch = SwitchSpec { ports: (hosts + 6) as u16, ..spec.switches[0].clone() };
    let rate = d.one(&[10.0, 40.0]);
    if leaves > 1 {
        spec.switches = vec![switch; leaves + 2];
        let (even, delays) = (d.once_in(2), [500_000, 700_000, 1_100_000]);
        let up = spines(hosts, leaves);
        let mut links = Draws::new(seed, 78);
        place(&mut spec, &up, &mut || (rate, if even { 500_000 } else { links.one(&delays) }));
    } else {
        spec.switches = vec![switch];
        spec.links.iter_mut().for_each(|link| link.rate = Rate::from_gbps(rate));
    }
    spec.switches.iter_mut().enumerate().for_each(|(n, s)| s.name = format!("S{}", 100 + n));
    let small = d.once_in(3);
    for switch in &mut spec.switches {
        if let Some(pause) = &mut switch.buffer.pause {
            (pause.high, pause.low) = (Bytes::from_kb(12), Bytes::from_kb(6));
            (pause.global, switch.buffer.share) = (seed.is_multiple_of(5), Bytes::from_mb(1));
        } else if small {
            switch.buffer.share = Bytes::from_kb(12);
        }
        if seed.is_multiple_of(4) {
            let input = SharedInput { reserve: Bytes::new(3000), headroom: Bytes::from_kb(80), alpha: 0.25 };
            switch.buffer.organisation = Organisation::Input;
            if let Some(pause) = &mut switch.buffer.pause {
                pause.global = false;
            }
            let inputs = vec![input; usize::from(switch.ports)];
            let memory = Bytes::from_kb(100) + (input.reserve + input.headroom) * u64::from(switch.ports);
            let at_start = seed.is_multiple_of(8);
            switch.shared = Some(SharedSpec { memory, inputs, at_start, ..SharedSpec::default() });
        }
    }
    let tcp = d.tcp(Recovery::Sack, false);
    let (go_back_n, selective) = (d.go_back_n(), d.selective());
    let reliability = d.one(&[Reliability::None, go_back_n, selective, tcp]);
    let lossy = spec.switches[0].buffer.pause.is_none() && (small || seed.is_multiple_of(4));
    spec.transport = Some(TransportSpec {
        reliability: if lossy && reliability == Reliability::None { go_back_n } else { reliability },
        ack_every: d.one(&[1, 1, 2]),
        ack_class: d.one(&[Class::Data, Class::Control]),
        window: d.one(&[Window::Off, Window::Bdp, Window::Scheme]),
        ..TRANSPORT
    });
    spec.routing = d.one(&[Routing::FlowHash, Routing::FlowHash, Routing::FrameHash, Routing::Destination]);
    spec.laws.rounding = d.one(&[Rounding::Exact, Rounding::Exact, Rounding::WholeNs]);
    spec.laws.draws = cnsim_fabric::Draws::Keyed;
    if d.once_in(2) {
        with_scheme(&mut spec, Arc::new(of_flows(d)));
    }
    let everyone: Vec<NodeId> = (0..hosts as u32).map(NodeId).collect();
    spec.record = Record {
        bin: Time::from_us(d.one(&[0, 7, 50])),
        delivered: everyone,
        flows: vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(2))],
        queues: (0..d.below(3) as u16).map(|port| (NodeId(hosts as u32), port)).collect(),
        headers: if d.once_in(2) { vec![48; hosts] } else { Vec::new() },
        control: d.once_in(2),
        matrix: d.once_in(2),
        latency: d.once_in(2),
        pauses: d.one(&[0, 5, 1000]),
        trips: d.once_in(3),
        ..Record::default()
    };
    // NICs of a machine, in every fourth network.
    let mut machines = Vec::new();
    if d.once_in(4) {
        machines = (0..hosts as u32).map(|h| NodeId(h / 2 * 2)).collect();
    }
    let machine = |h: usize| machines.get(h).map_or(h, |m| m.0 as usize);
    let frame = d.one(&[1500, 1000, 300]);
    let mut loom = Loom::new(hosts);
    let groups = d.one(&[1, 1, 1, 2, 3]);
    let members: Vec<Vec<usize>> = (0..groups)
        .map(|g| (0..hosts).filter(|h| machine(*h) % groups == g && machine(*h) == *h).collect())
        .collect();
    let kinds: Vec<u64> = (0..groups).map(|_| d.below(4)).collect();
    let size = frame * d.within((1, 12)) + d.below(3);
    let gap = Time::from_ns(d.one(&[2000, 30_000, 60_000, 60_000]));
    let mut last: Vec<Vec<At>> = vec![Vec::new(); hosts];
    // In some networks hardly anything is different from round to round.
    let steady = d.once_in(2);
    for round in 0..d.within((3, 16)) {
        for (group, kind) in members.iter().zip(&kinds) {
            let n = group.len();
            // Now and then one takes longer.
            let late = d.once_in(if steady { 40 } else { 9 }).then(|| d.below(n.max(1) as u64) as usize);
            let mut begins = Vec::new();
            for (i, &h) in group.iter().enumerate() {
                let more = if late == Some(i) { Time::from_ns(700) } else { Time::ZERO };
                begins.push(loom.compute(h, gap + more, [None, Some(0)][i % 2], &last[h].clone()));
            }
            if n < 2 {
                continue;
            }
            for h in group {
                last[*h].clear();
            }
            match kind {
                0 => {
                    let mut before = begins.clone();
                    for _ in 0..2 * (n - 1) {
                        let sent: Vec<At> = (0..n)
                            .map(|i| loom.send(group[i], group[(i + 1) % n], size, &[before[i]]))
                            .collect();
                        before = (0..n).map(|i| sent[(i + n - 1) % n]).collect();
                    }
                    (0..n).for_each(|i| last[group[i]].push(before[i]));
                }
                1 => {
                    for i in 1..n {
                        let there = loom.send(group[0], group[i], size, &[begins[0]]);
                        let back = loom.send(group[i], group[0], size * 2, &[there, begins[i]]);
                        last[group[0]].push(back);
                        last[group[i]].push(back);
                    }
                }
                2 => {
                    for i in 0..n - 1 {
                        let first = loom.send(group[i], group[i + 1], size, &[begins[i]]);
                        let second = loom.send(group[i], group[i + 1], size, &[(first.0, first.1, 1)]);
                        last[group[i]].push(second);
                        last[group[i + 1]].extend([first, second]);
                    }
                }
                _ => {
                    for i in 0..n {
                        for j in (0..n).filter(|j| *j != i) {
                            let one = loom.send(group[i], group[j], size, &[begins[i]]);
                            last[group[j]].push(one);
                        }
                    }
                }
            }
        }
        // Groups meet.
        if d.once_in(if steady { 12 } else { 4 }) || round == 3 {
            let (a, b) = (d.below(hosts as u64) as usize, d.below(hosts as u64) as usize);
            if machine(a) != machine(b) {
                let mut after = last[machine(a)].clone();
                if after.is_empty() {
                    after.extend(last[a].clone());
                }
                let one = loom.send(a, b, size * 3, &after);
                last[machine(b)].push(one);
            }
        }
    }
    if d.once_in(6) {
        loom.shuffle(d);
    }
    loom.put(&mut spec, frame, machines);
    spec
}

/// All that a run says, but for how it came about.
fn told(out: Outcome) -> String {
    format!("{:?}", out.results())
}

fn differ(what: &str, seed: u64, a: &str, b: &str) {
    if a != b {
        let at = a.split(", ").zip(b.split(", ")).position(|(a, b)| a != b).unwrap_or(0);
        let around = |s: &str| s.split(", ").skip(at.max(14) - 14).take(18).collect::<Vec<_>>().join("\n");
        panic!("seed {seed}, {what}: value {at}\noff:\n{}\non:\n{}", around(a), around(b));
    }
}

/// By both engines, threads and ways to visit: with reuse and without.
fn compare(spec: &RunSpec, seed: u64) -> Phases {
    let of = |reuse, engine, threads, visits| {
        let options = Options { reuse, engine, threads, visits, ..Options::default() };
        run(spec, &options).unwrap_or_else(|e| panic!("seed {seed}, {reuse:?}, {engine:?}: {e}"))
    };
    let off = told(of(Reuse::Off, Engine::Fast, 1, Visits::Adaptive));
    let ways: [(Engine, usize, Visits); 5] = [
        (Engine::Fast, 1, Visits::Adaptive),
        (Engine::Model, 1, Visits::All),
        (Engine::Fast, 2, Visits::Turns),
        (Engine::Fast, 4, Visits::All),
        (Engine::Fast, 1, Visits::Due),
    ];
    let mut phases = Phases::default();
    for (n, &(engine, threads, visits)) in
        ways.iter().enumerate().filter(|(n, _)| *n < 2 || *n % 3 == seed as usize % 3)
    {
        let on = of(Reuse::Auto, engine, threads, visits);
        if n == 0 {
            phases = on.phases.clone().unwrap();
        }
        differ(&format!("{engine:?}, {threads} threads, {visits:?}"), seed, &off, &told(on));
    }
    let verified = of(Reuse::Verify, Engine::Fast, 1, Visits::Adaptive);
    phases.verified = verified.phases.clone().unwrap().verified;
    differ("verified", seed, &off, &told(verified));
    phases
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    let first = number("CNSIM_SEED", 0);
    first..first + number("CNSIM_NETWORKS", default)
}

#[test]
fn phases_make_up_the_run() {
    // Limiters let the turns of flows go that were over in the phase before.
    compare(&network(7_700_049), 7_700_049);
    let (mut reused, mut verified, mut all) = (0, 0, 0);
    for seed in seeds(30) {
        let phases = compare(&network(seed), seed);
        (reused, verified, all) = (reused + phases.reused, verified + phases.verified, all + 1);
    }
    assert!(
        4 * reused > all && 10 * verified > all || all < 20,
        "{reused} reused and {verified} verified in {all}"
    );
}

/// What cannot be put together from phases is refused with a reason, and runs as ever.
#[test]
fn what_does_not_repeat_is_refused() {
    let of = |change: &dyn Fn(&mut RunSpec)| {
        let mut spec = RunSpec { transport: Some(TRANSPORT), ..network(3) };
        change(&mut spec);
        compare(&spec, 3).why_not
    };
    let says = |change: &dyn Fn(&mut RunSpec), what: &str| {
        let why = of(change).unwrap_or_else(|| panic!("{what}: it is not refused"));
        assert!(why.contains(what), "{why}");
    };
    says(&|spec| spec.laws.draws = cnsim_fabric::Draws::Stream, "streams");
    says(&|spec| spec.events.changes = vec![change(40, spec.hosts.len() as u32, 0, 5.0)], "service rates");
    says(&|spec| spec.laws.ties = Ties::Drawn, "ties");
    says(&|spec| spec.hosts[1].faults.ignores_pause = true, "faults");
    let class = |name: &str| cnsim_fabric::ClassSpec { name: name.into(), ..Default::default() };
    says(&|spec| spec.classes = vec![class("a"), class("b")], "several classes of data take turns");
    says(
        &|spec| {
            let Reliability::Tcp(tcp) = Draws::new(1, 0).tcp(Recovery::Sack, false) else { return };
            let reliability = Reliability::Tcp(TcpSpec { quantum: Time::from_us(10), ..tcp });
            spec.transport = Some(TransportSpec { reliability, ..TRANSPORT });
        },
        "ticks",
    );
    says(
        &|spec| {
            let loss = LinkLoss {
                node: NodeId(0),
                port: 0,
                kind: LossKind::Drawn(0.01),
                from: Time::ZERO,
                to: Time::from_us(900),
            };
            spec.events.losses = vec![loss];
        },
        "lose",
    );
    says(&|spec| with_scheme(spec, Arc::new(script())), "does not say");
    // Limiters of pairs of hosts outlive a flow, and points that are woken may remember.
    let paired = || Script { repeats: true, ..script() };
    let engages = |at: AtSource<'_>, limiter: &mut Limiter<'_>, _: &Notes| {
        if let AtSource::Start = at {
            limiter.engage();
        }
    };
    says(&|spec| with_scheme(spec, Arc::new(paired().source(engages))), "a limiter of H");
    let counts = |at: AtPoint<'_>, _: &Queue, ctl: &mut PointControl<'_>, _: &Notes| {
        if let AtPoint::Start = at {
            ctl.sample_after(Bytes::new(40_000));
        }
    };
    says(
        &|spec| with_scheme(spec, Arc::new(paired().everywhere().point(counts))),
        "the congestion point of port",
    );
}

/// What happens at one moment at a host is in order of the flows' numbers: a phase in which these stand in another order is another one.
#[test]
fn the_order_of_flows_counts() {
    let slows = |at: AtSource<'_>, limiter: &mut Limiter<'_>, _: &Notes| match at {
        AtSource::Start => {
            limiter.engage();
            limiter.start_timer(Slot(0), Time::from_us(2));
        }
        _ => limiter.set_rate(limiter.rate() * 0.5),
    };
    let of = |orders: &[[usize; 2]]| {
        let mut loom = Loom::new(3);
        let mut before = Vec::new();
        for order in orders {
            let wait = loom.compute(0, Time::from_us(50), None, &before);
            // The operations stand in one order, and their flows in another.
            let sent = [1, 2].map(|dst| loom.send(0, dst, 20_000, &[wait]));
            let n = loom.transfers[0].len();
            let both = [loom.transfers[0][n - 2], loom.transfers[0][n - 1]];
            for (at, place) in order.iter().enumerate() {
                loom.transfers[0][n - 2 + place] = both[at];
                let (act, _) = &mut loom.hosts[0][sent[at].1];
                if let Act::Send { transfer, .. } = act {
                    *transfer = (n - 2 + place) as u32;
                }
            }
            before = sent.to_vec();
        }
        let mut spec = single_switch(3, 0.0, true, Time::from_us(400), 1);
        (spec.transport, spec.laws.draws) = (Some(TRANSPORT), cnsim_fabric::Draws::Keyed);
        let plan = |p: &mut cnsim_scheme_api::Plan| p.limiter_scope = Scope::Flow;
        with_scheme(&mut spec, Arc::new(Script { repeats: true, ..script().plan(plan).source(slows) }));
        loom.put(&mut spec, 1000, Vec::new());
        let phases = compare(&spec, 0);
        (phases.simulated, phases.reused)
    };
    assert_eq!(of(&[[0, 1], [0, 1], [0, 1]]), (1, 2));
    assert_eq!(of(&[[0, 1], [1, 0], [0, 1], [1, 0]]), (2, 2));
}
