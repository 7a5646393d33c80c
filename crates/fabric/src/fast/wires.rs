//! The wires between nodes.

use crate::check::broken;
use crate::fast::bodies::{Bodies, Body};
use crate::fast::frame::{AFTER, Entry, Frame, Kind};
use crate::fast::inbox::Inbox;
use crate::fast::records::Passing;
use crate::fast::wheel::Wheel;
use crate::model::{Control, Direct, Lane, Losses, Moment, Outside, Packet, Records};
use crate::net::{Link, NEVER, Ps};
use cnsim_scheme_api::{FlowId, Probe};

/// A frame on its way to a node of another partition.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Foreign {
    pub(crate) port: u32,
    pub(crate) entry: Entry,
    /// Of a control frame; on the heap, so that a data frame takes one line of the cache.
    pub(crate) body: Option<Box<Body>>,
    /// Of a frame with telemetry.
    pub(crate) record: Option<Box<Passing>>,
}

/// Bit of a link's `peer` that says: owned by another worker; the rest is the port's number in the network.
pub(crate) const FOREIGN: u32 = 1 << 31;

/// Bit of a link's `peer` that says: owned by this worker, and who receives is to be entered in its wheel.
pub(crate) const WATCHED: u32 = 1 << 30;

/// Bit of a link's `peer` that says: the link loses frames ([`crate::spec::LinkLoss`]), or is captured.
pub(crate) const LOSSY: u32 = 1 << 29;

/// The receiving ports that a worker owns, and what it sends elsewhere. Ports are numbered within the worker.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    /// The owned ones.
    pub(crate) inboxes: Vec<Inbox>,
    /// Who is to be visited when, where windows hold few frames.
    pub(crate) wheel: Wheel,
    /// Worker of each port of the network; empty where there is but one.
    pub(crate) owner: Vec<u16>,
    /// For each worker, in order.
    pub(crate) foreign: Vec<Vec<Foreign>>,
    /// Feedback that takes no link, of this turn.
    pub(crate) direct: Vec<Direct>,
    /// Of the control frames on the wires and at the nodes, but for probes that have not left their host.
    pub(crate) bodies: Bodies,
    /// Of the frames on the wires and at the nodes.
    pub(crate) records: Records,
    /// Links of its nodes that lose frames or are captured, with receiving ports as in `peer`.
    pub(crate) losses: Losses<Frame>,
    /// Records that have come from other workers, for those that go there.
    #[expect(clippy::vec_box, reason = "a box goes on as it is, in a frame to another worker")]
    spare: Vec<Box<Passing>>,
}

impl Wires {
    /// When a frame arrives first at these of its receiving ports.
    #[inline(always)]
    pub(crate) fn first_arrival(&self, inbox: u32, ports: u32) -> Ps {
        let mine = self.inboxes.iter().skip(inbox as usize).take(ports as usize);
        mine.filter_map(|inbox| inbox.arrived_before(0, AFTER)).map(|e| e.ready).min().unwrap_or(NEVER)
    }
    /// Sends a frame to a receiving port. The body of a control frame stays where it is.
    #[inline(always)]
    pub(crate) fn push_frame(&mut self, port: u32, ready: Ps, frame: &Frame) {
        if let Some(inbox) = self.inboxes.get_mut(port as usize) {
            inbox.put(ready, frame);
        } else {
            self.push_elsewhere(port, ready, frame);
        }
    }
    #[inline(never)]
    fn push_elsewhere(&mut self, port: u32, ready: Ps, frame: &Frame) {
        self.push_away(port, ready, frame);
    }
    /// Sends a frame to another worker, or to a receiving port of this one, and enters its node in the wheel.
    #[inline(always)]
    pub(crate) fn push_away(&mut self, port: u32, ready: Ps, frame: &Frame) {
        if port & (FOREIGN | LOSSY) != 0 {
            return self.push_far(port, ready, frame);
        }
        let at = (port & !WATCHED) as usize;
        let Some(inbox) = self.inboxes.get_mut(at) else { broken("a port of another worker") };
        inbox.put(ready, frame);
        self.wheel.announce(at, ready);
    }
    /// Sends a frame to another worker, or over a link that may lose it or is captured.
    #[inline(never)]
    fn push_far(&mut self, port: u32, ready: Ps, frame: &Frame) {
        if port & LOSSY != 0 {
            let whole = |frame: &Frame| {
                let mut copy = self.records.plain(frame);
                copy.ext = self.bodies.copy(frame.body()).unwrap_or(copy.ext);
                (copy, self.records.report(frame.record()))
            };
            return match self.losses.lose(port & !(LOSSY | WATCHED), ready, frame, Frame::crossing, whole) {
                true => {
                    self.bodies.release(frame.body());
                    self.records.close(frame.record());
                }
                false => self.push_frame(port & !LOSSY, ready, frame),
            };
        }
        let port = port & !FOREIGN;
        let entry = Entry { ready, frame: *frame };
        let body = self.bodies.take(frame.body()).map(Box::new);
        let record = (frame.record() > 0).then(|| {
            let mut passing = self.spare.pop().unwrap_or_default();
            self.records.take(frame.record(), &mut passing);
            passing
        });
        let list = self.owner.get(port as usize).and_then(|&to| self.foreign.get_mut(usize::from(to)));
        let Some(list) = list else { broken("a port belongs to no worker") };
        list.push(Foreign { port, entry, body, record });
    }
    /// A frame has come from another worker for this port.
    pub(crate) fn take_in(&mut self, port: u32, Foreign { mut entry, body, record, .. }: Foreign) {
        if let Some(mut passing) = record {
            self.records.receive(&mut entry.frame, &mut passing);
            self.spare.push(passing);
        }
        self.push(port, entry, body.map(|body| *body));
    }
    /// Sends a frame whose body, if it has one, is not kept here yet, or a PAUSE that may overtake.
    pub(crate) fn push(&mut self, port: u32, mut entry: Entry, body: Option<Body>) {
        if let Some(body) = body {
            entry.frame.ext = self.bodies.put(body);
        }
        if matches!(entry.frame.kind(), Kind::Xoff | Kind::Xon) {
            self.inboxes.get_mut((port & !(WATCHED | LOSSY)) as usize).into_iter().for_each(Inbox::overtake);
        }
        self.push_frame(port, entry.ready, &entry.frame);
    }
}

impl Outside<Frame> for Wires {
    fn beside(&mut self) -> (&mut Records, &mut Vec<Direct>) {
        (&mut self.records, &mut self.direct)
    }
    #[inline(always)]
    fn send(&mut self, link: &Link, frame: &Frame, at_once: bool, at: Moment<'_>) {
        let ready = at.now + link.delay;
        if frame.is_pause() {
            let obeyed = at.net.laws.pause_frames.obeyed(ready);
            if at_once || obeyed > ready {
                return self.push(link.peer, Entry { ready: obeyed, frame: *frame }, None);
            }
        }
        self.push_frame(link.peer, ready, frame);
    }
    #[inline(always)]
    fn send_first(&mut self, link: &Link, frame: &Frame, bodies: &mut Bodies, at: Moment<'_>) {
        let ready = at.now + link.delay;
        if frame.is_data() || frame.body().is_none() && !frame.is_pause() {
            return self.push_frame(link.peer, ready, frame);
        }
        match bodies.take(frame.body()) {
            None => self.send(link, frame, false, at),
            body => self.push(link.peer, Entry { ready, frame: *frame }, body),
        }
    }
    fn framed(&mut self, (control, class): &(Control, u8), input: u16, at: Moment<'_>) -> Frame {
        let frame = Frame::of_control(Lane::of_message(at.net.laws.control), control, at, &mut self.bodies);
        let mut frame = frame.of_class(*class, at.net);
        frame.input = input;
        frame
    }
    fn probe(&mut self, frame: &Frame) -> Option<(FlowId, Probe)> {
        let at = frame.body().filter(|_| frame.is_probe())?;
        self.bodies.probe(at).map(|(flow, probe)| (flow, *probe))
    }
    fn write_probe(&mut self, frame: &mut Frame, probe: Probe) {
        self.bodies.probe(frame.ext).into_iter().for_each(|(_, kept)| *kept = probe);
    }
    #[inline(always)]
    fn carry(&mut self, frame: &Frame, more: bool) {
        self.bodies.carry(frame.body(), more);
    }
}
