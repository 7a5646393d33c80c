//! A window of a switch of several classes port by port, where nothing that happens at one port matters at another.
//!
//! Memory is far from its thresholds with all that arrives in the window, nothing is in XOFF, and data and acknowledgements alone
//! arrive. So each output takes its arrivals in order of time, and its transmitter goes on from start to start.
//!
//! * Claim: an output's frames are stored and sent without events of the switch.
//! * Same bits: occupancies only grow by what arrives, so with all of it they are upper bounds; below every threshold no order of
//!   events at different ports has a consequence, and those of a port are in order.
//! * Bench row: w2-classes.
//! * Marks: CalmClasses.

use crate::fast::frame::{Entry, Frame};
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Kind, Lane, Memory, Output, Packet, Paused, Point, Records, Switch as Own, Turn, rank};
use crate::net::{NEVER, Net, Ps};
use crate::spec::{ControlTransport, Ties};
use cnsim_scheme_api::RampAt;

/// What a switch keeps for it.
#[derive(Debug, Default)]
pub(crate) struct Calm {
    /// Its settings allow it.
    may: bool,
    /// By memory: bytes that arrive in the window, by row of an input, and [`Memory::quiet_up_to`].
    more: Vec<(Vec<u64>, u64)>,
    /// By output, what arrives for it in the window.
    pending: Vec<Vec<Entry>>,
    /// By input, how many frames these are.
    counts: Vec<u32>,
    /// All outputs send data and control alone.
    steady: bool,
    /// Ends of transmissions are not in the switch's agenda.
    pub(super) unlisted: bool,
}

/// Bytes before a point looks at a frame, beyond any window's.
const FAR: i64 = 1 << 40;

impl Calm {
    pub(crate) fn new(laws: &Own<Frame>, net: &Net) -> Self {
        let management = &laws.management;
        let may = !management.guarded
            && !management.at_start
            && !net.record.trips
            && net.laws.control != ControlTransport::InBand
            && net.laws.ties == Ties::ByPort
            && !net.in_turn(management.index(net))
            && laws.outputs.iter().all(|output| output.kept.is_none())
            && laws.memory.iter().all(|memory| memory.calm_queue() == u64::MAX);
        let rows = net.classes.len() * (laws.outputs.len() + 1);
        let more = laws.memory.iter().map(|_| (vec![0; rows], 0)).collect();
        let (pending, counts) = (vec![Vec::new(); laws.outputs.len()], vec![0; laws.outputs.len()]);
        Self { may, more, pending, counts, ..Self::default() }
    }
}

impl Own<Frame> {
    /// Runs it up to `end` in this way, if it can; else nothing has been done.
    pub(super) fn run_calmly(
        &mut self,
        (inbox, calm): (u32, &mut Calm),
        end: Ps,
        turn: &mut Turn<'_, Wires>,
    ) -> bool {
        let alone = turn.agenda.own >= rank((end, Kind::Change, 0));
        if !(calm.may && self.is_calm((inbox, calm), end, turn) && alone) {
            calm.steady = false;
            return false;
        }
        hit(Mark::CalmClasses);
        let wires = &mut *turn.out;
        let mine = wires.inboxes.get_mut(inbox as usize..).unwrap_or_default();
        mine.iter_mut().zip(&calm.counts).for_each(|(inbox, count)| inbox.skip_many(*count));
        let Self { outputs, memory, places, .. } = self;
        for (output, pending) in outputs.iter_mut().zip(&mut calm.pending) {
            if !pending.is_empty() || output.port.until < end {
                replay(output, pending, end, &mut Kept { memory, places, wires });
                pending.clear();
            }
        }
        calm.unlisted = true;
        turn.agenda.list_ends(std::iter::empty());
        true
    }

    /// Has nothing that arrives before `end` a consequence elsewhere? Then it is noted by outputs; a shared buffer is noted to be quiet for
    /// that time, or not.
    fn is_calm(&mut self, (inbox, calm): (u32, &mut Calm), end: Ps, turn: &Turn<'_, Wires>) -> bool {
        let (mut plain, index) = (true, self.management.index(turn.net));
        calm.more.iter_mut().for_each(|more| more.0.fill(0));
        calm.pending.iter_mut().for_each(Vec::clear);
        let mine = turn.out.inboxes.get(inbox as usize..).unwrap_or_default();
        for ((p, inbox), count) in mine.iter().enumerate().zip(&mut calm.counts) {
            *count = 0;
            while let Some(entry) = inbox.arrived_before(*count, end) {
                let frame = &entry.frame;
                *count += 1;
                if let Lane::Data(class) = frame.lane() {
                    let (memory, row) = self.places[usize::from(class)];
                    calm.more[memory].0[row + p] += u64::from(frame.len);
                }
                plain &= frame.is_data() || frame.is_acknowledgement();
                if plain {
                    let out = frame.output(turn.net, index, &mut self.management.paths);
                    note(&mut calm.pending[usize::from(out)], entry);
                }
            }
        }
        for (memory, (more, up_to)) in self.memory.iter_mut().zip(&mut calm.more) {
            let all: u64 = more.iter().sum();
            if memory.is_quiet() && memory.pool + all <= *up_to || memory.takes_calmly(more, all) {
                continue;
            }
            let queues = self.outputs.iter().flat_map(|output| &output.data).map(|queue| queue.bytes);
            plain &= memory.note_quiet(more, queues.max().unwrap_or(0) + all);
            *up_to = memory.quiet_up_to();
        }
        calm.steady = calm.steady || self.outputs.iter().all(is_steady);
        plain && calm.steady
    }
}

/// Puts what arrives for an output in order.
#[inline]
fn note(pending: &mut Vec<Entry>, entry: &Entry) {
    let mut at = pending.len();
    pending.push(*entry);
    while at > 0 && pending[at - 1].arrival() > entry.arrival() {
        pending.swap(at - 1, at);
        at -= 1;
    }
}

/// Does an output send data and control alone, whose points look at no arrival? It stays so while windows are calm.
fn is_steady(output: &Output<Frame>) -> bool {
    let stands = output.port.paused.iter().any(Paused::is_off);
    let pauses = !output.pauses.is_empty() || output.port.sends == Some(Lane::Pause);
    let blind = |point: &Point| {
        let arrivals = point.state.ramp.is_some_and(|ramp| ramp.at == RampAt::Arrival);
        !point.departures && !arrivals && point.state.countdown > FAR
    };
    !stands && !pauses && output.data.iter().all(|queue| queue.point.as_deref().is_none_or(blind))
}

/// What outputs have in common.
struct Kept<'a> {
    memory: &'a mut [Memory],
    places: &'a [(usize, usize)],
    wires: &'a mut Wires,
}

impl Kept<'_> {
    /// Bytes of a frame come to its memory, or go, from which nothing follows.
    #[inline(always)]
    fn count(&mut self, class: u8, out: usize, frame: &Frame, by: i32) {
        let (at, row) = self.places[usize::from(class)];
        let memory = &mut self.memory[at];
        let cell = memory.layout.cell(out, row + usize::from(frame.input()));
        memory.shift::<true>(Some(cell), by, u32::MAX);
    }
}

/// An output takes what arrives for it, and sends, before `end`.
fn replay(output: &mut Output<Frame>, pending: &[Entry], end: Ps, kept: &mut Kept<'_>) {
    let (mut arrivals, mut queued) = (pending.iter().peekable(), output.queued());
    loop {
        let busy = output.port.until;
        let free = if busy < NEVER { busy } else { arrivals.peek().map_or(NEVER, |e| e.ready) };
        while let Some(entry) = arrivals.next_if(|e| e.ready < free.min(end)) {
            store(output, entry, &mut queued, kept);
        }
        if free >= end {
            return;
        }
        if busy < NEVER {
            send(output, free, &mut queued, kept);
        }
        while let Some(entry) = arrivals.next_if(|e| e.ready == free) {
            store(output, entry, &mut queued, kept);
        }
        if let Some((lane, frame)) = output.next() {
            start(output, lane, frame, free, &mut kept.wires.records);
        }
    }
}

/// The first frame of a lane starts.
#[inline]
fn start(output: &mut Output<Frame>, lane: Lane, mut frame: Frame, now: Ps, records: &mut Records) {
    let class = usize::from(frame.class());
    if let (true, Some(point)) = (frame.is_data(), &output.data[class].point) {
        point.stamp().into_iter().for_each(|stamp| frame.stamp(stamp, records));
        output.pass_point(class, &mut frame, now, records);
        output.frames(lane).front_mut().into_iter().for_each(|first| *first = frame);
    }
    output.port.begin(Some(lane), (lane, frame.bytes()), now);
}

/// A frame joins its queue.
#[inline]
fn store(output: &mut Output<Frame>, entry: &Entry, queued: &mut u64, kept: &mut Kept<'_>) {
    let frame = entry.frame;
    output.push(frame, queued);
    let Lane::Data(class) = frame.lane() else { return };
    kept.count(class, output.port.port.into(), &frame, frame.bytes().into());
    output.join(&frame);
}

/// The last bit of a frame leaves.
#[inline]
fn send(output: &mut Output<Frame>, now: Ps, queued: &mut u64, kept: &mut Kept<'_>) {
    let (lane, link) = output.port.finish();
    let frame = output.pop(lane);
    if let Lane::Data(class) = lane {
        *queued -= u64::from(frame.bytes());
        kept.count(class, output.port.port.into(), &frame, -i32::from(frame.bytes()));
    }
    output.left.count(lane, frame.bytes());
    kept.wires.push_frame(link.peer, now + link.delay, &frame);
}
