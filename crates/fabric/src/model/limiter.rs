//! A rate limiter: how a reaction point holds its flow's frames back.
//!
//! After a frame of `len` bytes the next may go a gap of `len / rate` later. A limiter at line rate with nothing waiting is
//! transparent: a scheme that never lowers a rate equals no scheme.
//!
//! Limiters are found by flow without a hash, and their queues stand apart, as most are empty.

use super::packet::Packet;
use super::point::count_down;
use crate::numbers::{NEVER, Ps};
use crate::paged::Paged;
use crate::scheme::WHOLE_HOST;
use crate::tx_rate::Clock;
use cnsim_scheme_api::network::{LimiterAction, LimiterState};
use cnsim_scheme_api::{Rate, ReactionPoint};
use std::collections::VecDeque;

/// Timer of a limiter's next frame; those of its reaction point are 0 to 3.
pub(crate) const GAP: u8 = 8;

/// Must a new frame wait at a limiter in this state?
#[inline]
fn holds_back(state: &LimiterState, waiting: bool) -> bool {
    state.engaged && (state.rate < state.line_rate || waiting)
}

/// Has a scheme lowered the rate or the window of a limiter? What it begins with is not lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slowed {
    /// The reaction point has not started.
    Begins,
    No,
    Yes,
}

/// A limiter and the reaction point that steers it. What a frame that waits nowhere touches stands first, in one line of the cache,
/// and so does what a returned rate touches.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct RateLimiter {
    /// The next frame may go at this time, ps.
    pub(crate) eligible: Ps,
    /// When the last frame went.
    last: Ps,
    /// Destination host, flow with a queue pair, or [`WHOLE_HOST`].
    pub(crate) key: u32,
    /// Length of the frame that went last.
    last_len: u16,
    /// A frame waits in its queue.
    pub(crate) waits: bool,
    /// Waits for room in the host's FIFO.
    pub(crate) blocked: bool,
    /// State that scheme and network share.
    pub(crate) state: LimiterState,
    /// The scheme's side.
    pub(crate) object: Box<dyn ReactionPoint>,
    /// Has been engaged at some time: its flow counts as limited.
    pub(crate) was_engaged: bool,
    /// Has slowed its flow since that began.
    pub(crate) slowed: Slowed,
    /// Of its host.
    clock: Clock,
    /// The gap that was found last, ps, after the length and the rate that it is for.
    gap: (u16, Rate, Ps),
}

impl RateLimiter {
    /// Not engaged.
    pub(crate) fn new(key: u32, object: Box<dyn ReactionPoint>, state: LimiterState, clock: Clock) -> Self {
        let (eligible, last, last_len, gap) = (Ps(0), Ps(0), 0, (0, Rate::ZERO, NEVER));
        let (waits, blocked, was_engaged, slowed) = (false, false, false, Slowed::Begins);
        Self { eligible, last, key, last_len, waits, blocked, state, object, was_engaged, slowed, clock, gap }
    }
    /// Must a new frame of its flow wait here?
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        holds_back(&self.state, self.waits)
    }
    /// A frame goes now: the gap behind it begins.
    pub(crate) fn pace(&mut self, now: Ps, len: u16) {
        (self.last, self.last_len) = (now, len);
        self.retime(Ps(0));
    }
    /// Computes the gap that runs anew, from the present rate.
    pub(crate) fn retime(&mut self, now: Ps) {
        let (len, rate) = (self.last_len, self.state.rate);
        if (self.gap.0, self.gap.1) != (len, rate) {
            self.gap = (len, rate, self.clock.gap(len, rate).unwrap_or(NEVER));
        }
        let gap = self.gap.2;
        self.eligible = self.last.saturating_add(gap).max(now);
    }
    /// Writes the flow's tag into a frame that leaves, if it draws so.
    #[inline]
    pub(crate) fn tag<F: Packet>(&mut self, frame: &mut F, now: Ps) {
        let tag = self.state.next_tag(now.time());
        if tag.0 != 0 {
            frame.write_tag(tag);
        }
    }
    /// Counts bytes as sent; true when the number has been reached that the reaction point asked for.
    #[inline]
    pub(crate) fn count(&mut self, len: u16) -> bool {
        let reached = count_down(&mut self.state.countdown, len);
        if reached {
            self.state.disarm();
        }
        reached
    }
}

/// The limiters of a host, with the frames that wait in them. Their places take turns at the link; a place given back is the first to
/// be given out again.
#[derive(Debug)]
pub(crate) struct Limiters<F> {
    pub(crate) places: Vec<Option<RateLimiter>>,
    queues: Vec<VecDeque<F>>,
    vacant: Vec<u32>,
    /// By key, place of the limiter and one; 0 for none. One for the whole host is alone, and stands first.
    by_key: Paged<u32>,
    /// Bit for each place: a frame waits in its queue.
    waiting: Vec<u64>,
    /// Frames in all queues.
    pub(super) held: usize,
    /// Who goes next among the limiters: the FIFO (0) or the limiter at a place (place + 1).
    pub(super) next_place: usize,
    /// Limiters at the source that wait for room in the FIFO, in order.
    pub(super) blocked: VecDeque<usize>,
    /// Actions of reaction points; the list is kept for its memory.
    pub(super) actions: Vec<LimiterAction>,
}

impl<F> Default for Limiters<F> {
    fn default() -> Self {
        let (places, queues, vacant, by_key) = Default::default();
        let (waiting, held, next_place, blocked, actions) = Default::default();
        Self { places, queues, vacant, by_key, waiting, held, next_place, blocked, actions }
    }
}

impl<F: Packet> Limiters<F> {
    /// Is there none?
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.len() == self.vacant.len()
    }
    /// Place of the limiter with this key.
    #[inline]
    pub(crate) fn find(&self, key: u32) -> Option<usize> {
        (self.by_key.get(key % WHOLE_HOST) as usize).checked_sub(1)
    }
    /// The limiter at a place.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> Option<&RateLimiter> {
        self.places.get(place)?.as_ref()
    }
    /// The limiter at a place, to change it.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut RateLimiter> {
        self.places.get_mut(place)?.as_mut()
    }
    /// Place of the limiter with this key, if it limits finite flows now: none of them waits for frames of its queue.
    pub(crate) fn limiting(&self, key: u32) -> Option<usize> {
        self.find(key).filter(|&at| self.at(at).is_some_and(|l| holds_back(&l.state, false)))
    }
    /// Frames that wait in the queue at a place.
    pub(crate) fn queued(&self, place: usize) -> usize {
        self.queues.get(place).map_or(0, VecDeque::len)
    }
    /// All frames that wait in them.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &F> {
        self.queues.iter().flatten()
    }
    /// A frame has to wait at the limiter at this place. False if there is none.
    pub(crate) fn push(&mut self, place: usize, frame: F) -> bool {
        let limiter = self.places.get_mut(place).and_then(Option::as_mut);
        let (Some(limiter), Some(queue)) = (limiter, self.queues.get_mut(place)) else { return false };
        limiter.waits = true;
        queue.push_back(frame);
        self.held += 1;
        self.waiting[place / 64] |= 1 << (place % 64);
        true
    }
    /// Lets the first frame of a queue go now.
    pub(crate) fn pop(&mut self, place: usize, now: Ps) -> Option<F> {
        let limiter = self.places.get_mut(place)?.as_mut()?;
        let queue = self.queues.get_mut(place)?;
        let frame = queue.pop_front()?;
        limiter.pace(now, frame.bytes());
        self.held -= 1;
        if queue.is_empty() {
            limiter.waits = false;
            self.waiting[place / 64] &= !(1 << (place % 64));
        }
        Some(frame)
    }
    /// The first place of these at which a frame waits that may go now.
    pub(crate) fn ready(&self, places: std::ops::Range<usize>, now: Ps) -> Option<usize> {
        let (mut word, mut bits) = (places.start / 64, u64::MAX << (places.start % 64));
        while word * 64 < places.end {
            bits &= self.waiting.get(word)?;
            while bits > 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                if place >= places.end {
                    return None;
                }
                if self.at(place).is_some_and(|l| l.eligible <= now) {
                    return Some(place);
                }
                bits &= bits - 1;
            }
            (word, bits) = (word + 1, u64::MAX);
        }
        None
    }
    /// Gives a new limiter a place.
    pub(crate) fn insert(&mut self, limiter: RateLimiter) -> usize {
        let place = self.vacant.pop().map_or(self.places.len(), |place| place as usize);
        if place == self.places.len() {
            self.places.push(None);
            self.queues.push(VecDeque::new());
            self.waiting.resize(self.places.len().div_ceil(64), 0);
        }
        *self.by_key.at(limiter.key % WHOLE_HOST) = place as u32 + 1;
        self.places[place] = Some(limiter);
        place
    }
    /// Takes a limiter away.
    pub(crate) fn remove(&mut self, place: usize) {
        if let Some(limiter) = self.places.get_mut(place).and_then(Option::take) {
            *self.by_key.at(limiter.key % WHOLE_HOST) = 0;
            self.vacant.push(place as u32);
        }
    }
}
