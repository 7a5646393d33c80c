//! Building the nodes, running them, and closing the books.

mod captured;
mod guest;
mod meeting;
mod node;
mod reference;
mod replay;
mod reuse;
mod sync;
mod visits;
mod windowed;

use crate::check::{Books, Failure, Hash, Ledger, close, quiet};
use crate::fast::frame::LONGEST_PACKED;
use crate::fast::host::Host;
use crate::fast::inbox::Inbox;
use crate::fast::sweep::Scratch;
use crate::fast::switch::Switch;
use crate::fast::wires::{FOREIGN, LOSSY, Wires};
use crate::model::{Losses, Packet, Program, Switching, line};
use crate::net::{Net, Ps};
use crate::outcome::{Outcome, Phases};
use crate::spec::{BufferSpec, ControlTransport, PauseSpec, RunSpec, SwitchSpec};
use crate::{Engine, Options, Reuse, RunError};
use captured::captured;
use cnsim_scheme_api::Acks;
use cnsim_scheme_api::network::guarded;
use guest::Guest;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

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
        let fast = self.hosts.iter().map(|h| h.sides.hops()).chain(self.switches.iter().map(Switch::hops));
        fast.chain(self.guests.iter().map(|guest| guest.laws.hops())).sum()
    }

    /// For how long ports of switches have sent, at the rates that they have now, ps.
    fn busy(&self) -> f64 {
        let ports = self.switches.iter().flat_map(|s| &s.ports);
        ports.map(|p| p.left.bytes as f64 * p.line.service.per_byte()).sum()
    }

    /// Gives the receiving ports at the far ends of its nodes' links other numbers.
    fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        for h in &mut self.hosts {
            h.port.link.peer = new(h.port.link.peer);
        }
        self.guests.iter_mut().for_each(|guest| guest.renumber(&new));
        for p in self.switches.iter_mut().flat_map(|s| &mut s.ports) {
            if let Some(l) = &mut p.place.link {
                l.peer = new(l.peer);
                p.line.peer = l.peer;
            }
        }
    }

    /// Has something stopped the run before a time?
    fn failed_before(&self, time: Ps) -> bool {
        let hosts = self.hosts.iter().map(|h| &h.sides.sender.journal.failure);
        let all = hosts.chain(self.switches.iter().map(|s| &s.management.failure));
        let guests = self.guests.iter().filter_map(|guest| guest.laws.failed_at());
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
    let mut net = Net::build(spec)?;
    let model = by_model(&net, options.engine);
    let by_model = model.clone().or_else(|| guests(&net, spec));
    // What is simulated in vain counts once.
    let (most, told) = (AtomicU64::new(0), options.progress);
    let progress =
        |time, hops| told.is_none_or(|told| told(time, most.fetch_max(hops, Ordering::Relaxed).max(hops)));
    let options = &Options { progress: told.is_some().then_some(&progress), ..*options };
    let asked = net.flows.graph.is_some() && options.reuse != Reuse::Off;
    let why_not = if asked { reuse::refused(&net, spec, by_model.as_deref()) } else { None };
    if asked && why_not.is_none() {
        // What stops the run does so in all of it, and is told as there.
        match reuse::run(&mut net, spec, options) {
            Err(RunError::Law(why)) if why.starts_with(reuse::DIFFERS) => return Err(RunError::Law(why)),
            Err(RunError::Law(_) | RunError::Scheme(_)) => {
                quiet();
                net = Net::build(spec)?;
            }
            outcome => return outcome,
        }
    }
    let outcome = match model {
        Some(_) => reference::run(&net, spec, options)?,
        None => stretch(&net, spec, options, None)?.close(&net, spec)?,
    };
    let phases = asked.then(|| Phases { simulated: 1, why_not, ..Phases::default() });
    Ok(Outcome { by_model, phases, ..outcome })
}

/// What a node brings along from the phases before.
#[derive(Debug, Default)]
struct Before {
    /// Of a host that takes part.
    program: Option<Box<Program>>,
    /// Over events, and over deliveries or samples.
    hashes: (Hash, Hash),
}

/// Where a stretch of a run begins: at rest.
#[derive(Debug)]
struct Start {
    /// When, ps.
    from: Ps,
    /// By node.
    before: Vec<Before>,
    /// It ends as all is at rest again.
    to_rest: bool,
}

/// A stretch of a run: to its end, to rest, or until something stops it.
#[derive(Debug)]
struct Stretch {
    books: BTreeMap<u32, Books>,
    /// Frames between nodes.
    on_wires: Ledger,
    /// What links lost and captured.
    seen: Outcome,
    /// Of the nodes, where it began at rest.
    programs: Vec<Option<Box<Program>>>,
    /// The times that all nodes and the first ones had come to as it rested, ps.
    rest: Option<(Ps, Ps)>,
    /// The node that remembers what has happened, and which part of it: so that nothing is at rest again.
    remembers: Option<(u32, String)>,
}

impl Stretch {
    /// Closes the books.
    fn close(self, net: &Net, spec: &RunSpec) -> Result<Outcome, RunError> {
        close(net, spec, &self.on_wires, self.books, self.seen)
    }
}

/// Simulates a network by the fast way, from the beginning or from where others left it.
fn stretch(net: &Net, spec: &RunSpec, options: &Options<'_>, at: Option<Start>) -> Result<Stretch, RunError> {
    let mut parts = build(net, spec, windowed::threads(net, spec, options.threads));
    let asked = at.is_some();
    let (from, to_rest) = at.as_ref().map_or((Ps(0), false), |start| (start.from, start.to_rest));
    if let Some(Start { mut before, .. }) = at {
        for part in &mut parts {
            for host in &mut part.hosts {
                let Before { program, hashes } = std::mem::take(&mut before[host.id() as usize]);
                host.sides.resume(program, hashes);
            }
            for switch in &mut part.switches {
                switch.management.resume(before[switch.management.id as usize].hashes, from, net);
                switch.plan(&mut (net, &mut part.wires));
            }
            for guest in &mut part.guests {
                guest.resume(before[guest.id as usize].hashes, from, net, &mut part.wires);
            }
        }
    }
    let (parts, rest, remembers) =
        windowed::run(net, parts, (options.visits, from, to_rest), options.progress)?;
    Ok(Stretch { rest, remembers, ..close_parts(net, parts, asked) })
}

/// Why a network runs by the model; none if the fast way knows all that its spec asks for, or leaves to schemes, but for single switches.
fn by_model(net: &Net, engine: Engine) -> Option<String> {
    if engine == Engine::Model {
        Some("the model's engine was asked for".into())
    } else if net.direct(Ps(0)).is_some() && net.schemes.iter().any(|s| s.plan.acks == Acks::Telemetry) {
        Some("the fast way brings no telemetry back without frames".into())
    } else if net.direct(Ps(0)).is_some() && net.flows.transport.is_some_and(|transport| transport.reports())
    {
        Some("the fast way brings no reports of single frames back without frames".into())
    } else if net.classes.len() > 1 && net.has_machines() {
        Some("the fast way knows no hosts with several NICs and several classes of data".into())
    } else if net.duration >= LONGEST_PACKED {
        Some("the fast way knows no times beyond 37 minutes".into())
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
    if shared.is_some() && net.laws.control == ControlTransport::InBand {
        Some("the fast way knows no messages among the data of shared buffers")
    } else if net.classes[0].scheme(*scheme).is_some_and(|i| net.schemes[i].plan.departures) {
        Some("the fast way does not wake congestion points as frames leave")
    } else {
        None
    }
}

/// Reasons of all switches that run by the model, and how many do.
fn guests(net: &Net, spec: &RunSpec) -> Option<String> {
    let one = net.classes.len() == 1;
    let mut why = spec.switches.iter().filter(|_| one).filter_map(|switch| as_guest(net, switch));
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
        owner[h] = owner[line(net, net.nics(h as u32).start as u32).peer_node as usize];
    }
    let empty =
        |_| Part { local: vec![u32::MAX; net.links.len()], seats: vec![u32::MAX; hosts], ..Part::default() };
    let mut parts: Vec<Part> = (0..workers).map(empty).collect();
    // Halves take turns, so each has its memory in one piece.
    let second = |n: usize| net.windows.halves.get(n).copied().unwrap_or(false);
    // What comes to a queue and leaves it is kept by the model.
    let kept = |n: u32| net.record.queues.iter().any(|q| q.0.0 == n && net.keeps_queue(n, q.1));
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&n| second(n));
    for n in order {
        let part = &mut parts[owner[n]];
        let inbox = part.wires.inboxes.len() as u32;
        for p in net.ports[n]..net.ports[n + 1] {
            part.local[p as usize] = part.wires.inboxes.len() as u32;
            part.wires.inboxes.push(Inbox::new((p - net.ports[n]) as u16));
        }
        if net.classes.len() > 1 {
            part.guests.push(Guest::new(net, spec, n as u32, inbox, &mut part.wires));
        } else if n < hosts {
            let mut host = Host::new(net, n as u32, &spec.hosts[n]);
            host.inbox = inbox;
            part.seats[n] = part.hosts.len() as u32;
            part.hosts.push(host);
        } else if as_guest(net, &spec.switches[n - hosts]).is_some() || kept(n as u32) {
            part.guests.push(Guest::new(net, spec, n as u32, inbox, &mut part.wires));
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

/// Gathers what the nodes hand in; their operations, too, where that is `asked` for.
fn close_parts(net: &Net, parts: Vec<Part>, asked: bool) -> Stretch {
    let (mut on_wires, mut books) = (Ledger::default(), BTreeMap::new());
    let mut seen = Outcome::default();
    let mut programs = Vec::new();
    programs.resize_with(if asked { net.ports.len() - 1 } else { 0 }, || None);
    for mut part in parts {
        part.wires.inboxes.iter().flat_map(|i| i.entries()).for_each(|e| e.frame.enter(&mut on_wires));
        let losses = std::mem::take(&mut part.wires.losses);
        losses.close(net, &mut on_wires, &mut seen, |port, when, (frame, report)| {
            captured(net, port, when, (frame.whole(net, &mut part.wires), report))
        });
        // Frames on links are counted: their memory is freed before the books take theirs.
        drop(part.wires);
        for mut host in part.hosts {
            let id = host.id();
            if let Some(program) = programs.get_mut(id as usize) {
                *program = host.sides.sender.program.take();
            }
            books.insert(id, host.close(net));
        }
        books.extend(part.switches.into_iter().map(|mut s| (s.management.id, s.close(net))));
        books.extend(part.guests.into_iter().map(|guest| (guest.id, guest.laws.close::<Wires>(net))));
    }
    Stretch { books, on_wires, seen, programs, rest: None, remembers: None }
}
