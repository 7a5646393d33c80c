//! A node that runs the model's way: its events, one at a time, and what is on its way to it.

use crate::check::{Books, Failure, Ledger, broken};
use crate::model::{Agenda, Direct, Event, Frame, Host, Kind, Outbox, Packet, Switch, Turn, place_of_data};
use crate::net::Net;
use crate::spec::RunSpec;
use std::collections::VecDeque;

/// The event of an arrival at a port.
fn arrival(net: &Net, node: u32, port: u16, time: u64, kind: Kind) -> Event {
    let index = if kind == Kind::Data { place_of_data(net, node, time, port) } else { port.into() };
    Event { time, kind, node, index }
}

#[derive(Debug)]
enum Laws {
    Host(Box<Host>),
    Switch(Box<Switch>),
}

/// A host or a switch, with its receiving ports.
#[derive(Debug)]
pub(super) struct Node {
    id: u32,
    laws: Laws,
    /// By port: frames on their way to it, by time and kind of arrival; a PAUSE over the wire overtakes.
    wires: Vec<VecDeque<(u64, Kind, Frame)>>,
}

impl Node {
    /// Builds a node; its first events are planned.
    pub(super) fn new(net: &Net, spec: &RunSpec, id: u32, agenda: &mut Agenda) -> Self {
        let mut out = Outbox::default();
        let mut turn = Turn { now: 0, node: id, net, agenda, out: &mut out };
        let laws = match (id as usize).checked_sub(spec.hosts.len()) {
            None => Laws::Host(Box::new(Host::new(&spec.hosts[id as usize], &mut turn))),
            Some(s) => Laws::Switch(Box::new(Switch::new(&spec.switches[s], &spec.changes, &mut turn))),
        };
        let ports = net.ports[id as usize + 1] - net.ports[id as usize];
        Self { id, laws, wires: vec![VecDeque::new(); ports as usize] }
    }

    /// A frame is on its way to a port, where it counts `at` a time.
    pub(super) fn await_frame(&mut self, port: usize, at: u64, frame: Frame, net: &Net, agenda: &mut Agenda) {
        let Some(wire) = self.wires.get_mut(port) else { broken("a frame for no port") };
        let kind = Kind::of_arrival(frame.lane);
        let place = wire.partition_point(|w| (w.0, w.1) <= (at, kind));
        wire.insert(place, (at, kind, frame));
        agenda.plan(arrival(net, self.id, port as u16, at, kind));
    }

    /// Feedback that takes no link is on its way to it.
    pub(super) fn await_feedback(&mut self, direct: &Direct, net: &Net, agenda: &mut Agenda) {
        let Laws::Host(host) = &mut self.laws else { broken("feedback to a switch") };
        let mut out = Outbox::default();
        let mut turn = Turn { now: 0, node: self.id, net, agenda, out: &mut out };
        host.expect(direct, &mut turn);
    }

    /// Carries out one of its events: what it has put out.
    pub(super) fn carry_out(&mut self, event: Event, net: &Net, agenda: &mut Agenda) -> Outbox {
        let mut out = Outbox::default();
        let mut turn = Turn { now: event.time, node: self.id, net, agenda, out: &mut out };
        // Kinds of arrivals are those of the ports; other events of these kinds have an index beyond.
        let mut frame = None;
        let port = if event.kind == Kind::Data { u64::from(event.index as u16) } else { event.index };
        if matches!(event.kind, Kind::Pause | Kind::Control | Kind::Data)
            && let Some(wire) = self.wires.get_mut(port as usize)
        {
            let Some((.., first)) = wire.pop_front() else { broken("an arrival without a frame") };
            frame = Some(first);
            if let Some(&(at, kind, _)) = wire.front() {
                turn.agenda.plan(arrival(net, self.id, port as u16, at, kind));
            }
        }
        match (&mut self.laws, frame) {
            (Laws::Host(host), Some(frame)) => host.receive(frame, &mut turn),
            (Laws::Host(host), None) => host.execute(event, &mut turn),
            (Laws::Switch(switch), Some(frame)) => switch.receive(frame, port as u16, &mut turn),
            (Laws::Switch(switch), None) => switch.execute(event, &mut turn),
        }
        out
    }

    /// Data and control frames that it has put on its links.
    pub(super) fn hops(&self) -> u64 {
        match &self.laws {
            Laws::Host(host) => host.hops(),
            Laws::Switch(switch) => switch.hops(),
        }
    }

    /// What stops the run here.
    pub(super) fn failure(&self) -> &Failure {
        match &self.laws {
            Laws::Host(host) => host.failure(),
            Laws::Switch(switch) => &switch.management.failure,
        }
    }

    /// Ends the run: its books, and the frames that have not reached it.
    pub(super) fn close(self, net: &Net, on_wires: &mut Ledger) -> Books {
        self.wires.iter().flatten().for_each(|(.., frame)| frame.enter(on_wires));
        match self.laws {
            Laws::Host(host) => host.close(net),
            Laws::Switch(switch) => switch.close(net),
        }
    }
}
