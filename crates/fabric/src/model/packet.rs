//! A frame as the sending side of a host keeps it: as the model has it, or packed.

use super::agenda::Moment;
use super::frame::{Body, Control, Data, Frame, Lane, Pause};
use crate::check::Ledger;
use crate::net::Net;
use cnsim_scheme_api::FrameView;

/// What a frame is kept as at a host's sending side: as the model has it, or packed.
pub(crate) trait Packet: Copy + std::fmt::Debug {
    /// Contents of control frames for which there is no room in them.
    type Bodies: Default + std::fmt::Debug;
    /// A data frame.
    fn of_data(class: u8, len: u16, data: &Data) -> Self;
    /// A control frame that is made now.
    fn of_control(lane: Lane, control: Control, at: Moment<'_>, bodies: &mut Self::Bodies) -> Self;
    /// XOFF or XON.
    fn of_pause(pause: Pause, net: &Net) -> Self;
    /// Is it one of these?
    fn is_pause(&self) -> bool;
    /// Bytes on the link.
    fn bytes(&self) -> u16;
    /// Its header, if it is data.
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
    /// Notes that its limiter has counted its bytes.
    fn set_counted(&mut self);
    /// Writes a packed tag into data.
    fn write_tag(&mut self, tag: (u8, u32));
    /// Marks data or not.
    fn set_marked(&mut self, marked: bool);
    /// Shows data, which is `dropped` or not, to a congestion point that may write into it.
    fn show(&mut self, net: &Net, dropped: bool, wake: impl FnOnce(&mut FrameView) -> bool) {
        let Some(data) = self.header() else { return };
        let mut view = data.view(self.bytes(), net, dropped);
        wake(&mut view);
        self.set_marked(view.marked);
        self.write_tag(view.tag.pack());
    }
}

impl Packet for Frame {
    type Bodies = ();
    fn of_data(class: u8, len: u16, data: &Data) -> Self {
        Self::data(class, len, *data)
    }
    fn of_control(lane: Lane, control: Control, at: Moment<'_>, (): &mut ()) -> Self {
        Self { len: control.length(at.net), ..Self::control(lane, control) }
    }
    fn of_pause(pause: Pause, net: &Net) -> Self {
        Self::pause(pause, net)
    }
    fn is_pause(&self) -> bool {
        self.lane == Lane::Pause
    }
    fn bytes(&self) -> u16 {
        self.len
    }
    fn header(&self) -> Option<Data> {
        self.as_data().copied()
    }
    fn set_counted(&mut self) {
        if let Body::Data(data) = &mut self.body {
            data.counted = true;
        }
    }
    fn write_tag(&mut self, tag: (u8, u32)) {
        if let Body::Data(data) = &mut self.body {
            data.tag = tag;
        }
    }
    fn set_marked(&mut self, marked: bool) {
        if let Body::Data(data) = &mut self.body {
            data.marked = marked;
        }
    }
}
