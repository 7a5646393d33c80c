//! A scheme that stops a run: both engines name the earliest failure, on any number of threads.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Lent, Purpose, Stream};
use cnsim_scheme_api::{
    Built, Bytes, CongestionPoint, Feedback, FrameView, Limiter, NodeId, Plan, PointControl, Queue,
    QueueSite, ReactionPoint, ReflectGate, Reflector, ReflectorControl, Scheme, SinkSite, Slot, SourceSite,
    Time,
};
use std::sync::Arc;

/// Every object fails now and then, whenever it is woken, and goes on to be woken where nobody has noticed yet.
#[derive(Debug, Clone, Copy)]
struct Fails {
    /// How likely, for points, limiters, reflectors.
    chance: [f64; 3],
    first_frame: bool,
}

impl CongestionPoint for Fails {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::from_kb(6));
        ctl.start_timer(Slot(0), Time::from_us(4));
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::from_kb(6));
        ctl.notify(frame.flow, Feedback::User([queue.len.get(), 0]));
        if ctl.uniform() < self.chance[0] {
            ctl.fail("a sample");
        }
    }
    fn on_timer(&mut self, slot: Slot, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.start_timer(slot, Time::from_us(4));
        if ctl.uniform() < self.chance[0] {
            ctl.fail("a timer of the point");
        }
    }
}

impl ReactionPoint for Fails {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.wake_after(Bytes::from_kb(9));
    }
    fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
        limiter.engage();
        let share = 0.3 + 0.7 * limiter.uniform();
        limiter.set_rate(limiter.line_rate() * share);
        limiter.start_timer(Slot(1), Time::from_us(5));
        if limiter.uniform() < self.chance[1] {
            limiter.fail("feedback");
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        limiter.wake_after(Bytes::from_kb(9));
        if limiter.uniform() < self.chance[1] {
            limiter.fail("bytes");
        }
    }
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        if limiter.uniform() < self.chance[1] {
            limiter.fail("a timer of the limiter");
        }
    }
}

impl Reflector for Fails {
    fn on_frame(&mut self, _: &FrameView, ctl: &mut ReflectorControl<'_>) {
        if ctl.uniform() < self.chance[2] {
            ctl.fail("a frame");
        }
    }
}

impl Scheme for Fails {
    fn name(&self) -> &str {
        "fails"
    }
    fn plan(&self) -> Plan {
        let built = if self.first_frame { Built::FirstFrame } else { Built::OnFeedback };
        Plan { built, reflect: ReflectGate::Always, ..Plan::default() }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(*self))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(*self))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(*self))
    }
    fn engages(&self, _: &Feedback) -> bool {
        true
    }
}

#[test]
fn both_engines_name_the_earliest_failure() {
    let mut whose = [0; 3];
    for seed in 0..60 {
        let mut r = Stream::new(seed, 6, Purpose::Test);
        let mut pick = |n: u64| r.below(n);
        let hosts = 2 + pick(5) as usize;
        let mut spec = common::single_switch(hosts, 0.8, true, Time::from_ms(1 + pick(2)), seed);
        let switches = 1 + pick(3) as usize;
        spec.switches = vec![SwitchSpec { ports: 24, ..spec.switches[0].clone() }; switches];
        common::tangle(&mut spec, (hosts, switches), pick(3) == 0, &mut pick);
        let mut chance = || [0.0, 1e-2, 1e-3][pick(3) as usize];
        let mut scheme = Fails { chance: [chance(), chance(), chance()], first_frame: false };
        scheme.first_frame = pick(2) == 0;
        common::with_scheme(&mut spec, Arc::new(scheme));
        let of = |options: &Options<'_>| run(&spec, options).map(|out| out.fingerprint);
        let oracle = of(&Options { engine: Engine::Model, ..Options::default() });
        let slow = [NodeId(0), NodeId(hosts as u32)];
        let some: &[NodeId] = if seed % 4 == 0 { &slow } else { &[] };
        for (threads, visits, by_model) in
            [(1, Visits::Adaptive, some), (1, Visits::Turns, some), (1 + seed as usize % 4, Visits::Due, &[])]
        {
            let fast = of(&Options { threads, visits, by_model, ..Options::default() });
            assert_eq!(fast, oracle, "seed {seed}, {threads} threads, {visits:?}, {by_model:?}");
        }
        if let Err(RunError::Scheme(cause)) = &oracle {
            let who = ["congestion point", "reaction point", "reflector"].map(|who| cause.starts_with(who));
            whose.iter_mut().zip(who).for_each(|(n, who)| *n += u64::from(who));
        }
    }
    assert!(whose.iter().all(|n| *n > 5), "{whose:?} of points, limiters, reflectors");
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
