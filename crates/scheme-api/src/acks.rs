//! Acknowledgements of the network, as a reaction point arms and receives them.

use crate::{Feedback, Tag};
use cnsim_units::{Bytes, Rate, Time};

/// Which acknowledgements wake a reaction point. Those that do not are counted, and the next that does reports their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckGate {
    /// Each one.
    pub each: bool,
    /// Each one with a mark.
    pub marked: bool,
    /// The first that acknowledges a byte which was sent after the last wake by this clause: once a round trip.
    pub per_window: bool,
}

impl AckGate {
    /// Each acknowledgement.
    pub const EACH: Self = Self { each: true, marked: false, per_window: false };
    /// Once a round trip.
    pub const PER_WINDOW: Self = Self { each: false, marked: false, per_window: true };
}

/// A record that the network wrote as a frame began to leave an output port ([`crate::PointControl::record_departures`]).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Hop {
    /// Rate of the link.
    pub rate: Rate,
    /// When the frame began to leave.
    pub time: Time,
    /// Bytes that the port had sent before it, control included and PAUSE aside.
    pub sent: u64,
    /// Bytes that stayed in the port's queues, control included.
    pub queue: Bytes,
}

/// An acknowledgement, as a reaction point receives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack<'a> {
    /// Time from the start of the frame's transmission to the arrival of the acknowledgement. That of a frame of
    /// [`crate::Limiter::echo_next`] is known to the nanosecond, up to 4.29 s.
    pub rtt: Time,
    /// All bytes of the flow below this have arrived. By an [`crate::Acknowledger`]: bytes received since its first frame.
    pub acked: Bytes,
    /// Bytes acknowledged since the last call; 0 by an [`crate::Acknowledger`], which does not count them.
    pub newly: Bytes,
    /// Of [`Ack::newly`], those that came with a mark.
    pub newly_marked: Bytes,
    /// The frame was marked on its way.
    pub marked: bool,
    /// Records of the ports that the frame left on its way, the first switch first; empty without telemetry.
    pub path: &'a [Hop],
}

impl Ack<'_> {
    /// The acknowledgement of an echo that arrives at this time; none where the message is no echo.
    pub fn of(feedback: &Feedback, now: Time) -> Option<Ack<'static>> {
        let Feedback::Echo { sent_at, received, marked } = *feedback else { return None };
        let Tag::SentAt(here) = Tag::sent_at(now) else { return None };
        let rtt = Time::from_ns(u64::from(here.wrapping_sub(sent_at)));
        let none = Bytes::ZERO;
        Some(Ack { rtt, acked: Bytes::new(received), newly: none, newly_marked: none, marked, path: &[] })
    }
}

/// How a source found out that a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The destination received later frames, and said so: by a NACK, by duplicate acknowledgements, or by reports of single frames.
    Nack,
    /// Nothing was acknowledged for the time of the transport's timeout.
    Timeout,
}

/// State of a flow's queue pair that its limiter and the network share.
#[derive(Clone, Debug)]
pub struct AckState {
    /// Most bytes in flight; the largest number where there is no window.
    pub window: u64,
    /// Number of the next byte to be sent.
    pub next_seq: u64,
    /// All bytes below this are acknowledged.
    pub acked: u64,
    /// Of the bytes sent and not acknowledged those that are not on their way: reported or lost, less what was sent again.
    pub gone: i64,
    /// Bytes that came out of order, as the destination reports.
    pub reported: u64,
    /// Bytes sent and not acknowledged, whatever became of them.
    pub outstanding: u64,
    pub(crate) gate: AckGate,
    /// Bytes acknowledged since the last wake, and those with a mark.
    newly: u64,
    newly_marked: u64,
    /// Last byte of the current window of [`AckGate::per_window`].
    window_end: u64,
}

impl Default for AckState {
    fn default() -> Self {
        let (next_seq, acked, newly, newly_marked, window_end) = (0, 0, 0, 0, 0);
        let (gone, reported, outstanding) = (0, 0, 0);
        Self {
            gone,
            reported,
            outstanding,
            window: u64::MAX,
            next_seq,
            acked,
            gate: AckGate::default(),
            newly,
            newly_marked,
            window_end,
        }
    }
}

impl AckState {
    /// Bytes on their way: sent and not acknowledged, less those that are reported or lost.
    pub fn in_flight(&self) -> u64 {
        self.next_seq.saturating_sub(self.acked).saturating_add_signed(-self.gone)
    }
    /// The law of the gate: all bytes below `acked` have arrived, by an acknowledgement with a mark or without. What a reaction point
    /// receives; none if it is not woken.
    pub fn take<'a>(&mut self, acked: u64, marked: bool, rtt: Time, path: &'a [Hop]) -> Option<Ack<'a>> {
        let bytes = acked.saturating_sub(self.acked);
        self.acked = self.acked.max(acked);
        self.newly += bytes;
        self.newly_marked += if marked { bytes } else { 0 };
        let window_over = self.gate.per_window && self.acked > self.window_end;
        if !(self.gate.each || self.gate.marked && marked || window_over) {
            return None;
        }
        if window_over {
            self.window_end = self.next_seq;
        }
        let newly = Bytes::new(std::mem::take(&mut self.newly));
        let newly_marked = Bytes::new(std::mem::take(&mut self.newly_marked));
        Some(Ack { rtt, acked: Bytes::new(self.acked), newly, newly_marked, marked, path })
    }
}
