//! The destination of a loop's flow, as far as it acknowledges: frames are lost, acknowledgements come late, twice or never.

use super::{Faults, ReactionRig};
use crate::network::Stream;
use crate::{Bytes, Hop, Loss, Rate, Time};
use std::collections::VecDeque;

/// Time without an acknowledgement after which a flow begins anew.
const TIMEOUT: Time = Time::from_ms(1);

/// An acknowledgement on its way.
#[derive(Clone, Copy, Debug)]
struct Return {
    /// When it arrives.
    at: Time,
    /// When its frame was sent.
    sent: Time,
    acked: u64,
    marked: bool,
    /// A frame before this one was lost.
    gap: bool,
    /// None where ports record nothing.
    path: Option<[Hop; 2]>,
}

/// Acknowledgements on their way back to a flow, in a network that sends lost frames again from the first on.
#[derive(Debug)]
pub(super) struct Returns {
    under_way: VecDeque<Return>,
    /// The next byte that the destination takes.
    expected: u64,
    /// The byte for which it has sent a NACK.
    nacked: Option<u64>,
    /// When the last frame that arrived left the queue.
    left: Time,
    /// When the flow last had nothing in flight, or received an acknowledgement.
    alive: Time,
    /// Bytes that the port has sent.
    sent: u64,
}

impl Default for Returns {
    fn default() -> Self {
        let (expected, nacked, sent) = (0, None, 0);
        Self { under_way: VecDeque::new(), expected, nacked, left: Time::ZERO, alive: Time::ZERO, sent }
    }
}

impl Returns {
    /// Frames of other flows have left the port.
    pub(super) fn others(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// The flow has sent a frame that finds (itself included) this queue, on a link of this rate; it is back after `round_trip`
    /// besides. Ports may record its departure.
    pub(super) fn frame(
        &mut self,
        (now, seq, len): (Time, u64, u64),
        (queue, marked, line): (u64, bool, Rate),
        (round_trip, records): (Time, bool),
        (faults, draws): (Faults, &mut Stream),
    ) {
        if draws.chance(faults.lose) {
            return;
        }
        self.left = (now + line.transmission_time(Bytes::new(queue)))
            .max(self.left + line.transmission_time(Bytes::new(len)));
        let hop =
            Hop { rate: line, time: self.left, sent: self.sent, queue: Bytes::new(queue - len.min(queue)) };
        // The next switch is four times as fast, and only this flow passes it.
        let next =
            Hop { rate: line * 4.0, time: self.left + round_trip, sent: self.expected, queue: Bytes::ZERO };
        self.sent += len;
        let gap = seq != self.expected;
        if gap && (seq < self.expected || self.nacked.replace(self.expected) == Some(self.expected)) {
            return;
        }
        self.expected += if gap { 0 } else { len };
        let late = if draws.chance(faults.delay) { Time::from_us(50) } else { Time::ZERO };
        let at = self.left + round_trip + late;
        let path = records.then_some([hop, next]);
        let back = Return { at, sent: now, acked: self.expected, marked, gap, path };
        let times = u8::from(!draws.chance(faults.lose)) + u8::from(draws.chance(faults.double));
        let place = self.under_way.partition_point(|r| r.at <= at);
        (0..times).for_each(|_| self.under_way.insert(place, back));
    }

    /// When the next acknowledgement arrives.
    pub(super) fn next(&self) -> Option<Time> {
        self.under_way.front().map(|r| r.at)
    }

    /// Delivers what has arrived by now; a flow that has waited too long begins anew. Yields how many acknowledgements woke the
    /// reaction point.
    pub(super) fn deliver(&mut self, flow: &mut ReactionRig) -> u64 {
        let (now, mut woken) = (flow.now(), 0);
        while let Some(&r) = self.under_way.front().filter(|r| r.at <= now) {
            self.under_way.pop_front();
            self.alive = now;
            let path = r.path.as_ref().map_or(&[][..], |path| path);
            woken += u64::from(flow.ack(r.acked, r.marked, now.saturating_sub(r.sent), path));
            if r.gap && r.acked == flow.state().acks.acked && flow.state().acks.in_flight() > 0 {
                flow.lose(Loss::Nack);
            }
        }
        if flow.state().acks.in_flight() == 0 {
            self.alive = now;
        } else if now >= self.alive + TIMEOUT {
            self.alive = now;
            self.nacked = None;
            flow.lose(Loss::Timeout);
        }
        woken
    }

    /// All that the flow has sent arrives, without a mark.
    pub(super) fn settle(&mut self, flow: &mut ReactionRig, records: bool) {
        self.under_way.clear();
        self.expected = flow.state().acks.next_seq;
        (self.left, self.alive) = (flow.now(), flow.now());
        let line = flow.state().line_rate;
        let hop = Hop { rate: line, time: self.left, sent: self.sent, queue: Bytes::ZERO };
        self.sent += flow.state().acks.in_flight();
        let path = if records { &[hop, hop][..] } else { &[] };
        flow.ack(self.expected, false, flow.site.base_rtt, path);
    }
}
