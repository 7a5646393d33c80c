//! How much can still arrive at a switch after it has asked its neighbours to stop, at worst.

use crate::spec::{Layout, Limits, PauseSpec, PauseTransport, RunSpec, SwitchSpec};
use cnsim_scheme_api::{Bytes, NodeId, Rate, Time};
use std::collections::BTreeMap;

/// Bytes that can still arrive over a link after XOFF is triggered: the XOFF waits for a data frame in transmission at
/// `service`, the rate at which the port that sends it serves data; it travels and is processed; the sender finishes its
/// frame; what is on the link and in processing arrives, and so does the frame that triggered it. Each of these can be at its worst at
/// once. The 64 B above their sum are spare: they are less than any frame, and rounding takes of them. PAUSE frames longer than 64 B, and a
/// response, come on top ([`crate::PauseFrames::headroom`]). XON is to be two PAUSE frames below XOFF at least.
pub fn headroom(rate: Rate, service: Rate, delay: Time, processing: Time, frame: Bytes) -> Bytes {
    let time = service.transmission_time(frame)
        + rate.transmission_time(Bytes::SMALLEST_FRAME)
        + (delay + processing) * 2
        + rate.transmission_time(frame);
    Bytes::new((rate.bps() * time.as_secs_f64() / 8.0).round() as u64) + frame + Bytes::SMALLEST_FRAME
}

/// A switch whose memory cannot hold every frame in spite of PAUSE: frames may be lost there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Index of the switch among `RunSpec::switches`.
    pub switch: usize,
    /// Port at which most can arrive after XOFF, where each input has memory of its own; none where outputs share it. Of a shared buffer
    /// the port that lacks most headroom, which is then `room`; none if it is the pool of headroom that lacks.
    pub port: Option<u16>,
    /// Bytes that can be in the memory at worst.
    pub need: Bytes,
    /// Bytes that fit.
    pub room: Bytes,
}

/// The switches whose memory is too small for PAUSE to hold every frame. A port that is served slowly sends its XOFF behind
/// a slow data frame, and where outputs share the memory, all of them may fill it at once. Empty where there is no PAUSE.
pub fn shortages(spec: &RunSpec) -> Vec<Shortage> {
    if spec.switches.iter().all(|s| s.buffer.pause.is_none()) {
        return Vec::new();
    }
    let frames = spec.hosts.iter().flat_map(|h| &h.sources).map(|s| s.frame);
    let frame = frames.max().unwrap_or(Bytes::new(1500));
    let mut slowest: BTreeMap<(NodeId, u16), Rate> = BTreeMap::new();
    for c in spec.events.changes.iter().filter(|c| c.rate > Rate::ZERO) {
        let known = slowest.entry((c.node, c.port)).or_insert(c.rate);
        *known = known.min(c.rate);
    }
    let index = |node: NodeId| (node.0 as usize).checked_sub(spec.hosts.len());
    let mut needs = vec![Vec::new(); spec.switches.len()];
    for (near, far, l) in spec.links.iter().flat_map(|l| [(l.a, l.b, l), (l.b, l.a, l)]) {
        if let Some(own) = index(near.0) {
            let service = slowest.get(&near).map_or(l.rate, |r| l.rate.min(*r));
            let longer = spec.processing(near.0).max(spec.processing(far.0));
            let need =
                headroom(l.rate, service, l.delay, longer, frame) + spec.laws.pause_frames.headroom(l.rate);
            let turns = if restless(&spec.switches[own], spec.laws.pause_frames.length) { 2 } else { 1 };
            needs[own].push((near.1, need * turns));
        }
    }
    (0..needs.len()).filter_map(|switch| shortage(spec, switch, &needs[switch])).collect()
}

/// Is XON so near XOFF that an input of short frames can change between them faster than PAUSE frames of this length are sent? Then
/// the last XOFF waits for all before it, and up to twice as much comes: each byte until the first of them is obeyed may bring
/// another one of PAUSE.
fn restless(switch: &SwitchSpec, length: Bytes) -> bool {
    let frames = switch.buffer.pause.filter(|pause| pause.transport == PauseTransport::Frame);
    let apart = |pause: PauseSpec| match &switch.shared {
        Some(shared) => shared.resume,
        None => pause.high.saturating_sub(pause.low),
    };
    frames.is_some_and(|pause| apart(pause) < length * 2)
}

/// Does a switch fall short of what can arrive after XOFF at its linked ports?
fn shortage(spec: &RunSpec, switch: usize, needs: &[(u16, Bytes)]) -> Option<Shortage> {
    let own = &spec.switches[switch];
    let switch_ports = own.ports;
    let pause = own.buffer.pause?;
    if let Some(shared) = &own.shared {
        // Each class with PAUSE has headroom of its own at each port, and its XOFF may wait for those of the others.
        let classes = spec.data_classes().unwrap_or_default();
        let own: Vec<usize> = (0..classes.len()).filter(|class| classes[*class].pause).collect();
        let needs: Vec<(u16, Bytes)> = needs
            .iter()
            .map(|need| (need.0, need.1 + spec.laws.pause_frames.length * (own.len().max(1) as u64 - 1)))
            .collect();
        let input = |class: usize, port: u16| {
            shared.inputs.get(class * usize::from(switch_ports) + usize::from(port))
        };
        let room = |port: u16| {
            let of = |class: &usize| input(*class, port).map_or(Bytes::ZERO, |input| input.headroom);
            own.iter().map(of).min().unwrap_or_default()
        };
        let lacks = |n: &&(u16, Bytes)| n.1.saturating_sub(room(n.0));
        let lacks_most = needs.iter().rev().filter(|n| lacks(n) > Bytes::ZERO).max_by_key(lacks);
        let of_port =
            |&(port, need): &(u16, Bytes)| Shortage { switch, port: Some(port), need, room: room(port) };
        let all = needs.iter().fold(Bytes::ZERO, |sum, n| sum + n.1) * own.len() as u64;
        let pool = shared.headroom.filter(|pool| *pool < all);
        return lacks_most.map(of_port).or(pool.map(|room| Shortage { switch, port: None, need: all, room }));
    }
    let (layout, limits) = (Layout::new(own), Limits::new(own));
    let (port, need) = if layout.step.1 > 0 {
        let (port, most) = needs.iter().max_by_key(|n| n.1)?;
        (Some(*port), pause.high + *most)
    } else {
        let cells = layout.cells.min(needs.len()) as u64;
        (None, needs.iter().fold(pause.high * cells, |sum, n| sum + n.1))
    };
    let room = Bytes::new(limits.cell.min(limits.pool));
    (need > room).then_some(Shortage { switch, port, need, room })
}
