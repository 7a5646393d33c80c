//! E2CM's equations and a limiter's life, worked out by hand.

use super::*;
use cnsim_scheme_api::PointId;
use cnsim_scheme_api::network::{Lent, LimiterAction, LimiterState, Purpose, Stream};
use cnsim_scheme_api::testing::ReactionRig;

fn kb(n: f64) -> f64 {
    n * 1000.0 / 64.0
}
fn ecm(fb: f64) -> Feedback {
    Feedback::Ecm { point: PointId(7), q_off: fb, q_delta: 0.0, fb, stop: false }
}

/// Q_eq,f = 15 KB, W = 2: Fb_max = 75 KB = 1171.875 pages.
#[test]
fn feedback_by_hand() {
    let p = FlowParams::default();
    assert_eq!(p.fb_max(), 1171.875);
    assert_eq!(flow_feedback(&p, kb(15.0), kb(15.0)), 0.0);
    assert_eq!(flow_feedback(&p, 0.0, 0.0), kb(15.0));
    // (15 - 20) - 2 (20 - 17) = -11 KB
    assert!((flow_feedback(&p, kb(20.0), kb(17.0)) + kb(11.0)).abs() < 1e-9);
    // (15 - 10) - 2 (10 - 50) = 85 KB, clipped to 75
    assert_eq!(flow_feedback(&p, kb(10.0), kb(50.0)), kb(75.0));
    // MAX: above 56 KB even a falling occupancy cuts in full; at 56 KB it does not: (15 - 56) - 2 (56 - 80) = 7 KB.
    assert_eq!(flow_feedback(&p, kb(56.1), kb(80.0)), -kb(75.0));
    assert!((flow_feedback(&p, kb(56.0), kb(80.0)) - kb(7.0)).abs() < 1e-9);
    let off = FlowParams { max_f: None, ..p };
    assert!(flow_feedback(&off, kb(56.1), kb(80.0)) > 0.0);
}

/// G_d,f Fb_max = 2.5, held at 0.5 a probe; G_i,f Fb_max R_unit = 250 Mb/s; an empty path gives a fifth of it.
#[test]
fn gains_by_hand() {
    let (p, line) = (E2cmParams::default(), Rate::from_gbps(10.0));
    let max = p.flow.fb_max();
    assert!((p.flow.gd_f * max - 2.5).abs() < 1e-12);
    assert_eq!(flow_decreased(&p, line, -max).gbps(), 5.0);
    // 3 KB too much: 2.5 x 3 / 75 = 10 %.
    assert!((flow_decreased(&p, line, -kb(3.0)).gbps() - 9.0).abs() < 1e-9);
    assert_eq!(flow_decreased(&p, Rate::from_mbps(1.5), -max).mbps(), 1.0);
    let up = |fb| flow_increased(&p, Rate::from_gbps(1.0), line, fb).mbps();
    assert!((up(max) - 1250.0).abs() < 1e-6);
    assert!((up(kb(15.0)) - 1050.0).abs() < 1e-6);
    assert_eq!(flow_increased(&p, line, line, max), line);
    let whole = E2cmParams { flow: FlowParams { max_cut: 1.0, ..p.flow.clone() }, ..p };
    assert_eq!(flow_decreased(&whole, line, -max).mbps(), 1.0);
}

/// Z07's ECM: G_d Fb_max = 0.5 with Fb_max = 375 KB, G_i Fb_max R_unit = 0.5 % of 10 Gb/s.
#[test]
fn the_ecm_block() {
    let p = EcmParams::z07();
    let line = Rate::from_gbps(10.0);
    assert!((ecm::decreased(&p, line, -kb(375.0)).gbps() - 5.0).abs() < 1e-9);
    assert!((ecm::increased(&p, Rate::from_gbps(1.0), line, kb(375.0)).mbps() - 1050.0).abs() < 1e-6);
    assert_eq!(ecm::feedback(&p, kb(280.1), kb(280.1)).0, -kb(375.0), "MAX above 280 KB");
}

/// 75 KB in 1 ms are 600 Mb/s; with 200 us beyond the shortest latency 15 KB stand in queues.
#[test]
fn little_by_hand() {
    let rate = throughput(75_000, Time::from_ms(1)).unwrap();
    assert!((rate.mbps() - 600.0).abs() < 1e-9);
    assert!((occupancy(rate, Time::from_us(206), Time::from_us(6)) - kb(15.0)).abs() < 1e-9);
    assert_eq!(occupancy(rate, Time::from_us(5), Time::from_us(6)), 0.0);
    assert_eq!(throughput(75_000, Time::ZERO), None);
}

/// A reaction point with its limiter, at a time of one's own.
struct Bench {
    object: Reaction,
    state: LimiterState,
}

impl Bench {
    fn new(basis: Basis, set: &[(&str, &str)]) -> Self {
        let mut p = E2cmParams::default();
        set.iter().for_each(|(k, v)| p.set(k, v).unwrap());
        let stream = Stream::new(1, 1, Purpose::Reaction);
        let state = LimiterState::new(Rate::from_gbps(10.0), stream);
        let mut bench = Self { object: Reaction::new(basis, Arc::new(p), Time::from_us(8)), state };
        bench.at(0, |o, l| o.start(l));
        bench
    }
    fn at(&mut self, us: u64, call: impl FnOnce(&mut Reaction, &mut Limiter<'_>)) -> Vec<LimiterAction> {
        let mut actions = Vec::new();
        let now = Time::from_us(us);
        call(&mut self.object, &mut Limiter::new(now, &mut self.state, &mut actions));
        actions
    }
    /// A probe leaves at `out`, reaches the destination at `there` and is back at `back`, all us.
    fn trip(&mut self, times: (u64, u64, u64), sent_bytes: u64, rx: f64) {
        let number = self.object.next;
        self.at(times.0, |o, l| o.on_bytes(l));
        let mut probe = Probe::new(number, ProbeTarget::Destination, Class::Data);
        (probe.sent_at, probe.sent_bytes) = (Time::from_us(times.0), sent_bytes);
        let reply = Feedback::ProbeReply { probe, at: Time::from_us(times.1), rx_rate: Rate::from_mbps(rx) };
        self.at(times.2, |o, l| o.on_feedback(&reply, l));
    }
    fn mbps(&self) -> f64 {
        self.state.rate.mbps()
    }
}

/// Unlimited: only the shortest latency is learnt. Limited: the first probe starts the measurement, the second sets
/// occupancy 600 Mb/s x 400 us = 30 KB, Fb = -15 KB, halved; the third, lower by 20 KB, raises.
#[test]
fn a_limiters_life() {
    for basis in [Basis::Source, Basis::Destination] {
        let mut b = Bench::new(basis, &[]);
        b.trip((100, 104, 108), 75_000, 0.0);
        let base = if basis == Basis::Source { 8 } else { 4 };
        assert_eq!(b.object.shortest, Some(Time::from_us(base)));
        assert!(!b.state.engaged);
        b.at(200, |o, l| o.on_feedback(&ecm(-kb(375.0)), l));
        assert!(b.state.engaged && (b.mbps() - 5000.0).abs() < 1e-6);
        assert_eq!(b.state.tag(), Tag::Regulated(PointId(7)));
        b.trip((1000, 1404, 1408), 150_000, 900.0);
        assert!((b.mbps() - 5000.0).abs() < 1e-6, "no throughput yet");
        b.trip((2000, 2404, 2408), 225_000, 600.0);
        // 2.5 x 15 / 75 = 0.5
        assert!((b.mbps() - 2500.0).abs() < 1e-3, "{}", b.mbps());
        // 75 KB over 1 ms less 266 us = 817.4 Mb/s by the source, told so by the destination, x 134 us: 13.69 KB;
        // Fb = 1.308 + 2 x 16.308 = 33.925 KB = 530.07 pages x 0.21333 = 113.08 Mb/s.
        b.trip((3000, 3138, 3142), 300_000, 600.0 / 0.734);
        assert!((b.mbps() - 2613.08).abs() < 0.05, "{}", b.mbps());
        b.at(3200, |o, l| o.on_feedback(&ecm(kb(50.0)), l));
        assert!((b.mbps() - 2613.08).abs() < 0.05, "positive messages are ignored");
    }
}

/// Two probes lost between two returned ones: the source still divides all bytes by all the time.
#[test]
fn lost_probes() {
    let mut b = Bench::new(Basis::Source, &[]);
    b.trip((100, 104, 108), 0, 0.0);
    b.at(200, |o, l| o.on_feedback(&ecm(-kb(375.0)), l));
    b.trip((1000, 1004, 1008), 75_000, 0.0);
    b.at(2000, |o, l| o.on_bytes(l));
    b.at(3000, |o, l| o.on_bytes(l));
    // 225 KB in 3 ms + 300 us = 545.45 Mb/s x 300 us = 20.4545 KB: Fb = -5.4545 KB, 2.5 x 5.4545 / 75 = 18.18 %.
    b.trip((4000, 4304, 4308), 300_000, 0.0);
    assert!((b.mbps() - 5000.0 * (1.0 - 0.181_818)).abs() < 0.1, "{}", b.mbps());
    assert_eq!(b.object.next, 5);
    // An answer that comes twice, or to nobody's probe, is no measurement.
    let before = b.mbps();
    for number in [4, 5, u32::MAX] {
        let probe = Probe::new(number, ProbeTarget::Destination, Class::Data);
        let reply = Feedback::ProbeReply { probe, at: Time::MAX, rx_rate: Rate::ZERO };
        b.at(5000, |o, l| o.on_feedback(&reply, l));
    }
    assert_eq!(b.mbps(), before);
}

/// Probes sent before the limiter count for it only with `history = kept`.
#[test]
fn history() {
    for (text, cut) in [("restarted", false), ("kept", true)] {
        let mut b = Bench::new(Basis::Source, &[("history", text)]);
        b.trip((100, 104, 108), 0, 0.0);
        b.trip((1100, 1104, 1108), 75_000, 0.0);
        b.at(1200, |o, l| o.on_feedback(&ecm(-kb(375.0)), l));
        let before = b.mbps();
        b.trip((2000, 2504, 2508), 150_000, 0.0);
        assert_eq!(b.mbps() < before, cut, "{text}");
    }
}

/// A first sample in a full queue reads as an empty path: the rate rises where it should fall.
#[test]
fn the_shortest_latency_decides() {
    for (text, cut) in [("probe-always", true), ("unloaded", true), ("first-sample", false)] {
        let mut b = Bench::new(Basis::Source, &[("l0", text)]);
        if text == "probe-always" {
            b.trip((100, 104, 108), 0, 0.0);
        } else {
            assert!(b.at(100, |o, l| o.on_bytes(l)).iter().all(|a| !matches!(a, LimiterAction::Probe(_))));
        }
        b.at(200, |o, l| o.on_feedback(&ecm(-kb(375.0)), l));
        b.trip((1000, 1504, 1508), 75_000, 0.0);
        let before = b.mbps();
        b.trip((2000, 2504, 2508), 150_000, 0.0);
        assert_eq!(b.mbps() < before, cut, "{text}");
    }
}

#[test]
fn first_probe() {
    for (text, low, high) in [("uniform", 1, 75_000), ("full-interval", 67_500, 82_500)] {
        let mut b = Bench::new(Basis::Source, &[("first_probe", text)]);
        let made = b.at(10, |o, l| o.on_feedback(&ecm(-1.0), l));
        assert!(!made.iter().any(|a| matches!(a, LimiterAction::Probe(_))));
        assert!((low..=high).contains(&b.state.countdown), "{text}: {}", b.state.countdown);
    }
    let mut b = Bench::new(Basis::Source, &[("first_probe", "at-once")]);
    let made = b.at(10, |o, l| o.on_feedback(&ecm(-1.0), l));
    assert!(made.iter().any(|a| matches!(a, LimiterAction::Probe(_))));
}

/// Back at line rate the limiter is given back and its tag with it; a cut before the queue is empty takes it back.
#[test]
fn given_back_and_taken_back() {
    let mut b = Bench::new(Basis::Source, &[]);
    b.at(10, |o, l| o.on_feedback(&ecm(-1.0), l));
    b.at(20, |o, l| {
        l.set_rate(l.line_rate());
        o.settle(l);
    });
    assert!(b.state.release && b.state.tag() == Tag::None);
    b.at(30, |o, l| o.on_feedback(&ecm(-1.0), l));
    assert!(!b.state.release && b.state.engaged && b.state.tag() != Tag::None);
}

/// 75 KB x U(0.9, 1.1), or 10 ms: 50 MB make 667 probes, 100 ms of silence ten.
#[test]
fn the_probe_clock() {
    let scheme = E2cm { basis: Basis::Source, params: Arc::new(E2cmParams::default()) };
    let mut rig = ReactionRig::new(scheme, Rate::from_gbps(10.0));
    rig.feedback(&ecm(-1.0));
    let probes = |r: &ReactionRig| {
        r.actions.iter().filter(|a| matches!(a, LimiterAction::Probe(p) if p.class == Class::Data)).count()
    };
    rig.send(50_000_000);
    let n = probes(&rig);
    assert!((645..=680).contains(&n), "{n}");
    rig.wait(Time::from_ms(100));
    assert_eq!(probes(&rig) - n, 10);
}

/// `unloaded` starts from the topology: the round trip, or half of it for the way out. 600 Mb/s with 400 us beyond that are 30
/// KB; a trip as short as that is an empty path.
#[test]
fn the_topology_knows_the_shortest_latency() {
    let site =
        |basis| Reaction::new(basis, Arc::new(with(&[("l0", "unloaded")])), Time::from_us(80)).shortest;
    assert_eq!(site(Basis::Source), Some(Time::from_us(80)));
    assert_eq!(site(Basis::Destination), Some(Time::from_us(40)));
    assert_eq!(Reaction::new(Basis::Source, Arc::new(with(&[])), Time::from_us(80)).shortest, None);
}

fn with(sets: &[(&str, &str)]) -> E2cmParams {
    let mut params = E2cmParams::default();
    sets.iter().for_each(|(key, text)| params.set(key, text).unwrap());
    params
}

/// From its first frame on a flow probes, limited or not; with the other readings only while it is limited. Probes and
/// answers are counted.
#[test]
fn who_probes() {
    for (l0, free, limited) in [("probe-always", 13, 13), ("unloaded", 0, 13), ("first-sample", 0, 13)] {
        let params = with(&[("l0", l0), ("probe_jitter", "0"), ("first_probe", "full-interval")]);
        let mut rig =
            ReactionRig::new(E2cm { basis: Basis::Source, params: Arc::new(params) }, Rate::from_gbps(10.0));
        let counted = |rig: &ReactionRig, counter: Counter| rig.counts.of(&counter.name).unwrap();
        rig.send(1_000_000);
        assert_eq!(rig.probes.len(), free, "{l0}");
        rig.feedback(&ecm(-1000.0));
        rig.send(1_000_000);
        assert_eq!(rig.probes.len() - free, limited, "{l0}");
        assert_eq!(counted(&rig, PROBES_SENT), rig.probes.len() as u64, "{l0}");
        let probe = rig.probes.pop_front().unwrap();
        rig.feedback(&Feedback::ProbeReply { probe, at: rig.now(), rx_rate: Rate::ZERO });
        assert_eq!(counted(&rig, PROBES_RETURNED), 1);
    }
}
