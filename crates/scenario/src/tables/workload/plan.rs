//! The sources of a host, as a table of traffic describes them.

use super::drawn::{self, Drawn};
use crate::flows::Framing;
use cnsim_fabric::{Arrivals, Destinations, Phase, SourceSpec, Transfer};
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A source of one host, without the draws of a seed.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    pub(super) arrivals: Arrivals,
    /// Where it sends, but for permutations and transfers.
    pub(crate) destinations: Destinations,
    /// Destinations are a permutation drawn by the seed: the hosts that take part, shared by the plans of a table.
    pub(super) permutation: Option<Arc<Vec<usize>>>,
    /// Length of its frames.
    pub frame: Bytes,
    pub(super) start: Time,
    pub(super) stop: Time,
    pub(crate) phase: Phase,
    /// On-off periods start at a random point, drawn per host.
    pub(super) random_offset: bool,
    /// Finite transfers that a table lists.
    pub transfers: Vec<Transfer>,
    /// Finite flows that the seed draws.
    pub(super) drawn: Option<Arc<Drawn>>,
    /// Headers and payload of its frames.
    pub framing: Framing,
    /// Flows of the source to one destination are messages on one connection.
    pub(crate) connected: bool,
    /// Rate at which its queue pairs begin.
    pub(super) initial_rate: Option<Rate>,
    /// Moment of the clock of a list of transfers at which the run begins.
    pub(crate) origin: Time,
    /// Number of its class.
    pub(super) class: u8,
    /// Number and name of its table.
    pub(super) name: Option<(usize, Arc<str>)>,
}

/// Changes that queue pairs make to finite flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paired {
    /// Bytes of telemetry, or of a time stamp, on each data frame.
    pub telemetry: Bytes,
    /// The scheme takes the rate at which a flow begins.
    pub(crate) begins: bool,
}

/// Hosts that a source may send to.
#[derive(Clone, Copy, Debug)]
pub enum Receivers<'a> {
    /// All hosts.
    All,
    /// One alone.
    One(usize),
    /// A list that all sources of a table have in common.
    Shared(&'a [usize]),
    /// A list of its own.
    Own(&'a [NodeId]),
}

impl Receivers<'_> {
    /// Is this host among them?
    pub fn have(self, host: usize) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one == host,
            Self::Shared(all) => all.contains(&host),
            Self::Own(all) => all.contains(&NodeId(host as u32)),
        }
    }
}

impl SourcePlan {
    /// Number and name of its `[[traffic]]` table, if it has a name.
    pub fn name(&self) -> Option<(usize, &str)> {
        self.name.as_ref().map(|(table, name)| (*table, &**name))
    }

    /// The source of host `host` in the run of a seed.
    pub fn spec(&self, host: usize, index: usize, seed: u64, permutations: &mut Permutations) -> SourceSpec {
        let mut arrivals = self.arrivals;
        if let (Arrivals::OnOff { on, off, .. }, true) = (arrivals, self.random_offset) {
            let site = host as u64 | (index as u64) << 32 | 1 << 48;
            let shift = Stream::new(seed, site, Purpose::Phase).below((on + off).as_ps());
            arrivals = Arrivals::OnOff { on, off, shift: Time::from_ps(shift) };
        }
        let machine = self.drawn.as_ref().map_or(host, |drawn| drawn.nics(host).start);
        let permuted = self.permutation.as_ref().and_then(|hosts| permutations.of(hosts, machine, seed));
        let destinations = match permuted {
            Some(to) => Destinations::Fixed(NodeId(to as u32)),
            None => self.destinations.clone(),
        };
        let goal = permuted.or_else(|| self.goal());
        SourceSpec {
            initial_rate: self.initial_rate,
            arrivals,
            destinations,
            frame: self.frame,
            floor: Bytes::new(self.framing.floor),
            start: self.start,
            stop: self.stop,
            phase: self.phase,
            transfers: match &self.drawn {
                Some(drawn) => drawn.transfers(host, goal, seed, &mut permutations.drawn),
                None => self.transfers.clone(),
            },
            connected: self.connected,
            class: self.class,
        }
    }

    /// Rate that it offers on an access link of `line`.
    pub fn offered(&self, host: usize, line: Rate, duration: Time) -> Rate {
        if let Some(drawn) = &self.drawn {
            return Rate::from_bps(drawn.expected(host).1 * 8.0 / duration.as_secs_f64()).min(line);
        }
        let share = match self.arrivals {
            Arrivals::Bernoulli { load } | Arrivals::Bursts { load, .. } => load,
            Arrivals::Greedy => 1.0,
            Arrivals::OnOff { on, off, .. } => on.as_secs_f64() / (on + off).as_secs_f64(),
            Arrivals::Transfers => {
                let bits: f64 = self.transfers.iter().map(|t| t.bytes.as_f64() * 8.0).sum();
                return Rate::from_bps(bits / duration.as_secs_f64()).min(line);
            }
        };
        line * share
    }

    /// Rate that host `me` of this number of hosts offers to `hot`, or to all others, between two moments. Of transfers, those that
    /// start there count.
    pub fn offered_between(
        &self,
        line: Rate,
        (me, hot, hosts): (usize, usize, usize),
        to_hot: bool,
        (from, to): (Time, Time),
    ) -> f64 {
        let span = (to - from).as_secs_f64();
        if self.arrivals == Arrivals::Transfers && self.drawn.is_none() {
            let mine = |t: &&Transfer| {
                (t.dst.0 as usize == hot) == to_hot && (from..to).contains(&(t.start.max(self.start)))
            };
            let bits: f64 = self.transfers.iter().filter(mine).map(|t| t.bytes.as_f64() * 8.0).sum();
            return (bits / span).min(line.bps());
        }
        if self.drawn.is_some() {
            let here = self.share_to(hot, me, hosts);
            return self.offered(me, line, to).bps() * if to_hot { here } else { 1.0 - here };
        }
        let active = self.stop.min(to).saturating_sub(self.start.max(from)).as_secs_f64() / span;
        let here = self.share_to(hot, me, hosts);
        self.offered(me, line, to).bps() * active * if to_hot { here } else { 1.0 - here }
    }

    /// Share of its frames that go to a host.
    pub fn share_to(&self, host: usize, me: usize, hosts: usize) -> f64 {
        if let Some(only) = self.drawn.as_ref().and_then(|d| d.only()) {
            return if only == host { 1.0 } else { 0.0 };
        }
        match &self.destinations {
            Destinations::Uniform if host != me => 1.0 / (hosts as f64 - 1.0).max(1.0),
            Destinations::Fixed(n) if n.0 as usize == host => 1.0,
            Destinations::Among(list) if list.contains(&NodeId(host as u32)) => {
                1.0 / list.iter().filter(|n| n.0 as usize != me).count().max(1) as f64
            }
            _ => 0.0,
        }
    }

    /// The host that receives all frames under every seed, if there is one.
    fn goal(&self) -> Option<usize> {
        match self.destinations {
            Destinations::Fixed(n) => Some(n.0 as usize),
            _ => None,
        }
    }

    /// The only host that it sends to, if there is one.
    pub fn only(&self) -> Option<usize> {
        self.goal().filter(|_| !self.finite())
    }

    /// Hosts that it may send to, itself perhaps among them. Not those of listed transfers.
    pub fn receivers(&self) -> Receivers<'_> {
        match (&self.permutation, &self.drawn, &self.destinations) {
            (Some(all), ..) => Receivers::Shared(all),
            (.., Destinations::Fixed(goal)) => Receivers::One(goal.0 as usize),
            (_, Some(drawn), _) => drawn.receivers().map_or(Receivers::All, Receivers::Shared),
            (.., Destinations::Among(list)) => Receivers::Own(list),
            (.., Destinations::Uniform) => Receivers::All,
        }
    }

    /// Hosts that its finite transfers go to.
    pub fn addressed(&self) -> impl Iterator<Item = usize> {
        let drawn = self.drawn.as_ref().and_then(|d| d.only());
        let goal = self.goal().filter(|_| self.drawn.is_some());
        self.transfers.iter().map(|t| t.dst.0 as usize).chain(drawn).chain(goal)
    }

    /// Does the seed draw when, or to whom, it sends?
    pub fn is_drawn(&self) -> bool {
        if let Some(drawn) = &self.drawn {
            return drawn.by_chance() || self.permutation.is_some();
        }
        let endless = match self.arrivals {
            Arrivals::Transfers => return false,
            Arrivals::Bernoulli { .. } | Arrivals::Bursts { .. } => true,
            Arrivals::OnOff { .. } => self.random_offset,
            Arrivals::Greedy => false,
        };
        endless || self.phase == Phase::Random || self.goal().is_none()
    }

    /// Number of its class.
    pub fn class(&self) -> usize {
        self.class.into()
    }

    /// Does it send finite flows?
    pub fn finite(&self) -> bool {
        self.arrivals == Arrivals::Transfers
    }

    /// Finite flows of a host: listed, or drawn on average.
    pub(crate) fn count(&self, host: usize) -> f64 {
        self.drawn.as_ref().map_or(self.transfers.len() as f64, |d| d.expected(host).0)
    }

    /// Most frames of a finite flow.
    pub(crate) fn most_frames(&self) -> u64 {
        let listed = self.transfers.iter().map(|t| t.bytes);
        let largest = listed.chain(self.drawn.iter().map(|d| d.largest())).max().unwrap_or_default();
        largest.get().div_ceil(self.frame.get())
    }

    /// Is it on at this time? (Greedy and random ones always; on-off ones in their on periods, if these are not random.)
    pub fn on_at(&self, time: Time) -> bool {
        match self.arrivals {
            Arrivals::OnOff { on, off, shift } if !self.random_offset => {
                time >= self.start
                    && (time - self.start + shift).as_ps() % (on + off).as_ps().max(1) < on.as_ps()
            }
            _ => time >= self.start && time < self.stop,
        }
    }

    /// Greedy all the time: it offers no rate of its own.
    pub(crate) fn endless(&self) -> bool {
        self.arrivals == Arrivals::Greedy
    }

    /// Greedy, always or in turns.
    pub fn greedy(&self) -> bool {
        matches!(self.arrivals, Arrivals::Greedy | Arrivals::OnOff { .. })
    }

    /// Start and end (exclusive) of sending. The load of finite flows is spread over the whole run.
    pub(crate) fn span(&self) -> (Time, Time) {
        if self.finite() { (Time::ZERO, Time::MAX) } else { (self.start, self.stop) }
    }

    /// Mean bits of a frame.
    pub(crate) fn bits_of_frames(&self, host: usize) -> f64 {
        if let Some((n, bytes)) = self.drawn.as_ref().map(|d| d.expected(host)).filter(|e| e.0 > 0.0) {
            // The last frame of each flow is half full on average.
            let whole = self.frame.as_f64();
            return 8.0 * bytes / (bytes / whole + n * if bytes / n > whole { 0.5 } else { 0.0 }).max(n);
        }
        let whole = self.frame.as_f64();
        let bytes: f64 = self.transfers.iter().map(|t| t.bytes.as_f64()).sum();
        let frames: f64 = self.transfers.iter().map(|t| (t.bytes.as_f64() / whole).ceil()).sum();
        8.0 * if frames > 0.0 { bytes / frames } else { whole }
    }

    /// Destinations of the transfers, each with its share of their bytes.
    pub(crate) fn shares_of_transfers(&self) -> Vec<(usize, f64)> {
        let mut to: BTreeMap<usize, f64> = BTreeMap::new();
        self.transfers.iter().for_each(|t| *to.entry(t.dst.0 as usize).or_default() += t.bytes.as_f64());
        let all: f64 = to.values().sum();
        to.into_iter().map(|(n, bytes)| (n, bytes / all)).collect()
    }
}

/// Most finite flows that these sources of a host send to another one, where they are more than `most`.
pub(crate) fn flows_of_a_pair(host: usize, plans: &[SourcePlan], most: f64) -> Option<f64> {
    let all =
        |p: &SourcePlan| p.transfers.len() as f64 + p.drawn.as_ref().map_or(0.0, |d| d.most(host, None));
    if plans.iter().map(all).sum::<f64>() <= most {
        return None;
    }
    // Traffic to a host that the seed draws may go to any host.
    let (mut to, mut anywhere): (BTreeMap<usize, f64>, f64) = Default::default();
    for plan in plans {
        plan.transfers.iter().for_each(|t| *to.entry(t.dst.0 as usize).or_default() += 1.0);
        let Some(drawn) = &plan.drawn else { continue };
        match (plan.goal(), drawn.receivers().filter(|_| plan.permutation.is_none())) {
            (Some(goal), _) => *to.entry(goal).or_default() += drawn.most(host, Some(1)),
            (None, None) => anywhere += drawn.most(host, Some(1)),
            (None, Some(list)) => {
                let others = || list.iter().filter(|h| **h != host);
                let each = drawn.most(host, Some(others().count()));
                others().for_each(|h| *to.entry(*h).or_default() += each);
            }
        }
    }
    Some(anywhere + to.into_values().fold(0.0, f64::max)).filter(|flows| *flows > most)
}

/// Where a seed's permutations send the hosts that take part: random cycles, so that nobody sends to itself.
#[derive(Debug, Default)]
pub struct Permutations {
    /// The hosts of a permutation, and where each host goes.
    known: Vec<(Arc<Vec<usize>>, HashMap<usize, usize>)>,
    /// Finite flows that are drawn for all hosts of a table together.
    drawn: drawn::Cache,
}

impl Permutations {
    fn of(&mut self, hosts: &Arc<Vec<usize>>, host: usize, seed: u64) -> Option<usize> {
        if let Some((_, to)) = self.known.iter().find(|(h, _)| Arc::ptr_eq(h, hosts)) {
            return to.get(&host).copied();
        }
        let mut order: Vec<usize> = hosts.to_vec();
        let mut stream = Stream::new(seed, 1 << 50, Purpose::Phase);
        for i in (1..order.len()).rev() {
            order.swap(i, stream.below(i as u64 + 1) as usize);
        }
        let next = order.iter().cycle().skip(1);
        let to: HashMap<usize, usize> = order.iter().copied().zip(next.copied()).collect();
        let goal = to.get(&host).copied();
        self.known.push((hosts.clone(), to));
        goal
    }
}
