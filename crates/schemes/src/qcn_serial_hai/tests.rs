//! Serial HAI by hand.

use super::*;
use cnsim_scheme_api::network::{Lent, LimiterState, Purpose, Stream};
use cnsim_scheme_api::testing::{PointRig, ReactionRig};
use cnsim_scheme_api::{Params, Tag};

const LINE: Rate = Rate::from_gbps(10.0);

/// No jitter, and what else is set.
fn params(sets: &[(&str, &str)]) -> SerialHaiParams {
    let mut params = SerialHaiParams { jitter: 0.0, rp_jitter: 0.0, ..SerialHaiParams::default() };
    sets.iter().for_each(|(key, text)| params.set(key, text).unwrap());
    params
}

fn reaction(sets: &[(&str, &str)]) -> ReactionRig {
    ReactionRig::new(SerialHai(params(sets)), LINE)
}

/// Sends and waits as the limiter would, until `rate` is reached or `frames` are sent; the time that took.
fn run(rig: &mut ReactionRig, rate: Rate, frames: u32) -> Time {
    let mut past = Time::ZERO;
    for _ in 0..frames {
        if rig.rate() >= rate {
            break;
        }
        // In small steps: a gap at 10 Mb/s is long, and the rate may rise within it.
        let mut left = 12_000.0;
        while left > 0.0 {
            let gap = (left / rig.rate().bps()).min(1e-5);
            left -= (gap * rig.rate().bps()).max(1e-3);
            rig.wait(Time::from_secs_f64(gap));
            past += Time::from_secs_f64(gap);
        }
        rig.send(1500);
    }
    past
}

/// Fb_max = 5 x 26 KB = 2031.25 pages < 2^11: 32 pages a step. The rule of 2010: 2063.5 B a step.
#[test]
fn quantisers_by_hand() {
    let shift = |fb: f64| quantise(Quantiser::Shift, fb, 130e3);
    assert_eq!((shift(-130e3), shift(-2048.0), shift(-2047.0), shift(0.0)), (63, 1, 0, 0));
    assert_eq!(shift(-127e3), 62, "1984.4 pages / 32 = 62.01");
    let scale = |fb: f64| quantise(Quantiser::Scale63, fb, 130e3);
    assert_eq!((scale(-130e3), scale(-2064.0), scale(-2063.0), scale(0.0)), (63, 1, 0, 0));
    assert_eq!(scale(-127e3), 61, "127 x 63 / 130 = 61.5");
    assert_eq!(quantise(Quantiser::Shift, -120e3, 120e3), 58, "24 KB: 1875 pages of 2048");
}

#[test]
fn mark_table() {
    let base = Bytes::from_kb(150);
    let table: Vec<f64> = (0..64).step_by(8).map(|fb| mark(base, fb)).collect();
    assert_eq!(table, [150e3, 75e3, 50e3, 37_500.0, 30e3, 25e3, 21_500.0, 18_500.0]);
    assert_eq!((mark(base, 7), mark(base, 15), mark(base, 63)), (150e3, 75e3, 18_500.0));
    assert_eq!(mark(Bytes::from_kb(300), 63), 37_000.0);
}

#[test]
fn step_by_smaller_and_larger_stage() {
    let at = |byte, time| step(byte, time, 5, Rate::from_mbps(5.0), Rate::from_mbps(50.0)).mbps();
    assert_eq!((at(0, 0), at(5, 5), at(1, 5)), (0.0, 0.0, 0.0));
    assert_eq!((at(6, 0), at(0, 6), at(5, 99)), (5.0, 5.0, 5.0));
    assert_eq!((at(6, 6), at(6, 99), at(8, 7), at(20, 15)), (50.0, 50.0, 100.0, 500.0));
}

/// 56 KB after 0: Fb = -30 - 2 x 56 KB, clipped to -130: 63, 18.5 KB. 56 KB again: Fb = -30 KB, 468.75 pages: 14, 75 KB.
#[test]
fn point_by_hand() {
    let mut rig = PointRig::new(&SerialHai(params(&[])), LINE, 1).unwrap();
    (0..100).for_each(|_| {
        rig.frame(1, 56_000, Tag::None);
    });
    assert!(rig.messages().is_empty(), "150 KB leave the counter at 0: not below");
    rig.frame(1, 56_000, Tag::None);
    assert_eq!(rig.state.countdown, 18_501);
    (0..13).for_each(|_| {
        rig.frame(1, 56_000, Tag::None);
    });
    let sent: Vec<(u8, i32, i32)> = rig
        .messages()
        .iter()
        .map(|m| match *m {
            Feedback::Cnm { qntz_fb, q_off, q_delta, .. } => (qntz_fb, q_off, q_delta),
            _ => panic!("{m:?}"),
        })
        .collect();
    assert_eq!(sent, [(63, -30_000, 56_000), (14, -30_000, 0)]);
    assert_eq!(rig.state.countdown, 75_001);
    let widest = PointRules { jitter: 0.3, ..params(&[]).point_rules() };
    assert_eq!((spread(widest.jitter, 0.0), spread(widest.jitter, 1.0)), (0.85, 1.15));
}

/// With a full queue the current rule samples after 18.5 KB, the other only after the first 150.
#[test]
fn interval_of_the_present_frame() {
    let mut rig = PointRig::new(&SerialHai(params(&[("mark_interval", "current")])), LINE, 1).unwrap();
    (0..12).for_each(|_| {
        rig.frame(1, 150_000, Tag::None);
    });
    assert!(rig.messages().is_empty());
    rig.frame(1, 150_000, Tag::None);
    assert_eq!(rig.messages().len(), 1);
}

/// Where a count ends at zero, the hundredth frame of 150 KB samples and ends a byte stage.
#[test]
fn counts_that_end_at_zero() {
    let set = [("counter_end", "at-zero")];
    let mut rig = PointRig::new(&SerialHai(params(&set)), LINE, 1).unwrap();
    (0..99).for_each(|_| {
        rig.frame(1, 56_000, Tag::None);
    });
    assert!(rig.messages().is_empty());
    rig.frame(1, 56_000, Tag::None);
    assert_eq!((rig.messages().len(), rig.state.countdown), (1, 18_500));
    let mut rig = reaction(&set);
    rig.cnm(63);
    let cut = rig.rate();
    rig.send(148_500);
    assert_eq!(rig.rate(), cut);
    rig.send(1500);
    assert_eq!(rig.rate(), (cut + LINE) * 0.5);
}

/// 63 leaves 1 - 63/128; the counter must pass below zero; the target is the rate before the first cut of a burst.
#[test]
fn cut_and_byte_stages_by_hand() {
    let mut rig = reaction(&[]);
    rig.cnm(63);
    let cut = LINE * (1.0 - 63.0 / 128.0);
    assert_eq!(rig.rate(), cut);
    rig.send(150_000);
    assert_eq!(rig.rate(), cut);
    rig.send(1500);
    let first = (cut + LINE) * 0.5;
    assert_eq!(rig.rate(), first);
    rig.cnm(32);
    assert_eq!(rig.rate(), first * 0.75);
    rig.wait(Time::from_ms(15));
    assert_eq!(rig.rate(), (first * 0.75 + first) * 0.5, "a byte stage was finished: the target fell");
    let low = rig.rate() * 0.75;
    rig.cnm(32);
    rig.wait(Time::from_ms(15));
    assert_eq!(rig.rate(), (low + first) * 0.5, "a time stage alone leaves the target");
    let mut half = reaction(&[("gd", "1/64")]);
    half.cnm(63);
    assert_eq!(half.rate(), LINE * 0.5, "never below MIN_DEC_FACTOR");
    (0..40).for_each(|_| half.cnm(63));
    assert_eq!(half.rate(), Rate::from_mbps(10.0));
}

#[test]
fn byte_counter_restarts_after_a_cycle_or_always() {
    for (setting, risen) in [("after-cycle", true), ("always", false)] {
        let mut rig = reaction(&[("byte_restart", setting)]);
        rig.cnm(10);
        rig.send(100_500);
        rig.cnm(10);
        let low = rig.rate();
        rig.send(51_000);
        assert_eq!(rig.rate() > low, risen, "{setting}");
    }
}

#[test]
fn a_message_restarts_the_timer() {
    let mut rig = reaction(&[]);
    rig.cnm(10);
    rig.wait(Time::from_ms(14));
    rig.cnm(10);
    let low = rig.rate();
    rig.wait(Time::from_us(14_999));
    assert_eq!(rig.rate(), low);
    rig.wait(Time::from_us(1));
    assert!(rig.rate() > low);
}

/// Four cuts by 65/128 leave 0.665 Gb/s under a target of 10: divided. Three leave 1.31: not.
#[test]
fn target_over_eight() {
    for (cuts, setting, target) in [(4, "on", 1.25), (4, "off", 10.0), (3, "on", 10.0)] {
        for by_bytes in [false, true] {
            let mut rig = reaction(&[("tr_over_8", setting)]);
            (0..cuts).for_each(|_| rig.cnm(63));
            let low = rig.rate();
            if by_bytes {
                rig.send(151_500)
            } else {
                rig.wait(Time::from_ms(15))
            }
            let expected = (low + Rate::from_gbps(target)) * 0.5;
            assert_eq!(rig.rate(), expected, "{cuts} cuts, {setting}, bytes {by_bytes}");
        }
    }
}

#[test]
fn only_an_offset_below_zero_starts_a_limiter() {
    let message = |q_off| Feedback::Cnm { point: PointId(0), qntz_fb: 9, q_off, q_delta: 9 };
    let mut rig = reaction(&[]);
    rig.feedback(&message(0));
    assert!(!rig.engaged());
    rig.feedback(&message(-1));
    let low = rig.rate();
    rig.feedback(&message(1));
    assert!(rig.engaged() && rig.rate() < low, "a limited flow obeys");
    let mut rig = reaction(&[("gate_qoff", "off")]);
    rig.feedback(&message(0));
    assert!(rig.engaged());
}

/// A release that waits for an empty queue is taken back by the next message.
#[test]
fn a_cut_takes_back_a_release() {
    let mut state = LimiterState::new(LINE, Stream::new(1, 1, Purpose::Reaction));
    let (mut rates, mut actions) = (Rates::new(params(&[]).rate_rules()), Vec::new());
    let mut limiter = Limiter::new(Time::ZERO, &mut state, &mut actions);
    rates.cut(1, &mut limiter);
    (0..100).for_each(|_| rates.on_bytes(&mut limiter));
    assert!(state.release && state.rate == LINE);
    rates.cut(63, &mut Limiter::new(Time::ZERO, &mut state, &mut actions));
    assert!(!state.release && state.engaged && state.rate < LINE);
}

/// By time alone from 10 Mb/s: target 10 / 8 = 1.25 Gb/s, gap 1240 Mb/s halved by five stages of 15 ms to 38.75; then
/// a stage each 7.5 ms raises the target by 5 Mb/s, so the gap goes from g to (g + 5) / 2. No hyperactive increase.
#[test]
fn recovery_by_time_alone() {
    let mut rig = reaction(&[]);
    (0..20).for_each(|_| rig.cnm(63));
    rig.wait(Time::from_ms(75));
    assert!((rig.rate().mbps() - (1250.0 - 38.75)).abs() < 1e-6, "{}", rig.rate());
    let mut gap = 38.75;
    for stage in 1..=20 {
        rig.wait(Time::from_us(7500));
        gap = (gap + 5.0) / 2.0;
        let expected = 1250.0 + 5.0 * f64::from(stage) - gap;
        assert!((rig.rate().mbps() - expected).abs() < 1e-6, "{stage}: {} of {expected}", rig.rate());
    }
}

/// By both from 10 Mb/s. 15 ms: target 1.25, rate 0.63 Gb/s; 18.75 KB are sent. Byte stages then end at 16.67 (rate
/// 0.94), 17.94, 19.04, 20.06, 21.05 ms; from there one of 75 KB each 0.6 ms / target adds 5 Mb/s, growth of the
/// target by e^(8.33/s t): 2.08 Gb/s at 82.5 ms, the sixth time stage. Hyperactive: e^(83.3/s t) brings 3.9 Gb/s at 90
/// ms, e^(167/s t) 9.9 at 95.6.
#[test]
fn recovery_by_bytes_and_time() {
    let mut rig = reaction(&[]);
    (0..20).for_each(|_| rig.cnm(63));
    let mut past = run(&mut rig, Rate::from_mbps(900.0), 1_000_000);
    assert!((past.as_secs_f64() - 16.67e-3).abs() < 0.05e-3, "{past}");
    past += run(&mut rig, Rate::from_gbps(2.0), 1_000_000);
    assert!((past.as_secs_f64() - 78e-3).abs() < 2e-3, "AI alone: {past}");
    past += run(&mut rig, Rate::from_gbps(9.9), 1_000_000);
    assert!((past.as_secs_f64() - 95.6e-3).abs() < 1e-3, "{past}");
}

#[test]
fn a_recovered_flow_is_free() {
    let mut rig = reaction(&[]);
    rig.cnm(20);
    rig.send(20_000_000);
    assert!(!rig.engaged() && rig.rate() == LINE);
    let mut rig = reaction(&[("release_share", "0.98")]);
    rig.cnm(20);
    rig.send(3 * 151_500);
    assert!(!rig.engaged(), "15.6 % below, halved three times: 1.95 %");
}

#[test]
fn a_bound_that_no_cut_reaches_is_idle() {
    assert_eq!(params(&[]).idle().len(), 1);
    assert!(params(&[("gd", "1/64")]).idle().is_empty());
}

/// Dropped frames are sampled unless that is off; each message is counted; the interval by the present frame starts anew.
#[test]
fn what_a_point_counts() {
    for (setting, on) in [("on", true), ("off", false)] {
        let rig = PointRig::new(&SerialHai(params(&[("sample_dropped", setting)])), LINE, 1).unwrap();
        assert_eq!(rig.state.sample_dropped, on);
    }
    let mut rig = PointRig::new(&SerialHai(params(&[("mark_interval", "current")])), LINE, 1).unwrap();
    // 13 frames of 1500 B pass 18.5 KB at 63. Then the queue stands at 150 KB: Fb = -124 KB, 1937.5 pages / 32: 60, the
    // same interval.
    (0..130).for_each(|_| {
        rig.frame(1, 150_000, Tag::None);
    });
    assert_eq!(rig.messages().len(), 10);
    assert_eq!(rig.counts.of("cnm_messages"), Some(10));
}

/// A message of 0 is nothing. A step is hyperactive, and counted, only when both counts have passed five.
#[test]
fn what_a_source_counts() {
    let mut rig = reaction(&[]);
    rig.cnm(0);
    assert!(!rig.built());
    let counted = |rig: &ReactionRig, counter: Counter| rig.counts.of(&counter.name).unwrap();
    (0..20).for_each(|_| rig.cnm(63));
    rig.wait(Time::from_ms(200));
    assert_eq!((counted(&rig, TARGETS_DIVIDED), counted(&rig, HYPERACTIVE_STEPS)), (1, 0), "time alone");
    let low = rig.rate();
    rig.cnm(0);
    assert_eq!(rig.rate(), low);
    // The byte count passes five at its sixth stage, within this many bytes; time has passed long ago.
    rig.send(5 * 151_500);
    assert_eq!(counted(&rig, HYPERACTIVE_STEPS), 0);
    rig.send(75_000);
    rig.send(1500);
    assert_eq!(counted(&rig, HYPERACTIVE_STEPS), 1);
}
