//! Whose a finite flow is: which `[[traffic]]` table's name each flow of a run has.

use cnsim_scenario::settings::Settings;
use cnsim_scenario::workload::{Permutations, SourcePlan};
use cnsim_scheme_api::Time;
use std::collections::BTreeMap;

/// Receiver, start and bytes on the link of a finite flow. In these the flows of a host differ.
type Which = (usize, Time, u64);

/// The finite flows of a host.
#[derive(Debug)]
enum Owned {
    /// All are of one name.
    Alike(u64),
    /// Each flow's own name. Flows without a difference have all their names, in the order of the tables.
    Each(BTreeMap<Which, u64>, BTreeMap<Which, Vec<u64>>),
}

/// Which name each finite flow of a run has.
#[derive(Debug, Default)]
pub struct Owners {
    /// The names, in the order of the tables.
    pub names: Vec<String>,
    /// By host; empty if no table has a name.
    hosts: Vec<Owned>,
}

impl Owners {
    /// Those of the run of a seed.
    pub fn new(settings: &Settings, seed: u64) -> Self {
        let names = names(settings);
        if names.is_empty() {
            return Self::default();
        }
        let mut permutations = Permutations::default();
        let mut hosts = Vec::with_capacity(settings.hosts());
        for h in 0..settings.hosts() {
            let plans = settings.plans(h);
            let finite = || plans.iter().enumerate().filter(|p| p.1.finite());
            let first = finite().next().map_or(0, |p| place(&names, p.1));
            if finite().all(|p| place(&names, p.1) == first) {
                hosts.push(Owned::Alike(first));
                continue;
            }
            let mut each: BTreeMap<Which, u64> = BTreeMap::new();
            let mut twins: BTreeMap<Which, Vec<u64>> = BTreeMap::new();
            for (i, plan) in finite() {
                let name = place(&names, plan);
                for t in plan.spec(h, i, seed, &mut permutations).transfers {
                    let which = (t.dst.0 as usize, t.start, t.bytes.get());
                    if let Some(first) = each.insert(which, name) {
                        twins.entry(which).or_insert_with(|| vec![first]).push(name);
                    }
                }
            }
            hosts.push(Owned::Each(each, twins));
        }
        Self { names, hosts }
    }

    /// For the flows of a run, each asked for once.
    pub fn roll(&self) -> Roll<'_> {
        Roll { owners: self, seen: BTreeMap::new() }
    }
}

/// Names of the flows of a run, in order of request. Of flows without a difference, the first one gets the name of the first
/// table.
#[derive(Debug)]
pub struct Roll<'a> {
    owners: &'a Owners,
    /// Of such flows, how many were asked for.
    seen: BTreeMap<(usize, Which), usize>,
}

impl Roll<'_> {
    /// Place of the name of the next such flow of host `src` among the names, from 1; 0 if its table has none.
    pub fn next(&mut self, src: usize, which: Which) -> u64 {
        match self.owners.hosts.get(src) {
            None => 0,
            Some(Owned::Alike(name)) => *name,
            Some(Owned::Each(all, twins)) => {
                let Some(names) = twins.get(&which) else { return all.get(&which).copied().unwrap_or(0) };
                let seen = self.seen.entry((src, which)).or_default();
                *seen += 1;
                names.get(*seen - 1).copied().unwrap_or(0)
            }
        }
    }
}

/// The names of a scenario's traffic, in the order of its tables.
fn names(settings: &Settings) -> Vec<String> {
    let mut tables: BTreeMap<usize, &str> = BTreeMap::new();
    for plan in (0..settings.hosts()).flat_map(|h| settings.plans(h)) {
        tables.extend(plan.name());
    }
    let mut names: Vec<String> = Vec::new();
    for name in tables.into_values() {
        if !names.iter().any(|n| n == name) {
            names.push(name.into());
        }
    }
    names
}

/// Place of a plan's name, from 1; 0 without a name.
pub(crate) fn place(names: &[String], plan: &SourcePlan) -> u64 {
    let at = plan.name().and_then(|(_, name)| names.iter().position(|n| n == name));
    at.map_or(0, |at| at as u64 + 1)
}
