//! A flow, one queue and its destination, closed to a loop: the effect of a scheme's own messages.

use super::returns::Returns;
use super::{PointRig, ReactionRig, ReflectorRig};
use crate::checks::MOST;
use crate::network::{PointAction, Purpose, Stream};
use crate::{Acks, Bytes, Feedback, FlowId, FrameView, NodeId, Rate, Scheme, Tag, Time};
use std::collections::VecDeque;

/// Faults of messages on their way, each a probability.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The message is lost.
    pub lose: f64,
    /// The message is delivered a second time, a step later or more.
    pub double: f64,
    /// The message is held back, so that later ones overtake it.
    pub delay: f64,
}

/// The three rigs of a scheme joined: frames go through the queue to the destination, messages come back.
#[derive(Debug)]
pub struct Loopback {
    /// The rig of the flow's reaction point.
    pub reaction: ReactionRig,
    /// The rig of the queue's congestion point; none where the scheme has none.
    pub point: Option<PointRig>,
    /// The rig of the destination's reflector; none where the scheme has none.
    pub reflector: Option<ReflectorRig>,
    /// Messages delivered so far.
    pub delivered: u64,
    /// Acknowledgements that woke the flow's reaction point so far.
    pub woken: u64,
    /// The last message delivered.
    pub last: Option<Feedback>,
    faults: Faults,
    draws: Stream,
    under_way: VecDeque<Feedback>,
    round_trip: Time,
    /// Messages on their way, by time of arrival.
    late: VecDeque<(Time, Feedback)>,
    /// The flow has a queue pair, whose frames are acknowledged.
    returns: Option<Returns>,
}

impl Loopback {
    /// A scheme's loop on lines of this rate. Frames are acknowledged where the scheme needs that.
    pub fn new(make: &dyn Fn() -> Box<dyn Scheme>, line: Rate, seed: u64, faults: Faults) -> Self {
        let scheme = make();
        let returns = (scheme.plan().acks != Acks::Optional).then(Returns::default);
        Self {
            returns,
            reaction: ReactionRig::boxed(make(), line, seed),
            point: PointRig::new(scheme.as_ref(), line, seed),
            reflector: ReflectorRig::new(scheme.as_ref(), line, seed),
            delivered: 0,
            woken: 0,
            last: None,
            faults,
            draws: Stream::new(seed, 2, Purpose::Test),
            under_way: VecDeque::new(),
            round_trip: Time::ZERO,
            late: VecDeque::new(),
        }
    }

    /// The loop with a round trip: every message arrives this long after the frame that caused it was sent. An
    /// acknowledgement takes the time in the queue besides, in any loop.
    pub fn with_round_trip(mut self, time: Time) -> Self {
        self.round_trip = time;
        self
    }

    /// The loop with acknowledgements, whether the scheme needs them or not.
    pub fn with_acknowledgements(mut self) -> Self {
        self.returns.get_or_insert_default();
        self
    }

    /// Lets time pass for the flow; messages arrive when they are due.
    fn wait(&mut self, gap: Time) {
        let end = self.reaction.now() + gap;
        if let Some(returns) = &mut self.returns {
            while let Some(at) = returns.next().filter(|at| *at <= end) {
                self.reaction.wait(at.saturating_sub(self.reaction.now()));
                self.woken += returns.deliver(&mut self.reaction);
            }
        }
        while self.late.front().is_some_and(|m| m.0 <= end) {
            if let Some((at, message)) = self.late.pop_front() {
                self.reaction.wait(at.saturating_sub(self.reaction.now()));
                self.deliver(message);
            }
        }
        self.reaction.wait(end.saturating_sub(self.reaction.now()));
        if let Some(returns) = &mut self.returns {
            self.woken += returns.deliver(&mut self.reaction);
        }
    }

    /// The flow sends this many bytes in this time, and meets no congestion.
    pub fn relief(&mut self, bytes: u64, time: Time) {
        self.reaction.send(bytes);
        self.reaction.wait(time);
        if let Some(returns) = &mut self.returns {
            returns.settle(&mut self.reaction, self.point.as_ref().is_some_and(|p| p.state.records));
        }
    }

    /// A message that a frame caused sets out; the frame found a queue of this length.
    fn send_back(&mut self, message: Feedback, queue: u64, line: Rate) {
        let in_queue = match message {
            Feedback::Echo { .. } => line.transmission_time(Bytes::new(queue)),
            _ => Time::ZERO,
        };
        let takes = self.round_trip + in_queue;
        if takes == Time::ZERO {
            return self.deliver(message);
        }
        let at = self.reaction.now() + takes;
        let place = self.late.partition_point(|m| m.0 <= at);
        self.late.insert(place, (at, message));
    }

    /// After `gap`, the flow sends a frame that finds (itself included) a queue of this length; messages come back. It sends none
    /// while its window is full.
    pub fn step(&mut self, gap: Time, queue: u64) {
        self.wait(gap);
        let acks = &self.reaction.state().acks;
        if self.returns.is_some() && acks.in_flight() >= acks.window {
            return;
        }
        let seq = acks.next_seq;
        let tag = self.reaction.frame(1500);
        let mut view = FrameView {
            flow: FlowId(1),
            src: NodeId(0),
            dst: NodeId(1),
            len: Bytes::new(1500),
            marked: false,
            tag,
            dropped: false,
        };
        let mut said = Vec::new();
        if let Some(point) = &mut self.point {
            point.wait(gap);
            let seen = point.frame(1, queue, tag);
            (view.marked, view.tag) = (seen.marked, seen.tag);
        }
        let line = self.reaction.state().line_rate;
        if let Some(returns) = &mut self.returns {
            let frame = (self.reaction.now(), seq, 1500);
            let draws = (self.faults, &mut self.draws);
            let records = self.point.as_ref().is_some_and(|p| p.state.records);
            returns.frame(frame, (queue, view.marked, line), (self.round_trip, records), draws);
        }
        if let Some(reflector) = &mut self.reflector {
            said.extend(reflector.wait(gap));
            said.extend(reflector.frame(&view));
        }
        while let Some(mut probe) = self.reaction.probes.pop_front() {
            if self.point.as_mut().is_some_and(|p| p.probe(&mut probe, 1, queue)) {
                let at = self.reaction.now();
                said.push(Feedback::ProbeReply { probe, at, rx_rate: Rate::ZERO });
            } else if let Some(reflector) = &mut self.reflector {
                said.extend(reflector.probe(&probe));
            }
        }
        if let Some(point) = &mut self.point {
            said.extend(point.actions.drain(..).filter_map(|a| match a {
                PointAction::Notify(FlowId(1), f) | PointAction::Broadcast(f) => Some(f),
                _ => None,
            }));
        }
        self.carry(said, queue, line);
    }

    /// Brings messages to the flow, with faults.
    fn carry(&mut self, said: Vec<Feedback>, queue: u64, line: Rate) {
        if self.late.len() + self.under_way.len() + said.len() > MOST {
            let why = || format!("more than {MOST} messages are on their way to one flow");
            self.reaction.failure.get_or_insert_with(why);
            return;
        }
        for message in said {
            if self.draws.chance(self.faults.lose) {
                continue;
            }
            if self.draws.chance(self.faults.double) {
                self.under_way.push_front(message);
            }
            if self.draws.chance(self.faults.delay) {
                self.under_way.push_front(message);
            } else {
                self.send_back(message, queue, line);
            }
        }
        if !self.under_way.is_empty() && self.draws.chance(0.5) {
            let at = self.draws.below(self.under_way.len() as u64) as usize;
            if let Some(message) = self.under_way.remove(at) {
                self.deliver(message);
            }
        }
    }

    fn deliver(&mut self, message: Feedback) {
        self.delivered += 1;
        self.last = Some(message);
        self.reaction.feedback(&message);
    }

    /// Why a run would have been stopped.
    pub fn failure(&self) -> Option<String> {
        let point = self.point.as_ref().and_then(|p| p.failure.clone());
        let reflector = self.reflector.as_ref().and_then(|r| r.failure.clone());
        self.reaction.failure.clone().or(point).or(reflector)
    }

    /// Frames of other flows pass the queue, untagged.
    pub fn others(&mut self, frames: u32, queue: u64) {
        if let Some(returns) = &mut self.returns {
            returns.others(1500 * u64::from(frames));
        }
        if let Some(point) = &mut self.point {
            (0..frames).for_each(|i| {
                point.frame(2 + i % 9, queue, Tag::None);
            });
        }
    }
}
