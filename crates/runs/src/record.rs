//! The record of a run: one type from the end of a run to the store, `results.json`, tables, figures and Python.

use cnsim_measure::PortFacts;
use cnsim_measure::events::Events;
use cnsim_measure::fct::{FlowTime, SizeGroup, Unfinished};
use cnsim_measure::frozen::Frozen;
use cnsim_measure::jobs::JobFacts;
use cnsim_measure::map::Map;
use cnsim_measure::pauses::Stops;
use cnsim_measure::quantity::Quantities;
use cnsim_measure::spent::Spent;
use cnsim_measure::traffic::TrafficFacts;
use cnsim_measure::xoff::Xoff;
use cnsim_scenario::case::CaseId;
use cnsim_scenario::config::Config;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A time series of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Curve {
    /// Unit of the values.
    pub unit: String,
    /// Width of a bin, seconds.
    pub bin: f64,
    /// The values, one for each bin.
    pub values: Vec<f64>,
    /// Of a queue: its largest length in each bin, however short it was. Empty for other series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<f64>,
}

impl Curve {
    /// The largest value that is known: of a queue its peak, which no bin hides.
    pub fn top(&self) -> f64 {
        self.upper().iter().copied().fold(0.0, f64::max)
    }

    /// The largest value in each bin that is known: the peaks of a queue, the values of another series.
    pub fn upper(&self) -> &[f64] {
        if self.peaks.len() == self.values.len() { &self.peaks } else { &self.values }
    }
}

/// The most bytes that the parts of a switch's shared buffer ever held, each beside its size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedFacts {
    /// Name of the switch.
    pub switch: String,
    /// The reserves of all inputs, as the pool came to its most; 0 if that was no more than a 64th.
    pub reserve: (u64, u64),
    /// The pool, rounded up to a 64th of it.
    pub pool: (u64, u64),
    /// The headroom of all inputs.
    pub headroom: (u64, u64),
}

/// How a run was carried out: what its results do not depend on, or that names what is not cnsim's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Data and control frames that finished a link.
    pub packet_hops: u64,
    /// Why the network ran by the model instead of the fast engine, if it did: the same results, later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_model: Option<String>,
    /// Of which phases the run was put together, if it has a graph. Not in `results.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<String>,
    /// Hash of the program's code, if the scheme belongs to the program and not to cnsim. Not in `results.json`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The series of every queue and host were kept, not only the key ones. Not in `results.json`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_series: bool,
}

/// The finite flows of a run, one by one. Files of their own hold them beside `results.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowRecord {
    /// Names of the run's hosts, where the times of its flows are kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Times of the finite flows, where they are kept (record.flow_times).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<FlowTime>,
    /// Where the time of the finite flows went, if record.trips keeps that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// Events of the flows that record.flow_events names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// Slowdowns of the finite flows by size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_size: Vec<SizeGroup>,
    /// The finite flows that were not received whole, by start: all where the times of flows are kept, else the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
}

/// What a run recorded over its time. Files of their own hold it beside `results.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OverTime {
    /// The recorded series by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub series: BTreeMap<String, Curve>,
    /// Every port over time, if record.map keeps that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<Map>,
    /// The run's XOFFs, if record.pauses keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Stops>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A finished run: its settings and its results, in the store as in `results.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// The case of which this is a run.
    #[serde(flatten)]
    pub case: CaseId,
    /// Seed of the run's random streams.
    pub seed: u64,
    /// Only where the network stood still at the end: since when, and which ports wait for which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<Frozen>,
    /// Hashes over events, frames and samples, hexadecimal.
    pub fingerprint: BTreeMap<String, String>,
    /// All that determines the run but the seed and the code ([`cnsim_scenario::config`]).
    pub config: Config,
    /// The measured values.
    pub metrics: Quantities,
    /// Values of the scheme's counters, by name.
    pub counters: BTreeMap<String, u64>,
    /// Facts of the ports.
    pub ports: BTreeMap<String, PortFacts>,
    /// When each port was in XOFF, of those that ever were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub xoff: Vec<Xoff>,
    /// The most that each switch's shared buffer held, in the order of the switches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedFacts>,
    /// Results of each name of traffic, in the order of the `[[traffic]]` tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficFacts>,
    /// Results of the collectives, in the order of their tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobFacts>,
    /// How the run was carried out.
    #[serde(flatten)]
    pub execution: Execution,
    /// Files of its series, from the folder of the results; none in a store.
    #[serde(rename = "series")]
    pub files: Vec<String>,
    /// The finite flows. Not in `results.json`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flows: FlowRecord,
    /// What was recorded over time. Not in `results.json`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over_time: OverTime,
}

impl RunRecord {
    /// The run as `results.json` holds it, beside these files of series.
    pub fn brief(&self, files: Vec<String>) -> Self {
        Self {
            files,
            execution: Execution {
                phases: None,
                code: String::new(),
                all_series: false,
                ..self.execution.clone()
            },
            flows: FlowRecord::default(),
            over_time: OverTime::default(),
            jobs: self.jobs.iter().map(|job| JobFacts { path: Vec::new(), ..job.clone() }).collect(),
            ..self.clone()
        }
    }

    /// Text forms of what the run keeps by place, by name: XOFF of each port over time, and use of each shared buffer.
    pub fn of_places(&self) -> BTreeMap<String, String> {
        let text = |percent: &[u8]| percent.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
        let xoff = self.xoff.iter().map(|x| {
            (
                [format!("XOFF of {}", x.port), x.class.clone()].join(" ").trim_end().to_string(),
                text(&x.percent),
            )
        });
        let held = |s: &SharedFacts| format!("{:?}, {:?}, {:?}", s.reserve, s.pool, s.headroom);
        let shared = self.shared.iter().map(|s| (format!("shared buffer of {}", s.switch), held(s)));
        xoff.chain(shared).collect()
    }

    /// The measured values of the traffic of a name, or of all traffic under the empty name.
    pub fn of_traffic(&self, name: &str) -> Option<&Quantities> {
        match name {
            "" => Some(&self.metrics),
            name => self.traffic.iter().find(|t| t.name == name).map(|t| &t.metrics),
        }
    }

    /// The run's name for a person.
    pub fn title(&self) -> String {
        format!("{}, seed {}", self.case, self.seed)
    }
}
