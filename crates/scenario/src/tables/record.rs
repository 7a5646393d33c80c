//! `[record]`: the hot port, what is recorded by name, and the width of a bin.

use super::host::Queues;
use super::hotspot::Hotspot;
use super::workload::SourcePlan;
use super::{Section, Settings, run};
use crate::flows::Bins;
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use crate::wiring::Wiring;
use cnsim_fabric::RunSpec;
use cnsim_scheme_api::NodeId;
use cnsim_units::Time;

choices! {
    /// `record.completion`: the moment at which a finite flow is complete.
    Completed { Received = "received", Acknowledged = "acknowledged", }
    /// `record.paused`.
    PausedOver { Senders = "senders", Affected = "affected", Touched = "touched", All = "all", }
    /// `record.ideal`.
    Ideal { Exact = "exact", Fork = "hpcc-fork", }
}

rows! {
    BIN = key("record.bin", Kind::Or("auto", &Kind::Time(Time::from_us(1), Time::from_s(10))), "auto",
        "width of a bin of the time series; auto: 1 ms, or less in runs shorter than 200 ms");
    FROM = key("record.from", kind::MOMENT, "0 us", "start of the measurement of rates, fairness and queue statistics");
    TO = key("record.to", Kind::Or("end", &kind::MOMENT), "end", "end of the measurement");
    HOST = key("record.host", Kind::Or("auto", &Kind::Host), "auto",
        "receiver whose port is the hot port; auto: that of the hotspot, or the only destination");
    PORT = key("record.port", Kind::Or("auto", &Kind::Port), "auto", "hot port, if it is not the receiver's: \"X>E5\"");
    PORTS = key("record.ports", Kind::List(&Kind::Port), "[]", "switch ports whose queue is recorded, besides the hot port; of several links between two switches the second is \"X>E5#2\"");
    FLOWS = key("record.flows", Kind::List(&Kind::Flow), "[]",
        "flows whose delivered rate is recorded: \"H1>H5\"; if there are two or more, fairness is over these");
    LIMITERS = key("record.limiters", Kind::List(&Kind::Flow), "[]", "flows whose limiter's rate is recorded: \"H1>H5\"");
    PAUSED = key("record.paused", Kind::Choice(PausedOver::WORDS), "senders",
        "transmitters that `time_paused` averages: sending hosts but the hot one (senders), those of them ever in XOFF (affected), all hosts and links between switches ever in XOFF (touched), or sending hosts and links between switches (all)");
    IDEAL = key("record.ideal", Kind::Choice(Ideal::WORDS), "exact",
        "ideal completion time of a flow, to the end that record.completion asks for: alone in the network with store and forward (exact), or by the formula of the HPCC fork, whose slowdowns are at least 1");
    COMPLETION = key("record.completion", Kind::Choice(Completed::WORDS), "received",
        "end of a finite flow in completion times and slowdowns: its last byte is received, or its source has the last acknowledgement")
        .with_pairs();
    SIZE_BINS = key("record.size_bins", Kind::Or("decades", &Kind::Integer(1, 1000)), "20",
        "groups of flows by size: a number of groups with equally many flows, or decades: up to 1 KB, 10 KB, 100 KB, ...");
    FLOW_TIMES = key("record.flow_times", Kind::Or("auto", &kind::SWITCHED), "auto",
        "keeps each flow's times for fct.csv; auto: in runs of up to 100,000 flows");
    PAUSES = key("record.pauses", Kind::Or("auto", &kind::SWITCHED), "auto",
        "keeps each XOFF with its causes for pauses.csv and `cnsim explain-pause`, the first 1,000,000 of a run; auto: with record.map, and the first 100,000 where flows have queue pairs")
        .with_pause().seen();
    TRIPS = key("record.trips", Kind::Or("auto", &kind::SWITCHED), "auto",
        "keeps where the time of each finite flow went for flows.csv, `cnsim explain-flow` and the waits of critical_path.csv; auto: in runs of up to 20,000 flows, but not where flows share a connection");
    MAP = key("record.map", kind::SWITCHED, "off",
        "keeps use, largest queue, XOFF and loss of every port in each bin: the report's map plays them, and `r.map()` in Python; XOFFs are kept as by record.pauses");
    FLOW_EVENTS = key("record.flow_events", Kind::List(&Kind::Flow), "[]",
        "flows of which each event is kept for flow_events.csv: what changed rate or window, with its queue, and each acknowledgement; of a source the first 100,000");
    LATENCY = key("record.latency", kind::SWITCHED, "off", "keeps percentiles of latency");
}

/// Queues, flows and limiters that are recorded.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Output ports whose queues are recorded; the first is the hot port.
    pub ports: Vec<(NodeId, u16)>,
    /// Flows whose delivered rate is recorded.
    pub flows: Vec<(NodeId, NodeId)>,
    /// Flows whose limiter's rate is recorded.
    pub limiters: Vec<(NodeId, NodeId)>,
    /// Flows whose events are kept.
    pub events: Vec<(NodeId, NodeId)>,
}

/// Settings of `[record]`: the series, spans and lists that a run records.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Host behind the hot port.
    pub receiver: usize,
    /// Whether a port is hot: by a hotspot, by a host that is named, or as the only destination.
    pub hot: bool,
    /// Recorded by name.
    pub named: Named,
    pub(crate) latency: bool,
    /// Every port is kept over time, for a map.
    pub map: bool,
    /// Most XOFFs that are kept.
    pub(crate) pauses: u64,
    /// Where the time of flows went is kept; none: unless they are many.
    pub(crate) trips: Option<bool>,
    /// Ideal completion time of flows.
    pub ideal: Ideal,
    /// Groups of flows by size.
    pub bins: Bins,
    /// Keep each flow's times; none: where they are not many.
    pub flow_times: Option<bool>,
    /// Whose share of the time in XOFF `time_paused` averages.
    pub paused: PausedOver,
    /// Width of a bin of the series.
    pub bin: Time,
    /// Begin of the measurement: rates, fairness and queue statistics are taken from here.
    pub from: Time,
    /// End of the measurement.
    pub to: Time,
}

/// Most XOFFs that are kept of a run; without being asked, a tenth.
const MOST_XOFFS: u64 = 1_000_000;

/// Most flows of a run of which it is kept without being asked where their time went.
const MOST_TRIPS: usize = 20_000;

/// Most values of one kind that are kept for a map: a value for each port and bin.
const MOST_OF_MAP: u64 = 2_500_000;

/// Most flows whose rates are recorded for a measurement of a part of the run.
const MOST_FLOWS: usize = 4096;

impl Section for Record {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let (wiring, hotspots, duration) = (&settings.wiring, &settings.hotspots, settings.duration);
        let (receiver, hot) = receiver(r, wiring, hotspots, &settings.traffic.plans);
        let named = named(r, wiring, receiver);
        let from = r.time(FROM);
        let to = r.time_or(TO).unwrap_or(duration);
        if from >= to || to > duration {
            let reason = format!("nothing is measured between {from} and {to} of {duration}");
            r.clash(&[FROM, TO, run::DURATION], reason, "make record.from < record.to <= run.duration");
        }
        let bin = r.time_or(BIN).map(|bin| bin.min(duration)).unwrap_or_else(|| {
            let slow = hotspots.iter().flat_map(Hotspot::windows).map(|w| w.1.saturating_sub(w.0)).min();
            auto_bin(duration, to.saturating_sub(from), slow)
        });
        if from < to && to - from < bin {
            let reason = format!("no bin of {bin} lies between {from} and {to}");
            r.clash(&[BIN, FROM, TO], reason, "use a smaller record.bin, or \"auto\"");
        }
        let map = r.switched(MAP);
        let (ports, bins) = (2 * wiring.links.len() as u64, duration.as_ps() / bin.as_ps().max(1));
        if map && (bins == 0 || ports * bins > MOST_OF_MAP) {
            let reason = format!(
                "{ports} ports in {bins} bins of {bin} are more than a map keeps, {MOST_OF_MAP} values of a kind"
            );
            r.clash(&[MAP, BIN, run::DURATION], reason, "use a larger record.bin");
        }
        let pauses = match settings.switch.buffer.pause.map(|_| r.word(PAUSES)).as_deref() {
            Some("on") => MOST_XOFFS,
            Some("auto") if map => MOST_XOFFS,
            Some("auto") if settings.host.queues == Queues::PerFlow => MOST_XOFFS / 10,
            _ => 0,
        };
        let finite = settings.traffic.plans.iter().flatten().any(SourcePlan::finite);
        let shared = settings.traffic.plans.iter().flatten().any(|p| p.connected);
        let none = match (finite, shared) {
            (false, _) => Some("no flow is finite"),
            (true, true) => {
                Some("the time of a flow that shares a connection (connection = \"kept\") is not taken apart")
            }
            (true, false) => None,
        };
        if let Some(why) = none.filter(|_| r.is_asked(TRIPS) && !r.traffic_varies()) {
            r.wrong(TRIPS, format!("has no effect: {why}"), "remove it");
        }
        if !named.events.is_empty() && shared {
            let reason = "events are kept of flows that have a connection of their own, not with connection = \"kept\"";
            r.wrong(FLOW_EVENTS, reason, "remove it");
        } else if !named.events.is_empty() && r.word(TRIPS) == "off" {
            let reason = "what happens to flows is noted beside where their time goes".into();
            r.clash(&[FLOW_EVENTS, TRIPS], reason, "leave record.trips to \"auto\"");
        }
        Self {
            receiver,
            hot,
            named,
            latency: r.switched(LATENCY),
            map,
            pauses,
            trips: if none.is_some() { Some(false) } else { switched(&r.word(TRIPS)) },
            ideal: r.choice(IDEAL),
            bins: r.integer_or(SIZE_BINS).map_or(Bins::Decades, |n| Bins::Equal(n as usize)),
            flow_times: switched(&r.word(FLOW_TIMES)),
            paused: r.choice(PAUSED),
            bin,
            from,
            to,
        }
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        let (hosts, whole) = (settings.hosts(), settings.whole());
        let flows: usize = run.hosts.iter().flat_map(|h| &h.sources).map(|s| s.transfers.len()).sum();
        run.record = cnsim_fabric::Record {
            bin: self.bin,
            // Where a part of the run is measured, every rate needs its series.
            delivered: (0..if whole { hosts.min(1024) } else { hosts }).map(|h| NodeId(h as u32)).collect(),
            queues: self.named.ports.clone(),
            flows: self.named.flows.clone(),
            rates: self.named.limiters.clone(),
            flow_events: self.named.events.clone(),
            headers: settings.traffic.plans.iter().map(|plans| header_of(plans)).collect(),
            control: true,
            links: self.map,
            matrix: hosts <= 128,
            latency: self.latency,
            pauses: self.pauses,
            trips: !self.named.events.is_empty() || flows > 0 && self.trips.unwrap_or(flows <= MOST_TRIPS),
            ..cnsim_fabric::Record::default()
        };
        if self.map {
            every_queue(&settings.wiring, &mut run.record);
        }
        if !whole {
            let fixed = settings.fixed_flows();
            let pairs = fixed.iter().take(MOST_FLOWS).map(|&(a, b)| (NodeId(a as u32), NodeId(b as u32)));
            run.record.flows.extend(pairs.filter(|f| !self.named.flows.contains(f)));
            if settings.greedy() {
                every_queue(&settings.wiring, &mut run.record);
            }
        }
    }
}

/// The setting of a key that is `on`, `off` or `auto`; none for `auto`.
fn switched(word: &str) -> Option<bool> {
    (word != "auto").then_some(word == "on")
}

/// Records the queues of all switch ports with a link.
pub(crate) fn every_queue(wiring: &Wiring, record: &mut cnsim_fabric::Record) {
    let ends = wiring.links.iter().flat_map(|l| [l.a, l.b]);
    let new = |e: &(NodeId, u16)| e.0.0 as usize >= wiring.hosts.len() && !record.queues.contains(e);
    let more: Vec<_> = ends.filter(new).collect();
    record.queues.extend(more);
}

/// Bytes of a host's finite frames that are no payload: one for all of them.
fn header_of(plans: &[SourcePlan]) -> u32 {
    plans.iter().find(|p| p.finite()).map_or(0, |p| p.framing.header as u32)
}

/// The width of a bin that follows the run: the largest of 1, 2, 5, 10 ... us up to 1 ms that leaves 200 bins to the
/// measurement and 20 to the shortest time that the hot port is slow, where the whole run stays below 20,000 bins.
fn auto_bin(duration: Time, measured: Time, slow: Option<Time>) -> Time {
    const STEPS: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    let part = |t: Time, n: u64| Time::from_ps(t.as_ps() / n);
    let wanted = slow.map_or(part(measured, 200), |s| part(measured, 200).min(part(s, 20)));
    let least = part(duration, 20_000);
    let steps = || STEPS.iter().map(|us| Time::from_us(*us));
    let fits = steps().rev().find(|t| *t <= wanted).unwrap_or(Time::from_us(1));
    let bound = steps().find(|t| *t >= least).unwrap_or(least);
    fits.max(bound).min(duration)
}

/// The host behind the port that metrics call hot: named, that of the first hotspot, the only destination, or the
/// first host.
fn receiver(
    r: &mut Reader<'_>,
    wiring: &Wiring,
    hotspots: &[Hotspot],
    plans: &[Vec<SourcePlan>],
) -> (usize, bool) {
    let name = r.word(HOST);
    if name != "auto" {
        return (r.host(HOST, 0, &name, wiring).unwrap_or(0), true);
    }
    let only = || plans.iter().flatten().find_map(SourcePlan::only);
    // The one host that all transfers go to.
    let addressed = || {
        let mut all = plans.iter().flatten().flat_map(SourcePlan::addressed);
        let first = all.next()?;
        all.all(|h| h == first).then_some(first)
    };
    let host = hotspots.first().map(|h| h.host).or_else(only).or_else(addressed);
    (host.unwrap_or(0), host.is_some())
}

/// Ports, flows and limiters of `[record]`; the hot port first.
fn named(r: &mut Reader<'_>, wiring: &Wiring, receiver: usize) -> Named {
    let hot = match r.word(PORT).as_str() {
        "auto" => Some(wiring.feeder(receiver)),
        name => r.port(PORT, 0, name, wiring),
    };
    let mut named = Named { ports: hot.into_iter().collect(), ..Named::default() };
    let ports = r.list(PORTS);
    for (i, name) in ports.iter().enumerate() {
        if let Some(p) = r.port(PORTS, i, name, wiring)
            && !named.ports.contains(&p)
        {
            named.ports.push(p);
        }
    }
    let mut pairs = |key: Key| -> Vec<(NodeId, NodeId)> {
        let names = r.list(key);
        names.iter().enumerate().filter_map(|(i, name)| r.pair(key, i, name, wiring)).collect()
    };
    (named.flows, named.limiters, named.events) = (pairs(FLOWS), pairs(LIMITERS), pairs(FLOW_EVENTS));
    named
}
