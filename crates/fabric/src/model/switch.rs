//! A store-and-forward switch: a frame that has arrived whole is routed, admitted to the memory, queued at its output, and sent.
//!
//! Each output sends PAUSE before control before data. A frame counts in its queue, and its memory is in use, until its last
//! bit has left. Control at priority takes no memory. This file is long because it follows a frame all the way.

use super::agenda::{Event, Kind, Moment, Turn};
use super::cause::Waiting;
use super::fault::PortFaults;
use super::frame::{Body, Control, Frame, Lane, MANAGED, Pause, Says, flow_of, lowered};
use super::management::Management;
use super::memory::Memory;
use super::packet::Packet;
use super::pause::{Paused, Signal};
use super::point::{Point, Verb, hop, view};
use super::port::{Lanes, Transmitter, is_stopped};
use super::storing::{Place, Storing};
use super::telling::{By, Telling};
use super::watchdog::Watchdogs;
use crate::check::{Books, Ledger, Stopped};
use crate::net::{Link, Net};
use crate::outcome::{PortOutcome, SharedUse, SwitchOutcome};
use crate::spec::{RateChange, SwitchSpec};
use cnsim_scheme_api::{Queue as View, RampAt, Rate, Slot};
use std::collections::VecDeque;

/// The queue of a class at an output.
#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Frame>,
    /// Bytes that have not left: the frame in transmission is among them.
    bytes: u64,
}

impl Queue {
    /// Takes the first frame. An empty queue begins anew in the same memory, which is near then.
    fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        if self.frames.is_empty() {
            self.frames.clear();
        }
        Some(frame)
    }
}

/// An output port.
#[derive(Debug)]
struct Output {
    port: Transmitter,
    lanes: Lanes,
    /// Rate at which data is served, as it is told to congestion points.
    service: Rate,
    pauses: VecDeque<Frame>,
    control: VecDeque<Frame>,
    /// By class.
    data: Vec<Queue>,
    /// Bytes of control that have not left.
    control_queued: u64,
    /// Bytes that have left, those of PAUSE frames aside.
    departed: u64,
    point: Option<Box<Point>>,
    result: PortOutcome,
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    spec: SwitchSpec,
    outputs: Vec<Output>,
    /// By class.
    memory: Vec<Memory>,
    /// Whose turn it is among equal paths, by destination ([`crate::Routing::RoundRobin`]).
    next_path: Vec<u8>,
    pub(crate) management: Management,
    faults: PortFaults,
    watchdogs: Watchdogs,
}

impl Output {
    fn new(number: u32, scheme: Option<usize>, turn: &Turn<'_>) -> Self {
        let net = turn.net;
        let port = net.ports[turn.node as usize] + number;
        Self {
            port: Transmitter::new(number as u16, net.links[port as usize], net),
            lanes: Lanes::new(net),
            service: net.rate(port),
            pauses: VecDeque::new(),
            control: VecDeque::new(),
            data: net.classes.iter().map(|_| Queue::default()).collect(),
            control_queued: 0,
            departed: 0,
            point: Point::new(net, scheme, port).map(Box::new),
            result: PortOutcome::default(),
        }
    }

    /// What waits there for good, if data does and cannot leave.
    fn stopped(&self, number: usize) -> Option<Stopped> {
        let stopped = |f: &&Frame| matches!(f.body, Body::Data(_)) && self.port.is_stopped(f.lane);
        let frames = self.data.iter().flat_map(|q| &q.frames).chain(&self.port.sending).filter(stopped);
        Stopped::new(number, self.port.paused.iter().any(Paused::stops), frames.map(|f| f.input))
    }

    /// What waits there in a class, and what holds it back.
    fn waiting(&self, class: usize) -> Waiting<impl Iterator<Item = (u16, u16)>> {
        let sending = self.port.sending.iter().filter(move |f| f.lane == Lane::Data(class as u8));
        let frames = sending.chain(&self.data[class].frames).map(|f| (f.input, f.len));
        Waiting {
            xoff: self.port.paused[class].number(),
            closed: is_stopped(Lane::Data(class as u8), self.port.service, &[]),
            frames,
        }
    }

    /// Bytes of all classes that have not left.
    fn queued(&self) -> u64 {
        self.data.iter().map(|q| q.bytes).sum()
    }

    /// What its congestion point sees of it: the queue of the first class, and what all have sent.
    fn view(&self, now: u64) -> View {
        let waiting = self.queued() + self.control_queued;
        let bytes = (self.data.first().map_or(0, |q| q.bytes), waiting, self.departed);
        view(bytes, (self.port.link, self.service), &self.port.paused, now)
    }

    /// The frame that goes next now.
    fn next(&mut self) -> Option<Frame> {
        let Self { port, lanes, pauses, control, data, .. } = self;
        lanes.next(|lane| match lane {
            _ if !port.may_start(lane) => None,
            Lane::Pause => pauses.pop_front(),
            Lane::Control => control.pop_front(),
            Lane::Data(class) => data.get_mut(usize::from(class))?.pop(),
        })
    }
}

impl Switch {
    /// The switch of `turn.node`, with its first event planned.
    pub(crate) fn new(spec: &SwitchSpec, changes: &[RateChange], turn: &mut Turn<'_>) -> Self {
        let net = turn.net;
        let mut switch = Self {
            outputs: (0..u32::from(spec.ports))
                .map(|number| Output::new(number, spec.scheme, turn))
                .collect(),
            memory: net.classes.iter().map(|class| Memory::new(spec, class)).collect(),
            next_path: net.next_path(),
            management: Management::new(net, turn.node, spec, changes),
            faults: PortFaults::new(net, turn.node),
            watchdogs: Watchdogs::new(net.watchdog, spec.ports.into(), net.classes.len()),
            spec: spec.clone(),
        };
        for out in 0..switch.outputs.len() {
            switch.wake(out, Verb::Start, turn);
            if let Some(point) = &mut switch.outputs[out].point {
                point.state.run();
            }
        }
        switch.plan(turn);
        switch
    }

    /// Notes the next of its own events.
    fn plan(&self, turn: &mut Turn<'_>) {
        let (time, kind, port) = self.management.next_event(self.outputs.len());
        let guards = self.faults.next().min(self.watchdogs.next());
        let guards = Event { time: guards, kind: Kind::Change, index: 0 };
        turn.agenda.own = guards.key().min(Event { time, kind, index: port.into() }.key());
    }

    /// Carries out an event of its own.
    pub(crate) fn execute(&mut self, event: Event, turn: &mut Turn<'_>) {
        match event.kind {
            Kind::Change => {
                self.change(turn);
                self.fail(turn);
                self.watch(turn);
            }
            Kind::End => self.end(event.index as usize, turn),
            Kind::Start => self.start(event.index as usize, turn),
            Kind::Control => self.send_own(turn),
            Kind::Timer => {
                if self.management.timers.next == turn.now
                    && let Some((out, slot)) = self.management.timers.pop()
                {
                    self.wake(out as usize, Verb::Timer(Slot(slot)), turn);
                }
            }
            Kind::Tick => self.management.tick(turn.net, &mut self.outputs, |output| {
                (output.queued(), &mut output.result.queue_max, output.result.sent_bits)
            }),
            Kind::Pause | Kind::Data | Kind::Reflector | Kind::Slot => {}
        }
        self.plan(turn);
    }

    /// A frame has arrived at a port.
    pub(crate) fn receive(&mut self, mut frame: Frame, port: u16, turn: &mut Turn<'_>) {
        frame.input = port;
        match frame.body {
            Body::Pause(pause) => {
                self.management.events.add(turn.now, pause.code() | u64::from(port));
                let (at, port) = (
                    (usize::from(port), usize::from(pause.class)),
                    &mut self.outputs[usize::from(port)].port,
                );
                let ended = pause.reach(&mut port.paused, turn.moment());
                if ended {
                    port.plan_start(turn);
                }
                self.watchdogs.hear(at, &port.paused[at.1], ended, turn.now);
            }
            Body::Data(data) => {
                let index = self.management.index(turn.net);
                let flow = flow_of(data.src, data.dst, turn.net.hosts).0;
                let out = turn.net.route(index, data.dst, flow, data.number, &mut self.next_path);
                self.arrive(out.into(), frame, turn);
            }
            Body::Control(control) => self.forward(frame, control, turn),
        }
        self.plan(turn);
    }

    /// A frame comes for an output's queue of data, and may be the first that waits in a storm.
    fn arrive(&mut self, out: usize, frame: Frame, turn: &mut Turn<'_>) {
        self.watch_one((out, frame.lane.class()), (true, false), turn);
        self.store(out, frame, turn);
    }

    /// An idle transmitter looks for a frame.
    fn start(&mut self, out: usize, turn: &mut Turn<'_>) {
        let output = &mut self.outputs[out];
        let Some(mut frame) = output.next() else { return output.port.rest(turn) };
        if frame.lane == MANAGED {
            if let (Body::Data(data), Some(stamp)) =
                (&mut frame.body, output.point.as_ref().and_then(|point| point.stamp()))
            {
                data.tag.1 = lowered(data.tag, stamp);
            }
            if output.point.as_ref().is_some_and(|p| p.departures) {
                frame.show(turn.net, false, |view| self.wake(out, Verb::Departure(view), turn));
            }
            let output = &mut self.outputs[out];
            if let Body::Data(data) = &mut frame.body
                && output.point.as_ref().is_some_and(|p| p.state.records)
            {
                data.record =
                    turn.records.push(data.record, hop(&output.view(turn.now), frame.len, turn.now));
            }
            let queued = output.data.first().map_or(0, |q| q.bytes);
            if let (Body::Data(data), Some(point)) = (&mut frame.body, &mut output.point) {
                data.marked |= point.marks(RampAt::Departure, queued, frame.len);
            }
        }
        if self.frees_at_start() {
            self.free(out, &frame, turn);
        }
        self.outputs[out].port.start(frame, turn);
    }

    /// The last bit of a frame has left.
    fn end(&mut self, out: usize, turn: &mut Turn<'_>) {
        let output = &mut self.outputs[out];
        let (link, mut frame) = output.port.end(turn);
        let len = u64::from(frame.len);
        output.departed += if frame.lane == Lane::Pause { 0 } else { len };
        match &mut frame.body {
            Body::Pause(_) => {}
            Body::Control(_) => output.result.control_sent += 1,
            Body::Data(_) => {
                output.result.sent += 1;
                output.result.sent_bits += 8 * len;
            }
        }
        turn.send(&link, frame);
        match frame.lane {
            Lane::Pause => {}
            Lane::Control => output.control_queued -= len,
            Lane::Data(class) => {
                output.data[usize::from(class)].bytes -= len;
                if !self.frees_at_start() {
                    self.free(out, &frame, turn);
                }
            }
        }
    }

    /// Is a frame's memory free as its transmission starts, and not at its end?
    fn frees_at_start(&self) -> bool {
        self.spec.shared.as_ref().is_some_and(|shared| shared.at_start)
    }

    /// The memory of a data frame is free: what follows.
    fn free(&mut self, out: usize, frame: &Frame, turn: &mut Turn<'_>) {
        let Lane::Data(class) = frame.lane else { return };
        let memory = &mut self.memory[usize::from(class)];
        let signals = memory.change(out, usize::from(frame.input), -i32::from(frame.len));
        let by = (out, frame.input);
        signals.into_iter().for_each(|signal| self.tell(signal, class, by, turn));
    }

    /// A scheduled change of a port's service rate: it acts on the next frame.
    fn change(&mut self, turn: &mut Turn<'_>) {
        let Some((port, service)) = self.management.change(turn.moment()) else { return };
        let output = &mut self.outputs[port];
        (output.service, output.port.service) = service;
        output.port.plan_start(turn);
    }

    /// The congestion point looks at a data frame, which is stored last in its queue unless it is `dropped`.
    fn sample(&mut self, out: usize, frame: &Frame, dropped: bool, turn: &mut Turn<'_>) {
        // Storing it may have marked it, so it is looked at as it stands there.
        let last = self.outputs[out].data.first().and_then(|q| q.frames.back());
        let mut seen = *last.filter(|_| !dropped).unwrap_or(frame);
        seen.show(turn.net, dropped, |view| self.wake(out, Verb::Sample(view), turn));
        let managed = self.outputs[out].data.first_mut().filter(|_| !dropped);
        managed.and_then(|q| q.frames.back_mut()).into_iter().for_each(|stored| *stored = seen);
    }

    /// Wakes a congestion point, and carries out what it asks for; true if the probe in hand is to be answered.
    fn wake(&mut self, out: usize, verb: Verb<'_>, turn: &mut Turn<'_>) -> bool {
        let Some(output) = self.outputs.get_mut(out) else { return false };
        let view = output.view(turn.now);
        let Some(point) = &mut output.point else { return false };
        self.management.wake((out, point), &view, verb, turn.moment()).0
    }

    /// A message of its own is ready: it goes on its way.
    fn send_own(&mut self, turn: &mut Turn<'_>) {
        let message = self.management.take_message(turn.moment());
        match message {
            Some(Ok(direct)) => turn.out.direct.push(direct),
            Some(Err(control)) => {
                let frame = Frame::control(Lane::of_message(turn.net.control), control);
                self.forward(Frame { input: self.spec.ports, ..frame }, control, turn);
            }
            None => {}
        }
    }

    /// A control frame goes on towards where it is sent, or ends here.
    fn forward(&mut self, mut frame: Frame, control: Control, turn: &mut Turn<'_>) {
        let (net, index) = (turn.net, self.management.index(turn.net));
        let way = control.to.next_hop(net, index, control.flow.0, &mut self.next_path);
        let way = way.after_point(|out| self.probed(out, &mut frame, turn));
        way.outputs(net, turn.node, frame.input).for_each(|out| self.queue_control(out, frame, turn));
    }

    /// A probe passes the congestion point of an output, which may rewrite or answer it; true if it ends here.
    fn probed(&mut self, out: usize, frame: &mut Frame, turn: &mut Turn<'_>) -> bool {
        let Body::Control(Control { flow, to, says: Says::Probe(probe) }) = &mut frame.body else {
            return false;
        };
        let answered = self.wake(out, Verb::Probe(probe, *flow), turn);
        self.management.ends(out, (*flow, *to, probe), answered, turn.moment())
    }

    /// Queues a control frame at an output: at priority, or among the data if there is room.
    fn queue_control(&mut self, out: usize, frame: Frame, turn: &mut Turn<'_>) {
        if let Lane::Data(_) = frame.lane {
            return self.arrive(out, frame, turn);
        }
        let output = &mut self.outputs[out];
        output.control_queued += u64::from(frame.len);
        output.control.push_back(frame);
        output.port.plan_start(turn);
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.outputs.iter().map(|o| o.result.sent + o.result.control_sent).sum()
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> Books {
        let mut inside = Ledger::default();
        for output in &self.outputs {
            let queued = output.data.iter().flat_map(|q| &q.frames);
            queued.chain(&output.port.sending).for_each(|frame| frame.enter(&mut inside));
        }
        let (mut shared, at_start) = (SharedUse::default(), self.frees_at_start());
        for (class, memory) in self.memory.iter_mut().enumerate() {
            let bytes = |o: &Output| {
                let sending = o.port.sending.filter(|f| f.lane == Lane::Data(class as u8));
                let gone = sending.filter(|_| at_start).map_or(0, |f| f.len.into());
                o.data.get(class).map_or(0, |q| q.bytes) - gone
            };
            let waiting = self.outputs.iter().map(bytes).sum();
            let most = self.management.shared_use(memory.shared_use(waiting), net);
            shared = if class == 0 { most } else { shared };
        }
        let ports = self.outputs.iter().enumerate();
        let ports = ports.map(|(i, o)| (&o.result, &o.port.paused[..], o.queued(), o.stopped(i)));
        let begun = SwitchOutcome { shared, storms: self.watchdogs.close(), ..SwitchOutcome::default() };
        self.management.close(ports, begun, inside, net)
    }
}

impl<'n> Storing<'n, Turn<'n>> for Switch {
    type Frame = Frame;

    fn place(&self, out: usize, frame: &Frame) -> Place<'_> {
        let class = frame.lane.class();
        let (memory, queued) = (&self.memory[class], self.outputs[out].data[class].bytes);
        Place { memory, queued, input: frame.input, len: frame.len }
    }

    fn enqueue(&mut self, out: usize, frame: &mut Frame, turn: &mut Turn<'n>) {
        let class = frame.lane.class();
        let signals = self.memory[class].change(out, usize::from(frame.input), frame.len.into());
        let output = &mut self.outputs[out];
        let queue = &mut output.data[class];
        queue.bytes += u64::from(frame.len);
        if let (Body::Data(data), Some(point), MANAGED) = (&mut frame.body, &mut output.point, frame.lane) {
            data.marked |= point.marks(RampAt::Arrival, queue.bytes, frame.len);
        }
        queue.frames.push_back(*frame);
        output.result.queue_max = output.result.queue_max.max(output.queued());
        output.port.plan_start(turn);
        signals.into_iter().for_each(|signal| self.tell(signal, class as u8, (out, frame.input), turn));
    }

    fn moment(&self, turn: &Turn<'n>) -> Moment<'n> {
        turn.moment()
    }

    fn class(frame: &Frame) -> usize {
        frame.lane.class()
    }

    fn books(&mut self, out: usize) -> (&mut Watchdogs, &mut Management, &mut PortOutcome) {
        (&mut self.watchdogs, &mut self.management, &mut self.outputs[out].result)
    }

    fn watched(&mut self, (out, class): (usize, usize)) -> (&mut Watchdogs, &mut Paused) {
        (&mut self.watchdogs, &mut self.outputs[out].port.paused[class])
    }

    fn waits(&mut self, (out, class): (usize, usize), _: &mut Turn<'n>) -> bool {
        !self.outputs[out].data[class].frames.is_empty()
    }

    fn take_waiting(&mut self, (out, class): (usize, usize), turn: &mut Turn<'n>) -> Option<Frame> {
        let queue = &mut self.outputs[out].data[class];
        let frame = queue.pop()?;
        queue.bytes -= u64::from(frame.len);
        self.free(out, &frame, turn);
        Some(frame)
    }

    fn seen(&mut self, (out, class): (usize, usize), turns: bool, turn: &mut Turn<'n>) {
        let port = &self.outputs[out].port;
        if turns && port.paused[class].ignored {
            port.plan_start(turn);
        }
    }

    fn forget(frame: &Frame, turn: &mut Turn<'n>) {
        turn.records.close(frame.record());
    }

    fn look(&mut self, out: usize, frame: &Frame, dropped: bool, turn: &mut Turn<'n>) {
        let (Body::Data(data), MANAGED) = (frame.body, frame.lane) else { return };
        let point = self.outputs[out].point.as_mut();
        if point.is_some_and(|p| p.looks_at(data.tag.0 != 0, dropped, frame.len)) {
            self.sample(out, frame, dropped, turn);
        }
    }
}

impl Telling<Turn<'_>> for Switch {
    fn now(&self, turn: &Turn<'_>) -> u64 {
        turn.now
    }

    fn ports(&self) -> usize {
        self.outputs.len()
    }

    fn faults(&mut self) -> (&mut PortFaults, &Memory) {
        (&mut self.faults, &self.memory[0])
    }

    fn end(&mut self, port: usize) -> (&mut Management, Option<Link>, &mut u64) {
        let output = &mut self.outputs[port];
        (&mut self.management, output.port.link, &mut output.result.xoffs)
    }

    fn note(&mut self, signal: Signal, class: u8, by: By, now: u64) {
        let Self { outputs, memory, management, .. } = self;
        let of_class = usize::from(class);
        if let Some(decisions) = &mut management.decisions {
            let waiting = outputs.iter().map(|output| output.waiting(of_class));
            decisions.note((now, signal, class), (&memory[of_class].layout, by), waiting);
        }
    }

    fn put(&mut self, port: usize, at_once: Option<Link>, pause: Pause, turn: &mut Turn<'_>) {
        let (output, frame) = (&mut self.outputs[port], Frame::pause(pause, turn.net));
        match at_once {
            Some(link) => turn.send(&link, frame),
            None => {
                output.pauses.push_back(frame);
                output.port.plan_start(turn);
            }
        }
    }
}
