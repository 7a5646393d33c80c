//! Links that lose frames: which ones, when, and what is counted. A frame of 1500 B takes 1.2 us on each link, and each link with the
//! node behind it 1.5 us.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{NodeId, Time};
use common::script::*;
use common::*;

fn lossy((node, port): (u32, u16), (from, to): (u64, u64), kind: LossKind) -> LinkLoss {
    LinkLoss { node: NodeId(node), port, from: Time::from_ps(from), to: Time::from_ps(to), kind }
}

const WHOLE: (u64, u64) = (0, 1_000_000_000);

/// The nth frame, or acknowledgement, of the flow from host 0 to host 2.
fn nth(nth: u64, acknowledgement: bool) -> LostFrame {
    LostFrame { flow: (NodeId(0), NodeId(TO)), number: None, acknowledgement, nth }
}

/// A flow of ten frames from host 0 to host 2 that nothing sends again.
fn ten(losses: Vec<LinkLoss>) -> RunSpec {
    let mut spec = network(&[]);
    spec.transport = Some(TransportSpec { window: Window::Off, ..TRANSPORT });
    spec.hosts[0].sources = vec![flows(vec![flow(0, TO, 15_000)])];
    spec.events.losses = losses;
    spec
}

fn seen(spec: RunSpec) -> (u64, u64, Vec<LostOnLink>) {
    let out = run_all(&script().flows(|_| false), spec).unwrap().out;
    (out.hosts[TO as usize].delivered, out.hosts[0].transport.acks, out.lost_on_links)
}

/// Frames of a list are lost where they cross, at either end of the path, and acknowledgements on their way back.
#[test]
fn what_a_list_names_is_lost() {
    let of = |end, list| seen(ten(vec![lossy(end, WHOLE, LossKind::Listed(list))]));
    let lost = |node, port, data, acknowledgements| LostOnLink {
        node: NodeId(node),
        port,
        data,
        acknowledgements,
        ..LostOnLink::default()
    };
    let three = vec![nth(1, false), nth(4, false), nth(11, false)];
    assert_eq!(of((0, 0), three.clone()), (8, 8, vec![lost(0, 0, 2, 0)]), "frame 11 is never sent");
    assert_eq!(of((3, 2), three), (8, 8, vec![lost(3, 2, 2, 0)]));
    assert_eq!(of((3, 0), vec![nth(2, true), nth(3, false)]), (10, 9, vec![lost(3, 0, 0, 1)]));
    let second = LostFrame { number: Some(1), ..nth(3, false) };
    assert_eq!(of((0, 0), vec![second]), (10, 10, vec![lost(0, 0, 0, 0)]), "there is no second flow");
}

/// Losses last from the moment of their begin, and end before that of their end: the nth frame leaves at n slots.
#[test]
fn losses_last_from_one_time_to_another() {
    let of = |from, to| seen(ten(vec![lossy((0, 0), (from, to), LossKind::Drawn(1.0))])).0;
    assert_eq!(of(2_400_000, 3_600_000), 9, "frame 2 leaves at their begin, frame 3 at their end");
    assert_eq!(of(2_400_001, 3_600_001), 9);
    assert_eq!(of(2_400_001, 3_600_000), 10);
    assert_eq!(of(0, 1_000_000_000), 0);
    let never = seen(ten(vec![lossy((0, 0), WHOLE, LossKind::Drawn(0.0))]));
    assert_eq!((never.0, never.2[0].data), (10, 0));
}

/// What hosts put on their links is counted by bin, as its last bit leaves, and beside it what the link loses.
#[test]
fn links_are_counted_by_bin() {
    let list = vec![nth(1, false), nth(4, false)];
    let mut spec = ten(vec![lossy((0, 0), WHOLE, LossKind::Listed(list))]);
    (spec.record.bin, spec.record.links) = (Time::from_us(6), true);
    let links = seen(spec).2;
    assert_eq!(links[0].bits[..4], [4, 5, 1, 0].map(|frames| frames * 12_000));
    assert_eq!(links[0].by_bin[..4], [2, 0, 0, 0]);
    assert!(links.len() > 1 && links[1..].iter().all(|l| l.bits.iter().all(|bits| *bits == 0)));
}

/// A share of the frames is lost, within four standard deviations; another port, and another seed, draw otherwise.
#[test]
fn losses_are_drawn() {
    let of = |end: (u32, u16), seed| {
        let mut spec = ten(vec![lossy(end, (0, 100_000_000_000), LossKind::Drawn(0.1))]);
        spec.hosts[0].sources = vec![flows(vec![flow(0, TO, 1500 * 10_000)])];
        (spec.duration, spec.seed) = (Time::from_ms(20), seed);
        let out = by(Engine::Fast, &spec);
        let (data, got) = (out.lost_on_links[0].data, out.hosts[TO as usize].delivered);
        assert_eq!(data + got, 10_000);
        data
    };
    let all = [of((0, 0), 1), of((0, 0), 2), of((3, 2), 1)];
    assert!(all.iter().all(|n| (880..=1120).contains(n)), "{all:?}");
    assert!(all[0] != all[1] && all[0] != all[2]);
}

/// PAUSE is never lost.
#[test]
fn xoff_passes() {
    let mut spec = network(&[1.0, 1.0]);
    spec.switches[0].buffer = buffer(true);
    let whole = by(Engine::Model, &spec).hosts[0].pause.received;
    spec.events.losses = vec![lossy((3, 0), WHOLE, LossKind::Drawn(1.0))];
    for engine in BOTH {
        let out = by(engine, &spec);
        assert_eq!((out.hosts[0].pause.received, out.lost_on_links[0].data), (whole, 0));
        assert!(whole > 0);
    }
}

/// Refused, each with its cause.
#[test]
fn losses_that_cannot_be() {
    let of = |losses| refused(&ten(losses));
    let drawn = |p| LossKind::Drawn(p);
    let twice = vec![lossy((0, 0), (0, 5), drawn(0.1)), lossy((0, 0), (4, 9), drawn(0.1))];
    for (why, given) in [
        ("losses at port 9 of S: the port has no link", of(vec![lossy((3, 9), WHOLE, drawn(0.1))])),
        ("they are to end", of(vec![lossy((0, 0), (5, 5), drawn(0.1))])),
        ("1.5 is no probability", of(vec![lossy((0, 0), WHOLE, drawn(1.5))])),
        ("others of the port overlap", of(twice)),
    ] {
        assert!(given.contains(why), "{why}: {given}");
    }
}
