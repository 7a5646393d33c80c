//! What links are offered on average over the run, beside what they carry.

use super::Settings;
use super::estimate::{Way, breadth};
use crate::workload::SourcePlan;
use cnsim_scheme_api::NodeId;
use cnsim_units::Rate;
use std::collections::BTreeMap;

/// A switch port that is offered more than its link carries, over the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Overload {
    /// The port: `S1>L1`.
    pub port: String,
    /// Offered, and carried, bit/s.
    pub offered: f64,
    /// Rate of its link, bit/s.
    pub carries: f64,
}

/// Share above what a link carries that is no rounding, nor chance of what a seed draws.
const MORE: f64 = 1.02;
/// Hosts that one table may address singly; those of larger tables are taken as all alike.
const SINGLY: usize = 4096;

impl Settings {
    /// Ports whose link is offered more than it carries, the worst first. Traffic is spread evenly over the shortest paths. Sources
    /// that send as fast as they may offer no rate, so they do not count.
    pub fn overloads(&self) -> Vec<Overload> {
        let hosts = self.hosts();
        let seat = |h: usize| (self.wiring.feeder(h).0.0 as usize).checked_sub(hosts);
        let mut to_host = vec![0.0; hosts];
        // By switch of the destination: rate that each switch's hosts send there.
        let mut amounts: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let ways = self.ways();
        // Of tables whose sources send to all other hosts alike: rate from each host, and from each switch's hosts.
        let (mut alike, mut from_switch) = (vec![0.0; hosts], vec![0.0; ways.len()]);
        for (h, alike) in alike.iter_mut().enumerate() {
            let line = self.wiring.access(h).map_or(Rate::ZERO, |l| l.rate);
            for plan in self.plans(h).iter().filter(|p| !p.greedy()) {
                let goals = self.goals_of(h, plan);
                let rate = self.mean_offer(h, plan, line) / goals.len().max(1) as f64;
                if goals.len() + 1 == hosts && plan.transfers().is_empty() {
                    *alike += rate;
                    seat(h).into_iter().for_each(|s| from_switch[s] += rate);
                    continue;
                }
                for (to, weight) in goals {
                    let (Some(from), Some(at)) = (seat(h), seat(to)) else { continue };
                    to_host[to] += rate * weight;
                    amounts.entry(at).or_insert_with(|| vec![0.0; ways.len()])[from] += rate * weight;
                }
            }
        }
        let all_alike: f64 = alike.iter().sum();
        if all_alike > 0.0 {
            for h in 0..hosts {
                to_host[h] += all_alike - alike[h];
                let Some(at) = seat(h) else { continue };
                let amount = amounts.entry(at).or_insert_with(|| vec![0.0; ways.len()]);
                amount.iter_mut().zip(&from_switch).for_each(|(a, rate)| *a += rate);
            }
        }
        // Where all of it together fits any link, none is overloaded.
        let least = self.wiring.links.iter().map(|l| l.rate.bps()).fold(f64::INFINITY, f64::min);
        if to_host.iter().sum::<f64>() <= least {
            return Vec::new();
        }
        let mut load = vec![0.0; 2 * self.wiring.links.len()];
        for (to, mut amount) in amounts {
            let (order, dist) = breadth(&ways, to);
            for &s in order.iter().rev().filter(|s| **s != to) {
                let nearer: Vec<&Way> = ways[s].iter().filter(|w| dist[w.to] + 1 == dist[s]).collect();
                for w in &nearer {
                    load[w.index] += amount[s] / nearer.len() as f64;
                    amount[w.to] += amount[s] / nearer.len() as f64;
                }
            }
        }
        let mut all: Vec<Overload> = Vec::new();
        let mut add = |end: (NodeId, u16), offered: f64, carries: f64| {
            if offered > MORE * carries {
                all.push(Overload { port: self.wiring.port_name(end), offered, carries });
            }
        };
        for (i, l) in self.wiring.links.iter().enumerate() {
            add(l.a, load[2 * i], l.rate.bps());
            add(l.b, load[2 * i + 1], l.rate.bps());
        }
        for (h, offered) in to_host.iter().enumerate() {
            add(self.wiring.feeder(h), *offered, self.wiring.access(h).map_or(0.0, |l| l.rate.bps()));
        }
        all.sort_by(|a, b| (b.offered / b.carries).total_cmp(&(a.offered / a.carries)));
        all
    }

    /// Rate that a table offers at a host, mean over the run, bit/s.
    fn mean_offer(&self, host: usize, plan: &SourcePlan, line: Rate) -> f64 {
        let whole = self.duration;
        let (begin, end) = plan.span();
        let on = match plan.transfers() {
            [] => end.min(whole).saturating_sub(begin).as_secs_f64() / whole.as_secs_f64(),
            _ => 1.0,
        };
        self.offered_of(host, plan, line) * on
    }

    /// Where a table sends from a host: each destination with its weight, 1 on average.
    fn goals_of(&self, host: usize, plan: &SourcePlan) -> Vec<(usize, f64)> {
        if !plan.transfers().is_empty() {
            let shares = plan.shares_of_transfers();
            let n = shares.len() as f64;
            return shares.into_iter().map(|(to, share)| (to, share * n)).collect();
        }
        let mut to = plan.receivers(self.hosts());
        to.retain(|n| *n != host);
        if to.len() > SINGLY {
            to = to.into_iter().step_by(self.hosts().div_ceil(SINGLY)).collect();
        }
        to.into_iter().map(|n| (n, 1.0)).collect()
    }
}
