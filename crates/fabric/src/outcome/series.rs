//! Series: quantities that a run records over time.

use cnsim_scheme_api::{NodeId, Time};

/// The quantity of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesKind {
    /// Queue length, bytes, sampled at each bin's end.
    Queue {
        /// Switch.
        node: NodeId,
        /// Output port.
        port: u16,
    },
    /// The same of a class alone, where the run has several.
    ClassQueue {
        /// Switch.
        node: NodeId,
        /// Output port.
        port: u16,
        /// Class of data.
        class: u8,
    },
    /// Largest queue length of an output port in each bin, bytes, however short it lasted.
    QueuePeak {
        /// Switch.
        node: NodeId,
        /// Output port.
        port: u16,
    },
    /// Data rate sent by an output port whose queue is recorded, bit/s, mean of each bin; a frame counts when it leaves the queue.
    Sent {
        /// Switch.
        node: NodeId,
        /// Output port.
        port: u16,
    },
    /// Data frames discarded for such a port since the start, but by watchdogs, sampled at each bin's end.
    Discarded {
        /// Switch.
        node: NodeId,
        /// Output port.
        port: u16,
    },
    /// Data frames discarded at a switch since the start, sampled at each bin's end.
    Dropped {
        /// Switch.
        node: NodeId,
    },
    /// Rate of the control messages made in the whole network, bit/s, mean of each bin; a broadcast counts once.
    Control,
    /// Rate delivered to a host, bit/s, mean of each bin.
    Delivered {
        /// Host.
        host: NodeId,
    },
    /// Limiter rate of a flow, bit/s, sampled at each bin's end; the line rate without a limiter.
    LimiterRate {
        /// Source host.
        src: NodeId,
        /// Destination host.
        dst: NodeId,
    },
    /// Gauge of a scheme's object, sampled at each bin's end.
    Gauge {
        /// The object.
        at: GaugeSite,
        /// Number of the gauge in [`Outcome::gauges`].
        gauge: u16,
    },
    /// Rate delivered for a flow, bit/s, mean of each bin.
    Flow {
        /// Source host.
        src: NodeId,
        /// Destination host.
        dst: NodeId,
    },
}

impl SeriesKind {
    /// The output port of a switch whose queue it tells.
    pub(crate) fn output(&self) -> Option<u16> {
        match *self {
            Self::Queue { port, .. } | Self::QueuePeak { port, .. } | Self::Sent { port, .. } => Some(port),
            _ => None,
        }
    }

    /// Is a value the largest of its bin?
    pub(crate) fn is_peak(&self) -> bool {
        matches!(self, Self::QueuePeak { .. })
    }
}

/// The object of a scheme that shows a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaugeSite {
    /// Congestion point of an output port of a switch.
    Port(NodeId, u16),
    /// Reflector of the flow from one host to another.
    Sink(NodeId, NodeId),
    /// Reaction point of the flow from one host to another.
    Source(NodeId, NodeId),
}

/// One value per bin: `values[i]` belongs to the bin that ends at `(i + 1) * bin`.
#[derive(Clone, Debug)]
pub struct Series {
    /// The quantity of the values.
    pub kind: SeriesKind,
    /// Width of a bin.
    pub bin: Time,
    /// The values, one for each bin, in order.
    pub values: Vec<f64>,
}
