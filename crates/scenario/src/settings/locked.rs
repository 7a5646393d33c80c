//! Phases that lock: senders with equal periods overload a port that drops frames.

use super::Settings;
use cnsim_fabric::{Organisation, Phase, Ties};
use std::collections::BTreeMap;

impl Settings {
    /// A note on senders that keep their place in the period of a port that drops frames: one may lose all frames and another none.
    /// It names the remedy. None without such senders, or if a scheme changes rates.
    pub fn locked(&self) -> Option<String> {
        // Memory apart for each input takes no side.
        let shared = self.switch.buffer.organisation == Organisation::SharedOutput;
        if self.host.clock_ppm > 0
            || self.switch.buffer.pause.is_some()
            || !(shared || self.switch.buffer.output_limit.is_some())
        {
            return None;
        }
        let mut alike: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (host, plan) in
            self.traffic.plans.iter().enumerate().flat_map(|(h, all)| all.iter().map(move |p| (h, p)))
        {
            if let (true, Some(to), Some(line)) = (plan.greedy(), plan.only(), self.wiring.access(host)) {
                let kind = (to, line.rate.bps().to_bits(), plan.frame);
                alike.entry(kind).or_default().push((host, plan));
            }
        }
        let ((to, ..), senders) = alike.into_iter().find(|((to, rate, _), senders)| {
            let room = self.wiring.access(*to).map_or(0.0, |l| l.rate.bps());
            let starts = senders.iter().map(|s| s.1.span().0).max();
            let stops = senders.iter().map(|s| s.1.span().1).min();
            let in_phase = senders.iter().all(|s| s.1.phase == Phase::Aligned);
            senders.len() > 1
                && starts < stops
                && senders.len() as f64 * f64::from_bits(*rate) > room
                && !(in_phase && self.timing.ties == Ties::Drawn)
        })?;
        let name = |host: usize| &self.wiring.hosts[host];
        let (first, last) = (name(senders[0].0), name(senders[senders.len() - 1].0));
        Some(format!(
            "{} hosts ({first} to {last}) send to {} with exact clocks, at one rate and without a scheme, into a port that drops: who \
             comes first in a period keeps its place, and others starve; host.clock = 100 lets them drift apart, and with \
             workload.phase = \"aligned\" timing.ties = \"seed\" draws who goes first",
            senders.len(),
            name(to)
        ))
    }
}
