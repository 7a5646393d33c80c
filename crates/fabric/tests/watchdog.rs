//! Watchdogs against storms of PAUSE. On this network a frame of 1500 B takes 1.2 us on each link, and each link with the node behind it
//! 1.5 us. PAUSE takes no time on the link, so what a fault says at 500 us is heard at 501.5 us.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{AckGate, Acks, Bytes, Ramp, RampAt, ReflectGate, Scope, Time};
use common::random::Draws;
use common::script::{AtPoint, AtSource, run_all, script};
use common::*;

const WAY: u64 = 1_500_000;
const US: u64 = 1_000_000;

/// Host 2 is in XOFF over these spans, ps as its switch hears them. Hosts 0 and 1 send nothing yet.
fn storm(spans: &[(u64, u64)], watchdog: WatchdogSpec) -> RunSpec {
    let mut spec = single_switch(3, 0.0, true, Time::from_ms(3), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    let fault = |(from, to)| in_xoff((2, 0), Time::from_ps(from - WAY), Time::from_ps(to - WAY));
    spec.events.faults.extend(spans.iter().copied().map(fault));
    spec.switches[0].buffer.pause.as_mut().unwrap().transport = PauseTransport::Wire;
    spec.laws.watchdog = Some(watchdog);
    spec
}

/// The same while hosts 0 and 1 send to host 2 as fast as they may.
fn busy(spans: &[(u64, u64)], watchdog: WatchdogSpec) -> RunSpec {
    let mut spec = storm(spans, watchdog);
    spec.hosts[..2].iter_mut().for_each(|h| h.sources = vec![greedy(2)]);
    spec
}

fn watchdog(rule: WatchdogRule, detect: u64, restore: u64, action: WatchdogAction) -> WatchdogSpec {
    WatchdogSpec { rule, detect: Time::from_ps(detect), restore: Time::from_ps(restore), action }
}

fn continuous(detect: u64, restore: u64, action: WatchdogAction) -> WatchdogSpec {
    watchdog(WatchdogRule::Continuous, detect * US, restore * US, action)
}

/// By both engines, which agree.
fn ran(spec: &RunSpec) -> Outcome {
    agreed(spec, 0, &[(1, Visits::Due), (1, Visits::All), (1, Visits::Turns)])
}

/// Begin and end of each storm, ps, at the port to host 2.
fn storms(out: &Outcome) -> Vec<(u64, Option<u64>)> {
    let storms = &out.switches[0].storms;
    assert!(storms.iter().all(|s| (s.port, s.class) == (2, 0)), "{storms:?}");
    storms.iter().map(|s| (s.from.as_ps(), s.until.map(Time::as_ps))).collect()
}

use WatchdogAction::{Alert, Drop, Forward};
use WatchdogRule::{Continuous, Polled80, Polled99};

/// 10 frames wait when XOFF has stood for 100 us, 20 come after it, and 7 when XOFF has ended, but not for 200 us. 3 came before, and 5
/// come later.
#[test]
fn what_drops_is_counted_by_hand() {
    let mut spec = storm(&[(500 * US, 1500 * US)], continuous(100, 200, Drop));
    let sent = [(100, 3), (520, 10), (700, 20), (1600, 7), (1750, 5)];
    spec.hosts[0].sources = vec![flows(sent.map(|(at, frames)| flow(at, 2, frames * 1500)).to_vec())];
    let out = ran(&spec);
    assert_eq!(storms(&out), [(600 * US, Some(1700 * US))]);
    assert_eq!((out.switches[0].storms[0].dropped, out.dropped(), out.hosts[2].delivered), (37, 37, 8));
    assert_eq!(out.switches[0].ports[2].dropped, 0, "no room was lacking");
    // Without it all arrive, and `alert` and `forward` lose nothing.
    for action in [Alert, Forward] {
        spec.laws.watchdog = Some(continuous(100, 200, action));
        let out = ran(&spec);
        assert_eq!((storms(&out).len(), out.dropped(), out.hosts[2].delivered), (1, 0, 45), "{action:?}");
    }
}

/// XOFF for exactly the time of detection is a storm; for 1 ps less it is none. With no frame waiting, it begins as the first comes.
#[test]
fn detection_to_the_picosecond() {
    let at = |from: u64, to: u64| storms(&ran(&busy(&[(from, to)], continuous(100, 300, Alert))));
    assert_eq!(at(500 * US, 600 * US), [(600 * US, Some(900 * US))]);
    assert_eq!(at(500 * US, 600 * US - 1), []);
    assert_eq!(at(500 * US + 1, 700 * US), [(600 * US + 1, Some(1000 * US))]);
    let mut late = storm(&[(500 * US, 900 * US)], continuous(100, 300, Alert));
    late.hosts[0].sources = vec![flows(vec![flow(700, 2, 3000)])];
    assert_eq!(storms(&ran(&late)), [(702_700_000, Some(1200 * US))], "1.2 us of a frame and the link");
}

/// XOFF that comes back before the output was without it for the time to restore keeps the storm; later it begins another.
#[test]
fn restored_after_a_time_without_xoff() {
    let again = |from: u64| {
        let spans = [(500 * US, 700 * US), (from, 1100 * US)];
        storms(&ran(&busy(&spans, continuous(100, 200, Alert))))
    };
    assert_eq!(again(900 * US - 1), [(600 * US, Some(1300 * US))]);
    assert_eq!(again(900 * US), [(600 * US, Some(900 * US)), (1000 * US, Some(1300 * US))]);
    let open = storms(&ran(&busy(&[(500 * US, 2900 * US)], continuous(100, 200, Alert))));
    assert_eq!(open, [(600 * US, None)], "it lasts to the end of the run");
}

/// 80 % of an interval in XOFF, or 99 %, in one piece or in several, is a storm at its end; 1 ps less is none, nor is as much over two
/// intervals.
#[test]
fn polled_at_the_ends_of_intervals() {
    for (rule, part) in [(Polled80, 80 * US), (Polled99, 99 * US)] {
        let at = |spans: &[(u64, u64)]| storms(&ran(&busy(spans, watchdog(rule, 100 * US, 200 * US, Alert))));
        let from = 500 * US + 500_000;
        assert_eq!(at(&[(from, from + part)]), [(600 * US, Some(from + part + 200 * US))], "{rule:?}");
        assert_eq!(at(&[(from, from + part - 1)]), []);
        let (cut, gap) = (from + 40 * US, 200_000);
        let end = from + part + gap;
        assert_eq!(at(&[(from, cut), (cut + gap, end)]), [(600 * US, Some(end + 200 * US))], "{rule:?}");
        assert_eq!(at(&[(550 * US, 629 * US)]), [], "79 us over two intervals");
        assert_eq!(at(&[(510 * US, 900 * US)])[0].0, if rule == Polled80 { 600 * US } else { 700 * US });
    }
    // The continuous rule takes no pieces together.
    let pieces = [(500 * US, 540 * US), (541 * US, 599 * US)];
    assert_eq!(storms(&ran(&busy(&pieces, watchdog(Continuous, 100 * US, 200 * US, Alert)))), []);
}

/// Drawn spans, as if each interval were looked at: those of XOFF in it are added up by hand.
#[test]
fn polled_like_every_interval_by_itself() {
    let mut found = 0;
    for seed in 0..40 {
        let d = &mut Draws::new(seed, 1);
        let (detect, mut spans, mut at) = (d.one(&[7, 30, 110]) * US, Vec::new(), 400 * US);
        while at < 2_500 * US {
            let most = d.one(&[20, 300]);
            let (gap, length) = (US + d.below(90 * US), US + d.below(most * US));
            spans.push((at + gap, at + gap + length));
            at += gap + length;
        }
        let restore = detect + d.below(60 * US);
        let (mut expected, mut free_from): (Vec<(u64, Option<u64>)>, u64) = (Vec::new(), 0);
        for end in (1..3_000 * US / detect + 1).map(|n| n * detect).filter(|end| *end < 3_000 * US) {
            let stood: u64 = spans.iter().map(|s| s.1.min(end).saturating_sub(s.0.max(end - detect))).sum();
            if stood * 100 >= detect * 80 && end >= free_from {
                let ends = spans.iter().zip(spans.iter().skip(1).map(|s| s.0).chain([u64::MAX]));
                let until = ends
                    .map(|(s, next)| (s.1 + restore, next))
                    .find(|(until, next)| until <= next && *until > end);
                free_from = until.map_or(u64::MAX, |u| u.0);
                expected.push((end, until.map(|u| u.0).filter(|until| *until < 3_000 * US)));
            }
        }
        found += expected.len();
        assert_eq!(
            storms(&ran(&busy(&spans, watchdog(Polled80, detect, restore, Alert)))),
            expected,
            "seed {seed}"
        );
    }
    assert!(found > 80, "{found}");
}

/// Intervals of 1 ps in a run of 3 ms cost nothing where nothing moves: an output in XOFF without a frame, one in a storm, and others. A
/// frame that comes begins a storm at the next interval's end.
#[test]
fn intervals_without_a_change_are_not_looked_at() {
    let watch = watchdog(Polled99, 1, 1_000, Alert);
    assert_eq!(storms(&ran(&storm(&[(400 * US, 2_900 * US)], watch))), []);
    assert_eq!(
        storms(&ran(&busy(&[(400 * US, 2_900 * US)], watch))),
        [(400 * US + 1, Some(2_900 * US + 1_000))]
    );
    let mut late = storm(&[(400 * US, 2_900 * US)], watch);
    late.hosts[0].sources = vec![flows(vec![flow(1_000, 2, 1500)])];
    // A frame of 1500 B takes 1.2 us to leave, and 1.5 us to the switch.
    assert_eq!(storms(&ran(&late)), [(1_002_700_001, Some(2_900 * US + 1_000))]);
}

/// With `forward` the output sends on from the moment of detection. It obeys again when it is restored.
#[test]
fn forward_ignores_pause_until_restored() {
    let spans = [(500 * US, 1500 * US), (1700 * US, 1760 * US)];
    let out = ran(&busy(&spans, continuous(100, 150, Forward)));
    assert_eq!(storms(&out), [(600 * US, Some(1650 * US))]);
    let mut calm = busy(&[], continuous(1, 1, Alert));
    calm.laws.watchdog = None;
    let whole = ran(&calm);
    let fewer = whole.hosts[2].delivered - out.hosts[2].delivered;
    // 100 us before the first storm and 60 us of the second XOFF are 133 frames, one more or less where a span begins within one.
    assert!((132..=135).contains(&fewer), "{fewer}");
    assert_eq!(out.switches[0].ports[2].paused, Time::from_us(1060), "it counts on");
    assert_eq!(out.dropped(), 0);
}

/// A watchdog that only counts changes nothing else.
#[test]
fn alert_changes_nothing_but_its_counts() {
    for rule in [Continuous, Polled80] {
        let alert = busy(&[(500 * US, 1500 * US)], WatchdogSpec { rule, ..continuous(100, 200, Alert) });
        let mut counted = ran(&alert);
        let laws = Laws { watchdog: None, ..alert.laws };
        let off = ran(&RunSpec { laws, ..alert.clone() });
        assert_eq!(std::mem::take(&mut counted.switches[0].storms).len(), 1);
        assert_eq!(format!("{:#?}", counted.results()), format!("{:#?}", off.results()), "{rule:?}");
    }
}

/// Of two classes, that in XOFF is dropped and the other passes.
#[test]
fn each_class_has_its_own() {
    let mut spec = busy(&[(500 * US, 1500 * US)], continuous(100, 200, Drop));
    let class = |name: &str| ClassSpec { name: name.into(), pause: true, ..ClassSpec::default() };
    spec.classes = vec![class("a"), class("b")];
    spec.hosts[1].sources[0].class = 1;
    spec.hosts[1].sources.push(SourceSpec { class: 1, ..to(0, 0.1) });
    // Several classes are the model's.
    let out = by(Engine::Model, &spec);
    assert_eq!(storms(&out), [(600 * US, Some(1700 * US))]);
    let during = out.switches[0].storms[0].dropped;
    // Those that waited, up to a full partition, and 1100 us at line rate.
    assert!(during > 900 && during < 1100, "{during}");
    let whole = by(Engine::Model, &RunSpec { events: PortEvents::default(), ..spec });
    assert!(out.hosts[2].delivered > whole.hosts[2].delivered - 1100);
}

/// A ring of switches, all traffic the long way round it, stands still. Watchdogs that drop let it go on, and count what that costs;
/// those that alert do not.
#[test]
fn a_ring_in_deadlock_is_restored() {
    let n = 4;
    let mut spec = single_switch(n, 0.0, true, Time::from_ms(5), 1);
    let buffer = BufferSpec { organisation: Organisation::Input, ..buffer(true) };
    let switch = SwitchSpec { ports: 3, buffer, ..spec.switches[0].clone() };
    spec.switches = (0..n).map(|i| SwitchSpec { name: format!("S{i}"), ..switch.clone() }).collect();
    spec.links = (0..n).map(|i| link((i, 0), (n + i, 0))).collect();
    spec.links.extend((0..n).map(|i| link((n + i, 1), (n + (i + 1) % n, 2))));
    spec.routing = Routing::Clockwise;
    for (i, h) in spec.hosts.iter_mut().enumerate() {
        h.sources = vec![SourceSpec { stop: Time::from_ms(3), ..greedy(((i + n - 1) % n) as u32) }];
    }
    let by = |action: Option<WatchdogAction>| {
        let watchdog = action.map(|action| continuous(500, 500, action));
        ran(&RunSpec { laws: Laws { watchdog, ..spec.laws }, ..spec.clone() })
    };
    let (off, alert, restored) = (by(None), by(Some(Alert)), by(Some(Drop)));
    let delivered = |out: &Outcome| out.hosts.iter().map(|h| h.delivered).sum::<u64>();
    for stands in [&off, &alert] {
        assert!(stands.freeze.standstill.as_ref().unwrap().circle && stands.dropped() == 0);
    }
    assert_eq!((delivered(&off), restored.freeze.last_delivery), (delivered(&alert), None));
    let lost: u64 = restored.switches.iter().flat_map(|s| &s.storms).map(|s| s.dropped).sum();
    assert!(lost > 0 && lost == restored.dropped(), "{lost}");
    let sent: u64 = restored.hosts.iter().map(|h| h.sent).sum();
    assert!(delivered(&restored) > delivered(&off) && delivered(&restored) + lost <= sent);
}

/// Marks are decided as frames depart, by more than 2 KB behind them. At 0.1 Gb/s a frame takes 120 us. The second of four departs at
/// 222.7 us with two behind it; these a storm drops at 250 us, while it is on the link. It was marked all the same.
#[test]
fn a_drop_unmarks_nothing() {
    let (low, high) = (Bytes::new(2000), Bytes::new(2000));
    let ramp = Ramp { low, high, p_max: 1.0, p_beyond: 1.0, at: RampAt::Departure };
    let marks = script()
        .gate(ReflectGate::Always)
        .point(move |at, _, ctl, _| {
            if let AtPoint::Start = at {
                ctl.mark(ramp);
            }
        })
        .on_frame(|_, _, _| {});
    let mut spec = storm(&[(230 * US, 1500 * US)], continuous(20, 200, Drop));
    spec.hosts[0].sources = vec![flows(vec![flow(100, 2, 4 * 1500)])];
    spec.events.changes = vec![change(0, 3, 2, 0.1)];
    let seen = run_all(&marks, spec).unwrap();
    assert_eq!(storms(&seen.out), [(250 * US, Some(1700 * US))]);
    assert_eq!((seen.count("frame false"), seen.count("frame true"), seen.out.dropped()), (1, 1, 2));
    assert_eq!(seen.out.switches[0].ports[2].queue_max, 6000);
}

/// Nor does it change what the departure recorded, as a scheme that asks for telemetry learns: nobody waited behind the first frame, and
/// two behind the second, whatever became of them.
#[test]
fn a_drop_changes_no_record() {
    let records = script()
        .plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Telemetry))
        .point(|at, _, ctl, _| {
            if let AtPoint::Start = at {
                ctl.record_departures();
            }
        })
        .source(|at, limiter, notes| match at {
            AtSource::Start => limiter.wake_on_acks(AckGate::EACH),
            AtSource::Ack(ack) => {
                ack.path
                    .iter()
                    .for_each(|hop| notes.say(limiter.now(), format!("queue {}", hop.queue.get())));
            }
            _ => {}
        });
    let mut spec = storm(&[(230 * US, 1500 * US)], continuous(20, 200, Drop));
    spec.transport = Some(TRANSPORT);
    spec.hosts[0].sources = vec![flows(vec![flow(100, 2, 4 * 1500)])];
    spec.events.changes = vec![change(0, 3, 2, 0.1)];
    let seen = run_all(&records, spec).unwrap();
    assert_eq!((seen.numbers("queue "), seen.out.dropped()), (vec![0.0, 3000.0], 2));
}

/// Refused, each with its cause.
#[test]
fn what_cannot_be() {
    let mut without = busy(&[], continuous(100, 200, Drop));
    without.switches[0].buffer.pause = None;
    for (why, spec) in [
        ("detects at once", busy(&[], continuous(0, 200, Drop))),
        ("restores after 99 us", busy(&[], continuous(100, 99, Drop))),
        ("no switch has PAUSE", without),
    ] {
        let given = refused(&spec);
        assert!(given.contains(why), "{why}: {given}");
    }
}
