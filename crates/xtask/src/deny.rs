//! Checks of the program's dependencies: licences, sources and names, and that each is used.
//!
//! `cargo xtask deny`, offline, from `Cargo.lock`, the manifests and `cargo tree`; nothing is installed for it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Licences compatible with ours; of those that a package offers by `OR`, one is enough.
const LICENCES: &[&str] = &[
    "MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib",
    "Unlicense", "CC0-1.0", "Unicode-3.0", "BSL-1.0",
];
/// The only source of packages.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Packages that are never allowed, with the reason.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "the program needs no network"),
    ("native-tls", "the program needs no network"),
    ("reqwest", "the program needs no network"),
    ("hyper", "the program needs no network"),
    ("bindgen", "it needs a second compiler"),
    ("cmake", "it needs a second build system"),
];

/// All complaints about the dependencies of the workspace under `root`.
///
/// # Errors
/// A file that cannot be read, or `cargo tree` that does not run.
pub fn all(root: &Path) -> io::Result<Vec<String>> {
    let mut complaints = locked(&fs::read_to_string(root.join("Cargo.lock"))?);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .args(["tree", "--workspace", "--locked", "--offline", "--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(root)
        .output()?;
    if !tree.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&tree.stderr).into_owned()));
    }
    complaints.extend(licences(&String::from_utf8_lossy(&tree.stdout)));
    for entry in fs::read_dir(root.join("crates"))? {
        complaints.extend(unused(&entry?.path())?);
    }
    complaints.sort();
    complaints.dedup();
    Ok(complaints)
}

/// Sources, checksums and names, from the lock file.
fn locked(lock: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |key: &str| {
            let start = format!("{key} = \"");
            package.lines().find_map(|l| l.strip_prefix(start.as_str())?.strip_suffix('"')).unwrap_or("")
        };
        let (name, source) = (field("name"), field("source"));
        // A package without a source belongs to this workspace.
        let ours = source.is_empty();
        if !ours && source != SOURCE {
            complaints.push(format!("{name}: comes from `{source}`, not from crates.io"));
        } else if !ours && field("checksum").len() != 64 {
            complaints.push(format!("{name}: has no checksum in Cargo.lock"));
        }
        if let Some((_, why)) = BANNED.iter().find(|b| b.0 == name) {
            complaints.push(format!("{name}: is banned: {why}"));
        }
    }
    complaints
}

/// Licences, from lines of `package|expression`.
fn licences(tree: &str) -> Vec<String> {
    let lines = tree.lines().filter_map(|l| l.split_once('|'));
    let wrong = lines.filter(|(_, licence)| !allowed(licence.trim_end_matches("(*)").trim()));
    wrong
        .map(|(package, licence)| format!("{package}: the licence `{licence}` is not among those allowed"))
        .collect()
}

/// Is this expression of licences satisfied? `AND` needs all its parts, `OR` (or `/`) one.
fn allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let one = |name: &[&str]| LICENCES.contains(&name.join(" ").as_str());
    let either = |part: &[&str]| part.split(|w| *w == "OR").any(one);
    !words.is_empty() && words.split(|w| *w == "AND").all(either)
}

/// Dependencies of a crate that none of its files names.
fn unused(folder: &Path) -> io::Result<Vec<String>> {
    let manifest = folder.join("Cargo.toml");
    if !manifest.is_file() {
        return Ok(Vec::new());
    }
    let mut text = String::new();
    for part in ["src", "tests", "benches", "examples"] {
        text.extend(crate::texts(&folder.join(part), ".rs")?.into_iter().map(|file| file.1));
    }
    let mut wrong = Vec::new();
    for name in named(&fs::read_to_string(manifest)?) {
        let path = name.replace('-', "_");
        let word = |at: usize| {
            let before = text[..at].chars().next_back();
            let after = text[at + path.len()..].chars().next();
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !inside(before) && !inside(after)
        };
        if !text.match_indices(&path).any(|(at, _)| word(at)) {
            wrong.push(format!("{}: `{name}` is a dependency that no file names", folder.display()));
        }
    }
    Ok(wrong)
}

/// Names of all dependencies in a manifest.
fn named(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut names = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
        } else if inside && line.contains('=') && !line.starts_with(['#', ' ']) {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            names.insert(name.trim_matches('"').to_string());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_licences() {
        for good in [
            "MIT", "MIT OR Apache-2.0", "Unlicense/MIT", "(MIT OR GPL-3.0) AND Unicode-3.0", "GPL-3.0 OR ISC",
        ] {
            assert!(allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1 OR MPL-2.0"] {
            assert!(!allowed(bad), "{bad}");
        }
        assert_eq!(licences("a v1|MIT\nb v2 (*)|GPL-3.0 (*)\n").len(), 1);
    }

    #[test]
    fn strangers_are_seen() {
        let package = |name: &str, source: &str, sum: &str| {
            format!("[[package]]\nname = \"{name}\"\nsource = \"{source}\"\nchecksum = \"{sum}\"\n")
        };
        let sum = "0".repeat(64);
        assert!(locked(&package("a", SOURCE, &sum)).is_empty());
        assert!(locked("[[package]]\nname = \"cnsim-units\"\n").is_empty());
        assert!(locked(&package("a", "git+https://example.org/a", &sum))[0].contains("not from crates.io"));
        assert!(locked(&package("a", SOURCE, ""))[0].contains("no checksum"));
        assert!(locked(&package("openssl-sys", SOURCE, &sum))[0].contains("banned"));
    }

    #[test]
    fn names_of_dependencies() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nserde_json = { version = \"1\" }\na-b.workspace = true\n\
                        [dev-dependencies]\n\"c\" = \"1\"\n[lints]\nworkspace = true\n";
        assert_eq!(named(manifest).into_iter().collect::<Vec<_>>(), ["a-b", "c", "serde_json"]);
    }
}
