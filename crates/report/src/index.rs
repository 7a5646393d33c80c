//! The first page, the studies' pages, all claims, the list at the side.

use crate::colour::Colours;
use crate::html::{Counts, Mark, anchor, counts, esc, holds, scenario, scroll, study};
use crate::model::{Alert, Cell, Claim, Column, Holds, Page, Report, Row, Table};
use crate::number::{column_decimals, fixed, measured, printed};
use crate::{overview, page, table};
use std::fmt::Write as _;

/// Studies in the order in which they are named, then of their pages.
pub(crate) fn studies(r: &Report) -> Vec<&str> {
    let pages = || r.pages.iter().map(|p| study(&p.id));
    let claims = || r.claims.iter().map(|c| study(&c.id));
    let mut ids: Vec<&str> = Vec::new();
    for id in r.studies.iter().map(|s| s.id.as_str()).chain(pages()).chain(claims()) {
        if !ids.contains(&id) && pages().chain(claims()).any(|used| used == id) {
            ids.push(id);
        }
    }
    ids
}

/// Claims of the report and of its pages, each once.
pub(crate) fn all_claims(r: &Report) -> Vec<&Claim> {
    let mut all: Vec<&Claim> = Vec::new();
    for c in r.claims.iter().chain(r.pages.iter().flat_map(|p| &p.claims)) {
        if all.iter().all(|a| a.id != c.id) {
            all.push(c);
        }
    }
    all
}

/// A bar in parts, each with its own class and pattern.
fn bar(parts: &[(&str, usize, &str)], out: &mut String) {
    if parts.iter().all(|p| p.1 == 0) {
        return;
    }
    let label: Vec<String> = parts.iter().filter(|p| p.1 > 0).map(|p| format!("{} {}", p.1, p.2)).collect();
    let _ = write!(out, "<div class=\"bar\" role=\"img\" aria-label=\"{}\">", esc(&label.join(", ")));
    for (class, n, words) in parts.iter().filter(|p| p.1 > 0) {
        let _ = write!(out, "<i class=\"{class}\" style=\"flex-grow:{n}\" title=\"{n} {}\"></i>", esc(words));
    }
    out.push_str("</div>");
}

fn cell_bar(n: Counts, out: &mut String) {
    bar(
        &[Mark::Agrees, Mark::Near, Mark::Differs, Mark::Undecided, Mark::Incomparable]
            .map(|m| (m.class(), n[m as usize], m.words())),
        out,
    );
}

const OUTCOMES: [Holds; 4] = [Holds::Yes, Holds::No, Holds::Undecided, Holds::NotRun];

/// Claims by outcome; those read from figures are shown, not scored.
fn outcomes(claims: &[&Claim]) -> [usize; 4] {
    OUTCOMES.map(|h| claims.iter().filter(|c| c.holds == h && c.is_scored()).count())
}

fn legend(items: &[(&str, &str, usize, &str)], out: &mut String) {
    out.push_str("<ul class=\"tally\">");
    for (class, icon, n, words) in items {
        let _ = write!(
            out,
            "<li class=\"{class}\"><b aria-hidden=\"true\">{icon}</b><span class=\"num\">{n}</span> {}</li>",
            esc(words)
        );
    }
    out.push_str("</ul>");
}

/// Warnings at the head of a page.
fn grave(p: &Page) -> Vec<&Alert> {
    p.alerts.iter().filter(|a| !a.mild && !a.lines.is_empty()).collect()
}

/// Counts the warnings of all pages of a report: a line for each kind, with its pages.
fn to_be_read_first(r: &Report, out: &mut String) {
    let mut kinds: Vec<&str> = Vec::new();
    for a in r.pages.iter().flat_map(grave) {
        if !kinds.contains(&a.title.as_str()) {
            kinds.push(&a.title);
        }
    }
    for kind in kinds {
        let cases =
            |p: &Page| grave(p).iter().filter(|a| a.title == kind).map(|a| a.lines.len()).sum::<usize>();
        let pages: Vec<(&Page, usize)> = r.pages.iter().map(|p| (p, cases(p))).filter(|p| p.1 > 0).collect();
        let n: usize = pages.iter().map(|p| p.1).sum();
        let links: Vec<String> =
            pages.iter().map(|(p, n)| format!("<a href=\"#{0}\">{0}</a> ({n})", esc(&p.id))).collect();
        let _ = write!(
            out,
            "<p class=\"lead first\">{} In {n} {}: {}.</p>",
            esc(kind),
            if n == 1 { "case" } else { "cases" },
            links.join(", ")
        );
    }
}

pub(crate) fn index(r: &Report, looks: &[Colours], out: &mut String) {
    let claims = all_claims(r);
    let judged = r.is_judged();
    let _ = write!(
        out,
        "<section class=\"page\" data-route=\"\"><h1 tabindex=\"-1\">{}</h1>",
        esc(if r.title.is_empty() { "Published beside measured" } else { &r.title })
    );
    if judged {
        out.push_str(
            "<p class=\"lead\">Congestion management for data-centre Ethernet, simulated frame by frame and compared with the numbers that the studies printed. \
             A number that differs is shown with the suspected assumption.</p>",
        );
    }
    if judged {
        to_be_read_first(r, out);
    } else {
        r.pages.iter().for_each(|p| page::alerts(p, out));
    }
    let _ = write!(out, "<div class=\"opening{}\">", if judged { "" } else { " plain" });
    if judged {
        overview::picture(r, out);
    }
    if judged || !claims.is_empty() {
        out.push_str("<div class=\"boards\">");
        if judged {
            cell_board(r, out);
        }
        if !claims.is_empty() {
            claim_board(&claims, out);
        }
        out.push_str("</div>");
    }
    out.push_str("</div>");
    // What happened, where few scenarios ran.
    if r.pages.len() <= 3 {
        for (p, looks) in r.pages.iter().zip(looks) {
            page::headline(p, looks, out);
        }
    }
    by_metric(r, out);
    scenarios(r, judged, out);
    if !claims.is_empty() {
        claim_grid(&claims, out);
    }
    differing(r, out);
    out.push_str("<h2>This report</h2>");
    page::facts(r, out);
    out.push_str("</section>");
}

fn cell_board(r: &Report, out: &mut String) {
    let n = r.pages.iter().map(counts).fold(Counts::default(), |a, b| std::array::from_fn(|i| a[i] + b[i]));
    let agree = n[Mark::Agrees as usize];
    let judged =
        agree + [Mark::Near, Mark::Differs, Mark::Undecided].map(|m| n[m as usize]).iter().sum::<usize>();
    let _ = write!(
        out,
        "<div class=\"board\"><h2>Published numbers</h2><p class=\"big\"><b class=\"num\">{agree}</b> of <span class=\"num\">{judged}</span> agree</p>"
    );
    cell_bar(n, out);
    let items = Mark::ALL.map(|m| {
        let words =
            if m == Mark::Zero { "zero by construction, counted apart" } else { m.of_many(n[m as usize]) };
        (m.class(), m.icon(), n[m as usize], words)
    });
    legend(&items, out);
    let lost = r.not_run.len() + r.pages.iter().map(|p| p.not_run.len()).sum::<usize>();
    if lost > 0 {
        let _ = write!(
            out,
            "<p class=\"small\"><a href=\"#method\">{lost} published {} not run</a></p>",
            if lost == 1 { "row" } else { "rows" }
        );
    }
    out.push_str("</div>");
}

/// Marks of cells without a verdict.
const OTHER: [Mark; 4] = [Mark::Undecided, Mark::Incomparable, Mark::Unpublished, Mark::Zero];

/// Verdicts of the published cells of each metric, the metric with most cells first.
fn by_metric(r: &Report, out: &mut String) {
    let mut rows: Vec<(&str, Counts)> = Vec::new();
    for t in r.pages.iter().flat_map(|p| &p.tables) {
        for (c, column) in t.rows.iter().flat_map(|row| row.cells.iter().zip(&t.columns)) {
            let Some(c) = c.as_ref().filter(|c| Mark::of(c) != Mark::Unpublished) else { continue };
            let at = rows.iter().position(|r| r.0 == column.title).unwrap_or_else(|| {
                rows.push((&column.title, Counts::default()));
                rows.len() - 1
            });
            rows[at].1[Mark::of(c) as usize] += 1;
        }
    }
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|(_, n)| std::cmp::Reverse(n.iter().sum::<usize>()));
    out.push_str(
        "<h2>By metric</h2><div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"verdicts by metric\"><table class=\"plain list\" id=\"by-metric\"><thead><tr><th>published</th><th class=\"n\">agree</th><th class=\"n\">near</th><th class=\"n\">differ</th><th class=\"n spare\">zero by construction</th><th class=\"barcol\"><span class=\"away\">share</span></th></tr></thead><tbody>",
    );
    for (title, n) in rows {
        let _ = write!(out, "<tr><td>{}</td>", esc(title));
        for m in [Mark::Agrees, Mark::Near, Mark::Differs, Mark::Undecided, Mark::Zero] {
            let spare = if m == Mark::Zero { " spare" } else { "" };
            let _ = write!(out, "<td class=\"n{spare}\">{}</td>", n[m as usize]);
        }
        out.push_str("<td class=\"barcol\">");
        cell_bar(n, out);
        out.push_str("</td></tr>");
    }
    out.push_str("</tbody></table></div>");
}

fn claim_board(claims: &[&Claim], out: &mut String) {
    let o = outcomes(claims);
    let scored: usize = o[..3].iter().sum();
    if scored == 0 {
        let _ = write!(
            out,
            "<div class=\"board\"><h2>Claims of the studies</h2><p class=\"small\"><a href=\"#claims\">{} claims</a> need further runs: these results lack some of their data.</p></div>",
            claims.len()
        );
        return;
    }
    let _ = write!(
        out,
        "<div class=\"board\"><h2>Claims of the studies</h2><p class=\"big\"><b class=\"num\">{}</b> of <span class=\"num\">{scored}</span> hold</p>",
        o[0]
    );
    let parts: Vec<(&str, usize, &str)> =
        OUTCOMES.iter().zip(o).map(|(h, n)| (holds(*h).0, n, holds(*h).2)).collect();
    bar(&parts[..3], out);
    let mut items: Vec<(&str, &str, usize, &str)> =
        OUTCOMES.iter().zip(o).map(|(h, n)| (holds(*h).0, holds(*h).1, n, holds(*h).2)).collect();
    let figures = claims.iter().filter(|c| !c.is_scored()).count();
    if figures > 0 {
        items.push(("unpublished", "·", figures, "read from a figure: shown, not scored"));
    }
    legend(&items, out);
    out.push_str("</div>");
}

/// Every claim, with its outcome, as a link.
fn claim_grid(claims: &[&Claim], out: &mut String) {
    out.push_str("<h2>Claims</h2><p class=\"grid\">");
    for c in claims {
        let (class, icon, words) = holds(c.holds);
        let apart = if c.is_scored() { ("", "") } else { (" apart", ", not scored") };
        let _ = write!(
            out,
            "<a class=\"{class}{3}\" href=\"#claims/{0}\" title=\"{1}{4}: {2}\"><b aria-hidden=\"true\">{icon}</b>{0}<span class=\"away\"> {1}{4}</span></a>",
            esc(&c.id),
            words,
            esc(&c.text),
            apart.0,
            apart.1
        );
    }
    out.push_str("</p>");
    let figures = claims.iter().filter(|c| !c.is_scored()).count();
    if figures > 0 {
        let _ = write!(
            out,
            "<p class=\"small\">{figures} with a dashed border could only be read from a figure: shown, not scored.</p>"
        );
    }
}

fn scenarios(r: &Report, judged: bool, out: &mut String) {
    if r.pages.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<h2>Scenarios</h2>{}<table class=\"plain list{}\"><thead><tr><th>scenario</th><th class=\"spare\">question</th><th class=\"n\">agree</th><th class=\"n\">near</th><th class=\"n\">differ</th><th class=\"n spare\">other</th><th class=\"barcol\"><span class=\"away\">share</span></th></tr></thead>",
        scroll("scenarios"),
        if judged { "" } else { " unjudged" }
    );
    for id in studies(r) {
        let mine: Vec<&Page> = r.pages.iter().filter(|p| study(&p.id) == id).collect();
        if mine.is_empty() {
            continue;
        }
        let title = r.studies.iter().find(|s| s.id == id).map_or("", |s| s.title.as_str());
        let _ = write!(
            out,
            "<tbody><tr class=\"band\"><th colspan=\"7\"><a href=\"#{0}\">{0}</a> {1}</th></tr>",
            esc(id),
            esc(title)
        );
        for p in mine {
            let n = counts(p);
            let zero =
                |n: usize| if n == 0 { "<span class=\"dim\">–</span>".into() } else { n.to_string() };
            let _ = write!(
                out,
                "<tr><td class=\"id\"><a href=\"#{}\">{}</a></td><td class=\"text spare\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n{}\">{}</td><td class=\"n dim spare\">{}</td><td class=\"barcol\">",
                esc(&p.id),
                esc(scenario(&p.id)),
                esc(&p.question),
                zero(n[Mark::Agrees as usize]),
                zero(n[Mark::Near as usize]),
                if n[Mark::Differs as usize] > 0 { " differs" } else { "" },
                zero(n[Mark::Differs as usize]),
                zero(OTHER.iter().map(|m| n[*m as usize]).sum())
            );
            cell_bar(n, out);
            out.push_str("</td></tr>");
        }
        out.push_str("</tbody>");
    }
    out.push_str("</table></div>");
}

/// Every cell that is near or differs, across all pages. Cells with equal notes stand together, below one note.
fn differing(r: &Report, out: &mut String) {
    let mut notes: Vec<(&str, String)> = Vec::new();
    let mut n = 0;
    for p in &r.pages {
        for t in &p.tables {
            for row in &t.rows {
                for (c, column) in row.cells.iter().zip(&t.columns) {
                    let Some(c) = c.as_ref().filter(|c| matches!(Mark::of(c), Mark::Near | Mark::Differs))
                    else {
                        continue;
                    };
                    n += 1;
                    let at = notes.iter().position(|x| x.0 == c.note).unwrap_or_else(|| {
                        notes.push((&c.note, String::new()));
                        notes.len() - 1
                    });
                    differing_row((p, t, row, column), c, &mut notes[at].1);
                }
            }
        }
    }
    if n == 0 {
        return;
    }
    let _ = write!(
        out,
        "<h2>Numbers that do not agree</h2><details class=\"what\"{}><summary>{n} {}, with suspected assumptions</summary>{}<table class=\"plain\"><thead><tr><th>table</th><th>scheme, metric</th><th class=\"n\">published</th><th class=\"n\">measured</th><th class=\"n\">off by</th></tr></thead>",
        if n <= 25 { " open" } else { "" },
        if n == 1 { "cell" } else { "cells" },
        scroll("cells that differ")
    );
    for (note, rows) in notes {
        let note = if note.is_empty() { "No assumption is suspected yet." } else { note };
        let _ = write!(
            out,
            "<tbody><tr class=\"band\"><th colspan=\"5\" scope=\"rowgroup\">{}</th></tr>{rows}</tbody>",
            esc(note)
        );
    }
    out.push_str("</table></div></details>");
}

fn differing_row((p, t, row, column): (&Page, &Table, &Row, &Column), c: &Cell, out: &mut String) {
    let decimals = column_decimals(std::iter::once(c));
    let said = c.published.as_deref().and_then(|s| s.trim().parse::<f64>().ok());
    let off = said.zip(c.measured).filter(|(s, _)| *s != 0.0).map_or("–".to_owned(), |(s, m)| {
        let percent = (m / s - 1.0) * 100.0;
        let sign = if percent > 0.0 { "+" } else { "" };
        format!("{sign}{}\u{202f}%", fixed(percent, usize::from(percent.abs() < 10.0)))
    });
    let _ = write!(
        out,
        "<tr><td><a href=\"#{}\">{}</a><br><span class=\"small\">{}</span></td><td>{}<br><span class=\"small\">{}</span></td><td class=\"n\" data-label=\"published\">{}</td><td class=\"n\" data-label=\"measured\">{}</td><td class=\"n\" data-label=\"off by\">{off}</td></tr>",
        esc(&anchor(&p.id, &t.id)),
        esc(&p.id),
        esc(&[row.condition.as_str(), &table::heading(t)]
            .iter()
            .filter(|x| !x.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(", ")),
        esc(&row.scheme),
        esc(&format!("{} [{}]", column.title, column.unit)),
        esc(&c.published.as_deref().map_or("–".into(), printed)),
        c.measured.map_or("–".into(), |m| measured(m, decimals)),
    );
}

/// The page of a study: citation, scenarios and claims.
pub(crate) fn study_page(r: &Report, id: &str, out: &mut String) {
    let s = r.studies.iter().find(|s| s.id == id);
    let title = s.map(|s| s.title.as_str()).filter(|t| !t.is_empty()).unwrap_or(id);
    let _ = write!(
        out,
        "<section class=\"page\" data-route=\"{0}\" hidden><p class=\"eyebrow\">Study {0}</p><h1 tabindex=\"-1\">{1}</h1>",
        esc(id),
        esc(title)
    );
    if let Some(s) = s {
        if !s.summary.is_empty() {
            let _ = write!(out, "<p class=\"lead\">{}</p>", esc(&s.summary));
        }
        if !s.citation.is_empty() {
            let _ = write!(out, "<p class=\"cite\"><span>Source</span> {}</p>", esc(&s.citation));
        }
    }
    let mine: Vec<&Page> = r.pages.iter().filter(|p| study(&p.id) == id).collect();
    if !mine.is_empty() {
        out.push_str("<h2>Scenarios</h2><div class=\"cards\">");
        for p in mine {
            let n = counts(p);
            let _ = write!(
                out,
                "<a class=\"card\" href=\"#{}\"><b>{}</b><span>{}</span>",
                esc(&p.id),
                esc(if p.title.is_empty() { scenario(&p.id) } else { &p.title }),
                esc(&p.question)
            );
            cell_bar(n, out);
            let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
            let _ = write!(
                out,
                "<span class=\"small\">✓ {} · ~ {} · ✗ {} · ? {} · {} · {}</span></a>",
                n[Mark::Agrees as usize],
                n[Mark::Near as usize],
                n[Mark::Differs as usize],
                n[Mark::Undecided as usize],
                count(p.tables.len(), "table"),
                count(p.figures.len(), "figure")
            );
        }
        out.push_str("</div>");
    }
    let claims: Vec<&Claim> = all_claims(r).into_iter().filter(|c| study(&c.id) == id).collect();
    if !claims.is_empty() {
        out.push_str("<h2>Claims</h2>");
        page::claims(claims.into_iter(), false, out);
    }
    out.push_str("</section>");
}

/// All claims, with switches for their outcomes.
pub(crate) fn claims_page(r: &Report, out: &mut String) {
    let claims = all_claims(r);
    if claims.is_empty() {
        return;
    }
    out.push_str(
        "<section class=\"page\" data-route=\"claims\" hidden><h1 tabindex=\"-1\">Claims</h1><p class=\"lead\">A claim is a conclusion of a study, as a predicate over measured \
         results. It holds, does not hold, or is undecided. A difference inside the noise is undecided.</p><div class=\"filter\" role=\"group\" aria-label=\"outcomes shown\">",
    );
    for h in OUTCOMES {
        let (class, icon, words) = holds(h);
        let count = |scored: bool| claims.iter().filter(|c| c.holds == h && c.is_scored() == scored).count();
        let (n, apart) = (count(true), count(false));
        let _ = write!(
            out,
            "<button type=\"button\" class=\"{class}\" data-outcome=\"{class}\" aria-pressed=\"true\"{}><b aria-hidden=\"true\">{icon}</b><span class=\"num\">{n}</span> {words}{}</button>",
            if n + apart == 0 { " disabled" } else { "" },
            if apart == 0 { String::new() } else { format!(", and {apart} not scored") }
        );
    }
    out.push_str("</div>");
    for id in studies(r) {
        let mine: Vec<&Claim> = claims.iter().copied().filter(|c| study(&c.id) == id).collect();
        if mine.is_empty() {
            continue;
        }
        let title = r.studies.iter().find(|s| s.id == id).map_or("", |s| s.title.as_str());
        let _ = write!(out, "<h2>{0} <span class=\"after\">{1}</span></h2>", esc(id), esc(title));
        page::claims(mine.into_iter(), true, out);
    }
    out.push_str("</section>");
}

/// The list of pages at the side.
pub(crate) fn sidebar(r: &Report, out: &mut String) {
    out.push_str(
        "<form id=\"find\" role=\"search\"><label class=\"away\" for=\"query\">Search cells, schemes, metrics, claims</label>\
         <input id=\"query\" type=\"search\" autocomplete=\"off\" placeholder=\"Search\"></form><nav aria-label=\"pages\">",
    );
    let alone = r.is_one_experiment();
    if !alone {
        out.push_str("<ul><li><a href=\"#\">Overview</a></li></ul>");
    }
    for id in studies(r) {
        let _ = if alone {
            write!(out, "<p>{}</p><ul>", esc(id))
        } else {
            write!(out, "<p><a href=\"#{0}\">{0}</a></p><ul>", esc(id))
        };
        for p in r.pages.iter().filter(|p| study(&p.id) == id) {
            let n = counts(p);
            let mark = match (n[Mark::Agrees as usize] + n[Mark::Near as usize], n[Mark::Differs as usize]) {
                (0, 0) => String::new(),
                (_, 0) if n[Mark::Undecided as usize] > 0 => {
                    "<span class=\"near\" title=\"none differs, some are undecided\">?</span>".into()
                }
                (_, 0) if n[Mark::Near as usize] == 0 => {
                    "<span class=\"agrees\" title=\"all agree\">✓</span>".into()
                }
                (_, 0) => "<span class=\"near\" title=\"all agree or are near\">~</span>".into(),
                (_, bad) => format!("<span class=\"differs\" title=\"{bad} differ\">✗ {bad}</span>"),
            };
            let _ = write!(out, "<li><a href=\"#{}\">{}{mark}</a></li>", esc(&p.id), esc(scenario(&p.id)));
        }
        out.push_str("</ul>");
    }
    out.push_str("<p>Background</p><ul>");
    if !all_claims(r).is_empty() {
        out.push_str("<li><a href=\"#claims\">Claims</a></li>");
    }
    out.push_str("<li><a href=\"#method\">Method</a></li></ul></nav><button id=\"printall\" type=\"button\">Print all pages</button>");
}
