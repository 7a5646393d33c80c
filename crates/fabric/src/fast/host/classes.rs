//! A host of several classes: the sides of each, and one link whose transmitter takes turns ([`crate::model`], `turns`).
//!
//! As at a host of one class, data that arrives touches nothing of the sending sides unless something follows, and a frame goes on its
//! wire as its transmission starts. The rest is done event by event.
//!
//! * Claim: data is taken in and sent without an event of its own.
//! * Same bits: nothing interrupts a transmission, and a sending side does not see what its host takes in.
//! * Bench row: w2-classes.
//! * Marks: Classes.

use super::Line;
use crate::check::Books;
use crate::fast::frame::{Entry, Frame, NEVER, NO_EVENT};
use crate::fast::wires::Wires;
use crate::model::{
    Direct, Key, Kind, Lane, Lanes, MANAGED, Moment, Offer, Packet, Paused, Sides, is_stopped, line,
};
use crate::net::Net;
use crate::spec::HostSpec;

/// A host of several classes.
#[derive(Debug)]
pub(crate) struct ClassHost {
    now: u64,
    /// The idle transmitter looks for a frame at the end of this moment.
    kick: bool,
    /// Ports of its hosts may have faults, and its classes operations that wait for each other.
    sound: bool,
    alone: bool,
    pub(crate) line: Line,
    lanes: Lanes,
    /// By class: XOFF, the sides, the next event of the sending side, and data and control frames put on the link.
    paused: Vec<Paused>,
    sides: Vec<Sides<Frame>>,
    due: Vec<Key>,
    own: (Key, usize),
    sent: Vec<(u64, u64)>,
}

impl ClassHost {
    pub(crate) fn new(net: &Net, id: u32, spec: &HostSpec, inbox: u32) -> Self {
        let (link, classes) = (line(net, id), 0..net.classes.len() as u8);
        let mut host = Self {
            now: 0,
            kick: false,
            sound: true,
            alone: true,
            line: Line { inbox, ..Line::new(net, id) },
            lanes: Lanes::of_host(net),
            paused: vec![Paused::default(); classes.len()],
            due: vec![NO_EVENT; classes.len()],
            own: (NO_EVENT, 0),
            sent: vec![(0, 0); classes.len()],
            sides: classes.map(|class| Sides::new(spec, (id, class), &link, net)).collect(),
        };
        host.sound = host.sides[0].nic.is_none();
        host.alone = host.sides.iter().all(|sides| sides.sender.program.is_none());
        host.settle(u8::MAX);
        host
    }

    fn moment<'a>(&self, net: &'a Net) -> Moment<'a> {
        Moment { now: self.now, net }
    }

    /// Runs it up to `end` (exclusive).
    pub(crate) fn run(&mut self, end: u64, net: &Net, wires: &mut Wires) {
        loop {
            let alarm = self.alarm();
            let before = end.min(alarm.0.saturating_add(1));
            let port = (self.sound, self.line.inbox);
            match Sides::take_while::<true>(&mut self.sides, port, (before, net), wires) {
                Some(entry) => self.respond(&entry, net, wires),
                None if alarm.0 < end => self.expire(alarm, net, wires),
                None => break,
            }
        }
        self.catch_up((end, Kind::Change, 0), net, wires);
    }

    /// The next timer of a reflector, and its class.
    #[inline]
    fn alarm(&self) -> (u64, usize) {
        let alarms = self.sides.iter().map(|sides| sides.receiver.alarms.next);
        alarms.zip(0..).min().unwrap_or((NEVER, 0))
    }

    /// Carries out what follows from an arrival.
    #[inline(never)]
    fn respond(&mut self, &Entry { ready, frame }: &Entry, net: &Net, wires: &mut Wires) {
        let (class, frame) = (frame.class(), frame.of_no_class());
        let kind = if frame.passes_as_data() { Kind::Data } else { Kind::of_arrival(frame.kind().lane()) };
        self.catch_up((ready, kind, 0), net, wires);
        self.now = ready;
        if !self.sound && kind == Kind::Data {
            self.fail(Some((frame.len, class)), net, wires);
        }
        let (at, sides) = (self.moment(net), &mut self.sides[usize::from(class)]);
        sides.arrive(self.sound, (&frame, class), &mut self.paused, at, wires);
        self.settle(1 << class);
    }

    /// The next timer of a reflector expires.
    #[cold]
    fn expire(&mut self, (now, class): (u64, usize), net: &Net, wires: &mut Wires) {
        self.catch_up((now, Kind::Reflector, 0), net, wires);
        self.now = now;
        let at = self.moment(net);
        self.sides[class].alarm(&mut wires.records, &mut wires.direct, at);
        self.settle(1 << class);
    }

    /// The next of its own events, and its class. Of one kind and moment the first class comes first.
    #[inline]
    fn next(&self) -> (Key, usize) {
        let mut first = self.own;
        let mut other = |key: Key| {
            if (key.0, key.1) < (first.0.0, first.0.1) {
                first = (key, 0);
            }
        };
        if self.line.end < NEVER {
            other((self.line.end, Kind::End, 0));
        }
        if self.kick {
            other((self.now, Kind::Start, 0));
        }
        first
    }

    /// Carries out its own events before `limit`.
    #[inline]
    fn catch_up(&mut self, limit: Key, net: &Net, wires: &mut Wires) {
        loop {
            let (key, class) = self.next();
            if key >= limit {
                return;
            }
            self.now = key.0;
            let mut touched = 1 << class;
            match key.1 {
                Kind::Change => self.fail(None, net, wires),
                Kind::End => {
                    (self.line.end, self.kick) = (NEVER, true);
                    continue;
                }
                Kind::Start => {
                    touched = self.start(net, wires);
                    if touched == 0 {
                        continue;
                    }
                }
                kind => self.sides[class].execute(kind, key.2, Moment { now: key.0, net }),
            }
            self.settle(touched);
        }
    }

    /// Plans what follows from the state of a class.
    fn plan(&mut self, class: usize) {
        let sides = &self.sides[class];
        // From the last kind of a moment to the first.
        let mut next = (sides.rates.next, Kind::Tick, 0);
        sides.each_due(|time, kind, index| {
            if time <= next.0 {
                next = (time, kind, index);
            }
        });
        if let Some(nic) = &sides.nic {
            next = next.min((nic.next(), Kind::Change, 0));
        }
        self.due[class] = next;
    }

    /// Settles the senders of these classes, a bit for each, and lets the idle transmitter look for a frame if it has to.
    #[inline]
    fn settle(&mut self, mut classes: u8) {
        while !self.alone
            && let Some((_, n)) = self.sides.iter_mut().find_map(|sides| sides.sender.tells(true))
        {
            self.sides.iter_mut().for_each(|sides| sides.sender.advise(n, self.now));
            classes = u8::MAX;
        }
        for class in (0..self.sides.len()).filter(|class| classes >> class & 1 > 0) {
            self.plan(class);
            let must_look = std::mem::take(&mut self.sides[class].sender.must_look);
            self.kick |= must_look & (self.line.end == NEVER);
        }
        self.own = (NO_EVENT, 0);
        for (class, due) in self.due.iter().enumerate() {
            if (due.0, due.1) < (self.own.0.0, self.own.0.1) {
                self.own = (*due, class);
            }
        }
    }

    /// Faults say XOFF or XON, if the port has some.
    fn fail(&mut self, arrived: Option<(u16, u8)>, net: &Net, wires: &mut Wires) {
        let (at, line) = (self.moment(net), &self.line);
        let send = |pause| line.send_pause(Frame::of_pause(pause, net), at.now, wires);
        Sides::fail(&mut self.sides, arrived, at, send);
        self.settle(1);
    }

    /// The idle transmitter looks for a frame: a bit for each class that was asked for one.
    fn start(&mut self, net: &Net, wires: &mut Wires) -> u8 {
        self.kick = false;
        let (at, mut asked) = (self.moment(net), 0);
        let waits = |class: usize, sides: &[Sides<Frame>]| sides[class].sender.waits();
        if !(0..self.sides.len()).any(|class| waits(class, &self.sides)) {
            let (tx, paused) = (self.line.tx, &self.paused);
            self.lanes.pass_all(|class| is_stopped(Lane::Data(class), tx, paused));
            return 0;
        }
        let Self { lanes, sides, line, paused, alone, .. } = self;
        let next = lanes.next(|lane, most| {
            if lane == Lane::Pause || is_stopped(lane, line.tx, paused) {
                return Offer::Stopped;
            }
            if most <= 0 {
                return Offer::TooLong;
            }
            let own = if let Lane::Data(class) = lane { class..class + 1 } else { 0..sides.len() as u8 };
            if let Lane::Data(class) = lane {
                if !waits(class.into(), sides) {
                    return Offer::Stopped;
                }
                asked |= 1 << class;
            }
            let mut taken = own.filter_map(|class| {
                let frame = sides[usize::from(class)].sender.next_of(lane, at, &mut wires.records)?;
                Some(frame.of_class(class, net))
            });
            taken.next().map_or(Offer::Stopped, |frame| Offer::Frame(frame, frame.len, false))
        });
        let Some(frame) = next else { return asked };
        let class = usize::from(frame.class());
        let sender = &mut sides[class].sender;
        line.start(frame, at, &mut sender.bodies, wires);
        if line.sending.is_none() {
            frame.count(&mut self.sent[class]);
        }
        // Of a plain class nothing else follows from a frame that goes.
        let alone = *alone && frame.lane() == MANAGED && asked == 1 << class;
        if alone && sender.is_plain() && sender.pairs.is_none() {
            (asked, sender.must_look) = (0, false);
        }
        asked
    }

    /// Feedback is on its way to this host without a frame.
    pub(crate) fn expect_feedback(&mut self, direct: &Direct) {
        self.sides[usize::from(direct.class)].sender.expect(direct);
        self.settle(1 << direct.class);
    }

    /// When it must be visited next if nothing is sent to it.
    pub(crate) fn look_around(&self, wires: &Wires) -> u64 {
        self.next().0.0.min(self.alarm().0).min(wires.first_arrival(self.line.inbox, 1))
    }

    /// When something stopped the run here, ps.
    pub(crate) fn failed_at(&self) -> Option<u64> {
        self.sides.iter().filter_map(|sides| sides.sender.journal.failure.at()).min()
    }

    /// Ends the run: hands in the books of all its classes.
    pub(crate) fn close(self, net: &Net) -> Books {
        Sides::close_all(self.sides, self.line.sending.as_ref(), (&self.sent, &self.paused), net)
    }
}
