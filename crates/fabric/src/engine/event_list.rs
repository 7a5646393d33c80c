//! The oracle: one global event list, one event at a time, over the whole network. Slow and simple.

use super::Part;
use crate::fast::frame::{BROADCAST, Key, NO_EVENT};
use crate::net::Net;
use crate::{Options, RunError};
use cnsim_scheme_api::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Runs one part that owns every node.
///
/// The heap holds, for each node, the keys that were its next event when it was last looked at; a key that is no longer
/// the node's next is skipped. Nodes at the same instant cannot influence each other (links have delay), so their
/// mutual order is free; here it is by number. Every link leads to another worker's port, so that what a node sends is seen
/// here and its receivers are looked at.
pub(super) fn run(net: &Net, part: &mut Part, options: &Options<'_>) -> Result<(), RunError> {
    let hosts = part.hosts.len();
    let nodes = hosts + part.switches.len();
    let owner: Vec<u32> = (0..nodes as u32)
        .flat_map(|n| (net.ports[n as usize]..net.ports[n as usize + 1]).map(move |_| n))
        .collect();
    let mut heap: BinaryHeap<Reverse<(Key, u32)>> = BinaryHeap::new();
    let next = |part: &Part, n: usize| match n.checked_sub(hosts) {
        None => part.hosts[n].next(&part.wires),
        Some(s) => part.switches[s].next(&part.wires),
    };
    for n in 0..nodes {
        heap.push(Reverse((next(part, n), n as u32)));
    }
    let mut count = 0u64;
    while let Some(Reverse((key, n))) = heap.pop() {
        if key == NO_EVENT || key.0 >= net.duration {
            continue;
        }
        let n = n as usize;
        if next(part, n) != key {
            continue;
        }
        match n.checked_sub(hosts) {
            None => part.hosts[n].execute(key, net, &mut part.wires),
            Some(s) => part.switches[s].execute(key, net, &mut part.wires),
        }
        heap.push(Reverse((next(part, n), n as u32)));
        for f in part.wires.foreign.first_mut().map(std::mem::take).unwrap_or_default() {
            part.wires.push(f.port, f.entry, f.body.map(|body| *body));
            let to = owner[f.port as usize] as usize;
            heap.push(Reverse((next(part, to), to as u32)));
        }
        for d in std::mem::take(&mut part.wires.direct) {
            part.hand(&d, |_, _| ());
            let told = if d.to == BROADCAST { 0..hosts } else { d.to as usize..d.to as usize + 1 };
            for n in told {
                heap.push(Reverse((next(part, n), n as u32)));
            }
        }
        count += 1;
        if count.is_multiple_of(1 << 16) {
            if part.failure().is_some() {
                return Ok(());
            }
            if let Some(progress) = options.progress
                && !progress(Time::from_ps(key.0), part.hops())
            {
                return Err(RunError::Stopped);
            }
        }
    }
    Ok(())
}
