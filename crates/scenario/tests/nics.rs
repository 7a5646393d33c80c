//! Hosts with several NICs: which of them flows take, by which way, and how long that takes, by hand; and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod text;

use cnsim_fabric::{Engine, Outcome, Ways};
use cnsim_scenario::Ready;
use cnsim_scheme_api::NodeId;
use text::{outcome, ready, refused};

/// Links of 100 Gb/s and 1 us, frames of 1000 B and 48 B.
fn text(topology: &str, traffic: &str) -> String {
    format!(
        "name = \"t\"\n[topology]\nlink_rate = \"100 Gb/s\"\nlink_delay = \"1 us\"\n{topology}\n[pause]\nmode = \"off\"\n[host]\n\
         queues = \"per-flow\"\nprocessing = \"0 us\"\n[switch]\nprocessing = \"0 us\"\nshare = \"1 GB\"\n[run]\nduration = \"100 ms\"\n\
         [[traffic]]\nname = \"job\"\nhosts = \"all\"\nframe = \"1048 B\"\nheader = \"48 B\"\n{traffic}\n"
    )
}

/// The outcome of both engines, on one thread and on two.
fn by_all(ready: &Ready) -> Outcome {
    let fast = outcome(ready, Engine::Fast, 1);
    for other in [outcome(ready, Engine::Fast, 2), outcome(ready, Engine::Model, 1)] {
        assert_eq!((fast.fingerprint, &fast.operations), (other.fingerprint, &other.operations));
    }
    fast
}

/// The way of each finite flow: its transmitters from its source on, and how long it took, ps.
fn ways(ready: &Ready) -> Vec<(String, u64)> {
    let (spec, wiring) = (ready.settings.spec(&ready.built, 1, false), &ready.settings.wiring);
    let ways = Ways::new(&spec).unwrap();
    let mut all = Vec::new();
    for (dst, host) in by_all(ready).hosts.iter().enumerate() {
        for done in &host.transfers.completions {
            let way = ways.of(done.src, NodeId(dst as u32), done.nth).unwrap();
            let names: Vec<String> = way.into_iter().map(|port| wiring.port_name(port)).collect();
            all.push((names.join(" "), (done.end - done.start).as_ps()));
        }
    }
    all.sort();
    all
}

/// So many bytes over so many links, alone, ps.
fn alone(bytes: u64, links: u64) -> u64 {
    (bytes.div_ceil(1000) + links - 1) * 83_840 + links * 1_000_000
}

fn transfers(list: &[&str]) -> String {
    let list: Vec<String> = list.iter().map(|t| format!("\"0 us, {t}, 400 KB\"")).collect();
    format!("kind = \"transfers\"\ntransfers = [{}]", list.join(", "))
}

const RAILS: &str = "kind = \"rails\"\nservers = 2\ngpus = 4\nspines = 1";

/// Inside a server by its switch, across by the rail; over a spine only where the rails differ.
#[test]
fn rails_by_hand() {
    let r = ready(&text(RAILS, &transfers(&["H0, H1", "H0, H4", "H1, H6", "H7#2, H6#2"])));
    let by_hand = [
        ("H0#1>N0 N0>H1#1", alone(400_000, 2)),
        ("H0#2>R0 R0>H4#2", alone(400_000, 2)),
        ("H1#2>R1 R1>S0 S0>R2 R2>H6#2", 0),
        ("H7#2>R3 R3>S0 S0>R2 R2>H6#2", 0),
    ];
    let seen = ways(&r);
    assert_eq!(seen.iter().map(|w| w.0.as_str()).collect::<Vec<_>>(), by_hand.map(|w| w.0));
    assert!(seen.iter().zip(&by_hand).all(|(s, h)| h.1 == 0 || s.1 == h.1), "{seen:?}");
    // Faster inside, and the two NICs of a host send at once.
    let fast = format!("{RAILS}\ninside_rate = \"400 Gb/s\"\ninside_delay = \"100 ns\"");
    let seen = ways(&ready(&text(&fast, &transfers(&["H0, H1", "H0, H4"]))));
    assert_eq!(seen[0].1, 401 * 20_960 + 200_000);
    assert_eq!(seen[1].1, alone(400_000, 2));
}

/// A ring whose ranks go through one server and back through the other: no transfer leaves its rail, so all steps take two links.
#[test]
fn a_ring_over_rails_by_hand() {
    let job = "kind = \"all-reduce\"\nsize = \"320 KB\"";
    let ring = |hosts: &str| text(RAILS, job).replace("hosts = \"all\"", &format!("hosts = [{hosts}]"));
    let takes = |r: &Ready| {
        let out = by_all(r);
        r.settings.traffic.jobs.list[0]
            .ends
            .iter()
            .map(|e| out.operations[*e as usize].ended.as_ps())
            .max()
            .unwrap()
    };
    let turned = ready(&ring("\"H0..H3\", \"H7\", \"H6\", \"H5\", \"H4\""));
    assert_eq!(takes(&turned), 14 * alone(40_000, 2));
    let mut seen = ways(&turned);
    seen.dedup();
    let by_hand = [
        "H0#1>N0 N0>H1#1", "H1#1>N0 N0>H2#1", "H2#1>N0 N0>H3#1", "H3#2>R3 R3>H7#2", "H4#2>R0 R0>H0#2",
        "H5#1>N1 N1>H4#1", "H6#1>N1 N1>H5#1", "H7#1>N1 N1>H6#1",
    ];
    assert_eq!(seen.iter().map(|w| w.0.as_str()).collect::<Vec<_>>(), by_hand);
    assert!(seen.iter().all(|w| w.1 == alone(40_000, 2)), "{seen:?}");
}

/// Two ToRs: the flows of a pair by its hash, of a host in turn, or all by one NIC; both ends at one plane.
#[test]
fn two_tors_by_hand() {
    let tors =
        |nic: &str| format!("kind = \"dual-tor\"\nleaves = 4\nspines = 1\nper_switch = 2\nnic = \"{nic}\"");
    let list = transfers(&["H0, H1", "H0, H1", "H0, H3", "H0, H2"]);
    let first = |nic: &str| -> Vec<String> {
        ways(&ready(&text(&tors(nic), &list))).into_iter().map(|w| w.0).collect()
    };
    let in_turn =
        ["H0#1>L1 L1>H1#1", "H0#1>L1 L1>S1 S1>L3 L3>H3#1", "H0#2>L2 L2>H1#2", "H0#2>L2 L2>S1 S1>L4 L4>H2#2"];
    let seen = first("in-turn");
    // What crosses takes either leaf at the other side, which are equally near.
    let side = |way: &String| way.split(' ').next().unwrap().to_string();
    assert_eq!(seen.iter().map(side).collect::<Vec<_>>(), in_turn.map(|w| side(&w.to_string())));
    assert!(seen.contains(&in_turn[0].to_string()) && seen.contains(&in_turn[2].to_string()), "{seen:?}");
    let second = first("2");
    assert!(second.iter().all(|way| way.starts_with("H0#2>L2")), "{second:?}");
    let hashed = first("hash");
    assert_eq!(hashed, first("hash"));
    // Of many flows of a pair about half take each.
    let many = transfers(&["H0, H1"; 200]);
    let by_first =
        ways(&ready(&text(&tors("hash"), &many))).iter().filter(|w| w.0.starts_with("H0#1")).count();
    assert!((70..130).contains(&by_first), "{by_first}");
    // Drawn flows take NICs, too.
    for kind in ["kind = \"all-to-all\"\nsize = \"40 KB\"", "kind = \"permutation\"\nsize = \"40 KB\""] {
        let out = ways(&ready(&text(&tors("in-turn"), kind)));
        let flows = if kind.contains("all-to-all") { 12 } else { 4 };
        assert_eq!(out.len(), flows, "{out:?}");
    }
    let poisson = text(&tors("hash"), "kind = \"poisson\"\nload = \"20%\"\nsizes = \"websearch\"")
        .replace("100 ms", "2 ms");
    let spec = ready(&poisson);
    let sent: usize = (0..8)
        .map(|nic| {
            let spec = spec.settings.spec(&spec.built, 1, false);
            spec.hosts[nic].sources.iter().map(|s| s.transfers.len()).sum::<usize>()
        })
        .sum();
    assert!(sent > 10, "{sent}");
}

/// A graph's lines: a name with several links is a host with as many NICs. It does not forward.
#[test]
fn graphs_and_what_is_refused() {
    let graph = |links: &str, list: &[&str]| {
        let nodes = "kind = \"graph\"\nnodes = [\"S1 8\", \"S2 8\", \"S3 8\"]";
        text(&format!("{nodes}\nlinks = [{links}]"), &transfers(list))
    };
    let two = "\"a S1\", \"a S2\", \"b S1\", \"b S3\", \"c S2\", \"d S3\"";
    let seen = ways(&ready(&graph(two, &["a, b", "a, c", "b, d"])));
    let by_hand = ["a#1>S1 S1>b#1", "a#2>S2 S2>c", "b#2>S3 S3>d"];
    assert_eq!(seen.iter().map(|w| w.0.as_str()).collect::<Vec<_>>(), by_hand);
    let cases = [
        (graph(two, &["c, d"]), "the NICs of c and d reach no common switch"),
        (graph(two, &["a#1, c"]), "the NICs of a#1 and c reach no common switch"),
        (graph(two, &["a#3, c"]), "a has no NIC 3: it has 2"),
        (graph(two, &["a#1, a#2"]), "source and destination are the same host"),
        (graph("\"a S1\", \"b S1\", \"c S2\", \"a b\"", &["a, b"]), "two hosts, are linked directly"),
        (
            graph("\"a S1\", \"a S1\", \"b S1\", \"c S2\"", &["a, b"]),
            "no NIC of c has a path to another host",
        ),
        (graph(two, &["a, b"]).replace("links = [", "nic = 3\nlinks = ["), "a has no NIC 3: it has 2"),
        (text("kind = \"leaf-spine\"\nnic = \"in-turn\"", &transfers(&["H0, H1"])), "has no effect"),
        (
            text(RAILS, "kind = \"all-reduce\"").replace("\"all\"", "[\"H0#1\", \"H1\"]"),
            "is a NIC, and a host is due",
        ),
        (text(RAILS, "kind = \"all-reduce\"").replace("\"all\"", "[\"H0\", \"H0\"]"), "H0 is a rank twice"),
        (
            text(RAILS, "kind = \"greedy\"").replace("per-flow", "fifo"),
            "frames of no flow take no NIC, and H0 has 2",
        ),
        (
            text(RAILS, "kind = \"all-reduce\"") + "[record]\nhost = \"H3\"\n",
            "`H3` has 2 NICs, and one is due",
        ),
        (text("kind = \"dual-tor\"\nleaves = 3", &transfers(&["H0, H1"])), "3 leaves make no pairs"),
    ];
    for (text, why) in cases {
        let said = refused(&text);
        assert!(said.contains(why), "{why}: {said}");
    }
}
