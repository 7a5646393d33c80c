//! The sending side of a host: frames, limiters, the transmitter.

use super::Host;
use crate::check::Who;
use crate::fast::bodies::Body;
use crate::fast::frame::{CONTROL, Entry, Frame, Kind, NEVER, TO_POINT};
use crate::fast::limiter::LimiterSlot;
use crate::fast::wires::Wires;
use crate::flows::number;
use crate::model::{FlowQueue, GAP, Next, WHOLE_HOST, key_of, reaction_point};
use crate::net::Net;
use crate::scheme;
use crate::spec::LimiterPosition;
use cnsim_scheme_api::network::{Lent, LimiterAction};
use cnsim_scheme_api::{Built, Class, FlowId, Limiter, Probe, ProbeTarget, ReactionPoint, Slot, Time};
use std::collections::VecDeque;

impl Host {
    /// A source offers a frame; a greedy one that finds no room waits.
    pub(super) fn generate(&mut self, dst: u32, len: u16, greedy: bool, net: &Net) {
        // Where nothing waits ahead and the FIFO has room, a frame passes the application FIFO at once.
        if self.ahead_limit > 0 && !greedy && (!self.ahead.is_empty() || self.fifo.len() >= self.fifo_limit) {
            return self.queue_ahead(dst, len, net);
        }
        let limiter = self.limiter_of(dst, net);
        // A limiter at line rate holds nothing back: its frames pass like those of an unlimited flow.
        let engaged = limiter.filter(|&l| self.slot(l).is_some_and(LimiterSlot::holds));
        if greedy {
            let full = match (engaged, &self.voqs) {
                (_, Some(v)) => v.waiting(dst) >= 2.min(self.fifo_limit),
                (Some(l), _) => self.limiters.queued(l) >= self.limiter_limit,
                (None, _) => self.fifo.len() >= 2.min(self.fifo_limit),
            };
            if full {
                return;
            }
        }
        let frame = Frame::data(self.id, dst, self.seq, len, self.now);
        self.seq = self.seq.wrapping_add(1);
        if let Some(voqs) = &mut self.voqs {
            if voqs.count() >= self.fifo_limit {
                self.out.source_discards += 1;
                return;
            }
            voqs.push(dst, frame);
            self.made.add(&frame);
            if let Some(l) = limiter {
                self.pacer(l, net);
            }
            return self.look();
        }
        match engaged {
            Some(l) => {
                if !self.limiters.push(l, frame, self.limiter_limit) {
                    self.out.source_discards += 1;
                    return;
                }
                self.made.add(&frame);
                self.pacer(l, net);
            }
            None if self.fifo.len() >= self.fifo_limit => self.out.source_discards += 1,
            None => {
                self.made.add(&frame);
                self.fifo.push_back(frame);
                self.look();
            }
        }
    }

    /// A source made a frame, where an application FIFO stands ahead of the limiters.
    #[cold]
    fn queue_ahead(&mut self, dst: u32, len: u16, net: &Net) {
        let frame = Frame::data(self.id, dst, self.seq, len, self.now);
        self.seq = self.seq.wrapping_add(1);
        if self.ahead.len() >= self.ahead_limit {
            self.out.source_discards += 1;
            return;
        }
        self.ahead.push_back(frame);
        self.advance(net);
    }

    /// Frames at the head of the application FIFO go on: to their limiters, or to the host's FIFO while it has room.
    pub(super) fn advance(&mut self, net: &Net) {
        while let Some(&frame) = self.ahead.front() {
            let limiter = self.limiter_of(u32::from(frame.dst), net);
            let engaged = limiter.filter(|&l| self.slot(l).is_some_and(LimiterSlot::holds));
            if engaged.is_none() && self.fifo.len() >= self.fifo_limit {
                return;
            }
            self.ahead.pop_front();
            match engaged {
                Some(l) if !self.limiters.push(l, frame, self.limiter_limit) => {
                    self.out.source_discards += 1;
                    continue;
                }
                Some(l) => self.pacer(l, net),
                None => {
                    self.fifo.push_back(frame);
                    self.look();
                }
            }
            self.made.add(&frame);
        }
    }

    /// The transmitter looks for work at this time, if idle.
    pub(super) fn look(&mut self) {
        if self.end == NEVER {
            self.kick = true;
        }
    }

    #[inline]
    pub(super) fn slot(&self, at: usize) -> Option<&LimiterSlot> {
        self.limiters.slots.get(at).and_then(Option::as_ref)
    }
    #[inline]
    pub(super) fn slot_mut(&mut self, at: usize) -> Option<&mut LimiterSlot> {
        self.limiters.slots.get_mut(at).and_then(Option::as_mut)
    }

    pub(super) fn key_of(&self, dst: u32) -> u32 {
        key_of(self.scope, dst)
    }

    /// The limiter of the flow to `dst`, built now if the scheme wants one at the first frame.
    pub(super) fn limiter_of(&mut self, dst: u32, net: &Net) -> Option<usize> {
        if self.limiters.count == 0 && self.built == Built::OnFeedback {
            return None;
        }
        let found = self.limiters.find(self.key_of(dst));
        if found.is_none() && self.built == Built::FirstFrame { self.build(dst, net) } else { found }
    }

    pub(super) fn build(&mut self, dst: u32, net: &Net) -> Option<usize> {
        let (object, state) = reaction_point(net, self.books.scheme?, self.id, dst, self.rate)?;
        let key = self.key_of(dst);
        let at = self.limiters.insert(LimiterSlot::new(key, object, state, net.clocks[self.id as usize]));
        self.call(at, net, |object, limiter| object.start(limiter));
        Some(at)
    }

    /// A reaction point has stopped the run.
    #[cold]
    pub(super) fn reaction_fails(&mut self, key: u32, cause: &str) {
        self.failure.note(self.now, Who::Reaction((key != WHOLE_HOST).then_some(key)), cause);
    }

    /// Calls a reaction point and carries out what it asks for.
    pub(super) fn call(
        &mut self,
        at: usize,
        net: &Net,
        call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>),
    ) {
        let now = self.now;
        let mut actions = std::mem::take(&mut self.limiter_actions);
        self.limiters.settle(at);
        let Some(slot) = self.slot_mut(at) else { return };
        let key = slot.key;
        let engaged_before = slot.state.engaged;
        let rate_before = slot.state.rate;
        let held_before = slot.holds();
        let mut limiter = Limiter::new(Time::from_ps(now), &mut slot.state, &mut actions);
        let said = scheme::call(&mut slot.object, |o| call(o, &mut limiter), |f| Box::new(f));
        if let Err(cause) = said {
            actions = vec![LimiterAction::Fail(cause)];
        }
        let new = slot.state.engaged && !engaged_before;
        let first = new && !slot.was_engaged;
        slot.was_engaged |= new;
        let holds = slot.holds();
        let retime = std::mem::take(&mut slot.state.retime);
        if retime {
            slot.eligible = slot.gap_end().max(now);
        }
        let sent = slot.state.sent();
        if slot.state.rate != rate_before {
            self.events
                .add(now ^ u64::from(key) << 40, self.slot(at).map_or(0, |s| s.state.rate.bps().to_bits()));
        }
        self.out.limited_flows += u64::from(first);
        for action in actions.drain(..) {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(key, slot.0, now.saturating_add(after.as_ps()));
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(key, slot.0),
                LimiterAction::Probe(probe) => self.probe(probe, key, sent, net),
                LimiterAction::Count(name) => {
                    if let Err(cause) = self.books.counters.add(&name) {
                        self.reaction_fails(key, &cause);
                    }
                }
                LimiterAction::Gauge(gauge, value) => {
                    if let Err(cause) = self.books.show(net, now, key, &gauge, value) {
                        self.reaction_fails(key, &cause);
                    }
                }
                LimiterAction::Fail(cause) => self.reaction_fails(key, &cause),
            }
        }
        self.limiter_actions = actions;
        // At line rate nothing is held back, so nothing is called back either.
        if holds && !held_before && self.position == LimiterPosition::BelowQueue && self.voqs.is_none() {
            self.recall(at, key);
            self.advance(net);
        }
        self.limiters.watch(at);
        self.pacer(at, net);
        self.release(at);
    }

    /// Frames of a flow held back from now on leave the FIFO for the limiter's queue, in order.
    pub(super) fn recall(&mut self, at: usize, key: u32) {
        let mine = |f: &Frame| f.is_data() && (key == WHOLE_HOST || u32::from(f.dst) == key);
        if !self.fifo.iter().any(mine) {
            return;
        }
        let (moved, kept): (VecDeque<Frame>, VecDeque<Frame>) =
            std::mem::take(&mut self.fifo).into_iter().partition(mine);
        self.fifo = kept;
        for frame in moved {
            self.limiters.push(at, frame, usize::MAX);
        }
    }

    /// Gives a limiter back when its scheme asked for it and nothing waits in it.
    pub(super) fn release(&mut self, at: usize) {
        let built = self.built;
        let waiting = self.voqs.as_ref().and_then(|v| Some(v.bytes(self.slot(at)?.key))).unwrap_or(0);
        let flows = self.transfers.wait_at(at);
        let Some(slot) = self.slot_mut(at) else { return };
        if !slot.state.release || slot.waits() || waiting > 0 || flows {
            return;
        }
        slot.state.release = false;
        slot.state.engaged = false;
        let key = slot.key;
        if built == Built::OnFeedback {
            self.limiters.remove(at);
            self.timers.stop_all(key);
            self.blocked.retain(|&b| b != at);
        }
        self.limiters.watch(at);
    }

    pub(super) fn probe(&mut self, mut probe: Probe, key: u32, sent: u64, net: &Net) {
        if let Err(cause) = net.may_probe(key == WHOLE_HOST, &probe) {
            return self.reaction_fails(key, &cause);
        }
        let dst = key;
        let flow = FlowId(self.id * self.hosts + dst);
        probe.sent_at = Time::from_ps(self.now);
        probe.sent_bytes = sent;
        let in_band = probe.class == Class::Data;
        let to = match probe.target {
            ProbeTarget::Point(p) if !in_band => p.0 | TO_POINT,
            _ => dst,
        };
        self.books.made(self.now, u64::from(CONTROL));
        let kind = if in_band { Kind::InBand } else { Kind::Control };
        let ext = self.bodies.put(Body::Probe(flow, probe));
        let mut frame = Frame::control(kind, flow, self.hosts, to, self.now);
        frame.ext = ext;
        frame.set_probe(matches!(probe.target, ProbeTarget::Point(_)));
        if in_band {
            self.probes.push_back(frame);
        } else {
            self.control.push_back(frame);
        }
        self.look();
    }

    /// Lets frames of a limiter go that may go; plans the next.
    pub(super) fn pacer(&mut self, at: usize, net: &Net) {
        let now = self.now;
        let Some(slot) = self.limiters.slots.get_mut(at).and_then(Option::as_mut) else { return };
        let queued = match &self.voqs {
            Some(v) => v.bytes(slot.key) > 0,
            // Not of the queue itself, as it may not be in the cache.
            None => slot.waits(),
        };
        if !queued && !self.transfers.wait_at(at) {
            return;
        }
        if slot.eligible > now {
            if slot.eligible != NEVER {
                self.timers.start(slot.key, GAP, slot.eligible);
            }
            return;
        }
        if self.position == LimiterPosition::BelowQueue {
            self.transfers.take_part(at);
            return self.look();
        }
        let full = self.fifo.len() >= self.fifo_limit;
        let len = if let Some(len) = self.transfers.let_go(at, queued && !full) {
            slot.pace(now, len);
            len
        } else if full {
            if !std::mem::replace(&mut slot.blocked, true) {
                self.blocked.push_back(at);
            }
            return;
        } else {
            let Some(mut frame) = self.limiters.pop(at, now) else { return };
            frame.set_counted();
            self.fifo.push_back(frame);
            frame.len
        };
        self.look();
        self.count(at, len, net);
        self.pacer(at, net);
        self.release(at);
    }

    /// Counts bytes of a limited flow as sent.
    pub(super) fn count(&mut self, at: usize, len: u16, net: &Net) {
        self.limiters.settle(at);
        let Some(slot) = self.slot_mut(at) else { return };
        slot.state.countdown -= i64::from(len);
        if slot.state.countdown <= 0 {
            slot.state.disarm();
            self.call(at, net, |object, limiter| object.on_bytes(limiter));
        } else {
            self.limiters.watch(at);
        }
    }

    pub(super) fn timer(&mut self, net: &Net) {
        let Some((key, slot)) = self.timers.pop() else { return };
        let Some(at) = self.limiters.find(key) else { return };
        if slot == GAP {
            return self.pacer(at, net);
        }
        let (now, slot) = (Time::from_ps(self.now), Slot(slot));
        let patience = self.slot_mut(at).map(|s| s.state.patience.expires(slot, now));
        match patience.unwrap_or(Ok(())) {
            Ok(()) => self.call(at, net, |object, limiter| object.on_timer(slot, limiter)),
            Err(cause) => self.reaction_fails(key, &cause),
        }
    }

    /// The transmitter looks for work: control, then data if not in XOFF.
    pub(super) fn start(&mut self, net: &Net) {
        if self.end != NEVER {
            return;
        }
        if let Some(frame) = self.control.pop_front() {
            return self.transmit(frame);
        }
        if self.paused.is_off() {
            return;
        }
        if let Some(frame) = self.probes.pop_front() {
            return self.transmit(frame);
        }
        let Some(mut frame) = self.next_data(net) else { return };
        if frame.is_data() && (self.limiters.count > 0) {
            self.leave(&mut frame, net);
        }
        self.transmit(frame);
    }

    /// The data that goes next: frames that wait in queues and finite flows take turns.
    fn next_data(&mut self, net: &Net) -> Option<Frame> {
        if self.transfers.is_idle() {
            return self.next_queued(net);
        }
        if self.transfers.flows_next {
            self.next_of_flows(net).or_else(|| self.next_queued(net))
        } else {
            self.next_queued(net).or_else(|| self.next_of_flows(net))
        }
    }

    /// The frame of the finite flow whose turn it is.
    fn next_of_flows(&mut self, net: &Net) -> Option<Frame> {
        loop {
            let (scope, limiters, now) = (self.scope, &self.limiters, self.now);
            let limiter = |flow: &FlowQueue| limiters.limiting(key_of(scope, flow.dst));
            let may_go = |at: usize| limiters.slots[at].as_ref().is_some_and(|s| s.eligible <= now);
            match self.transfers.next(0, limiter, may_go) {
                Next::Nobody => return None,
                Next::Held(at) => self.pacer(at, net),
                Next::Goes { flow, limiter, counted } => {
                    self.transfers.flows_next = false;
                    let (dst, len) = (flow.dst, flow.next_len());
                    let mut frame = Frame::data(self.id, dst, number(self.seq, Some(flow.number)), len, now);
                    frame.set_finite();
                    self.seq = self.seq.wrapping_add(1);
                    self.made.add(&frame);
                    if counted {
                        frame.set_counted();
                    }
                    if let Some(slot) = limiter.and_then(|at| self.slot_mut(at)) {
                        slot.pace(now, len);
                    }
                    flow.behind().into_iter().for_each(|rest| self.join(rest, net));
                    limiter.into_iter().for_each(|at| self.pacer(at, net));
                    return Some(frame);
                }
            }
        }
    }

    /// A finite flow that begins or has sent a frame joins those that take turns, or those that its limiter holds back.
    pub(super) fn join(&mut self, flow: FlowQueue, net: &Net) {
        let limiter = self.limiters.limiting(self.key_of(flow.dst));
        self.transfers.join(flow, limiter);
        limiter.into_iter().for_each(|at| self.pacer(at, net));
    }

    /// The frame that waits in a queue and goes next.
    fn next_queued(&mut self, net: &Net) -> Option<Frame> {
        let frame = match self.position {
            _ if self.voqs.is_some() => self.pick_queue(net),
            LimiterPosition::BelowQueue if self.limiters.count > 0 => self.pick(net),
            _ => self.take_fifo(net),
        };
        self.transfers.flows_next |= frame.is_some();
        frame
    }

    pub(super) fn transmit(&mut self, frame: Frame) {
        self.end = self.now + self.tx.time(frame.len);
        self.sending = Some(frame);
    }

    /// Head of the FIFO; room for a limiter that waits.
    pub(super) fn take_fifo(&mut self, net: &Net) -> Option<Frame> {
        let frame = self.fifo.pop_front()?;
        if let Some(at) = self.blocked.pop_front() {
            if let Some(slot) = self.slot_mut(at) {
                slot.blocked = false;
            }
            self.pacer(at, net);
        }
        self.advance(net);
        Some(frame)
    }

    /// Round robin over the FIFO and the limiters whose next frame may go.
    pub(super) fn pick(&mut self, net: &Net) -> Option<Frame> {
        let (n, turn, now) = (self.limiters.slots.len(), self.turn, self.now);
        if turn == 0
            && let Some(frame) = self.fifo.pop_front()
        {
            self.turn = 1 % (n + 1);
            self.advance(net);
            return Some(frame);
        }
        let mut ready = self.limiters.ready(turn.saturating_sub(1), n, now);
        if ready.is_none() && turn > 0 {
            if let Some(frame) = self.fifo.pop_front() {
                self.turn = 1 % (n + 1);
                self.advance(net);
                return Some(frame);
            }
            ready = self.limiters.ready(0, turn - 1, now);
        }
        let at = ready?;
        let frame = self.limiters.pop(at, now)?;
        self.turn = (at + 2) % (n + 1);
        self.pacer(at, net);
        Some(frame)
    }

    /// Round robin over the virtual output queues whose limiter lets a frame go; in-band answers first.
    pub(super) fn pick_queue(&mut self, net: &Net) -> Option<Frame> {
        if let Some(frame) = self.fifo.pop_front() {
            return Some(frame);
        }
        let (scope, limiters, now) = (self.scope, &self.limiters, self.now);
        let pacing = |dst| {
            let at = limiters.find(key_of(scope, dst))?;
            limiters.slots[at].as_ref().filter(|s| s.state.engaged).map(|s| (at, s.eligible))
        };
        let voqs = self.voqs.as_mut()?;
        let frame = voqs.pop(|dst| pacing(dst).is_none_or(|(_, eligible)| eligible <= now))?;
        if let Some((at, _)) = pacing(u32::from(frame.dst)) {
            self.slot_mut(at).into_iter().for_each(|slot| slot.pace(now, frame.len));
            self.pacer(at, net);
        }
        Some(frame)
    }

    /// A data frame goes on the link: its limiter tags and counts it.
    pub(super) fn leave(&mut self, frame: &mut Frame, net: &Net) {
        let Some(at) = self.limiters.find(self.key_of(u32::from(frame.dst))) else { return };
        let now = self.now;
        let Some(slot) = self.slot_mut(at) else { return };
        slot.tag(frame, now);
        if !frame.counted() {
            self.count(at, frame.len, net);
        }
        self.release(at);
    }

    pub(super) fn end(&mut self, wires: &mut Wires) {
        let end = std::mem::replace(&mut self.end, NEVER);
        self.kick = true;
        if let Some(frame) = self.sending.take() {
            self.send(frame, end, wires);
        }
    }

    /// A frame whose last bit leaves at `end` goes on the wire.
    #[inline(always)]
    pub(super) fn send(&mut self, frame: Frame, end: u64, wires: &mut Wires) {
        if frame.is_data() {
            self.sent += 1;
            wires.push_frame(self.peer, end + self.delay, &frame);
        } else {
            self.send_control(frame, end, wires);
        }
    }

    #[inline(never)]
    fn send_control(&mut self, frame: Frame, end: u64, wires: &mut Wires) {
        self.control_hops += 1;
        let ready = end + self.delay;
        if frame.is_probe() {
            let body = self.bodies.take(frame.ext);
            wires.push(self.peer, Entry { ready, frame }, body);
        } else {
            wires.push_frame(self.peer, ready, &frame);
        }
    }
}
