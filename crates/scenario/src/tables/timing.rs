//! `[timing]`: rounding of times, and the order of frames that arrive together.

use crate::row::declare::*;
use cnsim_fabric::{Rounding, Ties};

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
