//! Events in their order, and the handle by which a node acts in its turn.
//!
//! A node has an [`Agenda`] of its own; the arrival of a frame is an event of the receiver. Events of one moment are ordered by what
//! they are, never by who planned them first: [`Kind`], then port or object.

use super::frame::{Control, Lane, Says, To};
use crate::mix::mix;
use crate::net::{NEVER, Net, Ps};
use crate::spec::Ties;
use cnsim_scheme_api::{Feedback, FlowId};
use std::collections::VecDeque;

/// Kinds of events, in the order in which simultaneous ones happen at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A scheduled change of a port's service rate, or a fault or a watchdog acts.
    #[default]
    Change,
    /// XOFF or XON arrives.
    Pause,
    /// The last bit of a frame leaves a port.
    End,
    /// A control frame arrives, or a message of the node's own is ready.
    Control,
    /// A frame of a data class arrives.
    Data,
    /// A timer of a reflector expires.
    Reflector,
    /// A timer expires.
    Timer,
    /// A source's slot begins.
    Slot,
    /// An idle transmitter looks for a frame.
    Start,
    /// A bin of the recording ends.
    Tick,
}

/// Something that happens at a node: when (ps), what, and its number, in the order in which all happen. That is a source or a timer; of
/// an arrival its port ([`place_of_data`]); one beyond the last port is an event of the node's own.
pub(crate) type Key = (Ps, Kind, u64);

/// What comes in no run.
pub(crate) const NO_EVENT: Key = (NEVER, Kind::Tick, 0);

/// The rank of a key: one number in the order of keys, so that one comparison takes the place of three. A time above all runs is
/// as good as [`NEVER`].
pub(crate) fn rank((time, kind, number): Key) -> u128 {
    u128::from(time.0.min(NEVER.0 >> 4)) << 68 | (kind as u128) << 64 | u128::from(number)
}

/// The key of a rank. The sign of its time makes [`NEVER`] whole again.
pub(crate) fn of_rank(rank: u128) -> Key {
    (Ps((rank as i128 >> 68) as u64), Kind::of_number((rank >> 64) as usize), rank as u64)
}

impl Kind {
    /// All, in their order.
    const ALL: [Self; 10] = {
        use Kind::*;
        [Change, Pause, End, Control, Data, Reflector, Timer, Slot, Start, Tick]
    };
    /// That of a number.
    pub(crate) fn of_number(number: usize) -> Self {
        Self::ALL.get(number % 16).copied().unwrap_or_default()
    }
    /// The arrival of a frame of this lane.
    pub(crate) fn of_arrival(lane: Lane) -> Self {
        match lane {
            Lane::Pause => Kind::Pause,
            Lane::Control => Kind::Control,
            Lane::Data(_) => Kind::Data,
        }
    }
}

/// The place of a port's data frame of `len` bytes among those that reach a node at `at`: the port, or what the port decides where two
/// are alike in it ([`Ties`]). The port is its lower 16 bits.
pub(crate) fn place_of_data(net: &Net, node: u32, at: Ps, port: u16, len: u16) -> u64 {
    let first = match net.laws.ties {
        Ties::ByPort => 0,
        Ties::Drawn => mix(at.0 ^ mix(u64::from(node) << 16 ^ u64::from(port) ^ mix(TIES ^ net.seed))),
        Ties::ByStart => !net.under_way(node, port, len).0 << 16,
    };
    first & !0xFFFF | u64::from(port)
}

/// Sets draws between simultaneous frames apart from all others of a seed.
const TIES: u64 = 0x5349_4D55_4C54;

/// A node's next events: its own, what its idle transmitters look for at this moment, and where transmissions end. So an event is
/// planned once, and one that has lost its cause is replaced.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// The [`rank`] of the first of its own events.
    pub(crate) own: u128,
    /// That of the first transmitter that looks for a frame, and all of them, a bit for each port.
    start: u128,
    looking: Vec<u64>,
    /// Ranks of the ends of transmissions, in order. A transmission that begins later mostly ends later.
    ends: VecDeque<u128>,
}

impl Agenda {
    /// Nothing, at a node with so many ports.
    pub(crate) fn new(ports: usize) -> Self {
        let (own, start) = (rank(NO_EVENT), rank(NO_EVENT));
        Self { own, start, looking: vec![0; ports.div_ceil(64)], ends: VecDeque::new() }
    }
    /// The rank of the next event.
    #[inline]
    pub(crate) fn next(&self) -> u128 {
        let end = self.ends.front().copied().unwrap_or(rank(NO_EVENT));
        self.own.min(self.start).min(end)
    }
    /// An idle transmitter looks for a frame at the end of this moment.
    #[inline]
    pub(crate) fn plan_start(&mut self, now: Ps, port: u16) {
        self.start = self.start.min(rank((now, Kind::Start, port.into())));
        self.looking[usize::from(port) / 64] |= 1 << (port % 64);
    }
    /// The transmission of a port ends at this time.
    #[inline]
    pub(crate) fn plan_end(&mut self, port: u16, time: Ps) {
        let (end, ends) = (rank((time, Kind::End, port.into())), &mut self.ends);
        match ends.back() {
            Some(last) if *last > end => ends.insert(ends.partition_point(|e| *e < end), end),
            _ => ends.push_back(end),
        }
    }
    /// Transmissions end at these times, by port, or never; and no others.
    pub(crate) fn list_ends(&mut self, ends: impl Iterator<Item = Ps>) {
        self.ends.clear();
        let ends = (0..).zip(ends).filter(|end| end.1 < NEVER);
        self.ends.extend(ends.map(|(port, end)| rank((end, Kind::End, port))));
        self.ends.make_contiguous().sort_unstable();
    }
    /// The next event happens: it is planned no longer, if it is not one of the node's own.
    #[inline(always)]
    pub(crate) fn pass(&mut self, (now, kind, number): Key) {
        if kind == Kind::End {
            self.ends.pop_front();
        } else if kind == Kind::Start {
            self.looking[number as usize / 64] &= !(1 << (number % 64));
            let first = (0..).zip(&self.looking).find(|(_, word)| **word != 0);
            self.start = first.map_or(rank(NO_EVENT), |(n, word)| {
                rank((now, Kind::Start, 64 * n + u64::from(word.trailing_zeros())))
            });
        }
    }
}

/// Feedback that takes no link ([`crate::ControlTransport::Ideal`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    /// The host; none: all hosts.
    pub(crate) to: Option<u32>,
    /// When it reaches it.
    pub(crate) at: Ps,
    /// Node that says it.
    pub(crate) from: u32,
    /// The flow that it is about, and its class.
    pub(crate) flow: FlowId,
    pub(crate) class: u8,
    /// Content of the message, and the port that it is about ([`Says`]).
    pub(crate) feedback: Feedback,
    pub(crate) about: u32,
}

impl Control {
    /// The message without a frame, if feedback takes no link; the node `from` makes it now, about a class.
    pub(crate) fn direct(&self, (from, class): (u32, u8), moment: Moment<'_>) -> Option<Direct> {
        let (Says::Feedback(feedback, about), Some(at)) = (self.says, moment.net.direct(moment.now)) else {
            return None;
        };
        let to = if let To::Host(host) = self.to { Some(host) } else { None };
        Some(Direct { to, at, from, flow: self.flow, class, feedback, about })
    }
}

/// A moment of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// When, ps.
    pub(crate) now: Ps,
    /// Data that do not change during a run.
    pub(crate) net: &'a Net,
}

/// A node's turn: one event is carried out, at one moment.
#[derive(Debug)]
pub(crate) struct Turn<'a, O> {
    /// The moment, ps.
    pub(crate) now: Ps,
    /// The node.
    pub(crate) node: u32,
    /// What does not change during a run.
    pub(crate) net: &'a Net,
    /// The node's next events.
    pub(crate) agenda: &'a mut Agenda,
    /// Where it puts what others will see.
    pub(crate) out: &'a mut O,
}

impl<'a, O> Turn<'a, O> {
    /// Its moment.
    #[inline]
    pub(crate) fn moment(&self) -> Moment<'a> {
        Moment { now: self.now, net: self.net }
    }
    /// The next event of the agenda before one of this rank, if there is one: it happens now.
    #[inline(always)]
    pub(crate) fn pass_before(&mut self, limit: u128) -> Option<Key> {
        let next = self.agenda.next();
        (next < limit).then(|| {
            let event = of_rank(next);
            self.now = event.0;
            self.agenda.pass(event);
            event
        })
    }
}

/// Feedback that takes effect later: by time, then by the node that said it without a frame.
#[derive(Debug, Default)]
pub(crate) struct Deferred(VecDeque<(Ps, u32, About, Feedback)>);

/// The flow that a message is about, and the port.
pub(super) type About = (FlowId, u32);

impl Deferred {
    /// Defers what `from` says, or what came in a frame, to `at`.
    pub(crate) fn insert(&mut self, at: Ps, from: u32, about: About, feedback: Feedback) {
        let place = self.0.partition_point(|e| (e.0.0, e.1) <= (at.0, from));
        self.0.insert(place, (at, from, about, feedback));
    }
    /// When the next takes effect, ps.
    pub(crate) fn next(&self) -> Ps {
        self.0.front().map_or(NEVER, |d| d.0)
    }
    /// Takes the next: who said it, about what, and what.
    pub(crate) fn pop(&mut self) -> Option<(u32, About, Feedback)> {
        self.0.pop_front().map(|(_, from, about, feedback)| (from, about, feedback))
    }
}

#[cfg(test)]
#[path = "../../tests/parts/agenda.rs"]
mod tests;
