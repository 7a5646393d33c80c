//! What happened to the rate and the window of flows.

use cnsim_scheme_api::{NodeId, Rate, Time};

/// Causes of what happens to a flow's rate and window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// An acknowledgement without a mark: its round trip, and what it acknowledged.
    Answer,
    /// A mark: by an acknowledgement, or by a message that tells of it.
    Mark,
    /// Another message, of a congestion point or a reflector.
    Message,
    /// Telemetry of an acknowledgement. Its port is that of the queue that takes longest to empty.
    Telemetry,
    /// A loss, found before a timeout.
    Loss,
    /// A timeout.
    Timeout,
    /// The end of a recovery.
    Recovery,
    /// A timer of the scheme, or a number of bytes that were sent.
    Timer,
}

/// What happened to a flow, or to all that share its limiter, and how it may send from then on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowEvent {
    /// When.
    pub at: Time,
    /// Source and destination.
    pub flow: (NodeId, NodeId),
    /// Lower 16 bits of its number among the flows of its pair ([`crate::numbered`]); none of an event of all.
    pub number: Option<u16>,
    /// The cause.
    pub by: Trigger,
    /// The port of the queue that caused it, if that is known: node and port.
    pub port: Option<(NodeId, u16)>,
    /// Rate of its limiter; the line rate without one.
    pub rate: Rate,
    /// Window, bytes; none without one.
    pub window: Option<u64>,
    /// Bytes that are sent and not acknowledged; none without a queue pair.
    pub in_flight: Option<u64>,
    /// The round trip that an acknowledgement ended.
    pub rtt: Option<Time>,
}

/// A cut: an event that lowered a flow's rate or window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The event. Where a scheme acts later on a mark or a message, cause and port are those of the last one.
    pub event: FlowEvent,
    /// How long the flow waited for its limiter or its window, from then until the next cut.
    pub cost: Time,
}

/// Cuts of one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuts {
    /// The cause.
    pub by: Trigger,
    /// The port, if it is known.
    pub port: Option<(NodeId, u16)>,
    /// Number of the cuts.
    pub count: u64,
    /// Sum of [`Cut::cost`].
    pub cost: Time,
}
