//! Data rates.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

use crate::parse::{self, UnitError};
use crate::{Bytes, Time};

const EXAMPLE: &str = "10 Gb/s";

/// Units from largest to smallest: name and power of ten.
const UNITS: [(&str, usize); 5] = [("Tb/s", 12), ("Gb/s", 9), ("Mb/s", 6), ("kb/s", 3), ("b/s", 0)];

/// A data rate in bits per second; finite and never negative.
///
/// A rate is a floating-point number because schemes multiply it by fractions. Constructors and arithmetic
/// keep it in range: negative results become [`Rate::ZERO`], infinite ones the largest finite number. What is not a number stays
/// so ([`Rate::is_nan`]), for whoever uses the rate to refuse; no text reads as such a rate.
///
/// ```
/// use cnsim_units::{Bytes, Rate, Time};
/// let line: Rate = "10Gbps".parse()?;
/// assert_eq!(line, Rate::from_gbps(10.0));
/// assert_eq!(line.transmission_time(Bytes::new(64)), Time::from_ps(51_200));
/// assert_eq!((line * 0.05).to_string(), "0.5 Gb/s");
/// # Ok::<(), cnsim_units::UnitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Rate(f64);

impl Rate {
    /// No data at all.
    pub const ZERO: Self = Self(0.0);
    /// Rate of the slowest link that a network may have.
    pub const SLOWEST_LINK: Self = Self::from_mbps(1.0);
    /// Rate of the fastest link that a network may have.
    pub const FASTEST_LINK: Self = Self::from_gbps(10_000.0);

    /// A rate from bits per second; negative numbers give [`Rate::ZERO`], infinity the largest finite number.
    #[must_use]
    pub const fn from_bps(bps: f64) -> Self {
        // Written so that what is usual is decided first, and minus zero becomes zero.
        if bps > f64::MAX {
            Self(f64::MAX)
        } else if bps > 0.0 || bps.is_nan() {
            Self(bps)
        } else {
            Self(0.0)
        }
    }

    /// Is it not a number? It came of a calculation that has no result, such as zero by zero.
    #[must_use]
    pub const fn is_nan(self) -> bool {
        self.0.is_nan()
    }

    /// A rate from megabits (1e6 bits) per second; range as [`Rate::from_bps`].
    #[must_use]
    pub const fn from_mbps(mbps: f64) -> Self {
        Self::from_bps(mbps * 1e6)
    }

    /// A rate from gigabits (1e9 bits) per second; range as [`Rate::from_bps`].
    #[must_use]
    pub const fn from_gbps(gbps: f64) -> Self {
        Self::from_bps(gbps * 1e9)
    }

    /// The rate in bits per second.
    #[must_use]
    pub const fn bps(self) -> f64 {
        self.0
    }

    /// The rate in megabits (1e6 bits) per second.
    #[must_use]
    pub const fn mbps(self) -> f64 {
        self.0 / 1e6
    }

    /// The rate in gigabits (1e9 bits) per second.
    #[must_use]
    pub const fn gbps(self) -> f64 {
        self.0 / 1e9
    }

    /// The smaller of the two.
    #[must_use]
    pub const fn min(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }

    /// The larger of the two.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// How long `bytes` take at this rate, rounded to the nearest picosecond; [`Time::MAX`] at rate zero, or at none.
    #[must_use]
    pub fn transmission_time(self, bytes: Bytes) -> Time {
        if self.0 == 0.0 || self.is_nan() {
            return Time::MAX;
        }
        // The dividend is exact up to 4 MB, so the quotient carries one rounding only.
        Time::from_ps((bytes.as_f64() * 8e12 / self.0).round() as u64)
    }
}

impl Add for Rate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::from_bps(self.0 + other.0)
    }
}

impl AddAssign for Rate {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Rate {
    type Output = Self;
    /// The difference of two rates; it stops at zero.
    fn sub(self, other: Self) -> Self {
        Self::from_bps(self.0 - other.0)
    }
}

impl SubAssign for Rate {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<f64> for Rate {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::from_bps(self.0 * factor)
    }
}

impl Div<f64> for Rate {
    type Output = Self;
    /// Division by zero gives the largest finite rate; zero by zero is not a number.
    fn div(self, divisor: f64) -> Self {
        Self::from_bps(self.0 / divisor)
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nan() {
            return f.write_str("not a number");
        }
        let plain = self.0.to_string();
        let giga = parse::shift_left(&plain, 9);
        // The field speaks of 0.5 Gb/s flows on 10 Gb/s links: keep Gb/s where it is as short.
        let decimals = giga.split_once('.').map_or(0, |(_, part)| part.len());
        if self.0 == 0.0 || (1e7..1e9).contains(&self.0) && decimals <= 3 {
            return parse::show(f, &giga, "Gb/s");
        }
        let (unit, places) = UNITS
            .into_iter()
            .find(|(_, places)| parse::shift_left(&plain, *places).as_bytes().first() != Some(&b'0'))
            .unwrap_or(("b/s", 0));
        parse::show(f, &parse::shift_left(&plain, places), unit)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The power of ten of `unit`, or why it is no rate.
fn power_of(unit: &str) -> Result<i64, String> {
    let unknown = || format!("has the unit \"{unit}\", which is none of b/s, kb/s, Mb/s, Gb/s, Tb/s");
    let lower = unit.to_ascii_lowercase();
    let per_second = ["/s", "ps"].iter().find_map(|end| lower.strip_suffix(end));
    let amount = per_second.unwrap_or(&lower);
    let (prefix, spelled) = match amount.strip_suffix("bit") {
        Some(prefix) => (prefix, true),
        None => (amount.strip_suffix('b').ok_or_else(unknown)?, false),
    };
    let power = match prefix {
        "" => 0,
        "k" => 3,
        "m" => 6,
        "g" => 9,
        "t" => 12,
        _ => return Err(unknown()),
    };
    // The B follows the one-letter prefix; lowering the case kept every length.
    let capital = !spelled && unit.as_bytes().get(prefix.len()) == Some(&b'B');
    match (capital, per_second.is_some()) {
        (true, true) => {
            Err(format!("has the unit \"{unit}\", a byte rate; rates count bits, with a small b"))
        }
        (true, false) => Err(format!("has the unit \"{unit}\", an amount of bytes where a rate is due")),
        (false, false) => Err(format!("has the unit \"{unit}\", an amount of bits where a rate is due")),
        (false, true) => Ok(power),
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    /// Reads a number and one of `b/s kb/s Mb/s Gb/s Tb/s`, also spelled `Gbps`, `gbps` or `Gbit/s`.
    ///
    /// # Errors
    /// Refuses a bare, negative or non-finite number, an unknown unit, byte rates (`GB/s`), amounts (`MB`)
    /// and numbers outside the floating-point range.
    fn from_str(input: &str) -> Result<Self, UnitError> {
        let written = parse::split(input, EXAMPLE)?;
        let power = match power_of(written.unit) {
            Ok(power) => power,
            Err(reason) => return Err(UnitError::new(input, reason, EXAMPLE)),
        };
        match written.float(power) {
            Some(bps) if bps > 0.0 || written.digits.is_empty() => Ok(Self::from_bps(bps)),
            Some(_) => Err(UnitError::new(input, "is positive but too small to tell from zero", EXAMPLE)),
            None => Err(UnitError::new(input, "is more than the largest rate", EXAMPLE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn reads_every_spelling() {
        for text in
            ["10 Gb/s", "10Gbps", "10 gbps", "10 Gbit/s", "1e1 gb/s", "10000 Mb/s", "0.01 Tb/s", "+10 GBIT/S"]
        {
            assert_eq!(rate(text), Rate::from_gbps(10.0), "{text}");
        }
        assert_eq!(rate("5 mb/s"), Rate::from_mbps(5.0));
        assert_eq!(rate("5 Mbps"), Rate::from_mbps(5.0));
        assert_eq!(rate("5 kb/s"), Rate::from_bps(5000.0));
        assert_eq!(rate("5 Kbit/s"), Rate::from_bps(5000.0));
        assert_eq!(rate("5 b/s"), Rate::from_bps(5.0));
        assert_eq!(rate("5 bps"), Rate::from_bps(5.0));
        assert_eq!(rate("0 Gb/s"), Rate::ZERO);
    }

    #[test]
    fn refuses_what_is_not_a_rate() {
        let cases = [
            ("", "is empty"),
            ("0", "has no unit"),
            ("10", "has no unit"),
            ("-10 Gb/s", "is negative"),
            ("NaN Gb/s", "not a finite number"),
            ("inf Gb/s", "not a finite number"),
            ("Gb/s", "does not start with a number"),
            ("10 GB/s", "a byte rate"),
            ("10 gB/s", "a byte rate"),
            ("10 GBps", "a byte rate"),
            ("10 GBPS", "a byte rate"),
            ("10 B/s", "a byte rate"),
            ("10 MB", "an amount of bytes where a rate is due"),
            ("10 Mb", "an amount of bits where a rate is due"),
            ("10 Gib/s", "none of b/s"),
            ("10 us", "none of b/s"),
            ("10 ps", "none of b/s"),
            ("10 /s", "none of b/s"),
            ("10 µb/s", "none of b/s"),
            ("1e300 Gb/s", "more than the largest rate"),
            ("1e-999 Gb/s", "too small"),
        ];
        for (text, reason) in cases {
            let message = text.parse::<Rate>().unwrap_err().to_string();
            assert!(message.contains(reason), "{text}: {message}");
            assert!(message.contains(EXAMPLE), "{text}: {message}");
        }
        assert!(EXAMPLE.parse::<Rate>().is_ok());
    }

    #[test]
    fn prints_as_the_field_speaks() {
        assert_eq!(Rate::from_gbps(10.0).to_string(), "10 Gb/s");
        assert_eq!(Rate::from_gbps(0.5).to_string(), "0.5 Gb/s");
        assert_eq!(Rate::from_mbps(100.0).to_string(), "0.1 Gb/s");
        assert_eq!(Rate::from_mbps(12.5).to_string(), "12.5 Mb/s");
        assert_eq!(Rate::from_mbps(5.0).to_string(), "5 Mb/s");
        assert_eq!(Rate::from_bps(1234.5).to_string(), "1.2345 kb/s");
        assert_eq!(Rate::from_bps(0.25).to_string(), "0.25 b/s");
        assert_eq!(Rate::from_gbps(1280.0).to_string(), "1.28 Tb/s");
        assert_eq!(Rate::ZERO.to_string(), "0 Gb/s");
        assert_eq!(format!("{:.2}", Rate::from_gbps(10.0 / 3.0)), "3.33 Gb/s");
        assert_eq!(format!("{:.0}", Rate::from_gbps(10.0)), "10 Gb/s");
    }

    #[test]
    fn what_is_printed_reads_back() {
        let mut state = 3_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state
        };
        for _ in 0..5000 {
            let any = Rate::from_bps(f64::from_bits(next() >> 2));
            assert_eq!(rate(&any.to_string()), any, "{any}");
            let usual = Rate::from_gbps(100.0) * ((next() >> 11) as f64 / (1_u64 << 53) as f64);
            assert_eq!(rate(&usual.to_string()), usual, "{usual}");
        }
        for n in 0..20_000 {
            let whole = Rate::from_mbps(f64::from(n) / 8.0);
            assert_eq!(rate(&whole.to_string()), whole, "{whole}");
        }
        for bps in [f64::MAX, f64::MIN_POSITIVE, 999_999_999.999_999_9, 1e9, 1e12] {
            assert_eq!(rate(&Rate::from_bps(bps).to_string()), Rate::from_bps(bps));
        }
    }

    #[test]
    fn frame_times_are_exact() {
        let frame = Bytes::new(1500);
        assert_eq!(Rate::from_gbps(10.0).transmission_time(frame), Time::from_ns(1200));
        assert_eq!(Rate::from_gbps(100.0).transmission_time(Bytes::new(64)), Time::from_ps(5120));
        assert_eq!(Rate::from_gbps(3.0).transmission_time(Bytes::new(1)), Time::from_ps(2667));
        assert_eq!(Rate::from_gbps(400.0).transmission_time(Bytes::from_mb(4)), Time::from_us(80));
        assert_eq!(Rate::ZERO.transmission_time(frame), Time::MAX);
        assert_eq!(Rate::ZERO.transmission_time(Bytes::ZERO), Time::MAX);
        assert_eq!(Rate::from_bps(1e-300).transmission_time(frame), Time::MAX);
        // Times are those of exact integer arithmetic.
        for mbps in 1..3000_u64 {
            let bits = u128::from(mbps % 9000 + 64) * 8;
            let bps = u128::from(mbps) * 1_000_000;
            let exact = (bits * 1_000_000_000_000 + bps / 2) / bps;
            let time = Rate::from_mbps(mbps as f64).transmission_time(Bytes::new(mbps % 9000 + 64));
            assert_eq!(u128::from(time.as_ps()), exact, "{mbps} Mb/s");
        }
    }

    #[test]
    fn arithmetic_never_leaves_the_range() {
        assert!(Rate::from_bps(f64::NAN).is_nan() && !Rate::from_bps(f64::INFINITY).is_nan());
        assert_eq!(Rate::from_bps(-1.0), Rate::ZERO);
        assert!(Rate::from_bps(f64::INFINITY).bps().is_finite());
        assert!(Rate::from_bps(-0.0).bps().is_sign_positive());
        let (one, two) = (Rate::from_gbps(1.0), Rate::from_gbps(2.0));
        assert_eq!(one - two, Rate::ZERO);
        assert_eq!(one + one, two);
        assert_eq!(two / 2.0, one);
        assert_eq!(one * -1.0, Rate::ZERO);
        assert!((one / 0.0).bps().is_finite());
        let none = Rate::ZERO / 0.0;
        assert!(none.is_nan() && (none + one).is_nan() && (none * 2.0).is_nan() && none.min(one).is_nan());
        assert_eq!(
            (none.to_string(), none.transmission_time(Bytes::new(1))),
            ("not a number".into(), Time::MAX)
        );
        assert_eq!(one.min(two), one);
        assert_eq!(one.max(two), two);
        assert_eq!([one, one].into_iter().sum::<Rate>(), two);
        assert!((two.mbps() - 2000.0).abs() < 1e-9);
        assert!((two.gbps() - 2.0).abs() < 1e-12);
        let mut r = one;
        r += one;
        r -= two;
        assert_eq!(r, Rate::ZERO);
    }
}
