//! What a switch does with what arrives, leaves or is due, and in which order: one body for both ways to run.
//!
//! The model acts at each moment, and keeps frames as they are ([`super::switch`]). The fast way packs them, and brings a port up to a
//! moment when something touches it. The required functions are what differs.

use super::agenda::{Key, Kind, Moment};
use super::cause::Waiting;
use super::frame::{Lane, NextHop, Pause};
use super::management::{Management, of_timer};
use super::memory::{Loss, Memory, Refusal};
use super::packet::{Outside, Packet};
use super::pause::{Paused, Signal, leave};
use super::point::{Point, Verb};
use super::port::{At, Left, is_stopped};
use super::records::Records;
use super::rest::Rest;
use crate::check::{Books, Event, Ledger, Stopped, broken};
use crate::net::{Link, Net, Ps};
use crate::outcome::{PortOutcome, SharedUse};
use crate::spec::WatchdogAction;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{Queue as View, Ramp, RampAt, Rate, Slot};

/// A frame from an input has come for an output, or has left it: what a memory tells follows from that.
pub(crate) type By = (usize, u16);

/// What both ways keep alike at an output, and the books of its switch.
pub(crate) struct Outlet<'a> {
    pub(crate) management: &'a mut Management,
    pub(crate) point: Option<&'a mut Point>,
    /// XOFF from the far end, by class.
    pub(crate) paused: &'a mut [Paused],
    pub(crate) link: Option<Link>,
    pub(crate) left: &'a mut Left,
    pub(crate) result: &'a mut PortOutcome,
    /// The same of the class alone, where there are several.
    pub(crate) of_class: Option<&'a mut PortOutcome>,
}

/// Control goes on by these outputs: a frame for each is put there, and carries what the first does, which goes itself.
#[inline(always)]
pub(crate) fn spread<W>(
    outputs: impl Iterator<Item = usize>,
    with: &mut W,
    carry: impl Fn(&mut W, bool),
    mut put: impl FnMut(usize, &mut W),
) {
    outputs.for_each(|out| {
        carry(with, true);
        put(out, with);
    });
    carry(with, false);
}

/// A switch in a run of `'n`; `C` is what its acts need besides.
pub(crate) trait Switching<'n, C> {
    /// A frame, as it keeps them.
    type Frame: Packet;
    /// What is outside of it.
    type Outside: Outside<Self::Frame>;
    /// What stands in a queue, but arrives later.
    type Ahead: Copy + Default;

    /// The moment.
    fn moment(&self, with: &C) -> Moment<'n>;
    /// Its ports.
    fn ports(&self) -> usize;
    /// What stands at an output, with the congestion point of a class.
    fn outlet(&mut self, at: At) -> Outlet<'_>;
    /// Its books, and the memory of a class.
    fn memory(&mut self, class: usize) -> (&mut Management, &mut Memory);
    /// Do two classes have a memory in common?
    fn shares(&self, class: usize, other: usize) -> bool {
        class == other
    }
    /// The first row of a class in its memory ([`Memory`]).
    fn row(&self, _: usize) -> usize {
        0
    }
    /// Where it puts what others will see.
    fn outside(with: &mut C) -> &mut Self::Outside;
    /// Bytes that are queued.
    fn queued(&self, at: At) -> u64;
    /// Of these, those whose memory is free.
    fn freed(&self, at: At) -> u64;
    /// The frames that are queued: the one in transmission, and those that wait.
    fn frames(&self, at: At) -> impl Iterator<Item = &Self::Frame>;
    /// At which rate data is served, and XOFF by class.
    fn gate(&self, out: usize) -> (TxRate, &[Paused]);
    /// What has left: [`Left::sent`].
    fn sent(&self, out: usize) -> (u64, u64, u64);
    /// Does nothing wait at an output, and is its transmitter idle?
    fn is_still(&self, out: usize) -> bool;
    /// Does a frame wait?
    fn has_waiting(&self, at: At) -> bool;
    /// The transmission of an output ends: its frame, whether that stands on the link already, and whether its memory is free.
    fn finish(&mut self, out: usize, with: &mut C) -> (Self::Frame, bool, bool);
    /// Takes the first frame that waits out of its queue.
    fn take_waiting(&mut self, at: At) -> Option<Self::Frame>;
    /// An output as its congestion point sees it, which has counted all but what is ahead.
    fn view(&mut self, at: At, ahead: Self::Ahead, now: Ps) -> View;
    /// The frame that was queued last, of those that are there.
    fn last(&mut self, at: At, ahead: Self::Ahead) -> Option<&mut Self::Frame>;
    /// Bytes that are queued as a bin of the recording ends, when the most of them are noted.
    fn bin(&mut self, out: usize, now: Ps) -> u64;
    /// What was measured of each class at each port, where there are several: by class, then by port.
    fn by_class(&self, _: &Net) -> Vec<Vec<PortOutcome>> {
        Vec::new()
    }

    /// Notes the next of its own events.
    fn note_next(&mut self, next: Key, with: &mut C);
    /// The bytes of a frame come to its memory or go: what that signals.
    fn change(&mut self, out: usize, frame: &Self::Frame, by: i32) -> Option<Signal>;
    /// Puts a frame last into its queue.
    fn push(&mut self, out: usize, frame: &Self::Frame, with: &mut C);
    /// Data is served at another rate.
    fn serve(&mut self, out: usize, rate: (Rate, TxRate));
    /// If idle, the transmitter looks for a frame at the end of this moment.
    fn look_again(&mut self, out: usize, with: &mut C);
    /// Counts a frame that joins its queue of data: [`Left::join`].
    fn join(&mut self, out: usize, frame: &Self::Frame) -> bool;
    /// Does the gate of the congestion point open, which was counted down?
    fn opens(&mut self, at: At, tagged: bool, ahead: Self::Ahead) -> bool;

    /// Brings an output up to this moment; what leaves now has left.
    fn bring(&mut self, _: usize, _: &mut C) {}
    /// The same; what leaves now has not.
    fn bring_before(&mut self, _: usize, _: &mut C) {}
    /// Brings an output up to the moment at which this data comes.
    fn meet(&mut self, _: usize, _: &Self::Frame, _: &mut C) {}
    /// What stands in a queue of data, but arrives after this moment, or after a probe of it.
    fn ahead(&self, _: usize, _probed: bool) -> Self::Ahead {
        Self::Ahead::default()
    }
    /// XON follows as a transmission starts: ports that look for a frame before that one have done so.
    fn look_before(&mut self, _: Signal, _: By, _: &mut C) {}
    /// A congestion point was woken, with this ramp, and with records or without.
    fn woken(&mut self, _: usize, _: (Option<Ramp>, bool), _: Self::Ahead, _: &mut C) {}
    /// A watchdog has heard XOFF or XON, or has looked: a storm begins or ends (true).
    fn watched(&mut self, _: At, _: bool, _: &mut C) {}
    /// All that an output holds has been counted: its memory serves for the results.
    fn empty(&mut self, _: usize) {}
    /// Telemetry of the frames under way.
    fn records(with: &mut C) -> &mut Records {
        Self::outside(with).beside().0
    }
    /// Puts a frame on a link: its last bit leaves now, or it takes no time there (`at_once`).
    #[inline(always)]
    fn send(&self, link: &Link, frame: &Self::Frame, at_once: bool, with: &mut C) {
        let at = self.moment(with);
        Self::outside(with).send(link, frame, at_once, at);
    }

    /// The congestion points begin.
    fn begin_points(&mut self, with: &mut C) {
        let classes = 0..self.moment(with).net.classes.len();
        for at in (0..self.ports()).flat_map(|out| classes.clone().map(move |class| (out, class))) {
            self.wake(at, Verb::Start, Self::Ahead::default(), with);
            if let Some(point) = self.outlet(at).point {
                point.state.run();
            }
        }
        self.plan(with);
    }
    /// Finds the next of its own events.
    fn plan(&mut self, with: &mut C) {
        let ports = self.ports();
        let next = self.memory(0).0.next_event(ports);
        self.note_next(next, with);
    }
    /// Carries out an event of its own.
    fn happen(&mut self, kind: Kind, with: &mut C) {
        match kind {
            Kind::Change => {
                let at = self.moment(with);
                if let Some((out, rate)) = self.memory(0).0.change(at) {
                    self.bring_before(out, with);
                    self.serve(out, rate);
                    self.look_again(out, with);
                }
                self.fail(with);
                self.watch(with);
            }
            Kind::Control => self.send_own(with),
            Kind::Timer => {
                if let Some((number, slot)) = self.memory(0).0.timers.pop() {
                    let at = of_timer(number);
                    self.bring(at.0, with);
                    let ahead = self.ahead(at.0, false);
                    self.wake(at, Verb::Timer(Slot(slot)), ahead, with);
                }
            }
            Kind::Tick => self.tick(with),
            _ => broken("this is no event of a switch's own"),
        }
        self.plan(with);
    }
    /// Bytes that are queued of each class, where there are several.
    fn queues(&self, out: usize, net: &Net) -> Vec<f64> {
        let classes = (0..net.classes.len()).filter(|_| net.classes.len() > 1);
        classes.map(|class| self.queued((out, class)) as f64).collect()
    }
    /// A bin of the recording ends.
    fn tick(&mut self, with: &mut C) {
        let Moment { now, net } = self.moment(with);
        let mut recorded = std::mem::take(&mut self.memory(0).0.journal.recorded.queues);
        for series in &mut recorded {
            let out = usize::from(series.port);
            self.bring(out, with);
            let (queued, sent_bits) = (self.bin(out, now), self.sent(out).1);
            let Outlet { left, result, .. } = self.outlet((out, 0));
            series.take(queued, &mut left.peak, (sent_bits, result.discarded()));
            series.of_classes.extend(self.queues(out, net));
        }
        self.memory(0).0.end_bin(recorded, net);
    }
    /// XOFF or XON has arrived at a port.
    fn hear(&mut self, out: usize, pause: Pause, with: &mut C) {
        let (at, class) = (self.moment(with), usize::from(pause.class));
        self.bring_before(out, with);
        let Outlet { management, paused, .. } = self.outlet((out, class));
        management.journal.events.add(Event::Plain(at.now, pause.code() | out as u64));
        let ended = pause.reach(paused, at);
        management.watchdogs.hear((out, class), &paused[class], ended, at.now);
        let guarded = management.guarded;
        if ended {
            self.look_again(out, with);
        }
        if guarded {
            self.watched((out, class), false, with);
            self.plan(with);
        }
    }
    /// A frame has come for an output's queue of data, and may be the first that waits in a storm.
    fn arrive(&mut self, out: usize, frame: &mut Self::Frame, with: &mut C) {
        self.meet(out, frame, with);
        if self.memory(0).0.guarded {
            self.watch_one((out, frame.lane().class()), (true, false), with);
        }
        self.store(out, frame, with);
    }
    /// It is stored or lost, and the congestion point may look at it.
    fn store(&mut self, out: usize, frame: &mut Self::Frame, with: &mut C) {
        let (at, len) = ((out, frame.lane().class()), frame.bytes());
        let (queued, row) = (self.queued(at), self.row(at.1));
        let (management, memory) = self.memory(at.1);
        let full = memory.admits((out, frame.input().into(), row), len, queued).err();
        let full = full.map(|why| (why, memory.is_lossless()));
        let barred = management.watchdogs.act(at, WatchdogAction::Drop);
        let refused = if barred { Some((Refusal::Watchdog, false)) } else { full };
        match refused {
            None => self.enqueue(out, frame, queued + u64::from(len), with),
            Some(why) => self.lose(out, frame, why, with),
        }
        let of_lost = self.outlet(at).point.is_some_and(|p| p.state.sample_dropped) && frame.is_data();
        if (refused.is_none() || of_lost) && self.join(out, frame) {
            self.sample(out, *frame, refused.is_some(), Self::Ahead::default(), with);
        }
    }
    /// An admitted frame joins its queue, which has so many bytes with it; a ramp may mark it.
    fn enqueue(&mut self, out: usize, frame: &mut Self::Frame, queued: u64, with: &mut C) {
        let signal = self.change(out, frame, frame.bytes().into());
        let point = self.outlet((out, frame.lane().class())).point;
        if let Some(point) = point.filter(|_| frame.is_data()) {
            point.pass(RampAt::Arrival, queued, frame, Self::records(with));
        }
        self.push(out, frame, with);
        self.tell(signal, out, frame, with);
    }
    /// Counts a frame that is not admitted, or dropped.
    fn lose(&mut self, out: usize, frame: &Self::Frame, why: Loss, with: &mut C) {
        let (data, now, at) = (frame.header(), self.moment(with), (out, frame.lane().class()));
        let Outlet { management, result, of_class, .. } = self.outlet(at);
        if why.0 == Refusal::Watchdog && data.is_some() {
            management.watchdogs.drop_one(at);
        }
        management.refuse(at, data.as_ref(), why, (result, of_class), now);
        Self::outside(with).carry(frame, false);
        // The record can still be read until another begins.
        Self::records(with).close(frame.record());
    }
    /// The memory of a frame is free: what follows.
    fn free(&mut self, out: usize, frame: &Self::Frame, with: &mut C) {
        let signal = self.change(out, frame, -i32::from(frame.bytes()));
        self.tell(signal, out, frame, with);
    }
    /// The last bit of a frame has left. It goes on the link, if it is not there, and its memory is free, if it was not.
    #[inline]
    fn end(&mut self, out: usize, with: &mut C) {
        let (frame, sent, freed) = &self.finish(out, with);
        let Outlet { left, link, .. } = self.outlet((out, 0));
        left.count(frame.lane(), frame.bytes());
        link.filter(|_| !sent).iter().for_each(|link| self.send(link, frame, false, with));
        if let (Lane::Data(_), false) = (frame.lane(), *freed) {
            self.free(out, frame, with);
        }
    }
    /// The congestion point of an output looks at a data frame, as far as its gate opens. The frame was queued last, of those that are
    /// there, unless it is `dropped`.
    fn sample(
        &mut self,
        out: usize,
        mut frame: Self::Frame,
        dropped: bool,
        ahead: Self::Ahead,
        with: &mut C,
    ) {
        let at = (out, frame.lane().class());
        if !self.opens(at, frame.is_tagged(), ahead) {
            return;
        }
        let mut seen = frame.seen(self.moment(with).net, dropped, Self::records(with));
        self.wake(at, Verb::Sample(&mut seen), ahead, with);
        let port = self.outlet(at).point.map_or(0, |point| point.port);
        frame.write(&seen, port, Self::records(with));
        self.last(at, ahead).filter(|_| !dropped).into_iter().for_each(|last| *last = frame);
    }
    /// Wakes a congestion point, and carries out what it asks for; true if the probe in hand is to be answered.
    fn wake(&mut self, of: At, verb: Verb<'_>, ahead: Self::Ahead, with: &mut C) -> bool {
        let at = self.moment(with);
        let view = self.view(of, ahead, at.now);
        let Outlet { management, point: Some(point), .. } = self.outlet(of) else { return false };
        let before = (point.state.ramp, point.state.records);
        let (answer, asks) = management.wake((of, point), &view, verb, at);
        self.woken(of.0, before, ahead, with);
        if asks {
            self.plan(with);
        }
        answer
    }
    /// A message of its own is ready: it goes on its way.
    fn send_own(&mut self, with: &mut C) {
        let at = self.moment(with);
        match self.memory(0).0.take_message(at) {
            Some(Ok(direct)) => Self::outside(with).beside().1.push(direct),
            Some(Err(about)) => {
                let frame = Self::outside(with).framed(&about, self.ports() as u16, at);
                self.forward(frame, with);
            }
            None => {}
        }
    }
    /// A control frame goes on towards where it is sent, or ends here.
    fn forward(&mut self, mut frame: Self::Frame, with: &mut C) {
        let (net, management) = (self.moment(with).net, self.memory(0).0);
        let node = management.id;
        let mut way = frame.way(net, management.index(net), &mut management.paths);
        if matches!(way, NextHop::Output(out) if self.probed(out.into(), &mut frame, with)) {
            way = NextHop::Nowhere;
        }
        let carry = |with: &mut C, more: bool| Self::outside(with).carry(&frame, more);
        spread(way.outputs(net, node, frame.input()), with, carry, |out, with| match frame.lane() {
            Lane::Data(_) => self.arrive(out, &mut { frame }, with),
            _ => self.push(out, &frame, with),
        });
    }
    /// A probe passes the congestion point of an output, which may rewrite or answer it; true if it ends here.
    fn probed(&mut self, out: usize, frame: &mut Self::Frame, with: &mut C) -> bool {
        let Some((flow, mut probe)) = Self::outside(with).probe(frame) else { return false };
        self.bring(out, with);
        let ahead = self.ahead(out, true);
        let of = (out, usize::from(frame.class()));
        let answered = self.wake(of, Verb::Probe(&mut probe, flow), ahead, with);
        Self::outside(with).write_probe(frame, probe);
        let at = self.moment(with);
        let ends = self.memory(0).0.ends(of, (flow, frame.goes_to(), &probe), answered, at);
        self.plan(with);
        ends
    }

    /// Watchdogs look at their outputs.
    fn watch(&mut self, with: &mut C) {
        let (mut from, now) = (0, self.moment(with).now);
        while let Some((at, polls, behind)) = self.memory(0).0.watchdogs.due(from, now) {
            from = behind;
            self.bring_before(at.0, with);
            self.watch_one(at, (self.has_waiting(at), polls), with);
        }
    }
    /// A watchdog looks at a class of an output that is up to date, and does what follows.
    fn watch_one(&mut self, at: At, seen: (bool, bool), with: &mut C) {
        let now = self.moment(with).now;
        let Outlet { management, paused, .. } = self.outlet(at);
        let turns = management.watchdogs.look(at, &mut paused[at.1], seen, now);
        if turns && paused[at.1].ignored {
            self.look_again(at.0, with);
        }
        self.watched(at, turns, with);
        while turns && self.memory(0).0.watchdogs.act(at, WatchdogAction::Drop) {
            let Some(frame) = self.take_waiting(at) else { break };
            if !frame.is_data() {
                self.outlet(at).left.forget_in_band(frame.bytes());
            }
            self.free(at.0, &frame, with);
            self.lose(at.0, &frame, (Refusal::Watchdog, false), with);
        }
        self.plan(with);
    }

    /// Tells what a memory asks for, as a frame has come for an output or has left it.
    #[inline]
    fn tell(&mut self, signal: Option<Signal>, out: usize, frame: &Self::Frame, with: &mut C) {
        if let Some(signal) = signal {
            self.tell_who(signal, frame.lane().class() as u8, (out, frame.input()), with);
        }
    }
    /// The same, to those whom no fault holds in XOFF.
    #[cold]
    fn tell_who(&mut self, signal: Signal, class: u8, by: By, with: &mut C) {
        let ports = self.ports();
        match self.memory(0).0.faults.sift(signal, class, ports) {
            None => self.tell_all(signal, class, by, with),
            Some(parts) => parts.into_iter().for_each(|part| self.tell_all(part, class, by, with)),
        }
    }
    /// Tells all neighbours, if no fault has a part in it.
    fn tell_all(&mut self, signal: Signal, class: u8, by: By, with: &mut C) {
        let (now, of_class, ports) = (self.moment(with).now, usize::from(class), self.ports());
        if let Some(mut decisions) = self.memory(0).0.journal.decisions.take() {
            let layout = self.memory(of_class).1.layout;
            // All outputs that share the cell are up to date, so what stands there is what waits now.
            let waiting = (0..ports).map(|out| {
                let (rate, paused) = self.gate(out);
                let closed = is_stopped(Lane::Data(class), rate, &[]);
                let frames = self.frames((out, of_class)).map(|f| (f.input(), f.bytes()));
                Waiting { xoff: paused[of_class].number(), closed, frames }
            });
            decisions.note((now, signal, class), (&layout, by), waiting);
            self.memory(0).0.journal.decisions = Some(decisions);
        }
        self.look_before(signal, by, with);
        for port in signal.targets(ports) {
            self.say(port, Pause { off: signal.off, class }, with);
        }
    }
    /// Says XOFF or XON by a port: at once on its link, or as a frame that waits there.
    fn say(&mut self, port: usize, pause: Pause, with: &mut C) {
        let frame = Self::Frame::of_pause(pause, self.moment(with).net);
        let Outlet { management, link, result, of_class, .. } = self.outlet((port, pause.class.into()));
        let (mut said, transport) = (0, management.pause_transport);
        let way = leave(pause.off, transport, link, &mut said);
        result.xoffs += said;
        of_class.into_iter().for_each(|own| own.xoffs += said);
        match way {
            Some(Some(link)) => self.send(&link, &frame, true, with),
            Some(None) => self.push(port, &frame, with),
            None => {}
        }
    }
    /// Faults of ports say what is due.
    fn fail(&mut self, with: &mut C) {
        let Moment { now, net } = self.moment(with);
        for class in 0..net.classes.len() {
            let row = self.row(class);
            let due = |this: &mut Self| {
                let (management, memory) = this.memory(class);
                management.faults.say(now, Some(class as u8), |port| memory.is_off(row + port))
            };
            while let Some(said) = due(self) {
                said.note(&mut self.memory(0).0.journal.decisions, now);
                self.say(said.port.into(), Pause { off: said.off, class: said.class }, with);
            }
        }
    }

    /// Is it at rest? A switch of one class.
    fn rest(&mut self) -> Rest {
        let (management, memory) = self.memory(0);
        if !management.rests() || !memory.is_empty() {
            return Err(None);
        }
        for out in 0..self.ports() {
            let still = self.is_still(out);
            let Outlet { point, paused, .. } = self.outlet((out, 0));
            if !still || paused.iter().any(Paused::is_off) {
                return Err(None);
            }
            if point.is_some_and(|point| point.remembers()) {
                return Err(Some(format!("the congestion point of port {out}")));
            }
        }
        Ok(())
    }

    /// Ends the run: hands in the books.
    fn close(&mut self, net: &Net) -> Books {
        let (ports, classes) = (self.ports(), net.classes.len());
        let (mut inside, mut shared, mut ends) = (Ledger::default(), SharedUse::default(), Vec::new());
        for at in (0..ports).flat_map(|out| (0..classes).map(move |class| (out, class))) {
            self.frames(at).for_each(|frame| frame.enter(&mut inside));
        }
        // A memory's bytes are those of all its classes, of which the one of the first row is the first.
        for class in 0..classes {
            if self.row(class) > 0 {
                continue;
            }
            let own = (0..classes).filter(|other| self.shares(class, *other));
            let each = own.flat_map(|own| (0..ports).map(move |out| (out, own)));
            let waiting = each.map(|at| self.queued(at) - self.freed(at)).sum();
            let (management, memory) = self.memory(class);
            let most = management.shared_use(memory.shared_use(waiting), net);
            shared = if class == 0 { most } else { shared };
        }
        for out in 0..ports {
            let (rate, paused) = self.gate(out);
            let all = (0..classes).flat_map(|class| self.frames((out, class)));
            let stopped = all.filter(|f| f.is_data() && is_stopped(f.lane(), rate, paused));
            let stopped = Stopped::new(out, paused.iter().any(Paused::stops), stopped.map(|f| f.input()));
            let (in_xoff, (sent, sent_bits, control_sent)) = (Paused::close(paused, net), self.sent(out));
            let queued = (0..classes).map(|class| self.queued((out, class))).sum();
            self.bin(out, net.duration - Ps(1));
            let last = self.queues(out, net);
            let recorded =
                self.memory(0).0.journal.recorded.queues.iter_mut().filter(|s| usize::from(s.port) == out);
            recorded.for_each(|series| series.of_classes.extend(&last));
            let Outlet { left, result, .. } = self.outlet((out, 0));
            let (queue_max, measured) = (left.peak, std::mem::take(result));
            let measured = PortOutcome { sent, sent_bits, control_sent, queue_max, ..measured };
            ends.push((measured, in_xoff, queued, stopped));
            self.empty(out);
        }
        let of_class = self.by_class(net);
        std::mem::take(self.memory(0).0).close(ends, (shared, of_class), inside, net)
    }
}
