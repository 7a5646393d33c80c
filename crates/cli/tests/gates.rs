//! Gates of speed and memory that do not depend on what else the machine does: instructions per packet-hop, counted by
//! callgrind, and peak memory. The numbers to hold are in `benches/instructions.csv`: the last entry of each row and scheme. Each fast
//! path has a row that takes it often enough for its loss to be seen (docs/performance.md). They measure a release build and are
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

/// A row of the bench, the two durations whose difference is counted, and the instructions per packet-hop to hold.
struct Gate {
    row: String,
    scheme: String,
    from: String,
    to: String,
    held: f64,
}

/// The last entry of the history for each row and scheme.
fn gates(history: &str) -> Vec<Gate> {
    let mut gates: Vec<Gate> = Vec::new();
    for entry in history.lines().skip(1) {
        // A subject may have commas.
        let [held, to, from, scheme, row] =
            entry.rsplitn(6, ',').take(5).collect::<Vec<_>>().try_into().expect("seven columns");
        gates.retain(|g| (g.row.as_str(), g.scheme.as_str()) != (row, scheme));
        let held = held.parse().expect("a number");
        let [row, scheme, from, to] = [row, scheme, from, to].map(str::to_string);
        gates.push(Gate { row, scheme, from, to, held });
    }
    gates
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
    let (mut failures, mut now) = (Vec::new(), Vec::new());
    for gate in gates(&history) {
        // The difference of two durations: starting and ending a program are not the engine's.
        let [short, long] = [&gate.from, &gate.to].map(|duration| counted(&gate.row, &gate.scheme, duration));
        let count = (long.0 - short.0) / (long.1 - short.1);
        let Gate { row, scheme, from, to, held } = &gate;
        println!("{row} {scheme}: {count:.1} instructions per packet-hop, {held} at the last entry");
        now.push(format!("{row},{scheme},{from},{to},{count:.1}"));
        if count > held * (1.0 + MARGIN) {
            failures.push(format!(
                "{row} {scheme}: {count:.1} instructions per packet-hop, more than {held} + 3 % of its last entry in \
                 benches/instructions.csv; make it cheaper, or add an entry whose subject says what it buys"
            ));
        }
    }
    println!("As entries:\n{}", now.join("\n"));
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
