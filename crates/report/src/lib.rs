//! The HTML report: one file that opens from disk, offline; pages are routes in it (`#B07/single-hop`).
//!
//! [`build`] turns results into plain data ([`model`]), and [`render`] turns these into one HTML text. `assets/chart.js` draws
//! all figures: in a reader's browser those of a page, and in any engine of JavaScript those of documents ([`sheet`]).
//!
//! ```
//! use cnsim_report::model::Report;
//!
//! let html = cnsim_report::render(&Report { title: "My switches".into(), ..Report::default() }).unwrap();
//! assert!(html.contains("<title>My switches") && !html.contains("https://fonts"));
//! ```

pub mod build;
mod colour;
mod encode;
mod html;
mod index;
mod map;
mod method;
pub mod model;
mod number;
mod overview;
mod page;
mod reduce;
mod sheet;
mod table;
mod topology;
mod words;

pub use map::still;
pub use number::plus_minus;
pub use sheet::sheet;

use model::Report;

/// Largest number of points of a drawn series.
const MAX_POINTS: usize = 4000;

/// Why a report was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportError(pub String);

impl std::fmt::Display for ReportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the report cannot be made: {}", self.0)
    }
}

impl std::error::Error for ReportError {}

/// Largest size of a report with one or two pages, bytes.
const SMALL: usize = 4_600_000;
/// Largest size of a report with more than two pages, bytes.
const LARGE: usize = 21_000_000;
/// Fewest points of a series: a figure must stay legible.
const FEWEST: usize = 200;
/// Nothing may be loaded from outside; scripts in the file may run.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// Renders the report: one HTML file without external resources.
///
/// It stays below 5 MB with up to two pages, and below 22 MB with more; maps of all ports over time come on top. If figures would exceed that, their series are
/// reduced to fewer points than [`MAX_POINTS`].
///
/// # Errors
/// When the data cannot be written as JSON.
pub fn render(report: &Report) -> Result<String, ReportError> {
    let schemes = colour::schemes(report);
    let looks: Vec<colour::Colours> = report.pages.iter().map(|p| colour::Colours::of(p, &schemes)).collect();
    let mut body = body(report, &looks);
    let limit = if report.pages.len() <= 2 { SMALL } else { LARGE };
    let max = points(report, limit.saturating_sub(body.len()));
    for (p, looks) in report.pages.iter().zip(&looks) {
        let data = html::json(&PageData {
            tables: &p.tables,
            plays: &p.plays,
            figures: p.figures.iter().map(|f| encode::figure(f, max, |t| looks.trace(t))).collect(),
        })?;
        let id = html::esc(&p.id);
        body += &format!("\n<script type=\"application/json\" data-for=\"{id}\">{data}</script>");
    }
    let version = html::esc(&report.version);
    let title = match (report.title.as_str(), report.pages.as_slice()) {
        ("", _) => "cnsim: published beside measured",
        (title, _) => title,
    };
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <meta name=\"description\" content=\"{title}: tables and figures of simulated congestion management\">\
         <meta name=\"generator\" content=\"cnsim {version}\"><title>{title}</title>\n<style>{base}{parts}</style><style id=\"chartstyle\">{chart_style}</style></head>\n\
         <body><a class=\"skip\" href=\"#main\">Skip to content</a><header><button id=\"menu\" type=\"button\" aria-expanded=\"false\" aria-controls=\"side\">Pages</button>\
         <a class=\"brand\" href=\"#\">cnsim <small>{version}</small></a><button id=\"theme\" type=\"button\">Dark</button></header>\n\
         {body}\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n\
         <script>{marks}\n{chart}</script>\n<script>{figures}</script>\n<script>{map}</script>\n<script>{search}</script>\n<script>{app}</script></body></html>\n",
        title = html::esc(title),
        base = include_str!("../assets/base.css"),
        parts = include_str!("../assets/parts.css"),
        chart_style = include_str!("../assets/chart.css"),
        marks = html::MARKS,
        chart = include_str!("../assets/chart.js"),
        figures = include_str!("../assets/figures.js"),
        map = include_str!("../assets/map.js"),
        search = include_str!("../assets/search.js"),
        app = include_str!("../assets/app.js"),
    ))
}

/// All pages; the first is shown, the script shows the others. Controls are not allowed in HTML; tabs and line ends are.
fn body(report: &Report, looks: &[colour::Colours]) -> String {
    let several = !report.is_one_experiment();
    let body = maud::html! {
        aside id="side" { (index::sidebar(report)) }
        main id="main" tabindex="-1" {
            noscript { p { "The other pages and the figures need JavaScript." } }
            @if several {
                (index::index(report, looks))
                @for id in index::studies(report) { (index::study_page(report, id)) }
            }
            @for (p, looks) in report.pages.iter().zip(looks) { (page::page(report, p, looks)) }
            (index::claims_page(report))
            (method::method(report))
        }
    };
    body.into_string().replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}")
}

/// Data of a page for the scripts.
#[derive(serde::Serialize)]
struct PageData<'a> {
    tables: &'a [model::Table],
    plays: &'a [model::Play],
    figures: Vec<encode::FigureData<'a>>,
}

/// Points per series so that all figures fit in `room` bytes.
fn points(report: &Report, room: usize) -> usize {
    let lengths: Vec<usize> =
        report.pages.iter().flat_map(|p| &p.figures).flat_map(encode::lengths).collect();
    // A step between two codes takes up to four digits, and where a series is reduced, one between two indices up to two.
    let bytes =
        |max: usize| -> usize { lengths.iter().map(|&n| 200 + if n <= max { 4 * n } else { 6 * max }).sum() };
    let (mut fits, mut over) = (FEWEST, MAX_POINTS + 1);
    while over - fits > 1 {
        let middle = fits.midpoint(over);
        if bytes(middle) <= room {
            fits = middle;
        } else {
            over = middle;
        }
    }
    fits
}
