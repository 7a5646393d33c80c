//! A host of the fast way: the sending side of [`crate::model`], run a window at a time.
//!
//! What it is made of stands here, and its events; what it sends is in `sending`, what it receives in `receiving`, the fast engine's
//! way in `window`.
//!
//! # States of the sending side
//!
//! | `end` | `sending` | `kick` | |
//! |---|---|---|---|
//! | never | none | no | idle, and nothing may start |
//! | never | none | yes | idle; it looks for a frame at the end of this moment |
//! | before the run's end | none | no | busy until then with a frame that is on its wire already |
//! | at or after the run's end | a frame | no | busy to the run's end; the frame never leaves |

mod receiving;
mod sending;
mod window;

use crate::check::HostBooks;
use crate::fast::frame::{Frame, Key, NEVER, order};
use crate::fast::source::Source;
use crate::fast::wires::Wires;
use crate::model::{Lane, Lanes, Moment, Paused, RateSeries, Sender, close_host, is_stopped};
use crate::net::Net;
use crate::spec::HostSpec;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::Time;
use receiving::Receiver;
pub(crate) use sending::packed;
use std::slice::from_ref;

/// Index of the event of deferred feedback, after an arrival of the same moment.
const DEFERRED: u32 = 1;

/// A host's end of its link.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Line {
    /// Number of its receiving port at the worker.
    pub(crate) inbox: u32,
    /// Of the link: receiving port at the far end, delay, rate.
    pub(crate) peer: u32,
    delay: u64,
    tx: TxRate,
    /// End of the transmission in progress.
    end: u64,
    /// Data and control frames put on the link.
    sent: u64,
    control_sent: u64,
    /// Frame in transmission at the run's end; any other stands on the wire already.
    sending: Option<Frame>,
    paused: Paused,
}

impl Line {
    #[inline(always)]
    fn is_stopped(&self, lane: Lane) -> bool {
        is_stopped(lane, self.tx, from_ref(&self.paused))
    }
}

/// A host. What each window and each frame touches stands first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host {
    /// The sending side has nothing to do before this time.
    next_due: u64,
    now: u64,
    /// Nothing but the source and the link says what it sends.
    calm: bool,
    /// It has one source, which is by chance.
    one_drawn: bool,
    /// The idle transmitter looks for a frame at the end of this moment.
    kick: bool,
    pub(crate) line: Line,
    sources: Vec<Source>,
    pub(crate) sender: Sender<Frame>,
    receiver: Receiver,
    lanes: Lanes,
    rates: RateSeries,
}

impl Host {
    pub(crate) fn new(net: &Net, id: u32, spec: &HostSpec) -> Option<Self> {
        let base = net.ports[id as usize];
        let link = net.links[base as usize]?;
        let sender = Sender::new(spec, id, link.rate, net);
        let sources: Vec<Source> =
            (spec.sources.iter().enumerate()).map(|(i, s)| Source::new(s, (id, i), link.tx, net)).collect();
        Some(Self {
            next_due: 0,
            now: 0,
            calm: false,
            one_drawn: matches!(&sources[..], [source] if source.drawn),
            kick: false,
            line: Line {
                inbox: base,
                peer: link.peer,
                delay: link.delay,
                tx: link.tx,
                end: NEVER,
                sent: 0,
                control_sent: 0,
                sending: None,
                paused: Paused::default(),
            },
            receiver: Receiver::new(net, id, spec.scheme, sender.settings.plan, link.rate),
            sources,
            sender,
            lanes: Lanes::new(net),
            rates: RateSeries::new(net, id),
        })
    }

    /// Data and control frames put on the link.
    pub(crate) fn hops(&self) -> u64 {
        self.line.sent + self.line.control_sent
    }

    fn moment<'a>(&self, net: &'a Net) -> Moment<'a> {
        Moment { now: self.now, net }
    }

    /// Is a state one of the table, in a run of so many picoseconds?
    fn is_sound(&self, duration: u64) -> bool {
        let idle = self.line.end == NEVER;
        (idle || !self.kick) && self.line.sending.is_some() == (!idle && self.line.end >= duration)
    }

    /// Carries out an event of its own.
    fn execute(&mut self, (time, kind, index): Key, net: &Net, wires: &mut Wires) {
        self.now = time;
        let at = self.moment(net);
        match kind {
            order::END => (self.line.end, self.kick) = (NEVER, true),
            order::TIMER => self.sender.expire(at),
            order::SLOT => self.slot(index as usize, net),
            order::CONTROL => self.sender.hear_deferred(at),
            order::START => {
                self.kick = false;
                self.start(net, wires);
            }
            _ => self.rates.take(net, |dst| self.sender.rate_to(dst)),
        }
        self.kick_if_idle();
        debug_assert!(self.is_sound(net.duration), "end {}, kick {}", self.line.end, self.kick);
    }

    /// The transmitter looks for a frame, if it is idle.
    fn start(&mut self, net: &Net, wires: &mut Wires) {
        let (at, line) = (self.moment(net), &self.line);
        if line.end == NEVER
            && let Some(frame) = self.sender.next(&mut self.lanes, |lane| !line.is_stopped(lane), at)
        {
            self.transmit(frame, net, wires);
        }
    }

    /// A transmission starts. Nothing interrupts it, so its frame goes on the wire, but for one that ends no earlier than the run.
    #[inline(always)]
    fn transmit(&mut self, frame: Frame, net: &Net, wires: &mut Wires) {
        let end = self.now + self.line.tx.time(frame.len);
        self.line.end = end;
        match end < net.duration {
            true => self.line.send(frame, end, &mut self.sender.bodies, wires),
            false => self.line.sending = Some(frame),
        }
    }

    /// The slot of a source: what it offers, or the finite flows that begin.
    fn slot(&mut self, index: usize, net: &Net) {
        let (at, source) = (self.moment(net), &mut self.sources[index]);
        if source.is_finite() {
            while let Some(flow) = source.begin(at.now) {
                self.sender.begin(flow, at);
            }
        } else if let Some(offer) = source.slot() {
            let greedy = !source.drawn;
            self.sender.accept(&offer, greedy, at);
        }
    }

    /// The idle transmitter looks for a frame at the end of this moment, if the sending side says so.
    #[inline(always)]
    fn kick_if_idle(&mut self) {
        self.kick |= std::mem::take(&mut self.sender.must_look) & (self.line.end == NEVER);
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(self, net: &Net) -> HostBooks {
        let mut parts = Vec::new();
        let paused = (Time::from_ps(self.line.paused.close(net.duration, &mut parts)), parts);
        let sent = ((self.line.sent, self.line.control_sent), paused);
        close_host(self.sender, self.line.sending, self.receiver.deliveries, self.rates, sent, net)
    }
}
