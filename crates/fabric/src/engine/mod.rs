//! Building the nodes, running them, and closing the books.

mod meeting;
mod reference;
mod sync;
mod visits;
mod windowed;

use crate::check::{Failure, Ledger, close, quiet};
use crate::fast::host::Host;
use crate::fast::inbox::Inbox;
use crate::fast::sweep::Scratch;
use crate::fast::switch::Switch;
use crate::fast::wires::{FOREIGN, Wires};
use crate::model::Packet;
use crate::net::Net;
use crate::outcome::Outcome;
use crate::spec::{BufferSpec, ControlTransport, PauseSpec, RunSpec, SwitchSpec};
use crate::{Engine, Options, RunError};
use cnsim_scheme_api::Acks;
use cnsim_scheme_api::network::guarded;
use std::collections::BTreeMap;

/// The nodes that one worker owns, with their receiving ports.
#[derive(Debug, Default)]
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
        self.hosts.iter().map(Host::hops).chain(self.switches.iter().map(Switch::hops)).sum()
    }

    /// For how long ports of switches have sent, at the rates that they have now, ps.
    fn busy(&self) -> f64 {
        let ports = self.switches.iter().flat_map(|s| &s.ports);
        ports.map(|p| p.departed as f64 * p.service.per_byte()).sum()
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
        all.filter_map(Failure::at).any(|at| at < time)
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
    if let Some(why) = by_model(&net, spec, options.engine) {
        let outcome = reference::run(&net, spec, options)?;
        return Ok(Outcome { by_model: Some(why), ..outcome });
    }
    let threads = windowed::threads(&net, spec, options.threads);
    let parts = windowed::run(&net, build(&net, spec, threads), options.visits, options.progress)?;
    close_parts(&net, spec, parts)
}

/// Why a network runs by the model; none if the fast way knows all that its spec asks for, or leaves to schemes.
fn by_model(net: &Net, spec: &RunSpec, engine: Engine) -> Option<String> {
    let shared = || spec.switches.iter().filter_map(|s| s.shared.as_ref());
    let woken = |s| scheme_of(s).is_some_and(|i| net.schemes[i].plan.departures);
    if engine == Engine::Model {
        Some("the model's engine was asked for".into())
    } else if net.direct(0).is_some() && net.schemes.iter().any(|s| s.plan.acks == Acks::Telemetry) {
        Some("the fast way brings no telemetry back without frames".into())
    } else if shared().next().is_some() && net.control == ControlTransport::InBand {
        Some("the fast way knows no messages among the data of shared buffers".into())
    } else if net.classes.len() > 1 {
        Some(format!("the fast way knows one class of data, not {}", net.classes.len()))
    } else if spec.switches.iter().any(woken) {
        Some("the fast way does not wake congestion points as frames leave".into())
    } else {
        None
    }
}

/// A switch's scheme. The fast way knows all other settings of a switch: a new one does not compile here until that is decided. A host's
/// settings are read by its own file of the fast way, and by the sending side that both share.
fn scheme_of(switch: &SwitchSpec) -> Option<usize> {
    let SwitchSpec { name: _, ports: _, processing: _, buffer, shared: _, scheme } = switch;
    let BufferSpec { organisation: _, share: _, output_limit: _, pause } = buffer;
    if let Some(PauseSpec { high: _, low: _, global: _, pool: _, transport: _ }) = pause {}
    *scheme
}

/// Spreads the nodes over workers: switches by share of their ports, hosts with their switch.
fn build(net: &Net, spec: &RunSpec, workers: usize) -> Vec<Part> {
    let nodes = net.ports.len() - 1;
    let hosts = net.hosts as usize;
    let mut owner = vec![0usize; hosts];
    owner.extend(net.places(workers));
    for h in 0..hosts {
        owner[h] = owner[net.line(h as u32).peer_node as usize];
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
            host.place(inbox);
            part.seats[n] = part.hosts.len() as u32;
            part.hosts.push(host);
        } else {
            let mut switch = Switch::new(net, spec, n - hosts, &spec.switches[n - hosts]);
            switch.inbox = inbox;
            part.switches.push(switch);
        }
        if !second(n) {
            part.first = (part.hosts.len(), part.switches.len());
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
        part.renumber(|peer| match local[peer as usize] {
            u32::MAX => peer | FOREIGN,
            at => at,
        });
        part.local = local;
    }
    parts
}

/// Gathers what the nodes hand in, in order, and closes the books.
fn close_parts(net: &Net, spec: &RunSpec, parts: Vec<Part>) -> Result<Outcome, RunError> {
    let (mut on_wires, mut books) = (Ledger::default(), BTreeMap::new());
    for part in parts {
        part.wires.inboxes.iter().flat_map(|i| i.entries()).for_each(|e| e.frame.enter(&mut on_wires));
        // What the links hold is counted: their memory goes before the books take theirs.
        drop(part.wires);
        books.extend(part.hosts.into_iter().map(|h| (h.sides.sender.settings.id, h.close(net))));
        books.extend(part.switches.into_iter().map(|s| (s.management.id, s.close(net))));
    }
    close(net, spec, &on_wires, books)
}
