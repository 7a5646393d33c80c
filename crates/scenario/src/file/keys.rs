//! All keys of a scenario in one list. Their rows stand in the files of their tables; the reader, `cnsim new`, the JSON Schema and the docs
//! come from them.

use crate::tables;

pub use crate::language::row::{
    FARTHEST, FASTEST, Key, LONGEST, MAX_CASES, MAX_CHANGES, MAX_CONDITION, MAX_FLOWS, MAX_FRAME, MAX_HOSTS,
    MAX_PORTS, MAX_SEEDS, MAX_SWITCHES, MAX_TRANSFER, Only, SLOWEST, SLOWEST_SERVICE, Table,
};
pub use crate::language::text::varied;
pub use crate::tables::head::MATRIX;

/// Number of all keys, and of tables that stand in a file any number of times.
const COUNT: (usize, usize) = {
    let (mut keys, mut arrays, mut t) = (0, 0, 0);
    while t < tables::ALL.len() {
        keys += tables::ALL[t].keys.len();
        arrays += tables::ALL[t].many as usize;
        t += 1;
    }
    (keys, arrays)
};

/// All keys but those of `matrix`, `rows`, `scheme` and `assumptions`.
pub const KEYS: &[Key] = {
    static ALL: [Key; COUNT.0] = {
        let (mut all, mut n, mut t) = ([tables::ALL[0].keys[0]; COUNT.0], 0, 0);
        while t < tables::ALL.len() {
            let mut k = 0;
            while k < tables::ALL[t].keys.len() {
                all[n] = tables::ALL[t].keys[k];
                (n, k) = (n + 1, k + 1);
            }
            t += 1;
        }
        all
    };
    &ALL
};

/// Names of arrays of tables, whose keys carry a number: `traffic.0.kind`.
pub const TABLES: &[&str] = {
    static ALL: [&str; COUNT.1] = {
        let (mut all, mut n, mut t) = ([""; COUNT.1], 0, 0);
        while t < tables::ALL.len() {
            if tables::ALL[t].many {
                all[n] = tables::ALL[t].name;
                n += 1;
            }
            t += 1;
        }
        all
    };
    &ALL
};

/// Names that keys had before, each with that of today.
const RENAMED: &[(&str, Key)] = &[("topology.uplink_rate", tables::topology::FABRIC_RATE)];

/// The name of today of a key that had another one.
pub(crate) fn renamed(path: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(before, _)| *before == path).map(|(_, now)| now.path)
}

/// The words of the other key with which a key has an effect, where it is a choice.
pub fn words(only: &Only) -> Vec<&'static str> {
    let words = only.key().and_then(find).map_or(&[][..], |other| other.kind.choices());
    words.iter().copied().filter(|word| only.admits(word)).collect()
}

/// The table of this name.
pub fn table(name: &str) -> Option<&'static Table> {
    tables::ALL.iter().find(|t| t.name == name)
}

/// Finds a key. A key of an array of tables has a number in its path; a table may have the keys of another one, too.
pub fn find(path: &str) -> Option<&'static Key> {
    let at = |path: &str| KEYS.iter().find(|k| k.path == path);
    let Some((name, rest)) = path.split_once('.') else { return at(path) };
    let Some(table) = table(name).filter(|t| t.many) else { return at(path) };
    let (number, leaf) = rest.split_once('.').unwrap_or(("", rest));
    if !number.is_empty() && number.parse::<usize>().is_err() {
        return None;
    }
    let shared = || at(&format!("{}.{leaf}", table.shares?)).filter(|k| !k.unshared);
    at(&format!("{name}.{leaf}")).or_else(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each default is a value of its kind, and a condition names a value that the other key can have.
    #[test]
    fn defaults_and_conditions_are_values() {
        for k in KEYS {
            let fits = |text: &str| {
                let items = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
                items
                    .unwrap_or(text)
                    .split(',')
                    .map(str::trim)
                    .filter(|t| !t.is_empty())
                    .all(|t| k.kind.read(t).is_ok())
            };
            assert!(k.default.is_empty() || fits(k.default), "{} = {}", k.path, k.default);
            for only in std::iter::once(k.only).chain(k.idle.map(|idle| idle.0)) {
                let Some(other) = only.key().and_then(find) else { continue };
                match only {
                    Only::With(..) if other.kind.choices().is_empty() => {}
                    Only::Unless(_, value) => assert!(other.kind.read(value).is_ok(), "{}", k.path),
                    _ => assert!(!words(&only).is_empty(), "{}", k.path),
                }
            }
        }
    }

    #[test]
    fn numbers_are_part_of_a_path() {
        assert_eq!(find("traffic.12.load").unwrap().path, "workload.load");
        assert!(
            find("traffic.load").is_some()
                && find("traffic.x.load").is_none()
                && find("traffic.0.loads").is_none()
        );
        assert_eq!(varied("rows.3.hotspot.rate"), Some(("rows.3", "hotspot.rate")));
        assert_eq!(varied("rows.x.hotspot.rate"), None);
    }
}
