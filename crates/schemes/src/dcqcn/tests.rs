//! Numbers worked out by hand.

use super::*;
use cnsim_scheme_api::network::{
    Lent, LimiterAction, LimiterState, Purpose, ReflectorAction, ReflectorState, Stream,
};
use cnsim_scheme_api::testing::{Promise, ReactionRig, conformance};
use cnsim_scheme_api::{FlowId, NodeId, Params, Tag};

const LINE: Rate = Rate::from_gbps(40.0);

fn rig(p: DcqcnParams) -> ReactionRig {
    ReactionRig::new(Dcqcn::new(p), LINE)
}

fn close(rate: Rate, gbps: f64) -> bool {
    (rate.gbps() - gbps).abs() < 1e-9
}

#[test]
fn equations_by_hand() {
    let p = DcqcnParams::default();
    assert_eq!(ramp(&p, LINE).probability(102_500), 0.005);
    assert_eq!((ramp(&p, LINE).probability(5_000), ramp(&p, LINE).probability(200_001)), (0.0, 1.0));
    assert_eq!((decayed(0.8, 0.5, 0), decayed(0.8, 0.5, 3)), (0.8, 0.1));
    assert_eq!(raised(0.5, 0.25), 0.625);
    assert_eq!(decayed(1.0, 1.0 / 256.0, u64::MAX), 0.0);
    assert_eq!(cut(&p, Rate::from_gbps(8.0), 0.25).gbps(), 7.0);
    assert_eq!(cut(&p, Rate::from_mbps(50.0), 1.0).mbps(), 40.0, "the floor");
    let kept = DcqcnParams { gd: 1.0, min_dec_fac: 0.6, ..p };
    assert_eq!(cut(&kept, Rate::from_gbps(10.0), 1.0).gbps(), 6.0);
}

#[test]
fn stages_by_hand() {
    let p = DcqcnParams::default();
    let step = |time, byte| target_step(&p, stage(Stages::Both, 5, time, byte)).mbps();
    assert_eq!((step(5, 5), step(6, 0), step(0, 6), step(60, 5)), (0.0, 40.0, 40.0, 40.0));
    assert_eq!((step(6, 6), step(8, 7)), (400.0, 800.0));
    let fixed = DcqcnParams { hai_step: HaiStep::Fixed, ..p.clone() };
    assert_eq!(target_step(&fixed, stage(Stages::Both, 5, 8, 7)).mbps(), 400.0);
}

/// At 100 Gb/s the thresholds of a port of 40 Gb/s are two and a half times as large.
#[test]
fn thresholds_grow_with_the_rate() {
    let p = DcqcnParams { k_rate: Some(LINE), ..DcqcnParams::default() };
    let at = |gbps| ramp(&p, Rate::from_gbps(gbps));
    assert_eq!((at(40.0).low, at(40.0).high), (Bytes::from_kb(5), Bytes::from_kb(200)));
    assert_eq!((at(100.0).low, at(100.0).high), (Bytes::new(12_500), Bytes::from_kb(500)));
    assert_eq!(at(10.0).high, Bytes::from_kb(50));
}

/// Expiries of the timer alone: fewer than two are fast recovery, two additive, more hyper; the byte counter says nothing.
#[test]
fn stages_of_the_timer() {
    let p = DcqcnParams { stages: Stages::Timer, ..DcqcnParams::default() };
    let step = |time, byte| target_step(&p, stage(p.stages, 2, time, byte)).mbps();
    assert_eq!((step(0, 9), step(1, 0), step(2, 0), step(3, 0), step(5, 7)), (0.0, 0.0, 40.0, 400.0, 1200.0));
    // As in HPCC's simulator: F = 1, looked up before counting, steps that do not grow.
    let p = DcqcnParams {
        stages: Stages::Timer,
        threshold: 1,
        stage_test: StageTest::Before,
        hai_step: HaiStep::Fixed,
        byte_reset: None,
        ..p
    };
    let mut rig = rig(p);
    (0..2).for_each(|_| rig.feedback(&Feedback::Cnp));
    let (mut rate, mut target) = (rig.rate().gbps(), 20.0);
    for step in [0.0, 0.04, 0.4, 0.4] {
        rig.wait(Time::from_us(55));
        target += step;
        rate = (rate + target) / 2.0;
        assert!(close(rig.rate(), rate), "{step}: {}", rig.rate());
    }
}

/// CNPs at 0, 1 and 9 us, a clock of 4 us, alpha 1 with a period of 1 us and a gain of a half: cuts at 4 and 12 us. Alpha at 4 us:
/// 0.5 after the first period, which saw none but the CNP that began it; 0.75 after the second, which saw that of 1 us; then 0.375
/// and 0.1875. At 9 us, after five silent periods, 0.1875 / 32; raised at 10, as a CNP came; two silent periods more until 12.
#[test]
fn cuts_by_the_clock() {
    let mut rig = rig(DcqcnParams {
        g: 0.5,
        alpha_period: Time::from_us(1),
        alpha_update: AlphaUpdate::Periodic,
        cut_period: Some(Time::from_us(4)),
        cut_when: CutWhen::Periodic,
        ..DcqcnParams::default()
    });
    rig.feedback(&Feedback::Cnp);
    assert!(rig.engaged() && rig.rate() == LINE, "nothing is cut yet");
    rig.wait(Time::from_us(1));
    rig.feedback(&Feedback::Cnp);
    rig.wait(Time::from_ps(2_999_999));
    assert_eq!(rig.rate(), LINE);
    rig.wait(Time::from_ps(1));
    let first = 40.0 * (1.0 - 0.1875 / 2.0);
    assert!(close(rig.rate(), first), "{}", rig.rate());
    rig.wait(Time::from_us(5));
    assert!(close(rig.rate(), first), "no CNP waited at 8 us");
    rig.feedback(&Feedback::Cnp);
    rig.wait(Time::from_us(3));
    let alpha = (0.1875 / 32.0 * 0.5 + 0.5) / 4.0;
    assert!(close(rig.rate(), first * (1.0 - alpha / 2.0)), "{}", rig.rate());
}

/// 40 -> 20 with alpha 1; five expiries go half-way to 40; the sixth would raise the target above the line.
#[test]
fn first_cut_and_fast_recovery() {
    let mut rig = rig(DcqcnParams::default());
    rig.feedback(&Feedback::Cnp);
    assert!(rig.engaged() && close(rig.rate(), 20.0));
    for expected in [30.0, 35.0, 37.5, 38.75, 39.375] {
        rig.wait(Time::from_us(55));
        assert!(close(rig.rate(), expected), "{}", rig.rate());
    }
    rig.send(10_000_000);
    assert!(close(rig.rate(), 39.6875), "the byte counter is a stage of its own");
}

/// Two cuts 110 us apart: alpha 1, then two periods of decay; the target is the rate before the second cut.
#[test]
fn alpha_by_hand() {
    let g = 0.5;
    let mut rig = rig(DcqcnParams { g, ..DcqcnParams::default() });
    rig.feedback(&Feedback::Cnp);
    rig.wait(Time::from_us(110));
    assert!(close(rig.rate(), 35.0));
    // alpha = 1 x 0.5 x 0.5 when it cuts: 35 x (1 - 0.125); then 0.625.
    rig.feedback(&Feedback::Cnp);
    assert!(close(rig.rate(), 30.625));
    rig.wait(Time::from_us(50));
    rig.feedback(&Feedback::Cnp);
    assert!(close(rig.rate(), 30.625 * (1.0 - 0.3125)), "no whole period has passed: {}", rig.rate());
}

/// Alpha first: 1 stays 1; after two periods 0.25 becomes 0.625 before the cut. Periodic: the first period saw a CNP.
#[test]
fn alpha_readings() {
    let second = |p: DcqcnParams| {
        let mut rig = rig(DcqcnParams { g: 0.5, initial_alpha: 0.5, ..p });
        rig.feedback(&Feedback::Cnp);
        rig.wait(Time::from_us(110));
        let before = rig.rate();
        rig.feedback(&Feedback::Cnp);
        2.0 * (1.0 - rig.rate().bps() / before.bps())
    };
    let p = DcqcnParams::default();
    assert!((second(p.clone()) - 0.1875).abs() < 1e-12, "0.5, raised to 0.75, two periods");
    let first = DcqcnParams { cut_order: CutOrder::AlphaFirst, ..p.clone() };
    assert!((second(first) - (0.1875 * 0.5 + 0.5)).abs() < 1e-12);
    let periodic = DcqcnParams { alpha_update: AlphaUpdate::Periodic, ..p };
    assert!((second(periodic) - 0.375).abs() < 1e-12, "0.5, raised to 0.75, one period");
}

/// From the sixth expiry on the target rises by 40 Mb/s; with both counters past five by multiples of 400.
#[test]
fn increase_by_hand() {
    let mut rig = rig(DcqcnParams::default());
    (0..3).for_each(|_| rig.feedback(&Feedback::Cnp));
    let (mut rate, mut target) = (rig.rate().gbps(), 40.0 * 0.5 * 0.5);
    assert!((rate - 5.0).abs() < 1e-9);
    for expiry in 1..=8 {
        rig.wait(Time::from_us(55));
        target += if expiry > 5 { 0.04 } else { 0.0 };
        rate = (rate + target) / 2.0;
        assert!(close(rig.rate(), rate), "{expiry}: {}", rig.rate());
    }
    for count in 1..=7 {
        rig.send(10_000_000);
        target += if count > 5 { 0.4 * f64::from(count - 5) } else { 0.04 };
        rate = (rate + target) / 2.0;
        assert!(close(rig.rate(), rate), "{count}: {}", rig.rate());
    }
}

/// F = 1, no byte counter, looked up before counting: fast, additive, and never hyper.
#[test]
fn stage_before_counting() {
    let p = DcqcnParams { threshold: 1, byte_reset: None, ..DcqcnParams::default() };
    let target_of = |test| {
        let mut rig = rig(DcqcnParams { stage_test: test, ..p.clone() });
        (0..2).for_each(|_| rig.feedback(&Feedback::Cnp));
        let mut rate = rig.rate();
        (0..3)
            .map(|_| {
                rig.wait(Time::from_us(55));
                let target = rig.rate() * 2.0 - rate;
                rate = rig.rate();
                (target.mbps() - 20_000.0).round()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(target_of(StageTest::After), [0.0, 40.0, 80.0]);
    assert_eq!(target_of(StageTest::Before), [0.0, 0.0, 40.0]);
}

/// Without clamping the target survives a second cut unless stages lie between.
#[test]
fn clamping() {
    let next = |p: DcqcnParams, wait| {
        let mut rig = rig(p);
        rig.feedback(&Feedback::Cnp);
        rig.wait(Time::from_us(wait));
        let before = rig.rate().gbps();
        rig.feedback(&Feedback::Cnp);
        let after = rig.rate().gbps();
        rig.wait(Time::from_us(55));
        (before, 2.0 * rig.rate().gbps() - after)
    };
    let off = DcqcnParams { clamp_tgt_rate: false, ..DcqcnParams::default() };
    let never = DcqcnParams { clamp_tgt_rate_after_time_inc: false, ..off.clone() };
    let (before, target) = next(DcqcnParams::default(), 10);
    assert!((before - target).abs() < 1e-9);
    assert!((next(off.clone(), 10).1 - 40.0).abs() < 1e-9);
    let (before, target) = next(off, 60);
    assert!((before - target).abs() < 1e-9, "a timer stage lies between");
    assert!((next(never, 60).1 - 40.0).abs() < 1e-9);
}

#[test]
fn first_rate_and_cut_period() {
    let rate_on_first_cnp = Some(Rate::from_gbps(10.0));
    let cut_period = Some(Time::from_us(4));
    let mut rig = rig(DcqcnParams { rate_on_first_cnp, cut_period, ..DcqcnParams::default() });
    rig.feedback(&Feedback::Cnp);
    rig.feedback(&Feedback::Cnp);
    assert!(close(rig.rate(), 5.0), "the second comes too soon");
    rig.wait(Time::from_us(4));
    rig.feedback(&Feedback::Cnp);
    assert!(close(rig.rate(), 2.5));
}

#[test]
fn release() {
    let mut kept = rig(DcqcnParams::default());
    let mut given = rig(DcqcnParams { release: Release::AtLineRate, ..DcqcnParams::default() });
    for rig in [&mut kept, &mut given] {
        rig.feedback(&Feedback::Cnp);
        rig.wait(Time::from_ms(4));
        assert_eq!(rig.rate(), LINE);
    }
    assert!(kept.engaged() && !given.engaged());
}

/// With `echo = frames` each frame is answered, by a CNP if it is marked, and a message without a mark moves nothing.
#[test]
fn every_frame_is_answered() {
    let scheme = Dcqcn::new(DcqcnParams { echo: Echo::Frames, ..DcqcnParams::default() });
    let site = SinkSite { flow: FlowId(1), src: NodeId(0), dst: NodeId(1), line_rate: LINE };
    assert_eq!(scheme.plan().reflect, ReflectGate::Always);
    let mut object = scheme.reflector(&site).unwrap();
    let mut state = ReflectorState::new(Stream::new(1, 1, Purpose::Reflector), &scheme.plan());
    let mut said = Vec::new();
    for marked in [false, true, true, false] {
        let (len, tag) = (Bytes::new(1500), Tag::None);
        let view =
            FrameView { flow: FlowId(1), src: NodeId(0), dst: NodeId(1), len, marked, tag, dropped: false };
        object.on_frame(&view, &mut ReflectorControl::new(Time::from_us(1), &mut state, &mut said));
        assert_eq!((state.gate, state.listens(Time::from_us(1))), (ReflectGate::Always, true));
    }
    let replies: Vec<Feedback> = said
        .iter()
        .filter_map(|a| if let ReflectorAction::Reply(feedback) = a { Some(*feedback) } else { None })
        .collect();
    assert_eq!(replies, [Feedback::Reflection, Feedback::Cnp, Feedback::Cnp, Feedback::Reflection]);
    let mut rig = rig(DcqcnParams { echo: Echo::Frames, ..DcqcnParams::default() });
    rig.feedback(&Feedback::Reflection);
    assert!(rig.rate() == LINE && !rig.engaged() && !scheme.engages(&Feedback::Reflection));
}

/// Times, in us, of the CNPs for marked (true) and unmarked frames at these times.
fn cnps(spacing: CnpSpacing, frames: &[(u64, bool)]) -> Vec<u64> {
    let p = DcqcnParams { cnp_spacing: spacing, ..DcqcnParams::default() };
    let site = SinkSite { flow: FlowId(1), src: NodeId(0), dst: NodeId(1), line_rate: LINE };
    let scheme = Dcqcn::new(p);
    let mut object = scheme.reflector(&site).unwrap();
    let stream = Stream::new(1, 1, Purpose::Reflector);
    let mut state = ReflectorState::new(stream, &scheme.plan());
    let mut said = Vec::new();
    object.start(&mut ReflectorControl::new(Time::ZERO, &mut state, &mut said));
    let mut times = Vec::new();
    for &(at, marked) in frames {
        let now = Time::from_us(at);
        let heard = match state.gate {
            ReflectGate::Always => true,
            _ => marked,
        };
        if !(heard && state.listens(now)) {
            continue;
        }
        let (len, tag) = (Bytes::new(1500), Tag::None);
        let view =
            FrameView { flow: FlowId(1), src: NodeId(0), dst: NodeId(1), len, marked, tag, dropped: false };
        said.clear();
        object.on_frame(&view, &mut ReflectorControl::new(now, &mut state, &mut said));
        if said.iter().any(|a| matches!(a, ReflectorAction::Reply(Feedback::Cnp))) {
            times.push(at);
        }
    }
    times
}

#[test]
fn cnp_spacing() {
    let frames = [(10, true), (59, true), (61, false), (70, true), (119, false), (121, true), (171, false)];
    assert_eq!(cnps(CnpSpacing::SinceLast, &frames), [10, 70, 121]);
    assert_eq!(cnps(CnpSpacing::Deferred, &frames), [10, 61, 119, 171]);
    // All marked: one per window of 50 us, at its first frame.
    let all: Vec<_> = (0..100).map(|i| (i * 10, true)).collect();
    let times = cnps(CnpSpacing::Windows, &all);
    assert!(
        (19..=21).contains(&times.len()) && times[2..].windows(2).all(|w| w[1] - w[0] == 50),
        "{times:?}"
    );
    assert_eq!(cnps(CnpSpacing::SinceLast, &all).len(), 20);
    // At its end: the first frame of the next one brings it, one window after the mark at the most, marked or not.
    let ends = cnps(CnpSpacing::WindowEnd, &all);
    assert!((18..=20).contains(&ends.len()) && ends.windows(2).all(|w| w[1] - w[0] == 50), "{ends:?}");
    assert!(times[1..].starts_with(&ends[..5]), "{ends:?}, {times:?}");
    let one: Vec<_> = (0..100).map(|i| (i, i == 20)).collect();
    let late = cnps(CnpSpacing::WindowEnd, &one);
    assert!(late.len() == 1 && late[0] > 20 && late[0] <= 70, "{late:?}");
    let two = [(20, true), (21, true), (500, false), (501, false), (502, true), (900, true), (960, false)];
    assert_eq!(cnps(CnpSpacing::WindowEnd, &two), [500, 900, 960]);
}

/// The first window of a destination ends at a drawn part of an interval: the frames of each microsecond are marked, the first one has a
/// CNP, and so has the first one behind that end.
#[test]
fn windows_begin_at_a_drawn_phase() {
    let drawn = Stream::new(1, 1, Purpose::Reflector).uniform() * 50.0;
    assert!((2.0..48.0).contains(&drawn), "{drawn}");
    let all: Vec<_> = (0..200).map(|us| (us, true)).collect();
    let first = drawn.ceil() as u64;
    assert_eq!(cnps(CnpSpacing::Windows, &all), [0, first, first + 50, first + 100, first + 150]);
    assert_eq!(cnps(CnpSpacing::WindowEnd, &all), [first, first + 50, first + 100, first + 150]);
}

#[test]
fn idle_keys() {
    let keys = |p: DcqcnParams| p.idle().iter().map(|i| i.0).collect::<Vec<_>>();
    let usual = ["min_dec_fac", "clamp_tgt_rate_after_time_inc", "cut_when"];
    assert_eq!(keys(DcqcnParams::default()), usual);
    let clock = DcqcnParams {
        cut_when: CutWhen::Periodic,
        cut_period: Some(Time::from_us(4)),
        stages: Stages::Timer,
        byte_reset: None,
        ..DcqcnParams::default()
    };
    assert_eq!(keys(clock), ["min_dec_fac", "clamp_tgt_rate_after_time_inc", "cut_order"]);
    let p = DcqcnParams {
        clamp_tgt_rate: false,
        gd: 1.0,
        min_dec_fac: 0.5,
        byte_reset: None,
        ..DcqcnParams::default()
    };
    assert_eq!(keys(p), ["cut_when", "hai_rate", "hai_step"]);
    // Where each frame or acknowledgement says its mark, no CNP is spaced; nor where the interval is 0.
    let spaced = |echo, interval| {
        let cnp_interval = Time::from_us(interval);
        let all = DcqcnParams { echo, cnp_interval, ..DcqcnParams::default() }.idle();
        all.into_iter().map(|i| i.0).filter(|key| key.starts_with("cnp_")).collect::<Vec<_>>()
    };
    for echo in [Echo::Frames, Echo::Acks] {
        assert_eq!(spaced(echo, 50), ["cnp_interval", "cnp_spacing"]);
    }
    assert_eq!((spaced(Echo::Marks, 50), spaced(Echo::Marks, 0)), (vec![], vec!["cnp_spacing"]));
}

/// Every reading keeps the promises of the default one.
#[test]
fn every_reading_conforms() {
    for readings in [
        &[("mark_at", "arrival")][..],
        &[("cnp_interval", "0 s")][..],
        &[("cnp_spacing", "since-last")][..],
        &[("cnp_spacing", "windows")][..],
        &[("cnp_spacing", "window-end")][..],
        &[("alpha_update", "periodic")][..],
        &[("cut_order", "alpha-first")][..],
        &[("initial_alpha", "0")][..],
        &[("gd", "1")][..],
        &[("cut_period", "4 us")][..],
        &[("rate_on_first_cnp", "1 Gb/s")][..],
        &[("clamp_tgt_rate", "off")][..],
        &[("byte_reset", "off")][..],
        &[("stage_test", "before")][..],
        &[("hai_step", "fixed")][..],
        &[("release", "at-line-rate")][..],
        &[("k_rate", "10 Gb/s")][..],
        &[("stages", "timer")][..],
        &[("cut_period", "4 us"), ("cut_when", "periodic")][..],
        &[("cut_period", "4 us"), ("cut_when", "periodic"), ("release", "at-line-rate")][..],
    ] {
        let mut p = DcqcnParams::default();
        readings.iter().for_each(|(key, value)| p.set(key, value).unwrap());
        let recovers = Some((Bytes::from_mb(100), Time::from_ms(200)));
        let promise = Promise { floor: Rate::from_mbps(40.0), reacts: true, recovers, ..Promise::default() };
        let broken = conformance(&|| Box::new(Dcqcn::new(p.clone())), promise).err().unwrap_or_default();
        assert!(broken.is_empty(), "{readings:?}: {broken:#?}");
    }
}

/// Rates after each CNP and each change, over random CNPs and bytes sent, and how often the timer expired. `restless`: a timer and
/// a byte counter that were not started again go on all the same.
fn course(p: &DcqcnParams, seed: u64, restless: bool) -> (Vec<(u64, u64)>, u32) {
    let mut r = Stream::new(seed, 5, Purpose::Test);
    let mut state = LimiterState::new(LINE, Stream::new(seed, 1, Purpose::Reaction));
    let mut object = Reaction::new(Arc::new(p.clone()), None);
    let (mut timers, mut rates, mut expiries) = ([None; 2], Vec::new(), 0);
    for us in 0..60_000 {
        let now = Time::from_us(us);
        let mut actions = Vec::new();
        let (before, mut cnp) = (state.rate, false);
        let sent = r.below(50_000) as i64;
        state.countdown -= sent;
        if state.countdown <= 0 {
            state.disarm();
            object.on_bytes(&mut Limiter::new(now, &mut state, &mut actions));
        }
        if timers[1].is_some_and(|at| at <= now) {
            timers[1] = None;
            object.on_timer(CHECK, &mut Limiter::new(now, &mut state, &mut actions));
        }
        if timers[0].is_some_and(|at| at <= now) {
            timers[0] = restless.then(|| now + p.time_reset);
            expiries += 1;
            object.on_timer(INCREASE, &mut Limiter::new(now, &mut state, &mut actions));
            if restless
                && state.countdown > 1 << 40
                && let Some(bytes) = p.byte_reset
            {
                Limiter::new(now, &mut state, &mut actions).wake_after(bytes);
            }
        }
        // Now and then a few in a row, and long silences.
        if us % 16_384 < 300 && r.below(60) == 0 {
            cnp = true;
            object.on_feedback(&Feedback::Cnp, &mut Limiter::new(now, &mut state, &mut actions));
        }
        for action in actions {
            if let LimiterAction::StartTimer(slot, after) = action {
                timers[usize::from(slot.0)] = Some(now + after);
            }
        }
        if cnp || state.rate != before {
            rates.push((us, state.rate.bps().to_bits()));
        }
    }
    (rates, expiries)
}

/// Timer and byte counter rest where the flow is back at its line rate, and nothing shows it.
#[test]
fn rest_at_line_rate() {
    let p = DcqcnParams { g: 0.5, byte_reset: Some(Bytes::from_kb(800)), ..DcqcnParams::default() };
    let off = DcqcnParams { clamp_tgt_rate: false, ..p.clone() };
    for p in [
        DcqcnParams { clamp_tgt_rate_after_time_inc: false, ..off.clone() },
        DcqcnParams {
            alpha_update: AlphaUpdate::Periodic,
            cut_period: Some(Time::from_us(200)),
            ..off.clone()
        },
        DcqcnParams {
            stages: Stages::Timer,
            cut_when: CutWhen::Periodic,
            cut_period: Some(Time::from_us(8)),
            ..off.clone()
        },
        DcqcnParams { byte_reset: None, initial_alpha: 0.0, cut_order: CutOrder::AlphaFirst, ..p.clone() },
        DcqcnParams {
            release: Release::AtLineRate,
            stage_test: StageTest::Before,
            threshold: 0,
            ..p.clone()
        },
        off,
        p,
    ] {
        let (mut rests, mut changes) = (0, 0);
        for seed in 0..4 {
            let (rates, expiries) = course(&p, seed, false);
            let (all, more) = course(&p, seed, true);
            assert!(rates == all, "{p:?}, {seed}");
            rests += more - expiries;
            changes += rates.len();
        }
        assert!(changes > 200 && rests > 50, "{p:?}: {changes}, {rests}");
    }
}

/// Marks on acknowledgements act as CNPs do, at the same times.
#[test]
fn marks_on_acknowledgements_are_cnps() {
    let line = Rate::from_gbps(40.0);
    let p = |echo| DcqcnParams { echo, ..DcqcnParams::default() };
    let mut by_cnp = ReactionRig::new(Dcqcn::new(p(Echo::Marks)), line);
    let mut by_ack = ReactionRig::new(Dcqcn::new(p(Echo::Acks)), line);
    by_ack.begin();
    assert!(by_ack.engaged() && by_ack.rate() == line);
    for step in 1..200_u64 {
        let marked = step % 7 == 0;
        for rig in [&mut by_cnp, &mut by_ack] {
            rig.wait(Time::from_us(9));
            rig.frame(1500);
        }
        if marked {
            by_cnp.feedback(&Feedback::Cnp);
        }
        assert_eq!(by_ack.ack(step * 1500, marked, Time::from_us(9), &[]), marked, "others do not wake it");
        assert_eq!(by_cnp.rate(), by_ack.rate(), "step {step}");
    }
    assert!(by_ack.rate() < line * 0.5);
    let release = DcqcnParams { release: Release::AtLineRate, ..p(Echo::Acks) };
    let mut back = ReactionRig::new(Dcqcn::new(release), line);
    back.frame(1500);
    back.ack(1500, true, Time::from_us(9), &[]);
    assert_eq!(back.rate(), line * 0.5);
    for _ in 0..4000 {
        back.wait(Time::from_us(55));
        back.frame(1500);
    }
    assert!(back.engaged() && back.rate() == line, "{}", back.rate());
    back.ack(3000, true, Time::from_us(9), &[]);
    assert_eq!(back.rate(), line * 0.5, "alpha is that of a first CNP again");
    let mut begun = ReactionRig::new(Dcqcn::new(p(Echo::Acks)), line);
    begun.site.initial_rate = Some(Rate::from_gbps(7.0));
    begun.begin();
    assert_eq!(begun.rate(), Rate::from_gbps(7.0));
}

/// `hpcc-paper` differs from `hpcc` in three clocks.
#[test]
fn the_presets_of_hpcc() {
    let of = |name: &str| {
        PRESETS.iter().find(|p| p.name == name).map(|p| (p.values)(Rate::from_gbps(100.0))).unwrap()
    };
    let (new, paper) = (of("hpcc"), of("hpcc-paper"));
    let differ: Vec<_> =
        new.iter().zip(&paper).filter(|(a, b)| a != b).map(|(_, b)| (b.0, b.1.as_str())).collect();
    assert_eq!(differ, [("alpha_period", "50 us"), ("cut_period", "50 us"), ("time_reset", "55 us")]);
    // Marks and steps by the Gb/s of the links, here 100: 4 and 16 KB, 0.2 and 2 Mb/s; floors of 40 Mb/s for each are 1 Gb/s at most.
    for (key, due) in [
        ("k_min", "400 KB"),
        ("k_max", "1600 KB"),
        ("k_rate", "100 Gb/s"),
        ("p_max", "0.2"),
        ("ai_rate", "20 Mb/s"),
        ("hai_rate", "200 Mb/s"),
        ("min_rate", "1000 Mb/s"),
    ] {
        assert!(new.contains(&(key, due.to_string())), "{key}: {new:?}");
    }
}

/// A table sets the marks of the rates that it names, whichever way they grow; other ports keep `k_min` and `k_max`. DCTCP reads it, too.
#[test]
fn marks_of_a_table() {
    let table = "100 Gb/s: 400 KB to 1.6 MB at 0.2; 400 Gb/s: 300 KB to 300 KB at 0.8";
    let mut p = DcqcnParams::default();
    p.set("k_table", table).unwrap();
    let marks = |r: Ramp| (r.low.get() / 1000, r.high.get() / 1000, r.p_max, r.p_beyond);
    let of = |gbps: f64| marks(ramp(&p, Rate::from_gbps(gbps)));
    assert_eq!(
        [of(100.0), of(400.0), of(40.0)],
        [(400, 1600, 0.2, 1.0), (300, 300, 0.8, 1.0), (5, 200, 0.01, 1.0)]
    );
    let mut dctcp = crate::dctcp::DctcpParams::default();
    dctcp.set("k_table", table).unwrap();
    assert_eq!(marks(crate::dctcp::step(&dctcp, Rate::from_gbps(100.0))), (400, 1600, 0.2, 1.0));
    assert_eq!(marks(crate::dctcp::step(&dctcp, Rate::from_gbps(10.0))).0, 97);
    let shown = p.values().into_iter().find(|v| v.0 == "k_table").unwrap().1;
    let mut again = DcqcnParams::default();
    again.set("k_table", &shown).unwrap();
    assert_eq!(again.k_table, p.k_table, "{shown}");
    for bad in [
        "100 Gb/s", "100 Gb/s: 2 KB to 1 KB at 1", "100: 1 KB to 2 KB at 1", "1 Gb/s: 1 KB to 2 KB at 2",
        "0 Gb/s: 1 KB to 2 KB at 1",
    ] {
        assert!(p.set("k_table", bad).is_err(), "{bad}");
    }
}
