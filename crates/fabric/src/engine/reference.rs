//! The oracle: every node by the laws of [`crate::model`], one event at a time. It knows nothing of halves, threads, or packed frames.
//!
//! A node runs by itself until something may reach it: what its neighbours have not done yet takes a link's delay to get there. So it
//! carries out many events in a visit, and finds its state in the processor's cache.

use super::captured::captured;
use super::node::{Node, Shared};
use crate::check::{Ledger, alarmed, broken, close};
use crate::model::{Frame, Losses, Outbox, Packet, Records, together};
use crate::net::Net;
use crate::outcome::Outcome;
use crate::spec::RunSpec;
use crate::{Options, RunError};
use cnsim_scheme_api::Time;

/// Events between two looks at the progress callback.
const LOOK: u64 = 1 << 16;

/// Runs a network to its end, or to the end of the moment at which something stops it.
pub(super) fn run(net: &Net, spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let (records, out, order) = (&mut Records::default(), &mut Outbox::default(), &mut Vec::new());
    let with = &mut Shared { net, records, out, order };
    let ids = 0..net.ports.len() as u32 - 1;
    let mut nodes: Vec<Node> = ids.map(|id| Node::new(spec, id, with)).collect();
    // How far each node has come, ps.
    let mut reached = vec![0; nodes.len()];
    let mut losses = Losses::new(net, |_| true);
    let (mut end, mut count, mut look) = (net.duration, 0u64, LOOK);
    // Nothing happens anywhere before `from`.
    while let Some(from) = nodes.iter().map(|node| node.next).min().filter(|from| *from < end) {
        let most = net.direct(from).unwrap_or(end).min(end);
        for id in 0..nodes.len() {
            // NICs of a machine run with the first of them.
            let nics = net.nics(id as u32);
            if nics.start < id {
                continue;
            }
            let links = nics.clone().flat_map(|nic| net.links_of(nic)).flatten();
            // A link is as long as the one back, but for the processing at its end.
            let free = links.map(|link| reached[link.peer_node as usize].max(from) + net.lead).min();
            let until = free.unwrap_or(most).min(most);
            reached[nics.clone()].fill(until);
            if nodes[nics.clone()].iter().all(|node| node.next >= until) {
                continue;
            }
            if nics.len() == 1 {
                count += nodes[id].run(until, with);
            } else {
                together((id as u32, &mut nodes[nics]), until, with);
                count += 1;
            }
            for sent in with.out.sent.drain(..) {
                let whole = |frame: &Frame| (*frame, with.records.report(frame.record()));
                if losses.lose(sent.port, sent.at, &sent.frame, |frame| frame.crossing(net), whole) {
                    with.records.close(sent.frame.record());
                    continue;
                }
                let to = sent.node as usize;
                if sent.at < reached[to] {
                    broken("a frame reaches a node too early");
                }
                nodes[to].await_frame(sent);
            }
            for direct in std::mem::take(&mut with.out.direct) {
                let to = direct.to.map_or(0..net.hosts, |host| host..host + 1);
                to.for_each(|host| nodes[host as usize].await_feedback(&direct, with));
            }
        }
        if alarmed() {
            end = nodes.iter().filter_map(Node::failed_at).min().map_or(end, |at| at + 1);
        }
        if count >= look {
            look = count + LOOK;
            let hops = || nodes.iter().map(Node::hops).sum();
            if options.progress.is_some_and(|goes_on| !goes_on(Time::from_ps(from), hops())) {
                return Err(RunError::Stopped);
            }
        }
    }
    let mut on_wires = Ledger::default();
    let books = (0..).zip(nodes).map(|(id, node)| (id, node.close(net, &mut on_wires))).collect();
    let mut seen = Outcome::default();
    losses.close(net, &mut on_wires, &mut seen, |port, when, whole| captured(net, port, when, whole));
    close(net, spec, &on_wires, books, seen)
}
