//! Finite flows: the lists of a run, how a frame says which one it belongs to, and what has arrived of each.
//!
//! A finite flow is known by its pair of hosts and its number among the flows of that pair, by start. A frame of one carries the
//! lower half of that number in the upper half of its own, whose lower half counts the source's frames: so a flow costs a frame no
//! byte. It is enough as long as no pair has more than 65,536 flows between the oldest under way and the newest.
//!
//! A flow is an entry of 24 bytes in a list of its source, and of 16 in one of its destination, which counts in 8 more what is
//! missing of it. A pair of hosts costs 12 bytes. One under way costs its source another 32.

use crate::numbers::{FrameNo, Ps};
use crate::outcome::{Completion, Incomplete};
use crate::spec::{Arrivals, Graph, RunSpec, Transfer, TransportSpec};
use cnsim_scheme_api::{Bytes, FlowId, NodeId, Time};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Number of the frame before which its source has made `count` others; `flow`: the finite flow that it belongs to, if to one.
#[inline]
pub(crate) fn number(count: u32, flow: Option<u16>) -> u32 {
    flow.map_or(count, |flow| u32::from(flow) << 16 | count & 0xFFFF)
}

/// In place of a frame's number in its flow: control that goes back to the flow's source.
pub(crate) const BACK: u32 = 0xFFFF;

/// The finite flows of a host, each with its source and its number among the flows of its pair of hosts, which every result names: in
/// order of their starts, and of one moment by source, then as they are listed. One of 0 bytes is never sent, and takes no number.
pub fn numbered<'a>(
    sources: impl Iterator<Item = (usize, &'a [Transfer])>,
) -> impl Iterator<Item = (usize, &'a Transfer, u32)> {
    let mut all: Vec<(usize, &Transfer)> = sources.flat_map(|(i, s)| s.iter().map(move |t| (i, t))).collect();
    all.sort_by_key(|t| t.1.start);
    let mut of_pair: BTreeMap<u32, u32> = BTreeMap::new();
    all.into_iter().map(move |(i, t)| {
        let next = of_pair.entry(t.dst.0).or_default();
        let nth = *next;
        *next += u32::from(t.bytes > Bytes::ZERO);
        (i, t, nth)
    })
}

/// Lower half of the number of a frame: how many frames of its flow precede it, where that has a queue pair.
pub(crate) fn number_in_flow(before: FrameNo) -> u32 {
    (before.0 % u64::from(BACK)) as u32
}

/// How many frames of its flow precede a frame with this number, which counts modulo 65,535, where about `expected` do.
pub fn precede(number: u32, expected: u64) -> u64 {
    let round = u64::from(BACK);
    let ahead = (u64::from(number & 0xFFFF) + round - expected % round) % round;
    if ahead > round / 2 { (expected + ahead).saturating_sub(round) } else { expected + ahead }
}

/// The flow that such a number names.
#[inline]
pub(crate) fn flow_of(number: u32) -> u16 {
    (number >> 16) as u16
}

/// A flow as its source has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// When it begins, ps.
    pub(crate) start: Ps,
    /// Size of the flow; a flow of 0 bytes sends nothing.
    pub(crate) bytes: u64,
    /// Destination host.
    pub(crate) dst: u32,
    /// Lower half of its number among the flows of its pair.
    pub(crate) number: u16,
}

/// A flow as its destination has it.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    /// Bytes on the link.
    on_link: u64,
    /// When it begins, ps, below 2^55; above that, by how many bytes it is smaller than what is on the link: its last frame may be
    /// padded.
    packed: u64,
}

impl Incoming {
    fn new(flow: &Transfer, frame: u64, floor: u64) -> Self {
        let on_link = flow.on_link(frame, floor);
        Self { on_link, packed: flow.start.as_ps().min((1 << PAD) - 1) | (on_link - flow.bytes.get()) << PAD }
    }
    fn start(&self) -> Time {
        Time::from_ps(self.packed & ((1 << PAD) - 1))
    }
    fn bytes(&self) -> u64 {
        self.on_link - (self.packed >> PAD)
    }
}

/// Bits of a start.
const PAD: u32 = 55;

/// The flows to a host: by source host, then by start.
#[derive(Clone, Debug, Default)]
struct Inbound {
    flows: Arc<[Incoming]>,
    /// Source hosts in order, each with the place of its first flow.
    pairs: Arc<[(u32, u32)]>,
    /// Classes of the flows; empty where the run has one.
    classes: Arc<[u8]>,
}

/// A finite flow as its [`FlowId`] names it, where each has a queue pair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbered {
    /// Source and destination host.
    pub(crate) src: u32,
    pub(crate) dst: u32,
    /// Size of the flow, bytes.
    pub(crate) bytes: u64,
    /// Place of the flow among those to its destination.
    pub(crate) at: u32,
    /// Lower half of its number among the flows of its pair.
    pub(crate) number: u16,
    /// Bytes of a whole frame on the link.
    pub(crate) whole: u16,
}

impl Numbered {
    /// Number of the flow's frames.
    pub(crate) fn frames(&self) -> u64 {
        self.bytes.div_ceil(u64::from(self.whole))
    }
    /// Source, destination and number of what goes back to its source, with addresses and ports exchanged.
    pub(crate) fn back(&self) -> (u32, u32, u32) {
        (self.dst, self.src, u32::from(self.number) << 16 | BACK)
    }
    /// Bytes of the flow's first so many frames.
    pub(crate) fn after(&self, frames: u64) -> u64 {
        self.bytes.min(frames.saturating_mul(self.whole.into()))
    }
}

/// A flow that is a message on a connection, or has one for itself.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// The connection, as its first message names it.
    of: FlowId,
    /// Frames and bytes of the messages before it.
    frames: FrameNo,
    bytes: u64,
    /// Place among the messages of the connection, and the list of these.
    nth: u32,
    list: u32,
}

/// The flows to a host that have queue pairs: their numbers, by place, and the pairs of hosts as in [`Inbound`].
#[derive(Debug, Default)]
struct To {
    ids: Vec<u32>,
    pairs: Arc<[(u32, u32)]>,
}

/// All finite flows of a run.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// By number, where each has a queue pair; else empty.
    numbered: Vec<Numbered>,
    /// Of each of these its message, where some are on one connection; else empty.
    messages: Vec<Message>,
    /// Messages of each connection that has several, in order.
    connections: Vec<Vec<u32>>,
    /// Flows of `numbered` by destination.
    ids: Vec<To>,
    /// By host and source, the number of its first flow, where each has a queue pair.
    first: BTreeMap<(u32, usize), u32>,
    /// By host and source, by start.
    outgoing: BTreeMap<(u32, usize), Arc<[Outgoing]>>,
    /// By destination host.
    incoming: BTreeMap<u32, Inbound>,
    /// Of their queue pairs, if they have some.
    pub(crate) transport: Option<TransportSpec>,
    /// Which of them follow others.
    pub(crate) graph: Option<Arc<Graph>>,
    /// Longest data frame of all sources, bytes.
    pub(crate) mtu: u16,
}

impl Flows {
    /// Flows of all sources. Flows of a pair that begin at one moment are numbered by source, then as they are listed. Those that follow
    /// others come last.
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let frames = spec.hosts.iter().flat_map(|h| &h.sources).map(|s| s.frame.get() as u16);
        let mut flows = Self {
            transport: spec.transport,
            graph: spec.graph.clone(),
            mtu: frames.max().unwrap_or(1500),
            ..Self::default()
        };
        flows.ids.resize_with(if spec.transport.is_some() { spec.hosts.len() } else { 0 }, To::default);
        let mut incoming: BTreeMap<u32, (Vec<Incoming>, Vec<(u32, u32)>, Vec<u8>)> = BTreeMap::new();
        let mut connections = BTreeMap::new();
        for (host, h) in spec.hosts.iter().enumerate() {
            let host = host as u32;
            let each = h.sources.iter().enumerate().filter(|s| s.1.arrivals == Arrivals::Transfers);
            let mut lists: BTreeMap<usize, Vec<Outgoing>> = BTreeMap::new();
            for (i, s) in each.clone() {
                if spec.transport.is_some() {
                    flows.first.insert((host, i), flows.numbered.len() as u32);
                    let whole = s.frame.get().max(1) as u16;
                    let none = Numbered { src: host, at: u32::MAX, whole, ..Numbered::default() };
                    flows.numbered.resize(flows.numbered.len() + s.transfers.len(), none);
                }
            }
            let mut ids: Vec<u32> = Vec::new();
            let mut all: Vec<(usize, &Transfer)> = Vec::new();
            for (i, t, nth) in numbered(each.map(|(i, s)| (i, &s.transfers[..]))) {
                all.push((i, t));
                let (start, bytes, dst, number) = (t.start.into(), t.bytes.get(), t.dst.0, nth as u16);
                let list = lists.entry(i).or_default();
                let id = flows.first.get(&(host, i)).map_or(0, |first| first + list.len() as u32);
                if let Some(flow) = flows.numbered.get_mut(id as usize) {
                    (flow.dst, flow.bytes, flow.number) = (dst, bytes, number);
                    if h.sources[i].connected && bytes > 0 {
                        flows.connect(id, &mut connections, (host, i, dst));
                    }
                }
                ids.push(id);
                list.push(Outgoing { start, bytes, dst, number });
            }
            let mut all: Vec<_> = ids.into_iter().zip(all).filter(|t| t.1.1.bytes.get() > 0).collect();
            all.sort_by_key(|t| t.1.1.dst);
            for of_pair in all.chunk_by(|a, b| a.1.1.dst == b.1.1.dst) {
                let (to, pairs, classes) = incoming.entry(of_pair[0].1.1.dst.0).or_default();
                pairs.push((host, to.len() as u32));
                for &(id, (i, t)) in of_pair {
                    if let Some(flow) = flows.numbered.get_mut(id as usize) {
                        flow.at = to.len() as u32;
                        flows.ids[t.dst.0 as usize].ids.push(id);
                    }
                    let source = &h.sources[i];
                    classes.extend((spec.classes.len() > 1).then_some(source.class));
                    to.push(Incoming::new(t, source.frame.get().max(1), source.floor.get()));
                }
            }
            flows.outgoing.extend(lists.into_iter().map(|(i, list)| ((host, i), list.into())));
        }
        if !connections.is_empty() {
            flows.complete();
        }
        let inbound = |(dst, (to, pairs, classes)): (u32, (Vec<_>, Vec<_>, Vec<_>))| {
            (dst, Inbound { flows: to.into(), pairs: pairs.into(), classes: classes.into() })
        };
        flows.incoming = incoming.into_iter().map(inbound).collect();
        for (dst, to) in (0..).zip(&mut flows.ids) {
            to.pairs = flows.incoming.get(&dst).map(|inbound| inbound.pairs.clone()).unwrap_or_default();
        }
        flows
    }
    /// How many have queue pairs.
    pub(crate) fn queue_pairs(&self) -> usize {
        self.numbered.len()
    }
    /// Notes that a flow follows the others of its connection, which may begin with it.
    fn connect(&mut self, flow: u32, lists: &mut BTreeMap<(u32, usize, u32), u32>, key: (u32, usize, u32)) {
        let list = *lists.entry(key).or_insert(self.connections.len() as u32);
        self.complete();
        self.connections.resize_with(self.connections.len().max(list as usize + 1), Vec::new);
        let all = &self.connections[list as usize];
        let (of, before) = (FlowId(*all.first().unwrap_or(&flow)), all.last().map(|last| FlowId(*last)));
        let nth = all.len() as u32;
        let frames = before.map_or(FrameNo(0), |last| self.end_of(last));
        let bytes = before.map_or(0, |_| self.bytes_below(of, frames));
        self.connections[list as usize].push(flow);
        self.messages[flow as usize] = Message { of, frames, bytes, nth, list };
    }
    /// Gives each flow a message: one that has a connection for itself.
    fn complete(&mut self) {
        let own =
            |n: usize| Message { of: FlowId(n as u32), frames: FrameNo(0), bytes: 0, nth: 0, list: u32::MAX };
        self.messages.extend((self.messages.len()..self.numbered.len()).map(own));
    }
    /// The connection of a flow that has a queue pair: that of itself, or one on which it is a message.
    pub(crate) fn connection(&self, flow: FlowId) -> FlowId {
        self.messages.get(flow.0 as usize).map_or(flow, |message| message.of)
    }
    /// Has a connection more than one message?
    pub(crate) fn shares(&self, of: FlowId) -> bool {
        self.messages_of(of).len() > 1
    }
    /// The messages of a connection; none where it has but one.
    fn messages_of(&self, of: FlowId) -> &[u32] {
        let list = self.messages.get(of.0 as usize).and_then(|m| self.connections.get(m.list as usize));
        list.map_or(&[], |all| all)
    }
    /// The message with this frame of a connection.
    #[inline]
    pub(crate) fn message_at(&self, of: FlowId, frame: FrameNo) -> FlowId {
        self.message_where(of, |m| m.frames <= frame).0
    }
    /// The last message of a connection that `begins`, or the first; and frames and bytes of the connection before it.
    #[inline(always)]
    fn message_where(&self, of: FlowId, begins: impl Fn(&Message) -> bool) -> (FlowId, (FrameNo, u64)) {
        if self.connections.is_empty() {
            return (of, (FrameNo(0), 0));
        }
        let all = self.messages_of(of);
        let at = all.partition_point(|m| begins(&self.messages[*m as usize]));
        let message = all.get(at.saturating_sub(1)).map_or(of, |m| FlowId(*m));
        (message, self.before(message))
    }
    /// Frames and bytes of a connection before a message.
    #[inline]
    fn before(&self, message: FlowId) -> (FrameNo, u64) {
        self.messages.get(message.0 as usize).map_or((FrameNo(0), 0), |m| (m.frames, m.bytes))
    }
    /// The message behind one.
    pub(crate) fn next_message(&self, message: FlowId) -> Option<FlowId> {
        let nth = self.messages.get(message.0 as usize)?.nth;
        self.messages_of(self.connection(message)).get(nth as usize + 1).map(|next| FlowId(*next))
    }
    /// Frames of a connection up to the end of a message.
    pub(crate) fn end_of(&self, message: FlowId) -> FrameNo {
        self.before(message).0 + self.numbered(message).map_or(0, Numbered::frames)
    }
    /// Is a message over after so many frames of a connection, more than 0: which?
    pub(crate) fn ends(&self, of: FlowId, frames: FrameNo) -> Option<FlowId> {
        let message = self.message_at(of, FrameNo(frames.0.checked_sub(1)?));
        (self.end_of(message) == frames).then_some(message)
    }
    /// Bytes of the first so many frames of a connection.
    #[inline]
    pub(crate) fn bytes_below(&self, of: FlowId, frames: FrameNo) -> u64 {
        let (message, (first, before)) = self.message_where(of, |m| m.frames < frames.max(FrameNo(1)));
        before + self.numbered(message).map_or(0, |flow| flow.after(frames - first))
    }
    /// Frames of a connection up to so many of its bytes.
    #[inline]
    pub(crate) fn frames_below(&self, of: FlowId, bytes: u64) -> u32 {
        let (message, (first, before)) = self.message_where(of, |m| m.bytes < bytes);
        let whole = self.numbered(message).map_or(1, |flow| flow.whole.into());
        (first + (bytes - before).div_ceil(whole)).0 as u32
    }
    /// The flow of this number that has a queue pair.
    pub(crate) fn numbered(&self, flow: FlowId) -> Option<&Numbered> {
        self.numbered.get(flow.0 as usize)
    }
    /// The flow of a data frame with this number, where each has a queue pair.
    pub(crate) fn find(&self, src: u32, dst: u32, number: u32) -> Option<FlowId> {
        let To { ids, pairs } = self.ids.get(dst as usize)?;
        // Where most hosts send to it, their place is about their share of all.
        let guess = src as usize * pairs.len() / self.ids.len();
        let first = match pairs.get(guess.saturating_sub(1)..(guess + 1).min(pairs.len())) {
            Some([.., pair] | [pair, _]) if pair.0 == src => pair.1,
            _ => pairs[pairs.binary_search_by_key(&src, |pair| pair.0).ok()?].1,
        };
        ids.get(first as usize + usize::from(flow_of(number))).map(|&id| FlowId(id))
    }
    /// The flow at a place among those to a host, where each has a queue pair.
    pub(crate) fn at(&self, dst: u32, place: usize) -> Option<FlowId> {
        self.ids.get(dst as usize)?.ids.get(place).map(|&id| FlowId(id))
    }
    /// The number of a flow with a queue pair among those of its pair of hosts.
    pub(crate) fn nth(&self, flow: FlowId) -> Option<u32> {
        let flow = self.numbered(flow)?;
        let pairs = &self.ids.get(flow.dst as usize)?.pairs;
        Some(flow.at - pairs[pairs.binary_search_by_key(&flow.src, |pair| pair.0).ok()?].1)
    }
    /// The number of the first flow of a source, where each has a queue pair.
    pub(crate) fn first_of(&self, host: u32, source: usize) -> Option<u32> {
        self.first.get(&(host, source)).copied()
    }
    /// Flows of a source, by start.
    pub(crate) fn of_source(&self, host: u32, source: usize) -> Arc<[Outgoing]> {
        self.outgoing.get(&(host, source)).cloned().unwrap_or_default()
    }
    /// How many there are to a host.
    pub(crate) fn count_to(&self, host: u32) -> usize {
        self.incoming.get(&host).map_or(0, |known| known.flows.len())
    }
    /// Flows of a class to a host, none of which has arrived. Nothing is missing of other flows.
    pub(crate) fn to(&self, host: u32, class: u8) -> Arrived {
        let known = self.incoming.get(&host).cloned().unwrap_or_default();
        let other = |at: usize| known.classes.get(at).is_some_and(|own| *own != class);
        let left = |(at, flow): (usize, &Incoming)| if other(at) { 0 } else { flow.on_link };
        let left = known.flows.iter().enumerate().map(left).collect();
        Arrived { over: vec![0; known.pairs.len()], left, known }
    }
}

/// Arrived bytes of the finite flows to a host.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    known: Inbound,
    /// By pair: its first so many flows have arrived whole.
    over: Vec<u32>,
    /// Bytes that are missing of each flow.
    left: Vec<u64>,
}

impl Arrived {
    /// How many flows there are.
    pub(crate) fn len(&self) -> usize {
        self.left.len()
    }
    /// The flows of a pair.
    fn of_pair(&self, pair: usize) -> Range<usize> {
        let begin = |pair: usize| self.known.pairs.get(pair).map_or(self.left.len(), |p| p.1 as usize);
        begin(pair)..begin(pair + 1)
    }
    /// Pair and flow that a frame names, if the flow is not over.
    fn under_way(&self, src: u32, number: u32) -> Option<(usize, usize)> {
        let pair = self.known.pairs.binary_search_by_key(&src, |pair| pair.0).ok()?;
        let (flows, over) = (self.of_pair(pair), self.over[pair]);
        let at = flows.start + over as usize + usize::from(flow_of(number).wrapping_sub(over as u16));
        (at < flows.end && self.left[at] > 0).then_some((pair, at))
    }
    /// Counts a frame of a flow at a place that is known, if more of the flow is to come.
    #[inline(always)]
    pub(crate) fn count(&mut self, place: Option<u32>, len: u16) -> bool {
        let left = place.and_then(|at| self.left.get_mut(at as usize)).filter(|left| **left > len.into());
        left.map(|left| *left -= u64::from(len)).is_some()
    }
    /// A frame of a flow has arrived, whose place is known where it has a queue pair: the flow's completion and the bytes of its
    /// padding, if it was the last. An error if the pair has no such flow that is not over.
    #[inline(never)]
    pub(crate) fn take(
        &mut self,
        now: Ps,
        src: u32,
        number: u32,
        place: Option<u32>,
        len: u16,
    ) -> Result<Option<(Completion, u64)>, String> {
        let found = match place {
            Some(at) => (self.left[at as usize] > 0).then_some((None, at as usize)),
            None => self.under_way(src, number).map(|(pair, at)| (Some(pair), at)),
        };
        let none =
            || format!("a frame from host {src} is of no flow under way: a pair has too many at a time");
        let (pair, at) = found.ok_or_else(none)?;
        self.left[at] = self.left[at].saturating_sub(u64::from(len));
        if self.left[at] > 0 {
            return Ok(None);
        }
        if let Some(pair) = pair {
            let left = &self.left[self.of_pair(pair)][self.over[pair] as usize..];
            self.over[pair] += left.iter().take_while(|left| **left == 0).count() as u32;
        }
        let (flow, end) = (self.known.flows[at], now.time());
        let pair = self.known.pairs.partition_point(|pair| pair.1 as usize <= at).saturating_sub(1);
        let done = Completion {
            src: NodeId(src),
            bytes: flow.bytes(),
            start: flow.start(),
            nth: (at - self.of_pair(pair).start) as u32,
            end,
            class: 0,
            flow: None,
            acknowledged: None,
        };
        Ok(Some((done, flow.on_link - flow.bytes())))
    }
    /// The flows that have not arrived whole, by source and start; `id` is the flow at a place, if it has a queue pair.
    pub(crate) fn missing(&self, id: impl Fn(usize) -> Option<FlowId>) -> Vec<Incomplete> {
        let pairs = self.known.pairs.iter().enumerate();
        let of = |(pair, &(src, first)): (usize, &(u32, u32))| {
            self.of_pair(pair).map(move |at| (NodeId(src), at - first as usize, at))
        };
        let open = pairs.flat_map(of).filter(|&(.., at)| self.left[at] > 0);
        let one = |(src, nth, at): (NodeId, usize, usize)| {
            let (flow, missing): (Incoming, _) = (self.known.flows[at], self.left[at]);
            let (start, nth) = (flow.start(), nth as u32);
            Incomplete { src, bytes: flow.bytes(), start, nth, missing, class: 0, flow: id(at) }
        };
        open.map(one).collect()
    }
}
