//! Both ways to run a network agree with the textbook, frame by frame, on random small networks: 300, or `CNSIM_NETWORKS` others from
//! seed `CNSIM_SEED` on.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod book;
#[path = "../common/mod.rs"]
mod common;
mod hosts;

use book::{Delivery, Drill, Textbook};
use cnsim_fabric::*;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::{
    Built, Bytes, CongestionPoint, Feedback, FrameView, Limiter, NodeId, Plan, PointControl, Queue,
    QueueSite, Rate, ReactionPoint, ReflectGate, Reflector, ReflectorControl, Scheme, SinkSite, SourceSite,
    Time,
};
use std::sync::{Arc, Mutex};

/// The drill as a scheme, and what its reflectors see.
#[derive(Clone, Debug, Default)]
struct Watch {
    drill: Drill,
    log: Arc<Mutex<Vec<Delivery>>>,
}

impl Reflector for Watch {
    fn on_frame(&mut self, f: &FrameView, ctl: &mut ReflectorControl<'_>) {
        self.log.lock().unwrap().push((ctl.now(), f.src.0, f.dst.0, f.len.get()));
        if self.drill.answers {
            ctl.reply(Feedback::Cnp);
        }
    }
}

impl CongestionPoint for Watch {
    fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
        self.drill.sample.iter().for_each(|bytes| ctl.sample_after(Bytes::new(*bytes)));
    }
    fn on_sample(&mut self, frame: &mut FrameView, queue: &Queue, ctl: &mut PointControl<'_>) {
        CongestionPoint::start(self, queue, ctl);
        ctl.notify(frame.flow, Feedback::Cnp);
    }
}

/// Sets the next rate of its list at each message.
#[derive(Debug)]
struct Paced {
    pace: Vec<f64>,
    heard: usize,
}

impl ReactionPoint for Paced {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.engage();
        limiter.set_rate(limiter.line_rate() * self.pace[self.heard % self.pace.len()]);
    }
    fn on_feedback(&mut self, _: &Feedback, limiter: &mut Limiter<'_>) {
        self.heard += 1;
        self.start(limiter);
    }
}

impl Scheme for Watch {
    fn name(&self) -> &str {
        "watch"
    }
    fn plan(&self) -> Plan {
        Plan { reflect: ReflectGate::Always, built: Built::FirstFrame, ..Plan::default() }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        self.drill.sample.map(|_| -> Box<dyn CongestionPoint> { Box::new(self.clone()) })
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let paced = Paced { pace: self.drill.pace.clone(), heard: site.dst.0 as usize };
        (!self.drill.pace.is_empty()).then(|| -> Box<dyn ReactionPoint> { Box::new(paced) })
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(self.clone()))
    }
}

/// A source without draws, to a host other than its own.
fn source(h: usize, hosts: usize, alike: bool, pick: &mut impl FnMut(u64) -> u64) -> SourceSpec {
    let mut other = || NodeId(((h as u64 + 1 + pick(hosts as u64 - 1)) % hosts as u64) as u32);
    let destinations = Destinations::Fixed(other());
    let transfers: Vec<NodeId> = (0..8).map(|_| other()).collect();
    let mut s = SourceSpec { destinations, phase: Phase::Aligned, ..common::bernoulli(1.0) };
    s.frame = Bytes::new(if alike { 1500 } else { common::LENGTHS[pick(5) as usize] });
    s.start = Time::from_ns(if pick(3) == 0 { pick(20_000) } else { 0 });
    s.stop = if pick(3) == 0 { Time::from_ns(pick(60_000)) } else { Time::MAX };
    let (on, off) = (Time::from_ns(1 + pick(8_000)), Time::from_ns(pick(8_000)));
    let shift = Time::from_ns(pick(16_000));
    match pick(6) {
        0 | 1 => {}
        2 => s.arrivals = Arrivals::Greedy,
        3 => s.arrivals = Arrivals::OnOff { on, off, shift },
        _ => {
            s.arrivals = Arrivals::Transfers;
            (s.start, s.stop) = (Time::ZERO, Time::MAX);
            for dst in transfers.into_iter().skip(pick(8) as usize) {
                let most = [400, 4_000, 20_000][pick(3) as usize];
                let (start, bytes) = (Time::from_ns(pick(30_000)), Bytes::new(pick(most)));
                s.transfers.push(Transfer { start, dst, bytes });
            }
            s.transfers.sort_by_key(|t| t.start);
        }
    }
    s
}

/// A tree of up to three switches with up to six hosts, and what is done in it.
fn scenario(seed: u64) -> (RunSpec, Option<Drill>) {
    let mut r = Stream::new(seed, 6, Purpose::Test);
    let mut pick = |n: u64| r.below(n);
    let (hosts, switches) = (2 + pick(5) as usize, 1 + pick(3) as usize);
    let mut spec = common::single_switch(hosts, 0.0, false, Time::from_us(20 + pick(80)), seed);
    let alike = pick(3) == 0;
    for (h, host) in spec.hosts.iter_mut().enumerate() {
        host.fifo_frames = [1, 3, 20, 500][pick(4) as usize];
        host.limiter_frames = 1 + pick(6) as u32;
        host.processing = Time::from_ns(pick(3) * 500);
        host.sources = (0..pick(5)).map(|_| source(h, hosts, alike, &mut pick)).collect();
        (host.limiter_position, host.queues) = [
            (LimiterPosition::AtSource, HostQueues::Fifo),
            (LimiterPosition::BelowQueue, HostQueues::Fifo),
            (LimiterPosition::BelowQueue, HostQueues::PerDestination),
        ][pick(3) as usize];
        host.faults.ignores_pause = pick(10) == 0;
    }
    let organisation =
        [Organisation::Crosspoint, Organisation::Input, Organisation::SharedOutput][pick(3) as usize];
    let high = 12 + pick(20);
    let pause = PauseSpec {
        high: Bytes::from_kb(high),
        low: Bytes::from_kb(pick(high + 1)),
        global: pick(3) == 0,
        pool: organisation == Organisation::SharedOutput && pick(2) == 0,
        transport: [PauseTransport::Frame, PauseTransport::Wire][pick(2) as usize],
    };
    let pause = (pick(3) > 0).then_some(pause);
    // Enough for what comes after XOFF, or so little that frames are lost.
    let share = if pause.is_some() && pick(3) > 0 { 3000 } else { 10 + pick(40) };
    let output_limit = (pick(4) == 0).then(|| Bytes::from_kb(20 + pick(40)));
    let switch = SwitchSpec {
        ports: (hosts + 3 * switches) as u16,
        processing: Time::from_ns(pick(3) * 500),
        buffer: BufferSpec { organisation, share: Bytes::from_kb(share.max(high)), output_limit, pause },
        ..spec.switches[0].clone()
    };
    spec.switches = vec![switch; switches];
    common::tangle(&mut spec, (hosts, switches), alike, &mut pick);
    spec.routing = [Routing::Destination, Routing::RoundRobin][pick(2) as usize];
    spec.rounding = [Rounding::Exact, Rounding::WholeNs][pick(2) as usize];
    if pick(3) == 0 {
        let node = NodeId((hosts as u64 + pick(switches as u64)) as u32);
        let change =
            |at: u64, gbps| RateChange { at: Time::from_ns(at), node, port: 0, rate: Rate::from_gbps(gbps) };
        let slow = [0.0, 0.5, 2.0][pick(3) as usize];
        spec.changes = vec![change(pick(20_000), slow), change(20_000 + pick(40_000), 10.0)];
    }
    spec.record.matrix = true;
    let mut drill = Drill {
        answers: pick(2) == 0,
        sample: (pick(2) == 0).then(|| 1 + pick(30_000)),
        pace: (0..pick(8)).map(|_| [0.1, 0.25, 0.3, 0.5, 1.0][pick(5) as usize]).collect(),
    };
    if drill.pace.len() > 4 {
        drill.pace.clear();
    }
    if pick(3) == 0 {
        return (spec, None);
    }
    // No document says when a finite flow passes a limiter that is back at line rate, how it shares one with a queue, or which of two
    // limiters ahead of a FIFO lets a frame in first where both are back at line rate and due in one moment.
    let finite = |s: &SourceSpec| s.arrivals == Arrivals::Transfers;
    if alike || spec.hosts.iter().flat_map(|h| &h.sources).any(finite) {
        drill.pace.iter_mut().for_each(|p| *p = p.min(0.9));
    }
    for host in spec.hosts.iter_mut().filter(|h| h.sources.iter().any(finite)) {
        host.sources.retain(|s| finite(s) || drill.pace.is_empty());
    }
    (spec, Some(drill))
}

/// All that textbook and program are to agree on, besides the deliveries.
fn summary(out: &Outcome) -> String {
    let control = (out.control_messages, out.control_bits, out.feedback_ignored, out.control_hops);
    format!("{:#?}", (&out.hosts, &out.switches, control, out.packet_hops, &out.matrix))
}

/// The first lines that differ.
fn differences(program: &str, book: &str) -> String {
    let differ = program.lines().zip(book.lines()).filter(|(a, b)| a != b).take(12);
    differ.map(|(a, b)| format!("program {}, textbook {}\n", a.trim(), b.trim())).collect()
}

#[test]
fn both_ways_agree_with_the_textbook() {
    let (first, count) = (common::number("CNSIM_SEED", 0), common::number("CNSIM_NETWORKS", 300));
    let mut seen = [0; 4];
    for seed in first..first + count {
        let (mut spec, drill) = scenario(seed);
        let network = format!("seed {seed}\n{drill:?}\n{spec:?}");
        let watch = Watch { drill: drill.clone().unwrap_or_default(), log: Arc::default() };
        if drill.is_some() {
            common::with_scheme(&mut spec, Arc::new(watch.clone()));
        }
        let (book, mut deliveries) = Textbook::run(&spec, &watch.drill);
        deliveries.sort_unstable();
        let visits = [Visits::Adaptive, Visits::All, Visits::Due, Visits::Turns][seed as usize % 4];
        for engine in [Engine::Model, Engine::Fast] {
            watch.log.lock().unwrap().clear();
            let out = run(&spec, &Options { engine, visits, threads: 1, ..Options::default() });
            let out = out.unwrap_or_else(|e| panic!("{engine:?}: {e}, {network}"));
            let mut log = watch.log.lock().unwrap().clone();
            log.sort_unstable();
            if drill.is_some() && log != deliveries {
                let at = log.iter().zip(&deliveries).take_while(|(a, b)| a == b).count();
                let next = |l: &[Delivery]| format!("{:?}", &l[at..l.len().min(at + 6)]);
                let (program, book) = (next(&log), next(&deliveries));
                panic!("{engine:?}: after {at} deliveries\nprogram {program}\ntextbook {book}\n{network}");
            }
            let (program, book) = (summary(&out), summary(&book));
            assert!(program == book, "{engine:?}:\n{}{network}", differences(&program, &book));
        }
        let hosts = || book.hosts.iter();
        seen[0] += u64::from(book.dropped() > 0);
        seen[1] += u64::from(hosts().any(|h| h.pauses > 0));
        seen[2] += u64::from(book.control_hops > 0);
        seen[3] += u64::from(hosts().any(|h| h.limited_flows > 0));
    }
    assert!(seen.iter().all(|n| *n >= count / 8), "{count} networks; drop, pause, control, limit: {seen:?}");
}
