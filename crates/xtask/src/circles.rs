//! Circles in imports: no module of a crate may import, over others, itself.
//!
//! Modules are those of a crate's root, each with all files below it. The root itself is left out: it declares the others, and
//! what it holds may be used by all. Tests are left out, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// What each module imports, and in which file.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// One complaint for each crate below `root` that has a circle, with the shortest one.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let source = entry?.path().join("src");
        if !source.is_dir() {
            continue;
        }
        let mut files = Vec::new();
        read(&source, "", &mut files)?;
        let shown = source.strip_prefix(root).unwrap_or(&source).display().to_string();
        complaints.extend(circle(&imports(&files)).map(|c| format!("{shown}: {c}")));
    }
    complaints.sort();
    Ok(complaints)
}

/// Names, below the source folder and with slashes, and texts of its files.
fn read(folder: &Path, below: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            read(&path, &format!("{below}{name}/"), files)?;
        } else if name.ends_with(".rs") {
            files.push((format!("{below}{name}"), fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// A file without comments and without the tests at its end.
fn code(text: &str) -> String {
    let lines = text.lines().map(|l| l.split_once("//").map_or(l, |(code, _)| code));
    let code = lines.collect::<Vec<_>>().join("\n");
    match code.find("#[cfg(test)]\nmod tests {") {
        Some(end) => code[..end].to_string(),
        None => code,
    }
}

/// Modules that are compiled for tests only.
fn for_tests(code: &str) -> impl Iterator<Item = &str> {
    let after = code.split("#[cfg(test)]\nmod ").skip(1);
    after.filter_map(|rest| rest.split_once(';').map(|(name, _)| name))
}

fn imports(files: &[(String, String)]) -> Imports {
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), code(text))).collect();
    let tests: BTreeSet<&str> = files.iter().flat_map(|(_, code)| for_tests(code)).collect();
    let module = |name: &str| name.split('/').next().unwrap_or(name).trim_end_matches(".rs").to_string();
    let stem = |name: &str| name.rsplit('/').next().unwrap_or(name).trim_end_matches(".rs").to_string();
    let all: BTreeSet<String> = files.iter().map(|(name, _)| module(name)).collect();
    let mut found = Imports::new();
    for (name, code) in &files {
        let from = module(name);
        if tests.contains(stem(name).as_str()) || ["lib", "main"].contains(&from.as_str()) {
            continue;
        }
        for to in named(code) {
            if to != from && all.contains(&to) {
                found.entry(from.clone()).or_default().entry(to).or_insert_with(|| (*name).to_string());
            }
        }
    }
    found
}

/// First names behind `crate::`, those in braces included.
fn named(code: &str) -> BTreeSet<String> {
    let first = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            names.insert(first(rest));
            continue;
        };
        let (mut depth, mut from) = (0_u32, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                '}' | ',' if depth == 0 => {
                    names.insert(first(&list[from..at]));
                    from = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    names
}

/// The shortest circle, in words.
fn circle(imports: &Imports) -> Option<String> {
    let mut shortest: Option<Vec<&str>> = None;
    for start in imports.keys() {
        // By breadth: the first way back is a shortest.
        let mut ways = std::collections::VecDeque::from([vec![start.as_str()]]);
        let mut seen = BTreeSet::new();
        'ways: while let Some(way) = ways.pop_front() {
            let Some(next) = way.last().and_then(|last| imports.get(*last)) else { continue };
            for to in next.keys() {
                let longer: Vec<&str> = way.iter().copied().chain([to.as_str()]).collect();
                if to == start {
                    if shortest.as_ref().is_none_or(|s| longer.len() < s.len()) {
                        shortest = Some(longer);
                    }
                    break 'ways;
                }
                if seen.insert(to.as_str()) {
                    ways.push_back(longer);
                }
            }
        }
    }
    let way = shortest?;
    let step = |pair: &[&str]| {
        let file = imports.get(pair[0]).and_then(|to| to.get(pair[1])).map_or("", String::as_str);
        format!("`{}` imports `{}` ({file})", pair[0], pair[1])
    };
    let steps: Vec<String> = way.windows(2).map(step).collect();
    Some(format!("modules import each other in a circle: {}", steps.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Option<String> {
        let files: Vec<_> = files.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
        circle(&imports(&files))
    }

    #[test]
    fn a_circle_is_named() {
        let files = [
            ("a.rs", "use crate::{Root, b::{X, d}, c};"),
            ("b/mod.rs", "use crate::c::Y;"),
            ("b/deep.rs", "fn f() { crate::d::f() }"),
            ("c.rs", "// use crate::a;\n#[cfg(test)]\nmod tests {\nuse crate::a;\n}"),
            ("d.rs", "use crate::a;"),
            ("lib.rs", "use crate::a;"),
        ];
        let words = found(&files).unwrap();
        let steps = "`a` imports `b` (a.rs), `b` imports `d` (b/deep.rs), `d` imports `a` (d.rs)";
        assert!(words.ends_with(steps), "{words}");
        assert_eq!(found(&files[..4]), None);
    }

    #[test]
    fn modules_for_tests_may() {
        let files = [
            ("a.rs", "#[cfg(test)]\nmod made;\nuse crate::b;"),
            ("b.rs", ""),
            ("b/made.rs", "use crate::a;"),
        ];
        assert_eq!(found(&files), None);
    }
}
