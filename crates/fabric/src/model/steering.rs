//! Steering: how messages reach a host's reaction points, what those do to their limiters, and how the host's own messages and
//! probes set out. How the limiters then let frames go is in [`super::pacing`].

use super::account::Why;
use super::agenda::{About, Direct, Moment};
use super::frame::{Control, EVERY_FLOW, Lane, MANAGED, Says, To, flow_of};
use super::limiter::{GAP, RateLimiter, Slowed};
use super::packet::Packet;
use super::program::{OPERATIONS, Program};
use super::queue_pair::{Progress, RTO};
use super::records::Records;
use super::sender::Sender;
use crate::check::{Event, Who, changes};
use crate::net::{FrameNo, Net, Ps};
use crate::outcome::{LATENCY_BUCKETS, Trigger, latency_bucket};
use crate::scheme::{WHOLE_HOST, call as of_scheme};
use crate::spec::SMALLEST;
use cnsim_scheme_api::network::{Lent, LimiterAction, LimiterState, Purpose, Stream};
use cnsim_scheme_api::{
    Bytes, Class, Feedback, FlowId, Hop, Limiter, Loss, NodeId, Probe, ProbeTarget, ReactionPoint, Scope,
    Slot, SourceSite, Time,
};

/// The destination of a limiter with this key; none if it serves the whole host. `own`: the only flow that it limits.
fn served(key: u32, own: Option<FlowId>, net: &Net) -> Option<u32> {
    own.map_or((key != WHOLE_HOST).then_some(key), |flow| Some(net.hosts_of(flow).1))
}

/// In place of the node that said it: it came in a frame.
const IN_A_FRAME: u32 = u32::MAX;

impl<F: Packet> Sender<F> {
    /// A feedback message has arrived in a frame. It may be lost, or take its time until it has an effect.
    #[inline(always)]
    pub(crate) fn hear(&mut self, about: About, mut said: Feedback, records: &mut Records, at: Moment<'_>) {
        let lost = self.loses();
        match self.settings.feedback_delay {
            _ if lost => self.adopt(&mut said, records),
            Ps(0) => self.obey(about, &said, records, at),
            delay => {
                self.adopt(&mut said, records);
                self.deferred.insert(at.now + delay, IN_A_FRAME, about, said);
            }
        }
    }

    /// Takes the telemetry of an acknowledgement that has arrived into a store of its own.
    pub(crate) fn adopt(&mut self, feedback: &mut Feedback, records: &mut Records) {
        if let Feedback::Acknowledgement { record: record @ 1.., .. } = feedback {
            let own = self.pairs.as_mut().map(|pairs| &mut pairs.records);
            *record = own.map_or(0, |own| own.adopt(records, *record));
        }
    }

    /// Feedback will be here without a link, and takes effect later.
    pub(crate) fn expect(&mut self, direct: &Direct) {
        let &Direct { at, from, flow, feedback, about, .. } = direct;
        self.deferred.insert(at + self.settings.feedback_delay, from, (flow, about), feedback);
    }

    /// Deferred feedback takes effect.
    pub(crate) fn hear_deferred(&mut self, at: Moment<'_>) {
        let Some((from, about, feedback)) = self.deferred.pop() else { return };
        // A message that came in a frame was lost or not as the frame arrived.
        if from == IN_A_FRAME || !self.loses() {
            let mut records = self.pairs.as_mut().map(|p| std::mem::take(&mut p.records)).unwrap_or_default();
            self.obey(about, &feedback, &mut records, at);
            self.pairs.iter_mut().for_each(|pairs| pairs.records = std::mem::take(&mut records));
        }
    }

    /// A message arrives: is it one that a fault loses?
    fn loses(&mut self) -> bool {
        self.journal.messages += 1;
        let nth = self.settings.feedback_lost;
        let lost = nth > 0 && self.journal.messages.is_multiple_of(nth);
        self.journal.books.messages.lost += u64::from(lost);
        lost
    }

    /// A message takes effect: at its flow's reaction point, or at one that it builds.
    fn obey(&mut self, (flow, port): About, feedback: &Feedback, records: &mut Records, at: Moment<'_>) {
        if let Feedback::Acknowledgement { .. } = feedback {
            return self.acknowledged((flow, port), feedback, records, at);
        }
        let (every, pairs) = (flow == EVERY_FLOW, self.pairs.as_ref());
        let (pair, over) = pairs.map_or((None, false), |pairs| (Some(flow), !pairs.has(flow)));
        let dst = if every { WHOLE_HOST } else { at.net.hosts_of(flow).1 };
        let key = if every { WHOLE_HOST } else { self.key(dst, pair) };
        let place = match (self.settings.scheme, self.limiters.find(key)) {
            (None, _) => None,
            (Some(_), Some(place)) => Some(place),
            (Some(_), None) if every || over => None,
            (Some(scheme), None) => match at.net.schemes[scheme].engages(feedback) {
                Ok(engages) => engages.then(|| self.build(dst, pair, at)).flatten(),
                Err(cause) => return self.fail(Who::Reaction(Some(dst)), &cause, at.now),
            },
        };
        let Some(place) = place else {
            self.journal.books.messages.ignored += 1;
            return;
        };
        self.journal.events.add(Event::Message(at.now, key));
        let by = if let Feedback::Cnp = feedback { Trigger::Mark } else { Trigger::Message };
        self.wake(place, Why { port, ..Why::of(by) }, at, |object, own| object.on_message(feedback, own));
    }

    /// An acknowledgement of a queue pair takes effect, with what is beside it.
    fn acknowledged(&mut self, (flow, port): About, said: &Feedback, records: &mut Records, at: Moment<'_>) {
        let &Feedback::Acknowledgement { acked, sent_at, marked, gap, record } = said else { return };
        let Some(pairs) = &mut self.pairs else { return };
        let report = records.report(record);
        let said = (acked, || FrameNo(at.net.flows.frames_below(flow, acked).into()), gap, &report);
        if let Some(progress) = pairs.acknowledge(flow, said, marked, (at.now - Ps(sent_at), at.now)) {
            let (path, blamed) = (records.path(record), records.blamed(record));
            let (by, port) = match () {
                () if marked => (Trigger::Mark, port.max(blamed.0)),
                () if path.is_empty() => (Trigger::Answer, 0),
                () => (Trigger::Telemetry, blamed.1),
            };
            let rtt = (at.now - Ps(sent_at)).time();
            let why = Why { by, port, rtt: Some(rtt) };
            self.progress(flow, progress, (acked, marked, gap, path), (rtt, why), at);
        } else {
            self.resume(flow, at);
        }
        records.close(record);
    }

    /// An acknowledgement of a flow under way: of so many bytes, with a mark, as a NACK, with telemetry; after a round trip.
    #[inline(always)]
    fn progress(
        &mut self,
        flow: FlowId,
        Progress { newly, loss, recovered, timeout, marked: is_new, done, mut waits }: Progress,
        (acked, marked, gap, path): (u64, bool, bool, &[Hop]),
        (rtt, why): (Time, Why),
        at: Moment<'_>,
    ) {
        let out = &mut self.journal.out.get_or_insert_default().transport;
        out.acks += 1;
        out.acked += newly;
        out.marked += if marked { newly } else { 0 };
        out.nacks += u64::from(gap);
        out.recoveries += u64::from(loss.is_some());
        out.rtt.resize(LATENCY_BUCKETS, 0);
        out.rtt[latency_bucket(rtt)] += 1;
        if let Some(timeout) = timeout {
            self.timers.start(flow.0, RTO, timeout);
        }
        let own = self.own_limiter(flow);
        if let Some((place, limiter)) = own.and_then(|place| Some((place, self.limiters.at_mut(place)?))) {
            self.pairs.iter_mut().for_each(|pairs| pairs.show(flow, &mut limiter.state.acks));
            let ack = limiter.state.acks.take(acked, is_new, rtt, path);
            // A wake lets the flow go on.
            waits &= ack.is_none() && loss.is_none() && !recovered;
            // The end of a recovery is told before the begin of the next, else after what ended it.
            let why_recovered = Why::of(Trigger::Recovery);
            if recovered && loss.is_some() {
                self.wake(place, why_recovered, at, |object, limiter| object.on_recovered(limiter));
            }
            if let Some(loss) = loss {
                self.wake(place, Why::of_loss(loss), at, |object, limiter| object.on_loss(loss, limiter));
            }
            if let Some(ack) = ack {
                self.wake(place, why, at, |object, limiter| object.on_ack(&ack, limiter));
            }
            if recovered && loss.is_none() {
                self.wake(place, why_recovered, at, |object, limiter| object.on_recovered(limiter));
            }
        }
        if self.accounts.is_some() {
            self.tell((self.key(at.net.hosts_of(flow).1, Some(flow)), Some(flow)), why, false, at);
        }
        if done {
            self.end_pair(flow, at);
        } else if waits {
            self.resume(flow, at);
        }
    }

    /// The limiter that a queue pair has for itself alone.
    fn own_limiter(&self, flow: FlowId) -> Option<usize> {
        self.flow_of(flow.0).and_then(|flow| self.limiters.find(flow.0))
    }

    /// The queue pair that alone has the limiter of this key; none if pairs of hosts, or the whole host, share limiters.
    fn flow_of(&self, key: u32) -> Option<FlowId> {
        let each = self.pairs.is_some() && self.settings.plan.limiter_scope == Scope::Flow;
        each.then_some(FlowId(key))
    }

    /// A flow is over for its source, or a message on its connection: all is acknowledged, or sent where nothing is.
    pub(super) fn end_pair(&mut self, flow: FlowId, at: Moment<'_>) {
        while let Some((message, last, more)) = self.pairs.as_mut().and_then(|p| p.finish(flow, at.net)) {
            if last {
                self.timers.stop(flow.0, RTO);
                if let Some(place) = self.own_limiter(flow) {
                    self.remove(place, flow.0);
                }
                let ended = self.pairs.as_mut().and_then(|pairs| pairs.end(flow));
                self.accounts.iter_mut().zip(ended).for_each(|(accounts, place)| accounts.end(place));
            }
            self.journal.acknowledged.push((message, at.now));
            self.learn(|program| program.acknowledged(message, at.now));
            if !more {
                break;
            }
        }
        self.resume(flow, at);
    }

    /// A message more is to be sent on a connection. One that has been idle may begin with another window.
    pub(super) fn more(&mut self, flow: FlowId, bytes: u64, at: Moment<'_>) {
        let idle = self.pairs.as_mut().and_then(|pairs| pairs.idle(flow, at.now));
        if let (Some((idle, timeout)), Some(place)) = (idle, self.own_limiter(flow)) {
            let (idle, timeout) = (idle.time(), timeout.time());
            let why = Why::of(Trigger::Timer);
            self.wake(place, why, at, |object, limiter| object.on_restart(idle, timeout, limiter));
        }
        self.pairs.iter_mut().for_each(|pairs| pairs.more(flow, bytes));
        self.resume(flow, at);
    }

    /// A flow to this host has arrived whole.
    pub(super) fn received(&mut self, flow: FlowId, at: Moment<'_>) {
        self.learn(|program| program.received(flow, at));
    }

    /// Something that an operation here waits for has happened in another class, or at another NIC of the machine.
    pub(crate) fn advise(&mut self, n: u32, now: Ps) {
        self.learn(|program| program.advise(n, now));
    }

    /// The operations of this host learn something.
    pub(super) fn learn(&mut self, say: impl FnOnce(&mut Program)) {
        if let Some(program) = &mut self.program {
            say(program);
            self.plan_operations();
        }
    }

    /// What another class (`here`) or another NIC of the machine is to be advised of.
    pub(crate) fn tells(&mut self, here: bool) -> Option<(u32, u32)> {
        self.program.as_mut()?.tells(here)
    }

    /// Plans when the next operations are due.
    pub(crate) fn plan_operations(&mut self) {
        if let Some(next) = self.program.as_ref().and_then(|program| program.next()) {
            self.timers.start(0, OPERATIONS, next);
        }
    }

    /// A flow that its window held back takes turns again, if it may.
    fn resume(&mut self, flow: FlowId, at: Moment<'_>) {
        if let Some(queue) = self.pairs.as_mut().and_then(|pairs| pairs.resume(flow)) {
            self.accounts.iter_mut().for_each(|accounts| accounts.resume(queue.place, false, at.now));
            self.join(queue, at);
            self.must_look = true;
        }
    }

    /// An acknowledgement, or a frame that opens a connection, goes on its way.
    #[inline(always)]
    pub(super) fn queue_acknowledgement(&mut self, message: &Control, at: Moment<'_>) {
        let by_priority = at.net.flows.transport.is_some_and(|t| t.ack_class == Class::Control);
        self.queue_control(if by_priority { Lane::Control } else { MANAGED }, message, at);
        self.journal.out.get_or_insert_default().transport.acks_made += 1;
    }

    /// Sends the frame that opens a flow's connection; false if that is open.
    pub(super) fn open(&mut self, flow: FlowId, at: Moment<'_>) -> bool {
        let Some(next) = self.pairs.as_mut().and_then(|pairs| pairs.opens(flow, at.now)) else {
            return false;
        };
        self.timers.start(flow.0, RTO, next);
        self.queue_acknowledgement(&Control::opening(flow, at.net.hosts_of(flow).1, at.now), at);
        true
    }

    /// A flow has waited so long that it may have to send again.
    fn time_out(&mut self, flow: FlowId, at: Moment<'_>) {
        if self.open(flow, at) {
            self.journal.out.get_or_insert_default().transport.timeouts += 1;
            return;
        }
        let Some((loss, next)) = self.pairs.as_mut().map(|pairs| pairs.time_out(flow, at.now)) else {
            return;
        };
        next.into_iter().for_each(|next| self.timers.start(flow.0, RTO, next));
        if let Some(loss) = loss {
            let account = self.accounts.as_mut().zip(self.pairs.as_mut().and_then(|p| p.waits_at(flow)));
            account.into_iter().for_each(|(accounts, place)| accounts.resume(place, true, at.now));
            let out = &mut self.journal.out.get_or_insert_default().transport;
            *(if loss == Loss::Timeout { &mut out.timeouts } else { &mut out.recoveries }) += 1;
            if let Some(place) = self.own_limiter(flow) {
                self.wake(place, Why::of_loss(loss), at, |object, limiter| object.on_loss(loss, limiter));
            }
        }
        self.resume(flow, at);
    }

    /// Builds a reaction point with its limiter, if the scheme has one for this flow.
    pub(super) fn build(&mut self, dst: u32, pair: Option<FlowId>, at: Moment<'_>) -> Option<usize> {
        let (net, line_rate) = (at.net, self.settings.line_rate);
        let flow = pair.unwrap_or_else(|| flow_of(self.settings.id, dst, net.hosts));
        let (base_rtt, hops) = net.base_rtt_of(flow, net.transport_of(self.settings.class.into()));
        let own = pair.filter(|_| self.settings.plan.limiter_scope == Scope::Flow);
        let begun = own.and_then(|flow| self.pairs.as_mut()?.begun(flow));
        let (initial_rate, others, acked) = begun.unwrap_or_default();
        let site = SourceSite {
            flow,
            src: NodeId(self.settings.id),
            dst: NodeId(dst),
            class: Class::Data,
            line_rate,
            base_rtt,
            mtu: Bytes::new(u64::from(net.flows.mtu)),
            hops,
            size: own.and_then(|flow| Some(Bytes::new(net.flows.numbered(flow)?.bytes))),
            initial_rate,
            others,
        };
        let object = net.schemes[self.settings.scheme?].reaction_point(&site)?;
        let place = if net.keyed() { flow_of(self.settings.id, dst, net.hosts) } else { flow };
        let stream = Stream::new(net.seed, u64::from(place.0) | 1 << 40, Purpose::Reaction);
        let mut state = LimiterState::new(line_rate, stream);
        state.acks.acked = acked;
        let limiter = RateLimiter::new(self.key(dst, pair), object, state, self.settings.clock);
        let place = self.limiters.insert(limiter);
        self.wake(place, Why::of(Trigger::Timer), at, |object, limiter| object.start(limiter));
        Some(place)
    }

    /// Something has happened to the flow or the flows of a limiter's key: it is noted where that is recorded.
    #[inline]
    fn tell(&mut self, (key, flow): (u32, Option<FlowId>), why: Why, lowers: bool, at: Moment<'_>) {
        let Some(accounts) = self
            .accounts
            .as_mut()
            .filter(|a| lowers || matches!(why.by, Trigger::Mark | Trigger::Message) || a.asked())
        else {
            return;
        };
        let limiter = self.limiters.find(key).and_then(|place| self.limiters.at(place));
        let rate = limiter.filter(|l| l.state.engaged).map_or(self.settings.line_rate, |l| l.state.rate);
        let pair = flow.and_then(|flow| self.pairs.as_mut()?.seen(flow));
        let dst = served(key, flow, at.net);
        accounts.tell((dst, flow), (rate, pair), why, lowers, at);
    }

    /// Wakes a reaction point, and carries out what it asks for.
    pub(super) fn wake(
        &mut self,
        place: usize,
        why: Why,
        at: Moment<'_>,
        call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>),
    ) {
        let Some(key) = self.limiters.at(place).map(|limiter| limiter.key) else { return };
        let (own, mut actions) = (self.flow_of(key), std::mem::take(&mut self.limiters.actions));
        let Some(limiter) = self.limiters.at_mut(place) else { return };
        if let (Some(flow), Some(pairs)) = (own, &mut self.pairs) {
            pairs.show(flow, &mut limiter.state.acks);
        }
        let (rate, held) = (limiter.state.rate, limiter.holds());
        let mut lent = Limiter::new(at.now.time(), &mut limiter.state, &mut actions);
        let said = of_scheme(&mut limiter.object, |o| call(o, &mut lent), |f| Box::new(f));
        if let Err(cause) = said {
            actions = vec![LimiterAction::Fail(cause)];
        }
        if std::mem::take(&mut limiter.state.retime) {
            limiter.retime(at.now);
        }
        if limiter.state.engaged && !limiter.was_engaged {
            limiter.was_engaged = true;
            self.journal.out.get_or_insert_default().limited_flows += 1;
        }
        if limiter.state.rate != rate {
            self.journal.events.add(Event::Rate(at.now, key, limiter.state.rate.bps().to_bits()));
        }
        let (sent, holds) = (limiter.state.sent(), limiter.holds());
        let narrows = match (own, &mut self.pairs) {
            (Some(f), Some(pairs)) => pairs.take_window(f, limiter.state.acks.window, limiter.state.rate),
            _ => false,
        };
        let lowers = (narrows || limiter.state.rate < rate) && limiter.slowed != Slowed::Begins;
        match limiter.slowed {
            Slowed::Begins => {
                changes("limiter", "begins", "not slowed");
                limiter.slowed = Slowed::No;
            }
            Slowed::No if lowers => {
                changes("limiter", "not slowed", "slowed");
                limiter.slowed = Slowed::Yes;
                self.journal.out.get_or_insert_default().slowed_flows += 1;
            }
            Slowed::No | Slowed::Yes => {}
        }
        if lowers || why.rtt.is_none() {
            self.tell((key, own), why, lowers, at);
        }
        self.carry_out(&actions, (key, own), sent, at);
        actions.clear();
        self.limiters.actions = actions;
        if holds && !held && !self.settings.at_source && self.queues.voqs.is_none() {
            self.recall(place, key);
            self.advance(at);
        }
        self.let_go(place, at);
        self.give_back(place);
        own.into_iter().for_each(|flow| self.resume(flow, at));
    }

    /// Carries out what a reaction point asks for, whose limiter has `sent` so many bytes.
    fn carry_out(
        &mut self,
        actions: &[LimiterAction],
        (key, own): (u32, Option<FlowId>),
        sent: u64,
        at: Moment<'_>,
    ) {
        let dst = served(key, own, at.net);
        let who = Who::Reaction(dst);
        for action in actions {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(key, slot.0, at.now.saturating_add((*after).into()));
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(key, slot.0),
                LimiterAction::Probe(probe) => self.probe(*probe, (dst, own), sent, at),
                LimiterAction::Count(counter) => self.count(who, counter, at.now),
                LimiterAction::Gauge(gauge, value) => {
                    self.show(who, dst.unwrap_or(WHOLE_HOST), gauge, *value, at);
                }
                LimiterAction::Fail(cause) => self.fail(who, cause, at.now),
            }
        }
    }

    /// A timer expires: that of a gap, or one of a reaction point.
    pub(crate) fn expire(&mut self, at: Moment<'_>) {
        let Some((key, slot)) = self.timers.pop() else { return };
        if slot == RTO {
            return self.time_out(FlowId(key), at);
        }
        if slot == OPERATIONS {
            while let Some((flow, rate)) = self.program.as_mut().and_then(|p| p.advance(at.now, at.net)) {
                self.begin(flow, rate, at);
            }
            return self.plan_operations();
        }
        let Some(place) = self.limiters.find(key) else { return };
        if slot == GAP {
            return self.let_go(place, at);
        }
        let (now, slot) = (at.now.time(), Slot(slot));
        let patience = self.limiters.at_mut(place).map(|l| l.state.patience.expires(slot, now));
        match patience.unwrap_or(Ok(())) {
            Ok(()) => self.wake(place, Why::of(Trigger::Timer), at, |object, own| object.on_timer(slot, own)),
            Err(cause) => {
                let dst = served(key, self.flow_of(key), at.net);
                self.fail(Who::Reaction(dst), &cause, at.now);
            }
        }
    }

    /// Sends a probe of a flow that has `sent` so many bytes.
    fn probe(
        &mut self,
        mut probe: Probe,
        (dst, pair): (Option<u32>, Option<FlowId>),
        sent: u64,
        at: Moment<'_>,
    ) {
        if let Err(cause) = at.net.may_probe(dst.is_none(), &probe) {
            return self.fail(Who::Reaction(dst), &cause, at.now);
        }
        let Some(dst) = dst else { return };
        probe.sent_at = at.now.time();
        probe.sent_bytes = sent;
        self.journal.books.made(at.now, u64::from(SMALLEST));
        // Among the data a probe travels to the destination, and ends at its point if that is on the way.
        let (lane, to) = match (probe.class, probe.target) {
            (Class::Data, _) => (MANAGED, To::Host(dst)),
            (Class::Control, ProbeTarget::Destination) => (Lane::Control, To::Host(dst)),
            (Class::Control, ProbeTarget::Point(point)) => (Lane::Control, To::Point(point)),
        };
        let flow = pair.unwrap_or_else(|| flow_of(self.settings.id, dst, at.net.hosts));
        self.queue_control(lane, &Control { flow, to, says: Says::Probe(probe) }, at);
    }
}
