//! Where the time of finite flows went: what hosts and ports noted, joined. It is a law that the parts add up to the completion time.

use crate::net::Net;
use crate::outcome::{Completion, HostOutcome, SourcePart, Stay, Trip};
use crate::spec::RunSpec;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{NodeId, Time};
use std::collections::BTreeMap;

/// Time by part, ps.
pub(crate) type Spent = [u64; SourcePart::ALL.len()];

/// How a frame came that may be the last of its flow: what its flow had spent until it began, and when it began at each switch port, by
/// number in the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) spent: Spent,
    pub(crate) steps: Vec<(u32, u64)>,
}

/// The same of a frame with which all of a flow had arrived.
#[derive(Clone, Debug)]
pub(crate) struct Come {
    pub(crate) class: u8,
    pub(crate) len: u16,
    /// When it began at its source, and when it had come, ps.
    pub(crate) begun: u64,
    pub(crate) came: u64,
    pub(crate) trace: Trace,
}

/// What all trips of a run need.
pub(super) struct Trips<'a> {
    net: &'a Net,
    /// By port and class, when it was in XOFF, from and until, ps.
    stopped: &'a [Vec<Vec<(u64, u64)>>],
    /// By port, when its data was served at another rate, and at which.
    changes: BTreeMap<u32, Vec<(u64, TxRate)>>,
}

impl<'a> Trips<'a> {
    /// Those of a run.
    pub(super) fn new(net: &'a Net, spec: &RunSpec, stopped: &'a [Vec<Vec<(u64, u64)>>]) -> Self {
        let mut changes: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for change in &spec.changes {
            let port = net.ports[change.node.0 as usize] + u32::from(change.port);
            changes.entry(port).or_default().push((change.at.as_ps(), net.switch_clock.tx(change.rate)));
        }
        changes.values_mut().for_each(|all| all.sort_by_key(|change| change.0));
        Self { net, stopped, changes }
    }

    /// How long a frame takes at a port where it begins then.
    fn time(&self, port: u32, began: u64, len: u16) -> u64 {
        let changed = self.changes.get(&port).and_then(|all| all.iter().rev().find(|c| c.0 <= began));
        changed.map_or_else(|| self.net.switch_clock.tx(self.net.rate(port)), |change| change.1).time(len)
    }

    /// Time in XOFF of a port between these moments.
    fn xoff(&self, port: u32, class: u8, from: u64, until: u64) -> u64 {
        let Some(spans) = self.stopped[port as usize].get(usize::from(class)) else { return 0 };
        let first = spans.partition_point(|span| span.1 <= from);
        let during = spans[first..].iter().take_while(|span| span.0 < until);
        during.map(|span| span.1.min(until) - span.0.max(from)).sum()
    }

    /// The trip of a flow to a host, of which all had come so; or none, where the parts do not add up.
    fn trip(&self, dst: u32, done: &Completion, come: &Come) -> Option<Trip> {
        let (net, ps) = (self.net, Time::from_ps);
        let mut trip = Trip { source: come.trace.spent.map(ps), stays: Vec::new() };
        let (mut node, mut came) = (done.src.0, come.begun);
        let first = net.ports[node as usize];
        for (port, began) in std::iter::once((first, come.begun)).chain(come.trace.steps.iter().copied()) {
            let at = port.checked_sub(net.ports[node as usize])?;
            let link = net.links_of(node as usize).get(at as usize).copied().flatten()?;
            let sending =
                if node < net.hosts { link.tx.time(come.len) } else { self.time(port, began, come.len) };
            trip.stays.push(Stay {
                at: (NodeId(node), at as u16),
                came: ps(came),
                began: ps(began),
                xoff: ps(self.xoff(port, come.class, came, began)),
                sending: ps(sending),
                link: ps(link.delay),
            });
            (node, came) = (link.peer_node, began + sending + link.delay);
        }
        let whole = done.end.saturating_sub(done.start);
        (node == dst && ps(came) == done.end && trip.sum() == whole).then_some(trip)
    }

    /// The trips of all flows to a host, in the order of its completions.
    pub(super) fn join(&self, dst: u32, host: &mut HostOutcome, come: &[Come]) -> Result<(), String> {
        if !self.net.record.trips {
            return Ok(());
        }
        let each = host.completions.iter().enumerate().map(|(n, done)| {
            let trip = come.get(n).and_then(|come| self.trip(dst, done, come));
            trip.ok_or_else(|| {
                let Completion { src, nth, start, end, .. } = done;
                let name = format!("flow {nth} from host {} to host {dst}, {start} to {end}", src.0);
                format!("the parts of the time of {name} do not add up: {:?}", come.get(n))
            })
        });
        host.trips = each.collect::<Result<_, _>>()?;
        Ok(())
    }
}
