//! The class of a frame, where there are several: it stands above the time on the way from host to host.

use super::{Frame, KIND};
use crate::net::Net;

/// The first of three bits of a frame's word.
const CLASS: u32 = 51;
/// Runs of several classes are shorter, ps.
pub(crate) const LONGEST_OF_CLASSES: u64 = 1 << CLASS;

impl Frame {
    /// With a class, where it has none.
    pub(super) fn with_class(mut self, class: u8) -> Self {
        self.word |= u64::from(class) << CLASS;
        self
    }
    /// The class of a PAUSE, or of a frame that is between hosts of several classes.
    #[inline(always)]
    pub(crate) fn class(&self) -> u8 {
        (self.word >> CLASS) as u8 & 7
    }
    /// A frame of a host's class on its way, which came from its sending side.
    #[inline]
    pub(crate) fn of_class(mut self, class: u8, net: &Net) -> Self {
        if let (true, Some(transport)) = (self.is_acknowledgement(), net.transport_of(class.into())) {
            self.len = transport.ack_length.get() as u16;
        }
        self.with_class(class)
    }
    /// A frame without its class; a PAUSE keeps it.
    #[inline(always)]
    pub(crate) fn of_no_class(mut self) -> Self {
        let kept = if self.word & (3 << KIND) == 3 << KIND { 0 } else { 7 << CLASS };
        self.word &= !kept;
        self
    }
}
