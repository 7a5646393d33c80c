//! The receiving side of a host: deliveries, and the reflectors that see them.

use super::agenda::Turn;
use super::frame::{Data, hosts_of};
use super::record::{Deliveries, Delivery};
use crate::net::Net;
use crate::scheme::call;
use cnsim_scheme_api::network::{Lent, Purpose, ReflectorAction, ReflectorState, Stream};
use cnsim_scheme_api::{
    FlowId, FrameView, NodeId, Plan, Probe, Rate, Reflector, ReflectorControl, Scope, SinkSite, Slot, Time,
};
use std::collections::BTreeMap;

/// A reflector, what it shares with the network, and the flow that it was built for.
#[derive(Debug)]
pub(crate) struct Ear {
    object: Box<dyn Reflector>,
    pub(crate) state: ReflectorState,
    pub(crate) flow: FlowId,
}

impl Ear {
    /// Builds and starts one for a flow to `host`, if the scheme has one. `key` is its own at that host.
    pub(crate) fn new(
        net: &Net,
        scheme: Option<usize>,
        flow: FlowId,
        (host, key): (u32, u32),
        line_rate: Rate,
        (now, actions): (u64, &mut Vec<ReflectorAction>),
    ) -> Option<Self> {
        let scheme = &net.schemes[scheme?];
        let (src, _) = hosts_of(flow, net.hosts);
        let site = SinkSite { flow, src: NodeId(src), dst: NodeId(host), line_rate };
        let object = scheme.reflector(&site)?;
        let stream = Stream::new(net.seed, u64::from(key) | u64::from(host) << 32, Purpose::Reflector);
        let mut ear = Self { object, state: ReflectorState::new(stream, &scheme.plan), flow };
        ear.wake(now, actions, |object, ctl| object.start(ctl));
        Some(ear)
    }

    /// Wakes it by a verb: what it asks for joins `actions`.
    fn wake(
        &mut self,
        now: u64,
        actions: &mut Vec<ReflectorAction>,
        verb: impl FnOnce(&mut dyn Reflector, &mut ReflectorControl<'_>),
    ) {
        let mut lent = ReflectorControl::new(Time::from_ps(now), &mut self.state, actions);
        let result = call(&mut self.object, |o| verb(o, &mut lent), |f| Box::new(f));
        result.unwrap_or_else(|cause| *actions = vec![ReflectorAction::Fail(cause)]);
    }

    /// A data frame has arrived that wakes it, unless it is deaf from its start on.
    #[inline]
    pub(crate) fn take(&mut self, frame: &FrameView, now: u64, actions: &mut Vec<ReflectorAction>) {
        self.state.received += frame.len.get();
        if self.state.listens(Time::from_ps(now)) {
            self.wake(now, actions, |object, ctl| object.on_frame(frame, ctl));
        }
    }

    /// A probe of a flow has arrived.
    pub(crate) fn take_probe(
        &mut self,
        flow: FlowId,
        probe: &Probe,
        now: u64,
        actions: &mut Vec<ReflectorAction>,
    ) {
        self.wake(now, actions, |object, ctl| object.on_probe(probe, flow, ctl));
    }

    /// A timer of it expires.
    pub(crate) fn expire(&mut self, slot: Slot, now: u64, actions: &mut Vec<ReflectorAction>) {
        match self.state.expires(slot, Time::from_ps(now)) {
            Ok(()) => self.wake(now, actions, |object, ctl| object.on_timer(slot, ctl)),
            Err(cause) => *actions = vec![ReflectorAction::Fail(cause)],
        }
        self.state.asked_by_timer(actions);
    }
}

/// The receiving side. It sees nothing of the sending side, which carries out what its reflectors ask for ([`super::steering`]).
#[derive(Debug)]
pub(crate) struct Sink {
    host: u32,
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
            host: id,
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
        let (key, mut actions) = (self.key(src), Vec::new());
        // The gate of its reflector, or the plan's where there is none yet.
        let ear = self.reflectors.get(&key).map(|ear| &ear.state);
        let listens = || ear.is_none_or(|ear| ear.listens(Time::from_ps(turn.now)));
        let gate = ear.map_or(self.plan.reflect, |ear| ear.gate);
        if !gate.wakes(data.marked, data.tag.pack().0, listens, &mut self.stream) {
            self.reflectors.get_mut(&key).into_iter().for_each(|ear| ear.state.received += u64::from(len));
        } else if !gate.return_tag(data.tag, &mut actions) {
            let view = data.view(len, hosts, false);
            let ear = self.build(view.flow, turn, &mut actions);
            ear.into_iter().for_each(|ear| ear.take(&view, turn.now, &mut actions));
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
        let ear = self.build(flow, turn, &mut actions);
        ear.into_iter().for_each(|ear| ear.take_probe(flow, probe, turn.now, &mut actions));
        actions
    }

    /// The reflector of a flow, which is built if it is not there and the scheme has one.
    fn build(
        &mut self,
        flow: FlowId,
        turn: &Turn<'_>,
        actions: &mut Vec<ReflectorAction>,
    ) -> Option<&mut Ear> {
        let src = hosts_of(flow, turn.net.hosts).0;
        let key = self.key(src);
        if !self.reflectors.contains_key(&key) {
            let (site, rate) = ((self.host, key), self.line_rate);
            let ear = Ear::new(turn.net, self.scheme, flow, site, rate, (turn.now, actions))?;
            self.reflectors.insert(key, ear);
        }
        self.reflectors.get_mut(&key)
    }

    /// A timer of a reflector expires: what follows, for the flow that it was built for.
    pub(super) fn expire(
        &mut self,
        key: u32,
        slot: Slot,
        now: u64,
    ) -> Option<(FlowId, Vec<ReflectorAction>)> {
        let ear = self.reflectors.get_mut(&key)?;
        let mut actions = Vec::new();
        ear.expire(slot, now, &mut actions);
        Some((ear.flow, actions))
    }
}
