//! Parts that all readers share: faults, words of a line, and quantities as ns-3 writes them.

use cnsim_units::{Rate, Time};
use std::fmt;
use std::str::FromStr;

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Line of the file, from 1, that has the fault or must change.
    pub line: usize,
    /// Character of the line at which the fault begins, from 1.
    pub column: usize,
    /// Key of a configuration file, empty elsewhere.
    pub key: String,
    /// The fault in the file.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}", self.reason)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n  help: {}", self.remedy) }
    }
}

impl std::error::Error for ImportError {}

pub(crate) fn error(line: usize, reason: impl Into<String>, remedy: impl Into<String>) -> ImportError {
    ImportError { line, column: 1, key: String::new(), reason: reason.into(), remedy: remedy.into() }
}

/// Most faults of a file that are listed; those behind them are counted.
const LISTED: usize = 20;

/// The faults of a file, gathered as it is read.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    listed: Vec<ImportError>,
    more: usize,
}

impl Faults {
    /// Keeps a fault; one that two keys meet is told once.
    pub(crate) fn push(&mut self, fault: ImportError) {
        if self.listed.contains(&fault) {
            return;
        }
        if self.listed.len() < LISTED { self.listed.push(fault) } else { self.more += 1 }
    }
    /// The value that was read; or none, and its fault is kept.
    pub(crate) fn keep<T>(&mut self, read: Result<T, ImportError>) -> Option<T> {
        read.map_err(|fault| self.push(fault)).ok()
    }
    /// No fault is kept.
    pub(crate) fn none(&self) -> bool {
        self.listed.is_empty()
    }
    /// All of them, by place.
    pub(crate) fn all(mut self) -> Vec<ImportError> {
        self.listed.sort_by_key(|fault| (fault.line, fault.column));
        if let (more @ 1.., Some(last)) = (self.more, self.listed.last()) {
            let further = format!("and {more} further faults behind this line");
            self.listed.push(error(last.line, further, "mend those above first"));
        }
        self.listed
    }
    /// This, if there is no fault.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Vec<ImportError>> {
        if self.none() { Ok(value) } else { Err(self.all()) }
    }
}

/// Lines beyond an announced count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The counted lines: `links` or `flows`.
    pub what: &'static str,
    /// The announced count.
    pub announced: usize,
    /// First line that is not read, from 1.
    pub line: usize,
    /// How many are not read.
    pub lines: usize,
}

impl Unread {
    /// The left-over lines that have the form of an entry: `is_one` says so. A file may end with an explanation.
    pub(crate) fn of<'a>(
        (what, announced): (&'static str, usize),
        rest: impl Iterator<Item = (usize, Vec<&'a str>)>,
        is_one: impl Fn(&[&str]) -> bool,
    ) -> Option<Self> {
        let mut rest = rest.filter(|(_, words)| is_one(words));
        let (line, _) = rest.next()?;
        Some(Self { what, announced, line, lines: 1 + rest.count() })
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, announced, line, lines } = self;
        write!(f, "the file announces {announced} {what}: line {line}")?;
        match lines {
            1 => f.write_str(" is not read"),
            n => write!(f, " and {} behind it are not read", n - 1),
        }
    }
}

/// Lines with content, numbered from 1, as words.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let text = text.trim_start_matches('\u{feff}');
    let words = |l: &'_ str| -> bool { !l.trim().is_empty() };
    text.lines()
        .enumerate()
        .filter(move |(_, l)| words(l))
        .map(|(i, l)| (i + 1, l.split_whitespace().collect()))
}

/// One word of a line, read by `read`.
fn word_by<T>(
    line: usize,
    words: &[&str],
    at: usize,
    what: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, ImportError> {
    let remedy = format!("word {} of the line is {what}", at + 1);
    let Some(text) = words.get(at) else { return Err(error(line, format!("{what} is missing"), remedy)) };
    read(text).ok_or_else(|| error(line, format!("`{text}` is not {what}"), remedy))
}

/// One word of a line, as a number.
pub(crate) fn word<T: FromStr>(line: usize, words: &[&str], at: usize, what: &str) -> Result<T, ImportError> {
    word_by(line, words, at, what, |text| text.parse().ok())
}

/// Most nodes, links and flows that a file may announce.
const MOST: u64 = 50_000_000;

/// One word of a line, as a count.
pub(crate) fn count_of(line: usize, words: &[&str], at: usize, what: &str) -> Result<usize, ImportError> {
    let n: u64 = word(line, words, at, what)?;
    if n > MOST {
        return Err(error(line, format!("{n} is too many for {what}"), format!("at most {MOST} are read")));
    }
    Ok(n as usize)
}

/// A rate as ns-3 reads it: a number alone is in bit/s, `B` are bytes, `b` are bits.
pub(crate) fn data_rate(text: &str) -> Option<Rate> {
    let unit = |c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E');
    let (number, unit) = text.split_at(text.find(unit).unwrap_or(text.len()));
    let number: f64 = number.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    if unit.is_empty() {
        return Some(Rate::from_bps(number));
    }
    let unit = unit.strip_suffix("ps").or_else(|| unit.strip_suffix("/s"))?;
    let (prefix, bits) = match unit.strip_suffix('b') {
        Some(prefix) => (prefix, 1.0),
        None => (unit.strip_suffix('B')?, 8.0),
    };
    let scale = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        _ => return None,
    };
    Some(Rate::from_bps(number * scale * bits))
}

/// A rate of a link.
pub(crate) fn link_rate(line: usize, words: &[&str], at: usize) -> Result<Rate, ImportError> {
    let rate = word_by(line, words, at, "a rate such as 100Gbps", data_rate)?;
    let (least, most) = (Rate::SLOWEST_LINK, Rate::FASTEST_LINK);
    if rate >= least && rate <= most {
        return Ok(rate);
    }
    let bare = words[at].parse::<f64>().map_or("", |_| "; a number alone is in bit/s");
    Err(error(
        line,
        format!("the link's rate is {rate}"),
        format!("write {least} to {most}, such as 100Gbps{bare}"),
    ))
}

/// A delay as ns-3 reads it: a number alone is in seconds.
pub(crate) fn delay(line: usize, words: &[&str], at: usize) -> Result<Time, ImportError> {
    word_by(line, words, at, "a delay such as 1000ns", |text| {
        text.parse().ok().or_else(|| Some(Time::from_secs_f64(finite(text)?)))
    })
}

/// A number of seconds up to eleven days.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|v| (0.0..1e6).contains(v))
}

/// A time in seconds as the fork reads it: the nearest double, cut to whole nanoseconds. `2.000000068` is 2,000,000,067 ns.
pub(crate) fn seconds(line: usize, text: &str) -> Result<Time, ImportError> {
    let Some(value) = finite(text) else {
        return Err(error(
            line,
            format!("`{text}` is not a time in seconds"),
            "write for example 2.000001".to_string(),
        ));
    };
    // The double is `mantissa / 2^shift`.
    let bits = value.to_bits();
    let (mantissa, shift) = ((bits & ((1 << 52) - 1)) | 1 << 52, 1075 - (bits >> 52));
    let nanos = (u128::from(mantissa) * 1_000_000_000).checked_shr(shift as u32).unwrap_or(0);
    Ok(Time::from_ns(nanos as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_those_of_the_fork() {
        // Starts of case C in its flow file, and in what the fork wrote of it.
        for (text, ns) in
            [("2.000000068", 2_000_000_067), ("2.000001122", 2_000_001_122), ("2.000002198", 2_000_002_197)]
        {
            assert_eq!(seconds(1, text).unwrap(), Time::from_ns(ns));
        }
        assert_eq!(seconds(1, "2").unwrap(), Time::from_s(2));
        assert_eq!(seconds(1, ".5").unwrap(), Time::from_ms(500));
        assert_eq!(seconds(1, "1e-6").unwrap(), Time::from_ns(999));
        assert_eq!(seconds(1, "0").unwrap(), Time::ZERO);
        assert_eq!(seconds(1, "999999").unwrap(), Time::from_s(999_999));
        for bad in ["", "x", "-1", "NaN", "inf", "1e9", "99999999999999999999"] {
            assert!(seconds(1, bad).is_err(), "{bad}");
        }
    }

    /// ns-3 tells bits from bytes by the case of one letter, and takes a number alone as bit/s, or as seconds.
    #[test]
    fn quantities_are_those_of_ns3() {
        for (text, bps) in [
            ("25000000000.0", 25e9),
            ("25000000000", 25e9),
            ("2.5e10", 25e9),
            ("100Gbps", 1e11),
            ("40Mb/s", 4e7),
            ("1GBps", 8e9),
            ("1MB/s", 8e6),
            ("3kbps", 3e3),
            ("3Kb/s", 3e3),
            ("2Kib/s", 2048.0),
            ("7bps", 7.0),
        ] {
            assert_eq!(data_rate(text), Some(Rate::from_bps(bps)), "{text}");
        }
        for bad in ["", "quick", "10", "40Mb/x", "-1Gbps", "NaN", "1Xbps", "1Gb"] {
            assert_eq!(data_rate(bad), (bad == "10").then_some(Rate::from_bps(10.0)), "{bad}");
        }
        let time = |text: &str| delay(1, &[text], 0).ok();
        assert_eq!(time("0.0006ms"), Some(Time::from_ns(600)));
        assert_eq!(time("0.000001"), Some(Time::from_us(1)));
        assert_eq!((time("1"), time("soon"), time("-1")), (Some(Time::from_s(1)), None, None));
    }

    /// Faults beyond the first twenty are counted.
    #[test]
    fn faults_are_listed_and_counted() {
        let mut faults = Faults::default();
        (1..=25).rev().for_each(|line| faults.push(error(line, "a fault", "")));
        let all = faults.or(()).unwrap_err();
        assert_eq!((all.len(), all[0].line, all[19].line), (21, 6, 25));
        assert!(all[20].reason.contains("5 further faults"), "{}", all[20]);
    }
}
