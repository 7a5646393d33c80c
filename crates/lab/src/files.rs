//! Tables in files: RFC 4180, six significant digits, texts that no spreadsheet takes for a formula.

use std::io::Read as _;

/// The first bytes of a regular file as text; none of other files.
pub(crate) fn read_start(path: &std::path::Path, bytes: u64) -> Option<String> {
    let mut start = Vec::new();
    let file = crate::place::is_file(path).then(|| std::fs::File::open(path).ok())??;
    file.take(bytes).read_to_end(&mut start).ok()?;
    Some(String::from_utf8_lossy(&start).into_owned())
}

/// A number with six significant digits.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.5e}");
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = (5 - exponent).clamp(0, 17) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Reads a table that cnsim wrote: rows of fields, without the header.
pub fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    reader
        .records()
        .flatten()
        .map(|r| (0..16).map(|i| unquoted(r.get(i).unwrap_or("")).to_string()).collect())
        .collect()
}

/// A table as RFC 4180 text.
pub fn table(header: &[String], lines: &[Vec<String>]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let _ = out.write_record(header);
    lines.iter().for_each(|l| drop(out.write_record(l.iter().map(|c| quoted(c)))));
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Beginnings by which spreadsheets know a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A cell as it is written: a text that begins like a formula gets an apostrophe before it, so that no spreadsheet runs it.
fn quoted(cell: &str) -> String {
    let formula = cell.trim_start_matches('\'').starts_with(FORMULA) && cell.parse::<f64>().is_err();
    if formula { format!("'{cell}") } else { cell.into() }
}

/// A cell as it was before it was written.
fn unquoted(cell: &str) -> &str {
    let inner = cell.strip_prefix('\'').filter(|c| c.trim_start_matches('\'').starts_with(FORMULA));
    inner.unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        let cells = ["=1+1", "+3", "-x", "@a", "\t=1", "'=1", "-2.5", "a=1", "", "'a", "é,\"\n"];
        let text = table(&["a".into()], &cells.map(|c| vec![c.into()]));
        assert!(text.contains("\n'=1+1\n+3\n'-x\n'@a\n") && text.contains("\n-2.5\na=1\n"), "{text}");
        let back: Vec<String> = read_csv(&text).into_iter().map(|r| r[0].clone()).collect();
        assert_eq!(back, cells);
    }

    #[test]
    fn six_digits() {
        for (v, t) in [
            (62.79, "62.79"),
            (0.517, "0.517"),
            (214_569.0, "214569"),
            (1.0 / 3.0, "0.333333"),
            (1e-7, "0.0000001"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (12_345_678.0, "12345678"),
        ] {
            assert_eq!(digits(v), t);
        }
    }
}
