//! A phase that was simulated is compared with what the programs of its hosts do now.
//!
//! All that a network tells a program, and all that a program lets begin, was kept. Programs are told the same again at the same
//! moments. As long as they let the same flows begin, the network does the same; at the first difference the phase is another one.

use crate::model::{Moment, Nic, Program, Said, together};
use crate::net::{NEVER, Net, Ps};
use cnsim_scheme_api::FlowId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a program was told and let begin, from its begin on.
pub(super) type Heard = [(Ps, Said)];

/// What replays share.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) net: &'a Net,
    /// The phase is so much later than the one that was kept, ps.
    pub(super) by: Ps,
    /// By number of a flow of the phase that was kept, the one in its place.
    pub(super) flows: &'a mut [u32],
    /// A program has done something else.
    pub(super) differs: bool,
    /// Where that is a flow: when it begins, ps, and to which host it goes.
    pub(super) begun: Option<(Ps, u32)>,
}

/// The program of a NIC, and what it did in the phase that was kept.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    pub(super) program: Option<&'a mut Program>,
    pub(super) heard: &'a Heard,
    /// Another NIC has advised it since its last pass.
    pub(super) advised: bool,
}

impl Replay<'_> {
    /// What it did next, if it did something.
    fn peek(&self, by: Ps) -> Option<(Ps, Said)> {
        self.heard.first().map(|&(at, said)| (at + by, said))
    }
}

impl Nic<Stage<'_>> for Replay<'_> {
    fn next(&self, stage: &Stage<'_>) -> Ps {
        // What the kept phase did is of no use any more.
        if stage.differs {
            return NEVER;
        }
        let own = self.program.as_ref().and_then(|program| program.next()).unwrap_or(NEVER);
        match self.peek(stage.by) {
            // That comes from another NIC: it is late behind that moment.
            Some((at, Said::Advised)) if !self.advised => own.min(at + Ps(1)),
            Some((at, _)) => own.min(at),
            None => own,
        }
    }

    /// As the engines do it: what arrives, then operations, then the start of a transmission, then operations again.
    fn pass(&mut self, now: Ps, stage: &mut Stage<'_>) {
        let (net, by) = (stage.net, stage.by);
        while self.peek(by) == Some((now, Said::Advised)) && self.advised {
            self.heard = &self.heard[1..];
        }
        self.advised = false;
        let mut differs = self.peek(by).is_some_and(|(at, _)| at < now);
        while let Some((at, said)) = self.peek(by)
            && at == now
            && said != Said::Advised
            && !differs
        {
            let Some(program) = &mut self.program else { break };
            let flow = |flow: FlowId| FlowId(stage.flows[flow.0 as usize]);
            match said {
                Said::Received(done) => program.received(flow(done), Moment { now, net }),
                Said::Acknowledged(done) => program.acknowledged(flow(done), now),
                Said::Sent(done) => {
                    differs |= program.advance(now, net).is_some();
                    program.sent(flow(done), now);
                }
                Said::Begun(kept) => {
                    let begun = program.advance(now, net).filter(|new| program.is_like(kept, *new, net));
                    match begun.and_then(|(new, _)| new.pair) {
                        Some(new) => stage.flows[kept.0 as usize] = new.0,
                        None => differs = true,
                    }
                }
                Said::Advised => {}
            }
            self.heard = &self.heard[1..];
        }
        if let (false, Some(program)) = (differs, &mut self.program)
            && let Some((new, _)) = program.advance(now, net)
        {
            differs = true;
            stage.begun = Some((now, new.dst));
        }
        stage.differs |= differs;
    }

    fn tells(&mut self) -> Option<(u32, u32)> {
        self.program.as_mut()?.tells(false)
    }

    fn advise(&mut self, n: u32, now: Ps, _: &mut Stage<'_>) {
        self.advised = true;
        self.program.iter_mut().for_each(|program| program.advise(n, now));
    }
}

/// Runs machines, each its first NIC and its NICs, up to `end`, moment by moment: true if they do the same as in the phase that was kept,
/// and all of it.
pub(super) fn agree(machines: &mut [(u32, Vec<Replay<'_>>)], end: Ps, stage: &mut Stage<'_>) -> bool {
    let next = |nics: &[Replay<'_>], stage: &Stage<'_>| nics.iter().map(|nic| nic.next(stage)).min();
    let mut due: BinaryHeap<Reverse<(Ps, usize)>> = (machines.iter().enumerate())
        .filter_map(|(n, (_, nics))| Some(Reverse((next(nics, stage)?, n))))
        .collect();
    while let Some(Reverse((now, n))) = due.pop()
        && now < end
        && !stage.differs
    {
        let (first, nics) = &mut machines[n];
        together((*first, nics), now + Ps(1), stage);
        due.extend(next(nics, stage).map(|at| Reverse((at, n))));
    }
    !stage.differs && machines.iter().flat_map(|(_, nics)| nics).all(|nic| nic.heard.is_empty())
}
