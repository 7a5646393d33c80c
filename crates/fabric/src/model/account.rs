//! Where the time of finite flows goes at their source.
//!
//! From its start to the end of its last frame each picosecond of a flow is one part's ([`SourcePart`]). While a limiter's gap runs that is
//! the gap's, whatever else holds the flow back; then XOFF comes before the turns of others. What is not yet given to a part begins at
//! `given`: the end of its last frame, or what happened to it since. A frame that may be the last to arrive takes along what was spent
//! until it began.

use super::frame::Pause;
use super::transfers::FlowQueue;
use crate::check::Spent;
use crate::outcome::SourcePart;
use crate::tx_rate::TxRate;

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// All before is given to parts.
    given: u64,
    spent: Spent,
    /// Its connection is not open.
    opening: bool,
    /// Its last frame has gone: what it waits for from now on is a loss.
    whole: bool,
}

impl Account {
    fn give(&mut self, part: SourcePart, until: u64) {
        self.spent[part as usize] += until.saturating_sub(self.given);
        self.given = self.given.max(until);
    }
}

/// The accounts of a host's finite flows, by their places ([`FlowQueue::place`]).
#[derive(Debug)]
pub(crate) struct Accounts {
    flows: Vec<Account>,
    /// When its transmitter was in XOFF, and from when on it is.
    stops: Vec<(u64, u64)>,
    stopped: Option<u64>,
    tx: TxRate,
    /// Frames of a flow may overtake each other: any may be the last.
    any: bool,
    last: usize,
    /// What the frame takes along that goes next.
    pub(super) leaving: Option<Spent>,
}

impl Accounts {
    /// None yet, of a host with such a link, whose frames may overtake each other (`any`).
    pub(super) fn new(tx: TxRate, any: bool) -> Self {
        Self { flows: Vec::new(), stops: Vec::new(), stopped: None, tx, any, last: 0, leaving: None }
    }
    /// The next flow begins, and may have to open a connection.
    pub(super) fn begin(&mut self, opening: bool, now: u64) {
        self.flows.push(Account { given: now, opening, ..Account::default() });
    }
    /// The transmitter hears XOFF or XON.
    pub(super) fn hear(&mut self, pause: Pause, now: u64) {
        if pause.off {
            self.stopped = self.stopped.or(Some(now));
        } else {
            self.stops.extend(self.stopped.take().map(|from| (from, now)));
        }
    }
    /// A flow has waited until now: for its limiter, which let it go at `freed`, for XON, and for its turn.
    pub(super) fn wait(&mut self, flow: &FlowQueue, freed: u64, now: u64) {
        let account = &mut self.flows[flow.place as usize - 1];
        account.give(SourcePart::Gap, freed.min(now));
        let from = account.given;
        if from < now {
            // Most have waited for none of the last times in XOFF.
            let late = self.stops.iter().rev().take_while(|span| span.1 > from);
            let stopped = self.stopped.map_or(0, |at| now.saturating_sub(at.max(from)));
            let stopped = late.fold(stopped, |sum, span| sum + span.1.min(now) - span.0.max(from));
            account.spent[SourcePart::Xoff as usize] += stopped;
            account.spent[SourcePart::Turn as usize] += now - from - stopped;
            account.given = now;
        }
    }
    /// A flow, of which so many bytes are left, sends a frame of this length.
    pub(super) fn go(&mut self, flow: &FlowQueue, freed: u64, len: u16, now: u64) {
        self.wait(flow, freed, now);
        self.last = flow.place as usize - 1;
        let (account, end) = (&mut self.flows[self.last], now + self.tx.time(len));
        account.whole |= flow.bytes <= flow.whole.into();
        if self.any || flow.bytes <= flow.whole.into() {
            self.leaving = Some(account.spent);
        }
        account.give(SourcePart::Sending, end);
    }
    /// The frame that goes was sent before.
    pub(super) fn again(&mut self, len: u16) {
        let (spent, time) = (&mut self.flows[self.last].spent, self.tx.time(len));
        spent[SourcePart::Sending as usize] -= time;
        self.leaving = Some(*spent);
        spent[SourcePart::Again as usize] += time;
    }
    /// The limiter at the source has let a flow's next frame go.
    pub(super) fn let_go(&mut self, place: u32, now: u64) {
        self.flows[place as usize - 1].give(SourcePart::Gap, now);
    }
    /// A flow has waited for an acknowledgement until now: that opens its window, or a loss is found (`lost`).
    pub(super) fn resume(&mut self, place: u32, lost: bool, now: u64) {
        let account = &mut self.flows[place as usize - 1];
        let part = match (account.opening, lost || account.whole) {
            (true, _) => SourcePart::Opening,
            (false, true) => SourcePart::Again,
            (false, false) => SourcePart::Window,
        };
        account.give(part, now);
        account.opening &= lost;
    }
}
