//! A congestion point: when the scheme at an output queue looks at a frame, and which frames are marked.

use crate::net::Net;
use crate::scheme::call as of_scheme;
use cnsim_scheme_api::network::{Lent, PointAction, PointState, Purpose, Stream};
use cnsim_scheme_api::{CongestionPoint, PointControl, PointId, Queue, QueueSite, RampAt, Slot, Time};

/// A congestion point and what scheme and network share of it.
#[derive(Debug)]
pub(crate) struct Point {
    /// The scheme's side.
    object: Box<dyn CongestionPoint>,
    /// Gate, ramp, stamp.
    pub(crate) state: PointState,
    /// It is woken as frames leave.
    pub(crate) departures: bool,
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

    /// A data frame has arrived, or is being dropped: does the scheme look at it?
    pub(crate) fn looks_at(&mut self, tagged: bool, len: u16) -> bool {
        let state = &mut self.state;
        state.countdown -= i64::from(len);
        state.countdown <= 0 && state.wakes(state.countdown, tagged)
    }

    /// Does the ramp mark a frame that arrives or departs (`at`), with a queue of `len` bytes?
    #[inline]
    pub(crate) fn marks(&mut self, at: RampAt, len: u64) -> bool {
        self.state.ramp.filter(|r| r.at == at).is_some_and(|r| r.marks(len, &mut self.draws))
    }
}
