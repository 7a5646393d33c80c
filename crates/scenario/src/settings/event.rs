//! `[[event]]` tables: a switch port serves data at another rate from a moment on.

use super::losses;
use crate::keys::SLOWEST_SERVICE;
use crate::reader::Reader;
use crate::topology::Wiring;
use cnsim_fabric::RateChange;
use cnsim_units::{Rate, Time};

/// Refuses a service so slow that a frame would take longer than a run; none at all stops a port.
pub(super) fn slow(r: &mut Reader<'_>, key: &str, rate: Rate) {
    if rate > Rate::ZERO && rate < SLOWEST_SERVICE {
        let hint = format!("use 0 Gb/s to stop the port, or at least {SLOWEST_SERVICE}");
        r.wrong(key, format!("{rate} is too slow"), hint);
    }
}

/// `[[event]]` tables: a switch port serves data at another rate from a moment on.
pub(super) fn events(r: &mut Reader<'_>, wiring: &Wiring, duration: Time) -> Vec<RateChange> {
    let mut events = Vec::new();
    for prefix in r.tables("event") {
        if losses::is_loss(r, &prefix) {
            continue;
        }
        let key = |leaf: &str| format!("{prefix}.{leaf}");
        let (at, rate) = (r.time(&key("at")), r.rate(&key("rate")));
        if at >= duration {
            let reason = format!("the event at {at} is outside the run of {duration}");
            r.clash(&[&key("at"), "run.duration"], reason, "let it happen earlier, or lengthen run.duration");
        }
        if !r.is_set(&key("port")) {
            r.wrong(&prefix, "names no port", "write for example port = \"S>H1\"");
            continue;
        }
        let name = r.word(&key("port"));
        if let Some((node, port)) = r.port(&key("port"), 0, &name, wiring) {
            if let Some(l) = wiring.link((node, port)).filter(|l| l.rate < rate) {
                let reason = format!("{rate} is more than the link's {}", l.rate);
                let at = if r.is_set(&key("rate")) { key("rate") } else { prefix.clone() };
                r.wrong(&at, reason, "use at most the link's rate");
            }
            slow(r, &key("rate"), rate);
            events.push(RateChange { at, node, port, rate });
        }
    }
    events
}
