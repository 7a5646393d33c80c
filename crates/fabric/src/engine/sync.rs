//! Locks and atomics of [`super::meeting`]; its test has others.

pub(super) use std::hint::spin_loop as pause;
pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
pub(super) use std::thread::panicking as unwinds;

/// Turns of the loop before one of so many workers sleeps: few where it may hold the core of the worker that it waits for.
pub(super) fn spins(workers: usize) -> u32 {
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() < workers) { 50 } else { 4000 }
}
