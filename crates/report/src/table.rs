//! A table: schemes by metrics, published beside measured, with a glyph of the intervals.

use crate::colour::Colours;
use crate::html::{Mark, anchor, scroll, swatch};
use crate::model::{Cell, Column, Page, Table, Verdict};
use crate::number::{column_decimals, fixed, measured, plus_minus, printed, telling};
use indexmap::IndexMap;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write as _;

/// Is the condition without a name? The only condition of a scenario without a template is `default`.
fn unnamed(t: &Table) -> bool {
    t.condition.is_empty() || t.condition == "default"
}

/// Heading of a table: condition and PAUSE mode.
pub(crate) fn heading(t: &Table) -> String {
    match (unnamed(t), t.pause.is_empty()) {
        (true, true) => "Results".into(),
        (true, false) => format!("PAUSE {}", t.pause),
        (false, true) => t.condition.clone(),
        (false, false) => format!("{}, PAUSE {}", t.condition, t.pause),
    }
}

/// How the cells of a column are shown.
#[derive(Clone, Copy)]
struct Style {
    /// Decimals.
    decimals: usize,
    /// Whether any cell has an interval behind it.
    interval: bool,
    /// Whether anything was published; if not, the column stands alone.
    published: bool,
    /// Is the column left out, because it is zero in every row or shown elsewhere?
    dull: bool,
}

/// Zero in every row, and nothing in it differs.
fn dull<'a>(cells: impl Iterator<Item = &'a Cell>) -> bool {
    let zero = |c: &Cell| {
        let said = c.published.as_deref().is_none_or(|p| p.trim().parse() == Ok(0.0));
        said && c.measured == Some(0.0) && c.verdict != Verdict::Differs
    };
    let mut cells = cells.peekable();
    cells.peek().is_some() && cells.all(zero)
}

/// The table with its heading, buttons and differing cells; figures follow inside the same article.
pub(crate) fn table(page: &Page, t: &Table, colours: &Colours) -> Markup {
    let id = anchor(&page.id, &t.id);
    let title = if unnamed(t) { heading(t) } else { t.condition.clone() };
    let conditions = t.rows.iter().any(|r| !r.condition.is_empty());
    let styles = styles(t);
    let shown = || t.columns.iter().zip(&styles).enumerate().filter(|(_, x)| !x.1.dull);
    let first_cell = (0, shown().next().map_or(0, |(c, _)| c));
    let row = |r: usize| {
        let row = &t.rows[r];
        let before = r.checked_sub(1).map(|b| t.rows[b].condition.as_str());
        let first = conditions && before != Some(row.condition.as_str());
        html! {
            tr class=[first.then_some("block")] role="row" {
                @if conditions { td.condition role="cell" { @if first { (row.condition) } } }
                th scope="row" role="rowheader" { (swatch(colours.get(&row.scheme))) (row.scheme) }
                @for (c, (column, style)) in shown() {
                    (cell(row.cells.get(c).and_then(Option::as_ref), column, *style, (r, c, (r, c) == first_cell)))
                }
            }
        }
    };
    let body = html! {
        table.cells role="table" data-table=(t.id) aria-label=(heading(t)) {
            (head(t, conditions, &styles))
            tbody role="rowgroup" { @for r in 0..t.rows.len() { (row(r)) } }
        }
    };
    html! {
        div.head {
            h2 tabindex="-1" {
                (title)
                @if !unnamed(t) && !t.pause.is_empty() { " " span.pill { "PAUSE " (t.pause) } }
            }
            div.tools {
                button.intervals type="button" aria-expanded="false" { "All numbers" }
                button.csv type="button" { "Save as CSV" }
            }
        }
        @if !t.caption.is_empty() { p.small { (t.caption) } }
        (scroll(&format!("table: {}", heading(t)), body))
        div.long.scroll id={ (id) "/long" } role="region" tabindex="0"
            aria-label={ "all numbers: " (heading(t)) } hidden {}
        (zeros(t, &styles))
        (misses(t, &styles))
    }
}

/// The style of each column.
fn styles(t: &Table) -> Vec<Style> {
    let column = |c: usize| t.rows.iter().filter_map(move |r| r.cells.get(c)?.as_ref());
    let mut styles: Vec<Style> = (0..t.columns.len())
        .map(|c| Style {
            decimals: column_decimals(column(c)),
            interval: column(c).any(|x| half(x).is_some() || x.range.is_some()),
            published: column(c).any(|x| x.published.is_some() || x.verdict != Verdict::Unpublished),
            dull: t.columns[c].more || dull(column(c)),
        })
        .collect();
    // A table needs a column.
    if styles.iter().all(|s| s.dull) {
        styles.iter_mut().zip(&t.columns).for_each(|(s, column)| s.dull = column.more);
    }
    styles
}

fn head(t: &Table, conditions: bool, styles: &[Style]) -> Markup {
    let published = styles.iter().filter(|s| s.published && !s.dull).count();
    let span = (published > 0).then_some("2");
    let heading = if t.row_heading.is_empty() { "condition" } else { &t.row_heading };
    html! {
        thead role="rowgroup" {
            tr role="row" {
                @if conditions { th role="columnheader" rowspan=[span] { (heading) } }
                th role="columnheader" rowspan=[span] { "scheme" }
                @for (c, style) in t.columns.iter().zip(styles).filter(|(_, s)| !s.dull) {
                    @let wide = style.published.then_some("2");
                    th.group role="columnheader" colspan=[wide] rowspan=[span.filter(|_| wide.is_none())]
                        title=(c.about) {
                        (c.title) " " small { (c.unit) }
                    }
                }
            }
            @if published > 0 {
                tr role="row" {
                    @for _ in 0..published {
                        th.n.first role="columnheader" { "published" }
                        th.n.m role="columnheader" { "measured" }
                    }
                }
            }
        }
    }
}

/// Which columns are left out because they are zero.
fn zeros(t: &Table, styles: &[Style]) -> Markup {
    let of = |published: bool| -> String {
        let mine =
            t.columns.iter().zip(styles).filter(|(c, s)| s.dull && !c.more && s.published == published);
        let mut titles: Vec<_> = mine.map(|(c, _)| c.title.to_lowercase()).collect();
        titles.dedup();
        titles.join(", ")
    };
    let parts: Vec<String> = [(of(false), ""), (of(true), " (as published)")]
        .into_iter()
        .filter(|p| !p.0.is_empty())
        .map(|(names, more)| format!("{names}{more}"))
        .collect();
    html! { @if !parts.is_empty() { p.small.zeros { "Zero in every row: " (parts.join("; ")) "." } } }
}

fn cell(c: Option<&Cell>, column: &Column, style: Style, (row, at, first): (usize, usize, bool)) -> Markup {
    let label = match column.unit.as_str() {
        "" => column.title.clone(),
        unit => format!("{} [{unit}]", column.title),
    };
    let published = style.published;
    let Some(c) = c else {
        return html! {
            td class=(if published { "n first none" } else { "none" }) role="cell" data-label=(label) {}
            @if published { td.none role="cell" {} }
        };
    };
    let mark = Mark::of(c);
    html! {
        @if published {
            td.n.first.pub role="cell" data-label=(label) {
                @if let Some(p) = &c.published { (printed(p)) } @else { span.dim { "–" } }
            }
        }
        td.n.m.(mark.class()).alone[!published] data-label=[(!published).then_some(label.as_str())]
            data-at={ (row) "," (at) } tabindex=(if first { 0 } else { -1 }) role="cell" {
            span.v { (value(c, style.decimals)) }
            @if style.interval { span.pm { (ends(c, style.decimals)) } }
            @if published { span.under { (PreEscaped(strip(c))) (mark.badge()) } }
        }
    }
}

/// The measured value, with a mark if it is a lower bound.
fn value(c: &Cell, decimals: usize) -> String {
    let mark = if c.at_least { "≥ " } else { "" };
    c.measured.map_or("–".into(), |m| format!("{mark}{}", measured(m, decimals)))
}

/// The text after the mean: half the length of its interval, both ends if they lie unevenly, or the least and greatest value.
fn ends(c: &Cell, decimals: usize) -> String {
    let text = |v: f64| fixed(v, telling(c.measured.unwrap_or(v), decimals));
    if let Some((least, greatest)) = c.range.filter(|(l, g)| l < g) {
        return format!("{} to {}", text(least), text(greatest));
    }
    let (Some(half), Some((low, high))) = (half(c), c.ci95) else { return String::new() };
    match plus_minus(c.measured.unwrap_or(half), (low, high)) {
        Some(half) => format!("± {}", text(half)),
        None => format!("({} to {})", text(low), text(high)),
    }
}

/// Half the interval of the mean, unless it is a point.
fn half(c: &Cell) -> Option<f64> {
    c.ci95.map(|(low, high)| (high - low) / 2.0).filter(|h| h.is_finite() && *h > 0.0)
}

/// The published number (diamond) on the prediction interval of one run (thin) and the interval of the mean (thick).
fn strip(c: &Cell) -> String {
    const W: f64 = 62.0;
    let Some(mean) = c.measured else { return String::new() };
    let published = c.published.as_deref().and_then(|p| p.trim().parse::<f64>().ok());
    let spans: Vec<(f64, f64)> = [c.accept, c.pi95, c.ci95].into_iter().flatten().collect();
    let ends = || spans.iter().flat_map(|&(l, h)| [l, h]).chain(published).chain([mean]);
    let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
    let width = high - low;
    if spans.is_empty() || c.structural || !width.is_finite() || width <= 0.0 {
        return String::new();
    }
    let at = |v: f64| 5.0 + (v - low) / width * (W - 10.0);
    let mut svg = format!(
        "<svg class=\"strip\" viewBox=\"0 0 {W} 12\" width=\"{W}\" height=\"12\" aria-hidden=\"true\">"
    );
    let mut bar = |class: &str, span: Option<(f64, f64)>| {
        if let Some((l, h)) = span {
            let _ =
                write!(svg, "<path class=\"{class}\" d=\"M{:.1} 6H{:.1}\"/>", at(l), at(h).max(at(l) + 0.5));
        }
    };
    bar("accept", c.accept);
    bar("pi", c.pi95);
    bar("ci", c.ci95);
    let _ = write!(svg, "<path class=\"mean\" d=\"M{0:.1} 2V10\"/>", at(mean));
    if let Some(p) = published {
        let _ = write!(svg, "<path class=\"said\" d=\"M{:.1} 2l4 4-4 4-4-4z\"/>", at(p));
    }
    svg + "</svg>"
}

/// Cells that do not agree or cannot be compared, by the note that explains them.
fn misses(t: &Table, styles: &[Style]) -> Markup {
    // The marks that are told, with the words for one and for several cells, and behind a cell.
    let kinds = [
        (Mark::Differs, "differs", "differ", ""),
        (Mark::Near, "is near", "are near", " (near)"),
        (Mark::Undecided, "is undecided", "are undecided", " (undecided)"),
        (Mark::Incomparable, "is incomparable", "are incomparable", " (incomparable)"),
    ];
    let mut notes: IndexMap<&str, Vec<Markup>> = IndexMap::new();
    let mut counts = [0; 4];
    for row in &t.rows {
        for ((c, column), style) in row.cells.iter().zip(&t.columns).zip(styles) {
            let Some(c) = c.as_ref() else { continue };
            let Some(kind) = kinds.iter().position(|k| k.0 == Mark::of(c)) else { continue };
            counts[kind] += 1;
            let shown = html! {
                span.miss {
                    b { (row.scheme) } " "
                    @if !row.condition.is_empty() { (row.condition) ", " }
                    (column.title.to_lowercase())
                    ": published " (c.published.as_deref().map_or("–".into(), printed))
                    ", measured " (value(c, style.decimals)) (kinds[kind].3)
                }
            };
            notes.entry(&c.note).or_default().push(shown);
        }
    }
    let heads = counts.iter().zip(kinds).filter(|(n, _)| **n > 0);
    let heads = heads.map(|(n, (_, one, more, _))| match n {
        1 => format!("1 cell {one}"),
        n => format!("{n} cells {more}"),
    });
    let heads: Vec<String> = heads.collect();
    html! {
        @if !heads.is_empty() {
            details.misses open[counts.iter().sum::<usize>() <= 8] {
                summary { (heads.join(", ")) ": suspected assumptions" }
                dl {
                    @for (note, cells) in notes {
                        dt { @for cell in cells { (cell) } }
                        dd { (if note.is_empty() { "No assumption is suspected yet." } else { note }) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
