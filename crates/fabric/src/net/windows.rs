//! How far a node may run at once: halves of a network that take turns, and the lengths of their windows.

use super::Net;
use crate::spec::{HostSpec, RunSpec, SMALLEST};
use cnsim_scheme_api::{Built, ReflectGate};
use std::collections::VecDeque;

/// Most leads in a window without another bound.
const LONGEST_WINDOW: u64 = 256;

impl Net {
    /// Finds the lengths of windows.
    pub(super) fn windows(&mut self, spec: &RunSpec) {
        self.window = if self.halves.is_empty() { self.lead } else { 2 * self.lead };
        self.longest = self.longest_window(spec);
    }

    /// Marks a spanning tree over all nodes (breadth first from the first switch, ports in order) for broadcasts. Divides the nodes of
    /// a bipartite network (tree, star, chain) into two halves, so that every link leads from one to the other. A ring of three has no
    /// such halves.
    pub(super) fn span(&mut self) {
        let (nodes, hosts) = (self.ports.len() - 1, self.hosts as usize);
        let mut depth = vec![u32::MAX; nodes];
        for start in (hosts..nodes).chain(0..hosts) {
            let mut queue = VecDeque::new();
            if depth[start] == u32::MAX {
                depth[start] = 0;
                queue.push_back(start);
            }
            while let Some(n) = queue.pop_front() {
                for p in self.ports[n]..self.ports[n + 1] {
                    let Some(l) = self.links[p as usize] else { continue };
                    let far = l.peer_node as usize;
                    if depth[far] == u32::MAX {
                        depth[far] = depth[n] + 1;
                        queue.push_back(far);
                        let both = [p, l.peer].map(|x| x as usize);
                        both.iter().for_each(|&x| self.links[x].iter_mut().for_each(|l| l.tree = true));
                    }
                }
            }
        }
        // Host 0 is in the first.
        let second = |n: usize| (depth[n] ^ depth[0]) % 2 == 1;
        let across =
            |n: usize| self.links_of(n).iter().flatten().all(|l| second(l.peer_node as usize) != second(n));
        if (0..nodes).all(across) {
            self.halves = (0..nodes).map(second).collect();
        }
    }

    /// Leads of the longest window. There are more than two in stars whose hosts send only data, so that only messages made by
    /// the switch return to a host. A window's times and a port must fit the keys by which arrivals are
    /// sorted.
    fn longest_window(&self, spec: &RunSpec) -> u64 {
        let own = self.window / self.lead;
        let only_data = |h: &HostSpec| {
            let plan = h.scheme.map(|s| self.schemes[s].plan).unwrap_or_default();
            plan.reflect == ReflectGate::Never && plan.built == Built::OnFeedback
        };
        let star = !self.halves.is_empty()
            && spec.transport.is_none()
            && spec.faults.is_empty()
            && spec.watchdog.is_none()
            && spec.switches.len() == 1
            && spec.hosts.iter().all(only_data);
        if !star {
            return own;
        }
        let fits = (1 << 30) / u64::from(spec.switches[0].ports).next_power_of_two() / self.lead;
        fits.clamp(own, LONGEST_WINDOW)
    }

    /// Most bytes that an input of these ports can receive in a window, or its own messages.
    pub(crate) fn margin(&self, base: u32, ports: usize) -> u64 {
        let rates = self.links[base as usize..base as usize + ports].iter().flatten().map(|l| l.rate.bps());
        let fastest = rates.fold(0.0, f64::max);
        let more = 2 * 9216 + u64::from(SMALLEST) * ports as u64;
        (fastest * self.window as f64 / 8e12) as u64 * self.slack + more
    }
}
