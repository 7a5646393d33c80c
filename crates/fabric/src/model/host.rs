//! A host: a class's sources give frames to its sending side ([`super::sender`]), from there to its link; what arrives is taken in
//! [`super::receiver`].
//!
//! All but its end of the link is one body for both ways to run ([`Sides`]). A host of several classes is one body as a whole ([`Host`]).

use super::agenda::{Direct, Key, Kind, Moment, NO_EVENT, Turn, rank};
use super::fault::Nic;
use super::frame::{Control, Data, Lane, Pause, Says, To};
use super::packet::{Outside, Packet};
use super::pause::{InXoff, Paused};
use super::port::{Transmitter, line};
use super::receiver::Receiver;
use super::record::RateSeries;
use super::records::Records;
use super::sender::{Journal, Sender};
use super::source::Source;
use super::turns::{Lanes, Offer};
use crate::check::{Books, HostBooks, Kept, Ledger, Own, SINK, Who, broken};
use crate::net::{Link, NEVER, Net, Ps};
use crate::spec::HostSpec;
use cnsim_scheme_api::network::ReflectorAction;
use cnsim_scheme_api::{Acks, Feedback, FlowId};

/// The event of deferred feedback comes after the arrival of a frame at the same moment.
const DEFERRED: u64 = 1;

/// The sides of a class at a host: what sends and what receives, without its end of the link.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sides<F: Packet> {
    /// Data and control frames put on the link.
    sent: (u64, u64),
    pub(crate) sources: Vec<Source>,
    pub(crate) sender: Sender<F>,
    pub(crate) receiver: Receiver,
    pub(crate) rates: RateSeries,
    /// Where its port has faults.
    pub(crate) nic: Option<Box<Nic>>,
}

impl<F: Packet> Sides<F> {
    /// Both sides of a class of host `id` at this link. Faults of the port belong to the first class.
    pub(crate) fn new(spec: &HostSpec, (id, class): (u32, u8), link: &Link, net: &Net) -> Self {
        let mut sender = Sender::new(spec, (id, class), link.rate, net);
        sender.plan_operations();
        let own = (sender.settings.scheme, sender.settings.plan);
        Self {
            sent: (0, 0),
            sources: (spec.sources.iter().enumerate())
                .filter(|(_, s)| s.class == class)
                .map(|(i, s)| Source::new(s, (id, i), link.tx, net))
                .collect::<Box<[_]>>()
                .into(),
            receiver: Receiver::new(net, (id, class), own, link.rate),
            sender,
            rates: RateSeries::new(net, id, class),
            nic: (class == 0).then(|| Nic::new(net, id)).flatten(),
        }
    }

    /// The first event to come that may let a frame go, or this one, which comes after all of them in its moment.
    #[inline(always)]
    pub(crate) fn next_due(&self, mut first: Key) -> Key {
        // From the last kind of a moment to the first.
        let mut due = |time, kind, index| {
            if time <= first.0 {
                first = (time, kind, index);
            }
        };
        // A loop would be unrolled for the one source that a host mostly has.
        if let [source] = &self.sources[..] {
            due(source.next, Kind::Slot, 0);
        } else {
            (0..self.sources.len()).rev().for_each(|i| due(self.sources[i].next, Kind::Slot, i as u64));
        }
        due(self.sender.timers.next, Kind::Timer, 0);
        due(self.sender.deferred.next(), Kind::Control, DEFERRED);
        first
    }

    /// Carries out such an event, or the end of a recorded bin, if it has not lost its cause.
    #[inline(never)]
    pub(crate) fn execute(&mut self, kind: Kind, index: u64, at: Moment<'_>) {
        match kind {
            Kind::Slot => self.slot(index as usize, at),
            Kind::Timer if self.sender.timers.next == at.now => self.sender.expire(at),
            Kind::Control if self.sender.deferred.next() == at.now => self.sender.hear_deferred(at),
            Kind::Tick => self.rates.take(at.net, |dst| self.sender.rate_to(dst)),
            _ => {}
        }
    }

    /// A slot of a source that has a frame begins, or finite flows do.
    fn slot(&mut self, i: usize, at: Moment<'_>) {
        let Some(source) = self.sources.get_mut(i) else { broken("a slot of no source") };
        if source.is_finite() {
            while let Some(flow) = source.begin(at.now) {
                self.sender.begin(flow, source.initial_rate, at);
            }
        } else {
            self.sender.accept(source.offer(), source.greedy, at);
        }
    }

    /// Faults of its port say what is due, or what follows from so many bytes of a class that `arrived`: some goes on the link at once.
    /// The sides of each class count its XOFFs.
    pub(crate) fn fail(
        of_classes: &mut [Self],
        arrived: Option<(u16, u8)>,
        at: Moment<'_>,
        mut send: impl FnMut(Pause),
    ) {
        let [Self { nic: Some(nic), sender, .. }, ..] = of_classes else { return };
        let (mut waits, mut xoffs) = (Vec::new(), Vec::new());
        nic.fail(arrived, at, |pause, at_once| {
            xoffs.extend(pause.off.then_some(pause.class));
            if at_once { send(pause) } else { waits.push(pause) }
        });
        waits.into_iter().for_each(|pause| sender.queue_pause(pause, at.net));
        for class in xoffs {
            of_classes[usize::from(class)].sender.journal.out.get_or_insert_default().pause.sent += 1;
        }
    }

    /// Carries out what reflectors ask for, for this flow: a message to its source takes a link, or none and is `direct`.
    pub(crate) fn reflect(&mut self, flow: FlowId, direct: &mut Vec<Direct>, at: Moment<'_>) {
        let src = at.net.hosts_of(flow).0;
        let (who, key) = (Who::Reflector(src), self.receiver.key(src, flow));
        let Self { sender, receiver, .. } = self;
        let about = receiver.marked_by(key);
        for action in &receiver.actions {
            match action {
                &ReflectorAction::Reply(feedback) => {
                    sender.journal.books.made(at.now, feedback.wire_length().get());
                    let says = Says::message(feedback, about);
                    let message = Control { flow, to: To::Host(src), says };
                    match message.direct((sender.settings.id, sender.settings.class), at) {
                        Some(message) => direct.push(message),
                        None => sender.queue_control(Lane::of_message(at.net.laws.control), &message, at),
                    }
                }
                ReflectorAction::Count(counter) => sender.count(who, counter, at.now),
                ReflectorAction::StartTimer(slot, after) => {
                    receiver.alarms.start(key, slot.0, at.now.saturating_add((*after).into()));
                }
                ReflectorAction::StopTimer(slot) => receiver.alarms.stop(key, slot.0),
                ReflectorAction::Gauge(gauge, value) => sender.show(who, src | SINK, gauge, *value, at),
                ReflectorAction::Fail(cause) => sender.fail(who, cause, at.now),
            }
        }
        receiver.actions.clear();
    }

    /// A data frame has arrived. Its acknowledgement takes its telemetry along; without one that is over.
    pub(crate) fn take(
        &mut self,
        (data, len, class): (&Data, u16, u8),
        records: &mut Records,
        direct: &mut Vec<Direct>,
        at: Moment<'_>,
    ) {
        let follows = self.receiver.take((|| *data, len), at, &mut self.sender.journal.failure);
        self.receiver.traced((class, len, data.born, at.now), records.traced(data.record));
        if !follows || !self.answer(data, records, direct, at) {
            records.close(data.record);
        }
    }

    /// A message or a probe has arrived.
    #[inline(always)]
    pub(crate) fn hear(
        &mut self,
        (flow, says): (FlowId, Says),
        records: &mut Records,
        direct: &mut Vec<Direct>,
        at: Moment<'_>,
    ) {
        match says {
            // It opens a connection to this host.
            Says::Feedback(Feedback::Acknowledgement { gap: true, sent_at, .. }, _)
                if at.net.hosts_of(flow).1 == self.sender.settings.id =>
            {
                self.acknowledge(&Control::opening(flow, at.net.hosts_of(flow).0, Ps(sent_at)), direct, at);
            }
            Says::Feedback(feedback, about) => self.sender.hear((flow, about), feedback, records, at),
            Says::Probe(probe) => {
                self.receiver.take_probe(flow, &probe, at);
                self.reflect(flow, direct, at);
            }
        }
    }

    /// A data frame has arrived, and something follows: true if that is an acknowledgement that takes its telemetry along.
    #[inline(always)]
    pub(crate) fn answer(
        &mut self,
        data: &Data,
        records: &mut Records,
        direct: &mut Vec<Direct>,
        at: Moment<'_>,
    ) -> bool {
        if !self.receiver.actions.is_empty() {
            self.reflect(data.flow(at.net), direct, at);
        }
        while let Some(flow) = self.receiver.whole.pop() {
            self.sender.received(flow, at);
        }
        self.reply(records, direct, at)
            && (data.record == 0 || self.sender.settings.plan.acks == Acks::Telemetry)
    }

    /// Sends the acknowledgement that is to be sent, if there is one, with a record of what it reports.
    #[inline(always)]
    fn reply(&mut self, records: &mut Records, direct: &mut Vec<Direct>, at: Moment<'_>) -> bool {
        let Some((mut reply, report)) = self.receiver.reply() else { return false };
        if let Says::Feedback(Feedback::Acknowledgement { acked, record, .. }, by) = &mut reply.says {
            // In a frame there is no room for the port that marked.
            let tells = *by > 0 && at.net.record.trips && at.net.direct(at.now).is_none();
            if *record > 0 || tells || !report.is_empty() {
                *record = records.write(*record, report);
                *records.beside(*record) = at.net.flows.frames_below(reply.flow, *acked);
            }
            if tells {
                records.tracing(*record).marked_by = *by;
            }
        }
        self.acknowledge(&reply, direct, at);
        true
    }

    /// The next timer of the receiving side expires now.
    pub(crate) fn alarm(&mut self, records: &mut Records, direct: &mut Vec<Direct>, at: Moment<'_>) {
        if let Some(flow) = self.receiver.expire(at)
            && !self.reply(records, direct, at)
        {
            self.reflect(flow, direct, at);
        }
    }

    /// Sends an acknowledgement: it takes a link, or none and is `direct`.
    #[inline(always)]
    fn acknowledge(&mut self, message: &Control, direct: &mut Vec<Direct>, at: Moment<'_>) {
        let settings = &self.sender.settings;
        match message.direct((settings.id, settings.class), at) {
            Some(message) => direct.push(message),
            None => self.sender.queue_acknowledgement(message, at),
        }
    }

    /// The last bit of a frame leaves.
    #[inline(always)]
    pub(crate) fn leave(&mut self, frame: &F, link: &Link, out: &mut impl Outside<F>, at: Moment<'_>) {
        frame.count(&mut self.sent);
        out.send_first(link, frame, &mut self.sender.bodies, at);
    }

    /// Data and control frames put on the link.
    pub(crate) fn hops(&self) -> u64 {
        self.sent.0 + self.sent.1
    }

    /// Ends the run: hands in the books. A frame is in transmission (`sending`), and data was in XOFF at these times.
    pub(crate) fn close(self, sending: Option<&F>, paused: InXoff, net: &Net) -> Books {
        let Self { sent: (sent, control_sent), mut sender, rates, nic, mut receiver, .. } = self;
        let out_of_order = receiver.out_of_order();
        let Receiver { mut deliveries, trips, .. } = receiver;
        let (id, class) = (sender.settings.id, sender.settings.class);
        let mut gone = Ledger::default();
        sender.frames().chain(sending).for_each(|frame| frame.enter(&mut gone));
        let waiting = gone.frames;
        gone.merge(&deliveries.got);
        gone.merge(&deliveries.unwanted);
        let rates: Vec<_> = rates.close(net, id, |dst| sender.rate_to(dst)).collect();
        let backlog = sender.queues.backlog.len() as u64;
        let for_acks = sender.pairs.as_ref().map_or_else(Vec::new, |pairs| pairs.waiting(net));
        let Journal { out, books: control, events, acknowledged, failure, .. } = *sender.journal;
        let mut out = *out.unwrap_or_default();
        // Frames that were made were generated and found room.
        out.generated = sender.made.frames + out.source_discards + backlog;
        (out.sent, out.transport.waiting) = (sent, for_acks);
        (out.out_of_order, out.held_max) = out_of_order;
        (out.pause.time, out.pause.by_part) = (paused.total, paused.parts);
        let (mut series, received_from) = deliveries.close(&mut out, id, net);
        out.transfers.completions.iter_mut().for_each(|flow| flow.class = class);
        out.transfers.missing.iter_mut().for_each(|flow| flow.class = class);
        series.extend(rates);
        series.extend(control.gauges.series(net));
        Books {
            series,
            made: sender.made,
            gone,
            hops: (sent + control_sent, control_sent),
            events: events.hash,
            moments: deliveries.hash,
            kept: Kept { events: events.kept, frames: deliveries.kept(), ..Kept::default() },
            control: vec![control],
            failure,
            stopped: vec![paused.spans],
            decisions: nic.and_then(|nic| nic.decisions),
            own: Own::Host(HostBooks {
                outcome: Box::new(out),
                classes: Vec::new(),
                waiting,
                last_delivery: deliveries.last,
                received_from,
                acknowledged,
                trips,
                told: sender.accounts.take().map(|accounts| accounts.close()).unwrap_or_default(),
                operations: sender.program.map(|program| program.close()).unwrap_or_default(),
            }),
        }
    }
}

/// A host: an event at a time.
#[derive(Debug)]
pub(crate) struct Host<F: Packet> {
    pub(crate) port: Transmitter<F>,
    lanes: Lanes,
    /// By class.
    pub(crate) sides: Vec<Sides<F>>,
    /// By class, the rank of its next event.
    due: Vec<u128>,
    /// No class has operations that those of another may wait for.
    alone: bool,
}

/// Numbers of a class's events of one kind and moment begin with the class.
fn number_in(class: usize, index: u64) -> u64 {
    (class as u64) << 32 | index
}

impl<F: Packet> Host<F> {
    /// Host number `turn.node`, with its first event planned.
    pub(crate) fn new(spec: &HostSpec, turn: &mut Turn<'_, impl Outside<F>>) -> Self {
        let (net, id) = (turn.net, turn.node);
        let link = line(net, id);
        let classes = 0..net.classes.len() as u8;
        let sides: Vec<_> = classes.map(|class| Sides::<F>::new(spec, (id, class), &link, net)).collect();
        let alone = sides.len() == 1 || sides.iter().all(|sides| sides.sender.program.is_none());
        let port = Transmitter::new(0, Some(link), vec![Paused::default(); sides.len()]);
        let due = vec![rank(NO_EVENT); sides.len()];
        let mut host = Self { port, lanes: Lanes::of_host(net), sides, due, alone };
        host.settle(u8::MAX, turn);
        host
    }

    /// Carries out an event of its own.
    #[inline]
    pub(crate) fn execute(&mut self, (_, kind, number): Key, turn: &mut Turn<'_, impl Outside<F>>) {
        let (class, index) = ((number >> 32) as usize, number & u64::from(u32::MAX));
        let mut touched = 1 << class;
        match kind {
            Kind::Change => self.fail(None, turn),
            // The sides have no part in it.
            Kind::End => return self.end(turn),
            Kind::Start => touched = self.start(turn),
            Kind::Reflector => self.alarm(class, turn),
            kind => self.sides[class].execute(kind, index, turn.moment()),
        }
        if touched > 0 {
            self.settle(touched, turn);
        }
    }

    /// The next timer of a class's receiving side expires, if it has not been stopped.
    fn alarm(&mut self, class: usize, turn: &mut Turn<'_, impl Outside<F>>) {
        let (sides, at) = (&mut self.sides[class], turn.moment());
        if sides.receiver.alarms.next == at.now {
            let (records, direct) = turn.out.beside();
            sides.alarm(records, direct, at);
        }
    }

    /// Plans what follows from the state of a class.
    fn plan(&mut self, class: usize) {
        let sides = &self.sides[class];
        let next = sides.next_due((sides.rates.next, Kind::Tick, 0));
        let fault = sides.nic.as_ref().map_or(NEVER, |nic| nic.next());
        let next = next.min((sides.receiver.alarms.next, Kind::Reflector, 0)).min((fault, Kind::Change, 0));
        self.due[class] = rank((next.0, next.1, number_in(class, next.2)));
    }

    /// Settles the senders of these classes, a bit for each, and lets the transmitter look for a frame if it has to.
    #[inline]
    pub(crate) fn settle(&mut self, mut classes: u8, turn: &mut Turn<'_, impl Outside<F>>) {
        while !self.alone
            && let Some((_, n)) = self.sides.iter_mut().find_map(|s| s.sender.tells(true))
        {
            self.sides.iter_mut().for_each(|sides| sides.sender.advise(n, turn.now));
            classes = u8::MAX;
        }
        for class in (0..self.sides.len()).filter(|class| classes >> class & 1 > 0) {
            self.plan(class);
            if std::mem::take(&mut self.sides[class].sender.must_look) {
                self.port.plan_start(turn);
            }
        }
        turn.agenda.own = self.due.iter().copied().min().unwrap_or(rank(NO_EVENT));
    }

    /// Feedback will be here without a link.
    pub(crate) fn expect(&mut self, direct: &Direct, turn: &mut Turn<'_, impl Outside<F>>) {
        let mut direct = *direct;
        let sender = &mut self.sides[usize::from(direct.class)].sender;
        sender.adopt(&mut direct.feedback, turn.out.beside().0);
        sender.expect(&direct);
        self.settle(1 << direct.class, turn);
    }

    /// Something has happened at another NIC of its machine.
    pub(crate) fn advise(&mut self, n: u32, turn: &mut Turn<'_, impl Outside<F>>) {
        self.sides.iter_mut().for_each(|sides| sides.sender.advise(n, turn.now));
        self.settle(u8::MAX, turn);
    }

    /// When something stopped the run here, ps.
    pub(crate) fn failed_at(&self) -> Option<Ps> {
        self.sides.iter().filter_map(|sides| sides.sender.journal.failure.at()).min()
    }

    /// Faults say XOFF or XON, if the port has some; so many bytes of a class may have `arrived`.
    pub(crate) fn fail(&mut self, arrived: Option<(u16, u8)>, turn: &mut Turn<'_, impl Outside<F>>) {
        if let (Some(_), Some(link)) = (&self.sides[0].nic, self.port.link) {
            let (net, at) = (turn.net, turn.moment());
            let send = |pause| turn.out.send(&link, &F::of_pause(pause, net), true, at);
            Sides::fail(&mut self.sides, arrived, at, send);
            self.settle(1, turn);
        }
    }

    /// The idle transmitter looks for a frame: a bit for each class from whose turn something may follow.
    fn start(&mut self, turn: &mut Turn<'_, impl Outside<F>>) -> u8 {
        let (Self { port, lanes, sides, alone, .. }, at, mut asked) = (self, turn.moment(), 0);
        if !sides.iter().any(|sides| sides.sender.waits()) {
            lanes.pass_all(|class| port.is_stopped(Lane::Data(class)));
            return 0;
        }
        let next = lanes.next(|lane, most| {
            if lane == Lane::Pause || port.is_stopped(lane) {
                return Offer::Stopped;
            }
            if most <= 0 {
                return Offer::TooLong;
            }
            let mut own = 0..sides.len() as u8;
            if let Lane::Data(class) = lane {
                if !sides[usize::from(class)].sender.waits() {
                    return Offer::Stopped;
                }
                own = class..class + 1;
                asked |= 1 << class;
            }
            let mut taken = own.filter_map(|class| {
                let frame = sides[usize::from(class)].sender.next_of(lane, at, turn.out.beside().0)?;
                Some(frame.of_class(class, at.net))
            });
            taken.next().map_or(Offer::Stopped, |frame| Offer::Frame(frame, frame.bytes(), false))
        });
        let Some(frame) = next else { return asked };
        port.start(frame, (frame.lane(), frame.bytes()), turn);
        // Of a plain class nothing else follows from a frame that goes.
        let sender = &mut sides[usize::from(frame.class())].sender;
        let in_turn = matches!(frame.lane(), Lane::Data(class) if asked == 1 << class);
        if *alone && in_turn && sender.is_plain() && sender.pairs.is_none() {
            (asked, sender.must_look) = (0, false);
        }
        asked
    }

    /// The last bit of a frame leaves.
    fn end(&mut self, turn: &mut Turn<'_, impl Outside<F>>) {
        let (frame, link) = self.port.end(turn);
        let at = turn.moment();
        self.sides[usize::from(frame.class())].leave(&frame, &link, turn.out, at);
    }

    /// Ends the run: hands in the books of all its classes.
    pub(crate) fn close(self, net: &Net) -> Books {
        let Self { port: Transmitter { sends, paused, .. }, sides, .. } = self;
        let of = |(class, sides): (usize, Sides<F>)| {
            let sending = sends.as_ref().filter(|frame| usize::from(frame.class()) == class);
            sides.close(sending, Paused::close(&paused[class..=class], net), net)
        };
        let books = sides.into_iter().enumerate().map(of).reduce(Books::join);
        books.unwrap_or_else(|| broken("a host without a class"))
    }
}
