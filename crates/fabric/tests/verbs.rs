//! Every verb of the seam acts in a real network: schemes of a few lines, one for each verb, run by the reference engine and by
//! the fast one on one and two threads. What they see and what comes of it must be the same, and what the verb promises.
//!
//! The last test reads the contract, and looks here for each verb. This file is long because it has a test for each.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::Lent;
use cnsim_scheme_api::{
    Bytes, Class, Feedback, Limiter, NodeId, PointControl, PointId, Probe, ProbeTarget, QueueSite, Ramp,
    RampAt, Rate, ReflectGate, Scope, SinkSite, Slot, SourceSite, Tag, Time,
};
use common::change;
use common::script::*;

#[test]
fn sites_say_where_a_room_stands() {
    let seen = see(&script().gate(ReflectGate::Always).point(|_, _, _, _| {}), &[0.5]);
    let rate = Rate::from_gbps(10.0);
    // Hosts have one port each.
    let queues = (3..6).map(|p| format!("{:?}", QueueSite { point: PointId(p), rate, attached: true }));
    assert!(seen.all("QueueSite").iter().map(|n| n.1.clone()).eq(queues));
    let (flow, src, dst, mtu) = (FLOW, NodeId(0), NodeId(TO), Bytes::new(1500));
    // Out: two frame times, two links, switch and host; back: two minimum frames and the same again.
    let base_rtt = Time::from_ns(2 * 1200 + 2 * (2 * 500 + 2000)) + Time::from_ps(2 * 51_200);
    let source = SourceSite {
        flow,
        src,
        dst,
        class: Class::Data,
        line_rate: rate,
        base_rtt,
        mtu,
        hops: 2,
        size: None,
        initial_rate: None,
        others: 0,
    };
    let sink = SinkSite { flow, src, dst, line_rate: rate };
    for (site, due) in [("SourceSite", format!("{source:?}")), ("SinkSite", format!("{sink:?}"))] {
        let all = seen.all(site);
        assert!(!all.is_empty() && all.iter().all(|n| n.1 == due), "{all:?}");
    }
}

#[test]
fn reaction_points_are_built_with_frames_or_by_feedback() {
    let base = script()
        .point(|at, _, ctl, _| {
            if let AtPoint::Timer(_) = at {
                ctl.notify(FLOW, Feedback::User([ctl.now().as_ps() / 100_000_000, 0]));
            }
            ctl.start_timer(Slot(0), Time::from_us(100));
        })
        .source(|at, limiter, _| {
            if let AtSource::Feedback(told) = at {
                limiter.engage();
                if *told == Feedback::User([5, 0]) {
                    limiter.release_when_empty();
                }
            }
        });
    let first = see(&base, &[0.2]);
    assert_eq!((first.count("source starts"), first.numbers("told")[0]), (1, 1.0));
    assert!(first.times("source starts")[0] < Time::from_us(50));
    // Messages 1 and 2 find nobody. After the fifth the limiter is given back, and the sixth builds another.
    let mut late = base.plan(|p| p.built = Default::default());
    late.engages = |f| !matches!(f, Feedback::User([..=2, _]));
    let late = see(&late, &[0.2]);
    assert_eq!(late.out.messages.ignored, 2);
    assert_eq!(late.numbers("told"), [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let starts: Vec<u64> = late.times("source starts").iter().map(|t| t.as_ps() / 100_000_000).collect();
    assert_eq!(starts, [3, 6]);
}

/// Stamps half of the frames; the queue marks about every fourth.
fn gated(gate: ReflectGate) -> Script {
    script()
        .gate(gate)
        .source(|_, limiter, _| limiter.tag_frames_with(Tag::RateDiscovery(limiter.line_rate()), 0.5))
        .point(|_, _, ctl, _| {
            ctl.mark(Ramp { p_max: 0.25, p_beyond: 0.25, ..Ramp::step(Bytes::ZERO) });
            ctl.advertise(Rate::from_gbps(3.0));
        })
        .sink(|_, _, _| {})
}

#[test]
fn gates_select_frames() {
    let all = see(&gated(ReflectGate::Always), &[0.9]);
    let marked = all.count("frame true");
    let tags: Vec<_> = all.all("frame").into_iter().filter(|n| !n.1.contains("None")).collect();
    let (delivered, tagged) = (all.delivered(), tags.len() as u64);
    assert_eq!(all.count("frame"), delivered);
    let share = |n: u64| n as f64 / delivered as f64;
    assert!((0.2..0.3).contains(&share(marked)) && (0.43..0.57).contains(&share(tagged)));
    // The queue has written its rate into the tags.
    let stamped = format!("{:?}", Tag::RateDiscovery(Rate::from_gbps(3.0)));
    assert!(tags.iter().all(|n| n.1.ends_with(&stamped)));
    for (gate, due) in [
        (ReflectGate::Never, 0),
        (ReflectGate::Marked, marked),
        (ReflectGate::Tagged, tagged),
        (ReflectGate::ReturnTags("first"), 0),
    ] {
        let seen = see(&gated(gate), &[0.9]);
        assert_eq!(seen.count("frame"), due, "{gate:?}");
        let returned = if gate == ReflectGate::ReturnTags("first") { tagged } else { 0 };
        assert_eq!(seen.out.counters, [("second".into(), 0), ("first".into(), returned)]);
        // The last of them are still on their way.
        assert!(returned - seen.count("told ReturnedRate") < 10);
    }
    let some = see(&gated(ReflectGate::Unmarked(0.5)), &[0.9]);
    assert_eq!(some.count("frame true"), 0);
    assert!((0.3..0.45).contains(&share(some.count("frame"))));
}

#[test]
fn a_reflector_chooses_other_frames() {
    for (gate, least, most) in [
        (ReflectGate::Never, 1, 1),
        (ReflectGate::Marked, 100, 250),
        (ReflectGate::Unmarked(0.5), 200, 350),
        (ReflectGate::Tagged, 300, 480),
        (ReflectGate::Always, 700, 800),
    ] {
        let script = gated(ReflectGate::Always).on_frame(move |_, ctl, _| ctl.hear(gate));
        let n = see(&script, &[0.9]).count("frame");
        assert!((least..=most).contains(&n), "{gate:?}: {n}");
    }
    // What it chooses as it begins holds from then on.
    let deaf = gated(ReflectGate::Always).sink(|at, ctl, _| {
        if let AtSink::Start = at {
            ctl.hear(ReflectGate::Never);
        }
    });
    let seen = see(&deaf, &[0.9]);
    assert!(seen.delivered() > 700 && seen.count("frame") <= 1, "{}", seen.count("frame"));
    let vain = probing(Class::Control, false, false).gate(ReflectGate::Never);
    let vain = vain.sink(|_, ctl, _| ctl.hear(ReflectGate::Always));
    let error = stops(&vain, network(&[0.9]));
    assert!(error.contains("by its plan no data frame wakes a reflector"), "{error}");
}

#[test]
fn samples_come_after_bytes_and_see_the_queue() {
    let script = script().point(|at, queue, ctl, notes| {
        if let AtPoint::Sample(_) = at {
            let say = |what: &str, n: u64| notes.say(ctl.now(), format!("{what} {n}"));
            say("counted", ctl.bytes_since_armed().get());
            say("arrived", queue.arrived);
            say("rest", queue.arrived - queue.sent - queue.len.get());
            say("long", queue.len.get());
            notes.say(ctl.now(), format!("rates {:?}", (queue.line_rate, queue.service_rate)));
        }
        ctl.sample_after(Bytes::new(15_000));
    });
    let mut spec = network(&[0.7, 0.7]);
    spec.switches[0].buffer.share = Bytes::from_kb(60);
    spec.events.changes = vec![change(500, 3, PORT, 4.0)];
    let seen = run_all(&script, spec).unwrap();
    let counted = seen.numbers("counted");
    assert!(counted.len() > 80 && counted.iter().all(|n| (15_000.0..16_500.0).contains(n)), "{counted:?}");
    // Drops are counted, and are not among what has arrived.
    let dropped: u64 = seen.out.switches[0].ports.iter().map(|p| p.dropped).sum();
    let arrived = seen.numbers("arrived").into_iter().fold(0.0, f64::max);
    let missed = counted.iter().sum::<f64>() - arrived - dropped as f64 * 1500.0;
    // Ten further frames, at most, come after the last sample.
    assert!(dropped > 50 && (-16_500.0..=1500.0).contains(&missed), "{dropped} {missed}");
    assert!(seen.numbers("rest").iter().all(|n| *n == 0.0));
    assert!(seen.numbers("long").iter().any(|n| *n > 60_000.0));
    for (at, what) in seen.all("rates") {
        let now = Rate::from_gbps(if *at < Time::from_us(500) { 10.0 } else { 4.0 });
        assert_eq!(*what, format!("rates {:?}", (Rate::from_gbps(10.0), now)));
    }
}

/// Frames at a point that arms this in the beginning, and this after 500 us, of memory of `share` kB.
fn sampled(
    arm: fn(&mut PointControl<'_>),
    late: fn(&mut PointControl<'_>),
    loads: &[f64],
    share: u64,
) -> Seen {
    let script = gated(ReflectGate::Tagged).point(move |at, _, ctl, _| match at {
        AtPoint::Start => {
            arm(ctl);
            ctl.start_timer(Slot(0), Time::from_us(500));
        }
        AtPoint::Sample(f) => {
            assert_eq!((f.dst, f.len), (NodeId(TO), Bytes::new(1500)));
            assert_eq!((f.flow.0, f.src.0 < 2), (f.src.0 * 3 + TO, true));
        }
        _ => late(ctl),
    });
    let mut spec = network(loads);
    spec.switches[0].buffer.share = Bytes::from_kb(share);
    run_all(&script, spec).unwrap()
}

#[test]
fn samples_of_frames_by_chance_tag_or_all() {
    let all = sampled(|ctl| ctl.sample_always(), |_| {}, &[0.9], 150);
    // The last ones are on their way.
    assert!((all.delivered()..all.delivered() + 6).contains(&all.count("sample")));
    let arms: [(fn(&mut PointControl<'_>), _, _); 4] = [
        (|ctl| ctl.sample_with(0.25), 140, 240),
        (|ctl| ctl.sample_with(0.0), 0, 0),
        (|ctl| ctl.sample_tagged(), 300, 450),
        (|_| {}, 0, 0),
    ];
    for (arm, least, most) in arms {
        let n = sampled(arm, |_| {}, &[0.9], 150).count("sample");
        assert!((least..=most).contains(&n), "{least} to {most}: {n}");
    }
    let tagged = sampled(|ctl| ctl.sample_tagged(), |_| {}, &[0.9], 150);
    assert!(tagged.all("sample").iter().all(|n| !n.1.contains("None")));
    let half = sampled(|ctl| ctl.sample_always(), |ctl| ctl.sample_never(), &[0.9], 150);
    assert!(half.count("sample") > 300 && half.times("sample").iter().all(|t| *t <= Time::from_us(500)));
}

#[test]
fn dropped_frames_are_sampled_or_not() {
    let on = sampled(|ctl| ctl.sample_always(), |_| {}, &[0.9, 0.9], 30);
    let dropped: u64 = on.out.switches[0].ports.iter().map(|p| p.dropped).sum();
    assert!(dropped > 100);
    assert_eq!(on.count("sample true"), dropped);
    let off = sampled(|ctl| (ctl.sample_always(), ctl.sample_dropped(false)).1, |_| {}, &[0.9, 0.9], 30);
    assert!(off.count("sample true") == 0 && off.count("sample false") == on.count("sample false"));
}

#[test]
fn a_point_is_woken_as_frames_leave() {
    // Two hosts of 70 % share the port: it is never idle for long, and most frames wait.
    let script = script()
        .plan(|p| (p.departures, p.reflect) = (true, ReflectGate::Always))
        .point(|at, queue, ctl, notes| {
            if let AtPoint::Departure(f) = at {
                notes.say(ctl.now(), format!("sent {}", queue.sent));
                notes.say(ctl.now(), format!("behind {}", queue.len.get() - f.len.get()));
                f.marked = queue.sent % 3000 == 0;
                f.tag = Tag::User(queue.sent as u32);
                if queue.sent == 15_000 {
                    ctl.notify(f.flow, SAYS);
                }
            }
        })
        .source(|_, _, _| {})
        .on_frame(|f, ctl, notes| {
            notes.say(ctl.now(), format!("got {} {:?} {}", f.src.0, f.tag, f.marked));
        });
    let seen = see(&script, &[0.7, 0.7]);
    let leaves = seen.all("leaves");
    // Each frame leaves once, a transmission after the one before at the earliest, and nothing else delays it.
    assert_eq!(leaves.len() as u64, seen.out.switches[0].ports[usize::from(PORT)].sent + 1);
    let (sent, behind) = (seen.numbers("sent"), seen.numbers("behind"));
    assert!(sent.iter().enumerate().all(|(i, n)| *n == 1500.0 * i as f64), "{sent:?}");
    let gap = |i: usize| leaves[i + 1].0.saturating_sub(leaves[i].0);
    let frame = Time::from_ns(1200);
    assert!((0..leaves.len() - 1).all(|i| gap(i) >= frame && (behind[i] == 0.0 || gap(i) == frame)));
    // What is written then arrives: 1.2 us of transmission, 0.5 us of link and 1 us of the host later.
    let got = seen.all("got");
    assert!(got.len() > 700);
    for (i, (at, what)) in got.iter().enumerate() {
        assert_eq!(*at, leaves[i].0 + frame + Time::from_ns(500) + Time::from_us(1));
        let (src, bytes) = (&leaves[i].1[7..], 1500 * i);
        assert_eq!(*what, format!("got {src} User({bytes}) {}", bytes % 3000 == 0));
    }
    assert_eq!(seen.count("told 4 2"), 1);
    // The network runs by the model for it, and that is said.
    let mut spec = network(&[0.7, 0.7]);
    common::with_scheme(&mut spec, std::sync::Arc::new(script));
    let why = common::by(Engine::Fast, &spec).by_model.unwrap();
    assert!(why.contains("as frames leave"), "{why}");
}

#[test]
fn reflectors_have_timers() {
    let period = Time::from_us(50);
    let answers = script()
        .plan(|p| (p.received, p.reflect) = (true, ReflectGate::Always))
        .source(|_, _, _| {})
        .sink(move |at, ctl, notes| match at {
            AtSink::Start => {
                [1, 3, 4].into_iter().zip(0..).for_each(|(n, i)| ctl.start_timer(Slot(i), period * n))
            }
            AtSink::Timer(slot) => {
                let received = ctl.received();
                notes.say(ctl.now(), format!("expires {} {received}", slot.0));
                ctl.reply(Feedback::User([u64::from(slot.0), received]));
                match slot {
                    Slot(0) => ctl.start_timer(slot, period),
                    _ => ctl.stop_timer(Slot(2)),
                }
            }
            _ => {}
        });
    let seen = see(&answers, &[0.5]);
    let begin = seen.times("sink starts")[0];
    let ends = seen.times("expires 0");
    let due: Vec<_> = (1..=ends.len() as u64).map(|i| begin + period * i).collect();
    assert!(ends.len() >= 19 && ends == due, "{ends:?}");
    assert_eq!(seen.times("expires 1"), [begin + period * 3]);
    assert_eq!(seen.count("expires 2"), 0);
    // It knows of all frames up to its moment, and of no later one.
    for (at, what) in seen.all("expires 0") {
        let frames = seen.times("frame").iter().filter(|f| **f <= *at).count();
        assert_eq!(*what, format!("expires 0 {}", 1500 * frames));
    }
    // Its answers reach the flow's source, the last one perhaps not any more.
    assert!(seen.count("told 0") + 1 >= ends.len() as u64 && seen.count("told 1") == 1);
    // One that serves a host has nobody to answer then.
    let error = stops(&answers.plan(|p| p.reflector_scope = Scope::Host), network(&[0.5]));
    assert!(error.contains("reflector of flow H0>H2") && error.contains("no frame is in hand"), "{error}");
}

#[test]
fn ramps_look_at_arrivals_or_departures() {
    for (at, loads, least, most) in [
        // A frame alone joins itself, and leaves nothing behind.
        (RampAt::Arrival, [0.5, 0.0], 1.0, 1.0),
        (RampAt::Departure, [0.5, 0.0], 0.0, 0.0),
        (RampAt::Departure, [0.5, 0.45], 0.3, 0.95),
    ] {
        let ramp = Ramp { at, ..Ramp::step(Bytes::ZERO) };
        let seen = see(&gated(ReflectGate::Always).point(move |_, _, ctl, _| ctl.mark(ramp)), &loads);
        let share = seen.count("frame true") as f64 / seen.delivered() as f64;
        assert!((least..=most).contains(&share), "{at:?} {loads:?}: {share}");
    }
}

#[test]
fn what_a_point_writes_into_a_frame_arrives() {
    let script = gated(ReflectGate::Always).point(|at, _, ctl, _| match at {
        AtPoint::Sample(f) => (f.marked, f.tag) = (true, Tag::User(77)),
        _ => ctl.sample_always(),
    });
    let seen = see(&script, &[0.5]);
    assert!(seen.delivered() > 300);
    assert_eq!(seen.count("frame true User(77)"), seen.delivered());
}

#[test]
fn points_speak_to_one_or_to_all() {
    for (scope, all, told, ignored) in [
        (Scope::Pair, false, vec![0.0], 0),
        (Scope::Host, false, vec![0.0], 0),
        // Host 2 sends nothing, and has no limiter.
        (Scope::Host, true, vec![0.0, 1.0], 1),
        (Scope::Pair, true, vec![], 3),
    ] {
        let script = script()
            .plan(|p| p.limiter_scope = scope)
            .point(move |at, _, ctl, _| match at {
                AtPoint::Start => ctl.start_timer(Slot(0), Time::from_us(300)),
                _ if all => ctl.broadcast(SAYS),
                _ => ctl.notify(FLOW, SAYS),
            })
            .source(|at, limiter, notes| {
                if let AtSource::Feedback(f) = at {
                    assert_eq!(*f, SAYS);
                    // The hosts' loads tell them apart.
                    let which = u8::from(mean_rate(limiter) < limiter.line_rate() * 0.5);
                    notes.say(limiter.now(), format!("heard {which}"));
                }
            });
        let seen = see(&script, &[0.8, 0.1]);
        assert_eq!(seen.out.messages.made, 1);
        // Processing at the switch and the host, a minimum frame and the link.
        let at = Time::from_us(300 + 2) + Time::from_ns(500) + Time::from_ps(51_200);
        assert!(seen.times("heard").iter().all(|t| *t == at), "{:?}", seen.all("heard"));
        assert_eq!((seen.numbers("heard"), seen.out.messages.ignored), (told, ignored), "{scope:?}, {all}");
    }
}

#[test]
fn ideal_feedback_takes_its_time_and_no_link() {
    let script = script().source(|_, _, _| {}).point(|at, _, ctl, _| {
        if let AtPoint::Sample(f) = at {
            ctl.notify(f.flow, SAYS);
        }
        ctl.sample_after(Bytes::from_kb(9));
    });
    let mut spec = network(&[0.9]);
    spec.laws.control = ControlTransport::Ideal { latency: Time::from_us(30) };
    spec.hosts.iter_mut().for_each(|h| h.feedback_delay = Time::from_us(7));
    let seen = run_all(&script, spec.clone()).unwrap();
    // The bridge's processing, the latency, and the host's delay.
    let due = seen.times("sample").into_iter().map(|t| t + Time::from_us(1 + 30 + 7));
    let due: Vec<Time> = due.filter(|&t| t < spec.duration).collect();
    assert_eq!(seen.times("told"), due);
    assert!(due.len() > 50 && seen.out.messages.made == seen.count("sample"), "{}", due.len());
    assert_eq!(seen.out.control_hops, 0);
}

#[test]
fn timers_run_start_anew_and_stop() {
    const STARTS: [(u8, u64); 5] = [(0, 10), (1, 20), (2, 30), (3, 40), (1, 25)];
    let script = script()
        .point(|at, _, ctl, _| {
            if let AtPoint::Start = at {
                STARTS.iter().for_each(|s| ctl.start_timer(Slot(s.0), Time::from_us(s.1)));
                ctl.stop_timer(Slot(2));
            }
        })
        .source(|at, limiter, _| {
            if let AtSource::Start = at {
                STARTS.iter().for_each(|s| limiter.start_timer(Slot(s.0), Time::from_us(s.1)));
                limiter.stop_timer(Slot(2));
            }
        });
    let seen = see(&script, &[0.5]);
    for who in ["point", "source"] {
        let (begin, word) = (seen.times(&format!("{who} starts"))[0], format!("{who} timer"));
        let at = seen.times(&word).into_iter().map(|t| (t - begin).as_ps() / 1_000_000);
        let all: Vec<_> = at.zip(seen.numbers(&word)).collect();
        assert_eq!(all, [(10, 0.0), (25, 1.0), (40, 3.0)], "{who}");
    }
}

/// The source sends one probe at 400 us; the point reads it, and answers it if it is to; the sink answers it.
fn probing(class: Class, reads: bool, answers: bool) -> Script {
    script()
        .plan(|p| p.reflect = ReflectGate::Tagged)
        .point(move |at, _, ctl, _| match at {
            AtPoint::Start if reads => ctl.wake_at_probes(),
            AtPoint::Probe(probe) => {
                (probe.fb, probe.point) = (42, Some(PointId(5)));
                if answers {
                    ctl.answer();
                }
            }
            _ => {}
        })
        .source(move |at, limiter, notes| match at {
            AtSource::Start => {
                let now = limiter.now();
                limiter.start_timer(Slot(0), Time::from_us(400) - now);
            }
            AtSource::Timer(_) if limiter.line_rate() * 0.6 < mean_rate(limiter) => {
                notes.say(limiter.now(), format!("sent {}", limiter.sent()));
                limiter.send_probe(Probe::new(6, ProbeTarget::Destination, class));
            }
            _ => {}
        })
        .sink(|at, ctl, _| {
            if let AtSink::Probe(p) = at {
                ctl.reply(Feedback::ProbeReply { probe: *p, at: ctl.now(), rx_rate: Rate::ZERO });
            }
        })
}

/// What a flow has sent per time: host 0 sends more than host 1, and alone probes.
fn mean_rate(limiter: &Limiter<'_>) -> Rate {
    Rate::from_bps(limiter.sent() as f64 * 8e12 / limiter.now().as_ps() as f64)
}

#[test]
fn probes_travel_and_are_read() {
    let mut arrived = Vec::new();
    for (class, reads, fb) in
        [(Class::Control, true, 42.0), (Class::Data, true, 42.0), (Class::Control, false, 0.0)]
    {
        // From 0.9 and 0.4 of the line a queue grows.
        let seen = see(&probing(class, reads, false), &[0.9, 0.4]);
        assert_eq!(seen.numbers("arrives"), [fb], "{class:?} {reads}");
        assert_eq!(seen.count("probe"), u64::from(reads));
        let (at, what) = seen.all("arrives")[0];
        let word = |i| what.split(' ').nth(i).unwrap();
        // A probe of class `Data` leaves when the frame in transmission is done, and counts that.
        let (sent, counted): (f64, f64) = (seen.numbers("sent")[0], word(2).parse().unwrap());
        assert!((sent..=sent + 1500.0).contains(&counted) && word(3).starts_with("40"), "{what} {sent}");
        let told = seen.all("told ProbeReply");
        let written = format!("number: 6, target: Destination, class: {class:?}");
        assert!(told.len() == 1 && told[0].1.contains(&written), "{told:?}");
        assert_eq!(told[0].1.contains("point: Some(PointId(5))"), reads);
        arrived.push(*at);
    }
    // Control overtakes the queue, data waits in it.
    assert!(arrived[0] < Time::from_us(410) && arrived[1] > Time::from_us(440), "{arrived:?}");
}

/// Some 250 frames wait at host 0 as it sends a probe among them: the probe leaves after the one in transmission.
#[test]
fn a_probe_goes_before_data_that_waits() {
    let mut spec = network(&[0.9]);
    spec.hosts[0].sources = vec![spec.hosts[0].sources[0].clone(); 2];
    let seen = run_all(&probing(Class::Data, false, false), spec).unwrap();
    let at = seen.times("arrives");
    assert!(at.len() == 1 && at[0] < Time::from_us(408), "{at:?}");
}

#[test]
fn a_point_ends_a_probe() {
    // One that is addressed to the point gets there, and no further.
    let to_point = probing(Class::Control, true, true).source(|at, limiter, _| {
        if let AtSource::Start = at {
            limiter.send_probe(Probe::new(6, ProbeTarget::Point(PointId(5)), Class::Control));
        }
    });
    let [control, data] = [Class::Control, Class::Data].map(|class| probing(class, true, true));
    for script in [control, data, to_point] {
        let seen = see(&script, &[0.9, 0.0]);
        assert_eq!((seen.count("arrives"), seen.count("probe")), (0, 1));
        let told = seen.all("told ProbeReply");
        assert!(told.len() == 1 && told[0].1.contains("fb: 42"), "{told:?}");
    }
}

#[test]
fn counters_count_by_name() {
    let script = script()
        .gate(ReflectGate::Always)
        .point(|at, _, ctl, _| {
            if let AtPoint::Sample(_) = at {
                ctl.count("first");
            }
            ctl.sample_after(Bytes::new(15_000));
        })
        .on_frame(|_, ctl, _| ctl.count("second"))
        .source(|_, limiter, _| {
            limiter.count("first");
            limiter.wake_after(Bytes::new(150_000));
        });
    let seen = see(&script, &[0.8]);
    let (frames, bytes) = (seen.delivered(), seen.out.hosts[0].sent * 1500);
    let first = (frames + 2) / 10 + 1 + bytes / 150_000;
    assert_eq!(seen.out.counters, [("second".into(), frames), ("first".into(), first)]);
}

#[test]
fn gauges_are_series_where_their_place_is_recorded() {
    let script = script()
        .gate(ReflectGate::Always)
        .point(|at, queue, ctl, _| {
            if let AtPoint::Start = at {
                ctl.start_timer(Slot(0), Time::from_us(250));
            }
            ctl.gauge("other", queue.arrived as f64);
        })
        .source(|at, limiter, _| match at {
            AtSource::Start => limiter.start_timer(Slot(0), Time::from_us(350)),
            _ => limiter.gauge("shown", limiter.sent() as f64),
        })
        .on_frame(|frame, ctl, _| ctl.gauge("shown", frame.len.as_f64()));
    let mut spec = network(&[0.5, 0.0]);
    spec.record.bin = Time::from_us(100);
    assert!(run_all(&script, spec.clone()).unwrap().out.recorded.series.is_empty(), "no place is recorded");
    spec.record.queues = vec![(NodeId(3), PORT)];
    spec.record.rates = vec![(NodeId(0), NodeId(TO))];
    let out = run_all(&script, spec).unwrap().out;
    let values = |kind| out.series(kind).unwrap().values.clone();
    assert_eq!(out.recorded.gauges.iter().map(|g| &*g.name).collect::<Vec<_>>(), ["shown", "other"]);
    let (node, src, dst) = (NodeId(3), NodeId(0), NodeId(TO));
    // Zero from the start, and what had arrived after 250 us from then on: at 5 Gb/s 156 KB.
    let queue = values(SeriesKind::Gauge { at: GaugeSite::Port(node, PORT), gauge: 1 });
    assert!(queue.len() == 10 && queue[..2] == [0.0; 2] && queue[2..].iter().all(|v| *v == queue[2]));
    assert!((100e3..200e3).contains(&queue[2]), "{queue:?}");
    // A bin before the first value has zero.
    let sent = values(SeriesKind::Gauge { at: GaugeSite::Source(src, dst), gauge: 0 });
    let first = sent.iter().position(|v| *v > 0.0).unwrap();
    assert!(sent.len() == 10 && first > 0 && sent[first] > 100e3, "{sent:?}");
    assert!(sent[first..].iter().all(|v| *v == sent[first]), "{sent:?}");
    assert_eq!(values(SeriesKind::Gauge { at: GaugeSite::Sink(src, dst), gauge: 0 }), [1500.0; 10]);
}

#[test]
fn a_point_sees_how_long_its_port_has_been_stopped() {
    let script = script().point(|at, queue, ctl, notes| {
        match at {
            AtPoint::Start => assert!(queue.paused.is_none() && queue.paused_in_all == Time::ZERO),
            // The second switch has such a port, too, but no link there.
            _ if queue.line_rate == Rate::ZERO => {}
            _ => {
                notes.say(ctl.now(), format!("now {}", queue.paused.map_or(0, |t| t.as_ps())));
                notes.say(ctl.now(), format!("in all {}", queue.paused_in_all.as_ps()));
            }
        }
        ctl.start_timer(Slot(0), Time::from_us(5));
    });
    // H0 and H1 send to H2 by a second switch, whose port to H2 is slow: it stops the first switch's port 2.
    let mut spec = network(&[0.9, 0.9, 0.0]);
    spec.switches.push(SwitchSpec { name: "T".into(), ..spec.switches[0].clone() });
    spec.switches.iter_mut().for_each(|s| s.buffer = common::buffer(true));
    spec.links[2] = common::link((2, 0), (4, 0));
    spec.links.push(common::link((3, 2), (4, 1)));
    spec.events.changes = vec![change(0, 4, 0, 2.0)];
    (spec.record.bin, spec.record.queues) = (Time::from_us(100), vec![(NodeId(3), PORT)]);
    let seen = run_all(&script, spec).unwrap();
    // The other switch's port of this number is not recorded.
    let queues = seen.out.recorded.series.iter().filter(|s| matches!(s.kind, SeriesKind::Queue { .. }));
    assert!(queues.map(|s| s.kind).eq([SeriesKind::Queue { node: NodeId(3), port: PORT }]));
    let (now, all) = (seen.numbers("now"), seen.numbers("in all"));
    let paused = seen.out.switches[0].ports[usize::from(PORT)].paused.as_ps() as f64;
    let last = *all.last().unwrap();
    assert!(paused > 1e8 && last <= paused && last >= paused - 5e6, "{last} of {paused}");
    assert!(now.iter().any(|n| *n > 0.0) && now.contains(&0.0), "{now:?}");
    // Between two looks it grows by no more than time does, and as long as it is stopped by all of it.
    for i in 1..all.len() {
        let more = all[i] - all[i - 1];
        assert!((0.0..=5e6).contains(&more) && (now[i] <= 5e6 || more == 5e6), "{i}: {more}");
    }
}

#[test]
fn an_engaged_limiter_paces() {
    for (position, engage) in [LimiterPosition::BelowQueue, LimiterPosition::AtSource]
        .into_iter()
        .flat_map(|p| [true, false].map(|e| (p, e)))
    {
        let script = script().source(move |at, limiter, notes| {
            match at {
                AtSource::Start if engage => limiter.engage(),
                AtSource::Timer(_) => {
                    notes.say(limiter.now(), format!("sent {}", limiter.sent()));
                    let rates = (limiter.is_engaged(), limiter.rate().gbps(), limiter.line_rate().gbps());
                    notes.say(limiter.now(), format!("has {rates:?}"));
                }
                _ => {}
            }
            limiter.set_rate(Rate::from_gbps(1.0));
            limiter.start_timer(Slot(0), Time::from_us(200));
        });
        let mut spec = network(&[0.9]);
        spec.hosts[0].limiter_position = position;
        let seen = run_all(&script, spec).unwrap();
        let (expected, each) = if engage { (0.98..1.03, 25_000.0) } else { (8.5..9.5, 225_000.0) };
        assert!(expected.contains(&seen.gbps()), "{position:?} {engage}: {}", seen.gbps());
        let all = seen.numbers("sent");
        assert!(all.len() == 4 && ((all[3] - all[0]) / 3.0 / each - 1.0).abs() < 0.1, "{all:?}");
        assert_eq!(seen.count(&format!("has ({engage}, 1.0, 10.0)")), 4, "{:?}", seen.all("has"));
    }
}

/// Seventy flows of a host have a limiter of 50 Mb/s each, at half of what is offered: a frame each 240 us, for 3 ms.
#[test]
fn limiters_beyond_those_of_one_word() {
    let script = script().source(|at, limiter, _| {
        if let AtSource::Start = at {
            limiter.engage();
            limiter.set_rate(Rate::from_mbps(50.0));
        }
    });
    let mut spec = common::single_switch(71, 0.0, false, Time::from_ms(3), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    spec.hosts[0].limiter_position = LimiterPosition::BelowQueue;
    spec.hosts[0].sources = (1..71).map(|dst| common::to(dst, 0.01)).collect();
    let out = run_all(&script, spec).unwrap().out;
    let delivered: Vec<u64> = out.hosts[1..].iter().map(|h| h.delivered).collect();
    assert!(delivered.iter().all(|n| (9..=13).contains(n)), "{delivered:?}");
}

#[test]
fn a_new_rate_acts_at_once_only_where_asked() {
    for (mbps, after, again, least, most) in [
        // The second frame is due 600 us after the first: 12 us a frame, for 390 and 890 us.
        (20.0, 100, false, 30, 35),
        (20.0, 100, true, 70, 76),
        // Zero stops a flow until another rate comes, which acts at once.
        (0.0, 500, false, 38, 43),
    ] {
        let script = script().source(move |at, limiter, _| match at {
            AtSource::Start => {
                limiter.engage();
                limiter.set_rate(Rate::from_mbps(mbps));
                limiter.start_timer(Slot(0), Time::from_us(after));
            }
            _ => {
                limiter.set_rate(Rate::from_gbps(1.0));
                if again {
                    limiter.retime();
                }
            }
        });
        let n = see(&script, &[0.9]).delivered();
        assert!((least..=most).contains(&n), "{mbps} Mb/s, {again}: {n}");
    }
}

#[test]
fn a_limiter_is_given_back_when_empty() {
    for keeps in [false, true] {
        let script = script().source(move |at, limiter, notes| match at {
            AtSource::Start => {
                limiter.engage();
                limiter.set_rate(Rate::from_gbps(2.0));
                limiter.start_timer(Slot(0), Time::from_us(200));
                limiter.start_timer(Slot(1), Time::from_us(600));
            }
            AtSource::Timer(Slot(0)) => {
                limiter.release_when_empty();
                if keeps {
                    limiter.engage();
                }
            }
            _ => notes.say(limiter.now(), format!("engaged {}", limiter.is_engaged())),
        });
        assert_eq!(see(&script, &[0.1]).count(&format!("engaged {keeps}")), 1);
    }
}

#[test]
fn bytes_sent_wake_a_reaction_point() {
    for never in [false, true] {
        let script = script().source(move |_, limiter, _| {
            limiter.wake_after(Bytes::new(30_000));
            if never && limiter.sent() > 200_000 {
                limiter.wake_never();
            }
        });
        let seen = see(&script, &[0.8]);
        let bytes = seen.numbers("bytes");
        assert!(bytes.windows(2).all(|w| w[1] - w[0] == 30_000.0), "{bytes:?}");
        let total = if never { 200_000 } else { seen.out.hosts[0].sent * 1500 };
        let due = total / 30_000 + u64::from(never);
        assert!((due - 1..=due + 1).contains(&(bytes.len() as u64)), "{due} {bytes:?}");
    }
}

/// Frames of finite flows count as those of queues do: of ten every second one wakes.
#[test]
fn bytes_of_finite_flows_wake_a_reaction_point() {
    for position in [LimiterPosition::BelowQueue, LimiterPosition::AtSource] {
        let script = script().source(|_, limiter, _| {
            limiter.engage();
            limiter.set_rate(Rate::from_gbps(1.0));
            limiter.wake_after(Bytes::new(3000));
        });
        let mut spec = network(&[]);
        spec.hosts[0].limiter_position = position;
        spec.hosts[0].sources = vec![common::flows(vec![common::flow(0, TO, 15_000)])];
        let bytes = run_all(&script, spec).unwrap().numbers("bytes");
        assert_eq!(bytes, [3000.0, 6000.0, 9000.0, 12_000.0, 15_000.0], "{position:?}");
    }
}

#[test]
fn frames_carry_their_flows_tag() {
    let script = gated(ReflectGate::Always).source(|at, limiter, _| match at {
        AtSource::Start => {
            limiter.tag_frames(Tag::User(7));
            limiter.start_timer(Slot(0), Time::from_us(500));
        }
        _ => limiter.tag_frames(Tag::None),
    });
    let seen = see(&script, &[0.8]);
    let (with, without): (Vec<_>, Vec<_>) =
        seen.all("frame").into_iter().partition(|n| n.1.ends_with("User(7)"));
    assert!(with.len() > 280 && without.len() > 280 && without.iter().all(|n| n.1.ends_with("None")));
    assert!(with.iter().map(|n| n.0).max() < without.iter().map(|n| n.0).min());
}

#[test]
fn a_frame_is_acknowledged() {
    let script =
        script().plan(|p| (p.reflect, p.received) = (ReflectGate::Tagged, true)).source(|at, limiter, _| {
            match at {
                AtSource::Start => limiter.start_timer(Slot(0), Time::from_us(300)),
                AtSource::Ack(_) => {}
                AtSource::Feedback(f) => limiter.fail(format!("{f:?}")),
                _ => limiter.echo_next(),
            }
        });
    let marks = script.clone().point(|_, _, ctl, _| ctl.mark(Ramp::step(Bytes::ZERO)));
    for (script, marked) in [(script, false), (marks, true)] {
        let seen = see(&script, &[0.5]);
        assert!(seen.count("ack") == 1 && seen.all("ack")[0].1.ends_with(&format!(" 1500 {marked}")));
        let rtt = seen.numbers("ack")[0];
        // As a site's `base_rtt` has it, to the nanosecond.
        assert!((8_501_400.0..=8_503_400.0).contains(&rtt), "{rtt}");
    }
}

#[test]
fn a_reflector_answers_counts_and_rests() {
    let script = script()
        .plan(|p| (p.received, p.reflect, p.reflector_scope) = (true, ReflectGate::Always, Scope::Host))
        .source(|_, _, _| {})
        .on_frame(|_, ctl, notes| {
            let received = ctl.received();
            notes.say(ctl.now(), format!("received {received}"));
            ctl.reply(SAYS);
            ctl.ignore_for(Time::from_us(100));
        });
    let seen = see(&script, &[0.4, 0.4]);
    let times = seen.times("received");
    assert!((9..=10).contains(&times.len()), "{times:?}");
    assert!(times.windows(2).all(|w| w[1] >= w[0] + Time::from_us(100)));
    // What it did not hear is counted.
    let last = *seen.numbers("received").last().unwrap();
    assert!(last > 0.8 * 1500.0 * seen.delivered() as f64, "{last}");
    assert_eq!(seen.count("told 4 2"), times.len() as u64);
}

#[test]
fn draws_are_even_and_a_sites_own() {
    let script = script()
        .gate(ReflectGate::Always)
        .point(|_, _, ctl, notes| {
            notes.say(ctl.now(), format!("draws point {}", ctl.uniform()));
            ctl.sample_always();
        })
        .source(|_, limiter, notes| {
            notes.say(limiter.now(), format!("draws source {}", limiter.uniform()));
            limiter.wake_after(Bytes::new(1));
        })
        .sink(|_, ctl, notes| notes.say(ctl.now(), format!("draws sink {}", ctl.uniform())));
    let seen = see(&script, &[0.9]);
    let draws = ["point", "source", "sink"].map(|w| seen.numbers(&format!("draws {w}")));
    for d in &draws {
        let mean = d.iter().sum::<f64>() / d.len() as f64;
        assert!(d.len() > 700 && (0.45..0.55).contains(&mean) && d.iter().all(|u| (0.0..1.0).contains(u)));
    }
    assert!(draws[0][0] != draws[1][0] && draws[1][0] != draws[2][0]);
}

/// Names behind `mark` in the block of `text` that begins with `head`.
fn names<'a>(text: &'a str, head: String, mark: &'a str) -> impl Iterator<Item = &'a str> {
    let block = text.split_once(&head).unwrap_or_else(|| panic!("no `{head}`")).1;
    let lines = block.split_once("\n}").unwrap().0.lines();
    let name = move |line: &'a str| {
        let rest = line.trim_start().strip_prefix(mark)?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    };
    lines.filter_map(name).filter(|n| !n.is_empty())
}

#[test]
fn every_verb_has_a_test() {
    let read = |file: &str| {
        let path = format!("{}/../scheme-api/src/{file}.rs", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let [lib, wire, acks, point, limiter, reflector, checks] =
        ["lib", "wire", "acks", "point", "limiter", "reflector", "checks"].map(read);
    let here = concat!(
        include_str!("verbs.rs"),
        include_str!("queue_pairs.rs"),
        include_str!("tcp/main.rs"),
        include_str!("tcp/connections.rs"),
        include_str!("tcp/ecn.rs")
    );
    let script = include_str!("common/script.rs");
    // Each with the words by which a scheme names it; one of these texts has them.
    let mut verbs: Vec<(String, String)> = Vec::new();
    for room in ["Scheme", "CongestionPoint", "ReactionPoint", "Reflector"] {
        // The network hands messages to `on_message`, which hands them on.
        let all = names(&lib, format!("pub trait {room}:"), "fn ").filter(|n| *n != "on_message");
        verbs.extend(all.map(|n| (format!("{room}::{n}"), format!("fn {n}("))));
    }
    for (lent, by, text) in [
        ("PointControl", "ctl", &point),
        ("Limiter", "limiter", &limiter),
        ("ReflectorControl", "ctl", &reflector),
    ] {
        let all = names(text, format!("impl<'a> {lent}<'a> {{"), "pub fn ");
        // Verbs that several handles have stand in macros.
        let common = names(&checks, "macro_rules! common_verbs {".into(), "pub fn ");
        let all = all.chain(common).chain(names(&checks, "macro_rules! timer_verbs {".into(), "pub fn "));
        verbs.extend(all.map(|n| (format!("{lent}::{n}"), format!("{by}.{n}("))));
    }
    for (text, all) in [
        (&lib, &["QueueSite", "SourceSite", "SinkSite", "Plan"][..]),
        (&point, &["Queue"]),
        (&wire, &["FrameView", "Probe"]),
        (&acks, &["AckGate", "Hop"]),
    ] {
        for seen in all {
            // How often a scheme speaks is for estimates, not for the network.
            let all = names(text, format!("pub struct {seen} {{"), "pub ").filter(|n| *n != "speaks");
            verbs.extend(all.map(|n| (format!("{seen}.{n}"), n.to_string())));
        }
    }
    assert!(verbs.len() > 80, "{}", verbs.len());
    verbs.retain(|(_, words)| ![here, script].iter().any(|text| text.contains(words)));
    assert!(verbs.is_empty(), "verbs without a test: {verbs:?}");
}
