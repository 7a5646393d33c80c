//! What is the fast way's own of what a switch does ([`Switching`]). Ports are brought up to a moment only where something looks at them;
//! control is placed ahead of its time; what a sample writes is written where the frame stands by then.

use super::{Port, Switch, ToCome, calm, early, near};
use crate::fast::frame::{Entry, Frame, Ring};
use crate::fast::wires::Wires;
use crate::model::{
    At, By, Key, Lane, Management, Memory, Moment, Outlet, Packet, Paused, Signal, Switching,
};
use crate::net::{Net, Ps};
use crate::spec::WatchdogAction;
use crate::tx_rate::TxRate;
use cnsim_scheme_api::{Queue, Ramp, Rate};
use std::slice::{from_mut, from_ref};

/// What the acts of a switch need besides.
type With<'n, 'w> = (&'n Net, &'w mut Wires);

impl<'n, 'w> Switching<'n, With<'n, 'w>> for Switch {
    type Frame = Frame;
    type Outside = Wires;
    type Ahead = ToCome;

    fn moment(&self, (net, _): &With<'n, 'w>) -> Moment<'n> {
        Moment { now: self.now, net }
    }
    fn ports(&self) -> usize {
        self.ports.len()
    }
    fn outlet(&mut self, (out, _): At) -> Outlet<'_> {
        let Port { point, transmitter, place, left, out: result, .. } = &mut self.ports[out];
        let (management, point, paused) =
            (&mut self.management, point.as_deref_mut(), from_mut(&mut transmitter.paused));
        Outlet { management, point, paused, link: place.link, left, result, of_class: None }
    }
    fn memory(&mut self, _: usize) -> (&mut Management, &mut Memory) {
        (&mut self.management, &mut self.mmu.memory)
    }
    fn outside<'a>((_, wires): &'a mut With<'n, 'w>) -> &'a mut Wires {
        wires
    }
    fn queued(&self, (out, _): At) -> u64 {
        self.ports[out].queued
    }
    fn freed(&self, (out, _): At) -> u64 {
        let port = &self.ports[out];
        port.data.front().filter(|_| port.has_freed()).map_or(0, |first| first.frame.len.into())
    }
    fn frames(&self, (out, _): At) -> impl Iterator<Item = &Frame> {
        self.ports[out].data.entries().iter().map(|e| &e.frame)
    }
    fn gate(&self, out: usize) -> (TxRate, &[Paused]) {
        let port = &self.ports[out];
        (port.line.service, from_ref(&port.transmitter.paused))
    }
    fn sent(&self, out: usize) -> (u64, u64, u64) {
        let control = self.frames((out, 0)).filter(|f| !f.is_data());
        self.ports[out].left.sent(control.map(|f| f.len))
    }
    fn is_still(&self, out: usize) -> bool {
        let port = &self.ports[out];
        let waits = !port.data.is_empty() || !port.ahead.is_empty();
        !waits && port.transmitter.sends.is_none()
    }
    fn has_waiting(&self, (out, _): At) -> bool {
        self.ports[out].has_waiting()
    }
    #[inline(always)]
    fn finish(&mut self, out: usize, (_, wires): &mut With<'n, 'w>) -> (Frame, bool, bool) {
        self.ports[out].finish(self.now, &mut wires.records)
    }
    fn take_waiting(&mut self, (out, _): At) -> Option<Frame> {
        self.ports[out].take_waiting()
    }
    fn view(&mut self, (out, _): At, ahead: ToCome, now: Ps) -> Queue {
        let port = &mut self.ports[out];
        if let Some(point) = &mut port.point {
            point.state.countdown = port.countdown + ahead.data_to_come as i64;
        }
        port.view(now, ahead)
    }
    fn last(&mut self, (out, _): At, ahead: ToCome) -> Option<&mut Frame> {
        let entries = self.ports[out].data.entries_mut();
        entries.iter_mut().nth_back(ahead.frames_after).map(|e| &mut e.frame)
    }
    fn bin(&mut self, out: usize, now: Ps) -> u64 {
        // Starts at this very moment do not change a queue's length, so bringing it up to them was enough.
        let port = &mut self.ports[out];
        port.note_peak(now + Ps(1));
        port.queued - port.later(now + Ps(1)).bytes_to_come
    }

    fn note_next(&mut self, next: Key, _: &mut With<'n, 'w>) {
        self.rare = next;
    }
    #[inline(always)]
    fn change(&mut self, out: usize, frame: &Frame, by: i32) -> Option<Signal> {
        let change = self.mmu.change(self.ports[out].has_cells, out, usize::from(frame.input), by);
        if change.is_some() {
            self.find_critical();
        }
        change.flatten()
    }
    #[inline(always)]
    fn push(&mut self, out: usize, frame: &Frame, _: &mut With<'n, 'w>) {
        let entry = Entry { ready: self.now, frame: *frame };
        match frame.lane() {
            Lane::Data(_) => {
                self.outdate_empty(out);
                near::note_holder(self, out, frame.input.into());
                let port = &mut self.ports[out];
                port.queued += u64::from(frame.len);
                port.data.push_back(&entry);
            }
            Lane::Control => {
                self.put_control(out, self.now, frame);
                self.outdate(out);
            }
            Lane::Pause => {
                let port = &mut self.ports[out];
                port.line.needs_exact = true;
                port.ahead.pauses.push_back(entry);
                self.outdate(out);
            }
        }
    }
    fn serve(&mut self, out: usize, rate: (Rate, TxRate)) {
        let port = &mut self.ports[out];
        (port.place.rate, port.line.service) = rate;
    }
    fn look_again(&mut self, out: usize, _: &mut With<'n, 'w>) {
        self.ports[out].plan_start(self.now);
    }
    fn join(&mut self, out: usize, frame: &Frame) -> bool {
        self.ports[out].join(frame)
    }
    fn opens(&mut self, (out, _): At, tagged: bool, ahead: ToCome) -> bool {
        let port = &mut self.ports[out];
        let Some(point) = &mut port.point else { return false };
        let opens = point.state.wakes(port.countdown + ahead.data_to_come as i64, tagged);
        port.countdown = point.state.countdown - ahead.data_to_come as i64;
        if !opens {
            early::look_ahead(self, out, ahead.frames_after, Ps(0));
        }
        opens
    }

    fn bring(&mut self, out: usize, (net, wires): &mut With<'n, 'w>) {
        self.advance(out, self.now, self.now, net, wires);
    }
    fn bring_before(&mut self, out: usize, (net, wires): &mut With<'n, 'w>) {
        if let Some(before) = self.now.0.checked_sub(1).map(Ps) {
            self.advance(out, before, self.now, net, wires);
        }
        self.ports[out].line.needs_exact = true;
        self.outdate(out);
    }
    #[inline(always)]
    fn meet(&mut self, out: usize, frame: &Frame, (net, wires): &mut With<'n, 'w>) {
        if self.is_settled(out) {
            self.begin(out, self.now, net, wires);
        } else {
            self.advance(out, self.now, self.now, net, wires);
        }
        calm::count_cells(self, out, frame.len);
    }
    fn ahead(&self, out: usize, probed: bool) -> ToCome {
        // Control of this moment that stands there came before a probe: it is stored ahead up to the first input with one.
        match (probed, self.early.may_be_ahead) {
            (true, false) => ToCome::default(),
            _ => self.ports[out].later(self.now + Ps(u64::from(!probed))),
        }
    }
    fn look_before(&mut self, signal: Signal, by: By, (net, wires): &mut With<'n, 'w>) {
        let port = &self.ports[by.0];
        if port.has_freed() && port.began() == Some(self.now) && !signal.off {
            let first = signal.targets(self.ports.len()).filter(|&t| t < by.0);
            first.for_each(|t| self.advance(t, self.now, self.now + Ps(1), net, wires));
        }
    }
    fn woken(
        &mut self,
        out: usize,
        (ramp, records): (Option<Ramp>, bool),
        ahead: ToCome,
        (net, wires): &mut With<'n, 'w>,
    ) {
        let port = &mut self.ports[out];
        let Some(point) = &mut port.point else { return };
        port.countdown = point.state.countdown - ahead.data_to_come as i64;
        port.place.stamp = point.stamp();
        port.line.needs_exact |= port.place.stamp.is_some();
        let (ramp_changes, records_change) = (ramp != point.state.ramp, records != point.state.records);
        let sends = port.sends_data() && port.data.front().is_some_and(|first| first.frame.is_data());
        if ramp_changes && sends && port.began().is_some_and(|began| began < self.now) {
            port.decide_mark(ramp, &mut wires.records);
        }
        if ramp_changes || records_change {
            port.note_ramp(net);
            calm::note_calm(self, out);
        }
        early::look_ahead(self, out, ahead.frames_after, Ps(0));
    }
    fn watched(&mut self, at: At, turns: bool, (_, wires): &mut With<'n, 'w>) {
        let (now, port) = (self.now, &mut self.ports[at.0]);
        if turns {
            if self.management.watchdogs.act(at, WatchdogAction::Drop) {
                port.note_peak(now);
                port.decide(now, &mut wires.records);
            }
            self.outdate(at.0);
        }
        calm::note_calm(self, at.0);
    }
    fn empty(&mut self, out: usize) {
        self.ports[out].data = Ring::default();
    }
}
