//! RACK-TLP (RFC 8985): a frame is lost that was started before one that has come, by more than a round trip and some patience; and
//! a probe asks after the end of a flow. The destination reports no duplicates, so that the patience stays a quarter round trip.

use crate::numbers::{FrameNo, Ps};
use std::collections::VecDeque;

/// When the frames of a flow under way were started, and what came of them.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// The last start of each frame from `first` on, ps.
    starts: VecDeque<Ps>,
    first: FrameNo,
    /// Start and number of the frame started last of those that have come, and its round trip.
    latest: (Ps, FrameNo),
    trip: Ps,
    /// The least round trip of a frame that was sent once.
    least: Option<Ps>,
    /// Behind the last frame that has come; and one came behind a later one, so that paths reorder.
    end: FrameNo,
    reordered: bool,
    /// Losses are looked for then, and a probe goes then, ps.
    pub(crate) look: Option<Ps>,
    pub(crate) probe: Option<Ps>,
    /// The frame behind the last probe, until that is settled, and whether the probe was sent before.
    pub(crate) probed: Option<(FrameNo, bool)>,
    /// A probe waits for the link.
    pub(crate) probing: bool,
}

impl Rack {
    /// A frame is started.
    pub(crate) fn start(&mut self, frame: FrameNo, now: Ps) {
        match self.starts.get_mut((frame - self.first) as usize) {
            Some(start) => *start = now,
            None => self.starts.push_back(now),
        }
    }
    /// A frame has come that was sent again, or once.
    pub(crate) fn came(&mut self, frame: FrameNo, again: bool, now: Ps) {
        let Some(&start) = self.starts.get((frame - self.first) as usize) else { return };
        let trip = now - start;
        if !again {
            self.least = Some(self.least.unwrap_or(trip).min(trip));
            self.reordered |= frame < self.end;
        }
        self.end = self.end.max(frame + 1);
        // What comes sooner than it could is an answer to an earlier start.
        if (start, frame) >= self.latest && !(again && self.least.is_some_and(|least| trip < least)) {
            (self.latest, self.trip) = ((start, frame), trip);
        }
    }
    /// All below a frame are acknowledged.
    pub(crate) fn forget_below(&mut self, frame: FrameNo) {
        self.starts.drain(..((frame - self.first) as usize).min(self.starts.len()));
        (self.first, self.probing) = (frame, false);
    }
    /// When a frame counts as lost, ps, and whether one has come that was started later. A loss that is known (`sure`) ends patience where
    /// nothing is reordered.
    pub(crate) fn lost_at(&self, frame: FrameNo, sure: bool, smooth: Ps) -> (Ps, bool) {
        let patience =
            if sure && !self.reordered { Ps(0) } else { (self.least.unwrap_or_default() / 4).min(smooth) };
        let start = self.starts.get((frame - self.first) as usize).copied().unwrap_or_default();
        (start + self.trip + patience, (start, frame) < self.latest)
    }
}
