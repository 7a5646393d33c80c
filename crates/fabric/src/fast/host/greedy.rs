//! The sending side of a host with one source that is greedy, or of finite flows, and no limiter: slots and transmissions merged
//! by hand, with XOFF or without.
//!
//! A greedy source offers a frame in every slot, which the host takes while less than two wait. Finite flows have no slots: their
//! frames are made as the link takes them. What starts is put on the wire at once, as nothing interrupts it.
//!
//! * Claim: a slot or a transmission of a greedy host takes no look at all that could happen there.
//! * Same bits: with nothing else about, the next event is the source's slot, the end of the transmission or the next start, in
//!   that order of one moment once what ends has ended.
//! * Bench row: perm128.
//! * Marks: HostGreedy; out: HostByEvent.

use super::Host;
use crate::fast::frame::{Key, NEVER, order};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::net::Net;
use cnsim_scheme_api::Built;

impl Host {
    /// Do one greedy source, the link and XOFF alone say what the sending side does before `limit`?
    pub(super) fn is_greedy(&self, limit: Key) -> bool {
        matches!(&self.sources[..], [source] if !source.drawn)
            && self.voqs.is_none()
            && self.limiters.count == 0
            && self.built == Built::OnFeedback
            && self.ahead_limit == 0
            && self.deferred.next() == NEVER
            && self.control.is_empty()
            && self.probes.is_empty()
            && self.timers.next.min(self.next_tick) > limit.0
    }

    /// The sending side of such a host before `limit`.
    pub(super) fn send_greedily(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        hit(Mark::HostGreedy);
        loop {
            let slot = self.sources.first().map_or(NEVER, |source| source.next);
            let free = if self.kick { self.now } else { self.end };
            // A start comes after a slot of its moment. Nothing follows from the end before it.
            if slot <= free {
                if (slot, order::SLOT, 0) >= limit {
                    break;
                }
                self.now = slot;
                self.slot_of(0, net);
                continue;
            }
            if !self.kick {
                if (free, order::END, 0) >= limit {
                    break;
                }
                self.now = free;
                self.end(wires);
            }
            if (free, order::START, 0) >= limit {
                break;
            }
            self.kick = false;
            self.start(net);
            if self.end < net.duration
                && let Some(frame) = self.sending.take()
            {
                self.send(frame, self.end, wires);
            }
        }
        let slot = self.sources.first().map_or(NEVER, |source| source.next);
        let own = if self.kick { self.now } else { self.end };
        self.due = slot.min(own).min(self.timers.next).min(self.next_tick);
    }
}
