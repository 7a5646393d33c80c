//! A problem of a user's file: file, line, key, reason and remedy. All readers of users' files report in this form.
//!
//! ```
//! use cnsim_problem::{Position, Problem, nearest};
//!
//! let known = ["switch.memory", "switch.share"];
//! let near = nearest("switch.memroy", known.into_iter()).unwrap();
//! let problem = Problem {
//!     position: Some(Position { line: 3, column: 1 }),
//!     key: "switch.memroy".into(),
//!     ..Problem::of_file("own.toml", "no such key", format!("did you mean `{near}`?"))
//! };
//! assert_eq!(problem.to_string(), "own.toml:3:1: `switch.memroy`: no such key\n  help: did you mean `switch.memory`?");
//! ```

use std::fmt;

/// Line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File name, the scenario's id, or `--set`.
    pub file: String,
    /// Where in the file.
    pub position: Option<Position>,
    /// Dotted key; empty where the text cannot be read at all.
    pub key: String,
    /// The fault of the value or key.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
    /// The line of the file.
    pub excerpt: Option<String>,
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn of_file(file: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            position: None,
            key: String::new(),
            reason: reason.into(),
            remedy: remedy.into(),
            excerpt: None,
        }
    }

    /// A problem with a file that cannot be read.
    pub fn unread(file: &str, why: Unread, remedy: impl Into<String>) -> Self {
        let position = why.line.map(|line| Position { line, column: 1 });
        Self { position, ..Self::of_file(file, why.reason, remedy) }
    }
}

/// All problems in one text, one below the other.
pub fn told(problems: impl AsRef<[Problem]>) -> String {
    joined(problems.as_ref().iter().map(ToString::to_string), "\n")
}

/// Characters of a line that an excerpt shows at most, before and from the column that it points to.
const AROUND: (usize, usize) = (60, 60);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", printable(&self.file))?;
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        if !self.key.is_empty() {
            write!(f, " `{}`:", printable(&self.key))?;
        }
        write!(f, " {}", printable(&self.reason))?;
        if let (Some(Position { line, column }), Some(text)) = (self.position, &self.excerpt) {
            let from = column.saturating_sub(AROUND.0 + 1);
            let shown: String = text.chars().skip(from).take(AROUND.0 + AROUND.1).collect();
            let cut = if from > 0 { "..." } else { "" };
            let more = if text.chars().nth(from + AROUND.0 + AROUND.1).is_some() { "..." } else { "" };
            write!(f, "\n  {line:>4} | {cut}{}{more}", printable(&shown))?;
            // An unprintable character is shown by several columns: the mark stands under the shown text.
            let before: String = shown.chars().take(column - 1 - from).collect();
            let width = cut.len() + printable(&before).chars().count();
            write!(f, "\n       | {}^", " ".repeat(width))?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  help: {}", printable(&self.remedy))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Is this a character that a terminal would obey rather than show: control characters, those that end a line or turn the direction
/// of writing, and noncharacters?
pub fn obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}'
        )
}

/// The text without control characters, which a terminal would obey: they are written as in Rust, `\u{1b}`; tabs become blanks.
pub fn printable(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(obeyed) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if obeyed(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.into()
}

/// Bytes of a scenario file at most.
pub const MAX_TEXT: u64 = 16 << 20;
/// Bytes of a trace, of a topology file, or of a table of published numbers at most.
pub const MAX_FILE: u64 = 256 << 20;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Line of the text at fault, from 1; none where the file as a whole is meant.
    pub line: Option<usize>,
    /// The reason, as the end of a sentence about the file.
    pub reason: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl From<&str> for Unread {
    fn from(reason: &str) -> Self {
        Self::from(reason.to_string())
    }
}

impl From<String> for Unread {
    fn from(reason: String) -> Self {
        Self { line: None, reason }
    }
}

/// Reads a text file: a regular file of at most so many bytes of UTF-8; a byte order mark is skipped.
///
/// # Errors
/// Why it cannot be read.
pub fn read_file(path: &std::path::Path, most: u64) -> Result<String, Unread> {
    let kind = std::fs::metadata(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => "cannot be read: there is no such file".to_string(),
        _ => format!("cannot be read: {e}"),
    })?;
    if kind.is_dir() {
        return Err("is a folder, no file".into());
    }
    if !kind.is_file() {
        return Err("is no regular file".into());
    }
    if kind.len() > most {
        return Err(too_large(most));
    }
    let file = std::fs::File::open(path).map_err(|e| format!("cannot be read: {e}"))?;
    read_from(file, most)
}

fn too_large(most: u64) -> Unread {
    format!("is larger than {} MB", most >> 20).into()
}

/// As [`read_file`], from any reader: standard input.
///
/// # Errors
/// As [`read_file`].
pub fn read_from(source: impl std::io::Read, most: u64) -> Result<String, Unread> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes).map_err(|e| format!("cannot be read: {e}"))?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    let mut text = String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..good].iter().filter(|b| **b == b'\n').count() + 1;
        let reason = format!("is no UTF-8 text: line {line} has a byte that belongs to no character");
        Unread { line: Some(line), reason }
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// The known word nearest to an unknown one, if near: no more than a third of the longer one may differ.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let small = word.to_lowercase();
    known
        .map(|k| (strsim::damerau_levenshtein(&small, &k.to_lowercase()), k))
        .filter(|(d, k)| *d <= 2.max(k.len() / 4) && *d <= small.len().max(k.len()) / 3)
        .min()
        .map(|(_, k)| k)
}

/// The parts that are not empty, with this between them.
pub fn joined<T: AsRef<str>>(parts: impl IntoIterator<Item = T>, between: &str) -> String {
    let mut all = String::new();
    for part in parts.into_iter().filter(|part| !part.as_ref().is_empty()) {
        all += if all.is_empty() { "" } else { between };
        all += part.as_ref();
    }
    all
}

/// Words of which one is to be chosen: `a`, `a or b`, `a, b or c`.
pub fn any_of(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [many @ .., before, last] => [many, &[&format!("{before} or {last}")]].concat().join(", "),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near() {
        assert_eq!(nearest("emc", ["ecm", "bcn"].into_iter()), Some("ecm"));
        assert_eq!(nearest("xp", ["XP", "IN"].into_iter()), Some("XP"));
        assert_eq!(nearest("pfc", ["on", "off", "global"].into_iter()), None);
    }

    #[test]
    fn a_choice_is_a_list() {
        let text = |n: usize| any_of(&["a", "b", "c", "d"][..n]);
        assert_eq!([0, 1, 2, 4].map(text), ["", "a", "a or b", "a, b, c or d"]);
    }

    #[test]
    fn nothing_is_obeyed_by_a_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\tc"), "a\\u{1b}[31mb c");
        // Marks that turn the direction of writing or end a line, each of them; what stands around them is text.
        let marks = ('\u{200d}'..='\u{206a}').filter(|c| obeyed(*c)).map(u32::from).collect::<Vec<u32>>();
        let known = [0x200e, 0x200f].into_iter().chain(0x2028..=0x202e).chain(0x2066..=0x2069);
        assert_eq!(marks, known.collect::<Vec<u32>>());
        assert_eq!(printable("a\u{2066}b"), "a\\u{2066}b");
        let p = Problem {
            key: "k\u{7}".into(),
            excerpt: Some("x\u{9b}y".into()),
            position: Some(Position { line: 1, column: 3 }),
            ..Problem::of_file("f\n", "r\u{202e}", "h\r")
        };
        assert!(p.to_string().lines().all(|l| !l.contains(obeyed)), "{p:?}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let text = format!("{}here{}", "x".repeat(70_000), "y".repeat(70_000));
        let p = Problem {
            excerpt: Some(text),
            position: Some(Position { line: 1, column: 70_001 }),
            ..Problem::of_file("f", "r", "h")
        };
        let said = p.to_string();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[1].find("here"), lines[2].find('^'), "{said}");
        assert!(said.len() < 400);
    }
}
