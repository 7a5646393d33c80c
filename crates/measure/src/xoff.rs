//! How XOFF spreads: when each port was stopped, by its place in the network.

use cnsim_fabric::Outcome;
use cnsim_scenario::settings::Settings;
use cnsim_scenario::wiring::Wiring;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Most ports that are kept: those that were in XOFF longest.
const MOST: usize = 128;
/// Parts of a run.
pub const PARTS: usize = 60;

/// A port that was in XOFF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xoff {
    /// Name of the port, `L1>S1`; a host's port has the host's name.
    pub port: String,
    /// Where it sends: `hosts`, or from one level of switches to another, `level 1 to 2`. Level 1 has hosts.
    pub tier: String,
    /// Name of the class, where the run has several: its own XOFF, or `all classes` where XOFFs by class were not all kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Share of each sixtieth of the run that it was in XOFF, whole per cent, rounded up.
    pub percent: Vec<u8>,
}

impl Xoff {
    /// Heading of its rows: where it sends, and of which class.
    pub fn heading(&self) -> String {
        if self.class.is_empty() { self.tier.clone() } else { format!("{}, {}", self.tier, self.class) }
    }
}

/// The ports that were in XOFF, from those that send towards hosts up to the hosts themselves: the way on which XOFF spreads. Of
/// several classes each has its rows.
pub fn spread(settings: &Settings, out: &Outcome) -> Vec<Xoff> {
    let part = (out.duration.as_ps() / PARTS as u64).max(1);
    let hosts = settings.hosts() as u32;
    let (wiring, classes) = (&settings.wiring, &settings.classes.list);
    let level = levels(wiring);
    let apart = classes.len() > 1 && settings.keeps_pauses() && out.recorded.pauses.left_out == 0;
    // Time in each part of the run, ps, by class and port.
    let mut parts: BTreeMap<(usize, (NodeId, u16)), Vec<u64>> = BTreeMap::new();
    for x in out.recorded.pauses.xoffs.iter().filter(|_| apart) {
        let own = parts.entry((x.class.into(), x.stopped)).or_insert_with(|| vec![0; PARTS]);
        let (mut at, until) = (x.from.as_ps(), x.until.as_ps().min(part * PARTS as u64));
        while at < until {
            let end = ((at / part + 1) * part).min(until);
            own[(at / part) as usize] += end - at;
            at = end;
        }
    }
    let ends = || wiring.links.iter().flat_map(|l| [(l.a, l.b), (l.b, l.a)]);
    for (from, _) in ends().filter(|_| !apart) {
        let all = match from.0.0.checked_sub(hosts) {
            None => out.hosts.get(from.0.0 as usize).map(|h| &h.pause.by_part),
            Some(s) => out.switches.get(s as usize).and_then(|s| s.paused_by_part.get(usize::from(from.1))),
        };
        parts.extend(all.map(|all| ((0, from), all.clone())));
    }
    let far: BTreeMap<(NodeId, u16), (NodeId, u16)> = ends().collect();
    let mut found: Vec<_> = parts.into_iter().filter(|(_, parts)| parts.iter().any(|v| *v > 0)).collect();
    found.sort_by_key(|(_, parts)| std::cmp::Reverse(parts.iter().sum::<u64>()));
    found.truncate(MOST);
    let to = |at: &(NodeId, u16)| far.get(at).map_or(at.0, |end| end.0);
    let tier_of = |at: &(NodeId, u16)| tier(level[at.0.0 as usize], level[to(at).0 as usize]);
    found.sort_by_key(|((class, at), _)| (*class, rank(&tier_of(at)), *at, to(at)));
    let kept = |((class, at), parts): ((usize, (NodeId, u16)), Vec<u64>)| Xoff {
        port: if at.0.0 < hosts { wiring.name(at.0).into() } else { wiring.port_name(at) },
        tier: tier_of(&at),
        class: match classes.get(class).filter(|_| classes.len() > 1) {
            None => String::new(),
            Some(own) if apart => format!("class {}", own.name),
            Some(_) => "all classes".into(),
        },
        percent: parts.iter().map(|v| (v * 100).div_ceil(part).min(100) as u8).collect(),
    };
    found.into_iter().map(kept).collect()
}

fn tier(from: u32, to: u32) -> String {
    if from == 0 { "hosts".into() } else { format!("level {from} to {to}") }
}

/// Place of a tier on the way on which XOFF spreads: down to hosts, across, up, hosts.
fn rank(tier: &str) -> i64 {
    let level = |word: &str| word.parse::<i64>().ok();
    let mut words = tier.split(' ').filter_map(level);
    match (words.next(), words.next()) {
        (Some(a), Some(b)) if a > b => a,
        (Some(a), Some(b)) if a == b => 1000,
        (Some(a), _) => 2000 - a,
        _ => 2000,
    }
}

/// The ports that were in XOFF in any of these runs, each with class and heading, in the same order; of many those that were longest.
pub fn ports<'a>(runs: impl Iterator<Item = &'a [Xoff]>) -> Vec<(&'a str, &'a str, String)> {
    let mut all: BTreeMap<(&str, &str), (&Xoff, u64)> = BTreeMap::new();
    for x in runs.flatten() {
        let sum = x.percent.iter().map(|p| u64::from(*p)).sum::<u64>();
        all.entry((&x.port, &x.class)).or_insert((x, 0)).1 += sum;
    }
    let mut all: Vec<(&Xoff, u64)> = all.into_values().collect();
    all.sort_by_key(|x| std::cmp::Reverse(x.1));
    all.truncate(MOST);
    // `S2` stands before `S10`.
    let natural = |port: &str| -> Vec<(u64, String)> {
        let parts = port.split_inclusive(|c: char| !c.is_ascii_digit());
        parts
            .map(|p| {
                (
                    p.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0),
                    p.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned(),
                )
            })
            .collect()
    };
    all.sort_by_key(|(x, _)| (x.class.clone(), rank(&x.tier), natural(&x.port)));
    all.into_iter().map(|(x, _)| (x.port.as_str(), x.class.as_str(), x.heading())).collect()
}

/// Distance of each node from the hosts, in links.
fn levels(wiring: &Wiring) -> Vec<u32> {
    let hosts = wiring.hosts.len();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); hosts + wiring.switches.len()];
    for l in &wiring.links {
        let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
        near[a].push(b);
        near[b].push(a);
    }
    let mut level = vec![u32::MAX; near.len()];
    level[..hosts].fill(0);
    let mut next: VecDeque<usize> = (0..hosts).collect();
    while let Some(n) = next.pop_front() {
        for &m in &near[n] {
            if level[m] == u32::MAX {
                level[m] = level[n] + 1;
                next.push_back(m);
            }
        }
    }
    level
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use cnsim_fabric::{HostOutcome, SwitchOutcome};
    use cnsim_scenario::Scenario;
    use cnsim_scheme_api::Time;

    /// Two leaves of two hosts under two spines: H0 and H1 at L1, H2 and H3 at L2.
    #[test]
    fn ports_stand_in_the_order_in_which_xoff_spreads() {
        let text = "name = \"t\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nper_switch = 2\n[run]\nduration = \"60 us\"\n";
        let scenario = Scenario::parse("t.toml", text, &[]).unwrap();
        let settings = scenario.ready(&scenario.cases()[0]).unwrap().settings;
        let (wiring, us) = (&settings.wiring, 1_000_000);
        let mut hosts = vec![HostOutcome::default(); 4];
        hosts[2].pause.by_part = vec![us; 60];
        let ports = |s: usize| vec![Vec::new(); usize::from(wiring.switches[s].1)];
        let mut switches: Vec<SwitchOutcome> = (0..wiring.switches.len())
            .map(|s| SwitchOutcome { paused_by_part: ports(s), ..SwitchOutcome::default() })
            .collect();
        for (name, ps) in [("L2>S2", 1), ("L2>S1", us / 2), ("S1>L1", us / 4 + 1), ("S2>L1", 0)] {
            let (node, port) = wiring.port(name).unwrap();
            let mut parts = vec![0; 60];
            parts[7] = ps;
            switches[node.0 as usize - 4].paused_by_part[usize::from(port)] = parts;
        }
        let out = Outcome { duration: Time::from_us(60), hosts, switches, ..Outcome::default() };
        let all = spread(&settings, &out);
        let seen: Vec<(&str, &str, u8, u8)> =
            all.iter().map(|x| (x.port.as_str(), x.tier.as_str(), x.percent[6], x.percent[7])).collect();
        let want = [
            ("S1>L1", "level 2 to 1", 0, 26),
            ("L2>S1", "level 1 to 2", 0, 50),
            ("L2>S2", "level 1 to 2", 0, 1),
            ("H2", "hosts", 100, 100),
        ];
        assert_eq!(seen, want);
        let other =
            Xoff { port: "L10>S1".into(), tier: "level 1 to 2".into(), percent: vec![1], ..Xoff::default() };
        let other = [other];
        let both = [&all[..], &other[..]].into_iter();
        let names: Vec<&str> = super::ports(both).iter().map(|p| p.0).collect();
        assert_eq!(names, ["S1>L1", "L2>S1", "L2>S2", "L10>S1", "H2"]);
    }
}
