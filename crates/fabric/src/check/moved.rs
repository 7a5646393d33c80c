//! Books of a phase join those of others of their node: as they are, or moved in time, for other flows ([`crate::Reuse`]).
//!
//! What counts adds up. What has a time is moved; what belongs to a bin of the recording is counted anew from single frames, as a
//! phase need not be moved by whole bins.

use super::{Books, Come, Event, Hash, HostBooks, Own};
use crate::flows::number;
use crate::net::{Net, Ps};
use crate::outcome::{Completion, HostOutcome, Series, SeriesKind, SwitchOutcome};
use crate::per_bin::{PerBin, add};
use cnsim_scheme_api::{FlowId, Time};
use std::collections::BTreeSet;

/// A frame that was delivered: when, ps; its flow, its number there, and its bytes that the series count.
pub(crate) type Delivered = (Ps, u32, u16, u16);

/// A change of an output's queue: when, ps, by how many bytes, and bits of data that left.
pub(crate) type Change = (Ps, i32, u32);

/// What single frames did at a node, in order, as far as that is not too much ([`Net::keeps`]).
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Of a host.
    pub(crate) frames: Vec<Delivered>,
    pub(crate) events: Vec<Event>,
    /// Of a switch, by recorded output.
    pub(crate) queues: Vec<(u16, Vec<Change>)>,
}

impl Kept {
    /// How much that is; none if it is too much.
    pub(crate) fn weight(&self, most: usize) -> Option<usize> {
        let queues = self.queues.iter().map(|queue| queue.1.len()).sum::<usize>();
        let all = self.frames.len().max(self.events.len()).max(queues) < most;
        all.then(|| self.frames.len() + self.events.len() + queues)
    }
}

/// How a phase is moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved<'a> {
    /// So much later, ps.
    pub(crate) by: Ps,
    /// By number of a flow of the phase, the one in its place.
    pub(crate) flows: &'a [u32],
}

impl Moved<'_> {
    fn flow(&self, flow: FlowId) -> FlowId {
        FlowId(self.flows[flow.0 as usize])
    }

    /// The hashes of a node go on over a phase: of events, and of deliveries.
    fn hash(&self, kept: &Kept, (events, deliveries): (&mut Hash, &mut Hash), net: &Net) {
        for event in &kept.events {
            let (a, b) = event.pair(self.by, |flow| self.flows[flow as usize]);
            events.add(a, b);
        }
        for (now, flow, frame, _) in &kept.frames {
            let Some(flow) = net.flows.numbered(self.flow(FlowId(*flow))) else { continue };
            let pair = u64::from(flow.src * net.hosts + flow.dst) << 32;
            deliveries.add((*now + self.by).0, pair | u64::from(number((*frame).into(), Some(flow.number))));
        }
    }

    fn completion(&self, done: &Completion, net: &Net) -> Completion {
        let flow = done.flow.map(|flow| self.flow(flow));
        let nth = flow.and_then(|flow| net.flows.nth(flow)).unwrap_or(done.nth);
        Completion { flow, nth, end: done.end + self.by.time(), ..*done }
    }
}

impl Books {
    /// A phase that was simulated up to `end` joins what these books of its node have summed up: as it is, or moved. Series sum up whole
    /// numbers, as rates bits of a bin ([`Books::conclude`]).
    pub(crate) fn absorb(&mut self, of: &Self, end: Ps, moved: Option<&Moved<'_>>, net: &Net) {
        let by = moved.map_or(Ps(0), |moved| moved.by);
        for (sum, series) in self.series.iter_mut().zip(&of.series) {
            match moved {
                None => sum_up(sum, series, end),
                Some(_) => count_anew(sum, &of.kept, by, net),
            }
        }
        match moved {
            None => {
                self.made.merge(&of.made);
                self.gone.merge(&of.gone);
                (self.events, self.moments) = (of.events, of.moments);
            }
            Some(moved) => moved.hash(&of.kept, (&mut self.events, &mut self.moments), net),
        }
        self.hops = (self.hops.0 + of.hops.0, self.hops.1 + of.hops.1);
        for (sum, c) in self.control.iter_mut().zip(&of.control) {
            match moved {
                None => sum.at.merge(&c.at),
                Some(_) => c.each.iter().flatten().for_each(|(now, bits)| sum.at.add(*now + by, *bits)),
            }
            sum.messages.add(&c.messages);
            sum.counters.merge(&c.counters);
        }
        if let (Some(sum), Some(decisions)) = (&mut self.decisions, &of.decisions) {
            let before = |port: u16, class: u8| self.stopped[usize::from(port)][usize::from(class)].len();
            sum.append(decisions, by, before);
        }
        // By port, the parts of the run in which its pauses lie.
        let mut parts = Vec::new();
        for (sum, classes) in self.stopped.iter_mut().zip(&of.stopped) {
            let (mut bins, mut of_port) = (PerBin::sixtieths(net.duration), Vec::new());
            for (sum, spans) in sum.iter_mut().zip(classes) {
                spans.iter().for_each(|span| bins.add_span(span.0 + by, span.1 + by));
                sum.extend(spans.iter().map(|span| (span.0 + by, span.1 + by)));
            }
            if classes.iter().flatten().any(|span| span.1 > span.0) {
                bins.pour(&mut of_port);
            }
            parts.push(of_port);
        }
        match (&mut self.own, &of.own) {
            (Own::Host(sum), Own::Host(of)) => {
                sum.absorb(of, by, moved, net);
                parts.iter().for_each(|parts| add(&mut sum.outcome.pause.by_part, parts));
            }
            (
                Own::Switch { outcome, losses, lost, dropped, .. },
                Own::Switch { outcome: o, losses: more, lost: l, dropped: d, .. },
            ) => {
                let name = |(src, dst, number): (u32, u32, u16)| {
                    let found = net.flows.find(src, dst, u32::from(number) << 16).zip(moved);
                    let flow = found.and_then(|(flow, moved)| net.flows.numbered(moved.flow(flow)));
                    flow.map_or((src, dst, number), |flow| (flow.src, flow.dst, flow.number))
                };
                dropped.extend(d.iter().map(|(flow, at, out)| (name(*flow), *at + by, *out)));
                outcome.absorb(o);
                outcome.paused_by_part.iter_mut().zip(&parts).for_each(|(sum, parts)| add(sum, parts));
                add(losses, more);
                add(lost, l);
            }
            _ => {}
        }
    }

    /// Gives memory back that a phase does not need to be taken again: flows that have not arrived yet, and room for those to come.
    pub(crate) fn shrink(&mut self) {
        if let Own::Host(host) = &mut self.own {
            host.outcome.transfers.missing = Vec::new();
            host.outcome.transfers.completions.shrink_to_fit();
        }
    }

    /// Takes over from the last phase of the node what does not add up, and says when its operations began and ended, ps. Sums of series
    /// become rates.
    pub(crate) fn conclude(&mut self, last: &mut Self, operations: Vec<(Ps, Ps)>) {
        // What objects show changes in the last phase alone.
        let gauge = |series: &Series| matches!(series.kind, SeriesKind::Gauge { .. });
        self.series.retain(|series| !gauge(series));
        self.series.extend(std::mem::take(&mut last.series).into_iter().filter(gauge));
        for Series { kind, bin, values } in &mut self.series {
            values.iter_mut().for_each(|value| *value /= unit(*kind, *bin));
        }
        std::mem::swap(&mut self.failure, &mut last.failure);
        match (&mut self.own, &mut last.own) {
            (Own::Host(sum), Own::Host(last)) => {
                let (of, now) = (&mut sum.outcome.transfers, &mut last.outcome.transfers.missing);
                let done: BTreeSet<FlowId> = of.completions.iter().filter_map(|done| done.flow).collect();
                now.retain(|open| open.flow.is_none_or(|flow| !done.contains(&flow)));
                std::mem::swap(&mut of.missing, now);
                std::mem::swap(&mut sum.outcome.transport.waiting, &mut last.outcome.transport.waiting);
                (sum.waiting, sum.operations) = (last.waiting, operations);
            }
            (Own::Switch { waits, .. }, Own::Switch { waits: still, .. }) => std::mem::swap(waits, still),
            _ => {}
        }
    }
}

impl HostBooks {
    /// What a host alone hands in joins, but for the time that it stood in XOFF.
    fn absorb(&mut self, of: &Self, by: Ps, moved: Option<&Moved<'_>>, net: &Net) {
        let mut more = HostOutcome::clone(&of.outcome);
        (more.pause.by_part, more.transfers.missing, more.transport.waiting) = Default::default();
        for done in &mut more.transfers.completions {
            *done = moved.map_or(*done, |moved| moved.completion(done, net));
        }
        self.outcome.add(&more);
        self.last_delivery =
            if of.last_delivery > Ps(0) { of.last_delivery + by } else { self.last_delivery };
        add(&mut self.received_from, &of.received_from);
        let flow = |flow: FlowId| moved.map_or(flow, |moved| moved.flow(flow));
        self.acknowledged.extend(of.acknowledged.iter().map(|(f, at)| (flow(*f), *at + by)));
        self.told.histories.extend(of.told.histories.iter().map(|(pair, name, history)| {
            let pair = pair.map(flow);
            let numbered = pair.and_then(|pair| Some((net.flows.numbered(pair)?, net.flows.nth(pair)?)));
            let name = numbered.map_or(*name, |(flow, nth)| (flow.dst, nth));
            (pair, name, history.moved(by, numbered.map(|(flow, _)| *flow)))
        }));
        self.trips.extend(of.trips.iter().map(|come| {
            let mut trace = come.trace.clone();
            trace.steps.iter_mut().for_each(|step| step.1 += by);
            Come { begun: come.begun + by, came: come.came + by, trace, ..*come }
        }));
    }
}

/// What a unit of a series is in its sum: rates become bits of a bin.
fn unit(kind: SeriesKind, bin: Time) -> f64 {
    match kind {
        SeriesKind::Delivered { .. } | SeriesKind::Flow { .. } | SeriesKind::Sent { .. } => bin.as_secs_f64(),
        _ => 1.0,
    }
}

/// A series of a phase that was simulated up to `end` joins a sum. After that the peak of a bin is that of an empty queue.
fn sum_up(sum: &mut Series, series: &Series, end: Ps) {
    let (unit, peak) = (unit(sum.kind, sum.bin), sum.kind.is_peak());
    let bins = if peak { end.0.div_ceil(sum.bin.as_ps().max(1)) } else { u64::MAX };
    for (sum, value) in sum.values.iter_mut().zip(&series.values).take(bins.min(1 << 40) as usize) {
        let value = (value * unit).round();
        *sum = if peak { sum.max(value) } else { *sum + value };
    }
}

fn note(values: &mut [f64], bin: usize, amount: f64) {
    values.get_mut(bin).into_iter().for_each(|value| *value += amount);
}

/// A moved phase joins the sum of a series, as its single frames say. At a switch a bin ends after all that happens at its last moment.
fn count_anew(Series { kind, bin, values }: &mut Series, kept: &Kept, by: Ps, net: &Net) {
    let width = Ps::from(*bin).max(Ps(1));
    let ends = |now: Ps| ((now + by).0.div_ceil(width.0) as usize).saturating_sub(1);
    match *kind {
        SeriesKind::Delivered { .. } | SeriesKind::Flow { .. } => {
            let from = |flow: u32| net.flows.numbered(FlowId(flow)).map(|flow| flow.src);
            let of = if let SeriesKind::Flow { src, .. } = kind { Some(src.0) } else { None };
            for (now, flow, _, bytes) in &kept.frames {
                if of.is_none() || from(*flow) == of {
                    note(values, ((*now + by) / width) as usize, 8.0 * f64::from(*bytes));
                }
            }
        }
        SeriesKind::Dropped { .. } | SeriesKind::Discarded { .. } => {
            let of = if let SeriesKind::Discarded { port, .. } = kind { Some(*port) } else { None };
            for event in &kept.events {
                if let Event::Drop(now, _, port) = *event
                    && of.is_none_or(|of| of == port)
                {
                    values.iter_mut().skip(ends(now)).for_each(|value| *value += 1.0);
                }
            }
        }
        SeriesKind::Control | SeriesKind::LimiterRate { .. } | SeriesKind::Gauge { .. } => {}
        _ => {
            let Some(port) = kind.output() else { return };
            let (mut queued, mut at) = (0.0, None);
            for &(now, bytes, bits) in kept.queues.iter().filter(|q| q.0 == port).flat_map(|q| &q.1) {
                let bin = at.replace(ends(now)).unwrap_or(ends(now));
                match kind {
                    SeriesKind::Sent { .. } => note(values, ends(now), bits.into()),
                    SeriesKind::Queue { .. } => (bin..ends(now)).for_each(|bin| note(values, bin, queued)),
                    _ => {
                        let most = |v: &mut f64| *v = queued.max(*v);
                        values.iter_mut().take(ends(now) + 1).skip(bin + 1).for_each(most);
                    }
                }
                queued += f64::from(bytes);
                if kind.is_peak()
                    && let Some(value) = values.get_mut(ends(now))
                {
                    *value = value.max(queued);
                }
            }
        }
    }
}

impl SwitchOutcome {
    fn absorb(&mut self, of: &Self) {
        for (sum, port) in self.ports.iter_mut().zip(&of.ports) {
            sums!(sum, port; dropped, dropped_by_limit, sent, sent_bits, control_sent, xoffs, paused);
            sum.queue_max = sum.queue_max.max(port.queue_max);
        }
        let (sum, of) = (&mut self.shared, of.shared);
        sum.headroom = sum.headroom.max(of.headroom);
        // The first time at which the pool came to its most.
        if of.pool > sum.pool {
            (sum.pool, sum.reserve) = (of.pool, of.reserve);
        }
    }
}
