//! The two engines agree bit for bit, on any number of threads and however nodes are visited, over random small networks: with every
//! feature, and with more of one. Each test takes its share of 400 networks, or of `CNSIM_NETWORKS` others from seed `CNSIM_SEED` on
//! (`make soak`). It is long because all of them are compared by one function.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use Traffic::{Bursts, Chance, Flows, Greedy, Rush};
use cnsim_fabric::*;
use cnsim_scheme_api::{
    AckGate, Acks, Bytes, Class, Hop, NodeId, Ramp, RampAt, Rate, ReflectGate, Scope, Slot, Tag, Time,
};
use common::random::{ANY, Draws, Random, Traffic};
use common::script::*;
use common::shaker::{Shaker, act};
use std::sync::Arc;

/// What came of a test's networks.
struct Sum(Vec<Outcome>);

impl Sum {
    /// What they add up to.
    fn of(&self, count: impl Fn(&Outcome) -> u64) -> u64 {
        self.0.iter().map(count).sum()
    }
    /// It happened in one of so many at least, if four times as many networks ran. Of less than a test's own number of networks chance
    /// decides: half the share is enough there.
    fn one_in(&self, n: u64, happened: impl Fn(&Outcome) -> bool) {
        let (number, all) = (self.of(|out| u64::from(happened(out))), self.0.len() as u64);
        let share = if common::number("CNSIM_NETWORKS", 400) < 400 { 2 * n } else { n };
        assert!(number * share >= all || all < 4 * n, "in {number} of {all} networks");
    }
    /// It was more than this in the mean, if [`ENOUGH`] networks ran.
    fn mean(&self, what: &str, least: u64, count: impl Fn(&Outcome) -> u64) {
        let (sum, all) = (self.of(count), self.0.len());
        assert!(sum > least * all as u64 || all < ENOUGH, "{what}: {sum} in {all} networks");
    }
    /// The same of a counter of the scheme.
    fn mean_of(&self, name: &str, least: u64) {
        self.mean(name, least, |out| out.counters.iter().find(|c| c.0 == name).map_or(0, |c| c.1));
    }
}

/// Networks from which on a mean says something.
const ENOUGH: usize = common::ENOUGH as usize;

fn dropped(out: &Outcome) -> bool {
    out.dropped() > 0
}

fn paused(out: &Outcome) -> bool {
    out.hosts.iter().any(|h| h.pause.received > 0)
}

/// Many threads on few cores cost time in barriers, so not every network runs in every way.
fn ways(seed: u64) -> &'static [(usize, Visits)] {
    match seed % 10 {
        0 => &[(1, Visits::Due), (4, Visits::Turns)],
        1 | 6 => &[(1, Visits::All), (1, Visits::Due)],
        2 => &[(1, Visits::Adaptive), (2, Visits::Due)],
        4 => &[(3, Visits::All), (1, Visits::Adaptive)],
        7 => &[(2, Visits::Adaptive), (1, Visits::Due)],
        3 => &[(1, Visits::All), (1, Visits::Turns)],
        _ => &[(1, Visits::Due), (1, Visits::Turns)],
    }
}

/// Seeds of this share of 400 networks.
fn seeds(of_400: u64) -> std::ops::Range<u64> {
    let (first, count) = (common::number("CNSIM_SEED", 0), common::number("CNSIM_NETWORKS", 400));
    first..first + (count * of_400).div_ceil(400)
}

/// Compares this share of 400 networks, each changed in this way.
fn compare(random: &Random, of_400: u64, change: impl Fn(&mut RunSpec, u64)) -> Sum {
    Sum(seeds(of_400).map(|seed| agreed(random, seed, &change)).collect())
}

/// Compares the network of this seed.
fn agreed(random: &Random, seed: u64, change: impl Fn(&mut RunSpec, u64)) -> Outcome {
    let mut spec = random.network(seed);
    spec.record.trips = !seed.is_multiple_of(3);
    change(&mut spec, seed);
    if spec.record.trips {
        spec.record.flow_events = (1..spec.hosts.len() as u32).map(|n| (NodeId(n - 1), NodeId(n))).collect();
    }
    let out = common::agreed(&spec, seed, ways(seed));
    out.hosts.iter().flat_map(|host| &host.transfers.trips).for_each(cuts_add_up);
    out
}

/// Of all cuts the sums are kept, and ten at most, in order; none cost more than all of its cause.
fn cuts_add_up(trip: &Trip) {
    let count: u64 = trip.by_cause.iter().map(|sum| sum.count).sum();
    assert_eq!(trip.cuts.len() as u64, count.min(10));
    assert!(trip.cuts.is_sorted_by_key(|cut| cut.event.at));
    for cut in &trip.cuts {
        let FlowEvent { by, port, .. } = cut.event;
        assert!(trip.by_cause.iter().any(|sum| (sum.by, sum.port) == (by, port) && sum.cost >= cut.cost));
    }
}

/// A flow was cut by this cause, at a port that is known or not.
fn cut(out: &Outcome, by: Trigger, known: bool) -> bool {
    let mut sums = out.hosts.iter().flat_map(|h| &h.transfers.trips).flat_map(|trip| &trip.by_cause);
    sums.any(|sum| sum.by == by && sum.port.is_some() == known)
}

fn as_drawn(_: &mut RunSpec, _: u64) {}

#[test]
fn networks_with_every_feature() {
    let sum = compare(&ANY, 400, as_drawn);
    sum.one_in(8, dropped);
    sum.one_in(8, paused);
    sum.one_in(8, |out| out.messages.made > 0);
    let held = |out: &Outcome, by: fn(&Held) -> bool| out.recorded.pauses.causes.iter().any(|c| by(&c.held));
    sum.one_in(16, |out| held(out, |by| matches!(by, Held::Stopped(_))));
    sum.one_in(100, |out| held(out, |by| *by == Held::Closed));
    sum.one_in(50, |out| out.recorded.pauses.left_out > 0);
    sum.one_in(8, |out| out.recorded.pauses.xoffs.iter().any(|x| x.causes.1 - x.causes.0 > 1));
    sum.one_in(4, |out| out.recorded.flow_events.iter().any(|event| event.port.is_some()));
    sum.one_in(8, |out| out.recorded.capture.cut.is_some());
    sum.one_in(8, |out| out.recorded.capture.cut.is_none() && captures_add_up(out) > 100);
    sum.0.iter().for_each(records_add_up);
}

/// Captured frames are those that the ports have counted, but for the XOFFs that wait at the end: how many were captured.
fn captures_add_up(out: &Outcome) -> usize {
    let mut ports: std::collections::BTreeMap<_, [u64; 3]> = std::collections::BTreeMap::new();
    for frame in &out.recorded.capture.frames {
        let kind = match frame.content {
            Content::Data(..) => 0,
            Content::Message(..) | Content::Probe(_) => 1,
            Content::Pause(true) => 2,
            Content::Pause(false) => continue,
        };
        ports.entry(frame.port).or_default()[kind] += 1;
    }
    for ((node, port), [data, control, xoffs]) in ports {
        match out.port(out.hosts.len(), (node, port)) {
            Some(p) => {
                assert_eq!((data, control), (p.sent, p.control_sent), "{node:?} {port}");
                assert!((p.xoffs.saturating_sub(2)..=p.xoffs).contains(&xoffs), "{xoffs} of {}", p.xoffs);
            }
            None => assert_eq!(data, out.hosts[node.0 as usize].sent),
        }
    }
    out.recorded.capture.frames.len()
}

/// A switch without a link, and two that are linked to one another alone.
#[test]
fn switches_apart_from_the_network() {
    let sum = compare(&ANY, 12, |spec, _| {
        let (first, one) = (spec.hosts.len() + spec.switches.len(), spec.switches[0].clone());
        spec.switches.extend(vec![one; 3]);
        (first..first + 3)
            .zip(&mut spec.switches[first - spec.hosts.len()..])
            .for_each(|(n, s)| s.name = format!("S{n}"));
        spec.links.push(common::link((first + 1, 0), (first + 2, 0)));
    });
    assert!(sum.of(|out| u64::from(out.packet_hops > 0)) as usize == sum.0.len());
}

/// The recorded XOFFs of a transmitter last as long as it was in XOFF in all.
fn records_add_up(out: &Outcome) {
    let hosts = out.hosts.len();
    let mut spans: std::collections::BTreeMap<_, Time> = std::collections::BTreeMap::new();
    for xoff in &out.recorded.pauses.xoffs {
        assert!(xoff.decided <= xoff.from && xoff.from <= xoff.until && xoff.until <= out.duration);
        *spans.entry(xoff.stopped).or_default() += xoff.until - xoff.from;
        for cause in out.recorded.pauses.causes(xoff) {
            if let Held::Stopped(by) = cause.held {
                let by = out.recorded.pauses.xoffs[by as usize];
                assert_eq!(by.stopped, (xoff.by.0, cause.output), "it stands at that output");
                assert!((by.from..by.until).contains(&xoff.decided), "{by:?} stands at {xoff:?}");
            }
        }
    }
    if out.recorded.pauses.left_out > 0 {
        return;
    }
    for ((node, port), span) in spans {
        let host = out.hosts.get(node.0 as usize).map(|h| h.pause.time);
        assert_eq!(host.or_else(|| Some(out.port(hosts, (node, port))?.paused)), Some(span));
    }
}

/// A timer sets a ramp at departure while a long frame is on its wire already: the ramp of the frame's start decides.
#[test]
fn a_ramp_that_begins_while_a_frame_leaves() {
    let seed = 9_314_349;
    common::agreed(&ANY.network(seed), seed, &[(1, Visits::Due), (1, Visits::Turns), (2, Visits::All)]);
}

/// Small frames on long links: windows hold tens to hundreds of a queue. Nobody sees how they are put in order.
#[test]
fn windows_of_many_frames() {
    let random = Random {
        stream: 1,
        spines: true,
        duration: (100, 130),
        in_step: 4,
        loads: &[0.5, 0.85, 0.97],
        frames: &[64, 64, 128, 300],
        rates: &[10.0, 10.0, 7.0, 40.0],
        delays: &[1000, 3000, 3777, 8000, 9554],
        traffic: &[Chance],
        fifo: &[30, 500],
        xoff: &[0, 2, 6, 40],
        memory: &[3, 150],
        scheme: |d| {
            let ramps = act::RAMP | act::ARRIVAL | act::CHANGES;
            d.once_in(2).then(|| Shaker::drawn(d, act::RAMP, !ramps))
        },
        ..ANY
    };
    compare(&random, 60, as_drawn);
}

/// Windows that hold several frames of a queue, from calm to full: points sample, mark, stamp, time, speak and change their minds;
/// probes are stamped as they leave, read at points, ended there, returned.
const POINTS: Random = Random {
    stream: 2,
    switches: (1, 3),
    hosts: (2, 5),
    duration: (60, 200),
    frames: &common::LENGTHS,
    rates: &[10.0, 10.0, 40.0, 100.0, 3.0],
    delays: &[60, 500, 500, 1700, 3000],
    processing: &[100, 400, 1000, 2500],
    traffic: &[Chance],
    fifo: &[2, 1000, 1000],
    backlog: &[0],
    xoff: &[0, 0, 0, 12, 30],
    memory: &[20, 150, 150, 150],
    slow: &[None, None, Some(1.0)],
    ..ANY
};

#[test]
fn points_see_their_queues() {
    let scheme = |d: &mut Draws| {
        let period = Time::from_ns(d.one(&[90, 700, 3100]));
        Some(Shaker { period, ..Shaker::drawn(d, 0, act::RESTLESS | act::PROBES) })
    };
    compare(&Random { scheme, ..POINTS }, 120, as_drawn).one_in(2, |out| out.messages.made > 0);
}

#[test]
fn probes_see_what_they_pass() {
    let scheme = |d: &mut Draws| {
        let counts = d.one(&[act::COUNTS, act::TIMERS, act::COUNTS | act::TIMERS]);
        Some(Shaker::drawn(d, act::FIRST | act::PROBES | counts, act::RESTLESS | act::WHOLE))
    };
    compare(&Random { stream: 3, scheme, ..POINTS }, 150, as_drawn);
}

/// Departures that a ramp may mark, from ports that end two or three of the longest frames in a window. Nobody sees that they are sent
/// together, and that mostly one look at the queue says whether enough had arrived behind a frame.
#[test]
fn departures_that_ramps_mark() {
    let random = Random {
        stream: 4,
        hosts: (2, 5),
        spines: true,
        duration: (200, 300),
        in_step: 2,
        loads: &[0.7, 0.85, 0.97],
        frames: &[1500, 1500, 1000, 300, 64],
        rates: &[10.0, 10.0, 10.0, 10.0, 10.0, 5.0, 40.0],
        delays: &[960, 1200, 1200, 1371, 1560, 1920],
        processing: &[10],
        traffic: &[Chance],
        fifo: &[10_100],
        organisations: &[Organisation::Crosspoint],
        xoff: &[0, 0, 0, 0, 0, 21],
        memory: &[9000],
        limit: 0,
        ties: &[Ties::ByPort],
        slow: &[None, None, None, None, None, Some(4.0)],
        scheme: |d| {
            let mays = act::CHANGES | act::TICKS | act::RESTS | act::HEARS | act::REPLIES | act::OBEY;
            let reflect = ReflectGate::Marked;
            Some(Shaker { reflect, samples: 4, ..Shaker::drawn(d, act::RAMP, !mays) })
        },
        ..ANY
    };
    compare(&random, 120, as_drawn).mean_of("frames", 100);
}

/// Stars in which nothing but data and PAUSE comes back to a host, calm for the most part: windows may be as long as the switch can
/// promise to stay quiet, and promises are given, refused, and given again.
#[test]
fn stars_that_stay_quiet() {
    let random = Random {
        stream: 5,
        switches: (1, 1),
        hosts: (2, 10),
        duration: (700, 1400),
        loads: &[0.003, 0.02, 0.1, 0.3, 0.8],
        frames: &common::LENGTHS,
        rates: &[1.0, 10.0, 40.0, 100.0],
        delays: &[60, 300, 500, 1700, 20_000],
        processing: &[100, 500, 1000],
        traffic: &[Rush, Rush, Rush, Chance],
        fifo: &[4, 500],
        xoff: &[0, 12, 40, 130],
        memory: &[20, 60, 150],
        scheme: |_| None,
        ..ANY
    };
    let sum = compare(&random, 100, |spec, _| spec.hosts[0].sources.truncate(1));
    sum.one_in(8, paused);
    sum.one_in(16, dropped);
}

/// Sources in phase and links alike, so that most frames meet others at a switch: both engines draw the same order, however nodes are
/// visited.
#[test]
fn draws_between_frames_of_one_moment() {
    let random = Random {
        stream: 6,
        hosts: (2, 4),
        in_step: 1,
        loads: &[0.05, 0.3, 0.7, 1.0],
        frames: &[300, 1500],
        rates: &[10.0],
        traffic: &[Chance],
        ties: &[Ties::Drawn],
        scheme: |_| None,
        ..ANY
    };
    let mut differ = 0;
    for (seed, drawn) in seeds(60).zip(compare(&random, 60, as_drawn).0) {
        let mut spec = random.network(seed);
        spec.laws.ties = Ties::ByPort;
        differ += usize::from(common::by(Engine::Fast, &spec).fingerprint != drawn.fingerprint);
    }
    // In two of three and more by the seeds tried.
    let all = seeds(60).count();
    assert!(differ * 2 > all || all < ENOUGH, "in {differ} of {all} networks the order matters");
}

/// Windows that hold few frames: the engine visits some nodes only, and chooses by itself. What waits is put on its wire ahead, and taken
/// back when a PAUSE, a message, a change or a sample comes between.
const THIN: Random = Random {
    stream: 7,
    switches: (4, 4),
    spines: true,
    processing: &[0],
    traffic: &[Chance],
    fifo: &[10_100],
    limit: 0,
    scheme: |_| None,
    ..ANY
};

#[test]
fn windows_of_few_frames_at_light_load() {
    let random = Random {
        duration: (200, 466),
        loads: &[0.001, 0.01, 0.05, 0.1, 0.3],
        frames: &common::LENGTHS,
        rates: &[10.0, 1.0, 40.0],
        delays: &[100, 100, 60, 500, 3000, 20_000],
        xoff: &[3, 40],
        ..THIN
    };
    compare(&random, 50, as_drawn);
    // A frame from another worker that is due more than 64 turns later.
    let seed = 9_314_102;
    common::agreed(&random.network(seed), seed, &[(2, Visits::Due)]);
}

#[test]
fn windows_of_few_frames_on_busy_links() {
    let random = Random {
        stream: 8,
        duration: (250, 400),
        loads: &[0.3, 0.6, 0.9],
        frames: &[300, 1500, 1500, 9000],
        rates: &[10.0, 10.0, 25.0],
        delays: &[60, 100, 100, 300],
        organisations: &[Organisation::Crosspoint, Organisation::Crosspoint, Organisation::Input],
        xoff: &[0, 13, 20, 60, 500],
        memory: &[30, 100],
        scheme: |d| {
            let bytes = d.one(&[30_000, 150_000]);
            let one = Shaker::drawn(d, 0, !(act::CHANGES | act::ARRIVAL));
            d.once_in(2).then_some(Shaker { samples: 0, bytes, ..one })
        },
        ..THIN
    };
    compare(&random, 80, as_drawn).one_in(4, paused);
    // XON comes while control is sent, which ends when the data would have ended that was stopped.
    common::agreed(&random.network(500_084), 500_084, ways(500_084));
}

/// Control nearly as frequent as data: answers to every frame, messages to all, probes, own messages, timers that look at queues and change
/// stamps and ramps.
const TALK: Random = Random {
    stream: 9,
    hosts: (2, 4),
    duration: (100, 200),
    in_step: 2,
    loads: &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    frames: &[64, 300, 1500, 1500, 1500, 9216],
    rates: &[10.0, 10.0, 1.0, 40.0, 100.0, 400.0],
    delays: &[100, 270, 440, 610, 950, 1460],
    processing: &[1000],
    traffic: &[Chance],
    fifo: &[10_100],
    backlog: &[0],
    xoff: &[0, 0, 20],
    memory: &[1000, 1000, 1000, 30],
    slow: &[None, None, Some(0.0), Some(2.0)],
    scheme: |d| {
        let (reflect, bytes) = (d.one(&[ReflectGate::Always, ReflectGate::Tagged]), 9000);
        let must = act::FIRST | act::ENGAGED | act::TAGS | act::TICKS | act::REPLIES;
        let never = act::RESTLESS | act::RESTS | act::HEARS | act::WRITES | act::SOME;
        let period = Time::from_ps(d.one(&[1_200_000, 2_400_000, 4_864_000, 7_777_777]));
        Some(Shaker { reflect, bytes, period, ..Shaker::drawn(d, must, never) })
    },
    ..ANY
};

#[test]
fn control_nearly_as_frequent_as_data() {
    let sum = compare(&TALK, 100, as_drawn);
    let (control, all) = (sum.of(|out| out.control_hops), sum.of(|out| out.packet_hops));
    assert!(control * 10 >= all * 3 || sum.0.len() < ENOUGH, "{control} of {all} packet-hops");
}

/// Feedback without frames: by itself, with feedback that is lost or takes effect later, at the least time that is possible.
#[test]
fn feedback_without_frames() {
    let sum = compare(&Random { stream: 10, ..TALK }, 60, |spec, seed| {
        // Of a link, with the processing at its end.
        let least = spec.links.iter().map(|l| l.delay).min().unwrap() + Time::from_us(1);
        spec.laws.control = ControlTransport::Ideal { latency: least * 2 - Time::from_ps(1) };
        assert!(common::refused(spec).contains("at least"));
        let latency = [least * 2, Time::from_us(4), Time::from_ns(17_333)][seed as usize % 3].max(least * 2);
        spec.laws.control = ControlTransport::Ideal { latency };
    });
    sum.mean_of("told", 100);
    sum.mean("lost", 10, |out| out.messages.lost);
}

/// Hosts with one source and little else, which the fast engine runs a window at a time: full FIFOs, XOFF at the very moments at which
/// frames start or end, feedback, timers, messages and the run's end.
const HOSTS: Random = Random {
    stream: 11,
    switches: (1, 1),
    hosts: (2, 7),
    duration: (100, 300),
    in_step: 2,
    loads: &[0.03, 0.6, 0.95, 1.0],
    frames: &[64, 300, 1500, 1500, 9216],
    rates: &[10.0, 10.0, 10.0, 1.0, 40.0],
    delays: &[50, 410, 770, 1200, 1200],
    processing: &[0, 0, 1000],
    traffic: &[Chance, Chance, Chance, Bursts],
    fifo: &[1, 2, 5, 100],
    backlog: &[0, 0, 0, 1, 3, 40],
    organisations: &[Organisation::Crosspoint],
    xoff: &[0, 6, 8, 11],
    memory: &[150],
    limit: 0,
    ..ANY
};

#[test]
fn hosts_frame_by_frame() {
    compare(&HOSTS, 400, as_drawn);
}

/// Tags that are returned, to hosts that do little else: most rates are obeyed.
#[test]
fn tags_that_are_returned() {
    let scheme = |d: &mut Draws| {
        let acts = d.one(&[act::EVERY, act::EVERY, 0])
            | d.one(&[0, 0, 0, act::TIMERS | act::PROBES | act::COUNTS | act::HEARS]);
        let (must, built) =
            (act::TAGS | act::ENGAGED | acts, d.one(&[act::FIRST, act::FIRST, act::FIRST, 0]));
        let shaker = Shaker::drawn(d, must | built, !act::STAMPS);
        Some(Shaker { reflect: ReflectGate::ReturnTags("returned"), samples: 1, ..shaker })
    };
    let control = &[ControlTransport::Priority];
    compare(&Random { stream: 12, control, scheme, ..HOSTS }, 300, as_drawn).mean_of("told", 100);
}

/// Finite flows, many at a time in each pair, and limiters whose rate and state change all the time.
#[test]
fn flows_and_restless_limiters() {
    let random = Random {
        stream: 13,
        switches: (1, 3),
        hosts: (2, 5),
        duration: (400, 600),
        traffic: &[Flows(30), Flows(12), Flows(12), Greedy, Chance],
        fifo: &[1, 3, 100],
        backlog: &[0, 0, 4],
        xoff: &[0, 30],
        scheme: |d| {
            let mays = act::WHOLE | act::SOME | act::OBEY;
            let one = Shaker::drawn(d, act::FIRST | act::TIMERS | act::COUNTS | act::RESTLESS, !mays);
            (!d.once_in(3)).then_some(Shaker { samples: 4, ..one })
        },
        ..ANY
    };
    let sum = compare(&random, 150, as_drawn);
    sum.mean("flows", 10, |out| out.hosts.iter().map(|h| h.transfers.completions.len() as u64).sum());
}

/// The one class of data has no PAUSE.
#[test]
fn a_class_without_pause() {
    let lossy = |spec: &mut RunSpec, _| {
        spec.classes = vec![ClassSpec { name: "lossy".into(), ..ClassSpec::default() }]
    };
    let sum = compare(&Random { stream: 14, ..ANY }, 35, lossy);
    assert_eq!(sum.of(|out| out.hosts.iter().map(|h| h.pause.received).sum()), 0);
}

/// Every object fails now and then, or panics, and goes on to be woken where nobody has noticed yet: both engines name the earliest.
#[test]
fn the_earliest_failure_is_named() {
    let mut whose = [0; 4];
    let random = Random {
        stream: 16,
        duration: (600, 1500),
        scheme: |d| {
            let mut chance = || d.one(&[0.0, 1e-2, 1e-3]);
            let (fails, acts) = ([chance(), chance(), chance()], d.one(&[0, 0, act::PANICS]));
            let must = act::TICKS | act::TIMERS | act::COUNTS | acts;
            let shaker = Shaker::drawn(d, must, act::PROBES);
            Some(Shaker { fails, reflect: ReflectGate::Always, samples: 0, ..shaker })
        },
        ..ANY
    };
    for seed in seeds(80) {
        let spec = random.network(seed);
        let of = |options: &Options<'_>| run(&spec, options).map(|out| out.fingerprint);
        let oracle = of(&Options { engine: Engine::Model, ..Options::default() });
        for (threads, visits) in
            [(1, Visits::Adaptive), (1, Visits::Turns), (1 + seed as usize % 4, Visits::Due)]
        {
            let fast = of(&Options { threads, visits, ..Options::default() });
            assert_eq!(fast, oracle, "seed {seed}, {threads} threads, {visits:?}");
        }
        if let Err(RunError::Scheme(cause)) = &oracle {
            let who = ["congestion point", "reaction point", "reflector"].map(|who| cause.starts_with(who));
            whose.iter_mut().zip(who).for_each(|(n, who)| *n += usize::from(who));
            whose[3] += usize::from(cause.contains("it panics: "));
        }
    }
    assert!(
        whose.iter().all(|n| *n * 20 > seeds(80).count()) || seeds(80).count() < ENOUGH,
        "{whose:?} of points, limiters, reflectors, and panics"
    );
}

/// A scheme that sets rates and windows by acknowledgements and losses, at random.
fn by_acknowledgements(d: &mut Draws) -> Script {
    let gate = AckGate { each: d.once_in(2), marked: d.once_in(2), per_window: d.once_in(2) };
    let low = Bytes::from_kb(d.one(&[1, 5, 20]));
    let ramp = Ramp {
        low,
        high: low * 4,
        p_max: 0.5,
        p_beyond: 1.0,
        at: d.one(&[RampAt::Arrival, RampAt::Departure]),
    };
    // Telemetry from the start or from a moment on, by all ports or by some; with tags that points read, write and lower.
    let acks = d.one(&[Acks::Needed, Acks::Telemetry, Acks::Telemetry]);
    let (late, some, tags) = (d.once_in(3), d.once_in(4), d.once_in(3));
    let script = script().everywhere().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, acks));
    let script = script.point(move |at, queue, ctl, _| {
        let records = acks == Acks::Telemetry && !(some && ctl.uniform() < 0.3);
        match at {
            AtPoint::Start => {
                ctl.mark(ramp);
                if records && late {
                    let after = 20_000 + (ctl.uniform() * 1e4) as u64;
                    ctl.start_timer(Slot(0), Time::from_ns(after));
                } else if records {
                    ctl.record_departures();
                }
                if tags {
                    ctl.sample_with(0.2);
                    ctl.advertise(Rate::from_gbps(2.0));
                }
            }
            AtPoint::Timer(_) => ctl.record_departures(),
            AtPoint::Sample(frame) => {
                let seen = if let Tag::RateDiscovery(rate) = frame.tag { rate.bps() } else { 0.0 };
                let rate = Rate::from_bps(1e9 + (seen / 7.0 + queue.len.as_f64() * 1e4) % 9e9);
                frame.tag = Tag::RateDiscovery(rate);
                ctl.advertise(rate);
            }
            _ => {}
        }
    });
    script.source(move |at, limiter, _| {
        let u = 0.05 + limiter.uniform();
        match at {
            AtSource::Start => {
                limiter.engage();
                limiter.wake_on_acks(gate);
                if tags {
                    limiter.tag_frames(Tag::RateDiscovery(Rate::from_gbps(5.0)));
                }
            }
            AtSource::Ack(ack) if !ack.path.is_empty() => {
                // All that it says shows in the rate.
                let of = |hop: &Hop| {
                    hop.time.as_ps() ^ hop.sent << 20 ^ hop.queue.get() << 7 ^ hop.rate.bps() as u64
                };
                let all = ack.path.iter().fold(1_u64, |all, hop| all.wrapping_mul(31) ^ of(hop));
                limiter.count("second");
                limiter.set_rate(limiter.line_rate() * (0.05 + (all % 1021) as f64 / 1100.0));
            }
            AtSource::Ack(ack) if ack.marked => limiter.set_window(Bytes::new(1 + (u * 9000.0) as u64)),
            AtSource::Ack(_) => limiter.set_rate((limiter.rate() * (0.5 + u)).min(limiter.line_rate())),
            AtSource::Loss(_) => limiter.set_rate(limiter.line_rate() * u.min(1.0)),
            _ => limiter.retime(),
        }
        if u > 0.9 {
            limiter.set_window(Bytes::MAX);
            limiter.retime();
        }
    })
}

/// Flows that may have queue pairs.
const PAIRED: Random =
    Random { stream: 21, traffic: &[Flows(20)], xoff: &[0, 0, 18], duration: (150, 600), ..ANY };

/// Gives the flows queue pairs: acknowledgements, windows and frames that are sent again, under such a scheme, under one whose limiters
/// are of pairs or hosts, and under none.
fn pair(spec: &mut RunSpec, seed: u64) {
    let d = &mut Draws::new(seed, 22);
    let go_back_n = d.go_back_n();
    let tcp = &mut Draws::new(seed, 38);
    let recovery = tcp.one(&[Recovery::NewReno, Recovery::Sack, Recovery::Rack]);
    let mut tcp = tcp.tcp(recovery, recovery == Recovery::Rack && seed.is_multiple_of(2));
    if let Reliability::Tcp(tcp) = &mut tcp {
        let d = &mut Draws::new(seed, 47);
        tcp.handshake = d.once_in(3) && !matches!(spec.laws.control, ControlTransport::Ideal { .. });
        tcp.proportional = d.once_in(2) && recovery != Recovery::NewReno;
        tcp.burst = d.one(&[1, 1, 2, 5]);
    }
    let single = [None, Some(Draws::new(seed, 35).selective()), Some(tcp), Some(tcp)];
    let single = Draws::new(seed, 34).one(&single);
    spec.transport = Some(TransportSpec {
        reliability: single.unwrap_or(d.one(&[Reliability::None, go_back_n, go_back_n])),
        ack_every: d.one(&[1, 1, 2, 7]),
        ack_class: d.one(&[Class::Data, Class::Data, Class::Control]),
        ack_length: Bytes::new(d.one(&[64, 64, 60, 88, 1, 400, 9000])),
        window: d.one(&[
            Window::Scheme,
            Window::Scheme,
            Window::Off,
            Window::Bdp,
            Window::Fixed(Bytes::new(4000)),
        ]),
        window_by_rate: seed.is_multiple_of(2),
    });
    spec.hosts.iter_mut().for_each(|h| h.queues = HostQueues::Fifo);
    if single.is_some() && seed % 5 < 2 {
        let sources = spec.hosts.iter_mut().flat_map(|h| &mut h.sources);
        sources.for_each(|s| s.connected = s.arrivals == Arrivals::Transfers);
        // The time of a message behind others is not taken apart.
        spec.record.trips = false;
    }
    if d.once_in(2) {
        common::with_scheme(spec, Arc::new(by_acknowledgements(d)));
    }
    if seed.is_multiple_of(3) {
        lose(spec, seed);
    }
}

/// Lets flows follow others in a graph, with computing in between: of each host, and across hosts where one has arrived.
fn follow(spec: &mut RunSpec, seed: u64) {
    let d = &mut Draws::new(seed, 31);
    // In every third network some hosts are NICs of machines.
    let m = &mut Draws::new(seed, 41);
    let (mut machines, mut first) = (Vec::new(), 0);
    let several = m.once_in(3);
    for h in 0..spec.hosts.len() as u32 {
        first = if several && m.once_in(2) { first } else { h };
        machines.push(NodeId(first));
    }
    let machine = |h: usize| machines[h];
    spec.record.trips = m.once_in(2);
    spec.laws.draws =
        if seed.is_multiple_of(2) { cnsim_fabric::Draws::Keyed } else { cnsim_fabric::Draws::Stream };
    let mut all: Vec<(usize, Act, Vec<After>)> = Vec::new();
    for h in 0..spec.hosts.len() {
        let computes = d.below(6);
        for (s, source) in spec.hosts[h].sources.iter_mut().enumerate() {
            // Operations begin in no order that is known, and messages on a connection in that of the list.
            source.connected = false;
            source.transfers.iter_mut().filter(|t| t.bytes > Bytes::ZERO).for_each(|t| {
                if !d.once_in(4) {
                    t.start = Transfer::FOLLOWS;
                }
            });
            source.transfers.sort_by_key(|t| t.start);
            let follow = (0..).zip(&source.transfers).filter(|t| t.1.start == Transfer::FOLLOWS);
            all.extend(follow.map(|(n, _)| (h, Act::Send { source: s as u32, transfer: n }, Vec::new())));
        }
        for _ in 0..computes {
            let time = Time::from_ns(d.one(&[0, 0, 100, 1500, 4000, 1200 * 7]));
            let stream = d.one(&[None, Some(0), Some(0), Some(1)]).filter(|_| machine(h).0 as usize == h);
            all.push((h, Act::Compute { time, stream }, Vec::new()));
        }
    }
    // Ranks of the operations: what waits has a higher one, but for the few that close a circle.
    let ranks: Vec<u64> = all.iter().map(|_| d.below(1 << 20)).collect();
    let circles = d.once_in(8);
    for n in 0..all.len() {
        for _ in 0..d.one(&[0, 1, 1, 2, 3]) {
            let before = d.below(all.len() as u64) as usize;
            let lower = ranks[before] < ranks[n] || circles && d.once_in(9);
            let goal = match all[before].1 {
                Act::Send { source, transfer } => {
                    let source = &spec.hosts[all[before].0].sources[source as usize];
                    Some(source.transfers[transfer as usize].dst.0 as usize)
                }
                Act::Compute { .. } => None,
            };
            let there = machine(all[n].0);
            let (here, comes) = (machine(all[before].0) == there, goal.map(machine) == Some(there));
            if lower && before != n && (here || comes) {
                let kinds: [fn(u32) -> After; 3] = [After::Begun, After::Sent, After::Ended];
                let kind = match (here, goal) {
                    (true, Some(_)) => d.one(&kinds),
                    (true, None) => d.one(&[After::Begun, After::Ended]),
                    _ => After::Ended,
                };
                all[n].2.push(kind(before as u32));
            }
        }
    }
    let mut graph =
        Graph { machines: if several { machines.clone() } else { Vec::new() }, ..Graph::default() };
    for (host, act, after) in all {
        let first = graph.after.len() as u32;
        graph.after.extend(after);
        let after = (first, graph.after.len() as u32);
        graph.operations.push(Operation { host: NodeId(host as u32), act, after });
    }
    spec.graph = Some(Arc::new(graph));
}

/// Queue pairs by all these ways.
#[test]
fn flows_with_queue_pairs() {
    let sum = compare(&PAIRED, 80, pair);
    sum.one_in(8, |out| out.hosts.iter().any(|h| h.held_max > 0));
    sum.one_in(8, |out| out.hosts.iter().any(|h| h.transport.recoveries > 0));
    sum.one_in(5, |out| out.lost_on_links.iter().any(|l| l.acknowledgements + l.data > 0));
    sum.one_in(3, |out| out.hosts.iter().any(|h| h.transport.resent > 0));
    sum.one_in(8, |out| out.hosts.iter().any(|h| h.transport.timeouts > 0));
    sum.one_in(4, |out| out.hosts.iter().any(|h| h.transport.marked > 0));
    sum.one_in(3, |out| {
        out.hosts.iter().flat_map(|h| &h.transfers.completions).any(|c| c.acknowledged.is_some())
    });
    sum.one_in(6, |out| out.counters.iter().any(|c| c.0 == "second" && c.1 > 20));
    // Rare in small networks, but there.
    sum.mean("cuts by marks", 0, |out| cut(out, Trigger::Mark, true).into());
    sum.mean("cuts by telemetry", 0, |out| cut(out, Trigger::Telemetry, true).into());
    let lost = |out: &Outcome| cut(out, Trigger::Loss, true) || cut(out, Trigger::Timeout, true);
    sum.mean("cuts by losses", 0, |out| lost(out).into());
    sum.one_in(4, |out| out.recorded.flow_events.iter().any(|e| e.rtt.is_some() && e.in_flight.is_some()));
}

/// Flows that follow others, over networks that lose and mark frames and pause.
#[test]
fn flows_that_follow_others() {
    let random = Random { stream: 32, ..PAIRED };
    let sum = compare(&random, 160, |spec, seed| {
        pair(spec, seed);
        follow(spec, seed);
    });
    let happened = |time: Time| time < Time::MAX;
    sum.one_in(2, |out| out.operations.iter().filter(|o| happened(o.ended)).count() > 8);
    sum.one_in(8, |out| out.operations.iter().any(|o| !happened(o.begun)));
    sum.one_in(4, |out| out.operations.iter().any(|o| happened(o.received) && o.begun > Time::from_us(20)));
    sum.one_in(4, |out| out.hosts.iter().flat_map(|h| &h.transfers.trips).any(|t| t.stays.len() > 2));
    for out in &sum.0 {
        let whole = out.operations.iter().filter(|o| happened(o.received)).count();
        let of_graph =
            |c: &&Completion| out.operations.iter().any(|o| o.begun == c.start && o.received == c.end);
        assert!(out.hosts.iter().flat_map(|h| &h.transfers.completions).filter(of_graph).count() >= whole);
    }
}

/// Gives all switches a shared buffer, of a class with PAUSE or one that loses frames.
fn share(spec: &mut RunSpec, seed: u64) {
    let d = &mut Draws::new(seed, 24);
    let kb = Bytes::from_kb;
    let input = SharedInput {
        reserve: d.one(&[Bytes::ZERO, Bytes::new(1500), kb(4)]),
        headroom: kb(d.one(&[2, 20, 90])),
        alpha: d.one(&[0.05, 0.125, 0.5, 2.0]),
    };
    let pool = kb(d.one(&[30, 100, 400, 4000]));
    let ports = u64::from(spec.switches[0].ports);
    for s in &mut spec.switches {
        s.buffer.organisation = Organisation::Input;
        s.buffer.pause.iter_mut().for_each(|p| p.global = false);
        s.shared = Some(SharedSpec {
            memory: pool + (input.reserve + input.headroom) * ports,
            inputs: (0..ports)
                .map(|p| SharedInput { alpha: input.alpha * (1 + p % 2) as f64, ..input })
                .collect(),
            threshold: d.once_in(3).then(|| kb(6)),
            resume: d.one(&[Bytes::ZERO, kb(3)]),
            at_start: Draws::new(seed, 26).once_in(2),
            headroom: Draws::new(seed, 28).once_in(3).then(|| input.headroom * (1 + seed % 2)),
            lossy: Bytes::ZERO,
        });
    }
    spec.laws.pause_frames.length = Bytes::new(d.one(&[64, 64, 43]));
    spec.laws.control = ControlTransport::Priority;
}

/// Shared buffers, quiet and near their thresholds: XOFF and XON, drops, and what the pool and headroom ever held.
#[test]
fn buffers_that_inputs_share() {
    let random = Random { stream: 23, xoff: &[0, 12, 12], ..ANY };
    let sum = compare(&random, 120, share);
    let most = |out: &Outcome| {
        let all = out.switches.iter().map(|s| s.shared);
        all.map(|s| (s.pool * 64 > s.sizes.1 * 2, s.headroom > 0))
            .fold((false, false), |a, b| (a.0 | b.0, a.1 | b.1))
    };
    sum.one_in(8, dropped);
    sum.one_in(8, paused);
    sum.one_in(4, |out| most(out).0);
    sum.one_in(6, |out| most(out).1);
    // The XOFF that stops an output is the first that is left out of the record; a probe comes to a buffer near its thresholds.
    for seed in [5152, 5_000_051] {
        agreed(&random, seed, share);
    }
    let light = Random {
        stream: 25,
        loads: &[0.05, 0.2, 0.6],
        xoff: &[0, 12, 12],
        organisations: &[Organisation::Input],
        ..THIN
    };
    compare(&light, 60, share);
    let flows = Random { stream: 26, traffic: &[Flows(20)], xoff: &[12], duration: (150, 600), ..ANY };
    let sum = compare(&flows, 60, |spec, seed| {
        let ack_length = Bytes::new(60);
        spec.transport = Some(TransportSpec { ack_length, window: Window::Off, ..common::TRANSPORT });
        spec.hosts.iter_mut().for_each(|h| h.queues = HostQueues::Fifo);
        share(spec, seed);
    });
    sum.one_in(8, paused);
}

/// Some switches run by the model among others: their points are woken as frames leave, or messages are among the data of their shared
/// buffers.
#[test]
fn switches_by_the_model_among_others() {
    let by_model = |spec: &RunSpec| {
        let why = run(spec, &Options::default()).unwrap().by_model;
        assert!(why.is_some_and(|why| why.ends_with("switches)")));
    };
    let random = Random { stream: 40, switches: (2, 4), xoff: &[0, 12, 12], ..ANY };
    let in_band = Random { control: &[ControlTransport::InBand], ..random };
    let sum = compare(&in_band, 60, |spec, seed| {
        share(spec, seed);
        spec.laws.control = ControlTransport::InBand;
        spec.switches.iter_mut().step_by(2).for_each(|s| s.shared = None);
        if seed % 8 == 0 {
            by_model(spec);
        }
    });
    sum.one_in(8, |out| out.messages.made > 0);
    let flows = Random { stream: 41, traffic: &[Flows(20)], duration: (150, 600), ..random };
    let sum = compare(&flows, 60, |spec, seed| {
        let d = &mut Draws::new(seed, 42);
        let (ack_class, ack_length) = (d.one(&[Class::Data, Class::Control]), Bytes::new(60));
        spec.transport =
            Some(TransportSpec { ack_class, ack_length, window: Window::Off, ..common::TRANSPORT });
        spec.hosts.iter_mut().for_each(|h| h.queues = HostQueues::Fifo);
        if let ControlTransport::Ideal { .. } = spec.laws.control {
            spec.laws.control = ControlTransport::Priority;
        }
        let script = by_acknowledgements(d).plan(|plan| plan.departures = true);
        common::with_scheme(spec, Arc::new(script));
        // The points of the others are silent.
        spec.switches.iter_mut().step_by(2).for_each(|s| s.scheme = None);
        if seed % 8 == 0 {
            by_model(spec);
        }
    });
    sum.one_in(4, |out| out.hosts.iter().any(|h| h.transport.marked > 0));
    sum.one_in(6, |out| out.counters.iter().any(|c| c.0 == "second" && c.1 > 20));
}

/// Lets some ports say XOFF, some hosts read slowly, and PAUSE take effect late.
fn break_ports(spec: &mut RunSpec, seed: u64) {
    let d = &mut Draws::new(seed, 28);
    let parts = spec.duration.as_ps() / 64;
    for _ in 0..d.within((1, 5)) {
        let link = &spec.links[d.below(spec.links.len() as u64) as usize];
        let (node, port) = if d.once_in(2) { link.a } else { link.b };
        let (from, long) = (d.below(60), d.within((1, 20)));
        // Now and then at the very moment at which another ends.
        let (from, to) = (Time::from_ps(from * parts), Time::from_ps((from + long) * parts));
        let buffer = Bytes::new(d.one(&[2000, 10_000, 30_000]));
        let rate = Rate::from_gbps(d.one(&[0.3, 1.0, 5.0]));
        let reads = (node.0 as usize) < spec.hosts.len() && d.once_in(2);
        let kind = if reads { FaultKind::Slow { rate, buffer } } else { FaultKind::Xoff };
        let drawn = d.one(&[PauseTransport::Frame, PauseTransport::Wire]);
        // What a fault says must not overtake what its switch says by the same port, nor the other way round.
        let switch = (node.0 as usize).checked_sub(spec.hosts.len()).map(|s| &spec.switches[s]);
        let transport = switch.and_then(|s| s.buffer.pause).map_or(drawn, |p| p.transport);
        let overlaps = |f: &PortFault| (f.node, f.port) == (node, port) && f.from < to && from < f.to;
        if !spec.events.faults.iter().any(overlaps) {
            spec.events.faults.push(PortFault { class: 0, node, port, from, to, transport, kind });
        }
    }
    // Partitions leave no room for more, and a loss there ends the run.
    let late = if spec.switches[0].shared.is_some() { [0, 3, 700, 2500] } else { [0, 0, 3, 3] };
    spec.laws.pause_frames.response = Time::from_ns(d.one(&late));
}

/// Faults of ports, beside the PAUSE of switches and without it, with partitions and shared buffers.
#[test]
fn ports_with_faults() {
    let random = Random { stream: 28, xoff: &[0, 12, 12], ..ANY };
    let sum = compare(&random, 120, break_ports);
    sum.one_in(3, |out| out.hosts.iter().any(|h| h.pause.sent > 0));
    sum.one_in(4, paused);
    sum.0.iter().for_each(records_add_up);
    let shared = |spec: &mut RunSpec, seed| {
        share(spec, seed);
        break_ports(spec, seed);
    };
    let sum = compare(&Random { stream: 29, ..random }, 80, shared);
    sum.one_in(4, paused);
    let star = Random { stream: 30, switches: (1, 1), ..THIN };
    compare(&star, 60, break_ports);
    // A capture is full as an XOFF comes after a frame that leaves later.
    agreed(&star, 20_261_136, break_ports);
}

/// Watchdogs that see storms of faults, and of XOFF that stands for long, by each rule and with each action.
#[test]
fn ports_with_watchdogs() {
    let watched = |spec: &mut RunSpec, seed| {
        let d = &mut Draws::new(seed, 31);
        if d.once_in(2) {
            share(spec, seed);
        }
        break_ports(spec, seed);
        let detect = Time::from_ps(spec.duration.as_ps() / d.one(&[3000, 300, 90, 20]));
        spec.laws.watchdog = Some(WatchdogSpec {
            rule: d.one(&[
                WatchdogRule::Continuous,
                WatchdogRule::Continuous,
                WatchdogRule::Polled80,
                WatchdogRule::Polled99,
            ]),
            detect,
            restore: detect * d.one(&[1, 2, 5]),
            action: d.one(&[
                WatchdogAction::Drop,
                WatchdogAction::Drop,
                WatchdogAction::Forward,
                WatchdogAction::Alert,
            ]),
        });
        // A watchdog is refused where no switch has PAUSE.
        let pause = spec.switches.iter().find_map(|s| s.buffer.pause);
        spec.laws.watchdog = spec.laws.watchdog.filter(|_| pause.is_some());
    };
    let random = Random { stream: 31, xoff: &[0, 12, 12], ..ANY };
    let storms = |out: &Outcome| out.switches.iter().map(|s| s.storms.len()).sum::<usize>();
    let lost = |out: &Outcome| out.switches.iter().flat_map(|s| &s.storms).map(|s| s.dropped).sum::<u64>();
    let sum = compare(&random, 80, watched);
    sum.one_in(4, |out| storms(out) > 0);
    sum.one_in(8, |out| storms(out) > 5);
    sum.one_in(8, |out| lost(out) > 0);
    let flows = Random { stream: 32, traffic: &[Flows(20)], duration: (150, 600), ..random };
    compare(&flows, 40, watched).one_in(8, |out| lost(out) > 0);
    let star = Random { stream: 33, switches: (1, 1), xoff: &[0, 12, 12], ..THIN };
    compare(&star, 40, watched);
}

/// Lets some links lose frames: by chance, or as a list says.
fn lose(spec: &mut RunSpec, seed: u64) {
    let d = &mut Draws::new(seed, 36);
    let (hosts, parts) = (spec.hosts.len() as u64, spec.duration.as_ps() / 64);
    for _ in 0..d.within((1, 6)) {
        let link = spec.links[d.below(spec.links.len() as u64) as usize];
        let (node, port) = if d.once_in(2) { link.a } else { link.b };
        let (from, long) = (d.below(60), d.within((1, 60)));
        let (from, to) = (Time::from_ps(from * parts), Time::from_ps((from + long) * parts));
        let listed = |_| {
            let src = d.below(hosts) as u32;
            let (dst, at) = ((u64::from(src) + 1 + d.below(hosts - 1)) % hosts, d.once_in(2));
            let (src, dst) = (cnsim_scheme_api::NodeId(src), cnsim_scheme_api::NodeId(dst as u32));
            let other = if node.0 < src.0.max(dst.0) { node } else { src };
            let flow = if at || other == dst { (src, dst) } else { (other, dst) };
            let number = d.once_in(3).then(|| d.below(4) as u16);
            LostFrame { flow, number, acknowledgement: d.once_in(3), nth: d.within((1, 12)) }
        };
        let list: Vec<_> = (0..12).map(listed).collect();
        let kind =
            if d.once_in(2) { LossKind::Drawn(d.one(&[0.01, 0.1, 0.5])) } else { LossKind::Listed(list) };
        let overlaps = |l: &LinkLoss| (l.node, l.port) == (node, port) && l.from < to && from < l.to;
        if !spec.events.losses.iter().any(overlaps) {
            spec.events.losses.push(LinkLoss { node, port, from, to, kind });
        }
    }
}

/// Links that lose data, acknowledgements, messages and probes.
#[test]
fn links_that_lose() {
    let lost = |out: &Outcome| out.lost_on_links.iter().map(|l| l.data).sum::<u64>();
    let sum = compare(&Random { stream: 36, ..ANY }, 120, lose);
    sum.one_in(2, |out| lost(out) > 0);
    sum.one_in(8, |out| out.lost_on_links.iter().any(|l| l.control > 0));
    sum.one_in(16, |out| out.lost_on_links.iter().any(|l| l.by_bin.iter().any(|n| *n > 0)));
    compare(&Random { stream: 37, ..THIN }, 60, lose).one_in(3, |out| lost(out) > 0);
}

/// Gives a network several classes: lossless and lossy, strict or by weight, of the nodes' scheme or of none, and its sources and faults
/// one of these each.
fn classify(spec: &mut RunSpec, seed: u64) {
    let d = &mut Draws::new(seed, 48);
    let many = d.one(&[2, 2, 3, 3, 4, 8]);
    let class = |n: u64| ClassSpec {
        name: format!("c{n}"),
        pause: !d.once_in(3),
        turn: match d.once_in(2) {
            true => Turn::Weight { weight: d.one(&[1, 1, 2, 5]), frames: d.once_in(3) },
            false => Turn::Strict,
        },
        scheme: d.one(&[ClassScheme::OfNodes, ClassScheme::OfNodes, ClassScheme::Nobody]),
        transport: d.once_in(3).then_some(spec.transport).flatten().map(|transport| TransportSpec {
            ack_length: Bytes::new(d.one(&[64, 84, 700])),
            window: d.one(&[Window::Off, Window::Fixed(Bytes::new(20_000))]),
            ..transport
        }),
    };
    spec.classes = (0..many).map(class).collect();
    spec.hosts.iter_mut().flat_map(|h| &mut h.sources).for_each(|s| s.class = d.below(many) as u8);
    spec.events.faults.iter_mut().for_each(|fault| fault.class = d.below(many) as u8);
    for shared in spec.switches.iter_mut().filter_map(|s| s.shared.as_mut()) {
        let kept: Bytes = shared.inputs.iter().map(|i| i.reserve + i.headroom).sum();
        let pool = shared.memory - kept;
        shared.inputs = shared.inputs.repeat(many as usize);
        shared.lossy = pool.scale(0.5);
        shared.memory = kept * many + pool + shared.lossy;
    }
}

/// Up to eight classes: partitions and shared buffers, queue pairs, faults, watchdogs, losses.
#[test]
fn networks_of_several_classes() {
    marks::forget();
    let sum = compare(&Random { stream: 49, ..ANY }, 160, classify);
    sum.one_in(8, dropped);
    sum.one_in(8, paused);
    sum.one_in(8, |out| out.messages.made > 0);
    assert!(marks::seen(marks::Mark::Classes) > 0);
    let calm = |spec: &mut RunSpec, seed: u64| {
        if seed.is_multiple_of(2) {
            share(spec, seed);
        }
        classify(spec, seed);
        spec.record.trips = false;
        if spec.routing == Routing::RoundRobin {
            spec.routing = Routing::FrameHash;
        }
    };
    let kept = Random {
        ties: &[Ties::ByPort],
        control: &[ControlTransport::Priority],
        xoff: &[0, 400],
        memory: &[800],
        scheme: |_| None,
        ..ANY
    };
    compare(&Random { stream: 54, ..kept }, 120, calm);
    let flows = Random { stream: 55, traffic: &[Flows(20)], duration: (150, 600), ..kept };
    compare(&flows, 120, |spec, seed| {
        pair(spec, seed);
        calm(spec, seed);
    });
    assert!(marks::seen(marks::Mark::CalmClasses) > 1000, "{}", marks::seen(marks::Mark::CalmClasses));
    let few = Random { stream: 50, ..THIN };
    compare(&few, 60, classify);
    let sum = compare(&Random { stream: 51, xoff: &[0, 12, 12], ..ANY }, 120, |spec, seed| {
        share(spec, seed);
        break_ports(spec, seed);
        classify(spec, seed);
    });
    sum.one_in(4, paused);
    let sum = compare(&Random { stream: 52, ..PAIRED }, 120, |spec, seed| {
        pair(spec, seed);
        if seed.is_multiple_of(2) {
            share(spec, seed);
        }
        classify(spec, seed);
    });
    sum.one_in(8, |out| out.hosts.iter().any(|h| h.transport.recoveries > 0));
    let follows = Random { stream: 53, ..PAIRED };
    compare(&follows, 40, |spec, seed| {
        pair(spec, seed);
        follow(spec, seed);
        // Hosts with several NICs and several classes run by the model.
        if spec.graph.as_ref().is_some_and(|graph| graph.machines.is_empty()) {
            classify(spec, seed);
        }
    });
}
