//! What stands at a receiving port.
//!
//! * Claim: a few frames stand beside what says how many there are.
//! * Same bits: order on one link is its sender's, wherever the frames stand.
//! * Bench row: w2.
//! * Marks: none of its own: every frame passes here.

use crate::check::broken;
use crate::fast::frame::{Entry, Frame, Ring};
use prefetch_index::prefetch_index;

/// What has been sent to one receiving port and has not been taken yet, in order of `ready`.
///
/// Mostly that is a frame or two, and two nodes touch each of them in a window or two. So a few stand right beside what says
/// how many there are: one line of the cache for the first. Where a link holds more, they stand in a ring elsewhere.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Inbox {
    /// First of `few`, and how many. Of 32 bits, as they are read so: what was just written in part would have to be waited for.
    head: u32,
    count: u32,
    /// All stand in `many`: for now, or because the link is one that holds many.
    deep: bool,
    always_deep: bool,
    /// A PAUSE has been sent to it, so that frames may not come in order.
    pub(crate) overtaken: bool,
    /// Number of the port at its node: frames learn it here, so that the node can copy them as they are.
    input: u16,
    many: Ring,
    few: [Entry; FEW],
}

/// Places beside the count: a power of two.
const FEW: usize = 4;

impl Inbox {
    /// For a link that holds up to `places` frames.
    pub(crate) fn new(places: usize, input: u16) -> Self {
        let deep = places > FEW;
        let many = if deep { Ring::with_places(places) } else { Ring::default() };
        Self { deep, always_deep: deep, many, input, ..Self::default() }
    }
    #[inline(always)]
    fn place(&self, n: u32) -> usize {
        (self.head + n) as usize % FEW
    }
    /// The entry `n` places after the first, if there is one and it is there before `end`.
    #[inline(always)]
    pub(crate) fn arrived_before(&self, n: u32, end: u64) -> Option<&Entry> {
        if self.deep {
            return self.many.place_at(n).filter(|e| e.ready < end);
        }
        let entry = &self.few[self.place(n)];
        // One branch, as neither can be predicted.
        let due = (n < self.count) & (entry.ready < end);
        due.then_some(entry)
    }
    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        if self.deep { self.many.entries().len() } else { self.count as usize }
    }
    /// The first entry.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Entry> {
        if self.deep { self.many.front() } else { self.entry(0) }
    }
    /// The last entry.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut Entry> {
        if self.deep {
            return self.many.last_but_mut(0);
        }
        let last = self.place(self.count.checked_sub(1)?);
        Some(&mut self.few[last])
    }
    /// Fetches beforehand what two or three frames touch.
    #[inline(always)]
    pub(crate) fn expect(&self) {
        prefetch_index(std::slice::from_ref(self), 0);
        prefetch_index(self.few.as_slice(), 1);
    }
    fn entry(&self, n: usize) -> Option<&Entry> {
        (n < self.count as usize).then(|| &self.few[self.place(n as u32)])
    }
    /// All, first to last.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.many.entries().iter().chain((0..FEW).map_while(|n| self.entry(n)))
    }
    /// Forgets the first `n` entries, which there are.
    #[inline(always)]
    pub(crate) fn skip_many(&mut self, n: u32) {
        if self.deep {
            self.many.skip_many(n);
            if !self.always_deep {
                self.deep = !self.many.is_empty();
            }
            return;
        }
        self.count -= n;
        // Back to the first place when none is left, without a branch.
        let more = u32::from(self.count == 0).wrapping_sub(1);
        self.head = self.place(n) as u32 & more;
    }
    /// Takes the first entry.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<Entry> {
        let entry = *self.front()?;
        self.skip_many(1);
        Some(entry)
    }
    /// Takes the last entry.
    fn pop_back(&mut self) -> Option<Entry> {
        let last = *self.last_mut()?;
        if self.deep {
            self.many.pop_back_since(0);
            self.deep = self.always_deep | !self.many.is_empty();
        } else {
            self.count -= 1;
            self.head = if self.count == 0 { 0 } else { self.head };
        }
        Some(last)
    }
    /// Takes the last data frame back, which has this time; a PAUSE may have come after it.
    pub(crate) fn take_back(&mut self, ready: u64) {
        let mut after = Vec::new();
        loop {
            let Some(last) = self.pop_back() else { broken("a frame to be taken back is not there") };
            if last.ready == ready && last.frame.is_data() {
                break;
            }
            after.push(last);
        }
        while let Some(entry) = after.pop() {
            self.put_between(entry.ready, &entry.frame);
        }
    }
    /// Appends a frame. What one sender sends comes in order, but for a PAUSE over the `wire`, which may overtake.
    #[inline(always)]
    pub(crate) fn put(&mut self, ready: u64, frame: &Frame) {
        if self.overtaken {
            return self.put_between(ready, frame);
        }
        debug_assert!(self.entries().last().is_none_or(|last| last.ready < ready));
        if self.deep {
            return self.many.append(ready, frame, self.input);
        }
        if self.count as usize == FEW {
            return self.put_deep(ready, frame);
        }
        let place = self.place(self.count);
        let place = &mut self.few[place];
        place.ready = ready;
        place.frame = *frame;
        place.frame.input = self.input;
        self.count += 1;
    }
    #[cold]
    #[inline(never)]
    fn put_deep(&mut self, ready: u64, frame: &Frame) {
        self.deepen();
        self.many.append(ready, frame, self.input);
    }
    /// Moves all to `many`.
    fn deepen(&mut self) {
        for n in 0..FEW {
            if let Some(&entry) = self.entry(n) {
                self.many.push_back(&entry);
            }
        }
        (self.head, self.count, self.deep) = (0, 0, true);
    }
    /// Puts a frame in its place by (ready, kind).
    #[cold]
    #[inline(never)]
    pub(crate) fn put_between(&mut self, ready: u64, frame: &Frame) {
        let key = |e: &Entry| (e.ready, e.frame.kind().lane());
        let mut entry = Entry { ready, frame: *frame };
        entry.frame.input = self.input;
        if self.deep | (self.count as usize == FEW) {
            self.deepen();
            return self.many.insert(entry, |e| key(e) > key(&entry));
        }
        let mut at = self.count;
        while at > 0 && key(&self.few[self.place(at - 1)]) > key(&entry) {
            self.few[self.place(at)] = self.few[self.place(at - 1)];
            at -= 1;
        }
        self.few[self.place(at)] = entry;
        self.count += 1;
    }
}
