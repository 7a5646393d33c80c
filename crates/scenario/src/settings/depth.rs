//! How long a queue can get before memory ends, and before PAUSE has stopped all its inputs.

use super::Settings;
use crate::tables::switch;
use cnsim_fabric::{Organisation, SharedSpec};
use cnsim_scheme_api::NodeId;
use cnsim_units::Bytes;

/// A length of a queue, with what decides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// The length.
    pub bytes: Bytes,
    /// `3 inputs fill it`.
    pub of: String,
    /// Keys that change it.
    pub keys: &'static str,
}

/// `one input fills it`.
fn filled(inputs: usize) -> String {
    if inputs == 1 { "one input fills it".into() } else { format!("{inputs} inputs fill it") }
}

/// The part of a pool that each of so many takers comes to with `alpha` times what is free.
fn part(alpha: f64, pool: f64, takers: usize) -> f64 {
    alpha * pool / (1.0 + takers as f64 * alpha)
}

impl Settings {
    /// The shared buffers of all switches, with the bytes of the pool of each.
    fn pools(&self) -> impl Iterator<Item = (SharedSpec, f64)> + '_ {
        let lossless = self.switch.buffer.pause.is_some();
        let parts = self.classes.parts(lossless);
        let nodes = (self.wiring.hosts.len() as u32..).zip(&self.wiring.switches);
        let of = move |(node, (_, ports)): (u32, &(String, u16))| {
            let shared = self.switch.shared?;
            let spec = shared.of(NodeId(node), *ports, &self.wiring, &parts);
            let taken = (shared.kept(&spec.inputs) + spec.lossy).get();
            let pool = spec.memory.get().saturating_sub(if lossless { taken } else { 0 });
            Some((spec, pool as f64))
        };
        nodes.filter_map(of)
    }

    /// The key that says how much of a shared pool an input or output may take.
    fn takes(&self) -> &'static str {
        let fixed = self.pools().next().is_some_and(|(spec, _)| spec.threshold.is_some());
        if fixed { switch::THRESHOLD.path } else { "switch.alpha or switch.memory" }
    }

    /// Most bytes that can wait for one output if this number of inputs fill it.
    pub fn deepest(&self, inputs: usize) -> Depth {
        let share = self.switch.buffer.share;
        let depth = match self.switch.buffer.organisation {
            _ if self.switch.shared.is_some() => self.deepest_shared(inputs),
            Organisation::SharedOutput => {
                let ports = self.wiring.switches.iter().map(|s| u64::from(s.1)).max().unwrap_or(1);
                Depth {
                    bytes: share * ports,
                    of: "switch.share of all ports".into(),
                    keys: switch::SHARE.path,
                }
            }
            Organisation::Input | Organisation::Crosspoint => {
                Depth { bytes: share * inputs as u64, of: filled(inputs), keys: switch::SHARE.path }
            }
        };
        match self.switch.buffer.output_limit.filter(|limit| *limit < depth.bytes) {
            Some(bytes) => {
                Depth { bytes, of: switch::OUTPUT_LIMIT.path.into(), keys: switch::OUTPUT_LIMIT.path }
            }
            None => depth,
        }
    }

    /// With PAUSE each input has its reserve, its part of the pool and headroom. Without, the output has its part of the pool.
    fn deepest_shared(&self, inputs: usize) -> Depth {
        let lossless = self.switch.buffer.pause.is_some();
        let frame = self.traffic.plans.iter().flatten().map(|p| p.frame.get()).max().unwrap_or(0) as f64;
        let of = |(spec, pool): (SharedSpec, f64)| {
            let takers = if lossless { inputs } else { 1 };
            let widest = spec.inputs.iter().map(|i| i.alpha).fold(0.0, f64::max);
            let each = spec.threshold.map_or(part(widest, pool, takers), |t| t.as_f64());
            let own = spec.inputs.iter().map(|i| (i.reserve + i.headroom).get()).max().unwrap_or(0) as f64;
            // The last frame is taken below the threshold.
            let one = each + frame + if lossless { own } else { 0.0 };
            (takers as f64 * one).min(spec.memory.as_f64())
        };
        let bytes = Bytes::new(self.pools().map(of).fold(0.0, f64::max) as u64);
        let of = match lossless {
            true => filled(inputs),
            false => format!("an output may hold no more by {}", self.takes()),
        };
        Depth { bytes, of, keys: self.takes() }
    }

    /// Where a buffer is shared with PAUSE: the bytes for one output at which all of so many inputs have been stopped.
    pub fn all_stopped(&self, inputs: usize) -> Option<Depth> {
        self.switch.buffer.pause?;
        let of = |(spec, pool): (SharedSpec, f64)| {
            let widest = spec.inputs.iter().map(|i| i.alpha).fold(0.0, f64::max);
            let each = spec.threshold.map_or(part(widest, pool, inputs), |t| t.as_f64());
            inputs as f64 * (each + spec.inputs.iter().map(|i| i.reserve.get()).max().unwrap_or(0) as f64)
        };
        let bytes = self.pools().map(of).reduce(f64::max)?;
        Some(Depth { bytes: Bytes::new(bytes as u64), of: filled(inputs), keys: self.takes() })
    }

    /// Largest number of inputs of a switch that can fill one output. Between switches all others can.
    pub fn most_inputs(&self) -> usize {
        let own = self.fan_in();
        let ways = self.ways();
        let hosts = |s: usize| (0..self.hosts()).filter(|h| self.seat(*h) == Some(s)).count();
        let inner = ways.iter().enumerate().filter(|(_, links)| !links.is_empty());
        inner.map(|(s, links)| hosts(s) + links.len() - 1).fold(own, usize::max)
    }
}
