//! A host where windows hold few frames.
//!
//! * Claim: a host is visited when it has something to do, and may leave what it received for a while.
//! * Same bits: the books of a delivery depend on its time, not on when they are done.
//! * Bench row: sparse.
//! * Marks: ThinWindow.

use super::Host;
use crate::fast::wheel::PATIENCE;
use crate::fast::wires::Wires;
use crate::net::Net;
use cnsim_scheme_api::ReflectGate;

impl Host {
    /// Runs the host up to `end`, which is not that of the run. Returns when it must be visited next if nothing is sent to it.
    pub(crate) fn sweep_thin(&mut self, end: u64, net: &Net, wires: &mut Wires) -> u64 {
        self.sweep(end, net, wires);
        self.look_around(net, wires)
    }

    /// When the host must be visited next if nothing is sent to it.
    #[inline(always)]
    pub(crate) fn look_around(&self, net: &Net, wires: &Wires) -> u64 {
        let mut due = if self.due > 0 { self.due } else { self.next_own().0 };
        if self.alarmed {
            due = due.min(self.alarms.next);
        }
        if let Some(inbox) = wires.inboxes.get(self.inbox as usize)
            && inbox.front().is_some()
        {
            let patience = if self.is_patient() { PATIENCE * net.lead } else { 0 };
            for e in inbox.entries() {
                due = due.min(e.ready + if e.frame.is_data() { patience } else { 0 });
            }
        }
        due
    }

    /// May data wait here until it is convenient? Not where it is answered.
    pub(crate) fn is_patient(&self) -> bool {
        self.gate == ReflectGate::Never
    }
}
