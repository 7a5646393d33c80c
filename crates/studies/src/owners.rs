//! Whose a finite flow is: which `[[traffic]]` table's name each flow of a run has.

use crate::settings::Settings;
use crate::workload::{Permutations, SourcePlan};
use cnsim_scheme_api::Time;
use std::collections::BTreeMap;

/// Receiver, start and bytes on the link of a finite flow: what tells the flows of a host apart.
type Which = (usize, Time, u64);

/// The finite flows of a host.
#[derive(Debug)]
enum Owned {
    /// All are of one name.
    Alike(u64),
    /// Each of its own.
    Each(BTreeMap<Which, u64>),
}

/// Which name each finite flow of a run has.
#[derive(Debug, Default)]
pub struct Owners {
    /// The names, in the order of the tables.
    pub names: Vec<String>,
    /// By host; empty where no table has a name.
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
            let mut each = BTreeMap::new();
            for (i, plan) in finite() {
                for t in plan.spec(h, i, seed, &mut permutations).transfers {
                    each.entry((t.dst.0 as usize, t.start, t.bytes.get())).or_insert(place(&names, plan));
                }
            }
            hosts.push(Owned::Each(each));
        }
        Self { names, hosts }
    }

    /// Place of the name of a flow of host `src` among the names, from 1; 0 where its table has none.
    pub fn of(&self, src: usize, which: Which) -> u64 {
        match self.hosts.get(src) {
            None => 0,
            Some(Owned::Alike(name)) => *name,
            Some(Owned::Each(all)) => all.get(&which).copied().unwrap_or(0),
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
