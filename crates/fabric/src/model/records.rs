//! Data beside frames and acknowledgements, which have no room for it: telemetry, and reports of frames that came out of order.

use super::sent::Report;
use crate::check::{Spent, Trace};
use crate::numbers::Ps;
use cnsim_scheme_api::Hop;

/// Records on their way: flat in memory, and used again.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Of each record: how many hops it has, what its frame has no room for beside the record's number, and what an acknowledgement
    /// reports beyond its sequence.
    heads: Vec<(u32, u32, Report)>,
    /// Hops, `room` places for each record.
    hops: Vec<Hop>,
    room: usize,
    vacant: Vec<u32>,
    /// By record, where some frames have traces.
    traces: Vec<Trace>,
}

impl Records {
    /// Writes a hop behind those of a record, or begins one for the number 0: its number.
    pub(crate) fn push(&mut self, record: u32, hop: Hop) -> u32 {
        let record = if record == 0 { self.open() } else { record };
        let at = record as usize - 1;
        let count = self.heads[at].0 as usize;
        if count == self.room {
            self.widen();
        }
        self.hops[at * self.room + count] = hop;
        self.heads[at].0 += 1;
        record
    }
    fn open(&mut self) -> u32 {
        self.vacant.pop().unwrap_or_else(|| {
            self.heads.push(Default::default());
            self.hops.resize(self.heads.len() * self.room, Hop::default());
            self.heads.len() as u32
        })
    }
    /// A frame sets out that is traced: its record.
    pub(crate) fn trace(&mut self, spent: Spent) -> u32 {
        let record = self.open();
        *self.tracing(record) = Trace { spent, ..Trace::default() };
        record
    }
    /// The trace of a record, which has one from now on.
    pub(crate) fn tracing(&mut self, record: u32) -> &mut Trace {
        self.traces.resize_with(self.traces.len().max(record as usize), Trace::default);
        &mut self.traces[record as usize - 1]
    }
    /// It begins at a port.
    pub(crate) fn step(&mut self, record: u32, port: u32, began: Ps) {
        if let Some(trace) = self.traces.get_mut(record as usize - 1)
            && trace.steps.last().is_none_or(|step| step.0 != port)
        {
            trace.steps.push((port, began));
        }
    }
    /// The port that marked a frame, and that which told of the queue that takes longest; 0 for none.
    pub(crate) fn blamed(&self, record: u32) -> (u32, u32) {
        let Some(trace) = (record as usize).checked_sub(1).and_then(|at| self.traces.get(at)) else {
            return (0, 0);
        };
        let wait = |hop: &Hop| hop.queue.get() as f64 / hop.rate.bps();
        let longer = |most: (f64, u32), (hop, port): (&Hop, &u32)| {
            if wait(hop) > most.0 { (wait(hop), *port) } else { most }
        };
        (trace.marked_by, self.path(record).iter().zip(&trace.ports).fold((0.0, 0), longer).1)
    }
    /// The trace of a record.
    pub(crate) fn traced(&mut self, record: u32) -> Option<&mut Trace> {
        self.traces.get_mut((record as usize).checked_sub(1)?)
    }
    /// Makes room for longer paths.
    #[cold]
    fn widen(&mut self) {
        let room = (2 * self.room).max(2);
        let mut hops = Vec::with_capacity(self.heads.len() * room);
        for at in 0..self.heads.len() {
            hops.extend_from_slice(&self.hops[at * self.room..(at + 1) * self.room]);
            hops.resize((at + 1) * room, Hop::default());
        }
        (self.hops, self.room) = (hops, room);
    }
    /// Hops of a record; none for the number 0.
    pub(crate) fn path(&self, record: u32) -> &[Hop] {
        let Some(at) = (record as usize).checked_sub(1) else { return &[] };
        &self.hops[at * self.room..][..self.heads[at].0 as usize]
    }
    /// The word beside the hops of a record.
    pub(crate) fn beside(&mut self, record: u32) -> &mut u32 {
        &mut self.heads[record as usize - 1].1
    }
    /// A record is no longer needed.
    pub(crate) fn close(&mut self, record: u32) {
        if let Some(head) = (record as usize).checked_sub(1).and_then(|at| self.heads.get_mut(at)) {
            (head.0, head.2) = (0, Report::default());
            self.traced(record).into_iter().for_each(Trace::clear);
            self.vacant.push(record);
        }
    }
    /// Report of an acknowledgement beyond its sequence; empty for the number 0.
    pub(crate) fn report(&self, record: u32) -> Report {
        (record as usize).checked_sub(1).map_or(Report::default(), |at| self.heads[at].2)
    }
    /// Writes that into a record, or begins one for the number 0: its number.
    pub(crate) fn write(&mut self, record: u32, report: Report) -> u32 {
        let record = if record == 0 { self.open() } else { record };
        self.heads[record as usize - 1].2 = report;
        record
    }
    /// A record that came from elsewhere: its number here.
    pub(crate) fn enter(&mut self, path: &[Hop], report: Report) -> u32 {
        let record = self.write(0, report);
        while self.room < path.len() {
            self.widen();
        }
        let at = record as usize - 1;
        self.hops[at * self.room..][..path.len()].copy_from_slice(path);
        self.heads[at].0 = path.len() as u32;
        record
    }
    /// A record of another store becomes one of this: its number here; 0 for none.
    pub(crate) fn adopt(&mut self, from: &mut Records, record: u32) -> u32 {
        if record == 0 {
            return 0;
        }
        let here = self.enter(from.path(record), from.report(record));
        if let Some(trace) = from.traced(record).filter(|t| t.marked_by > 0 || !t.ports.is_empty()) {
            *self.tracing(here) = std::mem::take(trace);
        }
        from.close(record);
        here
    }
}
