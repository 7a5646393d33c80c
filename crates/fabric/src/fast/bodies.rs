//! Bodies of control frames: what a message or probe says, kept once while its frames are on their way.
//!
//! * Claim: what a message says is kept once for all hops and receivers.
//! * Same bits: it is read, never written, once it is sent.
//! * Bench row: w2 becn (`cnsim bench --schemes w2`).
//! * Marks: CalmWindow.

use crate::check::broken;
use crate::model::Says;
use cnsim_scheme_api::{FlowId, Probe};

/// Body of a control frame: the flow that it is about, and what it says.
pub(crate) type Body = (FlowId, Says);

/// Bodies of the control frames at a worker's nodes and on its wires, or of those that wait at the host that made them;
/// `Frame::body` says which. The frames of a broadcast share one, and no hop moves it.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    /// With the number of frames that carry it; none: free.
    slots: Vec<(u32, Option<Body>)>,
    free: Vec<u32>,
}

impl Bodies {
    /// Keeps the body of one frame.
    pub(crate) fn put(&mut self, body: Body) -> u32 {
        let at = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(at as usize) {
            Some(slot) => *slot = (1, Some(body)),
            None => self.slots.push((1, Some(body))),
        }
        at
    }
    /// The probe that a frame carries: probes are not broadcast, so it is this frame's alone.
    pub(crate) fn probe(&mut self, at: u32) -> Option<(FlowId, &mut Probe)> {
        match &mut self.slots.get_mut(at as usize)?.1 {
            Some((flow, Says::Probe(probe))) => Some((*flow, probe)),
            _ => None,
        }
    }
    /// One frame more carries the body of this one, if that has one, or one fewer.
    #[inline(always)]
    pub(crate) fn carry(&mut self, at: Option<u32>, more: bool) {
        if more { self.share(at) } else { self.release(at) }
    }
    /// One more frame carries the body of this one, if that has one.
    #[inline]
    pub(crate) fn share(&mut self, at: Option<u32>) {
        if let Some(at) = at {
            self.slot(at).0 += 1;
        }
    }
    /// One frame fewer carries the body of this one, if that has one.
    #[inline]
    pub(crate) fn release(&mut self, at: Option<u32>) {
        let Some(at) = at else { return };
        let (frames, body) = self.slot(at);
        *frames -= 1;
        if *frames == 0 {
            *body = None;
            self.free.push(at);
        }
    }
    /// What is kept at a place.
    #[inline]
    fn slot(&mut self, at: u32) -> &mut (u32, Option<Body>) {
        let slot = self.slots.get_mut(at as usize).filter(|slot| slot.0 > 0);
        slot.unwrap_or_else(|| broken("a frame's body is gone"))
    }
    /// Keeps the body of a frame once more, if it has one: a probe's changes on its way.
    pub(crate) fn copy(&mut self, at: Option<u32>) -> Option<u32> {
        let body = self.slot(at?).1?;
        Some(self.put(body))
    }
    /// The body of a frame that leaves for elsewhere, if it has one.
    pub(crate) fn take(&mut self, at: Option<u32>) -> Option<Body> {
        let body = self.slot(at?).1;
        self.release(at);
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::Feedback;

    /// No run would show that places are not used again, but by its memory.
    #[test]
    fn a_place_is_used_again_when_nobody_carries_its_body() {
        let body = (FlowId(1), Says::Feedback(Feedback::Reflection, 0));
        let mut bodies = Bodies::default();
        let at = bodies.put(body);
        bodies.share(Some(at));
        assert!(bodies.take(Some(at)).is_some() && bodies.put(body) != at, "one carries it");
        bodies.release(Some(at));
        assert_eq!(bodies.put(body), at);
    }
}
