//! What traffic cannot be, each with its file, line, key, reason and remedy; and nothing that only follows from another fault.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cnsim_scenario::Scenario;

/// Hosts H0 to H11 at one switch.
const STAR: &str = "hosts = 12";
/// The hosts a with two NICs, b and c with one: b and c reach a alone.
const TWO: &str =
    "kind = \"graph\"\nnodes = [\"S1 8\", \"S2 8\"]\nlinks = [\"a S1\", \"a S2\", \"b S1\", \"c S2\"]";
/// Hosts H0 to H31 with two NICs each.
const RAILS: &str = "kind = \"rails\"";

fn text(topology: &str, hosts: &str, job: &str) -> String {
    format!(
        "name = \"t\"\n[topology]\n{topology}\n[host]\nqueues = \"per-flow\"\n[run]\nduration = \"2 ms\"\n[[traffic]]\n\
         name = \"job\"\nhosts = {hosts}\n{job}\n"
    )
}

/// A text has exactly these faults: the line that has it, the end of its key, the reason, the remedy.
#[track_caller]
fn has(text: &str, due: &[[&str; 4]]) {
    let all = Scenario::parse("t.toml", text, &[]).expect_err(text);
    assert_eq!(all.len(), due.len(), "{text}\n{all:#?}");
    for (problem, [line, key, reason, remedy]) in all.iter().zip(due) {
        let at = problem.position.unwrap_or_else(|| panic!("{problem}"));
        let stands = text.lines().nth(at.line - 1).unwrap();
        assert!(problem.file == "t.toml" && stands.starts_with(line), "{line}: {problem}");
        let right = problem.key == *key && problem.reason.contains(reason) && problem.remedy.contains(remedy);
        assert!(right, "{key}: {reason}: {remedy}\n{problem}");
    }
}

fn transfers(topology: &str, list: &[&str], due: &[[&str; 2]]) {
    let due: Vec<_> = due.iter().map(|d| ["transfers =", "traffic.0.transfers", d[0], d[1]]).collect();
    has(&text(topology, "\"all\"", &format!("kind = \"transfers\"\ntransfers = {list:?}")), &due);
}

/// A schedule of ranks.
fn schedule(ranks: &[&str], due: &[[&str; 2]]) {
    let mut list = vec![format!("num_ranks {}", ranks.len())];
    list.extend(ranks.iter().enumerate().map(|(n, rank)| format!("rank {n} {{ {rank} }}")));
    let due: Vec<_> = due.iter().map(|d| ["operations =", "traffic.0.operations", d[0], d[1]]).collect();
    has(&text(STAR, "\"all\"", &format!("kind = \"graph\"\noperations = {list:?}")), &due);
}

#[test]
fn a_nic_that_is_not_there() {
    let no_host = "hosts are a to c";
    transfers(TWO, &["0 us, a#3, c, 1 KB"], &[["a has no NIC 3: it has 2", "name one of a#1 to a#2, or a"]]);
    transfers(TWO, &["0 us, b, c#2, 1 KB"], &[["c has no NIC 2: it has 1", "write c"]]);
    transfers(TWO, &["0 us, b, d#1, 1 KB"], &[["there is no host `d#1`", no_host]]);
    let due = ["hosts =", "traffic.0.hosts", "H0 has no NIC 3: it has 2", "name one of H0#1 to H0#2, or H0"];
    has(&text(RAILS, "[\"H0#3\", \"H1\"]", "kind = \"all-reduce\""), &[due]);
    let job = "kind = \"all-reduce\"\n[record]\nhost = \"H3#4\"";
    has(&text(RAILS, "\"all\"", job), &[["host =", "record.host", "H3 has no NIC 4", "H3#1 to H3#2"]]);
    let third = format!("{TWO}\nnic = 3");
    let due = ["nic =", "topology.nic", "a has no NIC 3: it has 2", "write 1 to 2"];
    has(&text(&third, "\"all\"", "kind = \"transfers\"\ntransfers = [\"0 us, a, c, 1 KB\"]"), &[due]);
}

/// Ranks that are no hosts are the only fault, also where their number would tell how an operation is cut.
#[test]
fn ranks_that_are_no_hosts() {
    let job = "kind = \"all-reduce\"\nsize = \"8 MB\"\nchunk = \"64 KB\"";
    has(
        &text(STAR, "[\"H12\"]", job),
        &[["hosts =", "traffic.0.hosts", "there is no host `H12`", "hosts are H0 to H11"]],
    );
}

/// Faults of a file stand at its own lines and characters, with comments, empty lines and either end of lines.
#[test]
fn faults_of_files() {
    let dir = std::env::temp_dir().join(format!("cnsim-bad-traffic-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let places = |kind: &str, content: &str| {
        let path = dir.join(kind);
        std::fs::write(&path, content).unwrap();
        let text = text(STAR, "\"all\"", &format!("kind = \"{kind}\"\nfile = {path:?}"));
        let all = Scenario::parse("t.toml", &text, &[]).expect_err(&text);
        let place = |p: &cnsim_problem::Problem| {
            assert!(p.file.ends_with(kind), "{p}");
            p.position.map(|at| (at.line, at.column, p.reason.clone())).unwrap()
        };
        all.iter().map(place).collect::<Vec<_>>()
    };
    let goal = "# a schedule\r\nnum_ranks 2\r\n\r\nrank 0 {\r\n  a: send 5b to 7\r\n}\r\n";
    assert_eq!(places("graph", goal), [(5, 17, "there is no rank 7".into())]);
    let long = goal.replace("rank 0", &format!("# {}\nrank 0", "x".repeat(399)));
    assert_eq!(
        places("graph", &long),
        [(4, 1, "has 401 characters".into()), (6, 17, "there is no rank 7".into())]
    );
    let late = "num_ranks 13\nrank 0 {\n\nsend 2000000000000000b to 1\ncalc 5 }\nrank 1 { recv 2000000000000000b from 0 }\n";
    let due =
        [(1, 1, "13 ranks, and the table names 12 hosts"), (4, 1, "2000000 GB is more than 1000000 GB")];
    assert_eq!(places("graph", late), due.map(|d| (d.0, d.1, d.2.to_string())));
    let head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 2 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0";
    let training = format!(
        "{head}\n2\na -1 1 ALLREDUCE 5 1 NONE 0 1 NONE 0 1\n\nb -1 1 ALLREDUCE 2000000000000000 1 NONE 0 1 NONE 0 1\n"
    );
    let said = places("training", &training);
    assert!(said[0].0 == 5 && said[0].2.contains("a call of 2000000 GB is more than"), "{said:?}");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn hosts_that_reach_no_common_switch() {
    let (why, remedy) = ("the NICs of b and c reach no common switch", "link their switches");
    transfers(TWO, &["0 us, b, c, 1 KB"], &[[why, remedy]]);
    for kind in [
        "\"all-reduce\"",
        "\"graph\"\noperations = [\"num_ranks 3\", \"rank 1 { send 5b to 2 }\", \"rank 2 { recv 5b from 1 }\"]",
    ] {
        has(&text(TWO, "\"all\"", &format!("kind = {kind}")), &[["hosts =", "traffic.0.hosts", why, remedy]]);
    }
    for kind in ["\"all-to-all\"", "\"poisson\"\nload = \"20 %\"\nsizes = \"websearch\""] {
        has(&text(TWO, "\"all\"", &format!("kind = {kind}")), &[["kind =", "traffic.0.kind", why, remedy]]);
    }
}

/// One rank, a rank twice, ranks that are no hosts: these are not counted, so that no number of ranks is said that is not the file's.
#[test]
fn ranks_that_cannot_be() {
    let job = |hosts: &str, job: &str, due: &[[&str; 2]]| {
        let due: Vec<_> = due.iter().map(|d| ["hosts =", "traffic.0.hosts", d[0], d[1]]).collect();
        has(&text(STAR, hosts, job), &due);
    };
    let training = "kind = \"training\"\noperations = [\"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 \
                    ga: 1 all_gpus: 2 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\", \"1\", \"x -1 1 NONE 0 1 NONE 0 1 NONE 0 1\"]";
    let graph = "kind = \"graph\"\noperations = [\"num_ranks 2\", \"rank 0 { calc 5 }\"]";
    let halves = "kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"";
    job(
        "[\"H3\"]",
        "kind = \"all-reduce\"",
        &[["a collective of one rank moves nothing", "at least two hosts"]],
    );
    for kind in ["kind = \"all-reduce\"", graph, training] {
        job("[\"H1..H4\", \"H3\"]", kind, &[["H3 is a rank twice", "name each host once"]]);
    }
    for kind in ["kind = \"all-reduce\"", halves, graph, training] {
        job("[\"H1..H40\"]", kind, &[["there is no host `H40`", "hosts are H0 to H11"]]);
        job("[\"H1\", \"S\"]", kind, &[["there is no host `S`", "hosts are H0 to H11"]]);
    }
}

#[test]
fn sizes_and_numbers_that_cannot_be() {
    let due = ["size =", "traffic.0.size", "11 B for 12 ranks: not a byte for each", "write at least 12 B"];
    has(&text(STAR, "\"all\"", "kind = \"all-reduce\"\nsize = \"11 B\""), &[due]);
    for (kind, algorithm) in [("all-reduce", "halving-doubling"), ("all-to-all", "pairwise")] {
        let why = "needs a number of ranks that is a power of two, and there are 12";
        let due = ["algorithm =", "traffic.0.algorithm", why, "name 8 or 16 hosts"];
        let job = format!("kind = \"{kind}\"\nalgorithm = \"{algorithm}\"");
        has(&text(STAR, "\"all\"", &job), &[due]);
    }
}

#[test]
fn what_waits_for_itself() {
    let remedy = "let one of them follow none of the others";
    let two = ["0 us, H0, H1, 1 KB, name a, after b", "0 us, H1, H0, 1 KB, name b, after a"];
    transfers(STAR, &two, &[["a circle, in which none ever begins: a after b after a", remedy]]);
    transfers(STAR, &["0 us, H0, H1, 1 KB, name a, after a"], &[["none ever begins: a after a", remedy]]);
    let remedy = "let one of them wait for none of the others";
    schedule(
        &["a: calc 5 ; b: calc 6 ; a requires b ; b requires a"],
        &[["these wait for each other for ever", remedy]],
    );
    // Each first receives what the other sends after that.
    let first = |peer: usize| format!("r: recv 5b from {peer} ; s: send 5b to {peer} ; s requires r");
    schedule(&[&first(1), &first(0)], &[["these wait for each other for ever: rank 0", remedy]]);
}

#[test]
fn messages_that_do_not_meet() {
    let (send, receive) = ("write a send with this tag at rank 0", "write a recv with this tag at rank 1");
    let lost = "nobody receives it: 5 B from rank 0 to rank 1 with tag";
    schedule(
        &["calc 5", "recv 5b from 0"],
        &[["nobody sends it: 5 B from rank 0 to rank 1 with tag 0", send]],
    );
    schedule(&["send 5b to 1", "calc 5"], &[[lost, receive]]);
    schedule(
        &["send 5b to 1 tag 1", "recv 5b from 0 tag 2"],
        &[[lost, receive], ["nobody sends it: 5 B from rank 0 to rank 1 with tag 2", send]],
    );
}

#[test]
fn what_never_starts() {
    let late = "3 ms after the start of a run of 2 ms";
    for kind in ["all-reduce\"", "graph\"\noperations = [\"num_ranks 1\", \"rank 0 { calc 5 }\"]"] {
        let job = format!("kind = \"{kind}\nstart = \"3 ms\"");
        has(&text(STAR, "\"all\"", &job), &[["start =", "traffic.0.start", late, "lengthen run.duration"]]);
    }
    // What follows a transfer that is refused has no fault of its own.
    let list = ["3 ms, H0, H1, 1 KB, name a", "0 us, H1, H2, 1 KB, after a"];
    transfers(STAR, &list, &[[late, "let it begin earlier, or lengthen run.duration"]]);
    transfers(STAR, &["0 us, H0, H1, 1 KB, after z"], &[["no transfer has that name", "write `name`"]]);
    transfers(
        STAR,
        &[],
        &[["there are no transfers", "list them, or name a file of them in traffic.0.file"]],
    );
    schedule(&["", ""], &[["no rank does anything", "write `num_ranks N`"]]);
}

/// Keys that need finite flows, or transfers that follow others, are refused where no case has some.
#[test]
fn keys_that_some_traffic_needs() {
    for (host, (without, with), (key, value), why) in [
        ("", ("bernoulli", "all-to-all"), ("record.trips", "on"), "no flow is finite"),
        (
            "[host]\nqueues = \"per-flow\"\n",
            ("all-to-all", "all-reduce"),
            ("run.reuse", "verify"),
            "no transfer follows another",
        ),
    ] {
        let of = |kinds: &str| {
            let text = format!(
                "name = \"t\"\ncondition = \"{{workload.kind}}\"\n{host}[workload]\nkind = \"{without}\"\n\
                 [run]\ndraws = \"keyed\"\n[matrix]\n{kinds}pause = [\"on\"]\nschemes = [\"none\"]\n"
            );
            Scenario::parse("t.toml", &text, &[(key.into(), value.into())])
        };
        let found = of("").expect_err("no flow has what it needs");
        assert!(found.len() == 1 && found[0].key == key && found[0].reason.contains(why), "{found:#?}");
        let both = format!("\"workload.kind\" = [\"{without}\", \"{with}\"]\n");
        of(&both).unwrap_or_else(|found| panic!("one case has some: {found:#?}"));
    }
}
