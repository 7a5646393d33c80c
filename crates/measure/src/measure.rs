//! How each metric comes out of a run: one line for each row of [`cnsim_scenario::metrics`].

use crate::fair::max_min;
use crate::fct::{self, Ordered, Timed};
use crate::flow_times::Flows;
use crate::pauses::{Forest, Stops};
use crate::rates::{fairness, mean, measured, quantile, rate, rate_of, received, sent, share, slice};
use crate::stats::Summary;
use cnsim_fabric::{HostOutcome, Outcome, Routing, SeriesKind, SharedUse, Storm, latency_quantile};
use cnsim_scenario::metrics::{Id, METRICS};
use cnsim_scenario::settings::{Hotspot, Settings};
use cnsim_scenario::tables::record::PausedOver;
use cnsim_scenario::workload::SourcePlan;
use cnsim_scheme_api::{Counter, NodeId, Time};
use cnsim_schemes::counters::{
    ANSWERS_POSITIVE, CPID_CHANGES, FALSE_POSITIVES, POINT_CHANGES, POSITIVE_MESSAGES,
};
use std::cell::OnceCell;

/// Where the value of a metric comes from.
#[derive(Clone, Copy)]
enum How {
    /// From a run.
    Run(fn(&Run<'_>) -> Option<f64>),
    /// From finite flows, of a run or of its traffic of a name.
    Flows(fn(&Completions<'_>) -> Option<f64>),
    /// Of collectives ([`crate::jobs::measured`]).
    Jobs,
    /// A percentile of finite flows. It is a lower bound if the flow that it falls on was not received whole.
    Quantile(for<'a> fn(&'a Completions<'_>) -> &'a Ordered, f64),
}

/// Declares the value of each metric: none where a run has nothing of the kind.
macro_rules! values {
    ($($($name:ident)|+ => $value:expr,)*) => {
        const fn how(id: Id) -> How {
            use How::{Flows, Jobs, Quantile, Run};
            match id {
                $($(Id::$name)|+ => $value,)*
            }
        }
    };
}

#[rustfmt::skip]
values! {
    AggregateThroughput => Run(|r| Some(r.total())),
    JobTime | BusBandwidth | StragglerTime | NetworkShare | QueryTime | QueryTimeP99 | QueryGoodput => Jobs,
    HotPortThroughput | Throughput => Run(|r| Some(r.hot()?.rate)),
    TimePaused => Run(|r| Some(match r.settings.record.paused {
        PausedOver::Senders => mean(&r.stood().hosts),
        PausedOver::Affected => r.stood().affected(),
        PausedOver::Touched => r.stood().touched,
        PausedOver::All => r.stood().both(),
    })),
    TimePausedSenders => Run(|r| Some(mean(&r.stood().hosts))),
    TimePausedAffected => Run(|r| Some(r.stood().affected())),
    TimePausedTouched => Run(|r| Some(r.stood().touched)),
    TimePausedLinks => Run(|r| r.stood().between().map(mean)),
    TimePausedAll => Run(|r| r.stood().between().map(|_| r.stood().both())),
    DroppedFrames => Run(|r| Some(r.out.dropped() as f64)),
    SourceDiscards => Run(|r| Some(r.of_hosts(|h| h.source_discards))),
    Overhead => Run(|r| Some(r.overhead_bits() as f64 / r.seconds() / 1e6)),
    Goodput => Run(|r| r.goodput()),
    ControlMessages => Run(|r| Some(r.out.messages.made as f64)),
    SlowedFlows => Run(|r| Some(r.of_hosts(|h| h.slowed_flows))),
    ControlDiscarded => Run(|r| Some(r.out.messages.discarded as f64)),
    FeedbackIgnored => Run(|r| Some(r.out.messages.ignored as f64)),
    FeedbackLost => Run(|r| Some(r.out.messages.lost as f64)),
    InnocentThroughput => Run(|r| Some(r.total() - r.hot()?.rate)),
    InnocentFlowUtilization => Run(|r| r.innocent_utilization()),
    InnocentDropShare => Run(|r| r.innocent_drops()),
    MeanHotQueue => Run(|r| Some(Summary::of(&r.hot()?.queue)?.mean)),
    SdHotQueue => Run(|r| Some(Summary::of(&r.hot()?.queue)?.sd)),
    MeanHotQueueLate => Run(|r| Some(&r.hot()?.queue).filter(|q| !q.is_empty()).map(|q| mean(&q[q.len() / 2..]))),
    QueueP99 => Run(|r| quantile(&r.hot()?.queue, 0.99)),
    LateDrops => Run(|r| r.late_drops()),
    BottleneckUtilization => Run(|r| r.slow().filter(|s| s.spot.rate.bps() > 0.0).map(|s| share(s.mean / s.spot.rate.bps()))),
    VictimUtilizationOtherwise => Run(|r| r.victim(|v| v.bits / v.rest / v.offered)),
    VictimFlowUtilization => Run(|r| r.victim(|v| v.delivered / (v.slow + v.rest * v.offered))),
    RecoveryTime => Run(|r| r.recovery().map(|a| a.time())),
    RecoveryDeficit => Run(|r| r.recovery().map(|a| a.deficit())),
    QueueMax => Run(|r| Some(r.out.switches.iter().flat_map(|s| &s.ports).map(|p| p.queue_max).max().unwrap_or(0) as f64 / 1e3)),
    HeadroomMax => Run(|r| r.most_shared(|s| s.headroom)),
    SharedMax => Run(|r| r.most_shared(|s| s.pool)),
    Pauses => Run(|r| Some(r.out.switches.iter().flat_map(|s| &s.ports).map(|p| p.xoffs).sum::<u64>() as f64)),
    Xoffs => Run(|r| Some(r.pauses?.stops.xoffs.len() as f64)),
    PauseRoots => Run(|r| Some(Forest::of(r.pauses?.stops, |_| true).by_time().len() as f64)),
    PausedHosts => Run(|r| r.pauses.map(|_| r.out.hosts.iter().filter(|h| h.pause.time > Time::ZERO).count() as f64)),
    PausedLinks => Run(|r| {
        let ports = r.out.switches.iter().flat_map(|s| &s.ports);
        r.pauses.map(|_| ports.filter(|p| p.paused > Time::ZERO).count() as f64)
    }),
    Victims => Run(|r| Some(r.pauses?.victims?.0 as f64)),
    VictimTime => Run(|r| Some(r.pauses?.victims?.1 as f64 / 1e9)),
    WatchdogTriggers => Run(|r| Some(r.storms()?.count() as f64)),
    WatchdogDrops => Run(|r| Some(r.storms()?.map(|s| s.dropped).sum::<u64>() as f64)),
    LostOnLinks => Run(|r| r.settings.loses().then(|| r.out.lost_on_links.iter().map(|end| end.data).sum::<u64>() as f64)),
    MeanLatency => Run(|r| {
        let latency: f64 = r.out.hosts.iter().map(|h| h.latencies.sum.as_secs_f64()).sum();
        Some(latency / r.of_hosts(|h| h.delivered).max(1.0) * 1e6)
    }),
    LatencyP50 => Run(|r| r.latency(0.5)),
    LatencyP99 => Run(|r| r.latency(0.99)),
    LatencyP999 => Run(|r| r.latency(0.999)),
    FlowRate => Run(|r| (!r.rates().is_empty()).then(|| mean(r.rates()))),
    FlowRateMin => Run(|r| r.rates().iter().copied().min_by(f64::total_cmp)),
    FlowRateMax => Run(|r| r.rates().iter().copied().max_by(f64::total_cmp)),
    ThroughputLoss => Run(|r| Some(r.bottleneck()?.loss)),
    BottleneckControl => Run(|r| Some(r.bottleneck()?.control * 1e3)),
    AggregateLoss => Run(|r| r.aggregate_loss()),
    Fairness => Run(|r| {
        let indices = fairness(r.settings, r.out);
        let steady: Vec<f64> = measured(r.settings, &indices).iter().filter(|i| i.1).filter_map(|i| i.0).collect();
        (!steady.is_empty()).then(|| mean(&steady))
    }),
    PortsThroughput => Run(|r| r.several_ports().map(|all| all.sum::<f64>() / 1e9)),
    PortThroughput => Run(|r| Some(r.several_ports()?.next()? / 1e9)),
    DiscardedPositives => Run(|r| Some(r.positives()?.0)),
    DiscardedPositiveShare => Run(|r| r.positives().map(|(discarded, all)| discarded / all.max(1.0) * 100.0)),
    PointChanges => Run(|r| r.counter(&CPID_CHANGES).or_else(|| r.counter(&POINT_CHANGES))),
    CompletedTransfers => Flows(|f| Some(f.whole())),
    IncompleteTransfers => Flows(|f| Some(f.flows.len() as f64 - f.whole())),
    FinishedFlows => Flows(|f| Some(f.whole() / f.flows.len() as f64 * 100.0)),
    CompletionTime => Flows(|f| f.times().mean()),
    CompletionTimeP50 => Quantile(|f| f.times(), 0.5),
    CompletionTimeP90 => Quantile(|f| f.times(), 0.9),
    CompletionTimeP95 => Quantile(|f| f.times(), 0.95),
    CompletionTimeP99 => Quantile(|f| f.times(), 0.99),
    CompletionTimeP999 => Quantile(|f| f.times(), 0.999),
    CompletionTimeMax => Quantile(|f| f.times(), 1.0),
    SmallCompletionP50 => Quantile(|f| f.small(), 0.5),
    SmallCompletionP90 => Quantile(|f| f.small(), 0.9),
    Slowdown => Flows(|f| f.slowdowns().mean()),
    SlowdownP50 => Quantile(|f| f.slowdowns(), 0.5),
    SlowdownP95 => Quantile(|f| f.slowdowns(), 0.95),
    SlowdownP99 => Quantile(|f| f.slowdowns(), 0.99),
    SlowdownP999 => Quantile(|f| f.slowdowns(), 0.999),
    FlowsBelowIdeal => Flows(|f| f.slowdowns().mean().map(|_| fct::beat_ideal(f.flows) as f64)),
    MarkedShare => Run(|r| {
        let acked = r.of_pairs(|h| h.transport.acked).filter(|acked| *acked > 0.0)?;
        Some(share(r.of_hosts(|h| h.transport.marked) / acked))
    }),
    ResentShare => Run(|r| Some(share(r.of_pairs(|h| h.transport.resent)? / r.of_hosts(|h| h.sent).max(1.0)))),
    Timeouts => Run(|r| r.of_pairs(|h| h.transport.timeouts)),
    Recoveries => Run(|r| r.unordered().then(|| r.of_hosts(|h| h.transport.recoveries))),
    // The histogram counts frames where others count nanoseconds, so a microsecond is a thousand.
    OutOfOrderP99 => Run(|r| Some((quantile_of(r.out.hosts.iter().map(|h| &h.out_of_order), 0.99)? * 1e3).floor())),
    ReorderBytesMax => Run(|r| r.unordered().then(|| r.out.hosts.iter().map(|h| h.held_max).max().unwrap_or(0) as f64 / 1e3)),
    RttP50 => Run(|r| r.rtt(0.5)),
    RttP99 => Run(|r| r.rtt(0.99)),
    FrozenSince => Run(|r| r.out.freeze.last_delivery.map(|at| at.as_secs_f64() * 1e3)),
}

/// The XOFFs of a run that are kept, and the flows that stood for others.
#[derive(Clone, Copy, Debug)]
pub struct Pauses<'a> {
    /// The XOFFs, with their causes.
    pub stops: &'a Stops,
    /// Number of victims, and the time that they stood, ps; none where ways of flows are not known.
    pub victims: Option<(usize, u64)>,
}

/// A run, as its metrics look at it. A value that several metrics need is worked out once.
#[derive(Debug)]
pub struct Run<'a> {
    settings: &'a Settings,
    out: &'a Outcome,
    times: &'a Flows,
    flows: Completions<'a>,
    pauses: Option<Pauses<'a>>,
    total: OnceCell<f64>,
    stood: OnceCell<Stood>,
    hot: OnceCell<Option<Hot>>,
    bottleneck: OnceCell<Option<Bottleneck>>,
    rates: OnceCell<Vec<f64>>,
}

/// Shares of the run in XOFF, per cent.
#[derive(Debug)]
struct Stood {
    /// Of each sending host but the hot one.
    hosts: Vec<f64>,
    /// Of each transmitter of a link between switches.
    links: Vec<f64>,
    /// Mean over all hosts and links between switches that were ever in XOFF.
    touched: f64,
}

/// Throughput and queue of the hot port.
#[derive(Debug)]
struct Hot {
    /// Data rate delivered, Gb/s.
    rate: f64,
    /// Queue of the hot port in its slow spans, else in the measurement, KB; empty if it is not recorded.
    queue: Vec<f64>,
    /// The spans in which it was slow, or the measurement, s.
    windows: Vec<(f64, f64)>,
}

/// The hot port while it was slow.
struct Slow<'a> {
    spot: Hotspot,
    /// Delivered rates, bit/s, by bin.
    series: &'a [f64],
    /// Mean of those in its slow spans.
    mean: f64,
    /// Spans of time in which the hot port is slow, s.
    windows: &'a [(f64, f64)],
}

/// A hot port that is slow again and again: bits that it delivered, and those that it may have.
struct Victim {
    /// All bits, and those delivered at full rate.
    delivered: f64,
    bits: f64,
    /// Bits that its slow spans allow.
    slow: f64,
    /// Time at full rate, s, and the rate offered, bit/s.
    rest: f64,
    offered: f64,
}

/// The hot port after a hotspot: its rates by bin, the width of a bin, s, and its mean rate before.
struct After<'a> {
    rates: &'a [f64],
    bin: f64,
    earlier: f64,
}

/// The switch port with the largest load of data and control relative to its link, Gb/s.
#[derive(Debug)]
struct Bottleneck {
    /// Capacity without data.
    loss: f64,
    /// Control frames.
    control: f64,
}

impl<'a> Run<'a> {
    /// A run with its finite flows, and with the XOFFs that are kept.
    pub fn new(
        settings: &'a Settings,
        out: &'a Outcome,
        times: &'a Flows,
        pauses: Option<Pauses<'a>>,
    ) -> Self {
        let flows = Completions::new(&times.timed);
        let (total, stood, hot) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let (bottleneck, rates) = (OnceCell::new(), OnceCell::new());
        Self { settings, out, times, flows, pauses, total, stood, hot, bottleneck, rates }
    }

    /// The metrics that the run has, each with its value, and whether that is a lower bound.
    pub fn measured(&self) -> Vec<(Id, f64, bool)> {
        let of = |id: Id| match how(id) {
            How::Run(value) => value(self).map(|v| (id, v + 0.0, false)),
            How::Jobs => None,
            _ => self.flows.value(id),
        };
        METRICS.iter().filter_map(|m| of(m.key)).collect()
    }

    /// The values of these metrics, of those that follow from a run.
    pub fn of(&self, ids: &[Id]) -> Vec<(Id, f64, bool)> {
        let one = |id: &Id| {
            if let How::Run(value) = how(*id) { Some((*id, value(self)? + 0.0, false)) } else { None }
        };
        ids.iter().filter_map(one).collect()
    }

    fn seconds(&self) -> f64 {
        self.out.duration.as_secs_f64()
    }

    fn of_hosts(&self, count: impl Fn(&HostOutcome) -> u64) -> f64 {
        self.out.hosts.iter().map(count).sum::<u64>() as f64
    }

    /// A count of all hosts; none where flows have no queue pairs.
    fn of_pairs(&self, count: impl Fn(&HostOutcome) -> u64) -> Option<f64> {
        self.settings.has_queue_pairs().then(|| self.of_hosts(count))
    }

    /// Did frames come that are taken in any order?
    fn unordered(&self) -> bool {
        self.out.hosts.iter().any(|h| !h.out_of_order.is_empty())
    }

    fn latency(&self, share: f64) -> Option<f64> {
        quantile_of(self.out.hosts.iter().map(|h| &h.latencies.histogram), share)
    }

    fn rtt(&self, share: f64) -> Option<f64> {
        let of = || quantile_of(self.out.hosts.iter().map(|h| &h.transport.rtt), share);
        self.settings.has_queue_pairs().then(of)?
    }

    /// The value of a scheme's counter; none of another scheme.
    fn counter(&self, counter: &Counter) -> Option<f64> {
        self.out.counters.iter().find(|c| c.0 == counter.name).map(|c| c.1 as f64)
    }

    /// Positive messages that sources discarded, and all of them.
    fn positives(&self) -> Option<(f64, f64)> {
        match (self.counter(&FALSE_POSITIVES), self.counter(&POSITIVE_MESSAGES)) {
            (Some(discarded), Some(all)) => Some((discarded, all)),
            // Probing schemes asked for every answer, and take it whatever its congestion point.
            _ => self.counter(&ANSWERS_POSITIVE).map(|all| (0.0, all)),
        }
    }

    /// Most bytes of a part of any shared buffer, KB.
    fn most_shared(&self, of: fn(SharedUse) -> u64) -> Option<f64> {
        let pools = self.out.switches.iter().map(|s| s.shared).filter(|shared| shared.sizes.1 > 0);
        pools.map(of).max().map(|most| most as f64 / 1e3)
    }

    fn storms(&self) -> Option<impl Iterator<Item = &Storm>> {
        self.settings.watchdog.is_some().then(|| self.out.switches.iter().flat_map(|s| &s.storms))
    }

    /// Bits of messages, and of queue pairs those of acknowledgements, of telemetry in data frames and of what is sent again.
    fn overhead_bits(&self) -> u64 {
        let (ack, telemetry) =
            (self.settings.ack_length().unwrap_or_default().get(), self.settings.telemetry().get());
        let of = |h: &HostOutcome| {
            let t = &h.transport;
            t.acks_made * ack + t.resent_bytes + h.sent.saturating_sub(t.resent) * telemetry
        };
        self.out.messages.bits + 8 * self.out.hosts.iter().map(of).sum::<u64>()
    }

    /// The payload of finite flows that arrived, Gb/s. Of a part of the run it is known where no source is endless.
    fn goodput(&self) -> Option<f64> {
        let alone =
            || (0..self.settings.hosts()).flat_map(|h| self.settings.plans(h)).all(SourcePlan::finite);
        if self.times.timed.is_empty() {
            None
        } else if alone() {
            Some(self.total())
        } else {
            self.settings.whole().then(|| self.times.payload as f64 * 8.0 / self.seconds() / 1e9)
        }
    }

    /// Data rate delivered to all hosts, Gb/s.
    fn total(&self) -> f64 {
        *self.total.get_or_init(|| (0..self.settings.hosts()).map(|h| rate(self.settings, self.out, h)).sum())
    }

    /// Rates of flows with a fixed destination, Mb/s.
    fn rates(&self) -> &[f64] {
        self.rates.get_or_init(|| {
            let (settings, out) = (self.settings, self.out);
            let rate = |&(a, b): &(usize, usize)| {
                let kind = SeriesKind::Flow { src: NodeId(a as u32), dst: NodeId(b as u32) };
                let bits = out.recorded.matrix.get(a * settings.hosts() + b).map(|bytes| *bytes as f64 * 8.0);
                Some(rate_of(settings, out, kind, bits.unwrap_or(0.0))? / 1e6)
                    .filter(|_| bits.is_some() || !settings.whole())
            };
            settings.fixed_flows().iter().filter_map(rate).collect()
        })
    }

    fn stood(&self) -> &Stood {
        self.stood.get_or_init(|| {
            let (settings, out) = (self.settings, self.out);
            let share = |t: Time| t.as_secs_f64() / self.seconds() * 100.0;
            let hot = settings.hotspot().map(|h| h.host);
            let sends = |(i, h): &(usize, &HostOutcome)| Some(*i) != hot && h.generated > 0;
            let hosts =
                out.hosts.iter().enumerate().filter(sends).map(|(_, h)| share(h.pause.time)).collect();
            let first = settings.hosts() as u32;
            let between = settings.wiring.links.iter().filter(|l| l.a.0.0 >= first && l.b.0.0 >= first);
            let ends = between.flat_map(|l| [l.a, l.b]);
            let links: Vec<f64> =
                ends.filter_map(|e| out.port(settings.hosts(), e)).map(|p| share(p.paused)).collect();
            let all = out.hosts.iter().map(|h| share(h.pause.time)).chain(links.iter().copied());
            let touched = mean(&all.filter(|p| *p > 0.0).collect::<Vec<f64>>());
            Stood { hosts, links, touched }
        })
    }

    /// The switch port with the largest load; none where a port that is not full is no loss.
    fn bottleneck(&self) -> Option<&Bottleneck> {
        let of = || {
            let mut worst: Option<(f64, Bottleneck)> = None;
            for l in &self.settings.wiring.links {
                for end in [l.a, l.b] {
                    let Some(p) = self.out.port(self.settings.hosts(), end) else { continue };
                    let Some(data) = sent(self.settings, self.out, end).map(|bps| bps / 1e9) else {
                        continue;
                    };
                    let control = p.control_sent as f64 * 512.0 / self.seconds() / 1e9;
                    let load = (data + control) / l.rate.gbps();
                    if worst.as_ref().is_none_or(|w| load > w.0) {
                        worst = Some((load, Bottleneck { loss: l.rate.gbps() - data, control }));
                    }
                }
            }
            worst.map(|w| w.1)
        };
        self.bottleneck.get_or_init(|| self.settings.greedy().then(of)?).as_ref()
    }

    fn aggregate_loss(&self) -> Option<f64> {
        let fixed = self.settings.fixed_flows();
        // The fair rates are those of shortest paths.
        let shortest = self.settings.routing() != Routing::Clockwise;
        (self.settings.greedy() && !fixed.is_empty() && shortest)
            .then(|| max_min(&self.settings.wiring, &fixed).iter().sum::<f64>() / 1e9 - self.total())
    }

    /// Rates through the ports that the scenario lists, bit/s; none of a single one.
    fn several_ports(&self) -> Option<impl Iterator<Item = f64>> {
        let ports = &self.settings.record.named.ports;
        (ports.len() > 1).then(|| ports.iter().filter_map(|p| sent(self.settings, self.out, *p)))
    }

    fn hot(&self) -> Option<&Hot> {
        let of = || {
            let (settings, out) = (self.settings, self.out);
            let windows: Vec<(f64, f64)> = match settings.hotspot() {
                Some(h) => h.windows().iter().map(|w| (w.0.as_secs_f64(), w.1.as_secs_f64())).collect(),
                None => vec![(settings.record.from.as_secs_f64(), settings.record.to.as_secs_f64())],
            };
            let port = settings.record.named.ports.first();
            let queue = port.and_then(|&(node, port)| out.series(SeriesKind::Queue { node, port }));
            let queue = queue.map_or_else(Vec::new, |q| self.inside(&windows, &q.values));
            let queue = queue.iter().map(|v| v / 1e3).collect();
            Hot { rate: rate(settings, out, settings.record.receiver), queue, windows }
        };
        self.hot.get_or_init(|| self.settings.record.hot.then(of)).as_ref()
    }

    /// The bins of a series that lie in these spans.
    fn inside(&self, windows: &[(f64, f64)], values: &[f64]) -> Vec<f64> {
        let bin = self.settings.record.bin.as_secs_f64();
        windows.iter().flat_map(|w| slice(values, bin, w.0, w.1).to_vec()).collect()
    }

    fn innocent_utilization(&self) -> Option<f64> {
        let (settings, hot) = (self.settings, self.hot()?);
        let span = (settings.record.from, settings.record.to);
        let offered =
            (0..settings.hosts()).map(|h| settings.offered_between(h, false, span)).sum::<f64>() / 1e9;
        (offered > 0.0).then(|| share((self.total() - hot.rate) / offered))
    }

    fn innocent_drops(&self) -> Option<f64> {
        let at = self.hot().and(self.settings.record.named.ports.first())?;
        let dropped = self.out.dropped() as f64;
        let here = self.out.dropped_at(self.settings.hosts(), *at) as f64;
        (dropped > 0.0).then(|| (dropped - here) / dropped * 100.0)
    }

    fn late_drops(&self) -> Option<f64> {
        let [(from, to)] = self.hot()?.windows[..] else { return None };
        let node =
            self.settings.record.named.ports.first().filter(|_| self.settings.wiring.switches.len() == 1)?.0;
        let d = self.out.series(SeriesKind::Dropped { node })?;
        let half = slice(&d.values, self.settings.record.bin.as_secs_f64(), from.midpoint(to), to);
        if let [first, .., last] = half { Some(last - first) } else { None }
    }

    /// The hot port while it was slow; none where it was so for less than a bin.
    fn slow(&self) -> Option<Slow<'_>> {
        let (hot, spot) = (self.hot()?, self.settings.hotspot()?);
        let series = &self.out.series(SeriesKind::Delivered { host: NodeId(spot.host as u32) })?.values;
        let slow = self.inside(&hot.windows, series);
        (!slow.is_empty()).then(|| Slow { spot, series, mean: mean(&slow), windows: &hot.windows })
    }

    /// A share of what a hot port delivered that is slow again and again.
    fn victim(&self, of: impl Fn(&Victim) -> f64) -> Option<f64> {
        let s = self.slow().filter(|s| s.spot.period.is_some())?;
        let spent: f64 = s.windows.iter().map(|w| w.1 - w.0).sum();
        let run = (Time::ZERO, self.settings.duration);
        let offered = (0..self.settings.hosts()).map(|i| self.settings.offered_between(i, true, run)).sum();
        let delivered = received(&self.out.hosts[s.spot.host]);
        let (bits, slow) = (delivered - s.mean * spent, spent * s.spot.rate.bps());
        let v = Victim { delivered, bits, slow, rest: self.seconds() - spent, offered };
        (v.rest > 0.0 && v.offered > 0.0).then(|| share(of(&v)))
    }

    /// The hot port after its one hotspot; none where it delivered nothing before.
    fn recovery(&self) -> Option<After<'_>> {
        let s = self.slow().filter(|s| s.spot.period.is_none())?;
        let (bin, (start, stop)) = (self.settings.record.bin.as_secs_f64(), s.windows[0]);
        let earlier = mean(slice(s.series, bin, (start - 0.05).max(0.0), start));
        let rates = slice(s.series, bin, stop, self.seconds());
        (earlier > 0.0 && !rates.is_empty()).then_some(After { rates, bin, earlier })
    }
}

impl Stood {
    /// Mean over the sending hosts but the hot one that were ever in XOFF.
    fn affected(&self) -> f64 {
        mean(&self.hosts.iter().copied().filter(|p| *p > 0.0).collect::<Vec<f64>>())
    }

    fn both(&self) -> f64 {
        mean(&[&self.hosts[..], &self.links[..]].concat())
    }

    /// Values of the links between switches; none if no two switches are linked.
    fn between(&self) -> Option<&[f64]> {
        (!self.links.is_empty()).then_some(&self.links)
    }
}

impl After<'_> {
    /// Time until the rate, as a mean over 20 ms, is what it was, ms.
    fn time(&self) -> f64 {
        let width = ((0.02 / self.bin).round() as usize).clamp(1, self.rates.len());
        let back = self.rates.windows(width).position(|w| mean(w) >= 0.95 * self.earlier);
        back.unwrap_or(self.rates.len()) as f64 * self.bin * 1e3
    }

    fn deficit(&self) -> f64 {
        self.rates.iter().map(|v| (self.earlier - v) / self.earlier * self.bin).sum::<f64>() * 1e3
    }
}

/// A quantile, us, of the sum of histograms of times; none of empty ones.
fn quantile_of<'a>(of: impl Iterator<Item = &'a Vec<u64>>, share: f64) -> Option<f64> {
    let mut histogram: Vec<u64> = Vec::new();
    for own in of {
        histogram.resize(histogram.len().max(own.len()), 0);
        histogram.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
    }
    Some(latency_quantile(&histogram, share)?.as_secs_f64() * 1e6)
}

/// Flows below so many bytes are small, as studies of completion times have it.
const SMALL_FLOW: u64 = 100_000;

/// Finite flows of a run, or of its traffic of a name.
#[derive(Debug)]
pub struct Completions<'a> {
    flows: &'a [Timed],
    times: OnceCell<Ordered>,
    small: OnceCell<Ordered>,
    slowdowns: OnceCell<Ordered>,
}

impl<'a> Completions<'a> {
    /// Completions of these flows.
    pub fn new(flows: &'a [Timed]) -> Self {
        Self { flows, times: OnceCell::new(), small: OnceCell::new(), slowdowns: OnceCell::new() }
    }

    /// The metrics of these flows, each with its value, and whether that is a lower bound; nothing of no flow.
    pub fn measured(&self) -> Vec<(Id, f64, bool)> {
        METRICS.iter().filter_map(|m| self.value(m.key)).collect()
    }

    fn value(&self, id: Id) -> Option<(Id, f64, bool)> {
        if self.flows.is_empty() {
            return None;
        }
        match how(id) {
            How::Run(_) | How::Jobs => None,
            How::Flows(value) => value(self).map(|v| (id, v, false)),
            How::Quantile(of, share) => of(self).percentile(share).map(|(v, bound)| (id, v, bound)),
        }
    }

    fn whole(&self) -> f64 {
        self.flows.iter().filter(|f| f.whole).count() as f64
    }

    /// Completion times, us.
    fn times(&self) -> &Ordered {
        self.times.get_or_init(|| Ordered::of(self.flows.iter(), |f| f.time.as_secs_f64() * 1e6))
    }

    /// Completion times of small flows, us.
    fn small(&self) -> &Ordered {
        let small = || self.flows.iter().filter(|f| f.bytes.get() < SMALL_FLOW);
        self.small.get_or_init(|| Ordered::of(small(), |f| f.time.as_secs_f64() * 1e6))
    }

    fn slowdowns(&self) -> &Ordered {
        self.slowdowns.get_or_init(|| Ordered::of(self.flows.iter(), Timed::slowdown))
    }
}

#[cfg(test)]
#[path = "lossless_tests.rs"]
mod lossless_tests;
#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "transport_tests.rs"]
mod transport_tests;
