//! `[control]`: how feedback travels.

use crate::row::declare::*;
use cnsim_units::Time;

choices! {
    /// `control.transport`.
    ControlTravels { Priority = "priority", InBand = "in-band", Ideal = "ideal", }
}

rows! {
    TRANSPORT = key("control.transport", Kind::Choice(ControlTravels::WORDS), "priority",
        "feedback travels in frames ahead of data, in frames among data, or without frames after a fixed time (probes then go ahead of data)");
    LATENCY = key("control.latency", Kind::Time(Time::ZERO, Time::from_s(1)), "20 us",
        "delay of ideal feedback, from the node that makes it to its host").only(TRANSPORT, one_of!(ControlTravels: Ideal));
}
