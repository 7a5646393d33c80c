//! Shapes of networks: wires the `[topology]` of a scenario.
//!
//! Hosts are numbered in the order in which they appear; a host's access link comes with the host's end first.

use crate::graph::{fits, graph, host_rates};
use crate::kinds::Shape;
use crate::reader::Reader;
use crate::wiring::{Builder, End};

pub use crate::wiring::Wiring;

/// Reads `[topology]`; none if something is wrong with it.
pub(crate) fn read(r: &mut Reader<'_>) -> Option<Wiring> {
    let before = r.problems.len();
    let (rate, delay) = (r.rate("topology.link_rate"), r.time("topology.link_delay"));
    let first = r.integer("topology.first") as usize;
    let fabric = r.rate_or("topology.fabric_rate").unwrap_or(rate);
    let mut b = Builder::new(rate, fabric, delay, first);
    match r.choice("topology.kind") {
        Shape::SingleSwitch => single_switch(r, &mut b),
        Shape::CoreEdge => core_edge(r, &mut b),
        Shape::Tree => tree(r, &mut b),
        Shape::FatTree => fat_tree(r, &mut b),
        Shape::LeafSpine => leaf_spine(r, &mut b),
        Shape::Clos => clos(r, &mut b),
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
        return r
            .wrong("topology.edges", "lists fewer than two edge switches", "write for example [3, 3, 2, 2]");
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

/// Pods of leaves and spines, each leaf joined to the spines of its pod. Spine i of a pod is joined to the i-th equal part of the cores.
/// Nodes are numbered through, hosts first, as in the files of the HPCC fork: its path hash takes these numbers.
fn clos(r: &mut Reader<'_>, b: &mut Builder) {
    let pods = r.integer("topology.pods") as usize;
    let leaves = r.integer("topology.leaves") as usize;
    let spines = r.integer("topology.spines") as usize;
    let cores = r.integer("topology.cores") as usize;
    let per = r.integer("topology.per_switch") as usize;
    if !cores.is_multiple_of(spines) {
        let reason = format!("{cores} cores cannot be shared out among the {spines} spines of a pod");
        return r.wrong("topology.cores", reason, format!("use a multiple of {spines}"));
    }
    let each = cores / spines;
    let switches = pods * (leaves + spines) + cores;
    let ports = pods * (leaves * (per + 2 * spines) + 2 * cores);
    if !fits(r, "topology.pods", pods * leaves * per, switches, ports) {
        return;
    }
    let mut number = r.integer("topology.first") as usize + pods * leaves * per;
    let mut layer = |count: usize, letter: char, ports: usize| -> Vec<End> {
        number += count;
        (number - count..number).map(|i| b.switch(format!("{letter}{i}"), ports as u16)).collect()
    };
    let leaf = layer(pods * leaves, 'L', per + spines);
    let spine = layer(pods * spines, 'S', leaves + each);
    let core = layer(cores, 'C', pods);
    for l in &leaf {
        b.hosts_at(per, *l);
    }
    for (i, l) in leaf.iter().enumerate() {
        let pod = i / leaves;
        for s in &spine[pod * spines..][..spines] {
            b.link(*l, *s);
        }
    }
    for (i, s) in spine.iter().enumerate() {
        for c in &core[i % spines * each..][..each] {
            b.link(*s, *c);
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
