//! Congestion points at a switch: samples, what they ask for, messages and probes on their way.

use super::Switch;
use super::ahead::Apart;
use crate::check::{Who, broken};
use crate::fast::bodies::{Bodies, Body, Direct};
use crate::fast::frame::{BROADCAST, Frame, Kind, TO_POINT};
use crate::fast::wires::Wires;
use crate::net::Net;
use crate::scheme;
use crate::spec::ControlTransport;
use cnsim_scheme_api::network::{Lent, NO_PROBE, PointAction, rewritten};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Feedback, FlowId, FrameView, NodeId, PointControl, PointId, ProbeTarget, Queue,
    RampAt, Rate, Slot, Tag, Time,
};

impl Switch {
    /// The gate of an output queue fired on a frame (or must look at each).
    pub(crate) fn sample(&mut self, out: usize, mut frame: Frame, dropped: bool, apart: Apart, net: &Net) {
        let port = &mut self.ports[out];
        let Some(point) = &mut port.point else {
            port.countdown = i64::MAX / 2;
            return;
        };
        let wakes = point.state.wakes(port.countdown + apart.ahead_data as i64, frame.tagged());
        port.countdown = point.state.countdown - apart.ahead_data as i64;
        if !wakes {
            return self.look_for_sample(out, apart.behind, 0);
        }
        self.samples.add(self.now ^ (out as u64) << 48, port.queued - apart.ahead);
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
        self.with_point(out, net, None, apart, |point, queue, ctl| {
            point.on_sample(&mut view, queue, ctl);
        });
        if (view.marked, view.tag) == before {
            return;
        }
        if let Err(cause) = rewritten(&view) {
            self.fails(out, &cause);
        }
        if !dropped {
            frame.set_marked(view.marked);
            frame.set_tag(view.tag);
            if let Some(e) = self.ports[out].data.last_but_mut(apart.behind) {
                e.frame = frame;
            }
        }
    }

    /// A congestion point has stopped the run.
    #[cold]
    fn fails(&mut self, p: usize, cause: &str) {
        self.failure.note(self.now, Who::Point(p as u16), cause);
    }

    /// A timer of a congestion point expires.
    pub(super) fn expire(&mut self, p: usize, slot: Slot, apart: Apart, net: &Net) {
        let now = Time::from_ps(self.now);
        let patience = self.ports[p].point.as_mut().map(|point| point.state.patience.expires(slot, now));
        match patience.unwrap_or(Ok(())) {
            Ok(()) => {
                self.with_point(p, net, None, apart, |o, queue, ctl| o.on_timer(slot, queue, ctl));
            }
            Err(cause) => self.fails(p, &cause),
        }
    }

    /// Calls a congestion point and carries out what it asks for; true when a probe in hand is to be answered. `apart`:
    /// what of its queue does not count now.
    pub(super) fn with_point(
        &mut self,
        p: usize,
        net: &Net,
        probe: Option<&Frame>,
        apart: Apart,
        call: impl FnOnce(&mut dyn CongestionPoint, &Queue, &mut PointControl<'_>),
    ) -> bool {
        let port = &mut self.ports[p];
        if port.point.is_none() {
            return false;
        }
        // Control of this moment comes before a probe among the data; before one at priority, that of earlier ports.
        let until = match probe {
            Some(f) if f.kind() == Kind::Control => (self.now, f.input),
            _ => (self.now + 1, 0),
        };
        let view = port.view(self.now, apart, until);
        let Some(point) = &mut port.point else { return false };
        point.state.countdown = port.countdown + apart.ahead_data as i64;
        let mut actions = std::mem::take(&mut self.actions);
        let mut ctl = PointControl::new(Time::from_ps(self.now), &mut point.state, &mut actions);
        let said = scheme::call(&mut point.object, |o| call(o, &view, &mut ctl), |f| Box::new(f));
        if let Err(cause) = said {
            actions = vec![PointAction::Fail(cause)];
        }
        port.countdown = point.state.countdown - apart.ahead_data as i64;
        port.stamp = point.state.advertised.map(|rate| Tag::RateDiscovery(rate).pack());
        port.mixed |= port.stamp.is_some();
        if port.ramp != point.state.ramp {
            let ramp = point.state.ramp;
            port.set_ramp(ramp);
            port.calm = 0;
            if apart.behind > 0 && ramp.is_some_and(|r| r.at == RampAt::Arrival) {
                // Frames stored ahead meet a ramp that was not there.
                self.look_for_peaks(p, apart.behind);
            }
        }
        self.look_for_sample(p, apart.behind, 0);
        let mut answer = false;
        let none = actions.is_empty();
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
                PointAction::Answer if probe.is_some() => answer = true,
                PointAction::Answer => self.fails(p, NO_PROBE),
                PointAction::Count(name) => {
                    if let Err(cause) = self.books.counters.add(&name) {
                        self.fails(p, &cause);
                    }
                }
                PointAction::Gauge(gauge, value) => {
                    if let Err(cause) = self.books.show(net, self.now, p as u32, &gauge, value) {
                        self.fails(p, &cause);
                    }
                }
                PointAction::Fail(cause) => {
                    self.fails(p, &cause);
                }
            }
        }
        self.actions = actions;
        if !none {
            self.note_rare();
        }
        answer
    }

    fn made(&mut self, feedback: &Feedback) {
        self.books.made(self.now, feedback.wire_length().get());
    }

    /// An own message is ready: send it on its way.
    pub(super) fn send_own(&mut self, dst: u32, body: Body, net: &Net, wires: &mut Wires) {
        if let (Some(at), Body::Feedback(flow, feedback)) = (net.direct(self.now), &body) {
            wires.direct.push(Direct { to: dst, at, from: self.id, flow: *flow, feedback: *feedback });
            return;
        }
        let frame = self.own_frame(dst, body, net, wires);
        self.message(frame, net, wires);
    }

    /// The frame of an own message.
    fn own_frame(&self, dst: u32, body: Body, net: &Net, wires: &mut Wires) -> Frame {
        let flow = match body {
            Body::Feedback(f, _) | Body::Probe(f, _) => f,
        };
        let kind = if net.control == ControlTransport::InBand { Kind::InBand } else { Kind::Control };
        let mut frame = Frame::control(kind, flow, net.hosts, dst, self.now);
        frame.input = self.ports.len() as u16;
        if !matches!(&body, Body::Feedback(_, said) if frame.say(flow, net.hosts, said)) {
            frame.ext = wires.bodies.put(body);
        }
        frame
    }

    /// A feedback message or probe to be forwarded (or ended) here.
    pub(super) fn message(&mut self, frame: Frame, net: &Net, wires: &mut Wires) {
        if frame.to() == BROADCAST {
            for p in 0..self.ports.len() {
                if p != usize::from(frame.input) && self.ports[p].link.is_some_and(|l| l.tree) {
                    wires.bodies.share(frame.ext);
                    self.queue_message(p, frame, wires);
                }
            }
            return wires.bodies.release(frame.ext);
        }
        let flow = frame.flow(net.hosts);
        let out = if frame.to() & TO_POINT != 0 {
            match net.point(frame.to() & !TO_POINT) {
                Some((s, port)) if s == self.index => usize::from(port),
                Some((s, _)) => {
                    let out = net.towards(self.index, s, 0, flow, 0, &mut self.turn);
                    return self.queue_message(usize::from(out), frame, wires);
                }
                None => return wires.bodies.release(frame.ext),
            }
        } else {
            usize::from(net.route(self.index, frame.to(), flow, 0, &mut self.turn))
        };
        if frame.is_probe() {
            self.touch(out, self.now, wires);
            if self.probed(out, &frame, net, wires) {
                return wires.bodies.release(frame.ext);
            }
        }
        self.queue_message(out, frame, wires);
    }

    /// A probe passes the congestion point of an output port; true if it ends here.
    fn probed(&mut self, out: usize, frame: &Frame, net: &Net, wires: &mut Wires) -> bool {
        let apart = if self.may_be_ahead { self.ports[out].later(self.now) } else { Apart::default() };
        self.probed_apart(out, frame, apart, net, wires)
    }

    /// The same, where something in the queue does not count now.
    pub(super) fn probed_apart(
        &mut self,
        out: usize,
        frame: &Frame,
        apart: Apart,
        net: &Net,
        wires: &mut Wires,
    ) -> bool {
        let addressed = frame.to() & TO_POINT != 0;
        let Some((flow, probe)) = wires.bodies.probe(frame.ext) else { broken("a probe without a body") };
        let answered = self.ports[out].reads_probes
            && self.with_point(out, net, Some(frame), apart, |cp, queue, ctl| {
                cp.on_probe(probe, flow, queue, ctl)
            });
        if answered {
            let feedback =
                Feedback::ProbeReply { probe: *probe, at: Time::from_ps(self.now), rx_rate: Rate::ZERO };
            self.made(&feedback);
            let dst = flow.0 / net.hosts;
            self.own.push_back((self.now + self.processing, dst, Body::Feedback(flow, feedback)));
            self.note_rare();
        }
        let point = PointId(self.base + out as u32);
        answered || addressed || matches!(probe.target, ProbeTarget::Point(t) if t == point)
    }

    pub(super) fn queue_message(&mut self, out: usize, mut frame: Frame, wires: &mut Wires) {
        if frame.kind() == Kind::InBand {
            self.touch(out, self.now, wires);
            self.count_cells(out, frame.len);
            if self.mmu.admit(out, usize::from(frame.input), frame.len, self.ports[out].queued).is_err() {
                self.books.discarded += 1;
                return if frame.has_body() {
                    wires.bodies.release(frame.ext)
                };
            }
            self.enqueue(out, &mut frame, wires);
            return;
        }
        self.place_control(out, self.now, &frame);
        self.outdate(out);
    }

    /// Puts a control frame into its place in the queue of an output. It takes no memory there, and the transmitter is
    /// replayed from the times of what waits: it may be done before its time, and the port need not be touched for it.
    #[inline]
    pub(crate) fn place_control(&mut self, out: usize, ready: u64, frame: &Frame) {
        let port = &mut self.ports[out];
        port.control.place_control(&mut port.last_control, ready, frame);
        port.mixed = true;
        self.control_waits += 1;
    }

    /// Takes control that arrives at `ready` to the queues of its outputs, where nothing looks at it; false where something
    /// does.
    pub(crate) fn store_control(
        &mut self,
        ready: u64,
        frame: &Frame,
        net: &Net,
        bodies: &mut Bodies,
    ) -> bool {
        if frame.to() == BROADCAST {
            for p in 0..self.linked {
                if p != usize::from(frame.input) && self.ports[p].link.is_some_and(|l| l.tree) {
                    bodies.share(frame.ext);
                    self.place_control(p, ready, frame);
                }
            }
            bodies.release(frame.ext);
            return true;
        }
        if frame.to() & TO_POINT != 0 {
            return false;
        }
        let out = usize::from(net.choose(self.index, frame.to(), frame.flow(net.hosts), 0, &mut self.turn));
        if frame.is_probe() && self.ports[out].looks_at(frame) {
            return false;
        }
        self.place_control(out, ready, frame);
        true
    }
}
