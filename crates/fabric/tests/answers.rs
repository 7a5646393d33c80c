//! Small networks of which arithmetic says what happens, to the frame and the picosecond, by both engines.
#![allow(clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, Feedback, NodeId, Rate, ReflectGate, Slot, Time};
use common::script::*;
use common::*;

/// Finaliser of splitmix64 (S. Vigna, public domain).
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// With `FrameHash` frame `n` of flow `f` takes path `mix(f << 32 ^ n ^ s << 17)` of those at switch `s`, modulo their number.
#[test]
fn frames_take_the_paths_of_their_hash() {
    for paths in [2, 3, 4] {
        // Host 0 at switch 0 and host 1 at switch 1; `paths` switches between these.
        let mut spec = single_switch(2, 0.0, false, Time::from_ms(3), 1);
        spec.switches = vec![spec.switches[0].clone(); 2 + paths];
        let (leaves, spines) = ([2, 3], 4..4 + paths);
        let up = spines.flat_map(|s| leaves.map(|leaf| (leaf, s)));
        let joints: Vec<_> = [(0, 2), (1, 3)].into_iter().chain(up).collect();
        place(&mut spec, &joints, &mut || (10.0, 500_000));
        spec.routing = Routing::FrameHash;
        spec.hosts[0].sources = vec![SourceSpec { stop: Time::from_ms(2), ..to(1, 0.9) }];
        for engine in BOTH {
            let out = by(engine, &spec);
            let frames = out.hosts[0].generated;
            assert!(frames > 1000 && out.hosts[1].delivered == frames);
            let mut taken = vec![0; paths];
            // The flow from host 0 to host 1 of 2 is number 1.
            (0..frames).for_each(|n| taken[(mix(1 << 32 ^ n) % paths as u64) as usize] += 1);
            // Port 0 of the first switch leads to the host.
            let sent: Vec<u64> = out.switches[0].ports[1..=paths].iter().map(|p| p.sent).collect();
            assert_eq!(sent, taken, "{engine:?}");
            let (even, spread) = (frames as f64 / paths as f64, (frames as f64 / paths as f64).sqrt());
            assert!(sent.iter().all(|&n| (n as f64 - even).abs() < 4.0 * spread), "{sent:?} are even");
        }
    }
}

/// By destination the lowest switch of two levels takes path `d` of two for host `d`, and the next one path `d / 2` of two: so each of the
/// four highest switches has one of four hosts in another part of the network.
#[test]
fn each_level_takes_another_digit_of_the_destination() {
    // Host 0 at switch 5, hosts 1 to 4 at switch 6. 7 and 8 are above 5, 9 and 10 above 6, and 11 to 14 above all.
    let hosts = [(0, 5), (1, 6), (2, 6), (3, 6), (4, 6)];
    let middle = [(5, 7), (5, 8), (6, 9), (6, 10)];
    let highest = [7, 8, 9, 10].into_iter().flat_map(|m| [0, 1].map(|n| (m, 11 + (m + 1) % 2 * 2 + n)));
    let joints: Vec<_> = hosts.into_iter().chain(middle).chain(highest).collect();
    let mut spec = single_switch(5, 0.0, false, Time::from_us(100), 1);
    spec.switches = vec![spec.switches[0].clone(); 10];
    place(&mut spec, &joints, &mut || (10.0, 500_000));
    spec.routing = Routing::Destination;
    // As many frames as the number of the host says.
    spec.hosts[0].sources = vec![flows((1..5).map(|d| flow(0, d, 1500 * u64::from(d))).collect())];
    for engine in BOTH {
        let out = by(engine, &spec);
        let sent = |s: &SwitchOutcome| s.ports.iter().map(|p| p.sent).sum::<u64>();
        assert_eq!(out.switches[6..].iter().map(sent).collect::<Vec<_>>(), [4, 2, 1, 3], "{engine:?}");
    }
}

/// A frame takes 1.2 us on a link, and each link with the node behind it 1.5 us: frame `k` of a greedy host arrives at 5.4 + 1.2 k us.
/// The reader takes 6 us for it. So 24 frames later the buffer holds what takes 121.2 us, more than 120 us: XOFF. As it acts, frame 27 is
/// under way. What has arrived is read by 173.4 us, and half of the buffer takes 60 us: XON at 113.4 us. PAUSE takes 51.2 ns and 1.5 us.
#[test]
fn a_slow_reader_says_xoff_at_its_moment() {
    let mut spec = single_switch(2, 0.0, true, Time::from_us(150), 1);
    spec.hosts[0].sources = vec![greedy(1)];
    let kind = FaultKind::Slow { rate: Rate::from_gbps(2.0), buffer: Bytes::new(30_000) };
    let (from, to, transport) = (Time::ZERO, spec.duration, PauseTransport::Frame);
    spec.events.faults = vec![PortFault { class: 0, node: NodeId(1), port: 0, from, to, transport, kind }];
    spec.record.pauses = 10;
    // A reader that gets slow as a frame comes takes 6 us for it already; one that does a picosecond later, for those from the next on.
    for (from, later) in [(5_400_000, 0), (5_400_001, 1_200_000)] {
        let mut late = spec.clone();
        late.events.faults[0].from = Time::from_ps(from);
        let decided = BOTH.map(|engine| by(engine, &late).recorded.pauses.xoffs[0].decided.as_ps());
        assert_eq!(decided, [5_400_000 + 24 * 1_200_000 + later; 2]);
    }
    for engine in BOTH {
        let xoff = by(engine, &spec).recorded.pauses.xoffs[0];
        assert_eq!((xoff.by.0, xoff.stopped), (NodeId(1), (NodeId(2), 1)));
        let told = Time::from_ps(51_200) + Time::from_ns(1500);
        assert_eq!(xoff.decided, Time::from_ns(5_400 + 24 * 1_200), "{engine:?}");
        assert_eq!(
            (xoff.from, xoff.until),
            (xoff.decided + told, Time::from_ns(113_400) + told),
            "{engine:?}"
        );
        // Fast again from 60 us on, it says XON then, with more than half of the buffer to read.
        let mut ended = spec.clone();
        ended.events.faults[0].to = Time::from_us(60);
        let xoff = by(engine, &ended).recorded.pauses.xoffs[0];
        assert_eq!(xoff.until, Time::from_us(60) + told, "{engine:?}");
    }
}

/// The third message that reaches a host is lost, and each third after it; or the fourth.
#[test]
fn each_third_or_fourth_message_is_lost() {
    let script = script().plan(|p| (p.received, p.reflect) = (true, ReflectGate::Always));
    let script = script.source(|_, _, _| {}).on_frame(|_, ctl, _| {
        let frames = ctl.received() / 1500;
        ctl.reply(Feedback::User([frames, 0]));
    });
    for each in [3, 4] {
        let mut spec = network(&[0.5]);
        spec.hosts[0].faults.feedback_lost = each;
        let seen = run_all(&script, spec).unwrap();
        let told = seen.numbers("told");
        let all = (1..).filter(|n| n % each > 0).map(|n| n as f64).take(told.len());
        assert!(told.len() > 200 && all.eq(told.iter().copied()), "{told:?}");
        let lost = seen.out.messages.lost;
        assert_eq!(lost, (lost + told.len() as u64) / u64::from(each));
    }
}

/// A message and, later, XOFF wait behind a long frame: XOFF goes first, and the message directly after it.
#[test]
fn pause_goes_before_control_that_waits() {
    let script = script().source(|_, _, _| {}).point(|at, _, ctl, _| match at {
        AtPoint::Start => ctl.sample_always(),
        AtPoint::Sample(frame) => ctl.notify(frame.flow, SAYS),
        _ => {}
    });
    // Host 1 keeps the port to host 0 busy with frames that take 7.3728 us; few of host 0 are answered by the point.
    let mut spec = network(&[0.02]);
    spec.hosts[1].sources = vec![SourceSpec { frame: Bytes::new(9216), ..greedy(0) }];
    let free = run_all(&script, spec.clone()).unwrap();
    let mut met = 0;
    for told in free.times("told").into_iter().take(12) {
        // It left at the end of a long frame, which began 7.3728 us earlier. The fault speaks shortly before that end.
        let end = told - Time::from_ps(51_200) - Time::from_ns(1500);
        let (from, to) = (end - Time::from_ns(200), end + Time::from_us(3));
        let fault = PortFault { transport: PauseTransport::Frame, ..in_xoff((3, 0), from, to) };
        let mut faulty = spec.clone();
        faulty.events.faults = vec![fault];
        faulty.record.pauses = 10;
        let seen = run_all(&script, faulty).unwrap();
        let xoff = seen.out.recorded.pauses.xoffs[0];
        assert_eq!((xoff.decided, xoff.stopped), (from, (NodeId(0), 0)));
        let now = seen.times("told");
        if !now.contains(&told) {
            assert_eq!(xoff.from, told, "XOFF leaves when the message would have");
            assert!(now.contains(&(told + Time::from_ps(51_200))), "and the message follows");
            met += 1;
        }
    }
    assert!(met > 5, "{met} messages waited with XOFF");
}

/// At 20 Mb/s a frame is followed 600 us later. 60 Mb/s that act at once, 100 us after it, let the next go 200 us after it.
#[test]
fn a_gap_counts_from_its_frame() {
    let script =
        script().gate(ReflectGate::Always).on_frame(|_, _, _| {}).source(|at, limiter, _| match at {
            AtSource::Start => {
                limiter.engage();
                limiter.set_rate(Rate::from_mbps(20.0));
                limiter.start_timer(Slot(0), Time::from_us(100));
            }
            _ => {
                limiter.set_rate(Rate::from_mbps(60.0));
                limiter.retime();
            }
        });
    let came = see(&script, &[0.9]).times("frame");
    assert!(came.len() > 3 && came.windows(2).all(|two| two[1] - two[0] == Time::from_us(200)), "{came:?}");
}

/// Two messages that a point says at one moment, without frames, take effect in that order.
#[test]
fn messages_of_a_moment_are_heard_as_they_were_said() {
    let script = script().source(|at, limiter, notes| {
        if let AtSource::Feedback(Feedback::User([gbps, _])) = at {
            notes.say(limiter.now(), format!("heard {gbps} at {}", limiter.rate().bps()));
            limiter.set_rate(Rate::from_gbps(*gbps as f64));
        }
    });
    let script = script.point(|at, _, ctl, _| {
        if let AtPoint::Sample(frame) = at {
            [7, 5].into_iter().for_each(|gbps| ctl.notify(frame.flow, Feedback::User([gbps, 0])));
        }
        ctl.sample_after(Bytes::from_kb(9));
    });
    let mut spec = network(&[0.5]);
    spec.laws.control = ControlTransport::Ideal { latency: Time::from_us(30) };
    let seen = run_all(&script, spec).unwrap();
    assert!(seen.count("heard 5") > 20 && seen.count("heard 5") == seen.count("heard 5 at 7000000000"));
}

/// Frame 10 of a flow arrives at 17.4 us and is acknowledged. A timer of the reflector expires at that moment, and what it says goes first
/// on the link: the start of a transmission is the last that happens at a moment.
#[test]
fn a_start_waits_for_a_timer_of_its_moment() {
    let script = script().gate(ReflectGate::Always).source(|_, _, _| {}).sink(|at, ctl, _| match at {
        AtSink::Start => ctl.start_timer(Slot(0), Time::from_us(12)),
        AtSink::Timer(_) => ctl.reply(SAYS),
        _ => {}
    });
    let mut spec = network(&[]);
    spec.transport = Some(TRANSPORT);
    spec.hosts[0].sources = vec![flows(vec![flow(0, TO, 30_000)])];
    let told = run_all(&script, spec).unwrap().times("told");
    assert_eq!(told, [Time::from_ps(17_400_000 + 2 * (51_200 + 1_500_000))]);
}

/// Frame `k` is in the switch 2.7 + 1.2 `k` us after the begin, and its output stands. Four find room: of 40 that come within 50 us 36 are
/// discarded, and of 82 within 100 us 78. The last bin ends with the run.
#[test]
fn what_is_discarded_is_counted_by_bin() {
    let mut spec = single_switch(2, 0.0, false, Time::from_us(100), 1);
    spec.hosts[0].sources = vec![greedy(1)];
    spec.switches[0].buffer.share = Bytes::new(6000);
    spec.events.changes = vec![change(0, 2, 1, 0.0)];
    (spec.record.bin, spec.record.queues) = (Time::from_us(50), vec![(NodeId(2), 1)]);
    for engine in BOTH {
        let all = by(engine, &spec).recorded.series;
        let of = |is: fn(&SeriesKind) -> bool| all.iter().find(|s| is(&s.kind)).unwrap().values.clone();
        assert_eq!(of(|kind| matches!(kind, SeriesKind::Discarded { .. })), [36.0, 78.0], "{engine:?}");
        assert_eq!(of(|kind| matches!(kind, SeriesKind::Dropped { .. })), [36.0, 78.0], "{engine:?}");
        assert_eq!(of(|kind| matches!(kind, SeriesKind::Queue { .. })), [6000.0; 2], "{engine:?}");
    }
}

/// A message takes effect so long after it has come, in a frame or without one.
#[test]
fn feedback_takes_effect_after_its_delay() {
    let script =
        script().gate(ReflectGate::Always).source(|_, _, _| {}).on_frame(|_, ctl, _| ctl.reply(SAYS));
    for control in [ControlTransport::Priority, ControlTransport::Ideal { latency: Time::from_us(30) }] {
        let told = |delay| {
            let mut spec = network(&[0.1]);
            (spec.laws.control, spec.hosts[0].feedback_delay) = (control, delay);
            run_all(&script, spec).unwrap().times("told")
        };
        let (at_once, delay) = (told(Time::ZERO), Time::from_us(7));
        let later: Vec<_> =
            at_once.iter().map(|at| *at + delay).filter(|at| *at < Time::from_ms(1)).collect();
        assert!(later.len() > 50 && told(delay) == later, "{control:?}");
    }
}

/// A port stands from 20 to 60 us, whatever the order in which that is listed. 15 frames begin to leave before, and 32 that leave from 60 us
/// on arrive within 100 us.
#[test]
fn changes_of_rates_come_by_time() {
    let mut spec = single_switch(2, 0.0, false, Time::from_us(100), 1);
    spec.hosts[0].sources = vec![greedy(1)];
    let (stands, serves) = (change(20, 2, 1, 0.0), change(60, 2, 1, 10.0));
    for changes in [[stands, serves], [serves, stands]] {
        spec.events.changes = changes.into();
        assert_eq!(BOTH.map(|engine| by(engine, &spec).hosts[1].delivered), [15 + 32; 2]);
    }
}

/// Each link and the node behind it take 0.1 us.
fn near_by(spec: &mut RunSpec) {
    spec.hosts.iter_mut().for_each(|host| host.processing = Time::ZERO);
    spec.switches[0].processing = Time::ZERO;
    spec.links.iter_mut().for_each(|link| link.delay = Time::from_ns(100));
}

/// A frame takes 1.2 us on each link, and each link takes 0.1 us. What ends with the run has not left, and has not arrived. In a run that
/// lasts a picosecond longer it has.
#[test]
fn what_ends_with_the_run_has_not_left() {
    let mut spec = single_switch(2, 0.0, false, Time::from_us(1), 1);
    near_by(&mut spec);
    spec.hosts[0].sources = vec![flows(vec![flow(0, 1, 1500)])];
    for (ns, before, then) in
        [(1200, [0, 0, 0], [1, 0, 0]), (2500, [1, 0, 0], [1, 1, 0]), (2600, [1, 1, 0], [1; 3])]
    {
        for (more, left) in [(0, before), (1, then)] {
            spec.duration = Time::from_ps(ns * 1000 + more);
            for (engine, visits) in
                [(Engine::Model, Visits::Adaptive), (Engine::Fast, Visits::All), (Engine::Fast, Visits::Due)]
            {
                let out = run(&spec, &Options { engine, visits, ..Options::default() }).unwrap();
                let seen = [out.hosts[0].sent, out.switches[0].ports[1].sent, out.hosts[1].delivered];
                assert_eq!(seen, left, "{ns} ns and {more} ps, {engine:?}, {visits:?}");
            }
        }
    }
}

/// Frames of 9216 B take 7.3728 us, and each link takes 0.1 us: frame `k` of host 0 is in the switch 7.3728 `k` + 7.4728 us after the begin.
/// Its port to host 2 stands, so arithmetic knows when a memory is above its watermark. XOFF is heard 0.1512 us later, and host 1 sends a
/// short frame each 51.2 ns until then. Hosts may run far ahead of a switch that takes frames in, but no further than that.
#[test]
fn nobody_runs_ahead_of_an_xoff() {
    let (slot, told) = (7_372_800, 51_200 + 100_000);
    for high in (2..15).map(|n| 10_000 * n) {
        let mut spec = single_switch(3, 0.0, true, Time::from_us(300), 1);
        near_by(&mut spec);
        spec.hosts[0].sources = vec![SourceSpec { frame: Bytes::new(9216), ..greedy(2) }];
        spec.hosts[1].sources = vec![SourceSpec { frame: Bytes::new(64), ..greedy(0) }];
        spec.events.changes = vec![change(0, 3, 2, 0.0)];
        let buffer = &mut spec.switches[0].buffer;
        let (mark, global) = (Bytes::new(high), true);
        buffer.pause = buffer.pause.map(|pause| PauseSpec { high: mark, low: mark, global, ..pause });
        buffer.share = Bytes::from_mb(1);
        spec.record.pauses = 1;
        let decided = 100_000 + slot * (high / 9216 + 1);
        for (engine, visits) in [(Engine::Model, Visits::All), (Engine::Fast, Visits::Turns)] {
            let out = run(&spec, &Options { engine, visits, ..Options::default() }).unwrap();
            let xoff = out.recorded.pauses.xoffs[0];
            let times = (xoff.decided.as_ps(), xoff.from.as_ps());
            assert_eq!(times, (decided, decided + told), "{high}, {engine:?}");
            assert_eq!(out.hosts[1].sent, (decided + told).div_ceil(51_200), "{high}, {engine:?}");
        }
    }
}
