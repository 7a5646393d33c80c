//! Links that lose frames, are captured or counted: what an output port puts on its link is looked at.
//!
//! A frame may be lost, by chance or as a list says. It is decided as the last bit leaves, in the order in which the port sends. XOFF and
//! XON are never lost.

use super::frame::Crossing;
use super::packet::Packet;
use super::sent::Report;
use crate::check::Ledger;
use crate::net::{Net, Ps};
use crate::outcome::{Captured, Content, LostOnLink, Outcome, Recorded};
use crate::per_bin::PerBin;
use crate::spec::{LinkLoss, LossKind, LostFrame};
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use std::collections::BTreeMap;

/// Is it a frame of this kind and flow?
fn is_alike(frame: Crossing, lost: &LostFrame) -> bool {
    (lost.flow.0.0, lost.flow.1.0) == frame.flow
        && lost.number.is_none_or(|number| number == frame.number)
        && lost.acknowledgement == frame.acknowledgement
}

/// Losses of one output port from one time to another.
#[derive(Debug)]
struct Span {
    loss: LinkLoss,
    /// Frames that have crossed, of each in the list.
    crossed: Vec<u64>,
}

impl Span {
    fn loses(&mut self, frame: Option<Crossing>, stream: &mut Stream) -> bool {
        match &self.loss.kind {
            LossKind::Drawn(p) => stream.chance(*p),
            LossKind::Listed(list) => {
                let Some(frame) = frame else { return false };
                let mut lost = false;
                for (of_list, crossed) in list.iter().zip(&mut self.crossed).filter(|l| is_alike(frame, l.0))
                {
                    *crossed += 1;
                    lost |= *crossed == of_list.nth;
                }
                lost
            }
        }
    }
}

/// An output port whose link loses frames, is captured or counted.
#[derive(Debug)]
struct Lossy<F> {
    /// The receiving port at the far end, as who asks numbers it.
    peer: u32,
    /// From the last bit of a frame to its arrival, ps.
    delay: Ps,
    spans: Vec<Span>,
    stream: Stream,
    lost: LostOnLink,
    /// By bin, where that is recorded: data bits that left, and data frames that were lost.
    bins: Option<[PerBin; 2]>,
    /// If it is captured: when each frame left, whether it was lost, and the frame with its report.
    kept: Option<Vec<(Ps, bool, (F, Report))>>,
    /// When the first frame left that is not kept; else the end of the run.
    cut: Ps,
}

/// Links of a network or of a part of it that are looked at, and the frames that they have lost.
#[derive(Debug, Default)]
pub(crate) struct Losses<F> {
    ports: Vec<Lossy<F>>,
    /// Data that is lost.
    gone: Ledger,
    /// From the arrival of XOFF or XON to its effect, ps.
    response: Ps,
    /// Most frames that are kept of a port.
    limit: usize,
}

impl<F: Packet> Losses<F> {
    /// Losses and captures of `owned` output ports, with receiving ports as the network numbers them.
    pub(crate) fn new(net: &Net, owned: impl Fn(u32) -> bool) -> Self {
        let mut ports: BTreeMap<u32, Lossy<F>> = BTreeMap::new();
        let losses = net.events.losses.iter().map(|loss| (loss.node, loss.port, Some(loss), false));
        let captures = net.record.captures.iter().map(|&(node, port)| (node, port, None, true));
        let nics = (0..net.hosts).filter(|_| net.record.links).map(|host| (NodeId(host), 0, None, false));
        for (node, port, loss, captured) in losses.chain(captures).chain(nics) {
            let number = net.ports[node.0 as usize] + u32::from(port);
            let Some(link) = net.links[number as usize].filter(|_| owned(number)) else { continue };
            let bins = || PerBin::new(net.record.bin.into(), net.duration);
            let own = ports.entry(link.peer).or_insert_with(|| Lossy {
                peer: link.peer,
                delay: link.delay,
                spans: Vec::new(),
                stream: Stream::new(net.seed, u64::from(number), Purpose::Link),
                lost: LostOnLink { node, port, ..LostOnLink::default() },
                bins: net.record.links.then(|| [bins(), bins()]),
                kept: None,
                cut: net.duration,
            });
            if captured {
                own.kept = Some(Vec::new());
            }
            own.spans.extend(loss.map(|loss| {
                let listed = if let LossKind::Listed(list) = &loss.kind { list.len() } else { 0 };
                Span { loss: loss.clone(), crossed: vec![0; listed] }
            }));
        }
        let (response, limit) = (net.laws.pause_frames.response.into(), net.record.capture_limit as usize);
        Self { ports: ports.into_values().collect(), gone: Ledger::default(), response, limit }
    }

    /// Is the link to this receiving port looked at?
    pub(crate) fn has(&self, peer: u32) -> bool {
        self.ports.binary_search_by_key(&peer, |port| port.peer).is_ok()
    }

    /// These losses with other numbers of receiving ports.
    pub(crate) fn renumbered(mut self, number: impl Fn(u32) -> u32) -> Self {
        self.ports.iter_mut().for_each(|port| port.peer = number(port.peer));
        self.ports.sort_unstable_by_key(|port| port.peer);
        self
    }

    /// Is a frame lost that would arrive at a port at this time? `whole` gives it with its report, for a capture.
    pub(crate) fn lose(
        &mut self,
        peer: u32,
        arrives: Ps,
        frame: &F,
        crossing: impl FnOnce(&F) -> Option<Crossing>,
        whole: impl FnOnce(&F) -> (F, Report),
    ) -> bool {
        let Ok(at) = self.ports.binary_search_by_key(&peer, |port| port.peer) else { return false };
        let port = &mut self.ports[at];
        let pause = frame.is_pause();
        let left = arrives - port.delay - if pause { self.response } else { Ps(0) };
        let lasts = |s: &&mut Span| s.loss.from <= left.time() && left.time() < s.loss.to && !pause;
        let span = port.spans.iter_mut().find(lasts);
        let crossing = span.as_ref().and_then(|_| crossing(frame));
        let lost = span.is_some_and(|span| span.loses(crossing, &mut port.stream));
        if lost {
            frame.enter(&mut self.gone);
            match crossing {
                Some(_) if frame.is_data() => port.lost.data += 1,
                Some(_) => port.lost.acknowledgements += 1,
                None => port.lost.control += 1,
            }
        }
        if let (true, Some([bits, drops])) = (frame.is_data(), &mut port.bins) {
            bits.add(left, u64::from(frame.bytes()) * 8);
            drops.add(left, u64::from(lost));
        }
        // An XOFF may come after a frame that leaves later: the last that has left is left out, not the last that came.
        if let Some(kept) = port.kept.as_mut().filter(|_| left < port.cut) {
            let at = kept.iter().rposition(|before| before.0 <= left).map_or(0, |before| before + 1);
            kept.insert(at, (left, lost, whole(frame)));
            kept.drain(self.limit.min(kept.len())..).for_each(|last| port.cut = last.0);
        }
        lost
    }

    /// Ends the run: what was lost, beside frames on their way, and what was captured.
    pub(crate) fn close(
        self,
        net: &Net,
        on_wires: &mut Ledger,
        Outcome { lost_on_links, recorded: Recorded { capture, .. }, .. }: &mut Outcome,
        mut captured: impl FnMut((NodeId, u16), (Ps, bool), (F, Report)) -> Captured,
    ) {
        on_wires.merge(&self.gone);
        for Lossy { mut lost, bins, kept, cut, spans, .. } in self.ports {
            let (at, cut) = ((lost.node, lost.port), cut.time());
            if kept.is_some() && cut < net.duration.time() {
                capture.cut = Some(capture.cut.map_or(cut, |first| first.min(cut)));
            }
            let kept = kept.into_iter().flatten();
            capture.frames.extend(kept.map(|(left, lost, frame)| captured(at, (left, lost), frame)));
            let looked_at = !spans.is_empty() || bins.is_some();
            if let Some([bits, drops]) = bins {
                bits.pour(&mut lost.bits);
                drops.pour(&mut lost.by_bin);
            }
            lost_on_links.extend(looked_at.then_some(lost));
        }
        lost_on_links.sort_by_key(|port| (port.node, port.port));
        capture.frames.retain(|frame| capture.cut.is_none_or(|cut| frame.left < cut));
        // XOFF that takes no time on the link may leave beside a frame.
        capture.frames.sort_by_key(|f| (f.left, f.port, !matches!(f.content, Content::Pause(_))));
    }
}
