//! Traffic by name: which flows, bytes and losses of a run belong to the `[[traffic]]` tables of each name.

use crate::fct::Timed;
use crate::flow_times::{Flows, framing};
use crate::jobs::{self, JobFacts};
use crate::measure::{Completions, Run};
use crate::owners::{Owners, place};
use crate::quantity::Quantities;
use cnsim_fabric::Outcome;
use cnsim_scenario::metrics::Id;
use cnsim_scenario::settings::Settings;
use cnsim_scenario::workload::SourcePlan;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Results of the traffic of one name, or of a class, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficFacts {
    /// `name` of its `[[traffic]]` tables, or `class` and the name of its `[[class]]` table.
    pub name: String,
    /// Id of the scheme of its class, where that is another than the case's; empty if not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scheme: String,
    /// The measured values.
    pub metrics: Quantities,
}

/// Results of each name, with those of its jobs, and of each class where there are several; empty if no table has one.
pub fn measure(
    settings: &Settings,
    out: &Outcome,
    flows: &[Timed],
    owners: &Owners,
    jobs: &[JobFacts],
) -> Vec<TrafficFacts> {
    let of_classes = settings.classes.list.iter().zip(&out.classes).map(|(class, out)| TrafficFacts {
        name: format!("class {}", class.name),
        scheme: class.scheme.as_deref().unwrap_or_default().into(),
        metrics: of_class(settings, out, owners).into_iter().collect(),
    });
    if owners.names.is_empty() {
        return of_classes.collect();
    }
    let shares = Shares::of(settings, out, owners);
    let seconds = out.duration.as_secs_f64();
    let one = |(at, name): (usize, &String)| {
        let mine: Vec<Timed> = flows.iter().filter(|f| f.name == at as u64 + 1).copied().collect();
        let mut all = Completions::new(&mine).measured();
        all.extend(shares.bits[at].map(|bits| (Id::AggregateThroughput, bits / seconds / 1e9, false)));
        all.extend((!mine.is_empty()).then(|| (Id::Goodput, shares.payload[at] / seconds / 1e9, false)));
        all.extend(shares.lost[at].map(|frames| (Id::DroppedFrames, frames, false)));
        let own: Vec<JobFacts> = jobs.iter().filter(|job| job.name == *name).cloned().collect();
        all.extend(jobs::measured(&own, out.duration));
        TrafficFacts {
            name: name.clone(),
            scheme: scheme_of(settings, name),
            metrics: all.into_iter().collect(),
        }
    };
    owners.names.iter().enumerate().map(one).chain(of_classes).collect()
}

/// Id of the scheme under which the traffic of a name runs, if its class has one of its own; empty if not, or if its classes differ.
fn scheme_of(settings: &Settings, name: &str) -> String {
    let plans = (0..settings.hosts()).flat_map(|host| settings.plans(host));
    let mine = plans.filter(|plan| plan.name().is_some_and(|(_, own)| own == name));
    let own = |plan: &SourcePlan| settings.classes.list.get(plan.class())?.scheme.as_deref();
    let schemes: BTreeSet<Option<&str>> = mine.map(own).collect();
    let mut all = schemes.into_iter();
    all.next().filter(|_| all.next().is_none()).flatten().unwrap_or_default().into()
}

/// Metrics of what hosts and ports counted, which a class alone has, too.
const COUNTED: &[Id] = &[
    Id::TimePaused,
    Id::DroppedFrames,
    Id::SourceDiscards,
    Id::ControlMessages,
    Id::SlowedFlows,
    Id::QueueMax,
    Id::Pauses,
    Id::WatchdogTriggers,
    Id::WatchdogDrops,
    Id::MeanLatency,
    Id::LatencyP50,
    Id::LatencyP99,
    Id::LatencyP999,
    Id::MarkedShare,
    Id::ResentShare,
    Id::Timeouts,
    Id::RttP50,
    Id::RttP99,
];

/// Metrics of a class that hosts and ports count, and those of its finite flows, of all its data over the whole run.
fn of_class(settings: &Settings, out: &Outcome, owners: &Owners) -> Vec<(Id, f64, bool)> {
    let flows = Flows::with(settings, out, owners);
    let mut all = Run::new(settings, out, &flows, None).of(COUNTED);
    all.extend(Completions::new(&flows.timed).measured());
    let seconds = out.duration.as_secs_f64();
    let bits: u64 = out.hosts.iter().map(|h| h.delivered_bits - h.header_bits).sum();
    all.push((Id::AggregateThroughput, bits as f64 / seconds / 1e9, false));
    let goodput = (Id::Goodput, flows.payload as f64 * 8.0 / seconds / 1e9, false);
    all.extend((!flows.timed.is_empty()).then_some(goodput));
    all
}

/// The part of the run that belongs to each name, where it can be known.
struct Shares {
    /// Bits delivered, of finite flows the payload; none if a host sends endless traffic of two names to one receiver.
    bits: Vec<Option<f64>>,
    /// Bits of finite flows' payload delivered.
    payload: Vec<f64>,
    /// Frames dropped in switches; none if a host sends traffic of two names to a receiver for which frames were dropped.
    lost: Vec<Option<f64>>,
}

impl Shares {
    fn of(settings: &Settings, out: &Outcome, owners: &Owners) -> Self {
        let hosts = settings.hosts();
        let mut payload = vec![0.0; owners.names.len()];
        // Of finite flows all is known: what arrived of each.
        let mut finite: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (dst, host) in out.hosts.iter().enumerate() {
            let whole = host.transfers.completions.iter().map(|c| (c.src, c.nth, c.bytes, 0, c.class));
            let open = host.transfers.missing.iter().map(|m| (m.src, m.nth, m.bytes, m.missing, m.class));
            for (src, nth, bytes, missing, class) in whole.chain(open) {
                let src = src.0 as usize;
                let arrived = bytes.saturating_sub(missing);
                *finite.entry((src, dst)).or_default() += arrived as f64 * 8.0;
                let name = owners.of(src, dst, nth) as usize;
                let framing = framing(settings, src, class);
                let sum = name.checked_sub(1).and_then(|at| payload.get_mut(at));
                if let (Some(sum), Some(framing)) = (sum, framing) {
                    *sum += framing.payload_of(arrived) as f64 * 8.0;
                }
            }
        }
        let mut bits: Vec<Option<f64>> = payload.iter().map(|bits| Some(*bits)).collect();
        // Other bytes between two hosts belong to the endless tables that send there. Networks with many hosts do not record them.
        for src in 0..hosts {
            let endless: Vec<&SourcePlan> = settings.plans(src).iter().filter(|p| !p.finite()).collect();
            if out.recorded.matrix.is_empty() {
                let named = endless.iter().filter_map(|p| (place(&owners.names, p) as usize).checked_sub(1));
                named.for_each(|i| bits[i] = None);
                continue;
            }
            for dst in (0..hosts).filter(|_| !endless.is_empty()) {
                let arrived = out.recorded.matrix[src * hosts + dst] as f64 * 8.0;
                let rest = arrived - finite.get(&(src, dst)).copied().unwrap_or(0.0);
                if rest <= 0.0 {
                    continue;
                }
                share(&mut bits, owners, endless.iter().copied().filter(|p| p.may_send(dst)), rest);
            }
        }
        Self { bits, payload, lost: losses(settings, out, owners) }
    }
}

/// Adds an amount to the name of these plans. Of plans of several names, none has a sum any more.
fn share<'a>(
    sums: &mut [Option<f64>],
    owners: &Owners,
    plans: impl Iterator<Item = &'a SourcePlan>,
    amount: f64,
) {
    let names: BTreeSet<u64> = plans.map(|p| place(&owners.names, p)).collect();
    for at in names.iter().filter_map(|n| (*n as usize).checked_sub(1)) {
        sums[at] = sums[at].filter(|_| names.len() == 1).map(|sum| sum + amount);
    }
}

/// Frames of each name that switches dropped.
fn losses(settings: &Settings, out: &Outcome, owners: &Owners) -> Vec<Option<f64>> {
    // Of many hosts it is known only that nothing was dropped.
    let known = out.dropped() == 0 || !out.recorded.lost.is_empty();
    let mut lost = vec![known.then_some(0.0); owners.names.len()];
    for (pair, frames) in out.recorded.lost.iter().enumerate().filter(|(_, frames)| **frames > 0) {
        let (src, dst) = (pair / settings.hosts(), pair % settings.hosts());
        let plans = settings.plans(src).iter().filter(|p| p.may_send(dst));
        share(&mut lost, owners, plans, *frames as f64);
    }
    lost
}
