//! The replay of one port's transmitter, from the times of what waits: control before data, PAUSE before both.
//!
//! * Claim: a port is replayed only when something touches it.
//! * Same bits: a start follows from ready times, the last end and what stops the port, all of which it keeps; nothing else
//!   reads them before.
//! * Bench row: hotspot.
//! * Marks: none of its own: every run passes here.

use crate::fast::frame::{Begin, Entry, Kind, NEVER, Ps};
use crate::fast::mmu::Mmu;
use crate::fast::order::{Step, step};
use crate::fast::switch::{Port, Sent, Transmission};
use crate::fast::wires::Wires;
use crate::model::{Kind as Order, Lane, Packet, Records, next_start, rate_of, transmission};

impl Port {
    /// Sends on what has left by `end` of what waits, which is all that the transmitter has to consider. False where a departure
    /// may have a consequence: the rest needs the exact way.
    #[inline(always)]
    pub(crate) fn drain(&mut self, p: usize, end: Ps, mmu: &mut Mmu, wires: &mut Wires) -> bool {
        let (counted, row) = (self.has_cells, mmu.row(p));
        // Of an empty queue the first place is never ready.
        while let Some(&Entry { ready, ref frame }) = self.data.place_at(0).filter(|e| e.ready < end) {
            let (start, done) = transmission(ready, self.idle_from, self.line.service, frame.len);
            if done >= end {
                break;
            }
            let input = usize::from(frame.input);
            if !mmu.leave_calmly(counted, row, input, frame.len)
                && !mmu.memory.leave_near((p, input), frame.len)
            {
                return false;
            }
            let len = frame.len;
            let ready = done + self.line.delay;
            if self.looks(frame, start) {
                let mut frame = *frame;
                self.leave(&mut frame, start, &mut wires.records);
                wires.push_frame(self.line.peer, ready, &frame);
            } else {
                wires.push_frame(self.line.peer, ready, frame);
            }
            self.first_sent(len, done);
        }
        true
    }
    /// The port's next step ([`Step`]), if it keeps step: an end, or a start if memory is freed at starts; and what begins before or
    /// with it.
    pub(super) fn next_step(&self, at_start: bool) -> (Step, Option<Begin>) {
        if let Some(sends) = self.transmitter.sends {
            return (step(sends.end, Order::End), None);
        }
        let next = self.next();
        let of = |(start, end, _)| if at_start { step(start, Order::Start) } else { step(end, Order::End) };
        (next.map_or(u64::MAX, of), next)
    }
    /// A transmission that began as the queues alone say need not be kept. A stamped frame must not be stamped again, and what
    /// stands on its wire already is never found again.
    pub(super) fn forget_begun(&mut self) {
        let kept = self.place.stamp.is_some() || self.must_be_exact();
        let found = |(began, end, kind)| Some(Transmission { began, end, what: Sent::of(kind) });
        // Control among the data is kept.
        let next = || self.next().filter(|next| next.2 != Kind::InBand).and_then(found);
        if !kept && self.transmitter.sends.is_some() && next() == self.transmitter.sends {
            self.transmits(None);
            self.note_needs();
        }
    }
    /// The idle transmitter starts the frame that goes next.
    #[inline(always)]
    pub(super) fn begin_this(&mut self, (start, end, kind): Begin, records: &mut Records) {
        if let (Kind::Data, Some(stamp), Some(first)) =
            (kind, self.place.stamp, self.data.entries_mut().first_mut())
        {
            first.frame.stamp(stamp, records);
        }
        self.transmits(Some(Transmission { began: start, end, what: Sent::of(kind) }));
        self.line.needs_exact = true;
    }
    /// The next frame of the idle transmitter, as things stand.
    #[inline]
    pub(super) fn next(&self) -> Option<Begin> {
        let link = self.place.link.as_ref()?;
        let data = if self.is_stopped() { None } else { self.data.front() };
        if self.ahead.is_empty() {
            let first = data?;
            let (start, end) = self.times(first);
            return Some((start, end, first.frame.kind()));
        }
        let (pause, control) = (self.ahead.pauses.front(), self.ahead.control.front());
        let [of_pause, of_control, of_data] = [pause, control, data].map(|e| e.map_or(NEVER, |e| e.ready));
        let (ready, lane) = next_start(self.idle_from, of_pause, of_control, of_data);
        let first = match lane {
            Lane::Pause => pause,
            Lane::Control => control,
            Lane::Data(_) => data,
        };
        let tx = rate_of(lane, self.line.service, link.tx);
        let (start, end) = transmission(ready, self.idle_from, tx, first?.frame.len);
        Some((start, end, first?.frame.kind()))
    }
}
