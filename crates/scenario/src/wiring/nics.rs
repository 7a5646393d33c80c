//! Hosts with several NICs: each NIC is a host of the network, and a flow takes one at either end.

use cnsim_fabric::LinkSpec;
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

/// Which NIC a flow takes, among those of its source that are equally near to its destination: `topology.nic`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Among {
    /// By a hash of source, destination, and number of the flow among theirs.
    #[default]
    Hash,
    /// The flows of a source in turn.
    InTurn,
    /// The one of this number, from 1; where it is not among them the first of them.
    Number(usize),
}

/// The machines of a network some of whose hosts are NICs of one.
#[derive(Clone, Debug)]
pub(crate) struct Machines {
    /// By NIC, the first and the last (exclusive) of its machine.
    nics: Vec<(u32, u32)>,
    pub(crate) among: Among,
    /// By NIC, its switch, as a row and a column of `near`.
    seats: Vec<u32>,
    /// By NIC, the delay of its link, ps.
    delays: Vec<u64>,
    /// By switches with NICs: links between them, `FAR` where no path joins them.
    near: Vec<u16>,
    edges: usize,
}

/// No path.
const FAR: u16 = u16::MAX;

impl Machines {
    /// Machines with so many NICs each; none where each has one.
    pub(crate) fn new(counts: &[usize], links: &[LinkSpec], switches: usize) -> Option<Self> {
        if counts.iter().all(|n| *n == 1) {
            return None;
        }
        let hosts: usize = counts.iter().sum();
        let mut nics = Vec::with_capacity(hosts);
        for n in counts {
            let first = nics.len();
            nics.extend((0..*n).map(|_| (first as u32, (first + n) as u32)));
        }
        let mut neighbours = vec![Vec::new(); switches];
        let (mut of_nic, mut delays) = (vec![0; hosts], vec![0; hosts]);
        for l in links {
            let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
            match (a.checked_sub(hosts), b.checked_sub(hosts)) {
                (Some(a), Some(b)) => {
                    neighbours[a].push(b);
                    neighbours[b].push(a);
                }
                (None, Some(b)) => (of_nic[a], delays[a]) = (b, l.delay.as_ps()),
                _ => {}
            }
        }
        let mut edges: Vec<usize> = of_nic.clone();
        edges.sort_unstable();
        edges.dedup();
        let mut near = Vec::with_capacity(edges.len() * edges.len());
        for &edge in &edges {
            let mut far = vec![FAR; switches];
            far[edge] = 0;
            let mut queue = VecDeque::from([edge]);
            while let Some(at) = queue.pop_front() {
                for &next in &neighbours[at] {
                    if far[next] == FAR {
                        far[next] = far[at] + 1;
                        queue.push_back(next);
                    }
                }
            }
            near.extend(edges.iter().map(|other| far[*other]));
        }
        let seat = |switch: &usize| edges.partition_point(|e| e < switch) as u32;
        let seats = of_nic.iter().map(seat).collect();
        Some(Self { nics, among: Among::default(), seats, delays, near, edges: edges.len() })
    }

    /// The NICs of the machine of a NIC.
    pub(crate) fn nics(&self, nic: usize) -> Range<usize> {
        self.nics[nic].0 as usize..self.nics[nic].1 as usize
    }

    /// Links between two NICs, and of those as many the delay of the first and the last; none where no path joins them.
    fn distance(&self, from: usize, to: usize) -> Option<(u16, u64)> {
        let links = self.near[self.seats[from] as usize * self.edges + self.seats[to] as usize];
        (links < FAR).then(|| (links, self.delays[from] + self.delays[to]))
    }

    /// By NIC, the first one of its machine.
    pub(crate) fn firsts(&self) -> Vec<NodeId> {
        self.nics.iter().map(|nics| NodeId(nics.0)).collect()
    }

    /// Two of these machines, of which no NIC of the first has a path to one of the second.
    pub(crate) fn apart(&self, from: &[usize], to: &[usize]) -> Option<(usize, usize)> {
        // Hosts whose NICs are at the same switches are alike.
        let alike = |all: &[usize]| -> BTreeMap<Vec<u32>, usize> {
            all.iter().map(|&nic| (self.nics(nic).map(|nic| self.seats[nic]).collect(), nic)).collect()
        };
        let (from, to) = (alike(from), alike(to));
        let joined =
            |a: usize, b: usize| self.nics(a).any(|i| self.nics(b).any(|j| self.distance(i, j).is_some()));
        let mut pairs = from.values().flat_map(|&a| to.values().map(move |&b| (a, b)));
        pairs.find(|&(a, b)| !joined(a, b))
    }

    /// A machine whose NICs reach no other machine.
    pub(crate) fn alone(&self) -> Option<usize> {
        let firsts = || self.nics.iter().enumerate().filter(|(n, nics)| nics.0 as usize == *n);
        let mut reached = vec![[u32::MAX; 2]; self.edges];
        for (nic, nics) in self.nics.iter().enumerate() {
            // Two different machines at each switch are enough to know.
            let at = &mut reached[self.seats[nic] as usize];
            if at[0] == u32::MAX || at[0] == nics.0 { at[0] = nics.0 } else { at[1] = nics.0 }
        }
        let others = |nic: usize, machine: u32| {
            let row = &self.near[self.seats[nic] as usize * self.edges..][..self.edges];
            let seen = row.iter().zip(&reached).filter(|(near, _)| **near < FAR);
            seen.flat_map(|(_, at)| at).any(|m| *m != u32::MAX && *m != machine)
        };
        firsts().find(|(n, nics)| !self.nics(*n).any(|nic| others(nic, nics.0))).map(|(n, _)| n)
    }
}

/// Takes NICs for flows, in their order.
#[derive(Debug)]
pub(crate) struct Takes<'a> {
    machines: Option<&'a Machines>,
    /// Flows of a pair of machines, or of a source, that have taken one.
    before: HashMap<(usize, usize), u64>,
}

impl<'a> Takes<'a> {
    /// In a network with such machines, or with none.
    pub(crate) fn new(machines: Option<&'a Machines>) -> Self {
        Self { machines, before: HashMap::new() }
    }

    /// The NICs at both ends of the next flow, from one of these to one of these: the nearest; among equals as `topology.nic` says. None
    /// where no path joins any two.
    pub(crate) fn take(&mut self, from: Range<usize>, to: Range<usize>) -> Option<(usize, usize)> {
        let Some(machines) = self.machines else { return Some((from.start, to.start)) };
        let nearest = |i: usize| to.clone().filter_map(|j| machines.distance(i, j)).min();
        let best = from.clone().filter_map(nearest).min();
        best?;
        let key = if machines.among == Among::InTurn { (from.start, 0) } else { (from.start, to.start) };
        let before = self.before.entry(key).or_default();
        let nth = *before;
        *before += 1;
        let pick = |all: Vec<usize>, first: usize| match machines.among {
            Among::Number(n) => *all.iter().find(|nic| **nic == first + n - 1).unwrap_or(&all[0]),
            Among::InTurn => all[(nth % all.len() as u64) as usize],
            Among::Hash => {
                let pair = (from.start as u64) << 32 | to.start as u64;
                all[Stream::new(nth, pair, Purpose::Phase).below(all.len() as u64) as usize]
            }
        };
        let source = pick(from.clone().filter(|i| nearest(*i) == best).collect(), from.start);
        let near = to.clone().filter(|j| machines.distance(source, *j) == best).collect();
        Some((source, pick(near, to.start)))
    }
}
