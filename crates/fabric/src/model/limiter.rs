//! A rate limiter: how a reaction point holds its flow's frames back.
//!
//! After a frame of `len` bytes the next may go a gap of `len / rate` later. A limiter at line rate with nothing waiting is
//! transparent: a scheme that never lowers a rate equals no scheme.

use super::agenda::NEVER;
use super::frame::{Data, Frame};
use crate::tx_rate::Clock;
use cnsim_scheme_api::network::LimiterState;
use cnsim_scheme_api::{Rate, ReactionPoint, Scope, Tag, Time};
use std::collections::{BTreeMap, VecDeque};

/// Key of a limiter that serves all flows of its host; others have their destination's number.
pub(crate) const WHOLE_HOST: u32 = u32::MAX;

/// Timer of a limiter's next frame; those of its reaction point are 0 to 3.
pub(crate) const GAP: u8 = 8;

/// Key of the limiter of frames to `dst`.
pub(crate) fn key_of(scope: Scope, dst: u32) -> u32 {
    if scope == Scope::Host { WHOLE_HOST } else { dst }
}

/// When the next frame may go after one of `len` bytes that went at `last`.
pub(crate) fn end_of_gap(last: u64, len: u16, rate: Rate, clock: Clock) -> u64 {
    clock.gap(len, rate).map_or(NEVER, |gap| last.saturating_add(gap))
}

/// Must a new frame wait at a limiter in this state?
#[inline]
pub(crate) fn holds_back(state: &LimiterState, waiting: bool) -> bool {
    state.engaged && (state.rate < state.line_rate || waiting)
}

/// Does a limiter in this state limit its finite flows? Each of them has a queue of its own, so none waits for another's frames.
pub(crate) fn limits(state: &LimiterState) -> bool {
    holds_back(state, false)
}

/// A limiter and the reaction point that steers it.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    /// Destination host, or [`WHOLE_HOST`].
    pub(crate) key: u32,
    /// The scheme's side.
    pub(crate) object: Box<dyn ReactionPoint>,
    /// What scheme and network share.
    pub(crate) state: LimiterState,
    /// The next frame may go at this time.
    pub(crate) eligible: u64,
    /// Waits for room in the host's FIFO.
    pub(crate) blocked: bool,
    /// Has been engaged at some time: its flow counts as limited.
    pub(crate) was_engaged: bool,
    queue: VecDeque<Frame>,
    /// When the last frame went, and its length.
    last: (u64, u16),
    /// Of its host.
    clock: Clock,
}

impl RateLimiter {
    /// Not engaged.
    pub(crate) fn new(key: u32, object: Box<dyn ReactionPoint>, state: LimiterState, clock: Clock) -> Self {
        let queue = VecDeque::new();
        let (eligible, last) = (0, (0, 0));
        Self { key, object, state, eligible, blocked: false, was_engaged: false, queue, last, clock }
    }
    /// Must a new frame of its flow wait here?
    pub(crate) fn holds(&self) -> bool {
        holds_back(&self.state, !self.queue.is_empty())
    }
    /// Frames that wait here.
    pub(crate) fn queue(&self) -> &VecDeque<Frame> {
        &self.queue
    }
    /// A frame has to wait.
    pub(crate) fn push(&mut self, frame: Frame) {
        self.queue.push_back(frame);
    }
    /// May its first frame go now?
    pub(crate) fn may_go(&self, now: u64) -> bool {
        !self.queue.is_empty() && self.eligible <= now
    }
    /// Lets the first frame go now.
    pub(crate) fn pop(&mut self, now: u64) -> Option<Frame> {
        let frame = self.queue.pop_front()?;
        self.pace(now, frame.len);
        Some(frame)
    }
    /// A frame goes now: the gap behind it begins.
    pub(crate) fn pace(&mut self, now: u64, len: u16) {
        self.last = (now, len);
        self.eligible = end_of_gap(now, len, self.state.rate, self.clock);
    }
    /// Computes the gap that runs anew, from the present rate.
    pub(crate) fn retime(&mut self, now: u64) {
        self.eligible = end_of_gap(self.last.0, self.last.1, self.state.rate, self.clock).max(now);
    }
    /// Writes the flow's tag into a frame that leaves, if it draws so.
    pub(crate) fn tag(&mut self, data: &mut Data, now: u64) {
        let (kind, value) = self.state.next_tag(Time::from_ps(now));
        if kind != 0 {
            data.write(Tag::unpack(kind, value));
        }
    }
    /// Counts bytes as sent; true when the number has been reached that the reaction point asked for.
    pub(crate) fn count(&mut self, len: u16) -> bool {
        self.state.countdown -= i64::from(len);
        let reached = self.state.countdown <= 0;
        if reached {
            self.state.disarm();
        }
        reached
    }
}

/// The limiters of a host. Their places take turns at the link; a place given back is the first to be given out again.
#[derive(Debug, Default)]
pub(crate) struct Limiters {
    places: Vec<Option<RateLimiter>>,
    free: Vec<usize>,
    by_key: BTreeMap<u32, usize>,
}

impl Limiters {
    /// Number of places.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }
    /// Is there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
    /// Place of the limiter with this key.
    pub(crate) fn find(&self, key: u32) -> Option<usize> {
        self.by_key.get(&key).copied()
    }
    /// The limiter at a place.
    pub(crate) fn at(&self, place: usize) -> Option<&RateLimiter> {
        self.places.get(place)?.as_ref()
    }
    /// The same, to change it.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut RateLimiter> {
        self.places.get_mut(place)?.as_mut()
    }
    /// Gives a new limiter a place.
    pub(crate) fn insert(&mut self, limiter: RateLimiter) -> usize {
        let place = self.free.pop().unwrap_or(self.places.len());
        self.places.resize_with(self.places.len().max(place + 1), || None);
        self.by_key.insert(limiter.key, place);
        self.places[place] = Some(limiter);
        place
    }
    /// Place of the limiter with this key, if it limits finite flows now.
    pub(crate) fn limiting(&self, key: u32) -> Option<usize> {
        self.find(key).filter(|&at| self.at(at).is_some_and(|l| limits(&l.state)))
    }
    /// Takes a limiter away.
    pub(crate) fn remove(&mut self, place: usize) {
        if let Some(limiter) = self.places.get_mut(place).and_then(Option::take) {
            self.by_key.remove(&limiter.key);
            self.free.push(place);
        }
    }
    /// All frames that wait in them.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.places.iter().flatten().flat_map(|l| &l.queue)
    }
}
