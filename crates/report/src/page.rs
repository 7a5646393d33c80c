//! A scenario's page.

use crate::colour::Colours;
use crate::html::{Mark, anchor, counts, esc, holds, holds_badge, scenario, study};
use crate::model::{Assumption, Axis, Claim, Figure, NotRun, Page, Table};
use crate::{table, topology};
use std::fmt::Write as _;

/// The page as text in a script element: a browser reads it as HTML when it is first shown, so that a large report opens
/// as quickly as a small one. Nothing in it can end the script, as every text is escaped.
pub(crate) fn page(p: &Page, colours: &Colours, out: &mut String) {
    let _ = write!(
        out,
        "<section class=\"page\" data-route=\"{0}\" data-page=\"{0}\" hidden><script type=\"text/html\"><p class=\"eyebrow\"><a href=\"#{1}\">{1}</a> / {2}</p>\
         <h1 tabindex=\"-1\">{3}</h1>",
        esc(&p.id),
        esc(study(&p.id)),
        esc(scenario(&p.id)),
        esc(if p.title.is_empty() { &p.id } else { &p.title })
    );
    let drawing = topology::draw(&p.topology);
    let wide = drawing.as_ref().is_some_and(|d| d.width > 620.0);
    let _ = write!(out, "<div class=\"intro{}\"><div>", if wide { " wide" } else { "" });
    let _ = write!(out, "<p class=\"lead\">{}</p>", esc(&p.question));
    if !p.source.is_empty() {
        let _ = write!(out, "<p class=\"cite\"><span>Source</span> {}</p>", esc(&p.source));
    }
    tally(p, out);
    contents(p, out);
    out.push_str("</div>");
    if let Some(d) = drawing {
        let _ = write!(
            out,
            "<figure class=\"net\"><div>{}</div><figcaption>{}</figcaption></figure>",
            d.svg,
            esc(&d.caption)
        );
    }
    out.push_str("</div>");
    let cells = || p.tables.iter().flat_map(|t| &t.rows).flat_map(|r| r.cells.iter().flatten());
    if cells().any(|c| c.published.is_some()) {
        out.push_str(KEY);
    }
    let mut number = 1..;
    for t in &p.tables {
        let _ = write!(out, "<article id=\"{}\">", esc(&anchor(&p.id, &t.id)));
        table::table(p, t, out);
        group(&figures(p, Some(t)), colours, &mut number, out);
        out.push_str("</article>");
    }
    other_figures(p, colours, &mut number, out);
    if !p.claims.is_empty() {
        out.push_str("<article><div class=\"head\"><h2>Claims decided here</h2></div>");
        claims(p.claims.iter(), false, out);
        out.push_str("</article>");
    }
    if !p.assumptions.is_empty() {
        out.push_str("<article><div class=\"head\"><h2>Assumptions made here</h2></div>");
        assumptions(p.assumptions.iter(), out);
        out.push_str("</article>");
    }
    if !p.not_run.is_empty() {
        out.push_str("<article><div class=\"head\"><h2>Published, not run</h2></div>");
        not_run(p.not_run.iter(), out);
        out.push_str("</article>");
    }
    out.push_str("</script></section>");
}

const KEY: &str = "<p class=\"reading\"><svg class=\"strip\" viewBox=\"0 0 84 12\" width=\"84\" height=\"12\" aria-hidden=\"true\">\
    <path class=\"pi\" d=\"M8 6H76\"/><path class=\"ci\" d=\"M30 6H54\"/><path class=\"mean\" d=\"M42 2V10\"/>\
    <path class=\"said\" d=\"M64 2l4 4-4 4-4-4z\"/></svg><span>Diamond: the published number. Thin bar: where one run falls 19 times in 20. \
    Thick bar: 95 % interval of the mean, the number after ±. Pale: where it agrees. \
    <span class=\"screen\">Point at a cell, or go there with the arrow keys, for all its numbers.</span></span></p>";

/// Figures of a table, or those that belong to none, with their place in the page.
fn figures<'a>(p: &'a Page, t: Option<&Table>) -> Vec<(usize, &'a Figure)> {
    let free = |f: &Figure| f.group.is_empty() || p.tables.iter().all(|t| t.id != f.group);
    let mine = |f: &Figure| t.map_or_else(|| free(f), |t| !free(f) && f.group == t.id);
    p.figures.iter().enumerate().filter(|(_, f)| mine(f)).collect()
}

/// Figures of no table; a group that is no table's gets a heading of its own.
fn other_figures(p: &Page, colours: &Colours, number: &mut std::ops::RangeFrom<usize>, out: &mut String) {
    let others = figures(p, None);
    if others.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<article id=\"{}\"><div class=\"head\"><h2 tabindex=\"-1\">Figures</h2></div>",
        esc(&anchor(&p.id, "figures"))
    );
    let mut groups: Vec<&str> = Vec::new();
    for (_, f) in &others {
        if !groups.contains(&f.group.as_str()) {
            groups.push(&f.group);
        }
    }
    for g in groups {
        if !g.is_empty() {
            let _ = write!(out, "<h3>{}</h3>", esc(g));
        }
        let some: Vec<(usize, &Figure)> = others.iter().filter(|(_, f)| f.group == g).copied().collect();
        group(&some, colours, number, out);
    }
    out.push_str("</article>");
}

/// Figures side by side under one legend whose entries are switches.
fn group(
    figures: &[(usize, &Figure)],
    colours: &Colours,
    number: &mut std::ops::RangeFrom<usize>,
    out: &mut String,
) {
    if figures.is_empty() {
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for t in figures.iter().flat_map(|(_, f)| &f.traces) {
        if !names.contains(&t.name.as_str()) {
            names.push(&t.name);
        }
    }
    out.push_str("<div class=\"legend\" role=\"group\" aria-label=\"lines shown\">");
    for name in &names {
        let drawn = figures.iter().flat_map(|(_, f)| &f.traces).find(|t| t.name == *name);
        let (slot, dash) = drawn.map_or((0, 0), |t| colours.trace(t));
        let _ = write!(
            out,
            "<button type=\"button\" class=\"chip\" aria-pressed=\"true\" data-name=\"{0}\"><svg viewBox=\"0 0 22 8\" width=\"22\" height=\"8\" aria-hidden=\"true\">\
             <path class=\"s{slot} d{dash}\" d=\"M1 4H21\"/></svg>{0}</button>",
            esc(name)
        );
    }
    if names.len() > 1 {
        out.push_str("<span class=\"hint\">click: hide or show · double click: only this one</span>");
    }
    out.push_str("</div><div class=\"figures\">");
    for (at, f) in figures {
        let n = number.next().unwrap_or(0);
        let _ = write!(
            out,
            "<figure class=\"plot\"><figcaption><b>{}</b> <span>{} over {}</span></figcaption>\
             <div class=\"canvas\" data-figure=\"{at}\" role=\"img\" aria-label=\"Figure {n}: {}\"></div>",
            esc(&f.title),
            esc(&axis(&f.y)),
            esc(&axis(&f.x)),
            esc(&describe(f))
        );
        if !f.caption.is_empty() {
            let _ = write!(out, "<p class=\"small\">{}</p>", esc(&f.caption));
        }
        out.push_str("</figure>");
    }
    out.push_str("</div>");
}

fn axis(a: &Axis) -> String {
    if a.unit.is_empty() { a.title.clone() } else { format!("{} [{}]", a.title, a.unit) }
}

/// A figure in words, for those who do not see it: the extremes of each line.
fn describe(f: &Figure) -> String {
    let mut text = format!("{}, {} over {}", f.title, axis(&f.y), axis(&f.x));
    for t in &f.traces {
        let finite = || t.y.iter().copied().filter(|v| v.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if low <= high {
            let _ = write!(text, "; {} from {} to {}", t.name, short(low), short(high));
        }
    }
    text
}

/// Three significant digits.
fn short(v: f64) -> String {
    let v: f64 = format!("{v:.2e}").parse().unwrap_or(v);
    v.to_string()
}

fn tally(p: &Page, out: &mut String) {
    let n = counts(p);
    if n.iter().all(|n| *n == 0) {
        return;
    }
    out.push_str("<ul class=\"tally\">");
    for (mark, n) in Mark::ALL.iter().zip(n) {
        if n > 0 {
            let _ = write!(
                out,
                "<li class=\"{}\"><b aria-hidden=\"true\">{}</b><span class=\"num\">{n}</span> {}</li>",
                mark.class(),
                mark.icon(),
                mark.of_many(n)
            );
        }
    }
    out.push_str("</ul>");
}

/// What is on the page, if there is more than one table.
fn contents(p: &Page, out: &mut String) {
    let others = !figures(p, None).is_empty();
    if p.tables.len() + usize::from(others) < 2 {
        return;
    }
    out.push_str("<nav class=\"contents\" aria-label=\"on this page\"><ul>");
    for t in &p.tables {
        let cells = t.rows.iter().flat_map(|r| r.cells.iter().flatten());
        let bad = cells.filter(|c| Mark::of(c) == Mark::Differs).count();
        let _ = write!(
            out,
            "<li><a href=\"#{}\">{}</a>{}</li>",
            esc(&anchor(&p.id, &t.id)),
            esc(&table::heading(t)),
            if bad > 0 { format!(" <span class=\"differs\">✗ {bad}</span>") } else { String::new() }
        );
    }
    if others {
        let _ = write!(out, "<li><a href=\"#{}\">Figures</a></li>", esc(&anchor(&p.id, "figures")));
    }
    out.push_str("</ul></nav>");
}

/// Claims as a table; those of the list of all claims can be linked to.
pub(crate) fn claims<'a>(claims: impl Iterator<Item = &'a Claim>, linked: bool, out: &mut String) {
    out.push_str(
        "<div class=\"scroll\"><table class=\"plain claims\"><thead><tr><th>claim</th><th>outcome</th><th>what the study says</th><th>evidence</th></tr></thead><tbody>",
    );
    for c in claims {
        let (class, ..) = holds(c.holds);
        let evidence: Vec<String> = c.evidence.split("; ").filter(|e| !e.is_empty()).map(esc).collect();
        let id = if linked { format!(" id=\"claims/{}\"", esc(&c.id)) } else { String::new() };
        let _ = write!(
            out,
            "<tr class=\"{class}\"{id}><td class=\"id\"><a href=\"#claims/{0}\">{0}</a><small>{1}</small></td><td>{2}</td><td class=\"text\">{3}</td><td class=\"small num\">{4}</td></tr>",
            esc(&c.id),
            esc(&c.origin),
            holds_badge(c.holds),
            esc(&c.text),
            if evidence.len() > 6 {
                format!(
                    "{}<details><summary>{} more</summary>{}</details>",
                    evidence[..5].join("<br>"),
                    evidence.len() - 5,
                    evidence[5..].join("<br>")
                )
            } else {
                evidence.join("<br>")
            }
        );
    }
    out.push_str("</tbody></table></div>");
}

/// Assumptions as a table.
pub(crate) fn assumptions<'a>(list: impl Iterator<Item = &'a Assumption>, out: &mut String) {
    out.push_str("<div class=\"scroll\"><table class=\"plain\"><thead><tr><th>assumption</th><th>what is assumed</th><th>alternatives</th></tr></thead><tbody>");
    for a in list {
        let _ = write!(
            out,
            "<tr><td class=\"id\">{}<small>{}</small></td><td class=\"text\">{}</td><td class=\"small\">{}</td></tr>",
            esc(&a.id),
            esc(&a.name),
            esc(&a.text),
            esc(&a.alternatives)
        );
    }
    out.push_str("</tbody></table></div>");
}

/// Published rows that were not run, as a table.
pub(crate) fn not_run<'a>(list: impl Iterator<Item = &'a NotRun>, out: &mut String) {
    out.push_str("<div class=\"scroll\"><table class=\"plain\"><thead><tr><th>published row</th><th class=\"n\">value</th><th>why it was not run</th></tr></thead><tbody>");
    for n in list {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"small\">{}</td></tr>",
            esc(&n.place),
            esc(&n.value),
            if n.reason.is_empty() { "not asked for".into() } else { esc(&n.reason) }
        );
    }
    out.push_str("</tbody></table></div>");
}
