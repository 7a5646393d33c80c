//! QCN-2pt by hand.

use super::*;
use cnsim_scheme_api::testing::ReactionRig;

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
