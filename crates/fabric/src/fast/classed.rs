//! Frames between hosts of several classes, and a switch of several classes.
//!
//! The switch is the model's ([`crate::model::Switch`]), event by event in order of time. It keeps packed frames, and runs a window at a
//! time: arrivals are put in order once, and what happens next follows from them and a short list of ends.
//!
//! * Claim: a network of several classes keeps packed frames and windows, and its threads.
//! * Same bits: what happens at a switch, and in which order, is the model's own.
//! * Bench row: w2-classes.
//! * Marks: Classes.

mod calm;

use crate::check::{Books, Spent, broken};
use crate::fast::bodies::Bodies;
use crate::fast::frame::{AFTER, Entry, Frame, NEVER, NO_EVENT};
use crate::fast::sweep::Scratch;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{
    Acting, Control, Data, Direct, Key, Kind, Lane, Moment, Packet, Pause, Records, Switch, Switching, To,
};
use crate::net::{Link, Net};
use crate::spec::RunSpec;
use calm::Calm;
use cnsim_scheme_api::{FlowId, FrameView, Hop, Probe};
use std::collections::VecDeque;

/// A frame with its class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classed(Frame);

/// What a frame does in its class as it does without one.
macro_rules! as_without {
    ($(($($by:tt)+) $name:ident($($arg:ident: $of:ty),*) -> $out:ty;)*) => {
        $(fn $name($($by)+ self, $($arg: $of),*) -> $out {
            self.0.$name($($arg),*)
        })*
    };
}

impl Packet for Classed {
    type Bodies = Bodies;
    fn of_data(len: u16, data: &Data) -> Self {
        Self(Frame::of_data(len, data))
    }
    fn of_control(lane: Lane, control: &Control, at: Moment<'_>, bodies: &mut Bodies) -> Self {
        Self(Frame::of_control(lane, control, at, bodies))
    }
    fn of_pause(pause: Pause, net: &Net) -> Self {
        Self(Frame::of_pause(pause, net))
    }
    #[inline]
    fn lane(&self) -> Lane {
        let lane = self.0.lane();
        if let Lane::Data(_) = lane { Lane::Data(self.class()) } else { lane }
    }
    fn input(&self) -> u16 {
        self.0.input
    }
    fn header(&self) -> Option<Data> {
        self.0.of_no_class().header()
    }
    as_without! {
        (&) class() -> u8;
        (&) goes_to() -> To;
        (&) addresses(net: &Net) -> Option<(u32, u32, u32)>;
        (&) about() -> FlowId;
        (&) record() -> u32;
        (&) is_tagged() -> bool;
        (&) is_data() -> bool;
        (&) bytes() -> u16;
        (&) seen(net: &Net, dropped: bool, records: &mut Records) -> FrameView;
        (&mut) set_counted() -> ();
        (&mut) write_tag(tag: (u8, u32)) -> ();
        (&mut) set_marked(marked: bool) -> ();
        (&mut) set_cut(cut: bool) -> ();
        (&mut) mark_at(port: u32, records: &mut Records) -> ();
        (&mut) stamp(stamp: (u8, u32), records: &mut Records) -> ();
        (&mut) open_trace(spent: Spent, records: &mut Records) -> ();
        (&mut) take_hop(hop: Hop, records: &mut Records) -> ();
        (&mut) write(view: &FrameView, port: u32, records: &mut Records) -> ();
    }
}

/// What a switch plans.
#[derive(Debug)]
struct Plan {
    /// The next of its own events.
    own: Key,
    /// Ports whose idle transmitters look for a frame at the end of this moment, a bit for each; and whether there is one.
    looking: Vec<u64>,
    looks: bool,
    /// By port, the end of its transmission.
    ends: Vec<u64>,
    /// These in order, if they are `listed`. One that begins later mostly ends later.
    list: VecDeque<(u64, u16)>,
    listed: bool,
}

impl Plan {
    /// Puts the ends in order.
    fn list_ends(&mut self) {
        if !std::mem::replace(&mut self.listed, true) {
            let Self { list, ends, .. } = self;
            list.clear();
            list.extend((0..).zip(&*ends).filter(|end| *end.1 < NEVER).map(|(port, end)| (*end, port)));
            list.make_contiguous().sort_unstable();
        }
    }
}

/// A switch's turn.
struct Act<'n, 'a> {
    now: u64,
    net: &'n Net,
    plan: &'a mut Plan,
    wires: &'a mut Wires,
}

impl<'n> Acting<'n, Classed> for Act<'n, '_> {
    #[inline]
    fn moment(&self) -> Moment<'n> {
        Moment { now: self.now, net: self.net }
    }
    fn records(&mut self) -> &mut Records {
        &mut self.wires.records
    }
    fn direct(&mut self) -> &mut Vec<Direct> {
        &mut self.wires.direct
    }
    fn note_next(&mut self, next: Key) {
        self.plan.own = next;
    }
    #[inline]
    fn plan_start(&mut self, port: u16) {
        self.plan.looking[usize::from(port) / 64] |= 1 << (port % 64);
        self.plan.looks = true;
    }
    #[inline]
    fn plan_end(&mut self, port: u16, time: u64) {
        self.plan.ends[usize::from(port)] = time;
        let list = &mut self.plan.list;
        list.push_back((time, port));
        let mut at = list.len() - 1;
        while at > 0 && list[at - 1] > list[at] {
            list.swap(at - 1, at);
            at -= 1;
        }
    }
    #[inline]
    fn send(&mut self, link: &Link, &Classed(frame): &Classed, at_once: bool) {
        let ready = self.now + link.delay;
        if frame.is_pause() {
            let obeyed = self.net.laws.pause_frames.obeyed(ready);
            if at_once || obeyed > ready {
                return self.wires.push(link.peer, Entry { ready: obeyed, frame }, None);
            }
        }
        self.wires.push_frame(link.peer, ready, &frame);
    }
    fn framed(&mut self, control: &Control, class: u8, ports: u16) -> Classed {
        let (lane, at) = (Lane::of_message(self.net.laws.control), self.moment());
        let frame = Frame::of_control(lane, control, at, &mut self.wires.bodies);
        let mut frame = frame.of_class(class, self.net);
        frame.input = ports;
        Classed(frame)
    }
    fn probe(&mut self, Classed(frame): &Classed) -> Option<(FlowId, Probe)> {
        let probe = frame.body().filter(|_| frame.is_probe()).and_then(|at| self.wires.bodies.probe(at));
        probe.map(|(flow, probe)| (flow, *probe))
    }
    fn write_probe(&mut self, Classed(frame): &mut Classed, probe: Probe) {
        self.wires.bodies.probe(frame.ext).into_iter().for_each(|(_, kept)| *kept = probe);
    }
    fn share(&mut self, Classed(frame): &Classed) {
        self.wires.bodies.share(frame.body());
    }
    fn release(&mut self, Classed(frame): &Classed) {
        self.wires.bodies.release(frame.body());
    }
}

/// A switch of several classes.
#[derive(Debug)]
pub(crate) struct ClassSwitch {
    /// Number of its first receiving port at the worker, and of these ports.
    inbox: u32,
    ports: usize,
    /// Number in the network, and among its switches.
    id: u32,
    index: usize,
    /// It stands there, ps.
    reached: u64,
    pub(crate) laws: Switch<Classed>,
    plan: Plan,
    calm: Calm,
}

impl ClassSwitch {
    pub(crate) fn new(net: &Net, spec: &RunSpec, id: u32, inbox: u32, wires: &mut Wires) -> Self {
        let (ports, index) = (net.links_of(id as usize).len(), (id - net.hosts) as usize);
        let looking = vec![0; ports.div_ceil(64)];
        let (ends, list) = (vec![NEVER; ports], VecDeque::new());
        let mut plan = Plan { own: NO_EVENT, looking, looks: false, ends, list, listed: true };
        let act = &mut Act { now: 0, net, plan: &mut plan, wires };
        let laws = Switch::new(&spec.switches[index], id, &spec.events.changes, act);
        let calm = Calm::new(&laws, index, net);
        Self { inbox, ports, id, index, reached: 0, laws, plan, calm }
    }

    /// Runs it up to `end` (exclusive).
    pub(crate) fn run(&mut self, end: u64, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        let base = std::mem::replace(&mut self.reached, end);
        if self.run_calmly(end, net, wires) {
            return;
        }
        hit(Mark::Classes);
        self.plan.list_ends();
        scratch.gather((self.id, self.inbox), 0..self.ports, (base, end), net, wires);
        let Self { laws, plan, inbox, index, .. } = self;
        let mut arrivals = scratch.keys.iter();
        let mut take = || {
            let key = arrivals.next()?;
            Some((base + (key >> 20), Kind::of_number((key >> 16) as usize), key & 0xFFFF))
        };
        let mut arrival = take().unwrap_or(NO_EVENT);
        let mut act = Act { now: base, net, plan, wires };
        loop {
            let ends = act.plan.list.front().map_or(NO_EVENT, |end| (end.0, Kind::End, end.1.into()));
            let first = arrival.min(ends).min(act.plan.own);
            if act.plan.looks && (first.0, first.1) > (act.now, Kind::Start) {
                let word = act.plan.looking.iter().position(|word| *word != 0);
                match word {
                    Some(n) => {
                        let port = 64 * n + act.plan.looking[n].trailing_zeros() as usize;
                        act.plan.looking[n] &= act.plan.looking[n] - 1;
                        laws.start(port, &mut act);
                    }
                    None => act.plan.looks = false,
                }
                continue;
            }
            if first.0 >= end {
                break;
            }
            act.now = first.0;
            if first == arrival {
                arrive(laws, (*inbox, *index), first.2 as u16, &mut act);
                arrival = take().unwrap_or(NO_EVENT);
            } else if first == ends {
                act.plan.list.pop_front();
                act.plan.ends[first.2 as usize] = NEVER;
                laws.end(first.2 as usize, &mut act);
            } else {
                laws.execute(first, &mut act);
            }
        }
    }

    /// When it must be visited next if nothing is sent to it.
    pub(crate) fn look_around(&self, wires: &Wires) -> u64 {
        let ends = self.plan.ends.iter().copied().min().unwrap_or(NEVER);
        self.plan.own.0.min(ends).min(wires.first_arrival(self.inbox, self.ports as u32))
    }

    /// Ends the run: its books.
    pub(crate) fn close(self, net: &Net) -> Books {
        self.laws.hand_in::<Act<'_, '_>>(net)
    }
}

/// A frame is taken off the wire of a port.
#[inline]
fn arrive(laws: &mut Switch<Classed>, (inbox, index): (u32, usize), port: u16, act: &mut Act<'_, '_>) {
    let inbox = act.wires.inboxes.get_mut(inbox as usize + usize::from(port));
    let Some(Entry { frame, .. }) = inbox.and_then(|inbox| inbox.pop_front(AFTER)) else {
        broken("an arrival without a frame")
    };
    if frame.passes_as_data() {
        let out = frame.output(act.net, index, &mut laws.management.paths);
        return laws.arrive(out.into(), &mut Classed(frame), act);
    }
    match frame.as_pause() {
        Some(pause) => laws.hear(port.into(), pause, act),
        None => laws.forward(Classed(frame), act),
    }
}
