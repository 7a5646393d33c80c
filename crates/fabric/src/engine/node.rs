//! A node that runs by the laws of [`crate::model`], one event at a time.

use crate::check::{Books, Hash, Ledger, broken};
use crate::model::{
    Agenda, Direct, Host, Key, Kind, NEVER, Nic, Outbox, Packet, Records, Rest, Sent, Switch, Switching,
    Turn, of_rank, place_of_data, rank,
};
use crate::net::Net;
use crate::spec::RunSpec;

/// What nodes share: the network, telemetry of frames under way, what they have put out, and the order of what arrives at the one that
/// runs, by [`rank`] and place.
pub(super) struct Shared<'a> {
    pub(super) net: &'a Net,
    pub(super) records: &'a mut Records,
    pub(super) out: &'a mut Outbox,
    pub(super) order: &'a mut Vec<(u128, u32)>,
}

#[derive(Debug)]
enum Laws {
    Host(Box<Host>),
    Switch(Box<Switch>),
}

/// A host or a switch.
#[derive(Debug)]
pub(super) struct Node {
    id: u32,
    /// When something happens here next, ps.
    pub(super) next: u64,
    /// Frames on their way to it, in the order in which each port's were sent.
    arriving: Vec<Sent>,
    agenda: Agenda,
    laws: Laws,
}

impl Node {
    /// Builds a node; its first event is planned.
    pub(super) fn new(spec: &RunSpec, id: u32, with: &mut Shared<'_>) -> Self {
        let ports = with.net.links_of(id as usize).len();
        let mut agenda = Agenda::new(ports);
        let turn = &mut with.turn(0, id, &mut agenda);
        let laws = match (id as usize).checked_sub(spec.hosts.len()) {
            None => Laws::Host(Box::new(Host::new(&spec.hosts[id as usize], turn))),
            Some(s) => Laws::Switch(Box::new(Switch::new(&spec.switches[s], &spec.changes, turn))),
        };
        let next = of_rank(agenda.next()).0;
        Self { id, next, arriving: Vec::new(), agenda, laws }
    }

    /// A frame is on its way to it.
    pub(super) fn await_frame(&mut self, sent: Sent) {
        self.next = self.next.min(sent.at);
        self.arriving.push(sent);
    }

    /// Feedback that takes no link is on its way to it.
    pub(super) fn await_feedback(&mut self, direct: &Direct, with: &mut Shared<'_>) {
        let Self { id, agenda, laws: Laws::Host(host), .. } = self else { broken("feedback to a switch") };
        host.expect(direct, &mut with.turn(0, *id, agenda));
        self.next = self.next.min(of_rank(self.agenda.next()).0);
    }

    /// The event of an arrival.
    fn arrival(&self, sent: &Sent, net: &Net) -> Key {
        let (time, kind) = (sent.at, Kind::of_arrival(sent.frame.lane));
        let port = (sent.port - net.ports[self.id as usize]) as u16;
        let by_port = kind != Kind::Data;
        let index =
            if by_port { port.into() } else { place_of_data(net, self.id, time, port, sent.frame.bytes()) };
        (time, kind, index)
    }

    /// Carries out its events before `end`: how many.
    pub(super) fn run(&mut self, end: u64, with: &mut Shared<'_>) -> u64 {
        let mut order = std::mem::take(with.order);
        let due = (0..).zip(&self.arriving).filter(|(_, sent)| sent.at < end);
        order.extend(due.map(|(i, sent)| (rank(self.arrival(sent, with.net)), i)));
        order.sort_unstable();
        let mut arrivals = order.iter().peekable();
        let mut count = 0;
        loop {
            let own = self.agenda.next();
            let arrival = arrivals.next_if(|arrival| arrival.0 < own);
            let (time, kind, index) = of_rank(arrival.map_or(own, |arrival| arrival.0));
            if time >= end {
                break;
            }
            let frame = arrival.map(|arrival| self.arriving[arrival.1 as usize].frame);
            let turn = &mut with.turn(time, self.id, &mut self.agenda);
            match (&mut self.laws, frame) {
                (Laws::Host(host), None) => host.execute((time, kind, index), turn),
                (Laws::Host(host), Some(frame)) => host.receive(frame, turn),
                (Laws::Switch(switch), None) => switch.execute((time, kind, index), turn),
                (Laws::Switch(switch), Some(frame)) => switch.receive(frame, index as u16, turn),
            }
            count += 1;
        }
        order.clear();
        *with.order = order;
        self.arriving.retain(|sent| sent.at >= end);
        let first = self.arriving.iter().map(|sent| sent.at).min().unwrap_or(NEVER);
        self.next = first.min(of_rank(self.agenda.next()).0);
        count
    }

    /// A switch goes on at `from` from a moment of rest.
    pub(super) fn resume(&mut self, hashes: (Hash, Hash), from: u64, with: &mut Shared<'_>) {
        let Self { id, agenda, laws: Laws::Switch(switch), .. } = self else { return };
        switch.management.resume(hashes, from, with.net);
        switch.plan(&mut with.turn(from, *id, agenda));
        self.next = of_rank(self.agenda.next()).0;
    }

    /// Is a switch at rest?
    pub(super) fn rest(&mut self) -> Rest {
        match &mut self.laws {
            Laws::Switch(switch) if self.arriving.is_empty() => switch.rest(),
            _ => Err(None),
        }
    }

    /// When something stopped the run here, ps.
    pub(super) fn failed_at(&self) -> Option<u64> {
        match &self.laws {
            Laws::Host(host) => host.failed_at(),
            Laws::Switch(switch) => switch.management.failure.at(),
        }
    }

    /// Data and control frames that it has put on its links.
    pub(super) fn hops(&self) -> u64 {
        match &self.laws {
            Laws::Host(host) => host.hops(),
            Laws::Switch(switch) => switch.hops(),
        }
    }

    /// Ends the run: its books, and the frames that have not reached it.
    pub(super) fn close(self, net: &Net, on_wires: &mut Ledger) -> Books {
        self.arriving.iter().for_each(|sent| sent.frame.enter(on_wires));
        match self.laws {
            Laws::Host(host) => host.close(net),
            Laws::Switch(mut switch) => {
                let queues = switch.kept();
                let mut books = switch.close(net);
                books.kept.queues = queues;
                books
            }
        }
    }
}

impl Nic<Shared<'_>> for Node {
    fn next(&self, _: &Shared<'_>) -> u64 {
        self.next
    }
    fn pass(&mut self, now: u64, with: &mut Shared<'_>) {
        self.run(now + 1, with);
    }
    fn tells(&mut self) -> Option<(u32, u32)> {
        let Laws::Host(host) = &mut self.laws else { return None };
        host.tells()
    }
    fn advise(&mut self, n: u32, now: u64, with: &mut Shared<'_>) {
        let Self { id, agenda, laws: Laws::Host(host), .. } = self else { broken("a switch among NICs") };
        host.advise(n, &mut with.turn(now, *id, agenda));
        self.next = self.next.min(of_rank(self.agenda.next()).0);
    }
}

impl Shared<'_> {
    /// The turn of a node.
    fn turn<'a>(&'a mut self, now: u64, node: u32, agenda: &'a mut Agenda) -> Turn<'a> {
        Turn { now, node, net: self.net, agenda, out: self.out, records: self.records }
    }
}
