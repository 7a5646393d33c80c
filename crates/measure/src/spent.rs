//! Where the time of finite flows went, by part, and what cut their rates. The parts of a flow add up to its completion time, to the ps.

pub use crate::ahead::Ahead;
use crate::ahead::ahead;
use crate::events::cause;
use crate::fct::FlowTime;
use crate::flow_times::Flows;
use cnsim_fabric::{Outcome, SourcePart, Stay, Trip};
use cnsim_scenario::settings::Settings;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parts, in the order of the chain: the name of a column, and words.
pub const PARTS: [(&str, &str); 12] = [
    ("opening", "connection not open"),
    ("limiter", "limiter's gap"),
    ("window", "window closed"),
    ("nic_xoff", "XOFF at the NIC"),
    ("turn", "other flows' turn"),
    ("again", "resend and timeout"),
    ("own", "own frames before the last"),
    ("queues", "queues"),
    ("xoff", "XOFF at switches"),
    ("sending", "last frame onto the links"),
    ("links", "propagation and processing"),
    ("answer", "way back of the acknowledgement"),
];

/// The last frame of a flow at a port: it waited in the queue and in XOFF, was sent, and went over the link. Times in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 5]", into = "[u64; 5]")]
pub struct AtPort {
    /// The port, among [`Spent::ports`].
    pub port: u64,
    /// Time in the queue, but for XOFF.
    pub queued: u64,
    /// Time in XOFF.
    pub xoff: u64,
    /// Time to send the frame onto the link.
    pub sending: u64,
    /// Time over the link: propagation, and processing at its far end.
    pub link: u64,
}

impl From<[u64; 5]> for AtPort {
    fn from([port, queued, xoff, sending, link]: [u64; 5]) -> Self {
        Self { port, queued, xoff, sending, link }
    }
}

impl From<AtPort> for [u64; 5] {
    fn from(p: AtPort) -> Self {
        [p.port, p.queued, p.xoff, p.sending, p.link]
    }
}

/// What lowered a flow's rate or window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// The cause ([`cause`]).
    pub by: String,
    /// The port of the queue that caused it, among [`Spent::ports`], if that is known.
    pub port: Option<u64>,
    /// When, ps.
    pub at: u64,
    /// Rate from then on, bit/s.
    pub rate: u64,
    /// Window from then on, bytes; none without one.
    pub window: Option<u64>,
    /// How long the flow waited for its limiter or window from then until the next cut, ps.
    pub cost: u64,
}

/// All cuts of one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cuts {
    /// The cause ([`cause`]).
    pub by: String,
    /// The port of the queue that caused these cuts, among [`Spent::ports`], if it is known.
    pub port: Option<u64>,
    /// Number of the cuts.
    pub count: u64,
    /// Sum of [`Cut::cost`], ps.
    pub cost: u64,
}

/// A finite flow that is complete, with the parts of its time. Times in ps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowParts {
    /// `H1>H5`.
    pub flow: String,
    /// Number among the flows of its pair of hosts, by start, from 0 on.
    pub nth: u64,
    /// Payload, bytes.
    pub bytes: u64,
    /// Start.
    pub start: u64,
    /// From the start to the end that `record.completion` asks for.
    pub time: u64,
    /// Time of the flow alone in the network.
    pub alone: u64,
    /// Name of the flow's traffic; empty if the traffic has none.
    pub traffic: String,
    /// Name of its class, where the run has several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// At its source until the last frame began, by the first seven of [`PARTS`].
    pub source: [u64; 7],
    /// The last frame at each port on its way, its NIC first.
    pub ports: Vec<AtPort>,
    /// From the arrival of all to the last acknowledgement, where that is the end.
    pub answer: u64,
    /// The ten cuts that cost most, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
    /// Behind whom its last frame waited, of flows that `record.flow_events` names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<Ahead>,
    /// Sums of all cuts, by cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_cause: Vec<Cuts>,
}

impl FlowParts {
    /// Times of the flow by [`PARTS`]; they add up to the flow's time.
    pub fn by_part(&self) -> [u64; PARTS.len()] {
        let sum = |of: fn(&AtPort) -> u64| self.ports.iter().map(of).sum::<u64>();
        let [opening, limiter, window, xoff, turn, again, own] = self.source;
        let ports = [sum(|p| p.queued), sum(|p| p.xoff), sum(|p| p.sending), sum(|p| p.link)];
        let [queued, stopped, sending, links] = ports;
        [opening, limiter, window, xoff, turn, again, own, queued, stopped, sending, links, self.answer]
    }

    /// `H1>H5`, or `H1>H5#2` of a later flow of the pair.
    pub fn name(&self) -> String {
        if self.nth == 0 { self.flow.clone() } else { format!("{}#{}", self.flow, self.nth + 1) }
    }

    /// Time over that alone.
    pub fn slowdown(&self) -> f64 {
        self.time as f64 / self.alone.max(1) as f64
    }
}

/// Where the time of a run's complete flows went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Names of the ports.
    pub ports: Vec<String>,
    /// The flows that are kept, by start.
    pub flows: Vec<FlowParts>,
    /// Flows that were complete.
    pub complete: u64,
}

/// Most flows of which the parts are kept; of more, the slowest and those that `record.flows` names.
pub const MOST_KEPT: usize = 100_000;
/// Number of slowest flows whose parts are kept where there are more than [`MOST_KEPT`].
pub const SLOWEST: usize = 1_000;

impl Spent {
    /// Of a run; none if it did not record the trips of its flows.
    pub fn of(settings: &Settings, out: &Outcome, flows: &Flows, names: &[String]) -> Option<Self> {
        let recorded = out.hosts.iter().any(|host| !host.transfers.trips.is_empty());
        let (mut spent, mut places) = (Self::default(), BTreeMap::new());
        // The flows of a run are listed by receiver, in order of completion.
        let mut times = flows.done.iter().peekable();
        for host in out.hosts.iter().filter(|_| recorded) {
            for (done, trip) in host.transfers.completions.iter().zip(&host.transfers.trips) {
                let Some(end) = settings.end_of(done) else { continue };
                let same = |t: &&FlowTime| (t.src, t.nth) == (done.src.0.into(), done.nth.into());
                let Some(time) = times.next_if(same) else { continue };
                let hosts = &settings.wiring.hosts;
                let mut port = |at| {
                    *places.entry(at).or_insert_with(|| {
                        spent.ports.push(settings.wiring.port_name(at));
                        spent.ports.len() as u64 - 1
                    })
                };
                let ports: Vec<AtPort> = trip.stays.iter().map(|stay| at_port(port(stay.at), stay)).collect();
                let mut before = Vec::new();
                if settings.record.named.events.contains(&(done.src, NodeId(time.dst as u32))) {
                    let flow = (done.src, NodeId(time.dst as u32), Some(done.nth as u16));
                    let stays = ports.iter().map(|at| at.port).zip(&trip.stays).skip(1);
                    before.extend(stays.flat_map(|at| ahead(out, &settings.wiring, (flow, done.class), at)));
                }
                let cuts = trip.cuts.iter().map(|c| cut(c, c.event.port.map(&mut port))).collect();
                let by_cause = trip.by_cause.iter().map(|sum| Cuts {
                    by: cause(sum.by).into(),
                    port: sum.port.map(&mut port),
                    count: sum.count,
                    cost: sum.cost.as_ps(),
                });
                let by_cause = by_cause.collect();
                let classes = &settings.classes.list;
                let class = classes.get(usize::from(done.class)).filter(|_| classes.len() > 1);
                let traffic = (time.name as usize).checked_sub(1).and_then(|n| names.get(n));
                spent.flows.push(FlowParts {
                    flow: format!("{}>{}", hosts[time.src as usize], hosts[time.dst as usize]),
                    nth: time.nth,
                    bytes: time.bytes,
                    start: time.start,
                    time: time.time,
                    alone: time.exact,
                    traffic: traffic.cloned().unwrap_or_default(),
                    class: class.map_or_else(String::new, |class| class.name.to_string()),
                    source: source(trip),
                    ports,
                    cuts,
                    by_cause,
                    ahead: before,
                    answer: end.saturating_sub(done.end).as_ps(),
                });
            }
        }
        spent.complete = spent.flows.len() as u64;
        if spent.flows.len() > MOST_KEPT {
            let named = |f: &FlowParts| {
                settings.record.named.flows.iter().any(|(a, b)| {
                    f.flow == format!("{}>{}", settings.wiring.name(*a), settings.wiring.name(*b))
                })
            };
            spent.flows.sort_by(|a, b| b.slowdown().total_cmp(&a.slowdown()));
            let rest = spent.flows.split_off(SLOWEST);
            spent.flows.extend(rest.into_iter().filter(named));
        }
        spent.flows.sort_by(|a, b| (a.start, &a.flow, a.nth).cmp(&(b.start, &b.flow, b.nth)));
        recorded.then_some(spent)
    }

    /// Name of a port.
    pub fn port(&self, n: u64) -> &str {
        self.ports.get(n as usize).map_or("?", String::as_str)
    }
}

fn source(trip: &Trip) -> [u64; 7] {
    let order = [
        SourcePart::Opening,
        SourcePart::Gap,
        SourcePart::Window,
        SourcePart::Xoff,
        SourcePart::Turn,
        SourcePart::Again,
        SourcePart::Sending,
    ];
    order.map(|part| trip.source[part as usize].as_ps())
}

/// A cut of a flow's rate or window, with the number of its port.
fn cut(cut: &cnsim_fabric::Cut, port: Option<u64>) -> Cut {
    Cut {
        by: cause(cut.event.by).into(),
        port,
        at: cut.event.at.as_ps(),
        rate: cut.event.rate.bps() as u64,
        window: cut.event.window,
        cost: cut.cost.as_ps(),
    }
}

fn at_port(port: u64, stay: &Stay) -> AtPort {
    let (waited, xoff) = (stay.began.saturating_sub(stay.came).as_ps(), stay.xoff.as_ps());
    AtPort {
        port,
        queued: waited.saturating_sub(xoff),
        xoff,
        sending: stay.sending.as_ps(),
        link: stay.link.as_ps(),
    }
}
