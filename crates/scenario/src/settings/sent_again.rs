//! Frames that go-back-N sends in vain: an output that loses frames of long flows lets few of them end, and they send on.

use super::fluid::breadth;
use super::{Hotspot, Settings};
use crate::tables::workload::{Permutations, SourcePlan};
use cnsim_fabric::{Reliability, Transfer};
use std::collections::BTreeMap;

/// Most flows that are looked at.
const MOST: f64 = 1e6;

impl Settings {
    /// Bits that finish a link, of frames of finite flows that are sent again to the end of the run: to hosts for which more is sent
    /// than their port serves and its memory takes, or whose port stands. `limits`: a scheme slows the senders, unless the port stands.
    pub(super) fn sent_in_vain(&self, limits: bool) -> f64 {
        let Some(Reliability::GoBackN { rto, .. }) = self.reliability() else { return 0.0 };
        let flows = |(h, plans): (usize, &Vec<SourcePlan>)| plans.iter().map(|p| p.count(h)).sum::<f64>();
        if self.switch.buffer.pause.is_some()
            || self.traffic.plans.iter().enumerate().map(flows).sum::<f64>() > MOST
        {
            return 0.0;
        }
        // By destination: source, start, bits.
        let mut towards: BTreeMap<usize, Vec<(usize, f64, f64)>> = BTreeMap::new();
        let mut drawn = Permutations::default();
        for (h, plans) in self.traffic.plans.iter().enumerate() {
            // Of those that the seed draws, the ones of seed 1 stand for all.
            let all = plans.iter().enumerate().filter(|p| p.1.finite());
            let all: Vec<Transfer> = all.flat_map(|(i, p)| p.spec(h, i, 1, &mut drawn).transfers).collect();
            for t in all.iter().filter(|t| t.start < self.duration) {
                let flow = (h, t.start.as_secs_f64(), t.bytes.as_f64() * 8.0);
                towards.entry(t.dst.0 as usize).or_default().push(flow);
            }
        }
        let ways = self.ways();
        let line = |h: usize| self.wiring.access(h).map_or(0.0, |l| l.rate.bps());
        let window = self.fixed_window().map_or(f64::INFINITY, |w| w.as_f64() * 8.0);
        let (whole, rto) = (self.duration.as_secs_f64(), rto.as_secs_f64());
        let mut bit_hops = 0.0;
        for (to, flows) in towards {
            let hot = self.hotspots.iter().find(|h| h.host == to && h.rate.bps() < line(to));
            let stands = hot.filter(|h| h.rate.bps() == 0.0);
            let bits: f64 = flows.iter().map(|f| f.2).sum();
            let first = flows.iter().map(|f| f.1).fold(f64::INFINITY, f64::min);
            let last = flows.iter().map(|f| f.1).fold(0.0, f64::max);
            let span = |h: &Hotspot| (first.max(h.start.as_secs_f64()), whole.min(h.stop.as_secs_f64()));
            let (begin, end) = stands.map_or((first, whole), span);
            // By host: bits that may be under way at once, and what timeouts send of them to the end.
            let mut by_host: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
            for &(h, start, bits) in &flows {
                let (all, again) = by_host.entry(h).or_default();
                *all += bits.min(window);
                if start + bits / line(h) > begin {
                    *again += bits.min(window) / rto * (end - start.max(begin)).max(0.0);
                }
            }
            let over = if stands.is_some() {
                // Flows that end before the port stands are not in its way.
                last + bits / line(to) > begin
            } else {
                let served = hot.map_or(line(to), |h| h.rate.bps());
                let longest = flows.iter().map(|f| f.2 / line(f.0)).fold(0.0, f64::max);
                let at_once = by_host.values().map(|of| of.0).sum::<f64>();
                let taken =
                    served * (last - first + longest) + self.deepest(by_host.len()).bytes.as_f64() * 8.0;
                !limits && at_once > taken
            };
            if !over || end <= begin {
                continue;
            }
            let (_, dist) = breadth(&ways, self.seat(to).unwrap_or(0));
            for (h, (_, again)) in by_host {
                // NACKs make a flow begin anew at once; where nothing arrives, timeouts do.
                let most = line(h) * (end - begin);
                let sent = if stands.is_none() { most } else { most.min(again) };
                let links = self.seat(h).map_or(1.0, |s| f64::from(dist[s].min(1000)) + 1.0);
                bit_hops += sent * links;
            }
        }
        bit_hops
    }
}
