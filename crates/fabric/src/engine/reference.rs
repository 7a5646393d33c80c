//! The oracle: one list of events over the whole network, one event at a time, by the laws of [`crate::model`]. Slow and simple.
//!
//! It knows nothing of windows, threads, wires or packed frames.

use super::node::Node;
use crate::check::{Ledger, close};
use crate::model::Agenda;
use crate::net::Net;
use crate::outcome::Outcome;
use crate::spec::RunSpec;
use crate::{Options, RunError};
use cnsim_scheme_api::Time;

/// Events between two looks at the progress callback.
const LOOK: u64 = 1 << 16;

/// Runs a network to its end, or to the end of the moment at which something stops it.
pub(super) fn run(net: &Net, spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let mut agenda = Agenda::default();
    let ids = 0..net.ports.len() as u32 - 1;
    let mut nodes: Vec<Node> = ids.map(|id| Node::new(net, spec, id, &mut agenda)).collect();
    let (mut end, mut count) = (net.duration, 0u64);
    while let Some(event) = agenda.next_before(end) {
        let out = nodes[event.node as usize].carry_out(event, net, &mut agenda);
        for sent in out.sent {
            let port = (sent.port - net.ports[sent.node as usize]) as usize;
            nodes[sent.node as usize].await_frame(port, sent.at, sent.frame, net, &mut agenda);
        }
        for direct in out.direct {
            for host in direct.to.map_or(0..net.hosts, |host| host..host + 1) {
                nodes[host as usize].await_feedback(&direct, net, &mut agenda);
            }
        }
        if nodes[event.node as usize].failure().at().is_some() {
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
