//! A switch's memory for a class of data: what is admitted, where it is counted, and the PAUSE that follows.
//!
//! Every organisation is one table of *cells*. A crosspoint memory has a cell for each pair of output and input. Input partitions
//! are a cell for each input. Shared memory has a cell for each output, or a single one; only the pool's size bounds it.

use super::pause::{Signal, Watermarks};
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
}

/// The memory of a class at a switch.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) layout: Layout,
    /// Bytes in each cell.
    pub(crate) cells: Vec<u32>,
    /// Bytes in all of them.
    pub(crate) pool: u64,
    pub(crate) limits: Limits,
    pub(crate) watermarks: Watermarks,
    /// Domains in XOFF.
    off: Vec<bool>,
    pub(crate) off_count: u32,
    /// By domain, its cells that keep it in XOFF.
    holding: Vec<u32>,
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
            off: vec![false; layout.domains],
            off_count: 0,
            holding: vec![0; layout.domains],
            layout,
        }
    }

    /// Does it send PAUSE before it is full, so that nothing may be lost for want of a cell's space?
    pub(crate) fn is_lossless(&self) -> bool {
        self.watermarks.are_on()
    }

    /// May a frame of `len` bytes be stored, with so many bytes queued for its output?
    pub(crate) fn admits(&self, output: usize, input: usize, len: u16, queued: u64) -> Result<(), Refusal> {
        let (len, cell) = (u64::from(len), u64::from(self.cells[self.layout.cell(output, input)]));
        if queued + len > self.limits.output {
            return Err(Refusal::OutputLimit);
        }
        if cell + len > self.limits.cell || self.pool + len > self.limits.pool {
            return Err(Refusal::Partition);
        }
        Ok(())
    }

    /// The bytes of an admitted frame come, or those of one whose last bit has left go (`by` is below 0): what follows.
    pub(crate) fn change(&mut self, output: usize, input: usize, by: i32) -> Option<Signal> {
        let (at, domain) = (self.layout.cell(output, input), self.layout.domain(input));
        self.holding[domain] -= u32::from(self.holds(at));
        self.cells[at] = self.cells[at].wrapping_add_signed(by);
        self.pool = self.pool.wrapping_add_signed(by.into());
        self.holding[domain] += u32::from(self.holds(at));
        let off = self.off[domain];
        let turns =
            if off { self.holding[domain] == 0 } else { u64::from(self.cells[at]) > self.watermarks.high };
        if !turns {
            return None;
        }
        self.off[domain] = !off;
        self.off_count = if off { self.off_count - 1 } else { self.off_count + 1 };
        Some(Signal { off: !off, input: (self.layout.domains > 1).then_some(domain as u16) })
    }

    /// Is the domain of an input in XOFF?
    pub(crate) fn is_off(&self, input: usize) -> bool {
        self.off[self.layout.domain(input)]
    }

    /// Does a cell keep its domain in XOFF?
    pub(crate) fn holds(&self, cell: usize) -> bool {
        self.watermarks.keep_xoff(self.cells[cell].into())
    }
}
