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

/// A time in seconds as the fork reads it: the nearest double, cut to whole nanoseconds. `2.000000068` is 2,000,000,067 ns.
fn seconds(line: usize, text: &str) -> Result<Time, ImportError> {
    let value: Option<f64> = text.parse().ok().filter(|v| (0.0..1e6).contains(v));
    let Some(value) = value else {
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
}
