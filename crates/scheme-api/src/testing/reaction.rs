//! One reaction point, alone.

use super::{Timers, keep, known};
use crate::checks::MOST;
use crate::network::{Counts, Lent, LimiterAction, LimiterState, Purpose, Stream, settled};
use crate::{
    Built, Bytes, Class, Feedback, FlowId, Hop, Limiter, Loss, NodeId, PointId, Probe, Rate, ReactionPoint,
    Scheme, SourceSite, Tag, Time,
};
use std::collections::VecDeque;

/// One reaction point with its limiter, driven by hand. It is built as a network builds it: by the first feedback that engages
/// it, or with the first frame.
#[derive(Debug)]
pub struct ReactionRig {
    scheme: Box<dyn Scheme>,
    /// When the reaction point is built.
    built: Built,
    object: Option<Box<dyn ReactionPoint>>,
    /// The source that a reaction point is built for.
    pub site: SourceSite,
    state: LimiterState,
    now: Time,
    timers: Timers,
    /// The counts of the reaction point.
    pub counts: Counts,
    /// The requests of the reaction point: the last 100 000 at least.
    pub actions: Vec<LimiterAction>,
    /// Probes sent and not yet taken, with time and bytes filled in.
    pub probes: VecDeque<Probe>,
    /// A loss is repaired when all below this is acknowledged.
    recover: Option<u64>,
    /// Why a run would have been stopped.
    pub failure: Option<String>,
}

impl ReactionRig {
    /// A flow on a line of this rate, not limited yet.
    pub fn new(scheme: impl Scheme + 'static, line: Rate) -> Self {
        Self::boxed(Box::new(scheme), line, 1)
    }

    /// A rig of a boxed scheme, with a seed of its own.
    pub fn boxed(scheme: Box<dyn Scheme>, line: Rate, seed: u64) -> Self {
        let plan = settled(scheme.plan());
        Self {
            counts: Counts::new(scheme.counters()),
            built: plan.as_ref().map_or(Built::FirstFrame, |plan| plan.built),
            scheme,
            object: None,
            site: SourceSite {
                flow: FlowId(1),
                src: NodeId(0),
                dst: NodeId(1),
                class: Class::Data,
                line_rate: line,
                base_rtt: Time::from_us(6),
                mtu: Bytes::new(1500),
                hops: 2,
                size: None,
                initial_rate: None,
                others: 0,
            },
            state: LimiterState::new(line, Stream::new(seed, 0, Purpose::Reaction)),
            now: Time::ZERO,
            timers: Timers::default(),
            actions: Vec::new(),
            probes: VecDeque::new(),
            recover: None,
            failure: plan.err().map(|why| format!("its plan: {why}")),
        }
    }

    /// Builds the reaction point, where there is none yet: a flow with a queue pair begins.
    pub fn begin(&mut self) {
        if self.object.is_some() {
            return;
        }
        let LimiterState { ref stream, ref acks, .. } = self.state;
        let (sent, next_seq, acked) = (self.state.sent(), acks.next_seq, acks.acked);
        self.state = LimiterState::new(self.state.line_rate, stream.clone());
        self.state.set_sent(sent);
        (self.state.acks.next_seq, self.state.acks.acked) = (next_seq, acked);
        self.object = self.scheme.reaction_point(&self.site);
        self.call(|object, limiter| object.start(limiter));
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn ReactionPoint, &mut Limiter<'_>)) {
        let Some(object) = &mut self.object else { return };
        let mut actions = Vec::new();
        call(object.as_mut(), &mut Limiter::new(self.now, &mut self.state, &mut actions));
        for action in &actions {
            match action {
                LimiterAction::StartTimer(slot, after) => {
                    self.timers.start(*slot, self.now, *after);
                }
                LimiterAction::StopTimer(slot) => self.timers.stop(*slot),
                LimiterAction::Probe(probe) => {
                    self.probes.push_back(Probe {
                        sent_at: self.now,
                        sent_bytes: self.state.sent(),
                        ..*probe
                    });
                }
                LimiterAction::Fail(cause) => {
                    self.failure.get_or_insert_with(|| format!("the scheme fails: {cause}"));
                }
                LimiterAction::Gauge(name, _) => {
                    if let Err(why) = known(&self.scheme.gauges(), name) {
                        self.failure.get_or_insert(why);
                    }
                }
                LimiterAction::Count(name) => {
                    if let Err(why) = self.counts.add(name) {
                        self.failure.get_or_insert(why);
                    }
                }
            }
        }
        keep(&mut self.actions, actions);
        self.probes.drain(..self.probes.len().saturating_sub(MOST));
        if self.state.release {
            self.state.release = false;
            self.state.engaged = false;
            if self.built == Built::OnFeedback {
                self.object = None;
                self.timers.clear();
            }
        }
    }

    /// Delivers a message to the reaction point; the first that engages it builds it.
    pub fn feedback(&mut self, feedback: &Feedback) {
        if self.object.is_none() {
            if !self.scheme.engages(feedback) {
                return;
            }
            self.begin();
        }
        self.call(|object, limiter| object.on_message(feedback, limiter));
    }

    /// Delivers a QCN message with this quantised feedback.
    pub fn cnm(&mut self, qntz_fb: u8) {
        self.feedback(&Feedback::Cnm { point: PointId(0), qntz_fb, q_off: -1, q_delta: 0 });
    }

    /// An acknowledgement of all bytes of the flow below `acked` arrives. True if it wakes the reaction point.
    pub fn ack(&mut self, acked: u64, marked: bool, rtt: Time, path: &[Hop]) -> bool {
        let ack = self.state.acks.take(acked, marked, rtt, path);
        self.outstand();
        if let Some(ack) = &ack {
            self.call(|object, limiter| object.on_ack(ack, limiter));
        }
        if self.recover.is_some_and(|until| acked >= until) {
            self.recover = None;
            self.call(|object, limiter| object.on_recovered(limiter));
        }
        ack.is_some()
    }

    /// The flow has sent nothing for the time `idle`, and a message more goes on its connection.
    pub fn restart(&mut self, idle: Time, timeout: Time) {
        self.call(|object, limiter| object.on_restart(idle, timeout, limiter));
    }

    /// Counts what is outstanding.
    fn outstand(&mut self) {
        self.state.acks.outstanding = self.state.acks.in_flight();
    }

    /// The flow begins anew with the first byte that is not acknowledged, for this reason.
    pub fn lose(&mut self, loss: Loss) {
        if self.state.acks.next_seq > self.state.acks.acked {
            self.recover = Some(self.state.acks.next_seq.max(self.recover.unwrap_or(0)));
        }
        self.state.acks.next_seq = self.state.acks.acked;
        self.call(|object, limiter| object.on_loss(loss, limiter));
        self.outstand();
    }

    /// The flow sends this many bytes, frame by frame, with no time passing.
    pub fn send(&mut self, mut bytes: u64) {
        while bytes > 0 {
            let len = bytes.min(1500);
            bytes -= len;
            self.frame(len);
        }
    }

    /// The flow sends one frame; yields its tag.
    pub fn frame(&mut self, len: u64) -> Tag {
        if self.built == Built::FirstFrame {
            self.begin();
        }
        self.state.acks.next_seq += len;
        self.outstand();
        if self.object.is_none() {
            return Tag::None;
        }
        let (kind, value) = self.state.next_tag(self.now);
        let tag = Tag::unpack(kind, value);
        self.state.countdown -= len as i64;
        if self.state.countdown <= 0 {
            self.state.disarm();
            self.call(|object, limiter| object.on_bytes(limiter));
        }
        tag
    }

    /// Lets time pass; timers expire in order.
    pub fn wait(&mut self, time: Time) {
        let end = self.now + time;
        while let Some((at, slot)) = self.timers.next(end) {
            self.now = at;
            match self.state.patience.expires(slot, at) {
                Ok(()) => self.call(|object, limiter| object.on_timer(slot, limiter)),
                Err(why) => drop(self.failure.get_or_insert(why)),
            }
        }
        self.now = end;
    }

    /// Data of the limiter, as the network keeps it.
    pub fn state(&self) -> &LimiterState {
        &self.state
    }

    /// The rig's present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Present rate (line rate while there is no limiter).
    pub fn rate(&self) -> Rate {
        if self.state.engaged { self.state.rate } else { self.state.line_rate }
    }

    /// The rate that the flow can have: its window, once a smallest round trip, may be less than its rate.
    pub fn speed(&self) -> Rate {
        let window = Rate::from_bps(self.state.acks.window as f64 * 8.0 / self.site.base_rtt.as_secs_f64());
        self.rate().min(window)
    }

    /// Rate and window in bits, to compare two flows.
    pub(super) fn steered(&self) -> [u64; 2] {
        [self.rate().bps().to_bits(), self.state.acks.window]
    }

    /// Is the flow limited?
    pub fn engaged(&self) -> bool {
        self.state.engaged
    }

    /// Is there a reaction point?
    pub fn built(&self) -> bool {
        self.object.is_some()
    }
}
