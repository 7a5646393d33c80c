//! How things look in a terminal: colour where it is wanted, aligned tables, progress.

use cnsim_studies::study::Watch;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

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

/// Seconds as a person reads them.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 0.5 {
        return "less than 1 s".into();
    }
    let s = seconds.round() as u64;
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

/// Time to go: what is left of the packet-hops expected at the speed so far; once the estimate is used up, by runs.
fn to_go(work: f64, hops: f64, (done, total): (u64, u64), seconds: f64) -> Option<f64> {
    if done >= total || seconds < 1.0 {
        return None;
    }
    let by_runs = (done > 0).then(|| seconds / done as f64 * (total - done) as f64);
    if hops > 0.0 && hops < 0.98 * work { Some((work - hops) / (hops / seconds)) } else { by_runs }
}

/// Shows progress on a terminal while `work` runs: runs done, packet-hops a second, time to go; `expected` are the
/// packet-hops to be simulated.
pub(crate) fn with_progress<T: Send>(
    total: u64,
    expected: f64,
    watch: &Arc<Watch>,
    quiet: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    let bar = ProgressBar::new(total);
    let style = ProgressStyle::with_template(" {bar:32} {pos}/{len} runs  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let started = Instant::now();
    let finished = &std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (bar, watched) = (&bar, watch.clone());
        let painter = scope.spawn(move || {
            while !finished.load(Ordering::Relaxed) {
                let (done, hops) =
                    (watched.done.load(Ordering::Relaxed), watched.live.load(Ordering::Relaxed));
                let seconds = started.elapsed().as_secs_f64();
                bar.set_position(done);
                let eta = to_go(expected, hops as f64, (done, total), seconds)
                    .map_or_else(String::new, |s| format!("ETA {}", duration(s)));
                bar.set_message(format!(
                    "{:.1} M packet-hops/s  {eta}",
                    hops as f64 / seconds.max(0.05) / 1e6
                ));
                std::thread::park_timeout(Duration::from_millis(200));
            }
            bar.finish_and_clear();
        });
        let result = work();
        finished.store(true, Ordering::Relaxed);
        painter.thread().unpark();
        result
    })
}

/// Ctrl-C asks the runs to stop; what is finished is kept. A second one ends the program at once.
pub(crate) fn on_interrupt(watch: &Arc<Watch>) {
    let watch = watch.clone();
    let _ = ctrlc::set_handler(move || {
        if watch.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        assert_eq!(duration(9.4), "9 s");
        assert_eq!(duration(125.0), "2 min 05 s");
        assert_eq!(duration(3725.0), "1 h 02 min");
    }

    #[test]
    fn time_to_go_is_by_work_not_by_runs() {
        // Ninety runs came from the store at once; ten long ones are half done.
        let s = to_go(1000.0, 500.0, (90, 100), 60.0).unwrap();
        assert!((s - 60.0).abs() < 1e-9, "{s}");
        // The estimate was too small: by runs.
        assert_eq!(to_go(1000.0, 1000.0, (50, 100), 60.0), Some(60.0));
        assert_eq!(to_go(1000.0, 0.0, (0, 100), 60.0), None);
        assert_eq!(to_go(0.0, 0.0, (100, 100), 60.0), None);
    }
}
