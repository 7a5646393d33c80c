//! The textbook: store and forward as a lecture would tell it, in the plainest structures: one list of events. It shares nothing with
//! the crate but the words of a question ([`RunSpec`]) and of an answer ([`Outcome`]), and was written from the documents by somebody
//! who had read neither the model nor the fast engine. What it knows: memory per crosspoint, input, output and pool, with limits; PAUSE
//! with its response; control before data; changes of rate; drops. Hosts stand in `hosts.rs`. Nothing here is fast.

use crate::hosts::Host;
use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// What happens at a moment, in the order in which it happens then.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Change(Rate),
    Pause(bool),
    End,
    Control(Frame),
    Data(Frame),
    Timer,
    Slot(usize),
    Start,
}

/// What travels: data of a pair of hosts, or a message about it to its source.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) control: bool,
    pub(crate) pair: (usize, usize),
    pub(crate) to: usize,
    pub(crate) len: u64,
    pub(crate) born: Time,
    /// Port by which it came into the switch that holds it.
    pub(crate) input: usize,
    /// Its finite flow: source and number.
    pub(crate) flow: Option<(usize, usize)>,
}

/// A frame that was received: when, source, destination, length.
pub(crate) type Delivery = (Time, u32, u32, u64);

/// What hosts and switches do beyond passing frames on, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drill {
    /// Every data frame is answered by a message to its source.
    pub(crate) answers: bool,
    /// A switch's output sends a message to the source of the frame that brings so many bytes.
    pub(crate) sample: Option<u64>,
    /// Rates of limiters, as shares of the line's: that of destination d begins with the d-th, and each message sets the next. Empty:
    /// no limiters.
    pub(crate) pace: Vec<f64>,
}

/// One end of a link: what is sent from there.
#[derive(Default)]
pub(crate) struct Port {
    peer: Option<(usize, usize)>,
    /// From the end of a transmission to the arrival, with the peer's processing.
    delay: Time,
    pub(crate) line: Rate,
    service: Rate,
    /// What is being sent; none inside: PAUSE.
    sending: Option<Option<Frame>>,
    /// XOFF holds since then.
    xoff: Option<Time>,
    /// Every XOFF that has ended: from when to when.
    stood: Vec<(Time, Time)>,
    pauses: VecDeque<bool>,
    pub(crate) control: VecDeque<Frame>,
    pub(crate) data: VecDeque<Frame>,
    /// The peer has been sent XOFF, and no XON yet.
    stopped: bool,
    /// Bytes that came for the port since its last message.
    counted: u64,
    out: PortOutcome,
}

#[derive(Default)]
pub(crate) struct Node {
    pub(crate) ports: Vec<Port>,
    /// Bytes of each output's frames by input.
    memory: Vec<Vec<u64>>,
    /// The switch has sent XOFF to all.
    stopped: bool,
    /// Round robin among equal paths, by destination.
    turns: BTreeMap<usize, usize>,
    pub(crate) host: Host,
}

/// The network, and what was received in it.
pub(crate) struct Textbook<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) drill: &'a Drill,
    pub(crate) now: Time,
    agenda: BTreeMap<(Time, u8, usize, usize, u64), Event>,
    count: u64,
    pub(crate) nodes: Vec<Node>,
    /// Links to each host, by node.
    far: Vec<Vec<usize>>,
    pub(crate) log: Vec<Delivery>,
    pub(crate) out: Outcome,
}

impl<'a> Textbook<'a> {
    /// Runs a network: its outcome, and each frame that was received. What happens at the end of the run or later does not count.
    pub(crate) fn run(spec: &'a RunSpec, drill: &'a Drill) -> (Outcome, Vec<Delivery>) {
        let mut book = Self::new(spec, drill);
        while let Some(((at, _, node, port, _), event)) = book.agenda.pop_first() {
            if at >= spec.duration {
                break;
            }
            book.now = at;
            book.act(node, port, event);
        }
        book.close();
        (book.out, book.log)
    }

    fn new(spec: &'a RunSpec, drill: &'a Drill) -> Self {
        let hosts = spec.hosts.len();
        let counts = spec.hosts.iter().map(|_| 1).chain(spec.switches.iter().map(|s| usize::from(s.ports)));
        let node = |ports: usize| Node {
            ports: (0..ports).map(|_| Port::default()).collect(),
            memory: vec![vec![0; ports]; ports],
            ..Node::default()
        };
        let mut nodes: Vec<Node> = counts.map(node).collect();
        for l in &spec.links {
            for (a, b) in [(l.a, l.b), (l.b, l.a)] {
                let peer = (b.0.0 as usize, usize::from(b.1));
                let port = &mut nodes[a.0.0 as usize].ports[usize::from(a.1)];
                let processing = match peer.0.checked_sub(hosts) {
                    None => spec.hosts[peer.0].processing,
                    Some(s) => spec.switches[s].processing,
                };
                (port.peer, port.delay) = (Some(peer), l.delay + processing);
                (port.line, port.service) = (l.rate, l.rate);
            }
        }
        let far = (0..hosts).map(|h| distances(&nodes, h)).collect();
        let out = Outcome { duration: spec.duration, matrix: vec![0; hosts * hosts], ..Outcome::default() };
        let (agenda, log) = (BTreeMap::new(), Vec::new());
        let mut book = Textbook { spec, drill, now: Time::ZERO, agenda, count: 0, nodes, far, log, out };
        for c in &spec.changes {
            book.plan(c.at, c.node.0 as usize, usize::from(c.port), Event::Change(c.rate));
        }
        (0..hosts).for_each(|h| book.begin(h));
        book
    }

    /// Events of one moment are in order of kind, then of port; those of one kind at one port in the order in which they were planned.
    pub(crate) fn plan(&mut self, at: Time, node: usize, port: usize, event: Event) {
        let kind = match event {
            Event::Change(_) => 0,
            Event::Pause(_) => 1,
            Event::End => 2,
            Event::Control(_) => 3,
            Event::Data(_) => 4,
            Event::Timer => 5,
            Event::Slot(_) => 6,
            Event::Start => 7,
        };
        self.count += 1;
        // To look twice at one moment shows nothing new.
        let looks = matches!(event, Event::Timer | Event::Start);
        self.agenda.insert((at, kind, node, port, if looks { 0 } else { self.count }), event);
    }

    fn act(&mut self, node: usize, port: usize, event: Event) {
        let host = node < self.spec.hosts.len();
        match event {
            Event::Change(rate) => {
                self.nodes[node].ports[port].service = rate;
                self.plan(self.now, node, port, Event::Start);
            }
            Event::Pause(on) => self.obey(node, port, on),
            Event::End => self.end(node, port),
            Event::Control(f) if host => self.hear(node, f.pair.1),
            Event::Data(f) if host => self.receive(node, f),
            Event::Control(f) => {
                let out = self.route(node, f.to);
                self.nodes[node].ports[out].control.push_back(f);
                self.plan(self.now, node, out, Event::Start);
            }
            Event::Data(f) => self.store(node, port, f),
            Event::Timer => self.due(node, port),
            Event::Slot(i) => self.offer(node, port, i),
            Event::Start => self.start(node, port),
        }
    }

    /// How long so many bytes take, as the run rounds times.
    pub(crate) fn time(&self, rate: Rate, len: u64) -> Time {
        let exact = rate.transmission_time(Bytes::new(len));
        match self.spec.rounding {
            Rounding::Exact => exact,
            Rounding::WholeNs => Time::from_ps(exact.as_ps() / 1000 * 1000),
        }
    }

    /// A transmission starts, if none is under way and something may be sent: PAUSE, then control, then data.
    fn start(&mut self, node: usize, p: usize) {
        let port = &mut self.nodes[node].ports[p];
        let (line, service) = (port.line, port.service);
        if port.sending.is_some() {
            return;
        }
        let (what, rate) = if !port.pauses.is_empty() {
            (None, line)
        } else if let Some(f) = port.control.pop_front() {
            (Some(f), line)
        } else if port.xoff.is_some() || service == Rate::ZERO {
            return;
        } else {
            let host = node < self.spec.hosts.len();
            let next = if host { self.choose(node) } else { port.data.pop_front() };
            let Some(f) = next else { return };
            (Some(f), service)
        };
        let time = self.time(rate, what.as_ref().map_or(64, |f| f.len));
        self.nodes[node].ports[p].sending = Some(what);
        self.plan(self.now + time, node, p, Event::End);
    }

    /// A transmission ends: its memory is free, and the frame is on its way.
    fn end(&mut self, node: usize, p: usize) {
        let Node { ports, memory, host, .. } = &mut self.nodes[node];
        let port = &mut ports[p];
        let (what, (peer, at)) = (port.sending.take().unwrap(), port.peer.unwrap());
        let arrival = self.now + port.delay;
        let event = match what {
            None => Event::Pause(port.pauses.pop_front().unwrap()),
            Some(f) => {
                self.out.packet_hops += 1;
                self.out.control_hops += u64::from(f.control);
                port.out.control_sent += u64::from(f.control);
                if f.control {
                    Event::Control(f)
                } else {
                    if node < self.spec.hosts.len() {
                        host.out.sent += 1;
                    } else {
                        port.out.sent += 1;
                        port.out.sent_bits += f.len * 8;
                        memory[p][f.input] -= f.len;
                        self.relieve(node);
                    }
                    Event::Data(f)
                }
            }
        };
        self.plan(arrival, peer, at, event);
        self.plan(self.now, node, p, Event::Start);
    }

    /// XOFF or XON arrives: from now on no data starts, or may again.
    fn obey(&mut self, node: usize, p: usize, on: bool) {
        let n = &mut self.nodes[node];
        if let Some(h) = self.spec.hosts.get(node) {
            if h.faults.ignores_pause {
                return;
            }
            n.host.out.pauses += u64::from(on);
        }
        let port = &mut n.ports[p];
        match port.xoff {
            Some(since) if !on => {
                port.out.paused += self.now - since;
                port.stood.push((since, self.now));
                port.xoff = None;
            }
            None if on => port.xoff = Some(self.now),
            _ => {}
        }
        self.plan(self.now, node, p, Event::Start);
    }

    /// The port of a switch that leads to a host by a shortest path.
    fn route(&mut self, node: usize, to: usize) -> usize {
        let far = &self.far[to];
        let Node { ports, turns, .. } = &mut self.nodes[node];
        let nearer = |p: &usize| ports[*p].peer.is_some_and(|(peer, _)| far[peer] + 1 == far[node]);
        let choices: Vec<usize> = (0..ports.len()).filter(nearer).collect();
        match self.spec.routing {
            _ if choices.len() == 1 => choices[0],
            Routing::Destination => choices[to % choices.len()],
            Routing::RoundRobin => {
                let turn = turns.entry(to).or_default();
                *turn += 1;
                choices[(*turn - 1) % choices.len()]
            }
            other => panic!("{other:?} rests on a hash, and the textbook has none"),
        }
    }

    /// Data arrives at a switch: it is dropped, or stored and counted.
    fn store(&mut self, node: usize, input: usize, mut f: Frame) {
        let output = self.route(node, f.to);
        self.sample(node, output, &f);
        let switch = &self.spec.switches[node - self.spec.hosts.len()];
        let Node { ports, memory, .. } = &mut self.nodes[node];
        let port = &mut ports[output];
        let queued = memory[output].iter().sum::<u64>() + f.len;
        let share = switch.buffer.share.get();
        let (held, most) = match switch.buffer.organisation {
            Organisation::Crosspoint => (memory[output][input], share),
            Organisation::Input => (memory.iter().map(|m| m[input]).sum(), share),
            Organisation::SharedOutput => (memory.iter().flatten().sum(), share * u64::from(switch.ports)),
        };
        if switch.buffer.output_limit.is_some_and(|limit| queued > limit.get()) {
            port.out.dropped_by_limit += 1;
            return;
        }
        if held + f.len > most {
            port.out.dropped += 1;
            return;
        }
        memory[output][input] += f.len;
        port.out.queue_max = port.out.queue_max.max(queued);
        f.input = input;
        port.data.push_back(f);
        self.plan(self.now, node, output, Event::Start);
        let Some(pause) = switch.buffer.pause else { return };
        if self.occupancy(node, output, input) <= pause.high.get() {
            return;
        }
        let n = &mut self.nodes[node];
        if pause.global || switch.buffer.organisation == Organisation::SharedOutput {
            if !std::mem::replace(&mut n.stopped, true) {
                (0..usize::from(switch.ports)).for_each(|p| self.send_pause(node, p, true));
            }
        } else if !std::mem::replace(&mut n.ports[input].stopped, true) {
            self.send_pause(node, input, true);
        }
    }

    /// What counts for the watermarks of PAUSE.
    fn occupancy(&self, node: usize, output: usize, input: usize) -> u64 {
        let buffer = self.spec.switches[node - self.spec.hosts.len()].buffer;
        let memory = &self.nodes[node].memory;
        match buffer.organisation {
            Organisation::Crosspoint => memory[output][input],
            Organisation::Input => memory.iter().map(|m| m[input]).sum(),
            Organisation::SharedOutput if buffer.pause.is_some_and(|p| p.pool) => {
                memory.iter().flatten().sum()
            }
            Organisation::SharedOutput => memory[output].iter().sum(),
        }
    }

    /// Memory became free: XON to each input, or to all, whose partitions are all low.
    fn relieve(&mut self, node: usize) {
        let Some(pause) = self.spec.switches[node - self.spec.hosts.len()].buffer.pause else { return };
        let ports = self.nodes[node].ports.len();
        let high = |i: &usize| (0..ports).any(|o| self.occupancy(node, o, *i) > pause.low.get());
        let low: Vec<usize> = (0..ports).filter(|i| !high(i)).collect();
        if self.nodes[node].stopped && low.len() == ports {
            self.nodes[node].stopped = false;
            (0..ports).for_each(|p| self.send_pause(node, p, false));
        }
        for p in low {
            if std::mem::take(&mut self.nodes[node].ports[p].stopped) {
                self.send_pause(node, p, false);
            }
        }
    }

    fn send_pause(&mut self, node: usize, p: usize, on: bool) {
        let pause = self.spec.switches[node - self.spec.hosts.len()].buffer.pause.unwrap();
        let port = &mut self.nodes[node].ports[p];
        let Some((peer, at)) = port.peer else { return };
        port.out.xoffs += u64::from(on);
        let arrival = self.now + port.delay;
        match pause.transport {
            PauseTransport::Wire => self.plan(arrival, peer, at, Event::Pause(on)),
            PauseTransport::Frame => {
                port.pauses.push_back(on);
                self.plan(self.now, node, p, Event::Start);
            }
        }
    }

    /// The congestion point counts an arrival, dropped or not. Its message is ready when the switch has processed it.
    fn sample(&mut self, node: usize, output: usize, f: &Frame) {
        let Some(every) = self.drill.sample else { return };
        let counted = &mut self.nodes[node].ports[output].counted;
        *counted += f.len;
        if *counted >= every {
            *counted = 0;
            let at = self.now + self.spec.switches[node - self.spec.hosts.len()].processing;
            let message = self.message(f.pair);
            self.plan(at, node, usize::MAX, Event::Control(message));
        }
    }

    /// A message to the source of a flow.
    pub(crate) fn message(&mut self, pair: (usize, usize)) -> Frame {
        self.out.control_messages += 1;
        self.out.control_bits += 512;
        Frame { control: true, pair, to: pair.0, len: 64, born: self.now, input: 0, flow: None }
    }

    /// What each sixtieth of the run has of these spans, ps; nothing of none.
    fn by_part(&self, stood: &[(Time, Time)]) -> Vec<u64> {
        let part = self.spec.duration.as_ps() / 60;
        let shared = |i: u64, (from, to): &(Time, Time)| {
            (to.as_ps().min((i + 1) * part)).saturating_sub(from.as_ps().max(i * part))
        };
        let all = |i: u64| stood.iter().map(|span| shared(i, span)).sum();
        if stood.iter().all(|(from, to)| from == to) { Vec::new() } else { (0..60).map(all).collect() }
    }

    /// What the ports and hosts counted.
    fn close(&mut self) {
        (0..self.spec.hosts.len()).for_each(|h| self.close_flows(h));
        for (node, n) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            let port = |mut p: Port| {
                p.stood.extend(p.xoff.map(|since| (since, self.spec.duration)));
                let open = p.xoff.map_or(Time::ZERO, |since| self.spec.duration - since);
                (PortOutcome { paused: p.out.paused + open, ..p.out }, self.by_part(&p.stood))
            };
            let (ports, mut parts): (Vec<PortOutcome>, Vec<_>) = n.ports.into_iter().map(port).unzip();
            if node < self.spec.hosts.len() {
                let (paused, paused_by_part) = (ports[0].paused, parts.swap_remove(0));
                self.out.hosts.push(HostOutcome { paused, paused_by_part, ..n.host.out });
            } else {
                self.out.switches.push(SwitchOutcome { ports, paused_by_part: parts });
            }
        }
    }
}

/// Links from each node to a host.
fn distances(nodes: &[Node], host: usize) -> Vec<usize> {
    let mut far = vec![usize::MAX; nodes.len()];
    far[host] = 0;
    let mut next = VecDeque::from([host]);
    while let Some(n) = next.pop_front() {
        for (peer, _) in nodes[n].ports.iter().filter_map(|p| p.peer) {
            if far[peer] == usize::MAX {
                far[peer] = far[n] + 1;
                next.push_back(peer);
            }
        }
    }
    far
}
