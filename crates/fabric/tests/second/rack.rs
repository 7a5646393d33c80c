//! RACK and tail probes, as RFC 8985 tells them.

use crate::ends::{Answer, Source};

/// What a source with RACK knows of its frames, by number.
#[derive(Default)]
pub(crate) struct Rack {
    starts: Vec<u64>,
    again: Vec<bool>,
    pub(crate) lost: Vec<bool>,
    /// Start and number of the frame started last of those that have come, and its round trip.
    latest: (u64, u64),
    trip: u64,
    least: Option<u64>,
    /// Behind the last frame that has come.
    end: u64,
    reordered: bool,
    look: Option<u64>,
    probe: Option<u64>,
    /// SND.NXT as the last probe went, and whether that was sent before.
    probed: Option<(u64, bool)>,
    pub(crate) probing: bool,
    /// 0 where the destination does not wait.
    delay: u64,
}

impl Rack {
    pub(crate) fn new(n: u64, delay: u64) -> Self {
        let (starts, again, lost) = (vec![0; n as usize], vec![false; n as usize], vec![false; n as usize]);
        Self { starts, again, lost, delay, ..Self::default() }
    }
    /// Step 4: patience with frames that others overtake.
    fn patience(&self, sure: bool, smooth: u64) -> u64 {
        if sure && !self.reordered { 0 } else { (self.least.unwrap_or(0) / 4).min(smooth) }
    }
}

impl Source {
    /// When the next of its timers expires.
    pub(crate) fn wakes(&self) -> Option<u64> {
        let rack = self.rack.iter().flat_map(|r| [r.look, r.probe]);
        rack.chain([self.timer]).flatten().min()
    }
    /// What a timer does: a probe goes rather than that the flow times out.
    pub(crate) fn expires(&mut self, now: u64) {
        if let Some(rack) = self.rack.as_mut().filter(|r| r.probe == Some(now)) {
            (rack.probe, rack.probing) = (None, true);
            self.start_timer(now);
        }
        if self.rack.as_ref().is_some_and(|r| r.look == Some(now)) {
            self.detect(now);
        }
        if self.timer == Some(now) {
            self.times_out(now);
        }
    }
    /// A frame leaves that was sent before, or was not.
    pub(crate) fn rack_sends(&mut self, frame: u64, before: bool, now: u64) {
        let top = self.top;
        let Some(rack) = &mut self.rack else { return };
        let f = frame as usize;
        (rack.starts[f], rack.lost[f]) = (now, false);
        rack.again[f] |= before;
        if std::mem::take(&mut rack.probing) {
            rack.probed = Some((top, before));
        }
        if !before {
            self.plan_probe(now);
        }
    }
    /// 7.2: nothing is amiss, so that a probe may follow.
    pub(crate) fn plan_probe(&mut self, now: u64) {
        let quiet = self.recover.is_none() && self.una < self.top && self.highest() == 0;
        let (one, smooth, timer) = (self.top - self.una == 1, self.trip.map(|t| t.0), self.timer);
        let Some(rack) = self.rack.as_mut().filter(|_| self.probes) else { return };
        let wait = smooth.map_or(1_000_000_000_000, |s| 2 * s + if one { rack.delay } else { 0 });
        rack.probe =
            (quiet && rack.probed.is_none()).then(|| timer.map_or(now + wait, |t| t.min(now + wait)));
        rack.probing &= quiet;
    }
    /// An answer, with the frames that it tells of for the first time.
    pub(crate) fn by_rack(&mut self, answer: &Answer, newly: u64, mut later: Vec<u64>, now: u64) {
        let before = self.una - newly;
        later.sort_unstable();
        self.duplicates += u64::from(!later.is_empty());
        let sums: Vec<u64> =
            (before..self.una).filter(|f| !self.held[*f as usize]).chain(later.iter().copied()).collect();
        let rack = self.rack.as_mut().unwrap();
        rack.probing &= newly == 0;
        for f in sums {
            let (start, again) = (rack.starts[f as usize], rack.again[f as usize]);
            let trip = now - start;
            if !again {
                rack.least = Some(rack.least.map_or(trip, |l| l.min(trip)));
                rack.reordered |= f < rack.end;
            }
            rack.end = rack.end.max(f + 1);
            if (!again || rack.least.is_none_or(|l| trip >= l)) && (start, f) >= rack.latest {
                (rack.latest, rack.trip) = ((start, f), trip);
            }
        }
        if newly > 0 && self.recover.is_some_and(|end| self.una >= end) {
            self.ends_recovery();
        }
        let rack = self.rack.as_mut().unwrap();
        // 7.4: an acknowledgement beyond a probe says that this repaired a loss.
        let mut repaired = false;
        if let Some((end, again)) = rack.probed.filter(|p| self.una >= p.0) {
            repaired = again && self.una > end;
            if repaired || !again || newly == 0 && later.is_empty() && answer.next == self.una {
                rack.probed = None;
            }
        }
        if repaired && self.recover.is_none() {
            self.repairs();
        }
        self.detect(now);
    }
    /// Step 5: frames that were started before one that has come are lost in time.
    fn detect(&mut self, now: u64) {
        let smooth = self.trip.map_or(0, |t| t.0);
        let missing: Vec<u64> = self.missing(self.una, self.top).collect();
        let sure = self.recover.is_some() || self.top - self.una >= missing.len() as u64 + 3;
        let rack = self.rack.as_mut().unwrap();
        let (mut look, mut found) = (None, false);
        for f in missing {
            let start = rack.starts[f as usize];
            if (start, f) >= rack.latest || rack.lost[f as usize] {
                continue;
            }
            let at = start + rack.trip + rack.patience(sure, smooth);
            if at > now {
                look = look.max(Some(at));
            } else {
                (rack.lost[f as usize], found) = (true, true);
            }
        }
        rack.look = look;
        if found && self.recover.is_none() {
            self.repairs();
            self.due = true;
        }
    }
    /// 6.3: a timeout takes the first frame for lost, and those that are older than a round trip.
    pub(crate) fn rack_times_out(&mut self, now: u64) {
        let smooth = self.trip.map_or(0, |t| t.0);
        let una = self.una;
        let missing: Vec<u64> = self.missing(una, self.top).collect();
        let Some(rack) = &mut self.rack else { return };
        for f in missing {
            let old = rack.starts[f as usize] + rack.trip + rack.patience(false, smooth) <= now;
            rack.lost[f as usize] |= old || f == una;
        }
        (rack.look, rack.probe, rack.probed, rack.probing) = (None, None, None, false);
        (self.recover, self.due) = (Some(self.top), true);
    }
    /// The frame that goes next where so many bytes are the window, and new data may go or may not.
    pub(crate) fn rack_picks(&self, window: u64, limited: bool, free: bool) -> Option<u64> {
        let rack = self.rack.as_ref()?;
        let new = (free && self.next < self.n).then_some(self.next);
        if rack.probing {
            return new.or(self.top.checked_sub(1));
        }
        let first = self.missing(self.una, self.top).find(|f| rack.lost[*f as usize]);
        if self.due && first.is_some() {
            return first;
        }
        let by_pipe = limited || self.recover.is_some();
        let on_way = |f: &u64| !by_pipe || !self.held[*f as usize] && !rack.lost[*f as usize];
        let (pipe, frame) = ((self.una..self.top).filter(on_way).count() as u64, first.or(new)?);
        (pipe == 0 || self.fits(pipe, self.len(frame), window)).then_some(frame)
    }
}
