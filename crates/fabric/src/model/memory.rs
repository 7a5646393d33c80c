//! A switch's memory for a class of data, or for classes that share a pool: what is admitted, where it is counted, and the PAUSE that follows.
//!
//! Every organisation is one table of *cells*. A crosspoint memory has a cell for each pair of output and input. Input partitions
//! are a cell for each input. Shared memory has a cell for each output, or a single one; only the pool's size bounds it.

use super::pause::{Signal, Watermarks};
use super::shared::Shared;
use crate::check::{broken, changes};
use crate::outcome::SharedUse;
use crate::spec::{ClassSpec, Layout, Limits, SharedInput, SwitchSpec};

/// Why a frame is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The frame's cell, or the pool, is full.
    Partition,
    /// The queue of the frame's output has reached its limit.
    OutputLimit,
    /// The frame's output is in a storm, and the watchdog drops frames for it.
    Watchdog,
}

/// Why a frame is lost, and whether PAUSE was to prevent that the memory is full.
pub(crate) type Loss = (Refusal, bool);

/// The memory of a class at a switch, or of several. These have rows of inputs one after the other, [`Layout::inputs`] each: `row` is where
/// those of a frame's class begin.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) layout: Layout,
    /// Bytes in each cell.
    cells: Vec<u32>,
    /// Bytes in all of them.
    pub(crate) pool: u64,
    limits: Limits,
    watermarks: Watermarks,
    /// In place of limits and watermarks, where the inputs share it.
    shared: Option<Box<Shared>>,
    /// Nothing follows for now as bytes come and go, so that what shares it need not be asked.
    quiet: bool,
    /// Domains in XOFF.
    off: Vec<bool>,
    pub(crate) off_count: u32,
    /// By domain, its cells that keep it in XOFF.
    holding: Vec<u32>,
}

impl Memory {
    /// Empty, of some of the run's classes at a switch ([`SwitchSpec::memories`]): one, or those that share a pool. It has PAUSE if they do.
    pub(crate) fn new(spec: &SwitchSpec, own: &[usize], classes: &[ClassSpec]) -> Self {
        let mut layout = Layout::new(spec);
        layout.cells *= own.len();
        layout.domains *= if layout.domains > 1 { own.len() } else { 1 };
        let paused = own.first().is_some_and(|class| spec.pauses(&classes[*class]));
        let pause = spec.buffer.pause.as_ref().filter(|_| paused);
        let both = spec.memories(classes).len() > 1;
        let shared = spec.shared.as_ref().map(|s| {
            let size = match (both, pause.is_some()) {
                (false, _) => s.memory,
                (true, true) => s.memory.saturating_sub(s.lossy),
                (true, false) => s.lossy,
            };
            let ports = usize::from(spec.ports);
            let inputs: Vec<&[SharedInput]> =
                own.iter().map(|c| &s.inputs[c * ports..(c + 1) * ports]).collect();
            Box::new(Shared::new(s, size.get(), &inputs, pause.is_some()))
        });
        let mut watermarks = Watermarks::new(pause);
        if shared.is_some() {
            // A shared buffer decides when an input's XOFF ends.
            watermarks.low = u64::MAX;
        }
        Self {
            cells: vec![0; layout.cells],
            pool: 0,
            limits: Limits::new(spec),
            watermarks,
            shared,
            quiet: false,
            off: vec![false; layout.domains],
            off_count: 0,
            holding: vec![0; layout.domains],
            layout,
        }
    }
    /// Does it send PAUSE before it is full, so that nothing may be lost for want of a cell's space?
    pub(crate) fn is_lossless(&self) -> bool {
        self.watermarks.high < u64::MAX
    }
    /// Up to so many bytes a cell takes more, and keeps no domain in XOFF: nothing follows as bytes come or go.
    pub(crate) fn calm_cell(&self) -> u64 {
        self.watermarks.low.min(self.limits.cell)
    }
    /// Up to so many bytes a queue takes more, if its memory does.
    pub(crate) fn calm_queue(&self) -> u64 {
        self.limits.output
    }
    /// Up to so many bytes in all cells, neither they nor a cell that several outputs empty come to a threshold while each input takes
    /// in `margin` bytes. Below 0: they may with none.
    pub(crate) fn calm_pool(&self, margin: u64) -> i64 {
        let all = margin.saturating_mul(self.layout.inputs as u64 - 1);
        let a_cell = if self.layout.cells == 1 { all } else { margin };
        let several =
            if self.layout.step.0 > 0 { u64::MAX } else { self.watermarks.high.min(self.limits.cell) };
        let room = |most: u64, taken: u64| i128::from(most) - i128::from(taken);
        room(self.limits.pool, all).min(room(several, a_cell)).clamp(-1, i64::MAX.into()) as i64
    }
    /// Is nothing stored, and nothing in XOFF?
    pub(crate) fn is_empty(&self) -> bool {
        self.pool == 0 && self.off_count == 0
    }
    /// Does its class share it ([`Shared`])?
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }
    /// Is it a shared one from which nothing follows for now?
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }
    /// Of a shared one that is quiet: up to so many bytes in all it stays so, whoever holds them.
    pub(crate) fn quiet_up_to(&self) -> u64 {
        self.shared.as_ref().filter(|_| self.quiet).map_or(0, |shared| shared.quiet_up_to())
    }
    /// Of a shared one: may its inputs come to hold `more` bytes each than they do, and an output's queue come to `queued`, and nothing
    /// follow ([`Shared::stays_quiet`])? Notes that it is so from now on, or not.
    pub(crate) fn note_quiet(&mut self, more: &[u64], queued: u64) -> bool {
        let Some(shared) = &mut self.shared else { return false };
        let most = self.cells.iter().zip(more).map(|(cell, more)| u64::from(*cell) + more);
        let quiet = self.off_count == 0 && shared.stays_quiet(most, queued);
        if self.quiet && !quiet {
            shared.recount(&self.cells);
        }
        self.quiet = quiet;
        quiet
    }
    /// Does no PAUSE begin or end, and no departure at one output matter at another, while each input takes in so many bytes, and all
    /// together so many?
    pub(crate) fn stays_quiet(&self, an_input: u64, all: u64) -> bool {
        if self.is_shared() {
            return false;
        }
        // Where inputs have cells of their own, one takes in what its input does. In XOFF a cell is above the low watermark.
        let cell = self.pool + if self.layout.step.1 > 0 { an_input } else { all };
        let roomy = self.layout.step.0 > 0 || cell <= self.limits.cell;
        roomy && !self.watermarks.keep_xoff(cell) && self.pool + all <= self.limits.pool
    }
    /// Of one that is not shared: does nothing follow as so many bytes of each input come, `all` in all, and any leave, in any order?
    pub(crate) fn takes_calmly(&self, more: &[u64], all: u64) -> bool {
        let by_input = self.layout.step.0 == 0 && self.layout.step.1 > 0;
        let fits = |(cell, more): (&u32, &u64)| u64::from(*cell) + more <= self.calm_cell();
        let calm = if by_input {
            self.cells.iter().zip(more).all(fits)
        } else {
            self.pool + all <= self.calm_cell()
        };
        calm && !self.is_shared() && self.off_count == 0 && self.pool + all <= self.limits.pool
    }
    /// May a frame of `len` bytes be stored, with so many bytes queued for its output?
    #[inline]
    pub(crate) fn admits(
        &self,
        (output, input, row): (usize, usize, usize),
        len: u16,
        queued: u64,
    ) -> Result<(), Refusal> {
        let input = row + input;
        if let Some(shared) = &self.shared {
            let fits = queued + u64::from(len) <= self.limits.output;
            let admits = self.quiet || shared.admits(row + output, input, len.into(), queued);
            return if !fits {
                Err(Refusal::OutputLimit)
            } else if admits {
                Ok(())
            } else {
                Err(Refusal::Partition)
            };
        }
        let (len, cell) = (u64::from(len), u64::from(self.cells[self.layout.cell(output, input)]));
        if queued + len > self.limits.output {
            return Err(Refusal::OutputLimit);
        }
        if cell + len > self.limits.cell || self.pool + len > self.limits.pool {
            return Err(Refusal::Partition);
        }
        Ok(())
    }
    /// Bytes come to a cell, where these are kept, and to all (`COME`), or go: false, and nothing, if the cell holds more than `most` as
    /// it holds more of both.
    #[inline(always)]
    pub(crate) fn shift<const COME: bool>(&mut self, cell: Option<usize>, by: i32, most: u32) -> bool {
        let pool = self.pool.wrapping_add_signed(by.into());
        if let Some(cell) = cell {
            let Some(occupied) = self.cells.get_mut(cell) else { broken("no such cell") };
            let now = occupied.wrapping_add_signed(by);
            if (if COME { now } else { *occupied }) > most {
                return false;
            }
            *occupied = now;
        }
        self.pool = pool;
        true
    }
    /// Is it a shared one near a threshold?
    pub(crate) fn is_near(&self) -> bool {
        self.shared.is_some() && !self.quiet
    }
    /// A frame comes to such a one, where so many bytes at most wait at its output, if nothing follows from it ([`Shared::store_below`]).
    pub(crate) fn store_below(&mut self, at: (usize, usize), len: u16, queued: u64) -> bool {
        let near = self.shared.as_mut().filter(|_| !self.quiet);
        near.is_some_and(|shared| shared.store_below(at, len.into(), queued))
            && self.shift::<true>(Some(self.layout.cell(at.0, at.1)), len.into(), u32::MAX)
    }
    /// Bytes of an input leave such a one, in any order, as that is not in XOFF; false if it may be.
    #[inline(never)]
    pub(crate) fn leave_near(&mut self, (output, input): (usize, usize), len: u16) -> bool {
        if !self.is_near() || self.is_off(input) {
            return false;
        }
        self.shared.iter_mut().for_each(|shared| shared.release(input, len.into()));
        let cell = self.layout.cell(output, input);
        self.shift::<true>(Some(cell), -i32::from(len), u32::MAX)
    }
    /// Bytes in a cell.
    pub(crate) fn cell(&self, cell: usize) -> Option<u32> {
        self.cells.get(cell).copied()
    }
    /// Bytes of all are kept in this cell from now on.
    pub(crate) fn enter(&mut self, cell: usize, len: u16) {
        self.cells[cell] += u32::from(len);
    }
    /// The bytes of an admitted frame come, or those of one whose last bit has left go (`by` is below 0): what follows. `input` counts
    /// the row of its class.
    pub(crate) fn change(&mut self, output: usize, input: usize, by: i32) -> Option<Signal> {
        let (at, domain) = (self.layout.cell(output, input), self.layout.domain(input));
        let before = u64::from(self.cells[at]);
        self.shift::<true>(Some(at), by, u32::MAX);
        let (off, held) = (self.off[domain], u64::from(self.cells[at]));
        let turns = match &mut self.shared {
            Some(_) if self.quiet => false,
            // A shared buffer decides itself when XOFF ends.
            Some(shared) if by > 0 => {
                shared.store(input, by.unsigned_abs().into()) && !off && self.is_lossless()
            }
            Some(shared) => shared.free(input, by.unsigned_abs().into()) && off,
            // Where a cell keeps its domain in XOFF neither before nor now, nothing turns.
            None if !self.watermarks.keep_xoff(before.max(held)) => false,
            None => {
                let holds = [before, held].map(|bytes| u32::from(self.watermarks.keep_xoff(bytes)));
                self.holding[domain] = self.holding[domain] - holds[0] + holds[1];
                if off { self.holding[domain] == 0 } else { held > self.watermarks.high }
            }
        };
        if !turns {
            return None;
        }
        let state = |off: bool| if off { "above" } else { "below" };
        changes("domain of PAUSE", state(std::mem::replace(&mut self.off[domain], !off)), state(!off));
        self.off_count = if off { self.off_count - 1 } else { self.off_count + 1 };
        let port = domain % self.layout.inputs;
        Some(Signal { off: !off, input: (self.layout.domains > 1).then_some(port as u16) })
    }
    /// The use of a shared buffer, while so many bytes wait in the switch; none without one. An error if it does not hold these.
    pub(crate) fn shared_use(&mut self, waiting: u64) -> Option<Result<SharedUse, String>> {
        let Self { shared, cells, .. } = self;
        let shared = shared.as_mut()?;
        if self.quiet {
            shared.recount(cells);
        }
        let held = shared.accounts_for(waiting);
        Some(if held {
            Ok(shared.most())
        } else {
            Err(format!("{waiting} B wait, and its shared buffer holds others"))
        })
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
