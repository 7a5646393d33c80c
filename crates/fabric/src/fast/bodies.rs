//! Bodies of control frames: what a message or probe says, kept once while its frames are on their way.
//!
//! * Claim: what a message says is kept once for all hops and receivers.
//! * Same bits: it is read, never written, once it is sent.
//! * Bench row: w2 becn (`cnsim bench --schemes w2`).
//! * Marks: CalmWindow.

use crate::check::broken;
use crate::fast::frame::Frame;
use crate::model::Says;
use cnsim_scheme_api::{FlowId, Probe};

/// Body of a control frame: the flow that it is about, and what it says.
pub(crate) type Body = (FlowId, Says);

/// Bodies of the control frames at a worker's nodes and on its wires, or of those that wait at the host that made them;
/// `Frame::ext` says which. The frames of a broadcast share one, and no hop moves it.
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
    /// One more frame carries the body of this one, if that has one.
    #[inline]
    pub(crate) fn share(&mut self, frame: &Frame) {
        if let Some(slot) = self.slot(frame) {
            slot.0 += 1;
        }
    }
    /// One frame fewer carries the body of this one, if that has one.
    #[inline]
    pub(crate) fn release(&mut self, frame: &Frame) {
        let Some((frames, body)) = self.slot(frame) else { return };
        *frames -= 1;
        if *frames == 0 {
            *body = None;
            self.free.push(frame.ext);
        }
    }
    /// The place of a frame's body, if it has one.
    #[inline]
    fn slot(&mut self, frame: &Frame) -> Option<&mut (u32, Option<Body>)> {
        if !frame.has_body() {
            return None;
        }
        let slot = self.slots.get_mut(frame.ext as usize).filter(|slot| slot.0 > 0);
        if slot.is_none() {
            broken("a frame's body is gone");
        }
        slot
    }
    /// The body of a frame that leaves for elsewhere, if it has one.
    pub(crate) fn take(&mut self, frame: &Frame) -> Option<Body> {
        let body = self.slot(frame)?.1;
        self.release(frame);
        body
    }
    /// Bodies kept.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.slots.iter().filter(|s| s.0 > 0).count()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fast::frame::Kind;
    use cnsim_scheme_api::Feedback;

    #[test]
    fn a_body_is_kept_as_long_as_a_frame_carries_it() {
        let body = |n| (FlowId(n), Says::Feedback(Feedback::Reflection));
        let mut bodies = Bodies::default();
        let (a, b) = (bodies.put(body(1)), bodies.put(body(2)));
        let mut of_a = Frame::control(Kind::Control, FlowId(1), 1, 0, 0);
        of_a.ext = a;
        bodies.share(&of_a);
        bodies.share(&of_a);
        for _ in 0..2 {
            assert!(matches!(bodies.take(&of_a), Some((FlowId(1), _))));
        }
        assert_eq!(bodies.held(), 2);
        bodies.release(&of_a);
        assert_eq!(bodies.held(), 1);
        assert!(bodies.slots[a as usize].1.is_none(), "nobody carries it");
        assert_eq!(bodies.put(body(3)), a, "its place is used again");
        assert_ne!(bodies.put(body(4)), b);
        assert!(matches!(bodies.slots[b as usize].1, Some((FlowId(2), _))));
    }
}
