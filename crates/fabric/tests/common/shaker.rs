//! The one random scheme. It controls nothing: each act of the seam is a bit, and whatever an object sees shows in its next act, so that
//! nothing seen at a wrong moment stays without consequence.
#![allow(dead_code, clippy::panic)]

use super::random::Draws;
use cnsim_scheme_api::network::Lent;
use cnsim_scheme_api::{
    Built, Bytes, Class, CongestionPoint, Counter, Feedback, FlowId, FrameView, Gauge, Limiter, Plan,
    PointControl, PointId, Probe, ProbeTarget, Queue, QueueSite, Ramp, RampAt, Rate, ReactionPoint,
    ReflectGate, Reflector, ReflectorControl, Scheme, Scope, SinkSite, Slot, SourceSite, Tag, Time,
};

/// Acts, by bit.
pub(crate) mod act {
    macro_rules! bits {
        ($($(#[$doc:meta])* $name:ident),* $(,)?) => { bits!(@ 0u32; $($(#[$doc])* $name,)*); };
        (@ $at:expr; $(#[$doc:meta])* $name:ident, $($rest:tt)*) => {
            $(#[$doc])* pub(crate) const $name: u64 = 1 << ($at);
            bits!(@ $at + 1; $($rest)*);
        };
        (@ $at:expr;) => { /// All acts.
            pub(crate) const ALL: u64 = (1 << ($at)) - 1; };
    }
    bits! {
        /// Points: probes wake two of three; a probe may end there.
        PROBED, ANSWERS,
        /// A ramp from the start, at arrival instead of departure; rates are stamped into tags.
        RAMP, ARRIVAL, STAMPS,
        /// They change ramp and stamp, and choose another gate.
        CHANGES, REARMS,
        /// They have timers, write into frames, speak to all. The last bit is no act: networks of known seeds stay as they are.
        TICKS, WRITES, BROADCASTS, SPARE,
        /// Limiters: built with a flow's first frame, one for a host, engaged from the start.
        FIRST, WHOLE, ENGAGED,
        /// Only some flows have one.
        SOME,
        /// They tag frames, all of them; count bytes; have timers, which do anything at all.
        TAGS, EVERY, COUNTS, TIMERS, RESTLESS,
        /// They send probes: among the data, to points.
        PROBES, AMONG, TO_POINTS,
        /// They obey more; they only note most messages for now.
        OBEY, NOTE,
        /// Reflectors: one for a host, with timers, that choose other frames, rest, answer each frame, and count bytes.
        FOR_HOST, ALARMS, HEARS, RESTS, REPLIES, RECEIVED,
        /// What fails panics.
        PANICS,
    }
}

/// What the objects of a run do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shaker {
    pub(crate) acts: u64,
    /// Which frames wake points: 0 some bytes after the last, then by chance, all, tagged ones.
    pub(crate) samples: u64,
    pub(crate) reflect: ReflectGate,
    /// Bytes between samples, probes and wakes.
    pub(crate) bytes: u64,
    pub(crate) ramp: Ramp,
    pub(crate) period: Time,
    /// How likely points, limiters and reflectors fail whenever they are woken.
    pub(crate) fails: [f64; 3],
    /// The first congestion point, and how many there are.
    pub(crate) points: (u32, u32),
}

impl Shaker {
    /// One that always does the first acts, never the second, and of the others half; one panics only by the first.
    pub(crate) fn drawn(draws: &mut Draws, must: u64, never: u64) -> Self {
        let low = draws.one(&[0, 500, 1500, 3000, 5000, 30_000]);
        let gates = [
            ReflectGate::Never,
            ReflectGate::Marked,
            ReflectGate::Unmarked(0.04),
            ReflectGate::Tagged,
            ReflectGate::Always,
        ];
        Self {
            acts: draws.below(act::ALL + 1) & !(never | act::PANICS) | must,
            samples: draws.below(5),
            reflect: draws.one(&gates),
            bytes: draws.one(&[100, 1500, 6000, 20_000, 30_000]),
            ramp: Ramp {
                low: Bytes::new(low),
                high: Bytes::new(low.max(1) * draws.one(&[1, 3, 40])),
                p_max: draws.one(&[0.0, 0.03, 0.3, 0.5, 1.0]),
                p_beyond: draws.one(&[0.0, 0.5, 1.0, 1.0]),
                at: RampAt::Departure,
            },
            period: Time::from_ps(draws.one(&[1_200_000, 4_864_000, 7_777_777, 30_000_000])),
            fails: [0.0; 3],
            points: (0, 1),
        }
    }
    fn on(&self, act: u64) -> bool {
        self.acts & act > 0
    }
    fn may(&self, act: u64, does: impl FnOnce()) {
        if self.on(act) {
            does();
        }
    }
    fn ramp(&self) -> Ramp {
        let at = if self.on(act::ARRIVAL) { RampAt::Arrival } else { RampAt::Departure };
        Ramp { at, ..self.ramp }
    }
}

/// May fail here.
macro_rules! doubt {
    ($shaker:expr, $who:expr, $ctl:expr, $what:expr) => {
        if $shaker.fails[$who] > 0.0 && $ctl.uniform() < $shaker.fails[$who] {
            assert!(!$shaker.on(act::PANICS), "{} at {}", $what, $ctl.now());
            $ctl.fail($what);
        }
    };
}

fn mixed(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24
}

#[derive(Debug)]
struct Point(Shaker, u32);

impl Point {
    fn arm(&self, how: u64, ctl: &mut PointControl<'_>) {
        match how {
            0 => {
                let more = self.0.bytes as f64 * ctl.uniform();
                ctl.sample_after(Bytes::new(self.0.bytes / 2 + more as u64));
            }
            1 => ctl.sample_with(0.1),
            2 => ctl.sample_tagged(),
            3 => ctl.sample_always(),
            _ => ctl.sample_never(),
        }
    }
    /// Draws differ where a point was woken more often, or in another order.
    fn change(&self, queue: &Queue, ctl: &mut PointControl<'_>) {
        let (s, u) = (&self.0, ctl.uniform());
        if s.on(act::CHANGES) && u < 0.2 {
            let at = if u < 0.1 { RampAt::Arrival } else { s.ramp().at };
            let low = Bytes::new(s.ramp.low.get() / 2 + queue.len.get() % 999);
            ctl.mark(Ramp { low, high: low * 4, p_max: 0.6, p_beyond: 1.0, at });
        }
        if s.on(act::STAMPS) && u > 0.8 {
            ctl.advertise(Rate::from_bps(1e9 + (queue.sent % 8191) as f64 * 1e6));
        }
    }
}

/// All that a point sees of its queue.
fn seen(queue: &Queue) -> [u64; 2] {
    let stopped = queue.paused_in_all.as_ps() ^ queue.paused.map_or(0, Time::as_ps);
    [queue.len.get() ^ queue.arrived << 20, queue.sent ^ stopped << 8]
}

impl CongestionPoint for Point {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        let s = self.0;
        if s.on(act::PROBED) && !self.1.is_multiple_of(3) {
            ctl.wake_at_probes();
        }
        self.arm(s.samples, ctl);
        s.may(act::TICKS, || ctl.start_timer(Slot(0), s.period + Time::from_ns(u64::from(self.1 % 5) * 10)));
        s.may(act::RAMP, || ctl.mark(s.ramp()));
        self.change(queue, ctl);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        let (s, u) = (self.0, ctl.uniform());
        doubt!(s, 0, ctl, "a sample");
        let [a, b] = seen(queue);
        let feedback = match u {
            ..0.3 => Feedback::User([a, b ^ u64::from(frame.marked) << 60]),
            _ => Feedback::Cnm { point: PointId(self.1), qntz_fb: (a % 64) as u8, q_off: 0, q_delta: 0 },
        };
        if u < 0.3 || queue.len > Bytes::from_kb(4) && u < 0.7 {
            ctl.notify(frame.flow, feedback);
        } else if s.on(act::BROADCASTS) && u > 0.95 {
            ctl.broadcast(feedback);
        }
        if s.on(act::WRITES) {
            frame.marked = !frame.marked;
            frame.tag = Tag::RateDiscovery(Rate::from_gbps(5.0));
        }
        ctl.count("woken");
        ctl.gauge("length", queue.len.get() as f64);
        self.change(queue, ctl);
        if s.samples == 0 || s.on(act::REARMS) && u < 0.2 {
            self.arm(if s.on(act::REARMS) { a / 64 % 4 } else { 0 }, ctl);
        }
    }
    fn on_probe(&mut self, probe: &mut Probe, _: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        let [a, b] = seen(queue);
        probe.fb = probe.fb.wrapping_mul(31) ^ (a ^ a >> 20 ^ b) as i32;
        if self.0.on(act::ANSWERS) && ctl.uniform() < 0.2 {
            ctl.answer();
        }
    }
    fn on_timer(&mut self, slot: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        doubt!(self.0, 0, ctl, "a timer of the point");
        ctl.start_timer(slot, self.0.period);
        if self.0.on(act::BROADCASTS) && ctl.uniform() < 0.3 {
            ctl.broadcast(Feedback::User(seen(queue)));
            ctl.gauge("stopped", queue.paused.map_or(-1.0, |t| t.as_secs_f64()));
        }
        self.change(queue, ctl);
        self.0.may(act::REARMS, || self.arm(queue.arrived / 64 % 5, ctl));
    }
}

/// Number of the last probe, and a hash of all that it was told.
#[derive(Debug)]
struct Reaction(Shaker, u32, u64);

impl Reaction {
    /// A limiter of a whole host has no path to probe.
    fn probe(&mut self, limiter: &mut Limiter<'_>) {
        let (s, u) = (self.0, limiter.uniform());
        if !s.on(act::PROBES) || s.on(act::WHOLE) {
            return;
        }
        let point = PointId(s.points.0 + (u * 1e6) as u32 % s.points.1);
        let target = if s.on(act::TO_POINTS) && u < 0.2 {
            ProbeTarget::Point(point)
        } else {
            ProbeTarget::Destination
        };
        let class = if s.on(act::AMONG) && u < 0.8 { Class::Data } else { Class::Control };
        self.1 += 1;
        limiter.send_probe(Probe::new(self.1, target, class));
        if u > 0.9 {
            limiter.send_probe(Probe::new(!self.1, ProbeTarget::Destination, class));
        }
    }
    fn share(&self) -> f64 {
        0.05 + 0.95 * (self.2 % 1024) as f64 / 1024.0
    }
}

fn faster(limiter: &mut Limiter<'_>, factor: f64) {
    limiter.set_rate((limiter.rate() * factor).min(limiter.line_rate()));
}

impl ReactionPoint for Reaction {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        let (s, line) = (self.0, limiter.line_rate());
        s.may(act::COUNTS, || limiter.wake_after(Bytes::new(1 + s.bytes)));
        s.may(act::TIMERS, || limiter.start_timer(Slot(0), Time::from_us(6)));
        if s.on(act::TAGS) {
            let rates = s.on(act::STAMPS) || matches!(s.reflect, ReflectGate::ReturnTags(_));
            let tag = if rates { Tag::RateDiscovery(line * 0.4) } else { Tag::Regulated(PointId(7)) };
            limiter.tag_frames_with(tag, if s.on(act::EVERY) { 1.0 } else { 0.3 });
        }
        s.may(act::ENGAGED, || limiter.engage());
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        let (s, line) = (self.0, limiter.line_rate());
        doubt!(s, 1, limiter, "feedback");
        limiter.count("told");
        self.2 = match *feedback {
            Feedback::User([a, b]) => mixed(self.2 ^ a, b),
            Feedback::ProbeReply { probe, at, rx_rate } => {
                let seen = probe.fb as u64 ^ probe.sent_bytes << 24 ^ probe.sent_at.as_ps();
                mixed(self.2 ^ at.as_ps(), seen ^ rx_rate.bps() as u64)
            }
            Feedback::Cnm { qntz_fb, .. } => mixed(self.2, qntz_fb.into()),
            _ => mixed(self.2, 1),
        };
        if s.on(act::NOTE) && !self.2.is_multiple_of(4) {
            return;
        }
        limiter.engage();
        if let Feedback::ReturnedRate { rate } = *feedback {
            limiter.set_rate((rate * [0.5, 1.0, 2.5][self.2 as usize % 3]).min(line));
            limiter.tag_frames(Tag::RateDiscovery(line * self.share()));
        } else if self.2.is_multiple_of(if s.on(act::OBEY) { 2 } else { 9 }) {
            limiter.set_rate((line * self.share()).min(line));
        } else if self.2.is_multiple_of(5) {
            limiter.set_rate(line);
            limiter.release_when_empty();
        } else {
            limiter.set_rate((limiter.rate() * 0.7).max(Rate::from_mbps(50.0)).min(line));
            limiter.start_timer(Slot(1), Time::from_us(if s.on(act::OBEY) { 9 } else { 40 }));
        }
        if s.on(act::TAGS) && self.2 % 8 == 3 {
            limiter.tag_frames(if self.2.is_multiple_of(3) { Tag::User(7) } else { Tag::None });
        }
        if self.2.is_multiple_of(3) {
            self.probe(limiter);
        }
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        let s = self.0;
        doubt!(s, 1, limiter, "bytes");
        faster(limiter, if s.on(act::RESTLESS) { 0.5 } else { 1.6 });
        let more = s.bytes as f64 * limiter.uniform();
        limiter.wake_after(Bytes::new(1 + s.bytes + more as u64));
        limiter.gauge("up", limiter.rate().gbps());
        s.may(act::TIMERS, || limiter.start_timer(Slot(2), Time::from_ns(300)));
        self.probe(limiter);
        if limiter.rate() == limiter.line_rate() {
            limiter.release_when_empty();
        }
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        let (s, line, u) = (self.0, limiter.line_rate(), limiter.uniform());
        doubt!(s, 1, limiter, "a timer of the limiter");
        match (u * 8.0) as u64 {
            _ if !s.on(act::RESTLESS) => faster(limiter, 1.3),
            0 => limiter.release_when_empty(),
            1 => limiter.set_rate(line),
            2 => limiter.set_rate(Rate::ZERO),
            n => {
                limiter.engage();
                limiter.set_rate(line * (n as f64 * 0.12));
            }
        }
        if slot == Slot(0) || s.on(act::RESTLESS) {
            limiter.start_timer(slot, Time::from_ns(800 + (u * 9000.0) as u64));
            self.probe(limiter);
        } else if limiter.rate() < line {
            limiter.start_timer(slot, Time::from_us(20));
        }
    }
}

#[derive(Debug)]
struct Echo(Shaker);

impl Echo {
    fn received(&self, ctl: &mut ReflectorControl<'_>) -> u64 {
        if self.0.on(act::RECEIVED) { ctl.received() } else { 0 }
    }
}

impl Reflector for Echo {
    fn start(&mut self, ctl: &mut ReflectorControl<'_>) {
        self.0.may(act::ALARMS, || ctl.start_timer(Slot(3), Time::from_us(5)));
    }
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        let (s, u) = (self.0, ctl.uniform());
        doubt!(s, 2, ctl, "a frame");
        ctl.count("frames");
        ctl.gauge("heard", frame.len.as_f64());
        if s.on(act::ALARMS) {
            let soon = [0.0, 0.2, 1.2, 7.0][(u * 4.0) as usize];
            ctl.start_timer(Slot((u * 32.0) as u8 % 3), Time::from_us(1).scale(soon));
            if u > 0.9 {
                ctl.stop_timer(Slot(1));
            }
        }
        if s.on(act::REPLIES) || u < 0.5 {
            let received = self.received(ctl);
            ctl.reply(match (frame.tag, frame.marked) {
                (Tag::RateDiscovery(rate), _) => Feedback::ReturnedRate { rate },
                (Tag::None, true) => Feedback::Cnp,
                (Tag::None, false) => Feedback::Reflection,
                (_, marked) => Feedback::User([received, u64::from(marked)]),
            });
        }
        s.may(act::RESTS, || ctl.ignore_for(Time::from_us([2, 9, 20][(u * 96.0) as usize % 3])));
        if s.on(act::HEARS) {
            ctl.hear(match (u * 1024.0) as u64 % 10 {
                _ if frame.marked => ReflectGate::Always,
                0 => ReflectGate::Tagged,
                1 => ReflectGate::Unmarked(0.4),
                2 => ReflectGate::Marked,
                3 if s.on(act::ALARMS) => ReflectGate::Never,
                4 => s.reflect,
                _ => ReflectGate::Always,
            });
        }
    }
    fn on_probe(&mut self, probe: &Probe, _: FlowId, ctl: &mut ReflectorControl<'_>) {
        let (at, rx_rate) = (ctl.now(), Rate::from_bps(self.received(ctl) as f64));
        if ctl.uniform() < 0.9 {
            ctl.reply(Feedback::ProbeReply { probe: *probe, at, rx_rate });
        }
        self.0.may(act::ALARMS, || ctl.start_timer(Slot(0), Time::from_us(2)));
        self.0.may(act::HEARS, || ctl.ignore_for(Time::from_us(4)));
    }
    fn on_timer(&mut self, slot: Slot, ctl: &mut ReflectorControl<'_>) {
        let (s, received) = (self.0, self.received(ctl));
        // The reflector of a host has nobody to answer.
        if !s.on(act::FOR_HOST) {
            ctl.reply(Feedback::User([received, u64::from(slot.0)]));
        }
        if s.on(act::HEARS) && !matches!(s.reflect, ReflectGate::Never | ReflectGate::ReturnTags(_)) {
            ctl.ignore_for(Time::from_us(4));
            ctl.hear(if received % 3 == 1 { ReflectGate::Marked } else { ReflectGate::Always });
        }
        if slot == Slot(3) {
            ctl.start_timer(Slot(3), Time::from_us(10));
        }
    }
}

impl Scheme for Shaker {
    fn name(&self) -> &str {
        "shaker"
    }
    fn plan(&self) -> Plan {
        let scope = |act| if self.on(act) { Scope::Host } else { Scope::Pair };
        Plan {
            limiter_scope: scope(act::WHOLE),
            built: if self.on(act::FIRST) { Built::FirstFrame } else { Built::OnFeedback },
            reflect: self.reflect,
            reflector_scope: scope(act::FOR_HOST),
            received: self.on(act::RECEIVED),
            ..Plan::default()
        }
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        Some(Box::new(Point(*self, site.point.0)))
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        (!self.on(act::SOME) || !site.dst.0.is_multiple_of(3))
            .then(|| -> Box<dyn ReactionPoint> { Box::new(Reaction(*self, 0, 0)) })
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(Echo(*self)))
    }
    fn counters(&self) -> Vec<Counter> {
        ["woken", "told", "frames", "returned"].map(|n| Counter::new(n, "")).into()
    }
    fn gauges(&self) -> Vec<Gauge> {
        ["length", "stopped", "up", "heard"].map(|n| Gauge::new(n, "")).into()
    }
}
