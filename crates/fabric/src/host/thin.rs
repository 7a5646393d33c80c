//! A host's window where windows hold few frames.

use super::*;
use crate::wheel::PATIENCE;

impl Host {
    /// Runs the host up to `end`, which is not that of the run. A frame in transmission cannot be stopped any more, so it
    /// is put on its wire at once: where nothing waits behind it, its end needs no visit. Returns when the host must be
    /// visited next if nothing is sent to it.
    pub(crate) fn sweep_thin(&mut self, end: u64, net: &Net, wires: &mut Wires) -> u64 {
        self.sweep(end, net, wires);
        self.look_around(end, net, wires)
    }

    /// When the host must be visited next if nothing is sent to it.
    pub(crate) fn look_around(&mut self, end: u64, net: &Net, wires: &mut Wires) -> u64 {
        let alone = self.fifo.is_empty()
            && self.limiters.count == 0
            && self.control.is_empty()
            && self.probes.is_empty()
            && self.voqs.is_none();
        if let Some(frame) = &self.sending
            && !self.launched
            && alone
            && frame.kind == Kind::Data
            && self.end < net.duration
        {
            self.launched = true;
            wires.push_early(self.link.peer, self.end + self.link.delay, frame);
        }
        let mut due = if alone && self.launched { NEVER } else { self.end };
        for s in &self.sources {
            due = due.min(s.next);
        }
        due = due.min(self.timers.next()).min(self.next_tick);
        if let Some(&(at, ..)) = self.deferred.front() {
            due = due.min(at);
        }
        if self.kick {
            due = end;
        }
        let patience = if self.is_patient() { PATIENCE * net.window } else { 0 };
        for e in wires.waiting(self.inbox) {
            due = due.min(e.ready + if e.frame.kind == Kind::Data { patience } else { 0 });
        }
        due
    }

    /// May data wait here until it is convenient? Not where it is answered.
    pub(crate) fn is_patient(&self) -> bool {
        self.gate == ReflectGate::Never
    }
}
