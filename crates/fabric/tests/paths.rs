//! Each fast path is taken, and each way out of one, by a network that should, in agreement with the oracle: a path that is
//! switched off fails the test that names it. Marks are counted where debug assertions are on:
//! `cargo test --profile checked -p cnsim-fabric --test paths`.
#![cfg(debug_assertions)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::marks::{Mark, forget, seen};
use cnsim_fabric::*;
use cnsim_scheme_api::{
    Built, Bytes, CongestionPoint, Feedback, FrameView, Limiter, NodeId, Plan, PointControl, Queue,
    QueueSite, Ramp, RampAt, Rate, ReactionPoint, ReflectGate, Reflector, ReflectorControl, Scheme, SinkSite,
    SourceSite, Time,
};
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

/// Four leaves of three hosts, two spines, short links.
fn tree(load: f64, delay: Time, duration: Time) -> RunSpec {
    let (leaves, spines, per) = (4, 2, 3);
    let hosts = leaves * per;
    let mut spec = common::single_switch(2, load, true, duration, 3);
    spec.hosts = (0..hosts).map(|i| common::host(i, vec![common::bernoulli(load)])).collect();
    spec.hosts.iter_mut().for_each(|h| h.processing = Time::ZERO);
    let mut switch = spec.switches[0].clone();
    (switch.ports, switch.processing) = (8, Time::ZERO);
    spec.switches = vec![switch; leaves + spines];
    spec.links = (0..hosts).map(|h| common::link((h, 0), (hosts + h / per, h % per))).collect();
    for l in 0..leaves {
        for s in 0..spines {
            spec.links.push(common::link((hosts + l, per + s), (hosts + leaves + s, l)));
        }
    }
    spec.links.iter_mut().for_each(|l| l.delay = delay);
    spec.routing = Routing::FrameHash;
    spec
}

/// What a scheme of these tests does.
#[derive(Debug, Clone, Copy, Default)]
struct Does {
    /// Bytes between samples; each is told to its source.
    samples: Option<u64>,
    /// Limiters are built with a flow's first frame, at this share of the line's rate.
    share: Option<f64>,
    /// A ramp at departure up to this probability.
    marks: Option<f64>,
    /// Marked frames are answered.
    answers: bool,
}

#[derive(Debug)]
struct Part(Does);

impl CongestionPoint for Part {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        if let Some(bytes) = self.0.samples {
            ctl.sample_after(Bytes::new(bytes));
        }
        if let Some(p_max) = self.0.marks {
            let (low, high) = (Bytes::new(1_500), Bytes::from_kb(60));
            ctl.mark(Ramp { low, high, p_max, p_beyond: 1.0, at: RampAt::Departure });
        }
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.notify(frame.flow, Feedback::User([queue.len.get(), 0]));
        if let Some(bytes) = self.0.samples {
            ctl.sample_after(Bytes::new(bytes));
        }
    }
}

impl ReactionPoint for Part {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.set_rate(limiter.line_rate() * self.0.share.unwrap_or(0.3));
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
}

impl Reflector for Part {
    fn on_frame(&mut self, _: &FrameView, ctl: &mut ReflectorControl<'_>) {
        ctl.reply(Feedback::Cnp);
    }
}

impl Scheme for Does {
    fn name(&self) -> &str {
        "does"
    }
    fn plan(&self) -> Plan {
        Plan {
            built: if self.share.is_some() { Built::FirstFrame } else { Built::OnFeedback },
            reflect: if self.answers { ReflectGate::Marked } else { ReflectGate::Never },
            ..Plan::default()
        }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Part(*self)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Part(*self)))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Part(*self)))
    }
    fn engages(&self, _: &Feedback) -> bool {
        false
    }
}

fn with(mut spec: RunSpec, scheme: Does) -> RunSpec {
    common::with_scheme(&mut spec, Arc::new(scheme));
    spec
}

#[test]
fn a_star_below_every_threshold_is_swept_calmly() {
    let marks = [Mark::CalmWindow, Mark::HostCalm, Mark::Deaf];
    takes(&star(0.85, 1), 1, Visits::All, &marks);
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
    let scheme = Does { samples: Some(20_000), ..Does::default() };
    let sampled = with(stopped.clone(), scheme);
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
fn frames_that_take_turns_go_in_order_and_queues_let_go() {
    let mut spec = tree(0.8, Time::from_ns(1500), Time::from_ms(1));
    spec.routing = Routing::RoundRobin;
    takes(&spec, 1, Visits::All, &[Mark::InOrder, Mark::Ranked, Mark::LetGo]);
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
    let scheme = Does { samples: Some(20_000), ..Does::default() };
    takes(&with(star(0.6, 1), scheme), 1, Visits::All, &[Mark::CalmWindow, Mark::CaughtUp]);
}

#[test]
fn messages_pass_among_the_data() {
    let scheme = Does { samples: Some(20_000), ..Does::default() };
    let spec = with(tree(0.6, Time::from_ns(1500), Time::from_ms(1)), scheme);
    takes(&spec, 1, Visits::All, &[Mark::CalmWindow]);
}

#[test]
fn marks_are_answered_at_once() {
    let scheme = Does { marks: Some(0.5), answers: true, ..Does::default() };
    takes(&with(star(0.8, 2), scheme), 1, Visits::All, &[Mark::SaidAtOnce]);
}

#[test]
fn hosts_with_limiters_go_event_by_event() {
    for (share, mark) in [(0.02, Mark::HostByEvent), (1.0, Mark::SentStraight)] {
        let scheme = Does { share: Some(share), ..Does::default() };
        takes(&with(star(0.5, 1), scheme), 1, Visits::All, &[mark]);
    }
}

#[test]
fn at_light_load_only_nodes_with_something_are_visited() {
    let spec = tree(0.1, Time::from_ns(100), Time::from_us(300));
    takes(&spec, 1, Visits::Due, &[Mark::ThinWindow, Mark::Flown, Mark::PassedOver]);
}

#[test]
fn what_waits_goes_ahead_and_is_taken_back() {
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
    takes(&spec, 1, Visits::Due, &[Mark::Launched, Mark::TakenBack]);
    // What stands on a wire to another worker cannot be taken back.
    takes(&spec, 2, Visits::Due, &[Mark::Crossed, Mark::Launched, Mark::TakenBack]);
    takes(&spec, 3, Visits::Due, &[Mark::Crossed]);
}

/// Between two workers nothing can be taken back, so only what has started goes ahead; all pass over the same turns.
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
