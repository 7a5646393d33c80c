//! The textbook: store and forward as a lecture would tell it, in the plainest structures: one list of events. It shares nothing with
//! the crate but the words of a question ([`RunSpec`]) and of an answer ([`Outcome`]), and was written from the documents by somebody
//! who had read neither the model nor the fast engine. It knows memory per crosspoint, input, output and pool; PAUSE with
//! its response; control before data; changes of rate; drops, and losses on links. Hosts stand in the `hosts.rs` of each test that has it.
//! Nothing here is fast.

use crate::hosts::{Drill, Host, Load};
use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// What happens at a moment, in the order in which it happens then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// The i-th change of a rate.
    Change(usize),
    Pause(bool),
    End,
    Control,
    #[default]
    Data,
    Timer,
    Slot,
    Start,
}

/// What travels: PAUSE, data, or an answer to data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) what: What,
    /// The hosts that it comes from and goes to.
    pub(crate) pair: (usize, usize),
    pub(crate) len: u64,
    pub(crate) born: Time,
    /// Port by which it came into the switch that holds it.
    pub(crate) input: usize,
    pub(crate) marked: bool,
    /// What hosts put into it.
    pub(crate) load: Load,
}

/// One end of a link: what is sent from there.
#[derive(Default)]
pub(crate) struct Port {
    peer: Option<(usize, usize)>,
    /// From the end of a transmission to the arrival, with the peer's processing.
    delay: Time,
    pub(crate) line: Rate,
    service: Rate,
    sending: Option<Frame>,
    /// XOFF holds since then.
    xoff: Option<Time>,
    pauses: VecDeque<Frame>,
    pub(crate) control: VecDeque<Frame>,
    pub(crate) data: VecDeque<Frame>,
    /// The peer has been sent XOFF, and no XON yet.
    stopped: bool,
    out: PortOutcome,
}

#[derive(Default)]
pub(crate) struct Node {
    pub(crate) ports: Vec<Port>,
    /// Bytes of each output's frames by input.
    memory: Vec<Vec<u64>>,
    /// Round robin among equal paths, by destination.
    turns: BTreeMap<usize, usize>,
    pub(crate) host: Host,
}

/// The network, and what was received in it: when, and what.
pub(crate) struct Textbook<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) drill: Drill,
    /// Switches mark what comes where more bytes than this are queued with it.
    pub(crate) marks: Option<u64>,
    pub(crate) now: Time,
    /// Events by time, kind, node, port and number, with what travels.
    agenda: BTreeMap<(Time, What, usize, usize, u64), Option<Frame>>,
    count: u64,
    /// Frames of each kind that have passed a link while it was to lose some: by loss, pair, and whether they answer.
    passed: BTreeMap<(usize, (usize, usize), bool), u64>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) log: Vec<(Time, String)>,
    pub(crate) out: Outcome,
}

impl<'a> Textbook<'a> {
    /// Runs a network. What happens at the end of the run or later does not count.
    pub(crate) fn run(spec: &'a RunSpec, drill: Drill) -> Self {
        let hosts = spec.hosts.len();
        let node = |ports: usize| Node {
            ports: (0..ports).map(|_| Port::default()).collect(),
            memory: vec![vec![0; ports]; ports],
            ..Node::default()
        };
        let counts = spec.hosts.iter().map(|_| 1).chain(spec.switches.iter().map(|s| usize::from(s.ports)));
        let nodes = counts.map(node).collect();
        let (marks, now, agenda, count, passed, log, out) = Default::default();
        let mut book = Textbook { spec, drill, marks, now, agenda, count, passed, nodes, log, out };
        let lost = |l: &LinkLoss| LostOnLink { node: l.node, port: l.port, ..LostOnLink::default() };
        book.out.lost_on_links = spec.events.losses.iter().map(lost).collect();
        for l in &spec.links {
            for ((a, i), (b, j)) in [(l.a, l.b), (l.b, l.a)] {
                let peer = (b.0 as usize, usize::from(j));
                let host = spec.hosts.get(peer.0).map(|h| h.processing);
                let port = &mut book.nodes[a.0 as usize].ports[usize::from(i)];
                port.delay = l.delay + host.unwrap_or_else(|| spec.switches[peer.0 - hosts].processing);
                (port.peer, port.line, port.service) = (Some(peer), l.rate, l.rate);
            }
        }
        for (i, c) in spec.events.changes.iter().enumerate() {
            book.plan(c.at, What::Change(i), (c.node.0 as usize, usize::from(c.port)), None);
        }
        book.begin();
        while let Some(((at, what, node, port, _), frame)) = book.agenda.pop_first() {
            if at >= spec.duration {
                break;
            }
            book.now = at;
            book.act(what, node, port, frame);
        }
        book.close();
        book
    }

    /// Events of one moment are in order of kind, then of port; those of one kind at one port in the order in which they were planned.
    pub(crate) fn plan(&mut self, at: Time, what: What, on: (usize, usize), frame: Option<Frame>) {
        self.count += 1;
        // To look twice at one moment shows nothing new.
        let count = if matches!(what, What::Timer | What::Start) { 0 } else { self.count };
        self.agenda.insert((at, what, on.0, on.1, count), frame);
    }

    /// After anything that happens in a node, its idle ports look whether a transmission may start, at the end of the moment.
    fn act(&mut self, what: What, node: usize, port: usize, frame: Option<Frame>) {
        let host = node < self.spec.hosts.len();
        match (what, frame) {
            (What::Start, _) => return self.start(node, port),
            (What::Control | What::Data, Some(f)) if host => self.receive(node, f),
            (What::Control, Some(f)) => {
                let output = self.route(node, f.pair.1);
                self.nodes[node].ports[output].control.push_back(f);
            }
            (What::Data, Some(f)) => self.store(node, port, f),
            (What::Change(i), _) => self.nodes[node].ports[port].service = self.spec.events.changes[i].rate,
            (What::Pause(on), _) => self.obey(node, port, on),
            (What::End, _) => self.end(node, port),
            (What::Timer, _) => self.look(node, port),
            _ => self.offer(node, port),
        }
        let ports = &self.nodes[node].ports;
        let idle = |p: &usize| ports[*p].peer.is_some() && ports[*p].sending.is_none();
        let idle: Vec<usize> = (0..ports.len()).filter(idle).collect();
        idle.into_iter().for_each(|p| self.plan(self.now, What::Start, (node, p), None));
    }

    /// A transmission starts, if none is under way and something may be sent: PAUSE, then control, then data.
    fn start(&mut self, node: usize, p: usize) {
        let port = &mut self.nodes[node].ports[p];
        let (line, service) = (port.line, port.service);
        let first = port.pauses.pop_front().or_else(|| port.control.pop_front());
        let (next, rate) = match first {
            Some(f) => (Some(f), line),
            None if port.xoff.is_some() || service == Rate::ZERO => return,
            None if node < self.spec.hosts.len() => (self.choose(node), service),
            None => (port.data.pop_front(), service),
        };
        if let Some(f) = next {
            self.plan(self.now + rate.transmission_time(Bytes::new(f.len)), What::End, (node, p), None);
            self.nodes[node].ports[p].sending = Some(f);
        }
    }

    /// A transmission ends: its memory is free, and the frame is on its way.
    fn end(&mut self, node: usize, p: usize) {
        let Node { ports, memory, host, .. } = &mut self.nodes[node];
        let port = &mut ports[p];
        let (f, peer, arrival) = (port.sending.take().unwrap(), port.peer.unwrap(), self.now + port.delay);
        let (control, data) = (u64::from(f.what == What::Control), u64::from(f.what == What::Data));
        self.out.packet_hops += control + data;
        self.out.control_hops += control;
        port.out.control_sent += control;
        if node < self.spec.hosts.len() {
            host.out.sent += data;
        } else if data > 0 {
            port.out.sent += 1;
            port.out.sent_bits += f.len * 8;
            memory[p][f.input] -= f.len;
            self.relieve(node);
        }
        if !self.loses(node, p, &f) {
            self.plan(arrival, f.what, peer, Some(f));
        }
    }

    /// Whether the link behind a port loses a frame. One that is lost does not pass the losses listed behind.
    fn loses(&mut self, node: usize, p: usize, f: &Frame) -> bool {
        let (answers, (a, b)) = (f.load.answer.is_some(), f.pair);
        let flow = if answers { (b, a) } else { (a, b) };
        for (i, loss) in self.spec.events.losses.iter().enumerate() {
            let here = (loss.node.0 as usize, usize::from(loss.port)) == (node, p);
            if !here || self.now < loss.from || self.now >= loss.to {
                continue;
            }
            let nth = self.passed.entry((i, flow, answers)).or_default();
            *nth += 1;
            let ends = (NodeId(flow.0 as u32), NodeId(flow.1 as u32));
            let one = |l: &LostFrame| (l.flow, l.acknowledgement, l.nth) == (ends, answers, *nth);
            let lost = match &loss.kind {
                LossKind::Drawn(p) => *p >= 1.0,
                LossKind::Listed(list) => list.iter().any(one),
            };
            if lost {
                let sum = &mut self.out.lost_on_links[i];
                *if f.load.is_data() { &mut sum.data } else { &mut sum.acknowledgements } += 1;
                return true;
            }
        }
        false
    }

    /// XOFF or XON arrives: from now on no data starts, or may again.
    fn obey(&mut self, node: usize, p: usize, on: bool) {
        let n = &mut self.nodes[node];
        n.host.out.pause.received += u64::from(on);
        let port = &mut n.ports[p];
        if on {
            port.xoff = port.xoff.or(Some(self.now));
        } else if let Some(since) = port.xoff.take() {
            port.out.paused += self.now - since;
        }
    }

    /// The port of a switch that leads to a host by a shortest path.
    fn route(&mut self, node: usize, to: usize) -> usize {
        let mut far = vec![usize::MAX / 2; self.nodes.len()];
        far[to] = 0;
        for l in self.nodes.iter().flat_map(|_| &self.spec.links) {
            let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
            (far[a], far[b]) = (far[a].min(far[b] + 1), far[b].min(far[a] + 1));
        }
        let Node { ports, turns, .. } = &mut self.nodes[node];
        let nearer = |p: &usize| ports[*p].peer.is_some_and(|(peer, _)| far[peer] + 1 == far[node]);
        let choices: Vec<usize> = (0..ports.len()).filter(nearer).collect();
        let turn = turns.entry(to).or_default();
        *turn += 1;
        let k = if self.spec.routing == Routing::Destination { to } else { *turn - 1 };
        choices[k % choices.len()]
    }

    fn switch(&self, node: usize) -> &'a SwitchSpec {
        &self.spec.switches[node - self.spec.hosts.len()]
    }

    /// Bytes that share memory with what goes from this input to this output.
    fn held(&self, node: usize, output: usize, input: usize, pool: bool) -> u64 {
        let memory = &self.nodes[node].memory;
        match self.switch(node).buffer.organisation {
            Organisation::Crosspoint => memory[output][input],
            Organisation::Input => memory.iter().map(|of| of[input]).sum(),
            Organisation::SharedOutput if pool => memory.iter().flatten().sum(),
            Organisation::SharedOutput => memory[output].iter().sum(),
        }
    }

    /// Data arrives at a switch: it is dropped, or stored and counted. Too much of it calls for XOFF to its input, or to all.
    fn store(&mut self, node: usize, input: usize, mut f: Frame) {
        let (output, switch) = (self.route(node, f.pair.1), self.switch(node));
        let BufferSpec { organisation, share, pause, .. } = switch.buffer;
        let one = organisation == Organisation::SharedOutput;
        let held = self.held(node, output, input, true) + f.len;
        let Node { ports, memory, .. } = &mut self.nodes[node];
        let (port, queued) = (&mut ports[output], memory[output].iter().sum::<u64>() + f.len);
        if held > share.get() * if one { u64::from(switch.ports) } else { 1 } {
            port.out.dropped += 1;
            return;
        }
        memory[output][input] += f.len;
        port.out.queue_max = port.out.queue_max.max(queued);
        f.input = input;
        f.marked |= self.marks.is_some_and(|k| queued > k);
        port.data.push_back(f);
        if let Some(pause) = pause.filter(|p| self.held(node, output, input, p.pool) > p.high.get()) {
            let stops = if pause.global || one { 0..switch.ports.into() } else { input..input + 1 };
            stops.for_each(|p| self.signal(node, p, true));
        }
    }

    /// Memory became free: XON to each input, or to all, whose partitions are all low.
    fn relieve(&mut self, node: usize) {
        let Some(pause) = self.switch(node).buffer.pause else { return };
        let ports = self.nodes[node].ports.len();
        let low = |i: &usize| (0..ports).all(|o| self.held(node, o, *i, pause.pool) <= pause.low.get());
        let low: Vec<usize> = (0..ports).filter(low).collect();
        if !pause.global || low.len() == ports {
            low.into_iter().for_each(|p| self.signal(node, p, false));
        }
    }

    /// XOFF or XON to the peer of a port, unless that has it already.
    fn signal(&mut self, node: usize, p: usize, on: bool) {
        let transport = self.switch(node).buffer.pause.unwrap().transport;
        let port = &mut self.nodes[node].ports[p];
        let Some(peer) = port.peer.filter(|_| port.stopped != on) else { return };
        port.stopped = on;
        port.out.xoffs += u64::from(on);
        let (what, at) = (What::Pause(on), self.now + port.delay);
        let f = Frame { what, len: 64, born: at, ..Frame::default() };
        match transport {
            PauseTransport::Frame => port.pauses.push_back(f),
            PauseTransport::Wire => self.plan(at, what, peer, None),
        }
    }

    /// What the ports and hosts counted.
    fn close(&mut self) {
        self.out.lost_on_links.sort_by_key(|l| (l.node, l.port));
        for mut n in std::mem::take(&mut self.nodes) {
            for p in &mut n.ports {
                p.out.paused += p.xoff.map_or(Time::ZERO, |since| self.spec.duration - since);
            }
            if self.out.hosts.len() < self.spec.hosts.len() {
                n.host.out.pause.time = n.ports[0].out.paused;
                self.out.hosts.push(n.host.out);
            } else {
                let ports = n.ports.into_iter().map(|p| p.out).collect();
                self.out.switches.push(SwitchOutcome { ports, ..SwitchOutcome::default() });
            }
        }
    }
}
