//! The first page, the studies' pages, all claims, the list at the side.

use crate::colour::Colours;
use crate::html::{Counts, Mark, anchor, counts, distinct, holds, plain, scenario, study};
use crate::model::{Alert, Claim, Found, Holds, Page, Report};
use crate::number::{column_decimals, fixed, measured, printed};
use crate::table::heading;
use crate::{overview, page};
use cnsim_problem::joined;
use indexmap::IndexMap;
use maud::{Markup, html};

/// Studies in the order in which they are named, then of their pages.
pub(crate) fn studies(r: &Report) -> Vec<&str> {
    let used = || r.pages.iter().map(|p| study(&p.id)).chain(r.claims.iter().map(|c| study(&c.id)));
    let named = r.studies.iter().map(|s| s.id.as_str()).filter(|id| used().any(|used| used == *id));
    distinct(named.chain(used()))
}

/// The title of a study; empty where the report has none.
fn title_of<'a>(r: &'a Report, id: &str) -> &'a str {
    r.studies.iter().find(|s| s.id == id).map_or("", |s| s.title.as_str())
}

/// The pages of a study.
fn pages_of<'a>(r: &'a Report, id: &str) -> Vec<&'a Page> {
    r.pages.iter().filter(|p| study(&p.id) == id).collect()
}

/// Claims of the report and of its pages, each once.
pub(crate) fn all_claims(r: &Report) -> Vec<&Claim> {
    let mut all: IndexMap<&str, &Claim> = IndexMap::new();
    for c in r.claims.iter().chain(r.pages.iter().flat_map(|p| &p.claims)) {
        all.entry(&c.id).or_insert(c);
    }
    all.into_values().collect()
}

/// A bar in parts, each with its own class and pattern.
fn bar(parts: &[(&str, usize, &str)]) -> Markup {
    let parts: Vec<_> = parts.iter().filter(|p| p.1 > 0).collect();
    let label: Vec<String> = parts.iter().map(|p| format!("{} {}", p.1, p.2)).collect();
    html! {
        @if !parts.is_empty() {
            div.bar role="img" aria-label=(label.join(", ")) {
                @for (class, n, words) in parts {
                    i.(class) style={ "flex-grow:" (n) } title={ (n) " " (words) } {}
                }
            }
        }
    }
}

fn cell_bar(n: Counts) -> Markup {
    let marks = [Mark::Agrees, Mark::Near, Mark::Differs, Mark::Undecided, Mark::Incomparable];
    bar(&marks.map(|m| (m.class(), n[m as usize], m.words())))
}

const OUTCOMES: [Holds; 4] = [Holds::Yes, Holds::No, Holds::Undecided, Holds::NotRun];

/// Claims by outcome; those read from figures are shown, not scored.
fn outcomes(claims: &[&Claim]) -> [usize; 4] {
    OUTCOMES.map(|h| claims.iter().filter(|c| c.holds == h && c.is_scored()).count())
}

fn legend(items: &[(&str, &str, usize, &str)]) -> Markup {
    html! {
        ul.tally {
            @for (class, icon, n, words) in items {
                li.(class) { b aria-hidden="true" { (icon) } span.num { (n) } " " (words) }
            }
        }
    }
}

/// Warnings at the head of a page.
fn grave(p: &Page) -> Vec<&Alert> {
    p.alerts.iter().filter(|a| !a.mild && !a.lines.is_empty()).collect()
}

/// Counts the warnings of all pages of a report: a line for each kind, with its pages.
fn to_be_read_first(r: &Report) -> Markup {
    let pages = |kind: &str| -> Vec<(&Page, usize)> {
        let cases = |p: &Page| grave(p).iter().filter(|a| a.title == kind).map(|a| a.lines.len()).sum();
        r.pages.iter().map(|p| (p, cases(p))).filter(|p| p.1 > 0).collect()
    };
    html! {
        @for kind in distinct(r.pages.iter().flat_map(grave).map(|a| a.title.as_str())) {
            @let pages = pages(kind);
            @let n = pages.iter().map(|p| p.1).sum::<usize>();
            p.lead.first {
                (kind) " In " (n) " " (if n == 1 { "case" } else { "cases" }) ": "
                @for (i, (p, n)) in pages.iter().enumerate() {
                    @if i > 0 { ", " }
                    a href={ "#" (p.id) } { (p.id) } " (" (n) ")"
                }
                "."
            }
        }
    }
}

pub(crate) fn index(r: &Report, looks: &[Colours]) -> Markup {
    let claims = all_claims(r);
    let judged = r.is_judged();
    html! {
        section.page data-route="" {
            h1 tabindex="-1" { (if r.title.is_empty() { "Published beside measured" } else { &r.title }) }
            @if judged {
                p.lead {
                    "Congestion management for data-centre Ethernet, simulated frame by frame and compared with "
                    "the numbers that the studies printed. "
                    "A number that differs is shown with the suspected assumption."
                }
                (to_be_read_first(r))
            } @else {
                @for p in &r.pages { (page::alerts(p)) }
            }
            div.opening.plain[!judged] {
                @if judged { (overview::picture(r)) }
                @if judged || !claims.is_empty() {
                    div.boards {
                        @if judged { (cell_board(r)) }
                        @if !claims.is_empty() { (claim_board(&claims)) }
                    }
                }
            }
            // A report of few scenarios opens with their first figures.
            @if r.pages.len() <= 3 {
                @for (p, looks) in r.pages.iter().zip(looks) { (page::headline(p, looks)) }
            }
            (by_metric(r))
            (scenarios(r, judged))
            @if !claims.is_empty() { (claim_grid(&claims)) }
            (differing(r))
            h2 { "This report" }
            (page::facts(r))
        }
    }
}

/// A board with a heading, and how many of all are as they should be.
fn board(title: &str, (good, of, word): (usize, usize, &str), rest: Markup) -> Markup {
    html! {
        div.board {
            h2 { (title) }
            p.big { b.num { (good) } " of " span.num { (of) } " " (word) }
            (rest)
        }
    }
}

fn cell_board(r: &Report) -> Markup {
    let n = r.pages.iter().map(counts).fold(Counts::default(), |a, b| std::array::from_fn(|i| a[i] + b[i]));
    let agree = n[Mark::Agrees as usize];
    let judged =
        agree + [Mark::Near, Mark::Differs, Mark::Undecided].map(|m| n[m as usize]).iter().sum::<usize>();
    let items = Mark::ALL.map(|m| {
        let words =
            if m == Mark::Zero { "zero by construction, counted apart" } else { m.of_many(n[m as usize]) };
        (m.class(), m.icon(), n[m as usize], words)
    });
    let lost = r.not_run.len() + r.pages.iter().map(|p| p.not_run.len()).sum::<usize>();
    let rest = html! {
        (cell_bar(n)) (legend(&items))
        @if lost > 0 {
            p.small {
                a href="#method" { (lost) " published " (if lost == 1 { "row" } else { "rows" }) " not run" }
            }
        }
    };
    board("Published numbers", (agree, judged, "agree"), rest)
}

/// Marks of cells without a verdict.
const OTHER: [Mark; 4] = [Mark::Undecided, Mark::Incomparable, Mark::Unpublished, Mark::Zero];

/// Verdicts of the published cells of each metric, the metric with most cells first.
fn by_metric(r: &Report) -> Markup {
    let mut rows: IndexMap<&str, Counts> = IndexMap::new();
    for f in r.pages.iter().flat_map(Page::cells).filter(|f| Mark::of(f.cell) != Mark::Unpublished) {
        rows.entry(&f.column.title).or_default()[Mark::of(f.cell) as usize] += 1;
    }
    rows.sort_by_key(|_, n| std::cmp::Reverse(n.iter().sum::<usize>()));
    let heads = [
        ("", "published"),
        ("n", "agree"),
        ("n", "near"),
        ("n", "differ"),
        ("n", "undecided"),
        ("n spare", "zero by construction"),
        ("barcol", "share"),
    ];
    let body = html! {
        tbody id="by-metric" {
            @for (title, n) in &rows {
                tr {
                    td { (title) }
                    @for m in [Mark::Agrees, Mark::Near, Mark::Differs, Mark::Undecided, Mark::Zero] {
                        td.n.spare[m == Mark::Zero] { (n[m as usize]) }
                    }
                    td.barcol { (cell_bar(*n)) }
                }
            }
        }
    };
    let table = plain("plain list", "verdicts by metric", &heads, body);
    html! { @if !rows.is_empty() { h2 { "By metric" } (table) } }
}

fn claim_board(claims: &[&Claim]) -> Markup {
    let o = outcomes(claims);
    let scored: usize = o[..3].iter().sum();
    let title = "Claims of the studies";
    if scored == 0 {
        return html! {
            div.board {
                h2 { (title) }
                p.small {
                    a href="#claims" { (claims.len()) " claims" }
                    " need further runs: these results lack some of their data."
                }
            }
        };
    }
    let outcome = OUTCOMES.map(holds);
    let parts: Vec<(&str, usize, &str)> = outcome.iter().zip(o).map(|(h, n)| (h.0, n, h.2)).collect();
    let mut items: Vec<_> = outcome.iter().zip(o).map(|(h, n)| (h.0, h.1, n, h.2)).collect();
    let figures = claims.iter().filter(|c| !c.is_scored()).count();
    if figures > 0 {
        items.push(("unpublished", "·", figures, "read from a figure: shown, not scored"));
    }
    board(title, (o[0], scored, "hold"), html! { (bar(&parts[..3])) (legend(&items)) })
}

/// Every claim, with its outcome, as a link.
fn claim_grid(claims: &[&Claim]) -> Markup {
    let figures = claims.iter().filter(|c| !c.is_scored()).count();
    html! {
        h2 { "Claims" }
        p.grid {
            @for c in claims {
                @let (class, icon, words) = holds(c.holds);
                @let (scored, apart) = (c.is_scored(), if c.is_scored() { "" } else { ", not scored" });
                a.(class).apart[!scored] href={ "#claims/" (c.id) } title={ (words) (apart) ": " (c.text) } {
                    b aria-hidden="true" { (icon) } (c.id) span.away { " " (words) (apart) }
                }
            }
        }
        @if figures > 0 {
            p.small { (figures) " with a dashed border could only be read from a figure: shown, not scored." }
        }
    }
}

fn scenarios(r: &Report, judged: bool) -> Markup {
    let number = |n: usize| html! { @if n == 0 { span.dim { "–" } } @else { (n) } };
    let heads = [
        ("", "scenario"),
        ("spare", "question"),
        ("n", "agree"),
        ("n", "near"),
        ("n", "differ"),
        ("n spare", "other"),
        ("barcol", "share"),
    ];
    let row = |p: &Page| {
        let n = counts(p);
        html! {
            tr {
                td.id { a href={ "#" (p.id) } { (scenario(&p.id)) } }
                td.text.spare { (p.question) }
                td.n { (number(n[Mark::Agrees as usize])) }
                td.n { (number(n[Mark::Near as usize])) }
                td.n.differs[n[Mark::Differs as usize] > 0] { (number(n[Mark::Differs as usize])) }
                td.n.dim.spare { (number(OTHER.iter().map(|m| n[*m as usize]).sum())) }
                td.barcol { (cell_bar(n)) }
            }
        }
    };
    let body = html! {
        @for id in studies(r) {
            @let mine = pages_of(r, id);
            @if !mine.is_empty() {
                tbody {
                    tr.band { th colspan="7" { a href={ "#" (id) } { (id) } " " (title_of(r, id)) } }
                    @for p in mine { (row(p)) }
                }
            }
        }
    };
    let class = if judged { "plain list" } else { "plain list unjudged" };
    html! { @if !r.pages.is_empty() { h2 { "Scenarios" } (plain(class, "scenarios", &heads, body)) } }
}

/// Every cell that is near or differs, across all pages. Cells with equal notes stand together, below one note.
fn differing(r: &Report) -> Markup {
    let mut notes: IndexMap<&str, Vec<Markup>> = IndexMap::new();
    let missed = |f: &Found<'_>| matches!(Mark::of(f.cell), Mark::Near | Mark::Differs);
    for f in r.pages.iter().flat_map(Page::cells).filter(missed) {
        notes.entry(&f.cell.note).or_default().push(differing_row(&f));
    }
    let n: usize = notes.values().map(Vec::len).sum();
    let heads =
        [("", "table"), ("", "scheme, metric"), ("n", "published"), ("n", "measured"), ("n", "off by")];
    let body = html! {
        @for (note, rows) in notes {
            tbody {
                tr.band {
                    th colspan="5" scope="rowgroup" {
                        (if note.is_empty() { "No assumption is suspected yet." } else { note })
                    }
                }
                @for row in rows { (row) }
            }
        }
    };
    html! {
        @if n > 0 {
            h2 { "Numbers that do not agree" }
            details.what open[n <= 25] {
                summary { (n) " " (if n == 1 { "cell" } else { "cells" }) ", with suspected assumptions" }
                (plain("plain", "cells that differ", &heads, body))
            }
        }
    }
}

fn differing_row(f: &Found<'_>) -> Markup {
    let Found { page, table, row, column, cell: c } = *f;
    let decimals = column_decimals(std::iter::once(c));
    let said = c.published.as_deref().and_then(|s| s.trim().parse::<f64>().ok());
    let off = said.zip(c.measured).filter(|(s, _)| *s != 0.0).map_or("–".to_owned(), |(s, m)| {
        let percent = (m / s - 1.0) * 100.0;
        let sign = if percent > 0.0 { "+" } else { "" };
        format!("{sign}{}\u{202f}%", fixed(percent, usize::from(percent.abs() < 10.0)))
    });
    let place = joined([row.condition.as_str(), &heading(table)], ", ");
    html! {
        tr {
            td { a href={ "#" (anchor(&page.id, &table.id)) } { (page.id) } br; span.small { (place) } }
            td { (row.scheme) br; span.small { (column.title) " [" (column.unit) "]" } }
            td.n data-label="published" { (c.published.as_deref().map_or("–".into(), printed)) }
            td.n data-label="measured" { (c.measured.map_or("–".into(), |m| measured(m, decimals))) }
            td.n data-label="off by" { (off) }
        }
    }
}

/// The page of a study: citation, scenarios and claims.
pub(crate) fn study_page(r: &Report, id: &str) -> Markup {
    let title = Some(title_of(r, id)).filter(|t| !t.is_empty()).unwrap_or(id);
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let card = |p: &Page| {
        let n = counts(p);
        html! {
            a.card href={ "#" (p.id) } {
                b { (if p.title.is_empty() { scenario(&p.id) } else { &p.title }) }
                span { (p.question) }
                (cell_bar(n))
                span.small {
                    @for m in [Mark::Agrees, Mark::Near, Mark::Differs, Mark::Undecided] {
                        (m.icon()) " " (n[m as usize]) " · "
                    }
                    (count(p.tables.len(), "table")) " · " (count(p.figures.len(), "figure"))
                }
            }
        }
    };
    let mine = pages_of(r, id);
    let claims: Vec<&Claim> = all_claims(r).into_iter().filter(|c| study(&c.id) == id).collect();
    html! {
        section.page data-route=(id) hidden {
            p.eyebrow { "Study " (id) }
            h1 tabindex="-1" { (title) }
            @if let Some(s) = r.studies.iter().find(|s| s.id == id) {
                @if !s.summary.is_empty() { p.lead { (s.summary) } }
                @if !s.citation.is_empty() { p.cite { span { "Source" } " " (s.citation) } }
            }
            @if !mine.is_empty() {
                h2 { "Scenarios" }
                div.cards { @for p in mine { (card(p)) } }
            }
            @if !claims.is_empty() { h2 { "Claims" } (page::claims(claims, false)) }
        }
    }
}

/// All claims, with switches for their outcomes.
pub(crate) fn claims_page(r: &Report) -> Markup {
    let claims = all_claims(r);
    let count = |h, scored| claims.iter().filter(|c| c.holds == h && c.is_scored() == scored).count();
    let of = |id: &str| claims.iter().copied().filter(|c| study(&c.id) == id).collect::<Vec<_>>();
    html! {
        @if !claims.is_empty() {
            section.page data-route="claims" hidden {
                h1 tabindex="-1" { "Claims" }
                p.lead {
                    "A claim is a conclusion of a study, as a predicate over measured results. "
                    "It holds, does not hold, or is undecided. A difference inside the noise is undecided."
                }
                div.filter role="group" aria-label="outcomes shown" {
                    @for h in OUTCOMES {
                        @let (class, icon, words) = holds(h);
                        @let (n, apart) = (count(h, true), count(h, false));
                        button.(class) type="button" data-outcome=(class) aria-pressed="true"
                            disabled[n + apart == 0] {
                            b aria-hidden="true" { (icon) } span.num { (n) } " " (words)
                            @if apart > 0 { ", and " (apart) " not scored" }
                        }
                    }
                }
                @for id in studies(r) {
                    @if !of(id).is_empty() {
                        h2 { (id) " " span.after { (title_of(r, id)) } }
                        (page::claims(of(id), true))
                    }
                }
            }
        }
    }
}

/// Class, title and text of the mark of a page at the side; none where nothing was published.
fn side_mark(p: &Page) -> Option<(&'static str, String, String)> {
    let n = counts(p);
    let of = |m: Mark| n[m as usize];
    let say = |class, title: &str, text: &str| Some((class, title.to_owned(), text.to_owned()));
    match (of(Mark::Agrees) + of(Mark::Near), of(Mark::Differs)) {
        (0, 0) => None,
        (_, 0) if of(Mark::Undecided) > 0 => say("near", "none differs, some are undecided", "?"),
        (_, 0) if of(Mark::Near) == 0 => say("agrees", "all agree", "✓"),
        (_, 0) => say("near", "all agree or are near", "~"),
        (_, bad) => Some(("differs", format!("{bad} differ"), format!("✗ {bad}"))),
    }
}

/// The list of pages at the side.
pub(crate) fn sidebar(r: &Report) -> Markup {
    let alone = r.is_one_experiment();
    html! {
        form id="find" role="search" {
            label.away for="query" { "Search cells, schemes, metrics, claims" }
            input id="query" type="search" autocomplete="off" placeholder="Search";
        }
        nav aria-label="pages" {
            @if !alone { ul { li { a href="#" { "Overview" } } } }
            @for id in studies(r) {
                p { @if alone { (id) } @else { a href={ "#" (id) } { (id) } } }
                ul {
                    @for p in pages_of(r, id) {
                        li {
                            a href={ "#" (p.id) } {
                                (scenario(&p.id))
                                @if let Some((class, title, text)) = side_mark(p) {
                                    span.(class) title=(title) { (text) }
                                }
                            }
                        }
                    }
                }
            }
            p { "Background" }
            ul {
                @if !all_claims(r).is_empty() { li { a href="#claims" { "Claims" } } }
                li { a href="#method" { "Method" } }
            }
        }
        button id="printall" type="button" { "Print all pages" }
    }
}
