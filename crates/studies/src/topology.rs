//! Shapes of networks: what a scenario's `[topology]` describes, wired.
//!
//! Hosts are numbered in the order in which they appear; a host's access link comes with the host's end first.

use crate::reader::Reader;
use cnsim_fabric::LinkSpec;
use cnsim_scheme_api::NodeId;
use cnsim_units::{Rate, Time};
use std::collections::BTreeMap;

/// Hosts, switches and links of a topology.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// Name and number of ports of each switch.
    pub switches: Vec<(String, u16)>,
    /// Links; the host's end of an access link is `a`.
    pub links: Vec<LinkSpec>,
}

impl Wiring {
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
        let names = self.hosts.iter().chain(self.switches.iter().map(|s| &s.0));
        names.into_iter().position(|n| n.eq_ignore_ascii_case(name)).map(|i| NodeId(i as u32))
    }

    /// The switch port that feeds a host.
    pub fn feeder(&self, host: usize) -> (NodeId, u16) {
        let at = NodeId(host as u32);
        self.links.iter().find(|l| l.a.0 == at).map_or((at, 0), |l| l.b)
    }

    /// The link of a host.
    pub fn access(&self, host: usize) -> Option<&LinkSpec> {
        self.links.iter().find(|l| l.a.0.0 as usize == host)
    }

    /// The output port of one node that leads to another, named `X>E5`.
    pub fn port(&self, name: &str) -> Option<(NodeId, u16)> {
        let (from, to) = name.split_once('>')?;
        let (from, to) = (self.node(from.trim())?, self.node(to.trim())?);
        let ends = self.links.iter().flat_map(|l| [(l.a, l.b), (l.b, l.a)]);
        ends.into_iter().find(|(a, b)| a.0 == from && b.0 == to).map(|(a, _)| a)
    }

    /// Name of an output port: `X>E5`.
    pub fn port_name(&self, port: (NodeId, u16)) -> String {
        let ends = self.links.iter().flat_map(|l| [(l.a, l.b), (l.b, l.a)]);
        let far = ends.into_iter().find(|(a, _)| *a == port).map_or("?", |(_, b)| self.name(b.0));
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
struct Builder {
    wiring: Wiring,
    rate: Rate,
    delay: Time,
    /// Number of the first host's name.
    first: usize,
    /// (is a host, index) in order of making; ids of switches are known at the end.
    pending: Vec<(End, End, Rate, Time)>,
    used: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Host(usize),
    Switch(usize),
}

impl Builder {
    fn new(rate: Rate, delay: Time, first: usize) -> Self {
        Self { wiring: Wiring::default(), rate, delay, first, pending: Vec::new(), used: Vec::new() }
    }
    fn host(&mut self) -> End {
        let n = self.wiring.hosts.len();
        self.wiring.hosts.push(format!("H{}", n + self.first));
        End::Host(n)
    }
    fn switch(&mut self, name: impl Into<String>, ports: u16) -> End {
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
        self.wiring
    }
}

/// Reads `[topology]`.
pub(crate) fn read(r: &mut Reader<'_>) -> Wiring {
    let rate = r.quantity("topology.link_rate", Rate::from_mbps(1.0), Rate::from_gbps(1600.0));
    let delay = r.quantity("topology.link_delay", Time::ZERO, Time::from_ms(100));
    let first = r.integer("topology.first", 0, 1) as usize;
    let mut b = Builder::new(rate, delay, first);
    match r.choice("topology.kind").as_str() {
        "core-edge" => core_edge(r, &mut b),
        "k-ary-n-tree" => tree(r, &mut b),
        "fat-tree" => fat_tree(r, &mut b),
        "leaf-spine" => leaf_spine(r, &mut b),
        "chain" => chain(r, &mut b, false),
        "ring" => chain(r, &mut b, true),
        "parking-lot" => parking_lot(r, &mut b),
        "graph" => graph(r, &mut b),
        _ => {
            let hosts = r.integer("topology.hosts", 1, 65_000) as usize;
            let ports = r.integer("topology.ports", 2, 65_000) as u16;
            let s = b.switch("S", ports);
            b.hosts_at(hosts, s);
        }
    }
    let mut wiring = b.finish();
    host_rates(r, &mut wiring);
    wiring
}

/// E1, E2, ... with some hosts each, all joined to X.
fn core_edge(r: &mut Reader<'_>, b: &mut Builder) {
    let ports = r.integer("topology.ports", 2, 4096) as u16;
    let items = r.list("topology.edges");
    let edges: Vec<usize> =
        items.iter().filter_map(|i: &String| i.parse().ok()).filter(|&n| n > 0 && n < 4096).collect();
    if edges.len() != items.len() || edges.len() < 2 {
        let reason = "must list at least two positive numbers of hosts";
        return r.wrong("topology.edges", reason, "write for example [3, 3, 2, 2]");
    }
    let switches: Vec<End> = (1..=edges.len()).map(|e| b.switch(format!("E{e}"), ports)).collect();
    let core = b.switch("X", ports);
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
    let (k, n) = (r.integer("topology.k", 2, 64) as usize, r.integer("topology.n", 1, 8) as u32);
    let hosts = k.saturating_pow(n);
    if hosts > 65_535 {
        let reason = format!("{k}^{n} hosts are too many");
        return r.wrong("topology.k", reason, "at most 65535 hosts");
    }
    let per_level = k.pow(n - 1);
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
    let k = r.integer("topology.k", 2, 64) as usize;
    if !k.is_multiple_of(2) {
        return r.wrong("topology.k", format!("{k} is odd"), "a fat tree needs an even number of ports");
    }
    let half = k / 2;
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
    let leaves = r.integer("topology.leaves", 1, 4096) as usize;
    let spines = r.integer("topology.spines", 1, 4096) as usize;
    let per = r.integer("topology.per_switch", 1, 4096) as usize;
    if leaves * per > 65_535 {
        return r.wrong("topology.leaves", format!("{} hosts are too many", leaves * per), "at most 65535");
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
    let n = r.integer("topology.switches", if wrap { 3 } else { 2 }, 4096) as usize;
    let per = r.integer("topology.per_switch", 1, 4096) as usize;
    let ports = r.integer("topology.ports", 2, 4096) as u16;
    if n * per > 65_535 {
        return r.wrong("topology.switches", format!("{} hosts are too many", n * per), "at most 65535");
    }
    let switches: Vec<End> = (0..n).map(|i| b.switch(format!("S{i}"), ports)).collect();
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
    let stages = r.integer("topology.stages", 1, 64) as usize;
    let long = r.integer("topology.long", 1, 1000) as usize;
    let ports = r.integer("topology.ports", 2, 4096) as u16;
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

/// Any graph: `topology.nodes` lists switches with their ports, `topology.links` links with rate and delay; whatever a
/// link names that is no switch is a host.
fn graph(r: &mut Reader<'_>, b: &mut Builder) {
    let mut lines: Vec<(&str, String)> = r.list("topology.nodes").into_iter().map(|l| ("nodes", l)).collect();
    lines.extend(r.list("topology.links").into_iter().map(|l| ("links", l)));
    let mut known: BTreeMap<String, End> = BTreeMap::new();
    // Switches first: what is left are hosts.
    for (what, line) in lines.iter().filter(|l| l.0 == "nodes") {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name, ports] if ports.parse::<u16>().is_ok_and(|p| p > 0) => {
                let end = b.switch(name, ports.parse().unwrap_or(1));
                if known.insert(name.to_ascii_lowercase(), end).is_some() {
                    r.wrong("topology.nodes", format!("switch `{name}` is there twice"), "give each a name");
                }
            }
            _ => r.wrong(
                &format!("topology.{what}"),
                format!("`{line}` is not a switch"),
                "write a name and a number of ports: \"S1 16\"",
            ),
        }
    }
    for (_, line) in lines.iter().filter(|l| l.0 == "links") {
        let mut words = line.split_whitespace();
        let (Some(from), Some(to)) = (words.next(), words.next()) else {
            r.wrong("topology.links", format!("`{line}` is not a link"), "write \"H1 S1 10 Gb/s 0.5 us\"");
            continue;
        };
        let rest: Vec<&str> = words.collect();
        let (mut rate, mut delay) = (b.rate, b.delay);
        for pair in rest.chunks(2) {
            let text = pair.concat();
            match (text.parse::<Rate>(), text.parse::<Time>()) {
                (Ok(v), _) if v >= Rate::from_mbps(1.0) => rate = v,
                (_, Ok(v)) => delay = v,
                _ => r.wrong(
                    "topology.links",
                    format!("`{text}` in `{line}` is neither a rate nor a delay"),
                    "write \"H1 S1 10 Gb/s 0.5 us\"",
                ),
            }
        }
        let mut end = |name: &str| match known.get(&name.to_ascii_lowercase()) {
            Some(e) => *e,
            None => {
                let e = b.host();
                if let Some(h) = b.wiring.hosts.last_mut() {
                    *h = name.into();
                }
                known.insert(name.to_ascii_lowercase(), e);
                e
            }
        };
        let (a, z) = (end(from), end(to));
        let (a, z) = if matches!(z, End::Host(_)) { (z, a) } else { (a, z) };
        b.pending.push((a, z, rate, delay));
    }
    let attached = |h: usize| b.pending.iter().filter(|p| matches!(p.0, End::Host(x) if x == h)).count();
    for (h, name) in b.wiring.hosts.iter().enumerate() {
        if attached(h) != 1 {
            let reason = format!("host `{name}` has {} links to switches; a host has one", attached(h));
            return r.wrong("topology.links", reason, "a name with several links must be in topology.nodes");
        }
    }
    if b.pending.iter().any(|p| matches!((p.0, p.1), (End::Host(_), End::Host(_)))) {
        r.wrong("topology.links", "two hosts are linked directly", "put a switch between them");
    }
    if b.wiring.hosts.is_empty() {
        r.wrong("topology.links", "a graph needs links", "write [\"H1 S1\", \"H2 S1\"]");
    }
}

/// `topology.host_rates`: access links that differ.
fn host_rates(r: &mut Reader<'_>, wiring: &mut Wiring) {
    for line in r.list("topology.host_rates") {
        let parsed = line.trim().split_once(' ').and_then(|(name, rate)| {
            let host = wiring.hosts.iter().position(|h| h.eq_ignore_ascii_case(name))?;
            Some((host, rate.parse::<Rate>().ok().filter(|r| *r >= Rate::from_mbps(1.0))?))
        });
        match parsed {
            Some((host, rate)) => {
                if let Some(l) = wiring.links.iter_mut().find(|l| l.a.0.0 as usize == host) {
                    l.rate = rate;
                }
            }
            None => r.wrong(
                "topology.host_rates",
                format!("`{line}` is not a host and a rate"),
                "write for example [\"H5 1 Gb/s\"]",
            ),
        }
    }
}
