//! Where the time of flows went, by hand, to the ps. On the network of these tests a frame of 1500 B takes a slot of 1.2 us on each link
//! ([`S`]), and each link and the node behind it take 1.5 us ([`L`]). Host 0 sends to host 2.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Acks, Bytes, Feedback, NodeId, Ramp, RampAt, Rate, ReflectGate, Scope, Time};
use common::script::{AtPoint, AtSource, script};
use common::*;
use std::sync::Arc;

const S: u64 = 1_200_000;
const L: u64 = 1_500_000;
/// There and back of a frame that waits nowhere, with its acknowledgement of 64 B.
const ROUND: u64 = 2 * S + 2 * L + 2 * 51_200 + 2 * L;

/// Three hosts at a switch; host 0 sends so many frames to host 2.
fn network(frames: u64) -> RunSpec {
    let mut spec = single_switch(3, 0.0, false, Time::from_ms(2), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].sources = vec![flows(vec![flow(0, 2, frames * 1500)])];
    spec.record.trips = true;
    spec
}

/// Parts at the source, in the order of [`SourcePart`]; and of each switch port the time in its queue, in XOFF, and onto its link. Of
/// the flow from host 0 to host 2, by both engines, on one thread and two.
fn told(spec: &RunSpec) -> ([u64; 7], Vec<[u64; 3]>) {
    let out = agreed(spec, 0, &[(1, Visits::Adaptive), (2, Visits::All), (1, Visits::Due)]);
    let host = &out.hosts[2];
    let at = host.transfers.completions.iter().position(|c| c.src.0 == 0).unwrap();
    let (done, trip) = (&host.transfers.completions[at], &host.transfers.trips[at]);
    assert_eq!(trip.sum(), done.end - done.start);
    let ps = |t: Time| t.as_ps();
    let stay = |s: &Stay| [ps(s.began) - ps(s.came) - ps(s.xoff), ps(s.xoff), ps(s.sending)];
    let [nic, stays @ ..] = &trip.stays[..] else { panic!("{trip:?}") };
    assert_eq!((nic.at, stay(nic), nic.link), ((NodeId(0), 0), [0, 0, S], Time::from_ps(L)));
    (trip.source.map(ps), stays.iter().map(stay).collect())
}

const QUEUE: [u64; 3] = [0, 0, S];

#[test]
fn alone_it_sends() {
    assert_eq!(told(&network(10)), ([0, 0, 0, 0, 0, 0, 9 * S], vec![QUEUE]));
    assert_eq!(told(&network(1)), ([0; 7], vec![QUEUE]));
}

/// Frames of both hosts come at once, and take turns at the port: behind each tenth stand nine.
#[test]
fn in_an_incast_it_queues() {
    let mut spec = network(10);
    spec.hosts[1].sources = spec.hosts[0].sources.clone();
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, 0, 9 * S], vec![[9 * S, 0, S]]));
}

/// At the host each second turn is another flow's.
#[test]
fn another_flow_of_its_host_takes_turns() {
    let mut spec = network(10);
    spec.hosts[0].sources[0].transfers.push(flow(0, 1, 15_000));
    assert_eq!(told(&spec), ([0, 0, 0, 0, 9 * S, 0, 9 * S], vec![QUEUE]));
}

/// At a quarter of its link's rate three slots pass between two frames, wherever its limiter stands.
#[test]
fn a_limiter_lets_gaps_pass() {
    for position in [LimiterPosition::AtSource, LimiterPosition::BelowQueue] {
        for transport in [None, Some(TRANSPORT)] {
            let mut spec = network(10);
            let limited = script().everywhere().plan(|p| p.limiter_scope = Scope::Pair);
            let limited = limited.source(|_, limiter, _| {
                limiter.engage();
                limiter.set_rate(Rate::from_gbps(2.5));
            });
            with_scheme(&mut spec, Arc::new(limited));
            (spec.hosts[0].limiter_position, spec.transport) = (position, transport);
            assert_eq!(told(&spec), ([0, 27 * S, 0, 0, 0, 0, 9 * S], vec![QUEUE]), "{position:?}");
        }
    }
}

/// A window of one frame waits for each acknowledgement, by each transport.
#[test]
fn a_window_waits_for_acknowledgements() {
    let (gap_time, rto_low, rto_high) = (Time::ZERO, Time::from_us(300), Time::from_us(300));
    let selective = SelectiveSpec { gap_frames: 1, gap_time, rto_low, rto_high, few: 3 };
    for reliability in [TRANSPORT.reliability, Reliability::Selective(selective), Reliability::Tcp(TCP)] {
        let mut spec = network(3);
        let window = Window::Fixed(Bytes::new(1500));
        spec.transport = Some(TransportSpec { window, reliability, ..TRANSPORT });
        assert_eq!(told(&spec), ([0, 0, 2 * (ROUND - S), 0, 0, 0, 2 * S], vec![QUEUE]));
    }
}

fn xoff(node: u32, port: u16) -> PortFault {
    in_xoff((node, port), Time::from_us(5), Time::from_us(20))
}

/// The switch stops the NIC, which hears XON at 21.5512 us, as that is a frame of 64 B: its sixth frame is on the link until 7.2 us.
#[test]
fn xoff_stops_the_nic() {
    let mut spec = network(10);
    spec.events.faults = vec![xoff(3, 0)];
    assert_eq!(told(&spec), ([0, 0, 0, 21_551_200 - 6 * S, 0, 0, 9 * S], vec![QUEUE]));
}

/// The receiver stops its switch port: the tenth frame comes after 13.5 us, and from 21.5 us on five others are before it.
#[test]
fn xoff_stops_a_switch() {
    let mut spec = network(10);
    spec.events.faults = vec![xoff(2, 0)];
    let came = 10 * S + L;
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, 0, 9 * S], vec![[5 * S, 21_500_000 - came, S]]));
}

/// The host's link loses this frame of the flow.
fn lost(spec: &mut RunSpec, nth: u64) {
    let frame = LostFrame { flow: (NodeId(0), NodeId(2)), number: None, acknowledgement: false, nth };
    let (from, to, kind) = (Time::ZERO, Time::MAX, LossKind::Listed(vec![frame]));
    spec.events.losses = vec![LinkLoss { node: NodeId(0), port: 0, from, to, kind }];
}

/// The last of three is lost. It goes again 300 us after the acknowledgement of the second.
#[test]
fn a_timeout_sends_again() {
    let rto = Time::from_us(300);
    let by = Reliability::GoBackN { nack_interval: Time::from_us(500), rto };
    let mut spec = network(3);
    spec.transport = Some(TransportSpec { reliability: by, ..TRANSPORT });
    lost(&mut spec, 3);
    let again = S + ROUND + rto.as_ps() - 3 * S;
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, again, 3 * S], vec![QUEUE]));
}

/// The second of three is lost. The NACK of the third lets both go again, and what the second takes is no sending.
#[test]
fn a_nack_sends_again() {
    let by = Reliability::GoBackN { nack_interval: Time::from_us(500), rto: Time::from_ms(1) };
    let mut spec = network(3);
    spec.transport = Some(TransportSpec { reliability: by, ..TRANSPORT });
    lost(&mut spec, 2);
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, ROUND - S + S, 3 * S], vec![QUEUE]));
}

/// A change of rate comes before a frame that begins at its moment.
#[test]
fn a_frame_begins_as_its_port_gets_slow() {
    let mut spec = network(1);
    spec.events.changes = vec![RateChange { at: Time::from_ps(S + L), ..change(0, 3, 2, 1.0) }];
    assert_eq!(told(&spec), ([0; 7], vec![[0, 0, 10 * S]]));
}

/// The port serves at a tenth of its rate: the third frame waits for two of twelve us.
#[test]
fn a_slow_port_serves_slowly() {
    let mut spec = network(3);
    spec.events.changes = vec![change(0, 3, 2, 1.0)];
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, 0, 2 * S], vec![[18 * S, 0, 10 * S]]));
}

/// Two switches, the first port at half, the second at a quarter of the link's rate.
#[test]
fn two_bottlenecks_hold_it_twice() {
    let mut spec = network(3);
    spec.switches.push(spec.switches[0].clone());
    spec.links = vec![link((0, 0), (3, 0)), link((1, 0), (3, 1)), link((2, 0), (4, 0)), link((3, 2), (4, 1))];
    spec.events.changes = vec![change(0, 3, 2, 5.0), change(0, 4, 0, 2.5)];
    let ports = vec![[2 * S, 0, 2 * S], [4 * S, 0, 4 * S]];
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, 0, 2 * S], ports));
}

const TCP: TcpSpec = TcpSpec {
    recovery: Recovery::Sack,
    probe: false,
    handshake: false,
    burst: 1,
    classic_ecn: false,
    proportional: false,
    limited_transmit: true,
    receive_window: None,
    rto_first: Time::from_ms(1),
    rto_min: Time::from_ms(1),
    rto_max: Time::from_ms(9),
    quantum: Time::ZERO,
    ack_delay: Time::ZERO,
};

/// TCP loses the fifth of ten. The report of the eighth tells of it after all are sent, and the fifth comes last.
#[test]
fn tcp_repairs_by_reports() {
    let mut spec = network(10);
    spec.transport = Some(TransportSpec { reliability: Reliability::Tcp(TCP), ..TRANSPORT });
    lost(&mut spec, 5);
    assert_eq!(told(&spec), ([0, 0, 0, 0, 0, 7 * S + ROUND - 10 * S, 10 * S], vec![QUEUE]));
    // A connection opens in the round trip of two short frames.
    let opened = 4 * (51_200 + L);
    spec.events.losses.clear();
    spec.transport = Some(TransportSpec {
        reliability: Reliability::Tcp(TcpSpec { handshake: true, ..TCP }),
        ..TRANSPORT
    });
    assert_eq!(told(&spec), ([opened, 0, 0, 0, 0, 0, 9 * S], vec![QUEUE]));
}

/// The switch marks each frame, and the receiver tells of each mark: the first two messages halve the rate. What the limiter holds the
/// flow back is the cost of these cuts, which the port of the switch caused.
#[test]
fn marks_cut_the_rate() {
    let mut spec = network(10);
    let ramp =
        Ramp { low: Bytes::new(1), high: Bytes::new(2), p_max: 1.0, p_beyond: 1.0, at: RampAt::Arrival };
    let halves = script().everywhere().gate(ReflectGate::Marked).plan(|p| p.limiter_scope = Scope::Pair);
    let halves = halves.point(move |at, _, ctl, _| {
        if let AtPoint::Start = at {
            ctl.mark(ramp);
        }
    });
    let halves = halves.on_frame(|_, ctl, _| ctl.reply(Feedback::Cnp)).source(|at, limiter, _| {
        if let AtSource::Feedback(_) = at {
            limiter.engage();
            limiter.set_rate((limiter.rate() / 2.0).max(Rate::from_gbps(2.5)));
        }
    });
    with_scheme(&mut spec, Arc::new(halves));
    spec.record.flow_events = vec![(NodeId(0), NodeId(2))];
    let out = agreed(&spec, 0, &[(1, Visits::Adaptive), (2, Visits::All), (1, Visits::Due)]);
    let trip = &out.hosts[2].transfers.trips[0];
    let (gap, port) = (trip.source[SourcePart::Gap as usize], Some((NodeId(3), 2)));
    assert!(gap > Time::ZERO);
    assert_eq!(trip.by_cause, [Cuts { by: Trigger::Mark, port, count: 2, cost: gap }]);
    // The first message comes after two hops of a frame, and two of a message of 64 B.
    let first = 2 * (S + L) + 2 * (51_200 + L);
    let told: Vec<_> = trip.cuts.iter().map(|cut| (cut.event.at.as_ps(), cut.event.rate)).collect();
    assert_eq!(told, [(first, Rate::from_gbps(5.0)), (first + S, Rate::from_gbps(2.5))]);
    let marks =
        out.recorded.flow_events.iter().filter(|event| event.by == Trigger::Mark && event.port == port);
    assert_eq!((marks.count(), out.recorded.events_cut), (10, None));
}

/// Frames are lost at one switch until 60 us, and at the next from 100 to 160 us. Each loss that is found narrows the window, and so does
/// the end of each recovery. The losses alone are cuts, each of the port that dropped frames before it.
#[test]
fn losses_cut_the_window_each_at_its_port() {
    let mut spec = network(200);
    spec.switches[0].buffer.share = Bytes::new(6000);
    spec.switches.push(spec.switches[0].clone());
    spec.links = vec![link((0, 0), (3, 0)), link((1, 0), (3, 1)), link((2, 0), (4, 0)), link((3, 2), (4, 1))];
    let rates = [(0, 3, 2, 0.0), (60, 3, 2, 10.0), (100, 4, 0, 0.0), (160, 4, 0, 10.0)];
    spec.events.changes = rates.map(|(at, node, port, gbps)| change(at, node, port, gbps)).into();
    let by = Reliability::GoBackN { nack_interval: Time::from_us(500), rto: Time::from_us(300) };
    spec.transport = Some(TransportSpec { reliability: by, ..TRANSPORT });
    let narrows = script().everywhere().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
    let narrows = narrows.source(|at, limiter, _| {
        let (whole, window) = (Bytes::new(1500), limiter.window());
        match at {
            AtSource::Loss(_) => {
                limiter.set_window(if window > whole * 30 { whole * 30 } else { whole * 20 })
            }
            AtSource::Recovered => limiter.set_window(window.saturating_sub(whole * 5)),
            _ => {}
        }
    });
    with_scheme(&mut spec, Arc::new(narrows));
    let out = agreed(&spec, 0, &[(1, Visits::Adaptive), (2, Visits::All), (1, Visits::Due)]);
    let cuts = out.hosts[2].transfers.trips[0].cuts.iter().map(|cut| cut.event);
    let cuts: Vec<_> = cuts.map(|event| (event.by, event.port, event.window.unwrap() / 1500)).collect();
    let cut = |node, port, window| (Trigger::Loss, Some((NodeId(node), port)), window);
    assert_eq!(cuts, [cut(3, 2, 30), cut(4, 0, 20)]);
}

/// Nothing is kept where nobody asks.
#[test]
fn without_the_record_nothing_is_kept() {
    let mut spec = network(3);
    spec.record.trips = false;
    assert!(
        by(Engine::Fast, &spec)
            .hosts
            .iter()
            .all(|h| h.transfers.trips.is_empty() && h.transfers.completions.len() < 2)
    );
}
