//! Pacing: how a host's limiters let frames go, and what they count of them.
//!
//! Limiters stand *at the source* or *below the queue*. At the source a frame joins the FIFO when its limiter lets it go. Below the
//! queue (and in virtual output queues) limiters take turns at the link. Finite flows wait elsewhere ([`super::transfers`]), and a
//! limiter's queue and its flows take turns.

use super::agenda::{NEVER, Turn};
use super::frame::{Body, Frame};
use super::host::Host;
use super::limiter::{GAP, RateLimiter, WHOLE_HOST, key_of};
use crate::spec::LimiterPosition;
use cnsim_scheme_api::Built;
use std::collections::VecDeque;

impl Host {
    /// Do frames meet their limiters at the source? Those in virtual output queues are paced in place.
    pub(super) fn limited_at_source(&self) -> bool {
        self.voqs.is_none() && self.spec.limiter_position == LimiterPosition::AtSource
    }

    /// Key of the limiter of frames to `dst`.
    pub(super) fn key(&self, dst: u32) -> u32 {
        key_of(self.plan.limiter_scope, dst)
    }

    /// The limiter of frames to `dst`, built now if the scheme wants one from the first frame on.
    pub(super) fn limiter_for(&mut self, dst: u32, turn: &mut Turn<'_>) -> Option<usize> {
        let found = self.limiters.find(self.key(dst));
        match self.plan.built {
            Built::FirstFrame if found.is_none() => self.build(dst, turn),
            _ => found,
        }
    }

    /// Of a new frame's limiter: its place, if the frame has to wait there.
    pub(super) fn holding(&self, limiter: Option<usize>) -> Option<usize> {
        limiter.filter(|&at| self.limiters.at(at).is_some_and(RateLimiter::holds))
    }

    /// Has the FIFO no room for a frame more?
    pub(super) fn fifo_is_full(&self) -> bool {
        self.fifo.len() >= self.spec.fifo_frames as usize
    }

    /// Bytes that wait for a limiter in virtual output queues.
    fn in_voqs(&self, key: u32) -> u64 {
        self.voqs.as_ref().map_or(0, |v| v.bytes(key))
    }

    /// Frames of a flow that is held back from now on leave the FIFO for the limiter's queue, in order.
    pub(super) fn recall(&mut self, at: usize, key: u32) {
        let Some(limiter) = self.limiters.at_mut(at) else { return };
        let mine = |f: &Frame| f.as_data().is_some_and(|d| key == WHOLE_HOST || d.dst == key);
        let (moved, kept) = std::mem::take(&mut self.fifo).into_iter().partition::<VecDeque<Frame>, _>(mine);
        self.fifo = kept;
        moved.into_iter().for_each(|frame| limiter.push(frame));
    }

    /// Lets frames of a limiter go that may go, or plans when the next may. Below the queue the link takes them in its turn; at
    /// the source they join the FIFO as soon as it has room.
    pub(super) fn let_go(&mut self, at: usize, turn: &mut Turn<'_>) {
        let Some(limiter) = self.limiters.at(at) else { return };
        let (key, eligible, queued) = (limiter.key, limiter.eligible, !limiter.queue().is_empty());
        if !queued && self.in_voqs(key) == 0 && !self.transfers.wait_at(at) {
            return;
        }
        if eligible > turn.now {
            if eligible != NEVER {
                self.timers.start(key, GAP, eligible, turn);
            }
            return;
        }
        if !self.limited_at_source() {
            self.transfers.take_part(at);
            return self.port.look(turn);
        }
        let full = self.fifo_is_full();
        let Some(limiter) = self.limiters.at_mut(at) else { return };
        let len = if let Some(len) = self.transfers.let_go(at, queued && !full) {
            limiter.pace(turn.now, len);
            len
        } else if full {
            if !limiter.blocked {
                limiter.blocked = true;
                self.blocked.push_back(at);
            }
            return;
        } else {
            let Some(mut frame) = limiter.pop(turn.now) else { return };
            if let Body::Data(data) = &mut frame.body {
                data.counted = true;
            }
            self.fifo.push_back(frame);
            frame.len
        };
        self.port.look(turn);
        self.count_sent(at, len, turn);
        self.let_go(at, turn);
        self.give_back(at, turn);
    }

    /// The FIFO has room for one more: the limiter that has waited longest uses it.
    pub(super) fn use_room(&mut self, turn: &mut Turn<'_>) {
        if let Some(at) = self.blocked.pop_front() {
            self.limiters.at_mut(at).into_iter().for_each(|l| l.blocked = false);
            self.let_go(at, turn);
        }
    }

    /// The first bit of a frame goes on the link: its limiter tags the frame, and counts it unless that was done at the source.
    pub(super) fn set_out(&mut self, frame: &mut Frame, turn: &mut Turn<'_>) {
        let Body::Data(data) = &mut frame.body else { return };
        let Some(at) = self.limiters.find(self.key(data.dst)) else { return };
        self.limiters.at_mut(at).into_iter().for_each(|l| l.tag(data, turn.now));
        if !data.counted {
            self.count_sent(at, frame.len, turn);
        }
        self.give_back(at, turn);
    }

    /// Counts bytes of a limiter as sent.
    fn count_sent(&mut self, at: usize, len: u16, turn: &mut Turn<'_>) {
        if self.limiters.at_mut(at).is_some_and(|l| l.count(len)) {
            self.wake(at, turn, |object, limiter| object.on_bytes(limiter));
        }
    }

    /// Gives a limiter back when its scheme asked for it and nothing waits for it. One that was built on feedback ceases to exist;
    /// one that was built with the first frame stays, and holds nothing back.
    pub(super) fn give_back(&mut self, at: usize, turn: &mut Turn<'_>) {
        let Some(limiter) = self.limiters.at(at) else { return };
        let key = limiter.key;
        let waits = !limiter.queue().is_empty() || self.in_voqs(key) > 0 || self.transfers.wait_at(at);
        if !limiter.state.release || waits {
            return;
        }
        if self.plan.built == Built::OnFeedback {
            self.limiters.remove(at);
            self.timers.stop_all(key, turn);
            self.blocked.retain(|&b| b != at);
        } else if let Some(limiter) = self.limiters.at_mut(at) {
            limiter.state.release = false;
            limiter.state.engaged = false;
        }
    }
}
