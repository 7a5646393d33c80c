//! What stands at a receiving port.

use crate::fast::frame::{Entry, Frame, Ring};

/// What has been sent to one receiving port and has not been taken yet, in order of `ready`.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    frames: Ring,
    /// A PAUSE has been sent to it, so that frames may not come in order.
    pub(crate) overtaken: bool,
    /// Number of the port at its node: frames learn it here, so that the node can copy them as they are.
    input: u16,
}

impl Inbox {
    /// For a link that holds up to `places` frames.
    pub(crate) fn new(places: usize, input: u16) -> Self {
        Self { frames: Ring::with_places(places), overtaken: false, input }
    }
    /// The entry `n` places after the first, if there is one and it is there before `end`.
    #[inline(always)]
    pub(crate) fn arrived_before(&self, n: u32, end: u64) -> Option<&Entry> {
        self.frames.place_at(n).filter(|e| e.ready < end)
    }
    /// All, first to last.
    #[inline(always)]
    pub(crate) fn entries(&self) -> &[Entry] {
        self.frames.entries()
    }
    /// The first entry.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Entry> {
        self.frames.front()
    }
    /// Fetches beforehand what two or three frames touch.
    #[inline(always)]
    pub(crate) fn expect(&self) {
        self.frames.expect();
    }
    /// Forgets the first `n` entries, which there are.
    #[inline(always)]
    pub(crate) fn skip_many(&mut self, n: u32) {
        self.frames.skip_many(n);
    }
    /// Takes the first entry.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<Entry> {
        self.frames.pop_front()
    }
    /// Appends a frame. What one sender sends comes in order, but for a PAUSE over the `wire`, which may overtake.
    #[inline(always)]
    pub(crate) fn put(&mut self, ready: u64, frame: &Frame) {
        if self.overtaken {
            return self.put_between(ready, frame);
        }
        debug_assert!(self.entries().last().is_none_or(|last| last.ready < ready));
        self.frames.append(ready, frame, self.input);
    }
    /// Puts a frame in its place by (ready, kind).
    #[cold]
    #[inline(never)]
    pub(crate) fn put_between(&mut self, ready: u64, frame: &Frame) {
        let key = |e: &Entry| (e.ready, e.frame.kind().lane());
        let mut entry = Entry { ready, frame: *frame };
        entry.frame.input = self.input;
        self.frames.insert(entry, |e| key(e) > key(&entry));
    }
}
