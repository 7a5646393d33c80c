//! Reads typed values from a scenario's flat table. A fault becomes a problem with place and remedy.

use crate::language::kinds::{Choice, Switched, Value};
use crate::language::row::At;
use crate::language::text::{Flat, Place};
use cnsim_problem::Problem;
use cnsim_scheme_api::Registry;
use cnsim_units::{Bytes, Rate, Time};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Largest number of problems that are reported of a scenario.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// The items of a list as a default writes it: `[3, 3, 2]`, or a single word.
pub(crate) fn default_items(text: &str) -> Vec<String> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(str::trim).filter(|t| !t.is_empty()).map(String::from).collect()
}

/// Reads values of a flat table; collects problems.
pub(crate) struct Reader<'a> {
    pub(crate) flat: &'a Flat,
    pub(crate) registry: &'a Registry,
    pub(crate) problems: &'a mut Vec<Problem>,
    /// Keys that were read. The run depends on them.
    pub(crate) read: RefCell<BTreeSet<String>>,
}

/// A list as it is written: the key that holds it, and its items.
pub(crate) struct List {
    pub(crate) key: String,
    pub(crate) items: Arc<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(flat: &'a Flat, registry: &'a Registry, problems: &'a mut Vec<Problem>) -> Self {
        Self { flat, registry, problems, read: RefCell::default() }
    }

    pub(crate) fn word(&self, key: impl Into<At>) -> String {
        let key = key.into();
        self.read.borrow_mut().insert(key.path.to_string());
        let own = self.flat.leaves.get(key.as_ref()).and_then(|l| l.items.first().cloned());
        own.unwrap_or_else(|| key.row.default.into())
    }

    fn push(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(crate) fn wrong(
        &mut self,
        key: impl AsRef<str>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let problem = self.flat.at(key.as_ref(), reason, remedy);
        self.push(problem);
    }

    /// A table lacks what a list says, or a file in its place; nothing is reported of a file that could not be read.
    pub(crate) fn lacks(&mut self, prefix: &str, list: &List, what: &str, remedy: &str) {
        let unread = self.flat.leaves.get(&format!("{prefix}.file"));
        if unread.is_none_or(|file| file.items.first().is_none_or(|name| name == "off")) {
            self.wrong(&list.key, what, remedy);
        }
    }

    /// A problem with one item of a list.
    pub(crate) fn wrong_item(
        &mut self,
        key: impl AsRef<str>,
        item: usize,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.wrong_at(key, item, 0, reason, remedy);
    }

    /// A problem with one item of a list, so many characters behind its beginning.
    pub(crate) fn wrong_at(
        &mut self,
        key: impl AsRef<str>,
        item: usize,
        offset: usize,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let problem = self.flat.at_item(key.as_ref(), item, offset, reason, remedy);
        self.push(problem);
    }

    /// Reports that the values of these keys exclude each other; the problem names the first key. If a value is wrong by itself,
    /// nothing is reported, as its default is not the user's.
    pub(crate) fn clash(&mut self, keys: &[impl AsRef<str>], reason: String, remedy: impl Into<String>) {
        if let [first, ..] = keys
            && !self.problems.iter().any(|p| keys.iter().any(|k| self.flat.written(k.as_ref()) == p.key))
        {
            self.wrong(first, reason, remedy);
        }
    }

    /// The value of a key, read by its kind. A wrong value is reported, and the default replaces it.
    fn value(&mut self, key: impl Into<At>) -> Option<Value> {
        let key = key.into();
        let text = self.word(&key);
        match key.row.kind.read(&text) {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.wrong(&key, wrong.reason, wrong.remedy);
                key.row.kind.read(key.row.default).ok()
            }
        }
    }

    pub(crate) fn rate(&mut self, key: impl Into<At>) -> Rate {
        if let Some(Value::Rate(v)) = self.value(key) { v } else { Rate::ZERO }
    }

    /// A rate, or a share of this one.
    pub(crate) fn rate_or_share(&mut self, key: impl Into<At>, of: Rate) -> Rate {
        match self.value(key) {
            Some(Value::Share(share)) => of * share,
            Some(Value::Rate(v)) => v,
            _ => Rate::ZERO,
        }
    }

    /// A rate; `None` where the key's word stands in its place.
    pub(crate) fn rate_or(&mut self, key: impl Into<At>) -> Option<Rate> {
        if let Some(Value::Rate(v)) = self.value(key) { Some(v) } else { None }
    }

    /// A time; `None` where the key's word stands in its place.
    pub(crate) fn time_or(&mut self, key: impl Into<At>) -> Option<Time> {
        if let Some(Value::Time(v)) = self.value(key) { Some(v) } else { None }
    }

    pub(crate) fn time(&mut self, key: impl Into<At>) -> Time {
        self.time_or(key).unwrap_or_default()
    }

    /// Bytes; `None` where the key's word stands in their place.
    pub(crate) fn bytes_or(&mut self, key: impl Into<At>) -> Option<Bytes> {
        if let Some(Value::Bytes(v)) = self.value(key) { Some(v) } else { None }
    }

    pub(crate) fn bytes(&mut self, key: impl Into<At>) -> Bytes {
        self.bytes_or(key).unwrap_or_default()
    }

    /// A whole number; `None` where the key's word stands in its place.
    pub(crate) fn integer_or(&mut self, key: impl Into<At>) -> Option<u64> {
        if let Some(Value::Integer(v)) = self.value(key) { Some(v) } else { None }
    }

    pub(crate) fn integer(&mut self, key: impl Into<At>) -> u64 {
        if let Some(Value::Integer(v)) = self.value(key) { v } else { 0 }
    }

    /// Percentage, 1 for 100 %.
    pub(crate) fn share(&mut self, key: impl Into<At>) -> f64 {
        if let Some(Value::Share(v)) = self.value(key) { v } else { 0.0 }
    }

    /// The value of a word. The key's kind must be the words of this type.
    pub(crate) fn choice<T: Choice>(&mut self, key: impl Into<At>) -> T {
        let key = key.into();
        debug_assert!(key.row.kind.choices() == T::WORDS, "{} has other words", key.row.path);
        let word = match self.value(key) {
            Some(Value::Text(word)) => T::of(&word),
            _ => None,
        };
        word.unwrap_or(T::ALL[0])
    }

    /// Is the key `on`?
    pub(crate) fn switched(&mut self, key: impl Into<At>) -> bool {
        match self.choice(key) {
            Switched::On => true,
            Switched::Off => false,
        }
    }

    /// Items of a list; those of the key's default where it is not set; none if its word stands in their place.
    pub(crate) fn list(&self, key: impl Into<At>) -> Vec<String> {
        self.listed(key).items.to_vec()
    }

    /// The items of a list with its key.
    pub(crate) fn listed(&self, key: impl Into<At>) -> List {
        let At { path, row } = key.into();
        self.read.borrow_mut().insert(path.to_string());
        let items = self
            .flat
            .leaves
            .get(&*path)
            .map_or_else(|| default_items(row.default).into(), |l| l.items.clone());
        List { key: path.into(), items }
    }

    /// The values of a list; a wrong one is reported.
    fn values(&mut self, key: impl Into<At>) -> Vec<Option<Value>> {
        let key = key.into();
        let items = self.list(&key);
        let read = |(i, text): (usize, &String)| match key.row.kind.read(text) {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.wrong_item(&key, i, wrong.reason, wrong.remedy);
                None
            }
        };
        items.iter().enumerate().map(read).collect()
    }

    /// Items of a list of percentages, 1 for 100 %.
    pub(crate) fn shares(&mut self, key: impl Into<At>) -> Vec<f64> {
        let read = |v| if let Some(Value::Share(v)) = v { v } else { 0.0 };
        self.values(key).into_iter().map(read).collect()
    }

    /// Items of a list of whole numbers.
    pub(crate) fn integers(&mut self, key: impl Into<At>) -> Vec<u64> {
        let read = |v| if let Some(Value::Integer(v)) = v { v } else { 0 };
        self.values(key).into_iter().map(read).collect()
    }

    /// Was this key written?
    pub(crate) fn is_set(&self, key: impl AsRef<str>) -> bool {
        self.flat.leaves.contains_key(key.as_ref())
    }

    /// Did the user write this key? A configuration of results holds every key, also those that were left out.
    pub(crate) fn is_asked(&self, key: impl AsRef<str>) -> bool {
        self.flat.leaves.get(key.as_ref()).is_some_and(|leaf| leaf.place != Place::Config)
    }

    /// Is this key the case's own, by the matrix, a row, a sweep or a configuration? What depends on it then has an effect in other
    /// cases.
    pub(crate) fn is_of_case(&self, key: impl AsRef<str>) -> bool {
        let leaf = self.flat.leaves.get(key.as_ref());
        leaf.is_some_and(|leaf| leaf.place == Place::Config) || self.flat.varies(key.as_ref())
    }

    /// Does the traffic differ between cases? What has no effect on this case's has one in another then.
    pub(crate) fn traffic_varies(&self) -> bool {
        ["workload.", "traffic."].iter().any(|table| self.flat.varies_below(table))
    }

    /// Prefixes of an array of tables, in order: `source.0`, `source.1`.
    pub(crate) fn tables(&self, name: &str) -> Vec<String> {
        self.flat.tables(name)
    }
}
