//! The time series of a run: what its scenario names, and with `all_series` every queue and every host.

use crate::record::Curve;
use cnsim_fabric::{GaugeSite, Outcome, SeriesKind};
use cnsim_measure::events::Events;
use cnsim_measure::fairness;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::settings::Settings;
use cnsim_scheme_api::NodeId;
use std::collections::BTreeMap;

/// Factors from the network's units, bytes and bit/s, to those of curves.
const KB: f64 = 1e-3;
const MBPS: f64 = 1e-6;
const GBPS: f64 = 1e-9;

/// The series of a run by their names; `events` are those of the flows that the scenario names.
pub(crate) fn of(
    settings: &Settings,
    out: &Outcome,
    events: Option<&Events>,
    all_series: bool,
) -> BTreeMap<String, Curve> {
    let mut curves = Curves { settings, out, all: BTreeMap::new() };
    curves.of_ports();
    curves.of_flows(all_series);
    let bins = out.recorded.series.first().map_or(0, |s| s.values.len());
    for (name, unit, values) in events.iter().flat_map(|e| e.series(settings.record.bin.as_ps(), bins)) {
        curves.keep(name, unit, &values, 1.0);
    }
    curves.of_all();
    if all_series {
        curves.everywhere();
    }
    curves.all
}

/// The series of a run in the making.
struct Curves<'a> {
    settings: &'a Settings,
    out: &'a Outcome,
    all: BTreeMap<String, Curve>,
}

impl Curves<'_> {
    fn keep(&mut self, name: impl AsRef<str>, unit: &str, values: &[f64], scale: f64) {
        let bin = self.settings.record.bin.as_secs_f64();
        let curve = Curve { unit: unit.into(), bin, values: rounded(values, scale), ..Curve::default() };
        self.all.insert(name.as_ref().into(), curve);
    }

    fn keep_queue(&mut self, name: String, (node, port): (NodeId, u16)) {
        let Some(queue) = self.out.series(SeriesKind::Queue { node, port }) else { return };
        let peaks = self.out.series(SeriesKind::QueuePeak { node, port });
        let peaks = peaks.map_or_else(Vec::new, |s| rounded(&s.values, KB));
        let (bin, values) = (self.settings.record.bin.as_secs_f64(), rounded(&queue.values, KB));
        self.all.insert(name, Curve { unit: "KB".into(), bin, values, peaks });
    }

    /// Queues of the ports that the scenario names. Of several ports also what the first one sends, and all of them together.
    fn of_ports(&mut self) {
        let (named, wiring, out) = (&self.settings.record.named.ports, &self.settings.wiring, self.out);
        for (i, &at) in named.iter().enumerate() {
            let name = if i == 0 { "hot_queue".into() } else { format!("queue {}", wiring.port_name(at)) };
            for (class, own) in (0..).zip(&self.settings.classes.list) {
                let kind = SeriesKind::ClassQueue { node: at.0, port: at.1, class };
                if let Some(queue) = out.series(kind) {
                    self.keep(format!("{name}, class {}", own.name), "KB", &queue.values, KB);
                }
            }
            self.keep_queue(name, at);
        }
        if let [first, _, ..] = named[..] {
            let sent = |(node, port)| out.series(SeriesKind::Sent { node, port }).map(|s| &s.values);
            if let Some(values) = sent(first) {
                self.keep(format!("sent {}", wiring.port_name(first)), "Gb/s", values, GBPS);
            }
            let total = sum(named.iter().filter_map(|p| sent(*p)));
            self.keep("ports_throughput", "Gb/s", &total, GBPS);
        }
    }

    /// Rates of flows and limiters, gauges, and the rate of control.
    fn of_flows(&mut self, all_series: bool) {
        let (named, wiring, out) = (&self.settings.record.named, &self.settings.wiring, self.out);
        // A map records every port, and shows no gauges.
        let map = self.settings.record.map;
        let shown = |at: GaugeSite| match at {
            GaugeSite::Port(node, port) if map => all_series || named.ports.contains(&(node, port)),
            _ => true,
        };
        let pair = |src, dst| format!("{}>{}", wiring.name(src), wiring.name(dst));
        for s in &out.recorded.series {
            match s.kind {
                SeriesKind::Flow { src, dst } if named.flows.contains(&(src, dst)) => {
                    self.keep(format!("flow {}", pair(src, dst)), "Mb/s", &s.values, MBPS);
                }
                // Values that the scheme shows have units of its own, and all their digits.
                SeriesKind::Gauge { at, gauge } if shown(at) => {
                    if let Some(g) = out.recorded.gauges.get(usize::from(gauge)) {
                        let name = format!("gauge {} {}", g.name, wiring.gauge_place(at));
                        let (unit, bin) = (g.unit.to_string(), self.settings.record.bin.as_secs_f64());
                        let values = s.values.clone();
                        self.all.insert(name, Curve { unit, bin, values, ..Curve::default() });
                    }
                }
                SeriesKind::LimiterRate { src, dst } => {
                    self.keep(format!("limiter {}", pair(src, dst)), "Mb/s", &s.values, MBPS);
                }
                SeriesKind::Control if out.messages.bits > 0 => {
                    self.keep("control_rate", "Mb/s", &s.values, MBPS);
                }
                _ => {}
            }
        }
    }

    /// Fairness, and what arrives: in all, at the hot host, and at all others.
    fn of_all(&mut self) {
        let out = self.out;
        // Where nothing arrives, nobody gets a fair share.
        let jain: Vec<f64> = fairness(self.settings, out).iter().map(|i| i.0.unwrap_or(0.0)).collect();
        if !jain.is_empty() {
            self.keep(Id::Fairness, "", &jain, 1.0);
        }
        let all = out.recorded.series.iter().filter(|s| matches!(s.kind, SeriesKind::Delivered { .. }));
        let total = sum(all.map(|s| &s.values));
        self.keep(Id::AggregateThroughput, "Gb/s", &total, GBPS);
        let host = NodeId(self.settings.record.receiver as u32);
        if let Some(hot) = out.series(SeriesKind::Delivered { host }) {
            self.keep(Id::HotPortThroughput, "Gb/s", &hot.values, GBPS);
            // Throughput of traffic that does not pass the hot port: M08's figure of the innocents.
            if self.settings.record.hot {
                let rest: Vec<f64> = total.iter().zip(&hot.values).map(|(t, h)| t - h).collect();
                self.keep(Id::InnocentThroughput, "Gb/s", &rest, GBPS);
            }
        }
    }

    /// Every queue, and what arrives at every host. Each NIC of several has a series, and their host has the sum.
    fn everywhere(&mut self) {
        let (wiring, out) = (&self.settings.wiring, self.out);
        for s in &out.recorded.series {
            match s.kind {
                SeriesKind::Queue { node, port } => {
                    self.keep_queue(format!("queue {}", wiring.port_name((node, port))), (node, port));
                }
                SeriesKind::Delivered { host } => {
                    let nics = wiring.nics(host.0 as usize);
                    if nics.len() > 1 && nics.start == host.0 as usize {
                        let of = |nic| out.series(SeriesKind::Delivered { host: NodeId(nic as u32) });
                        let total = sum(nics.clone().filter_map(of).map(|s| &s.values));
                        let name = format!("delivered {}", wiring.machine(nics.start));
                        self.keep(name, "Gb/s", &total, GBPS);
                    }
                    self.keep(format!("delivered {}", wiring.name(host)), "Gb/s", &s.values, GBPS);
                }
                _ => {}
            }
        }
    }
}

/// Values in another unit, with four decimals.
fn rounded(values: &[f64], scale: f64) -> Vec<f64> {
    values.iter().map(|v| (v * scale * 1e4).round() / 1e4 + 0.0).collect()
}

/// Sum of series, bin by bin.
fn sum<'a>(series: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut total: Vec<f64> = Vec::new();
    for values in series {
        total.resize(values.len(), 0.0);
        total.iter_mut().zip(values).for_each(|(t, v)| *t += v);
    }
    total
}
