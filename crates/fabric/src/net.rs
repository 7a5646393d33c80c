//! The network as the engines see it: ports numbered, links resolved, routes computed. Immutable during a run.

mod classes;
mod trip;
mod windows;

pub(crate) use crate::hash::Paths;

use crate::RunError;
use crate::flows::{Flows, Numbered};
use crate::hash::Salts;
use crate::mix::mix;
use crate::scheme::Managed;
use crate::spec::{
    ClassSpec, ControlTransport, Draws, Graph, LinkLoss, PauseFrames, PortFault, RateChange, Record,
    Rounding, Routing, RunSpec, Ties, TransportSpec, WatchdogSpec,
};
use crate::tx_rate::{Clock, TxRate};
use cnsim_scheme_api::{FlowId, NodeId, Probe, ProbeTarget, Rate, Time};
use prefetch_index::prefetch_index;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Times of a run are below this (5 hours in ps), so that a frame has bits beside its generation time.
pub(crate) const LONGEST: u64 = 1 << 54;

/// The far end of an output port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Number of the receiving port at the far end.
    pub(crate) peer: u32,
    /// Node at the far end.
    pub(crate) peer_node: u32,
    /// Propagation delay plus processing delay at the far end, ps.
    pub(crate) delay: u64,
    /// Rate of the link.
    pub(crate) tx: TxRate,
    /// Rate of the link, bit/s.
    pub(crate) rate: Rate,
    /// Whether the link is part of the spanning tree for broadcasts.
    pub(crate) tree: bool,
}

/// A group of ports to pick from: `way_ports[first + (hash & mask | port of the host & local)]`.
#[derive(Clone, Copy, Debug)]
struct Way {
    first: u32,
    /// Number of choices, a power of two, less one.
    mask: u16,
    /// All ones at the destination's own switch, else 0.
    local: u16,
    /// 2^32 over the product of the choices at lower levels ([`Routing::Destination`]).
    share: u64,
    /// Whether the number of choices is not a power of two, or the hash is [`Routing::ForkHash`].
    odd: bool,
}

/// The link of a host: its switch (index among switches), the port there, and the switch's column in the table of routes.
#[derive(Clone, Copy, Debug)]
struct Seat {
    switch: u32,
    port: u16,
    column: u16,
}

/// See [`Net::by_frame`].
fn bits_of_frame(spec: &RunSpec) -> u32 {
    match (spec.routing, spec.draws) {
        (Routing::FrameHash, Draws::Keyed) => 0xFFFF,
        (Routing::FrameHash, Draws::Stream) => u32::MAX,
        _ => 0,
    }
}

/// Everything that does not change during a run.
#[derive(Debug, Default)]
pub(crate) struct Net {
    pub(crate) hosts: u32,
    /// First port number of each node, and the total at the end.
    pub(crate) ports: Vec<u32>,
    /// Per port.
    pub(crate) links: Vec<Option<Link>>,
    /// Per host.
    attach: Vec<Seat>,
    /// Per (switch, column of the destination switch): group of ports.
    table: Vec<u16>,
    /// Per switch: its column. Switches with hosts come first.
    columns: Vec<u32>,
    /// Number of switches with hosts.
    edges: usize,
    /// The groups, flat in `way_ports`, for a choice without branches.
    ways: Vec<Way>,
    way_ports: Vec<u16>,
    /// Levels from the hosts upwards.
    level: Vec<u32>,
    pub(crate) routing: Routing,
    /// Bits of a frame's number that choose its path with [`Routing::FrameHash`], else 0: tested first, as large runs use it most.
    by_frame: u32,
    salts: Salts,
    /// By which hosts send.
    pub(crate) clocks: Vec<Clock>,
    pub(crate) switch_clock: Clock,
    /// Order of data frames that reach a switch at the same time.
    pub(crate) ties: Ties,
    /// Largest excess of the bytes on a link above its rate, as times are rounded down or clocks run fast.
    pub(crate) slack: u64,
    pub(crate) schemes: Vec<Managed>,
    pub(crate) control: ControlTransport,
    /// Faults of ports.
    pub(crate) faults: Vec<PortFault>,
    /// Links that lose frames.
    pub(crate) losses: Vec<LinkLoss>,
    pub(crate) watchdog: Option<WatchdogSpec>,
    pub(crate) pause_frames: PauseFrames,
    pub(crate) record: Record,
    pub(crate) duration: u64,
    pub(crate) seed: u64,
    /// Draws are made by place ([`Draws::Keyed`]).
    pub(crate) keyed: bool,
    /// Most frames and events of a phase that are kept of a node, as they may happen again; 0 where a run is not put together from phases.
    pub(crate) keeps: usize,
    /// Least delay of all links, ps: a node may run that far ahead of its neighbours.
    pub(crate) lead: u64,
    /// Length of a node's window, ps: twice the lead if nodes take turns, else the lead.
    pub(crate) window: u64,
    /// Leads in a window while a switch can send only data: in a star whose switch is far from a PAUSE. In other networks, the
    /// leads of an ordinary window.
    pub(crate) longest: u64,
    /// Per node: whether it is in the first of two halves without links inside a half. Empty if there are no such halves.
    pub(crate) halves: Vec<bool>,
    /// Longest data frame of all sources, bytes.
    pub(crate) mtu: u16,
    /// The finite flows of the run.
    pub(crate) flows: Flows,
    /// Of their queue pairs, if they have some.
    pub(crate) transport: Option<TransportSpec>,
    /// Which of them follow others.
    pub(crate) graph: Option<Arc<Graph>>,
    /// By host, first and last (exclusive) NIC of its machine; empty where each host is one.
    pub(crate) machines: Vec<(u32, u32)>,
    /// Classes of data, in order of priority: at least one.
    pub(crate) classes: Vec<ClassSpec>,
}

impl Net {
    /// Time at which feedback that leaves a node at `now` reaches its host without a frame; none if it travels as a frame.
    #[inline]
    pub(crate) fn direct(&self, now: u64) -> Option<u64> {
        match self.control {
            ControlTransport::Ideal { latency } => Some(now.saturating_add(latency.as_ps())),
            ControlTransport::Priority | ControlTransport::InBand => None,
        }
    }

    /// How long a frame of `len` bytes that arrives at a port has been on its way, ps.
    pub(crate) fn under_way(&self, node: u32, port: u16, len: u16) -> u64 {
        let of = |port: u32| self.links.get(port as usize).copied().flatten();
        let far = of(self.ports[node as usize] + u32::from(port)).and_then(|link| of(link.peer));
        far.map_or(0, |link| link.delay + link.tx.time(len))
    }

    /// Whole bins of the recording.
    pub(crate) fn bins(&self) -> usize {
        self.duration.checked_div(self.record.bin.as_ps()).unwrap_or(0) as usize
    }

    pub(crate) fn build(spec: &RunSpec) -> Result<Self, RunError> {
        let bad = |text: String| Err(RunError::Spec(text));
        let hosts = spec.hosts.len() as u32;
        if hosts == 0 || hosts > 65_535 {
            return bad(format!("{hosts} hosts; 1 to 65535 are possible"));
        }
        if spec.duration.as_ps() >= LONGEST {
            return bad(format!("a run of {}; less than 5 hours are possible", spec.duration));
        }
        let nodes = spec.hosts.len() + spec.switches.len();
        let (mut ports, mut total) = (vec![0], 0u32);
        for count in spec.hosts.iter().map(|_| 1).chain(spec.switches.iter().map(|s| u32::from(s.ports))) {
            total += count;
            ports.push(total);
        }
        let mut links: Vec<Option<Link>> = vec![None; total as usize];
        let number = |(n, p): (NodeId, u16)| -> Result<u32, RunError> {
            let i = n.0 as usize;
            if i >= nodes || u32::from(p) >= ports[i + 1] - ports[i] {
                return Err(RunError::Spec(format!(
                    "a link names port {p} of node {i}, which does not exist"
                )));
            }
            Ok(ports[i] + u32::from(p))
        };
        if let Some(h) = spec.hosts.iter().find(|h| !(-1e5..=1e5).contains(&h.clock_ppm)) {
            let (name, ppm) = (&h.name, h.clock_ppm);
            return bad(format!("the clock of host {name} is {ppm} ppm off; less than 100,000 are possible"));
        }
        let clock =
            |n: NodeId| Clock::new(spec.rounding, spec.hosts.get(n.0 as usize).map_or(0.0, |h| h.clock_ppm));
        // Transmission times are products in 64 bits: of a slower port they would wrap, and it would seem fast.
        let possible = |rate: Rate| (1e4..=1e13).contains(&rate.bps());
        let mut lead = u64::MAX;
        for l in &spec.links {
            let (a, b) = (number(l.a)?, number(l.b)?);
            if a == b || links[a as usize].is_some() || links[b as usize].is_some() {
                return bad(format!("two links at port {} of node {}", l.a.1, l.a.0.0));
            }
            if !possible(l.rate) {
                return bad(format!("a link of {}; 10 kb/s to 10 Tb/s are possible", l.rate));
            }
            for (from, to, near, far) in [(a, b, l.a.0, l.b.0), (b, a, l.b.0, l.a.0)] {
                let delay = (l.delay + spec.processing(far)).as_ps();
                if delay < 10_000 {
                    return bad(format!(
                        "the link between nodes {} and {} has {delay} ps of delay and processing; at least 10 ns are needed",
                        l.a.0.0, l.b.0.0
                    ));
                }
                lead = lead.min(delay);
                links[from as usize] = Some(Link {
                    peer: to,
                    peer_node: far.0,
                    delay,
                    tx: clock(near).tx(l.rate),
                    rate: l.rate,
                    tree: false,
                });
            }
        }
        for &RateChange { node, port, rate, .. } in &spec.changes {
            if rate.bps() > 0.0 && !possible(rate) {
                return bad(format!(
                    "port {port} of node {} is to serve at {rate}; 10 kb/s to 10 Tb/s are possible, and 0 b/s stops it",
                    node.0
                ));
            }
            if spec.switch(node).is_none_or(|s| port >= s.ports) {
                return bad(format!(
                    "port {port} of node {} cannot change its rate of service: there is no such port of a switch",
                    node.0
                ));
            }
        }
        PortFault::check(spec)?;
        if !spec.record.flow_events.is_empty() && !spec.record.trips {
            return bad("events of flows are recorded with the time of flows alone".into());
        }
        LinkLoss::check(spec)?;
        if let Some(&(node, port)) = spec.record.captures.iter().find(|&&end| number(end).is_err()) {
            return bad(format!("port {port} of node {} cannot be captured: there is none", node.0));
        }
        if spec.record.trips && spec.hosts.iter().flat_map(|h| &h.sources).any(|s| s.connected) {
            return bad("the time of flows cannot be kept where they share a connection".into());
        }
        spec.watchdog.map_or(Ok(()), |watchdog| watchdog.check(spec))?;
        if !(1..=1500).contains(&spec.pause_frames.length.get()) {
            return bad(format!("PAUSE frames of {}; 1 B to 1500 B are possible", spec.pause_frames.length));
        }
        let classes = spec.data_classes()?;
        for switch in &spec.switches {
            if let Some(why) = switch.shared.as_ref().and_then(|shared| shared.refused(switch, &classes)) {
                return bad(format!("the shared buffer of {}: {why}", switch.name));
            }
        }
        if let Some(transport) = &spec.transport {
            transport.check(spec).map_err(RunError::Spec)?;
        }
        spec.graph.as_ref().map_or(Ok(()), |graph| graph.check(spec).map_err(RunError::Spec))?;
        let (exact, keyed) = (Clock::new(Rounding::Exact, 0.0), spec.draws == Draws::Keyed);
        let frames = spec.hosts.iter().flat_map(|h| &h.sources).map(|s| s.frame.get() as u16);
        let mut net = Self {
            hosts,
            ports,
            links,
            routing: spec.routing,
            by_frame: bits_of_frame(spec),
            salts: Salts::new(spec)?,
            clocks: (0..hosts).map(|h| clock(NodeId(h))).collect(),
            switch_clock: Clock::new(spec.rounding, 0.0),
            ties: spec.ties,
            // A time cut to whole nanoseconds is at least half of it, and no clock runs more than a tenth too fast.
            slack: if (0..=hosts).all(|n| clock(NodeId(n)) == exact) { 1 } else { 3 },
            schemes: Managed::all(&spec.schemes)?,
            control: spec.control,
            faults: spec.faults.clone(),
            losses: spec.losses.clone(),
            watchdog: spec.watchdog,
            pause_frames: spec.pause_frames,
            record: spec.record.clone(),
            duration: spec.duration.as_ps(),
            seed: spec.seed,
            keyed,
            // The sweep's keys have 44 bits for a time within the window.
            lead: if lead == u64::MAX { 1_000_000 } else { lead.min(1 << 43) },
            mtu: frames.max().unwrap_or(1500),
            flows: Flows::new(spec),
            transport: spec.transport,
            graph: spec.graph.clone(),
            classes,
            ..Self::default()
        };
        if let Some(graph) = net.graph.as_ref().filter(|graph| !graph.machines.is_empty()) {
            net.machines = (0..hosts).map(|h| graph.nics(h)).map(|nics| (nics.start, nics.end)).collect();
        }
        net.may_acknowledge(spec)?;
        net.routes(spec)?;
        net.span();
        net.windows(spec);
        if let ControlTransport::Ideal { latency } = net.control
            && latency.as_ps() < 2 * net.lead
        {
            let least = Time::from_ps(2 * net.lead);
            return bad(format!(
                "ideal feedback takes {latency}; it must take at least {least}, twice the shortest delay of a link"
            ));
        }
        Ok(net)
    }

    fn routes(&mut self, spec: &RunSpec) -> Result<(), RunError> {
        let (h, s) = (self.hosts as usize, spec.switches.len());
        for host in 0..h {
            let bad = |why: &str| Err(RunError::Spec(format!("host {host} {why}")));
            let Some(l) = self.links[self.ports[host] as usize] else { return bad("has no link") };
            let Some(switch) = l.peer_node.checked_sub(self.hosts) else {
                return bad("is not linked to a switch");
            };
            let port = (l.peer - self.ports[l.peer_node as usize]) as u16;
            self.attach.push(Seat { switch, port, column: 0 });
        }
        let neighbour =
            |(p, l): (u16, &Option<Link>)| Some((p, (l.as_ref()?.peer_node as usize).checked_sub(h)?));
        let mut neighbours: Vec<Vec<(u16, usize)>> =
            (h..h + s).map(|n| (0..).zip(self.links_of(n)).filter_map(neighbour).collect()).collect();
        if self.routing == Routing::ForkHash {
            // The fork lists equal next hops by falling number of the switch.
            neighbours.iter_mut().for_each(|all| all.sort_by_key(|&(_, n)| Reverse(self.salts.number(n))));
        }
        let breadth = |starts: &[usize]| {
            let mut dist = vec![u32::MAX; s];
            let mut queue: VecDeque<usize> = starts.iter().copied().collect();
            starts.iter().for_each(|&x| dist[x] = 0);
            while let Some(x) = queue.pop_front() {
                for &(_, y) in &neighbours[x] {
                    if dist[y] == u32::MAX {
                        dist[y] = dist[x] + 1;
                        queue.push_back(y);
                    }
                }
            }
            dist
        };
        let edges: Vec<usize> = self.attach.iter().map(|a| a.switch as usize).collect();
        self.level = breadth(&edges);
        let mut part = vec![usize::MAX; s];
        for &edge in &edges {
            if part[edge] == usize::MAX {
                (0..)
                    .zip(breadth(&[edge]))
                    .filter(|d| d.1 < u32::MAX)
                    .for_each(|(x, _): (usize, _)| part[x] = edge);
            }
        }
        let parts = edges.iter().any(|&edge| part[edge] != part[edges[0]]);
        let apart = |pair: &(usize, usize)| part[edges[pair.0]] != part[edges[pair.1]];
        if let Some((from, to)) = parts.then(|| spec.pairs().find(apart)).flatten() {
            return Err(RunError::Spec(format!("no path from host {from} to host {to}")));
        }
        // Switches with hosts are no more than hosts, so that their columns fit 16 bits.
        self.edges = self.level.iter().filter(|&&level| level == 0).count();
        let mut order: Vec<usize> = (0..s).collect();
        order.sort_by_key(|&x| self.level[x] > 0);
        self.columns = vec![0; s];
        (0..).zip(order).for_each(|(column, x)| self.columns[x] = column);
        for seat in &mut self.attach {
            seat.column = self.columns[seat.switch as usize] as u16;
        }
        self.table = vec![u16::MAX; s * s];
        let mut known: BTreeMap<(u32, Vec<u16>), u16> = BTreeMap::new();
        let widest = spec.switches.iter().map(|s| s.ports).max().unwrap_or(0);
        self.ways.push(Way { first: 0, mask: 0, local: u16::MAX, share: 1 << 32, odd: false });
        self.way_ports.extend(0..widest);
        let mut lately = vec![u16::MAX; s];
        for to in 0..s {
            let dist = breadth(&[to]);
            let column = self.columns[to] as usize;
            self.table[to * s + column] = 0;
            let mut group: Vec<u16> = Vec::new();
            for from in (0..s).filter(|&f| f != to && dist[f] != u32::MAX) {
                let clockwise = self.routing == Routing::Clockwise;
                let leads = |n: usize| match clockwise {
                    true => n == (from + 1) % s,
                    false => dist[n] + 1 == dist[from],
                };
                group.clear();
                group.extend(neighbours[from].iter().filter(|&&(_, n)| leads(n)).map(|&(p, _)| p));
                if clockwise {
                    group.truncate(1);
                }
                if group.is_empty() {
                    let why =
                        "no link to the switch of the next number; clockwise routes are those of a ring";
                    return Err(RunError::Spec(format!("switch {from} has {why}")));
                }
                // Mostly that of the destination before.
                if group == self.ports_of(lately[from]) {
                    self.table[from * s + column] = lately[from];
                    continue;
                }
                let level = if self.routing == Routing::Destination { self.level[from] } else { 0 };
                let next = self.ways.len();
                if next >= usize::from(u16::MAX) {
                    let most = "more than 65534 different groups of ports to choose from";
                    return Err(RunError::Spec(format!("the routes need {most}")));
                }
                let id = *known.entry((level, group.clone())).or_insert_with(|| {
                    let n = group.len() as u16;
                    self.ways.push(Way {
                        first: self.way_ports.len() as u32,
                        mask: n - 1,
                        local: 0,
                        share: (1u64 << 32).div_ceil(u64::from(n).saturating_pow(level)),
                        odd: !n.is_power_of_two() || n > 1 && self.routing == Routing::ForkHash,
                    });
                    self.way_ports.extend(&group);
                    next as u16
                });
                (self.table[from * s + column], lately[from]) = (id, id);
            }
        }
        Ok(())
    }

    /// The links at the ports of a node.
    pub(crate) fn links_of(&self, node: usize) -> &[Option<Link>] {
        &self.links[self.ports[node] as usize..self.ports[node + 1] as usize]
    }

    /// Prefetches the routes of switch `s` to all hosts.
    #[inline]
    pub(crate) fn expect(&self, s: usize) {
        for column in (0..self.edges).step_by(32) {
            prefetch_index(&self.table, s * self.level.len() + column);
        }
    }

    /// Output port of switch `s` by which data goes on, or what passes as data, with these source, destination and number.
    #[inline(always)]
    pub(crate) fn route(&self, s: usize, (src, dst, number): (u32, u32, u32), paths: &mut Paths) -> u16 {
        self.route_flow(s, dst, src * self.hosts + dst, number, paths)
    }

    /// The same towards host `dst`, without branches if the number of choices is a power of two, as is usual.
    #[inline(always)]
    fn route_flow(&self, s: usize, dst: u32, flow: u32, seq: u32, paths: &mut Paths) -> u16 {
        let Seat { port, column, .. } = self.attach[dst as usize];
        let way = &self.ways[self.table[s * self.level.len() + usize::from(column)] as usize];
        if way.odd {
            let seen = (dst, flow, seq);
            return paths.of(seen, |turns| self.among(s, way, seen, turns));
        }
        let turns = &mut paths.turns;
        let pick = self.pick(s, way, (dst, flow, seq), turns, |n| n & u64::from(way.mask)) as u16;
        self.way_ports[way.first as usize + usize::from(pick & way.mask | port & way.local)]
    }

    /// Output ports of switch `s` by which a frame to host `dst` may leave.
    pub(crate) fn ports_to(&self, s: usize, dst: u32) -> Vec<u16> {
        let Seat { port, switch, .. } = self.attach[dst as usize];
        if switch as usize == s { vec![port] } else { self.group(s, switch as usize).to_vec() }
    }

    /// Source and destination host of a flow.
    pub(crate) fn hosts_of(&self, flow: FlowId) -> (u32, u32) {
        let numbered = self.flows.numbered(flow).map(|flow| (flow.src, flow.dst));
        numbered.unwrap_or((flow.0 / self.hosts, flow.0 % self.hosts))
    }

    /// Output port of switch `s` for control of a flow. Of a queue pair's it goes back to the source, with addresses and ports exchanged.
    pub(crate) fn route_control(&self, s: usize, dst: u32, flow: FlowId, paths: &mut Paths) -> u16 {
        match self.flows.numbered(flow).map(Numbered::back) {
            Some((src, _, number)) => self.route(s, (src, dst, number), paths),
            None => self.route_flow(s, dst, flow.0, 0, paths),
        }
    }

    /// Output port of switch `s` towards another switch. `seen` has the fields of a frame that decide: destination, flow and number.
    #[cold]
    pub(crate) fn towards(&self, s: usize, to: usize, seen: (u32, u32, u32), paths: &mut Paths) -> u16 {
        let way = &self.ways[self.table[s * self.level.len() + self.columns[to] as usize] as usize];
        self.among(s, way, seen, &mut paths.turns)
    }

    /// Output port of switch `s` by a way with any number of choices.
    #[inline(never)]
    fn among(&self, s: usize, way: &Way, seen: (u32, u32, u32), turns: &mut [u8]) -> u16 {
        let choices = u64::from(way.mask) + 1;
        let pick = self.pick(s, way, seen, turns, |n| n % choices) % choices;
        self.way_ports[way.first as usize + pick as usize]
    }

    /// The number that chooses among equal paths: its remainder by their number (`modulo`) is the path of a frame.
    #[inline(always)]
    fn pick(
        &self,
        s: usize,
        way: &Way,
        (dst, flow, seq): (u32, u32, u32),
        turns: &mut [u8],
        modulo: impl Fn(u64) -> u64,
    ) -> u64 {
        if self.by_frame > 0 {
            mix((u64::from(flow) << 32) ^ u64::from(seq & self.by_frame) ^ ((s as u64) << 17))
        } else if self.routing == Routing::ForkHash {
            if way.odd { self.salts.fork(s, self.hosts, flow, seq).into() } else { 0 }
        } else if self.routing == Routing::RoundRobin {
            let Some(next) = turns.get_mut(dst as usize) else { return 0 };
            let now = u64::from(*next);
            *next = if way.mask == 0 { *next } else { modulo(now + 1) as u8 };
            now
        } else if self.routing == Routing::Destination {
            (u64::from(dst) * way.share) >> 32
        } else {
            self.salts.of(s, flow, seq)
        }
    }

    /// Ports of switch `s` that lead to another switch; none without a path.
    #[inline]
    fn group(&self, s: usize, to: usize) -> &[u16] {
        self.ports_of(self.table[s * self.level.len() + self.columns[to] as usize])
    }

    #[inline]
    fn ports_of(&self, way: u16) -> &[u16] {
        let way = self.ways.get(usize::from(way));
        way.and_then(|w| self.way_ports[w.first as usize..].get(..=usize::from(w.mask))).unwrap_or_default()
    }

    /// Rate of a port's link. A port without a link carries nothing, but its scheme has a rate.
    pub(crate) fn rate(&self, port: u32) -> Rate {
        self.links[port as usize].map_or(Rate::from_gbps(10.0), |l| l.rate)
    }

    /// Ports of a node that are on the spanning tree, except one.
    pub(crate) fn tree_ports(&self, node: u32, but: u16) -> impl Iterator<Item = usize> {
        let links = self.links_of(node as usize);
        let on_tree = move |p: &usize| *p != usize::from(but) && links[*p].is_some_and(|l| l.tree);
        (0..links.len()).filter(on_tree)
    }

    /// What a switch remembers of paths, before the first frame.
    pub(crate) fn paths(&self) -> Paths {
        self.salts.paths(self.routing, self.hosts)
    }

    /// Does switch `s` use several ports in turn for some host?
    pub(crate) fn in_turn(&self, s: usize) -> bool {
        let many = |to: usize| to != s && self.group(s, to).len() > 1;
        self.routing == Routing::RoundRobin && self.attach.iter().any(|a| many(a.switch as usize))
    }

    /// Switch (index among switches) and port of a congestion point.
    pub(crate) fn point(&self, point: u32) -> Option<(usize, u16)> {
        if point as usize >= self.links.len() * self.classes.len() {
            return None;
        }
        let point = point % self.links.len() as u32;
        let node = self.ports.partition_point(|&p| p <= point).checked_sub(1)?;
        let s = node.checked_sub(self.hosts as usize)?;
        (s < self.level.len()).then(|| (s, (point - self.ports[node]) as u16))
    }

    /// Can a limiter send this probe? `whole`: it serves all flows of its host.
    pub(crate) fn may_probe(&self, whole: bool, probe: &Probe) -> Result<(), String> {
        match probe.target {
            _ if whole => Err("it sends a probe, but its limiter serves all flows of the host, so that there is no path to \
                               probe; `Scope::Pair` has one"
                .into()),
            ProbeTarget::Point(point) if self.point(point.0).is_none() => Err(format!(
                "it sends a probe to congestion point {}, which does not exist: take the `point` of a message",
                point.0
            )),
            _ => Ok(()),
        }
    }

    /// The frames of a flow up to so many of its bytes.
    #[inline]
    pub(crate) fn frames_below(&self, flow: FlowId, bytes: u64) -> u32 {
        self.flows.frames_below(flow, bytes)
    }
}
