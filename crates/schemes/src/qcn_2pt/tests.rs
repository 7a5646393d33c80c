//! QCN-2pt by hand.

use super::*;
use cnsim_scheme_api::network::Gate;
use cnsim_scheme_api::testing::{PointRig, ReactionRig};
use cnsim_scheme_api::{Params, Tag};

/// 409 pages: Fb_max = 2045 pages < 2^11, so the quantiser drops five bits and reaches 63.
#[test]
fn quantiser_by_hand() {
    let p = QcnParams::default();
    assert_eq!(quantise(&p, -2045.0 * 64.0), 63);
    assert_eq!(quantise(&p, -32.0 * 64.0), 1);
    assert_eq!(quantise(&p, -31.9 * 64.0), 0);
    let ceil = QcnParams { quantiser: Quantiser::Ceil, ..p.clone() };
    assert_eq!(quantise(&ceil, -1.0), 1);
    let scale = QcnParams { quantiser: Quantiser::Scale63, ..p };
    assert_eq!(quantise(&scale, -2045.0 * 64.0), 63);
    // R07's 24 KB: Fb_max = 1875 pages of 2048, so the shift quantiser stops at 58.
    let r07 = QcnParams { q_eq: Bytes::from_kb(24), ..QcnParams::default() };
    assert_eq!(quantise(&r07, -1875.0 * 64.0), 58);
}

#[test]
fn feedback_by_hand() {
    let p = QcnParams::default();
    assert_eq!(feedback(&p, 26_176.0, 26_176.0), 0.0);
    assert_eq!(feedback(&p, 0.0, 0.0), 0.0, "positive values are not sent");
    assert_eq!(feedback(&p, 30_176.0, 29_176.0), -6_000.0);
    assert_eq!(feedback(&p, 1e9, 0.0), -5.0 * 26_176.0);
}

/// 63 leaves 1 - 63/128 of the rate; five cycles go half-way each; EFR keeps the target through a burst.
#[test]
fn recovery_by_hand() {
    let line = Rate::from_gbps(10.0);
    let mut rig = ReactionRig::new(Qcn2pt(QcnParams::default()), line);
    rig.cnm(63);
    assert_eq!(rig.rate(), line * (1.0 - 63.0 / 128.0));
    rig.cnm(63);
    let low = rig.rate();
    assert_eq!(low, line * (1.0 - 63.0 / 128.0) * (1.0 - 63.0 / 128.0));
    rig.send(150_000);
    assert_eq!(rig.rate(), (low + line) * 0.5, "the target is still the line rate");
    rig.cnm(64 - 1);
    let target = (low + line) * 0.5;
    let cut = rig.rate();
    rig.send(150_000);
    assert_eq!(rig.rate(), (cut + target) * 0.5, "the first message after a cycle sets the target");
}

/// With `always` a message in a burst puts off the end of its cycle, with `after-cycle` it does not; a message that follows a
/// finished cycle begins a new one with both. All reaction points of 2007 keep this rule.
#[test]
fn a_message_restarts_the_byte_counter_after_a_cycle_or_always() {
    let registry = crate::registry();
    for name in ["qcn-2pt", "qcn-3pt", "qcn-h", "qcn-p", "qcn-hsp", "qcn-pp"] {
        for (setting, risen) in [("after-cycle", true), ("always", false)] {
            let pairs = [("byte_restart".to_string(), setting.to_string())];
            let entry = registry.find(name).unwrap();
            let rig = || {
                let mut rig = ReactionRig::new(entry.build(&pairs).unwrap().scheme, Rate::from_gbps(10.0));
                rig.cnm(63);
                rig
            };
            let mut burst = rig();
            burst.send(100_500);
            burst.cnm(63);
            let low = burst.rate();
            burst.send(49_500);
            assert_eq!(burst.rate() > low, risen, "{name}, {setting}");
            burst.send(100_500);
            assert!(burst.rate() > low, "{name}, {setting}");
            let mut cycle = rig();
            cycle.send(150_000 + 36_000);
            cycle.cnm(63);
            let low = cycle.rate();
            cycle.send(148_500);
            assert_eq!(cycle.rate(), low, "{name}, {setting}: a cycle was finished");
            cycle.send(1_500);
            assert!(cycle.rate() > low, "{name}, {setting}");
        }
    }
}

/// After five cycles of 150 KB, cycles of 37.5 KB raise the target by 12 Mb/s each.
#[test]
fn active_increase_by_hand() {
    let mut rig =
        ReactionRig::new(Qcn2pt(QcnParams { efr: false, ..QcnParams::default() }), Rate::from_gbps(10.0));
    rig.cnm(63);
    rig.cnm(63);
    let target = 10e9 * (1.0 - 63.0 / 128.0);
    for _ in 0..5 {
        rig.send(150_000);
    }
    let rate = rig.rate().bps();
    rig.send(37_500);
    assert!((rig.rate().bps() - (rate + target + 12e6) / 2.0).abs() < 1.0);
}

/// Drift of 1.005 each 500 us multiplies what it says; the target shows after the next cycle.
#[test]
fn drift_by_hand() {
    let line = Rate::from_gbps(10.0);
    let after = |drift_of| {
        let p = QcnParams { drift: Some(1.005), drift_of, ..QcnParams::default() };
        let mut rig = ReactionRig::new(Qcn2pt(p), line);
        rig.cnm(63);
        rig.send(150_000);
        // The first message after a cycle: the target is the rate before it.
        rig.cnm(63);
        let (target, low) = (7.5390625e9, rig.rate().bps());
        rig.wait(Time::from_us(1_001));
        let now = rig.rate().bps();
        rig.send(150_000);
        (now / low, (2.0 * rig.rate().bps() - now) / target)
    };
    let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-6 && (a.1 - b.1).abs() < 1e-6;
    let twice = 1.005 * 1.005;
    assert!(close(after(DriftOf::Both), (twice, twice)));
    assert!(close(after(DriftOf::Current), (twice, 1.0)));
    assert!(close(after(DriftOf::Target), (1.0, twice)));
}

/// Gd = 0 never lowers the rate; the floor holds.
#[test]
fn bounds() {
    let line = Rate::from_gbps(10.0);
    let mut rig = ReactionRig::new(Qcn2pt(QcnParams { gd: 0.0, ..QcnParams::default() }), line);
    rig.cnm(63);
    assert_eq!(rig.rate(), line);
    let mut rig = ReactionRig::new(Qcn2pt(QcnParams::default()), line);
    for _ in 0..100 {
        rig.cnm(63);
    }
    assert_eq!(rig.rate(), Rate::from_mbps(10.0));
}

fn set(sets: &[(&str, &str)]) -> QcnParams {
    let mut params = QcnParams::default();
    sets.iter().for_each(|(key, text)| params.set(key, text).unwrap());
    params
}

fn point(sets: &[(&str, &str)]) -> PointRig {
    PointRig::new(&Qcn2pt(set(sets)), Rate::from_gbps(10.0), 1).unwrap()
}

fn sent(rig: &PointRig) -> Vec<(u8, i32, i32)> {
    let all = rig.messages().into_iter();
    all.map(|m| match m {
        Feedback::Cnm { qntz_fb, q_off, q_delta, .. } => (qntz_fb, q_off, q_delta),
        _ => panic!("{m:?}"),
    })
    .collect()
}

/// 1 % of frames of 1500 B is one in 150 KB; 10 % at full strength one in 15 KB. The first sample finds 56 176 B after 0: Fb
/// = -30 000 - 2 x 56 176, clipped: 63. Then -30 000 B = 468.75 pages / 32 = 14.6: 14, and P = 1 % + 9 % x 14 / 63 = 3 %: 50 KB.
#[test]
fn point_by_hand() {
    let mut rig = point(&[("jitter", "0")]);
    assert_eq!(rig.state.countdown, 150_000);
    (0..100).for_each(|_| {
        rig.frame(1, 56_176, Tag::None);
    });
    assert_eq!(rig.state.countdown, 15_000);
    (0..10).for_each(|_| {
        rig.frame(1, 56_176, Tag::None);
    });
    assert_eq!(sent(&rig), [(63, -30_000, 56_176), (14, -30_000, 0)]);
    assert!((49_999..=50_000).contains(&rig.state.countdown), "{}", rig.state.countdown);
    // +-15 %, and the mean between.
    let mut rig = point(&[]);
    let mut seen = Vec::new();
    for _ in 0..20_000 {
        let before = rig.state.countdown;
        rig.frame(1, 1000, Tag::None);
        if rig.state.countdown > before {
            seen.push(rig.state.countdown as f64 / 150e3);
        }
    }
    let mean = seen.iter().sum::<f64>() / seen.len() as f64;
    assert!(seen.iter().all(|x| (0.85..=1.15).contains(x)) && (mean - 1.0).abs() < 0.02, "{mean}");
    assert!(seen.iter().any(|x| *x < 0.9) && seen.iter().any(|x| *x > 1.1));
}

/// Below the set point but growing, Fb is negative: 20 176 B after 10 000 is 6000 - 20 352 = -14 352 B = 224 pages: 7. It is
/// sent only without the gate; either way the sample is remembered.
#[test]
fn messages_need_a_queue_above_the_set_point() {
    for (gate, messages) in [("on", vec![]), ("off", vec![(7, 6_000, 10_176)])] {
        let mut rig = point(&[("jitter", "0"), ("gate_qoff", gate), ("w", "2")]);
        (0..100).for_each(|_| {
            rig.frame(1, 10_000, Tag::None);
        });
        // Fb = 16 176 - 20 000 < 0: 59 pages, 1 step, sent without the gate.
        let first = sent(&rig).len();
        while rig.state.countdown > 1500 {
            rig.frame(1, 10_000, Tag::None);
        }
        rig.frame(1, 20_176, Tag::None);
        assert_eq!(sent(&rig)[first..], messages, "gate {gate}");
    }
}

/// Of 63 000 frames a share P is sampled: fixed at the last sample, or by the present queue with thinning.
#[test]
fn sampling_by_packets() {
    let mut rig = point(&[("sampling", "packet-last")]);
    assert_eq!(rig.state.gate, Gate::Probability(0.01));
    while rig.messages().is_empty() {
        rig.frame(1, 1_000_000, Tag::None);
    }
    assert_eq!(rig.state.gate, Gate::Probability(0.1));
    // W = 0: Fb_max is 409 pages of 512, 8 a step.
    let share = |queue| {
        let mut rig = point(&[("sampling", "packet-current"), ("w", "0")]);
        (0..63_000).for_each(|_| {
            rig.frame(1, queue, Tag::None);
        });
        rig.messages().len() as f64 / 63_000.0
    };
    // 30 272 B are 64 pages too many, 8 steps: 1 % + 9 % x 8 / 63 = 2.14 %. Far above: 409 pages, 51 steps: 8.29 %.
    for (queue, expected) in [(30_272, 0.01 + 0.09 * 8.0 / 63.0), (1_000_000, 0.01 + 0.09 * 51.0 / 63.0)] {
        let found = share(queue);
        assert!((found / expected - 1.0).abs() < 0.06, "{queue} B: {found}, expected {expected}");
    }
}

/// Steps on the target in the first, sixth and seventh active-increase cycle.
#[test]
fn hyperactive_increase_by_hand() {
    for (hai, steps) in [
        ("off", [12.0, 12.0, 12.0]),
        ("linear", [12.0, 72.0, 84.0]),
        ("fixed", [12.0, 50.0, 50.0]),
        ("doubling", [12.0, 384.0, 768.0]),
        ("timer", [12.0, 12.0, 12.0]),
    ] {
        let mut rig = ReactionRig::new(Qcn2pt(set(&[("hai", hai), ("efr", "off")])), Rate::from_gbps(100.0));
        (0..5).for_each(|_| rig.cnm(63));
        rig.send(5 * 150_000);
        let mut found = Vec::new();
        let mut target = 2.0 * rig.rate().bps();
        for cycle in 1..=7 {
            let before = rig.rate().bps();
            rig.send(37_500);
            let now = 2.0 * rig.rate().bps() - before;
            if matches!(cycle, 2 | 6 | 7) {
                found.push((now - target) / 1e6);
            }
            target = now;
        }
        // The second cycle is the first whose step can be seen: linear and doubling have doubled.
        let second = if matches!(hai, "linear" | "doubling") { 24.0 } else { 12.0 };
        let expected = [second, steps[1], steps[2]];
        assert!(
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3),
            "{hai}: {found:?}, {expected:?}"
        );
    }
    // Timer: two quiet periods of 500 us do nothing, the third adds 12, the fourth 24 Mb/s; a message starts that anew.
    let mut rig =
        ReactionRig::new(Qcn2pt(set(&[("hai", "timer"), ("hai_quiet", "2")])), Rate::from_gbps(10.0));
    for _ in 0..2 {
        rig.cnm(63);
        let low = rig.rate().mbps();
        let rises = [0.0, 0.0, 12.0, 36.0].map(|rise| {
            rig.wait(Time::from_us(500));
            (rig.rate().mbps() - low - rise).abs() < 1e-6
        });
        assert_eq!(rises, [true; 4]);
    }
}

/// After a cycle three messages of 32 (x 3/4 each): the first sets the target to the rate before it. With EFR MAX = 2 the
/// third lowers it again; without EFR each does.
#[test]
fn targets_of_a_burst() {
    let line = Rate::from_gbps(10.0);
    for (sets, target) in [
        (vec![], 8.75),
        (vec![("efr_target", "after-cut")], 8.75 * 0.75),
        (vec![("efr_max_count", "2")], 8.75 * 0.5625),
        (vec![("efr_max_count", "3")], 8.75),
        (vec![("efr", "off")], 8.75 * 0.5625),
    ] {
        let mut rig = ReactionRig::new(Qcn2pt(set(&sets)), line);
        rig.cnm(32);
        rig.send(150_000);
        assert!((rig.rate().gbps() - 8.75).abs() < 1e-9, "halfway from 7.5 to 10");
        (0..3).for_each(|_| rig.cnm(32));
        let low = rig.rate().gbps();
        assert!((low - 8.75 * 0.421_875).abs() < 1e-9);
        rig.send(150_000);
        assert!((2.0 * rig.rate().gbps() - low - target).abs() < 1e-6, "{sets:?}: {}", rig.rate());
    }
}

/// A message of 0, which no congestion point sends, neither builds nor cuts.
#[test]
fn a_message_of_zero_is_nothing() {
    let mut rig = ReactionRig::new(Qcn2pt(QcnParams::default()), Rate::from_gbps(10.0));
    rig.cnm(0);
    assert!(!rig.engaged() && !rig.built());
    rig.cnm(32);
    rig.send(149_000);
    let low = rig.rate();
    rig.cnm(0);
    assert_eq!(rig.rate(), low);
    rig.send(1_500);
    assert!(rig.rate() > low, "nor does it start the cycle anew");
}

/// 20 leaves 84.4 %; three cycles bring 98.05 % of the line: free at 98 %, not yet at 99.
#[test]
fn near_the_line_is_free() {
    for (share, cycles) in [("0.98", 3), ("0.99", 4), ("0.7", 1)] {
        let mut rig = ReactionRig::new(Qcn2pt(set(&[("release_share", share)])), Rate::from_gbps(10.0));
        rig.cnm(20);
        let mut past = 0;
        while rig.engaged() {
            rig.send(150_000);
            past += 1;
        }
        assert_eq!(past, cycles, "{share}");
    }
}

/// `Fb < 0` where q > (Q_eq + W q_old) / (1 + W): with q_old = 0 above 8725 B, with q_old = Q_eq above Q_eq.
#[test]
fn neutral_queue_by_hand() {
    let p = QcnParams::default();
    for (q_old, neutral) in [(0.0, 8_725), (26_176.0, 26_176), (100_000.0, 75_392)] {
        assert_eq!(neutral_queue(&p, q_old), Bytes::new(neutral));
        assert!(feedback(&p, neutral as f64 + 1.0, q_old) < 0.0);
        assert_eq!(feedback(&p, neutral as f64, q_old), 0.0);
    }
}
