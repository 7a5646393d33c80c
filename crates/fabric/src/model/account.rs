//! Where the time of finite flows goes at their source.
//!
//! From its start to the end of its last frame each picosecond of a flow is one part's ([`SourcePart`]). While a limiter's gap runs that is
//! the gap's, whatever else holds the flow back; then XOFF comes before the turns of others. What is not yet given to a part begins at
//! `given`: the end of its last frame, or what happened to it since. A frame that may be the last to arrive takes along what was spent
//! until it began.
//!
//! What lowers the rate or the window of a flow is a cut ([`Cut`]). While a gap of the limiter runs or the window is closed, the flow waits
//! for the last cut before. Of each flow the cuts that cost most are kept, and the sums of all by cause.

use super::agenda::Moment;
use super::frame::Pause;
use super::port::line;
use super::transfers::FlowQueue;
use crate::check::{History, Spent, Told};
use crate::net::{NEVER, Net, Ps};
use crate::outcome::{Cut, FlowEvent, SourcePart, Trigger};
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{FlowId, Loss, NodeId, Rate, Time};
use std::collections::BTreeMap;

/// Why a reaction point is woken: the cause, the port of the queue that it is about by its number and one (0: none), and the round trip
/// that an acknowledgement ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Why {
    pub(super) by: Trigger,
    pub(super) port: u32,
    pub(super) rtt: Option<Time>,
}

impl Why {
    /// A cause that is about no port.
    pub(super) fn of(by: Trigger) -> Self {
        Self { by, port: 0, rtt: None }
    }
    /// A loss is known; its port is known at the end of the run.
    pub(super) fn of_loss(loss: Loss) -> Self {
        Self::of(if loss == Loss::Timeout { Trigger::Timeout } else { Trigger::Loss })
    }
}

/// Most events of named flows that are kept of a host.
const MOST_EVENTS: usize = 100_000;

#[derive(Debug, Default)]
struct Account {
    /// Its destination, and its number as frames have it.
    dst: u32,
    number: u16,
    pair: Option<FlowId>,
    /// The last mark or message since its last cut, with its port by number and one.
    told: Option<(Trigger, u32)>,
    history: Option<Box<History>>,
    /// All before is given to parts.
    given: Ps,
    spent: Spent,
    /// Its connection is not open.
    opening: bool,
    /// Its last frame has gone: what it waits for from now on is a loss.
    whole: bool,
}

impl Account {
    fn give(&mut self, part: SourcePart, until: Ps) {
        let time = until.saturating_sub(self.given);
        self.spent[part as usize] += time;
        self.given = self.given.max(until);
        if let (SourcePart::Gap | SourcePart::Window, Some(history)) = (part, &mut self.history) {
            history.wait(time);
        }
    }
    /// What happened has lowered its rate or window. A scheme may act on an earlier mark or message.
    fn cut(&mut self, mut event: FlowEvent, net: &Net) {
        if let (Some((by, port)), Trigger::Answer | Trigger::Timer) = (self.told.take(), event.by) {
            (event.by, event.port) = (by, net.port_at(port));
        }
        self.history.get_or_insert_default().add(Cut { event, cost: Time::ZERO });
    }
}

/// The accounts of a host's finite flows, by their places ([`FlowQueue::place`]).
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    host: u32,
    flows: Vec<Account>,
    /// Places of those that may send frames for the first time.
    live: Vec<usize>,
    /// Destinations of the flows whose events are kept, and these.
    named: Vec<u32>,
    told: Told,
    /// When its transmitter was in XOFF, and from when on it is.
    stops: Vec<(Ps, Ps)>,
    stopped: Option<Ps>,
    tx: TxRate,
    /// Frames of a flow may overtake each other: any may be the last.
    any: bool,
    last: usize,
    /// What the frame takes along that goes next.
    pub(super) leaving: Option<Spent>,
}

impl Accounts {
    /// None yet, of a host.
    pub(super) fn new(net: &Net, host: u32) -> Self {
        let (tx, any) = (line(net, host).tx, net.routes.routing.is_by_frame());
        let named = net.record.flow_events.iter().filter(|flow| flow.0.0 == host).map(|flow| flow.1.0);
        Self { host, named: named.collect(), tx, any, ..Self::default() }
    }
    /// The next flow begins, and may have to open a connection.
    pub(super) fn begin(&mut self, flow: &FlowQueue, opening: bool, now: Ps) {
        self.live.push(self.flows.len());
        let &FlowQueue { dst, number, pair, .. } = flow;
        self.flows.push(Account { dst, number, pair, given: now, opening, ..Account::default() });
    }
    /// Are events of some flows kept?
    #[inline]
    pub(super) fn asked(&self) -> bool {
        !self.named.is_empty()
    }
    /// Something has happened to the flow of a queue pair, which has a place, a window and bytes in flight; or to all flows to a
    /// destination, or to all. They may send at this rate now, which it `lowers` or not.
    pub(super) fn tell(
        &mut self,
        (dst, flow): (Option<u32>, Option<FlowId>),
        (rate, pair): (Rate, Option<(u32, u64, u64)>),
        why: Why,
        lowers: bool,
        at: Moment<'_>,
    ) {
        let (src, window) = (NodeId(self.host), pair.map(|pair| pair.1).filter(|w| *w < u64::MAX >> 1));
        let event = |dst: u32| FlowEvent {
            at: at.now.time(),
            flow: (src, NodeId(dst)),
            number: flow.and_then(|flow| Some(at.net.flows.numbered(flow)?.number)),
            by: why.by,
            port: at.net.port_at(why.port),
            rate,
            window,
            in_flight: pair.map(|pair| pair.2),
            rtt: why.rtt,
        };
        let Self { flows, live, named, told, .. } = self;
        let tells = matches!(why.by, Trigger::Mark | Trigger::Message);
        let shared = if pair.is_none() && (lowers || tells) { &live[..] } else { &[] };
        for place in shared.iter().copied().chain(pair.map(|pair| pair.0 as usize - 1)) {
            let account = &mut flows[place];
            if dst.is_some_and(|dst| dst != account.dst) {
                continue;
            }
            if tells && (why.port > 0 || account.told.is_none()) {
                account.told = Some((why.by, why.port));
            }
            if lowers && why.by != Trigger::Recovery {
                account.cut(event(account.dst), at.net);
            }
        }
        // What an acknowledgement does is told once, behind it.
        if why.rtt.is_none() || !lowers {
            for dst in named.iter().filter(|named| dst.is_none_or(|dst| dst == **named)) {
                told.keep(event(*dst), MOST_EVENTS);
            }
        }
    }
    /// Ends the run: what was told, with the histories of flows by destination and number among those to it.
    pub(super) fn close(self) -> Told {
        let (mut told, mut rounds) = (self.told, BTreeMap::new());
        for Account { dst, number, pair, history, .. } in self.flows {
            let round = rounds.entry((dst, number)).or_insert(0);
            let nth = u32::from(number) + (*round << 16);
            *round += 1;
            told.histories.extend(history.map(|history| (pair, (dst, nth), *history)));
        }
        told
    }
    /// The transmitter hears XOFF or XON.
    pub(super) fn hear(&mut self, pause: Pause, now: Ps) {
        if pause.off {
            self.stopped = self.stopped.or(Some(now));
        } else {
            self.stops.extend(self.stopped.take().map(|from| (from, now)));
        }
    }
    /// A flow has waited until now: for its limiter, which let it go at `freed`, for XON, and for its turn.
    pub(super) fn wait(&mut self, flow: &FlowQueue, freed: Ps, now: Ps) {
        let account = &mut self.flows[flow.place as usize - 1];
        account.give(SourcePart::Gap, freed.min(now));
        let from = account.given;
        if from < now {
            // Most have waited for none of the last times in XOFF.
            let late = self.stops.iter().rev().take_while(|span| span.1 > from);
            let stopped = self.stopped.map_or(Ps(0), |at| now.saturating_sub(at.max(from)));
            let stopped = late.fold(stopped, |sum, span| sum + span.1.min(now) - span.0.max(from));
            account.spent[SourcePart::Xoff as usize] += stopped;
            account.spent[SourcePart::Turn as usize] += now - from - stopped;
            account.given = now;
        }
    }
    /// A flow, which its limiter let go at `freed`, sends a frame of this length, its `last` or not.
    pub(super) fn go(&mut self, flow: &FlowQueue, last: bool, (freed, len): (Ps, u16), now: Ps) {
        self.wait(flow, freed, now);
        self.last = flow.place as usize - 1;
        let (account, end) = (&mut self.flows[self.last], now + self.tx.time(len));
        account.whole |= last;
        if account.whole {
            self.live.retain(|place| *place != self.last);
        }
        if self.any || last {
            self.leaving = Some(account.spent);
        }
        account.give(SourcePart::Sending, end);
    }
    /// The frame that goes was sent before.
    pub(super) fn again(&mut self, len: u16) {
        let (spent, time) = (&mut self.flows[self.last].spent, self.tx.time(len));
        spent[SourcePart::Sending as usize].0 -= time.0;
        self.leaving = Some(*spent);
        spent[SourcePart::Again as usize] += time;
    }
    /// A flow is over: what its limiter still does with its turn costs it nothing.
    pub(super) fn end(&mut self, place: u32) {
        self.flows[place as usize - 1].given = NEVER;
    }
    /// The limiter at the source has let a flow's next frame go.
    pub(super) fn let_go(&mut self, place: u32, now: Ps) {
        self.flows[place as usize - 1].give(SourcePart::Gap, now);
    }
    /// A flow has waited for an acknowledgement until now: that opens its window, or a loss is found (`lost`).
    pub(super) fn resume(&mut self, place: u32, lost: bool, now: Ps) {
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
