//! Virtual output queues of a host: one for each destination, served in turn.

use super::limiter::WHOLE_HOST;
use super::packet::Packet;
use std::collections::VecDeque;

/// The queues, and the order in which those that hold a frame are served.
#[derive(Debug)]
pub(crate) struct Voqs<F> {
    /// By destination, with their bytes.
    queues: Vec<(VecDeque<F>, u64)>,
    order: VecDeque<u32>,
    /// Frames and bytes in all of them.
    count: usize,
    bytes: u64,
}

impl<F: Packet> Voqs<F> {
    /// Those of a host that may send to so many.
    pub(crate) fn new(hosts: u32) -> Self {
        let queues = (0..hosts).map(|_| (VecDeque::new(), 0)).collect();
        Self { queues, order: VecDeque::new(), count: 0, bytes: 0 }
    }
    /// Frames in all queues.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &F> {
        self.queues.iter().flat_map(|q| &q.0)
    }
    /// How many those are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
    /// Frames waiting for a destination.
    pub(crate) fn waiting(&self, dst: u32) -> usize {
        self.queues.get(dst as usize).map_or(0, |q| q.0.len())
    }
    /// Bytes that a limiter with this key holds back.
    pub(crate) fn bytes(&self, key: u32) -> u64 {
        if key == WHOLE_HOST { self.bytes } else { self.queues.get(key as usize).map_or(0, |q| q.1) }
    }
    /// Queues a frame; a queue that was empty comes last in the order.
    pub(crate) fn push(&mut self, dst: u32, frame: F) {
        let (queue, bytes) = &mut self.queues[dst as usize];
        if queue.is_empty() {
            self.order.push_back(dst);
        }
        self.count += 1;
        self.bytes += u64::from(frame.bytes());
        *bytes += u64::from(frame.bytes());
        queue.push_back(frame);
    }
    /// Takes the first frame of the first queue in the order that may send; it comes last after that, and those that may not keep
    /// their place behind it.
    pub(crate) fn pop(&mut self, may_send: impl Fn(u32) -> bool) -> Option<F> {
        let first = self.order.iter().position(|&dst| may_send(dst))?;
        self.order.rotate_left(first + 1);
        let (queue, bytes) = self.queues.get_mut(*self.order.back()? as usize)?;
        let frame = queue.pop_front()?;
        self.count -= 1;
        self.bytes -= u64::from(frame.bytes());
        *bytes -= u64::from(frame.bytes());
        if queue.is_empty() {
            self.order.pop_back();
        }
        Some(frame)
    }
}
