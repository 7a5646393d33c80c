//! Documents show what the program says. A block of a document that is fenced as `console` is run and compared:
//!
//! * `$ COMMAND` is given to the shell, in a folder that all blocks of the document share, with `cnsim` on the path
//!   and the README's `incast.toml`;
//! * the lines below it are what the command must print on its standard output; a line `...` stands for any lines, and at
//!   the end of a line for its rest;
//! * a command below which nothing stands must only succeed.

use crate::common::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a document, the line where it stands, and what it must print.
struct Step {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// The commands in a document's blocks of this kind, in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut inside, mut indent) = (false, 0);
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        if bare.starts_with("```") {
            inside = !inside && bare.trim_end() == "```console";
            indent = line.len() - bare.len();
        } else if inside {
            let line = line.get(indent..).unwrap_or("").trim_end();
            match line.strip_prefix("$ ") {
                Some(command) => {
                    steps.push(Step { line: at + 1, command: command.into(), shown: Vec::new() })
                }
                None => steps.last_mut().expect("a command first").shown.push(line.into()),
            }
        }
    }
    steps
}

/// Does a text have these lines, `...` standing for any number of lines?
fn fits(shown: &[String], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((first, rest)) if first == "..." => (0..=said.len()).any(|n| fits(rest, &said[n..])),
        Some((first, rest)) => {
            let same = |line: &&str| match first.strip_suffix("...") {
                Some(begin) => line.starts_with(begin.trim_end()),
                None => line == first,
            };
            said.first().is_some_and(same) && fits(rest, &said[1..])
        }
    }
}

/// Markdown files of the repository.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

#[test]
fn documents_show_what_the_program_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    documents(&root.join("docs"), &mut files);
    let program = Path::new(env!("CARGO_BIN_EXE_cnsim")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for file in &files {
        let folder = Folder::new(&format!("transcript-{compared}"));
        std::fs::copy(root.join("docs/tutorial/incast.toml"), folder.0.join("incast.toml")).unwrap();
        for step in steps(&std::fs::read_to_string(file).unwrap()) {
            let out = Command::new("sh")
                .args(["-c", &step.command])
                .current_dir(&folder.0)
                .env("PATH", &path)
                .env("NO_COLOR", "1")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&out.stdout);
            let said: Vec<&str> = said.lines().map(str::trim_end).collect();
            let place = format!("{}:{}: $ {}", file.display(), step.line, step.command);
            compared += 1;
            if step.shown.is_empty() && !out.status.success() {
                wrong.push(format!("{place}\nfails:\n{}", String::from_utf8_lossy(&out.stderr)));
            } else if !step.shown.is_empty() && !fits(&step.shown, &said) {
                wrong.push(format!(
                    "{place}\nshown:\n{}\nsaid:\n{}\n{}",
                    step.shown.join("\n"),
                    said.join("\n"),
                    String::from_utf8_lossy(&out.stderr)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(compared >= 5, "only {compared} commands of documents were run");
}

#[test]
fn a_transcript_that_differs_is_seen() {
    let text = "```console\n$ cnsim list\nfirst\n...\nlast\n```\n```\n$ not this\n```\n";
    let all = steps(text);
    assert_eq!((all.len(), all[0].line, all[0].command.as_str()), (1, 2, "cnsim list"));
    let shown = &all[0].shown;
    assert!(fits(shown, &["first", "last"]) && fits(shown, &["first", "b", "c", "last"]));
    let begin = ["first: ...".to_string()];
    assert!(fits(&begin, &["first: and more"]) && !fits(&begin, &["second: first:"]));
    assert!(!fits(shown, &["first", "last", "more"]) && !fits(shown, &["other", "last"]));
}
