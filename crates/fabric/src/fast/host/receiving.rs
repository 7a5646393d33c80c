//! The receiving side of a host: delivery, reflectors, feedback; recording and the end of a run.

use super::{ARRIVED, Calm, Ear, Host, ReflectorSlot, only_marks_wake};
use crate::check::{HostBooks, Ledger, Who};
use crate::fast::bodies::{Body, Direct};
use crate::fast::frame::{Frame, Kind, NEVER};
use crate::fast::limiter::WHOLE_HOST;
use crate::fast::wires::Wires;
use crate::net::Net;
use crate::outcome::{Series, SeriesKind, latency_bucket};
use crate::scheme;
use cnsim_scheme_api::{
    Bytes, Feedback, FlowId, FrameView, NodeId, Plan, Probe, Purpose, ReflectGate, ReflectorAction,
    ReflectorControl, ReflectorState, Scope, SinkSite, Stream, Tag, Time,
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
            self.deferred.push_back((self.now + self.feedback_delay, ARRIVED, flow, *feedback));
        } else {
            self.feedback(flow, feedback, net);
        }
    }

    /// Feedback is on its way to this host without a frame. Whether it is lost is found out when it arrives, as messages come
    /// here in any order.
    pub(crate) fn defer(&mut self, d: &Direct) {
        let key = (d.at + self.feedback_delay, d.from);
        let place = self.deferred.partition_point(|e| (e.0, e.1) <= key);
        self.deferred.insert(place, (key.0, key.1, d.flow, d.feedback));
        (self.due, self.calm) = (self.due.min(key.0), Calm::Not);
    }

    /// Is the feedback that arrives now lost?
    pub(super) fn loses(&mut self) -> bool {
        self.messages += 1;
        self.faults.feedback_lost > 0 && self.messages.is_multiple_of(u64::from(self.faults.feedback_lost))
    }

    pub(super) fn pause(&mut self, off: bool) {
        self.events.add(self.now, 0x1000 | u64::from(off) << 20);
        if off {
            self.out.pauses += 1;
            if self.paused_since == NEVER {
                self.paused_since = self.now;
            }
        } else if self.paused_since != NEVER {
            self.out.paused += Time::from_ps(self.now - self.paused_since);
            self.paused_since = NEVER;
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
        self.delivered_bits += u64::from(frame.len) * 8;
        let latency = now - frame.born();
        self.latency_sum += latency;
        self.latency_max = self.latency_max.max(latency);
        self.got.add(frame);
        self.frames.add(now, (u64::from(frame.flow(self.hosts)) << 32) | u64::from(frame.seq));
        self.last_delivery = now;
        if self.watched {
            self.record(now, frame);
        }
    }

    #[inline(never)]
    pub(super) fn record(&mut self, now: u64, frame: &Frame) {
        if let Some(n) = self.out.latency.get_mut(latency_bucket(Time::from_ps(now - frame.born()))) {
            *n += 1;
        }
        let src = u32::from(frame.src);
        let bits = u64::from(frame.len) * 8;
        if let Some(m) = self.records.matrix.get_mut(src as usize) {
            *m += bits / 8;
        }
        if frame.is_finite() {
            self.complete(now, frame);
        }
        if self.bin == 0 {
            return;
        }
        let bin = (now / self.bin) as usize;
        if let Some(b) = self.records.bins.as_mut().and_then(|b| b.get_mut(bin)) {
            *b += bits;
        }
        if let Some((_, bins)) = self.records.flow_bins.iter_mut().find(|f| f.0 == src)
            && let Some(b) = bins.get_mut(bin)
        {
            *b += bits;
        }
    }

    /// A frame of a finite flow has arrived.
    fn complete(&mut self, now: u64, frame: &Frame) {
        match self.records.arrived.take(now, u32::from(frame.src), frame.seq, frame.len) {
            Ok(completion) => self.out.completions.extend(completion),
            Err(cause) => {
                self.failure.note(now, Who::Receiver, &cause);
            }
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
            let src = NodeId(flow.0 / self.hosts);
            let site = SinkSite { flow, src, dst: NodeId(self.id), line_rate: self.rate };
            let (scheme, plan) = match self.books.scheme {
                Some(s) => (Some(&net.schemes[s]), net.schemes[s].plan),
                None => (None, Plan::default()),
            };
            let Some(object) = scheme.and_then(|s| s.reflector(&site)) else {
                self.reflector_actions = actions;
                return false;
            };
            let stream = Stream::new(net.seed, u64::from(key) | u64::from(self.id) << 32, Purpose::Reflector);
            let mut state = ReflectorState::new(stream, &plan);
            let mut object = object;
            let mut ctl = ReflectorControl::new(now, &mut state, &mut actions);
            let said = scheme::call(&mut object, |o| o.start(&mut ctl), |f| Box::new(f));
            said.unwrap_or_else(|cause| actions = vec![ReflectorAction::Fail(cause)]);
            self.reflectors.push(ReflectorSlot { object, state });
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
            let deaf_until = slot.state.deaf_until.as_ps();
            let own_gate = slot.state.gate != self.gate;
            self.own_gates = self.own_gates + u32::from(own_gate) - u32::from(ear.own_gate);
            self.deaf = self.own_gates == 0 && only_marks_wake(self.gate);
            *self.ears.at(key) = Ear { at: at as u32, heard: 0, deaf_until, own_gate };
        }
        self.reflector_actions = actions;
        !self.reflector_actions.is_empty()
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

    pub(super) fn sample_rates(&mut self) {
        let line = self.rate.bps();
        for i in 0..self.records.rates.len() {
            let key = self.key_of(self.records.rates[i].0);
            let rate = self
                .limiters
                .find(key)
                .and_then(|at| self.slot(at))
                .filter(|s| s.state.engaged)
                .map_or(line, |s| s.state.rate.bps());
            self.records.rates[i].1.push(rate);
        }
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> HostBooks {
        if self.paused_since != NEVER {
            self.out.paused += Time::from_ps(net.duration.saturating_sub(self.paused_since));
        }
        let bins = net.duration.checked_div(self.bin).unwrap_or(0) as usize;
        if self.records.rates.iter().any(|r| r.1.len() < bins) {
            self.sample_rates();
        }
        let series = self.series(net.record.bin);
        let mut out = self.out;
        // What was made was generated and found room.
        out.generated = self.made.frames + out.source_discards + self.ahead.len() as u64;
        (out.sent, out.delivered, out.delivered_bits) = (self.sent, self.got.frames, self.delivered_bits);
        out.latency_sum = Time::from_ps(self.latency_sum);
        out.latency_max = Time::from_ps(self.latency_max);
        out.incomplete = self.records.arrived.incomplete();
        out.missing = self.records.arrived.missing();
        let mut inside = Ledger::default();
        let queued = self.fifo.iter().chain(self.limiters.all_queued()).chain(&self.sending);
        let queued = queued.chain(self.voqs.iter().flat_map(|v| v.iter()));
        queued.filter(|f| f.is_data()).for_each(|f| inside.add(f));
        HostBooks {
            outcome: out,
            series,
            made: self.made,
            got: self.got,
            inside,
            last_delivery: self.last_delivery,
            received_from: self.records.matrix,
            hops: (self.sent + self.control_hops, self.control_hops),
            events: self.events,
            frames: self.frames,
            control: *self.books,
            failure: self.failure,
        }
    }

    /// What was recorded.
    fn series(&mut self, bin: Time) -> Vec<Series> {
        let host = NodeId(self.id);
        let per_second =
            |bits: Vec<u64>| bits.into_iter().map(|b| b as f64 / bin.as_secs_f64()).collect::<Vec<f64>>();
        let mut series = Vec::new();
        if let Some(b) = self.records.bins.take() {
            series.push(Series { kind: SeriesKind::Delivered { host }, bin, values: per_second(b) });
        }
        for (src, b) in std::mem::take(&mut self.records.flow_bins) {
            let kind = SeriesKind::Flow { src: NodeId(src), dst: host };
            series.push(Series { kind, bin, values: per_second(b) });
        }
        for (dst, values) in std::mem::take(&mut self.records.rates) {
            let kind = SeriesKind::LimiterRate { src: host, dst: NodeId(dst) };
            series.push(Series { kind, bin, values });
        }
        series
    }
}
