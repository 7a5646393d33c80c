//! Work of a switch besides passing frames on: actions of its congestion points, its own messages, recording, and its books.
//!
//! Both ways to run call it ([`super::switching`]).

use super::agenda::{Direct, Key, Kind, Moment};
use super::fault::PortFaults;
use super::frame::{Control, Data, EVERY_FLOW, Says, To, flow_of};
use super::memory::{Loss, Refusal};
use super::pause::InXoff;
use super::point::{Point, Verb};
use super::port::At;
use super::record::QueueSeries;
use super::watchdog::Watchdogs;
use crate::check::{
    Books, ControlBooks, Decisions, Dropped, Event, Events, Failure, Hash, Kept, Ledger, Own, Stopped, Who,
};
use crate::flows::flow_of as flow_number;
use crate::net::{NEVER, Net, Paths, Ps};
use crate::outcome::{PortOutcome, Series, SeriesKind, SharedUse, SwitchOutcome};
use crate::spec::{PauseTransport, RateChange, SwitchSpec};
use crate::timers::Timers;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::network::{NO_PROBE, PointAction};
use cnsim_scheme_api::{Feedback, FlowId, NodeId, Probe, ProbeTarget, Queue as View, Rate};
use std::collections::VecDeque;

/// The number by which timers know a congestion point.
fn timed((out, class): At) -> u32 {
    out as u32 | (class as u32) << 16
}

/// The congestion point of a timer's number.
pub(crate) fn of_timer(number: u32) -> At {
    ((number & 0xFFFF) as usize, (number >> 16) as usize)
}

/// Most drops of a switch of which it is known whose they were.
const MOST_DROPS: usize = 1 << 20;

/// Whose frames a switch dropped; nothing is held before the first.
#[derive(Debug, Default)]
struct Whose {
    /// By pair of hosts, where that is recorded.
    losses: Vec<u32>,
    /// By output, up to the last that has any: frames that were lost although PAUSE was to prevent it.
    lost: Vec<u64>,
    /// Of the first, where the time of flows is recorded: flow, moment, output.
    dropped: Vec<Dropped>,
}

/// What is recorded of a switch by bin.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// When a bin ends next, ps; never where nothing is recorded.
    pub(crate) next: Ps,
    pub(crate) queues: Vec<QueueSeries>,
    /// Frames that were dropped up to the end of each bin.
    drops_at: Vec<f64>,
}

/// Records of a switch.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) recorded: Box<Recorded>,
    pub(crate) drops: Ledger,
    /// Whose frames were dropped.
    whose: Box<Whose>,
    /// The XOFFs that it decided, where they are recorded.
    pub(crate) decisions: Option<Box<Decisions>>,
    /// By class.
    pub(crate) books: Vec<ControlBooks>,
    pub(crate) events: Events,
    samples: Hash,
}

/// The state of a switch for this work.
#[derive(Debug, Default)]
pub(crate) struct Management {
    /// The switch.
    pub(crate) id: u32,
    /// What it remembers of choices among equal paths.
    pub(crate) paths: Paths,
    pub(crate) faults: PortFaults,
    pub(crate) watchdogs: Box<Watchdogs>,
    /// Its ports have faults or watchdogs.
    pub(crate) guarded: bool,
    /// Memory is free as a transmission starts, not at its end.
    pub(crate) at_start: bool,
    /// Number of its first port in the network.
    base: u32,
    processing: Ps,
    pub(super) pause_transport: PauseTransport,
    /// Scheduled changes of its ports' service rates.
    changes: VecDeque<RateChange>,
    /// Messages of its own, with their classes, which are ready after the processing delay.
    own_messages: VecDeque<(Ps, u8, Control)>,
    /// Timers of its congestion points.
    pub(crate) timers: Timers,
    pub(crate) journal: Journal,
    /// Actions of a congestion point, while they are carried out.
    actions: Vec<PointAction>,
    /// Why the run cannot go on.
    pub(crate) failure: Failure,
}

impl Management {
    /// The management of a switch.
    pub(crate) fn new(net: &Net, id: u32, spec: &SwitchSpec, changes: &[RateChange]) -> Self {
        let mut mine: Vec<RateChange> = changes.iter().filter(|c| c.node.0 == id).copied().collect();
        mine.sort_by_key(|c| (c.at, c.port));
        let queues: Vec<_> = QueueSeries::of_switch(net, id).collect();
        let next = if queues.is_empty() { NEVER } else { net.record.bin.into() };
        let faults = PortFaults::new(net, id);
        let books = net.classes.iter().map(|c| ControlBooks::new(net, id, c.scheme(spec.scheme)));
        Self {
            id,
            paths: net.paths(),
            guarded: faults.next() < NEVER || net.laws.watchdog.is_some(),
            faults,
            watchdogs: Box::new(Watchdogs::new(net.laws.watchdog, spec.ports.into(), net.classes.len())),
            at_start: spec.shared.as_ref().is_some_and(|shared| shared.at_start),
            base: net.ports[id as usize],
            processing: spec.processing.into(),
            pause_transport: spec.buffer.pause.map_or(PauseTransport::Frame, |p| p.transport),
            changes: mine.into(),
            journal: Journal {
                recorded: Box::new(Recorded { next, queues, drops_at: Vec::new() }),
                decisions: Decisions::new(net.record.pauses),
                books: books.collect(),
                events: Events::new(net),
                ..Journal::default()
            },
            ..Self::default()
        }
    }
    /// It goes on from a moment of rest, with these hashes of what was before.
    pub(crate) fn resume(&mut self, (events, samples): (Hash, Hash), from: Ps, net: &Net) {
        (self.journal.events.hash, self.journal.samples) = (events, samples);
        let recorded = &mut self.journal.recorded;
        if recorded.next < NEVER {
            // Bins that have ended by then are empty.
            let over = from.saturating_sub(Ps(1)) / Ps::from(net.record.bin);
            recorded.next = (over + 1) * Ps::from(net.record.bin);
            recorded.drops_at.resize(over as usize, 0.0);
            recorded.queues.iter_mut().for_each(|queue| queue.skip(over as usize));
        }
    }
    /// Is nothing of its own due?
    pub(crate) fn rests(&self) -> bool {
        self.own_messages.is_empty() && self.timers.next == NEVER
    }
    /// Number of the switch among the switches.
    pub(crate) fn index(&self, net: &Net) -> usize {
        (self.id - net.hosts) as usize
    }
    /// A port's service rate changes, from the next frame on: which port, and that rate.
    pub(crate) fn change(&mut self, at: Moment<'_>) -> Option<(usize, (Rate, TxRate))> {
        let &RateChange { port, rate, .. } = self.changes.front().filter(|c| c.at <= at.now.time())?;
        self.changes.pop_front();
        Some((usize::from(port), (rate, at.net.clocks.switches.tx(rate))))
    }
    /// The next of a switch's own events, which are neither arrivals nor ends of transmissions: when it is, which, and its port. A
    /// message comes after all arrivals of control at its moment, as if by a port beyond the last. In their order at one moment,
    /// and without a branch: which it is cannot be predicted.
    pub(crate) fn next_event(&self, ports: usize) -> Key {
        let change = self.changes.front().map_or((NEVER, 0), |c| (c.at.into(), c.port.into()));
        let message = self.own_messages.front().map_or(NEVER, |o| o.0);
        let mut next = (change.0, Kind::Change, change.1);
        if self.guarded {
            next = next.min((self.faults.next().min(self.watchdogs.next()), Kind::Change, 0));
        }
        for later in [
            (message, Kind::Control, ports as u64),
            (self.timers.next, Kind::Timer, 0),
            (self.journal.recorded.next, Kind::Tick, 0),
        ] {
            next = if later.0 < next.0 { later } else { next };
        }
        next
    }
    /// Takes the first of its own messages: without a frame, or what its frame carries, and its class.
    pub(crate) fn take_message(&mut self, at: Moment<'_>) -> Option<Result<Direct, (Control, u8)>> {
        let (_, class, control) = self.own_messages.pop_front()?;
        Some(control.direct((self.id, class), at).ok_or((control, class)))
    }
    /// Makes a message, which is ready after the processing delay.
    fn say(&mut self, to: To, (flow, (out, class)): (FlowId, At), feedback: Feedback, at: Moment<'_>) {
        self.journal.books[class].made(at.now, feedback.wire_length().get());
        let control = Control { flow, to, says: Says::message(feedback, self.base + out as u32 + 1) };
        self.own_messages.push_back((at.now + self.processing, class as u8, control));
    }
    /// Wakes the congestion point of an output, which sees `queue`, and carries out what it asks for: is the probe in hand to be
    /// answered, and did it ask for anything?
    pub(crate) fn wake(
        &mut self,
        ((out, class), point): (At, &mut Point),
        queue: &View,
        verb: Verb<'_>,
        at: Moment<'_>,
    ) -> (bool, bool) {
        let (mut answer, probe_in_hand) = (false, matches!(verb, Verb::Probe(..)));
        if let Verb::Sample(_) = verb {
            self.journal.samples.add(at.now.0 ^ (out as u64) << 48, queue.len.get() ^ (class as u64) << 56);
        }
        let mut actions = point.wake(at.now, queue, std::mem::take(&mut self.actions), verb);
        let asks = !actions.is_empty();
        for action in &actions {
            match action {
                &PointAction::Notify(flow, feedback) => {
                    let code = 0x3000 | out as u64 ^ (u64::from(flow.0) << 20);
                    self.journal.events.add(Event::Plain(at.now, code));
                    self.say(To::Host(at.net.hosts_of(flow).0), (flow, (out, class)), feedback, at);
                }
                PointAction::Broadcast(feedback) => {
                    self.say(To::Everyone, (EVERY_FLOW, (out, class)), *feedback, at);
                }
                PointAction::StartTimer(slot, after) => {
                    self.timers.start(timed((out, class)), slot.0, at.now.saturating_add((*after).into()));
                }
                PointAction::StopTimer(slot) => self.timers.stop(timed((out, class)), slot.0),
                PointAction::Answer if probe_in_hand => answer = true,
                PointAction::Answer => self.check(out, Err(NO_PROBE.into()), at.now),
                PointAction::Count(counter) => {
                    let known = self.journal.books[class].counters.add(counter);
                    self.check(out, known, at.now);
                }
                PointAction::Gauge(gauge, value) => {
                    let books = &mut self.journal.books[class];
                    let now = (at.now, books.scheme);
                    let known = books.gauges.show(at.net, now, out as u32, gauge, *value);
                    self.check(out, known, at.now);
                }
                PointAction::Fail(cause) => self.check(out, Err(cause.clone()), at.now),
            }
        }
        actions.clear();
        self.actions = actions;
        (answer, asks)
    }
    /// A congestion point stops the run, if this is an error.
    fn check(&mut self, out: usize, done: Result<(), String>, now: Ps) {
        if let Err(cause) = done {
            self.failure.note(now, Who::Point(out as u16), &cause);
        }
    }
    /// A probe has passed the congestion point of an output, which `answered` it or not; true if it ends here.
    pub(crate) fn ends(
        &mut self,
        (out, class): At,
        (flow, to, probe): (FlowId, To, &Probe),
        answered: bool,
        at: Moment<'_>,
    ) -> bool {
        if answered {
            let reply = Feedback::ProbeReply { probe: *probe, at: at.now.time(), rx_rate: Rate::ZERO };
            self.say(To::Host(at.net.hosts_of(flow).0), (flow, (out, class)), reply, at);
        }
        let here = at.net.point_id(self.base + out as u32, class);
        answered || matches!(to, To::Point(_)) || probe.target == ProbeTarget::Point(here)
    }
    /// A frame is lost at an output: data, or control that was to wait among it.
    pub(crate) fn refuse(
        &mut self,
        (out, class): At,
        data: Option<&Data>,
        (why, lossless): Loss,
        (result, of_class): (&mut PortOutcome, Option<&mut PortOutcome>),
        at: Moment<'_>,
    ) {
        let Some(data) = data else {
            self.journal.books[class].messages.discarded += 1;
            return;
        };
        for result in std::iter::once(result).chain(of_class) {
            result.dropped += u64::from(why == Refusal::Partition);
            result.dropped_by_limit += u64::from(why == Refusal::OutputLimit);
        }
        if why == Refusal::Partition && lossless {
            self.journal.whose.lost.resize(self.journal.whose.lost.len().max(out + 1), 0);
            self.journal.whose.lost[out] += 1;
        }
        self.journal.drops.enter(data.src, data.dst, data.number);
        if at.net.record.trips && self.journal.whose.dropped.len() < MOST_DROPS {
            let flow = (data.src, data.dst, flow_number(data.number));
            self.journal.whose.dropped.push((flow, at.now, out as u16));
        }
        let flow = flow_of(data.src, data.dst, at.net.hosts).0;
        if at.net.record.matrix {
            let pairs = at.net.hosts as usize * at.net.hosts as usize;
            self.journal.whose.losses.resize(pairs, 0);
            self.journal.whose.losses[flow as usize] += 1;
        }
        let cause = if why == Refusal::Watchdog { 0x5000 } else { 0x2000 };
        let what = cause | out as u64 ^ (u64::from(flow) << 20);
        self.journal.events.add(Event::Drop(at.now, what, out as u16));
    }
    /// A bin of the recording has ended, in which this was recorded.
    pub(crate) fn end_bin(&mut self, queues: Vec<QueueSeries>, net: &Net) {
        self.journal.recorded.queues = queues;
        self.journal.recorded.next += net.record.bin.into();
        self.journal.recorded.drops_at.push(self.journal.drops.frames as f64);
    }
    /// At the end of the run: the use of a class's shared buffer; nothing without one. A failure, if it holds other bytes than wait.
    pub(crate) fn shared_use(&mut self, used: Option<Result<SharedUse, String>>, net: &Net) -> SharedUse {
        match used {
            Some(Ok(most)) => return most,
            Some(Err(cause)) => self.failure.note(net.duration, Who::Memory, &cause),
            None => {}
        }
        SharedUse::default()
    }
    /// Ends the run: hands in the books. By port: what was measured, its XOFF, the bytes in its queue, and what stands there for good.
    /// `inside` are the frames that wait; `of_class` is by class and port, where there are several classes.
    pub(crate) fn close(
        mut self,
        ports: Vec<(PortOutcome, InXoff, u64, Option<Stopped>)>,
        (shared, of_class): (SharedUse, Vec<Vec<PortOutcome>>),
        inside: Ledger,
        net: &Net,
    ) -> Books {
        let (mut queued, mut waits) = (Vec::new(), Vec::new());
        let mut outcome = SwitchOutcome { shared, storms: self.watchdogs.close(), ..Default::default() };
        let mut stopped = Vec::new();
        for (result, paused, bytes, for_good) in ports {
            outcome.ports.push(PortOutcome { paused: paused.total, ..result });
            outcome.paused_by_part.push(paused.parts);
            stopped.push(paused.spans);
            queued.push(bytes);
            waits.extend(for_good);
        }
        let (counted, lost) = (outcome.dropped(), self.journal.drops.frames);
        if counted != lost {
            let cause = format!("{lost} frames were dropped, and {counted} are counted by cause");
            self.failure.note(net.duration, Who::Memory, &cause);
        }
        let ports = &mut outcome.ports;
        let control_sent = ports.iter().map(|p| p.control_sent).sum();
        let sent: u64 = ports.iter().map(|p| p.sent).sum();
        let mut series = Vec::new();
        let Recorded { queues, mut drops_at, .. } = *self.journal.recorded;
        for queue in queues {
            let port = usize::from(queue.port);
            series.extend(queue.close(net, self.id, queued[port], &mut ports[port]));
        }
        if !series.is_empty() {
            let kind = SeriesKind::Dropped { node: NodeId(self.id) };
            drops_at.resize(net.bins(), self.journal.drops.frames as f64);
            series.push(Series { kind, bin: net.record.bin, values: drops_at });
        }
        self.journal.books.iter().for_each(|books| series.extend(books.gauges.series(net)));
        let storms = |class| outcome.storms.iter().filter(move |s| usize::from(s.class) == class);
        let alone = |(class, ports): (usize, Vec<PortOutcome>)| SwitchOutcome {
            storms: storms(class).copied().collect(),
            ports,
            ..SwitchOutcome::default()
        };
        let classes = of_class.into_iter().enumerate().map(alone).collect();
        let mut gone = inside;
        gone.merge(&self.journal.drops);
        Books {
            series,
            made: Ledger::default(),
            gone,
            hops: (sent + control_sent, control_sent),
            events: self.journal.events.hash,
            moments: self.journal.samples,
            kept: Kept { events: self.journal.events.kept, ..Kept::default() },
            control: self.journal.books,
            failure: self.failure,
            stopped,
            decisions: self.journal.decisions,
            own: Own::Switch {
                outcome,
                classes,
                losses: self.journal.whose.losses,
                lost: self.journal.whose.lost,
                dropped: self.journal.whose.dropped,
                waits,
            },
        }
    }
}
