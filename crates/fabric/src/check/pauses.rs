//! The XOFFs of a run: what switches decided, joined with what transmitters heard.
//!
//! A link keeps its order, and a switch says XOFF and XON of a class in turns. So the n-th XOFF that a switch decided for a link and
//! class is the n-th that the transmitter at its far end heard.

use super::broken;
use crate::net::{Net, Ps};
use crate::outcome::{Cause, Held, Pauses, Xoff};
use cnsim_scheme_api::NodeId;
use std::ops::Range;

/// Reasons why an output does not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBy {
    /// Nothing but its rate.
    Rate,
    /// The output's service rate is 0.
    Closed,
    /// The XOFF that it heard after so many others of its class.
    Xoff(u32),
}

/// An output for which bytes waited that called for an XOFF, in 12 B: a run may keep many.
#[derive(Clone, Copy, Debug)]
struct Waited {
    output: u16,
    bytes: u32,
    /// The number of an XOFF, or what else holds the output back.
    held: u32,
}

impl Waited {
    const RATE: u32 = u32::MAX;
    const CLOSED: u32 = u32::MAX - 1;

    fn new(output: u16, bytes: u32, held: HeldBy) -> Self {
        let held = match held {
            HeldBy::Rate => Self::RATE,
            HeldBy::Closed => Self::CLOSED,
            HeldBy::Xoff(number) if number < Self::CLOSED => number,
            HeldBy::Xoff(_) => broken("more XOFFs of an output than can be numbered"),
        };
        Self { output, bytes, held }
    }
    fn held(self) -> HeldBy {
        match self.held {
            Self::RATE => HeldBy::Rate,
            Self::CLOSED => HeldBy::Closed,
            number => HeldBy::Xoff(number),
        }
    }
}

/// A decided XOFF, in 16 B.
#[derive(Clone, Copy, Debug)]
struct Decided {
    /// When, ps.
    at: Ps,
    /// The first of the ports to whose far ends it goes, and how many they are.
    inputs: (u16, u16),
    /// How many causes it has: one for an output at most.
    causes: u16,
    class: u8,
}

/// The XOFFs that a switch decides, in order.
#[derive(Debug)]
pub(crate) struct Decisions {
    /// Most that are kept.
    most: u64,
    kept: Vec<Decided>,
    /// Of all, one after the other.
    causes: Vec<Waited>,
}

impl Decisions {
    /// None yet. None at all where none is to be kept.
    pub(crate) fn new(most: u64) -> Option<Box<Self>> {
        (most > 0).then(|| Box::new(Self { most, kept: Vec::new(), causes: Vec::new() }))
    }

    /// Adds those of a phase that is moved by so much, ps. `before` is how often an output, in a class, was in XOFF before it.
    pub(crate) fn append(&mut self, phase: &Self, by: Ps, before: impl Fn(u16, u8) -> usize) {
        let mut causes = phase.causes.iter();
        for decided in &phase.kept {
            self.kept.push(Decided { at: decided.at + by, ..*decided });
            for waited in causes.by_ref().take(decided.causes.into()) {
                let more =
                    if waited.held < Waited::CLOSED { before(waited.output, decided.class) } else { 0 };
                self.causes.push(Waited { held: waited.held + more as u32, ..*waited });
            }
        }
    }

    /// Is no more kept?
    pub(crate) fn are_full(&self) -> bool {
        self.kept.len() as u64 == self.most
    }

    /// One is decided at `at`, ps, for the far ends of these ports. Its causes are the outputs for which bytes waited that called for it,
    /// these bytes, and what held the output back.
    pub(crate) fn keep(
        &mut self,
        (at, class): (Ps, u8),
        inputs: Range<usize>,
        causes: impl Iterator<Item = (u16, u32, HeldBy)>,
    ) {
        if self.are_full() {
            return;
        }
        let before = self.causes.len();
        self.causes.extend(causes.map(|(output, bytes, held)| Waited::new(output, bytes, held)));
        let causes = (self.causes.len() - before) as u16;
        self.kept.push(Decided { at, inputs: (inputs.start as u16, inputs.len() as u16), causes, class });
    }
}

/// Records of a node that are to be joined with those of others.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    /// By switch that decides.
    pub(crate) decided: Vec<(u32, Box<Decisions>)>,
    /// By port in the network and class, when it was in XOFF: from and until, ps.
    pub(crate) heard: Vec<Vec<Vec<(Ps, Ps)>>>,
}

impl Joint {
    /// Joins them, in a run to its end.
    pub(crate) fn close(&self, net: &Net) -> Pauses {
        // (when, switch, number at the switch) of each, so that what is kept is the same however the run was carried out.
        let mut order: Vec<(Ps, u32, u32)> = Vec::new();
        for (i, (_, decisions)) in self.decided.iter().enumerate() {
            order.extend((0..).zip(&decisions.kept).map(|(n, d)| (d.at, i as u32, n)));
        }
        order.sort_unstable();
        let classes = net.classes.len();
        // The XOFFs told to a transmitter, in order, by port and class.
        let mut told: Vec<Vec<u32>> =
            vec![Vec::new(); if order.is_empty() { 0 } else { net.links.len() * classes }];
        let mut all = Pauses::default();
        // By switch: where the causes of its next XOFF begin.
        let mut begins = vec![0; self.decided.len()];
        for (_, i, n) in order {
            // Of a switch no more are kept than in all, so that a later cause may be one that is not.
            if all.xoffs.len() as u64 == net.record.pauses {
                return all;
            }
            let (switch, decisions) = &self.decided[i as usize];
            let decided = decisions.kept[n as usize];
            let base = net.ports[*switch as usize];
            let begin: usize = begins[i as usize];
            begins[i as usize] += usize::from(decided.causes);
            let first = all.causes.len() as u32;
            for &waited in &decisions.causes[begin..begins[i as usize]] {
                let Waited { output, bytes, .. } = waited;
                let held = match waited.held() {
                    HeldBy::Rate => Held::Open,
                    HeldBy::Closed => Held::Closed,
                    HeldBy::Xoff(nth) => {
                        let port = base as usize + usize::from(output);
                        let by = told[port * classes + usize::from(decided.class)].get(nth as usize);
                        let Some(&by) = by else { broken("a port heard an XOFF that nobody decided") };
                        Held::Stopped(by)
                    }
                };
                all.causes.push(Cause { output, bytes, held });
            }
            let causes = (first, all.causes.len() as u32);
            let (port, ports) = decided.inputs;
            for input in (port..port + ports).map(usize::from) {
                let Some(link) = net.links[base as usize + input] else { continue };
                if all.xoffs.len() as u64 == net.record.pauses {
                    return all;
                }
                let (far, at) = (link.peer_node, link.peer as usize * classes + usize::from(decided.class));
                let span = self.heard[link.peer as usize].get(usize::from(decided.class));
                let span = span.and_then(|spans| spans.get(told[at].len()));
                let (from, until) = *span.unwrap_or(&(net.duration, net.duration));
                told[at].push(all.xoffs.len() as u32);
                all.xoffs.push(Xoff {
                    decided: decided.at.time(),
                    from: from.time(),
                    until: until.time(),
                    stopped: (NodeId(far), (link.peer - net.ports[far as usize]) as u16),
                    by: (NodeId(*switch), input as u16),
                    causes,
                    class: decided.class,
                });
            }
        }
        all
    }
}

impl Pauses {
    /// Bytes that a run took for them before its end: of each decision, of its causes, and of each time in XOFF.
    pub fn kept_bytes(&self) -> u64 {
        let mut last = None;
        // One that goes to all neighbours is one decision.
        let one =
            |x: &&Xoff| last.replace((x.decided, x.by.0, x.causes)) != Some((x.decided, x.by.0, x.causes));
        let decided = self.xoffs.iter().filter(one).count();
        let bytes = decided * size_of::<Decided>()
            + self.causes.len() * size_of::<Waited>()
            + self.xoffs.len() * size_of::<(u64, u64)>();
        bytes as u64
    }
}
