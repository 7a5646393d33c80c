//! Frames on their way to a receiving port.

use crate::fast::frame::{Entry, Frame, Ps, Ring};
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// Frames that were sent to one receiving port and have not been taken yet, in order of `ready`.
///
/// Mostly that is a frame or two. So a few stand beside what says how many there are: one line of the cache for the first.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Inbox {
    /// First of `few`, and how many.
    head: u8,
    count: u8,
    /// All stand in `many`, as they were too many, until none is left.
    deep: bool,
    /// A PAUSE has been sent to it, so that frames may not come in order: all stand in `many` from then on.
    overtaken: bool,
    /// Number of the port at its node: frames learn it here, so that the node can copy them as they are.
    input: u16,
    many: Ring,
    few: [Entry; FEW],
}

/// Places beside the count: a power of two.
const FEW: usize = 4;

impl Inbox {
    /// The inbox of a node's port with this number.
    pub(crate) fn new(input: u16) -> Self {
        Self { input, ..Self::default() }
    }
    #[inline(always)]
    fn place(&self, n: u32) -> usize {
        (u32::from(self.head) + n) as usize % FEW
    }
    /// The entry `n` places after the first, if there is one and it is there before `end`.
    #[inline(always)]
    pub(crate) fn arrived_before(&self, n: u32, end: Ps) -> Option<&Entry> {
        if self.deep {
            return self.many.place_at(n).filter(|e| e.ready < end);
        }
        let entry = &self.few[self.place(n)];
        // One branch, as neither can be predicted.
        ((n < u32::from(self.count)) & (entry.ready < end)).then_some(entry)
    }
    /// All, first to last.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        let few = (0..u32::from(self.count)).map(|n| &self.few[self.place(n)]);
        self.many.entries().iter().chain(few)
    }
    /// Fetches beforehand what two or three frames touch.
    #[inline(always)]
    pub(crate) fn expect(&self) {
        prefetch_index(from_ref(self), 0);
        prefetch_index(self.few.as_slice(), 1);
    }
    /// Forgets the first `n` entries, which there are.
    #[inline(always)]
    pub(crate) fn skip_many(&mut self, n: u32) {
        if self.deep {
            self.many.skip_many(n);
            self.deep = self.overtaken | !self.many.is_empty();
            return;
        }
        self.count -= n as u8;
        // Back to the first place when none is left, without a branch.
        let more = u8::from(self.count == 0).wrapping_sub(1);
        self.head = self.place(n) as u8 & more;
    }
    /// Takes the first entry, if it is there before `end`.
    #[inline]
    pub(crate) fn pop_front(&mut self, end: Ps) -> Option<Entry> {
        let entry = *self.arrived_before(0, end)?;
        self.skip_many(1);
        Some(entry)
    }
    /// Appends a frame. What one sender sends comes in order, but for a PAUSE over the `wire`, which may overtake.
    #[inline(always)]
    pub(crate) fn put(&mut self, ready: Ps, frame: &Frame) {
        if usize::from(self.count) == FEW {
            self.deepen();
        }
        if self.deep {
            if self.overtaken {
                return self.put_between(ready, frame);
            }
            return self.many.append(ready, frame, self.input);
        }
        debug_assert!(self.entries().last().is_none_or(|last| last.ready < ready));
        let place = self.place(self.count.into());
        let place = &mut self.few[place];
        (place.ready, place.frame) = (ready, *frame);
        place.frame.input = self.input;
        self.count += 1;
    }
    /// A PAUSE is sent to it.
    pub(crate) fn overtake(&mut self) {
        self.deepen();
        self.overtaken = true;
    }
    /// Moves all to `many`.
    #[cold]
    #[inline(never)]
    fn deepen(&mut self) {
        for n in 0..self.count.into() {
            let entry = self.few[self.place(n)];
            self.many.push_back(&entry);
        }
        (self.head, self.count, self.deep) = (0, 0, true);
    }
    /// Puts a frame in its place, in the order of events.
    #[cold]
    #[inline(never)]
    pub(crate) fn put_between(&mut self, ready: Ps, frame: &Frame) {
        let mut entry = Entry { ready, frame: *frame };
        entry.frame.input = self.input;
        self.deepen();
        self.many.insert(entry, |e| e.arrival() > entry.arrival());
    }
}
