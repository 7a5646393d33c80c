//! Mean offered load of links over the run, beside their capacity.

use super::Settings;
use super::fluid::{Way, breadth};
use crate::tables::workload::{Receivers, SourcePlan};
use cnsim_scheme_api::{NodeId, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A switch port that is offered more than its link carries: while sources send at a rate, or over the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Overload {
    /// The port: `S1>L1`.
    pub port: String,
    /// Offered on average, bit/s.
    pub offered: f64,
    /// Rate at which its link serves on average, bit/s.
    pub carries: f64,
    /// From when to when.
    pub span: (Time, Time),
    /// Sources that offer a rate do so alone. Otherwise finite flows that begin at some moment count, too.
    pub steady: bool,
    /// From then on to the end of the run the port serves nothing.
    pub shut: Option<Time>,
}

/// Share above a link's capacity that neither rounding nor a seed's draws explain.
const MORE: f64 = 1.02;

/// Sources that send to all hosts of a list alike, but never to themselves.
struct Spread<'a> {
    /// The list; none: all hosts.
    to: Option<&'a [usize]>,
    /// By host: is it in the list?
    has: Vec<bool>,
    /// Rate to each host of the list, bit/s: from each host, from the hosts of each switch, and from all.
    from: Vec<f64>,
    from_switch: Vec<f64>,
    all: f64,
}

/// Mean offered load of the sources over the run.
struct Offered<'a> {
    /// By host: rate to it, bit/s.
    to_host: Vec<f64>,
    /// By switch of the destination: rate from the hosts of a switch.
    single: Vec<BTreeMap<usize, f64>>,
    spreads: Vec<Spread<'a>>,
    /// Of each spread, by switch: how many hosts of its list are there.
    seats: Vec<Vec<f64>>,
}

/// Receivers whose inputs are counted: those to which most is sent.
const COUNTED: usize = 8;

impl Settings {
    /// Mean rate sent to each host over the run, bit/s. A greedy source counts with the rate of its link.
    pub fn sent_to(&self) -> Vec<f64> {
        self.offered_by_plans(|_| true).to_host
    }

    /// Largest number of inputs of a switch that can fill one host's port with the given sources.
    pub fn fan_in(&self) -> usize {
        let sent = self.sent_to();
        let mut all: Vec<usize> = (0..self.hosts()).filter(|h| sent[*h] > 0.0).collect();
        all.sort_by(|a, b| sent[*b].total_cmp(&sent[*a]));
        let ways = self.ways();
        let inputs = |to: usize| {
            let seat = self.seat(to)?;
            let senders =
                (0..self.hosts()).filter(|h| *h != to && self.plans(*h).iter().any(|p| p.may_send(to)));
            let (here, there): (Vec<usize>, Vec<usize>) = senders.partition(|h| self.seat(*h) == Some(seat));
            Some(here.len() + there.len().min(ways[seat].len()))
        };
        all.into_iter().take(COUNTED).filter_map(inputs).max().unwrap_or(0)
    }

    /// Ports to hosts that a hotspot or an event slows down, though nothing is sent there.
    pub fn slowed_in_vain(&self) -> Vec<String> {
        let sent = self.sent_to();
        let slowed = |h: usize| {
            let end = self.wiring.feeder(h);
            self.hotspots.iter().any(|s| s.host == h)
                || self.events.changes.iter().any(|e| (e.node, e.port) == end)
        };
        let idle = (0..self.hosts()).filter(|h| sent[*h] == 0.0 && slowed(*h));
        idle.map(|h| self.wiring.port_name(self.wiring.feeder(h))).collect()
    }

    /// The host to which most others send with the scheme, and nowhere else, and how many they are.
    pub fn most_sent_to(&self) -> Option<(usize, usize)> {
        let mut senders = vec![0; self.hosts()];
        for h in (0..self.hosts()).filter(|h| !self.bare.0[*h]) {
            let only = |p: &SourcePlan| match (&p.transfers[..], p.receivers()) {
                ([], Receivers::One(to)) => Some(to),
                ([], Receivers::Shared([to])) => Some(*to),
                ([], Receivers::Own([to])) => Some(to.0 as usize),
                ([first, rest @ ..], _) if rest.iter().all(|t| t.dst == first.dst) => {
                    Some(first.dst.0 as usize)
                }
                _ => None,
            };
            let all: BTreeSet<usize> = self.plans(h).iter().filter_map(only).collect();
            all.into_iter().for_each(|to| senders[to] += 1);
        }
        (0..self.hosts()).map(|h| (h, senders[h])).max_by_key(|(_, n)| *n)
    }

    /// From when on a port of a switch serves nothing to the end of the run, if it does.
    fn shut(&self, end: (NodeId, u16)) -> Option<Time> {
        let of = self.events.changes.iter().filter(|e| (e.node, e.port) == end);
        of.max_by_key(|e| e.at).filter(|e| e.rate == Rate::ZERO).map(|e| e.at)
    }

    /// Rate at which a port of a switch serves, mean over a span of the run: events slow it down.
    fn carries(&self, end: (NodeId, u16), line: f64, (from, to): (Time, Time)) -> f64 {
        let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
        let mut changes: Vec<(f64, f64)> = (self.events.changes.iter().filter(|e| (e.node, e.port) == end))
            .map(|e| (e.at.as_secs_f64(), e.rate.bps()))
            .collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut bits, mut since, mut rate) = (0.0, 0.0_f64, line);
        for (at, next) in changes.into_iter().chain([(f64::INFINITY, line)]) {
            bits += rate * (at.min(to) - since.max(from)).max(0.0);
            (since, rate) = (at, next);
        }
        bits / (to - from)
    }

    /// Offered load of the sources that count.
    fn offered_by_plans(&self, counts: impl Fn(&SourcePlan) -> bool) -> Offered<'_> {
        let (hosts, ways) = (self.hosts(), self.ways());
        let mut to_host = vec![0.0; hosts];
        let mut single: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); ways.len()];
        let mut spreads: Vec<Spread<'_>> = Vec::new();
        for h in 0..hosts {
            let Some(from) = self.seat(h) else { continue };
            for plan in self.plans(h).iter().filter(|p| counts(p)) {
                let rate = self.mean_offer(h, plan);
                let mut send = |to: usize, rate: f64| {
                    to_host[to] += rate;
                    let at = self.seat(to).map(|at| single[at].entry(from).or_default());
                    at.into_iter().for_each(|sum| *sum += rate);
                };
                let list = match plan.receivers() {
                    _ if !plan.transfers.is_empty() => {
                        plan.shares_of_transfers().iter().for_each(|(to, share)| send(*to, rate * share));
                        continue;
                    }
                    Receivers::One(to) => {
                        send(to, rate);
                        continue;
                    }
                    Receivers::Own(list) => {
                        list.iter().for_each(|to| send(to.0 as usize, rate / list.len() as f64));
                        continue;
                    }
                    Receivers::All => None,
                    Receivers::Shared(list) => Some(list),
                };
                let same = |s: &Spread<'_>| match (s.to, list) {
                    (Some(a), Some(b)) => std::ptr::eq(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
                let at = spreads.iter().position(same).unwrap_or_else(|| {
                    let (from, from_switch) = (vec![0.0; hosts], vec![0.0; ways.len()]);
                    let mut has = vec![list.is_none(); hosts];
                    list.unwrap_or_default().iter().for_each(|to| has[*to] = true);
                    spreads.push(Spread { to: list, has, from, from_switch, all: 0.0 });
                    spreads.len() - 1
                });
                let spread = &mut spreads[at];
                let others = list.map_or(hosts, <[usize]>::len) - usize::from(spread.has[h]);
                let each = rate / others.max(1) as f64;
                spread.from[h] += each;
                spread.from_switch[from] += each;
                spread.all += each;
            }
        }
        let mut seats: Vec<Vec<f64>> = vec![vec![0.0; ways.len()]; spreads.len()];
        for (s, seats) in spreads.iter().zip(&mut seats) {
            let mut goes = |to: usize| {
                to_host[to] += s.all - s.from[to];
                self.seat(to).into_iter().for_each(|at| seats[at] += 1.0);
            };
            match s.to {
                None => (0..hosts).for_each(goes),
                Some(list) => list.iter().for_each(|to| goes(*to)),
            }
        }
        Offered { to_host, single, spreads, seats }
    }

    /// Ports whose link is offered more than it carries, the worst first: by sources with a rate while they send, else by all over the
    /// whole run. Traffic is spread evenly over the shortest paths. Sources that always send as fast as they may offer no rate, so
    /// they do not count.
    pub fn overloads(&self) -> Vec<Overload> {
        let plans = || self.traffic.plans.iter().flatten();
        let spans = || plans().filter_map(|p| p.sends_from(self.duration));
        let sending = spans().map(|s| s.0).min().zip(spans().map(|s| s.1).max()).filter(|s| s.0 < s.1);
        let steady = |p: &SourcePlan| p.sends_from(self.duration).is_some();
        let mut all = sending.map_or_else(Vec::new, |span| self.overloads_in(span, true, steady));
        let whole = self.overloads_in((Time::ZERO, self.duration), false, |p| !p.endless());
        for port in whole {
            if !all.iter().any(|known| known.port == port.port) {
                all.push(port);
            }
        }
        all.sort_by(|a, b| (b.offered * a.carries).total_cmp(&(a.offered * b.carries)));
        all
    }

    /// Overloaded ports by the sources that count, with all that they offer in a span of the run.
    fn overloads_in(
        &self,
        span: (Time, Time),
        steady: bool,
        counts: impl Fn(&SourcePlan) -> bool,
    ) -> Vec<Overload> {
        let ways = self.ways();
        let denser = self.duration.as_secs_f64() / (span.1 - span.0).as_secs_f64();
        let Offered { mut to_host, mut single, mut spreads, seats } = self.offered_by_plans(counts);
        to_host
            .iter_mut()
            .chain(single.iter_mut().flat_map(BTreeMap::values_mut))
            .for_each(|rate| *rate *= denser);
        spreads.iter_mut().flat_map(|s| &mut s.from_switch).for_each(|rate| *rate *= denser);
        // Where all of it together fits any link, none is overloaded.
        let lines = self.wiring.links.iter().flat_map(|l| [(l.a, l.rate.bps()), (l.b, l.rate.bps())]);
        let least = lines.map(|(end, line)| self.carries(end, line, span)).fold(f64::INFINITY, f64::min);
        if to_host.iter().sum::<f64>() <= least {
            return Vec::new();
        }
        let mut load = vec![0.0; 2 * self.wiring.links.len()];
        for to in 0..ways.len() {
            let mut amount = vec![0.0; ways.len()];
            single[to].iter().for_each(|(from, rate)| amount[*from] += rate);
            for (s, seats) in spreads.iter().zip(&seats).filter(|(_, seats)| seats[to] > 0.0) {
                amount.iter_mut().zip(&s.from_switch).for_each(|(a, rate)| *a += rate * seats[to]);
            }
            if amount.iter().all(|a| *a == 0.0) {
                continue;
            }
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
        let mut add = |end: (NodeId, u16), offered: f64, line: f64| {
            let carries = self.carries(end, line, span);
            if offered > MORE * carries {
                let (port, shut) = (self.wiring.port_name(end), self.shut(end));
                all.push(Overload { port, offered, carries, span, steady, shut });
            }
        };
        for (i, l) in self.wiring.links.iter().enumerate() {
            add(l.a, load[2 * i], l.rate.bps());
            add(l.b, load[2 * i + 1], l.rate.bps());
        }
        for (h, offered) in to_host.iter().enumerate() {
            add(self.wiring.feeder(h), *offered, self.wiring.access(h).map_or(0.0, |l| l.rate.bps()));
        }
        all
    }
}
