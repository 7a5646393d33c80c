//! The textbook of classes: store and forward with a queue of each class at each port, in the plainest structures. It shares nothing with
//! the crate but the words of a question ([`RunSpec`]) and of an answer. It follows `DESIGN.md`, the documents of [`Turn`] and
//! [`SharedSpec`], and the literature on deficit round robin, priority flow control and dynamic thresholds.

use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// What happens at a moment, in the order in which it happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Fault,
    Pause,
    End,
    Control,
    Data,
    Slot,
    Start,
}

/// What travels. XOFF and XON (`on`) name a class.
#[derive(Clone, Copy, Debug)]
struct Frame {
    what: What,
    class: usize,
    on: bool,
    pair: (usize, usize),
    len: u64,
    born: Time,
    /// Port by which it came into the switch that holds it.
    input: usize,
}

/// Whose turn it is among the classes of a port.
#[derive(Clone, Debug, Default)]
struct Turns {
    /// Weighted classes, the next first.
    ring: VecDeque<usize>,
    deficit: Vec<i64>,
    /// The first of the ring has its quantum.
    visited: bool,
}

/// One end of a link: what is sent from there.
#[derive(Clone, Debug, Default)]
struct Port {
    peer: Option<(usize, usize)>,
    /// From the end of a transmission to the arrival, with the peer's processing.
    delay: Time,
    rate: Rate,
    sending: Option<Frame>,
    pauses: VecDeque<Frame>,
    control: VecDeque<Frame>,
    turns: Turns,
    /// By class: what waits, since when it is in XOFF, whether the peer is, and what was counted.
    data: Vec<VecDeque<Frame>>,
    xoff: Vec<Option<Time>>,
    stopped: Vec<bool>,
    out: Vec<PortOutcome>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    ports: Vec<Port>,
    /// By class, output and input: bytes that have not left.
    memory: Vec<Vec<Vec<u64>>>,
    /// Of a shared buffer, by class and input: bytes in reserve and pool, and in headroom.
    parts: Vec<Vec<(u64, u64)>>,
    /// What the pools of lossless and of lossy classes hold.
    pools: [u64; 2],
    /// Round robin among equal paths, by destination.
    paths: BTreeMap<usize, usize>,
    /// By class.
    host: Vec<HostOutcome>,
}

/// The network, and what happened in it.
pub(crate) struct Book<'a> {
    spec: &'a RunSpec,
    /// Hosts answer each data frame by a message.
    answers: bool,
    /// Quanta of a weight of 1, and by class: the longest frame of the run, and the weight.
    largest: i64,
    weights: Vec<i64>,
    now: Time,
    agenda: BTreeMap<(Time, What, usize, usize, u64), Option<Frame>>,
    count: u64,
    nodes: Vec<Node>,
    /// What ports put on their links: when, where, of which class, and what.
    pub(crate) log: Vec<(Time, usize, usize, String)>,
}

impl<'a> Book<'a> {
    /// Runs a network. What happens at the end of the run or later does not count.
    pub(crate) fn run(spec: &'a RunSpec, answers: bool) -> Self {
        let classes = spec.classes.len();
        let weight =
            |class: &ClassSpec| if let Turn::Weight { weight, .. } = class.turn { weight } else { 0 };
        let weights: Vec<i64> = spec.classes.iter().map(|class| weight(class).into()).collect();
        let common = (1..=1000).rev().find(|n| weights.iter().all(|w| w % n == 0)).unwrap();
        let weights = weights.iter().map(|w| w / common).collect();
        let lengths = spec.hosts.iter().flat_map(|h| h.sources.iter().map(|s| s.frame.get()));
        let port = Port {
            turns: Turns { deficit: vec![0; classes], ..Turns::default() },
            data: vec![VecDeque::new(); classes],
            xoff: vec![None; classes],
            stopped: vec![false; classes],
            out: vec![PortOutcome::default(); classes],
            ..Port::default()
        };
        let node = |ports: usize| Node {
            ports: vec![port.clone(); ports],
            memory: vec![vec![vec![0; ports]; ports]; classes],
            parts: vec![vec![(0, 0); ports]; classes],
            host: vec![HostOutcome::default(); classes],
            ..Node::default()
        };
        let ports = spec.hosts.iter().map(|_| 1).chain(spec.switches.iter().map(|s| usize::from(s.ports)));
        let nodes = ports.map(node).collect();
        let largest = lengths.max().unwrap_or(0).max(64) as i64;
        let (now, agenda, count, log) = Default::default();
        let mut book = Book { spec, answers, largest, weights, now, agenda, count, nodes, log };
        book.begin();
        while let Some(((at, what, node, port, _), frame)) = book.agenda.pop_first() {
            if at >= spec.duration {
                break;
            }
            book.now = at;
            book.act(what, node, port, frame);
        }
        book
    }

    /// Links, faults and sources.
    fn begin(&mut self) {
        let (spec, hosts) = (self.spec, self.spec.hosts.len());
        for l in &spec.links {
            for ((a, i), (b, j)) in [(l.a, l.b), (l.b, l.a)] {
                let peer = (b.0 as usize, usize::from(j));
                let host = spec.hosts.get(peer.0).map(|h| h.processing);
                let port = &mut self.nodes[a.0 as usize].ports[usize::from(i)];
                port.delay = l.delay + host.unwrap_or_else(|| spec.switches[peer.0 - hosts].processing);
                (port.peer, port.rate) = (Some(peer), l.rate);
            }
        }
        for f in &spec.events.faults {
            for (at, on) in [(f.from, true), (f.to, false)] {
                let say = Frame { on, ..frame(What::Pause, f.class.into(), (0, 0), 64, at) };
                self.plan(at, What::Fault, (f.node.0 as usize, f.port.into()), Some(say));
            }
        }
        for (h, host) in spec.hosts.iter().enumerate() {
            for (s, source) in host.sources.iter().enumerate() {
                self.plan(source.start, What::Slot, (h, s), None);
            }
            // A host makes its frames as they go: all classes are visited always.
            self.nodes[h].ports[0].turns.ring =
                (0..spec.classes.len()).filter(|class| self.weights[*class] > 0).collect();
        }
    }

    /// Events of one moment are in order of kind, then of port; those of one kind at one port in the order in which they were planned.
    fn plan(&mut self, at: Time, what: What, (node, port): (usize, usize), frame: Option<Frame>) {
        self.count += 1;
        let count = if what == What::Start { 0 } else { self.count };
        self.agenda.insert((at, what, node, port, count), frame);
    }

    /// After anything that happens in a node, its idle ports look whether a transmission may start, at the end of the moment.
    fn act(&mut self, what: What, node: usize, port: usize, frame: Option<Frame>) {
        let host = node < self.spec.hosts.len();
        match (what, frame) {
            (What::Start, _) => return self.start(node, port),
            (What::Fault, Some(f)) => {
                let fault = self.spec.events.faults.iter().find(|l| l.node.0 as usize == node).unwrap();
                self.signal((node, port), f.class, f.on, fault.transport);
            }
            (What::Pause, Some(f)) => self.obey(node, port, f),
            (What::End, _) => self.end(node, port),
            (What::Data, Some(f)) if host => self.receive(node, f),
            (What::Control, Some(_)) if host => {}
            (What::Control, Some(f)) => {
                let output = self.route(node, f.pair.1);
                self.nodes[node].ports[output].control.push_back(f);
            }
            (What::Data, Some(f)) => self.store(node, port, f),
            _ => self.offer(node, port),
        }
        let ports = &self.nodes[node].ports;
        let idle = |p: &usize| ports[*p].peer.is_some() && ports[*p].sending.is_none();
        let idle: Vec<usize> = (0..ports.len()).filter(idle).collect();
        idle.into_iter().for_each(|p| self.plan(self.now, What::Start, (node, p), None));
    }

    /// A slot of a source of a host: a frame, each time or as long as fewer than two of its class wait.
    fn offer(&mut self, h: usize, s: usize) {
        let (spec, now) = (&self.spec.hosts[h], self.now);
        let source = &spec.sources[s];
        if now >= source.stop {
            return;
        }
        let Destinations::Fixed(NodeId(dst)) = source.destinations else { panic!("draws a destination") };
        let (class, node) = (usize::from(source.class), &mut self.nodes[h]);
        let slot = node.ports[0].rate.transmission_time(source.frame);
        let (queue, most) = (&mut node.ports[0].data[class], spec.fifo_frames as usize);
        if source.arrivals != Arrivals::Greedy || queue.len() < most.min(2) {
            node.host[class].generated += 1;
            if queue.len() < most {
                queue.push_back(frame(What::Data, class, (h, dst as usize), source.frame.get(), now));
            } else {
                node.host[class].source_discards += 1;
            }
        }
        self.plan(now + slot, What::Slot, (h, s), None);
    }

    /// The class that sends next at a port: the first strict one that may, else by deficit.
    fn turn(&mut self, node: usize, p: usize) -> Option<usize> {
        let (host, largest) = (node < self.spec.hosts.len(), self.largest);
        let Port { turns, data, xoff, .. } = &mut self.nodes[node].ports[p];
        let may = |class: &usize| !data[*class].is_empty() && xoff[*class].is_none();
        let strict = (0..data.len()).find(|class| self.weights[*class] == 0 && may(class));
        if strict.is_some() {
            return strict;
        }
        let mut passed = 0;
        while passed < turns.ring.len() {
            let class = turns.ring[0];
            let deficit = &mut turns.deficit[class];
            let head = data[class].front().map(|f| f.len as i64);
            let by_frames = matches!(self.spec.classes[class].turn, Turn::Weight { frames: true, .. });
            // An output knows the next frame. A host sends while a byte is left.
            let due = if by_frames { largest } else { head.filter(|_| !host).unwrap_or(1) };
            if xoff[class].is_none() && !turns.visited {
                *deficit += self.weights[class] * largest;
                turns.visited = true;
            }
            if xoff[class].is_some() || *deficit >= due && head.is_none() {
                // In XOFF, or idle at a host, when its turn comes: it keeps its place, and loses its deficit.
                *deficit = 0;
                passed += 1;
            } else if let Some(len) = head.filter(|_| *deficit >= due) {
                *deficit -= if by_frames { largest } else { len };
                // At an output, who waits no longer leaves, and joins at the end.
                if data[class].len() == 1 && !host {
                    *deficit = 0;
                    turns.ring.pop_front();
                    turns.visited = false;
                }
                return Some(class);
            } else {
                // Its visit is over.
                passed = 0;
            }
            turns.visited = false;
            turns.ring.rotate_left(1);
        }
        None
    }

    /// A transmission starts, if none is under way and something may be sent: PAUSE, then control, then data.
    fn start(&mut self, node: usize, p: usize) {
        let port = &mut self.nodes[node].ports[p];
        if port.sending.is_some() {
            return;
        }
        let ahead = port.pauses.pop_front().or_else(|| port.control.pop_front());
        let next = ahead.or_else(|| {
            let class = self.turn(node, p)?;
            self.nodes[node].ports[p].data[class].pop_front()
        });
        let Some(f) = next else { return };
        let port = &mut self.nodes[node].ports[p];
        port.sending = Some(f);
        let end = self.now + port.rate.transmission_time(Bytes::new(f.len));
        self.plan(end, What::End, (node, p), None);
    }

    /// A transmission ends: its memory is free, and the frame is on its way.
    fn end(&mut self, node: usize, p: usize) {
        let (host, Node { ports, host: out, .. }) = (node < self.spec.hosts.len(), &mut self.nodes[node]);
        let port = &mut ports[p];
        let (f, peer, arrival) = (port.sending.take().unwrap(), port.peer.unwrap(), self.now + port.delay);
        let data = f.what == What::Data;
        if data {
            out[f.class].sent += u64::from(host);
            port.out[f.class].sent += 1;
            port.out[f.class].sent_bits += f.len * 8;
        }
        self.note(node, p, &f);
        if data && !host {
            self.nodes[node].memory[f.class][p][f.input] -= f.len;
            self.relieve(node, f);
        }
        let response = if f.what == What::Pause { self.spec.laws.pause_frames.response } else { Time::ZERO };
        self.plan(arrival + response, f.what, peer, Some(f));
    }

    fn note(&mut self, node: usize, p: usize, f: &Frame) {
        let Frame { class, on, pair, len, .. } = *f;
        let text = match f.what {
            What::Pause => format!("class {class}: {}", if on { "XOFF" } else { "XON" }),
            What::Data => format!("class {class}: {} to {}, {len} B", pair.0, pair.1),
            _ => format!("message to {}, {len} B", pair.1),
        };
        self.log.push((self.now, node, p, text));
    }

    /// XOFF or XON of a class takes effect.
    fn obey(&mut self, node: usize, p: usize, f: Frame) {
        let n = &mut self.nodes[node];
        let Port { xoff, out, .. } = &mut n.ports[p];
        let (since, out) = (&mut xoff[f.class], &mut out[f.class]);
        if f.on {
            n.host[f.class].pause.received += 1;
            *since = since.or(Some(self.now));
        } else if let Some(since) = since.take() {
            out.paused += self.now - since;
        }
    }

    /// A data frame has reached its host.
    fn receive(&mut self, h: usize, f: Frame) {
        let (took, out) = (self.now - f.born, &mut self.nodes[h].host[f.class]);
        out.delivered += 1;
        out.delivered_bits += f.len * 8;
        out.latencies.sum += took;
        out.latencies.max = out.latencies.max.max(took);
        if self.answers {
            // Each class has reflectors of its own: their messages go by class.
            let control = &mut self.nodes[h].ports[0].control;
            let before = control.iter().filter(|other| other.class <= f.class).count();
            control.insert(before, frame(What::Control, f.class, (h, f.pair.0), 64, self.now));
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
        let Node { ports, paths, .. } = &mut self.nodes[node];
        let nearer = |p: &usize| ports[*p].peer.is_some_and(|(peer, _)| far[peer] + 1 == far[node]);
        let choices: Vec<usize> = (0..ports.len()).filter(nearer).collect();
        let turn = paths.entry(to).or_default();
        *turn += 1;
        let k = if self.spec.routing == Routing::Destination { to } else { *turn - 1 };
        choices[k % choices.len()]
    }

    fn switch(&self, node: usize) -> &'a SwitchSpec {
        &self.spec.switches[node - self.spec.hosts.len()]
    }

    /// The PAUSE of a class at a switch.
    fn pause(&self, node: usize, class: usize) -> Option<PauseSpec> {
        self.switch(node).buffer.pause.filter(|_| self.spec.classes[class].pause)
    }

    /// Bytes of a class that share memory with what goes from this input to this output.
    fn held(&self, node: usize, class: usize, (output, input): (usize, usize), pool: bool) -> u64 {
        let memory = &self.nodes[node].memory[class];
        match self.switch(node).buffer.organisation {
            Organisation::Crosspoint => memory[output][input],
            Organisation::Input => memory.iter().map(|of| of[input]).sum(),
            Organisation::SharedOutput if pool => memory.iter().flatten().sum(),
            Organisation::SharedOutput => memory[output].iter().sum(),
        }
    }

    /// Data arrives at a switch: it is dropped, or stored and counted. Too much of it calls for XOFF of its class.
    fn store(&mut self, node: usize, input: usize, mut f: Frame) {
        let (output, switch) = (self.route(node, f.pair.1), self.switch(node));
        let BufferSpec { organisation, share, output_limit, .. } = switch.buffer;
        let one = organisation == Organisation::SharedOutput;
        let queued: u64 = self.nodes[node].memory[f.class][output].iter().sum();
        if output_limit.is_some_and(|limit| queued + f.len > limit.get()) {
            self.nodes[node].ports[output].out[f.class].dropped_by_limit += 1;
            return;
        }
        let held = self.held(node, f.class, (output, input), true) + f.len;
        let fits = match &switch.shared {
            None => held <= share.get() * if one { u64::from(switch.ports) } else { 1 },
            Some(_) => self.share(node, (output, input), queued, &f),
        };
        let Node { ports, memory, .. } = &mut self.nodes[node];
        let Port { turns, data, out, .. } = &mut ports[output];
        if !fits {
            out[f.class].dropped += 1;
            return;
        }
        memory[f.class][output][input] += f.len;
        out[f.class].queue_max = out[f.class].queue_max.max(queued + f.len);
        f.input = input;
        if self.weights[f.class] > 0 && data[f.class].is_empty() {
            turns.ring.push_back(f.class);
        }
        data[f.class].push_back(f);
        let Some(pause) = self.pause(node, f.class) else { return };
        let stops = match &switch.shared {
            Some(_) => {
                let (pooled, above, most) = self.part(node, f.class, input);
                above > 0 || pooled >= most
            }
            None => self.held(node, f.class, (output, input), pause.pool) > pause.high.get(),
        };
        let all = pause.global || one;
        let inputs = if all { 0..switch.ports.into() } else { input..input + 1 };
        inputs.filter(|_| stops).for_each(|p| self.signal((node, p), f.class, true, pause.transport));
    }

    /// Memory became free: XON of the class to each input, or to all, whose partitions are all low.
    fn relieve(&mut self, node: usize, f: Frame) {
        let Frame { class, input, len, .. } = f;
        let pause = self.pause(node, class);
        if let Some(shared) = &self.switch(node).shared {
            self.release(node, class, input, len);
            let (pooled, above, most) = self.part(node, class, input);
            let low = above == 0 && (pooled == 0 || pooled + shared.resume.get() <= most);
            let on = pause.filter(|_| low);
            return on.into_iter().for_each(|p| self.signal((node, input), class, false, p.transport));
        }
        let Some(pause) = pause else { return };
        let ports = self.nodes[node].ports.len();
        let low =
            |i: &usize| (0..ports).all(|o| self.held(node, class, (o, *i), pause.pool) <= pause.low.get());
        let low: Vec<usize> = (0..ports).filter(low).collect();
        if !pause.global || low.len() == ports {
            low.into_iter().for_each(|p| self.signal((node, p), class, false, pause.transport));
        }
    }

    /// XOFF or XON of a class to the peer of a port, unless that has it already.
    fn signal(&mut self, (node, p): (usize, usize), class: usize, on: bool, transport: PauseTransport) {
        let PauseFrames { length, response } = self.spec.laws.pause_frames;
        let port = &mut self.nodes[node].ports[p];
        let Some(peer) = port.peer.filter(|_| port.stopped[class] != on) else { return };
        port.stopped[class] = on;
        port.out[class].xoffs += u64::from(on);
        let at = self.now + port.delay + response;
        let f = Frame { on, ..frame(What::Pause, class, (0, 0), length.get(), self.now) };
        match transport {
            PauseTransport::Frame => port.pauses.push_back(f),
            PauseTransport::Wire => {
                self.note(node, p, &f);
                self.plan(at, What::Pause, peer, Some(f));
            }
        }
    }
}

/// Shared buffers: a pool of the lossless classes, with a reserve and headroom of each at each input, and one of the others.
impl Book<'_> {
    /// Reserve and headroom of a class at a port, and its share of the free pool. A lossy class has the pool alone.
    fn own(&self, node: usize, class: usize, port: usize) -> (u64, u64, f64) {
        let switch = self.switch(node);
        let shared = switch.shared.as_ref().unwrap();
        let SharedInput { reserve, headroom, alpha } =
            shared.inputs[class * usize::from(switch.ports) + port];
        let lossless = self.pause(node, class).is_some();
        if lossless { (reserve.get(), headroom.get(), alpha) } else { (0, 0, alpha) }
    }

    /// What is free of the pool of a class, and the most of it that its frames at a port may hold.
    fn most(&self, node: usize, class: usize, port: usize) -> (u64, u64) {
        let (switch, all) = (self.switch(node), 0..self.spec.classes.len());
        let shared = switch.shared.as_ref().unwrap();
        let (lossless, lossy): (Vec<_>, Vec<_>) = all.partition(|class| self.pause(node, *class).is_some());
        let ports = 0..usize::from(switch.ports);
        let sum = |of: fn((u64, u64, f64)) -> u64| -> u64 {
            let all = lossless.iter().flat_map(|class| ports.clone().map(move |p| (*class, p)));
            all.map(|(class, p)| of(self.own(node, class, p))).sum()
        };
        let kept = sum(|own| own.0) + sum(|own| own.1).min(shared.headroom.map_or(u64::MAX, Bytes::get));
        let second = if lossless.is_empty() || lossy.is_empty() { 0 } else { shared.lossy.get() };
        let (of_lossy, pools) = (lossy.contains(&class), self.nodes[node].pools);
        let first = shared.memory.get() - kept - second;
        let free =
            if of_lossy && second > 0 { second - pools[1] } else { first - pools[usize::from(of_lossy)] };
        let dynamic = (self.own(node, class, port).2 * free as f64) as u64;
        (free, shared.threshold.map_or(dynamic, Bytes::get))
    }

    /// Bytes of an input in the pool, which hold more, or so many less.
    fn pooled(&self, node: usize, class: usize, input: usize, more: u64, less: u64) -> u64 {
        let held = self.nodes[node].parts[class][input].0 + more - less;
        held.saturating_sub(self.own(node, class, input).0)
    }

    /// A frame of an input takes its place in reserve and pool, or in headroom, or there is none. Where a class has no PAUSE, the queue of
    /// the output decides.
    fn share(&mut self, node: usize, (output, input): (usize, usize), queued: u64, f: &Frame) -> bool {
        let Frame { class, len, .. } = *f;
        let lossy = self.pause(node, class).is_none();
        let (free, most) = self.most(node, class, if lossy { output } else { input });
        let (before, after) =
            (self.pooled(node, class, input, 0, 0), self.pooled(node, class, input, len, 0));
        let own = self.own(node, class, input).1;
        let all: u64 = self.nodes[node].parts.iter().flatten().map(|part| part.1).sum();
        let left = self.switch(node).shared.as_ref().unwrap().headroom.map_or(u64::MAX, Bytes::get) - all;
        let Node { parts, pools, .. } = &mut self.nodes[node];
        let (held, above) = &mut parts[class][input];
        if if lossy {
            queued < most && len <= free
        } else {
            after == 0 || after <= most && after - before <= free
        } {
            *held += len;
            pools[usize::from(lossy)] += after - before;
            return true;
        }
        let fits = *above + len <= own && len <= left;
        *above += if fits { len } else { 0 };
        fits
    }

    /// What an input holds of the pool and in headroom, and the most that it may hold of the pool.
    fn part(&self, node: usize, class: usize, input: usize) -> (u64, u64, u64) {
        let above = self.nodes[node].parts[class][input].1;
        (self.pooled(node, class, input, 0, 0), above, self.most(node, class, input).1)
    }

    /// Bytes leave headroom first, then the pool, then the reserve.
    fn release(&mut self, node: usize, class: usize, input: usize, len: u64) {
        let lossy = usize::from(self.pause(node, class).is_none());
        let above = self.nodes[node].parts[class][input].1.min(len);
        let (before, after) =
            (self.pooled(node, class, input, 0, 0), self.pooled(node, class, input, 0, len - above));
        let (held, of_headroom) = &mut self.nodes[node].parts[class][input];
        (*held, *of_headroom) = (*held + above - len, *of_headroom - above);
        self.nodes[node].pools[lossy] -= before - after;
    }

    /// What was counted: by class, of hosts and of ports.
    pub(crate) fn counts(&self) -> (Vec<Vec<HostOutcome>>, Vec<Vec<PortOutcome>>) {
        let (end, (hosts, switches)) = (self.spec.duration, self.nodes.split_at(self.spec.hosts.len()));
        let closed = |port: &Port, class: usize| {
            let paused = port.xoff[class].map_or(Time::ZERO, |since| end - since);
            PortOutcome { paused: port.out[class].paused + paused, ..port.out[class].clone() }
        };
        let host = |h: &Node, class: usize| {
            let port = closed(&h.ports[0], class);
            let mut out = h.host[class].clone();
            (out.pause.time, out.pause.sent) = (port.paused, port.xoffs);
            out
        };
        let of_hosts = |class| hosts.iter().map(|h| host(h, class)).collect();
        let ports = |class| switches.iter().flat_map(|s| &s.ports).map(|p| closed(p, class)).collect();
        let classes = 0..self.spec.classes.len();
        (classes.clone().map(of_hosts).collect(), classes.map(ports).collect())
    }
}

fn frame(what: What, class: usize, pair: (usize, usize), len: u64, born: Time) -> Frame {
    Frame { what, class, on: false, pair, len, born, input: 0 }
}
