//! `[[fault]]` tables: a port says XOFF for a cause of its own, or a host reads slowly.

use super::{Section, Settings, run};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{FASTEST, SLOWEST_SERVICE};
use crate::wiring::Wiring;
use cnsim_fabric::{FaultKind, PauseSpec, PortFault, RunSpec};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Rate, Time};

choices! {
    /// `fault.kind`.
    Written { Xoff = "xoff", Slow = "slow", }
}

rows! {
    KIND = key("fault.kind", Kind::Choice(Written::WORDS), "xoff",
        "what is wrong in a [[fault]] table: a NIC or switch port says XOFF all the time, or a host reads slower than its link and says XOFF when its buffer is full")
        .with_pause();
    HOST = key("fault.host", Kind::Host, "", "host whose NIC has the fault").with_pause().seen();
    PORT = key("fault.port", Kind::Port, "", "switch port that has the fault, which stops the far end of its link: \"X>E5\"").only(KIND, one_of!(Written: Xoff)).seen();
    CLASS = key("fault.class", Kind::Or("first", &Kind::Name(40)), "first", "class of data that it stops, by the name of a [[class]] table").with_pause();
    FROM = key("fault.from", kind::MOMENT, "0 us", "time at which the fault begins");
    TO = key("fault.to", Kind::Or("off", &kind::MOMENT), "off", "time at which the fault ends; off: at the end of the run");
    RATE = key("fault.rate", Kind::RateOrShare(SLOWEST_SERVICE, FASTEST), "10%",
        "rate at which a slow host reads, or a share of its link").only(KIND, one_of!(Written: Slow));
    BUFFER = key("fault.buffer", kind::MEMORY, "100 KB",
        "bytes that a slow host's NIC holds when it says XOFF; it says XON at half of that").only(KIND, one_of!(Written: Slow));
}

impl Section for Vec<PortFault> {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        faults(r, settings)
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        run.events.faults.clone_from(self);
    }
}

/// The faults of a case; none where no switch obeys or sends PAUSE.
fn faults(r: &mut Reader<'_>, settings: &Settings) -> Vec<PortFault> {
    let mut faults: Vec<PortFault> = Vec::new();
    let Some(PauseSpec { transport, .. }) = settings.switch.buffer.pause else { return faults };
    let place = |f: &PortFault| (f.node, f.port, f.class);
    for prefix in r.tables("fault") {
        let (before, fault) = (faults.len(), one(r, &prefix, &settings.wiring, settings.duration));
        let Some(mut fault) = fault else { continue };
        let name = Some(r.word(CLASS.of(&prefix))).filter(|name| name != "first");
        match settings.classes.find(name.as_deref()) {
            Some(class) => fault.class = class as u8,
            None => {
                let reason = format!("there is no class `{}`", name.unwrap_or_default());
                r.wrong(CLASS.of(&prefix), reason, settings.classes.named());
            }
        }
        let alike = faults
            .iter()
            .take(before)
            .find(|f| place(f) == place(&fault) && f.from < fault.to && fault.from < f.to);
        if let Some(other) = alike {
            let reason = format!("overlaps another fault there, from {} to {}", other.from, other.to);
            r.wrong(format!("{prefix}.from"), reason, "let one begin when the other has ended");
            continue;
        }
        faults.push(PortFault { transport, ..fault });
    }
    faults
}

/// The fault of a table; none where its place is not known.
fn one(r: &mut Reader<'_>, prefix: &str, wiring: &Wiring, duration: Time) -> Option<PortFault> {
    let key = |leaf: Key| leaf.of(prefix);
    let (from, to) = (r.time(key(FROM)), r.time_or(key(TO)).unwrap_or(duration));
    if from >= duration {
        let reason = format!("the fault begins at {from}, after the run of {duration}");
        r.clash(&[key(FROM), run::DURATION.into()], reason, "let it begin earlier, or lengthen run.duration");
    } else if to <= from || to > duration {
        let reason = format!(
            "the fault ends at {to}, and not between its begin at {from} and the run's end at {duration}"
        );
        r.clash(
            &[key(TO), key(FROM), run::DURATION.into()],
            reason,
            "let it end after its begin and within the run",
        );
    }
    let written: Written = r.choice(key(KIND));
    let (node, port) = match (r.is_set(key(HOST)), r.is_set(key(PORT))) {
        (true, false) => {
            let name = r.word(key(HOST));
            (NodeId(r.host(key(HOST), 0, &name, wiring)? as u32), 0)
        }
        (false, true) if written == Written::Slow => {
            r.wrong(
                key(PORT),
                "only hosts read slowly",
                "write for example host = \"H1\"; an [[event]] slows a switch port down",
            );
            return None;
        }
        (false, true) => {
            let name = r.word(key(PORT));
            r.port(key(PORT), 0, &name, wiring)?
        }
        _ => {
            r.wrong(
                prefix,
                "names not one place",
                "write either host = \"H1\", whose NIC says XOFF, or port = \"S>H1\"",
            );
            return None;
        }
    };
    let kind = match written {
        Written::Xoff => FaultKind::Xoff,
        Written::Slow => {
            let line = wiring.link((node, port)).map_or(Rate::ZERO, |l| l.rate);
            let (rate, buffer) = (r.rate_or_share(key(RATE), line), r.bytes(key(BUFFER)));
            if rate >= line {
                let reason = format!("a host with a link of {line} that reads {rate} is not slow");
                r.wrong(key(RATE), reason, "use less than the link's rate");
            } else if rate < SLOWEST_SERVICE {
                let reason = format!("a host that reads {rate} says XOFF and never goes on");
                let remedy = format!("write kind = \"xoff\", or a rate of at least {SLOWEST_SERVICE}");
                r.wrong(key(RATE), reason, remedy);
            }
            FaultKind::Slow { rate, buffer }
        }
    };
    let transport = Default::default();
    Some(PortFault { node, port, class: 0, from, to, transport, kind })
}
