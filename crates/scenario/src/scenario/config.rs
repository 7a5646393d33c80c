//! The configuration of a run: read by keys, and written so that it reads back as the same scenario.
//!
//! It holds the keys that were read when the case was made ready, and no other: a key without effect is no part of a run.
//! Values are texts as in a scenario file, lists are arrays of texts; `scheme` holds the name and every parameter.

use super::{Case, Group, Scenario};
use crate::case::condition::Template;
use crate::file::checks::{idle, known_keys};
use crate::file::keys::{TABLES, find};
use crate::language::reader::default_items;
use crate::language::text::{Flat, Leaf, Place};
use crate::settings::Settings;
use crate::tables::{class, head, hotspot, pause, transport};
use cnsim_fabric::MOST_CLASSES;
use cnsim_problem::Problem;
use cnsim_scheme_api::Registry;
use cnsim_scheme_api::registry::Configured;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Keys that name a run and do not change its results.
pub const LABELS: [&str; 3] = [head::STUDY.path, head::NAME.path, head::CONDITION.path];

/// All that determines a run but the seed and the code: the values of keys as texts or lists of texts, and `scheme` with its name
/// and every parameter. Whether a file holds such a configuration is found out when it is run again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Config(pub Arc<Value>);

impl Config {
    /// The keys with their values; `scheme` is one of them.
    pub fn keys(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.as_object().into_iter().flatten()
    }

    /// The value of a key, or of a parameter of the scheme by `scheme.params.NAME`; none if the run does not depend on it.
    pub fn value(&self, key: impl AsRef<str>) -> Option<&Value> {
        let key = key.as_ref();
        match key.strip_prefix("scheme.params.") {
            Some(name) => self.0["scheme"]["params"].get(name),
            None => self.0.get(key),
        }
    }

    /// The text of such a value; none for a list.
    pub fn text(&self, key: impl AsRef<str>) -> Option<&str> {
        self.value(key)?.as_str()
    }

    /// A key's value as a quantity; none for a word or a list.
    pub fn read<T: FromStr>(&self, key: impl AsRef<str>) -> Option<T> {
        self.text(key)?.parse().ok()
    }

    /// Registered name of the scheme.
    pub fn scheme(&self) -> &str {
        self.0["scheme"]["name"].as_str().unwrap_or_default()
    }

    /// Are lost frames sent again, and not, in one of its classes each?
    pub fn sends_again(&self) -> (bool, bool) {
        let of_run = self.text(transport::KIND).unwrap_or("none");
        let tables = (0..MOST_CLASSES).map(|n| format!("class.{n}"));
        let mut kinds: Vec<&str> = tables
            .filter(|table| self.value(class::NAME.of(table).path).is_some())
            .map(|table| {
                self.text(class::TRANSPORT.of(&table).path).filter(|kind| *kind != "run").unwrap_or(of_run)
            })
            .collect();
        if kinds.is_empty() {
            kinds.push(of_run);
        }
        (kinds.iter().any(|kind| *kind != "none"), kinds.contains(&"none"))
    }

    /// Is a port slow for a part of the run?
    pub fn has_hotspot(&self) -> bool {
        self.value(hotspot::HOST).is_some_and(|host| host != "off")
    }

    /// All values by their keys as texts, labels and the name of the scheme among them.
    pub fn leaves(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for (key, value) in self.keys() {
            match value {
                Value::Object(scheme) => {
                    all.extend(scheme.get("name").map(|name| ("scheme.name".to_string(), text(name))));
                    let params = scheme.get("params").and_then(Value::as_object).into_iter().flatten();
                    all.extend(params.map(|(name, value)| (format!("scheme.params.{name}"), text(value))));
                }
                value => drop(all.insert(key.clone(), text(value))),
            }
        }
        all
    }

    /// The configuration without labels and the scheme's name: the settings in which runs of a case can differ.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut all = self.leaves();
        all.retain(|key, _| key != "scheme.name" && !LABELS.contains(&key.as_str()));
        all
    }

    /// The part that determines the run: all but the labels.
    pub fn essence(&self) -> BTreeMap<&String, &Value> {
        self.keys().filter(|(key, _)| !LABELS.contains(&key.as_str())).collect()
    }
}

impl From<Value> for Config {
    fn from(value: Value) -> Self {
        Self(value.into())
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value as it would be written in a scenario, without quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Writes the configuration of a case. `above`: keys of the scheme that sets windows above the case's, with their values.
pub(super) fn write(
    flat: &Flat,
    case: &Case,
    settings: &mut Settings,
    (built, above): (&Configured, &[(String, String)]),
) -> Config {
    let mut config = Map::new();
    let word = |key: &str| flat.leaves.get(key).and_then(|l| l.items.first().cloned());
    let [study, name, condition] = LABELS;
    config.insert(study.into(), json!(word(study).unwrap_or_else(|| default(study).into())));
    config.insert(name.into(), json!(word(name)));
    config.insert(condition.into(), json!(case.id.condition));
    for key in std::mem::take(&mut settings.keys) {
        let table = key.split_once('.').is_some_and(|(t, _)| TABLES.contains(&t));
        let value = match flat.leaves.get(&key) {
            Some(l) if l.list => json!(*l.items),
            Some(l) => json!(l.items.first().map(|text| text.trim())),
            None if table => continue,
            None if default(&key).starts_with('[') => json!(default_items(default(&key))),
            None => json!(default(&key)),
        };
        if idle(flat, &key).is_none_or(|idle| idle.read && flat.leaves.contains_key(&key)) {
            config.insert(key, value);
        }
    }
    config.extend(above.iter().map(|(key, value)| (key.clone(), json!(value))));
    let params: Map<String, Value> = built.values.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    config.insert("scheme".into(), json!({"name": case.id.scheme, "params": params}));
    Value::Object(config).into()
}

fn default(key: &str) -> &'static str {
    find(key).map_or("", |k| k.default)
}

/// A text or a list of texts.
fn leaf(value: &Value) -> Option<Leaf> {
    let place = Place::Config;
    match value {
        Value::String(text) => {
            Some(Leaf { items: Arc::new(vec![text.clone()]), marks: Arc::default(), list: false, place })
        }
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(|v| v.as_str().map(String::from)).collect();
            Some(Leaf { items: Arc::new(items?), marks: Arc::default(), list: true, place })
        }
        _ => None,
    }
}

impl Scenario {
    /// The scenario of one case that a configuration describes, with the schemes of this registry, and that case.
    ///
    /// # Errors
    /// Everything in it that is not a key with a text or a list of texts, that nobody reads, or that has no effect.
    pub fn from_config(registry: &Registry, config: &Config) -> Result<(Self, Case), Vec<Problem>> {
        let mut flat = Flat::unwritten("config");
        let mut problems = Vec::new();
        let wrong = |flat: &Flat, key: &str, reason: &str| {
            flat.problem(key, None, reason, "only what cnsim has written can be run again")
        };
        let Some(all) = config.0.as_object() else {
            return Err(vec![wrong(&flat, "", "the configuration is not an object")]);
        };
        let Some(scheme) = registry.find(config.scheme()) else {
            return Err(vec![wrong(&flat, "scheme", "names no scheme that this program has")]);
        };
        for (key, value) in all.iter().filter(|(k, _)| *k != "scheme") {
            match leaf(value) {
                Some(leaf) => drop(flat.leaves.insert(key.clone(), leaf)),
                None => problems.push(wrong(&flat, key, "neither a text nor a list of texts")),
            }
        }
        let part = &config.0["scheme"];
        if part.as_object().is_some_and(|o| o.keys().any(|k| k != "name" && k != "params")) {
            problems.push(wrong(&flat, "scheme", "holds more than name and params"));
        }
        for (key, value) in part["params"].as_object().into_iter().flatten() {
            let path = format!("scheme.{}.{key}", scheme.name);
            match leaf(value).filter(|l| !l.list) {
                None => problems.push(wrong(&flat, &path, "not a text")),
                Some(l) => drop(flat.leaves.insert(path, l)),
            }
        }
        known_keys(&flat, registry, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let word = |key: &str| {
            let own = flat.leaves.get(key).and_then(|l| l.items.first().cloned());
            own.unwrap_or_else(|| default(key).into())
        };
        let ([study, name, condition], pause) = (LABELS.map(word), word(pause::MODE.path));
        let scenario = Self {
            study,
            name,
            title: String::new(),
            question: String::new(),
            source: String::new(),
            seeds: 1,
            groups: vec![Group {
                template: Template::literal(&condition),
                rows: vec![Vec::new()],
                pauses: vec![pause.clone()],
                schemes: vec![scheme.name.clone()],
                seeds: None,
            }],
            figures: Vec::new(),
            flat,
            registry: registry.clone(),
        };
        let case = scenario.case(0, Vec::new(), &pause, &scheme.name);
        Ok((scenario, case))
    }
}
