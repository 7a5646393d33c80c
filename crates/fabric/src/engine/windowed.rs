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
use super::meeting::{Alarm, Barrier, Mail, Numbers, Stop, Why};
use super::visits::Turn;
use crate::check::{alarmed, broken};
use crate::fast::wires::{Foreign, WATCHED};
use crate::marks::{self, Mark, hit};
use crate::model::Direct;
use crate::net::{NEVER, Net, Ps};
use crate::spec::RunSpec;
use crate::{RunError, Visits};
use cnsim_scheme_api::Time;
use std::sync::atomic::{AtomicU64, Ordering};

/// Turns between two looks at failures and the progress callback.
const LOOK: u64 = 4096;

/// Told of time and packet-hops now and then; false stops the run.
pub(super) type Progress<'a> = Option<&'a (dyn Fn(Time, u64) -> bool + Sync)>;

/// Packet-hops of a turn for each worker below which one thread runs all parts, and above which each has its own: a barrier
/// takes as long as a dozen of hops where all threads run, and a slice of the scheduler's time where they do not.
const FEW: u64 = 16;
const MANY: u64 = 32;

/// Turns between two counts of packet-hops.
const COUNT: u64 = 256;

/// The parts, the times that all nodes and the first ones had come to as they rested, and what kept them from it.
type Ended = (Vec<Part>, Option<(Ps, Ps)>, Option<(u32, String)>);

/// Runs the parts from a time to the end, to rest if that is asked for, or until something has failed.
pub(super) fn run(
    net: &Net,
    parts: Vec<Part>,
    (visits, begun, to_rest): (Visits, Ps, bool),
    progress: Progress<'_>,
) -> Result<Ended, RunError> {
    let turn = || Turn::new(visits, begun, net);
    let mut parts: Vec<_> = parts.into_iter().map(|part| (part, turn())).collect();
    parts.iter_mut().for_each(|(_, turn)| turn.rests = to_rest);
    // Where tests say which nodes are visited, each part has its thread.
    let adapts = parts.len() > 1 && visits == Visits::Adaptive;
    let mut alone = parts.len() == 1 || adapts && frames(net) < FEW * parts.len() as u64;
    loop {
        match run_on(net, &mut parts, (alone, adapts), progress) {
            why @ (None | Some(Why::Failed | Why::Rests)) => {
                let rest = parts.first().filter(|_| why == Some(Why::Rests)).map(|part| part.1.between(net));
                let remembers = parts.iter_mut().find_map(|(_, turn)| turn.remembers.take());
                return Ok((parts.into_iter().map(|(part, _)| part).collect(), rest, remembers));
            }
            Some(Why::Told) => return Err(RunError::Stopped),
            Some(Why::Changes) => alone = !alone,
        }
    }
}

/// Takes in the frames that came to a part from others in a turn.
fn take_in(turn: &Turn, part: &mut Part, mail: &mut Vec<Foreign>) {
    for f in mail.drain(..) {
        hit(Mark::Crossed);
        let local = part.local[f.port as usize];
        if local == u32::MAX {
            broken("a frame for a port of another worker");
        }
        // Who receives is to be entered in the wheel where only nodes in it are visited.
        part.wires.take_in(if turn.thin { local | WATCHED } else { local }, f);
    }
}

/// State that threads share.
struct Shared {
    barrier: Barrier,
    mail: Mail<Foreign>,
    /// Feedback that takes no link: all look through all of it.
    direct: Mail<Direct>,
    /// The next turn in which a part, or who hears of it, may have something to do.
    wishes: Numbers,
    /// Whether each part is at rest.
    rests: Numbers,
    stop: Stop,
    hops: AtomicU64,
    /// One thread runs all parts.
    alone: bool,
    /// Turns that hold much more, or less, than before end the stretch.
    adapts: bool,
}

/// Runs all parts on this thread, or each on its own: to the end, or until something stops them.
fn run_on(
    net: &Net,
    parts: &mut [(Part, Turn)],
    (alone, adapts): (bool, bool),
    progress: Progress<'_>,
) -> Option<Why> {
    let workers = parts.len();
    let shared = &Shared {
        barrier: Barrier::new(workers),
        mail: Mail::new(workers),
        direct: Mail::new(workers),
        wishes: Numbers::new(workers),
        rests: Numbers::new(workers),
        stop: Stop::new(),
        hops: AtomicU64::new(hops(parts)),
        alone,
        adapts,
    };
    if alone {
        if workers > 1 {
            hit(Mark::Alone);
        }
        work(net, parts, 0, shared, progress);
        return shared.stop.why();
    }
    hit(Mark::Together);
    std::thread::scope(|scope| {
        // The calling thread only waits. As a worker it took 1.5 to 1.8 times as long as the others for the same frames,
        // whatever its share, and all waited for it.
        let workers: Vec<_> = (parts.chunks_mut(1).enumerate())
            .map(|(i, part)| {
                let progress = if i == 0 { progress } else { None };
                scope.spawn(move || {
                    work(net, part, i, shared, progress);
                    marks::forget()
                })
            })
            .collect();
        for worker in workers {
            marks::add(worker.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
        }
    });
    shared.stop.why()
}

fn hops(parts: &[(Part, Turn)]) -> u64 {
    parts.iter().map(|(part, _)| part.hops()).sum()
}

/// One thread's turns: those of its parts, the first of which is number `first`.
fn work(net: &Net, parts: &mut [(Part, Turn)], first: usize, shared: &Shared, progress: Progress<'_>) {
    let _alarm = Alarm(&shared.barrier);
    let (mut counted, mut all_counted) = (hops(parts), shared.hops.load(Ordering::Relaxed));
    let workers = parts[0].0.wires.foreign.len();
    let ideal = net.direct(Ps(0)).is_some();
    // A failure before this thread began.
    let failed = parts.iter().any(|(part, _)| part.failed_before(NEVER));
    let mut done = 0u64;
    while let Some(end) = parts.first_mut().and_then(|(part, turn)| turn.end(net, part)) {
        let (mut wish, mut rests) = (u64::MAX, true);
        for (me, (part, turn)) in (first..).zip(parts.iter_mut()) {
            turn.step(net, part, end);
            rests = rests && turn.rests(net, part);
            wish = wish.min(turn.wish(net, part));
            for to in (0..workers).filter(|to| *to != me) {
                shared.mail.send(me, to, done, &mut part.wires.foreign[to]);
                if ideal {
                    shared.direct.send(me, to, done, &mut part.wires.direct.clone());
                }
            }
        }
        if (done + 1).is_multiple_of(COUNT) {
            // Fewer than before where frames that had gone ahead were taken back.
            let hops = hops(parts);
            let more = hops.wrapping_sub(counted);
            let all = shared.hops.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
            counted = hops;
            if first == 0 {
                let (few, many) = (FEW * COUNT * workers as u64, MANY * COUNT * workers as u64);
                let of_all = all.saturating_sub(all_counted);
                all_counted = all;
                if shared.adapts && if shared.alone { of_all > many } else { of_all < few } {
                    shared.stop.ask(done, Why::Changes);
                }
            }
        }
        if (done + 1).is_multiple_of(LOOK) || failed || alarmed() {
            if parts.iter().any(|(part, turn)| part.failed_before(turn.reached(net))) {
                shared.stop.ask(done, Why::Failed);
            }
            if progress.is_some_and(|goes_on| !goes_on(end.time(), all_counted)) {
                shared.stop.ask(done, Why::Told);
            }
        }
        if !shared.alone {
            shared.wishes.write(first, done, wish);
            shared.rests.write(first, done, rests.into());
            if !shared.barrier.wait() {
                break;
            }
            // All pass over the same turns.
            wish = shared.wishes.least(done);
            rests = shared.rests.least(done) > 0;
        }
        receive(net, parts, (first, done, wish), shared);
        if rests {
            shared.stop.ask(done, Why::Rests);
        }
        if rests || shared.stop.now(done) {
            break;
        }
        done += 1;
    }
}

/// The parts, the first of which is number `first`, take in what came to them in a turn, and go on to the next that somebody wishes.
fn receive(net: &Net, parts: &mut [(Part, Turn)], (first, done, wish): (usize, u64, u64), shared: &Shared) {
    for (me, (part, turn)) in (first..).zip(parts) {
        if part.wires.foreign.len() > 1 {
            shared.mail.receive(me, done, |mail| take_in(turn, part, mail));
        }
        if net.direct(Ps(0)).is_some() {
            let mut own = std::mem::take(&mut part.wires.direct);
            turn.hand(net, part, &own);
            own.clear();
            part.wires.direct = own;
            shared.direct.receive(me, done, |direct| turn.hand(net, part, direct));
        }
        turn.go_on(net, wish);
    }
}

/// Frames that the ports of a network can end in a window from which a second thread is worth its barrier, and those for
/// each further one. A barrier takes well under a microsecond where all threads run, a frame about 40 ns.
const FRAMES_PER_WORKER: u64 = 600;

/// Most threads that a run takes unasked: beyond, caches and imbalance eat what they add.
const MOST: usize = 8;

/// Threads for a run: what was asked for, or else by the work of a window and the cores that nobody uses now.
pub(super) fn threads(net: &Net, spec: &RunSpec, asked: usize) -> usize {
    let wanted = match asked {
        0 => ((frames(net) / FRAMES_PER_WORKER) as usize).min(free_cores()).clamp(1, MOST),
        n => n.min(64),
    };
    wanted.min(spec.switches.len().max(1))
}

/// Frames that all ports together can end within the least delay of a link.
fn frames(net: &Net) -> u64 {
    net.links.iter().flatten().map(|l| net.windows.lead / l.tx.time(net.flows.mtu).max(Ps(1))).sum()
}

/// Cores less the processes that run or wait for one, where the system tells (Linux, over the last minute).
fn free_cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0);
    cores.saturating_sub(load.round() as usize)
}
