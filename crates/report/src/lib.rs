//! The HTML report: one file that opens from disk, offline; pages are routes in it (`#B07/single-hop`).
//!
//! Plain data in ([`model`]), one text out ([`render`]). The drawing library comes embedded in the `plotly` crate;
//! everything else is ours.

mod colour;
mod encode;
mod html;
mod index;
mod method;
pub mod model;
mod number;
mod page;
mod reduce;
mod table;
mod topology;

pub use reduce::reduce;

use model::Report;

/// Largest number of points of a drawn series.
pub const MAX_POINTS: usize = 4000;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportError(pub String);

impl std::fmt::Display for ReportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the report cannot be made: {}", self.0)
    }
}

impl std::error::Error for ReportError {}

/// Size to keep to with one or two pages, bytes.
const SMALL: usize = 7_600_000;
/// Size to keep to with more, bytes.
const LARGE: usize = 24_000_000;
/// Fewest points of a series: a figure must stay legible.
const FEWEST: usize = 200;
/// Nothing may be loaded from outside; what is in the file may run.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// Renders the report: one HTML file that asks for nothing outside it.
///
/// With up to two pages it stays below 8 MB, with more below 25 MB: where the figures would exceed that, their series
/// are reduced to fewer points than [`MAX_POINTS`].
///
/// # Errors
/// When the drawing library is not in the `plotly` crate as expected, or the data cannot be written as JSON.
pub fn render(report: &Report) -> Result<String, ReportError> {
    let library = library()?;
    let strangers = colour::strangers(report);
    let looks: Vec<colour::Colours> =
        report.pages.iter().map(|p| colour::Colours::of(p, &strangers)).collect();
    let mut body = body(report, &looks);
    let limit = if report.pages.len() <= 2 { SMALL } else { LARGE };
    let max = points(report, limit.saturating_sub(library.len() + body.len()));
    for (p, looks) in report.pages.iter().zip(&looks) {
        let data = html::json(&PageData {
            tables: &p.tables,
            looks: looks.all(),
            figures: p.figures.iter().map(|f| encode::figure(f, max, |t| looks.trace(t))).collect(),
        })?;
        let id = html::esc(&p.id);
        body += &format!("\n<script type=\"application/json\" data-for=\"{id}\">{data}</script>");
    }
    let version = html::esc(&report.version);
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <meta name=\"generator\" content=\"cnsim {version}\"><title>{title}</title>\n<style>{base}{parts}</style></head>\n\
         <body><a class=\"skip\" href=\"#main\">Skip to content</a><header><button id=\"menu\" type=\"button\" aria-expanded=\"false\" aria-controls=\"side\">Pages</button>\
         <a class=\"brand\" href=\"#\">cnsim <small>{version}</small></a><button id=\"theme\" type=\"button\" aria-pressed=\"false\">Dark</button></header>\n\
         {body}\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n\
         <script type=\"text/plain\" id=\"library\">{library}</script>\n<script>{figures}</script>\n<script>{app}</script></body></html>\n",
        title = html::esc(if report.title.is_empty() {
            "cnsim: published beside measured"
        } else {
            &report.title
        }),
        base = include_str!("../assets/base.css"),
        parts = include_str!("../assets/parts.css"),
        figures = include_str!("../assets/figures.js"),
        app = include_str!("../assets/app.js"),
    ))
}

/// All pages; the first is shown, the script shows the others.
fn body(report: &Report, looks: &[colour::Colours]) -> String {
    let mut out = String::from("<aside id=\"side\">");
    index::sidebar(report, &mut out);
    out.push_str("</aside><main id=\"main\" tabindex=\"-1\"><noscript><p>The other pages and the figures need JavaScript.</p></noscript>");
    index::index(report, &mut out);
    for id in index::studies(report) {
        index::study_page(report, id, &mut out);
    }
    for (p, looks) in report.pages.iter().zip(looks) {
        page::page(p, looks, &mut out);
    }
    index::claims_page(report, &mut out);
    method::method(report, &mut out);
    out.push_str("</main>");
    out
}

/// What the scripts need of a page.
#[derive(serde::Serialize)]
struct PageData<'a> {
    tables: &'a [model::Table],
    looks: Vec<(&'a str, u8, u8)>,
    figures: Vec<encode::FigureData<'a>>,
}

/// Points per series so that all figures fit in `room` bytes.
fn points(report: &Report, room: usize) -> usize {
    let lengths: Vec<usize> =
        report.pages.iter().flat_map(|p| &p.figures).flat_map(encode::lengths).collect();
    // In base64 a code takes 16 bits, and where a series is reduced, an index 32.
    let bytes = |max: usize| -> usize {
        lengths.iter().map(|&n| 200 + if n <= max { n * 8 / 3 } else { max * 8 }).sum()
    };
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

/// The drawing library's script, out of what the crate embeds (it also carries a typesetter that we do not need).
fn library() -> Result<String, ReportError> {
    let all = plotly::Plot::offline_js_sources();
    let scripts = all.split("<script").filter_map(|s| {
        let start = s.find('>')? + 1;
        let end = s.find("</script>")?;
        s.get(start..end)
    });
    let found = scripts.max_by_key(|s| s.len()).filter(|s| s.contains("Plotly"));
    found.map(str::to_owned).ok_or_else(|| ReportError("the plotly crate embeds no script".into()))
}
