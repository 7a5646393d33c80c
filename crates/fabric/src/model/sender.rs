//! The sending side of a host, up to its link: frames wait in queues, meet their limiters, and take turns.
//!
//! It is one body for both ways to run. They differ in what a frame is kept as ([`Packet`]), and in when they look. Limiters let frames
//! go in [`super::pacing`]; what messages do is in [`super::steering`].

use super::account::Accounts;
use super::agenda::{Deferred, Moment};
use super::frame::{Control, Data, Lane, Pause, Says};
use super::limiter::Limiters;
use super::packet::Packet;
use super::pause::Paused;
use super::program::Program;
use super::queue_pair::QueuePairs;
use super::records::Records;
use super::source::Offer;
use super::transfers::{FlowQueue, Next, Transfers};
use super::turns::first;
use super::voq::Voqs;
use crate::check::{ControlBooks, Event, Events, Failure, Ledger, Who, broken};
use crate::flows::number;
use crate::net::{Net, Ps};
use crate::outcome::HostOutcome;
use crate::scheme::key_of;
use crate::spec::{HostQueues, HostSpec, LimiterPosition};
use crate::timers::Timers;
use crate::tx_rate::Clock;
use cnsim_scheme_api::{Built, FlowId, Plan, Rate, Scope};
use std::collections::VecDeque;

/// Frames that a greedy source keeps waiting at most: one to send and one to follow.
const GREEDY: usize = 2;

/// The limiter that limits a finite flow now.
pub(super) fn limiter_of<F: Packet>(flow: &FlowQueue, keys: Scope, limiters: &Limiters<F>) -> Option<usize> {
    limiters.limiting(key_of(keys, flow.dst, flow.pair))
}

/// Settings of a host, and facts about its scheme.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The host, and the class whose frames these are.
    pub(crate) id: u32,
    pub(super) class: u8,
    pub(super) scheme: Option<usize>,
    pub(crate) plan: Plan,
    pub(crate) line_rate: Rate,
    pub(super) clock: Clock,
    /// Frames meet their limiters at the source, not below the queue.
    pub(super) at_source: bool,
    /// Frames that FIFO, limiter and application FIFO may hold.
    pub(crate) fifo_frames: usize,
    pub(super) limiter_frames: usize,
    pub(crate) backlog_frames: usize,
    pub(super) feedback_delay: Ps,
    /// By a fault.
    ignores_pause: bool,
    /// One message in so many is lost, if any.
    pub(super) feedback_lost: u64,
}

/// Records of a sending side.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// None while nothing is counted: of thousands of hosts few count something before the end.
    pub(crate) out: Option<Box<HostOutcome>>,
    pub(crate) books: ControlBooks,
    pub(crate) events: Events,
    /// Flows whose source has received the last acknowledgement, and when, ps.
    pub(crate) acknowledged: Vec<(FlowId, Ps)>,
    /// Why the run cannot go on.
    pub(crate) failure: Failure,
    /// Feedback messages that have arrived.
    pub(super) messages: u64,
}

/// The queues of a host, in their order at the link; limiters have their own.
#[derive(Debug)]
pub(crate) struct Queues<F> {
    /// Control that goes first, in XOFF too.
    pub(crate) control: VecDeque<F>,
    /// Probes and acknowledgements among the data: ahead of it, stopped by PAUSE.
    pub(crate) probes: VecDeque<F>,
    /// Application queue and NIC buffer: data, and control that travels among it.
    pub(crate) fifo: VecDeque<F>,
    /// An application FIFO ahead of limiters and FIFO, where the host has one.
    pub(crate) backlog: VecDeque<F>,
    /// In place of the FIFO for data, a queue for each destination.
    pub(crate) voqs: Option<Box<Voqs<F>>>,
}

/// Fields of a finite flow in its frame: the flow's number, and whether its limiter has counted the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfFlow {
    number: u16,
    counted: bool,
    /// Number of the frame in the flow, if that has a queue pair.
    in_flow: Option<u32>,
}

/// The sending side.
#[derive(Debug)]
pub(crate) struct Sender<F: Packet> {
    /// The transmitter has to look for a frame, if it is idle.
    pub(crate) must_look: bool,
    /// Frames generated so far.
    pub(crate) generated: u32,
    /// Generated frames that found room.
    pub(crate) made: Ledger,
    pub(crate) queues: Queues<F>,
    pub(crate) limiters: Limiters<F>,
    /// Finite flows under way that may send, but for their limiters.
    pub(crate) transfers: Transfers,
    /// Their queue pairs, where they have some.
    pub(crate) pairs: Option<Box<QueuePairs>>,
    /// The host's operations, where the run has some.
    pub(crate) program: Option<Box<Program>>,
    /// Where the time of finite flows goes, where that is recorded.
    pub(super) accounts: Option<Box<Accounts>>,
    /// The flow of the data frame that goes next.
    pub(super) going: Option<FlowId>,
    pub(crate) timers: Timers,
    pub(crate) deferred: Deferred,
    pub(crate) settings: Box<Settings>,
    pub(crate) journal: Box<Journal>,
    /// Of the control frames that wait here.
    pub(crate) bodies: F::Bodies,
}

impl<F: Packet> Sender<F> {
    /// The sender of a host's class, with nothing to send yet.
    pub(crate) fn new(spec: &HostSpec, (id, class): (u32, u8), line_rate: Rate, net: &Net) -> Self {
        let scheme = net.classes[usize::from(class)].scheme(spec.scheme);
        let plan = scheme.map(|s| net.schemes[s].plan).unwrap_or_default();
        let in_voqs = spec.queues == HostQueues::PerDestination;
        let settings = Settings {
            id,
            class,
            scheme,
            plan,
            line_rate,
            clock: net.clocks.hosts[id as usize],
            at_source: !in_voqs && spec.limiter_position == LimiterPosition::AtSource,
            fifo_frames: spec.fifo_frames as usize,
            limiter_frames: spec.limiter_frames as usize,
            backlog_frames: if in_voqs { 0 } else { spec.backlog_frames as usize },
            feedback_delay: spec.feedback_delay.into(),
            ignores_pause: spec.faults.ignores_pause,
            feedback_lost: u64::from(spec.faults.feedback_lost),
        };
        let (books, events) = (ControlBooks::new(net, id, scheme), Events::new(net));
        let journal = Journal { books, events, ..Journal::default() };
        let [control, probes, fifo, backlog] = std::array::from_fn(|_| VecDeque::new());
        let pairs = |transport| Box::new(QueuePairs::new(transport, &plan, line_rate));
        let graph = net.flows.graph.as_ref().filter(|_| net.keeps == 0);
        let voqs = in_voqs.then(|| Box::new(Voqs::new(net.hosts)));
        Self {
            must_look: false,
            generated: 0,
            made: Ledger::default(),
            queues: Queues { control, probes, fifo, backlog, voqs },
            limiters: Limiters::default(),
            transfers: Transfers::default(),
            pairs: net.transport_of(class.into()).map(pairs),
            program: graph.and_then(|graph| Program::new(graph, spec, (id, class), net)),
            accounts: net.record.trips.then(|| Box::new(Accounts::new(net, id))),
            going: None,
            timers: Timers::default(),
            deferred: Deferred::default(),
            settings: Box::new(settings),
            journal: Box::new(journal),
            bodies: F::Bodies::default(),
        }
    }

    /// Are there no limiters, and will there be none unless a message comes?
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.limiters.is_empty() && self.settings.plan.built == Built::OnFeedback
    }

    /// Does anything but data in a FIFO, in virtual output queues or of finite flows wait here?
    #[inline(always)]
    pub(crate) fn holds_others(&self) -> bool {
        self.limiters.held > 0 || !self.queues.control.is_empty() || !self.queues.probes.is_empty()
    }

    /// Does anything wait here for the transmitter?
    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        let Queues { fifo, voqs, .. } = &self.queues;
        self.holds_others() || !fifo.is_empty() || voqs.is_some() || !self.transfers.is_idle()
    }

    /// XOFF or XON arrives at its transmitter, unless a fault lets the host ignore it.
    pub(crate) fn pause(&mut self, pause: Pause, paused: &mut [Paused], at: Moment<'_>) {
        if !self.settings.ignores_pause {
            self.journal.events.add(Event::Plain(at.now, pause.code()));
            self.journal.out.get_or_insert_default().pause.received += u64::from(pause.off);
            self.accounts.iter_mut().for_each(|accounts| accounts.hear(pause, at.now));
            self.must_look |= pause.reach(paused, at);
        }
    }

    /// A finite flow begins, with its queue pair at an initial rate; or it is a message more on a connection.
    pub(crate) fn begin(&mut self, flow: FlowQueue, initial_rate: Option<Rate>, at: Moment<'_>) {
        if let Some((message, of)) = flow.pair.map(|f| (f, at.net.flows.connection(f)))
            && message != of
        {
            return self.more(of, flow.bytes, at);
        }
        let flow = self.transfers.begin(flow);
        let opens = at.net.transport_of(self.settings.class.into()).is_some_and(|t| t.opens());
        self.accounts.iter_mut().for_each(|accounts| accounts.begin(&flow, opens, at.now));
        if let (Some(pair), Some(pairs)) = (flow.pair, &mut self.pairs) {
            pairs.begin(pair, flow, initial_rate, at.net);
        }
        self.limiter_for(flow.dst, flow.pair, at);
        if flow.pair.is_none_or(|pair| !self.open(pair, at)) {
            self.join(flow, at);
        }
        self.must_look = true;
    }

    /// A source offers a frame. Where there is no room a greedy one waits, and another's frame is discarded.
    pub(crate) fn accept(&mut self, offer: Offer, greedy: bool, at: Moment<'_>) {
        if !greedy && self.settings.backlog_frames > 0 {
            return self.queue_backlog(offer, at);
        }
        let limiter = self.limiter_for(offer.dst, None, at);
        // The frame waits with others of its destination, with its limiter, or with all others.
        let in_voq = self.queues.voqs.is_some();
        let holding = self.holding(limiter).filter(|_| !in_voq);
        let (room, enough) = match holding {
            Some(_) => (self.settings.limiter_frames, usize::MAX),
            None => (self.settings.fifo_frames, GREEDY),
        };
        let (waiting, in_all) = self.waiting(holding, offer);
        if greedy && (waiting >= room.min(enough) || in_all >= room) {
            return;
        }
        let found = self.finds_room(in_all, room);
        let frame = self.make(offer, None, found, at.now);
        if !found {
            return;
        }
        let stored = match holding {
            Some(at) => self.limiters.push(at, frame),
            None if in_voq => self.queues.voqs.as_mut().map(|voqs| voqs.push(offer.dst, frame)).is_some(),
            None => {
                self.queues.fifo.push_back(frame);
                true
            }
        };
        if !stored {
            broken("a frame has no place");
        }
        if let Some(limiter) = limiter.filter(|_| in_voq || holding.is_some()) {
            self.let_go(limiter, at);
        }
        // A virtual queue whose limiter is not engaged may send even while that limiter's last gap runs.
        self.must_look |= holding.is_none();
    }

    /// Is a flow under way?
    #[inline]
    pub(crate) fn has_live(&self) -> bool {
        self.pairs.as_ref().is_some_and(|pairs| pairs.are_live())
    }

    /// Do all frames that no limiter holds back wait in one FIFO, and find room while none waits there?
    pub(crate) fn has_one_fifo(&self) -> bool {
        self.queues.voqs.is_none() && self.settings.backlog_frames == 0 && self.settings.fifo_frames > 0
    }

    /// [`Sender::accept`] by a host that has one FIFO, where nothing waits and the transmitter is idle: the frame, if it is the next to
    /// go. Where it is plain, that is one just made.
    #[inline]
    pub(crate) fn pass(&mut self, offer: Offer, at: Moment<'_>) -> Option<F> {
        let limiter = self.limiter_for(offer.dst, None, at);
        if self.holds_others() || self.timers.next <= at.now || self.holding(limiter).is_some() {
            self.accept(offer, false, at);
            return None;
        }
        let mut frame = self.make(offer, None, true, at.now);
        if !self.fifo_is_alone() {
            self.take_turn(0);
        }
        self.set_out(&mut frame, at);
        Some(frame)
    }

    /// Makes the frame of an offer, or of a finite flow whose limiter has counted it or not. It is generated even where it `found` no room.
    #[inline]
    pub(crate) fn make(&mut self, offer: Offer, flow: Option<OfFlow>, found: bool, now: Ps) -> F {
        let (src, dst, finite) = (self.settings.id, offer.dst, flow.is_some());
        let counted = flow.is_some_and(|flow| flow.counted);
        let count = flow.and_then(|flow| flow.in_flow).unwrap_or(self.generated);
        let number = number(count, flow.map(|flow| flow.number));
        if found {
            self.made.enter(src, dst, number);
        }
        self.generated = self.generated.wrapping_add(1);
        let data = Data {
            src,
            dst,
            number,
            finite,
            born: now,
            tag: (0, 0),
            marked: false,
            counted,
            cut: false,
            record: 0,
        };
        F::of_data(offer.len, &data)
    }

    /// Does a frame find room where so many wait, and so many may? Else it is discarded.
    #[inline(always)]
    fn finds_room(&mut self, waiting: usize, room: usize) -> bool {
        if waiting >= room {
            self.journal.out.get_or_insert_default().source_discards += 1;
        }
        waiting < room
    }

    /// A frame joins the application FIFO.
    fn queue_backlog(&mut self, offer: Offer, at: Moment<'_>) {
        // The frame enters the ledger as it leaves the backlog.
        let frame = self.make(offer, None, false, at.now);
        if self.finds_room(self.queues.backlog.len(), self.settings.backlog_frames) {
            self.queues.backlog.push_back(frame);
            self.advance(at);
        }
    }

    /// Frames at the head of the application FIFO go on. One that is held back goes to its limiter; where that has no room it is
    /// discarded. Any other goes to the FIFO, and waits while that is full.
    pub(super) fn advance(&mut self, at: Moment<'_>) {
        while let Some(dst) = self.queues.backlog.front().and_then(F::data_to) {
            let limiter = self.limiter_for(dst, None, at);
            let holding = self.holding(limiter);
            if holding.is_none() && self.fifo_is_full() {
                return;
            }
            let Some(frame) = self.queues.backlog.pop_front() else { return };
            if let Some(limiter) = holding {
                if self.finds_room(self.limiters.queued(limiter), self.settings.limiter_frames) {
                    frame.enter(&mut self.made);
                    self.limiters.push(limiter, frame);
                    self.let_go(limiter, at);
                }
            } else {
                frame.enter(&mut self.made);
                self.queues.fifo.push_back(frame);
                self.must_look = true;
            }
        }
    }

    /// Frames that wait at this limiter, or else in a queue, of the offer's destination and of all.
    fn waiting(&self, limiter: Option<usize>, offer: Offer) -> (usize, usize) {
        let one = |n: usize| (n, n);
        match (limiter, &self.queues.voqs) {
            (Some(at), _) => one(self.limiters.queued(at)),
            (None, Some(voqs)) => (voqs.waiting(offer.dst), voqs.count),
            (None, None) => one(self.queues.fifo.len()),
        }
    }

    /// The frame that goes next, of those lanes that `may_start`.
    #[inline]
    pub(crate) fn next(
        &mut self,
        may_start: impl Fn(Lane) -> bool,
        at: Moment<'_>,
        records: &mut Records,
    ) -> Option<F> {
        first(|lane| if may_start(lane) { self.next_of(lane, at, records) } else { None })
    }

    /// The frame of a lane that goes next.
    #[inline(always)]
    pub(crate) fn next_of(&mut self, lane: Lane, at: Moment<'_>, records: &mut Records) -> Option<F> {
        match lane {
            Lane::Pause => None,
            Lane::Control => self.queues.control.pop_front(),
            Lane::Data(_) => self.next_data(at, records),
        }
    }

    /// What goes next among the data: a probe, else data. Frames that wait in queues and finite flows take turns.
    #[inline]
    fn next_data(&mut self, at: Moment<'_>, records: &mut Records) -> Option<F> {
        if !self.queues.probes.is_empty() {
            return self.queues.probes.pop_front();
        }
        let flows = self.transfers.flows_next && !self.transfers.is_idle();
        let queued = if flows { None } else { self.next_queued(at) };
        let frame = queued.or_else(|| self.next_of_flows(at));
        let mut frame = frame.or_else(|| if flows { self.next_queued(at) } else { None })?;
        self.set_out(&mut frame, at);
        if let Some(cut) = self.pairs.as_mut().and_then(|pairs| pairs.cut.take()) {
            frame.set_cut(cut);
        }
        if let Some(spent) = self.accounts.as_mut().and_then(|accounts| accounts.leaving.take()) {
            frame.open_trace(spent, records);
        }
        Some(frame)
    }

    /// The frame of the finite flow whose turn it is.
    #[inline(always)]
    fn next_of_flows(&mut self, at: Moment<'_>) -> Option<F> {
        loop {
            let (keys, limiters) = (self.settings.plan.limiter_scope, &self.limiters);
            let limiter = |flow: &FlowQueue| limiter_of(flow, keys, limiters);
            let may_go = |place| limiters.at(place).is_some_and(|l| l.eligible <= at.now);
            match self.transfers.next(limiter, may_go) {
                Next::Nobody => return None,
                Next::Held(limiter) => self.let_go(limiter, at),
                Next::Goes { mut flow, limiter, counted } => {
                    let (mut in_flow, mut last) = (None, flow.bytes <= flow.whole.into());
                    if let Some(pair) = flow.pair {
                        let Some((left, number, ends)) = self.pairs.as_mut().and_then(|p| p.turn(pair))
                        else {
                            self.accounts.iter_mut().for_each(|accounts| accounts.wait(&flow, Ps(0), at.now));
                            continue;
                        };
                        (flow.bytes, in_flow, last) = (left, Some(number), ends);
                    }
                    self.transfers.flows_next = false;
                    let offer = Offer { dst: flow.dst, len: flow.next_len() };
                    let of_flow = OfFlow { number: flow.number, counted, in_flow };
                    let frame = self.make(offer, Some(of_flow), true, at.now);
                    if let Some(accounts) = &mut self.accounts {
                        let freed = limiter.and_then(|at| self.limiters.at(at)).map_or(Ps(0), |l| l.eligible);
                        accounts.go(&flow, last, (freed, frame.bytes()), at.now);
                    }
                    if let Some(pair) = flow.pair {
                        self.going = Some(pair);
                        self.sent_segment(pair, flow, frame.bytes(), at);
                        return Some(frame);
                    }
                    if let Some(limiter) = limiter.and_then(|place| self.limiters.at_mut(place)) {
                        limiter.pace(at.now, frame.bytes());
                    }
                    let _ = flow.rest().map(|rest| self.join(rest, at));
                    limiter.into_iter().for_each(|place| self.let_go(place, at));
                    return Some(frame);
                }
            }
        }
    }

    /// A finite flow that begins or has sent a frame joins those that take turns, or those that its limiter holds back: which that is.
    pub(super) fn join(&mut self, flow: FlowQueue, at: Moment<'_>) -> Option<usize> {
        let limiter = limiter_of(&flow, self.settings.plan.limiter_scope, &self.limiters);
        self.transfers.join(flow, limiter);
        limiter.into_iter().for_each(|limiter| self.let_go(limiter, at));
        limiter
    }

    /// The frame that waits in a queue and goes next.
    #[inline]
    fn next_queued(&mut self, at: Moment<'_>) -> Option<F> {
        if self.queues.fifo.is_empty() && self.limiters.held == 0 && self.queues.voqs.is_none() {
            return None;
        }
        let frame = self.next_in_queues(at);
        self.transfers.flows_next |= frame.is_some();
        frame
    }

    /// The same, where it waits.
    #[inline]
    fn next_in_queues(&mut self, at: Moment<'_>) -> Option<F> {
        if self.queues.voqs.is_some() {
            return self.queues.fifo.pop_front().or_else(|| self.next_of_voqs(at));
        }
        if self.fifo_is_alone() {
            let frame = self.queues.fifo.pop_front()?;
            // The FIFO has room for one more: the limiter that has waited longest uses it.
            if let Some(place) = self.limiters.blocked.pop_front() {
                self.limiters.at_mut(place).into_iter().for_each(|l| l.blocked = false);
                self.let_go(place, at);
            }
            self.advance(at);
            return Some(frame);
        }
        self.next_in_turn(at)
    }

    /// Does the FIFO share the link with no limiter, so that no turn is taken?
    fn fifo_is_alone(&self) -> bool {
        self.settings.at_source || self.limiters.is_empty()
    }

    /// The FIFO (0) or the limiter at a place (place + 1) has its turn.
    fn take_turn(&mut self, place: usize) {
        self.limiters.next_place = (place + 1) % (self.limiters.places.len() + 1);
    }

    /// Round robin over the FIFO and the limiters whose first frame may go.
    fn next_in_turn(&mut self, at: Moment<'_>) -> Option<F> {
        let (n, first) = (self.limiters.places.len(), self.limiters.next_place);
        let fifo = !self.queues.fifo.is_empty();
        let ready = |places| self.limiters.ready(places, at.now).map(|place| place + 1);
        let place = match first {
            0 if fifo => Some(0),
            0 => ready(0..n),
            _ => ready(first - 1..n).or(fifo.then_some(0)).or_else(|| ready(0..first - 1)),
        }?;
        self.take_turn(place);
        let Some(limiter) = place.checked_sub(1) else {
            let frame = self.queues.fifo.pop_front();
            self.advance(at);
            return frame;
        };
        let frame = self.limiters.pop(limiter, at.now)?;
        self.let_go(limiter, at);
        Some(frame)
    }

    /// XOFF or XON that a fault says waits for the link: before control, and after what a fault said before.
    pub(crate) fn queue_pause(&mut self, pause: Pause, net: &Net) {
        let ahead = self.queues.control.iter().take_while(|frame| frame.is_pause()).count();
        self.queues.control.insert(ahead, F::of_pause(pause, net));
        self.must_look = true;
    }

    /// Makes a control frame of this host, and sends it on its way: at priority or among the data.
    #[inline(always)]
    pub(crate) fn queue_control(&mut self, lane: Lane, control: &Control, at: Moment<'_>) {
        let ahead = matches!(control.says, Says::Probe(_)) || control.is_acknowledgement();
        let frame = F::of_control(lane, control, at, &mut self.bodies);
        match lane {
            Lane::Control => self.queues.control.push_back(frame),
            _ if ahead => self.queues.probes.push_back(frame),
            _ => self.queues.fifo.push_back(frame),
        }
        self.must_look = true;
    }

    /// One of the scheme's objects here counts.
    pub(crate) fn count(&mut self, who: Who, counter: &str, now: Ps) {
        if let Err(cause) = self.journal.books.counters.add(counter) {
            self.fail(who, &cause, now);
        }
    }

    /// One of them shows a value.
    pub(crate) fn show(&mut self, who: Who, place: u32, gauge: &str, value: f64, at: Moment<'_>) {
        let books = &mut self.journal.books;
        if let Err(cause) = books.gauges.show(at.net, (at.now, books.scheme), place, gauge, value) {
            self.fail(who, &cause, at.now);
        }
    }

    /// One of them stops the run.
    #[cold]
    pub(crate) fn fail(&mut self, who: Who, cause: &str, now: Ps) {
        self.journal.failure.note(now, who, cause);
    }

    /// All frames that wait and have found room.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &F> {
        let queues = &self.queues;
        let outputs = queues.voqs.iter().flat_map(|voqs| voqs.frames());
        queues.fifo.iter().chain(self.limiters.frames()).chain(outputs)
    }
}
