//! Events at ports during a run: other rates of service, and faults.

use super::{PauseTransport, RunSpec};
use crate::numbers::Ps;
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

/// What changes or fails at single ports.
#[derive(Clone, Debug, Default)]
pub struct PortEvents {
    /// Scheduled changes of service rate.
    pub changes: Vec<RateChange>,
    /// Ports that say XOFF though their nodes have room.
    pub faults: Vec<PortFault>,
    /// Links that lose frames.
    pub losses: Vec<LinkLoss>,
}

/// From `at` on, this output port serves data at `rate`; control keeps the link's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// When the rate changes.
    pub at: Time,
    /// The node that has the port.
    pub node: NodeId,
    /// The output port whose rate changes.
    pub port: u16,
    /// New service rate; zero stops the port.
    pub rate: Rate,
}

/// PAUSE frames of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFrames {
    /// Their length, 1 B to 1500 B.
    pub length: Bytes,
    /// Time from the arrival of one to its effect on the transmitter, which finishes a frame in transmission in any case.
    pub response: Time,
}

impl PauseFrames {
    /// When a transmitter obeys one that reaches it at `at`, ps.
    pub(crate) fn obeyed(&self, at: Ps) -> Ps {
        at + self.response.into()
    }
    /// Bytes that arrive over a link of this rate during the response, and while more is sent than a PAUSE frame of 64 B: headroom beside
    /// that of [`crate::headroom`].
    pub fn headroom(&self, rate: Rate) -> Bytes {
        let obeys = (rate.bps() * self.response.as_secs_f64() / 8.0).ceil() as u64;
        Bytes::new(obeys) + self.length.saturating_sub(Bytes::SMALLEST_FRAME)
    }
}

impl Default for PauseFrames {
    fn default() -> Self {
        Self { length: Bytes::SMALLEST_FRAME, response: Time::ZERO }
    }
}

/// Faults of a host, to test a network against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Faults {
    /// The host keeps sending while it is paused.
    pub ignores_pause: bool,
    /// Every n-th feedback message that arrives is lost; 0 for none.
    pub feedback_lost: u32,
}

/// A fault of a port: from one time to another it says XOFF for a cause of its own. Spans of one port and class do not overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortFault {
    /// The node that has the port.
    pub node: NodeId,
    /// The port, whose far end is stopped. That of a host is 0.
    pub port: u16,
    /// The class of data that it stops.
    pub class: u8,
    /// When the fault begins.
    pub from: Time,
    /// When it ends, later: the far end is let go if it is stopped.
    pub to: Time,
    /// How its PAUSE frames travel.
    pub transport: PauseTransport,
    /// Kind of the fault.
    pub kind: FaultKind,
}

/// Faults of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// XOFF is said at the begin, and XON at the end.
    Xoff,
    /// A host reads what arrives of the class at this rate, out of a buffer. It says XOFF when the buffer holds more than `buffer`, and XON when it
    /// holds half of that or less.
    Slow {
        /// Rate at which the host reads, above 0.
        rate: Rate,
        /// Bytes in the host's buffer above which it says XOFF.
        buffer: Bytes,
    },
}

impl PortFault {
    /// Why it cannot be, in this run.
    fn refused(&self, spec: &RunSpec) -> Option<String> {
        let end = (self.node, self.port);
        let host = self.node.0 < spec.hosts.len() as u32;
        if !spec.links.iter().any(|l| l.a == end || l.b == end) {
            return Some("the port has no link".into());
        }
        if self.from >= self.to {
            return Some(format!("it is to end at {}, and begins at {}", self.to, self.from));
        }
        if usize::from(self.class) >= spec.classes.len().max(1) {
            return Some(format!("there is no class {}", self.class));
        }
        let place = |f: &PortFault| (f.node, f.port, f.class);
        let overlaps = |f: &&PortFault| place(f) == place(self) && f.from < self.to && self.from < f.to;
        if spec.events.faults.iter().filter(overlaps).count() > 1 {
            return Some(format!("another fault of the port overlaps {} to {}", self.from, self.to));
        }
        match self.kind {
            FaultKind::Slow { .. } if !host => Some("only hosts read slowly".into()),
            FaultKind::Slow { rate, .. } if rate.bps() <= 0.0 => Some("a host that reads nothing".into()),
            FaultKind::Slow { .. } | FaultKind::Xoff => None,
        }
    }

    /// All of a run can be, or why one cannot.
    pub(crate) fn check(spec: &RunSpec) -> Result<(), String> {
        for fault in &spec.events.faults {
            if let Some(why) = fault.refused(spec) {
                let name = spec.name(fault.node.0);
                return Err(format!("a fault at port {} of {name}: {why}", fault.port));
            }
        }
        Ok(())
    }
}

/// A link that loses what one of its ends puts on it, from one time to another. XOFF and XON are never lost. A lost frame is lost as its
/// last bit leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkLoss {
    /// The node that sends.
    pub node: NodeId,
    /// Output port of the node.
    pub port: u16,
    /// When the losses begin.
    pub from: Time,
    /// When they end, later.
    pub to: Time,
    /// Which frames are lost.
    pub kind: LossKind,
}

/// Which frames a link loses.
#[derive(Clone, Debug, PartialEq)]
pub enum LossKind {
    /// Each data and control frame, with this probability: 0 to 1. Each output port has a random stream of its own.
    Drawn(f64),
    /// These.
    Listed(Vec<LostFrame>),
}

/// A frame that a link loses: the `nth` of its kind that its flow sends over the link while the losses last. What is sent again counts
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostFrame {
    /// Source and destination host of the flow.
    pub flow: (NodeId, NodeId),
    /// Which finite flow of this pair, from 0; none: all data from one host to the other counts as one flow.
    pub number: Option<u16>,
    /// Whether the frame is an acknowledgement of the flow, not data.
    pub acknowledgement: bool,
    /// From 1.
    pub nth: u64,
}

impl LinkLoss {
    /// All of a run can be, or why one cannot.
    pub(crate) fn check(spec: &RunSpec) -> Result<(), String> {
        for loss in &spec.events.losses {
            let end = (loss.node, loss.port);
            let overlaps = |l: &&Self| (l.node, l.port) == end && l.from < loss.to && loss.from < l.to;
            let why = if !spec.links.iter().any(|l| l.a == end || l.b == end) {
                "the port has no link".into()
            } else if loss.from >= loss.to {
                format!("they are to end at {}, and begin at {}", loss.to, loss.from)
            } else if spec.events.losses.iter().filter(overlaps).count() > 1 {
                format!("others of the port overlap {} to {}", loss.from, loss.to)
            } else if let LossKind::Drawn(p) = loss.kind
                && !(0.0..=1.0).contains(&p)
            {
                format!("{p} is no probability")
            } else {
                continue;
            };
            let name = spec.name(loss.node.0);
            return Err(format!("losses at port {} of {name}: {why}", loss.port));
        }
        Ok(())
    }
}
