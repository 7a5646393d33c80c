//! Workload files of SimAI by hand.
#![allow(clippy::unwrap_used)]

use super::*;

/// Two micro-batches of two layers, what stands before and behind them, two stages.
pub(crate) const TWO_STAGES: &str = "\
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 2 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 5000.0
6
grad_norm -1 1 ALLGATHER 800 1 NONE 0 1 REDUCESCATTER 1600 100
embedding_layer\t-1\t10\tALLREDUCE\t64\t1\tNONE\t0\t7\tNONE\t0\t100
moe -1 20 ALLTOALL_EP 300 30 ALLTOALL_EP 300 40 NONE 0 100
embedding_layer -1 10 ALLREDUCE 64 1 NONE 0 7 NONE 0 100

moe -1 20 ALLTOALL_EP 300 30 ALLTOALL_EP 300 40 ALLREDUCE_DP_EP 99 100
optimizer -1 1 ALLREDUCE 4 1 NONE 512 1 NONE 0 100
";

fn of(text: &str) -> Result<Workload, Vec<ImportError>> {
    read(&text.lines().collect::<Vec<_>>())
}

#[test]
fn a_workload_is_read() {
    let w = of(TWO_STAGES).unwrap();
    assert_eq!((w.tp, w.pp, w.dp, w.ep, w.ranks()), (2, 2, 4, 2, 16));
    assert_eq!([Group::Tp, Group::Dp, Group::Ep, Group::DpEp].map(|g| w.size(g)), [2, 4, 2, 2]);
    assert_eq!((w.message, &w.batches[..], w.overlaps), (5000, &[1, 3, 5][..], false));
    assert_eq!((w.layers.len(), w.layers[1].name.as_str()), (6, "embedding_layer"));
    let sums: Vec<(String, u64, u64)> =
        w.sums().into_iter().map(|(c, n)| (c.to_string(), n, c.bytes)).collect();
    let want = [
        ("TP all-reduce", 3, 132),
        ("DP_EP all-reduce", 1, 99),
        ("TP all-gather", 1, 800),
        ("DP reduce-scatter", 1, 1600),
        ("EP all-to-all", 4, 1200),
    ];
    assert_eq!(sums, want.map(|(name, n, bytes)| (name.to_string(), n, bytes)));
    // 3 + 2 * 18 + 2 * 90 + 3 ns, and 100 ns of each of six updates.
    assert_eq!(w.busy(), Time::from_ns(222 + 600));
    assert!(w.notes.is_empty());
    // Without a message there are no micro-batches to tell apart.
    let quiet = of(&TWO_STAGES.replace("pp_comm: 5000.0", "").replace("vpp: 1", "vpp: 4")).unwrap();
    assert_eq!((quiet.batches, quiet.notes.len()), (vec![0, 6], 2));
    let plain = of(
        "HYBRID_TRANSFORMER all_gpus: 4 checkpoints: 2 0 1 checkpoint_initiates: 1 1\n2\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 9 1\nb -1 1 NONE 0 1 NONE 0 1 NONE 0 1",
    );
    let plain = plain.unwrap();
    assert_eq!((plain.overlaps, plain.dp, plain.kept, plain.again), (true, 4, vec![0, 1], vec![1]));
}

/// Lines and characters of faults, all at once.
#[test]
fn faults_are_named_by_word() {
    let faults = |text: &str| -> Vec<(usize, usize, String)> {
        of(text).unwrap_err().into_iter().map(|e| (e.line, e.column, e.reason)).collect()
    };
    let edited = |from: &str, to: &str| faults(&TWO_STAGES.replacen(from, to, 1));
    for (from, to, line, column, says) in [
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "DATA", 1, 1, "`DATA` is no parallelism"),
        ("ep: 2", "cp: 2", 1, 61, "`cp:` is no word of the header"),
        ("ep: 2", "ep: two", 1, 65, "`two` is no number of at least 1"),
        ("ep: 2", "ep: 0", 1, 65, "0 is no number of at least 1"),
        ("ep: 2", "ep: 3", 1, 96, "3 ranks of expert parallelism do not divide"),
        ("all_gpus: 16", "all_gpus: 18", 1, 96, "18 ranks are not a multiple"),
        ("all_gpus: 16", "", 1, 1, "all_gpus is missing"),
        ("ga: 2", "ga: 3", 1, 84, "3 micro-batches, and 2 layers"),
        ("checkpoints: 0", "checkpoints: 1 9", 1, 1, "layer 9 of the checkpoints"),
        ("pp_comm: 5000.0", "pp_comm:", 1, 138, "number of bytes is missing"),
        ("\n6\n", "\nsix\n", 2, 1, "`six` is no number of layers"),
        ("\n6\n", "\n6 7\n", 2, 3, "`7` where the line"),
        ("\n6\n", "\n7\n", 9, 1, "7 layers are announced, and there are 6"),
        ("\n6\n", "\n5\n", 9, 1, "`optimizer` is a layer more"),
        ("ALLTOALL_EP", "ALLTOALL_TP", 5, 11, "`ALLTOALL_TP` is no collective"),
        ("ALLREDUCE_DP_EP", "ALLREDUCEALLTOALL", 8, 49, "`ALLREDUCEALLTOALL` is no collective"),
        ("moe -1 20", "moe -1 2.5", 5, 8, "`2.5` is no time in ns"),
        ("moe -1 20", "moe x 20", 5, 5, "`x` is no whole number"),
        ("moe -1 20", "moe -1", 5, 53, "11 words, where a layer has 12"),
        ("moe -1 20", "moe -1 20 20", 5, 59, "`100` is behind the 12 words"),
        ("1600 100", "-5 100", 3, 55, "`-5` is no number of bytes"),
    ] {
        let all = edited(from, to);
        let found = all.iter().any(|f| (f.0, f.1) == (line, column) && f.2.starts_with(says));
        assert!(found, "{from} -> {to}: {all:?}");
    }
    assert_eq!(faults("").len(), 1);
    assert_eq!(edited("all_gpus: 16", "all_gpus: 0").len(), 1, "a wrong number of ranks is not missing");
    assert!(edited("moe -1 20", "moe x 2.5").len() == 2);
}

/// A word missing, doubled or replaced is read or refused.
#[test]
fn any_word_may_be_wrong() {
    let words: Vec<&str> = TWO_STAGES.split_inclusive(char::is_whitespace).collect();
    let mut refused = 0;
    for at in 0..words.len() {
        for put in [vec![], vec![words[at]; 2], vec!["x "], vec!["99999999999999999999 "]] {
            let text: String = [&words[..at], &put, &words[at + 1..]].concat().concat();
            refused += usize::from(of(&text).is_err());
        }
    }
    assert!(refused > 3 * words.len() && words.len() == 93, "{refused} of {}", 4 * words.len());
}
