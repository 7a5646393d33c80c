//! Amounts of data.

use std::fmt;
use std::str::FromStr;

use crate::parse::{self, Count, UnitError};

const EXAMPLE: &str = "150 KB";

/// Printed units from largest to smallest, in bytes.
const UNITS: [(&str, u64); 4] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)];

/// An amount of data in whole bytes.
///
/// `KB` (or `kB`) is 1000 bytes, `KiB` is 1024; a page is 64 bytes. Arithmetic saturates at zero and at
/// [`Bytes::MAX`].
///
/// ```
/// use cnsim_units::Bytes;
/// assert_eq!("26.176 KB".parse::<Bytes>(), Ok(Bytes::new(26_176)));
/// assert_eq!("409 pages".parse::<Bytes>(), Ok(Bytes::from_pages(409)));
/// assert_eq!(Bytes::new(1500).to_string(), "1.5 KB");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Self = Self(0);
    /// The smallest frame of Ethernet, as long as a control frame and a PAUSE.
    pub const SMALLEST_FRAME: Self = Bytes::new(64);
    /// The largest amount; more than any queue or flow.
    pub const MAX: Self = Self(u64::MAX);

    /// An amount from whole bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// An amount from whole kilobytes of 1000 bytes; it saturates.
    #[must_use]
    pub const fn from_kb(kb: u64) -> Self {
        Self(kb.saturating_mul(1_000))
    }

    /// An amount from whole megabytes of 1 000 000 bytes; it saturates.
    #[must_use]
    pub const fn from_mb(mb: u64) -> Self {
        Self(mb.saturating_mul(1_000_000))
    }

    /// An amount from whole pages of 64 bytes, the unit of some switch memories; it saturates.
    #[must_use]
    pub const fn from_pages(pages: u64) -> Self {
        Self(pages.saturating_mul(64))
    }

    /// The amount in whole bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Bytes, rounded to the nearest floating-point number (exact below 2^53).
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// This amount times `factor` (dimensionless), rounded to the nearest byte; negative and NaN give zero.
    #[must_use]
    pub fn scale(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

crate::arithmetic!(Bytes);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = UNITS.into_iter().find(|(_, scale)| self.0 >= *scale).unwrap_or(("B", 1));
        parse::show(f, &parse::decimal(self.0, scale), unit)
    }
}

/// Bytes in one `unit`, or why it is none.
fn scale_of(unit: &str) -> Result<u64, String> {
    if unit == "pages" || unit == "page" {
        return Ok(64);
    }
    let known = "none of B, KB, MB, GB, KiB, MiB, GiB, pages";
    let lower = unit.to_ascii_lowercase();
    // The case of the prefix is free, the case of the B is not: it tells bytes from bits.
    let Some(prefix) = lower.strip_suffix('b') else {
        let per_second = lower.ends_with("/s") || lower.ends_with("ps");
        return Err(match per_second {
            true => format!("has the unit \"{unit}\", a rate where an amount is due"),
            false => format!("has the unit \"{unit}\", which is {known}"),
        });
    };
    let scale = match prefix {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "ki" => 1 << 10,
        "mi" => 1 << 20,
        "gi" => 1 << 30,
        _ => return Err(format!("has the unit \"{unit}\", which is {known}")),
    };
    if unit.ends_with('b') {
        return Err(format!("has the unit \"{unit}\", which counts bits; bytes have a capital B"));
    }
    Ok(scale)
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// Reads a number and one of `B KB MB GB` (1000-based), `KiB MiB GiB` (1024-based) or `pages` (64 bytes).
    ///
    /// # Errors
    /// Refuses a bare, negative or non-finite number, an unknown unit, bits (`Mb`), more than the type holds,
    /// and anything that is not a whole number of bytes.
    fn from_str(input: &str) -> Result<Self, UnitError> {
        let written = parse::split(input, EXAMPLE)?;
        let refuse = |reason: String| Err(UnitError::new(input, reason, EXAMPLE));
        let scale = match scale_of(written.unit) {
            Ok(scale) => scale,
            Err(reason) => return refuse(reason),
        };
        match written.count(scale) {
            Count::Exact(bytes) => Ok(Self(bytes)),
            Count::Rounded(near) => refuse(format!("is not a whole number of bytes (nearest: {near} B)")),
            Count::TooLarge => refuse("is more than the largest amount, about 18.4e9 GB".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Bytes {
        text.parse().unwrap()
    }

    #[test]
    fn reads_every_unit() {
        assert_eq!(bytes("1500 B"), Bytes::new(1500));
        assert_eq!(bytes("600 KB"), Bytes::from_kb(600));
        assert_eq!(bytes("600kB"), Bytes::from_kb(600));
        assert_eq!(bytes("2.5 MB"), Bytes::from_kb(2500));
        assert_eq!(bytes("2 mB"), Bytes::from_mb(2));
        assert_eq!(bytes("1e1 GB"), Bytes::from_mb(10_000));
        assert_eq!(bytes("1 KiB"), Bytes::new(1024));
        assert_eq!(bytes("0.5 kiB"), Bytes::new(512));
        assert_eq!(bytes("1 MiB"), Bytes::new(1 << 20));
        assert_eq!(bytes("1 GiB"), Bytes::new(1 << 30));
        assert_eq!(bytes("409 pages"), Bytes::new(26_176));
        assert_eq!(bytes("1 page"), Bytes::new(64));
        assert_eq!(bytes("0 B"), Bytes::ZERO);
    }

    #[test]
    fn refuses_what_is_not_an_amount() {
        let cases = [
            ("", "is empty"),
            ("0", "has no unit"),
            ("1500", "has no unit"),
            ("-1 B", "is negative"),
            ("nan KB", "not a finite number"),
            ("inf KB", "not a finite number"),
            ("KB", "does not start with a number"),
            ("1 Mb", "counts bits"),
            ("1 mb", "counts bits"),
            ("1 b", "counts bits"),
            ("1 Kib", "counts bits"),
            ("1 MB/s", "a rate where an amount is due"),
            ("1 Gbps", "a rate where an amount is due"),
            ("1 TB", "none of B, KB"),
            ("1 frames", "none of B, KB"),
            ("1_000 B", "separator"),
            ("1.5 B", "not a whole number of bytes"),
            ("0.3 KiB", "not a whole number of bytes"),
            ("1e20 GB", "more than the largest amount"),
        ];
        for (text, reason) in cases {
            let message = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(message.contains(reason), "{text}: {message}");
            assert!(message.contains(EXAMPLE), "{text}: {message}");
        }
        assert!(EXAMPLE.parse::<Bytes>().is_ok());
    }

    #[test]
    fn prints_the_largest_unit_that_fits() {
        assert_eq!(Bytes::from_kb(600).to_string(), "600 KB");
        assert_eq!(Bytes::new(1500).to_string(), "1.5 KB");
        assert_eq!(Bytes::new(26_176).to_string(), "26.176 KB");
        assert_eq!(Bytes::new(64).to_string(), "64 B");
        assert_eq!(Bytes::from_mb(2).to_string(), "2 MB");
        assert_eq!(Bytes::ZERO.to_string(), "0 B");
        assert_eq!(format!("{:.1}", Bytes::new(26_176)), "26.2 KB");
    }

    #[test]
    fn what_is_printed_reads_back() {
        let mut state = 7_u64;
        for shift in (0..64).cycle().take(6400) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let b = Bytes::new(state >> shift);
            assert_eq!(bytes(&b.to_string()), b, "{b}");
        }
        for n in (0..5000).chain(u64::MAX - 50..=u64::MAX) {
            assert_eq!(bytes(&Bytes::new(n).to_string()), Bytes::new(n));
        }
    }

    #[test]
    fn arithmetic_stays_in_range() {
        assert_eq!(Bytes::new(1) - Bytes::new(2), Bytes::ZERO);
        assert_eq!(Bytes::MAX + Bytes::new(1), Bytes::MAX);
        assert_eq!(Bytes::MAX.checked_add(Bytes::new(1)), None);
        assert_eq!(Bytes::new(3) * 4, Bytes::new(12));
        assert_eq!(Bytes::new(100).scale(0.155), Bytes::new(16));
        assert_eq!([Bytes::new(1), Bytes::new(2)].into_iter().sum::<Bytes>(), Bytes::new(3));
        assert!((Bytes::new(1500).as_f64() - 1500.0).abs() < f64::EPSILON);
        let mut b = Bytes::from_kb(1);
        b += Bytes::new(5);
        b -= Bytes::from_kb(1);
        assert_eq!(b, Bytes::new(5));
    }
}
