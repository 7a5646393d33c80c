//! Classes of data: their turns at a port, their memory, PAUSE and schemes. On this network a frame of 1048 B takes 838.4 ns on a link, and
//! each link with the node behind it takes 1.5 us.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{Built, Bytes, Feedback, NodeId, Rate, Time};
use common::script::{AtPoint, AtSource, script};
use common::*;
use std::sync::Arc;

const FRAME: u64 = 1048;
/// Ps on a link.
const TAU: u64 = 838_400;

/// A class with PAUSE, of this weight; 0: strict.
fn class(name: &str, weight: u32) -> ClassSpec {
    let turn = if weight == 0 { Turn::Strict } else { Turn::Weight { weight, frames: false } };
    ClassSpec { name: name.into(), pause: true, turn, ..ClassSpec::default() }
}

/// A host for each of these classes sends to the last host as fast as it may, frames of this length.
fn to_one(classes: &[(ClassSpec, u64)], duration: u64) -> RunSpec {
    let n = classes.len();
    let mut spec = single_switch(n + 1, 0.0, true, Time::from_ps(duration), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    for (h, (_, len)) in classes.iter().enumerate() {
        let source = SourceSpec { class: h as u8, frame: Bytes::new(*len), ..greedy(n as u32) };
        spec.hosts[h].sources = vec![source];
    }
    spec.classes = classes.iter().map(|class| class.0.clone()).collect();
    spec
}

fn ran(spec: &RunSpec) -> Outcome {
    run(spec, &Options::default()).unwrap()
}

/// Bytes of each class that the last host received.
fn bytes(out: &Outcome) -> Vec<u64> {
    out.classes.iter().map(|class| class.hosts.last().unwrap().delivered_bits / 8).collect()
}

/// What each class sends to the last host from 1 ms on, in so much time.
fn within(classes: &[(ClassSpec, u64)], time: u64) -> Vec<u64> {
    let of = |duration| bytes(&ran(&to_one(classes, duration)));
    let (before, after) = (of(1_000_000_000), of(1_000_000_000 + time));
    after.iter().zip(before).map(|(after, before)| after - before).collect()
}

/// 100 rounds of A BB CCCCC are 800 frames.
#[test]
fn weights_are_kept_to_the_byte() {
    let three = [1, 2, 5].map(|weight| (class(&weight.to_string(), weight), FRAME));
    assert_eq!(within(&three, 800 * TAU), [104_800, 209_600, 524_000]);
    // Weights of a common divisor are the same, and those by frames of one length.
    let percent = [10, 20, 50].map(|weight| (class(&weight.to_string(), weight), FRAME));
    assert_eq!(within(&percent, 800 * TAU), [104_800, 209_600, 524_000]);
    let by_frames = [1, 2, 5].map(|weight| {
        let turn = Turn::Weight { weight, frames: true };
        (ClassSpec { turn, ..class(&weight.to_string(), 1) }, FRAME)
    });
    assert_eq!(within(&by_frames, 800 * TAU), [104_800, 209_600, 524_000]);
}

/// With the second class idle the others share as 1 : 5.
#[test]
fn an_idle_class_leaves_its_share() {
    let three = [1, 2, 5].map(|weight| (class(&weight.to_string(), weight), FRAME));
    let of = |duration| {
        let mut spec = to_one(&three, duration);
        spec.hosts[1].sources.clear();
        bytes(&ran(&spec))
    };
    let (before, after) = (of(1_000_000_000), of(1_000_000_000 + 600 * TAU));
    assert_eq!([0, 1, 2].map(|class| after[class] - before[class]), [104_800, 0, 524_000]);
}

/// Of frames of unlike length the bytes are shared, to less than a frame; by frames, the frames are.
#[test]
fn unlike_frames_share_bytes_or_frames() {
    let three = [(1, 1500), (1, 700), (2, 9000)].map(|(weight, len)| (class(&len.to_string(), weight), len));
    // 4 ms are 5 MB: 1.25 MB of each of the first two.
    let sent = within(&three, 4_000_000_000);
    for (class, due) in [1_250_000, 1_250_000, 2_500_000].into_iter().enumerate() {
        // Where the span begins and ends within a round, a quantum and a frame may be missing or more.
        assert!(sent[class].abs_diff(due) < 9000 * 3, "{sent:?}");
    }
    let by_frames = [1500, 500].map(|len| {
        (ClassSpec { turn: Turn::Weight { weight: 1, frames: true }, ..class(&len.to_string(), 1) }, len)
    });
    // A round of a frame each takes 1.6 us.
    assert_eq!(within(&by_frames, 1000 * 1_600_000), [1_500_000, 500_000]);
}

/// A strict class of 40 % has what it sends, though it is the last; the others share 60 % as 1 : 3.
#[test]
fn a_strict_class_goes_before_weighted_ones() {
    let three = [(class("one", 1), FRAME), (class("three", 3), FRAME), (class("strict", 0), FRAME)];
    let mut spec = to_one(&three, 40_000_000_000);
    spec.hosts[2].sources[0].arrivals = Arrivals::Bernoulli { load: 0.4 };
    let out = ran(&spec);
    let gbps: Vec<f64> = bytes(&out).iter().map(|bytes| *bytes as f64 * 8.0 / 40e6).collect();
    let offered = out.hosts[2].generated as f64 * FRAME as f64 * 8.0 / 40e6;
    assert!((gbps[2] - offered).abs() < 0.01, "{gbps:?}, {offered}");
    assert!((gbps[0] - (10.0 - offered) / 4.0).abs() < 0.02, "{gbps:?}");
    assert!((gbps[1] - (10.0 - offered) * 0.75).abs() < 0.02, "{gbps:?}");
    // A strict frame waits for one frame of another class at most, and for its own.
    let worst = &out.classes[2].hosts[3];
    assert!(worst.latencies.max < Time::from_ps(2 * 1_500_000 + 40 * TAU), "{:?}", worst.latencies.max);
}

/// To the picosecond: a frame of the weighted class is on the link as the strict one comes, and is not interrupted; of two that wait, the
/// strict one goes first.
#[test]
fn turns_by_hand() {
    let classes = [(class("bulk", 1), FRAME), (class("strict", 0), FRAME)];
    let mut spec = to_one(&classes, 100_000_000);
    for (h, (start, frames)) in [(0, 3), (1_000_000, 2)].into_iter().enumerate() {
        let start = Time::from_ps(start);
        let one = Transfer { start, dst: NodeId(2), bytes: Bytes::new(FRAME) };
        let transfers = vec![one; frames];
        let source = SourceSpec { transfers, frame: Bytes::new(FRAME), class: h as u8, ..flows(Vec::new()) };
        spec.hosts[h].sources = vec![source];
    }
    let out = ran(&spec);
    // Each is at the switch a frame and 1.5 us after it has begun, and at the host another frame and 1.5 us later.
    let at = 1_500_000 + TAU;
    let ends: Vec<(u8, u64)> =
        out.hosts[2].transfers.completions.iter().map(|done| (done.class, done.end.as_ps())).collect();
    // The bulk goes at 0 and TAU; the strict frames come at 1 us and 1 us + TAU, when its second and a strict one are on the link.
    let slot = |n: u64| at + (n + 1) * TAU + 1_500_000;
    assert_eq!(ends, [(0, slot(0)), (0, slot(1)), (1, slot(2)), (1, slot(3)), (0, slot(4))]);
}

/// XOFF of one class, said by the receiver, stops it alone: the others share as before, and it has its share again after XON.
#[test]
fn xoff_of_one_class_leaves_the_others() {
    let three = [1, 2, 5].map(|weight| (class(&weight.to_string(), weight), FRAME));
    let mut spec = to_one(&three, 20_000_000_000);
    let fault = in_xoff((3, 0), Time::from_ms(4), Time::from_ms(12));
    spec.events.faults = vec![PortFault { transport: PauseTransport::Frame, ..fault }];
    (spec.record.bin, spec.record.flows) =
        (Time::from_ms(2), (0..3).map(|h| (NodeId(h), NodeId(3))).collect());
    let out = ran(&spec);
    let gbps = |h: u32, bin: usize| {
        let kind = SeriesKind::Flow { src: NodeId(h), dst: NodeId(3) };
        out.series(kind).unwrap().values[bin] / 1e9
    };
    for (bin, due) in [(1, [1.25, 2.5, 6.25]), (4, [0.0, 20.0 / 7.0, 50.0 / 7.0]), (8, [1.25, 2.5, 6.25])] {
        (0..3).for_each(|h| assert!((gbps(h, bin) - due[h as usize]).abs() < 0.01, "{bin} {h}"));
    }
    let ports = |class: usize| out.classes[class].switches[0].ports[3].paused;
    assert_eq!([0, 1, 2].map(ports), [Time::from_ms(8), Time::ZERO, Time::ZERO]);
    assert_eq!(out.dropped(), 0, "its frames wait in their host");
}

/// Storms in two classes at once, at two hosts: each stops its class at its port, and the watchdog of that class sees it. Each XOFF is of
/// its class.
#[test]
fn storms_of_two_classes_are_apart() {
    let mut spec = single_switch(4, 0.0, true, Time::from_ms(12), 1);
    spec.classes = vec![class("a", 1), class("b", 1)];
    for h in 0..2 {
        let both = [0, 1].map(|class| SourceSpec { class, ..to(2 + h as u32, 0.3) });
        spec.hosts[h].sources = both.to_vec();
    }
    (spec.hosts[2].sources, spec.hosts[3].sources) = (Vec::new(), Vec::new());
    let (from, to) = (Time::from_ms(2), Time::from_ms(8));
    let fault = |host: u32, class: u8| PortFault { class, ..in_xoff((host, 0), from, to) };
    spec.events.faults = vec![fault(2, 0), fault(3, 1)];
    let (detect, restore) = (Time::from_ms(1), Time::from_ms(2));
    let (rule, action) = (WatchdogRule::Continuous, WatchdogAction::Alert);
    spec.laws.watchdog = Some(WatchdogSpec { rule, detect, restore, action });
    spec.record.pauses = 100;
    let out = ran(&spec);
    let stood = |class: usize, port: usize| out.classes[class].switches[0].ports[port].paused;
    assert_eq!([stood(0, 2), stood(1, 3)], [Time::from_ms(6); 2]);
    assert_eq!([stood(1, 2), stood(0, 3)], [Time::ZERO; 2]);
    // Each NIC has said XOFF once, of its class.
    let said = |class: usize| [2, 3].map(|host: usize| out.classes[class].hosts[host].pause.sent);
    assert_eq!([said(0), said(1)], [[1, 0], [0, 1]]);
    let storms: Vec<(u16, u8)> = out.switches[0].storms.iter().map(|s| (s.port, s.class)).collect();
    assert_eq!(storms, [(2, 0), (3, 1)]);
    assert!(out.switches[0].storms.iter().all(|s| s.from.as_ps().abs_diff(3_000_000_000) < 10_000_000));
    // Two roots, each in its own class; what they stop further on is of that class, too.
    let roots: Vec<(u32, u8)> = out
        .recorded
        .pauses
        .xoffs
        .iter()
        .filter(|x| x.causes.0 == x.causes.1)
        .map(|x| (x.by.0.0, x.class))
        .collect();
    assert_eq!(roots, [(2, 0), (3, 1)]);
    let stopped = |host: u32, class: u8| {
        out.recorded.pauses.xoffs.iter().any(|x| (x.stopped.0.0, x.class) == (host, class))
    };
    assert!(stopped(0, 0) && stopped(1, 1) && !stopped(0, 1) && !stopped(1, 0));
    spec.events.faults.push(fault(2, 2));
    assert!(refused(&spec).contains("there is no class 2"));
}

/// Four roots in two classes at once, each with its own class, and nobody else.
#[test]
fn four_roots_in_two_classes() {
    let mut spec = single_switch(6, 0.0, true, Time::from_ms(12), 1);
    spec.classes = vec![class("a", 1), class("b", 1)];
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    let roots = [(2, 0), (3, 0), (4, 1), (5, 1)];
    for (i, (host, class)) in roots.into_iter().enumerate() {
        spec.hosts[i % 2].sources.push(SourceSpec { class, ..to(host, 0.2) });
        let fault = in_xoff((host, 0), Time::from_ms(2), Time::from_ms(8));
        spec.events.faults.push(PortFault { class, ..fault });
    }
    spec.record.pauses = 100;
    let out = ran(&spec);
    let said = |x: &&Xoff| x.causes.0 == x.causes.1;
    let seen: Vec<(u32, u8)> =
        out.recorded.pauses.xoffs.iter().filter(said).map(|x| (x.by.0.0, x.class)).collect();
    assert_eq!(seen, roots);
    for (host, class) in roots {
        let stood = |class: usize| out.classes[class].switches[0].ports[host as usize].paused;
        assert_eq!((stood(class.into()), stood(1 - usize::from(class))), (Time::from_ms(6), Time::ZERO));
        // What each stops further on is of its class, by the port that it filled.
        let stops = |x: &&Xoff| out.recorded.pauses.causes(x).iter().any(|c| u32::from(c.output) == host);
        assert!(
            out.recorded.pauses.xoffs.iter().filter(stops).all(|x| x.class == class && x.stopped.0.0 < 2)
        );
        assert!(out.recorded.pauses.xoffs.iter().any(|x| stops(&x)), "host {host} stops somebody");
    }
}

/// The recorded queue of a port is the sum of those of its classes.
#[test]
fn queues_of_classes_are_recorded() {
    let mut spec = two_queues([1.0; 2]);
    spec.hosts[1].sources[0].destinations = Destinations::Fixed(NodeId(4));
    (spec.record.bin, spec.record.queues) = (Time::from_us(7), vec![(NodeId(8), 4)]);
    let out = ran(&spec);
    let of = |kind| &out.series(kind).unwrap().values;
    let (node, port) = (NodeId(8), 4);
    let classes = [0, 1, 2].map(|class| of(SeriesKind::ClassQueue { node, port, class }));
    let whole = of(SeriesKind::Queue { node, port });
    assert_eq!(whole.len(), 285);
    assert!((0..285).all(|bin| whole[bin] == classes.iter().map(|own| own[bin]).sum::<f64>()));
    assert_eq!(classes.map(|own| own[284]), [0.0, 20_000.0, 20_000.0]);
}

/// A shared buffer with a pool of 60 kB for two lossy classes: queues at two outputs settle at alpha B / (1 + N alpha) each.
fn two_queues(alphas: [f64; 2]) -> RunSpec {
    let mut spec = single_switch(8, 0.0, true, Time::from_ms(2), 1);
    spec.hosts.iter_mut().for_each(|h| h.sources.clear());
    let frame = Bytes::new(1000);
    let send = |class: u8, dst: u32| SourceSpec { class, frame, ..greedy(dst) };
    // Two hosts, one of each lossy class, fill an output each that serves nothing.
    for (h, (class, dst)) in [(1, 4), (2, 5)].into_iter().enumerate() {
        spec.hosts[h].sources = vec![send(class, dst)];
        spec.events.changes.push(change(0, 8, dst as u16, 0.0));
    }
    spec.classes = vec![class("lossless", 1), class("one", 1), class("two", 1)];
    spec.classes[1..].iter_mut().for_each(|class| class.pause = false);
    let input = |alpha| SharedInput { reserve: Bytes::new(1000), headroom: Bytes::new(20_000), alpha };
    spec.switches[0].buffer.organisation = Organisation::Input;
    spec.switches[0].shared = Some(SharedSpec {
        memory: Bytes::new(660_000),
        lossy: Bytes::new(60_000),
        inputs: [0.5, alphas[0], alphas[1]].map(|alpha| vec![input(alpha); 16]).concat(),
        resume: Bytes::new(3000),
        ..SharedSpec::default()
    });
    spec
}

#[test]
fn dynamic_thresholds_of_two_queues_in_a_pool() {
    let most = |alphas| {
        let out = ran(&two_queues(alphas));
        assert!(out.dropped() > 0);
        [1, 2].map(|class: usize| out.classes[class].switches[0].ports[class + 3].queue_max)
    };
    for (alpha, each) in [(1.0, 20_000), (0.5, 15_000), (2.0, 24_000)] {
        assert_eq!(most([alpha; 2]), [each; 2]);
    }
    // Each queue has the alpha of its class: half of what 30 kB leave, then twice what 45 kB leave.
    assert_eq!(most([0.5, 2.0]), [15_000, 30_000]);
}

/// Both pools at once: with PAUSE two inputs come to alpha B / (1 + N alpha) each, and their headroom has what still comes.
#[test]
fn dynamic_thresholds_of_both_pools() {
    let mut spec = two_queues([1.0; 2]);
    for (h, dst) in [(3, 0), (6, 7)] {
        spec.hosts[h].sources = vec![SourceSpec { frame: Bytes::new(1000), ..greedy(dst) }];
        spec.events.changes.push(change(0, 8, dst as u16, 0.0));
    }
    let out = ran(&spec);
    let most = |class: usize, port: usize| out.classes[class].switches[0].ports[port].queue_max;
    assert_eq!([most(1, 4), most(2, 5)], [20_000; 2], "the pool of 60 kB");
    // 660 kB less 60 kB, and less 21 kB for each of 16 inputs, are 264 kB: an alpha of 1/2 gives 66 kB to each of two.
    let headroom = out.switches[0].shared.headroom;
    assert_eq!(most(0, 0) + most(0, 7) - headroom, 2 * (66_000 + 1000));
    assert!(headroom > 0 && out.classes[0].dropped() == 0);
}

/// A pool of headroom: where it holds what all inputs need, it is as if each had its own, and what it leaves, the pool of frames has.
#[test]
fn a_pool_of_headroom() {
    let of = |pool: Option<u64>| {
        let mut spec = two_queues([1.0; 2]);
        for (h, dst) in [(3, 0), (6, 7)] {
            spec.hosts[h].sources = vec![SourceSpec { frame: Bytes::new(1000), ..greedy(dst) }];
            spec.events.changes.push(change(0, 8, dst as u16, 0.0));
        }
        spec.switches[0].shared.as_mut().unwrap().headroom = pool.map(Bytes::new);
        let short = shortages(&spec).into_iter().map(|s| (s.port, s.room.get())).collect::<Vec<_>>();
        let out = ran(&spec);
        (out.classes[0].dropped(), out.switches[0].shared.headroom, out.switches[0].shared.sizes.1, short)
    };
    let (dropped, most, pool, short) = of(None);
    assert_eq!((dropped, pool, short), (0, 264_000, vec![]));
    // 16 x 20 kB of headroom become 100 kB.
    assert_eq!(of(Some(100_000)), (0, most, 484_000, vec![]));
    let (dropped, held, _, short) = of(Some(most - 1000));
    assert!(dropped > 0 && held == most - 1000, "a frame does not fit: {dropped}, {held}");
    assert_eq!(short, [(None, most - 1000)]);
}

/// What lossy classes drop, and how full their pool is, the lossless class does not notice where it is alone at its ports.
#[test]
fn pools_are_apart() {
    let lossless = |spec: &RunSpec| {
        let out = ran(spec);
        (format!("{:#?}", out.classes[0]), out)
    };
    let mut spec = two_queues([8.0, 8.0]);
    spec.hosts[6].sources = vec![greedy(0)];
    spec.hosts[7].sources = vec![greedy(0)];
    let (full, out) = lossless(&spec);
    assert!(out.classes[1].dropped() > 1000 && out.classes[0].dropped() == 0);
    assert!(out.classes[0].hosts[6].pause.received > 5, "it has PAUSE of its own");
    assert_eq!(out.classes[1].hosts[0].pause.received, 0);
    (0..2).for_each(|h| spec.hosts[h].sources.clear());
    let (empty, _) = lossless(&spec);
    assert!(full == empty, "the lossless class is the same to the bit");
}

/// A storm in one class leaves a strict class with a pool of its own as it is to the bit, where it is alone at its ports, and to a frame's
/// time where it shares one.
#[test]
fn a_storm_in_one_class_leaves_the_other() {
    let run = |shares: bool, storm: bool| {
        let mut spec = two_queues([1.0, 1.0]);
        spec.duration = Time::from_ms(6);
        spec.events.changes.clear();
        spec.classes[1] = class("strict", 0);
        spec.classes[1].pause = false;
        spec.hosts.iter_mut().for_each(|h| h.sources.clear());
        spec.hosts[0].sources = vec![SourceSpec { frame: Bytes::new(1000), ..greedy(4) }];
        let dst = if shares { 4 } else { 5 };
        spec.hosts[1].sources =
            vec![SourceSpec { class: 1, frame: Bytes::new(1000), phase: Phase::Aligned, ..to(dst, 0.3) }];
        let fault = in_xoff((4, 0), Time::from_ms(1), Time::from_ms(5));
        let fault = PortFault { transport: PauseTransport::Frame, ..fault };
        spec.events.faults = if storm { vec![fault] } else { Vec::new() };
        ran(&spec)
    };
    for shares in [false, true] {
        let (with, without) = (run(shares, true), run(shares, false));
        assert!(with.hosts[0].sent < without.hosts[0].sent / 2, "it stops the first class");
        let (with, without) = (&with.classes[1], &without.classes[1]);
        if !shares {
            assert_eq!(format!("{with:#?}"), format!("{without:#?}"));
            continue;
        }
        assert_eq!(with.hosts[1].generated, without.hosts[1].generated);
        assert!(with.hosts[4].delivered.abs_diff(without.hosts[4].delivered) <= 1);
        let most = Time::from_ps(800_000);
        assert!(without.hosts[4].latencies.max <= with.hosts[4].latencies.max + most);
    }
}

/// Of two classes at a host the link is shared by weight, too; where frames are of unlike length, by bytes.
#[test]
fn a_host_shares_its_link_by_weight() {
    for (weight, len) in [(3, FRAME), (1, 700)] {
        let mut spec = to_one(&[(class("one", 1), FRAME), (class("other", weight), len)], 8_000_000_000);
        let both: Vec<SourceSpec> = spec.hosts.iter().flat_map(|h| h.sources.clone()).collect();
        spec.hosts[0].sources = both;
        spec.hosts[1].sources.clear();
        let sent = bytes(&ran(&spec));
        assert!((sent[1] as f64 / sent[0] as f64 - f64::from(weight)).abs() < 0.01, "{sent:?}");
    }
}

/// Each class has the scheme that it names: points and limiters of that class alone. A message goes to the limiter of its class.
#[test]
fn a_scheme_belongs_to_a_class() {
    let mut spec = to_one(&[(class("one", 1), FRAME), (class("two", 1), FRAME)], 8_000_000_000);
    let both: Vec<SourceSpec> = spec.hosts.iter().flat_map(|h| h.sources.clone()).collect();
    spec.hosts[0].sources = both;
    spec.hosts[1].sources.clear();
    // It lowers the flow of each sample to 1 Gb/s.
    let scheme = script()
        .everywhere()
        .plan(|plan| plan.built = Built::OnFeedback)
        .point(|at, _, ctl, _| match at {
            AtPoint::Start => ctl.sample_after(Bytes::new(50_000)),
            AtPoint::Sample(frame) => {
                ctl.notify(frame.flow, Feedback::User([1, 0]));
                ctl.sample_after(Bytes::new(50_000));
            }
            _ => {}
        })
        .source(|at, limiter, _| {
            if let AtSource::Feedback(_) = at {
                limiter.engage();
                limiter.set_rate(Rate::from_gbps(1.0));
            }
        });
    spec.schemes = vec![Arc::new(scheme)];
    spec.classes[0].scheme = ClassScheme::Nobody;
    spec.classes[1].scheme = ClassScheme::Own(0);
    let out = ran(&spec);
    let slowed = |class: usize| out.classes[class].hosts[0].slowed_flows;
    assert_eq!((slowed(0), slowed(1)), (0, 1), "the same pair of hosts in both classes");
    let sent = bytes(&out);
    assert!((sent[1] as f64 / 1e6 - 1.0).abs() < 0.2 && sent[0] > 8_600_000, "1 Gb/s and the rest: {sent:?}");
    assert_eq!(out.classes[0].messages.made, 0);
    assert!(out.classes[1].messages.made > 5);
}

/// The window of a class by bandwidth and delay counts the acknowledgements of its own transport: a flow is as fast as where all have it.
#[test]
fn the_round_trip_of_a_class_has_its_own_acknowledgements() {
    let ends = |of_run: u64, of_class: Option<u64>| {
        let pairs = |len| TransportSpec { ack_length: Bytes::new(len), window: Window::Bdp, ..TRANSPORT };
        let mut spec = to_one(&[(class("one", 1), FRAME), (class("two", 1), FRAME)], 1_000_000_000);
        spec.hosts.iter_mut().for_each(|h| h.sources.clear());
        let flow =
            flows(vec![Transfer { start: Time::ZERO, dst: NodeId(2), bytes: Bytes::new(200 * FRAME) }]);
        spec.hosts[0].sources = vec![SourceSpec { class: 1, frame: Bytes::new(FRAME), ..flow }];
        spec.transport = Some(pairs(of_run));
        spec.classes[1].transport = of_class.map(pairs);
        ran(&spec).hosts[2].transfers.completions[0].end
    };
    assert_eq!(ends(64, Some(1000)), ends(1000, None));
    assert!(ends(64, Some(1000)) < Time::from_ps(205 * TAU + 3_000_000), "it never waits for its window");
}

/// Messages on one connection need reports of the transport of their own class, whatever that of others is.
#[test]
fn connections_are_of_a_class() {
    let mut spec = to_one(&[(class("one", 1), FRAME), (class("two", 1), FRAME)], 100_000_000);
    let rto = Time::from_ms(1);
    spec.transport = Some(TransportSpec {
        reliability: Reliability::GoBackN { nack_interval: Time::ZERO, rto },
        ..TRANSPORT
    });
    let again = SelectiveSpec { gap_frames: 1, gap_time: Time::ZERO, rto_low: rto, rto_high: rto, few: 0 };
    spec.classes[1].transport =
        Some(TransportSpec { reliability: Reliability::Selective(again), ..TRANSPORT });
    for (h, host) in spec.hosts.iter_mut().take(2).enumerate() {
        let messages = vec![flow(0, 2, 3 * FRAME); 2];
        host.sources = vec![SourceSpec { class: h as u8, connected: h == 1, ..flows(messages) }];
    }
    assert_eq!(ran(&spec).hosts[2].transfers.completions.len(), 4);
    spec.hosts[0].sources[0].connected = true;
    assert!(refused(&spec).contains("need reports of single frames, as TCP has them: host H0"));
}

/// What cannot be is refused, with the reason.
#[test]
fn impossible_classes_are_refused() {
    let good = to_one(&[(class("a", 1), FRAME), (class("b", 2), FRAME)], 1_000_000);
    let with = |change: &dyn Fn(&mut RunSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        refused(&spec)
    };
    let zero = Turn::Weight { weight: 0, frames: false };
    assert!(with(&|spec| spec.classes[1].turn = zero).contains("weight of 0"));
    assert!(with(&|spec| spec.classes[1].scheme = ClassScheme::Own(3)).contains("does not have"));
    assert!(with(&|spec| spec.classes[1].transport = Some(TRANSPORT)).contains("no queue pairs"));
    assert!(with(&|spec| spec.classes = vec![class("x", 1); MOST_CLASSES + 1]).contains("9 classes"));
    let mut shared = two_queues([1.0, 1.0]);
    shared.switches[0].shared.as_mut().unwrap().lossy = Bytes::ZERO;
    assert!(refused(&shared).contains("have no pool"));
    shared.switches[0].shared.as_mut().unwrap().lossy = Bytes::new(600_000);
    assert!(refused(&shared).contains("all of it is"));
}
