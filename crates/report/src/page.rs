//! A scenario's page.

use crate::colour::Colours;
use crate::html::{Mark, anchor, counts, esc, holds, holds_badge, scenario, scroll, study, swatch};
use crate::model::{Assumption, Axis, Claim, Figure, Kind, NotRun, Page, Report, Table};
use crate::{heat, spans, table, topology};
use std::fmt::Write as _;

/// The page as text in a script element: a browser reads it as HTML when it is first shown, so that a large report opens
/// as quickly as a small one. Nothing in it can end the script, as every text is escaped.
pub(crate) fn page(r: &Report, p: &Page, colours: &Colours, out: &mut String) {
    let alone = r.is_one_experiment();
    let _ = write!(
        out,
        "<section class=\"page\" data-route=\"{0}\" data-page=\"{0}\" hidden><script type=\"text/html\"><p class=\"eyebrow\">",
        esc(&p.id)
    );
    let place = (esc(study(&p.id)), esc(scenario(&p.id)));
    let _ = if alone {
        write!(out, "{} / {}", place.0, place.1)
    } else {
        write!(out, "<a href=\"#{0}\">{0}</a> / {1}", place.0, place.1)
    };
    let _ = write!(
        out,
        "</p><h1 tabindex=\"-1\">{}</h1>",
        esc(if p.title.is_empty() { &p.id } else { &p.title })
    );
    alerts(p, out);
    // A wide drawing would push what happened off the first screen: it stands below.
    let (beside, below) = match topology::draw(&p.topology) {
        Some(d) if d.width > 620.0 => (None, Some(d)),
        other => (other, None),
    };
    let _ = write!(out, "<div class=\"intro{}\"><div>", if beside.is_some() { "" } else { " wide" });
    if !p.question.is_empty() {
        let _ = write!(out, "<p class=\"lead\">{}</p>", esc(&p.question));
    }
    if !p.source.is_empty() {
        let _ = write!(out, "<p class=\"cite\"><span>Source</span> {}</p>", esc(&p.source));
    }
    let judged = p.is_judged();
    if judged {
        tally(p, out);
    }
    contents(p, below.is_some(), out);
    out.push_str("</div>");
    if let Some(d) = &beside {
        network(d, out);
    }
    out.push_str("</div>");
    if judged {
        out.push_str(KEY);
    }
    let mut number = 1..;
    if p.figures_first {
        other_figures(p, colours, &mut number, out);
    }
    for t in &p.tables {
        let _ = write!(out, "<article id=\"{}\">", esc(&anchor(&p.id, &t.id)));
        table::table(p, t, colours, out);
        group(&figures(p, Some(t)), colours, &mut number, out);
        out.push_str("</article>");
    }
    if !p.figures_first {
        other_figures(p, colours, &mut number, out);
    }
    if let Some(d) = &below {
        let id = esc(&anchor(&p.id, "network"));
        let _ =
            write!(out, "<article id=\"{id}\"><div class=\"head\"><h2 tabindex=\"-1\">Network</h2></div>");
        network(d, out);
        out.push_str("</article>");
    }
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
    if alone {
        out.push_str("<article><div class=\"head\"><h2>This report</h2></div>");
        facts(r, out);
        out.push_str("</article>");
    }
    out.push_str("</script></section>");
}

/// Warnings at the head of the page.
pub(crate) fn alerts(p: &Page, out: &mut String) {
    for a in p.alerts.iter().filter(|a| !a.lines.is_empty()) {
        let (title, about) = (esc(&a.title), esc(&a.about));
        let class = if a.mild { "near" } else { "differs" };
        let _ = write!(out, "<div class=\"alert {class}\" role=\"note\"><b>{title}</b> {about}<ul>");
        a.lines.iter().for_each(|l| out.push_str(&format!("<li>{}</li>", esc(l))));
        out.push_str("</ul></div>");
    }
}

fn network(d: &topology::Drawing, out: &mut String) {
    let _ = write!(
        out,
        "<figure class=\"net\">{}{}</div><figcaption>{}</figcaption></figure>",
        scroll("drawing of the network"),
        d.svg,
        esc(&d.caption)
    );
}

const KEY: &str = "<p class=\"reading\"><svg class=\"strip\" viewBox=\"0 0 84 12\" width=\"84\" height=\"12\" aria-hidden=\"true\">\
    <path class=\"pi\" d=\"M8 6H76\"/><path class=\"ci\" d=\"M30 6H54\"/><path class=\"mean\" d=\"M42 2V10\"/>\
    <path class=\"said\" d=\"M64 2l4 4-4 4-4-4z\"/></svg><span>Diamond: the published number. Thin bar: the range in which one run falls 19 times in 20. \
    Thick bar: 95 % interval of the mean. The number after ± is half of it; uneven ends are given in full. Pale: the range of agreement. \
    <span class=\"screen\">Point at a cell, or move to it with the arrow keys, for all its numbers.</span></span></p>";

/// Figures of a table, or those without a table, with their place in the page.
fn figures<'a>(p: &'a Page, t: Option<&Table>) -> Vec<(usize, &'a Figure)> {
    let free = |f: &Figure| f.group.is_empty() || p.tables.iter().all(|t| t.id != f.group);
    let mine = |f: &Figure| t.map_or_else(|| free(f), |t| !free(f) && f.group == t.id);
    p.figures.iter().enumerate().filter(|(_, f)| mine(f)).collect()
}

/// Figures without a table; each of their groups has a heading.
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
    if others.len() > MANY {
        picker(&others, out);
    }
    let mut groups: Vec<&str> = Vec::new();
    for (_, f) in &others {
        if !groups.contains(&f.group.as_str()) {
            groups.push(&f.group);
        }
    }
    for g in groups {
        let some: Vec<(usize, &Figure)> = others.iter().filter(|(_, f)| f.group == g).copied().collect();
        out.push_str("<div class=\"family\">");
        if !g.is_empty() {
            let _ = write!(out, "<h3>{}</h3>", esc(g));
        }
        group(&some, colours, number, out);
        out.push_str("</div>");
    }
    out.push_str("</article>");
}

/// Number of figures in a group above which they are small and have a picker.
const MANY: usize = 6;

/// Choices of scheme, PAUSE mode and condition among many figures.
fn picker(figures: &[(usize, &Figure)], out: &mut String) {
    let mut lists = String::new();
    let kinds: [(&str, &str, fn(&Figure) -> &str); 3] = [
        ("scheme", "scheme", |f: &Figure| &f.scheme),
        ("pause", "PAUSE", |f: &Figure| &f.pause),
        ("condition", "condition", |f: &Figure| &f.condition),
    ];
    for (kind, label, of) in kinds {
        let mut values: Vec<&str> = Vec::new();
        for (_, f) in figures {
            if !of(f).is_empty() && !values.contains(&of(f)) {
                values.push(of(f));
            }
        }
        if values.len() > 1 {
            let options: String = values.iter().map(|v| format!("<option>{}</option>", esc(v))).collect();
            let _ = write!(
                lists,
                "<label>{label} <select data-pick=\"{kind}\"><option value=\"\">all</option>{options}</select></label>"
            );
        }
    }
    let _ = write!(
        out,
        "<div class=\"picker\" role=\"group\" aria-label=\"figures shown\">{lists}<label><input type=\"checkbox\" data-pick=\"large\"> large</label><span class=\"small\" role=\"status\">{} figures</span></div>",
        figures.len()
    );
}

/// The names of a figure's lines, each once.
fn names(f: &Figure) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for t in &f.traces {
        if !names.contains(&t.name.as_str()) {
            names.push(&t.name);
        }
    }
    names
}

/// Figures side by side; those with the same lines stand under one legend, whose entries are switches.
fn group(
    figures: &[(usize, &Figure)],
    colours: &Colours,
    number: &mut std::ops::RangeFrom<usize>,
    out: &mut String,
) {
    let small = figures.len() > MANY;
    let looks = |f: &Figure| -> Vec<(String, (u8, u8))> {
        f.traces.iter().map(|t| (t.name.clone(), colours.trace(t))).collect()
    };
    for block in figures.chunk_by(|a, b| looks(a.1) == looks(b.1)) {
        out.push_str("<div class=\"block\">");
        if let Some((_, first)) = block.first() {
            legend(first, colours, out);
        }
        let _ = write!(out, "<div class=\"figures{}\">", if small { " many" } else { "" });
        for (at, f) in block {
            figure(*at, f, small, number.next().unwrap_or(0), out);
        }
        out.push_str("</div></div>");
    }
}

/// The switches of a block of figures; none for a single line.
fn legend(f: &Figure, colours: &Colours, out: &mut String) {
    let names = names(f);
    // Bars over time need their names even if all are of one colour.
    if f.kind == Kind::Heat || names.len() < 2 && f.kind != Kind::Spans {
        return;
    }
    let _ =
        write!(out, "<div class=\"legend\" role=\"group\" aria-label=\"lines shown: {}\">", esc(&f.title));
    for name in &names {
        let look = f.traces.iter().find(|t| t.name == *name).map_or((0, 0), |t| colours.trace(t));
        let _ = write!(
            out,
            "<button type=\"button\" class=\"chip\" aria-pressed=\"true\" data-name=\"{0}\">{1}{0}</button>",
            esc(name),
            swatch(look)
        );
    }
    out.push_str("<span class=\"hint\">click: hide or show · double click: only this one · drag in a figure: zoom</span></div>");
}

fn figure(at: usize, f: &Figure, small: bool, number: usize, out: &mut String) {
    let words = match names(f).as_slice() {
        _ if f.title == f.y.title && !f.y.unit.is_empty() => format!("{} over {}", f.y.unit, axis(&f.x)),
        [one] if !f.title.contains(one) => format!("{}, {one}", axis(&f.y)),
        _ => format!("{} over {}", axis(&f.y), axis(&f.x)),
    };
    let fact = |name: &str, value: &str| match value {
        "" => String::new(),
        value => format!(" data-{name}=\"{}\"", esc(value)),
    };
    let _ = write!(
        out,
        "<figure class=\"plot{}\"{}{}{}><figcaption><b>{}</b> <span>{}</span></figcaption>\
         <div class=\"canvas{}\" data-figure=\"{at}\" tabindex=\"0\" role=\"group\" aria-label=\"Figure {number}: {}; arrow keys read values, plus and minus zoom\" data-alt=\"Figure {number}: {}\"></div>",
        if f.kind == Kind::Spans { " large" } else { "" },
        fact("scheme", &f.scheme),
        fact("pause", &f.pause),
        fact("condition", &f.condition),
        esc(&f.title),
        esc(&words),
        if small { " tiny" } else { "" },
        esc(&f.title),
        esc(&describe(f))
    );
    if !f.caption.is_empty() && !small {
        let _ = write!(out, "<p class=\"small\">{}</p>", esc(&f.caption));
    }
    out.push_str("</figure>");
}

/// A figure of a page on the first page of the report, with its legend.
pub(crate) fn headline(p: &Page, colours: &Colours, out: &mut String) {
    let first = p.tables.first().map(|t| t.id.as_str());
    let Some((at, f)) = p.figures.iter().enumerate().find(|(_, f)| Some(f.group.as_str()) == first) else {
        return;
    };
    let _ = write!(out, "<div class=\"block headline\" data-of=\"{}\">", esc(&p.id));
    legend(f, colours, out);
    out.push_str("<div class=\"figures\">");
    let about = Figure { title: format!("{}: {}", f.title, f.group), ..f.clone() };
    figure(at, &about, false, 0, out);
    out.push_str("</div></div>");
}

fn axis(a: &Axis) -> String {
    if a.unit.is_empty() { a.title.clone() } else { format!("{} [{}]", a.title, a.unit) }
}

/// A figure as text, for readers who cannot see it: the extremes of each line.
fn describe(f: &Figure) -> String {
    match f.kind {
        Kind::Heat => return heat::words(f),
        Kind::Spans => return spans::words(f),
        _ => {}
    }
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

/// Contents of the page, if it has more than one table.
fn contents(p: &Page, network: bool, out: &mut String) {
    let others = !figures(p, None).is_empty();
    if p.tables.len() + usize::from(others) + usize::from(network) < 2 {
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
    if network {
        let _ = write!(out, "<li><a href=\"#{}\">Network</a></li>", esc(&anchor(&p.id, "network")));
    }
    out.push_str("</ul></nav>");
}

/// The evidence of a claim: failed parts first, then undecided ones.
fn evidence(c: &Claim) -> Vec<String> {
    let rank = |e: &str| match e {
        e if e.ends_with("[no]") => 0,
        e if e.ends_with("[undecided]") => 1,
        _ => 2,
    };
    let mut parts: Vec<&str> = c.evidence.split("; ").filter(|e| !e.is_empty()).collect();
    parts.sort_by_key(|e| rank(e));
    let shown = |e: &&str| if rank(e) == 0 { format!("<b>{}</b>", esc(e)) } else { esc(e) };
    parts.iter().map(shown).collect()
}

/// Claims as a table; those of the list of all claims can be linked to.
pub(crate) fn claims<'a>(claims: impl Iterator<Item = &'a Claim>, linked: bool, out: &mut String) {
    out.push_str(&scroll("claims"));
    out.push_str(
        "<table class=\"plain claims\"><thead><tr><th>claim</th><th>outcome</th><th>statement of the study</th><th>evidence</th></tr></thead><tbody>",
    );
    for c in claims {
        let (class, ..) = holds(c.holds);
        let evidence = evidence(c);
        let id = if linked { format!(" id=\"claims/{}\"", esc(&c.id)) } else { String::new() };
        let _ = write!(
            out,
            "<tr class=\"{class}\"{id}><td class=\"id\"><a href=\"#claims/{0}\">{0}</a><small>{1}{5}</small></td><td>{2}</td><td class=\"text\">{3}</td><td class=\"small num\">{4}</td></tr>",
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
            },
            if c.is_scored() { "" } else { ", not scored" }
        );
    }
    out.push_str("</tbody></table></div>");
}

/// Assumptions as a table.
pub(crate) fn assumptions<'a>(list: impl Iterator<Item = &'a Assumption>, out: &mut String) {
    out.push_str(&scroll("assumptions"));
    out.push_str("<table class=\"plain\"><thead><tr><th>assumption</th><th>statement</th><th>alternatives</th></tr></thead><tbody>");
    for a in list {
        let _ = write!(
            out,
            "<tr><td class=\"id\">{}<small>{}</small></td><td class=\"text\">{}</td><td class=\"small\" data-label=\"alternatives\">{}</td></tr>",
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
    out.push_str(&scroll("published rows that were not run"));
    out.push_str("<table class=\"plain\"><thead><tr><th>published row</th><th class=\"n\">value</th><th>why it was not run</th></tr></thead><tbody>");
    for n in list {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\" data-label=\"value\">{}</td><td class=\"small\">{}</td></tr>",
            esc(&n.place),
            esc(&n.value),
            if n.reason.is_empty() { "not requested".into() } else { esc(&n.reason) }
        );
    }
    out.push_str("</tbody></table></div>");
}

/// The command, and the identification of the runs.
pub(crate) fn facts(r: &Report, out: &mut String) {
    out.push_str("<dl class=\"facts\">");
    for (name, value) in [("command", &r.command), ("cnsim", &r.version)] {
        if !value.is_empty() {
            let _ = write!(out, "<dt>{name}</dt><dd><code>{}</code></dd>", esc(value));
        }
    }
    for f in &r.facts {
        let _ = write!(out, "<dt>{}</dt><dd class=\"num\">{}</dd>", esc(&f.name), esc(&f.value));
    }
    out.push_str("</dl>");
}
