//! Choice among equal paths: `topology.routing` and `topology.hash`, and what each asks of the network.

use super::Settings;
use crate::kinds::{FlowHash, Paths};
use crate::reader::Reader;
use crate::topology::Wiring;
use crate::workload::SourcePlan;
use cnsim_fabric::{Routing, Ways, number_in};
use cnsim_scheme_api::registry::Configured;

/// Switches of which any network has fewer different groups of next hops than the fabric can number.
const FEW: usize = 256;

/// Reads the choice.
pub(super) fn routing(r: &mut Reader<'_>, wiring: &Wiring, plans: &[Vec<SourcePlan>]) -> Routing {
    match r.choice("topology.routing") {
        Paths::FlowHash => match r.choice("topology.hash") {
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
            let kind = r.word("topology.kind");
            if kind != "ring" {
                let reason = format!("a network of kind {kind} has no clockwise paths");
                let keys = ["topology.routing", "topology.kind"];
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
        r.wrong("topology.hash", reason, "write another hash, or a topology whose nodes all have numbers");
    }
    let endless = |plans: &Vec<SourcePlan>| plans.iter().any(|p| !p.finite());
    if let Some(host) = plans.iter().position(endless) {
        let reason = format!(
            "this hash takes the ports of finite flows, and {} sends endless ones",
            wiring.hosts[host]
        );
        let remedy =
            "write another hash, or workload.kind = transfers, poisson, incast, all-to-all or permutation";
        r.wrong("topology.hash", reason, remedy);
    }
}

impl Settings {
    /// Why there are no routes, in a network so large that this may be.
    pub(crate) fn unrouted(&self, built: &Configured) -> Option<String> {
        if self.wiring.switches.len() <= FEW {
            return None;
        }
        let idle = Self { plans: vec![Vec::new(); self.hosts()], ..self.clone() };
        Ways::new(&idle.spec(built, 1, false)).err().map(|e| e.to_string())
    }
}
