//! Checks beyond the compiler: dependencies in the wrong direction, files too long to read, machine paths,
//! circles in imports, laws with a second body, types that are too wide or scattered over files.

use crate::{circles, laws, types};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The crates that each crate may use. `cli`, `python` and `xtask` are above all others and may use any.
///
/// `schemes` and `fabric` never use each other, not even in tests: a scheme that needs the network for its
/// tests relies on more than the contract.
const MAY_USE: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("scheme-api", &["units"]),
    ("schemes", &["units", "scheme-api"]),
    ("fabric", &["units", "scheme-api"]),
    ("problem", &[]),
    ("import", &["units", "problem"]),
    ("scenario", &["units", "problem", "import", "scheme-api", "schemes", "fabric"]),
    ("measure", &["units", "problem", "import", "scheme-api", "schemes", "fabric", "scenario"]),
    ("runs", &["units", "problem", "scheme-api", "schemes", "fabric", "scenario", "measure"]),
    ("advice", &["units", "problem", "scheme-api", "schemes", "fabric", "scenario", "measure", "runs"]),
    (
        "papers",
        &["units", "problem", "import", "fabric", "scheme-api", "schemes", "scenario", "measure", "runs"],
    ),
    ("report", &["problem", "scheme-api", "scenario", "measure", "runs", "advice", "papers"]),
    ("playground", &["problem", "schemes", "scenario", "runs"]),
];
const ABOVE_ALL: &[&str] = &["cli", "python", "xtask"];

/// Longest source file that needs no reason, in lines.
const LONGEST: usize = 600;
/// Longest function outside tests, in lines.
const LONGEST_FUNCTION: usize = 70;
/// Lines from the top that must hold the reason, and the words that introduce it.
const REASON: (usize, &str) = (15, "long because");

/// Beginnings of paths that exist on one machine only; written in pieces, so that this file passes the check.
const MACHINE_PATHS: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "Users/"),
    concat!("/", "work/"),
    concat!("/", "mnt/"),
    concat!("C:", "\\"),
];

/// All checks on the tree under `root`; one line per complaint.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for manifest in manifests(root)? {
        let name = folder_name(&manifest);
        complaints.extend(direction(&name, &fs::read_to_string(&manifest)?));
    }
    let mut files = Vec::new();
    walk(root, &mut files)?;
    files.sort();
    for file in files {
        // Not UTF-8: a picture or the like, nothing to read.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        complaints.extend(length(&shown, &text));
        complaints.extend(long_functions(&shown, &text));
        complaints.extend(types::wide(&shown, &text));
        complaints.extend(types::bare(&shown, &text));
        complaints.extend(machine_paths(&shown, &text));
    }
    complaints.extend(circles::all(root)?);
    complaints.extend(laws::all(root)?);
    complaints.extend(types::scattered(&crate::texts(&root.join(types::FABRIC), ".rs")?));
    Ok(complaints)
}

fn manifests(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let manifest = entry?.path().join("Cargo.toml");
        if manifest.is_file() {
            found.push(manifest);
        }
    }
    found.sort();
    Ok(found)
}

fn folder_name(manifest: &Path) -> String {
    let folder = manifest.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Every source and text file under `folder`, without files that are built, fetched, written by runs or part of Git
/// (`.git` is a file in a further work tree).
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let hidden = name.starts_with('.') && name != ".ci" && name != ".github";
            if !hidden && name != "out" && name != "target" && !name.starts_with("target-") {
                walk(&entry.path(), files)?;
            }
        } else if kind.is_file() && name != "Cargo.lock" && name != ".git" {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Complains about each dependency of crate `name` that its manifest may not have.
fn direction(name: &str, manifest: &str) -> Vec<String> {
    if ABOVE_ALL.contains(&name) {
        return Vec::new();
    }
    let Some((_, allowed)) = MAY_USE.iter().find(|(crate_name, _)| *crate_name == name) else {
        return vec![format!("crates/{name}: no row in the table of directions (crates/xtask/src/check.rs)")];
    };
    let used = dependencies(manifest);
    let wrong = used.iter().filter(|used| !allowed.contains(&used.as_str()));
    wrong.map(|used| format!("crates/{name}/Cargo.toml: {name} may not use {used}")).collect()
}

/// Our own crates among the dependencies of a manifest, of every kind, without their `cnsim-`.
fn dependencies(manifest: &str) -> Vec<String> {
    let ours = |key: &str| key.trim().trim_matches('"').strip_prefix("cnsim-").map(str::to_owned);
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies");
            if let Some((_, key)) = section.split_once("dependencies.") {
                found.extend(ours(key));
            }
        } else if inside {
            let key = line.split(['=', '.']).next().unwrap_or_default();
            found.extend(ours(key));
            // A renamed dependency hides behind `package = "..."`.
            if let Some((_, package)) = line.split_once("package") {
                found.extend(package.split('"').nth(1).and_then(ours));
            }
        }
    }
    found
}

/// Complains about a source file past [`LONGEST`] lines that gives no reason at its top.
fn length(file: &str, text: &str) -> Option<String> {
    let source = [".rs", ".py", ".js"].iter().any(|end| file.ends_with(end));
    let lines = text.lines().count();
    let (top, words) = REASON;
    if !source || lines <= LONGEST || text.lines().take(top).any(|line| line.contains(words)) {
        return None;
    }
    Some(format!(
        "{file}: {lines} lines (limit {LONGEST}); split it, or write \"{words}\" in its first {top} lines"
    ))
}

/// Complains about each function of a crate, but of its tests, that is longer than [`LONGEST_FUNCTION`] lines.
fn long_functions(file: &str, text: &str) -> Vec<String> {
    if !file.ends_with(".rs") || file.ends_with("_tests.rs") || !file.contains("/src/") {
        return Vec::new();
    }
    let code: Vec<&str> =
        text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().collect();
    let mut complaints = Vec::new();
    for (at, line) in code.iter().enumerate() {
        let signature = line.trim_start();
        let named = signature.split_once("fn ").filter(|(before, _)| {
            before.split_whitespace().all(|word| word.starts_with("pub") || word == "const")
        });
        let Some((_, name)) = named.filter(|_| !line.ends_with([';', '}'])) else { continue };
        // As it is formatted, its last brace stands below its first word.
        let brace = format!("{}}}", &line[..line.len() - signature.len()]);
        let lines = code[at..].iter().position(|line| *line == brace).map_or(0, |last| last + 1);
        if lines > LONGEST_FUNCTION {
            let name = name.split(['(', '<']).next().unwrap_or_default();
            complaints.push(format!(
                "{file}: `{name}` has {lines} lines (limit {LONGEST_FUNCTION}); split it by what it does"
            ));
        }
    }
    complaints
}

/// Complains about each line that names a path of one machine.
fn machine_paths(file: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let found =
            MACHINE_PATHS.iter().find(|path| line.match_indices(*path).any(|(at, _)| starts_here(line, at)));
        if let Some(path) = found {
            complaints.push(format!("{file}:{}: names a path of one machine ({path}...)", index + 1));
        }
    }
    complaints
}

/// Whether a path that matches at `at` begins there, and is not the middle of a relative path or an address.
fn starts_here(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    !before.is_some_and(|c| c.is_alphanumeric() || "._-~}/*".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_may_not_see_the_network() {
        let manifest = "[package]\nname = \"cnsim-schemes\"\n[dependencies]\ncnsim-units.workspace = true\n\
                        cnsim-fabric = { path = \"../fabric\" }\n";
        assert_eq!(direction("schemes", manifest), ["crates/schemes/Cargo.toml: schemes may not use fabric"]);
        assert!(direction("scenario", manifest).is_empty());
        assert!(direction("cli", manifest).is_empty());
        assert_eq!(direction("novelty", manifest).len(), 1);
    }

    #[test]
    fn every_spelling_of_a_dependency_is_seen() {
        let cases = [
            "[dependencies]\ncnsim-fabric.workspace = true",
            "[dev-dependencies]\ncnsim-fabric = \"1\"",
            "[build-dependencies]\n\"cnsim-fabric\" = \"1\"",
            "[dependencies.cnsim-fabric]\npath = \"x\"",
            "[target.'cfg(unix)'.dependencies]\ncnsim-fabric = \"1\"",
            "[dependencies]\nnet = { package = \"cnsim-fabric\", path = \"x\" }",
        ];
        for manifest in cases {
            assert_eq!(dependencies(manifest), ["fabric"], "{manifest}");
        }
        assert!(dependencies("[package]\nname = \"cnsim-fabric\"\n[lints]\nworkspace = true").is_empty());
    }

    #[test]
    fn a_long_file_needs_a_reason_at_its_top() {
        let long = "x\n".repeat(LONGEST + 1);
        assert!(length("a.rs", &long).is_some());
        assert!(length("a.rs", &"x\n".repeat(LONGEST)).is_none());
        assert!(length("a.csv", &long).is_none());
        assert!(length("a.rs", &format!("//! This file is long because it is one table.\n{long}")).is_none());
        assert!(length("a.rs", &format!("{long}// long because\n")).is_some());
    }

    #[test]
    fn a_long_function_is_named_unless_it_is_a_test() {
        let of = |lines: usize| {
            format!("impl A {{\n    pub(crate) fn long(\n{}    }}\n}}\n", "x\n".repeat(lines - 2))
        };
        assert!(long_functions("crates/a/src/b.rs", &of(LONGEST_FUNCTION)).is_empty());
        let text = of(LONGEST_FUNCTION + 1);
        assert!(
            long_functions("crates/a/src/b.rs", &text)[0]
                .starts_with("crates/a/src/b.rs: `long` has 71 lines")
        );
        assert!(long_functions("crates/a/src/b_tests.rs", &text).is_empty());
        assert!(long_functions("crates/a/tests/b.rs", &text).is_empty());
        assert!(
            long_functions("crates/a/src/b.rs", &format!("#[cfg(test)]\nmod tests {{\n{text}")).is_empty()
        );
    }

    #[test]
    fn machine_paths_are_found_and_addresses_are_not() {
        let home = MACHINE_PATHS[0];
        assert_eq!(machine_paths("a.md", &format!("fine\nsee {home}me/x")).len(), 1);
        assert!(
            machine_paths("a.md", &format!("see https://example.org{home}me and crates{home}x")).is_empty()
        );
    }
}
