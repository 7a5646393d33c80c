//! Schemes that need acknowledgements, with one fault each: the suite finds it and names the remedy.

use super::{Promise, conformance};
use crate::{
    Ack, AckGate, Acks, Bytes, CongestionPoint, Feedback, Limiter, Loss, Plan, PointControl, Queue,
    QueueSite, Ramp, Rate, ReactionPoint, Scheme, Scope, SourceSite,
};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    NotOfAFlow,
    NeverWoken,
    NoRecords,
    RecordsUnplanned,
    FirstHop,
    NoWindow,
    Unseeded,
    NackUnwrapped,
}

/// Halves its window at a mark, adds a frame else.
#[derive(Debug)]
struct Windowed(Fault);

impl Scheme for Windowed {
    fn name(&self) -> &str {
        "windowed"
    }
    fn plan(&self) -> Plan {
        let acks = if self.0 == Fault::NoRecords { Acks::Telemetry } else { Acks::Needed };
        let limiter_scope = if self.0 == Fault::NotOfAFlow { Scope::Pair } else { Scope::Flow };
        // The limiter is built at the first frame in any case, as in a network.
        Plan { acks, limiter_scope, ..Plan::default() }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(self.0)))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction(self.0)))
    }
}

#[derive(Debug)]
struct Point(Fault);

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.mark(Ramp::step(Bytes::from_kb(30)));
        if self.0 == Fault::RecordsUnplanned {
            ctl.record_departures();
        }
    }
}

#[derive(Debug)]
struct Reaction(Fault);

/// State that outlives a run: what no scheme may have.
static CALLS: AtomicU64 = AtomicU64::new(0);

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.set_window(Bytes::from_kb(60));
        if self.0 != Fault::NeverWoken {
            limiter.wake_on_acks(AckGate::EACH);
        }
    }
    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        let window =
            if ack.marked { limiter.window().scale(0.5) } else { limiter.window() + Bytes::new(1500) };
        let own = match self.0 {
            Fault::FirstHop => ack.path[0].queue,
            Fault::NoWindow => return limiter.set_window(Bytes::ZERO),
            Fault::Unseeded => Bytes::new(CALLS.fetch_add(1, Ordering::Relaxed) % 97),
            _ => Bytes::ZERO,
        };
        limiter.set_window(window.max(Bytes::new(1500)) + own);
    }
    fn on_loss(&mut self, loss: Loss, _: &mut Limiter<'_>) {
        assert!(self.0 != Fault::NackUnwrapped || loss == Loss::Timeout, "it never expects a NACK");
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
}

#[test]
fn acknowledgements() {
    let promise = Promise::reacting(Rate::from_mbps(10.0));
    let found = |fault| match conformance(&|| Box::new(Windowed(fault)), promise) {
        Ok(()) => String::new(),
        Err(all) => all.iter().map(|v| format!("{v}\n")).collect(),
    };
    assert_eq!(found(Fault::None), "");
    for (fault, check, words) in [
        (Fault::NotOfAFlow, "bounds", "limiter_scope: Scope::Flow"),
        (Fault::NeverWoken, "acknowledgements", "arm `wake_on_acks`"),
        (Fault::NoRecords, "acknowledgements", "`record_departures`"),
        (Fault::RecordsUnplanned, "bounds", "acks: Acks::Telemetry"),
        (Fault::FirstHop, "acknowledgements", "index out of bounds"),
        (Fault::NoWindow, "acknowledgements", "a window of 0 B"),
        (Fault::Unseeded, "same-seed", "two runs part"),
        (Fault::NackUnwrapped, "acknowledgements", "never expects a NACK"),
    ] {
        let said = found(fault);
        let line = said.lines().find(|line| line.starts_with(&format!("{check}:")));
        assert!(line.is_some_and(|line| line.contains(words)), "{fault:?}: {said}");
    }
}
