//! What a host sends, packed, and its line.

use super::Line;
use crate::fast::bodies::{Bodies, Body};
use crate::fast::frame::{BROADCAST, Entry, Frame, Kind, TO_POINT};
use crate::fast::wires::Wires;
use crate::model::{Control, Data, Lane, Moment, Packet, Pause, Says, To};
use crate::net::Net;

impl Packet for Frame {
    type Bodies = Bodies;
    #[inline]
    fn of_data(_: u8, len: u16, data: &Data) -> Self {
        let mut frame = Self::data(data.src, data.dst, data.number, len, data.born);
        if data.finite {
            frame.set_finite();
        }
        if data.counted {
            frame.set_counted();
        }
        frame
    }
    fn of_control(lane: Lane, control: Control, at: Moment<'_>, bodies: &mut Bodies) -> Self {
        let (mut frame, body) = packed(lane, &control, at);
        if let Some(body) = body {
            frame.ext = bodies.put(body);
        }
        frame
    }
    fn of_pause(pause: Pause, net: &Net) -> Self {
        Self::pause(pause, &net.pause_frames)
    }
    fn is_pause(&self) -> bool {
        self.as_pause().is_some()
    }
    #[inline]
    fn bytes(&self) -> u16 {
        self.len
    }
    #[inline(always)]
    fn header(&self) -> Option<Data> {
        self.is_data().then(|| Frame::header(self))
    }
    fn set_counted(&mut self) {
        Frame::set_counted(self);
    }
    #[inline]
    fn write_tag(&mut self, tag: (u8, u32)) {
        self.set_packed_tag(tag);
    }
    fn set_marked(&mut self, marked: bool) {
        Frame::set_marked(self, marked);
    }
}

/// A control frame that is made now, with what has no room in it.
#[inline(always)]
pub(in crate::fast) fn packed(lane: Lane, control: &Control, at: Moment<'_>) -> (Frame, Option<Body>) {
    if let Some(frame) = Frame::acknowledgement(lane, control, at.net) {
        return (frame, None);
    }
    let &Control { flow, to, ref says } = control;
    let kind = if lane == Lane::Control { Kind::Control } else { Kind::InBand };
    let to = match to {
        To::Everyone => BROADCAST,
        To::Point(point) => point.0 | TO_POINT,
        To::Host(host) => host,
    };
    let mut frame = Frame::control(kind, flow, to, at.now);
    match says {
        Says::Feedback(feedback) if frame.say(feedback) => return (frame, None),
        Says::Feedback(_) => {}
        Says::Probe(_) => frame.set_probe(),
    }
    (frame, Some((flow, *says)))
}

impl Line {
    /// A frame whose last bit leaves at `end` goes on the wire. `bodies` are those of control that waited at the host.
    #[inline(always)]
    pub(super) fn send(&mut self, frame: Frame, end: u64, bodies: &mut Bodies, wires: &mut Wires) {
        if frame.is_data() {
            self.sent.0 += 1;
            wires.push_frame(self.peer, end + self.delay, &frame);
        } else {
            let body = bodies.take(&frame);
            self.send_control(frame, end, body, wires);
        }
    }

    /// XOFF or XON goes on the wire, with its last bit at `end`.
    pub(super) fn send_pause(&self, frame: Frame, end: u64, wires: &mut Wires) {
        let ready = end + self.delay + self.response;
        wires.push(self.peer, Entry { ready, frame }, None);
    }

    #[inline(never)]
    fn send_control(&mut self, frame: Frame, end: u64, body: Option<Body>, wires: &mut Wires) {
        if frame.is_pause() {
            return self.send_pause(frame, end, wires);
        }
        self.sent.1 += 1;
        let ready = end + self.delay;
        match body {
            None => wires.push_frame(self.peer, ready, &frame),
            body => wires.push(self.peer, Entry { ready, frame }, body),
        }
    }
}
