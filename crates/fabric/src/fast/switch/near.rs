//! A shared buffer near a threshold: which outputs must be in step, and what has left by the others.
//!
//! XON follows from a departure alone whose input is in XOFF, and XOFF from an arrival alone. Both are decided by what the pool holds
//! at that moment. So an output that holds no frame of an input in XOFF is brought up to date before each such decision, and not else.
//!
//! * Claim: outputs that hold nothing of an input in XOFF are out of step.
//! * Same bits: a frame whose input is not in XOFF counts as it leaves, and nothing follows. Before a decision all has been counted.
//! * Bench row: perm128-pfc, incast-pfc.
//! * Marks: Near; out: CountedOthers.

use super::Switch;
use crate::fast::bits::{bit, of_bits};
use crate::fast::order::Step;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::{Net, Ps};

/// A frame from an input joins an output's queue. The output is in step from now on if the input is in XOFF.
#[inline]
pub(crate) fn note_holder(switch: &mut Switch, out: usize, input: usize) {
    let Some(holders) = switch.holders.of.get_mut(out) else { return };
    *holders |= bit(input);
    switch.holders.busy |= bit(out);
    if switch.mmu.memory.off_count > 0 && !switch.keeps_step(out) && switch.mmu.memory.is_off(input) {
        switch.steps.in_step |= bit(out);
        switch.steps.stale |= bit(out);
    }
}

/// Finds anew which outputs hold frames, and of which inputs.
pub(crate) fn find_holders(switch: &mut Switch) {
    switch.holders.busy = 0;
    for (p, holders) in switch.holders.of.iter_mut().enumerate() {
        let entries = switch.ports[p].data.entries();
        *holders = entries.iter().fold(0, |all, e| all | bit(e.frame.input.into()));
        switch.holders.busy |= if entries.is_empty() { 0 } else { bit(p) };
    }
}

/// The outputs that may hold frames of inputs in XOFF.
pub(crate) fn holders_of_stopped(switch: &mut Switch) -> u64 {
    let off = (0..=switch.ports.len()).filter(|&i| switch.mmu.memory.is_off(i)).fold(0, |of, i| of | bit(i));
    let mut all = 0;
    for (p, holders) in switch.holders.of.iter_mut().enumerate() {
        if switch.ports[p].data.is_empty() {
            *holders = 0;
        }
        all |= if *holders & off == 0 { 0 } else { bit(p) };
    }
    all
}

/// Counts what has left, before a step of a port, by outputs that are not in step.
pub(crate) fn count_others(switch: &mut Switch, (step, p): (Step, usize), net: &Net, wires: &mut Wires) {
    hit(Mark::CountedOthers);
    let (at, starts) = (Ps(step / 2), step % 2 == 1);
    for q in of_bits(switch.holders.busy & !switch.steps.in_step, switch.linked) {
        // Of one moment ports with smaller numbers come first.
        let first = Ps((q < p).into());
        let (last, before) = if starts { (at, at + first) } else { ((at + first).saturating_sub(Ps(1)), at) };
        let port = &mut switch.ports[q];
        let at_end = !switch.management.at_start;
        let sends = port.transmitter.sends.is_some_and(|s| s.end > last) && (at_end || port.has_freed());
        let plain = !port.line.needs_exact && at_end;
        if !(sends || port.data.is_empty() || plain && port.drain(q, last + Ps(1), &mut switch.mmu, wires)) {
            switch.advance(q, last, before, net, wires);
        }
        // Another port may have the same bit.
        if of_bits(bit(q), switch.linked).all(|p| switch.ports[p].data.is_empty()) {
            switch.holders.busy &= !bit(q);
        }
    }
}
