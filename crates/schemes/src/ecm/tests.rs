//! ECM and BCN by hand.

use super::*;
use cnsim_scheme_api::Params;
use cnsim_scheme_api::testing::{PointRig, ReactionRig};

/// 375 pages, W = 2: Fb_max = 5 x 375 = 1875 pages.
#[test]
fn feedback_by_hand() {
    let p = EcmParams::default();
    assert_eq!(feedback(&p, 375.0, 375.0).0, 0.0);
    assert_eq!(feedback(&p, 0.0, 0.0).0, 375.0);
    assert_eq!(feedback(&p, 475.0, 425.0), (-200.0, -100.0, 50.0));
    assert_eq!(feedback(&p, 1250.0, 0.0).0, -1875.0);
    assert_eq!(feedback(&p, 1301.0, 1301.0).0, -1875.0, "MAX above 1300 pages");
}

/// G_d Fb_max = 0.5; G_i Fb_max R_unit = 1 Gb/s = 10 % of the line; the largest reachable step is 200 Mb/s.
#[test]
fn rates_by_hand() {
    let (p, line) = (EcmParams::default(), Rate::from_gbps(10.0));
    assert!((decreased(&p, line, -1875.0).gbps() - 5.0).abs() < 1e-6);
    assert!((decreased(&p, line, -375.0).gbps() - 9.0).abs() < 1e-6);
    assert_eq!(decreased(&p, Rate::from_mbps(12.0), -1875.0).mbps(), 10.0);
    let up = |fb| increased(&p, Rate::from_gbps(1.0), line, fb).mbps();
    assert!((up(1875.0) - 2000.0).abs() < 1e-3);
    assert!((up(375.0) - 1200.0).abs() < 1e-3);
    assert_eq!(increased(&p, line, line, 375.0), line);
    // Four times the quantum asks for 4 Gb/s: a tenth of the line is 1, and none goes above the line.
    let p = EcmParams { r_unit: p.r_unit * 4.0, ..p };
    assert!((increased(&p, Rate::from_gbps(1.0), line, 1875.0).gbps() - 2.0).abs() < 1e-6);
    assert_eq!(increased(&p, Rate::from_gbps(9.5), line, 1875.0), line);
}

#[test]
fn a_share_of_frames_is_a_spacing() {
    for (text, bytes) in [("1%", 150_000), ("2 %", 75_000), ("150 KB", 150_000), ("100%", 1500)] {
        assert_eq!(Spacing::parse(text), Ok(Spacing(Bytes::new(bytes))), "{text}");
    }
    assert!(["0%", "101%", "-1%", "x%", "1"].iter().all(|t| Spacing::parse(t).is_err()));
}

#[test]
fn oversampling_rules() {
    let point = |o| Point {
        p: Arc::new(EcmParams { oversampling: o, ..EcmParams::default() }),
        id: PointId(0),
        q_old: 0.0,
        left: 0.0,
    };
    let sampled = |fb, q, tagged| Sampled { fb, q, silent: false, tagged };
    let at = |o, fb, q| point(o).interval(sampled(fb, q, false), 0.5);
    assert_eq!(at(Oversampling::Off, -1875.0, 2000.0), 75_000.0);
    assert_eq!(at(Oversampling::Proportional, -1875.0, 2000.0), 7_500.0);
    assert_eq!(at(Oversampling::Proportional, 1875.0, 0.0), 7_500.0);
    assert_eq!(at(Oversampling::Negative, 1875.0, 0.0), 75_000.0);
    assert_eq!(at(Oversampling::AboveQmc, -10.0, 1301.0), 7_500.0);
    let silent = Sampled { silent: true, ..sampled(1.0, 0.0, false) };
    assert_eq!(point(Oversampling::NextFrame).interval(silent, 0.5), 1.0);
    let both = |fb, q, tagged| point(Oversampling::BothEnds).interval(sampled(fb, q, tagged), 0.5);
    assert_eq!(both(-1875.0, 1301.0, false), 7_500.0, "above Q_mc, whoever sent the frame");
    assert_eq!(
        both(-1875.0, 1000.0, true),
        75_000.0,
        "between the set point and Q_mc nothing is sampled faster"
    );
    assert_eq!(both(375.0, 0.0, true), 7_500.0, "below the set point only for limited flows");
    assert_eq!(both(375.0, 0.0, false), 75_000.0);
}

const LINE: Rate = Rate::from_gbps(10.0);

fn set(sets: &[(&str, &str)]) -> Ecm {
    let mut params = EcmParams::default();
    sets.iter().for_each(|(key, text)| params.set(key, text).unwrap());
    Ecm { name: "ecm", params: Arc::new(params) }
}

fn says(point: u32, fb: f64, stop: bool) -> Feedback {
    Feedback::Ecm { point: PointId(point), q_off: fb, q_delta: 0.0, fb, stop }
}

/// A counter of a rig.
fn counted(rig: &ReactionRig, counter: Counter) -> u64 {
    rig.counts.of(&counter.name).unwrap()
}

/// 75 KB are 50 frames: a share of 1/50, ten times that at full strength; 1500 B and less are every frame.
#[test]
fn sampling_by_packets() {
    let scheme = set(&[("sampling", "packet-last"), ("q_mc", "off")]);
    let mut rig = PointRig::new(&scheme, LINE, 1).unwrap();
    assert_eq!(rig.state.gate, cnsim_scheme_api::network::Gate::Probability(0.02));
    // 1875 pages and more, from nothing: full strength at the first sample, ten times as often then.
    while rig.messages().is_empty() {
        rig.frame(1, 120_000, Tag::None);
    }
    assert_eq!(rig.state.gate, cnsim_scheme_api::network::Gate::Probability(0.2));
    let next = set(&[("sampling", "packet-last"), ("oversampling", "next-frame")]);
    let mut rig = PointRig::new(&next, LINE, 1).unwrap();
    (0..2000).for_each(|_| {
        rig.frame(1, 1500, Tag::None);
    });
    assert_eq!(
        rig.state.gate,
        cnsim_scheme_api::network::Gate::Probability(1.0),
        "an idle queue says nothing"
    );
    assert!(set(&[("sampling", "packet-last")]).params.idle().iter().any(|i| i.0 == "jitter"));
}

/// Sent 1.5 MB in 4 ms: 3 Gb/s, cut by 1 - 375 / 3750 = 0.9. On the line rate: 9 Gb/s.
#[test]
fn first_rate_of_a_limiter() {
    let z07 = EcmParams::z07();
    assert!(!z07.sample_dropped && z07.oversampling == Oversampling::Off, "as Z07's loss asks for");
    for (from, gbps) in [("line", 9.0), ("own", 2.7)] {
        let mut rig = ReactionRig::new(set(&[("initial_rate", from)]), LINE);
        rig.wait(Time::from_ms(3));
        rig.frame(1500);
        rig.wait(Time::from_ms(4));
        rig.send(1_498_500);
        rig.feedback(&says(1, -375.0, false));
        assert!((rig.rate().gbps() - gbps).abs() < 1e-6, "{from}: {}", rig.rate());
        // Up to the line again: 200 Mb/s a message. Then the next limiter starts as the first did.
        (0..40).for_each(|_| rig.feedback(&says(1, 375.0, false)));
        assert!(!rig.engaged());
        assert_eq!(rig.frame(1500), Tag::None, "{from}: a free flow's frames carry no tag");
        rig.feedback(&says(2, -375.0, false));
        assert!(rig.engaged() && rig.rate().gbps() < gbps + 1e-2, "{from}: {}", rig.rate());
        assert_eq!(rig.frame(1500), Tag::Regulated(PointId(2)));
    }
}

/// A stop is drawn from 0 to 100 us, then 200, 400 us; an increase starts that anew. The flow restarts at 100 Mb/s, or at
/// `r_min` if that is more, and heeds nothing but stops meanwhile.
#[test]
fn stops() {
    let scheme = || set(&[("q_sc", "200 KB")]);
    let longest = |before: u32| {
        let stop = |seed| {
            let mut rig = ReactionRig::boxed(Box::new(scheme()), LINE, seed);
            (0..before).for_each(|_| rig.feedback(&says(1, -1875.0, true)));
            rig.feedback(&says(1, -1875.0, true));
            assert!(rig.engaged() && rig.rate() == Rate::ZERO);
            assert!(rig.state().retime, "the frame that was scheduled stays, too");
            rig.feedback(&says(1, 375.0, false));
            rig.feedback(&says(1, -375.0, false));
            assert_eq!(rig.rate(), Rate::ZERO, "a stopped flow waits");
            let mut past = 0;
            while rig.rate() == Rate::ZERO {
                rig.wait(Time::from_us(1));
                past += 1;
            }
            assert_eq!(rig.rate().mbps(), 100.0);
            past
        };
        (1..=200).map(stop).max().unwrap()
    };
    for (before, limit) in [(0, 100), (1, 200), (2, 400)] {
        let found = longest(before);
        assert!(found <= limit && found > limit * 9 / 10, "after {before} stops: {found} us of {limit}");
    }
    let mut rig = ReactionRig::new(set(&[("q_sc", "200 KB"), ("r_min", "150 Mb/s")]), LINE);
    rig.feedback(&says(1, 0.0, true));
    rig.wait(Time::from_us(101));
    assert_eq!(rig.rate().mbps(), 150.0);
}

/// 1 Mb/s each 100 us, also for a limiter that a stop has built, and after a stop.
#[test]
fn drift_survives_a_stop() {
    for first in [says(1, -1875.0, false), says(1, -1875.0, true)] {
        let mut rig = ReactionRig::new(set(&[("drift", "1 Mb/s"), ("q_sc", "200 KB")]), LINE);
        rig.feedback(&first);
        rig.wait(Time::from_ms(1));
        let low = rig.rate();
        rig.wait(Time::from_ms(1));
        assert!((rig.rate().mbps() - low.mbps() - 10.0).abs() < 1e-6, "{} after {low}", rig.rate());
        rig.feedback(&says(1, -1875.0, true));
        rig.wait(Time::from_ms(1));
        let low = rig.rate();
        rig.wait(Time::from_ms(1));
        assert!((rig.rate().mbps() - low.mbps() - 10.0).abs() < 1e-6, "{} after {low}", rig.rate());
    }
}

/// Who owns the limiter after point 1 said -100, point 2 -50 and then -100, 1 ms apart; who after a silence of 11 ms.
#[test]
fn owners() {
    for (rule, owners, changes) in [
        ("last-negative", [2, 2, 3], 2),
        ("most-negative", [1, 2, 2], 1),
        ("first-until-timeout", [1, 1, 3], 1),
    ] {
        let mut rig = ReactionRig::new(set(&[("assoc", rule)]), LINE);
        rig.feedback(&says(1, -100.0, false));
        let mut seen = Vec::new();
        for (ms, point, fb) in [(1, 2, -50.0), (1, 2, -100.0), (11, 3, -50.0)] {
            rig.wait(Time::from_ms(ms));
            rig.feedback(&says(point, fb, false));
            seen.push(rig.frame(1500));
        }
        assert_eq!(seen, owners.map(|o| Tag::Regulated(PointId(o))), "{rule}");
        assert_eq!(counted(&rig, CPID_CHANGES), changes, "{rule}");
        // Only the owner raises; what others say is counted.
        let (low, owner) = (rig.rate(), owners[2]);
        rig.feedback(&says(owner + 1, 375.0, false));
        assert_eq!((rig.rate(), counted(&rig, FALSE_POSITIVES)), (low, 1), "{rule}");
        rig.feedback(&says(owner, 375.0, false));
        assert!((rig.rate().mbps() - low.mbps() - 200.0).abs() < 1e-3, "{rule}");
    }
    let mut rig = ReactionRig::new(set(&[("assoc", "first-until-timeout"), ("assoc_timeout", "2 ms")]), LINE);
    rig.feedback(&says(1, -100.0, false));
    rig.wait(Time::from_ms(3));
    rig.feedback(&says(2, -100.0, false));
    assert_eq!(rig.frame(1500), Tag::Regulated(PointId(2)));
}

/// Below the set point only tagged frames are answered, at it nobody (Fb = 0), above it all; `rp` answers any tag.
#[test]
fn who_is_answered() {
    let count = |sets: &[(&str, &str)], tag, queue| {
        let mut rig = PointRig::new(&set(sets), LINE, 1).unwrap();
        // The first sample learns the queue; then it stands.
        (0..2000).for_each(|_| {
            rig.frame(1, queue, tag);
        });
        let sent = rig.messages();
        sent.iter().skip(1).filter(|m| matches!(m, Feedback::Ecm { fb, .. } if *fb != 0.0)).count()
    };
    let (own, other) = (Tag::Regulated(PointId(7)), Tag::Regulated(PointId(5)));
    for (tag, below, above) in [(Tag::None, false, true), (own, true, true), (other, false, true)] {
        assert_eq!(count(&[], tag, 12_000) > 0, below, "{tag:?}");
        assert_eq!(count(&[], tag, 24_000), 0, "{tag:?}");
        assert_eq!(count(&[], tag, 48_000) > 0, above, "{tag:?}");
    }
    assert!(count(&[("tag_match", "rp")], other, 12_000) > 0);
    // 600 pages too many, clipped to 375.
    let last = |clip| {
        let mut rig =
            PointRig::new(&set(&[("clip_components", clip), ("w", "0.5"), ("q_mc", "off")]), LINE, 1)
                .unwrap();
        (0..200).for_each(|_| {
            rig.frame(1, 62_400, Tag::None);
        });
        *rig.messages().last().unwrap()
    };
    assert!(matches!(last("off"), Feedback::Ecm { fb, .. } if fb == -600.0));
    assert!(matches!(last("on"), Feedback::Ecm { fb, .. } if fb == -375.0));
    // Offset within 375 pages, growth within 750 either way: 375 - 2 x 750 and back.
    let p = set(&[("clip_components", "on"), ("q_mc", "off")]).params;
    for (q, q_old, clipped) in [
        (1000.0, 0.0, (-1875.0, -375.0, 750.0)),
        (0.0, 1000.0, (1875.0, 375.0, -750.0)),
        (375.0, 1000.0, (1250.0, 0.0, -625.0)),
        (375.0, 1400.0, (1500.0, 0.0, -750.0)),
    ] {
        assert_eq!(feedback(&p, q, q_old), clipped, "{q} after {q_old}");
    }
}
