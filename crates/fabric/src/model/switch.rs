//! A store-and-forward switch: a frame that has arrived whole is routed, admitted to the memory, queued at its output, and sent.
//!
//! Each output sends PAUSE before control before data. A frame counts in its queue, and its memory is in use, until its last
//! bit has left. Control at priority takes no memory. This file is long because it follows a frame all the way.

use super::agenda::{Event, Kind, NEVER, Told, Turn};
use super::frame::{Body, Control, EVERY_FLOW, Frame, Lane, MANAGED, Pause, Says, To, hosts_of};
use super::memory::{Memory, Refusal};
use super::pause::Signal;
use super::point::Point;
use super::port::{Transmitter, next_start};
use super::record::Samples;
use crate::check::{ControlBooks, Failure, Gauges, Hash, Ledger, Losses, Stopped, SwitchBooks, Who};
use crate::net::Net;
use crate::outcome::{PortOutcome, Series, SeriesKind, SwitchOutcome};
use crate::scheme::call as of_scheme;
use crate::spec::{PauseTransport, RateChange, SwitchSpec};
use crate::timers::Timers;
use cnsim_scheme_api::network::{Lent, NO_PROBE, PointAction, rewritten};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, Feedback, FlowId, NodeId, PointControl, PointId, Probe, ProbeTarget,
    Queue as View, QueueSite, RampAt, Rate, Slot, Tag, Time,
};
use std::collections::VecDeque;

/// The queue of a class at an output.
#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Frame>,
    /// Bytes that have not left: the frame in transmission is among them.
    bytes: u64,
}

/// An output port.
#[derive(Debug)]
struct Output {
    port: Transmitter,
    /// Rate at which data is served, as it is told to congestion points.
    service: Rate,
    pauses: VecDeque<Frame>,
    control: VecDeque<Frame>,
    /// By class.
    data: Vec<Queue>,
    /// Bytes of control that have not left.
    control_queued: u64,
    /// Bytes of the first class queued behind the frame in transmission as that began.
    behind: u64,
    /// Bytes that have left, those of PAUSE frames aside.
    departed: u64,
    point: Option<Point>,
    result: PortOutcome,
}

/// An output that is recorded.
#[derive(Debug, Default)]
struct Recorded {
    port: u16,
    queue: Samples,
    /// Largest length since the sample before.
    peak: Samples,
    /// Largest length in all bins that are over.
    queue_max: u64,
    /// Data bits sent up to the end of each bin.
    sent: Samples,
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    id: u32,
    /// Its number among the switches.
    index: usize,
    spec: SwitchSpec,
    outputs: Vec<Output>,
    /// By class.
    memory: Vec<Memory>,
    /// Messages of its own, which are ready after the processing delay.
    own: VecDeque<(u64, Control)>,
    timers: Timers,
    changes: VecDeque<RateChange>,
    /// Whose turn it is among equal paths, by destination ([`crate::Routing::RoundRobin`]).
    next_path: Vec<u8>,
    recorded: Vec<Recorded>,
    drops_at: Samples,
    drops: Ledger,
    losses: Losses,
    /// By output: frames that were lost although PAUSE was to prevent it.
    lost: Vec<u64>,
    books: ControlBooks,
    events: Hash,
    samples: Hash,
    /// Why the run cannot go on.
    pub(crate) failure: Failure,
}

impl Output {
    fn new(number: u16, site: &QueueSite, scheme: Option<usize>, turn: &Turn<'_>) -> Self {
        let net = turn.net;
        let link = net.links[site.point.0 as usize];
        Self {
            port: Transmitter::new(u64::from(number), link, net.classes.len()),
            service: site.rate,
            pauses: VecDeque::new(),
            control: VecDeque::new(),
            data: net.classes.iter().map(|_| Queue::default()).collect(),
            control_queued: 0,
            behind: 0,
            departed: 0,
            point: scheme.and_then(|s| Point::new(&net.schemes[s], site, net)),
            result: PortOutcome::default(),
        }
    }

    /// What waits there for good, if data does and cannot leave.
    fn stopped(&self, number: usize) -> Option<Stopped> {
        let stopped = |f: &&Frame| match (&f.body, f.lane) {
            (Body::Data(_), Lane::Data(class)) => self.port.stopped(class),
            _ => false,
        };
        let frames = self.data.iter().flat_map(|q| &q.frames).chain(self.port.sending()).filter(stopped);
        Stopped::new(number, self.port.is_off(), frames.map(|f| f.input))
    }

    /// Bytes of all classes that have not left.
    fn queued(&self) -> u64 {
        self.data.iter().map(|q| q.bytes).sum()
    }

    /// What its congestion point sees of it: the queue of the first class, and what all have sent.
    fn view(&self, now: u64) -> View {
        let (paused, paused_in_all) = self.port.pause_seen(now);
        View {
            len: Bytes::new(self.data.first().map_or(0, |q| q.bytes)),
            line_rate: self.port.link.map_or(Rate::ZERO, |l| l.rate),
            service_rate: self.service,
            // All that came has left or waits.
            arrived: self.departed + self.queued() + self.control_queued,
            sent: self.departed,
            paused,
            paused_in_all,
        }
    }

    /// The frame that goes next now.
    fn next(&mut self) -> Option<Frame> {
        let ready = |lane, queue: &VecDeque<Frame>| !queue.is_empty() && self.port.may_start(lane);
        let from = |ready: bool| if ready { 0 } else { NEVER };
        let class = (0u8..).zip(&self.data).find(|(class, queue)| ready(Lane::Data(*class), &queue.frames));
        let class = class.map(|(class, _)| usize::from(class));
        let pause = from(ready(Lane::Pause, &self.pauses));
        let control = from(ready(Lane::Control, &self.control));
        match next_start(0, pause, control, from(class.is_some())) {
            (NEVER, _) => None,
            (_, Lane::Pause) => self.pauses.pop_front(),
            (_, Lane::Control) => self.control.pop_front(),
            (_, Lane::Data(_)) => self.data.get_mut(class?)?.frames.pop_front(),
        }
    }
}

impl Switch {
    /// The switch of `turn.node`, with its first events planned.
    pub(crate) fn new(spec: &SwitchSpec, changes: &[RateChange], turn: &mut Turn<'_>) -> Self {
        let (net, id) = (turn.net, turn.node);
        let base = net.ports[id as usize];
        let outputs = (0..spec.ports).map(|number| {
            let point = PointId(base + u32::from(number));
            let link = net.links[point.0 as usize];
            let site = QueueSite {
                point,
                // Nothing goes to a port without a link. Its scheme is told a rate all the same.
                rate: link.map_or(Rate::from_gbps(10.0), |l| l.rate),
                attached: link.is_some(),
            };
            Output::new(number, &site, spec.scheme, turn)
        });
        let mut mine: Vec<RateChange> = changes.iter().filter(|c| c.node.0 == id).copied().collect();
        mine.sort_by_key(|c| (c.at, c.port));
        let on = net.record.bin > Time::ZERO;
        let recorded = net.record.queues.iter().filter(|q| on && q.0.0 == id);
        let mut switch = Self {
            id,
            index: (id - net.hosts) as usize,
            outputs: outputs.collect(),
            memory: (net.classes.iter())
                .map(|c| Memory::new(usize::from(spec.ports), &spec.buffer, c.pause))
                .collect(),
            own: VecDeque::new(),
            timers: Timers::default(),
            changes: mine.into(),
            next_path: vec![0; if net.round_robin() { net.hosts as usize } else { 0 }],
            recorded: recorded.map(|q| Recorded { port: q.1, ..Recorded::default() }).collect(),
            drops_at: Samples::default(),
            drops: Ledger::default(),
            losses: Losses::default(),
            lost: vec![0; usize::from(spec.ports)],
            books: ControlBooks::new(net, spec.scheme, Gauges::of_switch(net, id)),
            events: Hash::default(),
            samples: Hash::default(),
            failure: Failure::default(),
            spec: spec.clone(),
        };
        if !switch.recorded.is_empty() {
            turn.plan(net.record.bin.as_ps(), Kind::Tick, 0);
        }
        switch.plan_change(turn);
        for out in 0..switch.outputs.len() {
            switch.wake(out, None, turn, |point, queue, ctl| point.start(queue, ctl));
            if let Some(point) = &mut switch.outputs[out].point {
                point.state.run();
            }
        }
        switch
    }

    fn plan_change(&self, turn: &mut Turn<'_>) {
        if let Some(change) = self.changes.front() {
            turn.plan(change.at.as_ps(), Kind::Change, u64::from(change.port));
        }
    }

    /// A message of its own comes after all arrivals of control at its moment, as if by a port beyond the last.
    fn plan_own(&self, turn: &mut Turn<'_>) {
        turn.plan(self.own.front().map_or(NEVER, |o| o.0), Kind::Control, self.outputs.len() as u64);
    }

    /// Carries out an event of its own.
    pub(crate) fn execute(&mut self, event: Event, turn: &mut Turn<'_>) {
        match event.kind {
            Kind::Change => self.change(turn),
            Kind::End => self.end(event.index as usize, turn),
            Kind::Start => self.start(event.index as usize, turn),
            Kind::Control => self.send_own(turn),
            Kind::Timer => {
                if self.timers.next == turn.now
                    && let Some((out, slot)) = self.timers.pop()
                {
                    self.expire(out as usize, Slot(slot), turn);
                }
                turn.plan(self.timers.next, Kind::Timer, 0);
            }
            Kind::Tick => self.tick(turn),
            Kind::Pause | Kind::Data | Kind::Reflector | Kind::Slot => {}
        }
    }

    /// A frame has arrived at a port.
    pub(crate) fn receive(&mut self, mut frame: Frame, port: u16, turn: &mut Turn<'_>) {
        frame.input = port;
        match frame.body {
            Body::Pause(pause) => {
                self.events.add(turn.now, pause.code() | u64::from(port));
                self.outputs[usize::from(port)].port.pause(pause, turn);
            }
            Body::Data(data) => {
                let flow = data.flow(turn.net.hosts).0;
                let out = turn.net.route(self.index, data.dst, flow, data.number, &mut self.next_path);
                self.store(usize::from(out), frame, turn);
            }
            Body::Control(control) => self.forward(frame, control, turn),
        }
    }

    /// A data frame for an output: it is stored or dropped, and the congestion point may look at it.
    fn store(&mut self, out: usize, frame: Frame, turn: &mut Turn<'_>) {
        let (Body::Data(data), Lane::Data(class)) = (frame.body, frame.lane) else { return };
        let admitted = self.admits(out, &frame, class);
        match admitted {
            Ok(()) => self.enqueue(out, frame, class, turn),
            Err(why) => {
                let result = &mut self.outputs[out].result;
                match why {
                    Refusal::OutputLimit => result.dropped_by_limit += 1,
                    Refusal::Partition => result.dropped += 1,
                }
                if why == Refusal::Partition && self.memory[usize::from(class)].is_lossless() {
                    self.lost[out] += 1;
                }
                self.drops.enter(data.src, data.dst, data.number);
                let flow = data.flow(turn.net.hosts).0;
                if turn.net.record.matrix {
                    self.losses.add(flow, turn.net.hosts);
                }
                self.events.add(turn.now, 0x2000 | out as u64 ^ (u64::from(flow) << 20));
            }
        }
        let Some(point) = self.outputs[out].point.as_mut().filter(|_| frame.lane == MANAGED) else { return };
        let counts = admitted.is_ok() || point.state.sample_dropped;
        if counts && point.looks_at(&data, frame.len) {
            self.sample(out, &frame, admitted.is_err(), turn);
        }
    }

    /// May a frame be stored?
    fn admits(&self, out: usize, frame: &Frame, class: u8) -> Result<(), Refusal> {
        let (input, class) = (usize::from(frame.input), usize::from(class));
        self.memory[class].admits(out, input, frame.len, self.outputs[out].data[class].bytes)
    }

    /// Puts an admitted frame of a data class into its queue.
    fn enqueue(&mut self, out: usize, mut frame: Frame, class: u8, turn: &mut Turn<'_>) {
        let memory = &mut self.memory[usize::from(class)];
        let signal = memory.store(out, usize::from(frame.input), frame.len);
        let output = &mut self.outputs[out];
        let queue = &mut output.data[usize::from(class)];
        queue.bytes += u64::from(frame.len);
        if let (Body::Data(data), Some(point), MANAGED) = (&mut frame.body, &mut output.point, frame.lane) {
            data.marked |= point.marks(RampAt::Arrival, queue.bytes);
        }
        queue.frames.push_back(frame);
        output.result.queue_max = output.result.queue_max.max(output.queued());
        output.port.look(turn);
        self.signal(signal, class, turn);
    }

    /// A domain of a class's memory has entered XOFF or left it: those who fill it are told.
    fn signal(&mut self, signal: Option<Signal>, class: u8, turn: &mut Turn<'_>) {
        let Some(Signal { off, input }) = signal else { return };
        let frame = Frame::pause(Pause { off, class });
        let transport = self.spec.buffer.pause.map_or(PauseTransport::Frame, |p| p.transport);
        let told = self.outputs.iter_mut().enumerate().filter(|(p, _)| input.is_none_or(|i| i == *p));
        for output in told.map(|(_, output)| output) {
            let Some(link) = output.port.link else { continue };
            output.result.xoffs += u64::from(off);
            match transport {
                PauseTransport::Wire => turn.send(&link, frame),
                PauseTransport::Frame => {
                    output.pauses.push_back(frame);
                    output.port.look(turn);
                }
            }
        }
    }

    /// An idle transmitter looks for a frame.
    fn start(&mut self, out: usize, turn: &mut Turn<'_>) {
        let output = &mut self.outputs[out];
        let Some(mut frame) = output.next() else { return };
        if frame.lane == MANAGED {
            output.behind = output.data.first().map_or(0, |q| q.bytes) - u64::from(frame.len);
            let stamp = output.point.as_ref().and_then(|p| p.state.advertised);
            if let (Body::Data(data), Some(rate)) = (&mut frame.body, stamp) {
                data.lower(Tag::RateDiscovery(rate));
            }
            if output.point.as_ref().is_some_and(|p| p.departures) {
                self.leave(out, &mut frame, turn);
            }
        }
        self.outputs[out].port.start(frame, turn);
    }

    /// The congestion point is woken by a frame whose transmission begins.
    fn leave(&mut self, out: usize, frame: &mut Frame, turn: &mut Turn<'_>) {
        let len = frame.len;
        let Body::Data(data) = &mut frame.body else { return };
        let mut view = data.view(len, turn.net.hosts, false);
        self.wake(out, None, turn, |point, queue, ctl| point.on_departure(&mut view, queue, ctl));
        if let Err(cause) = rewritten(&view) {
            self.fail(out, &cause, turn.now);
        }
        data.marked = view.marked;
        data.write(view.tag);
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
            Body::Data(data) => {
                output.result.sent += 1;
                output.result.sent_bits += 8 * len;
                if let (Some(point), MANAGED) = (&mut output.point, frame.lane) {
                    data.marked |= point.marks(RampAt::Departure, output.behind);
                }
            }
        }
        turn.send(&link, frame);
        match frame.lane {
            Lane::Pause => {}
            Lane::Control => output.control_queued -= len,
            Lane::Data(class) => {
                output.data[usize::from(class)].bytes -= len;
                let memory = &mut self.memory[usize::from(class)];
                let signal = memory.free(out, usize::from(frame.input), frame.len);
                self.signal(signal, class, turn);
            }
        }
    }

    /// A scheduled change of a port's service rate: it acts on the next frame.
    fn change(&mut self, turn: &mut Turn<'_>) {
        let Some(change) = self.changes.pop_front() else { return };
        let output = &mut self.outputs[usize::from(change.port)];
        output.service = change.rate;
        output.port.service = turn.net.switch_clock.tx(change.rate);
        output.port.look(turn);
        self.plan_change(turn);
    }

    /// The congestion point looks at a data frame, which is stored last in its queue unless it is `dropped`.
    fn sample(&mut self, out: usize, frame: &Frame, dropped: bool, turn: &mut Turn<'_>) {
        let output = &self.outputs[out];
        // Storing it may have marked it, so it is looked at where it stands.
        let stored =
            if dropped { frame } else { output.data.first().and_then(|q| q.frames.back()).unwrap_or(frame) };
        let Some(&data) = stored.as_data() else { return };
        self.samples.add(turn.now ^ (out as u64) << 48, output.view(turn.now).len.get());
        let mut view = data.view(frame.len, turn.net.hosts, dropped);
        self.wake(out, None, turn, |point, queue, ctl| point.on_sample(&mut view, queue, ctl));
        if let Err(cause) = rewritten(&view) {
            self.fail(out, &cause, turn.now);
        }
        let managed = self.outputs[out].data.first_mut().filter(|_| !dropped);
        if let Some(Body::Data(stored)) = managed.and_then(|q| q.frames.back_mut()).map(|f| &mut f.body) {
            stored.marked = view.marked;
            stored.write(view.tag);
        }
    }

    /// A timer of a congestion point expires.
    fn expire(&mut self, out: usize, slot: Slot, turn: &mut Turn<'_>) {
        let now = Time::from_ps(turn.now);
        let patience = self.outputs[out].point.as_mut().map(|p| p.state.patience.expires(slot, now));
        match patience.unwrap_or(Ok(())) {
            Ok(()) => {
                self.wake(out, None, turn, |point, queue, ctl| point.on_timer(slot, queue, ctl));
            }
            Err(cause) => self.fail(out, &cause, turn.now),
        }
    }

    /// Wakes a congestion point, and carries out what it asks for; true if the probe in hand is to be answered.
    fn wake(
        &mut self,
        out: usize,
        probe: Option<&Probe>,
        turn: &mut Turn<'_>,
        call: impl FnOnce(&mut dyn CongestionPoint, &View, &mut PointControl<'_>),
    ) -> bool {
        let Some(output) = self.outputs.get_mut(out) else { return false };
        let view = output.view(turn.now);
        let Some(point) = &mut output.point else { return false };
        let mut actions = Vec::new();
        let mut lent = PointControl::new(Time::from_ps(turn.now), &mut point.state, &mut actions);
        let said = of_scheme(&mut point.object, |o| call(o, &view, &mut lent), |f| Box::new(f));
        if let Err(cause) = said {
            actions = vec![PointAction::Fail(cause)];
        }
        let mut answer = false;
        for action in actions {
            match action {
                PointAction::Notify(flow, feedback) => {
                    self.events.add(turn.now, 0x3000 | out as u64 ^ (u64::from(flow.0) << 20));
                    self.say(To::Host(hosts_of(flow, turn.net.hosts).0), flow, feedback, turn);
                }
                PointAction::Broadcast(feedback) => self.say(To::Everyone, EVERY_FLOW, feedback, turn),
                PointAction::StartTimer(slot, after) => {
                    self.timers.start(out as u32, slot.0, turn.now.saturating_add(after.as_ps()));
                    turn.plan(self.timers.next, Kind::Timer, 0);
                }
                PointAction::StopTimer(slot) => self.timers.stop(out as u32, slot.0),
                PointAction::Answer if probe.is_some() => answer = true,
                PointAction::Answer => self.fail(out, NO_PROBE, turn.now),
                PointAction::Count(counter) => {
                    if let Err(cause) = self.books.counters.add(&counter) {
                        self.fail(out, &cause, turn.now);
                    }
                }
                PointAction::Gauge(gauge, value) => {
                    if let Err(cause) = self.books.show(turn.net, turn.now, out as u32, &gauge, value) {
                        self.fail(out, &cause, turn.now);
                    }
                }
                PointAction::Fail(cause) => self.fail(out, &cause, turn.now),
            }
        }
        answer
    }

    /// A congestion point stops the run.
    fn fail(&mut self, out: usize, cause: &str, now: u64) {
        self.failure.note(now, Who::Point(out as u16), cause);
    }

    /// Makes a message, which is ready after the processing delay.
    fn say(&mut self, to: To, flow: FlowId, feedback: Feedback, turn: &mut Turn<'_>) {
        self.books.made(turn.now, feedback.wire_length().get());
        let at = turn.now + self.spec.processing.as_ps();
        self.own.push_back((at, Control { flow, to, says: Says::Feedback(feedback) }));
        self.plan_own(turn);
    }

    /// A message of its own is ready: it goes on its way.
    fn send_own(&mut self, turn: &mut Turn<'_>) {
        let Some((_, control)) = self.own.pop_front() else { return };
        self.plan_own(turn);
        if let (Some(at), Says::Feedback(feedback)) = (turn.net.direct(turn.now), control.says) {
            let to = if let To::Host(host) = control.to { Some(host) } else { None };
            turn.out.told.push(Told { to, at, from: self.id, flow: control.flow, feedback });
            return;
        }
        let mut frame = Frame::control(Lane::of_message(turn.net.control), control);
        frame.input = self.spec.ports;
        self.forward(frame, control, turn);
    }

    /// A control frame goes on towards where it is sent, or ends here.
    fn forward(&mut self, mut frame: Frame, control: Control, turn: &mut Turn<'_>) {
        let (net, flow) = (turn.net, control.flow.0);
        let out = match control.to {
            To::Everyone => return self.flood(frame, turn),
            To::Host(host) => usize::from(net.route(self.index, host, flow, 0, &mut self.next_path)),
            To::Point(point) => match net.point(point.0) {
                Some((s, port)) if s == self.index => usize::from(port),
                // On its way to a point of another switch, none looks at it.
                Some((s, _)) => {
                    let out = net.towards(self.index, s, 0, flow, 0, &mut self.next_path);
                    return self.queue_control(usize::from(out), frame, turn);
                }
                None => return,
            },
        };
        if let Says::Probe(mut probe) = control.says {
            if self.probed(out, &mut probe, &control, turn) {
                return;
            }
            frame.body = Body::Control(Control { says: Says::Probe(probe), ..control });
        }
        self.queue_control(out, frame, turn);
    }

    /// A message to all hosts goes on along the spanning tree, but not back.
    fn flood(&mut self, frame: Frame, turn: &mut Turn<'_>) {
        for out in 0..self.outputs.len() {
            let on_tree = self.outputs[out].port.link.is_some_and(|l| l.tree);
            if on_tree && out != usize::from(frame.input) {
                self.queue_control(out, frame, turn);
            }
        }
    }

    /// A probe passes the congestion point of an output, which may rewrite or answer it; true if it ends here.
    fn probed(&mut self, out: usize, probe: &mut Probe, control: &Control, turn: &mut Turn<'_>) -> bool {
        let flow = control.flow;
        let reads = self.outputs[out].point.as_ref().is_some_and(|p| p.state.probes);
        let before = *probe;
        let answered = reads
            && self.wake(out, Some(&before), turn, |point, queue, ctl| {
                point.on_probe(probe, flow, queue, ctl);
            });
        if answered {
            let at = Time::from_ps(turn.now);
            let reply = Feedback::ProbeReply { probe: *probe, at, rx_rate: Rate::ZERO };
            self.say(To::Host(hosts_of(flow, turn.net.hosts).0), flow, reply, turn);
        }
        let here = PointId(turn.net.ports[self.id as usize] + out as u32);
        answered || matches!(control.to, To::Point(_)) || probe.target == ProbeTarget::Point(here)
    }

    /// Queues a control frame at an output: at priority, or among the data if there is room.
    fn queue_control(&mut self, out: usize, frame: Frame, turn: &mut Turn<'_>) {
        if let Lane::Data(class) = frame.lane {
            match self.admits(out, &frame, class) {
                Ok(()) => self.enqueue(out, frame, class, turn),
                Err(_) => self.books.discarded += 1,
            }
            return;
        }
        let output = &mut self.outputs[out];
        output.control_queued += u64::from(frame.len);
        output.control.push_back(frame);
        output.port.look(turn);
    }

    /// A bin of the recording ends.
    fn tick(&mut self, turn: &mut Turn<'_>) {
        turn.plan(turn.now + turn.net.record.bin.as_ps(), Kind::Tick, 0);
        self.drops_at.take(self.drops.frames as f64);
        for r in &mut self.recorded {
            let output = &mut self.outputs[usize::from(r.port)];
            r.queue.take(output.queued() as f64);
            r.peak.take(output.result.queue_max as f64);
            r.queue_max = r.queue_max.max(output.result.queue_max);
            // The next bin has a largest length of its own.
            output.result.queue_max = output.queued();
            r.sent.take(output.result.sent_bits as f64);
        }
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.outputs.iter().map(|o| o.result.sent + o.result.control_sent).sum()
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> SwitchBooks {
        let hops = (self.hops(), self.outputs.iter().map(|o| o.result.control_sent).sum());
        let mut inside = Ledger::default();
        let series = self.series(net);
        for output in &mut self.outputs {
            output.result.paused = Time::from_ps(output.port.paused(net.duration));
            let queued = output.data.iter().flat_map(|q| &q.frames);
            inside.enter_all(queued.chain(output.port.sending()));
        }
        let stopped = self.outputs.iter().enumerate().filter_map(|(i, o)| o.stopped(i)).collect();
        SwitchBooks {
            stopped,
            series,
            outcome: SwitchOutcome { ports: self.outputs.into_iter().map(|o| o.result).collect() },
            dropped: self.drops,
            losses: self.losses,
            lost: self.lost,
            inside,
            hops,
            events: self.events,
            samples: self.samples,
            control: self.books,
            failure: self.failure,
        }
    }

    /// What was recorded.
    fn series(&mut self, net: &Net) -> Vec<Series> {
        let (node, bin) = (NodeId(self.id), net.record.bin);
        let mut series = Vec::new();
        for r in &mut self.recorded {
            let (port, output) = (r.port, &mut self.outputs[usize::from(r.port)]);
            let values = r.queue.close(net, output.queued() as f64);
            series.push(Series { kind: SeriesKind::Queue { node, port }, bin, values });
            let values = r.peak.close(net, output.result.queue_max as f64);
            series.push(Series { kind: SeriesKind::QueuePeak { node, port }, bin, values });
            output.result.queue_max = output.result.queue_max.max(r.queue_max);
            let sent = r.sent.close(net, output.result.sent_bits as f64);
            let before = std::iter::once(&0.0).chain(&sent);
            let values = sent.iter().zip(before).map(|(to, from)| (to - from) / bin.as_secs_f64()).collect();
            series.push(Series { kind: SeriesKind::Sent { node, port }, bin, values });
        }
        let gauges = self.books.gauges.switch_series(net, self.id);
        if !series.is_empty() {
            let values = self.drops_at.close(net, self.drops.frames as f64);
            series.push(Series { kind: SeriesKind::Dropped { node }, bin, values });
        }
        series.extend(gauges);
        series
    }
}
