//! Values that a scheme's objects show of themselves: kept where the place is recorded, sampled at each bin's end.

use crate::net::{Net, Ps};
use crate::outcome::{GaugeSite, Series, SeriesKind};
use crate::scheme::key_of;
use cnsim_scheme_api::{Scope, Time};
use std::collections::BTreeMap;

/// Mark of a reflector's place: the source host of its flow and this.
pub(crate) const SINK: u32 = 1 << 24;

/// Gauges shown at one node, if a place of it is recorded.
#[derive(Debug, Default)]
pub(crate) struct Gauges(Option<Box<Recorded>>);

/// The places of a node that are recorded, and what is shown there.
#[derive(Debug)]
struct Recorded {
    /// A port, a limiter's key, or a flow's source with [`SINK`].
    places: Vec<(u32, GaugeSite)>,
    /// By place, then by number among the network's gauges: at the end of each bin that is over, zero before the first value; and
    /// now.
    shown: BTreeMap<(u32, u16), (Vec<f64>, f64)>,
}

impl Gauges {
    /// Nothing yet, of a node whose scheme limits by this scope.
    pub(crate) fn new(net: &Net, node: u32, scope: Scope) -> Self {
        let mut places = Vec::new();
        for &(src, dst) in &net.record.rates {
            if src.0 == node {
                places.push((key_of(scope, dst.0, None), GaugeSite::Source(src, dst)));
            }
            if dst.0 == node {
                places.push((src.0 | SINK, GaugeSite::Sink(src, dst)));
            }
        }
        let ports = net.record.queues.iter().filter(|q| q.0.0 == node && node >= net.hosts);
        places.extend(ports.map(|&(switch, port)| (u32::from(port), GaugeSite::Port(switch, port))));
        let on = !places.is_empty() && net.record.bin > Time::ZERO;
        Self(on.then(|| Box::new(Recorded { places, shown: BTreeMap::new() })))
    }
    /// An object at this place shows a value. An error if its scheme has no such gauge.
    pub(crate) fn show(
        &mut self,
        net: &Net,
        (now, scheme): (Ps, Option<usize>),
        place: u32,
        name: &str,
        value: f64,
    ) -> Result<(), String> {
        let known = scheme.and_then(|s| net.schemes.get(s)?.gauge(name));
        let gauge = known.ok_or_else(|| format!("there is no gauge `{name}` among `Scheme::gauges`"))?;
        if let Some(recorded) = self.0.as_mut().filter(|r| r.places.iter().any(|p| p.0 == place)) {
            let over = now / Ps::from(net.record.bin).max(Ps(1));
            let (bins, last) = recorded.shown.entry((place, gauge)).or_default();
            bins.resize(bins.len().max(over as usize), *last);
            *last = value;
        }
        Ok(())
    }
    /// The series of the node, at the run's end.
    pub(crate) fn series(&self, net: &Net) -> Vec<Series> {
        let mut series = Vec::new();
        let Some(Recorded { places, shown }) = self.0.as_deref() else { return series };
        for &(place, at) in places {
            for (&(_, gauge), (bins, last)) in shown.range((place, 0)..=(place, u16::MAX)) {
                let mut values = bins.clone();
                values.resize(net.bins(), *last);
                series.push(Series { kind: SeriesKind::Gauge { at, gauge }, bin: net.record.bin, values });
            }
        }
        series
    }
}
