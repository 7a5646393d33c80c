//! A switch's memory, kept so that frames of a calm window need no closer look: [`crate::model::Memory`]'s laws decide.
//!
//! Instead of all cells of a domain, those above the low watermark are counted: none is left when all are at or below it.

use crate::check::broken;
use crate::model::{Domains, Layout, Limits, Refusal, Signal, Watermarks};
use crate::spec::BufferSpec;

/// What follows from a change of occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// A cell of a domain in XOFF has risen above the low watermark.
    Watch,
    /// A domain enters or leaves XOFF.
    Send(Signal),
}

#[derive(Debug, Default)]
pub(crate) struct Mmu {
    layout: Layout,
    limits: Limits,
    watermarks: Watermarks,
    occupied: Vec<u32>,
    /// Total occupancy.
    pub(crate) pool: u64,
    /// Cells of each domain above the low watermark.
    above_low: Vec<u32>,
    domains: Domains,
    /// Number of domains in XOFF.
    off_count: u32,
    /// Of each output with cells of its own: those above the low watermark whose domain is in XOFF.
    holding: Vec<u32>,
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
        let (layout, limits) = (Layout::new(ports, spec), Limits::new(ports, spec));
        let watermarks = Watermarks::new(spec.pause.as_ref());
        let clip = |b: u64| b.min(u64::from(u32::MAX)) as u32;
        let private = layout.step.0 > 0;
        let all = margin.saturating_mul(ports as u64);
        let per_cell = if layout.cells == 1 { all } else { margin };
        let least = watermarks.high.min(limits.cell);
        let guard = if private { u32::MAX } else { clip(least.saturating_sub(per_cell)) };
        let watch = clip(watermarks.low).min(guard);
        let calm = watch.min(clip(limits.cell));
        Self {
            occupied: vec![0; layout.cells],
            above_low: vec![0; layout.domains],
            domains: Domains::new(layout.domains),
            holding: vec![0; if private { ports } else { 0 }],
            private,
            guard,
            pool_guard: limits.pool.saturating_sub(all),
            cramped: (!private && least < per_cell) || limits.pool < all,
            watch,
            calm_cell: calm,
            small: (private && layout.step.1 > 0).then_some(calm.into()),
            layout,
            limits,
            watermarks,
            ..Self::default()
        }
    }

    #[inline]
    fn cell(&self, output: usize, input: usize) -> usize {
        self.layout.cell(output, input)
    }
    /// Longest queue of an output.
    pub(crate) fn output_limit(&self) -> u64 {
        self.limits.output
    }
    /// Does it send PAUSE before it is full?
    pub(crate) fn has_pause(&self) -> bool {
        self.watermarks.are_on()
    }

    /// May a frame be stored? `queued` = bytes now queued for its output.
    #[inline]
    pub(crate) fn admit(&self, output: usize, input: usize, len: u16, queued: u64) -> Result<(), Refusal> {
        self.limits.admit(len, queued, self.occupied[self.cell(output, input)].into(), self.pool)
    }

    /// Stores a frame of `len` bytes if that can have no consequence; false if it may have one.
    #[inline(always)]
    pub(crate) fn store_calmly(&mut self, output: usize, input: usize, len: u16) -> bool {
        let cell = self.cell(output, input);
        let Some(occupied) = self.occupied.get_mut(cell) else { broken("no such cell") };
        let (now, pool) = (*occupied + u32::from(len), self.pool + u64::from(len));
        if now > self.calm_cell || pool > self.pool_guard {
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
        output * self.layout.step.0
    }

    /// Frees a frame's memory if that has no consequence; false if it may have one. `row` is that of its output.
    #[inline]
    pub(crate) fn free_calmly(&mut self, row: usize, input: usize, len: u16) -> bool {
        let Some(occupied) = self.occupied.get_mut(row + input * self.layout.step.1) else {
            broken("no such cell")
        };
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
        self.occupied.get(row + input * self.layout.step.1).is_some_and(|&occupied| occupied <= self.watch)
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
    pub(crate) fn store(&mut self, output: usize, input: usize, len: u16) -> Change {
        let cell = self.cell(output, input);
        let before = self.occupied[cell];
        let now = before + u32::from(len);
        self.occupied[cell] = now;
        self.pool += u64::from(len);
        if now > self.watch {
            return self.rise(output, input, before, now);
        }
        Change::None
    }

    #[cold]
    fn rise(&mut self, output: usize, input: usize, before: u32, now: u32) -> Change {
        let d = self.layout.domain(input);
        if before <= self.guard && now > self.guard {
            self.guarded += 1;
        }
        let keeps = |cell: u32| self.watermarks.keep_xoff(cell.into());
        if !keeps(before) && keeps(now) {
            self.above_low[d] += 1;
            if self.domains.is_off(d) {
                self.holds(output, 1);
                return Change::Watch;
            }
        }
        let Some(signal) = self.domains.grow(d, now.into(), &self.watermarks) else { return Change::None };
        self.off_count += 1;
        self.hold(d);
        Change::Send(signal)
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
        let all = if self.layout.step.1 == 0 { 0..1 } else { 0..self.layout.inputs };
        let inputs = if self.domains.is_one() { all } else { domain..domain + 1 };
        for output in 0..self.holding.len() {
            for input in inputs.clone() {
                let now = self.occupied.get(self.cell(output, input));
                let above = now.is_some_and(|&now| self.watermarks.keep_xoff(now.into()));
                self.holds(output, i32::from(above));
            }
        }
    }

    /// Frees a frame's memory.
    #[inline]
    pub(crate) fn free(&mut self, output: usize, input: usize, len: u16) -> Change {
        let cell = self.cell(output, input);
        let before = self.occupied[cell];
        let now = before - u32::from(len);
        self.occupied[cell] = now;
        self.pool -= u64::from(len);
        if before > self.watch {
            return self.fall(output, input, before, now);
        }
        Change::None
    }

    #[cold]
    fn fall(&mut self, output: usize, input: usize, before: u32, now: u32) -> Change {
        if before > self.guard && now <= self.guard {
            self.guarded -= 1;
        }
        let keeps = |cell: u32| self.watermarks.keep_xoff(cell.into());
        if keeps(before) && !keeps(now) {
            let d = self.layout.domain(input);
            self.above_low[d] -= 1;
            if self.domains.is_off(d) {
                self.holds(output, -1);
            }
            if let Some(signal) = self.domains.shrink(d, || self.above_low[d] > 0) {
                self.off_count -= 1;
                return Change::Send(signal);
            }
        }
        Change::None
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
        let cell = self.pool + if self.layout.step.1 > 0 { an_input } else { all };
        !self.watermarks.keep_xoff(cell)
            && (self.private || cell <= self.limits.cell)
            && self.pool + all <= self.limits.pool
    }

    /// Can the departures of this output?
    pub(crate) fn is_critical(&self, output: usize) -> bool {
        if self.cramped || !self.private || self.pool > self.pool_guard {
            return true;
        }
        let holds = self.holding.get(output).is_some_and(|&cells| cells > 0);
        debug_assert_eq!(
            holds,
            (0..self.layout.inputs).any(|i| {
                let cell = self.occupied[self.cell(output, i)];
                self.watermarks.keep_xoff(cell.into()) && self.domains.is_off(self.layout.domain(i))
            })
        );
        holds
    }
}
