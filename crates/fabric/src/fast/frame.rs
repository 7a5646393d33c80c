//! Frames, and queues of them.

use crate::check::{Spent, broken};
use crate::fast::bodies::Bodies;
use crate::flows::flow_of;
use crate::model::{
    Control, Crossing, Data, Kind as Order, Lane, MANAGED, Moment, Packet, Pause, Records, Says, To, lowered,
};
use crate::net::{FrameNo, LONGEST, Net, Paths};
use cnsim_scheme_api::{Feedback, FlowId, FrameView, Hop, PointId};
use prefetch_index::prefetch_index;

pub(crate) use crate::model::NO_EVENT;
pub(crate) use crate::numbers::{NEVER, Ps};
pub(crate) use crate::spec::SMALLEST as CONTROL;

/// Where a broadcast control frame goes.
pub(crate) const BROADCAST: u32 = u32::MAX;
/// Bit of a control frame addressed to a congestion point; the rest is its `PointId`.
pub(crate) const TO_POINT: u32 = 1 << 31;

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Data.
    #[default]
    Data,
    /// Feedback or probe at strict priority.
    Control,
    /// Feedback or probe among the data.
    InBand,
    /// XOFF.
    Xoff,
    /// XON.
    Xon = 7,
}

impl Kind {
    /// The lane in which such a frame waits.
    #[inline(always)]
    pub(crate) fn lane(self) -> Lane {
        match self {
            Self::Data | Self::InBand => MANAGED,
            Self::Control => Lane::Control,
            Self::Xoff | Self::Xon => Lane::Pause,
        }
    }
}

/// A frame: 24 bytes; it never grows with a scheme (bodies of control frames are kept in [`crate::fast::bodies`]).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    /// Generation time (ps, below [`LONGEST_PACKED`]); above it three bits of the class, telemetry, finite, three bits of [`Kind`], marked,
    /// counted, three bits of the tag's kind.
    word: u64,
    /// Hosts of the data flow; of an acknowledgement those of its own way. Of another control frame, halves of the [`FlowId`].
    pub(crate) src: u16,
    pub(crate) dst: u16,
    /// Running number at the source host. Of a control frame: destination host, [`BROADCAST`], or [`TO_POINT`] with a point. Of an
    /// acknowledgement: the number of its flow, and [`BACK`].
    pub(crate) seq: u32,
    /// Packed tag of a data frame; place of the body of a control frame, or what it says where it takes none. Of an acknowledgement:
    /// how many frames of its flow have arrived. Of a data frame or an acknowledgement with telemetry: the record, where that stands.
    pub(crate) ext: u32,
    /// Length in bytes.
    pub(crate) len: u16,
    /// Input port at the present switch.
    pub(crate) input: u16,
}

/// Times of a run whose frames are packed are below this, ps.
pub(crate) const LONGEST_PACKED: Ps = Ps(1 << CLASS);

/// Bits of [`Frame::word`].
const CLASS: u32 = 51;
const KIND: u32 = 56;
const MARKED: u64 = 1 << 59;
/// Of a data frame: it is of a finite flow, which its number names ([`crate::flows`]).
const FINITE: u64 = 2 * LONGEST.0;
/// Of a data frame or an acknowledgement: it has telemetry ([`crate::fast::records`]).
const RECORDED: u64 = LONGEST.0;
const COUNTED: u64 = 1 << 60;
/// Of data on the wire, where nobody asks any more who has counted it.
const CUT: u64 = COUNTED;
const TAG: u32 = 61;
/// Of a control frame, two bits: what it says without a body.
const SAID: u32 = 59;
/// Bit of the kind: an acknowledgement of a queue pair, among the data or at priority. It is built as data of its flow that goes back, so
/// that it passes a switch as data does. Its time is that of the frame which it answers, and so is its mark.
const ACK: u64 = 4 << KIND;
/// Of an acknowledgement: it is a NACK.
const GAP: u64 = 2 * LONGEST.0;
/// Of an acknowledgement: it opens a connection, and goes as its flow does.
const OPENS: u64 = COUNTED;

impl Frame {
    /// A data frame made now.
    #[inline]
    pub(crate) fn data(src: u32, dst: u32, seq: u32, len: u16, now: Ps) -> Self {
        Self { word: now.0, src: src as u16, dst: dst as u16, seq, len, ..Self::default() }
    }
    /// An acknowledgement; none of what is another message.
    #[inline(always)]
    pub(crate) fn acknowledgement(lane: Lane, control: &Control, net: &Net) -> Option<Self> {
        let Says::Feedback(Feedback::Acknowledgement { acked, sent_at, marked, gap, record }, _) =
            control.says
        else {
            return None;
        };
        let flow = net.flows.numbered(control.flow)?;
        let (src, dst, seq) = control.header(flow);
        let mut frame = Self::data(src, dst, seq, control.length(net), Ps(sent_at));
        frame.word |= ACK | if lane == Lane::Control { (Kind::Control as u64) << KIND } else { 0 };
        frame.word |= if marked { MARKED } else { 0 } | if gap { GAP } else { 0 };
        frame.word |= if src == flow.src { OPENS } else { 0 };
        match record {
            0 => frame.ext = net.flows.frames_below(control.flow, acked),
            record => frame.set_record(record),
        }
        Some(frame)
    }
    /// Content of an acknowledgement, and its flow; none for another frame.
    #[inline(always)]
    pub(crate) fn acknowledges(&self, net: &Net, records: &mut Records) -> Option<(FlowId, Feedback)> {
        if !self.is_acknowledgement() {
            return None;
        }
        let (src, dst) = self.of_flow();
        let flow = net.flows.find(src, dst, self.seq);
        let Some(flow) = flow else { broken("an acknowledgement of no flow") };
        let record = self.record();
        let arrived = if record == 0 { self.ext } else { *records.beside(record) };
        let acked = net.flows.bytes_below(flow, FrameNo(arrived.into()));
        let (marked, gap) = (self.is_marked(), self.word & GAP != 0);
        let sent_at = self.born().0;
        Some((flow, Feedback::Acknowledgement { acked, sent_at, marked, gap, record }))
    }
    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        match (self.word >> KIND) & 7 {
            0 => Kind::Data,
            1 | 5 => Kind::Control,
            2 | 4 => Kind::InBand,
            3 => Kind::Xoff,
            _ => Kind::Xon,
        }
    }
    /// Content of the frame, if it is a PAUSE.
    pub(crate) fn as_pause(&self) -> Option<Pause> {
        let kind = self.kind();
        matches!(kind, Kind::Xoff | Kind::Xon)
            .then_some(Pause { off: kind == Kind::Xoff, class: self.class() })
    }
    /// Is it to a switch what data is: data, or an acknowledgement among it?
    #[inline(always)]
    pub(crate) fn passes_as_data(&self) -> bool {
        self.word & (3 << KIND) == 0
    }
    /// What its arrival at a host is.
    #[inline(always)]
    pub(crate) fn order(&self) -> Order {
        if self.passes_as_data() { Order::Data } else { Order::of_arrival(self.kind().lane()) }
    }
    /// Is it data without telemetry?
    #[inline(always)]
    pub(crate) fn is_plain_data(&self) -> bool {
        self.word & (7 << KIND | RECORDED) == 0
    }
    /// Gives the frame a record of telemetry. The word that stood in its place is in the record.
    pub(crate) fn set_record(&mut self, record: u32) {
        (self.word, self.ext) = (self.word | RECORDED, record);
    }
    /// The frame without telemetry, with the word that stood beside its record.
    pub(crate) fn without_record(mut self, beside: u32) -> Self {
        (self.word, self.ext) = (self.word & !RECORDED, beside);
        self
    }
    #[inline(always)]
    pub(crate) fn is_acknowledgement(&self) -> bool {
        self.word & (6 << KIND) == ACK
    }
    /// Generation time, ps.
    #[inline]
    pub(crate) fn born(&self) -> Ps {
        Ps(self.word & (LONGEST_PACKED.0 - 1))
    }
    /// Hosts of the flow of data or of an acknowledgement.
    fn of_flow(&self) -> (u32, u32) {
        let (src, dst) = (self.src.into(), self.dst.into());
        if self.is_acknowledgement() && self.word & OPENS == 0 { (dst, src) } else { (src, dst) }
    }
    /// The flow of data or of an acknowledgement.
    pub(crate) fn crossing(&self) -> Option<Crossing> {
        let (is_ack, flow) = (self.is_acknowledgement(), self.of_flow());
        let acknowledgement = is_ack && self.word & OPENS == 0;
        (is_ack || self.is_data()).then(|| Crossing { flow, number: flow_of(self.seq), acknowledgement })
    }
    /// Of a data frame or an acknowledgement: the output of switch `s` by which it goes on.
    #[inline(always)]
    pub(crate) fn output(&self, net: &Net, s: usize, paths: &mut Paths) -> u16 {
        net.route(s, (self.src.into(), self.dst.into(), self.seq), paths)
    }
    /// Of a data frame: what the model has of it.
    #[inline]
    pub(crate) fn data_header(&self) -> Data {
        Data {
            src: u32::from(self.src),
            dst: u32::from(self.dst),
            number: self.seq,
            finite: self.word & FINITE != 0,
            born: self.born(),
            tag: ((self.word >> TAG) as u8, self.ext),
            marked: self.is_marked(),
            counted: self.word & COUNTED != 0,
            cut: self.word & CUT != 0,
            record: 0,
        }
    }
    /// Marked by a ramp.
    pub(crate) fn is_marked(&self) -> bool {
        self.word & MARKED != 0
    }
    /// Lets a control frame say what needs no body; false for what does. Noted where the marks of a data frame stand. A message without a
    /// value tells the port that it is about in its place.
    #[inline]
    pub(crate) fn say(&mut self, feedback: &Feedback, about: u32) -> bool {
        let Some((kind, value)) = feedback.pack() else { return false };
        self.word |= u64::from(kind) << SAID;
        self.ext = if kind == Feedback::RETURNED_RATE { value } else { about };
        true
    }
    /// Content of a control frame without a body.
    #[inline]
    pub(crate) fn said(&self) -> Option<Says> {
        let kind = (self.word >> SAID) as u8 & 3;
        let about = if kind == Feedback::RETURNED_RATE { 0 } else { self.ext };
        Feedback::unpack(kind, self.ext).map(|feedback| Says::Feedback(feedback, about))
    }
    /// Is this control frame a probe? Noted where the tag's kind stands in a data frame.
    #[inline]
    pub(crate) fn is_probe(&self) -> bool {
        self.word >> TAG != 0
    }
    /// Place of the body of a message or probe, if that is kept beside it.
    #[inline(always)]
    pub(crate) fn body(&self) -> Option<u32> {
        (matches!((self.word >> KIND) & 7, 1 | 2) && self.word & (3 << SAID) == 0).then_some(self.ext)
    }
}

impl Packet for Frame {
    type Bodies = Bodies;
    #[inline]
    fn of_data(len: u16, data: &Data) -> Self {
        let mut frame = Self::data(data.src, data.dst, data.number, len, data.born);
        frame.word |= if data.finite { FINITE } else { 0 } | if data.counted { COUNTED } else { 0 };
        frame
    }
    #[inline(always)]
    fn of_control(lane: Lane, control: &Control, at: Moment<'_>, bodies: &mut Bodies) -> Self {
        if let Some(frame) = Self::acknowledgement(lane, control, at.net) {
            return frame;
        }
        let &Control { flow, to, says } = control;
        let kind = if lane == Lane::Control { Kind::Control } else { Kind::InBand };
        let to = match to {
            To::Everyone => BROADCAST,
            To::Point(point) => point.0 | TO_POINT,
            To::Host(host) => host,
        };
        let (src, dst, word) = ((flow.0 >> 16) as u16, flow.0 as u16, at.now.0 | (kind as u64) << KIND);
        let mut frame = Self { word, src, dst, seq: to, len: CONTROL, ..Self::default() };
        match says {
            Says::Feedback(feedback, about) if frame.say(&feedback, about) => return frame,
            Says::Feedback(..) => {}
            Says::Probe(_) => frame.word |= 1 << TAG,
        }
        frame.ext = bodies.put((flow, says));
        frame
    }
    fn of_pause(pause: Pause, net: &Net) -> Self {
        let kind = if pause.off { Kind::Xoff } else { Kind::Xon } as u64;
        let word = kind << KIND | u64::from(pause.class) << CLASS;
        Self { word, len: net.laws.pause_frames.length.get() as u16, ..Self::default() }
    }
    #[inline]
    fn lane(&self) -> Lane {
        let lane = self.kind().lane();
        if let Lane::Data(_) = lane { Lane::Data(self.class()) } else { lane }
    }
    fn input(&self) -> u16 {
        self.input
    }
    #[inline(always)]
    fn class(&self) -> u8 {
        (self.word >> CLASS) as u8 & 7
    }
    #[inline]
    fn of_class(mut self, class: u8, net: &Net) -> Self {
        if let (true, Some(transport)) = (self.is_acknowledgement(), net.transport_of(class.into())) {
            self.len = transport.ack_length.get() as u16;
        }
        self.word |= u64::from(class) << CLASS;
        self
    }
    #[inline(always)]
    fn is_data(&self) -> bool {
        self.word & (7 << KIND) == 0
    }
    fn is_tagged(&self) -> bool {
        self.is_probe()
    }
    #[inline(always)]
    fn record(&self) -> u32 {
        if self.word & RECORDED == 0 { 0 } else { self.ext }
    }
    #[inline]
    fn goes_to(&self) -> To {
        match self.seq {
            _ if self.is_acknowledgement() => To::Host(self.dst.into()),
            BROADCAST => To::Everyone,
            to if to & TO_POINT != 0 => To::Point(PointId(to & !TO_POINT)),
            to => To::Host(to),
        }
    }
    #[inline]
    fn addresses(&self, _: &Net) -> Option<(u32, u32, u32)> {
        let goes = self.is_acknowledgement() || self.is_data();
        goes.then(|| (self.src.into(), self.dst.into(), self.seq))
    }
    #[inline]
    fn about(&self) -> FlowId {
        FlowId(u32::from(self.src) << 16 | u32::from(self.dst))
    }
    #[inline]
    fn stamp(&mut self, (tag, rate): (u8, u32), records: &mut Records) {
        records.with_plain(self, |frame| {
            // The kinds of frame and tag at once, without a branch: which they are cannot be predicted.
            let kinds = frame.word & (7 << KIND | 7 << TAG);
            frame.ext = lowered((kinds, frame.ext), (u64::from(tag) << TAG, rate));
        });
    }
    fn open_trace(&mut self, spent: Spent, records: &mut Records) {
        records.open_trace(self, spent);
    }
    fn take_hop(&mut self, hop: Hop, records: &mut Records) {
        records.note(self, hop);
    }
    fn seen(&self, net: &Net, dropped: bool, records: &mut Records) -> FrameView {
        records.plain(self).data_header().view(self.len, net, dropped)
    }
    fn write(&mut self, view: &FrameView, port: u32, records: &mut Records) {
        records.with_plain(self, |frame| frame.take_on(view, port));
    }
    #[inline]
    fn bytes(&self) -> u16 {
        self.len
    }
    #[inline(always)]
    fn header(&self) -> Option<Data> {
        self.is_data().then(|| self.data_header())
    }
    fn set_counted(&mut self) {
        self.word |= COUNTED;
    }
    #[inline]
    fn write_tag(&mut self, (kind, ext): (u8, u32)) {
        self.word = self.word & !(7 << TAG) | u64::from(kind) << TAG;
        self.ext = ext;
    }
    fn set_cut(&mut self, cut: bool) {
        self.word = self.word & !CUT | if cut { CUT } else { 0 };
    }
    fn set_marked(&mut self, marked: bool) {
        self.word = self.word & !MARKED | if marked { MARKED } else { 0 };
    }
    fn mark_at(&mut self, port: u32, records: &mut Records) {
        records.with_plain(self, |frame| {
            frame.set_marked(true);
            frame.ext = if frame.word >> TAG == 0 { port } else { frame.ext };
        });
    }
}

/// A frame with the time from which it counts at the node that holds it: half a line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Entry {
    /// ps.
    pub(crate) ready: Ps,
    /// The frame.
    pub(crate) frame: Frame,
}

/// Time of what stands after the last entry of a ring: later than all, and a duration more does not overflow.
pub(crate) const AFTER: Ps = Ps(u64::MAX >> 1);

/// A queue of entries, flat in memory. The place after the last entry always reads [`AFTER`], so that looking at the first
/// needs no test for emptiness; the head returns to the beginning when the queue empties, so that short queues stay in the
/// same few lines of the cache.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    buf: Box<[Entry]>,
    head: u32,
    tail: u32,
}

/// The entry behind the last one.
const BEYOND: Entry =
    Entry { ready: AFTER, frame: Frame { word: 0, src: 0, dst: 0, seq: 0, ext: 0, len: 0, input: 0 } };

impl Ring {
    /// Places of a new ring that is used.
    const FIRST: usize = 4;

    /// A ring with `places` to begin with. Rings made one after the other lie side by side in memory, which helps the
    /// prefetcher as nodes are visited in order.
    pub(crate) fn with_places(places: usize) -> Self {
        Self { buf: vec![BEYOND; places.max(Self::FIRST)].into_boxed_slice(), head: 0, tail: 0 }
    }

    /// The entry `n` places after the first, or what stands beyond the last and is never due.
    #[inline(always)]
    pub(crate) fn place_at(&self, n: u32) -> Option<&Entry> {
        self.buf.get(self.head as usize + n as usize)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == self.tail
    }
    #[inline]
    pub(crate) fn front(&self) -> Option<&Entry> {
        if self.is_empty() { None } else { self.buf.get(self.head as usize) }
    }
    /// All, first to last.
    #[inline]
    pub(crate) fn entries(&self) -> &[Entry] {
        self.buf.get(self.head as usize..self.tail as usize).unwrap_or_default()
    }
    /// All, first to last.
    #[inline]
    pub(crate) fn entries_mut(&mut self) -> &mut [Entry] {
        self.buf.get_mut(self.head as usize..self.tail as usize).unwrap_or_default()
    }
    /// Forgets the first `n` entries, which there are. Without branches, as whether another follows cannot be predicted.
    #[inline(always)]
    pub(crate) fn skip_many(&mut self, n: u32) {
        // All bits where another follows, else none.
        let more = ((self.head + n).wrapping_sub(self.tail) as i32) >> 31;
        self.head = (self.head + n) & more as u32;
        self.tail &= more as u32;
        if let Some(first) = self.buf.get_mut(self.head as usize) {
            // AFTER has all bits but the first set.
            first.ready.0 |= !i64::from(more) as u64 >> 1;
        }
    }
    /// Fetches beforehand the places of the first entry and of those to come.
    #[inline(always)]
    pub(crate) fn expect(&self) {
        prefetch_index(&self.buf, self.head as usize);
        prefetch_index(&self.buf, self.tail as usize);
        prefetch_index(&self.buf, self.tail as usize + 2);
    }
    /// Forgets all but the first `n` entries.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.head = if n == 0 { 0 } else { self.head };
        self.tail = self.head + n as u32;
        if let Some(after) = self.buf.get_mut(self.tail as usize) {
            after.ready = AFTER;
        }
    }
    /// Takes out the entry `n` places after the first, if there is one.
    pub(crate) fn remove(&mut self, n: usize) -> Option<Entry> {
        let left = self.entries().len().checked_sub(n + 1)?;
        let rest = self.entries_mut().get_mut(n..)?;
        rest.rotate_left(1);
        let taken = *rest.last()?;
        self.truncate(n + left);
        Some(taken)
    }
    /// Appends an entry, or puts it before those of later times; with an `input` before those of its time, too, whose inputs are
    /// larger. `last` is the latest time of them, or one that has gone by; it is kept apart, as the last place may not be in the
    /// cache.
    #[inline(always)]
    pub(crate) fn place(&mut self, last: &mut Ps, entry: &Entry, input: Option<u16>) {
        if *last > entry.ready || (*last == entry.ready && input.is_some()) {
            return self.place_before(entry, input.unwrap_or(u16::MAX));
        }
        *last = entry.ready;
        self.push_back(entry);
    }
    /// Before all later ones, and those of its moment whose input is larger than `input`.
    #[inline(never)]
    fn place_before(&mut self, entry: &Entry, input: u16) {
        let (head, tail) = (self.head as usize, self.tail as usize);
        let Some([waiting @ .., after]) = self.buf.get_mut(head..tail + 2) else {
            self.make_room();
            return self.place_before(entry, input);
        };
        after.ready = AFTER;
        self.tail += 1;
        let mut waiting = waiting.iter_mut().rev();
        let Some(mut place) = waiting.next() else { broken("a ring without a place") };
        for before in waiting {
            if (before.ready.0, before.frame.input) <= (entry.ready.0, input) {
                break;
            }
            *place = *before;
            place = before;
        }
        *place = *entry;
    }
    /// Appends an entry.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, entry: &Entry) {
        self.append(entry.ready, &entry.frame, entry.frame.input);
    }
    /// Appends a frame that stands elsewhere, with its time and input here.
    #[inline(always)]
    pub(crate) fn append(&mut self, ready: Ps, frame: &Frame, input: u16) {
        let at = self.tail as usize;
        let Some(after) = self.buf.get_mut(at + 1) else {
            return self.append_more(ready, frame, input);
        };
        after.ready = AFTER;
        let place = &mut self.buf[at];
        place.ready = ready;
        place.frame = *frame;
        place.frame.input = input;
        self.tail += 1;
    }
    #[cold]
    #[inline(never)]
    fn append_more(&mut self, ready: Ps, frame: &Frame, input: u16) {
        self.make_room();
        self.append(ready, frame, input);
    }
    /// Moves the entries to the beginning if that frees a third of the memory, else adds a quarter of it: a queue's peak is seldom
    /// a power of two.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let (head, tail) = (self.head as usize, self.tail as usize);
        if head > 0 && 2 * head >= tail - head {
            self.buf.copy_within(head..=tail, 0);
            self.head = 0;
            self.tail = (tail - head) as u32;
        } else {
            let mut more = Vec::with_capacity(self.buf.len() + (self.buf.len() / 4).max(Self::FIRST));
            more.extend_from_slice(&self.buf[head..tail]);
            more.resize(more.capacity(), BEYOND);
            self.buf = more.into_boxed_slice();
            self.head = 0;
            self.tail = (tail - head) as u32;
        }
    }
    /// Inserts before the first entry for which `after` is true.
    #[inline(never)]
    pub(crate) fn insert(&mut self, entry: Entry, after: impl Fn(&Entry) -> bool) {
        let at = self.entries().partition_point(|e| !after(e));
        if self.head > 0 && at < self.entries().len() / 2 {
            // Where frames have just left, so that a long queue behind it costs nothing.
            let head = self.head as usize;
            self.buf.copy_within(head..head + at, head - 1);
            self.head -= 1;
            self.buf[head - 1 + at] = entry;
            return;
        }
        self.push_back(&BEYOND);
        let (at, tail) = (self.head as usize + at, self.tail as usize);
        self.buf.copy_within(at..tail - 1, at + 1);
        self.buf[at] = entry;
    }
}

/// A transmission: its start, its end, and the kind of its frame.
pub(crate) type Begin = (Ps, Ps, Kind);
