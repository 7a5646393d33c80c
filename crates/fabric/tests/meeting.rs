//! The meeting of workers (`src/engine/meeting.rs`) in all orders that two threads can take, and in many of three.
//!
//! The file itself is compiled here, with loom's locks and atomics: loom runs a small model of a turn again and again, each time
//! in another order, and lets relaxed loads see every value that they may.
#![allow(clippy::unwrap_used, clippy::expect_used)]

/// What the file takes its locks and atomics from.
mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(super) use loom::sync::{Condvar, Mutex, MutexGuard};

    /// One look before a worker sleeps: both ways out are tried.
    pub(super) fn spins(_: usize) -> u32 {
        1
    }

    pub(super) fn pause() {
        loom::thread::yield_now();
    }

    pub(super) fn unwinds() -> bool {
        false
    }
}

#[path = "../src/engine/meeting.rs"]
#[allow(dead_code)]
mod meeting;

use loom::sync::Arc;
use loom::thread;
use meeting::{Barrier, Mail, Numbers, Stop, Why};

/// Tries a model in all orders with at most so many switches of a thread that could have gone on.
fn all_orders(preemptions: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(model);
}

/// Runs workers as threads; what each returns.
fn together<T: 'static>(workers: usize, work: impl Fn(usize) -> T + Send + Sync + 'static) -> Vec<T> {
    let work = Arc::new(work);
    let others: Vec<_> = (1..workers)
        .map(|me| {
            let work = work.clone();
            thread::spawn(move || work(me))
        })
        .collect();
    let first = work(0);
    std::iter::once(first).chain(others.into_iter().map(|t| t.join().unwrap())).collect()
}

/// What workers share in a turn.
struct Shared {
    barrier: Barrier,
    mail: Mail<(usize, u64)>,
    numbers: Numbers,
    stop: Stop,
}

/// Turns of `engine/windowed.rs` with nothing but their meetings: worker 0 asks for a stop in the first. Without letters no lock
/// orders the numbers and the stop, only the barrier does.
fn turns(workers: usize, letters: bool) -> Vec<u64> {
    let shared = Shared {
        barrier: Barrier::new(workers),
        mail: Mail::new(workers),
        numbers: Numbers::new(workers),
        stop: Stop::new(),
    };
    together(workers, move |me| {
        for turn in 0.. {
            shared.numbers.write(me, turn, 10 * turn + me as u64);
            if letters {
                for to in (0..workers).filter(|to| *to != me) {
                    shared.mail.send(me, to, turn, &mut vec![(me, turn)]);
                }
            }
            if me == 0 && turn == 0 {
                shared.stop.ask(turn, Why::Changes);
            }
            assert!(shared.barrier.wait());
            assert_eq!(shared.numbers.least(turn), 10 * turn);
            if letters {
                let mut received = Vec::new();
                shared.mail.receive(me, turn, |list| received.append(list));
                let sent = (0..workers).filter(|from| *from != me).map(|from| (from, turn));
                assert_eq!(received, sent.collect::<Vec<_>>(), "letters of this turn, by sender");
            }
            if shared.stop.now(turn) {
                return turn;
            }
        }
        unreachable!("the stop was asked for");
    })
}

/// All receive the letters and numbers of the turn, no later ones, and stop in the same turn: two workers in every order, three with
/// one preemption.
#[test]
fn turns_end_together() {
    for (workers, preemptions) in [(2, None), (3, Some(1))] {
        for letters in [true, false] {
            all_orders(preemptions, move || assert_eq!(turns(workers, letters), vec![1; workers]));
        }
    }
}

/// Nobody waits for ever for a worker that panicked, whenever it did.
#[test]
fn a_broken_barrier_lets_all_go() {
    all_orders(None, || {
        let barrier = Barrier::new(2);
        let waited = together(2, move |me| match me {
            0 => barrier.wait(),
            _ => {
                barrier.break_up();
                false
            }
        });
        assert_eq!(waited, [false, false]);
    });
}
