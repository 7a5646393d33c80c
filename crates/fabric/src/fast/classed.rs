//! A switch that runs by the model's body ([`crate::model::Switch`]), with packed frames and a window at a time: one of several classes,
//! or with a setting that the fast way lacks.
//!
//! Arrivals of a window are put in order once, and what happens next follows from them and the switch's agenda.
//!
//! * Claim: a network of several classes keeps packed frames and windows, and its threads.
//! * Same bits: what happens at a switch, and in which order, is the model's own.
//! * Bench row: w2-classes.
//! * Marks: Classes.

mod calm;

use crate::check::broken;
use crate::fast::frame::{AFTER, Entry, Frame, Ps};
use crate::fast::order::of_rank_in;
use crate::fast::sweep::Scratch;
use crate::fast::wires::Wires;
use crate::marks::{Mark, hit};
use crate::model::{Kind, Switch as Whole, Switching, Turn, rank};
pub(crate) use calm::Calm;

impl Whole<Frame> {
    /// Runs it up to `end` (exclusive). Its first receiving port has this number at the worker.
    pub(crate) fn run(
        &mut self,
        (inbox, calm): (u32, &mut Calm),
        end: Ps,
        turn: &mut Turn<'_, Wires>,
        scratch: &mut Scratch,
    ) {
        let base = end.saturating_sub(turn.net.windows.window);
        if self.run_calmly((inbox, calm), end, turn) {
            return;
        }
        hit(Mark::Classes);
        if std::mem::take(&mut calm.unlisted) {
            turn.agenda.list_ends(self.outputs.iter().map(|output| output.port.until));
        }
        scratch.gather((turn.node, inbox), 0..self.outputs.len(), (base, end), turn.net, turn.out);
        let index = self.management.index(turn.net);
        for key in &scratch.keys {
            let event @ (now, _, port) = of_rank_in(base, *key);
            while let Some(event) = turn.pass_before(rank(event)) {
                self.execute(event, turn);
            }
            turn.now = now;
            self.take_in((inbox, port as u16), index, turn);
        }
        while let Some(event) = turn.pass_before(rank((end, Kind::Change, 0))) {
            self.execute(event, turn);
        }
    }

    /// A frame is taken off the wire of a port.
    #[inline]
    fn take_in(&mut self, (inbox, port): (u32, u16), index: usize, turn: &mut Turn<'_, Wires>) {
        let inbox = turn.out.inboxes.get_mut(inbox as usize + usize::from(port));
        let Some(Entry { mut frame, .. }) = inbox.and_then(|inbox| inbox.pop_front(AFTER)) else {
            broken("an arrival without a frame")
        };
        if frame.passes_as_data() {
            let out = frame.output(turn.net, index, &mut self.management.paths);
            return self.arrive(out.into(), &mut frame, turn);
        }
        match frame.as_pause() {
            Some(pause) => self.hear(port.into(), pause, turn),
            None => self.forward(frame, turn),
        }
    }
}
