//! The order in which a frame meets an output: the memory admits it or not, it is queued or lost, and then the congestion point looks.
//!
//! Both ways to run call it. They differ in how they keep a queue, and in when they look at it.

use super::memory::{Memory, Refusal};

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

/// Why a frame is lost, and whether PAUSE was to prevent that the memory is full.
pub(crate) type Loss = (Refusal, bool);

/// A switch that stores frames; `C` is what its acts need besides.
pub(crate) trait Storing<C> {
    /// A frame, as it keeps them.
    type Frame;
    /// Where a frame is to wait.
    fn place(&self, out: usize, frame: &Self::Frame) -> Place<'_>;
    /// Does an output take no frames of this one's class, whatever room there is?
    fn bars(&self, _out: usize, _frame: &Self::Frame) -> bool {
        false
    }
    /// Puts an admitted frame into its queue, where a ramp may mark it.
    fn enqueue(&mut self, out: usize, frame: &mut Self::Frame, with: &mut C);
    /// Counts a frame that is not admitted.
    fn lose(&mut self, out: usize, frame: &Self::Frame, why: Loss, with: &mut C);
    /// The congestion point counts a frame, which is the last of its queue unless it is `dropped`, and may look at it.
    fn look(&mut self, out: usize, frame: &Self::Frame, dropped: bool, with: &mut C);

    /// A frame for an output's queue of data: it is stored or lost, and the congestion point may look at it.
    fn store(&mut self, out: usize, mut frame: Self::Frame, with: &mut C) {
        let Place { memory, queued, input, len } = self.place(out, &frame);
        let refused = if self.bars(out, &frame) {
            Some((Refusal::Watchdog, false))
        } else {
            memory.admits(out, input.into(), len, queued).err().map(|why| (why, memory.is_lossless()))
        };
        match refused {
            None => self.enqueue(out, &mut frame, with),
            Some(why) => self.lose(out, &frame, why, with),
        }
        self.look(out, &frame, refused.is_some(), with);
    }
}
