//! Recording at a switch, and the end of a run.

use super::Switch;
use super::port::Port;
use crate::check::{Ledger, Stopped, SwitchBooks};
use crate::fast::frame::Ring;
use crate::fast::wires::Wires;
use crate::net::Net;
use crate::outcome::{Series, SeriesKind, SwitchOutcome};
use cnsim_scheme_api::{NodeId, Time};

/// A port that is recorded.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    port: u16,
    /// Length of its queue at each tick.
    queue: Vec<f64>,
    /// Largest length since the tick before.
    peak: Vec<f64>,
    /// Data bits that it has sent, at each tick.
    sent: Vec<u64>,
    /// Largest length of its queue in all bins that are over.
    queue_max: u64,
}

impl Recorded {
    pub(super) fn new(port: u16) -> Self {
        Self { port, ..Self::default() }
    }
}

impl Port {
    /// What waits there for good, if data does and cannot leave.
    fn stopped(&self, number: usize) -> Option<Stopped> {
        let data = self.data.entries().iter().filter(|e| e.frame.is_data());
        let halted = self.paused.is_off() || self.service.stopped();
        halted.then(|| Stopped::new(number, self.paused.is_off(), data.map(|e| e.frame.input)))?
    }
}

impl Switch {
    pub(super) fn tick(&mut self, net: &Net, wires: &mut Wires) {
        self.next_tick = self.now + net.record.bin.as_ps();
        self.note_rare();
        for i in 0..self.recorded.len() {
            // Starts at this very moment do not change a queue's length, so advancing up to them is enough.
            self.touch(usize::from(self.recorded[i].port), self.now, wires);
        }
        self.drops_at.push(self.drops.frames as f64);
        for i in 0..self.recorded.len() {
            let r = &mut self.recorded[i];
            let p = usize::from(r.port);
            let port = &mut self.ports[p];
            let later = port.later(self.now + 1);
            let queued = port.queued - later.ahead;
            r.queue.push(queued as f64);
            r.peak.push(port.queue_max as f64);
            r.sent.push(port.sent_bits());
            r.queue_max = r.queue_max.max(port.queue_max);
            // The next bin has a largest length of its own; frames that are stored ahead may bring it.
            port.queue_max = queued;
            self.note_calm(p);
            self.look_for_peaks(p, later.behind);
        }
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.sent + p.out.control_sent).sum()
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(mut self, net: &Net) -> SwitchBooks {
        let control = self.ports.iter().map(|p| p.out.control_sent + p.sent_in_band()).sum();
        let hops = (self.hops(), control);
        let (mut outcome, mut inside) = (SwitchOutcome::default(), Ledger::default());
        let mut stopped = Vec::new();
        let series = self.series(net);
        for (i, p) in self.ports.iter_mut().enumerate() {
            stopped.extend(p.stopped(i));
            p.out.paused = Time::from_ps(p.paused.total(net.duration));
            (p.out.sent, p.out.sent_bits, p.out.queue_max) =
                (p.sent - p.sent_in_band(), p.sent_bits(), p.queue_max);
            p.out.control_sent += p.sent_in_band();
            outcome.ports.push(p.out.clone());
            p.data.entries().iter().filter(|e| e.frame.is_data()).for_each(|e| inside.add(&e.frame));
            // All has been counted: its memory serves for the results.
            p.data = Ring::default();
        }
        SwitchBooks {
            stopped,
            series,
            dropped: self.drops,
            losses: self.losses,
            lost: outcome.ports.iter().map(|p| if self.mmu.has_pause() { p.dropped } else { 0 }).collect(),
            outcome,
            inside,
            hops,
            events: self.events,
            samples: self.samples,
            control: *self.books,
            failure: self.failure,
        }
    }

    /// What was recorded.
    fn series(&mut self, net: &Net) -> Vec<Series> {
        let (node, bin) = (NodeId(self.id), net.record.bin);
        let bins = (net.duration / bin.as_ps().max(1)) as usize;
        let mut drops_at = std::mem::take(&mut self.drops_at);
        if !self.recorded.is_empty() {
            drops_at.resize(bins, self.drops.frames as f64);
        }
        let mut series = Vec::new();
        for r in std::mem::take(&mut self.recorded) {
            let Recorded { port, queue: mut values, peak: mut peaks, mut sent, queue_max } = r;
            let now = &mut self.ports[usize::from(port)];
            if values.len() < bins {
                values.push(now.queued as f64);
                peaks.push(now.queue_max as f64);
                sent.push(now.sent_bits());
            }
            now.queue_max = now.queue_max.max(queue_max);
            let before = std::iter::once(&0).chain(&sent);
            let bits = sent.iter().zip(before).map(|(to, from)| (to - from) as f64);
            let rates = bits.map(|b| b / bin.as_secs_f64()).collect();
            series.push(Series { kind: SeriesKind::Queue { node, port }, bin, values });
            series.push(Series { kind: SeriesKind::QueuePeak { node, port }, bin, values: peaks });
            series.push(Series { kind: SeriesKind::Sent { node, port }, bin, values: rates });
        }
        if !series.is_empty() {
            series.push(Series { kind: SeriesKind::Dropped { node }, bin, values: drops_at });
        }
        series.extend(self.books.gauges.switch_series(net, self.id));
        series
    }
}
