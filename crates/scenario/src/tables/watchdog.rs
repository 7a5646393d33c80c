//! `[watchdog]`: what the switches do about storms of PAUSE.

use super::{Section, Settings, run};
use crate::language::reader::Reader;
use crate::language::row::LONGEST;
use crate::language::row::declare::*;
use cnsim_fabric::{PauseSpec, RunSpec, WatchdogAction, WatchdogRule, WatchdogSpec};
use cnsim_units::Time;

words! {
    /// `watchdog.rule`.
    WatchdogRule { Continuous = "continuous", Polled80 = "polled-80", Polled99 = "polled-99", }
}

words! { Option<WatchdogAction> or "off" { Alert = "alert", Drop = "drop", Forward = "forward", } }

const WATCHED: Kind = Kind::Time(Time::from_ns(1), LONGEST);

rows! {
    ACTION = key("watchdog.action", Kind::Choice(<Option<WatchdogAction>>::WORDS), "off",
        "what happens at a switch output in a storm of PAUSE: nothing (off), it is counted (alert), what waits and comes there is dropped (drop), or PAUSE is ignored (forward)")
        .with_pause().seen();
    RULE = key("watchdog.rule", Kind::Choice(WatchdogRule::WORDS), "continuous",
        "storm: XOFF stands without a break for `detect`, or for 80 or 99 % of a polling interval of `detect`; and a frame waits at the output")
        .unless(ACTION, "off");
    DETECT = key("watchdog.detect", WATCHED, "1 ms",
        "time in XOFF until a storm is seen, or length of a polling interval; some 400 ms in the field").unless(ACTION, "off");
    RESTORE = key("watchdog.restore", Kind::Or("auto", &WATCHED), "auto",
        "a storm is over when its output was without XOFF for so long; auto: twice `detect`").unless(ACTION, "off");
}

impl Section for Option<WatchdogSpec> {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        watchdog(r, settings.switch.buffer.pause, settings.duration)
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.laws.watchdog = *self;
    }
}

/// The watchdogs of a case; none where no switch has PAUSE.
fn watchdog(r: &mut Reader<'_>, pause: Option<PauseSpec>, duration: Time) -> Option<WatchdogSpec> {
    pause?;
    let action = r.choice::<Option<WatchdogAction>>(ACTION)?;
    let (rule, detect) = (r.choice(RULE), r.time(DETECT));
    let restore = r.time_or(RESTORE).unwrap_or(detect * 2);
    if restore < detect {
        let reason = format!("an output is restored after {restore}, and a storm is seen after {detect}");
        let remedy = "make watchdog.restore at least watchdog.detect, or \"auto\"";
        r.clash(&[RESTORE, DETECT], reason, remedy);
    }
    if detect >= duration {
        let reason = format!("no storm is seen in a run of {duration} if that takes {detect}");
        r.clash(&[DETECT, run::DURATION], reason, "shorten watchdog.detect, or lengthen run.duration");
    }
    Some(WatchdogSpec { rule, detect, restore, action })
}
