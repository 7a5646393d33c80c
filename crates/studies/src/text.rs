//! A scenario's text as a flat table of dotted keys with positions, and problems that name file, line, key, reason and
//! remedy.

use std::collections::BTreeMap;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line and column in the file, from 1.
    File {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// On the command line.
    Set,
    /// In the scenario's matrix or by a condition.
    Condition,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The text of each item; one for a scalar.
    pub items: Vec<String>,
    /// True for an array.
    pub list: bool,
    /// Where.
    pub place: Place,
}

/// A thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File name, or the scenario's id.
    pub file: String,
    /// Where.
    pub place: Option<Place>,
    /// Dotted key; empty where the text cannot be read at all.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What would be right.
    pub remedy: String,
    /// The line of the file.
    pub excerpt: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(Place::File { line, column }) => write!(f, "{}:{line}:{column}: ", self.file)?,
            Some(Place::Set) => write!(f, "--set: ")?,
            _ => write!(f, "{}: ", self.file)?,
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}", self.reason)?;
        if let (Some(Place::File { line, column }), Some(text)) = (&self.place, &self.excerpt) {
            write!(f, "\n  {line:>4} | {text}\n       | {:>column$}", "^")?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  help: {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// The flat table of one scenario.
#[derive(Clone, Debug)]
pub struct Flat {
    /// File name, or the scenario's id.
    pub file: String,
    text: String,
    /// Dotted key -> value.
    pub leaves: BTreeMap<String, Leaf>,
}

impl Flat {
    /// Reads TOML.
    ///
    /// # Errors
    /// The first place that is not TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problem> {
        let mut flat = Self { file: file.into(), text: text.into(), leaves: BTreeMap::new() };
        let table = DeTable::parse(text).map_err(|e| {
            let place = e.span().map(|s| flat.place(s.start));
            flat.problem("", place, e.message(), "the file must be TOML")
        })?;
        let mut problems = Vec::new();
        flat.table("", table.get_ref(), &mut problems);
        match problems.into_iter().next() {
            Some(p) => Err(p),
            None => Ok(flat),
        }
    }

    fn place(&self, at: usize) -> Place {
        let before = &self.text[..at.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        Place::File { line, column }
    }

    /// A problem at a place.
    pub fn problem(
        &self,
        key: &str,
        place: Option<Place>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        let excerpt = match &place {
            Some(Place::File { line, .. }) => self.text.lines().nth(line - 1).map(str::to_owned),
            _ => None,
        };
        Problem {
            file: self.file.clone(),
            place,
            key: key.into(),
            reason: reason.into(),
            remedy: remedy.into(),
            excerpt,
        }
    }

    /// A problem with a key's value.
    pub fn at(&self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Problem {
        self.problem(key, self.leaves.get(key).map(|l| l.place.clone()), reason, remedy)
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>, problems: &mut Vec<Problem>) {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            let place = self.place(value.span().start);
            match value.get_ref() {
                DeValue::Table(t) => self.table(&path, t, problems),
                DeValue::Array(a)
                    if !a.is_empty() && a.iter().all(|v| matches!(v.get_ref(), DeValue::Table(_))) =>
                {
                    for (i, v) in a.iter().enumerate() {
                        if let DeValue::Table(t) = v.get_ref() {
                            self.table(&format!("{path}.{i}"), t, problems);
                        }
                    }
                }
                DeValue::Array(a) => {
                    let items: Vec<Option<String>> = a.iter().map(|v| scalar(v.get_ref())).collect();
                    if items.iter().any(Option::is_none) {
                        problems.push(self.problem(
                            &path,
                            Some(place),
                            "an array may hold plain values only",
                            "write [\"a\", \"b\"]",
                        ));
                        continue;
                    }
                    let items = items.into_iter().flatten().collect();
                    self.leaves.insert(path, Leaf { items, list: true, place });
                }
                other => match scalar(other) {
                    Some(text) => {
                        self.leaves.insert(path, Leaf { items: vec![text], list: false, place });
                    }
                    None => problems.push(self.problem(
                        &path,
                        Some(place),
                        "a date has no meaning here",
                        "write a text",
                    )),
                },
            }
        }
    }

    /// Prefixes of the tables of an array, in order: `source.0`, `source.1`.
    pub fn tables(&self, name: &str) -> Vec<String> {
        let start = format!("{name}.");
        let mut numbers: Vec<usize> = self
            .leaves
            .range(start.clone()..)
            .map_while(|(k, _)| k.strip_prefix(&start))
            .filter_map(|k| k.split('.').next()?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|n| format!("{start}{n}")).collect()
    }

    /// Sets a value from outside the file; a list is written with commas in brackets.
    pub fn set(&mut self, key: &str, text: &str, place: Place) {
        let text = text.trim();
        let list = text.starts_with('[') && text.ends_with(']');
        let clean = |s: &str| s.trim().trim_matches('"').to_owned();
        let items = if list {
            text[1..text.len() - 1].split(',').map(clean).filter(|s| !s.is_empty()).collect()
        } else {
            vec![clean(text)]
        };
        self.leaves.insert(key.into(), Leaf { items, list, place });
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(s) => Some(s.to_string()),
        DeValue::Integer(i) => Some(i.to_string()),
        DeValue::Float(x) => Some(x.to_string()),
        DeValue::Boolean(b) => Some(if *b { "on" } else { "off" }.into()),
        _ => None,
    }
}

/// The known word nearest to an unknown one, if near.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (strsim::damerau_levenshtein(word, k), k))
        .filter(|(d, k)| *d <= 2.max(k.len() / 4))
        .min()
        .map(|(_, k)| k)
}
