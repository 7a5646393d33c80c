//! Faults of ports: a NIC or a switch port that says XOFF, and a host that reads slowly. On this network a frame of 1500 B takes 1.2 us
//! on each link, a PAUSE frame 51.2 ns, and each link with the node behind it 1.5 us.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, Class, NodeId, Rate, Time};
use common::*;

const HOSTS: usize = 3;
const SWITCH: u32 = HOSTS as u32;
const XOFF: FaultKind = FaultKind::Xoff;

/// Hosts 0 and 1 send to host 2 as fast as they may; the network has PAUSE.
fn busy(faults: Vec<PortFault>) -> RunSpec {
    let mut spec = single_switch(HOSTS, 0.0, true, Time::from_ms(2), 1);
    spec.hosts[0].sources = vec![greedy(2)];
    spec.hosts[1].sources = vec![greedy(2)];
    spec.events.faults = faults;
    spec
}

fn fault((node, port): (u32, u16), from: u64, to: u64, kind: FaultKind) -> PortFault {
    let (from, to) = (Time::from_us(from), Time::from_us(to));
    PortFault { class: 0, node: NodeId(node), port, from, to, transport: PauseTransport::Frame, kind }
}

fn ran(spec: &RunSpec) -> Outcome {
    run(spec, &Options::default()).unwrap()
}

/// A NIC in XOFF from 500 us to 1500 us stops the switch's port for that time, and takes in what was on its way alone.
#[test]
fn a_nic_says_xoff() {
    for transport in [PauseTransport::Frame, PauseTransport::Wire] {
        let storm = PortFault { transport, ..fault((2, 0), 500, 1500, XOFF) };
        let (out, whole) = (ran(&busy(vec![storm])), ran(&busy(Vec::new())));
        assert_eq!(out.by_model, None);
        assert_eq!((out.hosts[2].pause.sent, whole.hosts[2].pause.sent), (1, 0));
        assert_eq!(out.switches[0].ports[2].paused, Time::from_ms(1));
        // 1 ms of the host's link are 833 frames, one more or less where the span begins or ends within one.
        let lost = whole.hosts[2].delivered - out.hosts[2].delivered;
        assert!((832..=835).contains(&lost), "{lost} frames fewer");
        let dropped: u64 = out.switches[0].ports.iter().map(|p| p.dropped).sum();
        assert_eq!(dropped, 0, "the switch stops the hosts in time");
        assert!(out.hosts[0].pause.time > whole.hosts[0].pause.time);
    }
}

/// XOFF of a NIC waits for the frame in transmission alone: it goes before the acknowledgements that wait.
#[test]
fn xoff_goes_before_acknowledgements() {
    let mut spec = single_switch(HOSTS, 0.0, true, Time::from_us(200), 1);
    spec.transport = Some(TransportSpec { ack_class: Class::Control, window: Window::Off, ..TRANSPORT });
    let frames = |dst, len| SourceSpec { frame: Bytes::new(len), ..flows(vec![flow(0, dst, 1_000_000)]) };
    // As a frame of 9000 B goes, six of 1500 B come, which are acknowledged.
    for (host, sources) in [vec![frames(2, 1500)], vec![], vec![frames(1, 9000)]].into_iter().enumerate() {
        spec.hosts[host].sources = sources;
    }
    spec.events.faults = vec![fault((2, 0), 50, 100, XOFF)];
    spec.record = Record { captures: vec![(NodeId(2), 0)], capture_limit: 1 << 20, ..Record::default() };
    for engine in BOTH {
        let kind = |f: &Captured| match f.content {
            Content::Data(..) => 'd',
            Content::Pause(_) => 'x',
            _ => 'a',
        };
        let sent: String = by(engine, &spec).recorded.capture.frames.iter().map(kind).collect();
        let at = sent.find('x').unwrap();
        assert_eq!(&sent[at - 1..at + 6], "dxaaaaa", "{engine:?}: {sent}");
    }
}

/// Where one fault ends as the next begins, the far end stays in XOFF, in whichever order they are given.
#[test]
fn one_begins_as_another_ends() {
    let (first, second) = (fault((SWITCH, 0), 500, 900, XOFF), fault((SWITCH, 0), 900, 1500, XOFF));
    for faults in [vec![first, second], vec![second, first]] {
        let out = ran(&busy(faults));
        let part = Time::from_ms(2).as_ps() / 60;
        let least = out.hosts[0].pause.by_part[16..45].iter().min();
        // XON and XOFF leave together: 51.2 ns lie between them, in which a frame may begin.
        assert!(least.is_some_and(|&least| least + 60_000 >= part), "{least:?} of {part}");
    }
}

/// The memory says XOFF and XON to host 0 by turns, some 32 us each. From whichever moment of that on a fault says XOFF, XON of the memory
/// does not let the host go before the fault ends.
#[test]
fn the_memory_does_not_end_a_fault() {
    for from in (500..580).step_by(8) {
        let mut spec = busy(vec![fault((SWITCH, 0), from, 1500, XOFF)]);
        spec.record.pauses = 10_000;
        let all = ran(&spec).recorded.pauses.xoffs;
        // PAUSE may wait for a frame of 1.2 us; it takes 51.2 ns on the line and 1.5 us to the host.
        let heard = Time::from_us(from + 3);
        let stands = |x: &&Xoff| x.stopped.0 == NodeId(0) && x.from <= heard && x.until > heard;
        let until = all.iter().find(stands).map(|x| x.until);
        assert!(until.is_some_and(|until| until >= Time::from_us(1500)), "from {from} us: {until:?}");
    }
}

/// Recorded, the NIC's XOFF has no cause, and those of the switch that follow are for its port, which that XOFF stopped.
#[test]
fn a_storm_is_the_root_of_what_follows() {
    let mut spec = busy(vec![fault((2, 0), 500, 1500, XOFF)]);
    spec.record.pauses = 10_000;
    let pauses = ran(&spec).recorded.pauses;
    let by_nic: Vec<usize> = (0..pauses.xoffs.len()).filter(|&i| pauses.xoffs[i].by.0 == NodeId(2)).collect();
    let [root] = by_nic[..] else { panic!("{by_nic:?}") };
    let storm = pauses.xoffs[root];
    assert_eq!(
        (storm.stopped, storm.until.saturating_sub(storm.from)),
        ((NodeId(SWITCH), 2), Time::from_ms(1))
    );
    assert!(pauses.causes(&storm).is_empty());
    let during = |x: &&Xoff| x.decided > storm.from && x.decided < storm.until;
    let follow: Vec<&Xoff> = pauses.xoffs.iter().filter(during).collect();
    assert!(!follow.is_empty());
    for xoff in follow {
        let cause = Cause { held: Held::Stopped(root as u32), ..pauses.causes(xoff)[0] };
        assert_eq!((pauses.causes(xoff), cause.output), (&[cause][..], 2));
    }
}

/// With one flag for all ports, those without a fault are told as ever; each XOFF that a host hears is one that was decided.
#[test]
fn a_fault_at_a_switch_that_stops_all() {
    for (from, to) in [(500, 1500), (501, 503), (100, 2000)] {
        let mut spec = busy(vec![fault((SWITCH, 0), from, to, XOFF)]);
        spec.record.pauses = 10_000;
        spec.switches[0].buffer.pause.as_mut().unwrap().global = true;
        let out = ran(&spec);
        let of = |h: u32| out.recorded.pauses.xoffs.iter().filter(move |x| x.stopped.0 == NodeId(h));
        for h in 0..2u32 {
            let stood: u64 = of(h).map(|x| x.until.as_ps() - x.from.as_ps()).sum();
            assert_eq!(Time::from_ps(stood), out.hosts[h as usize].pause.time, "host {h}");
            assert_eq!(of(h).count() as u64, out.switches[0].ports[h as usize].xoffs);
        }
    }
}

/// A storm to the end of the run freezes what goes to its host: the standstill names the port that it stops, and no circle.
#[test]
fn a_storm_to_the_end_freezes_its_port() {
    let out = ran(&busy(vec![fault((2, 0), 500, 2000, XOFF)]));
    let since = out.freeze.last_delivery.unwrap();
    assert!(since >= Time::from_us(500) && since < Time::from_us(506), "{since}");
    assert_eq!(
        out.freeze.standstill.unwrap(),
        Standstill { ports: vec![(NodeId(SWITCH), 2)], circle: false }
    );
}

/// A switch's port says XOFF to its host. Memory that asks for the same meanwhile says nothing, and lets nothing go before the end.
#[test]
fn a_port_says_xoff() {
    let out = ran(&busy(vec![fault((SWITCH, 0), 500, 1500, XOFF)]));
    let whole = ran(&busy(Vec::new()));
    let before = |out: &Outcome| out.hosts[0].pause.by_part.iter().take(15).sum::<u64>();
    assert_eq!(before(&out), before(&whole), "until 500 us nothing differs");
    let part = Time::from_ms(2).as_ps() / 60;
    let within = &out.hosts[0].pause.by_part[16..45];
    assert!(within.iter().all(|&paused| paused + 1 >= part), "stopped throughout: {within:?}");
    assert!(out.hosts[0].pause.time < Time::from_us(1700), "and let go: {}", out.hosts[0].pause.time);
    assert!(out.hosts[1].pause.time < whole.hosts[1].pause.time, "the other host has the link to itself");
}

/// A host that reads 2 Gb/s takes in 2 Gb/s, as its buffer fills and XOFF follows.
#[test]
fn a_slow_reader_sets_the_pace() {
    let (rate, buffer) = (Rate::from_gbps(2.0), Bytes::new(30_000));
    let out = ran(&busy(vec![fault((2, 0), 0, 2000, FaultKind::Slow { rate, buffer })]));
    // The buffer and what arrives within a round trip is all that may be taken in beyond the rate.
    let (bits, read) = (out.hosts[2].delivered_bits as f64, 2e9 * 2e-3);
    let slack = 8.0 * (30_000.0 + 2.0 * 3e-6 * 1.25e9 + 3000.0);
    assert!(bits > read && bits < read + slack, "{bits} of {read} + {slack}");
    // From half full to full at 8 Gb/s, and from above full to half at 2 Gb/s.
    assert!((20..=34).contains(&out.hosts[2].pause.sent), "{}", out.hosts[2].pause.sent);
    let fast = FaultKind::Slow { rate: Rate::from_gbps(10.0), buffer };
    assert_eq!(ran(&busy(vec![fault((2, 0), 0, 2000, fast)])).hosts[2].pause.sent, 0, "as fast as the link");
}

/// Refused, each with its cause.
#[test]
fn what_cannot_be() {
    let slow = |gbps| FaultKind::Slow { rate: Rate::from_gbps(gbps), buffer: Bytes::new(9000) };
    for (why, faults) in [
        ("no link", vec![fault((2, 1), 0, 1, XOFF)]),
        ("no link", vec![fault((9, 0), 0, 1, XOFF)]),
        ("begins at 5 us", vec![fault((2, 0), 5, 5, XOFF)]),
        ("overlaps", vec![fault((2, 0), 0, 5, XOFF), fault((2, 0), 4, 9, XOFF)]),
        ("only hosts", vec![fault((SWITCH, 0), 0, 5, slow(1.0))]),
        ("reads nothing", vec![fault((2, 0), 0, 5, slow(0.0))]),
    ] {
        let given = run(&busy(faults), &Options::default()).unwrap_err().to_string();
        assert!(given.contains(why), "{why}: {given}");
    }
}

/// A network that stands in XOFF for 1000 s costs nothing: nothing moves in it, and so nothing is visited, by both engines and on two
/// threads. Its shortest link takes 50 ns.
#[test]
fn a_network_that_stands_is_not_visited() {
    let mut spec = tree(2, 0.0, Time::from_s(1000), 1);
    for (host, h) in (0..).zip(&mut spec.hosts) {
        h.sources = vec![flows(vec![flow(0, (host + 2) % 8, 1_000_000)])];
        h.processing = Time::ZERO;
    }
    spec.switches.iter_mut().for_each(|s| s.processing = Time::ZERO);
    spec.links.iter_mut().for_each(|l| l.delay = Time::from_ns(50));
    spec.events.faults = vec![fault((1, 0), 10, 1_000_000_000, XOFF)];
    let out = agreed(&spec, 0, &[(1, Visits::Adaptive), (2, Visits::Due)]);
    assert!(out.hosts[7].pause.time > Time::from_s(999), "{:?}", out.hosts[7].pause.time);
    assert_eq!((out.hosts[0].delivered, out.dropped()), (667, 0));
}
