//! Which nodes are visited in a turn: all whose turn it is, or, where windows hold few frames, those that have something to do.
//!
//! * Claim: which nodes are visited, and how far a star runs, follows what windows hold.
//! * Same bits: a node's state after a window is a function of what reached it, whenever it is looked at.
//! * Bench row: sparse.
//! * Marks: Stretched, PassedOver, ChoseDue, ChoseAll; out: NotQuiet.

use super::Part;
use crate::Visits;
use crate::fast::wheel::{Station, Wheel};
use crate::fast::wires::{FOREIGN, WATCHED};
use crate::marks::{Mark, hit};
use crate::model::{Direct, Switching, together};
use crate::net::{NEVER, Net, Ps};

/// Turns between two looks at how much windows hold.
const LOOK: u64 = 256;

/// Frames that a port ends in a window, below which only some nodes are visited, and above which all are: between the
/// two it stays as it is. Where links are busy the frames of a visit wait for others, so that it costs more: at full load
/// the numbers are less by a share of `BUSY`.
const FEW: f64 = 0.38;
const MANY: f64 = 0.44;
const BUSY: f64 = 0.93;

/// Frames that a port ends in a window which is as long as is worth while, and those that a long window must hold at least.
const ENOUGH: f64 = 2.0;
const LITTLE: f64 = 0.2;

/// Ports of a worker, of which each takes about 500 bytes in every turn, beyond which they are not near: in a cache of the core's own.
const NEAR: usize = 2000;

/// The course of a worker's turns. Turn `t` runs nodes up to `(t + 1) * lead`: those of half `t % 2` where the network has
/// halves, each by two leads, as their neighbours stand at `t * lead`; else all nodes.
#[derive(Default)]
pub(super) struct Turn {
    visits: Visits,
    /// Only nodes in the wheel are visited.
    pub(super) thin: bool,
    /// The next turn.
    turn: u64,
    /// Leads to be added to a window, where a switch can promise that much (an even number).
    reach: u64,
    /// Where the switches stand while the hosts are that far ahead.
    behind: Option<Ps>,
    /// Turn, packet-hops and [`Part::busy`] at the last look.
    last: (u64, u64, f64),
    /// It began at that time, and whether it ends as all is at rest.
    begun: Ps,
    pub(super) rests: bool,
    /// Why that will not be, and which node remembers.
    pub(super) remembers: Option<(u32, String)>,
    /// A host of the part with a flow under way.
    live: usize,
}

impl Turn {
    /// Before the first turn in which something happens at `begun`.
    pub(super) fn new(visits: Visits, begun: Ps, net: &Net) -> Self {
        let turn = (begun / net.windows.lead) & !1;
        Self { visits, turn, last: (turn, 0, 0.0), begun, ..Self::default() }
    }

    /// Is the part at rest, has it sent nothing elsewhere in the turn that has just been run, and is that asked for?
    #[inline]
    pub(super) fn rests(&mut self, net: &Net, part: &mut Part) -> bool {
        let live = |n: &usize| part.hosts[*n].sides.sender.has_live();
        let lives = || self.live < part.hosts.len() && live(&self.live);
        if !self.rests || self.reached(net) <= self.begun || lives() {
            return false;
        }
        self.live = (0..part.hosts.len()).find(live).unwrap_or(part.hosts.len());
        self.live == part.hosts.len() && self.looks_for_rest(net, part)
    }

    #[inline(never)]
    fn looks_for_rest(&mut self, net: &Net, part: &mut Part) -> bool {
        let wires = &part.wires;
        let sent = wires.direct.len() + wires.foreign.iter().map(Vec::len).sum::<usize>();
        if sent > 0 || wires.inboxes.iter().any(|inbox| inbox.entries().next().is_some()) {
            return false;
        }
        if std::mem::take(&mut self.thin) {
            unwatch(net, part, self.turn);
        }
        let Part { hosts, switches, guests, .. } = part;
        let hosts = hosts.iter().map(|host| (host.id(), host.stands_still(net)));
        let switches = switches.iter_mut().map(|s| (s.management.id, s.rest()));
        for (id, rest) in hosts.chain(switches).chain(guests.iter_mut().map(|g| (g.id, g.rest(net)))) {
            match rest {
                Ok(()) => {}
                Err(None) => return false,
                Err(Some(what)) => self.remembers = self.remembers.take().or(Some((id, what))),
            }
        }
        self.rests = self.remembers.is_none();
        self.rests
    }

    /// The times that all nodes have come to before the next turn, and that none has passed.
    pub(super) fn between(&self, net: &Net) -> (Ps, Ps) {
        (self.reached(net), (self.turn * net.windows.lead).min(net.duration))
    }

    /// Where the nodes of the next turn are run to; none after the last, when all have come to the run's end. In a star several
    /// turns are taken in one if that is worth while and nothing but data can come back from its switch before the hosts have
    /// got there: its promise from where it stands, as what it does later reaches them later.
    pub(super) fn end(&mut self, net: &Net, part: &Part) -> Option<Ps> {
        if self.reach > 0 && !self.thin && self.turn.is_multiple_of(2) {
            let last = net.duration.saturating_sub(Ps(1)) / net.windows.lead;
            let mut more = self.reach.min(last.saturating_sub(self.turn + 4)) & !1;
            let quiet = |more: u64| {
                let within = more * net.windows.lead + net.windows.window;
                part.guests.is_empty() && part.switches.iter().all(|s| s.stays_quiet(within, net))
            };
            while more > 0 && !quiet(more) {
                more = (more / 2) & !1;
            }
            hit(if more > 0 { Mark::Stretched } else { Mark::NotQuiet });
            if more > 0 {
                self.behind = Some(self.turn * net.windows.lead);
                self.turn += more;
            }
        }
        (self.reached(net) < net.duration).then(|| ((self.turn + 1) * net.windows.lead).min(net.duration))
    }

    /// The time that all nodes have come to before the next turn.
    pub(super) fn reached(&self, net: &Net) -> Ps {
        let halves = u64::from(!net.windows.halves.is_empty());
        self.behind.unwrap_or(self.turn.saturating_sub(halves) * net.windows.lead).min(net.duration)
    }

    /// The nodes of a part whose turn it is, up to `end`.
    pub(super) fn step(&mut self, net: &Net, part: &mut Part, end: Ps) {
        if self.thin {
            part.wires.wheel.go_to(self.turn);
        }
        // In the last turns, which may be short, all comes to its end.
        if self.thin && end == net.duration {
            self.thin = false;
            unwatch(net, part, self.turn);
        }
        if self.thin {
            step_due(net, part, end);
        } else {
            let behind = if self.turn % 2 == 1 { self.behind.take() } else { None };
            step_all(net, part, self.turn, behind.unwrap_or(self.reached(net)), end);
        }
        self.turn += 1;
        if end < net.duration {
            self.choose(net, part);
        }
    }

    /// Hands feedback that takes no link, made in the turn that has just been run, to the hosts here.
    pub(super) fn hand(&self, net: &Net, part: &mut Part, direct: &[Direct]) {
        for d in direct {
            let (nodes, to) = ((part.hosts.len() + part.switches.len()) as u32, d.to);
            for (n, guest) in (nodes..).zip(&mut part.guests) {
                if to.is_none_or(|to| to == guest.id)
                    && guest.expect_feedback(d, net, &mut part.wires)
                    && self.thin
                {
                    part.wires.wheel.enter_at(n, d.at);
                }
            }
            if part.hosts.is_empty() {
                continue;
            }
            let seat = d.to.map(|host| part.seats[host as usize] as usize);
            let seats = seat.map_or(0..part.hosts.len(), |seat| seat..seat + 1);
            for (n, host) in part.hosts.iter_mut().enumerate().skip(seats.start).take(seats.len()) {
                host.expect_feedback(d);
                if self.thin {
                    part.wires.wheel.enter_at(n as u32, d.at);
                }
            }
        }
    }

    /// The next turn in which there may be something to do here, but for what others send, or where what has been sent from
    /// here to others may have to be looked at.
    #[inline(always)]
    pub(super) fn wish(&self, net: &Net, part: &Part) -> u64 {
        if self.thin { self.due(net, part) } else { self.turn }
    }

    #[inline(never)]
    fn due(&self, net: &Net, part: &Part) -> u64 {
        let sent = part.wires.foreign.iter().flatten().map(|f| f.entry.ready);
        let told = part.wires.direct.iter().map(|d| d.at);
        let first = sent.chain(told).min().unwrap_or(NEVER);
        part.wires.wheel.next().min(first / net.windows.lead)
    }

    /// Passes over turns in which nobody has anything to do. The last ones of a run are never passed over.
    pub(super) fn go_on(&mut self, net: &Net, wish: u64) {
        let last = net.duration.saturating_sub(Ps(1)) / net.windows.lead;
        let to = self.turn.max(wish.min(last));
        if to > self.turn {
            hit(Mark::PassedOver);
        }
        self.turn = to;
    }

    fn choose(&mut self, net: &Net, part: &mut Part) {
        if self.behind.is_some() {
            return;
        }
        let own = net.windows.window / net.windows.lead;
        let most = (net.windows.longest - own) & !1;
        let (reach, thin) = match self.visits {
            Visits::All => return,
            Visits::Due => (0, true),
            Visits::Turns => [(0, false), (0, true), (most, false)][(self.turn / 5 % 3) as usize],
            Visits::Adaptive => {
                if self.turn < self.last.0 + LOOK + 16 * self.reach {
                    return;
                }
                let linked =
                    part.local.iter().zip(&net.links).filter(|&(&l, n)| l != u32::MAX && n.is_some()).count();
                let (hops, busy) = (part.hops(), part.busy());
                let turns = (self.turn - self.last.0) as f64;
                // A frame that had gone ahead may have been taken back.
                let a_lead = hops.saturating_sub(self.last.1) as f64 / (turns * linked as f64);
                let time = turns * net.windows.lead.0 as f64;
                let load = (busy - self.last.2) / (time * (linked - part.hosts.len()) as f64);
                self.last = (self.turn, hops, busy);
                let more = (ENOUGH / a_lead).min((own + most) as f64) - own as f64;
                if more >= 2.0 && (more + own as f64) * a_lead > LITTLE {
                    (more as u64 & !1, false)
                } else {
                    let few = if self.thin { MANY } else { FEW } * (1.0 - BUSY * load.clamp(0.0, 1.0));
                    (0, a_lead * (own as f64) < few)
                }
            }
        };
        self.reach = reach;
        if thin != self.thin {
            self.thin = thin;
            hit(if thin { Mark::ChoseDue } else { Mark::ChoseAll });
            if thin { watch(net, part, self.turn - 1) } else { unwatch(net, part, self.turn) }
        }
    }
}

/// Where the first or the second half of the nodes stands before turn `turn`.
fn reached(net: &Net, second: bool, turn: u64) -> Ps {
    let behind = !net.windows.halves.is_empty() && second == (turn % 2 == 1);
    turn.saturating_sub(u64::from(behind)) * net.windows.lead
}

/// A part's nodes of one kind whose turn it is; the `first` ones belong to the first half.
fn of_half<'a, T>(nodes: &'a mut [T], first: usize, net: &Net, turn: u64) -> &'a mut [T] {
    match (net.windows.halves.is_empty(), turn % 2) {
        (true, _) => nodes,
        (_, 0) => &mut nodes[..first],
        _ => &mut nodes[first..],
    }
}

/// Visits all nodes whose turn it is.
fn step_all(net: &Net, part: &mut Part, turn: u64, base: Ps, end: Ps) {
    let mut hosts = of_half(&mut part.hosts, part.first.0, net, turn);
    if !net.has_machines() {
        hosts.iter_mut().for_each(|h| h.sweep(end, net, &mut part.wires));
        hosts = &mut [];
    }
    while let Some(h) = hosts.first() {
        let nics = net.nics(h.id());
        let (machine, others) = hosts.split_at_mut(nics.len());
        together((nics.start as u32, machine), end, &mut (net, &mut part.wires));
        hosts = others;
    }
    let far = part.wires.inboxes.len() > NEAR;
    let mut left = of_half(&mut part.switches, part.first.1, net, turn);
    while let Some((s, after)) = left.split_first_mut() {
        if let Some(next) = after.first().filter(|_| far) {
            next.expect(net, &part.wires);
        }
        s.run(base, end, net, &mut part.wires, &mut part.scratch);
        left = after;
    }
    for guest in of_half(&mut part.guests, part.first.2, net, turn) {
        guest.run(end, net, &mut part.wires, &mut part.scratch);
    }
}

/// Visits the nodes that the wheel has for the turn in hand.
fn step_due(net: &Net, part: &mut Part, end: Ps) {
    let (hosts, switches) = (part.hosts.len(), part.switches.len());
    for word in 0..part.wires.wheel.words {
        let mut nodes = part.wires.wheel.take(word);
        while nodes != 0 {
            let node = word * 64 + nodes.trailing_zeros() as usize;
            nodes &= nodes - 1;
            let wires = &mut part.wires;
            let due = match node.checked_sub(hosts) {
                None if net.has_machines() => {
                    let id = part.hosts[node].id() as usize;
                    let nics = net.nics(id as u32);
                    let first = node - (id - nics.start);
                    let machine = &mut part.hosts[first..first + nics.len()];
                    together((nics.start as u32, machine), end, &mut (net, &mut *wires));
                    for (n, host) in (first as u32..).zip(machine) {
                        let due = host.look_around(wires);
                        wires.wheel.enter_at(n, due);
                    }
                    continue;
                }
                None => {
                    part.hosts[node].sweep(end, net, wires);
                    part.hosts[node].look_around(wires)
                }
                Some(s) if s < switches => {
                    part.switches[s].sweep_thin(node as u32, end, net, wires, &mut part.scratch)
                }
                Some(s) => {
                    let guest = &mut part.guests[s - switches];
                    guest.run(end, net, wires, &mut part.scratch);
                    guest.look_around(wires)
                }
            };
            wires.wheel.enter_at(node as u32, due);
        }
    }
}

/// Enters every node in the wheel; turn `over` is the last one that has been run.
fn watch(net: &Net, part: &mut Part, over: u64) {
    if part.wires.wheel.stations.is_empty() {
        let odd = (0..part.hosts.len()).map(|h| h >= part.first.0);
        let odd = odd.chain((0..part.switches.len()).map(|s| s >= part.first.1));
        let odd: Vec<bool> = odd.chain((0..part.guests.len()).map(|g| g >= part.first.2)).collect();
        let halves = !net.windows.halves.is_empty();
        part.wires.wheel =
            Wheel::new(net.windows.lead, net.duration, &odd, part.hosts.len(), halves, stations(part));
    }
    part.renumber(|peer| if peer & FOREIGN == 0 { peer | WATCHED } else { peer });
    part.wires.wheel.restart(over);
    let (hosts, wires) = (part.hosts.len(), &mut part.wires);
    for (port, inbox) in wires.inboxes.iter().enumerate() {
        for e in inbox.entries() {
            wires.wheel.announce(port, e.ready);
        }
    }
    for (n, h) in part.hosts.iter_mut().enumerate() {
        let due = h.look_around(wires);
        wires.wheel.enter_at(n as u32, due);
    }
    for (s, sw) in part.switches.iter_mut().enumerate() {
        let due = sw.look_around();
        wires.wheel.enter_at((hosts + s) as u32, due);
    }
    for (g, guest) in part.guests.iter().enumerate() {
        let due = guest.look_around(wires);
        wires.wheel.enter_at((hosts + part.switches.len() + g) as u32, due);
    }
}

/// All nodes are visited from turn `next` on.
fn unwatch(net: &Net, part: &mut Part, next: u64) {
    part.renumber(|peer| peer & !WATCHED);
    let first = part.first.1;
    for (s, sw) in part.switches.iter_mut().enumerate() {
        let reached = reached(net, s >= first, next);
        sw.free_launched(reached, net, &mut part.wires);
    }
}

fn stations(part: &Part) -> Vec<Station> {
    let mut stations = vec![Station { node: 0, bit: 0 }; part.wires.inboxes.len()];
    let hosts = part.hosts.iter().map(|h| (h.inbox as usize, 1));
    let switches = part.switches.iter().map(|s| (s.inbox as usize, s.ports.len()));
    let guests = part.guests.iter().map(|g| (g.inbox as usize, g.ports as usize));
    for (node, (inbox, ports)) in (0..).zip(hosts.chain(switches).chain(guests)) {
        (0..ports).for_each(|p| stations[inbox + p] = Station { node, bit: (p % 64) as u8 });
    }
    stations
}
