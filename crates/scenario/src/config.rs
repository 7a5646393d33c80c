//! The configuration of a run, read by keys.

use crate::tables::{hotspot, transport};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Keys that name a run and do not change its results.
pub const LABELS: [&str; 3] = ["study", "name", "condition"];

/// All that determines a run but the seed and the code: the values of keys as texts or lists of texts, and `scheme` with its name
/// and every parameter. Whether a file holds such a configuration is found out when it is run again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Config(pub Value);

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

    /// Are lost frames sent again?
    pub fn sends_again(&self) -> bool {
        self.text(transport::KIND).is_some_and(|kind| kind != "none")
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
    pub fn essence(&self) -> Value {
        let mut all = self.0.clone();
        if let Some(all) = all.as_object_mut() {
            LABELS.iter().for_each(|label| drop(all.remove(*label)));
        }
        all
    }
}

impl From<Value> for Config {
    fn from(value: Value) -> Self {
        Self(value)
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
