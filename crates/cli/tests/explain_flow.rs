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

/// Eight hosts send to H0 in closed loops.
const LOOPS: &str = r#"name = "loops"
[topology]
kind = "single-switch"
hosts = 9
link_rate = "100 Gb/s"
[switch]
share = "300 KB"
[host]
queues = "per-flow"
[workload]
kind = "incast"
destinations = ["H0"]
size = "4 MB"
[run]
duration = "20 ms"
seeds = 1
"#;

/// The sentence below a page names what cut the window, as often as the file has it, and says which part of the wait that explains.
#[test]
fn a_closed_window_is_told_with_what_cut_it() {
    let folder = Folder::new("loops");
    let tcp = "kind = \"tcp\"\nrto_min = \"micro\"\nrto_first = \"10 ms\"";
    let go_back = "kind = \"go-back-n\"";
    let by_rate = "kind = \"go-back-n\"\nwindow = \"bdp\"\nwindow_by_rate = \"on\"";
    let fixed = "kind = \"go-back-n\"\nwindow = \"bdp\"";
    let small = "smaller than what the link carries until an acknowledgement comes back";
    let cases = [
        ("on", "hpcc", go_back, "telemetry of "),
        ("on", "swift", go_back, "round trips"),
        ("on", "dctcp", go_back, "marks of S>H0"),
        ("off", "dctcp", tcp, "marks of S>H0"),
        ("off", "newreno", tcp, "losses of S>H0"),
        ("off", "cubic", tcp, "losses of S>H0"),
        ("on", "dcqcn", by_rate, "marks of S>H0"),
        ("on", "none", fixed, ""),
        ("on", "timely", go_back, "round trips"),
        ("on", "dcqcn", go_back, "marks of S>H0"),
    ];
    for (n, (pause, scheme, transport, by)) in cases.into_iter().enumerate() {
        let matrix = format!("[matrix]\npause = [\"{pause}\"]\nschemes = [\"{scheme}\"]\n");
        let text = format!("{LOOPS}[transport]\n{transport}\n{matrix}");
        let (file, out) = (folder.write(&format!("{n}.toml"), &text), folder.file(&n.to_string()));
        let (code, said) = say(&["run", &file, "--out", &out]);
        assert_eq!(code, Some(0), "{said}");
        let (_, page) = say(&["explain-flow", &out, "H4>H0"]);
        let sentence = page.split("Most of its time").last().unwrap().replace('\n', " ");
        let flows = folder.read(&format!("{n}/flows.csv"));
        let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
        let head = cells(flows.lines().next().unwrap());
        let line = cells(flows.lines().find(|line| line.contains(",H4>H0,")).unwrap());
        let cell = |name: &str| &line[head.iter().position(|of| of == name).unwrap()];
        let us = |name: &str| cell(name).parse::<f64>().unwrap() / 1e3;
        let sums: Vec<Vec<&str>> = cell("cut_by").split("; ").map(|sum| sum.split(' ').collect()).collect();
        let cuts: u64 = sums.iter().filter_map(|sum| sum.get(2)?.parse::<u64>().ok()).sum();
        let all = us("limiter_ns") + us("window_ns");
        if us("limiter_ns") > us("window_ns") {
            assert!(sentence.contains("limiter's gap") && page.contains(by), "{page}");
            assert!(!sentence.contains("window") && ["timely", "dcqcn"].contains(&scheme), "{page}");
            continue;
        }
        assert!(sentence.contains("window closed at H4"), "{page}");
        if by.is_empty() {
            assert!(
                cuts == 0 && sentence.contains(&format!("Nothing cut its window, which was {small}")),
                "{page}"
            );
            continue;
        }
        let times = if cuts == 1 { "once".into() } else { format!("{cuts} times") };
        let told = sentence.split_once(&format!("Its window was cut {times}; by "));
        assert!(told.is_some_and(|told| told.1.contains(by)), "{page}");
        let number = |behind: &str| {
            let (_, rest) = sentence.split_once(behind).unwrap();
            rest.split(' ').next().unwrap().parse::<f64>().unwrap()
        };
        let told = number("After cuts it waited ") + number("Before the first one it waited ");
        assert!((told - all).abs() < 0.11 && sentence.contains(small), "{told} of {all}: {page}");
    }
}

/// Beside another run the page says which of both has more of the largest difference, and the cuts of each stand behind its own wait.
#[test]
fn a_difference_is_told_of_the_flow_that_has_more_of_it() {
    let folder = Folder::new("beside");
    let matrix = "[matrix]\npause = [\"on\"]\nschemes = [\"dcqcn\", \"dctcp\"]\n";
    let text = format!("{LOOPS}[transport]\nkind = \"go-back-n\"\n{matrix}");
    let (file, out) = (folder.write("beside.toml", &text), folder.file("out"));
    let (code, said) = say(&["run", &file, "--out", &out]);
    assert_eq!(code, Some(0), "{said}");
    for (scheme, other) in [("dcqcn", "dctcp"), ("dctcp", "dcqcn")] {
        let (_, page) = say(&["explain-flow", &out, "H4>H0", "--scheme", scheme, "--against", other]);
        let text = page.replace('\n', " ");
        assert!(text.contains("limiter's gap at H4, more of it in dcqcn. The scheme let"), "{page}");
        let (gap, rest) = page.split_once("limiter's gap").unwrap().1.split_once("window closed").unwrap();
        assert!(gap.contains("dcqcn: cut ") && !gap.contains("dctcp: cut "), "{page}");
        assert!(rest.contains("dctcp: cut ") && !rest.contains("dcqcn: cut "), "{page}");
    }
}

#[test]
fn a_run_without_a_complete_flow_is_told_as_such() {
    let folder = Folder::new("none-whole");
    let text = LOOPS.replace("20 ms", "100 us") + "[matrix]\npause = [\"on\"]\nschemes = [\"none\"]\n";
    let (file, out) = (folder.write("none.toml", &text), folder.file("out"));
    assert_eq!(say(&["run", &file, "--out", &out]).0, Some(0));
    for more in [&[][..], &["--scheme", "none"], &["H4>H0"]] {
        let (code, said) = say(&[&["explain-flow", &out], more].concat());
        assert!(code == Some(2) && said.contains("none of its 8 flows was received whole"), "{said}");
    }
    let (_, said) = say(&["explain-flow", &out, "--scheme", "dcqcn"]);
    assert!(!said.contains("received whole"), "{said}");
}
