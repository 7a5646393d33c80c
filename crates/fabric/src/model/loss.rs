//! Links that lose frames: what an output port puts on its link may be lost, by chance or as a list says.
//!
//! It is decided as the last bit of a frame leaves, in the order in which the port sends. XOFF and XON are never lost.

use super::frame::Crossing;
use super::packet::Packet;
use crate::check::Ledger;
use crate::net::Net;
use crate::outcome::LostOnLink;
use crate::spec::{LinkLoss, LossKind, LostFrame};
use cnsim_scheme_api::Time;
use cnsim_scheme_api::network::{Purpose, Stream};

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

/// An output port whose link loses frames.
#[derive(Debug)]
struct Lossy {
    /// The receiving port at the far end, as who asks numbers it.
    peer: u32,
    /// From the last bit of a frame to its arrival, ps.
    delay: u64,
    spans: Vec<Span>,
    stream: Stream,
    lost: LostOnLink,
}

/// Lossy links of a network or of a part of it, and the frames that they have lost.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    ports: Vec<Lossy>,
    /// Data that is lost.
    gone: Ledger,
}

impl Losses {
    /// Losses of `owned` output ports, with receiving ports as the network numbers them.
    pub(crate) fn new(net: &Net, owned: impl Fn(u32) -> bool) -> Self {
        let mut ports: Vec<Lossy> = Vec::new();
        for loss in &net.losses {
            let number = net.ports[loss.node.0 as usize] + u32::from(loss.port);
            let Some(link) = net.links[number as usize].filter(|_| owned(number)) else { continue };
            let crossed =
                if let LossKind::Listed(list) = &loss.kind { vec![0; list.len()] } else { Vec::new() };
            let span = Span { loss: loss.clone(), crossed };
            if let Some(port) = ports.iter_mut().find(|port| port.peer == link.peer) {
                port.spans.push(span);
                continue;
            }
            let (node, port) = (loss.node, loss.port);
            ports.push(Lossy {
                peer: link.peer,
                delay: link.delay,
                spans: vec![span],
                stream: Stream::new(net.seed, u64::from(number), Purpose::Link),
                lost: LostOnLink { node, port, ..LostOnLink::default() },
            });
        }
        Self { ports, gone: Ledger::default() }
    }

    /// Has the link to this receiving port losses?
    pub(crate) fn has(&self, peer: u32) -> bool {
        self.ports.iter().any(|port| port.peer == peer)
    }

    /// These losses with other numbers of receiving ports.
    pub(crate) fn renumbered(mut self, number: impl Fn(u32) -> u32) -> Self {
        self.ports.iter_mut().for_each(|port| port.peer = number(port.peer));
        self
    }

    /// Is a frame lost that would arrive at a port at this time?
    pub(crate) fn lose<F: Packet>(
        &mut self,
        peer: u32,
        arrives: u64,
        frame: &F,
        crossing: impl FnOnce(&F) -> Option<Crossing>,
    ) -> bool {
        let Some(port) = self.ports.iter_mut().find(|port| port.peer == peer && !frame.is_pause()) else {
            return false;
        };
        let left = Time::from_ps(arrives - port.delay);
        let lasts = |s: &&mut Span| s.loss.from <= left && left < s.loss.to;
        let Some(span) = port.spans.iter_mut().find(lasts) else { return false };
        let crossing = crossing(frame);
        let lost = span.loses(crossing, &mut port.stream);
        if lost {
            frame.enter(&mut self.gone);
            match crossing {
                Some(_) if frame.is_data() => port.lost.data += 1,
                Some(_) => port.lost.acknowledgements += 1,
                None => port.lost.control += 1,
            }
        }
        lost
    }

    /// Ends the run: what was lost, beside frames on their way.
    pub(crate) fn close(self, on_wires: &mut Ledger, lost: &mut Vec<LostOnLink>) {
        on_wires.merge(&self.gone);
        lost.extend(self.ports.into_iter().map(|port| port.lost));
        lost.sort_by_key(|port| (port.node, port.port));
    }
}
