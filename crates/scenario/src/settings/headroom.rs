//! What each lossless class needs behind the ports of a switch after XOFF, and what it has there.

use super::Settings;
use crate::headroom::Loop;
use cnsim_fabric::Organisation;
use cnsim_scheme_api::NodeId;
use cnsim_units::{Bytes, Rate};

/// Headroom of a lossless class behind the alike ports of a case's switches.
#[derive(Clone, Debug, PartialEq)]
pub struct Headroom {
    /// Name of the class; `data` where all data is one.
    pub class: String,
    /// The first of the ports.
    pub port: String,
    /// Rate of their links.
    pub rate: Rate,
    /// How many ports are alike.
    pub ports: u64,
    /// Bytes that can still arrive of the class after XOFF, which may wait for the XOFFs of all other lossless classes.
    pub need: Bytes,
    /// Bytes that the class has there above XOFF.
    pub has: Bytes,
}

impl Settings {
    /// Headroom of each lossless class; none without PAUSE.
    pub fn headrooms(&self) -> Vec<Headroom> {
        let Some(pause) = self.switch.buffer.pause else { return Vec::new() };
        let parts = self.classes.parts(true);
        let others = parts.iter().filter(|part| part.lossless).count().max(1) as u64 - 1;
        let frame = self.traffic.plans.iter().flatten().map(|plan| plan.frame).max();
        let frame = frame.unwrap_or(Bytes::new(1500));
        let processing = self.switch.processing.max(self.host.processing);
        let mut all: Vec<Headroom> = Vec::new();
        for (node, (_, ports)) in (self.wiring.hosts.len() as u32..).zip(&self.wiring.switches) {
            let shared = self.switch.shared.map(|s| s.of(NodeId(node), *ports, &self.wiring, &parts));
            let linked = (0..*ports).filter_map(|port| Some((port, self.wiring.link((NodeId(node), port))?)));
            for (port, link) in linked {
                let (rate, delay, pauses) = (link.rate, link.delay, self.pause.frames);
                let need = Loop { rate, delay, processing, frame, pause: pauses }.headroom()
                    + pauses.length * others;
                for (n, _) in parts.iter().enumerate().filter(|(_, part)| part.lossless) {
                    let own =
                        |s: &cnsim_fabric::SharedSpec| s.inputs[n * usize::from(*ports) + usize::from(port)];
                    let pool = if self.switch.buffer.organisation == Organisation::SharedOutput {
                        *ports
                    } else {
                        1
                    };
                    let memory = self.switch.buffer.share * u64::from(pool);
                    let has = shared.as_ref().map_or(memory.saturating_sub(pause.high), |s| own(s).headroom);
                    let class =
                        self.classes.list.get(n).map_or("data".into(), |class| class.name.to_string());
                    let port = self.wiring.port_name((NodeId(node), port));
                    let alike =
                        |h: &&mut Headroom| h.class == class && (h.rate, h.need, h.has) == (rate, need, has);
                    match all.iter_mut().find(alike) {
                        Some(known) => known.ports += 1,
                        None => all.push(Headroom { class, port, rate, ports: 1, need, has }),
                    }
                }
            }
        }
        all
    }

    /// The pool of headroom of each switch, where there is one.
    pub fn headroom_pool(&self) -> Option<Bytes> {
        self.switch.shared.and_then(|shared| shared.headroom_pool)
    }
}
