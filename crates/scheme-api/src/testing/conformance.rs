//! The checks of the conformance suite: the promises of every scheme to the network.

use super::{Faults, Loopback, PointRig, ReactionRig, ReflectorRig};
use crate::network::{LimiterState, PointAction, Purpose, Stream, guarded};
use crate::{
    Acks, Bytes, Class, Feedback, FlowId, FrameView, Hop, Loss, NodeId, PointId, Probe, ProbeTarget, Rate,
    Scheme, Tag, Time,
};
use std::fmt;

/// Builds a fresh scheme, as often as it is called.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn Scheme>;

/// Promises of a scheme beyond those that all must keep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Promise {
    /// Smallest rate of a limiter that sends at all.
    pub floor: Rate,
    /// The scheme may stop a flow, that is, set its rate to zero.
    pub stops: bool,
    /// Flows start below line rate; one that meets no congestion is there after this time, and stays. Zero for schemes
    /// that leave a flow alone; [`Time::MAX`] for one that measures its path, and paces below line rate to do so.
    pub warms_up: Time,
    /// The scheme's own messages about a long queue limit a flow.
    pub reacts: bool,
    /// A flow that sends on without feedback is back at line rate within this many bytes, sent in this time.
    pub recovers: Option<(Bytes, Time)>,
}

impl Promise {
    /// A scheme whose messages about a long queue limit a flow, down to this rate.
    pub fn reacting(floor: Rate) -> Self {
        Self { floor, reacts: true, ..Self::default() }
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the check.
    pub check: &'static str,
    /// The promise that was broken.
    pub promise: &'static str,
    /// The events that broke it.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: promised: {}; {}", self.check, self.promise, self.what)
    }
}

impl std::error::Error for Violation {}

/// One check of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// A short name by which the check is called.
    pub name: &'static str,
    /// The promise it looks at.
    pub promise: &'static str,
    run: fn(Make<'_>, &Promise) -> Result<(), String>,
}

impl Check {
    /// Runs it. A panic of the scheme is a violation, too.
    ///
    /// # Errors
    /// The promise, and the events that broke it.
    pub fn run(&self, make: Make<'_>, promise: &Promise) -> Result<(), Violation> {
        let result = guarded(|| (self.run)(make, promise)).unwrap_or_else(Err);
        result.map_err(|what| Violation { check: self.name, promise: self.promise, what })
    }
}

/// All checks, in order.
pub const CHECKS: &[Check] = &[
    Check {
        name: "bounds",
        promise: "rates stay between the scheme's floor and the link's rate",
        run: bounds,
    },
    Check {
        name: "reaction",
        promise: "messages about a long queue limit the flow that fills it",
        run: reaction,
    },
    Check { name: "recovery", promise: "without feedback a flow comes back to line rate", run: recovery },
    Check {
        name: "no-congestion",
        promise: "a flow that never met congestion is not affected",
        run: no_congestion,
    },
    Check {
        name: "lost-messages",
        promise: "lost, doubled and reordered messages leave rates within bounds",
        run: faults,
    },
    Check {
        name: "hostile-messages",
        promise: "messages with any field values leave rates within bounds and the run alive",
        run: hostile,
    },
    Check {
        name: "late-messages",
        promise: "messages that take a round trip leave rates within bounds",
        run: late,
    },
    Check {
        name: "acknowledgements",
        promise: "acknowledgements that come late, twice or never, with marks, losses and telemetry, leave rate and window within bounds",
        run: acknowledged,
    },
    Check { name: "same-seed", promise: "the same seed gives the same trace", run: same_seed },
];

/// Runs all checks. `make` builds a fresh scheme.
///
/// # Errors
/// Every promise that is not kept.
pub fn conformance(make: Make<'_>, promise: Promise) -> Result<(), Vec<Violation>> {
    let broken: Vec<_> = CHECKS.iter().filter_map(|c| c.run(make, &promise).err()).collect();
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

/// Line rate of all rigs.
pub(super) const LINE: Rate = Rate::from_gbps(10.0);

/// Time between frames of the flow while its queue is congested; other flows send [`OTHERS`] frames in it.
pub(super) const GAP: Time = Time::from_us(12);

/// Frames of other flows per [`GAP`]: with the flow's own 1.6 times what the queue can serve.
const OTHERS: u32 = 15;

/// Rates within bounds, and no cause to stop the run.
fn within(state: &LimiterState, promise: &Promise) -> Result<(), String> {
    let (rate, floor, line) = (state.rate, promise.floor, state.line_rate);
    let allowed = if promise.stops { " or 0" } else { "" };
    let rate_is_right = rate <= line && (rate >= floor || (promise.stops && rate == Rate::ZERO));
    if state.engaged && !rate_is_right {
        return Err(format!("a rate of {rate} is outside {floor} to {line}{allowed}"));
    }
    Ok(())
}

/// The state of a loop after a step.
fn look(l: &Loopback, promise: &Promise) -> Result<(), String> {
    if let Some(why) = l.failure() {
        return Err(why);
    }
    within(l.reaction.state(), promise)
}

/// A step with a congested queue, of a length that swings.
pub(super) fn congested(l: &mut Loopback, draws: &mut Stream) {
    let queue = 60_000 + draws.below(190_000);
    l.others(OTHERS, queue);
    l.step(GAP, queue);
}

/// A step with a frame alone in its queue, at two thirds of the line.
fn alone(l: &mut Loopback) {
    l.step(Time::from_ns(1800), 1500);
}

/// A loop through congestion, relief and congestion again; yields its trace.
fn ride(make: Make<'_>, promise: &Promise, seed: u64, faults: Faults) -> Result<Vec<u64>, String> {
    ride_in(&mut Loopback::new(make, LINE, seed, faults), promise, seed)
}

fn ride_in(l: &mut Loopback, promise: &Promise, seed: u64) -> Result<Vec<u64>, String> {
    let mut draws = Stream::new(seed, 3, Purpose::Test);
    let mut trace = Vec::new();
    for phase in 0..4 {
        for step in 0..3000 {
            if phase % 2 == 0 {
                congested(l, &mut draws);
            } else {
                alone(l);
            }
            look(l, promise).map_err(|e| format!("in step {step} of phase {phase}: {e}"))?;
            trace.extend(l.reaction.steered().into_iter().chain([l.delivered, l.woken]));
        }
        // Relief lasts long enough for slow timers and byte counters.
        for step in 0..if phase % 2 == 0 { 0 } else { 60 } {
            l.relief(150_000, Time::from_ms(1));
            look(l, promise).map_err(|e| format!("in ms {step} of phase {phase}: {e}"))?;
            trace.extend(l.reaction.steered());
        }
    }
    Ok(trace)
}

fn bounds(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    for line in [1.0, 10.0, 40.0].map(Rate::from_gbps) {
        let mut l = Loopback::new(make, line, 7, Faults::default());
        let mut draws = Stream::new(7, 4, Purpose::Test);
        for step in 0..6000 {
            congested(&mut l, &mut draws);
            look(&l, promise).map_err(|e| format!("in step {step} on a link of {line}: {e}"))?;
        }
    }
    ride(make, promise, 8, Faults::default()).map(|_| ())
}

/// A loop that has been congested for a while.
fn cut(make: Make<'_>, seed: u64) -> Loopback {
    let mut l = Loopback::new(make, LINE, seed, Faults::default());
    let mut draws = Stream::new(seed, 5, Purpose::Test);
    (0..6000).for_each(|_| congested(&mut l, &mut draws));
    l
}

fn reaction(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    if !promise.reacts {
        return Ok(());
    }
    let l = cut(make, 11);
    if l.delivered + l.woken == 0 {
        return Err("no message reached the flow".into());
    }
    if l.reaction.speed() > LINE * 0.9 {
        return Err(format!(
            "after {} messages the rate is still {}",
            l.delivered + l.woken,
            l.reaction.speed()
        ));
    }
    Ok(())
}

fn recovery(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    let Some((bytes, time)) = promise.recovers else { return Ok(()) };
    let mut l = cut(make, 12);
    if l.reaction.speed() >= LINE {
        return Err("the flow was never cut, so there is nothing to come back from".into());
    }
    let from = l.reaction.speed();
    let steps = 4000;
    for _ in 0..steps {
        l.relief(bytes.get() / steps, Time::from_ps(time.as_ps() / steps));
    }
    if let Some(why) = l.failure() {
        return Err(why);
    }
    if l.reaction.speed() < LINE {
        return Err(format!("{bytes} sent and {time} later the rate is {}, from {from}", l.reaction.speed()));
    }
    Ok(())
}

fn no_congestion(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    let mut l = Loopback::new(make, LINE, 13, Faults::default());
    for step in 0..20_000 {
        alone(&mut l);
        look(&l, promise)?;
        if l.reaction.speed() < LINE && l.reaction.now() > promise.warms_up {
            return Err(format!(
                "frame {step} was alone in its queue, and the rate is {} after {:?}",
                l.reaction.speed(),
                l.last
            ));
        }
    }
    // A flow that sent nothing is not spoken to when others congest the queue.
    let Some(mut point) = PointRig::new(make().as_ref(), LINE, 14) else { return Ok(()) };
    for i in 0..5000 {
        point.wait(Time::from_ns(600));
        point.frame(2 + i % 9, 150_000, Tag::None);
    }
    let astray = point.actions.iter().find_map(|a| match a {
        PointAction::Notify(flow, message) if !(2..11).contains(&flow.0) => Some((flow, message)),
        _ => None,
    });
    match astray {
        Some((flow, message)) => {
            Err(format!("{message:?} goes to flow {}, which sent nothing to the queue", flow.0))
        }
        None => Ok(()),
    }
}

fn faults(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    let kinds = [
        ("a third of all messages lost", Faults { lose: 0.33, ..Faults::default() }),
        ("a third of all messages doubled", Faults { double: 0.33, ..Faults::default() }),
        ("half of all messages overtaken", Faults { delay: 0.5, ..Faults::default() }),
        ("all of it together", Faults { lose: 0.33, double: 0.33, delay: 0.5 }),
    ];
    for (i, (name, faults)) in kinds.into_iter().enumerate() {
        ride(make, promise, 20 + i as u64, faults).map_err(|e| format!("with {name}, {e}"))?;
    }
    Ok(())
}

fn late(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    let mut l = Loopback::new(make, LINE, 51, Faults::default()).with_round_trip(Time::from_us(100));
    ride_in(&mut l, promise, 51).map_err(|e| format!("with a round trip of 100 us, {e}"))?;
    Ok(())
}

/// Messages of every format with extreme values, as a broken or hostile network could deliver them.
pub fn hostile_feedback() -> Vec<Feedback> {
    let mut all = vec![Feedback::Reflection, Feedback::Cnp, Feedback::User([u64::MAX; 2])];
    for sent_at in [0, u32::MAX] {
        all.extend([0, u64::MAX].map(|received| Feedback::Echo { sent_at, received, marked: sent_at == 0 }));
    }
    for point in [PointId(0), PointId(u32::MAX)] {
        for fb in [0.0, -1.0, 1.0, -1e300, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for stop in [false, true] {
                all.push(Feedback::Ecm { point, q_off: fb, q_delta: -fb, fb, stop });
            }
        }
        for qntz_fb in [0, 1, 63, 64, 255] {
            for q in [i32::MIN, 0, i32::MAX] {
                all.push(Feedback::Cnm { point, qntz_fb, q_off: q, q_delta: q.saturating_neg() });
            }
        }
        for rate in [Rate::ZERO, Rate::from_bps(1.0), Rate::from_gbps(1e6), Rate::from_bps(f64::MAX)] {
            all.push(Feedback::AdvertisedRate { point, rate });
            all.push(Feedback::ReturnedRate { rate });
            for probe in hostile_probes() {
                for at in [Time::ZERO, Time::MAX] {
                    all.push(Feedback::ProbeReply { probe, at, rx_rate: rate });
                }
            }
        }
    }
    all
}

/// An acknowledgement of bytes that were sent, with extreme values else; at times the flow begins anew.
fn hostile_ack(rig: &mut ReactionRig, draws: &mut Stream) {
    let acks = &rig.state().acks;
    let acked = acks.acked + draws.below(acks.in_flight() + 1);
    let mut of = |all: [u64; 5]| all[draws.below(5) as usize];
    let hop = Hop {
        rate: Rate::from_bps(of([0, 1, 10_000_000_000, 25_000_000_000, u64::MAX]) as f64),
        time: Time::from_ps(of([0, 1, 1_000_000_000, 1_000_000_001, u64::MAX])),
        sent: of([0, 1, 1500, 3000, u64::MAX]),
        queue: Bytes::new(of([0, 1, 1500, 150_000, u64::MAX])),
    };
    let rtt = Time::from_ps(of([0, 1, 6_000_000, 600_000_000, u64::MAX]));
    let (hops, marked, lost) = (of([0, 1, 2, 2, 2]), of([0, 1, 0, 1, 0]) == 1, of([0, 1, 2, 2, 2]));
    rig.ack(acked, marked, rtt, &[hop, hop][..hops as usize]);
    match lost {
        0 => rig.lose(Loss::Nack),
        1 => rig.lose(Loss::Timeout),
        _ => {}
    }
}

/// Probes with extreme values.
fn hostile_probes() -> Vec<Probe> {
    let mut all = Vec::new();
    for target in [ProbeTarget::Destination, ProbeTarget::Point(PointId(u32::MAX))] {
        for (fb, number) in [(0, 0), (i32::MIN, u32::MAX), (i32::MAX, 1)] {
            for (sent_at, sent_bytes) in [(Time::ZERO, 0), (Time::MAX, u64::MAX)] {
                let point = (fb != 0).then_some(PointId(u32::MAX));
                let fresh = Probe::new(number, target, Class::Data);
                all.push(Probe { sent_at, sent_bytes, fb, point, ..fresh });
            }
        }
    }
    all
}

/// Tags with extreme values.
const HOSTILE_TAGS: [Tag; 7] = [
    Tag::SentAt(u32::MAX),
    Tag::None,
    Tag::Regulated(PointId(u32::MAX)),
    Tag::RateDiscovery(Rate::ZERO),
    Tag::RateDiscovery(Rate::from_gbps(1e6)),
    Tag::User(0),
    Tag::User(u32::MAX),
];

fn hostile(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    hostile_messages(make, promise, 3)?;
    hostile_frames(make)
}

/// The reaction point receives every message there can be, in any order; yields its rates.
fn hostile_messages(make: Make<'_>, promise: &Promise, seed: u64) -> Result<Vec<u64>, String> {
    let mut rig = ReactionRig::boxed(make(), LINE, seed);
    let mut draws = Stream::new(seed, 1, Purpose::Test);
    let list = hostile_feedback();
    let needs = make().plan().acks != Acks::Optional;
    let mut trace = Vec::new();
    for step in 0..6000 {
        // Each once in order, first; then at random, often twice.
        let at = if step < list.len() { step } else { draws.below(list.len() as u64) as usize };
        let message = list[at];
        rig.feedback(&message);
        if draws.chance(0.3) {
            rig.feedback(&message);
        }
        rig.send(draws.below(40_000));
        if needs {
            hostile_ack(&mut rig, &mut draws);
        }
        rig.wait(Time::from_us(draws.below(300)));
        let found = rig.failure.clone().map_or_else(|| within(rig.state(), promise), Err);
        found.map_err(|e| format!("after message {step}, {message:?}: {e}"))?;
        trace.extend(rig.steered());
    }
    Ok(trace)
}

/// Congestion point and reflector meet tags and probes that no host should have sent.
fn hostile_frames(make: Make<'_>) -> Result<(), String> {
    let scheme = make();
    let mut point = PointRig::new(scheme.as_ref(), LINE, 31);
    let mut reflector = ReflectorRig::new(scheme.as_ref(), LINE, 31);
    let mut draws = Stream::new(31, 1, Purpose::Test);
    let probes = hostile_probes();
    for step in 0..6000 {
        let tag = HOSTILE_TAGS[draws.below(HOSTILE_TAGS.len() as u64) as usize];
        let mut probe = probes[draws.below(probes.len() as u64) as usize];
        let queue = draws.below(300_000);
        let gap = Time::from_us(draws.below(100));
        let len = Bytes::new(1500);
        let mut view = FrameView {
            flow: FlowId(1),
            src: NodeId(1),
            dst: NodeId(0),
            len,
            marked: draws.chance(0.5),
            tag,
            dropped: false,
        };
        if let Some(point) = &mut point {
            point.wait(gap);
            view.tag = point.frame(1, queue, tag).tag;
            point.probe(&mut probe, 1, queue);
            if let Some(why) = point.failure.clone() {
                return Err(format!("in step {step}, with {tag:?} and {probe:?}: {why}"));
            }
        }
        if let Some(reflector) = &mut reflector {
            reflector.wait(gap);
            reflector.frame(&view);
            reflector.probe(&probe);
            if let Some(why) = reflector.failure.clone() {
                return Err(format!("in step {step}, with {tag:?} and {probe:?}: {why}"));
            }
        }
    }
    Ok(())
}

fn acknowledged(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    let kinds = [
        ("every frame acknowledged", Faults::default()),
        ("a fiftieth lost", Faults { lose: 0.02, ..Faults::default() }),
        ("losses, doubles and delays", Faults { lose: 0.1, double: 0.1, delay: 0.2 }),
    ];
    let acks = make().plan().acks;
    for (i, (name, faults)) in kinds.into_iter().enumerate() {
        let l = Loopback::new(make, LINE, 70 + i as u64, faults).with_round_trip(Time::from_us(10));
        let mut l = l.with_acknowledgements();
        ride_in(&mut l, promise, 70 + i as u64).map_err(|e| format!("with {name}, {e}"))?;
        if acks != Acks::Optional && l.woken == 0 {
            return Err("the plan needs acknowledgements, but none woke the reaction point: arm `wake_on_acks`, as in `start`".into());
        }
        if acks == Acks::Telemetry && !l.point.is_some_and(|p| p.state.records) {
            return Err("the plan has telemetry, but no congestion point calls `record_departures`".into());
        }
    }
    Ok(())
}

fn same_seed(make: Make<'_>, promise: &Promise) -> Result<(), String> {
    // Rates out of bounds, and panics, are another check's business.
    type Trace = Result<Vec<u64>, String>;
    let run = |run: &dyn Fn() -> Trace| -> Trace { guarded(run).unwrap_or_else(|_| Err("a panic".into())) };
    let twice = |trace: &dyn Fn() -> Trace| (run(trace), run(trace));
    let loops = twice(&|| ride(make, promise, 41, Faults { lose: 0.2, double: 0.2, delay: 0.2 }));
    let lies = twice(&|| hostile_messages(make, promise, 42));
    for (first, second) in [loops, lies] {
        if let (Ok(a), Ok(b)) = (&first, &second) {
            if let Some(at) = a.iter().zip(b).position(|(x, y)| x != y) {
                return Err(format!("two runs part at entry {at} of {}", a.len()));
            }
        } else if first != second {
            return Err("one of two runs keeps its bounds, the other does not".into());
        }
    }
    Ok(())
}
