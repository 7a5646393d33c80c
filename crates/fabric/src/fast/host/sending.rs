//! Frames that a host sends, packed, and its line.

use super::Line;
use crate::check::Spent;
use crate::fast::bodies::{Bodies, Body};
use crate::fast::frame::{BROADCAST, Entry, Frame, Kind, TO_POINT};
use crate::fast::wires::Wires;
use crate::model::{Control, Data, Lane, Moment, NextHop, Packet, Pause, Records, Says, To};
use crate::net::{Net, Paths};
use cnsim_scheme_api::{FrameView, Hop, PointId};

impl Packet for Frame {
    type Bodies = Bodies;
    #[inline]
    fn of_data(len: u16, data: &Data) -> Self {
        let mut frame = Self::data(data.src, data.dst, data.number, len, data.born);
        if data.finite {
            frame.set_finite();
        }
        if data.counted {
            frame.set_counted();
        }
        frame
    }
    fn of_control(lane: Lane, control: &Control, at: Moment<'_>, bodies: &mut Bodies) -> Self {
        let (mut frame, body) = packed(lane, control, at);
        if let Some(body) = body {
            frame.ext = bodies.put(body);
        }
        frame
    }
    fn of_pause(pause: Pause, net: &Net) -> Self {
        Self::pause(pause, &net.pause_frames)
    }
    fn lane(&self) -> Lane {
        self.kind().lane()
    }
    fn input(&self) -> u16 {
        self.input
    }
    fn is_data(&self) -> bool {
        Frame::is_data(self)
    }
    fn is_tagged(&self) -> bool {
        self.is_probe()
    }
    fn record(&self) -> u32 {
        Frame::record(self)
    }
    #[inline]
    fn goes_to(&self) -> To {
        match self.seq {
            _ if self.is_acknowledgement() => To::Host(self.dst.into()),
            BROADCAST => To::Everyone,
            to if to & TO_POINT != 0 => To::Point(PointId(to & !TO_POINT)),
            to => To::Host(to),
        }
    }
    #[inline]
    fn way(&self, net: &Net, s: usize, paths: &mut Paths) -> NextHop {
        if self.is_acknowledgement() {
            return NextHop::Output(self.output(net, s, paths));
        }
        self.goes_to().next_hop(net, s, self.about().0, paths)
    }
    #[inline]
    fn stamp(&mut self, stamp: (u8, u32)) {
        self.lower(stamp);
    }
    fn open_trace(&mut self, spent: Spent, records: &mut Records) {
        records.open_trace(self, spent);
    }
    fn take_hop(&mut self, hop: Hop, records: &mut Records) {
        records.note(self, hop);
    }
    fn seen(&self, net: &Net, dropped: bool, records: &mut Records) -> FrameView {
        records.plain(self).header().view(self.len, net, dropped)
    }
    fn write(&mut self, view: &FrameView, records: &mut Records) {
        records.with_plain(self, |frame| frame.take_on(view));
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
