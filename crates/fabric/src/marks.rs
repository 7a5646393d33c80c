//! Marks: which of the fast paths a run took, and which of their ways out, for tests.
//!
//! A test of a path runs a network that should take it, compares the outcome with the oracle's, and asks whether the path was
//! taken: a path that is switched off, or never reached, fails the test that names it. Marks are counted where debug
//! assertions are on (profiles `dev` and `checked`); elsewhere they are nothing.

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
    /// What depends on a moment was looked at after all frames had been stored (`fast/switch/early.rs`).
    CaughtUp,
    /// Out of it: a switch took its window event by event.
    InOrder,
    /// The arrivals of a window were ranked, not sorted (`fast/sweep/arrivals.rs`).
    Ranked,
    /// A draw decided which of several data frames of one moment went first.
    TiesDrawn,
    /// Ports whose departures matter elsewhere were kept in step.
    InStep,
    /// A queue that seemed too long was relieved of what had left.
    LetGo,
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
    /// A frame crossed from one worker to another (`engine/windowed.rs`).
    Crossed,
    /// Each worker has its thread.
    Together,
    /// One thread runs all of them, as their turns hold little.
    Alone,
}

#[cfg(debug_assertions)]
mod counters {
    use super::Mark;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    thread_local! {
        static SEEN: RefCell<BTreeMap<u8, u64>> = const { RefCell::new(BTreeMap::new()) };
    }

    pub(super) fn hit(mark: Mark) {
        SEEN.with_borrow_mut(|seen| *seen.entry(mark as u8).or_default() += 1);
    }

    /// How often the runs of this thread came by a mark.
    pub fn seen(mark: Mark) -> u64 {
        SEEN.with_borrow(|seen| seen.get(&(mark as u8)).copied().unwrap_or(0))
    }

    pub(super) fn take() -> BTreeMap<u8, u64> {
        SEEN.with_borrow_mut(std::mem::take)
    }

    pub(super) fn add(marks: BTreeMap<u8, u64>) {
        SEEN.with_borrow_mut(|seen| marks.into_iter().for_each(|(m, n)| *seen.entry(m).or_default() += n));
    }

    /// Forgets the marks of this thread.
    pub fn forget() {
        SEEN.with_borrow_mut(BTreeMap::clear);
    }
}
#[cfg(debug_assertions)]
pub use counters::{forget, seen};

/// What a worker came by, on its way to the thread that waits for it.
#[derive(Debug)]
pub(crate) struct Marks {
    #[cfg(debug_assertions)]
    counts: std::collections::BTreeMap<u8, u64>,
}

impl Marks {
    /// Takes those of this thread.
    pub(crate) fn of_this_thread() -> Self {
        Self {
            #[cfg(debug_assertions)]
            counts: counters::take(),
        }
    }

    /// Adds them to those of this thread.
    pub(crate) fn add_here(self) {
        #[cfg(debug_assertions)]
        counters::add(self.counts);
    }
}

/// Comes by a mark.
#[inline(always)]
pub(crate) fn hit(mark: Mark) {
    #[cfg(debug_assertions)]
    counters::hit(mark);
    #[cfg(not(debug_assertions))]
    let _ = mark;
}
