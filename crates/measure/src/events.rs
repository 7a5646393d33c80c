//! What happened to the rates and windows of flows: events of those that `record.flow_events` names, and words for their causes.

use cnsim_fabric::{FlowEvent, Outcome, Trigger};
use cnsim_scenario::settings::Settings;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};

/// A word for a cause.
pub fn cause(by: Trigger) -> &'static str {
    match by {
        Trigger::Answer => "round-trip",
        Trigger::Mark => "mark",
        Trigger::Message => "message",
        Trigger::Telemetry => "telemetry",
        Trigger::Loss => "loss",
        Trigger::Timeout => "timeout",
        Trigger::Recovery => "recovery",
        Trigger::Timer => "timer",
    }
}

/// Something that happened to a flow, and how it might send from then on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, ps.
    pub at: u64,
    /// Its place in [`Events::flows`].
    pub flow: u64,
    /// Its number among the flows of its pair of hosts, from 0 on, modulo 65,536; none of an event of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// The cause ([`cause`]).
    pub by: String,
    /// The port of the queue that caused it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Rate of its limiter, bit/s; the line rate without one.
    pub rate: f64,
    /// Window, bytes; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Bytes that were sent and not acknowledged; none without a queue pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u64>,
    /// The round trip that an acknowledgement ended, ps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<u64>,
}

/// The events of a run's named flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// The flows, as `H1>H5`.
    pub flows: Vec<String>,
    /// By source, in order.
    pub list: Vec<Event>,
    /// From when on events are left out, ps; none: none is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<u64>,
}

impl Events {
    /// Of a run; none if it names no flow.
    pub fn of(settings: &Settings, out: &Outcome) -> Option<Self> {
        let (named, wiring) = (&settings.record.named.events, &settings.wiring);
        let name = |flow: &(NodeId, NodeId)| format!("{}>{}", wiring.name(flow.0), wiring.name(flow.1));
        let event = |e: &FlowEvent| Event {
            at: e.at.as_ps(),
            flow: named.iter().position(|flow| *flow == e.flow).unwrap_or(0) as u64,
            nth: e.number.map(u64::from),
            by: cause(e.by).into(),
            port: e.port.map(|port| wiring.port_name(port)),
            rate: e.rate.bps(),
            window: e.window,
            in_flight: e.in_flight,
            rtt: e.rtt.map(|rtt| rtt.as_ps()),
        };
        (!named.is_empty()).then(|| Self {
            flows: named.iter().map(name).collect(),
            list: out.recorded.flow_events.iter().map(event).collect(),
            cut: out.recorded.events_cut.map(|cut| cut.as_ps()),
        })
    }

    /// Series of all flows by name, with their units: at the end of each bin (ps) rate, window and bytes in flight by the last event,
    /// and the last round trip, 0 before the first; and the number of marks in the bin.
    pub fn series(&self, bin: u64, bins: usize) -> Vec<(String, &'static str, Vec<f64>)> {
        let value = |what: &str, e: &Event| -> Option<f64> {
            match what {
                "rate" => Some(e.rate / 1e6),
                "window" => e.window.map(|bytes| bytes as f64 / 1e3),
                "in_flight" => e.in_flight.map(|bytes| bytes as f64 / 1e3),
                "rtt" => e.rtt.map(|rtt| rtt as f64 / 1e6),
                _ => (e.by == "mark").then_some(1.0),
            }
        };
        let of = |flow: usize, what: &str| {
            let mut values = vec![f64::NAN; bins];
            for e in self.list.iter().filter(|e| e.flow == flow as u64) {
                let at = (e.at.saturating_sub(1) / bin.max(1)) as usize;
                if let (Some(value), Some(last)) = (value(what, e), values.get_mut(at)) {
                    *last =
                        if what == "marks" { value + if last.is_nan() { 0.0 } else { *last } } else { value };
                }
            }
            let mut before = 0.0;
            for value in &mut values {
                *value = if value.is_nan() { before } else { *value };
                before = if what == "marks" { 0.0 } else { *value };
            }
            values
        };
        let kinds = SERIES.iter().map(|(what, unit)| (*what, *unit));
        let all =
            self.flows.iter().enumerate().flat_map(|(n, name)| kinds.clone().map(move |k| (n, name, k)));
        all.map(|(n, name, (what, unit))| (format!("{what} {name}"), unit, of(n, what))).collect()
    }
}

/// The series of a named flow, and their units.
pub const SERIES: [(&str, &str); 5] =
    [("rate", "Mb/s"), ("window", "KB"), ("in_flight", "KB"), ("rtt", "us"), ("marks", "")];

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bins of 10 us: what was last holds on, marks count anew, and what comes at a bin's end is in it.
    #[test]
    fn series_hold_what_was_last() {
        let event = |us: u64, by: &str, window, rtt| Event {
            at: us * 1_000_000,
            by: by.into(),
            window: Some(window),
            rtt,
            ..Event::default()
        };
        let list = vec![
            event(3, "mark", 9_000, Some(4_000_000)),
            event(10, "mark", 5_000, None),
            event(31, "round-trip", 7_000, Some(6_000_000)),
        ];
        let events = Events { flows: vec!["H0>H1".into()], list, cut: None };
        let series = events.series(10_000_000, 4);
        let of = |name: &str| series.iter().find(|s| s.0 == format!("{name} H0>H1")).unwrap().2.clone();
        assert_eq!(of("window"), [5.0, 5.0, 5.0, 7.0]);
        assert_eq!(of("rtt"), [4.0, 4.0, 4.0, 6.0]);
        assert_eq!(of("marks"), [2.0, 0.0, 0.0, 0.0]);
        assert_eq!(of("in_flight"), [0.0; 4]);
    }
}
