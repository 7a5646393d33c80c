//! A congestion point: when the scheme at an output queue looks at a frame, and which frames are marked.

use super::agenda::NEVER;
use super::pause::Paused;
use crate::net::{Link, Net};
use crate::scheme::call as of_scheme;
use cnsim_scheme_api::network::{Lent, PointAction, PointState, Purpose, Stream};
use cnsim_scheme_api::{
    Bytes, CongestionPoint, PointControl, PointId, Queue, QueueSite, RampAt, Rate, Slot, Tag, Time,
};

/// Counts a data frame down: true where a congestion or reaction point may have to look.
#[inline(always)]
pub(crate) fn count_down(countdown: &mut i64, len: u16) -> bool {
    *countdown -= i64::from(len);
    *countdown <= 0
}

/// What a congestion point sees: the bytes of its queue, all that wait for the port, and those that have left; link and rate of service;
/// XOFF by class.
pub(crate) fn view(
    (len, waiting, departed): (u64, u64, u64),
    (link, service_rate): (Option<Link>, Rate),
    paused: &[Paused],
    now: u64,
) -> Queue {
    Queue {
        len: Bytes::new(len),
        line_rate: link.map_or(Rate::ZERO, |l| l.rate),
        service_rate,
        // All that came has left or waits.
        arrived: departed + waiting,
        sent: departed,
        paused: paused.first().and_then(|p| p.stands(now)),
        paused_in_all: paused.first().map_or(Time::ZERO, |p| p.total(now)),
    }
}

/// A congestion point and what scheme and network share of it.
#[derive(Debug)]
pub(crate) struct Point {
    /// The scheme's side.
    object: Box<dyn CongestionPoint>,
    /// Gate, ramp, stamp.
    pub(crate) state: PointState,
    /// It is woken as frames leave.
    pub(crate) departures: bool,
    /// Start of a transmission that was marked or not as it began, by a ramp that has changed since: the fast way asks as it ends.
    pub(crate) decided: u64,
    /// Draws of the ramp.
    draws: Stream,
}

impl Point {
    /// The one of an output, by its number in the network, if the scheme has one there.
    pub(crate) fn new(net: &Net, scheme: Option<usize>, port: u32) -> Option<Self> {
        let scheme = &net.schemes[scheme?];
        let attached = net.links[port as usize].is_some();
        let site = QueueSite { point: PointId(port), rate: net.rate(port), attached };
        let (object, port) = (scheme.congestion_point(&site)?, u64::from(port));
        Some(Self {
            object,
            departures: scheme.plan.departures,
            decided: NEVER,
            state: PointState::new(Stream::new(net.seed, port, Purpose::Point), net.hosts),
            draws: Stream::new(net.seed, port | 1 << 33, Purpose::Node),
        })
    }

    /// Wakes it by a verb; `actions`, which are none yet, come back with what it asks for.
    pub(crate) fn wake(
        &mut self,
        now: u64,
        queue: &Queue,
        mut actions: Vec<PointAction>,
        verb: impl FnOnce(&mut dyn CongestionPoint, &Queue, &mut PointControl<'_>),
    ) -> Vec<PointAction> {
        let mut lent = PointControl::new(Time::from_ps(now), &mut self.state, &mut actions);
        let result = of_scheme(&mut self.object, |o| verb(o, queue, &mut lent), |f| Box::new(f));
        result.map_or_else(|cause| vec![PointAction::Fail(cause)], |()| actions)
    }

    /// A timer of it expires: an error if that is not to wake it.
    pub(crate) fn expires(&mut self, slot: Slot, now: u64) -> Result<(), String> {
        self.state.patience.expires(slot, Time::from_ps(now))
    }

    /// A data frame has arrived, or is being `dropped`: does the scheme look at it?
    pub(crate) fn looks_at(&mut self, tagged: bool, dropped: bool, len: u16) -> bool {
        let counts = Self::counts(Some(self), dropped);
        let state = &mut self.state;
        counts && count_down(&mut state.countdown, len) && state.wakes(state.countdown, tagged)
    }

    /// Does a data frame that is stored or `dropped` count at a port?
    #[inline(always)]
    pub(crate) fn counts(point: Option<&Self>, dropped: bool) -> bool {
        !dropped || point.is_some_and(|p| p.state.sample_dropped)
    }

    /// The tag to which it lowers those of frames that leave, packed.
    pub(crate) fn stamp(&self) -> Option<(u8, u32)> {
        self.state.advertised.map(|rate| Tag::RateDiscovery(rate).pack())
    }

    /// Does the ramp mark a frame that arrives or departs (`at`), with a queue of `len` bytes?
    #[inline]
    pub(crate) fn marks(&mut self, at: RampAt, len: u64) -> bool {
        self.state.ramp.filter(|r| r.at == at).is_some_and(|r| r.marks(len, &mut self.draws))
    }
}
