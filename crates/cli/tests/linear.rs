//! What grows, grows evenly: four times the growth of the input takes about four times the instructions, not eight times. Counted by
//! callgrind, so that it does not depend on what else the machine does: `make test PART=speed`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Folder, skip};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Of sizes 1, 2 and 5: how often the work from 1 to 2 may be in that from 1 to 5. Linear work takes 4 times, quadratic work 8 times.
const MOST: f64 = 5.5;
/// Twice the flows take twice the instructions: to look at each flow for every frame would take 4.7 times.
const MOST_OF_FLOWS: f64 = 4.4;

/// Instructions of a call.
fn counted(args: &[&str]) -> f64 {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_cnsim"))
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    // 4: frozen, which is well here.
    assert!(matches!(out.status.code(), Some(0 | 4)), "{args:?}: {said}");
    let count = said.lines().find_map(|l| l.split("Collected :").nth(1)).expect("callgrind says how many");
    count.trim().parse().unwrap()
}

/// A scenario of one case: lines of its tables before `[run]`, its length in us and its scheme.
fn scenario(tables: &str, us: usize, pause: &str, scheme: &str) -> String {
    format!(
        "name = \"grows\"\n{tables}\n[run]\nduration = \"{us} us\"\nseeds = 1\n[matrix]\npause = [\"{pause}\"]\nschemes = [\"{scheme}\"]\n"
    )
}

/// Messages of `becn` for which no link has room: its control queues grow all the time.
fn flood(size: usize) -> String {
    let tables = "[topology]\nkind = \"parking-lot\"\nlink_rate = \"0.1 Gb/s\"\nstages = 1\nlong = 2\n[switch]\nprocessing = \
                  \"5 us\"\nbuffer = \"SW\"\ncapacity = \"24000 KB\"\n[control]\ntransport = \"priority\"\n[workload]\nkind = \
                  \"greedy\"\nframe = \"4096 B\"\ndestinations = \"permutation\"";
    scenario(tables, 5000 * size, "on", "becn")
}

/// Links that hold more and more frames.
fn long_links(size: usize) -> String {
    let (delay, us) = (100 * size, 600 * size);
    let tables = format!(
        "[topology]\nhosts = 8\nlink_rate = \"100 Gb/s\"\nlink_delay = \"{delay} us\"\n[workload]\nload = \"50 %\""
    );
    scenario(&tables, us, "off", "none")
}

/// Two flows, and many bins of a microsecond.
fn fairness(size: usize) -> String {
    let tables = "[topology]\nhosts = 4\n[workload]\nload = \"0.1 %\"\n[record]\nbin = \"1 us\"\nflows = [\"H0>H1\", \"H2>H1\"]";
    scenario(tables, 4000 * size, "off", "none")
}

fn traffic(size: usize) -> String {
    let table = "[[traffic]]\nhosts = \"H0\"\ndestinations = \"H1\"\nload = \"0.01 %\"\n";
    scenario(&format!("[topology]\nhosts = 4\n{}", table.repeat(250 * size)), 1000, "off", "none")
}

/// A star of stars, given link by link.
fn graph(size: usize) -> String {
    let (mut nodes, mut links) = (vec![format!("\"X {}\"", 10 * size)], Vec::new());
    for s in 0..10 * size {
        nodes.push(format!("\"S{s} 17\""));
        links.push(format!("\"S{s} X\""));
        (0..16).for_each(|h| links.push(format!("\"H{s}-{h} S{s}\"")));
    }
    let mut tables = String::from("[topology]\nkind = \"graph\"\n");
    let _ = write!(tables, "nodes = [{}]\nlinks = [{}]", nodes.join(", "), links.join(", "));
    scenario(&format!("{tables}\n[workload]\nload = \"0.01 %\""), 100, "off", "none")
}

fn transfers(size: usize) -> String {
    let list: Vec<String> = (0..1000 * size).map(|i| format!("\"{i} us, H0, H1, 1500 B\"")).collect();
    let tables =
        format!("[topology]\nhosts = 4\n[workload]\nkind = \"transfers\"\ntransfers = [{}]", list.join(", "));
    scenario(&tables, 10_000, "off", "none")
}

/// Flows that are all under way at once: a limiter holds some of them back, and the others take turns.
fn flows(size: usize) -> String {
    let list: Vec<String> = ["H0, H1", "H2, H1", "H0, H3"]
        .iter()
        .flat_map(|pair| (0..1000 * size).map(move |_| format!("\"0 us, {pair}, 3000 B\"")))
        .collect();
    let tables =
        format!("[topology]\nhosts = 4\n[workload]\nkind = \"transfers\"\ntransfers = [{}]", list.join(", "));
    scenario(&tables, 6000 * size, "on", "dcqcn")
}

#[test]
#[ignore = "counts for minutes"]
fn four_times_the_input_takes_about_four_times_the_work() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip("four_times_the_input_takes_about_four_times_the_work", "valgrind");
    }
    let folder = Folder::new("linear");
    type Make = fn(usize) -> String;
    let kinds: [(&str, &str, Make); 7] = [
        ("run", "flows", flows),
        ("run", "flood", flood),
        ("run", "fairness", fairness),
        ("run", "long-links", long_links),
        ("check", "traffic", traffic),
        ("check", "graph", graph),
        ("check", "transfers", transfers),
    ];
    let mut failures = Vec::new();
    for (verb, name, make) in kinds {
        let count = |size: usize| {
            let file = folder.write(&format!("{name}.toml"), &make(size));
            let out = folder.file("out");
            match verb {
                "run" => {
                    counted(&["run", &file, "--threads", "1", "--series", "none", "--quiet", "--out", &out])
                }
                _ => counted(&[verb, &file]),
            }
        };
        let (one, two, five) = (count(1), count(2), count(5));
        let ratio = (five - one) / (two - one);
        if ratio > if name == "flows" { MOST_OF_FLOWS } else { MOST } {
            failures.push(format!("{verb} {name}: four times the growth takes {ratio:.1} times the work"));
        }
        println!("{verb} {name}: {one:.2e}, {two:.2e}, {five:.2e}: {ratio:.2}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Published numbers of which each finds its cell.
#[test]
#[ignore = "counts for minutes"]
fn a_long_table_of_published_numbers_is_read_evenly() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip("a_long_table_of_published_numbers_is_read_evenly", "valgrind");
    }
    let folder = Folder::new("linear-published");
    let file =
        folder.write("mine.toml", &format!("study = \"mine\"\n{}", traffic(0).replace("\"grows\"", "\"p\"")));
    let out = folder.file("out");
    let head =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published/published.csv"));
    let head = head.unwrap().lines().find(|l| !l.starts_with('#')).unwrap().to_string();
    let columns: Vec<&str> = head.split(',').collect();
    let count = |size: usize| {
        let mut text = format!("{head}\n");
        for i in 0..500 * size {
            let cell = |c: &&str| match *c {
                "study" => "mine".into(),
                "scenario" => "p".into(),
                "condition" => format!("c{i}"),
                "pause" => "off".into(),
                "scheme" => "none".into(),
                "metric" => "overhead".into(),
                "value" | "published" => "1".into(),
                "unit" => "Mb/s".into(),
                _ => String::new(),
            };
            text += &(columns.iter().map(cell).collect::<Vec<String>>().join(",") + "\n");
        }
        let published = folder.write("published.csv", &text);
        counted(&["run", &file, "--published", &published, "--threads", "1", "--quiet", "--out", &out])
    };
    let (one, two, five) = (count(1), count(2), count(5));
    let ratio = (five - one) / (two - one);
    println!("{one:.2e}, {two:.2e}, {five:.2e}: {ratio:.2}");
    assert!(ratio < MOST, "{ratio}: {one:.2e}, {two:.2e}, {five:.2e}");
}
