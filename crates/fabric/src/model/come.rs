//! Frames of a flow that its destination has, and when it acknowledges which of them.
//!
//! Go-back-N takes frames in order alone. Selective repeat and TCP take them in any order and keep a map of those that came out of order.
//! If no frame is sent again, a lost frame counts as come with the next one.

use super::frame::Control;
use super::map::FrameMap;
use super::sent::Report;
use crate::check::broken;
use crate::flows::{Flows, precede};
use crate::numbers::{FrameNo, Ps};
use crate::outcome::{LATENCY_BUCKETS, latency_bucket};
use crate::spec::{Recovery, Reliability, SelectiveSpec, TcpSpec, TransportSpec};
use cnsim_scheme_api::{FlowId, Plan, Time};

/// Timer of a delayed acknowledgement; its object is the flow. Those of reflectors are 0 to 3.
pub(crate) const DELAYED: u8 = 8;

/// An acknowledgement that goes to the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// All bytes below this have arrived.
    pub(crate) acked: u64,
    /// Whether the acknowledgement is a NACK, and whether it carries a mark.
    pub(crate) gap: bool,
    pub(crate) marked: bool,
    /// When the frame began that it answers, ps.
    pub(crate) sent_at: Ps,
    /// Report of frames beyond `acked`.
    pub(crate) report: Report,
}

/// A destination's decision on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Frames of the connection before this one, and those that have come in order.
    pub(crate) before: FrameNo,
    pub(crate) in_order: FrameNo,
    /// Whether the frame is delivered: it is the first of its number, and in order if order is wanted.
    pub(crate) wanted: bool,
    pub(crate) reply: Option<Reply>,
    /// The timer of delayed acknowledgements starts, ps.
    pub(crate) delayed: Option<Ps>,
}

/// Frames that came out of order, and an acknowledgement that waits.
#[derive(Debug, Default)]
struct Beyond {
    map: FrameMap,
    /// Since when the first missing frame is missing, ps.
    gap_since: Ps,
    /// Of each run that was reported a frame, the run reported last first.
    runs: Vec<FrameNo>,
    /// When the first frame began that is not acknowledged, and when its acknowledgement goes at the latest, ps.
    sent_at: Ps,
    due: Ps,
    /// The timer runs.
    timed: bool,
}

impl Beyond {
    /// The runs of frames beyond the one `expected`: the one around the frame that came last, then those reported before (RFC 2018).
    fn report(&mut self, expected: FrameNo, came: FrameNo) -> Report {
        let Self { map, runs, .. } = self;
        let run = if map.has(came) { map.run_begin(came)..map.next_missing(came) } else { came..came };
        runs.retain(|frame| map.has(*frame) && !run.contains(frame));
        if !run.is_empty() {
            runs.insert(0, came);
        }
        let mut report = Report::default();
        for (run, &frame) in report.runs.iter_mut().zip(runs.iter()) {
            let first = map.run_begin(frame);
            *run = ((first - expected) as u16, (map.next_missing(frame) - first) as u16);
        }
        report
    }
}

/// A flow at its destination.
#[derive(Debug, Default)]
struct Sink {
    /// Frames that have come in order, or are given up.
    expected: FrameNo,
    /// Frames since the last acknowledgement.
    frames: u32,
    /// Acknowledgements echo a mark.
    echo: bool,
    /// When the last NACK was sent, and after how many frames in order.
    nacked: Option<(Ps, FrameNo)>,
    /// Where frames are taken in any order.
    beyond: Option<Box<Beyond>>,
}

/// The flows to a host, as acknowledgements count them.
#[derive(Debug)]
pub(crate) struct Sinks {
    transport: TransportSpec,
    /// A mark is echoed until a frame says that the window is cut.
    echoes: bool,
    /// By place among the flows to the host.
    flows: Vec<Sink>,
    /// The acknowledgement of the frame that was taken last, until it is sent, and what it reports.
    pub(super) reply: Option<(Control, Report)>,
    /// Histogram of how many later frames came before a frame; empty where frames are taken in order alone.
    pub(super) out_of_order: Vec<u64>,
    /// Most bytes of a flow that came out of order and waited for a frame before them.
    pub(super) held_max: u64,
}

impl Sinks {
    /// Of so many flows to a host.
    pub(crate) fn new(transport: TransportSpec, plan: &Plan, flows: usize) -> Self {
        let flows = std::iter::repeat_with(Sink::default).take(flows).collect();
        let echoes = transport.is_classic() && !plan.exact_marks;
        Self { transport, echoes, flows, reply: None, out_of_order: Vec::new(), held_max: 0 }
    }

    /// A frame of a connection has arrived that began at `born`.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        (of, flows): (FlowId, &Flows),
        (number, marked, cut): (u32, bool, bool),
        (born, now): (Ps, Ps),
    ) -> Taken {
        let sink = flows.numbered(of).and_then(|flow| self.flows.get_mut(flow.at as usize));
        let Some(sink) = sink else { broken("a flow without a sink") };
        let (every, before) = (self.transport.ack_every, FrameNo(precede(number, sink.expected.0)));
        let reply = |acked, gap| Reply { acked, gap, marked, sent_at: born, report: Report::default() };
        match self.transport.reliability {
            Reliability::GoBackN { nack_interval, .. } if before != sink.expected => {
                let lately = sink.nacked.is_some_and(|(at, frames)| {
                    frames == sink.expected && now.saturating_sub(at) < nack_interval.into()
                });
                let gap = before > sink.expected;
                if gap && !lately {
                    sink.nacked = Some((now, sink.expected));
                }
                // A frame that has come before is acknowledged again: the last acknowledgement may be lost.
                let reply = (!gap || !lately).then(|| reply(flows.bytes_below(of, sink.expected), gap));
                return Taken { reply, ..Taken::default() };
            }
            Reliability::Selective(_) | Reliability::Tcp(_) => {
                // A frame that has come before tells of no congestion now (RFC 3168, 6.1.5).
                sink.echo =
                    if self.echoes { marked && before >= sink.expected || sink.echo && !cut } else { marked };
                return self.sort((of, flows), before, (born, now));
            }
            Reliability::GoBackN { .. } | Reliability::None => {}
        }
        sink.expected = sink.expected.max(before + 1);
        sink.frames += 1;
        let due = sink.frames >= every || marked || flows.ends(of, before + 1).is_some();
        let taken = Taken { before, in_order: sink.expected, wanted: true, ..Taken::default() };
        if every == 0 || !due {
            return taken;
        }
        sink.frames = 0;
        Taken { reply: Some(reply(flows.bytes_below(of, sink.expected), false)), ..taken }
    }

    /// A frame arrives that is the (`before` + 1)th of its connection, where frames are taken in any order.
    #[inline(never)]
    fn sort(&mut self, (of, flows): (FlowId, &Flows), before: FrameNo, (born, now): (Ps, Ps)) -> Taken {
        let Self { transport, echoes, flows: sinks, out_of_order, held_max, .. } = self;
        let Some(flow) = flows.numbered(of) else { broken("a flow without a sink") };
        let sink = &mut sinks[flow.at as usize];
        let beyond = sink.beyond.get_or_insert_default();
        let (had_gap, old) = (beyond.map.count > 0, before < sink.expected || beyond.map.has(before));
        if !old {
            out_of_order.resize(LATENCY_BUCKETS, 0);
            out_of_order[latency_bucket(Time::from_ns(beyond.map.count_from(before)))] += 1;
            if before > sink.expected {
                beyond.gap_since = if had_gap { beyond.gap_since } else { now };
                beyond.map.enter(before);
                *held_max = (*held_max).max(beyond.map.count * u64::from(flow.whole));
            } else {
                sink.expected = beyond.map.next_missing(before + 1);
                beyond.map.forget_below(sink.expected);
                beyond.gap_since = now;
            }
        }
        let in_order = !old && before < sink.expected;
        // The first frame that is not acknowledged, or an earlier one that comes again (RFC 7323).
        if in_order && sink.frames == 0 || old && before + u64::from(sink.frames) <= sink.expected {
            beyond.sent_at = born;
        }
        sink.frames += u32::from(in_order);
        let over = flows.ends(of, sink.expected);
        let hurry = had_gap || sink.echo && !*echoes;
        let at_once = !in_order || hurry || over.is_some() || sink.frames >= transport.ack_every;
        let taken = Taken { before, in_order: sink.expected, wanted: !old, ..Taken::default() };
        if !at_once {
            return Taken { delayed: delayed(transport, (sink.frames, beyond), now), ..taken };
        }
        let (acked, expected) = (flows.bytes_below(of, sink.expected), sink.expected);
        let mut reply =
            Reply { acked, gap: false, marked: sink.echo, sent_at: born, report: Report::default() };
        match transport.reliability {
            Reliability::Selective(SelectiveSpec { gap_frames, gap_time, .. }) if before > expected => {
                let later = beyond.map.count_from(expected);
                reply.gap = !old && later >= gap_frames.into() && now - beyond.gap_since >= gap_time.into();
                reply.report.runs[0] = ((before - expected) as u16, 1);
            }
            Reliability::Tcp(TcpSpec { recovery, .. }) => {
                // The round trip of an acknowledgement of several frames is that of the first (RFC 7323).
                reply.sent_at = if sink.frames > 0 { beyond.sent_at } else { born };
                if recovery != Recovery::NewReno && beyond.map.count > 0 {
                    reply.report = beyond.report(expected, before);
                }
            }
            _ => {}
        }
        sink.frames = 0;
        if over.is_some_and(|message| flows.next_message(message).is_none()) {
            sink.beyond = None;
        }
        Taken { reply: Some(reply), ..taken }
    }

    /// The timer of a delayed acknowledgement expires: that goes now, or the timer starts again.
    pub(crate) fn expire(&mut self, (of, flows): (FlowId, &Flows), now: Ps) -> Taken {
        let sink = flows.numbered(of).and_then(|flow| self.flows.get_mut(flow.at as usize));
        let Some(sink) = sink else { broken("a flow without a sink") };
        let Some(beyond) = &mut sink.beyond else { return Taken::default() };
        beyond.timed = sink.frames > 0 && beyond.due > now;
        if beyond.timed {
            return Taken { delayed: Some(beyond.due), ..Taken::default() };
        }
        if sink.frames == 0 {
            return Taken::default();
        }
        sink.frames = 0;
        let (acked, sent_at) = (flows.bytes_below(of, sink.expected), beyond.sent_at);
        let marked = self.echoes && sink.echo;
        let reply = Reply { acked, gap: false, marked, sent_at, report: Report::default() };
        Taken { reply: Some(reply), ..Taken::default() }
    }
}

/// When the timer of delayed acknowledgements is to start, if it is, as so many frames wait for theirs.
fn delayed(transport: &TransportSpec, (frames, beyond): (u32, &mut Beyond), now: Ps) -> Option<Ps> {
    let Reliability::Tcp(TcpSpec { ack_delay, .. }) = transport.reliability else { return None };
    if ack_delay == Time::ZERO {
        return None;
    }
    if frames == 1 {
        beyond.due = now.saturating_add(ack_delay.into());
    }
    (!std::mem::replace(&mut beyond.timed, true)).then_some(beyond.due)
}
