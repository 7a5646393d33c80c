//! Where workers meet at the end of a turn: a barrier, mailboxes, numbers for all, and a stop that all obey in the same turn.
//!
//! `tests/meeting.rs` compiles this file with loom's locks and atomics in `super::sync`, and tries all orders of threads.

use super::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, pause, spins, unwinds,
};
use std::sync::PoisonError;

/// Locks, also what a thread held that panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A barrier that spins briefly, then sleeps: cheap when every worker has a core, harmless when not.
pub(super) struct Barrier {
    workers: usize,
    spins: u32,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    /// Who sleeps, or is about to: nobody is woken at the cost of a call of the system where all spin.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
    /// A worker panicked: nobody is to wait for it.
    broken: AtomicBool,
}

/// Breaks the barrier when a worker's thread unwinds.
pub(super) struct Alarm<'a>(pub(super) &'a Barrier);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if unwinds() {
            self.0.break_up();
        }
    }
}

impl Barrier {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            workers,
            spins: spins(workers),
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits for all workers; false where one will never come.
    pub(super) fn wait(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            // Each side changes its number before it reads the other's, so one of the two sees the other.
            self.generation.fetch_add(1, Ordering::AcqRel);
            if self.sleepers.fetch_add(0, Ordering::AcqRel) > 0 {
                let _guard = lock(&self.lock);
                self.wake.notify_all();
            }
            return true;
        }
        for _ in 0..self.spins {
            if self.generation.load(Ordering::Acquire) != generation {
                return true;
            }
            pause();
        }
        let mut guard = lock(&self.lock);
        self.sleepers.fetch_add(1, Ordering::AcqRel);
        let mut whole = true;
        while whole && self.generation.fetch_add(0, Ordering::AcqRel) == generation {
            whole = !self.broken.load(Ordering::Acquire);
            if whole {
                guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        }
        self.sleepers.fetch_sub(1, Ordering::AcqRel);
        whole
    }

    /// A worker will never come: all who wait go on.
    pub(super) fn break_up(&self) {
        self.broken.store(true, Ordering::Release);
        let _guard = lock(&self.lock);
        self.wake.notify_all();
    }
}

/// A mailbox for each pair of workers and parity of a turn: filled in one turn, emptied after its barrier.
pub(super) struct Mail<T> {
    workers: usize,
    boxes: Vec<Mutex<Vec<T>>>,
}

impl<T> Mail<T> {
    pub(super) fn new(workers: usize) -> Self {
        Self { workers, boxes: (0..workers * workers * 2).map(|_| Mutex::new(Vec::new())).collect() }
    }

    /// The box of a turn.
    fn open(&self, from: usize, to: usize, turn: u64) -> MutexGuard<'_, Vec<T>> {
        lock(&self.boxes[(from * self.workers + to) * 2 + (turn & 1) as usize])
    }

    /// Puts letters into the box of a turn, and takes its empty list in exchange.
    pub(super) fn send(&self, from: usize, to: usize, turn: u64, letters: &mut Vec<T>) {
        if !letters.is_empty() {
            std::mem::swap(&mut *self.open(from, to, turn), letters);
        }
    }

    /// Empties what all others have put there for a worker in a turn whose barrier is passed.
    pub(super) fn receive(&self, to: usize, turn: u64, mut take: impl FnMut(&mut Vec<T>)) {
        for from in (0..self.workers).filter(|from| *from != to) {
            let mut letters = self.open(from, to, turn);
            take(&mut letters);
            letters.clear();
        }
    }
}

/// A number of each worker and parity for all others: written in one turn, read after its barrier.
pub(super) struct Numbers([Vec<AtomicU64>; 2]);

impl Numbers {
    pub(super) fn new(workers: usize) -> Self {
        Self([0, 1].map(|_| (0..workers).map(|_| AtomicU64::new(0)).collect()))
    }

    pub(super) fn write(&self, me: usize, turn: u64, value: u64) {
        self.0[(turn & 1) as usize][me].store(value, Ordering::Relaxed);
    }

    /// The least of a turn whose barrier is passed: the same for all workers.
    pub(super) fn least(&self, turn: u64) -> u64 {
        self.0[(turn & 1) as usize].iter().map(|n| n.load(Ordering::Relaxed)).min().unwrap_or(0)
    }
}

/// Why all stop: of one turn the first of these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The progress callback says so.
    Told,
    /// Something has failed.
    Failed,
    /// Turns hold so much more, or less, than before that the other way to run them is cheaper.
    Changes,
    /// All is at rest, and that was asked for.
    Rests,
}

/// The turn with which all workers stop, and the reason.
pub(super) struct Stop(AtomicU64);

impl Stop {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    /// Asks for it before the barrier of a turn: all see it after that barrier, and stop after the next one.
    pub(super) fn ask(&self, turn: u64, why: Why) {
        self.0.fetch_min((turn + 1) << 2 | why as u64, Ordering::Relaxed);
    }

    /// Do all stop after the barrier of this turn?
    pub(super) fn now(&self, turn: u64) -> bool {
        turn >= self.0.load(Ordering::Relaxed) >> 2
    }

    /// The reason; none if nobody has asked.
    pub(super) fn why(&self) -> Option<Why> {
        let asked = self.0.load(Ordering::Relaxed);
        let all = [Why::Told, Why::Failed, Why::Changes, Why::Rests];
        (asked < u64::MAX).then(|| all[(asked & 3) as usize])
    }
}
