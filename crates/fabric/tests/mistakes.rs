//! Mistakes that schemes make, each in a real network: an error with site and time, the same by both ways to run and on any number of
//! threads, or harmless.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::Lent;
use cnsim_scheme_api::{
    Bytes, Class, Feedback, FlowId, FrameView, Limiter, PointControl, PointId, Probe, ProbeTarget, Ramp,
    RampAt, Rate, ReflectGate, ReflectorControl, Scope, Slot, Tag, Time,
};
use common::script::*;

const NAN: f64 = f64::NAN;

/// A mistake of a congestion point, made as a frame is sampled.
fn at_point(mistake: impl Fn(&mut FrameView, &mut PointControl<'_>) + Send + Sync + 'static) -> Script {
    script().point(move |at, _, ctl, _| match at {
        AtPoint::Start => ctl.sample_after(Bytes::new(6000)),
        AtPoint::Sample(frame) => mistake(frame, ctl),
        _ => {}
    })
}

/// A mistake of a reaction point, made after 30 us.
fn at_source(mistake: impl Fn(Slot, &mut Limiter<'_>) + Send + Sync + 'static) -> Script {
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
fn at_sink(mistake: impl Fn(&mut ReflectorControl<'_>) + Send + Sync + 'static) -> Script {
    script().gate(ReflectGate::Always).on_frame(move |_, ctl, _| mistake(ctl))
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

fn advertised(rate: Rate) -> Feedback {
    Feedback::AdvertisedRate { point: PointId(5), rate }
}

fn cnm(qntz_fb: u8) -> Feedback {
    Feedback::Cnm { point: PointId(5), qntz_fb, q_off: 0, q_delta: 0 }
}

/// Each mistake is an error of this site with these words; the network has stopped by itself.
fn refused(site: &str, mistakes: Vec<(Script, &str)>) {
    for (script, words) in mistakes {
        let error = stops(&script, network(&[0.5, 0.0]));
        for words in [words, site, "the scheme failed: ", ", at "] {
            assert!(error.contains(words), "`{error}` has no `{words}`");
        }
    }
}

const POINT: &str = "congestion point of port 2 at switch S";
const SOURCE: &str = "reaction point of flow H0>H2, at ";
const SINK: &str = "reflector of flow H0>H2";

#[test]
fn of_congestion_points() {
    let nan = Rate::from_bps(NAN);
    let all = vec![
        (at_point(|_, c| c.sample_with(NAN)), "NaN is no probability of a sample"),
        (at_point(|_, c| c.sample_with(1.5)), "1.5 is no probability"),
        (at_point(|_, c| c.sample_with(-1.0)), "-1 is no probability"),
        (at_point(|_, c| c.mark(ramp(7.0, 1.0, 0, 9))), "7 is no probability of a mark (`Ramp::p_max`)"),
        (at_point(|_, c| c.mark(ramp(NAN, 1.0, 0, 9))), "NaN is no probability of a mark"),
        (at_point(|_, c| c.mark(ramp(1.0, 2.0, 0, 9))), "`Ramp::p_beyond`"),
        (at_point(|_, c| c.mark(ramp(1.0, 1.0, 9, 5))), "the ramp falls: `low` is 9 B"),
        (at_point(move |_, c| c.advertise(nan)), "the rate to advertise is not a number"),
        (at_point(|_, c| c.notify(FlowId(999_999), SAYS)), "there is no flow 999999"),
        (at_point(|_, c| c.notify(FlowId(0), SAYS)), "there is no flow 0"),
        (at_point(|f, c| c.notify(f.flow, cnm(64))), "qntz_fb: 64"),
        (at_point(|f, c| c.notify(f.flow, ecm(NAN))), "fb: NaN"),
        (at_point(|_, c| c.broadcast(ecm(f64::INFINITY))), "fb: inf"),
        (at_point(|_, c| c.broadcast(advertised(Rate::ZERO / 0.0))), "rate: not a number"),
        (at_point(move |f, _| f.tag = Tag::RateDiscovery(nan)), "the rate of a tag"),
        (at_point(|_, c| c.start_timer(Slot(4), Time::from_us(1))), "there is no timer 4"),
        (at_point(|_, c| c.stop_timer(Slot(9))), "there is no timer 9"),
        (at_point(|_, c| c.count("third")), "there is no counter `third`"),
        (at_point(|_, c| c.gauge("third", 1.0)), "there is no gauge `third`"),
        (at_point(|_, c| c.gauge("shown", NAN)), "`shown` shows NaN"),
        (at_point(|_, c| c.wake_at_probes()), "probes are armed in `start`"),
        (at_point(|_, c| c.answer()), "it answers a probe, but none is in hand"),
        (at_point(|f, c| c.count(["first"][f.len.get() as usize])), "it panics: index out of bounds"),
        (at_point(|_, c| c.fail("I give up")), "I give up"),
        (script().point(|_, _, ctl, _| ctl.sample_with(NAN)), "at 0 us: NaN is no probability"),
    ];
    refused(POINT, all);
}

#[test]
fn of_reaction_points() {
    let nan = Rate::from_bps(NAN);
    let tags = |share| at_source(move |_, l| l.tag_frames_with(Tag::User(1), share));
    let engages = at_point(|f, c| c.notify(f.flow, SAYS)).plan(|p| p.built = Default::default());
    let all = vec![
        (at_source(move |_, l| l.set_rate(nan)), "the rate to set is not a number"),
        (at_source(|_, l| l.set_rate(l.rate() * NAN)), "the rate to set is not a number"),
        (at_source(|_, l| l.set_rate(l.rate() * 2.0)), "20 Gb/s is above the link's 10 Gb/s"),
        (at_source(|_, l| l.set_rate(l.rate() / 0.0)), "is above the link's 10 Gb/s"),
        (tags(1.5), "1.5 is no probability of a tag"),
        (tags(NAN), "NaN is no probability"),
        (at_source(move |_, l| l.tag_frames(Tag::RateDiscovery(nan))), "the rate of a tag"),
        (at_source(|_, l| l.send_probe(of_point(4711))), "congestion point 4711"),
        (at_source(|_, l| l.send_probe(of_point(1))), "congestion point 1, which does not exist"),
        (at_source(|_, l| l.start_timer(Slot(4), Time::from_us(1))), "there is no timer 4"),
        (at_source(|_, l| l.gauge("third", 1.0)), "there is no gauge `third`"),
        (at_source(|_, l| l.count("third")), "there is no counter `third`"),
        (at_source(|_, l| l.fail("of the source")), "of the source"),
        (at_source(|_, l| assert!(l.now() < Time::from_us(9), "too late")), "it panics: too late"),
        (Script { engages: |_| panic!("who knows"), ..engages }, "it panics: who knows"),
    ];
    refused(SOURCE, all);
    let of_host = at_source(|_, l| l.send_probe(of_point(5))).plan(|p| p.limiter_scope = Scope::Host);
    refused("reaction point of host H0, at ", vec![(of_host, "no path to probe")]);
}

#[test]
fn of_reflectors() {
    let returned = Feedback::ReturnedRate { rate: Rate::from_bps(NAN) };
    let all = vec![
        (at_sink(|c| c.reply(cnm(200))), "qntz_fb: 200"),
        (at_sink(move |c| c.reply(returned)), "not a number"),
        (at_sink(|c| c.hear(ReflectGate::Unmarked(NAN))), "NaN is no probability of hearing"),
        (at_sink(|c| c.hear(ReflectGate::ReturnTags("first"))), "tags are returned by plan only"),
        (at_sink(|c| assert!(c.received() < 1 << 40)), "`Plan::received` is off"),
        (at_sink(|c| c.gauge("third", 1.0)), "there is no gauge `third`"),
        (at_sink(|c| c.count("third")), "there is no counter `third`"),
        (at_sink(|_| panic!("no {}", "more")), "it panics: no more"),
        (at_sink(|c| c.fail("of the sink")), "of the sink"),
    ];
    refused(SINK, all);
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
    let often = "time does not pass: its timers expired 10000 times";
    let nan = script().source(|_, l, _| l.start_timer(Slot(2), Time::from_secs_f64(NAN)));
    refused(SOURCE, vec![(again(0), often), (again(3), often), (nan, "time does not pass")]);
    let point = script().point(|_, _, ctl, _| ctl.start_timer(Slot(0), Time::ZERO));
    refused(POINT, vec![(point, "time does not pass")]);
    assert!(run_all(&again(2000), network(&[0.5])).is_ok());
}

/// What is strange, but has one meaning: samples and wakes after 0 B and never, timers that never expire, to be deaf for ever, a negative
/// step, rounding, an endless stamp, to stop what does not run, to release twice, a sample never.
#[test]
fn harmless() {
    let most = Bytes::new(u64::MAX);
    for (i, script) in [
        at_point(|_, c| c.sample_after(Bytes::ZERO)),
        at_source(|_, l| l.wake_after(Bytes::ZERO)),
        at_source(move |_, l| l.wake_after(most)),
        at_source(|s, l| l.start_timer(s, Time::MAX)),
        at_sink(|c| c.ignore_for(Time::MAX)),
        at_source(|_, l| l.set_rate(Rate::ZERO - l.rate())),
        at_source(|_, l| l.set_rate(l.line_rate() / 3.0 * 3.0 * (1.0 + 1e-15))),
        at_point(|_, c| c.advertise(Rate::from_gbps(1e9))),
        at_source(|_, l| l.stop_timer(Slot(2))),
        at_source(|_, l| (0..2).for_each(|_| l.release_when_empty())),
        at_point(|_, c| c.sample_with(0.0)),
    ]
    .iter()
    .enumerate()
    {
        let seen = run_all(script, network(&[0.5]));
        assert!(seen.is_ok(), "{i}: {:?}", seen.map(|_| ()));
    }
    // It was asked for once, and no frame woke it.
    let seen = run_all(&at_point(move |_, c| (c.sample_after(most), c.count("first")).1), network(&[0.5]));
    assert_eq!(seen.unwrap().out.counters[1], ("first".to_string(), 1));
}

/// What a scheme does before any object of it exists.
#[test]
fn of_schemes() {
    let unsound = script().gate(ReflectGate::Unmarked(NAN));
    let sound = |panics| Script { panics, ..script().gate(ReflectGate::Always) };
    for (script, words) in [
        (unsound, "the plan of `script`: NaN is no probability of hearing a frame"),
        (sound("plan"), "the scheme failed: it panics: no plan"),
        (sound("counters"), "it panics: no counters"),
        (sound("point"), "congestion point of port 0 at switch S, at 0 us: it panics: no point"),
        (sound("source"), SOURCE),
        (sound("sink"), SINK),
    ] {
        let error = stops(&script, network(&[0.5]));
        assert!(error.contains(words), "{words}: {error}");
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
