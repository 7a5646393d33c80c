//! The end of a run: what the nodes hand in becomes one [`Outcome`], if it keeps the laws.

use super::pauses::{Decisions, Joint};
use super::trips::{Come, Dropped, History, Told, Trips};
use super::{Failure, Gauges, Hash, Kept, Ledger, Stopped, standstill};
use crate::RunError;
use crate::net::{Net, Ps};
use crate::outcome::{Fingerprint, HostOutcome, Messages, Outcome, Series, SeriesKind, SwitchOutcome};
use crate::per_bin::{PerBin, add};
use crate::spec::{Act, Graph, Lasted, RunSpec, WatchdogAction};
use cnsim_scheme_api::network::Counts;
use cnsim_scheme_api::{FlowId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A node's totals of congestion management: messages, bits, counters and gauges.
#[derive(Debug, Default)]
pub(crate) struct ControlBooks {
    pub(crate) messages: Messages,
    /// Bits of messages by time, and these one by one where a run is put together from phases.
    pub(crate) at: PerBin,
    pub(crate) each: Option<Vec<(Ps, u64)>>,
    /// Index of the node's scheme.
    pub(crate) scheme: Option<usize>,
    /// The scheme's own counters.
    pub(crate) counters: Counts,
    /// Gauges of the node's objects.
    pub(crate) gauges: Gauges,
}

impl ControlBooks {
    /// Nothing yet of a node with a scheme; bins for a whole run.
    pub(crate) fn new(net: &Net, node: u32, scheme: Option<usize>) -> Self {
        let managed = scheme.map(|s| &net.schemes[s]);
        let plan = managed.map(|m| m.plan).unwrap_or_default();
        Self {
            gauges: Gauges::new(net, node, plan.limiter_scope),
            at: PerBin::new(if net.record.control { net.record.bin.into() } else { Ps(0) }, net.duration),
            each: (net.keeps > 0 && net.record.control).then(Vec::new),
            scheme,
            counters: managed.map(|m| Counts::new(m.counters.clone())).unwrap_or_default(),
            ..Self::default()
        }
    }
    /// A message of `bytes` was made.
    pub(crate) fn made(&mut self, now: Ps, bytes: u64) {
        self.messages.made += 1;
        self.messages.bits += bytes * 8;
        self.at.add(now, bytes * 8);
        if let Some(each) = &mut self.each {
            each.push((now, bytes * 8));
        }
    }
}

/// The books that a node hands in at the end of a run.
#[derive(Debug)]
pub(crate) struct Books {
    /// Series recorded at the node.
    pub(crate) series: Vec<Series>,
    /// Frames that found room at their source.
    pub(crate) made: Ledger,
    /// Frames that were received or discarded, or still wait.
    pub(crate) gone: Ledger,
    /// Data and control frames that it has put on its links, and the latter alone.
    pub(crate) hops: (u64, u64),
    /// PAUSE, drops and feedback.
    pub(crate) events: Hash,
    /// Deliveries of a host, samples of a switch's congestion points.
    pub(crate) moments: Hash,
    /// Congestion management, by class.
    pub(crate) control: Vec<ControlBooks>,
    /// What single frames and messages did, where a run is put together from phases.
    pub(crate) kept: Kept,
    /// Why the run cannot go on.
    pub(crate) failure: Failure,
    /// By port and class: when it was in XOFF, from and until, ps ([`crate::Record::spans`]).
    pub(crate) stopped: Vec<Vec<Vec<(Ps, Ps)>>>,
    /// The XOFFs that it decided, where they are recorded.
    pub(crate) decisions: Option<Box<Decisions>>,
    pub(crate) own: Own,
}

/// Books that only a host or only a switch hands in.
#[derive(Debug)]
pub(crate) enum Own {
    Host(HostBooks),
    Switch {
        /// As it is shown; of each class alone, where there are several.
        outcome: SwitchOutcome,
        classes: Vec<SwitchOutcome>,
        /// Discarded frames by pair of hosts, where that is recorded.
        losses: Vec<u32>,
        /// By port: frames that PAUSE was to prevent from being lost.
        lost: Vec<u64>,
        /// Of its first drops, whose they were, when, and at which output, where that is recorded.
        dropped: Vec<Dropped>,
        /// Ports where frames wait that cannot leave.
        waits: Vec<Stopped>,
    },
}

/// Books that only a host hands in.
#[derive(Debug)]
pub(crate) struct HostBooks {
    /// As it is shown; of each class alone, where there are several.
    pub(crate) outcome: Box<HostOutcome>,
    pub(crate) classes: Vec<HostOutcome>,
    /// Frames that wait, and the time of the last delivery, ps.
    pub(crate) waiting: u64,
    pub(crate) last_delivery: Ps,
    /// Bytes received by source; empty unless asked for.
    pub(crate) received_from: Vec<u64>,
    /// Flows of which all is acknowledged, and since when, ps.
    pub(crate) acknowledged: Vec<(FlowId, Ps)>,
    /// How the last frames of its completions came, where that is recorded.
    pub(crate) trips: Vec<Come>,
    /// What cut its flows, where that is recorded, and events of those that are named.
    pub(crate) told: Told,
    /// When its operations began and ended, ps.
    pub(crate) operations: Vec<(Ps, Ps)>,
}

/// What the nodes have handed in so far, in their order.
#[derive(Default)]
struct Closing {
    out: Outcome,
    made: Ledger,
    gone: Ledger,
    hashes: (Hash, Hash, Hash),
    /// Ports where frames wait, frames that wait at hosts, and the time of the last delivery, ps.
    stopped: Vec<Vec<Stopped>>,
    waiting: u64,
    last: Ps,
    /// By scheme and number of its counter; bits of messages by bin.
    counters: BTreeMap<(usize, usize), u64>,
    bits: Vec<u64>,
    acknowledged: BTreeMap<FlowId, Ps>,
    trips: Vec<Vec<Come>>,
    lost: (BTreeMap<(u32, u32, u32), History>, Vec<(u32, Dropped)>),
    joint: Joint,
}

/// Gathers the results, node by node in order, and checks the laws: no frame is lost or doubled, and none is dropped for want of
/// partition space under PAUSE. `on_wires`: frames between nodes; `seen`: what links have lost and captured.
pub(crate) fn close(
    net: &Net,
    spec: &RunSpec,
    on_wires: &Ledger,
    nodes: BTreeMap<u32, Books>,
    seen: Outcome,
) -> Result<Outcome, RunError> {
    if let Some((of_scheme, cause)) = Failure::first(nodes.values().map(|n| &n.failure), spec) {
        return Err(if of_scheme { RunError::Scheme(cause) } else { RunError::Law(cause) });
    }
    let duration = net.duration.time();
    let several = if net.classes.len() > 1 { net.classes.len() } else { 0 };
    let classes = vec![Outcome { duration, ..Outcome::default() }; several];
    let out = Outcome { duration, classes, ..seen };
    let mut all = Closing { out, gone: *on_wires, ..Closing::default() };
    let forwards = spec.laws.watchdog.is_some_and(|w| w.action == WatchdogAction::Forward);
    let heeded = !forwards && !spec.hosts.iter().any(|h| h.faults.ignores_pause);
    let short: BTreeSet<usize> = crate::shortages(spec).iter().map(|s| s.switch).collect();
    for (id, node) in nodes {
        if let Own::Switch { lost, .. } = &node.own
            && let Some(port) = lost.iter().position(|lost| *lost > 0)
            && heeded
            && !short.contains(&all.out.switches.len())
        {
            let (lost, name) = (lost[port], spec.name(id));
            return Err(RunError::Law(format!(
                "{lost} frames were lost at switch {name} port {port} for want of partition space although PAUSE is on; the \
                 headroom above the high watermark is too small for its links (a PAUSE frame also waits for the data \
                 frame in transmission, which takes long at a port that is served slowly)"
            )));
        }
        all.take(id, node, spec.hosts.len());
    }
    all.join(net, spec)?;
    let Closing { mut out, made, gone, stopped, waiting, last, .. } = all;
    if net.record.control {
        let bin = net.record.bin;
        let values = all.bits.iter().map(|b: &u64| *b as f64 / bin.as_secs_f64()).collect();
        out.recorded.series.push(Series { kind: SeriesKind::Control, bin, values });
    }
    let name = |s: usize, i: usize| Some(net.schemes.get(s)?.counters.get(i)?.name.to_string());
    out.counters = all.counters.into_iter().filter_map(|((s, i), n)| Some((name(s, i)?, n))).collect();
    out.recorded.gauges = net.schemes.iter().flat_map(|s| &s.gauges).cloned().collect();
    if made != gone {
        return Err(RunError::Law(format!(
            "frames are not conserved: {} were made, {} were delivered, dropped or are still inside",
            made.frames, gone.frames
        )));
    }
    let (events, frames, samples) = (all.hashes.0.0, all.hashes.1.0, all.hashes.2.0);
    out.fingerprint = Fingerprint { events, frames, samples };
    let stuck = waiting > 0 || stopped.iter().any(|s| !s.is_empty());
    if stuck && last < net.duration - net.duration / 10 {
        out.freeze.last_delivery = Some(last.time());
        out.freeze.standstill = standstill(net, spec, &stopped);
    }
    Ok(out)
}

impl Closing {
    /// Takes what a node hands in, of a network of so many hosts.
    fn take(&mut self, id: u32, node: Books, hosts: usize) {
        let out = &mut self.out;
        self.made.merge(&node.made);
        self.gone.merge(&node.gone);
        out.packet_hops += node.hops.0;
        out.control_hops += node.hops.1;
        out.recorded.series.extend(node.series);
        for (class, c) in node.control.iter().enumerate() {
            out.messages.add(&c.messages);
            out.classes.get_mut(class).into_iter().for_each(|alone| alone.messages.add(&c.messages));
            c.at.pour(&mut self.bits);
            for (i, n) in c.counters.numbers().iter().enumerate() {
                *self.counters.entry((c.scheme.unwrap_or(0), i)).or_default() += n;
            }
        }
        self.joint.heard.extend(node.stopped);
        self.joint.decided.extend(node.decisions.map(|d| (id, d)));
        match node.own {
            Own::Host(host) => {
                self.hashes.0.add(node.events.0, 1);
                self.hashes.1.add(node.moments.0, 2);
                self.take_host(id, host, hosts);
            }
            Own::Switch { outcome, classes, losses, dropped, waits, .. } => {
                self.lost.1.extend(dropped.into_iter().map(|dropped| (id, dropped)));
                self.hashes.0.add(node.events.0, 3);
                self.hashes.2.add(node.moments.0, 4);
                add(&mut out.recorded.lost, &losses);
                self.stopped.push(waits);
                out.switches.push(outcome);
                out.classes.iter_mut().zip(classes).for_each(|(out, switch)| out.switches.push(switch));
            }
        }
    }

    fn take_host(&mut self, id: u32, host: HostBooks, hosts: usize) {
        let out = &mut self.out;
        self.trips.push(host.trips);
        out.recorded.events_cut = out.recorded.events_cut.into_iter().chain(host.told.cut).min();
        out.recorded.flow_events.extend(host.told.events);
        self.lost.0.extend(host.told.histories.into_iter().map(|(_, (dst, nth), h)| ((id, dst, nth), h)));
        self.acknowledged.extend(host.acknowledged);
        let lasted = host.operations.into_iter().map(|(b, e)| (b.time(), e.time()));
        out.operations.extend(lasted.map(|(begun, ended)| Lasted { begun, ended, received: Time::MAX }));
        self.waiting += host.waiting;
        self.last = self.last.max(host.last_delivery);
        out.hosts.push(*host.outcome);
        out.classes.iter_mut().zip(host.classes).for_each(|(out, host)| out.hosts.push(host));
        if !host.received_from.is_empty() {
            out.recorded.matrix.resize(hosts * hosts, 0);
        }
        let of_pairs = out.recorded.matrix.iter_mut().skip(id as usize).step_by(hosts);
        of_pairs.zip(host.received_from).for_each(|(sum, bytes)| *sum = bytes);
    }

    /// Joins what several nodes know of one thing: XOFFs, flows, operations, and frames with what became of them.
    fn join(&mut self, net: &Net, spec: &RunSpec) -> Result<(), RunError> {
        let out = &mut self.out;
        out.recorded.pauses = self.joint.close(net);
        if net.record.pauses > 0 {
            let switches = out.switches.iter().flat_map(|s| &s.ports).map(|p| p.xoffs);
            let all: u64 = switches.chain(out.hosts.iter().map(|h| h.pause.sent)).sum();
            out.recorded.pauses.left_out = all - out.recorded.pauses.xoffs.len() as u64;
        }
        for completion in out.hosts.iter_mut().flat_map(|host| &mut host.transfers.completions) {
            let at = completion.flow.and_then(|flow| self.acknowledged.get(&flow));
            completion.acknowledged = at.map(|&at| at.time());
        }
        if let Some(graph) = &net.flows.graph {
            date(out, graph, net);
        }
        let mut joined = Trips::new(net, spec, &self.joint.heard, std::mem::take(&mut self.lost));
        for ((dst, host), come) in (0..).zip(&mut out.hosts).zip(&self.trips) {
            joined.join(dst, host, come).map_err(RunError::Law)?;
        }
        // As the flows of all classes are known now, so are those of each.
        for (class, alone) in out.classes.iter_mut().enumerate() {
            for (own, all) in alone.hosts.iter_mut().zip(&out.hosts) {
                let (done, open) = (all.transfers.completions.iter(), all.transfers.missing.iter());
                own.transfers.completions = done.filter(|f| usize::from(f.class) == class).copied().collect();
                own.transfers.missing = open.filter(|f| usize::from(f.class) == class).copied().collect();
            }
        }
        Ok(())
    }
}

impl Messages {
    /// Adds those of a node, or of another phase.
    pub(super) fn add(&mut self, more: &Self) {
        sums!(self, more; made, bits, discarded, ignored, lost);
    }
}

/// Tells flows when the operations that sent them began, and operations when their flows arrived.
fn date(out: &mut Outcome, graph: &Graph, net: &Net) {
    let mut sent = vec![u32::MAX; net.flows.queue_pairs()];
    for (n, operation) in (0..).zip(&graph.operations) {
        if let Act::Send { source, transfer } = operation.act
            && let Some(first) = net.flows.first_of(operation.host.0, source as usize)
        {
            sent[(first + transfer) as usize] = n;
        }
    }
    let Outcome { hosts, operations, .. } = out;
    let mut of = |flow: Option<FlowId>, received: Option<Time>| -> Option<Time> {
        let lasted = operations.get_mut(*sent.get(flow?.0 as usize)? as usize)?;
        lasted.received = received.unwrap_or(lasted.received);
        Some(lasted.begun)
    };
    for host in hosts {
        for done in &mut host.transfers.completions {
            done.start = of(done.flow, Some(done.end)).unwrap_or(done.start);
        }
        for open in &mut host.transfers.missing {
            open.start = of(open.flow, None).unwrap_or(open.start);
        }
    }
}
