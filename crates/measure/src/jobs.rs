//! Results of collectives: how long each round took, who came last, and the chain of transfers and computations that decided the end.

mod lanes;

use crate::flow_times::Paths;
use crate::stats;
use cnsim_fabric::{Act, After, Completion, Graph, Lasted, Outcome, Stay, Transfer, Ways, Xoff};
use cnsim_scenario::flows::Framing;
use cnsim_scenario::jobs::Job;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::settings::Settings;
use cnsim_scenario::workload::SourcePlan;
use cnsim_scheme_api::{NodeId, Time};
use cnsim_units::Bytes;
use serde::{Deserialize, Serialize};

pub use lanes::{Lane, PARTS, PORTS};

/// Most parts of a critical path that are kept; those before are one part.
const MOST_PARTS: usize = 20_000;

/// Results of a job. Times in ps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFacts {
    /// Name of its table, or kind and number.
    pub name: String,
    /// `kind` and `algorithm` of its table.
    pub kind: String,
    /// How it moves its bytes.
    pub algorithm: String,
    /// Hosts, by rank.
    pub ranks: Vec<String>,
    /// Bytes of a round.
    pub bytes: u64,
    /// Rounds of the job that have begun.
    pub rounds: Vec<RoundFacts>,
    /// Of queries: those that have begun, by round and rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QueryFacts>,
    /// Rounds that it was to have.
    pub planned: u64,
    /// From the begin of its first rank to the end of its last; none if that is not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// The operation that an unfinished job waits for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Why an unfinished job never ends, where that is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands: Option<Standing>,
    /// Activity of the ranks over the job's time, or to the end of the run; of more than 32 ranks every second one, third one and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
    /// Activity of the ports that the job's transfers take, where the ports are kept. Those with the longest transfers come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Lane>,
    /// The chain that decided its end, from the begin on: the parts' times add up to the job's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Part>,
}

/// A job that never ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// The rank that waits.
    pub rank: u64,
    /// The operation that it waits for, in words, with why that never ends.
    pub operation: String,
    /// Time since which the rank waits, ps.
    pub since: u64,
}

/// A round of a job. Times in ps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundFacts {
    /// When its first rank began.
    pub begin: u64,
    /// Time of the slowest rank, from its own begin; none if a rank is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// Bytes of the round over that time, GB/s, and that times the factor of nccl-tests; none where no amount is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm_bandwidth: Option<f64>,
    /// The bus bandwidth, GB/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus_bandwidth: Option<f64>,
    /// The rank that ended last.
    pub last_rank: u64,
    /// The transfer that ended it: `H3>H4`; empty if none did.
    pub last_transfer: String,
    /// From the end of the first rank to the end of the last.
    pub straggler: u64,
}

/// A query of a host. Times in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryFacts {
    /// Round of the query.
    pub round: u64,
    /// The rank.
    pub rank: u64,
    /// When it asked.
    pub begin: u64,
    /// Until the last byte of the last answer had come; none if that is not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

/// A part of a critical path. Times in ps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// `transfer`, `compute`, or `earlier` for the parts that are not kept.
    pub what: String,
    /// The flow, or the host that computes.
    pub place: String,
    /// Description of the operation, where the job has one: `TP all-gather, attention_row`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Payload; 0 of no transfer.
    pub bytes: u64,
    /// From when on it decided.
    pub from: u64,
    /// For how long.
    pub time: u64,
    /// Of a transfer: its time alone, at most `time`. The rest it waited, for others or in XOFF.
    pub alone: u64,
    /// Where its last frame waited, from its source on, where that is recorded. With `alone` and `answer` these times add up to `time`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Wait>,
    /// From its arrival to its last acknowledgement, where that decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answer: u64,
}

/// A wait of a transfer at a port, longer than alone. Times in ps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The port; at a source also what waits for a window, a limiter or other transfers of it.
    pub port: String,
    /// Time in the port's queue, but for XOFF.
    pub queued: u64,
    /// Time while the port was in XOFF.
    pub xoff: u64,
}

fn is_zero(time: &u64) -> bool {
    *time == 0
}

/// Results of all jobs of a run; `ways` says by which ports transfers went, if that is known.
pub fn facts(settings: &Settings, out: &Outcome, seed: u64, ways: Option<&Ways>) -> Vec<JobFacts> {
    let Some(graph) = settings.traffic.jobs.graph(seed) else { return Vec::new() };
    let mut seen =
        Seen { settings, graph: &graph, lasted: &out.operations, out, ways, paths: Paths::new(settings) };
    settings.traffic.jobs.list.iter().map(|job| seen.job(job)).collect()
}

/// The metrics of these jobs together, each with its value, and whether that is a lower bound: of several jobs the longest time, the least
/// bandwidth, the largest share.
pub fn measured(jobs: &[JobFacts], duration: Time) -> Vec<(Id, f64, bool)> {
    let begin = |j: &JobFacts| j.rounds.first().map_or(0, |r| r.begin);
    let time = |j: &JobFacts| j.time.unwrap_or(duration.as_ps().saturating_sub(begin(j))) as f64 / 1e9;
    let times = |j: &JobFacts| j.rounds.iter().filter_map(|r| r.time).map(|t| t as f64).collect::<Vec<_>>();
    let bandwidth = |j: &JobFacts| {
        let (all, times) = (times(j), j.rounds.iter().find(|r| r.bus_bandwidth.is_some())?);
        // All rounds have as many bytes.
        Some(times.bus_bandwidth? * times.time? as f64 * all.len() as f64 / all.iter().sum::<f64>())
    };
    let straggler = |j: &JobFacts| {
        let all: Vec<f64> =
            j.rounds.iter().filter(|r| r.time.is_some()).map(|r| r.straggler as f64 / 1e6).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let share = |j: &JobFacts| {
        let sum = |of: &dyn Fn(&&Part) -> bool| j.path.iter().filter(of).map(|p| p.time).sum::<u64>() as f64;
        let whole = sum(&|p| p.what != "earlier");
        (whole > 0.0).then(|| sum(&|p| p.what == "transfer") / whole * 100.0)
    };
    // A query that is not done has lasted to the end of the run.
    let queries: Vec<(f64, f64)> = jobs
        .iter()
        .flat_map(|j| j.queries.iter().map(move |q| (q, j.bytes)))
        .map(|(q, bytes)| match q.time {
            Some(time) => (time as f64, bytes as f64),
            None => (duration.as_ps().saturating_sub(q.begin) as f64, 0.0),
        })
        .collect();
    let asked = !queries.is_empty();
    let lasted: f64 = queries.iter().map(|q| q.0).sum();
    let unanswered = jobs.iter().flat_map(|j| &j.queries).any(|q| q.time.is_none());
    let mut ranked: Vec<f64> = queries.iter().map(|q| q.0).collect();
    ranked.sort_by(f64::total_cmp);
    let tail = stats::percentile(&ranked, 0.99).map(|t| t / 1e9);
    let answered = || queries.iter().map(|q| q.1).sum::<f64>() * 8e3 / lasted.max(1.0);
    let most = |of: &dyn Fn(&JobFacts) -> Option<f64>| jobs.iter().filter_map(of).reduce(f64::max);
    let open = jobs.iter().any(|j| j.time.is_none());
    let all = [
        (Id::JobTime, most(&|j| Some(time(j))), open),
        (Id::BusBandwidth, most(&|j| bandwidth(j).map(|b| -b)).map(|b| -b), false),
        (Id::StragglerTime, most(&straggler), false),
        (Id::NetworkShare, most(&share), false),
        (Id::QueryTime, asked.then(|| lasted / queries.len() as f64 / 1e9), unanswered),
        (Id::QueryTimeP99, tail, unanswered),
        (Id::QueryGoodput, asked.then(answered), false),
    ];
    all.into_iter().filter_map(|(id, value, bound)| Some((id, value?, bound))).collect()
}

/// A run as its jobs are read from it.
struct Seen<'a> {
    settings: &'a Settings,
    graph: &'a Graph,
    lasted: &'a [Lasted],
    out: &'a Outcome,
    ways: Option<&'a Ways>,
    paths: Paths<'a>,
}

impl Seen<'_> {
    fn of(&self, n: u32) -> Lasted {
        let never = Lasted { begun: Time::MAX, ended: Time::MAX, received: Time::MAX };
        self.lasted.get(n as usize).copied().unwrap_or(never)
    }

    fn ended(&self, n: u32) -> Option<u64> {
        Some(self.of(n).ended).filter(|t| *t < Time::MAX).map(Time::as_ps)
    }

    fn job(&mut self, job: &Job) -> JobFacts {
        let n = job.ranks.len();
        let (kind, algorithm) = job.words();
        let mut facts = JobFacts {
            name: job.title(),
            kind: kind.into(),
            algorithm: algorithm.into(),
            ranks: job.ranks.iter().map(|&h| self.settings.wiring.machine(h).into()).collect(),
            bytes: job.size.get(),
            planned: job.rounds() as u64,
            ..JobFacts::default()
        };
        for (gates, ends) in job.gates.chunks(n).zip(job.ends.chunks(n)) {
            let begins: Vec<Option<u64>> = gates.iter().map(|&g| self.ended(g)).collect();
            let Some(begin) = begins.iter().flatten().min().copied() else { break };
            let round = facts.rounds.len() as u64;
            facts.rounds.push(self.round(job, begin, &begins, ends));
            let each = (0..).zip(&begins).zip(ends).filter(|_| job.asks());
            facts.queries.extend(each.filter_map(|((rank, begin), &end)| {
                let begin = (*begin)?;
                Some(QueryFacts { round, rank, begin, time: self.ended(end).map(|end| end - begin) })
            }));
        }
        let begin = facts.rounds.first().map(|r| r.begin);
        let last = &job.ends[job.ends.len().saturating_sub(n)..];
        let ends: Option<Vec<u64>> = last.iter().map(|&e| self.ended(e)).collect();
        match ends.and_then(|ends| ends.into_iter().max()).zip(begin) {
            Some((end, begin)) => {
                facts.time = Some(end - begin);
                let decides = last.iter().copied().find(|&e| self.ended(e) == Some(end));
                facts.path = decides.map(|e| self.path(e, begin, end)).unwrap_or_default();
            }
            None => {
                if let Some(&end) = job.ends.iter().find(|&&e| self.ended(e).is_none()) {
                    let (rank, what, by) = self.stands(job, end);
                    facts.waits_for = Some(match rank {
                        Some(rank) => format!("{what}, at rank {rank} ({})", facts.ranks[rank]),
                        None => what,
                    });
                    facts.stands = rank.zip(by).and_then(|(rank, by)| self.never(rank as u64, by));
                }
            }
        }
        if let Some(begin) = begin {
            let end = facts.time.map_or(self.out.duration.as_ps(), |time| begin + time);
            (facts.lanes, facts.ports) = self.lanes(job, (begin, end));
        }
        facts
    }

    fn round(&self, job: &Job, begin: u64, begins: &[Option<u64>], ends: &[u32]) -> RoundFacts {
        let mut round = RoundFacts { begin, ..RoundFacts::default() };
        let ended: Option<Vec<u64>> = ends.iter().map(|&e| self.ended(e)).collect();
        let Some(ended) = ended else { return round };
        let slowest = ended.iter().zip(begins).filter_map(|(e, b)| Some(e - (*b)?)).max().unwrap_or(0);
        let (first, last) =
            (ended.iter().min().copied().unwrap_or(0), ended.iter().max().copied().unwrap_or(0));
        let rank = ended.iter().position(|e| *e == last).unwrap_or(0);
        round.time = Some(slowest);
        round.straggler = last - first;
        round.last_rank = rank as u64;
        round.last_transfer = self.last_transfer(ends[rank]);
        if let Some(factor) = job.bus_factor().filter(|_| slowest > 0) {
            // Bytes a picosecond are 1000 GB/s.
            let rate = job.size.as_f64() / slowest as f64 * 1e3;
            (round.algorithm_bandwidth, round.bus_bandwidth) = (Some(rate), Some(rate * factor));
        }
        round
    }

    /// The transfer whose end came last before an operation, through whatever was computed in between.
    fn last_transfer(&self, mut n: u32) -> String {
        while let Some(before) = self.decisive(n) {
            if let Some((name, ..)) = self.transfer(before.0) {
                return name;
            }
            n = before.0;
        }
        String::new()
    }

    /// Is an operation one of this host, by any of its NICs?
    fn here(&self, n: u32, host: NodeId) -> bool {
        let nics = self.settings.wiring.nics(host.0 as usize);
        nics.contains(&(self.graph.operations[n as usize].host.0 as usize))
    }

    /// The predecessor that an operation waited for longest, and when it ended. One that has not ended counts as the latest.
    fn decisive(&self, n: u32) -> Option<(u32, u64)> {
        let operation = self.graph.operations.get(n as usize)?;
        let at = |after: &After| -> (u32, u64) {
            match *after {
                After::Begun(b) => (b, self.of(b).begun.as_ps()),
                // When all was sent is not recorded: if nothing else came as the operation began, it was that.
                After::Sent(b) => (b, self.of(b).begun.as_ps()),
                After::Ended(b) => {
                    let here = self.here(b, operation.host);
                    (b, if here { self.of(b).ended } else { self.of(b).received }.as_ps())
                }
            }
        };
        let all = self.graph.before(operation);
        let begun = self.of(n).begun.as_ps();
        let sent = || all.iter().find(|after| matches!(after, After::Sent(_))).map(at);
        let latest = all.iter().filter(|after| !matches!(after, After::Sent(_))).map(at).max_by_key(|b| b.1);
        match latest {
            Some(latest) if latest.1 >= begun || sent().is_none() => Some(latest),
            _ => sent().map(|(b, _)| (b, begun)),
        }
    }

    /// The flow that an operation sends, its payload, its frames, and its two hosts.
    fn transfer(&self, n: u32) -> Option<(String, u64, Framing, (usize, usize))> {
        let operation = self.graph.operations.get(n as usize)?;
        let Act::Send { source, transfer } = operation.act else { return None };
        let src = operation.host.0 as usize;
        let plan: &SourcePlan = self.settings.plans(src).get(source as usize)?;
        let &Transfer { dst, bytes, .. } = plan.transfers.get(transfer as usize)?;
        let (dst, framing) = (dst.0 as usize, plan.framing);
        let hosts = &self.settings.wiring.hosts;
        let name = format!("{}>{}", hosts[src], hosts[dst]);
        Some((name, framing.payload_of(bytes.get()), framing, (src, dst)))
    }

    /// The chain back from an operation that ended last.
    fn path(&mut self, mut n: u32, begin: u64, mut end: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        while end > begin {
            let lasted = self.of(n);
            let from = lasted.begun.as_ps().clamp(begin, end);
            let part = match self.transfer(n) {
                Some((place, bytes, f, (src, dst))) => {
                    let path = self.paths.between(src, dst);
                    let alone = path.exact_ideal(Bytes::new(bytes), f.payload, f.header, f.floor).as_ps();
                    let (time, what) = (end - from, "transfer".into());
                    let of = self.settings.traffic.jobs.words_of(n).into();
                    let part = Part { what, place, of, bytes, from, time, alone, ..Part::default() };
                    self.waits(n, (src, dst), part)
                }
                None => {
                    let host = self.graph.operations[n as usize].host.0 as usize;
                    let place = self.settings.wiring.machine(host).into();
                    let (what, of) = ("compute".into(), self.settings.traffic.jobs.words_of(n).into());
                    Part { what, place, of, from, time: end - from, ..Part::default() }
                }
            };
            if part.time > 0 {
                parts.push(part);
            }
            end = from;
            // An operation of a stream may have waited for the one before it there, not for what it follows.
            let Some((before, _)) = self.occupant(n, end).or_else(|| self.decisive(n)) else { break };
            n = before;
            if parts.len() >= MOST_PARTS {
                break;
            }
        }
        if end > begin {
            parts.push(Part { what: "earlier".into(), from: begin, time: end - begin, ..Part::default() });
        }
        parts.reverse();
        parts
    }

    /// A transfer's part with its waits: what its last frame waited at each port, and at its source what is left.
    fn waits(&self, n: u32, (src, dst): (usize, usize), mut part: Part) -> Part {
        let received = self.of(n).received.as_ps();
        part.answer = (part.from + part.time).saturating_sub(received.max(part.from));
        let whole = part.time - part.answer;
        part.alone = part.alone.min(whole);
        let host = self.out.hosts.get(dst).filter(|host| !host.transfers.trips.is_empty());
        let same = |c: &Completion| {
            (c.src.0 as usize, c.start.as_ps(), c.end.as_ps()) == (src, self.of(n).begun.as_ps(), received)
        };
        let source = (NodeId(src as u32), 0);
        if received > part.from + part.time && host.is_some() {
            // What follows waited for its last frame to begin alone.
            let wait = self.wait(source, (part.from, part.from + part.time));
            let (left, xoff) = (whole - part.alone, wait.xoff.min(whole - part.alone));
            part.waits.extend((left > 0).then_some(Wait { queued: left - xoff, xoff, ..wait }));
            return part;
        }
        let found = host
            .and_then(|host| Some(&host.transfers.trips[host.transfers.completions.iter().position(same)?]));
        let Some(trip) = found else { return part };
        let waited = |stay: &Stay| {
            let (port, waited) =
                (self.settings.wiring.port_name(stay.at), stay.began.saturating_sub(stay.came));
            let xoff = stay.xoff.as_ps();
            Wait { port, queued: waited.as_ps().saturating_sub(xoff), xoff }
        };
        let mut waits: Vec<Wait> = trip.stays.iter().skip(1).map(waited).collect();
        // Alone it waits behind its own frames: so much less is told of its first waits.
        let mut over =
            (part.alone + waits.iter().map(|w| w.queued + w.xoff).sum::<u64>()).saturating_sub(whole);
        for wait in &mut waits {
            for time in [&mut wait.queued, &mut wait.xoff] {
                let less = over.min(*time);
                (*time, over) = (*time - less, over - less);
            }
        }
        let left = whole - part.alone - waits.iter().map(|w| w.queued + w.xoff).sum::<u64>();
        let at_source = self.wait(source, (part.from, trip.stays[0].began.as_ps().max(part.from)));
        let xoff = at_source.xoff.min(left);
        part.waits.push(Wait { queued: left - xoff, xoff, ..at_source });
        part.waits.extend(waits);
        part.waits.retain(|wait| wait.queued + wait.xoff > 0);
        part
    }

    /// A wait at a port from one moment to another.
    fn wait(&self, port: (NodeId, u16), (from, until): (u64, u64)) -> Wait {
        let stood = self.out.recorded.pauses.xoffs.iter().filter(|x| x.stopped == port);
        let within = |x: &Xoff| x.until.as_ps().min(until).saturating_sub(x.from.as_ps().max(from));
        let xoff = stood.map(within).sum::<u64>().min(until - from);
        Wait { port: self.settings.wiring.port_name(port), queued: until - from - xoff, xoff }
    }

    /// The operation of the same stream that ended as this one began, where that waited for it.
    fn occupant(&self, n: u32, begun: u64) -> Option<(u32, u64)> {
        let operation = self.graph.operations.get(n as usize)?;
        let Act::Compute { stream: Some(stream), .. } = operation.act else { return None };
        if self.decisive(n).is_some_and(|before| before.1 >= begun) {
            return None;
        }
        let first = self.graph.operations.partition_point(|o| o.host < operation.host);
        let mine = self.graph.operations[first..].iter().take_while(|o| o.host == operation.host);
        let same = |act: &Act| matches!(act, Act::Compute { stream: Some(s), .. } if *s == stream);
        let mut all = (first as u32..).zip(mine).filter(|(m, o)| *m != n && same(&o.act));
        all.find(|(m, _)| self.ended(*m) == Some(begun)).map(|(m, _)| (m, begun))
    }

    /// The first cause for which an operation has not ended: the rank that waits for it, where that is one of the job's, the cause in words,
    /// and the operation, where it has begun.
    fn stands(&self, job: &Job, mut n: u32) -> (Option<usize>, String, Option<u32>) {
        let mut waits = n;
        for _ in 0..self.graph.operations.len() {
            let operation = self.graph.operations[n as usize];
            let host = self.settings.wiring.machine(operation.host.0 as usize);
            let lasted = self.of(n);
            let here = self.graph.operations[waits as usize].host.0 as usize;
            let rank = job.ranks.iter().position(|&rank| self.settings.wiring.nics(rank).contains(&here));
            if lasted.begun < Time::MAX {
                let what = self.transfer(n).map_or_else(
                    || format!("{host}, which computes"),
                    |(name, bytes, ..)| format!("the transfer {name} of {}", Bytes::new(bytes)),
                );
                return (rank, format!("{what} since {}", lasted.begun), Some(n));
            }
            let open = |after: &&After| match **after {
                After::Begun(b) => self.of(b).begun == Time::MAX,
                After::Sent(b) => self.of(b).ended == Time::MAX,
                After::Ended(b) if self.here(b, operation.host) => self.of(b).ended == Time::MAX,
                After::Ended(b) => self.of(b).received == Time::MAX,
            };
            let Some(after) = self.graph.before(&operation).iter().find(open) else {
                return (rank, format!("{host}, which computes something else"), None);
            };
            let (After::Begun(b) | After::Sent(b) | After::Ended(b)) = *after;
            (waits, n) = (n, b);
        }
        (None, "itself: a circle".into(), None)
    }

    /// Why a rank waits for ever for an operation that has begun; none if that may still end: the network stands still, or nothing of the
    /// transfer is under way any more, and what was lost is not sent again.
    fn never(&self, rank: u64, n: u32) -> Option<Standing> {
        let (name, bytes, ..) = self.transfer(n).filter(|_| self.of(n).received == Time::MAX)?;
        let what = format!("the transfer {name} of {}", Bytes::new(bytes));
        let since = self.of(n).begun.as_ps();
        if self.out.freeze.last_delivery.is_some() {
            let operation = format!("{what}: the network stands still");
            return Some(Standing { rank, operation, since });
        }
        let hosts = || self.out.hosts.iter().enumerate();
        // Frames of all flows that have begun, and those that were made.
        let frames = |src: NodeId, bytes: u64| {
            let plans = self.settings.plans(src.0 as usize).iter();
            let frame = plans.filter(|p| p.finite()).map(|p| p.frame.get()).max().unwrap_or(1);
            bytes.div_ceil(frame)
        };
        let begun: u64 = hosts()
            .map(|(_, host)| {
                let done = host.transfers.completions.iter().map(|c| frames(c.src, c.bytes)).sum::<u64>();
                let open = host.transfers.missing.iter().filter(|m| m.start < self.out.duration);
                done + open.map(|m| frames(m.src, m.bytes)).sum::<u64>()
            })
            .sum();
        let made: u64 = hosts().map(|(_, host)| host.generated + host.transport.acks_made).sum();
        let acks: u64 = hosts().map(|(_, host)| host.transport.acks_made).sum();
        let came: u64 =
            hosts().map(|(_, host)| host.source_discards + host.delivered + host.transport.acks).sum();
        let on_links: u64 = self.out.lost_on_links.iter().map(|l| l.data + l.acknowledgements).sum();
        let at_rest = made - acks == begun && made == came + self.out.dropped() + on_links;
        let lost = at_rest && !self.settings.sends_again(0);
        lost.then(|| Standing {
            rank,
            operation: format!("{what}: frames of it were lost, and none is sent again"),
            since,
        })
    }
}
