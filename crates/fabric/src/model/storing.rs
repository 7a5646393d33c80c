//! The order in which a frame meets an output: the memory admits it or not, it is queued or lost, and then the congestion point looks.
//!
//! Both ways to run call it. They differ in how they keep a queue, and in when they look at it.

use super::agenda::Moment;
use super::management::Management;
use super::memory::{Loss, Memory, Refusal};
use super::packet::Packet;
use super::pause::Paused;
use super::watchdog::Watchdogs;
use crate::outcome::PortOutcome;
use crate::spec::WatchdogAction;

/// A frame at the output where it is to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The memory of its class.
    pub(crate) memory: &'a Memory,
    /// Bytes queued for its output in that class.
    pub(crate) queued: u64,
    /// Where it came in.
    pub(crate) input: u16,
    pub(crate) len: u16,
}

/// A switch that stores frames in a run of `'n`; `C` is what its acts need besides.
pub(crate) trait Storing<'n, C> {
    /// A frame, as it keeps them.
    type Frame: Packet;
    /// The moment.
    fn moment(&self, with: &C) -> Moment<'n>;
    /// The class of a frame that waits among data.
    fn class(frame: &Self::Frame) -> usize;
    /// Where a frame is to wait.
    fn place(&self, out: usize, frame: &Self::Frame) -> Place<'_>;
    /// Its watchdogs, and the XOFF of a class at an output.
    fn watched(&mut self, at: (usize, usize)) -> (&mut Watchdogs, &mut Paused);
    /// Brings an output up to this moment: does a frame of the class wait there?
    fn waits(&mut self, at: (usize, usize), with: &mut C) -> bool;
    /// Takes the first frame that waits, and frees its memory.
    fn take_waiting(&mut self, at: (usize, usize), with: &mut C) -> Option<Self::Frame>;
    /// A watchdog has looked at an output: a storm begins or ends there (`turns`), and what waits may go on.
    fn seen(&mut self, at: (usize, usize), turns: bool, with: &mut C);
    /// Its watchdogs, and what is written down of it and of an output.
    fn books(&mut self, out: usize) -> (&mut Watchdogs, &mut Management, &mut PortOutcome);
    /// A frame is gone, with what it carried.
    fn forget(frame: &Self::Frame, with: &mut C);
    /// Puts an admitted frame into its queue, where a ramp may mark it.
    fn enqueue(&mut self, out: usize, frame: &mut Self::Frame, with: &mut C);
    /// The congestion point counts a frame, which is the last of its queue unless it is `dropped`, and may look at it.
    fn look(&mut self, out: usize, frame: &Self::Frame, dropped: bool, with: &mut C);

    /// A frame for an output's queue of data: it is stored or lost, and the congestion point may look at it.
    fn store(&mut self, out: usize, mut frame: Self::Frame, with: &mut C) {
        let Place { memory, queued, input, len } = self.place(out, &frame);
        let full = memory.admits(out, input.into(), len, queued).err();
        let full = full.map(|why| (why, memory.is_lossless()));
        let barred = self.books(out).0.act((out, Self::class(&frame)), WatchdogAction::Drop);
        let refused = if barred { Some((Refusal::Watchdog, false)) } else { full };
        match refused {
            None => self.enqueue(out, &mut frame, with),
            Some(why) => self.lose(out, &frame, why, with),
        }
        self.look(out, &frame, refused.is_some(), with);
    }

    /// Counts a frame that is not admitted, or dropped.
    fn lose(&mut self, out: usize, frame: &Self::Frame, why: Loss, with: &mut C) {
        let (data, now) = (frame.header(), self.moment(with));
        let (watchdogs, management, result) = self.books(out);
        if why.0 == Refusal::Watchdog && data.is_some() {
            watchdogs.drop_one((out, Self::class(frame)));
        }
        management.refuse(out, data.as_ref(), why, result, now);
        Self::forget(frame, with);
    }

    /// Watchdogs look at their outputs.
    fn watch(&mut self, with: &mut C) {
        let now = self.moment(with).now;
        let mut from = 0;
        while let Some((at, polls, behind)) = self.watched((0, 0)).0.due(from, now) {
            from = behind;
            let waits = self.waits(at, with);
            self.watch_one(at, (waits, polls), with);
        }
    }

    /// A watchdog looks at a class of an output that is up to date, and does what follows.
    fn watch_one(&mut self, at: (usize, usize), seen: (bool, bool), with: &mut C) {
        let now = self.moment(with).now;
        let (watchdogs, paused) = self.watched(at);
        let turns = watchdogs.look(at, paused, seen, now);
        self.seen(at, turns, with);
        while turns && self.watched(at).0.act(at, WatchdogAction::Drop) {
            let Some(frame) = self.take_waiting(at, with) else { break };
            self.lose(at.0, &frame, (Refusal::Watchdog, false), with);
        }
    }
}
