//! A store-and-forward switch: a frame that has arrived whole is routed, admitted to the memory, queued at its output, and sent.
//!
//! Each output sends PAUSE before control before data, whose classes take turns ([`super::turns`]). A frame counts in its queue, and its
//! memory is in use, until its last bit has left. Control at priority takes no memory. What it does, and in which order, stands in
//! [`super::switching`]. Frames may be packed: the fast way runs guests by this body, too ([`Outside`]).

use super::agenda::{Key, Kind, Moment, Turn, rank};
use super::frame::Lane;
use super::management::Management;
use super::memory::Memory;
use super::packet::{Outside, Packet};
use super::pause::{Paused, Signal};
use super::point::{Point, Verb, depart, view};
use super::port::{At, Left, Transmitter};
use super::records::Records;
use super::switching::{Outlet, Switching};
use super::turns::{Lanes, Offer, Weights};
use crate::check::{Books, Change, broken};
use crate::net::{Link, Net, Ps};
use crate::outcome::PortOutcome;
use crate::spec::{RateChange, SwitchSpec};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{Queue as View, Rate};
use std::collections::VecDeque;
use std::sync::Arc;

/// The queue of a class at an output.
#[derive(Debug)]
pub(crate) struct Queue<F> {
    /// The frame in transmission is the first.
    pub(crate) frames: VecDeque<F>,
    /// Bytes that have not left: the frame in transmission is among them.
    pub(crate) bytes: u64,
    pub(crate) point: Option<Box<Point>>,
    /// What was measured of the class.
    pub(crate) result: PortOutcome,
}

/// An output port.
#[derive(Debug)]
pub(crate) struct Output<F> {
    /// It sends the first frame of a lane.
    pub(crate) port: Transmitter<Lane>,
    /// Number of the port in the network.
    number: u32,
    pub(crate) lanes: Lanes,
    /// Rate at which data is served, as it is told to congestion points.
    service: Rate,
    pub(crate) pauses: VecDeque<F>,
    pub(crate) control: VecDeque<F>,
    /// By class.
    pub(crate) data: Vec<Queue<F>>,
    /// Bytes of control that have not left.
    pub(crate) control_queued: u64,
    pub(crate) left: Left,
    result: PortOutcome,
    /// What comes to its data and leaves it, where that is kept.
    pub(crate) kept: Option<Vec<Change>>,
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch<F> {
    pub(crate) outputs: Vec<Output<F>>,
    pub(crate) memory: Vec<Memory>,
    /// By class, its memory, and its row there.
    pub(crate) places: Vec<(usize, usize)>,
    pub(crate) management: Management,
}

impl<F: Packet> Output<F> {
    fn new(number: u32, scheme: Option<usize>, weights: &Arc<Weights>, (net, node): (&Net, u32)) -> Self {
        let port = net.ports[node as usize] + number;
        let queue = |class: usize| {
            let point = Point::new(net, net.classes[class].scheme(scheme), (port, class)).map(Box::new);
            Queue { point, frames: VecDeque::new(), bytes: 0, result: PortOutcome::default() }
        };
        Self {
            port: Transmitter::new(
                number as u16,
                net.links[port as usize],
                vec![Paused::default(); net.classes.len()],
            ),
            number: port,
            lanes: Lanes::of_output(weights),
            service: net.rate(port),
            pauses: VecDeque::new(),
            control: VecDeque::new(),
            data: (0..net.classes.len()).map(queue).collect(),
            control_queued: 0,
            left: Left::default(),
            result: PortOutcome::default(),
            kept: net.keeps_queue(node, number as u16).then(Vec::new),
        }
    }

    /// The frames of a lane that have not left.
    pub(crate) fn frames(&mut self, lane: Lane) -> &mut VecDeque<F> {
        match lane {
            Lane::Pause => &mut self.pauses,
            Lane::Control => &mut self.control,
            Lane::Data(class) => &mut self.data[usize::from(class)].frames,
        }
    }

    /// How many frames of a class wait, and how many of it are in transmission.
    pub(crate) fn waiting(&self, class: usize) -> (usize, usize) {
        let sending = usize::from(self.port.sends == Some(Lane::Data(class as u8)));
        (self.data[class].frames.len() - sending, sending)
    }

    /// Bytes of all classes that have not left.
    pub(crate) fn queued(&self) -> u64 {
        self.data.iter().map(|q| q.bytes).sum()
    }

    /// As the congestion point of a class sees it.
    fn view(&self, class: usize, now: Ps) -> View {
        let bytes = (self.data[class].bytes, self.queued() + self.control_queued, self.left.bytes);
        view(bytes, (self.port.link, self.service), self.port.paused.get(class), now)
    }

    /// A data frame of a class starts: [`depart`].
    pub(crate) fn pass_point(&mut self, class: usize, frame: &mut F, now: Ps, records: &mut Records) {
        let view = self.view(class, now);
        depart(frame, self.data[class].point.as_deref_mut(), (self.number, now), &view, records);
    }

    /// The frame that goes next now, the first of its lane.
    pub(crate) fn next(&mut self) -> Option<(Lane, F)> {
        let Self { port, lanes, pauses, control, data, .. } = self;
        lanes.next(|lane, most| {
            let queue = match lane {
                Lane::Pause if pauses.is_empty() => return Offer::Nothing,
                Lane::Control if control.is_empty() => return Offer::Nothing,
                Lane::Pause => &*pauses,
                Lane::Control => &*control,
                Lane::Data(class) => &data[usize::from(class)].frames,
            };
            if port.sends.is_some() || port.is_stopped(lane) {
                return Offer::Stopped;
            }
            match queue.front() {
                None => Offer::Nothing,
                Some(first) if i64::from(first.bytes()) > most => Offer::TooLong,
                Some(first) => Offer::Frame((lane, *first), first.bytes(), queue.len() == 1),
            }
        })
    }

    /// A frame joins its lane, with so many bytes of all classes queued before and after.
    #[inline]
    pub(crate) fn push(&mut self, frame: F, queued: &mut u64) {
        let (lane, len) = (frame.lane(), u64::from(frame.bytes()));
        match lane {
            Lane::Pause => {}
            Lane::Control => self.control_queued += len,
            Lane::Data(class) => {
                let none = self.waiting(class.into()).0 == 0;
                let queue = &mut self.data[usize::from(class)];
                *queued += len;
                queue.bytes += len;
                queue.result.queue_max = queue.result.queue_max.max(queue.bytes);
                self.left.note_peak(*queued);
                // A class whose frames wait takes turns already.
                if none {
                    self.lanes.join(class);
                }
            }
        }
        self.frames(lane).push_back(frame);
    }

    /// A frame has joined its queue of data: [`Left::join`].
    #[inline(always)]
    pub(crate) fn join(&mut self, frame: &F) -> bool {
        let point = self.data[frame.lane().class()].point.as_mut();
        self.left.join(frame, point.map(|point| &mut point.state.countdown))
    }

    /// The last bit of the first frame of a lane has left.
    #[inline(always)]
    pub(crate) fn pop(&mut self, lane: Lane) -> F {
        let frames = self.frames(lane);
        let Some(frame) = frames.pop_front() else { broken("no frame has left") };
        // An empty queue begins anew in the same memory, which is near then.
        if frames.is_empty() {
            frames.clear();
        }
        let (data, len) = (u64::from(frame.is_data()), u64::from(frame.bytes()));
        match lane {
            Lane::Pause => return frame,
            Lane::Control => self.control_queued -= len,
            Lane::Data(class) => self.data[usize::from(class)].bytes -= len,
        }
        let own = &mut self.data[usize::from(frame.class())].result;
        own.sent += data;
        own.sent_bits += data * len * 8;
        own.control_sent += 1 - data;
        frame
    }
}

impl<F: Packet> Switch<F> {
    /// The switch of number `node`, with its first event planned.
    pub(crate) fn new(
        spec: &SwitchSpec,
        node: u32,
        changes: &[RateChange],
        turn: &mut Turn<'_, impl Outside<F>>,
    ) -> Self {
        let net = turn.net;
        let (own, weights) = (spec.memories(&net.classes), Arc::new(Weights::new(net)));
        let place = |class: usize| {
            let of = |own: &Vec<usize>| own.iter().position(|one| *one == class);
            let found = own.iter().enumerate().find_map(|(n, own)| Some((n, of(own)?)));
            found.map_or((0, 0), |(memory, nth)| (memory, nth * (usize::from(spec.ports) + 1)))
        };
        let mut switch = Self {
            outputs: (0..u32::from(spec.ports))
                .map(|number| Output::new(number, spec.scheme, &weights, (net, node)))
                .collect(),
            memory: own.iter().map(|own| Memory::new(spec, own, &net.classes)).collect(),
            places: (0..net.classes.len()).map(place).collect(),
            management: Management::new(net, node, spec, changes),
        };
        switch.begin_points(turn);
        switch
    }

    /// Carries out an event of its own.
    #[inline]
    pub(crate) fn execute(&mut self, (_, kind, index): Key, turn: &mut Turn<'_, impl Outside<F>>) {
        match kind {
            Kind::End => self.end(index as usize, turn),
            Kind::Start => self.start(index as usize, turn),
            kind => self.happen(kind, turn),
        }
    }

    /// An idle transmitter looks for a frame.
    pub(crate) fn start(&mut self, out: usize, turn: &mut Turn<'_, impl Outside<F>>) {
        let Some((lane, mut frame)) = self.outputs[out].next() else { return };
        let at = (out, usize::from(frame.class()));
        let all = self.management.at_start || turn.net.record.trips;
        if all || self.outputs[out].data[at.1].point.is_some() {
            self.pass_point(at, &mut frame, turn);
            self.outputs[out].frames(lane).front_mut().into_iter().for_each(|first| *first = frame);
        }
        self.outputs[out].port.start(lane, (lane, frame.bytes()), turn);
    }

    /// A frame starts: its trace, its congestion point and the memory learn of it.
    fn pass_point(&mut self, at: At, frame: &mut F, turn: &mut Turn<'_, impl Outside<F>>) {
        let Moment { now, net } = turn.moment();
        if frame.is_data() {
            let point = self.outputs[at.0].data[at.1].point.as_deref();
            let stamp = point.and_then(Point::stamp);
            stamp.into_iter().for_each(|stamp| frame.stamp(stamp, turn.out.beside().0));
            if let Some(port) = point.filter(|point| point.departures).map(|point| point.port) {
                let mut seen = frame.seen(net, false, turn.out.beside().0);
                self.wake(at, Verb::Departure(&mut seen), (), turn);
                frame.write(&seen, port, turn.out.beside().0);
            }
            self.outputs[at.0].pass_point(at.1, frame, now, turn.out.beside().0);
        }
        if let (true, Lane::Data(_)) = (self.management.at_start, frame.lane()) {
            self.free(at.0, frame, turn);
        }
    }

    /// The links of its ports.
    pub(crate) fn links(&mut self) -> impl Iterator<Item = &mut Link> {
        self.outputs.iter_mut().filter_map(|output| output.port.link.as_mut())
    }

    /// Ends the run: its books, with what was kept of its outputs' queues.
    pub(crate) fn hand_in<O: Outside<F>>(mut self, net: &Net) -> Books {
        let of = |(out, output): (u16, &mut Output<F>)| Some((out, output.kept.take()?));
        let queues = (0..).zip(&mut self.outputs).filter_map(of).collect();
        let mut books = Switching::<Turn<'_, O>>::close(&mut self, net);
        books.kept.queues = queues;
        books
    }
}

impl<'n, F: Packet, O: Outside<F>> Switching<'n, Turn<'n, O>> for Switch<F> {
    type Frame = F;
    type Outside = O;
    type Ahead = ();

    fn moment(&self, turn: &Turn<'n, O>) -> Moment<'n> {
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
    fn outside<'a>(turn: &'a mut Turn<'n, O>) -> &'a mut O {
        turn.out
    }
    fn queued(&self, (out, class): At) -> u64 {
        self.outputs[out].data[class].bytes
    }
    fn freed(&self, (out, class): At) -> u64 {
        let output = &self.outputs[out];
        let freed = if self.management.at_start { output.waiting(class).1 } else { 0 };
        output.data[class].frames.iter().take(freed).map(|frame| u64::from(frame.bytes())).sum()
    }
    fn frames(&self, (out, class): At) -> impl Iterator<Item = &F> {
        self.outputs[out].data[class].frames.iter()
    }
    fn gate(&self, out: usize) -> (TxRate, &[Paused]) {
        let port = &self.outputs[out].port;
        (port.service, &port.paused)
    }
    fn sent(&self, out: usize) -> (u64, u64, u64) {
        let output = &self.outputs[out];
        let frames = output.data.iter().flat_map(|queue| &queue.frames);
        output.left.sent(frames.filter(|f| !f.is_data()).map(|f| f.bytes()))
    }
    fn is_still(&self, out: usize) -> bool {
        let Output { port, pauses, control, data, .. } = &self.outputs[out];
        let frames = pauses.len() + control.len() + data.iter().map(|q| q.frames.len()).sum::<usize>();
        frames == 0 && port.sends.is_none()
    }
    fn has_waiting(&self, (out, class): At) -> bool {
        self.outputs[out].waiting(class).0 > 0
    }
    #[inline]
    fn finish(&mut self, out: usize, turn: &mut Turn<'n, O>) -> (F, bool, bool) {
        let output = &mut self.outputs[out];
        let lane = output.port.end(turn).0;
        let frame = output.pop(lane);
        if let (Lane::Data(_), Some(kept)) = (lane, &mut output.kept) {
            let (len, bits) = (frame.bytes(), if frame.is_data() { 8 * u32::from(frame.bytes()) } else { 0 });
            kept.push((turn.now, -i32::from(len), bits));
        }
        (frame, false, self.management.at_start)
    }
    fn take_waiting(&mut self, (out, class): At) -> Option<F> {
        let sending = self.outputs[out].waiting(class).1;
        let queue = &mut self.outputs[out].data[class];
        let frame = queue.frames.remove(sending)?;
        queue.bytes -= u64::from(frame.bytes());
        Some(frame)
    }
    fn view(&mut self, (out, class): At, (): (), now: Ps) -> View {
        self.outputs[out].view(class, now)
    }
    fn last(&mut self, (out, class): At, (): ()) -> Option<&mut F> {
        self.outputs[out].data[class].frames.back_mut()
    }
    fn bin(&mut self, out: usize, _: Ps) -> u64 {
        self.outputs[out].queued()
    }
    fn by_class(&self, net: &Net) -> Vec<Vec<PortOutcome>> {
        let of = |output: &Output<F>, class: usize| {
            let paused = Paused::close(&output.port.paused[class..=class], net).total;
            PortOutcome { paused, ..output.data[class].result.clone() }
        };
        let classes = (0..net.classes.len()).filter(|_| net.classes.len() > 1);
        classes.map(|class| self.outputs.iter().map(|output| of(output, class)).collect()).collect()
    }

    fn note_next(&mut self, next: Key, turn: &mut Turn<'n, O>) {
        turn.agenda.own = rank(next);
    }
    fn change(&mut self, out: usize, frame: &F, by: i32) -> Option<Signal> {
        let (memory, row) = self.places[frame.lane().class()];
        self.memory[memory].change(out, row + usize::from(frame.input()), by)
    }
    fn push(&mut self, out: usize, frame: &F, turn: &mut Turn<'n, O>) {
        let output = &mut self.outputs[out];
        output.push(*frame, &mut output.queued());
        if let (Lane::Data(_), Some(kept)) = (frame.lane(), &mut output.kept) {
            kept.push((turn.now, frame.bytes().into(), 0));
        }
        output.port.plan_start(turn);
    }
    fn serve(&mut self, out: usize, rate: (Rate, TxRate)) {
        let output = &mut self.outputs[out];
        (output.service, output.port.service) = rate;
    }
    fn look_again(&mut self, out: usize, turn: &mut Turn<'n, O>) {
        self.outputs[out].port.plan_start(turn);
    }
    fn join(&mut self, out: usize, frame: &F) -> bool {
        self.outputs[out].join(frame)
    }
    fn opens(&mut self, (out, class): At, tagged: bool, (): ()) -> bool {
        let point = self.outputs[out].data[class].point.as_mut();
        point.is_some_and(|point| point.state.wakes(point.state.countdown, tagged))
    }
}
