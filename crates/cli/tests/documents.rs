//! The documents as a reader follows them: files are saved, commands are typed, and each must work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Folder;
use std::path::Path;
use std::process::Command;

fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What a reader does, in order.
#[derive(Debug, PartialEq)]
enum Step {
    Save(String, String),
    Type(Vec<String>),
}

/// Files after a line with "ave this as `NAME`", and the lines of `sh` blocks that start with `cnsim`.
fn steps(text: &str) -> Vec<Step> {
    let mut all = Vec::new();
    let mut name = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((_, rest)) = line.split_once("ave this as `") {
            name = rest.split('`').next().map(str::to_owned);
        }
        if line.starts_with("<!-- incast.toml -->") {
            all.push(Step::Save("incast.toml".into(), document("docs/tutorial/incast.toml")));
            name = None;
        }
        let Some(kind) = line.strip_prefix("```").filter(|k| !k.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        match (kind, name.take()) {
            ("sh", _) => all.extend(block.iter().filter_map(|l| words(l)).map(Step::Type)),
            (_, Some(name)) => all.push(Step::Save(name, block.join("\n") + "\n")),
            _ => {}
        }
    }
    all
}

/// The words after `cnsim`, quotes as in a shell, without the comment.
fn words(line: &str) -> Option<Vec<String>> {
    let rest = line.strip_prefix("cnsim ")?;
    let (mut all, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in rest.chars() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted && word.is_empty() => break,
            ' ' if !quoted => {
                if !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        all.push(word);
    }
    Some(all)
}

/// Follows a document in a folder of its own; returns what was said.
fn follow(path: &str, folder: &Folder) -> String {
    let mut said = String::new();
    let steps = steps(&document(path));
    assert!(steps.iter().any(|s| matches!(s, Step::Type(_))), "{path} has no command");
    for step in steps {
        match step {
            Step::Save(name, text) => {
                folder.write(&name, &text);
            }
            Step::Type(mut args) => {
                let into = args.iter().position(|word| word == ">").map(|at| args.split_off(at));
                let out = Command::new(env!("CARGO_BIN_EXE_cnsim"))
                    .args(&args)
                    .current_dir(&folder.0)
                    .env("NO_COLOR", "1")
                    .output()
                    .unwrap();
                let text = common::text(&out);
                assert!(out.status.success(), "{path}: cnsim {}\n{text}", args.join(" "));
                if let Some([_, file]) = into.as_deref() {
                    folder.write(file, &String::from_utf8_lossy(&out.stdout));
                }
                said += &text;
            }
        }
    }
    said
}

#[test]
fn steps_of_a_document() {
    let text = "Save this as `a.toml`:\n\n```toml\nname = \"a\"\n```\n\n```sh\ncnsim run a.toml --set b=\"1 Gb/s\"   # why\nmake test\n```\n\n```text\nnothing\n```\n";
    let typed = ["run", "a.toml", "--set", "b=1 Gb/s"].map(str::to_owned).to_vec();
    assert_eq!(steps(text), [Step::Save("a.toml".into(), "name = \"a\"\n".into()), Step::Type(typed)]);
}

/// With the README alone: percentiles of completion times, PAUSE for a port, the largest queue.
#[test]
fn the_first_experiment_of_the_readme() {
    let folder = Folder::new("readme");
    follow("README.md", &folder);
    let numbers = folder.read("mine/numbers.csv");
    for scheme in ["none", "dcqcn"] {
        for metric in ["completion_time", "completion_time_p99", "latency_p99", "time_paused"] {
            let row = format!("mine,incast,default,on,{scheme},{metric},");
            let row = numbers.lines().find(|l| l.starts_with(&row)).unwrap_or_else(|| panic!("{row}"));
            let measured: f64 = row.split(',').nth(8).unwrap().parse().unwrap();
            assert!(measured > 0.0, "{row}");
        }
    }
    let report = folder.read("mine/report.html");
    for part in ["Completion times of transfers", "S1&gt;L1", "99 % completion"] {
        assert!(report.contains(part), "{part}");
    }
    let first = report.split("<section").nth(1).unwrap();
    assert!(first.contains("data-route=\"mine/incast\""), "the report opens with the experiment");
}

#[test]
fn the_tutorial() {
    let folder = Folder::new("tutorial");
    let said = follow("docs/tutorial.md", &folder);
    assert!(said.contains("no problem"), "{said}");
    let report = folder.read("mine/report.html");
    assert!(report.contains("What the bystander H10&gt;H5 gets"));
    // What the tutorial says of the bystander: a twentieth of its rate, while the incast lasts.
    let series = std::fs::read_dir(folder.0.join("mine/series")).unwrap();
    let path = series.map(|f| f.unwrap().path()).find(|p| {
        let name = p.file_name().unwrap().to_string_lossy().into_owned();
        name.contains("none") && name.contains("flow")
    });
    let text = std::fs::read_to_string(path.expect("the bystander's series")).unwrap();
    let rates: Vec<f64> =
        text.lines().skip(1).map(|l| l.split(',').nth(1).unwrap().parse().unwrap()).collect();
    let mean = rates[15..35].iter().sum::<f64>() / 20.0;
    assert!(mean > 2_000.0 && mean < 12_000.0, "{mean} Mb/s of 100 000");
    // Its figures are those of the run.
    let (numbers, shown) = (folder.read("mine/numbers.csv"), document("docs/tutorial.md"));
    for (metric, scale, decimals) in
        [("time_paused", 1.0, 1), ("flow_rate", 1e-3, 1), ("completion_time_p99", 1.0, 0)]
    {
        for scheme in ["none", "dcqcn"] {
            let row = format!("mine,incast,300 KB,on,{scheme},{metric},");
            let row = numbers.lines().find(|l| l.starts_with(&row)).unwrap_or_else(|| panic!("{row}"));
            let measured: f64 = row.split(',').nth(8).unwrap().parse().unwrap();
            let figure = format!("{:.decimals$} ", measured * scale);
            assert!(shown.contains(&figure), "{scheme} {metric}: docs/tutorial.md has no {figure}");
        }
    }
    assert!(folder.read("sizes/sweep.html").contains("Sweep: Incast 8:1 at 100 Gb/s"));
}

#[test]
fn the_tasks() {
    for (task, file) in [
        ("compare", "compared/report.html"),
        ("sweep", "rates/sweep.html"),
        ("headroom", "lossless/results.json"),
        ("import", "imported/report.html"),
    ] {
        let folder = Folder::new(task);
        follow(&format!("docs/tasks/{task}.md"), &folder);
        assert!(folder.0.join(file).is_file(), "{task}: {file}");
    }
}
