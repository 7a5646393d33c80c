//! Hosts, switches and links of a topology, as they are wired.

mod named;
pub(crate) mod nics;

use cnsim_fabric::{GaugeSite, LinkSpec};
use cnsim_scheme_api::NodeId;
use cnsim_units::{Rate, Time};
use nics::Machines;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Hosts, switches and links of a topology.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// Names of the hosts of the network. Of a host with several NICs each NIC is one: `H0#1`, `H0#2`.
    pub hosts: Vec<String>,
    /// Name and number of ports of each switch.
    pub switches: Vec<(String, u16)>,
    /// Links; the host's end of an access link is `a`.
    pub links: Vec<LinkSpec>,
    /// Which hosts are NICs of one, where some are.
    pub(crate) machines: Option<Arc<Machines>>,
    index: Arc<Index>,
}

/// Finds nodes and links without a search.
#[derive(Debug, Default)]
struct Index {
    /// Nodes by their names in small letters.
    nodes: HashMap<String, NodeId>,
    /// Link of each host.
    access: Vec<u32>,
    /// The output ports of a node that lead to another node, in the order of the links.
    towards: HashMap<(NodeId, NodeId), Vec<(NodeId, u16)>>,
    /// Link of each port.
    links: HashMap<(NodeId, u16), u32>,
}

impl Wiring {
    /// Prepares the index: after the last node and link.
    fn indexed(mut self) -> Self {
        let mut index = Index { access: vec![u32::MAX; self.hosts.len()], ..Index::default() };
        for (i, name) in self.hosts.iter().chain(self.switches.iter().map(|s| &s.0)).enumerate() {
            index.nodes.entry(name.to_ascii_lowercase()).or_insert(NodeId(i as u32));
        }
        // A host with several NICs is known by its own name, too.
        for nic in 0..self.hosts.len() {
            let nics = self.nics(nic);
            if nics.len() > 1 && nics.start == nic {
                index.nodes.insert(self.machine(nic).to_ascii_lowercase(), NodeId(nic as u32));
            }
        }
        for (i, l) in self.links.iter().enumerate() {
            for (from, to) in [(l.a, l.b), (l.b, l.a)] {
                index.towards.entry((from.0, to.0)).or_default().push(from);
                index.links.insert(from, i as u32);
            }
            if let Some(access) = index.access.get_mut(l.a.0.0 as usize) {
                *access = i as u32;
            }
        }
        self.index = Arc::new(index);
        self
    }

    /// Name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        let n = node.0 as usize;
        match self.hosts.get(n) {
            Some(h) => h,
            None => self.switches.get(n.wrapping_sub(self.hosts.len())).map_or("?", |s| &s.0),
        }
    }

    /// A node by its name; upper and lower case are equal.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.index.nodes.get(&name.to_ascii_lowercase()).copied()
    }

    /// A host by its name; upper and lower case are equal.
    pub fn host(&self, name: &str) -> Option<usize> {
        self.node(name).map(|n| n.0 as usize).filter(|n| *n < self.hosts.len())
    }

    /// The NICs of the host that this one is a NIC of: itself alone, where each has one.
    pub fn nics(&self, nic: usize) -> Range<usize> {
        self.machines.as_ref().map_or(nic..nic + 1, |machines| machines.nics(nic))
    }

    /// The name of the host that this one is a NIC of.
    pub fn machine(&self, nic: usize) -> &str {
        let name = &self.hosts[nic];
        if self.nics(nic).len() > 1 { name.rsplit_once('#').map_or(name, |n| n.0) } else { name }
    }

    /// The hosts, each by its first NIC.
    pub fn all_machines(&self) -> impl Iterator<Item = usize> {
        (0..self.hosts.len()).filter(|nic| self.nics(*nic).start == *nic)
    }

    /// The switch port that feeds a host.
    pub fn feeder(&self, host: usize) -> (NodeId, u16) {
        self.access(host).map_or((NodeId(host as u32), 0), |l| l.b)
    }

    /// The link of a host.
    pub fn access(&self, host: usize) -> Option<&LinkSpec> {
        self.links.get(*self.index.access.get(host)? as usize)
    }

    pub(crate) fn access_mut(&mut self, host: usize) -> Option<&mut LinkSpec> {
        self.links.get_mut(*self.index.access.get(host)? as usize)
    }

    /// The link of a port.
    pub fn link(&self, port: (NodeId, u16)) -> Option<&LinkSpec> {
        self.links.get(*self.index.links.get(&port)? as usize)
    }

    /// The output port of one node that leads to another, named `X>E5`; of several the second one is `X>E5#2`.
    pub fn port(&self, name: &str) -> Option<(NodeId, u16)> {
        let number = |(name, n): (&'_ str, &str)| {
            Some((self.towards(name)?, n.parse::<usize>().ok()?.checked_sub(1)?))
        };
        let found = self.towards(name).map(|all| (all, 0));
        let (all, at) = found.or_else(|| name.rsplit_once('#').and_then(number))?;
        all.get(at).copied()
    }

    /// The output ports of one node that lead to another, as `X>E5` names both.
    fn towards(&self, name: &str) -> Option<&[(NodeId, u16)]> {
        // Switches of a tree have a `>` in their own names: `<0;1>`.
        let ends = name.match_indices('>').map(|(i, _)| (&name[..i], &name[i + 1..]));
        let (from, to) =
            ends.filter_map(|(a, b)| Some((self.node(a.trim())?, self.node(b.trim())?))).next()?;
        self.index.towards.get(&(from, to)).map(Vec::as_slice)
    }

    /// The two ends of a link between neighbours, named `X-E5`.
    pub fn link_ends(&self, name: &str) -> Option<[(NodeId, u16); 2]> {
        let between = name.match_indices('-').map(|(i, _)| (&name[..i], &name[i + 1..]));
        let port = between.filter_map(|(a, b)| self.port(&format!("{a}>{b}"))).next()?;
        self.link(port).map(|link| [link.a, link.b])
    }

    /// Where an object stands that shows a gauge: `X>E5` of a port, `H1>H5` of a flow's limiter, `H1>H5 at its end` of its reflector.
    pub fn gauge_place(&self, at: GaugeSite) -> String {
        match at {
            GaugeSite::Port(node, port) => self.port_name((node, port)),
            GaugeSite::Source(src, dst) => format!("{}>{}", self.name(src), self.name(dst)),
            GaugeSite::Sink(src, dst) => format!("{}>{} at its end", self.name(src), self.name(dst)),
        }
    }

    /// Name of an output port: `X>E5`. Of several that lead to one node, the second one is `X>E5#2`, and so on.
    pub fn port_name(&self, port: (NodeId, u16)) -> String {
        let near = self.name(port.0);
        let Some(link) = self.link(port) else { return format!("{near}>?") };
        let far = if link.a == port { link.b.0 } else { link.a.0 };
        let all = self.index.towards.get(&(port.0, far)).map_or(&[][..], Vec::as_slice);
        match all.iter().position(|p| *p == port) {
            None | Some(0) => format!("{near}>{}", self.name(far)),
            Some(before) => format!("{near}>{}#{}", self.name(far), before + 1),
        }
    }

    /// Largest ratio of the rate of a switch's hosts to the rate of its links to switches without hosts, with the switch's name. None
    /// if no switch has both.
    pub fn oversubscription(&self) -> Option<(f64, &str)> {
        let mut sides = vec![(0.0, 0.0); self.switches.len()];
        let switch = |n: NodeId| (n.0 as usize).checked_sub(self.hosts.len());
        for l in &self.links {
            if let (Some(s), None) | (None, Some(s)) = (switch(l.a.0), switch(l.b.0)) {
                sides[s].0 += l.rate.bps();
            }
        }
        for l in &self.links {
            if let (Some(a), Some(b)) = (switch(l.a.0), switch(l.b.0)) {
                match (sides[a].0 > 0.0, sides[b].0 > 0.0) {
                    (true, false) => sides[a].1 += l.rate.bps(),
                    (false, true) => sides[b].1 += l.rate.bps(),
                    _ => {}
                }
            }
        }
        let ratios = sides.iter().zip(&self.switches).filter(|(s, _)| s.0 > 0.0 && s.1 > 0.0);
        let ratios = ratios.map(|(s, (name, _))| (s.0 / s.1, name.as_str()));
        ratios.reduce(|a, b| if b.0 > a.0 { b } else { a })
    }

    /// Inputs in use at the busiest switch.
    pub fn inputs(&self) -> u64 {
        let mut used = vec![0u64; self.switches.len()];
        for end in self.links.iter().flat_map(|l| [l.a, l.b]) {
            if let Some(u) = used.get_mut((end.0.0 as usize).wrapping_sub(self.hosts.len())) {
                *u += 1;
            }
        }
        used.into_iter().max().unwrap_or(1).max(1)
    }

    /// A host that no path joins to the first one, or, where hosts have several NICs, to any other; if there is one.
    pub(crate) fn unreached(&self) -> Option<usize> {
        let nodes = self.hosts.len() + self.switches.len();
        let mut group: Vec<usize> = (0..nodes).collect();
        fn root(group: &mut [usize], mut n: usize) -> usize {
            while group[n] != n {
                group[n] = group[group[n]];
                n = group[n];
            }
            n
        }
        for l in &self.links {
            let (a, b) = (root(&mut group, l.a.0.0 as usize), root(&mut group, l.b.0.0 as usize));
            group[a] = b;
        }
        if let Some(machines) = &self.machines {
            return machines.alone();
        }
        let first = root(&mut group, 0);
        (1..self.hosts.len()).find(|h| root(&mut group, *h) != first)
    }
}

/// Collects nodes and links.
pub(crate) struct Builder {
    pub(crate) wiring: Wiring,
    pub(crate) rate: Rate,
    /// Rate of links between switches.
    fabric: Rate,
    pub(crate) delay: Time,
    /// Number of the first host's name.
    first: usize,
    /// (is a host, index) in order of making; ids of switches are known at the end.
    pub(crate) pending: Vec<(End, End, Rate, Time)>,
    pub(crate) used: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Host(usize),
    Switch(usize),
}

impl Builder {
    pub(crate) fn new(rate: Rate, fabric: Rate, delay: Time, first: usize) -> Self {
        Self { wiring: Wiring::default(), rate, fabric, delay, first, pending: Vec::new(), used: Vec::new() }
    }
    pub(crate) fn host(&mut self) -> End {
        let n = self.wiring.hosts.len();
        self.wiring.hosts.push(format!("H{}", n + self.first));
        End::Host(n)
    }
    pub(crate) fn switch(&mut self, name: impl Into<String>, ports: u16) -> End {
        self.wiring.switches.push((name.into(), ports));
        self.used.push(0);
        End::Switch(self.used.len() - 1)
    }
    pub(crate) fn link(&mut self, a: End, b: End) {
        let rate = if matches!((a, b), (End::Switch(_), End::Switch(_))) { self.fabric } else { self.rate };
        self.pending.push((a, b, rate, self.delay));
    }
    pub(crate) fn hosts_at(&mut self, n: usize, switch: End) {
        for _ in 0..n {
            let h = self.host();
            self.link(h, switch);
        }
    }
    /// Numbers the ports in the order of links and enlarges switches that need more.
    pub(crate) fn finish(mut self) -> Wiring {
        // Each link of a host has a NIC of its own.
        let mut counts = vec![0; self.wiring.hosts.len()];
        for (a, b, ..) in &self.pending {
            [a, b].into_iter().for_each(|end| {
                if let End::Host(h) = end {
                    counts[*h] += 1;
                }
            });
        }
        counts.iter_mut().for_each(|n| *n = 1.max(*n));
        let mut next: Vec<usize> = Vec::new();
        let mut hosts = 0;
        let mut names = Vec::new();
        for (name, &n) in std::mem::take(&mut self.wiring.hosts).into_iter().zip(&counts) {
            next.push(hosts);
            hosts += n;
            match n {
                1 => names.push(name),
                n => names.extend((1..=n).map(|nic| format!("{name}#{nic}"))),
            }
        }
        self.wiring.hosts = names;
        let mut end = |e: End| match e {
            End::Host(h) => {
                next[h] += 1;
                (NodeId(next[h] as u32 - 1), 0)
            }
            End::Switch(s) => {
                let port = self.used[s];
                self.used[s] += 1;
                (NodeId((hosts + s) as u32), port)
            }
        };
        for (a, b, rate, delay) in std::mem::take(&mut self.pending) {
            let (a, b) = (end(a), end(b));
            self.wiring.links.push(LinkSpec { a, b, rate, delay });
        }
        for (s, used) in self.wiring.switches.iter_mut().zip(&self.used) {
            s.1 = s.1.max(*used);
        }
        self.wiring.machines =
            Machines::new(&counts, &self.wiring.links, self.wiring.switches.len()).map(Arc::new);
        self.wiring.indexed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links between the same two nodes have names of their own, by which both ends of each are found.
    #[test]
    fn parallel_links_have_names() {
        let mut b = Builder::new(Rate::from_gbps(10.0), Rate::from_gbps(10.0), Time::from_us(1), 1);
        let (x, y) = (b.switch("X", 4), b.switch("Y#2", 4));
        let host = b.host();
        [(host, x), (x, y), (y, x), (x, y)].into_iter().for_each(|(from, to)| b.link(from, to));
        let wiring = b.finish();
        let names = ["X>H1", "X>Y#2", "X>Y#2#2", "X>Y#2#3", "Y#2>X", "Y#2>X#2", "Y#2>X#3", "H1>X"];
        let ports: Vec<_> = names.iter().map(|name| wiring.port(name).unwrap()).collect();
        assert_eq!(ports.iter().map(|p| wiring.port_name(*p)).collect::<Vec<_>>(), names);
        assert_eq!(ports.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
        // The two names of a link, one a direction, lead to one link.
        let link = |name: &str| *wiring.link(wiring.port(name).unwrap()).unwrap();
        assert_eq!(link("X>Y#2#3"), link("Y#2>X#3"));
        assert_eq!(wiring.port("x>y#2#1"), wiring.port("X>Y#2"));
        for none in ["X>Y#2#4", "X>Y#2#0", "X>Y#2#", "X>Y", "X#2>Y#2", "X>H1#2"] {
            assert_eq!(wiring.port(none), None, "{none}");
        }
    }
}
