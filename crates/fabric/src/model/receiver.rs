//! The receiving side of a host: deliveries, and the reflectors that see them. It sees nothing of the sending side, which carries out
//! what reflectors ask for ([`super::host`]).

use super::agenda::Moment;
use super::come::{DELAYED, Reply, Sinks, Taken};
use super::frame::{Control, Says, To};
use super::record::{Came, Deliveries, Of};
use super::sent::Report;
use crate::check::{Come, Failure, Trace, Who, broken};
use crate::net::{Net, Ps};
use crate::paged::Paged;
use crate::scheme::call;
use crate::timers::Timers;
use cnsim_scheme_api::network::{Lent, Purpose, ReflectorAction, ReflectorState, Stream};
use cnsim_scheme_api::{
    Acks, Feedback, FlowId, NodeId, Plan, Probe, Rate, Reflector, ReflectorControl, Scope, SinkSite, Slot,
};

/// A reflector, what it shares with the network, and the flow that it was built for.
#[derive(Debug)]
struct Ear {
    object: Box<dyn Reflector>,
    state: ReflectorState,
    flow: FlowId,
    /// The port that marked the last marked frame that it saw, by its number and one; 0 for none.
    marked_by: u32,
}

/// The reflectors of a host, by source host; one for all, where the scheme wants one for the whole host.
#[derive(Debug, Default)]
struct Ears {
    list: Vec<Ear>,
    /// By key, place in the list and one; 0 for none.
    places: Paged<u32>,
}

impl Ears {
    fn find(&self, key: u32) -> Option<usize> {
        (self.places.get(key) as usize).checked_sub(1)
    }
    fn get(&self, key: u32) -> Option<&Ear> {
        self.list.get(self.find(key)?)
    }
}

/// The number of the reflector of frames from this host, of a flow that has a queue pair or of none.
#[inline(always)]
fn key_of(scope: Scope, src: u32, pair: impl FnOnce() -> Option<FlowId>) -> u32 {
    match scope {
        Scope::Host => 0,
        Scope::Pair => src,
        Scope::Flow => pair().map_or(src, |flow| flow.0),
    }
}

/// An acknowledgement of a flow from `src`, with telemetry of the frame that it answers, and the port that marked that.
fn acknowledgement(reply: &Reply, flow: FlowId, src: u32, by: u32, record: u32) -> (Control, Report) {
    let &Reply { acked, gap, marked, sent_at, report } = reply;
    let feedback = Feedback::Acknowledgement { acked, sent_at: sent_at.0, marked, gap, record };
    (Control { flow, to: To::Host(src), says: Says::Feedback(feedback, by) }, report)
}

/// The receiving side. What each frame touches stands first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    pub(super) plan: Plan,
    /// A reflector has a gate of its own, other than the plan's.
    own_gates: bool,
    /// Timers of its reflectors.
    pub(crate) alarms: Timers,
    pub(super) deliveries: Deliveries,
    /// Draws of the gate.
    pub(super) stream: Stream,
    ears: Ears,
    /// The flows to the host, where they have queue pairs.
    sinks: Option<Box<Sinks>>,
    /// The run has a graph: what arrives whole may be waited for.
    graph: bool,
    /// Flows that have just arrived whole, until that is carried out.
    pub(super) whole: Vec<FlowId>,
    /// How the last frames of flows to here came, where that is recorded.
    pub(super) trips: Vec<Come>,
    /// Actions of reflectors, until they are carried out.
    pub(super) actions: Vec<ReflectorAction>,
    pub(super) host: u32,
    scheme: Option<u32>,
    line_rate: Rate,
}

impl Receiver {
    /// The receiver of a class at host `id`, to which nothing has come.
    pub(super) fn new(
        net: &Net,
        (id, class): (u32, u8),
        (scheme, plan): (Option<usize>, Plan),
        line_rate: Rate,
    ) -> Self {
        let transport = net.transport_of(class.into());
        Self {
            plan,
            own_gates: false,
            alarms: Timers::default(),
            deliveries: Deliveries::new(net, id, class),
            stream: Stream::new(net.seed, u64::from(id), Purpose::Node),
            ears: Ears::default(),
            graph: net.flows.graph.is_some(),
            whole: Vec::new(),
            trips: Vec::new(),
            actions: Vec::new(),
            host: id,
            line_rate,
            scheme: scheme.map(|scheme| scheme as u32),
            sinks: transport.map(|transport| Box::new(Sinks::new(transport, &plan, net.flows.count_to(id)))),
        }
    }
    /// Is there a reflector?
    pub(super) fn reflects(&self) -> bool {
        !self.ears.list.is_empty()
    }
    /// The number of the reflector of flows from this host.
    pub(super) fn key(&self, src: u32, flow: FlowId) -> u32 {
        key_of(self.plan.reflector_scope, src, || self.sinks.is_some().then_some(flow))
    }
    /// A data frame of this length has arrived: true if something follows.
    #[inline(always)]
    pub(crate) fn take(&mut self, frame: (impl Of, u16), at: Moment<'_>, failure: &mut Failure) -> bool {
        match self.sinks {
            None => self.deliver(frame, None, at, failure),
            Some(_) => self.sort(frame, at, failure),
        }
    }
    /// A traced frame of this class and length, which began then, has been taken: it may be the last of its flow to come.
    pub(super) fn traced(&mut self, (class, len, begun, came): (u8, u16, Ps, Ps), trace: Option<&mut Trace>) {
        let new = self.deliveries.whole().len().saturating_sub(self.trips.len());
        if let Some(trace) = trace.filter(|_| new > 0) {
            let trace =
                Trace { spent: trace.spent, steps: std::mem::take(&mut trace.steps), ..Trace::default() };
            let come = Come { class, len, begun, came, trace };
            self.trips.extend(std::iter::repeat_n(come, new));
        }
    }
    /// A frame of a flow with a queue pair has arrived: it is delivered or discarded, and may be acknowledged.
    #[inline(never)]
    fn sort(&mut self, frame: (impl Of, u16), at: Moment<'_>, failure: &mut Failure) -> bool {
        let (data, Some(sinks)) = (frame.0(), &mut self.sinks) else { return false };
        let Some(flow) = data.queue_pair(at.net) else { broken("a frame of no queue pair") };
        let Taken { before, in_order, wanted, reply, delayed } =
            sinks.take((flow, &at.net.flows), (data.number, data.marked, data.cut), (data.born, at.now));
        let record = if self.plan.acks == Acks::Telemetry { data.record } else { 0 };
        sinks.reply = reply.map(|reply| acknowledgement(&reply, flow, data.src, data.marked_by(), record));
        if let Some(due) = delayed {
            self.alarms.start(flow.0, DELAYED, due);
        }
        let replies = reply.is_some();
        if wanted {
            let message = at.net.flows.message_at(flow, before);
            let (came, had) = (Came { of: flow, message, in_order }, self.deliveries.whole().len());
            let follows = self.deliver(frame, Some(came), at, failure) || replies;
            if self.graph {
                self.whole.extend(self.deliveries.whole()[had..].iter().filter_map(|whole| whole.flow));
            }
            return follows || !self.whole.is_empty();
        }
        // It came before, or out of order where that is not wanted.
        self.deliveries.unwanted.enter(data.src, data.dst, data.number);
        replies
    }
    /// The port that marked the last marked frame that the reflector of this number saw, by its number and one; 0 for none.
    pub(super) fn marked_by(&self, key: u32) -> u32 {
        self.ears.get(key).map_or(0, |ear| ear.marked_by)
    }
    /// The acknowledgement of the frame that was taken last, if it is not sent yet, and what it reports.
    pub(super) fn reply(&mut self) -> Option<(Control, Report)> {
        self.sinks.as_mut()?.reply.take()
    }
    /// How far out of order frames came, and the most bytes that waited for one before them.
    pub(super) fn out_of_order(&mut self) -> (Vec<u64>, u64) {
        self.sinks.take().map_or_else(Default::default, |sinks| (sinks.out_of_order, sinks.held_max))
    }
    /// A data frame is delivered, of this connection and message if that has a queue pair: true if something follows. A failure if it is
    /// of no flow that is expected.
    #[inline(always)]
    fn deliver(
        &mut self,
        frame: (impl Of, u16),
        pair: Option<Came>,
        at: Moment<'_>,
        failure: &mut Failure,
    ) -> bool {
        if let Err(cause) = self.deliveries.take(at, frame, pair) {
            failure.note(at.now, Who::Receiver, &cause);
        }
        let (data, plan, ears) = (frame.0(), &self.plan, &mut self.ears);
        let key = || key_of(plan.reflector_scope, data.src, || pair.map(|came| came.of));
        // The gate of its reflector, or the plan's where there is none yet.
        let own = if self.own_gates { ears.get(key()) } else { None };
        let gate = own.map_or(&plan.reflect, |ear| &ear.state.gate);
        let listens = || ears.get(key()).is_none_or(|ear| ear.state.listens(at.now.time()));
        if gate.wakes(data.marked, data.tag.0, listens, &mut self.stream) {
            return self.show(frame, at);
        }
        if plan.received
            && let Some(ear) = ears.find(key()).and_then(|place| ears.list.get_mut(place))
        {
            ear.state.received += u64::from(frame.1);
        }
        false
    }
    /// A data frame wakes its reflector, unless that is deaf from its start on; true if something follows.
    #[inline(never)]
    fn show(&mut self, (data, len): (impl Of, u16), at: Moment<'_>) -> bool {
        let data = data();
        let (frame, by) = (data.view(len, at.net, false), data.marked_by());
        if !self.plan.reflect.return_tag(frame.tag, &mut self.actions)
            && let Some(place) = self.reflector(frame.flow, at)
        {
            let Ear { state, marked_by, .. } = &mut self.ears.list[place];
            *marked_by = if by > 0 { by } else { *marked_by };
            state.received += frame.len.get();
            if state.listens(at.now.time()) {
                self.wake(place, at.now, |object, ctl| object.on_frame(&frame, ctl));
            }
        }
        !self.actions.is_empty()
    }
    /// A probe has reached its destination: true if something follows.
    pub(crate) fn take_probe(&mut self, flow: FlowId, probe: &Probe, at: Moment<'_>) -> bool {
        if let Some(place) = self.reflector(flow, at) {
            self.wake(place, at.now, |object, ctl| object.on_probe(probe, flow, ctl));
        }
        !self.actions.is_empty()
    }
    /// The next timer of a reflector, or of a delayed acknowledgement, expires now: the flow for which something follows.
    pub(crate) fn expire(&mut self, at: Moment<'_>) -> Option<FlowId> {
        let (now, (key, slot)) = (at.now, self.alarms.pop()?);
        if slot == DELAYED {
            let flow = FlowId(key);
            let (numbered, sinks) = (at.net.flows.numbered(flow)?, self.sinks.as_mut()?);
            let Taken { reply, delayed, .. } = sinks.expire((flow, &at.net.flows), now);
            delayed.into_iter().for_each(|due| self.alarms.start(key, DELAYED, due));
            sinks.reply = Some(acknowledgement(&reply?, flow, numbered.src, 0, 0));
            return Some(flow);
        }
        let (place, slot) = (self.ears.find(key)?, Slot(slot));
        match self.ears.list[place].state.expires(slot, now.time()) {
            Ok(()) => self.wake(place, now, |object, ctl| object.on_timer(slot, ctl)),
            Err(cause) => self.actions = vec![ReflectorAction::Fail(cause)],
        }
        let ear = &self.ears.list[place];
        ear.state.asked_by_timer(&mut self.actions);
        (!self.actions.is_empty()).then_some(ear.flow)
    }
    /// Place of the reflector of a flow, which is built and started if it is not there and the scheme has one.
    fn reflector(&mut self, flow: FlowId, at: Moment<'_>) -> Option<usize> {
        let (net, (src, _)) = (at.net, at.net.hosts_of(flow));
        let key = self.key(src, flow);
        if let Some(place) = self.ears.find(key) {
            return Some(place);
        }
        let scheme = &net.schemes[self.scheme? as usize];
        let site = SinkSite { flow, src: NodeId(src), dst: NodeId(self.host), line_rate: self.line_rate };
        let object = scheme.reflector(&site)?;
        let place = if net.keyed() && self.plan.reflector_scope == Scope::Flow { src } else { key };
        let number = u64::from(place) | u64::from(self.host) << 32;
        let stream = Stream::new(net.seed, number, Purpose::Reflector);
        let state = ReflectorState::new(stream, &scheme.plan);
        self.ears.list.push(Ear { object, state, flow, marked_by: 0 });
        let place = self.ears.list.len() - 1;
        *self.ears.places.at(key) = place as u32 + 1;
        self.wake(place, at.now, |object, ctl| object.start(ctl));
        Some(place)
    }
    /// Wakes a reflector by a verb: what it asks for joins the actions.
    fn wake(&mut self, at: usize, now: Ps, verb: impl FnOnce(&mut dyn Reflector, &mut ReflectorControl<'_>)) {
        let Some(ear) = self.ears.list.get_mut(at) else { broken("a reflector that is not there") };
        let mut lent = ReflectorControl::new(now.time(), &mut ear.state, &mut self.actions);
        let result = call(&mut ear.object, |o| verb(o, &mut lent), |f| Box::new(f));
        result.unwrap_or_else(|cause| self.actions = vec![ReflectorAction::Fail(cause)]);
        self.own_gates |= ear.state.gate != self.plan.reflect;
    }
}
