//! The oracle: every node by the laws of [`crate::model`], one event at a time. It knows nothing of threads or packed frames.
//!
//! A node runs by itself until something may reach it: what its neighbours have not done yet takes a link's delay to get there. So it
//! carries out many events in a visit, and finds its state in the processor's cache. Where halves of the network take turns, each
//! comes from one such delay behind the other to one ahead of it.

use super::captured::captured;
use super::node::{Node, Outbox, Shared};
use crate::check::{Ledger, alarmed, broken, close};
use crate::model::{Frame, Losses, Packet, together};
use crate::net::{Net, Ps};
use crate::outcome::Outcome;
use crate::spec::RunSpec;
use crate::{Options, RunError};

/// Events between two looks at the progress callback.
const LOOK: u64 = 1 << 16;

/// Runs a network to its end, or to the end of the moment at which something stops it.
pub(super) fn run(net: &Net, spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    let with = &mut Shared { net, out: &mut Outbox::default() };
    let ids = 0..net.ports.len() as u32 - 1;
    let mut nodes: Vec<Node> = ids.clone().map(|id| Node::new(spec, id, with)).collect();
    // Nodes without links among them, but for those of a network without halves. NICs of a machine run with the first of them.
    let half = |id: u32| usize::from(net.windows.halves.get(id as usize) == Some(&true));
    let others = usize::from(!net.windows.halves.is_empty());
    let firsts = |of| ids.clone().filter(move |id| half(*id) == of && net.nics(*id).start == *id as usize);
    let halves: [Vec<u32>; 2] = [0, 1].map(|of| firsts(of).collect());
    // How far those have come, ps.
    let mut reached = [Ps(0); 2];
    let mut losses = Losses::new(net, |_| true);
    let (mut end, mut count, mut look) = (net.duration, 0u64, LOOK);
    // Nothing happens anywhere before `from`.
    while let Some(from) = nodes.iter().map(|node| node.next).min().filter(|from| *from < end) {
        let most = net.direct(from).unwrap_or(end).min(end);
        for (of, ids) in halves.iter().enumerate() {
            let until = (reached[of ^ others].max(from) + net.windows.lead).min(most);
            reached[of] = until;
            for &id in ids {
                let nics = net.nics(id);
                if nodes[nics.clone()].iter().all(|node| node.next >= until) {
                    continue;
                }
                if nics.len() == 1 {
                    count += nodes[nics.start].run(until, with);
                } else {
                    together((id, &mut nodes[nics]), until, with);
                    count += 1;
                }
                for sent in &with.out.sent {
                    let whole = |frame: &Frame| (*frame, with.out.records.report(frame.record()));
                    if losses.lose(sent.port, sent.at, &sent.frame, |frame| frame.crossing(net), whole) {
                        with.out.records.close(sent.frame.record());
                        continue;
                    }
                    if sent.at < reached[half(sent.node)] {
                        broken("a frame reaches a node too early");
                    }
                    nodes[sent.node as usize].await_frame(sent, net);
                }
                with.out.sent.clear();
                for direct in std::mem::take(&mut with.out.direct) {
                    let to = direct.to.map_or(0..net.hosts, |host| host..host + 1);
                    to.for_each(|host| nodes[host as usize].await_feedback(&direct, with));
                }
            }
        }
        if alarmed() {
            end = nodes.iter().filter_map(|node| node.laws.failed_at()).min().map_or(end, |at| at + Ps(1));
        }
        if count >= look {
            look = count + LOOK;
            let hops = || nodes.iter().map(|node| node.laws.hops()).sum();
            if options.progress.is_some_and(|goes_on| !goes_on(from.time(), hops())) {
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
