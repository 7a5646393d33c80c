//! Gates of speed and memory that do not depend on what else the machine does: instructions per packet-hop, counted by
//! callgrind, and peak memory. The numbers to hold are in `benches/instructions.csv`: the last entry of each row and scheme. Each fast
//! path has a row that takes it often enough for its loss to be seen (docs/performance.md). They measure a release build and are
//! ignored in any other: `make test PART=speed`.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use common::skip;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What more than the last entry of the history is refused.
const MARGIN: f64 = 0.03;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Other profiles are compiled for the sake of the compiler's time, so their instructions say nothing.
fn release_build() {
    let folder = Path::new(env!("CARGO_BIN_EXE_cnsim")).parent().expect("a folder");
    assert!(folder.ends_with("release"), "{} is no release build", folder.display());
}

/// Instructions and packet-hops of a row of the bench, cut to a duration.
fn counted(row: &str, scheme: &str, duration: &str) -> (f64, f64) {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_cnsim"))
        .args(["bench", "--child", row, scheme, "1", duration])
        .output()
        .expect("valgrind starts");
    let said = String::from_utf8_lossy(&out.stderr).to_string();
    let count = said.lines().find_map(|l| l.split("Collected :").nth(1)).expect("callgrind says how many");
    let row: serde_json::Value = serde_json::from_slice(&out.stdout).expect("the row is JSON");
    (count.trim().parse().expect("a number"), row["packet_hops"].as_f64().expect("a number"))
}

/// Rows of the bench with the two durations whose difference is counted: each fast path has one that takes it often.
const PATHS: &[[&str; 4]] = &[
    // Calm windows, calm hosts.
    ["w2", "none", "1 ms", "3 ms"],
    // Samples found after all frames are stored, messages among the data.
    ["w2", "qcn-2pt", "1 ms", "3 ms"],
    // A marking ramp at departure.
    ["w2", "dcqcn", "1 ms", "3 ms"],
    // Few frames in a window: due visits, frames that fly or go ahead.
    ["w2-10", "none", "10 ms", "30 ms"],
    // Windows in order of time.
    ["b07-fat", "none", "1 ms", "3 ms"],
    // Hosts whose limiters hold frames back.
    ["b07-single", "qcn-3pt", "20 ms", "60 ms"],
    // Tags echoed at once; probes and their answers.
    ["w1-60", "fecn", "20 ms", "60 ms"],
    ["w1-60", "e2cm-src", "20 ms", "60 ms"],
    // A star whose windows are stretched.
    ["sparse", "none", "200 ms", "600 ms"],
    // Finite flows: XOFF and ports kept in step; the same with limiters; without PAUSE.
    ["perm128", "none", "0.5 ms", "1 ms"],
    ["perm128", "dcqcn", "0.5 ms", "1 ms"],
    ["perm128-no-pause", "none", "0.5 ms", "1 ms"],
    // Queue pairs: acknowledgements, windows, telemetry.
    ["w2-60-acks", "none", "1 ms", "3 ms"],
    ["roce320", "dcqcn", "0.05 ms", "0.1 ms"],
    ["roce320-hpcc", "hpcc", "0.05 ms", "0.1 ms"],
    // A shared buffer and PAUSE that are there and do nothing.
    ["roce320-pfc", "dcqcn", "0.05 ms", "0.1 ms"],
    // A NIC in XOFF, which stops switches and hosts.
    ["storm320", "dcqcn", "0.05 ms", "0.1 ms"],
    // XOFF throughout, by a shared buffer whose memory is free as a transmission starts.
    ["incast-pfc", "dcqcn", "2 ms", "4 ms"],
    // Several classes, port by port.
    ["w2-classes", "none", "1 ms", "3 ms"],
    // A shared buffer near its thresholds in many switches at once: all outputs of these are in step.
    ["perm128-pfc", "none", "0.5 ms", "1 ms"],
];

fn history() -> String {
    std::fs::read_to_string(root().join("benches/instructions.csv")).expect("the history")
}

/// The instructions per packet-hop to hold, by the last entry of the history for a row.
fn held(history: &str, path: &[&str; 4]) -> Option<f64> {
    let tail = format!(",{},", path.join(","));
    let entry = history.lines().rfind(|entry| entry.contains(&tail))?;
    entry.rsplit(',').next()?.parse().ok()
}

/// Counts a row, and says by how much it exceeds its last entry.
fn failure(history: &str, path @ [row, scheme, from, to]: &[&str; 4]) -> Option<String> {
    // The difference of two durations: starting and ending a program are not the engine's.
    let [short, long] = [from, to].map(|duration| counted(row, scheme, duration));
    let count = (long.0 - short.0) / (long.1 - short.1);
    println!("{},{count:.1}", path.join(","));
    let Some(held) = held(history, path) else {
        skip(
            &format!("instructions_per_packet_hop_hold: {row} {scheme}"),
            "an entry in benches/instructions.csv",
        );
        return None;
    };
    (count > held * (1.0 + MARGIN)).then(|| {
        format!(
            "{row} {scheme}: {count:.1} instructions per packet-hop, more than {held} + 3 % of its last entry in \
             benches/instructions.csv; make it cheaper, or add an entry whose subject says what it buys"
        )
    })
}

/// An entry has all its columns, and is of a row that is counted.
#[test]
fn the_history_is_of_rows_that_are_counted() {
    let history = history();
    for entry in history.lines().skip(1) {
        let mine = PATHS.iter().any(|path| entry.contains(&format!(",{},", path.join(","))));
        let number = entry.rsplit(',').next().and_then(|n| n.parse::<f64>().ok());
        assert!(mine && number.is_some_and(|n| n > 50.0), "{entry}");
    }
    assert!(held(&history, &PATHS[0]).is_some() && held(&history, &PATHS[1]).is_some());
}

#[test]
#[ignore = "measures a release build"]
fn instructions_per_packet_hop_hold() {
    let name = "instructions_per_packet_hop_hold";
    release_build();
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip(name, "valgrind");
    }
    let history = history();
    let failure = |path| failure(&history, path);
    // Instructions do not depend on what runs beside: a row for each core.
    let next = AtomicUsize::new(0);
    let each = || std::iter::from_fn(|| PATHS.get(next.fetch_add(1, Ordering::Relaxed))).filter_map(failure);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let failures: Vec<String> = std::thread::scope(|s| {
        let workers: Vec<_> = (0..cores).map(|_| s.spawn(|| each().collect::<Vec<_>>())).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a row is counted")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
#[ignore = "measures a release build"]
fn four_thousand_hosts_fit_in_70_megabytes() {
    let name = "four_thousand_hosts_fit_in_70_megabytes";
    release_build();
    if !Path::new("/proc/self/status").exists() {
        return skip(name, "Linux");
    }
    let peak = || {
        let out = Command::new(env!("CARGO_BIN_EXE_cnsim"))
            .args(["bench", "--child", "t4096", "none", "1", "4 ms"])
            .output()
            .expect("cnsim starts");
        let row: serde_json::Value = serde_json::from_slice(&out.stdout).expect("the row is JSON");
        row["peak_rss_bytes"].as_f64().expect("a number")
    };
    // The system keeps more or less of the program's own pages: the least of several runs is the simulator's.
    let peak = (0..5).map(|_| peak()).fold(f64::INFINITY, f64::min);
    assert!(peak > 1e6 && peak < 70e6, "4096 hosts took {:.1} MB", peak / 1e6);
}
