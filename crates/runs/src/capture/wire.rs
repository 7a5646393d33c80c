//! Frames as bytes on an Ethernet link, cut at their headers. `docs/tasks/capture.md` shows the layouts.
//!
//! | frame | form |
//! |---|---|
//! | data, acknowledgements | RoCEv2, TCP over IPv4, or a private form, by the transport |
//! | XOFF, XON | 802.3x PAUSE; with several classes, or if the scenario asks for it, 802.1Qbb |
//! | QCN's messages | 802.1Qau CNM; its data bears a CN-TAG |
//! | CNP | RoCEv2 |
//! | other messages, probes | a private form |

use super::tell::{Line, Teller};
use cnsim_fabric::{ClassScheme, Content, Reliability, RunSpec};
use cnsim_scheme_api::{Feedback, NodeId, PointId, Tag};

/// EtherType of the private form: local experimental, IEEE 802.
const PRIVATE: u16 = 0x88B5;
const VLAN: u16 = 0x8100;
const CN_TAG: u16 = 0x22E9;
const CNM: u16 = 0x22E7;
const MAC_CONTROL: u16 = 0x8808;
/// Bytes of a frame that are not captured: its check sequence.
const FCS: usize = 4;
/// UDP port of RoCEv2.
const ROCE: u16 = 4791;
/// TCP port of destinations: discard.
const DISCARD: u16 = 9;
/// First number of a queue pair, beyond those that are reserved.
const FIRST_PAIR: u32 = 0x100;
/// Headers of TCP frames without tags: Ethernet, IPv4, TCP.
const TCP_HEADERS: u64 = 14 + 20 + 20;

/// How the data of a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    Roce,
    Tcp,
    Private,
}

/// Flags of TCP.
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// How frames of a class look.
#[derive(Clone, Copy, Debug)]
struct Form {
    carrier: Carrier,
    /// Priority code point.
    pcp: u8,
    /// Data of QCN bears a CN-TAG.
    cn_tag: bool,
}

/// Writes the frames of a run.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// By class: one at least.
    forms: Vec<Form>,
    hosts: u32,
    /// PAUSE frames name a class.
    pfc: bool,
}

/// Bytes of one frame.
struct Bytes(Vec<u8>);

impl Bytes {
    fn u8(&mut self, v: u8) {
        self.0.push(v);
    }
    fn u16(&mut self, v: u16) {
        self.0.extend_from_slice(&v.to_be_bytes());
    }
    fn u24(&mut self, v: u32) {
        self.0.extend_from_slice(&v.to_be_bytes()[1..]);
    }
    fn u32(&mut self, v: u32) {
        self.0.extend_from_slice(&v.to_be_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.0.extend_from_slice(&v.to_be_bytes());
    }
    fn f64(&mut self, v: f64) {
        self.u64(v.to_bits());
    }
}

/// Ethernet address of a node.
fn mac(node: NodeId, hosts: u32) -> [u8; 6] {
    let [a, b, c, d] = node.0.to_be_bytes();
    [2, u8::from(node.0 >= hosts), a, b, c, d]
}

/// IPv4 address of a host.
pub(crate) fn address(host: u32) -> [u8; 4] {
    let [_, b, c, d] = (host + 1).to_be_bytes();
    [10, b, c, d]
}

/// Port of a flow at its source: one of the dynamic ones.
fn port_of(nth: u16) -> u16 {
    0xC000 | nth
}

/// The sum of IPv4's header.
fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xFFFF) + (sum >> 16);
    !(((sum & 0xFFFF) + (sum >> 16)) as u16)
}

impl Wire {
    /// How the frames of a run are written: its classes have these priorities, and `scheme` is the id of its scheme.
    pub(crate) fn new(spec: &RunSpec, pfc: bool, priorities: &[u8], scheme: &str) -> Self {
        let form = |n: usize| {
            let class = spec.classes.get(n);
            let scheme = match class.map(|class| class.scheme) {
                Some(ClassScheme::Own(at)) => spec.schemes.get(at).map_or("", |scheme| scheme.name()),
                Some(ClassScheme::Nobody) => "none",
                _ => scheme,
            };
            let carrier =
                match class.and_then(|class| class.transport).or(spec.transport).map(|t| t.reliability) {
                    // DCQCN is RoCE's, with queue pairs and without.
                    None if scheme == "dcqcn" => Carrier::Roce,
                    None => Carrier::Private,
                    Some(Reliability::Tcp(_)) => Carrier::Tcp,
                    Some(_) => Carrier::Roce,
                };
            let pcp = priorities.get(n).copied().unwrap_or_default();
            Form { carrier, pcp, cn_tag: scheme.starts_with("qcn") || scheme == "af-qcn" }
        };
        let forms: Vec<Form> = (0..spec.classes.len().max(1)).map(form).collect();
        let pfc = pfc || forms.len() > 1;
        Self { forms, hosts: spec.hosts.len() as u32, pfc }
    }

    /// How frames of a flow look: of its class, or of that of the frame.
    fn form(&self, line: &Line<'_>) -> Form {
        let class = line.flow.map(|flow| flow.class).or(line.frame.class).unwrap_or_default();
        self.forms[usize::from(class).min(self.forms.len() - 1)]
    }

    /// Are there several classes? Then frames bear a VLAN tag.
    fn tagged(&self) -> bool {
        self.forms.len() > 1
    }

    /// The first bytes of a frame, and its length without check sequence.
    pub(crate) fn bytes(&self, line: &Line<'_>, teller: &Teller<'_>) -> (Vec<u8>, u32) {
        let frame = line.frame;
        let length = usize::from(frame.bytes).saturating_sub(FCS);
        let mut b = Bytes(Vec::with_capacity(length.min(128)));
        let (src, dst, nth) = frame.flow.unwrap_or_default();
        let nth = nth.unwrap_or_default();
        let form = self.form(line);
        match &frame.content {
            Content::Pause(off) => self.pause(&mut b, frame.port.0, *off, frame.class.unwrap_or_default()),
            Content::Data(view, number) => {
                self.ethernet(
                    &mut b,
                    dst,
                    src,
                    (frame.class, form.cn_tag.then_some(src.0 * self.hosts + dst.0)),
                );
                let ecn = if view.marked { 3 } else { 2 };
                match form.carrier {
                    Carrier::Roce => {
                        let size = line.place.zip(line.flow);
                        let last = size.is_some_and(|(place, flow)| place + 1 >= flow.frames());
                        // RC Send: only, first, last, middle.
                        let opcode = match (line.place == Some(0), last) {
                            (true, true) => 4,
                            (true, false) => 0,
                            (false, true) => 2,
                            (false, false) => 1,
                        };
                        let psn = line.place.unwrap_or(u64::from(*number));
                        self.roce(&mut b, (src, dst, nth), length, ecn);
                        bth(&mut b, opcode, 0, nth, (last, psn as u32));
                    }
                    Carrier::Tcp => {
                        let seq = self.offset(line, line.place.unwrap_or_default());
                        let flags = ACK | if frame.cut { CWR } else { 0 };
                        self.tcp(&mut b, (src, dst, nth), length, (ecn, flags), (seq, 1));
                    }
                    Carrier::Private => {
                        let (kind, value) = view.tag.pack();
                        self.private(&mut b, 1, line, view.marked);
                        b.u32(*number);
                        b.u8(kind);
                        b.u32(value);
                    }
                }
            }
            Content::Message(says, _) => self.message(&mut b, line, says, teller, length),
            Content::Probe(probe) => {
                self.ethernet(&mut b, frame.to.unwrap_or(dst), src, (frame.class, None));
                self.private(&mut b, 6, line, false);
                b.u32(probe.number);
                b.u64(probe.sent_at.as_ps());
                b.u64(probe.sent_bytes);
                b.u32(probe.fb as u32);
                self.point(&mut b, probe.point, teller);
            }
        }
        let length =
            if matches!(frame.content, Content::Message(..)) { length.max(b.0.len()) } else { length };
        b.0.truncate(length);
        // A short frame without payload is whole: what follows is padding.
        if length <= 60 && !matches!(frame.content, Content::Data(..)) {
            b.0.resize(length, 0);
        }
        (b.0, length as u32)
    }

    /// Addresses, VLAN tag of a class, CN-TAG of a flow.
    fn ethernet(&self, b: &mut Bytes, to: NodeId, from: NodeId, (class, flow): (Option<u8>, Option<u32>)) {
        b.0.extend(mac(to, self.hosts));
        b.0.extend(mac(from, self.hosts));
        if self.tagged() {
            b.u16(VLAN);
            // Control ahead of the data has the highest priority.
            let pcp = class.map_or(7, |class| self.forms.get(usize::from(class)).map_or(0, |form| form.pcp));
            b.u16(u16::from(pcp) << 13);
        }
        if let Some(flow) = flow {
            b.u16(CN_TAG);
            b.u16(flow as u16);
        }
    }

    fn pause(&self, b: &mut Bytes, from: NodeId, off: bool, class: u8) {
        b.0.extend([1, 0x80, 0xC2, 0, 0, 1]);
        b.0.extend(mac(from, self.hosts));
        b.u16(MAC_CONTROL);
        let quanta = if off { u16::MAX } else { 0 };
        if !self.pfc {
            b.u16(1);
            return b.u16(quanta);
        }
        b.u16(0x0101);
        let pcp = self.forms.get(usize::from(class)).map_or(class, |form| form.pcp);
        b.u16(1 << pcp);
        (0..8).for_each(|n| b.u16(if n == pcp { quanta } else { 0 }));
    }

    /// An IPv4 header for the rest of a frame of this length.
    fn ipv4(b: &mut Bytes, (src, dst): (NodeId, NodeId), length: usize, (tos, protocol): (u8, u8)) {
        b.u16(0x0800);
        let begin = b.0.len();
        b.u8(0x45);
        b.u8(tos);
        b.u16(length.saturating_sub(begin) as u16);
        b.u32(0x4000);
        b.u8(64);
        b.u8(protocol);
        b.u16(0);
        b.0.extend(address(src.0));
        b.0.extend(address(dst.0));
        let sum = checksum(&b.0[begin..]);
        b.0[begin + 10..begin + 12].copy_from_slice(&sum.to_be_bytes());
    }

    /// IPv4 and UDP.
    fn roce(&self, b: &mut Bytes, (src, dst, nth): (NodeId, NodeId, u16), length: usize, tos: u8) {
        Self::ipv4(b, (src, dst), length, (tos, 17));
        let begin = b.0.len();
        b.u16(port_of(nth));
        b.u16(ROCE);
        b.u16(length.saturating_sub(begin) as u16);
        b.u16(0);
    }

    /// IPv4 and TCP, of the source's direction if `seq` counts its data.
    fn tcp(
        &self,
        b: &mut Bytes,
        (src, dst, nth): (NodeId, NodeId, u16),
        length: usize,
        (ecn, flags): (u8, u8),
        (seq, ack): (u32, u32),
    ) {
        Self::ipv4(b, (src, dst), length, (ecn, 6));
        let ports = (port_of(nth), DISCARD);
        let back = ecn == 0 && flags & (SYN | ACK) != SYN;
        let ports = if back { (ports.1, ports.0) } else { ports };
        b.u16(ports.0);
        b.u16(ports.1);
        b.u32(seq);
        b.u32(ack);
        b.u8(0x50);
        b.u8(flags);
        b.u16(u16::MAX);
        b.u32(0);
    }

    /// Sequence number of TCP behind so many frames of a flow: their bytes beside the headers, and one.
    fn offset(&self, line: &Line<'_>, frames: u64) -> u32 {
        let headers = TCP_HEADERS
            + FCS as u64
            + if self.tagged() { 4 } else { 0 }
            + if self.form(line).cn_tag { 4 } else { 0 };
        let Some(flow) = line.flow else { return 1 };
        let before = flow.whole * frames.min(flow.frames().saturating_sub(1));
        let bytes = if frames < flow.frames() { before } else { flow.bytes.max(before + headers) };
        (bytes - headers * frames.min(flow.frames())) as u32 + 1
    }

    fn message(&self, b: &mut Bytes, line: &Line<'_>, says: &Feedback, teller: &Teller<'_>, length: usize) {
        let frame = line.frame;
        let (src, dst, nth) = frame.flow.unwrap_or_default();
        let nth = nth.unwrap_or_default();
        let broadcast = frame.to.is_none();
        let to = frame.to.unwrap_or(src);
        let from = match says {
            Feedback::Ecm { point, .. }
            | Feedback::Cnm { point, .. }
            | Feedback::AdvertisedRate { point, .. } => teller.point(*point).0,
            _ if to == dst => src,
            _ => dst,
        };
        let form = self.form(line);
        let tag = form.cn_tag && matches!(says, Feedback::Cnm { .. });
        self.ethernet(b, to, from, (frame.class, tag.then_some(src.0 * self.hosts + dst.0)));
        if broadcast {
            b.0[..6].fill(0xFF);
        }
        match says {
            // A connection opens by a frame there and one back, which agree on ECN (RFC 3168, 6.1.1).
            Feedback::Acknowledgement { gap: true, .. } if form.carrier == Carrier::Tcp && to == dst => {
                self.tcp(b, (src, dst, nth), length, (0, SYN | ECE | CWR), (0, 0));
            }
            Feedback::Acknowledgement { gap: true, .. } if form.carrier == Carrier::Tcp => {
                self.tcp(b, (dst, src, nth), length, (0, SYN | ACK | ECE), (0, 1));
            }
            Feedback::Acknowledgement { marked, .. } if form.carrier == Carrier::Tcp => {
                let acked = self.offset(line, line.acked.unwrap_or_default());
                let flags = ACK | if *marked { ECE } else { 0 };
                self.tcp(b, (dst, src, nth), length, (0, flags), (1, acked));
            }
            Feedback::Acknowledgement { gap, .. } => {
                let (acked, frames) = (line.acked.unwrap_or_default(), line.flow.map_or(0, |f| f.frames()));
                // Behind a VLAN tag a frame of 64 B has no room for it: headers, and what is left of the check.
                self.roce(b, (dst, src, nth), length.max(b.0.len() + 46), 2);
                // A NAK names the frame that is expected, an acknowledgement the last one that has come.
                let psn = if *gap { acked } else { acked.wrapping_sub(1) };
                bth(b, 0x11, 0, nth, (false, psn as u32));
                b.u8(if *gap { 0x60 } else { 0x1F });
                b.u24(u32::from(acked >= frames));
                b.u16(0);
            }
            Feedback::Cnp => {
                self.roce(b, (dst, src, nth), length, 48 << 2);
                bth(b, 0x81, 0x40, nth, (false, 0));
            }
            notice => self.notice(b, line, notice, teller),
        }
    }

    /// A message in the form of 802.1Qau, or in the private form.
    fn notice(&self, b: &mut Bytes, line: &Line<'_>, says: &Feedback, teller: &Teller<'_>) {
        match says {
            Feedback::Cnm { point, qntz_fb, q_off, q_delta } => {
                let pages = |bytes: i32| (bytes / 64).clamp(i16::MIN.into(), i16::MAX.into()) as i16 as u16;
                b.u16(CNM);
                b.u16(u16::from(*qntz_fb) & 0x3F);
                let (node, port) = teller.point(*point);
                b.0.extend(mac(node, self.hosts));
                b.u16(port);
                b.u16(pages(*q_off));
                b.u16(pages(*q_delta));
                b.u16(0);
                b.0.extend(mac(line.frame.flow.unwrap_or_default().1, self.hosts));
                b.u16(0);
            }
            Feedback::Ecm { point, q_off, q_delta, fb, stop } => {
                self.private(b, 2, line, *stop);
                self.point(b, Some(*point), teller);
                b.f64(*fb);
                b.u32((q_off * 64.0).round() as i32 as u32);
                b.u32((q_delta * 64.0).round() as i32 as u32);
            }
            Feedback::Reflection => self.private(b, 3, line, false),
            Feedback::AdvertisedRate { point, rate } => {
                self.private(b, 4, line, false);
                self.point(b, Some(*point), teller);
                b.f64(rate.bps());
            }
            Feedback::ReturnedRate { rate } => {
                self.private(b, 5, line, false);
                b.f64(rate.bps());
            }
            Feedback::ProbeReply { probe, at, rx_rate } => {
                self.private(b, 7, line, false);
                b.u32(probe.number);
                b.u64(probe.sent_at.as_ps());
                b.u64(at.as_ps());
                b.f64(rx_rate.bps());
                b.u32(probe.fb as u32);
                self.point(b, probe.point, teller);
            }
            Feedback::User(words) => {
                self.private(b, 8, line, false);
                words.iter().for_each(|word| b.u64(*word));
            }
            Feedback::Echo { sent_at, received, marked } => {
                self.private(b, 9, line, *marked);
                b.u32(*sent_at);
                b.u64(*received);
            }
            // A message that this program does not know yet.
            _ => self.private(b, 0, line, false),
        }
    }

    /// EtherType and head of the private form: version, kind, flags, flow.
    fn private(&self, b: &mut Bytes, kind: u8, line: &Line<'_>, flag: bool) {
        let flow = line.frame.flow;
        let (src, dst, nth) = flow.unwrap_or_default();
        b.u16(PRIVATE);
        b.u8(1);
        b.u8(kind);
        b.u16(u16::from(flag) | u16::from(flow.is_some()) << 1 | u16::from(nth.is_some()) << 2);
        b.u16(src.0 as u16);
        b.u16(dst.0 as u16);
        b.u16(nth.unwrap_or_default());
    }

    /// A congestion point in the private form: one more than the number of its switch, and its port; zeros for none.
    fn point(&self, b: &mut Bytes, point: Option<PointId>, teller: &Teller<'_>) {
        let (node, port) = point.map_or((NodeId(self.hosts.wrapping_sub(1)), 0), |point| teller.point(point));
        b.u16((node.0 + 1 - self.hosts) as u16);
        b.u16(port);
    }
}

/// Base transport header of RoCEv2: opcode, FECN and BECN, queue pair, acknowledgement asked for, sequence number.
fn bth(b: &mut Bytes, opcode: u8, marks: u8, nth: u16, (asks, psn): (bool, u32)) {
    b.u8(opcode);
    b.u8(0x40);
    b.u16(u16::MAX);
    b.u8(marks);
    b.u24(FIRST_PAIR + u32::from(nth));
    b.u8(u8::from(asks) << 7);
    b.u24(psn);
}

/// A packed tag's kind and value, for columns.
pub(crate) fn tag_of(tag: Tag) -> Option<(u8, u32)> {
    Some(tag.pack()).filter(|(kind, _)| *kind > 0)
}
