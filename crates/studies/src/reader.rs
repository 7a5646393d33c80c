//! Reads typed values from a scenario's flat table; what is wrong becomes a problem with its place and a remedy.

use crate::keys::find;
use crate::text::{Flat, Problem, nearest};
use crate::topology::Wiring;
use cnsim_scheme_api::NodeId;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::str::FromStr;

/// The items of a list as a default writes it: `[3, 3, 2]`, or a single word.
pub(crate) fn default_items(text: &str) -> Vec<String> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(str::trim).filter(|t| !t.is_empty()).map(String::from).collect()
}

/// Reads values of a flat table; collects problems.
pub(crate) struct Reader<'a> {
    pub(crate) flat: &'a Flat,
    pub(crate) problems: &'a mut Vec<Problem>,
    /// Keys whose values were asked for: what a run depends on.
    pub(crate) read: RefCell<BTreeSet<String>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(flat: &'a Flat, problems: &'a mut Vec<Problem>) -> Self {
        Self { flat, problems, read: RefCell::default() }
    }

    pub(crate) fn word(&self, key: &str) -> String {
        self.read.borrow_mut().insert(key.into());
        let own = self.flat.leaves.get(key).and_then(|l| l.items.first().cloned());
        own.unwrap_or_else(|| find(key).map_or("", |k| k.default).into())
    }

    pub(crate) fn wrong(&mut self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) {
        let problem = self.flat.at(key, reason, remedy);
        self.problems.push(problem);
    }

    /// Values of these keys do not go together; said of the first. Not where one of them is wrong by itself, as what stands for
    /// it then was not written by anyone.
    pub(crate) fn clash(&mut self, keys: &[&str], reason: String, remedy: impl Into<String>) {
        if let [first, ..] = keys
            && !self.problems.iter().any(|p| keys.contains(&p.key.as_str()))
        {
            self.wrong(first, reason, remedy);
        }
    }

    /// A quantity between two bounds.
    pub(crate) fn quantity<T>(&mut self, key: &str, low: T, high: T) -> T
    where
        T: FromStr<Err = cnsim_units::UnitError> + PartialOrd + Copy + std::fmt::Display,
    {
        let text = self.word(key);
        match text.parse::<T>() {
            Ok(v) if v >= low && v <= high => v,
            Ok(v) => {
                self.wrong(key, format!("{v} is out of range"), format!("allowed: {low} to {high}"));
                low
            }
            Err(e) => {
                self.wrong(
                    key,
                    format!("`{text}`: {}", e.reason),
                    format!("write for example \"{}\"", e.example),
                );
                low
            }
        }
    }

    pub(crate) fn integer(&mut self, key: &str, low: u64, high: u64) -> u64 {
        let text = self.word(key);
        match text.replace('_', "").parse::<u64>() {
            Ok(v) if (low..=high).contains(&v) => v,
            Ok(v) => {
                self.wrong(key, format!("{v} is out of range"), format!("allowed: {low} to {high}"));
                low
            }
            Err(_) => {
                self.wrong(
                    key,
                    format!("`{text}` is not a whole number"),
                    format!("write a number from {low} to {high}"),
                );
                low
            }
        }
    }

    pub(crate) fn percent(&mut self, key: &str, text: &str) -> f64 {
        match text.trim().strip_suffix('%').and_then(|t| t.trim().parse::<f64>().ok()) {
            Some(v) if (0.0..=100.0).contains(&v) => v / 100.0,
            Some(v) => {
                self.wrong(key, format!("{v} % is out of range"), "allowed: 0 % to 100 %");
                0.0
            }
            None => {
                self.wrong(key, format!("`{text}` is not a percentage"), "write for example \"85 %\"");
                0.0
            }
        }
    }

    pub(crate) fn choice(&mut self, key: &str) -> String {
        let text = self.word(key);
        let Some(k) = find(key) else { return text };
        if !k.kind.split('|').any(|c| c == text) {
            let near = nearest(&text, k.kind.split('|'))
                .map_or_else(String::new, |n| format!("did you mean \"{n}\"? "));
            self.wrong(
                key,
                format!("`{text}` is not a choice"),
                format!("{near}choose one of {}", k.kind.replace('|', " | ")),
            );
            return k.default.into();
        }
        text
    }

    /// Items of a list; those of the key's default where it is not set.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        self.read.borrow_mut().insert(key.into());
        match self.flat.leaves.get(key) {
            Some(l) => l.items.clone(),
            None => default_items(find(key).map_or("", |k| k.default)),
        }
    }

    /// Was this key written?
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.flat.leaves.contains_key(key)
    }

    /// Prefixes of an array of tables, in order: `source.0`, `source.1`.
    pub(crate) fn tables(&self, name: &str) -> Vec<String> {
        self.flat.tables(name)
    }

    /// Index of a host by its name.
    pub(crate) fn host(&mut self, key: &str, text: &str, wiring: &Wiring) -> Option<usize> {
        let index = wiring.hosts.iter().position(|h| h.eq_ignore_ascii_case(text.trim()));
        if index.is_none() {
            let known = match &wiring.hosts[..] {
                [first, .., last] => format!("hosts are {first} to {last}"),
                _ => "see topology".into(),
            };
            self.wrong(key, format!("there is no host `{text}`"), known);
        }
        index
    }

    /// Hosts named by a word: `H3`, `H0..H9`, every third of them `H0..H9/3`, or `all`.
    pub(crate) fn range(&mut self, key: &str, text: &str, wiring: &Wiring) -> Vec<usize> {
        if text.eq_ignore_ascii_case("all") {
            return (0..wiring.hosts.len()).collect();
        }
        let Some((from, to)) = text.split_once("..") else {
            return self.host(key, text, wiring).into_iter().collect();
        };
        let (to, step) = to.split_once('/').unwrap_or((to, "1"));
        let Some(step) = step.trim().parse::<usize>().ok().filter(|s| *s > 0) else {
            self.wrong(key, format!("`{text}` has no whole step"), "write for example \"H0..H9/3\"");
            return Vec::new();
        };
        let (from, to) = (self.host(key, from, wiring), self.host(key, to, wiring));
        match (from, to) {
            (Some(a), Some(b)) if a <= b => (a..=b).step_by(step).collect(),
            (Some(_), Some(_)) => {
                self.wrong(key, format!("`{text}` runs backwards"), "write the lower host first");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// An output port by its name: `X>E5`.
    pub(crate) fn port(&mut self, key: &str, text: &str, wiring: &Wiring) -> Option<(NodeId, u16)> {
        let port = wiring.port(text).filter(|p| p.0.0 as usize >= wiring.hosts.len());
        if port.is_none() {
            let hint = "name a switch and its neighbour: \"S>H1\"; `cnsim describe` shows the names";
            self.wrong(key, format!("there is no switch port `{text}`"), hint);
        }
        port
    }

    /// Two hosts: `H1>H5`.
    pub(crate) fn pair(&mut self, key: &str, text: &str, wiring: &Wiring) -> Option<(NodeId, NodeId)> {
        let Some((a, b)) = text.split_once('>') else {
            self.wrong(key, format!("`{text}` is not a flow"), "write source and destination: \"H1>H5\"");
            return None;
        };
        let (a, b) = (self.host(key, a, wiring)?, self.host(key, b, wiring)?);
        Some((NodeId(a as u32), NodeId(b as u32)))
    }
}
