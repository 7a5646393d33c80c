//! Watchdogs of switches against storms of PAUSE.

use super::RunSpec;
use cnsim_scheme_api::Time;

/// A watchdog at each output of each switch, for each class of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogSpec {
    /// When a storm begins.
    pub rule: WatchdogRule,
    /// How long XOFF stands until then; with a polled rule the length of an interval. Above 0.
    pub detect: Time,
    /// A storm ends when its output was without XOFF for this time, without a break. At least `detect`.
    pub restore: Time,
    /// Action in a storm.
    pub action: WatchdogAction,
}

/// When a storm begins, if a frame waits at the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogRule {
    /// XOFF has stood for [`WatchdogSpec::detect`] without a break.
    Continuous,
    /// At the end of an interval of [`WatchdogSpec::detect`], of which XOFF stood for 80 % or more.
    Polled80,
    /// As [`Self::Polled80`], with 99 %.
    Polled99,
}

impl WatchdogRule {
    /// The least part of a polling interval in XOFF, in percent; none without such intervals.
    pub(crate) fn share(self) -> Option<u128> {
        match self {
            WatchdogRule::Continuous => None,
            WatchdogRule::Polled80 => Some(80),
            WatchdogRule::Polled99 => Some(99),
        }
    }
}

/// Actions at an output in a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// The storm is counted.
    Alert,
    /// Frames that wait at the output are dropped, and those that come for it. One in transmission leaves.
    Drop,
    /// PAUSE is ignored. Time in XOFF counts on, and what overflows at the far end is lost there.
    Forward,
}

impl WatchdogSpec {
    /// Checks that the watchdog can be in this run; an error says why not.
    pub(crate) fn check(self, spec: &RunSpec) -> Result<(), String> {
        let Self { detect, restore, .. } = self;
        let bad = |why: String| Err(format!("a watchdog: {why}"));
        if detect == Time::ZERO {
            bad("it detects at once".into())
        } else if restore < detect {
            bad(format!("it restores after {restore}, and detects after {detect}"))
        } else if spec.switches.iter().all(|s| s.buffer.pause.is_none()) {
            bad("no switch has PAUSE".into())
        } else {
            Ok(())
        }
    }
}
