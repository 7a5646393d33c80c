//! TCP's window under losses by chance, by another hand and without a network: a round trip is 1, and frames take no time. It knows fast
//! retransmit, limited transmit, NewReno's partial acknowledgements (RFC 6582), SACK (RFC 6675), and a timeout that doubles.

use std::collections::{BTreeSet, VecDeque};

/// What a flow meets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ask {
    /// Chance that a frame is lost; and that an acknowledgement is, if that can happen.
    pub(crate) p: f64,
    pub(crate) acks_too: bool,
    /// A lost frame takes the later ones of its round with it.
    pub(crate) to_the_end: bool,
    /// Round trips.
    pub(crate) timeout: f64,
    pub(crate) sack: bool,
}

#[derive(Default)]
struct Flow {
    ask: Ask,
    draws: u64,
    now: f64,
    /// At the destination: next frame in order, those beyond it, and how many came.
    expected: u64,
    beyond: BTreeSet<u64>,
    came: u64,
    /// When acknowledgements arrive, with what they say.
    acks: VecDeque<(f64, u64, BTreeSet<u64>)>,
    /// Begin of a round, and whether the rest of it is lost.
    round: f64,
    losing: bool,
    sent: u64,
    una: u64,
    next: u64,
    lost_below: u64,
    sacked: BTreeSet<u64>,
    due: BTreeSet<u64>,
    again: BTreeSet<u64>,
    recover: Option<u64>,
    duplicates: i64,
    inflated: i64,
}

impl Flow {
    fn chance(&mut self) -> bool {
        self.draws = self.draws.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.draws;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64) < self.ask.p * (1_u64 << 53) as f64
    }
    fn send(&mut self, frame: u64) {
        self.sent += 1;
        if self.now > self.round + 0.999 {
            (self.round, self.losing) = (self.now, false);
        }
        let lost = self.losing || self.chance();
        self.losing = lost && self.ask.to_the_end;
        if lost {
            return;
        }
        self.came += u64::from(frame >= self.expected && self.beyond.insert(frame));
        while self.beyond.remove(&self.expected) {
            self.expected += 1;
        }
        if !(self.ask.acks_too && self.chance()) {
            self.acks.push_back((self.now + 1.0, self.expected, self.beyond.clone()));
        }
    }
    fn lose_below(&mut self, end: u64) {
        let end = end.min(self.next);
        let lost = |f: &u64| !self.sacked.contains(f) && !self.again.contains(f);
        self.due.extend((self.lost_below.max(self.una)..end).filter(lost));
        self.lost_below = self.lost_below.max(end);
    }
    fn forget(&mut self) {
        self.due.clear();
        self.again.clear();
        (self.lost_below, self.recover, self.inflated) = (self.una, None, 0);
    }
    /// The third frame from the end of those reported: what is below it is lost.
    fn displaced(&self) -> u64 {
        if self.ask.sack { self.sacked.iter().rev().nth(2).copied().unwrap_or(0) } else { 0 }
    }
    fn on_way(&self) -> i64 {
        let twice = self.again.range(self.lost_below..).count();
        (self.next - self.una) as i64 - (self.sacked.len() + self.due.len() - twice) as i64 - self.inflated
    }
}

/// Frames that come in a round trip, of a flow that sends so many.
pub(crate) fn rate(ask: Ask, frames: u64) -> f64 {
    let mut f = Flow { ask, round: -1.0, ..Flow::default() };
    let (mut window, mut threshold, mut deadline, mut backoff) = (10.0_f64, f64::INFINITY, f64::INFINITY, 0);
    let (mut urgent, mut in_part, mut limited, mut deaf) = (false, false, 0, None);
    while f.sent < frames {
        while urgent && !f.due.is_empty() || f.on_way() <= 0 || (f.on_way() + 1) as f64 <= window {
            urgent = false;
            let due = f.due.pop_first();
            due.iter().for_each(|frame| _ = f.again.insert(*frame));
            let frame = due.unwrap_or(f.next);
            f.next = f.next.max(frame + 1);
            limited += u64::from(due.is_none() && f.duplicates > 0 && f.recover.is_none() && deaf.is_none());
            f.send(frame);
            deadline = deadline.min(f.now + ask.timeout * f64::from(1 << backoff));
        }
        let flight = (f.next - f.una - limited) as f64;
        let Some((at, una, beyond)) = f.acks.front().filter(|ack| ack.0 <= deadline).cloned() else {
            (f.now, f.duplicates, limited, backoff) = (deadline, 0, 0, (backoff + 1).min(12));
            f.forget();
            f.lose_below(f.next);
            threshold = if deaf.is_none() { (flight / 2.0).max(2.0) } else { threshold };
            (window, deaf) = (1.0, Some(f.next));
            deadline = f.now + ask.timeout * f64::from(1 << backoff);
            continue;
        };
        f.acks.pop_front();
        (f.now, urgent) = (at, urgent && una == f.una);
        let newly = una - f.una;
        if newly > 0 {
            (f.una, f.duplicates, limited, backoff) = (una, 0, 0, 0);
            f.lost_below = f.lost_below.max(una);
            deaf = deaf.filter(|until| una < *until);
        }
        let news = ask.sack && !beyond.is_subset(&f.sacked);
        if ask.sack {
            f.sacked = beyond;
        }
        for set in [&mut f.due, &mut f.again] {
            set.retain(|frame| *frame >= una && !f.sacked.contains(frame));
        }
        let repaired = newly > 0 && f.recover.is_some_and(|until| una >= until);
        if repaired {
            f.forget();
        }
        let duplicate = if ask.sack { news } else { newly == 0 && f.next > una };
        f.duplicates += i64::from(duplicate);
        let displaced = f.displaced();
        let mut restarts = newly > 0;
        if f.recover.is_some() {
            if ask.sack {
                f.lose_below(displaced);
            } else if newly > 0 {
                restarts = !std::mem::replace(&mut in_part, true);
                (f.inflated, urgent) = (f.inflated + 1 - newly as i64, true);
                f.lose_below(una + 1);
            } else {
                f.inflated += 1;
            }
        } else if duplicate && deaf.is_none() && (f.duplicates >= 3 || displaced > una) {
            f.forget();
            f.lose_below(displaced.max(una + 1));
            (f.recover, urgent, in_part) = (Some(f.next), true, false);
            f.inflated = if ask.sack { 0 } else { f.duplicates };
            threshold = (flight / 2.0).max(2.0);
            window = threshold;
        } else {
            f.inflated = if ask.sack || deaf.is_some() { 0 } else { f.duplicates };
            if newly > 0 && !repaired {
                window += if window < threshold { 1.0 } else { 1.0 / window };
            }
        }
        if restarts {
            deadline = if f.una == f.next { f64::INFINITY } else { at + ask.timeout };
        }
    }
    f.came as f64 / f.now
}
