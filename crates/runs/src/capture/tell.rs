//! What is known of a captured frame: its kind, its place in its flow, and why it was sent.

use cnsim_fabric::{
    Captured, Content, Held, Pauses, Reliability, RunSpec, TcpSpec, TransportSpec, numbered, precede,
};
use cnsim_scenario::wiring::Wiring;
use cnsim_scheme_api::{Feedback, FrameView, NodeId, PointId, Tag};
use cnsim_units::{Bytes, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A flow: source, destination, and the lower 16 bits of its number.
type Name = (u32, u32, u16);

/// A captured frame, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) frame: &'a Captured,
    /// Kind of the frame, as the column `kind` says it.
    pub(crate) kind: &'static str,
    /// Of data of a queue pair: how many frames of its flow precede it.
    pub(crate) place: Option<u64>,
    /// Of an acknowledgement: how many frames of its flow it acknowledges.
    pub(crate) acked: Option<u64>,
    /// Frames of its flow, and bytes of a whole one.
    pub(crate) flow: Option<Size>,
    /// The host sends the frame again.
    pub(crate) again: bool,
    /// Why it was sent, or what it says; empty if there is nothing to say.
    pub(crate) why: String,
}

/// Size of a flow on the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) whole: u64,
    pub(crate) class: u8,
}

impl Size {
    pub(crate) fn frames(self) -> u64 {
        self.bytes.div_ceil(self.whole)
    }
}

/// Knows the run of captured frames.
pub(crate) struct Teller<'a> {
    pub(crate) wiring: &'a Wiring,
    pairs: bool,
    /// By class, whether flows open connections.
    opens: Vec<bool>,
    sizes: BTreeMap<Name, Size>,
    /// By port and flow: the place after the last frame.
    next: BTreeMap<((NodeId, u16), Name), u64>,
    pauses: &'a Pauses,
    /// By port that decided and class: XOFFs by number, in order of their decisions.
    xoffs: BTreeMap<(NodeId, u16, u8), Vec<usize>>,
    /// First port of each switch among the congestion points.
    first_points: Vec<u32>,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(wiring: &'a Wiring, spec: &RunSpec, frames: &[Captured], pauses: &'a Pauses) -> Self {
        let named = |f: &Captured| f.flow.and_then(|(src, dst, nth)| Some((src.0, dst.0, nth?)));
        let seen: BTreeSet<Name> = frames.iter().filter_map(named).collect();
        let mut sizes = BTreeMap::new();
        for (src, host) in (0..).zip(&spec.hosts) {
            let lists = host.sources.iter().map(|s| &s.transfers[..]).enumerate();
            for (i, t, nth) in numbered(lists).filter(|(_, t, _)| t.bytes.get() > 0) {
                let name = (src, t.dst.0, nth as u16);
                let source = &host.sources[i];
                let size =
                    Size { bytes: t.bytes.get(), whole: source.frame.get().max(1), class: source.class };
                if seen.contains(&name) {
                    sizes.entry(name).or_insert(size);
                }
            }
        }
        let mut xoffs: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (n, x) in pauses.xoffs.iter().enumerate() {
            xoffs.entry((x.by.0, x.by.1, x.class)).or_default().push(n);
        }
        let ports = wiring.switches.iter().map(|s| u32::from(s.1));
        let first_points = ports.scan(wiring.hosts.len() as u32, |first, ports| {
            *first += ports;
            Some(*first - ports)
        });
        let first_points = first_points.collect();
        let (pairs, next) = (spec.transport.is_some(), BTreeMap::new());
        let opens = |transport: Option<TransportSpec>| {
            let by = transport.map(|t| t.reliability);
            matches!(by, Some(Reliability::Tcp(TcpSpec { handshake: true, .. })))
        };
        let of_class = |class: usize| spec.classes.get(class).and_then(|class| class.transport);
        let opens = (0..spec.classes.len().max(1)).map(|c| opens(of_class(c).or(spec.transport))).collect();
        Self { wiring, pairs, opens, sizes, next, pauses, xoffs, first_points }
    }

    /// The port of a congestion point: its node and number.
    pub(crate) fn point(&self, point: PointId) -> (NodeId, u16) {
        let s = self.first_points.partition_point(|first| *first <= point.0).saturating_sub(1);
        let first = self.first_points.get(s).copied().unwrap_or_default();
        (NodeId((self.wiring.hosts.len() + s) as u32), point.0.saturating_sub(first) as u16)
    }

    fn point_name(&self, point: PointId) -> String {
        self.wiring.port_name(self.point(point))
    }

    /// Describes a frame. Frames must come in the order in which they passed.
    pub(crate) fn tell<'f>(&mut self, frame: &'f Captured) -> Line<'f> {
        let name = frame.flow.and_then(|(src, dst, nth)| Some((src.0, dst.0, nth?)));
        let flow = name.and_then(|name| self.sizes.get(&name).copied());
        let mut line =
            Line { frame, kind: "data", place: None, acked: None, flow, again: false, why: String::new() };
        let mut why: Vec<String> = Vec::new();
        match &frame.content {
            Content::Data(view, number) => {
                if let Some(name) = name.filter(|_| self.pairs) {
                    let next = self.next.entry((frame.port, name)).or_default();
                    let place = precede(*number, *next);
                    // Elsewhere frames may overtake each other.
                    line.again = place < *next && frame.port.0.0 == name.0;
                    *next = (*next).max(place + 1);
                    line.place = Some(place);
                }
                why.extend(line.again.then(|| "sent again".into()));
                why.extend(frame.cut.then(|| "its source has cut the window".into()));
                why.extend(view.marked.then(|| "marked here or before".into()));
                why.extend(self.of_tag(view));
            }
            Content::Message(says, runs) => {
                if let (Feedback::Acknowledgement { acked, .. }, Some(flow)) = (says, flow) {
                    line.acked = Some(acked.div_ceil(flow.whole));
                    let run = |(ahead, count): &(u16, u16)| {
                        let first = acked.div_ceil(flow.whole) + u64::from(*ahead);
                        format!("{first} to {}", first + u64::from(*count) - 1)
                    };
                    let runs: Vec<String> = runs.iter().filter(|run| run.1 > 0).map(run).collect();
                    why.extend((!runs.is_empty()).then(|| format!("frames {} have come", runs.join(", "))));
                }
                let (kind, text) = self.of_feedback(says);
                let opens = flow.is_some_and(|flow| self.opens.get(usize::from(flow.class)) == Some(&true));
                line.kind = if opens && kind == "nack" { "open" } else { kind };
                why.extend((!text.is_empty()).then_some(text));
            }
            Content::Probe(probe) => {
                line.kind = "probe";
                if let Some(point) = probe.point {
                    why.push(format!("Fb {} of {}", probe.fb, self.point_name(point)));
                }
            }
            Content::Pause(off) => {
                line.kind = if *off { "xoff" } else { "xon" };
                why.extend(off.then(|| self.of_xoff(frame)).flatten());
            }
        }
        why.extend(frame.lost.then(|| "this link loses it".into()));
        line.why = why.join("; ");
        line
    }

    fn of_tag(&self, view: &FrameView) -> Option<String> {
        match view.tag {
            Tag::Regulated(point) => Some(format!("limited by {}", self.point_name(point))),
            Tag::RateDiscovery(rate) => Some(format!("lowest rate so far {rate}")),
            _ => None,
        }
    }

    /// Kind of a message, and what it says.
    fn of_feedback(&self, says: &Feedback) -> (&'static str, String) {
        let beside = |q_off: f64, q_delta: f64| {
            let bytes = |b: f64| Bytes::new(b.abs().round() as u64);
            let (side, trend) =
                (if q_off < 0.0 { "above" } else { "below" }, if q_delta < 0.0 { "shrank" } else { "grew" });
            format!("queue {} {side} its set point, {trend} by {}", bytes(q_off), bytes(q_delta))
        };
        match says {
            Feedback::Ecm { point, stop: true, .. } => {
                ("ecm", format!("stop, by {}", self.point_name(*point)))
            }
            Feedback::Ecm { point, q_off, q_delta, fb, .. } => {
                let queue = beside(q_off * 64.0, q_delta * 64.0);
                (
                    "ecm",
                    format!("Fb {} of {}: {queue}", (fb * 100.0).round() / 100.0, self.point_name(*point)),
                )
            }
            Feedback::Cnm { point, qntz_fb, q_off, q_delta } => {
                let queue = beside(f64::from(*q_off), f64::from(*q_delta));
                ("cnm", format!("Fb {qntz_fb} of {}: {queue}", self.point_name(*point)))
            }
            Feedback::Reflection => ("reflection", String::new()),
            Feedback::AdvertisedRate { point, rate } => {
                ("rate", format!("{rate} at {}", self.point_name(*point)))
            }
            Feedback::ReturnedRate { rate } => ("returned-rate", format!("{rate} is the lowest of the path")),
            Feedback::Cnp => ("cnp", "answers a marked frame".into()),
            Feedback::ProbeReply { probe, at, .. } => {
                let fb = probe.point.map(|point| format!("; Fb {} of {}", probe.fb, self.point_name(point)));
                ("probe-reply", format!("answered at {at}{}", fb.unwrap_or_default()))
            }
            Feedback::Echo { marked, .. } => {
                ("echo", if *marked { "answers a marked frame" } else { "" }.into())
            }
            Feedback::Acknowledgement { marked, gap, .. } => (
                if *gap { "nack" } else { "ack" },
                if *marked { "answers a marked frame" } else { "" }.into(),
            ),
            _ => ("user", String::new()),
        }
    }

    /// Why a port said XOFF, if that is recorded: the last decision before it left.
    fn of_xoff(&self, frame: &Captured) -> Option<String> {
        let decided = self.xoffs.get(&(frame.port.0, frame.port.1, frame.class.unwrap_or_default()))?;
        let before = decided.partition_point(|n| self.pauses.xoffs[*n].decided <= frame.left);
        let xoff = &self.pauses.xoffs[*decided.get(before.checked_sub(1)?)?];
        let causes = self.pauses.causes(xoff);
        if causes.is_empty() {
            return Some("a fault says it".into());
        }
        let cause = |c: &cnsim_fabric::Cause| {
            let held = match c.held {
                Held::Open => "which sends as fast as it can",
                Held::Closed => "whose rate is 0",
                Held::Stopped(_) => "which is in XOFF itself",
            };
            let output = self.wiring.port_name((xoff.by.0, c.output));
            format!("{} wait for {output}, {held}", Bytes::new(c.bytes.into()))
        };
        let decided = Time::from_ps(xoff.decided.as_ps());
        Some(format!("decided at {decided}: {}", causes.iter().map(cause).collect::<Vec<_>>().join("; ")))
    }
}
