//! A shared buffer near a threshold: which outputs must be in step, and what has left by the others.
//!
//! XON follows from a departure alone whose input is in XOFF, and XOFF from an arrival alone. Both are decided by what the pool holds
//! at that moment. So an output that holds no frame of an input in XOFF is brought up to date before each such decision, and not else.
//!
//! * Claim: outputs that hold nothing of an input in XOFF are out of step.
//! * Same bits: a frame whose input is not in XOFF counts as it leaves, and nothing follows. Before a decision all has been counted.
//! * Bench row: perm128-pfc, incast-pfc.
//! * Marks: Near; out: CountedOthers.

use crate::fast::bits::{bit, of_bits};
use crate::fast::frame::Step;
use crate::fast::switch::Switch;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::Net;

impl Switch {
    /// A frame from an input joins an output's queue. The output is in step from now on if the input is in XOFF.
    #[inline]
    pub(crate) fn note_holder(&mut self, out: usize, input: usize) {
        let Some(holders) = self.holders.of.get_mut(out) else { return };
        *holders |= bit(input);
        self.holders.busy |= bit(out);
        if self.mmu.memory.off_count > 0 && !self.keeps_step(out) && self.mmu.memory.is_off(input) {
            self.steps.in_step |= bit(out);
            self.steps.stale |= bit(out);
        }
    }

    /// Finds anew which outputs hold frames, and of which inputs.
    pub(super) fn find_holders(&mut self) {
        self.holders.busy = 0;
        for (p, holders) in self.holders.of.iter_mut().enumerate() {
            let entries = self.ports[p].data.entries();
            *holders = entries.iter().fold(0, |all, e| all | bit(e.frame.input.into()));
            self.holders.busy |= if entries.is_empty() { 0 } else { bit(p) };
        }
    }

    /// The outputs that may hold frames of inputs in XOFF.
    pub(super) fn holders_of_stopped(&mut self) -> u64 {
        let off =
            (0..=self.ports.len()).filter(|&i| self.mmu.memory.is_off(i)).fold(0, |all, i| all | bit(i));
        let mut all = 0;
        for (p, holders) in self.holders.of.iter_mut().enumerate() {
            if self.ports[p].data.is_empty() {
                *holders = 0;
            }
            all |= if *holders & off == 0 { 0 } else { bit(p) };
        }
        all
    }

    /// Counts what has left, before a step of a port, by outputs that are not in step.
    pub(super) fn count_others(&mut self, (step, p): (Step, usize), net: &Net, wires: &mut Wires) {
        hit(Mark::CountedOthers);
        let (at, starts) = (step / 2, step % 2 == 1);
        for q in of_bits(self.holders.busy & !self.steps.in_step, self.linked) {
            // Of one moment ports with smaller numbers come first.
            let first = u64::from(q < p);
            let (last, before) = if starts { (at, at + first) } else { ((at + first).saturating_sub(1), at) };
            let port = &mut self.ports[q];
            let at_end = !self.management.at_start;
            let sends =
                port.transmitter.sends.is_some_and(|sends| sends.end > last) && (at_end || port.has_freed());
            let plain = !port.line.needs_exact && at_end;
            if !(sends || port.data.is_empty() || plain && port.drain(q, last + 1, &mut self.mmu, wires)) {
                self.advance(q, last, before, net, wires);
            }
            // Another port may have the same bit.
            if of_bits(bit(q), self.linked).all(|p| self.ports[p].data.is_empty()) {
                self.holders.busy &= !bit(q);
            }
        }
    }
}
