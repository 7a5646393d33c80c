//! Files changed by chance: nothing that is read panics or takes long, and what is accepted is what it says.
//!
//! `CNSIM_MUTANTS=100000 cargo test --profile try -p cnsim-papers --test fuzz` tries as many of each kind (`make soak`). What made a
//! reader panic is written to `tests/corpus/`; what stands there is read first, for ever.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../scenario/tests/dice/mod.rs"]
mod dice;

use cnsim_import::{Fabric, Files, FlowList, ImportError, hpcc, htsim, scenario};
use cnsim_papers::published;
use cnsim_runs::record::RunRecord;
use cnsim_runs::results;
use cnsim_runs::results::Results;
use cnsim_runs::store::{Asked, Store};
use cnsim_scenario::{EMBEDDED, Scenario};
use dice::{Dice, kept, mutated, placed, tries};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Pieces of text that readers have been wrong about.
const WORDS: [&str; 34] = [
    "0", "-1", "1e308", "1e-308", "NaN", "inf", "18446744073709551615", "99999999999999999999", "1.5",
    "\"\"", "[]", "{}", "[[]]", "true", "\"off\"", "\"all\"", "\"H0..H9/0\"", "\"H9..H0\"", "1 Tb/s",
    "0 b/s", "1e-6 b/s", "-1 us", "1000 s", "1 ps", "100 %", "101 %", "\u{feff}", "\u{1b}[31m", "\0", "λ",
    "[traffic]\n", "[[traffic]]\n", "\"topology.hosts\" = 20\n", "hosts = \"all\"\n",
];

const HPCC_NET: &str = "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 1000ns 0\n0 3 25Gbps 1us 0\n";
const HPCC_FLOWS: &str = "2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000034\n";
const HPCC_CONFIG: &str = "CC_MODE 1\nTOPOLOGY_FILE net.txt\nFLOW_FILE flows.txt\nSIMULATOR_STOP_TIME 2.02\n\
    PACKET_PAYLOAD_SIZE 1000\nBUFFER_SIZE 32\nRATE_AI 20Mb/s\nRP_TIMER 300\nEWMA_GAIN 0.004\nFAST_RECOVERY_TIMES 1\n\
    ALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n\
    KMIN_MAP 2 25000000000 100 100000000000 400\nKMAX_MAP 2 25000000000 400 100000000000 1600\n\
    PMAX_MAP 2 25000000000 0.2 100000000000 0.2\n";
const HTSIM_NET: &str = "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
    Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\n\
    Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
const HTSIM_FLOWS: &str =
    "Nodes 16\nConnections 2\n3->5 id 1 start 2000000 size 2000\n0->7 start 0.000000 size 7 prio 2\n";

/// Runs a reader on bytes; a panic is kept and told.
fn calm(kind: &str, seed: u64, bytes: &[u8], read: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(read)).is_err() {
        let path = dice::keep("corpus", &format!("{kind}-{seed}"), bytes);
        panic!("{kind} {seed}: the reader panics; kept in {path}");
    }
}

/// Gives a reader these texts and those of its kind in `tests/corpus/` as they are, then so many made from them by chance.
fn fuzz(kind: &str, given: &[&str], few: u64, read: impl Fn(&[u8])) {
    let mut seeds: Vec<Vec<u8>> = given.iter().map(|t| t.as_bytes().to_vec()).collect();
    for (name, bytes) in kept("corpus").into_iter().filter(|f| f.0.starts_with(kind)) {
        println!("{name}");
        read(&bytes);
        seeds.push(bytes);
    }
    given.iter().for_each(|text| read(text.as_bytes()));
    for seed in dice::first()..dice::first() + tries("CNSIM_MUTANTS", few) {
        let mut d = Dice::new(seed);
        let base = d.index(seeds.len());
        let bytes = mutated(&mut d, &seeds[base], &WORDS);
        calm(kind, seed, &bytes, || read(&bytes));
    }
}

/// What a scenario's text is read as: refused with words, file and line, or a scenario whose cases are what their configurations say.
fn read_scenario(text: &str, files: &[(String, String)]) {
    match Scenario::parse("fuzz.toml", text, &[]) {
        Err(problems) => {
            assert!(!problems.is_empty());
            let own = ("fuzz.toml".to_string(), text.to_string());
            let files: Vec<(String, String)> = files.iter().cloned().chain([own]).collect();
            placed(&problems, &files).unwrap_or_else(|e| panic!("{e}\n{files:?}"));
            for p in problems.iter().take(5) {
                let said = p.to_string();
                assert!(!said.contains('\u{1b}') && said.len() < 100_000, "{said:?}");
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

#[test]
fn scenarios() {
    let small = |text: &&str| !text.contains("fat-tree") && text.len() < 6000;
    let texts: Vec<&str> = EMBEDDED.iter().map(|e| e.1).filter(small).collect();
    fuzz("scenario", &texts, 150, |bytes| read_scenario(&String::from_utf8_lossy(bytes), &[]));
}

/// Traces of transfers, tables of sizes, and files of topologies, also those of other simulators.
#[test]
fn traces_and_topologies() {
    let dir = std::env::temp_dir().join(format!("cnsim-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let trace = "start, source, destination, bytes\n0 us, H0, H1, 10 KB\n5 us, H1, H2, 1 MB\n# a remark\n6 us, H2, H0, 64 B\n";
    let graph = "switch S 8\nswitch T 8\nlink A S\nlink B S 1 Gb/s\nlink S T 40 Gb/s 2 us\nlink C T\n";
    let sizes = "# bytes percent\n100 10\n1000 50 # half\n20000 100\n";
    for (kind, key, base, keys) in [
        ("trace", "workload.file", trace, "[topology]\nhosts = 3\n[workload]\nkind = \"transfers\"\n"),
        (
            "sizes",
            "workload.size_file",
            sizes,
            "[topology]\nhosts = 3\n[workload]\nkind = \"poisson\"\nsizes = \"file\"\n",
        ),
        ("graph", "topology.file", graph, "[workload]\nload = \"50 %\"\n[topology]\nkind = \"graph\"\n"),
        (
            "hpcc-topology",
            "topology.file",
            HPCC_NET,
            "[workload]\nload = \"50 %\"\n[topology]\nkind = \"graph\"\nformat = \"hpcc\"\n",
        ),
        (
            "htsim-topology",
            "topology.file",
            HTSIM_NET,
            "[workload]\nload = \"50 %\"\n[topology]\nkind = \"graph\"\nformat = \"htsim\"\n",
        ),
        (
            "hpcc-flows",
            "workload.file",
            HPCC_FLOWS,
            "[topology]\nhosts = 4\n[workload]\nkind = \"transfers\"\nformat = \"hpcc\"\norigin = \"2 s\"\n",
        ),
        (
            "htsim-flows",
            "workload.file",
            HTSIM_FLOWS,
            "[topology]\nhosts = 16\n[workload]\nkind = \"transfers\"\nformat = \"htsim\"\n",
        ),
    ] {
        let path = dir.join(kind);
        let text = format!("{key} = \"{}\"\nname = \"x\"\nrun.duration = \"1 ms\"\n{keys}", path.display());
        fuzz(kind, &[base], 200, |bytes| {
            std::fs::write(&path, bytes).unwrap();
            let file = (path.display().to_string(), String::from_utf8_lossy(bytes).into_owned());
            read_scenario(&text, &[file]);
        });
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Files of other simulators: each is refused with a line, or gives a network whose links join its own nodes.
#[test]
fn files_of_other_simulators() {
    let networks = [hpcc::topology(HPCC_NET).unwrap(), htsim::topology(HTSIM_NET).unwrap()];
    let whole = |read: Result<Fabric, Vec<ImportError>>| {
        let Ok(fabric) = read else { return };
        let known = |n: &String| fabric.hosts.contains(n) || fabric.switches.contains(n);
        assert!(fabric.links.iter().take(50).all(|l| known(&l.a) && known(&l.b) && l.rate.bps() > 0.0));
    };
    let sent = |read: Result<FlowList, Vec<ImportError>>, net: &Fabric| {
        let Ok(FlowList { flows, .. }) = read else { return };
        assert!(
            flows.iter().take(50).all(|f| f.src != f.dst && net.hosts.contains(&f.dst) && f.bytes.get() > 0)
        );
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fuzz("hpcc-topology", &[HPCC_NET], 60, |b| whole(hpcc::topology(&text(b))));
    fuzz("hpcc-flows", &[HPCC_FLOWS], 60, |b| sent(hpcc::flows(&text(b), Some(&networks[0])), &networks[0]));
    fuzz("htsim-topology", &[HTSIM_NET], 60, |b| whole(htsim::topology(&text(b))));
    fuzz("htsim-flows", &[HTSIM_FLOWS], 60, |b| {
        sent(htsim::flows(&text(b), Some(&networks[1])), &networks[1])
    });
}

/// Configurations of the fork with their files, one of the three changed: each refusal names file and line.
#[test]
fn configurations_of_the_fork() {
    let dir = std::env::temp_dir().join(format!("cnsim-fuzz-fork-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let names = ["config.txt", "net.txt", "flows.txt"];
    let texts = [HPCC_CONFIG, HPCC_NET, HPCC_FLOWS];
    let path = |name: &str| dir.join(name);
    names.iter().zip(texts).for_each(|(name, text)| std::fs::write(path(name), text).unwrap());
    let (mut taken, registry) = (0, cnsim_schemes::registry());
    for (i, kind) in ["hpcc-config", "hpcc-topology", "hpcc-flows"].into_iter().enumerate() {
        let read = std::cell::Cell::new(0);
        fuzz(kind, &[texts[i]], 200, |bytes| {
            std::fs::write(path(names[i]), bytes).unwrap();
            let files = Files { hpcc: Some(path("config.txt")), ..Files::default() };
            match scenario(&files).and_then(|all| Scenario::of_import(&registry, &all, &[], &[])) {
                Ok(_) => read.set(read.get() + 1),
                Err(problems) => {
                    let now = |name: &&str| {
                        let bytes = std::fs::read(path(name)).unwrap();
                        (path(name).display().to_string(), String::from_utf8_lossy(&bytes).into_owned())
                    };
                    let files: Vec<(String, String)> = names.iter().map(now).collect();
                    placed(&problems, &files).unwrap_or_else(|e| panic!("{e}\n{files:?}"));
                }
            }
        });
        taken += read.get();
        std::fs::write(path(names[i]), texts[i]).unwrap();
    }
    assert!(taken > 3, "the files themselves are refused");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn published_tables() {
    let head: Vec<&str> = published::EMBEDDED.lines().take(25).collect();
    fuzz("published", &[&head.join("\n")], 2000, |bytes| {
        match published::parse("p.csv", &String::from_utf8_lossy(bytes)) {
            Err(said) => assert!(said.contains("p.csv"), "{said}"),
            Ok(rows) => assert!(rows.iter().all(|r| r.value.is_finite())),
        }
    });
}

fn record() -> RunRecord {
    RunRecord {
        case: ["B07", "s", "c", "on", "ecm"].into(),
        seed: 3,
        fingerprint: [("events".to_string(), "00ff".to_string())].into(),
        config: serde_json::json!({"topology.hosts": "4", "scheme": {"name": "ecm", "params": {"w": "1"}}})
            .into(),
        metrics: [("overhead", 1.25)].into(),
        ..RunRecord::default()
    }
}

/// No change of what a results.json says goes unnoticed.
#[test]
fn results_files() {
    let good = Results::new("run x", None, vec![record().brief(vec!["series/a.csv".into()])]);
    let path: PathBuf = std::env::temp_dir().join(format!("cnsim-fuzz-{}.json", std::process::id()));
    fuzz("results", &[&good.text().unwrap()], 2000, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        match Results::read(&path) {
            Err(said) => assert!(said.contains("help"), "{said}"),
            Ok(all) => assert!(
                all == good || all.sum() != all.checksum,
                "unnoticed: {}",
                String::from_utf8_lossy(bytes)
            ),
        }
    });
    std::fs::remove_file(&path).unwrap();
}

/// A damaged store gives the run that was kept, or says that it is done anew.
#[test]
fn run_stores() {
    let dir = std::env::temp_dir().join(format!("cnsim-fuzz-store-{}", std::process::id()));
    let store = Store::open(&dir, false).unwrap();
    store.put(&record()).unwrap();
    let file = std::fs::read_dir(dir.join("runs")).unwrap().flatten().map(|f| f.path());
    let path = file.into_iter().find(|p| p.extension().is_some_and(|e| e == "json")).unwrap();
    let good = std::fs::read_to_string(&path).unwrap();
    fuzz("store", &[&good], 2000, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        match store.get(&Asked::of(&record())) {
            Err(said) => assert!(said.contains("run again"), "{said}"),
            Ok(found) => assert!(bytes == good.as_bytes() && found == Some(record())),
        }
    });
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(results::folder("a"), "a");
}
