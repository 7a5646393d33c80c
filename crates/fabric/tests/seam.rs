//! Verbs of the seam do what they say, in both engines; what is not allowed stops the run and says why.
#![allow(clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::Lent;
use cnsim_scheme_api::{
    Ack, Acknowledger, Built, Bytes, Class, CongestionPoint, Counter, Feedback, FrameView, Limiter, Plan,
    PointControl, Probe, ProbeTarget, Queue, QueueSite, Ramp, ReactionPoint, ReflectGate, Reflector, Scheme,
    Scope, SinkSite, Slot, SourceSite, Tag, Time,
};
use std::sync::{Arc, Mutex};

/// What goes wrong in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    Slot,
    Counter,
    PointSlot,
    PointCounter,
    WholeHostProbe,
}

/// What the run's objects saw.
#[derive(Debug, Default, PartialEq, Clone)]
struct Seen {
    acks: Vec<Ack>,
    base_rtt: Time,
    /// Bytes counted by samples, and what the queue says had arrived at the last one.
    counted: u64,
    arrived: u64,
}

#[derive(Debug)]
struct Probing {
    wrong: Wrong,
    mark: bool,
    seen: Arc<Mutex<Seen>>,
}

impl Scheme for Probing {
    fn name(&self) -> &str {
        "probing"
    }
    fn plan(&self) -> Plan {
        let limiter_scope = if self.wrong == Wrong::WholeHostProbe { Scope::Host } else { Scope::Flow };
        Plan {
            limiter_scope,
            built: Built::FirstFrame,
            reflect: ReflectGate::Tagged,
            received: true,
            ..Plan::default()
        }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(self.wrong, self.mark, self.seen.clone())))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        self.seen.lock().unwrap().base_rtt = site.base_rtt;
        Some(Box::new(Reaction(self.wrong, self.seen.clone())))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Acknowledger))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![Counter::new("known", "what is counted")]
    }
}

#[derive(Debug)]
struct Point(Wrong, bool, Arc<Mutex<Seen>>);

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::new(4000));
        if self.1 {
            ctl.mark(Ramp::step(Bytes::new(0)));
        }
        if self.0 == Wrong::PointSlot {
            ctl.start_timer(Slot(4), Time::from_us(1));
        }
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        if frame.dst.0 == 1 {
            let mut seen = self.2.lock().unwrap();
            seen.counted += ctl.bytes_since_armed().get();
            seen.arrived = queue.arrived;
        }
        ctl.count(if self.0 == Wrong::PointCounter { "unknown" } else { "known" });
        ctl.sample_after(Bytes::new(1 + queue.arrived % 7000));
    }
}

#[derive(Debug)]
struct Reaction(Wrong, Arc<Mutex<Seen>>);

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        // Its own tag, but for the frames that carry their time.
        limiter.tag_frames(Tag::User(7));
        limiter.echo_next();
        limiter.wake_after(Bytes::new(30_000));
        match self.0 {
            Wrong::Slot => limiter.stop_timer(Slot(200)),
            Wrong::Counter => limiter.count("unknown"),
            Wrong::WholeHostProbe => {
                limiter.send_probe(Probe::new(1, ProbeTarget::Destination, Class::Data));
            }
            _ => {}
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        limiter.echo_next();
        limiter.wake_after(Bytes::new(30_000));
    }
    fn on_ack(&mut self, ack: &Ack, limiter: &mut Limiter<'_>) {
        limiter.count("known");
        self.1.lock().unwrap().acks.push(*ack);
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        limiter.fail(format!("{feedback:?} is no acknowledgement"));
    }
}

/// Host 0 sends to host 1, alone, for 1 ms.
fn go(wrong: Wrong, mark: bool, engine: Engine) -> (Result<Outcome, RunError>, Seen) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut spec = common::single_switch(2, 0.0, false, Time::from_ms(1), 1);
    let mut source = common::bernoulli(0.5);
    source.destinations = Destinations::Fixed(cnsim_scheme_api::NodeId(1));
    spec.hosts[0].sources = vec![source];
    common::with_scheme(&mut spec, Arc::new(Probing { wrong, mark, seen: seen.clone() }));
    let out = run(&spec, &Options { engine, threads: 1, ..Options::default() });
    let seen = seen.lock().unwrap().clone();
    (out.map(Outcome::results), seen)
}

#[test]
fn what_is_not_allowed_stops_the_run() {
    for (wrong, words) in [
        (Wrong::Slot, "there is no timer 200: slots are 0 to 3"),
        (Wrong::Counter, "there is no counter `unknown`"),
        (Wrong::PointSlot, "there is no timer 4"),
        (Wrong::PointCounter, "there is no counter `unknown`"),
        (Wrong::WholeHostProbe, "no path to probe"),
    ] {
        for engine in [Engine::Fast, Engine::Model] {
            let error = go(wrong, false, engine).0.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}

/// One frame in 30 KB comes back as an acknowledgement: with the time of an unloaded path, the bytes received so far, and the
/// frame's mark. The other frames carry the flow's tag.
#[test]
fn acknowledgements_carry_time_bytes_and_mark() {
    for mark in [false, true] {
        let (out, seen) = go(Wrong::Nothing, mark, Engine::Fast);
        let (oracle, same) = go(Wrong::Nothing, mark, Engine::Model);
        assert_eq!(format!("{:?}", out.unwrap()), format!("{:?}", oracle.unwrap()));
        assert_eq!(seen, same);
        // 5 Gb/s for 1 ms are 625 KB.
        assert!((18..=22).contains(&seen.acks.len()), "{}", seen.acks.len());
        let shortest = seen.acks.iter().map(|a| a.rtt).min().unwrap();
        let apart = shortest.as_ps().abs_diff(seen.base_rtt.as_ps());
        assert!(apart <= 2000, "{shortest} where an empty path takes {}", seen.base_rtt);
        assert!(seen.acks.iter().all(|a| a.marked == mark));
        for pair in seen.acks.windows(2) {
            let between = pair[1].received.get() - pair[0].received.get();
            assert!((30_000..33_000).contains(&between), "{between}");
        }
    }
}

/// Samples tell how many bytes they counted: together all that had arrived.
#[test]
fn samples_count_every_byte() {
    let (out, seen) = go(Wrong::Nothing, false, Engine::Fast);
    out.unwrap();
    assert!(seen.counted > 500_000);
    assert_eq!(seen.counted, seen.arrived);
    assert_eq!(go(Wrong::Nothing, false, Engine::Model).1, seen);
}
