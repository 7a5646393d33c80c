//! What differs between the classes of a network.

use super::Net;
use crate::spec::{ClassScheme, ClassSpec, RunSpec, SMALLEST, TransportSpec};
use cnsim_scheme_api::{Acks, PointId};

impl Net {
    /// An error if a scheme needs acknowledgements, and the run has none.
    pub(super) fn may_acknowledge(&self, spec: &RunSpec) -> Result<(), String> {
        for (class, own) in self.classes.iter().enumerate() {
            let acknowledged = self.transport_of(class).is_some_and(|transport| transport.ack_every > 0);
            let used = spec.hosts.iter().filter_map(|h| own.scheme(h.scheme));
            let needs = used.map(|s| &self.schemes[s]).find(|s| s.plan.acks != Acks::Optional);
            if let Some(scheme) = needs.filter(|_| !acknowledged) {
                return Err(format!(
                    "scheme `{}` needs acknowledgements, and the run has none: give it a transport with queue pairs",
                    scheme.name()
                ));
            }
        }
        Ok(())
    }

    /// The transport of a class's queue pairs, if they are some.
    pub(crate) fn transport_of(&self, class: usize) -> Option<TransportSpec> {
        self.classes.get(class).and_then(|class| class.transport).or(self.transport)
    }

    /// Bytes of the longest frame that an output may send.
    pub(crate) fn longest_frame(&self) -> u16 {
        let transports = (0..self.classes.len()).filter_map(|class| self.transport_of(class));
        let acks = transports.map(|transport| transport.ack_length.get() as u16).max();
        self.mtu.max(SMALLEST).max(acks.unwrap_or(0))
    }

    /// The class whose limiters are recorded: the first that a scheme manages.
    pub(crate) fn shown_class(&self) -> usize {
        let managed = |class: &ClassSpec| class.scheme != ClassScheme::Nobody;
        self.classes.iter().position(managed).unwrap_or(0)
    }

    /// The congestion point of a class at an output, by that's number in the network.
    pub(crate) fn point_id(&self, port: u32, class: usize) -> PointId {
        PointId(port + class as u32 * self.links.len() as u32)
    }
}
