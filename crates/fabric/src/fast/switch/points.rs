//! Congestion points at a switch: samples, what they ask for, messages and probes on their way. The laws are the model's. Storage is
//! its own: control is placed ahead of its time, and a sample's tag and mark are written where the frame stands by then.

use super::Switch;
use super::port::ToCome;
use crate::check::broken;
use crate::fast::bodies::Bodies;
use crate::fast::frame::{Entry, Frame, Kind, NEVER};
use crate::fast::wires::Wires;
use crate::model::{Lane, Moment, Packet, Records, To, Verb};
use crate::net::Net;

impl Switch {
    /// The gate of an output queue fired on a frame (or must look at each).
    pub(crate) fn sample(
        &mut self,
        out: usize,
        mut frame: Frame,
        dropped: bool,
        to_come: ToCome,
        (net, records): (&Net, &mut Records),
    ) {
        let port = &mut self.ports[out];
        let Some(point) = &mut port.point else {
            port.countdown = i64::MAX / 2;
            return;
        };
        let wakes = point.state.wakes(port.countdown + to_come.data_to_come as i64, frame.tagged());
        port.countdown = point.state.countdown - to_come.data_to_come as i64;
        if !wakes {
            return self.look_ahead(out, to_come.frames_after, 0);
        }
        records.with_plain(&mut frame, |frame| {
            frame.show(net, dropped, |view| self.wake(out, Verb::Sample(view), to_come, net));
        });
        let stored = self.ports[out].data.entries_mut().iter_mut().nth_back(to_come.frames_after);
        stored.filter(|_| !dropped).into_iter().for_each(|stored| stored.frame = frame);
    }

    /// Calls a congestion point and carries out what it asks for; true when a probe in hand is to be answered. `to_come`:
    /// what of its queue does not count now.
    pub(super) fn wake(&mut self, p: usize, verb: Verb<'_>, to_come: ToCome, net: &Net) -> bool {
        let port = &mut self.ports[p];
        let view = port.view(self.now, to_come);
        let Some(point) = &mut port.point else { return false };
        point.state.countdown = port.countdown + to_come.data_to_come as i64;
        let (ramp, records) = (point.state.ramp, point.state.records);
        let (answer, asks) = self.management.wake((p, point), &view, verb, Moment { now: self.now, net });
        port.countdown = point.state.countdown - to_come.data_to_come as i64;
        port.stamp = point.stamp();
        port.needs_exact |= port.stamp.is_some();
        if records != point.state.records {
            point.records_from = self.now;
            port.note_ramp(net);
        }
        if port.point.as_ref().is_some_and(|point| ramp != point.state.ramp) {
            if port.end != NEVER && port.sending == Some(Kind::Data) && port.began < self.now {
                port.decide_mark(ramp);
            }
            port.note_ramp(net);
            self.note_calm(p);
        }
        self.look_ahead(p, to_come.frames_after, 0);
        if asks {
            self.note_rare();
        }
        answer
    }

    /// An own message is ready: send it on its way.
    pub(super) fn send_own(&mut self, net: &Net, wires: &mut Wires) {
        let at = Moment { now: self.now, net };
        match self.management.take_message(at) {
            Some(Ok(direct)) => wires.direct.push(direct),
            Some(Err(control)) => {
                let lane = Lane::of_message(net.control);
                let mut frame = Frame::of_control(lane, control, at, &mut wires.bodies);
                frame.input = self.ports.len() as u16;
                self.message(frame, net, wires);
            }
            None => {}
        }
    }

    /// A feedback message or probe to be forwarded (or ended) here.
    pub(super) fn message(&mut self, frame: Frame, net: &Net, wires: &mut Wires) {
        let way = frame.way(net, self.index, &mut self.next_path);
        let way = way.after_point(|out| frame.is_probe() && self.probed(out, &frame, net, wires));
        for out in way.outputs(net, self.management.id, frame.input) {
            wires.bodies.share(&frame);
            self.queue_message(out, frame, net, wires);
        }
        wires.bodies.release(&frame);
    }

    /// A probe passes the congestion point of an output port; true if it ends here.
    fn probed(&mut self, out: usize, frame: &Frame, net: &Net, wires: &mut Wires) -> bool {
        self.touch(out, self.now, wires);
        let mut to_come = if self.may_be_ahead { self.ports[out].later(self.now) } else { ToCome::default() };
        // Control of this moment comes before a probe among the data; before one at priority, that of earlier ports.
        to_come.control_from = (frame.kind() == Kind::Control).then_some(frame.input);
        let Some((flow, probe)) = wires.bodies.probe(frame.ext) else { broken("a probe without a body") };
        let answered = self.wake(out, Verb::Probe(probe, flow), to_come, net);
        let at = Moment { now: self.now, net };
        let ended = self.management.ends(out, (flow, frame.goes_to(), probe), answered, at);
        if ended {
            self.note_rare();
        }
        ended
    }

    fn queue_message(&mut self, out: usize, frame: Frame, net: &Net, wires: &mut Wires) {
        if frame.kind() == Kind::InBand {
            return self.data(out, frame, net, wires);
        }
        self.place_control(out, self.now, &frame);
        self.outdate(out);
    }

    /// Puts a control frame into its place in the queue of an output. It takes no memory there, and the transmitter is
    /// replayed from the times of what waits: it may be done before its time, and the port need not be touched for it.
    #[inline]
    pub(crate) fn place_control(&mut self, out: usize, ready: u64, frame: &Frame) {
        let port = &mut self.ports[out];
        port.control.place(&mut port.last_control, &Entry { ready, frame: *frame }, Some(frame.input));
        port.control_queued += u64::from(frame.len);
        port.needs_exact = true;
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
        // Those to a point take turns in order, and probes may be looked at.
        if frame.is_probe() || matches!(frame.goes_to(), To::Point(_)) {
            return false;
        }
        let way = frame.way(net, self.index, &mut self.next_path);
        for out in way.outputs(net, self.management.id, frame.input) {
            bodies.share(frame);
            self.place_control(out, ready, frame);
        }
        bodies.release(frame);
        true
    }
}
