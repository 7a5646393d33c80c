//! Moments of rest, from which a run can go on as from its beginning ([`crate::Reuse`]).
//!
//! A node is at rest if nothing is under way there and nothing remembers what has happened. What was counted stays.

use super::host::Sides;
use super::packet::Packet;
use super::program::{OPERATIONS, Program};
use super::receiver::Receiver;
use super::sender::Sender;
use crate::check::Hash;
use crate::net::{NEVER, Net};
use cnsim_scheme_api::Scope;
use cnsim_scheme_api::network::{Purpose, Stream};

/// Is a node as it was before the run, but for what it has counted? If not, something is under way there, or it remembers what has
/// happened: which part of it.
pub(crate) type Rest = Result<(), Option<String>>;

/// Is a sending side at rest?
fn sender_rests<F: Packet>(sender: &Sender<F>) -> Rest {
    let queues = &sender.queues;
    let waits = [&queues.control, &queues.probes, &queues.fifo, &queues.backlog];
    let waits = waits.into_iter().any(|queue| !queue.is_empty());
    let goes_on = sender.has_live() || sender.must_look || !sender.transfers.is_idle();
    if waits || goes_on || sender.deferred.next() < NEVER {
        return Err(None);
    }
    if !sender.limiters.is_empty() {
        return Err(Some("a limiter".into()));
    }
    if sender.transfers.flows_next {
        return Err(Some("the turns of flows and messages".into()));
    }
    if sender.timers.are_still_but(0, OPERATIONS) { Ok(()) } else { Err(None) }
}

impl Receiver {
    /// Is it at rest?
    fn rest(&self, net: &Net) -> Rest {
        if self.alarms.next < NEVER {
            return Err(None);
        }
        let drawn = self.stream != Stream::new(net.seed, u64::from(self.host), Purpose::Node);
        if drawn || self.plan.reflector_scope != Scope::Flow && self.reflects() {
            return Err(Some("a reflector".into()));
        }
        Ok(())
    }
}

impl<F: Packet> Sides<F> {
    /// It goes on from a moment of rest, with its operations and the hashes of what was before.
    pub(crate) fn resume(&mut self, program: Option<Box<Program>>, (events, deliveries): (Hash, Hash)) {
        self.sender.program = program;
        self.sender.plan_operations();
        (self.sender.journal.events.hash, self.receiver.deliveries.hash) = (events, deliveries);
    }

    /// Is it at rest?
    pub(crate) fn rest(&self, net: &Net) -> Rest {
        sender_rests(&self.sender)?;
        self.receiver.rest(net)
    }
}
