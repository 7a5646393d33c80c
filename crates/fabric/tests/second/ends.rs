//! The ends of a queue pair, as the documents tell them: go-back-N, selective repeat, and TCP by RFCs 5681, 6298, 3042, 6582 and 6675.
//! Frames have numbers from 0; times are in ps.

use crate::rack::Rack;
use crate::reno::Reno;
use cnsim_fabric::*;
use std::collections::BTreeSet;

/// What an acknowledgement says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The first frame that has not come.
    pub(crate) next: u64,
    /// Later frames that have come: by selective repeat the one that came, by TCP all.
    pub(crate) later: Vec<u64>,
    pub(crate) nack: bool,
    pub(crate) marked: bool,
    /// When the frame left that the round trip is counted from.
    pub(crate) left: u64,
}

/// The destination's end.
#[derive(Default)]
pub(crate) struct Sink {
    pub(crate) next: u64,
    /// Frames that came out of order.
    held: BTreeSet<u64>,
    /// Frames of their runs, as they were reported: the last first.
    runs: Vec<u64>,
    /// Since when the first missing frame is that.
    since: u64,
    /// Frames in order since the last answer.
    waiting: u64,
    /// What the last answer said, and when a NACK said so.
    answered: u64,
    nacked: Option<(u64, u64)>,
    left: u64,
    /// The frame that came was marked, or by RFC 3168 a mark is echoed.
    echo: bool,
    /// An answer that waits goes then.
    pub(crate) timer: Option<u64>,
    pub(crate) whole: bool,
}

impl Sink {
    pub(crate) fn is_new(&self, of: &TransportSpec, frame: u64) -> bool {
        let any = !matches!(of.reliability, Reliability::GoBackN { .. });
        frame == self.next || any && frame > self.next && !self.held.contains(&frame)
    }

    /// A frame of a flow of `n` has come: the answer, if one goes at once.
    pub(crate) fn take(
        &mut self,
        of: &TransportSpec,
        n: u64,
        (frame, marked, cut): (u64, bool, bool),
        (left, now): (u64, u64),
    ) -> Option<Answer> {
        let classic = is_classic(of);
        self.echo = if classic { marked && frame >= self.next || self.echo && !cut } else { marked };
        // The round trip is that of the first frame that waits, or of one before that came again; else of the frame that came.
        if frame <= self.answered || self.waiting == 0 {
            self.left = left;
        }
        let known = frame < self.next || self.held.contains(&frame);
        let (in_order, had_gap) = (frame == self.next, !self.held.is_empty());
        if in_order {
            self.next += 1;
            while self.held.remove(&self.next) {
                self.next += 1;
            }
            (self.waiting, self.since) = (self.waiting + 1, now);
        }
        self.whole = self.next == n;
        let due = self.whole || self.waiting >= u64::from(of.ack_every) || marked && !classic;
        match of.reliability {
            Reliability::GoBackN { .. } if in_order => return due.then(|| self.answer()),
            // What has come before is acknowledged again.
            Reliability::GoBackN { .. } if known => {
                return Some(Answer { next: self.next, marked, ..Answer::default() });
            }
            Reliability::GoBackN { nack_interval, .. } => {
                let again = |(of, at): (u64, u64)| of == self.next && now - at < nack_interval.as_ps();
                if self.nacked.is_some_and(again) {
                    return None;
                }
                self.nacked = Some((self.next, now));
                return Some(Answer { next: self.next, nack: true, marked, ..Answer::default() });
            }
            _ => {}
        }
        if !known && !in_order {
            self.since = if had_gap { self.since } else { now };
            self.held.insert(frame);
        }
        if in_order && !had_gap && !due {
            if let Reliability::Tcp(tcp) = of.reliability
                && tcp.ack_delay.as_ps() > 0
            {
                self.timer = self.timer.or(Some(now + tcp.ack_delay.as_ps()));
            }
            return None;
        }
        let (mut later, mut nack) = (Vec::new(), false);
        match of.reliability {
            Reliability::Selective(s) if self.held.contains(&frame) => {
                later.push(frame);
                let told = self.held.len() >= s.gap_frames as usize && now - self.since >= s.gap_time.as_ps();
                nack = told && !known;
            }
            Reliability::Tcp(_) => later = self.report(frame),
            _ => {}
        }
        Some(Answer { later, nack, ..self.answer() })
    }

    /// RFC 2018: the run of frames around the one that came, and those that were reported before, three at most.
    fn report(&mut self, came: u64) -> Vec<u64> {
        self.runs.insert(0, came);
        let (mut all, mut runs) = (Vec::new(), Vec::new());
        for &of in &self.runs {
            if self.held.contains(&of) && !all.contains(&of) {
                let from = (0..=of).rev().take_while(|f| self.held.contains(f)).last().unwrap();
                let run = (from..).take_while(|f| self.held.contains(f));
                all.extend(run);
                runs.push((of, all.len()));
            }
        }
        all.truncate(runs.get(2).map_or(all.len(), |run| run.1));
        self.runs = runs.into_iter().map(|run| run.0).collect();
        all
    }

    /// An answer without a report.
    pub(crate) fn answer(&mut self) -> Answer {
        (self.answered, self.waiting, self.timer) = (self.next, 0, None);
        Answer { next: self.next, marked: self.echo, left: self.left, ..Answer::default() }
    }
}

/// Does a mark come back as RFC 3168 has it?
pub(crate) fn is_classic(of: &TransportSpec) -> bool {
    matches!(of.reliability, Reliability::Tcp(TcpSpec { classic_ecn: true, .. }))
}

/// RFC 6937, in frames: a recovery sends in proportion to what is delivered.
pub(crate) struct Reduction {
    /// RecoverFS, prr_delivered, prr_out, what the last answer delivered, and prr_out as it came.
    flight: u64,
    delivered: u64,
    out: u64,
    last: u64,
    out_then: u64,
}

impl Reduction {
    /// May a frame more go, with so many on their way and this window?
    fn lets_go(&self, inside: u64, window: u64, frame: u64) -> bool {
        let (since, before) = (self.out - self.out_then, self.out_then);
        let pipe = inside.saturating_sub(since);
        let count = if pipe * frame > window {
            (self.delivered * window).div_ceil(self.flight * frame).saturating_sub(before)
        } else {
            (window / frame - pipe).min(self.delivered.saturating_sub(before).max(self.last) + 1)
        };
        count > since
    }
}

/// The source's end.
#[derive(Default)]
pub(crate) struct Source {
    of: Option<TransportSpec>,
    bytes: u64,
    pub(crate) frame: u64,
    pub(crate) n: u64,
    /// The first frame that is not acknowledged, the next in turn, and the first that was never sent.
    pub(crate) una: u64,
    pub(crate) next: u64,
    pub(crate) top: u64,
    /// Frames beyond `una` that are reported.
    pub(crate) held: Vec<bool>,
    /// Frames below were sent again since the recovery began, or were reported (HighRxt).
    again: u64,
    /// Frames below are lost, as a timeout said.
    lost_below: u64,
    /// Recovery ends there.
    pub(crate) recover: Option<u64>,
    /// After a timeout none begins before this is passed.
    barrier: Option<u64>,
    pub(crate) duplicates: u64,
    inflation: i64,
    /// The first frame goes again before all else.
    pub(crate) due: bool,
    rescued: bool,
    partial: bool,
    /// New frames that went by limited transmit.
    pub(crate) limited: u64,
    pub(crate) trip: Option<(u64, u64)>,
    rto: u64,
    pub(crate) timer: Option<u64>,
    pub(crate) reno: Option<Reno>,
    pub(crate) rack: Option<Rack>,
    reduction: Option<Reduction>,
    /// Its connection is not open, and a frame is to go that opens it.
    pub(crate) opening: bool,
    pub(crate) syn: bool,
    /// By RFC 3168: marks tell nothing new until more is acknowledged; the next new frame tells of a cut; and all waits for the timer.
    heeded: Option<u64>,
    pub(crate) tells: bool,
    waits: bool,
    pub(crate) heard_mark: bool,
    pub(crate) probes: bool,
    pub(crate) out: TransportOutcome,
    pub(crate) log: Vec<String>,
}

impl Source {
    pub(crate) fn new(of: &TransportSpec, bytes: u64, frame: u64, reno: Option<Reno>) -> Self {
        let n = bytes.div_ceil(frame);
        let rto = match of.reliability {
            Reliability::GoBackN { rto, .. } => rto,
            Reliability::Tcp(tcp) => tcp.rto_first,
            _ => cnsim_scheme_api::Time::ZERO,
        };
        let held = vec![false; n as usize + 1];
        let mut by_time = (None, false);
        if let Reliability::Tcp(TcpSpec { recovery: Recovery::Rack, probe, ack_delay, .. }) = of.reliability {
            let delay = if of.ack_every > 1 { ack_delay.as_ps() } else { 0 };
            by_time = (Some(Rack::new(n, delay)), probe);
        }
        Self {
            rack: by_time.0,
            probes: by_time.1,
            of: Some(*of),
            bytes,
            frame,
            n,
            held,
            rto: rto.as_ps(),
            reno,
            ..Self::default()
        }
    }

    pub(crate) fn len(&self, frame: u64) -> u64 {
        (self.bytes - frame * self.frame).min(self.frame)
    }
    fn until(&self, frame: u64) -> u64 {
        (frame * self.frame).min(self.bytes)
    }
    fn reliability(&self) -> Reliability {
        self.of.unwrap().reliability
    }
    fn window(&self) -> u64 {
        let fixed = if let Window::Fixed(window) = self.of.unwrap().window { window.get() } else { u64::MAX };
        self.reno.as_ref().map_or(fixed, |r| r.window)
    }
    fn is_held(&self, frame: u64) -> bool {
        self.held[frame as usize]
    }
    pub(crate) fn highest(&self) -> u64 {
        (self.una..self.top).rev().find(|f| self.is_held(*f)).unwrap_or(0)
    }
    pub(crate) fn missing(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = u64> + '_ {
        (from.max(self.una)..to.min(self.top)).filter(|f| !self.is_held(*f))
    }
    /// No loss is being repaired, and what a timeout sends again has come.
    fn is_open(&self) -> bool {
        self.recover.is_none() && self.barrier.is_none_or(|b| self.una > b)
    }
    /// A loss is found without a timeout, and its repair begins.
    pub(crate) fn repairs(&mut self) {
        self.out.recoveries += 1;
        self.finds_loss(false);
        (self.recover, self.again) = (Some(self.top), self.una);
        let reduces = matches!(self.reliability(), Reliability::Tcp(TcpSpec { proportional: true, .. }));
        let flight = (self.top - self.una).max(1);
        let new = Reduction { flight, delivered: 0, out: 0, last: 0, out_then: 0 };
        self.reduction = reduces.then_some(new);
    }
    /// RFC 6675: three frames above it are reported; or a timeout says so.
    fn is_lost(&self, frame: u64) -> bool {
        frame < self.lost_below || (frame + 1..self.top).filter(|f| self.is_held(*f)).count() >= 3
    }
    /// Frames on their way. Reports tell of no loss while nothing is repaired by them.
    fn pipe(&self) -> u64 {
        let lost = |f| f < self.lost_below || self.recover.is_some() && self.is_lost(f);
        let copies = |f| u64::from(!lost(f)) + u64::from(f < self.again);
        self.missing(self.una, self.top).map(copies).sum()
    }

    /// The frame that may go now, and whether it goes as a rescue.
    pub(crate) fn may_send(&self) -> Option<(u64, bool)> {
        let old = |frame: u64| (frame, false);
        let new = |ok: bool| (ok && self.next < self.n).then_some(old(self.next));
        match self.reliability() {
            _ if self.waits || self.opening => None,
            Reliability::None => None,
            Reliability::GoBackN { .. } => new(self.until(self.next) - self.until(self.una) < self.window()),
            Reliability::Selective(_) => {
                let most = self.lost_below;
                let again = self.recover.and_then(|_| self.missing(self.again, most).next());
                let fits = self.until(self.next) - self.until(self.una) < self.window();
                again.map(old).or(new(fits))
            }
            Reliability::Tcp(_) if self.due && self.rack.is_none() => Some(old(self.una)),
            Reliability::Tcp(tcp) => {
                let (window, una) = (self.window(), self.until(self.una));
                let free =
                    self.until(self.next + 1) - una <= tcp.receive_window.map_or(u64::MAX, |w| w.get());
                let limited = if tcp.limited_transmit && self.is_open() { self.duplicates.min(2) } else { 0 };
                if tcp.recovery == Recovery::Rack {
                    return self.rack_picks(window, tcp.limited_transmit, free).map(old);
                }
                if tcp.recovery == Recovery::NewReno {
                    let more = self.inflation + limited as i64;
                    let window = window.saturating_add_signed(more * self.frame as i64);
                    return new(free && (self.next == self.una || self.until(self.next + 1) - una <= window));
                }
                let by_pipe = self.recover.is_some() || self.una < self.lost_below || tcp.limited_transmit;
                let inside = if by_pipe { self.pipe() } else { self.next - self.una };
                let (highest, repairs) = (self.highest(), self.recover.is_some());
                let lost = |f: &u64| *f < self.lost_below || repairs && self.is_lost(*f);
                let first = self.missing(self.again, highest.max(self.lost_below)).find(lost);
                let doubtful = self.missing(self.again, highest).next().filter(|_| repairs);
                let last = self.missing(self.una, self.top).next_back();
                let rescue = last.filter(|_| repairs && !self.rescued).map(|f| (f, true));
                let picked = first.map(old).or(new(free)).or(doubtful.map(old)).or(rescue)?;
                // In recovery a whole frame has room, or none goes.
                let len = if repairs { self.frame } else { self.len(picked.0) };
                (inside == 0 || self.fits(inside, len, window)).then_some(picked)
            }
        }
    }

    /// Has the window room for a frame of this length, with so many on their way?
    pub(crate) fn fits(&self, inside: u64, len: u64, window: u64) -> bool {
        let whole = inside * self.frame + len <= window;
        self.reduction.as_ref().map_or(whole, |r| r.lets_go(inside, window, self.frame))
    }

    /// A frame begins to leave.
    pub(crate) fn sends(&mut self, frame: u64, rescue: bool, now: u64) {
        let before = frame < self.top;
        if before {
            self.out.resent += 1;
            self.out.resent_bytes += self.len(frame);
        } else if self.duplicates > 0
            && self.is_open()
            && self.until(self.next + 1) - self.until(self.una) > self.window()
        {
            self.limited += 1;
        }
        let by_map = matches!(
            self.reliability(),
            Reliability::Selective(_) | Reliability::Tcp(TcpSpec { recovery: Recovery::Sack, .. })
        );
        if rescue {
            self.rescued = true;
        } else if by_map && before {
            self.again = self.again.max(frame + 1);
        }
        if !std::mem::take(&mut self.due) && frame == self.next || self.rack.is_some() && !before {
            self.next += 1;
        }
        self.top = self.top.max(self.next);
        if self.timer.is_none() {
            self.start_timer(now);
        }
        self.reduction.iter_mut().for_each(|r| r.out += 1);
        self.rack_sends(frame, before, now);
    }

    pub(crate) fn start_timer(&mut self, now: u64) {
        self.timer = (self.una < self.n).then(|| match self.reliability() {
            Reliability::Selective(s) => {
                let few = self.top - self.una < s.few.into();
                now + if few { s.rto_low } else { s.rto_high }.as_ps()
            }
            Reliability::Tcp(tcp) => match tcp.quantum.as_ps() {
                0 => now + self.rto,
                tick => (now + self.rto).div_ceil(tick) * tick,
            },
            _ => now + self.rto,
        });
    }

    /// RFC 6298.
    fn sample(&mut self, tcp: &TcpSpec, trip: u64) {
        let (mean, varies) = match self.trip {
            None => (trip, trip / 2),
            Some((mean, varies)) => ((7 * mean + trip) / 8, (3 * varies + mean.abs_diff(trip)) / 4),
        };
        self.trip = Some((mean, varies));
        let rto = mean + (4 * varies).max(tcp.quantum.as_ps());
        self.rto = rto.max(tcp.rto_min.as_ps()).min(tcp.rto_max.as_ps());
    }

    fn outstanding(&self) -> u64 {
        self.until(self.top - self.limited.min(self.top - self.una)) - self.until(self.una)
    }

    pub(crate) fn finds_loss(&mut self, timeout: bool) {
        let at = (self.until(self.una), self.until(self.top));
        let outstanding = self.outstanding();
        (self.heeded, self.tells) = (Some(at.1), true);
        if let Some(reno) = &mut self.reno {
            reno.loss(self.frame, timeout, outstanding, at);
            self.log.push(format!("timeout: {timeout}"));
        }
    }

    /// The connection is open.
    pub(crate) fn opens(&mut self, left: u64, now: u64) {
        if let (true, Reliability::Tcp(tcp)) = (std::mem::take(&mut self.opening), self.reliability()) {
            self.sample(&tcp, now - left);
            self.timer = None;
        }
    }

    pub(crate) fn ends_recovery(&mut self) {
        (self.recover, self.reduction) = (None, None);
    }

    /// Frames that have come.
    fn come(&self) -> u64 {
        self.una + (self.una..self.top).filter(|f| self.is_held(*f)).count() as u64
    }

    pub(crate) fn hears(&mut self, answer: &Answer, now: u64) {
        if self.una >= self.n {
            return;
        }
        let come = self.come();
        let newly = answer.next.saturating_sub(self.una);
        self.out.acks += 1;
        self.out.nacks += u64::from(answer.nack);
        let bytes = self.until(answer.next.max(self.una)) - self.until(self.una);
        self.out.acked += bytes;
        let mut told = answer.later.clone();
        told.retain(|f| *f >= self.una && !std::mem::replace(&mut self.held[*f as usize], true));
        let news = !told.is_empty();
        let stale = answer.next < self.una;
        if newly > 0 {
            self.una = answer.next;
            self.next = self.next.max(self.una);
        }
        let (mut restart, found) = (newly > 0, self.out.recoveries);
        if let (true, Reliability::Tcp(tcp)) = (restart, self.reliability()) {
            self.sample(&tcp, now - answer.left);
            (self.duplicates, self.limited, self.due) = (0, 0, false);
        }
        let (acked, window, outstanding) = (self.until(self.una), self.window(), self.outstanding());
        match self.reliability() {
            Reliability::GoBackN { .. } if answer.nack && !stale && self.next > self.una => {
                self.out.recoveries += 1;
                self.next = self.una;
                self.finds_loss(false);
            }
            Reliability::Selective(_) => {
                if self.recover.is_some_and(|r| self.una >= r) {
                    (self.recover, self.lost_below) = (None, 0);
                }
                if answer.nack && self.recover.is_none() && self.una < self.n {
                    self.repairs();
                }
                if answer.nack {
                    self.lost_below = self.lost_below.max(self.highest());
                }
            }
            Reliability::Tcp(_) if self.rack.is_some() => self.by_rack(answer, newly, told, now),
            Reliability::Tcp(tcp) => restart = self.by_tcp(&tcp, answer, newly, news),
            _ => {}
        }
        let new = self.come() - come;
        if let Some(r) = self.reduction.as_mut() {
            (r.delivered, r.last, r.out_then) = (r.delivered + new, new, r.out);
        }
        let mut marked = answer.marked;
        if is_classic(&self.of.unwrap()) && marked {
            marked = found == self.out.recoveries && self.heeded.is_none_or(|upto| acked > upto);
            if marked {
                (self.heeded, self.tells) = (Some(self.until(self.top)), true);
                (self.heard_mark, self.waits) = (true, self.waits || window <= self.frame);
                restart |= self.waits;
            }
        }
        if let Some(reno) = self.reno.as_mut().filter(|_| newly > 0 || marked) {
            // A loss that was found has cut the window: what is acknowledged with it lets that not grow.
            reno.ack(
                self.frame,
                (acked, bytes),
                marked,
                (outstanding, (self.top * self.frame).min(self.bytes)),
            );
            self.log.push(format!("acked {acked} more {bytes} marked {marked}"));
        }
        if self.una >= self.n {
            (self.timer, self.rack) = (None, None);
        } else if restart {
            self.timer = None;
            // By go-back-N time runs from the last acknowledgement on, whatever is on its way.
            if self.una < self.top || self.waits || matches!(self.reliability(), Reliability::GoBackN { .. })
            {
                self.start_timer(now);
            }
        }
        self.plan_probe(now);
    }

    /// Whether the timer starts anew.
    fn by_tcp(&mut self, tcp: &TcpSpec, answer: &Answer, newly: u64, news: bool) -> bool {
        let sack = tcp.recovery == Recovery::Sack;
        let mut restart = newly > 0;
        if newly > 0 {
            match self.recover {
                Some(end) if self.una >= end => {
                    (self.inflation, self.again) = (0, 0);
                    self.ends_recovery();
                }
                Some(_) if !sack => {
                    self.due = true;
                    self.inflation += 1 - newly as i64;
                    restart = !std::mem::replace(&mut self.partial, true);
                }
                _ => {}
            }
        }
        // RFC 6675 counts what reports something new, RFC 5681 what acknowledges nothing new.
        let duplicate =
            if sack { news } else { newly == 0 && answer.next == self.una && self.una < self.top };
        if !duplicate {
            return restart;
        }
        self.duplicates += 1;
        if self.recover.is_some() {
            self.inflation += i64::from(!sack);
        } else if (self.duplicates == 3 || sack && (self.duplicates > 3 || self.is_lost(self.una)))
            && self.is_open()
            && self.una >= self.lost_below
        {
            self.repairs();
            (self.due, self.rescued, self.partial) = (true, false, false);
            self.inflation = if sack { 0 } else { 3 };
        }
        restart
    }

    /// The timer expires.
    pub(crate) fn times_out(&mut self, now: u64) {
        if std::mem::take(&mut self.waits) && self.una == self.top {
            self.timer = None;
            return;
        }
        self.out.timeouts += 1;
        if let (true, Reliability::Tcp(tcp)) = (self.opening, self.reliability()) {
            (self.syn, self.rto) = (true, (2 * self.rto).min(tcp.rto_max.as_ps()));
            return self.start_timer(now);
        }
        (self.limited, self.reduction) = (0, None);
        self.finds_loss(true);
        match self.reliability() {
            Reliability::Selective(_) => {
                (self.recover, self.lost_below, self.again) = (Some(self.top), self.top, self.una)
            }
            Reliability::Tcp(tcp) => {
                (self.recover, self.duplicates, self.inflation, self.due) = (None, 0, 0, false);
                (self.barrier, self.again) = (Some(self.top), self.una);
                self.rto = (2 * self.rto).min(tcp.rto_max.as_ps());
                if tcp.recovery == Recovery::Sack {
                    self.lost_below = self.top;
                } else if tcp.recovery == Recovery::Rack {
                    self.barrier = None;
                    self.rack_times_out(now);
                } else {
                    self.next = self.una;
                }
            }
            // What has not begun anew cannot be lost.
            _ if self.next == self.una => {
                (self.timer, self.out.timeouts) = (None, self.out.timeouts - 1);
                return;
            }
            _ => self.next = self.una,
        }
        self.start_timer(now);
    }
}
