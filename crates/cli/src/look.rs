//! How things look in a terminal: colour where it is wanted, aligned tables, bars of characters.

pub(crate) use crate::progress::{duration, on_interrupt, with_progress};
use std::io::IsTerminal;

/// A colour; never the only carrier of a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Dim,
    Bold,
    Plain,
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

pub(crate) fn colour_on_stdout() -> bool {
    wanted() && std::io::stdout().is_terminal()
}

pub(crate) fn colour_on_stderr() -> bool {
    wanted() && std::io::stderr().is_terminal()
}

/// Paints a text if colour is on.
pub(crate) fn paint(text: &str, colour: Colour, on: bool) -> String {
    let code = match colour {
        Colour::Red => "31",
        Colour::Green => "32",
        Colour::Yellow => "33",
        Colour::Dim => "2",
        Colour::Bold => "1",
        Colour::Plain => return text.into(),
    };
    if on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
}

/// A table: columns aligned, first to the left, others to the right; the last as it is told.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], last_left: bool) -> String {
    let last = if last_left { header.len() - 1 } else { usize::MAX };
    aligned(header, rows, &|c| c == 0 || c == last)
}

/// A table of words: all columns to the left, long texts on several lines.
pub(crate) fn words(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let cells: Vec<Vec<String>> = row.iter().map(|text| wrapped(text, 44)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        lines.extend(
            (0..height).map(|i| {
                cells.iter().map(|c| c.get(i).cloned().unwrap_or_default()).collect::<Vec<String>>()
            }),
        );
    }
    aligned(header, &lines, &|_| true)
}

/// A text in lines of at most `width` characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = word.into();
        } else if lines[last].chars().count() + 1 + word.chars().count() <= width {
            lines[last] = format!("{} {word}", lines[last]);
        } else {
            lines.push(word.into());
        }
    }
    lines
}

fn aligned(header: &[&str], rows: &[Vec<String>], left: &dyn Fn(usize) -> bool) -> String {
    let columns = header.len();
    let width = |c: usize| {
        rows.iter().map(|r| r[c].chars().count()).chain([header[c].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cell = |(c, text): (usize, &&str)| {
            let pad = " ".repeat(widths[c].saturating_sub(text.chars().count()));
            if left(c) { format!("{text}{pad}") } else { format!("{pad}{text}") }
        };
        cells.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    let mut out = vec![line(header.to_vec())];
    out.push(widths.iter().map(|w| "─".repeat(*w)).collect::<Vec<_>>().join("──"));
    out.extend(rows.iter().map(|r| line(r.iter().map(String::as_str).collect())));
    out.join("\n")
}

/// Heights of a bar.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Eight-level bars of a series: a picture in one line.
pub(crate) fn spark(values: &[f64], width: usize) -> String {
    let max = values.iter().copied().fold(0.0, f64::max);
    let step = (values.len() as f64 / width as f64).max(1.0);
    (0..width.min(values.len()))
        .map(|i| {
            let (a, b) = ((i as f64 * step) as usize, (((i + 1) as f64 * step) as usize).min(values.len()));
            let peak = values[a..b.max(a + 1).min(values.len())].iter().copied().fold(0.0, f64::max);
            BARS[if max > 0.0 { (peak / max * 7.0).round() as usize } else { 0 }.min(7)]
        })
        .collect()
}

/// As [`spark`], of the mean in each column and up to a height of one's choice.
pub(crate) fn bars(values: &[f64], width: usize, top: f64) -> String {
    let n = values.len();
    let mean = |i: usize| {
        let (a, b) = (i * n / width, ((i + 1) * n / width).max(i * n / width + 1).min(n));
        values[a..b].iter().sum::<f64>() / (b - a).max(1) as f64
    };
    (0..width.min(n))
        .map(|i| {
            let share = if top > 0.0 { (mean(i) / top).clamp(0.0, 1.0) } else { 0.0 };
            if share < 0.01 { ' ' } else { BARS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1] }
        })
        .collect()
}
