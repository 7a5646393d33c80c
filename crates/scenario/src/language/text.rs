//! A scenario's text as a flat table of dotted keys with positions.

use cnsim_problem::{Position, Problem};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the scenario's text: offset of its first byte.
    Text(usize),
    /// In a file that the scenario names, such as a trace.
    Listed {
        /// The file.
        file: Arc<str>,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// On the command line.
    Set,
    /// As one of the values that `--over` gives a key.
    Over,
    /// In the scenario's matrix, or by a condition.
    Condition,
    /// In a configuration. It has all parameters of a scheme, those without effect beside the others, too.
    Config,
}

impl Place {
    /// Was it typed on the command line?
    pub(crate) fn is_typed(&self) -> bool {
        matches!(self, Self::Set | Self::Over)
    }
}

/// How a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The value is written as a text in quotes.
    Text,
    /// The value is written as a number without quotes.
    Number,
    /// The value is written as `true` or `false`.
    Boolean,
}

/// Properties of one item of a value, beside its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where the item was written.
    pub place: Place,
    /// How it was written.
    pub form: Form,
}

/// One value of a scenario, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The text of each item; one for a scalar.
    pub items: Arc<Vec<String>>,
    /// Place and form of each item; empty if the value was set from outside.
    pub marks: Arc<Vec<Mark>>,
    /// True for an array.
    pub list: bool,
    /// Where the value begins.
    pub place: Place,
}

impl Leaf {
    /// A value that stands in no text: a list where it is written in brackets.
    fn set(text: &str, place: Place) -> Self {
        let text = text.trim();
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let clean = |s: &str| s.trim().trim_matches('"').to_owned();
        let items = match inner {
            Some(inner) => inner.split(',').map(clean).filter(|s| !s.is_empty()).collect(),
            None => vec![clean(text)],
        };
        Self { items: Arc::new(items), marks: Arc::default(), list: inner.is_some(), place }
    }

    /// Where an item was written: its own place, or else that of the whole value. Of a file that is one item each line is one.
    pub fn place_of(&self, item: usize) -> Place {
        match (self.marks.get(item), &self.marks[..]) {
            (Some(mark), _) => mark.place.clone(),
            (None, [Mark { place: Place::Listed { file, line, .. }, .. }]) => {
                Place::Listed { file: file.clone(), line: line.saturating_add(item), column: 1 }
            }
            _ => self.place.clone(),
        }
    }
}

/// Does a key of the matrix set this key? By the name of a table it sets the table's mode.
fn stands_for(own: &str, key: &str) -> bool {
    own == key || key.strip_suffix(".mode") == Some(own)
}

/// The key of `[matrix]` or of one of `[[rows]]` behind a path, and the prefix of its table: `rows.0` and `hotspot.rate`.
pub fn varied(path: &str) -> Option<(&str, &str)> {
    if let Some(key) = path.strip_prefix("matrix.") {
        return Some(("matrix", key));
    }
    let (number, key) = path.strip_prefix("rows.")?.split_once('.')?;
    number.parse::<usize>().ok()?;
    Some((&path[.."rows.".len() + number.len()], key))
}

/// The flat table of one scenario.
#[derive(Clone, Debug)]
pub struct Flat {
    /// File name, or the scenario's id.
    pub file: String,
    text: Arc<str>,
    /// Offset of the first byte of each line.
    lines: Arc<Vec<usize>>,
    /// Dotted key -> value.
    pub leaves: BTreeMap<String, Leaf>,
    /// Lists that files stand for, each with the key that names its file.
    pub(crate) from_files: BTreeMap<String, String>,
    /// Tables that were written, whether they hold anything or not; those of an array with their number.
    pub tables: BTreeMap<String, Place>,
}

impl Flat {
    /// Reads TOML.
    ///
    /// # Errors
    /// All places that are not TOML, or keys that are written twice.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1));
        let mut flat = Self {
            file: file.into(),
            text: text.into(),
            lines: Arc::new(starts.collect()),
            leaves: BTreeMap::new(),
            from_files: BTreeMap::new(),
            tables: BTreeMap::new(),
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        let wrong = |e: &toml::de::Error| {
            let place = e.span().map(|s| Place::Text(s.start));
            // A name that stands in single and in double brackets.
            let name = e.span().and_then(|s| text.get(s)).filter(|_| e.message().contains("duplicate"));
            let arrays = name.filter(|name| text.contains(&format!("[[{name}]]")));
            let (reason, remedy) = match arrays {
                Some(name) => {
                    ("stands in single and in double brackets".into(), format!("write [[{name}]] each time"))
                }
                None => (e.message().replace('\n', "; "), "the file must be TOML".into()),
            };
            flat.problem(arrays.unwrap_or_default(), place.as_ref(), reason, remedy)
        };
        let mut problems: Vec<Problem> = errors.iter().map(wrong).collect();
        if problems.is_empty() {
            flat.table("", table.get_ref(), &mut problems);
        }
        if problems.is_empty() { Ok(flat) } else { Err(problems) }
    }

    /// A table without a text, whose values are set from outside.
    pub fn unwritten(name: &str) -> Self {
        Self {
            file: name.into(),
            text: "".into(),
            lines: Arc::default(),
            leaves: BTreeMap::new(),
            from_files: BTreeMap::new(),
            tables: BTreeMap::new(),
        }
    }

    /// Does the matrix, a row or a sweep vary this key?
    pub(crate) fn varies(&self, key: &str) -> bool {
        self.leaves.get(key).is_some_and(|leaf| leaf.place == Place::Over)
            || self.leaves.keys().filter_map(|path| varied(path)).any(|(_, own)| stands_for(own, key))
    }

    /// Does the matrix, a row or a sweep vary a key that begins with this?
    pub(crate) fn varies_below(&self, start: &str) -> bool {
        let own = |(path, leaf): (&String, &Leaf)| match varied(path) {
            Some((_, own)) => own.starts_with(start),
            None => leaf.place == Place::Over && path.starts_with(start),
        };
        self.leaves.iter().any(own)
    }

    /// Where someone looks for a key that is not written itself: where the matrix or a row sets it, or in its table; else the first
    /// line. None if there is no text.
    fn near(&self, key: &str) -> Option<Place> {
        let written = |l: &&Leaf| matches!(l.place, Place::Text(_) | Place::Listed { .. });
        let varies = |path: &str| varied(path).is_some_and(|(_, own)| stands_for(own, key));
        let leaf = |found: &dyn Fn(&str) -> bool| {
            self.leaves.iter().filter(|(path, _)| found(path)).map(|l| l.1).find(written).map(|l| &l.place)
        };
        let (mut part, mut place) = (key, leaf(&|path| path == key || varies(path)));
        while place.is_none() {
            let inside = |path: &str| path.strip_prefix(part).is_some_and(|rest| rest.starts_with('.'));
            place = self.tables.get(part).or_else(|| leaf(&inside));
            let Some((table, _)) = part.rsplit_once('.') else { break };
            part = table;
        }
        place.cloned().or_else(|| (!self.lines.is_empty()).then_some(Place::Text(0)))
    }

    /// The key that the user wrote for this one: that of a file, where a file stands for a list.
    pub(crate) fn written<'k>(&'k self, key: &'k str) -> &'k str {
        self.from_files.get(key).map_or(key, String::as_str)
    }

    fn position(&self, at: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |l| l.chars().count()) + 1;
        Position { line, column }
    }

    /// A problem at a place; where none is known, at the one where the key would be looked for.
    pub fn problem(
        &self,
        key: &str,
        place: Option<&Place>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        let key = self.written(key);
        let mut problem = Problem { key: key.into(), ..Problem::of_file(&self.file, reason, remedy) };
        let near = || self.near(key);
        match place.filter(|p| !matches!(p, Place::Condition | Place::Config)).cloned().or_else(near).as_ref()
        {
            Some(Place::Text(at)) => {
                let position = self.position(*at);
                let start = self.lines.get(position.line - 1).copied().unwrap_or(0);
                problem.excerpt = self.text[start..].lines().next().map(str::to_owned);
                problem.position = Some(position);
            }
            Some(Place::Listed { file, line, column }) => {
                problem.file = file.to_string();
                problem.position = Some(Position { line: *line, column: *column });
            }
            Some(Place::Set) => problem.file = "--set".into(),
            Some(Place::Over) => problem.file = "--over".into(),
            Some(Place::Condition | Place::Config) | None => {}
        }
        problem
    }

    /// A problem with a key's value.
    pub fn at(&self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Problem {
        let table = || self.tables.get(key);
        self.problem(key, self.leaves.get(key).map(|l| &l.place).or_else(table), reason, remedy)
    }

    /// A problem with one item of a key's list; `offset` counts characters from the item's beginning.
    pub fn at_item(
        &self,
        key: &str,
        item: usize,
        offset: usize,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        let Some(leaf) = self.leaves.get(key) else { return self.at(key, reason, remedy) };
        let mut place = leaf.place_of(item);
        if let Place::Listed { column, .. } = &mut place {
            *column += offset;
            return self.problem(key, Some(&place), reason, remedy);
        }
        let reason = match leaf.list && leaf.items.len() > 1 {
            true => format!("entry {}: {}", item + 1, reason.into()),
            false => reason.into(),
        };
        self.problem(key, Some(&place), reason, remedy)
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>, problems: &mut Vec<Problem>) {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            let place = Place::Text(value.span().start);
            match value.get_ref() {
                DeValue::Table(t) => {
                    self.note(&path, place, problems);
                    self.table(&path, t, problems);
                }
                DeValue::Array(a)
                    if !a.is_empty() && a.iter().all(|v| matches!(v.get_ref(), DeValue::Table(_))) =>
                {
                    for (i, v) in a.iter().enumerate() {
                        if let DeValue::Table(t) = v.get_ref() {
                            let path = format!("{path}.{i}");
                            self.note(&path, Place::Text(v.span().start), problems);
                            self.table(&path, t, problems);
                        }
                    }
                }
                DeValue::Array(a) => {
                    let items: Vec<Option<(String, Form)>> = a.iter().map(|v| scalar(v.get_ref())).collect();
                    if let Some(bad) = items.iter().position(Option::is_none) {
                        let at = a.get(bad).map_or(place, |v| Place::Text(v.span().start));
                        let reason = format!("entry {}: a list may hold plain values only", bad + 1);
                        problems.push(self.problem(&path, Some(&at), reason, "write [\"a\", \"b\"]"));
                        continue;
                    }
                    let (items, forms): (Vec<_>, Vec<_>) = items.into_iter().flatten().unzip();
                    let mark = |(form, v): (Form, &toml::Spanned<DeValue<'_>>)| Mark {
                        place: Place::Text(v.span().start),
                        form,
                    };
                    let marks = forms.into_iter().zip(a.iter()).map(mark).collect();
                    let leaf = Leaf { items: Arc::new(items), marks: Arc::new(marks), list: true, place };
                    self.insert(path, leaf, problems);
                }
                other => match scalar(other) {
                    Some((text, form)) => {
                        let marks = Arc::new(vec![Mark { place: place.clone(), form }]);
                        let leaf = Leaf { items: Arc::new(vec![text]), marks, list: false, place };
                        self.insert(path, leaf, problems);
                    }
                    None => problems.push(self.problem(
                        &path,
                        Some(&place),
                        "a date has no meaning here",
                        "write a text",
                    )),
                },
            }
        }
    }

    /// Keeps a value; a key written twice (once in quotes with its dots, once in its table) is a problem.
    fn insert(&mut self, path: String, leaf: Leaf, problems: &mut Vec<Problem>) {
        if self.leaves.contains_key(&path) || self.tables.contains_key(&path) {
            self.twice(&path, &leaf.place, problems);
        }
        self.leaves.insert(path, leaf);
    }

    fn note(&mut self, path: &str, place: Place, problems: &mut Vec<Problem>) {
        if self.leaves.contains_key(path) {
            self.twice(path, &place, problems);
        }
        self.tables.entry(path.into()).or_insert(place);
    }

    fn twice(&self, path: &str, place: &Place, problems: &mut Vec<Problem>) {
        let first = self.leaves.get(path).map(|l| &l.place).or_else(|| self.tables.get(path));
        let line = match first {
            Some(Place::Text(at)) => format!(" (also in line {})", self.position(*at).line),
            _ => String::new(),
        };
        let reason = format!("is written twice{line}: one of them would be ignored");
        problems.push(self.problem(path, Some(place), reason, "write it once"));
    }

    /// Prefixes of the tables of an array, in order: `source.0`, `source.1`.
    pub fn tables(&self, name: &str) -> Vec<String> {
        let start = format!("{name}.");
        let leaves = self.leaves.range(start.clone()..).map(|(k, _)| k);
        let empty = self.tables.range(start.clone()..).map(|(k, _)| k);
        let number = |key: &String| key.strip_prefix(&start)?.split('.').next()?.parse::<usize>().ok();
        let inside = |key: &&String| key.starts_with(&start);
        let mut numbers: Vec<usize> =
            leaves.take_while(inside).chain(empty.take_while(inside)).filter_map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|n| format!("{start}{n}")).collect()
    }

    /// Sets a value from outside the file; a list is written with commas in brackets.
    pub fn set(&mut self, key: &str, text: &str, place: Place) {
        self.leaves.insert(numbered(key, &self.names()), Leaf::set(text, place));
    }

    /// Tables of arrays by their names: `traffic.job` is `traffic.0`, where that has the name `job`. Of two tables with one name, the first.
    fn names(&self) -> BTreeMap<String, String> {
        let name = |(key, leaf): (&String, &Leaf)| {
            let table = key.strip_suffix(".name")?;
            let (kind, n) = table.split_once('.')?;
            Some((n.parse::<usize>().ok()?, format!("{kind}.{}", leaf.items.first()?), table.to_string()))
        };
        let mut all: Vec<_> = self.leaves.iter().filter_map(name).collect();
        all.sort_by_key(|table| std::cmp::Reverse(table.0));
        all.into_iter().map(|(_, name, table)| (name, table)).collect()
    }

    /// Puts the numbers of tables in place of their names: in keys, those of the matrix too, and in the condition.
    pub fn number_tables(&mut self) {
        let names = self.names();
        let renamed: Vec<(String, String)> =
            self.leaves.keys().map(|k| (k.clone(), numbered(k, &names))).collect();
        for (before, now) in renamed.into_iter().filter(|(before, now)| before != now) {
            if let Some(leaf) = self.leaves.remove(&before) {
                self.leaves.insert(now, leaf);
            }
        }
        let Some(leaf) = self.leaves.get("condition").cloned() else { return };
        let clauses =
            |item: &String| item.split(',').map(|c| numbered(c, &names)).collect::<Vec<_>>().join(",");
        let items = leaf.items.iter().map(clauses).collect();
        self.leaves.insert("condition".into(), Leaf { items: Arc::new(items), ..leaf });
    }
}

/// A key with the number of a table in place of its name: `traffic.job.size` is `traffic.0.size`.
fn numbered(key: &str, names: &BTreeMap<String, String>) -> String {
    let named = names.iter().find_map(|(name, table)| {
        let begins = |at: &usize| *at == 0 || key[..*at].ends_with(['.', '{']);
        let at = key.match_indices(name.as_str()).map(|(at, _)| at).find(begins)?;
        let rest = &key[at + name.len()..];
        rest.starts_with('.').then(|| format!("{}{table}{rest}", &key[..at]))
    });
    named.unwrap_or_else(|| key.into())
}

fn scalar(value: &DeValue<'_>) -> Option<(String, Form)> {
    match value {
        DeValue::String(s) => Some((s.to_string(), Form::Text)),
        DeValue::Integer(i) => {
            let value =
                i128::from_str_radix(i.as_str(), i.radix()).map_or_else(|_| i.to_string(), |v| v.to_string());
            Some((value, Form::Number))
        }
        DeValue::Float(x) => Some((x.to_string(), Form::Number)),
        DeValue::Boolean(b) => Some((if *b { "on" } else { "off" }.into(), Form::Boolean)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_there_once() {
        let twice = "\"topology.hosts\" = 20\n[topology]\nhosts = 4\n";
        let problems = Flat::parse("f", twice).unwrap_err();
        assert!(problems[0].to_string().contains("is written twice (also in line"), "{}", problems[0]);
        assert_eq!(Flat::parse("f", "\u{feff}a = 0x10\n").unwrap().leaves["a"].items[0], "16");
    }
}
