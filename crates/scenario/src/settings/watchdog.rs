//! `[watchdog]`: what the switches do about storms of PAUSE.

use crate::kinds::WatchdogAction as Written;
use crate::reader::Reader;
use cnsim_fabric::{PauseSpec, WatchdogAction, WatchdogSpec};
use cnsim_units::Time;

/// The watchdogs of a case; none where no switch has PAUSE.
pub(super) fn watchdog(r: &mut Reader<'_>, pause: Option<PauseSpec>, duration: Time) -> Option<WatchdogSpec> {
    pause?;
    let action = match r.choice("watchdog.action") {
        Written::Off => return None,
        Written::Alert => WatchdogAction::Alert,
        Written::Drop => WatchdogAction::Drop,
        Written::Forward => WatchdogAction::Forward,
    };
    let (rule, detect) = (r.choice("watchdog.rule"), r.time("watchdog.detect"));
    let restore = r.time_or("watchdog.restore").unwrap_or(detect * 2);
    if restore < detect {
        let reason = format!("an output is restored after {restore}, and a storm is seen after {detect}");
        let remedy = "make watchdog.restore at least watchdog.detect, or \"auto\"";
        r.clash(&["watchdog.restore", "watchdog.detect"], reason, remedy);
    }
    if detect >= duration {
        let reason = format!("no storm is seen in a run of {duration} if that takes {detect}");
        r.clash(
            &["watchdog.detect", "run.duration"],
            reason,
            "shorten watchdog.detect, or lengthen run.duration",
        );
    }
    Some(WatchdogSpec { rule, detect, restore, action })
}
