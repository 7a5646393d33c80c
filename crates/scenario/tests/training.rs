//! Workloads of SimAI: who sends what to whom, times by arithmetic, and what is refused. A star of links of 100 Gb/s and 1 us; a message
//! of 1000 B is a frame of 1048 B.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod text;

use cnsim_fabric::Act;
use std::collections::BTreeMap;
use text::{ends, ready, refused};

/// A message of a frame from its start to its arrival, ps.
const T: u64 = 2 * 83_840 + 2_000_000;
const US: u64 = 1_000_000;

fn text(hosts: usize, operations: &str, more: &str) -> String {
    let lines: Vec<String> = operations.lines().map(|line| format!("{line:?}")).collect();
    format!(
        "name = \"t\"\n[topology]\nhosts = {hosts}\nlink_rate = \"100 Gb/s\"\nlink_delay = \"1 us\"\n[pause]\nmode = \"off\"\n\
         [transport]\nack_every = 0\n[host]\nqueues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"1 GB\"\n\
         [run]\nduration = \"10 ms\"\n[record]\nflow_times = \"off\"\n[[traffic]]\nname = \"app\"\nhosts = \"all\"\n\
         frame = \"1048 B\"\nheader = \"48 B\"\nkind = \"training\"\noperations = [{}]\n{more}\n",
        lines.join(", ")
    )
}

fn head(tp: usize, ep: usize, pp: usize, ga: usize, all: usize, layers: &[&str]) -> String {
    format!(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: 1 ga: {ga} all_gpus: {all} checkpoints: 0 checkpoint_initiates: 0 pp_comm: {}\n{}\n{}",
        if pp > 1 { 1000 } else { 0 },
        layers.len(),
        layers.join("\n")
    )
}

/// Payload that each host sends to each other one.
fn sent(text: &str) -> BTreeMap<(usize, usize), u64> {
    let ready = ready(text);
    let graph = ready.settings.traffic.jobs.graph(1).unwrap();
    let mut sums = BTreeMap::new();
    for one in &graph.operations {
        let Act::Send { source, transfer } = one.act else { continue };
        let src = one.host.0 as usize;
        let plan = &ready.settings.plans(src)[source as usize];
        let t = plan.transfers[transfer as usize];
        *sums.entry((src, t.dst.0 as usize)).or_default() += plan.framing.payload_of(t.bytes.get());
    }
    sums
}

/// Two stages and two micro-batches of a layer: all forward passes, then all backward passes.
#[test]
fn stages_of_a_pipeline_wait_for_messages() {
    let layer = "embedding_layer -1 10000 NONE 0 20000 NONE 0 30000 NONE 0 100";
    let two = head(1, 1, 2, 2, 2, &[layer, layer]);
    // The last stage computes its forward pass of the second from 20 us + T on, its backward passes until 80 and 130 us + T.
    assert_eq!(ends(&text(2, &two, "")), [180 * US + 2 * T, 130 * US + T]);
    // Without messages a stage runs by itself.
    let apart = two.replace("pp_comm: 1000", "");
    assert_eq!(ends(&text(2, &apart, "")), [120 * US; 2]);
    let twice = text(2, &apart, "repeat = 2\ngap = \"5 us\"");
    assert_eq!(ends(&twice), [120 * US, 120 * US, 245 * US, 245 * US]);
}

#[test]
fn calls_wait_and_overlap() {
    let layer = "a -1 10000 ALLGATHER 2000 20000 REDUCESCATTER 2000 30000 NONE 0 100";
    let two = head(2, 1, 1, 1, 2, &[layer]);
    assert_eq!(ends(&text(2, &two, "")), [60 * US + 2 * T; 2]);
    let over = two.replace("_FWD_IN_BCKWD", "");
    assert_eq!(ends(&text(2, &over, "")), [60 * US + T; 2]);
    // A call of weights does not hold up the layer before; its update is the last of all.
    let weights = "a -1 0 NONE 0 1000 NONE 0 0 ALLGATHER 2000 4000";
    let both = head(1, 1, 1, 1, 2, &["first -1 0 NONE 0 9000 NONE 0 0 NONE 0 0", weights]);
    assert_eq!(ends(&text(2, &both, "")), [10 * US; 2]);
    let late = head(1, 1, 1, 1, 2, &[weights, "last -1 0 NONE 0 9000 NONE 0 0 NONE 0 0"]);
    assert_eq!(ends(&text(2, &late, "")), [14 * US + T; 2]);
    // The forward pass is done again from the layer that is kept.
    let again = head(1, 1, 1, 1, 2, &["a -1 1000 NONE 0 100 NONE 0 10 NONE 0 0"; 3]);
    let again =
        again.replace("checkpoints: 0 checkpoint_initiates: 0", "checkpoints: 1 0 checkpoint_initiates: 1 2");
    assert_eq!(ends(&text(2, &again, "")), [5 * US + 330_000; 2]);
}

/// Over groups of n a call of S bytes moves (n - 1) S in each, an all-reduce twice as much; and only within the group.
#[test]
fn bytes_by_collective_and_group() {
    let quiet = |calls: [&str; 3]| format!("x -1 1 {} 1 {} 1 {} 1", calls[0], calls[1], calls[2]);
    // Twelve ranks and two stages: TP 2, DP 3 x 2 = 6, of which groups of 3 share experts.
    let none = "NONE 0";
    let of = |calls: [&str; 3], more: &str| {
        sent(&text(24, &head(2, 3, 2, 1, 24, &[&quiet(calls)]).replace("pp_comm: 1000", ""), more))
    };
    for (calls, n, times, size) in [
        (["ALLREDUCE 1001", none, none], 2, 2, 1001),
        ([none, "ALLGATHER 5", none], 2, 1, 5),
        ([none, "ALLTOALL_EP 301", none], 3, 1, 301),
        (["REDUCESCATTER_EP 10", none, none], 3, 1, 10),
        ([none, none, "ALLREDUCE 700"], 6, 2, 700),
        ([none, none, "REDUCESCATTER 3"], 6, 1, 3),
        ([none, none, "ALLGATHER_DP_EP 90"], 2, 1, 90),
        (["NONE 77", none, "ALLREDUCE 0"], 1, 1, 0),
    ] {
        let sums = of(calls, "");
        let groups = 24 / n;
        assert_eq!(sums.values().sum::<u64>(), times * (n - 1) * size * groups, "{calls:?}");
        // Rank 5 is the second of tensor parallelism, the third of data parallelism, in the first stage.
        let mine = |calls: [&str; 3], more: &str| -> Vec<usize> {
            let sums = of(calls, more);
            let all = sums.keys().flat_map(|&(a, b)| [(a, b), (b, a)]).filter(|p| p.0 == 5).map(|p| p.1);
            let mut all: Vec<usize> = all.collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        // Rings name neighbours alone.
        let direct = "algorithm = \"direct\"";
        let want: &[usize] = match (n, calls[2]) {
            (2, "NONE 0") => &[4],
            (2, _) => &[11],
            (3, _) => &[1, 3],
            (6, "REDUCESCATTER 3") => &[1, 3],
            (6, _) => &[1, 3, 7, 9, 11],
            _ => &[],
        };
        if n > 1 && !calls[1].starts_with("ALLTOALL") {
            let got = mine(calls, direct);
            let got: Vec<usize> = if calls[2] == "REDUCESCATTER 3" { got[..2].to_vec() } else { got };
            assert_eq!(got, want, "{calls:?}");
        } else {
            assert_eq!(mine(calls, ""), want, "{calls:?}");
        }
    }
    // Stages before data parallelism: groups of data parallelism are four ranks apart.
    let sums = of([none, none, "ALLREDUCE 700"], "rank_order = \"tp-pp-dp\"\nalgorithm = \"direct\"");
    let to: Vec<usize> = sums.keys().filter(|p| p.0 == 5).map(|p| p.1).collect();
    assert_eq!(to, [1, 9, 13, 17, 21]);
    // A message for each micro-batch there and back, by each pair of fellows.
    let layer = "embedding_layer -1 1 NONE 0 1 NONE 0 1 NONE 0 1";
    let sums = sent(&text(8, &head(2, 1, 2, 3, 8, &[layer; 3]), ""));
    let want: BTreeMap<(usize, usize), u64> =
        (0..4).flat_map(|r| [((r, r + 4), 3000), ((r + 4, r), 3000)]).collect();
    assert_eq!(sums, want);
}

/// A call goes by the algorithm that is asked for where it can: two steps in place of four for three of four ranks' groups.
#[test]
fn algorithms_of_calls() {
    let of = |all: usize, more: &str| {
        let layer = format!("x -1 0 ALLREDUCE {} 0 NONE 0 0 NONE 0 0", 1000 * all);
        ends(&text(all, &head(all, 1, 1, 1, all, &[&layer]), more))
    };
    assert_eq!(of(4, ""), [6 * T; 4]);
    let halves = T + 83_840;
    assert_eq!(of(4, "algorithm = \"halving-doubling\""), [2 * (halves + T); 4]);
    assert_ne!(of(4, "algorithm = \"tree\""), of(4, ""));
    let has = |text: String, parts: &[&str]| {
        let said = refused(&text);
        parts.iter().for_each(|p| assert!(said.contains(p), "{p} is not in:\n{said}"));
    };
    let three = head(3, 1, 1, 1, 3, &["x -1 0 ALLREDUCE 3000 0 NONE 0 0 NONE 0 0"]);
    has(
        text(3, &three, "algorithm = \"halving-doubling\""),
        &["no call of this workload can go by halving-doubling"],
    );
    has(text(3, &three, "algorithm = \"rotated\""), &["training has no algorithm `rotated`", "ring, tree"]);
    has(text(3, &three, "rank_order = \"tp-pp-dp\""), &["rank_order", "one stage"]);
    has(text(3, &three, "size = \"1 MB\""), &["size"]);
    has(text(2, &three, ""), &["3 ranks, and the table names 2 hosts", "name a host for each rank"]);
    has(text(3, "", ""), &["there is no workload"]);
    has(
        text(3, &three.replace("ALLREDUCE", "ALLREDUCE_TP"), ""),
        &["`ALLREDUCE_TP` is no collective that cnsim has"],
    );
    let gathers = three.replace("ALLREDUCE", "ALLTOALL");
    has(text(3, &gathers, "chunk = \"1 KB\""), &["chunk", "no call of this workload is cut"]);
    has(text(3, &gathers, "channels = 2"), &["channels", "no call of this workload has rings"]);
    // A fault of a file is told with its line and column there.
    let file = std::env::temp_dir().join(format!("cnsim-{}.workload", std::process::id()));
    std::fs::write(&file, three.replace("NONE 0 0 NONE", "NONE 0 0 NOTHING")).unwrap();
    let lines = three.lines().map(|l| format!("{l:?}")).collect::<Vec<_>>().join(", ");
    let named = text(3, &three, "").replace(&format!("operations = [{lines}]"), &format!("file = {file:?}"));
    has(named.clone(), &[".workload:3:34", "traffic.0.file", "`NOTHING` is no collective"]);
    // An empty file has its problem at its key, and of one that is not there nothing else is told.
    std::fs::write(&file, "\n").unwrap();
    has(named.clone(), &["t.toml:26:8", "traffic.0.file", "there is no workload"]);
    std::fs::remove_file(&file).unwrap();
    has(named.clone(), &["there is no such file"]);
    assert!(!refused(&named).contains("there is no workload"));
    let foo = refused(&text(3, &three, "algorithm = \"foo\""));
    assert!(foo.contains("`foo` is not a choice") && !foo.contains("training has no"), "{foo}");
}
