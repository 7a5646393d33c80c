//! Texts made from the table of keys: the template of a scenario, and the JSON Schema.

use crate::file::keys::{KEYS, Key, MATRIX, Only, TABLES, find, table, words};
use crate::language::kinds::Kind;
use crate::tables::head;
use cnsim_problem::any_of;
use cnsim_scheme_api::registry::PRESET;
use cnsim_scheme_api::{ParamInfo, Registry};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A scenario to start from: every key with its meaning and default.
pub fn template(name: &str) -> String {
    let mut out = format!(
        "# Question: (what do you want to know?)\n# Run it:   cnsim run {name}.toml\n# Check it: cnsim check {name}.toml\n"
    );
    let mut section = "";
    for k in KEYS {
        let (table, leaf) = k.path.rsplit_once('.').unwrap_or(("", k.path));
        if table != section && !TABLES.contains(&table) {
            let _ = write!(out, "\n[{table}]\n");
            section = table;
        }
        if TABLES.contains(&table) {
            continue;
        }
        let value = match k.path {
            path if path == head::NAME.path => name.to_string(),
            _ => k.sample.unwrap_or(k.default).to_string(),
        };
        let bare = matches!(k.kind, Kind::Integer(..)) || value.starts_with('[');
        let quoted = if bare { value.clone() } else { format!("{value:?}") };
        // Keys that need another setting than the default's are shown as comments.
        let idle = is_idle(k) || matches!(value.as_str(), "[]" | "off" | "end" | "auto");
        explained(
            &mut out,
            &format!("{}{leaf} = {quoted}", if idle { "# " } else { "" }),
            &format!("{} ({})", k.doc, k.kind),
        );
    }
    out.push_str("\n[matrix]\n\"hotspot.rate\" = [\"2 Gb/s\", \"0.5 Gb/s\"]    # rows: any key, a list of values\npause = [\"on\"]\nschemes = [\"none\", \"qcn-2pt\", \"ecm\"]\n\n# Parameters of the schemes that know them: cnsim explain ecm\n# [scheme.params]\n# q_eq = \"24 KB\"\n");
    out
}

/// Does the key need another setting than that of the scenario to start from?
fn is_idle(key: &Key) -> bool {
    let other = key.only.key().and_then(find);
    other.is_some_and(|o| is_idle(o) || !key.only.admits(o.sample.unwrap_or(o.default)))
}

/// Columns of a scenario to start from.
const COLUMNS: usize = 80;

/// Writes a line with its meaning: behind it if there is room, else above on lines that begin with `#:`.
fn explained(out: &mut String, line: &str, about: &str) {
    if line.chars().count() + "    # ".len() + about.chars().count() <= COLUMNS {
        let _ = writeln!(out, "{line}    # {about}");
        return;
    }
    let mut comment = String::from("#:");
    for word in about.split(' ') {
        if comment.chars().count() + 1 + word.chars().count() > COLUMNS {
            let _ = writeln!(out, "{comment}");
            comment = "#:".into();
        }
        comment = format!("{comment} {word}");
    }
    let _ = writeln!(out, "{comment}\n{line}");
}

/// JSON Schema of scenarios (draft 2020-12). Bounds of quantities, which are texts with a unit, are `x-minimum` and `x-maximum`.
pub fn schema(registry: &Registry) -> Value {
    let mut root = Map::new();
    for k in KEYS {
        let mut at = &mut root;
        let mut parts: Vec<&str> = k.path.split('.').collect();
        let leaf = parts.pop().unwrap_or(k.path);
        for part in parts {
            let table = at.entry(part).or_insert_with(
                || json!({"type": "object", "additionalProperties": false, "properties": {}}),
            );
            match table.get_mut("properties").and_then(Value::as_object_mut) {
                Some(next) => at = next,
                None => return Value::Null,
            }
        }
        at.insert(leaf.into(), entry(k));
    }
    // Arrays of tables, some with the keys of another table, too.
    for name in TABLES {
        if let Some(mut one) = root.remove(*name) {
            let shared = table(name).and_then(|t| t.shares);
            let keys = KEYS.iter().filter(|k| Some(k.parts().0) == shared && !k.unshared);
            if let Some(o) = one.get_mut("properties").and_then(Value::as_object_mut) {
                for k in keys {
                    o.entry(k.parts().1).or_insert_with(|| entry(k));
                }
            }
            root.insert((*name).into(), json!({"type": "array", "items": one}));
        }
    }
    root.insert("scheme".into(), schemes(registry));
    let varied: Map<String, Value> = KEYS
        .iter()
        .filter(|k| !k.path.starts_with("figure."))
        .map(|k| (k.path.into(), one_or_more(k.kind.schema())))
        .collect();
    let matrix = || {
        let mut of: Map<String, Value> = MATRIX.iter().map(|k| (k.path.into(), entry(k))).collect();
        of.extend(varied.clone());
        json!({"type": "object", "properties": of, "patternProperties": {"^(scheme|traffic|event|fault|group)\\.": {}}})
    };
    root.insert("matrix".into(), matrix());
    root.insert("rows".into(), json!({"type": "array", "items": matrix()}));
    let assumptions: Map<String, Value> = crate::file::assumptions::ASSUMPTIONS
        .iter()
        .map(|a| (a.name.into(), json!({"description": format!("stands for {}: {}", a.key, a.about)})))
        .collect();
    root.insert(
        "assumptions".into(),
        json!({"type": "object", "additionalProperties": false, "properties": assumptions}),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cnsim scenario",
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": root,
    })
}

/// Entry of a key: that of its kind, with meaning, default and condition.
fn entry(k: &Key) -> Value {
    let mut entry = k.kind.schema();
    if let Value::Object(o) = &mut entry {
        let only = match k.only {
            Only::Always => String::new(),
            Only::With(key, _) => format!(" (only where {key} is {})", any_of(&words(&k.only))),
            Only::Unless(key, value) => format!(" (not where {key} is {value})"),
        };
        o.insert("description".into(), json!(format!("{}{only}", k.doc)));
        if !k.default.is_empty() {
            o.insert("default".into(), json!(k.default));
        }
    }
    entry
}

/// A value, or a list of values.
fn one_or_more(one: Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
}

/// Bounds of a parameter as a validator knows them: of numbers, and the words of a choice. Those of quantities with a unit are
/// `x-minimum` and `x-maximum`.
fn bounds(entry: &mut Map<String, Value>, info: &ParamInfo) {
    let number = |text: &Option<String>| text.as_ref().and_then(|t| t.parse::<f64>().ok());
    if matches!(info.kind.as_str(), "number" | "integer") {
        number(&info.range.low).iter().for_each(|low| drop(entry.insert("minimum".into(), json!(low))));
        number(&info.range.high).iter().for_each(|high| drop(entry.insert("maximum".into(), json!(high))));
    }
    if !info.range.choices.is_empty() {
        // A word that is a number may stand without quotes; so may what TOML has for on and off.
        let bare = info.range.choices.iter().filter_map(|w| match w.as_str() {
            "on" => Some(json!(true)),
            "off" => Some(json!(false)),
            _ => w.parse::<u64>().ok().map(|n| json!(n)),
        });
        let words: Vec<Value> = info.range.choices.iter().map(|w| json!(w)).chain(bare).collect();
        entry.insert("enum".into(), json!(words));
    }
}

/// `[scheme.params]`, and `[scheme.NAME]` of each scheme.
fn schemes(registry: &Registry) -> Value {
    let mut tables = Map::new();
    let mut shared = Map::new();
    for scheme in registry.iter() {
        let mut own = Map::new();
        for info in &scheme.params {
            let mut value = json!({"description": format!("{} ({}; {})", info.doc, info.kind, info.range)});
            if let Value::Object(o) = &mut value {
                o.insert("default".into(), json!(info.default));
                o.insert("type".into(), json!(["string", "number", "boolean"]));
                info.range.low.iter().for_each(|low| drop(o.insert("x-minimum".into(), json!(low))));
                info.range.high.iter().for_each(|high| drop(o.insert("x-maximum".into(), json!(high))));
                bounds(o, info);
            }
            // Of all schemes: what one reads as a factor another reads as a rate.
            shared.entry(info.key.clone()).or_insert_with(|| json!({"description": info.doc}));
            own.insert(info.key.clone(), value);
        }
        if !scheme.presets.is_empty() {
            let names: Vec<&str> = scheme.presets.iter().map(|p| p.name).collect();
            let about = "settings that fit the rate of the hosts' links; what is set beside it goes before";
            own.insert(PRESET.into(), json!({"description": about, "enum": names}));
            shared.entry(PRESET.to_string()).or_insert_with(|| json!({"description": about}));
        }
        let table = json!({"type": "object", "additionalProperties": false, "properties": own});
        tables.insert(scheme.name.clone(), table);
    }
    tables.insert(
        "params".into(),
        json!({"type": "object", "additionalProperties": false, "properties": shared}),
    );
    json!({"type": "object", "properties": tables})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key stands in the schema with its bounds.
    #[test]
    fn the_schema_has_every_bound() {
        let schema = schema(&cnsim_schemes::registry());
        for k in KEYS {
            let mut at = &schema["properties"];
            let mut parts = k.path.split('.').peekable();
            while let Some(part) = parts.next() {
                at = &at[part];
                if at["type"] == "array" && parts.peek().is_some() {
                    at = &at["items"];
                }
                if parts.peek().is_some() {
                    at = &at["properties"];
                }
            }
            assert!(at["description"].is_string(), "{}", k.path);
            let text = at.to_string();
            let bounds: Vec<String> = match k.kind {
                Kind::Integer(low, high) => vec![format!("\"minimum\":{low}"), format!("\"maximum\":{high}")],
                Kind::Rate(low, high) => vec![low.to_string(), high.to_string()],
                Kind::Time(low, high) => vec![low.to_string(), high.to_string()],
                Kind::Bytes(low, high) => vec![low.to_string(), high.to_string()],
                Kind::Choice(words) => words.iter().map(|w| format!("\"{w}\"")).collect(),
                _ => Vec::new(),
            };
            assert!(bounds.iter().all(|b| text.contains(b.as_str())), "{}: {text}", k.path);
        }
    }

    /// The schema has the bounds of every parameter of every scheme.
    #[test]
    fn the_schema_has_every_bound_of_a_scheme() {
        let registry = cnsim_schemes::registry();
        let schema = schema(&registry);
        let (mut numbers, mut choices) = (0, 0);
        for scheme in registry.iter() {
            for info in &scheme.params {
                let entry =
                    &schema["properties"]["scheme"]["properties"][&scheme.name]["properties"][&info.key];
                let bound = |key: &str| entry[key].as_str().map(str::to_string);
                assert_eq!(
                    (bound("x-minimum"), bound("x-maximum")),
                    (info.range.low.clone(), info.range.high.clone())
                );
                if matches!(info.kind.as_str(), "number" | "integer") && info.range.low.is_some() {
                    assert!(entry["minimum"].is_number() && entry["maximum"].is_number(), "{entry}");
                    numbers += 1;
                }
                for word in &info.range.choices {
                    assert!(entry["enum"].as_array().is_some_and(|e| e.contains(&json!(word))), "{entry}");
                    choices += 1;
                }
            }
        }
        assert!(numbers > 50 && choices > 50, "{numbers} {choices}");
    }
}
