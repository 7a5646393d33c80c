//! Tests of the parent module.

use super::*;
use cnsim_scheme_api::network::{Lent, LimiterAction, PointAction, PointState, Purpose, Stream};
use cnsim_scheme_api::testing::{Promise, ReactionRig, conformance};

const LINE: Rate = Rate::from_gbps(10.0);

fn scheme(route: Route, change: impl FnOnce(&mut PlainParams)) -> QcnProbing {
    let mut p = plain();
    change(&mut p);
    QcnProbing::plain("test", route, p)
}

fn point(scheme: &dyn Scheme, id: u32) -> Box<dyn CongestionPoint> {
    let site = QueueSite { point: PointId(id), rate: LINE, attached: true };
    scheme.congestion_point(&site).unwrap()
}

/// Shows a probe to a congestion point whose queue is so long; was it answered?
fn show(point: &mut dyn CongestionPoint, probe: &mut Probe, len: u64) -> bool {
    let (mut actions, mut state) = (Vec::new(), PointState::new(Stream::new(1, 1, Purpose::Point), 100));
    let queue = Queue { len: Bytes::new(len), line_rate: LINE, service_rate: LINE, ..Queue::default() };
    let mut ctl = PointControl::new(Time::ZERO, &mut state, &mut actions);
    point.on_probe(probe, FlowId(1), &queue, &mut ctl);
    actions.iter().any(|a| matches!(a, PointAction::Answer))
}

fn probes(rig: &ReactionRig) -> Vec<Probe> {
    let sent = rig.actions.iter();
    sent.filter_map(|a| if let LimiterAction::Probe(p) = a { Some(*p) } else { None }).collect()
}

fn counted(rig: &ReactionRig, counter: Counter) -> u64 {
    rig.counts.of(&counter.name).unwrap()
}

/// The network would fill in when it was sent.
fn reply(probe: &Probe, sent_at: Time, fb: i32) -> Feedback {
    let probe = Probe { fb, sent_at, point: Some(PointId(0)), ..*probe };
    Feedback::ProbeReply { probe, at: sent_at, rx_rate: Rate::ZERO }
}

/// Empty and unchanged: 24 000 B = 375 pages, x 64 / 2048 = 11.7. Very long: 1875 pages = 58.6.
#[test]
fn readings_by_hand() {
    let s = scheme(Route::Directed, |_| {});
    let mut cp = point(&s, 7);
    // The last sample saw 0 B, so 24 000 B have grown: -48 000 B = 750 pages = 23.4 steps.
    for (len, fb) in [(0, 11), (24_000, -23), (1_000_000, -58)] {
        let mut probe = Probe::new(1, ProbeTarget::Point(PointId(7)), Class::Control);
        assert!(show(cp.as_mut(), &mut probe, len));
        assert_eq!((probe.fb, probe.point), (fb, Some(PointId(7))), "{len} B");
    }
    let s = scheme(Route::Directed, |p| p.first.w = 0.0);
    let mut probe = Probe::new(1, ProbeTarget::Point(PointId(7)), Class::Control);
    // W = 0: 24 000 B = 375 pages of 512: 46 steps; 7 pages too long are less than one step: 0.
    assert!(show(point(&s, 7).as_mut(), &mut probe, 0) && probe.fb == 46);
    assert!(show(point(&s, 7).as_mut(), &mut probe, 24_448) && probe.fb == 0);
    assert!(!show(point(&s, 8).as_mut(), &mut probe, 0), "addressed to another");
    // Fb-hat mixes half of 375 pages into an average of 0: 5.9 steps.
    let h = QcnProbing::hat("test", Route::Directed, with_hat());
    assert!(show(point(&h, 7).as_mut(), &mut probe, 0) && probe.fb == 5);
}

/// Three ports of a path, empty, full, empty: the full one stands in the answer. A free path answers +11.
#[test]
fn a_path_answers_its_most_negative() {
    let go = |start, lengths: [u64; 3]| {
        let s = QcnProbing { start, ..scheme(Route::Path, |_| {}) };
        let mut probe = Probe::new(1, ProbeTarget::Destination, Class::Data);
        for (id, len) in lengths.into_iter().enumerate() {
            assert!(!show(point(&s, id as u32).as_mut(), &mut probe, len), "none ends it");
        }
        (probe.fb, probe.point)
    };
    assert_eq!(go(PathStart::First, [0, 1_000_000, 0]), (-58, Some(PointId(1))));
    assert_eq!(go(PathStart::First, [0, 0, 0]), (11, Some(PointId(0))));
    assert_eq!(go(PathStart::Zero, [0, 0, 0]), (0, None));
    assert_eq!(go(PathStart::Zero, [0, 0, 1_000_000]), (-58, Some(PointId(2))));
}

/// 63, then nothing but one answer: half-way from 50.8 % to the line rate, TR = C.
#[test]
fn a_positive_answer_is_a_finished_cycle() {
    for fb in [0, 11] {
        let mut rig = ReactionRig::new(scheme(Route::Directed, |_| {}), LINE);
        rig.cnm(63);
        rig.cnm(63);
        let low = rig.rate();
        rig.wait(Time::from_us(500));
        let sent = probes(&rig);
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].target, sent[0].class), (ProbeTarget::Point(PointId(0)), Class::Control));
        rig.send(149_000);
        rig.feedback(&reply(&sent[0], Time::from_us(500), fb));
        assert_eq!(rig.rate(), (low + LINE) * 0.5, "answer {fb}");
        let rate = rig.rate();
        rig.send(149_000);
        assert_eq!(rig.rate(), rate, "the answer started the byte cycle anew");
        rig.feedback(&reply(&sent[0], Time::from_us(500), fb));
        assert_eq!(rig.rate(), rate, "an answer counts once");
        assert_eq!(
            (counted(&rig, PROBES_SENT), counted(&rig, ANSWERS_POSITIVE), counted(&rig, ANSWERS_NEGATIVE)),
            (2, 1, 0)
        );
    }
}

/// In active increase +11 raises the target by 12 x (1 + 11/16) = 20.25 Mb/s, 0 by 12 Mb/s.
#[test]
fn step_of_an_answer_by_hand() {
    for (fb, step) in [(0, 12e6), (11, 20.25e6)] {
        let mut rig = ReactionRig::new(scheme(Route::Directed, |p| p.first.efr = false), LINE);
        rig.cnm(63);
        rig.cnm(63);
        let target = 10e9 * (1.0 - 63.0 / 128.0);
        rig.send(5 * 150_000);
        let sent = probes(&rig);
        assert_eq!(sent.len(), 1, "the first of the five intervals sent one, the others wait for it");
        let rate = rig.rate().bps();
        rig.feedback(&reply(&sent[0], Time::ZERO, fb));
        let expected = (rate + target + step) / 2.0;
        assert!((rig.rate().bps() - expected).abs() < 1.0, "{fb}: {} against {expected}", rig.rate().bps());
    }
}

#[test]
fn a_negative_answer_is_a_message() {
    let mut rig = ReactionRig::new(scheme(Route::SubPath, |_| {}), LINE);
    rig.cnm(32);
    rig.send(150_000);
    let (rate, sent) = (rig.rate(), probes(&rig));
    assert_eq!((sent.len(), sent[0].class), (1, Class::Data));
    rig.feedback(&reply(&sent[0], Time::ZERO, -32));
    assert_eq!(rig.rate(), rate * 0.75);
    assert_eq!((counted(&rig, ANSWERS_NEGATIVE), counted(&rig, POINT_CHANGES)), (1, 0));
    rig.feedback(&Feedback::Cnm { point: PointId(4), qntz_fb: 1, q_off: -1, q_delta: 0 });
    assert_eq!(counted(&rig, POINT_CHANGES), 1, "the next probe asks there");
}

/// One probe each 500 us, but only one under way; after 100 ms it is given up and the next is sent.
#[test]
fn one_probe_is_under_way() {
    let mut rig = ReactionRig::new(scheme(Route::Path, |_| {}), LINE);
    rig.cnm(63);
    rig.wait(Time::from_us(499));
    assert_eq!(probes(&rig).len(), 0);
    rig.wait(Time::from_ms(99));
    let sent = probes(&rig);
    assert_eq!((sent.len(), sent[0].target), (1, ProbeTarget::Destination));
    rig.wait(Time::from_us(1_002));
    assert_eq!((probes(&rig).len(), counted(&rig, PROBES_LOST)), (2, 1));
    let rate = rig.rate();
    rig.feedback(&reply(&sent[0], Time::from_us(500), 11));
    assert_eq!(rig.rate(), rate, "the lost one came too late");
    let mut rig = ReactionRig::new(scheme(Route::Path, |p| p.second.probe_outstanding = 3), LINE);
    rig.cnm(63);
    rig.wait(Time::from_ms(50));
    assert_eq!(probes(&rig).len(), 3);
}

/// Without an answer the byte counter goes on as in QCN-2pt, to the bit.
#[test]
fn without_answers_it_is_qcn_2pt() {
    let mut probing = ReactionRig::new(scheme(Route::Directed, |_| {}), LINE);
    let mut plain = ReactionRig::new(crate::qcn_2pt::Qcn2pt(QcnParams::r07(Rate::from_mbps(12.0))), LINE);
    for step in 0..400u64 {
        for rig in [&mut probing, &mut plain] {
            if step % 37 == 0 {
                rig.cnm(40);
            }
            rig.send(1500 * (step % 11));
            rig.wait(Time::from_us(70));
        }
        assert_eq!(probing.rate(), plain.rate(), "step {step}");
    }
    assert!(!probes(&probing).is_empty());
}

#[test]
fn every_route_conforms() {
    for route in [Route::Directed, Route::SubPath, Route::Path] {
        let promise = Promise {
            floor: Rate::from_mbps(10.0),
            reacts: true,
            recovers: Some((Bytes::from_mb(40), Time::from_ms(100))),
            ..Promise::default()
        };
        let plain = || -> Box<dyn Scheme> { Box::new(scheme(route, |_| {})) };
        conformance(&plain, promise).unwrap();
        let hat = || -> Box<dyn Scheme> { Box::new(QcnProbing::hat("test", route, with_hat())) };
        conformance(&hat, promise).unwrap();
    }
}
