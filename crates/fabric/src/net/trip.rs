//! Smallest round trips, and ports by their numbers.

use super::{Net, Seat};
use crate::spec::{SMALLEST, TransportSpec};
use cnsim_scheme_api::{FlowId, NodeId, Time};

impl Net {
    /// Node and port of this number and one; none for 0.
    pub(crate) fn port_at(&self, number: u32) -> Option<(NodeId, u16)> {
        let number = number.checked_sub(1)?;
        let node = self.ports.partition_point(|first| *first <= number) - 1;
        Some((NodeId(node as u32), (number - self.ports[node]) as u16))
    }

    /// Smallest round trip of a flow with such queue pairs, or none, and the links of its way out: a full frame out; back an acknowledgement, if there are some, or else
    /// the smallest frame.
    pub(crate) fn base_rtt_of(&self, flow: FlowId, pairs: Option<TransportSpec>) -> (Time, u32) {
        let (src, dst) = self.hosts_of(flow);
        let back = pairs.map_or(SMALLEST, |transport| transport.ack_length.get() as u16);
        let way = |from: u32, to: u32, len: u16| {
            let (mut port, mut total, mut links) = (self.ports[from as usize], 0, 0);
            while let Some(link) = self.links[port as usize] {
                (total, links) = (total + link.tx.time(len) + link.delay, links + 1);
                let Some(s) = link.peer_node.checked_sub(self.hosts) else { break };
                let Seat { switch, port: last, .. } = self.attach[to as usize];
                let out = if switch == s { last } else { self.group(s as usize, switch as usize)[0] };
                port = self.ports[link.peer_node as usize] + u32::from(out);
            }
            (total, links)
        };
        let (out, links) = way(src, dst, self.mtu);
        (Time::from_ps(out + way(dst, src, back).0), links)
    }
}
