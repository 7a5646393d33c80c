//! Marks: which of the fast paths a run took, and which of their ways out, for tests.
//!
//! A test of a path runs a network that should take it, compares the outcome with the oracle's, and asks whether the path was
//! taken: a path that is switched off, or never reached, fails the test that names it. Marks are counted where debug
//! assertions are on (profiles `dev` and `checked`); elsewhere they are nothing.

use std::cell::Cell;

/// A fast path, or a way out of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// A switch stored a window's frames without order (`fast/sweep.rs`).
    CalmWindow,
    /// A switch took a window in pieces.
    InPieces,
    /// Out of it: a threshold came near, and all frames went back on their wires.
    PutBack,
    /// An event that depends on its moment was looked at after all frames had been stored (`fast/switch/early.rs`).
    CaughtUp,
    /// Out of it: a switch took its window event by event.
    InOrder,
    /// A draw decided which of several data frames of one moment went first.
    TiesDrawn,
    /// Ports whose departures matter elsewhere were kept in step.
    InStep,
    /// A frame came to a shared buffer near its thresholds, and nothing followed, however much had left by then.
    Near,
    /// Out of it: what had left by outputs out of step was counted first (`fast/switch/near.rs`).
    CountedOthers,
    /// A switch looked only at the ports that had something (`fast/sweep/thin.rs`).
    ThinWindow,
    /// A frame that met an idle line went on its wire at once.
    Flown,
    /// A frame that waited for its line went on its wire as it started.
    Launched,
    /// Turns in which nobody had anything to do were passed over (`fast/wheel.rs`).
    PassedOver,
    /// From here on only nodes with something to do are visited (`engine/visits.rs`).
    ChoseDue,
    /// From here on all are.
    ChoseAll,
    /// A star's hosts and switch ran further than a lead (`engine/visits.rs`).
    Stretched,
    /// Out of it: the switch did not promise to stay quiet.
    NotQuiet,
    /// A host that nothing held back put a frame on the wire as it was made (`fast/host/window.rs`).
    SentStraight,
    /// Out of it: a host went event by event.
    HostByEvent,
    /// Its idle transmitter took a frame as that came, without an event for the start.
    StartedAtOnce,
    /// A switch ran a window by the model's body (`fast/classed.rs`).
    Classes,
    /// It did so port by port (`fast/classed/calm.rs`).
    CalmClasses,
    /// A hop of telemetry was written beside a frame (`fast/records.rs`).
    Recorded,
    /// A frame crossed from one worker to another (`engine/windowed.rs`).
    Crossed,
    /// Each worker has its thread.
    Together,
    /// One thread runs all of them, as their turns hold little.
    Alone,
}

/// How often a thread came by each mark.
pub(crate) type Counts = [u64; Mark::Alone as usize + 1];

thread_local! {
    static SEEN: Cell<Counts> = const { Cell::new([0; Mark::Alone as usize + 1]) };
}

/// Comes by a mark.
#[inline(always)]
pub(crate) fn hit(mark: Mark) {
    if cfg!(debug_assertions) {
        let mut seen = SEEN.get();
        seen[mark as usize] += 1;
        SEEN.set(seen);
    }
}

/// How often the runs of this thread came by a mark.
pub fn seen(mark: Mark) -> u64 {
    SEEN.get()[mark as usize]
}

/// Forgets the marks of this thread; returns how often it came by them, for the thread that waits for it.
pub fn forget() -> Counts {
    SEEN.take()
}

/// Adds those of another thread to those of this one.
pub(crate) fn add(more: Counts) {
    let mut seen = SEEN.get();
    seen.iter_mut().zip(more).for_each(|(n, m)| *n += m);
    SEEN.set(seen);
}
