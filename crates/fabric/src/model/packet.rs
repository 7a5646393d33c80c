//! A frame as the sending side of a host keeps it: as the model has it, or packed.

use super::agenda::Moment;
use super::frame::{Body, Control, Data, Frame, Lane, SMALLEST};
use crate::check::Ledger;
use cnsim_scheme_api::FlowId;

/// What a frame is kept as at a host's sending side: as the model has it, or packed.
pub(crate) trait Packet: Copy + std::fmt::Debug {
    /// Contents of control frames for which there is no room in them.
    type Bodies: Default + std::fmt::Debug;
    /// A data frame.
    fn of_data(class: u8, len: u16, data: &Data) -> Self;
    /// A control frame that is made now.
    fn of_control(lane: Lane, control: Control, at: Moment<'_>, bodies: &mut Self::Bodies) -> Self;
    /// Bytes on the link.
    fn bytes(&self) -> u16;
    /// Its header, if it is data.
    fn header(&self) -> Option<Data>;
    /// Destination host, of data.
    #[inline]
    fn data_to(&self) -> Option<u32> {
        self.header().map(|data| data.dst)
    }
    /// The flow of a data frame, if that has a queue pair: a packed frame has none.
    #[inline(always)]
    fn queue_pair(&self) -> Option<FlowId> {
        None
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
}

impl Packet for Frame {
    type Bodies = ();
    fn of_data(class: u8, len: u16, data: &Data) -> Self {
        Self::data(class, len, *data)
    }
    fn of_control(lane: Lane, control: Control, at: Moment<'_>, (): &mut ()) -> Self {
        let acks = at.net.transport.filter(|_| control.is_acknowledgement());
        let len = acks.map_or(SMALLEST, |transport| transport.ack_length.get() as u16);
        Self { len, ..Self::control(lane, control) }
    }
    fn bytes(&self) -> u16 {
        self.len
    }
    fn header(&self) -> Option<Data> {
        self.as_data().copied()
    }
    fn queue_pair(&self) -> Option<FlowId> {
        Some(self.as_data()?.segment?.flow)
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
}
