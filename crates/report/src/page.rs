//! A scenario's page.

use crate::colour::Colours;
use crate::html::{
    Mark, anchor, counts, distinct, holds, holds_badge, plain, scenario, scroll, study, swatch, titled,
};
use crate::model::{Assumption, Claim, Figure, Kind, NotRun, Page, Report, Table};
use crate::words::{axis, describe};
use crate::{map, table, topology};
use maud::{Markup, PreEscaped, html};

/// The page as text in a script element: a browser reads it as HTML when it is first shown, so that a large report opens
/// as quickly as a small one. Nothing in it can end the script, as every text is escaped.
pub(crate) fn page(r: &Report, p: &Page, colours: &Colours) -> Markup {
    let (alone, judged, id) = (r.is_one_experiment(), p.is_judged(), study(&p.id));
    // A wide drawing would push what happened off the first screen: it stands below.
    // The map takes its place.
    let still = topology::draw(&p.topology).filter(|_| p.plays.is_empty());
    let (beside, below) = match still {
        Some(d) if d.width > 620.0 => (None, Some(d)),
        other => (other, None),
    };
    let mut number = 1..;
    html! {
        section.page data-route=(p.id) data-page=(p.id) hidden {
            script type="text/html" {
                p.eyebrow {
                    @if alone { (id) } @else { a href={ "#" (id) } { (id) } } " / " (scenario(&p.id))
                }
                h1 tabindex="-1" { (if p.title.is_empty() { &p.id } else { &p.title }) }
                (alerts(p))
                div.intro.wide[beside.is_none()] {
                    div {
                        @if !p.question.is_empty() { p.lead { (p.question) } }
                        @if !p.source.is_empty() { p.cite { span { "Source" } " " (p.source) } }
                        @if judged { (tally(p)) }
                        (contents(p, below.is_some()))
                    }
                    @if let Some(d) = &beside { (network(d)) }
                }
                @if judged { (PreEscaped(KEY)) }
                @if p.figures_first { (other_figures(p, colours, &mut number)) }
                @for t in &p.tables {
                    article id=(anchor(&p.id, &t.id)) {
                        (table::table(p, t, colours))
                        (group(&figures(p, Some(t)), colours, &mut number))
                    }
                }
                @if !p.figures_first { (other_figures(p, colours, &mut number)) }
                (map::article(p))
                @if let Some(d) = &below {
                    article id=(anchor(&p.id, "network")) {
                        div.head { h2 tabindex="-1" { "Network" } }
                        (network(d))
                    }
                }
                @if !p.claims.is_empty() { (titled("Claims decided here", claims(&p.claims, false))) }
                @if !p.assumptions.is_empty() { (titled("Assumptions made here", assumptions(&p.assumptions))) }
                @if !p.not_run.is_empty() { (titled("Published, not run", not_run(&p.not_run))) }
                @if alone { (titled("This report", facts(r))) }
            }
        }
    }
}

/// Warnings at the head of the page.
pub(crate) fn alerts(p: &Page) -> Markup {
    html! {
        @for a in p.alerts.iter().filter(|a| !a.lines.is_empty()) {
            div.alert.(if a.mild { "near" } else { "differs" }) role="note" {
                b { (a.title) } " " (a.about)
                ul { @for line in &a.lines { li { (line) } } }
            }
        }
    }
}

fn network(d: &topology::Drawing) -> Markup {
    html! {
        figure.net {
            (scroll("drawing of the network", PreEscaped(&d.svg)))
            figcaption { (d.caption) }
        }
    }
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

/// The numbers of a page's figures.
type Numbers = std::ops::RangeFrom<usize>;

/// Figures without a table; each of their groups has a heading.
fn other_figures(p: &Page, colours: &Colours, number: &mut Numbers) -> Markup {
    let others = figures(p, None);
    let some =
        |g: &str| -> Vec<(usize, &Figure)> { others.iter().filter(|(_, f)| f.group == g).copied().collect() };
    html! {
        @if !others.is_empty() {
            article id=(anchor(&p.id, "figures")) {
                div.head { h2 tabindex="-1" { "Figures" } }
                @if others.len() > MANY { (picker(&others)) }
                @for g in distinct(others.iter().map(|(_, f)| f.group.as_str())) {
                    div.family {
                        @if !g.is_empty() { h3 { (g) } }
                        (group(&some(g), colours, number))
                    }
                }
            }
        }
    }
}

/// Number of figures in a group above which they are small and have a picker.
const MANY: usize = 6;

/// Choices of scheme, PAUSE mode and condition among many figures.
fn picker(figures: &[(usize, &Figure)]) -> Markup {
    let kinds: [(&str, &str, fn(&Figure) -> &str); 3] = [
        ("scheme", "scheme", |f| &f.scheme),
        ("pause", "PAUSE", |f| &f.pause),
        ("condition", "condition", |f| &f.condition),
    ];
    html! {
        div.picker role="group" aria-label="figures shown" {
            @for (kind, label, of) in kinds {
                @let values = distinct(figures.iter().map(|(_, f)| of(f)).filter(|v| !v.is_empty()));
                @if values.len() > 1 {
                    label {
                        (label) " "
                        select data-pick=(kind) { option value="" { "all" } @for v in values { option { (v) } } }
                    }
                }
            }
            label { input type="checkbox" data-pick="large"; " large" }
            span.small role="status" { (figures.len()) " figures" }
        }
    }
}

/// The names of a figure's lines, each once.
fn names(f: &Figure) -> Vec<&str> {
    distinct(f.traces.iter().map(|t| t.name.as_str()))
}

/// Figures side by side; those with the same lines stand under one legend, whose entries are switches.
fn group(figures: &[(usize, &Figure)], colours: &Colours, number: &mut Numbers) -> Markup {
    let small = figures.len() > MANY;
    let looks = |f: &Figure| -> Vec<(String, (u8, u8))> {
        f.traces.iter().map(|t| (t.name.clone(), colours.trace(t))).collect()
    };
    html! {
        @for block in figures.chunk_by(|a, b| looks(a.1) == looks(b.1)) {
            div.block {
                (legend(block[0].1, colours))
                div.figures.many[small] {
                    @for (at, f) in block { (figure(*at, f, small, number.next().unwrap_or(0))) }
                }
            }
        }
    }
}

/// The switches of a block of figures; none for a single line.
fn legend(f: &Figure, colours: &Colours) -> Markup {
    let names = names(f);
    let look = |name| f.traces.iter().find(|t| t.name == name).map_or((0, 0), |t| colours.trace(t));
    // Bars over time need their names even if all are of one colour.
    let none = f.kind == Kind::Heat || names.len() < 2 && f.kind != Kind::Spans;
    html! {
        @if !none {
            div.legend role="group" aria-label={ "lines shown: " (f.title) } {
                @for name in names {
                    button.chip type="button" aria-pressed="true" data-name=(name) {
                        (swatch(look(name))) (name)
                    }
                }
                span.hint { "click: hide or show · double click: only this one · drag in a figure: zoom" }
            }
        }
    }
}

fn figure(at: usize, f: &Figure, small: bool, number: usize) -> Markup {
    let words = match names(f).as_slice() {
        _ if f.title == f.y.title && !f.y.unit.is_empty() => format!("{} over {}", f.y.unit, axis(&f.x)),
        [one] if !f.title.contains(one) => format!("{}, {one}", axis(&f.y)),
        _ => format!("{} over {}", axis(&f.y), axis(&f.x)),
    };
    let [scheme, pause, condition] =
        [&f.scheme, &f.pause, &f.condition].map(|t| Some(t).filter(|t| !t.is_empty()));
    html! {
        figure.plot.large[f.kind == Kind::Spans]
            data-scheme=[scheme] data-pause=[pause] data-condition=[condition] {
            figcaption { b { (f.title) } " " span { (words) } }
            div.canvas.tiny[small] data-figure=(at) tabindex="0" role="group"
                aria-label={ "Figure " (number) ": " (f.title) "; arrow keys read values, plus and minus zoom" }
                data-alt={ "Figure " (number) ": " (describe(f)) } {}
            @if !f.caption.is_empty() && !small { p.small { (f.caption) } }
        }
    }
}

/// A figure of a page on the first page of the report, with its legend.
pub(crate) fn headline(p: &Page, colours: &Colours) -> Markup {
    let first = p.tables.first().map(|t| t.id.as_str());
    let found = p.figures.iter().enumerate().find(|(_, f)| Some(f.group.as_str()) == first);
    html! {
        @if let Some((at, f)) = found {
            @let about = Figure { title: format!("{}: {}", f.title, f.group), ..f.clone() };
            div.block.headline data-of=(p.id) {
                (legend(f, colours))
                div.figures { (figure(at, &about, false, 0)) }
            }
        }
    }
}

fn tally(p: &Page) -> Markup {
    let marks: Vec<_> = Mark::ALL.into_iter().zip(counts(p)).filter(|(_, n)| *n > 0).collect();
    html! {
        @if !marks.is_empty() {
            ul.tally {
                @for (mark, n) in marks {
                    li.(mark.class()) {
                        b aria-hidden="true" { (mark.icon()) } span.num { (n) } " " (mark.of_many(n))
                    }
                }
            }
        }
    }
}

/// Contents of the page, if it has more than one table.
fn contents(p: &Page, network: bool) -> Markup {
    let others = !figures(p, None).is_empty();
    let differ = |t: &Table| {
        t.rows.iter().flat_map(|r| r.cells.iter().flatten()).filter(|c| Mark::of(c) == Mark::Differs).count()
    };
    html! {
        @if p.tables.len() + usize::from(others) + usize::from(network || !p.plays.is_empty()) >= 2 {
            nav.contents aria-label="on this page" {
                ul {
                    @for t in &p.tables {
                        li {
                            a href={ "#" (anchor(&p.id, &t.id)) } { (table::heading(t)) }
                            @if differ(t) > 0 { " " span.differs { "✗ " (differ(t)) } }
                        }
                    }
                    @if others { li { a href={ "#" (anchor(&p.id, "figures")) } { "Figures" } } }
                    @if !p.plays.is_empty() { li { a href={ "#" (anchor(&p.id, "map")) } { "Map" } } }
                    @if network { li { a href={ "#" (anchor(&p.id, "network")) } { "Network" } } }
                }
            }
        }
    }
}

/// The evidence of a claim: failed parts first, then undecided ones.
fn evidence(c: &Claim) -> Vec<Markup> {
    let rank = |e: &str| match e {
        e if e.ends_with("[no]") => 0,
        e if e.ends_with("[undecided]") => 1,
        _ => 2,
    };
    let mut parts: Vec<&str> = c.evidence.split("; ").filter(|e| !e.is_empty()).collect();
    parts.sort_by_key(|e| rank(e));
    parts.iter().map(|e| html! { @if rank(e) == 0 { b { (e) } } @else { (e) } }).collect()
}

/// Pieces, each in its line.
fn lines(pieces: &[Markup]) -> Markup {
    html! { @for (i, piece) in pieces.iter().enumerate() { @if i > 0 { br; } (piece) } }
}

/// Claims as a table; those of the list of all claims can be linked to.
pub(crate) fn claims<'a>(claims: impl IntoIterator<Item = &'a Claim>, linked: bool) -> Markup {
    let heads = [("", "claim"), ("", "outcome"), ("", "statement of the study"), ("", "evidence")];
    let rows = html! {
        @for c in claims {
            @let evidence = evidence(c);
            tr.(holds(c.holds).0) id=[linked.then(|| format!("claims/{}", c.id))] {
                td.id {
                    a href={ "#claims/" (c.id) } { (c.id) }
                    small { (c.origin) @if !c.is_scored() { ", not scored" } }
                }
                td { (holds_badge(c.holds)) }
                td.text { (c.text) }
                td.small.num {
                    @if evidence.len() > 6 {
                        (lines(&evidence[..5]))
                        details { summary { (evidence.len() - 5) " more" } (lines(&evidence[5..])) }
                    } @else { (lines(&evidence)) }
                }
            }
        }
    };
    plain("plain claims", "claims", &heads, html! { tbody { (rows) } })
}

/// Assumptions as a table.
pub(crate) fn assumptions<'a>(list: impl IntoIterator<Item = &'a Assumption>) -> Markup {
    let rows = html! {
        @for a in list {
            tr {
                td.id { (a.id) small { (a.name) } }
                td.text { (a.text) }
                td.small data-label="alternatives" { (a.alternatives) }
            }
        }
    };
    let heads = [("", "assumption"), ("", "statement"), ("", "alternatives")];
    plain("plain", "assumptions", &heads, html! { tbody { (rows) } })
}

/// Published rows that were not run, as a table.
pub(crate) fn not_run<'a>(list: impl IntoIterator<Item = &'a NotRun>) -> Markup {
    let rows = html! {
        @for n in list {
            tr {
                td { (n.place) }
                td.n data-label="value" { (n.value) }
                td.small { (if n.reason.is_empty() { "not requested" } else { &n.reason }) }
            }
        }
    };
    let heads = [("", "published row"), ("n", "value"), ("", "why it was not run")];
    plain("plain", "published rows that were not run", &heads, html! { tbody { (rows) } })
}

/// The command, and the identification of the runs.
pub(crate) fn facts(r: &Report) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in [("command", &r.command), ("cnsim", &r.version)] {
                @if !value.is_empty() { dt { (name) } dd { code { (value) } } }
            }
            @for f in &r.facts { dt { (f.name) } dd.num { (f.value) } }
        }
    }
}
