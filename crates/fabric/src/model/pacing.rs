//! Pacing: how a host's limiters let frames go, and what they count of them.
//!
//! Limiters stand *at the source* or *below the queue*. At the source a frame joins the FIFO when its limiter lets it go. Below the
//! queue (and in virtual output queues) limiters take turns at the link. Finite flows wait elsewhere ([`super::transfers`]), and a
//! limiter's queue and its flows take turns.

use super::account::Why;
use super::agenda::Moment;
use super::limiter::{GAP, RateLimiter};
use super::packet::Packet;
use super::queue_pair::{After, RTO};
use super::sender::{Sender, limiter_of};
use super::transfers::FlowQueue;
use crate::check::broken;
use crate::numbers::NEVER;
use crate::outcome::Trigger;
use crate::scheme::{WHOLE_HOST, key_of};
use cnsim_scheme_api::{Built, FlowId, Scope};
use std::collections::VecDeque;

impl<F: Packet> Sender<F> {
    /// Key of the limiter of frames to `dst`.
    #[inline]
    pub(crate) fn key(&self, dst: u32, pair: Option<FlowId>) -> u32 {
        key_of(self.settings.plan.limiter_scope, dst, pair)
    }

    /// The limiter of frames to `dst`, built now if the scheme wants one from the first frame on.
    #[inline]
    pub(super) fn limiter_for(&mut self, dst: u32, pair: Option<FlowId>, at: Moment<'_>) -> Option<usize> {
        let (found, plan) = (self.limiters.find(self.key(dst, pair)), &self.settings.plan);
        if plan.built == Built::FirstFrame && found.is_none() { self.build(dst, pair, at) } else { found }
    }

    /// Of a new frame's limiter: its place, if the frame has to wait there.
    #[inline]
    pub(super) fn holding(&self, limiter: Option<usize>) -> Option<usize> {
        limiter.filter(|&place| self.limiters.at(place).is_some_and(RateLimiter::holds))
    }

    /// Has the FIFO no room for a frame more?
    pub(crate) fn fifo_is_full(&self) -> bool {
        self.queues.fifo.len() >= self.settings.fifo_frames
    }

    /// Do frames wait for a limiter in virtual output queues?
    fn in_voqs(&self, key: u32) -> bool {
        self.queues.voqs.as_ref().is_some_and(|voqs| voqs.wait_for(key))
    }

    /// Frames of a flow that is held back from now on leave the FIFO for the limiter's queue, in order.
    pub(super) fn recall(&mut self, limiter: usize, key: u32) {
        let mine = |f: &F| f.data_to().is_some_and(|dst| key == WHOLE_HOST || dst == key);
        if !self.queues.fifo.iter().any(mine) {
            return;
        }
        let fifo = std::mem::take(&mut self.queues.fifo);
        let (moved, kept) = fifo.into_iter().partition::<VecDeque<F>, _>(mine);
        self.queues.fifo = kept;
        for frame in moved {
            self.limiters.push(limiter, frame);
        }
    }

    /// Lets frames of a limiter go that may go, or plans when the next may. Below the queue the link takes them in its turn; at
    /// the source they join the FIFO as soon as it has room.
    pub(super) fn let_go(&mut self, place: usize, at: Moment<'_>) {
        let Some(limiter) = self.limiters.at(place) else { return };
        let (key, eligible, queued) = (limiter.key, limiter.eligible, limiter.waits);
        if !queued && !self.in_voqs(key) && !self.transfers.wait_at(place) {
            return;
        }
        if eligible > at.now {
            if eligible != NEVER {
                self.timers.start(key, GAP, eligible);
            }
            return;
        }
        if !self.settings.at_source {
            self.transfers.take_part(place);
            self.must_look = true;
            return;
        }
        let full = self.fifo_is_full();
        let Some(limiter) = self.limiters.at_mut(place) else { return };
        let len = if let Some((flow, len)) = self.transfers.let_go(place, queued && !full) {
            self.accounts.iter_mut().for_each(|accounts| accounts.let_go(flow, at.now));
            limiter.pace(at.now, len);
            len
        } else if full {
            if !limiter.blocked {
                limiter.blocked = true;
                self.limiters.blocked.push_back(place);
            }
            return;
        } else {
            let Some(mut frame) = self.limiters.pop(place, at.now) else { broken("a waiting frame is gone") };
            frame.set_counted();
            self.queues.fifo.push_back(frame);
            frame.bytes()
        };
        self.must_look = true;
        self.count_sent(place, len, at);
        self.let_go(place, at);
        self.give_back(place);
    }

    /// The first bit of a frame goes on the link: its limiter tags the frame, and counts it unless that was done at the source.
    #[inline]
    pub(super) fn set_out(&mut self, frame: &mut F, at: Moment<'_>) {
        if self.limiters.is_empty() {
            return;
        }
        let pair = self.going.take();
        let key = |dst| self.key(dst, pair);
        let Some(place) = frame.data_to().and_then(|dst| self.limiters.find(key(dst))) else { return };
        self.limiters.at_mut(place).into_iter().for_each(|l| l.tag(frame, at.now));
        if frame.header().is_some_and(|data| !data.counted) {
            self.count_sent(place, frame.bytes(), at);
        }
        self.give_back(place);
    }

    /// A frame of a queue pair leaves: its gap begins, and it takes another turn unless its window holds it back.
    pub(super) fn sent_segment(&mut self, pair: FlowId, flow: FlowQueue, len: u16, at: Moment<'_>) {
        let limiter = self.limiters.find(self.key(flow.dst, flow.pair));
        limiter.and_then(|place| self.limiters.at_mut(place)).into_iter().for_each(|l| l.pace(at.now, len));
        let Some(pairs) = &mut self.pairs else { return };
        let sent = pairs.sent(pair, len, at.now);
        if sent.again {
            self.accounts.iter_mut().for_each(|accounts| accounts.again(len));
            self.journal.out.get_or_insert_default().transport.resent += 1;
            self.journal.out.get_or_insert_default().transport.resent_bytes += u64::from(len);
        }
        if let Some(timeout) = sent.timeout {
            self.timers.start(pair.0, RTO, timeout);
        }
        if let Some(frame) = sent.last {
            let message = at.net.flows.message_at(pair, frame);
            self.learn(|program| program.sent(message, at.now));
        }
        match sent.after {
            After::Stay if limiter_of(&flow, self.settings.plan.limiter_scope, &self.limiters).is_none() => {
                self.transfers.stay(flow);
            }
            // The limiter that it joins has let go.
            After::Turn | After::Stay if self.join(flow, at).is_some() => return,
            After::Turn | After::Stay | After::Wait => {}
            After::Over => self.end_pair(pair, at),
        }
        limiter.into_iter().for_each(|place| self.let_go(place, at));
    }

    /// Counts bytes of a limiter as sent.
    #[inline]
    fn count_sent(&mut self, place: usize, len: u16, at: Moment<'_>) {
        if self.limiters.at_mut(place).is_some_and(|l| l.count(len)) {
            self.wake(place, Why::of(Trigger::Timer), at, |object, limiter| object.on_bytes(limiter));
        }
    }

    /// Round robin over the virtual output queues whose limiter lets a frame go.
    pub(super) fn next_of_voqs(&mut self, at: Moment<'_>) -> Option<F> {
        let (keys, limiters) = (self.settings.plan.limiter_scope, &self.limiters);
        let pacing = |dst: u32| {
            let place = limiters.find(key_of(keys, dst, None))?;
            limiters.at(place).filter(|l| l.state.engaged).map(|l| (place, l.eligible))
        };
        let may_send = |dst| pacing(dst).is_none_or(|(_, eligible)| eligible <= at.now);
        let frame = self.queues.voqs.as_mut()?.pop(may_send)?;
        if let Some((limiter, _)) = frame.data_to().and_then(pacing) {
            self.limiters.at_mut(limiter).into_iter().for_each(|l| l.pace(at.now, frame.bytes()));
            self.let_go(limiter, at);
        }
        Some(frame)
    }

    /// The rate at which frames to `dst` may go.
    pub(crate) fn rate_to(&self, dst: u32) -> f64 {
        let line = self.settings.line_rate.bps();
        let rate = |pair| {
            let limiter = self.limiters.find(self.key(dst, pair)).and_then(|place| self.limiters.at(place));
            limiter.filter(|l| l.state.engaged).map_or(line, |l| l.state.rate.bps())
        };
        // Queue pairs to one host share the link.
        let pairs = self.pairs.as_ref().filter(|_| self.settings.plan.limiter_scope == Scope::Flow);
        let Some(pairs) = pairs else { return rate(None) };
        pairs.to(dst).map(|flow| rate(Some(flow))).sum::<f64>().min(line)
    }

    /// Gives a limiter back when its scheme asked for it and nothing waits for it. One that was built on feedback ceases to exist;
    /// one that was built with the first frame stays, and holds nothing back.
    #[inline]
    pub(super) fn give_back(&mut self, place: usize) {
        if self.limiters.at(place).is_some_and(|l| l.state.release && !l.waits) {
            self.give_back_now(place);
        }
    }

    /// Takes a limiter away. The timeout of a flow that has the limiter's number runs on.
    pub(super) fn remove(&mut self, place: usize, key: u32) {
        self.limiters.remove(place);
        self.timers.stop_up_to(key, GAP);
        self.limiters.blocked.retain(|&b| b != place);
    }

    #[inline(never)]
    fn give_back_now(&mut self, place: usize) {
        let Some(limiter) = self.limiters.at(place) else { return };
        let key = limiter.key;
        if self.in_voqs(key) || self.transfers.wait_at(place) {
            return;
        }
        if self.settings.plan.built == Built::OnFeedback {
            self.remove(place, key);
        } else if let Some(limiter) = self.limiters.at_mut(place) {
            limiter.state.release = false;
            limiter.state.engaged = false;
        }
    }
}
