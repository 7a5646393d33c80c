//! A scheme of three functions, and a network of three hosts in which to see what its verbs do.
#![allow(dead_code, clippy::unwrap_used)]

use super::{bernoulli, single_switch, with_scheme};
use cnsim_fabric::*;
use cnsim_scheme_api::{
    Ack, Acknowledger, Built, CongestionPoint, Counter, Feedback, FlowId, FrameView, Gauge, Limiter, Loss,
    NodeId, Plan, PointControl, Probe, Queue, QueueSite, ReactionPoint, ReflectGate, Reflector,
    ReflectorControl, Scheme, SinkSite, Slot, SourceSite, Time,
};
use std::sync::{Arc, Mutex};

/// Host 2 receives, through port 2 of the switch. The ports of the switch, as points, follow those of the hosts, one each.
pub(crate) const TO: u32 = 2;
pub(crate) const PORT: u16 = 2;
const HOSTS: u32 = 3;
pub(crate) const FLOW: FlowId = FlowId(TO);
pub(crate) const SAYS: Feedback = Feedback::User([4, 2]);

/// What the rooms said, with the time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<(Time, String)>>>);

impl Notes {
    pub(crate) fn say(&self, now: Time, what: impl Into<String>) {
        self.0.lock().unwrap().push((now, what.into()));
    }
    /// In the order of time, whatever the threads did.
    pub(crate) fn take(&self) -> Vec<(Time, String)> {
        let mut notes = std::mem::take(&mut *self.0.lock().unwrap());
        notes.sort();
        notes
    }
}

/// What wakes a congestion point.
pub(crate) enum AtPoint<'a> {
    Start,
    Sample(&'a mut FrameView),
    Probe(&'a mut Probe),
    Departure(&'a mut FrameView),
    Timer(Slot),
}

/// What wakes a reaction point.
pub(crate) enum AtSource<'a> {
    Start,
    Ack(&'a Ack<'a>),
    Loss(Loss),
    Recovered,
    Restart(Time, Time),
    Feedback(&'a Feedback),
    Bytes,
    Timer(Slot),
}

/// What wakes a reflector.
pub(crate) enum AtSink<'a> {
    Start,
    Frame(&'a FrameView),
    Probe(&'a Probe),
    Timer(Slot),
}

pub(crate) type PointFn = dyn Fn(AtPoint<'_>, &Queue, &mut PointControl<'_>, &Notes) + Send + Sync;
pub(crate) type SourceFn = dyn Fn(AtSource<'_>, &mut Limiter<'_>, &Notes) + Send + Sync;
pub(crate) type SiteFn = dyn Fn(&SourceSite) -> bool + Send + Sync;
pub(crate) type SinkFn = dyn Fn(AtSink<'_>, &mut ReflectorControl<'_>, &Notes) + Send + Sync;

/// A scheme of at most three functions.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) plan: Plan,
    pub(crate) engages: fn(&Feedback) -> bool,
    /// Its points are at all ports, of any network; else at [`PORT`] of [`network`], whose sites are noted.
    pub(crate) everywhere: bool,
    /// It says that its objects behave alike whenever they begin.
    pub(crate) repeats: bool,
    /// Flows that have a reaction point.
    pub(crate) flows: Option<Arc<SiteFn>>,
    /// What of the scheme itself panics.
    pub(crate) panics: &'static str,
    pub(crate) point: Option<Arc<PointFn>>,
    pub(crate) source: Option<Arc<SourceFn>>,
    pub(crate) sink: Option<Arc<SinkFn>>,
    pub(crate) notes: Notes,
}

/// A scheme without rooms, whose reaction points are built with the first frame.
pub(crate) fn script() -> Script {
    let plan = Plan { built: Built::FirstFrame, ..Plan::default() };
    let (point, source, sink, notes) = (None, None, None, Notes::default());
    let (engages, flows): (fn(&Feedback) -> bool, _) = (|_| true, None);
    Script { plan, engages, everywhere: false, repeats: false, flows, panics: "", point, source, sink, notes }
}

impl Script {
    pub(crate) fn plan(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(&mut self.plan);
        self
    }
    /// Frames that this gate selects wake reflectors.
    pub(crate) fn gate(self, gate: ReflectGate) -> Self {
        self.plan(|p| p.reflect = gate)
    }
    /// Points at all ports, of any network.
    pub(crate) fn everywhere(mut self) -> Self {
        self.everywhere = true;
        self
    }
    /// Only such flows have reaction points.
    pub(crate) fn flows(mut self, f: impl Fn(&SourceSite) -> bool + Send + Sync + 'static) -> Self {
        self.flows = Some(Arc::new(f));
        self
    }
    fn may(&self, what: &str) {
        assert!(self.panics != what, "no {what}");
    }
    pub(crate) fn point(
        self,
        f: impl Fn(AtPoint<'_>, &Queue, &mut PointControl<'_>, &Notes) + Send + Sync + 'static,
    ) -> Self {
        Self { point: Some(Arc::new(f)), ..self }
    }
    pub(crate) fn source(
        self,
        f: impl Fn(AtSource<'_>, &mut Limiter<'_>, &Notes) + Send + Sync + 'static,
    ) -> Self {
        Self { source: Some(Arc::new(f)), ..self }
    }
    pub(crate) fn sink(
        self,
        f: impl Fn(AtSink<'_>, &mut ReflectorControl<'_>, &Notes) + Send + Sync + 'static,
    ) -> Self {
        Self { sink: Some(Arc::new(f)), ..self }
    }
    /// Does this at each frame that wakes a reflector.
    pub(crate) fn on_frame(
        self,
        f: impl Fn(&FrameView, &mut ReflectorControl<'_>, &Notes) + Send + Sync + 'static,
    ) -> Self {
        self.sink(move |at, ctl, notes| {
            if let AtSink::Frame(frame) = at {
                f(frame, ctl, notes);
            }
        })
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

impl Scheme for Script {
    fn name(&self) -> &str {
        "script"
    }
    fn repeats(&self) -> bool {
        self.repeats
    }
    fn plan(&self) -> Plan {
        self.may("plan");
        self.plan
    }
    fn congestion_point(&self, site: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        self.may("point");
        let port = site.point.0.wrapping_sub(HOSTS);
        if site.attached && port < HOSTS {
            self.notes.say(Time::ZERO, format!("{site:?}"));
        }
        let mine = self.everywhere || port == u32::from(PORT);
        (mine && self.point.is_some()).then(|| -> Box<dyn CongestionPoint> { Box::new(self.clone()) })
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        self.notes.say(Time::ZERO, format!("{site:?}"));
        self.may("source");
        let mine = self.flows.as_ref().is_none_or(|of| of(site));
        (mine && self.source.is_some()).then(|| -> Box<dyn ReactionPoint> { Box::new(self.clone()) })
    }
    fn reflector(&self, site: &SinkSite) -> Option<Box<dyn Reflector>> {
        self.notes.say(Time::ZERO, format!("{site:?}"));
        self.may("sink");
        match (&self.sink, self.plan.received) {
            (Some(_), _) => Some(Box::new(self.clone())),
            (None, true) => Some(Box::new(Acknowledger)),
            (None, false) => None,
        }
    }
    fn engages(&self, feedback: &Feedback) -> bool {
        (self.engages)(feedback)
    }
    fn counters(&self) -> Vec<Counter> {
        self.may("counters");
        ["second", "first"].map(|n| Counter::new(n, "what is counted")).into()
    }
    fn gauges(&self) -> Vec<Gauge> {
        ["shown", "other"].map(|n| Gauge::new(n, "B")).into()
    }
}

/// Each notes that it was woken, as what else it does follows; points of any network are silent.
impl Script {
    fn at_point(&self, at: AtPoint<'_>, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.note(ctl.now(), || match &at {
            AtPoint::Start => "point starts".into(),
            AtPoint::Sample(f) => format!("sample {} {:?}", f.dropped, f.tag),
            AtPoint::Probe(_) => format!("probe {}", queue.len.get()),
            AtPoint::Departure(f) => format!("leaves {}", f.src.0),
            AtPoint::Timer(slot) => format!("point timer {}", slot.0),
        });
        if let Some(f) = &self.point {
            f(at, queue, ctl, &self.notes);
        }
    }
    fn at_source(&self, at: AtSource<'_>, limiter: &mut Limiter<'_>) {
        self.note(limiter.now(), || match &at {
            AtSource::Start => "source starts".into(),
            AtSource::Ack(ack) => format!("ack {} {} {}", ack.rtt.as_ps(), ack.acked.get(), ack.marked),
            AtSource::Feedback(Feedback::User([a, b])) => format!("told {a} {b}"),
            AtSource::Feedback(f) => format!("told {f:?}"),
            AtSource::Loss(loss) => format!("loss {loss:?} {}", limiter.next_seq().get()),
            AtSource::Restart(idle, timeout) => format!("restart {} {}", idle.as_ps(), timeout.as_ps()),
            AtSource::Recovered => format!("recovered {}", limiter.acked().get()),
            AtSource::Bytes => format!("bytes {}", limiter.sent()),
            AtSource::Timer(slot) => format!("source timer {}", slot.0),
        });
        if let Some(f) = &self.source {
            f(at, limiter, &self.notes);
        }
    }
    fn at_sink(&self, at: AtSink<'_>, ctl: &mut ReflectorControl<'_>) {
        self.note(ctl.now(), || match &at {
            AtSink::Start => "sink starts".into(),
            AtSink::Frame(f) => format!("frame {} {:?}", f.marked, f.tag),
            AtSink::Probe(p) => format!("arrives {} {} {}", p.fb, p.sent_bytes, p.sent_at),
            AtSink::Timer(slot) => format!("sink timer {}", slot.0),
        });
        if let Some(f) = &self.sink {
            f(at, ctl, &self.notes);
        }
    }
    fn note(&self, now: Time, what: impl FnOnce() -> String) {
        if !self.everywhere {
            self.notes.say(now, what());
        }
    }
}

impl CongestionPoint for Script {
    fn start(&mut self, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.at_point(AtPoint::Start, queue, ctl);
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.at_point(AtPoint::Sample(frame), queue, ctl);
    }
    fn on_probe(&mut self, probe: &mut Probe, flow: FlowId, queue: &Queue, ctl: &mut PointControl<'_>) {
        assert!(self.everywhere || flow == FLOW);
        self.at_point(AtPoint::Probe(probe), queue, ctl);
    }
    fn on_departure(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.at_point(AtPoint::Departure(frame), queue, ctl);
    }
    fn on_timer(&mut self, slot: Slot, queue: &Queue, ctl: &mut PointControl<'_>) {
        self.at_point(AtPoint::Timer(slot), queue, ctl);
    }
}

impl ReactionPoint for Script {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Start, limiter);
    }
    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Ack(ack), limiter);
    }
    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Loss(loss), limiter);
    }
    fn on_recovered(&mut self, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Recovered, limiter);
    }
    fn on_restart(&mut self, idle: Time, timeout: Time, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Restart(idle, timeout), limiter);
    }
    fn on_feedback(&mut self, feedback: &Feedback, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Feedback(feedback), limiter);
    }
    fn on_bytes(&mut self, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Bytes, limiter);
    }
    fn on_timer(&mut self, slot: Slot, limiter: &mut Limiter<'_>) {
        self.at_source(AtSource::Timer(slot), limiter);
    }
}

impl Reflector for Script {
    fn start(&mut self, ctl: &mut ReflectorControl<'_>) {
        self.at_sink(AtSink::Start, ctl);
    }
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        self.at_sink(AtSink::Frame(frame), ctl);
    }
    fn on_probe(&mut self, probe: &Probe, flow: FlowId, ctl: &mut ReflectorControl<'_>) {
        assert!(self.everywhere || flow == FLOW);
        self.at_sink(AtSink::Probe(probe), ctl);
    }
    fn on_timer(&mut self, slot: Slot, ctl: &mut ReflectorControl<'_>) {
        self.at_sink(AtSink::Timer(slot), ctl);
    }
}

/// What a run came to.
pub(crate) struct Seen {
    pub(crate) out: Outcome,
    pub(crate) notes: Vec<(Time, String)>,
}

impl Seen {
    /// Notes that begin so.
    pub(crate) fn all(&self, word: &str) -> Vec<&(Time, String)> {
        self.notes.iter().filter(|(_, what)| what.starts_with(word)).collect()
    }
    pub(crate) fn count(&self, word: &str) -> u64 {
        self.all(word).len() as u64
    }
    /// The first number behind the word, by time.
    pub(crate) fn numbers(&self, word: &str) -> Vec<f64> {
        let first = |n: &&(Time, String)| n.1[word.len()..].split_whitespace().next()?.parse().ok();
        self.all(word).iter().filter_map(first).collect()
    }
    pub(crate) fn times(&self, word: &str) -> Vec<Time> {
        self.all(word).iter().map(|n| n.0).collect()
    }
    /// Frames that host 2 received.
    pub(crate) fn delivered(&self) -> u64 {
        self.out.hosts[TO as usize].delivered
    }
    pub(crate) fn gbps(&self) -> f64 {
        self.out.hosts[TO as usize].delivered_bits as f64 / self.out.duration.as_ps() as f64 * 1e3
    }
}

/// Hosts 0 to 2 at a switch, for 1 ms. Those of `loads` send to host 2; a load of 1 is greedy.
pub(crate) fn network(loads: &[f64]) -> RunSpec {
    let mut spec = single_switch(3, 0.0, false, Time::from_ms(1), 1);
    for (i, host) in spec.hosts.iter_mut().enumerate() {
        host.limiter_position = LimiterPosition::BelowQueue;
        host.sources = loads.get(i).filter(|l| **l > 0.0).map_or(Vec::new(), |&load| {
            let mut source = bernoulli(load);
            source.destinations = Destinations::Fixed(NodeId(TO));
            if load >= 1.0 {
                source.arrivals = Arrivals::Greedy;
            }
            vec![source]
        });
    }
    spec
}

/// Runs it by the reference and by the fast engine on one and two threads, which must agree.
pub(crate) fn run_all(script: &Script, mut spec: RunSpec) -> Result<Seen, String> {
    let mut first: Option<(String, Result<Seen, String>)> = None;
    with_scheme(&mut spec, Arc::new(script.clone()));
    for (engine, threads) in [(Engine::Model, 1), (Engine::Fast, 1), (Engine::Fast, 2)] {
        script.notes.take();
        let out = run(&spec, &Options { engine, threads, ..Options::default() });
        let out = out.map(Outcome::results);
        let notes = script.notes.take();
        let text = match &out {
            Ok(out) => format!("{out:?} {notes:?}"),
            // Rooms that ran before the run was stopped may differ.
            Err(why) => why.to_string(),
        };
        match &first {
            Some((before, _)) => assert!(*before == text, "{engine:?}, {threads} threads:\n{before}\n{text}"),
            None => first = Some((text, out.map(|out| Seen { out, notes }).map_err(|e| e.to_string()))),
        }
    }
    first.unwrap().1
}

/// Why the network stops.
pub(crate) fn stops(script: &Script, spec: RunSpec) -> String {
    run_all(script, spec).map(|_| ()).unwrap_err()
}

pub(crate) fn see(script: &Script, loads: &[f64]) -> Seen {
    run_all(script, network(loads)).unwrap()
}
