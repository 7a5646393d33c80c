//! Shapes of networks: what a scenario's `[topology]` describes, wired.
//!
//! Hosts are numbered in the order in which they appear; a host's access link comes with the host's end first.

use crate::graph::{graph, host_rates};
use crate::keys::{MAX_HOSTS, MAX_PORTS, MAX_SWITCHES};
use crate::kinds::Shape;
use crate::reader::Reader;
use cnsim_fabric::LinkSpec;
use cnsim_scheme_api::NodeId;
use cnsim_units::{Rate, Time};
use std::collections::HashMap;
use std::sync::Arc;

/// Hosts, switches and links of a topology.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// Name and number of ports of each switch.
    pub switches: Vec<(String, u16)>,
    /// Links; the host's end of an access link is `a`.
    pub links: Vec<LinkSpec>,
    index: Arc<Index>,
}

/// Finds nodes and links without a search.
#[derive(Debug, Default)]
struct Index {
    /// Nodes by their names in small letters.
    nodes: HashMap<String, NodeId>,
    /// Link of each host.
    access: Vec<u32>,
    /// The first output port of a node that leads to another node.
    towards: HashMap<(NodeId, NodeId), (NodeId, u16)>,
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
        for (i, l) in self.links.iter().enumerate() {
            for (from, to) in [(l.a, l.b), (l.b, l.a)] {
                index.towards.entry((from.0, to.0)).or_insert(from);
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

    /// A node by its name, whatever the case.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.index.nodes.get(&name.to_ascii_lowercase()).copied()
    }

    /// A host by its name, whatever the case.
    pub fn host(&self, name: &str) -> Option<usize> {
        self.node(name).map(|n| n.0 as usize).filter(|n| *n < self.hosts.len())
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

    /// The output port of one node that leads to another, named `X>E5`.
    pub fn port(&self, name: &str) -> Option<(NodeId, u16)> {
        // Switches of a tree have a `>` in their own names: `<0;1>`.
        let ends = name.match_indices('>').map(|(i, _)| (&name[..i], &name[i + 1..]));
        let (from, to) =
            ends.filter_map(|(a, b)| Some((self.node(a.trim())?, self.node(b.trim())?))).next()?;
        self.index.towards.get(&(from, to)).copied()
    }

    /// Name of an output port: `X>E5`.
    pub fn port_name(&self, port: (NodeId, u16)) -> String {
        let far = self.link(port).map_or("?", |l| self.name(if l.a == port { l.b.0 } else { l.a.0 }));
        format!("{}>{far}", self.name(port.0))
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

    /// A host that no path joins to the first one, if there is one.
    fn unreached(&self) -> Option<usize> {
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
        let first = root(&mut group, 0);
        (1..self.hosts.len()).find(|h| root(&mut group, *h) != first)
    }

    /// Mean number of links between two hosts, for estimates: by breadth-first search from the first host.
    pub fn mean_hops(&self) -> f64 {
        let nodes = self.hosts.len() + self.switches.len();
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for l in &self.links {
            near[l.a.0.0 as usize].push(l.b.0.0 as usize);
            near[l.b.0.0 as usize].push(l.a.0.0 as usize);
        }
        let mut hops = vec![usize::MAX; nodes];
        hops[0] = 0;
        let mut queue = std::collections::VecDeque::from([0]);
        while let Some(n) = queue.pop_front() {
            for &m in &near[n] {
                if hops[m] == usize::MAX {
                    hops[m] = hops[n] + 1;
                    queue.push_back(m);
                }
            }
        }
        let far: Vec<f64> =
            hops[1..self.hosts.len()].iter().filter(|h| **h != usize::MAX).map(|h| *h as f64).collect();
        far.iter().sum::<f64>() / far.len().max(1) as f64
    }
}

/// Collects nodes and links.
pub(crate) struct Builder {
    pub(crate) wiring: Wiring,
    pub(crate) rate: Rate,
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
    fn new(rate: Rate, delay: Time, first: usize) -> Self {
        Self { wiring: Wiring::default(), rate, delay, first, pending: Vec::new(), used: Vec::new() }
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
    fn link(&mut self, a: End, b: End) {
        self.pending.push((a, b, self.rate, self.delay));
    }
    fn hosts_at(&mut self, n: usize, switch: End) {
        for _ in 0..n {
            let h = self.host();
            self.link(h, switch);
        }
    }
    /// Numbers the ports in the order of links and enlarges switches that need more.
    fn finish(mut self) -> Wiring {
        let hosts = self.wiring.hosts.len();
        let mut end = |e: End| match e {
            End::Host(h) => (NodeId(h as u32), 0),
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
        self.wiring.indexed()
    }
}

/// Reads `[topology]`; none where something is wrong with it.
pub(crate) fn read(r: &mut Reader<'_>) -> Option<Wiring> {
    let before = r.problems.len();
    let (rate, delay) = (r.rate("topology.link_rate"), r.time("topology.link_delay"));
    let first = r.integer("topology.first") as usize;
    let mut b = Builder::new(rate, delay, first);
    match r.choice("topology.kind") {
        Shape::SingleSwitch => single_switch(r, &mut b),
        Shape::CoreEdge => core_edge(r, &mut b),
        Shape::Tree => tree(r, &mut b),
        Shape::FatTree => fat_tree(r, &mut b),
        Shape::LeafSpine => leaf_spine(r, &mut b),
        Shape::Chain => chain(r, &mut b, false),
        Shape::Ring => chain(r, &mut b, true),
        Shape::ParkingLot => parking_lot(r, &mut b),
        Shape::Graph => graph(r, &mut b),
    }
    if r.problems.len() > before {
        return None;
    }
    let mut wiring = b.finish();
    if wiring.hosts.len() < 2 {
        r.wrong("topology.kind", "one host has nobody to send to", "use at least 2 hosts");
        return None;
    }
    if let Some(lost) = wiring.unreached() {
        let reason = format!("there is no path from {} to {}", wiring.hosts[0], wiring.hosts[lost]);
        r.wrong("topology.links", reason, "link their switches, directly or over others");
        return None;
    }
    host_rates(r, &mut wiring);
    (r.problems.len() == before).then_some(wiring)
}

/// Says whether a network of so many nodes and ports can be built at all; the key is blamed where not.
pub(crate) fn fits(r: &mut Reader<'_>, key: &str, hosts: usize, switches: usize, ports: usize) -> bool {
    let sizes = [
        ("hosts", hosts, MAX_HOSTS),
        ("switches", switches, MAX_SWITCHES),
        ("ports of switches", ports, MAX_PORTS),
    ];
    let over = sizes.into_iter().find(|(_, n, most)| n > most);
    if let Some((what, n, most)) = over {
        r.wrong(key, format!("{n} {what} are too many"), format!("at most {most}"));
    }
    over.is_none()
}

fn single_switch(r: &mut Reader<'_>, b: &mut Builder) {
    let hosts = r.integer("topology.hosts") as usize;
    let ports = r.integer("topology.ports") as u16;
    let s = b.switch("S", ports);
    b.hosts_at(hosts, s);
}

/// E1, E2, ... with some hosts each, all joined to X.
fn core_edge(r: &mut Reader<'_>, b: &mut Builder) {
    let before = r.problems.len();
    let ports = r.integer("topology.ports") as usize;
    let edges: Vec<usize> = r.integers("topology.edges").into_iter().map(|n| n as usize).collect();
    if r.problems.len() > before {
        return;
    }
    if edges.len() < 2 {
        return r.wrong(
            "topology.edges",
            "lists fewer than two edge switches",
            "write for example [3, 3, 2, 2]",
        );
    }
    let all = edges.iter().map(|n| ports.max(n + 1)).sum::<usize>() + ports.max(edges.len());
    if !fits(r, "topology.edges", edges.iter().sum(), edges.len() + 1, all) {
        return;
    }
    let switches: Vec<End> = (1..=edges.len()).map(|e| b.switch(format!("E{e}"), ports as u16)).collect();
    let core = b.switch("X", ports as u16);
    for (e, n) in switches.iter().zip(&edges) {
        b.hosts_at(*n, *e);
    }
    for e in switches {
        b.link(e, core);
    }
}

/// k-ary n-tree: n levels of k^(n-1) switches; `<l; w>` and `<l+1; w'>` are linked where w and w' agree in all digits
/// but digit l.
fn tree(r: &mut Reader<'_>, b: &mut Builder) {
    let (k, n) = (r.integer("topology.k") as usize, r.integer("topology.n") as u32);
    let hosts = k.saturating_pow(n);
    let per_level = k.saturating_pow(n.saturating_sub(1));
    let switches = per_level.saturating_mul(n as usize);
    if k < 2 || n < 1 || !fits(r, "topology.k", hosts, switches, switches.saturating_mul(2 * k)) {
        return;
    }
    let at: Vec<Vec<End>> = (0..n)
        .map(|l| (0..per_level).map(|w| b.switch(format!("<{l};{w}>"), 2 * k as u16)).collect())
        .collect();
    for h in 0..hosts {
        b.hosts_at(1, at[0][h / k]);
    }
    for level in 0..n as usize - 1 {
        let step = k.pow(level as u32);
        // All down-ports of the level above come before its up-ports, as its links upwards are made later.
        for w in 0..per_level {
            let digit = w / step % k;
            for u in 0..k {
                b.link(at[level][w], at[level + 1][w - digit * step + u * step]);
            }
        }
    }
}

/// k-ary fat tree (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores.
fn fat_tree(r: &mut Reader<'_>, b: &mut Builder) {
    let k = r.integer("topology.k") as usize;
    if !k.is_multiple_of(2) {
        return r.wrong("topology.k", format!("{k} is odd"), "a fat tree needs an even number of ports");
    }
    let half = k / 2;
    let switches = 2 * k * half + half * half;
    if !fits(r, "topology.k", k * half * half, switches, switches * k) {
        return;
    }
    let ports = k as u16;
    let edge: Vec<End> = (0..k * half).map(|i| b.switch(format!("E{i}"), ports)).collect();
    let aggregation: Vec<End> = (0..k * half).map(|i| b.switch(format!("A{i}"), ports)).collect();
    let core: Vec<End> = (0..half * half).map(|i| b.switch(format!("C{i}"), ports)).collect();
    for e in &edge {
        b.hosts_at(half, *e);
    }
    for pod in 0..k {
        for e in 0..half {
            for a in 0..half {
                b.link(edge[pod * half + e], aggregation[pod * half + a]);
            }
        }
    }
    for pod in 0..k {
        for a in 0..half {
            for c in 0..half {
                b.link(aggregation[pod * half + a], core[a * half + c]);
            }
        }
    }
}

/// Every leaf joined to every spine.
fn leaf_spine(r: &mut Reader<'_>, b: &mut Builder) {
    let leaves = r.integer("topology.leaves") as usize;
    let spines = r.integer("topology.spines") as usize;
    let per = r.integer("topology.per_switch") as usize;
    if !fits(r, "topology.leaves", leaves * per, leaves + spines, leaves * (per + 2 * spines)) {
        return;
    }
    let leaf: Vec<End> = (1..=leaves).map(|i| b.switch(format!("L{i}"), (per + spines) as u16)).collect();
    let spine: Vec<End> = (1..=spines).map(|i| b.switch(format!("S{i}"), leaves as u16)).collect();
    for l in &leaf {
        b.hosts_at(per, *l);
    }
    for l in leaf {
        for s in &spine {
            b.link(l, *s);
        }
    }
}

/// Switches in a line (or ring), with hosts at each.
fn chain(r: &mut Reader<'_>, b: &mut Builder, wrap: bool) {
    let n = r.integer("topology.switches") as usize;
    let per = r.integer("topology.per_switch") as usize;
    let ports = r.integer("topology.ports") as usize;
    if wrap && n < 3 {
        return r.wrong(
            "topology.switches",
            format!("{n} switches make no ring"),
            "use at least 3, or a chain",
        );
    }
    if !fits(r, "topology.switches", n * per, n, n * ports.max(per + 2)) {
        return;
    }
    let switches: Vec<End> = (0..n).map(|i| b.switch(format!("S{i}"), ports as u16)).collect();
    for s in &switches {
        b.hosts_at(per, *s);
    }
    for pair in switches.windows(2) {
        b.link(pair[0], pair[1]);
    }
    if wrap {
        b.link(switches[n - 1], switches[0]);
    }
}

/// Parking lot (C07): `stages` bottlenecks in a row between S1, S2, ...; `long` hosts behind E1 send over all of them,
/// one host per stage over that stage only. Hosts, in order: the long sources; the source of stage 1 behind E2; for
/// each further stage i its source and the sink of stage i-1 behind an edge switch at S_i; at the last switch the sink
/// of the last stage and that of the long flows.
fn parking_lot(r: &mut Reader<'_>, b: &mut Builder) {
    let stages = r.integer("topology.stages") as usize;
    let long = r.integer("topology.long") as usize;
    let ports = r.integer("topology.ports") as u16;
    let each = usize::from(ports).max(long + 1);
    if !fits(r, "topology.ports", long + 2 * stages + 1, 2 * stages + 2, (2 * stages + 2) * each) {
        return;
    }
    let line: Vec<End> = (1..=stages + 1).map(|i| b.switch(format!("S{i}"), ports)).collect();
    let edge: Vec<End> = (1..=stages + 1).map(|i| b.switch(format!("E{i}"), ports)).collect();
    b.hosts_at(long, edge[0]);
    b.hosts_at(1, edge[1]);
    for e in edge.iter().skip(2) {
        b.hosts_at(2, *e);
    }
    b.hosts_at(2, line[stages]);
    b.link(edge[0], line[0]);
    b.link(edge[1], line[0]);
    for (i, e) in edge.iter().enumerate().skip(2) {
        b.link(*e, line[i - 1]);
    }
    for pair in line.windows(2) {
        b.link(pair[0], pair[1]);
    }
}
