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
    /// Share of each sixtieth of the run that it was in XOFF, whole per cent, rounded up.
    pub percent: Vec<u8>,
}

/// The ports that were in XOFF, from those that send towards hosts up to the hosts themselves: the way on which XOFF spreads.
pub fn spread(settings: &Settings, out: &Outcome) -> Vec<Xoff> {
    let part = out.duration.as_ps() / PARTS as u64;
    let hosts = settings.hosts() as u32;
    let wiring = &settings.wiring;
    let level = levels(wiring);
    let mut found: Vec<(u64, (NodeId, u16), &[u64], String)> = Vec::new();
    for (from, to) in wiring.links.iter().flat_map(|l| [(l.a, l.b), (l.b, l.a)]) {
        let parts = match from.0.0.checked_sub(hosts) {
            None => out.hosts.get(from.0.0 as usize).map(|h| &h.paused_by_part),
            Some(s) => out.switches.get(s as usize).and_then(|s| s.paused_by_part.get(usize::from(from.1))),
        };
        let Some(parts) = parts.filter(|p| p.iter().any(|v| *v > 0)) else { continue };
        let (a, b) = (level[from.0.0 as usize], level[to.0.0 as usize]);
        found.push((parts.iter().sum(), from, parts, tier(a, b)));
    }
    found.sort_by_key(|f| std::cmp::Reverse(f.0));
    found.truncate(MOST);
    found.sort_by_key(|f| (rank(&f.3), f.1));
    let kept = |(_, at, parts, tier): (u64, (NodeId, u16), &[u64], String)| Xoff {
        port: if at.0.0 < hosts { wiring.name(at.0).into() } else { wiring.port_name(at) },
        tier,
        percent: parts.iter().map(|v| (v * 100).div_ceil(part.max(1)).min(100) as u8).collect(),
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

/// The ports that were in XOFF in any of these runs, each with its tier, in the same order; of many those that were longest.
pub fn ports<'a>(runs: impl Iterator<Item = &'a [Xoff]>) -> Vec<(&'a str, &'a str)> {
    let mut all: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for x in runs.flatten() {
        all.entry(&x.port).or_insert((&x.tier, 0)).1 += x.percent.iter().map(|p| u64::from(*p)).sum::<u64>();
    }
    let mut all: Vec<(&str, (&str, u64))> = all.into_iter().collect();
    all.sort_by_key(|x| std::cmp::Reverse(x.1.1));
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
    all.sort_by_key(|x| (rank(x.1.0), natural(x.0)));
    all.into_iter().map(|(port, (tier, _))| (port, tier)).collect()
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
        hosts[2].paused_by_part = vec![us; 60];
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
        let other = Xoff { port: "L10>S1".into(), tier: "level 1 to 2".into(), percent: vec![1] };
        let other = [other];
        let both = [&all[..], &other[..]].into_iter();
        let names: Vec<&str> = super::ports(both).iter().map(|p| p.0).collect();
        assert_eq!(names, ["S1>L1", "L2>S1", "L2>S2", "L10>S1", "H2"]);
    }
}
