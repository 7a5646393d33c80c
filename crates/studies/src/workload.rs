//! Traffic: what a scenario's `[workload]` and `[[traffic]]` tables describe, per host.

use crate::reader::Reader;
use crate::topology::Wiring;
use cnsim_fabric::{Arrivals, Destinations, Phase, SourceSpec, Transfer};
use cnsim_scheme_api::{NodeId, Purpose, Stream};
use cnsim_units::{Bytes, Rate, Time};

/// A source of one host, but for what a seed decides.
#[derive(Clone, Debug)]
pub struct Plan {
    arrivals: Arrivals,
    destinations: Destinations,
    /// Destinations are a permutation drawn by the seed: the hosts that take part.
    permutation: Vec<usize>,
    frame: Bytes,
    start: Time,
    stop: Time,
    phase: Phase,
    /// On-off periods start at a random point, drawn per host.
    random_offset: bool,
    transfers: Vec<Transfer>,
}

impl Plan {
    /// The source of host `host` in the run of a seed.
    pub fn spec(&self, host: usize, index: usize, seed: u64) -> SourceSpec {
        let mut arrivals = self.arrivals;
        if let (Arrivals::OnOff { on, off, .. }, true) = (arrivals, self.random_offset) {
            let site = host as u64 | (index as u64) << 32 | 1 << 48;
            let shift = Stream::new(seed, site, Purpose::Phase).below((on + off).as_ps());
            arrivals = Arrivals::OnOff { on, off, shift: Time::from_ps(shift) };
        }
        let destinations = match permuted(&self.permutation, host, seed) {
            Some(to) => Destinations::Fixed(NodeId(to as u32)),
            None => self.destinations.clone(),
        };
        SourceSpec {
            arrivals,
            destinations,
            frame: self.frame,
            start: self.start,
            stop: self.stop,
            phase: self.phase,
            transfers: self.transfers.clone(),
        }
    }

    /// Rate that it offers on an access link of `line`.
    pub fn offered(&self, line: Rate, duration: Time) -> Rate {
        let share = match self.arrivals {
            Arrivals::Bernoulli { load } | Arrivals::Bursts { load, .. } => load,
            Arrivals::Greedy => 1.0,
            Arrivals::OnOff { on, off, .. } => on.as_secs_f64() / (on + off).as_secs_f64(),
            Arrivals::Transfers => {
                let bits: f64 = self.transfers.iter().map(|t| t.bytes.as_f64() * 8.0).sum();
                return Rate::from_bps(bits / duration.as_secs_f64()).min(line);
            }
        };
        line * share
    }

    /// Rate that the host `me` of so many offers by it to `hot`, or to all others, between two moments: what starts
    /// there, of transfers.
    pub fn offered_between(
        &self,
        line: Rate,
        (me, hot, hosts): (usize, usize, usize),
        to_hot: bool,
        (from, to): (Time, Time),
    ) -> f64 {
        let span = (to - from).as_secs_f64();
        if let Arrivals::Transfers = self.arrivals {
            let mine = |t: &&Transfer| {
                (t.dst.0 as usize == hot) == to_hot && (from..to).contains(&(t.start.max(self.start)))
            };
            let bits: f64 = self.transfers.iter().filter(mine).map(|t| t.bytes.as_f64() * 8.0).sum();
            return (bits / span).min(line.bps());
        }
        let active = self.stop.min(to).saturating_sub(self.start.max(from)).as_secs_f64() / span;
        let here = self.share_to(hot, me, hosts);
        self.offered(line, to).bps() * active * if to_hot { here } else { 1.0 - here }
    }

    /// Share of its frames that go to a host.
    pub fn share_to(&self, host: usize, me: usize, hosts: usize) -> f64 {
        match &self.destinations {
            Destinations::Uniform if host != me => 1.0 / (hosts as f64 - 1.0).max(1.0),
            Destinations::Fixed(n) if n.0 as usize == host => 1.0,
            Destinations::Among(list) if list.contains(&NodeId(host as u32)) => {
                1.0 / list.iter().filter(|n| n.0 as usize != me).count().max(1) as f64
            }
            _ => 0.0,
        }
    }

    /// The only host that it sends to, if there is one.
    pub fn only(&self) -> Option<usize> {
        match self.destinations {
            Destinations::Fixed(n) if self.transfers.is_empty() => Some(n.0 as usize),
            _ => None,
        }
    }

    /// Hosts that its finite transfers go to.
    pub fn addressed(&self) -> impl Iterator<Item = usize> {
        self.transfers.iter().map(|t| t.dst.0 as usize)
    }

    /// Is it on at this time? (Greedy and random ones always; on-off ones in their on periods, if these are not random.)
    pub fn on_at(&self, time: Time) -> bool {
        match self.arrivals {
            Arrivals::OnOff { on, off, shift } if !self.random_offset => {
                time >= self.start
                    && (time - self.start + shift).as_ps() % (on + off).as_ps().max(1) < on.as_ps()
            }
            _ => time >= self.start && time < self.stop,
        }
    }

    /// Greedy, always or in turns.
    pub fn greedy(&self) -> bool {
        matches!(self.arrivals, Arrivals::Greedy | Arrivals::OnOff { .. })
    }

    /// Frame length.
    pub fn frame(&self) -> Bytes {
        self.frame
    }
}

/// Where a seed's permutation of these hosts sends one of them: a random cycle, so that nobody sends to itself.
fn permuted(hosts: &[usize], host: usize, seed: u64) -> Option<usize> {
    let mut order: Vec<usize> = hosts.to_vec();
    let mut stream = Stream::new(seed, 1 << 50, Purpose::Phase);
    for i in (1..order.len()).rev() {
        order.swap(i, stream.below(i as u64 + 1) as usize);
    }
    let at = order.iter().position(|h| *h == host)?;
    Some(order[(at + 1) % order.len()])
}

/// Reads all sources: those of `[[traffic]]` tables, or else one per host from `[workload]`.
pub(crate) fn read(r: &mut Reader<'_>, wiring: &Wiring) -> Vec<Vec<Plan>> {
    let hosts = wiring.hosts.len();
    let mut plans: Vec<Vec<Plan>> = vec![Vec::new(); hosts];
    let tables = r.tables("traffic");
    if tables.is_empty() {
        let loads = r.list("workload.loads");
        if !loads.is_empty() && loads.len() != hosts {
            let reason = format!("{} loads for {hosts} hosts", loads.len());
            r.wrong("workload.loads", reason, "give one load per host");
            return plans;
        }
        table(r, "workload", &(0..hosts).collect::<Vec<_>>(), wiring, &mut plans, &loads);
        return plans;
    }
    for prefix in tables {
        let names = r.list(&format!("{prefix}.hosts"));
        if names.is_empty() {
            let hint = "write hosts = [\"H1\", \"H2\"] or hosts = \"H0..H9\"";
            r.wrong(&format!("{prefix}.hosts"), "is missing", hint);
            continue;
        }
        let list: Vec<usize> =
            names.iter().flat_map(|n| r.range(&format!("{prefix}.hosts"), n, wiring)).collect();
        table(r, &prefix, &list, wiring, &mut plans, &[]);
    }
    plans
}

/// One table of sources, for the hosts listed.
fn table(
    r: &mut Reader<'_>,
    prefix: &str,
    list: &[usize],
    wiring: &Wiring,
    plans: &mut [Vec<Plan>],
    loads: &[String],
) {
    let key = |leaf: &str| format!("{prefix}.{leaf}");
    let kind = r.choice(&key("kind"));
    let frame = r.quantity(&key("frame"), Bytes::new(64), Bytes::new(9216));
    let start = r.quantity(&key("start"), Time::ZERO, Time::from_s(1000));
    let stop = match r.word(&key("stop")).as_str() {
        "off" => Time::MAX,
        _ => r.quantity(&key("stop"), Time::ZERO, Time::from_s(1000)),
    };
    let phase = if r.choice(&key("phase")) == "aligned" { Phase::Aligned } else { Phase::Random };
    let random_offset = r.choice(&key("offset")) == "random";
    let on = r.quantity(&key("on"), Time::from_us(1), Time::from_s(1000));
    let off = r.quantity(&key("off"), Time::ZERO, Time::from_s(1000));
    let step = r.quantity(&key("step"), Time::ZERO, Time::from_s(10));
    let burst = r.integer(&key("burst"), 1, 1_000_000) as u32;
    let text = r.word(&key("load"));
    let load = if kind == "bernoulli" || kind == "bursts" { r.percent(&key("load"), &text) } else { 1.0 };
    let goals = r.list(&key("destinations"));
    let transfers = if kind == "transfers" { transfers(r, prefix, wiring) } else { Vec::new() };
    for (n, &host) in list.iter().enumerate() {
        let (destinations, permutation) =
            match destinations(r, &key("destinations"), &goals, host, list, wiring) {
                Some(d) => d,
                None => continue,
            };
        if destinations == Destinations::Among(Vec::new()) && permutation.is_empty() && kind != "transfers" {
            continue;
        }
        let load = loads.get(host).map_or(load, |t| r.percent("workload.loads", t));
        let more = step * n as u64;
        plans[host].push(Plan {
            arrivals: match kind.as_str() {
                "greedy" => Arrivals::Greedy,
                "on-off" => Arrivals::OnOff { on: on + more, off: off + more, shift: Time::ZERO },
                "bursts" => Arrivals::Bursts { load, frames: burst },
                "transfers" => Arrivals::Transfers,
                _ => Arrivals::Bernoulli { load },
            },
            destinations,
            permutation,
            frame,
            start,
            stop,
            phase,
            random_offset,
            transfers: transfers.iter().filter(|t| t.0 == host).map(|t| t.1).collect(),
        });
    }
}

/// `uniform`, `permutation`, `+3` (the host three further on), or names. None where the host has nobody to send to.
fn destinations(
    r: &mut Reader<'_>,
    key: &str,
    goals: &[String],
    host: usize,
    list: &[usize],
    wiring: &Wiring,
) -> Option<(Destinations, Vec<usize>)> {
    let fixed = |n: usize| (Destinations::Fixed(NodeId(n as u32)), Vec::new());
    match goals {
        [one] if one == "uniform" => Some((Destinations::Uniform, Vec::new())),
        [one] if one == "permutation" => Some((Destinations::Among(Vec::new()), list.to_vec())),
        [one] if one.starts_with('+') => match one[1..].parse::<usize>() {
            Ok(n) if host + n < wiring.hosts.len() && n > 0 => Some(fixed(host + n)),
            Ok(n) if n > 0 => None,
            _ => {
                r.wrong(key, format!("`{one}` is not a distance"), "write for example \"+3\"");
                None
            }
        },
        names => {
            let mut ids: Vec<usize> = names.iter().flat_map(|n| r.range(key, n, wiring)).collect();
            ids.retain(|n| *n != host);
            match ids[..] {
                [] => None,
                [one] => Some(fixed(one)),
                _ => Some((Destinations::Among(ids.iter().map(|n| NodeId(*n as u32)).collect()), Vec::new())),
            }
        }
    }
}

/// Finite transfers, `start, source, destination, bytes` each, from the list or the file.
fn transfers(r: &mut Reader<'_>, prefix: &str, wiring: &Wiring) -> Vec<(usize, Transfer)> {
    let key = format!("{prefix}.transfers");
    let mut out = Vec::new();
    for line in r.list(&key) {
        let words: Vec<&str> = line.split(',').map(str::trim).collect();
        let [start, from, to, bytes] = words[..] else {
            let hint = "write \"10 us, H1, H2, 1 MB\": start, source, destination, bytes";
            r.wrong(&key, format!("`{line}` does not have four fields"), hint);
            continue;
        };
        let host = |name: &str| wiring.hosts.iter().position(|h| h.eq_ignore_ascii_case(name));
        match (start.parse::<Time>(), host(from), host(to), bytes.parse::<Bytes>()) {
            (Ok(start), Some(from), Some(to), Ok(bytes)) if from != to && bytes.get() > 0 => {
                out.push((from, Transfer { start, dst: NodeId(to as u32), bytes }));
            }
            (start, a, b, bytes) => {
                let what = match (start, a, b, bytes) {
                    (Err(e), ..) => format!("`{}`: {}", e.input, e.reason),
                    (_, None, ..) => format!("there is no host `{from}`"),
                    (_, _, None, _) => format!("there is no host `{to}`"),
                    (_, _, _, Err(e)) => format!("`{}`: {}", e.input, e.reason),
                    _ => "a transfer needs two different hosts and at least one byte".into(),
                };
                r.wrong(&key, format!("`{line}`: {what}"), "write \"10 us, H1, H2, 1 MB\"");
            }
        }
    }
    if out.is_empty() {
        r.wrong(&key, "there are no transfers", "list them, or name a file of them in workload.file");
    }
    out.sort_by_key(|t| t.1.start);
    out
}
