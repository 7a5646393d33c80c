//! Conservative windows: links have delay, so within a window no node can influence another; they run in any order.

use super::Part;
use crate::net::Net;
use crate::{Options, RunError};
use cnsim_scheme_api::Time;

pub(super) fn run(net: &Net, parts: &mut [Part], options: &Options<'_>) -> Result<(), RunError> {
    let part = &mut parts[0];
    let mut end = 0;
    let mut windows = 0u64;
    while end < net.duration {
        end = (end + net.window).min(net.duration);
        step(net, part, end);
        windows += 1;
        if windows.is_multiple_of(4096) {
            if part.failure().is_some() {
                return Ok(());
            }
            if let Some(progress) = options.progress
                && !progress(Time::from_ps(end), part.hops())
            {
                return Err(RunError::Stopped);
            }
        }
    }
    Ok(())
}

/// All nodes of a part, up to `end`.
pub(super) fn step(net: &Net, part: &mut Part, end: u64) {
    for h in &mut part.hosts {
        h.sweep(end, net, &mut part.wires);
    }
    for s in &mut part.switches {
        s.sweep(end, net, &mut part.wires, &mut part.scratch);
    }
}
