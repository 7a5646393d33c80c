//! A switch that runs by the model among nodes of the fast way, as it has a setting that this lacks.

use super::node::{Node, Shared};
use crate::check::{Books, Hash, Ledger};
use crate::fast::frame::{AFTER, NEVER};
use crate::fast::wires::{FOREIGN, LOSSY, WATCHED, Wires};
use crate::model::{Outbox, Records, Sent};
use crate::net::Net;
use crate::spec::RunSpec;

/// A node that runs by the model among fast nodes.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) id: u32,
    /// Number of its first receiving port at the worker, and of these ports.
    pub(super) inbox: u32,
    pub(super) ports: u32,
    pub(super) node: Node,
    out: Outbox,
}

impl Guest {
    pub(super) fn new(net: &Net, spec: &RunSpec, id: u32, inbox: u32, records: &mut Records) -> Self {
        let mut out = Outbox::default();
        let node = Node::new(spec, id, &mut Shared { net, records, out: &mut out });
        Self { id, inbox, ports: net.links_of(id as usize).len() as u32, node, out }
    }

    /// Runs it up to `end`. What it sends goes to `local` receiving ports, by number in the network: they are watched or not.
    pub(super) fn run(&mut self, end: u64, net: &Net, wires: &mut Wires, (local, watched): (&[u32], bool)) {
        let first = net.ports[self.id as usize];
        for p in 0..self.ports {
            while let Some(entry) = wires.inboxes[(self.inbox + p) as usize].pop_front(end) {
                let frame = entry.frame.whole(net, wires);
                let sent = Sent { port: first + p, node: self.id, at: entry.ready, frame };
                self.node.await_frame(&sent, net);
            }
        }
        let Self { node, out, .. } = self;
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
        self.node.resume(hashes, from, &mut Shared { net, records, out: &mut self.out });
    }

    /// When it must be visited next if nothing is sent to it.
    pub(super) fn look_around(&self, wires: &Wires) -> u64 {
        let mine = wires.inboxes.iter().skip(self.inbox as usize).take(self.ports as usize);
        let first = mine.filter_map(|inbox| inbox.arrived_before(0, AFTER)).map(|e| e.ready).min();
        self.node.next.min(first.unwrap_or(NEVER))
    }

    /// Ends the run: its books.
    pub(super) fn close(self, net: &Net, on_wires: &mut Ledger) -> (u32, Books) {
        (self.id, self.node.close(net, on_wires))
    }
}
