//! A switch's memory, kept so that frames of a calm window need no closer look.

use crate::check::broken;
use crate::model::{Memory, Signal};

/// A bound above all occupancies, and one below.
const ALWAYS: (u32, i64) = (u32::MAX, i64::MAX);
const NEVER: (u32, i64) = (0, -1);

/// What follows from a change of occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// One cell more keeps a domain in XOFF.
    Watch,
    /// A domain enters or leaves XOFF.
    Send(Signal),
}

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
    /// Where an output's cells are its own, one for each input: largest queue for which they need not be kept, as none of them
    /// is larger than the queue, and nothing follows from them.
    pub(crate) small: Option<u64>,
}

impl Mmu {
    /// Around a memory whose inputs take in no more than `margin` bytes in a window.
    pub(crate) fn new(memory: Memory, margin: u64) -> Self {
        let layout = &memory.layout;
        let private = layout.step.0 > 0;
        let calm = memory.calm_cell().min(u64::from(u32::MAX)) as u32;
        let small = (private && layout.step.1 > 0).then_some(calm.into());
        let (calm, roomy) = if memory.is_shared() { NEVER } else { (calm, memory.calm_pool(margin)) };
        Self { private, roomy, calm, small, quiet_up_to: 0, off: Vec::new(), memory }
    }

    /// Of a shared buffer: are its cells all that counts, and frames stored and freed calmly, while its inputs take in `more` bytes each
    /// at most, and no queue comes to more than `queued`? If not, all outputs are in step.
    pub(crate) fn note_quiet(&mut self, more: &[u64], queued: u64) -> bool {
        let quiet = self.memory.note_quiet(more, queued);
        (self.calm, self.roomy) = if quiet { ALWAYS } else { NEVER };
        self.quiet_up_to = self.memory.quiet_up_to();
        quiet
    }

    /// Of a shared buffer: is it quiet, and stays so while its inputs take in so many bytes together?
    pub(crate) fn has_room(&self, more: u64) -> bool {
        self.memory.pool + more <= self.quiet_up_to
    }

    /// Is it a shared buffer of which only the bytes of its inputs are kept, as bounds?
    pub(crate) fn is_quiet(&self) -> bool {
        self.memory.is_quiet()
    }

    /// Stores a frame of `len` bytes, which is `counted` in its cell or not, if that can have no consequence; false if it may have
    /// one.
    #[inline(always)]
    pub(crate) fn store_calmly(&mut self, counted: bool, output: usize, input: usize, len: u16) -> bool {
        let pool = self.memory.pool + u64::from(len);
        if counted {
            let cell = self.memory.layout.cell(output, input);
            let Some(occupied) = self.memory.cells.get_mut(cell) else { broken("no such cell") };
            let now = *occupied + u32::from(len);
            if now > self.calm || pool as i64 > self.roomy {
                return false;
            }
            *occupied = now;
        }
        self.memory.pool = pool;
        true
    }

    /// Takes a frame that is stored uncounted into its cell.
    pub(crate) fn count(&mut self, output: usize, input: usize, len: u16) {
        let cell = self.memory.layout.cell(output, input);
        self.memory.cells[cell] += u32::from(len);
    }

    /// First cell of an output.
    #[inline]
    pub(crate) fn row(&self, output: usize) -> usize {
        self.memory.layout.row(output)
    }

    /// Would freeing a frame's memory have no consequence? `row` is that of its output.
    #[inline]
    pub(crate) fn is_calm(&self, row: usize, input: usize) -> bool {
        let occupied = self.memory.cells.get(self.memory.layout.cell_of(row, input));
        occupied.is_some_and(|&occupied| occupied <= self.calm)
    }

    /// Frees a frame's memory, which is `counted` in its cell or not, if that has no consequence; false if it may have one.
    #[inline(always)]
    pub(crate) fn leave_calmly(&mut self, counted: bool, row: usize, input: usize, len: u16) -> bool {
        if counted {
            let cell = self.memory.layout.cell_of(row, input);
            let Some(occupied) = self.memory.cells.get_mut(cell) else { broken("no such cell") };
            if *occupied > self.calm {
                return false;
            }
            *occupied -= u32::from(len);
        }
        self.memory.pool -= u64::from(len);
        true
    }

    /// The bytes of an admitted frame come, or those of one that has left go: [`Memory::change`]. They are `counted` in its cell or
    /// not.
    #[inline]
    pub(crate) fn change(&mut self, counted: bool, output: usize, input: usize, by: i32) -> Change {
        if !counted {
            self.memory.pool = self.memory.pool.wrapping_add_signed(by.into());
            return Change::None;
        }
        let cell = self.memory.layout.cell(output, input);
        let held = self.memory.holds(cell);
        match self.memory.change(output, input, by) {
            Some(signal) => Change::Send(signal),
            None if self.memory.is_shared() => Change::None,
            None if self.memory.holds(cell) && !held && self.memory.is_off(input) => Change::Watch,
            None => Change::None,
        }
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

    /// Those of so many outputs whose departures can.
    pub(crate) fn critical(&mut self, outputs: usize) -> impl Iterator<Item = usize> {
        let memory = &self.memory;
        // Cells of one output and all inputs come once.
        let inputs = if memory.layout.step.1 > 0 { memory.layout.inputs } else { 1 };
        self.off.clear();
        self.off.extend((0..inputs).filter(|&i| memory.is_off(i)));
        let (all, off) = (!self.private || self.is_crowded(), &self.off);
        let holds = move |output: usize| off.iter().any(|&i| memory.holds(memory.layout.cell(output, i)));
        (0..outputs).filter(move |&output| all || holds(output))
    }
}
