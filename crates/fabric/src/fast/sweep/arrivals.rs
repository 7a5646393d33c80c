//! The arrivals of a window, found on the wires and put in order of time.

use crate::check::broken;
use crate::fast::frame::Entry;
use crate::fast::inbox::Inbox;
use crate::fast::order::{of_rank_in, rank_in};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Kind, Lane, Packet, place_of_data};
use crate::net::{Net, Ps};
use crate::spec::Ties;

/// Arrivals of a window, kept between windows for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Sorted: [`rank_in`].
    pub(in crate::fast) keys: Vec<u64>,
    /// Bytes that arrive at each input: [`Switch::bound_inputs`].
    pub(super) more: Vec<u64>,
}

impl Scratch {
    /// Finds what arrives before `end` at some ports, in order of (time, kind, port, or draw among data of one
    /// moment). True if it is data alone.
    #[inline(always)]
    pub(in crate::fast) fn gather(
        &mut self,
        (id, inbox): (u32, u32),
        ports: impl Iterator<Item = usize>,
        (base, end): (Ps, Ps),
        net: &Net,
        wires: &Wires,
    ) -> bool {
        self.keys.clear();
        let mut data_only = true;
        for p in ports {
            let Some(inbox) = wires.inboxes.get(inbox as usize + p) else { broken("no such port") };
            let mut n = 0;
            while let Some(e) = inbox.arrived_before(n, end) {
                n += 1;
                data_only &= e.frame.is_data();
                let kind = Kind::of_arrival(e.frame.kind().lane());
                self.keys.push(rank_in(base, (e.ready, kind, p as u64)));
            }
        }
        self.keys.sort_unstable();
        if net.laws.ties != Ties::ByPort {
            self.order_ties((id, inbox), base, net, wires);
        }
        data_only
    }

    /// Puts data of one moment in the order that is drawn, or that of their starts.
    fn order_ties(&mut self, (id, inbox): (u32, u32), base: Ps, net: &Net, wires: &Wires) {
        for alike in self.keys.chunk_by_mut(|a, b| a >> 16 == b >> 16) {
            let (at, kind, _) = of_rank_in(base, alike[0]);
            if alike.len() > 1 && kind == Kind::Data {
                hit(Mark::TiesDrawn);
                let len = |port: u16| {
                    let entries = wires.inboxes.get(inbox as usize + usize::from(port)).map(Inbox::entries);
                    // A PAUSE over the wire may come at the same moment.
                    let data = |e: &&Entry| e.ready == at && matches!(e.frame.kind().lane(), Lane::Data(_));
                    entries.into_iter().flatten().find(data).map_or(0, |e| e.frame.len)
                };
                let place = |port| place_of_data(net, id, at, port, len(port));
                alike.sort_unstable_by_key(|&k| place(k as u16));
            }
        }
    }
}
