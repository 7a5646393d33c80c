//! Sent frames of a flow under way: whether each is acknowledged, reported as come out of order, lost, or sent again.
//!
//! Frames are numbered from 0. Those below the first that is not acknowledged (`una`) are over, those from `next` on were never sent.
//! Of those between, the destination has *reported* some. A frame below `lost_below` that is not reported is lost: it is *due* to be
//! sent again until that is done. Without losses the maps are empty, and two numbers say all.
//!
//! Selective repeat, NewReno (RFC 6582) and SACK (RFC 6675) differ in what tells them of a loss: a NACK; three duplicate
//! acknowledgements; or three frames reported behind it.

use super::map::FrameMap;
use super::rack::Rack;
use super::reduction::Reduction;
use crate::numbers::{FrameNo, Ps};
use crate::spec::{Recovery, Reliability, TcpSpec};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};

/// Report of an acknowledgement beyond its sequence: runs of frames that came out of order, the newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Frames from the one that is expected to the run, and frames of the run; 0 for none.
    pub(crate) runs: [(u16, u16); 3],
}

impl Report {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs[0].1 == 0
    }
    /// The frames that it reports in order, where this one is expected.
    fn frames(&self, expected: FrameNo) -> impl Iterator<Item = FrameNo> {
        let mut runs = self.runs;
        runs.sort_unstable();
        runs.into_iter().flat_map(move |(ahead, count)| {
            let first = expected + u64::from(ahead);
            first.to(first + u64::from(count))
        })
    }
}

/// Duplicate acknowledgements, or frames reported behind one, by which a frame is lost (RFC 5681).
const DUPLICATES: u32 = 3;

/// Most frames between the first that is not acknowledged and the next: a frame carries 16 bits of its number.
const MOST_AHEAD: u64 = 32_000;

/// Consequences of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    /// A loss is found: recovery begins.
    pub(crate) loss: bool,
    /// All that had been sent as it was found is acknowledged.
    pub(crate) recovered: bool,
    /// A part of that is acknowledged, and not the first part.
    pub(crate) more_of_it: bool,
}

/// What few flows need: it takes no memory before a loss or a second message.
#[derive(Debug)]
struct Rare {
    /// On a connection with several messages, the first frame and the first byte of each that has begun and is not over.
    messages: VecDeque<(FrameNo, u64)>,
    reported: FrameMap,
    due: FrameMap,
    /// Sent again and neither acknowledged nor reported since.
    again: FrameMap,
}

impl Rare {
    const NONE: Self = Self {
        messages: VecDeque::new(),
        reported: FrameMap::NONE,
        due: FrameMap::NONE,
        again: FrameMap::NONE,
    };
}

/// A [`Rare`] that takes memory from its first change on; until then it reads as empty.
#[derive(Debug, Default)]
struct Lazy(Option<Box<Rare>>);

impl Deref for Lazy {
    type Target = Rare;
    #[inline]
    fn deref(&self) -> &Rare {
        self.0.as_deref().unwrap_or(const { &Rare::NONE })
    }
}

impl DerefMut for Lazy {
    fn deref_mut(&mut self) -> &mut Rare {
        self.0.get_or_insert_with(|| Box::new(Rare::NONE))
    }
}

/// The frames of a flow under way.
#[derive(Debug, Default)]
pub(crate) struct SentFrames {
    /// The first that is not acknowledged, and the first that was never sent.
    pub(crate) una: FrameNo,
    pub(crate) next: FrameNo,
    /// All that there are, and their bytes.
    frames: FrameNo,
    bytes: u64,
    rare: Lazy,
    lost_below: FrameNo,
    /// Behind the last that was reported.
    top: FrameNo,
    repair: Repair,
    /// Until more than these are acknowledged, duplicates tell of no loss: they are answers to what a timeout sent again.
    timed_out: Option<NonZeroU64>,
    /// Starts of frames, where losses are found by time.
    pub(crate) rack: Option<Box<Rack>>,
    duplicates: u32,
    /// Frames sent by limited transmit, and those left of a burst that is under way.
    limited: u32,
    pub(crate) burst: u32,
    /// Bytes of a whole frame.
    whole: u16,
    reduces: bool,
}

/// The recovery that lasts, if one does.
#[derive(Debug, Default)]
struct Repair {
    /// It ends when all frames below this are acknowledged.
    until: Option<NonZeroU64>,
    /// Where it sends in proportion to what is delivered.
    reduction: Option<Box<Reduction>>,
    /// Frames that have left the network by duplicates, less those that a part acknowledged since (NewReno's inflated window).
    inflated: i32,
    /// The next frame that is due goes whatever the window is.
    urgent: bool,
    /// A part of its frames is acknowledged.
    in_part: bool,
    /// For want of others the last frame has gone again (RFC 6675, RescueRxt).
    rescued: bool,
}

impl SentFrames {
    /// Of a flow of so many bytes, with frames of `whole`.
    pub(crate) fn new(bytes: u64, whole: u16, by: &Reliability) -> Self {
        let by_time = matches!(by, Reliability::Tcp(tcp) if tcp.recovery == Recovery::Rack);
        let reduces = matches!(by, Reliability::Tcp(tcp) if tcp.proportional);
        let rack = by_time.then(Default::default);
        Self { frames: FrameNo(bytes.div_ceil(whole.into())), whole, bytes, rack, reduces, ..Self::default() }
    }
    /// Does a probe wait for the link?
    fn probes(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.probing)
    }
    /// Bytes of a whole frame.
    pub(crate) fn whole(&self) -> u64 {
        self.whole.into()
    }
    /// Bytes of the flow below a frame.
    #[inline]
    pub(crate) fn bytes_below(&self, frame: FrameNo) -> u64 {
        if self.rare.0.is_none() {
            return self.bytes.min(frame.0 * self.whole());
        }
        self.bytes_of_messages(frame)
    }
    /// Bytes of the flow below a frame, on a connection that may have several messages.
    #[inline(never)]
    fn bytes_of_messages(&self, frame: FrameNo) -> u64 {
        let next = self.rare.messages.partition_point(|message| message.0 <= frame);
        let (first, before) = next.checked_sub(1).map_or((FrameNo(0), 0), |at| self.rare.messages[at]);
        let end = self.rare.messages.get(next).map_or(self.bytes, |next| next.1);
        (before + (frame - first) * self.whole()).min(end)
    }
    /// A message more, of so many bytes.
    pub(crate) fn more(&mut self, bytes: u64) {
        if self.rare.messages.is_empty() {
            self.rare.messages.push_back((FrameNo(0), 0));
        }
        self.rare.messages.push_back((self.frames, self.bytes));
        (self.frames, self.bytes) = (self.frames + bytes.div_ceil(self.whole()), self.bytes + bytes);
    }
    /// Is a frame the last of the flow, or of a message?
    pub(crate) fn ends(&self, frame: FrameNo) -> bool {
        let next = self.rare.messages.partition_point(|message| message.0 <= frame);
        frame + 1 == self.rare.messages.get(next).map_or(self.frames, |message| message.0)
    }
    /// Bytes reported beyond what is acknowledged.
    pub(crate) fn reported_bytes(&self) -> u64 {
        self.rare.reported.count * self.whole()
    }
    /// Bytes sent and not acknowledged, but for those of limited transmit (RFC 5681, FlightSize).
    pub(crate) fn outstanding(&self) -> u64 {
        self.bytes_below(FrameNo(self.next.0.saturating_sub(self.limited.into())))
            .saturating_sub(self.bytes_below(self.una))
    }
    /// Frames sent and not acknowledged that are not on their way: those reported and those due, less what was sent again and is not
    /// lost (RFC 6675, SetPipe).
    #[inline]
    fn gone(&self) -> i64 {
        let Some(rare) = &self.rare.0 else { return self.repair.inflated.into() };
        let twice = rare.again.count > 0 && self.rack.is_none();
        let extra = if twice { rare.again.count_from(self.lost_below) } else { 0 };
        (rare.reported.count + rare.due.count) as i64 - extra as i64 + i64::from(self.repair.inflated)
    }
    /// Bytes that are gone; selective repeat counts all that is not acknowledged.
    pub(crate) fn gone_bytes(&self, by: &Reliability) -> i64 {
        if matches!(by, Reliability::Selective(_)) { 0 } else { self.gone() * i64::from(self.whole) }
    }
    /// The frame that goes next: the first that is due, else a new one; in recovery by SACK, else one below those reported, or the last.
    fn pick(&self, by: &Reliability) -> Option<FrameNo> {
        if self.rare.due.count > 0 && !self.probes() {
            return self.rare.due.first();
        }
        let ahead = || self.bytes_below(self.next + 1) - self.bytes_below(self.una);
        let fits = match by {
            Reliability::Tcp(tcp) => tcp.receive_window.is_none_or(|most| ahead() <= most.get()),
            _ => true,
        };
        if self.next < self.frames && self.next - self.una < MOST_AHEAD && fits {
            return Some(self.next);
        }
        if self.probes() {
            return self.next.0.checked_sub(1).map(FrameNo);
        }
        if !self.repairs_by_report(by) {
            return None;
        }
        let unknown = |f: &FrameNo| !self.rare.reported.has(*f);
        let one = self.lost_below.max(self.una).to(self.top).find(|f| unknown(f) && !self.rare.again.has(*f));
        one.or_else(|| self.una.to(self.next).rev().find(unknown).filter(|_| !self.repair.rescued))
    }
    /// Does recovery by SACK last?
    fn repairs_by_report(&self, by: &Reliability) -> bool {
        let by_report = matches!(by, Reliability::Tcp(tcp) if tcp.recovery == Recovery::Sack);
        by_report && self.repair.until.is_some()
    }
    /// The frame that may go where so many bytes are the window; none if nothing is to be sent, or the window holds it.
    pub(crate) fn may_send(&self, window: u64, by: &Reliability) -> Option<FrameNo> {
        let frame = self.pick(by)?;
        let goes = match by {
            Reliability::Tcp(tcp) => {
                let Repair { until, urgent, reduction, .. } = &self.repair;
                // Without limited transmit a report lets nothing go before a loss is found.
                let waits = !tcp.limited_transmit && until.is_none() && self.lost_below <= self.una;
                let pipe = (self.next - self.una) as i64 - if waits { 0 } else { self.gone() };
                // In recovery by SACK a whole frame has room, or none goes (RFC 6675, 5 C).
                let len = if self.repairs_by_report(by) {
                    self.whole()
                } else {
                    self.bytes_below(frame + self.at_once(frame, window, tcp)) - self.bytes_below(frame)
                };
                let (goes, pipe) = (*urgent && self.rare.due.count > 0 || self.probes(), pipe.max(0) as u64);
                let fits = reduction.as_ref().map_or(pipe * self.whole() + len <= window, |reduction| {
                    reduction.room(pipe, (window, self.whole())) > 0
                });
                goes || pipe == 0 || fits
            }
            _ => frame < self.next || (self.next - self.una) * self.whole() < window,
        };
        goes.then_some(frame)
    }
    /// Frames for which a window has to have room before this one goes: a new one that begins a burst waits for others, unless something
    /// is amiss.
    fn at_once(&self, frame: FrameNo, window: u64, tcp: &TcpSpec) -> u64 {
        let begins = tcp.burst > 1 && frame == self.next && self.burst == 0;
        if !begins || self.repair.until.is_some() || self.duplicates > 0 {
            return 1;
        }
        u64::from(tcp.burst).min(window / self.whole() / 3).min(self.frames - frame).max(1)
    }
    /// A frame has left, with such a window; true if it was sent before.
    pub(crate) fn send(&mut self, frame: FrameNo, window: u64, by: &Reliability, now: Ps) -> bool {
        self.repair.urgent = false;
        if let Reliability::Tcp(tcp) = by
            && tcp.burst > 1
        {
            let begins = || self.at_once(frame, window, tcp) as u32 - 1;
            self.burst = self.burst.checked_sub(1).unwrap_or_else(begins);
        }
        self.repair.reduction.iter_mut().for_each(|r| r.sent += 1);
        if let Some(rack) = &mut self.rack {
            rack.start(frame, now);
            if std::mem::take(&mut rack.probing) {
                rack.probed = Some((self.next.max(frame + 1), frame < self.next));
            }
        }
        if frame == self.next {
            let early = self.duplicates > 0 && self.repair.until.is_none() && !self.is_deaf();
            self.next.0 += 1;
            let beyond = self.bytes_below(self.next) - self.bytes_below(self.una) > window;
            self.limited += u32::from(early && beyond);
            return false;
        }
        if self.rare.due.has(frame) || self.rack.is_some() || frame < self.top && !self.rare.again.has(frame)
        {
            self.rare.due.remove(frame);
            self.rare.again.enter(frame);
        } else {
            self.repair.rescued = true;
        }
        true
    }
    /// Do duplicates tell of no loss, as a timeout has sent frames again?
    fn is_deaf(&self) -> bool {
        self.timed_out.is_some_and(|until| self.una.0 <= until.get())
    }
    /// All below this that are not reported are lost.
    fn lose_below(&mut self, frame: FrameNo) {
        for f in self.lost_below.max(self.una).to(frame.min(self.next)) {
            if !self.rare.reported.has(f) && !self.rare.again.has(f) {
                self.rare.due.enter(f);
            }
        }
        self.lost_below = self.lost_below.max(frame.min(self.next));
    }
    /// Below this frame three are reported behind each.
    fn displaced(&self) -> FrameNo {
        self.rare.reported.nth_last(DUPLICATES.into()).unwrap_or_default()
    }
    /// All below a frame are acknowledged.
    fn advance(&mut self, una: FrameNo) {
        self.una = una;
        self.next = self.next.max(una);
        if let Some(rare) = &mut self.rare.0 {
            [&mut rare.reported, &mut rare.due, &mut rare.again]
                .into_iter()
                .for_each(|map| map.forget_below(una));
            while rare.messages.get(1).is_some_and(|next| next.0 <= una) {
                rare.messages.pop_front();
            }
        }
        (self.lost_below, self.top) = (self.lost_below.max(una), self.top.max(una));
        (self.duplicates, self.limited, self.repair.urgent) = (0, 0, false);
    }
    /// Forgets what is lost.
    fn forget(&mut self) {
        if let (None, Some(rare)) = (&self.rack, &mut self.rare.0) {
            [&mut rare.due, &mut rare.again].into_iter().for_each(FrameMap::clear);
        }
        (self.lost_below, self.repair.until, self.repair.inflated, self.repair.urgent) =
            (self.una, None, 0, false);
        (self.repair.in_part, self.repair.rescued, self.repair.reduction) = (false, false, None);
    }
    /// A recovery that has begun sends in proportion from now on, if it is to.
    fn reduce(&mut self) {
        self.repair.reduction = self.reduces.then(|| Box::new(Reduction::new(self.next - self.una)));
    }
    /// Recovery begins: all below a frame that are not reported are lost.
    fn begin(&mut self, lost_below: FrameNo) {
        self.forget();
        self.repair.until = NonZeroU64::new(self.next.0);
        self.reduce();
        self.lose_below(lost_below);
    }
    /// An acknowledgement of all frames below `una` has arrived, with what it reports and maybe a NACK.
    pub(crate) fn hear(
        &mut self,
        (una, gap, report): (FrameNo, bool, &Report),
        by: &Reliability,
        (now, smooth): (Ps, Ps),
    ) -> Heard {
        let (before, had) = (self.una, self.una + self.rare.reported.count);
        if una > before {
            if let Some(rack) = &mut self.rack {
                let new = before.to(una).filter(|f| !self.rare.reported.has(*f));
                new.for_each(|f| rack.came(f, self.rare.again.has(f), now));
                rack.forget_below(una);
            }
            self.advance(una);
        }
        let mut news = false;
        for frame in report.frames(una).filter(|f| (self.una..self.next).contains(f)) {
            if self.rare.reported.enter(frame) {
                self.rack.iter_mut().for_each(|rack| rack.came(frame, self.rare.again.has(frame), now));
                self.rare.due.remove(frame);
                self.rare.again.remove(frame);
                self.top = self.top.max(frame + 1);
                news = true;
            }
        }
        let mut heard = Heard::default();
        if self.una > before && self.repair.until.is_some_and(|until| self.una.0 >= until.get()) {
            self.forget();
            heard.recovered = true;
        }
        match by {
            Reliability::Selective(_) if gap => {
                heard.loss = self.repair.until.is_none();
                if heard.loss {
                    self.begin(self.top);
                }
                self.lose_below(self.top);
            }
            Reliability::Tcp(tcp) if tcp.recovery == Recovery::Rack => {
                self.duplicates += u32::from(news);
                heard.loss = self.settle_probe(!news && una == before) | self.find_lost(smooth, now);
            }
            Reliability::Tcp(tcp) => {
                let by_report = tcp.recovery == Recovery::Sack;
                // RFC 6675 counts what reports something new, RFC 5681 what acknowledges nothing new.
                let duplicate = if by_report { news } else { una == before && self.next > una };
                self.count(before, duplicate, tcp, &mut heard);
            }
            _ => {}
        }
        let has = self.una + self.rare.reported.count;
        self.repair.reduction.iter_mut().for_each(|r| r.hear(has - had));
        heard
    }
    /// What has become of a probe (RFC 8985, 7.4): true if it repaired a loss, which an acknowledgement beyond it says.
    fn settle_probe(&mut self, nothing_new: bool) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        let Some((end, again)) = rack.probed.filter(|probed| self.una >= probed.0) else { return false };
        let repaired = again && self.una > end;
        if repaired || !again || nothing_new {
            rack.probed = None;
        }
        let found = repaired && self.repair.until.is_none();
        if found {
            self.repair.until = NonZeroU64::new(self.next.0);
            self.reduce();
        }
        found
    }
    /// RACK looks for lost frames, now and when the next may be one (RFC 8985, 6.2): true if a recovery begins.
    pub(crate) fn find_lost(&mut self, smooth: Ps, now: Ps) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        let sure = self.repair.until.is_some() || self.rare.reported.count >= DUPLICATES.into();
        let (before, mut look) = (self.rare.due.count, Ps(0));
        for frame in self.una.to(self.next) {
            let (at, overtaken) = rack.lost_at(frame, sure, smooth);
            // Frames that were sent once were started in order.
            if !overtaken && self.rare.again.count == 0 {
                break;
            }
            if overtaken && !self.rare.reported.has(frame) && !self.rare.due.has(frame) {
                if at <= now { _ = self.rare.due.enter(frame) } else { look = at.max(look) }
            }
        }
        rack.look = (look > Ps(0)).then_some(look);
        let begins = self.rare.due.count > before && self.repair.until.is_none();
        if begins {
            (self.repair.until, self.repair.urgent) = (NonZeroU64::new(self.next.0), true);
            self.reduce();
        }
        begins
    }
    /// Plans a probe for a flow that has sent new data, or of which some is acknowledged (RFC 8985, 7.2), before it times out.
    pub(crate) fn plan_probe(&mut self, (now, smooth): (Ps, Ps), delay: Ps, timeout: Ps) {
        let quiet = self.repair.until.is_none() && self.rare.reported.count == 0 && self.una < self.next;
        let delay = if self.next - self.una == 1 { delay } else { Ps(0) };
        if let Some(rack) = &mut self.rack {
            let wait = if smooth > Ps(0) { 2 * smooth + delay } else { Ps(1_000_000_000_000) };
            rack.probe = (quiet && rack.probed.is_none()).then(|| timeout.min(now + wait));
            rack.probing &= quiet;
        }
    }
    /// TCP counts a duplicate, or what is acknowledged since `before`.
    fn count(&mut self, before: FrameNo, duplicate: bool, tcp: &TcpSpec, heard: &mut Heard) {
        let (newly, by_report) = (self.una - before, tcp.recovery == Recovery::Sack);
        self.duplicates += u32::from(duplicate);
        if self.repair.until.is_some() {
            if by_report {
                self.lose_below(self.displaced());
            } else if newly > 0 {
                heard.more_of_it = std::mem::replace(&mut self.repair.in_part, true);
                self.repair.inflated += 1 - newly as i32;
                self.lose_below(self.una + 1);
                self.repair.urgent = true;
            } else {
                self.repair.inflated += i32::from(duplicate);
            }
            return;
        }
        let displaced = if by_report { self.displaced() } else { FrameNo(0) };
        let hears = !by_report && !self.is_deaf();
        if duplicate && !self.is_deaf() && (self.duplicates >= DUPLICATES || displaced > self.una) {
            self.begin(displaced.max(self.una + 1));
            (self.repair.urgent, heard.loss) = (true, true);
            self.repair.inflated = if by_report { 0 } else { self.duplicates as i32 };
        } else {
            self.repair.inflated = if hears && tcp.limited_transmit { self.duplicates as i32 } else { 0 };
        }
    }
    /// Nothing was acknowledged for so long that all that is not reported is lost.
    pub(crate) fn time_out(&mut self, by: &Reliability, (now, smooth): (Ps, Ps)) {
        self.forget();
        (self.duplicates, self.limited) = (0, 0);
        if let Some(rack) = &mut self.rack {
            // What was sent lately may come yet (RFC 8985, 6.3).
            let old = |f| f == self.una || rack.lost_at(f, false, smooth).0 <= now;
            let Rare { reported, due, .. } = &mut *self.rare;
            let lost = |f: &FrameNo| !reported.has(*f) && old(*f);
            self.una.to(self.next).filter(lost).for_each(|f| _ = due.enter(f));
            (rack.look, rack.probe, rack.probed, rack.probing) = (None, None, None, false);
            (self.repair.until, self.repair.urgent) = (NonZeroU64::new(self.next.0), true);
            return;
        }
        self.lose_below(self.next);
        let end = if let Reliability::Tcp(_) = by { &mut self.timed_out } else { &mut self.repair.until };
        *end = NonZeroU64::new(self.next.0);
    }
}
