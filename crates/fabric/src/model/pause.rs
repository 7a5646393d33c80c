//! PAUSE of one class: when a switch asks for silence, when it lets go, and what a transmitter makes of it. With one class it is
//! 802.3x PAUSE, with several it is priority flow control (802.1Qbb).
//!
//! Memory has *domains*: one for each input, or one for the whole switch. A domain is in XOFF from the moment one of its cells
//! exceeds the high watermark until all of them are at or below the low one.

use super::agenda::Moment;
use super::frame::Pause;
use crate::check::{broken, changes};
use crate::net::{NEVER, Net, Ps};
use crate::per_bin::PerBin;
use crate::spec::{PauseSpec, PauseTransport};
use cnsim_scheme_api::Time;
use std::ops::Range;

/// The levels of a memory cell at which PAUSE begins and ends, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watermarks {
    pub(crate) high: u64,
    pub(crate) low: u64,
}

impl Watermarks {
    /// Watermarks of a switch; without PAUSE no cell reaches them.
    pub(crate) fn new(spec: Option<&PauseSpec>) -> Self {
        let (high, low) = spec.map_or((u64::MAX, u64::MAX), |p| (p.high.get(), p.low.get()));
        Self { high, low }
    }
    /// Does a cell at this level keep its domain in XOFF?
    pub(crate) fn keep_xoff(&self, cell: u64) -> bool {
        cell > self.low
    }
}

/// XOFF and XON take no time on this way: a wire of their own.
pub(crate) fn at_once(transport: PauseTransport) -> bool {
    transport == PauseTransport::Wire
}

/// XOFF (`off`) or XON leaves by a port, if that has a link: at once on this wire (some), or as a frame that waits there.
pub(crate) fn leave<L>(off: bool, by: PauseTransport, link: Option<L>, xoffs: &mut u64) -> Option<Option<L>> {
    let link = link?;
    *xoffs += u64::from(off);
    Some(at_once(by).then_some(link))
}

impl Pause {
    /// Lets the PAUSE reach a transmitter with this XOFF by class: true if it ends a pause, so that the transmitter looks for a frame.
    pub(crate) fn reach(self, paused: &mut [Paused], at: Moment<'_>) -> bool {
        let class = paused.get_mut(usize::from(self.class));
        class.unwrap_or_else(|| broken("PAUSE of no class")).hear(self.off, at)
    }
}

/// XOFF (`off`) or XON, which a domain sends as it enters or leaves that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal {
    pub(crate) off: bool,
    /// The input to whose far end it goes; none: to those of all.
    pub(crate) input: Option<u16>,
}

impl Signal {
    /// The ports, of so many, to whose far ends it goes.
    pub(crate) fn targets(self, ports: usize) -> Range<usize> {
        self.input.map(usize::from).map_or(0..ports, |input| input..(input + 1).min(ports))
    }
}

/// A transmitter's XOFF in one class: since when it stands, and for how long others stood before.
#[derive(Clone, Debug)]
pub(crate) struct Paused {
    /// ps; [`NEVER`]: it is not in XOFF.
    since: Ps,
    /// A watchdog lets it send all the same.
    pub(super) ignored: bool,
    /// No memory before the first pause has ended.
    before: Option<Box<Before>>,
}

impl Default for Paused {
    fn default() -> Self {
        Self { since: NEVER, ignored: false, before: None }
    }
}

/// The pauses of a transmitter in one class that have ended.
#[derive(Clone, Debug)]
struct Before {
    /// Their time, ps: in all, and by part of the run.
    total: Ps,
    parts: PerBin,
    /// How many they are.
    number: u32,
    /// The first of them, from when to when, ps: where that is recorded.
    spans: Vec<(Ps, Ps)>,
}

/// A transmitter's time in XOFF in a run.
#[derive(Debug, Default)]
pub(crate) struct InXoff {
    /// Of all classes.
    pub(crate) total: Time,
    /// Time in XOFF by part of the run, ps.
    pub(crate) parts: Vec<u64>,
    /// By class, from when to when, ps: [`crate::Record::spans`].
    pub(crate) spans: Vec<Vec<(Ps, Ps)>>,
}

impl Paused {
    /// For how long it has stood, if it does.
    pub(crate) fn stands(&self, now: Ps) -> Option<Time> {
        self.is_off().then(|| now.saturating_sub(self.since).time())
    }
    /// Is it in XOFF?
    pub(crate) fn is_off(&self) -> bool {
        self.since < NEVER
    }
    /// Is it in XOFF, and obeys?
    #[inline]
    pub(crate) fn stops(&self) -> bool {
        self.is_off() && !self.ignored
    }
    /// Its state, as the page of states names it.
    fn state(&self) -> &'static str {
        [["open", "stopped"], ["free", "let through"]][usize::from(self.ignored)][usize::from(self.is_off())]
    }
    /// A watchdog lets it send all the same from now on, or no longer.
    pub(super) fn ignore(&mut self, ignored: bool) {
        let before = self.state();
        self.ignored = ignored;
        if before != self.state() {
            changes("class at a transmitter", before, self.state());
        }
    }
    /// XOFF (true) or XON arrives; true if that ends a pause.
    fn hear(&mut self, off: bool, Moment { now, net }: Moment<'_>) -> bool {
        if off == self.is_off() {
            return false;
        }
        let (before, since) = (self.state(), self.since);
        self.since = if off { now } else { NEVER };
        changes("class at a transmitter", before, self.state());
        if off {
            return false;
        }
        let parts = || PerBin::sixtieths(net.duration);
        let begin = || Box::new(Before { total: Ps(0), parts: parts(), number: 0, spans: Vec::new() });
        let before = self.before.get_or_insert_with(begin);
        before.total += now - since;
        before.parts.add_span(since, now);
        if u64::from(before.number) < net.record.spans() || net.keeps > 0 {
            before.spans.push((since, now));
        }
        before.number += 1;
        true
    }
    /// The number of the pause that stops it, from 0 on.
    pub(crate) fn number(&self) -> Option<u32> {
        self.stops().then(|| self.before.as_ref().map_or(0, |before| before.number))
    }
    /// Time spent in XOFF.
    pub(crate) fn total(&self, now: Ps) -> Time {
        let before = self.before.as_ref().map_or(Ps(0), |before| before.total);
        before.time() + self.stands(now).unwrap_or_default()
    }
    /// At the end of the run: what was spent in XOFF, by class.
    pub(crate) fn close(classes: &[Self], net: &Net) -> InXoff {
        let mut all = InXoff::default();
        for mut class in classes.iter().cloned() {
            class.hear(false, Moment { now: net.duration, net });
            let mut spans = Vec::new();
            if let Some(before) = class.before {
                if before.total > Ps(0) {
                    before.parts.pour(&mut all.parts);
                }
                all.total += before.total.time();
                spans = before.spans;
            }
            if net.record.spans() > 0 || net.keeps > 0 {
                all.spans.push(spans);
            }
        }
        all
    }
}
