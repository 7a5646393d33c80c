//! A store-and-forward switch: a frame that has arrived whole is routed, admitted to the memory, queued at its output, and sent.
//!
//! Each output sends PAUSE before control before data, whose classes take turns ([`super::turns`]). A frame counts in its queue, and its memory is in use, until its last
//! bit has left. Control at priority takes no memory. What it does, and in
//! which order, stands in [`super::switching`].

use super::agenda::{Direct, Key, Kind, Moment, Turn, rank};
use super::frame::{Body, Control, Data, Frame, Lane, Says};
use super::management::Management;
use super::memory::Memory;
use super::packet::Packet;
use super::pause::{Paused, Signal};
use super::point::{Point, Verb, count_down, view};
use super::port::{At, Left, Transmitter};
use super::records::Records;
use super::switching::{Outlet, Switching};
use super::turns::{Lanes, Offer, Weights};
use crate::check::{Change, broken};
use crate::net::{Link, Net};
use crate::outcome::PortOutcome;
use crate::spec::{RateChange, SwitchSpec};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{FlowId, Probe, Queue as View, Rate};
use std::collections::VecDeque;
use std::sync::Arc;

/// The queue of a class at an output.
#[derive(Debug, Default)]
struct Queue {
    /// The frame in transmission is the first.
    frames: VecDeque<Frame>,
    /// Bytes that have not left: the frame in transmission is among them.
    bytes: u64,
    point: Option<Box<Point>>,
    /// What was measured of the class.
    result: PortOutcome,
}

/// An output port.
#[derive(Debug)]
struct Output {
    /// It sends the first frame of a lane.
    port: Transmitter<Lane>,
    lanes: Lanes,
    /// Rate at which data is served, as it is told to congestion points.
    service: Rate,
    pauses: VecDeque<Frame>,
    control: VecDeque<Frame>,
    /// By class.
    data: Vec<Queue>,
    /// Bytes of control that have not left.
    control_queued: u64,
    left: Left,
    result: PortOutcome,
    /// What comes to its data and leaves it, where that is kept.
    kept: Option<Vec<Change>>,
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    outputs: Vec<Output>,
    memory: Vec<Memory>,
    /// By class, its memory, and its row there.
    places: Vec<(usize, usize)>,
    pub(crate) management: Management,
}

impl Output {
    fn new(number: u32, scheme: Option<usize>, weights: &Arc<Weights>, turn: &Turn<'_>) -> Self {
        let net = turn.net;
        let port = net.ports[turn.node as usize] + number;
        let queue = |class: usize| {
            let point = Point::new(net, net.classes[class].scheme(scheme), (port, class));
            Queue { point: point.map(Box::new), ..Queue::default() }
        };
        Self {
            port: Transmitter::new(number as u16, net.links[port as usize], net),
            lanes: Lanes::of_output(weights),
            service: net.rate(port),
            pauses: VecDeque::new(),
            control: VecDeque::new(),
            data: (0..net.classes.len()).map(queue).collect(),
            control_queued: 0,
            left: Left::default(),
            result: PortOutcome::default(),
            kept: net.keeps_queue(turn.node, number as u16).then(Vec::new),
        }
    }

    /// The frames of a lane that have not left.
    fn frames(&mut self, lane: Lane) -> &mut VecDeque<Frame> {
        match lane {
            Lane::Pause => &mut self.pauses,
            Lane::Control => &mut self.control,
            Lane::Data(class) => &mut self.data[usize::from(class)].frames,
        }
    }

    /// How many frames of a class wait, and how many of it are in transmission.
    fn waiting(&self, class: usize) -> (usize, usize) {
        let sending = usize::from(self.port.sends == Some(Lane::Data(class as u8)));
        (self.data[class].frames.len() - sending, sending)
    }

    /// Bytes of all classes that have not left.
    fn queued(&self) -> u64 {
        self.data.iter().map(|q| q.bytes).sum()
    }

    /// The lane whose first frame goes next now.
    fn next(&mut self) -> Option<Lane> {
        let Self { port, lanes, pauses, control, data, .. } = self;
        lanes.next(|lane, most| {
            if !port.may_start(lane) {
                return Offer::Stopped;
            }
            let queue = match lane {
                Lane::Pause => &*pauses,
                Lane::Control => &*control,
                Lane::Data(class) => &data[usize::from(class)].frames,
            };
            match queue.front() {
                None => Offer::Nothing,
                Some(first) if i64::from(first.len) > most => Offer::TooLong,
                Some(first) => Offer::Frame(lane, first.len, queue.len() == 1),
            }
        })
    }

    /// Takes the first frame of a lane.
    fn take(&mut self, lane: Lane) -> Option<Frame> {
        let frames = self.frames(lane);
        let frame = frames.pop_front();
        // An empty queue begins anew in the same memory, which is near then.
        if frames.is_empty() {
            frames.clear();
        }
        frame
    }
}

impl Switch {
    /// The switch of `turn.node`, with its first event planned.
    pub(crate) fn new(spec: &SwitchSpec, changes: &[RateChange], turn: &mut Turn<'_>) -> Self {
        let net = turn.net;
        let (own, weights) = (spec.memories(&net.classes), Arc::new(Weights::new(net)));
        let place = |class: usize| {
            let of = |own: &Vec<usize>| own.iter().position(|one| *one == class);
            let found = own.iter().enumerate().find_map(|(n, own)| Some((n, of(own)?)));
            found.map_or((0, 0), |(memory, nth)| (memory, nth * (usize::from(spec.ports) + 1)))
        };
        let mut switch = Self {
            outputs: (0..u32::from(spec.ports))
                .map(|number| Output::new(number, spec.scheme, &weights, turn))
                .collect(),
            memory: own.iter().map(|own| Memory::new(spec, own, &net.classes)).collect(),
            places: (0..net.classes.len()).map(place).collect(),
            management: Management::new(net, turn.node, spec, changes),
        };
        switch.begin_points(turn);
        switch
    }

    /// Carries out an event of its own.
    pub(crate) fn execute(&mut self, (_, kind, index): Key, turn: &mut Turn<'_>) {
        match kind {
            Kind::End => self.end(index as usize, turn),
            Kind::Start => self.start(index as usize, turn),
            kind => self.happen(kind, turn),
        }
    }

    /// A frame has arrived at a port.
    pub(crate) fn receive(&mut self, frame: &mut Frame, port: u16, turn: &mut Turn<'_>) {
        frame.input = port;
        match frame.body {
            Body::Pause(pause) => self.hear(port.into(), pause, turn),
            Body::Data(Data { src, dst, number, .. }) => {
                let index = self.management.index(turn.net);
                let out = turn.net.route(index, (src, dst, number), &mut self.management.paths);
                self.arrive(out.into(), frame, turn);
            }
            Body::Control(_) => self.forward(*frame, turn),
        }
    }

    /// An idle transmitter looks for a frame.
    fn start(&mut self, out: usize, turn: &mut Turn<'_>) {
        let output = &mut self.outputs[out];
        let Some(lane) = output.next() else { return };
        let Some((len, class)) = output.frames(lane).front().map(|first| (first.len, first.class)) else {
            broken("no frame starts")
        };
        let class = usize::from(class);
        if self.management.at_start || turn.net.record.trips || output.data[class].point.is_some() {
            self.pass_point((out, class), lane, turn);
        }
        let output = &mut self.outputs[out];
        output.port.start(lane, (lane, len), turn);
    }

    /// The first frame of a lane starts: its congestion point, the memory and its trace learn of it.
    fn pass_point(&mut self, (out, class): At, lane: Lane, turn: &mut Turn<'_>) {
        let Some(mut frame) = self.outputs[out].frames(lane).front().copied() else { return };
        if let (true, Some(point)) = (frame.is_data(), &self.outputs[out].data[class].point) {
            if let Some(stamp) = point.stamp() {
                frame.stamp(stamp);
            }
            let port = point.port;
            if point.departures {
                let mut seen = frame.seen(turn.net, false, turn.records);
                self.wake((out, class), Verb::Departure(&mut seen), (), turn);
                frame.write(&seen, port, turn.records);
            }
            let view = self.view((out, class), (), turn.now);
            if let Some(point) = &mut self.outputs[out].data[class].point {
                point.leave(&mut frame, &view, turn.now, turn.records);
            }
        }
        if let (true, Lane::Data(_)) = (self.management.at_start, frame.lane) {
            self.free(out, &frame, turn);
        }
        if turn.net.record.trips && frame.is_data() && frame.record() > 0 {
            turn.records.step(frame.record(), turn.net.ports[turn.node as usize] + out as u32, turn.now);
        }
        self.outputs[out].frames(lane).front_mut().into_iter().for_each(|first| *first = frame);
    }

    /// The last bit of a frame has left.
    fn end(&mut self, out: usize, turn: &mut Turn<'_>) {
        let (output, freed) = (&mut self.outputs[out], self.management.at_start);
        let (lane, link) = output.port.end(turn);
        let Some(frame) = output.take(lane) else { broken("no frame has left") };
        match frame.lane {
            Lane::Pause => {}
            Lane::Control => output.control_queued -= u64::from(frame.len),
            Lane::Data(class) => {
                output.data[usize::from(class)].bytes -= u64::from(frame.len);
                let bits = if frame.is_data() { 8 * u32::from(frame.len) } else { 0 };
                output.kept.iter_mut().for_each(|kept| kept.push((turn.now, -i32::from(frame.len), bits)));
            }
        }
        if let (true, own) = (frame.lane > Lane::Pause, &mut output.data[usize::from(frame.class)].result) {
            let data = u64::from(frame.is_data());
            own.sent += data;
            own.sent_bits += data * u64::from(frame.len) * 8;
            own.control_sent += 1 - data;
        }
        self.leave(out, &frame, (Some(link), freed), turn);
    }

    /// What was kept of its outputs' queues.
    pub(crate) fn kept(&mut self) -> Vec<(u16, Vec<Change>)> {
        let of = |(out, output): (u16, &mut Output)| Some((out, output.kept.take()?));
        (0..).zip(&mut self.outputs).filter_map(of).collect()
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.outputs.iter().map(|o| o.left.frames()).sum()
    }
}

impl<'n> Switching<'n, Turn<'n>> for Switch {
    type Frame = Frame;
    type Ahead = ();

    fn moment(&self, turn: &Turn<'n>) -> Moment<'n> {
        turn.moment()
    }
    fn ports(&self) -> usize {
        self.outputs.len()
    }
    fn outlet(&mut self, (out, class): At) -> Outlet<'_> {
        let Output { port: Transmitter { link, paused, .. }, left, data, result, .. } =
            &mut self.outputs[out];
        let Queue { point, result: of_class, .. } = &mut data[class];
        let (management, point, of_class) = (&mut self.management, point.as_deref_mut(), Some(of_class));
        Outlet { management, point, paused, link: *link, left, result, of_class }
    }
    fn memory(&mut self, class: usize) -> (&mut Management, &mut Memory) {
        (&mut self.management, &mut self.memory[self.places[class].0])
    }
    fn shares(&self, class: usize, other: usize) -> bool {
        self.places[class].0 == self.places[other].0
    }
    fn row(&self, class: usize) -> usize {
        self.places[class].1
    }
    fn records<'a>(turn: &'a mut Turn<'n>) -> &'a mut Records {
        turn.records
    }
    fn direct<'a>(turn: &'a mut Turn<'n>) -> &'a mut Vec<Direct> {
        &mut turn.out.direct
    }
    fn queued(&self, (out, class): At) -> u64 {
        self.outputs[out].data[class].bytes
    }
    fn freed(&self, (out, class): At) -> u64 {
        let output = &self.outputs[out];
        let freed = if self.management.at_start { output.waiting(class).1 } else { 0 };
        output.data[class].frames.iter().take(freed).map(|frame| u64::from(frame.len)).sum()
    }
    fn frames(&self, (out, class): At) -> impl Iterator<Item = &Frame> {
        self.outputs[out].data[class].frames.iter()
    }
    fn gate(&self, out: usize) -> (TxRate, &[Paused]) {
        let port = &self.outputs[out].port;
        (port.service, &port.paused)
    }
    fn sent(&self, out: usize) -> (u64, u64, u64) {
        let output = &self.outputs[out];
        let frames = output.data.iter().flat_map(|queue| &queue.frames);
        output.left.sent(frames.filter(|f| !f.is_data()).map(|f| f.len))
    }
    fn is_still(&self, out: usize) -> bool {
        let Output { port, pauses, control, data, .. } = &self.outputs[out];
        let frames = pauses.len() + control.len() + data.iter().map(|q| q.frames.len()).sum::<usize>();
        frames == 0 && port.sends.is_none()
    }
    fn has_waiting(&self, (out, class): At) -> bool {
        self.outputs[out].waiting(class).0 > 0
    }
    fn take_waiting(&mut self, (out, class): At) -> Option<Frame> {
        let sending = self.outputs[out].waiting(class).1;
        let queue = &mut self.outputs[out].data[class];
        let frame = queue.frames.remove(sending)?;
        queue.bytes -= u64::from(frame.len);
        Some(frame)
    }
    fn view(&mut self, (out, class): At, (): (), now: u64) -> View {
        let output = &self.outputs[out];
        let waiting = output.queued() + output.control_queued;
        let bytes = (output.data[class].bytes, waiting, output.left.bytes);
        view(bytes, (output.port.link, output.service), output.port.paused.get(class), now)
    }
    fn last(&mut self, (out, class): At, (): ()) -> Option<&mut Frame> {
        self.outputs[out].data[class].frames.back_mut()
    }
    fn bin(&mut self, out: usize, _: u64) -> u64 {
        self.outputs[out].queued()
    }
    fn by_class(&self, net: &Net) -> Vec<Vec<PortOutcome>> {
        let of = |output: &Output, class: usize| {
            let paused = Paused::close(&output.port.paused[class..=class], net).total;
            PortOutcome { paused, ..output.data[class].result.clone() }
        };
        let classes = (0..net.classes.len()).filter(|_| net.classes.len() > 1);
        classes.map(|class| self.outputs.iter().map(|output| of(output, class)).collect()).collect()
    }

    fn note_next(&mut self, next: Key, turn: &mut Turn<'n>) {
        turn.agenda.own = rank(next);
    }
    fn change(&mut self, out: usize, frame: &Frame, by: i32) -> Option<Signal> {
        let (memory, row) = self.places[frame.lane.class()];
        self.memory[memory].change(out, row + usize::from(frame.input), by)
    }
    fn push(&mut self, out: usize, frame: &Frame, turn: &mut Turn<'n>) {
        let output = &mut self.outputs[out];
        match frame.lane {
            Lane::Pause => {}
            Lane::Control => output.control_queued += u64::from(frame.len),
            Lane::Data(class) => {
                let none = output.waiting(class.into()).0 == 0;
                let queue = &mut output.data[usize::from(class)];
                queue.bytes += u64::from(frame.len);
                queue.result.queue_max = queue.result.queue_max.max(queue.bytes);
                // A class whose frames wait takes turns already.
                if none {
                    output.lanes.join(class);
                }
                let queued = output.queued();
                output.left.note_peak(queued);
                output.kept.iter_mut().for_each(|kept| kept.push((turn.now, frame.len.into(), 0)));
            }
        }
        output.frames(frame.lane).push_back(*frame);
        output.port.plan_start(turn);
    }
    fn send(&mut self, link: &Link, frame: &Frame, _: bool, turn: &mut Turn<'n>) {
        turn.send(link, frame);
    }
    fn serve(&mut self, out: usize, rate: (Rate, TxRate)) {
        let output = &mut self.outputs[out];
        (output.service, output.port.service) = rate;
    }
    fn look_again(&mut self, out: usize, turn: &mut Turn<'n>) {
        self.outputs[out].port.plan_start(turn);
    }
    fn count_down(&mut self, out: usize, frame: &Frame) -> bool {
        let point = self.outputs[out].data[frame.lane.class()].point.as_mut().filter(|_| frame.is_data());
        point.is_some_and(|point| count_down(&mut point.state.countdown, frame.len))
    }
    fn opens(&mut self, (out, class): At, tagged: bool, (): ()) -> bool {
        let point = self.outputs[out].data[class].point.as_mut();
        point.is_some_and(|point| point.state.wakes(point.state.countdown, tagged))
    }
    fn framed(&self, (control, class): (Control, u8), turn: &mut Turn<'n>) -> Frame {
        let frame = Frame::of_control(Lane::of_message(turn.net.control), &control, turn.moment(), &mut ());
        Frame { input: self.outputs.len() as u16, ..frame.of_class(class, turn.net) }
    }
    fn probe(frame: &Frame, _: &mut Turn<'n>) -> Option<(FlowId, Probe)> {
        match &frame.body {
            Body::Control(Control { flow, says: Says::Probe(probe), .. }) => Some((*flow, *probe)),
            _ => None,
        }
    }
    fn write_probe(frame: &mut Frame, probe: Probe, _: &mut Turn<'n>) {
        if let Body::Control(control) = &mut frame.body {
            control.says = Says::Probe(probe);
        }
    }
}
