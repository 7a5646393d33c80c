//! Frames: data, control (feedback and probes), PAUSE.
//!
//! This is the frame as the laws see it. On the wires of the fast engine it is packed into 24 bytes.

use crate::check::broken;
use crate::flows::{Numbered, flow_of as of_number};
use crate::net::{Net, Paths, Ps};
use crate::spec::{ControlTransport, SMALLEST};
use cnsim_scheme_api::{Bytes, Feedback, FlowId, FrameView, NodeId, PointId, Probe, Tag};

/// The queue in which a frame waits at a port, in order of priority: none of a later one starts while one of an earlier one may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// PAUSE: goes ahead of all, and is never stopped.
    Pause,
    /// Feedback and probes at strict priority: never stopped by PAUSE.
    Control,
    /// Data of a class, and control that travels among it: stopped by the PAUSE of the class.
    Data(u8),
}

impl Lane {
    /// The class of a lane of data.
    pub(crate) fn class(self) -> usize {
        let Lane::Data(class) = self else { broken("this lane has no class") };
        class.into()
    }
    /// The lane of a message that takes links.
    pub(crate) fn of_message(transport: ControlTransport) -> Self {
        if transport == ControlTransport::InBand { MANAGED } else { Lane::Control }
    }
}

/// The data of the first class, and within a host the data of each class.
pub(crate) const MANAGED: Lane = Lane::Data(0);

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Bytes on the link.
    pub(crate) len: u16,
    /// Where it waits.
    pub(crate) lane: Lane,
    /// The port by which it came into the switch where it is; of a switch's own messages, the number of its ports, which is no port.
    pub(crate) input: u16,
    /// The class that it is of, or about.
    pub(crate) class: u8,
    /// Body of the frame.
    pub(crate) body: Body,
}

/// Bodies of frames.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// Data.
    Data(Data),
    /// A message or a probe.
    Control(Control),
    /// XOFF or XON of a class.
    Pause(Pause),
}

/// Content of a PAUSE frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// XOFF, or XON?
    pub(crate) off: bool,
    /// The class that it stops or lets go.
    pub(crate) class: u8,
}

impl Pause {
    /// As it stands in the hash of events.
    pub(crate) fn code(self) -> u64 {
        0x1000 | u64::from(self.off) << 20 | u64::from(self.class) << 24
    }
}

/// A frame that a queue pair or a source puts on a link: data of a flow, or an acknowledgement of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// Hosts of the flow.
    pub(crate) flow: (u32, u32),
    /// Lower half of its number among the flows of its pair.
    pub(crate) number: u16,
    pub(crate) acknowledgement: bool,
}

/// A data frame's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    /// Source host.
    pub(crate) src: u32,
    /// Destination host.
    pub(crate) dst: u32,
    /// Its number at its source: a running one, of which the upper half names a finite flow ([`crate::flows`]). With a queue pair the
    /// lower half is its number in the flow.
    pub(crate) number: u32,
    /// Is it of a finite flow?
    pub(crate) finite: bool,
    /// When its source made it, ps.
    pub(crate) born: Ps,
    /// What schemes wrote into it: it has 32 bits in the frame, so a rate is rounded to what they can say ([`Tag::pack`]). Of marked data
    /// without a tag the second is the port that marked it last, by its number and one.
    pub(crate) tag: (u8, u32),
    /// Marked by a ramp or a congestion point.
    pub(crate) marked: bool,
    /// Whether the limiter has counted the frame's bytes: at the source it does so as the frame joins the FIFO.
    pub(crate) counted: bool,
    /// On the wire: it says that its source has cut the window (CWR of RFC 3168).
    pub(crate) cut: bool,
    /// Of a flow with a queue pair, the number of its telemetry; 0 for none.
    pub(crate) record: u32,
}

/// A control frame's content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    /// The flow that it is about.
    pub(crate) flow: FlowId,
    /// Where it goes.
    pub(crate) to: To,
    /// Content of the frame.
    pub(crate) says: Says,
}

/// Where a control frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// A host.
    Host(u32),
    /// All hosts, along the spanning tree.
    Everyone,
    /// A congestion point.
    Point(PointId),
}

/// Where a control frame goes on from a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextHop {
    /// By all ports of the spanning tree, but not back.
    Tree,
    /// By an output, whose congestion point sees it if it is a probe.
    Output(u16),
    /// By an output towards a point of another switch: none on its way sees it.
    Past(u16),
    /// There is no such point, or it ends here.
    Nowhere,
}

impl NextHop {
    /// The outputs of a node by which a frame goes on that came by `input`.
    pub(crate) fn outputs(self, net: &Net, node: u32, input: u16) -> impl Iterator<Item = usize> {
        let (one, tree) = match self {
            NextHop::Tree => (None, Some(net.tree_ports(node, input))),
            NextHop::Output(out) | NextHop::Past(out) => (Some(usize::from(out)), None),
            NextHop::Nowhere => (None, None),
        };
        one.into_iter().chain(tree.into_iter().flatten())
    }
}

impl To {
    /// Where a control frame of this flow goes on from switch `s`.
    pub(crate) fn next_hop(self, net: &Net, s: usize, flow: FlowId, paths: &mut Paths) -> NextHop {
        match self {
            To::Everyone => NextHop::Tree,
            To::Host(host) => NextHop::Output(net.route_control(s, host, flow, paths)),
            To::Point(point) => match net.point(point.0) {
                Some((to, port)) if to == s => NextHop::Output(port),
                Some((to, _)) => NextHop::Past(net.towards(s, to, (0, flow.0, 0), paths)),
                None => NextHop::Nowhere,
            },
        }
    }
}

/// Contents of control frames.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Says {
    /// A message to reaction points, and the port of the queue that it is about, by its number and one; 0 where that is not known.
    Feedback(Feedback, u32),
    /// A probe on its way.
    Probe(Probe),
}

impl Says {
    /// A message about the queue of a port. A returned rate takes the place in which a packed message tells the port.
    pub(super) fn message(feedback: Feedback, port: u32) -> Self {
        let returned = matches!(feedback, Feedback::ReturnedRate { .. });
        Self::Feedback(feedback, if returned { 0 } else { port })
    }
}

impl Control {
    /// One of the two frames that open a flow's connection: to its destination, or back to its source. It is a NACK of nothing.
    pub(crate) fn opening(flow: FlowId, to: u32, at: Ps) -> Self {
        let says = Feedback::Acknowledgement { acked: 0, sent_at: at.0, marked: false, gap: true, record: 0 };
        Self { flow, to: To::Host(to), says: Says::Feedback(says, 0) }
    }
    /// Of an acknowledgement: source, destination and number, as data has them. It goes back to the flow's source, or opens a connection
    /// and goes to the destination.
    pub(crate) fn header(&self, of: &Numbered) -> (u32, u32, u32) {
        let (dst, src, number) = of.back();
        if self.to == To::Host(of.dst) { (src, dst, number) } else { (dst, src, number) }
    }
    /// Does it acknowledge frames of a queue pair?
    pub(crate) fn is_acknowledgement(&self) -> bool {
        matches!(self.says, Says::Feedback(Feedback::Acknowledgement { .. }, _))
    }
    /// Length of the message as a frame of the first class, bytes.
    pub(crate) fn length(&self, net: &Net) -> u16 {
        let acks = net.transport_of(0).filter(|_| self.is_acknowledgement());
        acks.map_or(SMALLEST, |transport| transport.ack_length.get() as u16)
    }
}

/// Number of the flow between two hosts.
pub(crate) fn flow_of(src: u32, dst: u32, hosts: u32) -> FlowId {
    FlowId(src * hosts + dst)
}

/// The value of a tag that a stamp lowers, if both are of one kind. Packed rates are in the order of the rates.
#[inline(always)]
pub(crate) fn lowered<K: PartialEq>((kind, value): (K, u32), (of, rate): (K, u32)) -> u32 {
    if kind == of { value.min(rate) } else { value }
}

/// In place of a flow, of a message to all hosts.
pub(crate) const EVERY_FLOW: FlowId = FlowId(u32::MAX);

impl Data {
    /// As a scheme sees it, in a frame of this length.
    pub(crate) fn view(&self, len: u16, net: &Net, dropped: bool) -> FrameView {
        FrameView {
            flow: self.flow(net),
            src: NodeId(self.src),
            dst: NodeId(self.dst),
            len: Bytes::new(u64::from(len)),
            marked: self.marked,
            tag: Tag::unpack(self.tag.0, self.tag.1),
            dropped,
        }
    }
    /// The port that marked it, by its number and one; 0 for none.
    pub(crate) fn marked_by(&self) -> u32 {
        if self.marked && self.tag.0 == 0 { self.tag.1 } else { 0 }
    }
    /// Flow of the frame: that of its queue pair, or its pair of hosts.
    pub(crate) fn flow(&self, net: &Net) -> FlowId {
        self.queue_pair(net).unwrap_or_else(|| flow_of(self.src, self.dst, net.hosts))
    }
    /// Flow of the frame, if that has a queue pair.
    #[inline]
    pub(crate) fn queue_pair(&self, net: &Net) -> Option<FlowId> {
        net.flows.transport?;
        net.flows.find(self.src, self.dst, self.number)
    }
}

impl Frame {
    /// The flow of data or of an acknowledgement.
    pub(crate) fn crossing(&self, net: &Net) -> Option<Crossing> {
        match &self.body {
            Body::Data(data) => Some(Crossing {
                flow: (data.src, data.dst),
                number: of_number(data.number),
                acknowledgement: false,
            }),
            Body::Control(control) if control.is_acknowledgement() => {
                let flow = net.flows.numbered(control.flow)?;
                let acknowledgement = control.to != To::Host(flow.dst);
                Some(Crossing { flow: (flow.src, flow.dst), number: flow.number, acknowledgement })
            }
            Body::Control(_) | Body::Pause(_) => None,
        }
    }
}
