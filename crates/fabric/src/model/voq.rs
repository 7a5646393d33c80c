//! Virtual output queues of a host: one for each destination, served in turn.

use super::frame::Frame;
use super::limiter::WHOLE_HOST;
use std::collections::{BTreeMap, VecDeque};

/// The queues that hold a frame, and the order in which they are served.
#[derive(Debug, Default)]
pub(crate) struct Voqs {
    queues: BTreeMap<u32, VecDeque<Frame>>,
    order: VecDeque<u32>,
}

impl Voqs {
    /// Frames in all queues.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.queues.values().flatten()
    }
    /// Frames waiting for a destination.
    pub(crate) fn waiting(&self, dst: u32) -> usize {
        self.queues.get(&dst).map_or(0, VecDeque::len)
    }
    /// Bytes that a limiter with this key holds back.
    pub(crate) fn bytes(&self, key: u32) -> u64 {
        let mine = self.queues.iter().filter(|q| key == WHOLE_HOST || *q.0 == key);
        mine.flat_map(|q| q.1).map(|f| u64::from(f.len)).sum()
    }
    /// Queues a frame; a queue that was empty comes last in the order.
    pub(crate) fn push(&mut self, dst: u32, frame: Frame) {
        let queue = self.queues.entry(dst).or_default();
        if queue.is_empty() {
            self.order.push_back(dst);
        }
        queue.push_back(frame);
    }
    /// Takes the first frame of the first queue in the order that may send; it comes last after that, and those that may not keep
    /// their place behind it.
    pub(crate) fn pop(&mut self, may_send: impl Fn(u32) -> bool) -> Option<Frame> {
        let first = self.order.iter().position(|&dst| may_send(dst))?;
        self.order.rotate_left(first + 1);
        let dst = *self.order.back()?;
        let queue = self.queues.get_mut(&dst)?;
        let frame = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&dst);
            self.order.pop_back();
        }
        frame
    }
}
