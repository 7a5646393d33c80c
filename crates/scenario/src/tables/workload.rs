//! Traffic: the sources that `[workload]` and `[[traffic]]` tables give to each host.

mod drawn;
mod facts;
mod goals;
pub mod jobs;
mod listed;
mod messages;
mod plan;
pub mod traffic;

use super::{Section, Settings};
use crate::flows::{Framing, LoadCounts};
use crate::language::kinds::FileForm;
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::language::row::{At, LONGEST, MAX_FRAME, MAX_TRANSFER};
use crate::wiring::Wiring;
use cnsim_fabric::{Arrivals, Destinations, Phase, RunSpec, Transfer};
use cnsim_units::{Bytes, Rate, Time};
use jobs::{Jobs, Operations};
use std::collections::HashMap;
use std::sync::Arc;

pub use drawn::Drawn;
use goals::Goals;
use messages::Messages;
pub(crate) use plan::{Paired, flows_of_a_pair};
pub use plan::{Permutations, Receivers, SourcePlan};

words! {
    /// `workload.phase`.
    Phase { Random = "random", Aligned = "aligned", }
    /// `workload.load_counts`.
    LoadCounts { Payload = "payload", Wire = "wire", }
}

choices! {
    /// `workload.kind`.
    Traffic {
        Bernoulli = "bernoulli", Greedy = "greedy", OnOff = "on-off", Bursts = "bursts",
        Transfers = "transfers", Poisson = "poisson", Incast = "incast", AllToAll = "all-to-all",
        Permutation = "permutation", AllReduce = "all-reduce", ReduceScatter = "reduce-scatter", AllGather = "all-gather",
        Broadcast = "broadcast", Reduce = "reduce", Barrier = "barrier", Query = "query", Graph = "graph",
        Training = "training",
    }
    /// `workload.algorithm`: how a collective moves its bytes.
    Algorithm {
        Auto = "auto", Ring = "ring", Tree = "tree", DoubleTree = "double-tree", HalvingDoubling = "halving-doubling",
        Direct = "direct", Rotated = "rotated", Pairwise = "pairwise",
    }
    /// `workload.connection`.
    Connections { Each = "each", Kept = "kept", }
    /// `workload.gaps`.
    Gaps { Regular = "regular", Poisson = "poisson", }
    /// `workload.sizes`.
    SizeTable {
        WebSearch = "websearch", FbHadoop = "fb-hadoop", AliStorage = "ali-storage", Solar = "solar",
        File = "file",
    }
    /// `workload.send_ends`.
    SendEnds { Acknowledged = "acknowledged", Sent = "sent", }
    /// `workload.rank_order`: which ranks follow each other, those of tensor parallelism first.
    RankOrder { TpDpPp = "tp-dp-pp", TpPpDp = "tp-pp-dp", }
    /// `workload.offset`.
    Offset { InPhase = "in-phase", Random = "random", }
}

rows! {
    KIND = key("workload.kind", Kind::Choice(Traffic::WORDS), "bernoulli",
        "kind of traffic: frames (bernoulli, greedy, on-off, bursts), finite flows (transfers, poisson, incast, all-to-all, permutation), collectives of hosts, whose transfers follow others (all-reduce, reduce-scatter, all-gather, broadcast, reduce, barrier; all-to-all with an algorithm), a schedule of ranks (graph), an iteration of training (training: the layers of a SimAI workload), or queries: each of the destinations asks some of the hosts, and asks again when all answers have come");
    LOAD = key("workload.load", Kind::Percent, "85 %",
        "offered load of a host, as a share of its access link").only(KIND, one_of!(Traffic: Bernoulli | Bursts | Poisson));
    LOADS = key("workload.loads", Kind::List(&Kind::Percent), "[]",
        "offered loads of the hosts, in order, instead of one load").only(KIND, one_of!(Traffic: Bernoulli | Bursts)).unshared();
    ON = key("workload.on", Kind::Time(Time::from_us(1), LONGEST), "20 ms",
        "time in which an on-off source sends").only(KIND, one_of!(Traffic: OnOff));
    OFF = key("workload.off", kind::MOMENT, "20 ms", "time in which an on-off source is silent").only(KIND, one_of!(Traffic: OnOff));
    STEP = key("workload.step", Kind::Time(Time::ZERO, Time::from_s(10)), "0 us",
        "increase of on time and off time from host to host").only(KIND, one_of!(Traffic: OnOff));
    OFFSET = key("workload.offset", Kind::Choice(Offset::WORDS), "in-phase",
        "on-off sources start together, or anywhere in their period").only(KIND, one_of!(Traffic: OnOff));
    BURST = key("workload.burst", Kind::Integer(1, 1_000_000), "10",
        "frames of a burst; all go to one destination").only(KIND, one_of!(Traffic: Bursts));
    FRAME = key("workload.frame", Kind::Bytes(Bytes::new(64), MAX_FRAME), "1500 B", "frame length, 64 to 9216 B");
    DESTINATIONS = key("workload.destinations", kind::LINES, "uniform",
        "uniform, permutation (drawn by the seed), +N (the host N further on), or names of hosts; an incast takes its receivers in turn; of queries, the hosts that ask")
        .only(KIND, one_of!(Traffic: Bernoulli | Bursts | Greedy | OnOff | Poisson | Incast | Query));
    PHASE = key("workload.phase", Kind::Choice(Phase::WORDS), "random",
        "phase of the hosts' slots; finite flows begin when they are due");
    HEADER = key("workload.header", Kind::Bytes(Bytes::ZERO, Bytes::new(1000)), "0 B",
        "bytes of each frame that are no payload; sizes of flows count payload")
        .only(KIND, |word| Traffic::of(word).is_some_and(Traffic::is_finite));
    FRAME_FLOOR = key("workload.frame_floor", Kind::Bytes(Bytes::ZERO, Bytes::SMALLEST_FRAME), "64 B",
        "least bytes of a flow's last frame: a shorter one is padded; 0 B in the HPCC fork of ns-3 and in htsim")
        .only(KIND, |word| Traffic::of(word).is_some_and(Traffic::is_finite));
    INITIAL_RATE = key("workload.initial_rate", Kind::Or("scheme", &kind::LINK_RATE), "scheme",
        "rate at which the queue pairs of these flows begin, for schemes that take one; scheme: as the scheme sets it")
        .with_pairs().unread("no scheme here takes an initial rate", "remove it, or run a scheme that takes one, as timely");
    CONNECTION = key("workload.connection", Kind::Choice(Connections::WORDS), "each",
        "flows of a host to one destination have a connection each, or are messages on one connection (kept), one behind the other: it opens once, its window stays warm, and the destination reads it in order")
        .with_pairs().only(KIND, one_of!(Traffic: Transfers | Poisson | Incast | AllToAll | Permutation | Query));
    MESSAGES = key("workload.messages", Kind::Integer(1, 65_536), "1",
        "messages of each flow, all of its size, on one connection (workload.connection = \"kept\"): the second one begins with the window that the first one has left")
        .with_pairs().only(KIND, one_of!(Traffic: Transfers | AllToAll | Permutation));
    MESSAGE_PERIOD = key("workload.message_period", kind::MOMENT, "0 us",
        "time from the start of one message to that of the next; 0: all are there at once").unless(MESSAGES, "1");
    LOAD_COUNTS = key("workload.load_counts", Kind::Choice(LoadCounts::WORDS), "payload",
        "bytes that count as load: payload alone, or payload and headers").only(KIND, one_of!(Traffic: Poisson));
    SIZES = key("workload.sizes", Kind::Choice(SizeTable::WORDS), "websearch",
        "distribution of flow sizes: a published one, or `file` for workload.size_table or workload.size_file")
        .only(KIND, one_of!(Traffic: Poisson));
    SIZE_TABLE = key("workload.size_table", kind::LINES, "[]",
        "cumulative distribution of flow sizes: points \"BYTES PERCENT\", rising to 100, or \"BYTES SHARE\", rising to 1").only(SIZES, one_of!(SizeTable: File));
    SIZE_FILE = key("workload.size_file", kind::FILE, "off",
        "file with points of the distribution, one a line: BYTES PERCENT, or BYTES SHARE up to 1").only(SIZES, one_of!(SizeTable: File)).fixed("");
    SIZE = key("workload.size", Kind::Bytes(Bytes::new(1), MAX_TRANSFER), "1 MB",
        "payload of each flow; of a collective, of the whole operation, as nccl-tests count it; of a query, of each answer")
        .only(KIND, one_of!(Traffic: Incast | Query | AllToAll | Permutation | AllReduce | ReduceScatter | AllGather | Broadcast | Reduce));
    ALGORITHM = key("workload.algorithm", Kind::Choice(Algorithm::WORDS), "auto",
        "how a collective moves its bytes: all-reduce by ring, tree, double-tree, halving-doubling, direct; reduce-scatter and all-gather by ring, halving-doubling, direct; broadcast and reduce by ring (a chain), tree, direct; barrier by tree, ring, halving-doubling, direct; auto takes the first. An all-to-all by direct, rotated or pairwise is a collective, by auto it is none. In training by ring, tree, double-tree, halving-doubling or direct; a call for which that cannot be goes by its first one")
        .only(KIND, |word| Traffic::of(word).is_some_and(Traffic::may_be_collective));
    CHUNK = key("workload.chunk", Kind::Or("off", &Kind::Bytes(Bytes::new(1), MAX_TRANSFER)), "off",
        "largest piece of a collective's chunks, which travel one after the other; off: whole chunks")
        .only(KIND, one_of!(Traffic: AllReduce | ReduceScatter | AllGather | Broadcast | Reduce | Training));
    CHANNELS = key("workload.channels", Kind::Integer(1, 64), "1",
        "rings, each with its share of the bytes and one rank further on")
        .only(KIND, one_of!(Traffic: AllReduce | ReduceScatter | AllGather | Training));
    REDUCE_TIME = key("workload.reduce_time", Kind::Time(Time::ZERO, Time::from_us(1)), "0 ps",
        "time in which a rank reduces a byte that has arrived")
        .only(KIND, one_of!(Traffic: AllReduce | ReduceScatter | Reduce | Training));
    REPEAT = key("workload.repeat", Kind::Integer(1, 100_000), "1",
        "rounds of a collective: a rank begins the next when it is done with one").only(KIND, |word| Traffic::of(word).is_some_and(Traffic::may_be_collective));
    GAP = key("workload.gap", kind::MOMENT, "0 us",
        "time between two rounds, in which a rank computes, or a host waits before it asks again")
        .only(KIND, |word| Traffic::of(word).is_some_and(|kind| kind.may_be_collective() || kind == Traffic::Query));
    ROUNDS = key("workload.rounds", Kind::Integer(1, 32_768), "1",
        "queries of each host that asks, one after the other").only(KIND, one_of!(Traffic: Query));
    REQUEST = key("workload.request", Kind::Bytes(Bytes::new(1), MAX_TRANSFER), "64 B",
        "payload of the request that goes to each server of a query").only(KIND, one_of!(Traffic: Query));
    FAN_IN = key("workload.fan_in", Kind::Or("all", &Kind::Integer(1, 65_000)), "all",
        "number of senders of an incast, or of servers of a query; each draws them anew, a query alike for all seeds")
        .only(KIND, one_of!(Traffic: Incast | Query));
    PERIOD = key("workload.period", Kind::Or("once", &Kind::Time(Time::from_ns(1), LONGEST)), "once",
        "time from one incast to the next").only(KIND, one_of!(Traffic: Incast));
    GAPS = key("workload.gaps", Kind::Choice(Gaps::WORDS), "regular",
        "times between incasts: all equal to workload.period, or exponential with this mean").unless(PERIOD, "once");
    JITTER = key("workload.jitter", kind::MOMENT, "0 us",
        "largest delay of a sender's or a rank's start, or of a host's first query; each draws its delay from zero to this")
        .only(KIND, one_of!(Traffic: Incast | Query | AllToAll | AllReduce | ReduceScatter | AllGather | Broadcast | Reduce | Barrier));
    START = key("workload.start", kind::MOMENT, "0 us", "time at which the sources start");
    STOP = key("workload.stop", Kind::Or("off", &kind::MOMENT), "off", "time at which the sources stop; off: at the end of the run");
    TRANSFERS = key("workload.transfers", kind::LINES, "[]",
        "list of transfers, each with start, source, destination and bytes: \"10 us, H1, H2, 1 MB\"; then perhaps its name, and those that it follows: \"5 us, H2, H3, 1 MB, name b, after a\" begins 5 us after a has arrived whole at H2, or is sent from there and acknowledged")
        .only(KIND, one_of!(Traffic: Transfers));
    FILE = key("workload.file", kind::FILE, "off",
        "file of transfers, one a line: start, source, destination, bytes; of a graph, a schedule in GOAL text; of training, a workload of SimAI").only(KIND, one_of!(Traffic: Transfers | Graph | Training)).fixed("");
    OPERATIONS = key("workload.operations", kind::LINES, "[]",
        "lines of a schedule in GOAL text: what each rank computes (`calc NS`), sends and receives, and which waits for which; or lines of a workload of SimAI: its header, the number of layers, and a line a layer. Rank r is the r-th host of the table")
        .only(KIND, one_of!(Traffic: Graph | Training));
    RANK_ORDER = key("workload.rank_order", Kind::Choice(RankOrder::WORDS), "tp-dp-pp",
        "which ranks of training follow each other: those of tensor parallelism, then of data parallelism, then the stages of the pipeline, as in Megatron-LM; or stages before data parallelism, as in SimAI's groups of data parallelism. Groups of expert parallelism are neighbours in data parallelism")
        .only(KIND, one_of!(Traffic: Training));
    SEND_ENDS = key("workload.send_ends", Kind::Choice(SendEnds::WORDS), "acknowledged",
        "when a send of a schedule has ended at its rank: all of it is acknowledged, or sent, which is as its last frame begins for the first time; without acknowledgements always the latter")
        .only(KIND, one_of!(Traffic: Graph));
    FORMAT = key("workload.format", Kind::Choice(FileForm::WORDS), "lines",
        "format of workload.file: lines, or a flow file of the HPCC fork of ns-3 or of htsim")
        .only(KIND, one_of!(Traffic: Transfers));
    ORIGIN = key("workload.origin", kind::MOMENT, "0 us",
        "time in the list of transfers that is the start of the run").only(KIND, one_of!(Traffic: Transfers));
}

impl Traffic {
    /// Does it send finite flows?
    pub(crate) fn is_finite(self) -> bool {
        !matches!(self, Self::Bernoulli | Self::Greedy | Self::OnOff | Self::Bursts)
    }

    /// Is it a collective, at least by some algorithms?
    fn may_be_collective(self) -> bool {
        !jobs::algorithms(self).is_empty()
    }
}

/// The sources of all hosts.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub(crate) plans: Vec<Vec<SourcePlan>>,
    /// Collectives and other jobs, with the graph of transfers that follow others.
    pub jobs: Jobs,
}

impl Section for Sources {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let (plans, jobs) = read(r, settings);
        if let Some(pairs) = settings.pairs {
            pairs.fit(r, &plans, &settings.wiring);
            pairs.in_time(r, settings.duration);
        }
        Self { plans, jobs }
    }

    fn put(&self, _: &Settings, run: &mut RunSpec) {
        let (seed, mut permutations) = (run.seed, Permutations::default());
        run.graph = self.jobs.graph(seed);
        for ((h, plans), host) in self.plans.iter().enumerate().zip(&mut run.hosts) {
            let spec = |(i, p): (usize, &SourcePlan)| p.spec(h, i, seed, &mut permutations);
            host.sources = plans.iter().enumerate().map(spec).collect();
        }
    }
}

/// Reads all sources: those of `[[traffic]]` tables, or else one per host from `[workload]`; and what follows what.
fn read(r: &mut Reader<'_>, settings: &Settings) -> (Vec<Vec<SourcePlan>>, Jobs) {
    let (wiring, classes) = (&settings.wiring, &settings.classes);
    let hosts = wiring.hosts.len();
    let mut plans: Vec<Vec<SourcePlan>> = vec![Vec::new(); hosts];
    let (mut operations, mut list) = (Operations::default(), Vec::new());
    let tables = r.tables("traffic");
    if tables.is_empty() {
        let loads = r.shares(LOADS);
        if !loads.is_empty() && loads.len() != hosts {
            let reason = format!("{} loads for {hosts} hosts", loads.len());
            r.wrong(LOADS, reason, "give one load per host");
            return (plans, Jobs::default());
        }
        let all: Vec<usize> = wiring.all_machines().collect();
        let table = Table { loads: &loads, ..Table::of("workload", &all, 0, settings) };
        list.extend(table.read(r, &mut plans, &mut operations));
    }
    for prefix in tables {
        let names = r.listed(traffic::HOSTS.of(&prefix));
        if names.items.is_empty() {
            let hint = "write hosts = [\"H1\", \"H2\"] or hosts = \"H0..H9\"";
            r.wrong(&prefix, "names no hosts", hint);
            continue;
        }
        let hosts = r.machines(&names, wiring);
        let key = traffic::CLASS.of(&prefix);
        let class = Some(r.word(&key)).filter(|name| name != "first");
        let Some(class) = classes.find(class.as_deref()) else {
            r.wrong(&key, format!("there is no class `{}`", class.unwrap_or_default()), classes.named());
            continue;
        };
        list.extend(Table::of(&prefix, &hosts, class, settings).read(r, &mut plans, &mut operations));
    }
    (plans, operations.finish(list, wiring))
}

/// A source of a table: place of the host there, NIC, number and name of the table, and transfers.
type Seat = (usize, usize, Option<(usize, Arc<str>)>, Vec<Transfer>);

/// A table of sources.
struct Table<'a> {
    prefix: &'a str,
    /// The hosts that it names.
    hosts: &'a [usize],
    wiring: &'a Wiring,
    class: usize,
    /// The name of its class, where there are several.
    class_name: Option<Arc<str>>,
    /// Changes by queue pairs, where the table's flows have some.
    pairs: Option<Paired>,
    /// By host: loads of their own.
    loads: &'a [f64],
}

impl<'a> Table<'a> {
    fn of(prefix: &'a str, hosts: &'a [usize], class: usize, settings: &'a Settings) -> Self {
        let classes = &settings.classes;
        let pairs = classes.pairs(class).or(settings.pairs).map(|pairs| pairs.flows);
        let class_name = (classes.list.len() > 1).then(|| classes.list[class].name.clone());
        Self { prefix, hosts, wiring: &settings.wiring, class, class_name, pairs, loads: &[] }
    }

    fn key(&self, leaf: Key) -> At {
        leaf.of(self.prefix)
    }

    /// Adds its sources to those of the hosts. Yields its job, if it is one.
    fn read(
        &self,
        r: &mut Reader<'_>,
        plans: &mut [Vec<SourcePlan>],
        operations: &mut Operations,
    ) -> Option<jobs::Job> {
        let (list, wiring, prefix) = (self.hosts, self.wiring, self.prefix);
        let kind: Traffic = r.choice(self.key(KIND));
        let (frame, framing) = self.frame(r);
        let (start, stop) = self.span(r);
        let phase = r.choice(self.key(PHASE));
        let random_offset = r.choice::<Offset>(self.key(OFFSET)) == Offset::Random;
        let pace = Pace::read(r, self, kind);
        let goals = r.listed(self.key(DESTINATIONS));
        let follow = operations.len();
        let sources: Vec<usize> = plans.iter().map(Vec::len).collect();
        let algorithm = r.word(self.key(ALGORITHM));
        let asked = jobs::Asked { prefix, kind, algorithm, framing, hosts: list, wiring, sources: &sources };
        let (mut job, mut transfers, mut requests) = (None, HashMap::new(), HashMap::new());
        if let Some(woven) = jobs::woven(r, &asked, operations) {
            (job, transfers, requests) = (Some(woven.job), woven.sends, woven.requests);
        } else if kind == Traffic::Transfers {
            transfers = listed::transfers(r, prefix, (wiring, framing), (&sources, operations));
        }
        let follows = self.follows(r, operations.len() > follow);
        let messages = match self.pairs {
            Some(_) => Messages::read(r, prefix, transfers.values().flatten()),
            None => Messages::ONE,
        };
        transfers.values_mut().for_each(|all| *all = messages.of(all, |t| &mut t.start));
        let drawn = match job {
            None => Drawn::read(r, prefix, (kind, list, framing, messages), wiring),
            Some(_) => None,
        };
        let (initial_rate, connected) = self.pairs(r, kind, messages, follows);
        let origin = r.time(self.key(ORIGIN));
        let goals = Goals::read(r, goals, kind, &Arc::new(list.to_vec()), wiring);
        let name = self.name(r);
        job.iter_mut().for_each(|job| job.name = name.as_ref().map(|name| name.1.clone()));
        self.fits_others(r, kind, (frame, framing), plans);
        let common = SourcePlan {
            arrivals: Arrivals::Transfers,
            destinations: Destinations::Uniform,
            permutation: None,
            frame,
            start,
            stop,
            phase,
            random_offset,
            transfers: Vec::new(),
            drawn,
            framing,
            connected,
            initial_rate,
            origin,
            class: self.class as u8,
            name,
        };
        let each = self.each(job.is_some(), &common.name, &mut transfers, requests);
        let placed = self.place(plans, each, (&goals, &pace, &common));
        if let Some(host) = transfers.keys().min() {
            let reason = format!("{} has transfers, and is none of the table's hosts", wiring.hosts[*host]);
            r.wrong(self.key(TRANSFERS), reason, "name it in hosts, or remove its transfers");
        }
        let computes = matches!(kind, Traffic::Graph | Traffic::Training);
        if !placed && !list.is_empty() && !computes {
            r.wrong(self.key(DESTINATIONS), "no host has anybody to send to", "name another host");
        }
        job
    }

    /// Gives the hosts these sources, which have the rest in common. Yields whether any has somebody to send to.
    fn place(
        &self,
        plans: &mut [Vec<SourcePlan>],
        each: Vec<Seat>,
        (goals, pace, common): (&Goals, &Pace, &SourcePlan),
    ) -> bool {
        let mut placed = false;
        for (n, host, name, transfers) in each {
            let Some((destinations, permutation)) = goals.of(self.wiring.nics(host).start, self.wiring)
            else {
                continue;
            };
            let arrivals = pace.of(n, self.loads.get(host).copied());
            let own = SourcePlan { arrivals, destinations, permutation, transfers, name, ..common.clone() };
            plans[host].push(own);
            placed = true;
        }
        placed
    }

    /// The table's sources: place of the host in the table, NIC, name, and transfers. A query's requests are a source of their own, without a name.
    fn each(
        &self,
        is_job: bool,
        name: &Option<(usize, Arc<str>)>,
        transfers: &mut HashMap<usize, Vec<Transfer>>,
        requests: HashMap<usize, Vec<Transfer>>,
    ) -> Vec<Seat> {
        let mut each: Vec<_> = requests.into_iter().map(|(nic, sent)| (0, nic, None, sent)).collect();
        each.sort_by_key(|one| one.1);
        for (n, nic) in
            self.hosts.iter().enumerate().flat_map(|(n, h)| self.wiring.nics(*h).map(move |nic| (n, nic)))
        {
            let transfers = transfers.remove(&nic).unwrap_or_default();
            if !is_job || !transfers.is_empty() {
                each.push((n, nic, name.clone(), transfers));
            }
        }
        each
    }

    /// Length of its frames, and how flows fill them. Telemetry and time stamps make frames longer; their payload stays.
    fn frame(&self, r: &mut Reader<'_>) -> (Bytes, Framing) {
        let (frame, header) = (r.bytes(self.key(FRAME)), r.bytes(self.key(HEADER)));
        if header >= frame {
            let reason = format!("a header of {header} leaves no payload in a frame of {frame}");
            let remedy = "the frame holds payload and header: enlarge it";
            r.clash(&[self.key(HEADER), self.key(FRAME)], reason, remedy);
        }
        let telemetry = self.pairs.map_or(Bytes::ZERO, |p| p.telemetry);
        let (frame, header) = (frame + telemetry, header + telemetry);
        let payload = frame.saturating_sub(header).get().max(1);
        (frame, Framing { payload, header: header.get(), floor: r.bytes(self.key(FRAME_FLOOR)).get() })
    }

    /// When its sources start and stop.
    fn span(&self, r: &mut Reader<'_>) -> (Time, Time) {
        let (start, stop) = (r.time(self.key(START)), r.time_or(self.key(STOP)).unwrap_or(Time::MAX));
        if stop <= start {
            let reason = format!("the sources stop at {stop}, not after their start at {start}");
            r.clash(&[self.key(STOP), self.key(START)], reason, "make stop later");
        }
        (start, stop)
    }

    /// Refuses transfers that follow others where they cannot. Yields whether some do.
    fn follows(&self, r: &mut Reader<'_>, follows: bool) -> bool {
        if follows && self.pairs.is_none() {
            let reason = "transfers that follow others need queue pairs";
            r.wrong(self.key(KIND), reason, "write host.queues = \"per-flow\"");
        }
        follows
    }

    /// The rate at which its queue pairs begin, and whether its flows are messages on connections. Refuses flows that have no queue pair.
    fn pairs(
        &self,
        r: &mut Reader<'_>,
        kind: Traffic,
        messages: Messages,
        follows: bool,
    ) -> (Option<Rate>, bool) {
        let Some(pairs) = self.pairs else { return (None, false) };
        if !kind.is_finite() {
            let word = kind.word();
            let reason = format!("`{word}` is endless, and a queue pair is that of a finite flow");
            let hint = "write transfers, poisson, incast, all-to-all or permutation, or another host.queues than per-flow";
            r.wrong(self.key(KIND), reason, hint);
        }
        let initial_rate = if pairs.begins { r.rate_or(self.key(INITIAL_RATE)) } else { None };
        let links = self.hosts.iter().filter_map(|h| Some((*h, self.wiring.access(*h)?.rate)));
        let slowest = links.min_by(|a, b| a.1.bps().total_cmp(&b.1.bps()));
        if let (Some(rate), Some((host, link))) = (initial_rate, slowest)
            && rate > link
        {
            let host = &self.wiring.hosts[host];
            let reason = format!("{rate} is above the rate of the link of {host}, {link}");
            r.wrong(self.key(INITIAL_RATE), reason, format!("write at most \"{link}\""));
        }
        let kept = r.choice::<Connections>(self.key(CONNECTION)) == Connections::Kept;
        let connected = kept || messages.count > 1;
        if connected && !kept && r.is_asked(self.key(CONNECTION)) {
            let reason = "the messages of a flow share a connection".to_string();
            r.clash(&[self.key(CONNECTION), self.key(MESSAGES)], reason, "write \"kept\", or remove it");
        }
        if connected && follows && kind != Traffic::Query {
            let reason =
                "messages on one connection begin in the order of the list, and some of these follow others";
            r.wrong(self.key(CONNECTION), reason, "write \"each\", or give all a start");
        }
        (initial_rate, connected)
    }

    /// Number and name of the table, or the name of its class where it has none.
    fn name(&self, r: &mut Reader<'_>) -> Option<(usize, Arc<str>)> {
        let number = self.prefix.strip_prefix("traffic.").and_then(|n| n.parse::<usize>().ok())?;
        let own = Some(r.word(self.key(traffic::NAME))).filter(|name| name != "off").map(Arc::from);
        own.or_else(|| self.class_name.clone()).map(|name| (number, name))
    }

    /// Refuses what its hosts cannot send beside their other tables, or over several NICs.
    fn fits_others(
        &self,
        r: &mut Reader<'_>,
        kind: Traffic,
        (frame, framing): (Bytes, Framing),
        plans: &[Vec<SourcePlan>],
    ) {
        let (finite, wiring) = (kind.is_finite(), self.wiring);
        let other = |p: &SourcePlan| finite && p.finite() && (p.framing, p.frame) != (framing, frame);
        if let Some(host) = self.hosts.iter().find(|h| plans[**h].iter().any(other)) {
            let reason =
                format!("{} sends finite flows in other frames by another table", wiring.hosts[*host]);
            r.wrong(self.key(FRAME), reason, "use one frame and header for all finite flows of a host");
        }
        if let (false, Some(host)) = (finite, self.hosts.iter().find(|h| wiring.nics(**h).len() > 1)) {
            let (name, nics) = (wiring.machine(*host), wiring.nics(*host).len());
            let reason = format!("frames of no flow take no NIC, and {name} has {nics}");
            let hint = "write a kind of finite flows, as transfers, poisson or all-to-all";
            r.wrong(self.key(KIND), reason, hint);
        }
    }
}

/// How the frames of a table arrive.
struct Pace {
    kind: Traffic,
    on: Time,
    off: Time,
    /// By how much on time and off time grow from host to host.
    step: Time,
    burst: u32,
    load: f64,
}

impl Pace {
    fn read(r: &mut Reader<'_>, table: &Table<'_>, kind: Traffic) -> Self {
        let [on, off, step] = [ON, OFF, STEP].map(|leaf| r.time(table.key(leaf)));
        Self {
            kind,
            on,
            off,
            step,
            burst: r.integer(table.key(BURST)) as u32,
            load: r.share(table.key(LOAD)),
        }
    }

    /// Arrivals at the n-th host of the table, which may have a load of its own.
    fn of(&self, n: usize, load: Option<f64>) -> Arrivals {
        let (load, more) = (load.unwrap_or(self.load), self.step * n as u64);
        match self.kind {
            Traffic::Greedy => Arrivals::Greedy,
            Traffic::OnOff => Arrivals::OnOff { on: self.on + more, off: self.off + more, shift: Time::ZERO },
            Traffic::Bursts => Arrivals::Bursts { load, frames: self.burst },
            Traffic::Bernoulli => Arrivals::Bernoulli { load },
            _ => Arrivals::Transfers,
        }
    }
}
