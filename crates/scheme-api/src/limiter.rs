//! The limiter that a reaction point is lent, and steers. As with [`crate::point`], a verb that cannot be carried out stops the
//! run.

use crate::acks::{AckGate, AckState};
use crate::checks::{self, Patience};
use crate::lent::Lent;
use crate::random::Stream;
use crate::{Probe, Slot, Tag};
use cnsim_units::{Bytes, Rate, Time};
use std::borrow::Cow;

/// A limiter's data on the network's hot path. The current rate lives here, not in the reaction point. The first 32 bytes hold all
/// that every frame and message touches, as there may be a limiter for each flow.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LimiterState {
    /// The rate at which the limiter paces the flow at present.
    pub rate: Rate,
    /// Rate of the access link: the upper bound.
    pub line_rate: Rate,
    /// Bytes to send until `on_bytes`; very large when not armed. Sent bytes are counted here alone.
    pub countdown: i64,
    /// Tag for the flow's frames, packed.
    tag: u32,
    tag_kind: u8,
    /// Frames of the flow are queued and paced here (else they pass and are only counted).
    pub engaged: bool,
    /// Give the limiter back once its queue is empty.
    pub release: bool,
    /// The next frame's time is to be computed anew from the present rate.
    pub retime: bool,
    /// The countdown at the beginning, had nothing but frames changed it.
    armed: i64,
    /// The next frame that leaves is to be acknowledged: it carries the time.
    pub echo: bool,
    /// Probability with which a frame is tagged.
    pub tag_probability: f64,
    /// How often its timers expire.
    pub patience: Patience,
    /// Random stream of the site.
    pub stream: Stream,
    /// Of the flow's queue pair, where it has one.
    pub acks: AckState,
}

impl LimiterState {
    /// The state of a limiter that holds nothing back: not engaged, at line rate.
    pub fn new(line_rate: Rate, stream: Stream) -> Self {
        Self {
            rate: line_rate,
            line_rate,
            countdown: checks::NEVER,
            armed: checks::NEVER,
            tag: 0,
            tag_kind: 0,
            echo: false,
            tag_probability: 1.0,
            patience: Patience::default(),
            engaged: false,
            release: false,
            retime: false,
            stream,
            acks: AckState::default(),
        }
    }
    /// Data bytes of the flow sent so far.
    pub fn sent(&self) -> u64 {
        (self.armed - self.countdown) as u64
    }
    /// Sets the number of data bytes sent so far.
    pub fn set_sent(&mut self, bytes: u64) {
        self.armed = self.countdown + bytes as i64;
    }
    /// Tag for the flow's frames.
    pub fn tag(&self) -> Tag {
        Tag::unpack(self.tag_kind, self.tag)
    }
    /// The tag, in packed form, of the frame that leaves now; kind 0 where it has none. It draws where the flow's tag has a
    /// probability.
    #[inline]
    pub fn next_tag(&mut self, now: Time) -> (u8, u32) {
        if std::mem::take(&mut self.echo) {
            return Tag::sent_at(now).pack();
        }
        let tagged =
            self.tag_kind != 0 && (self.tag_probability >= 1.0 || self.stream.chance(self.tag_probability));
        if tagged { (self.tag_kind, self.tag) } else { (0, 0) }
    }
    /// Sets the current rate, at most the line's.
    #[inline]
    fn set_rate(&mut self, rate: Rate) {
        let rate = rate.min(self.line_rate);
        if self.rate == Rate::ZERO && rate > Rate::ZERO {
            self.retime = true;
        }
        self.rate = rate;
    }
    /// Bytes to send until `on_bytes`, from now on.
    fn arm(&mut self, countdown: i64) {
        self.armed += countdown - self.countdown;
        self.countdown = countdown;
    }
    /// `on_bytes` is due, or was: none until it is armed again.
    pub fn disarm(&mut self) {
        self.arm(checks::NEVER);
    }
    #[inline]
    fn set_tag(&mut self, tag: Tag, probability: f64) {
        (self.tag_kind, self.tag) = tag.pack();
        self.tag_probability = probability;
    }
}

/// A request of a reaction point.
#[derive(Clone, Debug)]
pub enum LimiterAction {
    /// Start a timer that expires after this time, or start it anew.
    StartTimer(Slot, Time),
    /// Stop a timer.
    StopTimer(Slot),
    /// Send a probe along the flow.
    Probe(Probe),
    /// Add one to the counter of this name.
    Count(Cow<'static, str>),
    /// Show this value by the gauge of this name.
    Gauge(Cow<'static, str>, f64),
    /// Stop the run with this cause.
    Fail(String),
}

/// Verbs lent to a reaction point: its rate limiter.
#[derive(Debug)]
pub struct Limiter<'a> {
    now: Time,
    state: &'a mut LimiterState,
    actions: &'a mut Vec<LimiterAction>,
}

checks::lent!(Limiter, LimiterAction, LimiterState);

impl<'a> Limiter<'a> {
    checks::common_verbs!(LimiterAction);
    checks::timer_verbs!(LimiterAction);
    /// Current rate (`R`, `CR`).
    pub fn rate(&self) -> Rate {
        self.state.rate
    }
    /// Rate of the access link (`C`).
    pub fn line_rate(&self) -> Rate {
        self.state.line_rate
    }
    /// Sets the current rate, from the next frame on. Zero stops the flow. A rate above the line's, or one that is not a number,
    /// stops the run. A scheme that adds or multiplies writes `rate.min(limiter.line_rate())`.
    #[inline]
    pub fn set_rate(&mut self, rate: Rate) {
        // Rounding may carry a rate beyond the line rate by a last digit, which is no mistake.
        if rate <= self.state.line_rate * (1.0 + 1e-9) {
            return self.state.set_rate(rate);
        }
        self.refuse(rate);
    }
    #[cold]
    fn refuse(&mut self, rate: Rate) {
        let line = self.state.line_rate;
        match checks::rate("the rate to set", rate) {
            Ok(_) => {
                self.fail(format!("a rate of {rate} is above the link's {line}: bound it by `line_rate`"))
            }
            Err(why) => self.fail(why),
        }
    }
    /// Computes the time of the frame already scheduled anew, from the present rate.
    pub fn retime(&mut self) {
        self.state.retime = true;
    }
    /// Queue and pace the flow's frames here from now on.
    pub fn engage(&mut self) {
        self.state.engaged = true;
        self.state.release = false;
    }
    /// True while frames are queued and paced here.
    pub fn is_engaged(&self) -> bool {
        self.state.engaged
    }
    /// Give the limiter back as soon as its queue is empty; a later [`Limiter::engage`] takes that back. A reaction point
    /// built on feedback is destroyed then.
    pub fn release_when_empty(&mut self) {
        self.state.release = true;
    }
    /// Wake with `on_bytes` when this many further bytes of the flow (at least 1) have been sent.
    pub fn wake_after(&mut self, bytes: Bytes) {
        self.state.arm(checks::countdown(bytes));
    }
    /// Takes back what [`Limiter::wake_after`] armed.
    pub fn wake_never(&mut self) {
        self.state.disarm();
    }
    /// Put this tag into the flow's frames from now on.
    pub fn tag_frames(&mut self, tag: Tag) {
        self.tag_frames_with(tag, 1.0);
    }
    /// Put this tag into each frame with probability `p`, 0 to 1. Another `p`, and a rate that is not a number, stop the run.
    #[inline]
    pub fn tag_frames_with(&mut self, tag: Tag, p: f64) {
        if !tag.is_nan() && (0.0..=1.0).contains(&p) {
            return self.state.set_tag(tag, p);
        }
        let given = checks::tag(tag).and_then(|_| checks::probability("a tag", p));
        self.check(given);
    }
    /// Asks for an acknowledgement of the next frame of the flow that leaves: [`crate::ReactionPoint::on_ack`]. The frame
    /// carries the time instead of the flow's tag. A call in every `on_bytes` asks for one frame in so many bytes. The destination
    /// must answer: [`crate::Acknowledger`] behind [`crate::ReflectGate::Tagged`].
    pub fn echo_next(&mut self) {
        self.state.echo = true;
    }
    /// Wake with `on_ack` by these acknowledgements of the network from now on; at first by none. It has no effect where the flow has
    /// no queue pair, or the limiter serves more than one flow ([`crate::Scope::Flow`] serves one).
    pub fn wake_on_acks(&mut self, gate: AckGate) {
        self.state.acks.gate = gate;
    }
    /// Most bytes that may be in flight; [`Bytes::MAX`] where there is no window.
    pub fn window(&self) -> Bytes {
        Bytes::new(self.state.acks.window)
    }
    /// Sets the window: no frame begins while as many bytes or more are in flight. A window of 0 stops the run, as no frame would
    /// ever go.
    pub fn set_window(&mut self, window: Bytes) {
        let given =
            if window > Bytes::ZERO { Ok(()) } else { Err("a window of 0 B holds the flow for good".into()) };
        self.check(given);
        self.state.acks.window = window.get();
    }
    /// Bytes of the flow on their way: sent and not acknowledged, less those reported as come, or lost.
    pub fn in_flight(&self) -> Bytes {
        Bytes::new(self.state.acks.in_flight())
    }
    /// Bytes of the flow sent and not acknowledged, reported and lost ones too: FlightSize of RFC 5681. What TCP's limited transmit
    /// sent is not counted.
    pub fn outstanding(&self) -> Bytes {
        Bytes::new(self.state.acks.outstanding)
    }
    /// Bytes of the flow that came out of order, as the destination reports beyond [`Limiter::acked`].
    pub fn reported(&self) -> Bytes {
        Bytes::new(self.state.acks.reported)
    }
    /// Number of the flow's next byte to be sent: what is sent again counts once.
    pub fn next_seq(&self) -> Bytes {
        Bytes::new(self.state.acks.next_seq)
    }
    /// All bytes of the flow below this are acknowledged.
    pub fn acked(&self) -> Bytes {
        Bytes::new(self.state.acks.acked)
    }
    /// Send a 64 B probe; `sent_at` and `sent_bytes` are filled in. A congestion point that there is not stops the run, as does a
    /// limiter of a whole host, which has no path.
    pub fn send_probe(&mut self, probe: Probe) {
        self.ask(LimiterAction::Probe(probe));
    }
    /// Data bytes of the flow sent so far.
    pub fn sent(&self) -> u64 {
        self.state.sent()
    }
}
