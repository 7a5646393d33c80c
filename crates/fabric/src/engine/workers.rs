//! How many threads one run is worth.

use crate::net::Net;
use crate::spec::RunSpec;

/// Frames that the ports of a network can end in a window from which a second thread is worth its barrier, and those for
/// each further one. A barrier takes well under a microsecond where all threads run, a frame about 40 ns.
const FRAMES_PER_WORKER: u64 = 600;

/// Most threads that a run takes unasked: beyond, caches and imbalance eat what they add.
const MOST: usize = 8;

/// Threads for a run: what was asked for, or else by the work of a window and the cores that nobody uses now.
pub(super) fn count(net: &Net, spec: &RunSpec, asked: usize) -> usize {
    let wanted = match asked {
        0 => by_work(net).min(free_cores()).clamp(1, MOST),
        n => n.min(64),
    };
    wanted.min(spec.switches.len().max(1))
}

fn by_work(net: &Net) -> usize {
    usize::try_from(frames(net) / FRAMES_PER_WORKER).unwrap_or(MOST)
}

/// Frames that all ports together can end within the least delay of a link.
pub(super) fn frames(net: &Net) -> u64 {
    net.links.iter().flatten().map(|l| net.lead / l.tx.time(net.mtu).max(1)).sum()
}

/// Cores less the processes that run or wait for one, where the system tells (Linux, over the last minute).
fn free_cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0);
    cores.saturating_sub(load.round() as usize)
}
