//! How the bytes of a finite flow are put into frames.

use cnsim_units::Bytes;

/// Payload and header of the frames of a table of flows, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Payload of a full frame.
    pub payload: u64,
    /// Bytes that every frame carries beside payload.
    pub header: u64,
    /// Least bytes of a flow's last frame.
    pub floor: u64,
}

impl Framing {
    /// Bytes on a link of a flow of so many bytes of payload.
    pub fn on_link(self, bytes: Bytes) -> Bytes {
        bytes + Bytes::new(self.header * self.frames(bytes.get()))
    }
    /// The payload of a flow of so many bytes on a link.
    pub fn payload_of(self, on_link: u64) -> u64 {
        on_link.saturating_sub(self.header * on_link.div_ceil(self.payload + self.header))
    }
    fn frames(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.payload.max(1)).max(1)
    }
}
