//! The receiving side of a host: delivery, and the reflectors that see it. It touches nothing of the sending side, which carries out
//! what reflectors ask for.

use super::Host;
use super::sending::packed;
use crate::check::{Failure, Who};
use crate::fast::frame::{Frame, Kind, NEVER};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Control, Deliveries, Delivery, Direct, Ear, Lane, Pause, Says, To};
use crate::net::Net;
use crate::paged::Paged;
use crate::timers::Timers;
use cnsim_scheme_api::network::{Purpose, ReflectorAction, Stream};
use cnsim_scheme_api::{FlowId, Plan, Probe, Rate, ReflectGate, Scope, Slot};

/// What a received frame needs to know of its reflector, mostly.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Index of the reflector and one; 0 for none.
    at: u32,
    /// Bytes received since it was woken; its state does not have them yet.
    bytes: u64,
    /// Frames before this time do not wake it.
    deaf_until: u64,
    /// It has a gate of its own, other than the plan's.
    own_gate: bool,
}

/// Does a gate let nothing but marks wake reflectors?
fn only_marks_wake(gate: ReflectGate) -> bool {
    matches!(gate, ReflectGate::Never | ReflectGate::Marked)
}

/// The receiving side. What each frame touches stands first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Receiver {
    /// Unmarked data wakes nothing here.
    pub(super) deaf: bool,
    /// Reflectors want to know how many bytes have been received.
    counts: bool,
    /// One reflector serves the whole host.
    for_host: bool,
    id: u32,
    hosts: u32,
    /// How many reflectors have a gate of their own.
    own_gates: u32,
    /// Timers of reflectors.
    pub(super) alarms: Timers,
    pub(super) deliveries: Deliveries,
    scheme: Option<usize>,
    line_rate: Rate,
    gate: ReflectGate,
    gate_stream: Stream,
    reflectors: Vec<Ear>,
    known: Paged<Known>,
    actions: Vec<ReflectorAction>,
}

impl Receiver {
    pub(super) fn new(net: &Net, id: u32, scheme: Option<usize>, plan: Plan, line_rate: Rate) -> Self {
        Self {
            deaf: only_marks_wake(plan.reflect),
            counts: plan.received,
            for_host: plan.reflector_scope == Scope::Host,
            id,
            hosts: net.hosts,
            own_gates: 0,
            alarms: Timers::default(),
            deliveries: Deliveries::new(net, id),
            scheme,
            line_rate,
            gate: plan.reflect,
            gate_stream: Stream::new(net.seed, u64::from(id), Purpose::Node),
            reflectors: Vec::new(),
            known: Paged::default(),
            actions: Vec::new(),
        }
    }

    /// Accounts for a data frame that arrives at `now`.
    #[inline(always)]
    pub(super) fn receive(&mut self, now: u64, frame: &Frame, failure: &mut Failure) {
        let delivery = Delivery {
            src: u32::from(frame.src),
            dst: u32::from(frame.dst),
            flow: frame.flow(self.hosts),
            number: frame.seq,
            born: frame.born(),
            len: frame.len,
            finite: frame.is_finite(),
        };
        if let Err(cause) = self.deliveries.take(now, &delivery) {
            failure.note(now, Who::Receiver, &cause);
        }
    }

    /// Counts a data frame that does not wake its reflector, if that wants to know.
    #[inline]
    pub(super) fn count(&mut self, frame: &Frame) {
        if self.counts
            && let Some(known) = self.known.get_mut(self.key(u32::from(frame.src)))
        {
            known.bytes += u64::from(frame.len);
        }
    }

    /// May this frame wake its reflector now, by the gate of that or of the plan?
    #[inline]
    pub(super) fn may_wake(&mut self, now: u64, frame: &Frame) -> bool {
        let (key, known, mut gate) = (self.key(u32::from(frame.src)), &self.known, self.gate);
        if self.own_gates > 0 {
            let known = known.get(key);
            let ear = self.reflectors.get((known.at as usize).wrapping_sub(1)).filter(|_| known.own_gate);
            gate = ear.map_or(gate, |ear| ear.state.gate);
        }
        let listens = || known.get(key).deaf_until <= now;
        gate.wakes(frame.marked(), frame.tag_kind(), listens, &mut self.gate_stream)
    }

    #[inline]
    fn key(&self, src: u32) -> u32 {
        if self.for_host { 0 } else { src }
    }

    /// The reflector that a data frame would wake, by its place among all; beyond them for one that wakes none.
    #[inline]
    pub(super) fn reflector_at(&self, frame: &Frame) -> usize {
        if self.deaf && frame.is_plain() {
            return usize::MAX;
        }
        (self.known.get(self.key(u32::from(frame.src))).at as usize).wrapping_sub(1)
    }

    /// Fetches a reflector beforehand.
    #[inline]
    pub(super) fn expect(&self, place: usize) {
        prefetch_index::prefetch_index(&self.reflectors, place);
    }

    /// Wakes the reflector with a data frame that arrives at `now`; true if something follows.
    #[inline]
    pub(super) fn answers(&mut self, now: u64, frame: &Frame, net: &Net) -> bool {
        if self.gate.return_tag(frame.tag(), &mut self.actions) {
            return true;
        }
        let view = frame.header().view(frame.len, self.hosts, false);
        self.wake(now, view.flow, net, |ear, actions| ear.take(&view, now, actions))
    }

    /// The same with a probe.
    pub(super) fn answers_probe(&mut self, now: u64, flow: FlowId, probe: &Probe, net: &Net) -> bool {
        self.wake(now, flow, net, |ear, actions| ear.take_probe(flow, probe, now, actions))
    }

    /// The next timer of a reflector expires, now. Its flow; none if the reflector asks for nothing.
    pub(super) fn reflects_by_timer(&mut self, now: u64, net: &Net) -> Option<FlowId> {
        let (key, slot) = self.alarms.pop()?;
        let at = self.known.get(key).at as usize;
        let flow = self.reflectors.get(at.checked_sub(1)?)?.flow;
        self.wake(now, flow, net, |ear, actions| ear.expire(Slot(slot), now, actions)).then_some(flow)
    }

    /// Wakes the reflector of a flow, which is built if it is not there; true if it has something to do.
    #[inline]
    fn wake(
        &mut self,
        now: u64,
        flow: FlowId,
        net: &Net,
        verb: impl FnOnce(&mut Ear, &mut Vec<ReflectorAction>),
    ) -> bool {
        let key = self.key(flow.0 / self.hosts);
        let known = self.known.get(key);
        let mut at = known.at;
        if at == 0 {
            let (site, actions) = ((self.id, key), &mut self.actions);
            let made = Ear::new(net, self.scheme, flow, site, self.line_rate, (now, actions));
            let Some(ear) = made else { return false };
            self.reflectors.push(ear);
            at = self.reflectors.len() as u32;
        }
        if let Some(ear) = self.reflectors.get_mut(at as usize - 1) {
            if known.at > 0 {
                ear.state.received += known.bytes;
            }
            verb(ear, &mut self.actions);
            // What frames need to know of it.
            let (deaf_until, own_gate) = (ear.state.deaf_until.as_ps(), ear.state.gate != self.gate);
            self.own_gates = self.own_gates + u32::from(own_gate) - u32::from(known.own_gate);
            *self.known.at(key) = Known { at, bytes: 0, deaf_until, own_gate };
            self.deaf = self.own_gates == 0 && only_marks_wake(self.gate);
        }
        !self.actions.is_empty()
    }
}

impl Host {
    /// PAUSE or a message has arrived.
    pub(super) fn arrive(&mut self, frame: &Frame, net: &Net, wires: &mut Wires) {
        let at = self.moment(net);
        if matches!(frame.kind(), Kind::Xoff | Kind::Xon) {
            let pause = Pause { off: frame.kind() == Kind::Xoff, class: 0 };
            if self.sender.obeys_pause(pause, at.now) {
                self.sender.must_look |= self.line.paused.hear(pause.off, at.now, net.duration);
            }
        } else if let Some(feedback) = frame.said() {
            self.sender.hear(FlowId(frame.flow(at.net.hosts)), &feedback, at);
        } else {
            if let Some((flow, Says::Feedback(feedback))) = wires.bodies.get(frame.ext) {
                self.sender.hear(*flow, feedback, at);
            }
            wires.bodies.release(frame.ext);
        }
        self.kick_if_idle();
    }

    /// Feedback is on its way to this host without a frame.
    pub(crate) fn expect_feedback(&mut self, d: &Direct) {
        self.sender.expect(d);
        (self.next_due, self.calm) = (self.next_due.min(self.sender.deferred.next()), false);
    }

    /// Carries out what follows from a data frame that has been received, or from a probe or a timer, for this flow.
    pub(super) fn reply(&mut self, flow: FlowId, net: &Net, wires: &mut Wires) {
        let (at, id) = (self.moment(net), self.sender.id());
        let mut actions = std::mem::take(&mut self.receiver.actions);
        let to = flow.0 / net.hosts;
        let line = &mut self.line;
        let key = self.receiver.key(to);
        let alarms = (&mut self.receiver.alarms, key);
        self.sender.reflect(flow, &actions, at, alarms, |sender, &feedback| {
            let message = Control { flow, to: To::Host(to), says: Says::Feedback(feedback) };
            if let Some(direct) = message.direct(id, at) {
                return wires.direct.push(direct);
            }
            let lane = Lane::of_message(net.control);
            // At priority behind the transmission in progress, as nothing goes before it and nothing interrupts it.
            let start = if line.end == NEVER { at.now } else { line.end };
            let end = start + line.tx.time(crate::fast::frame::CONTROL);
            if lane != Lane::Control || !sender.queues.control.is_empty() || end >= net.duration {
                return sender.queue_control(lane, message, at);
            }
            hit(Mark::SaidAtOnce);
            let (frame, body) = packed(lane, &message, at);
            line.send_control(frame, end, body, wires);
            line.end = end;
        });
        actions.clear();
        self.receiver.actions = actions;
        self.kick &= self.line.end == NEVER;
        self.kick_if_idle();
    }
}
