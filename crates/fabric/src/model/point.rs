//! A congestion point: when the scheme at an output queue looks at a frame, and which frames are marked.

use super::frame::Data;
use cnsim_scheme_api::{CongestionPoint, Gate, PointState, Purpose, QueueSite, RampAt, Scheme, Stream, Tag};

/// A countdown so long that no run reaches its end, bytes.
const UNREACHED: i64 = i64::MAX / 2;

/// A congestion point and what scheme and network share of it.
#[derive(Debug)]
pub(crate) struct Point {
    /// The scheme's side.
    pub(crate) object: Box<dyn CongestionPoint>,
    /// Gate, ramp, stamp.
    pub(crate) state: PointState,
    /// Draws of the ramp.
    draws: Stream,
}

impl Point {
    /// The one of a queue, if the scheme has one there.
    pub(crate) fn new(scheme: &dyn Scheme, site: &QueueSite, seed: u64) -> Option<Self> {
        let object = scheme.congestion_point(site)?;
        let point = u64::from(site.point.0);
        Some(Self {
            object,
            state: PointState::new(Stream::new(seed, point, Purpose::Point)),
            draws: Stream::new(seed, point | 1 << 33, Purpose::Node),
        })
    }

    /// A data frame has arrived, or is being dropped: does the scheme look at it?
    pub(crate) fn looks_at(&mut self, data: &Data, len: u16) -> bool {
        let state = &mut self.state;
        state.countdown -= i64::from(len);
        if state.countdown > 0 {
            return false;
        }
        let looks = match state.gate {
            Gate::Never => false,
            Gate::AfterBytes | Gate::Always => true,
            Gate::Probability(p) => state.stream.chance(p),
            Gate::Tagged => data.tag != Tag::None,
        };
        state.open(state.countdown);
        // A gate after a number of bytes opens once, and stays shut until it is armed again; the others look at each frame.
        (state.gate, state.countdown) = match state.gate {
            Gate::AfterBytes | Gate::Never => (Gate::Never, UNREACHED),
            each => (each, 0),
        };
        looks
    }

    /// Does the ramp mark a frame that arrives or departs (`at`), with a queue of `len` bytes? It draws only where that is not
    /// certain.
    pub(crate) fn marks(&mut self, at: RampAt, len: u64) -> bool {
        let Some(ramp) = self.state.ramp.filter(|r| r.at == at) else { return false };
        let p = ramp.probability(len);
        p >= 1.0 || (p > 0.0 && self.draws.chance(p))
    }
}
