//! Tables in files: RFC 4180, six significant digits, texts that no spreadsheet takes for a formula.

use crate::record::RunRecord;
use cnsim_problem::read_file;
use std::io::Read as _;
use std::path::Path;

/// The first bytes of a regular file as text; none of other files.
pub(crate) fn read_start(path: &Path, bytes: u64) -> Option<String> {
    let mut start = Vec::new();
    let file = crate::place::is_file(path).then(|| std::fs::File::open(path).ok())??;
    file.take(bytes).read_to_end(&mut start).ok()?;
    Some(String::from_utf8_lossy(&start).into_owned())
}

/// Largest file of results that is read, bytes.
pub const LARGEST: u64 = 2_000_000_000;

/// Least number of columns of a line that is read; missing ones are empty.
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

/// Condition, PAUSE mode, scheme and seed of a run.
pub fn labels(r: &RunRecord) -> Vec<String> {
    vec![r.case.condition.clone(), r.case.pause.clone(), r.case.scheme.clone(), r.seed.to_string()]
}

/// A table in the making: each line begins with the labels of its run.
pub(crate) struct Lines {
    header: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Lines {
    /// A table with these columns behind those of the labels.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let header = ["condition", "pause", "scheme", "seed"].iter().chain(columns).map(|c| (*c).into());
        Self { header: header.collect(), lines: Vec::new() }
    }

    /// A line of this run with these cells, to which more are added.
    pub(crate) fn add(&mut self, r: &RunRecord, cells: impl IntoIterator<Item = String>) -> &mut Vec<String> {
        self.lines.push(labels(r).into_iter().chain(cells).collect());
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    /// The text of the table, even without a line.
    pub(crate) fn text(&self) -> String {
        table(&self.header, &self.lines)
    }

    /// The text of the table; none without a line.
    pub(crate) fn some(&self) -> Option<String> {
        (!self.lines.is_empty()).then(|| self.text())
    }
}

/// Reads the lines of such a table: the labels of its run, and the fields behind them. `what` says what a
/// line is not that `take` does not take, and `help` what to do then.
///
/// # Errors
/// The fault in the file, with place and remedy.
pub(crate) fn read_lines(
    path: &Path,
    (what, help): (&str, &str),
    mut take: impl FnMut(&[String; 4], &[String]) -> Option<()>,
) -> Result<(), String> {
    let text = read_file(path, LARGEST).map_err(|e| format!("{}: {e}\n  help: {help}", path.display()))?;
    for (n, line) in read_csv(&text).into_iter().enumerate() {
        let taken = line.split_first_chunk().and_then(|(run, fields)| take(run, fields));
        taken.ok_or_else(|| format!("{}:{}: {what}\n  help: {help}", path.display(), n + 2))?;
    }
    Ok(())
}

/// What to do about a file that cannot be read.
pub(crate) const AGAIN: &str = "take the file as cnsim wrote it, or run the scenario again";

/// The remedy in the error of an unreadable file that is not needed.
pub(crate) const AWAY: &str = "take the file as cnsim wrote it, or leave it away";

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
