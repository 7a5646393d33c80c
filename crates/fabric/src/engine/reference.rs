//! The oracle: one list of events over the whole network, one event at a time, by the laws of [`crate::model`]. Slow and simple.
//!
//! It knows nothing of windows, threads, wires or packed frames.

use crate::check::{Books, Ledger, alarmed, broken, close};
use crate::model::{
    Agenda, Direct, Event, Frame, Host, Kind, Outbox, Packet, Records, Switch, Turn, place_of_data,
};
use crate::net::Net;
use crate::outcome::Outcome;
use crate::spec::RunSpec;
use crate::{Options, RunError};
use cnsim_scheme_api::Time;
use std::collections::VecDeque;

/// Events between two looks at the progress callback.
const LOOK: u64 = 1 << 16;

/// Runs a network to its end, or to the end of the moment at which something stops it.
pub(super) fn run(net: &Net, spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let (mut agenda, mut records) = (Agenda::default(), Records::default());
    let ids = 0..net.ports.len() as u32 - 1;
    let mut nodes: Vec<Node> = ids.map(|id| Node::new(net, spec, id, (&mut agenda, &mut records))).collect();
    let (mut end, mut count) = (net.duration, 0u64);
    while let Some(event) = agenda.next_before(end) {
        let out = nodes[event.node as usize].carry_out(event, net, (&mut agenda, &mut records));
        for sent in out.sent {
            let port = (sent.port - net.ports[sent.node as usize]) as usize;
            nodes[sent.node as usize].await_frame(port, sent.at, sent.frame, net, &mut agenda);
        }
        for direct in out.direct {
            for host in direct.to.map_or(0..net.hosts, |host| host..host + 1) {
                nodes[host as usize].await_feedback(&direct, net, (&mut agenda, &mut records));
            }
        }
        if alarmed() {
            end = event.time + 1;
        }
        count += 1;
        if count.is_multiple_of(LOOK)
            && let Some(progress) = options.progress
            && !progress(Time::from_ps(event.time), nodes.iter().map(Node::hops).sum())
        {
            return Err(RunError::Stopped);
        }
    }
    let mut on_wires = Ledger::default();
    let books = (0..).zip(nodes).map(|(id, node)| (id, node.close(net, &mut on_wires))).collect();
    close(net, spec, &on_wires, books)
}

/// The event of an arrival of a frame of so many bytes at a port.
fn arrival(net: &Net, (node, port): (u32, u16), (time, kind, len): (u64, Kind, u16)) -> Event {
    let index = if kind == Kind::Data { place_of_data(net, node, time, port, len) } else { port.into() };
    Event { time, kind, node, index }
}

/// What all nodes share: the events to come, and the telemetry of frames under way.
type Shared<'a> = (&'a mut Agenda, &'a mut Records);

enum Laws {
    Host(Box<Host>),
    Switch(Box<Switch>),
}

/// A host or a switch, with its receiving ports.
struct Node {
    id: u32,
    laws: Laws,
    /// By port: frames on their way to it, by time and kind of arrival; a PAUSE over the wire overtakes.
    wires: Vec<VecDeque<(u64, Kind, Frame)>>,
}

impl Node {
    /// Builds a node; its first events are planned.
    fn new(net: &Net, spec: &RunSpec, id: u32, (agenda, records): Shared<'_>) -> Self {
        let mut out = Outbox::default();
        let mut turn = Turn { now: 0, node: id, net, agenda, out: &mut out, records };
        let laws = match (id as usize).checked_sub(spec.hosts.len()) {
            None => Laws::Host(Box::new(Host::new(&spec.hosts[id as usize], &mut turn))),
            Some(s) => Laws::Switch(Box::new(Switch::new(&spec.switches[s], &spec.changes, &mut turn))),
        };
        let ports = net.ports[id as usize + 1] - net.ports[id as usize];
        Self { id, laws, wires: vec![VecDeque::new(); ports as usize] }
    }

    /// A frame is on its way to a port, where it counts `at` a time.
    fn await_frame(&mut self, port: usize, at: u64, frame: Frame, net: &Net, agenda: &mut Agenda) {
        let Some(wire) = self.wires.get_mut(port) else { broken("a frame for no port") };
        let kind = Kind::of_arrival(frame.lane);
        let place = wire.partition_point(|w| (w.0, w.1) <= (at, kind));
        let len = frame.bytes();
        wire.insert(place, (at, kind, frame));
        agenda.plan(arrival(net, (self.id, port as u16), (at, kind, len)));
    }

    /// Feedback that takes no link is on its way to it.
    fn await_feedback(&mut self, direct: &Direct, net: &Net, (agenda, records): Shared<'_>) {
        let Laws::Host(host) = &mut self.laws else { broken("feedback to a switch") };
        let mut out = Outbox::default();
        let mut turn = Turn { now: 0, node: self.id, net, agenda, out: &mut out, records };
        host.expect(direct, &mut turn);
    }

    /// Carries out one of its events: what it has put out.
    fn carry_out(&mut self, event: Event, net: &Net, (agenda, records): Shared<'_>) -> Outbox {
        let mut out = Outbox::default();
        let mut turn = Turn { now: event.time, node: self.id, net, agenda, out: &mut out, records };
        // Kinds of arrivals are those of the ports; other events of these kinds have an index beyond.
        let mut frame = None;
        let port = if event.kind == Kind::Data { u64::from(event.index as u16) } else { event.index };
        if matches!(event.kind, Kind::Pause | Kind::Control | Kind::Data)
            && let Some(wire) = self.wires.get_mut(port as usize)
        {
            let Some((.., first)) = wire.pop_front() else { broken("an arrival without a frame") };
            frame = Some(first);
            if let Some((at, kind, next)) = wire.front() {
                turn.agenda.plan(arrival(net, (self.id, port as u16), (*at, *kind, next.bytes())));
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
    fn hops(&self) -> u64 {
        match &self.laws {
            Laws::Host(host) => host.hops(),
            Laws::Switch(switch) => switch.hops(),
        }
    }

    /// Ends the run: its books, and the frames that have not reached it.
    fn close(self, net: &Net, on_wires: &mut Ledger) -> Books {
        self.wires.iter().flatten().for_each(|(.., frame)| frame.enter(on_wires));
        match self.laws {
            Laws::Host(host) => host.close(net),
            Laws::Switch(switch) => switch.close(net),
        }
    }
}
