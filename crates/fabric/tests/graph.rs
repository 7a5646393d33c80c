//! Transfers that follow others, by hand. On the star of these tests a frame of 1500 B takes 1.2 us on each link and an acknowledgement of
//! 64 B takes 51.2 ns; each link and the node behind it take 1.5 us.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, Class, NodeId, Time};
use common::*;
use std::sync::Arc;

/// A flow of so many frames until its last byte has arrived, and until its last acknowledgement.
fn out(frames: u64) -> u64 {
    (frames + 1) * 1_200_000 + 3_000_000
}
const BACK: u64 = 2 * 51_200 + 3_000_000;
const NEVER: u64 = u64::MAX;

fn compute(host: u32, us: u64, stream: Option<u16>, after: &[After]) -> (u32, Act, Vec<After>) {
    (host, Act::Compute { time: Time::from_us(us), stream }, after.to_vec())
}

fn send(host: u32, transfer: u32, after: &[After]) -> (u32, Act, Vec<After>) {
    (host, Act::Send { source: 0, transfer }, after.to_vec())
}

/// Four hosts at a switch; of each the receivers and frames of what it sends, and the operations.
fn star(sends: [&[(u32, u64)]; 4], operations: &[(u32, Act, Vec<After>)]) -> RunSpec {
    let mut spec = single_switch(4, 0.0, false, Time::from_us(500), 1);
    spec.transport = Some(TransportSpec { ack_class: Class::Control, window: Window::Off, ..TRANSPORT });
    for (host, sends) in spec.hosts.iter_mut().zip(sends) {
        let transfer = |&(dst, frames): &(u32, u64)| Transfer {
            start: Transfer::FOLLOWS,
            dst: NodeId(dst),
            bytes: Bytes::new(frames * 1500),
        };
        host.sources = vec![flows(sends.iter().map(transfer).collect())];
    }
    let mut graph = Graph::default();
    for (host, act, after) in operations {
        let first = graph.after.len() as u32;
        graph.after.extend(after);
        let after = (first, graph.after.len() as u32);
        graph.operations.push(Operation { host: NodeId(*host), act: *act, after });
    }
    spec.graph = Some(Arc::new(graph));
    spec
}

/// When each operation began, ended and was received, ps.
fn times(spec: &RunSpec) -> Vec<(u64, u64, u64)> {
    let out = agreed(spec, 0, &[(1, Visits::All), (1, Visits::Due), (2, Visits::Turns)]);
    assert_eq!(out.operations, in_classes(spec, |_| 1), "in the second class, with the first one idle");
    out.operations.iter().map(|o| (o.begun.as_ps(), o.ended.as_ps(), o.received.as_ps())).collect()
}

/// When the operations are, if hosts send in these of two classes.
fn in_classes(spec: &RunSpec, class: fn(usize) -> u8) -> Vec<Lasted> {
    let mut spec = spec.clone();
    spec.classes = vec![ClassSpec { pause: true, ..ClassSpec::default() }; 2];
    let sources =
        spec.hosts.iter_mut().enumerate().flat_map(|(h, host)| host.sources.iter_mut().map(move |s| (h, s)));
    sources.for_each(|(h, source)| source.class = class(h));
    let out = run(&spec, &Options::default()).expect("it runs");
    let of_class = |c: &Outcome| c.hosts.iter().map(|h| h.transfers.completions.len()).collect::<Vec<_>>();
    let flows: Vec<usize> = out.hosts.iter().map(|h| h.transfers.completions.len()).collect();
    let both = of_class(&out.classes[0])
        .iter()
        .zip(of_class(&out.classes[1]))
        .map(|(a, b)| a + b)
        .collect::<Vec<_>>();
    assert_eq!(flows, both);
    out.operations
}

/// There and back, with computing in between; completions have the true starts.
#[test]
fn a_transfer_follows_one_that_has_arrived() {
    use After::Ended;
    let spec = star(
        [&[(1, 3)], &[(0, 2)], &[], &[]],
        &[
            compute(0, 7, None, &[]),
            send(0, 0, &[Ended(0)]),
            compute(1, 5, Some(0), &[Ended(1)]),
            send(1, 0, &[Ended(2)]),
        ],
    );
    let there = 7_000_000 + out(3);
    let back = there + 5_000_000;
    let by_hand = [
        (0, 7_000_000, NEVER),
        (7_000_000, there + BACK, there),
        (there, back, NEVER),
        (back, back + out(2) + BACK, back + out(2)),
    ];
    assert_eq!(times(&spec), by_hand);
    // What arrives in a class lets a host compute, and send in another.
    let one = by(Engine::Model, &spec).operations;
    assert_eq!(
        [in_classes(&spec, |h| h as u8 % 2), in_classes(&spec, |h| 1 - h as u8 % 2)],
        [one.clone(), one]
    );
    let of = |host: &HostOutcome| {
        host.transfers.completions.iter().map(|c| (c.start.as_ps(), c.end.as_ps())).collect::<Vec<_>>()
    };
    let seen = by(Engine::Fast, &spec);
    assert_eq!(
        (of(&seen.hosts[1]), of(&seen.hosts[0])),
        (vec![(7_000_000, there)], vec![(back, back + out(2))])
    );
}

/// What follows a transfer at its source waits for the last acknowledgement; without acknowledgements for its last frame to begin.
#[test]
fn a_transfer_follows_one_that_is_sent() {
    let sends: [&[(u32, u64)]; 4] = [&[(1, 3), (2, 1)], &[], &[], &[]];
    let mut spec = star(sends, &[send(0, 0, &[]), send(0, 1, &[After::Ended(0)])]);
    let first = out(3) + BACK;
    assert_eq!(times(&spec), [(0, first, out(3)), (first, first + out(1) + BACK, first + out(1))]);
    // Or for its last frame to begin, acknowledgements or not: the two share no frame.
    let sent = star(sends, &[send(0, 0, &[]), send(0, 1, &[After::Sent(0)])]);
    let second = 3_600_000 + out(1);
    assert_eq!(times(&sent), [(0, first, out(3)), (2_400_000, second + BACK, second)]);
    // Nor does it matter that frames might be sent again one by one.
    let mut single = sent;
    let (low, few) = (Time::from_us(100), 3);
    let again = SelectiveSpec { gap_frames: 1, gap_time: Time::ZERO, rto_low: low, rto_high: low, few };
    single.transport.as_mut().unwrap().reliability = Reliability::Selective(again);
    assert_eq!(times(&single), [(0, first, out(3)), (2_400_000, second + BACK, second)]);
    spec.transport.as_mut().unwrap().ack_every = 0;
    // The third frame begins after two, and the other flow's frame after the third.
    assert_eq!(times(&spec), [(0, 2_400_000, out(3)), (2_400_000, 3_600_000, 3_600_000 + out(1))]);
}

/// Operations of a stream take turns as they get ready, those of two streams and of none do not; one may follow another's begin.
#[test]
fn streams_take_one_at_a_time() {
    use After::{Begun, Ended};
    let (a, b) = (Some(0), Some(1));
    let operations = [
        compute(0, 10, a, &[]),
        compute(0, 10, a, &[Begun(0)]),
        compute(0, 4, b, &[Begun(1)]),
        compute(0, 4, None, &[Begun(1)]),
        compute(0, 1, a, &[]),
        compute(0, 3, b, &[Ended(2), Ended(3)]),
    ];
    let us = |from: u64, to: u64| (from * 1_000_000, to * 1_000_000, NEVER);
    // 1 is ready at the moment at which 0 begins, and so is 4: 1 comes first.
    let by_hand = [us(0, 10), us(10, 20), us(10, 14), us(10, 14), us(20, 21), us(14, 17)];
    assert_eq!(times(&star([&[]; 4], &operations)), by_hand);
}

/// NICs of a machine see what happens at each of them at once: hosts 0 and 1 are one machine, 2 and 3 another. What arrives at one NIC
/// lets the other send in the same moment, through as many operations as take no time.
#[test]
fn nics_of_a_machine_see_each_other() {
    use After::{Begun, Ended, Sent};
    let sends: [&[(u32, u64)]; 4] = [&[(2, 3)], &[(3, 1)], &[], &[(1, 2)]];
    let operations = [
        send(0, 0, &[]),
        compute(0, 0, None, &[Ended(3)]),
        compute(0, 2, Some(0), &[Ended(1)]),
        send(1, 0, &[Sent(0)]),
        compute(1, 0, None, &[Ended(2)]),
        compute(2, 0, None, &[Ended(0)]),
        send(3, 0, &[Begun(5)]),
    ];
    let mut spec = star(sends, &operations);
    let graph =
        Graph { machines: [0, 0, 2, 2].map(NodeId).to_vec(), ..Graph::clone(spec.graph.as_ref().unwrap()) };
    spec.graph = Some(Arc::new(graph));
    // The third frame of 0 begins after two; then 1 sends, which arrives at 3, and is acknowledged.
    let (sent, there) = (2_400_000, out(3));
    let ended = sent + out(1) + BACK;
    let by_hand = [
        (0, there + BACK, there),
        (ended, ended, NEVER),
        (ended, ended + 2_000_000, NEVER),
        (sent, ended, sent + out(1)),
        (ended + 2_000_000, ended + 2_000_000, NEVER),
        (there, there, NEVER),
        // The acknowledgement of what comes from 1 goes ahead.
        (there, there + 51_200 + out(2) + BACK, there + 51_200 + out(2)),
    ];
    assert_eq!(times(&spec), by_hand);
}

/// A circle never begins, and neither does what it would have sent: the flow is missing, without a start.
#[test]
fn a_circle_never_begins() {
    let sends: [&[(u32, u64)]; 4] = [&[(1, 1)], &[(0, 1)], &[], &[(0, 1)]];
    let circle = [send(0, 0, &[After::Ended(1)]), send(1, 0, &[After::Ended(0)]), send(3, 0, &[])];
    let spec = star(sends, &circle);
    assert_eq!(times(&spec), [(NEVER, NEVER, NEVER), (NEVER, NEVER, NEVER), (0, out(1) + BACK, out(1))]);
    let seen = by(Engine::Fast, &spec);
    let missing: Vec<_> =
        seen.hosts.iter().flat_map(|h| &h.transfers.missing).map(|m| (m.src.0, m.start, m.missing)).collect();
    assert_eq!(missing, [(1, Transfer::FOLLOWS, 1500), (0, Transfer::FOLLOWS, 1500)]);
}

/// Of one moment operations come by number, and before a transfer that has a start.
#[test]
fn operations_come_before_listed_transfers() {
    let mut spec =
        star([&[(1, 1)], &[], &[], &[]], &[compute(0, 2, None, &[]), send(0, 0, &[After::Ended(0)])]);
    spec.hosts[0].sources.push(flows(vec![flow(2, 2, 1500)]));
    assert_eq!(times(&spec)[1], (2_000_000, 2_000_000 + out(1) + BACK, 2_000_000 + out(1)));
    let seen = by(Engine::Fast, &spec);
    assert_eq!(seen.hosts[2].transfers.completions[0].end.as_ps(), 3_200_000 + out(1));
}

#[test]
fn graphs_that_no_run_can_have() {
    let sends: [&[(u32, u64)]; 4] = [&[(1, 3), (2, 1)], &[], &[], &[]];
    let good = star(
        sends,
        &[send(0, 0, &[]), send(0, 1, &[After::Ended(0)]), compute(1, 1, None, &[After::Ended(0)])],
    );
    let with = |change: fn(&mut RunSpec, &mut Graph)| {
        let (mut spec, mut graph) = (good.clone(), Graph::clone(good.graph.as_ref().unwrap()));
        change(&mut spec, &mut graph);
        spec.graph = Some(Arc::new(graph));
        refused(&spec)
    };
    let cases: [(fn(&mut RunSpec, &mut Graph), &str); 10] = [
        (|_, g| g.machines = [0, 1, 0, 3].map(NodeId).to_vec(), "do not follow each other"),
        (
            |_, g| {
                g.machines = [0, 0, 2, 3].map(NodeId).to_vec();
                g.operations[2].act = Act::Compute { time: Time::ZERO, stream: Some(0) };
            },
            "operation 2 of host 1 computes at another NIC than its machine's first",
        ),
        (|s, _| s.transport = None, "need queue pairs"),
        (|_, g| g.operations.reverse(), "not listed by host"),
        (
            |_, g| g.operations[0].act = Act::Send { source: 0, transfer: 1 },
            "operation 1 of host 0 sends what another",
        ),
        (
            |_, g| g.operations[0].act = Act::Send { source: 1, transfer: 0 },
            "sends a transfer that is not there",
        ),
        (|s, _| s.hosts[0].sources[0].transfers[1].bytes = Bytes::ZERO, "sends nothing"),
        (|_, g| g.after[1] = After::Begun(0), "operation 2 of host 1 waits for what its host does not see"),
        (|_, g| g.operations[2].after = (1, 9), "waits for what is not listed"),
        (
            |_, g| g.operations[2].act = Act::Compute { time: Time::ZERO, stream: Some(Graph::STREAMS) },
            "computes on a stream that no host has",
        ),
    ];
    for (change, why) in cases {
        let said = with(change);
        assert!(said.contains(why), "{said}");
    }
    let mut spec = good.clone();
    spec.hosts[3].sources[0].transfers.push(Transfer { start: Transfer::FOLLOWS, ..flow(0, 1, 1500) });
    assert!(refused(&spec).contains("3 transfers follow others, and the graph sends 2"));
    spec.hosts[3].sources[0].transfers.clear();
    spec.hosts[0].sources[0].transfers.insert(1, flow(0, 3, 1500));
    assert!(!refused(&spec).is_empty());
}
