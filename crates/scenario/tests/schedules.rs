//! Schedules in GOAL text against times by arithmetic, to the picosecond, and what is refused. A star of links of 100 Gb/s and 1 us; a
//! message of 1000 B is a frame of 1048 B.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod text;

use text::{ends, refused};

/// A frame of 1048 B, and an acknowledgement, on a link, ps.
const FRAME: u64 = 83_840;
const ACK: u64 = 5_120;
/// A message of a frame from its start to its arrival, and its acknowledgement from then on.
const T: u64 = 2 * FRAME + 2_000_000;
const BACK: u64 = 2 * ACK + 2_000_000;
const NS: u64 = 1000;

fn text(more: &str) -> String {
    format!(
        "name = \"t\"\n[topology]\nhosts = 4\nlink_rate = \"100 Gb/s\"\nlink_delay = \"1 us\"\n[pause]\nmode = \"off\"\n\
         [transport]\nack_every = 1\n[host]\nqueues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"1 GB\"\n\
         [run]\nduration = \"1 ms\"\n[record]\nflow_times = \"off\"\n[[traffic]]\nname = \"app\"\nhosts = \"all\"\n\
         frame = \"1048 B\"\nheader = \"48 B\"\nkind = \"graph\"\n{more}\n"
    )
}

/// With a schedule of these ranks, whose statements are parted by semicolons.
fn of(ranks: &[&str], more: &str) -> String {
    let block = |(n, rank): (usize, &&str)| format!("\"rank {n} {{ {rank} }}\"");
    let blocks: Vec<String> = ranks.iter().enumerate().map(block).collect();
    text(&format!("operations = [\"num_ranks {}\", {}]\n{more}", ranks.len(), blocks.join(", ")))
}

#[test]
fn processors_take_one_after_the_other() {
    for (rank, ns) in [
        ("a: calc 100 ; b: calc 200 ; b requires a", 300),
        ("calc 100 ; calc 200", 300),
        ("calc 100 cpu 0 ; calc 200 cpu 1", 200),
        ("a: calc 100 ; b: calc 70 cpu 1 ; b requires a", 170),
        ("a: calc 100 ; b: calc 70 cpu 1 ; b irequires a", 100),
        // It begins with a, which begins with c: after 40 ns.
        ("z: calc 40 ; a: calc 100 ; b: calc 70 cpu 1 ; a requires z ; b irequires a", 140),
        ("z: calc 40 ; a: calc 10 ; b: calc 70 cpu 1 ; a requires z ; b irequires a", 110),
        // The later one of the file is ready first.
        ("a: calc 50 ; b: calc 30 cpu 1 ; c: calc 20 ; a requires b", 80),
        ("calc 0", 0),
    ] {
        assert_eq!(ends(&of(&[rank], "")), [ns * NS], "{rank}");
    }
    assert_eq!(ends(&of(&["calc 100"], "start = \"5 us\"")), [5_100 * NS]);
}

#[test]
fn messages_arrive_and_are_acknowledged() {
    let two = |a: &str, b: &str, more: &str| ends(&of(&[a, b], more));
    let sent = "send_ends = \"sent\"";
    assert_eq!(two("send 1000b to 1", "recv 1000b from 0", ""), [T + BACK, T]);
    assert_eq!(two("send 1000b to 1", "recv 1000b from 0", sent), [0, T]);
    let silent = of(&["send 1000b to 1", "recv 1000b from 0"], "").replace("ack_every = 1", "ack_every = 0");
    assert_eq!(ends(&silent), [0, T], "nothing is acknowledged");
    // Ten frames, and a last one of 548 B; a message of no bytes has a frame of 64 B.
    let arrives = 10 * FRAME + 2 * 43_840 + 2_000_000;
    assert_eq!(two("send 10500b to 1", "recv 10500b from 0", sent), [10 * FRAME, arrives + FRAME - 43_840]);
    assert_eq!(two("send 0b to 1", "recv 0b from 0", sent), [0, 2 * ACK + 2_000_000]);
    // There and back: the reply goes behind the acknowledgement.
    let pong = "a: recv 1000b from 0 ; b: send 1000b to 0 ; b requires a";
    assert_eq!(two("send 1000b to 1 ; recv 1000b from 1", pong, ""), [2 * T + ACK, 2 * T + ACK + BACK]);
    // A send that waits for a send: until that is acknowledged, or until its last frame begins.
    let chain = "a: send 1000b to 1 ; b: send 1000b to 1 ; b requires a";
    let both = "recv 1000b from 0 ; recv 1000b from 0";
    assert_eq!(two(chain, both, ""), [2 * (T + BACK), 2 * T + BACK]);
    assert_eq!(two(chain, both, sent), [FRAME, T + FRAME]);
    let begun = chain.replace("requires", "irequires");
    assert_eq!(two(&begun, both, ""), [T + FRAME + BACK, T + FRAME]);
}

#[test]
fn receives_are_posted() {
    let two = |a: &str, b: &str| ends(&of(&[a, b], "send_ends = \"sent\""));
    // Posted late, posted early, and what begins as it is posted.
    for (wait, posted) in [(5000 * NS, 5000 * NS), (100 * NS, T)] {
        let b = format!(
            "w: calc {} ; r: recv 1000b from 0 ; c: calc 10 cpu 1 ; r requires w ; c requires r",
            wait / NS
        );
        assert_eq!(two("send 1000b to 1", &b), [0, posted + 10 * NS]);
        let b = format!(
            "w: calc {} ; r: recv 1000b from 0 ; c: calc 9000 cpu 1 ; r requires w ; c irequires r",
            wait / NS
        );
        assert_eq!(two("send 1000b to 1", &b), [0, wait + 9000 * NS]);
    }
    assert_eq!(two("send 1000b to 1", "r: recv 1000b from 0 ; c: calc 9000 ; c irequires r"), [0, 9000 * NS]);
}

/// Tags name messages whatever their order: the first received is the second sent, a frame later.
#[test]
fn tags_match_out_of_order() {
    let a = "send 1000b to 1 tag 1 ; send 1000b to 1 tag 2";
    for (first, second, at) in [(1, 2, T), (2, 1, T + FRAME)] {
        let b = format!(
            "x: recv 1000b from 0 tag {first} ; y: recv 1000b from 0 tag {second} ; c: calc 1000 ; c requires x ; y requires x"
        );
        assert_eq!(ends(&of(&[a, &b], "send_ends = \"sent\"")), [FRAME, at + 1000 * NS], "{first}");
    }
    // Of one tag, the first that may go is the first: here b, of two frames, and a follows 9 us later.
    let a = "a: send 1000b to 1 ; b: send 2000b to 1 ; w: calc 9000 ; w requires b ; a requires w";
    let b = "x: recv 2000b from 0 ; y: recv 1000b from 0 ; y requires x ; c: calc 1 ; c requires x";
    assert_eq!(ends(&of(&[a, b], "send_ends = \"sent\"")), [FRAME + 9000 * NS, FRAME + 9000 * NS + T]);
}

/// Two send to one: its port serves one after the other. Then it computes, and tells a fourth.
#[test]
fn a_reduction_of_four_ranks() {
    let ranks = [
        "a: recv 1000b from 1 ; b: recv 1000b from 2 ; c: calc 300 ; d: send 1000b to 3 ; c requires a ; c requires b ; d requires c",
        "send 1000b to 0",
        "send 1000b to 0",
        "recv 1000b from 0",
    ];
    let end = T + FRAME + 300 * NS;
    assert_eq!(ends(&of(&ranks, "send_ends = \"sent\"")), [end, 0, 0, end + T]);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let has = |text: String, parts: &[&str]| {
        let said = refused(&text);
        parts.iter().for_each(|p| assert!(said.contains(p), "{p} is not in:\n{said}"));
    };
    let cross = "r: recv 1000b from 1 ; s: send 1000b to 1 ; s requires r";
    let other = cross.replace("from 1", "from 0").replace("to 1", "to 0");
    has(of(&[cross, &other], ""), &["wait for each other for ever", "rank 0: `", "rank 1: `"]);
    has(of(&["calc 1", "recv 5b from 0"], ""), &["nobody sends it: 5 B from rank 0 to rank 1 with tag 0"]);
    has(of(&["calc 1"; 5], ""), &["5 ranks, and the table names 4 hosts"]);
    has(of(&["calk 1"], ""), &["`calk` is no statement", "calc NS"]);
    has(text(""), &["there is no schedule"]);
    has(of(&["calc 1"], "size = \"1 MB\""), &["size"]);
    let fifo =
        of(&["calc 1"], "").replace("\"per-flow\"", "\"fifo\"").replace("[transport]\nack_every = 1\n", "");
    has(fifo, &["queue pairs"]);
    has(of(&["calc 1"], "").replace("hosts = \"all\"", "hosts = [\"H0\", \"H0\"]"), &["H0 is a rank twice"]);
    has(of(&["calc 1"], "start = \"2 ms\""), &["lengthen run.duration"]);
    // A fault of a file is told with its line and column there.
    let file = std::env::temp_dir().join(format!("cnsim-{}.goal", std::process::id()));
    std::fs::write(&file, "# a schedule\nnum_ranks 2\n\nrank 0 {\n  send 5b to 9\n}\n").unwrap();
    has(text(&format!("file = {file:?}")), &[".goal:5:14", "traffic.0.file", "there is no rank 9"]);
    std::fs::write(
        &file,
        "# a schedule\nnum_ranks 2\n\nrank 0 {\n  send 1000b to 1\n}\nrank 1 {\nrecv 1000b from 0 }",
    )
    .unwrap();
    assert_eq!(ends(&text(&format!("file = {file:?}"))), [T + BACK, T]);
    std::fs::remove_file(&file).unwrap();
}
