//! A switch's memory for a class of data: what is admitted, where it is counted, and the PAUSE that follows.
//!
//! Every organisation is one table of *cells*. A crosspoint memory has a cell for each pair of output and input. Input partitions
//! are a cell for each input. Shared memory has a cell for each output, or a single one; only the pool's size bounds it.

use super::pause::{Domains, Signal, Watermarks};
use crate::spec::{BufferSpec, Organisation};

/// Why a frame is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its cell, or the pool, is full.
    Partition,
    /// Its output's queue has reached its limit.
    OutputLimit,
}

/// Where a frame counts, and which inputs are in XOFF together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    /// The cell of a frame is `output * step.0 + input * step.1`.
    pub(crate) step: (usize, usize),
    pub(crate) cells: usize,
    /// One more than the ports: it stands for the switch's own messages.
    pub(crate) inputs: usize,
    /// Domains of PAUSE: one for each input, or one for all.
    pub(crate) domains: usize,
}

impl Layout {
    /// That of a switch with so many ports.
    pub(crate) fn new(ports: usize, spec: &BufferSpec) -> Self {
        let inputs = ports + 1;
        let shared = spec.organisation == Organisation::SharedOutput;
        let one_cell = shared && spec.pause.is_some_and(|p| p.pool);
        let (step, cells) = match spec.organisation {
            Organisation::Crosspoint => ((inputs, 1), ports * inputs),
            Organisation::Input => ((0, 1), inputs),
            Organisation::SharedOutput if one_cell => ((0, 0), 1),
            Organisation::SharedOutput => ((1, 0), ports),
        };
        let one_domain = shared || spec.pause.is_some_and(|p| p.global);
        Self { step, cells, inputs, domains: if one_domain { 1 } else { inputs } }
    }
    /// The cell of a frame.
    #[inline]
    pub(crate) fn cell(&self, output: usize, input: usize) -> usize {
        output * self.step.0 + input * self.step.1
    }
    /// The domain of an input.
    #[inline]
    pub(crate) fn domain(&self, input: usize) -> usize {
        if self.domains == 1 { 0 } else { input }
    }
}

/// Most bytes that each may hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) cell: u64,
    pub(crate) pool: u64,
    pub(crate) output: u64,
}

impl Limits {
    /// Those of a switch with so many ports.
    pub(crate) fn new(ports: usize, spec: &BufferSpec) -> Self {
        let share = spec.share.get();
        let shared = spec.organisation == Organisation::SharedOutput;
        Self {
            cell: if shared { u64::MAX } else { share },
            pool: if shared { share.saturating_mul(ports as u64) } else { u64::MAX },
            output: spec.output_limit.map_or(u64::MAX, |l| l.get()),
        }
    }
    /// May a frame of `len` bytes be stored, with so many bytes queued for its output, in its cell, and in all?
    pub(crate) fn admit(&self, len: u16, queued: u64, cell: u64, pool: u64) -> Result<(), Refusal> {
        let len = u64::from(len);
        if queued + len > self.output {
            return Err(Refusal::OutputLimit);
        }
        if cell + len > self.cell || pool + len > self.pool {
            return Err(Refusal::Partition);
        }
        Ok(())
    }
}

/// The memory of a class at a switch.
#[derive(Debug)]
pub(crate) struct Memory {
    layout: Layout,
    /// Bytes in each cell.
    cells: Vec<u64>,
    /// Bytes in all of them.
    pool: u64,
    limits: Limits,
    watermarks: Watermarks,
    domains: Domains,
}

impl Memory {
    /// Empty, of a switch with so many ports; `pauses`: the class has PAUSE, if the switch has it.
    pub(crate) fn new(ports: usize, spec: &BufferSpec, pauses: bool) -> Self {
        let layout = Layout::new(ports, spec);
        Self {
            cells: vec![0; layout.cells],
            pool: 0,
            limits: Limits::new(ports, spec),
            watermarks: Watermarks::new(spec.pause.as_ref().filter(|_| pauses)),
            domains: Domains::new(layout.domains),
            layout,
        }
    }

    /// Does it send PAUSE before it is full, so that nothing may be lost for want of a cell's space?
    pub(crate) fn is_lossless(&self) -> bool {
        self.watermarks.are_on()
    }

    /// May a frame be stored, with so many bytes queued for its output?
    pub(crate) fn admits(&self, output: usize, input: usize, len: u16, queued: u64) -> Result<(), Refusal> {
        self.limits.admit(len, queued, self.cells[self.layout.cell(output, input)], self.pool)
    }

    /// Stores an admitted frame: what follows.
    pub(crate) fn store(&mut self, output: usize, input: usize, len: u16) -> Option<Signal> {
        let at = self.layout.cell(output, input);
        self.cells[at] += u64::from(len);
        self.pool += u64::from(len);
        self.domains.grow(self.layout.domain(input), self.cells[at], &self.watermarks)
    }

    /// Frees the memory of a frame whose last bit has left: what follows.
    pub(crate) fn free(&mut self, output: usize, input: usize, len: u16) -> Option<Signal> {
        let at = self.layout.cell(output, input);
        self.cells[at] -= u64::from(len);
        self.pool -= u64::from(len);
        let domain = self.layout.domain(input);
        // All cells are one domain's, or those of one input are.
        let (first, step) = if self.domains.is_one() { (0, 1) } else { (domain, self.layout.domains) };
        let mut cells = self.cells.iter().skip(first).step_by(step);
        let holds = || cells.any(|&cell| self.watermarks.keep_xoff(cell));
        self.domains.shrink(domain, holds)
    }
}
