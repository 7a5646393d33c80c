//! The arguments that a verb refuses, once for the network and the rigs, and the verbs that all three handles have.

use crate::{Bytes, Feedback, Ramp, Rate, SLOTS, Slot, Tag, Time};

/// A timer that there is.
pub(crate) fn slot(slot: Slot) -> Result<Slot, String> {
    let known = usize::from(slot.0) < SLOTS;
    known.then_some(slot).ok_or_else(|| format!("there is no timer {}: slots are 0 to {}", slot.0, SLOTS - 1))
}

/// A probability, of what this is.
pub(crate) fn probability(what: &str, p: f64) -> Result<f64, String> {
    let fine = (0.0..=1.0).contains(&p);
    fine.then_some(p).ok_or_else(|| format!("{p} is no probability of {what}: give 0 to 1"))
}

/// A rate that is a number.
pub(crate) fn rate(what: &str, rate: Rate) -> Result<Rate, String> {
    let fine = !rate.is_nan();
    fine.then_some(rate)
        .ok_or_else(|| format!("{what} is not a number: look for 0/0, or for NaN in the factors"))
}

/// Bytes to count down: at least 1.
pub(crate) fn countdown(bytes: Bytes) -> i64 {
    bytes.get().clamp(1, NEVER as u64) as i64
}

/// Countdown value that no run reaches.
pub(crate) const NEVER: i64 = i64::MAX / 2;

/// A ramp that rises, between probabilities.
pub(crate) fn ramp(ramp: Ramp) -> Result<Ramp, String> {
    probability("a mark (`Ramp::p_max`)", ramp.p_max)?;
    probability("a mark (`Ramp::p_beyond`)", ramp.p_beyond)?;
    let falls = || format!("the ramp falls: `low` is {} and `high` is {}", ramp.low, ramp.high);
    (ramp.low <= ramp.high).then_some(ramp).ok_or_else(falls)
}

/// A tag whose values its format can carry.
pub(crate) fn tag(tag: Tag) -> Result<Tag, String> {
    let why = || "the rate of a tag is not a number: look for 0/0, or for NaN in the factors".to_string();
    (!tag.is_nan()).then_some(tag).ok_or_else(why)
}

/// A message whose values its format can carry.
pub(crate) fn message(message: Feedback) -> Result<Feedback, String> {
    let fine = match message {
        Feedback::Ecm { q_off, q_delta, fb, .. } => [q_off, q_delta, fb].iter().all(|v| v.is_finite()),
        Feedback::Cnm { qntz_fb, .. } => qntz_fb <= 63,
        Feedback::AdvertisedRate { rate, .. }
        | Feedback::ReturnedRate { rate }
        | Feedback::ProbeReply { rx_rate: rate, .. } => !rate.is_nan(),
        _ => true,
    };
    fine.then_some(message).ok_or_else(|| format!("it sends {message:?}, which its format cannot carry"))
}

/// How often timers of one object expire: without an end they would hold up simulated time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// Begin of the span that is looked at.
    since: Time,
    /// Expiries since then.
    expiries: u32,
}

impl Patience {
    /// The span: shorter than any act of a network.
    const SPAN: Time = Time::from_us(1);
    /// Expiries within [`Self::SPAN`] after which a timer is given up: one in 100 ps.
    const MOST: u32 = 10_000;

    /// A timer of the object expires now.
    ///
    /// # Errors
    /// Why it is not to be woken any more.
    #[inline]
    pub fn expires(&mut self, slot: Slot, now: Time) -> Result<(), String> {
        if now > self.since + Self::SPAN {
            *self = Self { since: now, expiries: 0 };
        }
        self.expiries += 1;
        if self.expiries <= Self::MOST {
            return Ok(());
        }
        Err(format!(
            "time does not pass: its timers expired {} times from {} to {now}, timer {} the last; give it a longer time",
            Self::MOST,
            self.since,
            slot.0
        ))
    }
}

/// Most requests of one call: timers, messages and all else together. A call that goes on asking takes no more memory than this.
pub(crate) const MOST: usize = 100_000;

/// The verbs that all handles have.
macro_rules! common_verbs {
    ($action:ident) => {
        /// The present simulated time.
        pub fn now(&self) -> Time {
            self.now
        }
        /// Uniform draw in [0, 1) from this site's own stream.
        pub fn uniform(&mut self) -> f64 {
            self.state.stream.uniform()
        }
        /// Add one to a counter, by name: one of [`crate::Scheme::counters`]. Another name stops the run.
        pub fn count(&mut self, counter: impl Into<Cow<'static, str>>) {
            self.ask($action::Count(counter.into()));
        }
        /// Set a gauge, by its name: one of [`crate::Scheme::gauges`]. It is a series of the results where this queue
        /// (`record.ports`) or this flow's limiter (`record.limiters`) is recorded. Another name, and a value that is not finite, stop
        /// the run.
        pub fn gauge(&mut self, gauge: impl Into<Cow<'static, str>>, value: f64) {
            let gauge = gauge.into();
            let why = || format!("`{gauge}` shows {value}: give a finite number");
            if self.check(value.is_finite().then_some(()).ok_or_else(why)).is_some() {
                self.ask($action::Gauge(gauge, value));
            }
        }
        /// Asks the network for something.
        #[inline]
        fn ask(&mut self, action: $action) {
            if self.actions.len() < checks::MOST {
                return self.actions.push(action);
            }
            self.actions.clear();
            self.fail(format!(
                "it asks for more than {} things in one call: look for a loop without an end",
                checks::MOST
            ));
        }
        /// The argument of a verb, if it is right; else the run stops.
        #[inline]
        fn check<T>(&mut self, given: Result<T, String>) -> Option<T> {
            given.map_err(|why| self.fail(why)).ok()
        }
    };
}

/// All handles from the network's side.
macro_rules! lent {
    ($handle:ident, $action:ident, $state:ty) => {
        impl<'a> Lent<'a> for $handle<'a> {
            type State = $state;
            type Action = $action;
            fn new(now: Time, state: &'a mut $state, actions: &'a mut Vec<$action>) -> Self {
                Self { now, state, actions }
            }
            fn exchange(&mut self, state: &mut $state, actions: &mut Vec<$action>) {
                std::mem::swap(self.state, state);
                std::mem::swap(self.actions, actions);
            }
            fn fail(&mut self, cause: impl Into<String>) {
                // The first of several ends the run; a call that goes on makes no list of them.
                if !matches!(self.actions.last(), Some($action::Fail(_))) {
                    self.actions.push($action::Fail(cause.into()));
                }
            }
        }
    };
}

/// The verbs of the handles that have timers.
macro_rules! timer_verbs {
    ($action:ident) => {
        /// Start or restart a timer. A slot that is not 0 to 3 stops the run, as do timers whose expiries hold up time.
        pub fn start_timer(&mut self, slot: Slot, after: Time) {
            if let Some(slot) = self.check(checks::slot(slot)) {
                self.ask($action::StartTimer(slot, after));
            }
        }
        /// Stop a timer; nothing happens where it does not run. A slot that is not 0 to 3 stops the run.
        pub fn stop_timer(&mut self, slot: Slot) {
            if let Some(slot) = self.check(checks::slot(slot)) {
                self.ask($action::StopTimer(slot));
            }
        }
    };
}
pub(crate) use {common_verbs, lent, timer_verbs};
