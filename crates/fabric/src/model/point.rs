//! A congestion point: when the scheme at an output queue looks at a frame, and which frames are marked.

use super::frame::Data;
use super::packet::Packet;
use super::pause::Paused;
use super::records::Records;
use crate::mix::mix;
use crate::net::{Link, NEVER, Net, Ps};
use crate::scheme::call as of_scheme;
use cnsim_scheme_api::network::{
    Gate, Lent, NO_TELEMETRY, PointAction, PointState, Purpose, Stream, rewritten,
};
use cnsim_scheme_api::{
    Acks, Bytes, CongestionPoint, FlowId, FrameView, Hop, PointControl, Probe, Queue, QueueSite, RampAt,
    Rate, Slot, Tag, Time,
};

/// Counts a data frame down: true where a congestion or reaction point may have to look.
#[inline(always)]
pub(crate) fn count_down(countdown: &mut i64, len: u16) -> bool {
    *countdown -= i64::from(len);
    *countdown <= 0
}

/// View of a congestion point: the bytes of its queue, all that wait for the port, and those that have left; link and rate of service;
/// XOFF of its class.
pub(crate) fn view(
    (len, waiting, departed): (u64, u64, u64),
    (link, service_rate): (Option<Link>, Rate),
    paused: Option<&Paused>,
    now: Ps,
) -> Queue {
    Queue {
        len: Bytes::new(len),
        line_rate: link.map_or(Rate::ZERO, |l| l.rate),
        service_rate,
        // All that came has left or waits.
        arrived: departed + waiting,
        sent: departed,
        paused: paused.and_then(|p| p.stands(now)),
        paused_in_all: paused.map_or(Time::ZERO, |p| p.total(now)),
    }
}

/// Events that wake a congestion point.
#[derive(Debug)]
pub(crate) enum Verb<'a> {
    /// The run begins.
    Start,
    /// A data frame has arrived, or is dropped.
    Sample(&'a mut FrameView),
    /// The transmission of a data frame begins.
    Departure(&'a mut FrameView),
    /// A probe of a flow passes: a point that reads none sleeps on.
    Probe(&'a mut Probe, FlowId),
    /// A timer expires.
    Timer(Slot),
}

/// A congestion point and what scheme and network share of it.
#[derive(Debug)]
pub(crate) struct Point {
    /// The scheme's side.
    object: Box<dyn CongestionPoint>,
    /// Gate, ramp, stamp.
    pub(crate) state: PointState,
    /// Whether the point is woken as frames leave.
    pub(crate) departures: bool,
    /// Its scheme's frames may carry telemetry.
    telemetry: bool,
    /// It records the departures that begin from then on.
    pub(crate) records_from: Ps,
    /// Start of a transmission that was marked or not as it began, by a ramp that has changed since: the fast way asks as it ends.
    pub(crate) decided: Ps,
    /// Number of its port and one; are the ports of telemetry told, too?
    pub(crate) port: u32,
    trips: bool,
    /// Draws of the ramp; where each is made by place, that of the last frame, and the seed of the port's.
    draws: Stream,
    keyed: Option<u64>,
    /// Has been woken since its start.
    woken: bool,
}

impl Point {
    /// The one of an output, by its number in the network, and a class, if the scheme has one there.
    pub(crate) fn new(net: &Net, scheme: Option<usize>, (port, class): (u32, usize)) -> Option<Self> {
        let scheme = &net.schemes[scheme?];
        let attached = net.links[port as usize].is_some();
        let point = net.point_id(port, class);
        let site = QueueSite { point, rate: net.rate(port), attached };
        let number = port + 1;
        let (object, port) = (scheme.congestion_point(&site)?, u64::from(point.0));
        let mut state = PointState::new(Stream::new(net.seed, port, Purpose::Point), net.hosts);
        state.queue_pairs = net.flows.transport.map(|_| net.flows.queue_pairs() as u32);
        Some(Self {
            object,
            departures: scheme.plan.departures,
            telemetry: scheme.plan.acks == Acks::Telemetry,
            records_from: NEVER,
            decided: NEVER,
            port: number,
            trips: net.record.trips,
            state,
            draws: Stream::new(net.seed, port | 1 << 33, Purpose::Node),
            keyed: net.keyed().then(|| mix(net.seed ^ mix(port))),
            woken: false,
        })
    }

    /// Wakes it; `actions`, which are none yet, come back with what it asks for.
    pub(crate) fn wake(
        &mut self,
        now: Ps,
        queue: &Queue,
        mut actions: Vec<PointAction>,
        verb: Verb<'_>,
    ) -> Vec<PointAction> {
        if matches!(verb, Verb::Probe(..)) && !self.state.probes {
            return actions;
        }
        let recorded = self.state.records;
        self.woken |= !matches!(verb, Verb::Start);
        let (from, now) = (now, now.time());
        let may = if let Verb::Timer(slot) = verb { self.state.patience.expires(slot, now) } else { Ok(()) };
        let mut ctl = PointControl::new(now, &mut self.state, &mut actions);
        let call = |object: &mut (dyn CongestionPoint + 'static)| {
            match verb {
                Verb::Start => object.start(queue, &mut ctl),
                Verb::Timer(slot) => object.on_timer(slot, queue, &mut ctl),
                Verb::Probe(probe, flow) => object.on_probe(probe, flow, queue, &mut ctl),
                Verb::Sample(frame) => {
                    object.on_sample(frame, queue, &mut ctl);
                    return rewritten(frame);
                }
                Verb::Departure(frame) => {
                    object.on_departure(frame, queue, &mut ctl);
                    return rewritten(frame);
                }
            }
            Ok(())
        };
        let done = may.and_then(|()| of_scheme(&mut self.object, call, |f| Box::new(f))?);
        self.records_from = if recorded == self.state.records { self.records_from } else { from };
        let unplanned = self.state.records && !self.telemetry;
        let done = if unplanned { Err(NO_TELEMETRY.into()) } else { done };
        done.map_or_else(|cause| vec![PointAction::Fail(cause)], |()| actions)
    }

    /// The tag to which it lowers those of frames that leave, packed.
    pub(crate) fn stamp(&self) -> Option<(u8, u32)> {
        self.state.advertised.map(|rate| Tag::RateDiscovery(rate).pack())
    }

    /// May it remember what has happened? One that was never woken, and counts no bytes, does not.
    pub(crate) fn remembers(&self) -> bool {
        self.woken || matches!(self.state.gate, Gate::AfterBytes | Gate::Probability(_))
    }

    /// A data frame arrives or departs (`at`), with which its queue has so many bytes: the ramp may mark it. As it departs, those behind
    /// it count.
    #[inline]
    pub(crate) fn pass<F: Packet>(&mut self, at: RampAt, queued: u64, frame: &mut F, records: &mut Records) {
        let bytes = match at {
            RampAt::Arrival => queued,
            RampAt::Departure => queued - u64::from(frame.bytes()),
        };
        let Some(ramp) = self.state.ramp.as_ref().filter(|r| r.at == at) else { return };
        if let (Some(seed), true) = (self.keyed, !matches!(ramp.probability(bytes), 0.0 | 1.0)) {
            let place =
                |d: Data| u64::from(d.src) | u64::from(d.dst) << 16 | u64::from(d.number & 0xFFFF) << 32;
            self.draws = Stream::new(seed, frame.header().map_or(u64::MAX, place), Purpose::Place);
        }
        if ramp.marks(bytes, &mut self.draws) {
            frame.mark_at(self.port, records);
        }
    }

    /// A data frame begins to leave, while the point would see this queue: may the ramp mark it?
    pub(crate) fn mark<F: Packet>(&mut self, frame: &mut F, queue: &Queue, began: Ps, records: &mut Records) {
        if self.decided != began {
            self.pass(RampAt::Departure, queue.len.get(), frame, records);
        }
    }
}

/// A data frame begins to leave by a port of this number: its trace learns of it, and the congestion point, if there is one, which would
/// see this queue. Telemetry tells the queue but for the frame.
#[inline(always)]
pub(crate) fn depart<F: Packet>(
    frame: &mut F,
    point: Option<&mut Point>,
    (port, began): (u32, Ps),
    queue: &Queue,
    records: &mut Records,
) {
    if frame.record() > 0 {
        records.step(frame.record(), port, began);
    }
    let Some(point) = point else { return };
    point.mark(frame, queue, began, records);
    if point.records_from <= began {
        let &Queue { line_rate: rate, sent, arrived, .. } = queue;
        let queue = Bytes::new(arrived - sent - u64::from(frame.bytes()));
        frame.take_hop(Hop { rate, time: began.time(), sent, queue }, records);
        if point.trips {
            records.tracing(frame.record()).ports.push(point.port);
        }
    }
}
