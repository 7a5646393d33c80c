//! Finite flows that stood: for how long a transmitter of their way was in XOFF between their start and their end, and for which root.
//!
//! That bounds from above how long their frames waited for XOFF: of a flow all of whose frames have left a port, that port's XOFF
//! counts still. Where each frame has a way of its own, a transmitter of any of these ways counts. A *victim* is a flow that does not go
//! by the root for which it stood longest.

use super::{Forest, Kind, Stops};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A finite flow that stood. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stood {
    /// `H1>H5`.
    pub flow: String,
    /// Number among the flows of its pair of hosts, by start, from 0 on.
    pub nth: u64,
    /// Payload, bytes.
    pub bytes: u64,
    /// Start of the flow, ps.
    pub start: u64,
    /// Time of the flow from its start to its end, or to the end of the run, ps.
    pub time: u64,
    /// How much of that time a transmitter of its way stood.
    pub stood: u64,
    /// The transmitters by which its frames may go, among the names; those that never stood are left out.
    pub way: Vec<u32>,
    /// The one of these that stood longest.
    pub at: u32,
    /// The output, or the NIC or port with a fault, for which it stood longest.
    pub root: u32,
    /// Whether the flow's path avoids that root.
    pub victim: bool,
}

impl Stops {
    /// Most flows that are kept: those that stood longest.
    pub const MOST_FLOWS: usize = 10_000;

    /// Keeps the flows that stood longest.
    pub fn keep(&mut self, mut stood: Vec<Stood>) {
        stood.truncate(Self::MOST_FLOWS);
        self.flows = stood;
    }

    /// Of flows, each with its way or ways, those that stood, the longest first: what is not known of them yet is filled in.
    pub fn stood(&self, flows: impl Iterator<Item = Stood>) -> Vec<Stood> {
        let forest = Forest::of(self, |_| true);
        let roots: Vec<Option<u32>> = (0..self.xoffs.len()).map(|x| forest.main_root(x)).collect();
        let mut spans: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (n, x) in (0..).zip(&self.xoffs).filter(|x| x.1.time() > 0) {
            spans.entry(x.stopped).or_default().push(n);
        }
        spans.values_mut().for_each(|all| all.sort_by_key(|x| self.xoffs[*x as usize].from));
        // XOFFs that a root causes directly.
        let below = |root: u32| {
            let root = &forest.roots[root as usize];
            let own = (root.kind != Kind::Said).then_some(root.output);
            let next = root.below.iter().map(|at| forest.places[*at as usize].transmitter);
            let next: Vec<u32> = if own.is_some() { Vec::new() } else { next.collect() };
            own.into_iter().chain(next).collect::<BTreeSet<u32>>()
        };
        let gates: Vec<BTreeSet<u32>> = (0..forest.roots.len() as u32).map(below).collect();
        let mut all: Vec<Stood> = Vec::new();
        for f in flows {
            let (start, end, way) = (f.start, f.start + f.time, &f.way);
            let (mut times, mut by_root, mut by_port) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
            for port in way {
                let Some(own) = spans.get(port) else { continue };
                let first = own.partition_point(|x| self.xoffs[*x as usize].until <= start);
                let during = own[first..].iter().take_while(|x| self.xoffs[**x as usize].from < end);
                for &number in during {
                    let x = &self.xoffs[number as usize];
                    let span = (x.from.max(start), x.until.min(end));
                    times.push(span);
                    *by_port.entry(*port).or_insert(0) += span.1 - span.0;
                    if let Some(root) = roots[number as usize] {
                        *by_root.entry(root).or_insert(0) += span.1 - span.0;
                    }
                }
            }
            let longest = |sums: BTreeMap<u32, u64>| {
                sums.into_iter().max_by_key(|s| (s.1, std::cmp::Reverse(s.0))).map(|s| s.0)
            };
            let (Some(root), Some(at)) = (longest(by_root), longest(by_port)) else { continue };
            let victim = !way.iter().any(|port| gates[root as usize].contains(port));
            let root = forest.roots[root as usize].output;
            all.push(Stood { stood: union(times), at, root, victim, ..f });
        }
        all.sort_by(|a, b| {
            b.stood.cmp(&a.stood).then_with(|| (a.start, &a.flow, a.nth).cmp(&(b.start, &b.flow, b.nth)))
        });
        all
    }
}

/// Time in at least one of these spans.
fn union(mut spans: Vec<(u64, u64)>) -> u64 {
    spans.sort_unstable();
    let (mut sum, mut up_to) = (0, 0);
    for (from, until) in spans {
        sum += until.saturating_sub(from.max(up_to));
        up_to = up_to.max(until);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::{Cause, Held, Stop};
    use super::*;

    #[test]
    fn times_at_once_count_once() {
        assert_eq!(union(vec![(5, 9), (0, 3), (2, 4), (6, 7), (9, 10)]), 9);
        assert_eq!(union(Vec::new()), 0);
    }

    /// Output 0 stops 1, that stops NIC 2. One flow goes 2, 1, 0; the other 2, 1, 3; a third only 4.
    #[test]
    fn a_victim_does_not_go_by_its_root() {
        let stop = |stopped, from, until, output, held| {
            let causes = vec![Cause { output, bytes: 9, held }];
            Stop { stopped, from, until, causes, ..Stop::default() }
        };
        let xoffs = vec![stop(1, 10, 50, 0, Held::Slow), stop(2, 20, 70, 1, Held::Xoff(0))];
        let mut stops = Stops { xoffs, ..Stops::default() };
        let flow = |name: &str, start, time, way: &[u32]| Stood {
            flow: name.into(),
            nth: 0,
            bytes: 5,
            start,
            time,
            way: way.to_vec(),
            ..Stood::default()
        };
        let flows =
            || vec![flow("a", 0, 30, &[2, 1, 0]), flow("b", 15, 100, &[2, 1, 3]), flow("c", 0, 99, &[4])];
        let found = stops.stood(flows().into_iter());
        let told: Vec<_> = found.iter().map(|f| (f.flow.as_str(), f.stood, f.at, f.root, f.victim)).collect();
        assert_eq!(told, [("b", 55, 2, 0, true), ("a", 20, 1, 0, false)]);
        // Who begins as XOFF ends, or ends as it begins, never stood; a picosecond more is one.
        let edges = [("late", 50, 9), ("last", 49, 9), ("early", 0, 10), ("first", 0, 11)];
        let found = stops.stood(edges.map(|(name, start, time)| flow(name, start, time, &[1])).into_iter());
        let told: Vec<_> = found.iter().map(|f| (f.flow.as_str(), f.stood)).collect();
        assert_eq!(told, [("first", 1), ("last", 1)]);
        // The far end of NIC 9 is told by it: who goes by 1 goes to it.
        stops.xoffs[0].causes = vec![Cause { output: 9, bytes: 0, held: Held::Said }];
        let found = stops.stood(flows().into_iter());
        assert!(found.iter().all(|f| f.root == 9 && !f.victim), "{found:?}");
    }
}
