//! `[record]`: the hot port, what is recorded by name, and the width of a bin.

use super::Hotspot;
use crate::reader::Reader;
use crate::topology::Wiring;
use crate::workload::SourcePlan;
use cnsim_scheme_api::NodeId;
use cnsim_units::Time;

/// Queues, flows and limiters that are recorded.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Output ports whose queues are recorded; the first is the hot port.
    pub ports: Vec<(NodeId, u16)>,
    /// Flows whose delivered rate is recorded.
    pub flows: Vec<(NodeId, NodeId)>,
    /// Flows whose limiter's rate is recorded.
    pub limiters: Vec<(NodeId, NodeId)>,
}

/// The width of a bin that follows the run: the largest of 1, 2, 5, 10 ... us up to 1 ms that leaves 200 bins to the
/// measurement and 20 to the shortest time that the hot port is slow, where the whole run stays below 20,000 bins.
pub(super) fn auto_bin(duration: Time, measured: Time, slow: Option<Time>) -> Time {
    const STEPS: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    let part = |t: Time, n: u64| Time::from_ps(t.as_ps() / n);
    let wanted = slow.map_or(part(measured, 200), |s| part(measured, 200).min(part(s, 20)));
    let least = part(duration, 20_000);
    let steps = || STEPS.iter().map(|us| Time::from_us(*us));
    let fits = steps().rev().find(|t| *t <= wanted).unwrap_or(Time::from_us(1));
    let bound = steps().find(|t| *t >= least).unwrap_or(least);
    fits.max(bound).min(duration)
}

/// The host behind the port that metrics call hot: named, that of the first hotspot, the only destination, or the
/// first host.
pub(super) fn receiver(
    r: &mut Reader<'_>,
    wiring: &Wiring,
    hotspots: &[Hotspot],
    plans: &[Vec<SourcePlan>],
) -> (usize, bool) {
    let name = r.word("record.host");
    if name != "auto" {
        return (r.host("record.host", 0, &name, wiring).unwrap_or(0), true);
    }
    let only = || plans.iter().flatten().find_map(SourcePlan::only);
    // The one host that all transfers go to.
    let addressed = || {
        let mut all = plans.iter().flatten().flat_map(SourcePlan::addressed);
        let first = all.next()?;
        all.all(|h| h == first).then_some(first)
    };
    let host = hotspots.first().map(|h| h.host).or_else(only).or_else(addressed);
    (host.unwrap_or(0), host.is_some())
}

/// Ports, flows and limiters of `[record]`; the hot port first.
pub(super) fn named(r: &mut Reader<'_>, wiring: &Wiring, receiver: usize) -> Named {
    let hot = match r.word("record.port").as_str() {
        "auto" => Some(wiring.feeder(receiver)),
        name => r.port("record.port", 0, name, wiring),
    };
    let mut named = Named { ports: hot.into_iter().collect(), ..Named::default() };
    let ports = r.list("record.ports");
    for (i, name) in ports.iter().enumerate() {
        if let Some(p) = r.port("record.ports", i, name, wiring)
            && !named.ports.contains(&p)
        {
            named.ports.push(p);
        }
    }
    let mut pairs = |key: &str| -> Vec<(NodeId, NodeId)> {
        let names = r.list(key);
        names.iter().enumerate().filter_map(|(i, name)| r.pair(key, i, name, wiring)).collect()
    };
    (named.flows, named.limiters) = (pairs("record.flows"), pairs("record.limiters"));
    named
}
