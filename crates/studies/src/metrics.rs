//! What is measured: definitions, tolerances, and how each metric comes out of a run.

use crate::settings::Settings;
use cnsim_fabric::{Outcome, SeriesKind};
use cnsim_scheme_api::NodeId;

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Id, as in published.csv.
    pub id: &'static str,
    /// Heading of a column.
    pub title: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Definition.
    pub about: &'static str,
    /// Tolerance of the verdict.
    pub tolerance: Tolerance,
}

/// How far a published value may be from the measured mean and still agree, beside the prediction interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// A share of the published value.
    Relative(f64),
    /// A difference in the metric's unit.
    Absolute(f64),
    /// The larger of a share and a difference.
    Either(f64, f64),
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

    /// In words.
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
    Metric { id, title, unit, about, tolerance }
}

/// All metrics, published ones first.
pub const METRICS: &[Metric] = &[
    metric(
        "aggregate_throughput",
        "aggregate",
        "Gb/s",
        Tolerance::Relative(0.015),
        "data bits delivered to all hosts during the run, divided by its duration; drops and control frames excluded",
    ),
    metric(
        "hot_port_throughput",
        "hot port",
        "Gb/s",
        Tolerance::Relative(0.015),
        "data bits delivered to the hot host during the whole run, divided by its duration",
    ),
    metric(
        "time_paused",
        "paused",
        "%",
        Tolerance::Absolute(0.5),
        "share of the run during which a host's transmitter was in XOFF, mean over all sending hosts but the hot one",
    ),
    metric(
        "dropped_frames",
        "dropped",
        "frames",
        Tolerance::Either(0.01, 100.0),
        "data frames discarded in switches; what a source discards before the network is not counted",
    ),
    metric(
        "overhead",
        "overhead",
        "Mb/s",
        Tolerance::Relative(0.05),
        "bits of all control messages divided by the duration; a message counts once, when made, a broadcast is one message, PAUSE is not counted",
    ),
    metric(
        "innocent_throughput",
        "innocents",
        "Gb/s",
        Tolerance::Relative(0.015),
        "aggregate less hot-port throughput",
    ),
    metric(
        "recovery_time",
        "recovery",
        "ms",
        Tolerance::Relative(0.05),
        "time from the end of the hotspot until the mean hot-port throughput over 20 ms is at least 95 % of its mean in the 50 ms before the hotspot; the rest of the run where that never happens",
    ),
    metric(
        "recovery_deficit",
        "deficit",
        "ms",
        Tolerance::Relative(0.05),
        "integral over the time after the hotspot of (earlier - present hot-port throughput) / earlier",
    ),
    metric(
        "bottleneck_utilization",
        "utilisation",
        "%",
        Tolerance::Relative(0.015),
        "bits delivered by the hot port while it is slow, over what its service rate allows",
    ),
    metric(
        "mean_hot_queue",
        "mean queue",
        "KB",
        Tolerance::Relative(0.05),
        "mean length of the hot queue while the port is slow (sampled at each bin's end); the whole run where there is no hotspot",
    ),
    metric(
        "sd_hot_queue",
        "sd of queue",
        "KB",
        Tolerance::Relative(0.05),
        "standard deviation of the same samples",
    ),
    metric(
        "mean_latency",
        "latency",
        "us",
        Tolerance::Relative(0.05),
        "mean time from a frame's generation to its reception",
    ),
    metric(
        "source_discards",
        "source discards",
        "frames",
        Tolerance::Either(0.01, 100.0),
        "frames that a source discarded because its queue was full",
    ),
    metric("control_messages", "messages", "", Tolerance::Relative(0.05), "control messages made"),
];

/// Finds a metric.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|m| m.id == id)
}

/// Is a value zero by construction here, so that agreement says nothing?
pub fn structural_zero(metric: &str, pause: &str, scheme: &str) -> bool {
    match metric {
        "dropped_frames" => pause != "off",
        "time_paused" => pause == "off",
        "overhead" | "control_messages" => scheme == "none",
        _ => false,
    }
}

/// Measures a run.
pub fn measure(settings: &Settings, out: &Outcome) -> Vec<(&'static str, f64)> {
    let seconds = out.duration.as_secs_f64();
    let gbps = |bits: u64| bits as f64 / seconds / 1e9;
    let total: u64 = out.hosts.iter().map(|h| h.delivered_bits).sum();
    let delivered: u64 = out.hosts.iter().map(|h| h.delivered).sum();
    let hot = settings.hotspot.map(|h| h.host);
    let senders: Vec<f64> = out
        .hosts
        .iter()
        .enumerate()
        .filter(|(i, h)| Some(*i) != hot && h.generated > 0)
        .map(|(_, h)| h.paused.as_secs_f64() / seconds * 100.0)
        .collect();
    let latency: f64 = out.hosts.iter().map(|h| h.latency_sum.as_secs_f64()).sum();
    let mut all = vec![
        ("aggregate_throughput", gbps(total)),
        ("time_paused", senders.iter().sum::<f64>() / senders.len().max(1) as f64),
        ("dropped_frames", out.dropped() as f64),
        ("overhead", out.control_bits as f64 / seconds / 1e6),
        ("mean_latency", latency / delivered.max(1) as f64 * 1e6),
        ("source_discards", out.hosts.iter().map(|h| h.source_discards).sum::<u64>() as f64),
        ("control_messages", out.control_messages as f64),
    ];
    let bin = settings.bin.as_secs_f64();
    let window = settings.hotspot.map_or((0.0, seconds), |h| (h.start.as_secs_f64(), h.stop.as_secs_f64()));
    if let Some(q) = out.series.iter().find(|s| matches!(s.kind, SeriesKind::Queue { .. })) {
        let inside: Vec<f64> = slice(&q.values, bin, window.0, window.1).iter().map(|v| v / 1e3).collect();
        if let Some(s) = crate::stats::Summary::of(&inside) {
            all.push(("mean_hot_queue", s.mean));
            all.push(("sd_hot_queue", s.sd));
        }
    }
    if let Some(h) = settings.hotspot {
        let bits = out.hosts[h.host].delivered_bits;
        all.push(("hot_port_throughput", gbps(bits)));
        all.push(("innocent_throughput", gbps(total - bits)));
        let host = NodeId(h.host as u32);
        if let Some(s) = out.series(SeriesKind::Delivered { host }) {
            let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
            let earlier = mean(slice(&s.values, bin, (window.0 - 0.05).max(0.0), window.0));
            let inside = mean(slice(&s.values, bin, window.0, window.1));
            if h.rate.bps() > 0.0 {
                all.push(("bottleneck_utilization", inside / h.rate.bps() * 100.0));
            }
            let after = slice(&s.values, bin, window.1, seconds);
            if earlier > 0.0 && !after.is_empty() {
                let width = ((0.02 / bin).round() as usize).clamp(1, after.len());
                let back = after.windows(width).position(|w| mean(w) >= 0.95 * earlier);
                let time = back.map_or(after.len() as f64 * bin, |i| i as f64 * bin);
                all.push(("recovery_time", time * 1e3));
                all.push((
                    "recovery_deficit",
                    after.iter().map(|v| (earlier - v) / earlier * bin).sum::<f64>() * 1e3,
                ));
            }
        }
    }
    all
}

/// Bins that lie within [from, to], seconds.
fn slice(values: &[f64], bin: f64, from: f64, to: f64) -> &[f64] {
    let at = |t: f64| ((t / bin).round() as usize).min(values.len());
    &values[at(from)..at(to).max(at(from))]
}
