//! Files changed by chance (scenarios are changed in `mutated.rs`): nothing that is read panics or takes long, and what is accepted is what it says.
//!
//! `CNSIM_SOAK=100000 cargo test --profile try -p cnsim-studies --test fuzz` tries as many of each kind (`make soak`). What made a
//! reader panic is written to `tests/corpus/`, to become a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dice;

use cnsim_studies::published;
use cnsim_studies::results::{Results, Run};
use cnsim_studies::scenario::Scenario;
use cnsim_studies::store::{RunRecord, Store};
use dice::{Dice, mutated, tries};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Pieces of text that readers have been wrong about.
const WORDS: [&str; 34] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "NaN",
    "inf",
    "18446744073709551615",
    "99999999999999999999",
    "1.5",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "true",
    "\"off\"",
    "\"all\"",
    "\"H0..H9/0\"",
    "\"H9..H0\"",
    "1 Tb/s",
    "0 b/s",
    "1e-6 b/s",
    "-1 us",
    "1000 s",
    "1 ps",
    "100 %",
    "101 %",
    "\u{feff}",
    "\u{1b}[31m",
    "\0",
    "λ",
    "[traffic]\n",
    "[[traffic]]\n",
    "\"topology.hosts\" = 20\n",
    "hosts = \"all\"\n",
];

/// Runs a reader on bytes; a panic is kept and told.
fn calm(kind: &str, seed: u64, bytes: &[u8], read: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(read)).is_err() {
        let path = dice::keep("corpus", &format!("{kind}-{seed}"), bytes);
        panic!("{kind} {seed}: the reader panics; kept in {path}");
    }
}

/// What a scenario's text is read as: refused with words, or a scenario whose cases are what their configurations say.
fn read_scenario(text: &str) {
    match Scenario::parse("fuzz.toml", text, &[]) {
        Err(problems) => {
            assert!(!problems.is_empty());
            for p in problems.iter().take(5) {
                let said = p.to_string();
                assert!(
                    said.contains("fuzz.toml") && !said.contains('\u{1b}') && said.len() < 100_000,
                    "{said:?}"
                );
            }
        }
        Ok(scenario) => {
            for case in scenario.cases().iter().take(2) {
                let ready =
                    scenario.ready(case).unwrap_or_else(|p| panic!("check passes, run refuses: {}", p[0]));
                let (copy, same) = Scenario::from_config(scenario.registry(), &ready.config)
                    .unwrap_or_else(|p| panic!("its configuration is refused: {}", p[0]));
                assert_eq!(copy.ready(&same).unwrap().config, ready.config);
            }
        }
    }
}

/// Traces of transfers, and files of topologies.
#[test]
fn traces_and_topologies() {
    let dir = std::env::temp_dir().join(format!("cnsim-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let trace = "start, source, destination, bytes\n0 us, H0, H1, 10 KB\n5 us, H1, H2, 1 MB\n# a remark\n6 us, H2, H0, 64 B\n";
    let graph = "switch S 8\nswitch T 8\nlink A S\nlink B S 1 Gb/s\nlink S T 40 Gb/s 2 us\nlink C T\n";
    for (file, base, keys) in [
        ("trace", trace, "[topology]\nhosts = 3\n[workload]\nkind = \"transfers\"\n"),
        ("graph", graph, "[workload]\nload = \"50 %\"\n[topology]\nkind = \"graph\"\n"),
    ] {
        let path = dir.join(file);
        let key = if file == "trace" { "workload.file" } else { "topology.file" };
        for seed in 0..tries(200) {
            let bytes = mutated(&mut Dice::new(seed), base, &WORDS);
            std::fs::write(&path, &bytes).unwrap();
            let text =
                format!("{key} = \"{}\"\nname = \"x\"\nrun.duration = \"1 ms\"\n{keys}", path.display());
            calm(file, seed, &bytes, || read_scenario(&text));
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn published_tables() {
    let head: Vec<&str> = published::EMBEDDED.lines().take(25).collect();
    for seed in 0..tries(2000) {
        let bytes = mutated(&mut Dice::new(seed), &head.join("\n"), &WORDS);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        calm("published", seed, &bytes, || match published::parse("p.csv", &text) {
            Err(said) => assert!(said.contains("p.csv"), "{said}"),
            Ok(rows) => assert!(rows.iter().all(|r| r.value.is_finite())),
        });
    }
}

fn record() -> RunRecord {
    RunRecord {
        study: "B07".into(),
        scenario: "s".into(),
        condition: "c".into(),
        pause: "on".into(),
        scheme: "ecm".into(),
        seed: 3,
        fingerprint: [("events".to_string(), "00ff".to_string())].into(),
        config: serde_json::json!({"topology.hosts": "4", "scheme": {"name": "ecm", "params": {"w": "1"}}}),
        metrics: [("overhead".to_string(), 1.25)].into(),
        ..RunRecord::default()
    }
}

/// No change of what a results.json says goes unnoticed.
#[test]
fn results_files() {
    let good = Results::new("run x", None, vec![Run::of(&record(), vec!["series/a.csv".into()])]);
    let text = good.text().unwrap();
    let path: PathBuf = std::env::temp_dir().join(format!("cnsim-fuzz-{}.json", std::process::id()));
    for seed in 0..tries(2000) {
        let bytes = mutated(&mut Dice::new(seed), &text, &WORDS);
        std::fs::write(&path, &bytes).unwrap();
        calm("results", seed, &bytes, || match Results::read(&path) {
            Err(said) => assert!(said.contains("help"), "{said}"),
            Ok(all) => assert!(
                all == good || all.sum() != all.checksum,
                "unnoticed: {}",
                String::from_utf8_lossy(&bytes)
            ),
        });
    }
    std::fs::remove_file(&path).unwrap();
}

/// A damaged store gives the run that was kept, or says that it is done anew.
#[test]
fn run_stores() {
    let dir = std::env::temp_dir().join(format!("cnsim-fuzz-store-{}", std::process::id()));
    let store = Store::open(&dir).unwrap();
    store.put(&record()).unwrap();
    let file = std::fs::read_dir(dir.join("runs")).unwrap().flatten().map(|f| f.path());
    let path = file.into_iter().find(|p| p.extension().is_some_and(|e| e == "json")).unwrap();
    let good = std::fs::read_to_string(&path).unwrap();
    for seed in 0..tries(2000) {
        let bytes = mutated(&mut Dice::new(seed), &good, &WORDS);
        std::fs::write(&path, &bytes).unwrap();
        calm("store", seed, &bytes, || match store.get(&record().config, 3) {
            Err(said) => assert!(said.contains("run again"), "{said}"),
            Ok(found) => assert!(bytes == good.as_bytes() && found == Some(record())),
        });
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
