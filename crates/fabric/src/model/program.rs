//! The operations of a host that follow others ([`Graph`]): what waits for what, and when each is due.
//!
//! An operation is ready when all that it waits for has happened at its host. Operations of one moment come in the order of their
//! numbers. They happen as a timer of the host: after what arrives at that moment, and before the transfers that have a start begin.

use super::transfers::FlowQueue;
use crate::net::Net;
use crate::spec::{Act, After, Graph, HostSpec};
use cnsim_scheme_api::{FlowId, NodeId, Rate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Timer of a host's operations; its object is 0.
pub(crate) const OPERATIONS: u8 = 10;

/// In place of a time: it has not happened.
const NEVER: u64 = u64::MAX;

/// What an operation waits for, as its host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// An operation here has begun, has sent all, or has ended.
    Begun(u32),
    Sent(u32),
    Ended(u32),
    /// A flow to here has arrived whole.
    Received(u32),
}

/// What is due of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Ready,
    Begins,
    Ends,
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// It takes a time, on a stream or on none.
    Compute(u64, u16),
    /// A flow begins, of a source.
    Send(u32, u16),
}

/// In place of a stream.
const NO_STREAM: u16 = u16::MAX;

/// Operations of a host. An operation's number here counts from the host's first.
#[derive(Debug)]
pub(crate) struct Program {
    deeds: Vec<Deed>,
    /// How much each still waits for.
    waits: Vec<u32>,
    /// Who waits for what, by cause.
    follow: Vec<(Cause, u32)>,
    /// The flows that operations send, and these.
    flows: Vec<(u32, u32)>,
    /// By source: class, least bytes of a last frame, and the rate at which its flows begin.
    sources: Vec<(u8, u8, Option<Rate>)>,
    /// By stream: from when on it is free.
    free: Vec<u64>,
    due: BinaryHeap<Reverse<(u64, u32, Phase)>>,
    /// When each began and ended.
    times: Vec<(u64, u64)>,
}

impl Program {
    /// That of host `id`, if it has operations.
    pub(crate) fn new(graph: &Graph, spec: &HostSpec, id: u32, net: &Net) -> Option<Box<Self>> {
        let first = graph.operations.partition_point(|o| o.host.0 < id);
        let all = &graph.operations[first..];
        let mine = &all[..all.partition_point(|o| o.host.0 == id)];
        let flow_of = |host: NodeId, act: Act| match act {
            Act::Send { source, transfer } => Some(net.flows.first_of(host.0, source as usize)? + transfer),
            Act::Compute { .. } => None,
        };
        let cause = |after: &After| match *after {
            After::Begun(n) => Some(Cause::Begun(n - first as u32)),
            After::Sent(n) => Some(Cause::Sent(n - first as u32)),
            After::Ended(n) => {
                let before = graph.operations.get(n as usize)?;
                if before.host.0 == id {
                    return Some(Cause::Ended(n - first as u32));
                }
                flow_of(before.host, before.act).map(Cause::Received)
            }
        };
        let mut follow = Vec::with_capacity(mine.iter().map(|o| graph.before(o).len()).sum());
        let mut flows = Vec::new();
        let mut deeds = Vec::with_capacity(mine.len());
        let mut streams = 0;
        for (n, operation) in (0..).zip(mine) {
            follow.extend(graph.before(operation).iter().filter_map(|after| Some((cause(after)?, n))));
            deeds.push(match operation.act {
                Act::Compute { time, stream } => {
                    streams = streams.max(stream.map_or(0, |s| usize::from(s) + 1));
                    Deed::Compute(time.as_ps(), stream.unwrap_or(NO_STREAM))
                }
                Act::Send { source, .. } => {
                    let flow = flow_of(operation.host, operation.act)?;
                    flows.push((flow, n));
                    Deed::Send(flow, source as u16)
                }
            });
        }
        follow.sort_unstable();
        flows.sort_unstable();
        let waits: Vec<u32> = mine.iter().map(|o| graph.before(o).len() as u32).collect();
        let ready = (0..).zip(&waits).filter(|w| *w.1 == 0);
        let due = ready.map(|(n, _)| Reverse((0, n, Phase::Ready))).collect();
        let times = vec![(NEVER, NEVER); mine.len()];
        let sources = spec.sources.iter().map(|s| (s.class, s.floor.get() as u8, s.initial_rate)).collect();
        let program = Self { deeds, waits, follow, flows, sources, free: vec![0; streams], due, times };
        (!mine.is_empty()).then(|| Box::new(program))
    }

    /// When something is due next, ps.
    pub(crate) fn next(&self) -> Option<u64> {
        self.due.peek().map(|Reverse(due)| due.0)
    }

    /// What follows from a cause is ready, if it waits for nothing else.
    fn happens(&mut self, cause: Cause, now: u64) {
        let first = self.follow.partition_point(|f| f.0 < cause);
        for &(_, n) in self.follow[first..].iter().take_while(|f| f.0 == cause) {
            let waits = &mut self.waits[n as usize];
            *waits -= 1;
            if *waits == 0 {
                self.due.push(Reverse((now, n, Phase::Ready)));
            }
        }
    }

    /// A flow to here has arrived whole.
    pub(crate) fn received(&mut self, flow: FlowId, now: u64) {
        self.happens(Cause::Received(flow.0), now);
    }

    /// All of a flow from here is sent.
    pub(crate) fn sent(&mut self, flow: FlowId, now: u64) {
        self.sender_of(flow).into_iter().for_each(|n| self.happens(Cause::Sent(n), now));
    }

    /// A flow from here has ended.
    pub(crate) fn acknowledged(&mut self, flow: FlowId, now: u64) {
        self.sender_of(flow).into_iter().for_each(|n| self.end(n, now));
    }

    /// The operation that sends a flow.
    fn sender_of(&self, flow: FlowId) -> Option<u32> {
        let at = self.flows.binary_search_by_key(&flow.0, |f| f.0).ok()?;
        Some(self.flows[at].1)
    }

    fn end(&mut self, n: u32, now: u64) {
        self.times[n as usize].1 = now;
        self.happens(Cause::Ended(n), now);
    }

    /// Carries out what is due up to the next flow that begins now: that flow, and the rate at which it begins.
    pub(crate) fn advance(&mut self, now: u64, net: &Net) -> Option<(FlowQueue, Option<Rate>)> {
        while let Some(&Reverse((at, n, phase))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            let deed = self.deeds[n as usize];
            match (phase, deed) {
                (Phase::Ready, Deed::Compute(time, stream)) => {
                    let free = self.free.get_mut(usize::from(stream));
                    let begins = free.as_ref().map_or(at, |free| at.max(**free));
                    free.into_iter().for_each(|free| *free = begins.saturating_add(time));
                    self.due.push(Reverse((begins, n, Phase::Begins)));
                }
                (Phase::Ready, Deed::Send(..)) => self.due.push(Reverse((at, n, Phase::Begins))),
                (Phase::Begins, deed) => {
                    self.times[n as usize].0 = at;
                    self.happens(Cause::Begun(n), at);
                    match deed {
                        Deed::Compute(time, _) => {
                            self.due.push(Reverse((at.saturating_add(time), n, Phase::Ends)));
                        }
                        Deed::Send(flow, source) => return self.begins(flow, source, net),
                    }
                }
                (Phase::Ends, _) => self.end(n, at),
            }
        }
        None
    }

    /// A flow as it takes turns, and the rate at which it begins.
    fn begins(&self, flow: u32, source: u16, net: &Net) -> Option<(FlowQueue, Option<Rate>)> {
        let numbered = net.flows.numbered(FlowId(flow))?;
        let &(class, floor, rate) = self.sources.get(usize::from(source))?;
        let (bytes, dst, number, whole) = (numbered.bytes, numbered.dst, numbered.number, numbered.whole);
        Some((
            FlowQueue { place: 0, bytes, dst, number, whole, class, floor, pair: Some(FlowId(flow)) },
            rate,
        ))
    }

    /// When each operation began and ended, ps.
    pub(crate) fn close(self) -> Vec<(u64, u64)> {
        self.times
    }
}
