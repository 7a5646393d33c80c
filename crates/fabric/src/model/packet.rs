//! A frame as hosts and switches keep it, as the model has it or packed; and where they put it.

use super::agenda::{Direct, Moment};
use super::frame::{Body, Control, Data, Frame, Lane, MANAGED, NextHop, Pause, Says, To, lowered};
use super::records::Records;
use crate::check::{Ledger, Spent, broken};
use crate::net::{Link, Net, Paths};
use cnsim_scheme_api::{Feedback, FlowId, FrameView, Hop, Probe};

/// See the head of the file.
pub(crate) trait Packet: Copy + std::fmt::Debug + 'static {
    /// Contents of control frames for which there is no room in them.
    type Bodies: Default + std::fmt::Debug;
    /// A data frame.
    fn of_data(len: u16, data: &Data) -> Self;
    /// A control frame that is made now.
    fn of_control(lane: Lane, control: &Control, at: Moment<'_>, bodies: &mut Self::Bodies) -> Self;
    /// XOFF or XON.
    fn of_pause(pause: Pause, net: &Net) -> Self;
    /// Where it waits.
    fn lane(&self) -> Lane;
    /// The port by which it came.
    fn input(&self) -> u16;
    /// The class that it is of, or about.
    fn class(&self) -> u8;
    /// The frame as one of a class, or about it, where it has none. A PAUSE has its own.
    fn of_class(self, class: u8, net: &Net) -> Self;
    /// Where it goes, if it is control.
    fn goes_to(&self) -> To;
    /// Source, destination and number of data or of an acknowledgement, by which it goes its way.
    fn addresses(&self, net: &Net) -> Option<(u32, u32, u32)>;
    /// The flow that other control is about.
    fn about(&self) -> FlowId;
    /// Where control goes on from switch `s`.
    #[inline]
    fn way(&self, net: &Net, s: usize, paths: &mut Paths) -> NextHop {
        match self.addresses(net) {
            Some(addresses) => NextHop::Output(net.route(s, addresses, paths)),
            None => self.goes_to().next_hop(net, s, self.about(), paths),
        }
    }
    /// The number of the telemetry that it carries or brings; 0 for none.
    fn record(&self) -> u32;
    /// Does it carry a tag?
    fn is_tagged(&self) -> bool;
    /// Is it XOFF or XON?
    fn is_pause(&self) -> bool {
        self.lane() == Lane::Pause
    }
    /// Is it data?
    #[inline]
    fn is_data(&self) -> bool {
        self.header().is_some()
    }
    /// Bytes on the link.
    fn bytes(&self) -> u16;
    /// Header of the frame, if it is data.
    fn header(&self) -> Option<Data>;
    /// Destination host, of data.
    #[inline]
    fn data_to(&self) -> Option<u32> {
        self.header().map(|data| data.dst)
    }
    /// Enters it in a ledger, if it is data.
    fn enter(&self, ledger: &mut Ledger) {
        if let Some(Data { src, dst, number, .. }) = self.header() {
            ledger.enter(src, dst, number);
        }
    }
    /// Counts it where it leaves a host: data, and control.
    #[inline(always)]
    fn count(&self, sent: &mut (u64, u64)) {
        *(if self.is_data() { &mut sent.0 } else { &mut sent.1 }) += u64::from(!self.is_pause());
    }
    /// Notes that its limiter has counted its bytes.
    fn set_counted(&mut self);
    /// Writes a packed tag into data.
    fn write_tag(&mut self, tag: (u8, u32));
    /// Marks data or not.
    fn set_marked(&mut self, marked: bool);
    /// Data sets out that says whether its source has cut the window.
    fn set_cut(&mut self, cut: bool);
    /// A port, by its number and one, marks data. One that has no tag tells it in the tag's place.
    fn mark_at(&mut self, port: u32, records: &mut Records);
    /// Lowers the tag of data to a stamp.
    fn stamp(&mut self, stamp: (u8, u32), records: &mut Records);
    /// Data sets out that is traced, and takes along what its flow has spent.
    fn open_trace(&mut self, spent: Spent, records: &mut Records);
    /// Data takes a hop of telemetry along.
    fn take_hop(&mut self, hop: Hop, records: &mut Records);
    /// Data as a congestion point sees it, `dropped` or not.
    fn seen(&self, net: &Net, dropped: bool, _: &mut Records) -> FrameView {
        let Some(data) = self.header() else { broken("control is shown for data") };
        data.view(self.bytes(), net, dropped)
    }
    /// The congestion point of a port, by its number and one, has written into data.
    fn write(&mut self, view: &FrameView, port: u32, _: &mut Records) {
        self.take_on(view, port);
    }
    /// The same, for a frame that has no telemetry.
    fn take_on(&mut self, view: &FrameView, port: u32) {
        let before = self.header().map_or(0, |data| data.marked_by());
        self.set_marked(view.marked);
        let tag = view.tag.pack();
        let by = if before > 0 { before } else { port };
        self.write_tag(if view.marked && tag.0 == 0 { (0, by) } else { tag });
    }
}

/// Where a node puts its effects on others in its turn, as it keeps frames in some way: nodes meet nowhere else.
pub(crate) trait Outside<F: Packet>: 'static {
    /// Telemetry of the frames under way, and feedback that takes no link.
    fn beside(&mut self) -> (&mut Records, &mut Vec<Direct>);
    /// Puts a frame on a link: its last bit leaves now, or it is a PAUSE that takes no time on the link (`at_once`).
    fn send(&mut self, link: &Link, frame: &F, at_once: bool, at: Moment<'_>);
    /// A frame leaves the host that made it, with what is kept of it there.
    fn send_first(&mut self, link: &Link, frame: &F, _: &mut F::Bodies, at: Moment<'_>) {
        self.send(link, frame, false, at);
    }
    /// A switch's message about a class as a frame, which has come by this input.
    fn framed(&mut self, about: &(Control, u8), input: u16, at: Moment<'_>) -> F;
    /// The probe that a frame carries.
    fn probe(&mut self, frame: &F) -> Option<(FlowId, Probe)>;
    /// A congestion point has written into it.
    fn write_probe(&mut self, frame: &mut F, probe: Probe);
    /// One frame more carries what this one does, or one fewer.
    fn carry(&mut self, _: &F, _more: bool) {}
}

impl Frame {
    fn data_mut(&mut self) -> Option<&mut Data> {
        if let Body::Data(data) = &mut self.body { Some(data) } else { None }
    }
}

impl Packet for Frame {
    type Bodies = ();
    fn of_data(len: u16, data: &Data) -> Self {
        Self { len, lane: MANAGED, input: 0, class: 0, body: Body::Data(*data) }
    }
    fn of_control(lane: Lane, control: &Control, at: Moment<'_>, (): &mut ()) -> Self {
        Self { len: control.length(at.net), lane, input: 0, class: 0, body: Body::Control(*control) }
    }
    fn of_pause(pause: Pause, net: &Net) -> Self {
        let len = net.laws.pause_frames.length.get() as u16;
        Self { len, lane: Lane::Pause, input: 0, class: pause.class, body: Body::Pause(pause) }
    }
    fn lane(&self) -> Lane {
        self.lane
    }
    fn input(&self) -> u16 {
        self.input
    }
    fn class(&self) -> u8 {
        self.class
    }
    fn of_class(mut self, class: u8, net: &Net) -> Self {
        match (&self.body, net.transport_of(class.into())) {
            (Body::Pause(_), _) => return self,
            (Body::Control(control), Some(transport)) if control.is_acknowledgement() => {
                self.len = transport.ack_length.get() as u16;
            }
            _ => {}
        }
        let lane = if let Lane::Data(_) = self.lane { Lane::Data(class) } else { self.lane };
        Self { lane, class, ..self }
    }
    fn goes_to(&self) -> To {
        let Body::Control(control) = &self.body else { broken("this frame is no control") };
        control.to
    }
    fn addresses(&self, net: &Net) -> Option<(u32, u32, u32)> {
        match &self.body {
            Body::Data(data) => Some((data.src, data.dst, data.number)),
            Body::Control(control) if control.is_acknowledgement() => {
                net.flows.numbered(control.flow).map(|flow| control.header(flow))
            }
            _ => None,
        }
    }
    fn about(&self) -> FlowId {
        let Body::Control(control) = &self.body else { broken("this frame is no control") };
        control.flow
    }
    fn record(&self) -> u32 {
        match self.body {
            Body::Data(data) => data.record,
            Body::Control(Control {
                says: Says::Feedback(Feedback::Acknowledgement { record, .. }, _),
                ..
            }) => record,
            _ => 0,
        }
    }
    fn is_tagged(&self) -> bool {
        self.header().is_some_and(|data| data.tag.0 != 0)
    }
    fn stamp(&mut self, stamp: (u8, u32), _: &mut Records) {
        self.data_mut().into_iter().for_each(|data| data.tag.1 = lowered(data.tag, stamp));
    }
    fn open_trace(&mut self, spent: Spent, records: &mut Records) {
        self.data_mut().into_iter().for_each(|data| data.record = records.trace(spent));
    }
    fn take_hop(&mut self, hop: Hop, records: &mut Records) {
        self.data_mut().into_iter().for_each(|data| data.record = records.push(data.record, hop));
    }
    fn bytes(&self) -> u16 {
        self.len
    }
    fn header(&self) -> Option<Data> {
        if let Body::Data(data) = self.body { Some(data) } else { None }
    }
    fn set_counted(&mut self) {
        self.data_mut().into_iter().for_each(|data| data.counted = true);
    }
    fn write_tag(&mut self, tag: (u8, u32)) {
        self.data_mut().into_iter().for_each(|data| data.tag = tag);
    }
    fn set_cut(&mut self, cut: bool) {
        self.data_mut().into_iter().for_each(|data| data.cut = cut);
    }
    fn set_marked(&mut self, marked: bool) {
        self.data_mut().into_iter().for_each(|data| data.marked = marked);
    }
    fn mark_at(&mut self, port: u32, _: &mut Records) {
        if let Body::Data(data) = &mut self.body {
            data.marked = true;
            data.tag.1 = if data.tag.0 == 0 { port } else { data.tag.1 };
        }
    }
}
