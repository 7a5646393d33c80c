//! `[run]`: how long, and how often.

use crate::language::row::declare::*;
use crate::language::row::{LONGEST, MAX_SEEDS};
use cnsim_units::Time;

rows! {
    DURATION = key("run.duration", Kind::Time(Time::from_us(1), LONGEST), "1 s", "simulated time");
    SEEDS = key("run.seeds", Kind::Integer(1, MAX_SEEDS), "5", "number of seeds").fixed("write seeds = 10");
}
