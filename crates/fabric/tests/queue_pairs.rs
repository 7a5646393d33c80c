//! Queue pairs: acknowledgements, windows, and frames that are sent again. All times and counts are known by arithmetic. On the network
//! of these tests a frame of 1500 B takes a slot of 1.2 us on each link and an acknowledgement of 64 B takes 51.2 ns; each link and the
//! node behind it take 1.5 us.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{
    Ack, AckGate, Acks, Built, Bytes, Class, FlowId, Ramp, RampAt, Rate, Scope, Slot, SourceSite, Time,
};
use common::script::*;
use common::*;

const GO_BACK_N: Reliability =
    Reliability::GoBackN { nack_interval: Time::from_us(500), rto: Time::from_us(300) };
/// Both ways through the switch, for a frame that waits nowhere and its acknowledgement.
const OUT: u64 = 2 * 1_200_000 + 3_000_000;
const BACK: u64 = 2 * 51_200 + 3_000_000;

/// Flows from host 0 to host 2, with such a transport.
fn network_of(transport: TransportSpec, transfers: Vec<Transfer>) -> RunSpec {
    let mut spec = network(&[]);
    spec.transport = Some(transport);
    spec.hosts[0].sources = vec![flows(transfers)];
    spec
}

fn frames(n: u64) -> Vec<Transfer> {
    vec![flow(0, TO, n * 1500)]
}

/// A scheme without reaction points.
fn none() -> Script {
    script().flows(|_| false)
}

/// One whose reaction points are woken by these acknowledgements, and note them.
fn woken(gate: AckGate) -> Script {
    let script = script().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
    script.source(move |at, limiter, notes| match at {
        AtSource::Start => limiter.wake_on_acks(gate),
        AtSource::Ack(&Ack { newly, newly_marked, path, .. }) => {
            notes.say(limiter.now(), format!("newly {} {}", newly.get() / 1500, newly_marked.get() / 1500));
            notes.say(limiter.now(), format!("flight {}", limiter.in_flight().get() / 1500));
            path.iter().for_each(|hop| notes.say(limiter.now(), format!("hop {hop:?}")));
        }
        _ => {}
    })
}

/// The end of the only flow at its destination and at its source, ps.
fn ends(spec: &RunSpec) -> (u64, Option<u64>) {
    let seen = run_all(&none(), spec.clone()).unwrap();
    let [done] = &seen.out.hosts[TO as usize].transfers.completions[..] else {
        panic!("{:?}", seen.out.hosts)
    };
    (done.end.as_ps(), done.acknowledged.map(Time::as_ps))
}

/// A flow ends at its destination with its last frame, and at its source an acknowledgement later: whatever the class, the length and
/// how many frames it answers.
#[test]
fn a_flow_ends_twice() {
    let end = 9 * 1_200_000 + OUT;
    for (ack_class, ack_every) in
        [(Class::Data, 1), (Class::Control, 1), (Class::Data, 4), (Class::Data, 100)]
    {
        let transport = TransportSpec { ack_class, ack_every, ..TRANSPORT };
        let spec = network_of(transport, frames(10));
        assert_eq!(ends(&spec), (end, Some(end + BACK)), "{ack_class:?} {ack_every}");
        let out = run_all(&none(), spec).unwrap().out;
        let (all, of_host) = (10_u64.div_ceil(ack_every.into()), &out.hosts[0].transport);
        assert_eq!((of_host.acks, of_host.acked, of_host.resent), (all, 15_000, 0));
        assert_eq!(out.control_hops, 2 * all);
    }
    let long = TransportSpec { ack_length: Bytes::new(1250), ..TRANSPORT };
    assert_eq!(ends(&network_of(long, frames(10))), (end, Some(end + 2 * 1_000_000 + 3_000_000)));
    let silent = TransportSpec { ack_every: 0, ..TRANSPORT };
    assert_eq!(ends(&network_of(silent, frames(10))), (end, Some(9 * 1_200_000)), "all is sent then");
    let mut ideal = network_of(TRANSPORT, frames(10));
    ideal.laws.control = ControlTransport::Ideal { latency: Time::from_us(20) };
    assert_eq!(ends(&ideal), (end, Some(end + 20_000_000)));
    assert_eq!(run_all(&none(), ideal).unwrap().out.control_hops, 0);
}

/// A window of `w` frames lets `w` go in a round trip; one that the round trip does not fill holds nothing back.
#[test]
fn a_window_bounds_what_is_in_flight() {
    let round = OUT + BACK;
    for w in [1, 2, 5] {
        let transport = TransportSpec { window: Window::Fixed(Bytes::new(1500 * w)), ..TRANSPORT };
        let end = 3 * round + (w - 1) * 1_200_000 + OUT;
        assert_eq!(ends(&network_of(transport, frames(4 * w))), (end, Some(end + BACK)), "{w} frames");
        // A frame is sent while less than the window is in flight: one byte more than some frames lets another go.
        let wider = TransportSpec { window: Window::Fixed(Bytes::new(1500 * (w - 1) + 1)), ..transport };
        assert_eq!(
            ends(&network_of(wider, frames(4 * w))),
            (end, Some(end + BACK)),
            "{w} frames, but for all bytes of one but one"
        );
    }
    // The round trip takes 8.5 us at 10 Gb/s: 7.1 frames.
    for window in [Window::Bdp, Window::Fixed(Bytes::new(10_700)), Window::Off, Window::Scheme] {
        let end = 99 * 1_200_000 + OUT;
        assert_eq!(
            ends(&network_of(TransportSpec { window, ..TRANSPORT }, frames(100))).0,
            end,
            "{window:?}"
        );
    }
}

/// The window of a scheme holds at once, unless the run has one of its own or none.
#[test]
fn a_scheme_sets_the_window() {
    let narrow = woken(AckGate::EACH).source(|at, limiter, _| {
        if let AtSource::Start = at {
            limiter.set_window(Bytes::new(1500));
        }
    });
    let free = 9 * 1_200_000 + OUT;
    for (window, end) in [(Window::Scheme, 9 * (OUT + BACK) + OUT), (Window::Off, free), (Window::Bdp, free)]
    {
        let spec = network_of(TransportSpec { window, ..TRANSPORT }, frames(10));
        let out = run_all(&narrow, spec).unwrap().out;
        assert_eq!(out.hosts[TO as usize].transfers.completions[0].end.as_ps(), end, "{window:?}");
    }
}

/// A window that narrows while the next frame waits for its gap holds that frame, too: at 2.5 Gb/s the third is due after 9.6 us. The first
/// acknowledgement comes before that, and leaves a window of the one frame in flight.
#[test]
fn a_window_that_narrows_holds_a_frame_that_waits() {
    let narrows = woken(AckGate::EACH).source(|at, limiter, _| match at {
        AtSource::Start => {
            limiter.engage();
            limiter.set_rate(Rate::from_gbps(2.5));
            limiter.wake_on_acks(AckGate::EACH);
        }
        AtSource::Ack(_) => limiter.set_window(Bytes::new(1500)),
        _ => {}
    });
    for reliability in [Reliability::None, GO_BACK_N] {
        let spec = network_of(TransportSpec { reliability, ..TRANSPORT }, frames(4));
        let out = run_all(&narrows, spec).unwrap().out;
        let end = 4_800_000 + 2 * (OUT + BACK) + OUT;
        assert_eq!(out.hosts[TO as usize].transfers.completions[0].end.as_ps(), end, "{reliability:?}");
    }
}

/// A window that moves with the rate: four frames at the line rate are two at half of it, so that the third waits for the first one's
/// acknowledgement, and not for its pace alone. A rate that falls to nothing leaves one frame.
#[test]
fn a_window_moves_with_the_rate() {
    let at_rate = |gbps: f64| {
        woken(AckGate::EACH).source(move |at, limiter, _| {
            if let AtSource::Start = at {
                limiter.engage();
                limiter.set_rate(Rate::from_gbps(gbps));
            }
        })
    };
    let round = OUT + BACK;
    for (gbps, window_by_rate, end) in [
        (5.0, true, round + 2_400_000 + OUT),
        (5.0, false, 3 * 2_400_000 + OUT),
        (10.0, true, 3 * 1_200_000 + OUT),
        (2.5, true, 3 * round + OUT),
        (2.5, false, 3 * 4_800_000 + OUT),
        (1.0, true, 3 * 12_000_000 + OUT),
    ] {
        let window = Window::Fixed(Bytes::new(6000));
        let spec = network_of(TransportSpec { window, window_by_rate, ..TRANSPORT }, frames(4));
        let out = run_all(&at_rate(gbps), spec).unwrap().out;
        let found = out.hosts[TO as usize].transfers.completions[0].end.as_ps();
        assert_eq!(found, end, "{gbps} Gb/s, by rate: {window_by_rate}");
    }
}

/// Which acknowledgements wake a reaction point, and what they say: round trip, bytes since the last wake, bytes in flight, telemetry.
#[test]
fn acknowledgements_wake_by_gate() {
    let of = |gate, every| {
        let transport = TransportSpec { ack_every: every, ..TRANSPORT };
        run_all(&woken(gate), network_of(transport, frames(20))).unwrap()
    };
    let each = of(AckGate::EACH, 1);
    assert_eq!(each.numbers("ack "), vec![(OUT + BACK) as f64; 20]);
    assert_eq!((each.count("newly 1 0"), each.count("hop")), (20, 0));
    let samples = &each.out.hosts[0].transport.rtt;
    assert_eq!((samples.iter().sum::<u64>(), samples.iter().filter(|n| **n > 0).count()), (20, 1));
    // The first answer comes after 8.5 us: eight frames have begun to leave by then.
    assert_eq!(&each.numbers("flight ")[..2], [7.0, 7.0]);
    let fours = of(AckGate::EACH, 4);
    assert_eq!((fours.count("newly 4 0"), fours.count("ack ")), (5, 5));
    assert_eq!(of(AckGate::default(), 1).count("ack "), 0);
    // The first acknowledges a byte; then those wake it that acknowledge what was sent after the wake before: 8 frames, then 8 more.
    let windows = of(AckGate { per_window: true, ..AckGate::default() }, 1);
    assert_eq!(windows.numbers("newly "), [1.0, 8.0, 8.0]);
    let marks = AckGate { marked: true, ..AckGate::default() };
    let at = |low: u64| {
        let (low, high) = (Bytes::new(low), Bytes::new(low));
        let ramp = Ramp { low, high, p_max: 1.0, p_beyond: 1.0, at: RampAt::Arrival };
        let script = woken(marks).point(move |at, _, ctl, _| {
            if let AtPoint::Start = at {
                ctl.mark(ramp);
            }
        });
        let transport = TransportSpec { ack_every: 8, ..TRANSPORT };
        run_all(&script, network_of(transport, frames(20))).unwrap()
    };
    let all = at(1000);
    assert_eq!((all.count("newly 1 1"), all.out.hosts[0].transport.marked), (20, 30_000), "at once");
    assert_eq!((at(1600).count("ack "), at(1600).out.hosts[0].transport.acks), (0, 3));
}

/// A frame brings its source what each port on its way recorded as it left.
#[test]
fn telemetry_comes_back() {
    let script = woken(AckGate::EACH).point(|at, _, ctl, _| {
        if let AtPoint::Start = at {
            ctl.record_departures();
        }
    });
    let why = run_all(&script, network_of(TRANSPORT, frames(1))).map(|_| ()).unwrap_err();
    assert!(why.contains("Acks::Telemetry"), "{why}");
    let script = script.plan(|p| p.acks = Acks::Telemetry);
    let mut spec = network_of(TRANSPORT, frames(3));
    // The port serves at half its rate: the second frame waits 1.2 us for the first, the third 2.4 us for the second.
    spec.events.changes = vec![change(0, 3, PORT, 5.0)];
    let seen = run_all(&script, spec).unwrap();
    let hop = |i: u64, queue: u64| {
        let time = 1_200_000 + 1_500_000 + i * 2_400_000;
        let (rate, time) = (Rate::from_gbps(10.0), Time::from_ps(time));
        format!("hop {:?}", cnsim_scheme_api::Hop { rate, time, sent: i * 1500, queue: Bytes::new(queue) })
    };
    let hops: Vec<_> = seen.all("hop").into_iter().map(|note| note.1.clone()).collect();
    assert_eq!(hops, [hop(0, 0), hop(1, 1500), hop(2, 0)]);
}

/// A port that stands until 60 us has room for four frames: frames 4 to 48 are lost. Frame 49 comes out of order; by its NACK, at
/// 70.6 us, frames up to 58 have begun, and all from 4 on go again.
#[test]
fn go_back_n_begins_anew_with_what_is_missing() {
    let lossy = |transport, n| {
        let mut spec = network_of(transport, frames(n));
        spec.switches[0].buffer.share = Bytes::new(6000);
        spec.events.changes = vec![change(0, 3, PORT, 0.0), change(60, 3, PORT, 10.0)];
        spec
    };
    let transport = TransportSpec { reliability: GO_BACK_N, ..TRANSPORT };
    let out = run_all(&none(), lossy(transport, 100)).unwrap().out;
    let of_host = &out.hosts[0].transport;
    assert_eq!((of_host.resent, of_host.resent_bytes, of_host.nacks, of_host.timeouts), (55, 82_500, 1, 0));
    assert_eq!(out.dropped(), 45);
    // Frame 58 is on the link until 70.8 us: 96 frames follow, one at a time. Frame 49 came to the port at 61.5 us and began to leave at
    // 64.8 us, and since then each waits there as long.
    let end = 70_800_000 + 95 * 1_200_000 + 3_300_000 + OUT;
    let done = &out.hosts[TO as usize].transfers.completions[0];
    assert_eq!((done.end.as_ps(), done.acknowledged.unwrap().as_ps()), (end, end + BACK));
    assert_eq!((out.hosts[TO as usize].delivered, out.hosts[TO as usize].delivered_bits), (100, 1_200_000));
    // Of ten frames the last six are lost, and no later one says so: the timeout runs from the last acknowledgement on.
    let out = run_all(&none(), lossy(transport, 10)).unwrap().out;
    let last = 60_000_000 + 4 * 1_200_000 + 1_500_000 + BACK;
    let end = last + 300_000_000 + 5 * 1_200_000 + OUT;
    assert_eq!((out.hosts[0].transport.resent, out.hosts[0].transport.timeouts), (6, 1));
    assert_eq!(out.hosts[TO as usize].transfers.completions[0].end.as_ps(), end);
    // Without it what is lost stays lost, and later frames acknowledge it.
    let out = run_all(&none(), lossy(TRANSPORT, 100)).unwrap().out;
    assert_eq!(
        (out.hosts[0].transport.resent, out.hosts[TO as usize].transfers.missing[0].missing),
        (0, 45 * 1500)
    );
    assert_eq!(out.hosts[0].transport.acked, 150_000);
}

/// A port with room for four frames that serves at these rates from these times on, us and Gb/s.
fn changing(transport: TransportSpec, n: u64, rates: &[(u64, f64)]) -> TransportOutcome {
    let mut spec = network_of(transport, frames(n));
    spec.switches[0].buffer.share = Bytes::new(6000);
    spec.events.changes = rates.iter().map(|&(at, gbps)| change(at, 3, PORT, gbps)).collect();
    let out = run_all(&none(), spec).unwrap().out;
    assert_eq!(out.hosts[TO as usize].delivered, n);
    out.hosts[0].transport.clone()
}

/// Frames 4 to 48 are lost, and frame 49 comes out of order at 67.5 us; 50 to 58 follow it, one each 1.2 us. So NACKs leave 0, 3.6, 7.2 and
/// 10.8 us after the first where they are 3.6 us apart, and after 0, 4.8 and 9.6 us where a picosecond more is.
#[test]
fn nacks_are_an_interval_apart() {
    for (ps, nacks) in [(3_600_000, 4), (3_600_001, 3), (1, 10), (500_000_000, 1)] {
        let nack_interval = Time::from_ps(ps);
        let reliability = Reliability::GoBackN { nack_interval, rto: Time::from_us(300) };
        let seen = changing(TransportSpec { reliability, ..TRANSPORT }, 100, &[(0, 0.0), (60, 10.0)]);
        assert_eq!((seen.nacks, seen.timeouts), (nacks, 0), "{nack_interval}");
    }
}

/// What is lost after a gap was filled is a gap of its own, and has a NACK at once. The port stands until 60 us, and from 100 to 160 us.
#[test]
fn a_later_gap_has_a_nack_of_its_own() {
    let rates = [(0, 0.0), (60, 10.0), (100, 0.0), (160, 10.0)];
    let seen = changing(TransportSpec { reliability: GO_BACK_N, ..TRANSPORT }, 200, &rates);
    assert_eq!((seen.nacks, seen.timeouts), (2, 0));
}

/// The port stands again from 65 to 200 us: what a NACK at 70.6 us begins anew with is lost, too. That NACK acknowledges nothing, so the
/// timeout runs from the acknowledgement of frame 3.
#[test]
fn a_nack_puts_no_timeout_off() {
    let mut spec = network_of(TransportSpec { reliability: GO_BACK_N, ..TRANSPORT }, frames(100));
    spec.switches[0].buffer.share = Bytes::new(6000);
    spec.events.changes =
        [(0, 0.0), (60, 10.0), (65, 0.0), (200, 10.0)].map(|c| change(c.0, 3, PORT, c.1)).into();
    let out = run_all(&none(), spec).unwrap().out;
    let last = 60_000_000 + 4 * 1_200_000 + 1_500_000 + BACK;
    let end = last + 300_000_000 + 95 * 1_200_000 + OUT;
    let transport = &out.hosts[0].transport;
    assert_eq!((transport.nacks, transport.timeouts), (1, 1));
    assert_eq!(out.hosts[TO as usize].transfers.completions[0].end.as_ps(), end);
}

/// An acknowledgement that comes at the moment of the timeout puts it off; one that comes a picosecond later does not.
#[test]
fn an_acknowledgement_at_the_moment_of_the_timeout() {
    for (less, timeouts) in [(0, 0), (1, 1)] {
        let rto = Time::from_ps(OUT + BACK - less);
        let reliability = Reliability::GoBackN { nack_interval: Time::from_us(500), rto };
        let spec = network_of(TransportSpec { reliability, ..TRANSPORT }, frames(1));
        let out = run_all(&none(), spec).unwrap().out;
        let transport = &out.hosts[0].transport;
        assert_eq!((transport.timeouts, transport.resent), (timeouts, timeouts), "{rto}");
    }
}

/// A reaction point is woken by a NACK and by a timeout. It receives each byte that is acknowledged, those of a NACK too.
#[test]
fn losses_reach_the_scheme() {
    for (n, ack_every, what, sent) in
        [(100, 1, "loss Nack 6000", 59), (100, 8, "loss Nack 6000", 64), (10, 1, "loss Timeout 6000", 10)]
    {
        let transport = TransportSpec { reliability: GO_BACK_N, ack_every, ..TRANSPORT };
        let mut spec = network_of(transport, frames(n));
        spec.switches[0].buffer.share = Bytes::new(6000);
        spec.events.changes = vec![change(0, 3, PORT, 0.0), change(60, 3, PORT, 10.0)];
        let seen = run_all(&woken(AckGate::EACH), spec).unwrap();
        assert_eq!((seen.count(what), seen.count("loss")), (1, 1));
        // It is repaired once, when all that had been sent is acknowledged: 59 frames as the NACK came, at 70.6 us.
        assert_eq!(seen.numbers("recovered "), [f64::from(sent * 1500)]);
        assert_eq!(seen.numbers("newly ").iter().sum::<f64>(), n as f64);
    }
    let whole = network_of(TransportSpec { reliability: GO_BACK_N, ..TRANSPORT }, frames(20));
    assert_eq!(run_all(&woken(AckGate::EACH), whole).unwrap().count("recovered"), 0, "nothing was lost");
}

/// A limiter that goes back stops its own timers, not its flow's timeout: after a message the last six frames of ten are lost.
#[test]
fn a_limiter_that_goes_leaves_the_timeout() {
    let script = script()
        .plan(|p| (p.limiter_scope, p.built) = (Scope::Flow, Built::OnFeedback))
        .point(|at, _, ctl, _| match at {
            AtPoint::Start => ctl.start_timer(Slot(0), Time::from_us(10)),
            AtPoint::Timer(_) => ctl.notify(FlowId(0), SAYS),
            _ => {}
        })
        .source(|at, limiter, _| {
            if let AtSource::Feedback(_) = at {
                limiter.start_timer(Slot(0), Time::from_us(5));
                limiter.release_when_empty();
            }
        });
    let mut spec = network_of(TransportSpec { reliability: GO_BACK_N, ..TRANSPORT }, frames(10));
    spec.switches[0].buffer.share = Bytes::new(6000);
    spec.events.changes = vec![change(0, 3, PORT, 0.0), change(60, 3, PORT, 10.0)];
    let seen = run_all(&script, spec).unwrap();
    assert_eq!((seen.count("told"), seen.count("source timer")), (1, 0));
    assert_eq!(
        (seen.out.hosts[0].transport.timeouts, seen.out.hosts[TO as usize].transfers.completions.len()),
        (1, 1)
    );
}

/// Two flows of a pair have a limiter each by `Scope::Flow`, and share one by `Scope::Pair`. Round robin lets neither wait for the other.
#[test]
fn a_limiter_for_each_flow() {
    let both = || vec![flow(0, TO, 15_000), flow(0, TO, 30_000)];
    let ends = |scope| {
        let script = script().plan(|p| p.limiter_scope = scope).source(|at, limiter, _| {
            if let AtSource::Start = at {
                limiter.engage();
                limiter.set_rate(Rate::from_gbps(1.0));
            }
        });
        let out = run_all(&script, network_of(TRANSPORT, both())).unwrap().out;
        out.hosts[TO as usize].transfers.completions.iter().map(|c| c.end.as_ps()).collect::<Vec<_>>()
    };
    // At 1 Gb/s a frame goes every 12 us. The second flow's begin when the first's have left.
    let each = [9 * 12_000_000 + OUT, 1_200_000 + 19 * 12_000_000 + OUT];
    assert_eq!(ends(Scope::Flow), each);
    assert_eq!(ends(Scope::Pair), [18 * 12_000_000 + OUT, 29 * 12_000_000 + OUT]);
}

/// A flow that waits for its turn is not let go a second time. The first one's two frames are acknowledged while the host stands, from
/// 3.5 to 60 us. Then both flows take turns: frames 3 and 4 of the first, and between them the second frame of the other.
#[test]
fn two_acknowledgements_give_one_turn() {
    let window = Window::Fixed(Bytes::new(3000));
    let transfers = vec![flow(0, TO, 6000), flow(30, TO, 3000)];
    let mut spec = network_of(TransportSpec { window, ..TRANSPORT }, transfers);
    spec.switches[0].buffer = buffer(true);
    spec.switches[0].buffer.pause.as_mut().unwrap().transport = PauseTransport::Wire;
    let heard = |ps: u64| Time::from_ps(ps - 1_500_000);
    spec.events.faults = vec![in_xoff((3, 0), heard(3_500_000), heard(60_000_000))];
    let out = run_all(&none(), spec).unwrap().out;
    let ends: Vec<_> =
        out.hosts[TO as usize].transfers.completions.iter().map(|c| (c.bytes, c.end.as_ps())).collect();
    // The other one is next in the round.
    let last = 60_000_000 + 3 * 1_200_000 + OUT;
    assert_eq!(ends, [(3000, last - 1_200_000), (6000, last)]);
}

/// Nor is one that has just begun, as its scheme sets a window: two flows of two frames each take turns from the beginning on.
#[test]
fn a_window_at_the_start_gives_one_turn() {
    let wide = woken(AckGate::EACH).source(|at, limiter, _| {
        if let AtSource::Start = at {
            limiter.set_window(Bytes::new(30_000));
        }
    });
    let out = run_all(&wide, network_of(TRANSPORT, vec![flow(0, TO, 3000); 2])).unwrap().out;
    let ends = out.hosts[TO as usize].transfers.completions.iter().map(|c| c.end.as_ps());
    assert!(ends.eq([2, 3].map(|slots| slots * 1_200_000 + OUT)));
}

/// A reaction point learns of its flow: size, links, round trip, and the rate at which it is to begin.
#[test]
fn a_flow_is_known_as_its_reaction_point_is_built() {
    let known = |site: &SourceSite| {
        let size = (site.size, site.hops, site.initial_rate);
        let rtt = Time::from_ps(OUT + BACK);
        assert_eq!(size, (Some(Bytes::new(1500)), 2, Some(Rate::from_gbps(2.0))));
        (site.flow.0, site.base_rtt, site.mtu) == (0, rtt, Bytes::new(1500))
    };
    let script = woken(AckGate::EACH).flows(known).source(|at, limiter, notes| match at {
        AtSource::Start => {
            assert_eq!(limiter.window(), Bytes::MAX);
            limiter.wake_on_acks(AckGate::EACH);
        }
        _ => notes.say(limiter.now(), format!("until {}", limiter.acked().get())),
    });
    let mut spec = network_of(TRANSPORT, frames(1));
    spec.hosts[0].sources[0].initial_rate = Some(Rate::from_gbps(2.0));
    assert_eq!(run_all(&script, spec).unwrap().numbers("until"), [1500.0]);
}

/// A flow is known by its whole number: one behind more flows than 65,536 a host has its acknowledgement and its message, by both ways.
#[test]
fn more_flows_than_hosts_have_halves_of_numbers() {
    let mut spec = network_of(TRANSPORT, vec![flow(900, TO, 1500); 65_536]);
    spec.duration = Time::from_us(20);
    for (host, dst) in [(0, 1), (1, TO)] {
        spec.hosts[host].sources.push(flows(vec![flow(900, dst, 1500); 65_536]));
    }
    spec.hosts[2].sources = vec![flows(vec![flow(0, 0, 10 * 1500)])];
    let last = 3 << 16;
    let script =
        woken(AckGate::EACH).flows(move |site| site.flow.0 == last).point(move |at, _, ctl, _| match at {
            AtPoint::Start => ctl.start_timer(Slot(0), Time::from_us(5)),
            AtPoint::Timer(_) => ctl.notify(FlowId(last), SAYS),
            _ => {}
        });
    let seen = run_all(&script, spec).unwrap();
    assert_eq!((seen.count("told"), seen.count("ack ")), (1, 10));
}

/// Refused, each with its cause.
#[test]
fn what_cannot_be() {
    let refused = |transport: Option<TransportSpec>, script: &Script| {
        let mut spec = network_of(TRANSPORT, frames(1));
        spec.transport = transport;
        run_all(script, spec).map(|_| ()).unwrap_err()
    };
    let of = |transport| refused(Some(transport), &none());
    let fixed = Window::Fixed(Bytes::new(3000));
    for (why, given) in [
        ("an acknowledgement of 0 B", of(TransportSpec { ack_length: Bytes::ZERO, ..TRANSPORT })),
        ("need acknowledgements", of(TransportSpec { ack_every: 0, window: fixed, ..TRANSPORT })),
        ("need acknowledgements", of(TransportSpec { ack_every: 0, reliability: GO_BACK_N, ..TRANSPORT })),
        ("a window of 0 B", of(TransportSpec { window: Window::Fixed(Bytes::ZERO), ..TRANSPORT })),
        ("needs acknowledgements", refused(None, &woken(AckGate::EACH))),
        (
            "needs acknowledgements",
            refused(Some(TransportSpec { ack_every: 0, ..TRANSPORT }), &woken(AckGate::EACH)),
        ),
        (
            "Scope::Flow",
            refused(Some(TRANSPORT), &woken(AckGate::EACH).plan(|p| p.limiter_scope = Scope::Pair)),
        ),
    ] {
        assert!(given.contains(why), "{why}: {given}");
    }
    let many = network_of(TRANSPORT, vec![flow(0, TO, 1500); 65_537]);
    let why = run_all(&none(), many).map(|_| ()).unwrap_err();
    assert!(why.contains("65537 flows from host 0 to 2"), "{why}");
    let long = network_of(TRANSPORT, frames(1 << 32));
    let why = run_all(&none(), long).map(|_| ()).unwrap_err();
    assert!(why.contains("4294967296 frames"), "{why}");
    let mut spec = network(&[0.5]);
    spec.transport = Some(TRANSPORT);
    let why = run_all(&none(), spec).map(|_| ()).unwrap_err();
    assert!(why.contains("queue pairs are of finite flows, and host H0"), "{why}");
}
