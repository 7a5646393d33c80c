//! Recording at a switch, and the end of a run.

use super::*;

impl Switch {
    pub(super) fn tick(&mut self, net: &Net, wires: &mut Wires) {
        self.next_tick = self.now + net.record.bin.as_ps();
        self.note_rare();
        for i in 0..self.recorded.len() {
            // Starts at this very moment do not change a queue's length, so advancing up to them is enough.
            self.touch(usize::from(self.recorded[i].0), self.now, wires);
        }
        self.drops_at.push(self.drops.frames as f64);
        for (port, values) in &mut self.recorded {
            values.push(self.ports[usize::from(*port)].queued as f64);
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
                (p.sent, (p.left - p.left_control) * 8, p.queue_max);
            out.ports.push(p.out.clone());
            // All has been counted: its memory serves for the results.
            p.data = Ring::default();
        }
        let node = NodeId(self.id);
        let bins = (net.duration / net.record.bin.as_ps().max(1)) as usize;
        let mut drops_at = std::mem::take(&mut self.drops_at);
        if !self.recorded.is_empty() {
            drops_at.resize(bins, self.drops.frames as f64);
        }
        let mut series: Vec<Series> = std::mem::take(&mut self.recorded)
            .into_iter()
            .map(|(port, mut values)| {
                if values.len() < bins {
                    values.push(self.ports[usize::from(port)].queued as f64);
                }
                Series { kind: SeriesKind::Queue { node, port }, bin: net.record.bin, values }
            })
            .collect();
        if !series.is_empty() {
            series.push(Series { kind: SeriesKind::Dropped { node }, bin: net.record.bin, values: drops_at });
        }
        (out, series)
    }

    /// Index of its scheme.
    pub(crate) fn scheme(&self) -> Option<usize> {
        self.scheme
    }

    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.sent).sum::<u64>() + self.control_hops()
    }

    /// Of these, control frames.
    pub(crate) fn control_hops(&self) -> u64 {
        self.ports.iter().map(|p| p.out.control_sent).sum()
    }

    /// Data frames still inside.
    pub(crate) fn inside(&self, ledger: &mut Ledger) {
        for e in self.ports.iter().flat_map(|p| p.data.entries()).filter(|e| e.frame.kind == Kind::Data) {
            ledger.add(&e.frame);
        }
    }
}
