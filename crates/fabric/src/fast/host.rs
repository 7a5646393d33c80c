//! A host of the fast way: the sides of [`crate::model`], run a window at a time.
//!
//! What it is made of stands here, and its events; the fast engine's way is in `window`.
//!
//! # States of the sending side
//!
//! | `port.until` | `port.sends` | `kick` | |
//! |---|---|---|---|
//! | never | none | no | idle, and nothing may start |
//! | never | none | yes | idle; it looks for a frame at the end of this moment |
//! | before the run's end | none | no | busy until then with a frame that is on its wire already |
//! | at or after the run's end | a frame | no | busy to the run's end; the frame never leaves |

pub(crate) mod classes;
mod window;

use crate::check::{Books, broken};
use crate::fast::frame::{Entry, Frame};
use crate::fast::wires::Wires;
use crate::model::{
    Data, Direct, Key, Kind, MANAGED, Moment, Nic, Outside, Packet, Paused, Rest, Says, Sides, Transmitter,
    is_stopped, line,
};
use crate::net::{Link, NEVER, Net, Ps};
use crate::spec::HostSpec;
use std::slice::from_mut;

impl Sides<Frame> {
    /// Takes in what arrives at a receiving port before that, as [`Self::absorb`]: the first from which something may follow. `MANY`
    /// classes or one.
    #[inline(always)]
    fn take_while<const MANY: bool>(
        of_classes: &mut [Self],
        (sound, inbox): (bool, u32),
        (before, net): (Ps, &Net),
        wires: &mut Wires,
    ) -> Option<Entry> {
        let Some(inbox) = wires.inboxes.get_mut(inbox as usize) else { broken("a host without a port") };
        let (mut taken, mut other) = (0, None);
        while let Some(entry @ &Entry { ready, ref frame }) = inbox.arrived_before(taken, before) {
            taken += 1;
            let at = Moment { now: ready, net };
            let quiet = match MANY {
                true => of_classes[usize::from(frame.class())].absorb(sound, frame, at),
                false => of_classes[0].absorb(sound, frame, at),
            };
            if !quiet {
                other = Some(*entry);
                break;
            }
        }
        inbox.skip_many(taken);
        other
    }

    /// Takes data in from which nothing follows, where no faults of the port can: false for another frame.
    #[inline(always)]
    fn absorb(&mut self, sound: bool, frame: &Frame, at: Moment<'_>) -> bool {
        let (own, failure) = ((|| frame.data_header(), frame.len), &mut self.sender.journal.failure);
        sound && frame.is_plain_data() && !self.receiver.take(own, at, failure)
    }

    /// Carries out what follows from a frame of a class that has arrived now. [`Self::absorb`] has seen it.
    #[inline(always)]
    fn arrive(
        &mut self,
        sound: bool,
        frame: &Frame,
        paused: &mut [Paused],
        at: Moment<'_>,
        wires: &mut Wires,
    ) {
        if !sound && self.absorb(true, frame, at) {
            return;
        }
        if frame.is_data() && frame.record() > 0 {
            let data = Data { record: frame.record(), ..wires.records.plain(frame).data_header() };
            let class = frame.class();
            self.take((&data, frame.len, class), &mut wires.records, &mut wires.direct, at);
        } else if frame.is_data() {
            self.answer(&frame.data_header(), &mut wires.records, &mut wires.direct, at);
        } else if let Some(pause) = frame.as_pause() {
            self.sender.pause(pause, paused, at);
        } else if let Some((flow, feedback)) = frame.acknowledges(at.net, &mut wires.records) {
            // By itself, so that it stays in registers.
            self.hear((flow, Says::Feedback(feedback, 0)), &mut wires.records, &mut wires.direct, at);
        } else if let Some(said) = frame.says(at.net, wires) {
            self.hear(said, &mut wires.records, &mut wires.direct, at);
        }
    }
}

/// A host. What each window and each frame touches stands first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host {
    /// The sending side has no event before this time, ps.
    due: Ps,
    now: Ps,
    /// Until this time only its source and its link decide what the sending side does; 0: something else may.
    alone_until: Ps,
    /// Whether the host has one source by chance, one FIFO with none ahead of it, and a port without faults.
    simple: bool,
    /// The idle transmitter looks for a frame at the end of this moment.
    kick: bool,
    /// Number of its receiving port at the worker.
    pub(crate) inbox: u32,
    /// A bin of the recording ends, or a fault says something.
    tick: Ps,
    /// A frame stands on its link as its transmission starts, unless that ends no earlier than the run.
    pub(crate) port: Transmitter<Frame, [Paused; 1], Link>,
    pub(crate) sides: Sides<Frame>,
}

impl Host {
    pub(crate) fn new(net: &Net, id: u32, spec: &HostSpec) -> Self {
        let link = line(net, id);
        let sides = Sides::new(spec, (id, 0), &link, net);
        let one = matches!(&sides.sources[..], [source] if !source.greedy && !source.is_finite());
        let port = Transmitter::new(0, link, [Paused::default()]);
        let simple = one && sides.nic.is_none() && sides.sender.has_one_fifo();
        let (due, now, tick) = (Ps(0), Ps(0), Ps(0));
        let mut host = Self { due, now, alone_until: due, simple, kick: false, inbox: 0, tick, port, sides };
        host.note_ticks();
        host
    }

    fn moment<'a>(&self, net: &'a Net) -> Moment<'a> {
        Moment { now: self.now, net }
    }

    /// Is a state one of the table, in a run of so many picoseconds?
    fn is_sound(&self, duration: Ps) -> bool {
        let idle = self.port.until == NEVER;
        (idle || !self.kick) && self.port.sends.is_some() == (!idle && self.port.until >= duration)
    }

    /// Carries out an event of its own.
    fn execute(&mut self, (time, kind, index): Key, net: &Net, wires: &mut Wires) {
        self.now = time;
        match kind {
            Kind::Tick => self.end_moment(net, wires),
            Kind::End => (self.port.until, self.kick) = (NEVER, true),
            Kind::Start => {
                self.kick = false;
                self.start(net, wires);
            }
            kind => self.sides.execute(kind, index, self.moment(net)),
        }
        self.kick_if_idle();
        debug_assert!(self.is_sound(net.duration), "end {:?}, kick {}", self.port.until, self.kick);
    }

    /// The idle transmitter looks for a frame.
    fn start(&mut self, net: &Net, wires: &mut Wires) {
        let (at, port, sides) = (self.moment(net), &self.port, &mut self.sides);
        let may = |lane| !is_stopped(lane, port.service, &port.paused);
        let records = &mut wires.records;
        if let Some(frame) = sides.sender.next(may, at, records) {
            self.transmit(frame, net, wires);
        }
    }

    /// Faults of its port say what is due, or what follows from so many bytes of data that `arrived`.
    #[cold]
    fn fail(&mut self, arrived: Option<u16>, net: &Net, wires: &mut Wires) {
        let (at, link) = (self.moment(net), &self.port.link);
        let send = |pause| wires.send(link, &Frame::of_pause(pause, net), true, at);
        Sides::fail(from_mut(&mut self.sides), arrived.map(|len| (len, 0)), at, send);
        self.note_ticks();
    }

    /// Notes when a bin of the recording ends next, or a fault says something: that comes before all else of its moment, so it is noted
    /// for the end of the one before.
    fn note_ticks(&mut self) {
        let fault = self.sides.nic.as_ref().map_or(NEVER, |nic| nic.next());
        self.tick = self.sides.rates.next.min(fault.saturating_sub(Ps(1)));
    }

    /// The end of a moment for which that was noted.
    #[cold]
    fn end_moment(&mut self, net: &Net, wires: &mut Wires) {
        if self.sides.rates.next == self.now {
            self.sides.execute(Kind::Tick, 0, self.moment(net));
        }
        let fault = self.sides.nic.as_ref().map_or(NEVER, |nic| nic.next());
        if fault <= self.now + Ps(1) {
            self.now = fault;
            self.fail(None, net, wires);
        }
        self.note_ticks();
    }

    /// A transmission starts. Nothing interrupts it, so its frame goes on the link, but for one that ends no earlier than the run. All
    /// lanes have the link's rate.
    #[inline(always)]
    fn transmit(&mut self, frame: Frame, net: &Net, wires: &mut Wires) {
        self.port.begin(None, (MANAGED, frame.len), self.now);
        let now = self.port.until;
        if now >= net.duration {
            self.port.sends = Some(frame);
        } else {
            self.sides.leave(&frame, &self.port.link, wires, Moment { now, net });
        }
    }

    /// The idle transmitter looks for a frame at the end of this moment, if the sending side says so.
    #[inline(always)]
    fn kick_if_idle(&mut self) {
        self.kick |= std::mem::take(&mut self.sides.sender.must_look) & (self.port.until == NEVER);
    }

    /// Feedback is on its way to this host without a frame.
    pub(crate) fn expect_feedback(&mut self, d: &Direct) {
        self.sides.sender.expect(d);
        self.expect_at(self.sides.sender.deferred.next());
    }

    /// Something happens to the sending side at a moment that was not known.
    fn expect_at(&mut self, next: Ps) {
        (self.due, self.alone_until) = (self.due.min(next), self.alone_until.min(next));
    }

    /// Its number in the network.
    pub(crate) fn id(&self) -> u32 {
        self.sides.sender.settings.id
    }

    /// Is it at rest?
    pub(crate) fn stands_still(&self, net: &Net) -> Rest {
        if self.kick || self.port.sends.is_some() || self.port.paused[0].is_off() {
            return Err(None);
        }
        self.sides.rest(net)
    }

    /// Ends the run: hands in the books.
    pub(crate) fn close(self, net: &Net) -> Books {
        let paused = Paused::close(&self.port.paused, net);
        self.sides.close(self.port.sends.as_ref(), paused, net)
    }
}

impl Nic<(&Net, &mut Wires)> for Host {
    fn next(&self, (_, wires): &(&Net, &mut Wires)) -> Ps {
        self.look_around(wires)
    }
    fn pass(&mut self, now: Ps, (net, wires): &mut (&Net, &mut Wires)) {
        self.sweep(now + Ps(1), net, wires);
    }
    fn tells(&mut self) -> Option<(u32, u32)> {
        self.sides.sender.tells(false)
    }
    fn advise(&mut self, n: u32, now: Ps, _: &mut (&Net, &mut Wires)) {
        self.sides.sender.advise(n, now);
        self.expect_at(self.sides.sender.timers.next);
    }
}
