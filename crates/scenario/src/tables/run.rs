//! `[run]`: how long, how often, and how it draws.

use super::{Section, Settings};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{LONGEST, MAX_SEEDS};
use cnsim_fabric::{Draws, RunSpec};
use cnsim_units::Time;

words! {
    /// `run.draws`.
    Draws { Stream = "stream", Keyed = "keyed", }
}

rows! {
    DURATION = key("run.duration", Kind::Time(Time::from_us(1), LONGEST), "1 s", "simulated time");
    SEEDS = key("run.seeds", Kind::Integer(1, MAX_SEEDS), "5", "number of seeds").fixed("write seeds = 10");
    DRAWS = key("run.draws", Kind::Choice(Draws::WORDS), "stream",
        "how the network draws: each port, host and flow from a stream of its own (stream), or by port, pair of hosts and number of the frame in its flow (keyed), so that flows of a pair share a path and what repeats goes alike");
}

impl Section for Draws {
    fn read(r: &mut Reader<'_>, _: &mut Settings) -> Self {
        r.choice(DRAWS)
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.draws = *self;
    }
}
