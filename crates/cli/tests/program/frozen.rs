//! A network that stands still is told before any number, in every place, and by the exit code.

use crate::common::{Folder, cnsim, text};

/// Five switches in a ring, each host to the one so many switches on: where it is two, no port finds room before the one after it
/// does.
fn ring(on: usize) -> String {
    let mut text = String::from(
        "name = \"ring\"\n[topology]\nkind = \"ring\"\nswitches = 5\nper_switch = 1\n[switch]\nbuffer = \"IN\"\n\
         [run]\nduration = \"3 ms\"\nseeds = 2\n[matrix]\npause = [\"on\", \"off\"]\nschemes = [\"none\"]\n",
    );
    for i in 0..5 {
        let to = (i + on) % 5;
        text += &format!("[[traffic]]\nhosts = \"H{i}\"\nkind = \"greedy\"\ndestinations = \"H{to}\"\n");
    }
    text
}

const WORDS: &str = "a deadlock by PAUSE: S0>S1 waits for S1>S2, which waits for S2>S3, which waits for S3>S4, which \
                     waits for S4>S0, which waits for S0>S1";

#[test]
fn a_deadlock_is_said_first() {
    let folder = Folder::new("frozen");
    let file = folder.write("ring.toml", &ring(2));
    let out = folder.file("out");
    let done = cnsim(&["run", &file, "--pause", "on", "--scheme", "none", "--seed", "1", "--out", &out]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(4), "{}", text(&done));
    assert!(said.starts_with("FROZEN"), "{said}");
    assert!(said.contains(WORDS), "{said}");
    assert!(text(&done).contains("froze in 1 of 1 run;"), "{}", text(&done));
    let results = folder.read("out/results.json");
    assert!(results.contains("\"deadlock\":true,") || results.contains("\"deadlock\":true}"), "{results}");
    assert_eq!(cnsim(&["verify", &folder.file("out/results.json")]).status.code(), Some(0));
    let edited = results.replace("\"deadlock\":true", "\"deadlock\":false");
    let edited = cnsim(&["verify", &folder.write("edited.json", &edited)]);
    assert!(
        edited.status.code() == Some(3) && text(&edited).contains("the run is frozen"),
        "{}",
        text(&edited)
    );

    let done = cnsim(&["run", &file, "--out", &out]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(4), "{}", text(&done));
    assert!(said.starts_with("FROZEN") && said.contains("PAUSE on") && said.contains("2 seeds"), "{said}");
    assert!(said.find("FROZEN").unwrap() < said.find("scheme").unwrap());
    assert!(text(&done).contains("froze in 2 of 4 runs"), "{}", text(&done));
    let report = folder.read("out/report.html");
    let (alert, table) = (report.find("The network stood still").unwrap(), report.find("<table").unwrap());
    assert!(alert < table);
    assert!(report.contains(">port</th>"), "the column of ports is named so");
    // What is kept says so again.
    assert_eq!(cnsim(&["run", &file, "--out", &out, "--quiet"]).status.code(), Some(4));

    let sweep =
        ["sweep", &file, "--over", "run.duration=3ms,4ms", "--seeds", "1", "--out", &folder.file("swept")];
    let done = cnsim(&sweep);
    assert!(done.status.code() == Some(4) && text(&done).contains("FROZEN"), "{}", text(&done));
    assert!(folder.read("swept/sweep.html").contains("The network stood still"));
}

#[test]
fn a_network_that_moves_is_not_called_frozen() {
    let folder = Folder::new("moves");
    let file = folder.write("ring.toml", &ring(1));
    let done = cnsim(&["run", &file, "--out", &folder.file("out")]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert!(!text(&done).contains("FROZEN"));
    assert!(!folder.read("out/report.html").contains("The network stood still"));
}

/// A ring that loses a frame which nothing sends again: told first, with rank, transfer and time, and by the exit code. What decided the
/// end of one that is done adds up to its time.
#[test]
fn a_collective_that_waits_for_ever_is_said_first() {
    let folder = Folder::new("stands");
    let text = "name = \"ring\"\n[topology]\nhosts = 4\n[pause]\nmode = \"off\"\n[host]\nqueues = \"per-flow\"\n[transport]\nkind = \"none\"\n\
                [run]\nduration = \"3 ms\"\nseeds = 1\n[[event]]\nlink = \"H1-S\"\nlose = [\"H1>H2 5\"]\n\
                [[traffic]]\nname = \"job\"\nhosts = \"all\"\nkind = \"all-reduce\"\nsize = \"60 KB\"\n";
    let (file, out) = (folder.write("ring.toml", text), folder.file("out"));
    let done = cnsim(&["run", &file, "--out", &out]);
    assert_eq!(done.status.code(), Some(5), "{}", crate::common::text(&done));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.starts_with("WAITS FOR EVER"), "{said}");
    let first = said.lines().nth(1).unwrap();
    for words in ["job: rank 2 (H2) waits since ", "for the transfer H1>H2 of 15 KB: frames of it were lost"]
    {
        assert!(first.contains(words), "{said}");
    }
    let page = cnsim(&["explain-collective", &out]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("WAITS FOR EVER since ") && page.contains("0 of 1 rounds are done"), "{page}");
    let again = cnsim(&["run", &file, "--out", &out, "--set", "transport.kind=go-back-n"]);
    assert_eq!(again.status.code(), Some(0), "{}", crate::common::text(&again));
    let page = cnsim(&["explain-collective", &out]);
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(
        page.contains("job: all-reduce by ring, 4 ranks, 60 KB") && page.contains(" us = job time"),
        "{page}"
    );
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    let none = cnsim(&["explain-collective", &out, "--name", "other"]);
    assert_eq!(none.status.code(), Some(2), "{}", crate::common::text(&none));
}
