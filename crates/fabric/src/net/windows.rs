//! How far a node may run at once: halves of a network that take turns, and the lengths of their windows.

use super::Net;
use crate::spec::{HostSpec, RunSpec, SMALLEST};
use cnsim_scheme_api::{Built, NodeId, ReflectGate, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// Most leads in a window without another bound.
const LONGEST_WINDOW: u64 = 256;

impl Net {
    /// Finds the lengths of windows.
    pub(super) fn windows(&mut self, spec: &RunSpec) {
        self.windows.window =
            if self.windows.halves.is_empty() { self.windows.lead } else { 2 * self.windows.lead };
        self.windows.longest = self.longest_window(spec);
    }
    /// Marks a spanning tree over all nodes (breadth first from the first switch, ports in order) for broadcasts. Divides the nodes of
    /// a bipartite network (tree, star, chain) into two halves, so that every link leads from one to the other. A ring of three has no
    /// such halves.
    pub(super) fn span(&mut self) {
        let (nodes, hosts) = (self.ports.len() - 1, self.hosts as usize);
        let (mut depth, mut root) = (vec![u32::MAX; nodes], vec![0u32; nodes]);
        for start in (hosts..nodes).chain(0..hosts) {
            let mut queue = VecDeque::new();
            if depth[start] == u32::MAX {
                (depth[start], root[start]) = (0, start as u32);
                queue.push_back(start);
            }
            while let Some(n) = queue.pop_front() {
                for p in self.ports[n]..self.ports[n + 1] {
                    let Some(l) = self.links[p as usize] else { continue };
                    let far = l.peer_node as usize;
                    if depth[far] == u32::MAX {
                        (depth[far], root[far]) = (depth[n] + 1, root[n]);
                        queue.push_back(far);
                        let both = [p, l.peer].map(|x| x as usize);
                        both.iter().for_each(|&x| self.links[x].iter_mut().for_each(|l| l.tree = true));
                    }
                }
            }
        }
        // Host 0 is in the first, and the first host of each part that no path joins to it.
        let mut first = vec![u32::MAX; nodes];
        for host in 0..hosts {
            let root = root[host] as usize;
            first[root] = if first[root] == u32::MAX { depth[host] } else { first[root] };
        }
        let second = |n: usize| (depth[n] ^ first[root[n] as usize]) % 2 == 1;
        let across =
            |n: usize| self.links_of(n).iter().flatten().all(|l| second(l.peer_node as usize) != second(n));
        let side = |h: usize| second(self.nics(h as u32).start) == second(h);
        if (0..nodes).all(across) && (0..hosts).all(side) {
            self.windows.halves = (0..nodes).map(second).collect();
        }
    }
    /// Is kept what comes to a queue and leaves it? Its series in phases that are taken again are put together from that.
    pub(crate) fn keeps_queue(&self, node: u32, port: u16) -> bool {
        self.keeps > 0 && self.record.bin > Time::ZERO && self.record.queues.contains(&(NodeId(node), port))
    }
    /// The hosts that are NICs of a host's machine; of a switch itself alone.
    pub(crate) fn nics(&self, node: u32) -> Range<usize> {
        let nics = self.flows.graph.as_ref().map_or(node..node + 1, |graph| graph.nics(node));
        nics.start as usize..nics.end as usize
    }
    /// Are some hosts NICs of one machine?
    pub(crate) fn has_machines(&self) -> bool {
        self.flows.graph.as_ref().is_some_and(|graph| !graph.machines.is_empty())
    }
    /// Leads of the longest window. There are more than two in stars whose hosts send only data, so that only messages made by
    /// the switch return to a host. A window's times and a port must fit the keys by which arrivals are
    /// sorted.
    fn longest_window(&self, spec: &RunSpec) -> u64 {
        let own = self.windows.window / self.windows.lead;
        let only_data = |h: &HostSpec| {
            let scheme = self.classes[0].scheme(h.scheme);
            let plan = scheme.map(|s| self.schemes[s].plan).unwrap_or_default();
            plan.reflect == ReflectGate::Never && plan.built == Built::OnFeedback
        };
        let star = !self.windows.halves.is_empty()
            && spec.transport.is_none()
            && spec.events.faults.is_empty()
            && spec.laws.watchdog.is_none()
            && spec.switches.len() == 1
            && spec.hosts.iter().all(only_data);
        if !star {
            return own;
        }
        let fits = (1 << 30) / u64::from(spec.switches[0].ports).next_power_of_two() / self.windows.lead.0;
        fits.clamp(own, LONGEST_WINDOW)
    }
    /// Most bytes that an input of these ports can receive in a window, or its own messages.
    pub(crate) fn margin(&self, base: u32, ports: usize) -> u64 {
        let rates = self.links[base as usize..base as usize + ports].iter().flatten().map(|l| l.rate.bps());
        let fastest = rates.fold(0.0, f64::max);
        let more = 2 * 9216 + u64::from(SMALLEST) * ports as u64;
        (fastest * self.windows.window.0 as f64 / 8e12) as u64 * self.clocks.slack + more
    }
    /// Worker of each switch: the switches of each level are shared out equally, in order.
    pub(crate) fn places(&self, workers: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.routes.level.len()).collect();
        order.sort_by_key(|&s| self.routes.level[s]);
        let mut places = vec![0; order.len()];
        for of_level in order.chunk_by(|&a, &b| self.routes.level[a] == self.routes.level[b]) {
            let all = of_level.len();
            of_level.iter().enumerate().for_each(|(rank, &s)| places[s] = rank * workers / all);
        }
        places
    }
}
