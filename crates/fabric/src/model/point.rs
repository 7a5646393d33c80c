//! A congestion point: when the scheme at an output queue looks at a frame, and which frames are marked.

use super::frame::Data;
use crate::net::Net;
use crate::scheme::Managed;
use cnsim_scheme_api::network::{PointState, Purpose, Stream};
use cnsim_scheme_api::{CongestionPoint, QueueSite, RampAt, Tag};

/// A congestion point and what scheme and network share of it.
#[derive(Debug)]
pub(crate) struct Point {
    /// The scheme's side.
    pub(crate) object: Box<dyn CongestionPoint>,
    /// Gate, ramp, stamp.
    pub(crate) state: PointState,
    /// It is woken as frames leave.
    pub(crate) departures: bool,
    /// Draws of the ramp.
    draws: Stream,
}

impl Point {
    /// The one of a queue, if the scheme has one there.
    pub(crate) fn new(scheme: &Managed, site: &QueueSite, net: &Net) -> Option<Self> {
        let object = scheme.congestion_point(site)?;
        let point = u64::from(site.point.0);
        Some(Self {
            object,
            departures: scheme.plan.departures,
            state: PointState::new(Stream::new(net.seed, point, Purpose::Point), net.hosts),
            draws: Stream::new(net.seed, point | 1 << 33, Purpose::Node),
        })
    }

    /// A data frame has arrived, or is being dropped: does the scheme look at it?
    pub(crate) fn looks_at(&mut self, data: &Data, len: u16) -> bool {
        let state = &mut self.state;
        state.countdown -= i64::from(len);
        if state.countdown > 0 {
            return false;
        }
        state.wakes(state.countdown, data.tag != Tag::None)
    }

    /// Does the ramp mark a frame that arrives or departs (`at`), with a queue of `len` bytes?
    pub(crate) fn marks(&mut self, at: RampAt, len: u64) -> bool {
        self.state.ramp.filter(|r| r.at == at).is_some_and(|r| r.marks(len, &mut self.draws))
    }
}
