//! `[[fault]]` tables: a port says XOFF for a cause of its own, or a host reads slowly.

use crate::keys::SLOWEST_SERVICE;
use crate::kinds::FaultKind as Written;
use crate::reader::Reader;
use crate::topology::Wiring;
use cnsim_fabric::{FaultKind, PauseSpec, PortFault};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Rate, Time};

/// The faults of a case; none where no switch obeys or sends PAUSE.
pub(super) fn faults(
    r: &mut Reader<'_>,
    wiring: &Wiring,
    pause: Option<PauseSpec>,
    duration: Time,
) -> Vec<PortFault> {
    let mut faults: Vec<PortFault> = Vec::new();
    for prefix in r.tables("fault") {
        let (before, fault) = (faults.len(), one(r, &prefix, wiring, duration));
        let Some(fault) = fault else { continue };
        let at = (fault.node, fault.port);
        let alike = faults
            .iter()
            .take(before)
            .find(|f| (f.node, f.port) == at && f.from < fault.to && fault.from < f.to);
        if let Some(other) = alike {
            let reason = format!("overlaps another fault there, from {} to {}", other.from, other.to);
            r.wrong(&format!("{prefix}.from"), reason, "let one begin when the other has ended");
            continue;
        }
        faults.extend(pause.map(|pause| PortFault { transport: pause.transport, ..fault }));
    }
    faults
}

/// The fault of a table; none where its place is not known.
fn one(r: &mut Reader<'_>, prefix: &str, wiring: &Wiring, duration: Time) -> Option<PortFault> {
    let key = |leaf: &str| format!("{prefix}.{leaf}");
    let (from, to) = (r.time(&key("from")), r.time_or(&key("to")).unwrap_or(duration));
    if from >= duration {
        let reason = format!("the fault begins at {from}, after the run of {duration}");
        r.clash(&[&key("from"), "run.duration"], reason, "let it begin earlier, or lengthen run.duration");
    } else if to <= from || to > duration {
        let reason = format!(
            "the fault ends at {to}, and not between its begin at {from} and the run's end at {duration}"
        );
        r.clash(
            &[&key("to"), &key("from"), "run.duration"],
            reason,
            "let it end after its begin and within the run",
        );
    }
    let written: Written = r.choice(&key("kind"));
    let (node, port) = match (r.is_set(&key("host")), r.is_set(&key("port"))) {
        (true, false) => {
            let name = r.word(&key("host"));
            (NodeId(r.host(&key("host"), 0, &name, wiring)? as u32), 0)
        }
        (false, true) if written == Written::Slow => {
            r.wrong(
                &key("port"),
                "only hosts read slowly",
                "write for example host = \"H1\"; an [[event]] slows a switch port down",
            );
            return None;
        }
        (false, true) => {
            let name = r.word(&key("port"));
            r.port(&key("port"), 0, &name, wiring)?
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
            let (rate, buffer) = (r.rate_or_share(&key("rate"), line), r.bytes(&key("buffer")));
            if rate >= line {
                let reason = format!("a host with a link of {line} that reads {rate} is not slow");
                r.wrong(&key("rate"), reason, "use less than the link's rate");
            } else if rate < SLOWEST_SERVICE {
                let reason = format!("a host that reads {rate} says XOFF and never goes on");
                let remedy = format!("write kind = \"xoff\", or a rate of at least {SLOWEST_SERVICE}");
                r.wrong(&key("rate"), reason, remedy);
            }
            FaultKind::Slow { rate, buffer }
        }
    };
    let transport = Default::default();
    Some(PortFault { node, port, from, to, transport, kind })
}
