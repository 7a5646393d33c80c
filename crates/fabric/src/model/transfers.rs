//! Finite flows under way at a host: each waits in a queue of its own, and those that may send now take turns at the link.
//!
//! A frame is made when the link takes it. Turns go round the flows in the order in which they began: of those that may send now, it is
//! the next after the one that sent last, then the first again. A flow that begins is the last of the round under way, as in the fork.
//!
//! Such a flow waits with its limiter. Below the queue a limiter that may let a frame go takes part once, for the first of its flows. At
//! the source it lets one of them take part for one frame, and its gap begins at that.
//!
//! Those that may send stand in order. One whose turn comes before others that wait already stands in a heap: mostly there is none.

use crate::spec::padded;
use cnsim_scheme_api::FlowId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The queue of a finite flow: what is still to be sent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowQueue {
    /// Place of the flow in a round: flows are numbered as they begin, from 1.
    pub(crate) place: u32,
    /// Bytes still to be sent, more than 0.
    pub(crate) bytes: u64,
    /// Destination host.
    pub(crate) dst: u32,
    /// The flow, as frames name it ([`crate::flows`]).
    pub(crate) number: u16,
    /// Bytes of a whole frame on the link.
    pub(crate) whole: u16,
    /// Least bytes of its last frame on the link.
    pub(crate) floor: u8,
    /// The flow, if it has a queue pair: that knows what is left of it.
    pub(crate) pair: Option<FlowId>,
}

impl FlowQueue {
    /// Length of its next frame: whole, but for the last, which is padded.
    pub(crate) fn next_len(&self) -> u16 {
        padded(self.bytes.min(self.whole.into()), self.floor.into()) as u16
    }
    /// The rest of the flow behind that frame.
    pub(crate) fn rest(self) -> Option<Self> {
        let bytes = self.bytes.saturating_sub(u64::from(self.next_len()));
        (bytes > 0).then_some(Self { bytes, ..self })
    }
}

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A flow that no limiter held back when it joined.
    Free(FlowQueue),
    /// A limiter below the queue, by its place.
    Limiter(usize),
    /// A flow whose limiter at the source has let its next frame go.
    LetGo(FlowQueue),
}

/// Who takes part when: round and place.
type Turn = ((u64, u32), Part);

/// Rounds over the flows.
#[derive(Debug, Default)]
struct Ring {
    /// Turns of flows that take part, the next one first.
    ready: VecDeque<Turn>,
    /// Turns of flows that joined ahead of others.
    ahead: BinaryHeap<Reverse<Turn>>,
    /// Round and place of the flow that sent last.
    last: (u64, u32),
}

impl Ring {
    /// A flow with this place takes part from now on: in this round, or in the next one if its place has been passed.
    fn push(&mut self, place: u32, part: Part) {
        let (round, last) = self.last;
        let turn = ((round + u64::from(place <= last), place), part);
        if self.ready.back().is_none_or(|before| *before <= turn) {
            self.ready.push_back(turn);
        } else {
            self.ahead.push(Reverse(turn));
        }
    }
    /// The next one takes its turn.
    fn pop(&mut self) -> Option<Turn> {
        let ahead = self.ahead.peek().is_some_and(|Reverse(at)| self.ready.front().is_none_or(|f| at < f));
        if ahead { self.ahead.pop().map(|Reverse(turn)| turn) } else { self.ready.pop_front() }
    }
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
        /// Whether the flow's limiter has counted the frame.
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

/// The finite flows of a class under way at a host.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    ring: Ring,
    /// By a limiter's place.
    held: Vec<Held>,
    /// Flows that have begun so far.
    begun: u32,
    /// Flows and frames that wait in queues take turns: the flows are next.
    pub(crate) flows_next: bool,
}

impl Transfers {
    /// May no flow send now?
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.ring.ready.is_empty() && self.ring.ahead.is_empty()
    }
    /// Does a flow wait with the limiter at this place?
    pub(crate) fn wait_at(&self, limiter: usize) -> bool {
        self.held.get(limiter).is_some_and(|held| !held.flows.is_empty())
    }
    /// A flow begins: it with its place in the rounds to come.
    pub(crate) fn begin(&mut self, flow: FlowQueue) -> FlowQueue {
        self.begun += 1;
        FlowQueue { place: self.begun, ..flow }
    }
    /// A flow has begun or sent a frame. It joins those that may send, or those that its limiter holds back.
    pub(crate) fn join(&mut self, flow: FlowQueue, limiter: Option<usize>) {
        match limiter {
            Some(at) => self.hold(flow, at),
            None => self.ring.push(flow.place, Part::Free(flow)),
        }
    }
    /// A flow that no limiter holds has sent a frame, and goes on before others have their turn.
    pub(crate) fn stay(&mut self, flow: FlowQueue) {
        self.ring.ready.push_front((self.ring.last, Part::Free(flow)));
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
            self.ring.push(first.place, Part::Limiter(limiter));
        }
    }
    /// A limiter at the source lets the first of its flows send one frame: its place, and the length. None where no flow waits there, or where a frame
    /// of its queue does (`queued`) and has the turn.
    pub(crate) fn let_go(&mut self, limiter: usize, queued: bool) -> Option<(u32, u16)> {
        let held = self.held.get_mut(limiter)?;
        if std::mem::take(&mut held.flow_went) && queued {
            return None;
        }
        let flow = held.flows.pop_front()?;
        held.flow_went = true;
        self.ring.push(flow.place, Part::LetGo(flow));
        Some((flow.place, flow.next_len()))
    }
    /// Whose turn it is. `limiter` is the one that limits a flow now, `may_go` is whether one may let a frame go.
    pub(crate) fn next(
        &mut self,
        limiter: impl Fn(&FlowQueue) -> Option<usize>,
        may_go: impl Fn(usize) -> bool,
    ) -> Next {
        let Some((turn, part)) = self.ring.pop() else { return Next::Nobody };
        let (flow, limiter, counted) = match part {
            Part::LetGo(flow) => (flow, None, true),
            Part::Free(flow) => match limiter(&flow) {
                None => (flow, None, false),
                Some(at) => {
                    self.hold(flow, at);
                    return Next::Held(at);
                }
            },
            Part::Limiter(at) => {
                self.held[at].takes_part = false;
                match may_go(at).then(|| self.held[at].flows.pop_front()).flatten() {
                    Some(flow) => (flow, Some(at), false),
                    None => return Next::Held(at),
                }
            }
        };
        self.ring.last = turn;
        Next::Goes { flow, limiter, counted }
    }
}
