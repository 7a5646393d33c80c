//! Queries: a host asks others, and asks again when all answers have come (barrier-synchronised reads, scatter and gather).

use super::read::{gap, no_path, too_many, twice};
use super::weave::ByHost;
use super::{Asked, Operations, Rounds, Woven};
use crate::language::reader::Reader;
use crate::language::row::Key;
use crate::tables::run;
use crate::tables::workload::{DESTINATIONS, FAN_IN, JITTER, REQUEST, ROUNDS, SIZE, START, traffic};
use crate::wiring::nics::Takes;
use cnsim_fabric::{After, Transfer};
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_units::{Bytes, Time};

/// Queries, as a table asks for them.
struct Queries {
    /// The hosts that ask.
    askers: Vec<usize>,
    /// Number of servers that each host asks; without a number all.
    fan_in: Option<u64>,
    /// Fewest servers of a host that asks.
    able: usize,
    size: Bytes,
    request: Bytes,
    rounds: u64,
    gap: Time,
    skew: Time,
    start: Time,
}

/// Reads a table of queries to the hosts of the table; none if something is wrong. A server's answers are its next source, and the requests
/// of a host that asks the source after that.
///
/// A query goes to `fan_in` servers. Which these are depends on the table, the host that asks and the round, not on the seed: all seeds and
/// schemes ask the same.
pub(super) fn queries(r: &mut Reader<'_>, asked: &Asked<'_>, operations: &mut Operations) -> Option<Woven> {
    let Asked { hosts: servers, wiring, sources, framing, .. } = *asked;
    let before = r.problems.len();
    let table = Queries::read(r, asked);
    if r.problems.len() > before {
        return None;
    }
    let (mut answers, mut requests) = (ByHost::new(), ByHost::new());
    let Queries { askers, fan_in, able, size, request, gap, skew, start, .. } = table;
    let mut rounds = Rounds::new(operations, &askers, (start, gap), table.rounds);
    let mut asks = vec![false; wiring.hosts.len()];
    let nics = askers.iter().flat_map(|&host| wiring.nics(host));
    nics.for_each(|nic| {
        asks[nic] = true;
        requests.entry(nic).or_default();
    });
    if let Some(apart) = wiring.machines.as_ref().and_then(|m| m.apart(&askers, servers)) {
        no_path(r, asked.key(DESTINATIONS), apart, wiring);
        return None;
    }
    let mut takes = Takes::new(wiring.machines.as_deref());
    for round in 0..table.rounds {
        for (rank, &asker) in askers.iter().enumerate() {
            let gate = rounds.gates[rank];
            let servers = chosen(servers, asker, fan_in, (asked.table(), rank, round));
            let all: Vec<After> = servers
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
            rounds.done(operations, asker, all);
        }
        rounds.turn();
    }
    let size = Bytes::new(size.get().saturating_mul(fan_in.unwrap_or(able as u64)));
    let job = rounds.job(asked, None, askers, size, skew);
    Some(Woven { job, sends: answers, requests })
}

impl Queries {
    fn read(r: &mut Reader<'_>, asked: &Asked<'_>) -> Self {
        let (key, wiring) = (|leaf: Key| asked.key(leaf), asked.wiring);
        let list = r.listed(key(DESTINATIONS));
        let unnamed = matches!(&list.items[..], [one] if one == "uniform" || one == "permutation" || one.starts_with('+'));
        let askers = if unnamed { Vec::new() } else { r.machines(&list, wiring) };
        if unnamed {
            let remedy = "name the hosts that ask: destinations = [\"H0\"]";
            r.wrong(key(DESTINATIONS), "nobody is named who asks", remedy);
        }
        for (leaf, all) in [(DESTINATIONS, &askers[..]), (traffic::HOSTS, asked.hosts)] {
            if let Some(host) = twice(all, wiring) {
                r.wrong(key(leaf), format!("{} is there twice", wiring.machine(host)), "name each host once");
            }
        }
        let others = |asker: &usize| asked.hosts.iter().filter(|server| *server != asker).count();
        let able = askers.iter().map(others).min().unwrap_or(0);
        let fan_in = r.integer_or(key(FAN_IN));
        if let Some(n) = fan_in.filter(|n| *n > able as u64 && !askers.is_empty()) {
            let reason = format!("{n} senders are asked for, and {able} hosts can send");
            r.wrong(key(FAN_IN), reason, "name more hosts, or write \"all\"");
        } else if able == 0 && !askers.is_empty() {
            r.wrong(key(traffic::HOSTS), "no host but the one that asks", "name those that answer");
        }
        let (size, request) = (r.bytes(key(SIZE)), r.bytes(key(REQUEST)));
        let rounds = r.integer(key(ROUNDS));
        let (gap, skew) = (gap(r, asked.prefix, rounds, ROUNDS), r.time(key(JITTER)));
        let (start, duration) = (r.time(key(START)), r.time(run::DURATION));
        if start + skew >= duration {
            let reason = format!("hosts may ask {} after the start of a run of {duration}", start + skew);
            r.clash(&[key(START), key(JITTER), run::DURATION.into()], reason, "lengthen run.duration");
        }
        let most = fan_in.unwrap_or(asked.hosts.len() as u64).saturating_mul(askers.len() as u64);
        too_many(r, key(ROUNDS), most.saturating_mul(2 * rounds));
        Self { askers, fan_in, able, size, request, rounds, gap, skew, start }
    }
}

/// The servers of a query: all but the host that asks, or some of these.
fn chosen(
    servers: &[usize],
    asker: usize,
    fan_in: Option<u64>,
    (table, rank, round): (usize, usize, u64),
) -> Vec<usize> {
    let mut all: Vec<usize> = servers.iter().copied().filter(|s| *s != asker).collect();
    if let Some(n) = fan_in.map(|n| n as usize).filter(|n| *n < all.len()) {
        let mut stream = Stream::new(round, rank as u64 | (table as u64) << 32 | 1 << 51, Purpose::Phase);
        for i in 0..n {
            let pick = i + stream.below((all.len() - i) as u64) as usize;
            all.swap(i, pick);
        }
        all.truncate(n);
    }
    all
}

/// One transfer more of a host: its place among those.
fn listed(all: &mut ByHost, from: usize, to: usize, bytes: Bytes) -> u32 {
    let mine = all.entry(from).or_default();
    mine.push(Transfer { start: Transfer::FOLLOWS, dst: NodeId(to as u32), bytes });
    mine.len() as u32 - 1
}
