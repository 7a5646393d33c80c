//! Why transmitters stood: the XOFFs of a run, kept with the run, and the forest from the roots to all that they stopped.

mod circle;
mod forest;
mod victims;
mod words;

pub use circle::Circle;
pub use forest::{Forest, Kind, Part, Place, Root};

pub use victims::Stood;
pub use words::{exact, part, time};

use cnsim_fabric::Outcome;
use cnsim_scenario::wiring::Wiring;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The XOFFs of a run ([`cnsim_fabric::Pauses`]), with names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stops {
    /// Names of transmitters and outputs: `S1>S2` of a switch's port, `H1` of a host.
    pub names: Vec<String>,
    /// Names of switches and classes.
    pub switches: Vec<String>,
    /// Each XOFF for one transmitter, in order of the decisions.
    pub xoffs: Vec<Stop>,
    /// Later ones, which are not kept.
    pub left_out: u64,
    /// The finite flows that stood, those that did longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Stood>,
}

/// An XOFF for one transmitter. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// The transmitter, among the names.
    pub stopped: u32,
    /// The switch that decided.
    pub by: u32,
    /// Class of data that its frame names; none of 802.3x, which are for all.
    pub class: Option<u8>,
    /// When it was decided.
    pub decided: u64,
    /// From when on the transmitter stood.
    pub from: u64,
    /// Until when.
    pub until: u64,
    /// Whether the XOFF stood to the end of the run.
    pub to_end: bool,
    /// The outputs of the bytes that called for the XOFF.
    pub causes: Vec<Cause>,
}

/// An output for which bytes waited that called for an XOFF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The output, among the names.
    pub output: u32,
    /// Bytes that waited for the output.
    pub bytes: u64,
    /// The reason why the output did not send.
    pub held: Held,
}

/// Reasons why an output does not send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// Nothing but its rate.
    #[default]
    Slow,
    /// The output's service rate is 0.
    Closed,
    /// No output: a fault of this NIC or port says XOFF ([`cnsim_fabric::PortFault`]).
    Said,
    /// The XOFF of this number, from 0 on.
    Xoff(u32),
}

impl Stop {
    /// How long the transmitter stood, ps.
    pub fn time(&self) -> u64 {
        self.until - self.from
    }
}

/// The number of each port among the names.
#[derive(Debug, Default)]
pub struct Places(BTreeMap<(u32, u16), u32>);

impl Places {
    /// Places of those ports that have a name. A port without a name was never in XOFF.
    pub fn of(&self, ports: &[(NodeId, u16)]) -> Vec<u32> {
        ports.iter().filter_map(|at| self.0.get(&(at.0.0, at.1)).copied()).collect()
    }
}

/// Gives numbers to names.
#[derive(Debug, Default)]
struct Namer {
    known: BTreeMap<(u32, u16), u32>,
    names: Vec<String>,
}

impl Namer {
    fn number(&mut self, at: (NodeId, u16), name: impl FnOnce() -> String) -> u32 {
        *self.known.entry((at.0.0, at.1)).or_insert_with(|| {
            self.names.push(name());
            self.names.len() as u32 - 1
        })
    }
}

impl Stops {
    /// XOFFs of an outcome, without its flows, and the numbers of its names; none where they were not recorded. Frames of PFC name a
    /// class by its priority.
    pub fn of(wiring: &Wiring, out: &Outcome, priorities: Option<&[u8]>) -> (Self, Places) {
        let (mut ports, mut switches) = (Namer::default(), Namer::default());
        let mut port = |at: (NodeId, u16)| {
            let host = (at.0.0 as usize) < wiring.hosts.len();
            ports.number(at, || if host { wiring.name(at.0).into() } else { wiring.port_name(at) })
        };
        let mut xoffs = Vec::with_capacity(out.recorded.pauses.xoffs.len());
        for x in &out.recorded.pauses.xoffs {
            let said = out.recorded.pauses.causes(x).is_empty();
            let said = said.then(|| Cause { output: port(x.by), bytes: 0, held: Held::Said });
            let mut causes: Vec<Cause> = said.into_iter().collect();
            causes.extend(out.recorded.pauses.causes(x).iter().map(|c| Cause {
                output: port((x.by.0, c.output)),
                bytes: c.bytes.into(),
                held: match c.held {
                    cnsim_fabric::Held::Open => Held::Slow,
                    cnsim_fabric::Held::Closed => Held::Closed,
                    cnsim_fabric::Held::Stopped(by) => Held::Xoff(by),
                },
            }));
            xoffs.push(Stop {
                causes,
                stopped: port(x.stopped),
                by: switches.number((x.by.0, 0), || wiring.name(x.by.0).into()),
                class: priorities.map(|all| all.get(usize::from(x.class)).copied().unwrap_or(x.class)),
                decided: x.decided.as_ps(),
                from: x.from.as_ps(),
                until: x.until.as_ps(),
                to_end: x.until == out.duration && x.from < x.until,
            });
        }
        let known = ports.known;
        let stops = Self {
            names: ports.names,
            switches: switches.names,
            xoffs,
            left_out: out.recorded.pauses.left_out,
            flows: Vec::new(),
        };
        (stops, Places(known))
    }

    /// Is nothing kept?
    pub fn is_empty(&self) -> bool {
        self.xoffs.is_empty()
    }

    /// A name of a transmitter or an output.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("?", String::as_str)
    }

    /// Time that all transmitters stood, ps.
    pub fn total(&self) -> u64 {
        self.xoffs.iter().map(Stop::time).sum()
    }
}
