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

/// Most bytes that each may hold.
#[derive(Clone, Copy, Debug)]
struct Limits {
    cell: u64,
    pool: u64,
    output: u64,
}

/// The memory of a class at a switch.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The cell of a frame is `output * step.0 + input * step.1`.
    step: (usize, usize),
    /// Bytes in each cell.
    cells: Vec<u64>,
    /// Bytes in all of them.
    pool: u64,
    limits: Limits,
    /// PAUSE, if on.
    watermarks: Option<Watermarks>,
    /// Domains in XOFF: one for each input, or one for all.
    off: Vec<bool>,
}

impl Memory {
    /// Empty, of a switch with so many ports; `pauses`: the class has PAUSE, if the switch has it. One more input stands for the
    /// switch's own messages.
    pub(crate) fn new(ports: usize, spec: &BufferSpec, pauses: bool) -> Self {
        let inputs = ports + 1;
        let shared = spec.organisation == Organisation::SharedOutput;
        let one_cell = shared && spec.pause.is_some_and(|p| p.pool);
        let (step, cells) = match spec.organisation {
            Organisation::Crosspoint => ((inputs, 1), ports * inputs),
            Organisation::Input => ((0, 1), inputs),
            Organisation::SharedOutput if one_cell => ((0, 0), 1),
            Organisation::SharedOutput => ((1, 0), ports),
        };
        let share = spec.share.get();
        let one_domain = shared || spec.pause.is_some_and(|p| p.global);
        Self {
            step,
            cells: vec![0; cells],
            pool: 0,
            limits: Limits {
                cell: if shared { u64::MAX } else { share },
                pool: if shared { share.saturating_mul(ports as u64) } else { u64::MAX },
                output: spec.output_limit.map_or(u64::MAX, |l| l.get()),
            },
            watermarks: spec.pause.as_ref().filter(|_| pauses).map(Watermarks::new),
            off: vec![false; if one_domain { 1 } else { inputs }],
        }
    }

    fn cell(&self, output: usize, input: usize) -> usize {
        output * self.step.0 + input * self.step.1
    }

    /// Does it send PAUSE before it is full, so that nothing may be lost for want of a cell's space?
    pub(crate) fn is_lossless(&self) -> bool {
        self.watermarks.is_some()
    }

    /// May a frame be stored, with so many bytes queued for its output?
    pub(crate) fn admits(&self, output: usize, input: usize, len: u16, queued: u64) -> Result<(), Refusal> {
        let len = u64::from(len);
        if queued + len > self.limits.output {
            return Err(Refusal::OutputLimit);
        }
        let cell = self.cells[self.cell(output, input)];
        if cell + len > self.limits.cell || self.pool + len > self.limits.pool {
            return Err(Refusal::Partition);
        }
        Ok(())
    }

    /// Stores an admitted frame.
    pub(crate) fn store(&mut self, output: usize, input: usize, len: u16) -> Option<Signal> {
        let at = self.cell(output, input);
        self.cells[at] += u64::from(len);
        self.pool += u64::from(len);
        let domain = self.domain(input);
        let begins = self.watermarks?.calls_for_xoff(self.cells[at]) && !self.off[domain];
        begins.then(|| self.set(domain, true))
    }

    /// Frees the memory of a frame whose last bit has left.
    pub(crate) fn free(&mut self, output: usize, input: usize, len: u16) -> Option<Signal> {
        let at = self.cell(output, input);
        self.cells[at] -= u64::from(len);
        self.pool -= u64::from(len);
        let domain = self.domain(input);
        let ends = self.off[domain] && self.watermarks?.allow_xon(self.cells_of(domain));
        ends.then(|| self.set(domain, false))
    }

    fn domain(&self, input: usize) -> usize {
        if self.off.len() == 1 { 0 } else { input }
    }

    /// Levels of a domain's cells: all of them, or those of one input.
    fn cells_of(&self, domain: usize) -> impl Iterator<Item = u64> {
        let (first, step) = if self.off.len() == 1 { (0, 1) } else { (domain, self.off.len()) };
        self.cells.iter().skip(first).step_by(step).copied()
    }

    /// A domain enters XOFF or leaves it.
    fn set(&mut self, domain: usize, off: bool) -> Signal {
        self.off[domain] = off;
        Signal { off, input: (self.off.len() > 1).then_some(domain) }
    }
}
