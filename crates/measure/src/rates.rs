//! Rates in the measurement, and what is taken of series and samples.

use crate::stats::percentile;
use cnsim_fabric::{HostOutcome, Outcome, SeriesKind};
use cnsim_scenario::settings::Settings;
use cnsim_scheme_api::{NodeId, Time};

/// Mean of these values; 0 of none.
pub(crate) fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len().max(1) as f64
}

/// The bins of a series that lie in the measurement.
pub(crate) fn measured<'a, T>(settings: &Settings, values: &'a [T]) -> &'a [T] {
    slice(
        values,
        settings.record.bin.as_secs_f64(),
        settings.record.from.as_secs_f64(),
        settings.record.to.as_secs_f64(),
    )
}

/// Rate in the measurement, bit/s: the mean of its bins, or where the measurement is the whole run, these bits over its
/// duration. None if a series is due and was not recorded.
pub(crate) fn rate_of(settings: &Settings, out: &Outcome, kind: SeriesKind, bits: f64) -> Option<f64> {
    if settings.whole() {
        return Some(bits / out.duration.as_secs_f64());
    }
    out.series(kind).map(|s| mean(measured(settings, &s.values)))
}

/// Bits that a host received: the payload of finite flows, and whole frames of endless sources.
pub(crate) fn received(host: &HostOutcome) -> f64 {
    host.delivered_bits.saturating_sub(host.header_bits) as f64
}

/// Data rate delivered to a host in the measurement, Gb/s.
pub(crate) fn rate(settings: &Settings, out: &Outcome, host: usize) -> f64 {
    let kind = SeriesKind::Delivered { host: NodeId(host as u32) };
    rate_of(settings, out, kind, received(&out.hosts[host])).unwrap_or(0.0) / 1e9
}

/// Data rate sent by a switch port in the measurement, bit/s.
pub(crate) fn sent(settings: &Settings, out: &Outcome, (node, port): (NodeId, u16)) -> Option<f64> {
    let bits = out.port(settings.hosts(), (node, port))?.sent_bits as f64;
    rate_of(settings, out, SeriesKind::Sent { node, port }, bits)
}

/// Jain's index of each bin over the recorded flows whose source is on, if there are two or more and something arrived;
/// and whether the bin is more than 2 ms after an on-off change.
pub fn fairness(settings: &Settings, out: &Outcome) -> Vec<(Option<f64>, bool)> {
    let flows: Vec<(usize, &[f64])> = settings
        .record
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
    let bin = settings.record.bin.as_ps();
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

/// A share in per cent, at most 100. Frames in flight at the start of the measurement could raise it above.
pub(crate) fn share(of: f64) -> f64 {
    (of * 100.0).clamp(0.0, 100.0)
}

/// Fewest samples whose 99th percentile may differ from their maximum.
const SAMPLES: usize = 100;

/// A percentile of samples; none of too few.
pub(crate) fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    percentile(&sorted, q).filter(|_| sorted.len() >= SAMPLES)
}

/// Bins that lie wholly within [from, to], seconds.
pub(crate) fn slice<T>(values: &[T], bin: f64, from: f64, to: f64) -> &[T] {
    const ROUNDING: f64 = 1e-6;
    let first = ((from / bin - ROUNDING).ceil().max(0.0) as usize).min(values.len());
    let last = ((to / bin + ROUNDING).floor().max(0.0) as usize).min(values.len());
    &values[first..last.max(first)]
}
