//! Steering: how messages reach a host's reaction points, what those do to their limiters, and how the host's own messages and
//! probes set out. How the limiters then let frames go is in [`super::pacing`].

use super::agenda::{Direct, Moment};
use super::frame::{Control, EVERY_FLOW, Lane, MANAGED, Says, To, flow_of, hosts_of};
use super::limiter::{GAP, RateLimiter};
use super::packet::Packet;
use super::sender::Sender;
use crate::check::Who;
use crate::scheme::{WHOLE_HOST, call as of_scheme};
use crate::spec::SMALLEST;
use cnsim_scheme_api::network::{Lent, LimiterAction, LimiterState, Purpose, Stream};
use cnsim_scheme_api::{
    Bytes, Class, Feedback, FlowId, Limiter, NodeId, Probe, ProbeTarget, ReactionPoint, Slot, SourceSite,
    Time,
};

/// The reaction point of a limiter with this key.
fn who(key: u32) -> Who {
    Who::Reaction((key != WHOLE_HOST).then_some(key))
}

/// In place of the node that said it: it came in a frame.
const IN_A_FRAME: u32 = u32::MAX;

impl<F: Packet> Sender<F> {
    /// A feedback message has arrived in a frame. It may be lost, or take its time until it has an effect.
    pub(crate) fn hear(&mut self, flow: FlowId, feedback: &Feedback, at: Moment<'_>) {
        if self.loses() {
            return;
        }
        match self.settings.feedback_delay {
            0 => self.obey(flow, feedback, at),
            delay => self.deferred.insert(at.now + delay, IN_A_FRAME, flow, *feedback),
        }
    }

    /// Feedback will be here without a link, and takes effect later.
    pub(crate) fn expect(&mut self, direct: &Direct) {
        let &Direct { at, from, flow, feedback, .. } = direct;
        self.deferred.insert(at + self.settings.feedback_delay, from, flow, feedback);
    }

    /// Deferred feedback takes effect.
    pub(crate) fn hear_deferred(&mut self, at: Moment<'_>) {
        let Some((from, flow, feedback)) = self.deferred.pop() else { return };
        // What came in a frame was lost or not as that arrived.
        if from == IN_A_FRAME || !self.loses() {
            self.obey(flow, &feedback, at);
        }
    }

    /// A message arrives: is it one that a fault loses?
    fn loses(&mut self) -> bool {
        self.messages += 1;
        let nth = self.settings.feedback_lost;
        let lost = nth > 0 && self.messages.is_multiple_of(nth);
        self.journal.books.lost += u64::from(lost);
        lost
    }

    /// A message takes effect: at its flow's reaction point, or at one that it builds.
    fn obey(&mut self, flow: FlowId, feedback: &Feedback, at: Moment<'_>) {
        let dst = if flow == EVERY_FLOW { WHOLE_HOST } else { hosts_of(flow, at.net.hosts).1 };
        let key = self.key(dst);
        let place = match (self.settings.scheme, self.limiters.find(key)) {
            (None, _) => None,
            (Some(_), Some(place)) => Some(place),
            (Some(_), None) if dst == WHOLE_HOST => None,
            (Some(scheme), None) => match at.net.schemes[scheme].engages(feedback) {
                Ok(engages) => engages.then(|| self.build(dst, at)).flatten(),
                Err(cause) => return self.fail(Who::Reaction(Some(dst)), &cause, at.now),
            },
        };
        let Some(place) = place else {
            self.journal.books.ignored += 1;
            return;
        };
        self.journal.events.add(at.now, 0x4000 | u64::from(key) << 20);
        self.wake(place, at, |object, limiter| object.on_message(feedback, limiter));
    }

    /// Builds a reaction point with its limiter, if the scheme has one for this flow.
    pub(super) fn build(&mut self, dst: u32, at: Moment<'_>) -> Option<usize> {
        let (net, line_rate) = (at.net, self.settings.line_rate);
        let flow = flow_of(self.settings.id, dst, net.hosts);
        let site = SourceSite {
            flow,
            src: NodeId(self.settings.id),
            dst: NodeId(dst),
            class: Class::Data,
            line_rate,
            base_rtt: net.base_rtt(self.settings.id, dst),
            mtu: Bytes::new(u64::from(net.mtu)),
        };
        let object = net.schemes[self.settings.scheme?].reaction_point(&site)?;
        let stream = Stream::new(net.seed, u64::from(flow.0) | 1 << 40, Purpose::Reaction);
        let state = LimiterState::new(line_rate, stream);
        let limiter = RateLimiter::new(self.key(dst), object, state, self.settings.clock);
        let place = self.limiters.insert(limiter);
        self.wake(place, at, |object, limiter| object.start(limiter));
        Some(place)
    }

    /// Wakes a reaction point, and carries out what it asks for.
    pub(super) fn wake(
        &mut self,
        place: usize,
        at: Moment<'_>,
        call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>),
    ) {
        let Some(limiter) = self.limiters.at_mut(place) else { return };
        let key = limiter.key;
        let (rate, held) = (limiter.state.rate, limiter.holds());
        let mut actions = std::mem::take(&mut self.actions);
        let mut lent = Limiter::new(Time::from_ps(at.now), &mut limiter.state, &mut actions);
        let said = of_scheme(&mut limiter.object, |o| call(o, &mut lent), |f| Box::new(f));
        if let Err(cause) = said {
            actions = vec![LimiterAction::Fail(cause)];
        }
        if std::mem::take(&mut limiter.state.retime) {
            limiter.retime(at.now);
        }
        if limiter.state.engaged && !limiter.was_engaged {
            limiter.was_engaged = true;
            self.journal.out.limited_flows += 1;
        }
        if limiter.state.rate != rate {
            self.journal.events.add(at.now ^ u64::from(key) << 40, limiter.state.rate.bps().to_bits());
        }
        let (sent, holds) = (limiter.state.sent(), limiter.holds());
        let who = who(key);
        for action in actions.drain(..) {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(key, slot.0, at.now.saturating_add(after.as_ps()));
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(key, slot.0),
                LimiterAction::Probe(probe) => self.probe(probe, key, sent, at),
                LimiterAction::Count(counter) => self.count(who, &counter, at.now),
                LimiterAction::Gauge(gauge, value) => self.show(who, key, &gauge, value, at),
                LimiterAction::Fail(cause) => self.fail(who, &cause, at.now),
            }
        }
        self.actions = actions;
        if holds && !held && !self.settings.at_source && self.queues.voqs.is_none() {
            self.recall(place, key);
            self.advance(at);
        }
        self.let_go(place, at);
        self.give_back(place);
    }

    /// A timer expires: that of a gap, or one of a reaction point.
    pub(crate) fn expire(&mut self, at: Moment<'_>) {
        let Some((key, slot)) = self.timers.pop() else { return };
        let Some(place) = self.limiters.find(key) else { return };
        if slot == GAP {
            return self.let_go(place, at);
        }
        let (now, slot) = (Time::from_ps(at.now), Slot(slot));
        let patience = self.limiters.at_mut(place).map(|l| l.state.patience.expires(slot, now));
        match patience.unwrap_or(Ok(())) {
            Ok(()) => self.wake(place, at, |object, limiter| object.on_timer(slot, limiter)),
            Err(cause) => self.fail(who(key), &cause, at.now),
        }
    }

    /// Sends a probe of a flow that has `sent` so many bytes.
    fn probe(&mut self, mut probe: Probe, key: u32, sent: u64, at: Moment<'_>) {
        if let Err(cause) = at.net.may_probe(key == WHOLE_HOST, &probe) {
            return self.fail(who(key), &cause, at.now);
        }
        let dst = key;
        probe.sent_at = Time::from_ps(at.now);
        probe.sent_bytes = sent;
        self.journal.books.made(at.now, u64::from(SMALLEST));
        // Among the data a probe travels to the destination, and ends at its point if that is on the way.
        let (lane, to) = match (probe.class, probe.target) {
            (Class::Data, _) => (MANAGED, To::Host(dst)),
            (Class::Control, ProbeTarget::Destination) => (Lane::Control, To::Host(dst)),
            (Class::Control, ProbeTarget::Point(point)) => (Lane::Control, To::Point(point)),
        };
        let flow = flow_of(self.settings.id, dst, at.net.hosts);
        self.queue_control(lane, Control { flow, to, says: Says::Probe(probe) }, at);
    }
}
