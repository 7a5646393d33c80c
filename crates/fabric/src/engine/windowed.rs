//! Conservative windows: links have delay, so within a window no node can influence another; those whose turn it is run in any
//! order, on any number of threads, with the same bits. Where every link leads from one half of the nodes to the other, the
//! halves take turns, and a window is two delays long.
//!
//! Several workers each own a share of the nodes. A turn ends with one barrier; what crosses shares goes through a
//! mailbox for each pair of workers, of two parities: written in one turn, read in the next. Each link has one
//! sender, so the order within a receiving port is the sender's.
//!
//! Where turns hold few frames, one thread runs the parts of all workers one after the other, until they hold more.
//!
//! * Claim: workers own nodes and meet once a turn.
//! * Same bits: within a window no node influences another; each link has one sender and one reader. Which thread runs a part
//!   has no effect on it.
//! * Bench row: t1024 on several threads.
//! * Marks: Crossed, Together; out: Alone.

use super::Part;
use super::visits::Turn;
use super::workers::frames;
use crate::check::alarmed;
use crate::fast::bodies::Direct;
use crate::fast::wires::Foreign;
use crate::marks::{Mark, Marks, hit};
use crate::net::Net;
use crate::{RunError, Visits};
use cnsim_scheme_api::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Turns between two looks at failures and the progress callback.
const LOOK: u64 = 4096;

/// Told of time and packet-hops now and then; false stops the run.
pub(super) type Progress<'a> = Option<&'a (dyn Fn(Time, u64) -> bool + Sync)>;

pub(super) fn run(
    net: &Net,
    parts: &mut [Part],
    visits: Visits,
    progress: Progress<'_>,
) -> Result<(), RunError> {
    if parts.len() > 1 {
        return run_shared(net, parts, visits, progress);
    }
    let part = &mut parts[0];
    let mut turn = Turn::new(visits);
    let mut turns = 0u64;
    while let Some(end) = turn.stretched_end(net, part) {
        turn.step(net, part, end);
        if !part.wires.direct.is_empty() {
            let mut direct = std::mem::take(&mut part.wires.direct);
            turn.hand(net, part, &direct);
            direct.clear();
            part.wires.direct = direct;
        }
        turn.go_on(net, turn.wish(net, part));
        turns += 1;
        if turns.is_multiple_of(LOOK) || alarmed() {
            if part.failed_before(turn.reached(net)) {
                return Ok(());
            }
            if let Some(progress) = progress
                && !progress(Time::from_ps(end), part.hops())
            {
                return Err(RunError::Stopped);
            }
        }
    }
    Ok(())
}

/// Why a stretch of turns has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// The run has come to its end, or something has failed.
    Over,
    /// The progress callback said so.
    Stopped,
    /// Turns hold so much more, or less, than before that the other way to run them is cheaper.
    Changes,
}

/// Packet-hops of a turn for each worker below which one thread runs all parts, and above which each has its own: a barrier
/// takes as long as a dozen of hops where all threads run, and a slice of the scheduler's time where they do not.
const FEW: u64 = 16;
const MANY: u64 = 32;

/// Turns between two counts of packet-hops.
const COUNT: u64 = 256;

fn run_shared(net: &Net, parts: &mut [Part], visits: Visits, progress: Progress<'_>) -> Result<(), RunError> {
    let mut turns: Vec<Turn> = parts.iter().map(|_| Turn::new(visits)).collect();
    // Where tests say which nodes are visited, each part has its thread.
    let adapts = visits == Visits::Adaptive;
    let mut alone = adapts && frames(net) < FEW * parts.len() as u64;
    loop {
        let ended = match alone {
            true => run_alone(net, parts, &mut turns, progress),
            false => run_together(net, parts, &mut turns, adapts, progress),
        };
        match ended {
            Ended::Over => return Ok(()),
            Ended::Stopped => return Err(RunError::Stopped),
            Ended::Changes => alone = !alone,
        }
    }
}

/// What has come to a part from others in a turn.
fn take_in(turn: &Turn, part: &mut Part, mail: &mut Vec<Foreign>) {
    for f in mail.drain(..) {
        hit(Mark::Crossed);
        debug_assert!(part.local[f.port as usize] != u32::MAX, "port {} is another's", f.port);
        part.wires.push(turn.entrance(part.local[f.port as usize]), f.entry, f.body.map(|body| *body));
    }
}

/// One thread runs all parts, as long as their turns hold little.
fn run_alone(net: &Net, parts: &mut [Part], turns: &mut [Turn], progress: Progress<'_>) -> Ended {
    hit(Mark::Alone);
    let hops = |parts: &[Part]| parts.iter().map(Part::hops).sum::<u64>();
    let (mut counted, mut done) = (hops(parts), 0u64);
    while let Some(end) = turns.first().and_then(|turn| turn.end(net)) {
        for (part, turn) in parts.iter_mut().zip(&mut *turns) {
            turn.step(net, part, end);
        }
        for from in 0..parts.len() {
            for to in 0..parts.len() {
                let mut mail = std::mem::take(&mut parts[from].wires.foreign[to]);
                take_in(&turns[to], &mut parts[to], &mut mail);
                parts[from].wires.foreign[to] = mail;
            }
            if parts[from].wires.direct.is_empty() {
                continue;
            }
            let direct = std::mem::take(&mut parts[from].wires.direct);
            for (part, turn) in parts.iter_mut().zip(&*turns) {
                turn.hand(net, part, &direct);
            }
        }
        let wish = parts.iter().zip(&*turns).map(|(part, turn)| turn.wish(net, part)).min().unwrap_or(0);
        turns.iter_mut().for_each(|turn| turn.go_on(net, wish));
        done += 1;
        if done.is_multiple_of(COUNT) {
            let all = hops(parts);
            if all.saturating_sub(counted) > MANY * COUNT * parts.len() as u64 {
                return Ended::Changes;
            }
            counted = all;
        }
        if done.is_multiple_of(LOOK) || alarmed() {
            if parts.iter().zip(&*turns).any(|(part, turn)| part.failed_before(turn.reached(net))) {
                return Ended::Over;
            }
            if progress.is_some_and(|goes_on| !goes_on(Time::from_ps(end), counted)) {
                return Ended::Stopped;
            }
        }
    }
    Ended::Over
}

/// What workers share.
struct Shared {
    barrier: Barrier,
    /// From worker, to worker, parity.
    mail: Vec<Mutex<Vec<Foreign>>>,
    /// From worker, parity: feedback that takes no link, for all to look through.
    direct: Vec<Mutex<Vec<Direct>>>,
    workers: usize,
    /// From worker, parity: the next turn in which it or who hears of it may have something to do.
    wishes: Vec<AtomicU64>,
    /// Turn before which all workers stop together.
    stop: AtomicU64,
    hops: AtomicU64,
    /// Why they stop before the run's end: the progress callback says so, something has failed, or one thread is enough.
    told: AtomicBool,
    failed: AtomicBool,
    few: AtomicBool,
    adapts: bool,
}

/// Each part has its thread, as long as their turns hold enough, or to the end unless it `adapts`.
fn run_together(
    net: &Net,
    parts: &mut [Part],
    turns: &mut [Turn],
    adapts: bool,
    progress: Progress<'_>,
) -> Ended {
    hit(Mark::Together);
    let workers = parts.len();
    let shared = Shared {
        barrier: Barrier::new(workers),
        mail: (0..workers * workers * 2).map(|_| Mutex::new(Vec::new())).collect(),
        direct: (0..workers * 2).map(|_| Mutex::new(Vec::new())).collect(),
        workers,
        wishes: (0..workers * 2).map(|_| AtomicU64::new(0)).collect(),
        stop: AtomicU64::new(u64::MAX),
        hops: AtomicU64::new(parts.iter().map(Part::hops).sum()),
        told: AtomicBool::new(false),
        failed: AtomicBool::new(false),
        few: AtomicBool::new(false),
        adapts,
    };
    std::thread::scope(|scope| {
        let shared = &shared;
        // The calling thread only waits. As a worker it took 1.5 to 1.8 times as long as the others for the same frames,
        // whatever its share, and all waited for it.
        let workers: Vec<_> = (parts.iter_mut().zip(turns).enumerate())
            .map(|(i, (part, turn))| {
                let progress = if i == 0 { progress } else { None };
                scope.spawn(move || {
                    work(net, part, turn, i, shared, progress);
                    Marks::of_this_thread()
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap_or_else(|e| std::panic::resume_unwind(e)).add_here();
        }
    });
    if shared.told.into_inner() {
        return Ended::Stopped;
    }
    if shared.failed.into_inner() || !shared.few.into_inner() { Ended::Over } else { Ended::Changes }
}

/// One worker's turns.
fn work(net: &Net, part: &mut Part, turn: &mut Turn, me: usize, shared: &Shared, progress: Progress<'_>) {
    let slot =
        |from: usize, to: usize, parity: usize| &shared.mail[(from * shared.workers + to) * 2 + parity];
    let _alarm = Alarm(&shared.barrier);
    let mut turns = 0u64;
    let (mut counted, mut all_counted) = (part.hops(), shared.hops.load(Ordering::Relaxed));
    let ideal = net.direct(0).is_some();
    // What failed before this thread began.
    let failed = part.failed_before(u64::MAX);
    while let Some(end) = turn.end(net) {
        let parity = (turns & 1) as usize;
        turn.step(net, part, end);
        shared.wishes[me * 2 + parity].store(turn.wish(net, part), Ordering::Relaxed);
        let out = part.wires.foreign.iter_mut().enumerate();
        for (to, list) in out.filter(|(_, list)| !list.is_empty()) {
            let mut mail = slot(me, to, parity).lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *mail, list);
        }
        if ideal {
            // Its own of two turns ago have been read by all.
            let mut direct = shared.direct[me * 2 + parity].lock().unwrap_or_else(PoisonError::into_inner);
            direct.clear();
            direct.append(&mut part.wires.direct);
        }
        turns += 1;
        if turns.is_multiple_of(COUNT) {
            // Fewer than before where frames that had gone ahead were taken back.
            let hops = part.hops();
            let more = hops.wrapping_sub(counted);
            let all = shared.hops.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
            counted = hops;
            if me == 0 {
                let few = all.saturating_sub(all_counted) < FEW * COUNT * shared.workers as u64;
                all_counted = all;
                if few && shared.adapts {
                    shared.few.store(true, Ordering::Relaxed);
                    shared.stop.fetch_min(turns + 1, Ordering::Relaxed);
                }
            }
        }
        if turns.is_multiple_of(LOOK) || failed || alarmed() {
            if part.failed_before(turn.reached(net)) {
                shared.failed.store(true, Ordering::Relaxed);
                shared.stop.fetch_min(turns + 1, Ordering::Relaxed);
            }
            if progress.is_some_and(|goes_on| !goes_on(Time::from_ps(end), all_counted)) {
                shared.told.store(true, Ordering::Relaxed);
                shared.stop.fetch_min(turns + 1, Ordering::Relaxed);
            }
        }
        if !shared.barrier.wait() {
            break;
        }
        for from in 0..shared.workers {
            let mut mail = slot(from, me, parity).lock().unwrap_or_else(PoisonError::into_inner);
            take_in(turn, part, &mut mail);
        }
        for from in (0..shared.workers).filter(|_| ideal) {
            let direct = shared.direct[from * 2 + parity].lock().unwrap_or_else(PoisonError::into_inner);
            turn.hand(net, part, &direct);
        }
        // Published before the barrier, and not written again before the next one: all workers pass over the same turns.
        let wishes = shared.wishes.iter().skip(parity).step_by(2);
        turn.go_on(net, wishes.map(|w| w.load(Ordering::Relaxed)).min().unwrap_or(0));
        // A stop asked for before this barrier is seen by all after it, and takes effect one turn later.
        if turns > shared.stop.load(Ordering::Relaxed) {
            break;
        }
    }
}

/// A barrier that spins briefly, then sleeps: cheap when every worker has a core, harmless when not.
struct Barrier {
    workers: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
    /// A worker panicked: nobody is to wait for it.
    broken: AtomicBool,
}

/// Tells the others when a worker's thread unwinds.
struct Alarm<'a>(&'a Barrier);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            let _guard = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.wake.notify_all();
        }
    }
}

impl Barrier {
    /// Turns of the loop before a worker sleeps: a few microseconds.
    const SPINS: u32 = 4000;

    fn new(workers: usize) -> Self {
        Self {
            workers,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
            broken: AtomicBool::new(false),
        }
    }

    /// False where a worker will never come.
    fn wait(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            self.wake.notify_all();
            return true;
        }
        for _ in 0..Self::SPINS {
            if self.generation.load(Ordering::Acquire) != generation {
                return true;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.generation.load(Ordering::Acquire) == generation {
            if self.broken.load(Ordering::Acquire) {
                return false;
            }
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that panics does not leave the others waiting.
    #[test]
    fn nobody_waits_for_a_worker_that_panicked() {
        let barrier = Barrier::new(2);
        let waited = std::thread::scope(|scope| {
            let lost = scope.spawn(|| {
                let _alarm = Alarm(&barrier);
                std::panic::resume_unwind(Box::new("lost"));
            });
            let other = scope.spawn(|| barrier.wait());
            assert!(lost.join().is_err());
            other.join().ok()
        });
        assert_eq!(waited, Some(false));
    }
}
