//! Types that a reader can hold in mind: no struct of very many fields, and no type whose methods stand in many files. A time of the
//! network is no bare number.
//!
//! The checks read formatted code, line by line. They leave out tests, and the parameters of schemes, which publications give.

use std::collections::{BTreeMap, BTreeSet};

/// Most fields of a struct, or of a variant of an enum: in the network, and elsewhere.
const MOST_FIELDS: [usize; 2] = [15, 20];
/// Most files of the network that have methods of one type.
const MOST_FILES: usize = 3;
/// What the network calls times, and nothing else.
const TIMES: &[&str] = &[
    "now", "at", "until", "began", "begun", "born", "start", "end", "due", "ready", "since", "deadline",
    "duration", "delay", "sent_at", "eligible", "timeout", "lead",
];
/// The network.
pub(crate) const FABRIC: &str = "crates/fabric/src";

/// A file without its tests, line by line.
fn code(text: &str) -> Vec<&str> {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().collect()
}

/// The name that a line declares after a keyword, behind its visibility.
fn declared<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let (before, name) = line.split_once(keyword)?;
    let visible = before.trim().is_empty() || before.trim().starts_with("pub") && !before.contains("//");
    Some(name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?).filter(|_| visible)
}

/// The indent of a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Lines of a block, below its first line up to the brace that ends it, that stand one step further in than it does.
fn within<'a>(lines: &[&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
    let outer = indent(lines[0]);
    let end = lines.iter().position(|line| indent(line) == outer && matches!(line.trim(), "}" | "},"));
    let inner = lines[..end.unwrap_or(0)].iter().enumerate().skip(1);
    inner.map(|(at, line)| (at, *line)).filter(move |(_, line)| indent(line) == outer + 4)
}

/// Fields of a struct or a variant whose block begins these lines.
fn fields(lines: &[&str]) -> usize {
    let is_field = |line: &str| {
        let line = line.trim();
        let inner = line.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
        let line = inner.map_or(line.strip_prefix("pub ").unwrap_or(line), |(_, rest)| rest);
        let name = line.split_once(": ").map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    within(lines).filter(|(_, line)| is_field(line)).count()
}

/// Complains about each struct, and each variant of an enum, that has too many fields.
pub(crate) fn wide(file: &str, text: &str) -> Vec<String> {
    if !file.ends_with(".rs") || file.ends_with("_tests.rs") || !file.contains("/src/") {
        return Vec::new();
    }
    let most = MOST_FIELDS[usize::from(!file.starts_with(FABRIC))];
    let (lines, mut found, mut of_scheme) = (code(text), Vec::new(), false);
    for (at, line) in lines.iter().enumerate() {
        if indent(line) == 0 && !line.is_empty() {
            of_scheme = *line == "params! {";
        }
        if let Some(name) = declared(line, "struct ").filter(|_| line.ends_with('{') && !of_scheme) {
            found.push((name.to_string(), fields(&lines[at..])));
        } else if let Some(name) = declared(line, "enum ").filter(|_| line.ends_with('{')) {
            for (variant, header) in within(&lines[at..]).filter(|(_, line)| line.ends_with(" {")) {
                let variant = fields(&lines[at + variant..]);
                found.push((format!("{name}::{}", header.trim().trim_end_matches(" {")), variant));
            }
        }
    }
    let wide = found.into_iter().filter(|(_, fields)| *fields > most);
    wide.map(|(name, fields)| {
        format!("{file}: `{name}` has {fields} fields (limit {most}); make parts of it that mean something")
    })
    .collect()
}

/// The type that a line has methods of its own of.
fn implemented(line: &str) -> Option<&str> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.char_indices().find(|&(at, c)| {
            depth += i32::from(c == '<') - i32::from(c == '>' && !rest[..at].ends_with('-'));
            depth == 0
        })?;
        rest = &rest[end.0 + 1..];
    }
    let name = rest.split([' ', '<', '{']).find(|word| !word.is_empty())?;
    (!rest.contains(" for ")).then(|| name.rsplit("::").next().unwrap_or(name))
}

/// The folder or file from which a file imports a name from the root of its crate.
fn imported_from(text: &str, name: &str) -> Option<String> {
    let imports = text.split(';').filter_map(|part| part.rsplit_once("use crate::").map(|(_, path)| path));
    let is_word =
        |path: &str| path.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let path = imports.into_iter().find(|path| is_word(path))?;
    let from = path.split_once("::{").or_else(|| path.rsplit_once("::"))?.0;
    Some(from.replace("::", "/"))
}

/// Complains about each type of these files whose methods stand in too many of them. Of types of one name each file means the one that is
/// declared nearest to it, or to the place from which the file imports it: that which has most of the path in common.
pub(crate) fn scattered(files: &[(String, String)]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> =
        files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let mut declared_in: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut methods: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, text) in files {
        for line in code(text) {
            for name in ["struct ", "enum "].iter().filter_map(|keyword| declared(line, keyword)) {
                declared_in.entry(name).or_default().push(file);
            }
            if let Some(name) = implemented(line) {
                methods.entry(name).or_default().insert(file);
            }
        }
    }
    let mut found = Vec::new();
    for (name, files) in methods {
        let mut of_each: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in files {
            let from = texts.get(file).and_then(|text| imported_from(text, name)).unwrap_or(file.to_string());
            let common = |other: &&&str| other.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
            let nearest = declared_in.get(name).and_then(|all| all.iter().max_by_key(common));
            of_each.entry(nearest.copied().unwrap_or_default()).or_default().push(file);
        }
        let many = of_each.into_iter().filter(|(_, files)| files.len() > MOST_FILES);
        found.extend(many.map(|(at, files)| {
            format!(
                "{FABRIC}/{at}: methods of `{name}` stand in {} files (limit {MOST_FILES}): {}",
                files.len(),
                files.join(", ")
            )
        }));
    }
    found
}

/// Is this type, or what it holds or refers to, a bare number of the size of a time?
fn is_bare(of: &str) -> bool {
    let outer = ["&", "mut ", "Option<", "Vec<", "["];
    let inner = outer.iter().fold(of, |of, outer| of.strip_prefix(outer).unwrap_or(of));
    inner.strip_prefix("u64").is_some_and(|rest| !rest.starts_with([':', '_']))
}

/// Complains about each time of the network whose type is a bare number, by the names of fields, parameters and variables: of one, or
/// of a tuple of them.
pub(crate) fn bare(file: &str, text: &str) -> Vec<String> {
    let word = |name: &str| name.rsplit(|c: char| c != '_' && !c.is_alphanumeric()).next().map(String::from);
    let mut found = Vec::new();
    for (number, line) in code(text).into_iter().enumerate().filter(|_| file.starts_with(FABRIC)) {
        for (at, _) in line.match_indices(": ") {
            let (names, of) = (&line[..at], &line[at + 2..]);
            let tuple =
                names.strip_suffix(')').and_then(|names| names.rsplit_once('(')).zip(of.strip_prefix('('));
            let one = names.rsplit(", ").next().unwrap_or(names);
            let (names, of) = tuple.map_or((one, of), |((_, names), of)| (names, of));
            let pairs = names.split(", ").filter_map(word).zip(of.split(", "));
            let times = pairs.filter(|(name, of)| TIMES.contains(&name.as_str()) && is_bare(of));
            found.extend(times.map(|(name, _)| {
                format!("{file}:{}: `{name}` is a bare number; a time of the network is a `Ps`", number + 1)
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_struct_is_named_and_its_bound_depends_on_the_crate() {
        let of = |header: &str, fields: usize| {
            let field = |n: usize| format!("    /// What: it is.\n    pub(crate) part_{n}: Vec<u64>,\n");
            format!("{header} {{\n{}}}\n", (0..fields).map(field).collect::<String>())
        };
        let net = "crates/fabric/src/net.rs";
        let text = of("pub(crate) struct Net<'a>", 16);
        assert!(wide(net, &of("pub(crate) struct Net<'a>", 15)).is_empty());
        assert!(wide(net, &text)[0].starts_with("crates/fabric/src/net.rs: `Net` has 16 fields (limit 15)"));
        assert!(wide("crates/runs/src/net.rs", &text).is_empty());
        assert_eq!(wide("crates/runs/src/net.rs", &of("pub struct Net", 21)).len(), 1);
        assert!(wide("crates/fabric/tests/net.rs", &text).is_empty());
        assert!(wide(net, &format!("#[cfg(test)]\nmod tests {{\n{text}")).is_empty());
        let inner = |text: String| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
        assert!(
            wide(net, &format!("params! {{\n{}}}\n", inner(text))).is_empty(),
            "the parameters of a scheme"
        );
        let of_enum = |fields| {
            format!("enum Way {{\n    Short,\n{}}}\n", inner(of("Long", fields).replace("pub(crate) ", "")))
        };
        assert!(wide(net, &of_enum(15)).is_empty());
        assert_eq!(wide(net, &of_enum(16)).len(), 1, "a variant");
    }

    #[test]
    fn a_time_that_is_a_bare_number_is_refused() {
        let net = "crates/fabric/src/net.rs";
        let refused = [
            "    pub(crate) now: u64,",
            "fn take(&mut self, out: usize, until: Option<u64>) {",
            "    (now, len): (u64, u16),",
        ];
        for line in refused {
            assert_eq!(bare(net, line).len(), 1, "{line}");
            assert!(bare("crates/runs/src/net.rs", line).is_empty(), "another crate");
        }
        assert!(bare(net, refused[2])[0].starts_with("crates/fabric/src/net.rs:1: `now` is a bare number"));
        for line in [
            "    now: Ps,", "fn take(bytes: u64, now: Ps)", "    (now, len): (Ps, u64),",
            "    Event { now: u64::from(turn) }",
        ] {
            assert!(bare(net, line).is_empty(), "{line}");
        }
    }

    #[test]
    fn methods_in_four_files_are_refused_and_traits_and_namesakes_are_not() {
        let file = |name: &str, text: &str| (name.to_string(), text.to_string());
        let mut files = vec![
            file("fast/port.rs", "pub(crate) struct Port {\n}\nimpl Port {\n}\n"),
            file("fast/a.rs", "impl<F: Fn(u8) -> u8> Port<F> {\n}\n"),
            file("fast/b.rs", "impl super::Port {\n}\n"),
            file("fast/c.rs", "impl Display for Port {\n}\n"),
            file("model/port.rs", "struct Port {\n}\nimpl Port {\n}\n"),
        ];
        assert!(scattered(&files).is_empty());
        files.push(file("fast/e.rs", "use crate::model::{Body, Port};\n\nimpl Port {\n}\n"));
        assert!(scattered(&files).is_empty(), "a file means the type that it imports");
        files.push(file("fast/d.rs", "impl Port {\n}\n"));
        let found = scattered(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("fast/port.rs: methods of `Port` stand in 4 files (limit 3): fast/a.rs"),
            "{found:?}"
        );
    }
}
