//! Finite flows from scenario to completion time: workloads, files of other simulators, ideal times, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_fabric::{Options, Outcome, RunSpec};
use cnsim_measure::Run;
use cnsim_measure::flow_times::Flows;
use cnsim_scenario::{Ready, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn ready(text: &str) -> Ready {
    let scenario = Scenario::parse("t.toml", text, &[]).unwrap_or_else(|p| panic!("{p:#?}"));
    let case = scenario.cases()[0].clone();
    scenario.ready(&case).unwrap()
}

fn go(ready: &Ready, seed: u64) -> (RunSpec, Outcome) {
    let spec = ready.settings.spec(&ready.built, seed, false);
    let out = cnsim_fabric::run(&spec, &Options::default()).unwrap();
    (spec, out)
}

/// What is wrong with a scenario, a line each.
fn refused(text: &str) -> String {
    let problems = Scenario::parse("t.toml", text, &[]).expect_err(text);
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A star of four hosts whose workload is this.
fn star(workload: &str) -> String {
    format!(
        "name = \"t\"\n[topology]\nhosts = 4\n[pause]\nmode = \"off\"\n[run]\nduration = \"1 ms\"\n[workload]\n{workload}\n"
    )
}

/// A folder of its own for a test's files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("cnsim-flows-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.0.join(name), text).unwrap();
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Two racks and a switch above them in the fork's form: hosts 0 to 3 at switch 4, 5 to 7 at 8, switch 9 above; and in its
/// configuration DCQCN.
fn fork_files(folder: &Folder, flows: &str) -> PathBuf {
    let topology = "10 3 9\n4 8 9\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0\n2 4 100Gbps 1000ns 0\n3 4 100Gbps 1000ns 0\n\
                    5 8 100Gbps 1000ns 0\n6 8 100Gbps 0.001ms 0\n7 8 100Gbps 1us 0\n4 9 400Gbps 1000ns 0\n8 9 400Gbps 1000ns 0\n";
    folder.write("topology.txt", topology);
    folder.write("flow.txt", flows);
    let config = "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE mix/topology.txt\n\
                  FLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 2.001\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n\
                  CLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 20Mb/s\n\
                  RATE_HAI 200Mb/s\nMIN_RATE 1000Mb/s\nHAS_WIN 0\nKMAX_MAP 2 100000000000 1600 400000000000 6400\n\
                  KMIN_MAP 2 100000000000 400 400000000000 1600\nPMAX_MAP 2 100000000000 0.20 400000000000 0.20\nBUFFER_SIZE 32\n";
    folder.write("config.txt", config)
}

fn imported(config: &Path) -> Result<Scenario, String> {
    let files = cnsim_import::Files { hpcc: Some(config.into()), ..Default::default() };
    let all =
        |p: Vec<cnsim_problem::Problem>| p.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let read = cnsim_import::scenario(&files).map_err(all)?;
    Scenario::of_import(&cnsim_schemes::registry(), &read, &[], &[]).map_err(all)
}

/// Sizes and times of uncontended flows that the fork wrote (case C: 41>40, 193>202, 18>24, 35>44 in a rack, 298>314 over 400
/// Gb/s), with the last acknowledgement. Its way back, cut to whole nanoseconds at each link, takes 4 + 4 ns and 2 us; or
/// 4 + 1 + 1 + 4 and 4.
#[test]
fn uncontended_flows_are_equal_to_the_nanosecond() {
    let folder = Folder::new("ns");
    let flows = "5\n0 1 3 100 661 2.000000067\n2 3 3 100 555 2.000020067\n1 0 3 100 467 2.000040067\n3 2 3 100 359 2.000060067\n\
                 5 0 3 100 335 2.000080067\n";
    let scenario = imported(&fork_files(&folder, flows)).unwrap();
    // The fork's PFC is of a class, in frames of 43 B.
    let written = |key: &str| scenario.flat().leaves[key].items[0].clone();
    assert_eq!(["pause.mode", "pause.frames", "pause.length"].map(written), ["on", "pfc", "43 B"]);
    let case = scenario.cases()[0].clone();
    let ready = scenario.ready(&case).unwrap();
    let (_, out) = go(&ready, 1);
    let flows = Flows::of(&ready.settings, &out);
    let ns: BTreeMap<u64, u64> = flows.done.iter().map(|f| (f.bytes, f.time)).collect();
    let fork =
        [(661, 4120, 2008), (555, 4104, 2008), (467, 4090, 2008), (359, 4072, 2008), (335, 8084, 4010)];
    assert_eq!(ns, fork.map(|(bytes, ns, _)| (bytes, ns * 1000)).into());
    // The ideal time goes to the same end: so has a flow alone a slowdown of 1. The way back takes what it takes in the fork.
    assert!(flows.done.iter().all(|f| f.time == f.exact), "{:?}", flows.done);
    let back = out.hosts.iter().flat_map(|h| &h.transfers.completions);
    let back: BTreeSet<u64> = back.map(|c| (c.acknowledged.unwrap() - c.end).as_ps()).collect();
    assert_eq!(back, fork.map(|(_, _, back)| back * 1000).into());
    // The fork's formula gives the fork's own ideal times, which these flows beat.
    assert_eq!(flows.done.iter().find(|f| f.bytes == 335).unwrap().fork, 8_230_000);
    let metrics: BTreeMap<_, _> = Run::new(&ready.settings, &out, &flows, None)
        .measured()
        .into_iter()
        .map(|(id, v, _)| (id.text(), v))
        .collect();
    assert_eq!((metrics["flows_below_ideal"], metrics["completed_transfers"]), (5.0, 5.0));
}

/// Each mode runs with its own frames. An uncontended flow of one frame shows them: HPCC's have 42 B of telemetry and their
/// acknowledgements 28 B, TIMELY's frames a time stamp of 8 B. At 100 Gb/s 751 B take 60 ns, 709 + 8 B 57, 709 B 56, and 88 B 7.
#[test]
fn every_mode_runs_with_its_frames() {
    let folder = Folder::new("modes");
    let config = fork_files(&folder, "1\n0 1 3 100 661 2.000000067\n");
    let good = std::fs::read_to_string(&config).unwrap();
    let step = good.replace("1600 400000000000 6400", "400 400000000000 1600");
    for (mode, window, ns) in
        [(3, 1, 4000 + 2 * 60 + 2 * 7), (7, 0, 4000 + 2 * 57 + 2 * 4), (8, 1, 4000 + 2 * 56 + 2 * 4)]
    {
        let text = step
            .replace("CC_MODE 1", &format!("CC_MODE {mode}"))
            .replace("HAS_WIN 0", &format!("HAS_WIN {window}\nVAR_WIN {window}\nGLOBAL_T 1\nMULTI_RATE 0"));
        std::fs::write(&config, text).unwrap();
        let scenario = imported(&config).unwrap();
        let ready = scenario.ready(&scenario.cases()[0]).unwrap();
        let (_, out) = go(&ready, 1);
        let flows = Flows::of(&ready.settings, &out);
        assert_eq!(flows.done.iter().map(|f| f.time / 1000).collect::<Vec<_>>(), [ns], "{mode}");
        assert_eq!(out.by_model, None, "{mode}");
    }
}

/// An incast of ten hosts under HPCC as the fork ends it, flow by flow. Rates and windows change with each acknowledgement.
#[test]
fn an_incast_under_hpcc_is_equal_to_the_nanosecond() {
    let folder = Folder::new("incast");
    let sizes = [46221, 55959, 77330, 47992, 2521, 8061, 15243, 37338, 120_100, 64000];
    let flow = |(i, bytes): (u64, &u64)| format!("{} 0 3 100 {bytes} 2.{:09}\n", i + 1, 1007 * i);
    let flows = format!("10\n{}", (0..).zip(&sizes).map(flow).collect::<String>());
    let config = fork_files(&folder, &flows);
    let links = (0..16).map(|host| format!("{host} 16 100Gbps 1000ns 0\n")).collect::<String>();
    folder.write("topology.txt", &format!("17 1 16\n16\n{links}"));
    let text = std::fs::read_to_string(&config).unwrap().replace("CC_MODE 1", "CC_MODE 3").replace(
        "RATE_AI 20Mb/s\nRATE_HAI 200Mb/s\nMIN_RATE 1000Mb/s\nHAS_WIN 0\n",
        "RATE_AI 50Mb/s\nRATE_HAI 50Mb/s\nMIN_RATE 100Mb/s\nHAS_WIN 1\nGLOBAL_T 1\nVAR_WIN 1\nFAST_REACT 1\nU_TARGET 0.95\n\
         MI_THRESH 0\nINT_MULTI 1\nMULTI_RATE 0\n",
    );
    std::fs::write(&config, text).unwrap();
    let scenario = imported(&config).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let flows = Flows::of(&ready.settings, &go(&ready, 1).1);
    let ours: BTreeMap<u64, u64> = flows.done.iter().map(|f| (f.bytes, f.time / 1000)).collect();
    let fork = [14043, 20749, 45418, 20822, 10933, 14984, 18175, 23639, 41311, 30848];
    assert_eq!(ours, sizes.into_iter().zip(fork).collect());
}

#[test]
fn what_a_configuration_asks_and_cnsim_has_not_is_named() {
    let folder = Folder::new("config");
    let config = fork_files(&folder, "1\n0 1 3 100 661 2\n");
    let good = std::fs::read_to_string(&config).unwrap();
    let said = |from: &str, to: &str| {
        std::fs::write(&config, good.replace(from, to)).unwrap();
        imported(&config).map(|_| ()).expect_err(to)
    };
    let has = |text: String, parts: &[&str]| {
        parts.iter().for_each(|p| assert!(text.contains(p), "{p} is not in:\n{text}"));
    };
    has(said("CC_MODE 1", "CC_MODE 10"), &["config.txt:7", "CC_MODE", "HPCC-PINT", "help:"]);
    has(said("FLOW_FILE flow.txt", "FLOW_FILE none.txt"), &["FLOW_FILE", "none.txt", "--flows"]);
    has(said("RATE_AI", "RATE_IA"), &["RATE_IA", "RATE_AI"]);
    has(said("HAS_WIN 0", "RATE_BOUND 0"), &["config.txt:17", "RATE_BOUND", "without pacing"]);
    // A map without the core's rate would lend it marks of another.
    for (from, to) in [
        ("KMAX_MAP 2 100000000000 1600 400000000000 6400", "KMAX_MAP 1 100000000000 1600"),
        ("KMAX_MAP 2 100000000000 1600 400000000000 6400", "KMAX_MAP 1 400000000000 6400"),
    ] {
        has(said(from, to), &["config.txt:18", "KMAX_MAP", "the fork stops"]);
    }
    has(
        said("PMAX_MAP 2 100000000000 0.20 400000000000 0.20\n", ""),
        &["config.txt:20", "PMAX_MAP", "the fork stops"],
    );
    // Faults that only the scenario shows name the line of the configuration, not of the scenario's text.
    has(said("RATE_AI 20Mb/s", "RATE_AI 99999Gb/s"), &["config.txt:14", "RATE_AI"]);
    has(said("EWMA_GAIN 0.00390625", "EWMA_GAIN 7"), &["config.txt:12", "EWMA_GAIN"]);
    // Those and what is wrong with a line are told at once, by line.
    let three =
        said("RATE_AI 20Mb/s\nRATE_HAI 200Mb/s\n", "RATE_AI 99999Gb/s\nRATE_HAI 200Mb/x\nQP_STEP 1\n");
    let at = ["config.txt:14", "config.txt:15", "config.txt:16"].map(|place| three.find(place));
    assert!(at.is_sorted() && at[0].is_some(), "{three}");
    has(said("BUFFER_SIZE 32\n", "BUFFER_SIZE 1e9\n"), &["config.txt:21", "BUFFER_SIZE"]);
    std::fs::write(&config, &good).unwrap();
    assert!(imported(&config).is_ok());
}

/// `k_min` and `k_max` are those of one rate, whichever rates the maps have beside those in use.
#[test]
fn marks_are_those_of_one_rate() {
    let folder = Folder::new("maps");
    let config = fork_files(&folder, "1\n0 1 3 100 661 2\n");
    let more = std::fs::read_to_string(&config).unwrap().replace(
        "KMAX_MAP 2 100000000000 1600 400000000000 6400",
        "KMAX_MAP 3 25000000000 400 100000000000 1600 400000000000 6400",
    );
    std::fs::write(&config, more).unwrap();
    let scenario = imported(&config).unwrap();
    let ready = scenario.ready(&scenario.cases()[0]).unwrap();
    let params = &ready.config.0["scheme"]["params"];
    assert_eq!((&params["k_min"], &params["k_max"]), (&"400 KB".into(), &"1.6 MB".into()));
}

/// What runs otherwise than in the fork is said: flows of a pair in one queue, ports that the hash does not know, keys that are absent.
#[test]
fn what_differs_from_the_fork_is_said() {
    let folder = Folder::new("notes");
    let config = fork_files(&folder, "3\n0 1 3 100 661 2\n2 3 3 100 661 2\n0 1 3 101 9999 2\n");
    let good = std::fs::read_to_string(&config).unwrap();
    let notes = |text: &str| {
        std::fs::write(&config, text).unwrap();
        let files = cnsim_import::Files { hpcc: Some(config.clone()), ..Default::default() };
        cnsim_import::scenario(&files).unwrap().notes.join("\n")
    };
    let said = notes(&good);
    assert!(!said.contains("several flows"), "each has a queue pair: {said}");
    assert!(said.contains("line 4 of the flows has port 101"), "{said}");
    let named = |name: &str| Some(config.with_file_name(name));
    let alone = cnsim_import::Files { topology: named("topology.txt"), flows: named("flow.txt"), hpcc: None };
    let said = cnsim_import::scenario(&alone).unwrap().notes.join("\n");
    assert!(said.contains("lines 2 and 4") && said.contains("share one queue"), "{said}");
    assert!(notes(&good.replace("RP_TIMER 300\n", "")).contains("without RP_TIMER"));
    assert!(notes(&good.replace("CC_MODE 1", "CC_MODE 3")).contains("sleeps"), "H0 sends two flows");
    assert!(!said.contains("sleeps"), "DCQCN has no window here: {said}");
}

/// Each line of a flow file that makes no sense is answered with file, line, reason and remedy.
#[test]
fn bad_flow_files_are_answered_by_line() {
    let folder = Folder::new("lines");
    let bad = |flows: &str, line: &str, reason: &str| {
        let text = imported(&fork_files(&folder, flows)).expect_err(flows);
        let place = format!("flow.txt{line}");
        assert!(text.contains(&place) && text.contains(reason) && text.contains("help:"), "{flows}:\n{text}");
    };
    bad("1\n1 1 3 100 661 2\n", ":2", "to itself");
    bad("1\n1 12 3 100 661 2\n", ":2", "not in the topology");
    bad("1\n1 4 3 100 661 2\n", ":2", "a switch");
    bad("1\n1 2 3 100 0 2\n", ":2", "0 bytes");
    bad("1\n1 2 3 100 5 7\n", ":2", "after the end");
    bad("2\n1 2 3 100 5 2.0005\n1 3 3 100 5 2\n", ":3", "before that of line 2");
    bad("2\n1 2 3 100 5 2\n1 3 4 100 5 2\n", ":3", "class");
    bad("3\n1 2 3 100 5 2\n", "", "3 flows are announced and 1 listed");
    // A smaller count is legal.
    assert!(imported(&fork_files(&folder, "1\n1 2 3 100 5 2\n1 1 3 100 0 9\n")).is_ok());
}

#[test]
fn bad_workloads_are_answered() {
    let has = |workload: &str, parts: &[&str]| {
        let text = refused(&star(workload));
        parts.iter().for_each(|p| assert!(text.contains(p), "{p} is not in:\n{text}"));
    };
    let transfers = |line: &str| format!("kind = \"transfers\"\ntransfers = [\"{line}\"]");
    has(&transfers("0 us, H1, H1, 1 KB"), &["same host", "t.toml:10"]);
    has(&transfers("0 us, H1, H9, 1 KB"), &["no host `H9`"]);
    has(&transfers("0 us, H1, H2, 0 B"), &["out of range"]);
    has(&transfers("2 ms, H1, H2, 1 KB"), &["after the start of a run of 1 ms"]);
    has("kind = \"poisson\"\nload = \"0 %\"", &["workload.load", "0 % has no flows"]);
    has("kind = \"poisson\"\nload = \"101 %\"", &["workload.load"]);
    has("kind = \"poisson\"\nload = \"NaN %\"", &["workload.load"]);
    has("kind = \"poisson\"\ndestinations = \"+x\"", &["`+x` is not a distance"]);
    has("kind = \"poisson\"\ndestinations = \"+4\"", &["no host has anybody to send to"]);
    has("kind = \"incast\"\ndestinations = \"permutation\"", &["names no hosts", "incast's receivers"]);
    has("kind = \"poisson\"\nstart = \"2 ms\"", &["after the run of 1 ms"]);
    has("kind = \"poisson\"\nsizes = \"file\"", &["size_table", "no points"]);
    let table = |points: &str| format!("kind = \"poisson\"\nsizes = \"file\"\nsize_table = [{points}]");
    has(&table("\"100 50\", \"90 100\""), &["size_table", "does not rise", "t.toml:11"]);
    has(&table("\"100 50\", \"200 90\""), &["size_table", "ends at 90"]);
    has("kind = \"incast\"\nfan_in = 9\ndestinations = \"H0\"", &["fan_in", "3 hosts can send"]);
    let query = |more: &str| format!("kind = \"query\"\n{more}");
    has(&query("fan_in = 4\ndestinations = \"H0\""), &["workload.fan_in", "4 senders", "3 hosts can send"]);
    has(&query("fan_in = 0\ndestinations = \"H0\""), &["fan_in", "1 to 65000"]);
    has(&query(""), &["destinations", "nobody is named who asks"]);
    has(&query("destinations = [\"H0\", \"H0\"]"), &["H0 is there twice"]);
    has(&query("destinations = \"H0\"\ngap = \"1 us\""), &["gap", "no effect with rounds = 1"]);
    has(&query("destinations = \"H0\"\nstart = \"2 ms\""), &["start", "run of 1 ms"]);
    has(&query("destinations = \"H0\"\nrepeat = 2"), &["repeat", "no effect"]);
    has(&query("destinations = \"H0\""), &["queue pairs", "per-flow"]);
    has("kind = \"incast\"\nrounds = 2", &["rounds", "no effect"]);
    has("kind = \"incast\"\ngaps = \"poisson\"", &["gaps", "no effect"]);
    has("kind = \"permutation\"\nheader = \"48 B\"\nframe = \"48 B\"", &["frame"]);
    has("kind = \"greedy\"\nheader = \"48 B\"", &["header", "no effect"]);
    has("kind = \"transfers\"\nformat = \"hpcc\"", &["format", "no file is named"]);
    let many = star("kind = \"poisson\"\nsizes = \"file\"\nsize_table = [\"1 100\"]\nload = \"100 %\"");
    let text = refused(&many.replace("1 ms", "100 ms"));
    assert!(text.contains("flows are too many") && text.contains("workload.kind"), "{text}");
}

/// Links of 2.4 Tb/s inside a machine, as topologies of SimAI have them: by the oracle too, and to the picosecond.
#[test]
fn links_inside_a_machine() {
    let text = star("kind = \"transfers\"\ntransfers = [\"0 us, H1, H2, 1 MB\"]\nframe = \"1000 B\"")
        .replace("hosts = 4", "hosts = 4\nlink_rate = \"2400 Gb/s\"\n[switch]\nshare = \"10 MB\"");
    let ready = ready(&text);
    let (spec, fast) = go(&ready, 1);
    let oracle = Options { engine: cnsim_fabric::Engine::Model, ..Options::default() };
    assert_eq!(fast.fingerprint, cnsim_fabric::run(&spec, &oracle).unwrap().fingerprint);
    let flow = Flows::of(&ready.settings, &fast).done[0];
    // A frame takes 3333 ps of 3333.3.
    let delays = 2 * 500_000 + 1_000_000 + 1_000_000;
    assert_eq!((flow.time, flow.exact), (1001 * 3333 + delays, flow.time));
}

/// The seed decides who sends what to whom; kinds of workloads send as many flows as they should, and all arrive.
#[test]
fn workloads_by_seed() {
    let count = |workload: &str, seed: u64| {
        let ready = ready(
            &star(&format!("{workload}\nframe = \"1048 B\"\nheader = \"48 B\""))
                .replace("hosts = 4", "hosts = 4\nlink_rate = \"100 Gb/s\"\n[switch]\nshare = \"10 MB\""),
        );
        let (spec, out) = go(&ready, seed);
        let asked: usize = spec.hosts.iter().flat_map(|h| &h.sources).map(|s| s.transfers.len()).sum();
        let flows = Flows::of(&ready.settings, &out);
        assert_eq!(flows.done.len(), asked, "{workload}: all arrive");
        assert!(flows.done.iter().all(|f| f.time >= f.exact), "{workload}: none beats the exact ideal");
        let mut pairs: Vec<(u64, u64, u64)> = flows.done.iter().map(|f| (f.src, f.dst, f.bytes)).collect();
        pairs.sort_unstable();
        pairs
    };
    let all = count("kind = \"all-to-all\"\nsize = \"10 KB\"", 1);
    assert!(all.len() == 12 && all.iter().all(|f| f.2 == 10_000));
    let permutation = |seed| count("kind = \"permutation\"\nsize = \"10 KB\"", seed);
    assert!(permutation(1).len() == 4 && (2..9).any(|s| permutation(s) != permutation(1)));
    let incast = count(
        "kind = \"incast\"\nsize = \"3 KB\"\ndestinations = \"H0\"\nperiod = \"100 us\"\nstop = \"0.5 ms\"",
        1,
    );
    assert!(incast.len() == 15 && incast.iter().all(|f| f.1 == 0));
    let two =
        count("kind = \"incast\"\nsize = \"3 KB\"\nfan_in = 2\ndestinations = \"H0\"\njitter = \"2 us\"", 1);
    assert_eq!(two.len(), 2);
    let poisson =
        |seed| count("kind = \"poisson\"\nsizes = \"ali-storage\"\nload = \"30 %\"\nstop = \"0.5 ms\"", seed);
    assert!(poisson(1).len() > 20 && poisson(1) != poisson(2));
    // To a host of one's own: the next but one (which the last two lack), or the same one all the time, drawn by the seed.
    let to = |goals: &str, seed| {
        let own = format!(
            "kind = \"poisson\"\nsizes = \"ali-storage\"\nload = \"30 %\"\nstop = \"0.5 ms\"\ndestinations = \"{goals}\""
        );
        count(&own, seed).into_iter().map(|f| (f.0, f.1)).collect::<BTreeSet<_>>()
    };
    assert_eq!(to("+2", 1), [(0, 2), (1, 3)].into());
    let goals: Vec<_> = (1..9).map(|seed| to("permutation", seed)).collect();
    for pairs in &goals {
        let received: BTreeSet<u64> = pairs.iter().map(|p| p.1).collect();
        assert!(pairs.len() == 4 && received.len() == 4 && pairs.iter().all(|p| p.0 != p.1), "{pairs:?}");
    }
    assert!(goals.iter().any(|g| *g != goals[0]));
}

/// Ports of a tree of 16-port switches: a salt for each switch uses all 64 cores, within 3 standard deviations of equal chances
/// (some of 64 may stray further: by the sum of squares, too); one hash for all uses eight.
#[test]
fn a_fat_tree_uses_all_cores() {
    let cores = |hash: &str| -> Vec<f64> {
        // Each host sends 8 frames' worth of single-frame flows to hosts of other pods.
        let flows: Vec<String> = (0..1024)
            .flat_map(|h| (1..=8).map(move |i| (h, (h + 64 * i + 17 * i * i) % 1024)))
            .filter(|(a, b)| a / 64 != b / 64)
            .map(|(a, b)| format!("\"0 us, H{a}, H{b}, 1000 B\""))
            .collect();
        let text = format!(
            "name = \"t\"\n[topology]\nkind = \"fat-tree\"\nk = 16\nhash = \"{hash}\"\n[pause]\nmode = \"off\"\n\
             [run]\nduration = \"1 ms\"\n[workload]\nkind = \"transfers\"\nframe = \"1000 B\"\ntransfers = [{}]\n",
            flows.join(", ")
        );
        let (spec, out) = go(&ready(&text), 1);
        let core = spec.switches.iter().zip(&out.switches).filter(|(s, _)| s.name.starts_with('C'));
        core.map(|(_, o)| o.ports.iter().map(|p| p.sent_bits as f64 / 8000.0).sum()).collect()
    };
    let loads = cores("per-switch");
    assert_eq!(loads.len(), 64);
    let (n, p): (f64, f64) = (loads.iter().sum(), 1.0 / 64.0);
    let sigma = (n * p * (1.0 - p)).sqrt();
    let far = loads.iter().filter(|l| (*l - n * p).abs() > 3.0 * sigma).count();
    let chi: f64 = loads.iter().map(|l| (l - n * p) * (l - n * p) / (n * p)).sum();
    assert!(loads.iter().all(|l| *l > 0.0) && far == 0, "{far} of 64 are far off: {loads:?}");
    assert!((63.0 - 33.7..63.0 + 44.0).contains(&chi), "chi square of 63 degrees: {chi}");
    assert_eq!(cores("polarised").iter().filter(|l| **l > 0.0).count(), 8);
}

/// Two equal senders into a full drop-tail port: with equal clocks whoever comes first keeps the port, and `check` says so. Clocks that
/// drift apart by several frame times share it; so do draws between frames that come in one moment.
#[test]
fn phases_lock_and_are_parted() {
    // What H1 has of the port, and whether a lock is foretold.
    let share = |phase: &str, tables: &str, seed| {
        let text = format!(
            "name = \"t\"\n[switch]\noutput_limit = \"100 KB\"\n[pause]\nmode = \"off\"\n[run]\nduration = \"20 ms\"\n[[traffic]]\n\
             hosts = [\"H1\", \"H2\"]\nkind = \"greedy\"\nphase = \"{phase}\"\ndestinations = \"H0\"\n[topology]\nhosts = 3\n{tables}"
        );
        let ready = ready(&text);
        let (_, out) = go(&ready, seed);
        let n = 3;
        let (a, b) = (out.recorded.matrix[n] as f64, out.recorded.matrix[2 * n] as f64);
        (a / (a + b), ready.settings.locked().is_some())
    };
    let drawn = "[timing]\nties = \"seed\"\n";
    for seed in 1..=4 {
        for (phase, tables) in [("random", ""), ("aligned", ""), ("random", drawn)] {
            let (locked, foretold) = share(phase, tables, seed);
            assert!(!(0.05..0.95).contains(&locked) && foretold, "seed {seed}, {phase}, {tables}: {locked}");
        }
        // 100 ppm are 2 us in 20 ms: 17 frame times at 100 Gb/s, and less than two at 10 Gb/s.
        let fast = "link_rate = \"100 Gb/s\"\n[host]\nclock = 100\n";
        for (phase, tables) in [("random", "[host]\nclock = 4000\n"), ("random", fast), ("aligned", drawn)] {
            let (apart, foretold) = share(phase, tables, seed);
            assert!((apart - 0.5).abs() < 0.05 && !foretold, "seed {seed}, {phase}, {tables}: {apart}");
        }
    }
}
