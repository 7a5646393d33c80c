//! Virtual output queues of a host: one per destination, served in turn.

use crate::fast::frame::Frame;
use crate::fast::limiter::WHOLE_HOST;
use std::collections::VecDeque;

/// The queues, and the order in which those that hold a frame are served.
#[derive(Debug)]
pub(crate) struct Voqs {
    queues: Vec<(VecDeque<Frame>, u64)>,
    active: VecDeque<u32>,
    /// Frames and bytes in all of them.
    pub(crate) frames: usize,
    bytes: u64,
}

impl Voqs {
    pub(crate) fn new(hosts: u32) -> Self {
        Self {
            queues: (0..hosts).map(|_| (VecDeque::new(), 0)).collect(),
            active: VecDeque::new(),
            frames: 0,
            bytes: 0,
        }
    }
    /// Frames waiting for a destination.
    pub(crate) fn queue(&self, dst: u32) -> usize {
        self.queues.get(dst as usize).map_or(0, |q| q.0.len())
    }
    /// Bytes that a limiter with this key holds back.
    pub(crate) fn bytes(&self, key: u32) -> u64 {
        if key == WHOLE_HOST { self.bytes } else { self.queues.get(key as usize).map_or(0, |q| q.1) }
    }
    /// Number of queues that hold a frame.
    pub(crate) fn active(&self) -> usize {
        self.active.len()
    }
    pub(crate) fn push(&mut self, frame: Frame) {
        let dst = u32::from(frame.dst);
        let queue = self.queues.get_mut(dst as usize);
        debug_assert!(queue.is_some(), "a frame for host {dst}, which is none");
        let Some((queue, bytes)) = queue else { return };
        if queue.is_empty() {
            self.active.push_back(dst);
        }
        *bytes += u64::from(frame.len);
        self.bytes += u64::from(frame.len);
        self.frames += 1;
        queue.push_back(frame);
    }
    /// The destination whose turn it is; it goes to the end of the order.
    pub(crate) fn turn(&mut self) -> Option<u32> {
        let dst = self.active.pop_front()?;
        self.active.push_back(dst);
        Some(dst)
    }
    /// Takes the head of the queue whose turn it just was.
    pub(crate) fn pop(&mut self, dst: u32) -> Option<Frame> {
        let (queue, bytes) = self.queues.get_mut(dst as usize)?;
        let frame = queue.pop_front()?;
        *bytes -= u64::from(frame.len);
        self.bytes -= u64::from(frame.len);
        self.frames -= 1;
        if queue.is_empty() {
            self.active.pop_back();
        }
        Some(frame)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.queues.iter().flat_map(|q| &q.0)
    }
}
