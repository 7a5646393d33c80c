//! `[timing]`: rounding of times, and the order of frames that arrive together.

use super::{Section, Settings};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use cnsim_fabric::{Rounding, RunSpec, Ties};

words! {
    /// `timing.rounding`.
    Rounding { Exact = "exact", WholeNs = "whole-ns", }
    /// `timing.ties`.
    Ties { ByPort = "port", Drawn = "seed", ByStart = "start", }
}

rows! {
    ROUNDING = key("timing.rounding", Kind::Choice(Rounding::WORDS), "exact",
        "times on a link: exact to the picosecond, or cut to whole nanoseconds as in ns-3: a link is then too fast, with frames of 1048 B by 1 % at 100 Gb/s, 5 % at 400 and 16 % at 2400");
    TIES = key("timing.ties", Kind::Choice(Ties::WORDS), "port",
        "order of data frames that reach a switch at one moment: by port number, drawn by the seed each time, or by the start of their transmissions as in ns-3");
}

/// Laws of time that simulators have in different ways.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    pub(crate) rounding: Rounding,
    pub(crate) ties: Ties,
}

impl Section for Timing {
    fn read(r: &mut Reader<'_>, _: &mut Settings) -> Self {
        Self { rounding: r.choice(ROUNDING), ties: r.choice(TIES) }
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        (run.laws.rounding, run.laws.ties) = (self.rounding, self.ties);
    }
}
