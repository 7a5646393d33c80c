//! `[run]`: how long, how often, how it draws, and whether what repeats is simulated once.

use super::{Section, Settings};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{LONGEST, MAX_SEEDS};
use cnsim_fabric::{Draws, Reuse, RunSpec};
use cnsim_units::Time;

words! {
    /// `run.draws`.
    Draws { Stream = "stream", Keyed = "keyed", }
    /// `run.reuse`.
    Reuse { Auto = "auto", Off = "off", Verify = "verify", }
}

rows! {
    DURATION = key("run.duration", Kind::Time(Time::from_us(1), LONGEST), "1 s", "simulated time");
    SEEDS = key("run.seeds", Kind::Integer(1, MAX_SEEDS), "5", "number of seeds").fixed("write seeds = 10");
    DRAWS = key("run.draws", Kind::Choice(Draws::WORDS), "stream",
        "how the network draws: each port, host and flow from a stream of its own (stream), or by port, pair of hosts and number of the frame in its flow (keyed), so that flows of a pair share a path and what repeats goes alike");
    REUSE = key("run.reuse", Kind::Choice(Reuse::WORDS), "auto",
        "parts of a run that repeat, from a moment at which nothing is under way to the next, are simulated once where results stay the same to the last bit, which needs run.draws = \"keyed\" (auto), or each time (off); verify simulates a share of them again and compares");
}

/// How a run draws, and how it is carried out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    pub(crate) draws: Draws,
    /// Whether parts that repeat are simulated once.
    pub reuse: Reuse,
}

impl Section for Run {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let follow = settings.traffic.jobs.graph(0).is_some();
        let (draws, reuse) = (r.choice(DRAWS), r.choice(REUSE));
        if r.is_asked(REUSE) && !follow && !r.traffic_varies() {
            r.wrong(REUSE, "has no effect: no transfer follows another", "remove it");
        } else if follow && r.is_asked(REUSE) && reuse != Reuse::Off && draws == Draws::Stream {
            let reason = "nothing repeats where draws are made from streams".to_string();
            r.clash(&[REUSE, DRAWS], reason, "write run.draws = \"keyed\", or run.reuse = \"off\"");
        }
        Self { draws, reuse }
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.laws.draws = self.draws;
    }
}
