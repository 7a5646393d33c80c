//! Building the nodes, running them, and closing the books.

mod captured;
mod guest;
mod meeting;
mod node;
mod reference;
mod sync;
mod visits;
mod windowed;

use crate::check::{Failure, Ledger, close, quiet};
use crate::fast::host::Host;
use crate::fast::inbox::Inbox;
use crate::fast::sweep::Scratch;
use crate::fast::switch::Switch;
use crate::fast::wires::{FOREIGN, LOSSY, Wires};
use crate::model::{Losses, Packet, Switching};
use crate::net::Net;
use crate::outcome::Outcome;
use crate::spec::{BufferSpec, ControlTransport, PauseSpec, RunSpec, SwitchSpec};
use crate::{Engine, Options, RunError};
use captured::captured;
use cnsim_scheme_api::Acks;
use cnsim_scheme_api::network::guarded;
use guest::Guest;
use std::collections::BTreeMap;

/// The nodes that one worker owns, with their receiving ports.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) hosts: Vec<Host>,
    pub(crate) switches: Vec<Switch>,
    guests: Vec<Guest>,
    pub(crate) wires: Wires,
    pub(crate) scratch: Scratch,
    /// Hosts, switches and guests of the first half ([`Net::halves`]), which come first.
    pub(crate) first: (usize, usize, usize),
    /// Port number in the network -> receiving port of this worker, `u32::MAX` if another's.
    pub(crate) local: Vec<u32>,
    /// Host -> its index here, `u32::MAX` if another's.
    pub(crate) seats: Vec<u32>,
}

impl Part {
    /// Data and control frames that have finished a link.
    fn hops(&self) -> u64 {
        let fast = self.hosts.iter().map(Host::hops).chain(self.switches.iter().map(Switch::hops));
        fast.chain(self.guests.iter().map(|guest| guest.node.hops())).sum()
    }

    /// For how long ports of switches have sent, at the rates that they have now, ps.
    fn busy(&self) -> f64 {
        let ports = self.switches.iter().flat_map(|s| &s.ports);
        ports.map(|p| p.left.bytes as f64 * p.service.per_byte()).sum()
    }

    /// Gives the receiving ports at the far ends of its nodes' links other numbers.
    fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        for h in &mut self.hosts {
            h.line.peer = new(h.line.peer);
        }
        for p in self.switches.iter_mut().flat_map(|s| &mut s.ports) {
            if let Some(l) = &mut p.link {
                l.peer = new(l.peer);
                p.peer = l.peer;
            }
        }
    }

    /// Has something stopped the run before a time?
    fn failed_before(&self, time: u64) -> bool {
        let hosts = self.hosts.iter().map(|h| &h.sides.sender.journal.failure);
        let all = hosts.chain(self.switches.iter().map(|s| &s.management.failure));
        let guests = self.guests.iter().filter_map(|guest| guest.node.failed_at());
        all.filter_map(Failure::at).chain(guests).any(|at| at < time)
    }
}

/// Runs a network.
///
/// # Errors
/// See [`RunError`].
pub fn run(spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    quiet();
    guarded(|| run_unguarded(spec, options))
        .unwrap_or_else(|why| Err(RunError::Law(format!("this is a defect of cnsim: {why}"))))
}

fn run_unguarded(spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let net = Net::build(spec)?;
    if let Some(why) = by_model(&net, options.engine) {
        let outcome = reference::run(&net, spec, options)?;
        return Ok(Outcome { by_model: Some(why), ..outcome });
    }
    let threads = windowed::threads(&net, spec, options.threads);
    let parts = windowed::run(&net, build(&net, spec, threads), options.visits, options.progress)?;
    let by_model = guests(&net, spec);
    Ok(Outcome { by_model, ..close_parts(&net, spec, parts)? })
}

/// Why a network runs by the model; none if the fast way knows all that its spec asks for, or leaves to schemes, but for single switches.
fn by_model(net: &Net, engine: Engine) -> Option<String> {
    if engine == Engine::Model {
        Some("the model's engine was asked for".into())
    } else if net.direct(0).is_some() && net.schemes.iter().any(|s| s.plan.acks == Acks::Telemetry) {
        Some("the fast way brings no telemetry back without frames".into())
    } else if net.direct(0).is_some() && net.transport.is_some_and(|transport| transport.reports()) {
        Some("the fast way brings no reports of single frames back without frames".into())
    } else if net.classes.len() > 1 {
        Some(format!("the fast way knows one class of data, not {}", net.classes.len()))
    } else {
        None
    }
}

/// Why a switch of such a network runs by the model; none if the fast way knows its settings. A new one does not compile here until that
/// is decided. A host's settings are read by its own file of the fast way, and by the sending side that both share.
fn as_guest(net: &Net, switch: &SwitchSpec) -> Option<&'static str> {
    let SwitchSpec { name: _, ports: _, processing: _, buffer, shared, scheme } = switch;
    let BufferSpec { organisation: _, share: _, output_limit: _, pause } = buffer;
    if let Some(PauseSpec { high: _, low: _, global: _, pool: _, transport: _ }) = pause {}
    if shared.is_some() && net.control == ControlTransport::InBand {
        Some("the fast way knows no messages among the data of shared buffers")
    } else if net.classes[0].scheme(*scheme).is_some_and(|i| net.schemes[i].plan.departures) {
        Some("the fast way does not wake congestion points as frames leave")
    } else {
        None
    }
}

/// Reasons of all switches that run by the model, and how many do.
fn guests(net: &Net, spec: &RunSpec) -> Option<String> {
    let mut why = spec.switches.iter().filter_map(|switch| as_guest(net, switch));
    let first = why.next()?;
    Some(format!("{first} ({} of {} switches)", 1 + why.count(), spec.switches.len()))
}

/// Spreads the nodes over workers: switches by share of their ports, hosts with their switch.
fn build(net: &Net, spec: &RunSpec, workers: usize) -> Vec<Part> {
    let nodes = net.ports.len() - 1;
    let hosts = net.hosts as usize;
    let mut owner = vec![0usize; hosts];
    owner.extend(net.places(workers));
    for h in 0..hosts {
        owner[h] = owner[net.line(net.nics(h as u32).start as u32).peer_node as usize];
    }
    let empty =
        |_| Part { local: vec![u32::MAX; net.links.len()], seats: vec![u32::MAX; hosts], ..Part::default() };
    let mut parts: Vec<Part> = (0..workers).map(empty).collect();
    // Halves take turns, so each has its memory in one piece.
    let second = |n: usize| net.halves.get(n).copied().unwrap_or(false);
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&n| second(n));
    for n in order {
        let part = &mut parts[owner[n]];
        let inbox = part.wires.inboxes.len() as u32;
        for p in net.ports[n]..net.ports[n + 1] {
            part.local[p as usize] = part.wires.inboxes.len() as u32;
            part.wires.inboxes.push(Inbox::new((p - net.ports[n]) as u16));
        }
        if n < hosts {
            let mut host = Host::new(net, n as u32, &spec.hosts[n]);
            host.line.inbox = inbox;
            part.seats[n] = part.hosts.len() as u32;
            part.hosts.push(host);
        } else if as_guest(net, &spec.switches[n - hosts]).is_some() {
            part.guests.push(Guest::new(net, spec, n as u32, inbox, &mut part.wires.records));
        } else {
            let mut switch = Switch::new(net, spec, n - hosts, &spec.switches[n - hosts]);
            switch.inbox = inbox;
            part.switches.push(switch);
        }
        if !second(n) {
            part.first = (part.hosts.len(), part.switches.len(), part.guests.len());
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
        let local = std::mem::take(&mut part.local);
        let number = |peer: u32| match local[peer as usize] {
            u32::MAX => peer | FOREIGN,
            at => at,
        };
        let losses = Losses::new(net, |port| local[port as usize] != u32::MAX);
        part.renumber(|peer| number(peer) | if losses.has(peer) { LOSSY } else { 0 });
        part.wires.losses = losses.renumbered(number);
        part.local = local;
    }
    parts
}

/// Gathers what the nodes hand in, in order, and closes the books.
fn close_parts(net: &Net, spec: &RunSpec, parts: Vec<Part>) -> Result<Outcome, RunError> {
    let (mut on_wires, mut books) = (Ledger::default(), BTreeMap::new());
    let mut seen = Outcome::default();
    for mut part in parts {
        part.wires.inboxes.iter().flat_map(|i| i.entries()).for_each(|e| e.frame.enter(&mut on_wires));
        let losses = std::mem::take(&mut part.wires.losses);
        losses.close(net, &mut on_wires, &mut seen, |port, when, (frame, report)| {
            captured(net, port, when, (frame.whole(net, &mut part.wires), report))
        });
        // Frames on links are counted: their memory is freed before the books take theirs.
        drop(part.wires);
        books.extend(part.hosts.into_iter().map(|h| (h.id(), h.close(net))));
        books.extend(part.switches.into_iter().map(|mut s| (s.management.id, s.close(net))));
        books.extend(part.guests.into_iter().map(|guest| guest.close(net, &mut on_wires)));
    }
    close(net, spec, &on_wires, books, seen)
}
