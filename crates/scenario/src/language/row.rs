//! What the row of a key says, and what several rows have in common. The rows stand in the files of their tables.

use crate::language::kinds::Kind;
use cnsim_units::{Bytes, Rate, Time};
use std::borrow::Cow;

/// The row of a key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted path.
    pub path: &'static str,
    /// Kind of value, with its bounds.
    pub kind: Kind,
    /// Default; a key with an empty one is required.
    pub default: &'static str,
    /// Meaning, one sentence.
    pub doc: &'static str,
    /// Settings under which the key has an effect.
    pub only: Only,
    /// A further setting under which the key has no effect, with the remedy.
    pub(crate) idle: Option<(Only, &'static str)>,
    /// Reason and remedy where the key has no effect, in words of its own: from the other key's value, and from its own text.
    pub(crate) why: Option<fn(&str, &str) -> Option<(String, String)>>,
    /// Reason and remedy where no case reads the key.
    pub(crate) unread: Option<(&'static str, &'static str)>,
    /// Value in the template of a scenario, where it is another than the default.
    pub(crate) sample: Option<&'static str>,
    /// The matrix cannot vary the key, and this remedy, if it is not empty.
    pub(crate) fixed: Option<&'static str>,
    /// Tables that share the keys of this key's table lack this one.
    pub(crate) unshared: bool,
    /// A case without PAUSE reads the key, too: its memory is as large as that of the case with PAUSE.
    pub(crate) sizes: bool,
    /// A key of an array of tables that has the same words: keys that depend on this one have an effect if one of those is so.
    pub(crate) also: Option<&'static str>,
}

/// Settings under which a key has an effect.
#[derive(Clone, Copy, Debug)]
pub enum Only {
    /// The key always has an effect.
    Always,
    /// The key has an effect if another key has one of some values.
    With(&'static str, fn(&str) -> bool),
    /// The key has an effect unless another key has this value.
    Unless(&'static str, &'static str),
}

impl Only {
    /// The key on which the effect depends.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            Self::Always => None,
            Self::With(key, _) | Self::Unless(key, _) => Some(key),
        }
    }

    /// Does the key have an effect if the other one has this value?
    pub fn admits(&self, value: &str) -> bool {
        match self {
            Self::Always => true,
            Self::With(_, admits) => admits(value),
            Self::Unless(_, idle) => value != *idle,
        }
    }
}

/// The row of a key that always has an effect.
pub(crate) const fn key(path: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    let (only, idle, why, unread, sample, fixed) = (Only::Always, None, None, None, None, None);
    Key {
        path,
        kind,
        default,
        doc,
        only,
        idle,
        why,
        unread,
        sample,
        fixed,
        unshared: false,
        sizes: false,
        also: None,
    }
}

impl Key {
    /// The key has an effect if another one has such a value.
    pub(crate) const fn only(self, other: Self, admits: fn(&str) -> bool) -> Self {
        Self { only: Only::With(other.path, admits), ..self }
    }

    /// The key has an effect unless another one has this value.
    pub(crate) const fn unless(self, other: Self, value: &'static str) -> Self {
        Self { only: Only::Unless(other.path, value), ..self }
    }

    /// The key also needs another one to have such a value, or else this remedy.
    pub(crate) const fn needs(self, other: Self, admits: fn(&str) -> bool, remedy: &'static str) -> Self {
        Self { idle: Some((Only::With(other.path, admits), remedy)), ..self }
    }

    /// Says in words of its own why the key has no effect.
    pub(crate) const fn why(self, why: fn(&str, &str) -> Option<(String, String)>) -> Self {
        Self { why: Some(why), ..self }
    }

    /// Says what is missing if no case reads the key, and the remedy.
    pub(crate) const fn unread(self, why: &'static str, remedy: &'static str) -> Self {
        Self { unread: Some((why, remedy)), ..self }
    }

    /// The matrix cannot vary it; the remedy may be empty.
    pub(crate) const fn fixed(self, remedy: &'static str) -> Self {
        Self { fixed: Some(remedy), ..self }
    }

    /// Sets the value in the template of a scenario.
    pub(crate) const fn sample(self, value: &'static str) -> Self {
        Self { sample: Some(value), ..self }
    }

    /// Memory without PAUSE is as large as with it, and depends on the key.
    pub(crate) const fn sizes(self) -> Self {
        Self { sizes: true, ..self }
    }

    /// Tables that share the keys of its table lack it.
    pub(crate) const fn unshared(self) -> Self {
        Self { unshared: true, ..self }
    }

    /// Tables of an array may have another value of it.
    pub(crate) const fn also(self, path: &'static str) -> Self {
        Self { also: Some(path), ..self }
    }

    /// Table of the key, and name of the key there; at the top of a file the table has no name.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').unwrap_or(("", self.path))
    }

    /// The key in a table of this name: `fault.0.kind`.
    pub(crate) fn of(self, table: &str) -> At {
        At { path: format!("{table}.{}", self.parts().1).into(), row: self }
    }
}

/// A key as a file has it: in an array of tables its path has a number.
#[derive(Clone, Debug)]
pub(crate) struct At {
    pub(crate) path: Cow<'static, str>,
    pub(crate) row: Key,
}

impl From<Key> for At {
    fn from(row: Key) -> Self {
        Self { path: row.path.into(), row }
    }
}

impl From<&At> for At {
    fn from(at: &At) -> Self {
        at.clone()
    }
}

impl AsRef<str> for At {
    fn as_ref(&self) -> &str {
        &self.path
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.path
    }
}

/// Declares the keys of a table: each is a constant, and `KEYS` lists them.
macro_rules! rows {
    ($($name:ident = $row:expr;)*) => {
        $(#[allow(missing_docs, reason = "the row says it")] pub const $name: $crate::language::row::Key = $row;)*
        /// The keys of the table.
        pub(crate) const KEYS: &[$crate::language::row::Key] = &[$($name),*];
    };
}
pub(crate) use rows;

/// Is a word one of these variants of a choice?
macro_rules! one_of {
    ($choice:ident: $($variant:ident)|+) => {
        |word| matches!(<$choice as $crate::language::kinds::Choice>::of(word), Some($($choice::$variant)|+))
    };
}
pub(crate) use one_of;

/// The table of a scenario file: its name, and its keys.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name in brackets; empty at the top of a file.
    pub name: &'static str,
    /// Any number of them, in double brackets.
    pub many: bool,
    /// The table whose keys it has, too, and which it replaces.
    pub shares: Option<&'static str>,
    pub(crate) keys: &'static [Key],
}

impl Table {
    /// A table that stands in a file once.
    pub(crate) const fn one(name: &'static str, keys: &'static [Key]) -> Self {
        Self { name, many: false, shares: None, keys }
    }

    /// A table that stands in a file any number of times.
    pub(crate) const fn many(name: &'static str, keys: &'static [Key]) -> Self {
        Self { many: true, ..Self::one(name, keys) }
    }
}

/// Longest run, and last moment of anything in it.
pub const LONGEST: Time = Time::LONGEST_RUN;
/// Fastest link that the network's arithmetic allows. A frame of 64 B then takes 51 ps instead of 51.2.
pub const FASTEST: Rate = Rate::FASTEST_LINK;
/// Slowest link.
pub const SLOWEST: Rate = Rate::SLOWEST_LINK;
/// Slowest service of a port that is not stopped.
pub const SLOWEST_SERVICE: Rate = Rate::from_bps(1e4);
/// Longest propagation delay of a link.
pub const FARTHEST: Time = Time::from_ms(100);
/// Largest number of hosts: their numbers have 16 bits.
pub const MAX_HOSTS: usize = 65_535;
/// Largest number of switches: routes are kept for each pair.
pub const MAX_SWITCHES: usize = 20_000;
/// Largest number of switch ports, with and without a link.
pub const MAX_PORTS: usize = 500_000;
/// Largest frame.
pub const MAX_FRAME: Bytes = Bytes::new(9216);
/// Largest number of seeds of a case.
pub const MAX_SEEDS: u64 = 10_000;
/// Largest number of cases of a scenario.
pub const MAX_CASES: usize = 20_000;
/// Largest number of changes of service rates in a run: events, and both ends of each slow span of a hotspot.
pub const MAX_CHANGES: u64 = 1_000_000;
/// Largest number of finite flows of a table.
pub const MAX_FLOWS: u64 = 20_000_000;
/// Largest finite flow.
pub const MAX_TRANSFER: Bytes = Bytes::from_mb(1_000_000_000);
/// Largest number of characters of a condition.
pub const MAX_CONDITION: usize = 160;

/// Kinds of values that several tables have.
pub(crate) mod kind {
    use super::{FASTEST, LONGEST, SLOWEST};
    use crate::language::kinds::{Choice as _, Kind, Switched};
    use cnsim_units::{Bytes, Time};

    pub(crate) const TEXT: Kind = Kind::Text(4000);
    pub(crate) const TEMPLATE: Kind = Kind::Text(1000);
    pub(crate) const LINES: Kind = Kind::List(&Kind::Line);
    pub(crate) const FILE: Kind = Kind::Or("off", &Kind::File);
    pub(crate) const LINK_RATE: Kind = Kind::Rate(SLOWEST, FASTEST);
    pub(crate) const PROCESSING: Kind = Kind::Time(Time::ZERO, Time::from_ms(100));
    pub(crate) const MOMENT: Kind = Kind::Time(Time::ZERO, LONGEST);
    pub(crate) const MEMORY: Kind = Kind::Bytes(Bytes::new(64), Bytes::from_mb(4000));
    pub(crate) const BUFFER: Kind = Kind::Bytes(Bytes::ZERO, Bytes::from_mb(4000));
    pub(crate) const ANSWER: Kind = Kind::Bytes(Bytes::new(1), Bytes::new(1500));
    pub(crate) const SWITCHED: Kind = Kind::Choice(Switched::WORDS);
    pub(crate) const SCHEMES: Kind = Kind::List(&Kind::Scheme);
}

/// Imports of a table's file, which declares keys.
pub(crate) mod declare {
    pub(crate) use super::{Key, key, kind, one_of, rows};
    pub(crate) use crate::language::kinds::{Choice, Kind, choices, words};
}
