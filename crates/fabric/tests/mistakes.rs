//! Mistakes that schemes make, each in a real network: an error with site and time, the same by both ways to run and on any number of
//! threads, or harmless.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::Lent;
use cnsim_scheme_api::{
    Bytes, Class, Feedback, FlowId, PointId, Probe, ProbeTarget, Ramp, RampAt, Rate, ReflectGate, Scope,
    Slot, Tag, Time,
};
use common::script::*;

const NAN: f64 = f64::NAN;

/// A mistake of a congestion point, made as a frame is sampled.
fn at_point(
    mistake: impl Fn(&mut cnsim_scheme_api::FrameView, &mut cnsim_scheme_api::PointControl<'_>)
    + Send
    + Sync
    + 'static,
) -> Script {
    script().point(move |at, _, ctl, _| match at {
        AtPoint::Start => ctl.sample_after(Bytes::new(6000)),
        AtPoint::Sample(frame) => mistake(frame, ctl),
        _ => {}
    })
}

/// A mistake of a reaction point, made after 30 us.
fn at_source(mistake: impl Fn(Slot, &mut cnsim_scheme_api::Limiter<'_>) + Send + Sync + 'static) -> Script {
    script().source(move |at, limiter, _| match at {
        AtSource::Start => {
            limiter.engage();
            limiter.start_timer(Slot(3), Time::from_us(30));
        }
        AtSource::Timer(slot) => mistake(slot, limiter),
        _ => {}
    })
}

/// A mistake of a reflector, made at a frame.
fn at_sink(mistake: impl Fn(&mut cnsim_scheme_api::ReflectorControl<'_>) + Send + Sync + 'static) -> Script {
    script().gate(ReflectGate::Always).sink(move |at, ctl, _| {
        if let AtSink::Frame(_) = at {
            mistake(ctl);
        }
    })
}

fn ramp(p_max: f64, p_beyond: f64, low: u64, high: u64) -> Ramp {
    Ramp { low: Bytes::new(low), high: Bytes::new(high), p_max, p_beyond, at: RampAt::Arrival }
}

fn of_point(point: u32) -> Probe {
    Probe::new(1, ProbeTarget::Point(PointId(point)), Class::Control)
}

fn ecm(fb: f64) -> Feedback {
    Feedback::Ecm { point: PointId(5), q_off: 0.0, q_delta: 0.0, fb, stop: false }
}

fn cnm(qntz_fb: u8) -> Feedback {
    Feedback::Cnm { point: PointId(5), qntz_fb, q_off: 0, q_delta: 0 }
}

/// The mistake is an error of this site, with these words; the network has stopped by itself.
fn refused(what: &str, script: &Script, words: &[&str]) {
    let error = match run_all(script, network(&[0.5, 0.0])) {
        Ok(_) => panic!("{what}: nothing is said"),
        Err(error) => error,
    };
    for words in words.iter().chain([&"the scheme failed: ", &", at "]) {
        assert!(error.contains(words), "{what}: `{error}` has no `{words}`");
    }
}

const POINT: &str = "congestion point of port 2 at switch S";
const SOURCE: &str = "reaction point of flow H0>H2, at ";
const SINK: &str = "reflector of flow H0>H2";

#[test]
fn of_congestion_points() {
    let all: Vec<(&str, Script, &str)> = vec![
        ("sample by NaN", at_point(|_, c| c.sample_with(NAN)), "NaN is no probability of a sample"),
        ("sample by 1.5", at_point(|_, c| c.sample_with(1.5)), "1.5 is no probability"),
        ("sample by -1", at_point(|_, c| c.sample_with(-1.0)), "-1 is no probability"),
        (
            "p_max of 7",
            at_point(|_, c| c.mark(ramp(7.0, 1.0, 0, 9))),
            "7 is no probability of a mark (`Ramp::p_max`)",
        ),
        ("p_max of NaN", at_point(|_, c| c.mark(ramp(NAN, 1.0, 0, 9))), "NaN is no probability of a mark"),
        ("p_beyond of 2", at_point(|_, c| c.mark(ramp(1.0, 2.0, 0, 9))), "`Ramp::p_beyond`"),
        ("a ramp that falls", at_point(|_, c| c.mark(ramp(1.0, 1.0, 9, 5))), "the ramp falls: `low` is 9 B"),
        (
            "an advertised rate of NaN",
            at_point(|_, c| c.advertise(Rate::from_bps(NAN))),
            "the rate to advertise is not a number",
        ),
        ("no such flow", at_point(|_, c| c.notify(FlowId(999_999), SAYS)), "there is no flow 999999"),
        ("a flow to oneself", at_point(|_, c| c.notify(FlowId(0), SAYS)), "there is no flow 0"),
        ("too much feedback", at_point(|f, c| c.notify(f.flow, cnm(64))), "qntz_fb: 64"),
        ("feedback of NaN", at_point(|f, c| c.notify(f.flow, ecm(NAN))), "fb: NaN"),
        ("endless feedback", at_point(|_, c| c.broadcast(ecm(f64::INFINITY))), "fb: inf"),
        (
            "an advertised NaN",
            at_point(|_, c| {
                let rate = Rate::ZERO / 0.0;
                c.broadcast(Feedback::AdvertisedRate { point: PointId(5), rate });
            }),
            "rate: not a number",
        ),
        (
            "a tag of NaN",
            at_point(|f, _| f.tag = Tag::RateDiscovery(Rate::from_bps(NAN))),
            "the rate of a tag",
        ),
        (
            "a timer of nobody",
            at_point(|_, c| c.start_timer(Slot(4), Time::from_us(1))),
            "there is no timer 4",
        ),
        ("to stop nobody's", at_point(|_, c| c.stop_timer(Slot(9))), "there is no timer 9"),
        ("a counter of nobody", at_point(|_, c| c.count("third")), "there is no counter `third`"),
        ("a gauge of nobody", at_point(|_, c| c.gauge("third", 1.0)), "there is no gauge `third`"),
        ("a gauge of NaN", at_point(|_, c| c.gauge("shown", NAN)), "`shown` shows NaN"),
        ("probes armed late", at_point(|_, c| c.wake_at_probes()), "probes are armed in `start`"),
        ("no probe to answer", at_point(|_, c| c.answer()), "it answers a probe, but none is in hand"),
        (
            "an index",
            at_point(|f, c| c.count(["first"][f.len.get() as usize])),
            "it panics: index out of bounds",
        ),
        ("to give up", at_point(|_, c| c.fail("I give up")), "I give up"),
    ];
    for (what, script, words) in &all {
        refused(what, script, &[words, POINT]);
    }
    let start = script().point(|_, _, ctl, _| ctl.sample_with(NAN));
    refused("at the start", &start, &[POINT, "at 0 us: NaN is no probability"]);
}

#[test]
fn of_reaction_points() {
    let nan = Rate::from_bps(NAN);
    let all: Vec<(&str, Script, &str)> = vec![
        ("a rate of NaN", at_source(move |_, l| l.set_rate(nan)), "the rate to set is not a number"),
        ("a factor of NaN", at_source(|_, l| l.set_rate(l.rate() * NAN)), "the rate to set is not a number"),
        (
            "above the line",
            at_source(|_, l| l.set_rate(l.rate() * 2.0)),
            "20 Gb/s is above the link's 10 Gb/s",
        ),
        ("endless rate", at_source(|_, l| l.set_rate(l.rate() / 0.0)), "is above the link's 10 Gb/s"),
        (
            "tags too often",
            at_source(|_, l| l.tag_frames_with(Tag::User(1), 1.5)),
            "1.5 is no probability of a tag",
        ),
        ("tags by NaN", at_source(|_, l| l.tag_frames_with(Tag::User(1), NAN)), "NaN is no probability"),
        ("a tag of NaN", at_source(move |_, l| l.tag_frames(Tag::RateDiscovery(nan))), "the rate of a tag"),
        ("a probe to nowhere", at_source(|_, l| l.send_probe(of_point(4711))), "congestion point 4711"),
        (
            "a probe to a host",
            at_source(|_, l| l.send_probe(of_point(1))),
            "congestion point 1, which does not exist",
        ),
        (
            "a probe of a host",
            at_source(|_, l| l.send_probe(of_point(5))).plan(|p| p.limiter_scope = Scope::Host),
            "no path to probe",
        ),
        (
            "a timer of nobody",
            at_source(|_, l| l.start_timer(Slot(4), Time::from_us(1))),
            "there is no timer 4",
        ),
        ("a gauge of nobody", at_source(|_, l| l.gauge("third", 1.0)), "there is no gauge `third`"),
        ("a counter of nobody", at_source(|_, l| l.count("third")), "there is no counter `third`"),
        ("a panic", at_source(|_, l| assert!(l.now() < Time::from_us(9), "too late")), "it panics: too late"),
    ];
    for (what, script, words) in &all {
        let site = if what.ends_with("of a host") { "reaction point of host H0, at " } else { SOURCE };
        refused(what, script, &[words, site]);
    }
    let engages = Script {
        engages: |_| panic!("who knows"),
        ..at_point(|f, c| c.notify(f.flow, SAYS)).plan(|p| p.built = Default::default())
    };
    refused("asked whether it engages", &engages, &[SOURCE, "it panics: who knows"]);
}

#[test]
fn of_reflectors() {
    let all: Vec<(&str, Script, &str)> = vec![
        ("too much feedback", at_sink(|c| c.reply(cnm(200))), "qntz_fb: 200"),
        (
            "a returned NaN",
            at_sink(|c| c.reply(Feedback::ReturnedRate { rate: Rate::from_bps(NAN) })),
            "not a number",
        ),
        (
            "to hear by NaN",
            at_sink(|c| c.hear(ReflectGate::Unmarked(NAN))),
            "NaN is no probability of hearing",
        ),
        (
            "to return tags",
            at_sink(|c| c.hear(ReflectGate::ReturnTags("first"))),
            "tags are returned by plan only",
        ),
        ("bytes that nobody counts", at_sink(|c| assert!(c.received() < 1 << 40)), "`Plan::received` is off"),
        ("a gauge of nobody", at_sink(|c| c.gauge("third", 1.0)), "there is no gauge `third`"),
        ("a counter of nobody", at_sink(|c| c.count("third")), "there is no counter `third`"),
        ("a panic", at_sink(|_| panic!("no {}", "more")), "it panics: no more"),
    ];
    for (what, script, words) in &all {
        refused(what, script, &[words, SINK]);
    }
}

/// Timers that hold up time end the run at once, whatever they do besides; those that let it pass do not.
#[test]
fn time_passes() {
    let again = |after: u64| {
        at_source(move |slot, l| {
            for other in [slot, Slot(1)] {
                l.start_timer(other, Time::from_ps(after));
            }
        })
    };
    let words = ["time does not pass: its timers expired 10000 times", SOURCE];
    refused("a timer of 0 ps", &again(0), &words);
    refused("a timer of 3 ps", &again(3), &words);
    let point = script().point(|_, _, ctl, _| ctl.start_timer(Slot(0), Time::ZERO));
    refused("of a point", &point, &[POINT, "time does not pass"]);
    let source = script().source(|_, l, _| l.start_timer(Slot(2), Time::from_secs_f64(NAN)));
    refused("of NaN seconds", &source, &[SOURCE, "time does not pass"]);
    assert!(run_all(&again(2000), network(&[0.5])).is_ok());
}

/// What is strange, but has one meaning.
#[test]
fn harmless() {
    let most = Bytes::new(u64::MAX);
    let all: Vec<(&str, Script)> = vec![
        ("a sample after 0 B", at_point(|_, c| c.sample_after(Bytes::ZERO))),
        ("a wake after 0 B", at_source(|_, l| l.wake_after(Bytes::ZERO))),
        ("endless samples", at_point(move |_, c| c.sample_after(most))),
        ("endless wakes", at_source(move |_, l| l.wake_after(most))),
        ("a timer of ever", at_source(|s, l| l.start_timer(s, Time::MAX))),
        ("deaf for ever", at_sink(|c| c.ignore_for(Time::MAX))),
        ("a negative step", at_source(|_, l| l.set_rate(Rate::ZERO - l.rate()))),
        ("rounding", at_source(|_, l| l.set_rate(l.line_rate() / 3.0 * 3.0 * (1.0 + 1e-15)))),
        ("an endless stamp", at_point(|_, c| c.advertise(Rate::from_gbps(1e9)))),
        ("to stop what does not run", at_source(|_, l| l.stop_timer(Slot(2)))),
        ("to release twice", at_source(|_, l| (0..2).for_each(|_| l.release_when_empty()))),
        ("p = 0", at_point(|_, c| c.sample_with(0.0))),
    ];
    for (what, script) in &all {
        let seen = run_all(script, network(&[0.5]));
        assert!(seen.is_ok(), "{what}: {:?}", seen.map(|_| ()));
    }
    // It was asked for once, and no frame woke it.
    let seen = run_all(&at_point(move |_, c| (c.sample_after(most), c.count("first")).1), network(&[0.5]));
    assert_eq!(seen.unwrap().out.counters[1], ("first".to_string(), 1));
}

/// What a scheme does before any object of it exists.
#[test]
fn of_schemes() {
    let unsound = script().gate(ReflectGate::Unmarked(NAN));
    for (panics, words) in [
        ("", "the plan of `script`: NaN is no probability of hearing a frame"),
        ("plan", "the scheme failed: it panics: no plan"),
        ("counters", "it panics: no counters"),
        ("point", "congestion point of port 0 at switch S, at 0 us: it panics: no point"),
        ("source", "reaction point of flow H0>H2, at "),
        ("sink", "reflector of flow H0>H2, at "),
    ] {
        let sound = script().gate(ReflectGate::Always);
        let script = Script { panics, ..if panics.is_empty() { unsound.clone() } else { sound } };
        let error = run_all(&script, network(&[0.5])).map(|_| ()).unwrap_err();
        assert!(error.contains(words), "{panics}: {error}");
    }
}

/// Nobody waits for ever for a worker that panicked: the others leave their barrier, and the run fails by its words.
#[test]
fn nobody_waits_for_a_worker_that_panicked() {
    let spec = common::single_switch(10, 0.5, true, Time::from_ms(20), 1);
    let progress = |_: Time, _: u64| -> bool { std::panic::resume_unwind(Box::new("lost")) };
    let options =
        Options { threads: 2, visits: Visits::All, progress: Some(&progress), ..Options::default() };
    let Err(RunError::Law(law)) = run(&spec, &options) else { panic!("it ended without the panic") };
    assert!(law.contains("lost"), "{law}");
}
