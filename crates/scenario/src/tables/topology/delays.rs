//! Delays of links: those that a scenario adds, and the shortest of all.

use super::{ADDED_DELAY, LOOP_DELAY};
use crate::language::reader::Reader;
use crate::tables::workload::SourcePlan;
use crate::wiring::Wiring;
use cnsim_units::Time;

/// Delays of the access links of sending hosts: `topology.added_delay`, or the delay that gives the control loop the length of
/// `topology.loop_delay`: propagation both ways, processing of frame and message in the switch, and processing in the host.
pub(crate) fn delays(r: &mut Reader<'_>, wiring: &mut Wiring, plans: &[Vec<SourcePlan>], processing: Time) {
    let added = r.time(ADDED_DELAY);
    let whole = r.time_or(LOOP_DELAY);
    if let Some(whole) = whole
        && whole < processing
    {
        let reason = format!("{whole} is less than the processing of both ends, {processing}");
        return r.wrong(LOOP_DELAY, reason, "lower switch.processing and host.processing");
    }
    for l in &mut wiring.links {
        if plans.get(l.a.0.0 as usize).is_some_and(|p| !p.is_empty()) {
            l.delay = match whole {
                Some(whole) => Time::from_ps((whole - processing).as_ps() / 2),
                None => l.delay,
            } + added;
        }
    }
}

/// The shortest time from a frame's last bit at one node until the next has processed it, as the engines reckon it.
pub(crate) fn lead(wiring: &Wiring, host: Time, switch: Time) -> Time {
    let hosts = wiring.hosts.len() as u32;
    let ends = wiring.links.iter().flat_map(|l| [(l.delay, l.a), (l.delay, l.b)]);
    ends.map(|(delay, (node, _))| delay + if node.0 < hosts { host } else { switch })
        .min()
        .unwrap_or_default()
}
