//! The oracle: one list of events over the whole network, one event at a time, by the laws of [`crate::model`]. Slow and simple.
//!
//! It knows nothing of windows, threads or packed tables, and shares no state with the engine that it checks.

use crate::check::{Ledger, close};
use crate::model::{Agenda, Event, Frame, Host, Kind, Outbox, Switch, Turn};
use crate::net::Net;
use crate::outcome::Outcome;
use crate::spec::RunSpec;
use crate::{Options, RunError};
use cnsim_scheme_api::Time;
use std::collections::VecDeque;

/// Events between two looks at the progress callback.
const LOOK: u64 = 1 << 16;

/// The whole network.
#[derive(Debug)]
struct Network<'a> {
    net: &'a Net,
    hosts: Vec<Host>,
    switches: Vec<Switch>,
    /// By receiving port: frames on their way to it, by time and kind of arrival; a PAUSE over the wire overtakes.
    wires: Vec<VecDeque<(u64, Kind, Frame)>>,
    agenda: Agenda,
}

/// Runs a network to its end.
pub(super) fn run(net: &Net, spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let mut network = Network::new(net, spec)?;
    let mut count = 0u64;
    while let Some(event) = network.agenda.next_before(net.duration) {
        network.carry_out(event);
        if let Some(cause) = network.failure(event.node) {
            return Err(RunError::Law(cause.clone()));
        }
        count += 1;
        if count.is_multiple_of(LOOK)
            && let Some(progress) = options.progress
            && !progress(Time::from_ps(event.time), network.hops())
        {
            return Err(RunError::Stopped);
        }
    }
    network.close(spec)
}

impl<'a> Network<'a> {
    /// Builds all nodes; their first events are planned.
    fn new(net: &'a Net, spec: &RunSpec) -> Result<Self, RunError> {
        let mut network = Self {
            net,
            hosts: Vec::new(),
            switches: Vec::new(),
            wires: vec![VecDeque::new(); net.links.len()],
            agenda: Agenda::default(),
        };
        for node in 0..net.ports.len() as u32 - 1 {
            let mut out = Outbox::default();
            let mut turn = Turn { now: 0, node, net, agenda: &mut network.agenda, out: &mut out };
            match (node as usize).checked_sub(spec.hosts.len()) {
                None => network.hosts.push(
                    Host::new(&spec.hosts[node as usize], &mut turn)
                        .ok_or_else(|| RunError::Spec(format!("host {node} has no link")))?,
                ),
                Some(s) => network.switches.push(Switch::new(&spec.switches[s], &spec.changes, &mut turn)),
            }
        }
        Ok(network)
    }

    /// Carries out one event, and hands on what the node has put out.
    fn carry_out(&mut self, event: Event) {
        let Self { net, agenda, .. } = self;
        let net = *net;
        let first = net.ports[event.node as usize];
        let last = net.ports[event.node as usize + 1];
        // Kinds of arrivals are those of the ports; other events of these kinds have an index beyond.
        let arrives = matches!(event.kind, Kind::Pause | Kind::Control | Kind::Data)
            && event.index < u64::from(last - first);
        let mut out = Outbox::default();
        let mut turn = Turn { now: event.time, node: event.node, net, agenda, out: &mut out };
        let mut frame = None;
        if arrives {
            let wire = &mut self.wires[first as usize + event.index as usize];
            frame = wire.pop_front().map(|(.., frame)| frame);
            if let Some(&(at, kind, _)) = wire.front() {
                turn.plan(at, kind, event.index);
            }
        }
        match ((event.node as usize).checked_sub(self.hosts.len()), frame) {
            (None, Some(frame)) => self.hosts[event.node as usize].receive(frame, &mut turn),
            (None, None) => self.hosts[event.node as usize].execute(event, &mut turn),
            (Some(s), Some(frame)) => self.switches[s].receive(frame, event.index as u16, &mut turn),
            (Some(s), None) => self.switches[s].execute(event, &mut turn),
        }
        self.hand_on(event.time, out);
    }

    /// Frames go on their wires, and feedback without frames to its hosts.
    fn hand_on(&mut self, now: u64, out: Outbox) {
        let net = self.net;
        for sent in out.sent {
            let (at, kind) = (sent.at, sent.frame.arrival());
            let wire = &mut self.wires[sent.port as usize];
            let place = wire.partition_point(|w| (w.0, w.1) <= (at, kind));
            wire.insert(place, (at, kind, sent.frame));
            let index = u64::from(sent.port - net.ports[sent.node as usize]);
            self.agenda.plan(Event { time: at, kind, node: sent.node, index });
        }
        for told in out.told {
            let to = told.to.map_or(0..net.hosts, |host| host..host + 1);
            for node in to {
                let mut none = Outbox::default();
                let mut turn = Turn { now, node, net, agenda: &mut self.agenda, out: &mut none };
                self.hosts[node as usize].expect(told.at, told.from, told.flow, told.feedback, &mut turn);
            }
        }
    }

    /// Why the run cannot go on after an event of this node.
    fn failure(&self, node: u32) -> Option<&String> {
        match (node as usize).checked_sub(self.hosts.len()) {
            None => self.hosts[node as usize].failure.as_ref(),
            Some(s) => self.switches[s].failure.as_ref(),
        }
    }

    /// Data and control frames that have finished a link.
    fn hops(&self) -> u64 {
        self.hosts.iter().map(Host::hops).sum::<u64>() + self.switches.iter().map(Switch::hops).sum::<u64>()
    }

    fn close(self, spec: &RunSpec) -> Result<Outcome, RunError> {
        let mut on_wires = Ledger::default();
        on_wires.enter_all(self.wires.iter().flatten().map(|w| &w.2));
        let hosts = self.hosts.into_iter().map(|h| h.close(self.net)).collect();
        let switches = self.switches.into_iter().map(|s| s.close(self.net)).collect();
        close(self.net, spec, &on_wires, hosts, switches)
    }
}
