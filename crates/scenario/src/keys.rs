//! The keys of a scenario, declared once: the reader, `cnsim new`, the JSON Schema and the docs come from this table.
//! A row owns the parser and the bounds of its key ([`Kind`]).

use crate::case::Dimension;
use crate::flows::LoadCounts;
use crate::kinds::{
    Algorithm, Backlog, Buffer, Choice as _, Completed, ControlTravels, FaultKind, FileForm, FlowHash,
    FreedAt, Gaps, Ideal, Kind, Offset, Paths, PauseFrames, PauseMode, PausedOver, Queues, Repairs,
    SendsAgain, Shape, SharedPreset, SizeTable, Switched, Traffic, WatchdogAction,
};
use cnsim_fabric::{LimiterPosition, PauseTransport, Phase, Rounding, Ties, WatchdogRule};
use cnsim_scheme_api::Class;
use cnsim_units::{Bytes, Rate, Time};

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted path.
    pub path: &'static str,
    /// Kind of value, with its bounds.
    pub kind: Kind,
    /// Default; a key with an empty one is required.
    pub default: &'static str,
    /// Meaning, one sentence.
    pub doc: &'static str,
    /// Settings under which the key has an effect.
    pub only: Only,
}

/// Settings under which a key has an effect.
#[derive(Clone, Copy, Debug)]
pub enum Only {
    /// The key always has an effect.
    Always,
    /// The key has an effect if another key has one of these values.
    With(&'static str, &'static [&'static str]),
    /// The key has an effect unless another key has this value.
    Unless(&'static str, &'static str),
}

impl Only {
    /// The other key on which the effect depends.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            Self::Always => None,
            Self::With(key, _) | Self::Unless(key, _) => Some(key),
        }
    }

    /// Does the key have an effect if the other one has this value?
    pub fn admits(&self, value: &str) -> bool {
        match self {
            Self::Always => true,
            Self::With(_, values) => values.contains(&value),
            Self::Unless(_, idle) => value != *idle,
        }
    }
}

const fn key(path: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { path, kind, default, doc, only: Only::Always }
}

impl Key {
    const fn only(self, path: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Only::With(path, values), ..self }
    }

    const fn unless(self, path: &'static str, value: &'static str) -> Self {
        Self { only: Only::Unless(path, value), ..self }
    }
}

/// Longest run, and last moment of anything in it.
pub const LONGEST: Time = Time::LONGEST_RUN;
/// Fastest link that the network's arithmetic allows. A frame of 64 B then takes 51 ps instead of 51.2.
pub const FASTEST: Rate = Rate::FASTEST_LINK;
/// Slowest link.
pub const SLOWEST: Rate = Rate::SLOWEST_LINK;
/// Slowest service of a port that is not stopped.
pub const SLOWEST_SERVICE: Rate = Rate::from_bps(1e4);
/// Longest propagation delay of a link.
pub const FARTHEST: Time = Time::from_ms(100);
/// Largest number of hosts: their numbers have 16 bits.
pub const MAX_HOSTS: usize = 65_535;
/// Largest number of switches: routes are kept for each pair.
pub const MAX_SWITCHES: usize = 20_000;
/// Largest number of switch ports, with and without a link.
pub const MAX_PORTS: usize = 500_000;
/// Largest frame.
pub const MAX_FRAME: Bytes = Bytes::new(9216);
/// Largest number of seeds of a case.
pub const MAX_SEEDS: u64 = 10_000;
/// Largest number of cases of a scenario.
pub const MAX_CASES: usize = 20_000;
/// Largest number of changes of service rates in a run: events, and both ends of each slow span of a hotspot.
pub const MAX_CHANGES: u64 = 1_000_000;
/// Largest number of finite flows of a table.
pub const MAX_FLOWS: u64 = 20_000_000;
/// Largest finite flow.
pub const MAX_TRANSFER: Bytes = Bytes::from_mb(1_000_000_000);
/// Largest number of characters of a condition.
pub const MAX_CONDITION: usize = 160;

/// Kinds of traffic that are finite flows.
const FINITE: &[&str] = &[
    "transfers", "poisson", "incast", "all-to-all", "permutation", "all-reduce", "reduce-scatter",
    "all-gather", "broadcast", "reduce", "barrier", "query",
];
/// Kinds of traffic that are collectives.
const COLLECTIVES: &[&str] =
    &["all-to-all", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "barrier"];

const TEXT: Kind = Kind::Text(4000);
const TEMPLATE: Kind = Kind::Text(1000);
const LINES: Kind = Kind::List(&Kind::Line);
const FILE: Kind = Kind::Or("off", &Kind::File);
const LINK_RATE: Kind = Kind::Rate(SLOWEST, FASTEST);
const LINK_DELAY: Kind = Kind::Time(Time::ZERO, FARTHEST);
const PROCESSING: Kind = Kind::Time(Time::ZERO, Time::from_ms(100));
const MOMENT: Kind = Kind::Time(Time::ZERO, LONGEST);
const WATCHED: Kind = Kind::Time(Time::from_ns(1), LONGEST);
const MEMORY: Kind = Kind::Bytes(Bytes::new(64), Bytes::from_mb(4000));
const FRAMES: Kind = Kind::Integer(1, 100_000_000);
const FRAME: Kind = Kind::Bytes(Bytes::new(64), MAX_FRAME);
const ANSWER: Kind = Kind::Bytes(Bytes::new(1), Bytes::new(1500));
const TELEMETRY: Kind = Kind::Bytes(Bytes::ZERO, Bytes::new(1000));
const WINDOW: Kind = Kind::Bytes(Bytes::new(1), MAX_TRANSFER);
const RETRY: Kind = Kind::Time(Time::from_ns(100), LONGEST);
/// Words of `transport.rto_min`, and the times that they stand for.
pub(crate) const RTO_MINS: [(&str, Time); 8] = [
    ("rfc", Time::from_s(1)),
    ("windows", Time::from_ms(300)),
    ("linux", Time::from_ms(200)),
    ("freebsd", Time::from_ms(30)),
    ("dc", Time::from_ms(10)),
    ("cee-2011", Time::from_ms(2)),
    ("fine", Time::from_ms(1)),
    ("micro", Time::from_us(200)),
];
const FAST_MIN: Kind = Kind::Or("dc", &Kind::Or("cee-2011", &Kind::Or("fine", &Kind::Or("micro", &RETRY))));
const RTO_MIN: Kind =
    Kind::Or("rfc", &Kind::Or("windows", &Kind::Or("linux", &Kind::Or("freebsd", &FAST_MIN))));
const SEEDS: Kind = Kind::Integer(1, MAX_SEEDS);
const SWITCHED: Kind = Kind::Choice(Switched::WORDS);
const SWITCHED_REF: &Kind = &SWITCHED;
const SCHEMES: Kind = Kind::List(&Kind::Scheme);
const MODES: Kind = Kind::List(&Kind::Choice(PauseMode::WORDS));

/// All keys but those of `matrix`, `rows`, `scheme` and `assumptions`.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key("study", Kind::Name(40), "mine", "study that the scenario belongs to"),
    key("name", Kind::Name(80), "", "name of the scenario within its study"),
    key("title", TEXT, "untitled", "heading"),
    key("question", TEXT, "none", "question that the scenario answers"),
    key("source", TEXT, "none", "source: publication or author"),
    key("condition", TEMPLATE, "default", "template that names a row, such as `hotspot {hotspot.rate}`"),
    key("topology.kind", Kind::Choice(Shape::WORDS), "single-switch", "shape of the network"),
    key("topology.first", Kind::Integer(0, 1), "0",
        "number of the first host: hosts are named H0, H1, ... or H1, H2, ..."),
    key("topology.hosts", Kind::Integer(2, 65_000), "10", "number of hosts").only("topology.kind", &["single-switch"]),
    key("topology.ports", Kind::Integer(2, 65_000), "16",
        "ports of each switch, raised if the wiring needs more")
        .only("topology.kind", &["single-switch", "core-edge", "chain", "ring", "parking-lot"]),
    key("topology.edges", Kind::List(&Kind::Integer(1, 4095)), "[3, 3, 2, 2]",
        "hosts at each edge switch; edges E1, E2, ... hang on the core X").only("topology.kind", &["core-edge"]),
    key("topology.k", Kind::Integer(2, 64), "4",
        "arity of the tree (k^n hosts), or ports of a fat tree's switches (k^3/4 hosts)")
        .only("topology.kind", &["k-ary-n-tree", "fat-tree"]),
    key("topology.n", Kind::Integer(1, 8), "3", "levels of the tree").only("topology.kind", &["k-ary-n-tree"]),
    key("topology.pods", Kind::Integer(1, 1024), "4",
        "pods of a clos; cores join them").only("topology.kind", &["clos"]),
    key("topology.leaves", Kind::Integer(1, 4096), "4",
        "leaf switches; with clos those of a pod").only("topology.kind", &["leaf-spine", "clos"]),
    key("topology.spines", Kind::Integer(1, 4096), "2",
        "spine switches; with clos those of a pod").only("topology.kind", &["leaf-spine", "clos"]),
    key("topology.cores", Kind::Integer(1, 4096), "4",
        "number of core switches. They form as many equal groups as a pod has spines. Spine N of a pod joins all cores of group N")
        .only("topology.kind", &["clos"]),
    key("topology.fabric_rate", Kind::Or("link", &LINK_RATE), "link",
        "rate of the links between switches; `link`: as topology.link_rate")
        .only("topology.kind", &["core-edge", "k-ary-n-tree", "fat-tree", "leaf-spine", "clos", "chain", "ring", "parking-lot"]),
    key("topology.switches", Kind::Integer(2, 4096), "4",
        "switches in the line or ring").only("topology.kind", &["chain", "ring"]),
    key("topology.per_switch", Kind::Integer(1, 4096), "3",
        "hosts at each switch or leaf").only("topology.kind", &["leaf-spine", "clos", "chain", "ring"]),
    key("topology.stages", Kind::Integer(1, 64), "2", "bottlenecks in a row").only("topology.kind", &["parking-lot"]),
    key("topology.long", Kind::Integer(1, 1000), "4",
        "hosts that send over all bottlenecks").only("topology.kind", &["parking-lot"]),
    key("topology.nodes", LINES, "[]",
        "switches of a graph, each with its number of ports: \"S1 16\"").only("topology.kind", &["graph"]),
    key("topology.links", LINES, "[]",
        "links of a graph: \"H1 S1\" or \"S1 S2 40 Gb/s 2 us\"; a name that is no switch is a host")
        .only("topology.kind", &["graph"]),
    key("topology.file", FILE, "off",
        "file with the lines of a graph: `switch S1 16`, `link H1 S1 10 Gb/s 0.5 us`").only("topology.kind", &["graph"]),
    key("topology.routing", Kind::Choice(Paths::WORDS), "flow-hash",
        "choice among equal paths: by a hash of the flow or the frame, in turn per destination, or by the destination's digit (d-mod-k); clockwise: around a ring in one sense, the long way, too"),
    key("topology.format", Kind::Choice(FileForm::WORDS), "lines",
        "format of topology.file: lines of a graph, or a file of the HPCC fork of ns-3, SimAI or htsim; its node 7 is named H7 or S7")
        .only("topology.kind", &["graph"]),
    key("topology.hash", Kind::Choice(FlowHash::WORDS), "per-switch",
        "hash of the flow: salted at each switch, equal at all switches (a fat tree then uses few of its cores), or that of the HPCC fork")
        .only("topology.routing", &["flow-hash"]),
    key("topology.link_rate", LINK_RATE, "10 Gb/s", "rate of every link"),
    key("topology.link_delay", LINK_DELAY, "0.5 us", "propagation delay of every link"),
    key("topology.host_rates", LINES, "[]",
        "access links with another rate: \"H5 1 Gb/s\", \"H8..H15 10 Gb/s\", \"H0..H9/3 10 Gb/s\""),
    key("topology.added_delay", LINK_DELAY, "0 us", "additional one-way delay of the access links of sending hosts"),
    key("topology.loop_delay", Kind::Or("off", &Kind::Time(Time::ZERO, Time::from_s(1))), "off",
        "round trip between a sending host and its switch, processing included; sets the delay of the access link; off: topology.link_delay"),
    key("switch.processing", PROCESSING, "1 us", "processing delay of a switch"),
    key("switch.buffer", Kind::Choice(Buffer::WORDS), "XP",
        "buffer organisation: per crosspoint (XP), per input (IN), one pool whose outputs above XOFF pause all transmitters (SO), a capacity split over the inputs in use (SW), or a reserve, a share of a pool and headroom for each input (shared)"),
    key("switch.share", Kind::Or("auto", &MEMORY), "auto",
        "size of one partition; auto: 150 KB, or more where PAUSE needs more headroom")
        .only("switch.buffer", &["XP", "IN", "SO"]),
    key("switch.capacity", MEMORY, "1 MB",
        "memory of a switch; the inputs in use share it evenly").only("switch.buffer", &["SW"]),
    key("switch.preset", Kind::Choice(SharedPreset::WORDS), "none",
        "values of a shared buffer that are not given: those of the HPCC fork of ns-3 (12 MiB, headroom of 3 rate x delay, alpha by rate, memory free as a transmission starts), or of a Broadcom chip as ns3-rdma models it (9 MB, alpha 1/16, headroom 103 KB)")
        .only("switch.buffer", &["shared"]),
    key("switch.memory", Kind::Or("auto", &MEMORY), "auto", "all of a shared buffer; auto: that of the preset, or 12 MiB")
        .only("switch.buffer", &["shared"]),
    key("switch.reserve", Kind::Or("auto", &Kind::Bytes(Bytes::ZERO, Bytes::from_mb(4000))), "auto",
        "bytes of a shared buffer that each input with a link has for itself; auto: 4 KiB").only("switch.buffer", &["shared"]),
    key("switch.headroom", Kind::Or("auto", &Kind::Bytes(Bytes::ZERO, Bytes::from_mb(4000))), "auto",
        "bytes of a shared buffer that each input has for what still comes after XOFF; auto: that of the preset, or as much as can come (`cnsim headroom`)")
        .only("switch.buffer", &["shared"]),
    key("switch.alpha", Kind::Line, "auto",
        "an input is in XOFF when it holds this share of what is free of the pool, such as 1/8; without PAUSE the share is an output's; auto: that of the preset, or 1/8")
        .only("switch.buffer", &["shared"]),
    key("switch.alpha_by_rate", SWITCHED, "off",
        "alpha is that of a port as fast as the slowest host; it doubles with each doubling of a port's rate, up to 1; the preset hpcc-fork has it on")
        .only("switch.buffer", &["shared"]),
    key("switch.threshold", Kind::Or("dynamic", &MEMORY), "dynamic",
        "XOFF at so many bytes of an input in the pool, in place of switch.alpha; dynamic: by switch.alpha").only("switch.buffer", &["shared"]),
    key("switch.resume", Kind::Or("auto", &Kind::Bytes(Bytes::ZERO, Bytes::from_mb(4000))), "auto",
        "XON when an input of a shared buffer holds so much less of the pool than its threshold; auto: that of the preset, or 3 KiB")
        .only("switch.buffer", &["shared"]),
    key("switch.freed", Kind::Choice(FreedAt::WORDS), "end",
        "a frame's bytes of a shared buffer are free when its transmission ends, or as it starts, as in the preset hpcc-fork").only("switch.buffer", &["shared"]),
    key("switch.output_limit", Kind::Or("off", &MEMORY), "off", "largest queue of one output, off for none"),
    key("pause.mode", Kind::Choice(PauseMode::WORDS), "on", "802.3x PAUSE of the switches"),
    key("pause.high", Kind::Or("auto", &MEMORY), "auto",
        "XOFF is sent above this occupancy of a partition; auto: 130 KB, or less if the headroom needs it")
        .only("pause.mode", &["on", "global"]),
    key("pause.low", Kind::Or("auto", &Kind::Bytes(Bytes::ZERO, Bytes::from_mb(4000))), "auto",
        "XON is sent at or below this occupancy; auto: 110 KB, or less below a lower pause.high")
        .only("pause.mode", &["on", "global"]),
    key("pause.pool", SWITCHED, "off", "watermarks apply to the whole pool (buffer SO)").only("switch.buffer", &["SO"]),
    key("pause.transport", Kind::Choice(PauseTransport::WORDS), "frame",
        "PAUSE travels in frames of 64 B, or takes effect after a fixed delay").only("pause.mode", &["on", "global"]),
    key("pause.frames", Kind::Choice(PauseFrames::WORDS), "802.3x",
        "frames of PAUSE: those of 802.3x are for all data of a link, those of pfc (IEEE 802.1Qbb) name its class, which pauses.csv and explain-pause then tell; with one class of data they stop the same")
        .only("pause.mode", &["on", "global"]),
    key("pause.length", ANSWER, "64 B",
        "length of a PAUSE frame; the HPCC fork of ns-3 has 43 B").only("pause.mode", &["on", "global"]),
    key("pause.response", PROCESSING, "0 us",
        "time from the arrival of PAUSE to its effect on the transmitter, which finishes a frame in transmission in any case")
        .only("pause.mode", &["on", "global"]),
    key("control.transport", Kind::Choice(ControlTravels::WORDS), "priority",
        "feedback travels in frames ahead of data, in frames among data, or without frames after a fixed time (probes then go ahead of data)"),
    key("control.latency", Kind::Time(Time::ZERO, Time::from_s(1)), "20 us",
        "delay of ideal feedback, from the node that makes it to its host").only("control.transport", &["ideal"]),
    key("host.processing", PROCESSING, "1 us", "processing delay of a NIC"),
    key("host.clock", Kind::Or("exact", &Kind::Integer(1, 10_000)), "exact",
        "largest error of a host's clock, parts per million; each host draws an error of half to all of it, fast or slow"),
    key("host.fifo", FRAMES, "10100", "frames that a host can hold: application queue and NIC").unless("host.queues", "per-flow"),
    key("host.limiter_queue", FRAMES, "100", "frames that a rate limiter's queue holds").unless("host.queues", "per-flow"),
    key("host.limiter_position", Kind::Choice(LimiterPosition::WORDS), "below-queue",
        "place where a frame meets its limiter").unless("host.queues", "per-flow"),
    key("host.limiter_backlog", Kind::Choice(Backlog::WORDS), "behind",
        "place where the host's frames wait: behind the limiters, or (all but `host.nic`) in an application FIFO ahead of them")
        .unless("host.queues", "per-flow"),
    key("host.nic", FRAMES, "500",
        "frames behind the limiters, as part of `host.fifo`").only("host.limiter_backlog", &["ahead"]),
    key("host.queues", Kind::Choice(Queues::WORDS), "fifo",
        "one FIFO, a virtual output queue per destination, or a queue pair per finite flow, whose frames are made as the link takes them; several are served in turn"),
    key("host.feedback_delay", PROCESSING, "0 us", "time from the arrival of a feedback message to its effect"),
    key("host.ignores_pause", SWITCHED, "off",
        "a fault: hosts keep sending while paused").only("pause.mode", &["on", "global"]),
    key("host.feedback_lost", Kind::Integer(0, 1_000_000_000), "0",
        "a fault: every n-th feedback message to a host is lost; 0: none"),
    key("transport.kind", Kind::Choice(SendsAgain::WORDS), "none",
        "lost frames of queue pairs: not sent again, sent again with all frames that follow (go-back-n), or sent again alone, by selective repeat as in IRN, or as TCP does").only("host.queues", &["per-flow"]),
    key("transport.ack_every", Kind::Or("auto", &Kind::Integer(0, 1_000_000)), "auto",
        "acknowledges one frame in so many, and at once a marked frame, one after a gap and the last; 0: none; auto: 1 where the scheme, the window, transport.kind or record.completion needs acknowledgements, else 0")
        .only("host.queues", &["per-flow"]),
    key("transport.ack_class", Kind::Choice(Class::WORDS), "data",
        "acknowledgements travel among the data, as RoCE has it, or ahead of it").only("host.queues", &["per-flow"]),
    key("transport.ack_length", ANSWER, "64 B",
        "length of an acknowledgement; the HPCC fork of ns-3 has 60 B").only("host.queues", &["per-flow"]),
    key("transport.telemetry", TELEMETRY, "42 B",
        "bytes of telemetry that a data frame carries beside header and payload, of a scheme that reads telemetry").only("host.queues", &["per-flow"]),
    key("transport.ack_telemetry", TELEMETRY, "28 B",
        "bytes of telemetry that an acknowledgement carries beside its length, of a scheme that reads telemetry").only("host.queues", &["per-flow"]),
    key("transport.congestion", Kind::Or("scheme", &Kind::Scheme), "scheme",
        "scheme that sets the windows of flows above one that sets none, such as newreno above qcn-802.1Qau: each flow then has a limiter of its own; scheme: the case's scheme does all. It has no effect on a scheme that takes acknowledgements itself")
        .only("host.queues", &["per-flow"]),
    key("transport.window", Kind::Or("scheme", &Kind::Or("off", &Kind::Or("bdp", &WINDOW))), "scheme",
        "bytes in flight at which a flow waits: as the scheme sets it, no bound, the line rate times the smallest round-trip time of the path, or so many; it sends a frame while less than the window is in flight, so the last one may go beyond it; pacing goes on beside it")
        .only("host.queues", &["per-flow"]),
    key("transport.window_by_rate", SWITCHED, "off",
        "that window is the one at the line rate, and moves with the flow's rate, as with VAR_WIN in the HPCC fork of ns-3")
        .unless("transport.window", "scheme"),
    key("transport.nack_interval", RETRY, "500 us",
        "least time between two NACKs for the same frame").only("transport.kind", &["go-back-n"]),
    key("transport.rto", RETRY, "1 ms",
        "timeout: a flow begins anew with the first frame not acknowledged if nothing is acknowledged for this time").only("transport.kind", &["go-back-n"]),
    key("transport.gap_frames", Kind::Integer(1, 10_000), "1",
        "a report of a frame that came out of order is a NACK when so many later frames have come: more than 1 for paths that reorder")
        .only("transport.kind", &["selective"]),
    key("transport.gap_time", PROCESSING, "0 us",
        "such a report is a NACK when the first missing frame has been missing for this time").only("transport.kind", &["selective"]),
    key("transport.rto_low", RETRY, "100 us",
        "timeout of selective repeat while fewer than transport.few frames are on their way (IRN)").only("transport.kind", &["selective"]),
    key("transport.rto_high", RETRY, "320 us", "any other timeout of selective repeat (IRN)").only("transport.kind", &["selective"]),
    key("transport.few", Kind::Integer(0, 10_000), "3", "see transport.rto_low").only("transport.kind", &["selective"]),
    key("transport.recovery", Kind::Choice(Repairs::WORDS), "sack",
        "TCP finds losses by reports of what came out of order (sack, RFC 6675), or by duplicate acknowledgements (newreno, RFC 6582)")
        .only("transport.kind", &["tcp"]),
    key("transport.limited_transmit", SWITCHED, "on",
        "the first two duplicate acknowledgements let a new frame go each (RFC 3042)").only("transport.kind", &["tcp"]),
    key("transport.receive_window", Kind::Or("off", &WINDOW), "off",
        "most bytes that a TCP source is ahead of the first byte that is not acknowledged, whatever the scheme's window").only("transport.kind", &["tcp"]),
    key("transport.rto_min", RTO_MIN, "linux",
        "least timeout of TCP (RFC 6298), or that of an implementation: rfc 1 s, windows 300 ms, linux 200 ms, freebsd 30 ms, dc 10 ms, cee-2011 2 ms, fine 1 ms, micro 200 us")
        .only("transport.kind", &["tcp"]),
    key("transport.rto_first", RETRY, "1 s", "timeout of TCP before the first round trip is measured").only("transport.kind", &["tcp"]),
    key("transport.rto_max", RETRY, "60 s", "largest timeout of TCP: each expiry doubles it").only("transport.kind", &["tcp"]),
    key("transport.timer_quantum", PROCESSING, "0 us",
        "tick of TCP's timer: an expiry is rounded up to the next tick, and the variation counts as one at least; 0: exact").only("transport.kind", &["tcp"]),
    key("transport.ack_delay", PROCESSING, "40 ms",
        "longest time that an acknowledgement of TCP waits for a further frame, where transport.ack_every is more than 1; 0: without bound").only("transport.kind", &["tcp"]),
    key("workload.kind", Kind::Choice(Traffic::WORDS), "bernoulli",
        "kind of traffic: frames (bernoulli, greedy, on-off, bursts), finite flows (transfers, poisson, incast, all-to-all, permutation), collectives of hosts, whose transfers follow others (all-reduce, reduce-scatter, all-gather, broadcast, reduce, barrier; all-to-all with an algorithm), or queries: each of the destinations asks some of the hosts, and asks again when all answers have come"),
    key("workload.load", Kind::Percent, "85 %",
        "offered load of a host, as a share of its access link").only("workload.kind", &["bernoulli", "bursts", "poisson"]),
    key("workload.loads", Kind::List(&Kind::Percent), "[]",
        "offered loads of the hosts, in order, instead of one load").only("workload.kind", &["bernoulli", "bursts"]),
    key("workload.on", Kind::Time(Time::from_us(1), LONGEST), "20 ms",
        "time in which an on-off source sends").only("workload.kind", &["on-off"]),
    key("workload.off", MOMENT, "20 ms", "time in which an on-off source is silent").only("workload.kind", &["on-off"]),
    key("workload.step", Kind::Time(Time::ZERO, Time::from_s(10)), "0 us",
        "increase of on time and off time from host to host").only("workload.kind", &["on-off"]),
    key("workload.offset", Kind::Choice(Offset::WORDS), "in-phase",
        "on-off sources start together, or anywhere in their period").only("workload.kind", &["on-off"]),
    key("workload.burst", Kind::Integer(1, 1_000_000), "10",
        "frames of a burst; all go to one destination").only("workload.kind", &["bursts"]),
    key("workload.frame", FRAME, "1500 B", "frame length, 64 to 9216 B"),
    key("workload.destinations", LINES, "uniform",
        "uniform, permutation (drawn by the seed), +N (the host N further on), or names of hosts; an incast takes its receivers in turn; of queries, the hosts that ask")
        .only("workload.kind", &["bernoulli", "bursts", "greedy", "on-off", "poisson", "incast", "query"]),
    key("workload.phase", Kind::Choice(Phase::WORDS), "random",
        "phase of the hosts' slots; finite flows begin when they are due"),
    key("workload.header", Kind::Bytes(Bytes::ZERO, Bytes::new(1000)), "0 B",
        "bytes of each frame that are no payload; sizes of flows count payload")
        .only("workload.kind", FINITE),
    key("workload.frame_floor", Kind::Bytes(Bytes::ZERO, Bytes::SMALLEST_FRAME), "64 B",
        "least bytes of a flow's last frame: a shorter one is padded; 0 B in the HPCC fork of ns-3 and in htsim")
        .only("workload.kind", FINITE),
    key("workload.initial_rate", Kind::Or("scheme", &LINK_RATE), "scheme",
        "rate at which the queue pairs of these flows begin, for schemes that take one; scheme: as the scheme sets it")
        .only("host.queues", &["per-flow"]),
    key("workload.load_counts", Kind::Choice(LoadCounts::WORDS), "payload",
        "bytes that count as load: payload alone, or payload and headers").only("workload.kind", &["poisson"]),
    key("workload.sizes", Kind::Choice(SizeTable::WORDS), "websearch",
        "distribution of flow sizes: a published one, or `file` for workload.size_table or workload.size_file")
        .only("workload.kind", &["poisson"]),
    key("workload.size_table", LINES, "[]",
        "cumulative distribution of flow sizes: points \"BYTES PERCENT\", rising to 100, or \"BYTES SHARE\", rising to 1").only("workload.sizes", &["file"]),
    key("workload.size_file", FILE, "off",
        "file with points of the distribution, one a line: BYTES PERCENT, or BYTES SHARE up to 1").only("workload.sizes", &["file"]),
    key("workload.size", Kind::Bytes(Bytes::new(1), MAX_TRANSFER), "1 MB",
        "payload of each flow; of a collective, of the whole operation, as nccl-tests count it; of a query, of each answer")
        .only("workload.kind", &["incast", "query", "all-to-all", "permutation", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce"]),
    key("workload.algorithm", Kind::Choice(Algorithm::WORDS), "auto",
        "how a collective moves its bytes: all-reduce by ring, tree, double-tree, halving-doubling, direct; reduce-scatter and all-gather by ring, halving-doubling, direct; broadcast and reduce by ring (a chain), tree, direct; barrier by tree, ring, halving-doubling, direct; auto takes the first. An all-to-all by direct, rotated or pairwise is a collective, by auto it is none")
        .only("workload.kind", COLLECTIVES),
    key("workload.chunk", Kind::Or("off", &Kind::Bytes(Bytes::new(1), MAX_TRANSFER)), "off",
        "largest piece of a collective's chunks, which travel one after the other; off: whole chunks")
        .only("workload.kind", &["all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce"]),
    key("workload.channels", Kind::Integer(1, 64), "1",
        "rings, each with its share of the bytes and one rank further on")
        .only("workload.kind", &["all-reduce", "reduce-scatter", "all-gather"]),
    key("workload.reduce_time", Kind::Time(Time::ZERO, Time::from_us(1)), "0 ps",
        "time in which a rank reduces a byte that has arrived")
        .only("workload.kind", &["all-reduce", "reduce-scatter", "reduce"]),
    key("workload.repeat", Kind::Integer(1, 100_000), "1",
        "rounds of a collective: a rank begins the next when it is done with one").only("workload.kind", COLLECTIVES),
    key("workload.gap", MOMENT, "0 us",
        "time between two rounds, in which a rank computes, or a host waits before it asks again")
        .only("workload.kind", &["all-to-all", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "barrier", "query"]),
    key("workload.rounds", Kind::Integer(1, 32_768), "1",
        "queries of each host that asks, one after the other").only("workload.kind", &["query"]),
    key("workload.request", Kind::Bytes(Bytes::new(1), MAX_TRANSFER), "64 B",
        "payload of the request that goes to each server of a query").only("workload.kind", &["query"]),
    key("workload.fan_in", Kind::Or("all", &Kind::Integer(1, 65_000)), "all",
        "number of senders of an incast, or of servers of a query; each draws them anew, a query alike for all seeds")
        .only("workload.kind", &["incast", "query"]),
    key("workload.period", Kind::Or("once", &Kind::Time(Time::from_ns(1), LONGEST)), "once",
        "time from one incast to the next").only("workload.kind", &["incast"]),
    key("workload.gaps", Kind::Choice(Gaps::WORDS), "regular",
        "times between incasts: all equal to workload.period, or exponential with this mean").unless("workload.period", "once"),
    key("workload.jitter", MOMENT, "0 us",
        "largest delay of a sender's or a rank's start, or of a host's first query; each draws its delay from zero to this")
        .only("workload.kind", &["incast", "query", "all-to-all", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "barrier"]),
    key("workload.start", MOMENT, "0 us", "time at which the sources start"),
    key("workload.stop", Kind::Or("off", &MOMENT), "off", "time at which the sources stop; off: at the end of the run"),
    key("workload.transfers", LINES, "[]",
        "list of transfers, each with start, source, destination and bytes: \"10 us, H1, H2, 1 MB\"; then perhaps its name, and those that it follows: \"5 us, H2, H3, 1 MB, name b, after a\" begins 5 us after a has arrived whole at H2, or is sent from there and acknowledged")
        .only("workload.kind", &["transfers"]),
    key("workload.file", FILE, "off",
        "file of transfers, one a line: start, source, destination, bytes").only("workload.kind", &["transfers"]),
    key("workload.format", Kind::Choice(FileForm::WORDS), "lines",
        "format of workload.file: lines, or a flow file of the HPCC fork of ns-3 or of htsim")
        .only("workload.kind", &["transfers"]),
    key("workload.origin", MOMENT, "0 us",
        "time in the list of transfers that is the start of the run").only("workload.kind", &["transfers"]),
    key("traffic.hosts", LINES, "[]",
        "hosts of a [[traffic]] table: H0..H9, H0..H9/3 or all; the tables replace [workload] and have its keys"),
    key("traffic.name", Kind::Or("off", &Kind::Name(40)), "off",
        "name of this traffic; results show completion, slowdown, throughput and loss of each name"),
    key("hotspot.host", Kind::Or("off", &Kind::List(&Kind::Host)), "off",
        "host or hosts whose switch port slows down; off: none"),
    key("hotspot.rate", Kind::RateOrShare(Rate::ZERO, FASTEST), "2 Gb/s",
        "service rate of the slow port, or a share of the link: 10%").unless("hotspot.host", "off"),
    key("hotspot.start", MOMENT, "100 ms", "time at which the port slows down").unless("hotspot.host", "off"),
    key("hotspot.stop", MOMENT, "500 ms", "time at which the port is back at full rate").unless("hotspot.host", "off"),
    key("hotspot.period", Kind::Or("off", &Kind::Time(Time::from_us(1), LONGEST)), "off",
        "the port alternates: slow for this time, then at full rate for this time; off: slow once").unless("hotspot.host", "off"),
    key("event.at", MOMENT, "0 us", "time at which an [[event]] table changes the service rate of a port"),
    key("event.port", Kind::Port, "", "switch port whose service rate changes: \"X>E5\", or \"X>E5#2\" for the second of several"),
    key("event.rate", Kind::Rate(Rate::ZERO, FASTEST), "10 Gb/s", "service rate of the port from then on"),
    key("event.link", Kind::Line, "",
        "link that loses frames, in an [[event]] table without port: \"L1-S1\", by its two ends; XOFF and XON are never lost"),
    key("event.loss", Kind::Line, "", "probability with which the link loses each frame, data and control: 1e-3 or 0.1 %"),
    key("event.lose", LINES, "[]",
        "frames that the link loses: \"H1>H0 3\" is the third frame of that pair's data to cross it while the table lasts, \"H1>H0#2 3\" that of the pair's second flow, \"H1>H0 ack 3\" the third acknowledgement; what is sent again counts again"),
    key("event.from", MOMENT, "0 us", "time at which the link begins to lose"),
    key("event.to", Kind::Or("off", &MOMENT), "off", "time at which it ends; off: at the end of the run"),
    key("fault.kind", Kind::Choice(FaultKind::WORDS), "xoff",
        "what is wrong in a [[fault]] table: a NIC or switch port says XOFF all the time, or a host reads slower than its link and says XOFF when its buffer is full")
        .only("pause.mode", &["on", "global"]),
    key("fault.host", Kind::Host, "", "host whose NIC has the fault").only("pause.mode", &["on", "global"]),
    key("fault.port", Kind::Port, "", "switch port that has the fault, which stops the far end of its link: \"X>E5\"").only("fault.kind", &["xoff"]),
    key("fault.from", MOMENT, "0 us", "time at which the fault begins"),
    key("fault.to", Kind::Or("off", &MOMENT), "off", "time at which the fault ends; off: at the end of the run"),
    key("fault.rate", Kind::RateOrShare(SLOWEST_SERVICE, FASTEST), "10%",
        "rate at which a slow host reads, or a share of its link").only("fault.kind", &["slow"]),
    key("fault.buffer", MEMORY, "100 KB",
        "bytes that a slow host's NIC holds when it says XOFF; it says XON at half of that").only("fault.kind", &["slow"]),
    key("watchdog.action", Kind::Choice(WatchdogAction::WORDS), "off",
        "what happens at a switch output in a storm of PAUSE: nothing (off), it is counted (alert), what waits and comes there is dropped (drop), or PAUSE is ignored (forward)")
        .only("pause.mode", &["on", "global"]),
    key("watchdog.rule", Kind::Choice(WatchdogRule::WORDS), "continuous",
        "storm: XOFF stands without a break for `detect`, or for 80 or 99 % of a polling interval of `detect`; and a frame waits at the output")
        .unless("watchdog.action", "off"),
    key("watchdog.detect", WATCHED, "1 ms",
        "time in XOFF until a storm is seen, or length of a polling interval; some 400 ms in the field").unless("watchdog.action", "off"),
    key("watchdog.restore", Kind::Or("auto", &WATCHED), "auto",
        "a storm is over when its output was without XOFF for so long; auto: twice `detect`").unless("watchdog.action", "off"),
    key("group.hosts", LINES, "[]", "hosts of a [[group]] table, which run another scheme than the matrix says"),
    key("group.scheme", Kind::Scheme, "none",
        "scheme of the group; feedback to its hosts is delivered, counted and ignored"),
    key("figure.title", TEXT, "", "heading of a [[figure]] table; the report draws it beside its own figures"),
    key("figure.caption", TEXT, "", "text below the figure"),
    key("figure.series", LINES, "[]",
        "time series, one line each: hot_queue, hot_port_throughput, aggregate_throughput, ports_throughput, control_rate (control messages), fairness, \"queue X>E5\", \"sent X>E5\" (the hot port), \"flow H1>H5\", \"limiter H1>H5\", and the gauges of a scheme: \"gauge NAME X>E5\" of a port, \"gauge NAME H1>H5\" of a limiter, \"gauge NAME H1>H5 at its end\" of a reflector"),
    key("figure.metric", TEXT, "none", "metric that the figure shows as bars with intervals, instead of time series"),
    key("figure.conditions", LINES, "[]", "conditions that the figure shows; all without it"),
    key("figure.pause", Kind::List(&Kind::Choice(PauseMode::WORDS)), "[]",
        "PAUSE modes that the figure shows; all without it"),
    key("figure.schemes", SCHEMES, "[]", "schemes that the figure shows; all without it"),
    key("figure.each", Kind::Choice(<Option<Dimension>>::WORDS), "off", "draws one figure for each condition, PAUSE mode or scheme"),
    key("figure.across", Kind::Choice(Dimension::WORDS), "condition", "horizontal axis of a metric"),
    key("timing.rounding", Kind::Choice(Rounding::WORDS), "exact",
        "times on a link: exact to the picosecond, or cut to whole nanoseconds as in ns-3: a link is then too fast, with frames of 1048 B by 1 % at 100 Gb/s, 5 % at 400 and 16 % at 2400"),
    key("timing.ties", Kind::Choice(Ties::WORDS), "port",
        "order of data frames that reach a switch at one moment: by port number, drawn by the seed each time, or by the start of their transmissions as in ns-3"),
    key("run.duration", Kind::Time(Time::from_us(1), LONGEST), "1 s", "simulated time"),
    key("run.seeds", SEEDS, "5", "number of seeds"),
    key("record.bin", Kind::Or("auto", &Kind::Time(Time::from_us(1), Time::from_s(10))), "auto",
        "width of a bin of the time series; auto: 1 ms, or less in runs shorter than 200 ms"),
    key("record.from", MOMENT, "0 us", "start of the measurement of rates, fairness and queue statistics"),
    key("record.to", Kind::Or("end", &MOMENT), "end", "end of the measurement"),
    key("record.host", Kind::Or("auto", &Kind::Host), "auto",
        "receiver whose port is the hot port; auto: that of the hotspot, or the only destination"),
    key("record.port", Kind::Or("auto", &Kind::Port), "auto", "hot port, if it is not the receiver's: \"X>E5\""),
    key("record.ports", Kind::List(&Kind::Port), "[]", "switch ports whose queue is recorded, besides the hot port; of several links between two switches the second is \"X>E5#2\""),
    key("record.flows", Kind::List(&Kind::Flow), "[]",
        "flows whose delivered rate is recorded: \"H1>H5\"; if there are two or more, fairness is over these"),
    key("record.limiters", Kind::List(&Kind::Flow), "[]", "flows whose limiter's rate is recorded: \"H1>H5\""),
    key("record.paused", Kind::Choice(PausedOver::WORDS), "senders",
        "transmitters that `time_paused` averages: sending hosts but the hot one (senders), those of them ever in XOFF (affected), all hosts and links between switches ever in XOFF (touched), or sending hosts and links between switches (all)"),
    key("record.ideal", Kind::Choice(Ideal::WORDS), "exact",
        "ideal completion time of a flow, to the end that record.completion asks for: alone in the network with store and forward (exact), or by the formula of the HPCC fork, whose slowdowns are at least 1"),
    key("record.completion", Kind::Choice(Completed::WORDS), "received",
        "end of a finite flow in completion times and slowdowns: its last byte is received, or its source has the last acknowledgement")
        .only("host.queues", &["per-flow"]),
    key("record.size_bins", Kind::Or("decades", &Kind::Integer(1, 1000)), "20",
        "groups of flows by size: a number of groups with equally many flows, or decades: up to 1 KB, 10 KB, 100 KB, ..."),
    key("record.flow_times", Kind::Or("auto", SWITCHED_REF), "auto",
        "keeps each flow's times for fct.csv; auto: in runs of up to 100,000 flows"),
    key("record.pauses", Kind::Or("auto", SWITCHED_REF), "auto",
        "keeps each XOFF with its causes for pauses.csv and `cnsim explain-pause`, the first 1,000,000 of a run; auto: the first 100,000, where flows have queue pairs")
        .only("pause.mode", &["on", "global"]),
    key("record.latency", SWITCHED, "off", "keeps percentiles of latency"),
];

/// Keys of `[matrix]` and `[[rows]]` beside those that they vary.
#[rustfmt::skip]
pub const MATRIX: &[Key] = &[
    key("condition", TEMPLATE, "", "template that names these rows [default: the scenario's]"),
    key("pause", MODES, "", "PAUSE modes of these rows [default: the scenario's]"),
    key("schemes", SCHEMES, "", "schemes of these rows [default: those of the matrix, or none]"),
    key("seeds", SEEDS, "", "number of seeds of these rows [default: run.seeds]"),
];

/// Names of arrays of tables, whose keys carry a number: `traffic.0.kind`.
pub const TABLES: &[&str] = &["traffic", "event", "fault", "group", "figure"];

pub use crate::text::varied;

/// Names that keys had before, each with that of today.
const RENAMED: &[(&str, &str)] = &[("topology.uplink_rate", "topology.fabric_rate")];

/// The name of today of a key that had another one.
pub(crate) fn renamed(path: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(before, _)| *before == path).map(|(_, now)| *now)
}

/// Finds a key. `[[traffic]]` tables have the keys of the workload, and some of their own.
pub fn find(path: &str) -> Option<&'static Key> {
    let at = |path: &str| KEYS.iter().find(|k| k.path == path);
    let Some((table, rest)) = path.split_once('.').filter(|(t, _)| TABLES.contains(t)) else {
        return at(path);
    };
    let (number, leaf) = rest.split_once('.').unwrap_or(("", rest));
    if !number.is_empty() && number.parse::<usize>().is_err() {
        return None;
    }
    at(&format!("{table}.{leaf}")).or_else(|| {
        if table == "traffic" && leaf != "loads" { at(&format!("workload.{leaf}")) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each default is a value of its kind, and a condition names a value that the other key can have.
    #[test]
    fn defaults_and_conditions_are_values() {
        for k in KEYS {
            let fits = |text: &str| {
                let items = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
                items
                    .unwrap_or(text)
                    .split(',')
                    .map(str::trim)
                    .filter(|t| !t.is_empty())
                    .all(|t| k.kind.read(t).is_ok())
            };
            assert!(k.default.is_empty() || fits(k.default), "{} = {}", k.path, k.default);
            let Some(other) = k.only.key() else { continue };
            let other = find(other).unwrap();
            let values: &[&str] = match &k.only {
                Only::With(_, values) => values,
                Only::Unless(_, value) => std::slice::from_ref(value),
                Only::Always => &[],
            };
            assert!(values.iter().all(|v| other.kind.read(v).is_ok()), "{}", k.path);
        }
    }

    #[test]
    fn numbers_are_part_of_a_path() {
        assert_eq!(find("traffic.12.load").unwrap().path, "workload.load");
        assert!(
            find("traffic.load").is_some()
                && find("traffic.x.load").is_none()
                && find("traffic.0.loads").is_none()
        );
        assert_eq!(varied("rows.3.hotspot.rate"), Some(("rows.3", "hotspot.rate")));
        assert_eq!(varied("rows.x.hotspot.rate"), None);
    }
}
