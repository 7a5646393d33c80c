//! Recording at a switch, and the end of a run.

use super::Switch;
use super::port::Port;
use crate::check::{Ledger, Stopped, SwitchBooks};
use crate::fast::frame::Ring;
use crate::fast::wires::Wires;
use crate::net::Net;
use crate::outcome::SwitchOutcome;
use cnsim_scheme_api::Time;

impl Port {
    /// What waits there for good, if data does and cannot leave.
    fn stopped(&self, number: usize) -> Option<Stopped> {
        let data = self.data.entries().iter().filter(|e| e.frame.is_data());
        let halted = self.paused.is_off() || self.service.stopped();
        halted.then(|| Stopped::new(number, self.paused.is_off(), data.map(|e| e.frame.input)))?
    }
}

impl Switch {
    pub(super) fn tick(&mut self, net: &Net, wires: &mut Wires) {
        self.management.tick(net);
        self.note_rare();
        for i in 0..self.management.recorded.len() {
            let p = usize::from(self.management.recorded[i].port);
            // Starts at this very moment do not change a queue's length, so advancing up to them is enough.
            self.touch(p, self.now, wires);
            let port = &mut self.ports[p];
            let later = port.later(self.now + 1);
            let sent_bits = port.sent_bits();
            self.management.recorded[i].take(
                port.queued - later.bytes_to_come,
                &mut port.queue_max,
                sent_bits,
            );
            self.note_calm(p);
            // Frames that are stored ahead may bring a new largest length.
            self.look_for_peaks(p, later.frames_after);
        }
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.frames_departed + p.out.control_sent).sum()
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> SwitchBooks {
        let (mut inside, mut outcome) = (Ledger::default(), SwitchOutcome::default());
        let mut stopped = Vec::new();
        for (i, p) in self.ports.iter_mut().enumerate() {
            stopped.extend(p.stopped(i));
            p.out.paused = Time::from_ps(p.paused.total(net.duration));
            let mut parts = Vec::new();
            std::mem::take(&mut p.paused).pour(net.duration, &mut parts);
            outcome.paused_by_part.push(parts);
            (p.out.sent, p.out.sent_bits, p.out.queue_max) =
                (p.frames_departed - p.sent_in_band(), p.sent_bits(), p.queue_max);
            p.out.control_sent += p.sent_in_band();
            p.data.entries().iter().filter(|e| e.frame.is_data()).for_each(|e| inside.add(&e.frame));
            // All has been counted: its memory serves for the results.
            p.data = Ring::default();
        }
        let queued: Vec<u64> = self.ports.iter().map(|p| p.queued).collect();
        // Copied, as a list made of the ports in place would keep all their memory.
        outcome.ports = self.ports.iter().map(|p| p.out.clone()).collect();
        self.management.close(outcome, &queued, stopped, inside, net)
    }
}
