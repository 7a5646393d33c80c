//! Frames that are stored where nothing follows from that.
//!
//! * Claim: cells of one output alone are not counted until its queue has grown long: that saves a line of the cache for each frame.
//! * Same bits: no cell is larger than its queue, and below the least that matters of a cell nothing follows from it. All bytes count.
//! * Bench row: w2; roce320.
//! * Marks: CalmWindow.

use super::{Switch, near};
use crate::fast::bodies::Bodies;
use crate::fast::frame::{Entry, Frame};
use crate::marks::{Mark, hit};
use crate::model::{Packet, To, spread};
use crate::net::{Net, Ps};
use cnsim_scheme_api::RampAt;

/// Before a frame of `len` bytes is admitted: if the queue may grow too long with it for its cells to be left
/// uncounted, they are counted from now on.
#[inline]
pub(super) fn count_cells(switch: &mut Switch, out: usize, len: u16) {
    let port = &mut switch.ports[out];
    if port.has_cells || switch.mmu.small.is_some_and(|small| port.queued + u64::from(len) <= small) {
        return;
    }
    debug_assert!(switch.mmu.small.is_some_and(|small| port.queued <= small));
    port.has_cells = true;
    for e in port.data.entries() {
        let cell = switch.mmu.memory.layout.cell(out, e.frame.input.into());
        switch.mmu.memory.enter(cell, e.frame.len);
    }
    note_calm(switch, out);
}

/// Notes anew how long a queue may grow before something follows from it: its limit, its ramp at arrival, the need to count its
/// cells.
pub(super) fn note_calm(switch: &mut Switch, out: usize) {
    let port = &mut switch.ports[out];
    let small = switch.mmu.small.filter(|_| !port.has_cells).unwrap_or(u64::MAX);
    let minded = switch.management.watchdogs.mind((out, 0), &port.transmitter.paused);
    let calm = switch.mmu.memory.calm_queue().min(port.ramp_low(RampAt::Arrival)).min(small);
    port.calm_up_to = if minded { 0 } else { calm };
}

/// Stores a data frame, or an acknowledgement among the data, that arrives at `entry.ready` without bringing its port up to date,
/// where nothing depends on that: the occupancies known are upper bounds, and as such below all thresholds. Has the port's countdown
/// run out on it? None: it is not stored, as it needs the exact way.
#[inline(always)]
pub(crate) fn store_calmly(switch: &mut Switch, out: usize, input: usize, entry: &Entry) -> Option<bool> {
    let port = &mut switch.ports[out];
    let queued = port.queued + u64::from(entry.frame.len);
    if queued > port.calm_up_to {
        return None;
    }
    if !switch.mmu.store_calmly(port.has_cells, out, input, entry.frame.len) {
        return store_near(switch, out, input, entry);
    }
    Some(port.put_calmly(entry))
}

/// The same in a shared buffer near a threshold, if nothing follows from the frame, however much has left by now.
#[inline(never)]
fn store_near(switch: &mut Switch, out: usize, input: usize, entry: &Entry) -> Option<bool> {
    if !switch.mmu.memory.store_below((out, input), entry.frame.len, switch.ports[out].queued) {
        return None;
    }
    hit(Mark::Near);
    near::note_holder(switch, out, input);
    Some(switch.ports[out].put_calmly(entry))
}

/// Takes control that arrives at `ready` to the queues of its outputs, where nothing looks at it; false where something does. It takes no
/// memory there, and the transmitter is replayed from the times of what waits.
#[inline(never)]
pub(crate) fn store_control(
    switch: &mut Switch,
    ready: Ps,
    frame: &Frame,
    net: &Net,
    bodies: &mut Bodies,
) -> bool {
    // Frames to a point take turns in order, and probes may be looked at.
    if frame.is_probe() || matches!(frame.goes_to(), To::Point(_)) {
        return false;
    }
    let way = frame.way(net, switch.index, &mut switch.management.paths);
    let outputs = way.outputs(net, switch.management.id, frame.input);
    let carry = |bodies: &mut Bodies, more: bool| bodies.carry(frame.body(), more);
    spread(outputs, bodies, carry, |out, _| switch.put_control(out, ready, frame));
    true
}
