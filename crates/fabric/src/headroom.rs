//! How much can still arrive at a switch after it has asked its neighbours to stop, at worst.

use crate::spec::{Organisation, RunSpec};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};

/// Bytes that can still arrive over a link after XOFF is triggered: the XOFF waits for a data frame in transmission at
/// `service`, the rate at which the port that sends it serves data; it travels and is processed; the sender finishes its
/// frame; what is on the link and in processing arrives, and so does the frame that triggered it.
pub fn headroom(rate: Rate, service: Rate, delay: Time, processing: Time, frame: Bytes) -> Bytes {
    let ahead = service.transmission_time(frame);
    let time = ahead
        + rate.transmission_time(Bytes::new(64))
        + (delay + processing) * 2
        + rate.transmission_time(frame);
    Bytes::new((rate.bps() * time.as_secs_f64() / 8.0).round() as u64 + frame.get() + 64)
}

/// Is the memory of a switch too small for PAUSE to hold every frame? A port that is served slowly sends its XOFF behind a
/// slow data frame, and where outputs share the memory, all of them may fill it at once.
pub(crate) fn short(spec: &RunSpec, switch: usize) -> bool {
    let node = NodeId((spec.hosts.len() + switch) as u32);
    let own = &spec.switches[switch];
    let Some(pause) = own.buffer.pause else { return true };
    let frames = spec.hosts.iter().flat_map(|h| &h.sources).map(|s| s.frame);
    let frame = frames.max().unwrap_or(Bytes::new(1500));
    let needs: Vec<Bytes> = spec
        .links
        .iter()
        .flat_map(|l| [(l.a, l.b, l), (l.b, l.a, l)])
        .filter(|(near, ..)| near.0 == node)
        .map(|((_, port), far, l)| {
            let slow =
                spec.changes.iter().filter(|c| c.node == node && c.port == port && c.rate > Rate::ZERO);
            let service = slow.fold(l.rate, |r, c| r.min(c.rate));
            let there = match (far.0.0 as usize).checked_sub(spec.hosts.len()) {
                Some(s) => spec.switches[s].processing,
                None => spec.hosts[far.0.0 as usize].processing,
            };
            headroom(l.rate, service, l.delay, there.max(own.processing), frame)
        })
        .collect();
    match own.buffer.organisation {
        Organisation::SharedOutput => {
            let outputs = if pause.pool { 1 } else { needs.len() as u64 };
            let all = needs.iter().fold(0, |sum, n| sum + n.get());
            pause.high.get() * outputs + all > own.buffer.share.get() * u64::from(own.ports)
        }
        Organisation::Crosspoint | Organisation::Input => {
            needs.iter().any(|n| pause.high + *n > own.buffer.share)
        }
    }
}
