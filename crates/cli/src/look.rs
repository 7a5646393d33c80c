//! How things look in a terminal: colour where it is wanted, aligned tables, bars of characters.

use crate::fit::{self, Layout};
pub(crate) use crate::progress::{duration, on_interrupt, with_progress};
use cnsim_measure::stats::Summary;
use cnsim_report::plus_minus;
use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};

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

/// Setting of `--color`: 0 auto, 1 always, 2 never.
static COLOUR: AtomicU8 = AtomicU8::new(0);

/// Follows `--color auto|always|never`.
pub(crate) fn colour(when: &str) {
    let code = match when {
        "always" => 1,
        "never" => 2,
        _ => 0,
    };
    COLOUR.store(code, Ordering::Relaxed);
}

fn wanted(terminal: bool) -> bool {
    match COLOUR.load(Ordering::Relaxed) {
        1 => true,
        2 => false,
        _ => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}

pub(crate) fn colour_on_stdout() -> bool {
    wanted(std::io::stdout().is_terminal())
}

pub(crate) fn colour_on_stderr() -> bool {
    wanted(std::io::stderr().is_terminal())
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
    if on { format!("{0}[{code}m{text}{0}[0m", fit::mark()) } else { text.into() }
}

/// A table with aligned columns: the first to the left, others to the right, the last to the left with `last_left`. If it is wider than
/// the terminal, words are wrapped, or the table is split; each part begins with the columns up to `scheme`.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], last_left: bool) -> String {
    let last = if last_left { header.len() - 1 } else { usize::MAX };
    let keys = header.iter().take(4).position(|h| *h == "scheme").map_or(1, |at| at + 1);
    let words = |c: usize| c == 0 || c == last;
    Layout { header, rows, words: &words, keys, paragraphs: false }.text(fit::width())
}

/// The lines of such a table, if colour is on: the first two dim, each other one as its text says.
pub(crate) fn painted(table: &str, on: bool, tint: impl Fn(&str) -> Colour) -> Vec<String> {
    let line = |(i, line): (usize, &str)| paint(line, if i < 2 { Colour::Dim } else { tint(line) }, on);
    table.lines().enumerate().map(line).collect()
}

/// A table of words: all columns to the left, long texts on several lines; a paragraph a row where the terminal is narrow.
pub(crate) fn words(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = fit::width().unwrap_or(WIDE);
    Layout { header, rows, words: &|_| true, keys: 1, paragraphs: true }.text(Some(width))
}

/// Width of a table of words that goes to no terminal.
const WIDE: usize = 160;

/// Prints to standard output, wrapped to the terminal. Ends the program if the output is closed.
pub(crate) fn say(text: &str) {
    raw(&format!("{}\n", fit::fitted(text, fit::width())));
}

/// A text on standard output, in lines of any length.
pub(crate) fn raw(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(e) = out.write_all(fit::safe(text).as_bytes()).and_then(|()| out.flush()) {
        complain(&format!(
            "error: standard output: {e}\n  help: make room there; files under --out are not touched by this"
        ));
        std::process::exit(2);
    }
}

/// Prints to standard error; the text is lost if it is closed.
pub(crate) fn complain(text: &str) {
    let width = if std::io::stderr().is_terminal() { fit::width_of_stderr() } else { fit::asked() };
    let _ = writeln!(std::io::stderr().lock(), "{}", fit::safe(&fit::fitted(text, width)));
}

/// A number with its noun: `1 case`, `2 cases`.
pub(crate) fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Heights of a bar.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Eight-level bars of a series: a picture in one line.
pub(crate) fn spark(values: &[f64], width: usize) -> String {
    let top = |v: &[f64]| v.iter().copied().fold(0.0, f64::max);
    let max = top(values);
    let bar = |part: &[f64]| BARS[if max > 0.0 { (top(part) / max * 7.0).round() as usize } else { 0 }];
    columns(values, width).map(bar).collect()
}

/// The values in at most so many columns, each with the next ones.
fn columns(values: &[f64], width: usize) -> impl Iterator<Item = &[f64]> {
    let (n, width) = (values.len(), width.min(values.len()));
    (0..width).map(move |i| &values[i * n / width..(i + 1) * n / width])
}

/// Bars of a series in one line: the mean in each column, of a height that is given.
pub(crate) fn bars(values: &[f64], width: usize, top: f64) -> String {
    let bar = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let share = if top > 0.0 { (mean / top).clamp(0.0, 1.0) } else { 0.0 };
        if share < 0.01 { ' ' } else { BARS[(share * 8.0).ceil() as usize - 1] }
    };
    columns(values, width).map(bar).collect()
}

/// Is the text set, and not its default?
pub(crate) fn said(text: &str) -> bool {
    !text.is_empty() && text != "none"
}

/// A mean and its 95 % interval, if it has one, with as many decimals as mean something: `8.31 ± 0.21`, or with both ends where they
/// lie unevenly, `350 (0 to 1200)`.
pub(crate) fn measured(mean: f64, interval: Option<(f64, f64)>) -> String {
    let decimals = decimals(mean);
    let plain = if mean == 0.0 { "0".into() } else { format!("{mean:.decimals$}") };
    let Some((low, high)) = interval.filter(|(low, high)| high > low) else {
        // Equal values have an interval without length.
        return if interval.is_none() || mean == 0.0 {
            plain
        } else {
            format!("{plain} ± {:.decimals$}", 0.0)
        };
    };
    match plus_minus(mean, (low, high)) {
        Some(half) => format!("{mean:.decimals$} ± {half:.decimals$}"),
        None => format!("{plain} ({low:.decimals$} to {high:.decimals$})"),
    }
}

/// A mean, and the least and the greatest value behind it: `350, 0 to 1200`. Brackets are of intervals.
pub(crate) fn ranging(mean: f64, (least, greatest): (f64, f64)) -> String {
    let plain = measured(mean, None);
    let decimals = decimals(mean);
    if least == greatest { plain } else { format!("{plain}, {least:.decimals$} to {greatest:.decimals$}") }
}

/// Decimals that mean something beside a mean.
fn decimals(mean: f64) -> usize {
    match mean.abs() {
        m if m >= 1000.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 1.0 || m == 0.0 => 2,
        _ => 3,
    }
}

/// Half the length of the 95 % interval of the mean; NaN for one seed, which has none.
pub(crate) fn half(s: &Summary) -> f64 {
    s.confidence().map_or(f64::NAN, |(l, h)| (h - l) / 2.0)
}

/// The mark of a value that is a lower bound.
pub(crate) fn at_least(bound: bool) -> String {
    if bound { "≥ ".into() } else { String::new() }
}

/// The meaning of `±` in a sentence, by the numbers of seeds of all cases.
pub(crate) fn interval(seeds: impl IntoIterator<Item = u64, IntoIter: Clone>) -> String {
    let seeds = seeds.into_iter();
    let most = seeds.clone().max().unwrap_or(1);
    match seeds.filter(|n| *n > 1).min() {
        None => "One seed has no interval.".into(),
        Some(few) => format!(
            "± is half the length of the 95 % interval of the mean over {}; uneven ends are given in full.",
            if few < most {
                format!("the {few} to {most} seeds of each case")
            } else {
                format!("{most} seeds")
            }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_and_its_interval() {
        assert_eq!(measured(0.0, None), "0");
        assert_eq!(measured(0.0, Some((0.0, 0.0))), "0");
        assert_eq!(measured(12.5, None), "12.50");
        assert_eq!(measured(12.5, Some((12.5, 12.5))), "12.50 ± 0.00");
        assert_eq!(measured(8.3, Some((8.1, 8.5))), "8.30 ± 0.20");
        assert_eq!(measured(0.5, Some((0.4, 0.6))), "0.500 ± 0.100");
        assert_eq!(
            [1.0, 0.75, 100.0, 99.5, 1000.0, 999.5].map(|v| measured(v, None)),
            ["1.00", "0.750", "100.0", "99.50", "1000", "999.5"]
        );
        assert_eq!(measured(-2.0, Some((-2.5, -1.5))), "-2.00 ± 0.50");
        // 3 below, 5 above: off by a quarter of the half length of 4; more is uneven.
        assert_eq!(measured(100.0, Some((97.0, 105.0))), "100.0 ± 4.0");
        assert_eq!(measured(100.0, Some((97.0, 106.0))), "100.0 (97.0 to 106.0)");
        assert_eq!(measured(1000.0, Some((0.0, 4321.0))), "1000 (0 to 4321)", "an end that is cut shows");
        assert_eq!(measured(0.0, Some((0.0, 2.0))), "0 (0.00 to 2.00)");
        // ± would reach beyond the end of the interval, where no share and no rate can be.
        assert_eq!(measured(1.0, Some((0.0, 2.25))), "1.00 (0.00 to 2.25)");
        assert_eq!(measured(99.0, Some((97.75, 100.0))), "99.00 (97.75 to 100.00)");
        assert_eq!(measured(0.5, Some((-0.5, 1.5))), "0.500 ± 1.000", "a difference");
    }

    #[test]
    fn a_mean_and_its_ends() {
        assert_eq!(ranging(8.3, (8.1, 8.5)), "8.30, 8.10 to 8.50");
        assert_eq!(ranging(150.0, (0.0, 300.0)), "150.0, 0.0 to 300.0");
        assert_eq!((ranging(0.0, (0.0, 0.0)), ranging(7.0, (7.0, 7.0))), ("0".into(), "7.00".into()));
    }

    #[test]
    fn what_stands_behind_the_sign() {
        let of = |seeds: &[u64]| interval(seeds.iter().copied());
        assert!(of(&[1]).contains("no interval") && of(&[1, 2]).contains("over 2 seeds"));
        assert!(of(&[5, 3]).contains("over the 3 to 5 seeds of each case"));
    }

    #[test]
    fn a_series_in_one_line() {
        // Of 14 a sixth, two sevenths and all: eight heights from 0 to 7.
        assert_eq!(spark(&[0.0, 2.0, 4.0, 14.0], 9), "▁▂▃█");
        assert_eq!(spark(&[1.0, 2.0, 0.0, 0.0, 14.0], 2), "▂█", "the greatest of two values and of three");
        assert_eq!(spark(&[0.0, 0.0], 2), "▁▁");
        assert_eq!(spark(&[], 5), "");
        // Means of 2 and 6 of 8; nothing below a hundredth of the height.
        assert_eq!(bars(&[1.0, 3.0, 5.0, 7.0], 2, 8.0), "▂▆");
        assert_eq!(bars(&[0.0, 0.01, 0.009, 0.125, 0.126, 1.0, 7.0, -3.0], 8, 1.0), " ▁ ▁▂██ ");
        assert_eq!(bars(&[1.0, 8.0], 3, 8.0), "▁█", "each value once");
        assert_eq!(bars(&[0.0, 5.0], 2, 0.0), "  ");
    }

    #[test]
    fn a_table_by_hand() {
        let rows = [["a", "1", "x"], ["bb", "22", "yyy"]].map(|r| r.map(String::from).to_vec());
        let lines = |last| {
            table(&["scheme", "n", "verdict"], &rows, last).lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            lines(true),
            ["scheme   n  verdict", "───────────────────", "a        1  x", "bb      22  yyy"]
        );
        assert_eq!(lines(false)[2..], ["a        1        x", "bb      22      yyy"]);
    }

    #[test]
    fn small_words() {
        assert_eq!(["", "none", "x"].map(said), [false, false, true]);
        assert_eq!((at_least(true), at_least(false)), ("≥ ".into(), String::new()));
        assert_eq!(
            (count(1, "case"), count(2, "case"), count(0, "case")),
            ("1 case".into(), "2 cases".into(), "0 cases".into())
        );
        let two = Summary::of(&[1.0, 3.0]).unwrap();
        assert!((half(&two) - 12.706).abs() < 1e-3 && half(&Summary::of(&[1.0]).unwrap()).is_nan());
        assert_eq!(paint("x", Colour::Red, false), "x");
        assert!(paint("x", Colour::Red, true).contains("[31mx"));
    }
}
