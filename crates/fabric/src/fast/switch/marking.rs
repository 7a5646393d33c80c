//! Marks by a ramp: [`Point::marks`] decides, with the draws of the port, as ports are not replayed in step.
//!
//! * Claim: a departure at which no ramp can mark costs one look at the queue.
//! * Same bits: fewer bytes than the ramp's low end are marked by no draw, and cost none.
//! * Bench row: w2 dcqcn (`cnsim bench --schemes w2`).
//! * Marks: none of its own.

use super::port::Port;
use crate::fast::frame::{NEVER, Ring};
use crate::model::Point;
use cnsim_scheme_api::{Ramp, RampAt};

/// Does the ramp at departure mark a frame whose transmission began at `began`? What had arrived behind it by then counts, of
/// the `queued` bytes that are stored behind it. The frame itself may stand in the queue or not.
#[inline(never)]
pub(crate) fn leaves_marked(point: &mut Option<Box<Point>>, data: &Ring, queued: u64, began: u64) -> bool {
    let departure = |p: &&mut Box<Point>| p.state.ramp.is_some_and(|r| r.at == RampAt::Departure);
    let Some(point) = point.as_mut().filter(departure).filter(|p| p.decided != began) else { return false };
    let later = data.entries().iter().rev().take_while(|e| e.ready > began);
    point.marks(RampAt::Departure, queued - later.map(|e| u64::from(e.frame.len)).sum::<u64>())
}

impl Port {
    /// The ramp that was there `before` has changed. It decides on the frame in transmission, which began before that.
    pub(super) fn decide_mark(&mut self, before: Option<Ramp>) {
        let (Some(point), Some(first)) = (&mut self.point, self.data.front()) else { return };
        if point.decided == self.began {
            return;
        }
        let ramp = std::mem::replace(&mut point.state.ramp, before);
        let behind = self.queued - u64::from(first.frame.len);
        // What stands on its wire already met no ramp.
        let marked = leaves_marked(&mut self.point, &self.data, behind, self.began);
        if let Some(point) = &mut self.point {
            (point.state.ramp, point.decided) = (ramp, self.began);
        }
        if let (Some(first), true) = (self.data.front_mut(), marked) {
            first.frame.set_marked(true);
        }
    }

    /// The ramp of its congestion point.
    pub(super) fn ramp(&self) -> Option<Ramp> {
        self.point.as_ref().and_then(|p| p.state.ramp)
    }

    /// The ramp has changed.
    pub(super) fn note_ramp(&mut self) {
        let low = |r: Ramp| if r.at == RampAt::Departure { r.low.get() } else { NEVER };
        self.mark_from = self.ramp().map_or(NEVER, low);
        let behind = self.mark_from / u64::from(self.longest) + 1;
        self.mark_behind = behind.min(u64::from(u16::MAX)) as u16;
    }

    /// Does the ramp at arrival mark a frame with which the queue is so long?
    #[inline]
    pub(super) fn marks_arrival(&mut self, queued: u64) -> bool {
        self.point.as_mut().is_some_and(|p| p.marks(RampAt::Arrival, queued))
    }

    /// Can it be that the ramp at departure marks the first frame or one behind it, the last of which begins to leave at `began`?
    /// Not where too few had arrived by then: one look, as most of a queue may have arrived later. More than the ramp's low end
    /// is stored behind the first.
    #[inline(always)]
    pub(crate) fn may_mark(&self, began: u64) -> bool {
        self.data.place_at(u32::from(self.mark_behind)).is_some_and(|e| e.ready <= began)
    }
}
