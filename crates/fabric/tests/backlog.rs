//! An application FIFO ahead of the limiters: what is held back meets its limiter late, blocks nobody, and is lost at its source.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::{
    Built, Feedback, Limiter, NodeId, Plan, Rate, ReactionPoint, Scheme, Slot, SourceSite, Time,
};
use std::sync::Arc;

/// Flows to host 1 are held to a trickle from 50 us on.
#[derive(Debug)]
struct Late;

impl ReactionPoint for Late {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.start_timer(Slot(0), Time::from_us(50));
    }
    fn on_feedback(&mut self, _: &Feedback, _: &mut Limiter<'_>) {}
    fn on_timer(&mut self, _: Slot, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.set_rate(Rate::from_mbps(1.0));
    }
}

#[derive(Debug)]
struct Trickle;

impl Scheme for Trickle {
    fn name(&self) -> &str {
        "trickle"
    }
    fn plan(&self) -> Plan {
        Plan { built: Built::FirstFrame, ..Plan::default() }
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        (site.dst == NodeId(1)).then(|| Box::new(Late) as Box<dyn ReactionPoint>)
    }
}

/// Host 0 sends to hosts 1 and 2 twice what its link takes, for 1 ms; 100 frames wait there, all but 2 ahead of the limiters
/// if asked.
fn crowd(ahead: bool, position: LimiterPosition) -> RunSpec {
    let mut spec = common::single_switch(3, 0.0, false, Time::from_ms(1), 3);
    common::with_scheme(&mut spec, Arc::new(Trickle));
    let h = &mut spec.hosts[0];
    h.sources = [1, 2]
        .map(|dst| SourceSpec { destinations: Destinations::Fixed(NodeId(dst)), ..common::bernoulli(1.0) })
        .into();
    (h.fifo_frames, h.backlog_frames) = if ahead { (2, 98) } else { (100, 0) };
    (h.limiter_frames, h.limiter_position) = (3, position);
    spec.record.matrix = true;
    spec
}

/// Frames delivered to hosts 1 and 2, and the outcome of host 0.
fn delivered(spec: &RunSpec) -> (u64, u64, HostOutcome) {
    let out = run(spec, &Options::default()).unwrap();
    (out.matrix[1] / 1500, out.matrix[2] / 1500, out.hosts[0].clone())
}

/// The link takes 833 frames in 1 ms. When the limiter acts, 20 frames of its flow are sent and 20 wait: behind the limiters they
/// leave unlimited; ahead of them one or two do.
#[test]
fn a_backlog_ahead_of_the_limiters_is_limited() {
    let behind = delivered(&crowd(false, LimiterPosition::AtSource));
    let ahead = delivered(&crowd(true, LimiterPosition::AtSource));
    assert!((36..=46).contains(&behind.0), "{}", behind.0);
    assert!((18..=26).contains(&ahead.0), "{}", ahead.0);
    // The other flow gets the rest of the link: what is held back blocks nobody, and is lost at its source.
    assert!(ahead.0 + ahead.1 > 820, "{} + {}", ahead.0, ahead.1);
    let h = &ahead.2;
    assert!((760..=820).contains(&h.source_discards), "{h:?}");
    assert!(h.generated - h.sent - h.source_discards <= 2 + 98 + 3 + 1, "{h:?}");
}

/// Both engines agree, wherever the limiters stand.
#[test]
fn the_engines_agree_with_a_backlog() {
    for (seed, position) in [LimiterPosition::AtSource, LimiterPosition::BelowQueue].into_iter().enumerate() {
        common::agreed(&crowd(true, position), seed as u64, &[(1, Visits::Adaptive), (3, Visits::Due)]);
    }
}
