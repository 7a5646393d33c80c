//! Before a scenario's values are read: assumptions become the keys they stand for, files are put in, and keys that nobody
//! reads, or that have no effect here, are refused.

use crate::assumptions::{self, ASSUMPTIONS};
use crate::keys::{KEYS, find};
use crate::text::{Flat, Leaf, Place, Problem, nearest};
use cnsim_scheme_api::Registry;

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

/// Refuses keys that nobody reads.
pub(crate) fn known_keys(flat: &Flat, registry: &Registry, problems: &mut Vec<Problem>) {
    for path in flat.leaves.keys() {
        if let Some(key) = path.strip_prefix("scheme.params.") {
            let all = || registry.iter().flat_map(|e| &e.params).map(|i| i.key.as_str());
            if !all().any(|k| k == key) {
                let hint = nearest(key, all())
                    .map_or_else(|| "see `cnsim describe SCHEME`".into(), |n| format!("did you mean `{n}`?"));
                problems.push(flat.at(path, "no scheme has this parameter", hint));
            }
            continue;
        }
        if let Some(rest) = path.strip_prefix("scheme.") {
            if rest.rsplit_once('.').and_then(|(owner, _)| registry.find(owner)).is_none() {
                problems.push(flat.at(path, "names no scheme", "write [scheme.params] or [scheme.ecm]"));
            }
            continue;
        }
        let row = path.strip_prefix("rows.").and_then(|p| p.split_once('.')).map(|(_, key)| key);
        if let Some(key) = path.strip_prefix("matrix.").or(row) {
            if !matches!(key, "pause" | "schemes" | "condition" | "seeds")
                && find(key).is_none()
                && !key.starts_with("scheme.")
            {
                let hint = nearest(key, KEYS.iter().map(|k| k.path)).map_or_else(
                    || "a row sets keys of the scenario".into(),
                    |n| format!("did you mean `{n}`?"),
                );
                problems.push(flat.at(path, "unknown key in the matrix", hint));
            }
            continue;
        }
        match find(path) {
            None => {
                let section = path.split('.').next().unwrap_or("");
                let known: Vec<&str> =
                    KEYS.iter().map(|k| k.path).filter(|k| k.starts_with(section)).collect();
                let hint = match nearest(path, KEYS.iter().map(|k| k.path)) {
                    Some(n) => format!("did you mean `{n}`?"),
                    None if known.is_empty() => "see `cnsim schema`, or `cnsim new NAME`".into(),
                    None => format!("known here: {}", known.join(", ")),
                };
                problems.push(flat.at(path, "unknown key", hint));
            }
            Some(k) => {
                let Some((other, now)) = idle(flat, path) else { continue };
                let varied = flat.leaves.keys().any(|p| {
                    let key = p.strip_prefix("matrix.").or_else(|| p.strip_prefix("rows.")).unwrap_or("");
                    let key = key.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                    key == other || (other == "pause.mode" && key == "pause")
                });
                if !varied {
                    problems.push(flat.at(
                        path,
                        format!("has no effect with {other} = {now}"),
                        format!("remove it, or set {other} to {}", k.only.1.join(" or ")),
                    ));
                }
            }
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
        if known.contains(&param) || !params(&all).contains(&param) {
            continue;
        }
        let mut unique = names.clone();
        unique.dedup();
        let hint = nearest(param, known.into_iter()).map_or_else(
            || "remove it, or run a scheme that has it: `cnsim describe SCHEME` shows them".into(),
            |n| format!("did you mean `{n}`?"),
        );
        problems.push(flat.at(
            path,
            format!("has no effect: {} has no such parameter", unique.join(", ")),
            hint,
        ));
    }
}

/// Has this key no effect here? Then the other key that says so, and its value.
pub(crate) fn idle(flat: &Flat, path: &str) -> Option<(String, String)> {
    let k = find(path).filter(|k| !k.only.0.is_empty())?;
    // A key of `[[traffic]]` depends on the kind of its own table.
    let numbered = path.rsplit_once('.').filter(|(table, _)| table.starts_with("traffic."));
    let other = match (numbered, k.only.0.rsplit_once('.')) {
        (Some((table, _)), Some(("workload", leaf))) => format!("{table}.{leaf}"),
        _ => k.only.0.to_string(),
    };
    let now = flat.leaves.get(&other).and_then(|l| l.items.first().cloned());
    let now = now.unwrap_or_else(|| find(&other).map_or("", |o| o.default).into());
    (!k.only.1.contains(&now.as_str())).then_some((other, now))
}

/// Replaces `workload.file` and `topology.file` by what these files list, so that a configuration is whole in itself.
pub(crate) fn inline_files(flat: &mut Flat, scenario: &str, problems: &mut Vec<Problem>) {
    let named: Vec<(String, Leaf)> = flat
        .leaves
        .iter()
        .filter(|(k, _)| k.ends_with(".file"))
        .map(|(k, l)| (k.clone(), l.clone()))
        .collect();
    for (key, leaf) in named {
        let name = leaf.items.first().cloned().unwrap_or_default();
        if name == "off" {
            continue;
        }
        let beside = std::path::Path::new(scenario).parent().map(|d| d.join(&name)).filter(|p| p.exists());
        let text = match std::fs::read_to_string(beside.unwrap_or_else(|| name.clone().into())) {
            Ok(text) => text,
            Err(e) => {
                let hint = "give the path of a file, from the scenario's folder or from here";
                problems.push(flat.at(&key, format!("`{name}` cannot be read: {e}"), hint));
                continue;
            }
        };
        let table = key.trim_end_matches(".file");
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        let mut lists: std::collections::BTreeMap<&str, Vec<String>> = std::collections::BTreeMap::new();
        for line in lines {
            if table == "topology" {
                match line.split_once(char::is_whitespace) {
                    Some(("switch", rest)) => lists.entry("nodes").or_default().push(rest.trim().into()),
                    Some(("link", rest)) => lists.entry("links").or_default().push(rest.trim().into()),
                    _ => {
                        let reason = format!("`{name}`: `{line}` is neither a switch nor a link");
                        problems.push(flat.at(
                            &key,
                            reason,
                            "write `switch S1 16` or `link H1 S1 10 Gb/s 0.5 us`",
                        ));
                    }
                }
            } else if !line.starts_with("start") {
                lists.entry("transfers").or_default().push(line.into());
            }
        }
        flat.leaves.remove(&key);
        for (list, items) in lists {
            flat.leaves
                .insert(format!("{table}.{list}"), Leaf { items, list: true, place: leaf.place.clone() });
        }
    }
}
