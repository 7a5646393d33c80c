//! Networks in which control is as frequent as data: answers to every frame, broadcasts, probes, own messages, timers that
//! look at queues and change stamps and ramps. The fast engine puts control into its queues before its time and drains two
//! queues at strict priority; the oracle must agree on all of it, ties and full queues included.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Built, Bytes, Class, CongestionPoint, Feedback, FlowId, FrameView, Limiter, NodeId, Plan, PointControl,
    Probe, ProbeTarget, Queue, QueueSite, Ramp, RampAt, Rate, ReactionPoint, ReflectGate, Reflector,
    ReflectorControl, Scheme, Scope, SinkSite, Slot, SourceSite, Tag, Time,
};
use std::sync::{Arc, Mutex};

/// Talks all the time. What is said depends on what was seen, and what is done on what was said, so that nothing seen at a
/// wrong moment stays without consequence.
#[derive(Debug, Clone, Copy)]
struct Chatter {
    dial: u64,
}

impl Chatter {
    fn on(self, bit: u32) -> bool {
        self.dial >> bit & 1 > 0
    }
    /// Between two expiries of a port's timer: often the time of a frame of 1500 or 64 bytes at 10 Gb/s, for ties.
    fn interval(self) -> Time {
        Time::from_ps([1_200_000, 2_400_000, 4_864_000, 7_777_777][(self.dial & 3) as usize])
    }
}

fn rate_of(seen: u64) -> Rate {
    Rate::from_mbps((500 + seen % 9_501) as f64)
}

#[derive(Debug)]
struct Point(Chatter);

impl CongestionPoint for Point {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.wake_at_probes();
        if self.0.on(2) {
            ctl.start_timer(Slot(0), self.0.interval());
        }
        if self.0.on(3) {
            ctl.advertise(Rate::from_gbps(9.0));
        }
        if self.0.on(4) {
            ctl.sample_after(Bytes::from_kb(9));
        }
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::from_kb(9));
        ctl.notify(frame.flow, Feedback::User([queue.arrived, queue.len.get()]));
    }
    fn on_probe(&mut self, probe: &mut Probe, _: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        probe.fb = probe.fb.wrapping_add((queue.arrived ^ queue.sent) as i32);
        if self.0.on(5) && queue.sent.is_multiple_of(3) {
            ctl.answer();
        }
    }
    fn on_timer(&mut self, slot: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        ctl.start_timer(slot, self.0.interval());
        let seen = queue.arrived.wrapping_mul(31) ^ queue.sent ^ queue.len.get() << 20;
        if self.0.on(6) {
            ctl.broadcast(Feedback::User([seen, queue.sent]));
        }
        if self.0.on(3) && seen.is_multiple_of(3) {
            ctl.advertise(rate_of(seen));
        }
        if self.0.on(7) && seen.is_multiple_of(4) {
            let low = Bytes::new(seen % 6_000);
            ctl.mark(Ramp { low, high: Bytes::from_kb(9), p_max: 0.6, p_beyond: 1.0, at: RampAt::Departure });
        }
    }
}

#[derive(Debug)]
struct Reaction {
    chatter: Chatter,
    n: u32,
    /// What was only noted: it shows in the next rate.
    noted: u64,
}

impl Reaction {
    /// Nothing follows from most messages for now.
    fn only_notes(&mut self, feedback: &Feedback) -> bool {
        match *feedback {
            Feedback::User([a, b]) if self.chatter.on(14) && !a.is_multiple_of(4) => {
                self.noted = self.noted.rotate_left(7) ^ b;
                true
            }
            _ => false,
        }
    }
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.tag_frames_with(
            Tag::RateDiscovery(limiter.line_rate()),
            if self.chatter.on(8) { 1.0 } else { 0.5 },
        );
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        if self.only_notes(feedback) {
            return;
        }
        let rate = match *feedback {
            Feedback::User([a, b]) => rate_of(a ^ b ^ self.noted),
            Feedback::ReturnedRate { rate } => rate.max(Rate::from_mbps(500.0)),
            Feedback::ProbeReply { probe, .. } => rate_of(u64::from(probe.fb.unsigned_abs())),
            _ => limiter.rate(),
        };
        limiter.set_rate(rate.min(limiter.line_rate()));
        self.n += 1;
        // A limiter of a whole host has no path to probe.
        if self.chatter.on(9) && !self.chatter.on(11) && self.n.is_multiple_of(5) {
            let class = if self.chatter.on(10) { Class::Data } else { Class::Control };
            limiter.send_probe(Probe::new(self.n, ProbeTarget::Destination, class));
        }
    }
}

#[derive(Debug)]
struct Return;

impl Reflector for Return {
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        ctl.reply(match frame.tag {
            Tag::RateDiscovery(rate) => Feedback::ReturnedRate { rate },
            _ => Feedback::User([u64::from(frame.marked), 7]),
        });
    }
    fn on_probe(&mut self, probe: &Probe, _: FlowId, ctl: &mut ReflectorControl<'_>) {
        let at = ctl.now();
        ctl.reply(Feedback::ProbeReply { probe: *probe, at, rx_rate: Rate::ZERO });
    }
}

impl Scheme for Chatter {
    fn name(&self) -> &str {
        "chatter"
    }
    fn plan(&self) -> Plan {
        Plan {
            limiter_scope: if self.on(11) { Scope::Host } else { Scope::Flow },
            built: Built::FirstFrame,
            reflect: if self.on(12) { ReflectGate::Always } else { ReflectGate::Tagged },
            reflector_scope: Scope::Flow,
            ..Plan::default()
        }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        self.on(13).then(|| -> Box<dyn CongestionPoint> { Box::new(Point(*self)) })
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Reaction { chatter: *self, n: 0, noted: 0 }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Return))
    }
}

/// A chain or star of switches with parallel links, calm for the most part; equal links and phases in half of them.
fn scenario(seed: u64) -> RunSpec {
    let mut r = Stream::new(seed, 0, Purpose::Test);
    let mut pick = |n: u64| r.below(n);
    let (switches, per) = (1 + pick(4) as usize, 2 + pick(3) as usize);
    let hosts = switches * per;
    let (equal, duration) = (pick(2) == 0, Time::from_us(100 + pick(100)));
    let mut spec = common::single_switch(2, 0.5, false, duration, seed);
    spec.hosts = (0..hosts)
        .map(|i| {
            let mut source = common::bernoulli(0.1 + 0.1 * pick(8) as f64);
            source.frame = Bytes::new([64, 300, 1500, 1500, 1500, 9216][pick(6) as usize]);
            source.phase = if equal { Phase::Aligned } else { Phase::Random };
            let mut host = common::host(i, vec![source]);
            host.limiter_position =
                if pick(2) == 0 { LimiterPosition::AtSource } else { LimiterPosition::BelowQueue };
            host
        })
        .collect();
    let (paused, tight) = (pick(3) == 0, pick(4) == 0);
    let switch = |i: usize| SwitchSpec {
        name: format!("S{i}"),
        ports: (hosts + 3 * switches) as u16,
        processing: Time::from_us(1),
        buffer: BufferSpec {
            organisation: Organisation::Crosspoint,
            share: Bytes::from_kb(if paused {
                3000
            } else if tight {
                30
            } else {
                1000
            }),
            output_limit: None,
            pause: paused.then(|| PauseSpec {
                high: Bytes::from_kb(20),
                low: Bytes::from_kb(10),
                global: false,
                pool: false,
                transport: PauseTransport::Frame,
            }),
        },
        scheme: None,
    };
    spec.switches = (0..switches).map(switch).collect();
    let mut used = vec![0u16; switches];
    let rates = [10.0, 10.0, 1.0, 40.0, 100.0, 400.0];
    let (mut links, mut join) = (Vec::new(), |links: &mut Vec<LinkSpec>, a: (NodeId, u16), s: usize| {
        let b = (NodeId((hosts + s) as u32), used[s]);
        used[s] += 1;
        let (k, d) = (pick(6) as usize, pick(9));
        let rate = Rate::from_gbps(if equal { 10.0 } else { rates[k] });
        let delay = Time::from_ns(if equal { 500 } else { 100 + 170 * d });
        links.push(LinkSpec { a, b, rate, delay });
    });
    for h in 0..hosts {
        join(&mut links, (NodeId(h as u32), 0), h % switches);
    }
    for s in 1..switches {
        for way in 0..1 + seed as usize % 2 {
            let from = (NodeId((hosts + s) as u32), (hosts + 2 * way + 1) as u16);
            join(&mut links, from, (s - 1) * (seed as usize / 2 % 2));
        }
    }
    spec.links = links;
    spec.routing =
        [Routing::FrameHash, Routing::FlowHash, Routing::Destination, Routing::RoundRobin][pick(4) as usize];
    if pick(8) == 0 {
        spec.control = ControlTransport::InBand;
    }
    if pick(3) == 0 {
        let (node, port) = (NodeId(hosts as u32), 0);
        let slow = Rate::from_gbps([0.0, 2.0][pick(2) as usize]);
        spec.changes = vec![
            RateChange { at: duration.scale(0.3), node, port, rate: slow },
            RateChange { at: duration.scale(0.5), node, port, rate: Rate::from_gbps(10.0) },
        ];
    }
    common::with_scheme(
        &mut spec,
        Arc::new(Chatter { dial: pick(1 << 14) | (pick(2) << 13) | (seed / 3 % 2) << 14 }),
    );
    spec.record.bin = Time::from_us(3);
    spec.record.queues = vec![(NodeId(hosts as u32), 0)];
    spec
}

/// One to four threads, by the seed, must agree with the oracle: its outcome.
fn agreed(spec: &RunSpec, seed: u64) -> Outcome {
    let ways: Vec<(usize, Visits)> = (1..=1 + seed as usize % 4)
        .flat_map(|threads| [Visits::Adaptive, Visits::Turns].map(|visits| (threads, visits)))
        .collect();
    common::agreed(spec, seed, &ways)
}

#[test]
fn control_as_frequent_as_data_agrees_with_the_oracle() {
    let (mut control, mut all) = (0, 0);
    for seed in 0..240 {
        let o = agreed(&scenario(seed), seed);
        (control, all) = (control + o.control_hops, all + o.packet_hops);
    }
    // As many as data, nearly: 48.9 of 100 hops. The bound was half while networks whose memory is too small for PAUSE broke a law and
    // were left out; all 240 count now.
    assert!(control * 100 > all * 48, "{control} of {all} hops are control");
}

/// Feedback without frames: by itself, with feedback that is lost or takes effect later, at the least time that is possible.
#[test]
fn ideal_feedback_agrees_with_the_oracle() {
    let (mut messages, mut lost) = (0, 0);
    for seed in 0..120 {
        let mut spec = scenario(seed);
        // Of a link, with the processing at its end.
        let least = spec.links.iter().map(|l| l.delay).min().unwrap() + Time::from_us(1);
        let latency = [least * 2, Time::from_us(4), Time::from_ns(17_333)][seed as usize % 3].max(least * 2);
        spec.control = ControlTransport::Ideal { latency };
        for (i, h) in spec.hosts.iter_mut().enumerate() {
            h.faults.feedback_lost = [0, 0, 3][(i + seed as usize) % 3];
            h.feedback_delay = Time::from_ns([0, 0, 0, 2_100][(i + seed as usize / 3) % 4]);
        }
        let o = agreed(&spec, seed);
        (messages, lost) = (messages + o.control_messages, lost + o.feedback_lost);
        spec.control = ControlTransport::Ideal { latency: least * 2 - Time::from_ps(1) };
        let refused = run(&spec, &Options::default());
        assert!(matches!(&refused, Err(RunError::Spec(why)) if why.contains("at least")), "{refused:?}");
    }
    assert!(messages > 10_000 && lost > 1000, "{messages} messages, {lost} lost");
}

/// Tells when feedback is made and when it takes effect.
#[derive(Debug, Default)]
struct Clock {
    made: Mutex<Vec<Time>>,
    heard: Mutex<Vec<Time>>,
}

#[derive(Debug)]
struct Clocked(Arc<Clock>);

impl CongestionPoint for Clocked {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::from_kb(150));
    }
    fn on_sample(&mut self, frame: &mut FrameView, _: &Queue, ctl: &mut PointControl<'_>) {
        ctl.sample_after(Bytes::from_kb(150));
        ctl.notify(frame.flow, Feedback::User([0, 0]));
        self.0.made.lock().unwrap().push(ctl.now());
    }
}

impl ReactionPoint for Clocked {
    fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
        self.0.heard.lock().unwrap().push(limiter.now());
    }
}

impl Scheme for Clocked {
    fn name(&self) -> &str {
        "clocked"
    }
    fn plan(&self) -> Plan {
        Plan { built: Built::FirstFrame, ..Plan::default() }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Self(self.0.clone())))
    }
    fn reaction_point(&self, _: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        Some(Box::new(Self(self.0.clone())))
    }
}

/// Each message takes effect the bridge's processing, the latency and the host's delay after its sample, and no link carries it.
#[test]
fn ideal_feedback_takes_its_time_and_no_link() {
    let clock = Arc::new(Clock::default());
    let mut spec = common::single_switch(6, 0.6, false, Time::from_ms(3), 5);
    common::with_scheme(&mut spec, Arc::new(Clocked(clock.clone())));
    spec.control = ControlTransport::Ideal { latency: Time::from_us(30) };
    spec.hosts.iter_mut().for_each(|h| h.feedback_delay = Time::from_us(7));
    let o = run(&spec, &Options::default()).unwrap();
    let taken = |list: &Mutex<Vec<Time>>| {
        let mut times = list.lock().unwrap().clone();
        times.sort_unstable();
        times
    };
    let (made, heard) = (taken(&clock.made), taken(&clock.heard));
    let delay = Time::from_us(1 + 30 + 7);
    let due: Vec<Time> = made.iter().map(|&t| t + delay).filter(|&t| t < spec.duration).collect();
    assert_eq!(heard, due);
    assert!(made.len() > 50 && o.control_messages == made.len() as u64, "{}", made.len());
    assert_eq!(o.control_hops, 0);
}
