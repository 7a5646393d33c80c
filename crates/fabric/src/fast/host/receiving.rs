//! The receiving side of a host: delivery, reflectors, feedback; recording and the end of a run.

use super::{Calm, Ear, Host, ReflectorSlot, only_marks_wake};
use crate::check::{HostBooks, Ledger, SINK, Who};
use crate::fast::bodies::{Body, Direct};
use crate::fast::frame::{Frame, Kind};
use crate::fast::wires::Wires;
use crate::model::{Delivery, IN_A_FRAME, Pause, WHOLE_HOST, expire, reflector};
use crate::net::Net;
use crate::outcome::{Series, SeriesKind};
use crate::scheme;
use cnsim_scheme_api::network::{Lent, ReflectorAction};
use cnsim_scheme_api::{
    Bytes, Feedback, FlowId, FrameView, NodeId, Probe, ReflectGate, ReflectorControl, Scope, Slot, Tag, Time,
};

impl Host {
    pub(crate) fn arrive(&mut self, frame: Frame, net: &Net, wires: &mut Wires) {
        match frame.kind() {
            Kind::Xoff | Kind::Xon if self.faults.ignores_pause => {}
            Kind::Xoff | Kind::Xon => self.pause(frame.kind() == Kind::Xoff),
            Kind::Data => self.deliver(&frame, net, wires),
            Kind::Control | Kind::InBand => {
                if let Some(feedback) = frame.said() {
                    return self.told(FlowId(frame.flow(self.hosts)), &feedback, net);
                }
                match wires.bodies.get(frame.ext) {
                    Some(Body::Feedback(flow, feedback)) => self.told(*flow, feedback, net),
                    Some(&Body::Probe(flow, probe))
                        if self.reflects(self.now, flow, None, Some(probe), net) =>
                    {
                        self.reply(flow, net, wires);
                    }
                    Some(Body::Probe(..)) | None => {}
                }
                wires.bodies.release(frame.ext);
            }
        }
    }

    /// A message has arrived in a frame.
    #[inline]
    fn told(&mut self, flow: FlowId, feedback: &Feedback, net: &Net) {
        if self.loses() {
            self.books.lost += 1;
        } else if self.feedback_delay > 0 {
            self.deferred.insert(self.now + self.feedback_delay, IN_A_FRAME, flow, *feedback);
        } else {
            self.feedback(flow, feedback, net);
        }
    }

    /// Feedback is on its way to this host without a frame. Whether it is lost is found out when it arrives, as messages come
    /// here in any order.
    pub(crate) fn defer(&mut self, d: &Direct) {
        self.deferred.insert(d.at + self.feedback_delay, d.from, d.flow, d.feedback);
        (self.due, self.calm) = (self.due.min(self.deferred.next()), Calm::Not);
    }

    /// Is the feedback that arrives now lost?
    pub(super) fn loses(&mut self) -> bool {
        self.messages += 1;
        self.faults.feedback_lost > 0 && self.messages.is_multiple_of(u64::from(self.faults.feedback_lost))
    }

    pub(super) fn pause(&mut self, off: bool) {
        self.events.add(self.now, Pause { off, class: 0 }.code());
        self.out.pauses += u64::from(off);
        if self.paused.hear(off, self.now) {
            self.look();
        }
    }

    /// A data frame has arrived.
    #[inline]
    pub(crate) fn deliver(&mut self, frame: &Frame, net: &Net, wires: &mut Wires) {
        self.receive(self.now, frame);
        if !self.selects(frame) {
            self.hear(frame);
        } else if self.answers(self.now, frame, net) {
            self.reply_to(frame, net, wires, |host, frame, _| host.queue_control(frame));
        }
    }

    /// May this frame wake its reflector, by the gate of that or of the plan?
    #[inline]
    pub(super) fn selects(&mut self, frame: &Frame) -> bool {
        let gate = if self.own_gates > 0 { self.gate_of(frame) } else { self.gate };
        self.fires(gate, frame)
    }

    /// The gate of a frame's reflector.
    fn gate_of(&self, frame: &Frame) -> ReflectGate {
        let ear = self.ears.get(self.reflector_key(u32::from(frame.src)));
        let slot = self.reflectors.get((ear.at as usize).wrapping_sub(1)).filter(|_| ear.own_gate);
        slot.map_or(self.gate, |s| s.state.gate)
    }

    /// Does a gate select it?
    fn fires(&mut self, gate: ReflectGate, frame: &Frame) -> bool {
        gate.selects(frame.marked(), frame.tag_kind(), &mut self.gate_stream)
    }

    /// Wakes the reflector with a data frame that arrives at `now`; true if it has something to do.
    #[inline]
    pub(super) fn answers(&mut self, now: u64, frame: &Frame, net: &Net) -> bool {
        matches!(self.gate, ReflectGate::ReturnTags(_)) || self.wakes_up(now, frame, net)
    }

    fn wakes_up(&mut self, now: u64, frame: &Frame, net: &Net) -> bool {
        let flow = FlowId(frame.flow(self.hosts));
        let view = FrameView {
            flow,
            src: NodeId(u32::from(frame.src)),
            dst: NodeId(self.id),
            len: Bytes::new(u64::from(frame.len)),
            marked: frame.marked(),
            tag: frame.tag(),
            dropped: false,
        };
        self.reflects(now, flow, Some(view), None, net)
    }

    /// Counts a data frame that does not wake its reflector, if that wants to know.
    #[inline]
    pub(super) fn hear(&mut self, frame: &Frame) {
        if !self.counts {
            return;
        }
        let key = self.reflector_key(u32::from(frame.src));
        if let Some(ear) = self.ears.get_mut(key) {
            ear.heard += u64::from(frame.len);
        }
    }

    /// Does it wake its reflector now, then?
    #[inline]
    pub(super) fn wakes(&self, now: u64, frame: &Frame) -> bool {
        self.ears.get(self.reflector_key(u32::from(frame.src))).deaf_until <= now
    }

    /// Accounts for a received data frame.
    #[inline(always)]
    pub(crate) fn receive(&mut self, now: u64, frame: &Frame) {
        let delivery = Delivery {
            src: u32::from(frame.src),
            dst: u32::from(frame.dst),
            flow: frame.flow(self.hosts),
            number: frame.seq,
            born: frame.born(),
            len: frame.len,
            finite: frame.is_finite(),
        };
        if let Err(cause) = self.deliveries.take(now, &delivery) {
            self.failure.note(now, Who::Receiver, &cause);
        }
    }

    #[inline]
    pub(super) fn reflector_key(&self, src: u32) -> u32 {
        if self.reflector_scope == Scope::Host { 0 } else { src }
    }

    /// Wakes the reflector with a frame or a probe; true if it has something to do, which is [`Host::reply`]. It sees nothing
    /// of the sending side.
    pub(super) fn reflects(
        &mut self,
        now: u64,
        flow: FlowId,
        frame: Option<FrameView>,
        probe: Option<Probe>,
        net: &Net,
    ) -> bool {
        let key = self.reflector_key(flow.0 / self.hosts);
        let now = Time::from_ps(now);
        let mut actions = std::mem::take(&mut self.reflector_actions);
        let ear = self.ears.get(key);
        let mut at = ear.at as usize;
        if at == 0 {
            let made = self
                .books
                .scheme
                .and_then(|s| reflector(net, s, flow, (self.id, key), self.rate, (now, &mut actions)));
            let Some((object, state)) = made else {
                self.reflector_actions = actions;
                return false;
            };
            self.reflectors.push(ReflectorSlot { object, state, flow });
            at = self.reflectors.len();
        }
        if let Some(slot) = self.reflectors.get_mut(at - 1) {
            if ear.at > 0 {
                slot.state.received += ear.heard;
            }
            if let Some(view) = frame {
                slot.state.received += view.len.get();
                if slot.state.listens(now) {
                    let mut ctl = ReflectorControl::new(now, &mut slot.state, &mut actions);
                    let said =
                        scheme::call(&mut slot.object, |o| o.on_frame(&view, &mut ctl), |f| Box::new(f));
                    said.unwrap_or_else(|cause| actions = vec![ReflectorAction::Fail(cause)]);
                }
            }
            if let Some(probe) = probe {
                let mut ctl = ReflectorControl::new(now, &mut slot.state, &mut actions);
                let said =
                    scheme::call(&mut slot.object, |o| o.on_probe(&probe, flow, &mut ctl), |f| Box::new(f));
                said.unwrap_or_else(|cause| actions = vec![ReflectorAction::Fail(cause)]);
            }
            let (deaf_until, own_gate) = (slot.state.deaf_until.as_ps(), slot.state.gate != self.gate);
            self.note(key, Ear { at: at as u32, heard: 0, deaf_until, own_gate });
        }
        self.reflector_actions = actions;
        !self.reflector_actions.is_empty()
    }

    /// Notes what frames need to know of a reflector that was woken.
    #[inline]
    fn note(&mut self, key: u32, ear: Ear) {
        let before = self.ears.at(key);
        self.own_gates = self.own_gates + u32::from(ear.own_gate) - u32::from(before.own_gate);
        *before = ear;
        self.deaf = self.own_gates == 0 && only_marks_wake(self.gate);
    }

    /// The next timer of a reflector expires. Its flow; none if the reflector asks for nothing.
    pub(super) fn reflects_by_timer(&mut self) -> Option<FlowId> {
        let (key, slot) = self.alarms.pop()?;
        let ear = self.ears.get(key);
        let reflector = self.reflectors.get_mut((ear.at as usize).checked_sub(1)?)?;
        reflector.state.received += ear.heard;
        let (object, state) = (&mut reflector.object, &mut reflector.state);
        expire((object, state), Slot(slot), Time::from_ps(self.now), &mut self.reflector_actions);
        let (deaf_until, own_gate, flow) =
            (state.deaf_until.as_ps(), state.gate != self.gate, reflector.flow);
        self.note(key, Ear { heard: 0, deaf_until, own_gate, ..ear });
        (!self.reflector_actions.is_empty()).then_some(flow)
    }

    #[cold]
    fn set_alarm(&mut self, key: u32, slot: Slot, at: u64) {
        self.alarms.start(key, slot.0, at);
        self.alarmed = true;
    }

    /// Carries out what a reflector asked for when it was woken with a probe of this flow.
    pub(super) fn reply(&mut self, flow: FlowId, net: &Net, wires: &mut Wires) {
        self.reply_by(flow, net, wires, |host, frame, _| host.queue_control(frame));
    }

    fn queue_control(&mut self, frame: Frame) {
        self.control.push_back(frame);
        self.look();
    }

    /// Answers a data frame that wants it ([`Host::answers`]). `say` sends a control frame of strict priority on its way.
    #[inline]
    pub(super) fn reply_to(
        &mut self,
        frame: &Frame,
        net: &Net,
        wires: &mut Wires,
        say: impl Fn(&mut Self, Frame, &mut Wires),
    ) {
        let flow = FlowId(frame.flow(self.hosts));
        if !matches!(self.gate, ReflectGate::ReturnTags(_)) {
            return self.reply_by(flow, net, wires, say);
        }
        let Tag::RateDiscovery(rate) = frame.tag() else { return };
        self.count_returned(u32::from(frame.src));
        self.answer(flow, &Feedback::ReturnedRate { rate }, net, wires, say);
    }

    /// Sends a message about a flow to its source.
    #[inline]
    fn answer(
        &mut self,
        flow: FlowId,
        feedback: &Feedback,
        net: &Net,
        wires: &mut Wires,
        say: impl Fn(&mut Self, Frame, &mut Wires),
    ) {
        self.books.made(self.now, feedback.wire_length().get());
        let to = flow.0 / self.hosts;
        if let Some(at) = net.direct(self.now) {
            return wires.direct.push(Direct { to, at, from: self.id, flow, feedback: *feedback });
        }
        let kind = if self.in_band { Kind::InBand } else { Kind::Control };
        let mut frame = Frame::control(kind, flow, self.hosts, to, self.now);
        if !frame.say(flow, self.hosts, feedback) {
            frame.ext = wires.bodies.put(Body::Feedback(flow, *feedback));
        }
        if self.in_band {
            self.fifo.push_back(frame);
            self.look();
        } else {
            say(self, frame, wires);
        }
    }

    /// A tag goes back.
    #[inline]
    fn count_returned(&mut self, src: u32) {
        if let ReflectGate::ReturnTags(counter) = self.gate {
            self.add_one(src, counter);
        }
    }

    #[inline]
    fn add_one(&mut self, src: u32, counter: &str) {
        if let Err(cause) = self.books.counters.add(counter) {
            self.reflector_fails(src, &cause);
        }
    }

    #[cold]
    fn reflector_fails(&mut self, src: u32, cause: &str) {
        self.failure.note(self.now, Who::Reflector(src), cause);
    }

    /// Carries out what a reflector asked for.
    #[inline]
    pub(super) fn reply_by(
        &mut self,
        flow: FlowId,
        net: &Net,
        wires: &mut Wires,
        say: impl Fn(&mut Self, Frame, &mut Wires),
    ) {
        let mut actions = std::mem::take(&mut self.reflector_actions);
        // They are copied from where they stand: moved, a message would be copied twice, the second time just after the first.
        for action in &actions {
            match *action {
                ReflectorAction::Reply(ref feedback) => self.answer(flow, feedback, net, wires, &say),
                ReflectorAction::Count(ref name) => self.add_one(flow.0 / self.hosts, name),
                ReflectorAction::StartTimer(slot, after) => {
                    let key = self.reflector_key(flow.0 / self.hosts);
                    self.set_alarm(key, slot, self.now.saturating_add(after.as_ps()));
                }
                ReflectorAction::StopTimer(slot) => {
                    self.alarms.stop(self.reflector_key(flow.0 / self.hosts), slot.0);
                }
                ReflectorAction::Gauge(ref gauge, value) => {
                    let src = flow.0 / self.hosts;
                    if let Err(cause) = self.books.show(net, self.now, src | SINK, gauge, value) {
                        self.reflector_fails(src, &cause);
                    }
                }
                ReflectorAction::Fail(ref cause) => self.reflector_fails(flow.0 / self.hosts, cause),
            }
        }
        actions.clear();
        self.reflector_actions = actions;
    }

    /// Feedback has arrived for a flow of this host (or for all of them).
    pub(super) fn feedback(&mut self, flow: FlowId, feedback: &Feedback, net: &Net) {
        let Some(scheme) = self.books.scheme else {
            self.books.ignored += 1;
            return;
        };
        let dst = if flow.0 == u32::MAX { WHOLE_HOST } else { flow.0 % self.hosts };
        let key = self.key_of(dst);
        let at = match self.limiters.find(key) {
            Some(at) => Some(at),
            None if dst == WHOLE_HOST => None,
            None => match net.schemes[scheme].engages(feedback) {
                Ok(engages) => engages.then(|| self.build(dst, net)).flatten(),
                Err(cause) => return self.reaction_fails(dst, &cause),
            },
        };
        match at {
            Some(at) => {
                self.events.add(self.now, 0x4000 | u64::from(key) << 20);
                self.call(at, net, |object, limiter| object.on_message(feedback, limiter));
            }
            None => self.books.ignored += 1,
        }
    }

    pub(super) fn tick(&mut self) {
        self.next_tick = self.now + self.bin;
        self.sample_rates();
    }

    fn sample_rates(&mut self) {
        let now: Vec<f64> = self.rates.iter().map(|r| self.rate_to(r.0)).collect();
        self.rates.iter_mut().zip(now).for_each(|(r, rate)| r.1.take(rate));
    }

    /// The rate at which frames to `dst` may go.
    fn rate_to(&self, dst: u32) -> f64 {
        let slot = self.limiters.find(self.key_of(dst)).and_then(|at| self.slot(at));
        slot.filter(|s| s.state.engaged).map_or(self.rate, |s| s.state.rate).bps()
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> HostBooks {
        let mut out = std::mem::take(&mut self.out);
        // What was made was generated and found room.
        out.generated = self.made.frames + out.source_discards + self.ahead.len() as u64;
        out.sent = self.sent;
        out.paused = Time::from_ps(self.paused.total(net.duration));
        let mut series = self.deliveries.close(&mut out, self.id, net.record.bin);
        for (dst, mut samples) in std::mem::take(&mut self.rates) {
            let kind = SeriesKind::LimiterRate { src: NodeId(self.id), dst: NodeId(dst) };
            let values = samples.close(net, self.rate_to(dst));
            series.push(Series { kind, bin: net.record.bin, values });
        }
        series.extend(self.books.gauges.host_series(net, self.id, self.scope));
        let mut inside = Ledger::default();
        let queued = self.fifo.iter().chain(self.limiters.all_queued()).chain(&self.sending);
        let queued = queued.chain(self.voqs.iter().flat_map(|v| v.frames()));
        queued.filter(|f| f.is_data()).for_each(|f| inside.add(f));
        HostBooks {
            outcome: out,
            series,
            made: self.made,
            got: self.deliveries.got,
            inside,
            last_delivery: self.deliveries.last,
            hops: (self.sent + self.control_hops, self.control_hops),
            events: self.events,
            frames: self.deliveries.hash,
            received_from: self.deliveries.by_source(),
            control: *self.books,
            failure: self.failure,
        }
    }
}
