//! Circles in imports: no module of a crate may import, over others, itself.
//!
//! The check runs twice: on the modules of a crate's root, each with all files below it, and on single files. It leaves out tests, and
//! the root, which declares the others and whose items all may use. Files below a module may use that module.
//!
//! Files of the Python package are checked alike. An import within a function, or for types alone, counts as any other.

use crate::texts;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// Imports of each module, and the file of each.
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
        let files = texts(&source, ".rs")?;
        let shown = source.strip_prefix(root).unwrap_or(&source).display().to_string();
        let ways = [false, true].map(|single| circle(&imports(&files, single)));
        complaints.extend(ways.into_iter().flatten().map(|c| format!("{shown}: {c}")));
    }
    let files = texts(&root.join("python/cnsim"), ".py")?;
    complaints.extend(circle(&python_imports(&files)).map(|c| format!("python/cnsim: {c}")));
    complaints.sort();
    Ok(complaints)
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

/// The imports of modules, or of single files.
fn imports(files: &[(String, String)], single: bool) -> Imports {
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), code(text))).collect();
    let tests: BTreeSet<&str> = files.iter().flat_map(|(_, code)| for_tests(code)).collect();
    // `a/b.rs` and `a/b/mod.rs` are the module a/b.
    let path = |name: &str| -> Vec<String> {
        let parts: Vec<String> = name.trim_end_matches(".rs").split('/').map(String::from).collect();
        if parts.last().is_some_and(|p| p == "mod") { parts[..parts.len() - 1].to_vec() } else { parts }
    };
    let depth = if single { usize::MAX } else { 1 };
    let key = |path: &[String]| path[..path.len().min(depth)].join("/");
    let all: BTreeSet<String> = files.iter().map(|(name, _)| key(&path(name))).collect();
    let mut found = Imports::new();
    for (name, code) in &files {
        let own = path(name);
        let from = key(&own);
        let stem = own.last().map_or("", String::as_str);
        if tests.contains(stem) || ["lib", "main"].contains(&from.as_str()) {
            continue;
        }
        for mut to in named(code, &own) {
            to.truncate(depth);
            while !to.is_empty() && !all.contains(&key(&to)) {
                to.pop();
            }
            // Files below a module may use it; what it uses of them counts.
            if !to.is_empty() && !own.starts_with(&to) && key(&to) != from {
                found.entry(from.clone()).or_default().entry(key(&to)).or_insert_with(|| (*name).to_string());
            }
        }
    }
    found
}

/// Paths behind `crate::`, `super::` and modules of its own, from the crate's root, those in braces included; `own` is the file's module.
fn named(code: &str, own: &[String]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        leaves(&code[at + "crate::".len()..], &mut Vec::new(), &mut found);
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
        let (mut rest, mut up) = (&code[at..], 0);
        while let Some(further) = rest.strip_prefix("super::") {
            (rest, up) = (further, up + 1);
        }
        let mut path = own[..own.len().saturating_sub(up)].to_vec();
        leaves(rest, &mut path, &mut found);
    }
    // A module names those that it declares without a prefix.
    for child in code.lines().filter_map(|l| l.split_once("mod ")?.1.strip_suffix(';')) {
        for (at, used) in code.match_indices(&format!("use {child}::")) {
            leaves(&code[at + used.len() - child.len() - "::".len()..], &mut own.to_vec(), &mut found);
        }
    }
    found
}

/// The paths of a tree such as `a::{b, c::d}` behind a path, and how much of the text it takes.
fn leaves(text: &str, path: &mut Vec<String>, found: &mut BTreeSet<Vec<String>>) -> usize {
    let depth = path.len();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let word: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        at += word.len();
        if !word.is_empty() {
            path.push(word);
        }
        if text[at..].starts_with("::") {
            at += "::".len();
            if !text[at..].trim_start().starts_with('{') {
                continue;
            }
        }
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        if text[at..].starts_with('{') {
            at += 1;
            while !matches!(text[at..].trim_start().chars().next(), None | Some('}')) {
                let taken = leaves(&text[at..], path, found);
                at += taken;
                let gap = text[at..].find([',', '}']).unwrap_or(text.len() - at);
                at += gap + usize::from(text[at + gap..].starts_with(','));
            }
            at += text[at..].find('}').map_or(0, |end| end + 1);
        } else {
            found.insert(path.clone());
        }
        path.truncate(depth);
        return at;
    }
}

/// The imports of files of Python, wherever they stand: `from .a import b`, `from . import a, b`, `from cnsim.a import b`.
fn python_imports(files: &[(String, String)]) -> Imports {
    let stem = |name: &str| name.trim_end_matches(".py").to_string();
    let all: BTreeSet<String> =
        files.iter().map(|(name, _)| stem(name)).filter(|name| name != "__init__").collect();
    let mut found = Imports::new();
    for (name, text) in files.iter().filter(|(name, _)| all.contains(&stem(name))) {
        let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        while let Some(line) = lines.next() {
            let mut words = line.replace("import cnsim.", "from .");
            words = words.replace("from cnsim.", "from .").replace("from cnsim ", "from . ");
            let Some(rest) = words.strip_prefix("from .") else { continue };
            let (module, names) = rest.split_once(" import ").unwrap_or((rest, ""));
            // Names in parentheses may go over several lines.
            let mut names = names.to_string();
            while names.contains('(') && !names.contains(')') {
                let Some(more) = lines.next() else { break };
                names += more;
            }
            let modules = if module.is_empty() { names.as_str() } else { module };
            for module in modules.split([',', '(', ')']) {
                let to = module.split_whitespace().next().unwrap_or_default().to_string();
                if all.contains(&to) && to != stem(name) {
                    found.entry(stem(name)).or_default().insert(to, name.clone());
                }
            }
        }
    }
    found
}

/// The shortest circle, as text.
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
        [false, true].into_iter().find_map(|single| circle(&imports(&files, single)))
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

    /// A module that uses a file below it by its bare name.
    #[test]
    fn a_circle_over_a_file_below_is_found() {
        let files = [
            ("fast/sweep.rs", "use crate::fast::switch::Switch;"),
            ("fast/switch.rs", "mod early;\nuse early::{Due, X};"),
            ("fast/switch/early.rs", "use super::Switch; use crate::fast::sweep::of_bits;"),
        ];
        assert!(found(&files).unwrap().contains("`fast/switch` imports `fast/switch/early`"));
        assert_eq!(found(&files[..2]), None);
    }

    #[test]
    fn files_of_one_module_are_asked_too() {
        let files = [
            ("m/mod.rs", "mod a; use super::other;"),
            ("m/a.rs", "use super::b::{X, Y::{self, Z}}; use super::M;"),
            ("m/b.rs", "use super::c;"),
            ("m/c/deep.rs", "use super::super::a::A;"),
            ("m/c/mod.rs", "use self::deep::D; use crate::{m::{c::deep, M}, root};"),
        ];
        let words = found(&files[..4]);
        assert_eq!(words, None, "a file of m/c that m/c itself does not name");
        let files = [files[0], files[1], ("m/b.rs", "use super::c::deep;"), files[3], files[4]];
        let words = found(&files).unwrap();
        assert!(words.contains("`m/a` imports `m/b` (m/a.rs), `m/b` imports `m/c/deep` (m/b.rs)"), "{words}");
    }

    #[test]
    fn circles_in_python_are_named() {
        let found = |files: &[(&str, &str)]| {
            let files: Vec<_> = files.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
            circle(&python_imports(&files))
        };
        let files = [
            ("__init__.py", "from .a import A"),
            ("a.py", "def f():\n    from .b import B as C  # late\n"),
            ("b.py", "if TYPE_CHECKING:\n    from . import (\n        _native,\n        c as d,\n    )\n"),
            ("c.py", "from cnsim.a import A\n"),
            ("d.py", "import os\nfrom a import b\nfrom . import a, d\nimport cnsim.b\n"),
        ];
        let words = found(&files).unwrap();
        assert!(
            words.ends_with("`a` imports `b` (a.py), `b` imports `c` (b.py), `c` imports `a` (c.py)"),
            "{words}"
        );
        assert_eq!(found(&[files[0], files[1], files[2], files[4]]), None);
        assert!(found(&[files[1], ("b.py", "from cnsim import a")]).is_some());
        assert!(found(&[("d.py", "from . import e"), ("e.py", "import cnsim.d\n")]).is_some());
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
