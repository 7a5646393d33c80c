//! Tables of collectives and of transfers that follow others, as operations.

use super::weave::{ByHost, Sends, Weave, binary_tree, second_tree};
use super::{Asked, Operations, Rounds, Woven};
use crate::language::kinds::Choice as _;
use crate::language::reader::{List, Reader};
use crate::language::row::{At, Key, MAX_FLOWS};
use crate::tables::run;
use crate::tables::workload::{
    ALGORITHM, Algorithm, CHANNELS, CHUNK, GAP, JITTER, KIND, REDUCE_TIME, REPEAT, SIZE, START, Traffic,
};
use crate::wiring::Wiring;
use cnsim_fabric::{After, Transfer};
use cnsim_import::ImportError;
use cnsim_units::{Bytes, Time};
use std::collections::HashMap;

/// Most flows of a pair of hosts: a frame names its flow by 16 bits.
const OF_A_PAIR: u64 = 65_536;

/// The algorithms of a kind, the default first.
pub(crate) fn algorithms(kind: Traffic) -> &'static [Algorithm] {
    use Algorithm::{Direct, DoubleTree, HalvingDoubling, Pairwise, Ring, Rotated, Tree};
    match kind {
        Traffic::AllReduce => &[Ring, Tree, DoubleTree, HalvingDoubling, Direct],
        Traffic::ReduceScatter | Traffic::AllGather => &[Ring, HalvingDoubling, Direct],
        Traffic::AllToAll => &[Direct, Rotated, Pairwise],
        Traffic::Broadcast | Traffic::Reduce => &[Ring, Tree, Direct],
        Traffic::Barrier => &[Tree, Ring, HalvingDoubling, Direct],
        Traffic::Training => &[Ring, Tree, DoubleTree, HalvingDoubling, Direct],
        _ => &[],
    }
}

/// A collective, as its table asks for it.
struct Collective {
    /// The key that names its ranks, and whether these are known.
    hosts: At,
    known: bool,
    algorithm: Algorithm,
    size: Bytes,
    chunk: Option<Bytes>,
    channels: usize,
    reduce: u64,
    repeat: u64,
    gap: Time,
    skew: Time,
    start: Time,
}

/// Reads a table of a collective; none if the table is none, or something is wrong.
pub(super) fn collective(
    r: &mut Reader<'_>,
    asked: &Asked<'_>,
    operations: &mut Operations,
) -> Option<Woven> {
    let plain = asked.kind == Traffic::AllToAll && asked.algorithm == "auto";
    if algorithms(asked.kind).is_empty() || plain {
        return None;
    }
    let (before, ranks, wiring) = (r.problems.len(), asked.hosts, asked.wiring);
    let c = Collective::read(r, asked);
    if r.problems.len() > before || !c.known {
        return None;
    }
    let mut rounds = Rounds::new(operations, ranks, (c.start, c.gap), c.repeat);
    let mut sends = Sends::new(operations, wiring, asked.sources, asked.framing);
    for round in 0..c.repeat {
        let mut weave = Weave {
            sends: &mut sends,
            ranks,
            piece: c.chunk.map_or(u64::MAX, Bytes::get),
            reduce: c.reduce,
            gates: rounds.gates.iter().map(|&gate| After::Ended(gate)).collect(),
            even: c.repeat == 1 && c.skew == Time::ZERO,
            got: vec![Vec::new(); ranks.len()],
            gone: vec![Vec::new(); ranks.len()],
        };
        run(&mut weave, asked.kind, c.algorithm, (c.size.get(), c.channels));
        let (got, gone) = (weave.got, weave.gone);
        if round == 0 {
            if let Some(apart) = sends.apart {
                no_path(r, &c.hosts, apart, wiring);
            }
            let (sent, key) =
                (sends.sources.iter().map(|s| s.1.len() as u64).sum::<u64>(), asked.key(REPEAT));
            too_many(r, &key, sent.saturating_mul(c.repeat));
            few_of_a_pair(r, &key, sends.sources.iter().map(|s| &s.1[..]).enumerate(), wiring, c.repeat);
            if r.problems.len() > before {
                return None;
            }
        }
        for (&host, (got, gone)) in ranks.iter().zip(got.into_iter().zip(gone)) {
            // Who receives nothing is done when what it sent is.
            rounds.done(sends.operations, host, if got.is_empty() { gone } else { got });
        }
        rounds.turn();
    }
    let job = rounds.job(asked, Some(c.algorithm), ranks.to_vec(), c.size, c.skew);
    Some(Woven { job, sends: sends.by_host(), requests: ByHost::new() })
}

impl Collective {
    fn read(r: &mut Reader<'_>, asked: &Asked<'_>) -> Self {
        let key = |leaf: Key| asked.key(leaf);
        let (kind, named, possible) = (asked.kind, &asked.algorithm, algorithms(asked.kind));
        let n = asked.hosts.len();
        let algorithm = possible.iter().copied().find(|a| a.word() == named).unwrap_or(possible[0]);
        if named != "auto" && algorithm.word() != named && Algorithm::of(named).is_some() {
            let words: Vec<&str> = possible.iter().map(|a| a.word()).collect();
            let reason = format!("{} has no algorithm `{named}`", kind.word());
            r.clash(&[key(ALGORITHM), key(KIND)], reason, format!("write {}", cnsim_problem::any_of(&words)));
        }
        let hosts = asked.hosts_key(KIND);
        let known = known(r, &hosts, asked.hosts, asked.wiring);
        if known && n < 2 {
            r.wrong(&hosts, "a collective of one rank moves nothing", "name at least two hosts");
        }
        let in_pairs = matches!(algorithm, Algorithm::HalvingDoubling | Algorithm::Pairwise);
        if known && in_pairs && !n.is_power_of_two() {
            let (name, more) = (algorithm.word(), n.next_power_of_two());
            let reason = format!("{name} needs a number of ranks that is a power of two, and there are {n}");
            let near = format!("name {} or {more} hosts, or write ring", more / 2);
            r.clash(&[&key(ALGORITHM), &hosts], reason, near);
        }
        let barrier = kind == Traffic::Barrier;
        let size = if barrier { Bytes::new(n as u64) } else { r.bytes(key(SIZE)) };
        if size.get() < n as u64 {
            let reason = format!("{size} for {n} ranks: not a byte for each");
            r.wrong(key(SIZE), reason, format!("write at least {n} B"));
        }
        let (chunk, channels) = cuts(r, asked, algorithm);
        let reduce = r.time(key(REDUCE_TIME)).as_ps();
        let repeat = r.integer(key(REPEAT));
        let (gap, skew) = (gap(r, asked.prefix, repeat, REPEAT), r.time(key(JITTER)));
        let start = begins_in_time(r, asked.prefix, skew);
        let pieces = chunk.map_or(1, |chunk| size.get().div_ceil(n.max(1) as u64 * chunk.get()).max(1));
        let about = 2 * pieces.saturating_mul((n * n.max(channels)) as u64);
        too_many(r, key(CHUNK), about);
        Self { hosts, known, algorithm, size, chunk, channels, reduce, repeat, gap, skew, start }
    }
}

/// The largest piece, and the number of rings, where the algorithm has some. Of algorithms that a matrix compares, each takes the keys that
/// it has.
fn cuts(r: &mut Reader<'_>, asked: &Asked<'_>, algorithm: Algorithm) -> (Option<Bytes>, usize) {
    let key = |leaf: Key| asked.key(leaf);
    let (compared, name) = (r.is_of_case(key(ALGORITHM)), algorithm.word());
    let chunk = r.bytes_or(key(CHUNK));
    let cut = matches!(algorithm, Algorithm::Ring | Algorithm::Tree | Algorithm::DoubleTree);
    if chunk.is_some() && !cut && !compared {
        let reason = format!("{} by {name} is not cut into pieces", asked.kind.word());
        r.wrong(key(CHUNK), reason, "remove it, or write ring, tree or double-tree");
    }
    let (channels, rings) = (r.integer(key(CHANNELS)) as usize, algorithm == Algorithm::Ring);
    if channels > 1 && !rings && !compared {
        r.wrong(key(CHANNELS), format!("{name} has no rings"), "remove it, or write ring");
    }
    (chunk.filter(|_| cut), if rings { channels } else { 1 })
}

/// A host that a list names twice.
pub(super) fn twice(hosts: &[usize], wiring: &Wiring) -> Option<usize> {
    let mut seen = vec![false; wiring.hosts.len()];
    hosts.iter().copied().find(|&host| std::mem::replace(&mut seen[host], true))
}

/// Reads the lines of a list in the form of another simulator; faults are reported.
pub(super) fn imported<T>(
    r: &mut Reader<'_>,
    list: &List,
    read: impl FnOnce(&[&str]) -> Result<T, Vec<ImportError>>,
) -> Option<T> {
    let lines: Vec<&str> = list.items.iter().map(String::as_str).collect();
    let wrong = |f: ImportError| r.wrong_at(&list.key, f.line - 1, f.column - 1, f.reason, f.remedy);
    read(&lines).map_err(|faults| faults.into_iter().for_each(wrong)).ok()
}

/// Are the ranks of a table all hosts, so that they may be counted? An error where a host is a rank twice.
pub(super) fn known(r: &mut Reader<'_>, hosts: impl AsRef<str>, ranks: &[usize], wiring: &Wiring) -> bool {
    let known = r.problems.iter().all(|p| p.key != hosts.as_ref());
    if let Some(twice) = twice(ranks, wiring) {
        r.wrong(hosts, format!("{} is a rank twice", wiring.machine(twice)), "name each host once");
    }
    known
}

/// When the ranks of a table begin; an error if that is after the end of the run, or with a delay of up to `skew` may be.
pub(super) fn begins_in_time(r: &mut Reader<'_>, prefix: &str, skew: Time) -> Time {
    let key = |leaf: Key| leaf.of(prefix);
    let (start, duration) = (r.time(key(START)), r.time(run::DURATION));
    if start + skew >= duration {
        let begin = if skew > Time::ZERO { "may begin" } else { "begin" };
        let reason = format!("ranks {begin} {} after the start of a run of {duration}", start + skew);
        r.clash(&[key(START), key(JITTER), run::DURATION.into()], reason, "lengthen run.duration");
    }
    start
}

/// Weaves one round.
pub(super) fn run(
    w: &mut Weave<'_, '_>,
    kind: Traffic,
    algorithm: Algorithm,
    (bytes, channels): (u64, usize),
) {
    let n = w.ranks.len();
    let (up, down) = match kind {
        Traffic::Broadcast => (false, true),
        Traffic::Reduce => (true, false),
        _ => (true, true),
    };
    let chunk = bytes.div_ceil(n as u64);
    let of = move |c: usize| chunk.min(bytes.saturating_sub(c as u64 * chunk));
    match (algorithm, kind) {
        (Algorithm::Ring, Traffic::Broadcast | Traffic::Reduce) => {
            let chain: Vec<Option<usize>> = (0..n).map(|r| r.checked_sub(1)).collect();
            w.tree(bytes, &chain, (up, down));
        }
        (Algorithm::Ring, _) => {
            let steps = if matches!(kind, Traffic::AllReduce | Traffic::Barrier) { 2 * n - 2 } else { n - 1 };
            let share = bytes.div_ceil(channels as u64);
            for channel in 0..channels as u64 {
                let mine = share.min(bytes.saturating_sub(channel * share));
                w.ring(mine, channel as usize, 0..steps, kind != Traffic::AllGather);
            }
        }
        (Algorithm::Tree, _) => {
            w.tree(if kind == Traffic::Barrier { 1 } else { bytes }, &binary_tree(n), (up, down))
        }
        (Algorithm::DoubleTree, _) => {
            w.tree(bytes.div_ceil(2), &binary_tree(n), (up, down));
            w.tree(bytes / 2, &second_tree(n), (up, down));
        }
        (Algorithm::HalvingDoubling, Traffic::Barrier) => w.exchange(),
        (Algorithm::HalvingDoubling, _) => {
            w.halving_doubling(bytes, (kind != Traffic::AllGather, kind != Traffic::ReduceScatter));
        }
        (Algorithm::Direct, Traffic::Broadcast) => {
            w.all_at_once(|from, _| if from == 0 { bytes } else { 0 }, &[], false);
        }
        (Algorithm::Direct, Traffic::Reduce) => {
            w.all_at_once(|_, to| if to == 0 { bytes } else { 0 }, &[], true);
        }
        (Algorithm::Direct, Traffic::Barrier) => drop(w.all_at_once(|_, _| 1, &[], false)),
        (Algorithm::Direct, Traffic::AllGather) => drop(w.all_at_once(|from, _| of(from), &[], false)),
        (Algorithm::Direct, Traffic::AllReduce) => {
            let has = w.all_at_once(|_, to| of(to), &[], true);
            w.all_at_once(|from, _| of(from), &has, false);
        }
        (Algorithm::Direct, _) => drop(w.all_at_once(|_, to| of(to), &[], kind == Traffic::ReduceScatter)),
        (Algorithm::Rotated, _) => w.in_steps(of, |from, step| (from + step) % n),
        (Algorithm::Pairwise, _) => w.in_steps(of, |from, step| from ^ step),
        (Algorithm::Auto, _) => {}
    }
}

/// A transfer of a list.
pub(crate) struct Listed<'a> {
    /// Place in the list.
    pub(crate) item: usize,
    pub(crate) from: usize,
    /// Where it follows others, its start is the time from the last of their ends.
    pub(crate) transfer: Transfer,
    pub(crate) name: Option<&'a str>,
    pub(crate) after: Vec<&'a str>,
}

/// The words behind the bytes of a listed transfer: its name, and the transfers that it follows. None for other words.
pub(crate) fn named<'a>(fields: &[(usize, &'a str)]) -> Option<(Option<&'a str>, Vec<&'a str>)> {
    let (mut name, mut after) = (None, Vec::new());
    for (_, field) in fields {
        let (word, rest) = field.split_once(char::is_whitespace)?;
        let mut rest = rest.split_whitespace();
        match word {
            "name" if name.is_none() => name = Some(rest.next().filter(|_| rest.next().is_none())?),
            "after" if after.is_empty() => after.extend(rest),
            _ => return None,
        }
    }
    Some((name, after))
}

/// The transfers of a list by source; those that follow others, and those that are followed, become operations. The names of transfers
/// that were refused are no fault of those that follow them.
pub(crate) fn follow(
    r: &mut Reader<'_>,
    key: &str,
    (listed, refused): (Vec<Listed<'_>>, &[&str]),
    wiring: &Wiring,
    (sources, operations): (&[usize], &mut Operations),
) -> ByHost {
    let (preceding, right) = preceding(r, key, (&listed, refused), wiring);
    let mut out = ByHost::new();
    if !right {
        return out;
    }
    let mut of_graph = vec![false; listed.len()];
    for (n, preceding) in preceding.iter().enumerate().filter(|p| !p.1.is_empty()) {
        of_graph[n] = true;
        preceding.iter().for_each(|&p| of_graph[p] = true);
    }
    for (_, one) in listed.iter().enumerate().filter(|l| !of_graph[l.0]) {
        out.entry(one.from).or_default().push(one.transfer);
    }
    out.values_mut().for_each(|l| l.sort_by_key(|t| t.start));
    // First all sends get their numbers: each is ready after a wait of its own.
    let first = operations.len() as u32;
    let mut place = vec![0; listed.len()];
    (0..).zip((0..listed.len()).filter(|&n| of_graph[n])).for_each(|(k, n)| place[n] = first + 2 * k + 1);
    for (n, one) in listed.iter().enumerate().filter(|l| of_graph[l.0]) {
        let sends = out.entry(one.from).or_default();
        let transfer = (sources[one.from] as u32, sends.len() as u32);
        sends.push(Transfer { start: Transfer::FOLLOWS, ..one.transfer });
        let after: Vec<After> = preceding[n].iter().map(|&p| After::Ended(place[p])).collect();
        let ready = operations.wait(one.from, one.transfer.start, after);
        operations.send(one.from, transfer, [After::Ended(ready)]);
    }
    few_of_a_pair(r, key, out.iter().map(|(&host, sends)| (host, &sends[..])), wiring, 1);
    out
}

/// By transfer of a list, those that it follows; and whether all names of these can be followed.
fn preceding(
    r: &mut Reader<'_>,
    key: &str,
    (listed, refused): (&[Listed<'_>], &[&str]),
    wiring: &Wiring,
) -> (Vec<Vec<usize>>, bool) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (n, one) in listed.iter().enumerate() {
        if let Some(name) = one.name
            && names.insert(name, n).is_some()
        {
            r.wrong_item(key, one.item, format!("two transfers have the name {name}"), "give each its own");
        }
    }
    let before = r.problems.len();
    let mut preceding: Vec<Vec<usize>> = vec![Vec::new(); listed.len()];
    for (n, one) in listed.iter().enumerate() {
        for name in &one.after {
            let Some(&first) = names.get(name) else {
                if refused.contains(name) {
                    continue;
                }
                let reason = format!("it follows {name}, and no transfer has that name");
                r.wrong_item(key, one.item, reason, "write `name` and the name behind the bytes of that one");
                continue;
            };
            let (from, to) = (listed[first].from, listed[first].transfer.dst.0 as usize);
            let machine = |h: usize| wiring.nics(h).start;
            if ![machine(from), machine(to)].contains(&machine(one.from)) {
                let host = |h: usize| wiring.machine(h);
                let reason = format!(
                    "it follows {name}, of whose end {} sees nothing: that goes from {} to {}",
                    host(one.from),
                    host(from),
                    host(to)
                );
                r.wrong_item(
                    key,
                    one.item,
                    reason,
                    "let it follow one that begins or ends at its own source",
                );
                continue;
            }
            preceding[n].push(first);
        }
    }
    if let Some(circle) = circle(&preceding) {
        let way: Vec<&str> = circle.iter().map(|&n| listed[n].name.unwrap_or("?")).collect();
        let reason = format!("a circle, in which none ever begins: {}", way.join(" after "));
        r.wrong_item(key, listed[circle[0]].item, reason, "let one of them follow none of the others");
    }
    (preceding, r.problems.len() == before)
}

/// The transfers of a circle, each before the one that it follows; none if there is no circle.
fn circle(preceding: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = preceding.iter().map(Vec::len).collect();
    let mut follow: Vec<Vec<usize>> = vec![Vec::new(); preceding.len()];
    preceding.iter().enumerate().for_each(|(n, all)| all.iter().for_each(|&p| follow[p].push(n)));
    let mut free: Vec<usize> = (0..left.len()).filter(|&n| left[n] == 0).collect();
    while let Some(n) = free.pop() {
        for &next in &follow[n] {
            left[next] -= 1;
            if left[next] == 0 {
                free.push(next);
            }
        }
    }
    // Each that is left follows another that is left: this way comes back to where it was.
    let mut way = vec![(0..left.len()).find(|&n| left[n] > 0)?];
    loop {
        let next = *preceding[way[way.len() - 1]].iter().find(|&&p| left[p] > 0)?;
        let seen = way.iter().position(|&n| n == next);
        way.push(next);
        if let Some(first) = seen {
            return Some(way.split_off(first));
        }
    }
}

/// The time between two of so many rounds; an error where it is set and there is one alone.
pub(super) fn gap(r: &mut Reader<'_>, prefix: &str, rounds: u64, of: Key) -> Time {
    let (key, name) = (GAP.of(prefix), of.parts().1);
    if rounds == 1 && r.is_asked(&key) && !r.is_of_case(of.of(prefix)) {
        r.wrong(
            &key,
            format!("has no effect with {name} = 1"),
            format!("remove it, or set {name} otherwise"),
        );
    }
    r.time(key)
}

/// An error: no NIC of a host has a path to one of another.
pub(crate) fn no_path(r: &mut Reader<'_>, key: impl AsRef<str>, (from, to): (usize, usize), wiring: &Wiring) {
    let (a, b) = (wiring.machine(from), wiring.machine(to));
    let reason = format!("the NICs of {a} and {b} reach no common switch");
    r.wrong(key, reason, "link their switches, directly or over others: hosts do not forward");
}

/// An error where there are more operations than a scenario may have.
pub(super) fn too_many(r: &mut Reader<'_>, key: impl AsRef<str>, operations: u64) {
    if operations > MAX_FLOWS {
        let reason = format!("{operations} transfers are too many");
        r.wrong(key, reason, format!("at most {MAX_FLOWS}: fewer ranks or rounds, or larger pieces"));
    }
}

/// An error where a pair of hosts has too many flows in so many rounds, of each of which these are the transfers by host.
pub(super) fn few_of_a_pair<'a>(
    r: &mut Reader<'_>,
    key: impl AsRef<str>,
    sends: impl Iterator<Item = (usize, &'a [Transfer])>,
    wiring: &Wiring,
    rounds: u64,
) {
    let mut most: Option<(u64, usize, usize)> = None;
    for (host, sends) in sends {
        let mut to: HashMap<u32, u64> = HashMap::new();
        sends.iter().for_each(|t| *to.entry(t.dst.0).or_default() += rounds);
        most = most.max(to.into_iter().map(|(dst, flows)| (flows, host, dst as usize)).max());
    }
    if let Some((flows, src, dst)) = most.filter(|most| most.0 > OF_A_PAIR) {
        let (a, b) = (&wiring.hosts[src], &wiring.hosts[dst]);
        let reason = format!("{flows} transfers from {a} to {b}; {OF_A_PAIR} of a pair are possible");
        r.wrong(key, reason, "use fewer rounds, or larger pieces");
    }
}
