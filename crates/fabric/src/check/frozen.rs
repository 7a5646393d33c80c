//! Why a network stands still: which stopped port waits for which.
//!
//! A port in XOFF waits for room in the memory at the far end of its link. That room comes from the ports there that hold frames of
//! the same PAUSE domain. Those that are stopped themselves wait in turn: for each other in a circle, which is a deadlock, or
//! at last for a port that serves nothing.

use crate::net::Net;
use crate::outcome::Standstill;
use crate::spec::{Layout, RunSpec};
use cnsim_scheme_api::NodeId;
use std::collections::BTreeMap;

/// A switch port whose data cannot leave: it is in XOFF, or serves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// Number of the port.
    pub(crate) port: u16,
    /// In XOFF?
    pub(crate) off: bool,
    /// Inputs by which the frames came that wait there.
    pub(crate) inputs: Vec<u16>,
}

impl Stopped {
    /// A port with the inputs of the frames that wait there; none where nothing waits.
    pub(crate) fn new(port: usize, off: bool, inputs: impl Iterator<Item = u16>) -> Option<Self> {
        let mut inputs: Vec<u16> = inputs.collect();
        inputs.sort_unstable();
        inputs.dedup();
        (!inputs.is_empty()).then_some(Self { port: port as u16, off, inputs })
    }
}

type At = (NodeId, u16);

/// The standstill of the stopped ports of all switches, in order: a circle if there is one, else a chain. None without such a port.
pub(crate) fn standstill(net: &Net, spec: &RunSpec, switches: &[Vec<Stopped>]) -> Option<Standstill> {
    let node = |index: usize| NodeId(net.hosts + index as u32);
    let ports = || switches.iter().enumerate().flat_map(|(i, all)| all.iter().map(move |s| (node(i), s)));
    let far: BTreeMap<At, At> = spec.links.iter().flat_map(|l| [(l.a, l.b), (l.b, l.a)]).collect();
    let waits = |(at, s): (NodeId, &Stopped)| -> Vec<At> {
        let Some(&(there, input)) = far.get(&(at, s.port)).filter(|_| s.off) else { return Vec::new() };
        let Some(index) = there.0.checked_sub(net.hosts).map(|i| i as usize) else { return Vec::new() };
        let domain = |input: u16| Layout::new(&spec.switches[index]).domain(input.into());
        let same = |other: &u16| domain(*other) == domain(input);
        let holds = switches[index].iter().filter(|q| q.inputs.iter().any(same));
        holds.map(|q| (there, q.port)).collect()
    };
    let edges: BTreeMap<At, Vec<At>> = ports().map(|(at, s)| ((at, s.port), waits((at, s)))).collect();
    // Without those that wait for nobody, again and again: whoever is left waits in a circle, or for one.
    let mut left = edges.clone();
    loop {
        let free: Vec<At> = left.iter().filter(|e| e.1.is_empty()).map(|e| *e.0).collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|at| drop(left.remove(at)));
        left.values_mut().for_each(|to| to.retain(|at| !free.contains(at)));
    }
    let circle = !left.is_empty();
    let edges = if circle { left } else { edges };
    let mut path: Vec<At> = edges.keys().next().copied().into_iter().collect();
    while let Some(next) = path.last().and_then(|at| edges.get(at)?.first()) {
        if let Some(begin) = path.iter().position(|at| at == next) {
            path.drain(..begin);
            break;
        }
        path.push(*next);
    }
    if circle && let Some(least) = (0..path.len()).min_by_key(|i| path[*i]) {
        path.rotate_left(least);
    }
    (!path.is_empty()).then_some(Standstill { ports: path, circle })
}
