//! A network that stands still: since when, and which ports wait for which.

use cnsim_fabric::Outcome;
use cnsim_scenario::topology::Wiring;
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
}

impl Frozen {
    /// That of an outcome; none if something moves, or where nothing but the sources is held back.
    pub fn of(wiring: &Wiring, out: &Outcome) -> Option<Self> {
        let why = out.standstill.as_ref()?;
        Some(Self {
            since: out.frozen_since?.as_secs_f64() * 1e3,
            ports: why.ports.iter().map(|p| wiring.port_name(*p)).collect(),
            deadlock: why.circle,
        })
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
            (true, _) => ("a deadlock by PAUSE", ""),
            (false, [_]) => ("stopped at a port", " serves nothing, or has only just been let go"),
            (false, _) => ("stopped at the last port named", ""),
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
        Frozen { since: 1.612_345_6, ports, deadlock }.text()
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
        let names: Vec<String> = (0..40).map(|i| format!("S{i}>S{}", i + 1)).collect();
        let many = frozen(&names.iter().map(String::as_str).collect::<Vec<_>>(), true);
        assert!(many.contains("(28 more in a row)") && many.ends_with("waits for S0>S1"), "{many}");
    }
}
