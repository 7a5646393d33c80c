//! A switch's memory, kept so that frames of a calm window need no closer look.

use crate::model::{Memory, Signal};

#[derive(Debug, Default)]
pub(crate) struct Mmu {
    pub(crate) memory: Memory,
    /// Inputs in XOFF, when that was last looked at.
    off: Vec<usize>,
    /// Each cell is emptied by one output port only.
    private: bool,
    /// [`Memory::calm_pool`] of a window.
    roomy: i64,
    /// Largest occupancy of a cell at which nothing must be looked at as bytes come or go.
    calm: u32,
    /// [`Memory::quiet_up_to`].
    quiet_up_to: u64,
    /// Where an output's cells are its own: largest queue for which they need not be kept, as none of them is larger than the queue, and
    /// nothing follows from them.
    pub(crate) small: Option<u64>,
}

impl Mmu {
    /// Around a memory whose inputs take in no more than `margin` bytes in a window.
    pub(crate) fn new(memory: Memory, margin: u64) -> Self {
        let layout = &memory.layout;
        let private = layout.step.0 > 0 && !memory.is_shared();
        let calm = memory.calm_cell().min(u64::from(u32::MAX)) as u32;
        let small = private.then_some(calm.into());
        let (calm, roomy) = if memory.is_shared() { (0, i64::MAX) } else { (calm, memory.calm_pool(margin)) };
        Self { private, roomy, calm, small, quiet_up_to: 0, off: Vec::new(), memory }
    }

    /// Of a shared buffer: are its cells all that counts, and frames stored and freed calmly, while its inputs take in `more` bytes each
    /// at most, and no queue comes to more than `queued`?
    pub(crate) fn note_quiet(&mut self, more: &[u64], queued: u64) -> bool {
        let quiet = self.memory.note_quiet(more, queued);
        self.calm = if quiet { u32::MAX } else { 0 };
        self.quiet_up_to = self.memory.quiet_up_to();
        quiet
    }

    /// Of a shared buffer: is it quiet, and stays so while its inputs take in so many bytes together?
    pub(crate) fn has_room(&self, more: u64) -> bool {
        self.memory.pool + more <= self.quiet_up_to
    }

    /// Stores a frame of `len` bytes, which is `counted` in its cell or not, if that can have no consequence; false if it may have
    /// one.
    #[inline(always)]
    pub(crate) fn store_calmly(&mut self, counted: bool, output: usize, input: usize, len: u16) -> bool {
        let cell = counted.then(|| self.memory.layout.cell(output, input));
        let roomy = self.memory.pool as i64 + i64::from(len) <= self.roomy;
        roomy && self.memory.shift::<true>(cell, len.into(), self.calm)
    }

    /// Takes a frame back that had left.
    pub(crate) fn take_back(&mut self, counted: bool, output: usize, input: usize, len: u16) {
        let cell = counted.then(|| self.memory.layout.cell(output, input));
        self.memory.shift::<true>(cell, len.into(), u32::MAX);
    }

    /// First cell of an output.
    #[inline]
    pub(crate) fn row(&self, output: usize) -> usize {
        self.memory.layout.row(output)
    }

    /// Would freeing a frame's memory have no consequence? `row` is that of its output.
    #[inline]
    pub(crate) fn is_calm(&self, row: usize, input: usize) -> bool {
        let occupied = self.memory.cell(self.memory.layout.cell_of(row, input));
        occupied.is_some_and(|occupied| occupied <= self.calm)
    }

    /// Frees a frame's memory, which is `counted` in its cell or not, if that has no consequence; false if it may have one.
    #[inline(always)]
    pub(crate) fn leave_calmly(&mut self, counted: bool, row: usize, input: usize, len: u16) -> bool {
        let cell = counted.then(|| self.memory.layout.cell_of(row, input));
        self.memory.shift::<false>(cell, -i32::from(len), self.calm)
    }

    /// The bytes of an admitted frame come, or those of one that has left go: [`Memory::change`]. They are `counted` in its cell or
    /// not. What is signalled, if anything; none as well if nothing else follows.
    #[inline]
    pub(crate) fn change(
        &mut self,
        counted: bool,
        output: usize,
        input: usize,
        by: i32,
    ) -> Option<Option<Signal>> {
        if !counted {
            self.memory.shift::<true>(None, by, u32::MAX);
            return None;
        }
        let cell = self.memory.layout.cell(output, input);
        if self.memory.is_shared() {
            return self.memory.change(output, input, by).map(Some);
        }
        let held = self.memory.holds(cell);
        let signal = self.memory.change(output, input, by);
        // One cell more may keep its domain in XOFF.
        let one_more = self.memory.holds(cell) && !held && self.memory.is_off(input);
        (signal.is_some() || one_more).then_some(signal)
    }

    /// Can a departure at one port matter at another, as memory that they share is nearly full?
    fn is_crowded(&self) -> bool {
        self.memory.pool as i64 > self.roomy
    }

    /// Can a departure at one port matter at another: an XOFF to be ended, or shared memory nearly full?
    #[inline]
    pub(crate) fn unsettled(&self) -> bool {
        self.memory.off_count > 0 || self.is_crowded()
    }

    /// Outputs, of so many, whose departures can end an XOFF. Of a shared buffer that depends on what they hold.
    pub(crate) fn critical(&mut self, outputs: usize) -> impl Iterator<Item = usize> {
        let memory = &self.memory;
        // Cells of one output and all inputs come once.
        let inputs = if memory.layout.step.1 > 0 { memory.layout.inputs } else { 1 };
        let all = !self.private || self.is_crowded();
        self.off.clear();
        self.off.extend((0..if all { 0 } else { inputs }).filter(|&i| memory.is_off(i)));
        let off = &self.off;
        let holds = move |output: usize| off.iter().any(|&i| memory.holds(memory.layout.cell(output, i)));
        (0..outputs).filter(move |&output| all || holds(output))
    }
}
