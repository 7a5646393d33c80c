//! Fetching beforehand what a switch's window will touch.
//!
//! Where the nodes do not fit a core's own cache, most of a window's time would be spent waiting for it, as what stands
//! at which address is known too late: a port, then its queue, then the far end's receiving port.
//!
//! * Claim: what the next switch touches is fetched while this one runs.
//! * Same bits: fetching changes no value.
//! * Bench row: t4096.
//! * Marks: none: nothing but time depends on it.

use super::Switch;
use crate::fast::wires::Wires;
use crate::net::Net;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

impl Switch {
    /// The switch is next.
    #[inline]
    pub(crate) fn expect(&self, net: &Net, wires: &Wires) {
        net.expect(self.index);
        let ports = self.ports.get(..self.linked).unwrap_or_default();
        for port in ports {
            prefetch_index(from_ref(port), 0);
            prefetch_index(from_ref(&port.departed), 0);
        }
        let first = self.inbox as usize;
        for inbox in wires.inboxes.get(first..first + self.linked).unwrap_or_default() {
            inbox.expect();
        }
        for port in ports {
            port.data.expect();
            if let Some(inbox) = wires.inboxes.get(port.peer as usize) {
                inbox.expect();
            }
        }
    }
}
