//! Recording at a switch, and the end of a run.

use super::Switch;
use super::port::{Ledger, Port};
use crate::check::Stopped;
use crate::fast::frame::Ring;
use crate::fast::wires::Wires;
use crate::net::Net;
use crate::outcome::{Series, SeriesKind, SwitchOutcome};
use cnsim_scheme_api::{NodeId, Time};

impl Switch {
    pub(super) fn tick(&mut self, net: &Net, wires: &mut Wires) {
        self.next_tick = self.now + net.record.bin.as_ps();
        self.note_rare();
        for i in 0..self.recorded.len() {
            // Starts at this very moment do not change a queue's length, so advancing up to them is enough.
            self.touch(usize::from(self.recorded[i].0), self.now, wires);
        }
        self.drops_at.push(self.drops.frames as f64);
        for ((port, values), sent) in self.recorded.iter_mut().zip(&mut self.sent_at) {
            let port = &self.ports[usize::from(*port)];
            values.push((port.queued - port.later(self.now + 1).ahead) as f64);
            sent.push(port.sent_bits());
        }
    }

    /// Ends the run: closes intervals and gives up what was measured.
    pub(crate) fn finish(&mut self, net: &Net) -> (SwitchOutcome, Vec<Series>) {
        let mut out = SwitchOutcome::default();
        for p in &mut self.ports {
            if p.paused() {
                p.out.paused += Time::from_ps(net.duration - p.paused_since.min(net.duration));
            }
            (p.out.sent, p.out.sent_bits, p.out.queue_max) =
                (p.sent - p.sent_in_band(), p.sent_bits(), p.queue_max);
            p.out.control_sent += p.sent_in_band();
            out.ports.push(p.out.clone());
        }
        // All has been counted: its memory serves for the results.
        self.ports.iter_mut().for_each(|p| p.data = Ring::default());
        let node = NodeId(self.id);
        let bins = (net.duration / net.record.bin.as_ps().max(1)) as usize;
        let mut drops_at = std::mem::take(&mut self.drops_at);
        if !self.recorded.is_empty() {
            drops_at.resize(bins, self.drops.frames as f64);
        }
        let mut series = Vec::new();
        let sent_at = std::mem::take(&mut self.sent_at);
        for ((port, mut values), mut sent) in std::mem::take(&mut self.recorded).into_iter().zip(sent_at) {
            let now = &self.ports[usize::from(port)];
            if values.len() < bins {
                values.push(now.queued as f64);
                sent.push(now.out.sent_bits);
            }
            let before = std::iter::once(&0).chain(&sent);
            let bits = sent.iter().zip(before).map(|(to, from)| (to - from) as f64);
            let rates = bits.map(|b| b / net.record.bin.as_secs_f64()).collect();
            let bin = net.record.bin;
            series.push(Series { kind: SeriesKind::Queue { node, port }, bin, values });
            series.push(Series { kind: SeriesKind::Sent { node, port }, bin, values: rates });
        }
        if !series.is_empty() {
            series.push(Series { kind: SeriesKind::Dropped { node }, bin: net.record.bin, values: drops_at });
        }
        (out, series)
    }

    /// Ports with data that cannot leave.
    pub(crate) fn stopped(&self) -> Vec<Stopped> {
        let halted = |p: &Port| p.paused() || p.service.stopped();
        let ports = self.ports.iter().enumerate().filter(|(_, p)| halted(p));
        ports
            .filter_map(|(i, p)| {
                let data = p.data.entries().iter().filter(|e| e.frame.is_data());
                Stopped::new(i, p.paused(), data.map(|e| e.frame.input))
            })
            .collect()
    }

    /// Index of its scheme.
    pub(crate) fn scheme(&self) -> Option<usize> {
        self.scheme
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.sent + p.out.control_sent).sum()
    }

    /// Of these, control frames.
    pub(crate) fn control_hops(&self) -> u64 {
        self.ports.iter().map(|p| p.out.control_sent + p.sent_in_band()).sum()
    }

    /// Data frames still inside.
    pub(crate) fn inside(&self, ledger: &mut Ledger) {
        for e in self.ports.iter().flat_map(|p| p.data.entries()).filter(|e| e.frame.is_data()) {
            ledger.add(&e.frame);
        }
    }
}
