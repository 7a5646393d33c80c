//! Why a switch says XOFF: for which outputs the bytes are that called for it, and what holds these outputs back.
//!
//! All of that is known at the switch at that moment, so a run without XOFF pays nothing. Who says XOFF to a stopped output is known
//! there by its number alone: the XOFFs of a link and class arrive in the order in which they were decided
//! ([`crate::check::close`] joins them).

use super::pause::Signal;
use crate::check::{Decisions, HeldBy};
use crate::numbers::Ps;
use crate::spec::Layout;

/// An output at the moment of an XOFF.
pub(crate) struct Waiting<F> {
    /// Number of the XOFF in the class that it obeys.
    pub(crate) xoff: Option<u32>,
    /// Whether the output's rate is 0.
    pub(crate) closed: bool,
    /// Inputs and lengths of the frames of the class that have not left.
    pub(crate) frames: F,
}

impl Decisions {
    /// The memory of a class decides now what it signals, as a frame came from an input for an output (`by`): of XOFF the causes are
    /// noted, which are the frames in that frame's cell. One that stops nobody, as the switch's own messages called for it, is not kept.
    /// `outputs` are in order.
    pub(crate) fn note<F: Iterator<Item = (u16, u16)>>(
        &mut self,
        (now, signal, class): (Ps, Signal, u8),
        (layout, by): (&Layout, (usize, u16)),
        outputs: impl Iterator<Item = Waiting<F>>,
    ) {
        let inputs = signal.targets(layout.inputs - 1);
        if !signal.off || inputs.is_empty() || self.are_full() {
            return;
        }
        let cell = layout.cell(by.0, by.1.into());
        let causes = outputs.enumerate().filter_map(|(output, Waiting { xoff, closed, frames })| {
            let inside = frames.filter(|f| layout.cell(output, f.0.into()) == cell);
            let bytes: u32 = inside.map(|f| u32::from(f.1)).sum();
            let held = match xoff {
                _ if closed => HeldBy::Closed,
                Some(number) => HeldBy::Xoff(number),
                None => HeldBy::Rate,
            };
            (bytes > 0).then_some((output as u16, bytes, held))
        });
        self.keep((now, class), inputs, causes);
    }
    /// A fault of a port says XOFF.
    pub(crate) fn fault(&mut self, (now, class): (Ps, u8), port: u16) {
        let port = usize::from(port);
        self.keep((now, class), port..port + 1, std::iter::empty());
    }
}
