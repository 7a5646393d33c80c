//! Transports of queue pairs.

use super::{Arrivals, ControlTransport, HostQueues, HostSpec, RunSpec, SourceSpec};
use cnsim_scheme_api::{Bytes, Class, Time};
use std::collections::BTreeMap;

/// The transport of queue pairs, the same at all hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportSpec {
    /// Is a lost frame sent again?
    pub reliability: Reliability,
    /// Acknowledged frames: one in so many of a flow, and at once one with a mark, one after a gap and the last. 0: no frame.
    pub ack_every: u32,
    /// Class of acknowledgements: among the data, as RoCE has it, or at strict priority. At their host they go ahead of the data.
    pub ack_class: Class,
    /// Length of an acknowledgement, at least 1 B.
    pub ack_length: Bytes,
    /// Whether a window bounds the bytes in flight.
    pub window: Window,
    /// A window of [`Window::Bdp`] or [`Window::Fixed`] moves with the flow's rate: it is that at the line rate.
    pub window_by_rate: bool,
}

impl TransportSpec {
    /// Most flows from one host to another: a frame carries the lower 16 bits of its flow's number.
    pub const MOST_OF_PAIR: u32 = 1 << 16;

    /// Does a connection open before data goes?
    pub(crate) fn opens(&self) -> bool {
        matches!(self.reliability, Reliability::Tcp(TcpSpec { handshake: true, .. }))
    }
    /// Does a mark come back until the window is cut, unless a scheme counts marks?
    pub(crate) fn is_classic(&self) -> bool {
        matches!(self.reliability, Reliability::Tcp(TcpSpec { classic_ecn: true, .. }))
    }
    /// Do acknowledgements report single frames?
    pub(crate) fn reports(&self) -> bool {
        matches!(self.reliability, Reliability::Selective(_) | Reliability::Tcp(_))
    }
    /// Why a run cannot have it.
    pub(crate) fn check(&self, spec: &RunSpec) -> Result<(), String> {
        check_flows(spec)?;
        let length = self.ack_length;
        refuse!(
            !(1..=9216).contains(&length.get()),
            "an acknowledgement of {length}; 1 B to 9216 B are possible"
        );
        let own = |s: &&SourceSpec| spec.transport_of(s.class) == Some(self);
        let connected = |h: &&HostSpec| h.sources.iter().filter(own).any(|s| s.connected);
        if let Some(HostSpec { name, .. }) = spec.hosts.iter().find(connected).filter(|_| !self.reports()) {
            let needs = "messages on one connection need reports of single frames, as TCP has them";
            return Err(format!("{needs}: host {name}"));
        }
        let windows = self.window != Window::Off && self.window != Window::Scheme;
        let resends = self.reliability != Reliability::None;
        let needs = self.ack_every == 0 && (windows || resends);
        refuse!(needs, "windows, and frames that are sent again, need acknowledgements");
        if let Reliability::Tcp(tcp) = self.reliability {
            let blind = tcp.proportional && tcp.recovery == Recovery::NewReno;
            let ideal = matches!(spec.laws.control, ControlTransport::Ideal { .. });
            refuse!(tcp.probe && tcp.recovery != Recovery::Rack, "tail probes belong to RACK");
            refuse!(blind, "proportional reduction counts reports, and NewReno has no reports");
            refuse!(tcp.burst == 0, "a burst of no frames");
            refuse!(tcp.handshake && ideal, "a handshake takes frames, and control that is ideal has none");
            let frame = spec.hosts.iter().flat_map(|h| &h.sources).filter(own).map(|s| s.frame).max();
            if let Some(window) = tcp.receive_window {
                refuse!(frame > Some(window), "a receive window of {window} has no room for a frame");
            }
        }
        refuse!(self.window == Window::Fixed(Bytes::ZERO), "a window of 0 B holds all flows for good");
        Ok(())
    }
}

/// Why flows cannot have queue pairs: they have an end, no queue, and numbers that frames can carry.
fn check_flows(spec: &RunSpec) -> Result<(), String> {
    let endless = |h: &&HostSpec| h.sources.iter().any(|s| s.arrivals != Arrivals::Transfers);
    if let Some(host) = spec.hosts.iter().find(endless) {
        return Err(format!("queue pairs are of finite flows, and host {} has another source", host.name));
    }
    if let Some(HostSpec { name, .. }) = spec.hosts.iter().find(|h| h.queues != HostQueues::Fifo) {
        return Err(format!("queue pairs have no queue, and host {name} has one for each destination"));
    }
    for (host, h) in spec.hosts.iter().enumerate() {
        let mut of_pair = BTreeMap::new();
        for (source, flow) in h.sources.iter().flat_map(|s| s.transfers.iter().map(move |t| (s, t))) {
            *of_pair.entry(flow.dst.0).or_insert(0) += 1;
            // An acknowledgement carries how many frames have arrived, in 32 bits.
            let frames = flow.bytes.get().div_ceil(source.frame.get().max(1));
            let (of, bytes, many) = (&h.name, flow.bytes, frames > u32::MAX.into());
            refuse!(many, "a flow of host {of} has {bytes}, {frames} frames; 2^32 - 1 are possible");
        }
        let most = TransportSpec::MOST_OF_PAIR;
        if let Some((dst, flows)) = of_pair.into_iter().find(|pair| pair.1 > most) {
            return Err(format!("{flows} flows from host {host} to {dst}; {most} of a pair are possible"));
        }
    }
    Ok(())
}

/// Whether a lost frame is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// A lost frame stays lost: a later frame acknowledges it, too.
    None,
    /// A destination takes frames in order only; a source begins anew with the first that is missing.
    GoBackN {
        /// Least time between two NACKs for the same frame.
        nack_interval: Time,
        /// A source begins anew if nothing is acknowledged for this time.
        rto: Time,
    },
    /// Single frames are sent again.
    Selective(SelectiveSpec),
    /// As TCP does.
    Tcp(TcpSpec),
}

/// Selective repeat: a destination takes frames in any order and reports each that comes out of order; a source sends again what is
/// missing. A window counts from the first byte that is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveSpec {
    /// A report is a NACK when so many later frames have come, at least one.
    pub gap_frames: u32,
    /// A report is a NACK when the first missing frame has been the first for this time.
    pub gap_time: Time,
    /// The timeout while fewer than `few` frames are sent and not acknowledged.
    pub rto_low: Time,
    /// Any other timeout.
    pub rto_high: Time,
    /// Frames on their way below which the timeout is `rto_low`.
    pub few: u32,
}

/// TCP: windows of whole frames, recovery by duplicate acknowledgements, and a timeout by the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSpec {
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// With [`Recovery::Rack`]: a probe goes after two round trips without an acknowledgement.
    pub probe: bool,
    /// A flow opens a connection before its data goes: a frame of the length of an acknowledgement to the destination, and one back. They
    /// go again by the timeout.
    pub handshake: bool,
    /// Marks come back as RFC 3168 has it: acknowledgements echo one until a new frame says that the window is cut, and a source takes
    /// one echo a window for a mark. A scheme that counts marks has them exact all the same ([`cnsim_scheme_api::Plan::exact_marks`]).
    pub classic_ecn: bool,
    /// With reports: a recovery sends in proportion to what is delivered (RFC 6937), up to the scheme's window.
    pub proportional: bool,
    /// Frames that leave back to back, as segmentation in the NIC lets them: new data waits until the window has room for so many, at
    /// most a third of it, for all that is left, or until nothing is on its way. At least 1.
    pub burst: u32,
    /// Whether the first two duplicates let a new frame go each (RFC 3042).
    pub limited_transmit: bool,
    /// Most bytes beyond the first that is not acknowledged; none: no bound.
    pub receive_window: Option<Bytes>,
    /// The timeout before the round-trip time is known.
    pub rto_first: Time,
    /// Least timeout once it is known.
    pub rto_min: Time,
    /// Largest timeout, after doublings.
    pub rto_max: Time,
    /// Tick of the timer: an expiry is rounded up to the next one. 0: no rounding.
    pub quantum: Time,
    /// An acknowledgement that waits for a further frame ([`TransportSpec::ack_every`]) waits no longer than this. 0: without bound.
    pub ack_delay: Time,
}

/// How TCP finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// By duplicate acknowledgements, one frame a round trip (RFC 6582).
    NewReno,
    /// By reports of what came out of order (RFC 6675).
    Sack,
    /// By reports, and the times at which frames were sent (RACK, RFC 8985).
    Rack,
}

/// Which window holds a queue pair back: no frame begins while as many bytes or more are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The window of the scheme, if it sets one.
    Scheme,
    /// None, whatever the scheme sets.
    Off,
    /// The line rate times the smallest round-trip time of the path.
    Bdp,
    /// So many bytes.
    Fixed(Bytes),
}
