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
use super::meeting::{Alarm, Barrier, Mail, Numbers, Stop};
use super::visits::Turn;
use super::workers::frames;
use crate::check::{alarmed, broken};
use crate::fast::wires::Foreign;
use crate::marks::{Mark, Marks, hit};
use crate::model::Direct;
use crate::net::Net;
use crate::{RunError, Visits};
use cnsim_scheme_api::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Turns between two looks at failures and the progress callback.
const LOOK: u64 = 4096;

/// Told of time and packet-hops now and then; false stops the run.
pub(super) type Progress<'a> = Option<&'a (dyn Fn(Time, u64) -> bool + Sync)>;

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

/// Runs the parts to the end, or until something has failed.
pub(super) fn run(
    net: &Net,
    parts: &mut [Part],
    visits: Visits,
    progress: Progress<'_>,
) -> Result<(), RunError> {
    let mut turns: Vec<Turn> = parts.iter().map(|_| Turn::new(visits)).collect();
    // Where tests say which nodes are visited, each part has its thread.
    let adapts = visits == Visits::Adaptive;
    let mut alone = parts.len() == 1 || adapts && frames(net) < FEW * parts.len() as u64;
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
        let local = part.local[f.port as usize];
        if local == u32::MAX {
            broken("a frame for a port of another worker");
        }
        part.wires.push(turn.entrance(local), f.entry, f.body.map(|body| *body));
    }
}

/// One thread runs all parts, as long as their turns hold little, or the one that there is.
fn run_alone(net: &Net, parts: &mut [Part], turns: &mut [Turn], progress: Progress<'_>) -> Ended {
    let hops = |parts: &[Part]| parts.iter().map(Part::hops).sum::<u64>();
    let several = parts.len() > 1;
    if several {
        hit(Mark::Alone);
    }
    let (mut counted, mut done) = (hops(parts), 0u64);
    while let Some(end) = match (&mut *turns, &*parts) {
        ([turn], [part]) => turn.stretched_end(net, part),
        (turns, _) => turns[0].end(net),
    } {
        for (part, turn) in parts.iter_mut().zip(&mut *turns) {
            turn.step(net, part, end);
        }
        for from in 0..parts.len() {
            for to in (0..parts.len()).filter(|&to| to != from) {
                let mut mail = std::mem::take(&mut parts[from].wires.foreign[to]);
                take_in(&turns[to], &mut parts[to], &mut mail);
                parts[from].wires.foreign[to] = mail;
            }
            if parts[from].wires.direct.is_empty() {
                continue;
            }
            let mut direct = std::mem::take(&mut parts[from].wires.direct);
            for (part, turn) in parts.iter_mut().zip(&*turns) {
                turn.hand(net, part, &direct);
            }
            direct.clear();
            parts[from].wires.direct = direct;
        }
        let wish = parts.iter().zip(&*turns).map(|(part, turn)| turn.wish(net, part)).min().unwrap_or(0);
        turns.iter_mut().for_each(|turn| turn.go_on(net, wish));
        done += 1;
        if several && done.is_multiple_of(COUNT) {
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
            if progress.is_some_and(|goes_on| !goes_on(Time::from_ps(end), hops(parts))) {
                return Ended::Stopped;
            }
        }
    }
    Ended::Over
}

/// What workers share.
struct Shared {
    barrier: Barrier,
    workers: usize,
    mail: Mail<Foreign>,
    /// Feedback that takes no link: all look through all of it.
    direct: Mail<Direct>,
    /// The next turn in which a worker, or who hears of it, may have something to do.
    wishes: Numbers,
    stop: Stop,
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
        workers,
        mail: Mail::new(workers),
        direct: Mail::new(workers),
        wishes: Numbers::new(workers),
        stop: Stop::new(),
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
    let _alarm = Alarm(&shared.barrier);
    let mut turns = 0u64;
    let (mut counted, mut all_counted) = (part.hops(), shared.hops.load(Ordering::Relaxed));
    let ideal = net.direct(0).is_some();
    // What failed before this thread began.
    let failed = part.failed_before(u64::MAX);
    while let Some(end) = turn.end(net) {
        turn.step(net, part, end);
        shared.wishes.write(me, turns, turn.wish(net, part));
        for (to, list) in part.wires.foreign.iter_mut().enumerate() {
            shared.mail.send(me, to, turns, list);
        }
        if ideal {
            let direct = std::mem::take(&mut part.wires.direct);
            (0..shared.workers).for_each(|to| shared.direct.send(me, to, turns, &mut direct.clone()));
        }
        let done = turns + 1;
        if done.is_multiple_of(COUNT) {
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
                    shared.stop.ask(turns);
                }
            }
        }
        if done.is_multiple_of(LOOK) || failed || alarmed() {
            if part.failed_before(turn.reached(net)) {
                shared.failed.store(true, Ordering::Relaxed);
                shared.stop.ask(turns);
            }
            if progress.is_some_and(|goes_on| !goes_on(Time::from_ps(end), all_counted)) {
                shared.told.store(true, Ordering::Relaxed);
                shared.stop.ask(turns);
            }
        }
        if !shared.barrier.wait() {
            break;
        }
        shared.mail.receive(me, turns, |mail| take_in(turn, part, mail));
        if ideal {
            shared.direct.receive(me, turns, |direct| turn.hand(net, part, direct));
        }
        // All workers pass over the same turns.
        turn.go_on(net, shared.wishes.least(turns));
        if shared.stop.now(turns) {
            break;
        }
        turns = done;
    }
}
