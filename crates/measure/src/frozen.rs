//! A network that stands still: since when, and which ports wait for which.

use cnsim_fabric::Outcome;
use cnsim_scenario::settings::Settings;
use serde::{Deserialize, Serialize};

/// Most ports that are named one by one.
const MOST: usize = 12;

/// Record of a network that was frozen at the end of its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// Time of the last delivery, ms.
    pub since: f64,
    /// Ports whose data cannot leave; each waits for room that the next one does not make.
    pub ports: Vec<String>,
    /// True if the last port waits for the first: a deadlock by PAUSE. Otherwise the last port serves nothing.
    pub deadlock: bool,
    /// Why the scenario keeps the last port from serving, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
}

/// The setting by which a port serves nothing at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The far end of its link says XOFF by a `[[fault]]`: that host or port.
    Fault(String),
    /// A `[[hotspot]]` or `[[event]]` sets its rate to zero.
    Rate,
}

impl Frozen {
    /// The standstill of an outcome; none if something moves, or if only sources are held back.
    pub fn of(settings: &Settings, out: &Outcome) -> Option<Self> {
        let (why, wiring) = (out.freeze.standstill.as_ref()?, &settings.wiring);
        let last = why.ports.last().copied().filter(|_| !why.circle);
        let far = last.and_then(|at| {
            let link = wiring.link(at)?;
            Some(if link.a == at { link.b } else { link.a })
        });
        let faults = settings.port_faults().iter().filter(|f| f.to >= out.duration).map(|f| (f.node, f.port));
        let fault = faults.into_iter().find(|at| Some(*at) == far).map(|at| {
            if (at.0.0 as usize) < wiring.hosts.len() {
                wiring.name(at.0).into()
            } else {
                wiring.port_name(at)
            }
        });
        let shut = last.is_some_and(|at| settings.ends_shut(at)).then_some(By::Rate);
        Some(Self {
            since: out.freeze.last_delivery?.as_secs_f64() * 1e3,
            ports: why.ports.iter().map(|p| wiring.port_name(*p)).collect(),
            deadlock: why.circle,
            by: fault.map(By::Fault).or(shut),
        })
    }

    /// The remedy against this standstill.
    pub fn help(&self) -> String {
        let told = "with record.pauses = \"on\" `cnsim explain-pause` names";
        match &self.by {
            _ if self.deadlock => format!(
                "PAUSE needs paths without a circle: see topology.routing, or try --pause off; {told} what closed a circle"
            ),
            Some(By::Fault(at)) => format!(
                "the [[fault]] of {at} holds it: let that end earlier (`to`), or set watchdog.action; {told} whom it stopped"
            ),
            Some(By::Rate) => {
                format!(
                    "its rate is 0 at the end: let a later [[event]] raise it, or shorten the run; {told} whom it stopped"
                )
            }
            None => format!("{told} who stopped whom"),
        }
    }

    /// `frozen since 1.6 ms, a deadlock by PAUSE: A>B waits for B>C, which waits for A>B`.
    pub fn text(&self) -> String {
        let since = crate::quantity::digits((self.since * 1e3).round() / 1e3);
        let mut names = self.ports.clone();
        if self.deadlock {
            names.extend(self.ports.first().cloned());
        }
        let hidden = names.len().saturating_sub(MOST + 1);
        if hidden > 0 {
            names.splice(MOST / 2..MOST / 2 + hidden, [format!("({hidden} more in a row)")]);
        }
        let (kind, end) = match (self.deadlock, &names[..]) {
            (true, _) => ("a deadlock by PAUSE", String::new()),
            (false, ports) => {
                let kind =
                    if ports.len() == 1 { "stopped at a port" } else { "stopped at the last port named" };
                let end = match &self.by {
                    Some(By::Fault(at)) => format!(", to which {at} says XOFF by a fault"),
                    Some(By::Rate) => ", whose rate is 0".into(),
                    None if ports.len() == 1 => " serves nothing, or has only just been let go".into(),
                    None => String::new(),
                };
                (kind, end)
            }
        };
        let chain = match &names[..] {
            [first, second, rest @ ..] => {
                let mut text = format!("{first} waits for {second}");
                rest.iter().for_each(|p| text += &format!(", which waits for {p}"));
                text
            }
            [one] => one.clone(),
            [] => String::new(),
        };
        format!("frozen since {since} ms, {kind}: {chain}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frozen(ports: &[&str], deadlock: bool) -> String {
        let ports = ports.iter().map(|p| (*p).into()).collect();
        Frozen { since: 1.612_345_6, ports, deadlock, by: None }.text()
    }

    #[test]
    fn it_is_told_in_a_sentence() {
        assert_eq!(
            frozen(&["A>B", "B>A"], true),
            "frozen since 1.612 ms, a deadlock by PAUSE: A>B waits for B>A, which waits for A>B"
        );
        assert_eq!(
            frozen(&["S>H1"], false),
            "frozen since 1.612 ms, stopped at a port: S>H1 serves nothing, or has only just been let go"
        );
        assert_eq!(
            frozen(&["S>T", "T>H1"], false),
            "frozen since 1.612 ms, stopped at the last port named: S>T waits for T>H1"
        );
        let by = |by| Frozen { since: 2.0, ports: vec!["L1>H1".into()], deadlock: false, by: Some(by) };
        let fault = by(By::Fault("H1".into()));
        assert_eq!(
            fault.text(),
            "frozen since 2 ms, stopped at a port: L1>H1, to which H1 says XOFF by a fault"
        );
        assert!(fault.help().contains("[[fault]] of H1") && !fault.help().contains("circle"));
        assert!(by(By::Rate).text().ends_with("L1>H1, whose rate is 0"));
        let names: Vec<String> = (0..40).map(|i| format!("S{i}>S{}", i + 1)).collect();
        let many = frozen(&names.iter().map(String::as_str).collect::<Vec<_>>(), true);
        let middle = "S5>S6, which waits for (28 more in a row), which waits for S34>S35, which";
        assert!(many.contains(middle) && many.ends_with("S39>S40, which waits for S0>S1"), "{many}");
    }
}
