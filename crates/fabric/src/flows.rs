//! Finite flows: the lists of a run, how a frame says which one it belongs to, and what has arrived of each.
//!
//! A finite flow is known by its pair of hosts and its number among the flows of that pair, by start. A frame of one carries the
//! lower half of that number in the upper half of its own, whose lower half counts the source's frames: so a flow costs a frame no
//! byte. It is enough as long as no pair has more than 65,536 flows between the oldest under way and the newest.
//!
//! A flow that has not begun or is over is an entry in two lists, 24 and 16 bytes; one under way costs its source 16 bytes more,
//! and its destination 8.

use crate::outcome::{Completion, Incomplete};
use crate::spec::{Arrivals, RunSpec, Transfer};
use cnsim_scheme_api::{NodeId, Time};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Number of the frame before which its source has made `count` others; `flow`: the finite flow that it belongs to, if to one.
#[inline]
pub(crate) fn number(count: u32, flow: Option<u16>) -> u32 {
    flow.map_or(count, |flow| u32::from(flow) << 16 | count & 0xFFFF)
}

/// The flow that such a number names.
#[inline]
pub(crate) fn flow_of(number: u32) -> u16 {
    (number >> 16) as u16
}

/// A flow as its source has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// When it begins, ps.
    pub(crate) start: u64,
    /// Its size; nothing is sent of one of 0 bytes.
    pub(crate) bytes: u64,
    /// Destination host.
    pub(crate) dst: u32,
    /// Lower half of its number among the flows of its pair.
    pub(crate) number: u16,
}

/// A flow as its destination has it.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    /// Bytes on the link.
    on_link: u64,
    /// When it begins, ps, below 2^55; above that, by how many bytes it is smaller than what is on the link: its last frame may be
    /// padded.
    start: u64,
}

impl Incoming {
    fn new(flow: &Transfer, frame: u64) -> Self {
        let on_link = flow.on_link(frame);
        Self { on_link, start: flow.start.as_ps().min((1 << PAD) - 1) | (on_link - flow.bytes.get()) << PAD }
    }
    fn start(&self) -> Time {
        Time::from_ps(self.start & ((1 << PAD) - 1))
    }
    fn bytes(&self) -> u64 {
        self.on_link - (self.start >> PAD)
    }
}

/// Bits of a start.
const PAD: u32 = 55;

/// The flows of a pair of hosts as their destination has them, by start.
type Pair = Arc<[Incoming]>;

/// All finite flows of a run.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// By host and source, by start.
    outgoing: BTreeMap<(u32, usize), Arc<[Outgoing]>>,
    /// By destination, then source host.
    incoming: BTreeMap<u32, BTreeMap<u32, Pair>>,
}

impl Flows {
    /// Those of all sources. Flows of a pair that begin at one moment are numbered by source, then as they are listed.
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let mut flows = Self::default();
        let mut incoming: BTreeMap<(u32, u32), Vec<Incoming>> = BTreeMap::new();
        for (host, h) in spec.hosts.iter().enumerate() {
            let each = h.sources.iter().enumerate().filter(|s| s.1.arrivals == Arrivals::Transfers);
            let mut all: Vec<(usize, &Transfer)> =
                each.flat_map(|(i, s)| s.transfers.iter().map(move |t| (i, t))).collect();
            all.sort_by_key(|t| t.1.start);
            let mut lists: BTreeMap<usize, Vec<Outgoing>> = BTreeMap::new();
            for (i, t) in all {
                let pair = incoming.entry((t.dst.0, host as u32)).or_default();
                let number = pair.len() as u16;
                let (start, bytes, dst) = (t.start.as_ps(), t.bytes.get(), t.dst.0);
                lists.entry(i).or_default().push(Outgoing { start, bytes, dst, number });
                if bytes > 0 {
                    pair.push(Incoming::new(t, h.sources[i].frame.get().max(1)));
                }
            }
            flows.outgoing.extend(lists.into_iter().map(|(i, list)| ((host as u32, i), list.into())));
        }
        for ((dst, src), pair) in incoming.into_iter().filter(|i| !i.1.is_empty()) {
            flows.incoming.entry(dst).or_default().insert(src, pair.into());
        }
        flows
    }

    /// Those of a source, by start.
    pub(crate) fn of_source(&self, host: u32, source: usize) -> Arc<[Outgoing]> {
        self.outgoing.get(&(host, source)).cloned().unwrap_or_default()
    }

    /// Those to a host, none of which has arrived.
    pub(crate) fn to(&self, host: u32) -> Arrived {
        let pairs = self.incoming.get(&host).into_iter().flatten();
        let pairs =
            pairs.map(|(&src, list)| (src, Begun { list: list.clone(), over: 0, left: VecDeque::new() }));
        Arrived(pairs.collect())
    }
}

/// Flows that a host names as incomplete at most.
const MOST_MISSING: usize = 16;

/// What has arrived at a host of the finite flows to it, by source host.
#[derive(Debug, Default)]
pub(crate) struct Arrived(BTreeMap<u32, Begun>);

/// Flows of a pair, and the state of those that have begun.
#[derive(Debug)]
struct Begun {
    list: Pair,
    /// The first so many have arrived whole.
    over: usize,
    /// Bytes that are missing of those that follow, as far as anything has arrived of one.
    left: VecDeque<u64>,
}

impl Arrived {
    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A frame of a flow has arrived: the flow's completion, if it was the last. An error if the pair has no such flow that is not
    /// over.
    pub(crate) fn take(
        &mut self,
        now: u64,
        src: u32,
        number: u32,
        len: u16,
    ) -> Result<Option<Completion>, String> {
        let unknown =
            || Err(format!("a frame from host {src} is of no flow under way: a pair has too many at a time"));
        let Some(pair) = self.0.get_mut(&src) else { return unknown() };
        let place = usize::from(flow_of(number).wrapping_sub(pair.over as u16));
        while pair.left.len() <= place {
            let Some(flow) = pair.list.get(pair.over + pair.left.len()) else { return unknown() };
            pair.left.push_back(flow.on_link);
        }
        let Some(left) = pair.left.get_mut(place).filter(|left| **left > 0) else { return unknown() };
        *left = left.saturating_sub(u64::from(len));
        if *left > 0 {
            return Ok(None);
        }
        let flow = pair.list[pair.over + place];
        while pair.left.front() == Some(&0) {
            pair.left.pop_front();
            pair.over += 1;
        }
        let (bytes, start, end) = (flow.bytes(), flow.start(), Time::from_ps(now));
        Ok(Some(Completion { src: NodeId(src), bytes, start, end }))
    }

    /// The first flows that have not arrived whole, by source and start.
    pub(crate) fn missing(&self) -> Vec<Incomplete> {
        let of = |(&src, pair): (&u32, &Begun)| -> Vec<Incomplete> {
            let left = pair.left.iter().copied().map(Some).chain(std::iter::repeat(None));
            let open = pair.list[pair.over..].iter().zip(left).filter(|(_, left)| *left != Some(0));
            let one = |(flow, left): (&Incoming, Option<u64>)| Incomplete {
                src: NodeId(src),
                bytes: flow.bytes(),
                start: flow.start(),
                missing: left.unwrap_or(flow.on_link),
            };
            open.take(MOST_MISSING).map(one).collect()
        };
        self.0.iter().flat_map(of).take(MOST_MISSING).collect()
    }

    /// Flows that have not arrived whole.
    pub(crate) fn incomplete(&self) -> u64 {
        let missing = |p: &Begun| p.list.len() - p.over - p.left.iter().filter(|left| **left == 0).count();
        self.0.values().map(|p| missing(p) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Flows of a pair end in any order, also where their numbers begin anew.
    #[test]
    fn flows_end_in_any_order() {
        let sizes: Vec<Incoming> = (0..70_000).map(|start| Incoming { on_link: 100, start }).collect();
        let mut arrived = Arrived::default();
        arrived.0.insert(7, Begun { list: sizes.into(), over: 0, left: VecDeque::new() });
        let mut take = |flow: u32, now| arrived.take(now, 7, number(now as u32, Some(flow as u16)), 50);
        for pair in (0..70_000u32).step_by(2) {
            assert_eq!(take(pair + 1, 1).unwrap(), None);
            assert_eq!(take(pair, 2).unwrap(), None);
            let second = take(pair + 1, 3).unwrap().unwrap();
            let first = take(pair, 4).unwrap().unwrap();
            let ends = |c: Completion| (c.start.as_ps(), c.end.as_ps());
            assert_eq!((ends(second), ends(first)), ((u64::from(pair) + 1, 3), (u64::from(pair), 4)));
        }
        assert!(take(3, 5).is_err(), "all are over");
        assert_eq!(arrived.incomplete(), 0);
    }

    /// A padded flow has its own size, and its start, at its end; what is missing of others is said.
    #[test]
    fn sizes_and_starts_survive() {
        let flow = |bytes, us| Transfer {
            start: Time::from_us(us),
            dst: NodeId(1),
            bytes: cnsim_scheme_api::Bytes::new(bytes),
        };
        let list: Vec<Incoming> = [flow(1, 5), flow(1500, 7), flow(3000, 1_000_000_000)]
            .iter()
            .map(|t| Incoming::new(t, 1500))
            .collect();
        let mut arrived = Arrived::default();
        arrived.0.insert(0, Begun { list: list.into(), over: 0, left: VecDeque::new() });
        let done = arrived.take(9, 0, number(0, Some(0)), 64).unwrap().unwrap();
        assert_eq!((done.bytes, done.start, done.end), (1, Time::from_us(5), Time::from_ps(9)));
        assert_eq!(arrived.take(10, 0, number(1, Some(2)), 1500).unwrap(), None);
        let open: Vec<(u64, u64)> = arrived.missing().iter().map(|m| (m.bytes, m.missing)).collect();
        assert_eq!((open, arrived.incomplete()), (vec![(1500, 1500), (3000, 1500)], 2));
        assert_eq!(arrived.missing()[1].start, Time::from_us(1_000_000_000));
    }
}
