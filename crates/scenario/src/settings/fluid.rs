//! Traffic of a network as a fluid: it is spread over the shortest paths, and each link lets a share of it through.

use std::collections::{HashMap, VecDeque};

/// Fate of traffic above the rate of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// The traffic travels as far as that link and is lost there.
    Lost,
    /// The traffic is held back at its source, flow by flow.
    HeldByFlow,
    /// Everything that its source sends is held back.
    HeldBySource,
}

/// Rounds after which the shares that links let through have settled.
const ROUNDS: usize = 4;

/// Offered traffic.
#[derive(Debug, Default)]
pub(super) struct Demand {
    /// Rate from each switch's hosts to all hosts alike, bit/s.
    pub(super) uniform: Vec<f64>,
    /// Rate at which each host sends to all others alike, bit/s.
    pub(super) alike: Vec<f64>,
    /// Rate from a switch's hosts to one host, bit/s.
    pub(super) fixed: HashMap<(usize, usize), f64>,
    /// Rate to each host, bit/s.
    pub(super) to_host: Vec<f64>,
    /// Sum of all, bit/s and frames/s.
    pub(super) bits: f64,
    pub(super) frames: f64,
    /// Mean time at which sources begin, weighted by their bits, s.
    pub(super) begin: f64,
    /// Finite transfers, in all.
    pub(super) transfers: f64,
    /// Pairs of hosts between which there is traffic.
    pub(super) flows: f64,
}

/// A link between switches, in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) to: usize,
    pub(super) rate: f64,
    pub(super) index: usize,
}

/// Switches by their distance from one of them, and the distance of each.
pub(super) type Tree = (Vec<usize>, Vec<u32>);

/// Traffic of a network as a fluid, towards the switches that are followed.
pub(super) struct Fluid<'a> {
    pub(super) demand: &'a Demand,
    pub(super) ways: &'a [Vec<Way>],
    /// Rate at which each host's port serves, bit/s.
    pub(super) down: Vec<f64>,
    /// Hosts of each switch.
    pub(super) of_switch: Vec<Vec<usize>>,
    /// Switches that are followed, and how many each stands for.
    pub(super) followed: Vec<usize>,
    pub(super) scale: f64,
    /// By switch, what single hosts there are sent: switch of the sender, host, bit/s.
    pub(super) towards: HashMap<usize, Vec<(usize, usize, f64)>>,
    /// By switch that is followed.
    pub(super) trees: Vec<Tree>,
    /// Shares that links between switches, and ports of hosts, let through.
    pub(super) pass: Vec<f64>,
    pub(super) pass_down: Vec<f64>,
}

impl Fluid<'_> {
    fn others(&self) -> f64 {
        (self.down.len() as f64 - 1.0).max(1.0)
    }

    fn fixed(&self, switch: usize) -> &[(usize, usize, f64)] {
        self.towards.get(&switch).map_or(&[], Vec::as_slice)
    }

    /// Bits that finish a link a second where what a link cannot carry is lost there, and the load of each link, bit/s. Finds the shares
    /// that links let through.
    pub(super) fn settle(&mut self) -> (f64, Vec<f64>) {
        let (demand, ways, others, scale) = (self.demand, self.ways, self.others(), self.scale);
        let mut found = (0.0, Vec::new());
        for _ in 0..ROUNDS {
            let mut load = vec![0.0; self.pass.len()];
            let mut hops = 0.0;
            for (t, (order, dist)) in self.followed.iter().zip(&self.trees) {
                let hosts = &self.of_switch[*t];
                let share = hosts.len() as f64 / others;
                let mut amount: Vec<f64> = demand.uniform.iter().map(|u| u * share).collect();
                amount[*t] -= hosts.iter().map(|h| demand.alike[*h] / others).sum::<f64>();
                self.fixed(*t).iter().for_each(|(s, _, rate)| amount[*s] += rate);
                let sent: f64 = amount.iter().sum();
                for &s in order.iter().rev().filter(|s| *s != t) {
                    let nearer = || ways[s].iter().filter(|w| dist[w.to] + 1 == dist[s]);
                    let part = amount[s] / nearer().count().max(1) as f64;
                    for w in nearer() {
                        load[w.index] += part * scale;
                        amount[w.to] += part * self.pass[w.index];
                    }
                }
                let arrive = if sent > 0.0 { amount[*t] / sent } else { 1.0 };
                for h in hosts {
                    let (offered, down) = (demand.to_host[*h] * arrive, self.down[*h]);
                    self.pass_down[*h] = if offered > down { down / offered } else { 1.0 };
                    hops += offered.min(down) * scale;
                }
            }
            for w in ways.iter().flatten() {
                let load = load[w.index];
                hops += load.min(w.rate);
                self.pass[w.index] = if load > w.rate { w.rate / load } else { 1.0 };
            }
            found = (hops + demand.bits, load);
        }
        found
    }

    /// Frames that are held back do not travel: by switch that is followed, the shares that get through to it from each switch; and from
    /// each switch the worst of all.
    pub(super) fn through(&self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut through: Vec<Vec<f64>> = Vec::new();
        let mut worst = vec![1.0_f64; self.ways.len()];
        for (t, (order, dist)) in self.followed.iter().zip(&self.trees) {
            let mut open = vec![1.0; self.ways.len()];
            for &s in order.iter().filter(|s| *s != t) {
                let nearer: Vec<&Way> = self.ways[s].iter().filter(|w| dist[w.to] + 1 == dist[s]).collect();
                open[s] = nearer.iter().map(|w| self.pass[w.index] * open[w.to]).sum::<f64>()
                    / nearer.len().max(1) as f64;
            }
            let least = self.of_switch[*t].iter().map(|h| self.pass_down[*h]).fold(1.0, f64::min);
            worst.iter_mut().zip(&open).for_each(|(w, o)| *w = w.min(o * least));
            through.push(open);
        }
        (through, worst)
    }

    /// Bits that finish a link a second where sources hold the others back.
    pub(super) fn held(&self, through: &[Vec<f64>], worst: &[f64], excess: Excess) -> f64 {
        let (demand, others) = (self.demand, self.others());
        let mine = |s: usize, t: usize, h: usize| if s == t { demand.alike[h] } else { 0.0 };
        let mut held = 0.0;
        for ((t, (_, dist)), open) in self.followed.iter().zip(&self.trees).zip(through) {
            let links = |s: usize| f64::from(dist[s].min(1000)) + 2.0;
            for (s, rate) in demand.uniform.iter().enumerate().filter(|u| *u.1 > 0.0) {
                let passed = |h: usize| match excess {
                    Excess::HeldBySource => worst[s],
                    _ => open[s] * self.pass_down[h],
                };
                let to = |h: &usize| (rate - mine(s, *t, *h)) / others * passed(*h);
                held += self.of_switch[*t].iter().map(to).sum::<f64>() * links(s) * self.scale;
            }
            for (s, to, rate) in self.fixed(*t) {
                held += rate * open[*s] * self.pass_down[*to] * links(*s) * self.scale;
            }
        }
        held
    }
}

/// Switches in order of their distance from one switch, and the distances.
pub(super) fn breadth(ways: &[Vec<Way>], from: usize) -> (Vec<usize>, Vec<u32>) {
    let mut dist = vec![u32::MAX; ways.len()];
    dist[from] = 0;
    let (mut order, mut queue) = (Vec::new(), VecDeque::from([from]));
    while let Some(s) = queue.pop_front() {
        order.push(s);
        for w in &ways[s] {
            if dist[w.to] == u32::MAX {
                dist[w.to] = dist[s] + 1;
                queue.push_back(w.to);
            }
        }
    }
    // An unreachable switch keeps a large distance: one more must not overflow.
    dist.iter_mut().filter(|d| **d == u32::MAX).for_each(|d| *d = u32::MAX / 2);
    (order, dist)
}
