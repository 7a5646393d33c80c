//! Schemes with one fault each, to see that the suite finds it and names the promise.

use super::{Promise, Violation, conformance};
use crate::{
    Bytes, CongestionPoint, Feedback, FlowId, FrameView, Limiter, PointControl, PointId, Queue, QueueSite,
    Rate, ReactionPoint, Scheme, Slot, SourceSite, Tag, Time,
};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    AboveLink,
    BelowFloor,
    Stops,
    NeverRecovers,
    NeverReacts,
    PanicsOnLies,
    BelievesLies,
    GivesUpOnLies,
    GivesUpOnGaps,
    Unseeded,
    CutsTheInnocent,
    WritesToStrangers,
    WritesTooMuch,
    TagsTooOften,
    TimerStands,
    SlotOfNobody,
    CountsInSecret,
}

/// Multiplies by 0.7 at each message about more than 30 KB, doubles each millisecond.
#[derive(Debug)]
struct Simple(Fault);

impl Scheme for Simple {
    fn name(&self) -> &str {
        "simple"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(self.0, 0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction(self.0, 0)))
    }
    fn engages(&self, _: &Feedback) -> bool {
        self.0 != Fault::NeverReacts
    }
}

#[derive(Debug)]
struct Point(Fault, i32);

const EVERY: Bytes = Bytes::new(30_000);

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(EVERY);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(EVERY);
        if queue.len > Bytes::from_kb(30) || self.0 == Fault::CutsTheInnocent {
            let flow = if self.0 == Fault::WritesToStrangers { FlowId(99) } else { frame.flow };
            let qntz_fb = if self.0 == Fault::WritesTooMuch { 200 } else { 40 };
            if frame.flow == FlowId(1) {
                self.1 += 1;
            }
            ctl.notify(flow, Feedback::Cnm { point: PointId(7), qntz_fb, q_off: self.1, q_delta: 0 });
        }
    }
}

#[derive(Debug)]
struct Reaction(Fault, i32);

/// State that outlives a run: what no scheme may have.
static CALLS: AtomicU64 = AtomicU64::new(0);

impl ReactionPoint for Reaction {
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let floor = Rate::from_mbps(10.0);
        limiter.engage();
        limiter.start_timer(Slot(0), Time::from_ms(1));
        let mut factor = 0.7;
        match (self.0, feedback) {
            (Fault::BelowFloor, _) => return limiter.set_rate(limiter.rate() * 0.7),
            (Fault::Stops, _) => return limiter.set_rate(Rate::ZERO),
            (Fault::PanicsOnLies, Feedback::Cnm { qntz_fb, .. }) => {
                factor = [0.7; 64][usize::from(*qntz_fb)];
            }
            (Fault::BelievesLies, Feedback::Ecm { fb, .. }) => {
                return limiter.set_rate(limiter.rate() * (1.0 + fb / 100.0));
            }
            (Fault::GivesUpOnLies, Feedback::User(_)) => limiter.fail("no such message"),
            (Fault::GivesUpOnGaps, Feedback::Cnm { q_off, .. }) => {
                if *q_off != self.1.wrapping_add(1) && self.1 > 0 {
                    limiter.fail("a message is missing");
                }
                self.1 = *q_off;
            }
            (Fault::Unseeded, _) => factor -= 0.001 * (CALLS.fetch_add(1, Ordering::Relaxed) % 97) as f64,
            (Fault::TagsTooOften, _) => limiter.stamp_with(Tag::User(1), 1.5),
            (Fault::SlotOfNobody, _) => limiter.start_timer(Slot(4), Time::from_ms(1)),
            (Fault::CountsInSecret, _) => limiter.count("secrets"),
            (Fault::TimerStands, _) => limiter.start_timer(Slot(1), Time::ZERO),
            _ => {}
        }
        limiter.set_rate((limiter.rate() * factor).max(floor));
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        limiter.start_timer(slot, if slot == Slot(1) { Time::ZERO } else { Time::from_ms(1) });
        let line = limiter.line_rate();
        match self.0 {
            Fault::NeverRecovers => {}
            Fault::AboveLink => limiter.set_rate(limiter.rate() * 2.0),
            _ => limiter.set_rate((limiter.rate() * 2.0).min(line)),
        }
    }
}

fn broken(fault: Fault) -> Vec<Violation> {
    let promise = Promise {
        floor: Rate::from_mbps(10.0),
        reacts: true,
        recovers: Some((Bytes::from_mb(10), Time::from_ms(20))),
        ..Promise::default()
    };
    conformance(&|| Box::new(Simple(fault)), promise).err().unwrap_or_default()
}

/// The suite finds the fault in this check, and its text holds these words.
fn finds(fault: Fault, check: &str, words: &[&str]) {
    let broken = broken(fault);
    let found = broken.iter().find(|v| v.check == check);
    let text = found.map(ToString::to_string).unwrap_or_default();
    assert!(found.is_some(), "{fault:?} is not found by {check}: {broken:?}");
    assert!(words.iter().all(|w| text.contains(w)), "{fault:?}: {text}");
}

#[test]
fn a_sound_scheme_passes() {
    assert_eq!(broken(Fault::None), []);
}

#[test]
fn rates_out_of_bounds() {
    let promise = "rates stay between the scheme's floor and the link's rate";
    finds(Fault::AboveLink, "bounds", &[promise, "is above the link's 10 Gb/s"]);
    finds(Fault::BelowFloor, "bounds", &[promise, "is outside 0.01 Gb/s to 1 Gb/s"]);
    finds(Fault::Stops, "bounds", &[promise, "a rate of 0 Gb/s"]);
    finds(Fault::TagsTooOften, "bounds", &["1.5 is no probability"]);
    finds(Fault::TimerStands, "bounds", &["time does not pass"]);
    finds(Fault::SlotOfNobody, "bounds", &["there is no timer 4: slots are 0 to 3"]);
    finds(Fault::CountsInSecret, "bounds", &["there is no counter `secrets`"]);
    finds(Fault::WritesTooMuch, "bounds", &["qntz_fb: 200", "cannot carry"]);
}

#[test]
fn no_reaction_and_no_recovery() {
    finds(Fault::NeverReacts, "reaction", &["limit the flow that fills it", "the rate is still 10 Gb/s"]);
    let promise = "without feedback a flow comes back to line rate";
    finds(Fault::NeverRecovers, "recovery", &[promise, "10 MB sent and 20 ms later the rate is"]);
    finds(Fault::NeverReacts, "recovery", &["never cut"]);
}

#[test]
fn effects_without_congestion() {
    let promise = "a flow that never met congestion is not affected";
    finds(Fault::CutsTheInnocent, "no-congestion", &[promise, "was alone in its queue", "Cnm"]);
    finds(Fault::WritesToStrangers, "no-congestion", &[promise, "flow 99"]);
}

#[test]
fn messages_lost_or_made_up() {
    finds(Fault::GivesUpOnGaps, "lost-messages", &["lost, doubled and reordered", "a message is missing"]);
    assert!(broken(Fault::GivesUpOnGaps).iter().all(|v| v.check != "bounds"));
    let promise = "messages with any field values leave rates within bounds and the run alive";
    finds(Fault::PanicsOnLies, "hostile-messages", &[promise, "it panics: index out of bounds"]);
    finds(Fault::BelievesLies, "hostile-messages", &[promise, "is outside 0.01 Gb/s to 10 Gb/s"]);
    finds(Fault::GivesUpOnLies, "hostile-messages", &[promise, "no such message"]);
    for fault in [Fault::PanicsOnLies, Fault::BelievesLies, Fault::GivesUpOnLies] {
        assert!(
            broken(fault).iter().all(|v| v.check == "hostile-messages"),
            "{fault:?}: nothing else is wrong"
        );
    }
}

#[test]
fn another_trace() {
    finds(Fault::Unseeded, "same-seed", &["the same seed gives the same trace", "two runs part at entry"]);
}

/// A promise not given is not asked for.
#[test]
fn what_is_not_promised_is_not_checked() {
    let make = || -> Box<dyn Scheme> { Box::new(Simple(Fault::NeverRecovers)) };
    assert_eq!(conformance(&make, Promise::default()), Ok(()));
    let make = || -> Box<dyn Scheme> { Box::new(Simple(Fault::Stops)) };
    assert_eq!(conformance(&make, Promise { stops: true, ..Promise::default() }), Ok(()));
}
