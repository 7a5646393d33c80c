//! Tables in files: RFC 4180, six significant digits, texts that no spreadsheet takes for a formula.

use std::io::Read as _;

/// The first bytes of a regular file as text; none of other files.
pub(crate) fn read_start(path: &std::path::Path, bytes: u64) -> Option<String> {
    let mut start = Vec::new();
    let file = crate::place::is_file(path).then(|| std::fs::File::open(path).ok())??;
    file.take(bytes).read_to_end(&mut start).ok()?;
    Some(String::from_utf8_lossy(&start).into_owned())
}

/// Columns that a line has at least, as it is read: missing ones are empty.
const COLUMNS: usize = 24;

/// Reads a table that cnsim wrote: rows of fields, without the header.
pub fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    reader
        .records()
        .flatten()
        .map(|r| (0..r.len().max(COLUMNS)).map(|i| unquoted(r.get(i).unwrap_or("")).to_string()).collect())
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
}
