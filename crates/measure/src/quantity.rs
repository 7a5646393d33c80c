//! Quantities values by their metrics' ids.

use cnsim_scenario::metrics::{Id, find};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A number with six significant digits.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.5e}");
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = (5 - exponent).clamp(0, 17) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// A value and its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The measured value.
    pub value: f64,
    /// Only where the value is a lower bound, as flows were not received whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Unit of the value.
    pub unit: Cow<'static, str>,
}

/// The measured values of a run, or of its traffic of a name, by their metrics' ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quantities(pub BTreeMap<String, Quantity>);

impl Quantities {
    /// The value of a metric; none if it was not measured.
    pub fn get(&self, id: impl AsRef<str>) -> Option<f64> {
        self.0.get(id.as_ref()).map(|q| q.value)
    }

    /// Is the value of a metric a lower bound?
    pub fn at_least(&self, id: impl AsRef<str>) -> bool {
        self.0.get(id.as_ref()).is_some_and(|q| q.at_least)
    }

    /// The values alone.
    pub fn values(&self) -> BTreeMap<String, f64> {
        self.0.iter().map(|(id, q)| (id.clone(), q.value)).collect()
    }

    /// The metrics whose values are lower bounds.
    pub fn bounds(&self) -> Vec<String> {
        self.0.iter().filter(|(_, q)| q.at_least).map(|(id, _)| id.clone()).collect()
    }

    /// Sets the value of a metric.
    pub fn insert(&mut self, id: impl AsRef<str>, value: f64) {
        let id = id.as_ref();
        let unit = find(id).map_or("", |m| m.unit).into();
        self.0.insert(id.into(), Quantity { value, at_least: false, unit });
    }
}

impl std::ops::Index<&str> for Quantities {
    type Output = f64;

    fn index(&self, id: &str) -> &f64 {
        &self.0[id].value
    }
}

impl<'a> FromIterator<(&'a str, f64)> for Quantities {
    fn from_iter<I: IntoIterator<Item = (&'a str, f64)>>(values: I) -> Self {
        let mut all = Self::default();
        values.into_iter().for_each(|(id, value)| all.insert(id, value));
        all
    }
}

impl FromIterator<(Id, f64, bool)> for Quantities {
    fn from_iter<I: IntoIterator<Item = (Id, f64, bool)>>(values: I) -> Self {
        let quantity = |(id, value, at_least): (Id, f64, bool)| {
            // An empty sum is -0, which reads as a fall below zero.
            (id.text().to_string(), Quantity { value: value + 0.0, at_least, unit: id.row().unit.into() })
        };
        Self(values.into_iter().map(quantity).collect())
    }
}

impl<const N: usize> From<[(&str, f64); N]> for Quantities {
    fn from(values: [(&str, f64); N]) -> Self {
        values.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_minus_zero() {
        let empty: f64 = std::iter::empty::<f64>().sum();
        assert!(empty.is_sign_negative(), "the premise");
        let all: Quantities = [(Id::VictimTime, empty, false)].into_iter().collect();
        assert!(all["victim_time"].is_sign_positive());
    }

    #[test]
    fn six_digits() {
        for (v, t) in [
            (62.79, "62.79"),
            (0.517, "0.517"),
            (214_569.0, "214569"),
            (1.0 / 3.0, "0.333333"),
            (1e-7, "0.0000001"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (12_345_678.0, "12345678"),
        ] {
            assert_eq!(digits(v), t);
        }
    }
}
