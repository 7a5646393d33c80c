//! Hosts whose flows have queue pairs, on the links and switches of the first textbook.

use crate::book::{Frame, Textbook, What};
use crate::ends::{Answer, Sink, Source};
use crate::reno::Reno;
use cnsim_fabric::*;
use cnsim_scheme_api::{Class, NodeId, Time};

/// What hosts put into a frame: the flow that it is of, and its number there or what it answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    flow: usize,
    number: u64,
    /// It tells that the window is cut.
    cut: bool,
    /// It opens a connection, and left its source then.
    opens: Option<u64>,
    pub(crate) answer: Option<Answer>,
}

impl Load {
    pub(crate) fn is_data(&self) -> bool {
        self.answer.is_none() && self.opens.is_none()
    }
}

#[derive(Default)]
pub(crate) struct Host {
    /// Flows that have begun, in this order, and whose turn it is.
    ring: Vec<usize>,
    turn: usize,
    pub(crate) out: HostOutcome,
}

/// A flow with both of its ends, and its number among the completions of its destination.
pub(crate) struct Flow {
    pub(crate) ends: (usize, usize),
    pub(crate) source: Source,
    sink: Sink,
    done: Option<usize>,
}

/// The flows of all hosts. Their windows begin at so many frames, if the scheme sets them.
#[derive(Default)]
pub(crate) struct Drill {
    pub(crate) begin: Option<u64>,
    pub(crate) marks: Option<u64>,
    pub(crate) flows: Vec<Flow>,
}

impl Textbook<'_> {
    fn transport(&self) -> TransportSpec {
        self.spec.transport.unwrap()
    }

    /// Flows are planned.
    pub(crate) fn begin(&mut self) {
        self.marks = self.drill.marks;
        for (h, host) in self.spec.hosts.iter().enumerate() {
            for (s, t) in host.sources.iter().flat_map(|s| s.transfers.iter().map(move |t| (s, t))) {
                let (frame, ends) = (s.frame.get(), (h, t.dst.0 as usize));
                let reno = self.drill.begin.map(|n| Reno::new(frame, n));
                let source = Source::new(&self.transport(), t.bytes.get(), frame, reno);
                self.plan(t.start, What::Slot, (h, self.drill.flows.len()), None);
                self.drill.flows.push(Flow { ends, source, sink: Sink::default(), done: None });
            }
        }
    }

    /// A flow begins.
    pub(crate) fn offer(&mut self, h: usize, flow: usize) {
        self.nodes[h].host.ring.push(flow);
        if matches!(self.transport().reliability, Reliability::Tcp(TcpSpec { handshake: true, .. })) {
            let (now, source) = (self.now.as_ps(), &mut self.drill.flows[flow].source);
            (source.opening, source.syn) = (true, true);
            source.start_timer(now);
            self.settle(flow, h);
        }
    }

    /// Turns go round the flows in the order in which they began: it is the next after the one that sent last.
    pub(crate) fn choose(&mut self, h: usize) -> Option<Frame> {
        let (Host { ring, turn, .. }, now) = (&mut self.nodes[h].host, self.now);
        for at in (*turn..ring.len()).chain(0..(*turn).min(ring.len())) {
            let flow = ring[at];
            let Flow { ends, source, .. } = &mut self.drill.flows[flow];
            if let Some((number, rescue)) = source.may_send() {
                *turn = at + 1;
                let cut = number >= source.top && std::mem::take(&mut source.tells);
                source.sends(number, rescue, now.as_ps());
                let load = Load { flow, number, cut, ..Load::default() };
                let f = Frame { pair: *ends, len: source.len(number), born: now, load, ..Frame::default() };
                self.settle(flow, h);
                return Some(f);
            }
        }
        None
    }

    /// Notes what a flow's source said, and plans to look at the timers of the end that the host has.
    fn settle(&mut self, flow: usize, h: usize) {
        let Flow { ends: (src, dst), source, sink, .. } = &mut self.drill.flows[flow];
        self.log.extend(source.log.drain(..).map(|what| (self.now, format!("{src} to {dst} {what}"))));
        let (ends, syn) = ((*src, *dst), std::mem::take(&mut source.syn));
        if let Some(at) = if h == *src { source.wakes() } else { sink.timer } {
            self.plan(Time::from_ps(at), What::Timer, (h, flow), None);
        }
        if syn {
            let opens = Some(self.now.as_ps());
            self.push(ends, Load { flow, opens, ..Load::default() });
        }
    }

    /// Looks whether timers of a flow's end are due.
    pub(crate) fn look(&mut self, h: usize, flow: usize) {
        let now = self.now.as_ps();
        let Flow { ends, source, sink, .. } = &mut self.drill.flows[flow];
        if h == ends.0 && source.wakes() == Some(now) {
            source.expires(now);
            self.settle(flow, h);
        } else if h == ends.1 && sink.timer == Some(now) {
            let answer = sink.answer();
            self.reply(flow, answer);
        }
    }

    fn reply(&mut self, flow: usize, answer: Answer) {
        let (src, dst) = self.drill.flows[flow].ends;
        self.push((dst, src), Load { flow, answer: Some(answer), ..Load::default() });
    }

    /// A frame of an acknowledgement's length waits at the host that it comes from.
    fn push(&mut self, pair: (usize, usize), load: Load) {
        let TransportSpec { ack_class, ack_length, .. } = self.transport();
        let what = if ack_class == Class::Control { What::Control } else { What::Data };
        let len = ack_length.get();
        self.nodes[pair.0].ports[0].control.push_back(Frame { what, pair, len, load, ..Frame::default() });
    }

    /// A frame has reached its host. A destination's program sees what is new, and by go-back-N what is in order.
    pub(crate) fn receive(&mut self, h: usize, f: Frame) {
        let (transport, now, Load { flow, number, cut, opens, answer }) =
            (self.transport(), self.now, f.load);
        let Flow { ends, source, sink, done } = &mut self.drill.flows[flow];
        if let Some(left) = opens.filter(|_| answer.is_some()) {
            source.opens(left, now.as_ps());
            return self.settle(flow, h);
        } else if opens.is_some() {
            let back = (ends.1, ends.0);
            return self.push(back, Load { flow, opens, answer: Some(Answer::default()), ..Load::default() });
        }
        if let Some(answer) = answer {
            source.hears(&answer, now.as_ps());
            if let Some(nth) = done.filter(|_| source.una == source.n) {
                let acknowledged = &mut self.nodes[ends.1].host.out.transfers.completions[nth].acknowledged;
                *acknowledged = acknowledged.or(Some(now));
            }
            return self.settle(flow, h);
        }
        if sink.is_new(&transport, number) {
            self.log.push((now, format!("{} to {h}: {} B", ends.0, f.len)));
        }
        let answer = sink.take(&transport, source.n, (number, f.marked, cut), (f.born.as_ps(), now.as_ps()));
        if sink.whole && done.is_none() {
            let all = &mut self.nodes[h].host.out.transfers.completions;
            *done = Some(all.len());
            let (src, start, flow) = (NodeId(ends.0 as u32), Time::ZERO, None);
            all.push(Completion {
                src,
                bytes: 0,
                start,
                nth: 0,
                end: now,
                class: 0,
                flow,
                acknowledged: None,
            });
        }
        match answer {
            Some(answer) => self.reply(flow, answer),
            None => self.settle(flow, h),
        }
    }
}
