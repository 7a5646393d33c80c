//! Results do not move unseen: every row of `benches/fingerprints.csv`, on one thread, and those that say so on two and four.
#![allow(clippy::unwrap_used)]

use cnsim_xtask::fingerprints::{Row, read};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares every row on a number of threads, and says all that moved, not the first only.
fn holds(threads: usize) {
    let mut moved = Vec::new();
    let rows: Vec<Row> = read(&root()).unwrap().into_iter().filter(|r| r.on(threads)).collect();
    assert!(rows.len() > 40, "{} rows on {threads} thread(s)", rows.len());
    for row in rows {
        match row.run(&root(), threads).map(|now| row.moved(&now)) {
            Ok(how) if how.is_empty() => {}
            Ok(how) => moved.push(format!("{}: {}", row.name(), how.join(", "))),
            Err(error) => moved.push(error),
        }
    }
    assert!(
        moved.is_empty(),
        "on {threads} thread(s) {} row(s) of benches/fingerprints.csv moved; if that is meant, run \
         `cargo xtask fingerprints` and say why in CHANGELOG.md, \"Results change\":\n{}",
        moved.len(),
        moved.join("\n")
    );
}

#[test]
fn fingerprints_hold_on_one_thread() {
    holds(1);
}

#[test]
fn fingerprints_hold_on_two_threads() {
    holds(2);
}

#[test]
fn fingerprints_hold_on_four_threads() {
    holds(4);
}

/// A scheme that nobody pinned could move unseen; so could a scenario.
#[test]
fn every_scheme_and_scenario_is_pinned() {
    let rows = read(&root()).unwrap();
    for entry in cnsim_schemes::registry().iter() {
        assert!(rows.iter().any(|r| r.asked[3] == entry.name), "no row runs {}", entry.name);
    }
    for (name, _) in cnsim_scenario::EMBEDDED {
        let id = name.trim_end_matches(".toml");
        assert!(rows.iter().any(|r| r.asked[0] == id), "no row runs {id}");
    }
    let mut names: Vec<String> = rows.iter().map(Row::name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), rows.len(), "two rows run the same");
}
