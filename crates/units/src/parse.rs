//! Reading and writing decimal numbers with units, exactly.
//!
//! Text is never multiplied by a floating-point scale: the decimal point is moved instead. That is what makes
//! every printed value read back to the same bits.

use std::error::Error;
use std::fmt;

/// Why a text is not a quantity: what was given, what is wrong with it, and a text that would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// The text as given.
    pub input: String,
    /// The fault of the input, as the end of a sentence: "has no unit".
    pub reason: String,
    /// A text of the same dimension that is accepted, such as `10 Gb/s`.
    pub example: &'static str,
}

impl UnitError {
    pub(crate) fn new(input: &str, reason: impl Into<String>, example: &'static str) -> Self {
        Self { input: input.to_owned(), reason: reason.into(), example }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" {}; write for example \"{}\"", self.input, self.reason, self.example)
    }
}

impl Error for UnitError {}

/// A non-negative decimal number as written: `digits` times ten to the `exponent`, and the unit after it.
pub(crate) struct Written<'a> {
    /// Significant digits only, no leading zeros; empty for zero.
    pub(crate) digits: String,
    /// Power of ten of the last digit.
    pub(crate) exponent: i64,
    /// Text behind the number, without surrounding blanks; never empty.
    pub(crate) unit: &'a str,
}

/// Splits `input` into number and unit, or says why it cannot.
pub(crate) fn split<'a>(input: &'a str, example: &'static str) -> Result<Written<'a>, UnitError> {
    let refuse = |reason: String| Err(UnitError::new(input, reason, example));
    let text = input.trim();
    if text.is_empty() {
        return refuse("is empty".into());
    }
    if text.starts_with(['-', '\u{2212}']) {
        return refuse("is negative".into());
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("nan") || lower.starts_with("inf") {
        return refuse("is not a finite number".into());
    }
    let count = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(count(text));
    let (part, rest) = match rest.strip_prefix('.') {
        Some(after) => after.split_at(count(after)),
        None => ("", rest),
    };
    if whole.is_empty() && part.is_empty() {
        return refuse("does not start with a number".into());
    }
    let (power, rest) = exponent(rest);
    let unit = rest.trim();
    if unit.is_empty() {
        return refuse("has no unit".into());
    }
    if unit.starts_with([',', '.', '_', '\'']) || unit.starts_with(|c: char| c.is_ascii_digit()) {
        return refuse(format!(
            "has \"{unit}\" after the number (digits need no separator, the mark is a point)"
        ));
    }
    let all = format!("{whole}{part}");
    let digits = all.trim_start_matches('0').to_owned();
    let decimals = i64::try_from(part.len()).unwrap_or(i64::MAX);
    Ok(Written { digits, exponent: power.saturating_sub(decimals), unit })
}

/// Takes `e`, an optional sign and digits off the front of `rest`; an `e` without digits belongs to the unit.
fn exponent(rest: &str) -> (i64, &str) {
    let Some(after) = rest.strip_prefix(['e', 'E']) else { return (0, rest) };
    let (sign, body) = match after.as_bytes().first() {
        Some(b'-') => (-1, &after[1..]),
        Some(b'+') => (1, &after[1..]),
        _ => (1, after),
    };
    let end = body.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 {
        return (0, rest);
    }
    // An exponent too long for the type is far outside every range; a million says so without overflow.
    let power = body[..end].parse::<i64>().unwrap_or(1_000_000).min(1_000_000);
    (sign * power, &body[end..])
}

/// The result of turning a written number into a whole count of base units.
pub(crate) enum Count {
    /// Exactly this many.
    Exact(u64),
    /// Not a whole number; the nearest one.
    Rounded(u64),
    /// More than the type holds.
    TooLarge,
}

impl Written<'_> {
    /// The number times `scale`, as a whole count, without going through floating point.
    pub(crate) fn count(&self, scale: u64) -> Count {
        if self.digits.is_empty() {
            return Count::Exact(0);
        }
        let digits = self.digits.trim_end_matches('0');
        let dropped = i64::try_from(self.digits.len() - digits.len()).unwrap_or(i64::MAX);
        let mut exponent = self.exponent.saturating_add(dropped);
        // 24 digits are kept: more than the type resolves, and the product still fits in 128 bits.
        let kept = &digits[..digits.len().min(24)];
        let cut = digits.len() - kept.len();
        exponent = exponent.saturating_add(i64::try_from(cut).unwrap_or(i64::MAX));
        let Ok(mantissa) = kept.parse::<u128>() else { return Count::TooLarge };
        let Some(product) = mantissa.checked_mul(u128::from(scale)) else { return Count::TooLarge };
        let power = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
        let ten = 10_u128.checked_pow(power);
        let (value, exact) = if exponent >= 0 {
            match ten.and_then(|t| product.checked_mul(t)) {
                Some(v) => (v, cut == 0),
                None => return Count::TooLarge,
            }
        } else {
            match ten {
                Some(t) => ((product + t / 2) / t, cut == 0 && product.is_multiple_of(t)),
                None => (0, false),
            }
        };
        match (u64::try_from(value), exact) {
            (Ok(v), true) => Count::Exact(v),
            (Ok(v), false) => Count::Rounded(v),
            (Err(_), _) => Count::TooLarge,
        }
    }

    /// The number times ten to the `shift`, correctly rounded; `None` where that is not finite.
    pub(crate) fn float(&self, shift: i64) -> Option<f64> {
        if self.digits.is_empty() {
            return Some(0.0);
        }
        let text = format!("{}e{}", self.digits, self.exponent.saturating_add(shift));
        text.parse::<f64>().ok().filter(|v| v.is_finite())
    }
}

/// `value / scale` as an exact decimal without trailing zeros; `scale` is a power of ten.
pub(crate) fn decimal(value: u64, scale: u64) -> String {
    let (whole, part) = (value / scale, value % scale);
    if part == 0 {
        return whole.to_string();
    }
    let width = scale.to_string().len() - 1;
    let part = format!("{part:0width$}");
    format!("{whole}.{}", part.trim_end_matches('0'))
}

/// Moves the decimal point of plain decimal `text` by `places` to the left, without trailing zeros.
pub(crate) fn shift_left(text: &str, places: usize) -> String {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let padded = format!("{whole:0>width$}", width = places + 1);
    let (head, tail) = padded.split_at(padded.len() - places);
    let head = head.trim_start_matches('0');
    let head = if head.is_empty() { "0" } else { head };
    let tail = format!("{tail}{part}");
    let tail = tail.trim_end_matches('0');
    if tail.is_empty() { head.to_owned() } else { format!("{head}.{tail}") }
}

/// Writes `number` and `unit`; a precision in the format (`{:.3}`) keeps at most that many decimals.
pub(crate) fn show(f: &mut fmt::Formatter<'_>, number: &str, unit: &str) -> fmt::Result {
    let Some(decimals) = f.precision() else { return f.pad(&format!("{number} {unit}")) };
    let value = number.parse::<f64>().map_err(|_| fmt::Error)?;
    let rounded = format!("{value:.decimals$}");
    let number = if rounded.contains('.') {
        rounded.trim_end_matches('0').trim_end_matches('.')
    } else {
        rounded.as_str()
    };
    write!(f, "{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_moves_without_arithmetic() {
        assert_eq!(shift_left("10000000000", 9), "10");
        assert_eq!(shift_left("100000000", 9), "0.1");
        assert_eq!(shift_left("1234.5", 3), "1.2345");
        assert_eq!(shift_left("0", 9), "0");
        assert_eq!(decimal(26_176, 1000), "26.176");
        assert_eq!(decimal(1_050, 1000), "1.05");
    }

    #[test]
    fn an_error_says_what_was_given_what_is_wrong_and_what_is_right() {
        let error = UnitError::new("7", "has no unit", "10 Gb/s");
        assert_eq!(error.to_string(), "\"7\" has no unit; write for example \"10 Gb/s\"");
    }
}
