//! Frames that captured ports have put on their links.

use cnsim_scheme_api::{Feedback, FrameView, NodeId, Probe, Time};

/// What the output ports of [`crate::Record::captures`] have put on their links.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// In order of their times, and at one time by port.
    pub frames: Vec<Captured>,
    /// From when on frames are left out, as a port had sent [`crate::Record::capture_limit`] of them; none: none is left out.
    pub cut: Option<Time>,
}

/// A frame that an output port has put on its link.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// When its last bit left the port; when the port said XOFF or XON, if that takes no time on links.
    pub left: Time,
    /// The output port: node and number.
    pub port: (NodeId, u16),
    /// Bytes on the link.
    pub bytes: u16,
    /// Class of data that it belongs to, or that it stops or lets go; none: control ahead of data.
    pub class: Option<u8>,
    /// The link lost it.
    pub lost: bool,
    /// Data says that its source has cut the window (CWR of RFC 3168).
    pub cut: bool,
    /// The flow that it is of, or about: source and destination, and of a finite flow the lower 16 bits of its number
    /// ([`crate::numbered`]). None: of all flows.
    pub flow: Option<(NodeId, NodeId, Option<u16>)>,
    /// The node to which it goes; none: all hosts, or the far end of the link.
    pub to: Option<NodeId>,
    /// Content of the frame.
    pub content: Content,
}

/// Content of a captured frame.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// Data, and its number: with a queue pair that of the frame in its flow, modulo 65,535; else a running one at its source, of which a
    /// finite flow's frame has the lower 16 bits.
    Data(FrameView, u32),
    /// A message to reaction points, or an acknowledgement with the runs of frames that it reports beyond its sequence: from how many
    /// after the expected one, and how many.
    Message(Feedback, [(u16, u16); 3]),
    /// A probe, as it was when it left.
    Probe(Probe),
    /// XOFF (true) or XON.
    Pause(bool),
}
