//! Threads of ours that call Python, and their end where it is asked for.

use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often signals are looked at and progress is told.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// How long Python code may go on after it was asked to stop; then its thread is left alone.
pub(crate) const PATIENCE: Duration = Duration::from_millis(700);

/// Stack of a thread that runs a scheme in Python, bytes: as much as a program's first thread has, and more.
pub(crate) const STACK: usize = 16 << 20;

/// Threads that call Python now, by their names there.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<Vec<u64>>);

/// A thread among them, until it leaves.
struct Entered<'a>(&'a Threads, Option<u64>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.all().retain(|ident| Some(*ident) != self.1);
    }
}

impl Threads {
    fn all(&self) -> MutexGuard<'_, Vec<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` on this thread, which the interpreter knows for so long: the work calls back often.
    pub(crate) fn within<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        Python::attach(|py| {
            let ident = py.import("threading").and_then(|t| t.call_method0("get_ident")?.extract::<u64>());
            let entered = Entered(self, ident.ok());
            self.all().extend(entered.1);
            let done = py.detach(work);
            drop(entered);
            done
        })
    }

    /// Raises `KeyboardInterrupt` in those that are in Python code.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let all = self.all().clone();
        py.import("cnsim._work")?.getattr("interrupt")?.call1((all,)).map(drop)
    }

    /// Interrupts them until all have left. A call that sleeps outside of the interpreter cannot be ended: its thread is left alone.
    pub(crate) fn end(&self, py: Python<'_>) -> PyResult<()> {
        let since = Instant::now();
        while !self.all().is_empty() && since.elapsed() < PATIENCE {
            self.interrupt(py)?;
            py.detach(|| std::thread::sleep(TICK / 10));
        }
        Ok(())
    }
}
