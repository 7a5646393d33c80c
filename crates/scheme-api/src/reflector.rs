//! The handle that a reflector is lent. As with [`crate::point`], a verb that cannot be carried out stops the run.

use crate::checks::{self, Patience};
use crate::lent::Lent;
use crate::random::Stream;
use crate::{Feedback, Plan, Scope, Slot, Tag};
use cnsim_units::Time;
use std::borrow::Cow;

/// Which received data frames wake a reflector (probes always do).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum ReflectGate {
    /// No data frame wakes the reflector.
    #[default]
    Never,
    /// Marked frames wake it, as in DCQCN.
    Marked,
    /// Unmarked frames, each with this probability (QCN-3pt).
    Unmarked(f64),
    /// Frames with a tag.
    Tagged,
    /// None. The host itself returns each rate-discovery tag as it is, in [`Feedback::ReturnedRate`], and adds one to the
    /// scheme's counter of this name: copying a tag needs no algorithm (FECN).
    ReturnTags(&'static str),
    /// Every frame wakes it.
    Always,
}

impl ReflectGate {
    /// The law of the gate: does it select this data frame, with a tag of this kind ([`Tag::pack`])? What it draws comes from `draws`.
    #[inline]
    pub fn selects(self, marked: bool, tag_kind: u8, draws: &mut Stream) -> bool {
        match self {
            Self::Never => false,
            Self::Marked => marked,
            Self::Unmarked(p) => !marked && draws.chance(p),
            Self::Tagged => tag_kind != 0,
            Self::ReturnTags(_) => tag_kind == Tag::RATE_DISCOVERY,
            Self::Always => true,
        }
    }
    /// Must a received data frame call the reflector, or with [`ReflectGate::ReturnTags`] have its tag returned by the host? A
    /// reflector may ignore frames for a time (`listens` is false); tags are returned all the same.
    #[inline(always)]
    pub fn wakes(
        self,
        marked: bool,
        tag_kind: u8,
        listens: impl FnOnce() -> bool,
        draws: &mut Stream,
    ) -> bool {
        self.selects(marked, tag_kind, draws) && (matches!(self, Self::ReturnTags(_)) || listens())
    }
    /// Lets the host answer, in place of the reflector, a frame that wakes it: true if the host returns tags.
    #[inline]
    pub fn return_tag(self, tag: Tag, actions: &mut Vec<ReflectorAction>) -> bool {
        let Self::ReturnTags(counter) = self else { return false };
        if let Tag::RateDiscovery(rate) = tag {
            actions.push(ReflectorAction::Count(counter.into()));
            actions.push(ReflectorAction::Reply(Feedback::ReturnedRate { rate }));
        }
        true
    }
    /// The gate, if its probability is one.
    ///
    /// # Errors
    /// The mistake in it.
    pub fn check(self) -> Result<Self, String> {
        match self {
            Self::Unmarked(p) => checks::probability("hearing a frame", p).map(|_| self),
            _ => Ok(self),
        }
    }
}

/// A reflector's data in the network.
#[derive(Clone, Debug)]
pub struct ReflectorState {
    /// Frames that arrive before this time do not wake it.
    pub deaf_until: Time,
    /// Which data frames wake it: the plan's gate, until [`ReflectorControl::hear`] sets another.
    pub gate: ReflectGate,
    /// Why the gate cannot be changed; none where it can.
    fixed: Option<&'static str>,
    /// Data bytes received for the flow (or station) since it was built, where the plan asks for them.
    pub received: u64,
    /// Whether `received` is maintained.
    pub counts: bool,
    /// How often its timers expire.
    patience: Patience,
    /// Whether it serves a flow or a whole host.
    scope: Scope,
    /// Random stream of the site.
    pub stream: Stream,
}

impl ReflectorState {
    /// The state of a reflector that the plan's gate wakes.
    pub fn new(stream: Stream, plan: &Plan) -> Self {
        let fixed = match plan.reflect {
            ReflectGate::Never => Some("by its plan no data frame wakes a reflector"),
            ReflectGate::ReturnTags(_) => Some("by its plan the host returns tags itself"),
            _ => None,
        };
        let (gate, counts) = (plan.reflect, plan.received);
        let (patience, scope) = (Patience::default(), plan.reflector_scope);
        Self { deaf_until: Time::ZERO, gate, fixed, received: 0, counts, patience, scope, stream }
    }
    /// A timer of the reflector expires now: [`Patience::expires`].
    ///
    /// # Errors
    /// Why it is not to be woken any more.
    pub fn expires(&mut self, slot: Slot, now: Time) -> Result<(), String> {
        self.patience.expires(slot, now)
    }
    /// Refuses replies in `on_timer` of a reflector that serves a whole host: no flow is known to answer.
    pub fn asked_by_timer(&self, actions: &mut [ReflectorAction]) {
        let replies = |a: &&mut ReflectorAction| matches!(a, ReflectorAction::Reply(_));
        if self.scope == Scope::Host {
            actions.iter_mut().filter(replies).for_each(|a| *a = ReflectorAction::Fail(NO_FRAME.into()));
        }
    }
    /// Whether a data frame that arrives now wakes the reflector, if its gate selects the frame.
    pub fn listens(&self, now: Time) -> bool {
        self.deaf_until <= now
    }
}

/// Why the reflector of a whole host cannot answer where no frame is in hand.
const NO_FRAME: &str =
    "it replies, but no frame is in hand: in `on_timer` a reflector of a whole host has nobody to answer";

/// A request of a reflector.
#[derive(Clone, Debug)]
pub enum ReflectorAction {
    /// Send a message to the source of the frame in hand, or of the reflector's flow.
    Reply(Feedback),
    /// Start a timer that expires after this time, or start it anew.
    StartTimer(Slot, Time),
    /// Stop a timer.
    StopTimer(Slot),
    /// Add one to the counter of this name.
    Count(Cow<'static, str>),
    /// Show this value by the gauge of this name.
    Gauge(Cow<'static, str>, f64),
    /// Stop the run with this cause.
    Fail(String),
}

/// Verbs lent to a reflector.
#[derive(Debug)]
pub struct ReflectorControl<'a> {
    now: Time,
    state: &'a mut ReflectorState,
    actions: &'a mut Vec<ReflectorAction>,
}

checks::lent!(ReflectorControl, ReflectorAction, ReflectorState);

impl<'a> ReflectorControl<'a> {
    checks::common_verbs!(ReflectorAction);
    checks::timer_verbs!(ReflectorAction);
    /// Send a message to the source of the frame or probe in hand, at control priority; in `on_timer` to the source of the reflector's
    /// flow. Values that the format cannot carry stop the run, and so does a reply in `on_timer` of a reflector that serves a host.
    pub fn reply(&mut self, feedback: Feedback) {
        if let Some(feedback) = self.check(checks::message(feedback)) {
            self.ask(ReflectorAction::Reply(feedback));
        }
    }
    /// Stay deaf to data frames for this long.
    pub fn ignore_for(&mut self, time: Time) {
        self.state.deaf_until = self.now + time;
    }
    /// From the next data frame on, those that this gate selects wake this reflector. The run stops where the plan's gate
    /// is [`ReflectGate::Never`] or [`ReflectGate::ReturnTags`], or this gate is `ReturnTags`.
    pub fn hear(&mut self, gate: ReflectGate) {
        let refused = match gate {
            ReflectGate::ReturnTags(_) => Some("tags are returned by plan only"),
            _ => self.state.fixed,
        };
        match refused {
            Some(why) => self.fail(format!("it asks to hear other frames, but {why}")),
            None => self.state.gate = self.check(gate.check()).unwrap_or(self.state.gate),
        }
    }
    /// Data bytes received since it was built, the frame in hand included. The plan must ask for that ([`crate::Plan::received`]).
    pub fn received(&mut self) -> u64 {
        if !self.state.counts {
            self.fail("it asks for the bytes received, but `Plan::received` is off");
        }
        self.state.received
    }
}
