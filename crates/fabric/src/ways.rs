//! The ways of flows through a network, as a run takes them.

use crate::RunError;
use crate::flows::number;
use crate::net::{Net, Paths};
use crate::spec::RunSpec;
use cnsim_scheme_api::NodeId;

/// Knows the way of each flow of a run.
#[derive(Debug)]
pub struct Ways(Net);

impl Ways {
    /// Ways of a run.
    ///
    /// # Errors
    /// A spec that cannot be run.
    pub fn new(spec: &RunSpec) -> Result<Self, RunError> {
        Net::build(spec).map(Self)
    }

    /// The transmitters by which a flow's data may go, each a node and its port: that of its source host first. `nth` is the number of a
    /// finite flow among those of its pair of hosts ([`crate::numbered`]). Where each frame has a way of its own they are those of
    /// all shortest ways. None without such hosts.
    pub fn of(&self, src: NodeId, dst: NodeId, nth: u32) -> Option<Vec<(NodeId, u16)>> {
        let net = &self.0;
        if dst.0 >= net.hosts {
            return None;
        }
        let flow = (src.0, dst.0, number(0, Some(nth as u16)));
        let mut ways = vec![(src, 0)];
        let mut next = 0;
        while let Some(&(node, port)) = ways.get(next) {
            next += 1;
            let link = net.links_of(node.0 as usize).get(usize::from(port)).copied().flatten()?;
            let (Some(s), at) = (link.peer_node.checked_sub(net.hosts), NodeId(link.peer_node)) else {
                continue;
            };
            let ports = match self.several() {
                true => net.ports_to(s as usize, dst.0),
                false => vec![net.route(s as usize, flow, &mut Paths::default())],
            };
            let new: Vec<_> = ports.into_iter().map(|p| (at, p)).filter(|w| !ways.contains(w)).collect();
            ways.extend(new);
        }
        Some(ways)
    }

    /// May each frame of a flow go by a way of its own?
    pub fn several(&self) -> bool {
        self.0.routes.routing.is_by_frame()
    }
}
