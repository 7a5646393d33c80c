//! A store-and-forward switch: output queues over a partitioned memory, PAUSE, congestion points.
//!
//! What it does is the model's ([`Switching`]); how it does that here is in `acts`. [`crate::fast::sweep`] brings ports up to date only
//! when they are touched. Ports are in `port`, what is stored without a closer look in `calm`.

mod acts;
pub(in crate::fast) mod calm;
pub(in crate::fast) mod early;
pub(in crate::fast) mod near;
mod port;

use early::Due;

use port::{Line, Looks, Place};
pub(crate) use port::{Port, Sent, ToCome, Transmission};

use crate::fast::frame::{Begin, Entry, Frame, NO_EVENT, Ring};
use crate::fast::mmu::Mmu;
use crate::fast::order::Step;
use crate::fast::wires::Wires;
use crate::model::{Key, Management, Memory, Point, Switching};
use crate::net::{Net, Ps};
use crate::spec::{RunSpec, SwitchSpec, Ties};
use crate::tx_rate::TxRate;
use prefetch_index::prefetch_index;
use std::slice::from_ref;

/// How fast the links of a switch are.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Rate of its fastest link.
    fastest: TxRate,
    /// Most bytes that its links carry to it in a ps.
    pub(crate) intake: f64,
    /// Of its windows, a piece is at least that long, ps.
    pub(crate) piece: Ps,
}

/// What is looked at after the frames of a window are stored ([`early`]). Ports stand modulo 64.
#[derive(Debug, Default)]
pub(crate) struct Early {
    /// Frames may be stored before what precedes them in time has been done.
    pub(crate) may_be_ahead: bool,
    /// Ports whose countdown ran out among these.
    pub(crate) ran_out: u64,
    due_looks: Vec<Due>,
}

/// Ports whose departures may matter elsewhere: these are kept in step with time ([`crate::fast::sweep`]). Ports stand modulo 64.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// All of them, those of them where data waits, and those for which something has happened since `next` was noted.
    pub(crate) in_step: u64,
    pub(crate) stepping: u64,
    pub(crate) stale: u64,
    /// By port its next step, and what begins with it; and the first of all.
    pub(crate) next: Vec<(Step, Option<Begin>)>,
    pub(crate) soonest: (Step, usize),
}

/// Outputs of a shared buffer near a threshold. Ports stand modulo 64.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    /// Those that may hold data.
    pub(crate) busy: u64,
    /// By output, the inputs that this came by.
    pub(crate) of: Vec<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Switch {
    pub(crate) index: usize,
    /// Number of its first receiving port at the worker.
    pub(crate) inbox: u32,
    pub(crate) now: Ps,
    pub(crate) ports: Vec<Port>,
    pub(crate) mmu: Mmu,
    /// Ports up to the last one with a link.
    pub(crate) linked: usize,
    /// Ports (modulo 64) that need a visit even if nothing arrives; kept where windows hold few frames.
    pub(crate) waiting: u64,
    /// How fast its links are.
    pub(crate) pace: Pace,
    /// Frames are taken in their order always: those to a destination take turns between ports, or draws decide which of one moment
    /// goes first.
    pub(crate) ordered: bool,
    pub(crate) early: Early,
    /// A shared buffer was quiet. So frames whose transmission has begun may still be counted as stored.
    pub(crate) was_quiet: bool,
    pub(crate) steps: Steps,
    pub(crate) holders: Holders,
    /// Earliest of changes, own messages, timers, ticks.
    pub(crate) rare: Key,
    pub(crate) management: Management,
}

impl Switch {
    pub(crate) fn new(net: &Net, spec: &RunSpec, index: usize, s: &SwitchSpec) -> Self {
        let id = net.hosts + index as u32;
        let base = net.ports[id as usize];
        let ports = usize::from(s.ports);
        let mut sw = Self {
            index,
            inbox: base,
            ports: Vec::with_capacity(ports),
            mmu: Mmu::new(Memory::new(s, &[0], &net.classes), net.margin(base, ports)),
            linked: (0..ports).rev().find(|&p| net.links[base as usize + p].is_some()).map_or(0, |p| p + 1),
            ordered: net.in_turn(index) || net.laws.ties != Ties::ByPort,
            management: Management::new(net, id, s, &spec.events.changes),
            ..Self::default()
        };
        let rates = || net.links[base as usize..base as usize + ports].iter().flatten().map(|l| l.tx);
        sw.pace.fastest = rates().min_by(|a, b| a.per_byte().total_cmp(&b.per_byte())).unwrap_or_default();
        sw.pace.piece = Self::piece(sw.pace.fastest, net);
        sw.pace.intake = rates().map(TxRate::most_per_ps).sum();
        for p in 0..ports {
            let link = net.links[base as usize + p];
            let rate = net.rate(base + p as u32);
            sw.ports.push(Port {
                data: if link.is_some() { Ring::with_places(16) } else { Ring::default() },
                countdown: i64::MAX / 2,
                line: Line {
                    service: net.clocks.switches.tx(rate),
                    delay: link.map_or(Ps(0), |l| l.delay),
                    ..Line::default()
                },
                has_cells: sw.mmu.small.is_none(),
                looks: Looks { from: u64::MAX, ramp_from: u64::MAX, behind: u16::MAX },
                place: Place { link, rate, number: base + p as u32, stamp: None },
                point: Point::new(net, net.classes[0].scheme(s.scheme), (base + p as u32, 0)).map(Box::new),
                ..Port::default()
            });
        }
        sw.begin_points(&mut (net, &mut Wires::default()));
        for p in 0..ports {
            sw.ports[p].note_ramp(net);
            sw.ports[p].note_needs();
            calm::note_calm(&mut sw, p);
        }
        sw.holders.of = vec![0; if sw.mmu.memory.is_shared() { sw.linked } else { 0 }];
        sw.find_critical();
        sw
    }
    /// Fetches beforehand what its window will touch, as it is next: a port, its queue, the far end's receiving port. Where the
    /// nodes do not fit a core's own cache, this is known too late, and most of a window's time would be spent waiting (`t4096`).
    #[inline]
    pub(crate) fn expect(&self, net: &Net, wires: &Wires) {
        net.expect(self.index);
        let ports = self.ports.get(..self.linked).unwrap_or_default();
        for port in ports {
            prefetch_index(from_ref(port), 0);
            prefetch_index(from_ref(&port.left), 0);
        }
        let first = self.inbox as usize;
        for inbox in wires.inboxes.get(first..first + self.linked).unwrap_or_default() {
            inbox.expect();
        }
        for port in ports {
            port.data.expect();
            if let Some(inbox) = wires.inboxes.get(port.line.peer as usize) {
                inbox.expect();
            }
        }
    }
    /// Will it send nothing but data within a time from where it stands, and its ports go on alone, whatever data arrives?
    pub(crate) fn stays_quiet(&self, within: Ps, net: &Net) -> bool {
        let bytes = self.pace.fastest.bytes(within) * net.clocks.slack + u64::from(net.flows.mtu);
        self.mmu.memory.stays_quiet(bytes, bytes * self.linked as u64)
            && self.ports.iter().take(self.linked).all(|p| p.point.is_none() && p.ahead.pauses.is_empty())
    }
    /// The next of its own events, if it comes before `end`.
    #[inline]
    pub(crate) fn rare_before(&self, end: Ps) -> Key {
        if self.rare.0 < end { self.rare } else { NO_EVENT }
    }
    /// Control that counts from `ready` on takes its place in the queue of an output.
    #[inline]
    pub(crate) fn put_control(&mut self, out: usize, ready: Ps, frame: &Frame) {
        let Port { ahead, line, .. } = &mut self.ports[out];
        ahead.control.place(&mut ahead.last, &Entry { ready, frame: *frame }, Some(frame.input));
        ahead.bytes += u64::from(frame.len);
        line.needs_exact = true;
    }
    /// The transmission in progress ends, at its own time.
    #[inline]
    pub(crate) fn complete(&mut self, p: usize, net: &Net, wires: &mut Wires) {
        let now = std::mem::replace(&mut self.now, self.ports[p].end());
        self.end(p, &mut (net, wires));
        self.now = now;
    }
    /// Data and control frames that have left.
    pub(crate) fn hops(&self) -> u64 {
        self.ports.iter().map(|p| p.left.frames()).sum()
    }
}
