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
    if value != 0.0 && value.abs() < 0.5 * (1..=decimals).fold(1.0, |p, _| p / 10.0) {
        return grouped(&one_digit(value));
    }
    let text = format!("{value:.decimals$}");
    grouped(if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-')
    } else {
        &text
    })
}

/// Decimals of a measured number in a column of so many: at least three significant digits, so that it is not rounded to
/// what the study printed; a whole number needs none.
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

/// A measured number, see [`telling`].
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
    }

    #[test]
    fn a_printed_digit_does_not_round_what_was_measured() {
        assert_eq!(measured(1.727, 0), "1.73");
        assert_eq!(measured(16.38, 0), "16.4");
        assert_eq!(measured(1638.4, 0), "1638");
        assert_eq!(measured(16.0, 0), "16");
        assert_eq!(measured(381.144, 2), "381.14");
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
    }
}
