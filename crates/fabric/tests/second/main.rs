//! A second textbook, of queue pairs: hosts that send finite flows, links that lose frames, switches that drop them, and what go-back-N,
//! selective repeat and TCP make of it. It shares nothing with the crate but the words of a question ([`RunSpec`]) and of an answer
//! ([`Outcome`]), and was written from the documents before its author read the model's queue pairs. Both engines agree with it frame by
//! frame on 300 random networks, or on `CNSIM_NETWORKS` others from seed `CNSIM_SEED` on.
//!
//! Where textbook and model first differed, the RFCs decided. In these points they are silent, and the textbook follows the model. A frame
//! that came out of order and acknowledges nothing new echoes its own start. The time of a gap begins anew as its first frame comes.
//! Selective repeat counts all that is not acknowledged for `few`. By go-back-N the timeout runs from the last acknowledgement on, and
//! a NACK sends nothing again where all has begun anew.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod rack;

use cnsim_fabric::*;
use cnsim_scheme_api::*;
use common::random::Draws;
use ends::{Answer, Reno, Sink, Source};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

/// What happens at a moment, in the order in which it happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    End,
    Control,
    Data,
    Timer,
    Begin,
    Start,
}

/// A frame of a flow, or an answer to it.
#[derive(Clone, Debug)]
struct Frame {
    flow: usize,
    number: u64,
    answer: Option<Answer>,
    len: u64,
    left: u64,
    input: usize,
}

#[derive(Default)]
struct Port {
    peer: (usize, usize),
    delay: u64,
    rate: Rate,
    sending: Option<Frame>,
    first: VecDeque<Frame>,
    data: VecDeque<Frame>,
    /// What its link is to lose, with how many of each kind have passed since.
    losses: Vec<(LinkLoss, BTreeMap<(usize, usize, bool), u64>)>,
    lost: (u64, u64),
}

struct Flow {
    ends: (usize, usize),
    source: Source,
    sink: Sink,
    done: (Option<u64>, Option<u64>),
}

struct Book<'a> {
    spec: &'a RunSpec,
    transport: TransportSpec,
    now: u64,
    agenda: BTreeMap<(u64, What, usize, usize, u64), Option<Frame>>,
    count: u64,
    ports: Vec<Vec<Port>>,
    memory: Vec<Vec<Vec<u64>>>,
    turns: BTreeMap<(usize, usize), usize>,
    flows: Vec<Flow>,
    /// The flows of a host that have begun, and whose turn it is.
    rings: Vec<(Vec<usize>, usize)>,
    log: Vec<(Time, String)>,
}

impl<'a> Book<'a> {
    fn run(spec: &'a RunSpec, begin: Option<u64>) -> Self {
        let (hosts, transport) = (spec.hosts.len(), spec.transport.unwrap());
        let counts = spec.hosts.iter().map(|_| 1).chain(spec.switches.iter().map(|s| usize::from(s.ports)));
        let ports: Vec<Vec<Port>> = counts.map(|n| (0..n).map(|_| Port::default()).collect()).collect();
        let memory = ports.iter().map(|p| vec![vec![0; p.len()]; p.len()]).collect();
        let rings = vec![(Vec::new(), 0); hosts];
        let (now, agenda, count, turns, flows, log) = Default::default();
        let mut book = Book { spec, transport, now, agenda, count, ports, memory, turns, flows, rings, log };
        for l in &spec.links {
            for ((a, i), (b, j)) in [(l.a, l.b), (l.b, l.a)] {
                let (node, peer) = (a.0 as usize, b.0 as usize);
                let host = spec.hosts.get(peer).map(|h| h.processing);
                let delay = l.delay + host.unwrap_or_else(|| spec.switches[peer - hosts].processing);
                let of = |loss: &&LinkLoss| (loss.node, loss.port) == (a, i);
                let losses = spec.losses.iter().filter(of).map(|l| (l.clone(), BTreeMap::new())).collect();
                let port = Port {
                    peer: (peer, j.into()),
                    delay: delay.as_ps(),
                    rate: l.rate,
                    losses,
                    ..Port::default()
                };
                book.ports[node][usize::from(i)] = port;
            }
        }
        for (h, host) in spec.hosts.iter().enumerate() {
            for (s, t) in host.sources.iter().flat_map(|s| s.transfers.iter().map(move |t| (s, t))) {
                let frame = s.frame.get();
                let source =
                    Source::new(&transport, t.bytes.get(), frame, begin.map(|n| Reno::new(frame, n)));
                let ends = (h, t.dst.0 as usize);
                book.plan(t.start.as_ps(), What::Begin, (h, book.flows.len()), None);
                book.flows.push(Flow { ends, source, sink: Sink::default(), done: (None, None) });
            }
        }
        while let Some(((at, what, node, k, _), frame)) = book.agenda.pop_first() {
            if at >= spec.duration.as_ps() {
                break;
            }
            book.now = at;
            book.act(what, node, k, frame);
        }
        book
    }

    fn plan(&mut self, at: u64, what: What, on: (usize, usize), frame: Option<Frame>) {
        self.count += 1;
        let count = if frame.is_none() && what != What::End { 0 } else { self.count };
        self.agenda.insert((at, what, on.0, on.1, count), frame);
    }

    /// After anything that happens in a node its idle ports look whether a transmission may start, at the end of the moment.
    fn act(&mut self, what: What, node: usize, k: usize, frame: Option<Frame>) {
        let host = node < self.spec.hosts.len();
        match (what, frame) {
            (What::Start, _) => return self.start(node, k),
            (What::End, _) => self.end(node, k),
            (What::Begin, _) => self.rings[node].0.push(k),
            (What::Timer, _) => self.look(k),
            (_, Some(f)) if host => self.receive(f),
            (_, Some(f)) => self.store(node, k, f, what),
            _ => {}
        }
        for p in 0..self.ports[node].len() {
            if self.ports[node][p].rate > Rate::ZERO && self.ports[node][p].sending.is_none() {
                self.plan(self.now, What::Start, (node, p), None);
            }
        }
    }

    /// A transmission starts: at a host answers first, and then each flow in turn.
    fn start(&mut self, node: usize, p: usize) {
        let port = &mut self.ports[node][p];
        if port.sending.is_some() {
            return;
        }
        let queued = port.first.pop_front().or_else(|| port.data.pop_front());
        let own = queued.is_none() && node < self.spec.hosts.len();
        let Some(f) = queued.or_else(|| own.then(|| self.choose(node)).flatten()) else { return };
        let port = &mut self.ports[node][p];
        let end = self.now + port.rate.transmission_time(Bytes::new(f.len)).as_ps();
        port.sending = Some(f);
        self.plan(end, What::End, (node, p), None);
    }

    /// Turns go round the flows in the order in which they began: it is the next after the one that sent last.
    fn choose(&mut self, h: usize) -> Option<Frame> {
        let (ring, turn) = &mut self.rings[h];
        for at in (*turn..ring.len()).chain(0..(*turn).min(ring.len())) {
            let flow = ring[at];
            let source = &mut self.flows[flow].source;
            if let Some((number, rescue)) = source.may_send() {
                *turn = at + 1;
                source.sends(number, rescue, self.now);
                let len = source.len(number);
                self.set(flow, h);
                return Some(Frame { flow, number, answer: None, len, left: self.now, input: 0 });
            }
        }
        None
    }

    /// Looks at a flow's timers when they are due.
    fn set(&mut self, flow: usize, h: usize) {
        let f = &self.flows[flow];
        let at = if h == f.ends.0 { f.source.wakes() } else { f.sink.timer };
        if let Some(at) = at {
            self.plan(at, What::Timer, (h, flow), None);
        }
    }

    fn look(&mut self, flow: usize) {
        let f = &mut self.flows[flow];
        let (src, dst) = f.ends;
        if f.source.wakes() == Some(self.now) {
            f.source.expires(self.now);
            self.note(flow);
            self.set(flow, src);
        }
        if self.flows[flow].sink.timer == Some(self.now) {
            let answer = self.flows[flow].sink.answer();
            self.reply(flow, answer, dst);
        }
    }

    fn note(&mut self, flow: usize) {
        let f = &mut self.flows[flow];
        let name = format!("{} to {}", f.ends.0, f.ends.1);
        let at = Time::from_ps(self.now);
        self.log.extend(f.source.log.drain(..).map(|what| (at, format!("{name} {what}"))));
    }

    fn reply(&mut self, flow: usize, answer: Answer, h: usize) {
        let len = self.transport.ack_length.get();
        let f = Frame { flow, number: 0, answer: Some(answer), len, left: self.now, input: 0 };
        self.ports[h][0].first.push_back(f);
    }

    fn receive(&mut self, f: Frame) {
        let Flow { ends: (src, dst), source, sink, done } = &mut self.flows[f.flow];
        let (src, dst) = (*src, *dst);
        if let Some(answer) = f.answer {
            source.hears(&answer, self.now);
            if source.una == source.n {
                done.1 = done.1.or(Some(self.now));
            }
            self.note(f.flow);
            self.note(f.flow);
            return self.set(f.flow, src);
        }
        // A destination's program sees what is new, and by go-back-N what is in order.
        if sink.is_new(&self.transport, f.number) {
            self.log.push((Time::from_ps(self.now), format!("{src} to {dst}: {} B", f.len)));
        }
        let answer = sink.take(&self.transport, source.n, f.number, f.left, self.now);
        if sink.whole {
            done.0 = done.0.or(Some(self.now));
        }
        match answer {
            Some(answer) => self.reply(f.flow, answer, dst),
            None => self.set(f.flow, dst),
        }
    }

    /// A transmission ends: memory is free, and the frame is on its way, unless the link loses it.
    fn end(&mut self, node: usize, p: usize) {
        let hosts = self.spec.hosts.len();
        let port = &mut self.ports[node][p];
        let f = port.sending.take().unwrap();
        let control = f.answer.is_some() && self.transport.ack_class == Class::Control;
        if node >= hosts && !control {
            self.memory[node][p][f.input] -= f.len;
        }
        let key = {
            let (a, b) = self.flows[f.flow].ends;
            (a, b, f.answer.is_some())
        };
        for (loss, passed) in &mut port.losses {
            if self.now < loss.from.as_ps() || self.now >= loss.to.as_ps() {
                continue;
            }
            let nth = passed.entry(key).or_default();
            *nth += 1;
            let one = |l: &LostFrame| {
                (l.flow.0.0 as usize, l.flow.1.0 as usize, l.acknowledgement) == key && l.nth == *nth
            };
            let lost = match &loss.kind {
                LossKind::Drawn(p) => *p >= 1.0,
                LossKind::Listed(list) => list.iter().any(one),
            };
            if lost {
                *if key.2 { &mut port.lost.1 } else { &mut port.lost.0 } += 1;
                return;
            }
        }
        let (peer, at) = (port.peer, self.now + port.delay);
        self.plan(at, if control { What::Control } else { What::Data }, peer, Some(f));
    }

    /// The port of a switch that leads to a host by a shortest path, in turn.
    fn route(&mut self, node: usize, to: usize) -> usize {
        let mut far = vec![usize::MAX / 2; self.ports.len()];
        far[to] = 0;
        for l in self.ports.iter().flat_map(|_| &self.spec.links) {
            let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
            (far[a], far[b]) = (far[a].min(far[b] + 1), far[b].min(far[a] + 1));
        }
        let nearer = |p: &usize| {
            let port = &self.ports[node][*p];
            port.rate > Rate::ZERO && far[port.peer.0] + 1 == far[node]
        };
        let choices: Vec<usize> = (0..self.ports[node].len()).filter(nearer).collect();
        let turn = self.turns.entry((node, to)).or_default();
        *turn += 1;
        choices[(*turn - 1) % choices.len()]
    }

    fn store(&mut self, node: usize, input: usize, mut f: Frame, what: What) {
        let ends = self.flows[f.flow].ends;
        let output = self.route(node, if f.answer.is_some() { ends.0 } else { ends.1 });
        let port = &mut self.ports[node][output];
        if what == What::Control {
            return port.first.push_back(f);
        }
        let cell = &mut self.memory[node][output][input];
        if *cell + f.len <= self.spec.switches[node - self.spec.hosts.len()].buffer.share.get() {
            *cell += f.len;
            f.input = input;
            port.data.push_back(f);
        }
    }

    /// What was seen, as [`summary`] has it.
    fn summary(mut self) -> String {
        self.log.sort_unstable();
        let at = |t: Option<u64>| t.map(Time::from_ps);
        let done = self.flows.iter().filter(|f| f.done.0.is_some());
        let mut flows: Vec<Ends> = done.map(|f| (f.ends, at(f.done.0), at(f.done.1))).collect();
        flows.sort_unstable();
        let mut hosts = vec![[0; 7]; self.spec.hosts.len()];
        for f in &self.flows {
            let o = &f.source.out;
            let of = [o.acks, o.acked, o.resent, o.resent_bytes, o.nacks, o.timeouts, o.recoveries];
            hosts[f.ends.0].iter_mut().zip(of).for_each(|(a, b)| *a += b);
        }
        let lossy = self.spec.losses.iter().map(|l| (l.node.0, l.port));
        let mut lost: Vec<_> =
            lossy.map(|(n, p)| (n, p, self.ports[n as usize][usize::from(p)].lost)).collect();
        lost.sort_unstable();
        told(&self.log, &flows, &hosts, &lost)
    }
}

type Ends = ((usize, usize), Option<Time>, Option<Time>);

/// A line for each thing that happened, in order, and what was counted.
fn told(
    log: &[(Time, String)],
    flows: &[Ends],
    hosts: &[[u64; 7]],
    lost: &[(u32, u16, (u64, u64))],
) -> String {
    let happened: String = log.iter().map(|(at, what)| format!("{} ps: {what}\n", at.as_ps())).collect();
    format!(
        "{happened}ends {flows:?}\nacks, acked, resent, bytes, NACKs, timeouts, recoveries {hosts:?}\nlost {lost:?}\n"
    )
}

fn summary(out: &Outcome, mut log: Vec<(Time, String)>) -> String {
    log.sort_unstable();
    let done = (0..).zip(&out.hosts).flat_map(|(to, h)| {
        let of = move |c: &Completion| ((c.src.0 as usize, to), Some(c.end), c.acknowledged);
        h.completions.iter().map(of)
    });
    let mut flows: Vec<Ends> = done.collect();
    flows.sort_unstable();
    let of = |h: &HostOutcome| {
        let o = &h.transport;
        [o.acks, o.acked, o.resent, o.resent_bytes, o.nacks, o.timeouts, o.recoveries]
    };
    let hosts: Vec<[u64; 7]> = out.hosts.iter().map(of).collect();
    let lost: Vec<_> =
        out.lost_on_links.iter().map(|l| (l.node.0, l.port, (l.data, l.acknowledgements))).collect();
    told(&log, &flows, &hosts, &lost)
}

/// Windows by [`Reno`], and notes of all that the network says.
#[derive(Clone, Debug)]
struct Watch {
    notes: Arc<Mutex<Vec<(Time, String)>>>,
    begin: Option<u64>,
}

#[derive(Debug)]
struct Watched {
    notes: Arc<Mutex<Vec<(Time, String)>>>,
    name: String,
    frame: u64,
    reno: Reno,
}

impl Scheme for Watch {
    fn name(&self) -> &str {
        "watch"
    }
    fn plan(&self) -> Plan {
        Plan {
            built: Built::FirstFrame,
            limiter_scope: Scope::Flow,
            acks: Acks::Needed,
            reflect: ReflectGate::Always,
            ..Plan::default()
        }
    }
    fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
        None
    }
    fn reaction_point(&self, site: &SourceSite) -> Option<Box<dyn ReactionPoint>> {
        let (notes, frame) = (self.notes.clone(), site.mtu.get());
        let name = format!("{} to {}", site.src.0, site.dst.0);
        Some(Box::new(Watched { notes, name, frame, reno: Reno::new(frame, self.begin?) }))
    }
    fn reflector(&self, _: &SinkSite) -> Option<Box<dyn Reflector>> {
        Some(Box::new(self.clone()))
    }
}

impl Reflector for Watch {
    fn on_frame(&mut self, f: &FrameView, ctl: &mut ReflectorControl<'_>) {
        self.notes
            .lock()
            .unwrap()
            .push((ctl.now(), format!("{} to {}: {} B", f.src.0, f.dst.0, f.len.get())));
    }
}

impl Watched {
    fn say(&self, now: Time, what: String) {
        self.notes.lock().unwrap().push((now, format!("{} {what}", self.name)));
    }
}

impl ReactionPoint for Watched {
    fn start(&mut self, limiter: &mut Limiter<'_>) {
        limiter.wake_on_acks(AckGate::EACH);
        limiter.set_window(Bytes::new(self.reno.window));
    }
    fn on_ack(&mut self, ack: &Ack<'_>, limiter: &mut Limiter<'_>) {
        if ack.newly > Bytes::ZERO {
            self.say(limiter.now(), format!("acked {} more {}", ack.acked.get(), ack.newly.get()));
            self.reno.ack(self.frame, ack.acked.get(), ack.newly.get());
            limiter.set_window(Bytes::new(self.reno.window));
        }
    }
    fn on_loss(&mut self, loss: Loss, limiter: &mut Limiter<'_>) {
        let (timeout, at) = (loss == Loss::Timeout, (limiter.acked().get(), limiter.next_seq().get()));
        self.say(limiter.now(), format!("timeout: {timeout}"));
        self.reno.loss(self.frame, timeout, limiter.outstanding().get(), at);
        limiter.set_window(Bytes::new(self.reno.window));
    }
}

fn up_to(d: &mut Draws, menu: &[u64]) -> u64 {
    let most = d.one(menu);
    1 + d.below(most)
}

fn reliability(d: &mut Draws, seed: u64) -> Reliability {
    let recovery = [Recovery::NewReno, Recovery::Sack, Recovery::Rack][(seed % 5).saturating_sub(2) as usize];
    match seed % 5 {
        0 => {
            Reliability::GoBackN { nack_interval: Time::from_us(d.one(&[0, 5, 50])), rto: Time::from_us(60) }
        }
        1 => Reliability::Selective(SelectiveSpec {
            gap_frames: d.one(&[1, 1, 3]),
            gap_time: Time::from_us(d.one(&[0, 0, 5])),
            rto_low: Time::from_us(40),
            rto_high: Time::from_us(d.one(&[40, 90])),
            few: d.one(&[0, 3]),
        }),
        _ => Reliability::Tcp(TcpSpec {
            recovery,
            probe: recovery == Recovery::Rack && d.once_in(2),
            limited_transmit: d.once_in(2),
            receive_window: d.one(&[None, None, Some(Bytes::new(20_000))]),
            rto_first: Time::from_us(100),
            rto_min: Time::from_us(d.one(&[0, 30])),
            rto_max: Time::from_us(200),
            quantum: Time::from_us(d.one(&[0, 0, 10])),
            ack_delay: Time::from_us(d.one(&[0, 7])),
        }),
    }
}

/// Hosts at one switch or two, which parallel links of unlike length may join, so that frames overtake others.
fn scenario(seed: u64) -> (RunSpec, Option<u64>) {
    let d = &mut Draws::new(seed, 60);
    let (hosts, switches) = (2 + d.below(3) as usize, 1 + d.below(2) as usize);
    let mut spec = common::single_switch(hosts, 0.0, false, Time::from_us(300 + d.below(1200)), seed);
    spec.routing = Routing::RoundRobin;
    spec.switches[0].buffer.share = Bytes::new(1500 * d.one(&[2, 4, 10, 100]));
    spec.switches = vec![spec.switches[0].clone(); switches];
    let mut joints: Vec<(usize, usize)> = (0..hosts).map(|h| (h, hosts + h % switches)).collect();
    if switches > 1 {
        (0..=d.below(3)).for_each(|_| joints.push((hosts, hosts + 1)));
    }
    common::place(&mut spec, &joints, &mut || {
        (d.one(&[10.0, 10.0, 3.0, 40.0]), 500_000 + d.below(2_000_000))
    });
    let reliability = reliability(d, seed);
    let by_tcp = matches!(reliability, Reliability::Tcp(_));
    let begin = (by_tcp && d.once_in(2)).then(|| d.one(&[1, 2, 10]));
    spec.transport = Some(TransportSpec {
        reliability,
        ack_every: d.one(&[1, 1, 2, 3]) as u32,
        ack_class: d.one(&[Class::Data, Class::Data, Class::Control]),
        ack_length: Bytes::new(64),
        window: if begin.is_some() {
            Window::Scheme
        } else {
            Window::Fixed(Bytes::new(1500 * d.one(&[1, 4, 8, 20, 100])))
        },
        window_by_rate: false,
    });
    for h in 0..hosts {
        let to = |k: u64| NodeId(((h as u64 + 1 + k) % hosts as u64) as u32);
        let most = if d.once_in(3) { 0 } else { 1 + d.below(hosts as u64 - 1) };
        let flow = |k| Transfer {
            start: Time::from_ps(d.below(20_000_000)),
            dst: to(k),
            bytes: Bytes::new(up_to(d, &[1500, 15_000, 60_000, 150_000])),
        };
        let flows = (0..most).map(flow).collect();
        spec.hosts[h].sources = vec![common::flows(flows)];
        spec.hosts[h].sources[0].floor = Bytes::ZERO;
    }
    let ends: Vec<_> = spec.links.iter().flat_map(|l| [l.a, l.b]).collect();
    let pairs: Vec<_> = (0..)
        .zip(&spec.hosts)
        .flat_map(|(h, s)| s.sources[0].transfers.iter().map(move |t| (NodeId(h), t.dst)))
        .collect();
    for (node, port) in ends {
        if d.once_in(3) && !pairs.is_empty() {
            let lost = |_| LostFrame {
                flow: d.one(&pairs),
                number: None,
                acknowledgement: d.once_in(3),
                nth: up_to(d, &[4, 12, 40]),
            };
            let kind = LossKind::Listed((0..8).map(lost).collect());
            let loss = LinkLoss { node, port, from: Time::ZERO, to: Time::MAX, kind };
            spec.losses.push(loss);
        } else if d.once_in(6) {
            let from = d.below(200_000_000);
            let (from, to) = (Time::from_ps(from), Time::from_ps(from + 1 + d.below(40_000_000)));
            spec.losses.push(LinkLoss { node, port, from, to, kind: LossKind::Drawn(1.0) });
        }
    }
    (spec, begin)
}

#[test]
fn both_engines_agree_with_the_second_textbook() {
    let (first, count) = (common::number("CNSIM_SEED", 0), common::number("CNSIM_NETWORKS", 300));
    let mut seen = [0; 4];
    for seed in first..first + count {
        let (mut spec, begin) = scenario(seed);
        let notes = Arc::new(Mutex::new(Vec::new()));
        common::with_scheme(&mut spec, Arc::new(Watch { notes: notes.clone(), begin }));
        let book = Book::run(&spec, begin);
        let of = |sum: fn(&TransportOutcome) -> u64| book.flows.iter().any(|f| sum(&f.source.out) > 0);
        let now = [
            of(|o| o.resent),
            of(|o| o.timeouts),
            of(|o| o.recoveries),
            book.flows.iter().all(|f| f.done.1.is_some()),
        ];
        seen.iter_mut().zip(now).for_each(|(n, is)| *n += u64::from(is));
        let book = book.summary();
        for engine in [Engine::Model, Engine::Fast] {
            notes.lock().unwrap().clear();
            let out = run(&spec, &Options { engine, threads: 1, ..Options::default() });
            let out = out.unwrap_or_else(|e| panic!("{engine:?}, seed {seed}: {e}"));
            let program = summary(&out, std::mem::take(&mut *notes.lock().unwrap()));
            let differ = program.lines().zip(book.lines()).filter(|(a, b)| a != b).take(4);
            let differ: Vec<_> = differ.collect();
            assert!(program == book, "seed {seed}, {engine:?}, textbook: {differ:#?}\n{:?}", spec.transport);
        }
    }
    assert!(
        seen.iter().all(|n| *n >= count / 8),
        "{count} networks; resent, timeouts, recoveries, whole: {seen:?}"
    );
}
