//! Names in files, and of files, never steer the terminal: no verb lets an escape sequence or a mark that turns the direction of
//! writing through.

use crate::common::{Folder, cnsim};
use cnsim_problem::obeyed;

/// An escape sequence, one of a single character, and marks of direction.
const EVIL: &str = "x\u{1b}[31m\u{9b}5m\u{202e}\u{2066}\u{61c}\u{fdd0}[1my";

const SCENARIO: &str = "study = \"t\"\nname = \"s\"\ncondition = \"c\"\n[topology]\nhosts = 3\n[workload]\nload = \"30 %\"\n\
                        [run]\nduration = \"100 us\"\nseeds = 2\n[matrix]\npause = [\"off\"]\nschemes = [\"none\"]\n";

/// What a verb says, with colours and without: only colours of ours are obeyed, and only where they are asked for.
fn harmless(args: &[&str]) -> String {
    let mut all = String::new();
    for when in ["never", "always"] {
        let out = cnsim(&[args, &["--color", when]].concat());
        let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        let mut bare = said.clone();
        if when == "always" {
            ["31", "32", "33", "2", "1", "0"]
                .iter()
                .for_each(|c| bare = bare.replace(&format!("\u{1b}[{c}m"), ""));
            assert!(!said.contains("x\u{1b}"), "{args:?}: {said:?}");
        }
        let wrong = bare.chars().find(|c| obeyed(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(wrong, None, "{args:?}, colour {when}: {bare:?}");
        all += &said;
    }
    all
}

#[test]
fn no_verb_lets_a_name_steer_the_terminal() {
    let folder = Folder::new("safe");
    let dir = folder.0.join(EVIL);
    std::fs::create_dir_all(&dir).unwrap();
    let at = |name: &str| dir.join(name).display().to_string();
    let write = |name: &str, text: &str| {
        std::fs::write(dir.join(name), text).unwrap();
        at(name)
    };
    let file = write("s.toml", SCENARIO);
    let (out, other) = (at("out"), at("other"));
    // Files whose names are evil, and which are as they should be.
    harmless(&["check", &file]);
    harmless(&["check", &file, "--json"]);
    harmless(&["explain", &file]);
    harmless(&["run", &file, "--out", &other, "--verbose"]);
    harmless(&["run", &file, "--out", &other, "--json"]);
    harmless(&["run", &file, "--out", &out]);
    harmless(&["sweep", &file, "--over", "workload.load=10 %,20 %", "--out", &at("swept")]);
    harmless(&["verify", &other]);
    harmless(&["verify", &format!("{other}/results.json")]);
    harmless(&["compare", &format!("{out}/results.json"), &format!("{other}/results.json")]);
    harmless(&["explain", "t/s", "--out", &out]);
    harmless(&["tool", "clean", "--out", &at("none")]);
    // What stands in them is evil.
    let names =
        SCENARIO.replace("\"c\"", &format!("\"{EVIL}\"")).replace("[\"none\"]", &format!("[\"{EVIL}\"]"));
    let bad = write("bad.toml", &format!("{names}\n[{EVIL:?}]\n"));
    let remark = write("remark.toml", &format!("{SCENARIO}# \u{202e}\u{61c}\n"));
    let noise = write("noise.toml", EVIL);
    for verb in ["check", "explain", "run", "reproduce"] {
        for path in [&bad, &noise, &at("absent.toml"), &remark] {
            harmless(&[verb, path, "--out", &at("o")][..if verb.len() > 8 || verb == "run" { 4 } else { 2 }]);
        }
    }
    harmless(&["sweep", &bad, "--over", &format!("{EVIL}=1,2"), "--out", &at("o")]);
    for verb in ["explain", "run", "new", "headroom", EVIL] {
        harmless(&[verb, EVIL]);
    }
    harmless(&["run", &file, "--set", &format!("{EVIL}={EVIL}"), "--out", &at("o")]);
    // Results and tables that somebody gives away.
    let given = std::fs::read_to_string(format!("{other}/results.json")).unwrap();
    let json = EVIL.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>();
    for (i, word) in
        ["\"none\"", "\"c\"", "\"s\"", "\"t\"", "\"aggregate_throughput\"", "\"KB\""].iter().enumerate()
    {
        let changed = given.replace(word, &format!("\"{json}\""));
        std::fs::create_dir_all(dir.join(format!("given{i}"))).unwrap();
        let path = write(&format!("given{i}/results.json"), &changed);
        for args in [
            &["compare", &path, &path][..],
            &["compare", &path, &format!("{out}/results.json")],
            &["verify", &path],
        ] {
            harmless(args);
            harmless(&[args, &["--json"]].concat());
        }
        harmless(&["verify", &at(&format!("given{i}"))]);
    }
    let numbers = std::fs::read_to_string(format!("{out}/numbers.csv")).unwrap();
    let changed: Vec<String> = numbers
        .lines()
        .enumerate()
        .map(|(i, l)| if i == 0 { l.into() } else { l.replace(",c,", &format!(",{EVIL},")) + EVIL })
        .collect();
    std::fs::write(format!("{out}/numbers.csv"), changed.join("\n") + "\n").unwrap();
    harmless(&["explain", "t/s", "--out", &out]);
    harmless(&["explain", "t/s", "--out", &out, "--json"]);
    let published = write("p.csv", &format!("study,scenario,{EVIL}\nt,s,{EVIL}\n"));
    harmless(&["run", &file, "--out", &at("p"), "--published", &published]);
    for (name, text) in
        [("n.topo", EVIL), ("f.cm", EVIL), ("n.txt", "2 1 1\n1\n0 1 100Gbps 1us 0\n"), ("f.txt", EVIL)]
    {
        write(name, text);
    }
    harmless(&["import", "--topology", &at("n.topo"), "--flows", &at("f.cm")]);
    harmless(&["import", "--topology", &at("n.txt"), "--flows", &at("f.txt")]);
    harmless(&["import", "--hpcc", &write("c.txt", &format!("CC_MODE {EVIL}\n"))]);
}
