//! Queue pairs: each finite flow under way has one at its source, which knows what is sent and what is acknowledged.
//!
//! A queue pair that may send waits for its turn among the others ([`super::transfers`]). One that its window holds back, or that has sent
//! all, waits here for an acknowledgement. Bytes are numbered by flow, padding of a last frame aside.
//!
//! By go-back-N a NACK or a timeout lets a flow begin anew with the first byte that is not acknowledged. Selective repeat and TCP know
//! of each frame what became of it ([`super::sent`]). Where nothing is sent again, an acknowledgement counts what was lost before its
//! frame, too. When a flow times out is said in [`super::timeout`], and what its destination does in [`super::come`].

use super::records::Records;
use super::sent::{Report, SentFrames};
use super::timeout::RoundTrip;
use super::transfers::FlowQueue;
use crate::check::{broken, changes};
use crate::flows::number_in_flow;
use crate::net::{FrameNo, NEVER, Net, Ps};
use crate::outcome::Waiting;
use crate::paged::Paged;
use crate::spec::{Reliability, TcpSpec, TransportSpec, Window};
use cnsim_scheme_api::network::AckState;
use cnsim_scheme_api::{FlowId, Loss, NodeId, Plan, Rate};

/// Timer of a flow's next timeout; its object is the flow, not a limiter.
pub(crate) const RTO: u8 = 9;

/// What a queue pair waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// For its connection to open.
    Opening,
    /// For its turn at the link.
    Turn,
    /// For its window, or with nothing to send for the last acknowledgement.
    Ack,
}

/// A flow at its source.
#[derive(Debug)]
struct QueuePair {
    /// Most bytes in flight, and that at the line rate, where the run sets it.
    window: u64,
    full: u64,
    /// The next byte to be sent, the first that is not acknowledged, and by go-back-N the first that was never sent.
    next_seq: u64,
    acked: u64,
    highest: u64,
    /// The first message of its connection that is not acknowledged whole, and where that ends; the flow and its end where it has but one.
    message: FlowId,
    ends_at: u64,
    timing: Timing,
    /// State of each frame, if single frames are sent again; and the frame whose turn has come.
    frames: Option<Box<SentFrames>>,
    going: FrameNo,
    /// By go-back-N: a loss is repaired when all below this is acknowledged.
    recover: u64,
    /// As it takes turns. Its bytes are those of the whole flow.
    queue: FlowQueue,
    initial_rate: Option<Box<Rate>>,
    ecn: Ecn,
    waits: Waits,
}

/// Times of a flow, ps.
#[derive(Debug, Default)]
struct Timing {
    /// The flow times out then unless something is acknowledged. The timer expires no later.
    deadline: Ps,
    timer: Ps,
    /// When something was acknowledged last, and how often it has begun anew since.
    progress: Ps,
    anew: u32,
    /// When it sent last.
    sent: Ps,
    trip: RoundTrip,
}

/// What a source knows of echoed marks (RFC 3168).
#[derive(Clone, Copy, Debug, Default)]
struct Ecn {
    /// An echo tells of no new mark until more than this is acknowledged: the window is cut already. 0: it tells of one.
    below: u64,
    /// The next new frame says that the window is cut.
    cut: bool,
    /// A window of one frame cannot be cut: the next frame waits for the timer (6.1.2).
    holds: bool,
}

impl Ecn {
    /// The window is cut, with all below this sent.
    fn cut(&mut self, next: u64) {
        *self = Self { below: next, cut: true, ..*self };
    }
}

impl Waits {
    /// Its name on the page of states.
    fn name(self) -> &'static str {
        ["opening", "turn", "acknowledgement"][self as usize]
    }
}

impl QueuePair {
    fn wait_for(&mut self, what: Waits) {
        if self.waits != what {
            changes("queue pair", self.waits.name(), what.name());
        }
        self.waits = what;
    }
    fn size(&self) -> u64 {
        self.queue.bytes
    }
    fn left(&self) -> u64 {
        self.size() - self.next_seq
    }
    /// Bytes on their way.
    fn in_flight(&self, by: &Reliability) -> u64 {
        let gone = self.frames.as_ref().map_or(0, |frames| frames.gone_bytes(by));
        self.next_seq.saturating_sub(self.acked).saturating_add_signed(-gone)
    }
    /// Has it room in its window, where nothing is known of single frames?
    fn has_room(&self) -> bool {
        self.next_seq.saturating_sub(self.acked) < self.window
    }
    /// Has it something to send, and does its window let that go?
    fn may_send(&self, by: &Reliability) -> bool {
        match &self.frames {
            Some(frames) => {
                self.waits != Waits::Opening && !self.ecn.holds && frames.may_send(self.window, by).is_some()
            }
            None => self.left() > 0 && self.has_room(),
        }
    }
    /// When its timer is to start, if it is: it times out then, looks for losses or sends a probe.
    fn arm(&mut self) -> Option<Ps> {
        let rack = self.frames.as_ref().and_then(|frames| frames.rack.as_ref());
        let of_rack = rack.and_then(|rack| [rack.look, rack.probe].into_iter().flatten().min());
        let at = of_rack.map_or(self.timing.deadline, |at| at.min(self.timing.deadline));
        let earlier = at < self.timing.timer;
        self.timing.timer = self.timing.timer.min(at);
        earlier.then_some(at)
    }
    /// From now on it times out unless something is acknowledged.
    fn wait(&mut self, now: Ps, by: &Reliability) {
        let ahead = self.frames.as_ref().map_or(0, |frames| frames.next - frames.una);
        self.timing.deadline = self.timing.trip.deadline(now, ahead, by);
    }
    /// New data has gone, or some is acknowledged: a probe may follow.
    fn plan_probe(&mut self, now: Ps, transport: &TransportSpec) {
        if let Reliability::Tcp(TcpSpec { probe: true, ack_delay, .. }) = transport.reliability {
            let delay = if transport.ack_every > 1 { ack_delay.into() } else { Ps(0) };
            let (times, at) = ((now, self.timing.trip.smooth()), self.timing.deadline);
            self.frames.iter_mut().for_each(|frames| frames.plan_probe(times, delay, at));
        }
    }
    /// What was sent is what its frames say, where these are known.
    fn settle(&mut self) {
        if let Some(frames) = &self.frames {
            self.next_seq = frames.bytes_below(frames.next);
        }
    }
}

/// State of a flow that has sent a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The flow takes another turn.
    Turn,
    /// The flow goes on at once: its burst is not over.
    Stay,
    /// The flow waits for an acknowledgement.
    Wait,
    /// The flow is over for its source.
    Over,
}

/// Consequences of a frame that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// The frame was sent before.
    pub(crate) again: bool,
    /// The frame, if it was the last one of the flow or of a message, sent for the first time.
    pub(crate) last: Option<FrameNo>,
    pub(crate) after: After,
    /// The flow times out then, which was not to happen before, ps.
    pub(crate) timeout: Option<Ps>,
}

/// Consequences of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Bytes that are acknowledged now and were not before.
    pub(crate) newly: u64,
    /// A loss is found.
    pub(crate) loss: Option<Loss>,
    /// All that was sent when the last loss was found is acknowledged.
    pub(crate) recovered: bool,
    /// The timer of its timeout starts, ps.
    pub(crate) timeout: Option<Ps>,
    /// It tells of a mark.
    pub(crate) marked: bool,
    /// All of the flow is acknowledged, or of its first message that is not over.
    pub(crate) done: bool,
    /// It has no turn.
    pub(crate) waits: bool,
}

/// The queue pairs of a host.
#[derive(Debug)]
pub(crate) struct QueuePairs {
    transport: TransportSpec,
    /// A mark is echoed until a frame says that the window is cut; and whether the frame that leaves says so.
    echoes: bool,
    pub(super) cut: Option<bool>,
    /// Queue pairs under way, and vacant places.
    live: Vec<Option<QueuePair>>,
    vacant: Vec<u32>,
    /// By number of the flow, its place and one; 0 for none.
    places: Paged<u32>,
    line_rate: Rate,
    /// Telemetry and reports of acknowledgements that have arrived.
    pub(super) records: Records,
}

impl QueuePairs {
    /// None yet, at a host with such a link.
    pub(crate) fn new(transport: TransportSpec, plan: &Plan, line_rate: Rate) -> Self {
        Self {
            transport,
            echoes: transport.is_classic() && !plan.exact_marks,
            cut: None,
            live: Vec::new(),
            vacant: Vec::new(),
            places: Paged::default(),
            line_rate,
            records: Records::default(),
        }
    }
    fn find(&mut self, flow: FlowId) -> Option<(&mut QueuePair, &TransportSpec)> {
        let place = (self.places.get(flow.0) as usize).checked_sub(1)?;
        Some((self.live.get_mut(place)?.as_mut()?, &self.transport))
    }
    /// Is one under way?
    pub(crate) fn are_live(&self) -> bool {
        self.live.len() > self.vacant.len()
    }
    /// Is a flow under way?
    pub(crate) fn has(&self, flow: FlowId) -> bool {
        self.places.get(flow.0) > 0
    }
    /// A flow begins.
    pub(crate) fn begin(&mut self, flow: FlowId, queue: FlowQueue, initial_rate: Option<Rate>, net: &Net) {
        let window = match self.transport.window {
            Window::Scheme | Window::Off => u64::MAX,
            Window::Fixed(bytes) => bytes.get(),
            Window::Bdp => {
                let (rtt, _) = net.base_rtt_of(flow, Some(self.transport));
                (self.line_rate.bps() * rtt.as_secs_f64() / 8.0) as u64
            }
        };
        let by = &self.transport.reliability;
        let frames = || Box::new(SentFrames::new(queue.bytes, queue.whole, by));
        let frames = self.transport.reports().then(frames);
        let waits = if self.transport.opens() { Waits::Opening } else { Waits::Turn };
        changes("queue pair", "none", waits.name());
        let pair = QueuePair {
            window,
            full: window,
            next_seq: 0,
            acked: 0,
            highest: 0,
            message: flow,
            ends_at: queue.bytes,
            timing: Timing { deadline: NEVER, timer: NEVER, ..Timing::default() },
            frames,
            going: FrameNo(0),
            recover: 0,
            queue,
            initial_rate: initial_rate.map(Box::new),
            ecn: Ecn::default(),
            waits,
        };
        let place = self.vacant.pop().map_or(self.live.len(), |place| place as usize);
        self.live.resize_with(self.live.len().max(place + 1), || None);
        self.live[place] = Some(pair);
        *self.places.at(flow.0) = place as u32 + 1;
    }
    /// The frame goes that opens a flow's connection, for the first time or again: when it goes once more, ps. None if it is open.
    pub(crate) fn opens(&mut self, flow: FlowId, now: Ps) -> Option<Ps> {
        let (pair, transport) = self.find(flow).filter(|(pair, _)| pair.waits == Waits::Opening)?;
        if pair.timing.deadline < NEVER {
            pair.timing.trip.back_off();
        }
        pair.wait(now, &transport.reliability);
        pair.timing.timer = pair.timing.deadline;
        Some(pair.timing.deadline)
    }
    /// A message more goes on a connection, of so many bytes.
    pub(crate) fn more(&mut self, flow: FlowId, bytes: u64) {
        let Some((pair, _)) = self.find(flow) else { broken("a message before its connection") };
        pair.queue.bytes += bytes;
        pair.frames.iter_mut().for_each(|frames| frames.more(bytes));
    }
    /// For how long a flow has sent nothing, as it had nothing to send, and its timeout, ps.
    pub(crate) fn idle(&mut self, flow: FlowId, now: Ps) -> Option<(Ps, Ps)> {
        let (pair, transport) = self.find(flow)?;
        let by = &transport.reliability;
        let idle = pair.left() == 0 && pair.in_flight(by) == 0;
        idle.then(|| (now - pair.timing.sent, pair.timing.trip.deadline(now, 0, by) - now))
    }
    /// The first message of a flow that is not over is over now: which, whether it was the last one, and whether the next is over, too.
    pub(crate) fn finish(&mut self, flow: FlowId, net: &Net) -> Option<(FlowId, bool, bool)> {
        let (pair, _) = self.find(flow)?;
        let (over, next) = (pair.message, net.flows.next_message(pair.message));
        if let Some(next) = next {
            (pair.message, pair.ends_at) = (next, net.flows.bytes_below(flow, net.flows.end_of(next)));
        }
        Some((over, next.is_none(), next.is_some() && pair.acked >= pair.ends_at))
    }
    /// A flow is over: the place that it had.
    pub(crate) fn end(&mut self, flow: FlowId) -> Option<u32> {
        let place = (self.places.get(flow.0) as usize).checked_sub(1)?;
        let ended = self.live[place].take();
        changes("queue pair", ended.as_ref().map_or("none", |pair| pair.waits.name()), "none");
        self.vacant.push(place as u32);
        *self.places.at(flow.0) = 0;
        ended.map(|pair| pair.queue.place)
    }
    /// Of a flow that has just begun: its first rate, if one is given, the flows under way beside it, and its acknowledged bytes.
    pub(crate) fn begun(&mut self, flow: FlowId) -> Option<(Option<Rate>, u32, u64)> {
        let others = (self.live.len() - self.vacant.len()).saturating_sub(1) as u32;
        let pair = self.find(flow)?.0;
        Some((pair.initial_rate.as_deref().copied(), others, pair.acked))
    }
    /// Shows a limiter what is sent of its flow, and the window. It counts for itself what is acknowledged.
    #[inline(always)]
    pub(crate) fn show(&mut self, flow: FlowId, shared: &mut AckState) {
        if let Some((pair, transport)) = self.find(flow) {
            shared.next_seq = pair.next_seq;
            shared.window = pair.window;
            shared.outstanding = match &pair.frames {
                Some(frames) => {
                    shared.gone = frames.gone_bytes(&transport.reliability);
                    shared.reported = frames.reported_bytes();
                    frames.outstanding()
                }
                None => pair.highest.saturating_sub(pair.acked),
            };
        }
    }
    /// The scheme has had its limiter in hand: the window that it sets holds, where the run leaves that to it; or the run's, at this rate;
    /// or the smaller of both, by selective repeat. True if that is smaller than the one before.
    pub(crate) fn take_window(&mut self, flow: FlowId, window: u64, rate: Rate) -> bool {
        let (line, by_scheme) = (self.line_rate, self.transport.window == Window::Scheme);
        let by_rate = self.transport.window_by_rate;
        let by_both = matches!(self.transport.reliability, Reliability::Selective(_));
        let Some((pair, _)) = self.find(flow).filter(|_| by_scheme || by_rate || by_both) else {
            return false;
        };
        // Cut to whole bytes, and never 0, as in the HPCC fork.
        let share = || (pair.full as f64 * (rate.bps() / line.bps()).min(1.0)) as u64;
        let window = match by_rate {
            true if !by_scheme => share().max(1),
            _ => window.min(pair.full),
        };
        window < std::mem::replace(&mut pair.window, window)
    }
    /// The flow's turn has come: bytes left of it or of its next frame, the number of that, and if it is the last. None if nothing goes.
    #[inline(always)]
    pub(crate) fn turn(&mut self, flow: FlowId) -> Option<(u64, u32, bool)> {
        let (pair, transport) = self.find(flow)?;
        let (mut left, mut before) = (pair.left(), FrameNo(pair.next_seq / u64::from(pair.queue.whole)));
        if let Some(frames) = &pair.frames {
            let goes = frames.may_send(pair.window, &transport.reliability);
            before = goes.unwrap_or(before);
            left = goes.map_or(0, |frame| frames.bytes_below(frame + 1) - frames.bytes_below(frame));
        }
        // The window may have narrowed since the flow joined those that take turns.
        if left == 0 || pair.frames.is_none() && !pair.has_room() {
            pair.wait_for(Waits::Ack);
            return None;
        }
        pair.going = before;
        let last = pair.frames.as_ref().map_or(left <= pair.queue.whole.into(), |frames| frames.ends(before));
        Some((left, number_in_flow(before), last))
    }
    /// A frame of this length has left.
    #[inline(always)]
    pub(crate) fn sent(&mut self, flow: FlowId, len: u16, now: Ps) -> Sent {
        let echoes = self.echoes;
        let Some((pair, transport)) = self.find(flow) else { broken("a flow without a queue pair sends") };
        let by = &transport.reliability;
        let again = match &mut pair.frames {
            Some(frames) => frames.send(pair.going, pair.window, by, now),
            None => {
                let again = pair.next_seq < pair.highest;
                pair.next_seq = (pair.next_seq + u64::from(len)).min(pair.size());
                pair.highest = pair.highest.max(pair.next_seq);
                again
            }
        };
        pair.settle();
        pair.timing.sent = now;
        if pair.timing.deadline == NEVER {
            pair.wait(now, by);
        }
        if !again {
            pair.plan_probe(now, transport);
        }
        let timeout = pair.arm();
        let after = if transport.ack_every == 0 && pair.left() == 0 {
            After::Over
        } else if pair.may_send(by) {
            if pair.frames.as_ref().is_some_and(|frames| frames.burst > 0) {
                After::Stay
            } else {
                After::Turn
            }
        } else {
            pair.frames.iter_mut().for_each(|frames| frames.burst = 0);
            After::Wait
        };
        pair.wait_for(if after == After::Wait || after == After::Over { Waits::Ack } else { Waits::Turn });
        let last = pair.frames.as_ref().map_or(pair.left() == 0, |frames| frames.ends(pair.going));
        let sent = Sent { again, last: (!again && last).then_some(pair.going), after, timeout };
        let cut = !again && std::mem::take(&mut pair.ecn.cut);
        self.cut = transport.is_classic().then_some(cut && echoes);
        sent
    }
    /// An acknowledgement of all bytes below `acked`, which are so many frames, or a NACK (`gap`), of a frame that began so long ago: what it does. None if the flow
    /// is over, or by TCP, where a connection opens with a NACK.
    pub(crate) fn acknowledge(
        &mut self,
        flow: FlowId,
        (acked, frames, gap, report): (u64, impl FnOnce() -> FrameNo, bool, &Report),
        marked: bool,
        (rtt, now): (Ps, Ps),
    ) -> Option<Progress> {
        let echoes = self.echoes;
        let (pair, transport) = self.find(flow)?;
        let by = &transport.reliability;
        if gap && matches!(by, Reliability::Tcp(_)) {
            if pair.waits == Waits::Opening {
                pair.wait_for(Waits::Ack);
                pair.timing.trip.sample(rtt);
                (pair.timing.deadline, pair.timing.progress) = (NEVER, now);
            }
            return None;
        }
        let newly = acked.saturating_sub(pair.acked);
        pair.acked += newly;
        if newly > 0 {
            (pair.timing.progress, pair.timing.anew) = (now, 0);
        }
        let done = pair.acked >= pair.ends_at;
        let waits = pair.waits != Waits::Turn;
        let mut progress = Progress { newly, marked, done, waits, ..Progress::default() };
        let mut waits_on = newly > 0;
        if let Some(of) = &mut pair.frames {
            if newly > 0 {
                pair.timing.trip.sample(rtt);
            }
            let heard = of.hear((frames(), gap, report), by, (now, pair.timing.trip.smooth()));
            progress.loss = heard.loss.then_some(Loss::Nack);
            progress.recovered = heard.recovered;
            // NewReno leaves its timer from the second part of a recovery on (RFC 6582).
            waits_on &= !heard.more_of_it;
            if echoes {
                let is_new = pair.ecn.below == 0 || pair.acked > pair.ecn.below;
                progress.marked = marked && is_new && !heard.loss;
            }
            if echoes && progress.marked && pair.window <= of.whole() {
                (pair.ecn.holds, waits_on) = (true, true);
            } else if newly > 0 && of.una == of.next && !pair.ecn.holds {
                (pair.timing.deadline, waits_on) = (NEVER, false);
            }
            pair.settle();
            if echoes && (progress.marked || heard.loss) {
                pair.ecn.cut(pair.next_seq);
            }
        } else if let Reliability::GoBackN { .. } = by {
            progress.recovered = pair.recover > 0 && pair.acked >= pair.recover;
            if gap && acked == pair.acked && pair.next_seq > acked {
                (pair.next_seq, progress.loss) = (acked, Some(Loss::Nack));
            }
            pair.recover = match (progress.loss, progress.recovered) {
                (Some(_), _) => pair.highest,
                (None, true) => 0,
                _ => pair.recover,
            };
            // Frames from which a timeout began anew may have arrived before.
            pair.next_seq = pair.next_seq.max(pair.acked);
        }
        pair.timing.anew = pair.timing.anew.saturating_add(u32::from(progress.loss.is_some()));
        if waits_on {
            pair.wait(now, by);
        }
        pair.plan_probe(now, transport);
        progress.timeout = pair.arm();
        Some(progress)
    }
    /// The timer of a flow expires: the loss that is found, as nothing was acknowledged for so long or RACK looks; and the next expiry.
    pub(crate) fn time_out(&mut self, flow: FlowId, now: Ps) -> (Option<Loss>, Option<Ps>) {
        let Some((pair, transport)) = self.find(flow) else { return (None, None) };
        let (by, smooth, mut loss) = (&transport.reliability, pair.timing.trip.smooth(), None);
        pair.timing.timer = NEVER;
        if let Some(rack) = pair.frames.as_mut().and_then(|frames| frames.rack.as_mut()) {
            let looks = rack.look.is_some_and(|at| at <= now);
            if rack.probe.is_some_and(|at| at <= now) {
                (rack.probe, rack.probing) = (None, true);
                pair.wait(now, by);
            }
            let found = |frames: &mut Box<SentFrames>| looks && frames.find_lost(smooth, now);
            loss = pair.frames.as_mut().is_some_and(found).then_some(Loss::Nack);
        }
        if pair.timing.deadline <= now {
            pair.ecn.holds = false;
            if pair.frames.as_ref().map_or(pair.in_flight(by) == 0, |frames| frames.next == frames.una) {
                pair.timing.deadline = NEVER;
                return (None, None);
            }
            match &mut pair.frames {
                Some(frames) => frames.time_out(by, (now, smooth)),
                None => (pair.recover, pair.next_seq) = (pair.highest, pair.acked),
            }
            pair.timing.trip.back_off();
            pair.wait(now, by);
            loss = Some(Loss::Timeout);
        }
        pair.timing.anew = pair.timing.anew.saturating_add(u32::from(loss.is_some()));
        pair.settle();
        if loss.is_some() {
            pair.ecn.cut(pair.next_seq);
        }
        (loss, pair.arm())
    }
    /// If the flow waits here, has something to send and room in its window, it takes turns from now on: as it takes them.
    pub(crate) fn resume(&mut self, flow: FlowId) -> Option<FlowQueue> {
        let (pair, transport) = self.find(flow)?;
        if pair.waits == Waits::Turn || !pair.may_send(&transport.reliability) {
            return None;
        }
        pair.wait_for(Waits::Turn);
        Some(pair.queue)
    }
    /// Place of a flow, its window, and what is in flight of it, bytes.
    pub(crate) fn seen(&mut self, flow: FlowId) -> Option<(u32, u64, u64)> {
        let (pair, transport) = self.find(flow)?;
        Some((pair.queue.place, pair.window, pair.in_flight(&transport.reliability)))
    }
    /// The place of a flow that waits for an acknowledgement.
    pub(crate) fn waits_at(&mut self, flow: FlowId) -> Option<u32> {
        self.find(flow).filter(|found| found.0.waits == Waits::Ack).map(|found| found.0.queue.place)
    }
    /// The flows that wait for an acknowledgement: they have begun anew since the last one, or have no turn.
    pub(crate) fn waiting(&self, net: &Net) -> Vec<Waiting> {
        let by = &self.transport.reliability;
        let one = |pair: &QueuePair| {
            let flow = net.flows.numbered(pair.queue.pair?)?;
            let (dst, nth, since) = (NodeId(flow.dst), flow.number.into(), pair.timing.progress.time());
            let (left, in_flight, times) = (pair.left(), pair.in_flight(by), pair.timing.anew);
            let waits = (times > 0 || pair.waits != Waits::Turn) && pair.acked < pair.size();
            waits.then_some(Waiting { dst, nth, since, times, left, in_flight })
        };
        let mut all: Vec<Waiting> = self.live.iter().flatten().filter_map(one).collect();
        all.sort_unstable_by_key(|flow| (flow.dst, flow.nth));
        all
    }
    /// The flows under way to a host.
    pub(crate) fn to(&self, dst: u32) -> impl Iterator<Item = FlowId> {
        let queues = self.live.iter().flatten().map(|pair| &pair.queue);
        queues.filter(move |queue| queue.dst == dst).filter_map(|queue| queue.pair)
    }
}

#[cfg(test)]
#[path = "../../tests/parts/queue_pair.rs"]
mod tests;
