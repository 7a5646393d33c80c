//! Congestion points at a switch: samples, what they ask for, messages and probes on their way.

use super::*;

impl Switch {
    /// The gate of an output queue fired on a frame (or must look at each).
    pub(crate) fn sample(&mut self, out: usize, mut frame: Frame, dropped: bool, net: &Net) {
        let port = &mut self.ports[out];
        let Some(point) = &mut port.point else {
            port.countdown = i64::MAX / 2;
            return;
        };
        let fire = match point.state.gate {
            Gate::Never => false,
            Gate::AfterBytes | Gate::Always => true,
            Gate::Probability(p) => point.state.stream.chance(p),
            Gate::Tagged => frame.tagged(),
        };
        match point.state.gate {
            Gate::AfterBytes => {
                point.state.gate = Gate::Never;
                port.countdown = i64::MAX / 2;
            }
            Gate::Never => port.countdown = i64::MAX / 2,
            _ => port.countdown = 0,
        }
        if !fire {
            return;
        }
        self.samples.add(self.now ^ (out as u64) << 48, port.queued);
        let mut view = FrameView {
            flow: FlowId(frame.flow(net.hosts)),
            src: NodeId(u32::from(frame.src)),
            dst: NodeId(u32::from(frame.dst)),
            len: Bytes::new(u64::from(frame.len)),
            marked: frame.marked(),
            tag: frame.tag(),
            dropped,
        };
        let before = (view.marked, view.tag);
        self.with_point(out, net, None, |point, queue, ctl| point.on_sample(&mut view, queue, ctl));
        if !dropped && (view.marked, view.tag) != before {
            frame.set_marked(view.marked);
            frame.set_tag(view.tag);
            if let Some(e) = self.ports[out].data.back_mut() {
                e.frame = frame;
            }
        }
    }

    /// Calls a congestion point and carries out what it asks for; true when a probe in hand is to be answered.
    pub(super) fn with_point(
        &mut self,
        p: usize,
        net: &Net,
        flow: Option<FlowId>,
        call: impl FnOnce(&mut dyn CongestionPoint, &Queue, &mut PointControl<'_>),
    ) -> bool {
        let port = &mut self.ports[p];
        let view = port.view();
        let Some(point) = &mut port.point else { return false };
        point.state.countdown = port.countdown;
        let mut actions = std::mem::take(&mut self.actions);
        let mut ctl = PointControl::new(Time::from_ps(self.now), &mut point.state, &mut actions);
        call(point.object.as_mut(), &view, &mut ctl);
        port.countdown = point.state.countdown;
        if port.ramp != point.state.ramp || port.stamp != point.state.stamp {
            port.ramp = point.state.ramp;
            port.stamp = point.state.stamp;
            port.special = true;
            port.calm = 0;
        }
        let mut answer = false;
        for action in actions.drain(..) {
            match action {
                PointAction::Notify(flow, feedback) => {
                    self.made(&feedback);
                    self.events.add(self.now, 0x3000 | p as u64 ^ (u64::from(flow.0) << 20));
                    let dst = flow.0 / net.hosts;
                    self.own.push_back((self.now + self.processing, dst, Body::Feedback(flow, feedback)));
                }
                PointAction::Broadcast(feedback) => {
                    self.made(&feedback);
                    let flow = FlowId(u32::MAX);
                    self.own.push_back((
                        self.now + self.processing,
                        BROADCAST,
                        Body::Feedback(flow, feedback),
                    ));
                }
                PointAction::StartTimer(slot, after) => {
                    self.timers.start(p as u32, slot.0, self.now.saturating_add(after.as_ps()));
                }
                PointAction::StopTimer(slot) => self.timers.stop(p as u32, slot.0),
                PointAction::Answer => answer = flow.is_some(),
                PointAction::Count(i) => {
                    if let Some(c) = self.counters.get_mut(usize::from(i)) {
                        *c += 1;
                    }
                }
                PointAction::Fail(cause) => {
                    self.failure.get_or_insert(format!(
                        "congestion point at node {} port {p}, {}: {cause}",
                        self.id,
                        Time::from_ps(self.now)
                    ));
                }
            }
        }
        self.actions = actions;
        self.note_rare();
        answer
    }

    pub(super) fn made(&mut self, feedback: &Feedback) {
        self.control_messages += 1;
        let bits = feedback.wire_length().get() * 8;
        self.control_bits += bits;
        self.control_at.add(self.now, bits);
    }

    /// An own message is ready: send it on its way.
    pub(super) fn send_own(&mut self, dst: u32, body: Body, net: &Net, wires: &mut Wires) {
        let flow = match body {
            Body::Feedback(f, _) | Body::Probe(f, _) => f,
        };
        let kind = if net.control == ControlTransport::InBand { Kind::InBand } else { Kind::Control };
        let mut frame = Frame::control(kind, flow, net.hosts, dst, self.now);
        frame.input = self.ports.len() as u16;
        self.message(frame, body, net, wires);
    }

    /// A feedback message or probe to be forwarded (or ended) here.
    pub(super) fn message(&mut self, frame: Frame, mut body: Body, net: &Net, wires: &mut Wires) {
        if frame.to() == BROADCAST {
            for p in 0..self.ports.len() {
                if p != usize::from(frame.input) && self.ports[p].link.is_some_and(|l| l.tree) {
                    self.queue_message(p, frame, body, wires);
                }
            }
            return;
        }
        let flow = frame.flow(net.hosts);
        let out = if frame.to() & TO_POINT != 0 {
            match net.point(frame.to() & !TO_POINT) {
                Some((s, port)) if s == self.index => usize::from(port),
                Some((s, _)) => {
                    let out = net.towards(self.index, s, 0, flow, 0, &mut self.turn);
                    return self.queue_message(usize::from(out), frame, body, wires);
                }
                None => return,
            }
        } else {
            usize::from(net.route(self.index, frame.to(), flow, 0, &mut self.turn))
        };
        if let Body::Probe(flow, probe) = &mut body {
            let addressed = frame.to() & TO_POINT != 0;
            self.touch(out, self.now, wires);
            let (flow, probe) = (*flow, probe);
            let point = PointId(self.base + out as u32);
            let ends = |p: &Probe| matches!(p.target, ProbeTarget::Point(t) if t == point);
            let answered =
                self.with_point(out, net, Some(flow), |cp, queue, ctl| cp.on_probe(probe, flow, queue, ctl));
            if answered {
                let feedback =
                    Feedback::ProbeReply { probe: *probe, at: Time::from_ps(self.now), rx_rate: Rate::ZERO };
                self.made(&feedback);
                let dst = flow.0 / net.hosts;
                self.own.push_back((self.now + self.processing, dst, Body::Feedback(flow, feedback)));
                self.note_rare();
                return;
            }
            if addressed || ends(probe) {
                return;
            }
        }
        self.queue_message(out, frame, body, wires);
    }

    pub(super) fn queue_message(&mut self, out: usize, mut frame: Frame, body: Body, wires: &mut Wires) {
        self.touch(out, self.now, wires);
        if frame.kind() == Kind::InBand {
            if self.mmu.admit(out, usize::from(frame.input), frame.len, self.ports[out].queued).is_err() {
                self.control_discarded += 1;
                return;
            }
            frame.ext = self.bodies.put(body);
            self.enqueue(out, &mut frame, wires);
            return;
        }
        frame.ext = self.bodies.put(body);
        let port = &mut self.ports[out];
        port.special = true;
        port.control.push_back(Entry { ready: self.now, frame });
        if port.sending.is_none() {
            self.kick(out);
        }
    }
}
