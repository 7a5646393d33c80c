//! Schemes with one fault each, to see that the suite finds it and names the promise.

use super::suite::violations;
use super::{Promise, Suite, Violation, conformance, conformance_over};
use crate::network::Lent;
use crate::{
    Bytes, CongestionPoint, Feedback, FlowId, FrameView, Limiter, PointControl, PointId, Queue, QueueSite,
    Rate, ReactionPoint, Scheme, Slot, SourceSite, Tag, Time,
};
use std::sync::Arc;
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
            (Fault::TagsTooOften, _) => limiter.tag_frames_with(Tag::User(1), 1.5),
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

crate::params! {
    /// Parameters of a scheme with a fault.
    struct Dial {
        /// Largest factor of a cut.
        cut: f64 = 0.5, symbol "", from 0.0, to 1.0;
        /// Whether it remembers what other flows did.
        word: bool = false, symbol "";
    }
}

/// Cuts by its factor, or, set to remember, by what all flows of the thread or of the program have heard.
#[derive(Debug)]
struct Dialled(Dial, Option<bool>);

thread_local! {
    static HEARD: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

impl Scheme for Dialled {
    fn name(&self) -> &str {
        "dialled"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(Fault::None, 0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Self(self.0.clone(), self.1)))
    }
}

impl ReactionPoint for Dialled {
    fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
        limiter.engage();
        let heard = match self.1 {
            None => 0,
            Some(true) => HEARD.replace(HEARD.get() + 1) as u64 % 7,
            Some(false) => CALLS.fetch_add(1, Ordering::Relaxed) % 7,
        };
        let factor = 0.9 - 0.01 * heard as f64 - if self.0.cut == 1.0 { 2.0 } else { 0.0 };
        limiter.set_rate(if factor < 0.0 {
            limiter.line_rate() * 3.0
        } else {
            limiter.rate() * factor + Rate::from_mbps(99.0)
        });
    }
}

/// Asks without an end, or stands still, at its first message.
#[derive(Debug)]
struct Endless(bool);

impl Scheme for Endless {
    fn name(&self) -> &str {
        "endless"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(Fault::None, 0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Self(self.0)))
    }
}

impl ReactionPoint for Endless {
    fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
        if limiter.is_engaged() {
            return;
        }
        limiter.engage();
        if self.0 {
            std::thread::sleep(std::time::Duration::from_secs(1_000_000));
        }
        (0..200_000).for_each(|_| limiter.stop_timer(Slot(1)));
    }
}

/// The suite, with so much time for a check.
fn over(scheme: &crate::Registration, limit: std::time::Duration) -> Result<(), Vec<Violation>> {
    violations(Suite::default().within(limit).run(scheme, &[], true))
}

/// A call that never returns ends the suite in time; one that asks for very much is refused, and takes no memory.
#[test]
fn what_has_no_end() {
    let of = |stands| {
        crate::Registration::new("endless", "//! Endless.", Dial::default(), move |_| Endless(stands))
    };
    let begun = std::time::Instant::now();
    let found = over(&of(true), std::time::Duration::from_secs(1)).unwrap_err();
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(said.len() == 1 && said[0].contains("`bounds` has not ended after 1s"), "{said:?}");
    let found = conformance_over(&of(false)).unwrap_err();
    let asks = "it asks for more than 100000 things in one call";
    assert!(found.iter().all(|v| v.what.contains(asks) || v.check == "alone"), "{found:?}");
}

/// A call keeps its first mistake only, however often it is made; timers whose end is beyond the last time never expire.
#[test]
fn what_a_call_does_without_an_end() {
    #[derive(Debug)]
    struct Stubborn;
    impl Scheme for Stubborn {
        fn name(&self) -> &str {
            "stubborn"
        }
        fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
            Some(Box::new(Self))
        }
    }
    impl ReactionPoint for Stubborn {
        fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
            limiter.start_timer(Slot(0), Time::MAX);
            (4..=255).cycle().take(300_000).for_each(|slot| limiter.stop_timer(Slot(slot)));
        }
    }
    let mut rig = super::ReactionRig::new(Stubborn, Rate::from_gbps(10.0));
    rig.wait(Time::from_us(1));
    rig.cnm(1);
    rig.wait(Time::from_us(1));
    assert_eq!(rig.actions.len(), 2, "a timer and a mistake");
    assert!(rig.failure.unwrap().contains("there is no timer 4"), "the first is named");
}

/// Faults that only another setting shows, and faults that only other flows and threads show.
#[test]
fn over_a_registration() {
    let of = |memory| {
        crate::Registration::new("dialled", "//! Dialled.", Dial::default(), move |p| Dialled(p, memory))
    };
    let found = conformance_over(&of(None)).unwrap_err();
    assert!(found.iter().all(|v| v.what.starts_with("with cut = 1, ")), "{found:?}");
    assert!(found.iter().any(|v| v.what.contains("30 Gb/s is above the link")), "{found:?}");
    for memory in [true, false] {
        let found = conformance_over(&of(Some(memory))).unwrap_err();
        let alone = found.iter().find(|v| v.check == "alone").unwrap().to_string();
        assert!(alone.contains("beside another flow a flow parts in step"), "{alone}");
    }
}

/// A scheme whose reaction point does this at each message; it is given how many messages all flows of the scheme have had.
#[derive(Clone)]
struct Does<F>(F, Arc<AtomicU64>);

impl<F> std::fmt::Debug for Does<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Does")
    }
}

impl<F: Fn(u64, &mut Limiter<'_>) + Clone + Send + Sync + 'static> Scheme for Does<F> {
    fn name(&self) -> &str {
        "does"
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(Fault::None, 0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(self.clone()))
    }
}

impl<F: Fn(u64, &mut Limiter<'_>) + Send> ReactionPoint for Does<F> {
    fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
        (self.0)(self.1.fetch_add(1, Ordering::Relaxed), limiter);
    }
}

fn does(does: impl Fn(u64, &mut Limiter<'_>) + Clone + Send + Sync + 'static) -> crate::Registration {
    let make = move |_| Does(does.clone(), Arc::default());
    crate::Registration::new("does", "//! Does.", Dial::default(), make)
}

fn said(found: Result<(), Vec<Violation>>) -> Vec<String> {
    found.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// A value at which the scheme cannot even be built is a violation, with the words of the panic.
#[test]
fn a_scheme_that_cannot_be_built() {
    let make = |p: Dial| {
        assert!(p.cut < 1.0, "no cut of {}", p.cut);
        Dialled(p, None)
    };
    let found = conformance_over(&crate::Registration::new("d", "//! D.", Dial::default(), make));
    let text = said(found);
    assert_eq!(text.len(), 1, "{text:?}");
    assert!(text[0].contains("with cut = 1, `dialled` cannot be made: it panics: no cut of 1"), "{text:?}");
    #[derive(Debug)]
    struct Ends(bool);
    impl Scheme for Ends {
        fn name(&self) -> &str {
            "ends"
        }
    }
    impl Drop for Ends {
        fn drop(&mut self) {
            assert!(!self.0, "no end");
        }
    }
    let make = |p: Dial| Ends(p.word);
    let text = said(conformance_over(&crate::Registration::new("e", "//! E.", Dial::default(), make)));
    assert!(text.len() == 1 && text[0].contains("with word = on, it panics: no end"), "{text:?}");
}

/// The suite calls a scheme with as much stack as a program's first thread has.
#[test]
fn a_deep_call() {
    fn deep(n: u32) -> u32 {
        let pad = std::hint::black_box([n as u8; 1024]);
        if n == 0 { 0 } else { deep(n - 1) + u32::from(pad[7]) }
    }
    let found = conformance_over(&does(|heard, _| {
        std::hint::black_box(if heard == 0 { deep(6000) } else { 0 });
    }));
    assert_eq!(said(found), [""; 0]);
}

/// State that flows share through their scheme, and a panic in another thread only.
#[test]
fn what_flows_share() {
    let shares = does(|heard, limiter| {
        limiter.engage();
        limiter.set_rate(limiter.rate() * (1.0 - 0.001 * (heard % 7) as f64));
    });
    let said_of = |scheme| said(conformance_over(scheme)).join("\n");
    let text = said_of(&shares);
    assert!(text.contains("beside another flow a flow parts in step"), "{text}");
    let first: std::sync::OnceLock<std::thread::ThreadId> = std::sync::OnceLock::new();
    let first = Arc::new(first);
    let moody = does(move |_, _| {
        let me = std::thread::current().id();
        assert!(*first.get_or_init(|| me) == me, "not my thread");
    });
    let text = said_of(&moody);
    assert!(text.contains("in another thread") && text.contains("it panics: not my thread"), "{text}");
    let alone = text.lines().find(|l| l.starts_with("alone")).unwrap();
    assert!(alone.contains("it panics: not my thread"), "{alone}");
}

/// A scheme whose point and reflector act as frames leave and arrive; its plan asks for these, if its word says so.
#[derive(Clone, Debug)]
struct Acts {
    dial: Dial,
    leaves: bool,
    arrives: bool,
}

impl Scheme for Acts {
    fn name(&self) -> &str {
        "acts"
    }
    fn plan(&self) -> crate::Plan {
        let reflect = if self.dial.word { crate::ReflectGate::Always } else { crate::ReflectGate::Never };
        crate::Plan { departures: self.dial.word, reflect, ..crate::Plan::default() }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(self.clone()))
    }
    fn reflector(&self, _: &crate::SinkSite) -> Option<Box<dyn crate::Reflector>> {
        Some(Box::new(self.clone()))
    }
}

impl CongestionPoint for Acts {
    fn start(&mut self, _: &Queue, _: &mut PointControl<'_>) {}
    fn on_departure(&mut self, frame: &mut FrameView, queue: &Queue, _: &mut PointControl<'_>) {
        frame.marked |= self.leaves && queue.len > Bytes::from_kb(200);
    }
}

impl crate::Reflector for Acts {
    fn on_frame(&mut self, _: &FrameView, ctl: &mut crate::ReflectorControl<'_>) {
        if self.arrives {
            ctl.reply(Feedback::Cnp);
        }
    }
}

/// A method that acts is asked for at one setting at least.
#[test]
fn a_method_that_nobody_calls() {
    let of = |leaves, arrives, asked: Option<bool>| {
        let make = move |dial: Dial| {
            let word = asked.unwrap_or(dial.word);
            Acts { dial: Dial { word, ..dial }, leaves, arrives }
        };
        said(conformance_over(&crate::Registration::new("acts", "//! Acts.", Dial::default(), make)))
    };
    for (leaves, arrives, words) in
        [(true, false, "set `Plan::departures`"), (false, true, "set `Plan::reflect`")]
    {
        let found = of(leaves, arrives, Some(false));
        assert!(found.len() == 1 && found[0].contains(words), "{found:?}");
        assert_eq!(of(leaves, arrives, None), [""; 0], "its word turns it on");
    }
    assert_eq!(of(false, false, Some(false)), [""; 0], "nothing acts");
}

/// A thread whose time was up ends its check, and begins no other.
#[test]
fn who_is_late_stops() {
    let calls = Arc::new(AtomicU64::new(0));
    let counting = |sleep: u64| {
        let seen = calls.clone();
        does(move |heard, _| {
            seen.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(if heard == 0 { sleep } else { 0 }));
        })
    };
    let first = counting(0).build(&[]).unwrap().scheme;
    assert_eq!(super::CHECKS[0].run(&|| Box::new(first.clone()), &Promise::default()), Ok(()));
    let of_one = calls.swap(0, Ordering::Relaxed);
    let found = over(&counting(1000), std::time::Duration::from_millis(200)).unwrap_err();
    assert!(found.len() == 1 && found[0].what.contains("has not ended"), "{found:?}");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let late = calls.load(Ordering::Relaxed);
    assert!(0 < late && late <= of_one, "{late} calls, and {of_one} of one check");
}

/// A promise not given is not asked for.
#[test]
fn what_is_not_promised_is_not_checked() {
    let make = || -> Box<dyn Scheme> { Box::new(Simple(Fault::NeverRecovers)) };
    assert_eq!(conformance(&make, Promise::default()), Ok(()));
    let make = || -> Box<dyn Scheme> { Box::new(Simple(Fault::Stops)) };
    assert_eq!(conformance(&make, Promise { stops: true, ..Promise::default() }), Ok(()));
}
