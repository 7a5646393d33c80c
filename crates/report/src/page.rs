//! The body: index, pages, tables, topology.

use crate::{Cell, Figure, Page, Report, Table, Topology};
use std::fmt::Write as _;

/// Escapes text for HTML, attributes included.
fn esc(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Icon and word of a verdict: never colour alone.
fn badge(verdict: &str) -> String {
    let (icon, word) = match verdict {
        "agrees" | "yes" => ("✓", verdict),
        "differs" | "no" => ("✗", verdict),
        "undecided" => ("~", verdict),
        "zero" => ("0", "zero by construction"),
        "not-run" => ("–", "not run"),
        other => ("·", other),
    };
    format!("<span class=\"badge {}\"><b aria-hidden=\"true\">{icon}</b> {}</span>", esc(verdict), esc(word))
}

pub(crate) fn body(report: &Report, figures: &mut Vec<Figure>) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#main\">Skip to content</a><header><a class=\"brand\" href=\"#\">cnsim<small>{}</small></a><nav aria-label=\"pages\"><a href=\"#\">Overview</a>",
        esc(&report.version)
    );
    for p in &report.pages {
        let _ = write!(out, "<a href=\"#{0}\">{0}</a>", esc(&p.id));
    }
    out += "<a href=\"#method\">Method</a></nav><button id=\"theme\" type=\"button\" aria-label=\"switch between light and dark\">◐</button></header><main id=\"main\">";
    index(report, &mut out);
    for p in &report.pages {
        page(p, &mut out, figures);
    }
    method(report, &mut out);
    out += "</main>";
    out
}

fn cells(page: &Page) -> impl Iterator<Item = &Cell> {
    page.tables.iter().flat_map(|t| &t.rows).flat_map(|r| r.1.iter().flatten())
}

fn index(report: &Report, out: &mut String) {
    let count = |v: &str| report.pages.iter().flat_map(cells).filter(|c| c.verdict == v).count();
    let (agrees, differs, zero) = (count("agrees"), count("differs"), count("zero"));
    let _ = write!(
        out,
        "<section class=\"page\" data-route=\"\"><h1>Published beside measured</h1><p class=\"lead\">Congestion management for data-centre Ethernet, \
         simulated frame by frame, next to the numbers that the studies printed.</p><div class=\"tiles\">\
         <div class=\"tile agrees\"><b>{agrees}</b><span>✓ cells agree</span></div><div class=\"tile differs\"><b>{differs}</b><span>✗ cells differ</span></div>\
         <div class=\"tile\"><b>{zero}</b><span>zero by construction</span></div><div class=\"tile\"><b>{}</b><span>published, not run</span></div></div>",
        report.not_run.len()
    );
    let total = (agrees + differs).max(1);
    let _ = write!(
        out,
        "<div class=\"bar\" role=\"img\" aria-label=\"{agrees} of {total} cells agree\"><i style=\"width:{}%\"></i></div>",
        agrees * 100 / total
    );
    out.push_str("<h2>Scenarios</h2><div class=\"scroll\"><table class=\"plain\"><thead><tr><th>scenario</th><th class=\"n\">agree</th><th class=\"n\">differ</th><th>question</th></tr></thead><tbody>");
    for p in &report.pages {
        let n = |v: &str| cells(p).filter(|c| c.verdict == v).count();
        let _ = write!(
            out,
            "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"n\">{1}</td><td class=\"n\">{2}</td><td>{3}</td></tr>",
            esc(&p.id),
            n("agrees"),
            n("differs"),
            esc(&p.question)
        );
    }
    out.push_str("</tbody></table></div>");
    if !report.claims.is_empty() {
        out.push_str("<h2>Claims of the studies</h2><div class=\"scroll\"><table class=\"plain\"><thead><tr><th>claim</th><th>holds</th><th>text</th><th>evidence</th></tr></thead><tbody>");
        for c in &report.claims {
            let _ = write!(
                out,
                "<tr><td class=\"nowrap\">{}<small>{}</small></td><td>{}</td><td>{}</td><td class=\"small\">{}</td></tr>",
                esc(&c.id),
                esc(&c.origin),
                badge(&c.holds),
                esc(&c.text),
                esc(&c.evidence).replace("; ", "<br>")
            );
        }
        out.push_str("</tbody></table></div>");
    }
    out.push_str("<h2>This report</h2><dl class=\"facts\">");
    let _ = write!(out, "<dt>command</dt><dd><code>{}</code></dd>", esc(&report.command));
    for (k, v) in &report.facts {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", esc(k), esc(v));
    }
    out.push_str("</dl></section>");
}

fn page(p: &Page, out: &mut String, figures: &mut Vec<Figure>) {
    let _ = write!(
        out,
        "<section class=\"page\" data-route=\"{}\" hidden><p class=\"eyebrow\">{}</p><h1>{}</h1><div class=\"intro\"><div><p class=\"lead\">{}</p><p class=\"small\">{}</p></div><figure class=\"net\">{}<figcaption>{}</figcaption></figure></div>",
        esc(&p.id),
        esc(&p.id),
        esc(&p.title),
        esc(&p.question),
        esc(&p.source),
        draw(&p.topology),
        esc(&p.topology.caption)
    );
    for (i, t) in p.tables.iter().enumerate() {
        table(t, &format!("{}-{}", p.id.replace('/', "-"), i), out, figures);
    }
    out.push_str("</section>");
}

fn table(t: &Table, id: &str, out: &mut String, figures: &mut Vec<Figure>) {
    let _ = write!(
        out,
        "<article><div class=\"head\"><h2>{}</h2><button class=\"csv\" type=\"button\" data-table=\"{id}\">Save as CSV</button></div><div class=\"scroll\"><table class=\"cells\" id=\"{id}\"><thead><tr><th rowspan=\"2\">scheme</th>",
        esc(&t.title)
    );
    for (title, unit) in &t.columns {
        let _ =
            write!(out, "<th colspan=\"2\" class=\"group\">{} <small>{}</small></th>", esc(title), esc(unit));
    }
    out.push_str("</tr><tr>");
    for _ in &t.columns {
        out.push_str("<th class=\"n\">published</th><th class=\"n\">measured</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for (scheme, row) in &t.rows {
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><i class=\"key\" data-scheme=\"{0}\"></i>{0}</th>",
            esc(scheme)
        );
        for cell in row {
            match cell {
                None => out.push_str("<td></td><td></td>"),
                Some(c) => {
                    let half = if c.half.is_empty() {
                        String::new()
                    } else {
                        format!("<small>± {}</small>", esc(&c.half))
                    };
                    let published = if c.published.is_empty() { "–".into() } else { esc(&c.published) };
                    let _ = write!(
                        out,
                        "<td class=\"n pub\">{published}</td><td class=\"n v-{}\" tabindex=\"0\" title=\"{}\"><span class=\"value\">{}</span> {half}{}</td>",
                        esc(&c.verdict),
                        esc(&c.detail),
                        esc(&c.measured),
                        badge(&c.verdict)
                    );
                }
            }
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    let notes: Vec<(&str, &str, &Cell)> = t
        .rows
        .iter()
        .flat_map(|(s, row)| {
            row.iter()
                .zip(&t.columns)
                .filter_map(move |(c, col)| c.as_ref().map(|c| (s.as_str(), col.0.as_str(), c)))
        })
        .filter(|(_, _, c)| c.verdict == "differs")
        .collect();
    if !notes.is_empty() {
        let _ = write!(
            out,
            "<details><summary>{} cells differ: which assumption is suspected</summary><ul>",
            notes.len()
        );
        for (scheme, column, c) in notes {
            let _ = write!(
                out,
                "<li><b>{}</b>, {}: published {}, measured {}. {}</li>",
                esc(scheme),
                esc(column),
                esc(&c.published),
                esc(&c.measured),
                esc(&c.note)
            );
        }
        out.push_str("</ul></details>");
    }
    out.push_str("<div class=\"figures\">");
    for f in &t.figures {
        let _ = write!(
            out,
            "<figure class=\"plot\"><figcaption>{}</figcaption><div class=\"canvas\" data-figure=\"{}\"></div></figure>",
            esc(&f.title),
            figures.len()
        );
        figures.push(f.clone());
    }
    out.push_str("</div></article>");
}

/// Nodes in rows, hosts as circles, switches as boxes; the hot link is drawn heavily.
fn draw(t: &Topology) -> String {
    let rows = t.nodes.iter().map(|n| n.1).max().map_or(0, |r| r + 1);
    if rows == 0 {
        return String::new();
    }
    let (w, h) = (460.0, 80.0 * f64::from(rows));
    let place = |i: usize| {
        let row = t.nodes[i].1;
        let same: Vec<usize> = (0..t.nodes.len()).filter(|&j| t.nodes[j].1 == row).collect();
        let at = same.iter().position(|&j| j == i).unwrap_or(0) as f64;
        (w * (at + 0.5) / same.len() as f64, 40.0 + 80.0 * f64::from(row))
    };
    let big = t.nodes.len() > 40;
    let mut svg = format!("<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"the network\">");
    for &(a, b) in &t.links {
        let ((x1, y1), (x2, y2)) = (place(a), place(b));
        let hot = t.nodes[a].3 || t.nodes[b].3;
        let _ = write!(
            svg,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{}\"/>",
            if hot { "hot" } else { "wire" }
        );
    }
    for (i, (name, _, host, hot)) in t.nodes.iter().enumerate() {
        let (x, y) = place(i);
        let class = if *hot { "node hot" } else { "node" };
        if *host {
            let r = if big { 4.0 } else { 16.0 };
            let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" class=\"{class}\"/>");
        } else {
            let half = if big { 5.0 } else { 26.0 };
            let _ = write!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"28\" rx=\"5\" class=\"{class}\"/>",
                x - half,
                y - 14.0,
                half * 2.0
            );
        }
        if !big {
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 4.0, esc(name));
        }
    }
    svg + "</svg>"
}

fn method(report: &Report, out: &mut String) {
    out.push_str(
        "<section class=\"page\" data-route=\"method\" hidden><h1>Method</h1>\
         <p>Every case runs with several seeds; the same seed gives every scheme the same arrivals. <b>± 95 %</b> is the confidence interval of the mean. \
         A published number comes from one run, so it is judged by the <b>prediction interval</b> of one run, mean ± t·s·√(1 + 1/n), widened by half a unit of \
         its last printed digit; or by a tolerance: 1.5 % for throughputs, 0.5 points for time paused, 5 % for overhead, 1 % or 100 frames for drops. \
         Cells that are zero by construction (drops with PAUSE, overhead without a scheme) are counted apart. No cell is hidden and none is tuned; \
         a cell that differs names the assumption that is suspected.</p>\
         <h2>What is not modelled</h2><p>Preamble and inter-frame gap (the published numbers exclude them), bit errors, PAUSE quanta and refresh, \
         the bytes of tags in data frames, transport protocols above Ethernet, more than one data class.</p>",
    );
    out.push_str("<h2>Named assumptions</h2><div class=\"scroll\"><table class=\"plain\"><thead><tr><th>assumption</th><th>what is assumed</th><th>alternatives</th></tr></thead><tbody>");
    for (name, text, alternatives) in &report.assumptions {
        let _ = write!(
            out,
            "<tr><td class=\"nowrap\">{}</td><td>{}</td><td class=\"small\">{}</td></tr>",
            esc(name),
            esc(text),
            esc(alternatives)
        );
    }
    out.push_str("</tbody></table></div>");
    if !report.not_run.is_empty() {
        out.push_str("<h2>Published, not run</h2><ul class=\"small\">");
        for (place, value) in &report.not_run {
            let _ = write!(out, "<li>{}: {}</li>", esc(place), esc(value));
        }
        out.push_str("</ul>");
    }
    out.push_str("</section>");
}
