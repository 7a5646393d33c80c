//! Whose a finite flow is: which `[[traffic]]` table's name each flow of a run has.

use cnsim_fabric::{Transfer, numbered};
use cnsim_scenario::settings::Settings;
use cnsim_scenario::workload::{Permutations, SourcePlan};
use std::collections::BTreeMap;

/// The finite flows of a host.
#[derive(Debug)]
enum Owned {
    /// All are of one name.
    Alike(u64),
    /// By receiver and number of the flow among those of the pair, each flow's own name.
    Each(BTreeMap<usize, Vec<u64>>),
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
    /// Owners of the flows in the run of a seed.
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
            let lists: Vec<(usize, Vec<Transfer>)> =
                finite().map(|(i, plan)| (i, plan.spec(h, i, seed, &mut permutations).transfers)).collect();
            let mut each: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
            for (i, flow, nth) in numbered(lists.iter().map(|(i, list)| (*i, &list[..]))) {
                let of_pair = each.entry(flow.dst.0 as usize).or_default();
                // A flow of 0 bytes leaves its number to the next one.
                of_pair.truncate(nth as usize);
                of_pair.push(place(&names, &plans[i]));
            }
            hosts.push(Owned::Each(each));
        }
        Self { names, hosts }
    }

    /// Place of the name of a flow among the names, from 1; 0 if its table has none.
    pub fn of(&self, src: usize, dst: usize, nth: u32) -> u64 {
        match self.hosts.get(src) {
            None => 0,
            Some(Owned::Alike(name)) => *name,
            Some(Owned::Each(all)) => all.get(&dst).and_then(|of| of.get(nth as usize)).copied().unwrap_or(0),
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
