//! Queue pairs: each finite flow under way has one at its source, which knows what is sent and what is acknowledged.
//!
//! A queue pair that may send waits for its turn among the others ([`super::transfers`]). One that its window holds back, or that has sent
//! all, waits here for an acknowledgement. Bytes are numbered by flow, padding of a last frame aside.
//!
//! Where lost frames are sent again ([`Reliability::GoBackN`]), a NACK or a timeout lets a flow begin anew with the first byte that is
//! not acknowledged. Elsewhere an acknowledgement counts what was lost before its frame, too.

use super::frame::Control;
use super::transfers::FlowQueue;
use crate::check::broken;
use crate::flows::{Numbered, number_in_flow, precede};
use crate::net::Net;
use crate::outcome::InVain;
use crate::paged::Paged;
use crate::spec::{Reliability, TransportSpec, Window};
use cnsim_scheme_api::network::AckState;
use cnsim_scheme_api::{FlowId, Hop, Loss, NodeId, Rate, Time};

/// Timer of a flow's next timeout; its object is the flow, not a limiter.
pub(crate) const RTO: u8 = 9;

/// Where a queue pair waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// For its turn at the link.
    Turn,
    /// For its window, or with nothing to send for the last acknowledgement.
    Ack,
}

/// A flow at its source.
#[derive(Debug)]
struct QueuePair {
    /// What its limiter shares with the scheme, kept here.
    acks: AckState,
    /// The window at the line rate, where the run sets it.
    full: u64,
    /// The first byte that was never sent.
    highest: u64,
    /// It times out then, unless something is acknowledged, ps.
    deadline: u64,
    /// When something was acknowledged last, ps, and how often it has begun anew since.
    progress: u64,
    anew: u32,
    /// As it takes turns. Its bytes are those of the whole flow.
    queue: FlowQueue,
    initial_rate: Option<Rate>,
    waits: Waits,
}

impl QueuePair {
    fn size(&self) -> u64 {
        self.queue.bytes
    }
    fn left(&self) -> u64 {
        self.size() - self.acks.next_seq
    }
    /// Has it something to send, and is less in flight than its window?
    fn may_send(&self) -> bool {
        self.left() > 0 && self.acks.in_flight() < self.acks.window
    }
}

/// What becomes of a flow that has sent a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// It takes another turn.
    Turn,
    /// It waits for an acknowledgement.
    Wait,
    /// It is over for its source.
    Over,
}

/// What it means that a frame was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// The frame was sent before.
    pub(crate) again: bool,
    pub(crate) after: After,
    /// The flow times out then, which was not to happen before, ps.
    pub(crate) timeout: Option<u64>,
}

/// What an acknowledgement does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Bytes that are acknowledged now and were not before.
    pub(crate) newly: u64,
    /// The flow begins anew with the first byte that is missing.
    pub(crate) loss: Option<Loss>,
    /// All is acknowledged.
    pub(crate) done: bool,
}

/// The queue pairs of a host.
#[derive(Debug)]
pub(crate) struct QueuePairs {
    transport: TransportSpec,
    /// Those under way, and vacant places.
    live: Vec<Option<QueuePair>>,
    vacant: Vec<u32>,
    /// By number of the flow, its place and one; 0 for none.
    places: Paged<u32>,
    line_rate: Rate,
    /// Telemetry of acknowledgements that have arrived.
    pub(super) records: Records,
}

impl QueuePairs {
    /// None yet, at a host with such a link.
    pub(crate) fn new(transport: TransportSpec, line_rate: Rate) -> Self {
        Self {
            transport,
            live: Vec::new(),
            vacant: Vec::new(),
            places: Paged::default(),
            line_rate,
            records: Records::default(),
        }
    }
    fn find(&mut self, flow: FlowId) -> Option<&mut QueuePair> {
        let place = (self.places.get(flow.0) as usize).checked_sub(1)?;
        self.live.get_mut(place)?.as_mut()
    }
    /// Is a flow under way?
    pub(crate) fn has(&self, flow: FlowId) -> bool {
        self.places.get(flow.0) > 0
    }
    /// A flow begins.
    pub(crate) fn begin(&mut self, flow: FlowId, queue: FlowQueue, initial_rate: Option<Rate>, net: &Net) {
        let mut acks = AckState::default();
        acks.window = match self.transport.window {
            Window::Scheme | Window::Off => u64::MAX,
            Window::Fixed(bytes) => bytes.get(),
            Window::Bdp => {
                let (rtt, _) = net.base_rtt_of(flow);
                (self.line_rate.bps() * rtt.as_secs_f64() / 8.0) as u64
            }
        };
        let (full, highest, deadline, waits) = (acks.window, 0, u64::MAX, Waits::Turn);
        let (progress, anew) = (0, 0);
        let pair = QueuePair { acks, full, highest, deadline, progress, anew, queue, initial_rate, waits };
        let place = self.vacant.pop().map_or(self.live.len(), |place| place as usize);
        self.live.resize_with(self.live.len().max(place + 1), || None);
        self.live[place] = Some(pair);
        *self.places.at(flow.0) = place as u32 + 1;
    }
    /// A flow is over.
    pub(crate) fn end(&mut self, flow: FlowId) {
        if let Some(place) = (self.places.get(flow.0) as usize).checked_sub(1) {
            self.live[place] = None;
            self.vacant.push(place as u32);
            *self.places.at(flow.0) = 0;
        }
    }
    /// Flows under way beside the one that has just begun.
    pub(crate) fn others(&self) -> u32 {
        (self.live.len() - self.vacant.len()).saturating_sub(1) as u32
    }
    /// The rate at which a flow is to begin, if the scenario gives one.
    pub(crate) fn initial_rate(&mut self, flow: FlowId) -> Option<Rate> {
        self.find(flow)?.initial_rate
    }
    /// Bytes acknowledged of a flow.
    pub(crate) fn acked(&mut self, flow: FlowId) -> Option<u64> {
        Some(self.find(flow)?.acks.acked)
    }
    /// Shows a limiter what is sent of its flow, and the window. It counts for itself what is acknowledged.
    pub(crate) fn show(&mut self, flow: FlowId, shared: &mut AckState) {
        if let Some(pair) = self.find(flow) {
            shared.next_seq = pair.acks.next_seq;
            shared.window = pair.acks.window;
        }
    }
    /// The scheme has had its limiter in hand: the window that it sets holds, where the run leaves that to it; or the run's, at this rate.
    /// True if that is smaller than the one before.
    pub(crate) fn take_window(&mut self, flow: FlowId, window: u64, rate: Rate) -> bool {
        let (line, by_scheme) = (self.line_rate, self.transport.window == Window::Scheme);
        let by_rate = self.transport.window_by_rate;
        let Some(pair) = self.find(flow).filter(|_| by_scheme || by_rate) else { return false };
        // Cut to whole bytes, and never 0, as in the HPCC fork.
        let share = || (pair.full as f64 * (rate.bps() / line.bps()).min(1.0)) as u64;
        let window = if by_scheme { window } else { share().max(1) };
        window < std::mem::replace(&mut pair.acks.window, window)
    }
    /// The flow's turn has come: it as it takes turns, with what is left of it, and the number of its next frame. None if nothing is.
    pub(crate) fn turn(&mut self, flow: FlowId) -> Option<(FlowQueue, u32)> {
        let pair = self.find(flow)?;
        let left = pair.left();
        if left == 0 {
            pair.waits = Waits::Ack;
            return None;
        }
        let before = pair.acks.next_seq / u64::from(pair.queue.whole);
        Some((FlowQueue { bytes: left, ..pair.queue }, number_in_flow(before)))
    }
    /// A frame of this length has left.
    pub(crate) fn sent(&mut self, flow: FlowId, len: u16, now: u64) -> Sent {
        let transport = self.transport;
        let Some(pair) = self.find(flow) else { broken("a flow without a queue pair sends") };
        let again = pair.acks.next_seq < pair.highest;
        pair.acks.next_seq = (pair.acks.next_seq + u64::from(len)).min(pair.size());
        pair.highest = pair.highest.max(pair.acks.next_seq);
        let mut timeout = None;
        if let Reliability::GoBackN { rto, .. } = transport.reliability
            && pair.deadline == u64::MAX
        {
            pair.deadline = now.saturating_add(rto.as_ps());
            timeout = Some(pair.deadline);
        }
        let after = if pair.left() == 0 && transport.ack_every == 0 {
            After::Over
        } else if pair.may_send() {
            After::Turn
        } else {
            After::Wait
        };
        pair.waits = if after == After::Turn { Waits::Turn } else { Waits::Ack };
        Sent { again, after, timeout }
    }
    /// An acknowledgement of all bytes below `acked`, or a NACK (`gap`): what it does. None if the flow is over.
    pub(crate) fn acknowledge(&mut self, flow: FlowId, acked: u64, gap: bool, now: u64) -> Option<Progress> {
        let transport = self.transport;
        let pair = self.find(flow)?;
        let newly = acked.saturating_sub(pair.acks.acked);
        pair.acks.acked += newly;
        let mut loss = None;
        if let Reliability::GoBackN { rto, .. } = transport.reliability {
            if newly > 0 {
                pair.deadline = now.saturating_add(rto.as_ps());
                (pair.progress, pair.anew) = (now, 0);
            }
            if gap && acked == pair.acks.acked && pair.acks.next_seq > acked {
                (pair.acks.next_seq, loss) = (acked, Some(Loss::Nack));
                pair.anew = pair.anew.saturating_add(1);
            }
        }
        // What a timeout had begun anew with may have arrived before.
        pair.acks.next_seq = pair.acks.next_seq.max(pair.acks.acked);
        Some(Progress { newly, loss, done: pair.acks.acked >= pair.size() })
    }
    /// The timer of a flow's timeout expires. True: nothing was acknowledged for so long, and it begins anew. The next timeout, if any.
    pub(crate) fn time_out(&mut self, flow: FlowId, now: u64) -> (bool, Option<u64>) {
        let Reliability::GoBackN { rto, .. } = self.transport.reliability else { return (false, None) };
        let Some(pair) = self.find(flow) else { return (false, None) };
        if pair.acks.in_flight() == 0 {
            pair.deadline = u64::MAX;
            return (false, None);
        }
        if pair.deadline > now {
            return (false, Some(pair.deadline));
        }
        pair.acks.next_seq = pair.acks.acked;
        pair.anew = pair.anew.saturating_add(1);
        pair.deadline = now.saturating_add(rto.as_ps());
        (true, Some(pair.deadline))
    }
    /// If the flow waits here, has something to send and room in its window, it takes turns from now on: as it takes them.
    pub(crate) fn resume(&mut self, flow: FlowId) -> Option<FlowQueue> {
        let pair = self.find(flow)?;
        if pair.waits == Waits::Turn || !pair.may_send() {
            return None;
        }
        pair.waits = Waits::Turn;
        Some(pair.queue)
    }
    /// The flows that have begun anew since something of them was acknowledged.
    pub(crate) fn in_vain(&self, net: &Net) -> Vec<InVain> {
        let one = |pair: &QueuePair| {
            let flow = net.flows.numbered(pair.queue.pair?)?;
            let (dst, nth, since) = (NodeId(flow.dst), flow.number.into(), Time::from_ps(pair.progress));
            (pair.anew > 0).then_some(InVain { dst, nth, since, times: pair.anew })
        };
        let mut all: Vec<InVain> = self.live.iter().flatten().filter_map(one).collect();
        all.sort_unstable_by_key(|flow| (flow.dst, flow.nth));
        all
    }
    /// The flows under way to a host.
    pub(crate) fn to(&self, dst: u32) -> impl Iterator<Item = FlowId> {
        self.live
            .iter()
            .flatten()
            .filter(move |pair| pair.queue.dst == dst)
            .filter_map(|pair| pair.queue.pair)
    }
}

/// What a destination makes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The frame is the next of its flow, or nothing is sent again: it is delivered.
    pub(crate) wanted: bool,
    /// An acknowledgement goes to the source: all bytes below this have arrived; and whether it is a NACK.
    pub(crate) reply: Option<(u64, bool)>,
}

/// A flow at its destination.
#[derive(Clone, Copy, Debug, Default)]
struct Sink {
    /// Frames that have come in order, or are given up.
    expected: u64,
    /// Frames since the last acknowledgement.
    frames: u32,
    /// When the last NACK was sent, and after how many frames in order.
    nacked: Option<(u64, u64)>,
}

/// The flows to a host, as acknowledgements count them.
#[derive(Debug)]
pub(crate) struct Sinks {
    transport: TransportSpec,
    /// By place among the flows to the host.
    flows: Vec<Sink>,
    /// The acknowledgement of the frame that was taken last, until it is sent.
    pub(super) reply: Option<Control>,
}

impl Sinks {
    /// Of so many flows to a host.
    pub(crate) fn new(transport: TransportSpec, flows: usize) -> Self {
        Self { transport, flows: vec![Sink::default(); flows], reply: None }
    }
    /// A frame of a flow has arrived.
    pub(crate) fn take(&mut self, flow: &Numbered, number: u32, marked: bool, now: u64) -> Taken {
        let Some(sink) = self.flows.get_mut(flow.at as usize) else { broken("a flow without a sink") };
        let (every, before) = (self.transport.ack_every, precede(number, sink.expected));
        if let Reliability::GoBackN { nack_interval, .. } = self.transport.reliability
            && before != sink.expected
        {
            let lately = sink.nacked.is_some_and(|(at, frames)| {
                frames == sink.expected && now.saturating_sub(at) < nack_interval.as_ps()
            });
            let gap = before > sink.expected;
            if gap && !lately {
                sink.nacked = Some((now, sink.expected));
            }
            // A frame that has come before is acknowledged again: the last acknowledgement may be lost.
            let reply = (!gap || !lately).then_some((flow.after(sink.expected), gap));
            return Taken { wanted: false, reply };
        }
        sink.expected = sink.expected.max(before + 1);
        sink.frames += 1;
        let due = sink.frames >= every || marked || before + 1 == flow.frames();
        if every == 0 || !due {
            return Taken { wanted: true, reply: None };
        }
        sink.frames = 0;
        Taken { wanted: true, reply: Some((flow.after(sink.expected), false)) }
    }
}

/// Telemetry on its way, beside the frames and acknowledgements that carry it: flat in memory, and used again.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Of each record how many hops it has, and what its frame has no room for beside the record's number.
    heads: Vec<(u32, u32)>,
    /// Hops, `room` places for each record.
    hops: Vec<Hop>,
    room: usize,
    vacant: Vec<u32>,
}

impl Records {
    /// Writes a hop behind those of a record, or begins one for the number 0: its number.
    pub(crate) fn push(&mut self, record: u32, hop: Hop) -> u32 {
        let record = if record == 0 { self.open() } else { record };
        let at = record as usize - 1;
        let count = self.heads[at].0 as usize;
        if count == self.room {
            self.widen();
        }
        self.hops[at * self.room + count] = hop;
        self.heads[at].0 += 1;
        record
    }
    fn open(&mut self) -> u32 {
        self.vacant.pop().unwrap_or_else(|| {
            self.heads.push((0, 0));
            self.hops.resize(self.heads.len() * self.room, Hop::default());
            self.heads.len() as u32
        })
    }
    /// Makes room for longer paths.
    #[cold]
    fn widen(&mut self) {
        let room = (2 * self.room).max(2);
        let mut hops = Vec::with_capacity(self.heads.len() * room);
        for at in 0..self.heads.len() {
            hops.extend_from_slice(&self.hops[at * self.room..(at + 1) * self.room]);
            hops.resize((at + 1) * room, Hop::default());
        }
        (self.hops, self.room) = (hops, room);
    }
    /// What a record holds; none for the number 0.
    pub(crate) fn path(&self, record: u32) -> &[Hop] {
        let Some(at) = (record as usize).checked_sub(1) else { return &[] };
        &self.hops[at * self.room..][..self.heads[at].0 as usize]
    }
    /// What stands beside the hops of a record.
    pub(crate) fn beside(&mut self, record: u32) -> &mut u32 {
        &mut self.heads[record as usize - 1].1
    }
    /// A record is no longer needed.
    pub(crate) fn close(&mut self, record: u32) {
        if let Some(head) = (record as usize).checked_sub(1).and_then(|at| self.heads.get_mut(at)) {
            head.0 = 0;
            self.vacant.push(record);
        }
    }
    /// A record that came from elsewhere: its number here; 0 for none.
    pub(crate) fn enter(&mut self, path: &[Hop]) -> u32 {
        path.iter().fold(0, |record, hop| self.push(record, *hop))
    }
    /// A record of another store becomes one of this: its number here.
    pub(crate) fn adopt(&mut self, from: &mut Records, record: u32) -> u32 {
        let here = self.enter(from.path(record));
        from.close(record);
        here
    }
}
