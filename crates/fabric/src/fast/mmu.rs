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
    /// A cell of a domain in XOFF has risen above the low watermark.
    Watch,
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
    pub(crate) output_limit: u64,
    /// Watermarks; `u32::MAX` without PAUSE.
    high: u32,
    low: u32,
    global: bool,
    /// Cells of each domain above the low watermark.
    above_low: Vec<u32>,
    /// Domains in XOFF.
    pub(crate) off: Vec<bool>,
    /// Number of domains in XOFF.
    off_count: u32,
    /// Of each output with cells of its own: those above the low watermark whose domain is in XOFF.
    holding: Vec<u32>,
    /// Each cell is emptied by one output port only.
    private: bool,
    inputs: usize,
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
    calm: u32,
    /// Where an output's cells are its own, one for each input: largest queue for which they need not be kept, as none of them
    /// is larger than the queue, and nothing follows from them.
    pub(crate) small: Option<u64>,
}

impl Mmu {
    /// `ports` real inputs; one more input stands for the switch's own messages.
    pub(crate) fn new(ports: usize, spec: &BufferSpec, margin: u64) -> Self {
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
        let cell_limit = if shared { u32::MAX } else { clip(share) };
        let high = spec.pause.map_or(u32::MAX, |p| clip(p.high.get()));
        let low = spec.pause.map_or(u32::MAX, |p| clip(p.low.get()));
        let private = match spec.organisation {
            Organisation::Crosspoint => true,
            Organisation::SharedOutput => !pool_cell,
            Organisation::Input => false,
        };
        let per_cell = if pool_cell { margin.saturating_mul(ports as u64) } else { margin };
        let guard = if private { u32::MAX } else { high.min(cell_limit).saturating_sub(clip(per_cell)) };
        let pool_limit = if shared { share.saturating_mul(ports as u64) } else { u64::MAX };
        Self {
            private,
            inputs,
            guard,
            guarded: 0,
            cramped: (!private && u64::from(high.min(cell_limit)) < clip(per_cell).into())
                || pool_limit < margin.saturating_mul(ports as u64),
            pool_guard: pool_limit.saturating_sub(margin.saturating_mul(ports as u64)),
            watch: low.min(guard),
            calm: low.min(guard).min(cell_limit),
            small: (spec.organisation == Organisation::Crosspoint)
                .then(|| low.min(guard).min(cell_limit).into()),
            so,
            si,
            occupied: vec![0; cells],
            cell_limit,
            pool: 0,
            pool_limit,
            output_limit: spec.output_limit.map_or(u64::MAX, |l| l.get()),
            high,
            low,
            global: domains == 1,
            above_low: vec![0; domains],
            off: vec![false; domains],
            off_count: 0,
            holding: vec![0; if private { ports } else { 0 }],
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
    /// Does it send PAUSE before it is full?
    pub(crate) fn has_pause(&self) -> bool {
        self.high < u32::MAX
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

    /// Stores a frame of `len` bytes if that can have no consequence; false if it may have one.
    #[inline(always)]
    pub(crate) fn store_calmly(&mut self, output: usize, input: usize, len: u16) -> bool {
        let cell = self.cell(output, input);
        let Some(occupied) = self.occupied.get_mut(cell) else { return false };
        let (now, pool) = (*occupied + u32::from(len), self.pool + u64::from(len));
        if now > self.calm || pool > self.pool_guard {
            return false;
        }
        *occupied = now;
        self.pool = pool;
        true
    }

    /// Longest frame that has no consequence where its output holds no other: cells of one output and input each.
    pub(crate) fn flies(&self) -> u16 {
        self.small.map_or(0, |small| small.min(u16::MAX.into()) as u16)
    }

    /// Takes a frame that is stored uncounted into its cell.
    pub(crate) fn count(&mut self, output: usize, input: usize, len: u16) {
        let cell = self.cell(output, input);
        self.occupied[cell] += u32::from(len);
    }

    /// Undoes [`Mmu::store_calmly`].
    pub(crate) fn unstore_calmly(&mut self, output: usize, input: usize, len: u16) {
        let cell = self.cell(output, input);
        self.occupied[cell] -= u32::from(len);
        self.pool -= u64::from(len);
    }

    /// First cell of an output.
    #[inline]
    pub(crate) fn row(&self, output: usize) -> usize {
        output * self.so
    }

    /// Frees a frame's memory if that has no consequence; false if it may have one. `row` is that of its output.
    #[inline]
    pub(crate) fn free_calmly(&mut self, row: usize, input: usize, len: u16) -> bool {
        let Some(occupied) = self.occupied.get_mut(row + input * self.si) else { return false };
        if *occupied > self.watch {
            return false;
        }
        *occupied -= u32::from(len);
        self.pool -= u64::from(len);
        true
    }

    /// Would freeing a frame's memory have no consequence?
    #[inline]
    pub(crate) fn is_calm(&self, row: usize, input: usize) -> bool {
        self.occupied.get(row + input * self.si).is_some_and(|&occupied| occupied <= self.watch)
    }

    /// [`Mmu::free_calmly`], of a frame that is `counted` in its cell or not.
    #[inline(always)]
    pub(crate) fn leave_calmly(&mut self, counted: bool, row: usize, input: usize, len: u16) -> bool {
        if counted {
            return self.free_calmly(row, input, len);
        }
        self.pool -= u64::from(len);
        true
    }

    /// Stores an admitted frame.
    #[inline]
    pub(crate) fn store(&mut self, output: usize, input: usize, len: u16) -> Signal {
        let cell = self.cell(output, input);
        let before = self.occupied[cell];
        let now = before + u32::from(len);
        self.occupied[cell] = now;
        self.pool += u64::from(len);
        if now > self.watch {
            return self.rise(output, input, before, now);
        }
        Signal::None
    }

    #[cold]
    fn rise(&mut self, output: usize, input: usize, before: u32, now: u32) -> Signal {
        let d = self.domain(input);
        if before <= self.guard && now > self.guard {
            self.guarded += 1;
        }
        if before <= self.low && now > self.low {
            self.above_low[d] += 1;
            if self.off[d] {
                self.holds(output, 1);
                return Signal::Watch;
            }
        }
        if now > self.high && !self.off[d] {
            self.off[d] = true;
            self.off_count += 1;
            self.hold(d);
            return Signal::Change(d);
        }
        Signal::None
    }

    /// Notes that an output has so many more cells that keep a domain in XOFF.
    fn holds(&mut self, output: usize, more: i32) {
        if let Some(holding) = self.holding.get_mut(output) {
            *holding = holding.wrapping_add_signed(more);
        }
    }

    /// Counts, of each output, the cells that keep a domain in XOFF which has just gone there.
    fn hold(&mut self, domain: usize) {
        // Cells of one output and all inputs come once.
        let all = if self.si == 0 { 0..1 } else { 0..self.inputs };
        let inputs = if self.global { all } else { domain..domain + 1 };
        for output in 0..self.holding.len() {
            for input in inputs.clone() {
                let above = self.occupied.get(self.cell(output, input)).is_some_and(|&now| now > self.low);
                self.holds(output, i32::from(above));
            }
        }
    }

    /// Frees a frame's memory.
    #[inline]
    pub(crate) fn free(&mut self, output: usize, input: usize, len: u16) -> Signal {
        let cell = self.cell(output, input);
        let before = self.occupied[cell];
        let now = before - u32::from(len);
        self.occupied[cell] = now;
        self.pool -= u64::from(len);
        if before > self.watch {
            return self.fall(output, input, before, now);
        }
        Signal::None
    }

    #[cold]
    fn fall(&mut self, output: usize, input: usize, before: u32, now: u32) -> Signal {
        if before > self.guard && now <= self.guard {
            self.guarded -= 1;
        }
        if before > self.low && now <= self.low {
            let d = self.domain(input);
            self.above_low[d] -= 1;
            if self.off[d] {
                self.holds(output, -1);
            }
            if self.above_low[d] == 0 && self.off[d] {
                self.off[d] = false;
                self.off_count -= 1;
                return Signal::Change(d);
            }
        }
        Signal::None
    }

    /// Can a departure at one port matter at another: an XOFF to be ended, or shared memory nearly full?
    #[inline]
    pub(crate) fn unsettled(&self) -> bool {
        self.cramped || self.off_count > 0 || self.guarded > 0 || self.pool > self.pool_guard
    }

    /// Does no PAUSE begin or end, and no departure at one port matter at another, while each input takes in so many bytes, and all
    /// together so many?
    pub(crate) fn stays_quiet(&self, an_input: u64, all: u64) -> bool {
        // Where inputs have cells of their own, one takes in what its input does. In XOFF a cell is above the low watermark.
        let cell = self.pool + if self.si > 0 { an_input } else { all };
        (self.low == u32::MAX || cell <= u64::from(self.low))
            && (self.private || cell <= u64::from(self.cell_limit))
            && self.pool + all <= self.pool_limit
    }

    /// Can the departures of this output?
    pub(crate) fn is_critical(&self, output: usize) -> bool {
        if self.cramped || !self.private || self.pool > self.pool_guard {
            return true;
        }
        let holds = self.holding.get(output).is_some_and(|&cells| cells > 0);
        debug_assert_eq!(
            holds,
            (0..self.inputs)
                .any(|i| { self.occupied[self.cell(output, i)] > self.low && self.off[self.domain(i)] })
        );
        holds
    }
}
