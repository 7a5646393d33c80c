//! Two-way condition templates: `hotspot {hotspot.rate}` formats the values of a matrix row, and a published row finds
//! its run by being parsed. Comma-separated clauses may be left out of a published row: they then mean the default.

use cnsim_units::{Bytes, Rate, Time};

/// A template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    clauses: Vec<Clause>,
}

/// Literal text before, the key, literal text after; no key in a fixed clause.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    before: String,
    key: Option<String>,
    after: String,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// The reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        let clauses = text.split(',').map(|clause| {
            let clause = clause.trim();
            let Some((before, rest)) = clause.split_once('{') else {
                return Ok(Clause { before: clause.into(), key: None, after: String::new() });
            };
            let (key, after) =
                rest.split_once('}').ok_or_else(|| format!("`{clause}` has `{{` without `}}`"))?;
            if after.contains('{') {
                return Err(format!("`{clause}` has two keys; separate them by a comma"));
            }
            Ok(Clause { before: before.into(), key: Some(key.trim().into()), after: after.into() })
        });
        Ok(Self { clauses: clauses.collect::<Result<_, _>>()? })
    }

    /// Keys that it names.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().filter_map(|c| c.key.as_deref())
    }

    /// Writes a condition; quantities in their standard form.
    pub fn format(&self, value: &dyn Fn(&str) -> String) -> String {
        let clause = |c: &Clause| match &c.key {
            Some(key) => format!("{}{}{}", c.before, canonical(&value(key)), c.after),
            None => c.before.clone(),
        };
        self.clauses.iter().map(clause).collect::<Vec<_>>().join(", ")
    }

    /// Reads a condition back: (key, value) of the clauses that it has. None if it has a clause that the template lacks.
    pub fn parse_text(&self, text: &str) -> Option<Vec<(String, String)>> {
        let mut values = Vec::new();
        let mut left = self.clauses.iter();
        for part in text.split(',').map(str::trim) {
            let found = left.find_map(|c| match &c.key {
                None => (c.before == part).then_some(None),
                Some(key) => {
                    let value = part.strip_prefix(c.before.as_str())?.strip_suffix(c.after.as_str())?.trim();
                    let known =
                        canonical(value) != value || quantity(value).is_some() || !value.contains(' ');
                    (!value.is_empty() && known).then(|| Some((key.clone(), canonical(value))))
                }
            })?;
            values.extend(found);
        }
        Some(values)
    }
}

/// The standard form of a quantity.
fn quantity(text: &str) -> Option<String> {
    let rate = text.parse::<Rate>().map(|r| r.to_string());
    let time = || text.parse::<Time>().map(|t| t.to_string());
    let bytes = || text.parse::<Bytes>().map(|b| b.to_string());
    rate.or_else(|_| time()).or_else(|_| bytes()).ok()
}

/// Quantities in standard form, anything else as it is.
pub fn canonical(text: &str) -> String {
    quantity(text).unwrap_or_else(|| text.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let t = Template::parse("hotspot {hotspot.rate}").unwrap();
        assert_eq!(t.format(&|_| "500 Mb/s".into()), "hotspot 0.5 Gb/s");
        assert_eq!(t.parse_text("hotspot 0.50 Gb/s").unwrap(), [("hotspot.rate".into(), "0.5 Gb/s".into())]);
        assert_eq!(t.parse_text("hotspot 1 Gb/s").unwrap(), [("hotspot.rate".into(), "1 Gb/s".into())]);
        assert_eq!(t.parse_text("congestion 25 ms on/off"), None);
        let t = Template::parse("service rate {f}, RTT {rtt}, output-queue limit {oq}").unwrap();
        let v = t.parse_text("service rate 10%, output-queue limit 600 KB").unwrap();
        assert_eq!(v, [("f".into(), "10%".into()), ("oq".into(), "600 KB".into())]);
        assert!(Template::parse("a {b").is_err());
    }
}
