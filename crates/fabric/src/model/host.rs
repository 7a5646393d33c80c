//! A host: its sources' frames go to its sending side ([`super::sender`]), from there to its link; what arrives is taken in
//! [`super::sink`].

use super::agenda::{Direct, Event, Kind, Turn};
use super::frame::{Body, Control, Frame, Lane, Says, To, hosts_of};
use super::port::{Lanes, Transmitter};
use super::record::{RateSeries, close_host};
use super::sender::Sender;
use super::sink::Sink;
use super::source::Source;
use crate::check::{Failure, HostBooks, Who, broken};
use crate::net::Net;
use crate::spec::HostSpec;
use crate::timers::Timers;
use cnsim_scheme_api::network::ReflectorAction;
use cnsim_scheme_api::{Feedback, FlowId, Slot};

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    port: Transmitter,
    lanes: Lanes,
    sources: Vec<Source>,
    sender: Sender<Frame>,
    sink: Sink,
    /// Timers of its reflectors.
    alarms: Timers,
    rates: RateSeries,
    /// Data and control frames put on the link.
    sent: (u64, u64),
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
        let rates = RateSeries::new(net, id);
        turn.plan(rates.next, Kind::Tick, 0);
        let sender = Sender::new(spec, id, link.rate, net);
        Some(Self {
            port: Transmitter::new(0, Some(link), net),
            lanes: Lanes::new(net),
            sources,
            alarms: Timers::default(),
            sink: Sink::new(net, id, spec.scheme, sender.settings.plan, link.rate),
            sender,
            rates,
            sent: (0, 0),
        })
    }

    /// Carries out an event of its own.
    pub(crate) fn execute(&mut self, event: Event, turn: &mut Turn<'_>) {
        let at = turn.moment();
        match event.kind {
            Kind::End => self.end(turn),
            Kind::Start => self.start(turn),
            Kind::Slot => self.slot(event.index as usize, turn),
            Kind::Reflector if self.alarms.next == turn.now => {
                if let Some((key, slot)) = self.alarms.pop()
                    && let Some((flow, actions)) = self.sink.expire(key, Slot(slot), turn.now)
                {
                    self.reflect(flow, &actions, turn);
                }
            }
            Kind::Timer if self.sender.timers.next == turn.now => self.sender.expire(at),
            Kind::Control if self.sender.deferred.next() == turn.now => self.sender.hear_deferred(at),
            Kind::Tick => {
                self.rates.take(turn.net, |dst| self.sender.rate_to(dst));
                turn.plan(self.rates.next, Kind::Tick, 0);
            }
            Kind::Change | Kind::Pause | Kind::Data | Kind::Reflector | Kind::Timer | Kind::Control => {}
        }
        self.plan(turn);
    }

    /// Plans what follows from the state of its sending side. The event of deferred feedback comes after the arrival of a frame at the
    /// same moment.
    fn plan(&mut self, turn: &mut Turn<'_>) {
        turn.plan(self.alarms.next, Kind::Reflector, 0);
        turn.plan(self.sender.timers.next, Kind::Timer, 0);
        turn.plan(self.sender.deferred.next(), Kind::Control, 1);
        if std::mem::take(&mut self.sender.must_look) {
            self.port.plan_start(turn);
        }
    }

    /// A frame has arrived.
    pub(crate) fn receive(&mut self, frame: Frame, turn: &mut Turn<'_>) {
        match frame.body {
            Body::Pause(pause) if self.sender.obeys_pause(pause, turn.now) => self.port.pause(pause, turn),
            Body::Pause(_) => {}
            Body::Data(data) => match self.sink.take(&data, frame.len, turn) {
                Ok(actions) => self.reflect(data.flow(turn.net.hosts), &actions, turn),
                Err(cause) => self.sender.fail(Who::Receiver, &cause, turn.now),
            },
            Body::Control(control) => match control.says {
                Says::Feedback(feedback) => self.sender.hear(control.flow, &feedback, turn.moment()),
                Says::Probe(probe) => {
                    let actions = self.sink.take_probe(control.flow, &probe, turn);
                    self.reflect(control.flow, &actions, turn);
                }
            },
        }
        self.plan(turn);
    }

    /// Feedback will be here without a link.
    pub(crate) fn expect(&mut self, direct: &Direct, turn: &mut Turn<'_>) {
        self.sender.expect(direct);
        self.plan(turn);
    }

    /// Carries out what a reflector asked for when it saw a frame of this flow: messages to its source take a link or none.
    fn reflect(&mut self, flow: FlowId, actions: &[ReflectorAction], turn: &mut Turn<'_>) {
        let (at, from) = (turn.moment(), turn.node);
        let to = hosts_of(flow, at.net.hosts).0;
        let alarms = (&mut self.alarms, self.sink.key(to));
        self.sender.reflect(flow, actions, at, alarms, |sender, &feedback: &Feedback| {
            let message = Control { flow, to: To::Host(to), says: Says::Feedback(feedback) };
            match message.direct(from, at) {
                Some(direct) => turn.out.direct.push(direct),
                None => sender.queue_control(Lane::of_message(at.net.control), message, at),
            }
        });
    }

    /// A slot of a source begins, or finite flows do.
    fn slot(&mut self, i: usize, turn: &mut Turn<'_>) {
        let Some(source) = self.sources.get_mut(i) else { broken("a slot of no source") };
        let greedy = source.is_greedy();
        let offer = if source.is_finite() { None } else { source.slot() };
        while let Some(flow) = source.begin(turn.now) {
            self.sender.begin(flow, turn.moment());
        }
        turn.plan(source.next, Kind::Slot, i as u64);
        if let Some(offer) = offer {
            self.sender.accept(&offer, greedy, turn.moment());
        }
    }

    /// The idle transmitter looks for a frame.
    fn start(&mut self, turn: &mut Turn<'_>) {
        let may_start = |lane| self.port.may_start(lane);
        if let Some(frame) = self.sender.next(&mut self.lanes, may_start, turn.moment()) {
            self.port.start(frame, turn);
        }
    }

    /// The last bit of a frame leaves.
    fn end(&mut self, turn: &mut Turn<'_>) {
        let (link, frame) = self.port.end(turn);
        match frame.as_data() {
            Some(_) => self.sent.0 += 1,
            None => self.sent.1 += 1,
        }
        turn.send(&link, frame);
    }

    /// Data and control frames that it has put on its link.
    pub(crate) fn hops(&self) -> u64 {
        self.sent.0 + self.sent.1
    }

    /// What stops the run here.
    pub(crate) fn failure(&self) -> &Failure {
        &self.sender.journal.failure
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(self, net: &Net) -> HostBooks {
        let paused = self.port.close(net.duration);
        let sending = self.port.sending().copied();
        close_host(self.sender, sending, self.sink.deliveries, self.rates, (self.sent, paused), net)
    }
}
