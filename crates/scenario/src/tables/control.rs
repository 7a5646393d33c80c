//! `[control]`: how feedback travels.

use super::topology::lead;
use super::{Section, Settings};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use cnsim_fabric::{ControlTransport, RunSpec};
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

impl Section for ControlTransport {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        match r.choice(TRANSPORT) {
            ControlTravels::Priority => Self::Priority,
            ControlTravels::InBand => Self::InBand,
            ControlTravels::Ideal => {
                let (host, switch) = settings.processing();
                let least = lead(&settings.wiring, host, switch) * 2;
                let latency = r.time(LATENCY);
                if latency < least {
                    let hint = format!("at least {least}, twice the shortest delay of a link");
                    r.wrong(LATENCY, format!("{latency} is too short"), hint);
                }
                Self::Ideal { latency }
            }
        }
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.laws.control = *self;
    }
}
