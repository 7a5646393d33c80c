//! Before a scenario's values are read: assumptions become the keys they stand for, and keys that nobody reads, or that have no
//! effect here, are refused.

use crate::file::assumptions::{self, ASSUMPTIONS};
use crate::file::keys::{KEYS, MATRIX, Only, TABLES, find, renamed, varied, words};
use crate::language::kinds::Kind;
use crate::language::row::Table;
use crate::language::text::{Flat, Form, Leaf, Mark, Place};
use crate::tables::{self, pause};
use cnsim_problem::{Problem, any_of, nearest};
use cnsim_scheme_api::Registry;
use std::collections::BTreeSet;

/// Replaces `assumptions.NAME` by the keys that they stand for.
pub(crate) fn expand_assumptions(flat: &mut Flat, problems: &mut Vec<Problem>) {
    let named: Vec<String> = flat.leaves.keys().filter(|k| k.starts_with("assumptions.")).cloned().collect();
    for path in named {
        let name = &path["assumptions.".len()..];
        match assumptions::find(name) {
            Some(a) => {
                if let Some(leaf) = flat.leaves.remove(&path) {
                    flat.leaves.insert(a.key.into(), leaf);
                }
            }
            None => {
                let near = nearest(name, ASSUMPTIONS.iter().map(|a| a.name));
                let hint = near.map_or_else(
                    || "see `cnsim list assumptions`".into(),
                    |n| format!("did you mean `{n}`?"),
                );
                problems.push(flat.at(&path, "unknown assumption", hint));
                flat.leaves.remove(&path);
            }
        }
    }
}

/// Adds the keys of a preset of classes that are not written, as far as they have an effect.
pub(crate) fn expand_classes(flat: &mut Flat) {
    let Some(preset) = flat.leaves.get("class.0.preset").cloned() else { return };
    let word = preset.items.first().map_or("", String::as_str);
    for (n, keys) in tables::class::preset_tables(word).into_iter().enumerate() {
        for (key, value) in keys.into_iter().chain([(tables::class::PRESET, word.to_string())]) {
            let path = key.of(&format!("class.{n}")).path.to_string();
            if flat.leaves.contains_key(&path) {
                continue;
            }
            let leaf = Leaf { items: std::sync::Arc::new(vec![value]), ..preset.clone() };
            flat.leaves.insert(path.clone(), leaf);
            if idle(flat, &path).is_some() {
                flat.leaves.remove(&path);
            }
        }
    }
}

/// Refuses tables and keys that nobody reads, values of a wrong kind, and keys without effect.
pub(crate) fn known_keys(flat: &Flat, registry: &Registry, problems: &mut Vec<Problem>) {
    tables(flat, registry, problems);
    for (path, leaf) in &flat.leaves {
        if let Some(key) = path.strip_prefix("scheme.params.") {
            let all = || registry.iter().flat_map(|e| &e.params).map(|i| i.key.as_str());
            if !registry.iter().any(|e| e.reads(key)) {
                let hint = nearest(key, all())
                    .map_or_else(|| "see `cnsim explain SCHEME`".into(), |n| format!("did you mean `{n}`?"));
                problems.push(flat.at(path, "no scheme has this parameter", hint));
            }
            single(flat, path, leaf, problems);
            continue;
        }
        if let Some(rest) = path.strip_prefix("scheme.") {
            if rest.rsplit_once('.').and_then(|(owner, _)| registry.find(owner)).is_none() {
                let hint = match registry.iter().any(|e| e.reads(rest)) {
                    true => format!("did you mean `scheme.params.{rest}`?"),
                    false => "write [scheme.params] or [scheme.ecm]".into(),
                };
                problems.push(flat.at(path, "names no scheme", hint));
            }
            single(flat, path, leaf, problems);
            continue;
        }
        if let Some((_, key)) = varied(path) {
            row_key(flat, path, key, leaf, problems);
            continue;
        }
        match find(path) {
            None => problems.push(flat.at(path, "unknown key", near(path, registry))),
            Some(k) => {
                values(flat, path, k.kind, leaf, problems);
                if let Some(Idle { reason, remedy, .. }) =
                    idle(flat, path).filter(|i| !i.is_decided(flat, path))
                {
                    problems.push(flat.at(path, reason, remedy));
                }
            }
        }
    }
}

/// Known keys that an unknown one may stand for.
fn near(path: &str, registry: &Registry) -> String {
    if let Some(now) = renamed(path) {
        return format!("write `{now}`: the key has a new name");
    }
    let section = path.split('.').next().unwrap_or("");
    let matrix: Vec<String> = MATRIX.iter().map(|k| format!("matrix.{}", k.path)).collect();
    let all = || KEYS.iter().map(|k| k.path).chain(matrix.iter().map(String::as_str));
    let known: Vec<&str> = all().filter(|k| k.split('.').next() == Some(section)).collect();
    let leaf = |k: &str| k.rsplit('.').next().unwrap_or(k).to_owned();
    // A key of `[[traffics]]`.
    let numbered = path.split('.').nth(1).is_some_and(|n| n.parse::<usize>().is_ok());
    if let Some(table) = unknown_table(section).filter(|_| numbered && known.is_empty()) {
        return format!("did you mean {table}?");
    }
    if let [table, name, _] = path.splitn(3, '.').collect::<Vec<_>>()[..]
        && array(table)
        && !numbered
    {
        return format!("no [[{table}]] table has the name `{name}`");
    }
    // `host` may be `hosts`, and `links` may be `link_rate`.
    let stem = leaf(path).trim_end_matches('s').to_owned();
    let goes_on =
        |k: &str| leaf(k).strip_prefix(&stem).is_some_and(|rest| rest == "s" || rest.starts_with('_'));
    let begun = known.iter().copied().filter(|k| goes_on(k)).min_by_key(|k| k.len());
    let own = |k: &&str| k.split_once('.').is_none_or(|(t, _)| t == section || !array(t));
    let mut same: Vec<&str> = all().filter(|k| leaf(k) == leaf(path)).filter(own).collect();
    let of_arrays: Vec<&str> = all().filter(|k| !path.contains('.') && leaf(k) == path).collect();
    if let ([], [one]) = (&same[..], &of_arrays[..])
        && let Some((table, leaf)) = one.split_once('.')
    {
        return format!("write `{table}.NAME.{leaf}`, with the name or the number of a [[{table}]] table");
    }
    // A key of no table goes before others of its name.
    if same.iter().any(|k| !k.contains('.')) {
        same.retain(|k| !k.contains('.'));
    }
    let params = || registry.iter().flat_map(|e| &e.params).map(|i| i.key.as_str());
    match (&same[..], begun.or_else(|| nearest(path, all()))) {
        ([one], _) => match one.rsplit_once('.') {
            Some((table, _)) if array(table) => {
                format!("did you mean `{one}`? Write it below [[{table}]]")
            }
            Some((table, _)) => format!("did you mean `{one}`? Write it below [{table}]"),
            None => format!("did you mean `{one}`? Write it before the first [table]"),
        },
        (_, Some(one)) => format!("did you mean `{one}`?"),
        _ if known.is_empty() => nearest(path, params()).map_or_else(
            || "see `cnsim tool schema`, or `cnsim new NAME`".into(),
            |param| format!("did you mean `scheme.params.{param}`?"),
        ),
        _ => format!("known here: {}", known.join(", ")),
    }
}

/// The table that may have been meant by the name of none, with its brackets.
fn unknown_table(name: &str) -> Option<String> {
    let plain =
        KEYS.iter().filter_map(|k| Some(k.path.split_once('.')?.0)).chain(["matrix", "scheme", "rows"]);
    let near = nearest(name, plain)?;
    Some(if array(near) { format!("[[{near}]]") } else { format!("[{near}]") })
}

/// Is it the name of an array of tables?
fn array(table: &str) -> bool {
    table == "rows" || TABLES.contains(&table)
}

/// A key of the matrix or of rows: a list of values of the key that it varies.
fn row_key(flat: &Flat, path: &str, key: &str, leaf: &Leaf, problems: &mut Vec<Problem>) {
    if let Some(own) = MATRIX.iter().find(|k| k.path == key) {
        return values(flat, path, own.kind, leaf, problems);
    }
    if leaf.items.is_empty() {
        problems.push(flat.at(path, "has no value: there is no row", "write at least one value"));
    }
    let mut seen = BTreeSet::new();
    for (i, item) in leaf.items.iter().enumerate() {
        if !seen.insert(item) {
            problems.push(flat.at_item(
                path,
                i,
                0,
                format!("`{item}` is there twice"),
                "name each value once",
            ));
        }
    }
    if key.starts_with("scheme.") {
        return;
    }
    let known = find(key);
    match known.filter(|k| k.fixed.is_none()) {
        None => {
            let hint = match known.and_then(|k| k.fixed) {
                Some(remedy) if !remedy.is_empty() => remedy.into(),
                _ => {
                    let all = MATRIX.iter().chain(KEYS).map(|k| k.path);
                    renamed(key).or(nearest(key, all)).filter(|n| *n != key).map_or_else(
                        || "a row sets keys of the scenario that change a run".into(),
                        |n| format!("did you mean `{n}`?"),
                    )
                }
            };
            problems.push(flat.at(path, "unknown key in the matrix", hint));
        }
        Some(k) => {
            // An item may be a list itself, written as text: "[H0, H1]".
            for (i, item) in leaf.items.iter().enumerate() {
                let inner = item.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
                let parts: Vec<&str> = match inner.filter(|_| k.kind.items().is_some()) {
                    Some(inner) => inner.split(',').map(|t| t.trim().trim_matches('"')).collect(),
                    None => vec![item],
                };
                for part in parts {
                    if let Some((reason, remedy)) = misread(k.kind, part, leaf.marks.get(i)) {
                        problems
                            .push(Problem { key: key.into(), ..flat.at_item(path, i, 0, reason, remedy) });
                    }
                }
            }
            if let Some(Idle { reason, remedy, .. }) = idle(flat, key).filter(|i| !i.is_decided(flat, path)) {
                problems.push(flat.at(path, reason, remedy));
            }
        }
    }
}

/// A key that takes one value: no list, no empty one.
fn single(flat: &Flat, path: &str, leaf: &Leaf, problems: &mut Vec<Problem>) {
    if leaf.list {
        let n = leaf.items.len();
        problems.push(flat.at(
            path,
            format!("is a list of {n} where one value is due"),
            "write one value, without brackets",
        ));
    }
}

/// The values of a key, each by its kind.
fn values(flat: &Flat, path: &str, kind: Kind, leaf: &Leaf, problems: &mut Vec<Problem>) {
    if kind.items().is_none() {
        let before = problems.len();
        single(flat, path, leaf, problems);
        if problems.len() > before {
            return;
        }
    }
    // A schedule may be one text of many lines, as its file is.
    let lines = match &leaf.items[..] {
        [text] if path.ends_with(".operations") => text.split('\n').collect::<Vec<_>>(),
        all => all.iter().map(String::as_str).collect(),
    };
    for (i, item) in lines.into_iter().enumerate() {
        if let Some((reason, remedy)) = misread(kind, item, leaf.marks.get(i)) {
            problems.push(flat.at_item(path, i, 0, reason, remedy));
        }
        if problems.len() >= crate::language::reader::MAX_PROBLEMS {
            return;
        }
    }
}

/// Why an item is no value of a kind, if it is none.
fn misread(kind: Kind, item: &str, mark: Option<&Mark>) -> Option<(String, String)> {
    match mark.map(|m| m.form) {
        Some(Form::Boolean) if !kind.takes_booleans() => {
            let word = if item == "on" { "true" } else { "false" };
            return Some((format!("`{word}` where this is due: {kind}"), "write such a value".into()));
        }
        Some(Form::Number) if !kind.takes_numbers() => {
            return Some((format!("`{item}` is a number where a text is due"), format!("write \"{item}\"")));
        }
        _ => {}
    }
    kind.read(item).err().map(|w| (w.reason, w.remedy))
}

/// Does a table hold any key?
fn holds(flat: &Flat, path: &str) -> bool {
    let start = format!("{path}.");
    flat.leaves.range(start.clone()..).next().is_some_and(|(k, _)| k.starts_with(&start))
}

/// Is this the name of no scheme's table, nor the beginning of one with a dot in it?
fn unnamed(registry: &Registry, name: &str) -> bool {
    let begun = format!("{name}.");
    name != "params" && registry.find(name).is_none() && !registry.names().any(|n| n.starts_with(&begun))
}

/// Refuses tables that nobody reads, and tables where a value or an array of tables is due, or the other way round.
fn tables(flat: &Flat, registry: &Registry, problems: &mut Vec<Problem>) {
    for (path, place) in &flat.tables {
        let mut wrong = |reason: &str, remedy: String| {
            problems.push(flat.problem(path, Some(place), reason, remedy));
        };
        let parts: Vec<&str> = path.split('.').collect();
        let plain = |section: &str| {
            matches!(section, "scheme" | "matrix" | "assumptions")
                || KEYS.iter().any(|k| k.path.split_once('.').is_some_and(|(t, _)| t == section))
        };
        match parts[..] {
            [one] if array(one) => {
                wrong(
                    "is an array of tables: with single brackets nothing of it would be read",
                    format!("write [[{one}]]"),
                );
            }
            [one] if !plain(one) => {
                let near = unknown_table(one).map(|table| format!("did you mean {table}?"));
                wrong("unknown table", near.unwrap_or_else(|| "see `cnsim tool schema`".into()));
            }
            [one, number] if array(one) && number.parse::<usize>().is_ok() && !holds(flat, path) => {
                wrong("is empty", format!("give the [[{one}]] table its keys, or remove it"));
            }
            [one, number] if !array(one) && plain(one) && number.parse::<usize>().is_ok() => {
                wrong("stands there as an array of tables", format!("write [{one}] once"));
            }
            // Names of schemes may hold a dot: their tables are then nested.
            ["scheme", name] if name != "params" && registry.find(name).is_none() && !holds(flat, path) => {
                wrong("names no scheme", "write [scheme.params] or [scheme.ecm]".into());
            }
            _ if find(path).is_some() => wrong("is a table where a value is due", "write KEY = VALUE".into()),
            // `q_eq = {}` in a scheme's table, and a key of the matrix in the same way.
            [_, _, ..]
                if !holds(flat, path)
                    && path.strip_prefix("scheme.").is_none_or(|name| unnamed(registry, name)) =>
            {
                wrong("is an empty table: a value is due here", "write KEY = VALUE".into());
            }
            _ => {}
        }
    }
}

/// Refuses parameters that no scheme reads which runs here: on the command line, none of those `asked` for; elsewhere, none
/// of these nor of the `matrix`.
pub(crate) fn unread_params(
    flat: &Flat,
    registry: &Registry,
    matrix: &[&str],
    asked: &[&str],
    problems: &mut Vec<Problem>,
) {
    let all: Vec<&str> = registry.names().collect();
    for (path, leaf) in &flat.leaves {
        let row = path.strip_prefix("rows.").and_then(|p| p.split_once('.')).map(|(_, key)| key);
        let key = path.strip_prefix("matrix.").or(row).unwrap_or(path);
        let Some(param) = key.strip_prefix("scheme.params.") else { continue };
        let typed = leaf.place == Place::Set && !asked.is_empty();
        let names: Vec<&str> = asked.iter().chain(matrix.iter().filter(|_| !typed)).copied().collect();
        let params = |names: &[&str]| {
            let entries = names.iter().filter_map(|n| registry.find(n));
            entries.flat_map(|e| &e.params).map(|i| i.key.as_str()).collect::<Vec<_>>()
        };
        let known = params(&names);
        let read = |names: &[&str]| names.iter().filter_map(|n| registry.find(n)).any(|e| e.reads(param));
        if read(&names) || !read(&all) {
            continue;
        }
        let mut unique = names.clone();
        unique.dedup();
        let hint = nearest(param, known.into_iter()).map_or_else(
            || "remove it, or run a scheme that has it: `cnsim explain SCHEME` shows them".into(),
            |n| format!("did you mean `{n}`?"),
        );
        problems.push(flat.at(
            path,
            format!("has no effect: {} has no such parameter", unique.join(", ")),
            hint,
        ));
    }
}

/// Keys that are written and that perhaps no case reads, by path and key. With `typed` only those of the command line.
pub(crate) fn perhaps_unread(flat: &Flat, typed: bool) -> Vec<(String, String)> {
    let written = flat.leaves.iter().filter(|(_, leaf)| !typed || leaf.place == Place::Set);
    let keys = written.map(|(path, _)| (path, varied(path).map_or(path.as_str(), |(_, key)| key)));
    let of = |key: &str| find(key).is_some_and(|k| k.unread.is_some());
    keys.filter(|(_, key)| of(key)).map(|(path, key)| (path.clone(), key.to_string())).collect()
}

/// The problem of such a key that no case reads.
pub(crate) fn without_effect(flat: &Flat, path: &str, key: &str) -> Problem {
    let (why, remedy) = find(key).and_then(|k| k.unread).unwrap_or_default();
    flat.at(path, format!("has no effect: {why}"), remedy)
}

/// The value of a key, if only its default.
fn value(flat: &Flat, key: &str) -> String {
    let now = flat.leaves.get(key).and_then(|l| l.items.first().cloned());
    now.unwrap_or_else(|| find(key).map_or("", |o| o.default).into())
}

/// Why a key has no effect.
pub(crate) struct Idle {
    /// The other key on which the effect depends.
    by: Option<String>,
    /// The key has no effect by itself, but memory is sized by its value: see `Key::sizes`.
    pub(crate) read: bool,
    reason: String,
    remedy: String,
}

impl Idle {
    /// Do cases or the points of a sweep differ in the other key? Then this one has an effect in some of them. A sweep over both asks
    /// for points that are alike.
    fn is_decided(&self, flat: &Flat, path: &str) -> bool {
        let place = flat.leaves.get(path).map(|leaf| &leaf.place);
        let kept = self.read && place == Some(&Place::Config);
        kept || place != Some(&Place::Over) && self.by.as_deref().is_some_and(|by| flat.varies(by))
    }
}

/// Removes the keys without effect in this case: each then is its default.
pub(crate) fn drop_idle(flat: &mut Flat) {
    let is_idle = |path: &&String| idle(flat, path).is_some_and(|idle| !idle.read);
    let all: Vec<String> = flat.leaves.keys().filter(is_idle).cloned().collect();
    all.iter().for_each(|path| drop(flat.leaves.remove(path)));
}

/// Why this key has no effect here, if it has none.
pub(crate) fn idle(flat: &Flat, path: &str) -> Option<Idle> {
    let k = find(path)?;
    let own = k.parts().0;
    let here = path.rsplit_once('.').map_or("", |(table, _)| table);
    let by = |t: &&Table| t.shares == Some(here) && !flat.tables(t.name).is_empty();
    if let Some(other) = tables::ALL.iter().find(by) {
        let reason = format!("has no effect: [[{}]] tables replace the {here}", other.name);
        let remedy = format!("move it into a [[{}]] table, or remove it", other.name);
        return Some(Idle { by: None, read: false, reason, remedy });
    }
    let conditions = std::iter::once((k.only, None)).chain(k.idle.map(|(only, remedy)| (only, Some(remedy))));
    conditions.into_iter().find_map(|(only, remedy)| {
        // A key of an array of tables depends on another one of its own table.
        let by = match only.key()?.rsplit_once('.') {
            Some((table, leaf)) if table == own => format!("{here}.{leaf}"),
            _ => only.key()?.into(),
        };
        let now = value(flat, &by);
        let also = find(&by).and_then(|k| k.also?.split_once('.'));
        let others = also.map_or(Vec::new(), |(table, leaf)| {
            flat.tables(table).iter().map(|table| value(flat, &format!("{table}.{leaf}"))).collect()
        });
        if others.iter().any(|other| only.admits(other)) {
            return None;
        }
        // A value that is none says nothing of the keys that depend on it.
        if only.admits(&now) || find(&by).is_some_and(|k| k.kind.read(&now).is_err()) {
            return None;
        }
        let written = flat.leaves.get(path).and_then(|l| l.items.first()).map_or("", |t| t);
        let told = k.why.and_then(|why| why(&now, written)).filter(|_| remedy.is_none());
        let (reason, remedy) = told.unwrap_or_else(|| {
            let remedy = match (remedy, only) {
                (Some(remedy), _) => remedy.into(),
                (None, Only::With(..)) => format!("remove it, or set {by} to {}", any_of(&words(&only))),
                (None, _) => format!("remove it, or set {by} otherwise"),
            };
            (format!("has no effect with {by} = {now}"), remedy)
        });
        Some(Idle { read: k.sizes && by == pause::MODE.path, by: Some(by), reason, remedy })
    })
}
