//! Storing frames: queues, the memory behind them, and the PAUSE that follows from it.
//!
//! * Claim: cells of a crosspoint memory are not counted until a queue has grown long: that saves a line of the cache for each frame.
//! * Same bits: no cell is larger than its queue, and below the least that matters of a cell nothing follows from it.
//! * Bench row: w2.
//! * Marks: CalmWindow.

use super::{Port, Switch, ToCome};
use crate::fast::frame::{Entry, Frame, NEVER};
use crate::fast::mmu::Change;
use crate::fast::wires::Wires;
use crate::model::{
    By, Management, Memory, Moment, Pause, Paused, Place, Point, PortFaults, Signal, Storing, Telling,
    Watchdogs,
};
use crate::net::{Link, Net};
use crate::outcome::PortOutcome;
use crate::spec::WatchdogAction;
use cnsim_scheme_api::RampAt;

impl<'n> Storing<'n, (&'n Net, &mut Wires)> for Switch {
    type Frame = Frame;

    fn place(&self, out: usize, frame: &Frame) -> Place<'_> {
        Place { memory: &self.mmu.memory, queued: self.ports[out].queued, input: frame.input, len: frame.len }
    }

    fn moment(&self, (net, _): &(&'n Net, &mut Wires)) -> Moment<'n> {
        Moment { now: self.now, net }
    }

    fn class(_: &Frame) -> usize {
        0
    }

    fn books(&mut self, out: usize) -> (&mut Watchdogs, &mut Management, &mut PortOutcome) {
        (&mut self.watchdogs, &mut self.management, &mut self.ports[out].out)
    }

    fn watched(&mut self, (out, _): (usize, usize)) -> (&mut Watchdogs, &mut Paused) {
        (&mut self.watchdogs, &mut self.ports[out].paused)
    }

    fn waits(&mut self, (out, _): (usize, usize), (_, wires): &mut (&'n Net, &mut Wires)) -> bool {
        self.touch(out, self.now - 1, wires);
        self.ports[out].has_waiting()
    }

    fn take_waiting(
        &mut self,
        (p, _): (usize, usize),
        (_, wires): &mut (&'n Net, &mut Wires),
    ) -> Option<Frame> {
        let port = &mut self.ports[p];
        let Some(frame) = port.take_waiting() else {
            port.note_needs();
            return None;
        };
        let change = self.mmu.change(port.has_cells, p, usize::from(frame.input), -i32::from(frame.len));
        self.signal(change, (p, frame.input), wires);
        Some(frame)
    }

    fn seen(&mut self, (out, _): (usize, usize), turns: bool, (_, wires): &mut (&'n Net, &mut Wires)) {
        let (now, port) = (self.now, &mut self.ports[out]);
        if turns {
            if port.paused.ignored {
                port.plan_start(now);
            }
            if self.watchdogs.act((out, 0), WatchdogAction::Drop) {
                port.note_peak(now);
                port.decide(now, &mut wires.records);
            }
            self.outdate(out);
        }
        self.note_calm(out);
        self.note_rare();
    }

    fn forget(frame: &Frame, (_, wires): &mut (&'n Net, &mut Wires)) {
        wires.bodies.release(frame);
        // The record can still be read until another begins.
        wires.records.close(frame.record());
    }

    fn look(&mut self, out: usize, frame: &Frame, dropped: bool, (net, wires): &mut (&Net, &mut Wires)) {
        let port = &mut self.ports[out];
        if Point::counts(port.point.as_deref(), dropped) && port.count_down(frame) {
            self.sample(out, *frame, dropped, ToCome::default(), (net, &mut wires.records));
        }
    }

    fn enqueue(&mut self, out: usize, frame: &mut Frame, (_, wires): &mut (&Net, &mut Wires)) {
        let port = &mut self.ports[out];
        let change = self.mmu.change(port.has_cells, out, usize::from(frame.input), frame.len.into());
        port.queued += u64::from(frame.len);
        if !frame.is_data() {
            port.note_in_band(frame);
        }
        let point = port.point.as_mut().filter(|_| frame.is_data());
        if point.is_some_and(|p| p.marks(RampAt::Arrival, port.queued, frame.len)) {
            frame.set_marked(true);
        }
        let entry = Entry { ready: self.now, frame: *frame };
        self.outdate_empty(out);
        self.ports[out].data.push_back(&entry);
        self.signal(change, (out, frame.input), wires);
    }
}

impl Switch {
    /// Before a frame of `len` bytes is admitted: if the queue may grow too long with it for its cells to be left
    /// uncounted, they are counted from now on.
    #[inline]
    pub(super) fn count_cells(&mut self, out: usize, len: u16) {
        let port = &mut self.ports[out];
        if port.has_cells || self.mmu.small.is_some_and(|small| port.queued + u64::from(len) <= small) {
            return;
        }
        debug_assert!(self.mmu.small.is_some_and(|small| port.queued <= small));
        port.has_cells = true;
        for e in port.data.entries() {
            self.mmu.count(out, usize::from(e.frame.input), e.frame.len);
        }
        self.note_calm(out);
    }

    /// Notes anew how long a queue may grow before something follows from it: its limit, its ramp at arrival, the need to count its
    /// cells.
    pub(super) fn note_calm(&mut self, out: usize) {
        let port = &mut self.ports[out];
        let small = self.mmu.small.filter(|_| !port.has_cells).unwrap_or(NEVER);
        let minded = self.watchdogs.mind((out, 0), &port.paused);
        let calm = self.mmu.memory.calm_queue().min(port.ramp_low(RampAt::Arrival)).min(small);
        port.calm_up_to = if minded { 0 } else { calm };
    }

    /// Stores a data frame, or an acknowledgement among the data, that arrives at `entry.ready` without bringing its port up to date,
    /// where nothing depends on that: the occupancies known are upper bounds, and as such below all thresholds. Has the port's countdown
    /// run out on it? None: it is not stored, as it needs the exact way.
    #[inline(always)]
    pub(crate) fn store_calmly(&mut self, out: usize, input: usize, entry: &Entry) -> Option<bool> {
        let port = &mut self.ports[out];
        let queued = port.queued + u64::from(entry.frame.len);
        if queued > port.calm_up_to || !self.mmu.store_calmly(port.has_cells, out, input, entry.frame.len) {
            return None;
        }
        port.queued = queued;
        let due = port.count_down(&entry.frame);
        if !entry.frame.is_data() {
            port.note_in_band(&entry.frame);
        }
        port.data.place(&mut port.last, entry, None);
        Some(due)
    }

    /// Sends XOFF or XON where the memory asks for it, as a frame from an input has come for an output, or has left it (`by`).
    #[inline]
    pub(crate) fn signal(&mut self, change: Change, by: (usize, u16), wires: &mut Wires) {
        if change != Change::None {
            self.signalled(change, by, wires);
        }
    }

    #[cold]
    fn signalled(&mut self, change: Change, by: (usize, u16), wires: &mut Wires) {
        self.find_critical();
        if let Change::Send(signal) = change {
            self.tell(signal, 0, by, wires);
        }
    }
}

impl Telling<Wires> for Switch {
    fn now(&self, _: &Wires) -> u64 {
        self.now
    }

    fn ports(&self) -> usize {
        self.ports.len()
    }

    fn faults(&mut self) -> (&mut PortFaults, &Memory) {
        (&mut self.faults, &self.mmu.memory)
    }

    fn end(&mut self, port: usize) -> (&mut Management, Option<Link>, &mut u64) {
        let port = &mut self.ports[port];
        (&mut self.management, port.link, &mut port.out.xoffs)
    }

    fn note(&mut self, signal: Signal, class: u8, by: By, now: u64) {
        if let Some(decisions) = &mut self.management.decisions {
            // All outputs that share the cell are in step, so what stands there is what waits now.
            let waiting = self.ports.iter().map(Port::waiting);
            decisions.note((now, signal, class), (&self.mmu.memory.layout, by), waiting);
        }
    }

    fn look_before(&mut self, signal: Signal, by: By, wires: &mut Wires) {
        let port = &self.ports[by.0];
        if port.freed && port.began == self.now && !signal.off {
            let first = signal.targets(self.ports.len()).filter(|&t| t < by.0);
            first.for_each(|t| self.advance(t, self.now, self.now + 1, wires));
        }
    }

    fn put(&mut self, t: usize, at_once: Option<Link>, pause: Pause, wires: &mut Wires) {
        let (port, frame) = (&mut self.ports[t], Frame::pause(pause, &self.pause_frames));
        match at_once {
            Some(link) => {
                let ready = self.pause_frames.obeyed(self.now + link.delay);
                wires.push(link.peer, Entry { ready, frame }, None);
            }
            None => {
                port.needs_exact = true;
                port.pause_out.push_back(Entry { ready: self.now, frame });
                self.outdate(t);
            }
        }
    }
}
