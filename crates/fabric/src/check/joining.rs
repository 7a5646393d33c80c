//! The books of a host with several classes: those of each become one.

use super::{Books, Failure, Own};
use crate::outcome::{HostOutcome, SeriesKind, TransportOutcome};
use crate::per_bin::add;

impl Books {
    /// Joins the books of a host's next class.
    pub(crate) fn join(mut self, other: Self) -> Self {
        for series in other.series {
            match self.series.iter_mut().find(|own| own.kind == series.kind) {
                // A gauge or a limiter is shown of the first class that has it.
                Some(own) if matches!(own.kind, SeriesKind::Delivered { .. } | SeriesKind::Flow { .. }) => {
                    own.values.iter_mut().zip(series.values).for_each(|(sum, value)| *sum += value);
                }
                Some(_) => {}
                None => self.series.push(series),
            }
        }
        self.made.merge(&other.made);
        self.gone.merge(&other.gone);
        self.hops = (self.hops.0 + other.hops.0, self.hops.1 + other.hops.1);
        self.events.add(other.events.0, 5);
        self.moments.add(other.moments.0, 6);
        self.control.extend(other.control);
        self.failure = Failure::earlier(self.failure, other.failure);
        for (own, more) in self.stopped.iter_mut().zip(other.stopped) {
            own.extend(more);
        }
        if let (Own::Host(own), Own::Host(more)) = (&mut self.own, other.own) {
            if own.classes.is_empty() {
                own.classes.push(HostOutcome::clone(&own.outcome));
            }
            own.outcome.add(&more.outcome);
            own.outcome.transfers.completions.sort_by_key(|flow| flow.end);
            own.outcome.transfers.missing.sort_by_key(|flow| (flow.src, flow.nth));
            own.classes.push(*more.outcome);
            own.waiting += more.waiting;
            own.last_delivery = own.last_delivery.max(more.last_delivery);
            add(&mut own.received_from, &more.received_from);
            own.acknowledged.extend(more.acknowledged);
            own.trips.extend(more.trips);
            own.trips.sort_by_key(|come| come.came);
            own.told.join(more.told);
            // What is of another class never happens here.
            own.operations.iter_mut().zip(more.operations).for_each(|(own, more)| *own = (*own).min(more));
        }
        self
    }
}

impl HostOutcome {
    /// Adds what another class, or another phase, measured at the host.
    pub(super) fn add(&mut self, more: &Self) {
        sums!(self, more; generated, source_discards, sent, delivered, delivered_bits, header_bits);
        sums!(self, more; limited_flows, slowed_flows);
        sums!(self.pause, more.pause; time, received, sent);
        add(&mut self.pause.by_part, &more.pause.by_part);
        self.latencies.sum += more.latencies.sum;
        self.latencies.max = Ord::max(self.latencies.max, more.latencies.max);
        add(&mut self.latencies.histogram, &more.latencies.histogram);
        self.transfers.completions.extend(&more.transfers.completions);
        self.transfers.missing.extend(&more.transfers.missing);
        add(&mut self.out_of_order, &more.out_of_order);
        self.held_max = self.held_max.max(more.held_max);
        self.transport.add(&more.transport);
    }
}

impl TransportOutcome {
    /// Adds what another class measured at the host.
    fn add(&mut self, more: &Self) {
        sums!(self, more; acks, acks_made, acked, marked, resent, resent_bytes, nacks, timeouts, recoveries);
        add(&mut self.rtt, &more.rtt);
        self.waiting.extend(&more.waiting);
    }
}
