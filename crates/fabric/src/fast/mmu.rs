//! A switch's memory, kept so that frames of a calm window need no closer look.

use crate::check::broken;
use crate::model::{Memory, Signal};
use crate::spec::BufferSpec;

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
    /// Occupancy from which a shared cell could reach a threshold within a window, and how many are above.
    guard: u32,
    guarded: u32,
    /// The same for the pool.
    pool_guard: u64,
    /// Shared memory so small that a window could fill it: always looked at in time order.
    cramped: bool,
    /// Largest occupancy at which nothing must be looked at.
    watch: u32,
    /// The same for a frame to be stored, the cell's limit included.
    calm_cell: u32,
    /// Where an output's cells are its own, one for each input: largest queue for which they need not be kept, as none of them
    /// is larger than the queue, and nothing follows from them.
    pub(crate) small: Option<u64>,
}

impl Mmu {
    /// Empty, of a switch with so many ports, whose inputs take in no more than `margin` bytes in a window.
    pub(crate) fn new(ports: usize, spec: &BufferSpec, margin: u64) -> Self {
        let memory = Memory::new(ports, spec, true);
        let Memory { layout, limits, watermarks, .. } = &memory;
        let clip = |b: u64| b.min(u64::from(u32::MAX)) as u32;
        let private = layout.step.0 > 0;
        let all = margin.saturating_mul(ports as u64);
        let per_cell = if layout.cells == 1 { all } else { margin };
        let least = watermarks.high.min(limits.cell);
        let guard = if private { u32::MAX } else { clip(least.saturating_sub(per_cell)) };
        let watch = clip(watermarks.low).min(guard);
        let calm = watch.min(clip(limits.cell));
        Self {
            private,
            guard,
            guarded: 0,
            pool_guard: limits.pool.saturating_sub(all),
            cramped: (!private && least < per_cell) || limits.pool < all,
            watch,
            calm_cell: calm,
            small: (private && layout.step.1 > 0).then_some(calm.into()),
            off: Vec::new(),
            memory,
        }
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
            if now > self.calm_cell || pool > self.pool_guard {
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

    /// Undoes [`Mmu::store_calmly`].
    pub(crate) fn unstore_calmly(&mut self, counted: bool, output: usize, input: usize, len: u16) {
        if counted {
            let cell = self.memory.layout.cell(output, input);
            self.memory.cells[cell] -= u32::from(len);
        }
        self.memory.pool -= u64::from(len);
    }

    /// First cell of an output.
    #[inline]
    pub(crate) fn row(&self, output: usize) -> usize {
        output * self.memory.layout.step.0
    }

    /// Would freeing a frame's memory have no consequence? `row` is that of its output.
    #[inline]
    pub(crate) fn is_calm(&self, row: usize, input: usize) -> bool {
        let occupied = self.memory.cells.get(row + input * self.memory.layout.step.1);
        occupied.is_some_and(|&occupied| occupied <= self.watch)
    }

    /// Frees a frame's memory, which is `counted` in its cell or not, if that has no consequence; false if it may have one.
    #[inline(always)]
    pub(crate) fn leave_calmly(&mut self, counted: bool, row: usize, input: usize, len: u16) -> bool {
        if counted {
            let cell = row + input * self.memory.layout.step.1;
            let Some(occupied) = self.memory.cells.get_mut(cell) else { broken("no such cell") };
            if *occupied > self.watch {
                return false;
            }
            *occupied -= u32::from(len);
        }
        self.memory.pool -= u64::from(len);
        true
    }

    /// Stores an admitted frame, which is `counted` in its cell or not.
    #[inline]
    pub(crate) fn store(&mut self, counted: bool, output: usize, input: usize, len: u16) -> Change {
        if !counted {
            self.memory.pool += u64::from(len);
            return Change::None;
        }
        let cell = self.memory.layout.cell(output, input);
        let before = self.memory.cells[cell];
        let signal = self.memory.store(output, input, len);
        self.follow(cell, before, input, signal)
    }

    /// Frees a frame's memory, which is `counted` in its cell or not.
    #[inline]
    pub(crate) fn free(&mut self, counted: bool, output: usize, input: usize, len: u16) -> Change {
        if !counted {
            self.memory.pool -= u64::from(len);
            return Change::None;
        }
        let cell = self.memory.layout.cell(output, input);
        let before = self.memory.cells[cell];
        let signal = self.memory.free(output, input, len);
        self.follow(cell, before, input, signal)
    }

    /// What follows now that a cell holds other than `before`.
    #[inline]
    fn follow(&mut self, cell: usize, before: u32, input: usize, signal: Option<Signal>) -> Change {
        let (now, keeps) = (self.memory.cells[cell], self.memory.holds(cell));
        self.guarded += u32::from(now > self.guard);
        self.guarded -= u32::from(before > self.guard);
        let held = self.memory.watermarks.keep_xoff(before.into());
        match signal {
            Some(signal) => Change::Send(signal),
            None if keeps && !held && self.memory.is_off(input) => Change::Watch,
            None => Change::None,
        }
    }

    /// Can a departure at one port matter at another: an XOFF to be ended, or shared memory nearly full?
    #[inline]
    pub(crate) fn unsettled(&self) -> bool {
        self.cramped || self.memory.off_count > 0 || self.guarded > 0 || self.memory.pool > self.pool_guard
    }

    /// Does no PAUSE begin or end, and no departure at one port matter at another, while each input takes in so many bytes, and all
    /// together so many?
    pub(crate) fn stays_quiet(&self, an_input: u64, all: u64) -> bool {
        let Memory { layout, limits, watermarks, pool, .. } = &self.memory;
        // Where inputs have cells of their own, one takes in what its input does. In XOFF a cell is above the low watermark.
        let cell = pool + if layout.step.1 > 0 { an_input } else { all };
        !watermarks.keep_xoff(cell) && (self.private || cell <= limits.cell) && pool + all <= limits.pool
    }

    /// Adds to `critical` those of so many outputs whose departures can.
    pub(crate) fn find_critical(&mut self, outputs: usize, critical: &mut Vec<u16>) {
        let (memory, off) = (&self.memory, &mut self.off);
        // Cells of one output and all inputs come once.
        let inputs = if memory.layout.step.1 == 0 { 1 } else { memory.layout.inputs };
        off.clear();
        off.extend((0..inputs).filter(|&i| memory.is_off(i)));
        let all = self.cramped || !self.private || memory.pool > self.pool_guard;
        let holds = |output: usize| off.iter().any(|&i| memory.holds(memory.layout.cell(output, i)));
        critical.extend((0..outputs).filter(|&output| all || holds(output)).map(|output| output as u16));
    }
}
