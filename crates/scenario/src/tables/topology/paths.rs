//! Choice among equal paths: `topology.routing` and `topology.hash`, and what each asks of the network.

use super::{FlowHash, HASH, KIND, Paths, ROUTING};
use crate::language::reader::Reader;
use crate::tables::workload::SourcePlan;
use crate::wiring::Wiring;
use cnsim_fabric::{Routing, number_in};

/// Reads the choice.
pub(crate) fn routing(r: &mut Reader<'_>, wiring: &Wiring, plans: &[Vec<SourcePlan>]) -> Routing {
    match r.choice(ROUTING) {
        Paths::FlowHash => match r.choice(HASH) {
            FlowHash::PerSwitch => Routing::FlowHash,
            FlowHash::Polarised => Routing::PolarisedHash,
            FlowHash::Fork => {
                fork(r, wiring, plans);
                Routing::ForkHash
            }
        },
        Paths::FrameHash => Routing::FrameHash,
        Paths::RoundRobin => Routing::RoundRobin,
        Paths::Destination => Routing::Destination,
        Paths::Clockwise => {
            let kind = r.word(KIND);
            if kind != "ring" {
                let reason = format!("a network of kind {kind} has no clockwise paths");
                let keys = [ROUTING, KIND];
                r.clash(&keys, reason, "set topology.kind = \"ring\", or another routing");
            }
            Routing::Clockwise
        }
    }
}

/// The fork's hash takes numbers from the names of nodes, and ports of finite flows.
fn fork(r: &mut Reader<'_>, wiring: &Wiring, plans: &[Vec<SourcePlan>]) {
    let nodes = wiring.switches.iter().map(|s| &s.0).chain(&wiring.hosts);
    if let Some(name) = nodes.into_iter().find(|name| number_in(name).is_none()) {
        let reason =
            format!("this hash takes the number in each node's name, and `{name}` has none below 65536");
        r.wrong(HASH, reason, "write another hash, or a topology whose nodes all have numbers");
    }
    let endless = |plans: &Vec<SourcePlan>| plans.iter().any(|p| !p.finite());
    if let Some(host) = plans.iter().position(endless) {
        let reason = format!(
            "this hash takes the ports of finite flows, and {} sends endless ones",
            wiring.hosts[host]
        );
        let remedy =
            "write another hash, or workload.kind = transfers, poisson, incast, all-to-all or permutation";
        r.wrong(HASH, reason, remedy);
    }
}
