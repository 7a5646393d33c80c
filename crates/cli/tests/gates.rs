//! Gates of speed and memory that do not depend on what else the machine does: instructions per packet-hop, counted by
//! callgrind, and peak memory. The numbers to hold are in `benches/instructions.csv`. They measure a release build and are
//! ignored in any other: `cargo test --release -p cnsim-cli --test gates -- --include-ignored`, the second line of `make test`.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What more than the last entry of the history is refused.
const MARGIN: f64 = 0.03;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names the test as skipped where `make test` looks; under `CNSIM_STRICT=1` that is a failure.
fn skip(name: &str, needs: &str) {
    assert!(std::env::var("CNSIM_STRICT").as_deref() != Ok("1"), "{name} needs {needs}");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |t| root().join(t));
    let list = std::fs::OpenOptions::new().create(true).append(true).open(target.join("skipped.txt"));
    let _ = list.and_then(|mut f| writeln!(f, "SKIPPED: {name} (needs {needs})"));
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

#[test]
#[ignore = "measures a release build"]
fn instructions_per_packet_hop_hold() {
    let name = "instructions_per_packet_hop_hold";
    release_build();
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip(name, "valgrind");
    }
    let history = std::fs::read_to_string(root().join("benches/instructions.csv")).expect("the history");
    let head: Vec<&str> = history.lines().next().expect("a head").split(',').collect();
    let last: Vec<&str> = history.lines().last().expect("an entry").rsplitn(head.len(), ',').collect();
    let mut failures = Vec::new();
    for (column, scheme) in [("w2 none", "none"), ("w2 qcn-2pt", "qcn-2pt")] {
        let at = head.iter().position(|h| *h == column).expect("a column for it");
        let held: f64 = last[head.len() - 1 - at].parse().expect("a number");
        // The difference of two durations: starting and ending a program are not the engine's.
        let (short, long) = (counted("w2", scheme, "1 ms"), counted("w2", scheme, "3 ms"));
        let now = (long.0 - short.0) / (long.1 - short.1);
        println!("{column}: {now:.1} instructions per packet-hop, {held} at the last entry");
        if now > held * (1.0 + MARGIN) {
            failures.push(format!(
                "{column}: {now:.1} instructions per packet-hop, more than {held} + 3 % of the last entry of \
                 benches/instructions.csv; make it cheaper, or add an entry whose subject says what it buys"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
#[ignore = "measures a release build"]
fn four_thousand_hosts_fit_in_64_megabytes() {
    let name = "four_thousand_hosts_fit_in_64_megabytes";
    release_build();
    if !Path::new("/proc/self/status").exists() {
        return skip(name, "Linux");
    }
    let out = Command::new(env!("CARGO_BIN_EXE_cnsim"))
        .args(["bench", "--child", "t4096", "none", "1", "4 ms"])
        .output()
        .expect("cnsim starts");
    let row: serde_json::Value = serde_json::from_slice(&out.stdout).expect("the row is JSON");
    let peak = row["peak_rss_bytes"].as_f64().expect("a number");
    assert!(peak > 1e6 && peak < 64e6, "4096 hosts took {:.1} MB", peak / 1e6);
}
