//! The textbook's hosts: sources without draws, limiters, and whose turn it is at the link.

use crate::book::{Event, Frame, Textbook};
use cnsim_fabric::*;
use cnsim_scheme_api::{NodeId, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// The queue of a destination, with what limits it: where there are limiters, or queues per destination.
struct Limiter {
    dst: usize,
    rate: Rate,
    /// No frame goes before.
    next: Time,
    /// Messages that set the rate.
    heard: usize,
    queue: VecDeque<Frame>,
}

/// A finite flow that waits to send.
struct Waiting {
    flow: (usize, usize),
    dst: usize,
    /// A limiter ahead of the FIFO has let its next frame go.
    let_go: bool,
}

#[derive(Default)]
pub(crate) struct Host {
    /// In the order in which they were built.
    limiters: Vec<Limiter>,
    /// Whose turn it is: the FIFO's (0), or that of a limiter.
    turn: usize,
    /// Destinations whose queue holds a frame, the next one first: with queues per destination.
    ring: VecDeque<usize>,
    /// Limiters that wait for room in the FIFO.
    line: VecDeque<usize>,
    /// The flow that has waited longest first.
    flows: VecDeque<Waiting>,
    /// It is the turn of the flows, and not of the queues.
    flows_turn: bool,
    /// Bytes of each flow that have not been sent.
    left: BTreeMap<(usize, usize), u64>,
    /// Bytes received, by sending host and flow.
    received: BTreeMap<(usize, usize, usize), u64>,
    pub(crate) out: HostOutcome,
}

impl Host {
    fn limiter(&mut self, dst: usize) -> Option<&mut Limiter> {
        self.limiters.iter_mut().find(|l| l.dst == dst)
    }
}

impl Textbook<'_> {
    /// Plans what a host's sources do.
    pub(crate) fn begin(&mut self, h: usize) {
        for (s, source) in self.spec.hosts[h].sources.iter().enumerate() {
            if source.arrivals != Arrivals::Transfers {
                self.plan(source.start, h, s, Event::Slot(0));
            }
            for (i, t) in source.transfers.iter().enumerate() {
                self.nodes[h].host.left.insert((s, i), on_link(t, source));
                self.plan(t.start, h, s, Event::Slot(i));
            }
        }
    }

    /// A slot of a source, or the start of its i-th flow.
    pub(crate) fn offer(&mut self, h: usize, s: usize, i: usize) {
        let source = &self.spec.hosts[h].sources[s];
        self.plan(self.now, h, 0, Event::Start);
        if source.arrivals == Arrivals::Transfers {
            let dst = source.transfers[i].dst.0 as usize;
            if self.nodes[h].host.left[&(s, i)] > 0 {
                self.build(h, dst);
                self.wait(h, (s, i), dst);
            }
            return;
        }
        if self.now >= source.stop {
            return;
        }
        let slot = self.time(self.nodes[h].ports[0].line, source.frame.get());
        self.plan(self.now + slot, h, s, Event::Slot(0));
        let Destinations::Fixed(NodeId(dst)) = source.destinations else { panic!("draws a destination") };
        let dst = dst as usize;
        let makes = match source.arrivals {
            Arrivals::Bernoulli { load } => load == 1.0,
            Arrivals::Greedy => self.wants(h, dst),
            Arrivals::OnOff { on, off, shift } => {
                let at = (self.now - source.start + shift).as_ps() % (on + off).as_ps();
                at < on.as_ps() && self.wants(h, dst)
            }
            other => panic!("{other:?} is not in the textbook"),
        };
        if makes {
            self.enter(h, dst, source.frame.get());
        }
    }

    /// A limiter, or a destination's own queue, is built for the first frame that asks for it.
    fn build(&mut self, h: usize, dst: usize) {
        let pace = &self.drill.pace;
        let line = self.nodes[h].ports[0].line;
        let host = &mut self.nodes[h].host;
        let each = self.spec.hosts[h].queues == HostQueues::PerDestination;
        if (each || !pace.is_empty()) && host.limiter(dst).is_none() {
            host.out.limited_flows += u64::from(!pace.is_empty());
            let rate = if pace.is_empty() { line } else { line * pace[dst % pace.len()] };
            host.limiters.push(Limiter { dst, rate, next: Time::ZERO, heard: 0, queue: VecDeque::new() });
        }
    }

    /// Frames that wait where one to this destination would: in its limiter, as long as that is slower than the line or holds some, or
    /// in the host's own memory. With how many there may be, and how many of them are the destination's own.
    fn place(&mut self, h: usize, dst: usize) -> (usize, usize, usize) {
        let spec = &self.spec.hosts[h];
        let line = self.nodes[h].ports[0].line;
        let fifo = self.nodes[h].ports[0].data.len();
        let host = &mut self.nodes[h].host;
        let all = host.limiters.iter().map(|l| l.queue.len()).sum();
        let own = host.limiter(dst).map(|l| (l.queue.len(), l.rate < line));
        let (fifo_frames, limiter_frames) = (spec.fifo_frames as usize, spec.limiter_frames as usize);
        match own {
            Some((own, _)) if spec.queues == HostQueues::PerDestination => (all, fifo_frames, own),
            Some((own, slow)) if slow || own > 0 => (own, limiter_frames, 0),
            _ => (fifo, fifo_frames, fifo),
        }
    }

    /// A source that is to have a frame there whenever one can be sent makes one while fewer than two wait, of its destination where each
    /// has a queue, and while its limiter has room.
    fn wants(&mut self, h: usize, dst: usize) -> bool {
        self.build(h, dst);
        let (waiting, most, own) = self.place(h, dst);
        own < most.min(2) && waiting < most
    }

    /// A new frame meets its limiter or the FIFO, or is discarded.
    fn enter(&mut self, h: usize, dst: usize, len: u64) {
        self.build(h, dst);
        let (waiting, most, own) = self.place(h, dst);
        let each = self.spec.hosts[h].queues == HostQueues::PerDestination;
        let f = Frame { control: false, pair: (h, dst), to: dst, len, born: self.now, input: 0, flow: None };
        let (now, n) = (self.now, &mut self.nodes[h]);
        n.host.out.generated += 1;
        if waiting >= most {
            n.host.out.source_discards += 1;
            return;
        }
        let line = n.ports[0].line;
        match n.host.limiter(dst) {
            Some(l) if each || l.rate < line || !l.queue.is_empty() => {
                if l.queue.is_empty() {
                    l.next = l.next.max(now);
                }
                l.queue.push_back(f);
                let next = l.next.max(now);
                if each && own == 0 {
                    n.host.ring.push_back(dst);
                }
                self.plan(next, h, dst, Event::Timer);
                self.let_in(h, dst);
            }
            _ => n.ports[0].data.push_back(f),
        }
    }

    /// A limiter may let a frame go now.
    pub(crate) fn due(&mut self, h: usize, dst: usize) {
        self.let_in(h, dst);
        self.let_go(h, dst);
        self.plan(self.now, h, 0, Event::Start);
    }

    /// The limiter's next frame goes after this one's time at its rate.
    fn pace(&mut self, h: usize, dst: usize, len: u64) {
        let Some(rate) = self.nodes[h].host.limiter(dst).map(|l| l.rate) else { return };
        let next = self.now + self.time(rate, len);
        self.nodes[h].host.limiter(dst).unwrap().next = next;
        self.plan(next, h, dst, Event::Timer);
    }

    /// Limiters stand ahead of the FIFO.
    fn ahead(&self, h: usize) -> bool {
        let host = &self.spec.hosts[h];
        host.limiter_position == LimiterPosition::AtSource && host.queues == HostQueues::Fifo
    }

    /// A limiter ahead of the FIFO lets a frame in that is due. Where the FIFO is full, it stands in line for room.
    fn let_in(&mut self, h: usize, dst: usize) {
        let (ahead, now) = (self.ahead(h), self.now);
        let n = &mut self.nodes[h];
        let full = n.ports[0].data.len() >= self.spec.hosts[h].fifo_frames as usize;
        let Some(l) = n.host.limiters.iter_mut().find(|l| l.dst == dst) else { return };
        if !ahead || l.queue.is_empty() || l.next > now || n.host.line.contains(&dst) {
            return;
        }
        if full {
            n.host.line.push_back(dst);
            return;
        }
        let f = l.queue.pop_front().unwrap();
        let len = f.len;
        n.ports[0].data.push_back(f);
        self.pace(h, dst, len);
    }

    /// A flow begins to wait.
    fn wait(&mut self, h: usize, flow: (usize, usize), dst: usize) {
        self.nodes[h].host.flows.push_back(Waiting { flow, dst, let_go: false });
        self.let_go(h, dst);
    }

    /// A limiter ahead of the FIFO lets a frame of a flow go: from then on that flow waits for the link alone.
    fn let_go(&mut self, h: usize, dst: usize) {
        let (ahead, now) = (self.ahead(h), self.now);
        let host = &mut self.nodes[h].host;
        if !ahead || host.limiter(dst).is_none_or(|l| l.next > now) {
            return;
        }
        if let Some(f) = host.flows.iter_mut().find(|f| f.dst == dst && !f.let_go) {
            f.let_go = true;
            let len = host.left[&f.flow].min(self.spec.hosts[h].sources[f.flow.0].frame.get());
            self.pace(h, dst, len);
        }
    }

    /// The frame that a host sends next: its queues and its finite flows take turns.
    pub(crate) fn choose(&mut self, h: usize) -> Option<Frame> {
        let f = if self.nodes[h].host.flows_turn {
            self.of_flow(h).or_else(|| self.of_queue(h))
        } else {
            self.of_queue(h).or_else(|| self.of_flow(h))
        }?;
        self.nodes[h].host.flows_turn = f.flow.is_none();
        Some(f)
    }

    /// A frame of the flow that has waited longest of those that may send. It is made now.
    fn of_flow(&mut self, h: usize) -> Option<Frame> {
        let (ahead, now) = (self.ahead(h), self.now);
        let Host { limiters, flows, left, out, .. } = &mut self.nodes[h].host;
        let may = |f: &Waiting| match limiters.iter().find(|l| l.dst == f.dst) {
            Some(l) => f.let_go || !ahead && l.next <= now,
            None => true,
        };
        let k = flows.iter().position(may)?;
        let Waiting { flow, dst, let_go } = flows.remove(k)?;
        let left = left.get_mut(&flow)?;
        let len = self.spec.hosts[h].sources[flow.0].frame.get().min(*left);
        *left -= len;
        let more = *left > 0;
        out.generated += 1;
        if !let_go {
            self.pace(h, dst, len);
        }
        if more {
            self.wait(h, flow, dst);
        }
        Some(Frame { control: false, pair: (h, dst), to: dst, len, born: now, input: 0, flow: Some(flow) })
    }

    /// A frame that waits in a queue, or in that of a limiter that lets it go.
    fn of_queue(&mut self, h: usize) -> Option<Frame> {
        let (ahead, now) = (self.ahead(h), self.now);
        let n = &mut self.nodes[h];
        let Host { limiters, ring, turn, line, .. } = &mut n.host;
        if self.spec.hosts[h].queues == HostQueues::PerDestination {
            // The destination served stands last in the ring, and those passed over before it.
            let of = |dst: &usize| limiters.iter().position(|l| l.dst == *dst);
            let k = ring.iter().position(|dst| of(dst).is_some_and(|i| limiters[i].next <= now))?;
            ring.rotate_left(k);
            let dst = ring.pop_front()?;
            let l = limiters.iter_mut().find(|l| l.dst == dst)?;
            let f = l.queue.pop_front()?;
            if !l.queue.is_empty() {
                ring.push_back(dst);
            }
            self.pace(h, dst, f.len);
            return Some(f);
        }
        // The FIFO has the first place, and after it each limiter, in the order in which they were built.
        let places = 1 + if ahead { 0 } else { limiters.len() };
        for place in (*turn..places).chain(0..*turn) {
            let from = match place {
                0 => &mut n.ports[0].data,
                _ if limiters[place - 1].next > now => continue,
                _ => &mut limiters[place - 1].queue,
            };
            if let Some(f) = from.pop_front() {
                // After the FIFO it is the first limiter's turn, though it be built later.
                *turn = if place + 1 < places || place == 0 { place + 1 } else { 0 };
                let room = line.pop_front();
                if place > 0 {
                    self.pace(h, f.to, f.len);
                }
                room.into_iter().for_each(|dst| self.let_in(h, dst));
                return Some(f);
            }
        }
        None
    }

    /// A data frame has reached its host.
    pub(crate) fn receive(&mut self, h: usize, f: Frame) {
        let (now, src) = (self.now, f.pair.0);
        let host = &mut self.nodes[h].host;
        host.out.delivered += 1;
        host.out.delivered_bits += f.len * 8;
        host.out.latency_sum += now - f.born;
        host.out.latency_max = host.out.latency_max.max(now - f.born);
        self.log.push((now, src as u32, h as u32, f.len));
        self.out.matrix[src * self.spec.hosts.len() + h] += f.len;
        if let Some((s, i)) = f.flow {
            let source = &self.spec.hosts[src].sources[s];
            let t = source.transfers[i];
            let received = host.received.entry((src, s, i)).or_default();
            *received += f.len;
            if *received == on_link(&t, source) {
                let (src, bytes, start) = (NodeId(src as u32), t.bytes.get(), t.start);
                host.out.completions.push(Completion { src, bytes, start, end: now });
            }
        }
        if self.drill.answers {
            let message = self.message(f.pair);
            self.nodes[h].ports[0].control.push_back(message);
            self.plan(now, h, 0, Event::Start);
        }
    }

    /// A message arrives: it sets the next rate of the list. What is scheduled keeps its time.
    pub(crate) fn hear(&mut self, h: usize, dst: usize) {
        let pace = &self.drill.pace;
        if pace.is_empty() {
            self.out.feedback_ignored += 1;
            return;
        }
        let below = !self.ahead(h) && self.spec.hosts[h].queues == HostQueues::Fifo;
        let n = &mut self.nodes[h];
        let line = n.ports[0].line;
        let l = n.host.limiter(dst).unwrap();
        l.heard += 1;
        l.rate = line * pace[(dst + l.heard) % pace.len()];
        if below && l.rate < line {
            // A limiter that begins to hold frames back calls back those that wait in the FIFO.
            let (own, others): (Vec<Frame>, Vec<Frame>) =
                n.ports[0].data.drain(..).partition(|f| f.to == dst);
            l.queue.extend(own);
            n.ports[0].data = others.into();
        }
        let next = n.host.limiter(dst).unwrap().next.max(self.now);
        // A frame that may go now does so with the message, before others' timers.
        if next == self.now {
            return self.due(h, dst);
        }
        self.plan(next, h, dst, Event::Timer);
    }

    /// Flows of a host that were not received whole count where they go to, in order of source and start.
    pub(crate) fn close_flows(&mut self, h: usize) {
        let mut lost = Vec::new();
        for (s, source) in self.spec.hosts[h].sources.iter().enumerate() {
            for (i, t) in source.transfers.iter().enumerate() {
                let got = self.nodes[t.dst.0 as usize].host.received.get(&(h, s, i)).copied();
                let missing = on_link(t, source) - got.unwrap_or(0);
                let (src, bytes, start) = (NodeId(h as u32), t.bytes.get(), t.start);
                if missing > 0 {
                    lost.push((t.dst.0 as usize, Incomplete { src, bytes, start, missing }));
                }
            }
        }
        lost.sort_by_key(|(_, flow)| flow.start);
        for (dst, flow) in lost {
            let out = &mut self.nodes[dst].host.out;
            out.incomplete += 1;
            out.missing.push(flow);
        }
    }
}

/// Bytes of a flow on the link: whole frames, and a last one of 64 B or more.
fn on_link(t: &Transfer, source: &SourceSpec) -> u64 {
    let (bytes, frame) = (t.bytes.get(), source.frame.get());
    let last = bytes % frame;
    bytes - last + if last > 0 { last.max(64) } else { 0 }
}
