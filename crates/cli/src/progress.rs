//! Progress on a terminal or in a log, and Ctrl-C.

use cnsim_runs::run::Watch;
use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Columns of the bar.
const BAR: usize = 24;

/// Seconds as a person reads them.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 0.5 {
        return "less than 1 s".into();
    }
    let s = seconds.round() as u64;
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

/// Remaining time: expected packet-hops at the speed so far, or runs if the estimate is used up.
fn to_go(work: f64, hops: f64, (done, total): (u64, u64), seconds: f64) -> Option<f64> {
    if done >= total || seconds < 1.0 {
        return None;
    }
    let by_runs = (done > 0).then(|| seconds / done as f64 * (total - done) as f64);
    if hops > 0.0 && hops < 0.98 * work { Some((work - hops) / (hops / seconds)) } else { by_runs }
}

/// Share of the work that is done: of the packet-hops expected, so that one long run moves, too; of the runs where there
/// is nothing to simulate.
fn share(work: f64, hops: f64, (done, total): (u64, u64)) -> f64 {
    let runs = done as f64 / total.max(1) as f64;
    if work > 0.0 && done < total { (hops / work).max(runs * 0.5).min(0.99) } else { runs }
}

/// The line shown.
fn line(work: f64, hops: f64, (done, total): (u64, u64), seconds: f64) -> String {
    let share = share(work, hops, (done, total));
    let full = (share * BAR as f64) as usize;
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR - full));
    let runs = if total > 1 { format!("  {done}/{total} runs") } else { String::new() };
    let speed = match hops {
        0.0 => String::new(),
        _ => format!("  {:.1} M hops/s", hops / seconds.max(0.05) / 1e6),
    };
    let eta = to_go(work, hops, (done, total), seconds);
    let eta = eta.map_or_else(String::new, |s| format!("  ETA {}", duration(s)));
    format!(" {bar} {:3.0} %{runs}{speed}{eta}", share * 100.0)
}

/// A line of progress for a file: without its bar.
fn plain(line: &str) -> String {
    format!("progress: {}", line.trim_start_matches([' ', '█', '░']))
}

/// Time between two lines of progress where standard error is no terminal.
const PATIENT: Duration = Duration::from_secs(10);

/// Runs `work` while another thread shows the result of `text` on the terminal, five times a second. The line is gone at the
/// end. Without a terminal it writes a line every ten seconds. If `quiet`, nothing is shown.
pub(crate) fn shown<T: Send>(
    quiet: bool,
    text: impl Fn(f64) -> String + Send,
    work: impl FnOnce() -> T + Send,
) -> T {
    if quiet {
        return work();
    }
    let terminal = std::io::stderr().is_terminal();
    let started = Instant::now();
    let finished = &AtomicBool::new(false);
    let paint = |text: &str| {
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r\x1b[2K{text}").and_then(|()| err.flush());
    };
    std::thread::scope(|scope| {
        let painter = scope.spawn(move || {
            let mut due = PATIENT;
            while !finished.load(Ordering::Relaxed) {
                let spent = started.elapsed();
                if terminal {
                    paint(&text(spent.as_secs_f64()));
                } else if spent >= due {
                    eprintln!("{}", plain(&text(spent.as_secs_f64())));
                    due += PATIENT;
                }
                std::thread::park_timeout(Duration::from_millis(200));
            }
            if terminal {
                paint("");
            }
        });
        let result = work();
        finished.store(true, Ordering::Relaxed);
        painter.thread().unpark();
        result
    })
}

/// Shows progress on a terminal while `work` runs: share of the work, runs done, packet-hops a second, time to go;
/// `expected` are the packet-hops to be simulated.
pub(crate) fn with_progress<T: Send>(
    total: u64,
    expected: f64,
    watch: &Arc<Watch>,
    quiet: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    let watched = watch.clone();
    let text = move |seconds: f64| {
        let (done, hops) = (watched.done.load(Ordering::Relaxed), watched.live.load(Ordering::Relaxed));
        line(expected, hops as f64, (done, total), seconds)
    };
    let result = shown(quiet, text, work);
    watch.over.store(true, Ordering::Relaxed);
    result
}

/// Shows how many of `total` steps are done while `work` runs; it counts them.
pub(crate) fn counted<T: Send>(total: u64, work: impl FnOnce(&AtomicU64) -> T + Send) -> T {
    let done = &AtomicU64::new(0);
    let text = move |seconds: f64| line(0.0, 0.0, (done.load(Ordering::Relaxed), total), seconds);
    shown(false, text, || work(done))
}

/// Time that runs have to end by themselves after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(700);

/// The runs that a signal stops, and whether finished ones go to the store; none before any has begun.
static WATCHED: Mutex<Option<(Arc<Watch>, bool)>> = Mutex::new(None);

/// From now on Ctrl-C and SIGTERM end the program with code 130 and a word, and a file that grows beyond its limit (`ulimit -f`) is an
/// error of who writes it.
pub(crate) fn heed_signals() {
    #[cfg(target_os = "linux")]
    keep_ignored();
    let watched = || WATCHED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // Set once: later calls change nothing.
    let _ = ctrlc::set_handler(move || {
        let Some((watch, kept)) = watched() else {
            eprintln!("error: interrupted");
            std::process::exit(130);
        };
        if watch.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        std::thread::sleep(PATIENCE);
        if !watch.over.load(Ordering::Relaxed) {
            let what = if kept { "finished runs are kept in the store" } else { "nothing was written" };
            eprintln!("error: interrupted; {what}");
            std::process::exit(130);
        }
    });
}

/// Ctrl-C (and SIGTERM) asks these runs to stop; finished ones are kept. A second one ends the program at once, and so does
/// a run that does not stop in time: files are whole or absent. `kept`: finished runs go to the store.
pub(crate) fn on_interrupt(watch: &Arc<Watch>, kept: bool) {
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = Some((watch.clone(), kept));
    heed_signals();
}

/// Keeps ignoring a SIGHUP that was ignored at the start, as under `nohup`: a handler would receive it. A write beyond a file's limit
/// fails where its signal, SIGXFSZ, is held back.
#[cfg(target_os = "linux")]
fn keep_ignored() {
    use nix::sys::signal::{SigSet, Signal};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Threads that begin later inherit it.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    if ignored(&status, Signal::SIGHUP as u32) {
        let _ = SigSet::from(Signal::SIGHUP).thread_block();
    }
}

/// Is a signal ignored, in the words of /proc/self/status?
#[cfg(target_os = "linux")]
fn ignored(status: &str, signal: u32) -> bool {
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        assert_eq!(duration(9.4), "9 s");
        assert_eq!(duration(125.0), "2 min 05 s");
        assert_eq!(duration(3725.0), "1 h 02 min");
    }

    #[test]
    fn time_to_go_is_by_work_not_by_runs() {
        // Ninety runs came from the store at once; ten long ones are half done.
        let s = to_go(1000.0, 500.0, (90, 100), 60.0).unwrap();
        assert!((s - 60.0).abs() < 1e-9, "{s}");
        // The estimate was too small: by runs.
        assert_eq!(to_go(1000.0, 1000.0, (50, 100), 60.0), Some(60.0));
        assert_eq!(to_go(1000.0, 0.0, (0, 100), 60.0), None);
        assert_eq!(to_go(0.0, 0.0, (100, 100), 60.0), None);
    }

    #[test]
    fn a_log_has_no_bar() {
        let text = plain(&line(1000.0, 500.0, (3, 10), 12.0));
        assert!(text.starts_with("progress: 50 %  3/10 runs"), "{text}");
    }

    #[test]
    fn one_long_run_moves() {
        assert!((share(1000.0, 250.0, (0, 1)) - 0.25).abs() < 1e-9);
        assert!(share(1000.0, 5000.0, (0, 1)) < 1.0, "not done before it is done");
        assert!((share(0.0, 0.0, (3, 4)) - 0.75).abs() < 1e-9);
        let text = line(1e9, 4e8, (123, 4567), 3600.0);
        assert!(
            text.contains("40 %") && text.contains("123/4567 runs") && text.chars().count() < 80,
            "{text}"
        );
    }
}
