//! Kinds of values that a key can have: each owns its parser, its bounds, and its part of the JSON Schema.

use cnsim_problem::{any_of, nearest, obeyed};
use cnsim_units::{Bytes, Rate, Time, UnitError};
use serde_json::{Value as Json, json};
use std::fmt;

/// Kind of a key's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A text of at most so many characters.
    Text(usize),
    /// A name of at most so many characters: letters, digits, `-`, `_` and `.`, a letter or digit first.
    Name(usize),
    /// A rate between two bounds.
    Rate(Rate, Rate),
    /// A rate between these, or a share of the link: `10%`.
    RateOrShare(Rate, Rate),
    /// A time between two bounds.
    Time(Time, Time),
    /// An amount of bytes between two bounds.
    Bytes(Bytes, Bytes),
    /// 0 % to 100 %.
    Percent,
    /// A whole number between two bounds.
    Integer(u64, u64),
    /// One of these words: those of a [`Choice`].
    Choice(&'static [&'static str]),
    /// Name of a host.
    Host,
    /// An output port: `X>E5`.
    Port,
    /// A flow: `H1>H5`.
    Flow,
    /// A line with several words that the key's reader takes apart.
    Line,
    /// Path of a file.
    File,
    /// Name of a scheme; the registry checks that it exists.
    Scheme,
    /// One word, or a value of another kind.
    Or(&'static str, &'static Kind),
    /// Values of one kind; a single one may stand without brackets.
    List(&'static Kind),
}

/// A value that its kind has read.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The word of [`Kind::Or`].
    Word,
    /// Text, name, choice or line.
    Text(String),
    /// Rate.
    Rate(Rate),
    /// Time.
    Time(Time),
    /// Bytes.
    Bytes(Bytes),
    /// Percentage, 1 for 100 %.
    Share(f64),
    /// Whole number.
    Integer(u64),
}

/// The reason why a text is no value of a kind, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The fault.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl Wrong {
    fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into() }
    }
}

/// Characters of a line of a list at most.
const LINE: usize = 400;

impl Kind {
    /// Reads a text; quantities and numbers must lie between the bounds.
    ///
    /// # Errors
    /// Reason and remedy.
    pub fn read(&self, text: &str) -> Result<Value, Wrong> {
        let plain = |most: usize| match text.chars().find(|c| obeyed(*c) && !matches!(c, '\n' | '\t')) {
            Some(c) => Err(Wrong::new(
                format!("has the control character {}", c.escape_unicode()),
                "write printable characters",
            )),
            None if text.chars().count() > most => Err(Wrong::new(
                format!("has {} characters", text.chars().count()),
                format!("use at most {most}"),
            )),
            None => Ok(Value::Text(text.into())),
        };
        match *self {
            Self::Text(most) => plain(most),
            Self::Line | Self::Host | Self::Port | Self::Flow | Self::Scheme => plain(LINE),
            Self::File => plain(4096),
            Self::Name(most) => {
                plain(most)?;
                is_name(text).map(|()| Value::Text(text.into()))
            }
            Self::Rate(low, high) => quantity(text, low, high, rate_as_meant).map(Value::Rate),
            Self::RateOrShare(low, high) => match text.trim_end().ends_with('%') {
                true => share(text).map(Value::Share),
                false => quantity(text, low, high, rate_as_meant).map(Value::Rate),
            },
            Self::Time(low, high) => quantity(text, low, high, time_as_meant).map(Value::Time),
            Self::Bytes(low, high) => quantity(text, low, high, bytes_as_meant).map(Value::Bytes),
            Self::Percent => share(text).map(Value::Share),
            Self::Integer(low, high) => match text.replace('_', "").parse::<u64>() {
                Ok(v) if (low..=high).contains(&v) => Ok(Value::Integer(v)),
                Ok(v) => Err(Wrong::new(format!("{v} is out of range"), format!("allowed: {low} to {high}"))),
                Err(_) => Err(Wrong::new(
                    format!("`{text}` is not a whole number"),
                    format!("write a number from {low} to {high}"),
                )),
            },
            Self::Choice(words) => chosen(text, words).map(|()| Value::Text(text.into())),
            Self::Or(word, _) if text == word => Ok(Value::Word),
            Self::Or(word, kind) => kind.read(text).map_err(|w| {
                let remedy = format!("{}, or \"{word}\"", w.remedy);
                Wrong { remedy: if w.remedy.ends_with('?') { w.remedy } else { remedy }, ..w }
            }),
            Self::List(kind) => kind.read(text),
        }
    }

    /// Kind of a list's items; none for single values.
    pub fn items(&self) -> Option<&'static Kind> {
        match self {
            Self::List(kind) => Some(kind),
            Self::Or(_, kind) => kind.items(),
            _ => None,
        }
    }

    /// May a value be written as a number, without quotes?
    pub fn takes_numbers(&self) -> bool {
        match self {
            Self::Or(_, kind) | Self::List(kind) => kind.takes_numbers(),
            Self::Text(_) | Self::Name(_) | Self::File => false,
            // Quantities without a unit are refused with a better word; names of hosts may be numbers.
            _ => true,
        }
    }

    /// May a value be written as `true` or `false`?
    pub fn takes_booleans(&self) -> bool {
        match self {
            Self::Choice(words) => words.contains(&"on") && words.contains(&"off"),
            Self::Or(_, kind) | Self::List(kind) => kind.takes_booleans(),
            _ => false,
        }
    }

    /// Words of a choice, of its items or of its alternative.
    pub fn choices(&self) -> &'static [&'static str] {
        match self {
            Self::Choice(words) => words,
            Self::Or(_, kind) | Self::List(kind) => kind.choices(),
            _ => &[],
        }
    }

    /// JSON Schema of a value, with its bounds.
    pub fn schema(&self) -> Json {
        const RATE: &str = r"[0-9.eE+-]+\s*[kKmMgGtT]?(b|B|bit)(/s|ps)";
        const TIME: &str = r"[0-9.eE+-]+\s*(ps|ns|us|µs|ms|s)";
        const BYTES: &str = r"[0-9.eE+-]+\s*(([kKmMgG]i?)?B|pages?)";
        const PERCENT: &str = r"[0-9.eE+-]+\s*%";
        let unit = |pattern: &str, low: String, high: String| json!({"type": "string", "pattern": format!(r"^\s*{pattern}\s*$"), "x-minimum": low, "x-maximum": high});
        match *self {
            Self::Text(most) => json!({"type": "string", "maxLength": most}),
            Self::Name(most) => {
                json!({"type": "string", "minLength": 1, "maxLength": most, "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"})
            }
            Self::Rate(low, high) => unit(RATE, low.to_string(), high.to_string()),
            Self::RateOrShare(low, high) => {
                json!({"anyOf": [Self::Rate(low, high).schema(), Self::Percent.schema()]})
            }
            Self::Time(low, high) => unit(TIME, low.to_string(), high.to_string()),
            Self::Bytes(low, high) => unit(BYTES, low.to_string(), high.to_string()),
            Self::Percent => unit(PERCENT, "0 %".into(), "100 %".into()),
            Self::Integer(low, high) => json!({"type": "integer", "minimum": low, "maximum": high}),
            Self::Choice(["on", "off"]) => json!({"enum": ["on", "off", true, false]}),
            Self::Choice(words) => json!({"enum": words}),
            Self::Host | Self::Line | Self::Scheme => json!({"type": "string", "maxLength": LINE}),
            Self::Port | Self::Flow => json!({"type": "string", "maxLength": LINE, "pattern": ".>."}),
            Self::File => json!({"type": "string", "maxLength": 4096}),
            Self::Or(word, kind) => json!({"anyOf": [{"const": word}, kind.schema()]}),
            Self::List(kind) => {
                let one = kind.schema();
                json!({"anyOf": [one, {"type": "array", "items": one}]})
            }
        }
    }
}

/// In words: `rate, 1 Mb/s to 10 Tb/s`, `on | off`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => write!(f, "text"),
            Self::Name(_) => write!(f, "name"),
            Self::Rate(low, high) => write!(f, "rate, {low} to {high}"),
            Self::RateOrShare(low, high) => write!(f, "rate, {low} to {high}, or a share of the link"),
            Self::Time(low, high) => write!(f, "time, {low} to {high}"),
            Self::Bytes(low, high) => write!(f, "bytes, {low} to {high}"),
            Self::Percent => write!(f, "0 % to 100 %"),
            Self::Integer(low, high) => write!(f, "integer, {low} to {high}"),
            Self::Choice(words) => write!(f, "{}", words.join(" | ")),
            Self::Host => write!(f, "host"),
            Self::Port => write!(f, "port"),
            Self::Flow => write!(f, "flow"),
            Self::Line => write!(f, "text"),
            Self::File => write!(f, "file"),
            Self::Scheme => write!(f, "scheme"),
            Self::Or(word, kind) => write!(f, "{word} | {kind}"),
            Self::List(kind) => write!(f, "list of: {kind}"),
        }
    }
}

/// A closed set of words, each of which stands for a variant of a type.
pub trait Choice: Copy + Sized + 'static {
    /// The words.
    const WORDS: &'static [&'static str];
    /// Values of these words, in the same order.
    const ALL: &'static [Self];

    /// The word of a variant.
    fn word(&self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::ALL.iter().position(|one| one == self).map_or("", |i| Self::WORDS[i])
    }

    /// The variant of a word.
    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().position(|w| *w == word).and_then(|i| Self::ALL.get(i)).copied()
    }
}

/// Gives the variants of a type the words by which scenarios name them. `Option<T> or "off"` has a further word, for none.
macro_rules! words {
    (Option<$name:ident> or $none:literal { $($variant:ident = $word:literal,)* }) => {
        impl Choice for Option<$name> {
            const WORDS: &'static [&'static str] = &[$none, $($word),*];
            const ALL: &'static [Self] = &[None, $(Some($name::$variant)),*];
        }
        const _: fn($name) = |value| match value { $($name::$variant => (),)* };
    };
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal,)* })*) => {$(
        $(#[$meta])*
        impl Choice for $name {
            const WORDS: &'static [&'static str] = &[$($word),*];
            const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
        // A variant without a word does not compile.
        const _: fn($name) = |value| match value { $($name::$variant => (),)* };
    )*};
}

/// Declares a type and the words by which scenarios name its variants.
macro_rules! choices {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* #[doc = concat!("`", $word, "`")] $variant,)* }
        words! { $name { $($variant = $word,)* } }
        /// The first one.
        impl Default for $name {
            fn default() -> Self {
                Self::ALL[0]
            }
        }
    )*};
}

pub(crate) use {choices, words};

choices! {
    /// Values of keys that are on or off.
    Switched { On = "on", Off = "off", }
    /// Forms of files that keys name.
    FileForm { Lines = "lines", Hpcc = "hpcc", Htsim = "htsim", }
}

fn quantity<T>(text: &str, low: T, high: T, meant: fn(&str) -> Vec<String>) -> Result<T, Wrong>
where
    T: std::str::FromStr<Err = UnitError> + PartialOrd + Copy + fmt::Display,
{
    match text.parse::<T>() {
        Ok(v) if v >= low && v <= high => Ok(v),
        Ok(v) => Err(Wrong::new(format!("{v} is out of range"), format!("allowed: {low} to {high}"))),
        Err(e) => {
            let mut meant: Vec<(T, String)> = meant(text.trim())
                .into_iter()
                .filter_map(|m| Some((m.parse().ok()?, format!("\"{m}\""))))
                .collect();
            if meant.len() > 1 {
                meant.retain(|(v, _)| *v >= low && *v <= high);
            }
            let meant: Vec<String> = meant.into_iter().map(|m| m.1).collect();
            let remedy = match &meant[..] {
                [] => format!("write for example \"{}\"", e.example),
                some => format!("did you mean {}?", any_of(some)),
            };
            Err(Wrong::new(format!("`{text}`: {}", e.reason), remedy))
        }
    }
}

/// A number and the text behind it.
fn parted(text: &str) -> Option<(&str, String)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (!number.is_empty()).then(|| (number, rest.trim().to_ascii_lowercase()))
}

/// Rates that a text may stand for: `100G`, `100 Gb`, a bare `10`.
fn rate_as_meant(text: &str) -> Vec<String> {
    let Some((number, rest)) = parted(text) else { return Vec::new() };
    let prefix = match rest.as_str() {
        "" | "g" | "gb" | "gbit" | "gig" | "gbe" => "G",
        "m" | "mb" | "mbit" | "meg" => "M",
        "k" | "kb" | "kbit" => "k",
        "t" | "tb" | "tbit" => "T",
        _ => return Vec::new(),
    };
    vec![format!("{number} {prefix}b/s")]
}

/// Times that a text may stand for: `4u`, `4 usec`, a bare `4` in any unit.
fn time_as_meant(text: &str) -> Vec<String> {
    let Some((number, rest)) = parted(text) else { return Vec::new() };
    let unit = match rest.as_str() {
        "u" | "usec" | "usecs" | "microseconds" => "us",
        "m" | "msec" | "msecs" | "milliseconds" => "ms",
        // As well one as the other.
        "" => return ["ns", "us", "ms", "s"].map(|unit| format!("{number} {unit}")).into(),
        "n" | "nsec" | "nsecs" | "nanoseconds" => "ns",
        "sec" | "secs" | "seconds" | "second" => "s",
        _ => return Vec::new(),
    };
    vec![format!("{number} {unit}")]
}

/// Bytes that a text may stand for: a bare `1500`, `150k`.
fn bytes_as_meant(text: &str) -> Vec<String> {
    let Some((number, rest)) = parted(text) else { return Vec::new() };
    let unit = match rest.as_str() {
        "" | "b" | "byte" | "bytes" | "octets" => "B",
        "k" | "kb" => "KB",
        "m" | "mb" => "MB",
        "g" | "gb" => "GB",
        _ => return Vec::new(),
    };
    vec![format!("{number} {unit}")]
}

/// A percentage.
fn share(text: &str) -> Result<f64, Wrong> {
    let number = text.trim().strip_suffix('%').map(str::trim);
    match number.and_then(|t| t.parse::<f64>().ok()) {
        Some(v) if (0.0..=100.0).contains(&v) => Ok(v / 100.0),
        Some(v) => Err(Wrong::new(format!("{v} % is out of range"), "allowed: 0 % to 100 %")),
        None => {
            let bare = text.trim().parse::<f64>().ok().filter(|v| (0.0..=100.0).contains(v));
            let meant = bare.map(|v| if v <= 1.0 { v * 100.0 } else { v });
            let remedy = match meant {
                Some(v) => format!("did you mean \"{v} %\"?"),
                None => "write for example \"85 %\"".into(),
            };
            Err(Wrong::new(format!("`{text}` is not a percentage"), remedy))
        }
    }
}

fn chosen(text: &str, words: &[&str]) -> Result<(), Wrong> {
    if words.contains(&text) {
        return Ok(());
    }
    let near = nearest(text, words.iter().copied());
    let near = near.map_or_else(String::new, |n| format!("did you mean \"{n}\"? "));
    Err(Wrong::new(format!("`{text}` is not a choice"), format!("{near}choose one of {}", any_of(words))))
}

/// Letters, digits, `-`, `_` and `.`, a letter or digit first.
pub(crate) fn is_name(text: &str) -> Result<(), Wrong> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(allowed)
        && !text.contains("..")
    {
        return Ok(());
    }
    let reason = if text.is_empty() { "is empty".into() } else { format!("`{text}` is not a name") };
    Err(Wrong::new(reason, "use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_said() {
        let rate = Kind::Rate(Rate::from_mbps(1.0), Rate::from_gbps(1600.0));
        let time = Kind::Time(Time::ZERO, Time::from_s(1));
        let bytes = Kind::Bytes(Bytes::new(64), Bytes::new(9216));
        let remedy = |kind: &Kind, text: &str| kind.read(text).unwrap_err().remedy;
        assert_eq!(remedy(&rate, "100G"), "did you mean \"100 Gb/s\"?");
        assert_eq!(remedy(&bytes, "1500"), "did you mean \"1500 B\"?");
        assert_eq!(remedy(&time, "4 usec"), "did you mean \"4 us\"?");
        assert_eq!(remedy(&time, "5"), "did you mean \"5 ns\", \"5 us\" or \"5 ms\"?");
        assert_eq!(remedy(&Kind::Percent, "0.5"), "did you mean \"50 %\"?");
        assert_eq!(rate.read("100Gbps"), Ok(Value::Rate(Rate::from_gbps(100.0))));
        assert_eq!(time.read("4us"), Ok(Value::Time(Time::from_us(4))));
        assert!(remedy(&Kind::Choice(&["on", "off", "global"]), "pfc").starts_with("choose one of on, "));
        assert!(!remedy(&Kind::Choice(&["on", "off", "global"]), "pfc").contains("mean"));
    }

    #[test]
    fn bounds_hold() {
        const SPAN: Kind = Kind::Time(Time::from_us(1), Time::from_s(1));
        let time = Kind::Or("off", &SPAN);
        assert_eq!(time.read("off"), Ok(Value::Word));
        assert!(time.read("2 s").unwrap_err().remedy.contains("1 us to 1 s, or \"off\""));
        assert!(time.read("never").is_err());
        assert!(Kind::Percent.read("nan %").is_err());
        for bad in ["../../escaped", "", "-a", "a b", "a/b", "a..b", "\u{1b}[31m", "ä"] {
            assert!(Kind::Name(64).read(bad).is_err(), "{bad}");
        }
        assert!(Kind::Text(10).read("\u{1b}[31m").is_err());
    }
}
