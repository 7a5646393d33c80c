//! A node that runs by the model's bodies among those of the fast way, with packed frames: a switch with a setting that this lacks, or a
//! node of several classes.

use super::node::Laws;
use crate::check::Hash;
use crate::fast::classed::Calm;
use crate::fast::frame::Frame;
use crate::fast::sweep::Scratch;
use crate::fast::wires::Wires;
use crate::model::{Agenda, Direct, Rest, Switching, Turn, of_rank};
use crate::net::{Net, Ps};
use crate::spec::RunSpec;

/// A guest among fast nodes.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) id: u32,
    /// Number of its first receiving port at the worker, and of these ports.
    pub(super) inbox: u32,
    pub(super) ports: u32,
    agenda: Agenda,
    pub(super) laws: Laws<Frame>,
    calm: Calm,
}

impl Guest {
    pub(super) fn new(net: &Net, spec: &RunSpec, id: u32, inbox: u32, wires: &mut Wires) -> Self {
        let ports = net.links_of(id as usize).len();
        let mut agenda = Agenda::new(ports);
        let laws = Laws::new(spec, &mut Turn { now: Ps(0), node: id, net, agenda: &mut agenda, out: wires });
        let calm = if let Laws::Switch(switch) = &laws { Calm::new(switch, net) } else { Calm::default() };
        Self { id, inbox, ports: ports as u32, agenda, laws, calm }
    }

    /// Runs it up to `end`.
    pub(super) fn run(&mut self, end: Ps, net: &Net, wires: &mut Wires, scratch: &mut Scratch) {
        let turn = &mut Turn { now: Ps(0), node: self.id, net, agenda: &mut self.agenda, out: wires };
        match &mut self.laws {
            Laws::Host(host) => host.run(self.inbox, end, turn),
            Laws::Switch(switch) => switch.run((self.inbox, &mut self.calm), end, turn, scratch),
        }
    }

    /// A switch goes on at `now` from a moment of rest.
    pub(super) fn resume(&mut self, hashes: (Hash, Hash), now: Ps, net: &Net, wires: &mut Wires) {
        if let Laws::Switch(switch) = &mut self.laws {
            switch.management.resume(hashes, now, net);
            switch.plan(&mut Turn { now, node: self.id, net, agenda: &mut self.agenda, out: wires });
        }
    }

    /// When it must be visited next if nothing is sent to it.
    pub(super) fn look_around(&self, wires: &Wires) -> Ps {
        let own = of_rank(self.agenda.next()).0;
        let next = match &self.laws {
            Laws::Host(host) => own.min(host.alarms().0),
            Laws::Switch(switch) => switch.outputs.iter().map(|output| output.port.until).fold(own, Ps::min),
        };
        next.min(wires.first_arrival(self.inbox, self.ports))
    }

    /// Receiving ports at the far ends of its links have other numbers.
    pub(super) fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        match &mut self.laws {
            Laws::Host(host) => host.port.link.iter_mut().for_each(|link| link.peer = new(link.peer)),
            Laws::Switch(switch) => switch.links().for_each(|link| link.peer = new(link.peer)),
        }
    }

    /// Feedback is on its way to it without a frame, if it is a host: true then.
    pub(super) fn expect_feedback(&mut self, direct: &Direct, net: &Net, wires: &mut Wires) -> bool {
        let Laws::Host(host) = &mut self.laws else { return false };
        let agenda = &mut self.agenda;
        host.expect(direct, &mut Turn { now: Ps(0), node: self.id, net, agenda, out: wires });
        true
    }

    /// Is it at rest? Nothing rests where there are several classes.
    pub(super) fn rest(&mut self, net: &Net) -> Rest {
        match &mut self.laws {
            Laws::Switch(own) if net.classes.len() == 1 => Switching::<Turn<'_, Wires>>::rest(&mut **own),
            _ => Err(None),
        }
    }
}
