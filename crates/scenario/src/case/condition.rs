//! Two-way condition templates: `hotspot {hotspot.rate}` formats the values of a matrix row, and a published row finds
//! its run by being parsed. Clauses are separated by commas:
//!
//! | clause | written | read |
//! |---|---|---|
//! | `sampling rate 1%` | always | sets nothing |
//! | `hotspot {hotspot.rate}` | with the value | sets the key |
//! | `RTT {host.feedback_delay}?` | unless the value is the scenario's own | sets the key |
//! | `HAI{scheme.params.hai=linear}` | if the key has this value | sets it |
//!
//! A clause left out of a published row means the scenario's own value. Where a flag clause and a value clause name the
//! same key, the value clause is written only when the flag's is not.

use cnsim_units::{Bytes, Rate, Time};

/// A template by which conditions are written and read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    clauses: Vec<Clause>,
}

/// Literal text before, the key (with the value of a flag), literal text after; no key in a fixed clause.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    before: String,
    key: Option<String>,
    flag: Option<String>,
    after: String,
    optional: bool,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// The reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        let clauses = text.split(',').map(|clause| {
            let clause = clause.trim();
            let (body, optional) = clause.strip_suffix('?').map_or((clause, false), |c| (c, true));
            let Some((before, rest)) = body.split_once('{') else {
                let before = body.to_string();
                return Ok(Clause { before, key: None, flag: None, after: String::new(), optional: false });
            };
            let (key, after) =
                rest.split_once('}').ok_or_else(|| format!("`{clause}` has `{{` without `}}`"))?;
            if after.contains('{') {
                return Err(format!("`{clause}` has two keys; separate them by a comma"));
            }
            let (key, flag) = key.split_once('=').map_or((key, None), |(k, v)| (k, Some(canonical(v))));
            if flag.is_some() && before.trim().is_empty() && after.trim().is_empty() {
                return Err(format!("the clause `{clause}` of the condition writes no text"));
            }
            Ok(Clause {
                before: before.into(),
                key: Some(key.trim().into()),
                flag,
                after: after.into(),
                optional,
            })
        });
        Ok(Self { clauses: clauses.collect::<Result<_, _>>()? })
    }

    /// A template that writes this text and no other.
    pub fn literal(text: &str) -> Self {
        let clause = |part: &str| Clause {
            before: part.trim().into(),
            key: None,
            flag: None,
            after: String::new(),
            optional: false,
        };
        Self { clauses: text.split(',').map(clause).collect() }
    }

    /// Keys that the template contains.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().filter_map(|c| c.key.as_deref())
    }

    /// Writes a condition; quantities in their standard form. `own` gives the scenario's own value of a key.
    pub fn format(&self, value: &dyn Fn(&str) -> String, own: &dyn Fn(&str) -> String) -> String {
        let flagged = |key: &str, now: &str| {
            self.clauses.iter().any(|c| c.key.as_deref() == Some(key) && c.flag.as_deref() == Some(now))
        };
        let clause = |c: &Clause| {
            let Some(key) = &c.key else { return Some(c.before.clone()) };
            let now = canonical(&value(key));
            match &c.flag {
                Some(flag) => (now == *flag).then(|| format!("{}{}", c.before, c.after)),
                None if flagged(key, &now) || (c.optional && now == canonical(&own(key))) => None,
                None => Some(format!("{}{now}{}", c.before, c.after)),
            }
        };
        // A scheme that lacks the parameter named has no value to write.
        let parts = self.clauses.iter().filter_map(clause).map(|part| part.trim().to_string());
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Reads a condition back: (key, value) of the clauses that it has. None if it has a clause that the template lacks.
    pub fn parse_text(&self, text: &str) -> Option<Vec<(String, String)>> {
        let mut values = Vec::new();
        let mut left = self.clauses.iter();
        for part in text.split(',').map(str::trim) {
            let found = left.find_map(|c| match (&c.key, &c.flag) {
                (None, _) => (c.before == part).then_some(None),
                (Some(key), Some(flag)) => {
                    (part == format!("{}{}", c.before, c.after)).then(|| Some((key.clone(), flag.clone())))
                }
                (Some(key), None) => {
                    let value = part.strip_prefix(c.before.as_str())?.strip_suffix(c.after.as_str())?.trim();
                    let share = value.strip_suffix('%').is_some_and(|n| n.trim().parse::<f64>().is_ok());
                    let known = share || quantity(value).is_some() || !value.contains(' ');
                    (!value.is_empty() && known).then(|| Some((key.clone(), canonical(value))))
                }
            })?;
            values.extend(found);
        }
        Some(values)
    }
}

/// The standard form of a quantity.
pub(crate) fn quantity(text: &str) -> Option<String> {
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
        assert_eq!(t.format(&|_| "500 Mb/s".into(), &|_| String::new()), "hotspot 0.5 Gb/s");
        assert_eq!(t.parse_text("hotspot 0.50 Gb/s").unwrap(), [("hotspot.rate".into(), "0.5 Gb/s".into())]);
        assert_eq!(t.parse_text("hotspot 1 Gb/s").unwrap(), [("hotspot.rate".into(), "1 Gb/s".into())]);
        assert_eq!(t.parse_text("congestion 25 ms on/off"), None);
        assert_eq!(t.parse_text("hotspot of two hosts"), None, "several words are no value");
        assert_eq!(t.parse_text("hotspot 25 %").unwrap(), [("hotspot.rate".into(), "25 %".into())]);
        let t = Template::parse("service rate {f}, RTT {rtt}, output-queue limit {oq}").unwrap();
        let v = t.parse_text("service rate 10%, output-queue limit 600 KB").unwrap();
        assert_eq!(v, [("f".into(), "10%".into()), ("oq".into(), "600 KB".into())]);
        // Where there is no value, no space is left behind it: the condition reads back as it was written.
        let bare = Template::parse("rate {f}").unwrap().format(&|_| String::new(), &|_| String::new());
        assert_eq!(
            (bare.as_str(), Template::literal(&bare).format(&|_| String::new(), &|_| String::new())),
            ("rate", "rate".into())
        );
        assert!(Template::parse("a {b").is_err());
        assert!(Template::parse("{b=1}").is_err());
    }

    #[test]
    fn flags_and_optional_clauses() {
        let t =
            Template::parse("rate {f}, RTT {rtt}?, output-queue limit {oq}, no output-queue limit{oq=off}")
                .unwrap();
        let write = |rtt: &str, oq: &str| {
            t.format(
                &|k| {
                    if k == "rtt" {
                        rtt.into()
                    } else if k == "oq" {
                        oq.into()
                    } else {
                        "10%".into()
                    }
                },
                &|_| "0 us".into(),
            )
        };
        assert_eq!(write("0 us", "off"), "rate 10%, no output-queue limit");
        assert_eq!(write("10 us", "600 KB"), "rate 10%, RTT 10 us, output-queue limit 600 KB");
        let read = |text: &str| t.parse_text(text).unwrap();
        assert_eq!(
            read("rate 10%, no output-queue limit"),
            [("f".into(), "10%".into()), ("oq".into(), "off".into())]
        );
        assert_eq!(read("rate 5%, RTT 0 us, output-queue limit 1 MB").len(), 3);
        assert_eq!(t.parse_text("rate 5%, HAI"), None);
    }
}
