//! Routes: the ports by which a switch may send towards each other switch, and which of them a frame takes.

use super::{Link, Net};
use crate::flows::Numbered;
use crate::hash::{Paths, Salts};
use crate::mix::mix;
use crate::numbers::Ps;
use crate::spec::{Draws, Routing, RunSpec, SMALLEST, TransportSpec};
use cnsim_scheme_api::{FlowId, NodeId, Time};
use prefetch_index::prefetch_index;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Which ports lead where.
#[derive(Debug, Default)]
pub(crate) struct Routes {
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
    pub(super) level: Vec<u32>,
    pub(crate) routing: Routing,
    /// Bits of a frame's number that choose its path with [`Routing::FrameHash`], else 0: tested first, as large runs use it most.
    by_frame: u32,
    salts: Salts,
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

/// Ports of each switch that lead to another one, and to which.
type Neighbours = [Vec<(u16, usize)>];

/// Links from the nearest of these switches to each switch.
fn distances(neighbours: &Neighbours, starts: &[usize]) -> Vec<u32> {
    let mut dist = vec![u32::MAX; neighbours.len()];
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
}

/// An error if hosts at these switches send to others that no path leads to.
fn reachable(neighbours: &Neighbours, edges: &[usize], spec: &RunSpec) -> Result<(), String> {
    let mut part = vec![usize::MAX; neighbours.len()];
    for &edge in edges {
        if part[edge] == usize::MAX {
            let far = (0..).zip(distances(neighbours, &[edge]));
            far.filter(|d| d.1 < u32::MAX).for_each(|(x, _): (usize, _)| part[x] = edge);
        }
    }
    let parts = edges.iter().any(|&edge| part[edge] != part[edges[0]]);
    let apart = |pair: &(usize, usize)| part[edges[pair.0]] != part[edges[pair.1]];
    match parts.then(|| spec.pairs().find(apart)).flatten() {
        Some((from, to)) => Err(format!("no path from host {from} to host {to}")),
        None => Ok(()),
    }
}

impl Routes {
    /// The routes of a network whose ports and links are known.
    pub(super) fn new(net: &Net, spec: &RunSpec) -> Result<Self, String> {
        let (h, s) = (net.hosts as usize, spec.switches.len());
        let salts = Salts::new(spec)?;
        let seat = |host: usize| {
            let none = |what: &str| format!("host {host} {what}");
            let l = net.links[net.ports[host] as usize].ok_or_else(|| none("has no link"))?;
            let switch = l.peer_node.checked_sub(net.hosts);
            let switch = switch.ok_or_else(|| none("is not linked to a switch"))?;
            Ok::<_, String>(Seat {
                switch,
                port: (l.peer - net.ports[l.peer_node as usize]) as u16,
                column: 0,
            })
        };
        let attach = (0..h).map(seat).collect::<Result<Vec<_>, _>>()?;
        let neighbour =
            |(p, l): (u16, &Option<Link>)| Some((p, (l.as_ref()?.peer_node as usize).checked_sub(h)?));
        let mut neighbours: Vec<Vec<(u16, usize)>> =
            (h..h + s).map(|n| (0..).zip(net.links_of(n)).filter_map(neighbour).collect()).collect();
        if spec.routing == Routing::ForkHash {
            // The fork lists equal next hops by falling number of the switch.
            neighbours.iter_mut().for_each(|all| all.sort_by_key(|&(_, n)| Reverse(salts.number(n))));
        }
        let edges: Vec<usize> = attach.iter().map(|a| a.switch as usize).collect();
        reachable(&neighbours, &edges, spec)?;
        let level = distances(&neighbours, &edges);
        let mut order: Vec<usize> = (0..s).collect();
        order.sort_by_key(|&x| level[x] > 0);
        let mut columns = vec![0; s];
        (0..).zip(order).for_each(|(column, x)| columns[x] = column);
        let widest = spec.switches.iter().map(|s| s.ports).max().unwrap_or(0);
        let mut routes = Self {
            attach,
            table: vec![u16::MAX; s * s],
            columns,
            // Switches with hosts are no more than hosts, so that their columns fit 16 bits.
            edges: level.iter().filter(|&&level| level == 0).count(),
            ways: vec![Way { first: 0, mask: 0, local: u16::MAX, share: 1 << 32, odd: false }],
            way_ports: (0..widest).collect(),
            level,
            routing: spec.routing,
            by_frame: match (spec.routing, spec.laws.draws) {
                (Routing::FrameHash, Draws::Keyed) => 0xFFFF,
                (Routing::FrameHash, Draws::Stream) => u32::MAX,
                _ => 0,
            },
            salts,
        };
        for seat in &mut routes.attach {
            seat.column = routes.columns[seat.switch as usize] as u16;
        }
        routes.fill(&neighbours)?;
        Ok(routes)
    }
    /// Fills the table of routes between switches with these neighbours.
    fn fill(&mut self, neighbours: &Neighbours) -> Result<(), String> {
        let s = neighbours.len();
        let mut known: BTreeMap<(u32, Vec<u16>), u16> = BTreeMap::new();
        let (mut lately, mut group) = (vec![u16::MAX; s], Vec::new());
        for to in 0..s {
            let dist = distances(neighbours, &[to]);
            let column = self.columns[to] as usize;
            self.table[to * s + column] = 0;
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
                refuse!(
                    group.is_empty(),
                    "switch {from} has no link to the switch of the next number; clockwise routes are those of a ring"
                );
                // Mostly that of the destination before.
                if group == self.ports_of(lately[from]) {
                    self.table[from * s + column] = lately[from];
                    continue;
                }
                let level = if self.routing == Routing::Destination { self.level[from] } else { 0 };
                let next = self.ways.len();
                if next >= usize::from(u16::MAX) {
                    return Err("the routes need more than 65534 different groups of ports".into());
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
}

impl Net {
    /// Prefetches the routes of switch `s` to all hosts.
    #[inline]
    pub(crate) fn expect(&self, s: usize) {
        for column in (0..self.routes.edges).step_by(32) {
            prefetch_index(&self.routes.table, s * self.routes.level.len() + column);
        }
    }
    /// Output port of switch `s` by which data goes on, or what passes as data, with these source, destination and number.
    #[inline(always)]
    pub(crate) fn route(&self, s: usize, (src, dst, number): (u32, u32, u32), paths: &mut Paths) -> u16 {
        self.route_flow(s, dst, src * self.hosts + dst, number, paths)
    }
    /// Port towards host `dst` of a flow's frame, without branches if the number of choices is a power of two, as is usual.
    #[inline(always)]
    fn route_flow(&self, s: usize, dst: u32, flow: u32, seq: u32, paths: &mut Paths) -> u16 {
        let Seat { port, column, .. } = self.routes.attach[dst as usize];
        let way =
            &self.routes.ways[self.routes.table[s * self.routes.level.len() + usize::from(column)] as usize];
        if way.odd {
            let seen = (dst, flow, seq);
            return paths.of(seen, |turns| self.among(s, way, seen, turns));
        }
        let turns = &mut paths.turns;
        let pick = self.pick(s, way, (dst, flow, seq), turns, |n| n & u64::from(way.mask)) as u16;
        self.routes.way_ports[way.first as usize + usize::from(pick & way.mask | port & way.local)]
    }
    /// Output ports of switch `s` by which a frame to host `dst` may leave.
    pub(crate) fn ports_to(&self, s: usize, dst: u32) -> Vec<u16> {
        let Seat { port, switch, .. } = self.routes.attach[dst as usize];
        if switch as usize == s { vec![port] } else { self.routes.group(s, switch as usize).to_vec() }
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
        let way = &self.routes.ways
            [self.routes.table[s * self.routes.level.len() + self.routes.columns[to] as usize] as usize];
        self.among(s, way, seen, &mut paths.turns)
    }
    /// Output port of switch `s` by a way with any number of choices.
    #[inline(never)]
    fn among(&self, s: usize, way: &Way, seen: (u32, u32, u32), turns: &mut [u8]) -> u16 {
        let choices = u64::from(way.mask) + 1;
        let pick = self.pick(s, way, seen, turns, |n| n % choices) % choices;
        self.routes.way_ports[way.first as usize + pick as usize]
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
        if self.routes.by_frame > 0 {
            mix((u64::from(flow) << 32) ^ u64::from(seq & self.routes.by_frame) ^ ((s as u64) << 17))
        } else if self.routes.routing == Routing::ForkHash {
            if way.odd { self.routes.salts.fork(s, self.hosts, flow, seq).into() } else { 0 }
        } else if self.routes.routing == Routing::RoundRobin {
            let Some(next) = turns.get_mut(dst as usize) else { return 0 };
            let now = u64::from(*next);
            *next = if way.mask == 0 { *next } else { modulo(now + 1) as u8 };
            now
        } else if self.routes.routing == Routing::Destination {
            (u64::from(dst) * way.share) >> 32
        } else {
            self.routes.salts.of(s, flow, seq)
        }
    }
    /// What a switch remembers of paths, before the first frame.
    pub(crate) fn paths(&self) -> Paths {
        self.routes.salts.paths(self.routes.routing, self.hosts)
    }
    /// Does switch `s` use several ports in turn for some host?
    pub(crate) fn in_turn(&self, s: usize) -> bool {
        let many = |to: usize| to != s && self.routes.group(s, to).len() > 1;
        self.routes.routing == Routing::RoundRobin
            && self.routes.attach.iter().any(|a| many(a.switch as usize))
    }
    /// Node and port of this number and one; none for 0.
    pub(crate) fn port_at(&self, number: u32) -> Option<(NodeId, u16)> {
        let number = number.checked_sub(1)?;
        let node = self.ports.partition_point(|first| *first <= number) - 1;
        Some((NodeId(node as u32), (number - self.ports[node]) as u16))
    }
    /// Smallest round trip of a flow with such queue pairs, or none, and the links of its way out: a full frame out; back an acknowledgement, if there are some, or else
    /// the smallest frame.
    pub(crate) fn base_rtt_of(&self, flow: FlowId, pairs: Option<TransportSpec>) -> (Time, u32) {
        let (src, dst) = self.hosts_of(flow);
        let back = pairs.map_or(SMALLEST, |transport| transport.ack_length.get() as u16);
        let way = |from: u32, to: u32, len: u16| {
            let (mut port, mut total, mut links) = (self.ports[from as usize], Ps(0), 0);
            while let Some(link) = self.links[port as usize] {
                (total, links) = (total + link.tx.time(len) + link.delay, links + 1);
                let Some(s) = link.peer_node.checked_sub(self.hosts) else { break };
                let Seat { switch, port: last, .. } = self.routes.attach[to as usize];
                let out = if switch == s { last } else { self.routes.group(s as usize, switch as usize)[0] };
                port = self.ports[link.peer_node as usize] + u32::from(out);
            }
            (total, links)
        };
        let (out, links) = way(src, dst, self.flows.mtu);
        ((out + way(dst, src, back).0).time(), links)
    }
}
