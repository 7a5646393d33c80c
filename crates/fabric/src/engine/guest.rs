//! A node that runs the model's way among nodes that run the fast way, as these do not know its settings.
//!
//! Nodes meet over links alone, so it is a list of events of its own, run as far as its turn goes, that takes frames from the wires
//! of the others and puts frames there. The bits are those of the oracle: it *is* a node of the oracle.

use super::node::Node;
use crate::Options;
use crate::check::broken;
use crate::fast::bodies::{self, Bodies};
use crate::fast::frame as packed;
use crate::fast::frame::Entry;
use crate::fast::host::packed as packed_control;
use crate::fast::wires::Wires;
use crate::model::{Agenda, Body, Control, Direct, Frame, Lane, MANAGED, Moment, Packet, Pause, Says, Sent};
use crate::net::Net;
use crate::spec::{BufferSpec, PauseSpec, RunSpec, SwitchSpec};
use cnsim_scheme_api::{FlowId, NodeId};
use std::collections::BTreeMap;

/// The node, with the events to come and its place among those of its worker.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(super) id: u32,
    pub(super) node: Node,
    agenda: Agenda,
    /// Number of its first receiving port at the worker, and how many it has.
    inboxes: std::ops::Range<u32>,
    /// Of its links: number of the receiving port in the network -> at the worker, as others of the worker have it.
    pub(super) peers: BTreeMap<u32, u32>,
}

impl Guest {
    /// Builds it; its receiving ports at the worker are these.
    pub(super) fn new(net: &Net, spec: &RunSpec, id: u32, inboxes: std::ops::Range<u32>) -> Self {
        let mut agenda = Agenda::default();
        let node = Node::new(net, spec, id, &mut agenda);
        let peers = net.links_of(id as usize).iter().flatten().map(|l| (l.peer, l.peer)).collect();
        Self { id, node, agenda, inboxes, peers }
    }

    /// Runs it up to `end` (exclusive).
    pub(super) fn sweep(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        for (port, inbox) in self.inboxes.clone().enumerate() {
            while let Some(Entry { ready, frame }) = wires.pop(inbox, end) {
                let frame = unpack(&frame, net.hosts, &mut wires.bodies);
                self.node.await_frame(port, ready, frame, net, &mut self.agenda);
            }
        }
        while let Some(event) = self.agenda.next_before(end) {
            let out = self.node.carry_out(event, net, &mut self.agenda);
            for Sent { port, at, frame, .. } in out.sent {
                let Some(&peer) = self.peers.get(&port) else { broken("a frame for a port at no link") };
                let (frame, body) = pack(&frame, Moment { now: event.time, net });
                wires.push(peer, Entry { ready: at, frame }, body);
            }
            wires.direct.extend(out.direct);
        }
    }

    /// Feedback that takes no link is on its way, perhaps to this node.
    pub(super) fn hear(&mut self, d: &Direct, net: &Net) {
        if d.to.is_none_or(|to| to == self.id) {
            self.node.await_feedback(d, net, &mut self.agenda);
        }
    }
}

/// A frame as the model has it, of the one class that the fast engine knows, from its wires; the body of a control frame is taken.
fn unpack(f: &packed::Frame, hosts: u32, bodies: &mut Bodies) -> Frame {
    use packed::Kind;
    let kind = f.kind();
    match kind {
        Kind::Xoff | Kind::Xon => Frame::pause(Pause { off: kind == Kind::Xoff, class: 0 }),
        Kind::Data => Frame::data(0, f.len, f.header()),
        Kind::Control | Kind::InBand => {
            let (flow, says) = match f.said() {
                Some(feedback) => (FlowId(f.flow(hosts)), Says::Feedback(feedback)),
                None => bodies.take(f).unwrap_or_else(|| broken("a control frame without content")),
            };
            let lane = if kind == Kind::Control { Lane::Control } else { MANAGED };
            Frame::control(lane, Control { flow, to: f.goes_to(), says })
        }
    }
}

/// The same the other way, for a frame that is sent now.
fn pack(frame: &Frame, at: Moment<'_>) -> (packed::Frame, Option<bodies::Body>) {
    use packed::Kind;
    match &frame.body {
        Body::Pause(pause) => (packed::Frame::pause(if pause.off { Kind::Xoff } else { Kind::Xon }), None),
        Body::Data(d) => {
            let mut f = packed::Frame::of_data(0, frame.len, d);
            f.set_packed_tag(d.tag);
            f.set_marked(d.marked);
            (f, None)
        }
        Body::Control(control) => packed_control(frame.lane, control, at),
    }
}

/// Which nodes run the model's way, and why.
pub(super) fn by_model(net: &Net, spec: &RunSpec, options: &Options<'_>) -> Option<(Vec<NodeId>, String)> {
    let woken = |s: &SwitchSpec| all_of_switch(s).is_some_and(|i| net.schemes[i].plan.departures);
    let switches = (net.hosts..).zip(&spec.switches).filter(|(_, s)| woken(s));
    let mut nodes: Vec<NodeId> = switches.map(|(id, _)| NodeId(id)).collect();
    let mut why = Vec::new();
    if !nodes.is_empty() {
        why.push("the fast way does not wake congestion points as frames leave");
    }
    if !options.by_model.is_empty() {
        nodes.extend(options.by_model.iter().filter(|n| n.0 < net.ports.len() as u32 - 1));
        nodes.sort_unstable();
        nodes.dedup();
        why.push("it was asked for");
    }
    (!nodes.is_empty()).then(|| (nodes, why.join("; ")))
}

/// The fast way knows all settings of a switch: a new one does not compile here until that is decided. Returns the switch's scheme,
/// which may ask for more. A host's settings are read by its own file of the fast way, and by the sending side that both share.
fn all_of_switch(switch: &SwitchSpec) -> Option<usize> {
    let SwitchSpec { name: _, ports: _, processing: _, buffer, scheme } = switch;
    let BufferSpec { organisation: _, share: _, output_limit: _, pause } = buffer;
    if let Some(PauseSpec { high: _, low: _, global: _, pool: _, transport: _ }) = pause {}
    *scheme
}
