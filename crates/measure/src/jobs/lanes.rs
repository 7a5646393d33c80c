//! What the ranks of a job, and the ports that its transfers take, do over its time.

use super::Seen;
use cnsim_fabric::{Act, Transfer};
use cnsim_scenario::jobs::Job;
use cnsim_scheme_api::{NodeId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Parts of a job's time, all as long as each other.
pub const PARTS: usize = 60;
/// Most ranks that are kept, spread evenly over all.
const RANKS: usize = 32;
/// Most ports that are kept: those over which transfers were under way longest.
pub const PORTS: usize = 16;

/// Activity of a rank or a port over time. Each text has a sign for each part of the job's time, the share in tenths: `0` to `9`, and `a`
/// for all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// The rank with its host, or the port.
    pub name: String,
    /// A rank computes; a port is in XOFF.
    pub first: String,
    /// A transfer to or from the rank, or over the port, is under way, while the rank does not compute or the port is in XON.
    pub second: String,
}

impl Lane {
    /// The shares of a text, in tenths.
    pub fn tenths(text: &str) -> impl Iterator<Item = u32> + Clone + '_ {
        text.chars().map(|sign| sign.to_digit(11).unwrap_or(0))
    }

    fn of(name: String, span: (u64, u64), first: Vec<Span>, second: Vec<Span>) -> Self {
        let (first, both) = (merged(first.clone()), merged(first.into_iter().chain(second).collect()));
        let (first, both) = (by_part(&first, span), by_part(&both, span));
        let tenth = |n: usize, time: u64| {
            let (from, to) = (edge(span, n), edge(span, n + 1));
            (u128::from(time) * 20 / u128::from(to - from)).div_ceil(2) as u32
        };
        let sign = |tenths: u32| char::from_digit(tenths.min(10), 11).unwrap_or('0');
        // What both do is rounded as a whole, so that shares add up.
        let rest = |n: usize| tenth(n, both[n]) - tenth(n, first[n]);
        Self {
            name,
            first: (0..PARTS).map(|n| sign(tenth(n, first[n]))).collect(),
            second: (0..PARTS).map(|n| sign(rest(n))).collect(),
        }
    }
}

/// From one moment to another, ps.
type Span = (u64, u64);

/// Where a part begins.
fn edge((begin, end): Span, n: usize) -> u64 {
    begin + (u128::from(end - begin) * n as u128 / PARTS as u128) as u64
}

/// Spans that do not meet, in order, which cover what these do.
fn merged(mut all: Vec<Span>) -> Vec<Span> {
    all.sort_unstable();
    let mut out: Vec<Span> = Vec::with_capacity(all.len());
    for (from, to) in all {
        match out.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

/// How much of each part such spans cover.
fn by_part(spans: &[Span], span: Span) -> Vec<u64> {
    let mut parts = vec![0; PARTS];
    let mut n = 0;
    for &(from, to) in spans {
        while n < PARTS && edge(span, n + 1) <= from {
            n += 1;
        }
        for (at, part) in parts.iter_mut().enumerate().skip(n) {
            if edge(span, at) >= to {
                break;
            }
            *part += to.min(edge(span, at + 1)).saturating_sub(from.max(edge(span, at)));
        }
    }
    parts
}

impl Seen<'_> {
    /// The lanes of a job's ranks and ports, from its begin to its end, or to the end of the run. Operations of other jobs count where they
    /// are at the same hosts. There are lanes of ports if the run kept by which ports each transfer went.
    pub(super) fn lanes(&self, job: &Job, span: Span) -> (Vec<Lane>, Vec<Lane>) {
        if span.1 - span.0 < PARTS as u64 || job.asks() {
            return Default::default();
        }
        let step = job.ranks.len().div_ceil(RANKS).max(1);
        let wiring = &self.settings.wiring;
        let mut lane_of: HashMap<usize, usize> = HashMap::new();
        let kept: Vec<usize> = (0..job.ranks.len()).step_by(step).collect();
        for (lane, &rank) in kept.iter().enumerate() {
            lane_of.extend(wiring.nics(job.ranks[rank]).map(|nic| (nic, lane)));
        }
        let mut all: Vec<[Vec<Span>; 2]> = vec![Default::default(); kept.len()];
        let mut numbers: HashMap<(u32, u32, u64, u64), u32> = HashMap::new();
        if self.ways.is_some_and(|ways| !ways.several()) {
            for (dst, host) in (0..).zip(&self.out.hosts) {
                let key = |c: &cnsim_fabric::Completion| (c.src.0, dst, c.start.as_ps(), c.end.as_ps());
                numbers.extend(host.transfers.completions.iter().map(|c| (key(c), c.nth)));
            }
        }
        let mut ports: BTreeMap<(NodeId, u16), Vec<Span>> = BTreeMap::new();
        let until = |time: Time| time.as_ps().min(span.1);
        for (n, one) in (0..).zip(&self.graph.operations) {
            let lasted = self.of(n);
            let from = lasted.begun.as_ps().max(span.0);
            if from >= span.1 {
                continue;
            }
            let src = one.host.0 as usize;
            let here = lane_of.get(&src).copied();
            let Act::Send { source, transfer } = one.act else {
                if let Some(lane) = here.filter(|_| until(lasted.ended) > from) {
                    all[lane][0].push((from, until(lasted.ended)));
                }
                continue;
            };
            let plan = self.settings.plans(src).get(source as usize);
            let Some(&Transfer { dst, .. }) = plan.and_then(|p| p.transfers.get(transfer as usize)) else {
                continue;
            };
            let came = (from, until(lasted.received));
            let there = lane_of.get(&(dst.0 as usize)).copied();
            for lane in [here, there].into_iter().flatten().filter(|_| came.1 > came.0) {
                all[lane][1].push(came);
            }
            let key = (one.host.0, dst.0, lasted.begun.as_ps(), lasted.received.as_ps());
            let way = numbers.get(&key).zip(self.ways).and_then(|(nth, ways)| ways.of(one.host, dst, *nth));
            way.into_iter().flatten().for_each(|port| ports.entry(port).or_default().push(came));
        }
        let name = |rank: usize| format!("{rank} {}", wiring.machine(job.ranks[rank]));
        let ranks = kept.iter().zip(all);
        let ranks = ranks.map(|(&rank, [first, second])| Lane::of(name(rank), span, first, second)).collect();
        let covered = |spans: &[Span]| merged(spans.to_vec()).iter().map(|s| s.1 - s.0).sum::<u64>();
        let mut longest: Vec<_> =
            ports.into_iter().map(|(port, spans)| (covered(&spans), port, spans)).collect();
        longest.sort_by_key(|(time, port, _)| (std::cmp::Reverse(*time), *port));
        let stood = |port: (NodeId, u16)| {
            let mine = self.out.recorded.pauses.xoffs.iter().filter(|x| x.stopped == port);
            let spans = mine.map(|x| (x.from.as_ps().max(span.0), until(x.until)));
            spans.filter(|s| s.1 > s.0).collect::<Vec<Span>>()
        };
        let ports = longest.into_iter().take(PORTS);
        let ports = ports.map(|(_, port, spans)| Lane::of(wiring.port_name(port), span, stood(port), spans));
        (ranks, ports.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 600 ps, parts of 10 ps: what covers a part half, what both cover, and what reaches beyond.
    #[test]
    fn shares_add_up() {
        let lane = |first: &[Span], second: &[Span]| {
            Lane::of("x".into(), (1000, 1600), first.to_vec(), second.to_vec())
        };
        let all = lane(&[(1000, 1020), (1015, 1025)], &[(1000, 1100), (1090, 1103), (1595, 1600)]);
        assert_eq!(&all.first[..4], "aa50");
        assert_eq!(&all.second[..12], "005aaaaaaa30");
        assert_eq!((&all.second[59..], all.first.len(), all.second.len()), ("5", PARTS, PARTS));
        let tenths: Vec<u32> = Lane::tenths("0a5").collect();
        assert_eq!(tenths, [0, 10, 5]);
        for n in 0..PARTS {
            let tenths = |text: &str| Lane::tenths(text).nth(n).unwrap_or(99);
            assert!(tenths(&all.first) + tenths(&all.second) <= 10, "{n}");
        }
        let none = lane(&[], &[(1599, 1600)]);
        assert_eq!((none.first, &none.second[58..]), ("0".repeat(PARTS), "01"));
    }
}
