//! What depends on the moment, in a window whose frames are stored already.
//!
//! [`crate::fast::sweep`] stores the frames of a calm window without order, each at its place in its queue, and *then* comes to
//! what is rare: samples that are due, probes among the data, own messages, timers, ticks, changes of rate. Each looks at
//! one port, and what it needs of the port at its moment follows from the queue: what has left by then is found by replaying
//! the transmitter, and what is stored but arrives later stands at the queue's end.
//!
//! * Claim: samples, probes, timers and messages do not take a window off the calm way.
//! * Same bits: each looks at one port, and what it saw at its moment follows from the times in that queue.
//! * Bench row: b07-single qcn-2pt.
//! * Marks: CaughtUp.

use super::Switch;
use super::port::Port;
use crate::check::broken;
use crate::fast::frame::{AFTER, Entry, Key, order};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::Net;
use cnsim_scheme_api::RampAt;

/// Why a queue must be looked at when a frame that is stored ahead arrives. In this order, if for both reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// The queue may be longer with it than ever.
    Peak,
    /// The port's countdown runs out on it.
    Sample,
}

/// A frame stored ahead at whose moment its queue must be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When it arrives, ps.
    at: u64,
    /// Its input and the reason: the order of what is due at one moment.
    input: u16,
    why: Why,
    port: u16,
    /// Frames stored behind it.
    frames_after: u32,
}

impl Due {
    #[inline(always)]
    fn new(e: &Entry, why: Why, port: usize, behind: usize) -> Self {
        Self { at: e.ready, input: e.frame.input, why, port: port as u16, frames_after: behind as u32 }
    }
    fn is(&self, port: usize, why: Why) -> bool {
        usize::from(self.port) == port && self.why == why
    }
    fn key(&self) -> Key {
        (self.at, order::DATA, self.input.into())
    }
}

/// How a frame was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// Without consequence.
    Calmly,
    /// The same, but the port's countdown has run out.
    AndDue,
    /// Not: it needs the exact way.
    Not,
}

impl Port {
    /// Does data alone say when what leaves, and is nothing but the queue's largest length to be found when a frame arrives?
    fn is_plain(&self) -> bool {
        !(self.needs_exact | self.has_control_or_stamp) && self.ramp().is_none_or(|r| r.at != RampAt::Arrival)
    }

    /// Finds the largest length of a plain port's queue when one of its last `frames` frames arrived.
    fn rise(&mut self, frames: usize) {
        let all = self.data.entries();
        let last = &all[all.len().saturating_sub(frames)..];
        let mut queued = self.queued - last.iter().map(|e| u64::from(e.frame.len)).sum::<u64>();
        // The first that has not left, and when it does.
        let mut first = all.iter();
        let end = |e: &Entry, free: u64| e.ready.max(free) + self.service.time(e.frame.len);
        let mut leaving = first.next();
        let mut leaves = leaving.map_or(AFTER, |e| end(e, self.idle_from));
        for e in last {
            while leaves <= e.ready {
                queued -= leaving.map_or(0, |e| u64::from(e.frame.len));
                leaving = first.next();
                leaves = leaving.map_or(AFTER, |e| end(e, leaves));
            }
            queued += u64::from(e.frame.len);
            self.queue_max = self.queue_max.max(queued);
        }
    }
}

impl Switch {
    /// Does what is due before `end`, in order of time. All frames of the window, which began at `base`, are stored, and no
    /// occupancy has come near a threshold.
    #[cold]
    #[inline(never)]
    pub(crate) fn catch_up(&mut self, base: u64, end: u64, net: &Net, wires: &mut Wires) {
        hit(Mark::CaughtUp);
        for i in 0..self.ran_out.len() {
            let p = usize::from(self.ran_out[i]);
            self.look_for_sample(p, usize::MAX, base);
        }
        self.ran_out.clear();
        // Nothing can come between the frames of the window.
        let alone = self.rare.0 >= end && self.due_looks.is_empty();
        while let Some(p) = self.higher.pop() {
            let p = usize::from(p);
            let frames = self.ports[p].later(base).frames_after;
            if alone && self.ports[p].is_plain() {
                self.ports[p].rise(frames);
                self.note_calm(p);
            } else {
                self.look_for_peaks(p, frames);
            }
        }
        loop {
            let rare = self.rare_before(end);
            match self.due_looks.iter().enumerate().min_by_key(|(_, d)| (d.at, d.input, d.why)) {
                Some((i, &due)) if due.key() < rare => {
                    self.due_looks.swap_remove(i);
                    let (p, now, behind) = (usize::from(due.port), due.at, due.frames_after as usize);
                    match due.why {
                        Why::Peak => self.measure(p, now, behind, wires),
                        Why::Sample => self.sample_stored(p, now, behind, net, wires),
                    }
                }
                _ if rare.0 < end => self.execute(rare, net, wires),
                _ => return,
            }
        }
    }

    /// The queue is to be measured when each of the last `frames` frames of it arrives.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_peaks(&mut self, p: usize, frames: usize) {
        self.due_looks.retain(|d| !d.is(p, Why::Peak));
        let all = self.ports[p].data.entries();
        for (behind, e) in all.iter().rev().take(frames).enumerate() {
            self.due_looks.push(Due::new(e, Why::Peak, p, behind));
        }
    }

    /// A frame has arrived that its queue has stored, before `behind` others that arrive later: what follows from its length.
    fn measure(&mut self, p: usize, now: u64, behind: usize, wires: &mut Wires) {
        self.now = now;
        self.touch(p, now, wires);
        let port = &mut self.ports[p];
        let queued = port.queued - port.last_of(behind).bytes_to_come;
        port.queue_max = port.queue_max.max(queued);
        if port.data.last_but_mut(behind).is_some_and(|e| e.frame.is_data())
            && port.marks_arrival(queued)
            && let Some(e) = port.data.last_but_mut(behind)
        {
            e.frame.set_marked(true);
        }
        self.note_calm(p);
    }

    /// Notes that a port's countdown has run out on a frame that was stored ahead.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_ran_out(&mut self, p: usize) {
        if self.ran_out.last() != Some(&(p as u16)) && !self.ran_out.contains(&(p as u16)) {
            self.ran_out.push(p as u16);
        }
    }

    /// On which of the last `frames` frames of its queue, of those that arrive at `from` or later, does a port's countdown run
    /// out, if on one?
    #[inline]
    pub(super) fn look_for_sample(&mut self, p: usize, frames: usize, from: u64) {
        if frames == 0 {
            return;
        }
        if !self.due_looks.is_empty() {
            self.due_looks.retain(|d| !d.is(p, Why::Sample));
        }
        let port = &self.ports[p];
        let (mut countdown, mut due) = (port.countdown, None);
        // From the last on, as it has run out mostly on one of the last two.
        let last = port.data.entries().iter().rev().take(frames);
        for (behind, e) in last.take_while(|e| e.ready >= from).enumerate() {
            if countdown > 0 {
                break;
            }
            if e.frame.is_data() {
                countdown += i64::from(e.frame.len);
                due = Some(Due::new(e, Why::Sample, p, behind));
            }
        }
        self.due_looks.extend(due);
    }

    /// The gate of a port fired on a frame that it has stored, before `behind` others that arrive later.
    #[inline(never)]
    pub(crate) fn sample_stored(&mut self, p: usize, now: u64, behind: usize, net: &Net, wires: &mut Wires) {
        self.now = now;
        self.touch(p, now, wires);
        let to_come = self.ports[p].last_of(behind);
        let Some(&Entry { frame, .. }) = self.ports[p].data.last_but_mut(behind).map(|e| &*e) else {
            broken("a frame that was stored is gone")
        };
        self.sample(p, frame, false, to_come, net);
    }
}
