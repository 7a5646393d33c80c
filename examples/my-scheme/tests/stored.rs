//! Runs of a scheme in a crate of its own, kept in a store: found again by the same program, and by no other.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// What a sweep of two runs says.
fn sweep(program: &Path, scheme: &str, out: &Path) -> String {
    let short = ["run.duration=1 ms", "hotspot.start=0.2 ms", "hotspot.stop=0.8 ms"];
    let sets = short.iter().flat_map(|s| ["--set", s]);
    let done = Command::new(program)
        .args([
            "sweep", "B07/single-hop", "--scheme", scheme, "--over", "host.fifo=10,20", "--seeds", "1",
            "--out",
        ])
        .arg(out)
        .args(sets)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

/// An edit makes other bytes of the program.
#[test]
fn an_edited_program_takes_nothing_from_the_store() {
    let folder = std::env::temp_dir().join(format!("cnsim-stored-{}", std::process::id()));
    let ours = Path::new(env!("CARGO_BIN_EXE_my-scheme"));
    std::fs::create_dir_all(&folder).unwrap();
    let (edited, out) = (folder.join("edited"), folder.join("out"));
    std::fs::copy(ours, &edited).unwrap();
    std::fs::OpenOptions::new().append(true).open(&edited).unwrap().write_all(b"edited").unwrap();
    assert!(sweep(ours, "my-timely", &out).contains("0 of 2 runs taken from the store"));
    assert!(sweep(ours, "my-timely", &out).contains("2 of 2 runs taken from the store"));
    assert!(sweep(&edited, "my-timely", &out).contains("0 of 2 runs taken from the store"));
    assert!(sweep(ours, "my-timely", &out).contains("2 of 2 runs taken from the store"), "both are kept");
    // A scheme of cnsim is known by its own sources.
    assert!(sweep(ours, "ecm", &out).contains("0 of 2 runs taken from the store"));
    assert!(sweep(&edited, "ecm", &out).contains("2 of 2 runs taken from the store"));
    std::fs::remove_dir_all(&folder).unwrap();
}
