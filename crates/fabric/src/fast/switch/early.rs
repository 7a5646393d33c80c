//! Events that depend on the moment, in a window whose frames are stored already.
//!
//! [`crate::fast::sweep`] stores the frames of a calm window without order, each at its place in its queue, and *then* comes to
//! what is rare: samples that are due, probes among the data, own messages, timers, ticks, changes of rate. What has left by then is
//! found by replaying the transmitter, and what is stored but arrives later stands at the queue's end.
//!
//! * Claim: samples, probes, timers and messages do not take a window off the calm way.
//! * Same bits: each looks at one port, and what it saw at its moment follows from the times in that queue.
//! * Bench row: b07-single qcn-2pt.
//! * Marks: CaughtUp.

use super::Switch;
use crate::check::broken;
use crate::fast::bits::of_bits;
use crate::fast::frame::Entry;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Key, Kind, Packet, Switching};
use crate::net::{Net, Ps};
use cnsim_scheme_api::RampAt;

/// A frame stored ahead at whose moment its queue must be looked at: the port's countdown runs out on it, or it meets a ramp that
/// was not there when it was stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When it arrives, and by which input: the order of what is due.
    key: Key,
    port: u16,
    /// Frames stored behind it.
    frames_after: u32,
}

/// Does what is due before `end`, in order of time. All frames of the window, which began at `base`, are stored, and no
/// occupancy has come near a threshold.
#[cold]
#[inline(never)]
pub(crate) fn catch_up(switch: &mut Switch, base: Ps, end: Ps, net: &Net, wires: &mut Wires) {
    hit(Mark::CaughtUp);
    for p in of_bits(std::mem::take(&mut switch.early.ran_out), switch.linked) {
        look_ahead(switch, p, usize::MAX, base);
    }
    loop {
        let rare = switch.rare_before(end);
        match switch.early.due_looks.iter().enumerate().min_by_key(|(_, d)| d.key) {
            Some((i, &due)) if due.key < rare => {
                switch.early.due_looks.swap_remove(i);
                look(switch, due.port.into(), due.key.0, due.frames_after as usize, net, wires);
            }
            _ if rare.0 < end => {
                switch.now = rare.0;
                switch.happen(rare.1, &mut (net, &mut *wires));
            }
            _ => return,
        }
    }
}

/// At which of the last `frames` frames of its queue, of those that arrive at `from` or later, must a port be looked at? At that on
/// which its countdown runs out, and at each if some may meet a queue that a ramp marks.
#[inline]
pub(super) fn look_ahead(switch: &mut Switch, p: usize, frames: usize, from: Ps) {
    if frames == 0 {
        return;
    }
    switch.early.due_looks.retain(|d| usize::from(d.port) != p);
    let port = &switch.ports[p];
    let (mut countdown, mut due, all) = (port.countdown, None, port.queued > port.ramp_low(RampAt::Arrival));
    // From the last on, as it has run out mostly on one of the last two.
    let last = port.data.entries().iter().rev().take(frames);
    for (behind, e) in last.take_while(|e| e.ready >= from).enumerate() {
        if countdown > 0 && !all {
            break;
        }
        if e.frame.is_data() {
            countdown += i64::from(e.frame.len);
            switch.early.due_looks.extend(due.take().filter(|_| all));
            let key = (e.ready, Kind::Data, e.frame.input.into());
            due = Some(Due { key, port: p as u16, frames_after: behind as u32 });
        }
    }
    switch.early.due_looks.extend(due);
}

/// A frame has arrived that a port has stored, before `behind` others that arrive later: its ramp and its congestion point look at it.
#[inline(never)]
pub(crate) fn look(switch: &mut Switch, p: usize, now: Ps, behind: usize, net: &Net, wires: &mut Wires) {
    switch.now = now;
    switch.advance(p, now, now, net, wires);
    let port = &mut switch.ports[p];
    let to_come = port.last_of(behind);
    let Some(Entry { frame, .. }) = port.data.entries_mut().iter_mut().nth_back(behind) else {
        broken("a frame that was stored is gone")
    };
    let queued = port.queued - to_come.bytes_to_come;
    if let Some(point) = &mut port.point {
        point.pass(RampAt::Arrival, queued, frame, &mut wires.records);
    }
    if port.countdown + to_come.data_to_come as i64 <= 0 {
        let frame = *frame;
        switch.sample(p, frame, false, to_come, &mut (net, wires));
    }
}
