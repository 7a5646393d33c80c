//! The groups of a scenario's rows, and the rows of each.

use super::Group;
use crate::case::condition::Template;
use crate::file::keys::{MATRIX, MAX_CASES, find};
use crate::language::kinds::Value as Read;
use crate::language::meant;
use crate::language::text::{Flat, Leaf};
use crate::tables::{head, pause, run};
use cnsim_problem::Problem;
use cnsim_scheme_api::Registry;

/// The groups of rows: the matrix (unless there are only `[[rows]]`), then each of `[[rows]]`.
pub(super) fn groups(
    flat: &Flat,
    registry: &Registry,
    word: &dyn Fn(&str) -> String,
    problems: &mut Vec<Problem>,
) -> Vec<Group> {
    let more = flat.tables("rows");
    let has_matrix = more.is_empty() || flat.leaves.keys().any(|k| k.starts_with("matrix."));
    let prefixes = has_matrix.then(|| "matrix".to_string()).into_iter().chain(more);
    let list = |key: &str, default: Vec<String>| flat.leaves.get(key).map_or(default, |l| l.items.to_vec());
    let mut groups = Vec::new();
    for prefix in prefixes {
        let own = format!("{prefix}.condition");
        let (key, text) = match flat.leaves.get(&own).and_then(|l| l.items.first()) {
            Some(text) => (own.as_str(), text.clone()),
            None => (head::CONDITION.path, word(head::CONDITION.path)),
        };
        let template = Template::parse(&text).unwrap_or_else(|reason| {
            problems.push(flat.at(key, reason, "write for example \"hotspot {hotspot.rate}\""));
            Template::default()
        });
        for named in template.keys() {
            if find(named).is_none() && !named.starts_with("scheme.") {
                let reason = format!("names the unknown key `{named}`");
                problems.push(flat.at(key, reason, "use a key of the scenario"));
            }
        }
        let at = format!("{prefix}.schemes");
        let mut schemes = Vec::new();
        for s in list(&at, list("matrix.schemes", vec!["none".into()])) {
            match registry.find(&s) {
                Some(e) => schemes.push(e.name.clone()),
                None => {
                    let hint = format!("{}`cnsim list schemes` shows them", meant::scheme(registry, &s));
                    problems.push(flat.at(&at, format!("there is no scheme `{s}`"), hint));
                }
            }
        }
        let pauses = list(&format!("{prefix}.pause"), list("matrix.pause", vec![word(pause::MODE.path)]));
        let at = format!("{prefix}.seeds");
        // A fault of this value has been told with all values.
        let seeds = flat.leaves.get(&at).and_then(|l| whole(run::SEEDS.path, l.items.first()?));
        groups.push(Group { template, rows: rows(flat, &prefix, problems), pauses, schemes, seeds });
    }
    groups
}

/// A whole number, if it is one within the key's bounds.
pub(super) fn whole(key: &str, text: &str) -> Option<u64> {
    match find(key)?.kind.read(text) {
        Ok(Read::Integer(n)) => Some(n),
        _ => None,
    }
}

/// The rows of a group: the product of its lists. Where they are too many for any scenario, that is a problem and there is none.
fn rows(flat: &Flat, prefix: &str, problems: &mut Vec<Problem>) -> Vec<Vec<(String, String)>> {
    let start = format!("{prefix}.");
    let lists: Vec<(&str, &Leaf)> = flat
        .leaves
        .iter()
        .filter_map(|(path, leaf)| Some((path.strip_prefix(&start)?, leaf)))
        .filter(|(key, _)| !MATRIX.iter().any(|k| k.path == *key))
        .collect();
    let all = lists.iter().fold(1_usize, |n, (_, leaf)| n.saturating_mul(leaf.items.len()));
    if all > MAX_CASES {
        let hint = format!("at most {MAX_CASES}: vary fewer keys, or use `cnsim sweep`");
        problems.push(flat.at(prefix, format!("asks for {all} rows"), hint));
        return vec![Vec::new()];
    }
    let mut rows = vec![Vec::new()];
    for (key, leaf) in lists {
        rows = rows
            .into_iter()
            .flat_map(|row: Vec<(String, String)>| {
                leaf.items.iter().map(move |v| {
                    let mut row = row.clone();
                    row.push((key.to_string(), v.clone()));
                    row
                })
            })
            .collect();
    }
    rows
}
