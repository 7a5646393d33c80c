//! Steering: how feedback reaches a host's reaction points, and what they do to their limiters.

use super::agenda::{Kind, NEVER, Turn};
use super::frame::{Body, Control, Frame, Lane, MANAGED, SMALLEST, Says, To};
use super::host::Host;
use super::limiter::{GAP, RateLimiter, WHOLE_HOST};
use crate::check::NO_PATH;
use cnsim_scheme_api::{
    Built, Bytes, Class, Feedback, FlowId, Limiter, LimiterAction, LimiterState, NodeId, Probe, ProbeTarget,
    Purpose, ReactionPoint, Scope, Slot, SourceSite, Stream, Time,
};
use std::collections::VecDeque;

/// Key of the limiter of frames to `dst`.
pub(super) fn key_of(scope: Scope, dst: u32) -> u32 {
    if scope == Scope::Host { WHOLE_HOST } else { dst }
}

/// Feedback that takes effect later: by time, then by the node that said it without a frame.
#[derive(Debug, Default)]
pub(crate) struct Deferred(VecDeque<(u64, u32, FlowId, Feedback)>);

/// In place of the node that said it: it came in a frame.
const IN_A_FRAME: u32 = u32::MAX;

impl Deferred {
    fn insert(&mut self, at: u64, from: u32, flow: FlowId, feedback: Feedback, turn: &mut Turn<'_>) {
        let place = self.0.partition_point(|e| (e.0, e.1) <= (at, from));
        self.0.insert(place, (at, from, flow, feedback));
        self.plan(turn);
    }
    /// The event of deferred feedback comes after the arrival of a frame at the same moment.
    fn plan(&self, turn: &mut Turn<'_>) {
        turn.plan(self.0.front().map_or(NEVER, |d| d.0), Kind::Control, 1);
    }
}

impl Host {
    /// A feedback message has arrived in a frame. It may be lost, or take its time until it has an effect.
    pub(super) fn hear(&mut self, flow: FlowId, feedback: Feedback, turn: &mut Turn<'_>) {
        if self.loses() {
            return;
        }
        match self.spec.feedback_delay.as_ps() {
            0 => self.obey(flow, &feedback, turn),
            delay => self.deferred.insert(turn.now + delay, IN_A_FRAME, flow, feedback, turn),
        }
    }

    /// Feedback that takes no link is on its way and will be here `at` its time.
    pub(crate) fn expect(
        &mut self,
        at: u64,
        from: u32,
        flow: FlowId,
        feedback: Feedback,
        turn: &mut Turn<'_>,
    ) {
        let at = at + self.spec.feedback_delay.as_ps();
        self.deferred.insert(at, from, flow, feedback, turn);
    }

    /// Deferred feedback takes effect.
    pub(super) fn hear_deferred(&mut self, turn: &mut Turn<'_>) {
        let Some((_, from, flow, feedback)) = self.deferred.0.pop_front() else { return };
        self.deferred.plan(turn);
        // What came in a frame was lost or not as that arrived.
        if from == IN_A_FRAME || !self.loses() {
            self.obey(flow, &feedback, turn);
        }
    }

    /// A message arrives: is it one that a fault loses?
    fn loses(&mut self) -> bool {
        self.messages += 1;
        let nth = u64::from(self.spec.faults.feedback_lost);
        let lost = nth > 0 && self.messages.is_multiple_of(nth);
        self.books.lost += u64::from(lost);
        lost
    }

    /// A message takes effect: at its flow's reaction point, or at one that it builds.
    fn obey(&mut self, flow: FlowId, feedback: &Feedback, turn: &mut Turn<'_>) {
        let dst = if flow.0 == u32::MAX { WHOLE_HOST } else { flow.0 % turn.net.hosts };
        let key = key_of(self.plan.limiter_scope, dst);
        let engages = |scheme: usize| dst != WHOLE_HOST && turn.net.schemes[scheme].0.engages(feedback);
        let at = match (self.spec.scheme, self.limiters.find(key)) {
            (None, _) => None,
            (Some(_), Some(at)) => Some(at),
            (Some(scheme), None) if engages(scheme) => self.build(dst, turn),
            (Some(_), None) => None,
        };
        let Some(at) = at else {
            self.books.ignored += 1;
            return;
        };
        self.events.add(turn.now, 0x4000 | u64::from(key) << 20);
        self.wake(at, turn, |object, limiter| object.on_message(feedback, limiter));
    }

    /// The limiter of frames to `dst`, built now if the scheme wants one from the first frame on.
    pub(super) fn limiter_for(&mut self, dst: u32, turn: &mut Turn<'_>) -> Option<usize> {
        let found = self.limiters.find(key_of(self.plan.limiter_scope, dst));
        match self.plan.built {
            Built::FirstFrame if found.is_none() => self.build(dst, turn),
            _ => found,
        }
    }

    /// Builds a reaction point with its limiter, if the scheme has one for this flow.
    fn build(&mut self, dst: u32, turn: &mut Turn<'_>) -> Option<usize> {
        let net = turn.net;
        let flow = FlowId(self.id * net.hosts + dst);
        let site = SourceSite {
            flow,
            src: NodeId(self.id),
            dst: NodeId(dst),
            class: Class::Data,
            line_rate: self.line_rate,
            base_rtt: net.base_rtt(self.id, dst),
            mtu: Bytes::new(u64::from(net.mtu)),
        };
        let object = net.schemes[self.spec.scheme?].0.reaction_point(&site)?;
        let stream = Stream::new(net.seed, u64::from(flow.0) | 1 << 40, Purpose::Reaction);
        let state = LimiterState::new(self.line_rate, site.mtu, stream);
        let key = key_of(self.plan.limiter_scope, dst);
        let at =
            self.limiters.insert(RateLimiter::new(key, object, state, turn.net.clocks[turn.node as usize]));
        self.wake(at, turn, |object, limiter| object.start(limiter));
        Some(at)
    }

    /// Bytes that wait for a limiter in virtual output queues.
    fn in_voqs(&self, key: u32) -> u64 {
        self.voqs.as_ref().map_or(0, |v| v.bytes(key))
    }

    /// Wakes a reaction point, and carries out what it asks for.
    fn wake(
        &mut self,
        at: usize,
        turn: &mut Turn<'_>,
        call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>),
    ) {
        let Some(key) = self.limiters.at(at).map(|l| l.key) else { return };
        let in_voqs = self.voqs.as_ref().map(|v| v.bytes(key) as u32);
        let Some(limiter) = self.limiters.at_mut(at) else { return };
        limiter.state.backlog = in_voqs.unwrap_or(limiter.state.backlog);
        let (rate, held) = (limiter.state.rate, limiter.holds());
        let mut actions = Vec::new();
        let mut lent = Limiter::new(Time::from_ps(turn.now), &mut limiter.state, &mut actions);
        call(limiter.object.as_mut(), &mut lent);
        if std::mem::take(&mut limiter.state.retime) {
            limiter.retime(turn.now);
        }
        if limiter.state.engaged && !std::mem::replace(&mut limiter.was_engaged, limiter.state.engaged) {
            self.out.limited_flows += 1;
        }
        if limiter.state.rate != rate {
            self.events.add(turn.now ^ u64::from(key) << 40, limiter.state.rate.bps().to_bits());
        }
        let (sent, holds) = (limiter.state.sent(), limiter.holds());
        for action in actions {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(key, slot.0, turn.now.saturating_add(after.as_ps()), turn);
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(key, slot.0, turn),
                LimiterAction::Probe(probe) => self.probe(probe, key, sent, turn),
                LimiterAction::Count(counter) => self.count("reaction point", &counter, turn.now),
                LimiterAction::Fail(cause) => self.fail("reaction point", &cause, turn.now),
            }
        }
        if holds && !held && !self.limited_at_source() && self.voqs.is_none() {
            self.recall(at, key);
            self.advance(turn);
        }
        self.let_go(at, turn);
        self.give_back(at, turn);
    }

    /// Frames of a flow that is held back from now on leave the FIFO for the limiter's queue, in order.
    fn recall(&mut self, at: usize, key: u32) {
        let Some(limiter) = self.limiters.at_mut(at) else { return };
        let mine = |f: &Frame| f.as_data().is_some_and(|d| key == WHOLE_HOST || d.dst == key);
        let (moved, kept) = std::mem::take(&mut self.fifo).into_iter().partition::<VecDeque<Frame>, _>(mine);
        self.fifo = kept;
        moved.into_iter().for_each(|frame| limiter.push(frame));
    }

    /// Gives a limiter back when its scheme asked for it and nothing waits for it. One built on feedback is no more then.
    fn give_back(&mut self, at: usize, turn: &mut Turn<'_>) {
        let Some(limiter) = self.limiters.at(at) else { return };
        let key = limiter.key;
        if !limiter.state.release || !limiter.queue().is_empty() || self.in_voqs(key) > 0 {
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

    /// Lets frames of a limiter go that may go, or plans when the next may. Below the queue the link takes them in its turn; at
    /// the source they join the FIFO as soon as it has room.
    pub(super) fn let_go(&mut self, at: usize, turn: &mut Turn<'_>) {
        let Some(limiter) = self.limiters.at(at) else { return };
        let (key, eligible) = (limiter.key, limiter.eligible);
        if limiter.queue().is_empty() && self.in_voqs(key) == 0 {
            return;
        }
        if eligible > turn.now {
            if eligible != NEVER {
                self.timers.start(key, GAP, eligible, turn);
            }
            return;
        }
        if !self.limited_at_source() {
            return self.port.look(turn);
        }
        let full = self.fifo.len() >= self.spec.fifo_frames as usize;
        let Some(limiter) = self.limiters.at_mut(at) else { return };
        if full {
            if !std::mem::replace(&mut limiter.blocked, true) {
                self.blocked.push_back(at);
            }
            return;
        }
        let Some(mut frame) = limiter.pop(turn.now) else { return };
        if let Body::Data(data) = &mut frame.body {
            data.counted = true;
        }
        self.fifo.push_back(frame);
        self.port.look(turn);
        self.count_sent(at, frame.len, turn);
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

    /// A frame goes on the link: its limiter tags and counts it.
    pub(super) fn leave(&mut self, frame: &mut Frame, turn: &mut Turn<'_>) {
        let Body::Data(data) = &mut frame.body else { return };
        let Some(at) = self.limiters.find(key_of(self.plan.limiter_scope, data.dst)) else { return };
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

    /// A timer expires: that of a gap, or one of a reaction point.
    pub(super) fn expire(&mut self, index: u64, turn: &mut Turn<'_>) {
        let (key, slot) = self.timers.expired(index);
        let Some(at) = self.limiters.find(key) else { return };
        if slot == GAP {
            self.let_go(at, turn);
        } else {
            self.wake(at, turn, |object, limiter| object.on_timer(Slot(slot), limiter));
        }
    }

    /// Sends a probe of a flow that has `sent` so many bytes.
    fn probe(&mut self, mut probe: Probe, key: u32, sent: u64, turn: &mut Turn<'_>) {
        if key == WHOLE_HOST {
            return self.fail("reaction point", NO_PATH, turn.now);
        }
        let dst = key;
        probe.sent_at = Time::from_ps(turn.now);
        probe.sent_bytes = sent;
        self.books.made(turn.now, u64::from(SMALLEST));
        // Among the data a probe travels to the destination, and ends at its point if that is on the way.
        let (lane, to) = match (probe.class, probe.target) {
            (Class::Data, _) => (MANAGED, To::Host(dst)),
            (Class::Control, ProbeTarget::Destination) => (Lane::Control, To::Host(dst)),
            (Class::Control, ProbeTarget::Point(point)) => (Lane::Control, To::Point(point)),
        };
        let flow = FlowId(self.id * turn.net.hosts + dst);
        let frame = Frame::control(lane, Control { flow, to, says: Says::Probe(probe) });
        self.queue_control(frame, turn);
    }
}
