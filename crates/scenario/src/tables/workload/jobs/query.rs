//! Queries: a host asks others, and asks again when all answers have come (barrier-synchronised reads, scatter and gather).

use super::read::{gap, no_path, too_many};
use super::weave::ByHost;
use super::{Job, Operations};
use crate::flows::Framing;
use crate::language::reader::Reader;
use crate::language::row::Key;
use crate::tables::run;
use crate::tables::workload::{DESTINATIONS, FAN_IN, JITTER, REQUEST, ROUNDS, SIZE, START, Traffic, traffic};
use crate::wiring::Wiring;
use crate::wiring::nics::Takes;
use cnsim_fabric::{After, Transfer};
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_units::{Bytes, Time};

/// A table of queries: its job, whose ranks are the hosts that ask; the answers by host; the requests by host.
pub(crate) type Queries = (Job, ByHost, ByHost);

/// Reads a table of queries to these servers. None if it is no such table, or something is wrong. `sources`: how many sources each host
/// has before; a server's answers are its next source, and a host's requests the one after that.
///
/// A query goes to `fan_in` servers. Which these are depends on the table, the host that asks and the round, not on the seed: all seeds and
/// schemes ask the same.
pub(crate) fn queries(
    r: &mut Reader<'_>,
    (prefix, kind, framing): (&str, Traffic, Framing),
    (servers, wiring): (&[usize], &Wiring),
    sources: &[usize],
    operations: &mut Operations,
) -> Option<Queries> {
    if kind != Traffic::Query {
        return None;
    }
    let key = |leaf: Key| leaf.of(prefix);
    let before = r.problems.len();
    let list = r.listed(key(DESTINATIONS));
    let unnamed =
        matches!(&list.items[..], [one] if one == "uniform" || one == "permutation" || one.starts_with('+'));
    let askers = if unnamed { Vec::new() } else { r.machines(&list, wiring) };
    if unnamed {
        r.wrong(
            key(DESTINATIONS),
            "nobody is named who asks",
            "name the hosts that ask: destinations = [\"H0\"]",
        );
    }
    let twice = |all: &[usize]| {
        let mut seen = vec![false; wiring.hosts.len()];
        all.iter().copied().find(|&host| std::mem::replace(&mut seen[host], true))
    };
    for (leaf, all) in [(DESTINATIONS, &askers[..]), (traffic::HOSTS, servers)] {
        if let Some(host) = twice(all) {
            r.wrong(key(leaf), format!("{} is there twice", wiring.machine(host)), "name each host once");
        }
    }
    let able = askers.iter().map(|a| servers.iter().filter(|s| *s != a).count()).min().unwrap_or(0);
    let fan_in = r.integer_or(key(FAN_IN));
    if let Some(n) = fan_in.filter(|n| *n > able as u64 && !askers.is_empty()) {
        let reason = format!("{n} senders are asked for, and {able} hosts can send");
        r.wrong(key(FAN_IN), reason, "name more hosts, or write \"all\"");
    } else if able == 0 && !askers.is_empty() {
        r.wrong(key(traffic::HOSTS), "no host but the one that asks", "name those that answer");
    }
    let (size, request) = (r.bytes(key(SIZE)), r.bytes(key(REQUEST)));
    let rounds = r.integer(key(ROUNDS));
    let (gap, skew, start) = (gap(r, prefix, rounds, ROUNDS), r.time(key(JITTER)), r.time(key(START)));
    let duration = r.time(run::DURATION);
    if start + skew >= duration {
        let reason = format!("hosts may ask {} after the start of a run of {duration}", start + skew);
        r.clash(&[key(START), key(JITTER), run::DURATION.into()], reason, "lengthen run.duration");
    }
    let most = fan_in.unwrap_or(servers.len() as u64).saturating_mul(askers.len() as u64);
    too_many(r, key(ROUNDS), most.saturating_mul(2 * rounds));
    if r.problems.len() > before {
        return None;
    }
    let table = prefix.rsplit('.').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let (mut answers, mut requests) = (ByHost::new(), ByHost::new());
    let mut gates: Vec<u32> = askers.iter().map(|&host| operations.wait(host, start, [])).collect();
    let mut asks = vec![false; wiring.hosts.len()];
    let nics = askers.iter().flat_map(|&host| wiring.nics(host));
    nics.for_each(|nic| {
        asks[nic] = true;
        requests.entry(nic).or_default();
    });
    if let Some(apart) = wiring.machines.as_ref().and_then(|m| m.apart(&askers, servers)) {
        no_path(r, key(DESTINATIONS), apart, wiring);
        return None;
    }
    let mut takes = Takes::new(wiring.machines.as_deref());
    let (mut all_gates, mut ends) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut next = Vec::new();
        for (rank, (&asker, &gate)) in askers.iter().zip(&gates).enumerate() {
            let mut asked: Vec<usize> = servers.iter().copied().filter(|s| *s != asker).collect();
            if let Some(n) = fan_in.map(|n| n as usize).filter(|n| *n < asked.len()) {
                let mut stream =
                    Stream::new(round, rank as u64 | (table as u64) << 32 | 1 << 51, Purpose::Phase);
                for i in 0..n {
                    let pick = i + stream.below((asked.len() - i) as u64) as usize;
                    asked.swap(i, pick);
                }
                asked.truncate(n);
            }
            let all: Vec<After> = asked
                .into_iter()
                .filter_map(|server| {
                    let (asker, server) = (wiring.nics(asker), wiring.nics(server));
                    let (from, to) = takes.take(asker.clone(), server.clone())?;
                    let ask = listed(&mut requests, from, to, framing.on_link(request));
                    let ask = operations.send(from, (sources[from] as u32, ask), [After::Ended(gate)]);
                    let (from, to) = takes.take(server, asker)?;
                    let answer = listed(&mut answers, from, to, framing.on_link(size));
                    let source = sources[from] + usize::from(asks[from]);
                    Some(After::Ended(operations.send(from, (source as u32, answer), [After::Ended(ask)])))
                })
                .collect();
            let end = operations.wait(asker, Time::ZERO, all);
            ends.push(end);
            if round + 1 < rounds {
                next.push(operations.wait(asker, gap, [After::Ended(end)]));
            }
        }
        all_gates.append(&mut gates);
        gates = next;
    }
    let size = Bytes::new(size.get().saturating_mul(fan_in.unwrap_or(able as u64)));
    let job =
        Job { table, name: None, kind, algorithm: None, ranks: askers, size, gates: all_gates, ends, skew };
    Some((job, answers, requests))
}

/// One transfer more of a host: its place among those.
fn listed(all: &mut ByHost, from: usize, to: usize, bytes: Bytes) -> u32 {
    let mine = all.entry(from).or_default();
    mine.push(Transfer { start: Transfer::FOLLOWS, dst: NodeId(to as u32), bytes });
    mine.len() as u32 - 1
}
