//! A node that runs by the laws of [`crate::model`], one event at a time.

use crate::check::{Books, Ledger, broken};
use crate::model::{
    Agenda, Body, Control, Data, Direct, Frame, Host, Kind, Lane, Moment, NO_EVENT, Nic, Outside, Packet,
    Records, Says, Sides, Switch, Switching, Turn, of_rank, place_of_data, rank,
};
use crate::net::{Link, Net, Ps};
use crate::spec::RunSpec;
use cnsim_scheme_api::{FlowId, Probe};

/// A frame on its way to another node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Number of the receiving port in the network, and its node.
    pub(super) port: u32,
    pub(super) node: u32,
    /// When it counts there: propagation and processing have passed.
    pub(super) at: Ps,
    /// The frame.
    pub(super) frame: Frame,
}

/// What is outside of the model's nodes.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Frames put on links.
    pub(super) sent: Vec<Sent>,
    /// Feedback without frames.
    pub(super) direct: Vec<Direct>,
    /// Telemetry of the frames under way.
    pub(super) records: Records,
}

impl Outside<Frame> for Outbox {
    fn beside(&mut self) -> (&mut Records, &mut Vec<Direct>) {
        (&mut self.records, &mut self.direct)
    }
    fn send(&mut self, link: &Link, frame: &Frame, _: bool, Moment { now, net }: Moment<'_>) {
        let arrives = now + link.delay;
        let at = if frame.lane == Lane::Pause { net.laws.pause_frames.obeyed(arrives) } else { arrives };
        self.sent.push(Sent { port: link.peer, node: link.peer_node, at, frame: *frame });
    }
    fn framed(&mut self, (control, class): &(Control, u8), input: u16, at: Moment<'_>) -> Frame {
        let frame = Frame::of_control(Lane::of_message(at.net.laws.control), control, at, &mut ());
        Frame { input, ..frame.of_class(*class, at.net) }
    }
    fn probe(&mut self, frame: &Frame) -> Option<(FlowId, Probe)> {
        match &frame.body {
            Body::Control(Control { flow, says: Says::Probe(probe), .. }) => Some((*flow, *probe)),
            _ => None,
        }
    }
    fn write_probe(&mut self, frame: &mut Frame, probe: Probe) {
        if let Body::Control(control) = &mut frame.body {
            control.says = Says::Probe(probe);
        }
    }
}

/// What nodes share: the network, and what they have put out.
pub(super) struct Shared<'a> {
    pub(super) net: &'a Net,
    pub(super) out: &'a mut Outbox,
}

/// The laws of a node that keeps frames in some way.
#[derive(Debug)]
pub(super) enum Laws<F: Packet> {
    Host(Box<Host<F>>),
    Switch(Box<Switch<F>>),
}

impl<F: Packet> Laws<F> {
    /// Those of node `turn.node`, with its first event planned.
    pub(super) fn new(spec: &RunSpec, turn: &mut Turn<'_, impl Outside<F>>) -> Self {
        let id = turn.node;
        match (id as usize).checked_sub(spec.hosts.len()) {
            None => Self::Host(Box::new(Host::new(&spec.hosts[id as usize], turn))),
            Some(s) => Self::Switch(Box::new(Switch::new(&spec.switches[s], id, &spec.events.changes, turn))),
        }
    }

    /// When something stopped the run here, ps.
    pub(super) fn failed_at(&self) -> Option<Ps> {
        match self {
            Self::Host(host) => host.failed_at(),
            Self::Switch(switch) => switch.management.failure.at(),
        }
    }

    /// Data and control frames that it has put on its links.
    pub(super) fn hops(&self) -> u64 {
        match self {
            Self::Host(host) => host.sides.iter().map(Sides::hops).sum(),
            Self::Switch(switch) => switch.outputs.iter().map(|output| output.left.frames()).sum(),
        }
    }

    /// Ends the run: its books.
    pub(super) fn close<O: Outside<F>>(self, net: &Net) -> Books {
        match self {
            Self::Host(host) => host.close(net),
            Self::Switch(switch) => switch.hand_in::<O>(net),
        }
    }
}

/// Frames on their way to a node.
#[derive(Debug, Default)]
struct Arriving {
    /// When each arrives, by [`rank`], how many were sent before it, and its place.
    order: Vec<(u128, u64, u32)>,
    sent: u64,
    frames: Vec<Frame>,
    /// Places that are free: the one that was left last is taken first, as it is near.
    free: Vec<u32>,
}

/// A host or a switch.
#[derive(Debug)]
pub(super) struct Node {
    id: u32,
    /// When something happens here next, ps.
    pub(super) next: Ps,
    arriving: Arriving,
    agenda: Agenda,
    pub(super) laws: Laws<Frame>,
}

impl Node {
    /// Builds a node; its first event is planned.
    pub(super) fn new(spec: &RunSpec, id: u32, with: &mut Shared<'_>) -> Self {
        let ports = with.net.links_of(id as usize).len();
        let mut agenda = Agenda::new(ports);
        let laws = Laws::new(spec, &mut with.turn(Ps(0), id, &mut agenda));
        let next = of_rank(agenda.next()).0;
        Self { id, next, arriving: Arriving::default(), agenda, laws }
    }

    /// A frame is on its way to it.
    pub(super) fn await_frame(&mut self, sent: &Sent, net: &Net) {
        let (time, kind) = (sent.at, Kind::of_arrival(sent.frame.lane));
        let port = (sent.port - net.ports[self.id as usize]) as u16;
        let place = match kind {
            Kind::Data => place_of_data(net, self.id, time, port, sent.frame.len),
            _ => port.into(),
        };
        self.next = self.next.min(time);
        let Arriving { order, sent: before, frames, free } = &mut self.arriving;
        let at = free.pop().unwrap_or(frames.len() as u32);
        match frames.get_mut(at as usize) {
            Some(old) => *old = sent.frame,
            None => frames.push(sent.frame),
        }
        order.push((rank((time, kind, place)), *before, at));
        *before += 1;
    }

    /// Feedback that takes no link is on its way to it.
    pub(super) fn await_feedback(&mut self, direct: &Direct, with: &mut Shared<'_>) {
        let Self { id, agenda, laws: Laws::Host(host), .. } = self else { broken("feedback to a switch") };
        host.expect(direct, &mut with.turn(Ps(0), *id, agenda));
        self.next = self.next.min(of_rank(self.agenda.next()).0);
    }

    /// Carries out its events before `end`: how many.
    pub(super) fn run(&mut self, end: Ps, with: &mut Shared<'_>) -> u64 {
        let Self { id, agenda, arriving, laws, .. } = self;
        let (limit, mut met, mut count) = (rank((end, Kind::Change, 0)), 0, 0);
        arriving.order.sort_unstable();
        let turn = &mut with.turn(Ps(0), *id, agenda);
        loop {
            let arrival = arriving.order.get(met).filter(|arrival| arrival.0 < limit);
            if let Some(event) = turn.pass_before(arrival.map_or(limit, |arrival| arrival.0)) {
                match laws {
                    Laws::Host(host) => host.execute(event, turn),
                    Laws::Switch(switch) => switch.execute(event, turn),
                }
            } else if let Some((arrival, _, at)) = arrival {
                let (frame, event) = (&mut arriving.frames[*at as usize], of_rank(*arrival));
                turn.now = event.0;
                match laws {
                    Laws::Host(host) => receive_at_host(host, frame, turn),
                    Laws::Switch(switch) => receive(switch, frame, event.2 as u16, turn),
                }
                arriving.free.push(*at);
                met += 1;
            } else {
                break;
            }
            count += 1;
        }
        arriving.order.drain(..met);
        let arrival = arriving.order.first().map_or(rank(NO_EVENT), |arrival| arrival.0);
        self.next = of_rank(arrival.min(agenda.next())).0;
        count
    }

    /// Ends the run: its books, and the frames that have not reached it.
    pub(super) fn close(self, net: &Net, on_wires: &mut Ledger) -> Books {
        let waits = self.arriving.order.iter().map(|arrival| &self.arriving.frames[arrival.2 as usize]);
        waits.for_each(|frame| frame.enter(on_wires));
        self.laws.close::<Outbox>(net)
    }
}

/// A frame has arrived at a port of a switch.
fn receive(switch: &mut Switch<Frame>, frame: &mut Frame, port: u16, turn: &mut Turn<'_, Outbox>) {
    frame.input = port;
    match frame.body {
        Body::Pause(pause) => switch.hear(port.into(), pause, turn),
        Body::Data(Data { src, dst, number, .. }) => {
            let index = switch.management.index(turn.net);
            let out = turn.net.route(index, (src, dst, number), &mut switch.management.paths);
            switch.arrive(out.into(), frame, turn);
        }
        Body::Control(_) => switch.forward(*frame, turn),
    }
}

/// A frame has arrived at a host.
fn receive_at_host(host: &mut Host<Frame>, frame: &Frame, turn: &mut Turn<'_, Outbox>) {
    if let Lane::Data(_) = frame.lane {
        host.fail(Some((frame.len, frame.class)), turn);
    }
    let (sides, at) = (&mut host.sides[usize::from(frame.class)], turn.moment());
    let Outbox { records, direct, .. } = &mut *turn.out;
    match frame.body {
        Body::Pause(pause) => sides.sender.pause(pause, &mut host.port.paused, at),
        Body::Data(data) => sides.take((&data, frame.len, frame.class), records, direct, at),
        Body::Control(Control { flow, says, .. }) => sides.hear((flow, says), records, direct, at),
    }
    host.settle(1 << frame.class, turn);
}

impl Nic<Shared<'_>> for Node {
    fn next(&self, _: &Shared<'_>) -> Ps {
        self.next
    }
    fn pass(&mut self, now: Ps, with: &mut Shared<'_>) {
        self.run(now + Ps(1), with);
    }
    fn tells(&mut self) -> Option<(u32, u32)> {
        let Laws::Host(host) = &mut self.laws else { return None };
        host.sides.iter_mut().find_map(|sides| sides.sender.tells(false))
    }
    fn advise(&mut self, n: u32, now: Ps, with: &mut Shared<'_>) {
        let Self { id, agenda, laws: Laws::Host(host), .. } = self else { broken("a switch among NICs") };
        host.advise(n, &mut with.turn(now, *id, agenda));
        self.next = self.next.min(of_rank(self.agenda.next()).0);
    }
}

impl Shared<'_> {
    /// The turn of a node.
    fn turn<'a>(&'a mut self, now: Ps, node: u32, agenda: &'a mut Agenda) -> Turn<'a, Outbox> {
        Turn { now, node, net: self.net, agenda, out: self.out }
    }
}
