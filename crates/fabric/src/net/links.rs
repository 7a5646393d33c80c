//! Ports and links as a run asks for them, and what of it no run can have.

use super::{LONGEST, Link};
use crate::numbers::{NEVER, Ps};
use crate::spec::{ClassSpec, LinkLoss, PortFault, RateChange, Record, RunSpec};
use crate::tx_rate::Clock;
use cnsim_scheme_api::{NodeId, Rate};

/// Transmission times are products in 64 bits: of a slower port they would wrap, and it would seem fast.
fn is_possible(rate: Rate) -> bool {
    (1e4..=1e13).contains(&rate.bps())
}

/// Has the run such a port?
fn has((n, p): (NodeId, u16), spec: &RunSpec) -> bool {
    spec.switch(n).map_or((n.0 as usize) < spec.hosts.len() && p == 0, |switch| p < switch.ports)
}

/// First port number of each node and the total at the end; the links by port; and the least delay of all, ps.
pub(super) fn all(spec: &RunSpec) -> Result<(Vec<u32>, Vec<Option<Link>>, Ps), String> {
    let (mut ports, mut total) = (vec![0], 0u32);
    for count in spec.hosts.iter().map(|_| 1).chain(spec.switches.iter().map(|s| u32::from(s.ports))) {
        total += count;
        ports.push(total);
    }
    let number = |(n, p): (NodeId, u16)| match has((n, p), spec) {
        true => Ok(ports[n.0 as usize] + u32::from(p)),
        false => Err(format!("a link names port {p} of node {}, which does not exist", n.0)),
    };
    let clock =
        |n: NodeId| Clock::new(spec.laws.rounding, spec.hosts.get(n.0 as usize).map_or(0.0, |h| h.clock_ppm));
    let (mut links, mut lead) = (vec![None; total as usize], NEVER);
    for l in &spec.links {
        let (a, b) = (number(l.a)?, number(l.b)?);
        if a == b || links[a as usize].is_some() || links[b as usize].is_some() {
            return Err(format!("two links at port {} of node {}", l.a.1, l.a.0.0));
        }
        refuse!(!is_possible(l.rate), "a link of {}; 10 kb/s to 10 Tb/s are possible", l.rate);
        for (from, peer, near, far) in [(a, b, l.a.0, l.b.0), (b, a, l.b.0, l.a.0)] {
            let delay = Ps::from(l.delay + spec.processing(far));
            let (NodeId(a), NodeId(b), ps) = (l.a.0, l.b.0, delay.0);
            refuse!(
                ps < 10_000,
                "the link between nodes {a} and {b} has {ps} ps of delay and processing; at least 10 ns are needed"
            );
            lead = lead.min(delay);
            let tx = clock(near).tx(l.rate);
            links[from as usize] =
                Some(Link { peer, peer_node: far.0, delay, tx, rate: l.rate, tree: false });
        }
    }
    Ok((ports, links, lead))
}

/// The classes of data, unless something of a run is not possible beside its links.
pub(super) fn check(spec: &RunSpec) -> Result<Vec<ClassSpec>, String> {
    refuse!(!(1..=65_535).contains(&spec.hosts.len()), "{} hosts; 1 to 65535 are possible", spec.hosts.len());
    refuse!(Ps::from(spec.duration) >= LONGEST, "a run of {}; less than 5 hours are possible", spec.duration);
    if let Some(h) = spec.hosts.iter().find(|h| !(-1e5..=1e5).contains(&h.clock_ppm)) {
        let (name, ppm) = (&h.name, h.clock_ppm);
        return Err(format!("the clock of host {name} is {ppm} ppm off; less than 100,000 are possible"));
    }
    for &RateChange { node: NodeId(n), port, rate, .. } in &spec.events.changes {
        refuse!(
            rate.bps() > 0.0 && !is_possible(rate),
            "port {port} of node {n} is to serve at {rate}; 10 kb/s to 10 Tb/s are possible, and 0 b/s stops it"
        );
        refuse!(
            spec.switch(NodeId(n)).is_none_or(|s| port >= s.ports),
            "port {port} of node {n} cannot change its rate of service: there is no such port of a switch"
        );
    }
    PortFault::check(spec)?;
    let Record { trips, flow_events, captures, .. } = &spec.record;
    refuse!(!trips && !flow_events.is_empty(), "events of flows are recorded with the time of flows alone");
    LinkLoss::check(spec)?;
    if let Some((node, port)) = captures.iter().find(|end| !has(**end, spec)) {
        return Err(format!("port {port} of node {} cannot be captured: there is none", node.0));
    }
    let connected = spec.hosts.iter().flat_map(|h| &h.sources).any(|s| s.connected);
    refuse!(*trips && connected, "the time of flows cannot be kept where they share a connection");
    spec.laws.watchdog.map_or(Ok(()), |watchdog| watchdog.check(spec))?;
    let length = spec.laws.pause_frames.length;
    refuse!(!(1..=1500).contains(&length.get()), "PAUSE frames of {length}; 1 B to 1500 B are possible");
    let classes = spec.data_classes()?;
    for switch in &spec.switches {
        if let Some(why) = switch.shared.as_ref().and_then(|shared| shared.refused(switch, &classes)) {
            return Err(format!("the shared buffer of {}: {why}", switch.name));
        }
    }
    spec.transport.map_or(Ok(()), |transport| transport.check(spec))?;
    spec.graph.as_ref().map_or(Ok(()), |graph| graph.check(spec))?;
    Ok(classes)
}
