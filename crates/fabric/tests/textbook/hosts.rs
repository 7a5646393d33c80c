//! The textbook's hosts: sources without draws, limiters, and whose turn it is at the link.

use crate::book::{Frame, Textbook, What};
use cnsim_fabric::*;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use std::collections::VecDeque;

/// What hosts put into a frame. A message says nothing but that a frame has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    pub(crate) answer: Option<()>,
}

impl Load {
    pub(crate) fn is_data(&self) -> bool {
        self.answer.is_none()
    }
}

/// What hosts and switches do beyond passing frames on, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drill {
    /// Every data frame is answered by a message to its source.
    pub(crate) answers: bool,
    /// Rates of limiters as shares of the line's, each for a microsecond in turn: a message sets the one of its moment. Empty: no limiters.
    pub(crate) pace: Vec<f64>,
}

impl Drill {
    pub(crate) fn share(&self, now: Time) -> Option<f64> {
        self.pace.iter().cycle().nth((now.as_ps() / 1_000_000) as usize % self.pace.len().max(1)).copied()
    }
}

/// What limits the frames to a destination, and the queue of those.
struct Limiter {
    dst: usize,
    rate: Rate,
    /// A message has lowered its rate.
    slowed: bool,
    /// No frame goes before.
    next: Time,
    queue: VecDeque<Frame>,
}

#[derive(Default)]
pub(crate) struct Host {
    /// In the order in which they were built.
    limiters: Vec<Limiter>,
    /// Whose turn it is: the FIFO's (0), or that of a limiter.
    turn: usize,
    /// Limiters that wait for room in the FIFO.
    line: VecDeque<usize>,
    pub(crate) out: HostOutcome,
}

impl Host {
    fn limiter(&mut self, dst: usize) -> Option<&mut Limiter> {
        self.limiters.iter_mut().find(|l| l.dst == dst)
    }
}

impl Textbook<'_> {
    /// Limiters stand ahead of the FIFO, not below it.
    fn ahead(&self, h: usize) -> bool {
        self.spec.hosts[h].limiter_position == LimiterPosition::AtSource
    }

    /// Sources begin.
    pub(crate) fn begin(&mut self) {
        for (h, host) in self.spec.hosts.iter().enumerate() {
            (0..).zip(&host.sources).for_each(|(s, of)| self.plan(of.start, What::Slot, (h, s), None));
        }
    }

    /// A slot of a source. One that is to have a frame there whenever one can be sent makes one while fewer than two wait, or
    /// while its limiter has room.
    pub(crate) fn offer(&mut self, h: usize, s: usize) {
        let source = &self.spec.hosts[h].sources[s];
        if self.now >= source.stop {
            return;
        }
        let slot = self.nodes[h].ports[0].line.transmission_time(source.frame);
        self.plan(self.now + slot, What::Slot, (h, s), None);
        let Destinations::Fixed(NodeId(dst)) = source.destinations else { panic!("draws a destination") };
        let (waiting, most, limited) = self.place(h, dst as usize);
        let always = source.arrivals == Arrivals::Bernoulli { load: 1.0 };
        if always || waiting < if limited { most } else { most.min(2) } {
            self.enter(h, dst as usize, source.frame.get());
        }
    }

    /// Frames that wait where one to this destination would, with how many there may be: in its limiter, as long as that is slower than
    /// the line or holds some, or in the FIFO. A limiter is built for the first frame that asks for it.
    fn place(&mut self, h: usize, dst: usize) -> (usize, usize, bool) {
        let (share, spec, n) = (self.drill.share(self.now), &self.spec.hosts[h], &mut self.nodes[h]);
        let line = n.ports[0].line;
        if let Some(share) = share.filter(|_| n.host.limiter(dst).is_none()) {
            n.host.out.limited_flows += 1;
            let (rate, next, queue) = (line * share, Time::ZERO, VecDeque::new());
            n.host.limiters.push(Limiter { dst, rate, slowed: false, next, queue });
        }
        match n.host.limiter(dst).filter(|l| l.rate < line || !l.queue.is_empty()) {
            Some(l) => (l.queue.len(), spec.limiter_frames as usize, true),
            None => (n.ports[0].data.len(), spec.fifo_frames as usize, false),
        }
    }

    /// A new frame meets its limiter or the FIFO, or is discarded.
    fn enter(&mut self, h: usize, dst: usize, len: u64) {
        let ((waiting, most, limited), now) = (self.place(h, dst), self.now);
        let n = &mut self.nodes[h];
        n.host.out.generated += 1;
        if waiting >= most {
            n.host.out.source_discards += 1;
            return;
        }
        let f = Frame { pair: (h, dst), len, born: now, ..Frame::default() };
        match n.host.limiter(dst) {
            Some(l) if limited => {
                l.queue.push_back(f);
                self.look(h, dst);
            }
            _ => n.ports[0].data.push_back(f),
        }
    }

    /// The limiter's next frame goes after this one's time at its rate.
    fn pace(&mut self, h: usize, dst: usize, len: u64) {
        let Some(rate) = self.nodes[h].host.limiter(dst).map(|l| l.rate) else { return };
        let next = self.now + rate.transmission_time(Bytes::new(len));
        self.nodes[h].host.limiter(dst).unwrap().next = next;
        self.plan(next, What::Timer, (h, dst), None);
    }

    /// A limiter ahead of the FIFO lets a frame in that is due. Where the FIFO is full, it stands in line for room.
    pub(crate) fn look(&mut self, h: usize, dst: usize) {
        let (ahead, now, n) = (self.ahead(h), self.now, &mut self.nodes[h]);
        let Some(l) = n.host.limiters.iter_mut().find(|l| l.dst == dst) else { return };
        if !ahead || l.queue.is_empty() || l.next > now || n.host.line.contains(&dst) {
            return;
        }
        if n.ports[0].data.len() >= self.spec.hosts[h].fifo_frames as usize {
            return n.host.line.push_back(dst);
        }
        let f = l.queue.pop_front().unwrap();
        n.ports[0].data.push_back(f.clone());
        self.pace(h, dst, f.len);
    }

    /// The frame that a host sends next: one that waits in the FIFO, or in the queue of a limiter that lets it go.
    pub(crate) fn choose(&mut self, h: usize) -> Option<Frame> {
        let (ahead, now, n) = (self.ahead(h), self.now, &mut self.nodes[h]);
        let Host { limiters, turn, .. } = &mut n.host;
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
                if place > 0 {
                    self.pace(h, f.pair.1, f.len);
                }
                self.nodes[h].host.line.pop_front().into_iter().for_each(|dst| self.look(h, dst));
                return Some(f);
            }
        }
        None
    }

    /// A frame has reached its host.
    pub(crate) fn receive(&mut self, h: usize, f: Frame) {
        if f.load.answer.is_some() {
            return self.hear(h, f.pair.0);
        }
        let (now, src, out) = (self.now, f.pair.0, &mut self.nodes[h].host.out);
        out.delivered += 1;
        out.delivered_bits += f.len * 8;
        out.latencies.sum += now - f.born;
        out.latencies.max = out.latencies.max.max(now - f.born);
        self.log.push((now, format!("{src} to {h}: {} B", f.len)));
        if self.drill.answers {
            self.out.messages.made += 1;
            let (what, load) = (What::Control, Load { answer: Some(()) });
            let message = Frame { what, pair: (h, src), len: 64, born: now, load, ..Frame::default() };
            self.nodes[h].ports[0].control.push_back(message);
        }
    }

    /// A message arrives: it sets the limiter's rate. What is scheduled keeps its time.
    fn hear(&mut self, h: usize, dst: usize) {
        let (ahead, share) = (self.ahead(h), self.drill.share(self.now));
        let n = &mut self.nodes[h];
        let (Some(share), Some(l)) = (share, n.host.limiters.iter_mut().find(|l| l.dst == dst)) else {
            self.out.messages.ignored += 1;
            return;
        };
        let rate = n.ports[0].line * share;
        if rate < l.rate && !std::mem::replace(&mut l.slowed, true) {
            n.host.out.slowed_flows += 1;
        }
        l.rate = rate;
        if !ahead && share < 1.0 {
            // A limiter that begins to hold frames back calls back those that wait in the FIFO.
            let (own, others) = n.ports[0].data.drain(..).partition::<Vec<_>, _>(|f| f.pair.1 == dst);
            l.queue.extend(own);
            n.ports[0].data = others.into();
        }
        // A frame that may go now does so with the message, before others' timers.
        self.look(h, dst);
    }
}
