//! Locks and atomics of [`super::meeting`]; its test has others.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(super) use std::sync::{Condvar, Mutex, MutexGuard};

/// Turns of the loop before a worker sleeps: a few microseconds.
pub(super) const SPINS: u32 = 4000;

/// A moment of a loop that waits.
pub(super) fn pause() {
    std::hint::spin_loop();
}

/// Does a panic end this thread?
pub(super) fn unwinds() -> bool {
    std::thread::panicking()
}
