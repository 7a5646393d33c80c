//! Parameters, declared once: value, unit, default, range, the paper's symbol and the doc text come from one place, and
//! scenario files, `cnsim explain`, the JSON Schema and the docs table are made from it.

use cnsim_units::{Bytes, Rate, Time};
use std::fmt;

/// The description of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// The parameter's key in `scheme.params`.
    pub key: String,
    /// The parameter's symbol in the publication; empty where it has none.
    pub symbol: String,
    /// The parameter's meaning in one sentence.
    pub doc: String,
    /// Kind of value: `rate`, `bytes`, `time`, `number`, `integer`, `on/off`, `choice`, or `list of` one of these.
    pub kind: String,
    /// The default value, as it would be written.
    pub default: String,
    /// The values that the parameter may have.
    pub range: Range,
}

/// The values that a parameter may have; its [`fmt::Display`] gives them in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// May it be `off` besides its values?
    pub optional: bool,
    /// Smallest value, as it would be written; none where nothing limits it.
    pub low: Option<String>,
    /// Largest value, as it would be written; none where nothing limits it.
    pub high: Option<String>,
    /// The words to choose among; empty for numbers and quantities.
    pub choices: Vec<String>,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.choices.is_empty() {
            return write!(f, "{}", self.choices.join(" | "));
        }
        let off = if self.optional { "off, or " } else { "" };
        match (&self.low, &self.high) {
            (Some(l), Some(h)) => write!(f, "{off}{l} to {h}"),
            (Some(l), None) => write!(f, "{off}at least {l}"),
            (None, Some(h)) => write!(f, "{off}at most {h}"),
            (None, None) => write!(f, "{off}any"),
        }
    }
}

/// A value refused: which key, why, what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Key in `scheme.params` whose value was refused; empty where it is no single one.
    pub key: String,
    /// The mistake in the value.
    pub reason: String,
    /// A value that would be right.
    pub remedy: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.key.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}; {}", self.key, self.reason, self.remedy)
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
    /// Type of a bound of the range: the type itself, or that of a list's items.
    type Bound: ParamValue;
    /// Kind, for [`ParamInfo::kind`].
    const KIND: &'static str;
    /// May it be `off` besides its values?
    const OPTIONAL: bool = false;
    /// The kind of value in words, `list of` included.
    fn kind() -> String {
        Self::KIND.into()
    }
    /// Reads the text of a value.
    ///
    /// # Errors
    /// (reason, remedy).
    fn parse(text: &str) -> Result<Self, (String, String)>;
    /// Writes the value so that [`ParamValue::parse`] reads it back.
    fn show(&self) -> String;
    /// The value as plain numbers, for range checks: one for each item of a list, none for a choice or for `off`.
    fn sizes(&self) -> Vec<f64>;
    /// The words to choose among; empty for numbers and quantities.
    fn choices() -> Vec<&'static str> {
        Vec::new()
    }
}

macro_rules! unit_value {
    ($t:ty, $kind:literal, $mag:expr) => {
        impl ParamValue for $t {
            type Bound = Self;
            const KIND: &'static str = $kind;
            fn parse(text: &str) -> Result<Self, (String, String)> {
                text.parse::<$t>()
                    .map_err(|e| (e.reason.to_string(), format!("write for example {}", e.example)))
            }
            fn show(&self) -> String {
                self.to_string()
            }
            fn sizes(&self) -> Vec<f64> {
                let f: fn(&$t) -> f64 = $mag;
                vec![f(self)]
            }
        }
    };
}
unit_value!(Rate, "rate", |r| r.bps());
unit_value!(Bytes, "bytes", |b| b.get() as f64);
unit_value!(Time, "time", |t| t.as_secs_f64());

impl ParamValue for f64 {
    type Bound = Self;
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
    fn sizes(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl ParamValue for u32 {
    type Bound = Self;
    const KIND: &'static str = "integer";
    fn parse(text: &str) -> Result<Self, (String, String)> {
        text.trim()
            .parse()
            .map_err(|_| (format!("`{text}` is not a whole number"), "write a whole number such as 5".into()))
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn sizes(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}

impl ParamValue for bool {
    type Bound = Self;
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
    fn sizes(&self) -> Vec<f64> {
        Vec::new()
    }
    fn choices() -> Vec<&'static str> {
        vec!["on", "off"]
    }
}

/// An optional value: `off` is none.
impl<T: ParamValue> ParamValue for Option<T> {
    type Bound = Self;
    const KIND: &'static str = T::KIND;
    const OPTIONAL: bool = true;
    fn kind() -> String {
        T::kind()
    }
    fn parse(text: &str) -> Result<Self, (String, String)> {
        if text.trim() == "off" { Ok(None) } else { T::parse(text).map(Some) }
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "off".into(), ParamValue::show)
    }
    fn sizes(&self) -> Vec<f64> {
        self.as_ref().map(ParamValue::sizes).unwrap_or_default()
    }
    fn choices() -> Vec<&'static str> {
        let some = T::choices();
        if some.is_empty() { some } else { some.into_iter().chain(["off"]).collect() }
    }
}

/// A list of at least one value, separated by commas or semicolons; the bounds of its range are those of each item.
impl<T: ParamValue> ParamValue for Vec<T> {
    type Bound = T;
    const KIND: &'static str = T::KIND;
    fn kind() -> String {
        format!("list of {}", T::kind())
    }
    fn parse(text: &str) -> Result<Self, (String, String)> {
        text.split([',', ';']).map(|item| T::parse(item.trim())).collect()
    }
    fn show(&self) -> String {
        self.iter().map(ParamValue::show).collect::<Vec<_>>().join("; ")
    }
    fn sizes(&self) -> Vec<f64> {
        self.iter().flat_map(ParamValue::sizes).collect()
    }
    fn choices() -> Vec<&'static str> {
        T::choices()
    }
}

/// Checks a range; `None` bounds are open. Used by [`crate::params!`].
///
/// # Errors
/// Names the key and the range.
pub fn check_range<T: ParamValue>(
    key: &str,
    value: &T,
    low: Option<&T::Bound>,
    high: Option<&T::Bound>,
) -> Result<(), ParamError> {
    let size = |bound: Option<&T::Bound>| bound.and_then(|b| b.sizes().first().copied());
    let (least, most) = (size(low), size(high));
    let inside = |size: &f64| least.is_none_or(|l| *size >= l) && most.is_none_or(|h| *size <= h);
    if value.sizes().iter().all(inside) {
        return Ok(());
    }
    Err(ParamError {
        key: key.into(),
        reason: format!("{} is out of range", value.show()),
        remedy: format!("allowed: {}", range::<T>(low, high)),
    })
}

/// The range between two bounds, either of which may be open.
pub fn range<T: ParamValue>(low: Option<&T::Bound>, high: Option<&T::Bound>) -> Range {
    Range {
        optional: T::OPTIONAL,
        low: low.map(ParamValue::show),
        high: high.map(ParamValue::show),
        choices: T::choices().into_iter().map(String::from).collect(),
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
///         /// Weights of the flows, in turn.
///         weights: Vec<f64> = vec![1.0], symbol "w_i", from 0.1, to 100.0;
///     }
/// }
/// let mut p = Example::default();
/// p.set("q_eq", "26 KB").unwrap();
/// assert_eq!(p.q_eq, Bytes::new(26_000));
/// p.set("weights", "1, 2, 4").unwrap();
/// assert_eq!(p.weights, [1.0, 2.0, 4.0]);
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
                    let low: Option<<$t as $crate::ParamValue>::Bound> = $crate::params!(@opt $($low)?);
                    let high: Option<<$t as $crate::ParamValue>::Bound> = $crate::params!(@opt $($high)?);
                    let default: $t = $default;
                    $crate::ParamInfo {
                        key: stringify!($key).into(),
                        symbol: $symbol.into(),
                        doc: concat!($doc $(, $more)*).trim_ascii().into(),
                        kind: <$t as $crate::ParamValue>::kind(),
                        default: $crate::ParamValue::show(&default),
                        range: $crate::params::range::<$t>(low.as_ref(), high.as_ref()),
                    }
                }, )* ]
            }

            fn set(&mut self, key: &str, text: &str) -> Result<(), $crate::ParamError> {
                // A struct without fields reads nothing.
                let _ = text;
                match key {
                    $( stringify!($key) => {
                        let value = <$t as $crate::ParamValue>::parse(text).map_err(|(reason, remedy)| {
                            $crate::ParamError { key: key.into(), reason, remedy }
                        })?;
                        let low: Option<<$t as $crate::ParamValue>::Bound> = $crate::params!(@opt $($low)?);
                        let high: Option<<$t as $crate::ParamValue>::Bound> = $crate::params!(@opt $($high)?);
                        $crate::params::check_range::<$t>(key, &value, low.as_ref(), high.as_ref())?;
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
            type Bound = Self;
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
            fn sizes(&self) -> Vec<f64> { Vec::new() }
            fn choices() -> Vec<&'static str> { vec![ $( $text, )* ] }
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

    crate::params! {
        /// Of every kind.
        struct Mixed {
            /// A list.
            list: Vec<Time> = vec![Time::from_us(1)], symbol "", from Time::from_us(1), to Time::from_ms(1);
            /// An option.
            maybe: Option<f64> = None, symbol "", from Some(1.0), to Some(2.0);
            /// A choice.
            flag: bool = false, symbol "";
        }
    }

    #[test]
    fn lists_and_options_keep_their_ranges() {
        let mut p = Mixed::default();
        p.set("list", "2 us, 30us; 1 ms").unwrap();
        assert_eq!(p.list, [Time::from_us(2), Time::from_us(30), Time::from_ms(1)]);
        let shown = p.values()[0].1.clone();
        p.set("list", &shown).unwrap();
        assert_eq!(p.values()[0].1, shown);
        for (key, text) in
            [("list", "2 us, 2 ms"), ("list", ""), ("list", "1 us,"), ("maybe", "3"), ("flag", "1")]
        {
            assert!(p.set(key, text).is_err(), "{key} = {text}");
        }
        assert_eq!(p.list.len(), 3, "what is refused changes nothing");
        for text in ["off", "1.5"] {
            p.set("maybe", text).unwrap();
            assert_eq!(p.values()[1].1, text);
        }
        let said: Vec<String> = Mixed::info().iter().map(|i| format!("{}: {}", i.kind, i.range)).collect();
        assert_eq!(said, ["list of time: 1 us to 1 ms", "number: off, or 1 to 2", "on/off: on | off"]);
    }
}
