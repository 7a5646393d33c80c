//! Wire formats: in-band tags, feedback messages, probes. Closed enums, one variant per published format, with that
//! publication's field names. Quantisation belongs to the format.

use crate::{FlowId, NodeId, PointId};
use cnsim_units::{Bytes, Rate, Time};

/// Traffic class of a queue or frame. All five studies use one data class; control has strict priority unless the
/// scenario puts it into the data class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Class {
    /// Feedback messages and expedited answers.
    Control,
    /// Data frames, and messages that travel among them.
    #[default]
    Data,
}

/// In-band information carried by a data frame. It must pack into 32 bits: the frame does not grow with a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Tag {
    /// The frame carries no tag.
    #[default]
    None,
    /// BCN/ECM rate-regulated tag (RRT): the congestion point that owns the flow's limiter.
    Regulated(PointId),
    /// FECN rate-discovery tag: the smallest advertised rate so far, in steps of 1 kb/s (0 to 4.29 Tb/s).
    RateDiscovery(Rate),
    /// 32 bits for a scheme whose format is not published.
    User(u32),
    /// When the frame left its host, in nanoseconds, modulo 2^32 (4.29 s): written by the network into the frame that
    /// [`crate::Limiter::echo_next`] asks for.
    SentAt(u32),
}

impl Tag {
    /// Kind of a packed time of sending.
    pub(crate) const SENT_AT: u8 = 4;
    /// The tag of a frame that leaves its host at this time.
    pub fn sent_at(now: Time) -> Tag {
        Tag::SentAt((now.as_ps() / 1000) as u32)
    }

    /// Kind of a packed rate-discovery tag.
    pub const RATE_DISCOVERY: u8 = 2;

    /// Does it carry a rate that is not a number?
    #[inline]
    pub(crate) fn is_nan(self) -> bool {
        matches!(self, Tag::RateDiscovery(rate) if rate.is_nan())
    }

    /// Packs into (kind, 32 bits); kind 0 means no tag.
    #[inline]
    pub fn pack(self) -> (u8, u32) {
        match self {
            Tag::None => (0, 0),
            Tag::Regulated(p) => (1, p.0),
            Tag::RateDiscovery(r) => (Self::RATE_DISCOVERY, nearest(r.bps() / 1e3)),
            Tag::User(v) => (3, v),
            Tag::SentAt(ns) => (Self::SENT_AT, ns),
        }
    }

    /// Reads back what [`Tag::pack`] wrote; an unknown kind reads as no tag.
    pub fn unpack(kind: u8, value: u32) -> Tag {
        match kind {
            1 => Tag::Regulated(PointId(value)),
            Self::RATE_DISCOVERY => Tag::RateDiscovery(Rate::from_bps(f64::from(value) * 1e3)),
            3 => Tag::User(value),
            Self::SENT_AT => Tag::SentAt(value),
            _ => Tag::None,
        }
    }
}

/// `x.round() as u32`, at most the largest number, without a call.
fn nearest(x: f64) -> u32 {
    let whole = x as u32;
    // The difference, the fraction of `x`, is exact.
    whole.saturating_add(u32::from(x - f64::from(whole) >= 0.5))
}

/// A scheme's view of a data frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameView {
    /// The flow that the frame belongs to.
    pub flow: FlowId,
    /// The host that sent the frame.
    pub src: NodeId,
    /// The host that the frame goes to.
    pub dst: NodeId,
    /// Length of the frame on the link.
    pub len: Bytes,
    /// Marked on its way (ECN CE, QCN-3pt's DE bit), by a ramp or by a congestion point.
    pub marked: bool,
    /// The frame's tag, which a congestion point may rewrite.
    pub tag: Tag,
    /// True when it is about to be dropped at this queue (seen only with `sample_dropped`).
    pub dropped: bool,
}

/// A feedback message to a reaction point. Each occupies the reverse path as a frame of [`Feedback::wire_length`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Feedback {
    /// BCN or ECM message.
    Ecm {
        /// Congestion point that sends it.
        point: PointId,
        /// `Qoff = Qeq - q`, in 64-byte pages.
        q_off: f64,
        /// `Qdelta = q - q_old`, in pages.
        q_delta: f64,
        /// `Fb` after clamping, in pages; negative = decrease.
        fb: f64,
        /// Severe congestion, ECM(0,0): stop.
        stop: bool,
    },
    /// QCN congestion notification message (CNM).
    Cnm {
        /// Congestion point that sends it.
        point: PointId,
        /// Quantised |Fb|, 0 to 63.
        qntz_fb: u8,
        /// `Qoff`, in bytes.
        q_off: i32,
        /// `Qdelta`, in bytes.
        q_delta: i32,
    },
    /// A reflector's message that a frame has come, without any value: QCN-3pt's Fb = 0, or an acknowledgement without a mark.
    Reflection,
    /// An advertised rate: BECN broadcasts it, and any congestion point may send it to one flow.
    AdvertisedRate {
        /// Congestion point that computed it.
        point: PointId,
        /// The rate.
        rate: Rate,
    },
    /// FECN's returned rate-discovery tag.
    ReturnedRate {
        /// Smallest rate met on the path.
        rate: Rate,
    },
    /// DCQCN congestion notification packet.
    Cnp,
    /// Answer to a probe.
    ProbeReply {
        /// The probe as it was when answered.
        probe: Probe,
        /// When it was answered, by the answering node's clock.
        at: Time,
        /// Rate received for the flow since the previous probe (E2CM, destination-based); zero if not measured.
        rx_rate: Rate,
    },
    /// 128 bits for a scheme whose format is not published.
    User([u64; 2]),
    /// Acknowledgement of a frame that carried [`Tag::SentAt`], sent by [`crate::Acknowledger`]. A reaction point receives it
    /// in [`crate::ReactionPoint::on_ack`].
    Echo {
        /// The frame's tag: when it left its host, in nanoseconds, modulo 2^32.
        sent_at: u32,
        /// Bytes received for the flow (or the station) up to this frame.
        received: u64,
        /// The frame was marked.
        marked: bool,
    },
    /// Acknowledgement that the network made, of a flow with a queue pair. No scheme sends one, and a reaction point receives it as
    /// an [`crate::Ack`] or a [`crate::Loss`].
    Acknowledgement {
        /// All bytes of the flow below this have arrived, or are given up where nothing is sent again.
        acked: u64,
        /// When the frame left its host that this answers, ps.
        sent_at: u64,
        /// Whether the acknowledged frame was marked.
        marked: bool,
        /// Whether the acknowledged frame followed a gap: then this is a NACK.
        gap: bool,
        /// Number of the telemetry that the frame brought; 0 for none.
        record: u32,
    },
}

impl Feedback {
    /// Kind of a packed returned rate.
    pub const RETURNED_RATE: u8 = 3;

    /// Packs a message that fits into (kind, 32 bits), which then takes no memory beside its frame. Kinds are 1 to 3.
    pub fn pack(&self) -> Option<(u8, u32)> {
        match *self {
            Feedback::Reflection => Some((1, 0)),
            Feedback::Cnp => Some((2, 0)),
            Feedback::ReturnedRate { rate } => {
                let (kind, value) = Tag::RateDiscovery(rate).pack();
                (Tag::unpack(kind, value) == Tag::RateDiscovery(rate)).then_some((Self::RETURNED_RATE, value))
            }
            _ => None,
        }
    }

    /// Reads back what [`Feedback::pack`] wrote; none for an unknown kind.
    pub fn unpack(kind: u8, value: u32) -> Option<Feedback> {
        match kind {
            1 => Some(Feedback::Reflection),
            2 => Some(Feedback::Cnp),
            Self::RETURNED_RATE => {
                Some(Feedback::ReturnedRate { rate: Rate::from_bps(f64::from(value) * 1e3) })
            }
            _ => None,
        }
    }

    /// Length on the link: every published format here fits the minimum Ethernet frame of 64 B.
    pub fn wire_length(&self) -> Bytes {
        Bytes::SMALLEST_FRAME
    }
}

/// Where a probe ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTarget {
    /// The flow's destination host.
    Destination,
    /// A congestion point, on or off the flow's path.
    Point(PointId),
}

/// A probe: a 64 B frame sent by a reaction point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Running number, chosen by the sender.
    pub number: u32,
    /// Where the probe ends.
    pub target: ProbeTarget,
    /// Class it travels in: `Control` is served first everywhere, `Data` queues with the data.
    pub class: Class,
    /// When it was sent, by the sender's clock (`T_src`). Filled in by the network.
    pub sent_at: Time,
    /// Bytes that the flow had sent before it (`S`). Filled in by the network.
    pub sent_bytes: u64,
    /// Feedback value, for congestion points to write: signed, in the unit of the scheme.
    pub fb: i32,
    /// Congestion point that wrote `fb`.
    pub point: Option<PointId>,
}

impl Probe {
    /// A fresh probe of this number, target and class.
    pub fn new(number: u32, target: ProbeTarget, class: Class) -> Self {
        Self { number, target, class, sent_at: Time::ZERO, sent_bytes: 0, fb: 0, point: None }
    }
}
