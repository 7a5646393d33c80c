//! Facts of ports: rate, PAUSE, queue and discards of those that a scenario lists, and of those with PAUSE or discards; and of NICs.

use crate::rates::{measured, rate, sent};
use crate::stats::Summary;
use cnsim_fabric::{Outcome, PortOutcome, SeriesKind};
use cnsim_scenario::settings::Settings;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts of a port, of a NIC, or of a host with several NICs.
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
    /// Number of data frames that the port sent and its link lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Data rate that a host with several NICs, or one of these, received in the measurement, Gb/s. None of other ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<f64>,
    /// Data frames that a host with several NICs, or one of these, sent in the run. None of other ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_frames: Option<u64>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Most ports of which facts are kept beside the named ones.
const MOST_PORTS: usize = 128;

/// Most NICs of hosts with several of which facts are kept: the first.
const MOST_NICS: usize = 1024;

/// Facts of the listed ports, and of the ports with most time in XOFF, XOFF messages or discards.
/// A host's port has the host's name. Hosts with several NICs have theirs, too, and of several classes each has its own.
pub fn ports(settings: &Settings, out: &Outcome) -> BTreeMap<String, PortFacts> {
    let mut all = named_ports(settings, out);
    let seconds = out.duration.as_secs_f64();
    let mut more: Vec<(f64, String, PortFacts)> = Vec::new();
    for (h, host) in out.hosts.iter().enumerate() {
        let paused = host.pause.time.as_secs_f64() / seconds * 100.0;
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
    for end in out.lost_on_links.iter().filter(|end| end.data > 0) {
        let name = match end.node.0 < first {
            true => settings.wiring.name(end.node).to_string(),
            false => settings.wiring.port_name((end.node, end.port)),
        };
        let port = out.port(settings.hosts(), (end.node, end.port));
        let dropped = out.dropped_at(settings.hosts(), (end.node, end.port));
        let whole = || port.map_or(PortFacts::default(), |p| facts(p, dropped, seconds));
        all.entry(name).or_insert_with(whole).lost = end.data;
    }
    nics(settings, out, &mut all);
    by_class(settings, out, &mut all);
    all
}

/// Adds a port for each class, where the run has several: `S1>L1, class roce`.
fn by_class(settings: &Settings, out: &Outcome, all: &mut BTreeMap<String, PortFacts>) {
    let (wiring, hosts, seconds) = (&settings.wiring, settings.hosts(), out.duration.as_secs_f64());
    let mut own = BTreeMap::new();
    for (class, alone) in settings.classes.list.iter().zip(&out.classes) {
        for at in wiring.links.iter().flat_map(|l| [l.a, l.b]) {
            let (name, facts) = match alone.port(hosts, at) {
                Some(port) => (wiring.port_name(at), facts(port, alone.dropped_at(hosts, at), seconds)),
                None => {
                    let paused = alone.hosts[at.0.0 as usize].pause.time.as_secs_f64() / seconds * 100.0;
                    (wiring.name(at.0).to_string(), PortFacts { paused, ..PortFacts::default() })
                }
            };
            if all.contains_key(&name) {
                own.insert(format!("{name}, class {}", class.name), facts);
            }
        }
    }
    all.extend(own);
}

/// Adds what each NIC of hosts with several did, and each such host: the sums of its NICs, and the mean of their shares in XOFF.
fn nics(settings: &Settings, out: &Outcome, all: &mut BTreeMap<String, PortFacts>) {
    let (wiring, seconds) = (&settings.wiring, out.duration.as_secs_f64());
    for first in wiring.all_machines().take_while(|nic| *nic < MOST_NICS) {
        let nics = wiring.nics(first);
        if nics.len() < 2 {
            continue;
        }
        let mut sum = PortFacts::default();
        for nic in nics.clone() {
            let (host, one) = (&out.hosts[nic], all.entry(wiring.hosts[nic].clone()).or_default());
            one.paused = host.pause.time.as_secs_f64() / seconds * 100.0;
            one.received = Some(rate(settings, out, nic));
            one.sent_frames = Some(host.sent);
            sum.paused += one.paused / nics.len() as f64;
            sum.lost += one.lost;
            sum.received = Some(sum.received.unwrap_or(0.0) + one.received.unwrap_or(0.0));
            sum.sent_frames = Some(sum.sent_frames.unwrap_or(0) + host.sent);
        }
        all.insert(wiring.machine(first).into(), sum);
    }
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
    let named = settings.record.named.ports.iter();
    named.filter_map(|p| Some((settings.wiring.port_name(*p), of(*p)?))).collect()
}
