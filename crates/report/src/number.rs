//! Numbers for tables: as many decimals as the study printed, thousands apart, aligned.

use crate::model::Cell;

/// A logarithm for places in a drawing: they are rounded to a tenth of a pixel, so the platform's last bit is not seen.
#[allow(clippy::disallowed_methods)]
pub(crate) fn log10(value: f64) -> f64 {
    value.log10()
}

/// Decimals of a number as printed.
fn decimals(text: &str) -> usize {
    text.trim().split_once('.').map_or(0, |(_, d)| d.chars().take_while(char::is_ascii_digit).count())
}

/// Decimals of a column: those of its published numbers; if there are none, four significant digits of its greatest.
pub(crate) fn column_decimals<'a>(cells: impl Iterator<Item = &'a Cell>) -> usize {
    let (mut printed, mut greatest, mut whole) = (None, 0.0_f64, true);
    for c in cells {
        if let Some(p) = &c.published {
            printed = printed.max(Some(decimals(p)));
        }
        if let Some(m) = c.measured.filter(|m| m.is_finite()) {
            greatest = greatest.max(m.abs());
            whole &= m.fract() == 0.0;
        }
    }
    match printed {
        Some(d) => d.min(6),
        None if whole || greatest >= 1000.0 => 0,
        None if greatest >= 100.0 => 1,
        None if greatest >= 10.0 => 2,
        None => 3,
    }
}

/// Digits of a whole part in groups of three, from five digits on.
fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |d| ("\u{2212}", d));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    if whole.len() < 5 || !whole.bytes().all(|b| b.is_ascii_digit()) {
        return format!("{sign}{digits}");
    }
    let mut out = sign.to_owned();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out + rest
}

/// A number with so many decimals; one that would read as zero gets one significant digit.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    // Half a unit is rounded to an even digit, which may be zero.
    if value != 0.0 && value.abs() <= 0.5 * (1..=decimals).fold(1.0, |p, _| p / 10.0) {
        return grouped(&one_digit(value));
    }
    let text = format!("{value:.decimals$}");
    grouped(if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-')
    } else {
        &text
    })
}

/// Largest asymmetry of an interval that is printed with `±`, as a share of its half length.
const EVEN: f64 = 0.25;
/// Bounds of the values of many metrics: shares and their parts, rates, lengths.
const ENDS: [f64; 3] = [0.0, 1.0, 100.0];

/// Half the length of an interval of the mean, if `mean ± half` is a fair form: the ends lie evenly about the mean, and `±` does not
/// reach beyond 0, 1 or 100 where the interval ends there. Otherwise both ends must be given.
pub fn plus_minus(mean: f64, (low, high): (f64, f64)) -> Option<f64> {
    let half = (high - low) / 2.0;
    let beyond = |end: f64| (low >= end && mean - half < end) || (high <= end && mean + half > end);
    // Ends that differ in the last bits alone are even.
    let even = (mean - low - half).abs();
    (even <= EVEN * half && (even <= 1e-9 * half || !ENDS.into_iter().any(beyond))).then_some(half)
}

/// Decimals of a measured number in a column with `decimals`: at least three significant digits, so that it is not rounded to
/// the published precision. A whole number needs none.
pub(crate) fn telling(value: f64, decimals: usize) -> usize {
    let needed = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    decimals.max(needed)
}

/// A measured number with its significant digits; see [`telling`].
pub(crate) fn measured(value: f64, decimals: usize) -> String {
    fixed(value, telling(value, decimals))
}

fn one_digit(value: f64) -> String {
    for d in 1..12 {
        let text = format!("{value:.d$}");
        if text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
            return text;
        }
    }
    "0".into()
}

/// A number as the study printed it, thousands apart.
pub(crate) fn printed(text: &str) -> String {
    grouped(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_well() {
        assert_eq!(fixed(62.785, 2), "62.78");
        assert_eq!(fixed(-0.001, 2), "\u{2212}0.001");
        assert_eq!(fixed(-0.0, 2), "0.00");
        assert_eq!(fixed(1_733_213.4, 0), "1\u{202f}733\u{202f}213");
        assert_eq!(fixed(0.0004, 2), "0.0004");
        assert_eq!(fixed(f64::NAN, 2), "–");
        assert_eq!(printed("1733213"), "1\u{202f}733\u{202f}213");
        assert_eq!(printed("about 12"), "about 12");
        assert_eq!(
            (fixed(0.5, 0), fixed(-0.5, 0), fixed(0.6, 0)),
            ("0.5".into(), "\u{2212}0.5".into(), "1".into())
        );
        assert_eq!(
            (fixed(0.0625, 1), fixed(0.04, 1), fixed(0.0, 1)),
            ("0.1".into(), "0.04".into(), "0.0".into())
        );
        assert_eq!((fixed(1e-11, 2), fixed(1e-13, 2)), ("0.00000000001".into(), "0".into()));
        assert_eq!((fixed(1234.5, 1), fixed(12_345.25, 2)), ("1234.5".into(), "12\u{202f}345.25".into()));
        assert_eq!(fixed(-123_456.0, 0), "\u{2212}123\u{202f}456");
    }

    #[test]
    fn a_printed_digit_does_not_round_what_was_measured() {
        assert_eq!(measured(1.727, 0), "1.73");
        assert_eq!(measured(16.38, 0), "16.4");
        assert_eq!(measured(1638.4, 0), "1638");
        assert_eq!(measured(16.0, 0), "16");
        assert_eq!(measured(381.144, 2), "381.14");
        for (value, decimals) in
            [(99.5, 1), (100.5, 0), (10.5, 1), (9.5, 2), (1.5, 2), (0.5, 3), (-0.5, 3), (-100.5, 0), (7.0, 0)]
        {
            assert_eq!(telling(value, 0), decimals, "{value}");
        }
        assert_eq!((telling(100.25, 0), telling(10.0625, 0), telling(1.0625, 0)), (0, 1, 2));
        assert_eq!(telling(7.0, 2), 2);
    }

    #[test]
    fn decimals_of_a_column() {
        let cell = |p: Option<&str>, m: f64| Cell {
            published: p.map(str::to_owned),
            measured: Some(m),
            ..Cell::default()
        };
        assert_eq!(column_decimals([cell(Some("0"), 0.0), cell(Some("0.517"), 0.5)].iter()), 3);
        assert_eq!(column_decimals([cell(None, 12.0), cell(None, 3.0)].iter()), 0);
        assert_eq!(column_decimals([cell(None, 12.5)].iter()), 2);
        // Four significant digits of the greatest, whatever its sign.
        for (greatest, decimals) in
            [(1000.5, 0), (999.5, 1), (100.5, 1), (99.5, 2), (10.5, 2), (9.5, 3), (-1000.5, 0), (0.5, 3)]
        {
            assert_eq!(
                column_decimals([cell(None, 0.25), cell(None, greatest)].iter()),
                decimals,
                "{greatest}"
            );
        }
        assert_eq!(column_decimals([cell(None, f64::NAN), cell(None, 0.5)].iter()), 3);
        assert_eq!(column_decimals([cell(Some("1.23456789"), 0.5)].iter()), 6);
        assert_eq!(column_decimals([cell(Some(" 1.5 %"), 1000.5), cell(Some("2"), 0.5)].iter()), 1);
        assert_eq!(column_decimals([].iter()), 0);
    }
}
