//! A node that is run event by event among those of the fast way: a switch that runs by the model, as it has a setting that this lacks,
//! or a node of several classes.

use super::node::{Node, Shared};
use crate::check::{Books, Hash, Ledger};
use crate::fast::classed::ClassSwitch;
use crate::fast::host::classes::ClassHost;
use crate::fast::sweep::Scratch;
use crate::fast::wires::{FOREIGN, LOSSY, WATCHED, Wires};
use crate::model::{Direct, Outbox, Records, Rest, Sent};
use crate::net::Net;
use crate::spec::RunSpec;

/// Its laws.
#[derive(Debug)]
enum Laws {
    Model(Box<Node>, Outbox),
    Host(Box<ClassHost>),
    Switch(Box<ClassSwitch>),
}

/// A guest among fast nodes.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) id: u32,
    /// Number of its first receiving port at the worker, and of these ports.
    pub(super) inbox: u32,
    pub(super) ports: u32,
    laws: Laws,
}

impl Guest {
    pub(super) fn new(net: &Net, spec: &RunSpec, id: u32, inbox: u32, wires: &mut Wires) -> Self {
        let laws = if net.classes.len() == 1 {
            let mut out = Outbox::default();
            let with = &mut Shared { net, records: &mut wires.records, out: &mut out };
            Laws::Model(Box::new(Node::new(spec, id, with)), out)
        } else if id < net.hosts {
            Laws::Host(Box::new(ClassHost::new(net, id, &spec.hosts[id as usize], inbox)))
        } else {
            Laws::Switch(Box::new(ClassSwitch::new(net, spec, id, inbox, wires)))
        };
        Self { id, inbox, ports: net.links_of(id as usize).len() as u32, laws }
    }

    /// Runs it up to `end`. What it sends goes to `local` receiving ports, by number in the network: they are watched or not.
    pub(super) fn run(
        &mut self,
        end: u64,
        net: &Net,
        (wires, scratch): (&mut Wires, &mut Scratch),
        (local, watched): (&[u32], bool),
    ) {
        let (node, out) = match &mut self.laws {
            Laws::Host(host) => return host.run(end, net, wires),
            Laws::Switch(switch) => return switch.run(end, net, wires, scratch),
            Laws::Model(node, out) => (node, out),
        };
        let first = net.ports[self.id as usize];
        for p in 0..self.ports {
            while let Some(entry) = wires.inboxes[(self.inbox + p) as usize].pop_front(end) {
                let frame = entry.frame.whole(net, wires);
                let sent = Sent { port: first + p, node: self.id, at: entry.ready, frame };
                node.await_frame(&sent, net);
            }
        }
        node.run(end, &mut Shared { net, records: &mut wires.records, out });
        for sent in out.sent.drain(..) {
            let (port, watch) = match local[sent.port as usize] {
                u32::MAX => (sent.port | FOREIGN, 0),
                port => (port, if watched { WATCHED } else { 0 }),
            };
            let port = port | watch | if wires.losses.has(port) { LOSSY } else { 0 };
            wires.push_whole(port, &sent, net);
        }
        wires.direct.append(&mut out.direct);
    }

    /// It goes on at `from` from a moment of rest.
    pub(super) fn resume(&mut self, hashes: (Hash, Hash), from: u64, net: &Net, records: &mut Records) {
        if let Laws::Model(node, out) = &mut self.laws {
            node.resume(hashes, from, &mut Shared { net, records, out });
        }
    }

    /// When it must be visited next if nothing is sent to it.
    pub(super) fn look_around(&self, wires: &Wires) -> u64 {
        let next = match &self.laws {
            Laws::Host(host) => return host.look_around(wires),
            Laws::Switch(switch) => return switch.look_around(wires),
            Laws::Model(node, _) => node.next,
        };
        next.min(wires.first_arrival(self.inbox, self.ports))
    }

    /// Receiving ports at the far ends of its links have other numbers.
    pub(super) fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        match &mut self.laws {
            Laws::Host(host) => host.line.peer = new(host.line.peer),
            Laws::Switch(switch) => switch.laws.links().for_each(|link| link.peer = new(link.peer)),
            Laws::Model(..) => {}
        }
    }

    /// Feedback is on its way to it without a frame, if it is a host: true then.
    pub(super) fn expect_feedback(&mut self, direct: &Direct) -> bool {
        let Laws::Host(host) = &mut self.laws else { return false };
        host.expect_feedback(direct);
        true
    }

    /// Is it at rest? Nothing rests where there are several classes.
    pub(super) fn rest(&mut self) -> Rest {
        if let Laws::Model(node, _) = &mut self.laws { node.rest() } else { Err(None) }
    }

    /// When something stopped the run here, ps.
    pub(super) fn failed_at(&self) -> Option<u64> {
        match &self.laws {
            Laws::Host(host) => host.failed_at(),
            Laws::Switch(switch) => switch.laws.management.failure.at(),
            Laws::Model(node, _) => node.failed_at(),
        }
    }

    /// Data and control frames that it has put on its links.
    pub(super) fn hops(&self) -> u64 {
        match &self.laws {
            Laws::Host(host) => host.line.hops(),
            Laws::Switch(switch) => switch.laws.hops(),
            Laws::Model(node, _) => node.hops(),
        }
    }

    /// Ends the run: its books.
    pub(super) fn close(self, net: &Net, on_wires: &mut Ledger) -> (u32, Books) {
        let books = match self.laws {
            Laws::Host(host) => host.close(net),
            Laws::Switch(switch) => switch.close(net),
            Laws::Model(node, _) => node.close(net, on_wires),
        };
        (self.id, books)
    }
}
