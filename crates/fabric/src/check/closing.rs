//! The end of a run: what the nodes hand in becomes one [`Outcome`], if it keeps the laws.

use super::{Failure, Gauges, Hash, Ledger, Losses, Stopped, standstill};
use crate::RunError;
use crate::net::Net;
use crate::outcome::{Fingerprint, HostOutcome, Outcome, Series, SeriesKind, SwitchOutcome};
use crate::per_bin::PerBin;
use crate::spec::RunSpec;
use cnsim_scheme_api::Time;
use cnsim_scheme_api::network::Counts;
use std::collections::{BTreeMap, BTreeSet};

/// What a node did for congestion management.
#[derive(Debug, Default)]
pub(crate) struct ControlBooks {
    /// Messages and probes made.
    pub(crate) messages: u64,
    /// Bits of these.
    pub(crate) bits: u64,
    /// The same by time.
    pub(crate) at: PerBin,
    /// Control frames in the data class that found no room.
    pub(crate) discarded: u64,
    /// Feedback that no reaction point took.
    pub(crate) ignored: u64,
    /// Feedback lost by a fault.
    pub(crate) lost: u64,
    /// Index of the node's scheme.
    pub(crate) scheme: Option<usize>,
    /// The scheme's own counters.
    pub(crate) counters: Counts,
    /// What its objects show.
    pub(crate) gauges: Gauges,
}

impl ControlBooks {
    /// Nothing yet; `counters` of them, and bins for a whole run.
    pub(crate) fn new(net: &Net, scheme: Option<usize>, gauges: Gauges) -> Self {
        Self {
            gauges,
            at: PerBin::new(net.control_bin(), net.duration),
            scheme,
            counters: scheme.map(|s| Counts::new(net.schemes[s].counters.clone())).unwrap_or_default(),
            ..Self::default()
        }
    }
    /// An object at this place shows a value now.
    pub(crate) fn show(
        &mut self,
        net: &Net,
        now: u64,
        place: u32,
        name: &str,
        value: f64,
    ) -> Result<(), String> {
        self.gauges.show(net, (now, self.scheme), place, name, value)
    }
    /// A message of `bytes` was made.
    pub(crate) fn made(&mut self, now: u64, bytes: u64) {
        self.messages += 1;
        self.bits += bytes * 8;
        self.at.add(now, bytes * 8);
    }
}

/// What a node hands in, be it a host or a switch.
#[derive(Debug)]
pub(crate) struct NodeBooks {
    /// What was recorded there.
    pub(crate) series: Vec<Series>,
    /// Frames that still wait there.
    pub(crate) inside: Ledger,
    /// Data and control frames that it has put on its links, and the latter alone.
    pub(crate) hops: (u64, u64),
    /// PAUSE, drops and feedback.
    pub(crate) events: Hash,
    /// Congestion management.
    pub(crate) control: ControlBooks,
    /// Why the run cannot go on.
    pub(crate) failure: Failure,
}

/// What a host hands in.
#[derive(Debug)]
pub(crate) struct HostBooks {
    pub(crate) node: NodeBooks,
    /// As it is shown.
    pub(crate) outcome: HostOutcome,
    /// Frames that found room at their source.
    pub(crate) made: Ledger,
    /// Frames received.
    pub(crate) got: Ledger,
    /// Time of the last delivery, ps.
    pub(crate) last_delivery: u64,
    /// Bytes received by source; empty unless asked for.
    pub(crate) received_from: Vec<u64>,
    /// Deliveries.
    pub(crate) frames: Hash,
}

/// What a switch hands in.
#[derive(Debug)]
pub(crate) struct SwitchBooks {
    pub(crate) node: NodeBooks,
    /// As it is shown.
    pub(crate) outcome: SwitchOutcome,
    /// Frames discarded.
    pub(crate) dropped: Ledger,
    /// Of these, by pair of hosts, where that is recorded.
    pub(crate) losses: Losses,
    /// By port: of these, the frames that PAUSE was to prevent from being lost.
    pub(crate) lost: Vec<u64>,
    /// Ports where frames wait that cannot leave.
    pub(crate) stopped: Vec<Stopped>,
    /// Samples of congestion points.
    pub(crate) samples: Hash,
}

/// Gathers the results, node by node in order, and checks the laws: no frame is lost or doubled, and none is dropped for want of
/// partition space under PAUSE. `on_wires`: frames between nodes.
pub(crate) fn close(
    net: &Net,
    spec: &RunSpec,
    on_wires: &Ledger,
    hosts: Vec<HostBooks>,
    switches: Vec<SwitchBooks>,
) -> Result<Outcome, RunError> {
    let failures = hosts.iter().map(|h| &h.node.failure).chain(switches.iter().map(|s| &s.node.failure));
    if let Some((of_scheme, cause)) = Failure::first(failures, spec) {
        return Err(if of_scheme { RunError::Scheme(cause) } else { RunError::Law(cause) });
    }
    let mut out = Outcome { duration: Time::from_ps(net.duration), ..Outcome::default() };
    let (mut made, mut gone) = (Ledger::default(), *on_wires);
    let (mut events, mut frames, mut samples) = (Hash::default(), Hash::default(), Hash::default());
    let mut control = Vec::new();
    let (mut received_from, mut stopped) = (Vec::new(), Vec::new());
    let (mut waiting, mut last_delivery) = (0, 0);
    let mut take = |node: NodeBooks, kind: u64, out: &mut Outcome, gone: &mut Ledger| {
        gone.merge(&node.inside);
        events.add(node.events.0, kind);
        out.packet_hops += node.hops.0;
        out.control_hops += node.hops.1;
        out.series.extend(node.series);
        control.push(node.control);
    };
    for h in hosts {
        made.merge(&h.made);
        gone.merge(&h.got);
        waiting += h.node.inside.frames;
        last_delivery = last_delivery.max(h.last_delivery);
        frames.add(h.frames.0, 2);
        out.hosts.push(h.outcome);
        received_from.push(h.received_from);
        take(h.node, 1, &mut out, &mut gone);
    }
    out.matrix = by_source(&received_from);
    let heeded = !spec.hosts.iter().any(|h| h.faults.ignores_pause);
    let short: BTreeSet<usize> = crate::shortages(spec).iter().map(|s| s.switch).collect();
    for (index, (s, given)) in switches.into_iter().zip(&spec.switches).enumerate() {
        gone.merge(&s.dropped);
        s.losses.add_to(&mut out.lost);
        samples.add(s.samples.0, 4);
        if heeded && given.buffer.pause.is_some() && !short.contains(&index) {
            lossless(&s.lost, &given.name)?;
        }
        stopped.push(s.stopped);
        out.switches.push(s.outcome);
        take(s.node, 3, &mut out, &mut gone);
    }
    out.gauges = net.schemes.iter().flat_map(|s| s.gauges()).cloned().collect();
    sum_control(net, &control, &mut out);
    if made != gone {
        return Err(RunError::Law(format!(
            "frames are not conserved: {} were made, {} were delivered, dropped or are still inside",
            made.frames, gone.frames
        )));
    }
    out.fingerprint = Fingerprint { events: events.0, frames: frames.0, samples: samples.0 };
    freeze(&mut out, net, spec, (waiting, last_delivery), &stopped);
    Ok(out)
}

/// Says whether the network stands still, since when and why. `waiting`: frames at the hosts, and the time of the last delivery.
fn freeze(
    out: &mut Outcome,
    net: &Net,
    spec: &RunSpec,
    (waiting, last_delivery): (u64, u64),
    stopped: &[Vec<Stopped>],
) {
    let stuck = stopped.iter().any(|s| !s.is_empty());
    if (waiting > 0 || stuck) && last_delivery < net.duration - net.duration / 10 {
        out.frozen_since = Some(Time::from_ps(last_delivery));
        out.standstill = standstill(net, spec, stopped);
    }
}

/// Each destination has counted by source; the outcome is by source, then destination. Empty if nothing was counted.
fn by_source(received_from: &[Vec<u64>]) -> Vec<u64> {
    let n = received_from.len();
    let at = |i: usize| received_from[i % n].get(i / n).copied();
    (0..n * n).map_while(at).collect()
}

/// The law of PAUSE: nothing is dropped for want of partition space.
fn lossless(lost: &[u64], name: &str) -> Result<(), RunError> {
    let Some((p, lost)) = lost.iter().enumerate().find(|p| *p.1 > 0) else { return Ok(()) };
    Err(RunError::Law(format!(
        "{lost} frames were lost at switch {name} port {p} for want of partition space although PAUSE is on; the \
         headroom above the high watermark is too small for its links (a PAUSE frame also waits for the data \
         frame in transmission, which takes long at a port that is served slowly)"
    )))
}

/// Sums up congestion management over all nodes.
fn sum_control(net: &Net, nodes: &[ControlBooks], out: &mut Outcome) {
    let mut counters: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut bits = Vec::new();
    for c in nodes {
        out.control_messages += c.messages;
        out.control_bits += c.bits;
        out.control_discarded += c.discarded;
        out.feedback_ignored += c.ignored;
        out.feedback_lost += c.lost;
        c.at.pour(&mut bits);
        for (i, n) in c.counters.numbers().iter().enumerate() {
            *counters.entry((c.scheme.unwrap_or(0), i)).or_default() += n;
        }
    }
    if net.record.control {
        let bin = net.record.bin;
        let values = bits.iter().map(|b: &u64| *b as f64 / bin.as_secs_f64()).collect();
        out.series.push(Series { kind: SeriesKind::Control, bin, values });
    }
    let name = |s: usize, i: usize| Some(net.schemes.get(s)?.counters.get(i)?.name.to_string());
    out.counters = counters.into_iter().filter_map(|((s, i), n)| Some((name(s, i)?, n))).collect();
}
