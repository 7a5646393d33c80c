//! A host: its sources' frames wait in queues, meet their limiters, and take turns at the link.
//!
//! Limiters let frames go in [`super::pacing`]. What arrives is taken in [`super::sink`]; what messages do is in [`super::steering`].

use super::agenda::{Event, Kind, NEVER, Timers, Turn};
use super::frame::{Body, Data, Frame, Lane, MANAGED, Says};
use super::limiter::{Limiters, key_of};
use super::port::Transmitter;
use super::record::Samples;
use super::sink::Sink;
use super::source::{Offer, Source};
use super::steering::Deferred;
use super::transfers::{FlowQueue, Next, Transfers};
use super::voq::Voqs;
use crate::check::{ControlBooks, Failure, Gauges, Hash, HostBooks, Ledger, Who};
use crate::flows::number;
use crate::net::Net;
use crate::outcome::{HostOutcome, Series, SeriesKind};
use crate::spec::{HostQueues, HostSpec};
use cnsim_scheme_api::{NodeId, Plan, Rate, Scope, Tag, Time};
use std::collections::VecDeque;

/// Frames that a greedy source keeps waiting at most: one to send and one to follow.
const GREEDY: usize = 2;

/// Where a frame of a source waits: with others of its class, of its destination, or with its limiter at this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Fifo,
    Voq,
    Limiter(usize),
}

/// The limiter that limits a finite flow now: one of the first class.
fn limiter_of(flow: &FlowQueue, keys: Scope, limiters: &Limiters) -> Option<usize> {
    if Lane::Data(flow.class) == MANAGED { limiters.limiting(key_of(keys, flow.dst)) } else { None }
}

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(super) id: u32,
    /// Its settings; the sources stand in `sources`.
    pub(super) spec: HostSpec,
    /// What its scheme says of itself.
    pub(super) plan: Plan,
    pub(super) line_rate: Rate,
    pub(super) port: Transmitter,
    sources: Vec<Source>,
    /// Finite flows under way.
    pub(super) transfers: Transfers,
    /// Frames generated so far.
    generated: u32,
    /// Control that goes first, in XOFF too.
    pub(super) control: VecDeque<Frame>,
    /// Probes of the data class: ahead of the data, stopped by PAUSE.
    pub(super) probes: VecDeque<Frame>,
    /// Application queue and NIC buffer of the first class: data, and control that travels among it.
    pub(super) fifo: VecDeque<Frame>,
    /// FIFOs of the later classes, as `fifo` is the first one's.
    others: Vec<VecDeque<Frame>>,
    /// An application FIFO ahead of limiters and FIFO, of the first class, where the host has one.
    ahead: VecDeque<Frame>,
    /// In place of the FIFO for data of the first class, a queue for each destination.
    pub(super) voqs: Option<Voqs<Frame>>,
    pub(super) limiters: Limiters,
    /// Who goes next at the link: the FIFO (0) or the limiter at a place (place + 1).
    next_place: usize,
    /// Limiters at the source that wait for room in the FIFO, in order.
    pub(super) blocked: VecDeque<usize>,
    pub(super) timers: Timers,
    /// Of its reflectors.
    pub(super) alarms: Timers,
    pub(super) deferred: Deferred,
    /// Feedback messages that have arrived.
    pub(super) messages: u64,
    pub(super) sink: Sink,
    made: Ledger,
    pub(super) out: HostOutcome,
    pub(super) books: ControlBooks,
    pub(super) events: Hash,
    control_sent: u64,
    /// Limiter rates recorded: by destination.
    rates: Vec<(u32, Samples)>,
    /// Why the run cannot go on.
    pub(crate) failure: Failure,
}

impl Host {
    /// Host number `turn.node`, with its first events planned.
    pub(crate) fn new(spec: &HostSpec, turn: &mut Turn<'_>) -> Option<Self> {
        let (net, id) = (turn.net, turn.node);
        let link = net.links[net.ports[id as usize] as usize]?;
        let sources: Vec<Source> =
            (spec.sources.iter().enumerate()).map(|(i, s)| Source::new(s, (id, i), link.tx, net)).collect();
        for (i, source) in sources.iter().enumerate() {
            turn.plan(source.next, Kind::Slot, i as u64);
        }
        let mine = net.record.rates.iter().filter(|f| f.0.0 == id);
        let rates: Vec<_> = mine.map(|f| (f.1.0, Samples::default())).collect();
        if !rates.is_empty() && net.record.bin > Time::ZERO {
            turn.plan(net.record.bin.as_ps(), Kind::Tick, 0);
        }
        let plan = spec.scheme.map(|s| net.schemes[s].plan).unwrap_or_default();
        Some(Self {
            id,
            spec: HostSpec { sources: Vec::new(), ..spec.clone() },
            plan,
            line_rate: link.rate,
            port: Transmitter::new(0, Some(link), net.classes.len()),
            sources,
            transfers: Transfers::new(net.classes.len()),
            generated: 0,
            control: VecDeque::new(),
            probes: VecDeque::new(),
            fifo: VecDeque::new(),
            ahead: VecDeque::new(),
            others: vec![VecDeque::new(); net.classes.len() - 1],
            voqs: (spec.queues == HostQueues::PerDestination).then(|| Voqs::new(net.hosts)),
            limiters: Limiters::default(),
            next_place: 0,
            blocked: VecDeque::new(),
            timers: Timers::new(Kind::Timer),
            alarms: Timers::new(Kind::Reflector),
            deferred: Deferred::default(),
            messages: 0,
            sink: Sink::new(net, id, spec.scheme, plan, link.rate),
            made: Ledger::default(),
            out: HostOutcome::default(),
            books: ControlBooks::new(net, spec.scheme, Gauges::of_host(net, id, plan.limiter_scope)),
            events: Hash::default(),
            control_sent: 0,
            rates,
            failure: Failure::default(),
        })
    }

    /// Carries out an event of its own.
    pub(crate) fn execute(&mut self, event: Event, turn: &mut Turn<'_>) {
        match event.kind {
            Kind::End => self.end(turn),
            Kind::Start => self.start(turn),
            Kind::Slot => self.slot(event.index as usize, turn),
            Kind::Reflector => self.reflect_by_timer(event.index, turn),
            Kind::Timer => self.expire(event.index, turn),
            Kind::Control => self.hear_deferred(turn),
            Kind::Tick => {
                turn.plan(turn.now + turn.net.record.bin.as_ps(), Kind::Tick, 0);
                let now: Vec<f64> = self.rates.iter().map(|r| self.rate_to(r.0)).collect();
                self.rates.iter_mut().zip(now).for_each(|(r, rate)| r.1.take(rate));
            }
            Kind::Change | Kind::Pause | Kind::Data => {}
        }
    }

    /// A frame has arrived.
    pub(crate) fn receive(&mut self, frame: Frame, turn: &mut Turn<'_>) {
        match frame.body {
            Body::Pause(_) if self.spec.faults.ignores_pause => {}
            Body::Pause(pause) => {
                self.events.add(turn.now, pause.code());
                self.out.pauses += u64::from(pause.off);
                self.port.pause(pause, turn);
            }
            Body::Data(data) => match self.sink.take(&data, frame.len, turn) {
                Ok(asked) => self.reflect(data.flow(turn.net.hosts), asked, turn),
                Err(cause) => self.fail(Who::Receiver, &cause, turn.now),
            },
            Body::Control(control) => match control.says {
                Says::Feedback(feedback) => self.hear(control.flow, feedback, turn),
                Says::Probe(probe) => {
                    let asked = self.sink.take_probe(control.flow, &probe, turn);
                    self.reflect(control.flow, asked, turn);
                }
            },
        }
    }

    /// A slot of a source begins, or finite flows do.
    fn slot(&mut self, i: usize, turn: &mut Turn<'_>) {
        let Some(source) = self.sources.get_mut(i) else { return };
        let (greedy, finite) = (source.is_greedy(), source.is_finite());
        let offer = if finite { None } else { source.slot() };
        while let Some(flow) = self.sources.get_mut(i).and_then(|source| source.begin(turn.now)) {
            if Lane::Data(flow.class) == MANAGED {
                self.limiter_for(flow.dst, turn);
            }
            self.join(flow, turn);
            self.port.look(turn);
        }
        turn.plan(self.sources.get(i).map_or(NEVER, |source| source.next), Kind::Slot, i as u64);
        if let Some(offer) = offer {
            self.accept(offer, greedy, turn);
        }
    }

    /// A source offers a frame. Where there is no room a greedy one waits, and another's frame is discarded.
    fn accept(&mut self, offer: Offer, greedy: bool, turn: &mut Turn<'_>) {
        let managed = Lane::Data(offer.class) == MANAGED;
        if managed && !greedy && self.spec.backlog_frames > 0 && self.voqs.is_none() {
            return self.queue_ahead(&offer, turn);
        }
        let limiter = if managed { self.limiter_for(offer.dst, turn) } else { None };
        let place = match self.holding(limiter) {
            _ if managed && self.voqs.is_some() => Place::Voq,
            Some(at) => Place::Limiter(at),
            None => Place::Fifo,
        };
        let (room, enough) = match place {
            Place::Limiter(_) => (self.spec.limiter_frames as usize, usize::MAX),
            Place::Fifo | Place::Voq => (self.spec.fifo_frames as usize, GREEDY),
        };
        let (waiting, in_all) = self.waiting(place, &offer);
        if greedy && waiting >= room.min(enough) {
            return;
        }
        let frame = self.make(&offer, None, turn.now);
        if in_all >= room {
            self.out.source_discards += 1;
            return;
        }
        self.made.enter_all([&frame]);
        let there = match place {
            Place::Fifo => self.fifo_of(offer.class).is_some(),
            Place::Voq => self.voqs.is_some(),
            Place::Limiter(at) => self.limiters.at(at).is_some(),
        };
        debug_assert!(there, "a frame has no place in {place:?}");
        match place {
            Place::Fifo => self.fifo_of(offer.class).into_iter().for_each(|fifo| fifo.push_back(frame)),
            Place::Voq => self.voqs.iter_mut().for_each(|voqs| voqs.push(offer.dst, frame)),
            Place::Limiter(at) => self.limiters.at_mut(at).into_iter().for_each(|l| l.push(frame)),
        }
        if let (Place::Limiter(_) | Place::Voq, Some(at)) = (place, limiter) {
            self.let_go(at, turn);
        }
        // A virtual queue whose limiter is not engaged may send even while that limiter's last gap runs.
        if !matches!(place, Place::Limiter(_)) {
            self.port.look(turn);
        }
    }

    /// Makes the frame of an offer, or of a finite flow: it is generated even where it finds no room.
    fn make(&mut self, offer: &Offer, flow: Option<u16>, now: u64) -> Frame {
        let (src, dst, finite) = (self.id, offer.dst, flow.is_some());
        let number = number(self.generated, flow);
        self.generated = self.generated.wrapping_add(1);
        let data =
            Data { src, dst, number, finite, born: now, tag: Tag::None, marked: false, counted: false };
        Frame::data(offer.class, offer.len, data)
    }

    /// A frame joins the application FIFO.
    fn queue_ahead(&mut self, offer: &Offer, turn: &mut Turn<'_>) {
        let frame = self.make(offer, None, turn.now);
        if self.ahead.len() >= self.spec.backlog_frames as usize {
            self.out.source_discards += 1;
            return;
        }
        self.ahead.push_back(frame);
        self.advance(turn);
    }

    /// Frames at the head of the application FIFO go on. One that is held back goes to its limiter; where that has no room it is
    /// discarded. Any other goes to the FIFO, and waits while that is full.
    pub(super) fn advance(&mut self, turn: &mut Turn<'_>) {
        while let Some(dst) = self.ahead.front().and_then(Frame::as_data).map(|d| d.dst) {
            let limiter = self.limiter_for(dst, turn);
            let holding = self.holding(limiter);
            if holding.is_none() && self.fifo_is_full() {
                return;
            }
            let Some(frame) = self.ahead.pop_front() else { return };
            let queued = holding.and_then(|at| self.limiters.at(at)).map_or(0, |l| l.queue().len());
            if holding.is_some() && queued >= self.spec.limiter_frames as usize {
                self.out.source_discards += 1;
                continue;
            }
            self.made.enter_all([&frame]);
            match holding {
                Some(at) => {
                    self.limiters.at_mut(at).into_iter().for_each(|l| l.push(frame));
                    self.let_go(at, turn);
                }
                None => {
                    self.fifo.push_back(frame);
                    self.port.look(turn);
                }
            }
        }
    }

    /// Frames that wait there, of the offer's destination and of all.
    fn waiting(&self, place: Place, offer: &Offer) -> (usize, usize) {
        let one = |n: usize| (n, n);
        match (place, &self.voqs) {
            (Place::Voq, Some(voqs)) => (voqs.waiting(offer.dst), voqs.count()),
            (Place::Limiter(at), _) => one(self.limiters.at(at).map_or(0, |l| l.queue().len())),
            _ if offer.class == 0 => one(self.fifo.len()),
            _ => one(self.others.get(usize::from(offer.class) - 1).map_or(0, VecDeque::len)),
        }
    }

    /// The FIFO of a class.
    fn fifo_of(&mut self, class: u8) -> Option<&mut VecDeque<Frame>> {
        match usize::from(class).checked_sub(1) {
            None => Some(&mut self.fifo),
            Some(at) => self.others.get_mut(at),
        }
    }

    /// The idle transmitter looks for a frame: control, then data by class, as PAUSE allows. In the first class probes go first.
    fn start(&mut self, turn: &mut Turn<'_>) {
        if self.port.may_start(Lane::Control)
            && let Some(frame) = self.control.pop_front()
        {
            return self.port.start(frame, turn);
        }
        let mut next = None;
        if self.port.may_start(MANAGED) {
            next = self.probes.pop_front().or_else(|| self.next_data(0, turn));
        }
        if let Some(frame) = &mut next {
            self.set_out(frame, turn);
        }
        for class in 1..=self.others.len() as u8 {
            if next.is_none() && self.port.may_start(Lane::Data(class)) {
                next = self.next_data(class, turn);
            }
        }
        if let Some(frame) = next {
            self.port.start(frame, turn);
        }
    }

    /// The data of a class that goes next: frames that wait in queues and finite flows take turns.
    fn next_data(&mut self, class: u8, turn: &mut Turn<'_>) -> Option<Frame> {
        if self.transfers.flows_next {
            self.next_of_flows(class, turn).or_else(|| self.next_queued(class, turn))
        } else {
            self.next_queued(class, turn).or_else(|| self.next_of_flows(class, turn))
        }
    }

    /// The frame of the finite flow whose turn it is.
    fn next_of_flows(&mut self, class: u8, turn: &mut Turn<'_>) -> Option<Frame> {
        loop {
            let (keys, limiters) = (self.plan.limiter_scope, &self.limiters);
            let limiter = |flow: &FlowQueue| limiter_of(flow, keys, limiters);
            let may_go = |at| limiters.at(at).is_some_and(|l| l.eligible <= turn.now);
            match self.transfers.next(class, limiter, may_go) {
                Next::Nobody => return None,
                Next::Held(at) => self.let_go(at, turn),
                Next::Goes { flow, limiter, counted } => {
                    self.transfers.flows_next = false;
                    let offer = Offer { dst: flow.dst, len: flow.next_len(), class };
                    let mut frame = self.make(&offer, Some(flow.number), turn.now);
                    self.made.enter_all([&frame]);
                    if let Body::Data(data) = &mut frame.body {
                        data.counted = counted;
                    }
                    if let Some(limiter) = limiter.and_then(|at| self.limiters.at_mut(at)) {
                        limiter.pace(turn.now, frame.len);
                    }
                    flow.behind().into_iter().for_each(|rest| self.join(rest, turn));
                    limiter.into_iter().for_each(|at| self.let_go(at, turn));
                    return Some(frame);
                }
            }
        }
    }

    /// A finite flow that begins or has sent a frame joins those that take turns, or those that its limiter holds back.
    fn join(&mut self, flow: FlowQueue, turn: &mut Turn<'_>) {
        let limiter = limiter_of(&flow, self.plan.limiter_scope, &self.limiters);
        self.transfers.join(flow, limiter);
        limiter.into_iter().for_each(|at| self.let_go(at, turn));
    }

    /// Of a class, the frame that waits in a queue and goes next.
    fn next_queued(&mut self, class: u8, turn: &mut Turn<'_>) -> Option<Frame> {
        let frame = match usize::from(class).checked_sub(1) {
            None => self.next_managed(turn),
            Some(at) => self.others.get_mut(at).and_then(VecDeque::pop_front),
        };
        self.transfers.flows_next |= frame.is_some();
        frame
    }

    /// The same of the first class.
    fn next_managed(&mut self, turn: &mut Turn<'_>) -> Option<Frame> {
        if self.voqs.is_some() {
            return self.fifo.pop_front().or_else(|| self.next_of_voqs(turn));
        }
        // Where the FIFO is alone, no turn is taken.
        if self.limited_at_source() || self.limiters.is_empty() {
            let frame = self.fifo.pop_front()?;
            self.use_room(turn);
            self.advance(turn);
            return Some(frame);
        }
        self.next_in_turn(turn)
    }

    /// Round robin over the FIFO and the limiters whose first frame may go.
    fn next_in_turn(&mut self, turn: &mut Turn<'_>) -> Option<Frame> {
        let n = self.limiters.places() + 1;
        let may_go = |place: usize| match place.checked_sub(1) {
            None => !self.fifo.is_empty(),
            Some(at) => self.limiters.at(at).is_some_and(|l| l.may_go(turn.now)),
        };
        let place = (self.next_place..n).chain(0..self.next_place).find(|&place| may_go(place))?;
        self.next_place = (place + 1) % n;
        let Some(at) = place.checked_sub(1) else {
            let frame = self.fifo.pop_front();
            self.advance(turn);
            return frame;
        };
        let frame = self.limiters.at_mut(at)?.pop(turn.now)?;
        self.let_go(at, turn);
        Some(frame)
    }

    /// Round robin over the virtual output queues whose limiter lets a frame go.
    fn next_of_voqs(&mut self, turn: &mut Turn<'_>) -> Option<Frame> {
        let keys = self.plan.limiter_scope;
        let pacing = |limiters: &Limiters, dst: u32| {
            let at = limiters.find(key_of(keys, dst))?;
            limiters.at(at).filter(|l| l.state.engaged).map(|l| (at, l.eligible))
        };
        let limiters = &self.limiters;
        let may_send = |dst| pacing(limiters, dst).is_none_or(|(_, eligible)| eligible <= turn.now);
        let frame = self.voqs.as_mut()?.pop(may_send)?;
        if let Some((at, _)) = frame.as_data().and_then(|d| pacing(&self.limiters, d.dst)) {
            self.limiters.at_mut(at).into_iter().for_each(|l| l.pace(turn.now, frame.len));
            self.let_go(at, turn);
        }
        Some(frame)
    }

    /// The last bit of a frame leaves.
    fn end(&mut self, turn: &mut Turn<'_>) {
        let Some((link, frame)) = self.port.end(turn) else { return };
        match frame.as_data() {
            Some(_) => self.out.sent += 1,
            None => self.control_sent += 1,
        }
        turn.send(&link, frame);
    }

    /// Sends a control frame of this host on its way, at priority or among the data.
    pub(super) fn queue_control(&mut self, frame: Frame, turn: &mut Turn<'_>) {
        match (frame.lane, &frame.body) {
            (MANAGED, Body::Control(c)) if matches!(c.says, Says::Probe(_)) => self.probes.push_back(frame),
            (Lane::Data(class), _) => self.fifo_of(class).into_iter().for_each(|fifo| fifo.push_back(frame)),
            (Lane::Control, _) => self.control.push_back(frame),
            (Lane::Pause, _) => debug_assert!(false, "a host sends no PAUSE"),
        }
        self.port.look(turn);
    }

    /// One of the scheme's objects here counts.
    pub(super) fn count(&mut self, who: Who, counter: &str, now: u64) {
        if let Err(cause) = self.books.counters.add(counter) {
            self.fail(who, &cause, now);
        }
    }

    /// One of them shows a value.
    pub(super) fn show(&mut self, (who, place): (Who, u32), (gauge, value): (&str, f64), turn: &Turn<'_>) {
        if let Err(cause) = self.books.show(turn.net, turn.now, place, gauge, value) {
            self.fail(who, &cause, turn.now);
        }
    }

    /// One of them stops the run.
    pub(super) fn fail(&mut self, who: Who, cause: &str, now: u64) {
        self.failure.note(now, who, cause);
    }

    /// The rate at which frames to `dst` may go.
    fn rate_to(&self, dst: u32) -> f64 {
        let limiter = self.limiters.find(self.key(dst)).and_then(|at| self.limiters.at(at));
        limiter.filter(|l| l.state.engaged).map_or(self.line_rate, |l| l.state.rate).bps()
    }

    /// Data and control frames that it has put on its link.
    pub(crate) fn hops(&self) -> u64 {
        self.out.sent + self.control_sent
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> HostBooks {
        let mut inside = Ledger::default();
        let queued = self
            .fifo
            .iter()
            .chain(self.others.iter().flatten())
            .chain(self.limiters.frames())
            .chain(self.port.sending());
        inside.enter_all(queued.chain(self.voqs.iter().flat_map(Voqs::frames)));
        let mut out = std::mem::take(&mut self.out);
        // What was made was generated and found room.
        out.generated = self.made.frames + out.source_discards + self.ahead.len() as u64;
        out.paused = Time::from_ps(self.port.paused(net.duration));
        let mut series = self.sink.deliveries.close(&mut out, self.id, net.record.bin);
        for (dst, mut samples) in std::mem::take(&mut self.rates) {
            let kind = SeriesKind::LimiterRate { src: NodeId(self.id), dst: NodeId(dst) };
            let values = samples.close(net, self.rate_to(dst));
            series.push(Series { kind, bin: net.record.bin, values });
        }
        series.extend(self.books.gauges.host_series(net, self.id, self.plan.limiter_scope));
        let deliveries = self.sink.deliveries;
        HostBooks {
            hops: (out.sent + self.control_sent, self.control_sent),
            outcome: out,
            series,
            made: self.made,
            got: deliveries.got,
            inside,
            last_delivery: deliveries.last,
            events: self.events,
            frames: deliveries.hash,
            received_from: deliveries.by_source(),
            control: self.books,
            failure: self.failure,
        }
    }
}
