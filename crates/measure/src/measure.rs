//! How each metric comes out of a run; [`cnsim_scenario::metrics`] defines them.

use crate::fair::max_min;
use crate::fct::{self, Ordered, Timed};
use crate::flow_times::Flows;
use crate::stats::{Summary, percentile};
use cnsim_fabric::{HostOutcome, Outcome, PortOutcome, Routing, SeriesKind, SharedUse, latency_quantile};
use cnsim_scenario::kinds::PausedOver;
use cnsim_scenario::settings::Settings;
use cnsim_scenario::workload::SourcePlan;
use cnsim_scheme_api::{NodeId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Facts of ports: those that the scenario lists, and those with PAUSE or discards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortFacts {
    /// Data rate sent, Gb/s: of a named port in the measurement, of another one in the whole run; 0 for a host.
    pub throughput: f64,
    /// Share of the run in XOFF, per cent.
    pub paused: f64,
    /// XOFF messages that the port sent to its peer; 0 for a host, which sends none.
    pub xoffs: u64,
    /// Largest queue of the run, KB, however short; 0 for a host.
    pub queue_max: f64,
    /// Mean queue over the measurement, KB; none if the queue is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_queue: Option<f64>,
    /// Standard deviation of the queue's length, KB; none if the queue is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd_queue: Option<f64>,
    /// Number of data frames discarded at the port.
    pub dropped: f64,
}

/// Most ports of which facts are kept beside the named ones.
const MOST_PORTS: usize = 128;

/// Facts of the listed ports, and of the ports with most time in XOFF, XOFF messages or discards.
/// A host's port has the host's name.
pub fn ports(settings: &Settings, out: &Outcome) -> BTreeMap<String, PortFacts> {
    let mut all = named_ports(settings, out);
    let seconds = out.duration.as_secs_f64();
    let mut more: Vec<(f64, String, PortFacts)> = Vec::new();
    for (h, host) in out.hosts.iter().enumerate() {
        let paused = host.paused.as_secs_f64() / seconds * 100.0;
        if paused > 0.0 {
            let facts = PortFacts { paused, ..PortFacts::default() };
            more.push((paused, settings.wiring.name(NodeId(h as u32)).to_string(), facts));
        }
    }
    let first = settings.hosts() as u32;
    for end in settings.wiring.links.iter().flat_map(|l| [l.a, l.b]).filter(|e| e.0.0 >= first) {
        let Some(p) = out.port(settings.hosts(), end) else { continue };
        let dropped = out.dropped_at(settings.hosts(), end);
        let weight = p.paused.as_secs_f64() / seconds * 100.0 + (p.xoffs + dropped) as f64;
        if weight > 0.0 {
            more.push((weight, settings.wiring.port_name(end), facts(p, dropped, seconds)));
        }
    }
    more.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, name, facts) in more.into_iter().take(MOST_PORTS) {
        all.entry(name).or_insert(facts);
    }
    all
}

/// Counts of a port over the whole run.
fn facts(p: &PortOutcome, dropped: u64, seconds: f64) -> PortFacts {
    PortFacts {
        throughput: p.sent_bits as f64 / seconds / 1e9,
        paused: p.paused.as_secs_f64() / seconds * 100.0,
        xoffs: p.xoffs,
        queue_max: p.queue_max as f64 / 1e3,
        dropped: dropped as f64,
        ..PortFacts::default()
    }
}

fn named_ports(settings: &Settings, out: &Outcome) -> BTreeMap<String, PortFacts> {
    let seconds = out.duration.as_secs_f64();
    let of = |at: (NodeId, u16)| {
        let port = out.port(settings.hosts(), at)?;
        let queue = out.series(SeriesKind::Queue { node: at.0, port: at.1 });
        let inside: Vec<f64> =
            queue.map_or(Vec::new(), |q| measured(settings, &q.values).iter().map(|v| v / 1e3).collect());
        let queue = Summary::of(&inside);
        Some(PortFacts {
            throughput: sent(settings, out, at)? / 1e9,
            mean_queue: queue.as_ref().map(|q| q.mean),
            sd_queue: queue.as_ref().map(|q| q.sd),
            ..facts(port, out.dropped_at(settings.hosts(), at), seconds)
        })
    };
    let named = settings.named.ports.iter();
    named.filter_map(|p| Some((settings.wiring.port_name(*p), of(*p)?))).collect()
}

/// Measures a run.
pub fn measure(settings: &Settings, out: &Outcome) -> Vec<(&'static str, f64)> {
    measure_with(settings, out, &Flows::of(settings, out))
}

/// The same where the times of its flows are known.
pub fn measure_with(settings: &Settings, out: &Outcome, times: &Flows) -> Vec<(&'static str, f64)> {
    let seconds = out.duration.as_secs_f64();
    let delivered: u64 = out.hosts.iter().map(|h| h.delivered).sum();
    let latency: f64 = out.hosts.iter().map(|h| h.latency_sum.as_secs_f64()).sum();
    let mut all = vec![
        ("dropped_frames", out.dropped() as f64),
        ("overhead", overhead_bits(settings, out) as f64 / seconds / 1e6),
        ("mean_latency", latency / delivered.max(1) as f64 * 1e6),
        ("source_discards", out.hosts.iter().map(|h| h.source_discards).sum::<u64>() as f64),
        ("control_messages", out.control_messages as f64),
        ("slowed_flows", out.hosts.iter().map(|h| h.slowed_flows).sum::<u64>() as f64),
        ("control_discarded", out.control_discarded as f64),
        ("feedback_ignored", out.feedback_ignored as f64),
        ("feedback_lost", out.feedback_lost as f64),
    ];
    pause(settings, out, &mut all);
    throughput(settings, out, &mut all);
    if settings.hot {
        hot_port(settings, out, &mut all);
    }
    flows(settings, out, &mut all);
    completion(&times.timed, &mut all);
    goodput(settings, times, seconds, &mut all);
    if settings.has_queue_pairs() {
        transport(out, &mut all);
    }
    feedback(out, &mut all);
    let asked = [("latency_p50", 0.5), ("latency_p99", 0.99), ("latency_p999", 0.999)];
    quantiles(out.hosts.iter().map(|h| &h.latency), &asked, &mut all);
    if let Some(at) = out.frozen_since {
        all.push(("frozen_since", at.as_secs_f64() * 1e3));
    }
    let ports = || out.switches.iter().flat_map(|s| &s.ports);
    all.push(("pauses", ports().map(|p| p.xoffs).sum::<u64>() as f64));
    let pools = || out.switches.iter().map(|s| s.shared).filter(|shared| shared.sizes.1 > 0);
    for (name, of) in [("headroom_max", (|s| s.headroom) as fn(SharedUse) -> u64), ("shared_max", |s| s.pool)]
    {
        all.extend(pools().map(of).max().map(|most| (name, most as f64 / 1e3)));
    }
    if settings.watchdog.is_some() {
        let storms = || out.switches.iter().flat_map(|s| &s.storms);
        all.push(("watchdog_triggers", storms().count() as f64));
        all.push(("watchdog_drops", storms().map(|s| s.dropped).sum::<u64>() as f64));
    }
    all.push(("queue_max", ports().map(|p| p.queue_max).max().unwrap_or(0) as f64 / 1e3));
    // No zero has a sign.
    all.iter_mut().for_each(|m| m.1 += 0.0);
    all
}

/// These quantiles, us, of the sum of histograms of times; nothing of empty ones.
fn quantiles<'a>(
    of: impl Iterator<Item = &'a Vec<u64>>,
    asked: &[(&'static str, f64)],
    all: &mut Vec<(&'static str, f64)>,
) {
    let mut histogram: Vec<u64> = Vec::new();
    for own in of {
        histogram.resize(histogram.len().max(own.len()), 0);
        histogram.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
    }
    let times = asked.iter().filter_map(|(id, q)| Some((*id, latency_quantile(&histogram, *q)?)));
    all.extend(times.map(|(id, t)| (id, t.as_secs_f64() * 1e6)));
}

/// Bits of messages, and of queue pairs those of acknowledgements, of telemetry in data frames and of what is sent again.
fn overhead_bits(settings: &Settings, out: &Outcome) -> u64 {
    let (ack, telemetry) = (settings.ack_length().unwrap_or_default().get(), settings.telemetry().get());
    let of = |h: &HostOutcome| {
        let t = &h.transport;
        t.acks_made * ack + t.resent_bytes + h.sent.saturating_sub(t.resent) * telemetry
    };
    out.control_bits + 8 * out.hosts.iter().map(of).sum::<u64>()
}

/// The payload of finite flows that arrived. Of a part of the run it is known where no source is endless.
fn goodput(settings: &Settings, times: &Flows, seconds: f64, all: &mut Measured) {
    let alone = (0..settings.hosts()).flat_map(|h| settings.plans(h)).all(SourcePlan::finite);
    let total = all.iter().find(|m| m.0 == "aggregate_throughput").map(|m| m.1);
    let rate = match total {
        _ if times.timed.is_empty() => None,
        Some(total) if alone => Some(total),
        _ => settings.whole().then(|| times.payload as f64 * 8.0 / seconds / 1e9),
    };
    all.extend(rate.map(|rate| ("goodput", rate)));
}

/// Acknowledgements and repetitions of queue pairs.
fn transport(out: &Outcome, all: &mut Measured) {
    let of = || out.hosts.iter().map(|h| &h.transport);
    let (acked, marked) = (of().map(|t| t.acked).sum::<u64>(), of().map(|t| t.marked).sum::<u64>());
    if acked > 0 {
        all.push(("marked_share", share(marked as f64 / acked as f64)));
    }
    let sent = out.hosts.iter().map(|h| h.sent).sum::<u64>();
    let resent = of().map(|t| t.resent).sum::<u64>();
    all.push(("resent_share", share(resent as f64 / sent.max(1) as f64)));
    all.push(("timeouts", of().map(|t| t.timeouts).sum::<u64>() as f64));
    quantiles(of().map(|t| &t.rtt), &[("rtt_p50", 0.5), ("rtt_p99", 0.99)], all);
}

pub(crate) type Measured = Vec<(&'static str, f64)>;

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len().max(1) as f64
}

/// Shares of the run in XOFF.
fn pause(settings: &Settings, out: &Outcome, all: &mut Measured) {
    let seconds = out.duration.as_secs_f64();
    let share = |t: Time| t.as_secs_f64() / seconds * 100.0;
    let hot = settings.hotspot().map(|h| h.host);
    let sends = |(i, h): &(usize, &HostOutcome)| Some(*i) != hot && h.generated > 0;
    let hosts: Vec<f64> = out.hosts.iter().enumerate().filter(sends).map(|(_, h)| share(h.paused)).collect();
    let first = settings.hosts() as u32;
    let between = settings.wiring.links.iter().filter(|l| l.a.0.0 >= first && l.b.0.0 >= first);
    let ends = between.flat_map(|l| [l.a, l.b]);
    let links: Vec<f64> =
        ends.filter_map(|e| out.port(settings.hosts(), e)).map(|p| share(p.paused)).collect();
    let ever = |v: &mut dyn Iterator<Item = f64>| mean(&v.filter(|p| *p > 0.0).collect::<Vec<f64>>());
    let senders = mean(&hosts);
    let affected = ever(&mut hosts.iter().copied());
    let touched = ever(&mut out.hosts.iter().map(|h| share(h.paused)).chain(links.iter().copied()));
    let both = mean(&[&hosts[..], &links[..]].concat());
    let asked = match settings.paused {
        PausedOver::Senders => senders,
        PausedOver::Affected => affected,
        PausedOver::Touched => touched,
        PausedOver::All => both,
    };
    all.push(("time_paused", asked));
    all.push(("time_paused_senders", senders));
    all.push(("time_paused_affected", affected));
    all.push(("time_paused_touched", touched));
    if !links.is_empty() {
        all.push(("time_paused_links", mean(&links)));
        all.push(("time_paused_all", both));
    }
}

/// The bins of a series that lie in the measurement.
fn measured<'a, T>(settings: &Settings, values: &'a [T]) -> &'a [T] {
    slice(values, settings.bin.as_secs_f64(), settings.from.as_secs_f64(), settings.to.as_secs_f64())
}

/// Rate in the measurement, bit/s: the mean of its bins, or where the measurement is the whole run, these bits over its
/// duration. None if a series is due and was not recorded.
fn rate_of(settings: &Settings, out: &Outcome, kind: SeriesKind, bits: f64) -> Option<f64> {
    if settings.whole() {
        return Some(bits / out.duration.as_secs_f64());
    }
    out.series(kind).map(|s| mean(measured(settings, &s.values)))
}

/// Bits that a host received: the payload of finite flows, and whole frames of endless sources.
fn received(host: &HostOutcome) -> f64 {
    host.delivered_bits.saturating_sub(host.header_bits) as f64
}

/// Data rate delivered to a host in the measurement, Gb/s.
fn rate(settings: &Settings, out: &Outcome, host: usize) -> f64 {
    let kind = SeriesKind::Delivered { host: NodeId(host as u32) };
    rate_of(settings, out, kind, received(&out.hosts[host])).unwrap_or(0.0) / 1e9
}

/// Data rate sent by a switch port in the measurement, bit/s.
fn sent(settings: &Settings, out: &Outcome, (node, port): (NodeId, u16)) -> Option<f64> {
    let bits = out.port(settings.hosts(), (node, port))?.sent_bits as f64;
    rate_of(settings, out, SeriesKind::Sent { node, port }, bits)
}

fn throughput(settings: &Settings, out: &Outcome, all: &mut Measured) {
    let total: f64 = (0..settings.hosts()).map(|h| rate(settings, out, h)).sum();
    all.push(("aggregate_throughput", total));
    // The bottleneck: the switch port with the largest load of data and control relative to its link.
    let mut worst: Option<(f64, f64, f64)> = None;
    for l in &settings.wiring.links {
        for end in [l.a, l.b] {
            let Some(p) = out.port(settings.hosts(), end) else { continue };
            let Some(data) = sent(settings, out, end).map(|bps| bps / 1e9) else { continue };
            let control = p.control_sent as f64 * 512.0 / out.duration.as_secs_f64() / 1e9;
            let load = (data + control) / l.rate.gbps();
            if worst.is_none_or(|w| load > w.0) {
                worst = Some((load, l.rate.gbps() - data, control));
            }
        }
    }
    if let Some((_, loss, control)) = worst.filter(|_| settings.greedy()) {
        all.push(("throughput_loss", loss));
        all.push(("bottleneck_control", control * 1e3));
    }
    let fixed = settings.fixed_flows();
    // The fair rates are those of shortest paths.
    let shortest = settings.routing() != Routing::Clockwise;
    if settings.greedy() && !fixed.is_empty() && shortest {
        let ideal: f64 = max_min(&settings.wiring, &fixed).iter().sum::<f64>() / 1e9;
        all.push(("aggregate_loss", ideal - total));
    }
    if settings.named.ports.len() > 1 {
        let rates = || settings.named.ports.iter().filter_map(|p| sent(settings, out, *p));
        all.extend(rates().next().map(|first| ("port_throughput", first / 1e9)));
        all.push(("ports_throughput", rates().sum::<f64>() / 1e9));
    }
}

/// Everything about the hot port and the flows that do not use it.
fn hot_port(settings: &Settings, out: &Outcome, all: &mut Measured) {
    let (bin, seconds) = (settings.bin.as_secs_f64(), out.duration.as_secs_f64());
    let hot_rate = rate(settings, out, settings.receiver);
    let total: f64 = (0..settings.hosts()).map(|h| rate(settings, out, h)).sum();
    all.push(("hot_port_throughput", hot_rate));
    all.push(("throughput", hot_rate));
    all.push(("innocent_throughput", total - hot_rate));
    let span = (settings.from, settings.to);
    let innocent = (0..settings.hosts()).map(|h| settings.offered_between(h, false, span)).sum::<f64>() / 1e9;
    if innocent > 0.0 {
        all.push(("innocent_flow_utilization", share((total - hot_rate) / innocent)));
    }
    let windows: Vec<(f64, f64)> = match settings.hotspot() {
        Some(h) => h.windows().iter().map(|w| (w.0.as_secs_f64(), w.1.as_secs_f64())).collect(),
        None => vec![(settings.from.as_secs_f64(), settings.to.as_secs_f64())],
    };
    let inside = |values: &[f64]| -> Vec<f64> {
        windows.iter().flat_map(|w| slice(values, bin, w.0, w.1).to_vec()).collect()
    };
    if let Some(&(node, port)) = settings.named.ports.first() {
        if let Some(q) = out.series(SeriesKind::Queue { node, port }) {
            let kb: Vec<f64> = inside(&q.values).iter().map(|v| v / 1e3).collect();
            if let Some(s) = Summary::of(&kb) {
                all.push(("mean_hot_queue", s.mean));
                all.push(("sd_hot_queue", s.sd));
                all.push(("mean_hot_queue_late", mean(&kb[kb.len() / 2..])));
                all.extend(quantile(&kb, 0.99).map(|q| ("queue_p99", q)));
            }
        }
        if let (Some(d), [(from, to)]) = (out.series(SeriesKind::Dropped { node }), &windows[..])
            && settings.wiring.switches.len() == 1
        {
            let half = slice(&d.values, bin, from.midpoint(*to), *to);
            if let [first, .., last] = half {
                all.push(("late_drops", last - first));
            }
        }
        let dropped = out.dropped() as f64;
        if dropped > 0.0 {
            let here = out.dropped_at(settings.hosts(), (node, port)) as f64;
            all.push(("innocent_drop_share", (dropped - here) / dropped * 100.0));
        }
    }
    let Some(h) = settings.hotspot() else { return };
    let Some(s) = out.series(SeriesKind::Delivered { host: NodeId(h.host as u32) }) else { return };
    let slow = inside(&s.values);
    // Slow for less than a bin: nothing is known of it.
    if slow.is_empty() {
        return;
    }
    let slow = mean(&slow);
    if h.rate.bps() > 0.0 {
        all.push(("bottleneck_utilization", share(slow / h.rate.bps())));
    }
    if h.period.is_some() {
        let spent: f64 = windows.iter().map(|w| w.1 - w.0).sum();
        let run = (Time::ZERO, settings.duration);
        let offered: f64 = (0..settings.hosts()).map(|i| settings.offered_between(i, true, run)).sum();
        if seconds > spent && offered > 0.0 {
            let bits = received(&out.hosts[h.host]) - slow * spent;
            all.push(("victim_utilization_otherwise", share(bits / (seconds - spent) / offered)));
            let allowed = spent * h.rate.bps() + (seconds - spent) * offered;
            let delivered = received(&out.hosts[h.host]);
            all.push(("victim_flow_utilization", share(delivered / allowed)));
        }
        return;
    }
    let (start, stop) = windows[0];
    let earlier = mean(slice(&s.values, bin, (start - 0.05).max(0.0), start));
    let after = slice(&s.values, bin, stop, seconds);
    if earlier > 0.0 && !after.is_empty() {
        let width = ((0.02 / bin).round() as usize).clamp(1, after.len());
        let back = after.windows(width).position(|w| mean(w) >= 0.95 * earlier);
        all.push(("recovery_time", back.map_or(after.len() as f64 * bin, |i| i as f64 * bin) * 1e3));
        let deficit: f64 = after.iter().map(|v| (earlier - v) / earlier * bin).sum();
        all.push(("recovery_deficit", deficit * 1e3));
    }
}

/// Rates of fixed flows and their fairness.
fn flows(settings: &Settings, out: &Outcome, all: &mut Measured) {
    let hosts = settings.hosts();
    let rate = |&(a, b): &(usize, usize)| {
        let kind = SeriesKind::Flow { src: NodeId(a as u32), dst: NodeId(b as u32) };
        let bits = out.matrix.get(a * hosts + b).map(|bytes| *bytes as f64 * 8.0);
        Some(rate_of(settings, out, kind, bits.unwrap_or(0.0))? / 1e6)
            .filter(|_| bits.is_some() || !settings.whole())
    };
    let rates: Vec<f64> = settings.fixed_flows().iter().filter_map(rate).collect();
    if !rates.is_empty() {
        all.push(("flow_rate", mean(&rates)));
        all.push(("flow_rate_min", rates.iter().copied().fold(f64::INFINITY, f64::min)));
        all.push(("flow_rate_max", rates.iter().copied().fold(0.0, f64::max)));
    }
    let indices = fairness(settings, out);
    let window = measured(settings, &indices);
    let steady: Vec<f64> = window.iter().filter(|i| i.1).filter_map(|i| i.0).collect();
    if !steady.is_empty() {
        all.push(("fairness", mean(&steady)));
    }
}

/// Jain's index of each bin over the recorded flows whose source is on, if there are two or more and something arrived;
/// and whether the bin is more than 2 ms after an on-off change.
pub fn fairness(settings: &Settings, out: &Outcome) -> Vec<(Option<f64>, bool)> {
    let flows: Vec<(usize, &[f64])> = settings
        .named
        .flows
        .iter()
        .filter_map(|&(src, dst)| {
            Some((src.0 as usize, out.series(SeriesKind::Flow { src, dst })?.values.as_slice()))
        })
        .collect();
    if flows.len() < 2 {
        return Vec::new();
    }
    let bin = settings.bin.as_ps();
    let settle = Time::from_ms(2).as_ps().div_ceil(bin);
    let on = |host: usize, b: u64| settings.plans(host).iter().any(|p| p.on_at(Time::from_ps(b * bin)));
    let (mut state, mut unchanged) = (Vec::new(), 0);
    let mut rates: Vec<f64> = Vec::new();
    let index = |b: u64| {
        let now: Vec<bool> = flows.iter().map(|f| on(f.0, b)).collect();
        // Bins up to this one in which nobody was switched on or off.
        unchanged = if now == state { unchanged + 1 } else { 1 };
        state = now;
        let here = flows.iter().zip(&state).filter(|(_, on)| **on);
        rates.clear();
        rates.extend(here.filter_map(|(f, _)| f.1.get(b as usize).copied()));
        let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|r| r * r).sum::<f64>());
        let some = rates.len() > 1 && squares > 0.0;
        (some.then(|| sum * sum / (rates.len() as f64 * squares)), unchanged > settle)
    };
    (0..settings.duration.as_ps() / bin).map(index).collect()
}

/// Positive feedback and owners of limiters, of the schemes that count them.
fn feedback(out: &Outcome, all: &mut Measured) {
    let counter = |name: &str| out.counters.iter().find(|c| c.0 == name).map(|c| c.1 as f64);
    if let (Some(discarded), Some(positive)) = (counter("false_positives"), counter("positive_messages")) {
        all.push(("discarded_positives", discarded));
        all.push(("discarded_positive_share", discarded / positive.max(1.0) * 100.0));
    } else if counter("answers_positive").is_some() {
        // Probing schemes asked for every answer, and take it whatever its congestion point.
        all.push(("discarded_positives", 0.0));
        all.push(("discarded_positive_share", 0.0));
    }
    if let Some(changes) = counter("cpid_changes").or_else(|| counter("point_changes")) {
        all.push(("point_changes", changes));
    }
}

/// Counts, completion times and slowdowns of these flows; nothing of none.
pub fn completion(flows: &[Timed], all: &mut Measured) {
    if flows.is_empty() {
        return;
    }
    let completed = flows.iter().filter(|f| f.whole).count() as f64;
    all.push(("completed_transfers", completed));
    all.push(("incomplete_transfers", flows.len() as f64 - completed));
    all.push(("finished_flows", completed / flows.len() as f64 * 100.0));
    all.extend(times(flows).mean().map(|t| ("completion_time", t)));
    all.extend(percentiles(flows).into_iter().map(|(id, value, _)| (id, value)));
    let slowdowns = Ordered::of(flows.iter(), Timed::slowdown);
    if let Some(mean) = slowdowns.mean() {
        all.push(("slowdown", mean));
        all.push(("flows_below_ideal", fct::beat_ideal(flows) as f64));
    }
}

/// Completion times, us.
fn times(flows: &[Timed]) -> Ordered {
    Ordered::of(flows.iter(), |f| f.time.as_secs_f64() * 1e6)
}

/// Percentiles over all finite flows: metric, value, and whether it is a lower bound.
fn percentiles(flows: &[Timed]) -> Vec<(&'static str, f64, bool)> {
    let small = flows.iter().filter(|f| f.bytes.get() < SMALL_FLOW);
    let small = Ordered::of(small, |f| f.time.as_secs_f64() * 1e6);
    let slowdowns = Ordered::of(flows.iter(), Timed::slowdown);
    let times = times(flows);
    let asked: [(&'static str, &Ordered, f64); 12] = [
        ("completion_time_p50", &times, 0.5),
        ("completion_time_p90", &times, 0.9),
        ("completion_time_p95", &times, 0.95),
        ("completion_time_p99", &times, 0.99),
        ("completion_time_p999", &times, 0.999),
        ("completion_time_max", &times, 1.0),
        ("small_completion_p50", &small, 0.5),
        ("small_completion_p90", &small, 0.9),
        ("slowdown_p50", &slowdowns, 0.5),
        ("slowdown_p95", &slowdowns, 0.95),
        ("slowdown_p99", &slowdowns, 0.99),
        ("slowdown_p999", &slowdowns, 0.999),
    ];
    let of = |(id, all, q): (&'static str, &Ordered, f64)| {
        let (value, bound) = all.percentile(q)?;
        Some((id, value, bound))
    };
    asked.into_iter().filter_map(of).collect()
}

/// The metrics of a run that are lower bounds, as finite flows were not received whole.
pub fn lower_bounds(flows: &[Timed]) -> BTreeSet<&'static str> {
    if flows.iter().all(|f| f.whole) {
        return BTreeSet::new();
    }
    percentiles(flows).into_iter().filter(|p| p.2).map(|p| p.0).collect()
}

/// Flows below so many bytes are small, as studies of completion times have it.
const SMALL_FLOW: u64 = 100_000;

/// A share in per cent, at most 100. Frames in flight at the start of the measurement could raise it above.
fn share(of: f64) -> f64 {
    (of * 100.0).clamp(0.0, 100.0)
}

/// Fewest samples whose 99th percentile may differ from their maximum.
const SAMPLES: usize = 100;

/// A percentile of samples; none of too few.
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    percentile(&sorted, q).filter(|_| sorted.len() >= SAMPLES)
}

/// Bins that lie wholly within [from, to], seconds.
fn slice<T>(values: &[T], bin: f64, from: f64, to: f64) -> &[T] {
    const ROUNDING: f64 = 1e-6;
    let first = ((from / bin - ROUNDING).ceil().max(0.0) as usize).min(values.len());
    let last = ((to / bin + ROUNDING).floor().max(0.0) as usize).min(values.len());
    &values[first..last.max(first)]
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "transport_tests.rs"]
mod transport_tests;
