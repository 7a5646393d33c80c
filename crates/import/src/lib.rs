//! Files of other simulators, read as they are: topologies, flows and configurations.
//!
//! | format | topology | flows | configuration |
//! |---|---|---|---|
//! | HPCC's ns-3 fork (Li et al., SIGCOMM 2019) and its descendants | [`hpcc::topology`] | [`hpcc::flows`] | [`hpcc::Config`] |
//! | SimAI's topology header | [`hpcc::topology`] recognises it | | |
//! | htsim (`.topo`, `.cm`) | [`htsim::topology`] | [`htsim::flows`] | |
//!
//! Every refusal names line, fault and remedy.

pub mod hpcc;
pub mod htsim;
mod scenario;

pub use scenario::{Files, Imported, scenario};

use cnsim_units::{Bytes, Rate, Time};
use std::str::FromStr;

/// A network as a file describes it. Node names are those of cnsim: `H7` for a host, `S7` for a switch, with the number
/// that the file gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fabric {
    /// Hosts, in order of their numbers.
    pub hosts: Vec<String>,
    /// Switches, in order of their numbers.
    pub switches: Vec<String>,
    /// Links, in the order of the file.
    pub links: Vec<FabricLink>,
}

/// A link of a [`Fabric`].
#[derive(Clone, Debug, PartialEq)]
pub struct FabricLink {
    /// Line of the file that describes it, from 1.
    pub line: usize,
    /// Name of the node at one end.
    pub a: String,
    /// Name of the node at the other end.
    pub b: String,
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// A finite flow of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFlow {
    /// Line of the file, from 1.
    pub line: usize,
    /// Sending host, as in [`Fabric`].
    pub src: String,
    /// Receiving host.
    pub dst: String,
    /// Priority class, 0 if the format has none.
    pub class: u8,
    /// Port at the receiving host, none if the format has none.
    pub port: Option<u32>,
    /// Payload.
    pub bytes: Bytes,
    /// Start, by the file's clock.
    pub start: Time,
}

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Line of the file, from 1, that has the fault or must change.
    pub line: usize,
    /// Key of a configuration file, empty elsewhere.
    pub key: String,
    /// The fault in the file.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}", self.reason)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n  help: {}", self.remedy) }
    }
}

impl std::error::Error for ImportError {}

fn error(line: usize, reason: impl Into<String>, remedy: impl Into<String>) -> ImportError {
    ImportError { line, key: String::new(), reason: reason.into(), remedy: remedy.into() }
}

/// Lines with content, numbered from 1, as words.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let text = text.trim_start_matches('\u{feff}');
    let words = |l: &'_ str| -> bool { !l.trim().is_empty() };
    text.lines()
        .enumerate()
        .filter(move |(_, l)| words(l))
        .map(|(i, l)| (i + 1, l.split_whitespace().collect()))
}

/// One word of a line, as a number or quantity.
fn word<T: FromStr>(line: usize, words: &[&str], at: usize, what: &str) -> Result<T, ImportError> {
    let Some(text) = words.get(at) else {
        return Err(error(
            line,
            format!("{what} is missing"),
            format!("word {} of the line is {what}", at + 1),
        ));
    };
    text.parse().map_err(|_| {
        error(line, format!("`{text}` is not {what}"), format!("word {} of the line is {what}", at + 1))
    })
}

/// A duration in seconds written as a decimal, exact to the picosecond.
fn seconds(line: usize, text: &str) -> Result<Time, ImportError> {
    let bad = || error(line, format!("`{text}` is not a time in seconds"), "write for example 2.000001");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        // Exponents and the like: as good as a double is.
        let value: f64 = text.parse().map_err(|_| bad())?;
        return if (0.0..1e6).contains(&value) {
            Ok(Time::from_ps((value * 1e12).round() as u64))
        } else {
            Err(bad())
        };
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
    let fraction: u64 = format!("{fraction:0<12}")[..12].parse().map_err(|_| bad())?;
    whole
        .checked_mul(1_000_000_000_000)
        .and_then(|w| w.checked_add(fraction))
        .map(Time::from_ps)
        .ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        assert_eq!(seconds(1, "2.000000034").unwrap(), Time::from_ns(2_000_000_034));
        assert_eq!(seconds(1, "2").unwrap(), Time::from_s(2));
        assert_eq!(seconds(1, ".5").unwrap(), Time::from_ms(500));
        assert_eq!(seconds(1, "1e-6").unwrap(), Time::from_us(1));
        for bad in ["", "x", "-1", "NaN", "inf", "1e9", "99999999999999999999"] {
            assert!(seconds(1, bad).is_err(), "{bad}");
        }
    }
}
