//! The receiving side of a host: deliveries, and the reflectors that see them.

use super::agenda::Turn;
use super::frame::{Data, hosts_of};
use super::record::{Deliveries, Delivery};
use crate::net::Net;
use crate::scheme::call;
use cnsim_scheme_api::network::{Lent, Purpose, ReflectorAction, ReflectorState, Stream};
use cnsim_scheme_api::{
    Feedback, FlowId, NodeId, Plan, Probe, Rate, ReflectGate, Reflector, ReflectorControl, Scope, SinkSite,
    Slot, Tag, Time,
};
use std::collections::BTreeMap;

/// Builds and starts a reflector for a flow to `host`, if the scheme has one; with it, what it shares with the network. `key` is its
/// own at that host.
pub(crate) fn reflector(
    net: &Net,
    scheme: usize,
    flow: FlowId,
    (host, key): (u32, u32),
    line_rate: Rate,
    (now, actions): (Time, &mut Vec<ReflectorAction>),
) -> Option<(Box<dyn Reflector>, ReflectorState)> {
    let (src, _) = hosts_of(flow, net.hosts);
    let site = SinkSite { flow, src: NodeId(src), dst: NodeId(host), line_rate };
    let mut object = net.schemes[scheme].reflector(&site)?;
    let stream = Stream::new(net.seed, u64::from(key) | u64::from(host) << 32, Purpose::Reflector);
    let mut state = ReflectorState::new(stream, &net.schemes[scheme].plan);
    let mut lent = ReflectorControl::new(now, &mut state, actions);
    let said = call(&mut object, |o| o.start(&mut lent), |f| Box::new(f));
    said.unwrap_or_else(|cause| *actions = vec![ReflectorAction::Fail(cause)]);
    Some((object, state))
}

/// A timer of a reflector expires: carries that out.
pub(crate) fn expire(
    (object, state): (&mut Box<dyn Reflector>, &mut ReflectorState),
    slot: Slot,
    now: Time,
    actions: &mut Vec<ReflectorAction>,
) {
    let said = state.expires(slot, now).and_then(|()| {
        let mut lent = ReflectorControl::new(now, state, actions);
        call(object, |o| o.on_timer(slot, &mut lent), |f| Box::new(f))
    });
    said.unwrap_or_else(|cause| *actions = vec![ReflectorAction::Fail(cause)]);
    state.asked_by_timer(actions);
}

/// A reflector, what it shares with the network, and the flow that it was built for.
#[derive(Debug)]
struct Ear {
    object: Box<dyn Reflector>,
    state: ReflectorState,
    flow: FlowId,
}

/// The receiving side. It sees nothing of the sending side, which carries out what its reflectors ask for ([`super::steering`]).
#[derive(Debug)]
pub(crate) struct Sink {
    host: NodeId,
    line_rate: Rate,
    scheme: Option<usize>,
    plan: Plan,
    /// Draws of the gate.
    stream: Stream,
    /// By source host; one for all, where the scheme wants one for the whole host.
    reflectors: BTreeMap<u32, Ear>,
    pub(super) deliveries: Deliveries,
}

impl Sink {
    pub(super) fn new(net: &Net, id: u32, scheme: Option<usize>, plan: Plan, line_rate: Rate) -> Self {
        Self {
            host: NodeId(id),
            line_rate,
            scheme,
            plan,
            stream: Stream::new(net.seed, u64::from(id), Purpose::Node),
            reflectors: BTreeMap::new(),
            deliveries: Deliveries::new(net, id),
        }
    }

    /// The number of the reflector of flows from this host.
    pub(super) fn key(&self, src: u32) -> u32 {
        if self.plan.reflector_scope == Scope::Host { 0 } else { src }
    }

    /// Does the gate of a frame's reflector, or the plan's where there is none yet, select it?
    fn selects(&mut self, data: &Data) -> bool {
        let own = self.reflectors.get(&self.key(data.src)).map(|ear| ear.state.gate);
        own.unwrap_or(self.plan.reflect).selects(data.marked, data.tag.pack().0, &mut self.stream)
    }

    /// A data frame has arrived: what follows. An error if it is of no flow that is expected.
    pub(super) fn take(
        &mut self,
        data: &Data,
        len: u16,
        turn: &Turn<'_>,
    ) -> Result<Vec<ReflectorAction>, String> {
        let hosts = turn.net.hosts;
        let &Data { src, dst, number, born, finite, .. } = data;
        let flow = data.flow(hosts).0;
        self.deliveries.take(turn.now, &Delivery { src, dst, flow, number, born, len, finite })?;
        let selected = self.selects(data);
        if let (ReflectGate::ReturnTags(counter), Tag::RateDiscovery(rate)) = (self.plan.reflect, data.tag) {
            // Copying a tag needs no algorithm: the host does it itself.
            let back = ReflectorAction::Reply(Feedback::ReturnedRate { rate });
            return Ok(vec![ReflectorAction::Count(counter.into()), back]);
        }
        let mut actions = Vec::new();
        let flow = data.flow(hosts);
        if selected {
            self.build(flow, turn, &mut actions);
        }
        let key = self.key(data.src);
        let Some(Ear { object, state, .. }) = self.reflectors.get_mut(&key) else { return Ok(actions) };
        state.received += u64::from(len);
        let now = Time::from_ps(turn.now);
        if selected && state.listens(now) {
            let view = data.view(len, hosts, false);
            let mut lent = ReflectorControl::new(now, state, &mut actions);
            let said = call(object, |o| o.on_frame(&view, &mut lent), |f| Box::new(f));
            said.unwrap_or_else(|cause| actions = vec![ReflectorAction::Fail(cause)]);
        }
        Ok(actions)
    }

    /// A probe has reached its destination: what follows.
    pub(super) fn take_probe(
        &mut self,
        flow: FlowId,
        probe: &Probe,
        turn: &Turn<'_>,
    ) -> Vec<ReflectorAction> {
        let mut actions = Vec::new();
        self.build(flow, turn, &mut actions);
        let key = self.key(hosts_of(flow, turn.net.hosts).0);
        if let Some(Ear { object, state, .. }) = self.reflectors.get_mut(&key) {
            let mut lent = ReflectorControl::new(Time::from_ps(turn.now), state, &mut actions);
            let said = call(object, |o| o.on_probe(probe, flow, &mut lent), |f| Box::new(f));
            said.unwrap_or_else(|cause| actions = vec![ReflectorAction::Fail(cause)]);
        }
        actions
    }

    /// Builds the reflector of a flow, unless there is one or the scheme has none.
    fn build(&mut self, flow: FlowId, turn: &Turn<'_>, actions: &mut Vec<ReflectorAction>) {
        let net = turn.net;
        let src = hosts_of(flow, net.hosts).0;
        let key = self.key(src);
        if self.reflectors.contains_key(&key) {
            return;
        }
        let now = Time::from_ps(turn.now);
        let made = self
            .scheme
            .and_then(|s| reflector(net, s, flow, (self.host.0, key), self.line_rate, (now, actions)));
        if let Some((object, state)) = made {
            self.reflectors.insert(key, Ear { object, state, flow });
        }
    }

    /// A timer of a reflector expires: what follows, for the flow that it was built for.
    pub(super) fn expire(
        &mut self,
        key: u32,
        slot: Slot,
        now: u64,
    ) -> Option<(FlowId, Vec<ReflectorAction>)> {
        let Ear { object, state, flow } = self.reflectors.get_mut(&key)?;
        let mut actions = Vec::new();
        expire((object, state), slot, Time::from_ps(now), &mut actions);
        Some((*flow, actions))
    }
}
