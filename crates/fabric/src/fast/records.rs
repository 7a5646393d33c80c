//! Telemetry of frames on their way. A frame that has some names a record where its tag would stand, and an acknowledgement where it
//! would say how many frames have arrived: that stands in the record, beside the hops.
//!
//! A hop is written as the frame's transmission ends. A worker has the records of the frames at its nodes and on its wires; one that
//! leaves for another worker takes its record along.
//!
//! * Claim: a frame takes its telemetry along without growing, and no port is replayed for it.
//! * Same bits: what a port had sent and held as a frame began to leave follows from the times of what it holds.
//! * Bench row: roce320-hpcc.
//! * Marks: Recorded.

use crate::check::{Spent, Trace};
use crate::fast::frame::Frame;
use crate::marks::{Mark, hit};
use crate::model::{Packet, Records, Report};
use cnsim_scheme_api::Hop;

/// A record on its way to another worker: what stands beside its hops, its report, the hops, and its trace. Used again by who received it.
pub(crate) type Passing = (u32, Report, Vec<Hop>, Option<Trace>);

impl Records {
    /// A data frame takes a hop along.
    pub(crate) fn note(&mut self, frame: &mut Frame, hop: Hop) {
        hit(Mark::Recorded);
        let before = frame.record();
        let record = self.push(before, hop);
        if before == 0 {
            *self.beside(record) = frame.ext;
            frame.set_record(record);
        }
    }
    /// A data frame sets out that is traced.
    pub(crate) fn open_trace(&mut self, frame: &mut Frame, spent: Spent) {
        let record = self.trace(spent);
        *self.beside(record) = frame.ext;
        frame.set_record(record);
    }
    /// A frame as it would be without telemetry.
    pub(crate) fn plain(&mut self, frame: &Frame) -> Frame {
        match frame.record() {
            0 => *frame,
            record => frame.without_record(*self.beside(record)),
        }
    }
    /// Does something to a data frame as it would be without telemetry.
    pub(crate) fn with_plain(&mut self, frame: &mut Frame, does: impl FnOnce(&mut Frame)) {
        let record = frame.record();
        if record == 0 {
            return does(frame);
        }
        let mut plain = self.plain(frame);
        does(&mut plain);
        *self.beside(record) = plain.ext;
        *frame = plain;
        frame.set_record(record);
    }
    /// Takes away the record of a frame that leaves for another worker.
    pub(crate) fn take(&mut self, record: u32, passing: &mut Passing) {
        (passing.0, passing.1) = (*self.beside(record), self.report(record));
        passing.2.clear();
        passing.2.extend_from_slice(self.path(record));
        passing.3 = self.traced(record).map(std::mem::take);
        self.close(record);
    }
    /// A frame has come from another worker with its record.
    pub(crate) fn receive(&mut self, frame: &mut Frame, passing: &mut Passing) {
        let (beside, report, path, trace) = passing;
        let record = self.enter(path, *report);
        *self.beside(record) = *beside;
        trace.take().into_iter().for_each(|trace| *self.tracing(record) = trace);
        frame.set_record(record);
    }
}
