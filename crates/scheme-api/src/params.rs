//! Parameters, declared once: value, unit, default, range, the paper's symbol and the doc text come from one place, and
//! scenario files, `cnsim describe`, the JSON Schema and the docs table are made from it.

use cnsim_units::{Bytes, Rate, Time};
use std::fmt;

/// What is known about one parameter.
#[derive(Clone, Debug)]
pub struct ParamInfo {
    /// Key in `scheme.params`.
    pub key: &'static str,
    /// Symbol in the paper.
    pub symbol: &'static str,
    /// Meaning, one sentence.
    pub doc: &'static str,
    /// Kind of value: `rate`, `bytes`, `time`, `number`, `integer`, `on/off`, `choice`.
    pub kind: &'static str,
    /// Default, as it would be written.
    pub default: String,
    /// Allowed range or choices, in words.
    pub range: String,
}

/// A value refused: which key, why, what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Key in `scheme.params`.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What would be right.
    pub remedy: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.key, self.reason, self.remedy)
    }
}

impl std::error::Error for ParamError {}

/// A set of parameters that can be listed, read and set by key.
pub trait Params {
    /// All parameters with their defaults.
    fn info() -> Vec<ParamInfo>
    where
        Self: Sized;
    /// Sets one from its text; unknown keys, wrong units and values out of range are refused.
    ///
    /// # Errors
    /// Names the key, the reason and the remedy.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError>;
    /// All present values as text, in order.
    fn values(&self) -> Vec<(&'static str, String)>;
}

/// A type that a parameter can have.
pub trait ParamValue: Sized + Clone {
    /// Kind, for [`ParamInfo::kind`].
    const KIND: &'static str;
    /// May it be `off` besides its values?
    const OPTIONAL: bool = false;
    /// Reads the text of a value.
    ///
    /// # Errors
    /// (reason, remedy).
    fn parse(text: &str) -> Result<Self, (String, String)>;
    /// Writes it so that [`ParamValue::parse`] reads it back.
    fn show(&self) -> String;
    /// Its size as a plain number, for range checks (0 for choices).
    fn magnitude(&self) -> f64;
    /// Choices, for choice-like kinds.
    fn choices() -> Option<String> {
        None
    }
}

macro_rules! unit_value {
    ($t:ty, $kind:literal, $mag:expr) => {
        impl ParamValue for $t {
            const KIND: &'static str = $kind;
            fn parse(text: &str) -> Result<Self, (String, String)> {
                text.parse::<$t>()
                    .map_err(|e| (e.reason.to_string(), format!("write for example {}", e.example)))
            }
            fn show(&self) -> String {
                self.to_string()
            }
            fn magnitude(&self) -> f64 {
                let f: fn(&$t) -> f64 = $mag;
                f(self)
            }
        }
    };
}
unit_value!(Rate, "rate", |r| r.bps());
unit_value!(Bytes, "bytes", |b| b.get() as f64);
unit_value!(Time, "time", |t| t.as_secs_f64());

impl ParamValue for f64 {
    const KIND: &'static str = "number";
    fn parse(text: &str) -> Result<Self, (String, String)> {
        let t = text.trim();
        let value = match (t.strip_suffix('%'), t.split_once('/')) {
            (Some(percent), _) => percent.trim_end().parse::<f64>().ok().map(|v| v / 100.0),
            (None, Some((a, b))) => match (a.trim().parse::<f64>(), b.trim().parse::<f64>()) {
                (Ok(a), Ok(b)) if b != 0.0 => Some(a / b),
                _ => None,
            },
            (None, None) => t.parse::<f64>().ok(),
        };
        value.filter(|v| v.is_finite()).ok_or_else(|| {
            (format!("`{text}` is not a number"), "write a finite number such as 0.5, 1/128 or 10%".into())
        })
    }
    fn show(&self) -> String {
        let size = self.abs();
        if size >= 1e15 || (size < 1e-6 && size > 0.0) { format!("{self:e}") } else { format!("{self}") }
    }
    fn magnitude(&self) -> f64 {
        *self
    }
}

impl ParamValue for u32 {
    const KIND: &'static str = "integer";
    fn parse(text: &str) -> Result<Self, (String, String)> {
        text.trim()
            .parse()
            .map_err(|_| (format!("`{text}` is not a whole number"), "write a whole number such as 5".into()))
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn magnitude(&self) -> f64 {
        f64::from(*self)
    }
}

impl ParamValue for bool {
    const KIND: &'static str = "on/off";
    fn parse(text: &str) -> Result<Self, (String, String)> {
        match text.trim() {
            "on" | "true" => Ok(true),
            "off" | "false" => Ok(false),
            _ => Err((format!("`{text}` is neither on nor off"), "write on or off".into())),
        }
    }
    fn show(&self) -> String {
        if *self { "on".into() } else { "off".into() }
    }
    fn magnitude(&self) -> f64 {
        0.0
    }
    fn choices() -> Option<String> {
        Some("on | off".into())
    }
}

/// An optional value: `off` is none.
impl<T: ParamValue> ParamValue for Option<T> {
    const KIND: &'static str = T::KIND;
    const OPTIONAL: bool = true;
    fn parse(text: &str) -> Result<Self, (String, String)> {
        if text.trim() == "off" { Ok(None) } else { T::parse(text).map(Some) }
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "off".into(), ParamValue::show)
    }
    fn magnitude(&self) -> f64 {
        self.as_ref().map_or(f64::NAN, ParamValue::magnitude)
    }
    fn choices() -> Option<String> {
        Some("off, or a value".into())
    }
}

/// Checks a range; `None` bounds are open. Used by [`crate::params!`].
///
/// # Errors
/// Names the key and the range.
pub fn check_range<T: ParamValue>(
    key: &str,
    value: &T,
    low: Option<&T>,
    high: Option<&T>,
) -> Result<(), ParamError> {
    let m = value.magnitude();
    let below = low.is_some_and(|l| m < l.magnitude());
    let above = high.is_some_and(|h| m > h.magnitude());
    if below || above {
        return Err(ParamError {
            key: key.into(),
            reason: format!("{} is out of range", value.show()),
            remedy: format!("allowed: {}", range_text(low, high)),
        });
    }
    Ok(())
}

/// A range in words.
pub fn range_text<T: ParamValue>(low: Option<&T>, high: Option<&T>) -> String {
    let off = if T::OPTIONAL { "off, or " } else { "" };
    match (low, high) {
        (Some(l), Some(h)) => format!("{off}{} to {}", l.show(), h.show()),
        (Some(l), None) => format!("{off}at least {}", l.show()),
        (None, Some(h)) => format!("{off}at most {}", h.show()),
        (None, None) => T::choices().unwrap_or_else(|| "any".into()),
    }
}

/// Declares a parameter struct:
///
/// ```
/// use cnsim_scheme_api::{Bytes, Params, params};
/// params! {
///     /// Parameters of an example.
///     pub struct Example {
///         /// Set point of the queue.
///         q_eq: Bytes = Bytes::from_kb(24), symbol "Q_eq", from Bytes::new(64), to Bytes::from_mb(10);
///         /// Weight of the queue derivative.
///         w: f64 = 2.0, symbol "W", from 0.0, to 1024.0;
///         /// Hyperactive increase.
///         hai: bool = false, symbol "HAI";
///     }
/// }
/// let mut p = Example::default();
/// p.set("q_eq", "26 KB").unwrap();
/// assert_eq!(p.q_eq, Bytes::new(26_000));
/// assert!(p.set("w", "2000").unwrap_err().remedy.contains("1024"));
/// assert!(p.set("qeq", "1 KB").unwrap_err().remedy.contains("q_eq"));
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( #[doc = $doc:expr] $(#[doc = $more:expr])* $key:ident : $t:ty = $default:expr, symbol $symbol:literal
               $(, from $low:expr)? $(, to $high:expr)? ; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $( #[doc = $doc] $(#[doc = $more])* pub $key: $t, )* }

        impl Default for $name {
            fn default() -> Self { Self { $( $key: $default, )* } }
        }

        impl $crate::Params for $name {
            fn info() -> Vec<$crate::ParamInfo> {
                vec![ $( {
                    let low: Option<$t> = $crate::params!(@opt $($low)?);
                    let high: Option<$t> = $crate::params!(@opt $($high)?);
                    let default: $t = $default;
                    $crate::ParamInfo {
                        key: stringify!($key),
                        symbol: $symbol,
                        doc: concat!($doc $(, $more)*).trim_ascii(),
                        kind: <$t as $crate::ParamValue>::KIND,
                        default: $crate::ParamValue::show(&default),
                        range: $crate::params::range_text(low.as_ref(), high.as_ref()),
                    }
                }, )* ]
            }

            fn set(&mut self, key: &str, text: &str) -> Result<(), $crate::ParamError> {
                match key {
                    $( stringify!($key) => {
                        let value = <$t as $crate::ParamValue>::parse(text).map_err(|(reason, remedy)| {
                            $crate::ParamError { key: key.into(), reason, remedy }
                        })?;
                        let low: Option<$t> = $crate::params!(@opt $($low)?);
                        let high: Option<$t> = $crate::params!(@opt $($high)?);
                        $crate::params::check_range(key, &value, low.as_ref(), high.as_ref())?;
                        self.$key = value;
                        Ok(())
                    } )*
                    _ => Err($crate::params::unknown(key, &[ $( stringify!($key), )* ])),
                }
            }

            fn values(&self) -> Vec<(&'static str, String)> {
                vec![ $( (stringify!($key), $crate::ParamValue::show(&self.$key)), )* ]
            }
        }
    };
    (@opt) => { None };
    (@opt $e:expr) => { Some($e) };
}

/// The error for an unknown key, with the nearest known ones.
pub fn unknown(key: &str, known: &[&str]) -> ParamError {
    let near = known.iter().min_by_key(|k| distance(key, k)).filter(|k| distance(key, k) <= 3);
    let list = if known.is_empty() {
        "this scheme has none".to_string()
    } else {
        format!("known: {}", known.join(", "))
    };
    ParamError {
        key: key.into(),
        reason: "unknown parameter".into(),
        remedy: near.map_or_else(|| list.clone(), |n| format!("did you mean `{n}`? ({list})")),
    }
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let next = (diagonal + usize::from(ca != *cb)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

/// Declares a choice: an enum whose variants have names in scenario files.
///
/// ```
/// use cnsim_scheme_api::{ParamValue, choice};
/// choice! {
///     /// How frames are sampled.
///     pub enum Sampling {
///         /// After a number of bytes.
///         Bytes = "bytes",
///         /// Each frame with a probability.
///         Packet = "packet",
///     }
/// }
/// assert_eq!(Sampling::parse("packet"), Ok(Sampling::Packet));
/// assert!(Sampling::parse("x").unwrap_err().1.contains("bytes | packet"));
/// ```
#[macro_export]
macro_rules! choice {
    ( $(#[$meta:meta])* $vis:vis enum $name:ident { $( $(#[$vmeta:meta])* $variant:ident = $text:literal, )* } ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $( $(#[$vmeta])* $variant, )* }

        impl $crate::ParamValue for $name {
            const KIND: &'static str = "choice";
            fn parse(text: &str) -> Result<Self, (String, String)> {
                match text.trim() {
                    $( $text => Ok(Self::$variant), )*
                    _ => Err((format!("`{text}` is not one of the choices"), format!("write one of {}", [ $( $text, )* ].join(" | ")))),
                }
            }
            fn show(&self) -> String {
                match self { $( Self::$variant => $text.into(), )* }
            }
            fn magnitude(&self) -> f64 { 0.0 }
            fn choices() -> Option<String> { Some([ $( $text, )* ].join(" | ")) }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_fractions_or_percent() {
        for (text, value) in [("0.1", 0.1), ("1/8", 0.125), ("10%", 0.1), ("1 %", 0.01), ("-5e-1", -0.5)] {
            assert_eq!(f64::parse(text), Ok(value), "{text}");
        }
        for value in [1e300, -1e15, 1e-9, 0.0, 2.666_666_667e-4, 123_456.789] {
            assert_eq!(f64::parse(&value.show()), Ok(value), "{}", value.show());
            assert!(value.show().len() < 20, "{}", value.show());
        }
        assert!(["", "%", "1/0", "1/2%", "inf", "nan%"].iter().all(|t| f64::parse(t).is_err()));
    }
}
