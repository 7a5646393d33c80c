//! A host of several classes: the model's body ([`crate::model::Host`]), with packed frames and a window at a time.
//!
//! As at a host of one class, data that arrives touches nothing of the sending sides unless something follows. The rest is done event by
//! event.
//!
//! * Claim: data is taken in without an event of its own.
//! * Same bits: a sending side does not see what its host takes in.
//! * Bench row: w2-classes.
//! * Marks: Classes.

use crate::fast::frame::{Entry, Frame, NEVER, Ps};
use crate::fast::wires::Wires;
use crate::model::{Host, Key, Kind, Packet, Sides, Turn, rank};

impl Host<Frame> {
    /// Runs it up to `end` (exclusive). Its receiving port has this number at the worker.
    pub(crate) fn run(&mut self, inbox: u32, end: Ps, turn: &mut Turn<'_, Wires>) {
        let sound = self.sides[0].nic.is_none();
        loop {
            let (alarm, class) = self.alarms();
            let before = end.min(alarm.saturating_add(Ps(1)));
            match Sides::take_while::<true>(&mut self.sides, (sound, inbox), (before, turn.net), turn.out) {
                Some(entry) => self.respond(sound, &entry, turn),
                None if alarm < end => {
                    // An arrival may have started it, of which nothing else follows.
                    self.settle(1 << class, turn);
                    self.catch_up((alarm, Kind::Timer, 0), turn);
                }
                None => break,
            }
        }
        self.catch_up((end, Kind::Change, 0), turn);
    }

    /// The next timer of a reflector, and its class.
    #[inline]
    pub(crate) fn alarms(&self) -> (Ps, usize) {
        let alarms = self.sides.iter().map(|sides| sides.receiver.alarms.next);
        alarms.zip(0..).min().unwrap_or((NEVER, 0))
    }

    /// Carries out what follows from an arrival.
    #[inline(never)]
    fn respond(&mut self, sound: bool, Entry { ready, frame }: &Entry, turn: &mut Turn<'_, Wires>) {
        let (class, kind) = (frame.class(), frame.order());
        self.catch_up((*ready, kind, 0), turn);
        turn.now = *ready;
        if kind == Kind::Data {
            self.fail(Some((frame.len, class)), turn);
        }
        let (at, sides) = (turn.moment(), &mut self.sides[usize::from(class)]);
        sides.arrive(sound, frame, &mut self.port.paused, at, turn.out);
        self.settle(1 << class, turn);
    }

    /// Carries out its own events before `limit`.
    #[inline]
    fn catch_up(&mut self, limit: Key, turn: &mut Turn<'_, Wires>) {
        let limit = rank(limit);
        while let Some(event) = turn.pass_before(limit) {
            self.execute(event, turn);
            // Mostly nothing lies between the end of a transmission and the next start.
            let start = (event.0, Kind::Start, 0);
            if event.1 == Kind::End && rank(start) < limit.min(turn.agenda.own) {
                turn.agenda.pass(start);
                self.execute(start, turn);
            }
        }
    }
}
