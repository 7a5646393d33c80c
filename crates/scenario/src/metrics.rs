//! Metrics: definitions, units and tolerances. Crate `measure` computes their values from a run.

/// A metric of a run: id, unit and definition.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in the code.
    pub key: Id,
    /// Id, as in published.csv.
    pub id: &'static str,
    /// Heading of a column.
    pub title: &'static str,
    /// Unit of the values, as tables show it.
    pub unit: &'static str,
    /// Definition, in a sentence that stands alone.
    pub about: &'static str,
    /// Tolerance of the verdict *near*.
    pub tolerance: Tolerance,
    /// The span of simulated time over which the metric is taken.
    pub span: Span,
    /// The finite flows that a time of flows includes; none for other metrics.
    pub times: Option<Times>,
    /// The direction in which the metric gets better; none where it depends on the aim.
    pub better: Option<Better>,
    /// Does the metric concern the hot port alone?
    pub hot: bool,
    /// Is the metric one of the five columns of the published tables?
    pub printed: bool,
    /// Position among the columns of a user's own experiment; none if it has no column there.
    pub own: Option<u8>,
    range: Option<(f64, f64)>,
}

/// Finite flows that a time of flows includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// All flows. Unfinished ones count as longest.
    All,
    /// Finished flows. Two means compare only if the same flows finished.
    Finished,
}

/// The direction in which a metric gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better.
    Lower,
    /// Larger values are better.
    Higher,
}

impl Better {
    /// `lower` or `higher`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

/// Largest distance from the measured mean at which a published value that does not agree still counts as near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// A share of the published value.
    Relative(f64),
    /// A difference in the metric's unit.
    Absolute(f64),
    /// The larger of a share and a difference.
    Either(f64, f64),
}

/// The span over which a metric is taken.
///
/// Rates, fairness, queue statistics and utilisations are taken over the measurement, `record.from` to `record.to`.
/// Counts, times of single events and extremes are taken over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From `record.from` to `record.to`.
    Measurement,
    /// The whole run; `record.from` and `record.to` have no effect.
    Run,
    /// While the hot port is slow; the measurement where there is no hotspot.
    Hotspot,
    /// After the end of the hotspot.
    Afterwards,
}

impl Span {
    /// The span as a sentence, for `cnsim explain`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Measurement => "Taken from record.from to record.to: the whole run unless these are set.",
            Self::Run => "Taken over the whole run; record.from and record.to have no effect.",
            Self::Hotspot => {
                "Taken while the hot port is slow; without a hotspot, from record.from to record.to."
            }
            Self::Afterwards => "Taken after the hotspot; record.from and record.to have no effect.",
        }
    }

    /// The remark for the column `note` of a run with a measurement of its own; none for metrics of the measurement.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Measurement => None,
            Self::Run => Some("of the whole run"),
            Self::Hotspot => Some("of the hotspot"),
            Self::Afterwards => Some("of the time after the hotspot"),
        }
    }
}

impl Metric {
    /// Least and greatest possible value.
    pub fn range(&self) -> (f64, f64) {
        match self.range {
            Some(range) => range,
            None if self.unit == "%" => (0.0, 100.0),
            None => (0.0, f64::INFINITY),
        }
    }
}

impl Tolerance {
    /// The tolerance around this published value.
    pub fn around(self, value: f64) -> f64 {
        match self {
            Self::Relative(share) => share * value.abs(),
            Self::Absolute(difference) => difference,
            Self::Either(share, difference) => (share * value.abs()).max(difference),
        }
    }

    /// The tolerance in words.
    pub fn text(self, unit: &str) -> String {
        match self {
            Self::Relative(s) => format!("{} %", s * 100.0),
            Self::Absolute(d) => format!("{d} {unit}"),
            Self::Either(s, d) => format!("{} % or {d} {unit}", s * 100.0),
        }
    }
}

const fn metric(
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    tolerance: Tolerance,
    about: &'static str,
) -> Metric {
    let (span, times, better, hot, printed, own, range) = (Span::Run, None, None, false, false, None, None);
    // The list of all metrics sets its key.
    let key = Id::AggregateThroughput;
    Metric { key, id, title, unit, about, tolerance, span, times, better, hot, printed, own, range }
}

impl Metric {
    const fn over(self, span: Span) -> Self {
        Self { span, ..self }
    }

    const fn ranging(self, least: f64, greatest: f64) -> Self {
        Self { range: Some((least, greatest)), ..self }
    }

    const fn times(self, of: Times) -> Self {
        Self { times: Some(of), ..self }
    }

    const fn lower(self) -> Self {
        Self { better: Some(Better::Lower), ..self }
    }

    const fn higher(self) -> Self {
        Self { better: Some(Better::Higher), ..self }
    }

    const fn hot(self) -> Self {
        Self { hot: true, ..self }
    }

    const fn printed(self) -> Self {
        Self { printed: true, ..self }
    }

    const fn own(self, place: u8) -> Self {
        Self { own: Some(place), ..self }
    }
}

/// The metrics by which an experiment of one's own is shown, in their order: tails before means.
pub fn own() -> Vec<&'static Metric> {
    let mut all: Vec<&Metric> = METRICS.iter().filter(|m| m.own.is_some()).collect();
    all.sort_by_key(|m| m.own);
    all
}

/// Declares the metrics: the name of each in the code, and its row.
macro_rules! metrics {
    ($($name:ident = $row:expr,)*) => {
        /// The id of a metric; its text and all else stand in its row ([`Id::row`]).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Id {
            $(#[allow(missing_docs, reason = "the row says it")] $name,)*
        }

        /// All metrics, published ones first.
        pub const METRICS: &[Metric] = &[$(Metric { key: Id::$name, ..$row },)*];
    };
}

impl Id {
    /// The row of the metric.
    pub const fn row(self) -> &'static Metric {
        &METRICS[self as usize]
    }

    /// The id as results write it.
    pub const fn text(self) -> &'static str {
        self.row().id
    }
}

impl AsRef<str> for Id {
    fn as_ref(&self) -> &str {
        self.text()
    }
}

// All metrics, published ones first. Crate `measure` says how the value of each comes out of a run: it does not compile without.
#[rustfmt::skip]
metrics! {
    AggregateThroughput = metric("aggregate_throughput", "aggregate", "Gb/s", Tolerance::Relative(0.03),
        "data rate delivered to all hosts: the payload of finite flows, whole frames of endless sources; drops and control frames excluded").over(Span::Measurement).printed().own(11).higher(),
    HotPortThroughput = metric("hot_port_throughput", "hot port", "Gb/s", Tolerance::Relative(0.03),
        "data rate delivered to the hot host").over(Span::Measurement).hot().printed().own(12).higher(),
    TimePaused = metric("time_paused", "paused", "%", Tolerance::Absolute(0.5),
        "share of the time in XOFF, mean over the transmitters of record.paused; by default all sending hosts but the hot one")
        .printed().own(15).lower(),
    DroppedFrames = metric("dropped_frames", "dropped", "frames", Tolerance::Either(0.01, 100.0),
        "data frames discarded in switches; source_discards counts those that a source discards").printed().own(17).lower(),
    Overhead = metric("overhead", "overhead", "Mb/s", Tolerance::Relative(0.05),
        "bits of all control messages over the duration, and with queue pairs those of acknowledgements, telemetry in data frames and frames sent again; each message and each broadcast counts once, PAUSE does not count")
        .printed().own(19).lower(),
    Goodput = metric("goodput", "goodput", "Gb/s", Tolerance::Relative(0.03),
        "payload of finite flows delivered to all hosts, without headers and telemetry; of a part of the run it needs finite flows alone")
        .over(Span::Measurement).own(10).higher(),
    InnocentThroughput = metric("innocent_throughput", "innocents", "Gb/s", Tolerance::Relative(0.03),
        "data rate delivered to all hosts but the hot one").over(Span::Measurement).higher(),
    RecoveryTime = metric("recovery_time", "recovery", "ms", Tolerance::Relative(0.05),
        "time after the hotspot until hot-port throughput, as a mean over 20 ms, reaches 95 % of its mean in the 50 ms before the hotspot; else the rest of the run")
        .over(Span::Afterwards).lower(),
    RecoveryDeficit = metric("recovery_deficit", "deficit", "ms", Tolerance::Relative(0.05),
        "integral of (earlier - present) / earlier over the time after the hotspot, of the hot-port throughput")
        .over(Span::Afterwards).ranging(f64::NEG_INFINITY, f64::INFINITY).lower(),
    BottleneckUtilization = metric("bottleneck_utilization", "utilisation", "%", Tolerance::Relative(0.03),
        "bits delivered by the hot port during the hotspot, divided by those that its service rate allows; whole bins only, at most 100 %")
        .over(Span::Hotspot).higher(),
    MeanHotQueue = metric("mean_hot_queue", "mean queue", "KB", Tolerance::Relative(0.05),
        "mean length of the hot queue while its port is slow, or without a hotspot in the measurement; sampled at each bin's end")
        .over(Span::Hotspot).hot().own(21),
    SdHotQueue = metric("sd_hot_queue", "sd of queue", "KB", Tolerance::Relative(0.05),
        "standard deviation of the hot queue's length while its port is slow, or without a hotspot in the measurement; sampled at each bin's end")
        .over(Span::Hotspot).lower(),
    QueueP99 = metric("queue_p99", "99 % queue", "KB", Tolerance::Relative(0.05),
        "99th percentile of the hot queue's length while its port is slow, or without a hotspot in the measurement; needs 100 samples, one at each bin's end")
        .over(Span::Hotspot).lower(),
    QueueMax = metric("queue_max", "largest queue", "KB", Tolerance::Relative(0.05),
        "largest queue of any switch port at any moment").own(18).lower(),
    HeadroomMax = metric("headroom_max", "headroom used", "KB", Tolerance::Relative(0.1),
        "most bytes in all headroom of any switch with a shared buffer").lower(),
    SharedMax = metric("shared_max", "pool used", "KB", Tolerance::Relative(0.1),
        "most bytes in the pool of any switch with a shared buffer, rounded up to a 64th of it").lower(),
    Pauses = metric("pauses", "XOFF sent", "", Tolerance::Relative(0.05), "XOFF messages sent by all switch ports").lower(),
    Xoffs = metric("xoffs", "XOFF kept", "", Tolerance::Relative(0.05),
        "XOFFs that a run keeps with their causes (record.pauses), one for each transmitter that is told to stop").lower(),
    PauseRoots = metric("pause_roots", "roots of PAUSE", "", Tolerance::Absolute(0.5),
        "outputs that are the cause of time in XOFF: too slow for what came, or serving nothing, and not stopped themselves; and faults that say XOFF; needs record.pauses").lower(),
    PausedHosts = metric("paused_hosts", "hosts paused", "", Tolerance::Relative(0.05),
        "hosts that were ever in XOFF, each NIC of several counted for itself; needs record.pauses").lower(),
    PausedLinks = metric("paused_links", "ports paused", "", Tolerance::Relative(0.05),
        "ports of switches that were ever in XOFF; needs record.pauses").lower(),
    Victims = metric("victims", "victims of PAUSE", "", Tolerance::Relative(0.05),
        "finite flows that stood in XOFF for a root that they do not go by: of several roots that of the longest time; where each frame has a way of its own, by none of these ways; needs record.pauses").lower(),
    VictimTime = metric("victim_time", "time of victims", "ms", Tolerance::Relative(0.05),
        "sum over the victims of the time from start to end in which a transmitter of their way was in XOFF, an upper bound of what XOFF cost them; needs record.pauses").lower(),
    WatchdogTriggers = metric("watchdog_triggers", "storms seen", "", Tolerance::Absolute(0.5),
        "storms of PAUSE that the watchdogs of switch outputs saw; needs watchdog.action").lower(),
    WatchdogDrops = metric("watchdog_drops", "dropped in storms", "frames", Tolerance::Either(0.01, 10.0),
        "data frames that watchdogs dropped; they are among the dropped frames").lower(),
    LostOnLinks = metric("lost_on_links", "lost on links", "frames", Tolerance::Either(0.01, 10.0),
        "data frames that links lost (event.link); they are not among the dropped frames").lower(),
    MeanLatency = metric("mean_latency", "latency", "us", Tolerance::Relative(0.05),
        "mean time from a data frame's generation to its reception").lower(),
    SourceDiscards = metric("source_discards", "source discards", "frames", Tolerance::Either(0.01, 100.0),
        "frames that a source discarded because its queue was full").lower(),
    ControlMessages = metric("control_messages", "messages", "", Tolerance::Relative(0.05),
        "control messages made; a broadcast counts once").lower(),
    Throughput = metric("throughput", "throughput", "Gb/s", Tolerance::Relative(0.03),
        "data rate delivered to the one receiver").over(Span::Measurement).higher(),
    InnocentFlowUtilization = metric("innocent_flow_utilization", "innocent utilisation", "%", Tolerance::Relative(0.03),
        "throughput of the flows to other hosts than the hot one, over their offered load; at most 100 %")
        .over(Span::Measurement).higher(),
    VictimFlowUtilization = metric("victim_flow_utilization", "victim utilisation", "%", Tolerance::Relative(0.03),
        "data delivered by the hot port, divided by its capacity during the hotspot and by its offered load before and after").higher(),
    VictimUtilizationOtherwise = metric("victim_utilization_otherwise", "victim otherwise", "%", Tolerance::Relative(0.03),
        "hot-port throughput while the port is not slow, over its offered load").higher(),
    FlowRate = metric("flow_rate", "flow rate", "Mb/s", Tolerance::Relative(0.03),
        "mean delivered rate of the flows with a fixed destination").over(Span::Measurement).higher(),
    FlowRateMin = metric("flow_rate_min", "least flow", "Mb/s", Tolerance::Relative(0.03),
        "least delivered rate of a flow with a fixed destination").over(Span::Measurement).higher(),
    FlowRateMax = metric("flow_rate_max", "greatest flow", "Mb/s", Tolerance::Relative(0.03),
        "greatest delivered rate of a flow with a fixed destination").over(Span::Measurement),
    ThroughputLoss = metric("throughput_loss", "loss", "Gb/s", Tolerance::Relative(0.03),
        "capacity of the bottleneck less the data rate through it; the bottleneck is the switch port with the largest load of data and control")
        .over(Span::Measurement).ranging(f64::NEG_INFINITY, f64::INFINITY).own(13).lower(),
    AggregateLoss = metric("aggregate_loss", "aggregate loss", "Gb/s", Tolerance::Relative(0.03),
        "sum of the max-min fair rates of all flows, without control traffic, less the aggregate throughput")
        .over(Span::Measurement).ranging(f64::NEG_INFINITY, f64::INFINITY).lower(),
    BottleneckControl = metric("bottleneck_control", "control at bottleneck", "Mb/s", Tolerance::Relative(0.05),
        "rate of control frames through the bottleneck over the run: the switch port with the largest load of data and control").lower(),
    Fairness = metric("fairness", "fairness", "", Tolerance::Absolute(0.02),
        "mean over bins of Jain's index of the recorded flows whose source is on; bins within 2 ms after an on-off change are left out")
        .over(Span::Measurement).ranging(0.0, 1.0).own(14).higher(),
    PortsThroughput = metric("ports_throughput", "through the ports", "Gb/s", Tolerance::Relative(0.03),
        "sum of the data rates through the switch ports that the scenario lists").over(Span::Measurement).higher(),
    PortThroughput = metric("port_throughput", "through the port", "Gb/s", Tolerance::Relative(0.03),
        "data rate through the first of several switch ports that the scenario lists").over(Span::Measurement).higher(),
    DiscardedPositives = metric("discarded_positives", "discarded positives", "", Tolerance::Relative(0.05),
        "positive messages that a reaction point discarded, as it had no limiter or one of another congestion point"),
    DiscardedPositiveShare = metric("discarded_positive_share", "discarded, share", "%", Tolerance::Absolute(2.0),
        "share of positive messages that a reaction point discarded (discarded_positives)"),
    PointChanges = metric("point_changes", "CPID changes", "", Tolerance::Relative(0.05),
        "number of times that a limiter passed from one congestion point to another"),
    MeanHotQueueLate = metric("mean_hot_queue_late", "late mean queue", "KB", Tolerance::Relative(0.05),
        "mean length of the hot queue in the second half of the hotspot").over(Span::Hotspot),
    LateDrops = metric("late_drops", "late drops", "frames", Tolerance::Either(0.01, 100.0),
        "data frames discarded in the second half of the hotspot (single switch)").over(Span::Hotspot).lower(),
    InnocentDropShare = metric("innocent_drop_share", "innocent drops", "%", Tolerance::Absolute(2.0),
        "share of the discarded frames that were addressed to other hosts than the hot one").lower(),
    TimePausedSenders = metric("time_paused_senders", "paused, senders", "%", Tolerance::Absolute(0.5),
        "share of the time in XOFF, mean over all sending hosts but the hot one").lower(),
    TimePausedAffected = metric("time_paused_affected", "paused, affected", "%", Tolerance::Absolute(0.5),
        "share of the time in XOFF, mean over the sending hosts but the hot one; only those that were ever in XOFF").lower(),
    TimePausedTouched = metric("time_paused_touched", "paused, touched", "%", Tolerance::Absolute(0.5),
        "share of the time in XOFF, mean over all hosts and links between switches that were ever in XOFF").lower(),
    TimePausedLinks = metric("time_paused_links", "paused links", "%", Tolerance::Absolute(0.5),
        "share of the time in XOFF, mean over the transmitters of links between switches").own(16).lower(),
    TimePausedAll = metric("time_paused_all", "paused, all", "%", Tolerance::Absolute(0.5),
        "share of the time in XOFF, mean over sending hosts and links between switches together").lower(),
    LatencyP50 = metric("latency_p50", "median latency", "us", Tolerance::Relative(0.05),
        "median time from a frame's generation to its reception; interpolated in a histogram of 16 buckets an octave").lower(),
    LatencyP99 = metric("latency_p99", "99 % latency", "us", Tolerance::Relative(0.05),
        "99th percentile of the time from a frame's generation to its reception").own(9).lower(),
    LatencyP999 = metric("latency_p999", "99.9 % latency", "us", Tolerance::Relative(0.05),
        "99.9th percentile of the time from a frame's generation to its reception").lower(),
    CompletedTransfers = metric("completed_transfers", "completed", "", Tolerance::Relative(0.01), "finite flows that were received whole, and acknowledged if record.completion asks for it").higher(),
    IncompleteTransfers = metric("incomplete_transfers", "incomplete", "", Tolerance::Relative(0.01),
        "finite flows that are not complete: they were under way at the end, lost frames, or lack the acknowledgement that record.completion asks for").lower(),
    FinishedFlows = metric("finished_flows", "finished", "%", Tolerance::Relative(0.01),
        "share of the finite flows that are complete (completed_transfers)").own(1).higher(),
    CompletionTime = metric("completion_time", "completion time", "us", Tolerance::Relative(0.05),
        "mean time from the start of a finite flow to its end (record.completion: reception of its last byte, or the last acknowledgement), over finished flows")
        .times(Times::Finished).own(20).lower(),
    CompletionTimeP50 = metric("completion_time_p50", "median completion", "us", Tolerance::Relative(0.05),
        "median completion time over all finite flows; unfinished flows count as longest").times(Times::All).lower(),
    CompletionTimeP90 = metric("completion_time_p90", "90 % completion", "us", Tolerance::Relative(0.05),
        "90th percentile of the completion time over all finite flows; unfinished flows count as longest").times(Times::All).lower(),
    CompletionTimeP95 = metric("completion_time_p95", "95 % completion", "us", Tolerance::Relative(0.05),
        "95th percentile of the completion time over all finite flows; unfinished flows count as longest").times(Times::All).lower(),
    CompletionTimeP99 = metric("completion_time_p99", "99 % completion", "us", Tolerance::Relative(0.05),
        "99th percentile of the completion time over all finite flows; unfinished flows count as longest")
        .times(Times::All).own(8).lower(),
    CompletionTimeP999 = metric("completion_time_p999", "99.9 % completion", "us", Tolerance::Relative(0.05),
        "99.9th percentile of the completion time over all finite flows; unfinished flows count as longest").times(Times::All).lower(),
    CompletionTimeMax = metric("completion_time_max", "longest completion", "us", Tolerance::Relative(0.05),
        "longest completion time over all finite flows; unfinished flows count as longest").times(Times::All).lower(),
    SmallCompletionP50 = metric("small_completion_p50", "median, small flows", "us", Tolerance::Relative(0.05),
        "median completion time over all finite flows below 100 KB; unfinished flows count as longest").times(Times::All).lower(),
    SmallCompletionP90 = metric("small_completion_p90", "90 %, small flows", "us", Tolerance::Relative(0.05),
        "90th percentile of the completion time over all finite flows below 100 KB; unfinished flows count as longest")
        .times(Times::All).lower(),
    Slowdown = metric("slowdown", "slowdown", "", Tolerance::Relative(0.05),
        "mean over finished flows of completion time over ideal completion time (record.ideal), both to the end of record.completion; a flow alone in its network has 1")
        .times(Times::Finished).ranging(1.0, f64::INFINITY).lower(),
    SlowdownP50 = metric("slowdown_p50", "median slowdown", "", Tolerance::Relative(0.05),
        "median slowdown over all finite flows; unfinished flows count as slowest").times(Times::All).ranging(1.0, f64::INFINITY).lower(),
    SlowdownP95 = metric("slowdown_p95", "95 % slowdown", "", Tolerance::Relative(0.05),
        "95th percentile of the slowdown over all finite flows; unfinished flows count as slowest").times(Times::All).ranging(1.0, f64::INFINITY).lower(),
    SlowdownP99 = metric("slowdown_p99", "99 % slowdown", "", Tolerance::Relative(0.05),
        "99th percentile of the slowdown over all finite flows; unfinished flows count as slowest").times(Times::All).ranging(1.0, f64::INFINITY).lower(),
    SlowdownP999 = metric("slowdown_p999", "99.9 % slowdown", "", Tolerance::Relative(0.05),
        "99.9th percentile of the slowdown over all finite flows; unfinished flows count as slowest").times(Times::All).ranging(1.0, f64::INFINITY).lower(),
    FlowsBelowIdeal = metric("flows_below_ideal", "beat their ideal", "", Tolerance::Either(0.05, 1.0),
        "finite flows that were faster than their ideal time, whose slowdown counts as 1; possible only with the formula of the HPCC fork (record.ideal)"),
    MarkedShare = metric("marked_share", "marked", "%", Tolerance::Absolute(2.0),
        "share of the acknowledged bytes whose frames were marked; needs acknowledgements of queue pairs"),
    ResentShare = metric("resent_share", "sent again", "%", Tolerance::Absolute(0.5),
        "share of the data frames of queue pairs on their source's link that were sent before").lower(),
    Timeouts = metric("timeouts", "timeouts", "", Tolerance::Relative(0.05),
        "number of times that a queue pair sent again because nothing was acknowledged for the time of its timeout").lower(),
    Recoveries = metric("recoveries", "recoveries", "", Tolerance::Relative(0.05),
        "losses that selective repeat or TCP found before a timeout, all of a window as one").lower(),
    OutOfOrderP99 = metric("out_of_order_p99", "99 % out of order", "frames", Tolerance::Absolute(0.5),
        "99th percentile of how many later frames of its flow came before a frame, of selective repeat and TCP").lower(),
    ReorderBytesMax = metric("reorder_bytes_max", "most out of order", "KB", Tolerance::Relative(0.05),
        "most bytes of a flow that had come out of order and waited for a frame before them, of selective repeat and TCP").lower(),
    RttP50 = metric("rtt_p50", "median RTT", "us", Tolerance::Relative(0.05),
        "median time from the start of a frame's transmission to the arrival of its acknowledgement; interpolated in a histogram of 16 buckets an octave").lower(),
    RttP99 = metric("rtt_p99", "99 % RTT", "us", Tolerance::Relative(0.05),
        "99th percentile of the time from the start of a frame's transmission to the arrival of its acknowledgement").lower(),
    SlowedFlows = metric("slowed_flows", "slowed", "", Tolerance::Relative(0.05),
        "limiters whose rate or window the scheme lowered after their begin: one for each flow with a queue pair, else for each pair of hosts or host, anew each time that the scheme makes one"),
    JobTime = metric("job_time", "job time", "ms", Tolerance::Relative(0.05),
        "time from the begin of a collective's first rank to the end of its last, all rounds and gaps; of several collectives the longest")
        .lower().own(2),
    BusBandwidth = metric("bus_bandwidth", "bus bandwidth", "GB/s", Tolerance::Relative(0.05),
        "bytes of a collective over the mean time of its rounds, times the factor of nccl-tests: 2(n-1)/n of an all-reduce; the time of a round is that of its slowest rank; of several collectives the least")
        .higher().own(3),
    StragglerTime = metric("straggler_time", "straggler", "us", Tolerance::Relative(0.05),
        "time from the end of the first rank to the end of the last, mean over a collective's rounds; of several collectives the longest").lower().own(4),
    NetworkShare = metric("network_share", "network share", "%", Tolerance::Absolute(2.0),
        "share of transfers in the time of a collective's critical path; the rest are computations and gaps; of several collectives the largest").lower(),
    QueryTime = metric("query_time", "query", "ms", Tolerance::Relative(0.05),
        "time of a query, from its requests to the last byte of its last answer, mean over all queries; one that is not done has lasted to the end of the run").lower().own(5),
    QueryTimeP99 = metric("query_time_p99", "99 % query", "ms", Tolerance::Relative(0.05),
        "99th percentile of the times of queries").lower().own(6),
    QueryGoodput = metric("query_goodput", "query goodput", "Gb/s", Tolerance::Relative(0.05),
        "payload of the answers to queries that are done, over the time of all queries").higher().own(7),
    ControlDiscarded = metric("control_discarded", "control discarded", "", Tolerance::Relative(0.05),
        "control messages that found no room in a queue of a switch").lower(),
    FeedbackIgnored = metric("feedback_ignored", "feedback ignored", "", Tolerance::Relative(0.05),
        "feedback messages that reached a host without a reaction point for them"),
    FeedbackLost = metric("feedback_lost", "feedback lost", "", Tolerance::Relative(0.05),
        "feedback messages lost by the fault that host.feedback_lost sets"),
    FrozenSince = metric("frozen_since", "frozen since", "ms", Tolerance::Relative(0.05),
        "time of the last delivery in a frozen network: frames wait at the end, and none was delivered in the last tenth of the run"),
}

/// Finds a metric by its id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|m| m.id == id)
}

/// Is the value zero by construction? Then its agreement is no evidence.
pub fn structural_zero(metric: &str, pause: &str, scheme: &str) -> bool {
    match find(metric).map(|m| m.key) {
        Some(Id::DroppedFrames) => pause != "off",
        Some(Id::TimePaused) => pause == "off",
        Some(Id::Overhead | Id::ControlMessages) => scheme == "none",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart() {
        for (i, m) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|other| other.id != m.id && other.title != m.title), "{}", m.id);
            assert!(!m.about.is_empty() && !m.about.ends_with('.'), "{}", m.id);
        }
        let own = own();
        let places: Vec<Option<u8>> = own.iter().map(|m| m.own).collect();
        assert_eq!(places, (1..=own.len() as u8).map(Some).collect::<Vec<_>>());
        // Tails before means, with the share of flows that finished before both.
        let at = |id: &str| own.iter().position(|m| m.id == id).unwrap();
        assert!(
            at("finished_flows") < at("completion_time_p99")
                && at("completion_time_p99") < at("completion_time")
        );
        assert!(find("completion_time_p99").unwrap().times == Some(Times::All));
        let better =
            ["completion_time_p99", "finished_flows", "frozen_since"].map(|id| find(id).unwrap().better);
        assert_eq!(better, [Some(Better::Lower), Some(Better::Higher), None]);
        assert_eq!(find("throughput_loss").unwrap().range(), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(find("slowdown_p99").unwrap().range(), (1.0, f64::INFINITY));
        assert_eq!(
            (find("time_paused").unwrap().range().1, find("recovery_time").unwrap().span),
            (100.0, Span::Afterwards)
        );
    }
}
