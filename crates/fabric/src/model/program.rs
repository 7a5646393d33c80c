//! The operations of a host that follow others ([`Graph`]): what waits for what, and when each is due.
//!
//! An operation is ready when all that it waits for has happened at its host. Operations of one moment come in the order of their
//! numbers. They happen as a timer of the host: after what arrives at that moment, and before the transfers that have a start begin.
//!
//! The NICs of a machine have a program each. What happens at one is told to the others when all of them have come to the end of that
//! moment ([`together`]); what follows from it is of the same moment. So do the classes of a host, each with the operations that send in
//! it; the first class has those that compute.

use super::agenda::Moment;
use super::transfers::FlowQueue;
use crate::net::{NEVER, Net, Ps};
use crate::spec::{Act, After, Graph, HostSpec, SourceSpec};
use cnsim_scheme_api::{FlowId, Rate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// Timer of a host's operations; its object is 0.
pub(crate) const OPERATIONS: u8 = 10;

/// Parts of an operation that can be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Ready,
    Begins,
    Ends,
}

/// How far an operation has come, as others wait for it; one whose flow has arrived has ended.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Begun,
    Sent,
    Ended,
}

/// What a program was told, or let begin, as it is kept ([`Program::heard`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Said {
    /// A flow to here has arrived whole.
    Received(FlowId),
    /// All of a flow from here is sent.
    Sent(FlowId),
    /// A flow from here has ended.
    Acknowledged(FlowId),
    /// A flow begins.
    Begun(FlowId),
    /// Another NIC of the machine advises it: what follows is behind a transmission that starts at this moment.
    Advised,
}

impl Said {
    /// The same of the flows in the place of these.
    pub(crate) fn of(mut self, flows: &[u32]) -> Self {
        use Said::{Acknowledged, Begun, Received, Sent};
        if let Received(flow) | Sent(flow) | Acknowledged(flow) | Begun(flow) = &mut self {
            *flow = FlowId(flows[flow.0 as usize]);
        }
        self
    }
}

/// What has changed since a program was saved.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// An operation waits for one thing less.
    Waits(u32),
    /// When an operation had begun and ended.
    Times(u32, (Ps, Ps)),
}

/// A program as it was ([`Program::save`]).
#[derive(Debug)]
pub(crate) struct Saved {
    due: BinaryHeap<Reverse<(Ps, u32, Phase)>>,
    free: Vec<Ps>,
    changes: usize,
}

/// Bit of a number of [`Program::follow`] from which on it says for which stage the operation waits.
const STAGE: u32 = 30;

/// Operations of a host, or of a NIC of one. An operation's number here counts from the host's first.
#[derive(Debug, Default)]
pub(crate) struct Program {
    graph: Arc<Graph>,
    /// The host's operations in the graph.
    mine: Range<u32>,
    /// How much each still waits for; `u32::MAX`: it is of another class.
    waits: Vec<u32>,
    /// Where the list of those begins that wait for each operation, then for each flow to the host, by its place there; and the end.
    lists: Vec<u32>,
    /// Who waits, by number in the graph, and for what of it ([`STAGE`]). Some are of other NICs of the machine.
    follow: Vec<u32>,
    /// Of these, those for which something has happened here, until they are told ([`Program::advise`]).
    told: Vec<u32>,
    /// The operation that sends each of the host's flows, from the flow of this number on.
    first_flow: u32,
    senders: Vec<u32>,
    /// By source: least bytes of a last frame, the rate at which its flows begin, and the number of the first.
    sources: Vec<(u8, Option<Rate>, u32)>,
    /// By stream: from when on it is free.
    free: Vec<Ps>,
    due: BinaryHeap<Reverse<(Ps, u32, Phase)>>,
    /// When each began and ended.
    times: Vec<(Ps, Ps)>,
    /// What it was told and let begin, and when, ps: where a run is put together from phases.
    pub(crate) heard: Vec<(Ps, Said)>,
    /// What has changed since it was first saved, in such a run.
    changes: Vec<Change>,
    in_phases: bool,
}

/// The flow that an operation sends.
fn flow_sent(graph: &Graph, n: u32, net: &Net) -> Option<u32> {
    let operation = &graph.operations[n as usize];
    let Act::Send { source, transfer } = operation.act else { return None };
    Some(net.flows.first_of(operation.host.0, source as usize)? + transfer)
}

/// Who waits for operations of host `id` and for flows to it, by list ([`Program::lists`]); none where a flow is not of the run.
fn followers(graph: &Graph, id: u32, net: &Net) -> Option<Vec<(u32, u32)>> {
    let (nics, mine) = (graph.nics(id), graph.of_hosts(id..id + 1));
    let of = |n: u32| &graph.operations[n as usize];
    let mut follow = Vec::new();
    for n in graph.of_hosts(nics.clone()) {
        for &after in graph.before(of(n)) {
            let (before, stage) = match after {
                After::Begun(before) => (before, Stage::Begun),
                After::Sent(before) => (before, Stage::Sent),
                After::Ended(before) => (before, Stage::Ended),
            };
            let list = if nics.contains(&of(before).host.0) {
                mine.contains(&before).then(|| before - mine.start)
            } else {
                let flow = net.flows.numbered(FlowId(flow_sent(graph, before, net)?))?;
                (flow.dst == id).then_some(mine.len() as u32 + flow.at)
            };
            follow.extend(list.map(|list| (list, n | (stage as u32) << STAGE)));
        }
    }
    follow.sort_unstable();
    Some(follow)
}

impl Program {
    /// That of a class of host `id`, if its machine has operations.
    pub(crate) fn new(
        graph: &Arc<Graph>,
        spec: &HostSpec,
        (id, class): (u32, u8),
        net: &Net,
    ) -> Option<Box<Self>> {
        let (all, mine) = (graph.of_hosts(graph.nics(id)), graph.of_hosts(id..id + 1));
        let of = |n: u32| &graph.operations[n as usize];
        let follow = followers(graph, id, net)?;
        let lists = (0..=mine.len() as u32 + net.flows.count_to(id) as u32)
            .map(|list| follow.partition_point(|f| f.0 < list) as u32)
            .collect();
        let first_of = |i: usize| net.flows.first_of(id, i);
        let first_flow = (0..spec.sources.len()).find_map(first_of).unwrap_or(0);
        let flows = spec.sources.iter().map(|s| s.transfers.len()).sum();
        let (mut senders, mut streams) = (vec![u32::MAX; flows], 0);
        for n in mine.clone() {
            if let Act::Compute { stream: Some(stream), .. } = of(n).act {
                streams = streams.max(usize::from(stream) + 1);
            } else if let Some(flow) = flow_sent(graph, n, net) {
                senders[(flow - first_flow) as usize] = n - mine.start;
            }
        }
        let class_of = |n: u32| match of(n).act {
            Act::Send { source, .. } => spec.sources.get(source as usize).map_or(0, |source| source.class),
            Act::Compute { .. } => 0,
        };
        let waits = |n: u32| if class_of(n) == class { graph.before(of(n)).len() as u32 } else { u32::MAX };
        let waits: Vec<u32> = mine.clone().map(waits).collect();
        let ready = (0..).zip(&waits).filter(|w| *w.1 == 0);
        let due = ready.map(|(n, _)| Reverse((Ps(0), n, Phase::Ready))).collect();
        let source =
            |(i, s): (usize, &SourceSpec)| (s.floor.get() as u8, s.initial_rate, first_of(i).unwrap_or(0));
        let program = Self {
            graph: graph.clone(),
            waits,
            lists,
            follow: follow.into_iter().map(|f| f.1).collect(),
            first_flow,
            senders,
            sources: spec.sources.iter().enumerate().map(source).collect(),
            free: vec![Ps(0); streams],
            due,
            times: vec![(NEVER, NEVER); mine.len()],
            in_phases: net.keeps > 0,
            mine,
            ..Self::default()
        };
        (!all.is_empty()).then(|| Box::new(program))
    }
    /// When something is due next, ps.
    pub(crate) fn next(&self) -> Option<Ps> {
        self.due.peek().map(|Reverse(due)| due.0)
    }
    /// An operation, or a flow to here, has come so far: who waits for no more is ready.
    fn happens(&mut self, list: u32, stage: Stage, now: Ps) {
        let (first, end) = (self.lists[list as usize], self.lists[list as usize + 1]);
        for at in first..end {
            let waits = self.follow[at as usize];
            let n = waits & ((1 << STAGE) - 1);
            if waits >> STAGE != stage as u32 {
                continue;
            }
            if self.is_own(n) { self.wait_less(n, now) } else { self.told.push(n) }
        }
    }
    /// Is the operation of this number in the graph of this host and class?
    fn is_own(&self, n: u32) -> bool {
        self.mine.contains(&n) && self.waits[(n - self.mine.start) as usize] < u32::MAX
    }
    /// Something that an operation of this number in the graph waits for has happened at another NIC, or in another class.
    pub(crate) fn advise(&mut self, n: u32, now: Ps) {
        if self.is_own(n) {
            self.hear(now, Said::Advised);
            self.wait_less(n, now);
        }
    }
    /// The same, here.
    fn wait_less(&mut self, n: u32, now: Ps) {
        let n = n - self.mine.start;
        if self.in_phases {
            self.changes.push(Change::Waits(n));
        }
        let waits = &mut self.waits[n as usize];
        *waits -= 1;
        if *waits == 0 {
            self.due.push(Reverse((now, n, Phase::Ready)));
        }
    }
    /// What another class of the host (`here`) or another NIC of the machine is to be advised of: the NIC's number, and that of the
    /// operation in the graph.
    pub(crate) fn tells(&mut self, here: bool) -> Option<(u32, u32)> {
        let at = self.told.iter().rposition(|n| self.mine.contains(n) == here)?;
        let n = self.told.remove(at);
        Some((self.graph.operations[n as usize].host.0, n))
    }
    /// A flow to here has arrived whole.
    pub(crate) fn received(&mut self, flow: FlowId, at: Moment<'_>) {
        self.hear(at.now, Said::Received(flow));
        if let Some(flow) = at.net.flows.numbered(flow) {
            self.happens(self.mine.len() as u32 + flow.at, Stage::Ended, at.now);
        }
    }
    /// All of a flow from here is sent.
    pub(crate) fn sent(&mut self, flow: FlowId, now: Ps) {
        self.hear(now, Said::Sent(flow));
        self.sender_of(flow).into_iter().for_each(|n| self.happens(n, Stage::Sent, now));
    }
    /// A flow from here has ended.
    pub(crate) fn acknowledged(&mut self, flow: FlowId, now: Ps) {
        self.hear(now, Said::Acknowledged(flow));
        self.sender_of(flow).into_iter().for_each(|n| self.end(n, now));
    }
    /// The operation that sends a flow.
    fn sender_of(&self, flow: FlowId) -> Option<u32> {
        self.senders.get((flow.0 - self.first_flow) as usize).copied().filter(|n| *n < u32::MAX)
    }
    fn end(&mut self, n: u32, now: Ps) {
        self.change_times(n).1 = now;
        self.happens(n, Stage::Ended, now);
    }
    /// Carries out what is due up to the next flow that begins now: that flow, and the rate at which it begins.
    pub(crate) fn advance(&mut self, now: Ps, net: &Net) -> Option<(FlowQueue, Option<Rate>)> {
        while let Some(&Reverse((at, n, phase))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            match (phase, self.graph.operations[(self.mine.start + n) as usize].act) {
                (Phase::Ready, Act::Compute { time, stream }) => {
                    let free = stream.and_then(|stream| self.free.get_mut(usize::from(stream)));
                    let begins = free.as_ref().map_or(at, |free| at.max(**free));
                    free.into_iter().for_each(|free| *free = begins.saturating_add(time.into()));
                    self.due.push(Reverse((begins, n, Phase::Begins)));
                }
                (Phase::Ready, Act::Send { .. }) => self.due.push(Reverse((at, n, Phase::Begins))),
                (Phase::Begins, act) => {
                    self.change_times(n).0 = at;
                    self.happens(n, Stage::Begun, at);
                    match act {
                        Act::Compute { time, .. } => {
                            self.due.push(Reverse((at.saturating_add(time.into()), n, Phase::Ends)));
                        }
                        Act::Send { source, transfer } => {
                            let (flow, rate) = self.begins(source, transfer, net)?;
                            flow.pair.into_iter().for_each(|pair| self.hear(now, Said::Begun(pair)));
                            return Some((flow, rate));
                        }
                    }
                }
                (Phase::Ends, _) => self.end(n, at),
            }
        }
        None
    }
    /// A flow as it takes turns, and the rate at which it begins.
    fn begins(&self, source: u32, transfer: u32, net: &Net) -> Option<(FlowQueue, Option<Rate>)> {
        let &(floor, rate, first) = self.sources.get(source as usize)?;
        let flow = first + transfer;
        let numbered = net.flows.numbered(FlowId(flow))?;
        let (bytes, dst, number, whole) = (numbered.bytes, numbered.dst, numbered.number, numbered.whole);
        Some((FlowQueue { place: 0, bytes, dst, number, whole, floor, pair: Some(FlowId(flow)) }, rate))
    }
    fn hear(&mut self, now: Ps, said: Said) {
        if self.in_phases {
            self.heard.push((now, said));
        }
    }
    /// When an operation began and ended, to change that.
    fn change_times(&mut self, n: u32) -> &mut (Ps, Ps) {
        if self.in_phases {
            self.changes.push(Change::Times(n, self.times[n as usize]));
        }
        &mut self.times[n as usize]
    }
    /// Saves its state.
    pub(crate) fn save(&self) -> Saved {
        Saved { due: self.due.clone(), free: self.free.clone(), changes: self.changes.len() }
    }
    /// It is as it was when it was saved.
    pub(crate) fn restore(&mut self, saved: &Saved) {
        for change in self.changes.drain(saved.changes..).rev() {
            match change {
                Change::Waits(n) => self.waits[n as usize] += 1,
                Change::Times(n, times) => self.times[n as usize] = times,
            }
        }
        (self.due, self.free) = (saved.due.clone(), saved.free.clone());
        self.told.clear();
        self.heard.clear();
    }
    /// Nothing that was saved is needed any more.
    pub(crate) fn settle(&mut self) {
        self.changes.clear();
    }
    /// Does a flow that begins differ from an earlier one of this host in nothing but its number?
    pub(crate) fn is_like(&self, before: FlowId, (flow, rate): (FlowQueue, Option<Rate>), net: &Net) -> bool {
        let of = self.sender_of(before).map(|n| self.graph.operations[(self.mine.start + n) as usize].act);
        let Some(Act::Send { source, transfer }) = of else { return false };
        let before = self.begins(source, transfer, net);
        before.is_some_and(|(before, its)| {
            FlowQueue { number: flow.number, pair: flow.pair, ..before } == flow && its == rate
        })
    }
    /// What it is told is no longer kept.
    pub(crate) fn forget(&mut self) {
        self.in_phases = false;
    }
    /// When each operation began and ended, ps.
    pub(crate) fn close(self) -> Vec<(Ps, Ps)> {
        self.times
    }
}

/// A NIC of a machine that has several, as an engine runs it among what it shares with others.
pub(crate) trait Nic<Shared> {
    /// When something happens next here, ps.
    fn next(&self, with: &Shared) -> Ps;
    /// Carries out what happens here up to the end of a moment.
    fn pass(&mut self, now: Ps, with: &mut Shared);
    /// What another NIC is to be advised of ([`Program::tells`]).
    fn tells(&mut self) -> Option<(u32, u32)>;
    /// It is advised of that ([`Program::advise`]).
    fn advise(&mut self, n: u32, now: Ps, with: &mut Shared);
}

/// The NICs of a machine, the first of which has a number, run to `end` moment by moment.
pub(crate) fn together<S, N: Nic<S>>((first, nics): (u32, &mut [N]), end: Ps, with: &mut S) {
    while let Some(now) = nics.iter().map(|nic| nic.next(with)).min().filter(|now| *now < end) {
        for nic in &mut *nics {
            if nic.next(with) <= now {
                nic.pass(now, with);
            }
        }
        for from in 0..nics.len() {
            while let Some((to, n)) = nics[from].tells() {
                nics[(to - first) as usize].advise(n, now, with);
            }
        }
    }
}
