//! `cnsim explain-flow`: the README's victim, a lossy network with flows that never end, and what is not there.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, cnsim, text};

/// Two hosts send to a third; the switch drops what its memory does not hold, and nothing is sent again.
const LOSSY: &str = r#"name = "lossy"
[topology]
kind = "single-switch"
hosts = 3
[pause]
mode = "off"
[switch]
share = "6 KB"
[workload]
kind = "transfers"
transfers = ["0 us, H0, H2, 60 KB", "0 us, H1, H2, 60 KB", "500 us, H0, H2, 3 KB", "600 us, H0, H2, 3 KB"]
[run]
duration = "1 ms"
seeds = 1
[matrix]
pause = ["off"]
schemes = ["none"]
"#;

/// Runs it, and says all.
fn say(words: &[&str]) -> (Option<i32>, String) {
    let done = cnsim(words);
    (done.status.code(), text(&done))
}

#[test]
fn the_victim_of_the_readme() {
    let folder = Folder::new("victim");
    let file = format!("{}/../../docs/tutorial/incast.toml", env!("CARGO_MANIFEST_DIR"));
    let out = folder.file("out");
    let (code, said) = say(&["run", &file, "--seeds", "2", "--out", &out]);
    assert_eq!(code, Some(0), "{said}");
    let asks: [&[&str]; 6] = [
        &["H10>H5"],
        &[],
        &["H10>H5", "--seed", "2", "--condition", "pause on, dcqcn"],
        &["h10 > h5#1", "--scheme", "dcqcn", "--against", "none"],
        &["H10>H5", "--scheme", "none", "--against", "seed 2"],
        &["H10>H5", "--scheme", "dcqcn", "--against", &out],
    ];
    for words in asks {
        let words = [&["explain-flow", &out], words].concat();
        let (code, said) = say(&words);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.lines().all(|l| l.chars().count() <= 80), "{said}");
        assert!(said.contains("own frames before the last") && said.contains("\nsum  "), "{said}");
    }
    // What cut the flow stands with its queues, and the cuts of all causes are as many as in the file.
    let (_, page) = say(&["explain-flow", &out, "H10>H5", "--scheme", "dcqcn"]);
    let told = page.lines().find(|l| l.contains("cut ") && l.contains(" times; by marks of S")).unwrap();
    let counts = told.split(['(', ')']).filter_map(|n| n.parse::<u64>().ok()).sum::<u64>();
    assert!(told.contains(&format!("cut {counts} times")) && page.contains("then waited"), "{page}");
    // Behind whom it waited: frames of the incast, no longer than in the queue in all.
    let named = folder.file("named");
    let set = "record.flow_events=[\"H10>H5\"]";
    let words = ["run", &file, "--seeds", "1", "--scheme", "none", "--set", set, "--out", &named];
    assert_eq!(say(&words).0, Some(0));
    let (_, page) = say(&["explain-flow", &named, "H10>H5"]);
    assert!(page.contains("  behind ") && page.contains(">H0 "), "{page}");
    assert!(page.lines().all(|l| l.chars().count() <= 80), "{page}");
    let events = folder.read("named/flow_events.csv");
    let first = events.lines().nth(1).unwrap_or_default();
    assert!(events.starts_with("condition,pause,scheme,seed,flow,number,time_ns,cause,port"), "{events}");
    assert!(first.is_empty() || first.starts_with("default,on,none,1,H10>H5,"), "{first}");
    let (code, said) = say(&["check", &file, "--set", "record.flow_events=[\"H10>H55\"]"]);
    assert!(code == Some(2) && said.contains("H55") && said.contains("record.flow_events"), "{said}");
    let (code, said) = say(&["explain-flow", &folder.file("missing")]);
    assert!(code == Some(2) && said.contains("missing: there is no such folder of results"), "{said}");
    // Rows of a page add up, but for rounding.
    let (_, page) = say(&["explain-flow", &out, "H10>H5", "--scheme", "none"]);
    let number = |l: &str| l.split_whitespace().rev().nth(2).and_then(|n| n.parse::<f64>().ok());
    let rows: Vec<f64> = page.lines().filter(|l| l.ends_with('%')).filter_map(number).collect();
    let (sum, parts) = rows.split_last().unwrap();
    assert!(parts.len() > 4 && (parts.iter().sum::<f64>() - sum).abs() < 0.1, "{page}");
    // Other results without a run are not these.
    let head = folder.read("out/flows.csv").lines().next().unwrap().to_string() + "\n";
    let bare = folder.write("bare.csv", &head);
    let (code, said) = say(&["explain-flow", &out, "H10>H5", "--scheme", "none", "--against", &bare]);
    assert!(code == Some(2) && said.contains("no other run is like that"), "{said}");
    let wrong: [(&[&str], &str); 6] = [
        (&["H10>H6"], "H10>H6: no such flow is complete"),
        (&["H10>H6"], "did you mean `H10>H5`?"),
        (&["H10>H5#2"], "1 flow of these hosts: `H10>H5`"),
        (&["H10>H5#x"], "`#x` is no number of a flow"),
        (&["H10>H5", "--scheme", "dcqcn", "--against", "nome"], "did you mean `none`?"),
        (&["H10>H5", "--against", "none"], "2 runs are like that"),
    ];
    for (words, why) in wrong {
        let (code, said) = say(&[&["explain-flow", &out], words].concat());
        assert!(code == Some(2) && said.contains(why), "{said}");
    }
    let (code, said) = say(&["explain-flow", &out, "--scheme", "ecm"]);
    assert!(
        code == Some(2) && said.contains("no run is like that") && said.contains("dcqcn, seed 1"),
        "{said}"
    );
}

#[test]
fn flows_without_parts_say_why() {
    let folder = Folder::new("lossy-flows");
    let (file, out) = (folder.write("lossy.toml", LOSSY), folder.file("out"));
    assert_eq!(cnsim(&["run", &file, "--out", &out]).status.code(), Some(0));
    let (code, said) = say(&["explain-flow", &out, "H1>H2"]);
    assert!(
        code == Some(2) && said.contains("H1>H2 was not received whole") && said.contains("fct.csv"),
        "{said}"
    );
    let (code, said) = say(&["explain-flow", &out, "H0>H2#3"]);
    assert!(code == Some(0) && said.contains("H0>H2#3, 3 KB, 600.000 to "), "{said}");
    let bare = folder.file("bare");
    let (code, said) = say(&["run", &file, "--set", "record.trips=off", "--out", &bare]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = say(&["explain-flow", &bare]);
    let remedy = format!("--set record.trips=on --out {bare}");
    assert!(code == Some(2) && said.contains("flows.csv: there is none") && said.contains(&remedy), "{said}");
    // A file that does not add up is refused by its line.
    let text = folder.read("out/flows.csv");
    let broken = text.replacen(",600000,", ",600000,1", 1);
    let broken = folder.write("flows.csv", &broken);
    let (code, said) = say(&["explain-flow", &broken]);
    assert!(code == Some(2) && said.contains(": no parts of a flow"), "{said}");
}
