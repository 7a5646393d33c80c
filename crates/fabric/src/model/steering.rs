//! Steering: how messages reach a host's reaction points, what those do to their limiters, and how the host's own messages and
//! probes set out. How the limiters then let frames go is in [`super::pacing`].

use super::agenda::{Kind, NEVER, Told, Turn};
use super::frame::{Control, EVERY_FLOW, Frame, Lane, MANAGED, SMALLEST, Says, To, flow_of, hosts_of};
use super::host::Host;
use super::limiter::{GAP, RateLimiter, WHOLE_HOST};
use crate::check::{SINK, Who};
use crate::net::Net;
use crate::scheme::call as of_scheme;
use cnsim_scheme_api::network::{Lent, LimiterAction, LimiterState, Purpose, ReflectorAction, Stream};
use cnsim_scheme_api::{
    Bytes, Class, Feedback, FlowId, Limiter, NodeId, Probe, ProbeTarget, Rate, ReactionPoint, Slot,
    SourceSite, Time,
};
use std::collections::VecDeque;

/// Feedback that takes effect later: by time, then by the node that said it without a frame.
#[derive(Debug, Default)]
pub(crate) struct Deferred(VecDeque<(u64, u32, FlowId, Feedback)>);

/// The reaction point of a limiter with this key.
fn who(key: u32) -> Who {
    Who::Reaction((key != WHOLE_HOST).then_some(key))
}

/// In place of the node that said it: it came in a frame.
pub(crate) const IN_A_FRAME: u32 = u32::MAX;

/// A reaction point of a scheme for frames from `src` to `dst`, if it has one for them, and what it shares with the network.
pub(crate) fn reaction_point(
    net: &Net,
    scheme: usize,
    src: u32,
    dst: u32,
    line_rate: Rate,
) -> Option<(Box<dyn ReactionPoint>, LimiterState)> {
    let flow = flow_of(src, dst, net.hosts);
    let mtu = Bytes::new(u64::from(net.mtu));
    let site = SourceSite {
        flow,
        src: NodeId(src),
        dst: NodeId(dst),
        class: Class::Data,
        line_rate,
        base_rtt: net.base_rtt(src, dst),
        mtu,
    };
    let object = net.schemes[scheme].reaction_point(&site)?;
    let stream = Stream::new(net.seed, u64::from(flow.0) | 1 << 40, Purpose::Reaction);
    Some((object, LimiterState::new(line_rate, stream)))
}

impl Deferred {
    /// Defers what `from` says, or what came in a frame, to `at`.
    pub(crate) fn insert(&mut self, at: u64, from: u32, flow: FlowId, feedback: Feedback) {
        let place = self.0.partition_point(|e| (e.0, e.1) <= (at, from));
        self.0.insert(place, (at, from, flow, feedback));
    }
    /// When the next takes effect, ps.
    pub(crate) fn next(&self) -> u64 {
        self.0.front().map_or(NEVER, |d| d.0)
    }
    /// Takes the next: who said it, about which flow, and what.
    pub(crate) fn pop(&mut self) -> Option<(u32, FlowId, Feedback)> {
        self.0.pop_front().map(|(_, from, flow, feedback)| (from, flow, feedback))
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
            _ => self.expect(turn.now, IN_A_FRAME, flow, feedback, turn),
        }
    }

    /// Feedback that is here, or will be here without a link, `at` its time takes effect later.
    pub(crate) fn expect(
        &mut self,
        at: u64,
        from: u32,
        flow: FlowId,
        feedback: Feedback,
        turn: &mut Turn<'_>,
    ) {
        let at = at + self.spec.feedback_delay.as_ps();
        self.deferred.insert(at, from, flow, feedback);
        self.plan_deferred(turn);
    }

    /// The event of deferred feedback comes after the arrival of a frame at the same moment.
    fn plan_deferred(&self, turn: &mut Turn<'_>) {
        turn.plan(self.deferred.next(), Kind::Control, 1);
    }

    /// Deferred feedback takes effect.
    pub(super) fn hear_deferred(&mut self, turn: &mut Turn<'_>) {
        let Some((from, flow, feedback)) = self.deferred.pop() else { return };
        self.plan_deferred(turn);
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
        let dst = if flow == EVERY_FLOW { WHOLE_HOST } else { hosts_of(flow, turn.net.hosts).1 };
        let key = self.key(dst);
        let at = match (self.spec.scheme, self.limiters.find(key)) {
            (None, _) => None,
            (Some(_), Some(at)) => Some(at),
            (Some(_), None) if dst == WHOLE_HOST => None,
            (Some(scheme), None) => match turn.net.schemes[scheme].engages(feedback) {
                Ok(engages) => engages.then(|| self.build(dst, turn)).flatten(),
                Err(cause) => return self.fail(Who::Reaction(Some(dst)), &cause, turn.now),
            },
        };
        let Some(at) = at else {
            self.books.ignored += 1;
            return;
        };
        self.events.add(turn.now, 0x4000 | u64::from(key) << 20);
        self.wake(at, turn, |object, limiter| object.on_message(feedback, limiter));
    }

    /// Builds a reaction point with its limiter, if the scheme has one for this flow.
    pub(super) fn build(&mut self, dst: u32, turn: &mut Turn<'_>) -> Option<usize> {
        let net = turn.net;
        let (object, state) = reaction_point(net, self.spec.scheme?, self.id, dst, self.line_rate)?;
        let clock = net.clocks[self.id as usize];
        let at = self.limiters.insert(RateLimiter::new(self.key(dst), object, state, clock));
        self.wake(at, turn, |object, limiter| object.start(limiter));
        Some(at)
    }

    /// Wakes a reaction point, and carries out what it asks for.
    pub(super) fn wake(
        &mut self,
        at: usize,
        turn: &mut Turn<'_>,
        call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>),
    ) {
        let Some(key) = self.limiters.at(at).map(|l| l.key) else { return };
        let Some(limiter) = self.limiters.at_mut(at) else { return };
        let (rate, held) = (limiter.state.rate, limiter.holds());
        let mut actions = Vec::new();
        let mut lent = Limiter::new(Time::from_ps(turn.now), &mut limiter.state, &mut actions);
        let said = of_scheme(&mut limiter.object, |o| call(o, &mut lent), |f| Box::new(f));
        if let Err(cause) = said {
            actions = vec![LimiterAction::Fail(cause)];
        }
        if std::mem::take(&mut limiter.state.retime) {
            limiter.retime(turn.now);
        }
        if limiter.state.engaged && !limiter.was_engaged {
            limiter.was_engaged = true;
            self.out.limited_flows += 1;
        }
        if limiter.state.rate != rate {
            self.events.add(turn.now ^ u64::from(key) << 40, limiter.state.rate.bps().to_bits());
        }
        let (sent, holds) = (limiter.state.sent(), limiter.holds());
        let who = who(key);
        for action in actions {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(key, slot.0, turn.now.saturating_add(after.as_ps()), turn);
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(key, slot.0, turn),
                LimiterAction::Probe(probe) => self.probe(probe, key, sent, turn),
                LimiterAction::Count(counter) => self.count(who, &counter, turn.now),
                LimiterAction::Gauge(gauge, value) => self.show((who, key), (&gauge, value), turn),
                LimiterAction::Fail(cause) => self.fail(who, &cause, turn.now),
            }
        }
        if holds && !held && !self.limited_at_source() && self.voqs.is_none() {
            self.recall(at, key);
            self.advance(turn);
        }
        self.let_go(at, turn);
        self.give_back(at, turn);
    }

    /// A timer expires: that of a gap, or one of a reaction point.
    pub(super) fn expire(&mut self, index: u64, turn: &mut Turn<'_>) {
        let (key, slot) = self.timers.expired(index);
        let Some(at) = self.limiters.find(key) else { return };
        if slot == GAP {
            return self.let_go(at, turn);
        }
        let (now, slot) = (Time::from_ps(turn.now), Slot(slot));
        let patience = self.limiters.at_mut(at).map(|l| l.state.patience.expires(slot, now));
        match patience.unwrap_or(Ok(())) {
            Ok(()) => self.wake(at, turn, |object, limiter| object.on_timer(slot, limiter)),
            Err(cause) => self.fail(who(key), &cause, turn.now),
        }
    }

    /// Sends a probe of a flow that has `sent` so many bytes.
    fn probe(&mut self, mut probe: Probe, key: u32, sent: u64, turn: &mut Turn<'_>) {
        if let Err(cause) = turn.net.may_probe(key == WHOLE_HOST, &probe) {
            return self.fail(who(key), &cause, turn.now);
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
        let flow = flow_of(self.id, dst, turn.net.hosts);
        let frame = Frame::control(lane, Control { flow, to, says: Says::Probe(probe) });
        self.queue_control(frame, turn);
    }

    /// A timer of a reflector expires.
    pub(super) fn reflect_by_timer(&mut self, index: u64, turn: &mut Turn<'_>) {
        let (key, slot) = self.alarms.expired(index);
        if let Some((flow, asked)) = self.sink.expire(key, Slot(slot), turn.now) {
            self.reflect(flow, asked, turn);
        }
    }

    /// Carries out what a reflector asked for when it saw a frame of this flow: its answers go to the flow's source.
    pub(super) fn reflect(&mut self, flow: FlowId, asked: Vec<ReflectorAction>, turn: &mut Turn<'_>) {
        let src = hosts_of(flow, turn.net.hosts).0;
        let (who, key) = (Who::Reflector(src), self.sink.key(src));
        for action in asked {
            match action {
                ReflectorAction::Reply(feedback) => self.answer(flow, feedback, turn),
                ReflectorAction::Count(counter) => self.count(who, &counter, turn.now),
                ReflectorAction::StartTimer(slot, after) => {
                    self.alarms.start(key, slot.0, turn.now.saturating_add(after.as_ps()), turn);
                }
                ReflectorAction::StopTimer(slot) => self.alarms.stop(key, slot.0, turn),
                ReflectorAction::Gauge(gauge, value) => {
                    self.show((who, src | SINK), (&gauge, value), turn);
                }
                ReflectorAction::Fail(cause) => self.fail(who, &cause, turn.now),
            }
        }
    }

    /// Sends a message about a flow to its source.
    fn answer(&mut self, flow: FlowId, feedback: Feedback, turn: &mut Turn<'_>) {
        let net = turn.net;
        self.books.made(turn.now, feedback.wire_length().get());
        let to = hosts_of(flow, net.hosts).0;
        if let Some(at) = net.direct(turn.now) {
            return turn.out.told.push(Told { to: Some(to), at, from: self.id, flow, feedback });
        }
        let message = Control { flow, to: To::Host(to), says: Says::Feedback(feedback) };
        self.queue_control(Frame::control(Lane::of_message(net.control), message), turn);
    }
}
