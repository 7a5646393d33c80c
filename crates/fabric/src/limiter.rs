//! A host's rate limiters, found by flow without a hash.

use crate::frame::{Frame, NEVER};
use crate::places::Places;
use cnsim_scheme_api::{LimiterState, ReactionPoint};
use std::collections::VecDeque;

/// Timer slot of the pacer, beside the scheme's own.
pub(crate) const PACE: u8 = 8;

/// One limiter with its reaction point.
#[derive(Debug)]
pub(crate) struct LimiterSlot {
    /// Key: the destination host, or [`WHOLE_HOST`].
    pub(crate) key: u32,
    pub(crate) object: Box<dyn ReactionPoint>,
    pub(crate) state: LimiterState,
    pub(crate) queue: VecDeque<Frame>,
    /// The next frame may go at this time, ps.
    pub(crate) eligible: u64,
    /// Start of the last gap and its length in bits, to time it anew.
    pub(crate) last: (u64, f64),
    /// Waits for room in the host's FIFO.
    pub(crate) blocked: bool,
    /// Has been engaged at some time.
    pub(crate) was_engaged: bool,
}

/// Key of a limiter that serves all flows of the host.
pub(crate) const WHOLE_HOST: u32 = u32::MAX;

impl LimiterSlot {
    /// Must a new frame be queued here?
    pub(crate) fn holds(&self) -> bool {
        self.state.engaged && (self.state.rate < self.state.line_rate || !self.queue.is_empty())
    }

    /// Notes that a frame of `len` goes at `now`; the next may go a gap later.
    pub(crate) fn pace(&mut self, now: u64, len: u16) {
        self.last = (now, f64::from(len) * 8.0);
        self.eligible = self.gap_end();
    }
    /// End of the gap after the last frame at the present rate.
    pub(crate) fn gap_end(&self) -> u64 {
        let bps = self.state.rate.bps();
        if bps <= 0.0 { NEVER } else { self.last.0.saturating_add((self.last.1 / bps * 1e12).round() as u64) }
    }
}

/// All limiters of a host.
#[derive(Debug, Default)]
pub(crate) struct Limiters {
    pub(crate) slots: Vec<Option<LimiterSlot>>,
    free: Vec<u32>,
    places: Places,
    whole: Option<usize>,
    pub(crate) count: usize,
}

impl Limiters {
    /// Place of the limiter for this key.
    #[inline]
    pub(crate) fn find(&self, key: u32) -> Option<usize> {
        if key == WHOLE_HOST { self.whole } else { self.places.find(key) }
    }
    pub(crate) fn insert(&mut self, slot: LimiterSlot) -> usize {
        let key = slot.key;
        let at = match self.free.pop() {
            Some(at) => at as usize,
            None => {
                self.slots.push(None);
                self.slots.len() - 1
            }
        };
        self.slots[at] = Some(slot);
        self.count += 1;
        self.set(key, Some(at));
        at
    }
    pub(crate) fn remove(&mut self, at: usize) -> Option<LimiterSlot> {
        let slot = self.slots[at].take()?;
        self.set(slot.key, None);
        self.free.push(at as u32);
        self.count -= 1;
        Some(slot)
    }
    fn set(&mut self, key: u32, at: Option<usize>) {
        if key == WHOLE_HOST { self.whole = at } else { self.places.set(key, at) }
    }
}
