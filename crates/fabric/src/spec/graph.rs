//! Finite transfers, and the graph by which some of them follow others.

use super::{RunSpec, padded};
use cnsim_scheme_api::{Bytes, NodeId, Time};
use std::collections::BTreeSet;
use std::ops::Range;

/// A finite amount of data from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When the transfer begins; [`Transfer::FOLLOWS`]: when the graph of the run lets it begin.
    pub start: Time,
    /// The host that the data goes to.
    pub dst: NodeId,
    /// Amount of data; the last frame is shorter, but not below [`crate::SourceSpec::floor`].
    pub bytes: Bytes,
}

impl Transfer {
    /// In place of a start: an operation of the graph begins it ([`Graph`]).
    pub const FOLLOWS: Time = Time::MAX;

    /// Bytes on the link: whole frames of `frame` and a last one of at least `floor`.
    pub fn on_link(&self, frame: u64, floor: u64) -> u64 {
        let rest = self.bytes.get() % frame;
        self.bytes.get() - rest + if rest > 0 { padded(rest, floor) } else { 0 }
    }
}

/// What the hosts of a run do in an order of their own: a graph of operations, each of which begins when those before it have come so
/// far. All of that is decided at the operation's host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The operations, by host.
    pub operations: Vec<Operation>,
    /// Predecessors of the operations, one list after the other ([`Operation::after`]).
    pub after: Vec<After>,
    /// By host, the first of those that are NICs of one machine: what happens at one of them, all see. They follow each other. Empty:
    /// each host is a machine of its own.
    pub machines: Vec<NodeId>,
}

/// Something that a host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The host.
    pub host: NodeId,
    /// Act of the operation.
    pub act: Act,
    /// First and last (exclusive) of what it waits for, in [`Graph::after`]; it is ready when all of that has happened, or at the start
    /// of the run.
    pub after: (u32, u32),
}

/// Acts of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The operation takes a time. Operations of one stream of a host take turns: as they get ready, and of one moment by number.
    Compute {
        /// How long it takes.
        time: Time,
        /// The stream, below [`Graph::STREAMS`]; none: it waits for no other.
        stream: Option<u16>,
    },
    /// The operation sends a transfer, whose start is [`Transfer::FOLLOWS`]. At its host it ends with the last acknowledgement, or without
    /// acknowledgements as its last frame begins.
    Send {
        /// Index of the host's source.
        source: u32,
        /// Index of the transfer of the source.
        transfer: u32,
    },
}

/// A predecessor that an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// An operation of the same host has begun.
    Begun(u32),
    /// The last frame that an operation of the same host sends has begun, for the first time.
    Sent(u32),
    /// An operation of the same host has ended; or an operation of another host has sent to this one, and all of that has arrived.
    Ended(u32),
}

/// When an operation happened; [`Time::MAX`]: not before the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasted {
    /// When the operation began.
    pub begun: Time,
    /// When the operation ended at its host.
    pub ended: Time,
    /// All that it sent had arrived.
    pub received: Time,
}

impl Graph {
    /// Most streams of a host.
    pub const STREAMS: u16 = 1024;

    /// Operations of a run are fewer.
    const MOST: usize = 1 << 30;

    /// Predecessors of an operation.
    pub fn before(&self, operation: &Operation) -> &[After] {
        self.after.get(operation.after.0 as usize..operation.after.1 as usize).unwrap_or_default()
    }

    /// The first host of a host's machine.
    pub(crate) fn machine(&self, host: NodeId) -> NodeId {
        self.machines.get(host.0 as usize).copied().unwrap_or(host)
    }

    /// The hosts of a host's machine.
    pub(crate) fn nics(&self, host: u32) -> Range<u32> {
        let first = self.machine(NodeId(host));
        let more = self.machines.iter().skip(host as usize).take_while(|m| **m == first).count();
        first.0..host + more.max(1) as u32
    }

    /// Numbers of the operations of these hosts.
    pub(crate) fn of_hosts(&self, hosts: Range<u32>) -> Range<u32> {
        let before = |host: u32| self.operations.partition_point(|o| o.host.0 < host) as u32;
        before(hosts.start)..before(hosts.end)
    }

    /// The transfer that an operation sends, in such a run.
    pub(crate) fn transfer<'a>(&self, number: u32, spec: &'a RunSpec) -> Option<&'a Transfer> {
        let operation = self.operations.get(number as usize)?;
        let Act::Send { source, transfer } = operation.act else { return None };
        let source = spec.hosts.get(operation.host.0 as usize)?.sources.get(source as usize)?;
        source.transfers.get(transfer as usize)
    }

    /// Why a run cannot have it.
    pub(crate) fn check(&self, spec: &RunSpec) -> Result<(), String> {
        if spec.transport.is_none() {
            return Err("transfers that follow others need queue pairs, and the run has none".into());
        }
        if !self.operations.is_sorted_by_key(|operation| operation.host) {
            return Err("the operations of a graph are not listed by host".into());
        }
        let near = |m: usize, first: NodeId| first.0 as usize == m || m > 0 && self.machines[m - 1] == first;
        if ![0, spec.hosts.len()].contains(&self.machines.len())
            || !self.machines.iter().enumerate().all(|(m, &first)| near(m, first))
        {
            return Err("the NICs of a machine do not follow each other".into());
        }
        let (n, most) = (self.operations.len(), Self::MOST);
        refuse!(n >= most, "{n} operations; less than {most} are possible");
        let mut sent = BTreeSet::new();
        for (number, operation) in (0..).zip(&self.operations) {
            let bad = |why: &str| Err(format!("operation {number} of host {} {why}", operation.host.0));
            let begins = |n: u32| self.transfer(n, spec);
            match operation.act {
                Act::Compute { stream: Some(stream), .. } if stream >= Self::STREAMS => {
                    return bad("computes on a stream that no host has");
                }
                Act::Compute { stream: Some(_), .. } if self.machine(operation.host) != operation.host => {
                    return bad("computes at another NIC than its machine's first");
                }
                Act::Compute { .. } => {}
                Act::Send { source, transfer } => match begins(number) {
                    Some(t) if t.bytes > Bytes::ZERO && t.start == Transfer::FOLLOWS => {
                        if !sent.insert((operation.host, source, transfer)) {
                            return bad("sends what another has sent");
                        }
                    }
                    Some(_) => return bad("sends nothing, or a transfer that has a start"),
                    None => return bad("sends a transfer that is not there"),
                },
            }
            if operation.after.0 > operation.after.1 || operation.after.1 as usize > self.after.len() {
                return bad("waits for what is not listed");
            }
            for &after in self.before(operation) {
                let (After::Begun(before) | After::Sent(before) | After::Ended(before)) = after;
                let machine = self.machine(operation.host);
                let at = self.operations.get(before as usize).map(|b| self.machine(b.host));
                let (here, sends) = (at == Some(machine), begins(before));
                let comes = sends.is_some_and(|t| self.machine(t.dst) == machine);
                let here = here && (sends.is_some() || !matches!(after, After::Sent(_)));
                if !(here || comes && after == After::Ended(before)) {
                    return bad("waits for what its host does not see");
                }
            }
        }
        let all = spec.hosts.iter().flat_map(|h| &h.sources).flat_map(|s| &s.transfers);
        let follow = all.filter(|transfer| transfer.start == Transfer::FOLLOWS).count();
        refuse!(follow != sent.len(), "{follow} transfers follow others, and the graph sends {}", sent.len());
        let in_order = |s: &super::SourceSpec| s.transfers.is_sorted_by_key(|transfer| transfer.start);
        if let Some(host) = spec.hosts.iter().find(|h| !h.sources.iter().all(in_order)) {
            return Err(format!("the transfers of host {} are not listed by start", host.name));
        }
        Ok(())
    }
}
