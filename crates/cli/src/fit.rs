//! Text and tables that fit the terminal: lines are broken between words, and a table that is too wide wraps its cells,
//! stands in several parts, or becomes a paragraph a row.

use cnsim_problem::obeyed;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;

/// Spaces between columns.
const GAP: usize = 2;

/// Narrowest useful column of words. If a column gets less, the table becomes paragraphs.
const WORDS: usize = 24;

/// Columns to fit into: `COLUMNS` or those of the terminal; none if standard output is neither, as lines are then for
/// other programs.
pub(crate) fn width() -> Option<usize> {
    static WIDTH: OnceLock<Option<usize>> = OnceLock::new();
    let found = || terminal_size::terminal_size_of(std::io::stdout()).map(|s| usize::from(s.0.0));
    *WIDTH.get_or_init(|| asked().or_else(|| found().map(bounded)))
}

/// Columns of standard error to fit into: `COLUMNS` or those of its terminal; none if it is neither.
pub(crate) fn width_of_stderr() -> Option<usize> {
    let found = || terminal_size::terminal_size_of(std::io::stderr()).map(|s| usize::from(s.0.0));
    asked().or_else(|| found().map(bounded))
}

/// Width from the variable `COLUMNS`.
pub(crate) fn asked() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().map(bounded)
}

/// A width of 0 means unknown.
fn bounded(width: usize) -> usize {
    if width == 0 { 80 } else { width.clamp(20, 400) }
}

/// Begins the mark of a colour's code: a noncharacter.
const MARK: char = '\u{fdd0}';

/// Stands for the escape of a colour's code until that leaves for the terminal: [`MARK`] and noncharacters that differ from process
/// to process, so that no file can hold it.
pub(crate) fn mark() -> &'static str {
    static OURS: OnceLock<String> = OnceLock::new();
    OURS.get_or_init(|| {
        let draw = RandomState::new().hash_one(0);
        let digits = (0..12).filter_map(|i| char::from_u32(0xFDE0 + (draw >> (4 * i)) as u32 % 16));
        std::iter::once(MARK).chain(digits).collect()
    })
}

/// Text that is safe for a terminal: only our own colours stay. Other control characters, as in file names, are written as `\u001b`,
/// which is valid in JSON and TOML, too.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    let plain = |c: char| matches!(c, '\n' | '\t') || !obeyed(c);
    if text.chars().all(plain) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 32);
    for (i, part) in text.split(mark()).enumerate() {
        out.push_str(if i > 0 { "\x1b" } else { "" });
        for c in part.chars() {
            if plain(c) { out.push(c) } else { out.push_str(&format!("\\u{:04x}", u32::from(c))) }
        }
    }
    out.into()
}

/// Characters that are seen: without the codes of colours.
pub(crate) fn seen(text: &str) -> usize {
    let mut count = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == MARK {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            count += 1;
        }
    }
    count
}

/// A text whose lines fit; those that do not are broken between words, and go on below where their text began: after the
/// indent, or after the label in front of two spaces. JSON stays as it is.
pub(crate) fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.into() };
    if text.starts_with('{') || text.starts_with("[{") || text.starts_with("[]") {
        return text.into();
    }
    let lines = text.split('\n').map(|l| if seen(l) <= width { l.to_string() } else { broken(l, width) });
    lines.collect::<Vec<_>>().join("\n")
}

/// One line that is too long, in several.
fn broken(line: &str, width: usize) -> String {
    let body = line.trim_start_matches(' ');
    let indent = line.len() - body.len();
    let label = body.find("  ").map(|at| {
        let text = body[at..].trim_start_matches(' ');
        (seen(&body[..body.len() - text.len()]), text)
    });
    if let Some(text) = body.strip_prefix("* ") {
        let parts = wrapped(text, width.saturating_sub(indent + 2).max(10));
        return format!("{}* {}", " ".repeat(indent), parts.join(&format!("\n{}", " ".repeat(indent + 2))));
    }
    let (head, text, hang) = match label.filter(|(n, t)| indent + n <= width / 2 && !t.is_empty()) {
        Some((n, text)) => (&line[..line.len() - text.len()], text, indent + n),
        None => (&line[..indent], body, indent.min(width / 2)),
    };
    let parts = wrapped(text, width - hang);
    format!("{head}{}", parts.join(&format!("\n{}", " ".repeat(hang))))
}

/// A text in lines of at most `width` characters, broken between words; a word that is longer still is broken behind a
/// mark such as `/`, and only without one anywhere.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word.to_string();
        if used > 0 && used + 1 + seen(&word) <= width {
            used += 1 + seen(&word);
            if let Some(last) = lines.last_mut() {
                last.push(' ');
                last.push_str(&word);
            }
            continue;
        }
        if used > 0 || lines.last().is_some_and(|l| !l.is_empty()) {
            lines.push(String::new());
        }
        while seen(&word) > width && !word.contains(MARK) {
            let fits: String = word.chars().take(width).collect();
            let at = fits.rfind(['/', ',', '=', ':', '|', '_', '-', '.']).map_or(fits.len(), |i| i + 1);
            let rest = word.split_off(at);
            if let Some(last) = lines.last_mut() {
                *last = word;
            }
            lines.push(String::new());
            word = rest;
        }
        used = seen(&word);
        if let Some(last) = lines.last_mut() {
            *last = word;
        }
    }
    lines
}

/// A table to be laid out.
pub(crate) struct Layout<'a> {
    pub(crate) header: &'a [&'a str],
    pub(crate) rows: &'a [Vec<String>],
    /// Columns of words: to the left, and their cells may be broken.
    pub(crate) words: &'a dyn Fn(usize) -> bool,
    /// Leading columns that name the row.
    pub(crate) keys: usize,
    /// A row that does not fit becomes a paragraph, instead of the table several parts.
    pub(crate) paragraphs: bool,
}

impl Layout<'_> {
    fn natural(&self, c: usize) -> usize {
        self.rows.iter().map(|r| seen(&r[c])).chain([seen(self.header[c])]).max().unwrap_or(0)
    }

    /// The least width of a column: that of its longest word, or of its longest number.
    fn least(&self, c: usize) -> usize {
        let word = |t: &str| t.split(' ').map(seen).max().unwrap_or(0);
        let cell = |t: &String| if (self.words)(c) { word(t) } else { seen(t) };
        self.rows.iter().map(|r| cell(&r[c])).chain([word(self.header[c])]).max().unwrap_or(0)
    }

    /// Widths of these columns that fit; none if they cannot.
    fn widths(&self, columns: &[usize], width: Option<usize>) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = columns.iter().map(|c| self.natural(*c)).collect();
        let Some(width) = width else { return Some(widths) };
        let least: Vec<usize> = columns.iter().map(|c| self.least(*c)).collect();
        let room = width.checked_sub(GAP * columns.len().saturating_sub(1))?;
        if least.iter().sum::<usize>() > room {
            return None;
        }
        while widths.iter().sum::<usize>() > room {
            let widest = (0..widths.len()).filter(|i| widths[*i] > least[*i]).max_by_key(|i| widths[*i])?;
            widths[widest] -= 1;
        }
        Some(widths)
    }

    /// The columns in parts that fit, each with the first ones; `measured` stays with the column before it.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let first: Vec<usize> = (0..self.keys).collect();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut at = self.keys;
        while at < self.header.len() {
            let pair = self.header.get(at + 1).is_some_and(|h| h.starts_with("measured"));
            let both = [first.clone(), vec![at, at + 1]].concat();
            let pair = pair && self.widths(&both, Some(width)).is_some();
            let more: Vec<usize> = (at..=at + usize::from(pair)).collect();
            at += more.len();
            let joined = parts.last().map(|p| [p.clone(), more.clone()].concat());
            match joined.filter(|p| self.widths(p, Some(width)).is_some()) {
                Some(p) => *parts.last_mut().unwrap_or(&mut Vec::new()) = p,
                None => parts.push([first.clone(), more].concat()),
            }
        }
        parts
    }

    /// The table as text, with a line under its header.
    pub(crate) fn text(&self, width: Option<usize>) -> String {
        // A column of words without a word says nothing.
        let says = |c: &usize| self.rows.is_empty() || self.rows.iter().any(|r| !r[*c].is_empty());
        let all: Vec<usize> = (0..self.header.len()).filter(says).collect();
        let last = |widths: &[usize]| self.paragraphs && widths.last().is_some_and(|w| *w < WORDS);
        let natural = |w: &[usize]| w.iter().zip(&all).all(|(w, c)| *w == self.natural(*c));
        if let Some(widths) = self.widths(&all, width)
            && (!last(&widths) || natural(&widths))
        {
            return self.drawn(&all, &widths);
        }
        let width = width.unwrap_or(usize::MAX);
        if self.paragraphs {
            return self.paragraphs(&all, width);
        }
        let parts = self.parts(width);
        let drawn = |p: &Vec<usize>| {
            let fits = self.widths(p, Some(width));
            let any = || p.iter().map(|c| self.least(*c)).collect();
            self.drawn(p, &fits.unwrap_or_else(any))
        };
        parts.iter().map(drawn).collect::<Vec<_>>().join("\n\n")
    }

    fn drawn(&self, columns: &[usize], widths: &[usize]) -> String {
        let block = |cells: Vec<&str>, low: bool| -> Vec<String> {
            let cells: Vec<Vec<String>> = cells.iter().zip(widths).map(|(t, w)| wrapped(t, *w)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            let line = |i: usize| {
                let cell = |(at, lines): (usize, &Vec<String>)| {
                    let skip = if low { height - lines.len() } else { 0 };
                    let text = i.checked_sub(skip).and_then(|i| lines.get(i)).map_or("", String::as_str);
                    let pad = " ".repeat(widths[at].saturating_sub(seen(text)));
                    if (self.words)(columns[at]) { format!("{text}{pad}") } else { format!("{pad}{text}") }
                };
                let cells = cells.iter().enumerate().map(cell).collect::<Vec<_>>();
                cells.join(&" ".repeat(GAP)).trim_end().to_string()
            };
            (0..height).map(line).collect()
        };
        let mut out = block(columns.iter().map(|c| self.header[*c]).collect(), true);
        let rules = widths.iter().map(|w| "─".repeat(*w)).collect::<Vec<_>>();
        out.push(rules.join(&"─".repeat(GAP)));
        for r in self.rows {
            out.extend(block(columns.iter().map(|c| r[*c].as_str()).collect(), false));
        }
        out.join("\n")
    }

    /// A row as its first cell, a line of the others with their headings, and the last cell below.
    fn paragraphs(&self, columns: &[usize], width: usize) -> String {
        const INDENT: &str = "    ";
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return String::new() };
        let mut out = Vec::new();
        for r in self.rows {
            out.extend(wrapped(&r[*first], width));
            let facts: Vec<String> = columns[1..columns.len() - 1]
                .iter()
                .filter(|c| !r[**c].is_empty())
                .map(|c| format!("{} {}", self.header[*c], r[*c]))
                .collect();
            for text in [facts.join("; "), r[*last].clone()] {
                if !text.is_empty() {
                    out.extend(
                        wrapped(&text, width - INDENT.len()).into_iter().map(|l| format!("{INDENT}{l}")),
                    );
                }
            }
        }
        out.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(list: &[&[&str]]) -> Vec<Vec<String>> {
        list.iter().map(|r| r.iter().map(|c| (*c).to_string()).collect()).collect()
    }

    /// No line is longer than the width, and every word of the cells stands whole.
    fn whole(text: &str, width: usize, words: &[Vec<String>]) {
        assert!(text.lines().all(|l| seen(l) <= width), "{width}:\n{text}");
        let found: Vec<&str> = text.split_whitespace().map(|w| w.trim_end_matches(';')).collect();
        for w in words.iter().flatten().flat_map(|c| c.split(' ')).filter(|w| !w.is_empty()) {
            assert!(found.contains(&w), "`{w}` at {width}:\n{text}");
        }
    }

    #[test]
    fn lines_break_between_words_and_hang() {
        let text = fitted("  key  a meaning of several words that goes on", Some(24));
        assert_eq!(text, "  key  a meaning of\n       several words\n       that goes on");
        assert_eq!(fitted("{\"a\": \"b c d e f\"}", Some(5)), "{\"a\": \"b c d e f\"}");
        let painted = fitted("\u{fdd0}[1mabc def\u{fdd0}[0m", Some(7));
        assert_eq!(painted, "\u{fdd0}[1mabc def\u{fdd0}[0m", "codes take no room");
        assert_eq!(wrapped("a/long/path/of/names", 8), ["a/long/", "path/of/", "names"]);
    }

    #[test]
    fn tables_fit_or_stand_in_parts() {
        let header =
            ["scheme", "aggregate publ.", "measured [Gb/s]", "hot port publ.", "measured [Gb/s]", "verdict"];
        let rows = rows(&[
            &["none", "62.79", "62.74 ± 0.04", "6.01", "6.03 ± 0.01", "agrees"],
            &["qcn-2pt", "81.99", "81.94 ± 0.09", "5.49", "5.45 ± 0.09", "differs: hot port, aggregate"],
        ]);
        let words = |c: usize| c == 0 || c == 5;
        let table = Layout { header: &header, rows: &rows, words: &words, keys: 1, paragraphs: false };
        for width in [30, 40, 60, 80, 120] {
            whole(&table.text(Some(width)), width, &rows);
        }
        assert_eq!(table.text(None).lines().count(), 4);
        let narrow = table.text(Some(40));
        assert!(narrow.matches("qcn-2pt").count() > 1, "each part says whose row it is:\n{narrow}");
        assert!(narrow.lines().any(|l| l.contains("62.74 ± 0.04")), "numbers keep their interval:\n{narrow}");
    }

    #[test]
    fn words_wrap_or_become_paragraphs() {
        let header = ["parameter", "symbol", "default", "in studies", "meaning"];
        let rows = rows(&[
            &["q_eq", "Q_eq", "24 KB", "", "set point of the queue, around which feedback is zero"],
            &[
                "interval",
                "I_s",
                "150 KB",
                "",
                "bytes between two samples of a queue that is at its set point",
            ],
        ]);
        let table = Layout { header: &header, rows: &rows, words: &|_| true, keys: 1, paragraphs: true };
        for width in [40, 60, 80] {
            let text = table.text(Some(width));
            whole(&text, width, &rows);
            assert!(!text.contains("in studies"), "an empty column says nothing:\n{text}");
        }
        assert!(table.text(Some(40)).contains("symbol Q_eq; default 24 KB"));
    }

    #[test]
    fn points_of_a_list_hang() {
        assert_eq!(fitted("  * aaaa bbbb cccc dddd", Some(20)), "  * aaaa bbbb cccc\n    dddd");
        // Ten characters are the least.
        assert_eq!(fitted("  * aaaa bbbbbb cccc ddddd", Some(12)), "  * aaaa\n    bbbbbb\n    cccc ddddd");
        assert_eq!(fitted("  aaaa bbbb", Some(8)), "  aaaa\n  bbbb", "an indent stays");
        assert_eq!(fitted("abc def", Some(7)), "abc def");
        assert_eq!(fitted("abc defg", Some(7)), "abc\ndefg");
        assert_eq!(fitted("abc defg", None), "abc defg");
    }

    fn laid(
        header: &[&str],
        rows: &[Vec<String>],
        words: &dyn Fn(usize) -> bool,
        paragraphs: bool,
        width: usize,
    ) -> String {
        Layout { header, rows, words, keys: 1, paragraphs }.text(Some(width))
    }

    #[test]
    fn widths_by_hand() {
        let two = rows(&[&["aaa", "111"], &["b", "2"]]);
        assert_eq!(laid(&["x", "y"], &two, &|c| c == 0, false, 8), "x      y\n────────\naaa  111\nb      2");
        let three = rows(&[&["aaa", "111", "22"]]);
        // 3 + 2 + 3 + 2 + 2 = 12; with one less in two parts, each with the first column.
        assert_eq!(laid(&["x", "y", "z"], &three, &|c| c == 0, false, 12).lines().count(), 3);
        assert_eq!(
            laid(&["x", "y", "z"], &three, &|c| c == 0, false, 11),
            "x      y\n────────\naaa  111\n\nx     z\n───────\naaa  22"
        );
        // The widest column of words gives way, the first one, too.
        let wide = rows(&[&["aa bb cc", "11"]]);
        assert_eq!(laid(&["x", "y"], &wide, &|c| c == 0, false, 9), "x       y\n─────────\naa bb  11\ncc");
    }

    /// The published value stays beside the measured one.
    #[test]
    fn pairs_stay_together() {
        let header = ["scheme", "0123456789", "a publ.", "measured", "b"];
        let some = rows(&[&["none", "1", "2", "3", "4"]]);
        let text = laid(&header, &some, &|c| c == 0, false, 30);
        let heads: Vec<&str> = text.split("\n\n").map(|p| p.lines().next().unwrap()).collect();
        assert_eq!(heads, ["scheme  0123456789", "scheme  a publ.  measured  b"]);
    }

    #[test]
    fn a_narrow_last_column_makes_paragraphs() {
        let some = rows(&[&[
            "a-key-of-thirty-one-characters-x",
            "several words that say what it is and what it is for",
        ]]);
        let text = laid(&["key", "meaning"], &some, &|_| true, true, 52);
        assert_eq!(
            text,
            "a-key-of-thirty-one-characters-x\n    several words that say what it is and what it is\n    for"
        );
        let text = laid(&["key", "meaning"], &some, &|_| true, true, 60);
        assert!(text.contains('─'), "26 characters are enough:\n{text}");
        assert_eq!(bounded(0), 80);
        assert_eq!((bounded(3), bounded(100), bounded(1000)), (20, 100, 400));
    }
}
