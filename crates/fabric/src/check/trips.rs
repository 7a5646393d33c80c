//! Where the time of finite flows went, and what cut their rates: what hosts and ports noted, joined. It is a law that the parts add up to
//! the completion time.

use crate::flows::Numbered;
use crate::net::{Net, Ps};
use crate::outcome::{Completion, Cut, Cuts, FlowEvent, HostOutcome, SourcePart, Stay, Trigger, Trip};
use crate::spec::RunSpec;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{FlowId, NodeId, Time};
use std::collections::BTreeMap;

/// Time by part, ps.
pub(crate) type Spent = [Ps; SourcePart::ALL.len()];

/// How a frame came that may be the last of its flow: what its flow had spent until it began, and when it began at each switch port, by
/// number in the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) spent: Spent,
    pub(crate) steps: Vec<(u32, Ps)>,
    /// Ports by their numbers and one: of each hop of telemetry, and that which marked the frame that an acknowledgement answers.
    pub(crate) ports: Vec<u32>,
    pub(crate) marked_by: u32,
}

impl Trace {
    /// Forgets all, but keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.ports.clear();
        self.marked_by = 0;
    }
}

/// The same of a frame with which all of a flow had arrived.
#[derive(Clone, Debug)]
pub(crate) struct Come {
    pub(crate) class: u8,
    pub(crate) len: u16,
    /// When it began at its source, and when it had come, ps.
    pub(crate) begun: Ps,
    pub(crate) came: Ps,
    pub(crate) trace: Trace,
}

/// A frame of a flow (source, destination, number as frames have it) that a switch dropped: when, and at which output.
pub(crate) type Dropped = ((u32, u32, u16), Ps, u16);

/// What cut the rate of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// The cut for which the flow waits, and that which follows when this wait is over.
    now: Option<Cut>,
    next: Option<Cut>,
    /// Those before that cost most.
    most: Vec<Cut>,
    /// Sums of all, by cause.
    sums: Vec<Cuts>,
    /// Those by losses, whose port is not known yet.
    losses: Vec<Cut>,
}

impl History {
    /// Cuts of a flow that are kept.
    const MOST: usize = 10;

    /// A cut more.
    pub(crate) fn add(&mut self, cut: Cut) {
        let before = self.next.replace(cut);
        self.close(before);
    }
    /// The flow has waited so long.
    pub(crate) fn wait(&mut self, time: Ps) {
        self.now.iter_mut().for_each(|cut| cut.cost += time.time());
        if let Some(next) = self.next.take() {
            let before = self.now.replace(next);
            self.close(before);
        }
    }
    /// The same of a flow so much later, ps, which has these hosts and this number.
    pub(crate) fn moved(&self, by: Ps, flow: Option<Numbered>) -> Self {
        let mut moved = self.clone();
        let Self { now, next, most, losses, .. } = &mut moved;
        for Cut { event, .. } in now.iter_mut().chain(next).chain(most).chain(losses) {
            event.at += by.time();
            if let Some(flow) = flow {
                event.flow = (NodeId(flow.src), NodeId(flow.dst));
                event.number = event.number.map(|_| flow.number);
            }
        }
        moved
    }
    fn close(&mut self, cut: Option<Cut>) {
        let Some(cut) = cut else { return };
        if matches!(cut.event.by, Trigger::Loss | Trigger::Timeout) {
            self.losses.push(cut);
        } else {
            self.enter(cut);
        }
    }
    fn enter(&mut self, cut: Cut) {
        let Cut { event: FlowEvent { by, port, .. }, cost } = cut;
        match self.sums.iter_mut().find(|sum| (sum.by, sum.port) == (by, port)) {
            Some(sum) => (sum.count, sum.cost) = (sum.count + 1, sum.cost + cost),
            None => self.sums.push(Cuts { by, port, count: 1, cost }),
        }
        self.most.push(cut);
        if self.most.len() > Self::MOST {
            // Of equal ones the first go.
            let least = self.most.iter().enumerate().min_by_key(|(n, cut)| (cut.cost, *n));
            least.map(|(n, _)| n).into_iter().for_each(|n| _ = self.most.remove(n));
        }
    }
    /// All is over: the cuts that cost most, in order, and the sums. A loss is that of the last frame that was dropped before.
    fn ends(mut self, dropped: &[(Ps, (NodeId, u16))]) -> (Vec<Cut>, Vec<Cuts>) {
        let last = [self.now.take(), self.next.take()];
        last.into_iter().for_each(|cut| self.close(cut));
        for mut cut in std::mem::take(&mut self.losses) {
            let before = dropped.partition_point(|drop| drop.0 <= cut.event.at.into());
            cut.event.port = before.checked_sub(1).map(|at| dropped[at].1);
            self.enter(cut);
        }
        self.most.sort_by_key(|cut| cut.event.at);
        (self.most, self.sums)
    }
}

/// What a host tells of its flows.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// By queue pair, if there is one, destination and number among the flows to it.
    pub(crate) histories: Vec<(Option<FlowId>, (u32, u32), History)>,
    /// Events of named flows, and when the first was left out.
    pub(crate) events: Vec<FlowEvent>,
    pub(crate) cut: Option<Time>,
}

impl Told {
    /// Keeps an event, of so many at most.
    pub(crate) fn keep(&mut self, event: FlowEvent, most: usize) {
        match self.events.len() < most {
            true => self.events.push(event),
            false => self.cut = self.cut.or(Some(event.at)),
        }
    }
    /// What another class of the host, or another host, tells.
    pub(crate) fn join(&mut self, more: Self) {
        self.histories.extend(more.histories);
        self.events.extend(more.events);
        self.cut = self.cut.into_iter().chain(more.cut).min();
    }
}

/// What all trips of a run need.
pub(super) struct Trips<'a> {
    net: &'a Net,
    /// By port and class, when it was in XOFF, from and until, ps.
    stopped: &'a [Vec<Vec<(Ps, Ps)>>],
    /// By flow, its histories, and when and where its frames were dropped.
    histories: BTreeMap<(u32, u32, u32), History>,
    dropped: BTreeMap<(u32, u32, u16), Vec<(Ps, (NodeId, u16))>>,
    /// By port, when its data was served at another rate, and at which.
    changes: BTreeMap<u32, Vec<(Ps, TxRate)>>,
}

impl<'a> Trips<'a> {
    /// Those of a run.
    pub(super) fn new(
        net: &'a Net,
        spec: &RunSpec,
        stopped: &'a [Vec<Vec<(Ps, Ps)>>],
        (histories, drops): (BTreeMap<(u32, u32, u32), History>, Vec<(u32, Dropped)>),
    ) -> Self {
        let mut dropped: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (switch, (flow, at, out)) in drops {
            dropped.entry(flow).or_default().push((at, (NodeId(switch), out)));
        }
        dropped.values_mut().for_each(|all| all.sort_unstable());
        let mut changes: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for change in &spec.events.changes {
            let port = net.ports[change.node.0 as usize] + u32::from(change.port);
            changes.entry(port).or_default().push((change.at.into(), net.clocks.switches.tx(change.rate)));
        }
        changes.values_mut().for_each(|all| all.sort_by_key(|change| change.0));
        Self { net, stopped, histories, dropped, changes }
    }

    /// How long a frame takes at a port where it begins then.
    fn time(&self, port: u32, began: Ps, len: u16) -> Ps {
        let changed = self.changes.get(&port).and_then(|all| all.iter().rev().find(|c| c.0 <= began));
        changed.map_or_else(|| self.net.clocks.switches.tx(self.net.rate(port)), |change| change.1).time(len)
    }

    /// Time in XOFF of a port between these moments.
    fn xoff(&self, port: u32, class: u8, from: Ps, until: Ps) -> Ps {
        let Some(spans) = self.stopped[port as usize].get(usize::from(class)) else { return Ps(0) };
        let first = spans.partition_point(|span| span.1 <= from);
        let during = spans[first..].iter().take_while(|span| span.0 < until);
        during.fold(Ps(0), |sum, span| sum + (span.1.min(until) - span.0.max(from)))
    }

    /// The trip of a flow to a host, of which all had come so; or none, where the parts do not add up.
    fn trip(&self, dst: u32, done: &Completion, come: &Come) -> Option<Trip> {
        let net = self.net;
        let mut trip = Trip { source: come.trace.spent.map(Ps::time), ..Trip::default() };
        let (mut node, mut came) = (done.src.0, come.begun);
        let first = net.ports[node as usize];
        for (port, began) in std::iter::once((first, come.begun)).chain(come.trace.steps.iter().copied()) {
            let at = port.checked_sub(net.ports[node as usize])?;
            let link = net.links_of(node as usize).get(at as usize).copied().flatten()?;
            let sending =
                if node < net.hosts { link.tx.time(come.len) } else { self.time(port, began, come.len) };
            trip.stays.push(Stay {
                at: (NodeId(node), at as u16),
                came: came.time(),
                began: began.time(),
                xoff: self.xoff(port, come.class, came, began).time(),
                sending: sending.time(),
                link: link.delay.time(),
            });
            (node, came) = (link.peer_node, began + sending + link.delay);
        }
        let whole = done.end.saturating_sub(done.start);
        (node == dst && came.time() == done.end && trip.sum() == whole).then_some(trip)
    }

    /// The trips of all flows to a host, in the order of its completions.
    pub(super) fn join(&mut self, dst: u32, host: &mut HostOutcome, come: &[Come]) -> Result<(), String> {
        if !self.net.record.trips {
            return Ok(());
        }
        let each = host.transfers.completions.iter().enumerate().map(|(n, done)| {
            let trip = come.get(n).and_then(|come| self.trip(dst, done, come)).map(|mut trip| {
                let (src, nth) = (done.src.0, done.nth);
                if let Some(history) = self.histories.remove(&(src, dst, nth)) {
                    let dropped = self.dropped.get(&(src, dst, nth as u16)).map_or(&[][..], Vec::as_slice);
                    (trip.cuts, trip.by_cause) = history.ends(dropped);
                }
                trip
            });
            trip.ok_or_else(|| {
                let Completion { src, nth, start, end, .. } = done;
                let name = format!("flow {nth} from host {} to host {dst}, {start} to {end}", src.0);
                format!("the parts of the time of {name} do not add up: {:?}", come.get(n))
            })
        });
        host.transfers.trips = each.collect::<Result<_, _>>()?;
        Ok(())
    }
}
