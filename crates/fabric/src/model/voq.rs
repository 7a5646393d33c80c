//! Virtual output queues of a host: one for each destination, served in turn.

use crate::scheme::WHOLE_HOST;
use std::collections::VecDeque;

/// The queues, and the order in which those that hold a frame are served.
#[derive(Debug)]
pub(crate) struct Voqs<F> {
    /// By destination.
    queues: Vec<VecDeque<F>>,
    order: VecDeque<u32>,
    /// Frames in all of them.
    pub(crate) count: usize,
}

impl<F> Voqs<F> {
    /// Queues of a host that may send to so many hosts.
    pub(crate) fn new(hosts: u32) -> Self {
        let queues = (0..hosts).map(|_| VecDeque::new()).collect();
        Self { queues, order: VecDeque::new(), count: 0 }
    }
    /// Frames in all queues.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &F> {
        self.queues.iter().flatten()
    }
    /// Frames waiting for a destination.
    pub(crate) fn waiting(&self, dst: u32) -> usize {
        self.queues.get(dst as usize).map_or(0, VecDeque::len)
    }
    /// Does a frame wait for a limiter with this key?
    pub(crate) fn wait_for(&self, key: u32) -> bool {
        if key == WHOLE_HOST { self.count > 0 } else { self.waiting(key) > 0 }
    }
    /// Queues a frame; a queue that was empty comes last in the order.
    pub(crate) fn push(&mut self, dst: u32, frame: F) {
        let queue = &mut self.queues[dst as usize];
        if queue.is_empty() {
            self.order.push_back(dst);
        }
        self.count += 1;
        queue.push_back(frame);
    }
    /// Takes the first frame of the first queue in the order that may send; it comes last after that, and those that may not keep
    /// their place behind it.
    pub(crate) fn pop(&mut self, may_send: impl Fn(u32) -> bool) -> Option<F> {
        let first = self.order.iter().position(|&dst| may_send(dst))?;
        self.order.rotate_left(first + 1);
        let queue = self.queues.get_mut(*self.order.back()? as usize)?;
        let frame = queue.pop_front()?;
        self.count -= 1;
        if queue.is_empty() {
            self.order.pop_back();
        }
        Some(frame)
    }
}
