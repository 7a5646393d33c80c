//! The run that the settings of a case describe to the network.

use super::Settings;
use crate::tables::host::Queues;
use crate::tables::workload::{Permutations, SourcePlan};
use cnsim_fabric::{HostQueues, HostSpec, RateChange, Record, RunSpec, SwitchSpec};
use cnsim_scheme_api::NodeId;
use cnsim_scheme_api::network::{Purpose, Stream};
use cnsim_scheme_api::registry::Configured;

/// The golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Most flows whose rates are recorded for a measurement of a part of the run.
const MOST_FLOWS: usize = 4096;

impl Settings {
    /// The run that these settings describe.
    ///
    /// `all` records every queue in use and the limiters of all listed flows.
    pub fn spec(&self, built: &Configured, seed: u64, all: bool) -> RunSpec {
        let hosts = self.hosts();
        let mut permutations = Permutations::default();
        let mut record = Record {
            bin: self.bin,
            // Where a part of the run is measured, every rate needs its series.
            delivered: (0..if self.whole() { hosts.min(1024) } else { hosts })
                .map(|h| NodeId(h as u32))
                .collect(),
            queues: self.named.ports.clone(),
            flows: self.named.flows.clone(),
            rates: self.named.limiters.clone(),
            headers: self.plans.iter().map(|plans| header_of(plans)).collect(),
            control: true,
            matrix: hosts <= 128,
            latency: self.latency,
            pauses: self.pauses,
        };
        let mut changes = self.events.clone();
        for hot in &self.hotspots {
            let (node, port) = self.wiring.feeder(hot.host);
            let rate = self.wiring.access(hot.host).map_or(hot.rate, |l| l.rate);
            for (start, stop) in hot.windows() {
                changes.push(RateChange { at: start, node, port, rate: hot.rate });
                if stop < self.duration {
                    changes.push(RateChange { at: stop, node, port, rate });
                }
            }
        }
        if !self.whole() {
            let fixed = self.fixed_flows();
            let pairs = fixed.iter().take(MOST_FLOWS).map(|&(a, b)| (NodeId(a as u32), NodeId(b as u32)));
            record.flows.extend(pairs.filter(|f| !self.named.flows.contains(f)));
        }
        if all || !self.whole() && self.greedy() {
            let ends = self.wiring.links.iter().flat_map(|l| [l.a, l.b]);
            let ends = ends.filter(|e| e.0.0 as usize >= hosts && !record.queues.contains(e));
            let more: Vec<_> = ends.collect();
            record.queues.extend(more);
        }
        RunSpec {
            transport: self.pairs.map(|p| p.spec),
            graph: self.jobs.graph(seed),
            classes: Vec::new(),
            hosts: (0..hosts)
                .map(|h| HostSpec {
                    name: self.wiring.hosts[h].clone(),
                    processing: self.host_processing,
                    sources: self.plans[h]
                        .iter()
                        .enumerate()
                        .map(|(i, p)| p.spec(h, i, seed, &mut permutations))
                        .collect(),
                    fifo_frames: self.fifo,
                    limiter_frames: self.limiter_queue,
                    limiter_position: self.limiter_position,
                    backlog_frames: self.backlog,
                    queues: match self.queues {
                        Queues::PerDestination => HostQueues::PerDestination,
                        Queues::Fifo | Queues::PerFlow => HostQueues::Fifo,
                    },
                    feedback_delay: self.feedback_delay,
                    faults: self.faults,
                    clock_ppm: self.clock_of(h, seed),
                    scheme: (!self.bare[h]).then_some(0),
                })
                .collect(),
            switches: self
                .wiring
                .switches
                .iter()
                .zip(self.wiring.hosts.len() as u32..)
                .map(|((name, ports), node)| SwitchSpec {
                    name: name.clone(),
                    ports: *ports,
                    processing: self.switch_processing,
                    buffer: self.buffer,
                    shared: self.shared.map(|s| s.of(NodeId(node), *ports, &self.wiring)),
                    scheme: Some(0),
                })
                .collect(),
            links: self.wiring.links.clone(),
            routing: self.routing,
            rounding: self.rounding,
            ties: self.ties,
            schemes: vec![built.scheme.clone()],
            control: self.control,
            changes,
            faults: self.port_faults.clone(),
            losses: self.losses.clone(),
            watchdog: self.watchdog,
            pause_frames: self.pause_frames,
            duration: self.duration,
            seed,
            record,
        }
    }

    /// Error of a host's clock in the run of a seed, parts per million: half to all of the limit, fast or slow. Hosts take steps of the
    /// golden section from a drawn place. So no two clocks of a small network are nearly equal, nor one and the switches'. A further host
    /// changes no other host's clock.
    fn clock_of(&self, host: usize, seed: u64) -> f64 {
        let start = Stream::new(seed, 1 << 51, Purpose::Phase).uniform();
        let place = (start + host as f64 * GOLDEN).fract();
        let side = if place < 0.5 { -1.0 } else { 1.0 };
        side * (0.5 + (2.0 * place).fract() / 2.0) * self.clock_ppm as f64
    }
}

/// Bytes of a host's finite frames that are no payload: one for all of them.
fn header_of(plans: &[SourcePlan]) -> u32 {
    plans.iter().find(|p| p.finite()).map_or(0, |p| p.framing().header as u32)
}
