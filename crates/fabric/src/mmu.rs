//! A switch's memory: partitions, admission, and which inputs are in XOFF.
//!
//! Every organisation is one table of *cells*: the cell of a frame from input `i` to output `o` is
//! `o * so + i * si`. Crosspoint: a cell per pair; input partition: per input; shared output: per output (or one for
//! the whole pool). PAUSE has one *domain* per input, or one for the switch (global); a domain is in XOFF from the
//! moment one of its cells exceeds the high watermark until all of them are at or below the low one.

use crate::spec::{BufferSpec, Organisation};

/// Why a frame cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its partition (or the pool) is full.
    Partition,
    /// Its output queue has reached its limit.
    OutputLimit,
}

/// What a change of occupancy does to PAUSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    None,
    /// The domain enters or leaves XOFF.
    Change(usize),
}

#[derive(Debug)]
pub(crate) struct Mmu {
    so: usize,
    si: usize,
    occupied: Vec<u32>,
    /// Largest occupancy of a cell, bytes.
    cell_limit: u32,
    /// Total occupancy and its limit.
    pub(crate) pool: u64,
    pool_limit: u64,
    output_limit: u64,
    /// Watermarks; `u32::MAX` without PAUSE.
    high: u32,
    low: u32,
    global: bool,
    /// Cells of each domain above the low watermark.
    above_low: Vec<u32>,
    /// Domains in XOFF.
    pub(crate) off: Vec<bool>,
    /// Number of domains in XOFF.
    pub(crate) off_count: u32,
}

impl Mmu {
    /// `ports` real inputs; one more input stands for the switch's own messages.
    pub(crate) fn new(ports: usize, spec: &BufferSpec) -> Self {
        let inputs = ports + 1;
        let pool_cell = spec.pause.is_some_and(|p| p.pool) && spec.organisation == Organisation::SharedOutput;
        let (so, si, cells) = match spec.organisation {
            Organisation::Crosspoint => (inputs, 1, ports * inputs),
            Organisation::Input => (0, 1, inputs),
            Organisation::SharedOutput if pool_cell => (0, 0, 1),
            Organisation::SharedOutput => (1, 0, ports),
        };
        let share = spec.share.get();
        let clip = |b: u64| b.min(u64::from(u32::MAX)) as u32;
        let shared = spec.organisation == Organisation::SharedOutput;
        let global = spec.pause.is_some_and(|p| p.global);
        let domains = if global || shared { 1 } else { inputs };
        Self {
            so,
            si,
            occupied: vec![0; cells],
            cell_limit: if shared { u32::MAX } else { clip(share) },
            pool: 0,
            pool_limit: if shared { share.saturating_mul(ports as u64) } else { u64::MAX },
            output_limit: spec.output_limit.map_or(u64::MAX, |l| l.get()),
            high: spec.pause.map_or(u32::MAX, |p| clip(p.high.get())),
            low: spec.pause.map_or(u32::MAX, |p| clip(p.low.get())),
            global: domains == 1,
            above_low: vec![0; domains],
            off: vec![false; domains],
            off_count: 0,
        }
    }

    #[inline]
    fn cell(&self, output: usize, input: usize) -> usize {
        output * self.so + input * self.si
    }
    #[inline]
    fn domain(&self, input: usize) -> usize {
        if self.global { 0 } else { input }
    }
    /// Ports that a domain's XOFF goes to: all, or one.
    pub(crate) fn is_global(&self) -> bool {
        self.global
    }

    /// May a frame be stored? `queued` = bytes now queued for its output.
    #[inline]
    pub(crate) fn admit(&self, output: usize, input: usize, len: u16, queued: u64) -> Result<(), Refusal> {
        let len64 = u64::from(len);
        if queued + len64 > self.output_limit {
            return Err(Refusal::OutputLimit);
        }
        if self.occupied[self.cell(output, input)] + u32::from(len) > self.cell_limit
            || self.pool + len64 > self.pool_limit
        {
            return Err(Refusal::Partition);
        }
        Ok(())
    }

    /// Stores an admitted frame.
    #[inline]
    pub(crate) fn store(&mut self, output: usize, input: usize, len: u16) -> Signal {
        let cell = self.cell(output, input);
        let before = self.occupied[cell];
        let now = before + u32::from(len);
        self.occupied[cell] = now;
        self.pool += u64::from(len);
        if now > self.low {
            return self.rise(input, before, now);
        }
        Signal::None
    }

    #[cold]
    fn rise(&mut self, input: usize, before: u32, now: u32) -> Signal {
        let d = self.domain(input);
        if before <= self.low {
            self.above_low[d] += 1;
        }
        if now > self.high && !self.off[d] {
            self.off[d] = true;
            self.off_count += 1;
            return Signal::Change(d);
        }
        Signal::None
    }

    /// Frees a frame's memory.
    #[inline]
    pub(crate) fn free(&mut self, output: usize, input: usize, len: u16) -> Signal {
        let cell = self.cell(output, input);
        let before = self.occupied[cell];
        let now = before - u32::from(len);
        self.occupied[cell] = now;
        self.pool -= u64::from(len);
        if before > self.low && now <= self.low {
            let d = self.domain(input);
            self.above_low[d] -= 1;
            if self.above_low[d] == 0 && self.off[d] {
                self.off[d] = false;
                self.off_count -= 1;
                return Signal::Change(d);
            }
        }
        Signal::None
    }

    /// Would storing this frame, with nothing leaving before, disturb the quiet (PAUSE or a refusal)?
    #[inline]
    pub(crate) fn disturbs(&self, output: usize, input: usize, len: u16, queued: u64) -> bool {
        let now = self.occupied[self.cell(output, input)] + u32::from(len);
        now > self.high
            || now > self.cell_limit
            || queued + u64::from(len) > self.output_limit
            || self.pool + u64::from(len) > self.pool_limit
    }
}
