//! How each metric comes out of a run; [`crate::metrics`] defines them.

use crate::fair::max_min;
use crate::settings::Settings;
use crate::stats::Summary;
use cnsim_fabric::{HostOutcome, Outcome, SeriesKind, latency_quantile};
use cnsim_scheme_api::{NodeId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is measured at a port named by the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortFacts {
    /// Data rate sent, Gb/s, mean of the run.
    pub throughput: f64,
    /// Share of the run in XOFF, per cent.
    pub paused: f64,
    /// Mean queue over the measurement, KB.
    pub mean_queue: f64,
    /// Its standard deviation, KB.
    pub sd_queue: f64,
    /// Data frames discarded.
    pub dropped: f64,
}

/// Facts of the named ports.
pub fn ports(settings: &Settings, out: &Outcome) -> BTreeMap<String, PortFacts> {
    let seconds = out.duration.as_secs_f64();
    let window = (settings.from.as_secs_f64(), settings.to.as_secs_f64());
    let facts = |at: (NodeId, u16)| {
        let port = out.port(settings.hosts(), at)?;
        let queue = out.series(SeriesKind::Queue { node: at.0, port: at.1 });
        let inside: Vec<f64> = queue.map_or(Vec::new(), |q| {
            slice(&q.values, settings.bin.as_secs_f64(), window.0, window.1).iter().map(|v| v / 1e3).collect()
        });
        let queue = Summary::of(&inside);
        Some(PortFacts {
            throughput: port.sent_bits as f64 / seconds / 1e9,
            paused: port.paused.as_secs_f64() / seconds * 100.0,
            mean_queue: queue.as_ref().map_or(0.0, |q| q.mean),
            sd_queue: queue.as_ref().map_or(0.0, |q| q.sd),
            dropped: (port.dropped + port.dropped_by_limit) as f64,
        })
    };
    let named = settings.named.ports.iter();
    named.filter_map(|p| Some((settings.wiring.port_name(*p), facts(*p)?))).collect()
}

/// Measures a run.
pub fn measure(settings: &Settings, out: &Outcome) -> Vec<(&'static str, f64)> {
    let seconds = out.duration.as_secs_f64();
    let delivered: u64 = out.hosts.iter().map(|h| h.delivered).sum();
    let latency: f64 = out.hosts.iter().map(|h| h.latency_sum.as_secs_f64()).sum();
    let mut all = vec![
        ("dropped_frames", out.dropped() as f64),
        ("overhead", out.control_bits as f64 / seconds / 1e6),
        ("mean_latency", latency / delivered.max(1) as f64 * 1e6),
        ("source_discards", out.hosts.iter().map(|h| h.source_discards).sum::<u64>() as f64),
        ("control_messages", out.control_messages as f64),
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
    transfers(out, &mut all);
    feedback(out, &mut all);
    let mut histogram: Vec<u64> = Vec::new();
    for h in &out.hosts {
        histogram.resize(histogram.len().max(h.latency.len()), 0);
        histogram.iter_mut().zip(&h.latency).for_each(|(sum, n)| *sum += n);
    }
    for (id, q) in [("latency_p50", 0.5), ("latency_p99", 0.99), ("latency_p999", 0.999)] {
        if let Some(t) = latency_quantile(&histogram, q) {
            all.push((id, t.as_secs_f64() * 1e6));
        }
    }
    if let Some(at) = out.frozen_since {
        all.push(("frozen_since", at.as_secs_f64() * 1e3));
    }
    all
}

type Measured = Vec<(&'static str, f64)>;

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
    let affected: Vec<f64> = hosts.iter().copied().filter(|p| *p > 0.0).collect();
    all.push(("time_paused_affected", mean(&affected)));
    let first = settings.hosts() as u32;
    let between = settings.wiring.links.iter().filter(|l| l.a.0.0 >= first && l.b.0.0 >= first);
    let ends = between.flat_map(|l| [l.a, l.b]);
    let links: Vec<f64> =
        ends.filter_map(|e| out.port(settings.hosts(), e)).map(|p| share(p.paused)).collect();
    let every = out.hosts.iter().map(|h| share(h.paused)).chain(links.iter().copied());
    let touched: Vec<f64> = every.filter(|p| *p > 0.0).collect();
    all.push(("time_paused_touched", mean(&touched)));
    all.push(("time_paused", mean(if settings.paused_touched { &touched } else { &hosts })));
    if !links.is_empty() {
        all.push(("time_paused_links", mean(&links)));
        let both: Vec<f64> = hosts.into_iter().chain(links).collect();
        all.push(("time_paused_all", mean(&both)));
    }
}

/// Mean of a delivered series over the measurement, Gb/s.
fn rate(settings: &Settings, out: &Outcome, host: usize) -> f64 {
    let whole = settings.from == Time::ZERO && settings.to == settings.duration;
    match out.series(SeriesKind::Delivered { host: NodeId(host as u32) }).filter(|_| !whole) {
        Some(s) => {
            let bin = settings.bin.as_secs_f64();
            mean(slice(&s.values, bin, settings.from.as_secs_f64(), settings.to.as_secs_f64())) / 1e9
        }
        None => out.hosts[host].delivered_bits as f64 / out.duration.as_secs_f64() / 1e9,
    }
}

fn throughput(settings: &Settings, out: &Outcome, all: &mut Measured) {
    let total: f64 = (0..settings.hosts()).map(|h| rate(settings, out, h)).sum();
    all.push(("aggregate_throughput", total));
    // The bottleneck: the switch port with the largest load of data and control relative to its link.
    let mut worst: Option<(f64, f64, f64)> = None;
    for l in &settings.wiring.links {
        for end in [l.a, l.b] {
            let Some(p) = out.port(settings.hosts(), end) else { continue };
            let per_second = 1.0 / out.duration.as_secs_f64() / 1e9;
            let (data, control) =
                (p.sent_bits as f64 * per_second, p.control_sent as f64 * 512.0 * per_second);
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
    if settings.greedy() && !fixed.is_empty() {
        let ideal: f64 = max_min(&settings.wiring, &fixed).iter().sum::<f64>() / 1e9;
        all.push(("aggregate_loss", ideal - total));
    }
    if settings.named.ports.len() > 1 {
        if let Some(p) = settings.named.ports.first().and_then(|p| out.port(settings.hosts(), *p)) {
            all.push(("port_throughput", p.sent_bits as f64 / out.duration.as_secs_f64() / 1e9));
        }
        let sum: u64 = settings
            .named
            .ports
            .iter()
            .filter_map(|p| out.port(settings.hosts(), *p))
            .map(|p| p.sent_bits)
            .sum();
        all.push(("ports_throughput", sum as f64 / out.duration.as_secs_f64() / 1e9));
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
    let innocent = (0..settings.hosts()).map(|h| settings.offered_elsewhere(h)).sum::<f64>() / 1e9;
    if innocent > 0.0 {
        all.push(("innocent_flow_utilization", (total - hot_rate) / innocent * 100.0));
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
            let here = out.port(settings.hosts(), (node, port));
            let here = here.map_or(0.0, |p| (p.dropped + p.dropped_by_limit) as f64);
            all.push(("innocent_drop_share", (dropped - here) / dropped * 100.0));
        }
    }
    let Some(h) = settings.hotspot() else { return };
    let Some(s) = out.series(SeriesKind::Delivered { host: NodeId(h.host as u32) }) else { return };
    let slow = mean(&inside(&s.values));
    if h.rate.bps() > 0.0 {
        all.push(("bottleneck_utilization", slow / h.rate.bps() * 100.0));
    }
    if h.period.is_some() {
        let spent: f64 = windows.iter().map(|w| w.1 - w.0).sum();
        let offered: f64 =
            (0..settings.hosts()).map(|i| settings.offered_by(i).bps() - settings.offered_elsewhere(i)).sum();
        if seconds > spent && offered > 0.0 {
            let bits = out.hosts[h.host].delivered_bits as f64 - slow * spent;
            all.push(("victim_utilization_otherwise", bits / (seconds - spent) / offered * 100.0));
            let allowed = spent * h.rate.bps() + (seconds - spent) * offered;
            all.push(("victim_flow_utilization", out.hosts[h.host].delivered_bits as f64 / allowed * 100.0));
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
    let bin = settings.bin;
    let series = |src: NodeId, dst: NodeId| out.series(SeriesKind::Flow { src, dst });
    let whole = settings.from == Time::ZERO && settings.to == settings.duration;
    let hosts = settings.hosts();
    let rates: Vec<f64> = settings
        .fixed_flows()
        .iter()
        .filter_map(|&(a, b)| match series(NodeId(a as u32), NodeId(b as u32)).filter(|_| !whole) {
            Some(s) => {
                let (from, to) = (settings.from.as_secs_f64(), settings.to.as_secs_f64());
                Some(mean(slice(&s.values, bin.as_secs_f64(), from, to)) / 1e6)
            }
            None => {
                let bytes = *out.matrix.get(a * hosts + b)?;
                Some(bytes as f64 * 8.0 / out.duration.as_secs_f64() / 1e6)
            }
        })
        .collect();
    if !rates.is_empty() {
        all.push(("flow_rate", mean(&rates)));
        all.push(("flow_rate_min", rates.iter().copied().fold(f64::INFINITY, f64::min)));
        all.push(("flow_rate_max", rates.iter().copied().fold(0.0, f64::max)));
    }
    let bin = bin.as_secs_f64();
    let indices = fairness(settings, out);
    let window = slice(&indices, bin, settings.from.as_secs_f64(), settings.to.as_secs_f64());
    let steady: Vec<f64> = window.iter().filter(|i| i.1).filter_map(|i| i.0).collect();
    if !steady.is_empty() {
        all.push(("fairness", mean(&steady)));
    }
}

/// Per bin, the Jain index over the recorded flows whose source is on, if there are two of them and anything arrived;
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
    let state = |b: u64| flows.iter().map(|f| on(f.0, b)).collect::<Vec<bool>>();
    let index = |b: u64| {
        let now = state(b);
        let steady = b >= settle && (b - settle..=b).all(|e| state(e) == now);
        let here = flows.iter().zip(&now).filter(|(_, on)| **on);
        let rates: Vec<f64> = here.filter_map(|(f, _)| f.1.get(b as usize).copied()).collect();
        let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|r| r * r).sum::<f64>());
        let some = rates.len() > 1 && squares > 0.0;
        (some.then(|| sum * sum / (rates.len() as f64 * squares)), steady)
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

/// Completion times of finite transfers.
fn transfers(out: &Outcome, all: &mut Measured) {
    let mut times: Vec<f64> = out
        .hosts
        .iter()
        .flat_map(|h| &h.completions)
        .map(|c| (c.end.saturating_sub(c.start)).as_secs_f64() * 1e6)
        .collect();
    let incomplete: u64 = out.hosts.iter().map(|h| h.incomplete).sum();
    if times.is_empty() && incomplete == 0 {
        return;
    }
    times.sort_by(f64::total_cmp);
    all.push(("completed_transfers", times.len() as f64));
    all.push(("incomplete_transfers", incomplete as f64));
    if !times.is_empty() {
        all.push(("completion_time", mean(&times)));
        let at = ((times.len() as f64 * 0.99).ceil() as usize).clamp(1, times.len());
        all.push(("completion_time_p99", times[at - 1]));
    }
}

/// Bins that lie within [from, to], seconds.
fn slice<T>(values: &[T], bin: f64, from: f64, to: f64) -> &[T] {
    let at = |t: f64| ((t / bin).round() as usize).min(values.len());
    &values[at(from)..at(to).max(at(from))]
}
