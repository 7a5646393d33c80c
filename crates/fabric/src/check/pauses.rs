//! The XOFFs of a run: what switches decided, joined with what transmitters heard.
//!
//! A link keeps its order, and a switch says XOFF and XON of a class in turns. So the n-th XOFF that a switch decided for a link and
//! class is the n-th that the transmitter at its far end heard.

use super::broken;
use crate::net::Net;
use crate::outcome::{Cause, Held, Pauses, Xoff};
use cnsim_scheme_api::{NodeId, Time};

/// What holds an output back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBy {
    /// Nothing but its rate.
    Rate,
    /// It serves nothing.
    Closed,
    /// The XOFF that it heard after so many others of its class.
    Xoff(u32),
}

/// A decided XOFF.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    /// When, ps.
    pub(crate) at: u64,
    /// The ports, from and to, to whose far ends it goes.
    pub(crate) inputs: (u16, u16),
    pub(crate) class: u8,
    /// Where its causes end among all.
    pub(crate) end: u32,
}

/// The XOFFs that a switch decides, in order.
#[derive(Debug)]
pub(crate) struct Decisions {
    /// Most that are kept.
    pub(crate) most: u64,
    pub(crate) kept: Vec<Decided>,
    /// Of all, one after the other: the outputs for which bytes waited that called for it, these bytes, and what held the output back.
    pub(crate) causes: Vec<(u16, u32, HeldBy)>,
}

impl Decisions {
    /// None yet. None at all where none is to be kept.
    pub(crate) fn new(most: u64) -> Option<Box<Self>> {
        (most > 0).then(|| Box::new(Self { most, kept: Vec::new(), causes: Vec::new() }))
    }
}

/// What is to be joined.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    /// By switch that decides.
    pub(crate) decided: Vec<(u32, Box<Decisions>)>,
    /// By port in the network and class, when it was in XOFF: from and until, ps.
    pub(crate) heard: Vec<Vec<Vec<(u64, u64)>>>,
}

impl Joint {
    /// Joins them, in a run to its end.
    pub(crate) fn close(self, net: &Net) -> Pauses {
        // (when, switch, number at the switch) of each, so that what is kept is the same however the run was carried out.
        let mut order: Vec<(u64, u32, u32)> = Vec::new();
        for (i, (_, decisions)) in self.decided.iter().enumerate() {
            order.extend((0..).zip(&decisions.kept).map(|(n, d)| (d.at, i as u32, n)));
        }
        order.sort_unstable();
        let classes = net.classes.len();
        // The XOFFs told to a transmitter, in order, by port and class.
        let mut told: Vec<Vec<u32>> =
            vec![Vec::new(); if order.is_empty() { 0 } else { net.links.len() * classes }];
        let mut all = Pauses::default();
        for (_, i, n) in order {
            // Of a switch no more are kept than in all, so that a later cause may be one that is not.
            if all.xoffs.len() as u64 == net.record.pauses {
                return all;
            }
            let (switch, decisions) = &self.decided[i as usize];
            let decided = decisions.kept[n as usize];
            let base = net.ports[*switch as usize];
            let begin = n.checked_sub(1).map_or(0, |before| decisions.kept[before as usize].end);
            let first = all.causes.len() as u32;
            for &(output, bytes, held) in &decisions.causes[begin as usize..decided.end as usize] {
                let held = match held {
                    HeldBy::Rate => Held::Open,
                    HeldBy::Closed => Held::Closed,
                    HeldBy::Xoff(nth) => {
                        let port = base as usize + usize::from(output);
                        let xoffs = &told[port * classes + usize::from(decided.class)];
                        let by = xoffs.get(nth as usize);
                        Held::Stopped(
                            *by.unwrap_or_else(|| broken("a port heard an XOFF that nobody decided")),
                        )
                    }
                };
                all.causes.push(Cause { output, bytes, held });
            }
            let causes = (first, all.causes.len() as u32);
            for input in (decided.inputs.0..decided.inputs.1).map(usize::from) {
                let Some(link) = net.links[base as usize + input] else { continue };
                if all.xoffs.len() as u64 == net.record.pauses {
                    return all;
                }
                let at = link.peer as usize * classes + usize::from(decided.class);
                let span = self.heard[link.peer as usize].get(usize::from(decided.class));
                let span = span.and_then(|spans| spans.get(told[at].len()));
                let (from, until) = *span.unwrap_or(&(net.duration, net.duration));
                told[at].push(all.xoffs.len() as u32);
                all.xoffs.push(Xoff {
                    decided: Time::from_ps(decided.at),
                    from: Time::from_ps(from),
                    until: Time::from_ps(until),
                    stopped: (
                        NodeId(link.peer_node),
                        (link.peer - net.ports[link.peer_node as usize]) as u16,
                    ),
                    by: (NodeId(*switch), input as u16),
                    causes,
                    class: decided.class,
                });
            }
        }
        all
    }
}
