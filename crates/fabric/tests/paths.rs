//! Each fast path is taken, and each way out of one, by a network that should, in agreement with the oracle: a path that is
//! switched off fails the row that names it. Marks are counted where debug assertions are on:
//! `cargo test --profile checked -p cnsim-fabric --test paths`.
#![cfg(debug_assertions)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use Mark::{Alone, CalmWindow, CaughtUp, Crossed, Flown, HostByEvent, InOrder, InPieces, InStep, Launched};
use Mark::{
    CountedOthers, Near, NotQuiet, PassedOver, PutBack, Recorded, SentStraight, StartedAtOnce, Stretched,
    ThinWindow, TiesDrawn, Together,
};
use Visits::{Adaptive, All, Due, Turns};
use cnsim_fabric::marks::{Mark, forget, seen};
use cnsim_fabric::*;
use cnsim_scheme_api::{
    AckGate, Acks, Built, Bytes, Class, Feedback, NodeId, Ramp, RampAt, Rate, ReflectGate, Scope, Time,
};
use common::script::*;
use common::*;
use std::sync::Arc;

/// Runs a network by the oracle and on so many threads with these visits: the same outcome, and by these marks.
fn takes(why: &str, spec: &RunSpec, threads: usize, visits: Visits, marks: &[Mark]) {
    forget();
    agreed(spec, 0, &[(threads, visits)]);
    let missed: Vec<&Mark> = marks.iter().filter(|m| seen(**m) == 0).collect();
    assert!(missed.is_empty(), "{why}, {threads} threads, {visits:?}, not taken: {missed:?}");
}

/// A star of ten hosts.
fn star(load: f64, ms: u64) -> RunSpec {
    single_switch(10, load, true, Time::from_ms(ms), 1)
}

/// Four leaves of three hosts, two spines, links of this delay.
fn leaves(load: f64, delay: Time, duration: Time) -> RunSpec {
    let mut spec = tree(3, load, duration, 3);
    spec.hosts.iter_mut().for_each(|h| h.processing = Time::ZERO);
    spec.switches.iter_mut().for_each(|s| s.processing = Time::ZERO);
    spec.links.iter_mut().for_each(|l| l.delay = delay);
    spec
}

/// One port is slow from 10 to 50 % of the run.
fn hot(mut spec: RunSpec) -> RunSpec {
    hotspot(&mut spec, Rate::from_gbps(0.5));
    spec
}

fn with(mut spec: RunSpec, mut script: Script) -> RunSpec {
    script.engages = |_| false;
    with_scheme(&mut spec, Arc::new(script.everywhere()));
    spec
}

/// Points that sample every 20 kB and report to the source.
fn samples() -> Script {
    script().plan(|p| p.built = Built::OnFeedback).point(|at, queue, ctl, _| {
        if let AtPoint::Sample(frame) = at {
            ctl.notify(frame.flow, Feedback::User([queue.len.get(), 0]));
        }
        ctl.sample_after(Bytes::from_kb(20));
    })
}

#[test]
fn stars() {
    let (low, high) = (Bytes::new(1_500), Bytes::from_kb(60));
    let ramp = Ramp { low, high, p_max: 0.5, p_beyond: 1.0, at: RampAt::Departure };
    let marks = script().gate(ReflectGate::Marked).plan(|p| p.built = Built::OnFeedback);
    let marks =
        marks.point(move |_, _, ctl, _| ctl.mark(ramp)).on_frame(|_, ctl, _| ctl.reply(Feedback::Cnp));
    let limited = |share: f64| {
        with(
            star(0.5, 1),
            script().source(move |_, limiter, _| {
                limiter.engage();
                limiter.set_rate(limiter.line_rate() * share);
            }),
        )
    };
    for (why, spec, visits, marks) in [
        ("below every threshold", star(0.85, 1), All, &[CalmWindow, SentStraight][..]),
        (
            "near a threshold frames go back and are taken in order",
            hot(star(0.85, 6)),
            All,
            &[PutBack, InOrder, InStep, HostByEvent],
        ),
        (
            "samples are found after all frames are stored",
            with(star(0.6, 1), samples()),
            All,
            &[CalmWindow, CaughtUp],
        ),
        ("marks are answered", with(star(0.8, 2), marks), All, &[HostByEvent]),
        ("hosts with limiters go event by event", limited(0.02), All, &[HostByEvent]),
        ("but for limiters at line rate", limited(1.0), All, &[SentStraight]),
        ("one that stays quiet runs far", star(0.05, 20), Adaptive, &[Stretched]),
        ("and back", hot(star(0.3, 20)), Turns, &[Stretched, NotQuiet]),
    ] {
        takes(why, &spec, 1, visits, marks);
    }
}

/// Long links, whose windows hold many frames: below every threshold, in XOFF, with samples and messages, and where marks wait.
/// A shared buffer of which little is used stays quiet, with PAUSE and without: its frames are stored calmly, and few are worth a thin
/// window.
#[test]
fn shared_buffers_that_stay_quiet() {
    let input = SharedInput { reserve: Bytes::from_kb(4), headroom: Bytes::from_kb(20), alpha: 0.5 };
    for (pause, load, visits, mark) in [
        (true, 0.8, Visits::All, Mark::CalmWindow),
        (false, 0.8, Visits::All, Mark::CalmWindow),
        (true, 0.1, Visits::Due, Mark::ThinWindow),
    ] {
        let mut spec = star(load, 2);
        let buffer = &mut spec.switches[0].buffer;
        buffer.organisation = Organisation::Input;
        buffer.pause = buffer.pause.filter(|_| pause);
        let ports = usize::from(spec.switches[0].ports);
        spec.switches[0].shared = Some(SharedSpec {
            memory: Bytes::from_mb(8),
            inputs: vec![input; ports],
            ..SharedSpec::default()
        });
        takes("a quiet buffer", &spec, 1, visits, &[mark]);
    }
}

/// Near its thresholds a shared buffer takes frames in order, and keeps outputs in step that hold frames of an input in XOFF.
#[test]
fn shared_buffers_near_their_thresholds() {
    let input = SharedInput { reserve: Bytes::from_kb(4), headroom: Bytes::from_kb(40), alpha: 0.5 };
    for (pause, at_start) in [(true, false), (true, true), (false, false)] {
        let mut spec = hot(star(0.85, 6));
        let buffer = &mut spec.switches[0].buffer;
        buffer.organisation = Organisation::Input;
        buffer.pause = buffer.pause.filter(|_| pause);
        let (inputs, memory) = (vec![input; usize::from(spec.switches[0].ports)], Bytes::from_kb(900));
        spec.switches[0].shared =
            Some(SharedSpec { memory, inputs, resume: Bytes::from_kb(3), at_start, ..SharedSpec::default() });
        takes("near", &spec, 1, All, &[CalmWindow, Near, CountedOthers, InOrder]);
        assert_eq!(seen(InStep) > 0, pause, "without PAUSE no output is in step");
    }
}

/// A frame for host 1 and one from host 1 reach the switch at 13.7 us. The second asks for XOFF, which goes ahead of the first by the same port.
/// So the first takes 51.2 ns there behind the PAUSE frame, beside twice 51.2 ns on links and 3 us of delay.
#[test]
fn a_frame_does_not_fly_ahead_of_an_xoff_of_its_moment() {
    let mut spec = star(0.0, 1);
    let at = |ps: u64, dst, bytes| Transfer { start: Time::from_ps(ps), ..flow(0, dst, bytes) };
    spec.hosts.iter_mut().for_each(|host| host.sources.clear());
    // The queue has been as long before, so that the second frame flies, and the third may.
    spec.hosts[0].sources = vec![flows([0, 5_000_000, 12_148_800].map(|ps| at(ps, 1, 64)).to_vec())];
    spec.hosts[1].sources = vec![flows(vec![at(11_000_000, 2, 1500)])];
    let buffer = &mut spec.switches[0].buffer;
    let (high, low) = (Bytes::new(1000), Bytes::new(500));
    buffer.pause = buffer.pause.map(|pause| PauseSpec { high, low, ..pause });
    takes("a frame alone", &spec, 1, Due, &[ThinWindow, Flown]);
    for engine in BOTH {
        let options = Options { engine, visits: Due, ..Options::default() };
        let late = run(&spec, &options).unwrap().hosts[1].latencies.max;
        assert_eq!(late, Time::from_ps(3 * 51_200 + 3_000_000), "{engine:?}");
    }
}

#[test]
fn long_windows_are_taken_in_pieces() {
    let far = |mut spec: RunSpec| {
        spec.links.iter_mut().for_each(|l| l.delay = Time::from_us(60));
        spec
    };
    let stopped = far(hot(star(0.85, 6)));
    let all = [far(star(0.85, 2)), stopped.clone(), with(stopped.clone(), samples())];
    for (visits, spec) in [All, Turns, Adaptive].into_iter().flat_map(|v| all.iter().map(move |s| (v, s))) {
        takes("far", spec, 1, visits, &[InPieces]);
    }
    takes("tree", &leaves(0.7, Time::from_us(60), Time::from_ms(1)), 2, All, &[InPieces]);
    takes("stopped", &stopped, 1, All, &[InPieces, InOrder, InStep]);
}

/// Finite flows and endless ones, into a port that sends XOFF: slots in vain are passed over, or drawn.
#[test]
fn a_greedy_host_goes_event_by_event() {
    for finite in [true, false] {
        let mut spec = hot(star(0.0, 4));
        for (h, host) in (0..).zip(&mut spec.hosts) {
            // The hotspot is at host 0; the second begins while the first waits.
            let (first, second) = (u32::from(h == 0), (h + 3) % 10);
            host.sources[0] = match finite {
                true => flows(vec![flow(0, first, 400_000), flow(300, second, 200_000)]),
                false => SourceSpec { arrivals: Arrivals::Greedy, ..bernoulli(0.0) },
            };
        }
        takes("greedy", &spec, 1, All, &[HostByEvent, InStep]);
        takes("greedy", &spec, 1, Turns, &[HostByEvent]);
    }
}

#[test]
fn trees() {
    let near = |load, us| leaves(load, Time::from_ns(100), Time::from_us(us));
    let far = |load| leaves(load, Time::from_ns(1500), Time::from_ms(1));
    let in_turn = RunSpec { routing: Routing::RoundRobin, ..far(0.8) };
    let mut drawn = far(0.6);
    drawn.laws.ties = Ties::Drawn;
    drawn.hosts.iter_mut().for_each(|h| h.sources[0].phase = Phase::Aligned);
    let mut waits = near(0.8, 400);
    hotspot(&mut waits, Rate::from_gbps(2.0));
    let (high, low, transport) = (Bytes::from_kb(14), Bytes::from_kb(7), PauseTransport::Wire);
    for s in &mut waits.switches {
        s.buffer.pause = s.buffer.pause.map(|p| PauseSpec { high, low, transport, ..p });
    }
    for h in &mut waits.hosts {
        h.sources[0].destinations = Destinations::Among(vec![NodeId(0), NodeId(1), NodeId(5)]);
    }
    for (why, spec, threads, visits, marks) in [
        ("frames that take turns go in order", &in_turn, 1, All, &[InOrder][..]),
        ("draws are taken in order", &drawn, 1, All, &[TiesDrawn]),
        ("draws are taken in order", &drawn, 1, Due, &[TiesDrawn]),
        ("messages pass among the data", &with(far(0.6), samples()), 1, All, &[CalmWindow]),
        ("only nodes with something are visited", &near(0.1, 300), 1, Due, &[ThinWindow, Flown, PassedOver]),
        ("what waits goes ahead", &waits, 1, Due, &[Launched]),
        ("what waits goes ahead", &waits, 2, Due, &[Crossed, Launched]),
        ("what waits goes ahead", &waits, 3, Due, &[Crossed]),
        ("all pass over the same turns", &near(0.05, 300), 2, Due, &[Crossed, ThinWindow, Flown, PassedOver]),
        ("all", &near(0.05, 300), 3, Turns, &[Crossed, ThinWindow, CalmWindow]),
    ] {
        takes(why, spec, threads, visits, marks);
    }
}

/// Finite flows with queue pairs, an acknowledgement for each frame.
fn acknowledged(delay: Time, ack_class: Class, ack_length: u64) -> RunSpec {
    let mut spec = leaves(0.0, delay, Time::from_us(400));
    for (h, host) in (0..).zip(&mut spec.hosts) {
        host.sources = vec![flows(vec![flow(0, (h + 1) % 12, 90_000), flow(50, (h + 5) % 12, 90_000)])];
    }
    let ack_length = Bytes::new(ack_length);
    spec.transport = Some(TransportSpec { ack_class, ack_length, window: Window::Off, ..TRANSPORT });
    spec
}

/// An acknowledgement is to a switch what a short data frame is: below every threshold no window is taken in order for it.
#[test]
fn acknowledgements_among_the_data_pass_as_data() {
    for (class, length) in [(Class::Data, 64), (Class::Data, 88), (Class::Control, 60)] {
        let spec = acknowledged(Time::from_ns(1500), class, length);
        takes("acknowledgements", &spec, 2, All, &[CalmWindow, Crossed, StartedAtOnce]);
        // Frames of several hosts may come near a threshold for a while.
        let (calm, in_order) = (seen(CalmWindow), seen(InOrder));
        assert!(calm > 20 * in_order, "{class:?} {length} B: {calm} calm windows, {in_order} in order");
        let (at_once, by_event) = (seen(StartedAtOnce), seen(HostByEvent));
        assert!(at_once > by_event / 2, "{class:?} {length} B: {at_once} starts at once, {by_event} events");
    }
}

/// Telemetry is written beside frames in calm windows, and crosses workers with them; a scheme that reads it changes no way.
#[test]
fn telemetry_travels_beside_the_frames() {
    let script = script().everywhere().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Telemetry));
    let script = script.point(|at, _, ctl, _| {
        if let AtPoint::Start = at {
            ctl.record_departures();
        }
    });
    let script = script.source(|at, limiter, _| match at {
        AtSource::Start => limiter.wake_on_acks(AckGate::EACH),
        AtSource::Ack(ack) => {
            let all = ack.path.iter().map(|hop| hop.queue.get() + hop.sent + hop.time.as_ps() / 1000);
            limiter.engage();
            limiter.set_rate(limiter.line_rate() * (0.3 + (all.sum::<u64>() % 97) as f64 / 140.0));
        }
        _ => {}
    });
    for class in [Class::Data, Class::Control] {
        let mut spec = acknowledged(Time::from_ns(1500), class, 88);
        with_scheme(&mut spec, Arc::new(script.clone()));
        takes("telemetry", &spec, 1, All, &[CalmWindow, Recorded]);
        takes("telemetry", &spec, 2, Due, &[Recorded, Crossed]);
        assert_eq!(run(&spec, &Options::default()).unwrap().by_model, None);
        assert!(seen(Recorded) > 12 * 120, "each frame leaves a port at least: {}", seen(Recorded));
    }
}

/// A barrier in each window would cost more than the frames do: a link of 1 Mb/s takes 12 ms for a frame, a window is 200 ns.
#[test]
fn one_thread_runs_what_is_not_worth_a_barrier() {
    let mut spec = leaves(0.3, Time::from_ns(100), Time::from_ms(300));
    spec.links.iter_mut().for_each(|l| l.rate = Rate::from_mbps(1.0));
    for threads in [2, 3] {
        takes("slow", &spec, threads, Adaptive, &[Alone, Crossed]);
        assert!(threads > 2 || seen(Together) == 0);
    }
}

/// All hosts but one send for 6 ms and rest for 14: each worker has its thread, then one runs them all, then each has it again.
#[test]
fn threads_are_taken_and_left_as_the_load_changes() {
    let mut spec = leaves(0.2, Time::from_us(10), Time::from_ms(26));
    let (on, off, shift) = (Time::from_ms(6), Time::from_ms(14), Time::ZERO);
    spec.hosts[1..].iter_mut().for_each(|h| h.sources[0].arrivals = Arrivals::OnOff { on, off, shift });
    takes("on and off", &spec, 2, Adaptive, &[Alone, Together, Crossed]);
    assert!(seen(Together) > 1, "threads were not taken again");
}

/// The load comes and goes, so that the choice of nodes to visit is made anew again and again.
#[test]
fn the_choice_changes_with_the_load() {
    let mut spec = tree(3, 0.02, Time::from_us(4_800), 1);
    let (on, off, shift) = (Time::from_us(1200), Time::from_us(1200), Time::ZERO);
    let burst = SourceSpec { arrivals: Arrivals::OnOff { on, off, shift }, ..bernoulli(0.9) };
    spec.hosts.iter_mut().for_each(|h| h.sources.push(burst.clone()));
    for threads in [1, 2] {
        takes("bursts", &spec, threads, Adaptive, &[ThinWindow, CalmWindow]);
        // Each worker visits all in the first burst, chooses what is due after it, all in the second, and what is due again.
        let chosen = (seen(Mark::ChoseDue), seen(Mark::ChoseAll));
        assert_eq!(chosen, (2 * threads as u64, threads as u64), "{threads} threads");
    }
}

/// By streams each flow with a queue pair has a path of its own; where draws are keyed all flows of a pair share one, and pairs do not.
#[test]
fn keyed_draws_give_a_pair_one_path() {
    let paths = |draws, pairs: std::ops::Range<u32>, flows: u32| {
        let mut spec = tree(8, 0.0, Time::from_us(10), 7);
        spec.hosts.iter_mut().for_each(|host| host.sources.clear());
        (spec.routing, spec.transport, spec.laws.draws) = (Routing::FlowHash, Some(TRANSPORT), draws);
        let ways = Ways::new(&spec).unwrap();
        let of = |dst, nth| ways.of(NodeId(0), NodeId(dst), nth).unwrap();
        let all = pairs.flat_map(|n| (0..flows).map(move |nth| (4 * n + 1, nth)));
        all.map(|(dst, nth)| of(dst, nth)[1]).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(
        (paths(Draws::Stream, 1..2, 40), paths(Draws::Keyed, 1..2, 40), paths(Draws::Keyed, 0..8, 1)),
        (2, 1, 2)
    );
}
