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
    pub(crate) fn get(&self, at: u32) -> Option<&Body> {
        self.slots.get(at as usize)?.1.as_ref()
    }
    /// The probe that a frame carries: probes are not broadcast, so it is this frame's alone.
    pub(crate) fn probe(&mut self, at: u32) -> Option<(FlowId, &mut Probe)> {
        match &mut self.slots.get_mut(at as usize)?.1 {
            Some((flow, Says::Probe(probe))) => Some((*flow, probe)),
            _ => None,
        }
    }
    /// One more frame carries it.
    #[inline]
    pub(crate) fn share(&mut self, at: u32) {
        let slot = self.slots.get_mut(at as usize).filter(|slot| slot.0 > 0);
        let Some(slot) = slot else { broken("a body that nobody carries is shared") };
        slot.0 += 1;
    }
    /// One frame fewer carries it.
    #[inline]
    pub(crate) fn release(&mut self, at: u32) {
        let slot = self.slots.get_mut(at as usize).filter(|slot| slot.0 > 0);
        let Some((frames, body)) = slot else { broken("a body that nobody carries is released") };
        *frames -= 1;
        if *frames == 0 {
            *body = None;
            self.free.push(at);
        }
    }
    /// The body of a frame that leaves for elsewhere.
    pub(crate) fn take(&mut self, at: u32) -> Option<Body> {
        let body = self.get(at).copied();
        self.release(at);
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
    use cnsim_scheme_api::Feedback;

    #[test]
    fn a_body_is_kept_as_long_as_a_frame_carries_it() {
        let body = |n| (FlowId(n), Says::Feedback(Feedback::Reflection));
        let mut bodies = Bodies::default();
        let (a, b) = (bodies.put(body(1)), bodies.put(body(2)));
        bodies.share(a);
        bodies.share(a);
        for _ in 0..2 {
            assert!(matches!(bodies.take(a), Some((FlowId(1), _))));
        }
        assert_eq!(bodies.held(), 2);
        bodies.release(a);
        assert_eq!(bodies.held(), 1);
        assert!(bodies.get(a).is_none(), "nobody carries it");
        assert_eq!(bodies.put(body(3)), a, "its place is used again");
        assert_ne!(bodies.put(body(4)), b);
        assert!(matches!(bodies.get(b), Some((FlowId(2), _))));
    }
}
