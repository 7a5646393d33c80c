//! Each fast path is taken, and each way out of one, by a network that should, in agreement with the oracle: a path that is
//! switched off fails the test that names it. Marks are counted where debug assertions are on:
//! `cargo test --profile checked -p cnsim-fabric --test paths`.
#![cfg(debug_assertions)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::marks::{Mark, forget, seen};
use cnsim_fabric::*;
use cnsim_scheme_api::{Built, Bytes, Feedback, NodeId, Ramp, RampAt, Rate, ReflectGate, Time};
use common::script::*;
use std::sync::Arc;

/// Runs a network by the oracle and on so many threads with these visits: the same outcome, and by these marks.
fn takes(spec: &RunSpec, threads: usize, visits: Visits, marks: &[Mark]) {
    let oracle = run(spec, &Options { engine: Engine::Model, ..Options::default() });
    let oracle = oracle.map(Outcome::results);
    assert!(oracle.is_ok(), "{oracle:?}");
    forget();
    let fast = run(spec, &Options { threads, visits, ..Options::default() });
    assert!(format!("{:?}", fast.map(Outcome::results)) == format!("{oracle:?}"), "the engines differ");
    let missed: Vec<&Mark> = marks.iter().filter(|m| seen(**m) == 0).collect();
    assert!(missed.is_empty(), "not taken: {missed:?}");
}

/// A star of ten hosts.
fn star(load: f64, ms: u64) -> RunSpec {
    common::single_switch(10, load, true, Time::from_ms(ms), 1)
}

/// Four leaves of three hosts, two spines, links of this delay.
fn tree(load: f64, delay: Time, duration: Time) -> RunSpec {
    let mut spec = common::tree(3, load, duration, 3);
    spec.hosts.iter_mut().for_each(|h| h.processing = Time::ZERO);
    spec.switches.iter_mut().for_each(|s| s.processing = Time::ZERO);
    spec.links.iter_mut().for_each(|l| l.delay = delay);
    spec
}

fn with(mut spec: RunSpec, mut script: Script) -> RunSpec {
    script.engages = |_| false;
    common::with_scheme(&mut spec, Arc::new(script.everywhere()));
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
fn a_star_below_every_threshold_is_swept_calmly() {
    takes(&star(0.85, 1), 1, Visits::All, &[Mark::CalmWindow, Mark::SentStraight]);
}

#[test]
fn near_a_threshold_frames_go_back_and_are_taken_in_order() {
    let mut spec = star(0.85, 6);
    common::hotspot(&mut spec, Rate::from_gbps(0.5));
    takes(&spec, 1, Visits::All, &[Mark::PutBack, Mark::InOrder, Mark::InStep, Mark::HostByEvent]);
}

/// Long links, whose windows hold many frames: below every threshold, in XOFF, with samples and messages, and where marks wait.
#[test]
fn long_windows_are_taken_in_pieces() {
    let far = |mut spec: RunSpec| {
        spec.links.iter_mut().for_each(|l| l.delay = Time::from_us(60));
        spec
    };
    let mut stopped = star(0.85, 6);
    common::hotspot(&mut stopped, Rate::from_gbps(0.5));
    let sampled = with(stopped.clone(), samples());
    for visits in [Visits::All, Visits::Turns, Visits::Adaptive] {
        for spec in [star(0.85, 2), stopped.clone(), sampled.clone()] {
            takes(&far(spec), 1, visits, &[Mark::InPieces]);
        }
    }
    takes(&tree(0.7, Time::from_us(60), Time::from_ms(1)), 2, Visits::All, &[Mark::InPieces]);
    takes(&far(stopped), 1, Visits::All, &[Mark::InPieces, Mark::InOrder, Mark::InStep]);
}

/// Finite flows and endless ones, into a port that sends XOFF: slots in vain are passed over, or drawn.
#[test]
fn a_greedy_host_goes_event_by_event() {
    for finite in [true, false] {
        let mut spec = star(0.0, 4);
        common::hotspot(&mut spec, Rate::from_gbps(0.5));
        for (h, host) in spec.hosts.iter_mut().enumerate() {
            let source = &mut host.sources[0];
            let transfer = |start, dst: usize, kilobytes| Transfer {
                start: Time::from_us(start),
                dst: NodeId(dst as u32),
                bytes: Bytes::from_kb(kilobytes),
            };
            if finite {
                source.arrivals = Arrivals::Transfers;
                // The hotspot is at host 0; the second begins while the first waits.
                let (first, second) = (if h == 0 { 1 } else { 0 }, (h + 3) % 10);
                source.transfers = vec![transfer(0, first, 400), transfer(300, second, 200)];
            } else {
                source.arrivals = Arrivals::Greedy;
                source.destinations = Destinations::Uniform;
            }
        }
        takes(&spec, 1, Visits::All, &[Mark::HostByEvent, Mark::InStep]);
        takes(&spec, 1, Visits::Turns, &[Mark::HostByEvent]);
    }
}

#[test]
fn frames_that_take_turns_go_in_order() {
    let mut spec = tree(0.8, Time::from_ns(1500), Time::from_ms(1));
    spec.routing = Routing::RoundRobin;
    takes(&spec, 1, Visits::All, &[Mark::InOrder, Mark::Ranked]);
}

#[test]
fn draws_between_frames_of_one_moment_are_taken_in_order() {
    for visits in [Visits::All, Visits::Due] {
        let mut spec = tree(0.6, Time::from_ns(1500), Time::from_ms(1));
        spec.ties = Ties::Drawn;
        spec.hosts.iter_mut().for_each(|h| h.sources[0].phase = Phase::Aligned);
        takes(&spec, 1, visits, &[Mark::TiesDrawn]);
    }
}

#[test]
fn samples_are_found_after_all_frames_are_stored() {
    takes(&with(star(0.6, 1), samples()), 1, Visits::All, &[Mark::CalmWindow, Mark::CaughtUp]);
}

#[test]
fn messages_pass_among_the_data() {
    let spec = with(tree(0.6, Time::from_ns(1500), Time::from_ms(1)), samples());
    takes(&spec, 1, Visits::All, &[Mark::CalmWindow]);
}

#[test]
fn marks_are_answered() {
    let (low, high) = (Bytes::new(1_500), Bytes::from_kb(60));
    let ramp = Ramp { low, high, p_max: 0.5, p_beyond: 1.0, at: RampAt::Departure };
    let script = script().gate(ReflectGate::Marked).plan(|p| p.built = Built::OnFeedback);
    let script = script.point(move |_, _, ctl, _| ctl.mark(ramp)).sink(|at, ctl, _| {
        if let AtSink::Frame(_) = at {
            ctl.reply(Feedback::Cnp);
        }
    });
    takes(&with(star(0.8, 2), script), 1, Visits::All, &[Mark::HostByEvent]);
}

#[test]
fn hosts_with_limiters_go_event_by_event() {
    for (share, mark) in [(0.02, Mark::HostByEvent), (1.0, Mark::SentStraight)] {
        let script = script().source(move |_, limiter, _| {
            limiter.engage();
            limiter.set_rate(limiter.line_rate() * share);
        });
        takes(&with(star(0.5, 1), script), 1, Visits::All, &[mark]);
    }
}

#[test]
fn at_light_load_only_nodes_with_something_are_visited() {
    let spec = tree(0.1, Time::from_ns(100), Time::from_us(300));
    takes(&spec, 1, Visits::Due, &[Mark::ThinWindow, Mark::Flown, Mark::PassedOver]);
}

#[test]
fn what_waits_goes_ahead() {
    let mut spec = tree(0.8, Time::from_ns(100), Time::from_us(400));
    common::hotspot(&mut spec, Rate::from_gbps(2.0));
    for s in &mut spec.switches {
        s.buffer.pause = s.buffer.pause.map(|p| PauseSpec {
            high: Bytes::from_kb(14),
            low: Bytes::from_kb(7),
            transport: PauseTransport::Wire,
            ..p
        });
    }
    for h in &mut spec.hosts {
        h.sources[0].destinations = Destinations::Among(vec![NodeId(0), NodeId(1), NodeId(5)]);
    }
    takes(&spec, 1, Visits::Due, &[Mark::Launched]);
    takes(&spec, 2, Visits::Due, &[Mark::Crossed, Mark::Launched]);
    takes(&spec, 3, Visits::Due, &[Mark::Crossed]);
}

/// All pass over the same turns.
#[test]
fn several_workers_visit_what_is_due() {
    let spec = tree(0.05, Time::from_ns(100), Time::from_us(300));
    let marks = [Mark::Crossed, Mark::ThinWindow, Mark::Flown, Mark::PassedOver];
    takes(&spec, 2, Visits::Due, &marks);
    takes(&spec, 3, Visits::Turns, &[Mark::Crossed, Mark::ThinWindow, Mark::CalmWindow]);
}

/// A barrier in each window would cost more than the frames do: a link of 1 Mb/s takes 12 ms for a frame, a window is 200 ns.
#[test]
fn one_thread_runs_what_is_not_worth_a_barrier() {
    let mut spec = tree(0.3, Time::from_ns(100), Time::from_ms(300));
    spec.links.iter_mut().for_each(|l| l.rate = Rate::from_mbps(1.0));
    takes(&spec, 2, Visits::Adaptive, &[Mark::Alone, Mark::Crossed]);
    assert!(seen(Mark::Together) == 0);
    takes(&spec, 3, Visits::Adaptive, &[Mark::Alone, Mark::Crossed]);
}

/// All hosts but one send for 6 ms and rest for 14: each worker has its thread, then one runs them all, then each has it again.
#[test]
fn threads_are_taken_and_left_as_the_load_changes() {
    let mut spec = tree(0.2, Time::from_us(10), Time::from_ms(26));
    for h in spec.hosts.iter_mut().skip(1) {
        let (on, off) = (Time::from_ms(6), Time::from_ms(14));
        h.sources[0].arrivals = Arrivals::OnOff { on, off, shift: Time::ZERO };
    }
    takes(&spec, 2, Visits::Adaptive, &[Mark::Alone, Mark::Together, Mark::Crossed]);
    assert!(seen(Mark::Together) > 1, "threads were not taken again");
}

#[test]
fn a_star_that_stays_quiet_runs_far() {
    takes(&star(0.05, 20), 1, Visits::Adaptive, &[Mark::Stretched]);
    let mut spec = star(0.3, 20);
    common::hotspot(&mut spec, Rate::from_gbps(0.5));
    takes(&spec, 1, Visits::Turns, &[Mark::Stretched, Mark::NotQuiet]);
}

/// The load comes and goes, so that the choice of nodes to visit is made anew again and again.
#[test]
fn the_choice_changes_with_the_load() {
    let mut spec = common::tree(3, 0.02, Time::from_us(4_800), 1);
    for h in &mut spec.hosts {
        let mut burst = common::bernoulli(0.9);
        let time = Time::from_us(1200);
        burst.arrivals = Arrivals::OnOff { on: time, off: time, shift: Time::ZERO };
        h.sources.push(burst);
    }
    for threads in [1, 2] {
        takes(&spec, threads, Visits::Adaptive, &[Mark::ThinWindow, Mark::CalmWindow]);
        // Each worker visits all in the first burst, chooses what is due after it, all in the second, and what is due again.
        let chosen = (seen(Mark::ChoseDue), seen(Mark::ChoseAll));
        assert_eq!(chosen, (2 * threads as u64, threads as u64), "{threads} threads");
    }
}
