//! Hosts with one source and little else, which the fast engine runs a window at a time: the oracle must agree on each frame,
//! with full FIFOs, XOFF at the very moments at which frames start or end, feedback, timers, messages and the run's end.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Built, Bytes, Class, CongestionPoint, Counter, Feedback, FlowId, FrameView, Limiter, NodeId, Plan,
    PointControl, PointId, Probe, ProbeTarget, Queue, QueueSite, Ramp, Rate, ReactionPoint, ReflectGate,
    Reflector, ReflectorControl, Scheme, Scope, SinkSite, Slot, SourceSite, Tag, Time,
};
use std::sync::Arc;

/// Tags are returned.
const RETURNS: u64 = 1 << 15;

/// Feedback now and then; limiters that count, tag, probe, hold back, and let go again.
#[derive(Debug, Clone)]
struct Nudge {
    dial: u64,
}

/// Marks, samples, and lowers tags to ever other rates.
#[derive(Debug)]
struct Point {
    stamps: bool,
}

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_with(if self.stamps { 0.2 } else { 0.02 });
        ctl.mark(Ramp::step(Bytes::from_kb(4)));
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        if self.stamps {
            let mbps = 300.0 + 12_000.0 * ctl.uniform();
            ctl.advertise(Rate::from_mbps(mbps));
        } else if queue.len > Bytes::from_kb(4) {
            ctl.notify(frame.flow, Feedback::Reflection);
        }
    }
}

#[derive(Debug)]
struct Reaction {
    dial: u64,
    n: u32,
}

impl Reaction {
    fn on(&self, bit: u64) -> bool {
        self.dial & bit > 0
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        let bytes = if self.on(1) { 1 } else { 12_000 + (limiter.uniform() * 3e4) as u64 };
        limiter.wake_after(Bytes::new(bytes));
        if self.on(2) {
            let rate = limiter.line_rate() * 0.4;
            let tag = if self.on(RETURNS) { Tag::RateDiscovery(rate) } else { Tag::Regulated(PointId(7)) };
            limiter.tag_frames_with(tag, if self.on(4) { 1.0 } else { 0.3 });
        }
        if self.on(8) {
            limiter.start_timer(Slot(0), Time::from_us(6));
        }
        if self.on(16) {
            limiter.engage();
        }
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        limiter.engage();
        if let Feedback::ReturnedRate { rate } = *feedback {
            let more = [0.5, 1.0, 2.5][self.n as usize % 3];
            limiter.set_rate((rate * more).min(limiter.line_rate()));
            let share = 0.1 + 0.9 * limiter.uniform();
            limiter.tag_frames(Tag::RateDiscovery(limiter.line_rate() * share));
        } else if self.n.is_multiple_of(2) {
            limiter.set_rate(limiter.rate() * 0.3);
        }
        self.n += 1;
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        limiter.count("bytes");
        limiter.set_rate((limiter.rate() * 2.0).min(limiter.line_rate()));
        limiter.wake_after(Bytes::new(9_000));
        if self.on(8) {
            limiter.start_timer(Slot(1), Time::from_ns(300));
        }
        // A limiter of a whole host has no path to probe.
        if self.on(32) && !self.on(512) {
            let class = if self.on(64) { Class::Data } else { Class::Control };
            limiter.send_probe(Probe::new(self.n, ProbeTarget::Destination, class));
        }
        if limiter.rate() == limiter.line_rate() {
            limiter.release_when_empty();
        }
        if self.on(128) {
            limiter.tag_frames(Tag::None);
        }
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        self.n += 1;
        if slot == Slot(0) {
            limiter.start_timer(slot, Time::from_ns(7_200));
        }
        if limiter.is_engaged() {
            limiter.set_rate((limiter.rate() * 1.5).min(limiter.line_rate()));
        } else if self.on(256) && self.n.is_multiple_of(5) {
            limiter.engage();
            limiter.set_rate(limiter.line_rate() * 0.5);
        }
    }
}

#[derive(Debug)]
struct Echo;

impl Reflector for Echo {
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        ctl.hear(match ctl.now().as_ps() % 5 {
            _ if frame.marked => ReflectGate::Always,
            0 | 1 => ReflectGate::Always,
            2 => ReflectGate::Unmarked(0.4),
            3 => ReflectGate::Marked,
            _ => ReflectGate::Tagged,
        });
        if ctl.received() % 2048 < 1024 {
            ctl.reply(Feedback::Cnp);
            ctl.ignore_for(Time::from_us(9));
        }
    }
    fn on_probe(&mut self, probe: &Probe, _: FlowId, ctl: &mut ReflectorControl<'_>) {
        let at = ctl.now();
        ctl.reply(Feedback::ProbeReply { probe: *probe, at, rx_rate: Rate::ZERO });
    }
}

impl Scheme for Nudge {
    fn name(&self) -> &str {
        "nudge"
    }
    fn plan(&self) -> Plan {
        let scope = |bit: u64| if self.dial & bit > 0 { Scope::Host } else { Scope::Flow };
        Plan {
            limiter_scope: scope(512),
            built: if self.dial & 1024 > 0 { Built::OnFeedback } else { Built::FirstFrame },
            reflect: match self.dial >> 13 {
                0 => ReflectGate::Never,
                1 => ReflectGate::Tagged,
                2 => ReflectGate::Unmarked(0.1),
                4.. => ReflectGate::ReturnTags("bytes"),
                _ if self.dial & 2048 > 0 => ReflectGate::Marked,
                _ => ReflectGate::Always,
            },
            reflector_scope: scope(4096),
            received: true,
            ..Plan::default()
        }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point { stamps: self.dial & RETURNS > 0 }))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { dial: self.dial, n: 0 }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Echo))
    }
    fn counters(&self) -> Vec<Counter> {
        vec![Counter::new("bytes", "")]
    }
}

/// Hosts at one switch. Half of the networks are in step: all slots, delays and rates equal, so that XOFF and XON come at the
/// moments at which frames start and end.
fn scenario(seed: u64) -> RunSpec {
    let mut r = Stream::new(seed, 1, Purpose::Test);
    let mut pick = |n: u64| r.below(n);
    let hosts = 2 + pick(6) as usize;
    let duration = Time::from_us(100 + pick(200)) + Time::from_ps(pick(3));
    let mut spec = common::single_switch(hosts, 0.5, pick(3) > 0, duration, seed);
    let in_step = pick(2) == 0;
    for h in &mut spec.hosts {
        h.fifo_frames = [1, 2, 5, 100][pick(4) as usize];
        h.limiter_frames = 1 + pick(4) as u32;
        h.limiter_position =
            if pick(4) == 0 { LimiterPosition::AtSource } else { LimiterPosition::BelowQueue };
        let s = &mut h.sources[0];
        s.arrivals = match pick(5) {
            0 => Arrivals::Bursts { load: 0.5, frames: 7 },
            n => Arrivals::Bernoulli { load: [0.03, 0.6, 0.95, 1.0][n as usize - 1] },
        };
        s.frame = Bytes::new(if in_step { 1500 } else { [64, 300, 1500, 9216][pick(4) as usize] });
        s.phase = if in_step { Phase::Aligned } else { Phase::Random };
        if pick(2) == 0 {
            s.destinations = Destinations::Among(vec![NodeId(0), NodeId(1)]);
        }
        if pick(4) == 0 {
            s.stop = duration.scale(0.7);
        }
    }
    // In step, delays are multiples of a frame's time, or of a message's.
    let frame = 1_200_000;
    for l in &mut spec.links {
        if in_step {
            l.delay = Time::from_ps([frame, frame - 51_200][pick(2) as usize]);
        } else {
            l.rate = Rate::from_gbps([1.0, 10.0, 10.0, 40.0][pick(4) as usize]);
            l.delay = Time::from_ns(50 + pick(20) * 60);
        }
    }
    let s = &mut spec.switches[0];
    if in_step {
        s.processing = Time::ZERO;
        spec.hosts.iter_mut().for_each(|h| h.processing = Time::ZERO);
    }
    if let Some(p) = &mut s.buffer.pause {
        s.buffer.share = Bytes::from_mb(3);
        (p.high, p.low) = (Bytes::from_kb(6 + pick(6)), Bytes::from_kb(3));
        p.transport = if pick(2) == 0 { PauseTransport::Wire } else { PauseTransport::Frame };
    }
    spec.control = if pick(3) == 0 { ControlTransport::InBand } else { ControlTransport::Priority };
    if pick(4) > 0 {
        common::with_scheme(&mut spec, Arc::new(Nudge { dial: pick(6 << 13) }));
    }
    if pick(3) == 0 {
        common::hotspot(&mut spec, Rate::from_gbps(1.0));
    }
    if pick(3) == 0 {
        spec.record = Record { bin: Time::from_us(9), latency: true, ..Record::default() };
        spec.record.rates = vec![(NodeId(0), NodeId(1))];
    }
    spec
}

/// A network in which all tags are returned and most rates obeyed, by hosts that do little else.
fn tagged(seed: u64) -> RunSpec {
    let mut spec = scenario(seed);
    let mut r = Stream::new(seed, 2, Purpose::Test);
    let mut pick = |n: u64| r.below(n);
    // Every frame or a share of them; limiters that hold frames back from the start; now and then timers and probes.
    let mut dial = 2 | 16 | [4, 4, 4, 0][pick(4) as usize];
    dial |= if pick(6) == 0 { 8 | 32 } else { 0 };
    dial |= if pick(8) == 0 { 1024 } else { 0 };
    dial |= if pick(8) == 0 { 4 << 13 } else { 5 << 13 };
    common::with_scheme(&mut spec, Arc::new(Nudge { dial }));
    spec.control = ControlTransport::Priority;
    for h in &mut spec.hosts {
        h.fifo_frames = h.fifo_frames.max(2);
        if pick(2) == 0 {
            h.sources[0].destinations = Destinations::Uniform;
        }
    }
    spec
}

#[test]
fn hosts_agree_with_the_oracle_frame_by_frame() {
    compare(1200, scenario);
}

#[test]
fn tags_that_are_returned_agree_with_the_oracle() {
    compare(2000, tagged);
}

/// An application FIFO ahead of the limiters of some hosts.
fn backlogged(seed: u64) -> RunSpec {
    let mut spec = scenario(seed);
    let hosts = spec.hosts.iter_mut().zip(0..);
    hosts.for_each(|(h, i)| h.backlog_frames = [0, 1, 3, 40][((seed + i) % 4) as usize]);
    spec
}

#[test]
fn backlogs_ahead_of_limiters_agree_with_the_oracle() {
    compare(400, backlogged);
}

fn compare(seeds: u64, scenario: fn(u64) -> RunSpec) {
    for seed in 0..seeds {
        let threads = if seed % 5 == 4 { 3 } else { 1 };
        let visits = [Visits::Adaptive, Visits::All, Visits::Due, Visits::Turns][seed as usize % 4];
        common::agreed(&scenario(seed), seed, &[(threads, visits)]);
    }
}
