//! Building the nodes, running them, and closing the books.

mod reference;
mod visits;
mod windowed;
mod workers;

use crate::check::freeze;
use crate::fast::bodies::Direct;
use crate::fast::frame::{BROADCAST, Hash};
use crate::fast::host::Host;
use crate::fast::sweep::Scratch;
use crate::fast::switch::{Ledger, Switch};
use crate::fast::wires::{FOREIGN, Wires};
use crate::net::Net;
use crate::outcome::{ByModel, Fingerprint, Outcome, Series, SeriesKind};
use crate::spec::RunSpec;
use crate::{Engine, Options, RunError};
use cnsim_scheme_api::Time;

/// The nodes that one worker owns, with their receiving ports.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) hosts: Vec<Host>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) wires: Wires,
    pub(crate) scratch: Scratch,
    /// Hosts and switches of the first half ([`Net::halves`]), which come first.
    pub(crate) first: (usize, usize),
    /// Port number in the network -> receiving port of this worker, `u32::MAX` if another's.
    pub(crate) local: Vec<u32>,
    /// Host -> its index here, `u32::MAX` if another's.
    pub(crate) seats: Vec<u32>,
}

impl Part {
    /// Data and control frames that have finished a link.
    fn hops(&self) -> u64 {
        self.hosts.iter().map(Host::hops).sum::<u64>() + self.switches.iter().map(Switch::hops).sum::<u64>()
    }

    /// For how long ports of switches have sent, at the rates that they have now, ps.
    fn busy(&self) -> f64 {
        let ports = self.switches.iter().flat_map(|s| &s.ports);
        ports.map(|p| p.left as f64 * p.service.per_byte()).sum()
    }

    /// Hands feedback that takes no link to its host, if that is here, or to all hosts; `told` hears of each.
    fn hand(&mut self, d: &Direct, mut told: impl FnMut(usize, &mut Wires)) {
        let all = d.to == BROADCAST;
        let one = self.seats.get(d.to as usize).map_or(usize::MAX, |&seat| seat as usize);
        let seats = if all { 0..self.hosts.len() } else { one..one.saturating_add(1) };
        for (seat, host) in self.hosts.iter_mut().enumerate().skip(seats.start).take(seats.len()) {
            host.defer(d);
            told(seat, &mut self.wires);
        }
    }

    /// The first failure of a scheme or law.
    fn failure(&self) -> Option<&String> {
        let hosts = self.hosts.iter().filter_map(|h| h.failure.as_ref());
        hosts.chain(self.switches.iter().filter_map(|s| s.failure.as_ref())).next()
    }
}

/// Runs a network.
///
/// # Errors
/// See [`RunError`].
pub fn run(spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let net = Net::build(spec)?;
    if options.engine == Engine::EventList {
        return reference::run(&net, spec, options);
    }
    if let Some(why) = unknown_to_fast(&net) {
        let nodes = (net.ports.len() - 1) as u64;
        let outcome = reference::run(&net, spec, options)?;
        return Ok(Outcome { by_model: Some(ByModel { nodes, why }), ..outcome });
    }
    let threads = workers::count(&net, spec, options.threads);
    let mut parts = build(&net, spec, threads)?;
    windowed::run(&net, &mut parts, options)?;
    close(&net, spec, parts)
}

/// Why the fast way cannot run a network, which then runs the model's way; none where it can.
fn unknown_to_fast(net: &Net) -> Option<String> {
    (net.classes.len() > 1).then(|| format!("it has {} classes of data", net.classes.len()))
}

/// Spreads the nodes over workers: switches by share of their ports, hosts with their switch.
fn build(net: &Net, spec: &RunSpec, workers: usize) -> Result<Vec<Part>, RunError> {
    let nodes = net.ports.len() - 1;
    let hosts = net.hosts as usize;
    let mut owner = vec![0usize; nodes];
    owner.truncate(hosts);
    owner.extend(net.places(workers));
    for h in 0..hosts {
        if let Some(l) = net.links[net.ports[h] as usize] {
            owner[h] = owner[l.peer_node as usize];
        }
    }
    let mut parts: Vec<Part> = (0..workers)
        .map(|_| Part {
            hosts: Vec::new(),
            switches: Vec::new(),
            wires: Wires::default(),
            scratch: Scratch::default(),
            first: (0, 0),
            local: vec![u32::MAX; net.links.len()],
            seats: vec![u32::MAX; hosts],
        })
        .collect();
    // Halves take turns, so each has its memory in one piece.
    let second = |n: usize| net.halves.get(n).copied().unwrap_or(false);
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&n| second(n));
    for n in order {
        let part = &mut parts[owner[n]];
        let count = if n < hosts { &mut part.first.0 } else { &mut part.first.1 };
        *count += usize::from(!second(n));
        let inbox = part.wires.inboxes.len() as u32;
        for p in net.ports[n]..net.ports[n + 1] {
            part.local[p as usize] = part.wires.inboxes.len() as u32;
            part.wires.add(net.flight(p), (p - net.ports[n]) as u16);
        }
        if n < hosts {
            let mut host = Host::new(net, n as u32, &spec.hosts[n])
                .ok_or_else(|| RunError::Spec(format!("host {n} has no link")))?;
            host.inbox = inbox;
            part.seats[n] = part.hosts.len() as u32;
            part.hosts.push(host);
        } else {
            let mut switch = Switch::new(net, spec, n - hosts, &spec.switches[n - hosts]);
            switch.inbox = inbox;
            part.switches.push(switch);
        }
    }
    let of_port: Vec<u16> = (0..net.links.len())
        .map(|p| parts.iter().position(|part| part.local[p] != u32::MAX).unwrap_or(0) as u16)
        .collect();
    for part in &mut parts {
        part.wires.foreign.resize_with(workers, Vec::new);
        if workers > 1 {
            part.wires.owner.clone_from(&of_port);
        }
        let local = &part.local;
        let place = |peer: u32| match local[peer as usize] {
            u32::MAX => peer | FOREIGN,
            at => at,
        };
        for h in &mut part.hosts {
            h.peer = place(h.peer);
        }
        for p in part.switches.iter_mut().flat_map(|s| &mut s.ports) {
            if let Some(l) = &mut p.link {
                l.peer = place(l.peer);
                p.peer = l.peer;
            }
        }
    }
    Ok(parts)
}

/// Checks the laws and gathers the results, node by node in order.
fn close(net: &Net, spec: &RunSpec, mut parts: Vec<Part>) -> Result<Outcome, RunError> {
    if let Some(cause) = parts.iter().find_map(Part::failure) {
        return Err(RunError::Law(cause.clone()));
    }
    let mut out = Outcome { duration: Time::from_ps(net.duration), ..Outcome::default() };
    let (mut made, mut gone) = (Ledger::default(), Ledger::default());
    let (mut events, mut frames, mut samples) = (Hash::default(), Hash::default(), Hash::default());
    let mut hosts: Vec<&mut Host> = Vec::new();
    let mut switches: Vec<&mut Switch> = Vec::new();
    let mut waiting = 0u64;
    let mut received: Vec<u64> = Vec::new();
    let mut stopped = Vec::new();
    for part in &mut parts {
        for e in part.wires.inboxes.iter().flat_map(|i| i.entries()).filter(|e| e.frame.is_data()) {
            gone.add(&e.frame);
        }
        hosts.extend(part.hosts.iter_mut());
        switches.extend(part.switches.iter_mut());
    }
    hosts.sort_by_key(|h| h.id);
    switches.sort_by_key(|s| s.index);
    let mut counters: std::collections::BTreeMap<(usize, usize), u64> = std::collections::BTreeMap::new();
    let mut last = 0;
    let mut control_at = Vec::new();
    for h in hosts {
        made.merge(&h.made);
        gone.merge(&h.got);
        let before = gone.frames;
        h.inside(&mut gone);
        waiting += gone.frames - before;
        events.add(h.events.0, 1);
        frames.add(h.frames.0, 2);
        out.control_messages += h.control_messages;
        out.control_bits += h.control_bits;
        h.control_at.pour(&mut control_at);
        out.feedback_ignored += h.ignored;
        out.feedback_lost += h.lost;
        out.packet_hops += h.hops();
        out.control_hops += h.control_hops;
        last = last.max(h.last_delivery);
        for (i, c) in h.counters.numbers().iter().enumerate() {
            *counters.entry((h.scheme.unwrap_or(0), i)).or_default() += c;
        }
        let (host, series) = h.finish(net);
        out.hosts.push(host);
        out.series.extend(series);
        received.append(&mut h.records.matrix);
    }
    // Each destination has counted by source; the outcome is by source, then destination.
    let n = out.hosts.len();
    if received.len() == n * n {
        out.matrix = (0..n * n).map(|i| received[i % n * n + i / n]).collect();
    }
    for s in switches {
        gone.merge(&s.drops);
        s.inside(&mut gone);
        events.add(s.events.0, 3);
        samples.add(s.samples.0, 4);
        out.control_messages += s.control_messages;
        out.control_bits += s.control_bits;
        s.control_at.pour(&mut control_at);
        out.control_discarded += s.control_discarded;
        out.packet_hops += s.hops();
        out.control_hops += s.control_hops();
        for (i, c) in s.counters.numbers().iter().enumerate() {
            *counters.entry((s.scheme().unwrap_or(0), i)).or_default() += c;
        }
        let heeded = !spec.hosts.iter().any(|h| h.faults.ignores_pause);
        let paused = spec.switches[s.index].buffer.pause.is_some() && heeded;
        let index = s.index;
        stopped.push(s.stopped());
        let (switch, series) = s.finish(net);
        if paused
            && let Some(p) = switch.ports.iter().position(|p| p.dropped > 0)
            && !crate::headroom::short(spec, index)
        {
            return Err(RunError::Law(format!(
                "{} frames were lost at switch {} port {p} for want of partition space although PAUSE is on; the \
                 headroom above the high watermark is too small for its links (a PAUSE frame also waits for the data \
                 frame in transmission, which takes long at a port that is served slowly)",
                switch.ports[p].dropped, spec.switches[index].name
            )));
        }
        out.switches.push(switch);
        out.series.extend(series);
    }
    if net.record.control {
        let bin = net.record.bin;
        let values = control_at.iter().map(|bits: &u64| *bits as f64 / bin.as_secs_f64()).collect();
        out.series.push(Series { kind: SeriesKind::Control, bin, values });
    }
    if (made.frames, made.identity) != (gone.frames, gone.identity) {
        return Err(RunError::Law(format!(
            "frames are not conserved: {} were made, {} were delivered, dropped or are still inside",
            made.frames, gone.frames
        )));
    }
    out.counters = counters
        .into_iter()
        .filter_map(|((s, i), n)| Some((spec.schemes.get(s)?.counters().get(i)?.name.to_string(), n)))
        .collect();
    out.fingerprint = Fingerprint { events: events.0, frames: frames.0, samples: samples.0 };
    freeze(&mut out, net, spec, (waiting, last), &stopped);
    Ok(out)
}
