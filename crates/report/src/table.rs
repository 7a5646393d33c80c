//! A table: schemes by metrics, published beside measured, with a glyph of the intervals.

use crate::colour::Colours;
use crate::html::{Mark, anchor, esc, scroll, swatch};
use crate::model::{Cell, Page, Table, Verdict};
use crate::number::{column_decimals, fixed, measured, plus_minus, printed, telling};
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
pub(crate) fn table(page: &Page, t: &Table, colours: &Colours, out: &mut String) {
    let id = anchor(&page.id, &t.id);
    let title = if unnamed(t) { heading(t) } else { t.condition.clone() };
    let _ = write!(out, "<div class=\"head\"><h2 tabindex=\"-1\">{}", esc(&title));
    if !unnamed(t) && !t.pause.is_empty() {
        let _ = write!(out, " <span class=\"pill\">PAUSE {}</span>", esc(&t.pause));
    }
    out.push_str(
        "</h2><div class=\"tools\"><button type=\"button\" class=\"intervals\" aria-expanded=\"false\">All numbers</button>\
         <button type=\"button\" class=\"csv\">Save as CSV</button></div></div>",
    );
    if !t.caption.is_empty() {
        let _ = write!(out, "<p class=\"small\">{}</p>", esc(&t.caption));
    }
    let _ = write!(
        out,
        "{}<table class=\"cells\" role=\"table\" data-table=\"{}\" aria-label=\"{}\">",
        scroll(&format!("table: {}", heading(t))),
        esc(&t.id),
        esc(&heading(t))
    );
    let conditions = t.rows.iter().any(|r| !r.condition.is_empty());
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
    let first_shown = styles.iter().position(|s| !s.dull).unwrap_or(0);
    head(t, conditions, &styles, out);
    out.push_str("<tbody role=\"rowgroup\">");
    for (r, row) in t.rows.iter().enumerate() {
        let before = r.checked_sub(1).map(|b| t.rows[b].condition.as_str());
        let first = conditions && before != Some(row.condition.as_str());
        let _ = write!(out, "<tr role=\"row\"{}>", if first { " class=\"block\"" } else { "" });
        if conditions {
            let text = if first { row.condition.as_str() } else { "" };
            let _ = write!(out, "<td role=\"cell\" class=\"condition\">{}</td>", esc(text));
        }
        let _ = write!(
            out,
            "<th scope=\"row\" role=\"rowheader\">{}{}</th>",
            swatch(colours.get(&row.scheme)),
            esc(&row.scheme)
        );
        for (c, (column, style)) in t.columns.iter().zip(&styles).enumerate().filter(|(_, x)| !x.1.dull) {
            let label = match column.unit.as_str() {
                "" => column.title.clone(),
                unit => format!("{} [{unit}]", column.title),
            };
            let first = (r, c) == (0, first_shown);
            cell(row.cells.get(c).and_then(Option::as_ref), &label, *style, (r, c, first), out);
        }
        out.push_str("</tr>");
    }
    let _ = write!(
        out,
        "</tbody></table></div><div class=\"long scroll\" role=\"region\" tabindex=\"0\" aria-label=\"all numbers: {}\" id=\"{}\" hidden></div>",
        esc(&heading(t)),
        esc(&format!("{id}/long"))
    );
    zeros(t, &styles, out);
    misses(t, &styles, out);
}

fn head(t: &Table, conditions: bool, styles: &[Style], out: &mut String) {
    let several = styles.iter().any(|s| s.published && !s.dull);
    let span = if several { " rowspan=\"2\"" } else { "" };
    out.push_str("<thead role=\"rowgroup\"><tr role=\"row\">");
    if conditions {
        let heading = if t.row_heading.is_empty() { "condition" } else { &t.row_heading };
        let _ = write!(out, "<th role=\"columnheader\"{span}>{}</th>", esc(heading));
    }
    let _ = write!(out, "<th role=\"columnheader\"{span}>scheme</th>");
    for (c, style) in t.columns.iter().zip(styles).filter(|(_, s)| !s.dull) {
        let _ = write!(
            out,
            "<th role=\"columnheader\"{} class=\"group\" title=\"{}\">{} <small>{}</small></th>",
            if style.published { " colspan=\"2\"" } else { span },
            esc(&c.about),
            esc(&c.title),
            esc(&c.unit)
        );
    }
    out.push_str("</tr>");
    if several {
        out.push_str("<tr role=\"row\">");
        for _ in styles.iter().filter(|s| s.published && !s.dull) {
            out.push_str(
                "<th role=\"columnheader\" class=\"n first\">published</th><th role=\"columnheader\" class=\"n m\">measured</th>",
            );
        }
        out.push_str("</tr>");
    }
    out.push_str("</thead>");
}

/// Which columns are left out because they are zero.
fn zeros(t: &Table, styles: &[Style], out: &mut String) {
    let of = |published: bool| -> String {
        let mine =
            t.columns.iter().zip(styles).filter(|(c, s)| s.dull && !c.more && s.published == published);
        mine.map(|(c, _)| esc(&c.title.to_lowercase())).collect::<Vec<_>>().join(", ")
    };
    let parts: Vec<String> = [(of(false), ""), (of(true), " (as published)")]
        .into_iter()
        .filter(|p| !p.0.is_empty())
        .map(|(names, more)| format!("{names}{more}"))
        .collect();
    if !parts.is_empty() {
        let _ = write!(out, "<p class=\"small zeros\">Zero in every row: {}.</p>", parts.join("; "));
    }
}

fn cell(
    c: Option<&Cell>,
    label: &str,
    style: Style,
    (row, column, first): (usize, usize, bool),
    out: &mut String,
) {
    let Some(c) = c else {
        let class = if style.published { "n first none" } else { "none" };
        let _ = write!(out, "<td role=\"cell\" class=\"{class}\" data-label=\"{}\"></td>", esc(label));
        if style.published {
            out.push_str("<td role=\"cell\" class=\"none\"></td>");
        }
        return;
    };
    let mark = Mark::of(c);
    if style.published {
        let said =
            c.published.as_deref().map_or("<span class=\"dim\">–</span>".into(), |p| esc(&printed(p)));
        let _ =
            write!(out, "<td role=\"cell\" class=\"n first pub\" data-label=\"{}\">{said}</td>", esc(label));
    }
    let _ = write!(
        out,
        "<td role=\"cell\" class=\"n m {}{}\"{} data-at=\"{row},{column}\" tabindex=\"{}\"><span class=\"v\">{}</span>",
        mark.class(),
        if style.published { "" } else { " alone" },
        if style.published { String::new() } else { format!(" data-label=\"{}\"", esc(label)) },
        if first { 0 } else { -1 },
        value(c, style.decimals),
    );
    if style.interval {
        let _ = write!(out, "<span class=\"pm\">{}</span>", ends(c, style.decimals));
    }
    if style.published {
        let _ = write!(out, "<span class=\"under\">{}{}</span>", strip(c), mark.badge());
    }
    out.push_str("</td>");
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
fn misses(t: &Table, styles: &[Style], out: &mut String) {
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    let (mut near, mut differ, mut open, mut strange) = (0, 0, 0, 0);
    for row in &t.rows {
        for ((c, column), style) in row.cells.iter().zip(&t.columns).zip(styles) {
            let Some(c) = c.as_ref() else { continue };
            match Mark::of(c) {
                Mark::Near => near += 1,
                Mark::Differs => differ += 1,
                Mark::Undecided => open += 1,
                Mark::Incomparable => strange += 1,
                _ => continue,
            }
            let text = format!(
                "<span class=\"miss\"><b>{}</b> {}{}: published {}, measured {}{}</span>",
                esc(&row.scheme),
                if row.condition.is_empty() { String::new() } else { format!("{}, ", esc(&row.condition)) },
                esc(&column.title.to_lowercase()),
                esc(&c.published.as_deref().map_or("–".into(), printed)),
                value(c, style.decimals),
                match Mark::of(c) {
                    Mark::Incomparable => " (incomparable)",
                    Mark::Near => " (near)",
                    Mark::Undecided => " (undecided)",
                    _ => "",
                }
            );
            match notes.iter_mut().find(|(note, _)| *note == c.note) {
                Some((_, cells)) => cells.push(text),
                None => notes.push((&c.note, vec![text])),
            }
        }
    }
    let heads: Vec<String> = [
        (differ, "differs", "differ"),
        (near, "is near", "are near"),
        (open, "is undecided", "are undecided"),
        (strange, "is incomparable", "are incomparable"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, more)| if n == 1 { format!("1 cell {one}") } else { format!("{n} cells {more}") })
    .collect();
    if heads.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<details class=\"misses\"{}><summary>{}: suspected assumptions</summary><dl>",
        if near + differ + open + strange <= 8 { " open" } else { "" },
        heads.join(", ")
    );
    for (note, cells) in notes {
        let _ = write!(
            out,
            "<dt>{}</dt><dd>{}</dd>",
            cells.join(""),
            if note.is_empty() { "No assumption is suspected yet.".into() } else { esc(note) }
        );
    }
    out.push_str("</dl></details>");
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
