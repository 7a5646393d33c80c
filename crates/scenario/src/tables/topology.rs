//! Shapes of networks: wires the `[topology]` of a scenario.
//!
//! Hosts are numbered in the order in which they appear; a host's access link comes with the host's end first.

mod delays;
mod graph;
mod paths;

use super::{Section, Settings, switch};
use crate::language::kinds::FileForm;
use crate::language::reader::Reader;
use crate::language::row::FARTHEST;
use crate::language::row::declare::*;
use crate::wiring::nics::Among;
use crate::wiring::{Builder, End};
use cnsim_fabric::{Routing, RunSpec};
use cnsim_units::Time;
use std::sync::Arc;

pub use crate::wiring::Wiring;
use delays::delays;
pub(crate) use delays::lead;
use graph::{fits, graph, host_rates};
use paths::routing;

const LINK_DELAYS: Kind = Kind::Time(Time::ZERO, FARTHEST);

choices! {
    /// `topology.kind`.
    Shape {
        SingleSwitch = "single-switch", CoreEdge = "core-edge", Tree = "k-ary-n-tree", FatTree = "fat-tree",
        LeafSpine = "leaf-spine", Clos = "clos", Rails = "rails", DualTor = "dual-tor", Chain = "chain", Ring = "ring", ParkingLot = "parking-lot", Graph = "graph",
    }
    /// `topology.routing`.
    Paths {
        FlowHash = "flow-hash", FrameHash = "frame-hash", RoundRobin = "round-robin",
        Destination = "destination", Clockwise = "clockwise",
    }
    /// `topology.hash`.
    FlowHash { PerSwitch = "per-switch", Polarised = "polarised", Fork = "hpcc-fork", }
}

rows! {
    KIND = key("topology.kind", Kind::Choice(Shape::WORDS), "single-switch", "shape of the network");
    FIRST = key("topology.first", Kind::Integer(0, 1), "0",
        "number of the first host: hosts are named H0, H1, ... or H1, H2, ...");
    HOSTS = key("topology.hosts", Kind::Integer(2, 65_000), "10", "number of hosts")
        .only(KIND, one_of!(Shape: SingleSwitch)).why(|shape, count| {
            (Shape::of(shape) == Some(Shape::LeafSpine)).then(|| leaves_in_place_of_hosts(count))
        });
    PORTS = key("topology.ports", Kind::Integer(2, 65_000), "16",
        "ports of each switch, raised if the wiring needs more")
        .only(KIND, one_of!(Shape: SingleSwitch | CoreEdge | Chain | Ring | ParkingLot));
    EDGES = key("topology.edges", Kind::List(&Kind::Integer(1, 4095)), "[3, 3, 2, 2]",
        "hosts at each edge switch; edges E1, E2, ... hang on the core X").only(KIND, one_of!(Shape: CoreEdge));
    K = key("topology.k", Kind::Integer(2, 64), "4",
        "arity of the tree (k^n hosts), or ports of a fat tree's switches (k^3/4 hosts)")
        .only(KIND, one_of!(Shape: Tree | FatTree));
    N = key("topology.n", Kind::Integer(1, 8), "3", "levels of the tree").only(KIND, one_of!(Shape: Tree));
    PODS = key("topology.pods", Kind::Integer(1, 1024), "4",
        "pods of a clos; cores join them").only(KIND, one_of!(Shape: Clos));
    LEAVES = key("topology.leaves", Kind::Integer(1, 4096), "4",
        "leaf switches; with clos those of a pod; with dual-tor in pairs, to both of which a host has a link")
        .only(KIND, one_of!(Shape: LeafSpine | Clos | DualTor));
    SPINES = key("topology.spines", Kind::Integer(1, 4096), "2",
        "spine switches; with clos those of a pod; with rails they join the rail switches")
        .only(KIND, one_of!(Shape: LeafSpine | Clos | Rails | DualTor));
    SERVERS = key("topology.servers", Kind::Integer(1, 4096), "4", "servers with rails").only(KIND, one_of!(Shape: Rails));
    GPUS = key("topology.gpus", Kind::Integer(1, 256), "8",
        "GPUs of a server, each a host: GPU i has a link to the switch inside its server, and one to rail switch i").only(KIND, one_of!(Shape: Rails));
    INSIDE_RATE = key("topology.inside_rate", Kind::Or("link", &kind::LINK_RATE), "link",
        "rate of the links inside a server; `link`: as topology.link_rate").only(KIND, one_of!(Shape: Rails));
    INSIDE_DELAY = key("topology.inside_delay", Kind::Or("link", &LINK_DELAYS), "link",
        "delay of the links inside a server; `link`: as topology.link_delay").only(KIND, one_of!(Shape: Rails));
    CORES = key("topology.cores", Kind::Integer(1, 4096), "4",
        "number of core switches. They form as many equal groups as a pod has spines. Spine N of a pod joins all cores of group N")
        .only(KIND, one_of!(Shape: Clos));
    FABRIC_RATE = key("topology.fabric_rate", Kind::Or("link", &kind::LINK_RATE), "link",
        "rate of the links between switches; `link`: as topology.link_rate")
        .only(KIND, one_of!(Shape: CoreEdge | Tree | FatTree | LeafSpine | Clos | Rails | DualTor | Chain | Ring | ParkingLot));
    SWITCHES = key("topology.switches", Kind::Integer(2, 4096), "4",
        "switches in the line or ring").only(KIND, one_of!(Shape: Chain | Ring));
    PER_SWITCH = key("topology.per_switch", Kind::Integer(1, 4096), "3",
        "hosts at each switch or leaf; with dual-tor at each pair of leaves")
        .only(KIND, one_of!(Shape: LeafSpine | Clos | DualTor | Chain | Ring));
    STAGES = key("topology.stages", Kind::Integer(1, 64), "2", "bottlenecks in a row").only(KIND, one_of!(Shape: ParkingLot));
    LONG = key("topology.long", Kind::Integer(1, 1000), "4",
        "hosts that send over all bottlenecks").only(KIND, one_of!(Shape: ParkingLot));
    NODES = key("topology.nodes", kind::LINES, "[]",
        "switches of a graph, each with its number of ports: \"S1 16\"").only(KIND, one_of!(Shape: Graph));
    LINKS = key("topology.links", kind::LINES, "[]",
        "links of a graph: \"H1 S1\" or \"S1 S2 40 Gb/s 2 us\"; a name that is no switch is a host")
        .only(KIND, one_of!(Shape: Graph));
    FILE = key("topology.file", kind::FILE, "off",
        "file with the lines of a graph: `switch S1 16`, `link H1 S1 10 Gb/s 0.5 us`").only(KIND, one_of!(Shape: Graph)).fixed("");
    ROUTING = key("topology.routing", Kind::Choice(Paths::WORDS), "flow-hash",
        "choice among equal paths: by a hash of the flow or the frame, in turn per destination, or by the destination's digit (d-mod-k); clockwise: around a ring in one sense, the long way, too");
    FORMAT = key("topology.format", Kind::Choice(FileForm::WORDS), "lines",
        "format of topology.file: lines of a graph, or a file of the HPCC fork of ns-3, SimAI or htsim; its node 7 is named H7 or S7")
        .only(KIND, one_of!(Shape: Graph));
    HASH = key("topology.hash", Kind::Choice(FlowHash::WORDS), "per-switch",
        "hash of the flow: salted at each switch, equal at all switches (a fat tree then uses few of its cores), or that of the HPCC fork")
        .only(ROUTING, one_of!(Paths: FlowHash));
    NIC = key("topology.nic", Kind::Or("hash", &Kind::Or("in-turn", &Kind::Integer(1, 256))), "hash",
        "NIC that a flow takes at a host with several, named H0#1, H0#2: the nearest to its destination by links, then by their delay; of equally near ones by a hash of the flow, the flows of a source in turn, or the one of this number")
        .only(KIND, one_of!(Shape: Rails | DualTor | Graph));
    LINK_RATE = key("topology.link_rate", kind::LINK_RATE, "10 Gb/s", "rate of every link");
    LINK_DELAY = key("topology.link_delay", LINK_DELAYS, "0.5 us", "propagation delay of every link");
    HOST_RATES = key("topology.host_rates", kind::LINES, "[]",
        "access links with another rate: \"H5 1 Gb/s\", \"H8..H15 10 Gb/s\", \"H0..H9/3 10 Gb/s\"");
    ADDED_DELAY = key("topology.added_delay", LINK_DELAYS, "0 us", "additional one-way delay of the access links of sending hosts");
    LOOP_DELAY = key("topology.loop_delay", Kind::Or("off", &Kind::Time(Time::ZERO, Time::from_s(1))), "off",
        "round trip between a sending host and its switch, processing included; sets the delay of the access link; off: topology.link_delay");
}

/// Reason and remedy where a leaf-spine is given this number of hosts.
fn leaves_in_place_of_hosts(count: &str) -> (String, String) {
    let count = count.parse::<u64>().ok();
    // Eight at a leaf, where that goes.
    let each = count.and_then(|n| [8, 4, 16, 32, 2, 1].into_iter().find(|e| n % e == 0 && n / e >= 2));
    let parts = count.zip(each).map_or_else(
        || "leaves = 4 and per_switch = 8".to_owned(),
        |(n, each)| format!("leaves = {} and per_switch = {each}", n / each),
    );
    (
        "has no effect: a leaf-spine has leaves times per_switch hosts".into(),
        format!("write {parts} in its place"),
    )
}

/// Choice among equal paths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Topology {
    pub(crate) routing: Routing,
}

impl Section for Topology {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let (host, switch) = (settings.host.processing, r.time(switch::PROCESSING));
        let (wiring, plans) = (&mut settings.wiring, &settings.traffic.plans);
        delays(r, wiring, plans, switch * 2 + host);
        for l in &wiring.links {
            let least = l.delay + switch.min(host);
            if least < Time::from_ns(10) {
                let (a, b) = (wiring.name(l.a.0), wiring.name(l.b.0));
                let reason = format!("delay and processing of the link {a} - {b} are together {least}");
                r.wrong(LINK_DELAY, reason, "make them at least 10 ns together");
                break;
            }
        }
        Self { routing: routing(r, wiring, plans) }
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        run.links.clone_from(&settings.wiring.links);
        run.routing = self.routing;
    }
}

/// Reads `[topology]`; none if something is wrong with it.
pub(crate) fn read(r: &mut Reader<'_>) -> Option<Wiring> {
    let before = r.problems.len();
    let (rate, delay) = (r.rate(LINK_RATE), r.time(LINK_DELAY));
    let first = r.integer(FIRST) as usize;
    let fabric = r.rate_or(FABRIC_RATE).unwrap_or(rate);
    let mut b = Builder::new(rate, fabric, delay, first);
    match r.choice(KIND) {
        Shape::SingleSwitch => single_switch(r, &mut b),
        Shape::CoreEdge => core_edge(r, &mut b),
        Shape::Tree => tree(r, &mut b),
        Shape::FatTree => fat_tree(r, &mut b),
        Shape::LeafSpine => leaf_spine(r, &mut b),
        Shape::Clos => clos(r, &mut b),
        Shape::Rails => rails(r, &mut b),
        Shape::DualTor => dual_tor(r, &mut b),
        Shape::Chain => chain(r, &mut b, false),
        Shape::Ring => chain(r, &mut b, true),
        Shape::ParkingLot => parking_lot(r, &mut b),
        Shape::Graph => graph(r, &mut b),
    }
    if r.problems.len() > before {
        return None;
    }
    let mut wiring = b.finish();
    if !fits(r, LINKS, wiring.hosts.len(), 0, 0) {
        return None;
    }
    if wiring.hosts.len() < 2 {
        r.wrong(KIND, "one host has nobody to send to", "use at least 2 hosts");
        return None;
    }
    if let Some(lost) = wiring.unreached() {
        let reason = match wiring.machines {
            Some(_) => format!("no NIC of {} has a path to another host", wiring.machine(lost)),
            None => format!("there is no path from {} to {}", wiring.hosts[0], wiring.hosts[lost]),
        };
        r.wrong(LINKS, reason, "link their switches, directly or over others");
        return None;
    }
    host_rates(r, &mut wiring);
    among(r, &mut wiring);
    (r.problems.len() == before).then_some(wiring)
}

fn single_switch(r: &mut Reader<'_>, b: &mut Builder) {
    let hosts = r.integer(HOSTS) as usize;
    let ports = r.integer(PORTS) as u16;
    let s = b.switch("S", ports);
    b.hosts_at(hosts, s);
}

/// E1, E2, ... with some hosts each, all joined to X.
fn core_edge(r: &mut Reader<'_>, b: &mut Builder) {
    let before = r.problems.len();
    let ports = r.integer(PORTS) as usize;
    let edges: Vec<usize> = r.integers(EDGES).into_iter().map(|n| n as usize).collect();
    if r.problems.len() > before {
        return;
    }
    if edges.len() < 2 {
        return r.wrong(EDGES, "lists fewer than two edge switches", "write for example [3, 3, 2, 2]");
    }
    let all = edges.iter().map(|n| ports.max(n + 1)).sum::<usize>() + ports.max(edges.len());
    if !fits(r, EDGES, edges.iter().sum(), edges.len() + 1, all) {
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
    let (k, n) = (r.integer(K) as usize, r.integer(N) as u32);
    let hosts = k.saturating_pow(n);
    let per_level = k.saturating_pow(n.saturating_sub(1));
    let switches = per_level.saturating_mul(n as usize);
    if k < 2 || n < 1 || !fits(r, K, hosts, switches, switches.saturating_mul(2 * k)) {
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
    let k = r.integer(K) as usize;
    if !k.is_multiple_of(2) {
        return r.wrong(K, format!("{k} is odd"), "a fat tree needs an even number of ports");
    }
    let half = k / 2;
    let switches = 2 * k * half + half * half;
    if !fits(r, K, k * half * half, switches, switches * k) {
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
    let leaves = r.integer(LEAVES) as usize;
    let spines = r.integer(SPINES) as usize;
    let per = r.integer(PER_SWITCH) as usize;
    if !fits(r, LEAVES, leaves * per, leaves + spines, leaves * (per + 2 * spines)) {
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
    let pods = r.integer(PODS) as usize;
    let leaves = r.integer(LEAVES) as usize;
    let spines = r.integer(SPINES) as usize;
    let cores = r.integer(CORES) as usize;
    let per = r.integer(PER_SWITCH) as usize;
    if !cores.is_multiple_of(spines) {
        let reason = format!("{cores} cores cannot be shared out among the {spines} spines of a pod");
        return r.wrong(CORES, reason, format!("use a multiple of {spines}"));
    }
    let each = cores / spines;
    let switches = pods * (leaves + spines) + cores;
    let ports = pods * (leaves * (per + 2 * spines) + 2 * cores);
    if !fits(r, PODS, pods * leaves * per, switches, ports) {
        return;
    }
    let mut number = r.integer(FIRST) as usize + pods * leaves * per;
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
    let n = r.integer(SWITCHES) as usize;
    let per = r.integer(PER_SWITCH) as usize;
    let ports = r.integer(PORTS) as usize;
    if wrap && n < 3 {
        return r.wrong(SWITCHES, format!("{n} switches make no ring"), "use at least 3, or a chain");
    }
    if !fits(r, SWITCHES, n * per, n, n * ports.max(per + 2)) {
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
    let stages = r.integer(STAGES) as usize;
    let long = r.integer(LONG) as usize;
    let ports = r.integer(PORTS) as u16;
    let each = usize::from(ports).max(long + 1);
    if !fits(r, PORTS, long + 2 * stages + 1, 2 * stages + 2, (2 * stages + 2) * each) {
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

/// Reads `topology.nic`.
fn among(r: &mut Reader<'_>, wiring: &mut Wiring) {
    let among = match r.word(NIC).as_str() {
        "hash" => Among::Hash,
        "in-turn" => Among::InTurn,
        _ => Among::Number(r.integer_or(NIC).unwrap_or(1) as usize),
    };
    let few = wiring.all_machines().map(|nic| wiring.nics(nic)).filter(|nics| nics.len() > 1);
    let few = few.min_by_key(|nics| nics.len());
    match (&mut wiring.machines, among, few) {
        (None, ..) if r.is_asked(NIC) && !r.is_of_case(KIND) => {
            r.wrong(NIC, "has no effect: each host has one NIC", "remove it");
        }
        (Some(_), Among::Number(n), Some(nics)) if n > nics.len() => {
            let reason = format!("{} has no NIC {n}: it has {}", wiring.machine(nics.start), nics.len());
            r.wrong(NIC, reason, format!("write 1 to {}, hash or in-turn", nics.len()));
        }
        (Some(machines), ..) => Arc::make_mut(machines).among = among,
        _ => {}
    }
}

/// Servers of GPUs. GPU i of each has a link to a switch inside its server, and one to the i-th rail switch, which spines join.
fn rails(r: &mut Reader<'_>, b: &mut Builder) {
    let (servers, gpus) = (r.integer(SERVERS) as usize, r.integer(GPUS) as usize);
    let spines = r.integer(SPINES) as usize;
    let inside = r.rate_or(INSIDE_RATE).unwrap_or(b.rate);
    let inside_delay = r.time_or(INSIDE_DELAY).unwrap_or(b.delay);
    let (switches, ports) = (servers + gpus + spines, servers * gpus * 2 + 2 * gpus * spines);
    if !fits(r, SERVERS, 2 * servers * gpus, switches, ports) {
        return;
    }
    let within: Vec<End> = (0..servers).map(|i| b.switch(format!("N{i}"), gpus as u16)).collect();
    let rail: Vec<End> = (0..gpus).map(|i| b.switch(format!("R{i}"), (servers + spines) as u16)).collect();
    let spine: Vec<End> = (0..spines).map(|i| b.switch(format!("S{i}"), gpus as u16)).collect();
    for server in within {
        for rail in &rail {
            let gpu = b.host();
            b.pending.push((gpu, server, inside, inside_delay));
            b.link(gpu, *rail);
        }
    }
    for rail in rail {
        spine.iter().for_each(|spine| b.link(rail, *spine));
    }
}

/// Leaves in pairs, each host with a link to both of its pair; every leaf joined to every spine.
fn dual_tor(r: &mut Reader<'_>, b: &mut Builder) {
    let leaves = r.integer(LEAVES) as usize;
    let spines = r.integer(SPINES) as usize;
    let per = r.integer(PER_SWITCH) as usize;
    if !leaves.is_multiple_of(2) {
        return r.wrong(LEAVES, format!("{leaves} leaves make no pairs"), "write an even number");
    }
    if !fits(r, LEAVES, leaves * per, leaves + spines, leaves * (per + 2 * spines)) {
        return;
    }
    let leaf: Vec<End> = (1..=leaves).map(|i| b.switch(format!("L{i}"), (per + spines) as u16)).collect();
    let spine: Vec<End> = (1..=spines).map(|i| b.switch(format!("S{i}"), leaves as u16)).collect();
    for pair in leaf.chunks(2) {
        for _ in 0..per {
            let host = b.host();
            pair.iter().for_each(|leaf| b.link(host, *leaf));
        }
    }
    for l in leaf {
        spine.iter().for_each(|s| b.link(l, *s));
    }
}
