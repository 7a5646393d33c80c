//! Finite flows that a seed draws: by load, incasts, all to all, permutations.

use super::jobs;
use super::messages::Messages;
use super::{
    DESTINATIONS, FAN_IN, GAPS, JITTER, KIND, LOAD, LOAD_COUNTS, PERIOD, SIZE, SIZE_TABLE, SIZES, START, STOP,
};
use super::{Gaps, SizeTable, Traffic};
use crate::flows::{self, Flow, Framing, Incast, Poisson, Sizes};
use crate::language::reader::Reader;
use crate::language::row::MAX_FLOWS;
use crate::language::row::{At, Key};
use crate::tables::run;
use crate::wiring::Wiring;
use crate::wiring::nics::{Machines, Takes};
use cnsim_fabric::Transfer;
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Rate, Time};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A table of flows that a seed draws.
#[derive(Clone, Debug)]
pub struct Drawn {
    rule: Rule,
    /// Hosts that send, and the rate of the access link of each.
    from: Vec<usize>,
    lines: Vec<Rate>,
    /// Number of the table. Each table has draws of its own.
    site: u64,
    framing: Framing,
    stop: Time,
    machines: Option<Arc<Machines>>,
}

#[derive(Clone, Debug)]
enum Rule {
    Poisson {
        law: Poisson,
        to: Vec<usize>,
    },
    /// `senders`: fewest and most hosts that can send to a receiver, without the receiver itself.
    Incast {
        law: Incast,
        to: Vec<usize>,
        senders: (usize, usize),
    },
    AllToAll {
        bytes: Bytes,
        start: Time,
        messages: Messages,
    },
    Permutation {
        bytes: Bytes,
        start: Time,
        messages: Messages,
    },
}

/// The flows of a seed, by table and host: drawn once for all of a table's hosts.
pub(super) type Cache = Vec<(Arc<Drawn>, HashMap<usize, Vec<Flow>>)>;

impl Drawn {
    /// Reads a table of this kind for the hosts `from`; none if something is wrong with it, or it is no such kind.
    pub(super) fn read(
        r: &mut Reader<'_>,
        prefix: &str,
        (kind, from, framing, messages): (Traffic, &[usize], Framing, Messages),
        wiring: &Wiring,
    ) -> Option<Arc<Self>> {
        let key = |leaf: Key| leaf.of(prefix);
        let before = r.problems.len();
        let duration = r.time(run::DURATION);
        let start = r.time(key(START));
        let stop = r.time_or(key(STOP)).unwrap_or(duration).min(duration);
        if start >= duration {
            let reason = format!("flows begin at {start}, after the run of {duration}");
            let remedy = "let them begin earlier, or lengthen run.duration";
            r.clash(&[key(START), run::DURATION.into()], reason, remedy);
        }
        let bytes = r.bytes(key(SIZE));
        let rule = match kind {
            Traffic::Poisson => {
                let load = r.share(key(LOAD));
                if load <= 0.0 {
                    r.wrong(key(LOAD), "a load of 0 % has no flows", "write a load above 0 %, to 100 %");
                }
                let counts = r.choice(key(LOAD_COUNTS));
                let sizes = sizes(r, &key)?;
                let frame = (framing.payload, framing.header);
                Rule::Poisson {
                    law: Poisson::new(sizes, (load, counts), frame, (start, stop)),
                    to: match &r.list(key(DESTINATIONS))[..] {
                        // Each host has a goal of its own.
                        [one] if one == "permutation" || one.starts_with('+') => Vec::new(),
                        _ => receivers(r, key(DESTINATIONS), wiring),
                    },
                }
            }
            Traffic::Incast => incast(r, &key, (bytes, start, stop), from, wiring),
            Traffic::AllToAll => Rule::AllToAll { bytes, start, messages },
            Traffic::Permutation => Rule::Permutation { bytes, start, messages },
            _ => return None,
        };
        let table = prefix.rsplit('.').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        // Of a host with several NICs: all of them.
        let rate = |nic: usize| wiring.access(nic).map_or(0.0, |l| l.rate.bps());
        let line = |h: &usize| Rate::from_bps(wiring.nics(*h).map(rate).sum());
        let drawn = Self {
            rule,
            from: from.to_vec(),
            lines: from.iter().map(line).collect(),
            site: table,
            framing,
            stop,
            machines: wiring.machines.clone(),
        };
        let to = drawn.receivers().unwrap_or(from);
        if let Some(apart) = wiring.machines.as_ref().and_then(|machines| machines.apart(from, to)) {
            jobs::no_path(r, key(KIND), apart, wiring);
        }
        let all: f64 = from.iter().map(|h| drawn.expected(*h).0 * drawn.nics(*h).len() as f64).sum();
        if all > MAX_FLOWS as f64 {
            let reason = format!("about {all:.0} flows are too many");
            let remedy = format!("at most {MAX_FLOWS}: fewer hosts, larger flows, or less time");
            r.wrong(key(KIND), reason, remedy);
        }
        if from.len() < 2 && matches!(kind, Traffic::AllToAll | Traffic::Permutation) {
            r.wrong(key(KIND), "one host alone has nobody to send to", "name at least two hosts");
        }
        (r.problems.len() == before).then(|| Arc::new(drawn))
    }

    /// The NICs of the host that this one is a NIC of.
    pub(super) fn nics(&self, nic: usize) -> Range<usize> {
        self.machines.as_ref().map_or(nic..nic + 1, |machines| machines.nics(nic))
    }

    /// The flows that leave by a NIC in the run of a seed, as the network takes them; all go to `goal` where there is one.
    pub(super) fn transfers(
        self: &Arc<Self>,
        nic: usize,
        goal: Option<usize>,
        seed: u64,
        cache: &mut Cache,
    ) -> Vec<Transfer> {
        let host = self.nics(nic).start;
        let mut takes = Takes::new(self.machines.as_deref());
        let transfer = |f: &Flow| {
            let (from, to) = takes.take(self.nics(f.src), self.nics(f.dst))?;
            let bytes = self.framing.on_link(f.bytes);
            (from == nic).then_some(Transfer { start: f.start, dst: NodeId(to as u32), bytes })
        };
        if let Rule::Poisson { law, to } = &self.rule {
            let line = self.from.iter().position(|h| *h == host).map_or(Rate::ZERO, |i| self.lines[i]);
            let to = goal.as_ref().map_or(&to[..], std::slice::from_ref);
            return law.flows(host, line, to, seed, self.site).iter().filter_map(transfer).collect();
        }
        if !cache.iter().any(|(d, _)| Arc::ptr_eq(d, self)) {
            let all = match &self.rule {
                Rule::Incast { law, to, .. } => law.flows(&self.from, to, seed, self.site),
                Rule::AllToAll { bytes, start, messages } => {
                    messages.of(&flows::all_to_all(&self.from, *bytes, *start), |flow| &mut flow.start)
                }
                Rule::Permutation { bytes, start, messages } => {
                    let all = flows::permutation(&self.from, *bytes, *start, seed, self.site);
                    messages.of(&all, |flow| &mut flow.start)
                }
                Rule::Poisson { .. } => Vec::new(),
            };
            let mut by_host: HashMap<usize, Vec<Flow>> = HashMap::new();
            all.into_iter().for_each(|f| by_host.entry(f.src).or_default().push(f));
            cache.push((self.clone(), by_host));
        }
        let mine = cache.iter().find(|(d, _)| Arc::ptr_eq(d, self)).and_then(|(_, all)| all.get(&host));
        mine.into_iter().flatten().filter_map(transfer).collect()
    }

    /// How many flows leave by a NIC on average, and how many bytes they have on a link, all together.
    pub(super) fn expected(&self, nic: usize) -> (f64, f64) {
        let (nics, (n, bytes)) = (self.nics(nic), self.expected_of(self.nics(nic).start));
        (n / nics.len() as f64, bytes / nics.len() as f64)
    }

    fn expected_of(&self, host: usize) -> (f64, f64) {
        let (n, bytes) = match &self.rule {
            Rule::Poisson { law, .. } => {
                let line = self.from.iter().position(|h| *h == host).map_or(Rate::ZERO, |i| self.lines[i]);
                let span = self.stop.saturating_sub(law.start).as_secs_f64();
                let n = if line > Rate::ZERO { span / law.mean_gap(line) } else { 0.0 };
                return (n, n * law.mean_on_wire());
            }
            Rule::Incast { law, senders, .. } => {
                let span = self.stop.saturating_sub(law.start).as_secs_f64();
                let times = law.period.map_or(1.0, |p| (span / p.as_secs_f64()).ceil().max(1.0));
                (times * law.fan_in.min(senders.0) as f64 / self.from.len() as f64, law.bytes)
            }
            Rule::AllToAll { bytes, messages, .. } => {
                ((self.from.len() as f64 - 1.0) * messages.count as f64, *bytes)
            }
            Rule::Permutation { bytes, messages, .. } => (messages.count as f64, *bytes),
        };
        (n, n * self.framing.on_link(bytes).as_f64())
    }

    /// Most flows that a host sends under any seed, in all or to each of `among` receivers. What the seed draws may be eight standard
    /// deviations above its mean: that happens in no run.
    pub(super) fn most(&self, host: usize, among: Option<usize>) -> f64 {
        let drawn = |mean: f64| (mean + 8.0 * mean.sqrt() + 8.0).ceil();
        match &self.rule {
            Rule::Poisson { .. } => drawn(self.expected(host).0 / among.unwrap_or(1) as f64),
            Rule::Incast { law, to, senders } => {
                let span = self.stop.saturating_sub(law.start).as_ps();
                let turns = law.period.map_or(1, |p| span.div_ceil(p.as_ps().max(1)).max(1));
                let turns = if law.random { drawn(turns as f64) } else { turns as f64 };
                let to_one = if among.is_some() { (turns / to.len() as f64).ceil() } else { turns };
                let share = law.fan_in.min(senders.0) as f64 / senders.0 as f64;
                if share < 1.0 { to_one.min(drawn(to_one * share)) } else { to_one }
            }
            Rule::AllToAll { messages, .. } => {
                let others = if among.is_some() { 1 } else { self.from.len() };
                others as f64 * messages.count as f64
            }
            Rule::Permutation { messages, .. } => messages.count as f64,
        }
    }

    /// Bytes of its largest flow on a link.
    pub(super) fn largest(&self) -> Bytes {
        self.framing.on_link(match &self.rule {
            Rule::Poisson { law, .. } => Bytes::new(law.sizes.points().last().map_or(0, |p| p.0 as u64)),
            Rule::Incast { law, .. } => law.bytes,
            Rule::AllToAll { bytes, .. } | Rule::Permutation { bytes, .. } => *bytes,
        })
    }

    /// From when to when flows begin at a rate; none where they begin at given moments.
    pub(super) fn sends_from(&self) -> Option<(Time, Time)> {
        match &self.rule {
            Rule::Poisson { law, .. } => Some((law.start, self.stop)),
            _ => None,
        }
    }

    /// The table of sizes that flows are drawn from.
    pub(super) fn sizes(&self) -> Option<&Sizes> {
        match &self.rule {
            Rule::Poisson { law, .. } => Some(&law.sizes),
            _ => None,
        }
    }

    /// Does the seed decide on any of its flows?
    pub(super) fn by_chance(&self) -> bool {
        match &self.rule {
            Rule::Poisson { .. } | Rule::Permutation { .. } => true,
            Rule::Incast { law, senders, .. } => {
                law.random || law.fan_in < senders.1 || law.jitter > Time::ZERO
            }
            Rule::AllToAll { .. } => false,
        }
    }

    /// Hosts that its flows may go to; none: any.
    pub(super) fn receivers(&self) -> Option<&[usize]> {
        let all = match &self.rule {
            // Once it comes to the first one alone.
            Rule::Incast { law, to, .. } if law.period.is_none() => to.get(..1)?,
            Rule::Poisson { to, .. } | Rule::Incast { to, .. } => to,
            Rule::AllToAll { .. } | Rule::Permutation { .. } => &self.from,
        };
        (!all.is_empty()).then_some(all)
    }

    /// The one host that all flows go to, if there is one.
    pub(super) fn only(&self) -> Option<usize> {
        match &self.rule {
            Rule::Poisson { to, .. } | Rule::Incast { to, .. } if to.len() == 1 => to.first().copied(),
            _ => None,
        }
    }
}

/// Hosts that flows go to: all, or those named.
fn receivers(r: &mut Reader<'_>, key: At, wiring: &Wiring) -> Vec<usize> {
    let list = r.listed(&key);
    match &list.items[..] {
        [one] if one == "uniform" => wiring.all_machines().collect(),
        [one] if one == "permutation" || one.starts_with('+') => {
            r.wrong(
                key,
                format!("`{one}` names no hosts"),
                "write uniform, or the names of the incast's receivers",
            );
            Vec::new()
        }
        _ => r.machines(&list, wiring),
    }
}

/// The incasts of a table, from so many bytes of each sender within this time.
fn incast(
    r: &mut Reader<'_>,
    key: &dyn Fn(Key) -> At,
    (bytes, start, stop): (Bytes, Time, Time),
    from: &[usize],
    wiring: &Wiring,
) -> Rule {
    let period = r.time_or(key(PERIOD));
    let fan_in = r.integer_or(key(FAN_IN)).map_or(usize::MAX, |n| n as usize);
    let to = receivers(r, key(DESTINATIONS), wiring);
    let mut sends = vec![false; wiring.hosts.len()];
    from.iter().for_each(|h| sends[*h] = true);
    let others = || to.iter().map(|d| from.len() - usize::from(sends[*d]));
    let senders = (others().min().unwrap_or(0), others().max().unwrap_or(0));
    if fan_in != usize::MAX && fan_in > senders.0 {
        let reason = format!("{fan_in} senders are asked for, and {} hosts can send", senders.0);
        r.wrong(key(FAN_IN), reason, "name more hosts, or write \"all\"");
    }
    let random = r.choice::<Gaps>(key(GAPS)) == Gaps::Poisson;
    let jitter = r.time(key(JITTER));
    let law = Incast { bytes, fan_in, start, stop, period, random, jitter };
    Rule::Incast { law, to, senders }
}

/// The table of sizes that is named, or that a file has listed.
fn sizes(r: &mut Reader<'_>, key: &dyn Fn(Key) -> At) -> Option<Sizes> {
    let table: SizeTable = r.choice(key(SIZES));
    if table != SizeTable::File {
        return Sizes::named(&r.word(key(SIZES)));
    }
    let list = r.listed(key(SIZE_TABLE));
    match Sizes::parse(&list.items.join("\n")) {
        Ok(sizes) => Some(sizes),
        Err(e) => {
            if e.line > 0 {
                r.wrong_item(&list.key, e.line - 1, e.reason, e.remedy);
            } else {
                r.wrong(&list.key, e.reason, format!("{}; or name a file of them in size_file", e.remedy));
            }
            None
        }
    }
}
