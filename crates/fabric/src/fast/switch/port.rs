//! An output port of a switch. Its ramp marks with draws of its own, as ports are not replayed in step.

use crate::check::{broken, changes};
use crate::fast::frame::{Entry, Frame, Kind, Ring};
use crate::model::{
    Lane, Left, MANAGED, Packet, Paused, Point, Records, depart, is_stopped, transmission, view,
};
use crate::net::{Link, NEVER, Net, Ps};
use crate::outcome::PortOutcome;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{Queue, Ramp, RampAt, Rate};
use std::collections::VecDeque;
use std::slice::from_ref;

/// What a port sends, the head of its queue.
///
/// | | `launched` | `freed` | as it ends |
/// |---|---|---|---|
/// | PAUSE, control | | | it goes on its wire |
/// | data | no | no | it goes on its wire, and its memory is free |
/// | data | yes | no | its memory is free |
/// | data | no | yes | it goes on its wire |
/// | data | yes | yes | it is forgotten |
///
/// A transmission begins as PAUSE, control, or data of the second row (`sweep/replay.rs`), or as data of the third (`sweep/thin.rs`). Data is freed
/// where memory is free at the start. It ends in [`Switch::complete`](super::Switch::complete), that of the third row also in `sweep/thin.rs`.
/// A port with data alone begins and ends transmissions in one go, without this ([`Port::drain`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// XOFF or XON.
    Pause,
    Control,
    /// Data, or control among it.
    Data {
        /// It stands on its wire already (`sweep/thin.rs`).
        launched: bool,
        /// Its memory was free as it started.
        freed: bool,
    },
}

impl Sent {
    /// What a frame of a kind is as it begins.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind.lane() {
            Lane::Pause => Self::Pause,
            Lane::Control => Self::Control,
            Lane::Data(_) => Self::Data { launched: false, freed: false },
        }
    }
}

/// A transmission in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// Its start, at which the mark that its frame carries was decided, and its end, ps.
    pub(crate) began: Ps,
    pub(crate) end: Ps,
    pub(crate) what: Sent,
}

/// An output port: three queues by priority and a transmitter. What every frame touches stands first, in two lines of the cache.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) data: Ring,
    /// Bytes in `data`.
    pub(crate) queued: u64,
    pub(crate) countdown: i64,
    /// Largest queue for which a frame can be stored without looking closer.
    pub(crate) calm_up_to: u64,
    /// The transmitter is free from this time on, when idle (ps).
    pub(crate) idle_from: Ps,
    pub(crate) line: Line,
    /// Whether the port's memory is kept cell by cell: from the moment when its queue first grew beyond [`Mmu::small`].
    pub(crate) has_cells: bool,
    pub(crate) looks: Looks,
    pub(crate) left: Left,
    pub(crate) quiet: Quiet,
    pub(crate) ahead: Ahead,
    pub(crate) place: Place,
    pub(crate) transmitter: Transmitter,
    pub(crate) point: Option<Box<Point>>,
    pub(crate) out: PortOutcome,
}

/// How a port sends: the rate at which data is served, the delay of its link, and the port at the far end.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) service: TxRate,
    pub(crate) delay: Ps,
    pub(crate) peer: u32,
    /// The transmitter has more to consider than the data that waits.
    pub(crate) needs_exact: bool,
}

/// What a port takes or sends without looking closer.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    /// Latest time of the frames stored so.
    pub(crate) last: Ps,
    /// Length and input of the frame that is on its wire until [`Port::idle_from`] and counts as sent, while nothing waits behind it; 0:
    /// none (`sweep/thin.rs`).
    pub(crate) flown: (u16, u16),
}

/// A port's transmitter.
#[derive(Debug, Default)]
pub(crate) struct Transmitter {
    /// The transmission in progress; none: the transmitter is idle from [`Port::idle_from`] on, or what it has begun since follows from
    /// the port's queues.
    pub(crate) sends: Option<Transmission>,
    /// XOFF from the far end.
    pub(crate) paused: Paused,
}

/// Which departures a port looks at.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// A departure is looked at where more than this is queued, the frame itself among it: it may be marked, or traced.
    pub(crate) from: u64,
    /// The same, if no frame is traced.
    pub(crate) ramp_from: u64,
    /// Frames that must stand behind one, at least, for the ramp at departure to mark it: fewer hold no more than its low end. None
    /// where departures are recorded.
    pub(crate) behind: u16,
}

/// What goes ahead of a port's data.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Control that has arrived, or will within this window: by (time, input). And its bytes.
    pub(crate) control: Ring,
    pub(crate) bytes: u64,
    /// Latest time of that, or one that has gone by.
    pub(crate) last: Ps,
    pub(crate) pauses: VecDeque<Entry>,
}

impl Ahead {
    pub(crate) fn is_empty(&self) -> bool {
        self.control.is_empty() && self.pauses.is_empty()
    }
}

/// Where a port stands.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) link: Option<Link>,
    /// At which its data is served.
    pub(crate) rate: Rate,
    /// Number of the port in the network.
    pub(crate) number: u32,
    /// Smallest-rate stamp, packed.
    pub(crate) stamp: Option<(u8, u32)>,
}

/// Frames that stand in a queue already, but arrive after the moment in question.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToCome {
    /// Frames at its end that arrive later, and their bytes.
    pub(super) frames_after: usize,
    pub(crate) bytes_to_come: u64,
    /// Bytes of data to come, which the countdown counts.
    pub(super) data_to_come: u64,
}

impl ToCome {
    /// One more frame at the queue's end.
    #[inline(always)]
    fn and(mut self, e: &Entry) -> Self {
        let len = u64::from(e.frame.len);
        self.frames_after += 1;
        self.bytes_to_come += len;
        self.data_to_come += if e.frame.is_data() { len } else { 0 };
        self
    }
}

/// State of a transmitter, as the page of states has it.
const fn state(sends: Option<Transmission>) -> &'static str {
    match sends {
        None => "idle",
        Some(Transmission { what: Sent::Data { launched: true, .. }, .. }) => "on its wire",
        Some(_) => "sending",
    }
}

impl Port {
    /// The transmitter takes up this, or becomes idle: what it had until now.
    #[inline(always)]
    pub(crate) fn transmits(&mut self, next: Option<Transmission>) -> Option<Transmission> {
        changes("transmitter in a window", state(self.transmitter.sends), state(next));
        std::mem::replace(&mut self.transmitter.sends, next)
    }
    /// End of the transmission in progress; never, if there is none.
    #[inline(always)]
    pub(crate) fn end(&self) -> Ps {
        self.transmitter.sends.map_or(NEVER, |sends| sends.end)
    }
    /// Start of it.
    pub(crate) fn began(&self) -> Option<Ps> {
        self.transmitter.sends.map(|sends| sends.began)
    }
    /// Is a frame of its data in transmission?
    pub(crate) fn sends_data(&self) -> bool {
        self.transmitter.sends.is_some_and(|sends| matches!(sends.what, Sent::Data { .. }))
    }
    /// Does that stand on its wire already?
    #[inline(always)]
    pub(crate) fn has_launched(&self) -> bool {
        self.transmitter.sends.is_some_and(|sends| matches!(sends.what, Sent::Data { launched: true, .. }))
    }
    /// Is its memory free already?
    #[inline(always)]
    pub(crate) fn has_freed(&self) -> bool {
        self.transmitter.sends.is_some_and(|sends| matches!(sends.what, Sent::Data { freed: true, .. }))
    }
    /// Frames that are stored already although they arrive at `from` or later.
    #[inline]
    pub(crate) fn later(&self, from: Ps) -> ToCome {
        let later = self.data.entries().iter().rev().take_while(|e| e.ready >= from);
        later.fold(ToCome::default(), ToCome::and)
    }
    /// The last frames of the queue.
    pub(super) fn last_of(&self, frames: usize) -> ToCome {
        self.data.entries().iter().rev().take(frames).fold(ToCome::default(), ToCome::and)
    }
    /// As a congestion point sees it, at its moment. Control stands in order, so that a long queue costs no more than a short one.
    pub(crate) fn view(&self, now: Ps, to_come: ToCome) -> Queue {
        let later = self.ahead.control.entries().iter().rev().take_while(|e| e.ready > now);
        let control = self.ahead.bytes - later.map(|e| u64::from(e.frame.len)).sum::<u64>();
        let len = self.queued - to_come.bytes_to_come;
        let bytes = (len, len + control, self.left.bytes);
        view(bytes, (self.place.link, self.place.rate), Some(&self.transmitter.paused), now)
    }
    /// A data frame leaves whose transmission began at `began`, and counts as queued still: mark and telemetry follow from what had
    /// arrived by then.
    #[inline(never)]
    pub(crate) fn leave(&mut self, frame: &mut Frame, began: Ps, records: &mut Records) {
        let queue = self.view(began, self.later(began + Ps(1)));
        depart(frame, self.point.as_deref_mut(), (self.place.number, began), &queue, records);
    }
    /// Notes the largest length of its queue, which it had just before `now` if never before: it grows until something leaves. What
    /// arrives later may be stored.
    #[inline(always)]
    pub(super) fn note_peak(&mut self, now: Ps) {
        if self.queued > self.left.peak {
            self.rise(now);
        }
    }
    #[cold]
    #[inline(never)]
    fn rise(&mut self, now: Ps) {
        self.left.note_peak(self.queued - self.later(now).bytes_to_come);
    }
    /// The transmission in progress ends now: its frame, and whether it stands on its wire, and its memory is free.
    #[inline(always)]
    pub(super) fn finish(&mut self, now: Ps, records: &mut Records) -> (Frame, bool, bool) {
        let Some(Transmission { began, what, .. }) = self.transmits(None) else {
            broken("nothing ends at this port")
        };
        let first = match what {
            Sent::Pause => self.ahead.pauses.front(),
            Sent::Control => self.ahead.control.front(),
            Sent::Data { .. } => self.data.front(),
        };
        let Some(&Entry { mut frame, .. }) = first else { broken("what was sent is gone") };
        self.idle_from = now;
        match what {
            Sent::Pause => drop(self.ahead.pauses.pop_front()),
            Sent::Control => {
                self.ahead.control.skip_many(1);
                self.ahead.bytes -= u64::from(frame.len);
            }
            Sent::Data { launched, freed } => {
                if self.looks(&frame, began) {
                    self.leave(&mut frame, began, records);
                }
                self.first_gone(frame.len, now);
                return (frame, launched, freed);
            }
        }
        (frame, false, false)
    }
    /// The first frame of its queue, of `len` bytes, has left by `done`: it counts as sent, and the transmitter is free.
    #[inline(always)]
    pub(crate) fn first_sent(&mut self, len: u16, done: Ps) {
        self.first_gone(len, done);
        self.left.count_queued(len);
    }
    #[inline(always)]
    fn first_gone(&mut self, len: u16, done: Ps) {
        self.note_peak(done);
        self.queued -= u64::from(len);
        self.data.skip_many(1);
        self.idle_from = done;
    }
    /// If idle, it looks for a frame at the end of this moment, and not before.
    pub(super) fn plan_start(&mut self, now: Ps) {
        self.line.needs_exact = true;
        if self.transmitter.sends.is_none() {
            self.idle_from = self.idle_from.max(now);
        }
    }
    /// Start and end of the transmission of data that waits, with none before it.
    pub(crate) fn times(&self, &Entry { ready, ref frame }: &Entry) -> (Ps, Ps) {
        transmission(ready, self.idle_from, self.line.service, frame.len)
    }
    /// A frame has joined its data: [`Left::join`].
    #[inline(always)]
    pub(super) fn join(&mut self, frame: &Frame) -> bool {
        self.left.join(frame, Some(&mut self.countdown))
    }
    /// A frame from whose bytes nothing follows joins its data: true where the congestion point may have to look.
    #[inline(always)]
    pub(super) fn put_calmly(&mut self, entry: &Entry) -> bool {
        self.queued += u64::from(entry.frame.len);
        let due = self.join(&entry.frame);
        self.data.place(&mut self.quiet.last, entry, None);
        due
    }
    /// A frame that was stored without consequence goes back on its wire.
    pub(crate) fn put_back(&mut self, frame: &Frame) {
        let len = u64::from(frame.len);
        self.queued -= len;
        if frame.is_data() {
            self.countdown += len as i64;
        } else {
            self.left.forget_in_band(frame.len);
        }
    }
    /// Takes out the first frame of its data that waits; one in transmission stays.
    pub(super) fn take_waiting(&mut self) -> Option<Frame> {
        let Some(Entry { frame, .. }) = self.data.remove(usize::from(self.sends_data())) else {
            self.note_needs();
            return None;
        };
        self.queued -= u64::from(frame.len);
        Some(frame)
    }
    /// Does a frame of its data wait that is not in transmission?
    pub(super) fn has_waiting(&self) -> bool {
        self.data.entries().len() > usize::from(self.sends_data())
    }
    /// Is its data stopped?
    #[inline(always)]
    pub(crate) fn is_stopped(&self) -> bool {
        is_stopped(MANAGED, self.line.service, from_ref(&self.transmitter.paused))
    }
    /// Must the transmitter consider more than control and data, and the frame in transmission?
    pub(crate) fn must_be_exact(&self) -> bool {
        self.is_stopped() || self.place.link.is_none() || !self.ahead.pauses.is_empty()
    }
    /// Notes anew what the transmitter has to consider.
    pub(crate) fn note_needs(&mut self) {
        let more = self.place.stamp.is_some() || !self.ahead.is_empty();
        self.line.needs_exact = more || self.transmitter.sends.is_some() || self.must_be_exact();
    }
    /// The ramp that was there `before` has changed. It decides on the frame in transmission, which began before that.
    pub(super) fn decide_mark(&mut self, before: Option<Ramp>, records: &mut Records) {
        let Some(began) = self.began() else { return };
        let Some(mut point) = self.point.take() else { return };
        let queue = self.view(began, self.later(began + Ps(1)));
        let ramp = std::mem::replace(&mut point.state.ramp, before);
        // A frame that is on the wire already met no ramp.
        let first = self.data.entries_mut().first_mut();
        first.into_iter().for_each(|e| point.mark(&mut e.frame, &queue, began, records));
        (point.state.ramp, point.decided) = (ramp, began);
        self.point = Some(point);
    }
    /// Frames behind the one in transmission are about to be dropped. Its mark and its record depend on them, so they are made now.
    pub(super) fn decide(&mut self, now: Ps, records: &mut Records) {
        let first = self.data.front().filter(|first| self.sends_data() && first.frame.is_data());
        let (Some(mut frame), Some(began)) = (first.map(|first| first.frame), self.began()) else { return };
        self.leave(&mut frame, began, records);
        if let (Some(first), Some(point)) = (self.data.entries_mut().first_mut(), &mut self.point) {
            (first.frame, point.decided) = (frame, began);
            point.records_from = point.records_from.max(now);
        }
    }
    /// The queue length up to which the ramp that looks at that moment marks none.
    pub(super) fn ramp_low(&self, at: RampAt) -> u64 {
        let ramp = self.point.as_ref().and_then(|p| p.state.ramp);
        ramp.filter(|r| r.at == at).map_or(u64::MAX, |r| r.low.get())
    }
    /// The ramp has changed.
    pub(super) fn note_ramp(&mut self, net: &Net) {
        // One that records departures looks at each.
        let records = self.point.as_ref().is_some_and(|point| point.state.records);
        self.looks.ramp_from = if records { 0 } else { self.ramp_low(RampAt::Departure) };
        self.looks.from = if net.record.trips { 0 } else { self.looks.ramp_from };
        let behind = self.looks.ramp_from / u64::from(net.longest_frame()) + 1;
        self.looks.behind = if records { 0 } else { behind.min(u64::from(u16::MAX)) as u16 };
    }
    /// Is the first frame looked at, which began to leave then?
    #[inline(always)]
    pub(crate) fn looks(&self, frame: &Frame, began: Ps) -> bool {
        self.queued > self.looks.from
            && frame.is_data()
            && (frame.record() > 0 || self.queued > self.looks.ramp_from && self.may_mark(began))
    }
    /// Can it be that the ramp at departure marks the first frame or one behind it, the last of which begins to leave at `began`?
    /// Not where too few had arrived by then: one look, as most of a queue may have arrived later. More than the ramp's low end
    /// is stored behind the first.
    #[inline(always)]
    pub(crate) fn may_mark(&self, began: Ps) -> bool {
        self.data.place_at(u32::from(self.looks.behind)).is_some_and(|e| e.ready <= began)
    }
}
