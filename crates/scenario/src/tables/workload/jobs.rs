//! Jobs: collectives and graphs of transfers, as operations of hosts that follow others.
//!
//! A table of traffic adds operations to one list ([`Operations`]), and becomes a [`Job`] that says which of them begin and end what each
//! rank does. A rank is a host of the table, by its place there.

mod query;
mod read;
mod schedule;
mod training;
mod weave;

use super::{Algorithm, Traffic, traffic};
use crate::flows::Framing;
use crate::language::kinds::Choice as _;
use crate::language::reader::Reader;
use crate::language::row::{At, Key};
use crate::wiring::Wiring;
use cnsim_fabric::{Act, After, Graph, Operation};
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_units::{Bytes, Time};
use std::sync::Arc;

pub(crate) use read::{Listed, algorithms, follow, named, no_path};
use weave::ByHost;

/// A table of traffic, as the readers of jobs need it.
pub(crate) struct Asked<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) kind: Traffic,
    /// Word of the key `workload.algorithm`.
    pub(crate) algorithm: String,
    pub(crate) framing: Framing,
    pub(crate) hosts: &'a [usize],
    pub(crate) wiring: &'a Wiring,
    /// How many sources each NIC has before.
    pub(crate) sources: &'a [usize],
}

impl Asked<'_> {
    fn key(&self, leaf: Key) -> At {
        leaf.of(self.prefix)
    }

    /// The key that names its hosts; `[workload]` has all hosts, by what this key says.
    fn hosts_key(&self, workload: Key) -> At {
        self.key(if self.prefix == "workload" { workload } else { traffic::HOSTS })
    }

    /// Number of the table.
    fn table(&self) -> usize {
        self.prefix.rsplit('.').next().and_then(|n| n.parse().ok()).unwrap_or(0)
    }
}

/// A table of traffic as a job: what each host sends, and besides, of queries, what those send that ask.
pub(crate) struct Woven {
    pub(crate) job: Job,
    pub(crate) sends: ByHost,
    pub(crate) requests: ByHost,
}

/// Reads the job of a table, whose operations are added; none if the table is no job, or something is wrong with it.
pub(crate) fn woven(r: &mut Reader<'_>, asked: &Asked<'_>, operations: &mut Operations) -> Option<Woven> {
    match asked.kind {
        Traffic::Graph => schedule::schedule(r, asked, operations),
        Traffic::Training => training::training(r, asked, operations),
        Traffic::Query => query::queries(r, asked, operations),
        _ => read::collective(r, asked, operations),
    }
}

/// Operations as tables add them, in any order of hosts.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    list: Vec<Operation>,
    after: Vec<After>,
    /// Words on what operations do, and by first operation that has it: the number of its words. None have the words before the first.
    words: Vec<Box<str>>,
    worded: Vec<(u32, u16)>,
}

impl Operations {
    fn push(&mut self, host: usize, act: Act, after: impl IntoIterator<Item = After>) -> u32 {
        let first = self.after.len() as u32;
        self.after.extend(after);
        let after = (first, self.after.len() as u32);
        self.list.push(Operation { host: NodeId(host as u32), act, after });
        self.list.len() as u32 - 1
    }

    /// A host waits for a time, which holds up nothing else there.
    pub(crate) fn wait(&mut self, host: usize, time: Time, after: impl IntoIterator<Item = After>) -> u32 {
        self.push(host, Act::Compute { time, stream: None }, after)
    }

    /// A host sends a transfer of one of its sources.
    pub(crate) fn send(
        &mut self,
        host: usize,
        (source, transfer): (u32, u32),
        after: impl IntoIterator<Item = After>,
    ) -> u32 {
        self.push(host, Act::Send { source, transfer }, after)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Describes the operations that are added from now on. An empty text describes none.
    pub(crate) fn are(&mut self, words: &str) {
        let known = self.words.iter().position(|w| **w == *words);
        let number = known.unwrap_or_else(|| {
            self.words.push(words.into());
            self.words.len() - 1
        });
        self.worded.push((self.list.len() as u32, number.min(usize::from(u16::MAX)) as u16));
    }

    /// The graph, by host; the numbers of jobs become those of the graph.
    pub(crate) fn finish(self, mut jobs: Vec<Job>, wiring: &Wiring) -> Jobs {
        if self.list.is_empty() {
            return Jobs::default();
        }
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        order.sort_by_key(|&n| self.list[n as usize].host);
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, &n)| places[n as usize] = place);
        let place = |n: &mut u32| *n = places[*n as usize];
        for job in &mut jobs {
            job.gates.iter_mut().chain(&mut job.ends).for_each(place);
        }
        let mut after = self.after;
        for after in &mut after {
            let (After::Begun(n) | After::Sent(n) | After::Ended(n)) = after;
            *n = places[*n as usize];
        }
        // In place: there may be millions.
        let (mut operations, mut goals) = (self.list, places.clone());
        for n in 0..goals.len() {
            while goals[n] as usize != n {
                let goal = goals[n] as usize;
                operations.swap(n, goal);
                goals.swap(n, goal);
            }
        }
        drop(goals);
        operations.shrink_to_fit();
        after.shrink_to_fit();
        let mut worded = Vec::new();
        if !self.words.is_empty() {
            worded.resize(order.len(), u16::MAX);
            let ends = self.worded.iter().skip(1).map(|w| w.0).chain([order.len() as u32]);
            for (&(first, number), end) in self.worded.iter().zip(ends) {
                places[first as usize..end as usize]
                    .iter()
                    .for_each(|&place| worded[place as usize] = number);
            }
        }
        let machines = wiring.machines.as_ref().map_or_else(Vec::new, |machines| machines.firsts());
        let graph = Some(Arc::new(Graph { operations, after, machines }));
        Jobs { graph, list: jobs, words: self.words, worded }
    }
}

/// A job: ranks of a table of traffic that move data together, in one or more rounds.
#[derive(Clone, Debug)]
pub struct Job {
    /// Number of its table.
    pub table: usize,
    /// The table's name, if it has one.
    pub name: Option<Arc<str>>,
    pub(crate) kind: Traffic,
    pub(crate) algorithm: Option<Algorithm>,
    /// Hosts, by rank, each by its first NIC; of queries those that ask.
    pub ranks: Vec<usize>,
    /// Bytes of the operation, as nccl-tests count them: of an all-gather, of all ranks together. Of queries, of all answers to one.
    pub size: Bytes,
    /// By round and rank: the operation with whose end the rank may begin.
    pub gates: Vec<u32>,
    /// By round and rank: the operation with whose end it is done.
    pub ends: Vec<u32>,
    /// Largest delay of a rank's start; each rank draws its own.
    skew: Time,
}

impl Job {
    /// Rounds: how often it is repeated.
    pub fn rounds(&self) -> usize {
        self.ends.len() / self.ranks.len().max(1)
    }

    /// `kind` and `algorithm` of its table; the latter empty of a graph.
    pub fn words(&self) -> (&'static str, &'static str) {
        (self.kind.word(), self.algorithm.map_or("", |algorithm| algorithm.word()))
    }

    /// The job's title: its table's name, or the table's kind and number.
    pub fn title(&self) -> String {
        self.name.as_ref().map_or_else(|| format!("{} {}", self.words().0, self.table), ToString::to_string)
    }

    /// Are its rounds queries, each of one rank?
    pub fn asks(&self) -> bool {
        self.kind == Traffic::Query
    }

    /// By how much its bus bandwidth is above or below its algorithm bandwidth, as nccl-tests define it; none where it moves no amount.
    pub fn bus_factor(&self) -> Option<f64> {
        let n = self.ranks.len() as f64;
        match self.kind {
            Traffic::AllReduce => Some(2.0 * (n - 1.0) / n),
            Traffic::ReduceScatter | Traffic::AllGather | Traffic::AllToAll => Some((n - 1.0) / n),
            Traffic::Broadcast | Traffic::Reduce => Some(1.0),
            _ => None,
        }
    }
}

/// The rounds of a job as they are woven: by round and rank, where the rank begins and where it is done.
struct Rounds {
    /// Gates of the present round.
    gates: Vec<u32>,
    next: Vec<u32>,
    all_gates: Vec<u32>,
    ends: Vec<u32>,
    /// Rounds that follow the present one, and the time between two.
    left: u64,
    gap: Time,
}

impl Rounds {
    /// All ranks begin the first one at a moment.
    fn new(operations: &mut Operations, ranks: &[usize], (start, gap): (Time, Time), rounds: u64) -> Self {
        let gates = ranks.iter().map(|&host| operations.wait(host, start, [])).collect();
        let left = rounds.saturating_sub(1);
        Self { gates, next: Vec::new(), all_gates: Vec::new(), ends: Vec::new(), left, gap }
    }

    /// A rank is done with the round when all of this has happened. Ranks are named in their order.
    fn done(&mut self, operations: &mut Operations, host: usize, after: impl IntoIterator<Item = After>) {
        let end = operations.wait(host, Time::ZERO, after);
        self.ends.push(end);
        if self.left > 0 {
            self.next.push(operations.wait(host, self.gap, [After::Ended(end)]));
        }
    }

    /// The round ends, and the next one begins.
    fn turn(&mut self) {
        self.all_gates.append(&mut self.gates);
        self.gates = std::mem::take(&mut self.next);
        self.left = self.left.saturating_sub(1);
    }

    /// The job of a table with these rounds.
    fn job(
        self,
        asked: &Asked<'_>,
        algorithm: Option<Algorithm>,
        ranks: Vec<usize>,
        size: Bytes,
        skew: Time,
    ) -> Job {
        let (table, gates, ends) = (asked.table(), self.all_gates, self.ends);
        Job { table, name: None, kind: asked.kind, algorithm, ranks, size, gates, ends, skew }
    }
}

/// The jobs of a scenario, and the graph of all their operations.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    graph: Option<Arc<Graph>>,
    /// The jobs, in the order of their tables.
    pub list: Vec<Job>,
    /// Words on what operations do, and by operation the number of its own; the latter empty if none has any.
    words: Vec<Box<str>>,
    worded: Vec<u16>,
}

impl Jobs {
    /// Description of an operation, where its table has one: `TP all-gather, attention_row`.
    pub fn words_of(&self, operation: u32) -> &str {
        let number = self.worded.get(operation as usize);
        number.and_then(|&n| self.words.get(usize::from(n))).map_or("", |words| words)
    }

    /// The graph in the run of a seed: ranks draw their delays.
    pub fn graph(&self, seed: u64) -> Option<Arc<Graph>> {
        let graph = self.graph.as_ref()?;
        if !self.is_drawn() {
            return Some(graph.clone());
        }
        let mut graph = Graph::clone(graph);
        for job in self.list.iter().filter(|job| job.skew > Time::ZERO) {
            for (rank, &gate) in job.gates.iter().take(job.ranks.len()).enumerate() {
                let site = rank as u64 | (job.table as u64) << 32 | 1 << 49;
                let skew = Stream::new(seed, site, Purpose::Phase).below(job.skew.as_ps() + 1);
                if let Some(Act::Compute { time, .. }) =
                    graph.operations.get_mut(gate as usize).map(|o| &mut o.act)
                {
                    *time += Time::from_ps(skew);
                }
            }
        }
        Some(Arc::new(graph))
    }

    /// Does the seed decide when ranks begin?
    pub(crate) fn is_drawn(&self) -> bool {
        self.list.iter().any(|job| job.skew > Time::ZERO)
    }
}
