//! Simulated time and durations.

use std::fmt;
use std::str::FromStr;

use crate::parse::{self, Count, UnitError};

const EXAMPLE: &str = "500 us";

/// Units from largest to smallest, in picoseconds.
const UNITS: [(&str, u64); 5] =
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];

/// An instant or a duration in whole picoseconds; 0 to about 213 days.
///
/// Picoseconds divide evenly at 1, 10, 25, 40, 100 and 400 Gb/s, so frame times carry no rounding.
/// Arithmetic saturates: [`Time::MAX`] means *never*, and never plus anything is never.
///
/// ```
/// use cnsim_units::Time;
/// assert_eq!("0.5 ms".parse::<Time>(), Ok(Time::from_us(500)));
/// assert_eq!((Time::from_us(500) + Time::from_ns(20)).to_string(), "500.02 us");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// No time at all; the start of every run.
    pub const ZERO: Self = Self(0);
    /// Never: later than every instant; printed and read as `never`.
    pub const MAX: Self = Self(u64::MAX);
    /// The longest time that a run may simulate.
    pub const LONGEST_RUN: Self = Self::from_s(1000);

    /// A time from whole picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A time from whole nanoseconds; it saturates at [`Time::MAX`].
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// A time from whole microseconds; it saturates at [`Time::MAX`].
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// A time from whole milliseconds; it saturates at [`Time::MAX`].
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000_000))
    }

    /// A time from whole seconds; it saturates at [`Time::MAX`].
    #[must_use]
    pub const fn from_s(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000_000))
    }

    /// A time from seconds, rounded to the nearest picosecond; negative and NaN give zero, too large gives [`Time::MAX`].
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e12).round() as u64)
    }

    /// The time in whole picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The time in seconds, rounded to the nearest floating-point number.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// This duration times `factor` (dimensionless), rounded to the nearest picosecond.
    ///
    /// A negative or NaN factor gives zero; [`Time::MAX`] times a positive factor stays [`Time::MAX`].
    #[must_use]
    pub fn scale(self, factor: f64) -> Self {
        if self == Self::MAX && factor > 0.0 {
            return self;
        }
        Self((self.0 as f64 * factor).round() as u64)
    }
}

crate::arithmetic!(Time);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return f.write_str("never");
        }
        let (unit, scale) =
            UNITS.into_iter().find(|(_, scale)| self.0 >= *scale).unwrap_or(("us", 1_000_000));
        parse::show(f, &parse::decimal(self.0, scale), unit)
    }
}

impl FromStr for Time {
    type Err = UnitError;

    /// Reads a number and one of `ps ns us µs ms s`, or `never`; rounds to the nearest picosecond.
    ///
    /// # Errors
    /// Refuses a bare, negative or non-finite number, an unknown unit, more than the type holds, and a
    /// positive time that would round to zero.
    fn from_str(input: &str) -> Result<Self, UnitError> {
        if input.trim() == "never" {
            return Ok(Self::MAX);
        }
        let written = parse::split(input, EXAMPLE)?;
        let refuse = |reason: String| Err(UnitError::new(input, reason, EXAMPLE));
        let lower = written.unit.to_lowercase();
        // Micro sign and Greek mu look alike; both are read.
        let unit = lower.replace(['\u{b5}', '\u{3bc}'], "u");
        let Some((_, scale)) = UNITS.into_iter().find(|(name, _)| *name == unit) else {
            return refuse(format!("has the unit \"{}\", which is none of ps, ns, us, ms, s", written.unit));
        };
        match written.count(scale) {
            Count::Rounded(0) => refuse("is positive but less than a picosecond".into()),
            Count::Exact(ps) | Count::Rounded(ps) => Ok(Self(ps)),
            Count::TooLarge => refuse("is longer than the longest time, about 213 days".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().unwrap()
    }

    fn refusal(text: &str) -> String {
        text.parse::<Time>().unwrap_err().to_string()
    }

    #[test]
    fn reads_every_unit() {
        assert_eq!(time("7 ps"), Time::from_ps(7));
        assert_eq!(time("7ns"), Time::from_ns(7));
        assert_eq!(time("500 us"), Time::from_us(500));
        assert_eq!(time("500 µs"), Time::from_us(500));
        assert_eq!(time("500 μs"), Time::from_us(500));
        assert_eq!(time(" 0.5 ms "), Time::from_us(500));
        assert_eq!(time("1e-3 s"), Time::from_ms(1));
        assert_eq!(time("1E+2s"), Time::from_s(100));
        assert_eq!(time(".5 us"), Time::from_ns(500));
        assert_eq!(time("0 s"), Time::ZERO);
        assert_eq!(time("6.72 ns"), Time::from_ps(6720));
        assert_eq!(time("never"), Time::MAX);
        assert_eq!(time("0.3333333333333333333333333333333333 us"), Time::from_ps(333_333));
    }

    #[test]
    fn refuses_what_is_not_a_time() {
        let cases = [
            ("", "is empty"),
            ("0", "has no unit"),
            ("500", "has no unit"),
            ("-1 us", "is negative"),
            ("NaN us", "not a finite number"),
            ("inf", "not a finite number"),
            ("-inf s", "is negative"),
            ("us", "does not start with a number"),
            (". us", "does not start with a number"),
            ("5 min", "has the unit \"min\""),
            ("5 KB", "has the unit \"KB\""),
            ("5e us", "has the unit \"e us\""),
            ("1,5 us", "separator"),
            ("1 000 us", "separator"),
            ("1e9 s", "longer than the longest"),
            ("1e99999999999999999999 s", "longer than the longest"),
            ("0.1 ps", "less than a picosecond"),
            ("1e-400 s", "less than a picosecond"),
        ];
        for (text, reason) in cases {
            let message = refusal(text);
            assert!(message.contains(reason), "{text}: {message}");
            assert!(message.contains(EXAMPLE), "{text}: {message}");
        }
        assert!(EXAMPLE.parse::<Time>().is_ok());
    }

    #[test]
    fn prints_the_largest_unit_that_fits() {
        assert_eq!(Time::from_us(500).to_string(), "500 us");
        assert_eq!(Time::from_us(1000).to_string(), "1 ms");
        assert_eq!(Time::from_ps(1_200_000).to_string(), "1.2 us");
        assert_eq!(Time::from_ps(999).to_string(), "999 ps");
        assert_eq!(Time::from_s(20).to_string(), "20 s");
        assert_eq!(Time::ZERO.to_string(), "0 us");
        assert_eq!(Time::MAX.to_string(), "never");
        assert_eq!(format!("{:.2}", Time::from_ps(1_234_567)), "1.23 us");
        assert_eq!(format!("{:?}", Time::from_ns(3)), "3 ns");
    }

    #[test]
    fn what_is_printed_reads_back() {
        let mut state = 1_u64;
        for shift in (0..64).cycle().take(6400) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let t = Time::from_ps(state >> shift);
            assert_eq!(time(&t.to_string()), t, "{t}");
        }
        for ps in (0..5000).chain(u64::MAX - 50..=u64::MAX) {
            assert_eq!(time(&Time::from_ps(ps).to_string()), Time::from_ps(ps));
        }
    }

    #[test]
    fn arithmetic_stays_in_range() {
        assert_eq!(Time::MAX + Time::from_ps(1), Time::MAX);
        assert_eq!(Time::from_ns(1) - Time::from_ns(2), Time::ZERO);
        assert_eq!(Time::MAX.checked_add(Time::from_ps(1)), None);
        assert_eq!(Time::from_ns(1).checked_add(Time::from_ns(2)), Some(Time::from_ns(3)));
        assert_eq!(Time::from_us(3) * 4, Time::from_us(12));
        assert_eq!(Time::from_ps(3).scale(0.5), Time::from_ps(2));
        assert_eq!(Time::from_us(1).scale(-1.0), Time::ZERO);
        assert_eq!(Time::from_us(1).scale(f64::NAN), Time::ZERO);
        assert_eq!(Time::MAX.scale(0.5), Time::MAX);
        assert_eq!(Time::from_secs_f64(1.2e-6), Time::from_ns(1200));
        assert_eq!(Time::from_secs_f64(f64::NAN), Time::ZERO);
        assert_eq!(Time::from_secs_f64(f64::INFINITY), Time::MAX);
        assert!((Time::from_ms(20).as_secs_f64() - 0.02).abs() < 1e-15);
        let mut t = Time::from_s(1);
        t += Time::from_ms(1);
        t -= Time::from_s(1);
        assert_eq!(t, Time::from_ms(1));
    }
}
