//! Finite flows under way at a host: each waits in a queue of its own, and those that may send now take turns at the link.
//!
//! A frame is made when the link takes it. Of the flows that may send now, the one goes that has waited longest since its last frame,
//! or since it began: a round robin in which a flow that its limiter held back loses no turn.
//!
//! Such a flow waits with its limiter. Below the queue a limiter that may let a frame go takes part once, for the first of its flows. At
//! the source it lets one of them take part for one frame, and its gap begins at that. So a frame costs no more where more flows are
//! under way, but for a heap of those that were let go.

use crate::spec::padded;
use cnsim_scheme_api::FlowId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The queue of a finite flow: what is still to be sent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowQueue {
    /// Its place among those that wait: grows with each flow that begins or sends a frame.
    pub(crate) since: u64,
    /// Bytes still to be sent, more than 0.
    pub(crate) bytes: u64,
    /// Destination host.
    pub(crate) dst: u32,
    /// The flow, as frames name it ([`crate::flows`]).
    pub(crate) number: u16,
    /// Bytes of a whole frame on the link.
    pub(crate) whole: u16,
    /// Class of its data.
    pub(crate) class: u8,
    /// The flow, if it has a queue pair: that knows what is left of it.
    pub(crate) pair: Option<FlowId>,
}

impl FlowQueue {
    /// Length of its next frame: whole, but for the last, which is padded.
    pub(crate) fn next_len(&self) -> u16 {
        padded(self.bytes.min(self.whole.into())) as u16
    }
    /// What is left of it behind that frame.
    pub(crate) fn rest(self) -> Option<Self> {
        let bytes = self.bytes.saturating_sub(u64::from(self.next_len()));
        (bytes > 0).then_some(Self { bytes, ..self })
    }
}

/// Who takes part for a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LetGo {
    /// A limiter below the queue, by its place.
    Limiter(usize),
    /// A flow whose limiter at the source has let its next frame go.
    Flow(FlowQueue),
}

/// Whose turn it is ([`Transfers::next`]).
#[derive(Debug)]
pub(crate) enum Next {
    /// Nobody's.
    Nobody,
    /// A limiter has to hold its flows back, and may have to plan when the next may go.
    Held(usize),
    /// This flow's next frame goes.
    Goes {
        /// The flow; what is left of it is to join anew.
        flow: FlowQueue,
        /// The limiter that lets it go now, whose gap begins.
        limiter: Option<usize>,
        /// Its limiter has counted the frame already.
        counted: bool,
    },
}

/// The flows that wait with a limiter.
#[derive(Debug, Default)]
struct Held {
    flows: VecDeque<FlowQueue>,
    /// The limiter takes part.
    takes_part: bool,
    /// The last to go was one of these flows, not a frame of the limiter's queue.
    flow_went: bool,
}

/// The finite flows under way at a host.
#[derive(Debug)]
pub(crate) struct Transfers {
    /// By class: the flows that no limiter held back when they joined, the first of them first.
    unlimited: Vec<VecDeque<FlowQueue>>,
    /// Of the first class, those that limiters let go; the one that has waited longest is first.
    let_go: BinaryHeap<Reverse<(u64, LetGo)>>,
    /// By a limiter's place.
    held: Vec<Held>,
    /// Flows that have joined so far, each as often as it has.
    joined: u64,
    /// Flows and frames that wait in queues take turns: the flows are next.
    pub(crate) flows_next: bool,
}

impl Transfers {
    /// None, in so many classes.
    pub(crate) fn new(classes: usize) -> Self {
        let unlimited = (0..classes).map(|_| VecDeque::new()).collect();
        Self { unlimited, let_go: BinaryHeap::new(), held: Vec::new(), joined: 0, flows_next: false }
    }
    /// May no flow of the first class send now?
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.unlimited.first().is_none_or(VecDeque::is_empty) && self.let_go.is_empty()
    }
    /// Does a flow wait with the limiter at this place?
    pub(crate) fn wait_at(&self, limiter: usize) -> bool {
        self.held.get(limiter).is_some_and(|held| !held.flows.is_empty())
    }
    /// A flow has begun or sent a frame. It joins those that may send, or those that its limiter holds back.
    pub(crate) fn join(&mut self, flow: FlowQueue, limiter: Option<usize>) {
        self.joined += 1;
        let flow = FlowQueue { since: self.joined, ..flow };
        if let Some(at) = limiter {
            self.hold(flow, at);
        } else if let Some(unlimited) = self.unlimited.get_mut(usize::from(flow.class)) {
            unlimited.push_back(flow);
        }
    }
    fn hold(&mut self, flow: FlowQueue, at: usize) {
        self.held.resize_with(self.held.len().max(at + 1), Held::default);
        self.held[at].flows.push_back(flow);
    }
    /// A limiter below the queue may let a frame go: it takes part from now on, if flows wait there.
    pub(crate) fn take_part(&mut self, limiter: usize) {
        let Some(held) = self.held.get_mut(limiter) else { return };
        if let Some(first) = held.flows.front()
            && !std::mem::replace(&mut held.takes_part, true)
        {
            self.let_go.push(Reverse((first.since, LetGo::Limiter(limiter))));
        }
    }
    /// A limiter at the source lets the first of its flows send one frame: its length. None where no flow waits there, or where a frame
    /// of its queue does (`queued`) and has the turn.
    pub(crate) fn let_go(&mut self, limiter: usize, queued: bool) -> Option<u16> {
        let held = self.held.get_mut(limiter)?;
        if std::mem::take(&mut held.flow_went) && queued {
            return None;
        }
        let flow = held.flows.pop_front()?;
        held.flow_went = true;
        self.let_go.push(Reverse((flow.since, LetGo::Flow(flow))));
        Some(flow.next_len())
    }
    /// Whose turn it is in a class. `limiter` is the one that limits a flow now, `may_go` is whether one may let a frame go.
    pub(crate) fn next(
        &mut self,
        class: u8,
        limiter: impl Fn(&FlowQueue) -> Option<usize>,
        may_go: impl Fn(usize) -> bool,
    ) -> Next {
        let goes = |flow, limiter, counted| Next::Goes { flow, limiter, counted };
        let Some(unlimited) = self.unlimited.get_mut(usize::from(class)) else { return Next::Nobody };
        let since = unlimited.front().map_or(u64::MAX, |flow| flow.since);
        let first = self.let_go.peek().filter(|first| class == 0 && first.0.0 < since).map(|first| first.0.1);
        let Some(first) = first else {
            let Some(flow) = unlimited.pop_front() else { return Next::Nobody };
            let Some(at) = limiter(&flow) else { return goes(flow, None, false) };
            self.hold(flow, at);
            return Next::Held(at);
        };
        self.let_go.pop();
        match first {
            LetGo::Flow(flow) => goes(flow, None, true),
            LetGo::Limiter(at) => {
                self.held[at].takes_part = false;
                let flow = if may_go(at) { self.held[at].flows.pop_front() } else { None };
                flow.map_or(Next::Held(at), |flow| goes(flow, Some(at), false))
            }
        }
    }
}
