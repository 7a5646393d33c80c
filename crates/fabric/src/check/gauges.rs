//! Values that a scheme's objects show of themselves: kept where the place is recorded, sampled at each bin's end.

use crate::net::Net;
use crate::outcome::{Series, SeriesKind};
use cnsim_scheme_api::{Scope, Time};
use std::collections::BTreeMap;

/// Mark of a reflector's place: the source host of its flow and this.
pub(crate) const SINK: u32 = 1 << 24;

/// What is shown at one node: by place there (a port, or a limiter's key), then by number among the network's gauges.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// Where a place of the node is recorded.
    recorded: Option<Box<Recorded>>,
}

/// The places of a node that are recorded, and what is shown there.
#[derive(Debug)]
struct Recorded {
    places: Vec<u32>,
    kept: BTreeMap<(u32, u16), Shown>,
}

/// One value over time.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// At the end of each bin that is over; zero before the first value.
    bins: Vec<f64>,
    now: f64,
}

impl Shown {
    /// The bins that are over have their values.
    fn fill(&mut self, bins: usize) {
        self.bins.resize(bins.max(self.bins.len()), self.now);
    }
}

impl Gauges {
    /// Nothing yet.
    fn new(net: &Net, places: impl Iterator<Item = u32>) -> Self {
        let on = net.record.bin > Time::ZERO;
        let places: Vec<u32> = places.filter(|_| on).collect();
        let some = !places.is_empty();
        Self { recorded: some.then(|| Box::new(Recorded { places, kept: BTreeMap::new() })) }
    }
    /// The recorded flows of a host: with its limiters' keys those that it sends, with [`SINK`] those that it receives.
    pub(crate) fn of_host(net: &Net, host: u32, scope: Scope) -> Self {
        let rates = &net.record.rates;
        let key = |dst: u32| if scope == Scope::Host { u32::MAX } else { dst };
        let sent = rates.iter().filter(|f| f.0.0 == host).map(|f| key(f.1.0));
        Self::new(net, sent.chain(rates.iter().filter(|f| f.1.0 == host).map(|f| f.0.0 | SINK)))
    }
    /// The recorded ports of a switch.
    pub(crate) fn of_switch(net: &Net, switch: u32) -> Self {
        Self::new(net, net.record.queues.iter().filter(|q| q.0.0 == switch).map(|q| u32::from(q.1)))
    }
    /// The series of a host, at the run's end.
    pub(crate) fn host_series(&mut self, net: &Net, host: u32, scope: Scope) -> Vec<Series> {
        let mut series = Vec::new();
        for &(src, dst) in &net.record.rates {
            if src.0 == host {
                let place = if scope == Scope::Host { u32::MAX } else { dst.0 };
                self.series(net, place, |gauge| SeriesKind::AtSource { src, dst, gauge }, &mut series);
            }
            if dst.0 == host {
                let kind = |gauge| SeriesKind::AtSink { src, dst, gauge };
                self.series(net, src.0 | SINK, kind, &mut series);
            }
        }
        series
    }
    /// The series of a switch, at the run's end.
    pub(crate) fn switch_series(&mut self, net: &Net, switch: u32) -> Vec<Series> {
        let mut series = Vec::new();
        for &(node, port) in net.record.queues.iter().filter(|q| q.0.0 == switch) {
            let kind = |gauge| SeriesKind::AtPort { node, port, gauge };
            self.series(net, u32::from(port), kind, &mut series);
        }
        series
    }
    /// An object at this place shows a value. An error if its scheme has no such gauge, or the value is none.
    pub(crate) fn show(
        &mut self,
        net: &Net,
        (now, scheme): (u64, Option<usize>),
        place: u32,
        name: &str,
        value: f64,
    ) -> Result<(), String> {
        let known = scheme.and_then(|s| net.schemes.get(s)?.gauge(name));
        let gauge = known.ok_or_else(|| format!("there is no gauge `{name}` among `Scheme::gauges`"))?;
        if let Some(recorded) = self.recorded.as_mut().filter(|r| r.places.contains(&place)) {
            let over = (now / net.record.bin.as_ps().max(1)) as usize;
            let shown = recorded.kept.entry((place, gauge)).or_default();
            shown.fill(over);
            shown.now = value;
        }
        Ok(())
    }
    /// The series of a place, at the run's end.
    fn series(&mut self, net: &Net, place: u32, kind: impl Fn(u16) -> SeriesKind, series: &mut Vec<Series>) {
        let bin = net.record.bin;
        let bins = (net.duration / bin.as_ps().max(1)) as usize;
        let Some(recorded) = &mut self.recorded else { return };
        for (&(_, gauge), shown) in recorded.kept.range_mut((place, 0)..=(place, u16::MAX)) {
            shown.fill(bins);
            series.push(Series { kind: kind(gauge), bin, values: shown.bins.clone() });
        }
    }
}
