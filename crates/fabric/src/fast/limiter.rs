//! A host's rate limiters, found by flow without a hash.

use crate::fast::frame::Frame;
use crate::fast::paged::Paged;
use crate::model::{WHOLE_HOST, end_of_gap, holds_back, limits};
use crate::tx_rate::Clock;
use cnsim_scheme_api::network::LimiterState;
use cnsim_scheme_api::{ReactionPoint, Time};
use prefetch_index::prefetch_index;
use std::collections::VecDeque;

/// One limiter with its reaction point. What a frame that waits nowhere touches stands first, in one line of the cache, and so
/// does what a returned rate touches.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct LimiterSlot {
    /// The next frame may go at this time, ps.
    pub(crate) eligible: u64,
    /// Start of the last gap and the bytes that made it, to time it anew.
    last: u64,
    /// Key: the destination host, or [`WHOLE_HOST`].
    pub(crate) key: u32,
    last_len: u16,
    /// Its queue holds a frame.
    waits: bool,
    /// Waits for room in the host's FIFO.
    pub(crate) blocked: bool,
    pub(crate) state: LimiterState,
    pub(crate) object: Box<dyn ReactionPoint>,
    /// Bytes that could pass when it was last looked at ([`Limiters::pass`]).
    room: u32,
    /// Has been engaged at some time.
    pub(crate) was_engaged: bool,
    /// Of its host.
    clock: Clock,
}

impl LimiterSlot {
    pub(crate) fn new(key: u32, object: Box<dyn ReactionPoint>, state: LimiterState, clock: Clock) -> Self {
        Self {
            eligible: 0,
            last: 0,
            key,
            last_len: 0,
            waits: false,
            blocked: false,
            state,
            object,
            room: 0,
            was_engaged: false,
            clock,
        }
    }

    /// Must a new frame be queued here?
    pub(crate) fn holds(&self) -> bool {
        holds_back(&self.state, self.waits)
    }

    /// Does a frame wait here?
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// Puts the flow's tag into a frame that leaves.
    #[inline]
    pub(crate) fn tag(&mut self, frame: &mut Frame, now: u64) {
        let tag = self.next_tag(now);
        if tag.0 != 0 {
            frame.set_packed_tag(tag);
        }
    }

    /// The tag of the frame that leaves now, packed.
    #[inline]
    pub(crate) fn next_tag(&mut self, now: u64) -> (u8, u32) {
        self.state.next_tag(Time::from_ps(now))
    }

    /// Notes that a frame of `len` goes at `now`; the next may go a gap later.
    pub(crate) fn pace(&mut self, now: u64, len: u16) {
        (self.last, self.last_len) = (now, len);
        self.eligible = self.gap_end();
    }
    /// End of the gap after the last frame at the present rate.
    pub(crate) fn gap_end(&self) -> u64 {
        end_of_gap(self.last, self.last_len, self.state.rate, self.clock)
    }
}

/// Most bytes between two looks at a limiter.
const ROOM: i64 = 1 << 31;

/// All limiters of a host.
#[derive(Debug, Default)]
pub(crate) struct Limiters {
    pub(crate) slots: Vec<Option<LimiterSlot>>,
    /// The queue of each: apart, as most are empty.
    queues: Vec<VecDeque<Frame>>,
    free: Vec<u32>,
    /// What a frame needs to know of its limiter, mostly: if that does nothing but count, how many bytes may go before it must
    /// be looked at, and one; else 0. By destination, and of the limiter that serves all of them. Where there is none and none
    /// is built, any number that has been found out to be right.
    left: Paged<u32>,
    whole_left: u32,
    /// Index of the limiter and one; 0 for none.
    places: Paged<u32>,
    whole: u32,
    /// Bit for each slot: its queue holds a frame.
    waiting: Vec<u64>,
    /// Frames in all queues.
    pub(crate) held: usize,
    pub(crate) count: usize,
}

impl Limiters {
    /// Place of the limiter for this key.
    #[inline]
    pub(crate) fn find(&self, key: u32) -> Option<usize> {
        let place = if key == WHOLE_HOST { self.whole } else { self.places.get(key) };
        (place as usize).checked_sub(1)
    }
    /// Place of the limiter for this key, if it limits finite flows now.
    pub(crate) fn limiting(&self, key: u32) -> Option<usize> {
        let limits =
            |at: &usize| self.slots.get(*at).and_then(Option::as_ref).is_some_and(|s| limits(&s.state));
        self.find(key).filter(limits)
    }
    /// Fetches beforehand the limiter for this key.
    #[inline(always)]
    pub(crate) fn expect(&self, key: u32) {
        prefetch_index(&self.slots, self.find(key).unwrap_or(usize::MAX));
    }
    /// Fetches beforehand what [`Limiters::pass`] touches.
    #[inline(always)]
    pub(crate) fn expect_left(&self, key: u32) {
        self.left.expect(key);
    }
    #[inline(always)]
    fn left_mut(&mut self, key: u32) -> Option<&mut u32> {
        if key == WHOLE_HOST { Some(&mut self.whole_left) } else { self.left.get_mut(key) }
    }
    /// A frame of `len` bytes passes a limiter that does nothing but count. False where there is more to do, or no limiter.
    #[inline(always)]
    pub(crate) fn pass(&mut self, key: u32, len: u16) -> bool {
        let Some(left) = self.left_mut(key) else { return false };
        let passes = *left > u32::from(len);
        if passes {
            *left -= u32::from(len);
        }
        passes
    }
    /// Would frames pass a limiter that does nothing but count?
    #[inline(always)]
    pub(crate) fn passes(&self, key: u32) -> bool {
        (if key == WHOLE_HOST { self.whole_left } else { self.left.get(key) }) > 0
    }
    /// A frame has left: if without a limiter, those after it need not look for one until there is one.
    pub(crate) fn pass_freely(&mut self, key: u32) {
        if self.find(key).is_none() {
            self.set(key, 0, ROOM as u32);
        }
    }
    fn set(&mut self, key: u32, place: u32, left: u32) {
        if key == WHOLE_HOST {
            (self.whole, self.whole_left) = (place, left);
        } else {
            *self.places.at(key) = place;
            *self.left.at(key) = left;
        }
    }
    /// The limiter is to be looked at: its state gets what has passed.
    pub(crate) fn settle(&mut self, at: usize) {
        let Some(slot) = self.slots.get_mut(at).and_then(Option::as_mut) else { return };
        let left = match slot.key {
            WHOLE_HOST => Some(&mut self.whole_left),
            key => self.left.get_mut(key),
        };
        let passed = std::mem::take(&mut slot.room) - left.map_or(0, std::mem::take);
        slot.state.countdown -= i64::from(passed);
    }
    /// The limiter has been looked at: what may pass it from now on.
    pub(crate) fn watch(&mut self, at: usize) {
        self.settle(at);
        let Some(slot) = self.slots.get_mut(at).and_then(Option::as_mut) else { return };
        let counts_only = !slot.holds() && slot.state.packed_tag().0 == 0;
        let room = if counts_only { slot.state.countdown.clamp(0, ROOM) as u32 } else { 0 };
        slot.room = room;
        let key = slot.key;
        if let Some(left) = self.left_mut(key) {
            *left = room;
        }
    }
    /// Queues a frame at a limiter; false where it has as many as it may.
    pub(crate) fn push(&mut self, at: usize, frame: Frame, most: usize) -> bool {
        debug_assert!(self.slots.get(at).is_some_and(Option::is_some), "no limiter at place {at}");
        let Some(slot) = self.slots.get_mut(at).and_then(Option::as_mut) else { return false };
        let Some(queue) = self.queues.get_mut(at) else { return false };
        if queue.len() >= most {
            return false;
        }
        slot.waits = true;
        queue.push_back(frame);
        self.held += 1;
        if let Some(word) = self.waiting.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
        true
    }
    /// Frames in a limiter's queue.
    pub(crate) fn queued(&self, at: usize) -> usize {
        self.queues.get(at).map_or(0, VecDeque::len)
    }
    /// All frames in queues.
    pub(crate) fn all_queued(&self) -> impl Iterator<Item = &Frame> {
        self.queues.iter().flatten()
    }
    /// Takes the first frame of a limiter's queue to send it now.
    pub(crate) fn pop(&mut self, at: usize, now: u64) -> Option<Frame> {
        let slot = self.slots.get_mut(at).and_then(Option::as_mut)?;
        let queue = self.queues.get_mut(at)?;
        let frame = queue.pop_front()?;
        slot.pace(now, frame.len);
        self.held -= 1;
        if queue.is_empty()
            && let Some(word) = self.waiting.get_mut(at / 64)
        {
            slot.waits = false;
            *word &= !(1 << (at % 64));
        }
        Some(frame)
    }
    /// The first slot from `from` on, before `to`, whose queue holds a frame that may go now.
    pub(crate) fn ready(&self, from: usize, to: usize, now: u64) -> Option<usize> {
        let (mut word, mut bits) = (from / 64, u64::MAX << (from % 64));
        while word * 64 < to {
            bits &= self.waiting.get(word)?;
            while bits > 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                if at >= to {
                    return None;
                }
                if self.slots[at].as_ref().is_some_and(|s| s.eligible <= now) {
                    return Some(at);
                }
                bits &= bits - 1;
            }
            (word, bits) = (word + 1, u64::MAX);
        }
        None
    }
    pub(crate) fn insert(&mut self, slot: LimiterSlot) -> usize {
        let key = slot.key;
        let at = match self.free.pop() {
            Some(at) => at as usize,
            None => {
                self.slots.push(None);
                self.queues.push(VecDeque::new());
                self.waiting.resize(self.slots.len().div_ceil(64), 0);
                self.slots.len() - 1
            }
        };
        self.slots[at] = Some(slot);
        self.count += 1;
        self.set(key, at as u32 + 1, 0);
        at
    }
    pub(crate) fn remove(&mut self, at: usize) -> Option<LimiterSlot> {
        let slot = self.slots[at].take()?;
        self.set(slot.key, 0, 0);
        self.free.push(at as u32);
        self.count -= 1;
        Some(slot)
    }
}
