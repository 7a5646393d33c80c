//! A shared buffer: each input has a reserve and headroom of its own, and between them a share of a pool.
//!
//! A frame goes to the reserve of its input while it fits, then to the pool, and above the input's threshold to its headroom. The
//! threshold is constant, or `alpha` times what is free of the pool. It decides XOFF as a frame of the input comes, and XON as one
//! leaves; nothing else changes what an input is told. Bytes leave headroom first, then the pool, then the reserve.
//! Without PAUSE there is the pool alone, and each output has such a threshold ([`Shared::admits`]).
//!
//! While it is *quiet* (no input is above its threshold or comes near it) its parts follow from the bytes of the inputs, and are not kept.
//! Departures whose input is not in XOFF may be counted late, so that what is held is an upper bound ([`Shared::store_below`]).

use crate::outcome::SharedUse;
use crate::spec::{SharedInput, SharedSpec};

/// An input's part of the buffer, bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Input {
    alpha: f64,
    reserve: u64,
    headroom: u64,
    /// In its reserve and in the pool.
    held: u64,
    /// In its headroom.
    above: u64,
}

impl Input {
    /// Bytes in the pool.
    fn pooled(&self) -> u64 {
        self.held.saturating_sub(self.reserve)
    }
}

/// A switch's shared buffer for one class, or for several that have a pool in common.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// By class, then by port; the last of a class is that of the switch's own messages, which have neither reserve nor headroom.
    inputs: Vec<Input>,
    /// Size of the pool, and what it holds.
    pool: u64,
    used: u64,
    /// Of a constant threshold.
    threshold: Option<u64>,
    /// The least alpha.
    least: f64,
    resume: u64,
    lossless: bool,
    /// Size of all headrooms together, bytes in them, and in all of the buffer.
    headroom: u64,
    above: u64,
    held: u64,
    most: SharedUse,
    /// Of what is told of the pool.
    step: u64,
}

impl Shared {
    /// Empty, of `size`, for the classes of this part of `spec.inputs`: of classes with PAUSE, or of those that may lose frames.
    pub(crate) fn new(spec: &SharedSpec, size: u64, classes: &[&[SharedInput]], lossless: bool) -> Self {
        let own = |i: &SharedInput| {
            let (reserve, headroom) = if lossless { (i.reserve.get(), i.headroom.get()) } else { (0, 0) };
            Input { alpha: i.alpha, reserve, headroom, ..Input::default() }
        };
        let mut inputs: Vec<Input> = Vec::new();
        for class in classes {
            let alpha = class.iter().map(|i| i.alpha).fold(0.0, f64::max);
            inputs.extend(class.iter().map(own));
            inputs.push(Input { alpha, ..Input::default() });
        }
        let (reserves, headroom) = inputs.iter().fold((0, 0), |s, i| (s.0 + i.reserve, s.1 + i.headroom));
        let headroom = spec.headroom.map_or(headroom, |pool| pool.get().min(headroom));
        let pool = size.saturating_sub(reserves + headroom);
        let (threshold, resume) = (spec.threshold.map(|t| t.get()), spec.resume.get());
        let step = pool.div_ceil(SharedUse::STEPS).max(1);
        let most = SharedUse { pool: step.min(pool), ..SharedUse::default() };
        let least = inputs.iter().map(|i| i.alpha).fold(f64::INFINITY, f64::min);
        Self { inputs, pool, threshold, least, resume, lossless, headroom, most, step, ..Self::default() }
    }

    /// The most bytes that an input, or an output with its `alpha`, may hold of the pool.
    fn threshold(&self, input: usize) -> u64 {
        self.threshold_at(input, self.used)
    }

    /// Threshold of an input with so many bytes in the pool.
    fn threshold_at(&self, input: usize, used: u64) -> u64 {
        self.threshold_by(self.inputs[input].alpha, used)
    }

    fn threshold_by(&self, alpha: f64, used: u64) -> u64 {
        // As signed numbers they become fractions, and back, without a branch.
        let free = (self.pool - used) as i64 as f64;
        self.threshold.unwrap_or((alpha * free) as i64 as u64)
    }

    /// Nothing is in XOFF, and each input holds no more than its bytes in `most` before a time, nor an output's queue more than `queued`:
    /// does nothing follow from any order in which bytes come and go, and does the pool not come to more than it ever held?
    pub(crate) fn stays_quiet(&self, most: impl Iterator<Item = u64> + Clone, queued: u64) -> bool {
        let pooled = most.zip(&self.inputs).map(|(held, own)| held.saturating_sub(own.reserve));
        let used: u64 = pooled.clone().sum();
        if self.above > 0 || used > self.most.pool {
            return false;
        }
        let asks = |(port, held): (usize, u64)| held >= self.threshold_at(port, used);
        match self.lossless {
            true => !pooled.enumerate().any(asks),
            // The output with the least alpha asks first.
            false => queued < self.threshold_by(self.least, used),
        }
    }

    /// While nothing is in XOFF, up to so many bytes in all it stays quiet, whoever holds them.
    pub(crate) fn quiet_up_to(&self) -> u64 {
        let even = (self.least / (1.0 + self.least) * self.pool as f64) as u64;
        let most = self.most.pool.min(self.threshold.unwrap_or(even).saturating_sub(2));
        let quiet = self.above == 0 && most < self.threshold_by(self.least, most);
        if quiet { most } else { 0 }
    }

    /// Counts anew what each input holds, none of it in headroom: the parts of a buffer that was quiet.
    pub(crate) fn recount(&mut self, cells: &[u32]) {
        for (own, cell) in self.inputs.iter_mut().zip(cells) {
            own.held = u64::from(*cell);
        }
        self.held = self.inputs.iter().map(|own| own.held).sum();
        self.used = self.inputs.iter().map(Input::pooled).sum();
    }

    /// Does a frame of `len` bytes fit below an input's threshold, and into the pool?
    fn fits_pool(&self, input: usize, len: u64) -> bool {
        let own = &self.inputs[input];
        let pooled = (own.held + len).saturating_sub(own.reserve);
        let more = pooled - own.pooled();
        pooled == 0 || pooled <= self.threshold(input) && more <= self.pool - self.used
    }

    /// Is a frame of `len` bytes from an input admitted for an output, where so many bytes are queued? With PAUSE the input decides.
    /// Without, the output: it takes a frame while its queue is shorter than its threshold.
    pub(crate) fn admits(&self, output: usize, input: usize, len: u64, queued: u64) -> bool {
        if !self.lossless {
            return queued < self.threshold(output) && len <= self.pool - self.used;
        }
        let own = &self.inputs[input];
        self.fits_pool(input, len) || own.above + len <= own.headroom && self.above + len <= self.headroom
    }

    /// An admitted frame comes: does its input ask for silence?
    pub(crate) fn store(&mut self, input: usize, len: u64) -> bool {
        if !self.lossless || self.fits_pool(input, len) {
            self.put(input, len);
        } else {
            self.inputs[input].above += len;
            self.above += len;
            self.held += len;
        }
        let own = self.inputs[input];
        let most = &mut self.most;
        most.headroom = most.headroom.max(self.above);
        if self.used > most.pool {
            most.pool = self.used.next_multiple_of(self.step).min(self.pool);
            most.reserve = self.held - self.used - self.above;
        }
        own.above > 0 || own.pooled() >= self.threshold(input)
    }

    /// What is held, and the `queued` bytes of an output, are upper bounds. Does a frame find room in reserve or pool, does its input not
    /// ask for silence, and does the pool not come to more than it ever held, however much less there is? Then it comes.
    ///
    /// A threshold falls as the pool fills, and an input with less in the pool asks later, so what holds for the bounds holds for less.
    pub(crate) fn store_below(&mut self, (output, input): (usize, usize), len: u64, queued: u64) -> bool {
        let own = &self.inputs[input];
        let pooled = (own.held + len).saturating_sub(own.reserve);
        let used = self.used + pooled - own.pooled();
        let above = own.above > 0 || used > self.most.pool;
        let below = || match self.lossless {
            true => pooled < self.threshold_at(input, used),
            false => queued < self.threshold(output),
        };
        if above || !below() {
            return false;
        }
        self.put(input, len);
        true
    }

    /// Bytes of an input come to its reserve, or the pool.
    fn put(&mut self, input: usize, len: u64) {
        let own = &mut self.inputs[input];
        let before = own.pooled();
        own.held += len;
        self.used += own.pooled() - before;
        self.held += len;
    }

    /// Bytes of a frame leave.
    pub(crate) fn release(&mut self, input: usize, len: u64) {
        let own = &mut self.inputs[input];
        let before = own.pooled();
        let from_headroom = own.above.min(len);
        own.above -= from_headroom;
        own.held -= len - from_headroom;
        self.above -= from_headroom;
        self.used -= before - own.pooled();
        self.held -= len;
    }

    /// Bytes of a frame leave: may its input go on?
    pub(crate) fn free(&mut self, input: usize, len: u64) -> bool {
        self.release(input, len);
        let own = self.inputs[input];
        let pooled = own.pooled();
        own.above == 0 && (pooled == 0 || pooled + self.resume <= self.threshold(input))
    }

    /// Is each of so many bytes that wait in the switch in one of its parts?
    pub(crate) fn accounts_for(&self, waiting: u64) -> bool {
        let sum = |part: fn(&Input) -> u64| self.inputs.iter().map(part).sum::<u64>();
        let parts = (sum(|i| i.held), sum(Input::pooled), sum(|i| i.above));
        (parts.0 + parts.2, parts.1, parts.2) == (self.held, self.used, self.above) && self.held == waiting
    }

    /// The most that its parts ever held, and their sizes.
    pub(crate) fn most(&self) -> SharedUse {
        let sum = |part: fn(&Input) -> u64| self.inputs.iter().map(part).sum();
        let sizes = (sum(|i| i.reserve), self.pool, self.headroom);
        SharedUse { sizes, ..self.most }
    }
}

#[cfg(test)]
#[path = "../../tests/parts/shared.rs"]
mod tests;
